"""Error of the approximate kernel at equal width, by rule, number of columns and distance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from spectralkit import CapabilityError, FourierFeatures, Gaussian, Matern, SpectralMeasure

WIDTH, SEEDS, PAIRS = 1024, 20, 200
# In one column the quasi-random error is a function of one random shift, large for few of them, so it takes many times
# more seeds; and it is the same for all pairs, so that one pair is enough.
MORE_SEEDS_IN_ONE_COLUMN = 100
COLUMNS = (1, 2, 3, 8, 64)
DISTANCES = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0)  # in lengthscales
PEER = "RBFSampler"
RANDOM_RULES, FIXED_RULES = ("auto", "iid", "qmc", "orthogonal"), ("gauss", "grid")
MOST_COLUMNS_OF_FIXED_RULES = 2
SPECTRA: dict[str, SpectralMeasure] = {
    "gaussian": Gaussian.from_lengthscale(1.0),
    "matern32": Matern.from_lengthscale(1.0, nu=1.5),
}
SIDE = 5.0  # of the cube of points that pairs start from, in lengthscales


def measure(columns: tuple[int, ...] = COLUMNS, seeds: int = SEEDS, width: int = WIDTH) -> Iterator[dict[str, Any]]:
    """Yield one record per spectrum, number of columns, rule and distance."""
    for name, spectrum in SPECTRA.items():
        for d in columns:
            for rule, make in transformers(name, spectrum, d, width).items():
                many = d == 1 and rule in ("auto", "qmc")
                count = 1 if rule in FIXED_RULES else seeds * (MORE_SEEDS_IN_ONE_COLUMN if many else 1)
                pairs = 1 if many else PAIRS
                try:
                    squares = np.array([square_errors(make(seed), spectrum, d, pairs) for seed in range(count)])
                except (CapabilityError, ValueError):  # this rule needs more columns of features, or a smoother kernel
                    continue
                for z, (rms, error) in zip(DISTANCES, map(root_mean, squares.T), strict=True):
                    yield {
                        "spectrum": name,
                        "d": d,
                        "rule": rule,
                        "z": z,
                        "width": width,
                        "seeds": count,
                        "rms": float(f"{rms:.4g}"),
                        "standard_error": float(f"{error:.2g}"),
                    }


def transformers(name: str, spectrum: SpectralMeasure, d: int, width: int) -> dict[str, Callable[[int], Any]]:
    """Return functions from a seed to a transformer, by the name of the rule, the peer among them for its kernel."""

    def ours(rule: str) -> Callable[[int], Any]:
        return lambda seed: FourierFeatures(spectrum, n_components=width, rule=rule, random_state=seed)

    rules = RANDOM_RULES + (FIXED_RULES if d <= MOST_COLUMNS_OF_FIXED_RULES else ())
    found = {rule: ours(rule) for rule in rules}
    if name == "gaussian":
        found[PEER] = lambda seed: RBFSampler(gamma=0.5, n_components=width, random_state=seed)
    return found


def square_errors(transformer: Any, spectrum: SpectralMeasure, d: int, pairs: int) -> np.ndarray:
    """Mean square over pairs of ``z(x) . z(y) - k(x - y)``, for every distance."""
    X, Y = pairs_of_points(d, pairs)
    transformer.fit(np.concatenate([X, Y]))
    approximate = np.multiply(transformer.transform(X), transformer.transform(Y)).sum(axis=1)
    exact = np.asarray(spectrum.characteristic(Y - X))
    return ((approximate - exact) ** 2).reshape(len(DISTANCES), pairs).mean(axis=1)


def pairs_of_points(d: int, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a cube, and points in random directions from them: `pairs` at each distance, one after another."""
    rng = np.random.default_rng([0, d])
    X = rng.uniform(0, SIDE, (len(DISTANCES) * pairs, d))
    direction = rng.standard_normal(X.shape)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return X, X + np.repeat(DISTANCES, pairs)[:, None] * direction


def root_mean(squares: np.ndarray) -> tuple[float, float]:
    """Root of the mean over seeds, and its standard error."""
    rms = math.sqrt(squares.mean())
    if len(squares) < 2 or rms == 0:
        return rms, 0.0
    return rms, float(squares.std(ddof=1) / math.sqrt(len(squares)) / (2 * rms))
