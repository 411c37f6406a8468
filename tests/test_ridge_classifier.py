import copy
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from spectralkit import FeatureRidge, FeatureRidgeClassifier, FourierFeatures
from spectralkit.datasets import load_letters, load_wine_quality
from spectralkit.ridge._calibration import probabilities

FIXED = FourierFeatures(sigma=0.1, n_components=64, random_state=0)  # reads nothing off the data
READS = "by design: the default features read their scale off the data, and the first batch must not decide for all"
EXPECTED = dict.fromkeys(["check_n_features_in_after_fitting", "check_estimators_partial_fit_n_features"], READS)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Matrices are small here, and threads that wait for each other on a busy machine take several times as long."""
    with threadpool_limits(1):
        yield


def data(n=200, n_classes=3, seed=0, d=4):
    """Rows, numbers of classes that depend on them but not wholly, weights."""
    rng = np.random.default_rng([seed, n, n_classes])
    X = rng.normal(size=(n, d))
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, score), rng.integers(0, 4, size=n)


def same_model(mine, theirs, X, tolerance=1e-10):
    assert_array_equal(mine.classes_, theirs.classes_)
    assert mine.alpha_ == theirs.alpha_
    assert mine.multiplier_ == theirs.multiplier_
    assert_allclose(mine.decision_function(X), theirs.decision_function(X), rtol=0, atol=tolerance)
    assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=tolerance)


# -- scikit-learn ------------------------------------------------------------------------------------------------------


@parametrize_with_checks(
    [FeatureRidgeClassifier(), FeatureRidgeClassifier(FIXED)],
    expected_failed_checks=lambda estimator: EXPECTED if estimator.features is None else {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)  # check_array_api_input skips itself unless SCIPY_ARRAY_API=1


@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore:X has feature names, but")
@pytest.mark.parametrize("check", ["check_dataframe_column_names_consistency", "check_inplace_ensure_writeable"])
def test_scikit_learn_checks_that_check_estimator_leaves_out(check):
    getattr(estimator_checks, check)("FeatureRidgeClassifier", FeatureRidgeClassifier(FIXED))


def test_searches_pipelines_and_calibration_take_it():
    X, y, _ = data()
    search = GridSearchCV(FeatureRidgeClassifier(FIXED), {"features__sigma": [1e-4, 0.1], "alpha": ["gcv", 1.0]})
    assert search.fit(X, y).best_params_["features__sigma"] == 0.1
    assert search.best_score_ > 0.5
    piped = make_pipeline(StandardScaler(), FeatureRidgeClassifier(FIXED))
    assert cross_val_score(piped, X, y).mean() > 0.5
    calibrated = CalibratedClassifierCV(FeatureRidgeClassifier(FIXED), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (200, 3)


# -- the model ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("n", [40, 200])  # fewer rows than features, and more
def test_decisions_are_those_of_ridge_classifier(n, n_classes, fit_intercept, weighted):
    X, y, weight = data(n, n_classes)
    weight = weight if weighted else None
    ours = FeatureRidgeClassifier(FIXED, alpha=0.03, fit_intercept=fit_intercept).fit(X, y, weight)
    Z = FIXED.fit(X).transform(X)
    theirs = RidgeClassifier(0.03, fit_intercept=fit_intercept, solver="svd").fit(Z, y, weight)
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), rtol=0, atol=1e-8)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=1e-8)
    assert_allclose(ours.decision_function(X), theirs.decision_function(Z), rtol=0, atol=1e-8)
    assert_array_equal(ours.predict(X), theirs.predict(Z))


@pytest.mark.parametrize("alpha", ["gcv", "evidence", "loo"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_regressions_are_those_of_feature_ridge(n_classes, alpha):
    X, y, weight = data(n_classes=n_classes)
    targets = np.where(y[:, None] == (np.arange(4) if n_classes == 4 else [1]), 1.0, -1.0)
    ours = FeatureRidgeClassifier(alpha=alpha, multipliers=[0.5, 1.0, 2.0]).fit(X, y, weight)
    theirs = FeatureRidge(alpha=alpha, multipliers=[0.5, 1.0, 2.0]).fit(X, targets, weight)
    assert (ours.alpha_, ours.multiplier_) == (theirs.alpha_, theirs.multiplier_)
    assert_allclose(ours.criteria_, theirs.criteria_, rtol=1e-12)
    assert_allclose(ours.decision_function(X).reshape(len(X), -1), theirs.predict(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("solver", ["gram", "qr"])
@pytest.mark.parametrize("alpha", ["gcv", "evidence", 0.1])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_streams_and_merged_parts_are_the_fit_of_all_rows(n_classes, alpha, solver):
    X, y, weight = data(n_classes=n_classes)
    new = data(50, seed=1)[0]
    model = FeatureRidgeClassifier(FIXED, alpha=alpha, solver=solver, multipliers=[1.0, 2.0])
    whole = clone(model).fit(X, y, weight)
    stream = clone(model)
    for start in range(0, 200, 70):
        batch = slice(start, start + 70)
        assert stream.partial_fit(X[batch], y[batch], range(n_classes), weight[batch]) is stream
    same_model(stream, whole, new)
    parts = [clone(model).partial_fit(X[half], y[half], [2, 1, 0][-n_classes:], weight[half]) for half in halves(200)]
    assert parts[0].merge(parts[1]) is parts[0]
    same_model(parts[0], whole, new)


def halves(n):
    return slice(0, n // 2), slice(n // 2, n)


def test_statistics_of_the_stream_stand_in_for_the_data():
    X, y, weight = data()
    whole = FeatureRidgeClassifier().fit(X, y, weight)
    stream = FeatureRidgeClassifier()
    for half in halves(200):
        stream.fit_statistics(X[half], weight[half])
    for half in halves(200):
        stream.partial_fit(X[half], y[half], classes=[0, 1, 2], sample_weight=weight[half])
    same_model(stream, whole, X)


@pytest.mark.parametrize("alpha", ["gcv", "loo", 0.1])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repetitions(n_classes, alpha):
    X, y, weight = data(n_classes=n_classes)
    model = FeatureRidgeClassifier(alpha=alpha)
    repeated = clone(model).fit(X.repeat(weight, axis=0), y.repeat(weight))
    same_model(clone(model).fit(X, y, weight), repeated, X)
    if alpha != "loo":
        same_model(model.set_params(features=FIXED).fit(X, y, np.full(200, 0.5)), clone(model).fit(X, y, 0.5), X)


def test_forgotten_rows_are_as_if_never_seen():
    X, y, weight = data()
    model = FeatureRidgeClassifier(FIXED).fit(X, y, weight)
    assert model.forget(X[:80], y[:80], weight[:80]) is model
    same_model(model, FeatureRidgeClassifier(FIXED).fit(X[80:], y[80:], weight[80:]), X, 1e-8)


@pytest.mark.parametrize(
    "labels",
    [
        ["three", "one", "two"],
        np.array(["b", "a", "c"], dtype=object),
        [10, -1, 3],
        [2.0, 1.0, 5.0],
        np.array([7, 3, 200], dtype=np.uint8),
        [True, False],
        [-1, 1],
        pd.Categorical(["x", "z", "y"]),
    ],
    ids=str,
)
def test_labels_of_any_type_keep_it_and_are_sorted(labels):
    labels = np.asarray(labels)
    X, codes, _ = data(n_classes=len(labels))
    y = labels[codes]
    model = FeatureRidgeClassifier(FIXED).fit(X, y)
    assert_array_equal(model.classes_, np.sort(labels))
    assert model.classes_.dtype == labels.dtype
    assert model.predict(X).dtype == labels.dtype
    order = np.argsort(labels)  # of the plain numbers, in the order of the sorted labels
    plain = FeatureRidgeClassifier(FIXED).fit(X, codes)
    assert_allclose(model.predict_proba(X), plain.predict_proba(X)[:, order], rtol=0, atol=1e-12)
    assert_array_equal(model.predict(X), labels[plain.predict(X)])
    stream = FeatureRidgeClassifier(FIXED).partial_fit(X[:50], y[:50], classes=labels.tolist())
    same_model(stream.partial_fit(X[50:], y[50:], classes=labels[::-1].tolist()), model, X)
    assert model.score(X, y) == plain.score(X, codes) > 0.7


def test_a_frame_and_a_series_are_taken():
    X, codes, _ = data()
    frame, series = pd.DataFrame(X, columns=list("abcd")), pd.Series(np.array(["u", "v", "w"])[codes], name="label")
    model = FeatureRidgeClassifier(FIXED).fit(frame, series)
    assert_array_equal(model.feature_names_in_, list("abcd"))
    assert set(model.predict(frame)) == {"u", "v", "w"}
    same_model(FeatureRidgeClassifier(FIXED).partial_fit(frame, series.astype("category"), list("uvw")), model, frame)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shapes(n_classes):
    X, y, _ = data(n_classes=n_classes)
    model = FeatureRidgeClassifier().fit(X, y)
    rows = 1 if n_classes == 2 else 3
    assert model.coef_.shape == (rows, 256)
    assert model.intercept_.shape == (rows,)
    assert model.decision_function(X).shape == ((200,) if n_classes == 2 else (200, 3))
    assert model.predict_proba(X).shape == (200, n_classes)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_float32_rows_give_the_decisions_of_float64(n_classes):
    X, y, _ = data(n_classes=n_classes)
    X = X.astype(np.float32)
    single, double = (FeatureRidgeClassifier(alpha=0.1).fit(rows, y) for rows in (X, X.astype(float)))
    assert single.decision_function(X).dtype == single.predict_proba(X).dtype == np.float64
    assert_allclose(single.decision_function(X), double.decision_function(X.astype(float)), rtol=0, atol=1e-3)


def test_sparse_rows_and_other_transformers():
    X, codes, _ = data()
    y = np.array(["p", "q", "r"])[codes]
    same_model(FeatureRidgeClassifier(FIXED).fit(sparse.csr_array(X), y), FeatureRidgeClassifier(FIXED).fit(X, y), X)
    nystroem = FeatureRidgeClassifier(Nystroem(n_components=50, random_state=0)).fit(X, y)
    assert nystroem.coef_.shape == (3, 50)
    supervised = FeatureRidgeClassifier(make_pipeline(SelectKBest(k=2), FIXED)).fit(X, y)
    assert_array_equal(supervised.features_[0].scores_, SelectKBest(k=2).fit(X, y).scores_)


# -- probabilities -----------------------------------------------------------------------------------------------------


def on_simplex(row):
    threshold = brentq(lambda t: np.maximum(row - t, 0).sum() - 1, row.min() - 1, row.max(), xtol=1e-15)
    return np.maximum(row - threshold, 0)


@pytest.mark.parametrize("error", [1e-4, 0.2, 0.5, 0.9, 1.0, 7.0, np.nan, np.inf])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_probabilities_are_the_formula(n_classes, error):
    rng = np.random.default_rng(n_classes)
    shares = rng.dirichlet(np.ones(n_classes))
    F = rng.normal(size=(50, n_classes))
    F += (2 - n_classes - F.sum(axis=1, keepdims=True)) / n_classes  # as regressions with an intercept
    variance = (4 * shares * (1 - shares)).mean()
    u = error / variance if error < variance else 1.0
    sigma = max(np.sqrt(u * variance), 1e-3)
    if n_classes == 2:
        f = F[:, 1]
        plus = (1 - u**2) * expit(2 * f / sigma) + u**2 * np.clip((1 + f) / 2, 0, 1)
        expected = np.stack([1 - plus, plus], axis=1)
    else:
        linear = np.array([on_simplex((1 + row) / 2) for row in F])
        expected = (1 - u**2) * softmax(2 * F / sigma, axis=1) + u**2 * linear
    P = probabilities(F, shares, np.full(n_classes, error))
    assert_allclose(P, expected, rtol=0, atol=1e-12)
    assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-14)
    assert_array_equal(P.argmax(axis=1), F.argmax(axis=1))
    wide = np.zeros((50, n_classes + 2))  # two classes that never came change nothing
    wide[:, 1:-1] = P
    padded = [
        np.pad(values, [(0, 0)] * (values.ndim - 1) + [(1, 1)]) for values in (F, shares, np.full(n_classes, error))
    ]
    assert_allclose(probabilities(*padded), wide, rtol=0, atol=1e-15)


def test_probabilities_at_the_edges():
    half = np.array([0.5, 0.5])
    scores = np.array([[-1e9, 1e9], [1e300, -1e300], [0.0, 0.0], [-1e-4, 1e-4]])
    certain = probabilities(scores, half, np.zeros(2))
    assert_allclose(certain, [[0, 1], [1, 0], [0.5, 0.5], [expit(-0.2), expit(0.2)]], rtol=0, atol=1e-15)
    assert_allclose(probabilities(scores, half, np.ones(2))[:3], [[0, 1], [1, 0], [0.5, 0.5]], rtol=0, atol=1e-15)
    assert_array_equal(probabilities(scores, np.array([0.0, 1.0]), np.zeros(2)), [[0, 1]] * 4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_errors_known_gives_the_linear_rule(n_classes):
    """Without a penalty and with more features than rows there are no degrees of freedom left to estimate errors."""
    X, y, _ = data(30, n_classes)
    model = FeatureRidgeClassifier(FIXED, alpha=0.0).fit(X, y)
    assert np.isnan(model.posterior_.noise_variance).all()
    new = data(50, seed=1)[0]
    scores = model.decision_function(new)
    scores = np.stack([-scores, scores], axis=1) if n_classes == 2 else scores
    expected = np.array([on_simplex((1 + row) / 2) for row in scores])
    assert_allclose(model.predict_proba(new), expected, rtol=0, atol=1e-9)


def test_log_probabilities_are_finite_logarithms():
    X, y, _ = data()
    model = FeatureRidgeClassifier(FIXED).fit(X, y)
    assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)), rtol=1e-12)
    absent = FeatureRidgeClassifier(FIXED).partial_fit(X, y, classes=[0, 1, 2, 3])
    assert_array_equal(absent.predict_log_proba(X)[:, 3], np.log(np.finfo(float).tiny))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("way", ["announced", "weightless", "forgotten"])
@pytest.mark.parametrize("left", [1, 2, 3])
def test_a_class_without_weight_has_probability_zero(left, way, fit_intercept):
    X, y, _ = data(n_classes=5)
    y = np.where(y == 4, 0, y)  # classes 0 to 3, of which some have no weight in the end
    there = y >= 4 - left
    model = FeatureRidgeClassifier(FIXED, alpha=0.03, fit_intercept=fit_intercept)
    if way == "announced":
        model.partial_fit(X[there], y[there], classes=range(4))
    else:
        model.fit(X, y, there if way == "weightless" else None)
    if way == "forgotten":
        model.forget(X[~there], y[~there])
    new = 5 * data(500, seed=1)[0]
    P = model.predict_proba(new)
    assert_array_equal(P[:, : 4 - left], 0.0)
    assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-14)
    assert_array_equal(model.classes_, range(4))
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(new))
    if left > 1 and (fit_intercept or left > 2):
        alone = FeatureRidgeClassifier(FIXED, alpha=0.03, fit_intercept=fit_intercept).fit(X[there], y[there])
        assert_allclose(P[:, 4 - left :], alone.predict_proba(new), rtol=0, atol=1e-8)


@pytest.mark.parametrize(("alpha", "multipliers"), [("gcv", None), ("evidence", [0.1, 1.0]), (0.1, [0.1, 1.0])])
def test_classes_that_have_not_come_change_nothing(alpha, multipliers):
    X, y, _ = data()
    model = FeatureRidgeClassifier(FIXED, alpha=alpha, multipliers=multipliers)
    announced = clone(model).partial_fit(X, y, classes=[-1, 0, 1, 2, 3, 4, 5])
    whole = model.fit(X, y)
    assert (announced.alpha_, announced.multiplier_) == (whole.alpha_, whole.multiplier_)
    assert_allclose(announced.predict_proba(X)[:, 1:4], whole.predict_proba(X), rtol=0, atol=1e-10)


def red_or_white():
    wine = load_wine_quality()
    return wine.data, wine.red


def no_signal(shares):
    rng = np.random.default_rng(5)
    return rng.normal(size=(4000, 4)), rng.choice(len(shares), p=shares, size=4000)


# data, features, largest expected calibration error, whether the linear rule has a larger log loss
CALIBRATED = {
    "letters": (lambda: [part[:10000] for part in load_letters(return_X_y=True)], 1024, 0.04, True),
    "digits": (lambda: load_digits(return_X_y=True), 256, 0.04, True),
    "red or white": (red_or_white, 256, 0.02, True),
    "breast cancer": (lambda: load_breast_cancer(return_X_y=True), 256, 0.06, True),
    "no signal": (lambda: no_signal([0.7, 0.3]), 256, 0.03, False),
    "no signal, rare class": (lambda: no_signal([0.97, 0.03]), 256, 0.03, False),
    "no signal, three classes": (lambda: no_signal([0.85, 0.1, 0.05]), 256, 0.03, False),
}


def calibration_error(P, hits, bins=15):
    """Mean difference of confidence and frequency, of the second of two classes, or of the predicted one of more."""
    confidence, hit = (
        (P[:, 1], hits[:, 1]) if P.shape[1] == 2 else (P.max(axis=1), hits[np.arange(len(P)), P.argmax(1)])
    )
    inside = np.minimum((confidence * bins).astype(int), bins - 1)
    return np.abs(np.bincount(inside, confidence - hit)).sum() / len(P)


def log_loss(P, hits):
    return -np.log(np.maximum(P, 1e-6))[hits].mean()


@pytest.mark.parametrize("name", CALIBRATED)
def test_probabilities_are_calibrated_on_rows_held_out(name):
    load, width, bound, has_signal = CALIBRATED[name]
    X, y = load()
    order = np.random.default_rng(0).permutation(len(y))
    train, test = np.array_split(order, 2)
    model = FeatureRidgeClassifier(FourierFeatures(n_components=width, random_state=0)).fit(X[train], y[train])
    P = model.predict_proba(X[test])
    hits = y[test, None] == model.classes_
    assert calibration_error(P, hits) < bound
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X[test]))
    F = model.decision_function(X[test])
    linear = np.clip((1 + (np.stack([-F, F], axis=1) if F.ndim == 1 else F)) / 2, 0, 1)
    linear /= linear.sum(axis=1, keepdims=True)
    if has_signal:
        assert log_loss(P, hits) < 0.8 * log_loss(linear, hits)
        assert calibration_error(linear, hits) > 1.2 * calibration_error(P, hits)
    else:
        assert_allclose(P.mean(axis=0), hits.mean(axis=0), rtol=0, atol=0.03)
        assert log_loss(P, hits) < log_loss(np.broadcast_to(hits.mean(axis=0), P.shape), hits) + 0.01


# -- state -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [False, True])
def test_a_fitted_classifier_survives_pickle_joblib_skops_and_copies(streamed, tmp_path):
    sio = pytest.importorskip("skops.io")
    X, codes, _ = data()
    y = np.array(["a", "b", "c"])[codes]
    model = FeatureRidgeClassifier(FIXED, multipliers=[1.0, 2.0])
    model = model.partial_fit(X, y, classes=["a", "b", "c"]) if streamed else model.fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    stored = sio.dumps(model)
    unknown = sio.get_untrusted_types(data=stored)
    assert all(name.startswith("spectralkit.") for name in unknown), unknown
    for copied in (
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        sio.loads(stored, trusted=unknown),
        copy.deepcopy(model),
    ):
        assert_array_equal(copied.predict_proba(X), model.predict_proba(X))
        same_model(copied.partial_fit(X, y), clone(model).fit(X, y, 2), X)


def test_the_html_display_works_before_and_after_fitting():
    X, y, _ = data()
    model = FeatureRidgeClassifier(FIXED)
    assert "FeatureRidgeClassifier" in model._repr_html_()
    assert "FeatureRidgeClassifier" in model.partial_fit(X, y, classes=[0, 1, 2])._repr_html_()


class Fragile(TransformerMixin, BaseEstimator):
    """Columns as they are, unless a value is too large."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        if np.abs(X).max() > 100:
            raise ArithmeticError("too large")
        return X


def test_an_exception_leaves_everything_as_it_was():
    X, y, _ = data()
    too_large = np.vstack([X[:-1], X[-1:] * 1e6])
    for model in (FeatureRidgeClassifier(Fragile()), FeatureRidgeClassifier(Fragile()).fit(X, y)):
        before = dict(vars(model))
        for action in (
            lambda model=model: model.fit(too_large, y),
            lambda model=model: model.partial_fit(too_large, y, classes=[0, 1, 2]),
            lambda model=model: model.partial_fit(X, y + 1, classes=[0, 1, 2]),
            lambda model=model: model.partial_fit(X[:, :-1], y + 1, classes=[0, 1, 2]),
            lambda model=model: model.fit(X, np.zeros(200)),
            lambda model=model: model.forget(X, y + 1),
        ):
            with pytest.raises((ArithmeticError, ValueError)):
                action()
            assert vars(model).keys() == before.keys()
            assert all(vars(model)[key] is before[key] for key in before)


# -- what is refused ---------------------------------------------------------------------------------------------------


def refused(message, error=ValueError):
    return pytest.raises(error, match=re.compile(message, re.DOTALL))


def test_labels_that_cannot_be_learnt_are_refused():
    X, y, _ = data()
    for one in (np.zeros(200, dtype=int), np.full(200, "a")):
        with refused(r"at least two classes, but y has one class only: (0|'a')\."):
            FeatureRidgeClassifier().fit(X, one)
    with refused("Unknown label type: continuous"):
        FeatureRidgeClassifier().fit(X, X[:, 0])
    with refused("y should be a 1d array"):
        FeatureRidgeClassifier().fit(X, np.stack([y, y], axis=1))
    with refused("inconsistent numbers of samples"):
        FeatureRidgeClassifier().fit(X, y[:-1])
    with refused("Input y contains NaN"):
        FeatureRidgeClassifier().fit(X, np.where(y == 0, np.nan, y))
    with pytest.warns(DataConversionWarning, match="column-vector"):
        FeatureRidgeClassifier(FIXED).fit(X, y[:, None])


def test_classes_of_a_stream_are_checked():
    X, y, _ = data()
    model = FeatureRidgeClassifier(FIXED)
    with refused(r"classes must be passed on the first call to partial_fit.*classes=np\.unique\(all_labels\)"):
        model.partial_fit(X, y)
    with refused(r"classes must have at least two labels, got \[0\]"):
        model.partial_fit(X, np.zeros(200), classes=[0])
    with refused(r"y must have labels among the classes \[0, 1\], but it has also \[2\]"):
        model.partial_fit(X, y, classes=[0, 1])
    with refused(r"y must have labels among the classes \['0', '1', '2'\], but it has also \[0, 1, 2\]"):
        model.partial_fit(X, y, classes=["0", "1", "2"])
    model.partial_fit(X, y, classes=[0, 1, 2])
    with refused(r"classes must be those of the first batch, \[0, 1, 2\], got \[0, 1, 3\]"):
        model.partial_fit(X, y, classes=[0, 1, 3])
    with refused(r"labels among the classes \[0, 1, 2\], but it has also \[3\]"):
        model.partial_fit(X, y + 1)
    with refused(r"labels among the classes \[0, 1, 2\], but it has also \[3\]"):
        model.forget(X, y + 1)
    with refused("X has 3 features, but FeatureRidgeClassifier is expecting 4"):
        model.partial_fit(X[:, :3], y)
    same_model(model.partial_fit(X, y), FeatureRidgeClassifier(FIXED).fit(X, y, 2), X)
    assert_array_equal(FeatureRidgeClassifier(FIXED).fit(X, y).partial_fit(X, y).classes_, [0, 1, 2])


def test_streams_that_need_all_rows_are_refused():
    X, y, _ = data()
    with refused("the first batch would decide for all.*fit_statistics"):
        FeatureRidgeClassifier().partial_fit(X, y, classes=[0, 1, 2])
    with refused("alpha='loo' looks at every row a second time"):
        FeatureRidgeClassifier(FIXED, alpha="loo").partial_fit(X, y, classes=[0, 1, 2])


def test_only_likes_are_merged():
    X, y, _ = data()
    model = FeatureRidgeClassifier(FIXED).fit(X, y)
    with refused(r"same classes can be merged, but these have learnt \[0, 1, 2\] and \[1, 2, 3\]"):
        model.merge(FeatureRidgeClassifier(FIXED).fit(X, y + 1))
    with refused("same features and targets"):
        model.merge(FeatureRidgeClassifier(FIXED).fit(X, y > 0))
    with refused("same features and targets"):
        model.merge(FeatureRidgeClassifier(clone(FIXED).set_params(random_state=1)).fit(X, y))
    with refused("can only be merged with its like, got FeatureRidge"):
        model.merge(FeatureRidge(FIXED).fit(X, np.eye(3)[y]))
    with refused("not fitted yet", NotFittedError):
        model.merge(FeatureRidgeClassifier(FIXED))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
def test_an_unfitted_classifier_and_bad_rows_are_refused(method):
    X, y, _ = data()
    with refused("This FeatureRidgeClassifier instance is not fitted yet", NotFittedError):
        getattr(FeatureRidgeClassifier(), method)(X)
    model = FeatureRidgeClassifier(FIXED).fit(X, y)
    with refused("X has 3 features, but FeatureRidgeClassifier is expecting 4 features"):
        getattr(model, method)(X[:, :3])
    with refused("Input X contains NaN"):
        getattr(model, method)(np.full((3, 4), np.nan))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "alpha must be"),
        ({"alpha": "cv"}, "alpha must be 'gcv', 'evidence', 'loo' or a finite number of at least 0, got 'cv'"),
        ({"solver": "svd"}, "solver must be 'gram' or 'qr', got 'svd'"),
        ({"multipliers": [0.0]}, "multipliers must be positive finite numbers"),
        ({"multipliers": [1.0], "features": Nystroem()}, "Nystroem has none"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, y, _ = data()
    with refused(message):
        FeatureRidgeClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), r"one value per row of X, shape \(200,\), got shape \(3,\)"),
        (-np.ones(200), "must not be negative"),
        (np.zeros(200), "zero for every row"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    X, y, _ = data()
    with refused(message):
        FeatureRidgeClassifier().fit(X, y, weight)
