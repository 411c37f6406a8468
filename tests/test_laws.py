"""The table of laws: every measure, in one to seven columns, and the list of laws that ran."""

import importlib.util
import re

import numpy as np
import pytest

from spectralkit import (
    Atomic,
    BandLimited,
    Gaussian,
    Ladder,
    Laplacian,
    Matern,
    Periodic,
    RationalQuadratic,
    SpectralMeasure,
    SpectralMixture,
    positive,
)
from spectralkit.spectra import Product, Radial, Sum
from spectralkit.testing import SPECTRUM_LAWS, check_spectrum
from spectralkit.testing._case import SpectrumCase

DIMENSIONS = (1, 2, 3, 7)


def _scales(d):
    return np.linspace(0.2, 0.5, d)


def _mixture(d):
    rng = np.random.default_rng(d)
    means, sigmas = 0.5 * rng.normal(size=(2, d)), rng.uniform(0.1, 0.3, (2, d))
    return SpectralMixture(weights=[0.5, 0.8], means=means, sigmas=sigmas)


def _atoms(d):
    return Atomic(np.random.default_rng(d).normal(size=(3, d)), [0.2, 0.3, 0.6])


def _rest(d):
    return range(1, d)


# label -> measure in d columns, capabilities that it has not
ALL_BUT_ATOMS = {"atoms"}
HEAVY_TAILS = {"atoms", "mgf"}
NOT_ROUND = {"atoms", "mgf", "polar"}
NO_PRODUCT = {"density", "polar", "atoms"}
MEASURES = {
    "gaussian": (lambda d: Gaussian(0.3), ALL_BUT_ATOMS),
    "gaussian, sigma per column": (lambda d: Gaussian(_scales(d)), ALL_BUT_ATOMS),
    "gaussian, tiny sigma": (lambda d: Gaussian(1e-6), ALL_BUT_ATOMS),
    "matern 1/2": (lambda d: Matern(0.3, nu=0.5), HEAVY_TAILS),
    "matern 3/2, sigma per column": (lambda d: Matern(_scales(d), nu=1.5), HEAVY_TAILS),
    "matern 5/2": (lambda d: Matern(0.25, nu=2.5), HEAVY_TAILS),
    "matern 9/2": (lambda d: Matern(250.0, nu=4.5), HEAVY_TAILS),
    "matern 0.3": (lambda d: Matern(0.3, nu=0.3), HEAVY_TAILS | {"torch"}),
    "matern 2.2, sigma per column": (lambda d: Matern(_scales(d), nu=2.2), HEAVY_TAILS | {"torch"}),
    "rational quadratic": (lambda d: RationalQuadratic(0.3, alpha=d / 2 + 0.3), HEAVY_TAILS),
    "rational quadratic, sigma per column": (lambda d: RationalQuadratic(_scales(d), alpha=d / 2 + 3.0), HEAVY_TAILS),
    "laplacian": (lambda d: Laplacian(0.3), NOT_ROUND),
    "laplacian, sigma per column": (lambda d: Laplacian(_scales(d)), NOT_ROUND),
    "band limited": (lambda d: BandLimited(0.7), ALL_BUT_ATOMS),
    "band limited, sigma per column, and more": (lambda d: BandLimited(_scales(d)) + Gaussian(0.5), ALL_BUT_ATOMS),
    "mixture": (_mixture, ALL_BUT_ATOMS),
    "ladder": (lambda d: Ladder([0.4, 0.8, 1.6]), {"density"}),
    "atoms": (_atoms, {"density"}),
    "atoms of equal weight": (lambda d: Atomic(np.eye(d) + 0.1), {"density"}),
    "multiple": (lambda d: 2.0 * Gaussian(0.3), ALL_BUT_ATOMS),
    "sum": (lambda d: Gaussian(0.3) + 0.5 * Matern(_scales(d), nu=1.5), HEAVY_TAILS),
    "sum of unequal parts": (lambda d: Gaussian(0.3) + 0.01 * Matern(3.0, nu=0.5), HEAVY_TAILS),
    "sum with atoms": (lambda d: Gaussian(0.2) + _atoms(d), {"density", "atoms"}),
    "product on shared columns": (lambda d: Gaussian(0.3) * _mixture(d), NO_PRODUCT),
    "product of atoms": (lambda d: _atoms(d) * Atomic(np.full((2, d), 0.3) * [[1], [2]]), {"density", "polar"}),
}
GROUPED = {
    "one column": (lambda d: Gaussian(0.3).on([0]), {"density", "atoms"}),
    "all columns in another order": (lambda d: Matern(_scales(d), nu=1.5).on(range(d)[::-1]), HEAVY_TAILS),
    "tensor product": (lambda d: Gaussian(0.3).on([0]) * Matern(0.4, nu=1.5).on(_rest(d)), HEAVY_TAILS),
    "tensor product of gaussians": (
        lambda d: 2.0 * (Gaussian(0.3).on([d - 1]) * Gaussian(_scales(d)[1:]).on(range(d - 1)[::-1])),
        ALL_BUT_ATOMS,
    ),
    "additive": (lambda d: Gaussian(0.3).on([0]) + Matern(0.4, nu=1.5).on([d - 1]), {"density", "atoms", "mgf"}),
    "tensor product with a sum": (
        lambda d: (Gaussian(0.2).on([0]) + 0.5 * Gaussian(0.4).on([0])) * Gaussian(0.3).on(_rest(d)),
        ALL_BUT_ATOMS,
    ),
    "tree": (
        lambda d: 1.5 * (Gaussian(0.3).on([0]) * Atomic([[0.3] * (d - 1)]).on(_rest(d))) + _mixture(d),
        {"density", "atoms"},
    ),
}
ONE_COLUMN = {
    "periodic": (lambda d: Periodic(0.4, 0.7), {"density"}),
    "periodic times gaussian": (lambda d: Periodic(0.4, 0.7) * Gaussian(0.1), NO_PRODUCT),
}
CASES = [(label, d) for d in DIMENSIONS for label in MEASURES | (ONE_COLUMN if d == 1 else GROUPED)]

ISOTROPIC = {"gaussian", "gaussian, tiny sigma", "matern 1/2", "matern 5/2", "matern 9/2", "multiple"}
ISOTROPIC |= {"matern 0.3", "rational quadratic", "band limited", "sum of unequal parts"}


RADIAL = {label for label in MEASURES if label.startswith(("gaussian", "matern", "rational"))} | {"multiple"}
NORMAL = {"gaussian", "gaussian, sigma per column", "gaussian, tiny sigma", "multiple", "tensor product of gaussians"}
SEPARABLE = set(NORMAL)
SEPARABLE |= {"laplacian", "laplacian, sigma per column", "tensor product with a sum"}
WAVES = {label for label in MEASURES if label.startswith(("band limited", "mixture", "ladder", "atoms"))}
WAVES |= {"sum with atoms", "product on shared columns", "product of atoms", "tree"}


@pytest.mark.parametrize(("label", "d"), CASES)
def test_laws_hold_and_only_those_without_the_capability_are_left_out(label, d):
    make, missing = (MEASURES | GROUPED | ONE_COLUMN)[label]
    if d > 1 and label not in ISOTROPIC:
        missing = missing | {"isotropy"}
    if not (d == 1 or label in SEPARABLE or (label == "tensor product" and d == 2)):
        missing = missing | {"factors"}
    if label not in RADIAL:
        missing = missing | {"radial"}
    if label not in NORMAL:
        missing = missing | {"gaussian"}
    if label in WAVES:
        missing = missing | {"nonnegative"}
    if label.startswith("band limited") and d not in (1, 3):
        missing = missing | {"torch"}
    if importlib.util.find_spec("torch") is None:
        missing = missing | {"torch"}
    report = check_spectrum(make(d), d)
    expected = {law.name: "ran" for law in SPECTRUM_LAWS}
    for law in SPECTRUM_LAWS:
        lacking = [need for need in law.needs if need in missing]
        if lacking:
            expected[law.name] = f"does not apply: no {', '.join(lacking)}"
    assert report == expected


@pytest.mark.parametrize(("label", "d"), [(label, d) for label, d in CASES if label in WAVES])
def test_a_kernel_that_is_not_declared_nonnegative_is_negative_somewhere(label, d):
    measure = (MEASURES | GROUPED)[label][0](d)
    case = SpectrumCase(measure, d, seed=0)
    directions = case.rng(13).normal(size=(20_000, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lags = directions * (case.length * 2.0 ** np.linspace(-4, 10, 20_000))[:, None]
    assert "nonnegative" not in measure.capabilities(d)
    assert measure.characteristic(lags).min() < -1e-4 * case.mass


@pytest.mark.parametrize(
    ("measure", "d", "answer"),
    [
        (Gaussian(), 3, True),
        (2.0 * Matern().on([0]) * Laplacian(0.1), 2, True),
        (BandLimited(), 1, False),
        (SpectralMixture(n_mixtures=2), 1, False),
        (SpectralMixture(means=[0.0, 0.0]), 1, True),
        (SpectralMixture([1.0, 2.0], [[0.0, 0.0], [0.0, -0.0]], [[0.1, 0.2], [0.3, 0.4]]), 2, True),
        (SpectralMixture([1.0, 2.0], [[0.0, 0.0], [0.0, 0.1]], [[0.1, 0.2], [0.3, 0.4]]), 2, False),
        (Atomic([[0.0, 0.0]]), 2, True),
        (Gaussian() + Atomic([0.0]), 1, True),
        (Gaussian() + Atomic([0.3]), 1, False),
        (Gaussian() * BandLimited(0.2), 2, False),
        (Gaussian() + BandLimited(0.2), 2, False),
        (BandLimited(0.2).on([1]), 2, False),
        (Periodic(0.4, 0.7).on([1]) * Gaussian(), 2, True),
        (Ladder(3), 2, False),
    ],
    ids=repr,
)
def test_who_is_nonnegative(measure, d, answer):
    assert ("nonnegative" in measure.capabilities(d)) is answer


def test_the_book_of_laws_is_complete():
    assert [law.name for law in SPECTRUM_LAWS] == [
        "the kernel at zero is the mass",
        "the kernel is even and bounded by its mass",
        "a kernel declared nonnegative is nowhere negative",
        "gram matrices are the kernel of lags and positive",
        "gradients are finite differences",
        "frequencies have the kernel as their mean cosine",
        "frequencies are drawn from the even measure",
        "frequencies from directions have the kernel as their mean cosine",
        "sums and products of kernels and samplers agree",
        "the density integrates to the mass and transforms to the kernel",
        "an isotropic kernel has an isotropic density",
        "gradients of the log density are finite differences",
        "frequencies are lengths times directions times sigma",
        "the factors multiply to the kernel",
        "atoms give the kernel exactly",
        "no more than tol of the mass lies beyond the cutoff",
        "the kernel is below tol beyond its support",
        "the moment generating function is the mean exponential",
        "gaussian frequencies are normal with the standard deviations that are stated",
        "the kernel and its frequencies scale together",
        "torch gives the values and gradients of numpy",
        "float32 is kept and far offsets change nothing",
        "measures are values",
        "terms add up to the measure",
        "missing capabilities and wrong columns are refused",
    ]
    needs = {need for law in SPECTRUM_LAWS for need in law.needs}
    capabilities = {"transport", "polar", "density", "atoms", "cutoff", "support", "mgf", "factors", "radial"}
    capabilities |= {"gaussian", "nonnegative", "torch"}
    assert needs == capabilities | {"isotropy", "parameters of known unit"}


# -- gradients between two sets of points ------------------------------------------------------------------------------


def _two_sets(label, d):
    """A measure, points (14, d) and (5, d) that share one, and the step of each number of `pack` that counts as one."""
    measure = (MEASURES | GROUPED | ONE_COLUMN)[label][0](d)
    case = SpectrumCase(measure, d, seed=1)
    X, Y = case.points, 1.5 * case.length * case.rng(14).normal(size=(5, d))
    Y[3] = X[3]
    a_radian = 1 / (2 * np.pi * np.abs(X[:, None] - Y).sum(axis=-1).max())
    units = [np.full(p.size, 1.0 if p.domain == "positive" else a_radian) for p in measure.parameters()]
    return measure, case.mass, X, Y, np.concatenate([np.empty(0), *units])


TWO_SETS = [(label, d) for label, d in CASES if d in (1, 3)]
EPS = np.finfo(float).eps


@pytest.mark.parametrize(("label", "d"), TWO_SETS)
def test_gradients_between_two_sets_are_central_differences(label, d):
    measure, mass, X, Y, units = _two_sets(label, d)
    K, G = measure.gram_gradient(X, Y)
    np.testing.assert_allclose(K, measure.gram(X, Y), rtol=0, atol=1e-13 * mass)
    assert G.shape == (len(units), 14, 5)
    theta, step, longer = measure.pack(), EPS ** (1 / 3), EPS ** (1 / 5)
    for i, unit in enumerate(units):

        def difference(h, i=i, unit=unit):
            move = h * unit * np.eye(len(theta))[i]
            return measure.unpack(theta + move).gram(X, Y) - measure.unpack(theta - move).gram(X, Y)

        third = np.abs(difference(2 * longer) - 2 * difference(longer)).max() / (2 * longer**3)
        # what the series leaves out, and the rounding of two values and of their phases of a few turns
        error = 2 * step**2 / 6 * third + 32 * EPS * mass / step
        np.testing.assert_allclose(G[i] * unit, difference(step) / (2 * step), rtol=0, atol=error)


@pytest.mark.parametrize(("label", "d"), TWO_SETS)
def test_gradients_between_two_sets_are_those_of_one_set_of_single_rows_and_of_float32(label, d):
    measure, mass, X, Y, units = _two_sets(label, d)
    units = units[:, None, None]

    def assert_same(found, expected, eps):
        for a, b, unit in zip(found, expected, (1.0, units), strict=True):
            np.testing.assert_allclose(a * unit, b * unit, rtol=64 * eps, atol=64 * eps * mass)

    assert_same(measure.gram_gradient(X, X.copy()), measure.gram_gradient(X), EPS)
    K, G = measure.gram_gradient(X, Y)
    assert_same(measure.gram_gradient(X[:1], Y), (K[:1], G[:, :1]), EPS)
    assert_same(measure.gram_gradient(X, Y[:1]), (K[:, :1], G[:, :, :1]), EPS)
    free = np.arange(len(units)) % 2 == 1
    masked = measure.gram_gradient(X, Y, free=free)
    np.testing.assert_array_equal(masked[0], K)
    np.testing.assert_array_equal(masked[1], G[free])
    single = [points.astype(np.float32) for points in (X, Y)]
    found = measure.gram_gradient(*single)
    assert found[0].dtype == found[1].dtype == np.float32
    assert_same(found, measure.gram_gradient(*(points.astype(float) for points in single)), np.finfo(np.float32).eps)
    for first, second in ((single[0], Y), (X, single[1])):
        assert {array.dtype for array in measure.gram_gradient(first, second)} == {first.dtype}


# -- the laws can fail: each of these measures has one fault, and one law names it ------------------------------------


class _WrongScale(Gaussian):
    """The sampler uses another sigma than the kernel (by 10 %)."""

    def _transport(self, u, d):
        return 1.1 * super()._transport(u, d)


class _PerAxisStudent(Matern):
    """Independent Student t coordinates instead of one multivariate t: right in one column only."""

    def _uniforms(self, d):
        return d

    def _transport(self, u, d):
        from scipy import special

        return special.stdtrit(2 * self.nu, u) * self.sigma


class _WrongDegreesOfFreedom(Matern):
    """Student t with nu instead of 2 nu degrees of freedom."""

    def _radius(self, u, d):
        return Matern(nu=self.nu / 2 if float(self.nu / 2 + 0.5).is_integer() else self.nu + 1)._radius(u, d)


class _OneSided(Atomic):
    """Draws each frequency with one sign only: right alone, wrong in products."""

    def _transport(self, u, d):
        from spectralkit.spectra._choose import choose

        return self._atoms(d)[0][choose(u[:, 0], self.weights)[0]]


class _DensityWithoutScale(Gaussian):
    """The density forgets to divide by sigma."""

    def _log_density(self, omega):
        return super()._log_density(omega) + omega.shape[-1] * np.log(self.sigma)


class _ProductOverColumns(SpectralMixture):
    """The product over columns of one-dimensional mixtures, as a well-known library has it."""

    def _covariance(self, lags):
        k = 1.0
        for j in range(lags.d):
            one = SpectralMixture(self.weights, np.asarray(self.means)[:, [j]], np.asarray(self.sigmas)[:, [j]])
            k = k * one._covariance(lags.on([j]))
        return k

    _covariance_gradient = SpectralMeasure._covariance_gradient


class _LinearGradient(Gaussian):
    """The gradient to sigma instead of to its logarithm."""

    def _covariance_gradient(self, lags, out):
        K = super()._covariance_gradient(lags, out)
        out[0] /= self.sigma
        return K


class _ShortCutoff(Gaussian):
    """The cut-off forgets the union bound over two tails and d columns."""

    def _cutoff(self, tol, d):
        return self._marginal_isf(2 * tol) * self.sigma


class _ShortSupport(Gaussian):
    def _support(self, tol, d):
        return 0.9 * super()._support(tol, d)


class _OtherSpread(Gaussian):
    """The standard deviation of the kernel's lags instead of that of the frequencies."""

    def _gaussian_sigma(self, d):
        return 1 / (2 * np.pi * self.sigma)


class _WrongMass(Gaussian):
    def _mass(self):
        return 2.0


class _SaysNonnegative(BandLimited):
    """A declaration that nobody has proved."""

    _nonnegative = True


class _Directional(Gaussian):
    """Orthogonal features with radii of the wrong dimension."""

    def _radius(self, u, d):
        return super()._radius(u, d + 1)


FAULTY = {
    "wrong scale": (_WrongScale(0.3), 3, "frequencies have the kernel as their mean cosine"),
    "t per axis": (_PerAxisStudent(0.3, nu=0.5), 3, "frequencies have the kernel as their mean cosine"),
    "degrees of freedom": (_WrongDegreesOfFreedom(0.3, nu=1.5), 2, "frequencies have the kernel as their mean cosine"),
    "one-sided": (_OneSided([[0.3, 0.1], [0.9, -0.4]], [0.3, 0.8]), 2, "frequencies are drawn from the even measure"),
    "density": (_DensityWithoutScale(0.3), 2, "the density integrates to the mass and transforms to the kernel"),
    "product over columns": (
        _ProductOverColumns([0.5, 1.0], [[0.3, -0.2], [1.1, 0.7]], [[0.1, 0.2], [0.3, 0.05]]),
        2,
        "the kernel at zero is the mass",
    ),
    "linear gradient": (_LinearGradient(0.3), 2, "gradients are finite differences"),
    "cutoff": (_ShortCutoff(0.3), 3, "no more than tol of the mass lies beyond the cutoff"),
    "support": (_ShortSupport(0.3), 2, "the kernel is below tol beyond its support"),
    "spread": (_OtherSpread(0.3), 2, "gaussian frequencies are normal with the standard deviations that are stated"),
    "mass": (_WrongMass(0.3), 2, "the kernel at zero is the mass"),
    "nonnegative": (_SaysNonnegative(0.3), 7, "a kernel declared nonnegative is nowhere negative"),
    "radii": (_Directional(0.3), 3, "frequencies from directions have the kernel as their mean cosine"),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_measure_breaks_the_law_that_names_its_fault(fault):
    measure, d, law = FAULTY[fault]
    with pytest.raises(AssertionError, match=re.escape(f"breaks the law '{law}'")):
        check_spectrum(measure, d)


# -- closed forms from elsewhere --------------------------------------------------------------------------------------


def _hankel(log_radial_density, d, tau):
    """mpmath: the Fourier transform in d dimensions of a density that depends on |omega| alone, at |tau|."""
    import mpmath as mp

    area = 2 * mp.pi ** (mp.mpf(d) / 2) / mp.gamma(mp.mpf(d) / 2)

    def integrand(r):
        plane_wave = mp.hyp0f1(
            mp.mpf(d) / 2, -((mp.pi * r * tau) ** 2)
        )  # mean of cos(2 pi omega . tau) over directions
        return area * r ** (d - 1) * mp.e ** log_radial_density(r) * plane_wave

    return mp.quad(integrand, [0, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128])


@pytest.mark.parametrize("d", [1, 2, 3, 7])
@pytest.mark.parametrize("tau", [0.0, 0.7])
def test_gaussian_density_transforms_to_the_kernel_in_high_precision(d, tau):
    import mpmath as mp

    measure = Gaussian(0.4)
    direction = np.eye(d)[0]
    value = _hankel(lambda r: mp.mpf(float(measure.log_density(float(r) * direction))), d, tau)
    np.testing.assert_allclose(float(value), measure.characteristic(tau * direction), rtol=0, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_matern_density_integrates_to_one_and_transforms_to_the_kernel(d):
    import mpmath as mp

    measure = Matern(0.4, nu=3.5)  # tails of order |omega|^-(7 + d): the integral to 128 misses less than 1e-14
    direction = np.eye(d)[0]
    for tau in (0.0, 0.7):
        value = _hankel(lambda r: mp.mpf(float(measure.log_density(float(r) * direction))), d, tau)
        np.testing.assert_allclose(float(value), measure.characteristic(tau * direction), rtol=0, atol=1e-11)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 3.5, 6.5])
def test_matern_equals_the_bessel_function(nu):
    import mpmath as mp

    for tau in (1e-3, 0.1, 1.0, 3.0):
        r = mp.sqrt(2 * nu) * 2 * mp.pi * mp.mpf("0.3") * mp.mpf(tau)
        expected = 2 ** (1 - mp.mpf(nu)) / mp.gamma(nu) * r**nu * mp.besselk(nu, r)
        np.testing.assert_allclose(Matern(0.3, nu=nu).characteristic([tau]), float(expected), rtol=1e-12)


def test_mixture_in_two_columns_has_the_value_of_the_mixture_not_of_the_product():
    measure = SpectralMixture([0.5, 1.0], [[0.3, -0.2], [1.1, 0.7]], [[0.1, 0.2], [0.3, 0.05]])
    np.testing.assert_allclose(measure.characteristic([0.4, -0.9]), 0.1872147471867131, rtol=1e-14)


# -- templates, parameters and trees ----------------------------------------------------------------------------------


def test_one_scale_for_a_product_of_column_groups():
    """Gaussian().on([0]) * Gaussian().on([1]) resolves to the same kernel as Gaussian(); sums keep their own count."""
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1, 10, 0.1]
    whole = Gaussian().resolve(X)
    split = (Gaussian().on([0]) * Gaussian().on([1, 2])).resolve(X)
    np.testing.assert_allclose(split.gram(X), whole.gram(X), rtol=0, atol=1e-14)
    additive = (Gaussian().on([0]) + Gaussian().on([1])).resolve(X)
    np.testing.assert_allclose(additive.parts[0].part.sigma, 1 / (2 * np.pi * X[:, :1].std(axis=0)), rtol=1e-14)
    mixed = ((Gaussian().on([0]) + Gaussian().on([1])) * Gaussian().on([2])).resolve(X)
    first = mixed.parts[0].parts[0].part.sigma
    np.testing.assert_allclose(first, 1 / (2 * np.pi * np.sqrt(2) * X[:, :1].std(axis=0)), rtol=1e-14)


def test_partial_scales_and_sigma_per_column_are_cut_by_group():
    X = np.ones((4, 3))
    partly = (Gaussian(0.3).on([0]) * Matern(nu=0.5).on([2, 1])).resolve(X, sigma=[1.0, 2.0, 3.0], multiplier=10.0)
    assert partly == Gaussian(0.3).on([0]) * Matern([30.0, 20.0], nu=0.5).on([2, 1])


def test_parameter_names_of_a_tree_pass_through_multiples_and_groups():
    tree = 2.0 * (Gaussian(0.1).on([0]) + 3.0 * Matern(0.2, nu=1.5)) * Gaussian([0.3, 0.4])
    assert [p.name for p in tree.parameters()] == [
        "0__factor",
        "0__0__sigma",
        "0__1__factor",
        "0__1__sigma",
        "1__sigma",
    ]
    np.testing.assert_allclose(np.exp(tree.pack()), [2.0, 0.1, 3.0, 0.2, 0.3, 0.4])
    changed = tree.replace(**{"0__1__nu": 0.5, "1__sigma": 0.7})
    assert repr(changed) == (
        "(2.0 * (Gaussian(sigma=0.1).on([0]) + 3.0 * Matern(sigma=0.2, nu=0.5))) * Gaussian(sigma=0.7)"
    )
    assert changed.parts[0].part.parts[0] is tree.parts[0].part.parts[0]


def test_compositions_are_flat():
    a, b, c = Gaussian(0.1), Gaussian(0.2), Gaussian(0.3)
    assert (a + b) + c == a + (b + c) == Sum((a, b, c))
    assert (a * b) * c == a * (b * c) == Product((a, b, c))
    assert 2.0 * (3.0 * a) == 6.0 * a == a * 6.0 == np.float64(6.0) * a


def test_arrays_keep_their_shape_through_theta():
    for measure in (
        Gaussian([0.1]),
        Gaussian(0.1),
        SpectralMixture([1.0], [[2.0]], [[0.1]]),
        SpectralMixture([1.0], [2.0], [0.1]),
    ):
        back = measure.unpack(measure.pack())
        for before, after in zip(measure.parameters(), back.parameters(), strict=True):
            assert np.shape(before.value) == np.shape(after.value)


def test_one_column_of_a_mixture_or_of_atoms_may_be_written_flat():
    tau = np.linspace(0, 2, 7)[:, None]
    flat = SpectralMixture([0.5, 0.8], [1.0, 2.0], [0.1, 0.2])
    deep = SpectralMixture([0.5, 0.8], [[1.0], [2.0]], [[0.1], [0.2]])
    np.testing.assert_array_equal(flat.characteristic(tau), deep.characteristic(tau))
    np.testing.assert_array_equal(Atomic([1.0, 2.0]).characteristic(tau), Atomic([[1.0], [2.0]]).characteristic(tau))


def test_what_resolve_makes_is_not_shared_with_the_caller():
    sigma = np.array([0.1, 0.2])
    resolved = Gaussian().resolve(np.ones((3, 2)), sigma=sigma)
    sigma[0] = 5.0
    assert resolved == Gaussian([0.1, 0.2])


class InverseMultiquadric(Radial):
    alpha: float = positive(default=1.0)

    def _profile(self, s):
        return (1 + 4 * np.pi**2 * s) ** (-self.alpha)


class _ByNumberOfColumns(Radial):
    def _profile_in(self, s, d):
        return np.exp(-d * s)


class _ByNumberOfColumnsDeclared(_ByNumberOfColumns):
    _nonnegative = True


class _Denied(InverseMultiquadric):
    _nonnegative = False


@pytest.mark.parametrize(
    ("measure", "answer"),
    [
        (InverseMultiquadric(), True),
        (_ByNumberOfColumns(0.3), False),
        (_ByNumberOfColumnsDeclared(0.3), True),
        (_Denied(0.3), False),
    ],
    ids=repr,
)
def test_a_radial_family_is_nonnegative_if_its_profile_is_for_any_number_of_columns_or_if_it_says_so(measure, answer):
    assert ("nonnegative" in measure.capabilities(2)) is answer


@pytest.mark.parametrize("d", DIMENSIONS)
def test_a_radial_family_of_one_method_has_kernel_gradients_support_and_torch(d):
    has = {"support", "nonnegative", "torch"} | ({"factors"} if d == 1 else set())
    assert InverseMultiquadric(0.3).capabilities(d) == has
    report = check_spectrum(InverseMultiquadric(_scales(d), alpha=1.3), d)
    if importlib.util.find_spec("torch") is None:
        has.remove("torch")
    assert {law for law, outcome in report.items() if outcome == "ran"} == {
        law.name for law in SPECTRUM_LAWS if set(law.needs) <= has | {"parameters of known unit"}
    }
