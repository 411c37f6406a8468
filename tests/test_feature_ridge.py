import copy
import math
import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import null_space
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, ShuffleSplit, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralkit import FeatureRidge, FourierFeatures
from spectralkit.datasets import load_airfoil, load_concrete, load_yacht
from spectralkit.posterior import RidgePath
from spectralkit.ridge import _candidates

ROOT = Path(__file__).parent.parent
FIXED = FourierFeatures(sigma=0.1, n_components=64, random_state=0)  # their fit reads no data
FEW = FourierFeatures(sigma=0.1, n_components=16, random_state=0)
AUTO = {
    "default": None,
    "behind a scaler": make_pipeline(StandardScaler(), FourierFeatures(n_components=40, random_state=0)),
    "behind a range": make_pipeline(MinMaxScaler(), FourierFeatures(n_components=40, random_state=0)),
}
CRITERIA = ["gcv", "evidence", "loo"]


def draw(n=150, t=None, d=3, seed=0, noise=0.3):
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d)) * np.geomspace(1, 3, d) + 1
    shape = (d,) if t is None else (d, t)
    y = np.sin(X @ rng.normal(size=shape)) * (1 if t is None else np.geomspace(1, 50, t)) + 2
    return X, y + noise * y.std(axis=0) * rng.normal(size=y.shape)


def assert_same(model, other, X, rtol=1e-10):
    """Equal choices, and predictions, coefficients and noise up to rounding."""
    assert (model.alpha_, model.multiplier_) == (other.alpha_, other.multiplier_)
    expected = other.predict(X)
    scale = np.abs(expected).max()
    assert_allclose(model.predict(X), expected, rtol=0, atol=rtol * scale)
    assert_allclose(model.coef_, other.coef_, rtol=0, atol=100 * rtol * np.abs(other.coef_).max())
    assert_allclose(model.noise_std_, other.noise_std_, rtol=100 * rtol, atol=rtol * scale)


def state_of(model, X):
    """All that can be seen of an estimator, for an exact comparison later."""
    return model.predict(X), dict(vars(model)), pickle.dumps(model.moments_)


def assert_unchanged(model, before, X):
    predictions, attributes, moments = before
    assert vars(model).keys() == attributes.keys()
    assert all(vars(model)[name] is value for name, value in attributes.items())
    assert pickle.dumps(model.moments_) == moments
    assert_array_equal(model.predict(X), predictions)


# -- scikit-learn ------------------------------------------------------------------------------------------------------

BY_DESIGN = "the features read their scale off the data, and the first batch must not decide for all"
LOO = "alpha='loo' takes a second pass over the rows, which a stream does not allow"
CONFIGURATIONS = {
    "default": FeatureRidge(),
    "fixed": FeatureRidge(FIXED),
    "loo": FeatureRidge(FIXED, alpha="loo", interval="jackknife+"),
    "cv+": FeatureRidge(FIXED, interval="cv+"),
    "qr": FeatureRidge(FIXED, solver="qr", alpha="evidence"),
    "multipliers": FeatureRidge(FIXED, multipliers=[0.5, 2.0]),
}


def expected_failures(estimator):
    checks = ["check_n_features_in_after_fitting", "check_estimators_partial_fit_n_features"]
    if estimator.features is None:
        return dict.fromkeys(checks, BY_DESIGN)
    return dict.fromkeys([*checks, "check_fit_score_takes_y"], LOO) if estimator.alpha == "loo" else {}


@parametrize_with_checks(list(CONFIGURATIONS.values()), expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["fixed", "cv+", "qr", "multipliers"])
@pytest.mark.parametrize(
    "check",
    [
        "check_dataframe_column_names_consistency",
        "check_inplace_ensure_writeable",
        "check_regressor_multioutput",
        "check_regressor_data_not_an_array",
    ],
)
def test_scikit_learn_checks_that_check_estimator_leaves_out(name, check):
    getattr(estimator_checks, check)("FeatureRidge", clone(CONFIGURATIONS[name]))


# -- the same model as ridge regression on all features at once --------------------------------------------------------

FEATURES = {
    "fourier": FIXED,
    "default": None,
    "rbf": RBFSampler(gamma=0.1, n_components=50, random_state=0),
    "nystroem": Nystroem(gamma=0.1, n_components=40, random_state=0),
    "pipeline": AUTO["behind a scaler"],
    "polynomial": make_pipeline(StandardScaler(), PolynomialFeatures(3)),
    "identity": FunctionTransformer(),
}


def oracle(features, alpha, intercept=True):
    features = FourierFeatures(random_state=0) if features is None else clone(features)
    return make_pipeline(features, Ridge(alpha, fit_intercept=intercept, solver="cholesky"))


def weighted_fit(pipeline, X, y, weights):
    """Weights for the ridge regression alone: of the features here, none reads weights unless its name says so."""
    return pipeline.fit(X, y, ridge__sample_weight=weights)


def assert_is_ridge(model, pipeline, X, atol=1e-8):
    actual, expected = model.predict(X), pipeline.predict(X)
    # for one column of targets scikit-learn's ridge regression has predictions without that axis
    assert_allclose(actual, expected.reshape(actual.shape), rtol=0, atol=atol * np.abs(expected).max())
    ridge, largest = pipeline[-1], np.abs(pipeline[-1].coef_).max()
    assert_allclose(model.coef_, ridge.coef_.reshape(model.coef_.shape), rtol=0, atol=1e-7 * largest)
    assert_allclose(
        model.intercept_, np.broadcast_to(ridge.intercept_, np.shape(model.intercept_)), atol=1e-7 * largest
    )


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("t", [None, 1, 3])
@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_it_is_ridge_regression_on_the_features(name, intercept, t, solver):
    X, y = draw(150, t)
    new, _ = draw(20, t, seed=1)
    model = FeatureRidge(FEATURES[name], alpha=0.3, fit_intercept=intercept, solver=solver).fit(X, y)
    pipeline = oracle(FEATURES[name], 0.3, intercept).fit(X, y)
    assert_is_ridge(model, pipeline, new)
    assert model.predict(new).shape == (20, *y.shape[1:])
    assert model.coef_.shape == (*y.shape[1:], model.moments_.n_features)
    assert model.alpha_ == 0.3
    assert model.score(X, y) == pytest.approx(pipeline.score(X, y), abs=1e-8)


@pytest.mark.parametrize("name", ["fourier", "rbf", "nystroem", "identity"])
@pytest.mark.parametrize("intercept", [True, False])
def test_weights_are_those_of_ridge_regression(name, intercept):
    X, y = draw(150, 2)
    weights = np.random.default_rng(1).uniform(0, 3, size=150)
    model = FeatureRidge(FEATURES[name], alpha=0.3, fit_intercept=intercept).fit(X, y, weights)
    assert_is_ridge(model, weighted_fit(oracle(FEATURES[name], 0.3, intercept), X, y, weights), X)


@pytest.mark.parametrize(
    "features", [RBFSampler(gamma=0.1, n_components=30, random_state=0), PolynomialFeatures(2), MaxAbsScaler()], ids=str
)
def test_sparse_rows(features):
    X = sparse.random(80, 12, density=0.3, random_state=0, format="csr")
    y = np.asarray(X.sum(axis=1)).ravel() ** 2
    model = FeatureRidge(features, alpha=0.3).fit(X, y)
    expected = oracle(features, 0.3).fit(X.toarray(), y).predict(X.toarray())
    assert_allclose(model.predict(X), expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    if not isinstance(features, MaxAbsScaler):
        streamed = FeatureRidge(features, alpha=0.3).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
        assert_same(streamed, model, X)
        assert_same(streamed.forget(X[:30], y[:30]), FeatureRidge(features, alpha=0.3).fit(X[30:], y[30:]), X, 1e-8)
    for interval in ("jackknife+", "cv+"):
        dense, thin = (clone(model).set_params(interval=interval, alpha="loo").fit(Z, y) for Z in (X.toarray(), X))
        assert_same(thin, dense, X)
        ends = dense.predict_interval(X.toarray())
        assert_allclose(thin.predict_interval(X), ends, rtol=0, atol=1e-7 * np.abs(ends).max())


@pytest.mark.parametrize("name", FEATURES)
def test_an_offset_of_the_targets_costs_no_digits(name):
    X, y = draw()
    near, far = (FeatureRidge(FEATURES[name]).fit(X, target) for target in (y, y + 1e6))
    assert far.alpha_ == near.alpha_
    # rounding of the targets is 1e-10, and the noise is a hundred times as large as the coefficients' share of it
    assert_allclose(far.predict(X) - 1e6, near.predict(X), rtol=0, atol=1e-8)
    assert far.noise_std_ == pytest.approx(near.noise_std_, rel=1e-8)
    assert_is_ridge(clone(far).set_params(alpha=0.3).fit(X, y + 1e6), oracle(FEATURES[name], 0.3).fit(X, y + 1e6), X)


@pytest.mark.parametrize("name", ["fourier", "identity", "pipeline"])
def test_single_precision_rows(name):
    """Features in single precision, everything after them in double."""
    X, y = draw()
    X = X.astype(np.float32)
    model = FeatureRidge(FEATURES[name], alpha=0.3).fit(X, y.astype(np.float32))
    Z = np.asarray(model.features_.transform(X))
    assert Z.dtype == np.float32
    ridge = Ridge(0.3, solver="cholesky").fit(Z.astype(np.float64), y.astype(np.float32).astype(np.float64))
    assert_allclose(model.predict(X), ridge.predict(Z.astype(np.float64)), rtol=0, atol=1e-8)
    assert model.predict(X).dtype == model.coef_.dtype == np.float64


def test_difficult_shapes_are_still_ridge_regression():
    X, y = draw(20)
    for rows, targets, features in (
        (X[:1], y[:1], FIXED),
        (X[:2], y[:2], FIXED),
        (X, y, FIXED),  # fewer rows than features
        (np.repeat(X, 3, axis=0), np.repeat(y, 3), FIXED),
        (np.column_stack([X, np.zeros(20), np.full(20, 7.0)]), y, FunctionTransformer()),
        (np.column_stack([X, X]), y, FunctionTransformer()),
        (np.zeros((20, 2)), y, FunctionTransformer()),
        (X, np.full(20, 4.0), FIXED),
    ):
        model = FeatureRidge(features, alpha=0.3).fit(rows, targets)
        expected = oracle(features, 0.3).fit(rows, targets).predict(rows)
        assert_allclose(model.predict(rows), expected, rtol=0, atol=1e-9 * np.abs(targets).max())
        for alpha in CRITERIA:
            for solver in ("gram", "qr"):
                choosing = FeatureRidge(features, alpha=alpha, solver=solver).fit(rows, targets)
                expected = oracle(features, choosing.alpha_).fit(rows, targets).predict(rows)
                # the oracle knows its Gram matrix to rounding, which the penalty is eight decades above or more
                if solver == "gram":
                    assert_allclose(choosing.predict(rows), expected, rtol=0, atol=1e-6 * np.abs(targets).max())
                assert np.abs(choosing.predict(rows)).max() <= 1.01 * np.abs(targets).max()


def test_blocks_of_rows_do_not_show(monkeypatch):
    X, y = draw(100, 2)
    whole = FeatureRidge(FIXED, alpha="loo", interval="jackknife+").fit(X, y)
    expected = whole.predict(X, return_std=True), whole.predict_interval(X[:10])
    monkeypatch.setattr(_candidates, "rows_per_block", lambda width: 7)
    blocks = FeatureRidge(FIXED, alpha="loo", interval="jackknife+").fit(X, y)
    assert_same(blocks, whole, X)
    for actual, wanted in zip(blocks.predict(X, return_std=True), expected[0], strict=True):
        assert_allclose(actual, wanted, rtol=1e-9)
    assert_allclose(blocks.predict_interval(X[:10]), expected[1], rtol=1e-8)


def test_data_and_weights_stay_as_they_are():
    X, y = draw(60, 2)
    weights = np.random.default_rng(0).uniform(size=60)
    given = [X.copy(), y.copy(), weights.copy()]
    for alpha, interval in (("loo", "jackknife+"), ("gcv", "cv+")):
        model = FeatureRidge(FIXED, alpha=alpha, interval=interval, multipliers=[1.0, 2.0]).fit(X, y, weights)
        model.predict(X, return_std=True)
        model.predict_interval(X)
    model = FeatureRidge(FIXED).partial_fit(X, y, weights).partial_fit(X, y, weights).forget(X, y, weights)
    model.cross_val_predict(X, y, sample_weight=weights)
    FeatureRidge().fit_statistics(X, weights).partial_fit(X, y, weights)
    for array, before in zip((X, y, weights), given, strict=True):
        assert_array_equal(array, before)
    for rows in (X.tolist(), np.asfortranarray(X), pd.DataFrame(X)):
        assert_allclose(FeatureRidge(FIXED).fit(rows, y, weights).predict(rows), model.predict(X), rtol=1e-7)


# -- streams -----------------------------------------------------------------------------------------------------------

BATCHES = [slice(0, 1), slice(1, 40), slice(40, 43), slice(43, 150)]


@pytest.mark.long
@pytest.mark.parametrize("alpha", ["gcv", "evidence", 0.3])
@pytest.mark.parametrize("solver", ["gram", "qr"])
@pytest.mark.parametrize("multipliers", [None, [0.5, 1.0, 3.0]])
@pytest.mark.parametrize("t", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_streams_and_merged_parts_are_one_fit(alpha, solver, multipliers, t, weighted):
    X, y = draw(150, t)
    weights = np.random.default_rng(1).uniform(0.5, 3, size=150) if weighted else None
    model = FeatureRidge(FIXED, alpha=alpha, solver=solver, multipliers=multipliers)
    whole = clone(model).fit(X, y, weights)
    parts = [(X[rows], y[rows], None if weights is None else weights[rows]) for rows in BATCHES]
    stream = clone(model)
    for part in parts:
        assert stream.partial_fit(*part) is stream
    assert_same(stream, whole, X)
    merged = clone(model).partial_fit(*parts[2])
    for i in (0, 3, 1):
        other = clone(model).fit(*parts[i])
        before = pickle.dumps(other)
        merged.merge(other)
        assert pickle.dumps(other) == before
    assert_same(merged, whole, X)
    continued = clone(model).fit(*parts[3])
    for part in parts[:3]:
        continued.partial_fit(*part)
    assert_same(continued, whole, X)
    if multipliers is not None:
        assert_allclose(stream.criteria_, whole.criteria_, rtol=1e-9)
    std = stream.predict(X, return_std=True)[1]
    assert_allclose(std, whole.predict(X, return_std=True)[1], rtol=1e-8)


@pytest.mark.parametrize("name", AUTO)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_statistics_first_make_a_stream_of_scales_that_are_read_off_the_data(name, weighted, dtype):
    X, y = draw()
    X = X.astype(dtype)
    weights = np.random.default_rng(1).uniform(0.5, 3, size=150) if weighted else None
    if weighted and name == "behind a range":
        weights[:] = 2.0
    stream = FeatureRidge(AUTO[name])
    for rows in BATCHES:
        assert stream.fit_statistics(X[rows], None if weights is None else weights[rows]) is stream
    assert_allclose(stream.column_moments_.mean, np.average(X, axis=0, weights=weights), rtol=1e-6)
    for rows in BATCHES[::-1]:
        stream.partial_fit(X[rows], y[rows], None if weights is None else weights[rows])
    features = AUTO[name]
    whole = FeatureRidge(features)
    whole.fit(X, y, weights)
    if dtype is np.float64:
        assert_same(stream, whole, X)
    else:  # scales and phases to single precision, which coefficients of size a hundred enlarge
        assert_allclose(stream.predict(X), whole.predict(X), rtol=0, atol=1e-3)
    parts = [FeatureRidge(AUTO[name]) for _ in BATCHES]
    for part, rows in zip(parts, BATCHES, strict=True):
        part.fit_statistics(X, weights).partial_fit(X[rows], y[rows], None if weights is None else weights[rows])
    for part in parts[1:]:
        parts[0].merge(part)
    assert_allclose(parts[0].predict(X), stream.predict(X), rtol=0, atol=1e-10 if dtype is np.float64 else 1e-3)


@pytest.mark.parametrize("alpha", [*CRITERIA, 0.3])
@pytest.mark.parametrize("interval", ["jackknife+", "cv+"])
@pytest.mark.parametrize("features", [FIXED, None], ids=["fixed", "default"])
def test_weights_are_repetitions(alpha, interval, features):
    X, y = draw(60, 2)
    repeats = 1 + np.arange(60) % 3
    again = np.repeat(np.arange(60), repeats)
    model = FeatureRidge(features, alpha=alpha, interval=interval)
    weighted, repeated = clone(model).fit(X, y, repeats), clone(model).fit(X[again], y[again])
    assert_same(weighted, repeated, X, 1e-7)  # the chosen penalties leave a condition of 1e8 at most
    for coverage in (0.5, 0.9):
        expected = repeated.predict_interval(X, coverage)
        atol = 1e-6 * np.abs(expected).max()
        assert_allclose(weighted.predict_interval(X, coverage), expected, rtol=0, atol=atol)


@pytest.mark.parametrize("alpha", [*CRITERIA, 0.3])
@pytest.mark.parametrize("interval", ["jackknife+", "cv+"])
@pytest.mark.parametrize("multipliers", [None, [0.5, 2.0]])
def test_rows_of_weight_zero_are_not_there(alpha, interval, multipliers):
    X, y = draw(60)
    weights = np.where(np.arange(60) % 3, 1.5, 0.0)
    wild = np.where(weights > 0, y, 1e6)
    model = FeatureRidge(FIXED, alpha=alpha, interval=interval, multipliers=multipliers)
    with_them = clone(model).fit(X, wild, weights)
    without = clone(model).fit(X[weights > 0], y[weights > 0], weights[weights > 0])
    assert_same(with_them, without, X, 1e-7)
    expected = without.predict_interval(X, 0.8)
    assert_allclose(with_them.predict_interval(X, 0.8), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_no_row_of_a_batch_need_count(solver):
    X, y = draw()
    model = FeatureRidge(FIXED, solver=solver, alpha=0.3)
    batches = (slice(0, 30), slice(30, 90), slice(90, 150))
    stream = clone(model)
    for rows, weight in zip(batches, (0.0, 1.0, 0.0), strict=True):
        stream.partial_fit(X[rows], y[rows] if weight else 1e6 * y[rows], np.full(len(X[rows]), weight))
    assert_same(stream, clone(model).fit(X[batches[1]], y[batches[1]]), X)
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        clone(model).fit(X, y, np.zeros(150))


@pytest.mark.parametrize("solver", ["gram", "qr"])
@pytest.mark.parametrize("multipliers", [None, [0.5, 2.0]])
def test_forgotten_rows_were_never_seen(solver, multipliers):
    X, y = draw(150, 2)
    weights = np.random.default_rng(1).uniform(0.5, 3, size=150)
    model = FeatureRidge(FIXED, solver=solver, multipliers=multipliers, alpha="evidence")
    left = clone(model).fit(X, y, weights).forget(X[100:], y[100:], weights[100:])
    never = clone(model).fit(X[:100], y[:100], weights[:100])
    assert_same(left, never, X, 1e-9)
    again = left.partial_fit(X[100:], y[100:], weights[100:])
    assert_same(again, clone(model).fit(X, y, weights), X, 1e-9)
    with pytest.raises(ValueError, match="Only rows that were added can be taken out"):
        left.forget(X, y, 2 * weights)
    assert_same(left, clone(model).fit(X, y, weights), X, 1e-9)
    left.forget(X, y, weights)
    with pytest.raises(ValueError, match="the moments have seen no rows"):
        left.predict(X)
    assert_same(left.partial_fit(X, y, weights), clone(model).fit(X, y, weights), X, 1e-9)


# -- what is refused ---------------------------------------------------------------------------------------------------

READING = {
    "default": None,
    "scaler": make_pipeline(StandardScaler(), FIXED),
    "centred": make_pipeline(StandardScaler(with_std=False), FIXED),
    "scale": RBFSampler(gamma="scale", random_state=0),
    "nystroem": Nystroem(random_state=0, n_components=1),
    "largest": MaxAbsScaler(),
    "median": RobustScaler(),
    "clipped": make_pipeline(FunctionTransformer(), MinMaxScaler(clip=True)),
}
FIRST_BATCHES = {
    "rows": lambda d: draw(30, d=d)[0],
    "one row": lambda d: draw(1, d=d)[0],
    "equal rows": lambda d: np.ones((9, d)),
    "minus one": lambda d: -np.ones((9, d)),
    "minus three": lambda d: np.full((9, d), -3.0),
    "zeros": lambda d: np.zeros((9, d)),
}


@pytest.mark.parametrize("features", READING.values(), ids=READING)
@pytest.mark.parametrize("first", FIRST_BATCHES.values(), ids=FIRST_BATCHES)
def test_the_first_batch_does_not_decide_about_the_features(features, first):
    X = first(3)
    model = FeatureRidge(features)
    with pytest.raises(ValueError, match=r"first batch would decide for all.*fit_statistics.*sigma=0\.1"):
        model.partial_fit(X, np.arange(len(X)))
    assert vars(model).keys() == vars(FeatureRidge()).keys()


def test_the_size_of_the_first_batch_does_not_decide_about_the_features():
    X, y = draw(30, d=300)
    with pytest.raises(ValueError, match="first batch would decide for all"):
        FeatureRidge(GaussianRandomProjection(eps=0.9, random_state=0)).partial_fit(X, y)
    FeatureRidge(GaussianRandomProjection(5, random_state=0)).partial_fit(X, y)


@pytest.mark.parametrize("features", [FEATURES[name] for name in ("fourier", "rbf", "identity")], ids=str)
@pytest.mark.parametrize("first", FIRST_BATCHES.values(), ids=FIRST_BATCHES)
def test_features_that_read_nothing_are_streamed_from_any_first_batch(features, first):
    X, y = draw(30)
    start = first(3)
    model = FeatureRidge(features, alpha=0.3).partial_fit(start, np.zeros(len(start))).partial_fit(X, y)
    rows, targets = np.concatenate([start, X]), np.concatenate([np.zeros(len(start)), y])
    assert_same(model, FeatureRidge(features, alpha=0.3).fit(rows, targets), X)


@pytest.mark.parametrize("first", FIRST_BATCHES.values(), ids=FIRST_BATCHES)
def test_statistics_stand_in_for_no_transformer_that_keeps_rows_or_ranks(first):
    X, y = draw()
    for features in (Nystroem(gamma=0.1, n_components=20, random_state=0), RobustScaler()):
        model = FeatureRidge(features)
        with pytest.raises(ValueError, match=r"more off the data than mean, spread.*FrozenEstimator\(fitted\)"):
            model.fit_statistics(first(3))
        assert vars(model).keys() == vars(FeatureRidge()).keys()
        frozen = FrozenEstimator(clone(features).fit(X[:50]))
        stream = FeatureRidge(frozen, alpha=0.3).partial_fit(X[:9], y[:9]).partial_fit(X[9:], y[9:])
        Z = frozen.transform(X)
        assert_allclose(stream.predict(X), Ridge(0.3).fit(Z, y).predict(Z), rtol=0, atol=1e-8)


def test_statistics_come_before_the_rows():
    X, y = draw()
    for model in (FeatureRidge().fit(X, y), FeatureRidge(FIXED).partial_fit(X, y)):
        before = state_of(model, X)
        with pytest.raises(ValueError, match=r"has its features already.*Call fit_statistics before the first"):
            model.fit_statistics(X)
        assert_unchanged(model, before, X)
    model = FeatureRidge().fit_statistics(X)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="4 features, but FeatureRidge is expecting 3 features"):
        model.fit_statistics(np.ones((5, 4)))
    with pytest.raises(ValueError, match="4 features, but FeatureRidge is expecting 3 features"):
        model.partial_fit(np.ones((5, 4)), np.ones(5))
    assert_same(model.partial_fit(X, y), FeatureRidge().fit(X, y), X)


def test_leave_one_out_is_not_for_streams():
    X, y = draw()
    model = FeatureRidge(FIXED, alpha="loo")
    fitted = clone(model).fit(X, y)
    before = state_of(fitted, X)
    for action in (
        lambda: clone(model).partial_fit(X, y),
        lambda: fitted.partial_fit(X, y),
        lambda: fitted.forget(X, y),
        lambda: fitted.merge(fitted),
        lambda: fitted.cross_val_predict(X, y),
    ):
        with pytest.raises(ValueError, match=r"alpha='loo' looks at every row a second time.*Use alpha='gcv'"):
            action()
        assert_unchanged(fitted, before, X)


class Other(FeatureRidge):
    pass


@pytest.mark.parametrize("unit", [1.0, 1e8, 1e-8])
def test_only_equal_features_are_merged(unit):
    X, y = draw()
    X = X * unit
    fourier = FourierFeatures(sigma=0.1 / unit, n_components=64, random_state=0)

    def fit(params=None, rows=X, targets=y, **others):
        return FeatureRidge(clone(fourier).set_params(**params or {}), **others).fit(rows, targets)

    model = fit()
    before = state_of(model, X)
    for other in (
        fit({"random_state": None}),
        fit({"random_state": 1}),
        fit({"n_components": 32}),
        fit({"sigma": 0.101 / unit}),
        fit({"multiplier": 0.9}),
        fit(multipliers=[1.0, 2.0]),
        fit(rows=X[:, :2]),
        fit(targets=np.column_stack([y, y])),
    ):
        with pytest.raises(ValueError, match=r"same features and targets can be merged.*random_state that is an int"):
            model.merge(other)
        assert_unchanged(model, before, X)
    with pytest.raises(ValueError, match="but these are GramMoments and the others QRMoments"):
        model.merge(fit(solver="qr"))
    with pytest.raises(ValueError, match="A FeatureRidge can only be merged with its like, got Other"):
        model.merge(Other(fourier).fit(X, y))
    for pair in ((model, FeatureRidge(fourier)), (FeatureRidge(fourier), model)):
        with pytest.raises(NotFittedError):
            pair[0].merge(pair[1])
    scales = [FeatureRidge().fit(rows, y[: len(rows)]) for rows in (X, X[:100])]
    with pytest.raises(ValueError, match="come from the same statistics"):
        scales[0].merge(scales[1])
    assert_unchanged(model, before, X)
    whole = FeatureRidge(fourier).fit(np.concatenate([X, X]), np.concatenate([y, y]))
    assert_same(model.merge(fit()), whole, X)


def test_bad_parameters_are_refused():
    X, y = draw()
    for alpha in (-1.0, np.nan, np.inf, True, "aic", None, [1.0]):
        with pytest.raises(ValueError, match=r"alpha must be 'gcv', 'evidence', 'loo' or a finite number of"):
            FeatureRidge(FIXED, alpha=alpha).fit(X, y)
    for solver in ("svd", None, 1):
        with pytest.raises(ValueError, match="solver must be 'gram' or 'qr', got"):
            FeatureRidge(FIXED, solver=solver).fit(X, y)
    for interval in ("jackknife", True, 0.9):
        with pytest.raises(ValueError, match=r"interval must be 'jackknife\+', 'cv\+' or None, got"):
            FeatureRidge(FIXED, interval=interval).fit(X, y)
    for multipliers in ([], [1.0, 0.0], [-1.0], [np.nan], [np.inf], ["a"], [[1.0, 2.0]], [True], "auto"):
        with pytest.raises(ValueError, match="multipliers must be positive finite numbers, got"):
            FeatureRidge(FIXED, multipliers=multipliers).fit(X, y)
    with pytest.raises(ValueError, match="parameter `multiplier` of the features, but RBFSampler has none"):
        FeatureRidge(RBFSampler(), multipliers=[1.0]).fit(X, y)
    with pytest.raises(ValueError, match="Without a penalty nothing says which of the multipliers is best"):
        FeatureRidge(FIXED, multipliers=[1.0], alpha=0).fit(X, y)


@pytest.mark.parametrize("interval", ["jackknife+", "cv+"])
def test_intervals_need_all_rows_at_once(interval):
    X, y = draw()
    model = FeatureRidge(FIXED, interval=interval).fit(X, y)
    for coverage in (0, 1, -0.1, 1.5, np.nan, None, "0.9", True, [0.9]):
        with pytest.raises(ValueError, match="coverage must be a number between 0 and 1, got"):
            model.predict_interval(X, coverage)
    assert_array_equal(model.predict_interval(X, np.float32(0.5)), model.predict_interval(X, 0.5))
    other = FeatureRidge(FIXED).fit(X, y)
    stored = pickle.dumps(model)
    for action in (
        lambda model: other,
        lambda model: model.partial_fit(X, y),
        lambda model: model.forget(X[:9], y[:9]),
        lambda model: model.merge(other),
        lambda model: clone(model).partial_fit(X, y),
        lambda model: model.set_params(interval=None).fit(X, y),
    ):
        with pytest.raises(ValueError, match=r"residuals of rows that a model has not seen.*call fit on all rows"):
            action(pickle.loads(stored)).predict_interval(X)


def test_shapes_of_targets_in_a_stream():
    X, y = draw(30, 2)
    vector, one, two = (FeatureRidge(FIXED).partial_fit(X, target) for target in (y[:, 0], y[:, :1], y))
    for model, shape, wrong in (
        (vector, r"\(n_samples,\)", (y, y[:, :1])),
        (one, r"\(n_samples, 1\)", (y, y[:, 0])),
        (two, r"\(n_samples, 2\)", (y[:, 0], y[:, :1], np.ones((30, 3)))),
    ):
        before = state_of(model, X)
        for targets in wrong:
            for action in (model.partial_fit, model.forget):
                with pytest.raises(ValueError, match=f"y must have the shape of the targets that were learnt, {shape}"):
                    action(X, targets)
                assert_unchanged(model, before, X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        vector.partial_fit(X, y[:4, 0])
    with pytest.raises(ValueError, match="sample_weight must have one value per row"):
        vector.partial_fit(X, y[:, 0], np.ones(4))
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        vector.partial_fit(X, y[:, 0], -np.ones(30))
    with pytest.raises(ValueError, match=r"contains NaN|infinity"):
        vector.partial_fit(X, np.where(np.arange(30) == 4, np.nan, y[:, 0]))


def test_before_the_first_fit_nothing_is_known():
    X, y = draw()
    model = FeatureRidge(FIXED)
    for action in (model.predict, model.predict_interval, lambda X: model.forget(X, y), lambda X: model.alpha_):
        with pytest.raises(NotFittedError):
            action(X)


def test_noise_is_not_told_from_signal_without_degrees_of_freedom():
    X, y = draw(20)
    model = FeatureRidge(FIXED, alpha=0).fit(X, y)
    assert math.isnan(model.noise_std_)
    assert_allclose(model.predict(X), y, rtol=1e-6)
    with pytest.raises(ValueError, match=r"noise cannot be told.*20 degrees of freedom and learnt rows of weight 20"):
        model.predict(X, return_std=True)


# -- when things are computed, and what a failure leaves ---------------------------------------------------------------


def test_streams_are_solved_when_somebody_asks(monkeypatch):
    X, y = draw()
    calls = []
    solve = _candidates.solve
    monkeypatch.setattr(_candidates, "solve", lambda *arguments: calls.append(1) or solve(*arguments))
    model = FeatureRidge(FIXED)
    for rows in BATCHES:
        model.partial_fit(X[rows], y[rows])
    model.merge(clone(model).partial_fit(X, y)).forget(X, y)
    pickle.loads(pickle.dumps(model))
    assert not calls
    for _ in range(2):
        model.predict(X, return_std=True)
        assert (model.alpha_, model.coef_.shape) == (model.posterior_.alpha, (64,))
    assert len(calls) == 1
    model.partial_fit(X[:9], y[:9])
    assert len(calls) == 1
    model.predict(X)
    assert len(calls) == 2


def test_predictions_change_no_attribute():
    X, y = draw()
    for model in (FeatureRidge(FIXED).partial_fit(X, y), FeatureRidge(FIXED, interval="cv+").fit(X, y)):
        before = dict(vars(model))
        expected = model.predict(X)
        model.predict(X, return_std=True)
        model.cross_val_predict(X, y)
        if model.interval:
            model.predict_interval(X)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is value for name, value in before.items())
        assert_array_equal(model.predict(X), expected)


def test_parameters_set_after_a_batch_count_from_the_next():
    X, y = draw()
    model = FeatureRidge(FIXED, alpha=0.3).partial_fit(X[:50], y[:50]).set_params(alpha=5.0)
    assert model.alpha_ == 0.3
    assert model.partial_fit(X[50:], y[50:]).alpha_ == 5.0
    assert_same(model, FeatureRidge(FIXED, alpha=5.0).fit(X, y), X)


POISON = "NaN"
FAULT = {"left": math.inf, "what": None}


class Faulty(TransformerMixin, BaseEstimator):
    """Features that fail at a call of transform: with an exception, or with NaN in the last row."""

    def fit(self, X, y=None):
        self.inner_ = clone(FIXED).fit(X)
        return self

    def transform(self, X):
        FAULT["left"] -= 1
        Z = self.inner_.transform(X)
        if FAULT["left"] == 0:
            if FAULT["what"] != POISON:
                raise FAULT["what"]
            Z[-1] = np.nan
        return Z


FAULTS = [RuntimeError("a fault"), KeyboardInterrupt("a fault"), POISON, MemoryError("a fault")]


@pytest.fixture
def fault(monkeypatch):
    """How to make the k-th call of transform from now on fail; blocks are of ten rows."""
    monkeypatch.setattr(_candidates, "rows_per_block", lambda width: 10)

    def set_to(left, what):
        FAULT.update(left=left, what=what)

    yield set_to
    set_to(math.inf, None)


def attempt(what, action, *arguments):
    kind = ValueError if what == POISON else type(what)
    with pytest.raises(kind, match="NaN" if what == POISON else "a fault"):
        action(*arguments)


@pytest.mark.parametrize("what", FAULTS, ids=repr)
def test_a_fault_in_the_middle_changes_nothing(what, fault):
    X, y = draw(50)
    for k in (1, 2, 3, 4, 6):  # two trials, the width, and five blocks
        if what == POISON and k < 4:  # its values do not go into the moments
            continue
        model = FeatureRidge(Faulty())
        fault(k, what)
        attempt(what, model.partial_fit, X, y)
        assert vars(model).keys() == vars(FeatureRidge()).keys()
        fault(math.inf, None)
        assert_same(model.partial_fit(X, y), FeatureRidge(FIXED).fit(X, y), X)
    whole = FeatureRidge(Faulty()).fit(X, y)
    stream = FeatureRidge(Faulty()).partial_fit(X, y)
    for model in (whole, stream):
        for action in (model.partial_fit, model.forget, model.fit, model.cross_val_predict):
            before = state_of(model, X)
            for k in (2, 4) if what == POISON else (1, 2, 4):  # first the width
                fault(k, what)
                attempt(what, action, X, y)
                fault(math.inf, None)
                assert_unchanged(model, before, X)
                assert model.alpha_ == FeatureRidge(FIXED).fit(X, y).alpha_
    more = [FeatureRidge(FIXED).fit(X, y).partial_fit(X[:20], y[:20]), stream.partial_fit(X[:20], y[:20])]
    assert_same(more[1], more[0], X)


@pytest.mark.parametrize("what", FAULTS[:2], ids=repr)
def test_a_fault_in_statistics_changes_nothing(what, fault):
    X, y = draw(50)
    model = FeatureRidge(Faulty())
    for k in (1, 2):
        fault(k, what)
        attempt(what, model.fit_statistics, X)
        assert vars(model).keys() == vars(FeatureRidge()).keys()
    fault(math.inf, None)
    model.fit_statistics(X)
    stored = model.column_moments_.mean.copy(), model.column_moments_.weight
    with pytest.raises(ValueError, match="infinity"):
        model.fit_statistics(np.full((3, 3), np.inf))
    for k in (1, 2, 5):
        fault(k, what)
        attempt(what, model.partial_fit, X, y)
        assert not hasattr(model, "coef_")
    fault(math.inf, None)
    assert_array_equal(model.column_moments_.mean, stored[0])
    assert model.column_moments_.weight == stored[1]
    assert_same(model.partial_fit(X, y), FeatureRidge(FIXED).fit(X, y), X)


# -- persistence -------------------------------------------------------------------------------------------------------

STORED = {
    "fit": lambda X, y: FeatureRidge(FIXED).fit(X, y),
    "stream": lambda X, y: FeatureRidge(FIXED, solver="qr").partial_fit(X, y),
    "statistics": lambda X, y: FeatureRidge().fit_statistics(X).partial_fit(X, y),
    "jackknife+": lambda X, y: FeatureRidge(FIXED, interval="jackknife+").fit(X, y, np.arange(len(X))),
    "cv+": lambda X, y: FeatureRidge(FIXED, interval="cv+", multipliers=[0.5, 1.0]).fit(X, y),
    "no penalty": lambda X, y: FeatureRidge(FunctionTransformer(), alpha=0).fit(X, y),
}


@pytest.mark.parametrize("make", STORED.values(), ids=STORED)
@pytest.mark.parametrize("asked", [False, True])
def test_a_fitted_model_survives_pickle_joblib_and_skops(make, asked, tmp_path):
    sio = pytest.importorskip("skops.io")
    X, y = draw(60, 2)
    model = make(X, y)
    if asked:
        model.predict(X)
    joblib.dump(model, tmp_path / "model.joblib")
    stored = sio.dumps(model)
    unknown = sio.get_untrusted_types(data=stored)
    assert unknown
    assert all(name.startswith("spectralkit.") for name in unknown), unknown
    copies = [
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        sio.loads(stored, trusted=unknown),
        copy.deepcopy(model),
    ]
    expected, std = model.predict(X, return_std=True)
    interval = model.predict_interval(X, 0.8) if model.interval else None
    later = copy.deepcopy(model).partial_fit(X[:20], y[:20]).predict(X)
    for copied in copies:
        assert_array_equal(copied.predict(X), expected)
        assert_array_equal(copied.predict(X, return_std=True)[1], std)
        assert (copied.alpha_, copied.multiplier_) == (model.alpha_, model.multiplier_)
        if model.interval:
            assert_array_equal(copied.predict_interval(X, 0.8), interval)
        assert_array_equal(copied.partial_fit(X[:20], y[:20]).predict(X), later)
    assert_array_equal(model.predict(X), expected)


def test_a_stream_is_resumed_in_another_process(tmp_path):
    X, y = draw()
    joblib.dump((FeatureRidge(FIXED).partial_fit(X[:60], y[:60]), X[60:], y[60:]), tmp_path / "half.joblib")
    program = (
        "import joblib\n"
        f"model, X, y = joblib.load({str(tmp_path / 'half.joblib')!r})\n"
        "model.partial_fit(X, y)\n"
        f"joblib.dump(model, {str(tmp_path / 'whole.joblib')!r})\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], cwd=ROOT, check=True)
    resumed = joblib.load(tmp_path / "whole.joblib")
    stream = FeatureRidge(FIXED).partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    assert_array_equal(resumed.coef_, stream.coef_)
    assert_array_equal(resumed.predict(X), stream.predict(X))


# -- leaving out rows --------------------------------------------------------------------------------------------------


def without_groups(X, y, weights, alphas):
    """Mean squared errors (a, t) of ridge regressions that leave out each distinct row of X with all its copies."""
    group = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    squares = np.zeros((len(alphas), y.shape[1]))
    for g in np.unique(group):
        out, rest = group == g, group != g
        roots = np.sqrt(weights[rest, None])
        means = [np.average(values[rest], axis=0, weights=weights[rest]) for values in (X, y)]
        left, sizes, axes = np.linalg.svd(roots * (X[rest] - means[0]), full_matrices=False)
        turned = (sizes / (sizes**2 + alphas[:, None]))[..., None] * (left.T @ (roots * (y[rest] - means[1])))
        squares += np.einsum(
            "n,ant->at", weights[out], (y[out] - means[1] - (X[out] - means[0]) @ axes.T @ turned) ** 2
        )
    return squares / weights.sum()


@pytest.mark.parametrize("solver", ["gram", "qr"])
@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_that_of_refits_without_equal_rows(solver, t, weighted):
    X, y = draw(18, t, noise=1.0)
    X = X[np.arange(18) * 2 // 3]  # pairs of equal rows with different targets, and single ones
    weights = np.random.default_rng(0).uniform(0.5, 2, size=18) if weighted else np.ones(18)
    model = FeatureRidge(FunctionTransformer(), alpha="loo", solver=solver).fit(X, y, weights if weighted else None)
    alphas = RidgePath(model.moments_).alphas
    values = np.log(without_groups(X, y, weights, alphas)).mean(axis=1)
    equal = alphas[values <= values.min() + 1e-8]  # to the rounding of both
    assert equal[0] <= model.alpha_ <= equal[-1]
    assert equal[-1] < 1.5 * equal[0]


@pytest.mark.parametrize("intercept", [True, False])
def test_leave_one_out_of_distinct_rows_is_that_of_ridge_cv(intercept):
    chosen = set()
    for seed in range(6):
        X, y = draw(40, seed=seed, noise=0.3 + seed)
        model = FeatureRidge(FIXED, alpha="loo", fit_intercept=intercept).fit(X, y)
        alphas = RidgePath(model.moments_, intercept).alphas[8:]  # below, the oracle's errors are rounding
        search = RidgeCV(alphas, fit_intercept=intercept).fit(model.features_.transform(X), y)
        assert model.alpha_ == search.alpha_
        chosen.add(search.alpha_)
    assert len(chosen) > 1


def dense_posterior(Z, y, alpha, new):
    """Mean and standard deviation of new targets in the linear model with a flat intercept, by dense inverses."""
    A, B = (np.column_stack([features, np.ones(len(features))]) for features in (Z, new))
    inverse = np.linalg.inv(A.T @ A + np.diag(np.r_[np.full(Z.shape[1], alpha), 0.0]))
    coef = inverse @ A.T @ y
    squares = ((y - A @ coef) ** 2).sum(axis=0)
    noise = squares / (len(y) - np.trace(A @ inverse @ A.T))
    leverage = np.einsum("nk,kl,nl->n", B, inverse, B)
    return B @ coef, np.sqrt(noise * (1 + leverage)[:, None]), np.sqrt(noise)


@pytest.mark.parametrize("t", [1, 3])
@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_standard_deviations_are_those_of_the_dense_linear_model(t, solver):
    X, y = draw(120, t)
    new, _ = draw(15, t, seed=3)
    for alpha in (0.05, 2.0):
        model = FeatureRidge(FIXED, alpha=alpha, solver=solver).fit(X, y)
        Z, Z_new = (model.features_.transform(rows) for rows in (X, new))
        mean, std, noise = dense_posterior(Z, y, alpha, Z_new)
        actual = model.predict(new, return_std=True)
        assert_allclose(actual[0], mean, rtol=0, atol=1e-9 * np.abs(mean).max())
        assert_allclose(actual[1], std, rtol=1e-8)
        assert_allclose(model.noise_std_, noise, rtol=1e-8)
        assert_array_equal(actual[0], model.predict(new))
        flat = FeatureRidge(FIXED, alpha=alpha, solver=solver).fit(X, y[:, 0]).predict(new, return_std=True)
        assert_allclose(np.array(flat), np.array(actual)[:, :, 0], rtol=1e-9)


def test_standard_deviations_cover_gaussian_data():
    """Coefficients from the prior and Gaussian noise: 1.96 standard deviations hold 95 % of new targets."""
    rng = np.random.default_rng(0)
    alpha, sigma = 2.0, 0.7
    features = clone(FIXED).fit(np.zeros((1, 3)))
    inside = []
    for _ in range(60):
        X = rng.normal(size=(700, 3))
        coef = rng.normal(size=64) * sigma / math.sqrt(alpha)
        y = 3 + features.transform(X) @ coef + sigma * rng.normal(size=700)
        mean, std = FeatureRidge(FIXED, alpha=alpha).fit(X[:400], y[:400]).predict(X[400:], return_std=True)
        inside.append((np.abs(y[400:] - mean) < 1.959964 * std).mean())
    # the error of the noise's standard deviation, 1/sqrt(800), is common to the rows of a draw
    error = math.hypot(math.sqrt(0.05 * 0.95 / 300), 2 * 1.96 * 0.0584 / math.sqrt(800)) / math.sqrt(60)
    assert np.mean(inside) == pytest.approx(0.95, abs=4 * error + 5e-4)  # Student's t of 336 for the normal


# -- cross-validation --------------------------------------------------------------------------------------------------

SPLITS = {
    "default": None,
    "three": 3,
    "shuffled": KFold(7, shuffle=True, random_state=0),
    "single rows": LeaveOneOut(),
    "list": [(np.arange(20, 30), np.arange(20)), (np.arange(20), np.arange(20, 30))],
}


@pytest.mark.long
@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("t", [None, 2])
@pytest.mark.parametrize("params", [{}, {"alpha": 0.3, "solver": "qr"}, {"multipliers": [0.5, 1.0]}], ids=str)
def test_cross_validation_is_that_of_refits(name, t, params):
    """What is left of a subtraction has the rounding errors of the whole.

    Ten rows are fewer than the features, and a penalty is chosen that makes the condition 1e7; the coefficients are a
    hundred times as large as predictions: 2e-16 * 1e7 * 100, and some more for the sums.
    """
    X, y = draw(30, t)
    cv = SPLITS[name]
    rounding = 1e-5 if name == "list" and "alpha" not in params else 1e-8
    model = FeatureRidge(FEW, **params)
    expected = cross_val_predict(model, X, y, cv=KFold(5) if cv is None else cv)
    actual = model.cross_val_predict(X, y, cv=iter(cv) if isinstance(cv, list) else cv)
    assert actual.shape == expected.shape
    assert_allclose(actual, expected, rtol=0, atol=rounding * np.abs(expected).max())
    assert vars(model).keys() == vars(FeatureRidge()).keys()
    weights = np.random.default_rng(0).uniform(0.5, 2, size=30)
    expected = cross_val_predict(model, X, y, cv=KFold(5) if cv is None else cv, params={"sample_weight": weights})
    actual = model.cross_val_predict(X, y, cv, weights)
    assert_allclose(actual, expected, rtol=0, atol=rounding * np.abs(expected).max())


@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_cross_validation_of_more_features_than_rows(solver):
    """Without a fold some directions have nothing left, and what rounding leaves of them must not be blown up."""
    for seed in range(40):
        X, y = draw(30, 2, seed=seed)
        expected = cross_val_predict(oracle(FIXED, 0.3), X, y, cv=KFold(5))
        actual = FeatureRidge(FIXED, alpha=0.3, solver=solver).cross_val_predict(X, y, KFold(5))
        assert_allclose(actual, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_cross_validation_needs_a_partition():
    X, y = draw(50)
    twice = [(np.arange(25, 50), np.arange(25)), (np.arange(20), np.arange(24, 50))]
    missing = [(np.arange(25, 50), np.arange(25)), (np.arange(20), np.arange(26, 50))]
    for cv in (ShuffleSplit(2, test_size=0.5, random_state=0), twice, missing):
        with pytest.raises(ValueError, match="Every row must be in exactly one test set of cv; use KFold"):
            FeatureRidge(FIXED).cross_val_predict(X, y, cv)


# -- multipliers -------------------------------------------------------------------------------------------------------


def dense_criterion(Z, y, alphas):
    """Twice the negative log evidence per row and target, the best over noise and penalties, by determinants."""
    n, contrasts = len(y), null_space(np.ones((1, len(y))))
    values = []
    for alpha in alphas:
        covariance = contrasts.T @ (Z @ Z.T / alpha + np.eye(n)) @ contrasts
        left = contrasts.T @ y
        noise = (left * np.linalg.solve(covariance, left)).sum(axis=0) / (n - 1)
        determinant = np.linalg.slogdet(covariance)[1]
        per_target = (n - 1) * np.log(2 * np.pi * np.e * noise) + determinant + np.log(n)
        values.append(per_target.mean() / n)
    return min(values)


@pytest.mark.parametrize("alpha", [*CRITERIA, 0.3])
@pytest.mark.parametrize("t", [None, 2])
def test_the_multiplier_has_the_largest_evidence(alpha, t):
    X, y = draw(60, t, noise=0.1)
    multipliers = [0.1, 0.5, 1.0, 2.0, 10.0]
    model = FeatureRidge(FIXED, alpha=alpha, multipliers=multipliers).fit(X, y)
    expected = []
    for multiplier in multipliers:
        alone = FeatureRidge(clone(FIXED).set_params(multiplier=multiplier), alpha=alpha).fit(X, y)
        alphas = RidgePath(alone.moments_).alphas[8:] if isinstance(alpha, str) else [alpha]
        expected.append(dense_criterion(alone.features_.transform(X), y.reshape(60, -1), alphas))
        if multiplier == model.multiplier_:
            assert alone.alpha_ == model.alpha_
            assert_array_equal(alone.predict(X), model.predict(X))
    assert_allclose(model.criteria_, expected, rtol=0, atol=1e-6)
    assert model.multiplier_ == multipliers[int(np.argmin(expected))]
    assert model.multiplier_ < 10.0  # at which rows have nothing to do with each other
    assert model.multiplier_ > 0.1 or alpha == 0.3
    assert model.features_.multiplier == model.multiplier_


@pytest.mark.parametrize("load", [load_concrete, load_airfoil])
def test_multipliers_are_as_good_as_a_grid_search_in_one_pass_for_each(load, monkeypatch):
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    multipliers = [0.5, 1.0, 2.0, 4.0]
    grid = {"fourierfeatures__multiplier": multipliers, "ridge__alpha": np.geomspace(1e-4, 1, 5)}
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(make_pipeline(FourierFeatures(random_state=0), Ridge()), grid, cv=folds)
    search.fit(X_train, y_train)
    seen = []
    transform = FourierFeatures.transform
    monkeypatch.setattr(FourierFeatures, "transform", lambda self, X: seen.append(len(X)) or transform(self, X))
    model = FeatureRidge(multipliers=multipliers).fit(X_train, y_train)
    assert sum(seen) == len(multipliers) * (len(X_train) + 1)  # one row each for the number of features
    assert model.score(X_test, y_test) > search.score(X_test, y_test) - 0.02


def test_multipliers_reach_all_steps_of_a_pipeline():
    X, y = draw(60)
    model = FeatureRidge(AUTO["behind a scaler"], multipliers=[2.0], alpha=0.3).fit(X, y)
    expected = clone(AUTO["behind a scaler"]).set_params(fourierfeatures__multiplier=2.0)
    assert_is_ridge(model, oracle(expected, 0.3).fit(X, y), X)
    assert model.multiplier_ == 2.0


# -- memory ------------------------------------------------------------------------------------------------------------


def test_the_features_of_all_rows_never_stand_together():
    rng = np.random.default_rng(0)
    n, m = 60_000, 512
    X = rng.normal(size=(n, 4))
    y = X[:, 0] + rng.normal(size=n)
    model = FeatureRidge(FourierFeatures(sigma=0.1, n_components=m, random_state=0), alpha=1.0)
    model.fit(X[:100], y[:100]).predict(X[:100])
    for action in (lambda: model.fit(X, y), lambda: model.predict(X), lambda: model.predict(X, return_std=True)):
        tracemalloc.start()
        action()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.25 * n * m * 8


@pytest.mark.parametrize("alpha", ["gcv", "evidence", "loo"])
def test_weights_that_are_shares_are_refused(alpha):
    """They would be the repetitions of a single row, of which the best prediction is its target."""
    X, y = load_yacht(return_X_y=True)
    shares = np.full(len(y), 1 / len(y))
    with pytest.raises(ValueError, match=r"weights sum to 1, which is at most one row.*sum to the number of rows"):
        FeatureRidge(alpha=alpha).fit(X, y, shares)
    plain = FeatureRidge(alpha=alpha).fit(X, y)
    assert_allclose(FeatureRidge(alpha=alpha).fit(X, y, len(y) * shares).predict(X), plain.predict(X), rtol=1e-6)
    given = FeatureRidge(alpha=plain.alpha_ / len(y)).fit(X, y, shares)
    assert_allclose(given.predict(X), plain.predict(X), rtol=1e-6)
