"""Lags: the only place that knows how pairs of points are stored.

A kernel formula asks its lags for one of three things, ``squared(scale)``, ``turns(frequency)`` or ``column(j)``, and
gets an array with one value per lag. The same formula then serves lags given outright, X against Y, and the pairs of
one X of which only half are computed, on NumPy and on torch. No (n, m, d) array of lags is ever made.
"""

from __future__ import annotations

import functools
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform

from spectralkit._xp import as_float64, cast_like, convert, is_torch, namespace, outer_difference, stop_gradient
from spectralkit.spectra._dual import Dual


class Lags(ABC):
    """One lag per pair; formulas call `squared`, `turns` and `column`.

    Attributes
    ----------
    d : int
        Number of columns.
    like : array
        An array of the library, dtype and device that parameters are converted to.
    """

    d: int
    like: Any

    def squared(self, scale: Any) -> Any:
        """``sum_j (scale_j tau_j)**2`` for a scalar scale or one per column."""
        if isinstance(scale, Dual):
            return sum((s * self.column(j)) ** 2 for j, s in enumerate(self._per_column(scale)))
        return self._squared(scale)

    def turns(self, frequency: Any) -> Any:
        """``frequency . tau`` up to whole turns, which is all that a cosine or sine of ``2 pi`` times it can see.

        Whole turns are dropped in double precision before the values are cast to the dtype of the points, so float32
        points far from the origin keep the phase.
        """
        if isinstance(frequency, Dual):
            return sum(f * self.column(j) for j, f in enumerate(self._per_column(frequency)))
        return self._turns(frequency)

    def _per_column(self, value: Dual) -> list[Any]:
        return [value] * self.d if value.ndim == 0 else [value[j] for j in range(self.d)]

    def _fraction_of_turns(self, points: Any, frequency: Any) -> Any:
        turns = as_float64(points) @ as_float64(frequency)
        return cast_like(turns - namespace(turns).round(turns), points)

    @abstractmethod
    def column(self, j: int) -> Any:
        """``tau_j``."""

    @abstractmethod
    def on(self, columns: Sequence[int]) -> Lags:
        """The same pairs, seen in some of the columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix that the values stand for."""
        raise NotImplementedError

    def expand(self, values: Any, diagonal: Any, out: np.ndarray | None = None) -> Any:
        """`values` as the matrix that they stand for, with `diagonal` (a scalar) where a point meets itself."""
        if out is None:
            return values
        out[...] = values
        return out

    def with_diagonal(self, matrix: np.ndarray, value: Any) -> np.ndarray:
        """A matrix of `shape`, with `value` written into it where a point meets itself."""
        return matrix

    def row_blocks(self) -> Iterator[tuple[slice, Lags]]:
        """The pairs in blocks of rows of X, for formulas with many results.

        The blocks are small enough for all temporaries of a formula to stay in cache.
        """
        raise NotImplementedError

    @abstractmethod
    def _squared(self, scale: Any) -> Any: ...

    @abstractmethod
    def _turns(self, frequency: Any) -> Any: ...


class Differences(Lags):
    """Lags given outright: `tau` of shape (..., d)."""

    def __init__(self, tau: Any) -> None:
        self.tau = self.like = tau
        self.d = tau.shape[-1]

    def column(self, j: int) -> Any:
        return self.tau[..., j]

    def on(self, columns: Sequence[int]) -> Differences:
        return Differences(self.tau[..., list(columns)])

    def _squared(self, scale: Any) -> Any:
        return ((self.tau * scale) ** 2).sum(-1)

    def _turns(self, frequency: Any) -> Any:
        return self._fraction_of_turns(self.tau, frequency)


class CrossPairs(Lags):
    """Every row of X, (..., n, d), against every row of Y, (..., m, d)."""

    def __init__(self, X: Any, Y: Any) -> None:
        self.X, self.Y, self.like = X, Y, X
        self.d = X.shape[-1]

    def column(self, j: int) -> Any:
        return outer_difference(self.X[..., j], self.Y[..., j])

    def on(self, columns: Sequence[int]) -> CrossPairs:
        return CrossPairs(self.X[..., list(columns)], self.Y[..., list(columns)])

    def _squared(self, scale: Any) -> Any:
        if is_torch(self.X):
            return _torch_squared_distance()(self.X * scale, self.Y * scale)
        return cdist(self.X * scale, self.Y * scale, "sqeuclidean").astype(self.X.dtype, copy=False)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.X), len(self.Y)

    def row_blocks(self) -> Iterator[tuple[slice, CrossPairs]]:
        size = max(1, _BLOCK // max(len(self.Y), 1))
        for start in range(0, len(self.X), size):
            rows = slice(start, start + size)
            yield rows, CrossPairs(self.X[rows], self.Y)

    def _turns(self, frequency: Any) -> Any:
        return outer_difference(*(self._fraction_of_turns(points, frequency) for points in (self.X, self.Y)))


class CondensedPairs(Lags):
    """The pairs i < j of the rows of one X, (n, d), in the order of `scipy.spatial.distance.pdist`; NumPy only."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = self.like = X
        self.d = X.shape[1]

    def column(self, j: int) -> np.ndarray:
        return _condensed_difference(self.X[:, j])

    def on(self, columns: Sequence[int]) -> CondensedPairs:
        return CondensedPairs(self.X[:, list(columns)])

    def _squared(self, scale: Any) -> np.ndarray:
        return pdist(self.X * scale, "sqeuclidean").astype(self.X.dtype, copy=False)

    def _turns(self, frequency: Any) -> np.ndarray:
        return _condensed_difference(self._fraction_of_turns(self.X, frequency))

    def row_blocks(self) -> Iterator[tuple[slice, CrossPairs]]:
        """Every pair is met twice, and the values come out symmetric to the last bit.

        Where a formula has many results, that is faster than to spread each of them out.
        """
        return CrossPairs(self.X, self.X).row_blocks()

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.X), len(self.X)

    def expand(self, values: np.ndarray, diagonal: Any, out: np.ndarray | None = None) -> np.ndarray:
        K = squareform(values, checks=False) if len(self.X) else np.empty((0, 0), dtype=values.dtype)
        return super().expand(self.with_diagonal(K, diagonal), diagonal, out)

    def with_diagonal(self, matrix: np.ndarray, value: Any) -> np.ndarray:
        np.fill_diagonal(matrix, value)
        return matrix


_BLOCK = 1 << 13  # pairs


def all_pairs(X: Any, Y: Any = None) -> Lags:
    """Lags of all pairs of rows of X (Y None) or of X and Y.

    Both are first shifted by the mean of X. That changes no lag; it keeps the products that stand in for lags small.
    """
    if is_torch(X):
        centre = stop_gradient(X).reshape(-1, X.shape[-1]).mean(0)
        return CrossPairs(X - centre, X - centre if Y is None else convert(Y, X) - centre)
    centre = X.mean(axis=0, dtype=np.float64).astype(X.dtype) if len(X) else np.zeros(X.shape[1], dtype=X.dtype)
    return CondensedPairs(X - centre) if Y is None else CrossPairs(X - centre, Y - centre)


def _condensed_difference(p: np.ndarray) -> np.ndarray:
    n = len(p)
    out = np.empty(n * (n - 1) // 2, dtype=p.dtype)
    start = 0
    for i in range(n - 1):
        stop = start + n - 1 - i
        np.subtract(p[i], p[i + 1 :], out=out[start:stop])
        start = stop
    return out


@functools.cache
def _torch_squared_distance() -> Any:
    """Squared distances whose backward is matrix products: autograd of the plain formula keeps (n, m, d) arrays."""
    torch = sys.modules["torch"]

    class SquaredDistance(torch.autograd.Function):  # type: ignore[name-defined]
        generate_vmap_rule = True

        @staticmethod
        def forward(A: Any, B: Any) -> Any:
            return torch.cdist(A, B, compute_mode="donot_use_mm_for_euclid_dist") ** 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            A, B = ctx.saved_tensors
            grad_A = 2 * (A * grad.sum(-1, keepdim=True) - grad @ B)
            grad_B = 2 * (B * grad.sum(-2).unsqueeze(-1) - grad.mT @ A)
            return grad_A, grad_B

    return SquaredDistance.apply
