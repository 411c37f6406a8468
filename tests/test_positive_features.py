"""Positive features against their kernels, their variance against closed forms, mpmath and simulation."""

import copy
import math
import pickle
import re

import joblib
import mpmath as mp
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, special
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralkit import (
    ApproximationWarning,
    Atomic,
    BandLimited,
    CapabilityError,
    FourierFeatures,
    Gaussian,
    Ladder,
    Matern,
    PositiveRandomFeatures,
    SpectralMixture,
    maps,
)
from spectralkit.features._positive_error import MOST_COLUMNS, RelativeVariance, columns_for, optimal_tilt, tilted
from spectralkit.rules import RULES, Simplex

UNIT = 1 / (2 * math.pi)  # with this sigma, 2 pi omega is standard normal and z = |x + y - 2 c|^2
ATOMS = Atomic([[0.1, 0.05], [0.02, -0.1]], [0.5, 1.5])
MIXTURE = SpectralMixture([0.5, 1.0], [[0.03, -0.02], [0.05, 0.01]], [[0.02, 0.04], [0.03, 0.05]])
CONFIGURATIONS = {
    "default": PositiveRandomFeatures(),
    # one of the checks has rows of length 300: at the default temperature the kernel itself would overflow
    "softmax": PositiveRandomFeatures(
        "softmax", temperature=1e3, variant="hyperbolic", rule="orthogonal", n_components=7
    ),
    "measure": PositiveRandomFeatures(2.0 * BandLimited(), variant="positive", rule="iid", n_components=40),
}
VARIANTS, COUPLINGS = ("optimal", "hyperbolic", "positive"), ("simplex", "orthogonal", "iid")


def rows(n=12, d=3, seed=0, scale=1.0):
    return np.random.default_rng([seed, n, d]).normal(size=(n, d)) * scale


def closed_form(z, d, m, variant, coupling):
    tilt = optimal_tilt(z / d) if variant == "optimal" else 0.0
    return float(RelativeVariance(d, coupling, variant == "hyperbolic")(z, tilted(z, d, tilt), m))


# -- scikit-learn ------------------------------------------------------------------------------------------------------

# the checks set n_components to 1 or 2, or spread their data over many units: there the estimate is hopeless
hopeless = pytest.mark.filterwarnings("ignore::spectralkit.ApproximationWarning")


@hopeless
@parametrize_with_checks(list(CONFIGURATIONS.values()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)  # check_array_api_input skips itself unless SCIPY_ARRAY_API=1


# the checks fit frames and transform arrays, and the other way round
@hopeless
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


# -- closed forms ------------------------------------------------------------------------------------------------------

# d = m and z; iid, hyperbolic, orthogonal, A, optimal with independent and with orthogonal draws
TABLE = """
8  0.5 .08109 .03191 .07104 -.02836 .07090 .06085
8  2   .79863 .69055 .67510 -.09760 .40873 .28520
16 1   .10739 .06789 .08396 -.02836 .09100 .06757
16 4   3.3499 3.2885 3.0899 -.09760 1.0770 .8169
64 1   .02685 .01697 .01963 -.00759 .02562 .01840
64 4   .83747 .82213 .73594 -.02836 .55292 .45138
64 9   126.6  126.6  126.2  -.05904 23.17  22.79
"""


@pytest.mark.parametrize("line", TABLE.strip().splitlines())
def test_the_closed_forms_have_known_values(line):
    d, z, *printed = line.split()
    d, z = int(d), float(z)
    columns = [("positive", "iid"), ("hyperbolic", "iid"), ("positive", "orthogonal"), None]
    columns += [("optimal", "iid"), ("optimal", "orthogonal")]
    for column, digits in zip(columns, printed, strict=True):
        value = optimal_tilt(z / d) if column is None else closed_form(z, d, d, *column)
        assert abs(value - float(digits)) <= 0.501 * 10.0 ** -len(digits.partition(".")[2]), (column, value)


def exact_coupling(d, z, coupling, paired=False):
    """mpmath: 1 - C; two independent lengths chi(d) as a common length and one angle."""
    d, z = mp.mpf(d), mp.mpf(z)
    if coupling == "orthogonal":
        return 1 - mp.exp(-z / 2) * mp.hyp1f1(-d / 2, d / 2, -z / 2)  # Kummer: a polynomial for even d
    low = max(mp.mpf(0), mp.pi / 2 - 14 / mp.sqrt(d))
    points = mp.linspace(low, mp.pi / 2, 4)

    def mean(cosine):
        def integrand(phi):
            x = (1 + cosine * mp.sin(phi)) * z / 2
            return mp.sin(phi) ** (d - 1) * mp.exp(x) * mp.hyp1f1(-d / 2, d / 2, -x)

        return mp.quad(integrand, points) / mp.quad(lambda phi: mp.sin(phi) ** (d - 1), points)

    cosine = -1 / (d - 1)
    means = [mean(cosine), mean(-cosine)] if paired else [mean(cosine)]
    return 1 - mp.exp(-z) * sum(means) / len(means)


@pytest.mark.parametrize(
    ("d", "z"), [(d, z) for d in (2, 3, 8, 64) for z in (1e-8, 1e-6, 0.1, 5.0)] + [(8, 500.0), (784, 0.1)]
)
def test_every_closed_form_is_accurate_against_mpmath(d, z):
    """At m = d and at an odd width over several blocks; near z = 0 the leading terms cancel."""
    with mp.workdps(35):
        single, antipode = mp.expm1(mp.mpf(z)), mp.expm1(-mp.mpf(z))
        for coupling in ("simplex", "orthogonal"):
            deficit = exact_coupling(d, z, coupling)
            for m, pairs in ((d, d * (d - 1)), (2 * d + 1, 2 * d * (d - 1))):
                expected = (m * single - pairs * deficit) / m**2
                assert_allclose(closed_form(z, d, m, "positive", coupling), float(expected), rtol=1e-11)
        deficit = exact_coupling(d, z, "simplex", paired=True)
        m = 2 * d
        expected = (m * (single + antipode) - 4 * d * (d - 1) * deficit) / m**2
        assert_allclose(closed_form(z, d, m, "hyperbolic", "simplex"), float(expected), rtol=1e-11)


def test_nothing_is_negative_or_not_a_number():
    z = np.concatenate([[0.0], 10.0 ** np.arange(-320, 308, 4.0), [1e308, np.inf]])
    for d in (1, 2, 3, 16):
        for coupling in COUPLINGS:
            for paired in (False, True):
                for tilt in (0.0, -0.1, -3.0):
                    for m in (1, 2, 2 * d, 2 * d + 1):
                        value = RelativeVariance(d, coupling, paired)(z, tilted(z, d, 0 if paired else tilt), m)
                        assert (value >= 0).all(), (d, coupling, paired, tilt, m)
                        assert np.isfinite(value[z < 600]).all()
                        assert np.isinf(value[-1])
    assert closed_form(0.0, 8, 8, "positive", "simplex") == 0


def test_the_count_of_coupled_columns_is_that_of_all_pairs():
    for d in (1, 2, 3, 5):
        for m in range(1, 25):
            for paired in (False, True):
                draw = np.arange(m) // (2 if paired else 1)
                block = draw // d
                coupled = (block[:, None] == block) & (draw[:, None] != draw)
                assert RelativeVariance(d, "simplex", paired)._count(m) == coupled.sum()


@pytest.mark.parametrize("p", [1e-12, 1e-6, 1e-3, 0.0625, 0.5, 2.0, 50.0, 1e4])
def test_the_tilt_minimises_the_variance(p):
    tilt, d = optimal_tilt(p), 8
    with mp.workdps(50):
        x = mp.mpf(p)
        exact = (1 - 2 * x - mp.sqrt((2 * x + 1) ** 2 + 8 * x)) / 16
        assert_allclose(tilt, float(exact), rtol=1e-14)
    if p >= 1e-3:
        found = optimize.minimize_scalar(lambda a: tilted(p * d, d, -math.exp(a)), bounds=(-20, 12), method="bounded")
        assert tilted(p * d, d, tilt) <= found.fun * (1 + 1e-12)
        assert_allclose(-math.exp(found.x), tilt, rtol=1e-3)
    assert optimal_tilt(0.0) == 0.0


def test_the_log_of_the_tilted_variance_is_the_textbook_formula():
    for d, z, a in ((1, 0.3, -0.2), (8, 2.0, -0.0976), (64, 9.0, -0.05904)):
        textbook = d * math.log(1 - 4 * a) - d / 2 * math.log(1 - 8 * a) + z * (2 * (1 - 4 * a) / (1 - 8 * a) - 1)
        assert_allclose(tilted(z, d, a), textbook, rtol=1e-12)


def test_the_defaults_are_far_ahead_of_orthogonal_features_and_never_behind():
    """Of equal width m = d; "positive" with "orthogonal" are the features of FAVOR+, without their bias."""
    for d in (4, 8, 16, 32, 64, 128):
        for z in (1e-3, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0):
            ratio = closed_form(z, d, d, "positive", "orthogonal") / closed_form(z, d, d, "optimal", "simplex")
            assert ratio >= 1, (d, z, ratio)
            if z <= 2 and d <= 64:
                assert ratio >= (3.5 if d == 16 else 2), (d, z, ratio)


# -- simulation --------------------------------------------------------------------------------------------------------


def estimates(d, m, variant, rule, z, groups, kernel=None, seed=0):
    """Many independent estimates of m columns over their kernel, at x = y = c + v / 2 with |v|^2 = z.

    One fit draws them all: blocks of d draws are independent, and the first draws of a block are an incomplete one.
    """
    v = np.random.default_rng([seed, d, 1]).normal(size=d)
    half = v / np.linalg.norm(v) * math.sqrt(z) / 2
    X = np.stack([half, -half]) * math.sqrt(2)  # the mean over pairs of |x + y|^2 is z
    block = (2 if variant == "hyperbolic" else 1) * d
    whole = -(-m // block) * block
    model = PositiveRandomFeatures(
        kernel or Gaussian(UNIT), variant=variant, rule=rule, n_components=groups * whole, random_state=seed
    ).fit(X)
    squares = model.transform(half[None])[0] ** 2
    k = math.exp(half @ half) if kernel == "softmax" else 1.0  # temperature 1
    return squares.reshape(groups, whole)[:, :m].sum(axis=1) * groups * whole / m / k


@pytest.mark.parametrize("d", [3, 8, 16])
@pytest.mark.parametrize("rule", COUPLINGS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_squared_errors_are_those_of_the_closed_form(variant, rule, d):
    groups = 3_000
    for z, m in ((0.1, d), (0.5, 2 * d)):  # further out squared errors have tails that no sample shows
        ratio = estimates(d, m, variant, rule, z, groups, seed=1)
        squares = (ratio - 1) ** 2
        error = 3 * squares.std() / math.sqrt(groups)
        assert abs(squares.mean() - closed_form(z, d, m, variant, rule)) <= error
        if rule == "simplex" and variant == "positive":  # the test sees what the coupling does
            assert closed_form(z, d, m, variant, "orthogonal") > squares.mean() + 3 * error


@pytest.mark.parametrize(
    ("d", "m", "variant", "rule"),
    [
        (3, 1, "optimal", "simplex"),
        (3, 7, "optimal", "simplex"),
        (3, 7, "hyperbolic", "simplex"),
        (5, 3, "positive", "orthogonal"),
        (5, 3, "hyperbolic", "simplex"),
        (5, 13, "hyperbolic", "orthogonal"),
        (8, 12, "positive", "simplex"),
        (8, 21, "hyperbolic", "simplex"),
        (1, 5, "hyperbolic", "simplex"),
        (2, 6, "hyperbolic", "simplex"),
    ],
)
def test_incomplete_blocks_and_odd_widths_have_their_own_variance(d, m, variant, rule):
    groups = 4_000
    ratio = estimates(d, m, variant, rule, 0.4, groups, seed=2)
    squares = (ratio - 1) ** 2
    assert abs(squares.mean() - closed_form(0.4, d, m, variant, rule)) <= 3 * squares.std() / math.sqrt(groups)


@pytest.mark.parametrize("d", [8, 16, 64])
@pytest.mark.parametrize("kernel", [None, "softmax"])
@pytest.mark.parametrize("rule", ["simplex", "orthogonal"])
def test_directions_have_no_preferred_sign(rule, kernel, d):
    """At x + y = +-1.5 (1, ..., 1) / sqrt(d), where factors Q of LAPACK as they are estimate 0.73 to 1.27 times k."""
    groups = 30_000 // d
    c = np.zeros(d)
    for sign in (1.0, -1.0):
        half = sign * 0.75 * np.ones(d) / math.sqrt(d)
        parameters = {"kernel": Gaussian(UNIT)} if kernel is None else {"kernel": "softmax", "temperature": 1.0}
        model = PositiveRandomFeatures(**parameters, rule=rule, n_components=groups * d, random_state=3)
        model.fit(np.stack([half, -half]))
        assert_allclose(model.centre_, c, rtol=0, atol=1e-15)
        ratio = (model.transform(half[None])[0] ** 2).reshape(groups, d).sum(axis=1) * groups
        ratio /= 1.0 if kernel is None else math.exp(half @ half)
        assert abs(ratio.mean() - 1) <= 4 * ratio.std() / math.sqrt(groups)


def test_the_mean_over_many_fits_is_the_kernel():
    X, seeds = rows(6, 4, scale=0.5), 150
    for parameters, k in (
        ({"kernel": Gaussian(UNIT)}, rbf_kernel(X, gamma=0.5)),
        ({"kernel": "softmax"}, np.exp(X @ X.T / 2)),
        ({"kernel": "softmax", "temperature": 1.5, "variant": "hyperbolic"}, np.exp(X @ X.T / 1.5)),
    ):
        total = np.zeros((6, 6))
        for seed in range(seeds):
            model = PositiveRandomFeatures(**parameters, n_components=9, random_state=seed).fit(X)
            Z = model.transform(X)
            total += Z @ Z.T
        allowed = 4 * np.sqrt(model.relative_variance(X) / seeds)
        assert (np.abs(total / seeds / k - 1) <= allowed).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rule", COUPLINGS)
def test_inner_products_are_the_kernels_of_scikit_learn_and_of_attention(variant, rule):
    X, Y, options = rows(8, 3), rows(5, 3, seed=1), {"variant": variant, "rule": rule, "n_components": 9_000}
    gaussian = PositiveRandomFeatures(sigma=0.12, random_state=0, **options).fit(X)
    softmax = PositiveRandomFeatures("softmax", random_state=0, **options).fit(X)
    for model, k in (
        (gaussian, rbf_kernel(X, Y, gamma=2 * math.pi**2 * 0.12**2)),
        (softmax, np.exp(X @ Y.T / math.sqrt(3))),
    ):
        ratio = model.transform(X) @ model.transform(Y).T / k
        assert (np.abs(ratio - 1) <= 4 * np.sqrt(model.relative_variance(X, Y))).all()
        assert model.relative_variance(X, Y).shape == (8, 5)
        assert model.predicted_error_ < 0.06
    assert_allclose(softmax.sigma_, UNIT / 3**0.25, rtol=1e-15)
    assert (softmax.temperature_, gaussian.temperature_) == (math.sqrt(3), None)


def test_relative_variance_is_the_closed_form_at_the_distance_of_the_sum():
    X = rows(20, 3) * [1.0, 10.0, 0.1] + 5.0
    model = PositiveRandomFeatures(n_components=22, random_state=0).fit(X)
    scaled = 2 * math.pi * model.sigma_ * (X - model.centre_)
    z = ((scaled[:, None] + scaled[None]) ** 2).sum(axis=-1)
    assert_allclose(z.mean() / 3, 2 / 3, rtol=1e-12)  # with "auto", |x'|^2 is 1 on average
    assert_allclose(model.tilt_, optimal_tilt(z.mean() / 3), rtol=1e-12)
    expected = RelativeVariance(3, "simplex", False)(z, tilted(z, 3, model.tilt_), 22)
    assert_allclose(model.relative_variance(X), expected, rtol=1e-12)
    assert_allclose(model.relative_variance(X, X[:4]), expected[:, :4], rtol=1e-12)
    many = PositiveRandomFeatures(n_components=22).fit(rows(600, 3))
    assert_allclose(many.predicted_error_, np.sqrt(np.median(many.relative_variance(rows(600, 3)))), rtol=0.1)
    series = np.linspace(0, 1, 500)[:, None]  # sorted rows meet near and far ones alike
    ordered = PositiveRandomFeatures(n_components=50, variant="positive").fit(series)
    assert_allclose(ordered.predicted_error_, np.sqrt(np.median(ordered.relative_variance(series))), rtol=0.1)


def test_relative_variance_of_thousands_of_pairs_does_not_depend_on_threads():
    X = rows(400, 3)
    one, two = (PositiveRandomFeatures(random_state=0, n_jobs=n).fit(X).relative_variance(X) for n in (1, 2))
    assert_array_equal(one, two)


# -- other measures ----------------------------------------------------------------------------------------------------


def test_atoms_give_their_kernel_and_exactly_its_variance():
    """k is a ratio of sums of hyperbolic cosines, and a draw is one of finitely many frequencies."""
    X, Y = rows(6, 2), rows(5, 2, seed=1)
    options = {"rule": "iid", "n_components": 4_000, "random_state": 0}
    models = [PositiveRandomFeatures(ATOMS, variant=v, **options).fit(X) for v in ("hyperbolic", "positive")]
    frequencies, weights = np.array(ATOMS.frequencies), np.array(ATOMS.weights) / 2.0
    x, y = X - X.mean(axis=0), Y - X.mean(axis=0)

    def mgf(v):
        return np.cosh(2 * math.pi * v @ frequencies.T) @ weights

    v = x[:, None] + y[None]
    k = 2.0 * mgf(v) / np.sqrt(mgf(2 * x)[:, None] * mgf(2 * y)[None])
    for model in models:
        variance = model.relative_variance(X, Y)
        ratio = model.transform(X) @ model.transform(Y).T / k
        assert (np.abs(ratio - 1) <= 4 * np.sqrt(variance)).all()
    # a column is e^(+-a) with a = 2 pi omega_i . v, and a pair of them the hyperbolic cosine
    a = 2 * math.pi * v @ frequencies.T
    single = np.cosh(2 * a) @ weights / mgf(v) ** 2 - 1
    pair = np.cosh(a) ** 2 @ weights / mgf(v) ** 2 - 1
    assert_allclose(models[1].relative_variance(X, Y), single / 4_000, rtol=1e-10)
    assert_allclose(models[0].relative_variance(X, Y), pair / 2_000, rtol=1e-10)


MEASURES = {
    "mixture": MIXTURE,
    "band": BandLimited(0.1),
    "multiple": 3.0 * MIXTURE,
    "sum": 0.5 * Gaussian(0.05) + BandLimited([0.1, 0.05]),
    "shared columns": MIXTURE * Gaussian(0.05),
    "one column": Gaussian(0.1).on([1]),
}


@pytest.mark.parametrize("variant", ["hyperbolic", "positive"])
@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_other_measures_have_the_kernel_of_the_docstring(measure, variant):
    X = rows(6, 2)
    model = PositiveRandomFeatures(measure, variant=variant, rule="iid", n_components=6_000, random_state=1).fit(X)
    near = X - X.mean(axis=0)
    log_k = measure.log_mgf(near[:, None] + near[None])
    log_k = log_k - (measure.log_mgf(2 * near)[:, None] + measure.log_mgf(2 * near)[None]) / 2 + math.log(measure.mass)
    ratio = model.transform(X) @ model.transform(X).T / np.exp(log_k)
    assert (np.abs(ratio - 1) <= 4 * np.sqrt(model.relative_variance(X)) + 1e-12).all()
    assert_array_equal(model.tilt_, 0.0)


GAUSSIANS = {
    "multiple": (2.0 * Gaussian([0.05, 0.1]), [0.05, 0.1]),
    "other order": (Gaussian([0.05, 0.1]).on([1, 0]), [0.1, 0.05]),
    "tensor product": (Gaussian(0.1).on([1]) * (3.0 * Gaussian(0.05)).on([0]), [0.05, 0.1]),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("measure", "sigma"), GAUSSIANS.values(), ids=GAUSSIANS)
def test_whatever_is_gaussian_has_its_features(measure, sigma, variant):
    X, options = rows(30, 2), {"variant": variant, "n_components": 11, "random_state": 0}
    model = PositiveRandomFeatures(measure, **options).fit(X)
    plain = PositiveRandomFeatures(Gaussian(sigma), **options).fit(X)
    assert_allclose(model.transform(X), math.sqrt(measure.mass) * plain.transform(X), rtol=1e-12)
    assert_allclose(model.relative_variance(X), plain.relative_variance(X), rtol=1e-9, atol=1e-14)
    assert_allclose(model.predicted_error_, plain.predicted_error_, rtol=1e-9)


def test_rules_with_directions_work_on_other_measures_without_a_closed_form():
    X = rows(6, 2)
    model = PositiveRandomFeatures(MIXTURE, variant="hyperbolic", n_components=3_000, random_state=0).fit(X)
    independent = clone(model).set_params(rule="iid").fit(X)
    ratio = model.transform(X) @ model.transform(X).T / (independent.transform(X) @ independent.transform(X).T)
    assert (np.abs(ratio - 1) <= 8 * np.sqrt(independent.relative_variance(X))).all()
    assert model.predicted_error_ == independent.predicted_error_
    with pytest.raises(CapabilityError, match=r"no closed form .* rule='simplex': it is not Gaussian\. Use rule='iid'"):
        model.relative_variance(X)
    one_column = PositiveRandomFeatures(Atomic([0.1]), variant="hyperbolic").fit(X[:, :1])  # signs are independent
    assert one_column.relative_variance(X[:, :1]).shape == (6, 6)


# -- sigma, weights, centre --------------------------------------------------------------------------------------------


@hopeless
@pytest.mark.parametrize("options", [{}, {"multiplier": 0.3}, {"sigma": 0.2}, {"sigma": [1, 2, 3, 4], "multiplier": 2}])
def test_the_scale_is_that_of_fourier_features(options):
    X = rows(50, 4) * [1e-3, 1.0, 50.0, 1e4] + 7.0
    ours, theirs = PositiveRandomFeatures(**options).fit(X), FourierFeatures(**options).fit(X)
    assert_array_equal(ours.sigma_, theirs.sigma_)
    assert ours.spectrum_ == theirs.spectrum_


@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
def test_weights_are_repetitions(kernel):
    X, repeats = rows(20), np.random.default_rng(0).integers(0, 4, size=20)
    weighted = PositiveRandomFeatures(kernel, random_state=0).fit(X, sample_weight=repeats)
    repeated = PositiveRandomFeatures(kernel, random_state=0).fit(np.repeat(X, repeats, axis=0))
    scaled = PositiveRandomFeatures(kernel, random_state=0).fit(X, sample_weight=0.25 * repeats)
    for other in (repeated, scaled):
        assert_allclose(other.centre_, weighted.centre_, rtol=0, atol=1e-14)
        assert_allclose([other.tilt_, other.predicted_error_], [weighted.tilt_, weighted.predicted_error_], rtol=1e-12)
        assert_allclose(other.transform(X), weighted.transform(X), rtol=1e-11)
    assert not np.allclose(PositiveRandomFeatures(kernel, random_state=0).fit(X).centre_, weighted.centre_)


def test_an_offset_of_a_million_changes_nothing_for_the_gaussian_kernel():
    X = np.rint(rows(30) * 8) / 8  # exact next to the offset, and so is the mean of 32 rows
    X = np.concatenate([X, X[:2]])
    before, after = (PositiveRandomFeatures(random_state=0).fit(X + offset) for offset in (0.0, 2.0**20))
    assert_allclose(after.transform(X + 2.0**20), before.transform(X), rtol=1e-9)
    single = after.transform((X + 2.0**20).astype(np.float32))
    assert_allclose(single, before.transform(X), rtol=3e-6)
    assert abs(after.predicted_error_ / before.predicted_error_ - 1) < 1e-9


def test_the_centre_lowers_the_variance_and_leaves_the_kernel():
    """Rows around (1, 1, 1): softmax features around the origin, as elsewhere, would need a hundred times the width."""
    X = rows(200, scale=0.3) + 1.0
    model = PositiveRandomFeatures("softmax", temperature=1.0, random_state=0).fit(X)
    assert_allclose(model.centre_, X.mean(axis=0), rtol=1e-12)
    ratio = model.transform(X) @ model.transform(X).T / np.exp(X @ X.T)
    assert (np.abs(ratio - 1) <= 5 * np.sqrt(model.relative_variance(X))).mean() > 0.99
    uncentred = math.expm1(float(np.median(((X[:100] + X[100:]) ** 2).sum(axis=1)))) / 256
    assert model.predicted_error_ < math.sqrt(uncentred) / 10


# -- rounding ----------------------------------------------------------------------------------------------------------


@hopeless
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
def test_long_rows_are_finite_and_do_not_depend_on_each_other(kernel, dtype):
    X = rows(40, 16)
    X[0] *= math.sqrt(1000) / np.linalg.norm(X[0])
    X[1] *= math.sqrt(1000) / np.linalg.norm(X[1])
    options = {"temperature": 4.0} if kernel == "softmax" else {"sigma": UNIT / 2}
    model = PositiveRandomFeatures(kernel, n_components=2_000, random_state=0, **options).fit(X)
    X = X.astype(dtype)
    logs, Z = model.log_transform(X), model.transform(X)
    assert logs.dtype == Z.dtype == dtype
    assert np.isfinite(logs).all()
    assert np.isfinite(Z).all()
    for i in (0, 1, 7):
        assert_allclose(model.log_transform(X[i : i + 1])[0], logs[i], rtol=1e-6 if dtype is np.float32 else 1e-12)
        assert_allclose(model.transform(X[i : i + 1])[0], Z[i], rtol=1e-4 if dtype is np.float32 else 1e-10)
    assert_allclose(Z, np.exp(logs), rtol=1e-6 if dtype is np.float32 else 1e-13, atol=1e-44)
    if dtype is np.float32:  # an exponent is rounded once
        exact = model.log_transform(X.astype(np.float64))
        assert_allclose(logs, exact, rtol=6.1e-8, atol=0)
        assert_allclose(Z, np.exp(exact), rtol=6.1e-8 * np.abs(exact).max() + 5e-7, atol=1e-44)
    else:
        assert (np.exp(2 * logs[0].max()) > 0) == (Z[0].max() > 0)


@hopeless
def test_the_estimate_of_two_long_rows_needs_logarithms_and_has_them():
    """exp(x . y) with |x|^2 = |y|^2 = 1000, nearly opposite: a feature is e^-500, and the kernel no float."""
    angle = np.array([0.0, math.pi - 0.03])
    X = math.sqrt(1000) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    model = PositiveRandomFeatures("softmax", temperature=1.0, n_components=500, variant="positive", random_state=0)
    model.fit(np.concatenate([X, -X]))
    log_k = special.logsumexp(model.log_transform(X).sum(axis=0))
    error = math.sqrt(model.relative_variance(X)[0, 1])
    assert abs(math.exp(log_k - X[0] @ X[1]) - 1) < 4 * error < 0.3


def test_features_that_overflow_are_refused():
    X = np.array([[30.0, 0.0], [30.5, 0.0], [30.0, 0.5]])
    model = PositiveRandomFeatures("softmax", temperature=1.0, random_state=0).fit(X)
    assert np.isfinite(model.transform(X)).all()  # e^450
    with pytest.raises(ValueError, match=r"too large for float32\. Take the logarithms of the features .* or float64"):
        model.transform(X.astype(np.float32))
    with pytest.raises(
        ValueError, match=r"too large for float64\. Take the logarithms of the features instead, or move"
    ):
        model.transform(2 * X)
    assert np.isfinite(model.log_transform(2 * X)).all()


# -- the map -----------------------------------------------------------------------------------------------------------


def row_scale(near):
    return -(near**2).sum(-1) + near[..., 0]


@pytest.mark.parametrize("centre", [0.0, (1e3, -2e4)])
def test_the_map_is_the_formula(centre):
    rng = np.random.default_rng(0)
    frequencies, log_weights = rng.normal(size=(5, 2)), rng.normal(size=5)
    X = np.asarray(centre) + rng.normal(size=(4, 2))
    expected = np.empty((4, 5))
    with mp.workdps(40):
        for i, x in enumerate(X):
            near = [mp.mpf(a) - mp.mpf(c) for a, c in zip(x.tolist(), np.full(2, centre).tolist(), strict=True)]
            scale = -sum(a**2 for a in near) + near[0]
            for j, omega in enumerate(frequencies.tolist()):
                product = 2 * mp.pi * sum(mp.mpf(w) * a for w, a in zip(omega, near, strict=True))
                expected[i, j] = mp.mpf(float(log_weights[j])) / 2 + product + scale
    logs = maps.log_positive(X, frequencies, log_weights, centre, row_scale)
    assert_allclose(logs, expected, rtol=0, atol=1e-13)
    assert_allclose(maps.positive(X, frequencies, log_weights, centre, row_scale), np.exp(expected), rtol=1e-12)
    assert_allclose(maps.log_positive(X, frequencies, 0.3, centre) + row_scale(X - centre)[:, None] - 0.15,
                    expected - log_weights / 2, rtol=0, atol=1e-12)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_batches_change_nothing(dtype):
    rng = np.random.default_rng(0)
    X, frequencies, log_weights = (
        rng.normal(size=(3_000, 5)).astype(dtype),
        rng.normal(size=(200, 5)) / 10,
        np.zeros(200),
    )
    before = X.copy()
    X.flags.writeable = False
    for function in (maps.positive, maps.log_positive):
        one, two = (function(X, frequencies, log_weights, 0.1, row_scale, n_jobs=n) for n in (1, 2))
        assert one.dtype == dtype
        assert_array_equal(one, two)
        part = function(X[:7], frequencies, log_weights, 0.1, row_scale)
        assert_allclose(part, one[:7], rtol=1e-5 if dtype is np.float32 else 1e-12, atol=1e-6)
    assert_array_equal(X, before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors_have_the_features_of_arrays_and_gradients(dtype):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X, frequencies, log_weights = rng.normal(size=(2, 6, 3)), rng.normal(size=(7, 3)) / 5, rng.normal(size=7)
    tensor = torch.tensor(X, dtype=getattr(torch, dtype), requires_grad=True)
    arguments = frequencies, log_weights, 0.2, row_scale
    logs, Z = maps.log_positive(tensor, *arguments), maps.positive(tensor, *arguments)
    assert str(Z.dtype) == str(logs.dtype) == f"torch.{dtype}"
    assert Z.shape == (2, 6, 7)
    tolerance = 1e-13 if dtype == "float64" else 2e-6
    assert_allclose(logs[1].detach(), maps.log_positive(X[1], *arguments), rtol=tolerance, atol=tolerance)
    assert_allclose(Z[1].detach(), maps.positive(X[1], *arguments), rtol=10 * tolerance)
    logs.sum().backward()
    slope = 2 * math.pi * frequencies.sum(axis=0) + 7 * (np.array([1.0, 0, 0]) - 2 * (X - 0.2))
    assert_allclose(tensor.grad, slope, rtol=1e-4 if dtype == "float32" else 1e-12, atol=tolerance)


def test_the_map_refuses_shapes_that_do_not_agree():
    for arguments, message in (
        ((np.zeros((4, 3)), np.zeros((5, 2)), np.zeros(5)), r"X has 3 column\(s\), but the frequencies have 2"),
        (
            (np.zeros((4, 2)), np.zeros((5, 2)), np.zeros(4)),
            r"log_weights one number or \(m,\), got .*\(5, 2\) and \(4,\)",
        ),
        ((np.zeros((4, 2)), np.zeros(2), 0.0), r"frequencies must have shape \(m, d\)"),
        ((np.zeros((4, 2)), np.zeros((5, 2)), 0.0, np.zeros(3)), "centre must be one number or one for each of the 2"),
        ((np.zeros(2), np.zeros((5, 2)), 0.0), "X must be two-dimensional"),
    ):
        with pytest.raises(ValueError, match=message):
            maps.positive(*arguments)


# -- widths, seeds, parameters -----------------------------------------------------------------------------------------


@hopeless
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rule", COUPLINGS)
def test_any_width_is_the_beginning_of_a_larger_one(variant, rule):
    X = rows()
    options = {"variant": variant, "rule": rule, "random_state": 5}
    wide = PositiveRandomFeatures(n_components=64, **options).fit(X)
    for m in (1, 2, 3, 7, 20):
        narrow = PositiveRandomFeatures(n_components=m, **options).fit(X)
        assert narrow.transform(X).shape == (12, m)
        assert_allclose(narrow.frequencies_, wide.frequencies_[:m], rtol=1e-11, atol=1e-14)
        assert_allclose(
            narrow.log_weights_ + math.log(m), (wide.log_weights_ + math.log(64))[:m], rtol=1e-11, atol=1e-12
        )
    if variant == "hyperbolic":
        assert_array_equal(wide.frequencies_[1::2], -wide.frequencies_[::2])
    assert PositiveRandomFeatures(**options).fit(X).frequencies_.shape == (256, 3)


def test_names_objects_seeds_and_the_callers_things():
    X = rows()
    model = PositiveRandomFeatures(random_state=7)
    Z = model.fit(X).transform(X)
    assert_array_equal(clone(model).fit(X).transform(X), Z)
    assert_array_equal(clone(model).set_params(rule=Simplex()).fit(X).transform(X), Z)
    assert not np.allclose(clone(model).set_params(random_state=8).fit(X).transform(X), Z)
    sigma = np.array([0.1, 0.2, 0.1])
    model = PositiveRandomFeatures(sigma=sigma, random_state=0).fit(X)
    Z = model.transform(X)
    sigma[:] = 3.0
    assert_array_equal(model.transform(X), Z)


def test_parameters_of_the_measure_are_parameters_of_the_transformer():
    template = 2.0 * Gaussian()
    model = PositiveRandomFeatures(template)
    assert model.set_params(kernel__sigma=0.3, n_components=8) is model
    assert (model.kernel, template.is_template()) == (2.0 * Gaussian(0.3), True)
    assert PositiveRandomFeatures().set_params(kernel__sigma=0.5).kernel == Gaussian(0.5)
    assert "kernel__factor" in model.get_params()
    for params, message in (
        ({"kernel__bogus": 1}, "bogus"),
        ({"bogus": 1, "n_components": 3}, "Invalid parameter 'bogus' for PositiveRandomFeatures"),
        ({"kernel": "softmax", "kernel__sigma": 0.1}, "kernel='softmax' is not a known name of a measure"),
    ):
        before = model.get_params()
        with pytest.raises(ValueError, match=message):
            model.set_params(**params)
        assert model.get_params() == before
    X, y = rows(60), rows(60)[:, 0]
    search = GridSearchCV(
        make_pipeline(PositiveRandomFeatures(Gaussian(0.1), random_state=0), Ridge()),
        {"positiverandomfeatures__kernel__sigma": [0.02, 0.1], "positiverandomfeatures__rule": ["iid", Simplex()]},
        cv=3,
    ).fit(X, y)
    assert np.ptp(search.cv_results_["mean_test_score"]) > 1e-6


def test_names_and_frames():
    frame = pd.DataFrame(rows(), columns=list("abc"))
    model = PositiveRandomFeatures(n_components=40, random_state=0).fit(frame)
    names = [f"positiverandomfeatures{j}" for j in range(40)]
    assert model.get_feature_names_out().tolist() == names
    assert_array_equal(model.feature_names_in_, list("abc"))
    Z = model.transform(frame)
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = model.set_output(transform=library).transform(frame)
        assert isinstance(out, kind)
        assert list(out.columns) == names
        assert_array_equal(out.to_numpy(), Z)


@pytest.mark.parametrize("name", ["default", "softmax", "atoms"])
def test_a_fitted_transformer_survives_pickle_joblib_and_skops(name, tmp_path):
    sio = pytest.importorskip("skops.io")
    atoms = PositiveRandomFeatures(ATOMS.on([0, 2]), variant="hyperbolic", rule=RULES["iid"])
    model = clone({"atoms": atoms, **CONFIGURATIONS}[name]).set_params(random_state=0, n_components=300).fit(rows())
    joblib.dump(model, tmp_path / "model.joblib")
    stored = sio.dumps(model)
    unknown = sio.get_untrusted_types(data=stored)
    assert all(untrusted.startswith("spectralkit.") for untrusted in unknown), unknown
    for copied in (
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        sio.loads(stored, trusted=unknown),
        copy.deepcopy(model),
    ):
        assert_array_equal(copied.transform(rows()), model.transform(rows()))
        assert_array_equal(copied.relative_variance(rows()), model.relative_variance(rows()))
    assert "PositiveRandomFeatures" in model._repr_html_()


# -- warnings and errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3, 16, 100])
def test_defaults_are_good_for_standardised_columns(d):
    model = PositiveRandomFeatures(random_state=0).fit(rows(300, d))  # a warning would be an error
    assert model.predicted_error_ < 0.1
    assert_allclose(optimal_tilt(2 / d), model.tilt_, rtol=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rule", COUPLINGS)
def test_a_hopeless_fit_warns_with_the_width_that_would_do(variant, rule):
    X = rows(100, 8, scale=0.5)
    model = PositiveRandomFeatures("softmax", temperature=1.0, variant=variant, rule=rule, n_components=12)
    with pytest.warns(ApproximationWarning) as caught:
        model.fit(X)
    assert caught[0].filename == __file__
    message = re.fullmatch(
        r"A typical kernel value estimated from 12 positive features has a relative error of ([\d.e+]+) %; 10 % would "
        r"take ([\d,]+) columns\. Use a higher temperature, or the exact kernel\.",
        str(caught[0].message),
    )
    assert float(message[1]) == pytest.approx(100 * model.predicted_error_, rel=1e-2)
    needed = int(message[2].replace(",", ""))
    enough, short = (clone(model).set_params(n_components=m).fit(X) for m in (needed, needed // 2))
    assert 0.099 < enough.predicted_error_ <= 0.1 < short.predicted_error_


def test_beyond_any_width_the_warning_says_so():
    with pytest.warns(
        ApproximationWarning, match=r"error of \S+ %; 10 % takes more than 1,000,000,000 columns\. Use a"
    ):
        PositiveRandomFeatures(sigma=1.0).fit(rows(50, 16))
    with pytest.warns(
        ApproximationWarning, match=r"error of inf %; .* a smaller sigma, or FourierFeatures, or the exact"
    ):
        PositiveRandomFeatures(sigma=10.0, variant="positive").fit(rows(50, 16))


def test_columns_for_is_the_smallest_width():
    for error in (0.5, 0.1, 0.013):
        m = columns_for(error, lambda m: 3.0 / math.sqrt(m))
        assert m == math.ceil((3.0 / error) ** 2 * (1 - 1e-12))
    assert columns_for(0.1, lambda m: 0.0) == 1
    assert columns_for(0.1, lambda m: math.inf) > MOST_COLUMNS


def test_a_fit_that_fails_keeps_what_was_fitted_before():
    X = rows()
    model = PositiveRandomFeatures(random_state=0).fit(X)
    Z = model.transform(X)
    with pytest.raises(ValueError, match="n_components"):
        model.set_params(n_components=0).fit(X[:, :2])
    with pytest.raises(ApproximationWarning):  # here an error, as it is for whoever asks for it
        model.set_params(n_components=1, variant="positive").fit(X[:, :2])
    assert_array_equal(model.transform(X), Z)


NO_MGF = r"{} has no mgf in 3 column\(s\)\. Use FourierFeatures with rule='qmc' instead\."
NOT_NORMAL = r"has no gaussian in 3 column\(s\)\. Use variant='hyperbolic' or variant='positive' instead\."


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"kernel": "rbf"}, ValueError, "kernel must be 'gaussian', 'softmax', or a template or measure .* got 'rbf'"),
        ({"kernel": 3}, TypeError, "kernel must be a name, a template or a measure, got 3"),
        ({"kernel": "matern32"}, CapabilityError, NO_MGF.format(r"Matern\(sigma=.*, nu=1\.5\)")),
        ({"kernel": Matern(0.1, nu=0.5)}, CapabilityError, NO_MGF.format(r"Matern\(sigma=0\.1, nu=0\.5\)")),
        ({"kernel": "band_limited"}, CapabilityError, r"BandLimited\(.*\) " + NOT_NORMAL),
        ({"kernel": Ladder(3)}, CapabilityError, r"Ladder\(.*\) " + NOT_NORMAL),
        ({"kernel": Gaussian(0.1) + Gaussian(0.2)}, CapabilityError, NOT_NORMAL),
        (
            {"kernel": BandLimited(0.1) * Gaussian(0.1), "variant": "positive"}, CapabilityError,
            r"has no polar in 3 column\(s\), which rule='simplex' needs\. Use rule='iid' instead",
        ),
        ({"kernel": Gaussian(0.1), "sigma": 0.1}, ValueError, "has no open sigma for sigma=0.1"),
        ({"kernel": Gaussian([0.1, 0.2])}, ValueError, r"describes 2 column\(s\), but the points have 3"),
        ({"kernel": "softmax", "sigma": 0.1}, ValueError, "'softmax' has a temperature .* sigma=0.1 and mult"),
        ({"kernel": "softmax", "multiplier": 2.0}, ValueError, "sigma='auto' and multiplier=2.0 were given. Leave"),
        ({"temperature": 2.0}, ValueError, "temperature=2.0 is for kernel='softmax', but kernel='gaussian'. Leave"),
        *(
            ({"kernel": "softmax", "temperature": value}, ValueError, "temperature must be None or a positive finite")
            for value in (0, -1.0, math.nan, math.inf, "a", True)
        ),
        *(
            ({"n_components": value}, ValueError, f"n_components must be an integer of at least 1, got {value!r}")
            for value in (0, -1, 2.5, True, "8")
        ),
        ({"variant": "favor"}, ValueError, "variant must be one of 'optimal', 'hyperbolic', 'positive', got 'favor'"),
        ({"variant": None}, ValueError, "variant must be one of .* got None"),
        ({"rule": "qmc"}, ValueError, "rule must be one of 'simplex', 'orthogonal', 'iid', got 'qmc'"),
        ({"rule": RULES["hadamard"]}, ValueError, r"rule must be one of .* got Hadamard\(\)"),
        ({"sigma": -1.0}, ValueError, "sigma must be 'auto' or positive and finite, got -1.0"),
        ({"multiplier": 0.0}, ValueError, "multiplier must be a positive finite number, got 0.0"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)  # fmt: skip
def test_what_is_refused_says_what_to_do(params, error, message):
    model = PositiveRandomFeatures(**params)
    with pytest.raises(error, match=message):
        model.fit(rows())
    with pytest.raises(NotFittedError):
        model.transform(rows())


def test_methods_of_an_unfitted_transformer_and_points_of_another_width():
    model = PositiveRandomFeatures()
    for action in (model.transform, model.log_transform, model.relative_variance, model.get_feature_names_out):
        with pytest.raises(NotFittedError, match=r"This PositiveRandomFeatures instance is not fitted yet"):
            action(rows())
    model.fit(rows())
    for action in (model.transform, model.log_transform, model.relative_variance):
        with pytest.raises(ValueError, match="X has 2 features, but PositiveRandomFeatures is expecting 3 features"):
            action(rows(d=2))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        model.fit(rows(), sample_weight=0.0)
