"""A Gaussian process on an equispaced grid of frequencies, against the dense one.

The grid process knows a measure only by `log_density`, `log_density_gradient`, `cutoff` and `support`, the dense one
only by its kernel. That their likelihoods agree says that the two descriptions are of one measure, tails included.
"""

import math

import numpy as np
import pytest
from grid_gp import GridGP
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg

from spectralkit import Gaussian, Matern, SpectralMixture

N, ACCURACY = 200, 1e-6


def tolerance(measure, noise_std, margin):
    """The tol of a grid whose likelihood and gradient are to have a relative error of ACCURACY.

    What is cut off the spectrum is missing like white noise of variance tol mass: the likelihood, of the order n,
    moves by about n tol mass / noise^2. The margin allows for entries of the gradient that are far below n.
    """
    return ACCURACY * noise_std**2 / (margin * measure.mass)


# name: measure, noise, the truth that y is drawn from, its noise, margin, most nodes. The last five digits cost smooth
# spectra a few nodes. Matern 3/2 keeps a mass like omega^-3 beyond omega: with noise .1 it would take 7000 nodes, so
# here the noise is as large as the signal, and it takes a thousand.
CASES = {
    "gaussian": (1.3 * Gaussian(0.8), 0.1, 2.0 * Gaussian(1.2), 0.15, 1e4, 25),
    "mixture": (
        SpectralMixture([0.8, 0.5], [2.0, 5.0], [0.4, 0.7]),
        0.1,
        SpectralMixture([1.2, 0.9], [2.4, 4.6], [0.5, 0.5]),
        0.15,
        1e4,
        80,
    ),
    "matern52": (1.3 * Matern(0.4, nu=2.5), 0.1, 2.0 * Matern(0.8, nu=2.5), 0.15, 10, 520),
    "sum": (
        0.7 * Gaussian(2.0) + 0.5 * Matern(1.0, nu=2.5),
        0.2,
        Gaussian(3.0) + 2.0 * Matern(2.0, nu=2.5),
        0.3,
        10,
        420,
    ),
    "matern32": (Matern(0.25, nu=1.5), 1.0, 3.0 * Matern(0.6, nu=1.5), 1.5, 15, 1300),
}


def points(n, seed=0):
    """Uneven points of [0, 1], both ends included; multiples of 2^-30, so that shifts by integers are exact."""
    x = np.random.default_rng(seed).random(n) ** 1.5
    x[:2] = 0.0, 1.0
    return (np.round(x * 2**30) / 2**30)[:, None]


def draw(truth, noise_std, X, seed=1):
    K = truth.gram(X) + noise_std**2 * np.eye(len(X))
    return linalg.cholesky(K, lower=True) @ np.random.default_rng(seed).standard_normal(len(X))


class Dense:
    """The same model from its Gram matrix, as in Rasmussen and Williams, equations 2.25 to 2.30 and 5.9."""

    def __init__(self, measure, noise_std, X, y):
        self.measure, self.X = measure, X
        gram, self.G = measure.gram_gradient(X)
        self.inverse = linalg.inv(gram + noise_std**2 * np.eye(len(X)))
        self.alpha = self.inverse @ y
        log_det = -np.linalg.slogdet(self.inverse)[1]
        self.log_marginal_likelihood = -0.5 * (y @ self.alpha + log_det + len(X) * math.log(2 * math.pi))
        W = np.outer(self.alpha, self.alpha) - self.inverse
        self.gradient = np.append(0.5 * np.einsum("pij,ij->p", self.G, W), noise_std**2 * np.trace(W))

    def predict(self, X):
        """Mean, variance and the weights K^-1 k of the observations."""
        k = self.measure.gram(X, self.X)
        weights = k @ self.inverse
        return k @ self.alpha, self.measure.mass - np.einsum("ij,ij->i", k, weights), weights


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    """(grid process, dense process, X, y, most nodes) of a case."""
    measure, noise_std, truth, true_noise, margin, most = CASES[request.param]
    X = points(N)
    y = draw(truth, true_noise, X)
    return (
        GridGP(measure, noise_std, tolerance(measure, noise_std, margin)).fit(X, y),
        Dense(measure, noise_std, X, y),
        most,
    )


SMOOTH_ENOUGH = [
    *(case[0] for case in CASES.values()),
    Matern(0.5, nu=3.5),
    SpectralMixture([1.0], [0.0], [0.4]),
    2.0 * SpectralMixture([0.8, 0.5], [0.0, 5.0], [0.4, 0.02]),
    (Matern(0.3, nu=2.5) + 0.1 * Gaussian(3.0)).on([0]),
]
REACHES = [
    *((m, tol) for m in SMOOTH_ENOUGH for tol in (1e-2, 1e-5)),
    (Matern(0.5, nu=0.5), 2e-3),
]


@pytest.mark.parametrize(("measure", "tol"), REACHES, ids=repr)
def test_the_waves_add_up_to_the_kernel_up_to_the_promised_lag(measure, tol):
    X = points(60)
    gp = GridGP(measure, 1.0, tol).fit(X, np.zeros(60))
    targets = np.linspace(-gp.reach, 1 + gp.reach, 301)[:, None]
    error = np.abs(gp.features(targets) @ gp.F.T - measure.gram(targets, X))
    # the mass beyond the cutoff; one copy of the kernel at least R away and the others, at least L + 2R away
    others = np.abs(measure.characteristic((1 + 2 * gp.reach * np.arange(1, 10_001))[:, None])).sum()
    assert error.max() <= 2 * tol * measure.mass + 2 * others
    assert (1 - tol) * measure.mass <= gp.nodes.weights.sum() <= measure.mass + 2 * others


def test_likelihood_equals_the_dense_one(fitted):
    gp, dense, most = fitted
    assert len(gp.nodes.weights) <= most
    assert_allclose(gp.log_marginal_likelihood(), dense.log_marginal_likelihood, rtol=ACCURACY)


def test_gradient_equals_the_dense_one(fitted):
    gp, dense, _ = fitted
    assert len(dense.gradient) == len(gp.measure.pack()) + 1
    assert_allclose(gp.gradient(), dense.gradient, rtol=ACCURACY)


def test_gradient_equals_differences_of_the_likelihood_on_the_same_grid():
    measure, noise_std, truth, true_noise, *_ = CASES["mixture"]
    X = points(50)
    gp = GridGP(measure, noise_std, 1e-4).fit(X, draw(truth, true_noise, X))
    gradient, theta = gp.gradient(), np.append(measure.pack(), math.log(noise_std))

    def likelihood(theta):
        gp.measure, gp.noise_std = measure.unpack(theta[:-1]), math.exp(theta[-1])
        return gp.fit(X, gp.y).log_marginal_likelihood()

    step = 1e-4  # central: error about step^2 times the third derivative, and 1e-12 / step of rounding
    differences = [(likelihood(theta + e) - likelihood(theta - e)) / (2 * step) for e in step * np.eye(len(theta))]
    assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


def test_predictions_within_reach_of_the_data_equal_the_dense_ones(fitted):
    gp, dense, _ = fitted
    targets = np.linspace(-gp.reach, 1 + gp.reach, 401)[:, None]
    mean, variance = gp.predict(targets)
    dense_mean, dense_variance, weights = dense.predict(targets)
    # kernels that differ by e anywhere: first-order bounds from mean = k' K^-1 y and variance = k(0) - k' K^-1 k
    e = 2 * gp.tol * gp.measure.mass
    spread = 1 + np.abs(weights).sum(axis=1)
    rounding = np.finfo(float).eps * N * gp.measure.mass / gp.noise_std**2  # eps times the condition number
    assert (np.abs(mean - dense_mean) <= e * np.abs(dense.alpha).sum() * spread + rounding * np.abs(gp.y).max()).all()
    assert (np.abs(variance - dense_variance) <= e * spread**2 + rounding * gp.measure.mass).all()
    assert np.abs(mean).max() > 0.5 * np.abs(dense_mean).max() > 0.1  # there is something to get wrong


def test_targets_out_of_reach_get_the_prior(fitted):
    gp, dense, _ = fitted
    far = np.concatenate([1 + gp.reach + np.geomspace(1e-6, 1e6, 40), -gp.reach - np.geomspace(1e-6, 1e6, 40)])[:, None]
    mean, variance = gp.predict(far)
    assert_array_equal(mean, 0.0)
    assert_array_equal(variance, gp.measure.mass)
    # and the dense process agrees: every covariance with the data is below tol
    assert np.abs(dense.predict(far)[0]).max() <= gp.tol * gp.measure.mass * np.abs(dense.alpha).sum()


def test_without_the_mask_targets_out_of_reach_would_see_the_data_again(fitted):
    gp, _, _ = fitted
    near = np.linspace(0, 1, 50)[:, None]
    mean, variance = gp.predict(near)
    wrapped_mean, wrapped_variance = gp.predict(near + 1 / gp.spacing, mask=False)
    assert np.abs(mean).max() > 0.1
    assert variance.max() < 0.9 * gp.measure.mass
    # rounding of the phase, 2 pi times the frequency times eps at such x, on every wave
    rounding = 2 * math.pi * gp.frequencies.max() * np.finfo(float).eps * (1 + 1 / gp.spacing)
    assert_allclose(wrapped_mean, mean, atol=10 * rounding * np.abs(gp.F).sum(axis=1).max() * np.abs(gp.coef).max())
    assert_allclose(wrapped_variance, variance, rtol=1e-6)
    assert_array_equal(gp.predict(near + 1 / gp.spacing)[0], 0.0)


def test_a_prediction_does_not_depend_on_the_other_targets(fitted):
    gp, _, _ = fitted
    targets = np.linspace(-0.5, 1.5, 7)[:, None]
    alone = np.concatenate([gp.predict(target[None])[0] for target in targets])
    rounding = 100 * np.finfo(float).eps * (np.abs(gp.features(targets)) @ np.abs(gp.coef)).max()
    assert_allclose(alone, gp.predict(np.vstack([targets, [[1e9]]]))[0][:-1], rtol=0, atol=rounding)


@pytest.mark.parametrize("shift", [-3.0, 4096.0])
def test_the_origin_of_x_does_not_matter(shift):
    measure, noise_std, truth, true_noise, *_ = CASES["mixture"]
    X = points(50)
    y = draw(truth, true_noise, X)
    here, there = (GridGP(measure, noise_std, 1e-6).fit(Z, y) for Z in (X, X + shift))
    targets = np.arange(-1, 2, 1 / 8)[:, None]  # as the points, exact after the shift
    assert_allclose(there.log_marginal_likelihood(), here.log_marginal_likelihood(), rtol=1e-11)
    assert_allclose(there.gradient(), here.gradient(), rtol=1e-9)
    assert_allclose(there.predict(targets + shift)[0], here.predict(targets)[0], rtol=1e-9, atol=1e-10)
