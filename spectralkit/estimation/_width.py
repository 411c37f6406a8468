"""How broad a component is: the power around its frequency, beyond what the finite record spreads by itself."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import fft

from spectralkit.estimation._rows import Rows
from spectralkit.nufft import _sums

NARROWEST = 0.2 / (2 * math.pi)  # turns over the record: phase is kept five records long
BROAD = 0.5  # turns from which a component is more than one wave
_LAGS = 512
_STEP = 0.25  # turns between the frequencies that are compared
_RATIO = 1.35  # of the widths that are tried
_OUTLIER = 4.0  # power above so many times its expectation counts by its logarithm only
_ROUNDS = 40
_PRIOR = 2.0  # standard deviation of the logarithm of the width


class Window:
    """What the positions of the rows along one column do to a spectrum."""

    def __init__(self, z: np.ndarray, weights: np.ndarray) -> None:
        place = (z + 0.5) * (_LAGS - 1)
        cell = np.minimum(place.astype(int), _LAGS - 2)
        density = np.bincount(cell, weights * (1 - (place - cell)), _LAGS)
        density += np.bincount(cell + 1, weights * (place - cell), _LAGS)
        size = fft.next_fast_len(2 * _LAGS, real=True)
        pairs = fft.irfft(abs(fft.rfft(density, size)) ** 2, size)[:_LAGS]  # weight of each lag among pairs of rows
        self.lags = np.arange(_LAGS) / (_LAGS - 1)
        self.pairs = np.concatenate([pairs[:1], 2 * pairs[1:]])

    def shapes(self, offsets: np.ndarray, sigmas: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        """Expected power, (trials, offsets), of components of mass 1 with these widths and centres.

        It is 1 at the centre as the width goes to zero.
        """
        memory = self.pairs * np.exp(-2 * (math.pi * np.multiply.outer(sigmas, self.lags)) ** 2)
        turned = 2 * math.pi * np.multiply.outer(shifts, self.lags)
        phase = 2 * math.pi * np.multiply.outer(self.lags, offsets)
        return (memory * np.cos(turned)) @ np.cos(phase) + (memory * np.sin(turned)) @ np.sin(phase)


class Profile(NamedTuple):
    """A component along one column: its width, the shift of its centre, and the height of its line shape there."""

    sigma: float
    shift: float
    height: float


def profile(
    rows: Rows, window: Window, values: np.ndarray, nu: np.ndarray, j: int, highest: float, floor: float
) -> Profile:
    """Fit the expected line shape to the power of `values` along column j through the frequency `nu`.

    The likelihood is Whittle's, with power exponentially distributed about noise, of mean `floor`, plus line. More than
    a turn away, power far above expectation counts by its logarithm only, so that another line nearby is no sign of
    width. The logarithm of the width has a normal prior about the narrowest one.
    """
    offsets = _offsets(rows, nu, j, highest)
    if np.ptp(offsets) < 2.0:
        return Profile(NARROWEST, 0.0, 1.0)
    power = _cut(rows, values, nu, j, offsets)
    sigmas = NARROWEST * _RATIO ** np.arange(1 + max(0, int(math.log(np.ptp(offsets) / 6 / NARROWEST, _RATIO))))
    trials = [(k, shift) for k, s in enumerate(sigmas) for shift in (_SHIFTS * s if s >= 2 * BROAD else [0.0])]
    width_of, shifts = np.array([k for k, _ in trials]), np.array([shift for _, shift in trials])
    shapes = window.shapes(offsets, sigmas[width_of], shifts)
    score = _whittle(shapes, power, floor, abs(offsets) > 1.0) * (offsets[1] - offsets[0])
    prior = -0.5 * (np.log(sigmas / NARROWEST) / _PRIOR) ** 2
    by_width = np.array([score[width_of == k].max() for k in range(len(sigmas))]) + prior
    k = int(np.argmax(by_width))
    best = int(np.argmax(np.where(width_of == k, score, -np.inf)))
    sigma = float(sigmas[k] * _RATIO ** _vertex(by_width, k))
    height = window.shapes(np.zeros(1), np.array([sigma]), np.zeros(1))
    return Profile(sigma, float(shifts[best]), float(height[0, 0]))


_SHIFTS = np.arange(-1.5, 1.75, 0.5)


def _offsets(rows: Rows, nu: np.ndarray, j: int, highest: float) -> np.ndarray:
    """Turns along column j, less than the mirror images at minus nu and at the Nyquist frequency would disturb."""
    half = min(max(6.0, 0.4 * abs(nu[j])), 32.0)
    step = max(_STEP, half / 64)
    others = np.delete(abs(nu), j)
    toward_zero = half if others.size and others.max() > half else max(abs(nu[j]) - max(rows.lowest / 2, 0.5), 0.0)
    outward = max(highest - abs(nu[j]), 0.0)
    low, high = min(half, toward_zero), min(half, outward)
    offsets = step * np.arange(-int(low / step), int(high / step) + 1)
    return offsets if nu[j] >= 0 else -offsets[::-1]


def _cut(rows: Rows, values: np.ndarray, nu: np.ndarray, j: int, offsets: np.ndarray) -> np.ndarray:
    step = float(offsets[1] - offsets[0])
    turned = (rows.weights * np.exp(-2j * math.pi * (rows.z @ nu)))[:, None] * values
    first = round(float(offsets[0]) / step)
    sums = _sums(rows.z[:, [j]], turned, np.array([step]), (first,), (len(offsets),))
    return 2 * (abs(sums) ** 2).mean(axis=0)


def _whittle(shapes: np.ndarray, power: np.ndarray, floor: float, away: np.ndarray) -> np.ndarray:
    """Log-likelihood of every shape, its mass fitted by multiplicative updates."""
    floor = max(floor, 1e-12 * power.max())
    shapes = np.maximum(shapes, 0.0)
    most = np.where(away, _OUTLIER, np.inf)
    mass = np.full((len(shapes), 1), power.max())
    for _ in range(_ROUNDS):
        expected = mass * shapes + floor
        relative = shapes / expected
        mass *= np.sqrt(
            (relative * np.minimum(power / expected, most)).sum(1, keepdims=True) / relative.sum(1, keepdims=True)
        )
    expected = mass * shapes + floor
    ratio = power / expected
    penalty = np.minimum(ratio, most) + np.log(np.maximum(ratio / most, 1.0))
    return -(np.log(expected) + penalty).sum(axis=1)


def _vertex(values: np.ndarray, k: int) -> float:
    """Place of the top of the parabola through three neighbours, from the middle one; 0 at either end."""
    if not 0 < k < len(values) - 1:
        return 0.0
    left, middle, right = values[k - 1 : k + 2]
    bend = left - 2 * middle + right
    return 0.0 if bend >= 0 else float(np.clip((left - right) / (2 * bend), -0.5, 0.5))
