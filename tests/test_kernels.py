import itertools
import math
import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

import spectralkit
from spectralkit import Atomic, Gaussian, Matern, SpectralKernel, SpectralMixture, TemplateError

EPS = np.finfo(float).eps


def points(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def wave(n=40, seed=0):
    """A noisy sine over one column."""
    X = np.linspace(0, 4, n)[:, None]
    return X, np.sin(2 * np.pi * 0.6 * X[:, 0]) + 0.1 * np.random.default_rng(seed).normal(size=n)


def oblique_mixture():
    """Two components in two columns, with means of either sign."""
    return SpectralMixture([0.5, 1.2], [[0.3, -0.2], [-1.1, 0.7]], [[0.1, 0.2], [0.3, 0.05]])


def with_theta(kernel, theta):
    """The kernel with the numbers set, through sklearn's own method."""
    return kernel.clone_with_theta(np.asarray(theta, dtype=float))


def differences(kernel, X, step=1e-5):
    """Central differences of K to theta, shape (n, n, n_dims)."""
    steps = step * np.eye(kernel.n_dims)
    slopes = [
        (with_theta(kernel, kernel.theta + e)(X) - with_theta(kernel, kernel.theta - e)(X)) / (2 * step) for e in steps
    ]
    return np.stack(slopes, axis=-1) if slopes else np.empty((len(X), len(X), 0))


# one instance per kind of measure, each usable in two columns
KERNELS = [
    SpectralKernel(Gaussian(0.3)),
    SpectralKernel(Matern([0.2, 0.5], nu=1.5)),
    SpectralKernel(oblique_mixture()),
    SpectralKernel(Atomic([[0.4, -0.3], [0.1, 0.8]], [0.7, 0.6])),
    SpectralKernel(0.7 * Gaussian(0.3) + Matern(0.2, nu=2.5).on([1]), {"1__sigma": (0.1, 3.0)}),
    SpectralKernel(Gaussian([0.4]).on([0]) * Matern(0.1, nu=0.5), {"0__sigma": "fixed"}),
    SpectralKernel(
        2.0 * (oblique_mixture() * Gaussian(0.1)), {"factor": (1e-2, 1e2), "0__means": np.array([-2.0, 2.0])}
    ),
    SpectralKernel(3.0 * Gaussian(0.3), "fixed"),
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


# -- differential tests against scikit-learn ---------------------------------------------------------------------------

FAMILIES = {
    "gaussian": (Gaussian.from_lengthscale, RBF),
    "matern12": (
        lambda lengthscale: Matern.from_lengthscale(lengthscale, nu=0.5),
        lambda lengthscale: SklearnMatern(lengthscale, nu=0.5),
    ),
    "matern32": (
        lambda lengthscale: Matern.from_lengthscale(lengthscale, nu=1.5),
        lambda lengthscale: SklearnMatern(lengthscale, nu=1.5),
    ),
    "matern52": (
        lambda lengthscale: Matern.from_lengthscale(lengthscale, nu=2.5),
        lambda lengthscale: SklearnMatern(lengthscale, nu=2.5),
    ),
}


@pytest.fixture(params=[(d, ard) for d in (1, 3, 7) for ard in (False, True)], ids=lambda p: f"d={p[0]},ard={p[1]}")
def lengthscale(request):
    d, ard = request.param
    return d, np.linspace(0.7, 2.0, d) if ard else 1.3


@pytest.fixture(params=FAMILIES)
def pair(request, lengthscale):
    """(our kernel, scikit-learn's, number of columns)"""
    ours, theirs = FAMILIES[request.param]
    d, scale = lengthscale
    return SpectralKernel(ours(scale)), theirs(scale), d


def test_values_equal_those_of_sklearn(pair):
    ours, theirs, d = pair
    X, Y = points(30, d), points(20, d, seed=1)
    X[3] = X[11]
    assert_allclose(ours(X), theirs(X), rtol=0, atol=1e-13)
    assert_allclose(ours(X, Y), theirs(X, Y), rtol=0, atol=1e-13)
    assert_array_equal(ours.diag(X), theirs.diag(X))


def test_gradients_equal_those_of_sklearn(pair):
    ours, theirs, d = pair
    X = points(30, d)
    X[3] = X[11]
    K, gradient = ours(X, eval_gradient=True)
    expected_K, expected = theirs(X, eval_gradient=True)
    assert_allclose(K, expected_K, rtol=0, atol=1e-13)
    # log sigma = -log lengthscale - log 2 pi
    assert_allclose(gradient, -expected, rtol=0, atol=1e-12)


def test_fits_equal_those_of_sklearn(pair):
    ours, theirs, d = pair
    X = points(50, d)
    y = np.sin(X).sum(axis=1) + 0.1 * np.random.default_rng(3).normal(size=50)  # every column counts
    # the bounds mirror each other too; wide, but narrow enough for no sigma or noise to run away to them
    ours = SpectralKernel(ours.spectrum, {"sigma": (1e-6 / (2 * np.pi), 1e6 / (2 * np.pi))})
    theirs.length_scale_bounds = (1e-6, 1e6)
    fits = [
        GaussianProcessRegressor(ConstantKernel(1.0, (1e-6, 1e6)) * k, alpha=0.01).fit(X, y) for k in (ours, theirs)
    ]
    likelihoods = [gp.log_marginal_likelihood_value_ for gp in fits]
    assert_allclose(*likelihoods, rtol=0, atol=1e-6)
    assert likelihoods[0] > fits[0].log_marginal_likelihood((1.0 * ours).theta) + 0.1  # something was learnt
    targets = points(20, d, seed=4)
    predictions = [gp.predict(targets, return_std=True) for gp in fits]
    # the two searches are mirror images; where rounding parts them, the likelihood is flat: the root of the tolerance
    assert_allclose(*[mean for mean, _ in predictions], rtol=0, atol=1e-3)
    assert_allclose(*[std for _, std in predictions], rtol=0, atol=1e-3)
    # with the same parameters the predictions are the same
    scale = 1 / (2 * np.pi * np.asarray(fits[0].kernel_.k2.spectrum.sigma))
    same = clone(fits[1].kernel_).set_params(
        k1__constant_value=fits[0].kernel_.k1.constant_value, k2__length_scale=scale
    )
    reference = GaussianProcessRegressor(same, alpha=0.01, optimizer=None).fit(X, y).predict(targets, return_std=True)
    for got, expected in zip(predictions[0], reference, strict=True):
        assert_allclose(got, expected, rtol=0, atol=1e-9)


def test_kernel_ridge_takes_the_kernel():
    X, y = points(30, 2), points(30, 1, seed=1)[:, 0]
    ours = KernelRidge(kernel=SpectralKernel(Gaussian.from_gamma(0.4)), alpha=0.1).fit(X, y).predict(X)
    assert_allclose(ours, KernelRidge(kernel="rbf", gamma=0.4, alpha=0.1).fit(X, y).predict(X), rtol=0, atol=1e-12)


def test_classifier_takes_the_kernel():
    X = points(40, 2)
    y = X[:, 0] + X[:, 1] > 0
    fits = [
        GaussianProcessClassifier(1.0 * k, optimizer=None).fit(X, y)
        for k in (SpectralKernel(Gaussian.from_lengthscale(0.8)), RBF(0.8))
    ]
    assert_allclose(*[gp.predict_proba(X) for gp in fits], rtol=0, atol=1e-10)
    assert GaussianProcessClassifier(1.0 * SpectralKernel(Gaussian(0.2))).fit(X, y).score(X, y) > 0.9


# -- values ------------------------------------------------------------------------------------------------------------


@each_kernel
def test_matrix_is_fresh_writable_and_exactly_symmetric(kernel):
    X, Y = points(25, 2), points(10, 2, seed=1)
    kept = X.copy(), Y.copy()
    for evaluate in (lambda: kernel(X), lambda: kernel(X, Y), lambda: kernel(X, eval_gradient=True)[0]):
        K = evaluate()
        before = K.copy()
        K += 1.0  # writable, and nobody else's
        assert_array_equal(evaluate(), before)
        assert K.dtype == np.float64
    assert_array_equal(X, kept[0])
    assert_array_equal(Y, kept[1])
    K, gradient = kernel(X, eval_gradient=True)
    assert_array_equal(K, K.T)
    assert_array_equal(gradient, np.swapaxes(gradient, 0, 1))
    assert_array_equal(np.diag(K), kernel.diag(X))
    assert_array_equal(K, kernel(X))
    diagonal = kernel.diag(X)
    diagonal += 1.0
    assert_array_equal(kernel.diag(X), np.diag(K))


@each_kernel
def test_rectangular_matrix_is_a_block_of_the_square_one(kernel):
    X = points(25, 2)
    K = kernel(X)
    mass = K[0, 0]
    assert_allclose(kernel(X[:10], X[10:]), K[:10, 10:], rtol=0, atol=1e-13 * mass)
    assert kernel(X[:10], X[:1]).shape == (10, 1)
    assert kernel(X[:1]).shape == (1, 1)


def test_lists_are_points():
    kernel = SpectralKernel(Gaussian([0.3, 0.5]))
    X, Y = [[0, 1], [2, 3], [4, 6]], [[1, 1]]
    assert_array_equal(kernel(X), kernel(np.array(X, dtype=float)))
    assert_array_equal(kernel(X, Y), kernel(np.array(X, dtype=float), np.array(Y, dtype=float)))
    assert_array_equal(kernel.diag(X), np.ones(3))
    assert kernel(np.array(X, dtype=np.float32)).dtype == np.float64  # as sklearn's solvers need it


def test_mixture_equals_the_closed_form_at_an_oblique_lag():
    """Worked out by hand; the product over columns of one-dimensional mixtures would give .18903."""
    mixture = SpectralMixture([0.5, 1.0], [[0.3, -0.2], [1.1, 0.7]], [[0.1, 0.2], [0.3, 0.05]])
    X = np.array([[2.4, -1.9], [2.0, -1.0]])
    assert_allclose(SpectralKernel(mixture)(X)[0, 1], 0.1872147471867131, rtol=1e-13)
    assert_allclose(SpectralKernel(mixture)(X[:1], X[1:])[0, 0], 0.1872147471867131, rtol=1e-13)


def test_mixture_in_two_columns_has_the_sum_of_its_weights_at_lag_zero():
    """GPyTorch has the square of it, mogptk twice it."""
    kernel = SpectralKernel(SpectralMixture([0.5, 1.0, 2.0], np.ones((3, 2)), np.ones((3, 2))))
    assert_array_equal(kernel.diag(points(4, 2)), 3.5)
    assert_array_equal(np.diag(kernel(points(4, 2))), 3.5)
    assert_allclose(np.diag(kernel(points(4, 2), points(4, 2))), 3.5, rtol=1e-14)


def test_mixture_with_means_of_both_signs_is_positive_semi_definite_on_a_grid():
    grid = np.stack(np.meshgrid(np.linspace(0, 3, 12), np.linspace(0, 3, 12)), -1).reshape(-1, 2)
    for means in ([[0.9, 0.4], [0.9, -0.4]], [[-0.9, 0.4], [0.3, -0.8]]):
        eigenvalues = np.linalg.eigvalsh(
            SpectralKernel(SpectralMixture([1.0, 0.5], means, np.full((2, 2), 0.05)))(grid)
        )
        assert eigenvalues[0] >= -len(grid) * EPS * eigenvalues[-1]
        assert eigenvalues[0] < 1e-8 * eigenvalues[-1]  # near-singular: a real test


def test_the_sign_of_one_mean_changes_the_kernel_and_that_of_all_does_not():
    X = points(20, 2)
    one, other, opposite = (
        SpectralKernel(SpectralMixture([1.0], [mean], [[0.1, 0.2]]))(X) for mean in ([1, 1], [1, -1], [-1, -1])
    )
    assert np.abs(one - other).max() > 0.1
    assert_allclose(one, opposite, rtol=0, atol=1e-14)


def test_mixture_does_not_depend_on_the_order_of_its_components():
    X = points(20, 2)
    rng = np.random.default_rng(5)
    weights, means, sigmas = rng.random(4) + 0.1, rng.normal(size=(4, 2)), rng.random((4, 2)) + 0.1
    order = np.array([2, 0, 3, 1])
    K, gradient = SpectralKernel(SpectralMixture(weights, means, sigmas))(X, eval_gradient=True)
    permuted = SpectralMixture(weights[order], means[order], sigmas[order])
    permuted_K, permuted_gradient = SpectralKernel(permuted)(X, eval_gradient=True)
    assert_allclose(permuted_K, K, rtol=0, atol=1e-14 * weights.sum())
    place = np.concatenate([order, *(4 + 8 * i + np.ravel(2 * order[:, None] + [0, 1]) for i in range(2))])
    assert_allclose(permuted_gradient, gradient[..., place], rtol=0, atol=1e-13 * np.abs(gradient).max())


# -- theta, bounds and gradients ---------------------------------------------------------------------------------------


def test_theta_is_logarithms_of_positive_and_values_of_real_parameters_in_order_of_declaration():
    kernel = SpectralKernel(2.0 * oblique_mixture() + Gaussian([0.1, 0.4]))
    expected = [math.log(2.0), math.log(0.5), math.log(1.2), 0.3, -0.2, -1.1, 0.7]
    expected += [math.log(s) for s in (0.1, 0.2, 0.3, 0.05, 0.1, 0.4)]
    assert_allclose(kernel.theta, expected, rtol=1e-15)
    assert kernel.theta.dtype == np.float64
    assert kernel.n_dims == 13
    assert [(h.name, h.n_elements, h.fixed) for h in kernel.hyperparameters] == [
        ("spectrum__0__factor", 1, False),
        ("spectrum__0__weights", 2, False),
        ("spectrum__0__means", 4, False),
        ("spectrum__0__sigmas", 4, False),
        ("spectrum__1__sigma", 2, False),
    ]


def test_bounds_are_in_the_units_of_theta():
    kernel = SpectralKernel(
        oblique_mixture(), {"weights": [(0.1, 1.0), (0.2, 2.0)], "means": (-3.0, 2.0), "sigmas": np.array([0.01, 10.0])}
    )
    expected = [np.log([0.1, 1.0]), np.log([0.2, 2.0]), *[[-3.0, 2.0]] * 4, *[np.log([0.01, 10.0])] * 4]
    assert_allclose(kernel.bounds, expected, rtol=1e-15)
    free = SpectralKernel(oblique_mixture())
    assert_allclose(free.bounds, [np.log([1e-5, 1e5])] * 2 + [[-1e5, 1e5]] * 4 + [np.log([1e-5, 1e5])] * 4)
    some = SpectralKernel(oblique_mixture(), {"means": "fixed"})
    assert some.bounds.shape == (6, 2)
    assert SpectralKernel(oblique_mixture(), "fixed").bounds.shape == (0, 2)


@each_kernel
def test_theta_and_bounds_agree_in_length_and_setting_theta_to_itself_changes_nothing(kernel):
    kernel = clone(kernel)
    theta, measure = kernel.theta, kernel.spectrum
    assert theta.shape == (kernel.n_dims,)
    assert kernel.bounds.shape == (kernel.n_dims, 2)
    kernel.theta = theta
    assert_allclose(kernel.theta, theta, rtol=1e-15)
    for old, new in zip(measure.parameters(), kernel.spectrum.parameters(), strict=True):
        assert (old.name, np.shape(old.value)) == (new.name, np.shape(new.value))
        assert_allclose(new.value, old.value, rtol=1e-15)


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_one_component_and_arrays_of_length_one_keep_their_shape(shape):
    """sklearn's own setter makes a scalar of an array of length one."""
    kernel = SpectralKernel(SpectralMixture([2.0], np.full(shape, 0.3), np.full(shape, 0.1)) + Gaussian([0.5]))
    kernel.theta = kernel.theta + 0.25
    mixture, gaussian = kernel.spectrum.parts
    assert_allclose(mixture.weights, [2.0 * math.exp(0.25)])
    assert_allclose(mixture.means, np.full(shape, 0.55))
    assert np.shape(mixture.means) == np.shape(mixture.sigmas) == shape
    assert np.shape(gaussian.sigma) == (1,)
    assert kernel(points(3, 1), eval_gradient=True)[1].shape == (3, 3, 4)
    scalar = SpectralKernel(Gaussian(0.5))
    scalar.theta = scalar.theta + 0.25
    assert isinstance(scalar.spectrum.sigma, float)


def test_signed_means_enter_linearly_and_cross_zero():
    kernel = SpectralKernel(SpectralMixture([1.0], [[0.5, 0.2]], [[0.1, 0.1]]))
    kernel.theta = kernel.theta - np.array([0, 0.5, 0.4, 0, 0])
    assert_allclose(kernel.spectrum.means, [[0.0, -0.2]], atol=1e-16)
    assert np.isfinite(kernel.theta).all()  # a logarithm of the mean would be minus infinity
    assert_allclose(kernel(points(8, 2), eval_gradient=True)[1], differences(kernel, points(8, 2)), rtol=0, atol=1e-6)


def test_optimisation_takes_a_mean_through_zero():
    """A wave along (.5, -.15), sought from (.5, .15): with logarithms the second mean could not leave its quadrant."""
    X = 3 * np.random.default_rng(1).random((80, 2))
    y = np.sin(2 * np.pi * X @ [0.5, -0.15]) + 0.1 * np.random.default_rng(2).normal(size=80)
    start = SpectralMixture([1.0], [[0.5, 0.15]], [[0.05, 0.05]])
    kernel = SpectralKernel(start, {"means": (-2.0, 2.0), "sigmas": "fixed"})
    gp = GaussianProcessRegressor(kernel, alpha=0.01).fit(X, y)
    # the fit beats, and so is not far from, the truth
    truth = kernel.clone_with_theta([gp.kernel_.theta[0], 0.5, -0.15])
    assert gp.log_marginal_likelihood_value_ >= gp.log_marginal_likelihood(truth.theta)
    assert_allclose(gp.kernel_.spectrum.means, [[0.5, -0.15]], atol=0.05)  # sigma: within the component's own width


NAMES = ("factor", "0__weights", "0__means", "0__sigmas", "1__sigma")


@pytest.mark.parametrize("fixed", [names for r in range(6) for names in itertools.combinations(NAMES, r)])
def test_gradient_equals_differences_for_every_choice_of_fixed_parameters(fixed):
    measure = 1.3 * (oblique_mixture() * Matern([0.2, 0.1], nu=1.5))
    kernel = SpectralKernel(measure, dict.fromkeys(fixed, "fixed"))
    X = 0.5 * points(8, 2)
    sizes = dict(zip(NAMES, (1, 2, 4, 4, 2), strict=True))
    assert kernel.n_dims == 13 - sum(sizes[name] for name in fixed)
    assert [h.fixed for h in kernel.hyperparameters] == [name in fixed for name in NAMES]
    K, gradient = kernel(X, eval_gradient=True)
    assert gradient.shape == (8, 8, kernel.n_dims)
    assert_array_equal(K, kernel(X))
    assert_allclose(gradient, differences(kernel, X), rtol=0, atol=1e-6)
    moved = with_theta(kernel, kernel.theta + 0.1).spectrum
    for before, after in zip(measure.parameters(), moved.parameters(), strict=True):
        assert np.allclose(before.value, after.value, rtol=1e-14, atol=0) == (before.name in fixed)


@each_kernel
def test_gradient_equals_differences(kernel):
    X = 0.7 * points(9, 2)
    X[2] = X[5]
    assert_allclose(kernel(X, eval_gradient=True)[1], differences(kernel, X), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "measure", [2.0 * (3.0 * Gaussian(0.1)).on([0]), (2.0 * (3.0 * Gaussian(0.1)).on([1])).on([0, 1])]
)
def test_a_multiple_inside_a_column_group_keeps_its_own_factor(measure):
    kernel = SpectralKernel(measure)
    X = points(4, 2)
    assert_allclose(with_theta(kernel, kernel.theta)(X), kernel(X), rtol=1e-14)
    assert_allclose(kernel(X, eval_gradient=True)[1], differences(kernel, X), rtol=0, atol=1e-6)


def test_fixed_on_its_own_fixes_everything():
    kernel = SpectralKernel(2.0 * oblique_mixture(), "fixed")
    X, y = points(20, 2), points(20, 1, seed=1)[:, 0]
    assert kernel.theta.shape == (0,)
    assert kernel(X, eval_gradient=True)[1].shape == (20, 20, 0)
    assert all(h.fixed for h in kernel.hyperparameters)
    gp = GaussianProcessRegressor(kernel, alpha=0.1).fit(X, y)
    assert_allclose(gp.kernel_(X), kernel(X), rtol=0, atol=1e-13)
    gp = GaussianProcessRegressor(kernel + WhiteKernel(0.3)).fit(X, y)  # only the noise is learnt
    assert_allclose(gp.kernel_.k1(X), kernel(X), rtol=0, atol=1e-13)
    assert abs(gp.kernel_.k2.noise_level - 0.3) > 0.01


@pytest.mark.parametrize("bounds", [{"0__sigma": "fixed", "1__sigma": (0.1, 10.0)}, "fixed"])
def test_fixed_parameters_keep_their_very_values(bounds):
    kernel = SpectralKernel(Gaussian([0.1, 0.05]) + Matern(0.3, nu=1.5), bounds)
    moved = with_theta(kernel, kernel.theta + 0.1)
    assert_array_equal(moved.spectrum.parts[0].sigma, [0.1, 0.05])


@pytest.mark.parametrize("theta", [1.0, [1.0], [1.0, 2.0, 3.0]])
def test_theta_of_another_length_is_refused(theta):
    kernel = SpectralKernel(Gaussian([0.1, 0.2]))
    with pytest.raises(ValueError, match=r"searches over 2 numbers, but theta has shape"):
        kernel.theta = theta
    assert kernel == SpectralKernel(Gaussian([0.1, 0.2]))


def test_gradient_makes_no_tensor_of_lags():
    n, d = 600, 5
    kernel = SpectralKernel(Matern(np.full(d, 0.1), nu=2.5))
    X = points(n, d)
    kernel(X[:10], eval_gradient=True)
    tracemalloc.start()
    try:
        kernel(X, eval_gradient=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    matrix = 8 * n * n
    assert peak <= (d + 3) * matrix  # K, its d derivatives, and condensed temporaries; sklearn's own: d more
    assert peak >= (d + 1) * matrix


# -- scikit-learn's machinery ------------------------------------------------------------------------------------------


def test_sums_products_and_powers_with_other_kernels():
    X = points(15, 2)
    spectral = SpectralKernel(Gaussian([0.2, 0.3]), {"sigma": (1e-2, 1e2)})
    K = spectral(X)
    assert_allclose((2.0 * spectral + WhiteKernel(0.1))(X), 2 * K + 0.1 * np.eye(15), rtol=0, atol=1e-14)
    assert_allclose((spectral + 0.5)(X), K + 0.5, rtol=0, atol=1e-14)
    assert_allclose((spectral * RBF(0.7) + spectral)(X), K * RBF(0.7)(X) + K, rtol=0, atol=1e-14)
    assert_allclose((spectral**3)(X), K**3, rtol=0, atol=1e-14)
    composed = ConstantKernel(2.0) * spectral**2 + WhiteKernel(0.1) + SpectralKernel(oblique_mixture())
    assert composed.n_dims == 1 + 2 + 1 + 10
    assert composed.bounds.shape == (14, 2)
    assert_allclose(composed(X, eval_gradient=True)[1], differences(composed, X), rtol=0, atol=1e-6)
    assert_allclose(composed.diag(X), np.diag(composed(X)), rtol=1e-15)
    assert composed.is_stationary()
    assert composed.requires_vector_input
    assert [h.name for h in composed.hyperparameters][1] == "k1__k1__k2__kernel__spectrum__sigma"
    assert clone(composed) == composed
    moved = with_theta(composed, composed.theta + 0.1)
    assert_allclose(moved.theta, composed.theta + 0.1, rtol=1e-14)


@each_kernel
def test_equality_never_raises(kernel):
    assert kernel == kernel  # noqa: PLR0124
    assert kernel == clone(kernel)
    assert not kernel != clone(kernel)  # noqa: SIM202
    others = [other for other in KERNELS if other is not kernel]
    others += [
        SpectralKernel(SpectralMixture([1.0] * q, [[1.0] * d] * q, [[1.0] * d] * q))
        for q, d in [(1, 2), (3, 2), (2, 3)]
    ]
    others += [RBF(), WhiteKernel(), 1.0 * kernel, 1.0, None, "kernel", kernel.spectrum]
    for other in others:
        assert (kernel == other) is False
        assert (kernel != other) is True
    if kernel.n_dims:
        assert (kernel == with_theta(kernel, kernel.theta + 1e-6)) is False
    assert (kernel == SpectralKernel(kernel.spectrum, {kernel.spectrum.parameters()[0].name: (0.5, 0.7)})) is False


def test_equality_sees_values_and_not_their_containers():
    assert SpectralKernel(Gaussian([0.1, 0.2])) == SpectralKernel(Gaussian(np.array([0.1, 0.2])))
    one, other = (SpectralKernel(Gaussian(0.1), {"sigma": bounds}) for bounds in ((1, 2), np.array([1.0, 2.0])))
    assert one == other
    assert SpectralKernel(Gaussian(0.1), "fixed") != SpectralKernel(Gaussian(0.1))


@each_kernel
def test_repr_evaluates(kernel):
    names = vars(spectralkit)
    assert eval(repr(kernel), dict(names)) == kernel
    with np.printoptions(precision=2):
        assert eval(repr(kernel), dict(names)) == kernel


@each_kernel
def test_clone_pickle_and_clone_with_theta(kernel):
    X = points(6, 2)
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel)), with_theta(kernel, kernel.theta)):
        assert type(copy) is SpectralKernel
        assert copy is not kernel
        assert_allclose(copy(X), kernel(X), rtol=0, atol=1e-14 * kernel.diag(X)[0])
        assert copy.parameter_bounds is None or copy.bounds.tolist() == kernel.bounds.tolist()
    assert clone(kernel) == pickle.loads(pickle.dumps(kernel)) == kernel
    theta = kernel.theta + 0.1
    moved = with_theta(kernel, theta)
    assert_allclose(moved.theta, theta, rtol=1e-14)
    assert_allclose(kernel.theta, theta - 0.1, rtol=1e-14)


def test_set_params_reaches_into_the_measure_and_leaves_the_callers_alone():
    measure = 2.0 * Gaussian([0.1, 0.2]) + Matern(0.3, nu=1.5)
    kernel = SpectralKernel(measure)
    assert kernel.set_params(spectrum__0__sigma=[0.5, 0.6], spectrum__1__nu=2.5) is kernel
    assert kernel.spectrum == 2.0 * Gaussian([0.5, 0.6]) + Matern(0.3, nu=2.5)
    assert measure == 2.0 * Gaussian([0.1, 0.2]) + Matern(0.3, nu=1.5)
    kernel.set_params(spectrum=Matern(nu=0.5), spectrum__sigma=0.7)
    assert kernel.spectrum == Matern(0.7, nu=0.5)
    own = {"spectrum", "parameter_bounds", "parameter_scales"}
    assert set(kernel.get_params()) == own | {"spectrum__sigma", "spectrum__nu"}
    assert set(kernel.get_params(deep=False)) == own
    gp = GaussianProcessRegressor(SpectralKernel(Gaussian(0.1)) + WhiteKernel())
    assert gp.get_params()["kernel__k1__spectrum__sigma"] == 0.1
    gp.set_params(kernel__k1__spectrum__sigma=0.4, kernel__k1__parameter_bounds={"sigma": "fixed"})
    assert gp.kernel.k1 == SpectralKernel(Gaussian(0.4), {"sigma": "fixed"})
    with pytest.raises(ValueError, match="has no parameter 'foo'; it has sigma"):
        SpectralKernel(Gaussian(0.1)).set_params(spectrum__foo=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'foo' for SpectralKernel"):
        SpectralKernel(Gaussian(0.1)).set_params(foo=1.0)


def test_fitting_leaves_the_callers_kernel_and_measure_alone():
    X, y = wave()
    sigma = np.array([0.3])
    measure = 1.5 * Gaussian(sigma)
    bounds = {"sigma": [1e-2, 1e2]}
    kernel = SpectralKernel(measure, bounds)
    gp = GaussianProcessRegressor(kernel + WhiteKernel(0.1, (1e-4, 1e1))).fit(X, y)
    assert gp.kernel_.k1.spectrum != measure
    assert kernel.spectrum is measure
    assert_array_equal(sigma, [0.3])
    assert bounds == {"sigma": [1e-2, 1e2]}
    kernel.theta = kernel.theta + 1.0
    assert measure == 1.5 * Gaussian([0.3])
    assert_array_equal(sigma, [0.3])
    assert_array_equal(pickle.loads(pickle.dumps(gp)).predict(X), gp.predict(X))


def test_restarts_are_uniform_in_signed_frequency_and_repeat_with_the_seed():
    X, y = points(12, 2), points(12, 1, seed=1)[:, 0]
    kernel = SpectralKernel(oblique_mixture(), {"means": (-2.0, 2.0), "weights": "fixed", "sigmas": (0.01, 10.0)})

    def starts():
        seen = []

        def record(objective, theta, bounds):
            assert (bounds[:, 0] <= theta).all()
            assert (theta <= bounds[:, 1]).all()
            seen.append(theta)
            return theta, objective(theta)[0]

        GaussianProcessRegressor(kernel, alpha=0.1, optimizer=record, n_restarts_optimizer=50, random_state=0).fit(X, y)
        return np.array(seen)

    seen = starts()
    assert_array_equal(seen[0], kernel.theta)
    assert_array_equal(seen, starts())
    means = seen[1:, :4]  # 200 draws: the mean of uniform ones has standard deviation 4 / sqrt(12 * 200) = .08
    assert abs(means.mean()) < 6 * 0.08
    assert means.min() < -1.5 < 1.5 < means.max()


def test_restarts_leave_a_stationary_point():
    X, y = wave()  # at mean zero the slope is zero, because the kernel is even in it
    kernel = SpectralKernel(
        SpectralMixture([1.0], [0.0], [0.05]), {"weights": "fixed", "means": (-3.0, 3.0), "sigmas": "fixed"}
    )
    fits = [
        GaussianProcessRegressor(kernel, alpha=0.01, n_restarts_optimizer=n, random_state=0).fit(X, y)
        for n in (0, 6, 6)
    ]
    likelihoods = [gp.log_marginal_likelihood_value_ for gp in fits]
    assert likelihoods[1] == likelihoods[2] > likelihoods[0] + 1
    # 2.4 periods are seen; frequencies are resolved to a good part of 1/4 cycle per unit
    assert_allclose(np.abs(fits[1].kernel_.spectrum.means), 0.6, atol=0.05)
    assert fits[0].kernel_.spectrum.means == 0.0


def test_grid_search_runs_over_parameters_of_the_measure():
    X, y = wave(60)
    gp = GaussianProcessRegressor(SpectralKernel(2.0 * Gaussian(0.3) + Matern(0.1, nu=0.5)), alpha=0.01, optimizer=None)
    grid = {"kernel__spectrum__0__sigma": [1e-3, 0.3, 30.0], "kernel__spectrum__1__nu": [0.5, 2.5]}
    search = GridSearchCV(gp, grid, cv=3).fit(X[::-1], y[::-1])
    assert len(search.cv_results_["params"]) == 6
    assert search.best_params_["kernel__spectrum__0__sigma"] == 0.3
    assert search.best_estimator_.kernel.spectrum.parts[0].part.sigma == 0.3
    assert gp.kernel.spectrum == 2.0 * Gaussian(0.3) + Matern(0.1, nu=0.5)
    scores = [
        clone(gp).set_params(**params).fit(X[20:], y[20:]).score(X[:20], y[:20])
        for params in search.cv_results_["params"]
    ]
    assert len(set(scores)) == 6  # every one was another kernel


# -- errors ------------------------------------------------------------------------------------------------------------


def test_gradient_with_other_points_is_refused():
    with pytest.raises(ValueError, match="Gradient can only be evaluated when Y is None"):
        SpectralKernel(Gaussian(0.1))(points(3, 1), points(3, 1), eval_gradient=True)


@pytest.mark.parametrize("method", ["__call__", "diag", "fit"])
def test_template_is_refused(method):
    kernel, X = SpectralKernel(Gaussian() + Matern(nu=2.5)), points(5, 2)
    call = GaussianProcessRegressor(kernel).fit if method == "fit" else getattr(kernel, method)
    with pytest.raises(TemplateError, match=r"it has no 0__sigma, 1__sigma yet. Call resolve\(X, y\), or give the num"):
        call(X, X[:, 0]) if method == "fit" else call(X)


@pytest.mark.parametrize("attribute", ["theta", "bounds", "hyperparameters"])
def test_template_with_bounds_is_refused_as_a_template(attribute):
    with pytest.raises(TemplateError, match="is a template: it has no sigma yet"):
        getattr(SpectralKernel(Gaussian(), {"sigma": (0.1, 1.0)}), attribute)


@pytest.mark.parametrize("spectrum", ["gaussian", None, 0.5, RBF()])
def test_what_is_not_a_measure_is_refused(spectrum):
    kernel = SpectralKernel(spectrum)
    for use in (lambda: kernel(points(3, 1)), lambda: kernel.diag(points(3, 1)), lambda: kernel.theta):
        with pytest.raises(TypeError, match="SpectralKernel: spectrum must be a spectral measure, got "):
            use()


@pytest.mark.parametrize(
    ("measure", "bounds", "message"),
    [
        (Gaussian(0.1), {"sgima": (1, 2)}, r"names sgima, but the free parameters of Gaussian\(sigma=0.1\) are sigma"),
        (Matern(0.1, nu=1.5), {"nu": (1, 2)}, "names nu, but the free parameters"),
        (Gaussian(0.1), (1, 2), r"must be a dict from names to bounds, 'fixed' or None, got \(1, 2\)"),
        (Gaussian(0.1), "free", "must be a dict from names to bounds, 'fixed' or None, got 'free'"),
        (Gaussian(0.1), {"sigma": "free"}, "bounds of sigma must be numbers or 'fixed', got 'free'"),
        (Gaussian(0.1), {"sigma": (2, 1)}, r"bounds of sigma must be positive, finite and ordered, got \(2, 1\)"),
        (Gaussian(0.1), {"sigma": (0, 1)}, "bounds of sigma must be positive, finite and ordered"),
        (Gaussian(0.1), {"sigma": (1, np.inf)}, "bounds of sigma must be positive, finite and ordered"),
        (Gaussian(0.1), {"sigma": (np.nan, 1)}, "bounds of sigma must be positive, finite and ordered"),
        (Gaussian(0.1), {"sigma": (1, 2, 3)}, r"bounds of sigma must be a pair or have shape \(1, 2\), got \(3,\)"),
        (Gaussian([0.1, 0.2]), {"sigma": [(1, 2)] * 3}, r"a pair or have shape \(2, 2\), got \(3, 2\)"),
        (oblique_mixture(), {"means": (2, -2)}, "bounds of means must be finite and ordered"),
        (oblique_mixture(), {"means": (-np.inf, 2)}, "bounds of means must be finite and ordered"),
    ],
)
def test_bad_bounds_are_refused(measure, bounds, message):
    kernel = SpectralKernel(measure, bounds)
    d = measure.dimension or 1
    for use in (
        lambda: kernel.theta,
        lambda: kernel.bounds,
        lambda: kernel(points(3, d), eval_gradient=True),
        lambda: GaussianProcessRegressor(kernel).fit(points(3, d), np.ones(3)),
    ):
        with pytest.raises(ValueError, match=message):
            use()


def test_wrong_number_of_columns_is_refused():
    kernel = SpectralKernel(Gaussian([0.1, 0.2]))
    with pytest.raises(ValueError, match=r"describes 2 column\(s\), but the points have 3"):
        kernel(points(4, 3))
    with pytest.raises(ValueError, match=r"X has 2 column\(s\), but Y has 1; they must agree"):
        SpectralKernel(Gaussian(0.1))(points(4, 2), points(4, 1))
