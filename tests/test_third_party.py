"""A measure written outside the package, in ten lines, passes the laws and works in every consumer."""

import importlib.util
import math
from typing import ClassVar

import numpy as np
import pytest
from grid_gp import GridGP
from scipy import linalg
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from spectralkit import CapabilityError, FourierFeatures, Gaussian, SpectralKernel, SpectralMeasure, positive
from spectralkit.rules import RULES
from spectralkit.testing import SPECTRUM_LAWS, check_rule, check_spectrum


class LaplaceSpectrum(SpectralMeasure):
    """k = prod_j 1 / (1 + (2 pi sigma tau_j)^2): the coordinates of a frequency are Laplace distributed."""

    sigma: float = positive(default=None)
    open_: ClassVar[tuple[str, ...]] = ("sigma",)
    _nonnegative = True

    def _per_column(self, j):
        return self.sigma[j] if np.ndim(self.sigma) else self.sigma

    def _covariance(self, lags):
        k = 1.0
        for j in range(lags.d):
            k = k / (1 + (2 * math.pi * self._per_column(j) * lags.column(j)) ** 2)
        return k

    def _transport(self, u, d):
        return -np.asarray(self.sigma) * np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5))

    def _log_density(self, omega):
        return sum(
            -abs(omega[..., j]) / self._per_column(j) - np.log(2 * self._per_column(j)) for j in range(omega.shape[-1])
        )

    def _cutoff(self, tol, d):
        return -np.asarray(self.sigma) * math.log(tol / d)

    def _support(self, tol, d):
        return math.sqrt(1 / tol - 1) / (2 * math.pi * np.asarray(self.sigma))


class Triangle(SpectralMeasure):
    """A kernel with a kink and compact support, and nothing else: no sampler, no density."""

    width: float = positive(default=None)
    open_: ClassVar[tuple[str, ...]] = ("width",)

    def _covariance(self, lags):
        k = 1.0
        for j in range(lags.d):
            t = 1 - abs(lags.column(j)) / self.width
            k = k * (t + abs(t)) / 2
        return k


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_the_laws_hold(d):
    always = {"factors", "isotropy"} if d == 1 else set()  # one column is its own factor, and has one direction
    torch = {"torch"} if importlib.util.find_spec("torch") else set()
    for measure in (LaplaceSpectrum(0.3), LaplaceSpectrum(np.linspace(0.2, 0.4, d)), 2.0 * LaplaceSpectrum(0.3)):
        missing = {"polar", "atoms", "mgf", "factors", "isotropy", "radial", "gaussian", "torch"} - always - torch
        assert _laws_that_ran(measure, d) == {law.name for law in SPECTRUM_LAWS if not missing & set(law.needs)}
    assert _laws_that_ran(Triangle(2.0), d) == {law.name for law in SPECTRUM_LAWS if set(law.needs) <= torch | always}


def _laws_that_ran(measure, d):
    return {law for law, outcome in check_spectrum(measure, d).items() if outcome == "ran"}


@pytest.mark.parametrize("rule", ["iid", "qmc"])
@pytest.mark.parametrize("d", [1, 3])
def test_rules_hold_their_laws_on_it(rule, d):
    assert set(check_rule(RULES[rule], LaplaceSpectrum(0.3), d).values()) == {"ran"}


def test_what_it_lacks_is_refused_with_an_alternative():
    X = np.ones((5, 2))
    with pytest.raises(CapabilityError, match=r"LaplaceSpectrum\(sigma=0.3\) has no polar in 2 .* Use rule='qmc'"):
        FourierFeatures(LaplaceSpectrum(0.3), rule="orthogonal").fit(X)
    with pytest.raises(CapabilityError, match=r"Triangle\(width=2.0\) has no transport .* SpectralKernel instead"):
        FourierFeatures(Triangle(2.0)).fit(X)
    with pytest.raises(ValueError, match="no width yet"):
        FourierFeatures(Triangle()).fit(X)


def test_in_fourier_features_as_template_with_grid_search():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2)) * [1, 100]
    y = np.sin(3 * X[:, 0]) * np.cos(X[:, 1] / 40)
    model = make_pipeline(FourierFeatures(LaplaceSpectrum(), random_state=0), Ridge(alpha=1e-3))
    search = GridSearchCV(model, {"fourierfeatures__multiplier": [0.01, 1.0, 100.0]}).fit(X, y)
    assert search.best_params_ == {"fourierfeatures__multiplier": 1.0}
    assert search.best_score_ > 0.95
    features = FourierFeatures(LaplaceSpectrum(0.3) + Gaussian(0.1), n_components=4096, random_state=0).fit(X[:40])
    Z = features.transform(X[:40])
    # independent draws would have a standard error of at most mass / sqrt(2048) = 0.044; quasi-random ones less
    np.testing.assert_allclose(Z @ Z.T, (LaplaceSpectrum(0.3) + Gaussian(0.1)).gram(X[:40]), rtol=0, atol=6 * 0.044)


def test_in_a_scikit_learn_gaussian_process():
    x = np.linspace(0, 5, 40)[:, None]
    y = np.sin(2 * x[:, 0])
    kernel = SpectralKernel(1.0 * LaplaceSpectrum(0.3)) + WhiteKernel(1e-2)
    gp = GaussianProcessRegressor(kernel).fit(x, y + 0.1 * np.random.default_rng(0).normal(size=40))
    assert gp.log_marginal_likelihood_value_ > gp.log_marginal_likelihood(kernel.theta)
    assert gp.score(x, y) > 0.97
    theta = gp.kernel_.theta
    _, gradient = gp.log_marginal_likelihood(theta, eval_gradient=True)
    steps = 1e-5 * np.eye(len(theta))
    differences = [
        (gp.log_marginal_likelihood(theta + e) - gp.log_marginal_likelihood(theta - e)) / 2e-5 for e in steps
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-5, atol=1e-4)


def test_in_gpytorch():
    torch = pytest.importorskip("torch")
    pytest.importorskip("gpytorch")
    from spectralkit.torch import SpectralKernel as TorchKernel

    measure = LaplaceSpectrum(0.3) * Triangle(2.0)
    X = np.random.default_rng(0).normal(size=(12, 3))
    kernel = TorchKernel(measure).double()
    with torch.no_grad():
        K = kernel(torch.tensor(X)).to_dense().numpy()
        rounded = measure.replace(**{name: float(value) for name, value in kernel.parameter_values().items()})
    np.testing.assert_allclose(K, rounded.gram(X), rtol=0, atol=1e-12)


def test_in_a_grid_gaussian_process():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 1, size=(60, 1)), axis=0)
    y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=60)
    measure, noise_std, tol = LaplaceSpectrum(4.0), 0.3, 1e-4
    gp = GridGP(measure, noise_std, tol).fit(X, y)
    K = measure.gram(X) + noise_std**2 * np.eye(60)
    expected = -0.5 * (y @ linalg.solve(K, y, assume_a="pos") + np.linalg.slogdet(K)[1] + 60 * math.log(2 * math.pi))
    # the kernel is wrong by about tol, the likelihood by n tol / noise^2
    np.testing.assert_allclose(gp.log_marginal_likelihood(), expected, rtol=0, atol=60 * tol / noise_std**2)
