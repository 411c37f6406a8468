"""Local lines from sums: the values at the queries of linear functions fitted to their neighbourhoods."""

from __future__ import annotations

import numpy as np

from spectralkit.attention._sums import Sums

__all__ = ["linear_fits", "products_with", "value_columns"]

# The slope along a direction counts in full while the query is up to so many standard deviations of the neighbourhood
# away from its mean, and not at all from twice as many: a few rows on one side say little of what is far from them.
_FAR = 5.0


def value_columns(Z: np.ndarray, targets: np.ndarray, degree: int) -> np.ndarray:
    """What must be summed for local fits: targets; for linear ones Z, its products, and those with the targets too."""
    if degree == 0:
        return targets
    one, other = np.triu_indices(Z.shape[1])
    return np.hstack([targets, Z, Z[:, one] * Z[:, other], products_with(Z, targets)])


def products_with(Z: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """All products of a column of Z and a target, (n, d t), those of a column side by side."""
    return (Z[:, :, None] * targets[:, None, :]).reshape(len(Z), -1)


def linear_fits(sums: Sums, queries: np.ndarray, n_targets: int, narrowest: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Values at the queries of linear functions fitted to their neighbourhoods, (m, t); zeros where no row has weight.

    And the smallest variance of each neighbourhood along any direction, (m,).

    With the means :math:`\bar z, \bar y` and covariances :math:`C = \mathrm{cov}(z), c = \mathrm{cov}(z, y)` of a
    neighbourhood it is :math:`\bar y + (z - \bar z)\cdot C^{-1}c`.

    Parameters
    ----------
    sums : Sums
        Of `value_columns` of degree 1.
    queries : ndarray of shape (m, d)
        In the coordinates of Z.
    n_targets : int
        Number of targets t.
    narrowest : float
        Variance of a neighbourhood along a direction up to which it is fitted by its average along it.
    """
    averages = sums.averages()
    targets = averages[:, :n_targets]
    m, d = queries.shape
    one, other = np.triu_indices(d)
    means = averages[:, n_targets : n_targets + d]
    products = averages[:, n_targets + d : n_targets + d + len(one)]
    covariance = np.empty((m, d, d))
    covariance[:, one, other] = covariance[:, other, one] = products - means[:, one] * means[:, other]
    with_targets = averages[:, n_targets + d + len(one) :].reshape(m, d, n_targets)
    with_targets = with_targets - means[:, :, None] * targets[:, None, :]
    widths, directions = np.linalg.eigh(covariance)
    steps = np.einsum("mij,mi->mj", directions, queries - means)
    along = np.einsum("mij,mit->mjt", directions, with_targets)
    wide_enough = widths > narrowest
    deviations = np.sqrt(np.where(wide_enough, widths, 1.0))
    trusted = np.where(wide_enough, np.clip(2 - abs(steps) / (_FAR * deviations), 0.0, 1.0), 0.0)
    ratios = trusted * steps / deviations**2
    return targets + np.einsum("mj,mjt->mt", ratios, along), widths[:, 0]
