"""Pieces of rays: against integrals, samples of the volume, and Jacobians of the contraction."""

import math

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from spectralkit.rays import (
    RayMoments,
    conical_frustum,
    contract,
    contract_std,
    cylinder,
    downweight,
    gaussians_on_rays,
    multisample,
    uncontract,
)

EPS = {np.float64: 2.0**-52, np.float32: 2.0**-23}
PIECES = [(2.0, 3.0, 0.1), (0.0, 1.5, 2.0), (1.0, 50.0, 0.3), (1000.0, 1000.01, 0.002), (3e-9, 4e-9, 1.0)]
AXES = [sign * axis for axis in np.eye(3) for sign in (1.0, -1.0)]
DIRECTIONS = [*AXES, [0.3, -1.2, 0.4], [1e-9, 1e-9, -1.0], [-3.0, 2.0, -1e-12]]
EXTREME = [[1e-200, 2e-200, 0.0], [5e200, 0.0, -2e200]]


def rng(*key):
    return np.random.default_rng([1, *key])


def moments_by_integration(t0, t1, radius):
    """Mean, variance along and variance across, with the cross-section as density, in 60 digits."""
    with mp.workdps(60):
        ends = [mp.mpf(float(t0)), mp.mpf(float(t1))]
        total = mp.quad(lambda t: t**2, ends)
        mean = mp.quad(lambda t: t**3, ends) / total
        variance = mp.quad(lambda t: t**2 * (t - mean) ** 2, ends) / total
        # a disc of radius r has variance r^2 / 4 in each direction
        across = mp.quad(lambda t: t**2 * (mp.mpf(float(radius)) * t) ** 2 / 4, ends) / total
        return [float(mean), float(variance), float(across)]


def covariances(n, d, seed=0):
    roots = rng(seed, n, d).normal(size=(n, d, d))
    return roots @ roots.swapaxes(-1, -2)


# -- moments -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", EPS)
def test_frustums_are_integrals_over_their_volume(dtype):
    pieces = np.array(PIECES, dtype=dtype)
    moments = conical_frustum(*pieces.T)
    expected = np.array([moments_by_integration(*piece) for piece in pieces]).T
    for found, true in zip(moments, expected, strict=True):
        assert found.dtype == dtype
        assert_allclose(found, true, rtol=8 * EPS[dtype])  # sums of positive terms: one rounding for each operation


def test_the_golden_frustum():
    assert_allclose(conical_frustum(2, 3, 0.1), [2.5657895, 0.0798823, 0.01665789], rtol=0, atol=0.5e-7)


def test_float32_keeps_its_digits_on_thin_and_on_long_pieces():
    t0 = 10 ** rng(0).uniform(-6, 6, size=5000)
    t0, t1 = np.float32(t0), np.float32(t0 * (1 + 10 ** rng(1).uniform(-6, 3, size=5000)))
    for function in (conical_frustum, cylinder):
        single, double = function(t0, t1, np.float32(1e-3)), function(*np.float64([t0, t1]), np.float32(1e-3))
        for found, true in zip(single, double, strict=True):
            assert_allclose(found, true, rtol=1e-6)


def test_pieces_without_length_and_at_the_apex():
    assert_array_equal(conical_frustum(0.0, 0.0, 0.5), (0, 0, 0))
    assert_allclose(conical_frustum(2.0, 2.0, 0.5), (2, 0, 0.25), rtol=1e-15)
    assert_allclose(conical_frustum(0.0, 2.0, 0.5), (1.5, 0.15, 0.15), rtol=1e-15)  # E t^2 = 12 / 5
    assert_array_equal(conical_frustum(1.0, 2.0, 0.0).r_var, 0)


def test_cylinders():
    assert_allclose(cylinder(1.0, 4.0, 3.0), (2.5, 9 / 12, 9 / 4), rtol=1e-15)
    assert [m.shape for m in cylinder(np.zeros(4), np.ones((2, 1)), 1.0)] == [(2, 4)] * 3


def samples(origin, direction, t0, t1, radius, taper, n=200_000):
    """Points uniform in a frustum (taper 1) or cylinder (taper 0) around an oblique ray, whose t counts directions."""
    u, v, turn = rng(2).uniform(size=(3, n))
    t = np.cbrt(t0**3 + u * (t1**3 - t0**3)) if taper else t0 + u * (t1 - t0)
    away = radius * t**taper * np.sqrt(v)
    basis = np.linalg.svd(direction[None])[2][1:]  # the two right singular vectors across the direction
    angles = 2 * math.pi * turn
    return origin + t[:, None] * direction + away[:, None] * (np.stack([np.cos(angles), np.sin(angles)], -1) @ basis)


@pytest.mark.parametrize("function", [conical_frustum, cylinder])
def test_gaussians_have_the_moments_of_points_in_the_volume(function):
    origin, direction = np.array([0.5, -1.0, 2.0]), np.array([0.6, -0.9, 1.7])
    points = samples(origin, direction, 0.5, 1.25, 0.4, taper=int(function is conical_frustum))
    mean, covariance = gaussians_on_rays(origin, direction, function(0.5, 1.25, 0.4))
    products = (points - mean)[:, :, None] * (points - mean)[:, None, :]
    for drawn, expected in ((points, mean), (products, covariance)):
        standard_error = drawn.std(axis=0) / math.sqrt(len(points))
        assert (np.abs(drawn.mean(axis=0) - expected) <= 5 * standard_error).all()


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_variance_along_and_across_in_any_dimension(d):
    """The eigenvectors of the covariance are the direction and all that is at right angles to it."""
    direction = 3 * rng(3, d).normal(size=d)
    _, covariance = gaussians_on_rays(np.zeros(d), direction, RayMoments(2.0, 0.3, 0.7))
    square = direction @ direction
    assert_allclose(covariance @ direction, 0.3 * square * direction, rtol=0, atol=1e-14 * square**1.5)
    for across in np.linalg.svd(direction[None])[2][1:]:
        assert_allclose(covariance @ across, 0.7 * across, rtol=0, atol=1e-14 * square)


def test_what_is_left_across_a_direction_close_to_an_axis():
    direction = np.float32([1, 1e-5, -2e-5])
    _, covariance = gaussians_on_rays(np.zeros(3, np.float32), direction, RayMoments(0.0, 0.0, 1.0))
    v = direction.astype(np.float64)
    exact = np.array([[v[1] ** 2 + v[2] ** 2, 0, 0], [0, v[0] ** 2 + v[2] ** 2, 0], [0, 0, v[0] ** 2 + v[1] ** 2]])
    exact = (exact - np.outer(v, v) * (1 - np.eye(3))) / (v @ v)
    assert covariance.dtype == np.float32
    assert_allclose(covariance, exact, rtol=6 * EPS[np.float32])


def test_rays_and_pieces_broadcast():
    origins, directions = rng(4).normal(size=(2, 4, 1, 3))
    t = np.sort(rng(5).uniform(size=(4, 8)), axis=1)
    mean, covariance = gaussians_on_rays(origins, directions, conical_frustum(t[:, :-1], t[:, 1:], 0.1))
    points, std = multisample(origins, directions, t[:, :-1], t[:, 1:], 0.1)
    assert (mean.shape, covariance.shape, points.shape, std.shape) == ((4, 7, 3), (4, 7, 3, 3), (4, 7, 6, 3), (4, 7, 6))
    one = gaussians_on_rays(origins[2, 0], directions[2, 0], conical_frustum(t[2, 4], t[2, 5], 0.1))
    assert_allclose(mean[2, 4], one[0], rtol=1e-15)
    assert_allclose(covariance[2, 4], one[1], rtol=1e-15)
    many = np.zeros((5, 1, 1, 3)) + origins
    moments = conical_frustum(t[:, :-1], t[:, 1:], 0.1)
    for found, shape in zip(gaussians_on_rays(many, directions, moments), ((5, 4, 7, 3), (5, 4, 7, 3, 3)), strict=True):
        assert found.shape == shape
        assert found.flags.writeable


# -- the contraction ---------------------------------------------------------------------------------------------------


def contraction(x):
    """The definition, analytic where |x| > 1, so that complex steps give its derivative to rounding."""
    length = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    return np.where(length.real <= 1, x, (2 - 1 / length) * x / length)


def jacobian(x):
    d = x.shape[-1]
    return np.stack([contraction(x + 1e-30j * np.eye(d)[j]).imag / 1e-30 for j in range(d)], axis=-1)


def scattered(n, d, low=-1.5, high=2.0, seed=0):
    directions = rng(6, d, seed).normal(size=(n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * 10 ** rng(7, d, seed).uniform(low, high, size=(n, 1))


@pytest.mark.parametrize("dtype", EPS)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_contracted_points_and_covariances(d, dtype):
    X, S = scattered(200, d).astype(dtype), covariances(200, d).astype(dtype)
    z, covariance = contract(X, S)
    assert z.dtype == covariance.dtype == dtype
    assert_allclose(z, contraction(X.astype(np.float64)), rtol=4 * EPS[dtype])
    assert_array_equal(z, contract(X))
    J = jacobian(X.astype(np.float64))
    expected = J @ S.astype(np.float64) @ J.swapaxes(-1, -2)
    # two matrix products, d terms each, and a few roundings in the entries of J
    error = (2 * d + 12) * EPS[dtype] * (np.abs(J) @ np.abs(S) @ np.abs(J).swapaxes(-1, -2))
    # the Jacobian of the oracle is a difference of terms of size 2 / |x|, in float64
    lengths = np.maximum(np.linalg.norm(X, axis=1), 1)
    error += 2**-49 * (np.linalg.norm(S, axis=(-2, -1)) * (2 / lengths) ** 2)[:, None, None]
    assert (np.abs(covariance - expected) <= error).all()
    assert_array_equal(covariance, covariance.swapaxes(-1, -2))
    inside = np.linalg.norm(X, axis=1) <= 1
    assert 50 < inside.sum() < 150
    assert_array_equal(z[inside], X[inside])
    assert_array_equal(covariance[inside], S[inside])


@pytest.mark.parametrize("dtype", EPS)
def test_contraction_is_undone(dtype):
    X = scattered(300, 3).astype(dtype)
    z = contract(X)
    lengths = np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    # the norm of x has condition number |z| / (2 - |z|) = 2 |x| - 1 as a function of that of z
    assert (np.abs(uncontract(z) - X) <= 4 * EPS[dtype] * 2 * lengths * lengths).all()
    assert uncontract(z).dtype == dtype
    assert_allclose(contract(uncontract([[0.0, 1.9], [-1.2, 0.3]])), [[0.0, 1.9], [-1.2, 0.3]], rtol=1e-15)


@pytest.mark.parametrize("far", [np.float32(1e30), 1e200])
def test_points_however_far_stay_in_the_ball(far):
    assert_allclose(contract([3 * far, -4 * far]), [1.2, -1.6], rtol=1e-6)
    z, covariance = contract(np.stack([far, 0 * far]), np.eye(2) * far)
    assert_array_equal(z, [2, 0])
    assert_allclose(covariance, [[0, 0], [0, 4 / far]], rtol=1e-6, atol=1e-35)  # (2 / |x|)^2 across
    assert contract_std(np.stack([far, far]), 1.0) < 1e-37


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_contracted_standard_deviations_keep_the_volume(d):
    X, std = scattered(100, d), rng(8).uniform(size=100)
    expected = std * np.abs(np.linalg.det(jacobian(X))) ** (1 / d)
    assert_allclose(contract_std(X, std), expected, rtol=1e-13)
    if d == 3:
        lengths = np.maximum(np.linalg.norm(X, axis=1), 1)
        assert_allclose(contract_std(X, std), std * (np.cbrt(2 * lengths - 1) / lengths) ** 2, rtol=1e-14)


# -- multisampling -----------------------------------------------------------------------------------------------------


def zipnerf_points(t0, t1, radius, index):
    """The formula of the paper for a ray along z; every other pattern is rotated by 30 degrees and mirrored."""
    tm, td, j = (t0 + t1) / 2, (t1 - t0) / 2, np.arange(6)
    root = math.sqrt((td**2 - tm**2) ** 2 + 4 * tm**4)
    t = t0 + td / (td**2 + 3 * tm**2) * (t1**2 + 2 * tm**2 + 3 / math.sqrt(7) * (2 * j / 5 - 1) * root)
    angles = math.pi / 3 * np.array([0, 2, 4, 3, 5, 1])
    angles = angles if index % 2 == 0 else 5 * math.pi / 3 - (angles + math.pi / 6)
    away = radius * t / math.sqrt(2)
    return np.stack([away * np.cos(angles), away * np.sin(angles), t], axis=-1), 0.5 * away


def test_multisamples_are_those_of_the_paper():
    t = np.array([0.0, 0.5, 2.0, 2.2, 7.0])
    points, std = multisample([0, 0, 0], [0, 0, 1], t[:-1], t[1:], 0.3)
    expected = [zipnerf_points(t[i], t[i + 1], 0.3, i) for i in range(4)]
    assert_allclose(points, [e[0] for e in expected], rtol=0, atol=1e-14)
    assert_allclose(std, [e[1] for e in expected], rtol=1e-14)


@pytest.mark.parametrize("random_state", [None, 0, np.random.RandomState(0), np.random.default_rng(0)], ids=type)
@pytest.mark.parametrize("dtype", EPS)
def test_multisamples_have_the_exact_moments_of_the_frustum(dtype, random_state):
    """Mean, variance along the ray and mean squared distance from it, in any direction."""
    directions = np.array(DIRECTIONS, dtype=dtype)[:, None]
    t0, t1, radius = np.array(PIECES[:-1], dtype=dtype).T
    points, std = multisample(np.zeros(3, dtype), directions, t0, t1, radius, random_state)
    assert points.dtype == std.dtype == dtype
    points, v = points.astype(np.float64), directions[..., None, :].astype(np.float64)
    t = (points * v).sum(axis=-1) / (v * v).sum(axis=-1)
    offsets = points - t[..., None] * v
    t_mean, t_var, r_var = conical_frustum(*np.float64([t0, t1, radius]))
    error = 16 * EPS[dtype] * t1
    assert (np.abs(t.mean(axis=-1) - t_mean) <= error).all()
    # t_var is a square of differences of t, which are rounded to `error`
    assert (np.abs(t.var(axis=-1) - t_var) <= error * (error + 2 * np.sqrt(t_var))).all()
    lengths = np.linalg.norm(v, axis=-1)
    reach = error[:, None] * (radius[:, None] + lengths[..., None])
    assert (np.abs(offsets.mean(axis=-2)) <= reach).all()
    squares = (offsets**2).sum(axis=-1)
    assert (np.abs(squares.mean(axis=-1) - 2 * r_var) <= reach[..., 0] * (reach[..., 0] + 4 * np.sqrt(r_var))).all()
    assert (np.abs(np.sqrt(squares) - 2 * std) <= 2 * reach).all()


def test_random_multisamples_have_the_covariance_of_the_frustum_on_average():
    origin, direction, n = np.ones(3), np.array([0.6, -0.9, 1.7]), 20_000
    points, _ = multisample(origin, direction, np.full(n, 0.5), 1.25, 0.4, random_state=0)
    mean, covariance = gaussians_on_rays(origin, direction, conical_frustum(0.5, 1.25, 0.4))
    products = ((points - mean)[..., :, None] * (points - mean)[..., None, :]).mean(axis=1)
    standard_error = products.std(axis=0) / math.sqrt(n)
    assert (np.abs(products.mean(axis=0) - covariance) <= 5 * standard_error + 1e-14).all()
    # mirrored or not: the sense in which the first three points turn
    x, y, _ = (points[:, :3] - mean).swapaxes(0, 1)
    turns_left = (np.cross(x, y) @ direction > 0).mean()
    assert abs(turns_left - 0.5) <= 5 * 0.5 / math.sqrt(n)


def test_random_multisamples_are_reproducible():
    states = 0, 0, 1, None
    first, again, *others = (multisample(np.zeros(3), np.ones(3), 1, 2, 0.1, random_state=s)[0] for s in states)
    assert_array_equal(first, again)
    assert all(np.abs(first - other).max() > 0.01 for other in others)


@pytest.mark.parametrize("direction", DIRECTIONS + EXTREME, ids=str)
def test_points_are_off_the_axis_in_all_directions(direction):
    direction, length = np.array(direction), math.hypot(*direction)
    points, std = multisample(np.zeros(3), direction, 1.0, 2.0, length)
    t = zipnerf_points(1.0, 2.0, 1.0, 0)[0][:, 2]
    offsets = points / length - t[:, None] * (direction / length)
    assert_allclose(offsets @ (direction / length), 0, atol=1e-14)
    assert_allclose(np.linalg.norm(offsets, axis=1), t / math.sqrt(2), rtol=1e-14)
    assert_allclose(std / length, t / math.sqrt(8), rtol=1e-14)


def test_how_far_multisamples_reach_beyond_the_end():
    t0 = np.linspace(0, 1, 1001)
    t = multisample(np.zeros(3), [0, 0, 1], t0, 1.0, 0.1)[0][..., 2]
    assert (t >= t0[:, None] - 1e-15).all()
    beyond = t.max(axis=1) > 1 + 1e-15
    assert_array_equal(beyond, t0 < 0.54005)
    assert 0.036 < ((t.max(axis=1) - 1)[:-1] / (1 - t0[:-1])).max() < 0.037


@pytest.mark.parametrize("dtype", EPS)
def test_weights_are_probabilities_of_a_cell(dtype):
    std, resolution = np.array([[0.001, 0.03], [0.2, 5.0]], dtype=dtype), np.array([1, 16, 512])
    weights = downweight(std, resolution)
    assert weights.dtype == dtype
    half = 0.5 / resolution
    expected = norm.cdf(half, scale=std[..., None]) - norm.cdf(-half, scale=std[..., None])
    assert_allclose(weights, expected, rtol=0, atol=2 * EPS[dtype])
    assert_array_equal(downweight(dtype(0), resolution), 1)


# -- torch, dtypes and errors ------------------------------------------------------------------------------------------


def chain(origins, directions, t0, t1, radius):
    """All functions, one after the other."""
    mean, covariance = gaussians_on_rays(origins, directions, conical_frustum(t0, t1, radius))
    points, std = multisample(origins, directions, t0, t1, radius)
    z, contracted = contract(mean, covariance)
    weights = downweight(contract_std(points, std), [4.0, 32.0])
    return z, contracted, uncontract(z), contract(points), weights, *cylinder(t0, t1, radius)


@pytest.mark.parametrize("dtype", EPS)
def test_tensors_give_what_arrays_give_and_are_differentiable(dtype):
    torch = pytest.importorskip("torch")
    t = np.sort(rng(9).uniform(0, 4, size=(2, 3)), axis=1)
    args = [a.astype(dtype) for a in (*rng(10).normal(size=(2, 2, 1, 3)), t[:, :-1], t[:, 1:], np.full(1, 0.1))]
    tensors = [torch.tensor(a, requires_grad=True) for a in args]
    for found, expected in zip(chain(*tensors), chain(*args), strict=True):
        assert isinstance(found, torch.Tensor)
        assert found.detach().numpy().dtype == expected.dtype == dtype
        assert_allclose(found.detach().numpy(), expected, rtol=0, atol=200 * EPS[dtype])
    if dtype is np.float64:
        assert torch.autograd.gradcheck(chain, tensors, fast_mode=True)


def test_gradients_are_finite_where_formulas_divide_by_zero():
    torch = pytest.importorskip("torch")
    for t0, t1, place in [(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 3.0)]:
        for direction in ([0.0, 0.0, 0.0], [0.0, -2.0, 0.0]):
            tensors = [torch.tensor(a, requires_grad=True) for a in ([place] * 3, direction, t0, t1, 0.0)]
            results = [*chain(*tensors), downweight(tensors[4], [4]), contract(tensors[0], torch.eye(3))[1]]
            gradients = torch.autograd.grad(sum(r.sum() for r in results), tensors)
            assert all(torch.isfinite(a).all() for a in [*results, *gradients])


def test_tensors_are_not_checked_and_may_meet_arrays():
    torch = pytest.importorskip("torch")
    assert conical_frustum(torch.tensor(-1.0), torch.tensor(-3.0), -1.0).t_mean.dtype == torch.float32
    assert cylinder(np.zeros(2), torch.ones(2), 1).t_mean.dtype == torch.float64
    assert downweight(0.1, torch.tensor([4, 8])).dtype == torch.float64
    assert contract(torch.tensor([math.nan])).isnan().all()


def test_numbers_and_lists_do_not_make_float32_float64():
    single, double = np.float32([1.0]), np.float64([2.0])
    assert conical_frustum(single, 2.0, np.float64(0.1)).t_var.dtype == np.float32
    assert conical_frustum(single, double, 0.1).t_var.dtype == np.float64
    assert conical_frustum([1], [2], np.float32(0.1)).t_var.dtype == np.float32
    assert conical_frustum(np.array([1]), np.array([2]), 1).t_var.dtype == np.float64
    assert gaussians_on_rays([0, 0], np.float32([0, 1]), cylinder(single, 2.0, 1))[1].dtype == np.float32
    assert downweight(single, np.array([16, 32])).dtype == np.float32


P, V, T0, T1 = np.zeros((2, 3)), np.ones((2, 3)), np.array([0.0, 1.0]), np.array([1.0, 2.0])
MOMENTS = conical_frustum(T0, T1, 0.1)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: conical_frustum(-T1, T1, 1), "t0 must not be negative, but it is -1 at index (0,). Distances count"),
        (lambda: cylinder(0, 1, -0.5), "radius must not be negative, but it is -0.5. Pass the radius"),
        (lambda: cylinder(T0, [1, 0.5], 1), "t1 must not be less than t0, but they are 0.5 and 1 at index (1,). Order"),
        (lambda: conical_frustum(0, [1, math.nan], 1), "t1 has NaN or infinite values, the first at index (1,). Leave"),
        (lambda: contract([1, math.inf]), "X has NaN or infinite values, the first at index (1,). Leave"),
        (lambda: cylinder(T0, np.ones(3), 1), "do not broadcast: t0 (2,), t1 (3,), radius (). Where one ray"),
        (lambda: gaussians_on_rays(P, V[:1].repeat(3, 0), MOMENTS), "origins (2,), directions (3,), t_mean (2,), t"),
        (lambda: gaussians_on_rays(P, V[:, :2], MOMENTS), "origins have 3 column(s), but directions have 2; they must"),
        (lambda: gaussians_on_rays(P, P, MOMENTS), "directions must not be zero, but the one at index (0,) is. Leave"),
        (lambda: gaussians_on_rays(0.0, 1.0, MOMENTS), "origins must have an axis of columns"),
        (lambda: multisample(P[:, :2], V[:, :2], T0, T1, 1), "three columns, but origins and directions have 2. Use"),
        (lambda: multisample(P, P, T0, T1, 1), "directions must not be zero"),
        (lambda: multisample(P, V, T1, T0, 1), "t1 must not be less than t0, but they are 0 and 1"),
        (lambda: contract(P, np.eye(2)), "covariance must have shape (..., 3, 3), as X has 3 column(s), got (2, 2)."),
        (lambda: contract(P, np.ones((4, 3, 3))), "do not broadcast: X (2,), covariance (4,)"),
        (lambda: contract(1.0), "X must have an axis of columns"),
        (lambda: uncontract([[0, 1], [0, 2]]), "inside the ball of radius 2, into which contract maps all space, but"),
        (lambda: uncontract([[0, 1], [0, 2]]), "the norm at index (1,) is 2. Pass contracted points"),
        (lambda: contract_std(P, [0, -1]), "std must not be negative, but it is -1 at index (1,). Pass standard"),
        (lambda: contract_std(P, np.ones(3)), "do not broadcast: X (2,), std (3,)"),
        (lambda: downweight(-0.1, [4]), "std must not be negative, but it is -0.1. Pass standard"),
        (lambda: downweight(0.1, [4, 0]), "resolution must be positive, but it is 0 at index (1,). Pass numbers of"),
        (lambda: downweight(0.1, 4), "resolution must be a list of numbers, shape (L,), got shape ()."),
    ],
)
def test_errors_say_what_is_wrong_where_and_what_to_do(action, message):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the message is looked at below, without escapes
        action()
    assert message in str(raised.value)
