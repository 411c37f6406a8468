"""The compiled inner loop of kernel-weighted averages and softmax attention: no n x m array, at the speed of products.

The keys come in blocks, and so do the queries: the lanes of the processor are queries that go through one key after
the other, so that no sum runs across lanes, and what is computed for a query does not depend on its neighbours. Four
keys and four of their columns, or eight keys and two columns of their values, meet a lane while it is in a register.

The weights of a block are counted from the largest score met so far, rounded up to a whole number: when it grows, the
sums so far are multiplied by a power of two, which is exact. The sums over a block have the dtype of the scores, those
over all blocks are float64.

Without numba, or for little work, the same sums are made of NumPy's products of blocks.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from spectralkit import _loops

__all__ = ["ROWS_PER_BLOCK", "softmax_sums"]

# Queries for one call under `for_row_blocks`: what is done once for a block of keys is little against their work.
ROWS_PER_BLOCK = 1024

# Queries that go together, and the keys that they meet in one go; both are constants to the compiler, which makes whole
# loops of vectors of the one and of eight of the other. Their scores, 32 kB in float32, stay near the processor.
_LANES = 128
_KEYS = 64
_FEWEST_QUERIES = 48  # fewer leave too many of the lanes empty

# Scores beyond it count as minus infinity; differences of two such numbers are finite.
_LOWEST = -(2.0**126)


def softmax_sums(
    queries: np.ndarray,
    keys: np.ndarray,
    bias: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
    total: np.ndarray,
    top: np.ndarray,
    squares: np.ndarray | None = None,
    left_out: tuple[np.ndarray, np.ndarray] | None = None,
) -> None:
    """Write sums with the weights ``w_i = 2^(s_i - top)`` for the scores ``s_i = x . key_i + bias_i`` of each query x.

    Scores are logarithms to base 2: multiply queries and biases by ``log2(e)`` for weights ``e^(x . key_i + bias_i)``.
    Before that, the kernel ``exp(-c |x - x_i|^2)`` has ``key_i = 2 c x_i`` and ``bias_i = -c |x_i|^2``, about a centre
    of the points, for the sake of rounding: a score is off by its size times the precision of the dtype, or by that of
    the products in it where they are larger, and its weight by as much of itself. To that the weights add a relative
    error of 2e-7 in float32 and 5e-16 in float64.

    The queries are (n, d), the keys (d, m), the bias (m,) and the values (k, m), all float64 or all float32; a bias of
    minus infinity masks a key, everything else is finite. Written are `top`, the largest score, ``total = sum_i w_i``,
    both (n,), ``out = sum_i w_i v_i``, (n, k), and, where asked for, ``squares = sum_i w_i^2``, (n,), all in the dtype
    of the others or all in float64. So the logarithm of the sum of all ``2^s_i`` is ``top + log2(total)``, an average
    is ``out / total``, and the effective sample size is ``total^2 / squares``. Weights below 2^-124 in float32, or
    2^-1020 in float64, may be 0. A query without any key has top minus infinity, and sums of 0.

    The query i leaves out the keys ``first[i], ..., last[i] - 1`` for ``left_out = first, last``: itself, or, where
    equal rows stand side by side, all of its kind.
    """
    some = np.empty(0, out.dtype) if squares is None else squares
    first, last = (np.empty(0, np.intp),) * 2 if left_out is None else (np.asarray(a, np.intp) for a in left_out)
    queries, keys, bias, values = (np.ascontiguousarray(a) for a in (queries, keys, bias, values))
    n, size = len(queries), len(queries) * len(bias)
    if n >= _FEWEST_QUERIES and size >= _loops.SMALLEST_WORK and _loops.available():
        numbers = _constants(queries.dtype)
        _compiled(queries.dtype)(queries, keys, bias, values, first, last, *numbers, out, total, top, some)
        return
    rows = min(max(256, (1 << 18) // max(len(bias), 1)), 1 << 14)
    for start in range(0, n, rows):
        part = slice(start, start + rows)
        ranges, written = (first[part], last[part]), (out[part], total[part], top[part], some[part])
        _with_numpy(queries[part], keys, bias, values, *ranges, *written)


def _with_numpy(queries, keys, bias, values, first, last, out, total, top, squares):
    """The same for a block of queries: sums of blocks of keys, added in float64, as in the compiled loop."""
    n, (k, m) = len(queries), values.shape
    step = min(max((1 << 18) // max(n, 1), 512), 4096)
    lowest = _constants(queries.dtype)[1] + queries.dtype.type(0.5)
    sums, best, base = np.zeros((n, k + 2)), np.full(n, -np.inf, queries.dtype), np.full(n, _LOWEST, queries.dtype)
    for start in range(0, m, step):
        stop = min(start + step, m)
        scores = queries @ keys[:, start:stop]
        scores += bias[start:stop]
        for i in np.flatnonzero((first < stop) & (last > start)):
            scores[i, max(first[i] - start, 0) : max(last[i] - start, 0)] = -np.inf
        np.maximum(best, scores.max(axis=1), out=best)
        higher = np.maximum(np.ceil(best), base)
        factor = np.exp2(np.subtract(base, higher, dtype=np.float64))[:, None]
        base = higher
        scores -= base[:, None]
        scores[scores <= lowest] = -np.inf
        weights = np.exp2(scores, out=scores)
        sums *= factor
        sums[:, -1:] *= factor
        sums[:, :k] += weights @ values[:, start:stop].T
        sums[:, k] += weights.sum(axis=1)
        if len(squares) > 0:
            sums[:, k + 1] += np.einsum("ij,ij->i", weights, weights)
    top[:] = np.where(best > _LOWEST, best, -np.inf)
    factor = np.exp2(base - np.maximum(best, _LOWEST, dtype=np.float64))
    total[:] = sums[:, k] * factor
    out[:] = sums[:, :k] * factor[:, None]
    if len(squares) > 0:
        squares[:] = sums[:, k + 1] * factor**2


# -- compiled ----------------------------------------------------------------------------------------------------------


def _softmax(queries, keys, bias, values, first, last, powers, lowest, rounder, out, total, top, squares):
    n, d = queries.shape
    k, m = len(values), len(bias)
    width, columns = -(-max(d, 1) // 4) * 4, -(-(k + 1) // 2) * 2  # a column of ones is summed after the values
    groups = -(-n // _LANES)
    x = np.zeros((groups, width * _LANES), queries.dtype)
    for i in range(n):
        for c in range(d):
            x[i // _LANES, c * _LANES + i % _LANES] = queries[i, c]
    best = np.full((groups, _LANES), -np.inf, queries.dtype)
    base = np.full((groups, _LANES), _LOWEST, queries.dtype)
    sums = np.zeros((groups, (columns + 1) * _LANES))

    some_keys = np.zeros(_KEYS * width, queries.dtype)
    some_bias = np.empty(_KEYS, queries.dtype)
    some_values = np.zeros(columns * _KEYS, queries.dtype)
    some_values[k * _KEYS : (k + 1) * _KEYS] = 1
    s = np.empty(_KEYS * _LANES, queries.dtype)
    part = np.empty((columns + 1) * _LANES, queries.dtype)
    for start in range(0, m, _KEYS):
        count = min(_KEYS, m - start)
        some_bias[:] = -np.inf
        for j in range(count):
            some_bias[j] = bias[start + j]
            for c in range(d):
                some_keys[j * width + c] = keys[c, start + j]
        for c in range(k):
            some_values[c * _KEYS : c * _KEYS + count] = values[c, start : start + count]
        for g in range(groups):
            _scores(x[g], some_keys, some_bias, s)
            if len(first) > 0:
                _leave_out(first[g * _LANES : (g + 1) * _LANES], last[g * _LANES : (g + 1) * _LANES], start, s)
            _find_base(s, best[g], base[g], sums[g])
            _weights(base[g], powers, lowest, rounder, s)
            part[:] = 0
            _add(s, some_values, part)
            if len(squares) > 0:
                _add_squares(s, part[columns * _LANES :])
            sums[g] += part

    for i in range(n):
        g, q = i // _LANES, i % _LANES
        top[i] = best[g, q] if best[g, q] > _LOWEST else -np.inf
        factor = 2.0 ** (np.float64(base[g, q]) - max(best[g, q], _LOWEST))
        total[i] = sums[g, k * _LANES + q] * factor
        for c in range(k):
            out[i, c] = sums[g, c * _LANES + q] * factor
        if len(squares) > 0:
            squares[i] = sums[g, columns * _LANES + q] * factor**2


def _scores(x, keys, bias, s):
    width = len(keys) // _KEYS
    for c in range(0, width, 4):
        column = x[c * _LANES : (c + 4) * _LANES]
        for j in range(0, _KEYS, 4):
            scores = s[j * _LANES : (j + 4) * _LANES]
            at = j * width + c
            a0, a1, a2, a3 = keys[at], keys[at + 1], keys[at + 2], keys[at + 3]
            at += width
            b0, b1, b2, b3 = keys[at], keys[at + 1], keys[at + 2], keys[at + 3]
            at += width
            c0, c1, c2, c3 = keys[at], keys[at + 1], keys[at + 2], keys[at + 3]
            at += width
            d0, d1, d2, d3 = keys[at], keys[at + 1], keys[at + 2], keys[at + 3]
            e0, e1, e2, e3 = bias[j], bias[j + 1], bias[j + 2], bias[j + 3]
            for q in range(_LANES):
                x0, x1 = column[q], column[_LANES + q]
                x2, x3 = column[2 * _LANES + q], column[3 * _LANES + q]
                y0, y1 = (scores[q], scores[_LANES + q]) if c > 0 else (e0, e1)
                y2, y3 = (scores[2 * _LANES + q], scores[3 * _LANES + q]) if c > 0 else (e2, e3)
                scores[q] = y0 + x0 * a0 + x1 * a1 + x2 * a2 + x3 * a3
                scores[_LANES + q] = y1 + x0 * b0 + x1 * b1 + x2 * b2 + x3 * b3
                scores[2 * _LANES + q] = y2 + x0 * c0 + x1 * c1 + x2 * c2 + x3 * c3
                scores[3 * _LANES + q] = y3 + x0 * d0 + x1 * d1 + x2 * d2 + x3 * d3


def _leave_out(first, last, start, s):
    for q in range(len(first)):
        for j in range(max(first[q] - start, 0), min(last[q] - start, _KEYS)):
            s[j * _LANES + q] = -np.inf


def _find_base(s, best, base, sums):
    for j in range(0, _KEYS, 4):
        scores = s[j * _LANES : (j + 4) * _LANES]
        for q in range(_LANES):
            a = max(scores[q], scores[_LANES + q])
            b = max(scores[2 * _LANES + q], scores[3 * _LANES + q])
            best[q] = max(best[q], a, b)
    for q in range(_LANES):
        higher = max(np.ceil(best[q]), base[q])
        if higher > base[q]:
            factor = math.ldexp(1.0, int(max(base[q] - higher, -1100.0)))
            base[q] = higher
            for at in range(q, len(sums), _LANES):
                sums[at] *= factor
            sums[len(sums) - _LANES + q] *= factor  # of squares


def _weights(base, powers, lowest, rounder, s):
    for j in range(0, _KEYS, 2):
        scores = s[j * _LANES : (j + 2) * _LANES]
        for q in range(_LANES):
            y = max(scores[q] - base[q], lowest)
            z = y + rounder
            f = y - (z - rounder)
            p = powers[0]
            for i in range(1, len(powers)):
                p = p * f + powers[i]
            scores[q] = p * _half_a_power(z)
            y = max(scores[_LANES + q] - base[q], lowest)
            z = y + rounder
            f = y - (z - rounder)
            p = powers[0]
            for i in range(1, len(powers)):
                p = p * f + powers[i]
            scores[_LANES + q] = p * _half_a_power(z)


def _half_a_power(z):
    return np.int64(np.float64(z).view(np.int64) << 52).view(np.float64)


def _half_a_power_in_float32(z):
    return np.int32(np.float32(z).view(np.int32) << 23).view(np.float32)


def _add(s, values, sums):
    for c in range(0, len(sums) // _LANES - 1, 2):
        column = sums[c * _LANES : (c + 2) * _LANES]
        for j in range(0, _KEYS, 8):
            u = values[c * _KEYS + j : c * _KEYS + j + 8]
            v = values[(c + 1) * _KEYS + j : (c + 1) * _KEYS + j + 8]
            u0, u1, u2, u3, u4, u5, u6, u7 = u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7]
            v0, v1, v2, v3, v4, v5, v6, v7 = v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
            weights = s[j * _LANES : (j + 8) * _LANES]
            for q in range(_LANES):
                w0, w1, w2, w3 = weights[q], weights[_LANES + q], weights[2 * _LANES + q], weights[3 * _LANES + q]
                w4, w5 = weights[4 * _LANES + q], weights[5 * _LANES + q]
                w6, w7 = weights[6 * _LANES + q], weights[7 * _LANES + q]
                column[q] += w0 * u0 + w1 * u1 + w2 * u2 + w3 * u3 + w4 * u4 + w5 * u5 + w6 * u6 + w7 * u7
                column[_LANES + q] += w0 * v0 + w1 * v1 + w2 * v2 + w3 * v3 + w4 * v4 + w5 * v5 + w6 * v6 + w7 * v7


def _add_squares(s, squares):
    for j in range(0, _KEYS, 4):
        weights = s[j * _LANES : (j + 4) * _LANES]
        for q in range(_LANES):
            w0, w1, w2, w3 = weights[q], weights[_LANES + q], weights[2 * _LANES + q], weights[3 * _LANES + q]
            squares[q] += w0 * w0 + w1 * w1 + w2 * w2 + w3 * w3


# 2^(1 + f) for |f| <= 1/2, highest power first, by interpolation in 50 digits of (2^(1 + f) - 2) / f at Chebyshev
# points, with relative errors below 2^-56 for float64 and 2^-27 for float32; at f = 0 it is 2.
_POWERS: dict[Any, tuple[float, ...]] = {
    np.float64: (
        8.909921196373037e-10, 1.4145171898538447e-08, 2.0356124891691547e-07, 2.643088517584338e-06,
        3.050546765967224e-05, 0.000308070608834721, 0.002666711629283387, 0.019236258215213776, 0.1110082173296432,
        0.48045301391820194, 1.3862943611198906, 2.0,
    ),
    np.float32: (
        0.0003090632589024138, 0.002678172672934247, 0.019236165114555705, 0.11100714228438156, 0.4804530152113625,
        1.3862943760524575, 2.0,
    ),
}  # fmt: skip


@functools.cache
def _constants(dtype: np.dtype) -> tuple[tuple, Any, Any]:
    """The polynomial, the lowest y, and the number that rounds y by its addition: r = (y + rounder) - rounder.

    The last bits of ``y + rounder`` are those of ``r - lowest``, by which they are the exponent of 2^(r - 1) as soon as
    they are shifted to its place; for the lowest y they are 0, and so is that power.
    """
    number = dtype.type
    lowest = np.finfo(dtype).minexp
    rounder = 1.5 * 2.0 ** np.finfo(dtype).nmant - lowest
    return tuple(number(c) for c in _POWERS[number]), number(lowest), number(rounder)


@functools.cache
def _compiled(dtype: np.dtype) -> Callable[..., Any]:
    """The loop for a dtype, with the names of other loops in it standing for their compiled versions.

    Fused products and sums take half the time; nothing else may be rearranged, the additions that round least of all.
    """
    import numba

    loops = dict(globals())

    def compile_as(name: str, loop: Callable[..., Any]) -> None:
        own = types.FunctionType(loop.__code__, loops, loop.__name__)
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
        try:
            loops[name] = numba.njit(own, cache=True, **options)
        except RuntimeError:  # numba found no directory to write its cache to
            loops[name] = numba.njit(own, **options)

    compile_as("_half_a_power", _half_a_power_in_float32 if dtype == np.float32 else _half_a_power)
    for loop in (_scores, _leave_out, _find_base, _weights, _add, _add_squares, _softmax):
        compile_as(loop.__name__, loop)
    return loops["_softmax"]
