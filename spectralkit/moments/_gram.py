"""Moments that hold the Gram matrix of the rows."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsyr, dsyrk

from spectralkit.moments._regression import RegressionMoments

COLUMNS_AT_A_TIME = 256


class GramMoments(RegressionMoments):
    r"""Moments that hold the centred Gram matrix of features and targets: the fastest.

    A block of n rows costs the :math:`n (m + t)^2` multiplications and additions of one symmetric product. The product
    squares the condition number of the features: directions in which they vary less than about :math:`10^{-6}` times
    as much as in others are lost to rounding. `QRMoments` keeps them.

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
        The sum of the weights; a weight counts repetitions of a row.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.moments import GramMoments
    >>> moments = GramMoments(1).update(np.array([[1.0], [3.0]]), np.array([0.0, 4.0]))
    >>> moments.scatter
    array([[2., 4.],
           [4., 8.]])
    >>> moments.subtract(GramMoments(1).update(np.array([[3.0]]), np.array([4.0]))).mean
    array([1., 0.])
    """

    def __init__(self, n_features: int, n_targets: int = 1) -> None:
        super().__init__(n_features, n_targets)
        self._lower = np.zeros((len(self._pivot),) * 2, order="F")  # only the lower triangle counts

    @property
    def scatter(self) -> np.ndarray:
        """The centred second moments S, an array of its own of shape (m + t, m + t)."""
        full = self._lower.copy(order="F")
        for start in range(0, len(full), COLUMNS_AT_A_TIME):  # no second array of this size
            block = slice(start, start + COLUMNS_AT_A_TIME)
            full[:start, block] = full[block, :start].T
            corner = full[block, block]
            full[block, block] = np.tril(corner) + np.tril(corner, -1).T
        return full

    def _absorb(self, rows: np.ndarray) -> None:
        # rows.T is in Fortran order, so BLAS reads and writes where the arrays are
        self._lower = dsyrk(1.0, rows.T, beta=1.0, c=self._lower, lower=1, overwrite_c=1)

    def _add(self, other: GramMoments, row: np.ndarray) -> None:
        self._lower = dsyr(1.0, row, a=self._lower + other._lower, lower=1, overwrite_a=1)

    def _remove(self, other: GramMoments, row: np.ndarray) -> None:
        self._lower = dsyr(-1.0, row, a=self._lower - other._lower, lower=1, overwrite_a=1)

    def _scale(self, factor: float) -> None:
        self._lower = factor * self._lower
