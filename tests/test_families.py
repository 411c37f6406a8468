"""Each family against closed forms from elsewhere: mpmath, SciPy, scikit-learn, GPyTorch."""

import math

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.gaussian_process import kernels as theirs
from sklearn.metrics.pairwise import laplacian_kernel

import spectralkit
from spectralkit import (
    Atomic,
    BandLimited,
    CapabilityError,
    FourierFeatures,
    Gaussian,
    Ladder,
    Laplacian,
    Matern,
    Periodic,
    RationalQuadratic,
    SpectralKernel,
    SpectralMeasure,
    SpectralMixture,
)
from spectralkit.spectra._bessel import log_gamma, log_power_kv
from spectralkit.spectra._dual import Dual, chain

DIMENSIONS = (1, 2, 3, 7)


def points(n, d, seed=0):
    return np.random.default_rng([seed, d]).normal(size=(n, d))


def slope(function, x):
    """Derivative to log x."""
    return float(mp.mpf(x) * mp.diff(function, mp.mpf(x)))


# -- z^nu K_nu(z) -----------------------------------------------------------------------------------------------------

ORDERS = (0.0, 1e-6, 0.3, 0.5, 2.7, 80.3, 500.0)
ARGUMENTS = np.array([1e-140, 1e-30, 1e-8, 1e-3, 0.7, 5.0, 300.0, 1e5])


def reference_log_k(nu, z):
    return mp.log(mp.besselk(mp.mpf(nu), mp.mpf(z)) * mp.mpf(z) ** mp.mpf(nu))


@pytest.mark.parametrize("nu", ORDERS)
def test_log_z_nu_k_nu_and_its_derivatives_to_order_and_argument(nu):
    with mp.workdps(40):
        expected = np.array([float(reference_log_k(nu, z)) for z in ARGUMENTS])
    # nu log z is among the terms, and the sum has up to 10 |log z| of them
    rounding = 4 * np.finfo(float).eps * (10 + (nu + 1) * np.abs(np.log(ARGUMENTS)) + np.abs(expected))
    assert (np.abs(log_power_kv(nu, ARGUMENTS) - expected) <= rounding).all()  # SciPy, where it does not overflow
    along_z = log_power_kv(nu, Dual(ARGUMENTS, ARGUMENTS))  # the integral
    assert (np.abs(along_z.value - expected) <= rounding).all()
    with mp.workdps(40):
        ratios = [-z * mp.besselk(mp.mpf(nu) - 1, z) / mp.besselk(nu, z) for z in map(mp.mpf, ARGUMENTS)]
    assert (np.abs(along_z.slope - np.array(ratios, dtype=float)) <= 4 * rounding).all()


@pytest.mark.parametrize("nu", [1e-6, 0.3, 2.7, 80.3])
def test_derivative_of_log_k_to_the_order(nu):
    along_nu = log_power_kv(Dual(nu, nu), ARGUMENTS[1:-1])
    with mp.workdps(30):
        expected = [slope(lambda n, z=z: reference_log_k(n, z), nu) for z in ARGUMENTS[1:-1]]
    assert_allclose(along_nu.slope, expected, rtol=2e-13, atol=1e-13 * nu)


def test_log_k_under_torch_is_that_of_numpy():
    torch = pytest.importorskip("torch")
    z, nu = (
        torch.tensor([0.01, 0.7, 5.0], dtype=torch.float64, requires_grad=True),
        torch.tensor(1.3, dtype=torch.float64),
    )
    assert torch.autograd.gradcheck(log_power_kv, (nu.requires_grad_(), z))
    assert_allclose(log_power_kv(nu, z).detach(), log_power_kv(1.3, z.detach().numpy()), rtol=1e-14)
    assert torch.autograd.gradcheck(log_gamma, nu)


def test_a_function_of_several_arguments_follows_the_chain_rule():
    z = chain(
        lambda a, b: a * b**2, (lambda out, a, b: b**2, lambda out, a, b: 2 * a * b), Dual(3.0, 1.0), Dual(2.0, 5.0)
    )
    assert (z.value, z.slope) == (12.0, 4.0 + 60.0)
    assert chain(lambda a: a + 1, (lambda out, a: 1.0,), 1.0) == 2.0


# -- Matern ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [0.01, 0.3, 0.75, 1.1, 2.0, 3.7, 60.0])
def test_matern_of_any_order_and_its_slope(nu):
    measure, scale = Matern(1.0, nu=nu), 2 * math.pi * math.sqrt(2 * nu)
    s = (np.geomspace(1e-8, 50, 25) / scale) ** 2
    z = measure._profile(Dual(s, 2 * s))
    with mp.workdps(40):
        r = [scale * mp.sqrt(mp.mpf(x)) for x in s]
        norm = 2 ** (1 - mp.mpf(nu)) / mp.gamma(nu)
        value = np.array([norm * x**nu * mp.besselk(nu, x) for x in r], dtype=float)
        slope = np.array([-norm * x ** (nu + 1) * mp.besselk(nu - 1, x) for x in r], dtype=float)
    assert_allclose(z.value, value, rtol=1e-12)
    assert_allclose(z.slope, slope, rtol=1e-12)


def test_matern_orders_meet_at_the_closed_forms():
    tau = np.linspace(0, 3, 40)[:, None]
    for nu in (0.5, 1.5, 4.5):
        assert_allclose(
            Matern(0.3, nu=nu * (1 + 1e-10)).characteristic(tau), Matern(0.3, nu=nu).characteristic(tau), atol=1e-9
        )


def test_matern_agrees_with_scikit_learn_at_other_orders():
    X = points(20, 3)
    for nu in (0.3, 2.0):
        assert_allclose(Matern.from_lengthscale(0.7, nu=nu).gram(X), theirs.Matern(0.7, nu=nu)(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("nu", [1e-3, 20.5, 21.5, 55.0, 500.0, 1e5])
def test_matern_of_extreme_order_is_finite_everywhere(nu):
    measure = Matern(1.0, nu=nu)
    tau = np.concatenate([[0.0], np.geomspace(1e-160, 1e150, 80)])[:, None]
    k = measure.characteristic(tau)
    assert (k[0], k[-1]) == (1.0, 0.0)
    assert ((k >= 0) & (k <= 1)).all()
    assert (np.diff(k) <= 1e-9).all()
    K, G = measure.gram_gradient(tau[:-10])
    assert np.isfinite(K).all()
    assert np.isfinite(G).all()
    if nu >= 500:  # the Gaussian is the limit; the next term is of order 1 / nu
        near = np.linspace(0, 1, 20)[:, None]
        assert_allclose(measure.characteristic(near), Gaussian(1.0).characteristic(near), rtol=0, atol=0.5 / nu)


def test_matern_without_closed_form_has_no_torch_and_says_so():
    torch = pytest.importorskip("torch")
    assert "torch" in Matern(0.1, nu=20.5).capabilities(2) - Matern(0.1, nu=2.0).capabilities(2)
    with pytest.raises(CapabilityError, match=r"Matern\(sigma=0.1, nu=2.0\) has no torch .* Use NumPy arrays"):
        Matern(0.1, nu=2.0).gram(torch.zeros(3, 2))
    for nu in (0, -1.5, math.inf, math.nan, "1.5", True, [0.5]):
        with pytest.raises(ValueError, match="nu must be a positive finite number"):
            Matern(0.1, nu=nu)


# -- rational quadratic ------------------------------------------------------------------------------------------------


def reference_log_density(alpha, v, d):
    """The Gaussian density averaged over its Gamma distributed squared width."""
    alpha, v = mp.mpf(alpha), mp.mpf(v)
    nu, z = alpha - mp.mpf(d) / 2, mp.sqrt(2 * alpha * v)
    return mp.log(2 / mp.gamma(alpha) * (alpha / (2 * mp.pi)) ** (mp.mpf(d) / 2) * (z / 2) ** nu * mp.besselk(nu, z))


def test_rational_quadratic_has_the_values_and_gradients_of_scikit_learn():
    X = points(25, 3)
    K, G = RationalQuadratic.from_lengthscale(0.8, alpha=1.7).gram_gradient(X)
    expected, slopes = theirs.RationalQuadratic(length_scale=0.8, alpha=1.7)(X, eval_gradient=True)
    assert_allclose(K, expected, rtol=0, atol=1e-14)
    assert_allclose(G[0], -slopes[..., 1], rtol=0, atol=1e-13)  # log sigma is minus log length_scale
    assert_allclose(G[1], slopes[..., 0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("alpha", [0.2, 1.0, 4.0, 150.0])
def test_rational_quadratic_density_and_its_gradient(alpha, d):
    v = np.array([1e-12, 1e-3, 1.0, 200.0])
    omega = np.zeros((4, d))
    omega[:, 0] = np.sqrt(v)
    measure = RationalQuadratic(1.0, alpha=alpha)
    with mp.workdps(30):
        expected = [float(reference_log_density(alpha, x, d)) for x in v]
        to_alpha = [slope(lambda a, x=x: reference_log_density(a, x, d), alpha) for x in v]
        to_sigma = [-d - 2 * slope(lambda y: reference_log_density(alpha, y, d), x) for x in v]
    assert_allclose(measure.log_density(omega), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(measure.log_density_gradient(omega), [to_sigma, to_alpha], rtol=2e-12, atol=2e-12)


def test_rational_quadratic_density_at_frequency_zero():
    for alpha, d in ((0.5, 1), (1.0, 2), (2.0, 7)):
        assert RationalQuadratic(1.0, alpha=alpha).log_density(np.zeros((1, d))) == math.inf
    for alpha, d in ((0.8, 1), (1.3, 2), (30.0, 7)):
        at_zero = math.lgamma(alpha - d / 2) - math.lgamma(alpha) + d / 2 * math.log(alpha / (2 * math.pi))
        assert_allclose(
            RationalQuadratic(1.0, alpha=alpha).log_density(np.zeros((1, d))), [at_zero], rtol=0, atol=1e-12
        )
        assert RationalQuadratic(1.0, alpha=alpha).log_density(np.zeros((1, d), np.float32)).dtype == np.float32


def test_rational_quadratic_with_alpha_1_is_a_laplace_distribution_in_one_column():
    """Its quantile function is elementary; what is computed comes from an integral and its numerical inverse."""
    measure, u = RationalQuadratic(0.3, alpha=1.0), np.concatenate([np.linspace(0, 1, 401), [1e-9, 1 - 1e-9]])[:, None]
    laplace = stats.laplace(scale=0.3 / math.sqrt(2))
    inside = np.clip(u, 2.0**-40, 1 - 2.0**-40)
    assert measure.uniforms(1) == measure.polar_uniforms(1) == 1
    assert_allclose(measure.transport(u, 1), laplace.ppf(inside), rtol=1e-8, atol=1e-12)
    assert_allclose(
        measure.transport(u[2:-5], 1)[abs(u[2:-5] - 0.5) > 1e-3],
        laplace.ppf(u[2:-5][abs(u[2:-5] - 0.5) > 1e-3]),
        rtol=1e-11,
    )
    assert_allclose(measure.cutoff(1e-6, 1), laplace.isf(5e-7), rtol=1e-11)


@pytest.mark.long
@pytest.mark.parametrize("alpha", [0.1, 0.3, 3.0, 30.0])
def test_rational_quadratic_quantiles_undo_the_integral_of_the_density(alpha):
    measure, u = RationalQuadratic(1.0, alpha=alpha), np.array([0.6, 0.9, 0.999])
    for x, p in zip(measure.transport(u[:, None], 1)[:, 0], 1 - u, strict=True):
        with mp.workdps(20):
            edges = [x + step for step in (0, 0.1, 0.5, 1, 2, 4, 8, 16, 32, 64, 128)]
            tail = mp.quad(lambda r: mp.e ** reference_log_density(alpha, r * r, 1), edges)
        assert_allclose(float(tail), p, rtol=2e-11)
        assert_allclose(measure.cutoff(2 * p, 1), [x], rtol=1e-10)


def test_rational_quadratic_with_tiny_alpha_takes_two_numbers_and_stays_finite():
    measure = RationalQuadratic(1.0, alpha=1e-3)
    assert (measure.uniforms(1), measure.polar_uniforms(1)) == (2, 2)
    omega = measure.transport(np.random.default_rng(0).random((500, 2)), 1)
    assert np.isfinite(omega).all()
    low, high = measure.cutoff(0.9, 1)[0], measure.cutoff(1e-3, 1)[0]
    assert 0 < low < 1e-100  # most of its mass is at zero
    assert high > 5


def test_rational_quadratic_of_large_alpha_is_gaussian():
    omega, tau = np.linspace(0, 2, 9)[:, None], np.linspace(0, 1, 9)[:, None]
    measure, limit = RationalQuadratic(0.4, alpha=1e6), Gaussian(0.4)
    assert_allclose(measure.characteristic(tau), limit.characteristic(tau), rtol=0, atol=1e-6)
    assert_allclose(measure.log_density(omega), limit.log_density(omega), rtol=0, atol=2e-4)
    assert_allclose(measure.cutoff(1e-6, 2), limit.cutoff(1e-6, 2), rtol=1e-5)


def test_rational_quadratic_density_under_torch():
    torch = pytest.importorskip("torch")
    omega, measure = points(5, 2), RationalQuadratic([0.3, 0.5], alpha=1.7)
    parameters = {
        name: torch.tensor(getattr(measure, name), dtype=torch.float64, requires_grad=True)
        for name in ("sigma", "alpha")
    }
    log_p = measure.replace(**parameters).log_density(torch.tensor(omega))
    assert_allclose(log_p.detach(), measure.log_density(omega), rtol=1e-13)
    log_p.sum().backward()
    slopes = [*(parameters["sigma"].grad.numpy() * measure.sigma), parameters["alpha"].grad.numpy() * 1.7]
    assert_allclose(slopes, measure.log_density_gradient(omega).sum(axis=1), rtol=1e-11)


# -- Laplacian ---------------------------------------------------------------------------------------------------------


def test_laplacian_has_the_values_of_scikit_learn_and_the_gradients_of_its_formula():
    X, Y = points(20, 3), points(7, 3, seed=1)
    assert_allclose(Laplacian.from_gamma(0.4).gram(X, Y), laplacian_kernel(X, Y, gamma=0.4), rtol=0, atol=1e-14)
    per_column = Laplacian.from_gamma([0.4, 1.0, 2.0])
    assert_allclose(per_column.gram(X, Y), laplacian_kernel(X * [0.4, 1, 2], Y * [0.4, 1, 2], gamma=1), atol=1e-14)
    for measure in (Laplacian(0.1), per_column):
        G = measure.gram_gradient(X)[1]
        by_dual_numbers = np.empty_like(G)
        from spectralkit.spectra._lags import all_pairs

        SpectralMeasure._covariance_gradient(measure, all_pairs(X), list(by_dual_numbers))
        assert_allclose(G, by_dual_numbers, rtol=0, atol=1e-14)


def test_laplacian_frequencies_are_independent_cauchy():
    sigma, omega = np.array([0.2, 0.7]), points(9, 2)
    measure = Laplacian(sigma)
    assert_allclose(measure.density(omega), stats.cauchy(scale=sigma).pdf(omega).prod(axis=1), rtol=1e-13)
    u = np.random.default_rng(0).random((9, 2))
    assert_allclose(measure.transport(u, 2), stats.cauchy(scale=sigma).ppf(u), rtol=1e-11)
    for tol in (0.3, 1e-9):
        inside = 1 - 2 * stats.cauchy(scale=sigma).sf(measure.cutoff(tol, 2))
        assert_allclose(1 - inside.prod(), tol, rtol=1e-6)


def test_laplacian_in_one_column_is_matern_one_half():
    tau = np.linspace(-3, 3, 20)[:, None]
    one, other = Laplacian(0.3), Matern(0.3, nu=0.5)
    assert_allclose(one.characteristic(tau), other.characteristic(tau), rtol=1e-13)
    assert_allclose(one.log_density(tau), other.log_density(tau), rtol=1e-13)
    assert_allclose(one.cutoff(1e-3, 1), other.cutoff(1e-3, 1), rtol=1e-10)
    assert_allclose(one.support(1e-3, 1), other.support(1e-3, 1), rtol=1e-10)


# -- band-limited ------------------------------------------------------------------------------------------------------


def reference_band(u, d):
    nu = mp.mpf(d) / 2
    return mp.gamma(nu + 1) * mp.besselj(nu, u) / (mp.mpf(u) / 2) ** nu


@pytest.mark.parametrize("d", [*DIMENSIONS, 40])
def test_band_limited_kernel_is_a_bessel_function(d):
    u = np.concatenate([np.geomspace(1e-9, 1, 10), np.linspace(1.5, 200, 30)])
    tau = u[:, None] / (2 * math.pi) * np.eye(d)[-1]
    k = BandLimited(1.0).characteristic(tau)
    assert_allclose(k, [float(reference_band(x, d)) for x in u], rtol=0, atol=4e-15)
    assert BandLimited(1.0).characteristic(np.zeros(d)) == 1.0


def test_band_limited_in_very_many_columns_has_draws_but_no_kernel():
    k = BandLimited(1.0)._profile_in(np.geomspace(1e-300, 1e12, 200), 150)
    assert_allclose(k, np.exp(-2 * math.pi**2 * np.geomspace(1e-300, 1e12, 200) / 152), rtol=0, atol=0.01)
    with pytest.raises(ValueError, match=r"in up to 150 columns, but the points have 151. Use Gaussian"):
        BandLimited(1.0).gram(np.zeros((2, 151)))
    assert BandLimited(1.0).capabilities(151) == BandLimited(1.0).capabilities(150) - {"mgf"}
    assert FourierFeatures("band_limited").fit_transform(points(3, 151)).shape == (3, 256)


def test_band_limited_in_one_column_is_sinc_and_interpolates():
    measure, tau = BandLimited(2.0), np.linspace(-3, 3, 50)
    assert_allclose(measure.characteristic(tau[:, None]), np.sinc(4 * tau), rtol=0, atol=2e-15)
    assert_allclose(measure.gram(np.arange(9.0)[:, None] / 4), np.eye(9), rtol=0, atol=1e-15)


@pytest.mark.parametrize("d", [1, 3])
def test_band_limited_under_torch_is_smooth_at_zero(d):
    torch = pytest.importorskip("torch")
    measure = BandLimited(1.0)
    for u in (0.0, 1e-12, 1e-3, 1 - 1e-12, 1 + 1e-12, 1.5):  # the power series ends at 1
        tau = torch.full((1, d), u / (2 * math.pi * math.sqrt(d)), dtype=torch.float64, requires_grad=True)
        k = measure.characteristic(tau)
        assert_allclose(k.detach(), measure.characteristic(tau.detach().numpy()), rtol=0, atol=3e-16)
        k.sum().backward()
        radial = -u / (d + 2) * float(mp.hyp0f1(mp.mpf(d) / 2 + 2, -(mp.mpf(u) ** 2) / 4))
        assert_allclose(tau.grad.sum() / math.sqrt(d), 2 * math.pi * radial, rtol=1e-13, atol=1e-15)
    with pytest.raises(CapabilityError, match="has no torch in 2"):
        measure.characteristic(torch.zeros(1, 2))
    with pytest.raises(CapabilityError, match="no mgf for tensors"):
        measure.log_mgf(torch.zeros(1, d))


@pytest.mark.parametrize("d", DIMENSIONS)
def test_band_limited_support_bounds_every_later_lobe(d):
    measure = BandLimited(1.0)
    reaches = []
    for tol in (0.9, 0.1, 1e-2, 1e-4):
        reach = measure.support(tol, d)[0]
        u = 2 * math.pi * reach * (1 + np.linspace(0, 1, 4001))
        k = measure.characteristic(u[:, None] / (2 * math.pi) * np.eye(d)[0])
        assert np.abs(k).max() <= tol * (1 + 1e-9)
        reaches.append(reach)
        if tol <= 1e-2:  # tight: the next lobe nearly touches the bound
            assert np.abs(k[u < u[0] + 2 * math.pi]).max() >= 0.5 * tol
    assert (np.diff(reaches) > 0).all()
    far = BandLimited(1.0).support(1e-14, d)[0]  # the modulus is sqrt(2 / (pi u)) there
    height = math.gamma(d / 2 + 1) * 2 ** (d / 2) * math.sqrt(2 / math.pi)
    assert_allclose(far, (height / 1e-14) ** (2 / (d + 1)) / (2 * math.pi), rtol=1e-3)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_band_limited_frequencies_fill_a_ball(d):
    sigma = np.linspace(0.2, 0.5, d)
    measure = BandLimited(sigma)
    inside, outside = 0.99 * sigma * np.eye(d)[0], 1.01 * sigma * np.eye(d)[0]
    volume = math.pi ** (d / 2) / math.gamma(d / 2 + 1) * sigma.prod()
    assert_allclose(measure.density(np.stack([0 * inside, inside, outside])), [1 / volume, 1 / volume, 0], rtol=1e-13)
    assert_array_equal(measure.log_density_gradient(inside[None])[:, 0], -np.ones(d))
    assert_array_equal(measure.cutoff(1e-9, d), sigma)
    omega = measure.transport(np.random.default_rng(0).random((20_000, measure.uniforms(d))), d) / sigma
    assert (np.linalg.norm(omega, axis=1) <= 1 + 1e-12).all()
    spread = (omega**2).mean(axis=0)  # variance 1 / (d + 2); that of the square is below 1
    assert_allclose(spread, 1 / (d + 2), rtol=0, atol=6 * math.sqrt(3 / ((d + 2) * (d + 4)) / 20_000))


@pytest.mark.parametrize("d", DIMENSIONS)
def test_band_limited_mgf_is_the_kernel_at_an_imaginary_lag(d):
    w = np.array([0.0, 1e-6, 0.5, 1.0, 1.0 + 1e-9, 3.0, 40.0, 2000.0])
    with mp.workdps(30):
        expected = [float(mp.log(mp.hyp0f1(mp.mpf(d) / 2 + 1, mp.mpf(x) ** 2 / 4))) for x in w]
    x = w[:, None] / (2 * math.pi) * np.eye(d)[0]
    assert_allclose(BandLimited(1.0).log_mgf(x), expected, rtol=1e-13, atol=1e-15)


# -- periodic ----------------------------------------------------------------------------------------------------------


def test_periodic_has_the_values_and_gradients_of_scikit_learn():
    X, length_scale, period = points(25, 1) * 3, 0.7, 1.9
    K, G = Periodic(frequency=1 / period, sigma=1 / (period * length_scale)).gram_gradient(X)
    expected, slopes = theirs.ExpSineSquared(length_scale, period)(X, eval_gradient=True)
    to_length, to_period = np.moveaxis(slopes, -1, 0)
    assert_allclose(K, expected, rtol=0, atol=1e-13)
    # log length_scale = log frequency - log sigma, log period = -log frequency
    assert_allclose(G, [to_length - to_period, -to_length], rtol=0, atol=1e-12)


def test_periodic_has_the_values_of_gpytorch():
    torch, gpytorch = pytest.importorskip("torch"), pytest.importorskip("gpytorch")
    X, kernel = points(9, 1), gpytorch.kernels.PeriodicKernel().double()
    kernel.lengthscale, kernel.period_length = 0.6, 1.3
    lengthscale, period = kernel.lengthscale.item(), kernel.period_length.item()  # they went through float32
    ours = Periodic(frequency=1 / period, sigma=1 / (period * math.sqrt(lengthscale)))
    assert_allclose(ours.gram(X), kernel(torch.tensor(X)).to_dense().detach(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("ratio", [0.1, 1.0, 12.0, 50.0])
def test_periodic_harmonics(ratio):
    frequency = 0.4
    measure = Periodic(frequency, ratio * frequency)
    frequencies, weights = measure.atoms(1)
    count = len(weights)
    assert_array_equal(frequencies[:, 0], frequency * np.arange(count))
    kappa = mp.mpf(ratio) ** 2
    some = sorted({0, 1, count // 2, count - 1})
    expected = [float((2 - (j == 0)) * mp.exp(-kappa) * mp.besseli(j, kappa)) for j in some]
    assert_allclose(weights[some], expected, rtol=1e-10)
    assert abs(weights.sum() - 1) <= 1e-15
    assert weights[-1] <= 1e-13
    assert_allclose(math.sqrt((weights * frequencies[:, 0] ** 2).sum()), measure.sigma, rtol=1e-11)
    for tol in (0.3, 1e-3, 1e-9):
        (edge,) = measure.cutoff(tol, 1)
        assert weights[frequencies[:, 0] > edge * (1 + 1e-12)].sum() <= tol
        assert weights[frequencies[:, 0] > edge - 0.5 * frequency].sum() > tol or edge == 0
    x = np.linspace(-0.1, 0.1, 5)[:, None] / max(frequency, measure.sigma)  # the atoms left out are not seen yet
    series = np.log(np.cosh(2 * math.pi * x * frequencies[:, 0]) @ weights)
    assert_allclose(measure.log_mgf(x), series, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("ratio", [0.1, 1.0, 5.0])
def test_periodic_is_positive_and_smallest_after_half_a_period(ratio):
    measure = Periodic(0.4, 0.4 * ratio)
    tau = np.linspace(0, 2.5, 1001)[:, None]
    k, least = measure.characteristic(tau), math.exp(-2 * ratio**2)
    assert "nonnegative" in measure.capabilities(1)
    assert_allclose([k[500], k.min()], least, rtol=1e-13)
    frequencies, weights = measure.atoms(1)
    series = np.cos(2 * math.pi * tau * frequencies[:, 0]) @ weights  # without what is left out, 1e-15
    assert series.min() >= least - 2e-15 * len(weights)


def test_periodic_is_gaussian_within_a_small_part_of_a_period():
    tau = np.linspace(0, 1, 9)[:, None]
    assert_allclose(
        Periodic(1e-4, 0.4).characteristic(tau), Gaussian(0.4).characteristic(tau), rtol=0, atol=1e-6
    )  # sin^2 x = x^2 (1 - x^2 / 3), x up to 3e-4


def test_periodic_refuses_what_it_is_not():
    with pytest.raises(ValueError, match=r"describes 1 column\(s\), but the points have 2"):
        Periodic(1.0, 1.0).gram(np.zeros((3, 2)))
    for arguments in ((1.0,), (None, 1.0), ([1.0, 2.0], 1.0), (1.0, [1.0])):
        with pytest.raises(ValueError, match="must be given, a single number"):
            Periodic(*arguments)
    with pytest.raises(ValueError, match=r"harmonics. Use Gaussian\(sigma\)"):
        Periodic(1e-6, 1.0).atoms(1)
    seasonal = Gaussian(0.1) * Periodic(1.0, 2.0).on([1])
    assert_allclose(seasonal.characteristic([0.0, 3.0]), Gaussian(0.1).characteristic([0.0, 3.0]), rtol=1e-13)


# -- ladder ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("unit", "lowest"), [(1, 1 / (2 * math.pi)), ("pi", 0.5), ("2pi", 1.0)])
@pytest.mark.parametrize("d", DIMENSIONS)
def test_ladder_is_the_mean_of_its_waves(unit, lowest, d):
    measure, tau = Ladder(4, unit=unit), points(6, d)
    phases = 2 * math.pi * lowest * 2.0 ** np.arange(4) * tau[..., None]
    assert_allclose(measure.characteristic(tau), np.cos(phases).mean(axis=(1, 2)), rtol=0, atol=1e-13)
    frequencies, weights = measure.atoms(d)
    assert_array_equal(frequencies, np.concatenate([lowest * 2.0**octave * np.eye(d) for octave in range(4)]))
    assert_allclose(weights, 1 / (4 * d), rtol=1e-15)
    assert_array_equal(measure.cutoff(1e-3, d), np.full(d, 8 * lowest))


def test_ladder_of_given_frequencies_learns_them_and_of_octaves_nothing():
    X, given = points(8, 2), Ladder([0.5, 1.0, 2.0])
    assert given.pack().tolist() == np.log([0.5, 1.0, 2.0]).tolist()
    assert Ladder(3).pack().size == 0
    assert_array_equal(given.gram(X), Ladder(3).gram(X))
    K, G = Ladder(3).gram_gradient(X)
    assert G.shape == (0, 8, 8)
    assert_allclose(K, Atomic(*Ladder(3).atoms(2)).gram(X), rtol=0, atol=1e-15)
    assert (2.0 * Ladder(3)).pack().size == 1


def test_ladder_features_have_its_kernel():
    X = points(10, 2)
    features = FourierFeatures(Ladder(5)).fit(X)
    Z = features.transform(X)
    assert Z.shape == (10, 20)
    assert_allclose(Z @ Z.T, Ladder(5).gram(X), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "positive and finite"),
        ((2.5,), "number of octaves, an integer from 1 to 1000"),
        ((1001,), "number of octaves, an integer from 1 to 1000"),
        (([1.0, -2.0],), "positive and finite"),
        (([[1.0], [2.0]],), "must have shape"),
        ((3, "tau"), "unit must be 1, 'pi' or '2pi'"),
        (([1.0, 2.0], "2pi"), "unit='2pi' is for octaves"),
    ],
)
def test_ladder_refuses_what_it_cannot_mean(arguments, message):
    with pytest.raises(ValueError, match=message):
        Ladder(*arguments)


# -- sums, names, templates --------------------------------------------------------------------------------------------


def test_a_light_heavy_tail_does_not_widen_the_cutoff_of_a_sum():
    light = Gaussian(0.3) + 0.001 * Matern(0.3, nu=0.5)
    (narrow,), (wide,) = light.cutoff(1e-2, 1), Matern(0.3, nu=0.5).cutoff(1e-2, 1)
    assert narrow < 2 * Gaussian(0.3).cutoff(1e-2, 1)[0] < 0.2 * wide  # it holds less than a tenth of the tolerance
    for measure in (light, Gaussian(0.3) + Gaussian(0.1), Gaussian([0.3, 0.1]) + 0.1 * Matern([0.1, 0.3], nu=0.5)):
        d = measure.dimension or 1
        for tol in (0.5, 1e-2, 1e-5):
            same_fraction = np.max([part.cutoff(tol, d) for part in measure.parts], axis=0)
            assert measure.cutoff(tol, d).prod() <= same_fraction.prod()
            if d == 1:
                edge = measure.cutoff(tol, 1)[0]
                masses = [float(part.mass) for part in measure.parts]
                laws = [stats.norm, stats.norm] if "Matern" not in repr(measure) else [stats.norm, stats.cauchy]
                scales = [0.3, 0.3 if len(set(laws)) == 2 else 0.1]
                beyond = sum(2 * m * law(scale=s).sf(edge) for m, law, s in zip(masses, laws, scales, strict=True))
                assert beyond <= tol * sum(masses) * (1 + 1e-9)


@pytest.mark.parametrize("name", ["rational_quadratic", "laplacian", "band_limited"])
def test_families_by_name(name):
    X = points(40, 2)
    features = FourierFeatures(name, n_components=2048, random_state=0).fit(X)
    family = {"rational_quadratic": RationalQuadratic, "laplacian": Laplacian, "band_limited": BandLimited}[name]
    assert type(features.spectrum_) is family
    assert_allclose(features.spectrum_.sigma, Gaussian().resolve(X).sigma)
    Z = features.transform(X)
    assert_allclose(Z @ Z.T, features.spectrum_.gram(X), rtol=0, atol=6 / math.sqrt(1024))


@pytest.mark.parametrize(
    "measure",
    [
        RationalQuadratic([0.1, 0.2], alpha=0.7),
        Laplacian([0.1, 0.2]),
        BandLimited(0.3),
        Matern(0.2, nu=1.2),
        Ladder([0.5, 1.0]),
        Periodic(0.5, 0.6).on([0]) * Gaussian(0.2).on([1]),
    ],
    ids=lambda measure: type(measure).__name__,
)
def test_families_in_a_scikit_learn_gaussian_process_kernel(measure):
    X, kernel = points(12, 2), SpectralKernel(measure)
    theta = kernel.theta
    K, G = kernel(X, eval_gradient=True)
    assert_allclose(K, measure.gram(X), rtol=0, atol=1e-15)
    for i, move in enumerate(1e-5 * np.eye(len(theta))):
        difference = (kernel.clone_with_theta(theta + move)(X) - kernel.clone_with_theta(theta - move)(X)) / 2e-5
        assert_allclose(G[..., i], difference, rtol=1e-6, atol=1e-9)


def test_families_are_public():
    for cls in (BandLimited, Ladder, Laplacian, Periodic, RationalQuadratic, SpectralMixture):
        assert cls.__name__ in spectralkit.__all__
        assert cls.__name__ in spectralkit.spectra.__all__
