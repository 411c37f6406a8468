"""Logarithms of the modified Bessel function K and of Gamma: for any order, on arrays, dual numbers and tensors.

K itself overflows for small arguments and large orders, and its derivative to the order is no elementary function. Both
are no concern of the integral

    K_nu(z) = 1/2 integral of exp(nu x - z cosh x) dx,

whose integrand falls off doubly exponentially on both sides: the trapezoidal rule is exact to rounding, and as a sum of
exponentials it can be differentiated to the order, by dual numbers or by autograd.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from spectralkit._xp import convert, is_torch, namespace
from spectralkit.spectra._dual import carries_derivative, chain, value_of

_DROP = 40.0  # the integrand is followed down to exp(-40) of its peak, 4e-18


def log_gamma(a: Any) -> Any:
    """Logarithm of Gamma(a) for a number, a dual number or a tensor."""
    if is_torch(a):
        return namespace(a).lgamma(a)
    return chain(lambda x: float(special.gammaln(x)), (lambda out, x: special.digamma(x),), a)


def log_power_kv(nu: Any, z: Any) -> Any:
    """Logarithm of z^nu K_nu(z), which has a limit at 0, for an order nu >= 0, a number, and z > 0, an array.

    Either may carry a derivative. Plain numbers go to SciPy, and to the integral where that overflows.
    """
    if carries_derivative(nu) or carries_derivative(z):
        return _log_integral(nu, z)
    z = np.asarray(z)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_k = np.asarray(np.log(special.kve(nu, z)) - z + nu * np.log(z))
    lost = ~np.isfinite(log_k)
    if lost.any():
        log_k[lost] = _log_integral(nu, z[lost])
    return log_k


def _log_integral(nu: Any, z: Any) -> Any:
    """The trapezoidal sum around the peak of the integrand, at sinh x = nu / z.

    The sum is made of plain numbers. What carries a derivative enters as its difference from its value, zero, in the
    exponents as they stand in the integral: the derivatives are then means of x and cosh x, without cancellation.
    """
    order, argument = value_of(nu), value_of(z)
    q, excess = _distances(order, argument)
    offsets, step = offsets_from_peak(order, argument)
    like = (lambda x: convert(x, z)) if is_torch(z) else (lambda x: x)
    nu_move, z_move = nu - order, z - like(argument)
    xp = namespace(nu, z)
    total: Any = 0.0
    for y in offsets:
        x = y + np.arcsinh(order / argument)
        weight = step / 2 * np.exp(-2 * excess * np.sinh(y / 2) ** 2 - order * (np.expm1(y) - y))
        total = total + like(weight) * xp.exp(nu_move * like(x + np.log(argument)) - z_move * like(np.cosh(x)))
    return xp.log(total) + xp.log1p(z_move / like(argument)) * nu + like(order * np.log(order + q) - q)


def offsets_from_peak(nu: float, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points y (N, *z.shape), in steps of (*z.shape), at which to add up the integrand around its peak.

    At a distance y from the peak the exponent has dropped by ``(q - nu)(cosh y - 1) + nu (exp(y) - 1 - y)``, with q the
    length of (nu, z). That is at least q (cosh y - 1) to the right and at least either part to the left; the points end
    where these bounds reach 40. The peak has width 1 / sqrt(q) for large q, and the integrand is analytic for
    |imag y| < pi/2: a step of 0.2 / sqrt(1 + q/10) leaves an error below 1e-16 for any q.
    """
    q, excess = _distances(nu, z)
    to_the_right = _arccosh_of_one_plus(_DROP / q)
    slow = _DROP / max(nu, 1e-300)  # where y^2 / (2 + y) = slow, the second part is at least 40
    to_the_left = np.minimum(
        _arccosh_of_one_plus(_DROP / np.maximum(excess, 1e-300)), (slow + math.sqrt(slow) * math.sqrt(slow + 8)) / 2
    )
    count = int(np.ceil(np.max((to_the_left + to_the_right) * 5 * np.sqrt(1 + q / 10), initial=1)))
    step = (to_the_left + to_the_right) / count
    return -to_the_left + step * np.arange(count + 1).reshape((-1,) + (1,) * np.ndim(z)), step


def _distances(nu: float, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The length q of (nu, z) and, without cancellation, q - nu."""
    q = np.hypot(nu, z)
    return q, z * (z / (q + nu))


def _arccosh_of_one_plus(x: np.ndarray) -> np.ndarray:
    return 2 * np.arcsinh(np.sqrt(x / 2))
