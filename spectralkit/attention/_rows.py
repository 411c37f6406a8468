"""The rows that averages are taken over: distinct ones, with the weight, mean and spread of the targets at each."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from spectralkit._rows import fold_of_rows, groups_of_equal_rows

__all__ = ["Rows"]


class Rows(NamedTuple):
    """Distinct rows. Equal ones are one row of their summed weight, which changes no average and no error.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        In the dtype that was given.
    weights : ndarray of shape (n,)
        Sums of the sample weights, above zero.
    targets : ndarray of shape (n, t)
        Weighted means of the targets at each row, less the overall mean.
    spread : ndarray of shape (n, t)
        Weighted variances of the targets at each row: zero where it stands for one.
    mean : ndarray of shape (t,)
        Overall weighted mean of the targets.
    variance : ndarray of shape (t,)
        Overall weighted variance of the targets.
    centre : ndarray of shape (d,)
        Weighted mean of the columns.
    deviations : ndarray of shape (d,)
        Weighted standard deviations of the columns; 1 for constant ones.
    extent : ndarray of shape (d,)
        Largest less smallest value of each column.
    """

    X: np.ndarray
    weights: np.ndarray
    targets: np.ndarray
    spread: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    centre: np.ndarray
    deviations: np.ndarray
    extent: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, targets: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Rows (n, d) of finite numbers with their targets (n, t), copied; rows without weight are left out."""
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        if not weights.all():
            X, targets, weights = (a[weights > 0] for a in (X, targets, weights))
        group = groups_of_equal_rows(X)
        count = int(group.max()) + 1
        reference = targets[0]  # constants then have a variance of exactly zero
        mean = np.average(targets - reference, axis=0, weights=weights)
        targets, mean = targets - reference - mean, reference + mean
        variance = np.average(targets**2, axis=0, weights=weights)
        spread = np.zeros_like(targets)
        if count < len(X):
            first = np.full(count, len(X))
            np.minimum.at(first, group, np.arange(len(X)))
            order = np.argsort(first)  # the order in which they first came, whatever the numbers of the groups
            group, X = np.argsort(order)[group], X[first[order]]
            total = np.bincount(group, weights)
            means = np.stack([np.bincount(group, weights * y) / total for y in targets.T], axis=1)
            about = (targets - means[group]) ** 2
            spread = np.stack([np.bincount(group, weights * y) / total for y in about.T], axis=1)
            targets, weights = means, total
        else:
            X, weights = X.copy(), np.array(weights)
        shifted = X.astype(np.float64) - X[0]
        centre = np.average(shifted, axis=0, weights=weights)
        deviations = np.sqrt(np.average((shifted - centre) ** 2, axis=0, weights=weights))
        deviations[deviations == 0] = 1.0
        extent = np.array([np.ptp(column) for column in shifted.T])
        return cls(X, weights, targets, spread, mean, variance, X[0] + centre, deviations, extent)

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def corners(self) -> np.ndarray:
        """Two points that extend as far as the rows."""
        return np.stack([np.zeros_like(self.extent), self.extent])

    def sample(self, most: int) -> np.ndarray:
        """Numbers of at most about so many rows: all, or those in whose favour a hash of their content decides."""
        n = len(self.X)
        if n <= most:
            return np.arange(n)
        return np.flatnonzero(fold_of_rows(self.X, -(-n // most)) == 0)
