r"""How far products of positive features are from their kernel: variances in closed form.

Everything is relative to the squared kernel K(x, y)^2. With v = x + y - 2 c and M the moment generating function of the
measure divided by its mass, m features of equal weight have

    Var / K^2 = (m V_1 + sum over ordered pairs of columns of (C - 1)) / m^2,
    V_1 = M(2 v) / M(v)^2 - 1 for one column, C = E[product of two columns] / K^2.

For a Gaussian measure all of it is a function of z = 2 log M(v), the squared length of v in units in which the
frequencies are standard normal. Columns of different blocks are independent, C = 1; omega and -omega have
C = 1 / M(v)^2 = e^-z; and two of a block of coupled directions have, with their lengths a and b independent and chi
distributed with d degrees of freedom,

    C = e^-z E[0F1(; d/2; s^2 z / 4)],  s^2 = a^2 + b^2 + 2 a b cos(angle between them).

Since a^2 + b^2 = R^2 is independent of a b / R^2 = sin(phi) / 2, with phi of density proportional to sin^(d-1) on
(0, pi), the mean over R leaves E[1F1(d; d/2; q z / 2)], q = 1 + cos(angle) sin(phi). Its power series in z, times
e^-z, is a mean over a Poisson distribution,

    C = E[rho_N],  N ~ Poisson(z),  rho_k = (d)_k / ((d/2)_k 2^k) E[q^k],

whose terms neither cancel nor overflow.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from spectralkit.spectra import SpectralMeasure

PAIRS = 512  # of rows, for a typical error
MOST_COLUMNS = 10**9  # beyond, `columns_for` gives up

# Beyond this z, C is that of the largest: where it is not 0 yet, in thousands of columns, V_1 exceeds 1e100.
_LARGEST_Z = 700.0
_LARGEST_LOG = 1e300  # differences of larger ones are not a number
_ANGLES = 96  # Gauss-Legendre points over half the range of phi


def optimal_tilt(p: float) -> float:
    r"""The A that minimises the variance `tilted` at z = p d, without the cancellation of its textbook form.

    .. math:: A = \frac{1 - 2p - \sqrt{(2p + 1)^2 + 8p}}{16}
                = \frac{-p}{1 + (12p + 1)/(\sqrt{4p^2 + 12p + 1} + 2p)}
    """
    root = math.sqrt(4 * p**2 + 12 * p + 1)
    return -p / (1 + (12 * p + 1) / (root + 2 * p))


def tilted(z: Any, d: int, tilt: float) -> Any:
    r"""Log of 1 + V_1 of a Gaussian measure drawn with standard deviations :math:`\sqrt{1 - 4A}` times its own.

    .. math:: \log\frac{(1 - 4A)^d}{(1 - 8A)^{d/2}} + \frac{z}{1 - 8A}
    """
    return d / 2 * math.log1p(16 * tilt**2 / (1 - 8 * tilt)) + z / (1 - 8 * tilt)


def moments(spectrum: SpectralMeasure, v: np.ndarray, tilt: float) -> tuple[np.ndarray, np.ndarray]:
    """What `RelativeVariance` takes at v = x + y - 2 c, shape (..., d): z and log(1 + V_1)."""
    log_mass, d = math.log(float(spectrum.mass)), v.shape[-1]
    z = 2 * (spectrum.log_mgf(v) - log_mass)
    if "gaussian" in spectrum.capabilities(d):
        return z, tilted(z, d, tilt)
    return z, spectrum.log_mgf(2 * v) - log_mass - z


@dataclass(frozen=True)
class RelativeVariance:
    """Var / K^2 of the estimate, from ``z`` and ``log_second = log(1 + V_1)``, for any number of columns.

    Attributes
    ----------
    d : int
        Number of columns of X.
    coupling : {"iid", "orthogonal", "simplex"}
        Directions within a block of d draws; other than "iid" for Gaussian measures only.
    paired : bool
        Whether every draw omega is followed by -omega.
    """

    d: int
    coupling: str
    paired: bool

    @classmethod
    def of(cls, spectrum: SpectralMeasure, d: int, coupling: str, paired: bool) -> Self:
        """The closed form of a measure; unless it is Gaussian, that of independent draws whatever the coupling."""
        return cls(d, coupling if "gaussian" in spectrum.capabilities(d) else "iid", paired)

    def __call__(self, z: Any, log_second: Any, m: int) -> Any:
        """Of m columns, the last block and the last pair incomplete if need be."""
        return self.by_width(z, log_second)(m)

    def by_width(self, z: Any, log_second: Any) -> Callable[[int], Any]:
        """The same as a function of m: what depends on the points alone is computed once."""
        z, log_second = (np.minimum(log, _LARGEST_LOG) for log in (z, log_second))
        coupled = 0.0 if self.coupling == "iid" or self.d == 1 else self._coupled(z)
        with np.errstate(over="ignore"):
            single = np.expm1(log_second)
            # e^a + e^-z - 2 with a = log_second, free of cancellation where a is z
            pair = np.exp(np.minimum(z, _LARGEST_Z)) * np.expm1(log_second - z) - np.expm1(z) * np.expm1(-z)

        def total(m: int) -> Any:
            in_pairs = m - m % 2 if self.paired else 0
            shares = ((m - in_pairs) / m, single), (in_pairs / m, pair)
            own: Any = sum(share * variance for share, variance in shares if share)  # 0 times infinity is neither
            return np.maximum(own / m - self._count(m) / m**2 * coupled, 0.0)

        return total

    def _count(self, m: int) -> int:
        """Ordered pairs of columns that belong to one block but not to one draw."""
        each = 2 if self.paired else 1
        blocks, rest = divmod(m, each * self.d)
        last, odd = divmod(rest, each)
        return blocks * each**2 * self.d * (self.d - 1) + rest**2 - each**2 * last - odd**2

    def _coupled(self, z: np.ndarray) -> np.ndarray:
        """1 - C; for paired draws the mean over an angle and its negative, which is what four columns meet."""
        z = np.minimum(z, _LARGEST_Z)
        top = float(z.max(initial=0.0))
        deficits = self._deficits(int(top + 12 * math.sqrt(top) + 40))
        probability = np.exp(-z)
        total = np.zeros_like(z)
        for k, deficit in enumerate(deficits, start=1):
            probability = probability * (z / k)
            total += probability * deficit
        return total

    def _deficits(self, count: int) -> np.ndarray:
        """1 - rho_k for k = 1, ..., count."""
        k = np.arange(1, count + 1)[:, None]
        j = k - 1.0
        log_ratio = np.cumsum(np.log1p(-j / (self.d + 2 * j)), axis=0)  # (d + j) / (2 (d/2 + j)), multiplied up
        if self.coupling == "orthogonal":
            return -np.expm1(log_ratio[:, 0])
        low = max(0.0, math.pi / 2 - 12 / math.sqrt(self.d))  # the density is below e^-72 of its peak there
        nodes, weights = _gauss_legendre()
        sine = np.sin(math.pi / 2 - (math.pi / 2 - low) * (1 + nodes) / 2)
        weights = weights * sine ** (self.d - 1)
        signs = (-1, 1) if self.paired else (-1,)
        with np.errstate(divide="ignore"):  # for d = 2, opposite directions of equal length cancel: q = 0
            log_q = [np.log1p(sign * sine / (self.d - 1)) for sign in signs]
        excess = np.mean([np.expm1(log_ratio + k * log) for log in log_q], axis=0)
        if self.paired:
            excess[0] = 0.0  # an angle and its negative cancel at k = 1; rounding would tell at small z
        return -excess @ weights / weights.sum()


@functools.cache
def _gauss_legendre() -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(_ANGLES)


def mean_z(spectrum: SpectralMeasure, near: np.ndarray, sample_weight: np.ndarray | None) -> float:
    """Mean of z over all pairs of rows ``x - c`` of mean zero: twice the mean of z at single ones. Gaussian only."""
    return 2 * float(np.average(moments(spectrum, near, 0.0)[0], weights=sample_weight))


def typical_error(
    variance: RelativeVariance,
    spectrum: SpectralMeasure,
    near: np.ndarray,
    sample_weight: np.ndarray | None,
    tilt: float,
) -> Callable[[int], float]:
    """The root of the median relative variance over pairs of rows, as a function of the number of columns.

    Rows are taken at evenly spaced places, where one of weight w is w places long. The partners are the same places in
    the order of a lattice rule, so that sorted rows meet near and far ones alike.
    """
    reached = np.cumsum(np.ones(len(near)) if sample_weight is None else sample_weight)
    places = (np.arange(PAIRS) + 0.5) / PAIRS * reached[-1]
    rows = np.minimum(np.searchsorted(reached, places, side="right"), len(near) - 1)
    partners = rows[np.arange(PAIRS) * 317 % PAIRS]
    by_width = variance.by_width(*moments(spectrum, near[rows] + near[partners], tilt))
    return lambda m: math.sqrt(float(np.median(by_width(m))))


def columns_for(error: float, typical: Callable[[int], float]) -> int:
    """The number of columns at which ``typical(m)``, the relative error of m, has come down to `error`.

    By doubling and bisection; more than `MOST_COLUMNS` where that many would not do.
    """
    high = 1
    while typical(high) > error:
        high *= 2
        if high > MOST_COLUMNS:
            return high
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if typical(middle) <= error else (middle, high)
    return high
