"""Moments that hold a triangular factor of the rows."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import eigh, qr, solve_triangular, svd
from scipy.linalg.lapack import dpotrf, dtpqrt

from spectralkit.moments._regression import RegressionMoments

COLUMNS_PER_REFLECTOR = 32


class QRMoments(RegressionMoments):
    r"""Moments that hold a triangular factor of the centred rows, :math:`S = R^\top R`, by QR of block after block.

    The Gram matrix is never formed, so the condition number of the features is not squared: directions in which they
    vary :math:`10^{-14}` times as much as in others are still told from rounding. A block of n rows costs about
    :math:`2 n (m + t)^2` multiplications and additions, at a lower rate than those of `GramMoments`.

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

    Notes
    -----
    To subtract rows, R, its columns scaled to length one, is written as :math:`U \Sigma V^\top` and the rows as
    :math:`P \Sigma V^\top`; what is left is a root of :math:`I - P^\top P` in these coordinates. It is as accurate,
    relative to each direction, as :math:`I - P^\top P` is well-conditioned: a fold of ten costs nothing, the removal of
    nearly all rows does.

    References
    ----------
    J. Demmel, L. Grigori, M. Hoemmen and J. Langou, "Communication-optimal parallel and sequential QR and LU
    factorizations", SIAM J. Sci. Comput. 34, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.moments import QRMoments
    >>> moments = QRMoments(1).update(np.array([[1.0], [3.0]]), np.array([0.0, 4.0]))
    >>> moments.scatter.round(12)
    array([[2., 4.],
           [4., 8.]])
    """

    def __init__(self, n_features: int, n_targets: int = 1) -> None:
        super().__init__(n_features, n_targets)
        self._root = np.zeros((len(self._pivot),) * 2, order="F")

    @property
    def scatter(self) -> np.ndarray:
        """The centred second moments S, an array of its own of shape (m + t, m + t)."""
        root = self.root
        return root.T @ root

    @property
    def root(self) -> np.ndarray:
        """An upper triangular R with ``R.T @ R = scatter``."""
        return np.triu(self._root)

    def _absorb(self, rows: np.ndarray) -> None:
        width = min(COLUMNS_PER_REFLECTOR, len(self._root))
        self._root, *_ = dtpqrt(0, width, self._root, np.asfortranarray(rows), overwrite_a=1, overwrite_b=1)

    def _add(self, other: QRMoments, row: np.ndarray) -> None:
        self._absorb(np.vstack([other.root, row]))

    def _remove(self, other: QRMoments, row: np.ndarray) -> None:
        root = self.root
        lengths = np.linalg.norm(root, axis=0)
        units = np.where(lengths > 0, lengths, 1.0)  # a column's unit must not decide how many of its digits count
        _, sizes, directions = svd(root / units)
        lost = len(sizes) * np.finfo(np.float64).eps * sizes[0]
        seen = sizes > lost
        basis = sizes[seen, None] * directions[seen]
        parts = (np.vstack([other.root, row]) / units) @ directions[seen].T / sizes[seen]
        kept = _root_of(np.eye(len(basis)) - parts.T @ parts, lost / sizes[seen]) @ basis * units
        padded = np.vstack([kept, np.zeros((len(self._root) - len(kept), len(self._root)))])
        self._root = np.asfortranarray(qr(padded, mode="r")[0])

    def _scale(self, factor: float) -> None:
        self._root = math.sqrt(factor) * self._root


def _root_of(left: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """An upper block triangular C with ``C.T @ C = left``; directions in which rounding made it negative get nothing.

    The first rows do not depend on the last rows and columns of `left`, where the errors are largest. A pivot no larger
    than its error would blow up its row, so the factorisation ends before it, and the rest goes by eigenvalues.
    """
    root, failed = dpotrf(left, clean=1)
    good = failed - 1 if failed else len(left)
    small = np.diag(root)[:good] ** 2 <= errors[:good]
    if small.any():
        good = int(np.argmax(small))
    elif not failed:
        return root
    root = np.zeros_like(left)
    root[:good, :good] = np.triu(dpotrf(left[:good, :good], clean=1)[0])
    root[:good, good:] = solve_triangular(root[:good, :good], left[:good, good:], trans="T")
    rest, turn = eigh(left[good:, good:] - root[:good, good:].T @ root[:good, good:])
    root[good:, good:] = np.sqrt(np.maximum(rest, 0.0))[:, None] * turn.T
    return root
