"""Moments of features and targets: what every version of them shares."""

from __future__ import annotations

import abc
import math
from typing import Any, Self

import numpy as np
from scipy.linalg.blas import ddot, dgemv

from spectralkit._validation import check_sample_weight, is_integer
from spectralkit.moments._additive import AdditiveMoments, checked_factor, floating

VALUES_PER_BLOCK = 1 << 20  # 8 MB, which stay in cache between centring and product


def rows_per_block(n_features: int) -> int:
    """How many rows of so many features to map, centre and multiply at a time."""
    return max(128, VALUES_PER_BLOCK // n_features)


class RegressionMoments(AdditiveMoments, abc.ABC):
    r"""Weight, mean and centred second moments of rows ``a = (features, targets)``.

    .. math:: W = \sum_i w_i, \qquad \bar a = \frac1W \sum_i w_i a_i, \qquad
              S = \sum_i w_i\,(a_i - \bar a)(a_i - \bar a)^\top

    The moments of two sets of rows give those of their union, and those of a set less a part of it:

    .. math:: S = S_1 + S_2 + \frac{W_1 W_2}{W_1 + W_2}\,(\bar a_1 - \bar a_2)(\bar a_1 - \bar a_2)^\top

    Streaming, threads, clusters, folds and forgetting are this one formula. Rows are centred block by block before they
    are multiplied, so an offset of features or targets costs no digits. Everything is in double precision.

    Parameters
    ----------
    n_features : int
        Number of features m.
    n_targets : int, default=1
        Number of targets t.

    Attributes
    ----------
    n_features : int
        Number of features m.
    n_targets : int
        Number of targets t.
    weight : float
        The sum of the weights W; a weight counts repetitions of a row.

    Raises
    ------
    ValueError
        If a count is not an integer of at least 1, and at least 0 for the targets.

    References
    ----------
    T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample variance", Am. Stat. 37, 1983.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.moments import GramMoments
    >>> X, y = np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 3.0]]), np.array([1.0, 2.0, 6.0])
    >>> whole = GramMoments(2).update(X, y)
    >>> parts = GramMoments(2).update(X[:1], y[:1]).merge(GramMoments(2).update(X[1:], y[1:]))
    >>> bool(np.allclose(whole.scatter, parts.scatter)), whole.weight
    (True, 3.0)
    """

    def __init__(self, n_features: int, n_targets: int = 1) -> None:
        if not is_integer(n_features, at_least=1) or not is_integer(n_targets, at_least=0):
            raise ValueError(
                "Moments need an integer number of features, at least 1, and of targets, at least 0, got "
                f"{n_features!r} and {n_targets!r}."
            )
        self.n_features, self.n_targets = int(n_features), int(n_targets)
        self.weight = 0.0
        # the mean in two parts, a row and what is left, so that the difference of two means keeps its digits under a
        # large common offset, and constant columns have a scatter of exactly zero
        self._pivot = np.zeros(n_features + n_targets)
        self._offset = np.zeros(n_features + n_targets)

    def update(self, features: Any, targets: Any = None, sample_weight: Any = None) -> Self:
        """Add rows.

        Parameters
        ----------
        features : array of shape (n, m)
            Features, float32 or float64.
        targets : array of shape (n,) or (n, t), optional
            Targets; they may be left out if there are none.
        sample_weight : array of shape (n,), optional
            Repetitions of the rows; they need not be integers.

        Returns
        -------
        self
            These moments.

        Raises
        ------
        ValueError
            If the shapes do not agree, a value is NaN or infinite or so large that its square overflows, or a weight is
            negative. The moments are then what they were.
        """
        features, targets = self._checked(features, targets)
        weights = check_sample_weight(sample_weight, len(features), of_a_batch=True)
        before = self.copy() if len(features) > self._rows_per_block else None
        try:
            for start in range(0, len(features), self._rows_per_block):
                rows = slice(start, start + self._rows_per_block)
                self._update_block(features[rows], targets[rows], None if weights is None else weights[rows])
        except ValueError:
            if before is not None:
                self.__dict__.update(before.__dict__)
            raise
        return self

    def merge(self, other: RegressionMoments) -> Self:
        """Add the rows that other moments have seen.

        Parameters
        ----------
        other : RegressionMoments
            Moments of the same kind and shape.

        Returns
        -------
        self
            These moments.

        Raises
        ------
        ValueError
            If kind or shape differ.
        """
        self._check_same(other)
        total = self.weight + other.weight
        if other.weight > 0:
            if self.weight == 0:
                self._pivot, self._offset = other._pivot, other._offset
            difference = self._difference(other)
            self._add(other, math.sqrt(self.weight * (other.weight / total)) * difference)
            self._offset = self._offset + (other.weight / total) * difference
            self.weight = total
        return self

    def subtract(self, other: RegressionMoments) -> Self:
        """Take out rows that these moments have seen: a fold, or rows to be forgotten.

        Parameters
        ----------
        other : RegressionMoments
            Moments of the same kind and shape, of a part of these rows.

        Returns
        -------
        self
            These moments. What is left has the rounding errors of the whole.

        Raises
        ------
        ValueError
            If kind or shape differ, or `other` has more weight than these moments.
        """
        self._check_same(other)
        left = self._weight_without(other)
        if left == 0:
            self.__dict__.update(type(self)(self.n_features, self.n_targets).__dict__)
        elif other.weight > 0:
            difference = self._difference(other)
            self._remove(other, math.sqrt(other.weight * (self.weight / left)) * difference)
            self._offset = self._offset - (other.weight / left) * difference
            self.weight = left
        return self

    def scale(self, factor: float) -> Self:
        """Multiply the weight of all rows so far: a factor below 1 before each update forgets old rows.

        Parameters
        ----------
        factor : float
            Positive and finite.

        Returns
        -------
        self
            These moments.

        Raises
        ------
        ValueError
            If the factor is not positive and finite.
        """
        factor = checked_factor(factor)
        self._scale(factor)
        self.weight *= factor
        return self

    @property
    def mean(self) -> np.ndarray:
        """Weighted mean of the rows, shape (m + t,); zeros before the first."""
        return self._pivot + self._offset

    @property
    @abc.abstractmethod
    def scatter(self) -> np.ndarray:
        """The centred second moments S, an array of its own of shape (m + t, m + t)."""

    @property
    def root(self) -> np.ndarray | None:
        """An upper triangular R with ``R.T @ R = scatter``, where the moments hold one; None where they do not."""
        return None

    @abc.abstractmethod
    def _absorb(self, rows: np.ndarray) -> None:
        """Add ``rows.T @ rows`` to the scatter; the rows may be overwritten."""

    @abc.abstractmethod
    def _add(self, other: Any, row: np.ndarray) -> None:
        """Add the scatter of `other` and of the row."""

    @abc.abstractmethod
    def _remove(self, other: Any, row: np.ndarray) -> None:
        """Take away the scatter of `other` and of the row."""

    @abc.abstractmethod
    def _scale(self, factor: float) -> None:
        """Multiply the scatter."""

    @property
    def _rows_per_block(self) -> int:
        return rows_per_block(self.n_features)

    def _update_block(self, features: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> None:
        n, m = features.shape
        counts = np.ones(n) if weights is None else weights
        weight = float(counts.sum())
        first = int(np.argmax(counts > 0))  # a row of weight zero may be far from all others
        pivot = self._pivot if self.weight > 0 else np.concatenate([features[first], targets[first]], dtype=np.float64)
        rows = np.empty((n + 1, len(pivot)))
        block = rows[:n]
        # SciPy's BLAS throughout, as in the product: NumPy has another, whose threads would go on to spin beside it
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(features, pivot[:m], out=block[:, :m])
            np.subtract(targets, pivot[m:], out=block[:, m:])
            mean = dgemv(1.0 / (weight or 1.0), block.T, counts)
            block -= mean
            if weights is not None:
                block *= np.sqrt(weights)[:, None]
            total = self.weight + weight
            difference = mean - self._offset
            rows[n] = math.sqrt(weight * (self.weight / (total or 1.0))) * difference  # joins the block to those before
            finite = np.isfinite(ddot(rows.ravel(), rows.ravel()))
        if not finite:
            raise ValueError(
                "features or targets have NaN or infinite values, or values whose squares overflow. Fill them in, "
                "leave the rows out, or use smaller units."
            )
        if weight == 0:
            return
        self._absorb(rows)
        self._pivot, self._offset = pivot, self._offset + (weight / total) * difference
        self.weight = total

    def _difference(self, other: RegressionMoments) -> np.ndarray:
        """The mean of the other moments minus the mean of these."""
        return (other._pivot - self._pivot) + (other._offset - self._offset)

    def _checked(self, features: Any, targets: Any) -> tuple[np.ndarray, np.ndarray]:
        features = floating(features, "features")
        if features.ndim != 2 or features.shape[1] != self.n_features:
            raise ValueError(f"features must have shape (n, {self.n_features}), got {features.shape}.")
        targets = np.empty((len(features), 0)) if targets is None else floating(targets, "targets")
        if targets.ndim == 1:
            targets = targets[:, None]
        if targets.shape != (len(features), self.n_targets):
            raise ValueError(
                f"targets must have one row per row of features and {self.n_targets} column(s), "
                f"({len(features)}, {self.n_targets}), got {targets.shape}."
            )
        return features, targets

    def _check_same(self, other: Any) -> None:
        self._check_kind(other)
        if (self.n_features, self.n_targets) != (other.n_features, other.n_targets):
            raise ValueError(
                f"Moments of equal shape are needed, but these have {self.n_features} features and {self.n_targets} "
                f"targets, the others {other.n_features} and {other.n_targets}."
            )
