"""Sums of kernels by Fourier transforms against the Gram matrices that they stand for, to the bound that they state."""

import functools
import pickle
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spectralkit import (
    Atomic,
    BandLimited,
    CapabilityError,
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
    SpectralMixture,
    TemplateError,
)
from spectralkit.nufft import KernelSums, _kernel_sums
from spectralkit.nufft._kernel_grid import groups, needs

TOL = 1e-9


def cloud(n, d, seed=0):
    return np.random.default_rng([seed, n, d]).uniform(-1, 1, (n, d)) * [1.0, 0.4, 0.7][:d]


def direct(measure, X, values, targets, rows=500):
    """The sums written out, in blocks of targets."""
    return np.concatenate([measure.gram(targets[i : i + rows], X) @ values for i in range(0, len(targets), rows)])


def allowed(sums, values, which=0):
    """The stated bound of each column, and the rounding of the sums written out."""
    total = np.abs(values).sum(axis=0)
    return (sums.bounds[which] + 1e-15 * float(sums.measures[which].mass)) * total


def assert_within_bounds(measure, X, values, targets=None, tol=TOL):
    sums = KernelSums(measure, X, values, tol=tol)
    oracle = direct(measure, X, values, X if targets is None else targets)
    assert (np.abs(sums.at(targets) - oracle) <= allowed(sums, values)).all()
    return sums


MIXTURE = {
    d: SpectralMixture(
        np.array([1.0, 0.5, 2.0]),
        np.random.default_rng(d).normal(size=(3, d)),
        np.random.default_rng([d, 1]).uniform(0.2, 0.6, (3, d)),
    )
    for d in (1, 2, 3)
}
CASES = [
    *[
        (d, Gaussian.from_lengthscale(length), TOL)
        for d, length in ((1, 1e-3), (1, 0.3), (2, 0.02), (2, 1.0), (3, 0.2))
    ],
    (2, Gaussian.from_lengthscale([0.05, 0.6]), TOL),
    (3, Gaussian.from_lengthscale([0.1, 2.0, 0.5]), TOL),
    (1, Matern.from_lengthscale(0.1, nu=1.5), 1e-8),
    (1, Matern.from_lengthscale(0.1, nu=3.0), TOL),
    (2, Matern.from_lengthscale([0.3, 0.2], nu=4.5), TOL),
    (2, Matern.from_lengthscale(0.3, nu=1.5), 1e-4),
    (3, Matern.from_lengthscale(1.0, nu=8.5), 1e-7),
    (1, RationalQuadratic.from_lengthscale(0.3, alpha=1.0), 1e-6),
    (2, RationalQuadratic.from_lengthscale(0.3, alpha=2.0), 1e-4),
    *[(d, MIXTURE[d], tol) for d, tol in ((1, TOL), (2, TOL), (3, 1e-6))],
    (2, Gaussian(1.0) + 0.1 * Matern(0.5, nu=6.5), TOL),
    (2, 3.0 * Gaussian(2.0).on([1]) * Matern(0.5, nu=4.5).on([0]), TOL),
    (2, Gaussian(1.0), 0.1),
    (2, Gaussian(1.0), 1e-12),
    (1, Gaussian(20.0), 1e-12),
]


@pytest.mark.parametrize(("d", "measure", "tol"), CASES, ids=lambda case: repr(case)[:60])
def test_sums_are_those_of_the_gram_matrix_to_the_bound(d, measure, tol):
    X = cloud(700, d)
    rng = np.random.default_rng(d)
    values = np.column_stack([rng.normal(size=700), np.ones(700), 1e6 * rng.uniform(size=700)])
    around = np.concatenate([cloud(300, d, seed=1) * 1.5, X[:10], X[:10] + 1e-9])
    assert_within_bounds(measure, X, values, tol=tol)
    sums = assert_within_bounds(measure, X, values, around, tol=tol)
    assert_within_bounds(measure, X[:1], values[:1], around, tol=tol)  # nothing averages over one source
    assert tol / 2 <= sums.bounds[0] / measure.mass <= 1.001 * tol + 1e-12  # and rounding


@pytest.mark.parametrize("seed", range(12))
def test_random_mixtures(seed):
    rng = np.random.default_rng(seed)
    d, count = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    widths = 10 ** rng.uniform(-0.8, (0.8, 0.5, -0.3)[d - 1], (count, d))
    measure = SpectralMixture(rng.uniform(0.1, 2, count), rng.normal(0, 2, (count, d)), widths)
    X = rng.normal(size=(200, d)) * rng.uniform(0.1, 0.5, d) + rng.normal(size=d)
    assert_within_bounds(measure, X, rng.standard_cauchy((200, 2)), X + rng.normal(size=(200, d)), tol=1e-7)


def test_the_bound_is_not_far_from_what_happens():
    """For one source at its worst place, so that a bound of a bound would show."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(10):
        X, targets = rng.uniform(-1, 1, (1, 2)), rng.uniform(-1, 1, (200, 2))
        measure = Gaussian(3.0)
        sums = KernelSums(measure, np.concatenate([X, [[-1, -1], [1, 1]]]), np.array([1.0, 0, 0]), tol=1e-6)
        worst = max(worst, np.abs(sums.at(targets) - measure.gram(targets, X)[:, 0]).max() / sums.bounds[0])
    assert 1e-3 < worst < 1


# -- where targets and sources are -------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3])
def test_far_targets_get_nothing_and_not_an_image(d):
    """Along one column, every distance from the sources up to several periods of the sum of cosines."""
    X, measure = cloud(50, d), Gaussian(1.0)
    targets = np.zeros((2000, d))
    targets[:, 0] = np.linspace(-30, 30, 2000)
    sums = assert_within_bounds(measure, X, np.ones(50), targets)
    found = sums.at(targets)
    assert not found[abs(targets[:, 0]) > 4].any()
    assert found[1000] > 1
    assert not sums.at(np.full((1, d), 1e300)).any()


@pytest.mark.parametrize("offset", [1e6, -3e7])
def test_offsets_lose_only_what_the_numbers_themselves_have_lost(offset):
    X = np.round(cloud(400, 2) * 2**20) / 2**20  # so that the shift is exact
    values, measure = np.random.default_rng(0).normal(size=400), Gaussian(2.0)
    moved = KernelSums(measure, X + offset, values)
    assert_array_equal(moved.at(), KernelSums(measure, X, values).at())
    assert_array_equal(moved.at(X[:5] + offset), KernelSums(measure, X, values).at(X[:5]))


def test_float32_is_computed_in_double():
    X = cloud(300, 2).astype(np.float32)
    values = np.random.default_rng(0).normal(size=300).astype(np.float32)
    found = KernelSums(Gaussian(1.0), X, values).at()
    assert found.dtype == np.float64
    assert_array_equal(found, KernelSums(Gaussian(1.0), X.astype(float), values.astype(float)).at())


@pytest.mark.parametrize("d", [1, 2, 3])
def test_one_point_identical_points_and_constant_columns(d):
    measure, ones = Gaussian(0.7), np.ones(20)
    assert_allclose(KernelSums(measure, np.full((1, d), 3.3), [2.0]).at(), [2.0], rtol=TOL)
    assert_allclose(KernelSums(measure, np.full((20, d), 3.3), ones).at(), 20 * ones, rtol=TOL)
    X = cloud(20, d)
    X[:, -1] = 5.0
    assert_within_bounds(measure, X, ones)
    assert_within_bounds(measure, X, ones, cloud(40, d) + np.eye(d)[-1] * 5)


def test_no_sources_no_targets_and_no_columns():
    measure = Gaussian(1.0)
    assert_array_equal(KernelSums(measure, np.empty((0, 2)), np.empty(0)).at(np.zeros((3, 2))), np.zeros(3))
    sums = KernelSums(measure, cloud(10, 2), np.ones((10, 3)))
    assert sums.at(np.empty((0, 2))).shape == (0, 3)
    assert KernelSums(measure, cloud(10, 2), np.ones((10, 0))).at().shape == (10, 0)


# -- values ------------------------------------------------------------------------------------------------------------


def test_shapes_are_those_of_measures_and_values():
    X, measure = cloud(30, 2), Gaussian(1.0)
    one, two = np.ones(30), np.ones((30, 5))
    assert KernelSums(measure, X, one).at().shape == (30,)
    assert KernelSums(measure, X, two).at(X[:7]).shape == (7, 5)
    assert KernelSums([measure], X, one).at().shape == (1, 30)
    several = KernelSums([measure, Gaussian(2.0)], X, two)
    assert several.at().shape == (2, 30, 5)
    assert_array_equal(several.at(which=1), several.at()[1])
    assert len(several.grids) == len(several.bounds) == len(several.measures) == 2


def test_a_column_keeps_its_digits_beside_one_of_another_size():
    X, rng = cloud(300, 2), np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=300), 1e12 * rng.normal(size=300), np.zeros(300)])
    together = KernelSums(Gaussian(1.0), X, values)
    alone = KernelSums(Gaussian(1.0), X, values[:, 0])
    assert_allclose(together.at()[:, 0], alone.at(), rtol=0, atol=2 * allowed(alone, values[:, 0]))
    assert not together.at()[:, 2].any()


def test_weights_are_repetitions():
    X, times = cloud(60, 2), np.arange(60) % 4
    weighted = KernelSums(Gaussian(1.0), X, times).at(X)
    repeated = KernelSums(Gaussian(1.0), np.repeat(X, times, axis=0), np.ones(times.sum())).at(X)
    assert_allclose(weighted, repeated, rtol=0, atol=2 * TOL * times.sum())


def test_sums_without_the_own_term_keep_the_absolute_error():
    """A kernel far narrower than the gaps: nothing is left but the error, of either sign."""
    X = np.linspace(0, 1, 101)[:, None]
    values = np.random.default_rng(0).normal(size=101)
    for length in (1e-3, 3e-3, 0.1):
        measure = 2.0 * Gaussian.from_lengthscale(length)
        sums = KernelSums(measure, X, values)
        left = sums.at() - 2.0 * values
        K = measure.gram(X)
        np.fill_diagonal(K, 0.0)
        assert (np.abs(left - K @ values) <= allowed(sums, values)).all()
        if length == 1e-3:
            assert (np.abs(left) <= allowed(sums, values)).all()
    positive = KernelSums(Gaussian.from_lengthscale(1e-3), X, np.ones(101))
    assert (positive.at([[0.005]]) > -allowed(positive, np.ones(101))).all()


# -- several kernels ---------------------------------------------------------------------------------------------------


def test_scales_that_share_a_transform_give_what_each_gives():
    X = cloud(2000, 2)
    values = np.column_stack([np.sin(3 * X[:, 0]), np.ones(2000)])
    measures = [Gaussian.from_lengthscale(length) for length in np.geomspace(0.1, 0.02, 6)]
    together = KernelSums(measures, X, values)
    assert len(together._spectra) < len(measures)
    for i, measure in enumerate(measures):
        alone = KernelSums(measure, X, values)
        limit = allowed(together, values, i) + allowed(alone, values)
        assert (np.abs(together.at(which=i) - alone.at()) <= limit).all()
        assert (np.abs(together.at()[i] - direct(measure, X, values, X)) <= allowed(together, values, i)).all()


def test_kernels_of_all_sizes_and_families_in_any_order():
    X, values = cloud(300, 1), np.random.default_rng(0).normal(size=300)
    measures = [
        Gaussian.from_lengthscale(1e3),
        Gaussian.from_lengthscale(1e-4),
        Matern.from_lengthscale(1.0, nu=4.5),
        MIXTURE[1],
        Gaussian.from_lengthscale(1e-3),
        3.0 * Gaussian.from_lengthscale(30.0),
    ]
    sums = KernelSums(measures, X, values)
    for i, measure in enumerate(measures):
        assert (np.abs(sums.at()[i] - direct(measure, X, values, X)) <= allowed(sums, values, i)).all()


def test_the_more_sources_the_fewer_transforms_of_them():
    measures = [Gaussian.from_lengthscale(length) for length in np.geomspace(0.005, 0.5, 9)]
    kernels = needs(measures, np.array([1.0, 1.0]), TOL)
    numbers = [len(groups(kernels, np.array([1.0, 1.0]), n, TOL)) for n in (100, 10**5, 10**7, 10**9)]
    assert numbers[0] > numbers[-1] == 1
    assert numbers == sorted(numbers, reverse=True)
    for group in groups(kernels, np.array([1.0, 1.0]), 10**6, TOL):
        for i in group.members:
            assert (group.period >= 1.0 + 2 * kernels[i].support).all()
            assert (group.half >= kernels[i].half(group.period)).all()


def test_blocks_add_up_and_threads_change_no_bit(monkeypatch):
    X = cloud(900, 2)
    values = np.random.default_rng(0).normal(size=(900, 3))
    measures = [Gaussian.from_lengthscale(length) for length in (0.3, 1.0, 3.0)]
    whole = KernelSums(measures, X, values).at()
    monkeypatch.setattr("spectralkit.nufft._transforms._ROWS_PER_BLOCK", 64)
    one, several = (KernelSums(measures, X, values, n_jobs=jobs).at() for jobs in (1, 3))
    assert_array_equal(one, several)
    assert_allclose(one, whole, rtol=0, atol=2 * TOL * np.abs(values).sum(axis=0).max())


def test_inputs_stay_as_they_are_and_the_object_is_pickled():
    X, values, targets = cloud(50, 2), np.ones((50, 2)), cloud(20, 2, seed=3)
    for array in (X, values, targets):
        array.setflags(write=False)
    sums = KernelSums(Gaussian(1.0), X, values)
    assert_array_equal(pickle.loads(pickle.dumps(sums)).at(targets), sums.at(targets))


def test_twelve_scales_of_a_hundred_thousand_points_take_less_than_a_second_and_a_half():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(0, 1, (100_000, 2)), rng.normal(size=100_000)
    measures = [Gaussian.from_lengthscale(length) for length in np.geomspace(1 / 200, 1 / 10, 12)]
    values = np.column_stack([y, np.ones(len(y))])
    KernelSums(measures, X[:100], values[:100]).at()
    start = time.process_time()
    sums = KernelSums(measures, X, values, n_jobs=1)
    found = sums.at()
    assert time.process_time() - start < 1.5
    for i in (0, 11):
        oracle = direct(measures[i], X, values, X[:20])
        assert (np.abs(found[i, :20] - oracle) <= allowed(sums, values, i)).all()


# -- quadratic forms ---------------------------------------------------------------------------------------------------


def three_columns(n):
    rng = np.random.default_rng(n)
    return np.column_stack([rng.normal(size=n), np.ones(n), 1e6 * rng.uniform(size=n)])


@pytest.mark.parametrize(("d", "measure", "tol"), CASES, ids=lambda case: repr(case)[:60])
def test_quadratic_forms_are_those_of_the_gram_matrix_to_the_bound(d, measure, tol):
    X, values = cloud(300, d), three_columns(300)
    found = KernelSums.quadratic_forms(measure, X, values, tol=tol)
    oracle = np.einsum("it,ij,jt->t", values, measure.gram(X), values)
    assert (np.abs(found - oracle) <= (tol + 1e-14) * float(measure.mass) * np.abs(values).sum(axis=0) ** 2).all()


def exponential_with_itself(lags, length):
    """Of exp(-|t| / l) in one column."""
    return (length + abs(lags)) * np.exp(-abs(lags) / length)


def matern_with_itself(d, length, nu, lags):
    """The square of a Matern density is one of order 2 nu + d/2, of its own scale, up to a factor: that of k*k at 0."""
    order = 2 * nu + d / 2
    kernel = Matern.from_lengthscale(length * np.sqrt(order / nu), nu=order)
    at_zero = Matern.from_lengthscale(length, nu=nu).density(np.zeros((1, d)))[0] ** 2
    return kernel.characteristic(lags) * at_zero / kernel.density(np.zeros((1, d)))[0]


CONVOLVED = {
    **{
        f"gaussian in {d}": (
            d,
            Gaussian.from_lengthscale(length),
            lambda t, d=d, length=length: (
                np.prod(np.sqrt(np.pi) * np.broadcast_to(length, d)) * np.exp(-((t / length) ** 2).sum(-1) / 4)
            ),
        )
        for d, length in ((1, 1e-2), (2, np.array([0.05, 0.6])), (3, 0.2))
    },
    "exponential": (1, Matern.from_lengthscale(0.2, nu=0.5), lambda t: exponential_with_itself(t[..., 0], 0.2)),
    "narrow exponential": (1, Laplacian.from_lengthscale(0.01), lambda t: exponential_with_itself(t[..., 0], 0.01)),
    "laplacian in 2": (
        2,
        Laplacian.from_lengthscale([1.0, 0.5]),
        lambda t: exponential_with_itself(t[..., 0], 1.0) * exponential_with_itself(t[..., 1], 0.5),
    ),
    "twice a matern of order 3/2 in 2": (
        2,
        2.0 * Matern.from_lengthscale(0.3, nu=1.5),
        lambda t: 4 * matern_with_itself(2, 0.3, 1.5, t),
    ),
    "matern of order 1/2 in 3": (3, Matern.from_lengthscale(1.5, nu=0.5), lambda t: matern_with_itself(3, 1.5, 0.5, t)),
}


@pytest.mark.parametrize("name", CONVOLVED)
@pytest.mark.parametrize("tol", [1e-3, 1e-5, 1e-9])
def test_kernels_convolved_with_themselves(name, tol):
    d, measure, kernel = CONVOLVED[name]
    if d == 3 or (d == 2 and "laplacian" in name):
        tol = max(tol, 1e-5 if d == 2 else 1e-4)  # grids would be large
    X, values = cloud(200, d), three_columns(200)
    found = KernelSums.quadratic_forms(measure, X, values, convolved=True, tol=tol)
    oracle = np.einsum("it,ij,jt->t", values, kernel(X[:, None] - X), values)
    scale = float(measure.mass) * measure.density(np.zeros((1, d)))[0]
    assert (np.abs(found - oracle) <= (tol + 1e-14) * scale * np.abs(values).sum(axis=0) ** 2).all()
    assert_allclose(found[1:], oracle[1:], rtol=20 * tol)


@pytest.mark.parametrize("measure", [RationalQuadratic.from_lengthscale(0.3, alpha=1.0), MIXTURE[1]], ids=repr)
def test_squares_of_sums_are_integrated(measure):
    """By the trapezoidal rule in space, whatever the signs of the kernel."""
    X, values = cloud(30, 1), three_columns(30)[:, :2]
    grid = np.linspace(-200, 200, 200_001)[:, None]
    squares = (measure.gram(grid, X) @ values) ** 2
    found = KernelSums.quadratic_forms(measure, X, values, convolved=True, tol=1e-7)
    assert_allclose(found, np.trapezoid(squares, grid[:, 0], axis=0), rtol=1e-6)


def test_quadratic_forms_have_the_shapes_of_measures_and_values_and_weights_are_repetitions():
    X, times = cloud(40, 2), np.arange(40) % 3
    measures = [Gaussian(1.0), Gaussian(3.0)]
    for convolved in (False, True):
        take = functools.partial(KernelSums.quadratic_forms, convolved=convolved)
        several = take(measures, X, np.column_stack([times, times, np.ones(40)]))
        assert several.shape == (2, 3)
        assert take(measures, X, times).shape == (2,)
        assert take(measures[0], X, np.ones((40, 2))).shape == (2,)
        assert take(measures[0], X, np.ones((40, 0))).shape == (0,)
        assert_allclose(take(measures, np.empty((0, 2)), np.empty(0)), [0, 0])
        one = take(measures[1], X, times)
        assert np.ndim(one) == 0
        assert_allclose([one, take(measures[1], np.repeat(X, times, axis=0), np.ones(times.sum()))], several[1, 0])
        assert_array_equal(take(measures, X, times, n_jobs=2), take(measures, X, times))
        shifted = np.round(X * 2**20) / 2**20
        assert_array_equal(take(measures, shifted + 1e6, times), take(measures, shifted, times))


def test_densities_need_not_fall_for_the_square_to_be_cut_off():
    """A triangle's density has zeros, at any of which it would seem small enough."""
    triangle, X = Triangle(), np.array([[0.0], [0.7], [3.0]])
    cubic = lambda t: np.where(t < 1, 2 / 3 - t**2 + t**3 / 2, np.maximum(2 - t, 0) ** 3 / 6)  # noqa: E731
    found = KernelSums.quadratic_forms(triangle, X, np.ones(3), convolved=True, tol=1e-6)
    assert_allclose(found, cubic(abs(X - X.T)).sum(), rtol=2e-6)


class Triangle(Gaussian):
    """The kernel max(1 - |t|, 0) in one column, which is nowhere negative."""

    _factors = None
    _nonnegative = True

    def __init__(self):
        super().__init__(1.0)

    def _covariance(self, lags):
        return np.maximum(1 - abs(lags.column(0)), 0.0)

    def _log_density(self, omega):
        with np.errstate(divide="ignore"):
            return 2 * np.log(abs(np.sinc(omega[..., 0])))

    def _cutoff(self, tol, d):
        return np.full(1, 1 / (np.pi**2 * tol))

    def _support(self, tol, d):
        return np.ones(1)


# -- refusals ----------------------------------------------------------------------------------------------------------


class Peaked(Gaussian):
    """A density that is infinite at zero."""

    _factors = None

    def _log_radial_density(self, v, d):
        return np.where(v > 0, super()._log_radial_density(v, d), np.inf)


X2 = cloud(20, 2)


@pytest.mark.parametrize(
    ("measure", "X", "error", "message"),
    [
        (Atomic([[1.0, 1.0]]), X2, CapabilityError, "has no density in 2"),
        (Gaussian(1.0).on([0]), X2, CapabilityError, "has no density in 2"),
        (Gaussian(), X2, TemplateError, "is a template"),
        (Gaussian([1.0, 2.0, 3.0]), X2, ValueError, "describes 3 column"),
        (Gaussian(1.0), np.zeros((5, 4)), ValueError, "1 to 3 columns, got 4"),
        (Matern(1.0, nu=0.5), X2, ValueError, r"needs a grid of .*e\+1\d x .*e\+1\d frequencies .* GiB"),
        (Laplacian(1.0), X2, ValueError, r"GiB are allowed\. Take a larger tol or a smoother"),
        (Gaussian(1e6), X2, ValueError, "needs a grid of"),
        (BandLimited(1.0), X2, ValueError, "falls off too slowly.* to the power -3 "),
        (RationalQuadratic(1.0, alpha=0.9), X2, ValueError, "falls off too slowly"),
        ([Gaussian(1.0), BandLimited(1.0)], X2, ValueError, "falls off too slowly"),
    ],
)
def test_what_cannot_be_had_is_said_before_anything_is_computed(measure, X, error, message):
    with pytest.raises(error, match=message):
        KernelSums.bytes_needed(measure, X)
    with pytest.raises(error, match=message):
        KernelSums(measure, X, np.ones(len(X)))


def test_the_memory_is_told_and_limited(monkeypatch):
    measures = [Gaussian(2.0), Gaussian(4.0)]
    size = KernelSums.bytes_needed(measures, X2)
    assert 1e5 < size < 1e8
    assert KernelSums.bytes_needed(measures, X2, tol=1e-4) < size
    monkeypatch.setattr(_kernel_sums, "LARGEST_GRID", size)
    KernelSums(measures, X2, np.ones((20, 2)))
    with pytest.raises(ValueError, match=r"grids of 2 kernel\(s\) for 20 pair\(s\) of columns .* Take fewer at once"):
        KernelSums(measures, X2, np.ones((20, 40)))


ONES = np.ones(20)


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda: KernelSums(Gaussian(1.0), X2, ONES[:-1]), ValueError, r"shape \(20,\) or \(20, t\)"),
        (lambda: KernelSums(Gaussian(1.0), X2, 1j * ONES), ValueError, "must be real"),
        (lambda: KernelSums(Gaussian(1.0), X2, np.nan * ONES), ValueError, "values has NaN"),
        (lambda: KernelSums(Gaussian(1.0), X2 * np.nan, ONES), ValueError, "X has NaN"),
        (lambda: KernelSums(Gaussian(1.0), X2[:, 0], ONES), ValueError, "X must be two-dimensional"),
        (lambda: KernelSums(Gaussian(1.0), X2, ONES, tol=1e-14), ValueError, "tol must be a number from 1e-12 to 0.1"),
        (lambda: KernelSums(Gaussian(1.0), X2, ONES, tol="low"), ValueError, "tol must be a number"),
        (lambda: KernelSums([], X2, ONES), TypeError, "a measure or a list of measures"),
        (lambda: KernelSums(["rbf"], X2, ONES), TypeError, "a measure or a list of measures"),
        (lambda: KernelSums(Peaked(1.0), X2, ONES), ValueError, "infinite at frequency zero"),
        (lambda: KernelSums.quadratic_forms(["rbf"], X2, ONES), TypeError, "a measure or a list of measures"),
        (lambda: KernelSums.quadratic_forms(Gaussian(1.0), X2, ONES[:-1]), ValueError, r"shape \(20,\) or \(20, t\)"),
        (lambda: KernelSums.quadratic_forms(Gaussian(1.0), X2, ONES, tol=0.0), ValueError, "tol must be a number"),
        (
            lambda: KernelSums.quadratic_forms(Laplacian(1e4), X2, ONES, convolved=True),
            ValueError,
            r"Laplacian\(sigma=10000.0\) needs a grid of",
        ),
        (
            lambda: KernelSums.quadratic_forms(Peaked(1.0), X2, ONES, convolved=True),
            ValueError,
            "infinite at frequency zero",
        ),
        (lambda: KernelSums(Gaussian(1.0), X2, ONES).at(np.zeros((3, 1))), ValueError, "targets have 1 column"),
        (lambda: KernelSums(Gaussian(1.0), X2, ONES).at([[np.inf, 0]]), ValueError, "targets has NaN or infinite"),
        (lambda: KernelSums(Gaussian(1.0), X2, ONES).at(which=1), ValueError, "number of a kernel, 0 to 0, got 1"),
    ],
)
def test_errors_say_what_is_wrong(action, error, message):
    with pytest.raises(error, match=message):
        action()
