"""Local shares of classes against dense sums, fits without the row, and nearest neighbours."""

import copy
import math
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralkit import (
    CapabilityError,
    Matern,
    NadarayaWatsonClassifier,
    NadarayaWatsonRegressor,
    PositiveRandomFeatures,
)

EPS = np.finfo(np.float64).eps
NAMES = np.array(["ant", "bee", "cow"])


def draw(n=150, d=2, seed=0):
    """Three overlapping classes, with names."""
    rng = np.random.default_rng([seed, n, d])
    labels = rng.integers(0, 3, n)
    return rng.normal(size=(n, d)) * np.geomspace(1, 2, d) + 1.5 * labels[:, None], NAMES[labels]


def some_weights(n, seed=2):
    return np.random.default_rng(seed).uniform(0.2, 3, size=n)


# -- scikit-learn ------------------------------------------------------------------------------------------------------

CONFIGURATIONS = {
    "default": NadarayaWatsonClassifier(),
    "per column": NadarayaWatsonClassifier("epanechnikov", bandwidth="loo_per_column"),
    "positive": NadarayaWatsonClassifier(bandwidth=3.0, method="positive"),
}


@parametrize_with_checks(list(CONFIGURATIONS.values()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize(
    "check",
    [
        "check_dataframe_column_names_consistency",
        "check_inplace_ensure_writeable",
        "check_classifier_data_not_an_array",
    ],
)
def test_scikit_learn_checks_that_check_estimator_leaves_out(name, check):
    getattr(estimator_checks, check)("NadarayaWatsonClassifier", clone(CONFIGURATIONS[name]))


# -- shares ------------------------------------------------------------------------------------------------------------

PROFILES = {
    "gaussian": lambda r: np.exp(-(r**2) / 2),
    "epanechnikov": lambda r: np.maximum(1 - r**2, 0),
    "tricube": lambda r: np.maximum(1 - r**3, 0) ** 3,
    "matern12": lambda r: np.exp(-r),
}


def indicators(y):
    return (y[:, None] == NAMES).astype(float)


def dense(kernel, Q, X, y, h, weights=None):
    """Shares of the classes in long double."""
    difference = Q.astype(np.longdouble)[:, None] - X
    if kernel == "softmax":
        logs = Q.astype(np.longdouble) @ X.T / h
        k = np.exp(logs - logs.max(axis=1, keepdims=True))
    else:
        k = PROFILES[kernel](np.sqrt(((difference / h) ** 2).sum(axis=-1)))
    k = k if weights is None else k * weights
    return (k @ indicators(y) / k.sum(axis=1, keepdims=True)).astype(float)


@pytest.mark.parametrize("kernel", [*PROFILES, "softmax"])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_local_shares(kernel, d, dtype, weighted):
    X, y = draw(d=d)
    X = X.astype(dtype)
    Q = X[::3] + dtype(0.05)
    weights = some_weights(150) if weighted else None
    params = {"temperature": 5.0} if kernel == "softmax" else {"bandwidth": 1.3}
    model = NadarayaWatsonClassifier(kernel, **params).fit(X, y, weights)
    found = model.predict_proba(Q)
    expected = dense(kernel, Q, X, y, 5.0 if kernel == "softmax" else 1.3, weights)
    in_products = kernel in ("gaussian", "softmax")
    size = 1 + float((X.astype(float) ** 2).sum(axis=1).max())
    assert_allclose(found, expected, rtol=0, atol=16 * np.finfo(dtype if in_products else float).eps * size)
    assert found.dtype == np.float64
    assert (found >= 0).all()
    assert_allclose(found.sum(axis=1), 1, rtol=0, atol=4 * EPS)
    assert_array_equal(model.classes_, NAMES)
    clear = np.diff(np.sort(expected, axis=1)[:, -2:])[:, 0] > 1e-3
    assert clear.sum() > 40
    assert_array_equal(model.predict(Q)[clear], NAMES[expected.argmax(axis=1)][clear])


@pytest.mark.parametrize("params", [{}, {"kernel": "tricube", "n_neighbors": 7}, {"kernel": "matern32"}], ids=str)
def test_shares_are_averages_of_indicators(params):
    X, y = draw()
    weights = some_weights(150)
    model = NadarayaWatsonClassifier(**params).fit(X, y, weights)
    regressor = NadarayaWatsonRegressor(**params).fit(X, indicators(y), weights)
    assert_allclose(model.bandwidth_, regressor.bandwidth_, rtol=1e-12)
    for Q in (X, 30 * X, -1e6 + X):
        assert_allclose(model.predict_proba(Q), regressor.predict(Q), rtol=0, atol=1e-12)
        assert (model.predict_proba(Q) >= 0).all()
    assert_allclose(model.effective_sample_size(X), regressor.effective_sample_size(X), rtol=1e-12)
    assert_allclose(model.loo_error_, np.sum(regressor.loo_error_**2), rtol=1e-12)
    assert model.loo_rows_ == regressor.loo_rows_ == 150


@pytest.mark.parametrize("labels", [[3, 1], [True, False], ["b", "a"], [2.0, -1.0], np.array([5, 7], dtype=np.int8)])
def test_labels_of_any_kind(labels):
    X, y = draw()
    labels = np.asarray(labels)
    y = labels[(y == "bee").astype(int)]
    model = NadarayaWatsonClassifier().fit(X, y)
    assert_array_equal(model.classes_, np.unique(labels))
    assert model.predict(X).dtype == labels.dtype
    assert set(model.predict(X)) <= set(y)
    shares = model.predict_proba(X)
    assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert 0.7 < model.score(X, y) <= 1


def test_one_class_and_one_row():
    X, _ = draw(20)
    for n in (1, 20):
        model = NadarayaWatsonClassifier().fit(X[:n], np.full(n, "ant"))
        assert_array_equal(model.predict_proba(X), np.ones((20, 1)))
        assert_array_equal(model.predict(X), ["ant"] * 20)
    both = NadarayaWatsonClassifier().fit(np.ones((6, 2)), NAMES[[0, 0, 0, 1, 1, 2]])
    assert_allclose(both.predict_proba([[1.0, 1.0], [5.0, 5.0]]), [[1 / 2, 1 / 3, 1 / 6]] * 2, rtol=1e-14)


def test_a_class_without_weight_is_not_there():
    X, y = draw()
    weights = np.where(y == "cow", 0.0, some_weights(150))
    model = NadarayaWatsonClassifier(bandwidth=1.0).fit(X, y, weights)
    kept = weights > 0
    expected = NadarayaWatsonClassifier(bandwidth=1.0).fit(X[kept], y[kept], weights[kept])
    assert_array_equal(model.classes_, ["ant", "bee"])
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    "params", [{}, {"bandwidth": "loo_per_column"}, {"kernel": "tricube", "n_neighbors": 5}], ids=str
)
def test_weights_are_repetitions(params):
    X, y = draw(90)
    repeats = np.arange(90) % 3
    again = np.random.default_rng(0).permutation(np.repeat(np.arange(90), repeats))
    weighted = NadarayaWatsonClassifier(**params).fit(X, y, repeats)
    repeated = NadarayaWatsonClassifier(**params).fit(X[again], y[again])
    assert_allclose(weighted.bandwidth_, repeated.bandwidth_, rtol=1e-6)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-6)
    assert_allclose(weighted.loo_error_, repeated.loo_error_, rtol=1e-6)


def test_neighbourhoods_without_a_row():
    X, y = [[0.0], [2.0], [2.0], [10.0]], np.array(["ant", "bee", "cow", "ant"])
    queries = [[1.0], [3.5], [-100.0]]
    wanted = {
        "nearest": [[1 / 3, 1 / 3, 1 / 3], [0, 1 / 2, 1 / 2], [1, 0, 0]],
        "mean": [[1 / 2, 1 / 4, 1 / 4]] * 3,
    }
    for empty, expected in wanted.items():
        model = NadarayaWatsonClassifier("epanechnikov", bandwidth=0.5, empty=empty).fit(X, y)
        assert_allclose(model.predict_proba(queries), expected, rtol=0, atol=1e-14)
    model = NadarayaWatsonClassifier("epanechnikov", bandwidth=0.5, empty="raise").fit(X, y)
    assert_allclose(model.predict_proba([[0.1]]), [[1, 0, 0]], atol=1e-14)
    for ask in (model.predict, model.predict_proba):
        with pytest.raises(ValueError, match=r"3 row\(s\) of X have no training row within the kernel's reach"):
            ask(queries)


# -- errors without the row --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"bandwidth": 1.0},
        {"kernel": "tricube", "bandwidth": 1.0},
        {"kernel": "matern12", "bandwidth": [0.5, 2.0]},
        {"kernel": "softmax", "temperature": 3.0},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_brier_score_is_that_of_fits_without_the_row(params, weighted):
    X, y = draw(60)
    X[50:] = X[:10]  # with labels of their own
    weights = some_weights(60) if weighted else None
    model = NadarayaWatsonClassifier(**params).fit(X, y, weights)
    if not params:
        params = {"bandwidth": model.bandwidth_}
    shares = np.zeros((60, 3))
    for i, row in enumerate(X):
        others = (row != X).any(axis=1)
        less = None if weights is None else weights[others]
        fitted = NadarayaWatsonClassifier(**params).fit(X[others], y[others], less)
        shares[i, np.searchsorted(NAMES, fitted.classes_)] = fitted.predict_proba(row[None])[0]
    expected = np.average(((shares - indicators(y)) ** 2).sum(axis=1), weights=weights)
    assert isinstance(model.loo_error_, float)
    assert model.loo_error_ == pytest.approx(expected, rel=1e-10)


def test_without_another_row_there_is_no_score():
    model = NadarayaWatsonClassifier().fit(np.ones((5, 2)), NAMES[[0, 0, 1, 1, 2]])
    assert math.isnan(model.loo_error_)


@pytest.mark.parametrize("params", [{}, {"kernel": "matern32"}, {"n_neighbors": 9}], ids=str)
def test_the_chosen_bandwidth_has_the_best_score(params):
    """The shares of each class in units of their variance."""
    X, y = draw()
    model = NadarayaWatsonClassifier(**params).fit(X, y)
    scale = X.std(axis=0) if "n_neighbors" not in params else 1.0
    variance = indicators(y).var(axis=0)

    def criterion(h):
        errors = NadarayaWatsonRegressor(**params | {"bandwidth": h}).fit(X, indicators(y)).loo_error_ ** 2
        return float(np.mean(errors / variance))

    values = [criterion(factor * scale) for factor in np.geomspace(0.05, 20, 60)]
    assert 0 < np.argmin(values) < 59
    assert criterion(model.bandwidth_ / X.std(axis=0) * scale) <= min(values) * (1 + 1e-3)


# -- other classifiers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_scores_beside_nearest_neighbours(load):
    X, y = load(return_X_y=True)
    if load is load_digits:
        X, y = X[:800], y[:800]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scaler = StandardScaler() if load is load_iris else "passthrough"
    search = "loo" if load is load_iris else "loo_common"  # pixels have one unit
    ours = cross_val_score(make_pipeline(scaler, NadarayaWatsonClassifier(bandwidth=search)), X, y, cv=folds).mean()
    theirs = cross_val_score(make_pipeline(scaler, KNeighborsClassifier()), X, y, cv=folds).mean()
    assert ours > 0.94
    assert ours > theirs - 0.02


def test_nearest_neighbours_are_a_kernel_that_is_flat_out_to_the_k_th():
    """In the limit of a bandwidth that barely reaches one row."""
    X, y = draw()
    Q = X + 0.1
    one = KNeighborsClassifier(1).fit(X, y)
    assert_array_equal(NadarayaWatsonClassifier(bandwidth=1e-3).fit(X, y).predict(Q), one.predict(Q))
    reach = one.kneighbors(Q, 2)[0]
    for i, (first, second) in enumerate(reach):
        model = NadarayaWatsonClassifier("epanechnikov", bandwidth=(first + second) / 2).fit(X, y)
        assert_array_equal(model.predict(Q[i : i + 1]), one.predict(Q[i : i + 1]))


def test_pipelines_and_searches():
    X, y = draw()
    pipeline = make_pipeline(StandardScaler(), NadarayaWatsonClassifier("matern32"))
    prefix = "nadarayawatsonclassifier__"
    grid = {f"{prefix}bandwidth": [0.1, 1.0, "loo"], f"{prefix}kernel__nu": [0.5, 2.5]}
    search = GridSearchCV(pipeline, grid, scoring="neg_log_loss", cv=3).fit(X, y)
    assert len(set(search.cv_results_["mean_test_score"])) == 6
    best = clone(pipeline).set_params(**search.best_params_).fit(X, y)
    assert_allclose(search.predict_proba(X), best.predict_proba(X), rtol=0, atol=1e-13)
    changed = NadarayaWatsonClassifier(Matern(nu=1.5)).set_params(kernel__nu=0.5, bandwidth=1.0).fit(X, y)
    expected = NadarayaWatsonClassifier("matern12", bandwidth=1.0).fit(X, y)
    assert_array_equal(clone(changed).fit(X, y).predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("d", [1, 2])
def test_shares_by_transforms(d):
    X, y = draw(600, d)
    exact, fast = (NadarayaWatsonClassifier(bandwidth=0.5, method=method).fit(X, y) for method in ("exact", "nufft"))
    assert (exact.method_, fast.method_) == ("exact", "nufft")
    Q = np.concatenate([X, 20 * X, 1e4 * X[:9]])
    found = fast.predict_proba(Q)
    assert_allclose(found, exact.predict_proba(Q), rtol=0, atol=1e-8)
    assert (found >= 0).all()
    assert_allclose(found.sum(axis=1), 1, rtol=0, atol=4 * EPS)
    assert_allclose(fast.loo_error_, exact.loo_error_, rtol=1e-7)


# -- streams -----------------------------------------------------------------------------------------------------------


def frozen(X, n_components=512):
    features = PositiveRandomFeatures(sigma=1 / (2 * math.pi * 4.0), n_components=n_components, random_state=0)
    return FrozenEstimator(features.fit(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_streams_and_merged_parts_are_one_fit(weighted):
    X, y = draw(300)
    order = np.argsort(y, kind="stable")  # so that batches lack classes
    X, y = X[order], y[order]
    weights = some_weights(300) if weighted else None
    model = NadarayaWatsonClassifier(bandwidth=4.0, method=frozen(X))
    whole = clone(model).fit(X, y, weights)
    parts = [
        (X[p], y[p], NAMES, None if weights is None else weights[p])
        for p in (slice(0, 50), slice(50, 51), slice(51, 160), slice(160, 300))
    ]
    assert {len(np.unique(part[1])) for part in parts} == {1, 2}
    stream = clone(model)
    for part in parts:
        assert stream.partial_fit(*part) is stream
    assert_array_equal(stream.classes_, NAMES)
    assert_allclose(stream.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-10)
    merged = clone(model).partial_fit(*parts[3])
    for i in (0, 2, 1):
        merged.merge(clone(model).partial_fit(*parts[i]))
    assert_allclose(merged.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-10)
    later = clone(model).partial_fit(X[:50], y[:50], classes=NAMES)
    assert_array_equal(later.predict_proba(X), np.tile([1.0, 0, 0], (300, 1)))
    later.partial_fit(X[50:], y[50:])  # the classes are known
    if not weighted:
        assert_allclose(later.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-10)


def test_positive_features_converge_to_the_exact_shares():
    X, y = draw(600)
    exact = NadarayaWatsonClassifier(bandwidth=3.0).fit(X, y).predict_proba(X)
    deviations = indicators(y).std(axis=0)
    predicted = []
    for n_components in (256, 4096):
        features = PositiveRandomFeatures(n_components=n_components, random_state=0)
        model = NadarayaWatsonClassifier(bandwidth=3.0, method=features).fit(X, y)
        error = math.sqrt(np.mean(((model.predict_proba(X) - exact) / deviations) ** 2))
        assert error < 3 * model.predicted_error_
        predicted.append(model.predicted_error_)
    assert predicted[1] < predicted[0] / 3


def state_of(model, X):
    return model.predict_proba(X), dict(vars(model)), pickle.dumps(model)


def assert_unchanged(model, before, X):
    shares, attributes, stored = before
    assert vars(model).keys() == attributes.keys()
    assert all(vars(model)[name] is value for name, value in attributes.items())
    assert pickle.dumps(model) == stored
    assert_array_equal(model.predict_proba(X), shares)


def test_what_a_stream_of_labels_refuses():
    X, y = draw(300)
    model = NadarayaWatsonClassifier(bandwidth=4.0, method="positive")
    with pytest.raises(ValueError, match=r"classes must be given in the first call of partial_fit"):
        model.partial_fit(X, y)
    assert vars(model).keys() == vars(clone(model)).keys()
    with pytest.raises(
        ValueError, match=r"y must have labels among the classes \['ant', 'bee'\], but has also \['cow'\]"
    ):
        model.partial_fit(X, y, classes=["ant", "bee"])
    assert vars(model).keys() == vars(clone(model)).keys()
    model.partial_fit(X, y, classes=NAMES)
    before = state_of(model, X)
    for arguments, message in (
        ((X, y, ["ant", "bee"]), r"classes must be what they were in the first call, \['ant', 'bee', 'cow'\], got"),
        ((X, np.where(y == "cow", "dog", y)), r"y must have labels among the classes .* has also \['dog'\]"),
        ((X[:, :1], y), "expecting 2 features"),
        ((X, y[:9]), "inconsistent numbers of samples"),
        ((X, y, None, -np.ones(300)), "sample_weight must not be negative"),
        ((np.where(X > 3, np.nan, X), y), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*arguments)
        assert_unchanged(model, before, X)
    other = clone(model).partial_fit(X, y, classes=[*NAMES, "dog"])
    with pytest.raises(ValueError, match=r"Only estimators with the same classes can be merged.*'dog'"):
        model.merge(other)
    with pytest.raises(ValueError, match="Only two estimators of the class NadarayaWatsonClassifier with method='posi"):
        model.merge(NadarayaWatsonClassifier(bandwidth=4.0).fit(X, y))
    assert_unchanged(model, before, X)
    for name in ("loo_error_", "loo_rows_"):
        with pytest.raises(AttributeError, match="Leave-one-out errors take the training rows"):
            getattr(model, name)
    assert not hasattr(NadarayaWatsonClassifier(), "partial_fit")
    with pytest.raises(ValueError, match="looks at all rows together, which a stream does not allow"):
        NadarayaWatsonClassifier(method="positive").partial_fit(X, y, classes=NAMES)


def test_no_row_of_a_batch_need_count():
    X, y = draw(300)
    model = NadarayaWatsonClassifier(bandwidth=4.0, method="positive").fit(X, y)
    expected = model.predict_proba(X)
    assert_array_equal(model.partial_fit(X[:9], y[:9], sample_weight=np.zeros(9)).predict_proba(X), expected)


# -- what is kept and refused ------------------------------------------------------------------------------------------

STORED = {
    "default": {},
    "adaptive": {"kernel": "tricube", "n_neighbors": 5},
    "softmax": {"kernel": "softmax"},
    "transforms": {"method": "nufft", "bandwidth": 1.0},
    "positive": {"method": "positive", "bandwidth": 4.0},
}


@pytest.mark.parametrize("params", STORED.values(), ids=STORED)
def test_a_fitted_model_survives_pickle_joblib_and_skops(params, tmp_path):
    sio = pytest.importorskip("skops.io")
    X, y = draw(60)
    model = NadarayaWatsonClassifier(**params).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    stored = sio.dumps(model)
    unknown = sio.get_untrusted_types(data=stored)
    assert unknown
    assert all(name.startswith("spectralkit.") for name in unknown), unknown
    expected = model.predict_proba(X)
    for copied in (
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        sio.loads(stored, trusted=unknown),
        copy.deepcopy(model),
    ):
        assert_array_equal(copied.predict_proba(X), expected)
        assert_array_equal(copied.predict(X), model.predict(X))
        if model.method_ != "positive":
            assert copied.loo_error_ == model.loo_error_


def test_names_of_columns():
    X, y = draw()
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = NadarayaWatsonClassifier().fit(frame, y)
    assert_array_equal(model.feature_names_in_, ["a", "b"])
    assert_allclose(model.predict_proba(frame), NadarayaWatsonClassifier().fit(X, y).predict_proba(X), atol=1e-12)
    for ask in (model.predict, model.predict_proba, model.effective_sample_size):
        with pytest.raises(ValueError, match="feature names should match"):
            ask(frame[["b", "a"]])


REFUSED = {
    "bandwidth": ({"bandwidth": -1.0}, ValueError, "bandwidth must be a positive finite number"),
    "word": ({"bandwidth": "silverman"}, ValueError, "'loo_per_column', got 'silverman'"),
    "kernel": ({"kernel": "gauss"}, ValueError, "kernel must be one of 'softmax'"),
    "negative kernel": ({"kernel": "band_limited", "bandwidth": 1.0}, CapabilityError, "nonnegative"),
    "temperature": ({"temperature": 2.0}, ValueError, r"temperature=2\.0 is for kernel='softmax'"),
    "empty": ({"empty": "nan"}, ValueError, "empty must be one of 'nearest', 'mean', 'raise', got 'nan'"),
    "method": ({"method": "fast"}, ValueError, "method must be one of"),
    "neighbours": ({"n_neighbors": True}, ValueError, "n_neighbors must be None or an integer of at least 1"),
}


@pytest.mark.parametrize(("params", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_parameters_are_refused_and_a_fitted_model_stays_as_it_was(params, error, message):
    X, y = draw(60)
    model = NadarayaWatsonClassifier(bandwidth=1.0).fit(X, y)
    shares, score = model.predict_proba(X), model.loo_error_
    model.set_params(**params)
    before = dict(vars(model))
    with pytest.raises(error, match=message):
        model.fit(X[:30] + 1, np.where(y == "cow", "dog", y)[:30])
    assert all(vars(model)[name] is value for name, value in before.items())
    assert_array_equal(model.predict_proba(X), shares)
    assert_array_equal(model.classes_, NAMES)
    assert model.loo_error_ == score


def test_bad_data_are_refused_and_a_fitted_model_stays_as_it_was():
    X, y = draw(60)
    model = NadarayaWatsonClassifier(bandwidth=1.0).fit(X, y)
    before = state_of(model, X)
    wide = np.column_stack([X, X])
    for arguments, message in (
        ((np.where(wide > 3, np.nan, wide), y), "NaN"),
        ((wide, np.linspace(0, 1, 60)), "Unknown label type: continuous"),
        ((wide, y[:5]), "inconsistent numbers of samples"),
        ((wide, np.column_stack([y, y])), "1d array|bad input shape"),
        ((wide, y, np.zeros(60)), "sample_weight is zero for every row"),
        ((wide, y, np.ones(4)), "sample_weight must have one value per row"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(*arguments)
        assert_unchanged(model, before, X)
    for action in ("predict", "predict_proba", "effective_sample_size"):
        with pytest.raises(NotFittedError):
            getattr(NadarayaWatsonClassifier(), action)(X)
    with pytest.raises(NotFittedError):
        NadarayaWatsonClassifier().loo_error_  # noqa: B018


def test_data_stay_as_they_are():
    X, y = draw(60)
    weights = some_weights(60)
    given = [X.copy(), y.copy(), weights.copy()]
    for array in (X, y, weights):
        array.flags.writeable = False
    for params in STORED.values():
        model = NadarayaWatsonClassifier(**params).fit(X, y, weights)
        expected = model.predict_proba(X)
        for rows in (X.tolist(), np.asfortranarray(X)):
            again = clone(model).fit(rows, y.tolist(), weights.tolist())
            assert_allclose(again.predict_proba(rows), expected, rtol=0, atol=1e-9)
    for array, before in zip((X, y, weights), given, strict=True):
        assert_array_equal(array, before)
