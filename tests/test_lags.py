"""Every way to store pairs gives the same lags, in both libraries, near the origin and far from it."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spectralkit import Atomic, Gaussian, Ladder, Laplacian, Matern, RationalQuadratic, SpectralMixture
from spectralkit._xp import is_torch
from spectralkit.spectra._dual import Dual
from spectralkit.spectra._lags import CondensedPairs, CrossPairs, Differences, all_pairs

N, M, D = 9, 5, 3


def _points(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, D)), rng.normal(size=(M, D))


def _storages():
    """label -> lags, and the array of differences that they stand for, as (..., d)."""
    X, Y = _points()
    i, j = np.triu_indices(N, 1)
    cases = {
        "differences": (Differences(X), X),
        "cross": (all_pairs(X, Y), X[:, None] - Y[None]),
        "condensed": (all_pairs(X), X[i] - X[j]),
    }
    torch = pytest.importorskip("torch")
    cases["torch"] = (all_pairs(torch.tensor(X), torch.tensor(Y)), X[:, None] - Y[None])
    cases["torch, one set"] = (all_pairs(torch.tensor(X)), X[:, None] - X[None])
    return cases


def _numpy(a):
    return a.numpy() if is_torch(a) else a


@pytest.mark.parametrize("storage", ["differences", "cross", "condensed", "torch", "torch, one set"])
def test_all_storages_hold_the_same_lags(storage):
    lags, tau = _storages()[storage]
    scale, omega = np.array([0.5, 2.0, 1.0]), np.array([0.3, -1.2, 2.5])
    if is_torch(lags.like):
        scale, omega = lags.like.new_tensor(scale), lags.like.new_tensor(omega)
    for j in range(D):
        assert_allclose(_numpy(lags.column(j)), tau[..., j], rtol=0, atol=1e-14)
    assert_allclose(_numpy(lags.squared(scale)), ((_numpy(scale) * tau) ** 2).sum(-1), rtol=1e-13, atol=1e-14)
    turns = tau @ _numpy(omega) - _numpy(lags.turns(omega))
    assert_allclose(turns, np.rint(turns), rtol=0, atol=1e-13)  # whole turns apart
    part = lags.on([2, 0])
    assert part.d == 2
    assert_allclose(_numpy(part.column(0)), tau[..., 2], rtol=0, atol=1e-14)


@pytest.mark.parametrize("storage", ["differences", "cross", "condensed"])
def test_scales_and_frequencies_may_be_dual_numbers(storage):
    lags, tau = _storages()[storage]
    scale, direction = np.array([0.5, 2.0, 1.0]), np.array([0.0, 1.0, 0.5])
    z = lags.squared(Dual(scale, direction))
    assert_allclose(z.value, lags.squared(scale), rtol=1e-13, atol=1e-14)
    assert_allclose(z.slope, (2 * scale * direction * tau**2).sum(-1), rtol=1e-13, atol=1e-14)
    scalar = lags.squared(Dual(2.0, 1.0))
    assert_allclose(scalar.slope, 4 * (tau**2).sum(-1), rtol=1e-13, atol=1e-14)
    turns = lags.turns(Dual(scale, direction))
    assert_allclose(turns.slope, tau @ direction, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 7, 256, 257, 600])
def test_condensed_values_expand_to_the_symmetric_matrix(n):
    x = np.random.default_rng(n).normal(size=(n, 1))
    lags = CondensedPairs(x)
    K = lags.expand(lags.column(0) ** 2, 5.0)
    expected = (x - x.T) ** 2
    np.fill_diagonal(expected, 5.0)
    assert_array_equal(K, expected)
    out = np.full((n, n), np.nan)
    assert lags.expand(lags.column(0) ** 2, 5.0, out) is out
    assert_array_equal(out, expected)
    assert lags.shape == (n, n)


@pytest.mark.parametrize(("n", "m"), [(0, 3), (1, 1), (3, 0), (7, 5), (40, 900), (3, 9000)])
def test_blocks_of_rows_are_all_pairs_of_two_sets_in_order(n, m):
    x, y = np.random.default_rng(n).normal(size=(n, 1)), np.random.default_rng(m).normal(size=(m, 1))
    lags, seen, found = CrossPairs(x, y), [], np.full((n, m), np.nan)
    for rows, pairs in lags.row_blocks():
        seen += range(n)[rows]
        found[rows] = pairs.column(0)
        assert pairs.shape == found[rows].shape
    assert seen == list(range(n))
    assert lags.shape == (n, m)
    assert_array_equal(found, x - y.T)
    out = np.full((n, m), np.nan)
    assert lags.expand(found, 5.0, out) is out  # no point meets itself
    assert lags.expand(found, 5.0) is found
    assert lags.with_diagonal(found, 5.0) is found
    assert_array_equal(out, x - y.T)


def test_points_are_not_changed_by_the_shift_to_their_centre():
    X, Y = _points()
    before = X.copy(), Y.copy()
    for array in (X, Y):
        array.flags.writeable = False
    all_pairs(X, Y)
    all_pairs(X)
    assert_array_equal(X, before[0])
    assert_array_equal(Y, before[1])


def test_waves_keep_their_phase_in_float32_far_from_the_origin():
    """One cycle in a hundred days, seconds since 1970: a float32 product of the two has no digit of phase left."""
    days = np.arange(0, 400, 8)
    seconds = 1.7e9 + 86400.0 * days
    X = (seconds - 1.7e9 + 2.0**24).astype(np.float32)[:, None]  # multiples of 128 near 2^24: exact
    wave = SpectralMixture([1.0], [1 / 8.64e6], [1e-12])
    lag = days[:, None] - days[None]
    # the lags are exact; their product with the frequency is rounded once, to 6e-8 of a turn
    assert_allclose(wave.gram(X), np.cos(2 * np.pi * lag / 100), rtol=0, atol=2e-6)


def test_no_array_of_lags_per_column_is_made():
    n, d = 400, 30
    X = np.random.default_rng(0).normal(size=(n, d))
    measures = [
        Gaussian(np.full(d, 0.1)),
        Matern(0.1, nu=1.5),
        SpectralMixture([1.0, 0.5], np.full((2, d), 0.1), np.full((2, d), 0.05)),
    ]
    for measure in measures:
        for gram in (lambda m: m.gram(X), lambda m: m.gram(X, X)):
            tracemalloc.start()
            gram(measure)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 8 * n * n * 8, f"{peak / (8 * n * n):.1f} matrices of {n} x {n}"


@pytest.mark.long
@pytest.mark.parametrize(
    "measure",
    [
        Gaussian(0.1),
        Gaussian(np.full(30, 0.1)),
        Matern(0.1, nu=1.5),
        RationalQuadratic(np.full(30, 0.1)),
        Laplacian(0.01),
        Laplacian(np.full(30, 0.01)),
        SpectralMixture([1.0, 0.5], np.full((2, 30), 0.1), np.full((2, 30), 0.05)),
        Atomic(np.full((3, 30), 0.1), [1.0, 2.0, 3.0]),
        Ladder([0.5, 1.0]),
    ],
    ids=lambda measure: f"{type(measure).__name__}, {measure.pack().size}",
)
@pytest.mark.parametrize("sets", [1, 2])
def test_no_array_of_lags_per_column_is_made_for_one_derivative(measure, sets):
    n, m, d = 300, 400 if sets == 2 else 300, 30
    X, Y = np.random.default_rng(0).normal(size=(n, d)), np.random.default_rng(1).normal(size=(m, d))
    free = np.arange(measure.pack().size) == 0
    tracemalloc.start()
    measure.gram_gradient(X, Y if sets == 2 else None, free=free)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < d / 2 * 8 * n * m, f"{peak / (8 * n * m):.1f} matrices of {n} x {m}"


def test_torch_distances_have_first_and_second_derivatives():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    A = torch.tensor(rng.normal(size=(4, 2)), requires_grad=True)
    B = torch.tensor(rng.normal(size=(3, 2)), requires_grad=True)

    def squared(a, b):
        return CrossPairs(a, b).squared(torch.tensor([0.5, 2.0], dtype=torch.double))

    assert torch.autograd.gradcheck(squared, (A, B))
    assert torch.autograd.gradgradcheck(squared, (A, B))
