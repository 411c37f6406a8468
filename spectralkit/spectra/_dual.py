"""Dual numbers: a formula evaluated once gives its value and one directional derivative, in real arithmetic.

``Dual(x, dx)`` stands for ``x + dx * e`` with ``e**2 = 0``. NumPy functions applied to it carry ``dx`` along by the
chain rule, so a kernel formula needs no second version for its gradient. The derivative rules below are all that is
needed by the formulas of the package; a function without a rule raises and says which hook to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spectralkit._xp import is_torch, stop_gradient


class Dual(np.lib.mixins.NDArrayOperatorsMixin):
    """A value and its derivative, propagated through NumPy universal functions.

    Parameters
    ----------
    value : ndarray or float
        The value.
    slope : ndarray or float
        The derivative, broadcastable to the shape of `value`.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.exp(-2 * Dual(0.5, 1.0) ** 2)
    >>> bool(np.isclose(z.value, np.exp(-0.5))), bool(np.isclose(z.slope, -2 * np.exp(-0.5)))
    (True, True)
    """

    __array_priority__ = 1000

    def __init__(self, value: Any, slope: Any) -> None:
        self.value = value
        self.slope = slope

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        """Number of axes of the value."""
        return np.ndim(self.value)

    def full_slope(self) -> np.ndarray:
        """The derivative in the shape of the value."""
        return np.broadcast_to(self.slope, self.shape)

    def sum(self, axis: int | None = None) -> Dual:
        """Sum over an axis."""
        return Dual(np.sum(self.value, axis), np.sum(self.full_slope(), axis))

    def reshape(self, *shape: Any) -> Dual:
        """Value and derivative in another shape."""
        return Dual(np.reshape(self.value, *shape), np.reshape(self.full_slope(), *shape))

    def __getitem__(self, index: Any) -> Dual:
        return Dual(self.value[index], self.full_slope()[index])

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Dual:
        rules = _DERIVATIVES.get(ufunc)
        if rules is None or method != "__call__" or kwargs:
            raise TypeError(
                f"The formula calls numpy.{ufunc.__name__} (method {method!r}), for which no derivative rule is known. "
                "Write the formula with other functions, or give the measure its own _covariance_gradient."
            )
        return chain(ufunc, rules, *args)


def chain(function: Callable, rules: Sequence[Callable], *args: Any) -> Any:
    """``function(*args)`` by the chain rule if an argument is a dual number, as it is if none is.

    For special functions, whose derivatives a family knows in closed form: ``rules`` has one function per argument,
    ``(out, *values)`` to the partial derivative.
    """
    values = [a.value if isinstance(a, Dual) else a for a in args]
    out = function(*values)
    slopes = [
        rule(out, *values) * argument.slope
        for argument, rule in zip(args, rules, strict=True)
        if isinstance(argument, Dual)
    ]
    return Dual(out, sum(slopes[1:], slopes[0])) if slopes else out


def carries_derivative(x: Any) -> bool:
    """Whether x is a dual number or a tensor (perhaps inside vmap, where values cannot be read)."""
    return isinstance(x, Dual) or is_torch(x)


def value_of(x: Any) -> Any:
    """The value without its derivative, on NumPy in float64."""
    x = stop_gradient(x)
    x = np.asarray(x.cpu() if is_torch(x) else getattr(x, "value", x), dtype=np.float64)
    return x if x.ndim else float(x)


def _reciprocal_or_zero(x: Any) -> Any:
    """1/x, and 0 where x is 0: profiles in a distance are taken as stationary at distance zero."""
    return np.divide(1.0, x, out=np.zeros_like(x, dtype=np.result_type(x, np.float32)), where=np.asarray(x) != 0)


# ufunc -> one rule per argument: (out, *values) -> partial derivative of out to that argument
_DERIVATIVES: dict[np.ufunc, tuple] = {
    np.add: (lambda out, a, b: 1.0, lambda out, a, b: 1.0),
    np.subtract: (lambda out, a, b: 1.0, lambda out, a, b: -1.0),
    np.multiply: (lambda out, a, b: b, lambda out, a, b: a),
    np.divide: (lambda out, a, b: 1 / b, lambda out, a, b: -out / b),
    np.power: (lambda out, a, b: b * a ** (b - 1), lambda out, a, b: out * np.log(a)),
    np.negative: (lambda out, a: -1.0,),
    np.square: (lambda out, a: 2 * a,),
    np.sqrt: (lambda out, a: 0.5 * _reciprocal_or_zero(out),),
    np.exp: (lambda out, a: out,),
    np.expm1: (lambda out, a: out + 1,),
    np.log: (lambda out, a: 1 / a,),
    np.log1p: (lambda out, a: 1 / (1 + a),),
    np.cos: (lambda out, a: -np.sin(a),),
    np.sin: (lambda out, a: np.cos(a),),
    np.cosh: (lambda out, a: np.sinh(a),),
    np.absolute: (lambda out, a: np.sign(a),),
    np.rint: (lambda out, a: 0.0,),
    np.maximum: (lambda out, a, b: np.asarray(a >= b), lambda out, a, b: np.asarray(a < b)),
    np.minimum: (lambda out, a, b: np.asarray(a <= b), lambda out, a, b: np.asarray(a > b)),
}
