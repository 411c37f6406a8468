"""Dual numbers against high-precision derivatives and against kinks, where a complex step is wrong."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spectralkit.spectra._dual import _DERIVATIVES, Dual

FORMULAS = {  # on NumPy (dual) and on mpmath
    "exp": (lambda x: np.exp(-3 * x), lambda x: mp.exp(-3 * x)),
    "expm1": (lambda x: np.expm1(x / 2), lambda x: mp.expm1(x / 2)),
    "log": (lambda x: np.log(2 * x), lambda x: mp.log(2 * x)),
    "log1p": (np.log1p, lambda x: mp.log(1 + x)),
    "sqrt": (lambda x: np.sqrt(1 + x), lambda x: mp.sqrt(1 + x)),
    "square": (lambda x: np.square(x - 2), lambda x: (x - 2) ** 2),
    "sin and cos": (lambda x: np.sin(x) * np.cos(3 * x), lambda x: mp.sin(x) * mp.cos(3 * x)),
    "cosh": (lambda x: np.cosh(x) - x, lambda x: mp.cosh(x) - x),
    "quotient": (lambda x: (1 - x) / (2 + x * x), lambda x: (1 - x) / (2 + x * x)),
    "reciprocal": (lambda x: 1 / x, lambda x: 1 / x),
    "power": (lambda x: (1 + x) ** -1.7, lambda x: (1 + x) ** mp.mpf("-1.7")),
    "exponent": (lambda x: 2.5**x, lambda x: mp.mpf("2.5") ** x),
    "both": (lambda x: (1 + x) ** (-x), lambda x: (1 + x) ** (-x)),
    "nested": (lambda x: np.exp(-np.sqrt(x)) * (1 + np.sqrt(x)), lambda x: mp.exp(-mp.sqrt(x)) * (1 + mp.sqrt(x))),
}
X = np.array([0.3, 1.0, 2.2])


@pytest.mark.parametrize("name", FORMULAS)
def test_value_and_slope_are_those_of_high_precision(name):
    on_numpy, on_mpmath = FORMULAS[name]
    z = on_numpy(Dual(X, 0.7))
    assert_allclose(z.value, [float(on_mpmath(mp.mpf(x))) for x in X], rtol=1e-14)
    assert_allclose(z.full_slope(), [0.7 * float(mp.diff(on_mpmath, mp.mpf(x))) for x in X], rtol=1e-13, atol=1e-15)


def test_every_rule_is_reached_by_the_formulas_or_by_the_kinks():
    used = {np.absolute, np.rint, np.maximum, np.minimum, np.subtract, np.add, np.multiply, np.divide, np.negative}
    used |= {np.power, np.square, np.sqrt, np.exp, np.expm1, np.log, np.log1p, np.cos, np.sin, np.cosh}
    assert set(_DERIVATIVES) == used


def test_kinks_and_steps_take_the_slope_of_their_side():
    z = Dual(np.array([-2.0, 3.0]), np.array([1.0, 1.0]))
    assert_array_equal(abs(z).slope, [-1, 1])
    assert_array_equal(np.maximum(z, 0.5).slope, [0, 1])
    assert_array_equal(np.maximum(0.5, z).slope, [0, 1])
    assert_array_equal(np.minimum(z, 0.5).slope, [1, 0])
    assert_array_equal((-z).slope, [-1, -1])
    assert_array_equal((2.0 - z).slope, [-1, -1])
    assert_array_equal(np.rint(z * 1.3).full_slope(), [0, 0])


def test_at_equal_arguments_a_maximum_counts_once():
    """max(x, x) has slope 1, not 0 and not 2."""
    z = Dual(np.array([1.0]), np.array([1.0]))
    assert_array_equal(np.maximum(z, z).slope, [1.0])
    assert_array_equal(np.minimum(z, z).slope, [1.0])


def test_square_root_at_zero_has_slope_zero_and_no_warning():
    z = np.sqrt(Dual(np.array([0.0, 4.0]), np.array([1.0, 1.0])))
    assert_array_equal(z.value, [0, 2])
    assert_array_equal(z.slope, [0, 0.25])


def test_sums_indexing_and_shapes_carry_the_slope():
    z = Dual(np.arange(6.0).reshape(2, 3), 1.0)
    assert_array_equal(z.sum(-1).slope, [3, 3])
    assert_array_equal(z[1].slope, [1, 1, 1])
    assert_array_equal(z.reshape((3, 2)).slope, np.ones((3, 2)))
    assert z.ndim == 2


def test_a_function_without_a_rule_names_the_hook_to_write():
    with pytest.raises(TypeError, match=r"calls numpy.arctan .* give the measure its own _covariance_gradient"):
        np.arctan(Dual(X, 1.0))
    with pytest.raises(TypeError, match="'reduce'"):
        np.add.reduce(Dual(X, 1.0))
