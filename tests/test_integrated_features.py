"""Features averaged over footprints: against Monte Carlo, closed forms in mpmath, and mip-NeRF's own formula."""

import copy
import functools
import math
import pickle
from typing import NamedTuple

import joblib
import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralkit import (
    Atomic,
    CapabilityError,
    FourierFeatures,
    Gaussian,
    IntegratedFourierFeatures,
    LadderFeatures,
    Matern,
    _loops,
)
from spectralkit.maps import encoding, fourier
from spectralkit.maps._waves import Waves
from spectralkit.rules import Nodes
from spectralkit.spectra import Footprint

DTYPES = [np.float64, np.float32]
TOLERANCE = {np.float64: 1e-12, np.float32: 1e-6}
S = 0.04 * np.array([[1.0, 0.9], [0.9, 1.0]])  # facts section 1.2: a long footprint along the diagonal


def rows(n=12, d=3, seed=0, dtype=np.float64):
    """Points that float32 holds exactly."""
    return np.random.default_rng([seed, n, d]).uniform(-1, 1, size=(n, d)).astype(np.float32).astype(dtype)


def integrated(features=None, *args, **params):
    return IntegratedFourierFeatures(features, *args, **params)


def with_path(path, monkeypatch):
    """Take the compiled loop, or NumPy, whatever the amount of work."""
    if path == "compiled":
        pytest.importorskip("numba")
    monkeypatch.setattr(_loops, "SMALLEST_WORK", 0 if path == "compiled" else 1 << 62)


both_paths = pytest.mark.parametrize("path", ["compiled", "numpy"])
both_dtypes = pytest.mark.parametrize("dtype", DTYPES)


# -- what the columns and the footprints are, written down again -------------------------------------------------------


class Columns(NamedTuple):
    """Column c is ``amplitude cos 2 pi (omega . (x - origin) + offset)``, or a column of X where is_input."""

    omega: np.ndarray
    offset: np.ndarray
    amplitude: np.ndarray
    origin: np.ndarray
    is_input: np.ndarray
    inputs: np.ndarray


def columns_of(inner):
    """Read off the names, which say column, function and level, and the fitted frequencies."""
    d, f = inner.n_features_in_, inner.frequencies_
    weights = getattr(inner, "weights_", np.ones(len(f)))
    found = []
    for name in inner.get_feature_names_out():
        prefix, _, wave = name.partition("_")
        if not wave:
            found.append((np.zeros(d), 0.0, 1.0, True, int(name[1:])))
            continue
        j = int(wave[3:])
        omega = f[j] if f.ndim == 2 else f[j] * np.eye(d)[int(prefix[1:])]
        is_alone = getattr(getattr(inner, "nodes_", None), "phase", None) is not None and j == len(f) - 1
        offset = inner.nodes_.phase if is_alone else -0.25 * (wave[:3] == "sin")
        found.append((omega, offset, math.sqrt((1 + is_alone) * weights[j]), False, 0))
    omega, offset, amplitude, is_input, inputs = map(np.array, zip(*found, strict=True))
    origin = np.broadcast_to(getattr(inner, "_origin", 0.0), d)
    return Columns(omega, offset, amplitude, origin, is_input, inputs)


def damping(shape, size, omega):
    """E cos(2 pi omega . delta) in 40 digits; size is the width in each column, or a covariance."""
    with mp.workdps(40):
        f = [mp.mpf(float(v)) for v in omega]
        if np.ndim(size) == 2:
            terms = [mp.mpf(float(size[i, j])) * f[i] * f[j] for i in range(len(f)) for j in range(len(f))]
            return mp.exp(-2 * mp.pi**2 * sum(terms))
        turns = [mp.mpf(float(w)) * v for w, v in zip(size, f, strict=True)]
        if shape == "box":
            return mp.fprod(mp.sincpi(t) for t in turns)
        square = sum(t**2 for t in turns)
        if shape == "gaussian":
            return mp.exp(-2 * mp.pi**2 * square)
        u, nu = 2 * mp.pi * mp.sqrt(square), mp.mpf(len(f)) / 2
        return mp.gamma(nu + 1) * mp.besselj(nu, u) / (u / 2) ** nu if u else mp.mpf(1)


def dampings(shape, sizes, omega):
    return np.array([[float(damping(shape, size, f)) for f in omega] for size in sizes])


def exact(inner, X, shape, sizes):
    """The features averaged over a footprint for each row."""
    columns = columns_of(inner)
    turns = (X - columns.origin) @ columns.omega.T + columns.offset
    waves = columns.amplitude * dampings(shape, sizes, columns.omega) * np.cos(2 * math.pi * turns)
    return np.where(columns.is_input, X[:, columns.inputs], waves)


SIZES = {  # (n, d, generator) to the argument; shape (n,) means one for each row
    "number": lambda n, d, rng: {"width": 0.13},
    "columns": lambda n, d, rng: {"width": rng.uniform(0.02, 0.3, size=(1, d))},
    "rows": lambda n, d, rng: {"width": rng.uniform(0.02, 0.3, size=n)},
    "rows, columns": lambda n, d, rng: {"width": rng.uniform(0.02, 0.3, size=(n, d))},
    "covariance": lambda n, d, rng: {"covariance": random_covariances(1, d, rng)[0]},
    "covariances": lambda n, d, rng: {"covariance": random_covariances(n, d, rng)},
}
DIMENSIONS = {"gaussian": [1, 2, 3, 7], "box": [1, 2, 3, 7], "disc": [2], "ball": [1, 2, 3, 5, 7]}
CASES = [
    (shape, d, kind)
    for shape, dimensions in DIMENSIONS.items()
    for d in dimensions
    for kind in SIZES
    if shape == "gaussian" or not kind.startswith("covariance")
]


def random_covariances(n, d, rng):
    roots = rng.normal(size=(n, d, d + 1)) * 0.1 / math.sqrt(d)
    return roots @ roots.swapaxes(1, 2)


def sizes_of(kind, n, d):
    """The argument, and what it means for each row."""
    given = SIZES[kind](n, d, np.random.default_rng([n, d, *kind.encode()]))
    if "covariance" in given:
        return given, np.broadcast_to(given["covariance"], (n, d, d))
    width = np.asarray(given["width"])
    return given, np.broadcast_to(width[:, None] if width.ndim == 1 else width, (n, d))


# -- Monte Carlo -------------------------------------------------------------------------------------------------------

N_DRAWS, CHUNK = 400_000, 50_000
VARIANCE = {"gaussian": lambda d: 1.0, "box": lambda d: 1 / 12, "disc": lambda d: 1 / 4, "ball": lambda d: 1 / (d + 2)}


@functools.cache
def standard_draws(shape, d):
    """Positions of width 1; discs and balls by rejection from a cube."""
    rng = np.random.default_rng([d, *shape.encode()])
    if shape == "gaussian":
        return rng.normal(size=(N_DRAWS, d))
    if shape == "box":
        return rng.uniform(-0.5, 0.5, size=(N_DRAWS, d))
    kept = []
    while sum(map(len, kept)) < N_DRAWS:
        cube = rng.uniform(-1, 1, size=(N_DRAWS, d))
        kept.append(cube[(cube**2).sum(axis=1) <= 1])
    return np.concatenate(kept)[:N_DRAWS]


def sampled_mean(inner, x, shape, size):
    draws, total = standard_draws(shape, len(x)), 0.0
    for start in range(0, N_DRAWS, CHUNK):
        chunk = draws[start : start + CHUNK]
        delta = chunk @ np.linalg.cholesky(size).T if size.ndim == 2 else chunk * size
        total = total + inner.transform(x + delta).sum(axis=0)
    return total / N_DRAWS


def exact_variance(inner, x, shape, size):
    """Of each column of one draw: cos^2 is half of one plus the cosine of twice the phase."""
    columns = columns_of(inner)
    angle = 2 * math.pi * (columns.omega @ (x - columns.origin) + columns.offset)
    once, twice = (dampings(shape, [size], k * columns.omega)[0] for k in (1, 2))
    waves = columns.amplitude**2 * ((1 + twice * np.cos(2 * angle)) / 2 - (once * np.cos(angle)) ** 2)
    spread = np.diag(size) if size.ndim == 2 else VARIANCE[shape](len(x)) * size**2
    return np.where(columns.is_input, spread[columns.inputs], waves)


def check_by_monte_carlo(estimator, X, given, sizes):
    Z, shape = estimator.transform(X, **given), estimator.footprint
    deviations = []
    for x, z, size in zip(X, Z, sizes, strict=True):
        # 1e-9: where a footprint sees only one point of a wave
        error = np.sqrt(np.maximum(exact_variance(estimator.features_, x, shape, size), 0) / N_DRAWS) + 1e-9
        deviations.append((sampled_mean(estimator.features_, x, shape, size) - z) / error)
    assert np.abs(deviations).max() <= 5
    return np.array(deviations)


SAMPLED = {  # every shape in every number of columns that it is for; the closed forms below take all kinds in each
    ("gaussian", "number"): [1, 3],
    ("gaussian", "columns"): [2, 7],
    ("gaussian", "rows"): [1, 2],
    ("gaussian", "covariance"): [2, 3, 7],
    ("box", "number"): [1, 7],
    ("box", "columns"): [2, 3],
    ("disc", "number"): [2],
    ("disc", "columns"): [2],
    ("ball", "number"): [1, 2, 3, 5],
}


@pytest.mark.parametrize(
    ("shape", "d", "kind"), [(shape, d, kind) for (shape, kind), dimensions in SAMPLED.items() for d in dimensions]
)
def test_every_footprint_is_the_mean_over_draws(shape, d, kind):
    n = 2 if kind == "rows" else 1
    X = rows(n, d, seed=3)
    given, sizes = sizes_of(kind, n, d)
    for inner in (
        FourierFeatures(Gaussian(1.0), n_components=9, random_state=0),
        LadderFeatures([0.3, 2.0], layout="tcnn"),
    ):
        check_by_monte_carlo(integrated(inner, shape, width=0.1).fit(X), X, given, sizes)


OBLIQUE = np.array([[3.0, -3.0], [3.0, 3.0], [0.5, 8.0], [-2.0, 0.1]]) / (2 * math.pi)
INNERS = {
    "unit 1": LadderFeatures(4, unit=1),
    "unit pi": LadderFeatures(4, unit="pi", origin=0.3),
    "unit 2pi": LadderFeatures(4, unit="2pi", layout="perceiver"),
    "oblique": LadderFeatures(OBLIQUE),
    "even": FourierFeatures(Gaussian(0.7), n_components=12, rule="qmc", random_state=0),
    "odd": FourierFeatures(3.0 * Matern(0.4, nu=1.5), n_components=7, rule="iid", random_state=0),
    "orthogonal": FourierFeatures(Gaussian(0.7), n_components=13, rule="orthogonal", random_state=0),
    "hadamard": FourierFeatures(Gaussian(0.7), n_components=15, rule="hadamard", random_state=0),
    "atoms": FourierFeatures(Atomic([[0.3, 0.1], [1.0, -2.0], [0.0, 3.0]], weights=[0.2, 1.0, 0.5])),
    "nerf": LadderFeatures.preset("nerf", multires=4),
    "mipnerf": LadderFeatures.preset("mipnerf", max_deg=5, min_deg=1),
    "nerfstudio": LadderFeatures.preset("nerfstudio", num_frequencies=4, max_freq_exp=2.5, include_input=True),
    "tcnn": LadderFeatures.preset("tcnn", n_frequencies=4),
    "barf": LadderFeatures.preset("barf", L=4, include_input=True),
    "siren": LadderFeatures.preset("siren", num_frequencies=4),
    "perceiver": LadderFeatures.preset("perceiver", num_bands=3, max_freq=6.0),
    "tancik": LadderFeatures.preset("tancik", mapping_size=6, scale=1.0, random_state=0),
    "sam": LadderFeatures.preset("sam", num_pos_feats=6, scale=0.5, random_state=0, include_input=True),
}


@pytest.mark.parametrize("name", INNERS)
def test_every_inner_transformer_is_averaged(name):
    x = rows(1, 2, seed=5)
    long = integrated(INNERS[name], width=0.1).fit(x)
    deviations = check_by_monte_carlo(long, x, {"covariance": S / 4}, [S / 4])
    if name in ("unit 2pi", "oblique", "odd", "hadamard", "sam"):
        check_by_monte_carlo(integrated(INNERS[name], "box", width=[0.2, 0.4]).fit(x), x, {}, [np.array([0.2, 0.4])])
    assert deviations.shape == (1, long.transform(x).shape[1])
    # the draws do see a covariance whose off-diagonals are left out, where a wave is off the axes
    columns = columns_of(long.features_)
    if (np.count_nonzero(columns.omega, axis=1) == 2).any():
        apart = long.transform(x, covariance=S / 4) - long.transform(x, covariance=np.diag(np.diag(S / 4)))
        error = np.sqrt(exact_variance(long.features_, x[0], "gaussian", S / 4) / N_DRAWS)
        assert (np.abs(deviations + apart / error) > 20).any()


def test_structured_products_are_averaged_too():
    inner = FourierFeatures(Gaussian(0.5), n_components=33, rule="hadamard", random_state=0)
    x = rows(1, 5, seed=5)
    estimator = integrated(inner, width=0.1).fit(x)
    assert estimator.features_.nodes_.products is not None
    given, sizes = sizes_of("covariance", 1, 5)
    check_by_monte_carlo(estimator, x, given, sizes)


def test_variances_off_the_axes_need_the_full_covariance():
    """facts section 1.2: b = (3, -3) has variance .072 over S, and .72 if the off-diagonals are dropped."""
    x = np.zeros((1, 2))
    estimator = integrated(LadderFeatures([[3 / (2 * math.pi), -3 / (2 * math.pi)]], include_input=False), width=0.1)
    estimator.fit(x)
    assert_allclose(estimator.transform(x, covariance=S), [[0, math.exp(-0.072 / 2)]], rtol=0, atol=1e-14)
    assert round(estimator.transform(x, covariance=S)[0, 1], 3) == 0.965
    diagonal = estimator.transform(x, covariance=np.diag(np.diag(S)))
    assert_allclose(diagonal, [[0, math.exp(-0.72 / 2)]], rtol=0, atol=1e-14)
    assert_allclose(estimator.transform(x, width=[[0.2, 0.2]]), diagonal, rtol=0, atol=1e-14)
    assert round(diagonal[0, 1], 3) == 0.698


# -- closed forms ------------------------------------------------------------------------------------------------------

CLOSED = {
    "fourier": FourierFeatures(Gaussian(1.5), n_components=9, random_state=0),
    "ladder": LadderFeatures([0.3, 2.0], layout="nerfstudio"),
}


@functools.cache
def closed_case(shape, d, kind, name):
    X = rows(3, d, seed=1)
    given, sizes = sizes_of(kind, 3, d)
    sizes = np.array(sizes)
    if kind in ("rows", "rows, columns"):
        given = {"width": np.array(given["width"])}
        given["width"][2] = 0.0  # a point among the footprints
        sizes[2] = 0.0
    return X, given, exact(clone(CLOSED[name]).fit(X), X, shape, sizes)


@both_paths
@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize(("shape", "d", "kind"), CASES, ids=str)
def test_every_footprint_is_its_closed_form(shape, d, kind, name, path, monkeypatch):
    with_path(path, monkeypatch)
    X, given, expected = closed_case(shape, d, kind, name)
    estimator = integrated(CLOSED[name], shape, width=0.1).fit(X)
    for dtype in DTYPES:
        Z = estimator.transform(X.astype(dtype), **given)
        assert Z.dtype == dtype
        assert_allclose(Z, expected, rtol=0, atol=TOLERANCE[dtype])


@both_paths
@pytest.mark.parametrize("name", INNERS)
def test_every_inner_transformer_has_its_closed_form(name, path, monkeypatch):
    with_path(path, monkeypatch)
    X = rows(4, 2)
    estimator = integrated(INNERS[name], width=0.1).fit(X)
    sizes = random_covariances(4, 2, np.random.default_rng(0))
    Z = estimator.transform(X, covariance=sizes)
    assert_allclose(Z, exact(estimator.features_, X, "gaussian", sizes), rtol=0, atol=1e-12)
    estimator = integrated(INNERS[name], "disc", width=0.2).fit(X)
    expected = exact(estimator.features_, X, "disc", np.full((4, 2), 0.2))
    assert_allclose(estimator.transform(X), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("u", [1e-9, 1e-4, 0.3, 0.999, 1.001, 1.4, 3.8317, 20.0, 3e3], ids=str)
def test_dampings_have_their_last_digits_on_both_sides_of_the_series(u):
    w = np.array([[u / (2 * math.pi)]])
    for shape, dimensions in DIMENSIONS.items():
        for d in dimensions:
            omega = np.eye(d)[-1:]
            width = np.broadcast_to(w, (1, d))
            got = Footprint(shape, width=width).damping(omega)
            # rounding of u turns into rounding of sine and cosine, u eps / u
            assert_allclose(got, dampings(shape, width, omega), rtol=0, atol=4e-15)


def test_damping_is_in_double_precision_unless_told_otherwise():
    for shape in DIMENSIONS:
        footprint = Footprint(shape, width=np.array([[0.1, 0.2]]))
        expected = footprint.damping(np.array([[0.0, 0.0], [1.0, 2.0]]))
        assert expected.dtype == np.float64
        assert expected[0, 0] == 1
        for same in (np.array([[0, 0], [1, 2]]), np.array([[0, 0], [1, 2]], dtype=np.float32), [[0, 0], [1, 2]]):
            assert footprint.damping(same).dtype == np.float64
            assert_array_equal(footprint.damping(same), expected)


def test_damping_knows_its_zeros():
    box = Footprint("box", width=np.array([[0.5]])).damping(np.arange(1, 9)[:, None] * 2.0)
    assert_allclose(box, 0, rtol=0, atol=1e-15)
    first_zero = float(mp.besseljzero(1, 1)) / (2 * math.pi)
    assert_allclose(Footprint("disc", width=np.full((1, 2), first_zero)).damping(np.eye(2)), 0, rtol=0, atol=1e-15)


def test_matched_variances_agree_to_fourth_order():
    """facts section 1.2: the Gaussian of the same variance differs from any footprint by O(u^4)."""
    for shape, dimensions in DIMENSIONS.items():
        for d in dimensions:
            errors = []
            for sd in (0.01, 0.02):
                width = np.full((1, d), sd / math.sqrt(VARIANCE[shape](d)))
                gaussian = Footprint("gaussian", width=np.full((1, d), sd)).damping(np.ones((1, d)) / math.sqrt(d))
                errors.append(
                    abs(Footprint(shape, width=width).damping(np.ones((1, d)) / math.sqrt(d)) - gaussian)[0, 0]
                )
            assert errors[1] <= 16.5 * errors[0] + 1e-15


# -- points, and footprints far beyond every wave ----------------------------------------------------------------------


@both_paths
@both_dtypes
@pytest.mark.parametrize("name", ["unit 1", "oblique", "odd", "even", "hadamard", "atoms", "sam"])
@pytest.mark.parametrize("shape", DIMENSIONS)
def test_footprints_of_width_zero_are_the_plain_features_to_the_bit(shape, name, dtype, path, monkeypatch):
    with_path(path, monkeypatch)
    X = rows(20, 2, dtype=dtype)
    estimator = integrated(INNERS[name], shape, width=0).fit(X)
    plain = estimator.features_.transform(X)
    assert_array_equal(estimator.transform(X), plain)
    assert_array_equal(estimator.transform(X, width=np.zeros(20)), plain)
    if shape == "gaussian":
        assert_array_equal(estimator.transform(X, covariance=np.zeros((20, 2, 2))), plain)
        assert_array_equal(estimator.transform(X, covariance=np.zeros((2, 2))), plain)


@both_dtypes
@pytest.mark.parametrize("shape", DIMENSIONS)
@pytest.mark.parametrize("name", INNERS)
def test_a_wide_footprint_sees_nothing_but_the_columns_themselves(name, shape, dtype):
    X = rows(20, 2, dtype=dtype)
    estimator = integrated(INNERS[name], shape, width=1e9).fit(X)
    columns = columns_of(estimator.features_)
    slowest = np.linalg.norm(columns.omega[~columns.is_input], axis=1).min()
    amplitude = columns.amplitude.max()
    for Z in (estimator.transform(X), estimator.transform(X, width=np.geomspace(1e9, 1e30, 20))):
        # the slowest decay is that of the box, 1 / (pi w omega) along an axis
        assert np.abs(Z[:, ~columns.is_input]).max() <= 2 * amplitude / (math.pi * 1e9 * slowest / math.sqrt(2))
        assert_array_equal(Z[:, columns.is_input], X[:, columns.inputs[columns.is_input]])


EXTREMES = [0.0, 1e-300, 1e-200, 1e-20, 1e-3, 1.0, 7.0, 1e5, 1e20, 1e200, 1e300]


def check_against_closed_form(got, shape, sizes, omega, dtype):
    assert got.dtype == dtype
    assert np.isfinite(got).all()
    with mp.workdps(40):
        for value, size in zip(got, sizes, strict=True):
            for v, f in zip(value, omega, strict=True):
                if (
                    np.ndim(size) == 1
                    and max(mp.mpf(float(a)) * abs(float(b)) for a, b in zip(size, f, strict=True)) > 1e9
                ):
                    assert abs(v) <= 1e-9  # sin(u)/u and faster
                else:
                    assert abs(v - float(damping(shape, size, f))) <= TOLERANCE[dtype], (size, f)


@both_dtypes
@pytest.mark.parametrize(("shape", "d"), [(shape, d) for shape in DIMENSIONS for d in DIMENSIONS[shape] if d < 6])
def test_widths_and_frequencies_of_any_size_together_are_finite_and_right(shape, d, dtype):
    """One frequency many octaves above another must not change what the other gets."""
    rng = np.random.default_rng(d)
    sizes = np.concatenate([np.repeat(np.array(EXTREMES)[:, None], d, axis=1), rng.choice(EXTREMES, size=(6, d))])
    omega = np.concatenate([np.array(EXTREMES)[:, None] * np.eye(d)[-1], rng.choice(EXTREMES, size=(6, d))])
    got = Footprint(shape, width=sizes).damping(omega, like=np.empty(0, dtype))
    check_against_closed_form(got, shape, sizes, omega, dtype)


@both_dtypes
def test_covariances_and_frequencies_of_any_size_together_are_finite_and_right(dtype):
    rng = np.random.default_rng(0)
    shapes = [np.eye(2), [[1.0, 0.9], [0.9, 1.0]], [[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1e-40]]]
    sizes = np.array([np.multiply(c, s) for c in shapes for s in (0.0, 1e-300, 1e-40, 0.01, 1.0, 1e40, 1e300)])
    # within one wave, 1e150 between columns is as far as squares go
    omega = np.concatenate([np.array(EXTREMES)[:, None] * [1.0, 0.5], rng.choice(EXTREMES[3:-2], size=(6, 2))])
    got = Footprint.around(np.empty((len(sizes), 2)), "gaussian", covariance=sizes).damping(omega, np.empty(0, dtype))
    check_against_closed_form(got, "gaussian", sizes, omega, dtype)


@both_paths
@both_dtypes
@pytest.mark.parametrize("octaves", [60, 1000])
def test_many_octaves_are_damped_one_by_one(octaves, dtype, path, monkeypatch):
    """float64 ends at 2**1024: squares of the highest octaves overflow, and the lowest vanish beside them."""
    with_path(path, monkeypatch)
    X = rows(2, 1)
    for shape in ("gaussian", "box", "ball"):
        estimator = integrated(LadderFeatures(octaves, "2pi", include_input=False), shape, width=0.1).fit(
            X.astype(dtype)
        )
        inner = clone(estimator.features_).set_params(frequencies=7).fit(X)
        for given in ({}, {"width": [0.1, 0.2]}):
            Z = estimator.transform(X.astype(dtype), **given)
            sizes = np.array(given.get("width", [0.1, 0.1]))[:, None]
            assert_allclose(Z[:, :14], exact(inner, X, shape, sizes), rtol=0, atol=TOLERANCE[dtype])
            assert np.abs(Z[:, 14:]).max() <= 1 / (math.pi * 0.1 * 2**7)


@both_dtypes
@pytest.mark.parametrize("shape", DIMENSIONS)
@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_units_do_not_matter(unit, shape, dtype):
    X = rows(20, 2)
    width = np.linspace(0.0, 0.4, 20)
    for inner, scaled in (
        (
            LadderFeatures([0.5, 3.0], include_input=False),
            LadderFeatures(np.array([0.5, 3.0]) / unit, include_input=False),
        ),
        (LadderFeatures(OBLIQUE, include_input=False), LadderFeatures(OBLIQUE / unit, include_input=False)),
        (FourierFeatures(Gaussian(0.7), random_state=0), FourierFeatures(Gaussian(0.7 / unit), random_state=0)),
    ):
        ours = integrated(scaled, shape, width=0.2 * unit).fit((unit * X).astype(dtype))
        plain = integrated(inner, shape, width=0.2).fit(X)
        tolerance = 10 * TOLERANCE[dtype]  # X is rounded anew, by 2^-24 in float32, at up to 3 pi radians
        assert_allclose(ours.transform((unit * X).astype(dtype)), plain.transform(X), rtol=0, atol=tolerance)
        got = ours.transform((unit * X).astype(dtype), width=unit * width)
        assert_allclose(got, plain.transform(X, width=width), rtol=0, atol=tolerance)
        if shape == "gaussian":
            got = ours.transform((unit * X).astype(dtype), covariance=unit**2 * S)
            assert_allclose(got, plain.transform(X, covariance=S), rtol=0, atol=tolerance)


@both_dtypes
def test_estimators_stay_finite_at_the_ends_of_the_numbers(dtype):
    X = rows(6, 2, dtype=dtype)
    widths = np.array([0.0, 1e-300, 1e-200, 1.0, 1e200, 1e300])
    for shape in DIMENSIONS:
        for inner in (LadderFeatures([1e-200, 1.0, 1e200]), FourierFeatures(Atomic([[1e-200, 1.0], [1e100, -1e200]]))):
            estimator = integrated(inner, shape, width=1.0).fit(X)
            Z = estimator.transform(X, width=widths)
            assert Z.dtype == dtype
            assert np.isfinite(Z).all()
            one_by_one = [estimator.set_params(width=w).transform(X[i : i + 1]) for i, w in enumerate(widths)]
            assert_allclose(Z, np.concatenate(one_by_one), rtol=0, atol=TOLERANCE[dtype])


# -- the codebases -----------------------------------------------------------------------------------------------------


def test_the_factor_two_pi_is_squared_into_the_variance():
    """facts section 0.1: nerfstudio leaves it out, and gets .932 and -.69 at levels 2 and 4 in place of these."""
    ladder = LadderFeatures.preset("nerfstudio", num_frequencies=5, max_freq_exp=4.0)
    estimator = integrated(ladder, width=0.05).fit([[0.3]])
    z = dict(zip(estimator.get_feature_names_out(), estimator.transform([[0.3]])[0], strict=True))
    truth = {level: math.exp(-((2 * math.pi * 2**level * 0.05) ** 2) / 2) for level in range(5)}
    for level, factor in truth.items():
        assert_allclose(z[f"x0_sin{level}"], factor * math.sin(2 * math.pi * 2**level * 0.3), rtol=0, atol=1e-15)
    assert abs(z["x0_sin2"] - 0.431818) < 1e-6
    assert abs(z["x0_sin4"]) < 0.0005


def integrated_pos_enc(mean, cov, min_deg, max_deg):
    """mipnerf/internal/mip.py, for full covariances through lift_and_diagonalize's basis of octaves."""
    d = mean.shape[1]
    basis = np.concatenate([2.0**degree * np.eye(d) for degree in range(min_deg, max_deg)], axis=1)
    y = mean @ basis
    y_var = np.sum((cov @ basis) * basis, axis=-2)
    means, variances = np.concatenate([y, y + 0.5 * np.pi], axis=-1), np.concatenate([y_var] * 2, axis=-1)
    return np.exp(-0.5 * variances) * np.sin(means)


@both_paths
@pytest.mark.parametrize(("min_deg", "max_deg"), [(0, 16), (0, 5), (2, 5)])
def test_mip_nerf(min_deg, max_deg, path, monkeypatch):
    with_path(path, monkeypatch)
    X, covariance = rows(30, 3), random_covariances(30, 3, np.random.default_rng(0))
    estimator = integrated(LadderFeatures.preset("mipnerf", max_deg=max_deg, min_deg=min_deg)).fit(
        X, covariance=covariance
    )
    Z = estimator.transform(X, covariance=covariance)
    # phases of 2^15 radians are known to 2^15 eps there
    assert_allclose(Z, integrated_pos_enc(X, covariance, min_deg, max_deg), rtol=0, atol=2**max_deg * 4e-16)
    diagonal = np.diagonal(covariance, axis1=1, axis2=2)
    assert_allclose(estimator.transform(X, width=np.sqrt(diagonal)), Z, rtol=0, atol=1e-12)  # along axes they suffice


# -- where widths come from --------------------------------------------------------------------------------------------


def widths_in_columns(d, count, n=12):
    """Points, trailing columns, and the same as arguments."""
    rng = np.random.default_rng([d, count])
    X = rows(n, d)
    if count in (1, d):
        widths = rng.uniform(0, 0.4, size=(n, count))
        return X, widths, {"width": widths}
    C = random_covariances(n, d, rng)
    upper = np.array([C[:, i, j] for i in range(d) for j in range(i, d)]).T
    return X, upper, {"covariance": C}


@both_dtypes
@pytest.mark.parametrize("inner", [LadderFeatures(3), FourierFeatures(n_components=7, random_state=0)], ids=str)
@pytest.mark.parametrize(("d", "count"), [(1, 1), (2, 1), (2, 2), (2, 3), (3, 1), (3, 3), (3, 6)])
def test_widths_in_columns_are_widths_given(d, count, inner, dtype):
    X, trailing, given = widths_in_columns(d, count)
    both = np.hstack([X, trailing]).astype(dtype)
    ours = integrated(inner, width="columns", n_width_columns=count).fit(both)
    theirs = integrated(inner).fit(X.astype(dtype), **given)
    assert ours.n_features_in_ == d + count
    assert ours.features_.n_features_in_ == d
    expected = theirs.transform(X.astype(dtype), **given)
    assert_allclose(ours.transform(both), expected, rtol=0, atol=1e-15 if dtype is np.float64 else 1e-6)
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert (np.abs(expected - theirs.features_.transform(X.astype(dtype))) > 1e-3).any()
    doubled = clone(ours).set_params(multiplier=2.0).fit(both).transform(both)
    more = {name: (2 if name == "width" else 4) * size for name, size in given.items()}
    assert_allclose(doubled, theirs.transform(X.astype(dtype), **more), rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["features__sigma", "multiplier"])
def test_widths_in_columns_pass_through_model_selection(name):
    X, widths, _ = widths_in_columns(2, 1, n=60)
    y = np.sin(3 * X[:, 0]) * np.exp(-widths[:, 0]) + 0.1 * X[:, 1]
    both, folds = np.hstack([X, widths]), KFold(3, shuffle=True, random_state=0)
    ours = integrated(FourierFeatures(n_components=32, random_state=0), width="columns")
    values = [0.1, 0.5, 1.0]
    search = GridSearchCV(
        make_pipeline(ours, Ridge(0.01)), {f"integratedfourierfeatures__{name}": values}, cv=folds
    ).fit(both, y)
    for value, mean in zip(values, search.cv_results_["mean_test_score"], strict=True):
        scores = []
        for train, test in folds.split(X):
            inner = FourierFeatures(
                sigma=value if name == "features__sigma" else "auto", n_components=32, random_state=0
            )
            model = integrated(inner, multiplier=value if name == "multiplier" else 1.0)
            Z = model.fit_transform(X[train], width=widths[train])
            ridge = Ridge(0.01).fit(Z, y[train])
            scores.append(ridge.score(model.transform(X[test], width=widths[test]), y[test]))
        assert_allclose(mean, np.mean(scores), rtol=1e-10)
        ours.set_params(**{name: value})
        assert_allclose(cross_val_score(make_pipeline(ours, Ridge(0.01)), both, y, cv=folds), scores, rtol=1e-10)
        ours.set_params(features__sigma="auto", multiplier=1.0)
    assert np.ptp(search.cv_results_["mean_test_score"]) > 1e-6


def test_a_pipeline_passes_widths_on_to_fit():
    X, widths, given = widths_in_columns(2, 2, n=30)
    y = X[:, 0]
    model = make_pipeline(integrated(LadderFeatures(3)), Ridge()).fit(X, y, integratedfourierfeatures__width=widths)
    Z = integrated(LadderFeatures(3)).fit_transform(X, **given)
    assert_allclose(model[-1].coef_, Ridge().fit(Z, y).coef_, rtol=1e-10)


def test_numbers_and_arrays_and_arguments_are_the_same_widths():
    X = rows()
    ladder = LadderFeatures(3)
    constant = integrated(ladder, "box", width=0.25).fit(X).transform(X)
    for same in (
        integrated(ladder, "box", width=np.float32(0.25)).fit_transform(X),
        integrated(ladder, "box", width=[0.25] * 3).fit_transform(X),
        integrated(ladder, "box", width=np.full(3, 0.125), multiplier=2).fit_transform(X),
        integrated(ladder, "box").fit_transform(X, width=0.25),
        integrated(ladder, "box").fit(X, width=0.25).transform(X, width=np.full((1, 3), 0.25)),
        integrated(ladder, "box", width=9.0).fit_transform(X, None, np.full(12, 0.25)),
        integrated(ladder, "box", width=1).fit(X).transform(X, np.full((12, 1), 0.25)),
        integrated(ladder, "box", multiplier=0.5).fit_transform(X, width=pd.Series(np.full(12, 0.5))),
        integrated(ladder, "box", multiplier=0.25).fit_transform(X, width=1),
    ):
        assert_allclose(same, constant, rtol=0, atol=1e-15)
    per_column = integrated(ladder, width=[0.1, 0.0, 0.3]).fit_transform(X)
    full = integrated(ladder, multiplier=0.5).fit_transform(X, covariance=4 * np.diag([0.01, 0, 0.09]))
    assert_allclose(full, per_column, rtol=0, atol=1e-13)
    assert_allclose(
        integrated(ladder).fit_transform(X, covariance=np.diag([0.01, 0, 0.09])), per_column, rtol=0, atol=1e-13
    )


def test_after_a_fit_with_widths_a_call_without_raises():
    X = rows()
    for given in ({"width": 0.1}, {"width": np.full(12, 0.1)}, {"covariance": 0.01 * np.eye(3)}):
        for width in ("local", 0.1):
            estimator = integrated(width=width).fit(X, **given)
            with pytest.raises(
                ValueError, match=r"fit was given the widths .* transform is not.* Pass width= .*'columns'"
            ):
                estimator.transform(X)
            assert estimator.transform(X, **given).shape == (12, 256)
            assert estimator.fit(X).transform(X).shape == (12, 256)  # a later fit without widths forgets them


def test_training_rows_without_widths_may_meet_rows_with_widths():
    X = rows()
    local = integrated(LadderFeatures(3)).fit(X)
    constant = integrated(LadderFeatures(3), width=0.2).fit(X)
    assert_array_equal(local.transform(X, width=0.2), constant.transform(X))
    assert_array_equal(constant.transform(X, width=0.0), constant.features_.transform(X))


# -- "local" -----------------------------------------------------------------------------------------------------------


def spacing(points, X, k=None):
    """R_k (V_d / k)^(1/d) from all distances."""
    d = points.shape[1]
    distinct = np.unique(points, axis=0)
    k = min(2 * d + 1 if k is None else k, len(distinct))
    R = np.sort(np.linalg.norm(X[:, None] - distinct, axis=2), axis=1)[:, k - 1]
    return R * (math.pi ** (d / 2) / math.gamma(d / 2 + 1) / k) ** (1 / d)


CELL = {shape: functools.partial(lambda v, d: math.sqrt(1 / 12 / v(d)), v) for shape, v in VARIANCE.items()}


@pytest.mark.parametrize("n_neighbors", [None, 1, 4, 1000])
@pytest.mark.parametrize(("shape", "d"), [(shape, d) for shape in DIMENSIONS for d in DIMENSIONS[shape]])
def test_local_widths_are_the_formula(shape, d, n_neighbors):
    points, X = rows(40, d), np.concatenate([rows(7, d, seed=2) * 2, rows(40, d)[:5]])
    estimator = integrated(LadderFeatures(2), shape, n_neighbors=n_neighbors, multiplier=1.5).fit(points)
    width = CELL[shape](d) * spacing(points, X, n_neighbors)
    expected = estimator.transform(X, width=width)
    assert_allclose(estimator.transform(X), expected, rtol=0, atol=1e-13)
    if n_neighbors != 1:
        assert (np.abs(estimator.transform(X) - estimator.features_.transform(X)) > 1e-4).any()


@pytest.mark.parametrize(("d", "side"), [(1, 2 / 3), (2, math.sqrt(math.pi / 5)), (3, (4 * math.pi / 21) ** (1 / 3))])
def test_inside_a_regular_grid_the_neighbours_are_one_spacing_away(d, side):
    h = 0.125
    axes = np.meshgrid(*[h * np.arange(7)] * d, indexing="ij")
    grid = np.stack([axis.ravel() for axis in axes], axis=1)
    centre = np.full((1, d), 3 * h)
    for shape, factor in (("box", 1.0), ("gaussian", 1 / math.sqrt(12)), ("ball", math.sqrt((d + 2) / 12))):
        estimator = integrated(LadderFeatures([1.0, 3.0]), shape).fit(grid)
        expected = estimator.transform(centre, width=h * side * factor)
        assert_allclose(estimator.transform(centre), expected, rtol=0, atol=1e-14)


def test_local_footprints_of_every_shape_have_the_variance_of_the_cell():
    """To second order in the frequency the damping sees the variance alone."""
    points = rows(50, 2)
    for d, shapes in ((2, DIMENSIONS), (1, ("gaussian", "box", "ball")), (3, ("gaussian", "box", "ball"))):
        points, slow = rows(50, d), 1e-3
        side = spacing(points, points)
        for shape in shapes:
            estimator = integrated(LadderFeatures([slow], include_input=False), shape).fit(points)
            lost = 1 - np.linalg.norm(estimator.transform(points)[:, [0, d]], axis=1)
            assert_allclose(lost, 2 * math.pi**2 * slow**2 * side**2 / 12, rtol=1e-4)


@pytest.mark.parametrize("factor", [1e-200, 1e-20, 10.0, 1024.0, 1e20, 1e200])
def test_ten_times_the_unit_is_ten_times_the_width_and_the_same_features(factor):
    X, new = rows(40), rows(9, seed=4)
    plain = integrated(FourierFeatures(random_state=0)).fit(X)
    scaled = integrated(FourierFeatures(random_state=0)).fit(factor * X)
    assert_allclose(scaled.transform(factor * new), plain.transform(new), rtol=0, atol=1e-12)


def test_an_offset_changes_nothing():
    X, new = rows(40), rows(9, seed=4)
    plain = integrated(FourierFeatures(random_state=0)).fit(X)
    moved = integrated(FourierFeatures(random_state=0)).fit(X + 1e6)
    before, after = plain.transform(new), moved.transform(new + 1e6)
    # 1e6 omega turns, and a spacing of 0.1, are known to 1e6 eps
    assert_allclose(after @ after.T, before @ before.T, rtol=0, atol=1e-8)
    assert_allclose((after**2).sum(axis=1), (before**2).sum(axis=1), rtol=1e-8)


def test_repeated_rows_and_constant_columns_and_their_order_change_nothing():
    X, new = rows(40), rows(9, seed=4)
    plain = integrated(LadderFeatures(3)).fit(X)
    for same in (np.repeat(X, 5, axis=0), X[::-1], np.concatenate([X, X[:7]])):
        assert_array_equal(integrated(LadderFeatures(3)).fit(same).transform(new), plain.transform(new))
    zeros = np.concatenate([np.zeros((3, 3)), -np.zeros((3, 3)), X])  # one point, whatever the sign of its zeros
    assert_array_equal(
        integrated(LadderFeatures(3)).fit(zeros).transform(new),
        integrated(LadderFeatures(3)).fit(zeros[5:]).transform(new),
    )
    flat = np.column_stack([X[:, 0], np.full(40, 0.1), X[:, 2]])
    estimator = integrated(LadderFeatures(3)).fit(flat)
    width = spacing(flat, flat) / math.sqrt(12)
    assert_allclose(estimator.transform(flat), estimator.transform(flat, width=width), rtol=0, atol=1e-13)


def test_one_distinct_row_has_plain_features():
    for X in (rows(1), np.repeat(rows(1), 9, axis=0)):
        for inner in (LadderFeatures(3), FourierFeatures(random_state=0)):
            estimator = integrated(inner).fit(X)
            assert_array_equal(estimator.transform(X), estimator.features_.transform(X))
    # a row elsewhere is as far from its neighbours as from this one
    far = rows(1, seed=9)
    assert_allclose(
        estimator.transform(far), estimator.transform(far, width=spacing(X, far) / math.sqrt(12)), atol=1e-15
    )


@both_dtypes
def test_a_row_depends_on_itself_alone(dtype):
    X = rows(64, 3, dtype=dtype)
    for inner in (LadderFeatures(4), FourierFeatures(n_components=7, random_state=0)):
        for shape in ("gaussian", "box", "ball"):
            estimator = integrated(inner, shape).fit(X)
            Z, order = estimator.transform(X), np.random.default_rng(0).permutation(64)
            one_by_one = np.concatenate([estimator.transform(row[None]) for row in X])
            assert_allclose(one_by_one, Z, rtol=0, atol=TOLERANCE[dtype])
            assert_allclose(estimator.transform(X[order]), Z[order], rtol=0, atol=TOLERANCE[dtype])
            assert_allclose(estimator.transform(X[:17]), Z[:17], rtol=0, atol=TOLERANCE[dtype])


def test_weights_are_repetitions():
    X, new = rows(20), rows(9, seed=4)
    repeats = np.random.default_rng(0).integers(0, 3, size=20)
    assert (repeats == 0).any()
    for inner in (FourierFeatures(n_components=8, random_state=0), LadderFeatures(3)):
        weighted = integrated(inner).fit(X, sample_weight=repeats)
        repeated = integrated(inner).fit(np.repeat(X, repeats, axis=0))
        assert_allclose(weighted.transform(new), repeated.transform(new), rtol=0, atol=1e-12)
        assert_allclose(
            integrated(inner).fit(X, sample_weight=2.0).transform(new), integrated(inner).fit(X).transform(new)
        )
    model = make_pipeline(integrated(FourierFeatures(n_components=8, random_state=0)), Ridge())
    model.fit(X, X[:, 0], integratedfourierfeatures__sample_weight=repeats)
    expected = FourierFeatures().fit(np.repeat(X, repeats, axis=0)).sigma_
    assert_allclose(model[0].features_.sigma_, expected, rtol=1e-12)


# -- what it is for ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inner", [FourierFeatures(Gaussian(0.8), n_components=41, random_state=0), LadderFeatures(3)], ids=str
)
def test_a_linear_model_predicts_the_mean_of_its_own_function(inner):
    X, new, width, count = rows(100, 2), rows(5, 2, seed=7), np.array([0.3, 0.15]), 128
    y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2
    estimator = integrated(inner, "box", width=width).fit(X)
    ridge = Ridge(1e-3).fit(estimator.features_.transform(X), y)
    ticks = (np.arange(count) + 0.5) / count - 0.5
    box = np.stack([axis.ravel() for axis in np.meshgrid(ticks, ticks)], axis=1) * width
    means = [ridge.predict(estimator.features_.transform(x + box)).mean() for x in new]
    # the midpoint rule turns sin(a)/a into sin(a)/(N sin(a/N)), larger by a factor of up to 1 + (a/N)^2/6 + O(N^-4)
    columns = columns_of(estimator.features_)
    excess = 1.01 * ((math.pi * width * columns.omega / count) ** 2 / 6).sum(axis=1)
    allowed = (np.abs(ridge.coef_) * columns.amplitude * excess).sum()
    assert allowed < 1e-3
    errors = np.abs(ridge.predict(estimator.transform(new)) - means)
    assert errors.max() <= allowed + 1e-12
    assert np.abs(ridge.predict(estimator.features_.transform(new)) - means).max() > 20 * allowed


def test_block_means_are_learned_as_block_means():
    """Coarse and fine cells of one field: plain features take a mean for a value."""
    rng = np.random.default_rng(0)
    x, width = rng.uniform(0, 1, size=(300, 1)), rng.choice([0.01, 0.3], size=(300, 1))
    means = np.sin(2 * np.pi * 3 * x) * np.sinc(3 * width)
    both, folds = np.hstack([x, width]), KFold(5)
    inner = FourierFeatures(Gaussian(2.0), n_components=64, random_state=0)
    ours = make_pipeline(integrated(inner, "box", width="columns"), Ridge(1e-6))
    assert cross_val_score(ours, both, means.ravel(), cv=folds).mean() > 0.9999
    assert cross_val_score(make_pipeline(inner, Ridge(1e-6)), x, means.ravel(), cv=folds).mean() < 0.9


# -- scikit-learn ------------------------------------------------------------------------------------------------------

CONFIGURATIONS = {
    "default": integrated(),
    "ladder": integrated(LadderFeatures(3), "box"),
    "constant": integrated(FourierFeatures(n_components=7, random_state=0), "ball", width=0.3),
}


class WidthsInColumns(IntegratedFourierFeatures):
    """With trailing columns of widths: the checks draw normal numbers unless a tag says that they must be positive."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def failures_of_the_tag(estimator):
    """The tag is for all columns of X, and there is none for the last."""
    if not isinstance(estimator, WidthsInColumns):
        return {}
    return {
        "check_fit_non_negative": "negative points are welcome, negative widths are not",
        "check_positive_only_tag_during_fit": "it asks for another message than that of widths",
    }


@parametrize_with_checks(
    [*CONFIGURATIONS.values(), WidthsInColumns(width="columns")], expected_failed_checks=failures_of_the_tag
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)  # check_array_api_input skips itself unless SCIPY_ARRAY_API=1


# the checks fit frames and transform arrays, and the other way round
@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore:X has feature names, but")
@pytest.mark.parametrize("estimator", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
@pytest.mark.parametrize(
    "check",
    [
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
        "check_get_feature_names_out_error",
        "check_set_output_transform",
        "check_set_output_transform_pandas",
        "check_global_output_transform_pandas",
        "check_set_output_transform_polars",
        "check_global_set_output_transform_polars",
        "check_dataframe_column_names_consistency",
        "check_inplace_ensure_writeable",
    ],
)
def test_scikit_learn_checks_that_check_estimator_leaves_out(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))


def test_parameters_of_the_inner_features_are_set_through():
    estimator = integrated(FourierFeatures(random_state=0), width=0.1)
    estimator.set_params(features__sigma=0.5, features__spectrum=Matern(nu=1.5)).fit(rows())
    assert estimator.features_.spectrum_ == Matern(0.5, nu=1.5)
    assert clone(estimator).get_params()["features__sigma"] == 0.5
    assert estimator.features_ is not estimator.features
    assert not hasattr(estimator.features, "nodes_")
    default = integrated(width=0.1).fit(rows())
    assert_array_equal(
        default.transform(rows()), integrated(FourierFeatures(random_state=0), width=0.1).fit_transform(rows())
    )


def test_the_input_and_the_parameters_are_left_alone():
    X, width, covariance = rows(), np.full(3, 0.1), random_covariances(12, 3, np.random.default_rng(0))
    per_row = np.linspace(0, 1, 12)
    both = np.column_stack([X, per_row])
    arrays = (X, width, covariance, per_row, both)
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    estimator = integrated(LadderFeatures(3), width=width, multiplier=2.0)
    Z = estimator.fit(X).transform(X)
    assert estimator.width is width
    estimator.transform(X, covariance=covariance)
    estimator.fit_transform(X, width=per_row)
    integrated(LadderFeatures(3)).fit_transform(X)
    integrated(LadderFeatures(3), width="columns").fit_transform(both)
    for array, copied in zip(arrays, before, strict=True):
        assert_array_equal(array, copied)
    assert_array_equal(estimator.fit(X).transform(X), Z)


def test_local_keeps_points_of_its_own():
    X, new = rows(), rows(5, seed=1)
    estimator = integrated(LadderFeatures(3)).fit(X)
    Z = estimator.transform(new)
    X[:] = 0.0
    assert_array_equal(copy.deepcopy(estimator).transform(new), Z)


def test_frames_and_names():
    frame = pd.DataFrame(rows(), columns=["east", "north", "pixel"]).assign(pixel=0.25)
    estimator = integrated(LadderFeatures(1, "2pi"), "box", width="columns").set_output(transform="pandas").fit(frame)
    assert estimator.feature_names_in_.tolist() == ["east", "north", "pixel"]
    encoded = estimator.transform(frame)
    names = ["east", "north", "east_sin0", "north_sin0", "east_cos0", "north_cos0"]
    assert encoded.columns.tolist() == estimator.get_feature_names_out().tolist() == names
    for column in ("east", "north"):
        assert_array_equal(encoded[column], frame[column])
        expected = np.sinc(0.25) * np.sin(2 * np.pi * frame[column])
        assert_allclose(encoded[f"{column}_sin0"], expected, rtol=0, atol=1e-14)
    assert_array_equal(estimator.fit_transform(frame), encoded)
    assert estimator.fit_transform(frame).columns.tolist() == names
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        estimator.get_feature_names_out(["north", "east", "pixel"])
    without = integrated(LadderFeatures(1), width=0.1).fit(rows())
    assert without.get_feature_names_out(["u", "v", "w"]).tolist()[:4] == ["u", "v", "w", "u_sin0"]
    fourier = integrated(FourierFeatures(n_components=3)).fit(frame)
    assert fourier.get_feature_names_out().tolist() == [f"fourierfeatures_{name}" for name in ("cos0", "sin0", "cos1")]


def test_polars_frames():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"u": [0.1, 0.2], "v": [0.3, 0.4]})
    estimator = integrated(LadderFeatures(1)).set_output(transform="polars")
    encoded = estimator.fit_transform(frame, width=[0.1, 0.2])
    assert encoded.columns == estimator.get_feature_names_out().tolist()
    assert_array_equal(encoded.to_numpy(), integrated(LadderFeatures(1)).fit_transform(frame, width=[0.1, 0.2]))


@pytest.mark.parametrize(
    "estimator",
    [integrated(), integrated(LadderFeatures(3), "box", width=np.array([0.1, 0.2, 0.3])), integrated(width="columns")],
    ids=str,
)
def test_a_fitted_transformer_survives_pickle_joblib_and_skops(estimator, tmp_path):
    sio = pytest.importorskip("skops.io")
    X = np.abs(rows())
    estimator = clone(estimator).fit(X)
    Z = estimator.transform(X)
    joblib.dump(estimator, tmp_path / "estimator.joblib")
    stored = sio.dumps(estimator)
    unknown = sio.get_untrusted_types(data=stored)
    assert unknown
    assert all(name.startswith("spectralkit.") for name in unknown), unknown
    for copied in (
        pickle.loads(pickle.dumps(estimator)),
        joblib.load(tmp_path / "estimator.joblib"),
        sio.loads(stored, trusted=unknown),
        copy.deepcopy(estimator),
    ):
        assert_array_equal(copied.transform(X), Z)
    assert "IntegratedFourierFeatures" in estimator._repr_html_()
    assert repr(clone(estimator)) == repr(estimator)


@both_paths
@both_dtypes
@pytest.mark.parametrize("inner", [LadderFeatures(5), FourierFeatures(n_components=65, random_state=0)], ids=str)
def test_bits_do_not_depend_on_the_number_of_threads_and_little_on_batches(inner, dtype, path, monkeypatch):
    with_path(path, monkeypatch)
    monkeypatch.setattr(Waves, "rows_per_block", 128)
    n = 401
    X = rows(n, 3, dtype=dtype)
    rng = np.random.default_rng(0)
    for shape, given in (
        ("gaussian", {}),
        ("gaussian", {"covariance": random_covariances(n, 3, rng)}),
        ("box", {"width": rng.uniform(0, 0.3, size=(n, 3))}),
        ("ball", {"width": rng.uniform(0, 0.3, size=n)}),
        ("ball", {"width": 0.1}),
    ):
        estimator = integrated(inner, shape).fit(X)
        alone = estimator.transform(X, **given)
        for n_jobs in (2, 3, -1):
            estimator.features_.set_params(n_jobs=n_jobs)
            assert_array_equal(estimator.transform(X, **given), alone)
        estimator.features_.set_params(n_jobs=None)
        with joblib.parallel_config(backend="threading", n_jobs=2):
            assert_array_equal(estimator.transform(X, **given), alone)
        parts = []
        for start, stop in ((0, 1), (1, 8), (8, 350), (350, n)):
            part = {name: size if np.ndim(size) == 0 else size[start:stop] for name, size in given.items()}
            parts.append(estimator.transform(X[start:stop], **part))
        assert_allclose(np.concatenate(parts), alone, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_compiled_loop_equals_numpy(dtype, monkeypatch):
    pytest.importorskip("numba")
    X, width = rows(200, 3, dtype=dtype), np.linspace(0, 0.5, 200)
    for shape in ("gaussian", "box", "ball"):
        for inner in (LadderFeatures(6), FourierFeatures(n_components=33, random_state=0)):
            estimator, out = integrated(inner, shape).fit(X), []
            for threshold in (0, 1 << 62):
                monkeypatch.setattr(_loops, "SMALLEST_WORK", threshold)
                out.append(estimator.transform(X, width=width))
            assert_allclose(*out, rtol=0, atol=1e-13 if dtype is np.float64 else 1e-6)


def test_the_window_of_the_ladder_stays():
    X = rows()
    estimator = integrated(LadderFeatures(4, window=1.5), width=0.1).fit(X)
    columns = columns_of(estimator.features_)
    Z, plain = estimator.transform(X), estimator.features_.transform(X)
    assert_allclose(Z[:, 3:], (plain * dampings("gaussian", [[0.1] * 3], columns.omega))[:, 3:], rtol=0, atol=1e-14)
    estimator.features_.set_params(window=0)
    assert not estimator.transform(X)[:, 3:].any()


def test_a_failed_fit_changes_nothing():
    X = rows()
    estimator = integrated(FourierFeatures(random_state=0)).fit(X)
    Z = estimator.transform(X)
    attempts = [
        ({"width": -1.0}, {}, "width of a footprint"),
        ({"features__sigma": -1.0}, {}, "sigma"),
        ({"footprint": "disc"}, {}, "two columns"),
        ({"multiplier": 0}, {}, "multiplier"),
        ({"n_neighbors": 0}, {}, "n_neighbors"),
        ({}, {"width": np.full(12, np.nan)}, "width of a footprint"),
        ({}, {"covariance": -np.eye(3)}, "covariance of a footprint"),
        ({}, {"sample_weight": -np.ones(12)}, "sample_weight"),
    ]
    parameters = clone(estimator).get_params()
    for params, given, message in attempts:
        estimator.set_params(**params)
        with pytest.raises(ValueError, match=message):
            estimator.fit(rows(), **given)
        estimator.set_params(**{name: parameters[name] for name in params})
        assert_array_equal(estimator.transform(X), Z)
    with pytest.raises(ValueError, match="width of a footprint"):
        (fresh := integrated(width=-1.0)).fit(X)
    assert not hasattr(fresh, "n_features_in_")


# -- inner transformers of somebody else -------------------------------------------------------------------------------


class Squares(TransformerMixin, BaseEstimator):
    """x^2, whose mean over a normal footprint is x^2 + w^2."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X**2

    def transform_over(self, X, footprint):
        assert footprint.shape == "gaussian"
        return X**2 + footprint.width**2


def test_any_transformer_that_can_average_will_do():
    X, width = rows(), np.linspace(0, 1, 12)
    assert_allclose(integrated(Squares(), multiplier=3.0).fit_transform(X, width=width), X**2 + 9 * width[:, None] ** 2)
    assert_allclose(integrated(Squares(), width=[1, 2, 3]).fit_transform(X), X**2 + [1, 4, 9])
    local = integrated(Squares()).fit(X)
    assert_allclose(local.transform(X), X**2 + spacing(X, X)[:, None] ** 2 / 12)


def test_a_transformer_that_cannot_average_is_refused():
    for inner in (RBFSampler(), StandardScaler(), make_pipeline(StandardScaler(), FourierFeatures())):
        with pytest.raises(
            TypeError, match=r"cannot average over a footprint: it has no method transform_over.* Use Fourier"
        ):
            integrated(inner).fit(rows())


# -- the maps on tensors -----------------------------------------------------------------------------------------------

TORCH = [("gaussian", 1), ("gaussian", 3), ("box", 1), ("box", 3), ("ball", 1), ("ball", 3)]


def tensor_maps(d):
    """The two maps with frequencies of d columns, as functions of rows and footprint."""
    rng = np.random.default_rng(d)
    nodes = Nodes(rng.normal(size=(5, d)), rng.uniform(0.5, 2, size=5), 0.3)
    order = np.arange(4 * d + d)[::-1].copy()
    return {
        "fourier": lambda X, footprint: fourier(X, nodes, footprint=footprint),
        "ladder": lambda X, footprint: encoding(X, [0.5, 1.5], order, [1.0, 0.3], footprint=footprint),
        "matrix": lambda X, footprint: encoding(X, nodes.frequencies, origin=0.1, footprint=footprint),
    }


@both_dtypes
@pytest.mark.parametrize("name", ["fourier", "ladder", "matrix"])
@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize(("shape", "d"), TORCH)
def test_maps_of_tensors_are_those_of_arrays(shape, d, kind, name, dtype):
    torch = pytest.importorskip("torch")
    if kind.startswith("covariance") and shape != "gaussian":
        pytest.skip("a covariance is for Gaussians")
    X, transform = rows(6, d, dtype=dtype), tensor_maps(d)[name]
    given, _ = sizes_of(kind, 6, d)
    expected = transform(X, Footprint.around(X, shape, **given))
    T = torch.as_tensor(X)
    as_tensors = {key: torch.as_tensor(size, dtype=torch.float64) for key, size in given.items()}
    for footprint in (Footprint.around(T, shape, **as_tensors), Footprint.around(T, shape, **given)):
        Z = transform(T, footprint)
        assert Z.dtype == T.dtype
        assert_allclose(Z.numpy(), expected, rtol=0, atol=2 * TOLERANCE[dtype])
    batch = transform(torch.stack([T, T + 0.5]), Footprint.around(torch.stack([T, T]), shape, **as_tensors))
    assert_allclose(batch[0].numpy(), expected, rtol=0, atol=2 * TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["fourier", "ladder"])
@pytest.mark.parametrize(("shape", "d"), TORCH)
def test_gradients_to_points_widths_and_covariances(shape, d, name):
    torch = pytest.importorskip("torch")
    transform = tensor_maps(d)[name]
    X = torch.as_tensor(rows(2, d)).requires_grad_()
    width = torch.as_tensor(np.random.default_rng(0).uniform(0.05, 0.3, size=(2, d))).requires_grad_()

    def averaged(X, size, kind="width"):
        return transform(X, Footprint.around(X, shape, **{kind: size}))

    assert torch.autograd.gradcheck(averaged, (X, width))
    assert torch.autograd.gradcheck(averaged, (X, width[:1].detach().requires_grad_()))
    zero = torch.zeros(2, d, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(averaged, (X, zero), eps=1e-5, atol=1e-3)
    for w in (0.0, 1e-200, 1e20, 1e200):
        edge = torch.full((2, 1), w, dtype=torch.float64, requires_grad=True)
        Z = averaged(X, edge)
        gradients = torch.autograd.grad(Z.sum(), (X, edge))
        assert all(torch.isfinite(value).all() for value in (Z, *gradients))
    if shape == "gaussian":
        C = torch.as_tensor(random_covariances(2, d, np.random.default_rng(0))).requires_grad_()

        def symmetric(X, C):
            return averaged(X, (C + C.mT) / 2, "covariance")

        assert torch.autograd.gradcheck(symmetric, (X, C))
        for c in (0.0, 1e-300, 1e40, 1e300):
            edge = (c * torch.eye(d, dtype=torch.float64)).requires_grad_()
            Z = averaged(X, edge, "covariance")
            gradients = torch.autograd.grad(Z.sum(), (X, edge))
            assert all(torch.isfinite(value).all() for value in (Z, *gradients))


@pytest.mark.parametrize(("shape", "d"), [("disc", 2), ("ball", 2), ("ball", 5)])
def test_footprints_whose_damping_is_a_bessel_function_say_so_to_tensors(shape, d):
    torch = pytest.importorskip("torch")
    T, transform = torch.as_tensor(rows(6, d)), tensor_maps(d)["fourier"]
    for width in (torch.tensor(0.1), torch.full((6,), 0.1)):
        message = (
            rf"footprint='{shape}' has no formula for tensors in {d} column\(s\)\. Use 'gaussian', 'box', or NumPy"
        )
        with pytest.raises(CapabilityError, match=message):
            transform(T, Footprint.around(T, shape, width=width))
    # one width in NumPy for all rows is averaged before there are tensors
    Z = transform(T, Footprint.around(T, shape, width=0.1))
    assert_allclose(Z.numpy(), transform(T.numpy(), Footprint.around(T.numpy(), shape, width=0.1)), rtol=0, atol=1e-14)


def test_tensors_beside_arrays():
    torch = pytest.importorskip("torch")
    X, width = rows(6, 2), torch.linspace(0, 0.3, 6, dtype=torch.float64)
    transform = tensor_maps(2)["fourier"]
    expected = transform(X, Footprint.around(X, "box", width=width.numpy()))
    assert_array_equal(transform(X, Footprint.around(X, "box", width=width)), expected)
    assert_array_equal(integrated(LadderFeatures(2)).fit_transform(X, width=width).shape, (6, 10))
    with pytest.raises(
        TypeError, match=r"footprint holds tensors, but X is a NumPy array\. Make it with .*, from arrays"
    ):
        transform(X, Footprint.around(torch.as_tensor(X), "box", width=width))


# -- what is refused ---------------------------------------------------------------------------------------------------

NUMBERS = "must be real numbers in an array of one shape, got"
WIDTH = "The width of a footprint must be finite numbers of at least 0, got"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"footprint": "disk"}, "footprint must be one of 'gaussian', 'box', 'disc', 'ball', got 'disk'"),
        ({"footprint": None}, "footprint must be one of .* got None"),
        ({"footprint": "disk", "width": 0.1}, "footprint must be one of .* got 'disk'"),
        ({"footprint": "disc"}, r"footprint='disc' is for two columns, but X has 3\. Use 'ball'"),
        ({"width": "global"}, "width must be a number, an array, 'columns' or 'local', got 'global'"),
        (
            {"width": None},
            r"width must be a number, .* or an array of one number for each of the 3 column\(s\) of X, got No",
        ),
        ({"width": True}, "width must be a number, .*, got True"),
        (
            {"width": [0.1, 0.2]},
            "width must be a number, .* each of the 3 .*Widths of single rows are given",
        ),
        ({"width": np.ones((12, 3))}, "Widths of single rows are given to fit and transform"),
        ({"width": -0.5}, rf"{WIDTH} -0\.5\."),
        ({"width": math.nan}, rf"{WIDTH} nan"),
        ({"width": math.inf}, rf"{WIDTH} inf"),
        ({"width": [0.1, -0.2, 0.3]}, rf"{WIDTH} -0\.2"),
        ({"width": ["a", "b", "c"]}, f"width or covariance of a footprint {NUMBERS} .*'a', 'b', 'c'"),
        ({"width": [1j, 0, 0]}, rf"{NUMBERS} .*1\.j"),
        ({"width": 1e300, "multiplier": 1e300}, rf"{WIDTH} inf"),
        ({"multiplier": 0}, "multiplier must be a positive finite number, got 0"),
        ({"multiplier": -1.0}, "multiplier must be a positive finite number, got -1.0"),
        ({"multiplier": math.inf}, "multiplier must be a positive finite number, got inf"),
        ({"multiplier": "2"}, "multiplier must be a positive finite number, got '2'"),
        ({"multiplier": True}, "multiplier must be a positive finite number, got True"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1, or None, got 0"),
        ({"n_neighbors": 2.0}, "n_neighbors must be an integer of at least 1, or None, got 2.0"),
        ({"n_neighbors": True}, "n_neighbors must be an integer of at least 1, or None, got True"),
        ({"width": "columns", "n_width_columns": 0}, "n_width_columns must be an integer of at least 1, got 0"),
        ({"width": "columns", "n_width_columns": 1.0}, "n_width_columns must be an integer of at least 1, got 1.0"),
        (
            {"width": "columns", "n_width_columns": 3},
            r"X has 3 feature\(s\), of which n_width_columns=3 .*leaves d = 0, which must be at least 1, and n_w",
        ),
        ({"width": "columns", "n_width_columns": 2}, "leaves d = 1, .* n_width_columns must be 1, d or"),
        ({"width": "columns"}, rf"{WIDTH} -0\.\d+ in row \d+\."),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_in_fit(params, message):
    estimator = integrated(**params)  # never in __init__
    with pytest.raises(ValueError, match=message):
        estimator.fit(rows())
    assert not hasattr(estimator, "n_features_in_")


COVARIANCE = "The covariance of a footprint must"
GIVEN = {
    "both": ({"width": 0.1, "covariance": np.eye(3)}, "either a width or a covariance. Give one of them, and not both"),
    "negative": ({"width": np.linspace(1, -1, 12)}, rf"{WIDTH} -0\.09\d* in row 6\."),
    "nan": ({"width": np.full((12, 3), np.nan)}, f"{WIDTH} nan in row 0"),
    "text": ({"width": "wide"}, f"{NUMBERS} 'wide'"),
    "ragged": ({"width": [[1], [1, 2]]}, NUMBERS),
    "flags": ({"width": [True, False]}, f"{NUMBERS} .*True"),
    "covariances as text": ({"covariance": "wide"}, f"{NUMBERS} 'wide'"),
    "other rows": (
        {"width": np.ones(5)},
        r"width of a footprint must be one number, or have shape \(12,\), \(12, 1\) or \(12, 3\) as X has 12 row\(s\)",
    ),
    "other columns": ({"width": np.ones((12, 2))}, r"have shape .*\(12, 3\) .* got \(12, 2\)"),
    "three-dimensional": ({"width": np.ones((12, 3, 3))}, r"have shape .* got \(12, 3, 3\)"),
    "one axis": (
        {"covariance": np.ones(3)},
        rf"{COVARIANCE} have shape \(3, 3\) or \(12, 3, 3\), as X has 12 .*got \(3,\)",
    ),
    "other covariances": ({"covariance": np.ones((5, 3, 3))}, rf"{COVARIANCE} have shape .* got \(5, 3, 3\)"),
    "small covariance": ({"covariance": np.eye(2)}, rf"{COVARIANCE} have shape .* got \(1, 2, 2\)"),
    "infinite": (
        {"covariance": np.inf * np.ones((3, 3))},
        f"{COVARIANCE} be finite, but it has NaN or infinite values",
    ),
    "asymmetric": (
        {"covariance": np.triu(np.ones((3, 3)))},
        f"{COVARIANCE} be symmetric, with variances of at least 0 in every direction, but that of row 0 is",
    ),
    "indefinite": (
        {"covariance": np.array([np.eye(3)] * 4 + [np.eye(3) - 2 * np.diag([0, 1, 0])] + [np.eye(3)] * 7)},
        f"{COVARIANCE} be symmetric, .* that of row 4 is",
    ),
}


@pytest.mark.parametrize(("given", "message"), GIVEN.values(), ids=GIVEN)
def test_bad_widths_are_refused_in_fit_and_transform(given, message):
    fitted = integrated(LadderFeatures(2)).fit(rows())
    for action in (integrated(LadderFeatures(2)).fit, fitted.transform, integrated(LadderFeatures(2)).fit_transform):
        with pytest.raises(ValueError, match=message):
            action(rows(), **given)


def test_nearly_symmetric_covariances_are_welcome():
    X, C = rows(), random_covariances(12, 3, np.random.default_rng(0))
    exactly = integrated(LadderFeatures(2)).fit_transform(X, covariance=C)
    for scale in (1e-30, 1.0, 1e30):
        ladder = LadderFeatures(np.array([0.5, 1.0]) / scale, include_input=False)
        single = integrated(ladder).fit_transform(scale * X, covariance=scale**2 * C.astype(np.float32).astype(float))
        assert_allclose(single, exactly[:, 3:], rtol=0, atol=1e-5)
    degenerate = np.ones((3, 3)) - 1e-9 * np.eye(3)  # rounding may leave a variance just below zero
    assert np.isfinite(integrated(LadderFeatures(2)).fit_transform(X, covariance=degenerate)).all()


def test_other_refusals():
    X = rows()
    columns = integrated(LadderFeatures(2), width="columns").fit(np.abs(X))
    for given in ({"width": 0.1}, {"covariance": np.eye(2)}):
        for action in (columns.fit, columns.transform):
            with pytest.raises(
                ValueError, match=r"columns of X hold the footprints, as width='columns' says; give no oth"
            ):
                action(np.abs(X), **given)
    for shape in ("box", "ball"):
        with pytest.raises(
            ValueError, match=rf"A covariance is for footprint='gaussian'\. Give the width of a {shape} ins"
        ):
            integrated(footprint=shape).fit(X, covariance=np.eye(3))
    changed = integrated(LadderFeatures(2), width=0.1).fit(X).set_params(width="local")
    with pytest.raises(ValueError, match=r"width was set to 'local' after fit, .* Call fit again"):
        changed.transform(X)
    with pytest.raises(
        ValueError, match=r"footprint='ball' is computed in up to 150 columns, but X has 151\. Use 'gaussi"
    ):
        integrated(footprint="ball").fit(rows(4, 151))
    with pytest.raises(ValueError, match="sample_weight must have one value per row of X"):
        integrated().fit(X, sample_weight=np.ones(3))
    with pytest.raises(TypeError, match=r"Cannot clone object '*FourierFeatures'*"):
        integrated("FourierFeatures").fit(X)


BAD = {
    "nan": (np.full((4, 3), np.nan), "X contains NaN"),
    "inf": (np.full((4, 3), np.inf), "X contains infinity"),
    "one-dimensional": (np.ones(3), "Expected 2D array, got 1D array"),
    "no rows": (np.ones((0, 3)), r"0 sample\(s\)"),
    "no columns": (np.ones((4, 0)), r"0 feature\(s\)"),
    "text": (np.array([["a", "b", "c"]]), "could not convert string"),
    "complex": (np.ones((4, 3)) * 1j, "Complex data not supported"),
}


@pytest.mark.parametrize(("X", "message"), BAD.values(), ids=BAD)
def test_bad_points_are_refused_in_fit_and_transform(X, message):
    for action in (integrated().fit, integrated().fit(rows()).transform, integrated(width=0.1).fit):
        with pytest.raises(ValueError, match=message):
            action(X)


def test_another_width_and_an_unfitted_transformer_are_refused():
    with pytest.raises(ValueError, match="X has 2 features, but IntegratedFourierFeatures is expecting 3 features"):
        integrated().fit(rows()).transform(rows(d=2))
    for action in (lambda: integrated().transform(rows()), integrated().get_feature_names_out):
        with pytest.raises(
            NotFittedError, match=r"This IntegratedFourierFeatures instance is not fitted yet\. Call 'fit'"
        ):
            action()


def test_footprints_of_their_own_are_checked():
    X, nodes = rows(6, 2), Nodes(np.ones((3, 2)), np.ones(3))
    with pytest.raises(
        ValueError, match=r"X must be two-dimensional, \(rows, columns\), got shape \(6,\)\. Use reshape"
    ):
        Footprint.around(X[:, 0], "box", 0.1)
    with pytest.raises(ValueError, match="either a width or a covariance"):
        Footprint.around(X, "box")
    with pytest.raises(ValueError, match=r"footprint must be one of .* got 'disk'"):
        Footprint("disk", width=np.ones((1, 2))).damping(np.ones((1, 2)))
    with pytest.raises(ValueError, match="footprint='disc' is for two columns, but X has 3"):
        Footprint("disc", width=np.ones((1, 3))).damping(np.ones((1, 3)))
    for size in ({"width": np.ones((1, 3))}, {"width": np.ones(2)}, {"covariance": np.ones((2, 2))}):
        with pytest.raises(
            ValueError, match=r"The footprint has shape \(.*\), which does not fit 2 column\(s\)\. Make it"
        ):
            Footprint("gaussian", **size).damping(np.ones((1, 2)))
    ladder = LadderFeatures(2).fit(X)
    for count in (2, 12):
        footprint = Footprint.around(np.zeros((count, 2)), "box", np.ones(count))
        for action in (
            lambda footprint=footprint: fourier(X, nodes, footprint=footprint),
            lambda footprint=footprint: encoding(X, [1.0], footprint=footprint),
            lambda footprint=footprint: ladder.transform_over(X, footprint),
            lambda footprint=footprint: FourierFeatures().fit(X).transform_over(X, footprint),
        ):
            with pytest.raises(
                ValueError, match=f"The footprint is for {count} rows, but X has 6. Make it with Footprint"
            ):
                action()
    with pytest.raises(NotFittedError):
        LadderFeatures().transform_over(X, footprint)


def test_footprints_are_taken_apart_by_rows():
    X, width = rows(6, 2), np.linspace(0, 1, 6)
    per_row, shared = Footprint.around(X, "box", width), Footprint.around(X, "box", 0.3)
    assert per_row.is_per_row
    assert not shared.is_per_row
    assert shared[2:4] is shared
    assert_array_equal(per_row[2:4].width, np.repeat(width[2:4, None], 2, axis=1))
    C = random_covariances(6, 2, np.random.default_rng(0))
    assert_array_equal(Footprint.around(X, "gaussian", covariance=C)[[1, 5]].covariance, C[[1, 5]])
