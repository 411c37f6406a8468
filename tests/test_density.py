"""Kernel density estimates against scikit-learn, closed forms, quadrature, and criteria written out."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, optimize, special, stats
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralkit import (
    Atomic,
    CapabilityError,
    Gaussian,
    Laplacian,
    Matern,
    Periodic,
    RationalQuadratic,
    SpectralMixture,
)
from spectralkit.attention import _fast, _least_squares
from spectralkit.attention._density import SpectralKernelDensity
from spectralkit.attention._least_squares import Criterion
from spectralkit.attention._rows import Rows


def cloud(n, d, seed=0):
    """Correlated normal points with columns of different spread."""
    rng = np.random.default_rng([seed, n, d])
    return rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d))) * np.geomspace(1, 3, d)


def density(X, kernel="gaussian", weights=None, **params):
    return SpectralKernelDensity(kernel, **params).fit(X, sample_weight=weights)


@parametrize_with_checks(
    [
        SpectralKernelDensity(),
        SpectralKernelDensity("matern32", bandwidth=0.5, method="nufft"),
    ]
)
def test_estimator_checks_of_scikit_learn(estimator, check):
    check(estimator)


# -- densities ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 8])
@pytest.mark.parametrize("bandwidth", [0.05, 0.5, 5.0])
def test_gaussian_densities_are_those_of_scikit_learn(d, bandwidth):
    X, rng = cloud(300, d), np.random.default_rng(d)
    weights = rng.uniform(0.1, 2, 300)
    queries = np.concatenate([X[:50], cloud(200, d, seed=1)])
    found = density(X, weights=weights, bandwidth=bandwidth)
    logs = special.logsumexp(-cdist(queries, X, "sqeuclidean") / (2 * bandwidth**2), b=weights, axis=1)
    logs -= np.log(weights.sum()) + d * np.log(np.sqrt(2 * np.pi) * bandwidth)
    assert_allclose(found.score_samples(queries), logs, rtol=1e-10, atol=1e-10)
    assert_allclose(found.score(queries), logs.sum(), rtol=1e-10)
    oracle = KernelDensity(bandwidth=bandwidth, rtol=0, atol=0).fit(X, sample_weight=weights).score_samples(queries)
    near = logs > logs.max() - 8  # further out scikit-learn is wrong itself
    assert near.sum() >= 50
    assert_allclose(found.score_samples(queries)[near], oracle[near], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("distance", [1e2, 1e4, 1e6, 1e9, 1e20, 1e150])
def test_gaussian_densities_are_finite_at_any_distance(distance):
    X, h = cloud(100, 2), np.array([0.2, 0.5])
    direction = np.array([[0.6, -0.8], [1.0, 0.0]])
    found = density(X, bandwidth=h).score_samples(distance * direction)
    exponents = -0.5 * cdist(distance * direction / h, X / h, "sqeuclidean")
    assert_allclose(found, special.logsumexp(exponents, axis=1) - np.log(100 * 2 * np.pi * 0.1), rtol=1e-14)


def test_beyond_the_range_of_numbers_the_density_of_a_gaussian_is_the_smallest():
    found = density(cloud(100, 2), bandwidth=1e-3).score_samples([[1e200, 0.0], [1e300, -1e300]])
    assert_array_equal(found, np.full(2, -np.finfo(float).max))


def student_t(X, queries, length, alpha):
    scale = length * np.sqrt(2 * alpha / (2 * alpha - 1))
    return stats.t.pdf((queries - X.T) / scale, 2 * alpha - 1).mean(axis=1) / scale


CLOSED_FORMS = {
    "laplacian": (Laplacian(), lambda X, q, h: np.exp(-(abs(q[:, None] - X) / h).sum(-1)) / np.prod(2 * h)),
    "matern12": (
        "matern12",
        lambda X, q, h: np.exp(-cdist(q / h, X / h)) / ({1: 2, 2: 2 * np.pi, 3: 8 * np.pi}[len(h)] * np.prod(h)),
    ),
    "three_kernels": (
        0.2 * Gaussian() + 0.6 * Gaussian(),
        lambda X, q, h: np.exp(-(cdist(q / h, X / h) ** 2) / 2) / (2 * np.pi) ** (len(h) / 2) / np.prod(h),
    ),
}


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_densities_have_their_closed_forms(name, d):
    kernel, oracle = CLOSED_FORMS[name]
    X, queries, h = cloud(40, d), cloud(60, d, seed=1), np.linspace(0.3, 0.8, d)
    found = density(X, kernel, bandwidth=h).score_samples(queries)
    assert_allclose(found, np.log(oracle(X, queries, h).mean(axis=1)), rtol=1e-10, atol=1e-10)


def test_rational_quadratic_densities_are_those_of_students_t():
    X, queries = cloud(40, 1), cloud(60, 1, seed=1) * 10
    for alpha in (0.7, 1.0, 4.0):
        found = density(X, RationalQuadratic(alpha=alpha), bandwidth=0.4).score_samples(queries)
        assert_allclose(np.exp(found), student_t(X, queries, 0.4, alpha), rtol=1e-9)


KERNELS = {
    "matern12": "matern12",
    "matern32": "matern32",
    "matern, 1.2": Matern(nu=1.2),
    "laplacian": "laplacian",
    "rational_quadratic": RationalQuadratic(alpha=3.0),
    "sum": 2.0 * Gaussian() + Matern(nu=2.5),
}


@pytest.mark.parametrize("name", KERNELS)
def test_densities_in_one_column_integrate_to_one(name):
    X = np.array([[-1.0], [0.0], [0.3], [5.0]])
    found = density(X, KERNELS[name], bandwidth=0.5, weights=[1.0, 2.0, 0.5, 1.0])
    pieces = [-np.inf, *X[:, 0], np.inf]
    total = sum(
        integrate.quad(lambda x: np.exp(found.score_samples([[x]])[0]), low, high, epsabs=1e-8)[0]
        for low, high in itertools.pairwise(pieces)
    )
    assert_allclose(total, 1, rtol=1e-7)


@pytest.mark.parametrize("name", KERNELS)
def test_densities_in_two_columns_integrate_to_one(name):
    """By the midpoint rule, about rows at the corners of its cells."""
    step = 0.04
    found = density(np.array([[0.0, 0.0], [0.4, -0.2]]), KERNELS[name], bandwidth=[0.4, 0.3])
    axis = np.arange(-6 + step / 2, 6, step)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    tail = 5e-3 if "rational" in name else 2e-3
    assert_allclose(np.exp(found.score_samples(grid)).sum() * step**2, 1, atol=tail)


def test_other_kernels_underflow_where_they_do_themselves():
    X = cloud(20, 1)
    narrow = density(X, "matern32", bandwidth=0.1)
    assert narrow.score_samples([[1e3]]) == narrow.score_samples([[1e100]]) == -np.inf
    heavy = density(X, "rational_quadratic", bandwidth=0.1)
    for far in ([[1e3]], [[1e100]]):
        assert_allclose(heavy.score_samples(far), np.log(student_t(X, np.array(far), 0.1, 1.0)), rtol=1e-9)


def test_a_measure_with_its_own_scale_needs_no_bandwidth():
    X, queries = cloud(50, 2), cloud(20, 2, seed=1)
    for open_, own in ((Gaussian(), Gaussian.from_lengthscale(0.7)), (Matern(), Matern.from_lengthscale(0.7))):
        expected = density(X, open_, bandwidth=0.7).score_samples(queries)
        for bandwidth in ("lscv", None):
            assert_allclose(density(X, 3.0 * own, bandwidth=bandwidth).score_samples(queries), expected, rtol=1e-12)
    assert_allclose(density(X, Gaussian.from_lengthscale([0.7, 0.2])).bandwidth_, [0.7, 0.2])
    assert density(X, Matern.from_lengthscale(0.7)).lscv_ < 0


# -- the criterion -----------------------------------------------------------------------------------------------------


ROOT = np.sqrt(2 * np.pi)


def gaussian_kernel(squares):
    return np.exp(-squares / 2)


def written_out(X, weights, h, kernel=gaussian_kernel, integral=ROOT, square=None):
    """The criterion for a kernel of the squared distance, from distinct rows; the first term by quadrature."""
    X, which = np.unique(X, axis=0, return_inverse=True)
    weights = np.bincount(which.ravel(), weights)
    total, d = weights.sum(), X.shape[1]
    h = np.broadcast_to(h, d)
    k = kernel(cdist(X / h, X / h, "sqeuclidean")) / (integral**d * np.prod(h))
    if square is None:
        grid = np.linspace(X.min() - 40 * h[0], X.max() + 40 * h[0], 40_001)
        f = sum(w * kernel(((grid - x) / h[0]) ** 2) for w, x in zip(weights, X[:, 0], strict=True))
        square = integrate.simpson((f / (integral * h[0] * total)) ** 2, x=grid)
    others = k * (1 - np.eye(len(X)))
    return square - 2 / total * (weights * (others @ weights) / (total - weights)).sum()


def square_of_gaussians(X, weights, h):
    h = np.broadcast_to(h, X.shape[1])
    pairs = np.exp(-cdist(X / h, X / h, "sqeuclidean") / 4) / np.prod(np.sqrt(4 * np.pi) * h)
    return weights @ pairs @ weights / weights.sum() ** 2


WEIGHTS = {"equal": np.ones, "unequal": lambda n: np.random.default_rng(n).exponential(size=n)}


@pytest.mark.parametrize("method", ["exact", "nufft"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("ties", [False, True])
def test_the_criterion_of_a_gaussian_is_the_one_written_out(weights, ties, method):
    X, w = cloud(80, 1), WEIGHTS[weights](80)
    X = X[np.arange(80) // 3] if ties else X
    for h in (0.05, 2.0):
        found = density(X, weights=w, bandwidth=h, method=method)
        assert found.method_ == method
        of_one_row = (w @ w) / w.sum() ** 2 / (ROOT * h)
        tolerance = 1e-9 if method == "exact" else 1e-3 * of_one_row
        assert_allclose(found.lscv_, written_out(X, w, h), rtol=1e-9, atol=tolerance)


@pytest.mark.parametrize("method", ["exact", "nufft"])
@pytest.mark.parametrize("d", [2, 3, 8])
def test_the_criterion_in_several_columns_is_the_one_written_out(d, method):
    X, w, h = cloud(150, d), WEIGHTS["unequal"](150), np.linspace(0.5, 0.9, d)
    found = density(X, weights=w, bandwidth=h, method=method).lscv_
    assert_allclose(found, written_out(X, w, h, square=square_of_gaussians(X, w, h)), rtol=1e-4, atol=1e-12)


PROFILES = {
    "matern12": (lambda s: np.exp(-np.sqrt(s)), 2.0),
    "matern32": (lambda s: (1 + np.sqrt(3 * s)) * np.exp(-np.sqrt(3 * s)), 4 / np.sqrt(3)),
    "rational_quadratic": (lambda s: 1 / (1 + s / 2), np.sqrt(2) * np.pi),
}


@pytest.mark.parametrize("name", PROFILES)
def test_the_criterion_of_other_kernels_is_the_one_written_out(name):
    kernel, integral = PROFILES[name]
    X, w = np.round(cloud(60, 1), 1), WEIGHTS["unequal"](60)
    for h in (0.1, 0.5):
        found, expected = density(X, name, weights=w, bandwidth=h).lscv_, written_out(X, w, h, kernel, integral)
        assert abs(found - expected) < 1e-3 * (w @ w) / w.sum() ** 2 / (integral * h)
        assert abs(found - expected) < 2e-3 * abs(expected)


def test_the_criterion_is_computed_when_it_is_asked_for(monkeypatch):
    found = density(cloud(40, 1), bandwidth=0.3)
    calls = []
    monkeypatch.setattr(Criterion, "_by_pairs", lambda *args: calls.append(args) or -1.0)
    assert found.lscv_ == found.lscv_
    assert_allclose(found.lscv_, -1 / (ROOT * 0.3))
    assert len(calls) == 1
    assert_allclose(found.set_params(bandwidth=0.6).fit(cloud(40, 1)).lscv_, -1 / (ROOT * 0.6))


def test_a_sample_of_many_rows_stands_for_them(monkeypatch):
    X, h = cloud(2000, 2), np.array([0.3, 0.4])
    whole = density(X, bandwidth=h).lscv_
    monkeypatch.setattr(_least_squares, "_PAIRS", 1.0)
    part = density(X, bandwidth=h).lscv_
    assert part != whole
    assert_allclose(part, whole, rtol=0.1)


# -- bandwidths --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "nufft"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_bandwidth_makes_the_criterion_smallest(d, method):
    X, w = cloud(200, d), np.ones(200)
    found = density(X, method=method)
    factor = found.bandwidth_ / X.std(axis=0)
    assert_allclose(factor, factor[0])

    def criterion(c):
        h = c * X.std(axis=0)
        return written_out(X, w, h, square=square_of_gaussians(X, w, h))

    value = criterion(factor[0])
    best = optimize.minimize_scalar(criterion, bounds=(0.5 * factor[0], 2 * factor[0]), method="bounded").fun
    assert value <= best + 1e-3 * abs(best)
    assert value <= min(criterion(c) for c in np.geomspace(0.01, 10, 100)) + 1e-2 * abs(best)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of statsmodels, at its import
def test_the_bandwidth_is_no_worse_than_that_of_statsmodels():
    nonparametric = pytest.importorskip("statsmodels.nonparametric.kernel_density")
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=80), 0.3 * rng.normal(size=40) + 3])
    oracle = nonparametric.KDEMultivariate(X, var_type="c", bw="cv_ls")
    found = density(X[:, None])
    criterion = [float(np.squeeze(oracle.imse(bandwidth))) for bandwidth in (found.bandwidth_, oracle.bw)]
    assert criterion[0] <= criterion[1] + 1e-4 * abs(criterion[1])
    assert_allclose(found.lscv_, criterion[0], rtol=1e-9)
    assert_allclose(found.bandwidth_, oracle.bw, rtol=0.05)


@pytest.mark.parametrize("method", ["exact", "nufft"])
@pytest.mark.parametrize("d", [1, 2])
def test_repeated_rows_do_not_draw_the_bandwidth_to_zero(d, method):
    X, rng = cloud(400, d), np.random.default_rng(0)
    expected = density(X, method=method).bandwidth_
    assert_allclose(density(np.repeat(X, 3, axis=0), method=method).bandwidth_, expected, rtol=1e-12)
    bootstrap = density(X[rng.integers(400, size=400)], method=method)
    assert_allclose(bootstrap.bandwidth_, expected, rtol=0.5)
    single = X.astype(np.float32)  # all multiples of a very small step, without neighbours
    assert_allclose(density(np.repeat(single, 3, axis=0), method=method).bandwidth_, expected, rtol=0.05)
    lattice = np.round(np.random.default_rng(d).normal(size=(300, 3)), 1)  # but almost no two rows are neighbours
    once, thrice = (density(np.repeat(lattice, times, axis=0)).bandwidth_ for times in (1, 3))
    assert_allclose(thrice, once, rtol=0.2)


def test_a_narrow_mode_is_found():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 1)), 1e-4 * rng.normal(size=(900, 1))])
    assert density(X).bandwidth_[0] < 1e-4


@pytest.mark.parametrize("method", ["exact", "nufft"])
@pytest.mark.parametrize("d", [1, 2])
def test_units_do_not_matter(d, method):
    X, queries, kernel = cloud(200, d), cloud(50, d, seed=1), ("matern52", "gaussian")[d - 1]
    one, other = density(X, kernel, method=method), density(1000 * X, kernel, method=method)
    assert_allclose(other.bandwidth_, 1000 * one.bandwidth_, rtol=1e-10)
    shift = -d * np.log(1000)
    assert_allclose(other.score_samples(1000 * queries), one.score_samples(queries) + shift, rtol=0, atol=1e-7)
    assert_allclose(other.lscv_, one.lscv_ / 1000**d, rtol=1e-6)


@pytest.mark.parametrize("method", ["exact", "nufft"])
@pytest.mark.parametrize("d", [1, 2])
def test_far_from_zero_nothing_is_lost(d, method):
    X, queries = (np.round(a * 2**20) / 2**20 for a in (cloud(200, d), cloud(50, d, seed=1)))
    offset, kernel = 2.0**27, ("matern52", "gaussian")[d - 1]
    one, other = density(X, kernel, method=method), density(X + offset, kernel, method=method)
    assert_allclose(other.bandwidth_, one.bandwidth_, rtol=1e-10)
    assert_allclose(other.score_samples(queries + offset), one.score_samples(queries), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("method", ["exact", "nufft"])
def test_weights_are_repetitions(method):
    X, times = cloud(200, 2), np.arange(200) % 4
    weighted = density(X, weights=times, method=method)
    repeated = density(np.repeat(X, times, axis=0), method=method)
    assert_allclose(weighted.bandwidth_, repeated.bandwidth_, rtol=1e-10)
    assert_allclose(weighted.lscv_, repeated.lscv_, rtol=1e-9)
    assert_allclose(weighted.score_samples(X), repeated.score_samples(X), rtol=1e-9)
    assert_allclose(density(X, weights=7.0, method=method).score_samples(X), density(X).score_samples(X), atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_dtypes_are_computed_in_double(dtype):
    X = (10 * cloud(100, 2)).astype(dtype)
    narrow, wide = density(X), density(X.astype(float))
    assert_allclose(narrow.bandwidth_, wide.bandwidth_, rtol=1e-10)
    found = narrow.score_samples(X)
    assert found.dtype == np.float64
    assert_allclose(found, wide.score_samples(X.astype(float)), rtol=1e-12)


@pytest.mark.parametrize("X", [[[2.0, 3.0]], [[2.0, 3.0]] * 4, [[2.0, 3.0], [2.0, 4.0]]], ids=str)
def test_few_rows_and_constant_columns(X):
    found, X = density(X), np.array(X)
    spread = X.std(axis=0)
    assert_array_equal(found.bandwidth_, np.where(spread > 0, spread, 1.0))
    oracle = [stats.multivariate_normal(row, np.diag(found.bandwidth_**2)).pdf([1.0, 1.0]) for row in X]
    assert_allclose(np.exp(found.score_samples([[1.0, 1.0]])), np.mean(oracle), rtol=1e-12)
    assert np.isfinite(found.lscv_)


def test_a_constant_column_beside_others_counts_as_one():
    X = np.column_stack([cloud(100, 1), np.full(100, 7.0)])
    found = density(X)
    assert_allclose(found.bandwidth_[0] / found.bandwidth_[1], X[:, 0].std())


def test_in_many_columns_the_criterion_stays_within_range():
    X = np.random.default_rng(0).normal(size=(60, 600)) * 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = density(X)
    assert 1e-4 < found.bandwidth_[0] < 1e-2
    assert np.isfinite(found.score_samples(X)).all()


# -- rounded rows ------------------------------------------------------------------------------------------------------


def rounded_written_out(X, weights, h, step):
    """The criterion of rows that stand for their cells, from all pairs of them; the first term by quadrature."""
    total = weights.sum()
    X, which = np.unique(X, axis=0, return_inverse=True)
    weights = np.bincount(which.ravel(), weights)
    out = np.minimum(weights, 1)

    def pairs(variance):
        k = np.ones((len(X), len(X)))
        for x, s, v in zip(X.T, step, variance, strict=True):
            k *= np.exp(-((x[:, None] - x) ** 2) / 2 / v) / lattice_sum(s, v)
        return k

    def lattice_sum(s, v):
        return s * np.exp(-((s * np.arange(-2000, 2001)) ** 2) / 2 / v).sum()

    if X.shape[1] == 1:
        row = h[0] ** 2 + step[0] ** 2 / 12
        grid = np.linspace(X.min() - 12 * row**0.5, X.max() + 12 * row**0.5, 40_001)
        f = np.exp(-((grid[:, None] - X[:, 0]) ** 2) / 2 / row) @ weights / np.sqrt(2 * np.pi * row) / total
        square = integrate.simpson(f**2, x=grid) * np.sqrt(4 * np.pi * row) / lattice_sum(step[0], 2 * row)
    else:
        square = weights @ pairs(2 * h**2 + step**2 / 6) @ weights / total**2
    k = pairs(h**2 + step**2 / 6)
    return square - 2 / total * (weights * (k @ weights - out * np.diag(k)) / (total - out)).sum()


@pytest.mark.parametrize("method", ["exact", "nufft"])
@pytest.mark.parametrize("weights", ["equal", "unequal", "repetitions"])
@pytest.mark.parametrize("step", [0.1, 0.5])
def test_the_criterion_of_rounded_rows_is_the_one_written_out(step, weights, method):
    X = np.round(np.random.default_rng(0).normal(size=(400, 1)) / step) * step
    rng = np.random.default_rng(1)
    w = {"equal": np.ones(400), "unequal": rng.uniform(0.5, 1.5, 400), "repetitions": rng.integers(0, 2, 400) + 0.0}
    w = w[weights]
    for h in (1e-6, 0.05, 0.3, 2.0):
        found = density(X, weights=w, bandwidth=h, method=method).lscv_
        atol = 1e-10 if method == "exact" else 1e-3 / 400 / step
        assert_allclose(found, rounded_written_out(X, w, np.array([h]), np.array([step])), rtol=1e-8, atol=atol)


def test_the_criterion_of_two_rounded_columns_is_the_one_written_out():
    step, h = np.array([0.2, 3.0]), np.array([0.15, 4.0])
    X = np.round(np.random.default_rng(0).normal(size=(500, 2)) * [1, 10] / step) * step + [0.05, 1.0]
    exact, fast = (density(X, bandwidth=h, method=method).lscv_ for method in ("exact", "nufft"))
    expected = rounded_written_out(X, np.ones(500), h, step)
    assert_allclose([exact, fast], expected, rtol=1e-4)
    assert_allclose(exact, expected, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("step", [0.01, 0.1])
@pytest.mark.parametrize("n", [400, 20_000])
def test_rounding_changes_little_in_the_bandwidth(n, step, dtype):
    """Rounding errors a tenth as wide as kernels or less, and criteria so flat that a tenth is within their noise."""
    X = np.random.default_rng(n).normal(size=(n, 1))
    expected = density(X, method="nufft").bandwidth_
    rounded = (np.round(X / step) * step).astype(dtype)
    assert_allclose(density(rounded, method="nufft").bandwidth_, expected, rtol=0.1)
    if n == 400:
        assert_allclose(density(rounded).bandwidth_, expected, rtol=0.1)
        assert_allclose(density(100 + 1000 * rounded).bandwidth_, 1000 * expected, rtol=0.1)


def test_rounding_changes_little_in_two_columns():
    X = np.random.default_rng(0).normal(size=(2000, 2)) * [1, 20]
    expected, rounded = density(X).bandwidth_, density(np.round(X / [0.1, 3]) * [0.1, 3])
    assert_allclose(rounded.bandwidth_, expected, rtol=0.1)


def test_ages_in_years():
    ages = 18 + 70 * np.random.default_rng(0).beta(2, 3, size=(3000, 1))
    expected = density(ages).bandwidth_
    for years in (np.floor(ages), ages.astype(int), ages.astype(np.float32).round()):
        assert_allclose(density(years).bandwidth_, expected, rtol=0.1)


@pytest.mark.parametrize("method", ["exact", "nufft"])
def test_weights_of_rounded_rows_are_repetitions(method):
    X = np.round(np.random.default_rng(0).normal(size=(2000, 1)), 1)
    values, counts = np.unique(X, axis=0, return_counts=True)
    weighted, repeated = density(values, weights=counts, method=method), density(X, method=method)
    assert_allclose(weighted.bandwidth_, repeated.bandwidth_, rtol=1e-10)
    assert_allclose(weighted.lscv_, repeated.lscv_, rtol=1e-6)


def test_no_bandwidth_is_below_half_a_step():
    rng = np.random.default_rng(0)
    for X, step in ((np.round(rng.normal(size=20_000)), 1.0), (rng.poisson(2.0, size=5000) * 0.5, 0.5)):
        found = density(X[:, None])
        assert 0.499 * step < found.bandwidth_[0] < step
        assert found.lscv_ < 0
    many = density(np.repeat(np.arange(12.0), np.arange(1, 13))[:, None])
    assert many.bandwidth_[0] > 0.5
    assert np.isfinite(many.score_samples([[0.5]])).all()


@pytest.mark.parametrize("noise", [1e-6, 1e-16])
def test_steps_are_found_up_to_rounding(noise):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(1000, 1)), 1)
    steps = _least_squares._steps(Rows.of(X * (1 + noise * (X > 1)), np.zeros((1000, 1))))
    assert_allclose(steps, 0.1, rtol=1e-4)
    for other in (
        np.where(X > 1, X + 0.03, X),  # two lattices
        np.abs(X) ** 1.5,
        np.sign(X),
        np.where(rng.uniform(size=X.shape) < 0.5, 0.0, X),  # many zeros
        np.column_stack([X, rng.normal(size=1000)])[np.arange(1000) // 2],
        np.column_stack([X, np.ones(1000)]),
        np.exp(100 * X),
        np.ones((1000, 1)),
    ):
        assert not _least_squares._steps(Rows.of(other, np.zeros((1000, 1)))).any()


# -- transforms --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "kernel"),
    [(1, "gaussian"), (2, "gaussian"), (3, "gaussian"), (1, "matern52"), (2, Matern(nu=6.5))],
    ids=str,
)
def test_transforms_give_the_densities_of_the_exact_method(d, kernel):
    X, weights = cloud(3000, d), np.random.default_rng(d).uniform(0.5, 2, 3000)
    queries = np.concatenate([X[:200], cloud(200, d, seed=1) * 1.5, np.full((1, d), 30.0), np.full((1, d), 1e4)])
    bandwidth = 0.3 * X.std(axis=0)
    fast, exact = (density(X, kernel, weights, bandwidth=bandwidth, method=m) for m in ("nufft", "exact"))
    assert (fast.method_, exact.method_, fast.method_note_) == ("nufft", "exact", "")
    assert_allclose(fast.score_samples(queries), exact.score_samples(queries), rtol=0, atol=2e-8)
    assert_allclose(fast.lscv_, exact.lscv_, rtol=1e-4)
    assert kernel != "gaussian" or np.isfinite(fast.score_samples(queries)).all()


@pytest.mark.parametrize("d", [1, 2])
def test_transforms_choose_the_bandwidth_of_the_exact_method(d):
    X = cloud(1000, d)
    fast, exact = (density(X, method=method) for method in ("nufft", "exact"))
    assert_allclose(fast.bandwidth_, exact.bandwidth_, rtol=0.02)
    assert_allclose(fast.lscv_, exact.lscv_, rtol=1e-4)


def test_the_search_goes_on_where_grids_are_too_large(monkeypatch):
    X = cloud(200, 2)
    expected = density(X, method="nufft").bandwidth_
    for size in (0, 1 << 17, 1 << 20):
        monkeypatch.setattr(_least_squares, "_GRID", size)
        assert_allclose(density(X, method="nufft").bandwidth_, expected, rtol=0.05)


def test_methods_are_chosen_by_size_and_explained(monkeypatch):
    X = cloud(150, 2)
    assert density(X).method_ == "exact"
    assert "fewer than 20000" in density(X).method_note_
    assert density(X, method="exact").method_note_ == ""
    monkeypatch.setattr(_fast, "MANY", 100)
    assert density(X).method_ == "nufft"
    assert_allclose(density(X).bandwidth_, density(X, method="exact").bandwidth_, rtol=0.02)
    assert "method='exact'" in density(X, "laplacian", bandwidth=0.1).method_note_
    assert "up to 3 columns" in density(cloud(300, 4), method="nufft").method_note_


def test_threads_change_nothing():
    X = cloud(600, 1)
    for method in ("exact", "nufft"):
        one, two = (density(X, method=method, n_jobs=jobs) for jobs in (1, 2))
        assert_array_equal(one.bandwidth_, two.bandwidth_)
        assert_array_equal(one.score_samples(X), two.score_samples(X))


# -- the estimator -----------------------------------------------------------------------------------------------------


def test_samples_have_the_moments_of_the_density():
    X, weights = cloud(50, 2), np.random.default_rng(0).uniform(size=50)
    found = density(X, weights=weights, bandwidth=[0.5, 2.0])
    n = 40_000
    sample = found.sample(n, random_state=0)
    mean = np.average(X, axis=0, weights=weights)
    cov = np.cov(X.T, aweights=weights, ddof=0) + np.diag([0.25, 4.0])
    assert (abs(sample.mean(axis=0) - mean) < 4 * np.sqrt(np.diag(cov) / n)).all()
    errors = np.sqrt((np.outer(np.diag(cov), np.diag(cov)) + cov**2) / n)
    assert (abs(np.cov(sample.T) - cov) < 5 * errors).all()
    assert_array_equal(sample, found.sample(n, random_state=0))
    assert found.sample().shape == (1, 2)
    assert found.sample(3, random_state=np.random.default_rng(0)).shape == (3, 2)
    near = density(X, bandwidth=1e-9).sample(100, random_state=0)
    assert (cdist(near, X).min(axis=1) < 1e-7).all()


def test_grid_search_over_bandwidths():
    X = cloud(200, 1)
    search = GridSearchCV(SpectralKernelDensity(), {"bandwidth": [0.01, 0.3, 10.0]}).fit(X)
    assert search.best_params_ == {"bandwidth": 0.3}
    oracle = GridSearchCV(KernelDensity(rtol=0), {"bandwidth": [0.01, 0.3, 10.0]}).fit(X)
    assert_allclose(search.cv_results_["mean_test_score"], oracle.cv_results_["mean_test_score"])


def test_pickles_carry_no_caches():
    X = cloud(500, 2)
    found = density(X, bandwidth=0.1, method="nufft")
    size = len(pickle.dumps(found))
    expected = found.score_samples(X)
    assert len(pickle.dumps(found)) == size
    again = pickle.loads(pickle.dumps(found))
    assert_array_equal(again.score_samples(X), expected)
    assert again.lscv_ == found.lscv_


def test_a_second_fit_forgets_the_first():
    X, Y = cloud(300, 2), cloud(300, 2, seed=1)
    found = density(X, bandwidth=0.3, method="nufft")
    found.score_samples(X)
    assert_array_equal(found.fit(Y).score_samples(X), density(Y, bandwidth=0.3, method="nufft").score_samples(X))
    with pytest.raises(ValueError, match="bandwidth must be"):
        found.set_params(bandwidth=-1.0).fit(X[:, :1])
    assert_array_equal(found.score_samples(X), density(Y, bandwidth=0.3, method="nufft").score_samples(X))


def test_parameters_reach_into_the_measure():
    template = Matern(nu=1.5)
    found = clone(SpectralKernelDensity(template, bandwidth=0.3)).set_params(kernel__nu=2.5).fit(cloud(50, 1))
    assert template.nu == 1.5
    assert_array_equal(
        found.score_samples([[0.2]]), density(cloud(50, 1), "matern52", bandwidth=0.3).score_samples([[0.2]])
    )


def test_names_of_columns_are_kept():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(cloud(20, 2), columns=["a", "b"])
    found = density(X)
    assert list(found.feature_names_in_) == ["a", "b"]
    assert found.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names"):
        found.score_samples(X[["b", "a"]])


X2, PERIODIC = cloud(30, 2), Periodic(2.0, 1.0)


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda: density(X2, "softmax"), ValueError, "kernel='softmax' is for averages"),
        (lambda: density(X2, "tricube"), ValueError, "kernel='tricube' is for averages. .*KernelDensity"),
        (lambda: density(X2, "rbf"), ValueError, "kernel='rbf' is not a known name"),
        (lambda: density(X2, 3), TypeError, "kernel must be a name, a template or a measure, got 3"),
        (lambda: density(X2, "band_limited"), CapabilityError, "no nonnegative kernel"),
        (lambda: density(X2, SpectralMixture([1.0], [[1.0, 1.0]], [[1.0, 1.0]])), CapabilityError, "no nonnegative"),
        (lambda: density(X2, Atomic([[0.0, 0.0]])), ValueError, r"no finite integral over 2 column\(s\)"),
        (lambda: density(X2, Gaussian(1.0).on([0])), ValueError, "no finite integral"),
        (lambda: density(X2[:, :1], PERIODIC), ValueError, "no finite integral"),
        (lambda: density(X2, "rational_quadratic"), ValueError, "is infinite: it falls off too slowly"),
        (lambda: density(X2, Gaussian([1.0, 2.0, 3.0])), ValueError, "describes 3 column"),
        (lambda: density(X2, Gaussian(1.0), bandwidth=0.3), ValueError, "has its scale already, but bandwidth=0.3"),
        (lambda: density(X2, bandwidth=None), ValueError, "'lscv', got None"),
        (lambda: density(X2, bandwidth="loo"), ValueError, "'lscv', got 'loo'"),
        (lambda: density(X2, bandwidth=0.0), ValueError, "positive finite number in units of x.* got 0.0"),
        (lambda: density(X2, bandwidth=True), ValueError, "got True"),
        (lambda: density(X2, bandwidth=[1.0, np.inf]), ValueError, "got \\[1.0, inf\\]"),
        (lambda: density(X2, bandwidth=[1.0, 2.0, 3.0]), ValueError, r"one for each of the 2 column\(s\)"),
        (lambda: density(X2, bandwidth=np.ones((2, 1))), ValueError, "bandwidth must be"),
        (lambda: density(X2, method="tree"), ValueError, "method must be one of 'auto', 'exact', 'nufft', got 'tree'"),
        (lambda: density(X2, method=None), ValueError, "method must be one of"),
        (lambda: density(cloud(30, 4), "matern32"), ValueError, "bandwidth='lscv' cannot choose: .* as a number"),
        (lambda: density(X2, RationalQuadratic(alpha=1.1)), ValueError, "bandwidth='lscv' cannot choose"),
        (
            lambda: density(cloud(30, 4), "matern32", bandwidth=1.0).lscv_,
            AttributeError,
            "There is no lscv_: the integr",
        ),
        (lambda: density(X2 * np.nan), ValueError, "Input X contains NaN"),
        (lambda: density(X2[:0]), ValueError, "0 sample"),
        (lambda: density(X2, weights=-np.ones(30)), ValueError, "sample_weight must not be negative"),
        (lambda: density(X2, weights=np.zeros(30)), ValueError, "sample_weight is zero for every row"),
        (lambda: density(X2).score_samples(X2[:, :1]), ValueError, "2 features"),
        (lambda: density(X2).sample(0), ValueError, "n_samples must be an integer of at least 1, got 0"),
        (lambda: density(X2).sample(2.5), ValueError, "n_samples must be an integer"),
        (lambda: density(X2, "matern32").sample(), CapabilityError, "Gaussian kernels only, and kernel='matern32'"),
        (lambda: SpectralKernelDensity().score_samples(X2), NotFittedError, "not fitted"),
        (lambda: SpectralKernelDensity().sample(), NotFittedError, "not fitted"),
        (lambda: SpectralKernelDensity().lscv_, NotFittedError, "not fitted"),
        (lambda: density(X2, SpectralMixture()), ValueError, "has no open sigma"),
    ],
)
def test_errors_say_what_is_wrong(action, error, message):
    with pytest.raises(error, match=message):
        action()


def test_a_minimum_beyond_the_narrowest_grid_is_not_guessed(monkeypatch):
    quadratic_forms = _least_squares.KernelSums.quadratic_forms

    def only_wide(measures, *args, **options):
        if min(np.min(measure.sigma) for measure in measures) > 0.2:
            raise ValueError("needs a grid")
        return quadratic_forms(measures, *args, **options)

    monkeypatch.setattr(_least_squares.KernelSums, "quadratic_forms", staticmethod(only_wide))
    with pytest.raises(ValueError, match=r"cannot choose: .* too narrow, too rough"):
        density(cloud(200, 1), "matern32")
    assert density(cloud(200, 1) * 100, "matern32").bandwidth_ > 1
