"""Data in units of their own, so that what is found in them does not depend on the units that they came in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from spectralkit._validation import is_integer
from spectralkit.nufft import _checked_rows, _highest_turns, _orthonormal, _without

FEWEST = 4  # distinct points
_SMOOTH = 4  # cosines of half a turn each, up to two turns


@dataclass(frozen=True)
class Rows:
    """Rows sorted, columns that vary mapped to [-1/2, 1/2], outputs freed of a trend and scaled to variance 1.

    Frequencies are counted in turns over the range of a column.
    """

    z: np.ndarray  # (n, d)
    weights: np.ndarray  # (n,), sum 1
    basis: np.ndarray  # (n, p), orthonormal under the weights: trend and regressors
    residual: np.ndarray  # (n, t)
    columns: np.ndarray  # (d,) which columns of X vary
    lengths: np.ndarray  # (d,) their ranges
    width: int  # number of columns of X
    scale: np.ndarray  # (t,) standard deviation of the outputs about the trend
    trend_variance: float  # what the trend explains beyond mean and regressors, averaged over outputs
    trend: Any  # "smooth" or a degree
    count: float  # number of rows, repetitions counted
    distinct: int

    @property
    def variance(self) -> float:
        """Variance about the trend, averaged over outputs."""
        return float((self.scale**2).mean())

    @property
    def lowest(self) -> float:
        """Turns that a wave must make, in one column at least, to be told from the trend."""
        return 2.0 if self.trend == "smooth" and self.z.shape[1] == 1 else max(0.5, (self._degree + 1) / 2)

    @property
    def _degree(self) -> int:
        return 1 if self.trend == "smooth" else self.trend

    def highest(self, max_frequency: Any) -> np.ndarray:
        """Turns up to which each column is searched."""
        d = self.z.shape[1]
        by_gaps = np.array([_highest_turns(column) for column in self.z.T])
        if d > 1:  # gaps within a column say nothing, unless most of its values come again, as on a grid
            scattered = np.array([d > 3 or 2 * len(np.unique(column)) > self.distinct for column in self.z.T])
            spread = max(self.distinct ** (1 / d), 8.0) / 2
            by_gaps = np.where(scattered, np.minimum(by_gaps, spread), by_gaps)
        if max_frequency is None:
            return by_gaps
        given = np.asarray(max_frequency, dtype=np.float64)
        if given.shape not in ((), (self.width,)) or not (np.isfinite(given).all() and (given > 0).all()):
            raise ValueError(
                f"max_frequency must be positive and finite, one number or one per column of X, {self.width}; got "
                f"{max_frequency!r}."
            )
        return np.broadcast_to(given, self.width)[self.columns] * self.lengths


def as_rows(
    X: Any, y: Any, noise_std: Any = None, sample_weight: Any = None, regressors: Any = None, trend: Any = "auto"
) -> Rows:
    """Check the data and bring them into their own units."""
    X, y, weights, regressors, count = _checked_rows(X, y, noise_std, sample_weight, regressors)
    order = np.lexsort((*regressors.T, *y.T, weights, *X.T[::-1]))  # so that the order of the rows changes no bit
    X, y, weights, regressors = X[order], y[order], weights[order], regressors[order]
    low, high = X.min(axis=0), X.max(axis=0)
    columns = np.flatnonzero(high - low > 1e-13 * np.maximum(np.abs(low), np.abs(high)))
    distinct = 1 + int((np.diff(X, axis=0) != 0).any(axis=1).sum())
    if not len(columns) or distinct < FEWEST:
        what = "every column of X is constant" if not len(columns) else f"X has {distinct} distinct rows"
        raise ValueError(f"A spectrum needs at least {FEWEST} distinct points, but {what}. Give more points.")
    lengths = (high - low)[columns]
    z = (X[:, columns] - (low + high)[columns] / 2) / lengths
    trend = _chosen_trend(trend, distinct, len(columns))
    constant = _orthonormal([np.ones(len(z)), *regressors.T], weights)
    basis = _orthonormal([*_trend_columns(z, trend).T, *regressors.T], weights)
    centred = _without(constant, weights, y)
    residual = _without(basis, weights, centred)
    scale = np.sqrt(weights @ residual**2)
    if (scale <= 1e-13 * np.abs(y).max(axis=0)).any():
        raise ValueError(
            "y, or one of its columns, is constant once the trend and the regressors are taken out, so that it has no "
            "spectrum to read. Take out less (trend=0), or leave the constant column out."
        )
    removed = float((weights @ (centred - residual) ** 2).mean())
    return Rows(
        z, weights, basis, residual / scale, columns, lengths, X.shape[1], scale, max(removed, 0.0), trend, count,
        distinct,
    )  # fmt: skip


def _chosen_trend(trend: Any, distinct: int, d: int) -> Any:
    if isinstance(trend, str) and trend == "auto":
        if d == 1 and distinct >= 4 * (_SMOOTH + 2):
            return "smooth"
        return 1 if distinct >= 4 * (d + 1) else 0
    if (isinstance(trend, str) and trend == "smooth") or is_integer(trend, at_least=0):
        return trend
    raise ValueError(f"trend must be 'auto', 'smooth' or the degree of a polynomial, got {trend!r}.")


def _trend_columns(z: np.ndarray, trend: Any) -> np.ndarray:
    """Polynomials in each column, the constant once; "smooth" adds slow cosines to the straight line."""
    degree = 1 if trend == "smooth" else trend
    powers = [np.polynomial.legendre.legvander(2 * column, degree)[:, 1:] for column in z.T]
    slow = [np.cos(math.pi * np.outer(column + 0.5, np.arange(1, _SMOOTH + 1))) for column in z.T]
    smooth = slow if trend == "smooth" and z.shape[1] == 1 else []
    return np.column_stack([np.ones(len(z)), *powers, *smooth])
