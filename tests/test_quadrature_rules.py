"""Gauss and grid rules against closed forms: Hermite roots, polynomial exactness, Poisson summation."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from spectralkit import Atomic, CapabilityError, FourierFeatures, Gaussian, Matern, SpectralMixture
from spectralkit.rules import Gauss, Grid, Nodes, nodes


def kernel_of(chosen, tau):
    return np.cos(2 * math.pi * tau @ chosen.frequencies.T) @ chosen.weights


# -- Gauss -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [2, 4, 10, 30, 60])
def test_one_column_gives_the_roots_of_hermite_polynomials(points):
    sigma = 0.3
    chosen = Gauss()(Gaussian(sigma), points, 1)
    roots, weights = np.polynomial.hermite_e.hermegauss(points)
    order = np.argsort(chosen.frequencies[:, 0])
    assert chosen.width <= points
    assert chosen.width == points or points > 20
    # points whose weight is below rounding are not determined by the rest
    seen = (roots > 0) & (weights / math.sqrt(2 * math.pi) > 1e-13)
    assert_allclose(chosen.frequencies[order, 0][: seen.sum()], sigma * roots[seen], rtol=1e-9)
    assert_allclose(
        chosen.weights[order][: seen.sum()], 2 * weights[seen] / math.sqrt(2 * math.pi), rtol=1e-8, atol=1e-14
    )


@pytest.mark.parametrize("d", [1, 2, 3])
def test_moments_up_to_twice_the_number_of_points_are_those_of_the_measure(d):
    sigma = np.linspace(0.2, 0.6, d)
    q = 6
    chosen = Gauss()(2.0 * Gaussian(sigma), q**d, d)
    z = chosen.frequencies / sigma
    for power in range(0, 2 * q, 2):  # E z^p = (p - 1)!! in every column, and products of columns factor
        moment = math.prod(range(power - 1, 0, -2))
        for j in range(d):
            assert_allclose((chosen.weights * z[:, j] ** power).sum(), 2.0 * moment, rtol=1e-9)
    if d > 1:
        assert_allclose((chosen.weights * z[:, 0] ** 4 * z[:, 1] ** 2).sum(), 2.0 * 3, rtol=1e-9)


@pytest.mark.parametrize("d", [1, 2])
def test_short_lags_are_exact_and_long_ones_are_not(d):
    measure = Gaussian.from_lengthscale(1.0)
    chosen = Gauss()(measure, 256, d)
    tau = np.random.default_rng(0).normal(size=(50, d))
    tau /= np.linalg.norm(tau, axis=1, keepdims=True)
    assert np.abs(kernel_of(chosen, tau) - measure.characteristic(tau)).max() < (1e-12 if d == 1 else 1e-10)
    far = kernel_of(chosen, np.linspace(20, 400, 2000)[:, None] * tau[:1])
    assert np.abs(far).max() > 0.1


@pytest.mark.parametrize("width", [2, 3, 7, 64, 255, 256, 1000, 4096])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_width_is_an_upper_limit(width, d):
    if width < 2**d:
        with pytest.raises(ValueError, match=rf"{2**d} components in {d} column.*n_components={width}.*rule='qmc'"):
            Gauss()(Gaussian(0.1), width, d)
        return
    chosen = Gauss()(Gaussian(0.1), width, d)
    assert chosen.width <= width
    if width ** (1 / d) < 15:  # more points than that have weights below rounding
        per_column = round(chosen.width ** (1 / d))
        assert per_column**d == chosen.width
        assert width < (per_column + 2) ** d
    assert_allclose(chosen.weights.sum(), 1.0, rtol=1e-13)
    assert (chosen.weights > 0).all()


def test_tensor_products_and_multiples_are_integrated_column_by_column():
    whole = Gauss()(Gaussian([0.1, 0.2]), 64, 2)
    split = Gauss()(3.0 * (Gaussian(0.2).on([1]) * Gaussian(0.1).on([0])), 64, 2)
    assert_allclose(split.frequencies, whole.frequencies, rtol=1e-12)
    assert_allclose(split.weights, 3 * whole.weights, rtol=1e-12)


def test_any_measure_of_one_column_with_moments_will_do_and_products_of_such():
    seasonal = SpectralMixture([1.0, 0.5], [0.4, 1.0], [0.1, 0.05])
    tau = np.linspace(0, 2, 40)[:, None]
    for measure in (seasonal, Gaussian(0.1) + 0.5 * Gaussian(0.2)):
        assert_allclose(kernel_of(Gauss()(measure, 128, 1), tau), measure.characteristic(tau), rtol=0, atol=1e-12)
    product = seasonal.on([1]) * Gaussian(0.3).on([0])
    tau = np.random.default_rng(0).uniform(-1, 1, size=(40, 2))
    assert_allclose(kernel_of(Gauss()(product, 4096, 2), tau), product.characteristic(tau), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("measure", "d", "lacks"),
    [
        (Matern(0.1, nu=1.5), 1, "mgf"),
        (Matern(0.1, nu=1.5), 2, "factors"),
        (Gaussian(0.1) + Gaussian(0.2), 2, "factors"),
        (Atomic([1.0]), 1, "density"),
    ],
    ids=repr,
)
def test_other_measures_have_no_gauss_rule(measure, d, lacks):
    with pytest.raises(
        CapabilityError, match=rf"has no {lacks} in {d} column.* with rule='qmc' instead|rule='qmc' inst"
    ):
        Gauss()(measure, 64, d)


# -- grid --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [Gaussian(0.3), SpectralMixture([0.5, 1.0], [0.4, 1.0], [0.1, 0.05])], ids=repr)
@pytest.mark.parametrize("width", [64, 256])
def test_the_kernel_is_as_good_as_the_mass_beyond_the_grid(measure, width):
    L = 10.0
    chosen = Grid(L)(measure, width, 1)
    assert chosen.width <= width
    spacing = chosen.frequencies[1, 0]
    edge = chosen.frequencies[-1, 0]
    reach = (1 / spacing - L) / 2
    tau = np.linspace(0, L + reach, 400)[:, None]
    # Poisson: copies of the kernel at multiples of 1/spacing, and the mass beyond the last frequency
    beyond = _mass_beyond(measure, edge)
    copies = 2 * np.abs(measure.characteristic(np.linspace(reach, 4 * reach, 50)[:, None])).max()
    assert np.abs(kernel_of(chosen, tau) - measure.characteristic(tau)).max() <= 1.1 * (beyond + copies) + 1e-14
    # and the other way round: just past the promised lag the next copy comes into sight
    period = kernel_of(chosen, np.array([[1 / spacing]]))[0]
    assert_allclose(period, chosen.weights.sum(), rtol=1e-9)


def _mass_beyond(measure, edge):
    from scipy import integrate

    tail = integrate.quad(lambda w: float(measure.density([w])), edge, 20 * edge, epsabs=1e-18, limit=200)[0]
    return 2 * tail


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_grid_is_a_half_lattice_with_zero_first(d):
    chosen = Grid(np.linspace(1, 2, d))(Gaussian(0.2), 2000, d)
    assert chosen.width <= 2000
    assert not chosen.frequencies[0].any()
    every = np.concatenate([chosen.frequencies, -chosen.frequencies[1:]])
    assert len(np.unique(every.round(12), axis=0)) == len(every)
    spacing = [np.diff(np.unique(column.round(12))) for column in every.T]
    for steps in spacing:
        assert_allclose(steps, steps[0], rtol=1e-9)
    assert len(every) == math.prod(len(steps) + 1 for steps in spacing)


def test_more_columns_are_never_worse():
    tau = np.linspace(0, 5, 100)[:, None]
    for measure in (Gaussian(0.5), Matern(0.3, nu=2.5)):
        errors = []
        for width in (16, 32, 64, 128, 256, 512):
            chosen = Grid(5.0)(measure, width, 1)
            errors.append(np.abs(kernel_of(chosen, tau) - measure.characteristic(tau)).max())
        assert all(b <= a * 1.001 + 1e-13 for a, b in itertools.pairwise(errors)), errors


def test_a_transformer_covers_its_training_data():
    X = np.random.default_rng(0).uniform(-3, 4, size=(60, 2)) * [1, 10]
    model = FourierFeatures(rule="grid", n_components=1200).fit(X)
    assert model.rule == "grid"
    Z = model.transform(X)
    assert np.abs(Z @ Z.T - model.spectrum_.gram(X)).max() < 1e-5
    explicit = FourierFeatures(rule=Grid(np.ptp(X, axis=0)), n_components=1200).fit(X)
    assert_allclose(explicit.transform(X), Z, rtol=0, atol=1e-12)
    assert clone(explicit).rule == explicit.rule != Grid()


def test_what_a_grid_cannot_do_is_said():
    with pytest.raises(ValueError, match=r"needs a domain, the extent of the points. Use Grid\(domain=...\)"):
        nodes(Gaussian(0.1), 64, 1, "grid")
    with pytest.raises(ValueError, match=r"at least 5\d components for Gaussian.*n_components=32.*rule='qmc'"):
        Grid(100.0)(Gaussian(0.4), 32, 1)
    with pytest.raises(ValueError, match=r"decays in every column.*column 1. Use rule='atoms'"):
        Grid(1.0)(_NoDecay(0.1), 64, 2)
    for domain in (-1.0, math.nan, [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match=r"Grid: domain must be one finite length, or 2, one per column"):
            Grid(domain)(Gaussian(0.1), 64, 2)
    with pytest.raises(CapabilityError, match="no density"):
        Grid(1.0)(Atomic([1.0]), 64, 1)


class _NoDecay(Gaussian):
    def _support(self, tol, d):
        return np.array([1.0, math.inf])


def test_rules_are_values():
    assert Grid(2.0) == Grid(2.0) != Grid(3.0)
    assert Grid(np.array([1.0, 2.0])) == Grid((1.0, 2.0))
    assert repr(Grid(2.0)) == "Grid(domain=2.0)"
    assert eval(repr(Grid((1.0, 2.0)))) == Grid((1.0, 2.0))
    assert Gauss() == Gauss() != Grid()
    assert isinstance(nodes(Gaussian(0.1), 16, 1, "gauss"), Nodes)
