"""Errors of every row without itself, and the bandwidth that makes their squares smallest."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import optimize

from spectralkit.attention._fast import is_cheap
from spectralkit.attention._local import products_with
from spectralkit.attention._search import best_factor, on_grid, reach
from spectralkit.attention._smoother import Smoother
from spectralkit.attention._sums import Sums, by_products
from spectralkit.attention._weighting import Exponential, Weighting

__all__ = ["Errors", "best_bandwidth", "leave_one_out"]

PAIRS = 4e8  # of rows, that one evaluation of the errors may take by products of points
_BY_DIFFERENCES = 16  # so many times fewer where weights are computed from differences, which takes longer
_FEWEST = 1000  # rows whose errors are computed, however many there are
_ACCURACY = 1e-5  # of averages by transforms, in the search
_OF_RADII = (0.02, 50.0)  # factors on distances to the k-th neighbour
_WIDER = 2.0  # in the logarithm of a bandwidth
_STEP = 1e-4  # of finite differences in it


class Errors(NamedTuple):
    """Squared leave-one-out errors of rows.

    Attributes
    ----------
    which : ndarray of shape (k,)
        Numbers of the rows.
    squares : ndarray of shape (k, t)
        Weighted means over the equal rows that each stands for.
    weights : ndarray of shape (k,)
        Weights of the rows in means over all.
    """

    which: np.ndarray
    squares: np.ndarray
    weights: np.ndarray

    @property
    def means(self) -> np.ndarray:
        """Mean squared error of each target."""
        return np.asarray(self.weights @ self.squares / self.weights.sum())


def leave_one_out(
    smoother: Smoother, weightings: list[Weighting], is_fast: bool, accuracy: float = 1e-8
) -> list[Errors]:
    """Errors with each of the weightings: of all rows where that is affordable, otherwise of a sample of them.

    Those by transforms come from averages of this accuracy.
    """
    if not is_fast:
        return [_exact_errors(smoother, weighting) for weighting in weightings]
    return _fast_errors(smoother, weightings, accuracy)


def _exact_errors(smoother: Smoother, weighting: Weighting) -> Errors:
    which = smoother.rows.sample(affordable(smoother, weighting))
    found = smoother.estimates(weighting, smoother.rows.X[which], which)
    return _errors(smoother, which, found, smoother.rows.weights[which])


def affordable(smoother: Smoother, weighting: Weighting) -> int:
    """Number of rows whose errors may be computed by the exact method."""
    share = 1 if by_products(weighting, smoother.rows.extent) else _BY_DIFFERENCES
    return max(int(PAIRS / share / len(smoother.rows.X)), _FEWEST if share == 1 else _FEWEST // 4)


def _fast_errors(smoother: Smoother, weightings: list[Weighting], accuracy: float) -> list[Errors]:
    rows, fast, errors = smoother.rows, smoother.fast(*weightings, accuracy=accuracy), []
    everything = np.arange(len(rows.X))
    for i, weighting in enumerate(weightings):
        found, reliable = smoother.fast_fits(fast, which=i)
        if reliable.all():
            errors.append(_errors(smoother, everything, found, rows.weights))
            continue
        rest = np.flatnonzero(~reliable)
        some = rest[:: max(1, len(rows.X) // affordable(smoother, weighting))]  # as densely as without transforms
        found[some] = smoother.estimates(weighting, rows.X[some], some)
        weights = np.where(reliable, rows.weights, 0.0)
        weights[some] = rows.weights[some] * (rows.weights[rest].sum() / max(rows.weights[some].sum(), 1e-300))
        which = np.flatnonzero(weights)
        errors.append(_errors(smoother, which, found[which], weights[which]))
    return errors


def _errors(smoother: Smoother, which: np.ndarray, found: np.ndarray, weights: np.ndarray) -> Errors:
    squares = (smoother.rows.targets[which] - found) ** 2 + smoother.rows.spread[which]
    return Errors(which, squares, weights)


# -- the search --------------------------------------------------------------------------------------------------------


def best_bandwidth(smoother: Smoother, weighting: Weighting, per_column: bool, is_fast: bool) -> np.ndarray:
    """The bandwidths with the smallest mean squared leave-one-out error: one factor on the scale, or all.

    Per column, a descent from the best factor follows.
    """
    rows = smoother.rows
    if len(rows.X) < 3 or not rows.variance.any():
        return smoother.scale
    low, high = reach(rows, smoother.scale) if smoother.neighbours is None else _OF_RADII

    def criterion(factors: np.ndarray) -> np.ndarray:
        trials = [weighting.at(factor * smoother.scale) for factor in factors]
        possible = np.array([is_fast and is_cheap(trial, rows, smoother.degree) for trial in trials])
        values = np.empty(len(trials))
        for fast in (True, False):
            chosen = np.flatnonzero(possible == fast)
            if len(chosen):
                errors = leave_one_out(smoother, [trials[i] for i in chosen], fast, _ACCURACY)
                values[chosen] = [_criterion(smoother, each) for each in errors]
        return values

    bandwidth = best_factor(criterion, low, high) * smoother.scale
    return _per_column(smoother, weighting, bandwidth, low, high) if per_column else bandwidth


def _criterion(smoother: Smoother, errors: Errors) -> float:
    """Mean squared error, each target in units of its variance."""
    variance = smoother.rows.variance
    return float((errors.means[variance > 0] / variance[variance > 0]).mean())


def _per_column(smoother: Smoother, weighting: Weighting, start: np.ndarray, low: float, high: float) -> np.ndarray:
    """A descent over the logarithms of all bandwidths, with their derivatives for averages."""
    scale = smoother.scale
    which = smoother.rows.sample(affordable(smoother, weighting.at(start)))

    def criterion(log_factors: np.ndarray) -> float:
        return _criterion(smoother, _exact_errors(smoother, weighting.at(np.exp(log_factors) * scale)))

    def with_slopes(log_factors: np.ndarray) -> tuple[float, np.ndarray]:
        if smoother.degree == 0:
            return criterion_and_slopes(smoother, weighting.at(np.exp(log_factors) * scale), which)
        steps = _STEP * np.eye(len(log_factors))
        slopes = [criterion(log_factors + step) - criterion(log_factors - step) for step in steps]
        return criterion(log_factors), np.array(slopes) / (2 * _STEP)

    start = _probed(np.log(start / scale), criterion)
    found = optimize.minimize(
        with_slopes,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(np.log(low), np.log(10 * high))] * len(scale),
        options={"ftol": 1e-7, "maxiter": 50},
    )
    return np.exp(on_grid(found.x)) * scale


def _probed(start: np.ndarray, criterion: Callable[[np.ndarray], float]) -> np.ndarray:
    """A better start: columns that matter little have a wide bandwidth, beyond a ridge that stops a descent."""
    best = criterion(start)
    for wider in _WIDER * np.eye(len(start)):
        if (value := criterion(start + wider)) < best:
            best, start = value, start + wider
    return start


def criterion_and_slopes(smoother: Smoother, weighting: Weighting, which: np.ndarray) -> tuple[float, np.ndarray]:
    """The criterion for averages over these rows, and its derivatives to the logarithms of the bandwidths."""
    rows, queries = smoother.rows, smoother.rows.X[which]
    if isinstance(weighting, Exponential):
        found, slopes = _of_gaussian(smoother, weighting, queries, which)
    else:
        sums = smoother.sums(weighting, queries, which, values=rows.targets, slopes=True)
        found = smoother.fits(weighting, sums, queries, which)
        slopes = _of_quotient(sums, sums.averages())
    errors = _errors(smoother, which, found, rows.weights[which])
    scale = np.divide(errors.weights[:, None], rows.variance, out=np.zeros_like(found), where=rows.variance > 0)
    scale /= errors.weights.sum() * np.count_nonzero(rows.variance)
    gradient = -2 * np.einsum("qt,pqt->p", scale * (rows.targets[which] - found), slopes)
    return _criterion(smoother, errors), gradient


def _of_quotient(sums: Sums, found: np.ndarray) -> np.ndarray:
    """Derivatives of averages from those of their sums."""
    assert sums.slopes is not None
    change = sums.slopes[:, :, 1:] - found * sums.slopes[:, :, :1]
    total = sums.total[:, None]
    return np.divide(change, total, out=np.zeros_like(change), where=total > 0)


def _of_gaussian(
    smoother: Smoother, weighting: Exponential, queries: np.ndarray, which: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Averages, and their derivatives to the logarithm of bandwidth j: the covariance of :math:`(z_j - z_{ij})^2, y`.

    From sums over the rows of their z, its square, and both times the targets.
    """
    rows = smoother.rows
    Z, z = smoother.near(weighting, rows.X), smoother.near(weighting, queries)
    t, d = rows.targets.shape[1], Z.shape[1]
    with_targets = [products_with(a, rows.targets) for a in (Z, Z**2)]
    sums = smoother.sums(weighting, queries, which, values=np.hstack([rows.targets, Z, Z**2, *with_targets]))
    averages = sums.averages()
    y, first, second = averages[:, :t], averages[:, t : t + d], averages[:, t + d : t + 2 * d]
    first_y, second_y = averages[:, t + 2 * d :].reshape(len(z), 2, d, t).transpose(1, 0, 2, 3)
    slopes = second_y - second[:, :, None] * y[:, None] - 2 * z[:, :, None] * (first_y - first[:, :, None] * y[:, None])
    if smoother.neighbours is not None:
        slopes /= smoother.neighbours.radius(queries, True)[:, None, None] ** 2
    return smoother.fits(weighting, sums, queries, which), slopes.transpose(1, 0, 2)
