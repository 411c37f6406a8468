"""The Matern family, of any order."""

from __future__ import annotations

import functools
import math
import numbers
import sys
from typing import Any

import numpy as np
from scipy import special

from spectralkit._xp import is_torch, namespace, safe_sqrt
from spectralkit.spectra._bessel import log_power_kv
from spectralkit.spectra._dual import chain
from spectralkit.spectra._parameters import fixed
from spectralkit.spectra.radial import Radial

_LARGEST_DEGREE = 20
_FAR = 1000.0  # exp(-1000) is zero, and no polynomial of that degree overflows there, in float32 neither


class Matern(Radial):
    r"""Matérn measure: a multivariate Student t with 2 nu degrees of freedom.

    .. math:: k(\tau) = \frac{2^{1-\nu}}{\Gamma(\nu)}\, r^\nu K_\nu(r), \qquad
              r = \sqrt{2\nu}\; 2\pi\,\Bigl(\sum_j \sigma_j^2\tau_j^2\Bigr)^{1/2}, \qquad \omega \sim \sigma\, t_{2\nu}

    For nu = p + 1/2 the kernel is :math:`e^{-r}` times a polynomial of degree p in r. It is p times differentiable in
    the mean square for every nu in (p, p + 1]. nu = 1/2 is the isotropic exponential kernel; with growing nu it
    approaches the Gaussian of the same sigma.

    Parameters
    ----------
    sigma : float or array of shape (d,), optional
        Frequency scale in cycles per unit of x; one for all columns or one each. ``lengthscale = 1 / (2 pi sigma)`` in
        the textbook form ``r = sqrt(2 nu) |tau| / lengthscale``. None makes a template that is resolved from data.
    nu : float, default=1.5
        Order, positive. 0.5, 1.5, ..., 20.5 have closed forms, which are fastest; other orders take a Bessel function
        for each pair and are not available under torch. It is not learnt.

    Raises
    ------
    ValueError
        If sigma or nu is not positive and finite.

    Notes
    -----
    Under torch, derivatives to the points are right at lag zero too, as far as they exist: two of them for nu > 1,
    which processes with derivative observations need, four for nu > 2, and so on. The next one is taken as 0 there.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, *Gaussian Processes for Machine Learning*, MIT Press, 2006, section 4.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Matern
    >>> k = Matern.from_lengthscale(2.0, nu=0.5)
    >>> bool(np.isclose(k.characteristic(np.array([3.0])), np.exp(-3.0 / 2.0)))
    True
    >>> Matern(0.1, nu=2.0).characteristic([[0.0], [1.0]])
    array([1.        , 0.73307201])
    >>> Matern(nu=2.5).is_template()
    True
    """

    nu: float = fixed(default=1.5)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        nu = self.nu
        if not (isinstance(nu, numbers.Real) and not isinstance(nu, bool) and 0 < nu < math.inf):
            raise ValueError(
                "Matern: nu must be a positive finite number, best a positive half-integer (0.5, 1.5, 2.5, ...), got "
                f"{nu!r}."
            )

    @property
    def _degree(self) -> int | None:
        """Degree of the polynomial in the kernel; None where there is none to be used."""
        degree = float(self.nu) - 0.5
        return int(degree) if degree.is_integer() and degree <= _LARGEST_DEGREE else None

    def _has(self, capability: str, d: int) -> bool:
        return super()._has(capability, d) and (capability != "torch" or self._degree is not None)

    def _profile(self, s: Any) -> Any:
        scale = 2 * math.pi * math.sqrt(2 * self.nu)
        if self._degree is None:
            return _bessel_profile(float(self.nu), scale, s)
        if is_torch(s):
            return _torch_profile()(s, self._degree, scale)
        return _polynomial_profile(self._degree, safe_sqrt(s) * scale)

    def _radius(self, u: np.ndarray, d: int) -> np.ndarray:
        """|t|^2 / d is F distributed with (d, 2 nu) degrees of freedom."""
        return np.sqrt(d * special.fdtri(d, 2 * self.nu, u))

    def _log_radial_density(self, v: Any, d: int) -> Any:
        nu = float(self.nu)
        norm = math.lgamma(nu + d / 2) - math.lgamma(nu) - d / 2 * math.log(2 * nu * math.pi)
        return norm - (nu + d / 2) * namespace(v).log1p(v / (2 * nu))

    def _marginal_isf(self, p: float) -> float:
        return float(-special.stdtrit(2 * self.nu, p))


def _polynomial_profile(degree: int, r: Any) -> Any:
    """The kernel of order degree + 1/2 at the distance r."""
    if degree > 2:
        r = namespace(r).minimum(r, 0 * r + _FAR)
    highest, *lower = _matern_polynomial(degree)
    polynomial: Any = highest
    for coefficient in lower:
        polynomial = polynomial * r + coefficient
    return polynomial * namespace(r).exp(-r)


@functools.cache
def _torch_profile() -> Any:
    """The kernel of order degree + 1/2 at r = scale * sqrt(s), with its derivatives to s in closed form.

    The slope is the kernel of the next lower order at the same r, times -scale^2 / (4 degree - 2): finite at s = 0,
    where autograd would meet zero times infinity in the slope of the root. Only degree 0 has a true kink there.
    """
    torch = sys.modules["torch"]

    class Profile(torch.autograd.Function):  # type: ignore[name-defined]
        generate_vmap_rule = True

        @staticmethod
        def forward(s: Any, degree: int, scale: float) -> Any:
            return _polynomial_profile(degree, safe_sqrt(s) * scale)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            s, ctx.degree, ctx.scale = inputs
            ctx.save_for_backward(s)
            ctx.save_for_forward(s)

        @staticmethod
        def slope(ctx: Any) -> Any:
            (s,) = ctx.saved_tensors
            return profile(s, ctx.degree - 1, ctx.scale) * (-(ctx.scale**2) / (4 * ctx.degree - 2))

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * Profile.slope(ctx), None, None

        @staticmethod
        def jvp(ctx: Any, tangent: Any, *_: None) -> Any:
            return tangent * Profile.slope(ctx)

    def profile(s: Any, degree: int, scale: float) -> Any:
        return Profile.apply(s, degree, scale) if degree else _polynomial_profile(0, safe_sqrt(s) * scale)

    return profile


def _matern_polynomial(p: int) -> list[float]:
    """Coefficients, highest power first, of exp(r) times the Matern kernel of order p + 1/2 (Rasmussen, eq. 4.16)."""
    return [
        math.factorial(p) * math.factorial(p + i) * 2.0 ** (p - i)
        / (math.factorial(2 * p) * math.factorial(i) * math.factorial(p - i))
        for i in range(p + 1)
    ]  # fmt: skip


def _bessel_profile(nu: float, scale: float, s: Any) -> Any:
    """The kernel of any order at r = scale * sqrt(s), with its slope by d/dr [r^nu K_nu(r)] = -r^nu K_(nu-1)(r)."""
    log_norm = (1 - nu) * math.log(2) - math.lgamma(nu)

    def distance(s: Any) -> np.ndarray:
        return scale * np.sqrt(np.where(s > 0, s, 1.0), dtype=np.float64)

    def value(s: Any) -> np.ndarray:
        k = np.exp(log_norm + log_power_kv(nu, distance(s)))
        return np.where(s > 0, np.minimum(k, 1.0), 1.0)

    def slope(_: Any, s: Any) -> np.ndarray:
        r, order = distance(s), abs(nu - 1)
        log_slope = log_norm + np.log(r) * (nu - 1 - order) + log_power_kv(order, r)
        return np.where(s > 0, -np.exp(log_slope) * scale**2 / 2, 0.0)

    return chain(value, (slope,), s)
