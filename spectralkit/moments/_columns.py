"""Moments of the columns of X: what transformers read of their data before they map rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spectralkit._validation import as_points, check_sample_weight, is_integer


class ColumnMoments:
    r"""Weight, mean, variance and range of each column, over any number of batches.

    Parameters
    ----------
    n_columns : int
        Number of columns d.

    Attributes
    ----------
    weight : float
        Sum of the weights.
    mean : ndarray of shape (d,)
        Weighted mean of each column.
    variance : ndarray of shape (d,)
        Weighted variance of each column, divided by the weight.
    minimum : ndarray of shape (d,)
        Smallest value of each column, rows of weight zero included.
    maximum : ndarray of shape (d,)
        Largest value of each column.

    Raises
    ------
    ValueError
        If `n_columns` is not an integer of at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.moments import ColumnMoments
    >>> moments = ColumnMoments(1).update(np.array([[0.0], [2.0]])).update(np.array([[4.0], [6.0]]))
    >>> moments.mean, moments.variance, moments.maximum
    (array([3.]), array([5.]), array([6.]))
    >>> rows, weights = moments.summary()
    >>> (weights @ (rows - 3.0) ** 2 / weights.sum()).round(12)
    array([5.])
    """

    def __init__(self, n_columns: int) -> None:
        if not is_integer(n_columns, at_least=1):
            raise ValueError(f"Moments need an integer number of columns, at least 1, got {n_columns!r}.")
        self.weight = 0.0
        self.mean, self.variance = np.zeros((2, n_columns))
        self.minimum, self.maximum = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)

    def update(self, X: Any, sample_weight: Any = None) -> Self:
        """Add rows.

        Parameters
        ----------
        X : array of shape (n, d)
            Rows.
        sample_weight : array of shape (n,), optional
            Repetitions of the rows.

        Returns
        -------
        self
            These moments.

        Raises
        ------
        ValueError
            If X has another number of columns than before, no rows, or values that are not finite.
        """
        X = np.asarray(as_points(X, "X", rows=True), dtype=np.float64)
        if not len(X):
            raise ValueError("X has no rows; moments need at least one.")
        other = ColumnMoments(X.shape[1])
        other.minimum, other.maximum = X.min(axis=0), X.max(axis=0)
        weights = check_sample_weight(sample_weight, len(X), of_a_batch=True)
        if weights is not None:
            X, weights = X[weights > 0], weights[weights > 0]
        if not len(X):
            return self.merge(other)
        shifted = X - X[0]  # constants then have a variance of exactly zero
        mean = np.average(shifted, axis=0, weights=weights)
        other.weight = float(len(X) if weights is None else weights.sum())
        other.mean = X[0] + mean
        other.variance = np.average((shifted - mean) ** 2, axis=0, weights=weights)
        return self.merge(other)

    def merge(self, other: ColumnMoments) -> Self:
        """Add the rows that other moments have seen.

        Parameters
        ----------
        other : ColumnMoments
            Moments of as many columns.

        Returns
        -------
        self
            These moments.

        Raises
        ------
        ValueError
            If the number of columns differs.
        """
        if len(self.mean) != len(other.mean):
            raise ValueError(
                f"Moments of as many columns are needed, but these are of {len(self.mean)} and the others of "
                f"{len(other.mean)}."
            )
        if other.weight > 0:
            share = other.weight / (self.weight + other.weight)
            difference = other.mean - self.mean
            spread = self.variance + share * (other.variance - self.variance) + share * (1 - share) * difference**2
            self.weight, self.mean, self.variance = self.weight + other.weight, self.mean + share * difference, spread
        self.minimum = np.minimum(self.minimum, other.minimum)
        self.maximum = np.maximum(self.maximum, other.maximum)
        return self

    def summary(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a few rows and their weights that have these mean, variance and range.

        A transformer whose fit reads nothing else of its data comes out of a fit on these rows as it would out of a fit
        on all.

        Returns
        -------
        rows : ndarray of shape (k, d)
            In each column a high and a low value, both within the range, and in the last two rows the smallest and the
            largest.
        weights : ndarray of shape (k,)
            Zero for the last two rows; those of the others sum to the weight of all rows.

        Raises
        ------
        ValueError
            If no rows have been added.
        """
        if self.weight == 0:
            raise ValueError("There are no rows to summarise yet. Call update first.")
        deviation = np.sqrt(self.variance)
        below, above = self.mean - self.minimum, self.maximum - self.mean
        with np.errstate(divide="ignore", invalid="ignore"):
            # two values with shares p and 1 - p have this mean and variance at sqrt((1 - p) / p) deviations above and
            # sqrt(p / (1 - p)) below the mean; p is as near to one half as the range allows
            least, most = self.variance / (self.variance + above**2), below**2 / (self.variance + below**2)
            share = np.where(deviation > 0, np.minimum(np.maximum(0.5, least), most), 0.5)
        high = np.minimum(self.mean + deviation * np.sqrt((1 - share) / share), self.maximum)
        low = np.maximum(self.mean - deviation * np.sqrt(share / (1 - share)), self.minimum)
        edges = np.unique(np.concatenate([[0.0], share, [1.0]]))
        middles = (edges[1:, None] + edges[:-1, None]) / 2
        rows = np.concatenate([np.where(middles < share, high, low), [self.minimum, self.maximum]])
        return rows, self.weight * np.append(np.diff(edges), [0.0, 0.0])
