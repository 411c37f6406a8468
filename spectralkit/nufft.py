"""Sums over rows of data at all frequencies of a grid, and the periodogram: the only file that knows finufft."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from spectralkit._parallel import for_row_blocks
from spectralkit._validation import as_points, check_sample_weight, is_integer, is_positive_number

__all__ = ["Periodogram", "data_spectrum", "periodogram"]

LARGEST_GRID = 1 << 32  # bytes
_ROWS_PER_BLOCK = 1 << 17
_ACCURACY = 1e-13  # of the sums behind a periodogram, relative to the sum of the weights
_FLOOR = 1e-9  # a wave with less than this left beside the columns that are fitted anyway is one of them
_DELICATE = 1e-4  # below this what is left of a wave is computed directly,
_DIRECT_FLOOR = 1e-18  # and may be smaller,
_MOST_DIRECT = 1 << 21  # for so many waves times rows


def data_spectrum(
    X: Any, values: Any, step: Any, n_modes: Any, *, tol: float = 1e-9, n_jobs: int | None = None
) -> np.ndarray:
    r"""Return the Fourier sums of scattered values on a regular grid of frequencies.

    .. math:: F(\omega_j) = \sum_n v_n \exp(-2\pi i\,\omega_j\cdot x_n), \qquad \omega_j = j\,\mathrm{step}

    Parameters
    ----------
    X : array of shape (n, d)
        Points, d from 1 to 3.
    values : array of shape (n,) or (n, t)
        Real or complex numbers, or t sets of them.
    step : float or array of shape (d,)
        Distance of the frequencies, in cycles per unit of X.
    n_modes : int or tuple of int
        Number of frequencies along each column. N of them are ``j = -(N // 2), ..., (N - 1) // 2``.
    tol : float, default=1e-9
        Error relative to the sum of the absolute values.
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result.

    Returns
    -------
    ndarray of shape (*n_modes) or (t, *n_modes)
        The sums, complex128.

    Raises
    ------
    ValueError
        If the shapes do not agree, a number is not finite, or the grid would not fit in memory.

    Notes
    -----
    In double precision, about the middle of the range of X, where phases are smallest; the phase is put back after.

    References
    ----------
    A. H. Barnett, J. Magland and L. af Klinteberg, "A parallel nonuniform fast Fourier transform library", SIAM J. Sci.
    Comput. 41, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.nufft import data_spectrum
    >>> abs(data_spectrum(np.array([[0.0], [0.5]]), np.array([1.0, 1.0]), 1.0, 5)).round(6)
    array([2., 0., 2., 0., 2.])
    """
    X = np.asarray(as_points(X, "X", rows=True), dtype=np.float64)
    if not 1 <= X.shape[1] <= 3:
        raise ValueError(f"data_spectrum takes points of 1 to 3 columns, got {X.shape[1]}. Choose columns of X.")
    values = np.asarray(values)
    if values.ndim not in (1, 2) or len(values) != len(X):
        raise ValueError(f"values must have shape ({len(X)},) or ({len(X)}, t), as X has rows, got {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError("values has NaN or infinite entries. Fill them in or leave the rows out.")
    steps = np.broadcast_to(np.asarray(step, dtype=np.float64), X.shape[1])
    if not (np.isfinite(steps).all() and (steps > 0).all()):
        raise ValueError(f"step must be positive and finite, got {step!r}.")
    modes = tuple(n_modes) if np.ndim(n_modes) else (n_modes,) * X.shape[1]
    if len(modes) != X.shape[1] or not all(is_integer(count, at_least=1) for count in modes):
        raise ValueError(f"n_modes must be an integer of at least 1 for each of {X.shape[1]} columns, got {n_modes!r}.")
    first = tuple(-(count // 2) for count in modes)
    centre = (X.min(axis=0) + X.max(axis=0)) / 2 if len(X) else np.zeros(X.shape[1])
    sums = _sums(
        X - centre, values.reshape(len(X), values.shape[1] if values.ndim == 2 else 1), steps, first, modes, tol, n_jobs
    )
    for axis, (count, low) in enumerate(zip(modes, first, strict=True)):
        turns = np.arange(low, low + count) * steps[axis] * centre[axis]
        shape = [-1 if i == axis else 1 for i in range(len(modes))]
        sums *= np.exp(-2j * math.pi * (turns % 1.0)).reshape(shape)
    return sums if values.ndim == 2 else sums[0]


def _sums(
    Z: np.ndarray,
    values: np.ndarray,
    steps: Any,
    first: tuple[int, ...],
    modes: tuple[int, ...],
    tol: float = _ACCURACY,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Sums of each column of `values` about zero, at the frequencies ``step * (first + 0, 1, ...)`` of each axis."""
    n, t = values.shape
    cells = math.prod(modes)
    _check_memory(cells, t, len(modes))
    try:
        import finufft
    except ImportError as error:
        raise ImportError("Spectra of data need finufft. Install it with `pip install finufft`.") from error
    transform = getattr(finufft, f"nufft{len(modes)}d1")
    middle = [(low + count // 2) * step for low, count, step in zip(first, modes, steps, strict=True)]
    strengths = np.ascontiguousarray(values.T, dtype=np.complex128)
    if any(middle):
        strengths = strengths * np.exp(-2j * math.pi * (Z @ np.array(middle)))
    angles = [np.ascontiguousarray(2 * math.pi * step * column) for step, column in zip(steps, Z.T, strict=True)]
    rows = max(_ROWS_PER_BLOCK, cells)  # the partial results together are never larger than the strengths
    blocks = max(1, -(-n // rows))
    partial = np.zeros((blocks, t, *modes), dtype=np.complex128)

    def work(tasks: slice) -> None:
        block, vector = divmod(tasks.start, t)
        mine = slice(block * rows, (block + 1) * rows)
        where = [angle[mine] for angle in angles]
        # one thread each, so that rounding does not depend on their number
        partial[block, vector] = transform(*where, strengths[vector, mine], modes, isign=-1, eps=tol, nthreads=1)

    if n:
        for_row_blocks(work, blocks * t, 1, n_jobs)
    return partial.sum(axis=0)


def _check_memory(cells: int, t: int, d: int) -> None:
    needed = 16 * cells * (2 * t + 2**d)
    if needed > LARGEST_GRID:
        raise ValueError(
            f"A grid of {cells} frequencies would take about {needed / 2**30:.3g} GiB, and at most "
            f"{LARGEST_GRID / 2**30:.3g} GiB are allowed. Lower the highest frequency or take larger steps."
        )


@dataclass(frozen=True)
class Periodogram:
    """What one wave at each frequency of a grid explains of a series.

    Attributes
    ----------
    frequencies : ndarray of shape (K,)
        In cycles per unit of x: ``step * (1, ..., K)``.
    power : ndarray of shape (K,)
        Fraction of `variance` that the wave explains, from 0 to 1.
    amplitude : ndarray of shape (K,)
        Amplitude of the wave that fits best.
    variance : float
        Weighted variance of y about its trend and regressors.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.nufft import periodogram
    >>> x = np.linspace(0, 10, 101)
    >>> found = periodogram(x[:, None], 3 * np.cos(2 * np.pi * 1.3 * x))
    >>> best = found.power.argmax()
    >>> float(found.frequencies[best].round(6)), float(found.amplitude[best].round(6)), round(found.variance, 2)
    (1.3, 3.0, 4.54)
    """

    frequencies: np.ndarray
    power: np.ndarray
    amplitude: np.ndarray
    variance: float


def periodogram(
    X: Any,
    y: Any,
    *,
    noise_std: Any = None,
    sample_weight: Any = None,
    trend: int = 0,
    regressors: Any = None,
    step: float | None = None,
    max_frequency: float | None = None,
    n_jobs: int | None = None,
) -> Periodogram:
    r"""Return the generalised Lomb-Scargle periodogram of unevenly sampled data.

    The power is the fraction of the weighted squares that a wave explains beside the trend and the regressors, all of
    them fitted together at every frequency:

    .. math:: P(\omega) = 1 - \frac{\min_{a, b, c} \sum_n w_n (y_n - h_n\cdot c - a\cos 2\pi\omega x_n
              - b\sin 2\pi\omega x_n)^2}{\min_c \sum_n w_n (y_n - h_n\cdot c)^2}

    Parameters
    ----------
    X : array of shape (n, 1)
        Times or places, in any order.
    y : array of shape (n,)
        Values.
    noise_std : float or array of shape (n,), optional
        Standard deviation of the noise of each value; the weights are ``sample_weight / noise_std**2``.
    sample_weight : array of shape (n,), optional
        Repetitions of the rows.
    trend : int, default=0
        Degree of the polynomial in x that is fitted beside each wave; 0 is the floating mean.
    regressors : array of shape (n, p), optional
        Further columns that are fitted beside each wave.
    step : float, optional
        Distance of the frequencies; a fifth of one over the range of x if left out.
    max_frequency : float, optional
        Highest frequency; if left out, half of one over the typical gap between distinct x (see Notes).
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result.

    Returns
    -------
    Periodogram
        Frequencies, power and amplitude.

    Raises
    ------
    ValueError
        If the shapes do not agree, a number is not finite, x or what is left of y is constant, or the grid would not
        fit in memory.

    Notes
    -----
    The sums of the weights at twice the frequency and of the weighted values are taken by non-uniform fast Fourier
    transforms, in O(n + K log K) operations, and the least squares solved from them in closed form [1]_ [2]_. A wave
    that is a combination of the trend and the regressors has no power, and at the Nyquist frequency of regular data the
    cosine has it all.

    The typical gap is the median gap, after those below a thousandth of the mean gap have been left out, or a tenth of
    the mean gap where that is larger: nearly repeated x do not raise `max_frequency`.

    References
    ----------
    .. [1] M. Zechmeister and M. Kürster, "The generalised Lomb-Scargle periodogram", A&A 496, 2009.
    .. [2] W. H. Press and G. B. Rybicki, "Fast algorithm for spectral analysis of unevenly sampled data", ApJ 338,
       1989.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.nufft import periodogram
    >>> x = np.linspace(0, 10, 101)
    >>> found = periodogram(x[:, None], 50 * x + np.cos(2 * np.pi * 1.3 * x), trend=1)
    >>> float(found.frequencies[found.power.argmax()].round(6)), float(found.power.max().round(6))
    (1.3, 1.0)
    """
    x, y, weights, regressors, _ = _checked_rows(X, y, noise_std, sample_weight, regressors)
    if x.shape[1] != 1 or y.shape[1] != 1:
        raise ValueError(f"periodogram takes one column of X and one of y, got {x.shape[1]} and {y.shape[1]}.")
    if not is_integer(trend, at_least=0):
        raise ValueError(f"trend must be the degree of a polynomial, an integer of at least 0, got {trend!r}.")
    low, high = float(x.min()), float(x.max())
    if not high > low:
        raise ValueError("Every x is the same, so that no frequency can be told from another.")
    z = (x[:, 0] - (low + high) / 2) / (high - low)
    basis = _orthonormal([*np.polynomial.legendre.legvander(2 * z, trend).T, *regressors.T], weights)
    residual = _without(basis, weights, y)
    variance = float(weights @ residual[:, 0] ** 2)
    if variance <= (1e-13 * np.abs(y).max()) ** 2:
        raise ValueError("y is constant once the trend and the regressors are taken out, so that it has no spectrum.")
    for name, value in (("step", step), ("max_frequency", max_frequency)):
        if value is not None and not is_positive_number(value):
            raise ValueError(f"{name} must be a positive finite number, got {value!r}.")
    relative_step = 0.2 if step is None else step * (high - low)
    highest = _highest_turns(z) if max_frequency is None else max_frequency * (high - low)
    count = int(highest / relative_step * (1 + 1e-9))
    if not count:
        raise ValueError(f"max_frequency {max_frequency!r} is below the first frequency, the step {step!r}.")
    gain, square = _LineGrid(z, weights, basis, relative_step, count, n_jobs).gains(residual)
    return Periodogram(
        np.arange(1, count + 1) * (relative_step / (high - low)),
        np.clip(gain / variance, 0.0, 1.0),
        np.sqrt(square),
        variance,
    )


def _checked_rows(
    X: Any, y: Any, noise_std: Any, sample_weight: Any, regressors: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """X (n, d), y (n, t), weights (n,) that sum to 1, regressors (n, p) and the number of repetitions in all.

    In float64, without the rows of weight zero.
    """
    X = np.asarray(as_points(X, "X", rows=True), dtype=np.float64)
    n = len(X)
    columns = {"y": y, "regressors": np.empty((n, 0)) if regressors is None else regressors}
    for name, value in columns.items():
        array = np.asarray(value, dtype=np.float64)
        if array.ndim not in (1, 2) or len(array) != n:
            raise ValueError(f"{name} must have one row per row of X, {n}, got shape {array.shape}.")
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0, 0])
            raise ValueError(f"{name} has NaN or infinite values, the first in row {row}. Leave such rows out.")
        columns[name] = array[:, None] if array.ndim == 1 else array
    weights = check_sample_weight(sample_weight, n)
    weights = np.ones(n) if weights is None else weights
    count = float(weights.sum())
    if noise_std is not None:
        noise = np.asarray(noise_std, dtype=np.float64)
        if noise.shape not in ((), (n,)) or not (np.isfinite(noise).all() and (noise > 0).all()):
            raise ValueError(
                f"noise_std must be positive and finite, one number or one per row of X, {n}; got shape {noise.shape}"
                + (f" with smallest value {noise.min()}." if noise.size else ".")
            )
        weights = weights * (noise.min(initial=np.inf) / noise) ** 2
    used = weights > 0
    if not used.any():
        raise ValueError("There are no rows, so there is no spectrum to read.")
    weights = weights[used]
    return X[used], columns["y"][used], weights / math.fsum(weights), columns["regressors"][used], count


def _orthonormal(columns: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """A basis of the span of the columns, orthonormal under the weights; columns that add nothing leave no trace."""
    root = np.sqrt(weights)
    A = root[:, None] * np.column_stack(columns)
    size = np.linalg.norm(A, axis=0)
    A = A[:, size > 0] / size[size > 0]
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return U[:, s > 1e-10 * s.max(initial=0.0)] / root[:, None]


def _without(basis: np.ndarray, weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """What least squares on the basis leaves of the values; twice, for the last digits."""
    for _ in range(2):
        values = values - basis @ (basis.T @ (weights[:, None] * values))
    return values


def _highest_turns(z: np.ndarray) -> float:
    """Half of one over the typical gap between distinct z, which are between -1/2 and 1/2."""
    points = np.unique(z)
    gaps = np.diff(points)
    gaps = gaps[gaps > 1e-3 / len(gaps)]
    return min(0.5 / float(np.median(gaps)), 5.0 * len(gaps))


class _LineGrid:
    """Least squares of values on one wave at each frequency of a grid, beside columns that are fitted anyway.

    The frequencies are ``step * (first, ..., first + count - 1)`` cycles per unit of z, the weights sum to 1, and the
    basis is orthonormal under them.
    """

    def __init__(
        self, z: np.ndarray, weights: np.ndarray, basis: np.ndarray, step: float, count: int, n_jobs: int | None = None
    ) -> None:
        _check_memory(count, basis.shape[1], 1)
        self.z, self.weights, self.step, self.count, self.n_jobs = z, weights, step, count, n_jobs
        self.frequencies = step * np.arange(1, count + 1)
        double = self._at(weights[:, None], 2)[0]
        shared = self._at(weights[:, None] * basis)
        self.axes, self.sizes = _principal_axes(
            (1 + double.real) / 2 - (shared.real**2).sum(axis=0),
            (1 - double.real) / 2 - (shared.imag**2).sum(axis=0),
            -double.imag / 2 + (shared.real * shared.imag).sum(axis=0),
        )
        self.smallest = np.full(count, _FLOOR)
        self.direct = np.flatnonzero(self.sizes[1] < _DELICATE)[: _MOST_DIRECT // len(z)]
        self.left = [_without(basis, weights, _waves(z, self.frequencies[k])) for k in self.direct]
        for k, left in zip(self.direct, self.left, strict=True):
            (cc, cs), (_, ss) = (weights[:, None] * left).T @ left
            self.axes[..., k], self.sizes[:, k] = _principal_axes(cc, ss, cs)
            self.smallest[k] = _DIRECT_FLOOR

    def _at(self, values: np.ndarray, multiple: int = 1) -> np.ndarray:
        return _sums(self.z[:, None], values, [multiple * self.step], (1,), (self.count,), n_jobs=self.n_jobs)

    def gains(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighted squares of `residual`, beside the basis, that each wave explains; and its mean squared amplitude."""
        sums = self._at(self.weights[:, None] * residual)
        inner = np.array([sums.real, -sums.imag])  # (cos or sin, output, frequency)
        for k, left in zip(self.direct, self.left, strict=True):
            inner[..., k] = left.T @ (self.weights[:, None] * residual)
        along = np.einsum("asf,stf->atf", self.axes, inner)
        size = np.where(self.sizes > self.smallest, self.sizes, np.inf)[:, None]
        return (along**2 / size).sum(axis=(0, 1)), ((along / size) ** 2).sum(axis=0).mean(axis=0)


def _principal_axes(cc: Any, ss: Any, cs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Axes of the matrix [[cc, cs], [cs, ss]], as rows, and its values along them, the larger one first."""
    mean, half, angle = (cc + ss) / 2, np.hypot((cc - ss) / 2, cs), np.arctan2(2 * cs, cc - ss) / 2
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, sin], [-sin, cos]]), np.array([mean + half, mean - half])


def _waves(z: np.ndarray, frequency: float) -> np.ndarray:
    """Cosine and sine as columns."""
    phase = 2 * math.pi * frequency * z
    return np.column_stack([np.cos(phase), np.sin(phase)])
