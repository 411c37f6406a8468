"""The generalised Lomb-Scargle periodogram, and least squares of one wave at each frequency of a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from spectralkit._validation import as_points, check_sample_weight, is_integer, is_positive_number
from spectralkit.nufft._transforms import _check_memory, _sums

_FLOOR = 1e-9  # a wave with less than this left beside the columns that are fitted anyway is one of them
_DELICATE = 1e-4  # below this what is left of a wave is computed directly,
_DIRECT_FLOOR = 1e-18  # and may be smaller,
_MOST_DIRECT = 1 << 21  # for so many waves times rows


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
