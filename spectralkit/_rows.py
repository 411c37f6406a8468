"""Which rows are equal, and a division into folds that keeps equal rows together."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["fold_of_rows", "groups_of_equal_rows"]

_VALUES_PER_BLOCK = 1 << 20


def groups_of_equal_rows(X: Any) -> np.ndarray:
    """Number the distinct rows of X, and return the number of each row's."""
    _, first, group = np.unique(_codes(X), return_index=True, return_inverse=True)
    for rows in _blocks(X):
        different = X[rows] != X[first[group[rows]]]
        if different.count_nonzero() if sparse.issparse(different) else different.any():  # two rows with one code
            dense = X.toarray() if sparse.issparse(X) else X
            return np.unique(dense, axis=0, return_inverse=True)[1].ravel()
    return group


def fold_of_rows(X: Any, n_folds: int) -> np.ndarray:
    """A fold for each row, as good as random, but a function of what stands in the row alone."""
    return (_codes(X) % np.uint64(n_folds)).astype(np.intp)


def _codes(X: Any) -> np.ndarray:
    """A number of 64 bits for each row; rows with different numbers differ, and others are equal but for bad luck.

    The sum of a scrambled number for each value that is not zero, scrambled again.
    """
    codes = np.empty(X.shape[0], dtype=np.uint64)
    keys = _scrambled(np.arange(X.shape[1], dtype=np.uint64))
    for rows in _blocks(X):
        if sparse.issparse(X):
            block = sparse.csr_array(X[rows], copy=True)
            block.sum_duplicates()
            sums = np.append(np.uint64(0), np.cumsum(_shares(block.data, keys[block.indices]), dtype=np.uint64))
            codes[rows] = sums[block.indptr[1:]] - sums[block.indptr[:-1]]
        else:
            codes[rows] = _shares(X[rows], keys).sum(axis=1, dtype=np.uint64)
    return _scrambled(codes)


def _shares(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Numbers for values in columns with these keys; 0 for zeros of either sign."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    shares = _scrambled(values.view(np.uint64) ^ keys)
    shares[values == 0] = 0
    return shares


def _scrambled(codes: np.ndarray) -> np.ndarray:
    """A step of the generator splitmix64 from each of these states."""
    codes = codes + np.uint64(0x9E3779B97F4A7C15)
    codes = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    codes = (codes ^ (codes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return codes ^ (codes >> np.uint64(31))


def _blocks(X: Any) -> list[slice]:
    n, d = X.shape
    step = max(1, _VALUES_PER_BLOCK // d)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
