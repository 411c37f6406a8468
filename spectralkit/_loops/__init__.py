"""The compiled inner loop: phases to cosines and sines, row by row, at about the speed of memory.

NumPy takes some 20 ns for a float64 cosine where it has no vector library; here a cosine and its sine take about 2 ns.
A phase is counted in turns. Dropping whole turns, then the nearest quarter, leaves at most an eighth of a turn, on
which short polynomials give sine and cosine; the quarter says which of the two goes where, and with what sign.

The kernels of a band limit and of a box, which damp waves, are made of the same pieces: 1 to 3 ns a value.

The loops are optional: without numba, or for little work, their callers take a NumPy path, which gives the same
numbers. They are compiled at first use and kept in numba's cache where numba finds a directory that it may write to.
They release the global interpreter lock and start no threads of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "SMALLEST_WORK",
    "available",
    "band_limited",
    "fits_a_block",
    "sinc_products",
    "walsh_hadamard",
    "waves_of_points",
    "waves_of_turns",
]

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


def fits_a_block(size: int) -> bool:
    """Whether so many values of `band_limited` or `sinc_products` shall be computed here.

    An eighth of the work above, since the damping of waves comes in blocks: the smallest full one has 60 000 values.
    The waves have started numba already then; 2^15 values alone would take NumPy one or two milliseconds.
    """
    return 8 * size >= SMALLEST_WORK and available()


def waves_of_points(
    X: np.ndarray, frequencies: np.ndarray, offsets: np.ndarray, amplitudes: np.ndarray, out: np.ndarray
) -> None:
    """Write ``amplitude cos 2 pi p`` and ``amplitude sin 2 pi p`` for ``p = x . frequency + offset``.

    X is (n, d), frequencies (d, m), offsets (m,), all float64 and contiguous, also for float32 `out`; amplitudes, of
    its dtype, are (1, m), or (n, m) if every row has its own. `out` is (n, 2 m), the cosines and then the sines; or
    narrower by k columns, and then the last k frequencies have a cosine only, after the sines.
    """
    no_turns = np.empty((0, 0))
    _compiled(_waves)(X, frequencies, no_turns, offsets, amplitudes, *_constants(out.dtype), out)


def waves_of_turns(turns: np.ndarray, offsets: np.ndarray, amplitudes: np.ndarray, out: np.ndarray) -> None:
    """The same for ``p = turns + offset`` with the products, (n, m) in float64, computed elsewhere."""
    nothing = np.empty((0, 0))
    _compiled(_waves)(nothing, nothing, turns, offsets, amplitudes, *_constants(out.dtype), out)


def band_limited(s: np.ndarray, d: int, out: np.ndarray) -> None:
    """Write the kernel of `BandLimited` in d = 1, 2 or 3 columns for ``s = sigma^2 tau^2``, float64 or float32.

    `out` has the shape and dtype of s and is contiguous.
    """
    _compiled(_BAND[d][0])(s.reshape(-1), *_constants_of_band(out.dtype, d), out.reshape(-1))


def sinc_products(width: np.ndarray, frequencies: np.ndarray, out: np.ndarray) -> None:
    """Write the product over p of ``sin(pi t) / (pi t)`` for ``t = width_ip frequency_pj``.

    The width is (n, d) or smaller in a way that broadcasts, frequencies (d, m), both float64 also for float32 `out`,
    which is (n, m) and contiguous.
    """
    width = np.ascontiguousarray(np.broadcast_to(width, (len(out), len(frequencies))))
    frequencies = np.ascontiguousarray(frequencies)
    _compiled(_sinc_products)(width, frequencies, *_constants_of_band(out.dtype, 1), out)


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
        a = amplitudes[i % len(amplitudes)]
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
            out[i, j] = a[j] * (-q * sn if is_odd else sign * cs)
            out[i, pairs + j] = a[j] * (q * cs if is_odd else sign * sn)
        for j in range(pairs, m):
            out[i, pairs + j] = a[j] * np.cos(_TURN * part[j])


def _band_in_1(s, sinc, constants, out):
    zero, one, half, end = constants
    for i in range(len(s)):
        t = np.sqrt(end if s[i] > end else s[i])
        part = t - np.floor(t + half)
        r = min(max(part, -half - part), half - part)  # the turns at most a quarter from 0 that have this sine
        z = r * r
        ratio = sinc[0]
        for c in range(1, len(sinc)):
            ratio = ratio * z + sinc[c]
        out[i] = ratio * (r / t if t > zero else one)


def _band_in_2(s, near, modulus, shift, sinc, constants, out):
    one, half, eighth, end = constants
    for i in range(len(s)):
        is_near = s[i] < one  # both cases are computed: a branch would cost more
        x = s[i] if is_near else one
        z = x - one
        chord = near[0]
        for c in range(1, len(near)):
            chord = chord * z + near[c]

        y = one if is_near else end if s[i] > end else s[i]
        z = one / y
        t = np.sqrt(y)
        inverse = t * z
        a = modulus[0]
        for c in range(1, len(modulus)):
            a = a * z + modulus[c]
        delay = shift[0]
        for c in range(1, len(shift)):
            delay = delay * z + shift[c]
        t = t - eighth
        part = t - np.floor(t + half) + delay * inverse
        r = min(max(part, -half - part), half - part)
        z = r * r
        ratio = sinc[0]
        for c in range(1, len(sinc)):
            ratio = ratio * z + sinc[c]
        out[i] = one + x * chord if is_near else a * inverse * np.sqrt(inverse) * (r * ratio)


def _band_in_3(s, near, sine, cosine, constants, out):
    one, minus_one, three, four, half, quarter, turn, end = constants
    for i in range(len(s)):
        is_near = s[i] < quarter
        z = s[i] if is_near else quarter
        close = near[0]
        for c in range(1, len(near)):
            close = close * z + near[c]

        t = np.sqrt(quarter if is_near else end if s[i] > end else s[i])
        part = t - np.floor(t + half)
        q = np.floor(four * part + half)
        r = part - quarter * q
        z = r * r
        sn = sine[0]
        for c in range(1, len(sine)):
            sn = sn * z + sine[c]
        sn = sn * r
        cs = cosine[0]
        for c in range(1, len(cosine)):
            cs = cs * z + cosine[c]
        sign = one if abs(q) <= one else minus_one
        is_odd = abs(q) == one
        inverse = one / (turn * t)
        difference = (q * cs if is_odd else sign * sn) * inverse - (-q * sn if is_odd else sign * cs)
        out[i] = close if is_near else three * difference * (inverse * inverse)


def _sinc_products(width, frequencies, sinc, constants, out):
    zero, one, half, _ = constants
    n, m = out.shape
    turns = np.empty(m, out.dtype)
    part = np.empty(m, out.dtype)
    for i in range(n):
        row = out[i]
        for j in range(m):
            row[j] = one
        for k in range(len(frequencies)):
            w = 0.5 * width[i, k]
            for j in range(m):
                t = min(abs(w * frequencies[k, j]), 1e15)
                turns[j] = t
                part[j] = t - np.floor(t + 0.5)
            for j in range(m):
                r = min(max(part[j], -half - part[j]), half - part[j])
                z = r * r
                ratio = sinc[0]
                for c in range(1, len(sinc)):
                    ratio = ratio * z + sinc[c]
                row[j] *= ratio * (r / turns[j] if turns[j] > zero else one)


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

# For the band limit and boxes, made in the same way: sin(2 pi r) / (2 pi r) in powers of r^2, for |r| <= 1/4.
_SINC: dict[Any, tuple[float, ...]] = {
    np.float64: (
        0.01611648456992974, -0.11424498574236419, 0.6079618177717706, -2.402386906616217, 6.693849040148175,
        -12.208116743804242, 12.987878804533631, -6.579736267392906, 1.0,
    ),
    np.float32: (
        -2.3091843245054573, 6.688783067811538, -12.208003973758666, 12.987877924610446, -6.579736266293262, 1.0,
    ),
}  # fmt: skip
# In three columns the kernel in powers of s, for s <= 1/4; in two columns (kernel - 1) / s in powers of s - 1, for
# s <= 1, and beyond it is modulus(1/s) t^(-3/2) sin(2 pi r) / (2 pi) for r = t - 1/8 + shift(1/s) / t with t^2 = s.
_NEAR_IN_3: dict[Any, tuple[float, ...]] = {
    np.float64: (
        2.1460435932882983e-05, -0.00027249927092831884, 0.0026189421331831307, -0.02016924790765087,
        0.12159286126361704, -0.5543969950551658, 1.8255951930717955, -4.069372247937497, 5.566233773371565,
        -3.9478417604357436, 1.0,
    ),
    np.float32: (
        0.10735140779414654, -0.5504706212729371, 1.825090967915313, -4.069342848204892, 5.5662331448711395,
        -3.947841758254453, 1.0,
    ),
}  # fmt: skip
_NEAR_IN_2: dict[Any, tuple[float, ...]] = {
    np.float64: (
        -1.142999789829738e-08, 1.3803698190177885e-07, -2.2358605609409597e-06, 2.8060367748720608e-05,
        -0.00029318964846853344, 0.0024747840829952698, -0.01645600988921824, 0.0834067940652668,
        -0.3088182542317328, 0.7904809415747682, -1.3097544958889074, 1.3554838264919982, -1.0676034589760346,
    ),
    np.float32: (
        0.003957515314511696, -0.013869371032222905, 0.08567110348389491, -0.30773623643385917,
        0.7907595896338666, -1.309719421725612, 1.3554855026749335, -1.0676034458716726,
    ),
}  # fmt: skip
_MODULUS: dict[Any, tuple[float, ...]] = {
    np.float64: (
        -7.084668354146748e-09, 4.645149937368994e-08, -1.4352178797451575e-07, 2.9222794209219627e-07,
        -4.88059176786711e-07, 8.514130815994734e-07, -2.0229169382242774e-06, 8.331515153288663e-06,
        -7.898155296977415e-05, 0.003023581352165127, 0.6366197723675853,
    ),
    np.float32: (5.694941818137234e-06, -7.7546439016668e-05, 0.003023309417257205, 0.6366197807797982),
}  # fmt: skip
_SHIFT: dict[Any, tuple[float, ...]] = {
    np.float64: (
        1.8655924693047928e-09, -1.2045762618543956e-08, 3.6284879081439645e-08, -7.065551370693947e-08,
        1.0885141952956791e-07, -1.652225445772368e-07, 3.177037829978581e-07, -9.75249796668223e-07,
        6.028024104489356e-06, -0.00010526641933009081, 0.009498860966468042,
    ),
    np.float32: (-5.951945046382031e-07, 5.827535873509776e-06, -0.00010522889793681952, 0.009498859808518232),
}  # fmt: skip

# By the number of columns, the loop and what it asks for beside `out`: tables, and single numbers that are one, half
# and so on in its dtype. The last is the s that all larger ones count as; its root, and 1 / s, fit into float32.
_BAND: dict[int, tuple[Callable[..., None], tuple[dict, ...], tuple[float, ...]]] = {
    1: (_band_in_1, (_SINC,), (0.0, 1.0, 0.5, 1e30)),
    2: (_band_in_2, (_NEAR_IN_2, _MODULUS, _SHIFT, _SINC), (1.0, 0.5, 0.125, 1e30)),
    3: (_band_in_3, (_NEAR_IN_3, _SINE, _COSINE), (1.0, -1.0, 3.0, 4.0, 0.5, 0.25, _TURN, 1e30)),
}


@functools.cache
def _constants(dtype: np.dtype) -> tuple[tuple, tuple, tuple]:
    """Every number that meets a value of the output, in its dtype: a float64 one would halve the vector width."""
    number = dtype.type
    sine, cosine = (tuple(number(c) for c in table[number]) for table in (_SINE, _COSINE))
    rounder = 1.5 * 2.0 ** np.finfo(dtype).nmant
    return sine, cosine, tuple(number(c) for c in (rounder, 0.25, 4.0, 1.0, -1.0))


@functools.cache
def _constants_of_band(dtype: np.dtype, d: int) -> tuple[tuple, ...]:
    """The same for the loop of so many columns in `_BAND`."""
    number = dtype.type
    _, tables, numbers = _BAND[d]
    return tuple(tuple(number(c) for c in row) for row in (*(table[number] for table in tables), numbers))


@functools.cache
def _compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    # no fast-math flags: fused products and sums would save 5 % of the time and round otherwise than the NumPy path
    try:
        return numba.njit(loop, cache=True, nogil=True, error_model="numpy")
    except RuntimeError:  # numba found no directory to write its cache to
        return numba.njit(loop, nogil=True, error_model="numpy")
