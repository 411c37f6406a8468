"""Coordinate encodings against the codebases that they come from, mpmath, and the kernel of the ladder."""

import copy
import inspect
import itertools
import math
import pickle
import tracemalloc

import joblib
import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralkit import Atomic, CapabilityError, FourierFeatures, Gaussian, Ladder, LadderFeatures, _loops
from spectralkit.features import Layout
from spectralkit.features._layouts import LAYOUTS
from spectralkit.maps import encoding
from spectralkit.maps._waves import Waves

CONFIGURATIONS = {
    "default": LadderFeatures(),
    "measure": LadderFeatures(Ladder(3, unit="2pi"), include_input=False, layout="tcnn"),
    "window": LadderFeatures([0.3, 0.7, 1.1], window=1.5, origin=0.5, layout="perceiver"),
}
UNITS = {1: 1 / (2 * math.pi), "pi": 0.5, "2pi": 1.0}  # cycles of octave 0
B = np.array([[0.5, -1.0], [2.0, 0.25]])


def rows(n=12, d=3, seed=0, dtype=np.float64):
    return np.random.default_rng([seed, n, d]).uniform(-1, 1, size=(n, d)).astype(dtype)


def features(X, *args, **params):
    return LadderFeatures(*args, **params).fit_transform(X)


def with_path(path, monkeypatch):
    """Take the compiled loop, or NumPy, whatever the amount of work."""
    if path == "compiled":
        pytest.importorskip("numba")
    monkeypatch.setattr(_loops, "SMALLEST_WORK", 0 if path == "compiled" else 1 << 62)


# -- scikit-learn ------------------------------------------------------------------------------------------------------


@parametrize_with_checks(list(CONFIGURATIONS.values()))
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


# -- the codebases -----------------------------------------------------------------------------------------------------

X_GOLDEN, U_GOLDEN = [[0.1, -0.2]], [[0.3, 0.9]]
GOLDEN = {  # measured in the codebases
    "nerf": (
        {"multires": 2}, X_GOLDEN,
        ".1 -.2 .099833 -.198669 .995004 .980067 .198669 -.389418 .980067 .921061",
    ),
    "mipnerf": (
        {"max_deg": 2}, X_GOLDEN,
        ".099833 -.198669 .198669 -.389418 .995004 .980067 .980067 .921061",
    ),
    "nerfstudio": (
        {"num_frequencies": 2, "min_freq_exp": 0, "max_freq_exp": 1}, X_GOLDEN,
        ".587785 .951057 -.951057 -.587785 .809017 .309017 .309017 -.809017",
    ),
    "tcnn": (
        {"n_frequencies": 2}, X_GOLDEN,
        ".309017 .951057 .587785 .809017 -.587785 .809017 -.951057 .309017",
    ),
    "barf": (
        {"L": 2}, X_GOLDEN,
        ".309017 .587785 .951057 .809017 -.587785 -.951057 .809017 .309017",
    ),
    "siren": (
        {"num_frequencies": 2}, X_GOLDEN,
        ".1 -.2 .309017 .951057 -.587785 .809017 .587785 .809017 -.951057 .309017",
    ),
    "perceiver": (
        {"max_freq": 10, "num_bands": 2}, X_GOLDEN,
        ".309017 1 .951057 0 .1 -.587785 0 .809017 -1 -.2",
    ),
    "tancik": ({"B": B}, X_GOLDEN, "-.809017 -.809017 -.587785 .587785"),
    "sam": ({"B": B}, U_GOLDEN, ".587785 -.587785 -.809017 -.809017"),
}  # fmt: skip
HALF_OF_THE_LAST_DIGIT = 0.5e-6


@pytest.mark.parametrize("path", ["compiled", "numpy"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", GOLDEN)
def test_presets_are_the_golden_vectors(name, dtype, path, monkeypatch):
    with_path(path, monkeypatch)
    options, X, digits = GOLDEN[name]
    Z = LadderFeatures.preset(name, **options).fit_transform(np.array(X, dtype=dtype))
    assert Z.dtype == dtype
    expected = np.array([[float(number) for number in digits.split()]])
    # float32 rounds the point, by 2^-25, before the encoding sees it
    allowed = HALF_OF_THE_LAST_DIGIT + (0 if dtype is np.float64 else 6e-7)
    assert_allclose(Z, expected, rtol=0, atol=allowed)


@pytest.mark.parametrize("name", [name for name in GOLDEN if name not in ("nerfstudio", "tancik", "sam")])
def test_a_number_of_frequencies_means_the_count_of_the_origin(name):
    options, X, _ = GOLDEN[name]
    counted = {key: value for key, value in options.items() if key == "max_freq"}
    for count in (2, np.int64(2)):
        same = LadderFeatures.preset(name, frequencies=count, **counted)
        assert_array_equal(same.fit_transform(X), LadderFeatures.preset(name, **options).fit_transform(X))


def stacked(blocks):
    return np.concatenate(blocks, axis=1)


# What each codebase does, written from facts section 1.1 with its own loops and reshapes. x is (n, D), L levels.


def nerf_code(x, L, factor=1.0, include_input=True):
    out = [x] if include_input else []
    for level in range(L):
        out += [np.sin(factor * 2**level * x), np.cos(factor * 2**level * x)]
    return stacked(out)


def mipnerf_code(x, L):
    phases = (x[:, None, :] * 2.0 ** np.arange(L)[:, None]).reshape(len(x), -1)
    return stacked([x, np.sin(stacked([phases, phases + 0.5 * np.pi]))])


def nerfstudio_code(x, exponents):
    phases = ((2 * np.pi * x)[..., None] * 2.0**exponents).reshape(len(x), -1)
    return stacked([np.sin(stacked([phases, phases + np.pi / 2])), x])


def tcnn_code(x, L):
    n, D = x.shape
    out = np.empty((n, D * L * 2))
    for j in range(D * L * 2):
        out[:, j] = np.sin(np.pi * 2 ** ((j // 2) % L) * x[:, j // (2 * L)] + (j % 2) * np.pi / 2)
    return out


def barf_code(x, L, alpha=None):
    spectrum = x[..., None] * 2.0 ** np.arange(L) * np.pi
    enc = np.stack([np.sin(spectrum), np.cos(spectrum)], axis=-2).reshape(len(x), -1)
    if alpha is not None:
        weight = (1 - np.cos(np.pi * np.clip(alpha - np.arange(L), 0, 1))) / 2
        enc = (enc.reshape(-1, L) * weight).reshape(enc.shape)
    return stacked([x, enc])


def siren_code(x, L):
    out = [x]
    for level in range(L):
        for j in range(x.shape[1]):
            out += [np.sin(2**level * np.pi * x[:, [j]]), np.cos(2**level * np.pi * x[:, [j]])]
    return stacked(out)


def perceiver_code(x, max_freq, num_bands):
    out = []
    for j in range(x.shape[1]):
        phases = x[:, [j]] * np.linspace(1.0, max_freq / 2, num_bands) * np.pi
        out += [np.sin(phases), np.cos(phases), x[:, [j]]]
    return stacked(out)


def tancik_code(x, matrix):  # matrix (d, m); the notebooks hold its transpose
    return stacked([np.sin(2 * np.pi * x @ matrix), np.cos(2 * np.pi * x @ matrix)])


WITH = {"include_input": True}
SOURCES = {
    "nerf": ({"multires": 5}, lambda x: nerf_code(x, 5)),
    "nerf, the paper's pi": ({"multires": 5, "unit": "pi"}, lambda x: nerf_code(x, 5, factor=np.pi)),
    "nerf, linear": (
        {"multires": 5, "log_sampling": False},
        lambda x: stacked([x, *(f(b * x) for b in np.linspace(1, 16, 5) for f in (np.sin, np.cos))]),
    ),
    "mipnerf": ({"max_deg": 5, **WITH}, lambda x: mipnerf_code(x, 5)),
    "mipnerf, from the middle": (
        {"max_deg": 5, "min_deg": 2},
        lambda x: mipnerf_code(4 * x, 3)[:, x.shape[1] :],
    ),
    "nerfstudio": ({**WITH}, lambda x: nerfstudio_code(x, np.linspace(0, 8, 10))),
    "tcnn": ({"n_frequencies": 5}, lambda x: tcnn_code(x, 5)),
    "barf": ({"L": 5, **WITH}, lambda x: barf_code(x, 5)),
    "barf, window": ({"L": 5, "window": 2.3, **WITH}, lambda x: barf_code(x, 5, alpha=2.3)),
    "siren": ({"num_frequencies": 5}, lambda x: siren_code(x, 5)),
    "perceiver": ({}, lambda x: perceiver_code(x, 10.0, 6)),
    "tancik": ({"B": rows(3, 7, seed=4)}, lambda x: tancik_code(x, rows(3, 7, seed=4))),
    "sam": ({"B": rows(3, 7, seed=4)}, lambda x: tancik_code(2 * x - 1, rows(3, 7, seed=4))),
}


@pytest.mark.parametrize("name", SOURCES)
def test_presets_are_what_the_codebases_compute(name):
    options, code = SOURCES[name]
    X = rows(20, 3)
    Z = LadderFeatures.preset(name.split(",")[0], **options).fit_transform(X)
    # 256 turns in their float64 phases are the largest
    assert_allclose(Z, code(X), rtol=0, atol=2 * math.pi * 256 * 4e-16)


def test_defaults_of_presets_are_those_of_the_origins():
    shapes = {"nerf": 63, "mipnerf": 96, "nerfstudio": 60, "tcnn": 72, "barf": 60, "siren": 63, "perceiver": 39}
    for name, width in shapes.items():
        assert LadderFeatures.preset(name).fit_transform(rows()).shape == (12, width)
    assert LadderFeatures.preset("tancik").fit_transform(rows(d=2)).shape == (12, 512)
    assert LadderFeatures.preset("tancik", d=3, mapping_size=8).fit_transform(rows()).shape == (12, 16)
    assert LadderFeatures.preset("sam").fit_transform(rows(d=2)).shape == (12, 128)


def test_every_preset_is_documented_with_its_options():
    words = " ".join(LadderFeatures.preset.__doc__.split())
    from spectralkit.features._ladder_presets import PRESETS

    assert set(PRESETS) == set(GOLDEN) == set(LAYOUTS)
    for name, function in PRESETS.items():
        assert f" {name} " in words
        for option in inspect.signature(function).parameters:
            assert option in words, f"{option} of {name}"


@pytest.mark.parametrize(("samples", "count"), [(8, 1), (15, 1), (16, 2), (256, 6), (512, 7), (1000, 7)])
def test_siren_counts_by_nyquist(samples, count):
    assert count == math.floor(math.log2(1 / (2 * (2 * 1 / samples))))
    assert LadderFeatures.preset("siren", samples=samples).frequencies == count


@pytest.mark.parametrize(("name", "scale", "count"), [("tancik", 10.0, 256), ("sam", 1.0, 64)])
def test_random_matrices_are_normal_seeded_and_nested(name, scale, count):
    factor = 2.0 if name == "sam" else 1.0
    drawn = LadderFeatures.preset(name, random_state=3).frequencies / factor
    assert drawn.shape == (count, 2)
    # 2 count independent normals: standard errors of mean and standard deviation
    assert abs(drawn.mean()) <= 5 * scale / math.sqrt(2 * count)
    assert abs(drawn.std() / scale - 1) <= 5 / math.sqrt(4 * count)
    assert_array_equal(LadderFeatures.preset(name, random_state=3).frequencies / factor, drawn)
    assert (LadderFeatures.preset(name, random_state=4).frequencies / factor != drawn).all()
    fewer = LadderFeatures.preset(name, frequencies=9, scale=3 * scale, random_state=3).frequencies / factor
    assert_allclose(fewer, 3 * drawn[:9], rtol=1e-14)


def test_arguments_of_the_constructor_come_on_top_of_a_preset():
    X = rows(d=2)
    bare = LadderFeatures.preset("siren", include_input=False, layout="nerf", n_jobs=2, num_frequencies=3)
    assert_array_equal(bare.fit_transform(X), features(X, 3, include_input=False))
    assert bare.n_jobs == 2
    array = LadderFeatures.preset("mipnerf", frequencies=[0.5, 2.0], window=1.0)
    assert_array_equal(array.fit_transform(X), features(X, [0.5, 2.0], include_input=False, layout="mipnerf", window=1))
    measure = LadderFeatures.preset("barf", frequencies=Ladder(3, unit="2pi"))
    assert_array_equal(measure.fit_transform(X), features(X, 3, "2pi", include_input=False, layout="barf"))
    assert isinstance(LadderFeatures.preset("tcnn"), LadderFeatures)

    class Mine(LadderFeatures):
        pass

    assert type(Mine.preset("tcnn")) is Mine


# -- exactness ---------------------------------------------------------------------------------------------------------


def exact(X, frequencies, origin=0.0):
    """[cosines | sines], all columns of a frequency together, in 400 digits; frequencies are mpmath numbers."""
    out = []
    with mp.workdps(400):
        for row in X:
            phases = [2 * f * (mp.mpf(float(x)) - mp.mpf(origin)) for f in frequencies for x in row]
            out.append([float(mp.cospi(p)) for p in phases] + [float(mp.sinpi(p)) for p in phases])
    return np.array(out)


def octaves(levels, unit):
    with mp.workdps(400):
        lowest = {1: 1 / (2 * mp.pi), "pi": mp.mpf(0.5), "2pi": mp.mpf(1)}[unit]
        return [mp.mpf(2) ** level * lowest for level in levels]


COSINES_FIRST = Layout(("function", "level", "column"), functions=("cos", "sin"))


@pytest.mark.parametrize("path", ["compiled", "numpy"])
@pytest.mark.parametrize("unit", UNITS)
def test_float32_is_right_to_1e_6_up_to_octave_20(unit, path, monkeypatch):
    """facts section 0.7: taking the sine of a float32 phase errs by 0.2 there."""
    with_path(path, monkeypatch)
    X = np.concatenate([rows(15, 3, dtype=np.float32), [[-1, 1, 0.1], [1e-3, -0.3, 2.0**-20]]]).astype(np.float32)
    Z = features(X, 21, unit, include_input=False, layout=COSINES_FIRST)
    assert Z.dtype == np.float32
    error = np.abs(Z - exact(X, octaves(range(21), unit)))
    assert error.max() <= 3e-7


@pytest.mark.parametrize("path", ["compiled", "numpy"])
@pytest.mark.parametrize("unit", UNITS)
def test_float64_has_its_last_digits_up_to_octave_40(unit, path, monkeypatch):
    with_path(path, monkeypatch)
    X, count = rows(10, 2), 41
    Z = features(X, count, unit, include_input=False, layout=COSINES_FIRST)
    error = np.abs(Z - exact(X, octaves(range(count), unit))).reshape(10, 2, count, 2).max(axis=(0, 1, 3))
    # half a turn is known to 2^-54; with unit=1 the factor 1 / (2 pi) and the product are rounded
    allowed = 1e-15 + (2.0 ** np.arange(count) * 2.0**-52 if unit == 1 else 0)
    assert (error <= allowed).all()


@pytest.mark.parametrize("path", ["compiled", "numpy"])
@pytest.mark.parametrize("unit", ["pi", "2pi"])
def test_the_highest_octaves_are_exact(unit, path, monkeypatch):
    """From some octave on every float64 takes whole turns, more than the compiled loop can count."""
    with_path(path, monkeypatch)
    X = np.concatenate([rows(6, 2), [[1e-300, 3e-16], [1e6 + 0.1, -7e9 / 3]]])
    levels = [0, 30, 50, 51, 52, 53, 54, 55, 60, 70, 107, 500, 969]
    Z = features(X, 970, unit, include_input=False, layout=COSINES_FIRST).reshape(len(X), 2, 970, 2)[:, :, levels]
    expected = exact(X, octaves(levels, unit)).reshape(Z.shape)
    assert_allclose(Z, expected, rtol=0, atol=1e-15)
    assert_array_equal(Z[:6, 0, -1], 1.0)
    assert_array_equal(Z[:6, 1, -1], 0.0)


def test_arbitrary_frequencies_and_an_origin():
    X, frequencies = rows(10, 2), [0.0, 0.3, -1.7, 12.5]
    Z = features(X, frequencies, include_input=False, layout=COSINES_FIRST, origin=0.25)
    assert_allclose(Z, exact(X, [mp.mpf(f) for f in frequencies], 0.25), rtol=0, atol=2e-14)
    # an origin of its own for each column
    moved = features(X, frequencies, origin=[0.25, -1.5], layout="mipnerf")
    assert_array_equal(moved[:, :2], X)
    assert_allclose(moved[:, 2:], features(X - [0.25, -1.5], frequencies, layout="mipnerf")[:, 2:], rtol=0, atol=1e-14)


def test_oblique_frequencies_meet_all_columns():
    X, matrix = rows(10, 3), rows(5, 3, seed=1) * 10
    Z = features(X, matrix, include_input=False, layout="tancik")
    assert_allclose(Z, tancik_code(X, matrix.T), rtol=0, atol=1e-13)
    assert_allclose(features(X, matrix, layout="nerf")[:, 3:].reshape(10, 5, 2), Z.reshape(10, 2, 5).swapaxes(1, 2))
    # along the axes they are the same waves as those of a ladder, but remain a matrix
    along = np.concatenate([f * np.eye(3) for f in (0.5, 1.0, 2.0)])
    estimator = LadderFeatures(along, layout="tancik").fit(X)
    assert estimator.frequencies_.shape == (9, 3)
    assert_allclose(estimator.transform(X), features(X, 3, layout="tancik"), rtol=0, atol=1e-15)


# -- the kernel --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "measure", [Ladder(6), Ladder(3, unit=1), Ladder(1, unit="2pi"), Ladder([0.3, 0.9, 1.0])], ids=str
)
def test_inner_products_are_the_kernel_of_the_ladder_times_the_number_of_waves(measure, d, layout):
    X = rows(9, d)
    estimator = LadderFeatures(measure, include_input=False, layout=layout).fit(X)
    Z = estimator.transform(X)
    waves = len(estimator.frequencies_) * d
    assert estimator.frequencies_.ndim == 1
    assert Z.shape == (9, 2 * waves)
    assert_allclose(Z @ Z.T, waves * measure.gram(X), rtol=0, atol=waves * 1e-13)


def test_a_measure_a_count_and_an_array_are_the_same():
    X = rows()
    for unit, cycles in UNITS.items():
        expected = features(X, 4, unit)
        assert_array_equal(features(X, Ladder(4, unit=unit)), expected)
        assert_array_equal(features(X, cycles * 2.0 ** np.arange(4)), expected)
        assert_array_equal(features(X, (cycles * 2.0 ** np.arange(4)).tolist()), expected)
    assert_array_equal(features(X, 4, 1.0), features(X, 4, 1))


def test_fourier_features_of_the_ladder_are_the_normalised_ones():
    X, measure = rows(), Ladder(5)
    ours = features(X, measure, include_input=False, layout=COSINES_FIRST)
    assert_allclose(ours / math.sqrt(15), FourierFeatures(measure).fit_transform(X), rtol=0, atol=1e-15)


def test_any_atoms_of_equal_weight():
    X, atoms = rows(9, 2), Atomic([[0.3, 0.1], [1.0, -0.4], [0.0, 0.7]])
    Z = features(X, atoms, include_input=False, layout="tancik")
    assert_allclose(Z @ Z.T, 3 * atoms.gram(X), rtol=0, atol=1e-12)
    assert_array_equal(Z, features(X, np.array(atoms.frequencies), include_input=False, layout="tancik"))
    assert LadderFeatures(2.0 * Ladder(3)).fit(X).frequencies_.tolist() == [0.5, 1.0, 2.0]


def test_frequencies_of_a_ladder_never_become_a_matrix():
    X = np.zeros((2, 3000))
    LadderFeatures(2).fit(X)
    tracemalloc.start()
    features(X, 4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6  # (12000, 3000) frequencies would take 288 MB


# -- the window --------------------------------------------------------------------------------------------------------


def test_the_window_between_two_levels():
    """facts section 1.3: L = 4, alpha = 1.5 gives [1, .5, 0, 0]."""
    Z = features(np.zeros((1, 1)), 4, window=1.5, include_input=False, layout="barf")
    assert_allclose(Z, [[0, 0, 0, 0, 1, 0.5, 0, 0]], rtol=0, atol=1e-15)


@pytest.mark.parametrize("path", ["compiled", "numpy"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("alpha", [0, 0.0, 0.25, 1, 2.6, 4, 4.0, np.float32(1.5), np.int64(3)])
def test_the_window_multiplies_the_waves_of_a_level_and_leaves_the_inputs(alpha, layout, path, monkeypatch):
    with_path(path, monkeypatch)
    X = rows()
    estimator = LadderFeatures(4, layout=layout).fit(X)
    plain = estimator.transform(X)
    for name, column, faded in zip(
        estimator.get_feature_names_out(), plain.T, estimator.set_params(window=alpha).transform(X).T, strict=True
    ):
        if "_" not in name:
            weight = 1.0
        else:
            progress = min(max(float(alpha) - int(name[-1]), 0.0), 1.0)
            weight = (1 - math.cos(math.pi * progress)) / 2
        assert_allclose(faded, weight * column, rtol=0, atol=1e-15)


def test_the_window_is_scheduled_without_fitting_again():
    X = rows()
    estimator = LadderFeatures(4, window=0).fit(X)
    assert not estimator.transform(X)[:, 3:].any()
    assert_array_equal(estimator.set_params(window=4).transform(X), features(X, 4))
    assert_array_equal(estimator.set_params(window=None).transform(X), features(X, 4))
    with pytest.raises(ValueError, match="to the number of frequencies, 4"):
        estimator.set_params(window=4.5).transform(X)
    assert_array_equal(estimator.set_params(window=2).transform(X), features(X, 4, window=2))


def test_set_params_replaces_the_measure_and_leaves_that_of_the_caller():
    measure = Ladder(3, unit="pi")
    estimator = LadderFeatures(measure, include_input=False)
    assert estimator.set_params(frequencies__unit="2pi", include_input=True) is estimator
    assert (estimator.frequencies, measure) == (Ladder(3, unit="2pi"), Ladder(3, unit="pi"))
    assert_array_equal(estimator.fit_transform(rows()), features(rows(), 3, unit="2pi"))
    with pytest.raises(TypeError, match="frequencies must be a name, a template or a measure, got 10"):
        LadderFeatures().set_params(frequencies__unit="2pi")


# -- layouts -----------------------------------------------------------------------------------------------------------

MORE_LAYOUTS = {
    **LAYOUTS,
    **{
        "-".join(axes): Layout(axes, functions, inputs)
        for axes, functions, inputs in zip(
            itertools.permutations(("level", "function", "column")),
            itertools.cycle([("cos", "sin"), ("sin", "cos")]),
            itertools.cycle(["last", "first", "last"]),
            strict=False,
        )
    },
    "custom": Layout(["column", "level", "function"], ["cos", "sin"], "per_column"),
}


@pytest.mark.parametrize("include_input", [True, False])
@pytest.mark.parametrize("before", MORE_LAYOUTS)
def test_every_layout_is_a_permutation_of_every_other(before, include_input):
    X = rows()
    first = LadderFeatures(4, layout=MORE_LAYOUTS[before], include_input=include_input).fit(X)
    names = first.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == 24 + 3 * include_input
    for after in MORE_LAYOUTS.values():
        second = LadderFeatures(4, layout=after, include_input=include_input).fit(X)
        where = [names.index(name) for name in second.get_feature_names_out()]
        assert_array_equal(first.transform(X)[:, where], second.transform(X))
        back = np.argsort(where)
        assert_array_equal(second.transform(X)[:, back], first.transform(X))


def test_the_six_orders_of_the_axes_are_six_codebases():
    named = [LAYOUTS[name].axes for name in ("nerf", "mipnerf", "nerfstudio", "tcnn", "barf", "siren")]
    assert sorted(named) == sorted(itertools.permutations(("level", "function", "column")))


def test_layouts_are_values():
    assert Layout(["level", "function", "column"]) == Layout() == LAYOUTS["nerf"]
    assert eval(repr(LAYOUTS["perceiver"])) == LAYOUTS["perceiver"]
    assert len({LAYOUTS["tancik"], LAYOUTS["sam"]}) == 1


@pytest.mark.parametrize("layout", MORE_LAYOUTS)
def test_feature_names_say_what_the_columns_are(layout):
    frame = pd.DataFrame(rows(), columns=["east", "north", "height"])
    estimator = LadderFeatures(3, "2pi", layout=MORE_LAYOUTS[layout]).set_output(transform="pandas").fit(frame)
    encoded = estimator.transform(frame)
    for name in encoded.columns:
        column, _, wave = name.partition("_")
        x = frame[column]
        expected = getattr(np, wave[:3])(2 * np.pi * 2 ** int(wave[3:]) * x) if wave else x
        assert_allclose(encoded[name], expected, rtol=0, atol=1e-14)


def test_names_of_oblique_frequencies_and_of_columns_without_names():
    matrix = LadderFeatures(B, layout="nerf").fit(rows(d=2))
    assert matrix.get_feature_names_out().tolist() == [
        "x0", "x1", "ladderfeatures_sin0", "ladderfeatures_cos0", "ladderfeatures_sin1", "ladderfeatures_cos1"
    ]  # fmt: skip
    ladder = LadderFeatures(1).fit(rows(d=2))
    assert ladder.get_feature_names_out(["u", "v"]).tolist() == ["u", "v", "u_sin0", "v_sin0", "u_cos0", "v_cos0"]
    named = LadderFeatures(1).fit(pd.DataFrame(rows(d=2), columns=["u", "v"]))
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        named.get_feature_names_out(["v", "u"])
    with pytest.raises(ValueError, match=r"should have length .*2.*, got 1"):
        ladder.get_feature_names_out(["u"])


def test_polars_frames():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"u": [0.1, 0.2], "v": [0.3, 0.4]})
    encoded = LadderFeatures(1, layout="tcnn").set_output(transform="polars").fit_transform(frame)
    # scikit-learn before 1.7 does not read the names of polars columns
    u, v = ("u", "v") if int(sklearn.__version__.split(".")[1]) >= 7 else ("x0", "x1")
    assert encoded.columns == [f"{u}_sin0", f"{u}_cos0", f"{v}_sin0", f"{v}_cos0", u, v]


# -- odd things --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_column_and_one_octave(layout):
    X = rows(5, 1)
    expected = {"sin": np.sin(np.pi * X[:, 0]), "cos": np.cos(np.pi * X[:, 0])}
    estimator = LadderFeatures(1, layout=layout).fit(X)
    for name, column in zip(estimator.get_feature_names_out(), estimator.transform(X).T, strict=True):
        assert_allclose(column, X[:, 0] if name == "x0" else expected[name[3:6]], rtol=0, atol=1e-15)
    assert_array_equal(features(X, [[0.5]], layout=layout), estimator.transform(X))  # (m, 1) is (m,)
    assert_array_equal(features(X, Atomic([0.5]), layout=layout), estimator.transform(X))


def test_dtypes_in_and_out():
    X = np.arange(-6, 6).reshape(4, 3)
    expected = features(X.astype(float), 3, 1)
    assert expected.dtype == np.float64
    for same in (X, X.astype(np.int8), X.astype(np.float16), X.tolist(), np.asfortranarray(X)):
        assert_array_equal(features(same, 3, 1), expected)
    single = features(X.astype(np.float32), 3, 1)
    assert single.dtype == np.float32
    assert_allclose(single, expected, rtol=0, atol=3e-7)
    assert_array_equal(single[:, :3], X)


@pytest.mark.parametrize("path", ["compiled", "numpy"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("frequencies", [7, rows(40, 3) * 5], ids=["ladder", "matrix"])
def test_bits_depend_neither_on_threads_nor_on_the_path_of_other_rows(frequencies, dtype, path, monkeypatch):
    with_path(path, monkeypatch)
    monkeypatch.setattr(Waves, "rows_per_block", 512)
    X = rows(1001, 3, dtype=dtype)
    estimator = LadderFeatures(frequencies).fit(X)
    alone = estimator.transform(X)
    for n_jobs in (1, 2, 3, -1):
        assert_array_equal(estimator.set_params(n_jobs=n_jobs).transform(X), alone)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert_array_equal(estimator.set_params(n_jobs=None).transform(X), alone)
    one_by_one = np.concatenate([estimator.transform(row[None]) for row in X[:50]])
    assert_allclose(one_by_one, alone[:50], rtol=0, atol=1e-12 if dtype is np.float64 else 1e-6)


def test_the_compiled_loop_equals_numpy(monkeypatch):
    pytest.importorskip("numba")
    for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 1e-6)):
        X, out = rows(200, 3, dtype=dtype), []
        for threshold in (0, 1 << 62):
            monkeypatch.setattr(_loops, "SMALLEST_WORK", threshold)
            out.append(features(X, 12, window=7.5, layout="perceiver"))
        assert_allclose(*out, rtol=0, atol=tolerance)


def test_no_second_copy_of_the_features_is_made(monkeypatch):
    X = rows(50_000, 3)
    for threshold in (0, 1 << 62):
        monkeypatch.setattr(_loops, "SMALLEST_WORK", threshold)
        estimator = LadderFeatures().fit(X)
        estimator.transform(X[:10])
        tracemalloc.start()
        Z = estimator.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.25 * Z.nbytes, f"{peak / Z.nbytes:.2f} times the features"


def test_the_input_and_the_parameters_are_left_alone():
    X, frequencies, origin = rows(), np.array([0.5, 1.0]), np.array([0.1, 0.2, 0.3])
    before = X.copy()
    for array in (X, frequencies, origin):
        array.flags.writeable = False
    estimator = LadderFeatures(frequencies, origin=origin)
    Z = estimator.fit_transform(X)
    assert_array_equal(X, before)
    assert estimator.frequencies is frequencies
    frequencies.flags.writeable = True
    frequencies[:] = 7.0  # the fitted state is its own
    assert_array_equal(estimator.transform(X), Z)


def test_in_a_pipeline_a_ladder_learns_what_lies_on_it():
    """y is a sum of waves of the ladder, so a nearly unpenalised fit is exact; the search finds the octaves needed."""
    X = rows(200, 2)
    y = np.sin(4 * np.pi * X[:, 0]) + 0.5 * np.cos(2 * np.pi * X[:, 1])
    model = make_pipeline(LadderFeatures(), Ridge(1e-6))
    search = GridSearchCV(model, {"ladderfeatures__frequencies": [1, 2, 3], "ladderfeatures__layout": ["nerf", "tcnn"]})
    search.fit(X, y)
    assert search.best_params_["ladderfeatures__frequencies"] == 3
    assert search.best_score_ > 1 - 1e-8


def test_a_failed_fit_changes_nothing():
    X = rows()
    estimator = LadderFeatures(3).fit(X)
    Z = estimator.transform(X)
    with pytest.raises(ValueError, match="number of octaves"):
        estimator.set_params(frequencies=0).fit(rows(d=2))
    assert_array_equal(estimator.transform(X), Z)
    with pytest.raises(ValueError, match="number of octaves"):
        (fresh := LadderFeatures(0)).fit(X)
    with pytest.raises(NotFittedError):
        fresh.transform(X)


@pytest.mark.parametrize(
    "estimator",
    [
        LadderFeatures(),
        LadderFeatures(Ladder(3, unit=1), layout=Layout(inputs="last"), window=1.5),
        LadderFeatures(rows(4, 3), layout="sam", origin=[0.1, 0.2, 0.3]),
        LadderFeatures.preset("nerfstudio"),
    ],
    ids=["default", "objects", "matrix", "preset"],
)
def test_a_fitted_transformer_survives_pickle_joblib_and_skops(estimator, tmp_path):
    sio = pytest.importorskip("skops.io")
    X = rows()
    estimator = clone(estimator).fit(X)
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
        assert_array_equal(copied.transform(X), estimator.transform(X))
        assert copied.layout == estimator.layout
    assert "LadderFeatures" in estimator._repr_html_()
    assert repr(clone(estimator)) == repr(estimator)


# -- the map -----------------------------------------------------------------------------------------------------------


def test_the_map_takes_columns_in_any_order():
    X = rows(4, 2)
    Z = encoding(X, [0.5, 1.5])
    assert_allclose(Z, exact(X, [mp.mpf(0.5), mp.mpf(1.5)]), rtol=0, atol=1e-14)
    assert_array_equal(encoding(X, [0.5, 1.5], order=[9, 4, 4, 0]), np.column_stack([X[:, 1], Z[:, [4, 4, 0]]]))
    assert_array_equal(encoding(X, [0.5, 1.5], amplitudes=[1.0, 2.0])[:, :4], Z[:, :4] * [1, 1, 2, 2])
    assert_array_equal(encoding(X, [0.5, 1.5], amplitudes=0.5), 0.5 * Z)


@pytest.mark.parametrize("frequencies", [[0.5, 1.5, 2.0**60], rows(5, 3) * 3], ids=["ladder", "matrix"])
def test_the_map_on_tensors(frequencies):
    torch = pytest.importorskip("torch")
    X = rows(4, 3)
    order = LadderFeatures(frequencies, layout="tancik").fit(X)._order[::-1].copy()
    weights = np.linspace(0.1, 1.0, len(frequencies))
    expected = encoding(X, frequencies, order, weights, origin=0.3)
    tensor = torch.tensor(X, requires_grad=True)
    Z = encoding(tensor, frequencies, order, weights, origin=0.3)
    assert_allclose(Z.detach().numpy(), expected, rtol=0, atol=1e-12)
    batched = encoding(tensor.reshape(2, 2, 3), frequencies, order, weights, origin=0.3)
    assert_array_equal(batched.detach().numpy(), Z.detach().numpy().reshape(2, 2, -1))
    assert encoding(tensor.float(), frequencies, order).dtype == torch.float32
    if np.ndim(frequencies) == 2:  # 2^60 is beyond finite differences
        assert torch.autograd.gradcheck(lambda x: encoding(x, frequencies, order, weights), tensor)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: encoding(rows(), rows(4, 2)), r"shape \(L,\), or \(m, 3\) as X has 3 column\(s\), got \(4, 2\)"),
        (lambda: encoding(rows(), []), r"shape \(L,\), or \(m, 3\)"),
        (lambda: encoding(rows(), [1.0], order=[8, 9]), "order must name columns from 0 to 8, .* got 8 to 9"),
        (lambda: encoding(rows(), [1.0], order=[-1]), "order must name columns from 0 to 8, .* got -1 to -1"),
        (lambda: encoding(rows(), [1.0], origin=[0.0, 1.0]), r"one for each of the 3 column\(s\) .* shapes \(2,\)"),
        (lambda: encoding(rows(), [1.0], amplitudes=[1, 2]), r"each of the 1 frequencies, got shapes \(\) and \(2,\)"),
        (lambda: encoding(rows() * 1e300, [1e30]), r"phases of X overflow.* 1e\+30 cycles per unit\. Scale X"),
        (lambda: encoding(np.full((2, 1), np.nan), [1.0]), "NaN or infinite values, the first in row 0"),
        (lambda: encoding(np.zeros(3), [1.0]), r"must be two-dimensional.*reshape\(-1, 1\)"),
    ],
)
def test_what_the_map_refuses(action, message):
    with pytest.raises(ValueError, match=message):
        action()


# -- what is refused ---------------------------------------------------------------------------------------------------


COUNT = "frequencies must be a number of octaves, an integer from 1 to 1000, or an array of frequencies"
MATRIX = {"frequencies": np.eye(3) * 0.3 + 0.1}


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"frequencies": 0}, ValueError, COUNT + ".*got 0"),
        ({"frequencies": -3}, ValueError, COUNT + ".*got -3"),
        ({"frequencies": 2.5}, ValueError, COUNT + ".*got 2.5"),
        ({"frequencies": True}, ValueError, COUNT + ".*got True"),
        ({"frequencies": "ten"}, ValueError, COUNT + ".*got 'ten'"),
        ({"frequencies": None}, ValueError, COUNT + ".*got None"),
        ({"frequencies": 1001}, ValueError, COUNT + ".*got 1001"),
        ({"frequencies": []}, ValueError, "frequencies must be finite real numbers, at least one"),
        ({"frequencies": [1.0, np.nan]}, ValueError, "frequencies must be finite real numbers"),
        ({"frequencies": [1.0, np.inf]}, ValueError, "frequencies must be finite real numbers"),
        ({"frequencies": [1j]}, ValueError, "frequencies must be finite real numbers"),
        ({"frequencies": ["a"]}, ValueError, "frequencies must be finite real numbers"),
        ({"frequencies": np.ones((4, 2))}, ValueError, r"or \(m, 3\) as X has 3 column\(s\), got \(4, 2\)"),
        ({"frequencies": np.ones((4, 3, 1))}, ValueError, r"or \(m, 3\) as X has 3 column\(s\), got \(4, 3, 1\)"),
        ({"frequencies": Gaussian(0.1)}, CapabilityError, "atoms"),
        ({"frequencies": Atomic([[1.0, 2.0]])}, ValueError, r"2 column\(s\)"),
        (
            {"frequencies": Atomic(np.eye(3), weights=[1.0, 2.0, 3.0])},
            ValueError,
            r"weights of Atomic\(.* are not equal.*amplitude 1\. Use FourierFeatures",
        ),
        ({"unit": "tau"}, ValueError, "unit must be 1, 'pi' or '2pi', .*got 'tau'"),
        ({"unit": 2}, ValueError, "unit must be 1, 'pi' or '2pi', .*got 2"),
        ({"unit": True}, ValueError, "unit must be 1, 'pi' or '2pi', .*got True"),
        ({"unit": None}, ValueError, "unit must be 1, 'pi' or '2pi', .*got None"),
        ({"unit": ["pi"]}, ValueError, "unit must be 1, 'pi' or '2pi'"),
        ({"unit": 1, "frequencies": [1.0]}, ValueError, "unit=1 is for a number of octaves, .* an array .*Leave unit"),
        ({"unit": 1, "frequencies": Ladder()}, ValueError, "unit=1 is for .*a measure in cycles per unit. Leave unit"),
        ({"layout": "instant"}, ValueError, "layout must be one of 'nerf', .*'sam', or a Layout, got 'instant'"),
        ({"layout": None}, ValueError, "layout must be one of .*, or a Layout, got None"),
        ({"layout": ("level", "function", "column")}, ValueError, "layout must be one of .* got \\('level'"),
        ({"window": -0.1}, ValueError, "window must be None or a number from 0.*, 10, .*got -0.1.*Clip the schedule"),
        ({"window": 10.5}, ValueError, "window must be None or a number from 0.*, 10, .*got 10.5"),
        ({"window": math.nan}, ValueError, "window must be None or a number from 0"),
        ({"window": "all"}, ValueError, "window must be None or a number from 0.*got 'all'"),
        ({"window": True}, ValueError, "window must be None or a number from 0.*got True"),
        ({"window": [1.0]}, ValueError, "window must be None or a number from 0"),
        ({"window": 1.0, **MATRIX}, ValueError, "window fades .* oblique frequencies has no levels. Use window=None"),
        ({"layout": "perceiver", **MATRIX}, ValueError, "belong to all 3 columns together. Use include_input=False"),
        ({"include_input": "yes"}, ValueError, "include_input must be True or False, got 'yes'"),
        ({"origin": [0.0, 1.0]}, ValueError, r"origin must be one number or one per column: .*\(2,\).*3 column"),
        ({"origin": math.inf}, ValueError, "origin must be finite real numbers"),
        ({"origin": "centre"}, ValueError, "origin must be finite real numbers"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_in_fit(params, error, message):
    estimator = LadderFeatures(**params)  # never in __init__
    with pytest.raises(error, match=message):
        estimator.fit(rows())
    assert not hasattr(estimator, "n_features_in_")


def test_a_matrix_needs_no_place_for_inputs_that_are_left_out():
    assert features(rows(), include_input=False, layout="perceiver", **MATRIX).shape == (12, 6)


def test_phases_that_overflow_are_refused():
    estimator = LadderFeatures(1000, unit="2pi").fit(rows())
    with pytest.raises(ValueError, match=r"phases of X overflow: it has values of up to 1e\+10.* lower frequencies"):
        estimator.transform(np.full((1, 3), 1e10))


BAD = {
    "nan": (np.full((4, 3), np.nan), "X contains NaN"),
    "inf": (np.full((4, 3), np.inf), "X contains infinity"),
    "one-dimensional": (np.ones(3), "Expected 2D array, got 1D array"),
    "three-dimensional": (np.ones((2, 3, 3)), "dim 3"),
    "no rows": (np.ones((0, 3)), r"0 sample\(s\)"),
    "no columns": (np.ones((4, 0)), r"0 feature\(s\)"),
    "text": (np.array([["a", "b", "c"]]), "could not convert string"),
    "complex": (np.ones((4, 3)) * 1j, "Complex data not supported"),
}


@pytest.mark.parametrize(("X", "message"), BAD.values(), ids=BAD)
def test_bad_points_are_refused_in_fit_and_transform(X, message):
    for action in (LadderFeatures().fit, LadderFeatures().fit(rows()).transform):
        with pytest.raises(ValueError, match=message):
            action(X)


def test_another_width_and_an_unfitted_transformer_are_refused():
    with pytest.raises(ValueError, match="X has 2 features, but LadderFeatures is expecting 3 features"):
        LadderFeatures().fit(rows()).transform(rows(d=2))
    for action in (lambda: LadderFeatures().transform(rows()), LadderFeatures().get_feature_names_out):
        with pytest.raises(NotFittedError, match=r"This LadderFeatures instance is not fitted yet\. Call 'fit'"):
            action()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((("level", "function"),), "Layout: axes must be 'function' and 'level' and 'column' in some order"),
        (("level",), "Layout: axes must be .* got 'level'"),
        ((("level", "function", "column"), ("sin", "sin")), "Layout: functions must be 'cos' and 'sin' in some order"),
        ((("level", "function", "column"), ("sin", "cos"), "middle"), "Layout: inputs must be one of 'first', 'last'"),
        (
            (("level", "function", "column"), ("sin", "cos"), "per_column"),
            "inputs='per_column' needs 'column' as the first of the axes, .*Put it there, or take",
        ),
    ],
)
def test_bad_layouts_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Layout(*arguments)


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("gelu", {}, ValueError, "There is no preset 'gelu'; the presets are 'nerf', .*'sam'"),
        (None, {}, ValueError, "There is no preset None"),
        ("nerf", {"L": 3}, TypeError, "'nerf' has no option 'L'. It has multires, log_sampling, and .*constructor"),
        ("nerf", {"frequencies": 3, "multires": 3}, ValueError, "frequencies takes the place of multires in preset"),
        ("sam", {"frequencies": B, "scale": 2.0}, ValueError, "frequencies takes the place of scale .* give one or"),
        ("nerf", {"multires": 0, "log_sampling": False}, ValueError, "multires must be an integer of at least 1"),
        ("nerfstudio", {"num_frequencies": 2.0}, ValueError, "num_frequencies must be an integer of at least 1"),
        ("mipnerf", {"min_deg": 3, "max_deg": 3}, ValueError, "integers, the first lower, got 3 and 3"),
        ("perceiver", {"num_bands": 0}, ValueError, "num_bands must be an integer of at least 1, got 0"),
        ("perceiver", {"max_freq": -1}, ValueError, "max_freq must be a positive finite number, got -1"),
        ("siren", {"samples": 7}, ValueError, "samples must be an integer of at least 8, for one octave, got 7"),
        ("siren", {"samples": 64, "num_frequencies": 3}, ValueError, "samples chooses the number .* not both"),
        ("tancik", {"scale": 0}, ValueError, "scale must be a positive finite number, got 0"),
        ("sam", {"scale": -1.0}, ValueError, "scale must be a positive finite number, got -1.0"),
        ("sam", {"num_pos_feats": 0}, ValueError, "num_pos_feats must be an integer of at least 1, got 0"),
        ("tancik", {"B": B, "scale": 2.0}, ValueError, "B is the matrix itself, so scale cannot be given beside it"),
        ("tancik", {"B": [1.0, 2.0]}, ValueError, r"B must have shape \(d, m\), one row for each column of X"),
        ("tancik", {"d": 0}, ValueError, "d, the number of columns, must be an integer of at least 1"),
    ],
)
def test_bad_presets_are_refused(name, options, error, message):
    with pytest.raises(error, match=message):
        LadderFeatures.preset(name, **options)
