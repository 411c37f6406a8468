import copy
import math
import pickle
import re
from fractions import Fraction

import joblib
import mpmath
import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralkit import Atomic, FourierFeatures, Gaussian, Matern, SpectralMixture, datasets
from spectralkit.rules import IID, QMC, Orthogonal

CONFIGURATIONS = {
    "default": FourierFeatures(),
    "orthogonal": FourierFeatures("matern32", rule="orthogonal"),
    "odd": FourierFeatures(rule="iid", n_components=7),
    "sum": FourierFeatures(Gaussian() + 0.5 * Matern(nu=0.5), multiplier=2.0, n_components=5),
}
RULES = ["iid", "qmc", "orthogonal"]
SEEDS = 200


def rows(n=12, d=3, seed=0, scale=1.0):
    return np.random.default_rng([seed, n, d]).normal(size=(n, d)) * scale


def features(X, **params):
    return FourierFeatures(**{"random_state": 0, **params}).fit(X).transform(X)


def cosine_variance(measure, tau):
    """Exact variance of mass * cos(2 pi omega . tau) for one frequency drawn from the measure over its mass."""
    mass = measure.mass
    return np.maximum((mass**2 + mass * measure.characteristic(2 * tau)) / 2 - measure.characteristic(tau) ** 2, 0)


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


# -- the lines that must always work -----------------------------------------------------------------------------------

FLOORS = {  # above ridge on every set, and above these
    "load_airfoil": 0.70,
    "load_bike_share": 0.0,
    "load_concrete": 0.74,
    "load_power_plant": 0.0,
    "load_wine_quality": 0.0,
    "load_yacht": 0.74,
}


@pytest.mark.parametrize("name", sorted(FLOORS))
def test_raw_columns_without_an_argument_beat_ridge(name):
    X, y = getattr(datasets, name)(return_X_y=True)
    folds = KFold(5, shuffle=True, random_state=0)
    ours = cross_val_score(make_pipeline(FourierFeatures(random_state=0), Ridge()), X, y, cv=folds).mean()
    ridge = cross_val_score(Ridge(), X, y, cv=folds).mean()
    assert ours > max(ridge, FLOORS[name]), f"R2 {ours:.3f}, ridge {ridge:.3f}"


def test_a_pipeline_without_an_argument_works_on_raw_columns():
    X, y = datasets.load_yacht(return_X_y=True)
    model = make_pipeline(FourierFeatures(), Ridge()).fit(X, y)
    assert model.score(X, y) > Ridge().fit(X, y).score(X, y)


def test_a_grid_search_over_sigma_behind_a_scaler_works():
    X, y = datasets.load_concrete(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), FourierFeatures(), Ridge()), {"fourierfeatures__sigma": [0.03, 0.1, 0.3]}
    )
    search.set_params(cv=KFold(5, shuffle=True, random_state=0), estimator__fourierfeatures__random_state=0).fit(X, y)
    assert search.best_params_["fourierfeatures__sigma"] in (0.03, 0.1)
    assert search.best_score_ > cross_val_score(Ridge(), X, y, cv=search.cv).mean()


# -- inner products are the kernel -------------------------------------------------------------------------------------

MEASURES = {
    "gaussian": Gaussian(0.16),
    "per column": Gaussian([0.1, 0.2, 0.3]),
    "matern12": Matern(0.1, nu=0.5),
    "scaled sum": 3.0 * (Gaussian(0.2) + 0.5 * Matern(0.1, nu=2.5)),
    "mixture": SpectralMixture([0.5, 1.0], [[0.3, -0.2, 0.1], [0.4, 0.7, 0.0]], [[0.1, 0.2, 0.1], [0.3, 0.05, 0.1]]),
    "tensor product": Gaussian(0.2).on([0, 2]) * Matern(0.2, nu=1.5).on([1]),
    "additive": Gaussian(0.2).on([0]) + Gaussian(0.2).on([1]) + Gaussian(0.2).on([2]),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_inner_products_are_the_kernel_on_average_and_each_time(measure, rule):
    """Each draw: RMS over pairs below six standard errors. The mean of many: every pair below six."""
    X, width, n_draws = rows(10), 512, 40
    K = measure.gram(X)
    variance = cosine_variance(measure, X[:, None] - X[None]) / (width // 2)
    total = np.zeros_like(K)
    for seed in range(n_draws):
        Z = features(X, spectrum=measure, n_components=width, rule=rule, random_state=seed)
        error = Z @ Z.T - K
        assert math.sqrt((error**2).mean()) <= 6 * math.sqrt(variance.mean())
        total += error
    allowed = 6 * np.sqrt(variance / n_draws) + 1e-12 * measure.mass
    assert (np.abs(total / n_draws) <= allowed).all()
    if measure is MEASURES["gaussian"]:  # the tolerance sees a scale that is wrong by a tenth
        assert (np.abs(K - Gaussian(1.1 * measure.sigma).gram(X)) > 1.5 * allowed).any()


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_independent_draws_have_exactly_the_variance_of_the_formula(measure):
    """Squared errors summed over pairs are nearly a quadratic form of normals: relative deviation at most sqrt(2)."""
    X, width = rows(10), 64
    K = measure.gram(X)
    variance = cosine_variance(measure, X[:, None] - X[None]) / (width // 2)
    squares = np.empty(SEEDS)
    for seed in range(SEEDS):
        Z = features(X, spectrum=measure, n_components=width, rule="iid", random_state=seed)
        squares[seed] = ((Z @ Z.T - K) ** 2).mean()
    assert abs(squares.mean() / variance.mean() - 1) <= 6 * math.sqrt(2 / SEEDS)


@pytest.mark.parametrize("rule", [*RULES, "auto"])
@pytest.mark.parametrize("width", [2, 4, 50, 256])
@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_even_widths_have_an_exact_diagonal(measure, width, rule):
    Z = features(rows(), spectrum=measure, n_components=width, rule=rule)
    assert Z.shape == (12, width)
    assert_allclose((Z**2).sum(axis=1), measure.mass, rtol=1e-12, atol=0)


@pytest.mark.long
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("width", [1, 3, 7])
def test_odd_widths_are_unbiased(width, rule):
    """p pairs and one cosine: variance (2M/w)^2 p V + (M/w)^2 (V + 1/2), with V that of one cosine."""
    measure = MEASURES["scaled sum"]
    X, mass, pairs, n_draws = rows(8), measure.mass, width // 2, 1000
    cosine = cosine_variance(measure, X[:, None] - X[None])
    variance = (pairs * 4 * cosine + cosine + mass**2 / 2) / width**2
    total = np.zeros((8, 8))
    for seed in range(n_draws):
        Z = features(X, spectrum=measure, n_components=width, rule=rule, random_state=seed)
        total += Z @ Z.T
        lengths = (Z**2).sum(axis=1)
        assert (lengths >= 2 * mass * pairs / width * (1 - 1e-12)).all()
        assert (lengths <= 2 * mass * (pairs + 1) / width * (1 + 1e-12)).all()
    assert (np.abs(total / n_draws - measure.gram(X)) <= 6 * np.sqrt(variance / n_draws)).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("width", [1, 2, 3, 64, 255])
def test_every_column_has_the_amplitude_that_the_docstring_says(width, rule):
    measure = MEASURES["scaled sum"]
    Z = features(rows(4000, scale=5.0), spectrum=measure, n_components=width, rule=rule)
    amplitude = math.sqrt(2 * measure.mass / width)
    assert np.abs(Z).max() <= amplitude * (1 + 1e-12)
    assert (np.abs(Z).max(axis=0) > 0.98 * amplitude).all()  # 4000 turns leave no arc of 0.2 rad empty on both sides


def test_a_single_column_is_one_cosine():
    X = rows(5, 2)
    estimator = FourierFeatures(Gaussian(0.3), n_components=1, random_state=3).fit(X)
    assert estimator.frequencies_.shape == (1, 2)
    turns = X @ estimator.frequencies_[0] + estimator.nodes_.phase
    assert_allclose(estimator.transform(X), math.sqrt(2) * np.cos(2 * math.pi * turns)[:, None], rtol=0, atol=1e-13)


def test_256_columns_unless_told_otherwise():
    assert features(rows()).shape == (12, 256)
    assert features(rows(), rule="iid").shape == (12, 256)


# -- sigma="auto" ------------------------------------------------------------------------------------------------------


def closed_form(X, weights=None):
    """1 / (2 pi sqrt(d) sd_j) in exact rational arithmetic until the square root."""
    n, d = X.shape
    weights = [1] * n if weights is None else [Fraction(float(w)) for w in weights]
    out = []
    for column in X.T:
        values = [Fraction(float(x)) for x in column]
        mean = sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)
        variance = sum(w * (x - mean) ** 2 for w, x in zip(weights, values, strict=True)) / sum(weights)
        sd = mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator) if variance else 1
        out.append(float(1 / (2 * mpmath.pi * mpmath.sqrt(d) * sd)))
    return np.array(out)


@pytest.mark.parametrize(
    "X",
    [
        rows(30, 1),
        rows(30, 4) * [1e-3, 1.0, 50.0, 1e4],
        rows(40, 2).astype(np.float32),
        np.rint(rows(40, 2) * 100).astype(int),
        rows(20, 2) + np.array([0.0, 1e6]),
        np.column_stack([rows(20, 1), np.full(20, 0.1)]),
        np.full((1000, 2), [0.1, 1e6 + 0.1]),
        np.full((1000, 1), 0.1, dtype=np.float32),
        np.zeros((5, 3)),
        rows(1, 3),
        np.column_stack([np.tile([1e6, 1e6 + 2.0**-20], 50), rows(100, 1)]),  # a real spread of 5e-7 beside 1e6
    ],
    ids=[
        "one column", "units", "float32", "int", "offset", "constant column", "all constant", "constant float32",
        "zeros", "one row", "tiny spread",
    ],
)  # fmt: skip
def test_auto_is_the_closed_form_of_each_column(X):
    estimator = FourierFeatures().fit(X)
    assert isinstance(estimator.sigma_, np.ndarray)
    assert_allclose(estimator.sigma_, closed_form(X), rtol=1e-9 if X.max() >= 1e6 else 1e-12, atol=0)
    assert np.isfinite(estimator.transform(X)).all()


def test_weights_are_repetitions():
    X, repeats = rows(20), np.random.default_rng(0).integers(0, 4, size=20)
    weighted = FourierFeatures(random_state=0).fit(X, sample_weight=repeats)
    repeated = FourierFeatures(random_state=0).fit(np.repeat(X, repeats, axis=0))
    assert_allclose(weighted.sigma_, repeated.sigma_, rtol=1e-12, atol=0)
    assert_allclose(weighted.sigma_, closed_form(X, repeats), rtol=1e-12, atol=0)
    assert_allclose(weighted.transform(X), repeated.transform(X), rtol=0, atol=1e-12)
    scaled = FourierFeatures(random_state=0).fit(X, sample_weight=0.37 * repeats)
    assert_allclose(scaled.sigma_, weighted.sigma_, rtol=1e-12, atol=0)
    assert_allclose(FourierFeatures().fit(X, sample_weight=2.0).sigma_, closed_form(X), rtol=1e-12, atol=0)


def test_ten_times_the_unit_is_a_tenth_of_sigma_and_the_same_features():
    X = rows(20)
    sigma = FourierFeatures().fit(X).sigma_
    assert_allclose(FourierFeatures().fit(10 * X).sigma_, sigma / 10, rtol=1e-13, atol=0)
    assert_allclose(features(10 * X), features(X), rtol=0, atol=1e-12)
    assert_array_equal(FourierFeatures().fit(1024 * X).sigma_, sigma / 1024)


def test_an_offset_changes_nothing():
    """gamma="scale" of scikit-learn moves from 0.331 to 1.5e-6 here: it takes the variance over all columns at once."""
    X = rows(200)
    moved = X.copy()
    moved[:, 2] += 1000
    before, after = (FourierFeatures(random_state=0).fit(data) for data in (X, moved))
    assert_allclose(after.sigma_, before.sigma_, rtol=1e-12, atol=0)  # 1000 eps is 2e-13
    K, moved_K = (Z @ Z.T for Z in (before.transform(X), after.transform(moved)))
    assert_allclose(moved_K, K, rtol=0, atol=1e-9)  # 1000 omega turns are known to 1000 omega eps


# -- sigma and multiplier ----------------------------------------------------------------------------------------------


def test_multiplier_multiplies_the_automatic_and_the_given_sigma():
    X = rows(20)
    automatic = closed_form(X)
    assert_allclose(FourierFeatures(multiplier=3).fit(X).sigma_, 3 * automatic, rtol=1e-12, atol=0)
    assert FourierFeatures(sigma=0.5, multiplier=3.0).fit(X).sigma_ == 1.5
    assert_array_equal(FourierFeatures(sigma=[1, 2, 3], multiplier=0.5).fit(X).sigma_, [0.5, 1.0, 1.5])
    assert FourierFeatures("matern52", sigma=0.25).fit(X).spectrum_ == Matern(0.25, nu=2.5)
    assert_array_equal(features(X, sigma=0.5), features(X, spectrum=Gaussian(0.5)))


def test_a_product_of_groups_has_the_scale_of_its_union():
    X = rows(20)
    group_by_group = FourierFeatures(Gaussian().on([0]) * Gaussian().on([2, 1])).fit(X)
    assert_allclose(group_by_group.spectrum_.gram(X), FourierFeatures().fit(X).spectrum_.gram(X), rtol=0, atol=1e-13)
    per_column = FourierFeatures(Gaussian().on([2]) * Matern(nu=0.5).on([1, 0]), sigma=[1, 2, 3], multiplier=10).fit(X)
    assert per_column.spectrum_ == Gaussian([30.0]).on([2]) * Matern([20.0, 10.0], nu=0.5).on([1, 0])


def test_the_terms_of_a_sum_have_scales_of_their_own():
    X = rows(20)
    automatic = closed_form(X) * math.sqrt(3)  # each term sees one column, so no sqrt(d)
    terms = FourierFeatures(Gaussian().on([0]) + Gaussian().on([2]), multiplier=2.0).fit(X).spectrum_.parts
    assert_allclose([float(term.part.sigma[0]) for term in terms], 2 * automatic[[0, 2]], rtol=1e-12, atol=0)
    mixed = (Gaussian().on([0]) + Gaussian().on([1])) * Gaussian().on([2])
    resolved = FourierFeatures(mixed).fit(X).spectrum_
    scales = [resolved.get_params()[name] for name in ("0__0__sigma", "0__1__sigma", "1__sigma")]
    # the factor of column 2 joins columns 0 and 1; the terms of the sum join column 2 each
    joined = [2, 2, 3]
    assert_allclose(np.ravel(scales), automatic / np.sqrt(joined), rtol=1e-12, atol=0)


def test_given_scales_inside_a_template_are_kept():
    X = rows(20)
    resolved = FourierFeatures(Gaussian(0.3).on([0]) * Matern(nu=0.5).on([1, 2]), sigma=0.7).fit(X).spectrum_
    assert resolved == Gaussian(0.3).on([0]) * Matern(0.7, nu=0.5).on([1, 2])
    automatic = FourierFeatures(Gaussian(0.3).on([0]) * Matern(nu=0.5).on([1, 2])).fit(X).spectrum_
    assert automatic.parts[0] == Gaussian(0.3).on([0])
    assert_allclose(automatic.parts[1].part.sigma, closed_form(X)[1:], rtol=1e-12, atol=0)


@pytest.mark.parametrize("given", [{"sigma": 0.1}, {"multiplier": 2.0}, {"sigma": [0.1, 0.1, 0.1]}])
@pytest.mark.parametrize("measure", [Gaussian(0.2), MEASURES["scaled sum"], Atomic([[1.0, 0.0, 0.0]])], ids=repr)
def test_a_scale_beside_a_measure_that_has_one_is_refused(measure, given):
    with pytest.raises(ValueError, match=r"has no open sigma for sigma=.* and multiplier=.* to fill\. Leave them"):
        FourierFeatures(measure, **given).fit(rows())


# -- frequencies: nesting, seeds ---------------------------------------------------------------------------------------


def test_a_mixture_is_read_off_the_spectrum_of_y():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 40, size=(400, 1))
    y = 2 * np.cos(2 * np.pi * 1.3 * X[:, 0]) + np.sin(2 * np.pi * 0.45 * X[:, 0]) + 0.1 * rng.normal(size=400)
    later = np.linspace(45, 50, 101)[:, None]
    truth = 2 * np.cos(2 * np.pi * 1.3 * later[:, 0]) + np.sin(2 * np.pi * 0.45 * later[:, 0])
    features = FourierFeatures(SpectralMixture(n_mixtures=2), n_components=32, random_state=0)
    model = make_pipeline(features, Ridge(1e-3)).fit(X, y)
    assert_allclose(model[0].spectrum_.means[:, 0], [1.3, 0.45], atol=2e-3)  # of a cycle in 40: errors of 1e-4 or so
    assert np.sqrt(np.mean((model.predict(later) - truth) ** 2)) < 0.5  # five units beyond the data
    grid = {"fourierfeatures__spectrum__n_mixtures": [1, 2]}
    search = GridSearchCV(make_pipeline(features, Ridge(1e-3)), grid).fit(X, y)
    assert search.best_params_ == {"fourierfeatures__spectrum__n_mixtures": 2}
    with pytest.raises(ValueError, match=r"there is no y. Give the targets, or the weights"):
        features.fit(X)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_frequencies_nest_in_n_components(measure, rule):
    X = rows()
    wide = FourierFeatures(measure, n_components=256, rule=rule, random_state=5).fit(X).frequencies_
    for width in (1, 2, 3, 6, 8, 63, 64):
        narrow = FourierFeatures(measure, n_components=width, rule=rule, random_state=5).fit(X).frequencies_
        assert len(narrow) == (width + 1) // 2
        # blocks of the orthogonal rule may differ in rounding between LAPACK calls of different sizes
        assert_allclose(narrow, wide[: len(narrow)], rtol=1e-12 if rule == "orthogonal" else 0, atol=1e-14)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("spectrum", ["gaussian", "matern12", Gaussian().on([0]) + Matern(nu=1.5).on([1, 2])], ids=str)
def test_twice_the_scale_is_exactly_twice_the_frequencies(spectrum, rule):
    X = rows()
    once = FourierFeatures(spectrum, n_components=33, rule=rule, sigma=0.3, random_state=1).fit(X)
    twice = FourierFeatures(spectrum, n_components=33, rule=rule, sigma=0.6, random_state=1).fit(X)
    multiplied = clone(once).set_params(multiplier=2.0).fit(X)
    assert_array_equal(twice.frequencies_, 2 * once.frequencies_)
    assert_array_equal(multiplied.frequencies_, 2 * once.frequencies_)
    assert_array_equal(twice.weights_, once.weights_)
    assert twice.nodes_.phase == once.nodes_.phase


@pytest.mark.parametrize("rule", RULES)
def test_seeds(rule):
    X = rows()
    estimator = FourierFeatures(rule=rule, n_components=9, random_state=7)
    first = estimator.fit(X).transform(X)
    assert_array_equal(clone(estimator).fit(X).transform(X), first)
    assert_array_equal(estimator.fit(X).transform(X), first)
    other = clone(estimator).set_params(random_state=8).fit(X)
    assert not np.isclose(other.frequencies_, estimator.frequencies_).any()
    assert other.nodes_.phase != estimator.nodes_.phase
    state = np.random.RandomState(7)
    shared = FourierFeatures(rule=rule, n_components=9, random_state=state)
    assert_array_equal(shared.fit(X).transform(X), first)
    assert not np.array_equal(shared.fit(X).frequencies_, estimator.frequencies_)  # the state has moved on


def test_fitting_leaves_the_global_generator_alone():
    np.random.seed(0)  # noqa: NPY002 - the global state is what this is about
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    features(rows(), random_state=0)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


# -- nothing that was given is changed ---------------------------------------------------------------------------------


def test_inputs_and_arguments_are_left_alone():
    def frozen(values):
        array = np.array(values)
        array.flags.writeable = False
        return array

    arrays = {"X": rows(), "weight": np.ones(12), "sigma": [0.1, 0.2, 0.3], "own": [0.3, 0.2, 0.1]}
    arrays = {name: frozen(values) for name, values in arrays.items()}
    before = copy.deepcopy(arrays)
    template = Gaussian()
    for estimator in (
        FourierFeatures(template, sigma=arrays["sigma"], random_state=0),
        FourierFeatures(Gaussian(arrays["own"]), random_state=0),
        FourierFeatures(Atomic(arrays["X"], arrays["weight"]), random_state=0),
    ):
        params = estimator.get_params(deep=False)
        estimator.fit(arrays["X"], sample_weight=arrays["weight"]).transform(arrays["X"])
        assert all(estimator.get_params(deep=False)[name] is value for name, value in params.items())
    assert template.is_template()
    for name, values in before.items():
        assert_array_equal(arrays[name], values)


def test_what_fit_stores_does_not_follow_the_arrays_of_the_caller():
    X, sigma = rows(), np.array([0.1, 0.2, 0.3])
    estimator = FourierFeatures(sigma=sigma, random_state=0).fit(X)
    Z = estimator.transform(rows())
    X[:] = 0
    sigma[:] = 1
    assert_array_equal(estimator.sigma_, [0.1, 0.2, 0.3])
    assert_array_equal(estimator.transform(rows()), Z)


def test_set_params_replaces_the_measure_and_leaves_the_template_of_the_caller():
    template = Matern(nu=0.5) + Gaussian()
    estimator = FourierFeatures(template)
    assert estimator.set_params(spectrum__0__nu=2.5, spectrum__1__sigma=0.2, n_components=4) is estimator
    assert estimator.spectrum == Matern(nu=2.5) + Gaussian(0.2)
    assert estimator.n_components == 4
    assert template == Matern(nu=0.5) + Gaussian()
    assert FourierFeatures("matern12").set_params(spectrum__nu=1.5).spectrum == Matern(nu=1.5)
    both = FourierFeatures().set_params(spectrum="matern12", spectrum__sigma=0.3)
    assert both.spectrum == Matern(0.3, nu=0.5)


@pytest.mark.parametrize(
    "spectrum",
    [
        "gaussian",
        Matern(nu=0.5),
        Gaussian() + 2.0 * Matern(nu=0.5).on([1]),
        2.0 * Gaussian(0.1).on([0]),
        (2.0 * Gaussian(0.1)).on([0]) * MEASURES["mixture"],
        Atomic([[1.0, 0.0, 0.0]]),
    ],
    ids=str,
)
def test_set_params_of_get_params_changes_nothing(spectrum):
    estimator = FourierFeatures(spectrum, n_components=8)
    params = estimator.get_params()
    assert estimator.set_params(**params).get_params() == params
    assert estimator.spectrum == spectrum


@pytest.mark.parametrize(
    "params",
    [
        {"bogus": 1},
        {"spectrum__bogus": 1},
        {"n_components": 3, "bogus": 1},
        {"spectrum__nu": 2.5, "bogus": 1},
        {"sigma": 3.0, "spectrum__nu": -1.0},
        {"sigma": 3.0, "spectrum__bogus": 1},
        {"spectrum": "no such name", "spectrum__nu": 1.5},
    ],
    ids=str,
)
def test_set_params_that_fails_changes_nothing(params):
    estimator = FourierFeatures(Matern(nu=0.5), n_components=8)
    before = estimator.get_params()
    with pytest.raises(ValueError, match=r"bogus|half-integer|not a known name"):
        estimator.set_params(**params)
    assert estimator.get_params() == before


def test_a_fit_that_fails_keeps_what_was_fitted_before():
    X = rows()
    estimator = FourierFeatures(random_state=0).fit(X)
    Z = estimator.transform(X)
    with pytest.raises(ValueError, match="n_components"):
        estimator.set_params(n_components=0).fit(X[:, :2])
    assert estimator.n_features_in_ == 3
    assert_array_equal(estimator.transform(X), Z)


# -- model selection ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spectrum", "name", "values"),
    [
        (Matern(), "spectrum__nu", [0.5, 1.5, 2.5]),
        ("matern32", "spectrum__nu", [0.5, 2.5]),
        (Gaussian() + Matern(nu=0.5), "spectrum__1__nu", [0.5, 1.5]),
        (Gaussian() + 0.5 * Matern(nu=0.5), "spectrum__1__factor", [0.1, 1.0]),
        ("gaussian", "spectrum", ["gaussian", Matern(nu=0.5)]),
        ("gaussian", "multiplier", [0.5, 1.0]),
        ("gaussian", "rule", ["iid", QMC()]),
    ],
    ids=str,
)
def test_grid_search(spectrum, name, values):
    X, y = datasets.load_yacht(return_X_y=True)
    ours = FourierFeatures(spectrum, n_components=32, random_state=0)
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(make_pipeline(ours, Ridge()), {f"fourierfeatures__{name}": values}, cv=folds).fit(X, y)
    by_hand = [
        cross_val_score(make_pipeline(clone(ours).set_params(**{name: v}), Ridge()), X, y, cv=folds) for v in values
    ]
    assert_allclose(search.cv_results_["mean_test_score"], [scores.mean() for scores in by_hand], rtol=1e-10)
    assert np.ptp(search.cv_results_["mean_test_score"]) > 1e-6  # the values do reach the features
    assert ours.get_params()["spectrum"] is spectrum


# -- rounding ----------------------------------------------------------------------------------------------------------


def exact_features(estimator, X):
    """Cosines and sines from turns in exact rational arithmetic."""
    omega = [[Fraction(float(w)) for w in row] for row in estimator.frequencies_]
    points = [[Fraction(float(x)) for x in row] for row in X]
    turns = [[float(sum(w * x for w, x in zip(f, p, strict=True)) % 1) for f in omega] for p in points]
    phases = 2 * math.pi * np.array(turns)
    amplitudes = np.sqrt(estimator.weights_)
    return np.hstack([amplitudes * np.cos(phases), amplitudes * np.sin(phases)])


BINARY = np.arange(0, 4, 1 / 16)[:, None]  # float32 holds these, and these plus 10**6, exactly


@pytest.mark.parametrize(("fitted_at", "used_at"), [(0, 0), (1e6, 1e6), (0, 1e6), (1e6, 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_phases_are_exact_far_from_the_origin(fitted_at, used_at, dtype):
    """float32 at 10**6, relative to the amplitude: RBFSampler is wrong by 0.67 there."""
    X = (BINARY + used_at).astype(dtype)
    estimator = FourierFeatures(Gaussian.from_lengthscale(0.5), n_components=100, random_state=0)
    Z = estimator.fit((BINARY + fitted_at).astype(dtype)).transform(X)
    assert Z.dtype == dtype
    error = np.abs(Z - exact_features(estimator, X)).max() / math.sqrt(2 / 100)
    largest_turn = np.abs(estimator.frequencies_).max() * (fitted_at + used_at + 4)
    assert error <= (1e-4 if dtype is np.float32 else 2 * math.pi * 4 * np.finfo(float).eps * largest_turn)


@pytest.mark.parametrize("kind", ["float16", "int", "list", "bool", "object", "DataFrame", "fortran"])
def test_other_inputs_are_their_float64_values(kind):
    X = np.rint(rows() * 4) / 4
    X = {"int": np.rint(X), "bool": X > 0}.get(kind, X)
    given = {
        "float16": lambda: X.astype(np.float16),
        "int": lambda: X.astype(int),
        "list": X.tolist,
        "bool": lambda: X.astype(bool),
        "object": lambda: X.astype(object),
        "DataFrame": lambda: pd.DataFrame(X, columns=list("abc")),
        "fortran": lambda: np.asfortranarray(X),
    }[kind]()
    Z = features(given)
    assert Z.dtype == np.float64
    assert_allclose(Z, features(X.astype(float)), rtol=0, atol=1e-12)


def test_float32_is_kept_and_close_to_float64():
    X = rows(50, 5).astype(np.float32)
    Z32, Z64 = features(X), features(X.astype(float))
    assert (Z32.dtype, Z64.dtype) == (np.float32, np.float64)
    # phases of a few turns in float32: 2 pi * turns * eps, amplitude sqrt(2 / 256)
    assert np.abs(Z32 - Z64).max() <= math.sqrt(2 / 256) * 1e-5


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-6)])
@pytest.mark.parametrize("width", [1, 7, 256])
def test_a_row_does_not_depend_on_its_batch(dtype, tolerance, width):
    X = rows(64, 5, scale=3.0).astype(dtype)
    estimator = FourierFeatures(n_components=width, random_state=0).fit(X)
    Z = estimator.transform(X)
    order = np.random.default_rng(0).permutation(64)
    one_by_one = np.concatenate([estimator.transform(row[None]) for row in X])
    for got, expected in (
        (one_by_one, Z),
        (estimator.transform(X[:17]), Z[:17]),
        (estimator.transform(X[order]), Z[order]),
    ):
        assert_allclose(got, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-6)])
@pytest.mark.parametrize("width", [1, 7, 256])
def test_nor_does_a_row_hundreds_of_turns_away(dtype, tolerance, width):
    X = rows(64, 5).astype(dtype)
    estimator = FourierFeatures(n_components=width, random_state=0).fit(X)
    far = 300 * X
    one_by_one = np.concatenate([estimator.transform(row[None]) for row in far])
    assert_allclose(estimator.transform(far), one_by_one, rtol=0, atol=tolerance)


# -- atoms -------------------------------------------------------------------------------------------------------------

ATOMS = Atomic([[0.3, 0.1], [1.0, -0.4], [0.0, 0.7], [0.2, 0.2]], weights=[0.2, 1.0, 0.5, 0.3])


@pytest.mark.parametrize("n_components", [None, 8, 9, 1000])
@pytest.mark.parametrize("rule", ["auto", "atoms"])
def test_all_atoms_are_the_kernel_exactly(n_components, rule):
    X = rows(9, 2)
    Z = features(X, spectrum=ATOMS, n_components=n_components, rule=rule)
    assert Z.shape == (9, 8)
    assert_allclose(Z @ Z.T, ATOMS.gram(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("n_components", "kept"), [(2, [1]), (4, [1, 2]), (6, [1, 2, 3])])
def test_fewer_columns_keep_the_heaviest_atoms(n_components, kept):
    X = rows(9, 2)
    estimator = FourierFeatures(ATOMS, n_components=n_components).fit(X)
    assert_array_equal(estimator.frequencies_, np.array(ATOMS.frequencies)[kept])
    assert_array_equal(estimator.weights_, np.array(ATOMS.weights)[kept])
    Z = estimator.transform(X)
    remaining = Atomic(np.array(ATOMS.frequencies)[kept], np.array(ATOMS.weights)[kept])
    assert_allclose(Z @ Z.T, remaining.gram(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_components", [1, 3, 7])
def test_an_odd_width_gives_the_last_atom_one_unbiased_column(n_components):
    X, n_draws, order = rows(6, 2), 1000, [1, 2, 3, 0]
    kept = order[: (n_components + 1) // 2]
    target = Atomic(np.array(ATOMS.frequencies)[kept], np.array(ATOMS.weights)[kept]).gram(X)
    total = np.zeros((6, 6))
    for seed in range(n_draws):
        Z = features(X, spectrum=ATOMS, n_components=n_components, random_state=seed)
        assert Z.shape == (6, n_components)
        total += Z @ Z.T
    # only the last column is random: w cos(phases of both points + 4 pi phase), of variance w^2 / 2
    allowed = 6 * ATOMS.weights[kept[-1]] / math.sqrt(2 * n_draws)
    assert np.abs(total / n_draws - target).max() <= allowed


# -- persistence and display -------------------------------------------------------------------------------------------

SPECTRA = ["gaussian", Matern(nu=2.5), 2.0 * Gaussian() + Matern(nu=0.5).on([1]), MEASURES["mixture"], ATOMS.on([0, 2])]


@pytest.mark.parametrize("spectrum", SPECTRA, ids=str)
@pytest.mark.parametrize("rule", ["auto", Orthogonal(), IID()], ids=str)
def test_a_fitted_transformer_survives_pickle_joblib_and_skops(spectrum, rule, tmp_path):
    sio = pytest.importorskip("skops.io")
    X = rows()
    estimator = FourierFeatures(spectrum, rule=rule, n_components=7, random_state=0).fit(X)
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
        assert copied.spectrum_ == estimator.spectrum_
        assert copied.get_params()["rule"] == rule


@pytest.mark.parametrize("spectrum", SPECTRA, ids=str)
def test_the_html_display_works_before_and_after_fitting(spectrum):
    estimator = FourierFeatures(spectrum, n_components=6)
    assert "FourierFeatures" in estimator._repr_html_()
    html = estimator.fit(rows())._repr_html_()
    assert "FourierFeatures" in html
    if int(sklearn.__version__.split(".")[1]) >= 9:  # since 1.9 every property is evaluated and shown
        assert "frequencies_" in html
        assert "spectrum_" in html
    assert repr(estimator).startswith("FourierFeatures(")


def test_sigma_is_there_only_where_the_measure_has_one():
    X = rows()
    assert not hasattr(FourierFeatures(), "sigma_")
    assert not hasattr(FourierFeatures(), "frequencies_")
    assert FourierFeatures(Gaussian(0.2)).fit(X).sigma_ == 0.2
    for measure in (Gaussian() + Matern(nu=0.5), MEASURES["mixture"], ATOMS.on([0, 1])):
        fitted = FourierFeatures(measure).fit(X)
        assert not hasattr(fitted, "sigma_")
        with pytest.raises(AttributeError):
            fitted.sigma_  # noqa: B018 - the access is what is tested
        assert not fitted.spectrum_.is_template()


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_components", "short"),
    [(1, ["cos0"]), (2, ["cos0", "sin0"]), (5, ["cos0", "cos1", "sin0", "sin1", "cos2"])],
)
def test_feature_names_say_what_the_columns_are(n_components, short):
    X = rows()
    estimator = FourierFeatures(Gaussian(0.3), n_components=n_components, random_state=0).fit(X)
    assert estimator.get_feature_names_out().tolist() == [f"fourierfeatures_{name}" for name in short]
    frame = estimator.set_output(transform="pandas").fit(X).transform(X)
    for name, column in zip(short, frame, strict=True):
        kind, j = getattr(np, name[:3]), int(name[3:])
        paired = 2 * j + 1 < n_components
        turns = X @ estimator.frequencies_[j] + (0 if paired else estimator.nodes_.phase)
        assert_allclose(frame[column], math.sqrt(2 / n_components) * kind(2 * math.pi * turns), rtol=0, atol=1e-12)


def test_feature_names_check_the_input_names():
    frame = pd.DataFrame(rows(), columns=list("abc"))
    estimator = FourierFeatures(n_components=2).fit(frame)
    assert_array_equal(estimator.feature_names_in_, list("abc"))
    assert len(estimator.get_feature_names_out(list("abc"))) == 2
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        estimator.get_feature_names_out(list("acb"))
    with pytest.raises(ValueError, match=r"should have length .*3.*, got 2"):
        estimator.get_feature_names_out(["a", "b"])


def test_a_pipeline_with_names_and_frames():
    frame = pd.DataFrame(rows(30), columns=list("abc"))
    model = make_pipeline(StandardScaler(), FourierFeatures(n_components=4, random_state=0), LinearRegression())
    model.set_output(transform="pandas").fit(frame, frame["a"])
    expected = [f"fourierfeatures_{name}" for name in ("cos0", "cos1", "sin0", "sin1")]
    assert model[-1].feature_names_in_.tolist() == expected


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), r"one value per row of X, shape \(12,\), got shape \(3,\)"),
        (np.ones((12, 1)), r"one value per row of X, shape \(12,\), got shape \(12, 1\)"),
        (-np.ones(12), "must not be negative, but its smallest value is -1.0"),
        (np.zeros(12), "zero for every row"),
        (0.0, "zero for every row"),
        (np.full(12, np.nan), "sample_weight contains NaN"),
        (np.full(12, np.inf), "sample_weight contains infinity"),
        (float("nan"), "sample_weight contains NaN"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        FourierFeatures().fit(rows(), sample_weight=weight)


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_have_the_features_of_dense_ones(layout, dtype):
    dense = (rows(40, 6) * (np.random.default_rng(1).random((40, 6)) < 0.3)).astype(dtype)
    dense[:, 4] = 0.0  # a column that is not there counts as constant
    weight = np.random.default_rng(2).uniform(0.0, 2.0, size=40)
    for sample_weight in (None, weight):
        ours = FourierFeatures(random_state=0).fit(layout(dense), sample_weight=sample_weight)
        expected = FourierFeatures(random_state=0).fit(dense, sample_weight=sample_weight)
        assert_allclose(ours.sigma_, expected.sigma_, rtol=1e-12)
        Z = ours.transform(layout(dense))
        assert isinstance(Z, np.ndarray)
        assert Z.dtype == dtype
        assert_allclose(Z, expected.transform(dense), rtol=0, atol=1e-13 if dtype is np.float64 else 1e-6)


def test_a_sparse_row_of_many_columns_is_never_made_dense():
    import tracemalloc

    d = 50_000
    X = sparse.random_array((200, d), density=1e-4, rng=np.random.default_rng(0), format="csr")
    model = FourierFeatures(Gaussian(0.1), rule="iid", n_components=16, random_state=0).fit(X)
    tracemalloc.start()
    model.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.3 * 200 * d * 8


BAD = {
    "nan": (np.full((4, 3), np.nan), "X contains NaN"),
    "inf": (np.full((4, 3), np.inf), "X contains infinity"),
    "one-dimensional": (np.ones(3), r"Expected 2D array, got 1D array.*Reshape your data"),
    "three-dimensional": (np.ones((2, 3, 3)), r"dim 3"),
    "no rows": (np.ones((0, 3)), r"0 sample\(s\)"),
    "no columns": (np.ones((4, 0)), r"0 feature\(s\)"),
    "text": (np.array([["a", "b", "c"]]), "could not convert string"),
    "complex": (np.ones((4, 3)) * 1j, "Complex data not supported"),
}


@pytest.mark.parametrize(("X", "message"), BAD.values(), ids=BAD)
def test_bad_points_are_refused_in_fit_and_transform(X, message):
    for action in (FourierFeatures().fit, FourierFeatures().fit(rows()).transform):
        with pytest.raises(ValueError, match=re.compile(message, re.DOTALL)):
            action(X)


def test_another_width_and_an_unfitted_transformer_are_refused():
    with pytest.raises(ValueError, match="X has 2 features, but FourierFeatures is expecting 3 features"):
        FourierFeatures().fit(rows()).transform(rows(d=2))
    for action in (lambda: FourierFeatures().transform(rows()), FourierFeatures().get_feature_names_out):
        with pytest.raises(NotFittedError, match=r"This FourierFeatures instance is not fitted yet\. Call 'fit'"):
            action()
    with pytest.raises(ValueError, match=r"describes 2 column\(s\), but the points have 3"):
        FourierFeatures(Gaussian([0.1, 0.2])).fit(rows())
