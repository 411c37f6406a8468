"""The rational quadratic family: a Gaussian of random width."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from scipy import interpolate, optimize, special
from scipy.optimize import elementwise

from spectralkit._xp import as_float64, cast_like, namespace
from spectralkit.spectra._bessel import log_gamma, log_power_kv, offsets_from_peak
from spectralkit.spectra._choose import inside_unit_interval
from spectralkit.spectra._dual import Dual, carries_derivative, value_of
from spectralkit.spectra._parameters import positive
from spectralkit.spectra.radial import Gaussian, Radial


class RationalQuadratic(Radial):
    r"""Rational quadratic measure: a Gaussian whose squared scale is Gamma distributed.

    .. math:: k(\tau) = \Bigl(1 + \frac{2\pi^2}{\alpha} \sum_j \sigma_j^2\tau_j^2\Bigr)^{-\alpha}, \qquad
              \omega \sim \sqrt{g}\; \mathcal N(0, \operatorname{diag}(\sigma^2)), \quad g \sim \Gamma(\alpha)/\alpha

    For lags along one column this is :math:`(1 + \tau^2 / (2\alpha\ell^2))^{-\alpha}` with the lengthscale
    :math:`\ell = 1/(2\pi\sigma)`: functions that vary on many lengths at once. The kernel decays like a power, the
    spectrum like :math:`\exp(-\sqrt{2\alpha}\,|\omega/\sigma|)`. With growing alpha it approaches the Gaussian of the
    same sigma.

    Parameters
    ----------
    sigma : float or array of shape (d,), optional
        Frequency scale in cycles per unit of x, the standard deviation of the frequencies; one for all columns or one
        each. ``lengthscale = 1 / (2 pi sigma)``. None makes a template that is resolved from data.
    alpha : float, default=1.0
        Shape, positive: small for a wide mixture of lengths. A free parameter.

    Raises
    ------
    ValueError
        If sigma or alpha is not positive and finite, or alpha is not a single number.

    See Also
    --------
    Gaussian : One length only.
    Matern : Heavy tails of the spectrum instead of the kernel: rough functions.

    Notes
    -----
    The density is that of a multivariate variance-gamma distribution, a Bessel function K of order alpha - d/2. At
    frequency zero it is infinite for alpha <= d/2, integrably so.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, *Gaussian Processes for Machine Learning*, MIT Press, 2006, section 4.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import RationalQuadratic
    >>> k = RationalQuadratic.from_lengthscale(0.5, alpha=2.0)
    >>> bool(np.isclose(k.characteristic(np.array([0.3])), (1 + 0.3**2 / (2 * 2.0 * 0.5**2)) ** -2.0))
    True
    """

    alpha: Any = positive(default=1.0)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if np.ndim(self.alpha):
            raise ValueError(f"RationalQuadratic: alpha must be a single number, got {self.alpha!r}.")

    def _profile(self, s: Any) -> Any:
        xp = namespace(s, self.alpha)
        return xp.exp(xp.log1p(2 * math.pi**2 * s / self.alpha) * (-self.alpha))

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _takes_one_uniform(self, d: int) -> bool:
        return d == 1 and float(self.alpha) >= _SMALLEST_ALPHA_OF_TABLE

    def _uniforms(self, d: int) -> int:
        return 1 if self._takes_one_uniform(d) else d + 1

    def _transport(self, u: np.ndarray, d: int) -> np.ndarray:
        if self._takes_one_uniform(d):
            return super()._transport(u, d)
        return self._widths(u[:, d:]) * Gaussian(self.sigma)._transport(u[:, :d], d)

    def _polar_uniforms(self, d: int) -> int:
        return 1 if self._takes_one_uniform(d) else 2

    def _radii(self, u: np.ndarray, d: int) -> np.ndarray:
        if self._takes_one_uniform(d):
            return _distance_in_one_column(float(self.alpha), u).ravel()
        return self._widths(u[:, 1]) * Gaussian(1.0)._radii(u[:, :1], d)

    def _widths(self, u: np.ndarray) -> np.ndarray:
        return np.sqrt(special.gammaincinv(float(self.alpha), u) / float(self.alpha))

    # -- density and ranges -------------------------------------------------------------------------------------------

    def _log_radial_density(self, v: Any, d: int) -> Any:
        """The Gaussian density averaged over its width: (alpha / 2 pi)^(d/2) 2 / Gamma(alpha) (z/2)^nu K_nu(z).

        Here nu = alpha - d/2 and z = sqrt(2 alpha v). 1e-280 stands for frequency zero, where for nu > 0 this has a
        limit. All in float64, whose range the powers need.
        """
        alpha = self.alpha if carries_derivative(self.alpha) else float(self.alpha)
        precise = v if isinstance(v, Dual) else as_float64(v)
        xp = namespace(precise, alpha)
        nu = alpha - d / 2
        z = xp.sqrt(xp.maximum(precise, 0 * precise + 1e-280) * (2 * alpha))
        log_norm = math.log(2) - log_gamma(alpha) + (namespace(alpha).log(alpha) - math.log(2 * math.pi)) * (d / 2)
        log_p = log_norm - math.log(2) * nu + xp.log(z) * (nu - abs(nu)) + log_power_kv(abs(nu), z)
        if value_of(nu) <= 0:
            log_p = log_p + xp.where(value_of(precise) > 0, 0.0, math.inf)
        return log_p if isinstance(log_p, Dual) else cast_like(log_p, v)

    def _marginal_isf(self, p: float) -> float:
        alpha = float(self.alpha)

        def excess(log_x: float) -> float:
            return float(_log_tail(alpha, np.exp(log_x))) - math.log(2 * p)

        low, high = -300.0, 1.0  # a distance of 1e-130 is none
        if excess(low) <= 0:
            return math.exp(low)
        while excess(high) > 0:
            high += 1
        return math.exp(optimize.brentq(excess, low, high, xtol=1e-13))


def _log_tail(alpha: float, x: Any) -> Any:
    """Log P(|omega| > x) for sigma 1 in one column: the Gaussian tail averaged over its width.

    In the logarithm of the squared width g, the integrand is that of the density, an integral for K_alpha, times a
    factor between 0 and 1 that varies slowly: the same points serve.
    """
    z = math.sqrt(2 * alpha) * x
    offsets, step = offsets_from_peak(alpha, z)
    log_g = np.log(x / math.sqrt(2 * alpha)) + np.arcsinh(alpha / z) + offsets
    log_gamma_density = alpha * (log_g - np.expm1(log_g)) + (alpha * math.log(alpha) - alpha - math.lgamma(alpha))
    log_terms = log_gamma_density + special.log_ndtr(-x * np.exp(-log_g / 2))
    return special.logsumexp(log_terms, axis=0) + np.log(2 * step)


_SMALLEST_ALPHA_OF_TABLE = 0.1  # smaller ones would need too many points in the integral


@functools.lru_cache(maxsize=64)
def _log_distance_spline(alpha: float) -> Any:
    """The spline of log x as a function of log P(|omega| <= x) / P(|omega| > x), for sigma 1 in one column."""
    log_odds = np.linspace(-28, 28, 281)  # the odds of 2**-40

    def excess(log_x: np.ndarray, log_odds: np.ndarray) -> np.ndarray:
        log_tail = np.minimum(_log_tail(alpha, np.exp(log_x)), -1e-18)
        return np.log(-np.expm1(log_tail)) - log_tail - log_odds

    bracket = elementwise.bracket_root(excess, -1.0, 1.0, args=(log_odds,)).bracket
    log_x = elementwise.find_root(excess, bracket, args=(log_odds,)).x
    return interpolate.make_interp_spline(log_odds, log_x, k=7)


def _distance_in_one_column(alpha: float, u: np.ndarray) -> np.ndarray:
    """The quantile function of |omega| for sigma 1 in one column."""
    u = inside_unit_interval(u)
    return np.exp(_log_distance_spline(alpha)(np.log(u) - np.log1p(-u)))
