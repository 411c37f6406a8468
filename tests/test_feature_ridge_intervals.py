"""Conformal intervals of FeatureRidge against refits, and their coverage."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.preprocessing import FunctionTransformer

from spectralkit import FeatureRidge, FourierFeatures, datasets
from spectralkit._rows import fold_of_rows
from spectralkit.ridge import _conformal

pytestmark = pytest.mark.long

FEATURES = FourierFeatures(sigma=0.1, n_components=12, random_state=0)
KINDS = ["jackknife+", "cv+"]
N_FOLDS = 10
COVERAGES = (0.3, 0.8, 0.98)  # the last has infinite ends where rows are few

each_kind = pytest.mark.parametrize("kind", KINDS)


def draw(n=40, t=None, d=2, seed=0, noise=0.5):
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X @ rng.normal(size=(d,) if t is None else (d, t)))
    return X, (y + noise * rng.normal(size=y.shape)) * (1 if t is None else np.geomspace(1, 30, t))


def in_groups(X):
    return np.unique(X, axis=0, return_inverse=True)[1].ravel()


def smallest_with(values, weights, wanted):
    """The smallest of the values up to which there is so much weight, infinity if there is not as much."""
    order = np.argsort(values)
    enough = np.flatnonzero(np.cumsum(weights[order]) >= wanted * (1 - 1e-9))
    return values[order][enough[0]] if len(enough) else np.inf


def by_refits(X, y, weights, new, part, alphas, coverages):
    """The definition: around the predictions of each refit without a part of the rows, the residuals of the part.

    `alphas` is the penalty for each part; y is (n, t) and the ends are (n_new, 2, t), one array for each coverage.
    """
    transform = clone(FEATURES).fit(X).transform
    predictions, residuals = np.empty((len(y), len(new), y.shape[1])), np.empty(y.shape)
    for p in np.unique(part):
        out, rest = part == p, part != p
        ridge = Ridge(alphas[p], solver="svd").fit(transform(X[rest]), y[rest], weights[rest])
        residuals[out] = np.abs(y[out] - ridge.predict(transform(X[out])).reshape(-1, y.shape[1]))
        predictions[out] = ridge.predict(transform(new)).reshape(-1, y.shape[1])
    ends = np.empty((len(coverages), len(new), 2, y.shape[1]))
    for c, i, t in np.ndindex(len(coverages), len(new), y.shape[1]):
        wanted = coverages[c] * (weights.sum() + 1)
        ends[c, i, 0, t] = -smallest_with(residuals[:, t] - predictions[:, i, t], weights, wanted)
        ends[c, i, 1, t] = smallest_with(residuals[:, t] + predictions[:, i, t], weights, wanted)
    return ends


def assert_ends(actual, expected, atol=1e-8):
    assert_array_equal(np.isinf(actual), np.isinf(expected))
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    assert_allclose(actual, expected, rtol=0, atol=atol * scale)


# -- against refits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", [None, 3])
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.1, "gcv", "loo"])
@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_the_jackknife_is_that_of_refits_without_equal_rows(t, equal, weighted, alpha, solver):
    X, y = draw(36, t)
    if equal:
        X = X[np.arange(36) * 2 // 3]  # pairs of equal rows with different targets, and single ones
    weights = np.random.default_rng(1).uniform(0.2, 3, size=36) if weighted else np.ones(36)
    if weighted:
        weights[[3, 8]] = 0.0
    new = np.concatenate([draw(10, d=2, seed=1)[0], X[:3]])
    model = FeatureRidge(FEATURES, alpha=alpha, solver=solver, interval="jackknife+")
    model.fit(X, y, weights if weighted else None)
    group = in_groups(X)
    alphas = np.full(group.max() + 1, model.alpha_)
    expected = by_refits(X, y.reshape(36, -1), weights, new, group, alphas, COVERAGES)
    for coverage, ends in zip(COVERAGES, expected, strict=True):
        actual = model.predict_interval(new, coverage)
        assert actual.shape == ((13, 2) if t is None else (13, 2, t))
        assert_ends(actual.reshape(13, 2, -1), ends)


@pytest.mark.parametrize("t", [None, 3])
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.1, "gcv", "evidence", "loo"])
@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_cross_validation_intervals_are_those_of_refits(t, equal, weighted, alpha, solver):
    """Without each fold the penalty is chosen anew, but for leave-one-out, which would look at the rows again."""
    X, y = draw(80, t)
    if equal:
        X = X[np.arange(80) * 2 // 3]
    weights = np.random.default_rng(1).uniform(0.2, 3, size=80) if weighted else np.ones(80)
    if weighted:
        weights[[3, 8]] = 0.0
    new = np.concatenate([draw(10, d=2, seed=1)[0], X[:3]])
    model = FeatureRidge(FEATURES, alpha=alpha, solver=solver, interval="cv+")
    model.fit(X, y, weights if weighted else None)
    fold = fold_of_rows(X, N_FOLDS)
    assert len(np.unique(fold)) == N_FOLDS == _conformal.N_FOLDS
    alphas = np.full(N_FOLDS, model.alpha_)
    if alpha in ("gcv", "evidence"):
        rest = [fold != f for f in range(N_FOLDS)]
        alphas = [FeatureRidge(FEATURES, alpha=alpha).fit(X[r], y[r], weights[r]).alpha_ for r in rest]
    expected = by_refits(X, y.reshape(80, -1), weights, new, fold, alphas, COVERAGES)
    for coverage, ends in zip(COVERAGES, expected, strict=True):
        actual = model.predict_interval(new, coverage)
        assert actual.shape == ((13, 2) if t is None else (13, 2, t))
        assert_ends(actual.reshape(13, 2, -1), ends, 1e-7)


@each_kind
def test_intervals_of_the_chosen_multiplier(kind):
    X, y = draw(80)
    model = FeatureRidge(FEATURES, alpha=0.1, multipliers=[0.1, 2.0, 20.0], interval=kind).fit(X, y)
    alone = FeatureRidge(clone(FEATURES).set_params(multiplier=model.multiplier_), alpha=0.1, interval=kind).fit(X, y)
    assert_ends(model.predict_interval(X), alone.predict_interval(X))


@each_kind
@pytest.mark.parametrize("alpha", ["gcv", "loo", 0.1])
def test_the_order_of_the_rows_plays_no_part(kind, alpha):
    X, y = draw(60, 2)
    X = X[np.arange(60) * 2 // 3]
    order = np.random.default_rng(0).permutation(60)
    model = FeatureRidge(FEATURES, alpha=alpha, interval=kind).fit(X, y)
    other = FeatureRidge(FEATURES, alpha=alpha, interval=kind).fit(X[order], y[order])
    assert_ends(other.predict_interval(X), model.predict_interval(X))


@each_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_chunks_of_rows_do_not_show(kind, weighted, monkeypatch):
    X, y = draw(30, 2)
    weights = np.random.default_rng(0).uniform(1, 2, size=30) if weighted else None
    model = FeatureRidge(FEATURES, interval=kind).fit(X, y, weights)
    expected = model.predict_interval(X)
    monkeypatch.setattr(_conformal, "VALUES_PER_CHUNK", 7 * 30)
    assert_ends(model.predict_interval(X), expected, 1e-12)
    assert_ends(np.concatenate([model.predict_interval(row[None]) for row in X]), expected, 1e-12)


@each_kind
def test_units_and_offsets_of_targets(kind):
    X, y = draw(60)
    ends = FeatureRidge(FEATURES, interval=kind).fit(X, y).predict_interval(X)
    for factor, offset, rtol in ((1e-9, 0.0, 1e-9), (-1e9, 0.0, 1e-9), (1.0, 1e6, 1e-8)):
        model = FeatureRidge(FEATURES, interval=kind).fit(X, factor * y + offset)
        expected = np.sort(factor * ends, axis=1)
        actual = model.predict_interval(X) - offset
        assert_allclose(actual, expected, rtol=0, atol=rtol * np.abs(expected).max())


@each_kind
def test_integer_targets_are_numbers_and_more_coverage_is_wider(kind):
    X, y = draw(60)
    counts = np.rint(3 * y).astype(np.int64)
    model = FeatureRidge(FEATURES, interval=kind).fit(X, counts)
    real = FeatureRidge(FEATURES, interval=kind).fit(X, counts.astype(float))
    ends = [model.predict_interval(X, coverage) for coverage in (0.2, 0.5, 0.8, 0.9)]
    assert_array_equal(ends[2], real.predict_interval(X, 0.8))
    for narrow, wide in itertools.pairwise(ends):
        assert (wide[:, 0] <= narrow[:, 0]).all()
        assert (narrow[:, 1] <= wide[:, 1]).all()
        assert (wide[:, 1] - wide[:, 0] > narrow[:, 1] - narrow[:, 0]).all()


# -- where there is too little to say ----------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95])
def test_ends_are_infinite_where_rows_are_too_few(kind, coverage):
    """The quantile of n residuals and one more that is not known."""
    fewest = math.ceil(coverage / (1 - coverage) - 1e-9)
    for n in (max(fewest - 1, 2), max(fewest, 2)):
        X, y = draw(n)
        ends = FeatureRidge(FEATURES, alpha=1.0, interval=kind).fit(X, y).predict_interval(X, coverage)
        assert np.isfinite(ends).all() == (n >= fewest)
        assert np.isinf(ends).all() == (n < fewest)
        # a weight counts as so many rows
        doubled = FeatureRidge(FEATURES, alpha=1.0, interval=kind).fit(X, y, 2.0)
        assert np.isfinite(doubled.predict_interval(X, coverage)).all() == (2 * n >= fewest)


def test_one_row_has_no_other_to_be_predicted_by():
    for rows in (1, 4):
        X, y = np.ones((rows, 2)), np.arange(rows)
        model = FeatureRidge(FEATURES, alpha=1.0, interval="jackknife+").fit(X, y)
        ends = model.predict_interval([[0.0, 0.0], [1.0, 1.0]], 0.4)
        assert_array_equal(ends, [[-np.inf, np.inf]] * 2)
        with pytest.raises(ValueError, match=f"needs distinct rows of X to make folds of.*n_samples = {rows}"):
            FeatureRidge(FEATURES, interval="cv+").fit(X, y)


def test_a_row_that_only_it_explains_counts_as_unpredictable():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=30), np.arange(30) == 4])
    y = X[:, 0] + 0.1 * rng.normal(size=30)
    features = FunctionTransformer()
    model = FeatureRidge(features, alpha=0, interval="jackknife+").fit(X, y)
    without = FeatureRidge(features, alpha=0, interval="jackknife+").fit(np.delete(X, 4, axis=0), np.delete(y, 4))
    new = np.column_stack([rng.normal(size=5), np.zeros(5)])
    # rank 25 of 30 finite ones and one that is not, of 29 without it
    assert_ends(model.predict_interval(new, 25 / 31), without.predict_interval(new, 25 / 30))
    assert np.isfinite(model.predict_interval(new, 29 / 31)).all()
    assert np.isinf(model.predict_interval(new, 30 / 31)).all()


def test_two_distinct_rows_are_enough_for_folds():
    """Whatever their numbers, and rows without weight have no say."""
    met = 0
    for seed in range(40):
        X, y = draw(2, seed=seed)
        met += len(np.unique(fold_of_rows(X, N_FOLDS))) == 1
        new = X + 0.1
        model = FeatureRidge(FEATURES, alpha=1.0, interval="cv+").fit(X, y)
        expected = by_refits(X, y[:, None], np.ones(2), new, np.arange(2), np.ones(2), [0.6])[0]
        assert_ends(model.predict_interval(new, 0.6), expected[:, :, 0])
        more, targets = np.concatenate([X, draw(20, seed=seed)[0]]), np.r_[y, np.full(20, 1e6)]
        weighted = FeatureRidge(FEATURES, alpha=1.0, interval="cv+").fit(more, targets, np.r_[1.0, 1.0, np.zeros(20)])
        assert_ends(weighted.predict_interval(new, 0.6), expected[:, :, 0])
    assert met > 0
    with pytest.raises(
        ValueError, match="needs distinct rows of X to make folds of, but all that have weight are equal"
    ):
        FeatureRidge(FEATURES, interval="cv+").fit(more, targets, np.eye(22)[0])


# -- coverage ----------------------------------------------------------------------------------------------------------

REAL = {"load_power_plant": 500, "load_concrete": 500, "load_airfoil": 700, "load_bike_share": 500}
N_NEW, N_SPLITS = 300, 8


@pytest.mark.parametrize("name", REAL)
def test_intervals_cover_real_data(name):
    X, y = getattr(datasets, name)(return_X_y=True)
    n = REAL[name]
    inside = {kind: [] for kind in KINDS}
    for seed in range(N_SPLITS):
        order = np.random.default_rng(seed).permutation(len(X))
        train, new = order[:n], order[n : n + N_NEW]
        for kind in KINDS:
            model = FeatureRidge(FourierFeatures(n_components=128, random_state=0), interval=kind)
            low, high = model.fit(X[train], y[train]).predict_interval(X[new], 0.9).T
            inside[kind].append(((low <= y[new]) & (y[new] <= high)).mean())
    # new rows, and the quantile of the training rows, which all new rows of a split share
    error = math.sqrt(0.9 * 0.1 * (1 / N_NEW + 1 / n) / N_SPLITS)
    for kind in KINDS:
        assert np.mean(inside[kind]) == pytest.approx(0.9, abs=0.02 + 3 * error), kind


@each_kind
@pytest.mark.parametrize("noise", ["Gaussian about zero", "of the size of x", "Cauchy", "one-sided"])
def test_intervals_cover_whatever_the_noise_is_like(kind, noise):
    """And 1.64 standard deviations of the linear model do not, where the noise is not Gaussian."""
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(20):
        x = rng.uniform(-1, 1, size=(500, 1))
        size = {
            "Gaussian about zero": rng.normal(size=500),
            "of the size of x": 20 * x[:, 0] ** 16 * rng.normal(size=500),
            "Cauchy": 0.1 * rng.standard_cauchy(size=500),
            "one-sided": rng.exponential(size=500) ** 2,
        }[noise]
        y = np.sin(6 * x[:, 0]) + size
        model = FeatureRidge(FourierFeatures(sigma=1.0, n_components=24, random_state=0), interval=kind)
        model.fit(x[:200], y[:200])
        low, high = model.predict_interval(x[200:], 0.9).T
        mean, std = model.predict(x[200:], return_std=True)
        hits = [(low <= y[200:]) & (y[200:] <= high), np.abs(y[200:] - mean) <= 1.644854 * std]
        inside.append([hit.mean() for hit in hits])
    error = math.sqrt(0.9 * 0.1 * (1 / 300 + 1 / 200) / 20)
    conformal, gaussian = np.mean(inside, axis=0)
    assert conformal == pytest.approx(0.9, abs=0.01 + 3 * error)
    assert abs(gaussian - 0.9) < 0.01 + 3 * error or noise != "Gaussian about zero"
    assert abs(gaussian - 0.9) > 0.02 or noise == "Gaussian about zero"


@each_kind
def test_intervals_cover_targets_with_equal_rows(kind):
    """A row that comes again is not predicted by its copy: residuals are those of new rows."""
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(20):
        X = rng.normal(size=(150, 2))
        truth = np.sin(3 * X.sum(axis=1)) + 0.5 * rng.normal(size=150)
        rows = np.repeat(np.arange(75), 3)  # each comes three times, with its target
        model = FeatureRidge(FourierFeatures(sigma=0.4, n_components=64, random_state=0), alpha=0.05, interval=kind)
        low, high = model.fit(X[rows], truth[rows]).predict_interval(X[75:], 0.8).T
        inside.append(((low <= truth[75:]) & (truth[75:] <= high)).mean())
    error = math.sqrt(0.8 * 0.2 * (1 / 75 + 1 / 75) / 20)
    assert np.mean(inside) > 0.8 - 3 * error
