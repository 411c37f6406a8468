"""The band-limited family: all frequencies up to an edge, equally."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import optimize, special

from spectralkit import _loops
from spectralkit._xp import convert, is_torch, namespace
from spectralkit.spectra._capable import CapabilityError
from spectralkit.spectra._dual import chain
from spectralkit.spectra.radial import Radial

MOST_COLUMNS = 150
_FARTHEST = 1e30  # for scaled squared distances: in up to three columns the kernel is below 1e-15 there


class BandLimited(Radial):
    r"""Band-limited measure: frequencies uniform in the ball :math:`|\omega/\sigma| \le 1`, none outside.

    .. math:: k(\tau) = \Gamma(d/2 + 1)\, \frac{J_{d/2}(u)}{(u/2)^{d/2}}, \qquad
              u = 2\pi\,\Bigl(\sum_j \sigma_j^2\tau_j^2\Bigr)^{1/2}

    In one column :math:`k = \sin(u)/u`, the sinc kernel; in two :math:`2 J_1(u)/u`. In one column, functions with this
    kernel are known everywhere from their values at spacing ``1 / (2 sigma)`` (Shannon). The kernel oscillates and
    decays like :math:`u^{-(d+1)/2}`; beside the distance it depends on the number of columns.

    Parameters
    ----------
    sigma : float or array of shape (d,), optional
        The edge of the band in cycles per unit of x, one for all columns or one each. It is the largest frequency, not
        the standard deviation as in the other families, which is ``sigma / sqrt(d + 2)`` here.
        ``lengthscale = 1 / (2 pi sigma)`` in the form sin(tau / lengthscale) / (tau / lengthscale). None makes a
        template that is resolved from data.

    Raises
    ------
    ValueError
        If sigma is not positive and finite.

    Notes
    -----
    Under torch in one and three columns, where the Bessel function is elementary. The kernel itself in up to 150
    columns, where the powers in it do not underflow; draws in any number.

    References
    ----------
    C. E. Shannon, "Communication in the presence of noise", *Proceedings of the IRE* 37, 1949.
    G. N. Watson, *A Treatise on the Theory of Bessel Functions*, Cambridge University Press, 1944, sections 3.3, 13.74.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import BandLimited
    >>> k = BandLimited(0.5)
    >>> k.characteristic(np.array([[0.0], [0.5], [1.0], [1.5]])).round(6)
    array([ 1.      ,  0.63662 ,  0.      , -0.212207])
    >>> k.cutoff(1e-9, 1)
    array([0.5])
    """

    def _has(self, capability: str, d: int) -> bool:
        if capability == "radial":  # its marginals are not uniform
            return False
        if (capability == "torch" and d not in _ELEMENTARY) or (capability == "mgf" and d > MOST_COLUMNS):
            return False
        return super()._has(capability, d)

    def _profile_in(self, s: Any, d: int) -> Any:
        """0F1(; d/2 + 1; -pi^2 s), whose derivative to s is that of d + 2 columns times -pi^2 / (d/2 + 1)."""
        if is_torch(s):
            return _elementary(s, d)
        if d > MOST_COLUMNS:
            raise ValueError(
                f"{self!r} computes its kernel in up to {MOST_COLUMNS} columns, but the points have {d}. Use "
                "Gaussian(sigma / sqrt(d + 2)), which it approaches, or random features."
            )

        def value(s: Any) -> Any:
            return _profile(s, d)

        def slope(_: Any, s: Any) -> Any:
            return _profile(s, d + 2) * (-(math.pi**2) / (d / 2 + 1))

        return chain(value, (slope,), s)

    def _radius(self, u: np.ndarray, d: int) -> np.ndarray:
        return u ** (1 / d)

    def _log_radial_density(self, v: Any, d: int) -> Any:
        """One over the volume of the unit ball."""
        v = getattr(v, "value", v)  # constant inside and outside
        xp = namespace(v)
        log_height = math.lgamma(d / 2 + 1) - d / 2 * math.log(math.pi)
        return xp.where(v <= 1, xp.full_like(v, log_height), xp.full_like(v, -math.inf))

    def _marginal_isf(self, p: float) -> float:
        return 1.0  # nothing lies beyond the edge, whatever the tolerance

    def _support(self, tol: float, d: int) -> np.ndarray:
        """Where a decreasing bound falls to tol: the modulus of the Hankel function instead of J (Watson 13.74)."""
        nu = d / 2

        def excess(log_u: float) -> float:
            u = math.exp(log_u)
            far = math.sqrt(2 / (math.pi * u)) * (1 + (nu / u) ** 2)  # SciPy gives up at 1e9
            modulus = abs(special.hankel1e(nu, u)) if u < 1e6 else far
            return math.lgamma(nu + 1) - nu * (log_u - math.log(2)) + math.log(modulus) - math.log(tol)

        low = high = math.log(nu + 1)
        while excess(low) < 0:
            low -= 0.5
        while excess(high) > 0:
            high += 1
        return math.exp(optimize.brentq(excess, low, high)) / (2 * math.pi * np.asarray(self.sigma, dtype=float))

    def _log_mgf(self, x: Any) -> Any:
        """The kernel at an imaginary lag: I_(d/2) instead of J_(d/2), without the factor exp(w) that overflows."""
        if is_torch(x):
            raise CapabilityError(f"{self!r} has no mgf for tensors. Use NumPy arrays instead.")
        nu = x.shape[-1] / 2
        w = 2 * math.pi * np.sqrt(((x * convert(self.sigma, x)) ** 2).sum(-1))
        far = np.maximum(w, 1.0)
        log_far = far + np.log(special.ive(nu, far)) + math.lgamma(nu + 1) - nu * np.log(far / 2)
        return np.where(w > 1, log_far, np.log(special.hyp0f1(nu + 1, np.minimum(w, 1.0) ** 2 / 4)))


# what the kernel is in d columns where the Bessel function is elementary: (u, xp) to the value
_ELEMENTARY = {
    1: lambda u, xp: xp.sin(u) / u,
    3: lambda u, xp: 3 * (xp.sin(u) / u - xp.cos(u)) / u**2,
}


def _elementary(s: Any, d: int) -> Any:
    """The profile of `_ELEMENTARY`, and its power series for u < 1, where that would cancel; smooth under autograd."""
    xp = namespace(s)
    small = 4 * math.pi**2 * s < 1
    u = 2 * math.pi * xp.where(small, xp.ones_like(s), s).sqrt()
    return xp.where(small, _series(xp.where(small, s, xp.zeros_like(s)), d), _ELEMENTARY[d](u, xp))


def _series(s: Any, d: int) -> Any:
    """The terms of 0F1(; d/2 + 1; -pi^2 s) that count where u < 1."""
    x = -(math.pi**2) * s
    series: Any = 1.0
    for k in range(9, 0, -1):
        series = 1 + series * x / (k * (k + d / 2))
    return series


def _profile(s: Any, d: int) -> Any:
    """0F1(; d/2 + 1; -pi^2 s) for NumPy arrays, which takes up to ten times as long by its own name."""
    if d > 3:
        return special.hyp0f1(d / 2 + 1, -(math.pi**2) * s)
    s = np.asarray(s)
    if _loops.fits_a_block(s.size):
        out = np.empty(s.shape, dtype=s.dtype)
        _loops.band_limited(s, d, out)
        return out
    u = 2 * math.pi * np.sqrt(np.minimum(s, _FARTHEST))
    with np.errstate(invalid="ignore"):
        k = np.asarray(2 * special.j1(u) / u if d == 2 else _ELEMENTARY[d](u, np))
    small = u < 1 if d == 3 else u == 0
    k[small] = _series(s[small], d)
    return k
