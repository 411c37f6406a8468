"""Fits and predictions on Dask arrays, by whatever scheduler, are those of the rows in memory."""

import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

import spectralkit.dask as sd  # noqa: E402 - only now can it succeed
from spectralkit import FeatureRidge, FeatureRidgeClassifier, FourierFeatures  # noqa: E402

N, D = 700, 3
EPS = np.finfo(float).eps
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * [1.0, 3.0, 0.2] + [0.0, 50.0, 1.0]
Y = np.stack([np.sin(X[:, 0]) + 0.3 * X[:, 1], np.cos(5 * X[:, 2]), X[:, 0] * X[:, 2]], axis=1)
Y += 0.1 * RNG.normal(size=Y.shape)
y = Y[:, 0]
LABELS = np.array(["low", "middle", "high"])[np.digitize(y, [14.5, 15.5])]
WEIGHTS = RNG.integers(0, 4, N).astype(float)
FIXED = FourierFeatures(sigma=[0.2, 0.05, 1.0], n_components=60, random_state=0)
OPEN = FourierFeatures(n_components=60, random_state=0)

ESTIMATORS = {
    "fixed": FeatureRidge(FIXED),
    "default": FeatureRidge(),
    "auto": FeatureRidge(OPEN),
    "qr": FeatureRidge(OPEN, solver="qr"),
    "multipliers": FeatureRidge(OPEN, multipliers=[0.3, 1.0, 3.0]),
    "evidence": FeatureRidge(FIXED, alpha="evidence", fit_intercept=False),
    "given": FeatureRidge(OPEN, alpha=0.1),
    "rbf": FeatureRidge(RBFSampler(gamma=0.1, n_components=60, random_state=0)),
    "pipeline": FeatureRidge(make_pipeline(StandardScaler(), FourierFeatures(n_components=60, random_state=0))),
    "two": FeatureRidgeClassifier(OPEN),
    "three": FeatureRidgeClassifier(FIXED, multipliers=[0.5, 1.0]),
}
CHUNKS = {
    "uneven": (1, 0, 299, 50, 350),
    "one": (N,),
    "small": (37,) * 18 + (34,),
    "rows": (1,) * 24 + (N - 24,),
    "empty": (0, 0, 350, 0, 350, 0),
}


def blocks(a, chunks=CHUNKS["uneven"]):
    return da.from_array(a, chunks=(chunks, *a.shape[1:]))


def without_sizes(a):
    """The same rows in chunks whose sizes nobody knows, as boolean masks leave them."""
    return a[da.from_array(np.ones(a.shape[0], dtype=bool), chunks=a.chunks[0])]


def targets(name):
    return np.where(LABELS == "low", -3, 8) if name == "two" else LABELS if name == "three" else y


def assert_same(found, local, eps=EPS):
    """The same moments up to rounding, and the same coefficients up to what rounding of the moments does to them."""
    S, m = local.moments_.scatter, local.moments_.n_features
    assert np.allclose(found.moments_.scatter, S, rtol=0, atol=1000 * eps * np.abs(S).max())
    assert found.alpha_ == pytest.approx(local.alpha_, rel=1e-12)
    assert found.multiplier_ == local.multiplier_
    tolerance = 10 * eps * (10 + np.linalg.cond(S[:m, :m] + local.alpha_ * np.eye(m)))
    scale = np.abs(local.coef_).max()
    assert found.coef_.shape == local.coef_.shape
    assert np.allclose(found.coef_, local.coef_, rtol=0, atol=tolerance * scale)
    assert np.allclose(found.intercept_, local.intercept_, rtol=0, atol=tolerance * (scale + np.abs(Y).max()))
    if hasattr(local, "classes_"):
        assert found.classes_.tolist() == local.classes_.tolist()
        assert found.classes_.dtype == local.classes_.dtype
    else:
        assert np.allclose(found.noise_std_, local.noise_std_, rtol=tolerance)
    assert found.n_features_in_ == local.n_features_in_
    assert vars(found).keys() == vars(local).keys()


# -- the same as in memory ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
def test_equals_the_fit_in_memory(name):
    target = targets(name)
    found = sd.fit(clone(ESTIMATORS[name]), blocks(X), blocks(target))
    assert_same(found, clone(ESTIMATORS[name]).fit(X, target))


@pytest.mark.parametrize("name", ["auto", "multipliers", "three"])
def test_equals_the_fit_in_memory_with_weights(name):
    target = targets(name)
    weights = np.where(np.arange(N) < 350, WEIGHTS, 0.0)  # whole blocks do not count
    found = sd.fit(clone(ESTIMATORS[name]), blocks(X), blocks(target), blocks(weights))
    assert_same(found, clone(ESTIMATORS[name]).fit(X, target, weights))


def test_blocks_that_do_not_count_may_come_first():
    weights = np.where(np.arange(N) < 350, 0.0, WEIGHTS)
    for name in ("fixed", "auto"):
        found = sd.fit(clone(ESTIMATORS[name]), blocks(X), blocks(y), weights)
        assert_same(found, clone(ESTIMATORS[name]).fit(X, y, weights))


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
@pytest.mark.parametrize("chunks", CHUNKS)
def test_chunks_and_schedulers_make_no_difference(chunks, scheduler):
    with dask.config.set(scheduler=scheduler):
        found = sd.fit(clone(ESTIMATORS["auto"]), blocks(X, CHUNKS[chunks]), blocks(Y, CHUNKS[chunks]), 2.0)
    assert_same(found, clone(ESTIMATORS["auto"]).fit(X, Y, 2.0))


def test_with_the_same_chunks_the_last_bit_is_the_same():
    coefs = []
    for scheduler in ("sync", "threads", "threads"):
        with dask.config.set(scheduler=scheduler):
            coefs.append(sd.fit(FeatureRidge(OPEN), blocks(X, CHUNKS["small"]), blocks(y)).coef_)
    assert np.array_equal(coefs[0], coefs[1])
    assert np.array_equal(coefs[1], coefs[2])


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_other_dtypes(dtype):
    rows = X.astype(dtype)
    found = sd.fit(clone(ESTIMATORS["fixed"]), blocks(rows), blocks(y))
    assert_same(found, clone(ESTIMATORS["fixed"]).fit(rows, y), np.finfo(np.result_type(dtype, np.float32)).eps)


def test_sparse_blocks():
    model = FeatureRidge(FunctionTransformer(accept_sparse=True))
    rows = blocks(X).map_blocks(sparse.csr_array)
    assert_same(sd.fit(clone(model), rows, blocks(y)), model.fit(sparse.csr_array(X), y))
    assert np.allclose(sd.predict(model, rows).compute(), model.predict(X))


def test_columns_in_several_chunks_and_targets_in_other_chunks():
    rows, both = da.from_array(X, chunks=(200, 2)), da.from_array(Y, chunks=(90, 1))
    found = sd.fit(FeatureRidge(OPEN), rows, both, da.from_array(WEIGHTS, chunks=41))
    assert_same(found, FeatureRidge(OPEN).fit(X, Y, WEIGHTS))
    assert np.allclose(sd.predict(found, rows).compute(), found.predict(X), rtol=1e-12)


def test_targets_and_weights_in_memory():
    found = sd.fit(FeatureRidge(OPEN), blocks(X), list(y), WEIGHTS)
    assert_same(found, FeatureRidge(OPEN).fit(X, y, WEIGHTS))


@pytest.mark.parametrize("unknown", ["X", "y", "X y", "X y weights"])
@pytest.mark.parametrize("chunks", [CHUNKS["uneven"], CHUNKS["small"]], ids=len)
def test_chunks_of_unknown_size(unknown, chunks):
    arrays = {"X": blocks(X, CHUNKS["uneven"]), "y": blocks(y, chunks), "weights": blocks(WEIGHTS, chunks)}
    arrays.update({name: without_sizes(arrays[name]) for name in unknown.split()})
    found = sd.fit(FeatureRidge(OPEN), *arrays.values())
    assert_same(found, FeatureRidge(OPEN).fit(X, y, WEIGHTS))
    for name in unknown.split():
        assert np.isnan(arrays[name].shape[0]), "the caller's array has changed"


def test_sizes_are_not_computed_if_all_are_unknown():
    calls = []

    def count(block):
        calls.append(len(block))
        return block

    rows = blocks(X).map_blocks(count, meta=np.empty((0, D)))
    with dask.config.set(scheduler="sync"):
        sd.fit(FeatureRidge(FIXED), without_sizes(rows), without_sizes(blocks(y)))
    assert sum(calls) == N + 1  # the first block, which has one row, once more for the features


class Frame:
    """What is asked of a Dask DataFrame, which cannot be made without pyarrow."""

    def __init__(self, columns, chunks):
        pandas = pytest.importorskip("pandas")
        self._meta = pandas.DataFrame(columns=columns, dtype=float)
        self.values = chunks

    def to_dask_array(self):
        return without_sizes(self.values)


def test_frames_have_names():
    pandas = pytest.importorskip("pandas")
    frame, local = Frame(list("abc"), blocks(X)), pandas.DataFrame(X, columns=list("abc"))
    found = sd.fit(FeatureRidge(OPEN), frame, Frame(["y"], blocks(Y[:, :1])))
    assert_same(found, FeatureRidge(OPEN).fit(local, Y[:, :1]))
    assert found.feature_names_in_.tolist() == ["a", "b", "c"]
    assert np.allclose(sd.predict(found, frame).compute(), found.predict(local), rtol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        sd.predict(found, Frame(list("abd"), blocks(X)))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        sd.predict(found, blocks(X))


def test_learns_more_rows_afterwards():
    found = sd.fit(FeatureRidge(FIXED), blocks(X[:400], (100, 300)), y[:400]).partial_fit(X[400:], y[400:])
    assert_same(found, FeatureRidge(FIXED).fit(X, y))


def test_what_was_learnt_before_is_replaced():
    model = FeatureRidge(OPEN).fit(Y[:, 1:], Y)
    assert_same(sd.fit(model, blocks(X), blocks(y)), FeatureRidge(OPEN).fit(X, y))


def test_random_features_are_drawn_once():
    """Every block, and the model, must have the same frequencies, seed or no seed."""
    model = sd.fit(FeatureRidge(RBFSampler(gamma=0.1, n_components=60), alpha=1.0), blocks(X), blocks(y))
    assert_same(model, FeatureRidge(FrozenEstimator(model.features_), alpha=1.0).fit(X, y))


def test_a_first_block_of_one_row_or_with_constants_does_not_decide_about_scales():
    rows = X.copy()
    rows[:50, 1] = 7.0
    for first in (1, 50):
        found = sd.fit(FeatureRidge(OPEN), blocks(rows, (first, N - first)), blocks(y, (first, N - first)))
        assert_same(found, FeatureRidge(OPEN).fit(rows, y))


def test_classes_that_do_not_come():
    chunks, codes = CHUNKS["uneven"], np.digitize(y, [15.0])
    model = sd.fit(FeatureRidgeClassifier(FIXED), blocks(X, chunks), blocks(codes), classes=[2, 1, 0])
    assert_same(model, FeatureRidgeClassifier(FIXED).partial_fit(X, codes, classes=[0, 1, 2]))
    assert (sd.predict(model, blocks(X), method="predict_proba").compute()[:, 2] == 0).all()


# -- predictions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [y, Y, Y[:, :1]], ids=["vector", "matrix", "column"])
def test_predictions_are_lazy_and_those_in_memory(target):
    model = FeatureRidge(FIXED).fit(X, target)
    rows = blocks(X)
    mean, std = sd.predict(model, rows, return_std=True)
    expected = model.predict(X, return_std=True)
    for found, local in zip((mean, std, sd.predict(model, rows)), (*expected, expected[0]), strict=True):
        assert isinstance(found, da.Array)
        assert found.shape == local.shape
        assert found.chunks[0] == rows.chunks[0]
        assert found.dtype == found.compute().dtype == np.float64
        assert np.allclose(found.compute(), local, rtol=1e-12)
    model.partial_fit(X, target)
    assert np.array_equal(mean.compute(), sd.predict(model.fit(X, target), rows).compute())


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("name", ["two", "three"])
def test_classifiers_predict(name, method):
    model = clone(ESTIMATORS[name]).fit(X, targets(name))
    for rows in (blocks(X), without_sizes(blocks(X))):
        found = sd.predict(model, rows, method=method)
        local = getattr(model, method)(X)
        assert found.ndim == local.ndim
        assert found.shape[1:] == local.shape[1:]
        assert found.dtype == local.dtype == found.compute().dtype
        assert (found.compute() == local).all() if method == "predict" else np.allclose(found.compute(), local)


def test_predictions_do_not_carry_training_rows():
    model = FeatureRidge(FIXED, interval="jackknife+").fit(X, y)
    graph = sd.predict(model, da.zeros((10**6, D), chunks=1000)).dask
    assert len(pickle.dumps(model._conformal)) > X.nbytes
    assert sum(len(pickle.dumps(part)) > X.nbytes / 2 for part in graph.layers.values()) <= 2
    sizes = [len(pickle.dumps(value)) for layer in graph.layers.values() for value in layer.values()]
    assert max(sizes) < len(pickle.dumps(model)) - X.nbytes
    assert sum(size > 10_000 for size in sizes) == 1  # the model, in one place


# -- what comes back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fixed", "auto", "multipliers", "three"])
def test_rows_are_not_gathered_and_features_are_sent_once(name):
    n, m, k = 20_000, 60, len(ESTIMATORS[name].multipliers or [1])
    rows = da.random.default_rng(0).normal(size=(n, D), chunks=(1000, D))
    target = rows[:, 0] ** 2
    returned, graphs = [], []

    def get(graph, keys, **kwargs):
        result = dask.local.get_sync(graph, keys, **kwargs)
        returned.append(len(pickle.dumps(result)))
        tasks = dict(graph.__dask_graph__() if hasattr(graph, "__dask_graph__") else graph)
        graphs.append([len(pickle.dumps(task)) for task in tasks.values()])
        return result

    model = clone(ESTIMATORS[name])
    if name == "three":
        target = (target > 1).astype(int)
    with dask.config.set(scheduler=get):
        sd.fit(model, rows, target)
    t = m + 1
    assert max(returned) < k * 8 * (t * t + 10 * t) + 4000
    assert sum(returned[:-1]) < k * 20_000 < 8 * n
    features = len(pickle.dumps(model.features_))
    assert features > 1500
    assert sum(size >= features for size in graphs[-1]) == 1


def test_blocks_are_read_once_and_once_more_for_scales():
    calls = []

    def count(block):
        calls.append(len(block))
        return block

    rows = blocks(X, (100, 600)).map_blocks(count, meta=np.empty((0, D)))
    with dask.config.set(scheduler="sync"):
        sd.fit(FeatureRidge(FIXED), rows, blocks(y))
        assert sorted(calls) == [100, 100, 600]
        calls.clear()
        sd.fit(FeatureRidge(OPEN, multipliers=[0.5, 1.0]), rows, blocks(y))
    assert sorted(calls) == [100, 100, 100, 600, 600]


# -- what is refused ---------------------------------------------------------------------------------------------------


def refused(model, *data, match, error=ValueError, **more):
    """The call fails with this message, and the estimator is what it was."""
    before = dict(vars(model))
    with pytest.raises(error, match=match):
        sd.fit(model, *data, **more)
    assert vars(model) == before


@pytest.mark.parametrize("row", [0, 5, N - 1])
@pytest.mark.parametrize("name", ["fixed", "auto", "two"])
def test_a_block_that_is_not_valid_says_what_it_says_in_memory(name, row):
    broken, target = X.copy(), targets(name).astype(float)
    broken[row, 1] = np.nan
    model = clone(ESTIMATORS[name])
    refused(model, blocks(broken), blocks(target), match="^Input X contains NaN.")
    assert not model.__sklearn_is_fitted__()
    broken = target.copy()
    broken[row] = np.nan
    refused(model, blocks(X), blocks(broken), match="^Input y contains NaN.")
    fitted = clone(model).fit(X, target)
    refused(fitted, blocks(X), blocks(broken), match="^Input y contains NaN.")


def test_weights_that_are_not_valid():
    refused(FeatureRidge(OPEN), blocks(X), blocks(y), blocks(WEIGHTS - 1), match="must not be negative")
    for model in (FeatureRidge(OPEN), FeatureRidge(FIXED)):
        refused(model, blocks(X), blocks(y), da.zeros(N), match="sample_weight is zero for every row")
        refused(model, blocks(X), blocks(y), blocks(X), match="one value per row of X")
        refused(model, blocks(X), blocks(y), 0.0, match="sample_weight is zero for every row")


def test_what_needs_the_rows_twice():
    refused(FeatureRidge(alpha="loo"), blocks(X), blocks(y), match="a second time.*alpha='gcv'")
    refused(FeatureRidge(interval="cv+"), blocks(X), blocks(y), match="interval='cv\\+' looks at every row a second")


def test_features_that_read_more_than_statistics():
    model = FeatureRidge(Nystroem(n_components=1, random_state=0))
    refused(model, blocks(X), blocks(y), match="^Nystroem.* reads more off the data than mean, spread and range")


def test_an_error_of_the_features_is_their_own():
    refused(FeatureRidge(FourierFeatures(sigma=-1.0)), blocks(X), blocks(y), match="sigma")


def test_shapes():
    refused(FeatureRidge(), X, y, error=TypeError, match="Dask array or a Dask DataFrame, got ndarray")
    refused(FeatureRidge(), blocks(y), y, match="two-dimensional")
    refused(FeatureRidge(), blocks(X), y[1:], match="inconsistent numbers of samples")
    with pytest.raises(TypeError, match="FeatureRidge or FeatureRidgeClassifier, got StandardScaler"):
        sd.fit(StandardScaler(), blocks(X), y)


def test_unknown_sizes_that_differ():
    target = without_sizes(blocks(y, (0, 1, 299, 50, 350)))
    refused(FeatureRidge(FIXED), without_sizes(blocks(X)), target, match="inconsistent numbers of samples|0 sample")


@pytest.mark.parametrize("model", [FeatureRidge(), FeatureRidgeClassifier()], ids=["numbers", "labels"])
def test_no_rows(model):
    nothing = da.zeros((0, D)), da.zeros(0)
    refused(model, *nothing, match="Found array with 0 sample")
    refused(model, *(without_sizes(a) for a in nothing), match="Found array with 0 sample")


def test_classes_that_are_not_valid():
    model = FeatureRidgeClassifier(FIXED)
    refused(model, blocks(X), blocks(np.ones(N)), match="at least two classes, but")
    refused(model, blocks(X), blocks(LABELS), classes=["low", "high"], match="has also")
    refused(model, blocks(X), blocks(LABELS), classes=["low"], match="at least two")
    refused(model, blocks(X), blocks(y), match="Unknown label type")


def test_predictions_that_cannot_be():
    model, labels = FeatureRidge(FIXED).fit(X, y), FeatureRidgeClassifier(FIXED).fit(X, LABELS)
    with pytest.raises(ValueError, match="is expecting 3 features"):
        sd.predict(model, blocks(X[:, :2]))
    with pytest.raises(ValueError, match=r"method must be one of \['predict'\] for a FeatureRidge, got 'transform'"):
        sd.predict(model, blocks(X), method="transform")
    with pytest.raises(ValueError, match="return_std=True is for"):
        sd.predict(labels, blocks(X), return_std=True)
    with pytest.raises(ValueError, match="not fitted yet"):
        sd.predict(FeatureRidge(), blocks(X))
    with pytest.raises(TypeError, match="got ndarray"):
        sd.predict(model, X)
    broken = X.copy()
    broken[-1] = np.nan
    lazy = sd.predict(model, blocks(broken))
    assert np.isfinite(lazy[:100].compute()).all()
    with pytest.raises(ValueError, match="Input X contains NaN"):
        lazy.compute()


def test_says_how_to_install_dask():
    program = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "dask":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
try:
    import spectralkit.dask
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'spectralkit[dask]'" in done.stdout


# -- a cluster ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("name", ["auto", "multipliers", "three"])
def test_a_cluster(cluster, name):
    target = targets(name)
    found = sd.fit(clone(ESTIMATORS[name]), blocks(X), blocks(target), blocks(WEIGHTS))
    assert_same(found, clone(ESTIMATORS[name]).fit(X, target, WEIGHTS))
    assert np.allclose(
        sd.predict(found, blocks(X), method="decision_function" if name == "three" else "predict").compute(),
        found.decision_function(X) if name == "three" else found.predict(X),
    )


def test_a_block_that_is_not_valid_on_a_cluster(cluster):
    broken = X.copy()
    broken[-1] = np.nan
    refused(FeatureRidge(FIXED), blocks(broken), blocks(y), match="^Input X contains NaN.")


def test_a_worker_that_is_lost(cluster, tmp_path):
    """Its blocks are mapped again elsewhere, by the same features though they have no seed."""
    marker = tmp_path / "killed"

    def fragile(block, block_id=None):
        if block_id[0] == 14 and not marker.exists():
            marker.write_text("")
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    chunks = CHUNKS["small"]
    rows = blocks(X, chunks).map_blocks(fragile, meta=np.empty((0, D)))
    found = sd.fit(FeatureRidge(RBFSampler(gamma=0.1, n_components=60), alpha=1.0), rows, blocks(y, chunks))
    assert marker.exists()
    assert found.moments_.weight == N
    assert_same(found, FeatureRidge(FrozenEstimator(found.features_), alpha=1.0).fit(X, y))
