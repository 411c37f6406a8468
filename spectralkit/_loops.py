"""The compiled inner loop: phases to cosines and sines, row by row, at about the speed of memory.

NumPy takes some 20 ns for a float64 cosine where it has no vector library; here a cosine and its sine take about 2 ns.
A phase is counted in turns. Dropping whole turns, then the nearest quarter, leaves at most an eighth of a turn, on
which short polynomials give sine and cosine; the quarter says which of the two goes where, and with what sign.

The loop is optional: without numba, or for little work, `spectralkit.maps` takes its NumPy path, which gives the same
numbers. It is compiled at first use and kept in numba's cache where numba finds a directory that it may write to. It
releases the global interpreter lock and starts no threads of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["SMALLEST_WORK", "available", "walsh_hadamard", "waves_of_points", "waves_of_turns"]

# Output values below which starting numba (about half a second, once) is not worth it.
SMALLEST_WORK = 1 << 18


@functools.cache
def available() -> bool:
    """Whether numba can be imported; asked only when there is work for it, since importing takes a while."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


def waves_of_points(
    X: np.ndarray, frequencies: np.ndarray, offsets: np.ndarray, amplitudes: np.ndarray, out: np.ndarray
) -> None:
    """Write ``amplitude cos 2 pi p`` and ``amplitude sin 2 pi p`` for ``p = x . frequency + offset``.

    X is (n, d), frequencies (d, m), offsets (m,), all float64 and contiguous, also for float32 `out`; amplitudes (m,)
    are in its dtype. `out` is (n, 2 m), the cosines and then the sines; or narrower by k columns, and then the last k
    frequencies have a cosine only, after the sines.
    """
    no_turns = np.empty((0, 0))
    _compiled(_waves)(X, frequencies, no_turns, offsets, amplitudes, *_constants(out.dtype), out)


def waves_of_turns(turns: np.ndarray, offsets: np.ndarray, amplitudes: np.ndarray, out: np.ndarray) -> None:
    """The same for ``p = turns + offset`` with the products, (n, m) in float64, computed elsewhere."""
    nothing = np.empty((0, 0))
    _compiled(_waves)(nothing, nothing, turns, offsets, amplitudes, *_constants(out.dtype), out)


def walsh_hadamard(rows: np.ndarray) -> None:
    """Multiply every row, of a power of two numbers, by the Walsh-Hadamard matrix of ones and minus ones; in place."""
    if rows.size >= SMALLEST_WORK and available():
        _compiled(_walsh_hadamard)(rows)
        return
    half = 1
    while half < rows.shape[1]:
        pairs = rows.reshape(len(rows), -1, 2, half)
        sums = pairs[:, :, 0] + pairs[:, :, 1]
        np.subtract(pairs[:, :, 0], pairs[:, :, 1], out=pairs[:, :, 1])
        pairs[:, :, 0] = sums
        half *= 2


def _walsh_hadamard(rows):
    n, d = rows.shape
    for i in range(n):
        half = 1
        while half < d:
            for start in range(0, d, 2 * half):
                first = rows[i, start : start + half]
                second = rows[i, start + half : start + 2 * half]
                for j in range(half):
                    difference = first[j] - second[j]
                    first[j] += second[j]
                    second[j] = difference
            half *= 2


def _waves(X, frequencies, turns, offsets, amplitudes, sine, cosine, constants, out):  # noqa: PLR0912 - one loop nest
    n, width = out.shape
    m, d = len(offsets), len(frequencies)
    pairs = width - m
    rounder, quarter, four, one, minus_one = constants
    phase = np.empty(m)
    part = np.empty(m, out.dtype)
    for i in range(n):
        for j in range(m):
            phase[j] = offsets[j]
        if len(turns) > 0:
            for j in range(m):
                phase[j] += turns[i, j]
        k = 0
        while k + 4 <= d:  # four columns at a time: one pass over the phases in place of four
            x0, x1, x2, x3 = X[i, k], X[i, k + 1], X[i, k + 2], X[i, k + 3]
            for j in range(m):
                phase[j] += (x0 * frequencies[k, j] + x1 * frequencies[k + 1, j]) + (
                    x2 * frequencies[k + 2, j] + x3 * frequencies[k + 3, j]
                )
            k += 4
        while k < d:
            x0 = X[i, k]
            for j in range(m):
                phase[j] += x0 * frequencies[k, j]
            k += 1
        for j in range(m):
            part[j] = phase[j] - np.floor(phase[j] + 0.5)
        for j in range(pairs):
            q = (four * part[j] + rounder) - rounder  # rounds: the nearest quarter turn, -2, -1, 0, 1 or 2
            s = part[j] - quarter * q
            z = s * s
            sn = sine[0]
            for c in range(1, len(sine)):
                sn = sn * z + sine[c]
            sn = sn * s
            cs = cosine[0]
            for c in range(1, len(cosine)):
                cs = cs * z + cosine[c]
            sign = one if abs(q) <= one else minus_one
            is_odd = abs(q) == one
            out[i, j] = amplitudes[j] * (-q * sn if is_odd else sign * cs)
            out[i, pairs + j] = amplitudes[j] * (q * cs if is_odd else sign * sn)
        for j in range(pairs, m):
            out[i, pairs + j] = amplitudes[j] * np.cos(_TURN * part[j])


_TURN = 2 * np.pi

# Near-minimax polynomials in z = s^2 for |s| <= 1/8, highest power first, by interpolation in 50 digits at Chebyshev
# points: sin(2 pi s) / s and cos(2 pi s), with relative errors below 2^-54 for float64 and 2^-26 for float32.
_SINE: dict[Any, tuple[float, ...]] = {
    np.float64: (
        3.7808689593022957, -15.093804209987114, 42.058685020160894, -76.70585970427454, 81.60524927594804,
        -41.341702240399634, 6.283185307179586,
    ),
    np.float32: (-75.40161270274746, 81.59254287130155, -41.34166257054795, 6.283185287812946),
}  # fmt: skip
_COSINE: dict[Any, tuple[float, ...]] = {
    np.float64: (
        7.810290968144191, -26.42425703488269, 60.24462008593029, -85.45681709034115, 64.93939402236538,
        -19.73920880217842, 1.0,
    ),
    np.float32: (59.2201689582961, -85.44284467308167, 64.93931613570905, -19.739208650130596, 0.9999999999524894),
}  # fmt: skip


@functools.cache
def _constants(dtype: np.dtype) -> tuple[tuple, tuple, tuple]:
    """Every number that meets a value of the output, in its dtype: a float64 one would halve the vector width."""
    number = dtype.type
    sine, cosine = (tuple(number(c) for c in table[number]) for table in (_SINE, _COSINE))
    rounder = 1.5 * 2.0 ** np.finfo(dtype).nmant
    return sine, cosine, tuple(number(c) for c in (rounder, 0.25, 4.0, 1.0, -1.0))


@functools.cache
def _compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    # no fast-math flags: fused products and sums would save 5 % of the time and round otherwise than the NumPy path
    try:
        return numba.njit(loop, cache=True, nogil=True)
    except RuntimeError:  # numba found no directory to write its cache to
        return numba.njit(loop, nogil=True)
