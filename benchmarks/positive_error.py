"""Relative error of positive features: measured beside the closed form, and the default beside orthogonal FAVOR+."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from spectralkit import ApproximationWarning, PositiveRandomFeatures

COLUMNS = (8, 16, 32, 64)  # and as many features
# Squared lengths z of x + y, in units in which the frequencies are standard normal.
SHOWN = (0.5, 1.0, 2.0, 4.0, 9.0)
MEASURED = SHOWN[:2]  # beyond, rare large values make up the variance, and a sample of them says little
LARGEST = 50.0
LENGTHS = tuple(sorted({*SHOWN, LARGEST, *(float(f"{z:.3g}") for z in np.geomspace(0.01, LARGEST, 38))}))
SEEDS, PAIRS = 1000, 100
DEFAULT, FAVOR = "default", "orthogonal"
METHODS: dict[str, dict[str, str]] = {
    "independent": {"variant": "positive", "rule": "iid"},
    FAVOR: {"variant": "positive", "rule": "orthogonal"},
    DEFAULT: {},
}


def measure(columns: tuple[int, ...] = COLUMNS, seeds: int = SEEDS) -> Iterator[dict[str, Any]]:
    """Yield one record per number of columns and z: variances over the squared kernel, at a width of d features.

    Those by the names of the methods are closed forms. Up to the largest of `MEASURED` there is a measured one of the
    default, with its standard error over seeds.
    """
    for d in columns:
        for z in LENGTHS:
            X, Y = pairs_of_points(d, z, PAIRS)
            record: dict[str, Any] = {"d": d, "z": z}
            for name in METHODS:
                record[name] = float(f"{fitted(name, X, Y, 0).relative_variance(X[:1], Y[:1])[0, 0]:.6g}")
            if z in MEASURED:
                squares = [square_error(fitted(DEFAULT, X, Y, seed), X, Y) for seed in range(seeds)]
                record["seeds"] = seeds
                record["measured"] = float(f"{np.mean(squares):.6g}")
                record["standard_error"] = float(f"{np.std(squares, ddof=1) / math.sqrt(seeds):.2g}")
            yield record


def fitted(name: str, X: np.ndarray, Y: np.ndarray, seed: int) -> PositiveRandomFeatures:
    """Return the method with d features, fitted to points whose mean is 0 and whose mean z over pairs is that of X + Y.

    Large z are hopeless on purpose, so that the warning is not for us.
    """
    d = X.shape[1]
    method = PositiveRandomFeatures(sigma=1 / (2 * math.pi), n_components=d, random_state=seed, **METHODS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        return method.fit(np.concatenate([X, Y, -X, -Y]))


def square_error(features: PositiveRandomFeatures, X: np.ndarray, Y: np.ndarray) -> float:
    """Mean over pairs of the squared relative error of one kernel value."""
    estimates = np.multiply(features.transform(X), features.transform(Y)).sum(axis=1)
    return float(np.mean((estimates / np.exp(-((X - Y) ** 2).sum(axis=1) / 2) - 1) ** 2))


def pairs_of_points(d: int, z: float, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of X and of Y of squared length z / 2, in random directions, orthogonal to each other."""
    x, y = np.random.default_rng([1, d]).standard_normal((2, pairs, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y -= (x * y).sum(axis=1, keepdims=True) * x
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return math.sqrt(z / 2) * x, math.sqrt(z / 2) * y
