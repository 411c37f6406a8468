"""Kernel regression against dense sums in long double, attention in torch, least squares and statsmodels."""

import copy
import math
import pickle
import re
import tracemalloc
import warnings
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import binom
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralkit import (
    BandLimited,
    CapabilityError,
    Gaussian,
    Matern,
    NadarayaWatsonClassifier,
    NadarayaWatsonRegressor,
    PositiveRandomFeatures,
    SpectralMixture,
)
from spectralkit.attention import _fast, _feature_model, _leave_one_out, _smoother, _sums
from spectralkit.moments import AttentionMoments

EPS = np.finfo(np.float64).eps
DTYPES = [np.float64, np.float32]


def draw(n=120, d=2, t=None, seed=0):
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d)) * np.geomspace(1, 3, d) + 1
    shape = (d,) if t is None else (d, t)
    y = np.sin(X @ rng.normal(size=shape)) * (1 if t is None else np.geomspace(1, 50, t)) + 2
    return X, y + 0.3 * y.std(axis=0) * rng.normal(size=y.shape)


def near(X, m=40, seed=1):
    """Queries not far from rows."""
    rng = np.random.default_rng(seed)
    return (X[rng.integers(0, len(X), m)] + 0.2 * X.std(axis=0) * rng.normal(size=(m, X.shape[1]))).astype(X.dtype)


def bandwidths(X):
    """Wide enough for compact kernels to reach some rows in any number of columns."""
    return 1.2 * math.sqrt(X.shape[1]) * np.geomspace(1, 3, X.shape[1])


def some_weights(n, seed=2):
    return np.random.default_rng(seed).uniform(0.2, 3, size=n)


# -- dense sums --------------------------------------------------------------------------------------------------------


def length(U):
    return np.sqrt((U**2).sum(axis=-1))


def matern32(r):
    return np.log1p(math.sqrt(3) * r) - math.sqrt(3) * r


def product_of_columns(U):
    return -(length(U) ** 2) / 2 if U.shape[-1] == 1 else -(U[..., 0] ** 2) / 2 - length(U[..., 1:])


class Kernel(NamedTuple):
    argument: object  # of the estimator, or a function of the number of columns
    log: object  # of differences in bandwidths

    def of(self, d):
        return self.argument(d) if callable(self.argument) else self.argument


def gaussian_times_matern(d):
    return Gaussian() if d == 1 else Gaussian().on([0]) * Matern(nu=0.5).on(list(range(1, d)))


def own_scale(d):
    return Matern(nu=1.5, sigma=1 / (2 * math.pi * bandwidths(np.ones((1, d)))))


def mixture(d):
    sigmas = 1 / (2 * math.pi * bandwidths(np.ones((1, d))))
    return SpectralMixture(weights=[0.5, 1.0], means=np.zeros((2, d)), sigmas=[sigmas, sigmas / 2])


OPEN = {
    "gaussian": Kernel("gaussian", lambda U: -(length(U) ** 2) / 2),
    "epanechnikov": Kernel("epanechnikov", lambda U: np.log(np.maximum(1 - length(U) ** 2, 0))),
    "tricube": Kernel("tricube", lambda U: 3 * np.log(np.maximum(1 - length(U) ** 3, 0))),
    "matern12": Kernel("matern12", lambda U: -length(U)),
    "matern32": Kernel("matern32", lambda U: matern32(length(U))),
    "matern52": Kernel(
        "matern52", lambda U: np.log1p(math.sqrt(5) * length(U) + 5 / 3 * length(U) ** 2) - math.sqrt(5) * length(U)
    ),
    "rational_quadratic": Kernel("rational_quadratic", lambda U: -np.log1p(length(U) ** 2 / 2)),
    "laplacian": Kernel("laplacian", lambda U: -abs(U).sum(axis=-1)),
    "sum": Kernel(Gaussian() + Matern(nu=1.5), lambda U: np.logaddexp(-(length(U) ** 2) / 2, matern32(length(U)))),
    "product": Kernel(gaussian_times_matern, product_of_columns),
}
KERNELS = OPEN | {
    "own scale": Kernel(own_scale, lambda U: matern32(length(U))),
    "mixture": Kernel(mixture, lambda U: np.logaddexp(-(length(U) ** 2) / 2, math.log(2) - length(U) ** 2 / 8)),
    "softmax": Kernel("softmax", None),
}
COMPACT = ("epanechnikov", "tricube")


def precision(name, X):
    """Of the sums: exponential weights of float32 rows are summed in float32."""
    in_products = name in ("gaussian", "softmax") or (name == "product" and X.shape[1] == 1)
    return X.dtype if in_products else np.float64


def dense(name, Q, X, h, weights=None, y=None):
    """Weights (m, n) of the rows at the queries, up to a factor for each query, in long double; or averages of y."""
    Q, X = Q.astype(np.longdouble), X.astype(np.longdouble)
    with np.errstate(divide="ignore"):
        logs = Q @ X.T / h if name == "softmax" else KERNELS[name].log((Q[:, None] - X) / h)
        logs = logs if weights is None else logs + np.log(weights)
    k = np.exp(logs - logs.max(axis=1, keepdims=True))
    return k if y is None else (k @ y.reshape(len(y), -1) / k.sum(axis=1, keepdims=True)).reshape(len(Q), *y.shape[1:])


def size(Q, X, h):
    """Largest square of a point in bandwidths, which is what logarithms of weights round by."""
    return 1 + max(float(((points / h) ** 2).sum(axis=1).max()) for points in (Q, X))


def atol(Q, X, h, y, dtype=np.float64):
    """What averages may be off by: the rounding of logarithms of weights, by the spread of the targets."""
    return 16 * np.finfo(dtype).eps * size(Q, X, h) * np.ptp(y)


def regressor(name, d, **params):
    if name in OPEN:
        return NadarayaWatsonRegressor(KERNELS[name].of(d), **params)
    return NadarayaWatsonRegressor(KERNELS[name].of(d), **{k: v for k, v in params.items() if k != "bandwidth"})


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("d", [1, 3, 8])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("t", "weighted"), [(None, False), (3, True)])
def test_predictions_are_averages_with_the_weights_of_the_kernel(name, d, dtype, t, weighted):
    X, y = draw(d=d, t=t)
    X = X.astype(dtype)
    Q, h = near(X), bandwidths(X)
    weights = some_weights(len(X)) if weighted else None
    model = regressor(name, d, bandwidth=h).fit(X, y, weights)
    found = model.predict(Q)
    expected = dense(name, Q, X, math.sqrt(d) if name == "softmax" else h, weights, y)
    assert found.shape == (len(Q), *y.shape[1:])
    assert found.dtype == np.float64
    scale = math.sqrt(math.sqrt(d)) if name == "softmax" else h
    assert_allclose(found, expected.astype(float), rtol=0, atol=atol(Q, X, scale, y, precision(name, X)))
    assert_array_equal(model.predict(Q.astype(np.float64)), found)  # queries of any dtype, in the precision of the rows


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("degree", [0, 1])
def test_one_row_and_two(name, degree):
    X, y = draw(2, t=2)
    h, Q = bandwidths(X), near(X)
    model = regressor(name, 2, bandwidth=h, degree=degree)
    one = clone(model).fit(X[:1], y[:1])
    assert_array_equal(one.predict(Q), np.tile(y[:1], (40, 1)))
    assert_array_equal(
        clone(model).fit(np.repeat(X[:1], 4, axis=0), np.repeat(y[:1], 4, axis=0)).predict(Q), one.predict(Q)
    )
    two = clone(model).fit(X, y)
    assert_allclose(
        clone(model).fit(X[:1].repeat(2, axis=0), y).predict(Q), np.tile(y.mean(axis=0), (40, 1)), rtol=1e-14
    )
    if degree == 0:
        expected = dense(name, Q, X, math.sqrt(2) if name == "softmax" else h, None, y).astype(float)
        assert_allclose(two.predict(Q), expected, rtol=0, atol=atol(Q, X, 1.0, y))
    elif name not in (*COMPACT, "softmax"):  # two points are on a line
        assert_allclose(two.predict(X), y, rtol=1e-9)


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("degree", [0, 1])
def test_an_offset_of_the_rows_costs_the_digits_of_the_rows(name, degree):
    """Rows that float64 still has exactly beside an offset of 1e8."""
    X, y = draw()
    X, Q, h, offset = np.round(X * 1024) / 1024, np.round(near(X) * 1024) / 1024, bandwidths(X), 2.0**27
    model = regressor(name, 2, bandwidth=h, degree=degree)
    found = clone(model).fit(X + offset, y).predict(Q + offset)
    expected = clone(model).fit(X, y).predict(Q)
    # points in bandwidths have the precision of the offset, except where they are counted from their centre first
    relative = 0 if name == "gaussian" else 8 * offset / h.min()
    assert_allclose(found, expected, rtol=0, atol=100 * EPS * (size(Q, X, h) + relative) * np.ptp(y))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("degree", [0, 1])
def test_an_offset_of_the_targets_costs_the_digits_of_the_targets(name, degree):
    X, y = draw(t=2)
    Q, model = near(X), regressor(name, 2, bandwidth=bandwidths(X), degree=degree)
    found = clone(model).fit(X, y + 1e8).predict(Q)
    assert_allclose(found - 1e8, clone(model).fit(X, y).predict(Q), rtol=0, atol=20 * EPS * 1e8)


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_query_is_too_far_away(name, degree, dtype):
    X, y = draw()
    X = X.astype(dtype)
    h = 0.2 * X.std(axis=0)
    model = regressor(name, 2, bandwidth=h, degree=degree).fit(X, y)
    directions = np.random.default_rng(0).normal(size=(30, 2))
    for distance in (10, 30, 100, 1e3, 1e4, 1e6):
        Q = (X.mean(axis=0) + distance * h * directions).astype(dtype)
        found = model.predict(Q)
        # a trusted step is at most five deviations of a neighbourhood, whose targets deviate by half their range
        beyond = 5 * math.sqrt(2) / 2 * np.ptp(y) if degree and distance < 1e4 else 1e-9
        assert (found >= y.min() - beyond).all(), distance
        assert (found <= y.max() + beyond).all(), distance
        if name == "gaussian" and distance >= 1e4:
            distances = (((Q[:, None].astype(np.longdouble) - X) / h) ** 2).sum(axis=-1)
            nearest, second = np.sort(distances, axis=1)[:, :2].T
            clear = second - nearest > 2 * 50  # weights below e^-50 are lost in rounding
            assert clear.sum() > 20
            assert_allclose(found[clear], y[distances.argmin(axis=1)[clear]], rtol=1e-14)


@pytest.mark.parametrize("distance", [1e4, 1e6, 1e7, 1e8, 1e12])
def test_rows_equally_far_from_a_far_query_weigh_by_their_offsets_from_its_direction(distance):
    model = NadarayaWatsonRegressor(bandwidth=1.0).fit([[0.0, 0.0], [0.0, 1.0]], [0.0, 1.0])
    # the difference of their squared distances is 1, and from 1e8 bandwidths on lost in the rounding of these
    assert_allclose(model.predict([[distance, 0.0]]), 1 / (1 + math.exp(0.5)), rtol=1e-8)


@pytest.mark.parametrize("query", [1e100, -1e160, 1e200, -1e300])
@pytest.mark.parametrize("kernel", ["gaussian", "tricube", "matern12", "laplacian"])
def test_distances_that_overflow(query, kernel):
    X, y = draw(30)
    for degree in (0, 1):
        found = NadarayaWatsonRegressor(kernel, bandwidth=1.0, degree=degree).fit(X, y).predict([[query, query]])
        assert y.min() <= found[0] <= y.max()


@pytest.mark.parametrize("name", OPEN)
def test_bandwidths_from_a_millionth_of_the_spread_to_a_million_times(name):
    X, y = draw()
    Q = near(X)
    h = X.std(axis=0)
    distances = (((Q[:, None] - X) / h) ** 2).sum(axis=-1)
    nearest = y[distances.argmin(axis=1)]
    for degree in (0, 1):
        model = regressor(name, 2, bandwidth=1e-6 * h, degree=degree).fit(X, y)
        expected = nearest
        if name == "rational_quadratic":  # whose weights fall with the square of the distance
            expected = (1 / distances @ y) / (1 / distances).sum(axis=1)
        if degree == 0 and name != "laplacian":
            assert_allclose(model.predict(Q), expected, rtol=1e-6)
        assert_allclose(model.predict(X), y, rtol=1e-9)
    for factor in (1e-3, 1e-1, 1e1, 1e3):
        model = regressor(name, 2, bandwidth=factor * h).fit(X, y)
        if name in COMPACT and factor < 1:
            assert np.isfinite(model.predict(Q)).all()
        elif factor >= 0.1:
            found = model.predict(Q)
            assert_allclose(found, dense(name, Q, X, factor * h, None, y).astype(float), atol=atol(Q, X, factor * h, y))
    wide = regressor(name, 2, bandwidth=1e6 * h).fit(X, y).predict(Q)
    assert_allclose(wide, y.mean(), rtol=1e-4 if name in ("matern12", "laplacian", "product") else 1e-9)
    linear = np.column_stack([np.ones(len(X)), X])
    expected = np.column_stack([np.ones(40), Q]) @ np.linalg.lstsq(linear, y, rcond=None)[0]
    found = regressor(name, 2, bandwidth=1e6 * h, degree=1).fit(X, y).predict(Q)
    assert_allclose(found, expected, rtol=0, atol=1e-4 if name in ("matern12", "laplacian", "product") else 1e-7)


@pytest.mark.parametrize(("name", "degree"), [*((name, 0) for name in KERNELS), ("gaussian", 1), ("tricube", 1)])
def test_threads_change_no_bit(name, degree):
    X, y = draw(300, 3, t=2)
    Q = near(X, 1100)
    results = []
    for n_jobs in (1, 3):
        model = regressor(name, 3, bandwidth=bandwidths(X), degree=degree, n_jobs=n_jobs).fit(X, y)
        results.append((model.predict(Q[:50], return_std=True), model.predict(Q), model.loo_error_))
    for (mean, std), whole, error in results[1:]:
        assert_array_equal(mean, results[0][0][0])
        assert_array_equal(std, results[0][0][1])
        assert_array_equal(whole, results[0][1])
        assert_array_equal(error, results[0][2])


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("params", [{}, {"degree": 1}, {"n_neighbors": 7, "bandwidth": 1.5}], ids=str)
def test_a_row_is_predicted_alone_as_in_company(name, params):
    if name not in OPEN and "n_neighbors" in params:
        pytest.skip("takes no n_neighbors")
    X, y = draw(300, 3)
    Q = near(X, 200)
    model = regressor(name, 3, **{"bandwidth": bandwidths(X)} | params).fit(X, y)
    whole = model.predict(Q)
    for part in (slice(0, 1), slice(99, 100), slice(50, 130), slice(None, None, -3)):
        # the covariances of neighbourhoods that far-off keys make are the worse conditioned
        assert_allclose(model.predict(Q[part]), whole[part], rtol=0, atol=1e-10 if "degree" in params else 1e-12)


@pytest.mark.parametrize("name", ["gaussian", "softmax", "tricube", "matern32"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_more_rows_and_queries_than_a_block(name, dtype):
    X, y = draw(4500)
    X = X.astype(dtype)
    Q, h = near(X, 1100), 0.5 * bandwidths(X)
    found = regressor(name, 2, bandwidth=h).fit(X, y).predict(Q)
    some = np.unique(np.r_[0:1100:25, 120:136, 1015:1035, 1099])
    scale = math.sqrt(2) if name == "softmax" else h
    expected = dense(name, Q[some], X, scale, None, y).astype(float)
    tolerance = atol(Q, X, 1.0 if name == "softmax" else h, y, precision(name, X))
    assert_allclose(found[some], expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["gaussian", "tricube", "softmax"])
@pytest.mark.parametrize("params", [{}, {"degree": 1}, {"n_neighbors": 7}], ids=str)
def test_blocks_do_not_show(name, params, monkeypatch):
    if name == "softmax" and "n_neighbors" in params:
        pytest.skip("takes no n_neighbors")
    X, y = draw(150, t=2)
    X[140:] = X[:10]
    Q = np.concatenate([near(X, 60), 1e3 * X[:20]])

    def ask(h):
        model = regressor(name, 2, bandwidth=h, **params).fit(X, y, some_weights(150))
        return *model.predict(Q, return_std=True), model.loo_error_, model.effective_sample_size(Q[:60])

    for h in (1.5, 1e-4):  # of products of points and of differences
        whole = ask(h)
        with monkeypatch.context() as patch:
            patch.setattr(_sums, "_QUERIES", 7)
            patch.setattr(_sums, "_KEYS", 16)
            patch.setattr(_smoother, "_QUERIES", 11)
            patch.setattr(_smoother, "_BLOCK", 5)
            for one, other in zip(ask(h), whole, strict=True):
                assert_allclose(one, other, rtol=0, atol=1e-9 * np.abs(other).max())


@pytest.mark.parametrize("factor", [3e-3, 0.03, 0.3, 3.0])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_single_precision_rows_cost_no_more_than_five_digits(factor, offset):
    """Whatever the bandwidth: where products of points would round more, they are taken in double precision."""
    X, y = draw(400)
    X = (X + offset).astype(np.float32)
    Q, h = near(X), factor * X.std(axis=0)
    found = NadarayaWatsonRegressor(bandwidth=h).fit(X, y).predict(Q)
    expected = dense("gaussian", Q, X, h, None, y).astype(float)
    assert_allclose(found, expected, rtol=0, atol=2 * 1e-5 * np.ptp(y))


@pytest.mark.parametrize("name", ["gaussian", "tricube", "matern32"])
def test_no_array_of_all_weights_is_made(name):
    X, y = draw(3000)
    model = regressor(name, 2, bandwidth=0.5).fit(X, y)
    model.predict(X[:1000])
    tracemalloc.start()
    model.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 3000**2 / 3


# -- attention ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [None, 1.0, 3.0, 0.4])
@pytest.mark.parametrize("t", [None, 1, 5])
def test_softmax_is_scaled_dot_product_attention(temperature, t):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    queries, keys = rng.normal(size=(130, 16)) / 4, rng.normal(size=(700, 16))
    values = rng.normal(size=(700,) if t is None else (700, t))
    for dtype in DTYPES:
        q, k, v = (torch.from_numpy(a.reshape(len(a), -1).astype(dtype)) for a in (queries, keys, values))
        scale = None if temperature is None else 1 / temperature
        expected = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=scale)[0].numpy()
        model = NadarayaWatsonRegressor("softmax", temperature=temperature)
        found = model.fit(k.numpy(), values.astype(dtype)).predict(q.numpy())
        colder = 1 if temperature is None else max(1, 4 / temperature)  # scores, and what they round by, grow
        tolerance = colder * (1e-12 if dtype is np.float64 else 1e-6)
        assert_allclose(found.reshape(expected.shape), expected, rtol=0, atol=tolerance)
        assert model.temperature_ == pytest.approx(4.0 if temperature is None else temperature, rel=1e-15)


@pytest.mark.parametrize("temperature", [None, 0.3, 2.0])
@pytest.mark.parametrize("d", [2, 8])
def test_the_gaussian_kernel_is_attention_to_keys_of_equal_norm(temperature, d):
    keys, values = draw(d=d, t=2)
    queries = near(keys)
    T = math.sqrt(d) if temperature is None else temperature
    gaussian = NadarayaWatsonRegressor(bandwidth=math.sqrt(T))
    softmax = NadarayaWatsonRegressor("softmax", temperature=temperature)
    squares = (keys**2).sum(axis=1, keepdims=True)
    unit = keys / np.sqrt(squares)
    found = clone(softmax).fit(unit, values).predict(queries)
    assert_allclose(found, clone(gaussian).fit(unit, values).predict(queries), rtol=0, atol=1e-12 * np.ptp(values))
    found = softmax.fit(keys, values).predict(queries)
    assert np.abs(found - gaussian.fit(keys, values).predict(queries)).max() > 0.1
    weights = np.exp((squares - squares.max()).ravel() / (2 * T))
    expected = gaussian.fit(keys, values, weights).predict(queries)
    assert_allclose(found, expected, rtol=0, atol=16 * EPS * squares.max() / T * np.ptp(values))
    assert gaussian.temperature_ is None


def test_softmax_needs_no_small_scores():
    """Scores of a thousand and more, whose exponentials overflow."""
    rng = np.random.default_rng(0)
    keys, values = 30 * rng.normal(size=(200, 4)), rng.normal(size=200)
    queries = 30 * rng.normal(size=(50, 4))
    scores = queries @ keys.T / 2
    weights = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    found = NadarayaWatsonRegressor("softmax").fit(keys, values).predict(queries)
    assert_allclose(found, weights @ values, rtol=0, atol=4 * EPS * np.abs(scores).max() * np.ptp(values))


# -- local linear fits -------------------------------------------------------------------------------------------------


def local_linear(k, Q, X, h, y):
    """Weighted least squares, the condition of their normal equations, and the queries where slopes count in full."""
    values, conditions, steps = np.empty((len(Q), *y.shape[1:])), np.empty(len(Q)), np.empty(len(Q))
    for i, query in enumerate(Q):
        root = np.sqrt(k[i].astype(float))
        design = root[:, None] * np.column_stack([np.ones(len(X)), (X - query) / h])
        values[i] = np.linalg.lstsq(design, (root * y.T).T, rcond=None)[0][0]
        conditions[i] = np.linalg.cond(design) ** 2
        covariance = np.atleast_2d(np.cov(X.T, aweights=root**2, ddof=0))
        step = query - root**2 @ X / (root @ root)
        steps[i] = math.sqrt(step @ np.linalg.solve(covariance, step))
    near_enough = steps < 4.9  # deviations; further away a slope does not count in full
    assert near_enough.mean() > 0.2
    return values[near_enough], conditions[near_enough].max(), near_enough


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("d", "t", "weighted"), [(1, 2, True), (2, None, False), (3, 2, True)])
def test_local_linear_fits_are_weighted_least_squares(name, d, t, weighted):
    X, y = draw(300, d, t=t)
    weights = some_weights(len(X)) if weighted else None
    h = bandwidths(X)
    Q = near(X[np.abs((X - 1) / np.geomspace(1, 3, d)).max(axis=1) < 1.5])
    found = regressor(name, d, bandwidth=h, degree=1).fit(X, y, weights).predict(Q)
    k = dense(name, Q, X, math.sqrt(d) if name == "softmax" else h, weights)
    h = 1.0 if name == "softmax" else h
    expected, condition, some = local_linear(k, Q, X, h, y)
    assert_allclose(found[some], expected, rtol=0, atol=condition * atol(Q, X, h, y))


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_linear_functions_are_reproduced_up_to_the_edges(name, adaptive, d, dtype):
    rng = np.random.default_rng(0)
    X = np.linspace(-1, 1, 80)[:, None] if d == 1 else rng.uniform(-1, 1, size=(200, d))
    X = X.astype(dtype)
    slope = np.array([[3.0, -100.0], [2.0, 0.0]])[:d]
    y = X.astype(np.float64) @ slope + np.array([7.0, -1e3])
    params = {"bandwidth": 1.0, "n_neighbors": 30} if adaptive else {"bandwidth": 0.8 if name in COMPACT else 0.4}
    model = regressor(name, d, degree=1, **params).fit(X, y)
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * d)).reshape(d, -1).T.astype(dtype)
    Q = np.concatenate([X, corners, rng.uniform(-1, 1, size=(100, d)).astype(dtype)])
    expected = Q.astype(np.float64) @ slope + np.array([7.0, -1e3])
    # narrow neighbourhoods have a hundredth of the variance of all; covariances round by all of it
    assert_allclose(model.predict(Q), expected, rtol=0, atol=1e3 * 50 * EPS * np.ptp(y, axis=0).max())
    flat = regressor(name, d, **params).fit(X, y).predict(corners)
    assert np.abs(flat - expected[len(X) : len(X) + len(corners)]).max() > 1  # averages are not


def test_the_bias_at_an_edge():
    x = np.linspace(0, 1, 50)[:, None]
    k = np.exp(-50 * x[:, 0] ** 2)
    average, line = (NadarayaWatsonRegressor(bandwidth=0.1, degree=d).fit(x, x[:, 0]).predict([[0.0]]) for d in (0, 1))
    assert_allclose(average, k @ x[:, 0] / k.sum(), rtol=1e-13)
    assert abs(average[0] - 0.0735) < 5e-5
    assert abs(line[0]) < 1e-13


def statsmodels_fit(*arguments, **options):
    kernel_regression = pytest.importorskip("statsmodels.nonparametric.kernel_regression")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kernel_regression.KernelReg(*arguments, **options)


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize(("kind", "degree"), [("lc", 0), ("ll", 1)])
def test_estimates_of_statsmodels(d, kind, degree):
    X, y = draw(150, d)
    h = bandwidths(X) / 2
    Q = near(X[np.abs((X - 1) / np.geomspace(1, 3, d)).max(axis=1) < 1.2], 25)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = statsmodels_fit(y, X, "c" * d, reg_type=kind, bw=h).fit(Q)[0]
    found = NadarayaWatsonRegressor(bandwidth=h, degree=degree).fit(X, y).predict(Q)
    assert_allclose(found, expected, rtol=0, atol=1e-10 * np.ptp(y))


@pytest.mark.parametrize("name", [*OPEN, "softmax"])
def test_local_linear_fits_without_width(name):
    """Collinear and constant columns, duplicates, fewer rows than coefficients."""
    X, y = draw(60, t=2)
    model = regressor(name, 2, bandwidth=bandwidths(X), degree=1)
    Q = near(X)
    alone = clone(model).fit(X, y)
    h = bandwidths(X)
    tolerance = 1e-9 * np.ptp(y)
    if name not in ("softmax", "product", "sum"):
        wide = clone(model).set_params(bandwidth=np.append(h, 1.0)).fit(np.column_stack([X, np.full(60, 7.0)]), y)
        found = wide.predict(np.column_stack([Q, np.full(40, 7.0)]))
        assert_allclose(found, alone.predict(Q), rtol=0, atol=tolerance)
        beside = wide.predict(np.column_stack([Q, np.full(40, 7.3)]))  # no slope is known along it
        assert (beside >= y.min() - 5 * np.ptp(y)).all()
        assert (beside <= y.max() + 5 * np.ptp(y)).all()
    again = clone(model).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3, axis=0))
    assert_allclose(again.predict(Q), alone.predict(Q), rtol=0, atol=tolerance)
    line = np.column_stack([X[:, 0], 2 * X[:, 0] - 1])
    exact = 3 * line[:, 0] + 1
    if name not in COMPACT and name != "softmax":
        found = clone(model).fit(line, exact).predict(line)
        assert_allclose(found, exact, rtol=0, atol=1e-7 * np.ptp(exact))
    for n in (1, 2, 3):
        few = clone(model).fit(X[:n], y[:n])
        for queries in (Q, 100 * Q, X[:n]):
            found = few.predict(queries)
            assert np.isfinite(found).all()
            assert (np.abs(found - y[:n].mean(axis=0)) <= 1e-9 + 8 * np.ptp(y[:n], axis=0)).all()


def test_a_far_neighbourhood_has_no_slope():
    """Where a pseudo-inverse of zeros would say zero."""
    x = np.linspace(0, 1, 50)[:, None]
    y = 5 + x[:, 0]
    for name in OPEN:
        model = regressor(name, 1, bandwidth=0.05, degree=1).fit(x, y)
        found = model.predict([[-1e6], [-1e3], [-50.0], [50.0], [1e3], [1e6]])
        assert (found >= 5).all(), name
        assert (found <= 6).all(), name
        if name not in ("rational_quadratic",):
            assert_allclose(found, [5, 5, 5, 6, 6, 6], atol=0.25, err_msg=name)


# -- neighbourhoods without a row --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", COMPACT)
@pytest.mark.parametrize("degree", [0, 1])
def test_what_stands_in_for_no_row(kernel, degree):
    X, y, weights = [[0.0], [2.0], [2.0], [10.0]], [1.0, 5.0, 6.0, -3.0], [1.0, 2.0, 1.0, 4.0]
    queries = [[1.0], [3.5], [-100.0], [6.0], [1e300], [0.0]]
    mean = (1 + 10 + 6 - 12) / 8
    two, tie, right = 16 / 3, (1 + 16) / 4, -3.0
    far = (16 - 12) / 7  # 2 and 10 are as far from 6
    wanted = {
        "nearest": [tie, two, 1.0, far, right, 1.0],
        "mean": [mean] * 5 + [1.0],
        "nan": [np.nan] * 5 + [1.0],
    }
    for empty, expected in wanted.items():
        model = NadarayaWatsonRegressor(kernel, bandwidth=0.5, empty=empty, degree=degree).fit(X, y, weights)
        some = slice(0, 4) if empty == "nearest" else slice(None)  # where distances overflow there is no nearest
        assert_allclose(model.predict(queries)[some], np.array(expected)[some], rtol=1e-14)
        assert_array_equal(model.effective_sample_size(queries) > 0, [False] * 5 + [True])
        assert model.effective_sample_size([[2.0]]) == pytest.approx(3.0, rel=1e-14)
    model = NadarayaWatsonRegressor(kernel, bandwidth=0.5, empty="raise", degree=degree).fit(X, y, weights)
    assert_allclose(model.predict([[0.1], [2.2]]), [1.0, two], rtol=1e-14)
    message = r"2 row\(s\) of X have no training row within the kernel's reach, the first is \[3\.5\].*bandwidth"
    with pytest.raises(ValueError, match=message):
        model.predict([[0.1], [3.5], [1.0]])


def test_the_nearest_row_is_measured_in_bandwidths():
    X, y = [[0.0, 0.0], [3.0, 10.0]], [1.0, 2.0]
    assert NadarayaWatsonRegressor("tricube", bandwidth=[0.1, 0.1]).fit(X, y).predict([[2.9, 0.0]]) == 1.0
    assert NadarayaWatsonRegressor("tricube", bandwidth=[0.1, 1.0]).fit(X, y).predict([[2.9, 0.0]]) == 2.0


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e4, 1e8])
def test_rows_as_near_as_the_nearest_are_averaged_at_any_offset(offset):
    for h in (0.3, 0.1, 0.7):
        model = NadarayaWatsonRegressor("epanechnikov", bandwidth=h).fit([[offset], [offset + 2]], [0.0, 1.0])
        assert_allclose(model.predict([[offset + 1]]), 0.5, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.float32])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "matern12"])
def test_integer_targets_give_floating_averages(kernel, dtype):
    X = np.array([[1], [2], [3], [4]])
    y = np.array([3, 5, 7, 100], dtype=dtype)
    model = NadarayaWatsonRegressor(kernel, bandwidth=0.5).fit(X, y)
    found = model.predict(np.array([[-100], [104], [2]]))
    assert found.dtype == np.float64
    assert_allclose(found[:2], [3, 100], rtol=1e-14 if kernel != "matern12" else 100 * math.exp(-2))
    assert_allclose(NadarayaWatsonRegressor(kernel, bandwidth=1e6).fit(X, y).predict(X), 28.75, rtol=1e-4)
    missing = NadarayaWatsonRegressor("epanechnikov", bandwidth=0.5, empty="nan").fit(X, y)
    assert np.isnan(missing.predict([[-100]])).all()


@pytest.mark.parametrize("kernel", ["matern12", "matern32", "matern52", "laplacian", "two gaussians"])
def test_weights_that_underflow(kernel):
    """Averages stay averages while weights are less and less of what float64 holds, and beyond it are the nearest's."""
    argument = Gaussian() + Gaussian() if kernel == "two gaussians" else kernel
    model = NadarayaWatsonRegressor(argument, bandwidth=1.0).fit([[0.0], [0.25]], [0.0, 1.0])
    assert model.predict([[-1e4]]) == 0.0
    assert model.predict([[1e4]]) == 1.0
    queries = -np.r_[0:30:200j, 30:50:200j, 300:760:400j][:, None]
    found = model.predict(queries)
    assert (found >= 0).all()
    assert (found <= 1).all()
    U = (queries - [[0.0, 0.25]])[:, :, None].astype(np.longdouble)
    logs = OPEN.get(kernel, OPEN["gaussian"]).log(U)
    exact = 1 / (1 + np.exp((logs[:, 0] - logs[:, 1]).astype(float)))
    nearest = found == 0
    # subnormal weights have few digits or none: either the average is right, or the nearest row stands in for it
    assert_allclose(found[~nearest], exact[~nearest], rtol=1e-9)


# -- bandwidths of the queries' own ------------------------------------------------------------------------------------


def radii(Q, X, k, weights=None):
    """Distances to the k-th nearest distinct row, in standard deviations of the columns."""
    centre = np.average(X, axis=0, weights=weights)
    deviations = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=weights))
    distinct = np.unique(X, axis=0)
    distances = np.sqrt((((Q[:, None] - distinct) / deviations) ** 2).sum(axis=-1))
    return np.sort(distances, axis=1)[:, k - 1], deviations


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize(("d", "weighted"), [(1, False), (3, True)])
@pytest.mark.parametrize("degree", [0, 1])
def test_n_neighbors_is_a_bandwidth_for_each_query(name, d, weighted, degree):
    X, y = draw(100, d, t=2)
    X[70:] = X[:30]
    weights = some_weights(100) if weighted else None
    Q = near(X, 20)
    for k, factor in ((8, 1.3), (20, np.geomspace(0.9, 1.8, d))):
        model = regressor(name, d, bandwidth=factor, n_neighbors=k, degree=degree).fit(X, y, weights)
        found = model.predict(Q)
        radius, deviations = radii(Q, X, k, weights)
        assert_allclose(model.bandwidth_, factor * deviations, rtol=1e-14)
        for i, query in enumerate(Q):
            h = factor * deviations * radius[i]
            weighting = dense(name, query[None], X, h, weights)
            expected, condition = (weighting @ y / weighting.sum()).astype(float), 1.0
            if degree == 1:
                expected, condition, _ = local_linear(weighting, query[None], X, h, y)
            assert_allclose(found[i], expected[0], rtol=0, atol=condition * atol(Q, X, h, y))


@pytest.mark.parametrize("name", ["gaussian", "tricube", "matern32", "laplacian", "product"])
def test_adaptive_bandwidths_follow_the_units_of_the_columns(name):
    X, y = draw(50)
    Q, units = near(X), np.array([1e-3, 7e4])
    for params in ({"bandwidth": 0.8, "n_neighbors": 9}, {"bandwidth": "loo", "n_neighbors": 9}, {"bandwidth": "loo"}):
        model = regressor(name, 2, **params).fit(X, y)
        other = regressor(name, 2, **params).fit(X * units, y)
        assert_allclose(other.bandwidth_, model.bandwidth_ * units, rtol=1e-9)
        assert_allclose(other.predict(Q * units), model.predict(Q), rtol=0, atol=1e-9)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("offset", [0.0, 2.0**20, 2.0**27])
def test_neighbours_are_found_at_any_offset(d, offset):
    X, y = draw(200, d)
    X = np.round(X * 1024) / 1024
    Q = np.round(near(X) * 1024) / 1024
    model = NadarayaWatsonRegressor(bandwidth=0.7, n_neighbors=5)
    found = clone(model).fit(X + offset, y).predict(Q + offset)
    expected = clone(model).fit(X, y).predict(Q)
    assert_allclose(found, expected, rtol=0, atol=1e3 * EPS * (1 + offset) * np.ptp(y))


def test_few_rows_for_the_neighbours_asked_for():
    X, y = np.array([[0.0], [1.0], [4.0]]), np.array([0.0, 1.0, 5.0])
    Q = np.array([[-1.0], [0.5], [9.0]])
    for k in (3, 4, 100):  # all rows are neighbours of a new query
        found = NadarayaWatsonRegressor(bandwidth=1.0, n_neighbors=k).fit(X, y).predict(Q)
        h = np.abs(Q - X.T).max(axis=1)[:, None]
        weights = np.exp(-((Q - X.T) ** 2) / (2 * h**2))
        assert_allclose(found, weights @ y / weights.sum(axis=1), rtol=1e-13)
    for k in (1, 5):
        one = NadarayaWatsonRegressor(bandwidth=1.0, n_neighbors=k).fit(X[:1], y[:1] + 3)
        assert_array_equal(one.predict(Q), [3.0] * 3)


def test_the_row_itself_is_its_nearest_neighbour():
    """The bandwidth shrinks to nothing as a query moves to a row, and so it is at the row."""
    X, y = draw(30)
    model = NadarayaWatsonRegressor(bandwidth=1.0, n_neighbors=1).fit(X, y)
    for step in (1e-3, 1e-6, 0.0):
        assert_allclose(model.predict(X + step), y, rtol=1e-9)
    close = [[0.0], [1e-7], [1.0]]
    assert_allclose(clone(model).fit(close, [1.0, 2.0, 3.0]).predict(close), [1, 2, 3], rtol=1e-9)


# -- transforms --------------------------------------------------------------------------------------------------------


def clustered(n, d, seed=0):
    """Two clusters, a ring of isolated rows, and far ones."""
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d))
    X[: n // 2] *= 0.4
    X[n // 2 : -20] = 0.6 * X[n // 2 : -20] + 2.5
    X[-20:] = 5 * X[-20:] / np.linalg.norm(X[-20:], axis=1, keepdims=True)
    y = np.column_stack([np.sin(2 * X[:, 0]) + 3, 10 * X.sum(axis=1)])
    return X, y + 0.2 * y.std(axis=0) * rng.normal(size=y.shape)


SMOOTH = {  # in so many columns
    "gaussian 1": (1, "gaussian", 0.5),
    "gaussian 2": (2, "gaussian", 0.5),
    "gaussian 3": (3, "gaussian", 2.0),
    "gaussians": (2, 0.3 * Gaussian.from_lengthscale(1.5) + 0.7 * Gaussian.from_lengthscale([0.5, 0.8]), None),
    "mixture": (1, SpectralMixture(weights=[1.0, 2.0], means=[0.0, 0.0], sigmas=[0.1, 0.3]), None),
    "matern52": (1, "matern52", 1.5),
}


@pytest.mark.parametrize(("d", "kernel", "h"), SMOOTH.values(), ids=SMOOTH)
@pytest.mark.parametrize("degree", [0, 1])
def test_transforms_are_exact(d, kernel, h, degree):
    X, y = clustered(3000 if kernel == "gaussian" and d == 1 else 1000, d)
    weights = some_weights(len(X))
    rng = np.random.default_rng(3)
    Q = np.concatenate([X[::10], rng.uniform(-6, 8, size=(300, d)), 1e3 * rng.normal(size=(20, d))])
    params = {"bandwidth": h, "degree": degree} if h else {"degree": degree}
    fast, exact = (NadarayaWatsonRegressor(kernel, method=m, **params).fit(X, y, weights) for m in ("nufft", "exact"))
    assert (exact.method_, exact.method_note_) == ("exact", "")
    if degree == 1 and kernel != "gaussian":
        assert fast.method_ == "exact"
        assert re.search(r"local lines with Gaussian kernels only, .*Use method='exact'\.", fast.method_note_)
        return
    assert (fast.method_, fast.method_note_) == ("nufft", "")
    spread = y.std(axis=0)
    # a slope multiplies errors by a step of up to five deviations over a deviation of down to a tenth of a bandwidth
    accuracy = 1e-8 if degree == 0 else 5e-7
    assert_allclose(fast.predict(Q) / spread, exact.predict(Q) / spread, rtol=0, atol=accuracy)
    assert_allclose(fast.loo_error_, exact.loo_error_, rtol=10 * accuracy)
    assert fast.loo_rows_ == exact.loo_rows_ == len(np.unique(X, axis=0))
    if degree == 0 and d == 1:
        std, expected = (model.predict(Q, return_std=True)[1] for model in (fast, exact))
        assert_allclose(std / spread, expected / spread, rtol=0, atol=1e-4)  # roots of averages that are known to 1e-8


@pytest.mark.parametrize(("d", "kernel", "h"), [SMOOTH["gaussian 1"], SMOOTH["gaussian 2"], SMOOTH["matern52"]])
def test_effective_sample_sizes_by_transforms(d, kernel, h):
    X, y = clustered(1000, d)
    Q = np.concatenate([X[::10], np.random.default_rng(3).uniform(-8, 8, size=(300, d))])
    fast, exact = (NadarayaWatsonRegressor(kernel, bandwidth=h, method=m).fit(X, y) for m in ("nufft", "exact"))
    expected = exact.effective_sample_size(Q)
    assert (expected >= 1 - 1e-9).all()
    assert_allclose(fast.effective_sample_size(Q), expected, rtol=1e-6)


@pytest.mark.parametrize("h", [0.3, 3.0, 30.0, 300.0, 3e4])
def test_transforms_give_slopes_at_any_bandwidth(h):
    """Neighbourhoods of a small part of a bandwidth: a wide bandwidth, and clusters that are narrow."""
    rng = np.random.default_rng(0)
    centres = 10 * np.arange(8)[:, None]
    x = (centres + rng.normal(size=(8, 60)) * np.geomspace(0.01, 1, 8)[:, None]).ravel()[:, None]
    y = np.sin(3 * x[:, 0]) + 0.1 * x[:, 0]
    fast, exact = (NadarayaWatsonRegressor(bandwidth=h, degree=1, method=m).fit(x, y) for m in ("nufft", "exact"))
    assert fast.method_ == "nufft"
    assert_allclose(fast.predict(x), exact.predict(x), rtol=0, atol=1e-8 * y.std())


@pytest.mark.parametrize("scale", [0.05, 1.0, 20.0])
@pytest.mark.parametrize(("name", "degree"), [("gaussian", 0), ("gaussian", 1), ("matern52", 0)])
def test_transforms_of_measures_with_a_scale_of_their_own(name, degree, scale):
    X, y = clustered(800, 1)
    sigma = 1 / (2 * math.pi * scale)
    measure = Gaussian(sigma) if name == "gaussian" else Matern(nu=2.5, sigma=sigma)
    fast, exact, named = (
        model.fit(scale * X, y)
        for model in (
            NadarayaWatsonRegressor(measure, degree=degree, method="nufft"),
            NadarayaWatsonRegressor(measure, degree=degree, method="exact"),
            NadarayaWatsonRegressor(name, bandwidth=scale, degree=degree, method="exact"),
        )
    )
    assert fast.method_ == "nufft"
    expected = named.predict(scale * X)
    assert_allclose(exact.predict(scale * X), expected, rtol=0, atol=1e-9 * y.std())
    assert_allclose(fast.predict(scale * X), expected, rtol=0, atol=1e-8 * y.std())
    assert_allclose(exact.bandwidth_, named.bandwidth_, rtol=1e-12)


FALLBACKS = {
    "four columns": (4, {}, "up to 3 columns, and X has 4"),
    "matern12": (2, {"kernel": "matern12", "bandwidth": 0.05}, "[Mm]atern"),
    "epanechnikov": (1, {"kernel": "epanechnikov"}, "for the kernels of measures"),
    "softmax": (1, {"kernel": "softmax", "bandwidth": None}, "for the kernels of measures"),
    "n_neighbors": (1, {"n_neighbors": 5}, "one bandwidth for all queries, and n_neighbors gives each its own"),
    "narrow": (3, {"bandwidth": 1e-5}, "needs a grid of .* frequencies"),
    "matern52": (3, {"kernel": "matern52", "bandwidth": 5.0}, "needs a grid of .* frequencies"),
}


@pytest.mark.parametrize(("d", "params", "why"), FALLBACKS.values(), ids=FALLBACKS)
def test_where_transforms_cannot_be_had_the_exact_method_takes_their_place(d, params, why):
    X, y = draw(100, d)
    model = NadarayaWatsonRegressor(**{"bandwidth": 0.5, "method": "nufft"} | params).fit(X, y)
    exact = clone(model).set_params(method="exact").fit(X, y)
    assert (model.method_, exact.method_, exact.method_note_) == ("exact", "exact", "")
    assert re.search(why, model.method_note_), model.method_note_
    assert model.method_note_.endswith(".")
    assert_array_equal(model.predict(X), exact.predict(X))


def test_auto_takes_transforms_for_many_rows(monkeypatch):
    X, y = clustered(400, 1)
    X[-20:] = np.arange(20)[:, None]  # distinct ones
    model = NadarayaWatsonRegressor(bandwidth=0.7, method="auto").fit(X, y)
    assert model.method_ == "exact"
    assert model.method_note_ == "method='auto' takes the exact method for fewer than 20000 distinct rows."
    monkeypatch.setattr(_fast, "MANY", 400)
    many = clone(model).fit(X, y)
    assert (many.method_, many.method_note_) == ("nufft", "")
    assert_allclose(many.predict(X), model.predict(X), rtol=1e-7)
    chosen = NadarayaWatsonRegressor(method="auto").fit(X, y)
    assert chosen.method_ == "nufft"
    fewer = clone(model).fit(np.repeat(X[:200], 2, axis=0), np.repeat(y[:200], 2, axis=0))
    assert fewer.method_ == "exact"
    monkeypatch.setattr(_fast, "MANY", 20_000)
    assert_allclose(chosen.bandwidth_, NadarayaWatsonRegressor(method="auto").fit(X, y).bandwidth_, rtol=0.02)


# -- deviations and counts ---------------------------------------------------------------------------------------------


def deviations(weights_at, Q, X, squares, weights, factors):
    """Roots of averages of squared errors, with the likeliest factor on the bandwidth; rows are distinct."""
    scores = []
    for factor in factors:
        k = weights_at(X, factor) * weights
        np.fill_diagonal(k, 0)
        assert (k.sum(axis=1) > 0).all()
        variance = k @ squares / k.sum(axis=1, keepdims=True)
        scores.append(np.average((np.log(variance) + squares / variance).sum(axis=1), weights=weights))
    factor = factors[int(np.argmin(scores))]
    k = weights_at(Q, factor) * weights
    return np.sqrt((k @ squares / k.sum(axis=1, keepdims=True)).astype(float))


def squared_errors(model, X, y, weights):
    """Of rows by fits without them and their equals."""
    squares = np.empty_like(y)
    for i, row in enumerate(X):
        others = (row != X).any(axis=1)
        squares[i] = (y[i] - clone(model).fit(X[others], y[others], weights[others]).predict(row[None])[0]) ** 2
    return squares


@pytest.mark.parametrize("name", ["gaussian", "tricube", "matern32", "softmax"])
@pytest.mark.parametrize("degree", [0, 1])
def test_standard_deviations_are_averages_of_squared_errors_without_the_row(name, degree):
    X, y = draw(60, t=2)
    X[50:] = X[:10]
    weights, Q, h = some_weights(60), near(X), bandwidths(X) * (2 if name == "tricube" else 0.5)
    model = regressor(name, 2, bandwidth=h, degree=degree)
    errors = squared_errors(model, X, y, weights)
    rows, total = X[:50], weights[:50].copy()
    total[:10] += weights[50:]
    squares = errors[:50] * (weights[:50] / total)[:, None]
    squares[:10] += errors[50:] * (weights[50:] / total[:10])[:, None]
    factors = [1] if name == "softmax" else [1, 2, 4, 8, 16, 32, 64]  # a temperature stays

    def weights_at(points, factor):
        return dense(name, points, rows, math.sqrt(2) if name == "softmax" else factor * h)

    expected = deviations(weights_at, Q, rows, squares, total, factors)
    mean, std = model.fit(X, y, weights).predict(Q, return_std=True)
    assert_array_equal(mean, model.predict(Q))
    assert_allclose(std, expected, rtol=1e-8)
    one = clone(model).fit(X, y[:, :1], weights).predict(Q, return_std=True)
    flat = clone(model).fit(X, y[:, 0], weights).predict(Q, return_std=True)
    assert (one[1].shape, flat[1].shape) == ((40, 1), (40,))
    assert_array_equal(flat[1], one[1][:, 0])


@pytest.mark.parametrize("kernel", ["gaussian", "tricube"])
@pytest.mark.parametrize("degree", [0, 1])
def test_standard_deviations_with_a_bandwidth_by_neighbours(kernel, degree):
    """In one column, where a fit without a row has the same bandwidths as one with it."""
    X, y = draw(60, 1, t=1)
    Q, weights = near(X), np.ones(60)
    model = NadarayaWatsonRegressor(kernel, bandwidth=1.5, n_neighbors=8, degree=degree)
    squares = squared_errors(model, X, y, weights)
    scale = 1.5 * X.std(axis=0)

    def weights_at(points, factor):
        radius, _ = radii(points, X, 9 if points is X else 8)
        return dense(kernel, points, X, factor * scale * radius[:, None, None])

    expected = deviations(weights_at, Q, X, squares, weights, [1, 2, 4, 8, 16, 32, 64])
    assert_allclose(model.fit(X, y).predict(Q, return_std=True)[1], expected, rtol=1e-8)


@pytest.mark.parametrize("params", [{"degree": 1}, {"bandwidth": 0.15}, {"bandwidth": 0.5, "n_neighbors": 60}], ids=str)
def test_standard_deviations_cover_new_targets(params):
    rng = np.random.default_rng(0)

    def sample(n):
        x = rng.uniform(-2, 2, size=n)
        return x[:, None], np.sin(2 * x) + (0.1 + 0.3 * np.abs(x)) * rng.normal(size=n)

    (X, y), (new, fresh) = sample(2000), sample(2000)
    mean, std = NadarayaWatsonRegressor(**params).fit(X, y).predict(new, return_std=True)
    assert 0.92 < (np.abs(fresh - mean) <= 1.96 * std).mean() < 0.98
    for part in (np.abs(new[:, 0]) < 0.5, np.abs(new[:, 0]) > 1.5):
        inside = int((np.abs(fresh - mean) <= 1.96 * std)[part].sum())
        low, high = binom.ppf([1e-4, 1 - 1e-4], part.sum(), 0.95)
        assert low - 0.03 * part.sum() <= inside <= high + 0.03 * part.sum()  # smoothing of std, and bias, cost 3 %


def test_standard_deviations_by_errors_of_some_rows(monkeypatch):
    """The mean has rows within reach; among the few whose errors are known there may be none."""
    monkeypatch.setattr(_leave_one_out, "PAIRS", 1)
    monkeypatch.setattr(_leave_one_out, "_FEWEST", 50)
    monkeypatch.setattr(_leave_one_out, "_BY_DIFFERENCES", 1, raising=False)
    X, y = draw(500)
    for empty in ("nearest", "mean", "nan", "raise"):
        model = NadarayaWatsonRegressor("tricube", bandwidth=0.1, empty=empty).fit(X, y)
        assert model.loo_rows_ < 100
        assert np.isfinite(model.predict(X, return_std=True)).all(), empty


@pytest.mark.parametrize("name", KERNELS)
def test_effective_sample_sizes(name):
    X, y = draw()
    repeats = 1 + np.arange(len(X)) % 4
    Q, h = near(X), bandwidths(X)
    scale = math.sqrt(2) if name == "softmax" else h
    model = regressor(name, 2, bandwidth=h)
    for weights in (None, repeats):
        k = dense(name, Q, X, scale)
        w = np.ones(len(X)) if weights is None else weights
        expected = (k @ w) ** 2 / (k**2 @ w)
        found = clone(model).fit(X, y, weights).effective_sample_size(Q)
        assert_allclose(found, expected.astype(float), rtol=64 * EPS * size(Q, X, 1.0))
    again = clone(model).fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats)).effective_sample_size(Q)
    assert_allclose(again, found, rtol=1e-12)
    if name in OPEN:
        wide = clone(model).set_params(bandwidth=1e9).fit(X, y).effective_sample_size(Q)
        assert_allclose(wide, len(X), rtol=1e-7)


@pytest.mark.parametrize("name", ["gaussian", "matern12", "matern52", "laplacian", "sum"])
def test_effective_sample_sizes_far_away(name):
    """From one row to all, whatever underflows; none where no weight is left."""
    X, y = draw(60)
    for dtype in DTYPES:
        model = regressor(name, 2, bandwidth=0.1 * X.std(axis=0)).fit(X.astype(dtype), y)
        for distance in (1.0, 10.0, 30.0, 60.0, 1e3, 1e6):
            found = model.effective_sample_size(np.array([[distance, 0.0], [0.0, -distance]]))
            assert ((found == 0) | ((found >= 1 - 1e-7) & (found <= 60))).all(), (distance, found)
            if name == "gaussian" and distance >= 1e3:
                assert_allclose(found, 1.0, rtol=1e-7)


@pytest.mark.parametrize("extent", [2e3, 2.5e3, 2.8e3, 3.5e3, 1e4])
def test_effective_sample_sizes_where_products_of_points_round_too_much(extent):
    """For the squares of weights before it is so for the weights."""
    X = np.array([[0.0], [1.0], [extent]])
    model = NadarayaWatsonRegressor(bandwidth=1.0).fit(X, X[:, 0])
    k = np.exp(-0.5)
    assert_allclose(model.effective_sample_size(X), [(1 + k) ** 2 / (1 + k**2)] * 2 + [1], rtol=1e-8)


# -- positive features -------------------------------------------------------------------------------------------------


def positive(n_components, X, h, **params):
    features = PositiveRandomFeatures(sigma=1 / (2 * math.pi * h), n_components=n_components, random_state=0)
    return features.set_params(**params).fit(X)


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
def test_positive_features_converge_to_the_exact_prediction(degree, kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 1e3
    params = {"bandwidth": 1.2} if kernel == "gaussian" else {"temperature": 1.5}
    exact = NadarayaWatsonRegressor(kernel, degree=degree, method="exact", **params).fit(X, y)
    errors, predicted = [], []
    for n_components in (256, 1024, 4096):
        features = PositiveRandomFeatures(n_components=n_components, random_state=0)
        model = NadarayaWatsonRegressor(kernel, degree=degree, method=features, **params).fit(X, y)
        assert (model.method_, model.method_note_) == ("positive", "")
        errors.append(np.sqrt(np.mean((model.predict(X) - exact.predict(X)) ** 2)) / y.std())
        predicted.append(model.predicted_error_)
    assert (np.array(errors) <= 3 * np.array(predicted)).all(), (errors, predicted)
    assert predicted[2] < predicted[0] / 3  # the root of sixteen is four
    assert errors[2] < errors[0] / 1.5
    assert errors[2] < 0.1


def assert_same_model(model, other, X, rtol=1e-10):
    scale = np.abs(other.predict(X)).max()
    assert_allclose(model.predict(X), other.predict(X), rtol=0, atol=rtol * scale)
    assert_allclose(model.predicted_error_, other.predicted_error_, rtol=1e-6)


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("t", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_streams_and_merged_parts_are_one_fit(degree, t, weighted):
    X, y = draw(300, t=t)
    weights = some_weights(300) if weighted else None
    frozen = FrozenEstimator(positive(512, X, 6.0))
    model = NadarayaWatsonRegressor(bandwidth=6.0, method=frozen, degree=degree)
    whole = clone(model).fit(X, y, weights)
    parts = [
        (X[p], y[p], None if weights is None else weights[p])
        for p in (slice(0, 1), slice(1, 40), slice(40, 43), slice(43, 300))
    ]
    stream = clone(model)
    for part in parts:
        assert stream.partial_fit(*part) is stream
    assert_allclose(stream.predict(X), whole.predict(X), rtol=0, atol=1e-10 * np.abs(whole.predict(X)).max())
    merged, before = clone(model).partial_fit(*parts[3]), []
    for i in (1, 0, 2):
        other = clone(model).partial_fit(*parts[i])
        before.append((other, other.predict(X)))
        assert merged.merge(other) is merged
    assert_same_model(
        merged,
        clone(model).partial_fit(*parts[3]).partial_fit(*parts[1]).partial_fit(*parts[0]).partial_fit(*parts[2]),
        X,
    )
    assert_allclose(merged.predict(X), whole.predict(X), rtol=0, atol=1e-10 * np.abs(whole.predict(X)).max())
    for other, predictions in before:
        assert_array_equal(other.predict(X), predictions)
    assert merged.predict(X).shape == y.shape


def test_a_stream_without_features_of_its_own_is_centred_by_its_first_batch():
    X, y = draw(300)
    stream = NadarayaWatsonRegressor(bandwidth=6.0, method="positive").partial_fit(X[:100], y[:100])
    first = stream.predict(X)
    stream.partial_fit(X[100:], y[100:])
    exact = NadarayaWatsonRegressor(bandwidth=6.0).fit(X, y).predict(X)
    assert np.sqrt(np.mean((stream.predict(X) - exact) ** 2)) < 3 * stream.predicted_error_ * y.std()
    assert np.abs(first - stream.predict(X)).max() > 0
    assert_array_equal(stream.bandwidth_, [6.0, 6.0])


@pytest.mark.parametrize("temperature", [None, 1.0, 2.0, 3.0, 0.7])
def test_frozen_features_of_the_same_temperature(temperature):
    X, y = draw(200, 3)
    X = X / 4
    features = PositiveRandomFeatures("softmax", temperature=temperature, n_components=256, random_state=0).fit(X)
    model = NadarayaWatsonRegressor("softmax", temperature=temperature, method=FrozenEstimator(features)).fit(X, y)
    exact = NadarayaWatsonRegressor("softmax", temperature=temperature).fit(X, y)
    error = np.sqrt(np.mean((model.predict(X) - exact.predict(X)) ** 2))
    assert error < 3 * model.predicted_error_ * y.std()
    wanted = math.sqrt(3) if temperature is None else temperature
    assert_allclose([model.temperature_, exact.temperature_], wanted, rtol=4 * EPS)


def test_features_that_are_given_stay_as_they_are():
    X, y = draw(300)
    features = PositiveRandomFeatures(n_components=64, random_state=0)
    NadarayaWatsonRegressor(bandwidth=6.0, method=features).fit(X, y)
    assert vars(features) == vars(PositiveRandomFeatures(n_components=64, random_state=0))
    with pytest.raises(NotFittedError):
        NadarayaWatsonRegressor(bandwidth=6.0, method=FrozenEstimator(features)).fit(X, y)


def test_what_positive_features_cannot_do():
    X, y = draw(300)
    model = NadarayaWatsonRegressor(bandwidth=6.0, method="positive").fit(X, y)
    with pytest.raises(ValueError, match=r"positive features keep no rows.*leave return_std out"):
        model.predict(X, return_std=True)
    with pytest.raises(ValueError, match="effective sample size takes the squares of the weights"):
        model.effective_sample_size(X)
    for name in ("loo_error_", "loo_rows_"):
        with pytest.raises(AttributeError, match="Leave-one-out errors take the training rows"):
            getattr(model, name)
    with pytest.raises(ValueError, match=r"hopeless.*wider bandwidth"):
        clone(model).set_params(bandwidth=0.05).fit(X, y)
    with pytest.raises(ValueError, match=r"relative error of .* %, which is hopeless.*higher temperature"):
        NadarayaWatsonRegressor("softmax", temperature=0.01, method="positive").fit(X, y)
    one = PositiveRandomFeatures(n_components=1, random_state=0)
    with pytest.raises(ValueError, match=r"Predictions from 1 positive features would be off by .*more n_components"):
        NadarayaWatsonRegressor(bandwidth=20.0, method=one).fit(X, y)
    for kernel in ("matern32", "tricube"):
        with pytest.raises(ValueError, match="method='positive' is for kernel='gaussian' and kernel='softmax'"):
            NadarayaWatsonRegressor(kernel, bandwidth=6.0, method="positive").fit(X, y)
    with pytest.raises(ValueError, match=r"frozen features have temperature None and sigma .*1 / \(2 pi bandwidth\)"):
        clone(model).set_params(method=FrozenEstimator(positive(256, X, 5.0))).fit(X, y)
    with pytest.raises(ValueError, match=r"nor can positive features\. Leave n_neighbors out"):
        clone(model).set_params(n_neighbors=5).fit(X, y)
    with pytest.raises(ValueError, match=r"bandwidth='loo' looks at all rows together, which a stream does not allow"):
        NadarayaWatsonRegressor(method="positive").partial_fit(X, y)
    exact = NadarayaWatsonRegressor(bandwidth=6.0).fit(X, y)
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as caught:
        exact.partial_fit  # noqa: B018
    assert "partial_fit takes positive features" in str(caught.value.__cause__)
    with pytest.raises(AttributeError, match="There is a predicted_error_ for method='positive' only"):
        exact.predicted_error_  # noqa: B018
    with pytest.raises(ValueError, match="Only two estimators of the class NadarayaWatsonRegressor with method='posit"):
        model.merge(exact)
    with pytest.raises(ValueError, match="Only two estimators of the class NadarayaWatsonRegressor with method='posit"):
        model.merge(NadarayaWatsonClassifier(bandwidth=6.0, method="positive").fit(X, y > 2))
    with pytest.raises(ValueError, match=r"same degree and the same features can be merged.*FrozenEstimator"):
        model.merge(NadarayaWatsonRegressor(bandwidth=5.0, method="positive").fit(X, y))
    with pytest.raises(ValueError, match="targets of the same shape"):
        model.merge(NadarayaWatsonRegressor(bandwidth=6.0, method="positive").fit(X, y[:, None]))
    with pytest.raises(NotFittedError):
        model.merge(clone(model))


def test_positive_features_with_a_bandwidth_that_is_chosen():
    X, y = draw(300)
    chosen = NadarayaWatsonRegressor(method="exact").fit(X, y)
    model = NadarayaWatsonRegressor(method=PositiveRandomFeatures(n_components=4096, random_state=0)).fit(X, y)
    assert_array_equal(model.bandwidth_, chosen.bandwidth_)


def state_of(model, X):
    return model.predict(X), dict(vars(model)), pickle.dumps(model)


def assert_unchanged(model, before, X):
    predictions, attributes, stored = before
    assert vars(model).keys() == attributes.keys()
    assert all(vars(model)[name] is value for name, value in attributes.items())
    assert pickle.dumps(model) == stored
    assert_array_equal(model.predict(X), predictions)


def test_a_failed_batch_leaves_everything_as_it_was():
    X, y = draw(300)
    model = NadarayaWatsonRegressor(bandwidth=6.0, method="positive")
    fitted = clone(model).fit(X, y)
    before = state_of(fitted, X)
    bad = X.copy()
    bad[-1, 0] = np.nan
    for arguments in (
        (bad, y),
        (X, np.where(np.arange(300) == 299, np.nan, y)),
        (X[:, :1], y),
        (X, y[:9]),
        (X, np.column_stack([y, y])),
        (X, y, -np.ones(300)),
        (X, y, np.ones(4)),
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            fitted.partial_fit(*arguments)
        assert_unchanged(fitted, before, X)
    new = clone(model)
    with pytest.raises(ValueError, match="NaN"):
        new.partial_fit(bad, y)
    assert vars(new).keys() == vars(clone(model)).keys()
    assert_array_equal(new.partial_fit(X, y).predict(X), clone(model).partial_fit(X, y).predict(X))


def test_a_fault_in_the_middle_of_a_batch_leaves_everything_as_it_was(monkeypatch):
    X, y = draw(300)
    model = NadarayaWatsonRegressor(bandwidth=6.0, method="positive").fit(X, y)
    before = state_of(model, X)
    update, calls = AttentionMoments.update, []

    def faulty(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise MemoryError("a fault")
        return update(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(_feature_model, "_VALUES_PER_BLOCK", 1024 * 50)
        patch.setattr(AttentionMoments, "update", faulty)
        with pytest.raises(MemoryError, match="a fault"):
            model.partial_fit(X, y + 1)
    assert len(calls) == 3
    assert_unchanged(model, before, X)


def test_no_row_of_a_batch_need_count():
    X, y = draw(300)
    model = NadarayaWatsonRegressor(bandwidth=6.0, method="positive").fit(X, y)
    expected = model.predict(X)
    assert_array_equal(model.partial_fit(X[:9], 1e6 * y[:9], np.zeros(9)).predict(X), expected)


def test_what_kept_rows_does_not_become_a_stream():
    X, y = draw(300)
    model = NadarayaWatsonRegressor(bandwidth=6.0).fit(X, y).set_params(method="positive")
    with pytest.raises(ValueError):  # noqa: PT011
        model.partial_fit(X, y)
    assert_array_equal(model.predict(X), NadarayaWatsonRegressor(bandwidth=6.0).fit(X, y).predict(X))


# -- scikit-learn ------------------------------------------------------------------------------------------------------

CONFIGURATIONS = {
    "default": NadarayaWatsonRegressor(),
    "linear": NadarayaWatsonRegressor(bandwidth="loo_per_column", degree=1),
    "softmax": NadarayaWatsonRegressor("softmax"),
    "adaptive": NadarayaWatsonRegressor("tricube", n_neighbors=5),
    "matern": NadarayaWatsonRegressor("matern32"),
    "positive": NadarayaWatsonRegressor(bandwidth=3.0, degree=1, method="positive"),
}
# a descent over ten columns by finite differences takes seconds
SLOW = ("check_dtype_object", "check_regressors_int", "check_sample_weight_equivalence_on_dense_data")


@parametrize_with_checks(list(CONFIGURATIONS.values()))
def test_scikit_learn_checks(estimator, check):
    if estimator.bandwidth == "loo_per_column" and check.func.__name__ in SLOW:
        estimator.set_params(bandwidth="loo")
    check(estimator)


@pytest.mark.parametrize("name", CONFIGURATIONS)
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
    if name != "linear":
        getattr(estimator_checks, check)("NadarayaWatsonRegressor", clone(CONFIGURATIONS[name]))


def test_pipelines_and_searches():
    X, y = draw(150)
    pipeline = make_pipeline(StandardScaler(), NadarayaWatsonRegressor("matern32"))
    grid = {
        "nadarayawatsonregressor__bandwidth": [0.1, 0.5, "loo"],
        "nadarayawatsonregressor__kernel__nu": [0.5, 2.5],
    }
    search = GridSearchCV(pipeline, grid, cv=KFold(3)).fit(X, y)
    nu = search.best_params_["nadarayawatsonregressor__kernel__nu"]
    name = {0.5: "matern12", 2.5: "matern52"}[nu]
    bandwidth = search.best_params_["nadarayawatsonregressor__bandwidth"]
    again = make_pipeline(StandardScaler(), NadarayaWatsonRegressor(name, bandwidth)).fit(X, y)
    assert_allclose(search.predict(X), again.predict(X), rtol=1e-12)
    assert len(set(search.cv_results_["mean_test_score"])) == 6


def test_parameters_of_the_kernel_are_parameters_of_the_estimator():
    X, y = draw()
    measure = Matern(nu=1.5)
    for kernel in ("matern32", measure):
        model = NadarayaWatsonRegressor(kernel, bandwidth=2.0).set_params(kernel__nu=2.5)
        expected = NadarayaWatsonRegressor("matern52", bandwidth=2.0).fit(X, y).predict(X)
        assert_array_equal(model.fit(X, y).predict(X), expected)
        assert_array_equal(clone(model).fit(X, y).predict(X), expected)
    assert measure.nu == 1.5
    features = NadarayaWatsonRegressor(method=PositiveRandomFeatures()).set_params(method__n_components=8)
    assert features.method.n_components == 8
    with pytest.raises(ValueError, match="Invalid parameter 'bogus' for NadarayaWatsonRegressor"):
        model.set_params(bogus=1)


STORED = {
    "gaussian": lambda X, y: NadarayaWatsonRegressor().fit(X, y),
    "linear": lambda X, y: NadarayaWatsonRegressor("tricube", bandwidth="loo_per_column", degree=1).fit(X, y),
    "adaptive": lambda X, y: NadarayaWatsonRegressor("matern32", n_neighbors=5).fit(X, y),
    "template": lambda X, y: NadarayaWatsonRegressor(Gaussian() + Matern(nu=1.5)).fit(X, y),
    "softmax": lambda X, y: NadarayaWatsonRegressor("softmax").fit(X, y),
    "transforms": lambda X, y: NadarayaWatsonRegressor(bandwidth=1.0, method="nufft").fit(X, y),
    "positive": lambda X, y: NadarayaWatsonRegressor(bandwidth=6.0, method="positive").fit(X, y),
}


@pytest.mark.parametrize("name", STORED)
def test_a_fitted_model_survives_pickle_joblib_and_skops(name, tmp_path):
    sio = pytest.importorskip("skops.io")
    X, y = draw(30, t=2)
    model = STORED[name](X, y)
    keeps_rows = model.method_ != "positive"
    if name in ("gaussian", "adaptive", "transforms"):  # what is computed when it is asked for is stored, or not
        model.predict(X, return_std=keeps_rows)
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
    expected = model.predict(X)
    for copied in copies:
        assert_array_equal(copied.predict(X), expected)
        assert_array_equal(copied.bandwidth_, model.bandwidth_)
        assert (copied.method_, copied.method_note_) == (model.method_, model.method_note_)
        if keeps_rows:
            assert_array_equal(copied.predict(X, return_std=True)[1], model.predict(X, return_std=True)[1])
            assert_array_equal(copied.loo_error_, model.loo_error_)
            assert_array_equal(copied.effective_sample_size(X), model.effective_sample_size(X))
        else:
            later = copy.deepcopy(model).partial_fit(X, y).predict(X)
            assert_array_equal(copied.partial_fit(X, y).predict(X), later)


def test_transforms_are_not_stored():
    X, y = draw(60)
    model = NadarayaWatsonRegressor(bandwidth=1.0, method="nufft").fit(X, y)
    before = len(pickle.dumps(model))
    model.predict(X)
    assert len(pickle.dumps(model)) == before


def test_names_of_columns():
    X, y = draw()
    frame = pd.DataFrame(X, columns=["a", "b"])
    for params in ({}, {"bandwidth": 6.0, "method": "positive"}):
        model = NadarayaWatsonRegressor(**params).fit(frame, y)
        assert_array_equal(model.feature_names_in_, ["a", "b"])
        assert model.n_features_in_ == 2
        assert_allclose(model.predict(frame), NadarayaWatsonRegressor(**params).fit(X, y).predict(X), rtol=1e-12)
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame[["b", "a"]])
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame[["a"]])
        if "method" in params:
            with pytest.raises(ValueError, match="feature names should match"):
                model.partial_fit(frame[["b", "a"]], y)
    model = NadarayaWatsonRegressor().fit(X, y)
    for ask in (model.predict, model.effective_sample_size):
        with pytest.raises(ValueError, match="1 features, but NadarayaWatsonRegressor is expecting 2"):
            ask(X[:, :1])


REPEATED = {
    "loo": {},
    "linear": {"bandwidth": "loo_per_column", "degree": 1},
    "per column": {"bandwidth": "loo_per_column", "kernel": "matern32"},
    "adaptive": {"kernel": "tricube", "n_neighbors": 5},
    "softmax": {"kernel": "softmax"},
    "transforms": {"method": "nufft", "bandwidth": 1.0},
}


@pytest.mark.parametrize("params", REPEATED.values(), ids=REPEATED)
def test_weights_are_repetitions(params):
    X, y = draw(80, t=2)
    repeats = 1 + np.arange(80) % 3
    again = np.random.default_rng(0).permutation(np.repeat(np.arange(80), repeats))
    model = NadarayaWatsonRegressor(**params)
    weighted, repeated = clone(model).fit(X, y, repeats), clone(model).fit(X[again], y[again])
    assert_allclose(weighted.bandwidth_, repeated.bandwidth_, rtol=1e-6)
    assert_allclose(weighted.loo_error_, repeated.loo_error_, rtol=1e-7)
    assert weighted.loo_rows_ == repeated.loo_rows_
    for one, other in zip(weighted.predict(X, return_std=True), repeated.predict(X, return_std=True), strict=True):
        assert_allclose(one, other, rtol=1e-6)
    assert_allclose(weighted.effective_sample_size(X), repeated.effective_sample_size(X), rtol=1e-6)


@pytest.mark.parametrize("params", [*REPEATED.values(), {"method": "positive", "bandwidth": 6.0}], ids=str)
def test_rows_of_weight_zero_are_not_there(params):
    X, y = draw(50)
    weights = np.where(np.arange(50) % 3, 1.5, 0.0)
    kept = weights > 0
    wild = np.where(kept[:, None], X, 10 * X)
    model = NadarayaWatsonRegressor(**params)
    with_them = clone(model).fit(wild, np.where(kept, y, 1e6), weights)
    without = clone(model).fit(X[kept], y[kept], weights[kept])
    assert_allclose(with_them.predict(X), without.predict(X), rtol=1e-9)
    assert_allclose(with_them.bandwidth_, without.bandwidth_, rtol=1e-9)
    if "positive" not in params.values():
        assert_allclose(with_them.loo_error_, without.loo_error_, rtol=1e-9)
        assert with_them.loo_rows_ == kept.sum()
    else:
        assert_allclose(with_them.predicted_error_, without.predicted_error_, rtol=0.2)


@pytest.mark.parametrize("params", [*REPEATED.values(), {"method": "positive", "bandwidth": 6.0}], ids=str)
def test_data_and_weights_stay_as_they_are(params):
    X, y = draw(30, t=2)
    weights = some_weights(30)
    given = [X.copy(), y.copy(), weights.copy()]
    for array in (X, y, weights):
        array.flags.writeable = False
    model = NadarayaWatsonRegressor(**params).fit(X, y, weights)
    expected = model.predict(X)
    if model.method_ != "positive":
        model.predict(X, return_std=True)
        model.effective_sample_size(X)
    for array, before in zip((X, y, weights), given, strict=True):
        assert_array_equal(array, before)
    for rows in (X.tolist(), np.asfortranarray(X), pd.DataFrame(X)):
        assert_allclose(clone(model).fit(rows, y, weights).predict(rows), expected, rtol=1e-9)
    changed = np.array(X)
    model = clone(model).fit(changed, np.array(y), weights)
    changed[:] = 0  # the model has rows of its own
    assert_array_equal(model.predict(X), expected)


REFUSED = {
    "negative": ({"bandwidth": -1.0}, ValueError, r"bandwidth must be a positive finite number.*got -1\.0"),
    "zero": ({"bandwidth": 0}, ValueError, "bandwidth must be a positive finite number"),
    "nan": ({"bandwidth": np.nan}, ValueError, "bandwidth must be a positive finite number"),
    "infinite": ({"bandwidth": np.inf}, ValueError, "bandwidth must be a positive finite number"),
    "true": ({"bandwidth": True}, ValueError, "bandwidth must be a positive finite number"),
    "none": ({"bandwidth": None}, ValueError, "bandwidth must be a positive finite number"),
    "length": ({"bandwidth": [1.0, 2.0, 3.0]}, ValueError, r"one for each of the 2 column\(s\)"),
    "one is zero": ({"bandwidth": [1.0, 0.0]}, ValueError, "bandwidth must be a positive finite number"),
    "two axes": ({"bandwidth": [[1.0, 2.0]]}, ValueError, "bandwidth must be a positive finite number"),
    "word": ({"bandwidth": "scott"}, ValueError, "'loo_per_column', got 'scott'"),
    "kernel": ({"kernel": "gauss"}, ValueError, "kernel must be one of 'softmax', 'epanechnikov'.*got 'gauss'"),
    "kernel type": ({"kernel": 5}, TypeError, "kernel must be a name, a template or a measure, got 5"),
    "negative kernel": ({"kernel": "band_limited"}, CapabilityError, "BandLimited.*nonnegative.*FeatureRidge"),
    "negative measure": ({"kernel": BandLimited(0.1)}, CapabilityError, "nonnegative"),
    "temperature": ({"temperature": 1.0}, ValueError, r"temperature=1\.0 is for kernel='softmax'.*square of its band"),
    "cold": ({"kernel": "softmax", "temperature": 0.0}, ValueError, "temperature must be None or a positive finite"),
    "no temperature": ({"kernel": "softmax", "temperature": "a"}, ValueError, "temperature must be None or a positive"),
    "softmax": (
        {"kernel": "softmax", "bandwidth": 1.0}, ValueError,
        r"has its scale already, but bandwidth=1\.0 was given.*for kernel='softmax', set temperature",
    ),
    "softmax search": ({"kernel": "softmax", "bandwidth": "loo_per_column"}, ValueError, "has its scale already"),
    "own scale": ({"kernel": Gaussian(0.1), "bandwidth": 1.0}, ValueError, "has its scale already, but bandwidth"),
    "two scales": (
        {"kernel": Gaussian() + Matern(), "bandwidth": "loo_per_column"}, ValueError,
        "'loo_per_column' takes a kernel with one open scale.*Use bandwidth='loo'",
    ),
    "degree 2": ({"degree": 2}, ValueError, "degree must be 0, for averages, or 1, for local linear fits, got 2"),
    "degree true": ({"degree": True}, ValueError, "degree must be 0"),
    "degree word": ({"degree": "1"}, ValueError, "degree must be 0"),
    "degree half": ({"degree": 0.5}, ValueError, "degree must be 0"),
    "method": ({"method": "fast"}, ValueError, "method must be one of 'auto', 'exact', 'nufft', 'positive', or a Posi"),
    "method type": ({"method": 3}, ValueError, "method must be one of"),
    "empty": ({"empty": "zero"}, ValueError, "empty must be one of 'nearest', 'mean', 'nan', 'raise', got 'zero'"),
    "empty type": ({"empty": None}, ValueError, "empty must be one of"),
    "neighbours": ({"n_neighbors": 0}, ValueError, "n_neighbors must be None or an integer of at least 1, got 0"),
    "half": ({"n_neighbors": 2.5}, ValueError, "n_neighbors must be None or an integer"),
    "neighbours of softmax": (
        {"kernel": "softmax", "n_neighbors": 5}, ValueError, "n_neighbors=5 gives every query a bandwidth of its own",
    ),
    "neighbours of its own": (
        {"kernel": Gaussian(0.1), "n_neighbors": 5}, ValueError, "which a kernel that has its scale already cannot",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("params", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_parameters_are_refused_and_a_fitted_model_stays_as_it_was(params, error, message):
    X, y = draw(40)
    model = NadarayaWatsonRegressor(bandwidth=1.0).fit(X, y)
    model.loo_error_  # noqa: B018
    before = {name: value for name, value in vars(model).items() if name not in params}
    expected = model.predict(X, return_std=True)
    defaults = {"bandwidth": None} if "kernel" in params and "bandwidth" not in params else {}
    model.set_params(**defaults | params)
    if defaults and error is CapabilityError:
        model.set_params(bandwidth=1.0)
    with pytest.raises(error, match=message):
        model.fit(X[:30, :] + 1, y[:30])
    assert vars(model).keys() == before.keys() | params.keys()
    assert all(vars(model)[name] is value for name, value in before.items() if name not in ("bandwidth",))
    for found, wanted in zip(model.predict(X, return_std=True), expected, strict=True):
        assert_array_equal(found, wanted)


def test_bad_data_are_refused_and_a_fitted_model_stays_as_it_was():
    X, y = draw(40)
    model = NadarayaWatsonRegressor(bandwidth=1.0).fit(X, y)
    before = state_of(model, X)
    other = pd.DataFrame(np.column_stack([X, X]), columns=list("abcd"))
    for arguments, message in (
        ((other.where(other < 1.5), y), "NaN"),
        ((other, np.where(np.arange(40) == 7, np.inf, y)), "infinity"),
        ((other, y[:5]), "inconsistent numbers of samples"),
        ((other, y, -np.ones(40)), "sample_weight must not be negative"),
        ((other, y, np.zeros(40)), "sample_weight is zero for every row"),
        ((other, y, np.ones(39)), "sample_weight must have one value per row"),
        ((X[:, 0], y), "Expected 2D array"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(*arguments)
        assert_unchanged(model, before, X)
    for query in ([[np.nan, 0.0]], [[0.0]], [0.0, 1.0]):
        with pytest.raises(ValueError, match=r"NaN|expecting 2|Expected 2D"):
            model.predict(query)
    for action in ("predict", "effective_sample_size"):
        with pytest.raises(NotFittedError):
            getattr(NadarayaWatsonRegressor(), action)(X)
    for name in ("bandwidth_", "method_", "loo_error_", "loo_rows_"):
        with pytest.raises(NotFittedError):
            getattr(NadarayaWatsonRegressor(), name)


def test_what_was_learnt_does_not_follow_parameters_that_are_set_later():
    X, y = draw(40)
    model = NadarayaWatsonRegressor(bandwidth=2.0).fit(X, y)
    expected = model.predict(X)
    model.set_params(kernel="softmax", bandwidth=None, degree=1, method="nufft", empty="nan", n_neighbors=3)
    assert_array_equal(model.predict(X), expected)
    assert (model.temperature_, model.method_) == (None, "exact")
    assert_array_equal(model.bandwidth_, [2.0, 2.0])


def test_numbers_that_are_scales_and_names_of_numpy():
    X, y = draw(40)
    expected = NadarayaWatsonRegressor(bandwidth=2.0).fit(X, y).predict(X)
    for bandwidth in (2, np.float32(2), np.int64(2), [2.0], [2, 2.0], np.array([2.0, 2.0]), (2.0, 2.0)):
        assert_array_equal(NadarayaWatsonRegressor(bandwidth=bandwidth).fit(X, y).predict(X), expected)
    own = NadarayaWatsonRegressor(Gaussian.from_lengthscale(2.0))
    assert_allclose(own.fit(X, y).predict(X), expected, rtol=1e-13)
    assert_allclose(own.bandwidth_, [2.0, 2.0], rtol=1e-14)


def test_templates_of_some_columns_and_with_a_scale_already():
    """A scale that a template has stays; the bandwidth fills what is open; columns that it has not do not count."""
    X, y = draw(80)
    Q = near(X)
    fixed = Gaussian.from_lengthscale(0.7)
    half = NadarayaWatsonRegressor(fixed.on([0]) * Gaussian().on([1]), bandwidth=2.0).fit(X, y)
    both = NadarayaWatsonRegressor(bandwidth=[0.7, 2.0]).fit(X, y)
    assert_allclose(half.predict(Q), both.predict(Q), rtol=1e-12)
    mixed = NadarayaWatsonRegressor(Matern(nu=1.5, sigma=0.3).on([0]) * Matern(nu=1.5).on([1]), bandwidth=2.0)
    h = np.array([1 / (2 * math.pi * 0.3), 2.0])
    U = (Q[:, None] - X) / h
    k = np.exp(matern32(np.abs(U)).sum(axis=-1))
    assert_allclose(mixed.fit(X, y).predict(Q), k @ y / k.sum(axis=1), rtol=1e-11)
    one = NadarayaWatsonRegressor(Gaussian().on([0]), bandwidth=2.0).fit(X, y).predict(Q)
    assert_allclose(one, NadarayaWatsonRegressor(bandwidth=2.0).fit(X[:, :1], y).predict(Q[:, :1]), rtol=1e-11)
    multiple = NadarayaWatsonRegressor(5.0 * Gaussian(), bandwidth=2.0).fit(X, y).predict(Q)
    assert_allclose(multiple, NadarayaWatsonRegressor(bandwidth=2.0).fit(X, y).predict(Q), rtol=1e-12)
