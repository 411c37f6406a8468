"""Which rows are equal, and a division into folds that keeps equal rows together."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["fold_of_rows", "groups_of_equal_rows"]

_VALUES_PER_BLOCK = 1 << 20  # sparse rows are dense within a block


def groups_of_equal_rows(X: Any) -> np.ndarray:
    """Number the distinct rows of X, and return the number of each row's."""
    _, first, group = np.unique(_codes(X), return_index=True, return_inverse=True)
    for rows in _blocks(X):
        if not (_dense(X, rows) == _dense(X, first[group[rows]])).all():  # two rows with one code
            return np.unique(_dense(X, slice(None)), axis=0, return_inverse=True)[1].ravel()
    return group


def fold_of_rows(X: Any, n_folds: int) -> np.ndarray:
    """A fold for each row, as good as random, but a function of what stands in the row alone."""
    return (_codes(X) % np.uint64(n_folds)).astype(np.intp)


def _codes(X: Any) -> np.ndarray:
    """A number of 64 bits for each row; rows with different numbers differ, and others are equal but for bad luck."""
    codes = np.empty(X.shape[0], dtype=np.uint64)
    for rows in _blocks(X):
        bits = (_dense(X, rows) + 0.0).view(np.uint64)  # minus zero becomes zero
        code = np.full(len(bits), 0x9E3779B97F4A7C15, dtype=np.uint64)
        for column in bits.T:  # the finaliser of splitmix64 after each column
            code = (code ^ column) + np.uint64(0x9E3779B97F4A7C15)
            code = (code ^ (code >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            code = (code ^ (code >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            code ^= code >> np.uint64(31)
        codes[rows] = code
    return codes


def _dense(X: Any, rows: Any) -> np.ndarray:
    block = X[rows].toarray() if sparse.issparse(X) else X[rows]
    return np.ascontiguousarray(block, dtype=np.float64)


def _blocks(X: Any) -> list[slice]:
    n, d = X.shape
    step = max(1, _VALUES_PER_BLOCK // d)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
