"""The kernel of a spectral mixture for scikit-learn: as a kernel, started from data, in units, and its derivatives."""

import itertools
import math
import pickle
import warnings

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel
from sklearn.model_selection import GridSearchCV

import spectralkit
from spectralkit import Atomic, Gaussian, Matern, Periodic, SpectralKernel, SpectralMixture, SpectralMixtureKernel
from spectralkit._xp import cosine_and_sine
from spectralkit.datasets import load_co2
from spectralkit.estimation import search_bounds, search_scales, spectral_components

EPS = np.finfo(float).eps


def points(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def mixture(q=2, d=2, seed=0):
    """Means of both signs."""
    rng = np.random.default_rng(seed)
    return SpectralMixture(0.2 + rng.random(q), rng.normal(size=(q, d)), 0.05 + 0.3 * rng.random((q, d)))


def wave(n=60, seed=0):
    """Two waves at irregular points, with noise."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 10, n))
    y = 2 * np.cos(2 * np.pi * 1.3 * x) + np.sin(2 * np.pi * 0.5 * x) + 0.1 * rng.normal(size=n)
    return x[:, None], y - y.mean()


def oblique(n=150, seed=0):
    """One wave aslant, down in one column where it is up in the other."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(n, 2))
    return X, np.cos(2 * np.pi * X @ [1.0, -0.75]) + 0.1 * rng.normal(size=n)


def differences(kernel, X, step=1e-5):
    """Central differences of K to theta, (n, n, n_dims)."""
    theta = kernel.theta
    slopes = [
        (kernel.clone_with_theta(theta + e)(X) - kernel.clone_with_theta(theta - e)(X)) / (2 * step)
        for e in step * np.eye(len(theta))
    ]
    return np.stack(slopes, axis=-1) if slopes else np.empty((len(X), len(X), 0))


# -- as a kernel -------------------------------------------------------------------------------------------------------


def test_the_diagonal_is_the_sum_of_the_weights():
    kernel = SpectralMixtureKernel(SpectralMixture([0.5, 1.0, 2.0], np.ones((3, 2)), np.ones((3, 2))))
    assert_array_equal(np.diag(kernel(points(5, 2))), 3.5)
    assert_array_equal(kernel.diag(points(5, 2)), 3.5)


@pytest.mark.parametrize("means", [[[0.9, 0.4], [0.9, -0.4]], [[-0.9, 0.4], [0.3, -0.8]]])
def test_it_is_positive_semi_definite_on_a_grid(means):
    grid = np.stack(np.meshgrid(np.linspace(0, 3, 12), np.linspace(0, 3, 12)), -1).reshape(-1, 2)
    eigenvalues = np.linalg.eigvalsh(
        SpectralMixtureKernel(SpectralMixture([1.0, 0.5], means, np.full((2, 2), 0.05)))(grid)
    )
    assert eigenvalues[0] >= -len(grid) * EPS * eigenvalues[-1]
    assert eigenvalues[0] < 1e-8 * eigenvalues[-1]  # near-singular: a real test


def test_the_order_of_components_and_the_sign_of_a_whole_mean_change_nothing():
    measure, order = mixture(4), np.array([2, 0, 3, 1])
    permuted = SpectralMixture(measure.weights[order], -measure.means[order], measure.sigmas[order])
    X = points(20, 2)
    assert_allclose(SpectralMixtureKernel(permuted)(X), SpectralMixtureKernel(measure)(X), rtol=0, atol=1e-14)


@pytest.mark.parametrize("form", ["mixture", "product"])
def test_a_rectangular_matrix_is_a_block_of_the_square_one(form):
    X, y = oblique(40)
    kernel = SpectralMixtureKernel.from_data(X, y, 2, form=form)
    K = kernel(X)
    assert_allclose(kernel(X[:10], X[10:]), K[:10, 10:], rtol=0, atol=1e-13 * K[0, 0])
    assert_array_equal(np.diag(K), kernel.diag(X))


NAMES = ("weights", "means", "sigmas")


@pytest.mark.parametrize("fixed", [names for r in range(4) for names in itertools.combinations(NAMES, r)])
@pytest.mark.parametrize(("q", "d"), [(1, 1), (1, 2), (3, 1), (2, 3)])
def test_gradients_equal_differences_in_every_combination_of_fixed_parameters(q, d, fixed):
    kernel = SpectralMixtureKernel(
        mixture(q, d), dict.fromkeys(fixed, "fixed"), None if "means" in fixed else {"means": 0.3}
    )
    X = points(9, d, seed=1)
    X[4] = X[2]
    K, gradient = kernel(X, eval_gradient=True)
    assert kernel.n_dims == len(kernel.bounds) == (q + 2 * q * d) - sum({"weights": q}.get(n, q * d) for n in fixed)
    assert_array_equal(K, K.T)
    assert_array_equal(gradient, np.swapaxes(gradient, 0, 1))
    assert_allclose(gradient, differences(kernel, X), rtol=0, atol=1e-6)
    assert_allclose(kernel.clone_with_theta(kernel.theta)(X), kernel(X), rtol=0, atol=1e-14)


def from_waves(**options):
    return SpectralMixtureKernel.from_data(*wave(), 2, **options)


def test_clone_theta_pickle_and_a_repr_that_evaluates():
    kernel = from_waves()
    X = wave()[0]
    for other in (clone(kernel), pickle.loads(pickle.dumps(kernel)), eval(repr(kernel), vars(spectralkit).copy())):
        assert type(other) is SpectralMixtureKernel
        assert other == kernel
        assert_array_equal(other.theta, kernel.theta)
        assert_array_equal(other.bounds, kernel.bounds)
        assert_array_equal(other(X), kernel(X))
    moved = kernel.clone_with_theta(kernel.theta + 0.1)
    assert_allclose(moved.theta, kernel.theta + 0.1, rtol=1e-13)
    assert_array_equal(moved.bounds, kernel.bounds)
    assert moved != kernel


def test_it_differs_from_kernels_of_another_size_scale_or_class():
    kernel = SpectralMixtureKernel(mixture(2), parameter_scales={"means": 0.5})
    others = [
        SpectralMixtureKernel(mixture(q, d), parameter_scales={"means": 0.5}) for q, d in [(1, 2), (3, 2), (2, 1)]
    ]
    others += [SpectralMixtureKernel(mixture(2)), SpectralMixtureKernel(mixture(2), parameter_scales={"means": 0.6})]
    others += [SpectralKernel(mixture(2), parameter_scales={"means": 0.5}), WhiteKernel(), None]
    for other in others:
        assert (kernel == other) is False
        assert (other == kernel) is False
    assert kernel == SpectralMixtureKernel(mixture(2), parameter_scales={"means": np.array(0.5)})


def test_it_stands_inside_sums_and_products():
    X, _ = wave(15)
    kernel = from_waves()
    composed = 2.0 * kernel + WhiteKernel(0.3)
    assert_allclose(composed(X), 2 * kernel(X) + 0.3 * np.eye(15), rtol=0, atol=1e-13)
    assert composed.n_dims == 1 + kernel.n_dims + 1
    assert_array_equal(composed.bounds[1:-1], kernel.bounds)
    assert_allclose(composed(X, eval_gradient=True)[1], differences(composed, X), rtol=0, atol=1e-6)


def test_a_regressor_with_restarts_repeats_itself_and_stays_in_the_bounds():
    X, y = wave(30)
    kernel = from_waves() + WhiteKernel(0.1, (1e-4, 1e1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a wave without end sits at the bound of its sigma
        fits = [
            GaussianProcessRegressor(kernel, alpha=0, n_restarts_optimizer=n, random_state=0).fit(X, y)
            for n in (0, 2, 2)
        ]
    values = [fit.log_marginal_likelihood_value_ for fit in fits]
    assert values[1] == values[2] >= values[0] > GaussianProcessRegressor(
        kernel, alpha=0, optimizer=None
    ).fit(X, y).log_marginal_likelihood()  # fmt: skip
    theta, bounds = fits[1].kernel_.theta, fits[1].kernel_.bounds
    assert (theta >= bounds[:, 0] - 1e-9).all()
    assert (theta <= bounds[:, 1] + 1e-9).all()


def test_grid_search_and_set_params_reach_the_measure():
    X, y = wave()
    gp = GaussianProcessRegressor(from_waves(), alpha=0.01, optimizer=None)
    search = GridSearchCV(gp, {"kernel__spectrum__sigmas": [[3.0, 3.0], [0.01, 0.01]]}, cv=3).fit(X[::-1], y[::-1])
    assert search.best_params_ == {"kernel__spectrum__sigmas": [0.01, 0.01]}
    kernel = from_waves().set_params(spectrum__means=[[1.0], [2.0]], parameter_scales={"means": 0.5})
    assert_allclose(kernel.theta[2:4], [2.0, 4.0])


# -- scales of parameters ----------------------------------------------------------------------------------------------


def test_scales_divide_theta_and_bounds_and_multiply_gradients():
    measure, scales = 2.0 * mixture(2) + Atomic([[0.5, 0.25]], [0.3]), {"0__means": [0.1, 0.2, 0.3, 0.4]}
    bounds = {"0__means": (-3.0, 2.0), "1__weights": "fixed"}
    plain, scaled = (SpectralMixtureKernel(measure, bounds, given) for given in (None, scales))
    names = np.concatenate([[h.name] * h.n_elements for h in plain.hyperparameters if not h.fixed])
    unit = np.ones(plain.n_dims)
    unit[names == "spectrum__0__means"] = scales["0__means"]
    assert_allclose(scaled.theta, plain.theta / unit, rtol=1e-15)
    assert_allclose(scaled.bounds, plain.bounds / unit[:, None], rtol=1e-15)
    X = points(8, 2)
    gradients = [kernel(X, eval_gradient=True)[1] for kernel in (plain, scaled)]
    assert_allclose(gradients[1], gradients[0] * unit, rtol=1e-14, atol=1e-15)
    assert_allclose(gradients[1], differences(scaled, X), rtol=0, atol=1e-6)
    assert scaled.clone_with_theta(scaled.theta).spectrum.pack() == pytest.approx(measure.pack(), rel=1e-14)


@pytest.mark.parametrize(
    ("scales", "message"),
    [
        ({"sigmas": 1.0}, "names sigmas, but the real parameters of .* are means"),
        ({"maens": 1.0}, "names maens"),
        ({"means": [1.0, 2.0]}, "positive and finite, one number or 4"),
        ({"means": np.ones((2, 2))}, "one number or 4"),
        ({"means": 0.0}, "must be positive"),
        ({"means": -1.0}, "must be positive"),
        ({"means": math.nan}, "must be positive and finite"),
        (2.0, "must be a dict from names to scales, or None"),
    ],
)
def test_bad_scales_are_refused_when_they_are_used(scales, message):
    kernel = SpectralMixtureKernel(mixture(2), parameter_scales=scales)
    kernel(points(3, 2))  # they change no value
    for use in (lambda: kernel.theta, lambda: kernel.bounds, lambda: kernel(points(3, 2), eval_gradient=True)):
        with pytest.raises(ValueError, match=message):
            use()


# -- from data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_mixtures", [2, None])
def test_the_start_is_what_was_found_with_its_bounds_and_scales(n_mixtures):
    X, y = wave()
    kernel = SpectralMixtureKernel.from_data(X, y, n_mixtures)
    found = spectral_components(X, y, n_mixtures).mixture()
    assert kernel == SpectralMixtureKernel(found, search_bounds(found, X, y), search_scales(found, X))
    assert_allclose(sorted(np.abs(kernel.spectrum.means[:2, 0])), [0.5, 1.3], atol=0.01)
    assert 2 <= len(kernel.spectrum.weights) <= 3  # BIC may see a trend in a record of so few turns, but not in noise


def test_options_are_passed_on():
    X, y = wave()
    noise = np.where(np.arange(60) % 2, 0.1, 10.0)
    options = {"noise_std": noise, "trend": 0, "max_frequency": 1.0}
    kernel = SpectralMixtureKernel.from_data(X, y, 2, **options)
    assert kernel.spectrum == spectral_components(X, y, 2, **options).mixture()
    assert kernel.spectrum != SpectralMixtureKernel.from_data(X, y, 2).spectrum
    with pytest.raises(TypeError, match="bogus"):
        SpectralMixtureKernel.from_data(X, y, 2, bogus=1)


@pytest.mark.parametrize("form", ["mixture", "product"])
def test_units_change_nothing(form):
    """x * a, y * b: mu / a, s / a, w b^2, bounds and scales alike, and the search is the same search."""
    X, y = oblique(60)
    a, b = np.array([8.0, 0.25]), 16.0  # powers of two: no rounding
    one, other = (SpectralMixtureKernel.from_data(*data, 2, form=form, trend=0) for data in ((X, y), (X * a, y * b)))
    assert_allclose(other(X * a), one(X) * b**2, rtol=1e-9, atol=1e-9)
    for before, after in zip(one.spectrum.parameters(), other.spectrum.parameters(), strict=True):
        name = before.name
        unit = np.asarray(after.value) / np.asarray(before.value) if np.all(before.value) else 1.0
        ends = [np.reshape(kernel.parameter_bounds[name], (*np.shape(before.value), 2)) for kernel in (one, other)]
        if form == "mixture":
            expected = b**2 if name == "weights" else 1 / a
            assert_allclose(np.asarray(before.value) * expected, after.value, rtol=1e-9, atol=1e-12)
        assert_allclose(
            np.broadcast_to(np.asarray(unit), np.shape(before.value))[..., None] * ends[0], ends[1], rtol=1e-9
        )
    shift = other.theta - one.theta
    logarithmic = np.concatenate([np.full(p.size, p.domain == "positive") for p in one.spectrum.parameters()])
    assert_allclose(shift[~logarithmic], 0.0, atol=1e-8)  # means are counted in their scales
    assert_allclose(other.bounds - one.bounds, np.column_stack([shift, shift]), atol=1e-7)
    gps = [
        GaussianProcessRegressor(kernel, alpha=0.01 * unit**2, optimizer=None).fit(X * scale, y * unit)
        for kernel, scale, unit in ((one, 1.0, 1.0), (other, a, b))
    ]
    values, slopes = zip(*(gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True) for gp in gps), strict=True)
    assert_allclose(values[1], values[0] - len(y) * math.log(b), rtol=1e-9)
    assert_allclose(slopes[1], slopes[0], rtol=1e-6, atol=1e-6)


def test_points_that_nearly_coincide_change_little():
    X, y = wave()
    again = np.vstack([X, X[:3] + 1e-9])
    kernel = SpectralMixtureKernel.from_data(again, np.append(y, y[:3]), 2)
    assert_allclose(kernel.spectrum.means[:, 0], from_waves().spectrum.means[:, 0], atol=0.01)
    assert np.abs(kernel.parameter_bounds["means"]).max() < 10  # not half of one over the smallest gap


def test_a_constant_column_has_no_say():
    X, y = wave()
    kernel = SpectralMixtureKernel.from_data(np.column_stack([X, np.full(60, 7.0)]), y, 2)
    assert_allclose(kernel.spectrum.means, np.column_stack([from_waves().spectrum.means, [0, 0]]), rtol=1e-9)
    assert np.isfinite(kernel.theta).all()
    assert np.isfinite(kernel.bounds).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, np.ones_like(y)), "nothing|constant"),
        (lambda X, y: (X, np.where(np.arange(60) == 3, np.nan, y)), "NaN"),
        (lambda X, y: (np.where(np.arange(60)[:, None] == 3, np.nan, X), y), "NaN"),
        (lambda X, y: (np.ones_like(X), y), "distinct|constant"),
        (lambda X, y: (X[:5], y[:4]), "rows|shape|5"),
    ],
)
def test_data_without_a_spectrum_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        SpectralMixtureKernel.from_data(*change(*wave()), 2)


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="form must be 'mixture' or 'product', got 'sum'"):
        from_waves(form="sum")


def test_the_data_stay_as_they_are():
    X, y = wave()
    kept = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    assert SpectralMixtureKernel.from_data(X, y, 2) == SpectralMixtureKernel.from_data(X.tolist(), y.tolist(), 2)
    assert_array_equal(X, kept[0])
    assert_array_equal(y, kept[1])


def test_carbon_dioxide_is_fitted_to_the_bar():
    X, y = load_co2(monthly=True, return_X_y=True)
    X, y = X[:200], y[:200]
    x = X[:, 0] - X.mean()
    y = y - np.polyval(np.polyfit(x, y, 3), x)
    kernel = SpectralMixtureKernel.from_data(X, y, 3) + WhiteKernel()
    gp = GaussianProcessRegressor(kernel, alpha=0)
    with pytest.warns(ConvergenceWarning, match="sigmas is close to the specified lower bound"):
        gp.fit(X, y)  # the half-yearly wave never loses its phase
    assert -gp.log_marginal_likelihood_value_ <= 70.0
    # a year, half a year, and four years, which has a width; the record has 17 years
    assert_allclose(np.sort(np.abs(gp.kernel_.k1.spectrum.means[:, 0])), [0.25, 1.0, 2.0], atol=0.02)


def test_waves_aslant_are_found_and_fitted_and_the_product_form_cannot():
    """In the product every pair of frequencies is there with both signs: 4 (d = 2, Q = 2) times as many waves."""
    X, y = oblique(100)
    second = np.array([0.5, 1.0])
    y = y + np.sin(2 * np.pi * X @ second)
    kernels = [SpectralMixtureKernel.from_data(X, y, 2, form=form, trend=0) for form in ("mixture", "product")]
    assert_allclose(np.sort(kernels[0].spectrum.means, axis=0), [[0.5, -0.75], [1.0, 1.0]], atol=0.03)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # waves without end
        fits = [
            GaussianProcessRegressor(k + WhiteKernel(0.01), alpha=0, optimizer=few_steps).fit(X, y) for k in kernels
        ]
    likelihoods = [gp.log_marginal_likelihood_value_ for gp in fits]
    assert likelihoods[0] > likelihoods[1] + 15
    means = fits[0].kernel_.k1.spectrum.means
    assert_allclose(means[np.argsort(means[:, 0])], [[0.5, 1.0], [1.0, -0.75]], atol=0.01)
    assert (fits[1].kernel_.k1.spectrum.parts[1].part.means != kernels[1].spectrum.parts[1].part.means).all()


def few_steps(objective, theta, bounds):
    done = optimize.minimize(objective, theta, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 40})
    return done.x, done.fun


def test_the_product_form_is_the_product_over_columns_with_the_same_mass():
    X, y = oblique()
    found = spectral_components(X, y, 2).mixture()
    kernel = SpectralMixtureKernel.from_data(X, y, 2, form="product")
    assert kernel.spectrum.mass == pytest.approx(found.mass, rel=1e-14)
    shares = found.weights / found.weights.sum()
    marginals = [SpectralMixture(shares, found.means[:, p], found.sigmas[:, p]).gram(X[:, p : p + 1]) for p in range(2)]
    assert_allclose(kernel(X), found.mass * marginals[0] * marginals[1], rtol=0, atol=1e-13)
    x, y = wave()
    assert SpectralMixtureKernel.from_data(x, y, 2, form="product") == SpectralMixtureKernel.from_data(x, y, 2)


# -- bounds and scales -------------------------------------------------------------------------------------------------

GRID = np.stack(np.meshgrid(np.linspace(0, 10, 21), np.linspace(0, 1, 11)), -1).reshape(-1, 2)
HIGHEST = np.array([1.0, 5.0])  # half of one over the gaps
LONGEST = 1 / np.array([10.0, 1.0])
VALUES = np.cos(2 * np.pi * GRID @ [0.3, -2.0])

MEASURES = [
    mixture(3),
    SpectralMixture([1e9, 1e-12], [[1e3, 0.0], [-1e3, -1e-9]], [[1e-9, 1e9], [0.1, 0.1]]),
    2.0 * (Gaussian(0.1) + Matern([0.1, 1e-9], nu=1.5)),
    Periodic(frequency=0.2, sigma=0.3).on([1]) * mixture(2, 1).on([0]) + Atomic([[1.0, -1.0]], [0.3]),
]


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_bounds_contain_the_start(measure):
    bounds = search_bounds(measure, GRID, VALUES)
    for p in measure.parameters():
        if p.name in bounds:
            low, high = bounds[p.name].T
            assert ((low < np.ravel(p.value)) & (np.ravel(p.value) < high)).all()
            assert np.shape(bounds[p.name]) == (p.size, 2)
    kernel = SpectralKernel(measure, bounds, search_scales(measure, GRID))
    assert (kernel.bounds[:, 0] < kernel.theta).all()
    assert (kernel.theta < kernel.bounds[:, 1]).all()


def test_bounds_and_scales_are_those_of_each_column():
    measure = SpectralMixture([0.5, 0.5], [[0.1, 0.2], [0.3, -0.4]], [[0.1, 0.2], [0.3, 0.4]])
    bounds = search_bounds(measure, GRID, VALUES)
    assert_allclose(bounds["means"], np.tile(np.column_stack([-HIGHEST, HIGHEST]), (2, 1)), rtol=1e-12)
    assert_allclose(bounds["sigmas"], np.tile(np.column_stack([1e-3 * LONGEST, HIGHEST]), (2, 1)), rtol=1e-12)
    assert_allclose(bounds["weights"], [np.array([1e-6, 1e2]) * VALUES.var()] * 2, rtol=1e-12)
    assert_allclose(search_scales(measure, GRID)["means"], np.tile(0.2 * LONGEST, 2), rtol=1e-12)
    assert "weights" not in search_bounds(measure, GRID)
    assert "weights" not in search_bounds(measure, GRID, np.ones(len(GRID)))
    two = search_bounds(measure, GRID, np.column_stack([VALUES, 3 * VALUES]))
    assert_allclose(two["weights"], 5 * bounds["weights"], rtol=1e-12)  # the mean of 1 and 9


def test_a_column_group_has_the_bounds_of_its_columns_whatever_the_number_of_components():
    """Two components in one column of two are not one component in two columns."""
    part = SpectralMixture([0.5, 0.5], [0.1, 0.2], [0.1, 0.2])
    for measure, column in ((part.on([1]), 1), (part.on([0]) * Gaussian(0.1).on([1]), 0)):
        bounds, scales = search_bounds(measure, GRID), search_scales(measure, GRID)
        (name,) = scales
        assert_allclose(bounds[name], [[-HIGHEST[column], HIGHEST[column]]] * 2, rtol=1e-12)
        assert_allclose(scales[name], [0.2 * LONGEST[column]] * 2, rtol=1e-12)
    turned = search_bounds(Gaussian([0.1, 0.2]).on([1, 0]), GRID)["sigma"]
    assert_allclose(turned, np.column_stack([1e-3 * LONGEST, HIGHEST])[::-1], rtol=1e-12)


def test_one_number_for_several_columns_has_the_widest_bounds_of_those_that_vary():
    expected = [[1e-3 * LONGEST.min(), HIGHEST.max()]]
    assert_allclose(search_bounds(Gaussian(0.1), GRID)["sigma"], expected, rtol=1e-12)
    constant = np.column_stack([GRID, np.full(len(GRID), 4.0)])
    assert_allclose(search_bounds(Gaussian(0.1), constant)["sigma"], expected, rtol=1e-12)
    assert_allclose(search_bounds(Gaussian(0.1).on([2]), constant)["sigma"], [[1e-8, 1e5]], rtol=1e-12)
    each = search_bounds(Gaussian([0.1, 0.1, 0.1]), constant)["sigma"]
    assert_allclose(each[:2], search_bounds(Gaussian([0.1, 0.1]), GRID)["sigma"], rtol=1e-12)
    assert np.isfinite(each).all()


def test_bounds_of_weights_are_about_the_variance_of_what_they_multiply():
    plain = np.array([1e-6, 1e2]) * VALUES.var()
    one, other = SpectralMixture([1.5], [0.1], [0.1]), SpectralMixture([4.0], [0.2], [0.1])
    for measure, expected in (
        (one.on([0]) + other.on([1]), {"0__weights": 1, "1__weights": 1}),
        (one.on([0]) * other.on([1]), {"0__weights": 4, "1__weights": 1.5}),
        (2.0 * (one.on([0]) * other.on([1])), {"factor": 6, "0__weights": 8, "1__weights": 3}),
        (2.0 * Gaussian(0.1), {"factor": 1}),
    ):
        bounds = search_bounds(measure, GRID, VALUES)
        for name, rest in expected.items():
            assert_allclose(bounds[name], [plain / rest], rtol=1e-9)


def test_bounds_follow_the_units():
    a, b = np.array([0.125, 64.0]), 1024.0
    measure = SpectralMixture([0.5, 0.4], [[0.1, 0.2], [0.3, -0.4]], [[0.1, 0.2], [0.3, 0.4]])
    moved = SpectralMixture(measure.weights, measure.means / a, measure.sigmas / a)
    bounds = search_bounds(measure, GRID, VALUES)
    other = search_bounds(moved.replace(weights=np.multiply(measure.weights, b**2)), GRID * a + 3.0, VALUES * b - 7.0)
    units = np.tile(1 / a, 2)[:, None]
    assert_allclose(other["means"], bounds["means"] * units, rtol=1e-9)
    assert_allclose(other["sigmas"], bounds["sigmas"] * units, rtol=1e-9)
    assert_allclose(other["weights"], bounds["weights"] * b**2, rtol=1e-9)
    assert_allclose(search_scales(moved, GRID * a)["means"], search_scales(measure, GRID)["means"] * units[:, 0])


def test_measures_and_data_that_do_not_fit_have_no_bounds():
    with pytest.raises(ValueError, match="describes 2"):
        search_bounds(mixture(2), GRID[:, :1])
    with pytest.raises(ValueError, match="needs at least 4 columns"):
        search_scales(mixture(2, 1).on([3]), GRID)
    with pytest.raises(ValueError, match="y has NaN"):
        search_bounds(mixture(2), GRID, np.where(np.arange(len(GRID)) == 0, np.nan, VALUES))
    with pytest.raises(spectralkit.TemplateError):
        search_bounds(SpectralMixture(n_mixtures=2), GRID)


# -- the table ---------------------------------------------------------------------------------------------------------


def test_the_table_of_one_column():
    table = SpectralMixtureKernel(
        SpectralMixture([1.0, 3.0, 4.0], [0.5, -0.25, 0.0], [0.01, 0.02, 0.3])
    ).component_table()
    assert list(table) == ["weight", "share", "frequency", "period", "sigma"]
    expected = [[4, 3, 1], [0.5, 0.375, 0.125], [0, 0.25, 0.5], [np.inf, 4, 2], [0.3, 0.02, 0.01]]
    for values, numbers in zip(table.values(), expected, strict=True):
        assert_allclose(values, numbers, rtol=1e-15)
    frame = pd.DataFrame(table)
    assert frame.shape == (3, 5)
    assert frame["share"].sum() == pytest.approx(1)


def test_the_table_of_two_columns():
    measure = SpectralMixture([1.0, 2.0, 3.0], [[-0.3, 0.4], [0.0, -2.0], [3.0, -4.0]], [[1, 2], [3, 4], [5, 6]])
    frame = pd.DataFrame(SpectralMixtureKernel(measure).component_table())
    assert list(frame) == ["weight", "share", "frequency_0", "frequency_1", "period", "sigma_0", "sigma_1"]
    assert_allclose(frame[["frequency_0", "frequency_1"]], [[3, -4], [0, 2], [0.3, -0.4]])  # first of all positive
    assert_allclose(frame["period"], [0.2, 0.5, 2])
    assert_allclose(frame[["sigma_0", "sigma_1"]], [[5, 6], [3, 4], [1, 2]])
    assert frame["share"].sum() == pytest.approx(1)
    again = SpectralMixture(
        frame["weight"].to_numpy(),
        frame[["frequency_0", "frequency_1"]].to_numpy(),
        frame[["sigma_0", "sigma_1"]].to_numpy(),
    )
    X = points(10, 2)
    assert_allclose(again.gram(X), measure.gram(X), rtol=0, atol=1e-13)


def test_the_table_of_a_product_over_columns():
    kernel = SpectralMixtureKernel.from_data(*oblique(), 2, form="product")
    frame = pd.DataFrame(kernel.component_table())
    assert list(frame) == ["column", "weight", "share", "frequency", "period", "sigma"]
    assert frame["column"].tolist() == [0, 0, 1, 1]
    assert_allclose(frame.groupby("column")["share"].sum(), 1.0)
    assert_allclose(frame.groupby("column")["weight"].sum().prod(), kernel.spectrum.mass)
    assert_allclose(frame.loc[frame["column"] == 1, "sigma"], kernel.spectrum.parts[1].part.sigmas)
    turned = SpectralMixture([1.0], [0.5], [0.1]).on([1]) * SpectralMixture([2.0], [0.25], [0.2]).on([0])
    assert_allclose(SpectralMixtureKernel(turned).component_table()["frequency"], [0.25, 0.5])


@pytest.mark.parametrize(
    "measure",
    [
        Gaussian(0.1),
        2.0 * mixture(2, 1),
        mixture(2, 1).on([0]) + mixture(2, 1).on([1]),
        mixture(2, 1).on([0]) * Gaussian(0.1).on([1]),
        2.0 * mixture(2, 1).on([0]),
    ],
    ids=repr,
)
def test_other_measures_have_no_table(measure):
    with pytest.raises(TypeError, match=r"neither a spectral mixture nor a product .* Use spectrum.terms\(\)"):
        SpectralMixtureKernel(measure).component_table()


@pytest.mark.parametrize(("q", "d"), [(1, 1), (3, 1), (1, 2), (3, 2)])
def test_terms_are_the_components(q, d):
    for measure in (mixture(q, d), 2.0 * mixture(q, d), SpectralMixture([1.0] * q, [0.5] * q, [0.1] * q)):
        X = points(6, measure.dimension or measure.part.dimension)
        terms = measure.terms()
        assert len(terms) == q
        assert_allclose(sum(term.gram(X) for term in terms), measure.gram(X), rtol=0, atol=1e-13)


# -- the formulas ------------------------------------------------------------------------------------------------------


def exact(tau, weights, means, sigmas):
    """The kernel and its derivatives in the order of pack, in high precision."""
    two_pi = 2 * mp.pi
    parts = []
    for w, mean, sigma in zip(weights, means, sigmas, strict=True):
        decay = mp.exp(-(two_pi**2) / 2 * mp.fsum((mp.mpf(s) * t) ** 2 for s, t in zip(sigma, tau, strict=True)))
        angle = two_pi * mp.fsum(mp.mpf(m) * t for m, t in zip(mean, tau, strict=True))
        parts.append((mp.mpf(w) * decay * mp.cos(angle), mp.mpf(w) * decay * mp.sin(angle)))
    slopes = [k for k, _ in parts]
    slopes += [-two_pi * t * s for _, s in parts for t in tau]
    slopes += [-((two_pi * mp.mpf(s) * t) ** 2) * k for (k, _), sigma in zip(parts, sigmas, strict=True) for s, t in zip(sigma, tau, strict=True)]  # fmt: skip # noqa: E501
    return [float(v) for v in [mp.fsum(k for k, _ in parts), *slopes]]


@pytest.mark.parametrize("d", [1, 2])
def test_values_and_gradients_equal_high_precision_for_many_turns(d):
    rng = np.random.default_rng(0)
    measure = SpectralMixture([0.5, 1.2], 2000 * rng.normal(size=(2, d)), 0.02 + 0.1 * rng.random((2, d)))
    X = np.round(1024 * rng.normal(size=(7, d))) / 1024  # with a mean that is a binary fraction, lags are exact
    X[-1] -= X.sum(axis=0)
    K, G = measure.gram_gradient(X)
    for i, j in itertools.combinations(range(7), 2):
        tau = [mp.mpf(float(a)) - mp.mpf(float(b)) for a, b in zip(X[i], X[j], strict=True)]
        value, *slopes = exact(tau, measure.weights, measure.means, measure.sigmas)
        # thousands of turns, each rounded to half an eps of all of them
        turns = 2 * np.pi * np.abs(measure.means).sum(axis=1).max() * np.abs(X).max() * 2 * EPS
        assert_allclose(K[i, j], value, rtol=0, atol=2 * turns)
        assert_allclose(G[:, i, j], slopes, rtol=0, atol=2 * turns * 2 * np.pi * max(1, np.abs(X[i] - X[j]).max()) ** 2)


@pytest.mark.parametrize("n", [1, 2, 128, 129, 400])
def test_the_gradient_has_the_values_of_the_matrix_and_is_exactly_symmetric(n):
    """Rows are taken in blocks: of all, of some, with a rest, and of one."""
    measure = mixture(2, 2)
    X = 2 * points(n, 2)
    K, G = measure.gram_gradient(X)
    assert_array_equal(K, K.T)
    assert_array_equal(G, np.swapaxes(G, 1, 2))
    assert_array_equal(np.diag(K), measure.mass)
    diagonals = np.diagonal(G, axis1=1, axis2=2)
    assert_array_equal(diagonals[:2], np.repeat(measure.weights[:, None], n, axis=1))
    assert_array_equal(diagonals[2:], 0.0)
    assert_allclose(K, measure.gram(X), rtol=0, atol=1e-14)


def test_more_rows_than_a_block_holds_pairs():
    """Blocks of a single row."""
    n = 8200
    measure = SpectralMixture([0.7], [0.3], [0.05])
    X = np.random.default_rng(0).uniform(0, 30, size=(n, 1)).astype(np.float32)
    K, G = measure.gram_gradient(X, free=[False, True, False])
    assert K.dtype == G.dtype == np.float32
    some = np.array([0, 1, 17, 4096, 8191, 8199])
    small, gradient = measure.gram_gradient(X[some].astype(np.float64), free=[False, True, False])
    assert_allclose(K[np.ix_(some, some)], small, rtol=0, atol=3e-6)
    assert_allclose(G[0][np.ix_(some, some)], gradient[0], rtol=0, atol=3e-6 * 2 * np.pi * 30)
    assert (K[:, -1] == K[-1]).all()
    assert (K[4000] == K[:, 4000]).all()


def test_masks_choose_rows_of_the_gradient():
    measure = mixture(2, 2)
    X = points(10, 2)
    K, G = measure.gram_gradient(X)
    rng = np.random.default_rng(0)
    masks = [np.zeros(10, dtype=bool), np.ones(10, dtype=bool), *np.eye(10, dtype=bool), *(rng.random((10, 10)) < 0.5)]
    for free in masks:
        masked_K, masked = measure.gram_gradient(X, free=free)
        assert_array_equal(masked_K, K)
        assert_array_equal(masked, G[free])


def test_float32_is_kept_and_as_accurate_as_it_can_be():
    measure = mixture(3, 2)
    X = points(50, 2).astype(np.float32)
    K, G = measure.gram_gradient(X)
    exact_K, exact_G = measure.gram_gradient(X.astype(np.float64))
    assert K.dtype == G.dtype == np.float32
    assert_allclose(K, exact_K, rtol=0, atol=3e-6 * measure.mass)
    assert_allclose(G, exact_G, rtol=0, atol=1e-5 * np.abs(exact_G).max())
    assert_array_equal(K, K.T)
    assert_array_equal(np.diag(K), np.float32(measure.mass))


EIGHTHS = np.arange(-8, 9) / 8
NEIGHBOURS = np.concatenate([np.nextafter(EIGHTHS, -2), EIGHTHS, np.nextafter(EIGHTHS, 2), [1e-300, -1e-17, 1e-9]])


def test_cosine_and_sine_by_tangents_equal_high_precision():
    turns = np.concatenate([NEIGHBOURS, np.random.default_rng(0).uniform(-1, 1, 1000)])
    with mp.workdps(40):
        angles = [2 * mp.pi * mp.mpf(float(t)) for t in turns]
        for values, function in zip(cosine_and_sine(turns), (mp.cos, mp.sin), strict=True):
            errors = np.array([float(mp.mpf(float(v)) - function(a)) for v, a in zip(values, angles, strict=True)])
            # what pi times turns is rounded by, half an eps of it, is doubled in the angle
            assert np.abs(errors[np.abs(turns) <= 0.5]).max() <= 5e-16
            assert np.abs(errors).max() <= 8e-16
    cosine, sine = cosine_and_sine(EIGHTHS[::2])
    assert_allclose(cosine, [1, 0, -1, 0, 1, 0, -1, 0, 1], rtol=0, atol=3e-16)
    assert_allclose(sine, [0, 1, 0, -1, 0, 1, 0, -1, 0], rtol=0, atol=3e-16)
    single = cosine_and_sine(turns.astype(np.float32))
    assert all(values.dtype == np.float32 for values in single)
    for values, expected in zip(single, cosine_and_sine(turns.astype(np.float32).astype(float)), strict=True):
        assert_allclose(values, expected, rtol=0, atol=6e-7)


def test_cosine_and_sine_have_derivatives_on_torch_at_every_eighth():
    torch = pytest.importorskip("torch")
    turns = torch.tensor(NEIGHBOURS, requires_grad=True)
    values = cosine_and_sine(turns)
    for value, sign, other in zip(values, (-1, 1), values[::-1], strict=True):
        (slope,) = torch.autograd.grad(value.sum(), turns, create_graph=True)
        assert_allclose(slope.detach(), sign * 2 * math.pi * other.detach(), rtol=0, atol=1e-14)
        (curvature,) = torch.autograd.grad(slope.sum(), turns, retain_graph=True)
        assert_allclose(curvature, -((2 * math.pi) ** 2) * value.detach(), rtol=0, atol=1e-13)
    for value, plain in zip(values, cosine_and_sine(NEIGHBOURS), strict=True):
        assert_allclose(value.detach(), plain, rtol=0, atol=1e-15)
