"""Sums over rows with their weights at each query: the exact method, in blocks, with memory for the results only."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from spectralkit._loops.softmax import ROWS_PER_BLOCK, softmax_sums
from spectralkit._parallel import for_row_blocks
from spectralkit.attention._rows import Rows
from spectralkit.attention._weighting import Exponential, Weighting

__all__ = ["Sums", "exact_sums"]

# Logarithms of weights may be off by so much from rounding, in float32 and in float64, before the next better way of
# computing them is taken: float64, then differences of points instead of products.
_ROUNDING = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9}
_QUERIES, _KEYS = 128, 4096  # of a block of weights, 4 MB
_SMALLEST = 1e-290  # weights that are all below it have too few digits to be compared


class Sums(NamedTuple):
    """Sums over rows with their weights at each query, all of them over e^log_scale.

    Attributes
    ----------
    log_scale : ndarray of shape (m,)
        Minus infinity where no row has weight.
    total : ndarray of shape (m,)
        Sums of the weights; zero where no row has weight.
    values : ndarray of shape (m, k)
        Sums of weights times values.
    slopes : ndarray of shape (p, m, 1 + k), optional
        Derivatives of total and values, at fixed log_scale, to the logarithms of p bandwidths.
    """

    log_scale: np.ndarray
    total: np.ndarray
    values: np.ndarray
    slopes: np.ndarray | None = None

    @classmethod
    def empty(cls, m: int, k: int, slopes: int = 0) -> Self:
        """Room for the sums of m queries."""
        return cls(np.empty(m), np.empty(m), np.empty((m, k)), np.empty((slopes, m, 1 + k)) if slopes else None)

    def averages(self) -> np.ndarray:
        """Sums of values over the total, (m, k); zeros where no row has weight."""
        return np.divide(
            self.values, self.total[:, None], out=np.zeros_like(self.values), where=self.total[:, None] > 0
        )

    def put(self, where: Any, part: Sums) -> None:
        """Write the sums of some of the queries."""
        self.log_scale[where], self.total[where], self.values[where] = part.log_scale, part.total, part.values


def exact_sums(
    weighting: Weighting,
    queries: np.ndarray,
    rows: Rows,
    values: np.ndarray,
    *,
    radius: np.ndarray | None = None,
    own: np.ndarray | None = None,
    power: int = 1,
    slopes: bool = False,
    single: bool = False,
    n_jobs: int | None = None,
) -> Sums:
    """Sums of values, times repetitions, with the kernel's weights of all rows at each query.

    Points are counted from the centre of the rows, so that an offset costs no digits.

    Parameters
    ----------
    weighting : Weighting
        The kernel.
    queries : ndarray of shape (m, d)
        Points.
    rows : Rows
        The rows.
    values : ndarray of shape (n, k)
        What is summed.
    radius : ndarray of shape (m,), optional
        Factor on the bandwidth at each query.
    own : ndarray of shape (m,), optional
        Number of a row that each query leaves out.
    power : int, default=1
        Power of the kernel's weights, not of the repetitions.
    slopes : bool, default=False
        Whether to give derivatives; not for exponential weights.
    single : bool, default=False
        Whether float32 rows may be computed with in float32, where rounding allows it.
    n_jobs : int, optional
        Number of threads.
    """
    X, weights = rows.X - rows.centre, rows.weights
    if not isinstance(weighting, Exponential):
        near = queries - rows.centre
        return _by_differences(weighting, near, X, weights, values, radius, own, power, slopes, n_jobs)
    near = queries if weighting.keys_count else queries - rows.centre  # scores with them differ by what x shares
    products = _Products(weighting, near, X, weights, values, radius, own, power)
    exact = products.within(np.dtype(np.float64)) | products.are_best
    may_be_single = single and rows.X.dtype == np.float32
    fast = exact & products.within(rows.X.dtype) if may_be_single else np.zeros_like(exact)
    sums = Sums.empty(len(queries), values.shape[1])
    for dtype, chosen in ((np.float32, fast), (np.float64, exact & ~fast)):
        if chosen.any():
            sums.put(chosen, products.sums(dtype, chosen, n_jobs))
    rest = ~exact
    if rest.any():
        r, left_out = (None if a is None else a[rest] for a in (radius, own))
        parts = near[rest], X, weights, values, r, left_out, power, False, n_jobs
        sums.put(rest, _by_differences(weighting, *parts))
    return sums


def by_products(weighting: Weighting, extent: np.ndarray) -> bool:
    """Whether logarithms of weights come from products of points that extend so far in each column."""
    if not isinstance(weighting, Exponential):
        return False
    largest = float(np.square(extent / weighting.bandwidth).sum())
    double = np.dtype(np.float64)
    return bool(weighting.keys_count or largest * np.finfo(double).eps <= _ROUNDING[double])


class _Products:
    """Exponential weights from products of points: what `softmax_sums` takes."""

    def __init__(
        self,
        weighting: Exponential,
        queries: np.ndarray,
        rows: np.ndarray,
        weights: np.ndarray,
        values: np.ndarray,
        radius: np.ndarray | None,
        own: np.ndarray | None,
        power: int,
    ) -> None:
        keys, q = rows / weighting.bandwidth, queries / weighting.bandwidth
        squares = np.einsum("ij,ij->i", keys, keys)
        longest, lengths = math.sqrt(squares.max()), np.sqrt(np.einsum("ij,ij->i", q, q))
        self.largest = lengths * longest + (0 if weighting.keys_count else 0.5 * longest**2)
        # far outside the rows, squares of differences round more than products do
        self.are_best = np.full(len(q), weighting.keys_count) | (lengths > 2 * longest)
        shift = np.zeros(len(q)) if weighting.keys_count else 0.5 * lengths**2
        self.shift = power * (shift if radius is None else shift / radius**2)
        self.repetitions = float(weights.max())
        bias = np.log(weights / self.repetitions)  # exact zeros where all are equal, so that powers double all else
        if radius is not None:  # one column more: minus half the squared length of a key, by its own scale
            q = np.column_stack([q, np.ones(len(q))]) / radius[:, None] ** 2
            keys = np.column_stack([keys, -0.5 * squares])
            self.largest /= radius**2
        elif not weighting.keys_count:
            bias -= 0.5 * power * squares
        self.queries, self.keys, self.bias, self.values, self.own = power * q, keys, bias, values, own

    def within(self, dtype: np.dtype) -> np.ndarray:
        """For which queries the rounding of products in this dtype may be put up with."""
        return self.largest * np.finfo(dtype).eps <= _ROUNDING[dtype]

    def sums(self, dtype: Any, chosen: np.ndarray, n_jobs: int | None) -> Sums:
        """The sums of some of the queries, with logarithms of weights to base 2 in the loop."""
        base = 1 / math.log(2)
        everything = bool(chosen.all())
        q = ((self.queries if everything else self.queries[chosen]) * base).astype(dtype)
        keys = np.ascontiguousarray(self.keys.T, dtype=dtype)
        bias, values = (self.bias * base).astype(dtype), np.ascontiguousarray(self.values.T, dtype=dtype)
        own = None if self.own is None else self.own[chosen]
        sums = Sums.empty(len(q), len(values))

        def work(block: slice) -> None:
            left_out = None if own is None else (own[block], own[block] + 1)
            out = sums.values[block], sums.total[block], sums.log_scale[block]
            softmax_sums(q[block], keys, bias, values, *out, left_out=left_out)

        for_row_blocks(work, len(q), ROWS_PER_BLOCK, n_jobs)
        sums.log_scale[:] = sums.log_scale * math.log(2) - self.shift[chosen]
        sums.total[:] *= self.repetitions
        sums.values[:] *= self.repetitions
        return sums


def _by_differences(
    weighting: Weighting,
    queries: np.ndarray,
    rows: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
    radius: np.ndarray | None,
    own: np.ndarray | None,
    power: int,
    slopes: bool,
    n_jobs: int | None,
) -> Sums:
    """The sums from blocks of weights, in float64; what is right at any distance."""
    weighted = np.column_stack([weights, weights[:, None] * values])
    sums = Sums.empty(len(queries), values.shape[1], len(weighting.bandwidth) if slopes else 0)

    def work(block: slice) -> None:
        q, r = queries[block], None if radius is None else radius[block]
        top, total = np.full(len(q), -np.inf), np.zeros((len(q), weighted.shape[1]))
        gradient = np.zeros((len(weighting.bandwidth) if slopes else 0, *total.shape))
        for start in range(0, len(rows), _KEYS):
            part = slice(start, min(start + _KEYS, len(rows)))
            k = weighting.block(q, rows[part], r)
            outside = None if own is None else _positions(own[block], part)
            if outside is not None:
                k[outside] = -np.inf if weighting.in_logarithms else 0.0
            largest = k.max(axis=1)
            if not weighting.in_logarithms:
                with np.errstate(divide="ignore"):
                    largest = np.where(largest > _SMALLEST, np.log(largest), -np.inf)
            higher = np.maximum(top, largest)
            reference = np.where(np.isfinite(higher), higher, 0.0)
            shrunk = np.exp(np.where(np.isfinite(top), power * (top - reference), -np.inf))[:, None]
            total *= shrunk
            gradient *= shrunk
            top = higher
            if weighting.in_logarithms:
                k = np.exp(power * (k - reference[:, None]))
            else:
                k = np.where(np.isfinite(higher), np.exp(-reference), 0.0)[:, None] * k
                k = k if power == 1 else k**power
            total += k @ weighted[part]
            if slopes:
                for j, slope in enumerate(weighting.slopes(q, rows[part], r)):
                    if outside is not None:
                        slope[outside] = 0.0
                    gradient[j] += np.exp(-reference)[:, None] * (slope @ weighted[part])
        sums.log_scale[block], sums.total[block], sums.values[block] = power * top, total[:, 0], total[:, 1:]
        if sums.slopes is not None:
            sums.slopes[:, block] = gradient

    for_row_blocks(work, len(queries), _QUERIES, n_jobs)
    return sums


def _positions(own: np.ndarray, part: slice) -> tuple[np.ndarray, np.ndarray]:
    here = np.flatnonzero((own >= part.start) & (own < part.stop))
    return here, own[here] - part.start
