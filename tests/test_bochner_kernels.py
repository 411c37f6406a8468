"""The sampled kernel for scikit-learn: its error, its derivatives, and that it is one fixed draw."""

import itertools
import math
import pickle

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel

import spectralkit
from spectralkit import (
    Atomic,
    BandLimited,
    BochnerKernel,
    CapabilityError,
    Gaussian,
    Ladder,
    Laplacian,
    Matern,
    Periodic,
    RationalQuadratic,
    SpectralKernel,
    SpectralMixture,
    TemplateError,
)
from spectralkit.kernels._sample import Sample
from spectralkit.maps import fourier
from spectralkit.rules import Gauss, nodes


def points(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def mixture(d, seed=0):
    rng = np.random.default_rng([seed, d])
    return SpectralMixture([0.5, 1.2], 0.5 * rng.normal(size=(2, d)), 0.1 + 0.2 * rng.random((2, d)))


def families(d):
    """Every family that is no sum, by name."""
    ard = np.linspace(0.1, 0.3, d)
    return {
        "gaussian": Gaussian(0.3),
        "gaussian per column": Gaussian(ard),
        "matern": Matern(ard, nu=1.5),
        "matern of any order": Matern(0.3, nu=2.2),
        "rational quadratic": RationalQuadratic(0.3, alpha=0.7),
        "rational quadratic, small alpha": RationalQuadratic(ard, alpha=0.08),
        "laplacian": Laplacian(0.1),
        "band-limited": BandLimited(0.3),
        "multiple": 2.5 * Gaussian(ard),
        "one component": SpectralMixture([0.7], [np.full(d, 0.4)], [ard]),
        "product": Matern(0.1, nu=2.5) * Gaussian(ard),
        "columns": Matern([0.2], nu=0.5).on([d - 1]),
    }


def sums(d):
    """What is drawn in parts, and what has atoms."""
    return {
        "mixture": mixture(d),
        "sum": 0.7 * Gaussian(np.linspace(0.1, 0.3, d)) + Matern(0.2, nu=2.5) + mixture(d, 1),
        "product of sums": 1.5 * (mixture(d) * (Gaussian(0.1) + 0.3 * Matern(0.2, nu=1.5))),
        "atoms": Atomic(0.5 * np.random.default_rng(d).normal(size=(3, d)), [0.3, 0.2, 0.1]),
        "equal atoms": Atomic(0.5 * np.random.default_rng(d).normal(size=(3, d))),
        "ladder": Ladder([0.2, 0.5]),
        "harmonics": Periodic(0.5, 0.3).on([0]),
        "atoms and more": Gaussian(0.2) + Periodic(0.5, 0.3).on([d - 1]) + 0.5 * Ladder([0.3, 0.7]),
    }


ALL = {d: families(d) | sums(d) for d in (1, 2, 3)}
each_measure = pytest.mark.parametrize("name", ALL[2])
each_dimension = pytest.mark.parametrize("d", [1, 2, 3])


def slopes_of(kernel, d):
    return kernel._sample().slopes(kernel.spectrum, d, np.ones(kernel.spectrum.pack().size, dtype=bool))


def matrix_from(nodes_, X):
    tau = X[:, None] - X
    return np.cos(2 * math.pi * tau @ nodes_.frequencies.T) @ nodes_.weights


def differences(kernel, X, step=1e-4):
    """K to theta over five points; the error of K divided by the step, and step**4 times a fifth derivative."""
    slopes = []
    for e in step * np.eye(kernel.n_dims):
        up, down, two_up, two_down = (kernel.clone_with_theta(kernel.theta + k * e)(X) for k in (1, -1, 2, -2))
        slopes.append((8 * (up - down) - (two_up - two_down)) / (12 * step))
    return np.stack(slopes, axis=-1)


# -- what it approximates ----------------------------------------------------------------------------------------------

TAU = np.array([[0.7, -0.4], [0.2, 1.1], [2.0, 1.5]])


def squared_errors(measure, rule, width, seeds):
    """Per seed, the mean square over the lags of the error in units of its standard error, for independent draws."""
    parts = measure.terms()
    count = width // 2 // len(parts)
    variance = sum(
        ((p.mass**2 + p.mass * p.characteristic(2 * TAU)) / 2 - p.characteristic(TAU) ** 2) / count for p in parts
    )
    exact = measure.characteristic(TAU)
    errors = []
    for seed in seeds:
        drawn = BochnerKernel(measure, width, rule=rule, seed=seed).nodes(2)
        errors.append(np.cos(2 * math.pi * TAU @ drawn.frequencies.T) @ drawn.weights - exact)
    return np.array(errors), variance


@pytest.mark.parametrize("measure", [1.5 * Gaussian([0.2, 0.3]), mixture(2), Matern(0.2, nu=1.5) + 0.1 * mixture(2)])
def test_the_error_of_independent_draws_is_the_closed_form(measure):
    errors, variance = squared_errors(measure, "iid", 60, range(400))
    assert (np.abs(errors.mean(axis=0)) <= 4 * np.sqrt(variance / 400)).all()  # unbiased, whatever the weights
    ratio = (errors**2).mean(axis=0) / variance
    error_of_ratio = (errors**2).std(axis=0) / variance / math.sqrt(400)
    assert (np.abs(ratio - 1) <= 3 * error_of_ratio).all()


def test_quasi_random_draws_converge_faster():
    measure = 1.5 * Gaussian([0.2, 0.3])
    for width, factor in ((64, 1.2), (1024, 19)):  # in squares; the gain grows like the width
        errors, variance = squared_errors(measure, "qmc", width, range(60))
        assert ((errors**2).mean(axis=0) < variance / factor).all()


@each_dimension
@pytest.mark.parametrize("name", families(2))
def test_what_is_no_sum_has_the_nodes_of_the_rules(name, d):
    measure = families(d)[name]
    for width, seed in ((32, 0), (17, 5)):
        kernel = BochnerKernel(measure, width, seed=seed)
        expected = nodes(measure, width, d, "auto", seed)
        X = points(6, d)
        assert_array_equal(kernel.nodes(d).frequencies, expected.frequencies)
        assert_array_equal(kernel.features(X), fourier(X, expected))
        assert_allclose(kernel(X), kernel.features(X) @ kernel.features(X).T, rtol=0, atol=1e-13 * measure.mass)


@each_dimension
@pytest.mark.parametrize("name", ["atoms", "equal atoms", "ladder", "harmonics"])
def test_atoms_make_it_exact(name, d):
    measure = sums(d)[name]
    X, Y = points(6, d), points(4, d, seed=1)
    for width in (64, None):
        kernel = BochnerKernel(measure, width)
        assert_allclose(kernel(X), SpectralKernel(measure)(X), rtol=0, atol=1e-13)
        assert_allclose(kernel(X, Y), SpectralKernel(measure)(X, Y), rtol=0, atol=1e-13)
        assert kernel.features(X).shape[1] < 64


def test_the_heaviest_atoms_count_where_not_all_have_room():
    kernel = BochnerKernel(Atomic([1.0, 2.0, 3.0], [0.2, 0.5, 0.3]), 4)
    assert_array_equal(kernel.nodes(1).frequencies, [[2.0], [3.0]])
    assert_allclose(kernel.diag(points(2, 1)), 0.8, rtol=1e-15)
    assert_array_equal(np.diag(kernel(points(2, 1))), kernel.diag(points(2, 1)))


def test_parts_of_a_sum_have_equal_widths_and_draws_of_their_own():
    measure = 100.0 * Gaussian(0.1) + Gaussian(0.1) + Atomic([[1.0]])
    drawn = BochnerKernel(measure, 23).nodes(1)
    assert_array_equal(drawn.frequencies[0], [1.0])
    assert_allclose(drawn.weights[0], 1.0)
    heavy, light = drawn.frequencies[1:6], drawn.frequencies[6:]
    assert len(light) == 6  # the odd column is the last of the last part
    assert drawn.phase is not None
    assert_allclose([drawn.weights[1:6].sum(), drawn.weights[6:].sum()], [100.0, 1.0], rtol=1e-14)
    assert not np.isin(heavy, light).any()
    assert not np.isin(heavy, BochnerKernel(measure, 23, seed=1).nodes(1).frequencies).any()


# -- values ------------------------------------------------------------------------------------------------------------


@each_measure
@pytest.mark.parametrize("width", [40, 41])
def test_matrix_is_fresh_exactly_symmetric_and_has_its_diagonal(name, width):
    measure = ALL[2][name]
    kernel = BochnerKernel(measure, width)
    X = points(25, 2)
    K, gradient = kernel(X, eval_gradient=True)
    K += 1.0
    K = kernel(X)
    assert_array_equal(K, kernel(X, eval_gradient=True)[0])
    assert_array_equal(K, K.T)
    assert_array_equal(gradient, np.swapaxes(gradient, 0, 1))
    assert_array_equal(np.diag(K), kernel.diag(X))
    if width % 2 == 0:
        assert_array_equal(kernel.diag(X), float(measure.mass))
        assert_allclose(K, matrix_from(kernel.nodes(2), X), rtol=0, atol=1e-13 * measure.mass)
    assert_allclose(kernel(X[:10], X[10:]), K[:10, 10:], rtol=0, atol=1e-13 * measure.mass)
    assert kernel(X[:1]).shape == (1, 1)
    assert np.linalg.eigvalsh(K)[0] >= -1e-13 * np.trace(K)


def test_far_from_the_origin_it_is_as_accurate_as_the_lags_are():
    """Unix seconds: the shift is a whole number, and changes no lag."""
    kernel = BochnerKernel(Gaussian(1e-3), 64)
    X = 1000.0 * np.arange(12.0)[:, None]
    K, gradient = kernel(X, eval_gradient=True)
    far_K, far_gradient = kernel(X + 2.0**31, eval_gradient=True)
    assert_allclose(far_K, K, rtol=0, atol=1e-12)
    assert_allclose(far_gradient, gradient, rtol=0, atol=1e-11 * np.abs(gradient).max())
    assert_allclose(kernel(X + 2.0**31, X[:3] + 2.0**31), K[:, :3], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("width", "stationary"), [(40, True), (41, False), (None, True)])
def test_only_pairs_of_columns_are_stationary(width, stationary):
    kernel = BochnerKernel(Gaussian(0.3), width)
    X = points(5, 1)
    assert kernel.is_stationary() is stationary
    assert np.allclose(kernel(X + 1.0), kernel(X), rtol=0, atol=1e-12) is stationary


# -- derivatives -------------------------------------------------------------------------------------------------------


@each_dimension
@pytest.mark.parametrize("name", ["gaussian", "matern of any order", "rational quadratic", "laplacian", "band-limited"])
def test_frequencies_are_proportional_to_sigma(name, d):
    """The derivative to log(sigma) is the frequency itself, for heavy tails too."""
    kernel = BochnerKernel(families(d)[name], 128, rule="iid")
    drawn = kernel.nodes(d)
    to_frequencies, to_weights = slopes_of(kernel, d)
    assert_allclose(to_frequencies[0], drawn.frequencies, rtol=1e-11)
    assert_array_equal(to_weights, 0)


@each_dimension
@pytest.mark.parametrize("offset", [0.0, 1e-9, 1e6])
def test_frequencies_of_a_component_are_linear_in_its_mean(d, offset):
    measure = SpectralMixture([0.7, 0.4], np.full((2, d), offset), [[0.1] * d, [20.0] * d])
    kernel = BochnerKernel(measure, 32)
    to_frequencies, to_weights = slopes_of(kernel, d)
    first = to_frequencies[2 : 2 + d]  # to the means of component 0
    sign = np.sign(first[0, :8, 0])
    expected = np.zeros_like(first)
    for j in range(d):
        expected[j, :8, j] = sign
    assert_allclose(first, expected, rtol=0, atol=1e-9)
    assert set(sign) == {-1.0, 1.0}
    assert_allclose(to_weights[:2], [[0.7 / 8] * 8 + [0] * 8, [0] * 8 + [0.4 / 8] * 8], rtol=1e-11)
    assert_array_equal(to_frequencies[:2], 0)
    assert_array_equal(to_weights[2:], 0)


@pytest.mark.parametrize("alpha", [0.08, 0.7, 30.0])
def test_shape_parameter_moves_the_quantiles_as_high_precision_says(alpha):
    """The length is sqrt(g(u) / alpha) times that of a Gaussian, with P(alpha, g(u)) = u: implicit differentiation."""
    seen = []

    class Recorder(RationalQuadratic):
        def _transport(self, u, d):
            seen.append(u[:, -1])  # the last uniform number of each node chooses its width
            return super()._transport(u, d)

    kernel = BochnerKernel(Recorder(0.3, alpha=alpha), 12)
    relative = slopes_of(kernel, 2)[0][1] / kernel.nodes(2).frequencies
    assert_allclose(relative[:, 0], relative[:, 1], rtol=1e-8)  # the direction stays
    for got, u in zip(relative[:, 0], seen[0], strict=True):
        g = mp.mpf(special.gammaincinv(alpha, u))
        to_alpha = mp.diff(lambda a, g=g: mp.gammainc(a, 0, g, regularized=True), alpha)
        density = mp.power(g, alpha - 1) * mp.exp(-g) / mp.gamma(alpha)
        assert_allclose(got, float(alpha * (-to_alpha / density / g - mp.mpf(1) / alpha) / 2), rtol=1e-8, atol=1e-9)


@each_dimension
@each_measure
@pytest.mark.parametrize("width", [40, 41])
def test_gradient_equals_differences(name, d, width):
    kernel = BochnerKernel(ALL[d][name], width, seed=2)
    X = 0.7 * points(7, d) + 3.0
    X[2] = X[5]
    gradient = kernel(X, eval_gradient=True)[1]
    # heavy tails: the fifth derivative has the fifth power of the largest phase
    atol = 1e-5 if name in ("laplacian", "columns") else 1e-8
    assert_allclose(gradient, differences(kernel, X), rtol=0, atol=atol * max(1.0, np.abs(gradient).max()))


@pytest.mark.parametrize("rule", ["iid", "orthogonal", "simplex", "hadamard", "gauss"])
def test_gradient_equals_differences_for_every_rule(rule):
    for measure in (2.0 * Gaussian([0.2, 0.3]), *([mixture(2)] if rule in ("iid", "orthogonal") else [])):
        kernel = BochnerKernel(measure, 36, rule=rule, seed=2)
        gradient = kernel(points(7, 2), eval_gradient=True)[1]
        assert_allclose(gradient, differences(kernel, points(7, 2)), rtol=0, atol=1e-8)


NAMES = ("0__factor", "0__sigma", "1__weights", "1__means", "1__sigmas")


@pytest.mark.parametrize("fixed", [names for r in range(6) for names in itertools.combinations(NAMES, r)])
def test_fixed_parameters_have_no_place_in_the_gradient(fixed):
    measure = 1.3 * Gaussian([0.2, 0.3]) + mixture(2)
    everything = BochnerKernel(measure, 36)
    kernel = BochnerKernel(measure, 36, parameter_bounds=dict.fromkeys(fixed, "fixed"))
    reference = SpectralKernel(measure, dict.fromkeys(fixed, "fixed"))
    assert_array_equal(kernel.theta, reference.theta)
    assert_array_equal(kernel.bounds, reference.bounds)
    assert kernel.hyperparameters == reference.hyperparameters
    free = kernel._free()
    X = points(6, 2)
    gradient = kernel(X, eval_gradient=True)[1]
    assert gradient.shape == (6, 6, kernel.n_dims)
    assert_array_equal(gradient, everything(X, eval_gradient=True)[1][..., free])


def test_no_node_changes_its_component_when_weights_change():
    """A draw shared out by weight would jump: here a path from one component to the other is followed closely."""
    X = points(8, 1)
    kernel = BochnerKernel(SpectralMixture([1.0, 1.0], [0.3, 1.0], [0.1, 0.1]), 20)
    frequencies = kernel.nodes(1).frequencies
    step = 0.05
    for ratio in np.arange(-6, 6, step):
        theta = kernel.theta.copy()
        theta[:2] = [ratio / 2, -ratio / 2]
        at = kernel.clone_with_theta(theta)
        theta[:2] += [step / 2, -step / 2]
        after = kernel.clone_with_theta(theta)
        assert_allclose(at.nodes(1).frequencies, frequencies, rtol=1e-14)
        # to second order: the sum of the weights is a bound on the second derivative
        assert np.abs(after(X) - at(X)).max() <= step / 2 * at.diag(X)[0] * (1 + step)


# -- scikit-learn's machinery ------------------------------------------------------------------------------------------

KERNELS = [
    BochnerKernel(Gaussian(0.3)),
    BochnerKernel(mixture(2), 31, rule="iid", seed=7),
    BochnerKernel(0.7 * Gaussian(0.3) + Matern(0.2, nu=2.5).on([1]), 64, parameter_bounds={"1__sigma": (0.1, 3.0)}),
    BochnerKernel(3.0 * Gaussian(0.3), parameter_bounds="fixed"),
    BochnerKernel(Ladder([0.5, 1.0]), None),
    BochnerKernel(Gaussian(0.3), 16, rule=Gauss()),
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


@each_kernel
def test_clones_pickles_and_calls_agree(kernel):
    X = points(6, 2)
    K = kernel(X)
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel)), kernel):
        assert type(copy) is BochnerKernel
        assert copy == kernel
        assert_array_equal(copy(X), K)
    assert_allclose(kernel.clone_with_theta(kernel.theta)(X), K, rtol=0, atol=1e-13 * K[0, 0])


@each_kernel
def test_equality_and_repr(kernel):
    assert eval(repr(kernel), {**vars(spectralkit), "Gauss": Gauss}) == kernel
    changes = {
        "n_components": 8, "rule": "simplex", "seed": 1, "parameter_bounds": {}, "parameter_scales": {},
        "spectrum": Gaussian(0.4),
    }  # fmt: skip
    for name, value in changes.items():
        assert clone(kernel).set_params(**{name: value}) != kernel
    assert kernel != SpectralKernel(kernel.spectrum, kernel.parameter_bounds)
    assert set(kernel.get_params(deep=False)) == set(changes)


def test_repr_shows_what_is_not_the_default():
    assert repr(KERNELS[0]) == "BochnerKernel(Gaussian(sigma=0.3))"
    assert repr(BochnerKernel(Gaussian(0.3), 8, seed=2)) == "BochnerKernel(Gaussian(sigma=0.3), n_components=8, seed=2)"


def test_other_seeds_are_other_kernels_and_other_scales_the_same_draw():
    X = points(6, 2)
    kernel = BochnerKernel(Gaussian([0.1, 0.2]), 16)
    assert np.abs(kernel(X) - BochnerKernel(Gaussian([0.1, 0.2]), 16, seed=1)(X)).max() > 1e-3
    twice = kernel.clone_with_theta(kernel.theta + math.log(2))
    assert_allclose(twice(X / 2), kernel(X), rtol=0, atol=1e-14)


def test_sums_products_and_powers_with_other_kernels():
    X = points(9, 2)
    kernel = 2.0 * BochnerKernel(Gaussian([0.2, 0.3]), 32) ** 2 + WhiteKernel(0.1) * SpectralKernel(Gaussian(0.1))
    K = BochnerKernel(Gaussian([0.2, 0.3]), 32)(X)
    assert_allclose(kernel(X), 2 * K**2 + 0.1 * np.eye(9), rtol=0, atol=1e-14)
    assert_allclose(kernel(X, eval_gradient=True)[1], differences(kernel, X), rtol=0, atol=1e-9)
    assert clone(kernel) == kernel


@pytest.fixture(scope="module")
def series():
    X = np.linspace(0, 4, 60)[:, None]
    return X, np.sin(2 * np.pi * 0.6 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=60)


def test_fits_with_restarts_as_the_exact_kernel_does(series):
    """With Gauss nodes, which are exact to rounding for lags up to those of the data."""
    X, y = series
    bounds = {"factor": (0.1, 10.0), "sigma": (0.05, 3.0)}
    fits = [
        GaussianProcessRegressor(k + WhiteKernel(0.1, (1e-3, 1.0)), n_restarts_optimizer=1, random_state=0).fit(X, y)
        for k in (
            BochnerKernel(1.0 * Gaussian(0.5), 128, rule="gauss", parameter_bounds=bounds),
            SpectralKernel(1.0 * Gaussian(0.5), bounds),
        )
    ]
    # the search stops where the likelihood is flat to 1e-8; parameters are known to the root of that
    assert_allclose(*(gp.log_marginal_likelihood_value_ for gp in fits), rtol=0, atol=1e-6)
    assert_allclose(*(gp.kernel_.theta for gp in fits), rtol=0, atol=1e-3)
    targets = np.linspace(0.5, 4, 20)[:, None]
    (mean, std), (exact_mean, exact_std) = (gp.predict(targets, return_std=True) for gp in fits)
    assert_allclose(mean, exact_mean, rtol=0, atol=1e-3)
    assert_allclose(std, exact_std, rtol=0, atol=1e-3)
    assert_allclose(std, np.sqrt(np.diag(fits[0].predict(targets, return_cov=True)[1])), rtol=1e-6)
    assert fits[0].kernel.k1.spectrum == 1.0 * Gaussian(0.5)


def test_likelihood_has_the_gradient_that_the_optimiser_is_given(series):
    X, y = series
    kernel = BochnerKernel(SpectralMixture([0.6, 0.3], [0.5, 1.0], [0.1, 0.2]), 80) + WhiteKernel(0.1)
    gp = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)
    _, gradient = gp.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    for i, e in enumerate(1e-5 * np.eye(kernel.n_dims)):
        up, down = (gp.log_marginal_likelihood(kernel.theta + s * e) for s in (1, -1))
        assert_allclose(gradient[i], (up - down) / 2e-5, rtol=1e-6, atol=1e-5)


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (BochnerKernel("gaussian"), TypeError, "BochnerKernel: spectrum must be a spectral measure, got 'gaussian'"),
        (BochnerKernel(Gaussian()), TemplateError, "is a template: it has no sigma yet"),
        (BochnerKernel(Gaussian(0.1), 0), ValueError, "n_components must be an integer of at least 1, got 0"),
        (BochnerKernel(Gaussian(0.1), 2.5), ValueError, "n_components must be an integer of at least 1, got 2.5"),
        (BochnerKernel(mixture(2), 2.5), ValueError, "n_components must be an integer of at least 1, got 2.5"),
        (BochnerKernel(Gaussian(0.1), seed=-1), ValueError, "seed must be an integer of at least 0, got -1"),
        (BochnerKernel(mixture(2), seed=0.5), ValueError, "seed must be an integer of at least 0, got 0.5"),
        (BochnerKernel(Gaussian(0.1), rule="best"), ValueError, "rule must be 'auto', one of"),
        (BochnerKernel(mixture(2), 3), ValueError, r"sum of 2 parts, which take at least 4 components together.*=3"),
        (BochnerKernel(Gaussian([0.1] * 3)), ValueError, r"describes 3 column\(s\), but the points have 2"),
        (BochnerKernel(Laplacian(0.1), rule="orthogonal"), CapabilityError, "has no polar"),
        (BochnerKernel(Gaussian(0.1), rule="grid"), ValueError, "needs a domain"),
    ],
    ids=lambda value: repr(value) if isinstance(value, BochnerKernel) else None,
)
def test_what_cannot_be_sampled_is_refused_when_used(kernel, error, message):
    for use in (lambda: kernel(points(3, 2)), lambda: kernel.diag(points(3, 2)), lambda: kernel.features(points(3, 2))):
        with pytest.raises(error, match=message):
            use()


def test_nodes_that_come_and_go_have_no_derivative():
    class Fickle(Gauss):
        def _nodes(self, measure, n_components, d, seed):
            chosen = super()._nodes(measure, n_components, d, seed)
            return chosen if measure.sigma <= 0.3 else nodes(measure, 2, d)

    kernel = BochnerKernel(Gaussian(0.3), 8, rule=Fickle())
    kernel(points(3, 1))
    with pytest.raises(ValueError, match=r"takes another number of nodes .* so that the kernel has no gradient"):
        kernel(points(3, 1), eval_gradient=True)


def test_gradient_with_other_points_is_refused():
    with pytest.raises(ValueError, match="Gradient can only be evaluated when Y is None"):
        BochnerKernel(Gaussian(0.1))(points(3, 1), points(3, 1), eval_gradient=True)


def test_a_sample_is_the_same_for_both_libraries():
    assert BochnerKernel(Gaussian(0.1), 8, "iid", 3)._sample() == Sample(8, "iid", 3)
