"""Leave-one-out errors against fits without the row, and the bandwidths that they choose."""

import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from spectralkit import Gaussian, Matern, NadarayaWatsonRegressor
from spectralkit.attention import _leave_one_out
from spectralkit.attention._leave_one_out import criterion_and_slopes

STEP = 1 / 256  # chosen bandwidths are on a grid of their logarithms, and flat minima are found to a step or two


def draw(n=60, d=2, t=None, seed=0, noise=0.3):
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d)) * np.geomspace(1, 3, d) + 1
    shape = (d,) if t is None else (d, t)
    y = np.sin(X @ rng.normal(size=shape)) * (1 if t is None else np.geomspace(1, 50, t)) + 2
    return X, y + noise * y.std(axis=0) * rng.normal(size=y.shape)


def with_ties(X, y):
    X, y = X.copy(), y.copy()
    X[-len(X) // 3 :] = X[: len(X[-len(X) // 3 :])]
    return X, y


def some_weights(n, seed=2):
    return np.random.default_rng(seed).uniform(0.2, 3, size=n)


# -- leave-one-out errors ----------------------------------------------------------------------------------------------

KERNELS = {
    "gaussian": {"bandwidth": 0.8},
    "epanechnikov": {"kernel": "epanechnikov", "bandwidth": 2.0},
    "tricube": {"kernel": "tricube", "bandwidth": [0.5, 1.5]},  # with rows that have none within reach
    "matern32": {"kernel": "matern32", "bandwidth": [0.4, 2.0]},
    "matern52": {"kernel": "matern52", "bandwidth": 1.0},
    "rational_quadratic": {"kernel": "rational_quadratic", "bandwidth": 0.7},
    "laplacian": {"kernel": "laplacian", "bandwidth": 0.7},
    "sum": {"kernel": Gaussian() + Matern(nu=1.5), "bandwidth": 0.8},
    "own scale": {"kernel": Matern(nu=1.5, sigma=0.2)},
    "softmax": {"kernel": "softmax", "temperature": 2.0},
    "narrow": {"bandwidth": 1e-4},
}


def squared_errors(model, X, y, weights=None):
    """Of every row by a fit without it and its equals."""
    errors = np.empty_like(y)
    for i, row in enumerate(X):
        others = (row != X).any(axis=1)
        less = None if weights is None else weights[others]
        errors[i] = y[i] - clone(model).fit(X[others], y[others], less).predict(row[None])[0]
    return errors**2


@pytest.mark.parametrize("params", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize(("t", "weighted", "ties"), [(None, False, False), (2, True, True)])
def test_the_error_of_a_row_is_that_of_a_fit_without_it(params, degree, t, weighted, ties):
    X, y = draw(30, t=t)
    if ties:
        X, y = with_ties(X, y)
    weights = some_weights(30) if weighted else None
    model = NadarayaWatsonRegressor(degree=degree, **params)
    expected = np.sqrt(np.average(squared_errors(model, X, y, weights), axis=0, weights=weights))
    model.fit(X, y, weights)
    assert_allclose(model.loo_error_, expected, rtol=1e-10 if degree == 0 else 1e-7)
    assert np.shape(model.loo_error_) == y.shape[1:]
    assert model.loo_rows_ == len(np.unique(X, axis=0))


@pytest.mark.parametrize("kernel", ["gaussian", "tricube", "matern32"])
@pytest.mark.parametrize("degree", [0, 1])
def test_the_error_of_a_row_with_a_bandwidth_by_its_neighbours(kernel, degree):
    """In one column, where standard deviations cancel; the k-th neighbour is another row."""
    X, y = with_ties(*draw(d=1, t=2))
    weights = some_weights(60)
    model = NadarayaWatsonRegressor(kernel, bandwidth=1.3, n_neighbors=6, degree=degree)
    expected = np.sqrt(np.average(squared_errors(model, X, y, weights), axis=0, weights=weights))
    assert_allclose(model.fit(X, y, weights).loo_error_, expected, rtol=1e-8)


@pytest.mark.parametrize("k", [1, 5, 58, 59, 100])
def test_neighbours_of_rows_in_several_columns(k):
    X, y = draw()
    deviations = X.std(axis=0)
    distances = np.sqrt((((X[:, None] - X) / deviations) ** 2).sum(axis=-1))
    radius = np.sort(distances, axis=1)[:, min(k, 59)]  # the first is the row itself
    weights = np.exp(-((distances / (0.7 * radius[:, None])) ** 2) / 2)
    np.fill_diagonal(weights, 0)
    errors = y - weights @ y / weights.sum(axis=1)
    model = NadarayaWatsonRegressor(bandwidth=0.7, n_neighbors=k).fit(X, y)
    assert_allclose(model.loo_error_, math.sqrt(np.mean(errors**2)), rtol=1e-11)


LEVERAGES = {
    "gaussian": {"bandwidth": 1.0},
    "tricube": {"kernel": "tricube", "bandwidth": 3.0},
    "softmax": {"kernel": "softmax"},
    "linear": {"bandwidth": 3.0, "degree": 1},  # wide enough for slopes to count in full
    "linear tricube": {"kernel": "tricube", "bandwidth": 14.0, "degree": 1},
    "linear matern52": {"kernel": "matern52", "bandwidth": 3.0, "degree": 1},
}


@pytest.mark.parametrize("params", LEVERAGES.values(), ids=LEVERAGES)
def test_errors_follow_from_the_leverage_of_rows(params):
    """Targets that are unit vectors give the matrix from targets to predictions."""
    X, y = draw()
    model = NadarayaWatsonRegressor(**params)
    hat = clone(model).fit(X, np.eye(60)).predict(X)
    assert_allclose(hat.sum(axis=1), 1, rtol=1e-10)
    errors = (y - hat @ y) / (1 - np.diag(hat))
    assert_allclose(model.fit(X, y).loo_error_, math.sqrt(np.mean(errors**2)), rtol=1e-7)


def test_what_stands_in_for_no_other_row():
    X, y = np.array([[0.0], [0.1], [5.0], [9.0], [9.0]]), np.array([1.0, 2.0, 5.0, -3.0, -4.0])
    errors = {
        "nearest": [-1.0, 1.0, 5 + 3.5, -3 - 5, -4 - 5],  # the equal rows at 9 are left out together
        "mean": [-1.0, 1.0, 5 + 4 / 4, -3 - 8 / 3, -4 - 8 / 3],
    }
    for empty, expected in errors.items():
        model = NadarayaWatsonRegressor("epanechnikov", bandwidth=0.5, empty=empty).fit(X, y)
        assert_allclose(model.loo_error_, math.sqrt(np.mean(np.square(expected))), rtol=1e-13)
    for empty in ("nan", "raise"):
        other = NadarayaWatsonRegressor("epanechnikov", bandwidth=0.5, empty=empty).fit(X, y)
        assert other.loo_error_ == model.loo_error_


def test_without_another_row_there_is_no_error():
    for n in (1, 5):
        model = NadarayaWatsonRegressor().fit(np.ones((n, 2)), np.arange(n) * 1.0)
        assert math.isnan(model.loo_error_)
        assert_allclose(model.predict([[1.0, 1.0], [7.0, 0.0]]), (n - 1) / 2)
        two = NadarayaWatsonRegressor().fit(np.ones((n, 2)), np.ones((n, 2)))
        assert np.isnan(two.loo_error_).all()


# -- one factor --------------------------------------------------------------------------------------------------------

SEARCHES = {
    "gaussian": {},
    "linear": {"degree": 1},
    "tricube": {"kernel": "tricube"},
    "matern32": {"kernel": "matern32"},
    "adaptive": {"n_neighbors": 8},
    "adaptive tricube": {"kernel": "tricube", "n_neighbors": 8, "degree": 1},
}


def criterion(params, X, y, h, weights=None):
    """Mean squared leave-one-out error, every target in units of its variance."""
    model = NadarayaWatsonRegressor(**params | {"bandwidth": h}).fit(X, y, weights)
    variance = np.average((y - np.average(y, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    return float(np.mean(model.loo_error_**2 / variance))


@pytest.mark.parametrize("params", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("t", [None, 2])
def test_the_chosen_factor_has_the_smallest_error(params, t):
    X, y = draw(150, t=t, noise=0.4)
    weights = None if t is None else some_weights(150)
    model = NadarayaWatsonRegressor(**params).fit(X, y, weights)
    scale = 1.0
    if "n_neighbors" not in params:
        centre = np.average(X, axis=0, weights=weights)
        scale = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=weights))
    deviations = np.sqrt(np.average((X - np.average(X, axis=0, weights=weights)) ** 2, axis=0, weights=weights))
    factor = model.bandwidth_ / deviations
    assert_allclose(factor, factor[0], rtol=1e-12)
    best = criterion(params, X, y, factor[0] * scale, weights)
    factors = np.geomspace(0.03, 30, 50)
    values = np.array([criterion(params, X, y, each * scale, weights) for each in factors])
    assert 0 < values.argmin() < 49
    assert values.max() > 1.1 * values.min()
    # criteria of slopes and of kernels with an end have several minima, of nearly equal depth, between the trials
    smooth = params.get("kernel") != "tricube" and "degree" not in params
    assert best <= values.min() * (1 + (1e-3 if smooth else 0.03))


def test_a_common_bandwidth_for_all_columns():
    X, y = draw(150)
    model = NadarayaWatsonRegressor(bandwidth="loo_common").fit(X, y)
    assert model.bandwidth_[0] == model.bandwidth_[1] > 0
    values = [criterion({}, X, y, h) for h in np.geomspace(0.03, 30, 100)]
    assert criterion({}, X, y, model.bandwidth_[0]) <= min(values) * (1 + 1e-3)


def test_the_bandwidth_has_the_units_of_the_columns_and_none_of_the_targets():
    X, y = draw(100, t=2)
    model = NadarayaWatsonRegressor().fit(X, y)
    for units, offset in ((np.array([1e-3, 1e4]), 0.0), (1.0, np.array([1e6, -1e6]))):
        other = NadarayaWatsonRegressor().fit(X * units + offset, 1e5 * y - 1e7)
        assert_allclose(other.bandwidth_, model.bandwidth_ * units, rtol=2 * STEP)
        assert_allclose(other.loo_error_, 1e5 * model.loo_error_, rtol=1e-4)
    order = np.random.default_rng(0).permutation(100)
    again = NadarayaWatsonRegressor().fit(X[order], y[order])
    assert_allclose(again.bandwidth_, model.bandwidth_, rtol=2 * STEP)


@pytest.mark.parametrize("d", [1, 2])
def test_the_bandwidth_by_transforms_is_the_same(d):
    X, y = draw(400, d)
    exact, fast = (NadarayaWatsonRegressor(method=method).fit(X, y) for method in ("exact", "nufft"))
    assert fast.method_ == "nufft"
    assert_allclose(fast.bandwidth_, exact.bandwidth_, rtol=4 * STEP)


@pytest.mark.parametrize(
    "params", [{}, {"kernel": "tricube"}, {"bandwidth": "loo_per_column"}, {"n_neighbors": 4}], ids=str
)
def test_equal_rows_do_not_shrink_the_bandwidth(params):
    """Errors that leave out one row of several equal ones are smallest for no smoothing at all."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(size=(80, 1)), axis=0)
    signal = np.sin(6 * X[:, 0])
    twice = np.repeat(X, 2, axis=0)
    noise = np.repeat(rng.normal(size=80), 2)  # of a row, shared by its equal
    model = NadarayaWatsonRegressor(**params).fit(twice, np.repeat(signal, 2) + noise)
    assert model.bandwidth_[0] > 0.1 * X.std()
    once = NadarayaWatsonRegressor(**params).fit(X, signal + noise[::2])
    assert_allclose(model.bandwidth_, once.bandwidth_, rtol=2 * STEP)
    assert_allclose(model.loo_error_, once.loo_error_, rtol=1e-4)


@pytest.mark.parametrize("search", ["loo", "loo_common", "loo_per_column"])
@pytest.mark.parametrize("params", [{}, {"kernel": "epanechnikov"}, {"n_neighbors": 3}, {"degree": 1}], ids=str)
def test_nothing_to_choose_by(search, params):
    X, y = draw(30)
    for rows, targets in (
        (X, np.full(30, 0.1)),
        (X, np.zeros((30, 2))),
        (np.ones((30, 2)), y),
        (X[:1], y[:1]),
        (X[:2], y[:2]),
        (np.repeat(X[:2], 5, axis=0), y[:10]),
        (np.column_stack([X[:, 0], np.full(30, 3.0)]), y),
        (np.round(X), y),
        (np.where(np.arange(60).reshape(30, 2) == 7, 1e6, X), y),
    ):
        model = NadarayaWatsonRegressor(bandwidth=search, **params).fit(rows, targets)
        assert np.isfinite(model.bandwidth_).all()
        assert (model.bandwidth_ > 0).all()
        for query in (rows, [[1e3, -1e3]]):
            found = model.predict(query)
            assert (found >= targets.min() - 1e-9 - 4 * np.ptp(targets)).all()
            assert (found <= targets.max() + 1e-9 + 4 * np.ptp(targets)).all()


@pytest.mark.parametrize("value", [0.1, 1 / 3, 7.0, 1e8 + 0.1])
@pytest.mark.parametrize("n", [5, 30, 100])
def test_constant_targets_leave_the_standard_deviations(value, n):
    """Their mean may be off by a rounding error, which is nothing to choose by."""
    X, _ = draw(n)
    model = NadarayaWatsonRegressor().fit(X, np.full(n, value))
    assert_allclose(model.bandwidth_, X.std(axis=0), rtol=1e-12)
    assert_allclose(model.predict(X), value, rtol=1e-15)
    mixed = NadarayaWatsonRegressor().fit(X, np.column_stack([np.full(n, value), X[:, 0]]))
    assert_allclose(mixed.bandwidth_, NadarayaWatsonRegressor().fit(X, X[:, 0]).bandwidth_, rtol=2 * STEP)


def test_many_rows_are_judged_by_some_of_them(monkeypatch):
    X, y = draw(800, noise=0.5)
    for params in ({}, {"kernel": "tricube"}):
        model = NadarayaWatsonRegressor(**params)
        whole = clone(model).fit(X, y)
        assert whole.loo_rows_ == 800
        with monkeypatch.context() as patch:
            patch.setattr(_leave_one_out, "PAIRS", 200 * 800)
            patch.setattr(_leave_one_out, "_FEWEST", 100)
            patch.setattr(_leave_one_out, "_BY_DIFFERENCES", 1)
            some = clone(model).fit(X, y)
            # a fold of one in four of a hash of the rows
            assert abs(some.loo_rows_ - 200) < 4 * math.sqrt(800 * 0.25 * 0.75)
            assert_allclose(some.loo_error_, whole.loo_error_, rtol=4 / math.sqrt(2 * 200))
            order = np.random.default_rng(0).permutation(800)
            again = clone(model).fit(X[order], y[order])
            assert again.loo_rows_ == some.loo_rows_
            assert_allclose(again.loo_error_, some.loo_error_, rtol=1e-4)
            deviations = some.predict(X, return_std=True)[1]
        ratio = some.bandwidth_ / whole.bandwidth_
        assert (ratio < 1.5).all()
        assert (ratio > 1 / 1.5).all()
        expected = whole.predict(X, return_std=True)[1]
        assert_allclose(np.mean(deviations**2), np.mean(expected**2), rtol=4 * math.sqrt(2 / 200))


@pytest.mark.parametrize(("kernel", "rows"), [("gaussian", 1000), ("tricube", 250), ("matern32", 250)])
def test_no_number_of_rows_is_judged_by_none(kernel, rows, monkeypatch):
    X, y = draw(4000)
    monkeypatch.setattr(_leave_one_out, "PAIRS", 1)
    found = NadarayaWatsonRegressor(kernel, bandwidth=0.5).fit(X, y).loo_rows_
    assert abs(found - rows) < 4 * math.sqrt(rows)  # those in whose favour a hash decides


def test_some_of_the_isolated_rows_stand_for_all_of_them(monkeypatch):
    """By transforms the errors of all other rows are known."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=600), 20.0 * np.arange(1, 301)])[:, None]
    y = np.concatenate([0.1 * rng.normal(size=600), 3 * rng.normal(size=300)])
    model = NadarayaWatsonRegressor(bandwidth=0.5, method="nufft").fit(x, y)
    whole = model.loo_error_
    assert (model.method_, model.loo_rows_) == ("nufft", 900)
    monkeypatch.setattr(_leave_one_out, "PAIRS", 1)
    monkeypatch.setattr(_leave_one_out, "_FEWEST", 150)
    monkeypatch.setattr(_leave_one_out, "_BY_DIFFERENCES", 1, raising=False)
    some = clone(model).fit(x, y)
    assert 600 < some.loo_rows_ < 800
    assert_allclose(some.loo_error_, whole, rtol=4 / math.sqrt(2 * (some.loo_rows_ - 600)))


# -- every column's own ------------------------------------------------------------------------------------------------


def smallest_gap(distances):
    return np.abs(distances[~np.eye(len(distances), dtype=bool)] - 1).min()


@pytest.mark.parametrize(
    "kernel", ["gaussian", "epanechnikov", "tricube", "matern32", "matern52", "rational_quadratic"]
)
@pytest.mark.parametrize("n_neighbors", [None, 12])
@pytest.mark.parametrize(("t", "weighted"), [(None, False), (2, True)])
def test_slopes_of_the_criterion_are_those_of_finite_differences(kernel, n_neighbors, t, weighted):
    X, y = draw(t=t)
    weights = some_weights(60) if weighted else None
    h = np.array([1.1, 1.7]) if n_neighbors else np.array([1.3, 3.1])
    fitted = NadarayaWatsonRegressor(kernel, bandwidth=h, n_neighbors=n_neighbors).fit(X, y, weights)
    model, which = fitted._model, np.arange(60)
    if kernel == "epanechnikov":  # whose slope jumps where a row comes within reach
        radius = 1.0
        if n_neighbors:
            deviations = model.weighting.bandwidth / h
            radius = np.sqrt((((X[:, None] - X) / deviations) ** 2).sum(axis=-1))
            radius = np.sort(radius, axis=1)[:, [n_neighbors]]
        distances = np.sqrt((((X[:, None] - X) / model.weighting.bandwidth) ** 2).sum(axis=-1)) / radius
        assert smallest_gap(distances) > 2e-5
    step = 1e-5

    def value(log_factors):
        weighting = model.weighting.at(model.weighting.bandwidth * np.exp(log_factors))
        return criterion_and_slopes(model._smoother, weighting, which)

    found, slopes = value(np.zeros(2))
    assert found == pytest.approx(
        criterion({"kernel": kernel, "n_neighbors": n_neighbors}, X, y, h, weights), rel=1e-10
    )
    differences = [(value(step * e)[0] - value(-step * e)[0]) / (2 * step) for e in np.eye(2)]
    # rounding of the criterion over the step, and the third derivative times its square
    assert_allclose(slopes, differences, rtol=1e-6, atol=1e-8)
    assert np.abs(slopes).max() > 1e-3


@pytest.mark.parametrize("kernel", ["gaussian", "matern32", "tricube"])
@pytest.mark.parametrize("degree", [0, 1])
def test_every_column_has_the_bandwidth_of_the_smallest_error(kernel, degree):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(150, 2)) * [1.0, 50.0]
    y = np.sin(4 * X[:, 0]) + 0.02 * X[:, 1] + 0.2 * rng.normal(size=150)
    common = NadarayaWatsonRegressor(kernel, degree=degree).fit(X, y)
    model = NadarayaWatsonRegressor(kernel, bandwidth="loo_per_column", degree=degree).fit(X, y)
    params = {"kernel": kernel, "degree": degree}
    best = criterion(params, X, y, model.bandwidth_)
    assert best <= criterion(params, X, y, common.bandwidth_) * (1 + 1e-6)
    around = np.array([[a, b] for a in (-0.1, -0.03, 0, 0.03, 0.1) for b in (-0.1, -0.03, 0, 0.03, 0.1)])
    values = [criterion(params, X, y, model.bandwidth_ * np.exp(each)) for each in around]
    assert best <= min(values) * (1 + (1e-4 if kernel != "tricube" else 1e-3))
    assert max(values) > best * (1 + 1e-4)
    assert model.bandwidth_[1] / 50 > model.bandwidth_[0]


@pytest.mark.parametrize("kernel", ["gaussian", "matern52", "epanechnikov"])
@pytest.mark.parametrize("degree", [0, 1])
def test_a_column_that_does_not_matter_has_a_wide_bandwidth(kernel, degree):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 2)) * [1.0, 7.0]
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=200)
    model = NadarayaWatsonRegressor(kernel, bandwidth="loo_per_column", degree=degree).fit(X, y)
    narrow, wide = model.bandwidth_ / X.std(axis=0)
    assert narrow < 0.5
    assert wide > (4 if degree == 0 else 1.5)
    without = NadarayaWatsonRegressor(kernel, bandwidth=model.bandwidth_ * [1, 20], degree=degree).fit(X, y)
    assert model.loo_error_ < 1.001 * without.loo_error_


def statsmodels_bandwidth(y, X):
    kernel_regression = pytest.importorskip("statsmodels.nonparametric.kernel_regression")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kernel_regression.KernelReg(y, X, "c" * X.shape[1], reg_type="lc", bw="cv_ls").bw


@pytest.mark.parametrize(("d", "seed"), [(1, 0), (1, 1), (2, 0)])
def test_bandwidths_of_statsmodels(d, seed):
    """They may come out negative; ours never do."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(70, d))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=70)
    theirs = np.abs(statsmodels_bandwidth(y, X))
    ours = NadarayaWatsonRegressor(bandwidth="loo_per_column").fit(X, y).bandwidth_
    assert (ours > 0).all()
    assert_allclose(ours[0], theirs[0], rtol=2e-2)
    # rounding of the logarithms of bandwidths costs its square
    assert criterion({}, X, y, ours) <= criterion({}, X, y, theirs) * (1 + STEP**2)


@pytest.mark.parametrize("seed", [4, 5, 6])
def test_bandwidths_are_positive_where_statsmodels_has_negative_ones(seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(size=(60, 1)), axis=0)
    y = np.sin(12 * x[:, 0]) + 0.1 * rng.normal(size=60)
    theirs = statsmodels_bandwidth(y, x)  # with statsmodels 0.15, -0.019, -0.019 and -0.018
    for search, resolution in (("loo", 0.05), ("loo_per_column", 0.01)):
        ours = NadarayaWatsonRegressor(bandwidth=search).fit(x, y).bandwidth_
        assert_allclose(ours, np.abs(theirs), rtol=resolution)


def test_measures_with_several_scales_have_a_factor():
    X, y = draw(100)
    kernel = Gaussian().on([0]) * Matern(nu=0.5).on([1])
    model = NadarayaWatsonRegressor(kernel).fit(X, y)
    values = [criterion({"kernel": kernel}, X, y, f * X.std(axis=0)) for f in np.geomspace(0.05, 20, 60)]
    assert criterion({"kernel": kernel}, X, y, model.bandwidth_) <= min(values) * (1 + 1e-3)
    own = NadarayaWatsonRegressor(Matern(nu=1.5, sigma=0.2)).fit(X, y)
    assert_array_equal(own.bandwidth_, clone(own).set_params(bandwidth=None).fit(X, y).bandwidth_)


def test_a_search_that_fails_leaves_a_fitted_model_as_it_was():
    X, y = draw()
    model = NadarayaWatsonRegressor().fit(X, y)
    before, expected = dict(vars(model)), model.predict(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_leave_one_out, "_errors", None)
        with pytest.raises(TypeError):
            model.fit(X[:30], y[:30])
    assert all(vars(model)[name] is value for name, value in before.items())
    assert_array_equal(model.predict(X), expected)
