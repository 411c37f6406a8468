import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, PolynomialFeatures, StandardScaler

from spectralkit import FourierFeatures, Gaussian, IntegratedFourierFeatures, _loops
from spectralkit.explanation import FourierExplanation, SobolIndices, _shapley, _sobol, _waves
from spectralkit.maps import fourier
from spectralkit.rules import Nodes


class OnNodes:
    """Features of given nodes, as a fitted transformer."""

    def __init__(self, nodes, factor=1.0):
        self.nodes_, self.factor = nodes, factor

    def transform(self, X):
        return self.factor * fourier(np.asarray(X, dtype=np.float64), self.nodes_)


class LinearModel(BaseEstimator):
    """The least that can be explained: ``features_``, ``coef_``, ``intercept_`` and ``predict``."""

    def __init__(self, features, coef, intercept=0.0):
        self.features_, self.coef_, self.intercept_ = features, np.asarray(coef, dtype=float), intercept

    def fit(self, X, y=None):
        return self  # the last step of a pipeline has to have it

    def predict(self, X):
        return self.features_.transform(X) @ self.coef_.T + self.intercept_


def rows(n, d, seed=0):
    return np.random.default_rng([seed, n, d]).normal(size=(n, d))


def fitted(d, n_components=24, n=30, targets=None, **params):
    X = rows(n, d)
    y = np.random.default_rng(d).normal(size=n if targets is None else (n, targets))
    return make_pipeline(FourierFeatures(n_components=n_components, random_state=0, **params), Ridge(0.1)).fit(X, y)


def table(model, values):
    """What the model says at every combination of the values of the columns, an axis a column."""
    said = model.predict(np.array(list(itertools.product(*values))))
    return said.reshape([len(column) for column in values])


def value_function(model, x, background):
    """v of every set of columns by averages over all combinations of background values."""
    values = [np.concatenate([[x[p]], column]) for p, column in enumerate(background.T)]
    cube = table(model, values)
    v = {}
    for known in itertools.product([False, True], repeat=len(x)):
        part = cube[tuple(0 if is_known else slice(1, None) for is_known in known)]
        v[frozenset(np.flatnonzero(known).tolist())] = part.mean()
    return v


def shapley_by_subsets(v, d):
    out = np.zeros(d)
    for S, value in v.items():
        for p in set(range(d)) - S:
            weight = math.factorial(len(S)) * math.factorial(d - len(S) - 1) / math.factorial(d)
            out[p] += weight * (v[S | {p}] - value)
    return out


def variances_by_subsets(cube, S):
    """Variance of f, and its first-order, total and interaction part of S, over a table with equal weights."""

    def closed(known):
        return cube.mean(tuple(set(range(cube.ndim)) - set(known))).var()

    interaction = sum(
        (-1) ** (len(S) - size) * closed(part)
        for size in range(1, len(S) + 1)
        for part in itertools.combinations(S, size)
    )
    rest = tuple(set(range(cube.ndim)) - set(S))
    return cube.var(), closed(S), cube.var() - (closed(rest) if rest else 0.0), interaction


# -- against all combinations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_components", [24, 7, 1])
@pytest.mark.parametrize("d", range(1, 9))
def test_shapley_values_are_those_of_all_subsets(d, n_components):
    model, background = fitted(d, n_components), rows(3 if d < 7 else 2, d, seed=1)
    explanation = FourierExplanation(model, background)
    X = rows(2, d, seed=2)
    v = [value_function(model, x, background) for x in X]
    expected = np.array([shapley_by_subsets(of_row, d) for of_row in v])
    scale = np.abs(model[-1].coef_).sum()
    values = explanation.shapley_values(X)
    assert_allclose(values, expected, rtol=0, atol=1e-12 * scale)
    assert_allclose(explanation.mean, v[0][frozenset()], rtol=0, atol=1e-12 * scale)
    assert_allclose(values.sum(axis=1), model.predict(X) - explanation.mean, rtol=0, atol=1e-12 * scale)


def test_the_tolerance_sees_one_gauss_node_less(monkeypatch):
    model, background, X = fitted(5), rows(3, 5, seed=1), rows(2, 5, seed=2)
    right = FourierExplanation(model, background).shapley_values(X)
    gauss_legendre = _shapley._gauss_legendre
    monkeypatch.setattr(_shapley, "_gauss_legendre", lambda n: gauss_legendre(n - 1))
    assert np.abs(FourierExplanation(model, background).shapley_values(X) - right).max() > 1e-6


@pytest.mark.parametrize("n_components", [24, 7])
def test_partial_dependence_is_the_average_over_all_combinations(n_components):
    model, background, X = fitted(3, n_components), rows(4, 3, seed=1), rows(5, 3, seed=2)
    explanation = FourierExplanation(model, background)
    for i, v in enumerate(value_function(model, x, background) for x in X):
        for S in set(v) - {frozenset()}:
            columns = sorted(S, reverse=True)  # any order of columns
            given = explanation.partial_dependence(columns, X[i : i + 1, columns])
            assert_allclose(given, v[S], rtol=0, atol=1e-12)
    assert_allclose(explanation.partial_dependence(range(3), X), model.predict(X), rtol=0, atol=1e-12)


def test_partial_dependence_is_that_of_scikit_learn_where_the_background_is_a_grid():
    """There the joint distribution of the rows is the product of those of the columns."""
    model = fitted(3)
    grid = np.array(list(itertools.product([0.0, 1.0, 3.0], [-1.0, 0.5], [0.2, 0.4, 0.9])))
    explanation = FourierExplanation(model, grid)
    for column in range(3):
        theirs = partial_dependence(model, grid, [column], percentiles=(0, 1), method="brute")
        ours = explanation.partial_dependence(column, theirs["grid_values"][0])
        assert len(ours) > 1
        assert_allclose(ours, theirs["average"][0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_components", [24, 7])
@pytest.mark.parametrize("d", range(1, 5))
def test_sobol_indices_are_those_of_all_combinations(d, n_components):
    model, background = fitted(d, n_components), rows(5, d, seed=1)
    cube = table(model, background.T)
    sets = [S for size in range(1, d + 1) for S in itertools.combinations(range(d), size)]
    found = FourierExplanation(model, background).sobol_indices(sets)
    assert isinstance(found, SobolIndices)
    assert found.columns == tuple(sets)
    for i, S in enumerate(sets):
        variance, first_order, total, interaction = variances_by_subsets(cube, S)
        assert_allclose(found.variance, variance, rtol=1e-11)
        assert_allclose(found.first_order[i], first_order / variance, rtol=0, atol=1e-12)
        assert_allclose(found.total[i], total / variance, rtol=0, atol=1e-12)
        assert_allclose(found.interaction[i], interaction / variance, rtol=0, atol=1e-12)
    assert_allclose(found.interaction.sum(), 1.0, rtol=1e-12)
    default = FourierExplanation(model, background).sobol_indices()
    assert default.columns == tuple((p,) for p in range(d))
    assert_array_equal(default.first_order, found.first_order[:d])
    assert_array_equal(default.first_order, default.interaction)


def test_one_wave_in_two_columns_is_the_formula():
    """Of cos(a s + b t) with signs s and t, the sines and cosines of a and b are everything."""
    turns = np.array([0.3, 0.45])
    model = LinearModel(OnNodes(Nodes(turns[None], np.array([4.0]))), [1.5, 0.0], 0.25)  # 3 cos + 0.25
    explanation = FourierExplanation(model, [[1.0, -1.0], [-1.0, 1.0]])
    (x, y), (cos_a, cos_b), (sin_a, sin_b) = (
        2 * np.pi * turns * [0.6, -0.2],
        np.cos(2 * np.pi * turns),
        np.sin(2 * np.pi * turns),
    )
    nothing, first, second, both = cos_a * cos_b, np.cos(x) * cos_b, cos_a * np.cos(y), np.cos(x + y)
    expected = [3 * (first - nothing + both - second) / 2, 3 * (second - nothing + both - first) / 2]
    assert_allclose(explanation.shapley_values([[0.6, -0.2]]), [expected], rtol=0, atol=1e-14)
    assert_allclose(explanation.mean, 0.25 + 3 * nothing, rtol=0, atol=1e-14)
    indices = explanation.sobol_indices([0, 1, (0, 1)])
    assert_allclose(indices.variance, (3 * sin_a * sin_b) ** 2, rtol=1e-13)
    assert_allclose(indices.first_order, [0.0, 0.0, 1.0], rtol=0, atol=1e-14)
    assert_allclose(indices.total, [1.0, 1.0, 1.0], rtol=0, atol=1e-13)


def test_a_phase_column_is_one_shifted_cosine():
    model = LinearModel(OnNodes(Nodes(np.array([[0.3]]), np.array([2.0]), phase=0.1)), [1.0])
    points = np.linspace(-2, 2, 9)
    explanation = FourierExplanation(model, [[0.7], [1.9]])
    f = 2 * np.cos(2 * np.pi * (0.3 * points + 0.1))
    assert_allclose(explanation.partial_dependence(0, points), f, rtol=0, atol=1e-13)
    assert_allclose(explanation.shapley_values(points[:, None])[:, 0], f - explanation.mean, rtol=0, atol=1e-13)


# -- structure ---------------------------------------------------------------------------------------------------------


def test_an_additive_model_has_no_interactions():
    spectrum = Gaussian(0.2).on([0]) + Gaussian(0.3).on([1]) + 0.5 * Gaussian(0.1).on([2])
    model, background = fitted(3, 60, spectrum=spectrum, rule="iid"), rows(20, 3, seed=1)
    explanation = FourierExplanation(model, background)
    indices = explanation.sobol_indices([0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2)])
    assert_allclose(indices.first_order[:3], indices.total[:3], rtol=0, atol=1e-12)
    assert_allclose(indices.first_order[:3].sum(), 1.0, rtol=1e-12)
    assert_array_equal(indices.interaction[3:], 0.0)
    X = rows(6, 3, seed=2)
    effects = [explanation.partial_dependence(p, X[:, p]) - explanation.mean for p in range(3)]
    assert_allclose(explanation.shapley_values(X), np.transpose(effects), rtol=0, atol=1e-12)


def test_a_column_that_the_model_does_not_use_has_no_share():
    model = fitted(4, spectrum=Gaussian(0.2).on([0]) * Gaussian(0.1).on([2]) + Gaussian(0.2).on([3]), rule="iid")
    explanation = FourierExplanation(model, rows(20, 4, seed=1), sample_weight=rows(20, 1)[:, 0] ** 2)
    indices = explanation.sobol_indices()
    assert_array_equal(explanation.shapley_values(rows(5, 4))[:, 1], 0.0)
    assert indices.first_order[1] == indices.total[1] == 0.0
    assert (indices.total[[0, 2, 3]] > 0).all()
    assert_allclose(explanation.partial_dependence(1, [0.0, 1.0]), explanation.mean, rtol=0, atol=1e-14)


def test_columns_that_can_be_exchanged_have_equal_shares():
    a, b, c = 0.2, 0.5, -0.3
    model = LinearModel(OnNodes(Nodes(np.array([[a, b, c], [b, a, c]]), np.ones(2))), [1.0, 1.0, 0.5, 0.5])
    x = rows(9, 1)[:, 0]
    explanation = FourierExplanation(model, np.column_stack([x, x[::-1], rows(9, 1, seed=1)]))
    values = explanation.shapley_values([[0.4, 0.4, 1.0]])[0]
    assert_allclose(values[0], values[1], rtol=1e-12)
    indices = explanation.sobol_indices()
    assert_allclose(indices.total[0], indices.total[1], rtol=1e-12)
    assert_allclose(indices.first_order[0], indices.first_order[1], rtol=1e-12)


def test_weights_are_repetitions():
    model, background, repeats = fitted(3), rows(8, 3, seed=1), np.array([0, 1, 2, 0, 3, 1, 1, 5])
    weighted = FourierExplanation(model, background, sample_weight=0.37 * repeats)
    repeated = FourierExplanation(model, np.repeat(background, repeats, axis=0))
    X = rows(4, 3)
    assert_allclose(weighted.mean, repeated.mean, rtol=1e-12)
    assert_allclose(weighted.shapley_values(X), repeated.shapley_values(X), rtol=0, atol=1e-13)
    for ours, theirs in zip(weighted.sobol_indices().total, repeated.sobol_indices().total, strict=True):
        assert_allclose(ours, theirs, rtol=1e-11)


def test_constant_columns_have_no_variance_but_explain_rows_that_differ():
    model, background = fitted(3), rows(6, 3, seed=1)
    background[:, 1] = 0.1
    explanation = FourierExplanation(model, background, sample_weight=np.arange(1.0, 7.0) / 3)
    indices = explanation.sobol_indices([0, 1, 2, (0, 2)])
    assert indices.first_order[1] == indices.total[1] == 0.0
    assert_allclose(indices.first_order[3], 1.0, rtol=1e-12)
    values = explanation.shapley_values([[0.3, 0.1, 0.2], [0.3, 0.7, 0.2]])
    assert values[0, 1] == 0.0
    assert abs(values[1, 1]) > 1e-3


@pytest.mark.parametrize("targets", [None, 2])
def test_without_variance_all_indices_are_zero(targets):
    model = fitted(3, targets=targets)
    explanation = FourierExplanation(model, np.full((3, 3), 0.3))
    indices = explanation.sobol_indices()
    assert_array_equal(indices.variance, 0.0)
    for shares in (indices.first_order, indices.total, indices.interaction):
        assert_array_equal(shares, np.zeros((3,) if targets is None else (3, targets)))
    X = rows(2, 3)
    values = FourierExplanation(model, X[:1]).shapley_values(X)
    assert_allclose(values[0], 0.0, rtol=0, atol=1e-13)
    assert_allclose(values[1].sum(axis=0), model.predict(X)[1] - model.predict(X)[0], rtol=0, atol=1e-12)


# -- numbers -----------------------------------------------------------------------------------------------------------


def test_an_offset_changes_nothing():
    """The turns of the offset are whole, and points and their means have few digits: both models are the same."""
    rng = np.random.default_rng(0)
    nodes = Nodes(rng.integers(-40, 40, size=(20, 3)) / 64, rng.uniform(size=20), phase=0.3)
    model = LinearModel(OnNodes(nodes), rng.normal(size=39), 1.0)
    X, background = (np.round(rows(8, 3, seed) * 2**10) / 2**10 for seed in range(2))
    offset = np.array([2.0**20, -(2.0**21), 0.0])  # a million
    here, there = FourierExplanation(model, background), FourierExplanation(model, background + offset)
    assert_allclose(there.mean, here.mean, rtol=1e-12)
    assert_allclose(there.shapley_values(X + offset), here.shapley_values(X), rtol=0, atol=1e-11)
    assert_allclose(there.sobol_indices().total, here.sobol_indices().total, rtol=1e-10)
    ours = there.partial_dependence([0, 1], (X + offset)[:, :2])
    assert_allclose(ours, here.partial_dependence([0, 1], X[:, :2]), rtol=0, atol=1e-11)


def test_a_model_fitted_far_from_zero_is_explained_there():
    X = rows(40, 3) + 1e6
    model = make_pipeline(FourierFeatures(random_state=0, n_components=51), Ridge(0.1)).fit(X, rows(40, 1)[:, 0])
    explanation = FourierExplanation(model, X)
    # 1e6 omega turns are known to 1e6 omega eps, some 1e-10
    assert_allclose(explanation.shapley_values(X).sum(axis=1) + explanation.mean, model.predict(X), rtol=0, atol=1e-8)


def test_float32_rows_are_explained_in_float64():
    model, background, X = fitted(3), rows(9, 3, seed=1).astype(np.float32), rows(5, 3).astype(np.float32)
    ours = FourierExplanation(model, background)
    double = FourierExplanation(model, background.astype(np.float64))
    assert ours.shapley_values(X).dtype == np.float64
    assert ours.mean == double.mean
    assert_array_equal(ours.shapley_values(X), double.shapley_values(X.astype(np.float64)))


@pytest.mark.parametrize("targets", [None, 2])
def test_blocks_threads_and_compiled_loops_change_nothing(targets, monkeypatch):
    spectrum = Gaussian(0.2).on([0, 1, 2]) + Gaussian(0.3).on([1])
    model, background = fitted(3, 81, spectrum=spectrum, rule="iid", targets=targets), rows(50, 3, seed=1)
    X = rows(60, 3, seed=2)

    def results(n_jobs=None):
        explanation = FourierExplanation(model, background, n_jobs=n_jobs)
        indices = explanation.sobol_indices([0, 2, (0, 1)])
        dependence = explanation.partial_dependence([2, 0], X[:, [2, 0]])
        return [
            *(explanation.mean, dependence, explanation.shapley_values(X)),
            *(indices.variance, indices.first_order, indices.total, indices.interaction),
        ]

    whole = results()
    monkeypatch.setattr(_shapley, "BLOCK", 30)
    monkeypatch.setattr(_shapley, "WAVE_BLOCKS", 3)
    monkeypatch.setattr(_sobol, "TILE", 16)
    monkeypatch.setattr(_sobol, "ROWS_PER_BLOCK", 7)
    monkeypatch.setattr(_waves, "ROWS_PER_BLOCK", 7)
    blocks = results(1)
    for ours, expected in zip(blocks, whole, strict=True):
        assert_allclose(ours, expected, rtol=0, atol=1e-12)
    for ours, expected in zip(results(2), blocks, strict=True):
        assert_array_equal(ours, expected)
    monkeypatch.setattr(_loops, "SMALLEST_WORK", 0)
    for ours, expected in zip(results(2), blocks, strict=True):
        assert_allclose(ours, expected, rtol=0, atol=1e-12)


# -- models ------------------------------------------------------------------------------------------------------------


def test_several_targets_are_explained_each_by_itself():
    model, background, X = fitted(3, 25, targets=2), rows(5, 3, seed=1), rows(4, 3)
    ours = FourierExplanation(model, background)
    assert ours.shapley_values(X).shape == (4, 3, 2)
    assert ours.partial_dependence(0, X[:, 0]).shape == (4, 2)
    indices = ours.sobol_indices([0, (1, 2)])
    assert indices.first_order.shape == (2, 2)
    for t in range(2):
        single = LinearModel(model[0], model[-1].coef_[t], model[-1].intercept_[t])
        expected = FourierExplanation(single, background)
        assert_allclose(ours.mean[t], expected.mean, rtol=1e-12)
        assert_allclose(ours.shapley_values(X)[..., t], expected.shapley_values(X), rtol=0, atol=1e-13)
        assert_allclose(ours.partial_dependence(0, X[:, 0])[:, t], expected.partial_dependence(0, X[:, 0]), atol=1e-13)
        assert_allclose(indices.total[:, t], expected.sobol_indices([0, (1, 2)]).total, rtol=0, atol=1e-12)
        assert_allclose(indices.variance[t], expected.sobol_indices().variance, rtol=1e-11)


def test_models_in_all_their_arrangements():
    X, y = rows(40, 3) * [1.0, 50.0, 0.01], rows(40, 1, seed=1)[:, 0]
    inner = make_pipeline(StandardScaler(), FourierFeatures(random_state=0, n_components=20)).fit(X)
    linear = Ridge(0.1).fit(inner.transform(X), y)
    scaled = make_pipeline(StandardScaler(), FourierFeatures(random_state=0, n_components=20), Ridge(0.1)).fit(X, y)
    whole = LinearModel(inner, linear.coef_, linear.intercept_)
    behind = make_pipeline(inner[0], "passthrough", LinearModel(inner[1], linear.coef_, linear.intercept_))
    nested = make_pipeline(inner, Ridge(0.1)).fit(X, y)
    brute = shapley_by_subsets(value_function(scaled, X[0], X[:4]), 3)
    for model in (scaled, whole, behind, nested):
        explanation = FourierExplanation(model, X[:4])
        assert_allclose(explanation.shapley_values(X[:1])[0], brute, rtol=0, atol=1e-12)
        points = X[:3, [2, 0]]
        expected = [value_function(scaled, x, X[:4])[frozenset({0, 2})] for x in X[:3]]
        assert_allclose(explanation.partial_dependence([2, 0], points), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_of_a_classifier_the_decision_function_is_explained(classes):
    X = rows(60, 2)
    model = make_pipeline(FourierFeatures(random_state=0, n_components=20), LogisticRegression())
    model.fit(X, np.arange(60) % classes)
    explanation = FourierExplanation(model, X)
    said = explanation.mean + explanation.shapley_values(X).sum(axis=1)
    assert_allclose(said, model.decision_function(X), rtol=0, atol=1e-12)


def test_an_intercept_in_an_array_and_hadamard_nodes():
    X, y = rows(50, 3), rows(50, 1, seed=1)[:, 0]
    features = FourierFeatures(rule="hadamard", n_components=30, random_state=0)
    model = make_pipeline(features, SGDRegressor(random_state=0)).fit(X, y)
    explanation = FourierExplanation(model, X)
    said = explanation.mean + explanation.shapley_values(X).sum(axis=1)
    assert_allclose(said, model.predict(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "frame", [lambda X: pd.DataFrame(X, columns=list("abc")), lambda X: pl.DataFrame(X, list("abc"))]
)
def test_columns_of_data_frames_have_names(frame):
    X, y = rows(30, 3), rows(30, 1, seed=1)[:, 0]
    model = make_pipeline(StandardScaler(), FourierFeatures(random_state=0, n_components=20), Ridge(0.1))
    model.fit(frame(X), y)
    explanation = FourierExplanation(model, frame(X[:5]))
    expected = explanation.partial_dependence([1, 2], X[:, 1:])
    assert_array_equal(explanation.partial_dependence(["b", "c"], X[:, 1:]), expected)
    assert_array_equal(explanation.partial_dependence("b", X[:, 1]), explanation.partial_dependence(1, X[:, 1]))
    assert_array_equal(explanation.shapley_values(frame(X)), explanation.shapley_values(X))
    assert explanation.sobol_indices(["c", ("a", "b")]).columns == ((2,), (0, 1))
    with pytest.raises(
        ValueError, match=r"X has the columns \['c', 'b', 'a'\], but the background has \['a', 'b', 'c'\]"
    ):
        explanation.shapley_values(frame(X)[["c", "b", "a"]])
    with pytest.raises(ValueError, match=r"from 0 to 2, or one of the names \['a', 'b', 'c'\], got 'd'"):
        explanation.partial_dependence("d", X[:, 0])


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_models_that_are_not_linear_on_fourier_features_are_refused():
    X, y = rows(30, 3), np.abs(rows(30, 1, seed=1)[:, 0])
    features = FourierFeatures(random_state=0, n_components=10)
    with pytest.raises(TypeError, match=r"GridSearchCV has no coef_ and intercept_.*best_estimator_"):
        FourierExplanation(GridSearchCV(make_pipeline(features, Ridge()), {}).fit(X, y), X)
    with pytest.raises(TypeError, match="Ridge has no coef_"):
        FourierExplanation(make_pipeline(features, Ridge()), X)
    with pytest.raises(TypeError, match="before LinearRegression there is no transformer"):
        FourierExplanation(LinearRegression().fit(X, y), X)
    with pytest.raises(TypeError, match="before Ridge there is StandardScaler, which has no nodes_"):
        FourierExplanation(make_pipeline(StandardScaler(), Ridge()).fit(X, y), X)
    with pytest.raises(TypeError, match="there is IntegratedFourierFeatures, which has no nodes_"):
        FourierExplanation(make_pipeline(IntegratedFourierFeatures(features), Ridge()).fit(X, y), X)
    with pytest.raises(
        ValueError, match=r"(?s)The output of Pipeline is not its coefficients.*without a link function"
    ):
        FourierExplanation(make_pipeline(features, PoissonRegressor()).fit(X, y), X)
    nodes = features.fit(X).nodes_
    with pytest.raises(ValueError, match=r"The output of LinearModel is not its coefficients times .* at row"):
        FourierExplanation(LinearModel(OnNodes(nodes, factor=1 + 1e-9), np.ones(10)), X)
    with pytest.raises(ValueError, match=r"has 9 coefficient\(s\) a target, but the nodes of OnNodes make 10 features"):
        FourierExplanation(LinearModel(OnNodes(nodes), np.ones(9)), X)


def test_steps_that_mix_columns_are_refused():
    X, y = rows(30, 3), rows(30, 1, seed=1)[:, 0]
    swap = FunctionTransformer(lambda X: X[:, ::-1])
    for step in (PCA(), Normalizer(), swap):
        with pytest.raises(ValueError, match=rf"\({type(step).__name__}\) mix columns: changing column 0 of X"):
            FourierExplanation(make_pipeline(step, FourierFeatures(n_components=10), Ridge()).fit(X, y), X)
    with pytest.raises(ValueError, match=r"\(PolynomialFeatures\) make 10 column\(s\) out of 3"):
        FourierExplanation(make_pipeline(PolynomialFeatures(), FourierFeatures(), Ridge()).fit(X, y), X)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_a_step_that_mixes_one_column_that_is_constant_in_the_background_is_refused(factor):
    X, y = rows(30, 3), rows(30, 1, seed=1)[:, 0]
    step = FunctionTransformer(lambda X: np.column_stack([X[:, 0] + factor * X[:, 2], X[:, 1], X[:, 2]]))
    model = make_pipeline(step, FourierFeatures(n_components=10), Ridge()).fit(X, y)
    background = X * [1.0, 1.0, 0.0]
    with pytest.raises(ValueError, match="mix columns: changing column 2 of X"):
        FourierExplanation(model, background)


def test_arguments_that_do_not_fit_are_refused():
    model, X = fitted(3), rows(5, 3)
    explanation = FourierExplanation(model, X)
    with pytest.raises(ValueError, match=r"background has 2 column\(s\), but the frequencies of the model have 3"):
        FourierExplanation(LinearModel(OnNodes(model[0].nodes_), np.ones(24)), X[:, :2])
    with pytest.raises(ValueError, match="background contains NaN"):
        FourierExplanation(model, np.full((4, 3), np.nan))
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        FourierExplanation(model, X, sample_weight=-np.ones(5))
    with pytest.raises(ValueError, match=r"X has 2 column\(s\), but the background has 3"):
        explanation.shapley_values(X[:, :2])
    with pytest.raises(ValueError, match=r"shape \(k, 2\), got shape \(5, 3\)"):
        explanation.partial_dependence([0, 1], X)
    with pytest.raises(ValueError, match=r"shape \(k, 2\), got shape \(5,\)"):
        explanation.partial_dependence([0, 1], X[:, 0])
    for columns in (3, -1, 0.5, True, "a"):
        with pytest.raises(ValueError, match="A column must be an integer from 0 to 2, got"):
            explanation.partial_dependence(columns, [0.0])
    for columns in ([], [1, 1]):
        with pytest.raises(ValueError, match="Columns must be one or more, each given once, got"):
            explanation.sobol_indices([columns])
    assert explanation.sobol_indices(2).columns == explanation.sobol_indices(np.array([2])).columns == ((2,),)
