"""Kernel regression: exact attention beside torch, many rows by transforms, and a search beside statsmodels.

All of it runs in fresh interpreters, so that what torch and statsmodels load meets nothing else that is measured. They
need not be there: what they would have done is None then.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._environment import processors, version
from benchmarks._timing import in_turns
from benchmarks.footprint import apart
from benchmarks.ridge import peak_memory
from spectralkit import NadarayaWatsonRegressor
from spectralkit.attention import _leave_one_out

ROWS = 20_000  # and as many queries
EXACT_ROUNDS = {(8, "float32"): 7, (8, "float64"): 5, (64, "float32"): 3, (64, "float64"): 3}  # by columns, of X and y
MAIN_SHAPE = (8, "float32")  # where the goals are set
KERNELS = ("softmax", "gaussian")
BANDWIDTH = 1.5 / 8**0.5  # of the Gaussian kernel, times the root of the number of columns
TORCH = "torch"
WARM_UP = 2048  # queries before memory is counted: enough for the compiled loop, which they load

MANY_ROWS = 1_000_000
CLUSTERS, WIDTHS, NOISE = 50, (0.05, 0.5), 0.3
FACTORS = (0.02, 1.0, 12)  # the bandwidths, in standard deviations of the columns: first, last, and their number
LEAVE_ONE_OUT, FIT, PREDICT = "leave one out", "fit", "fit with a number and predict"
MANY_ROUNDS = {LEAVE_ONE_OUT: 5, FIT: 1, PREDICT: 3}
QUERIES, CHECKED = 1000, (0.02, 0.1, 0.5)  # bandwidths at which predictions are compared, in standard deviations

SEARCH_ROUNDS = {400: 3, 1000: 1}  # by rows; the peer takes a minute for the larger number
SEARCHES = ("loo", "loo_per_column")
PEER = "statsmodels"

OPTIONAL = {("exact", TORCH), ("search", PEER)}


def wanted() -> Iterator[tuple[str, dict[str, Any], dict[str, int]]]:
    """Yield what is measured in full: "what" of its record, entries that it has, and rounds by contender."""
    for (d, dtype), rounds in EXACT_ROUNDS.items():
        yield "exact", {"n": ROWS, "d": d, "dtype": dtype}, dict.fromkeys((*KERNELS, TORCH), rounds)
    yield "many", {"n": MANY_ROWS, "bandwidths": FACTORS[2]}, MANY_ROUNDS
    for n, rounds in SEARCH_ROUNDS.items():
        yield "search", {"n": n}, dict.fromkeys((*SEARCHES, PEER), rounds)


def measure(quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the records one after the other: which of them it is says "what"."""
    shapes, sizes = ((MAIN_SHAPE,), (min(SEARCH_ROUNDS),)) if quick else (tuple(EXACT_ROUNDS), tuple(SEARCH_ROUNDS))
    for d, dtype in shapes:
        yield apart("attention", "exact", d, dtype, EXACT_ROUNDS[d, dtype])
    yield apart("attention", "many", MANY_ROUNDS)
    yield apart("attention", "accuracy")
    for n in sizes:
        yield apart("attention", "search", n, SEARCH_ROUNDS[n])


# -- the exact method --------------------------------------------------------------------------------------------------


def exact(d: int, dtype: str, rounds: int, n: int = ROWS) -> dict[str, Any]:
    """Return the times of predictions and of torch's attention, and the most bytes held before ours and until they end.

    Torch comes after memory has been counted, and has as many threads as there are processors. Its difference from
    ours is that of the softmax kernel.
    """
    queries, X, y = arrays(n, d, dtype)
    models = {kernel: made(kernel, d).fit(X, y) for kernel in KERNELS}
    for model in models.values():
        model.predict(queries[:WARM_UP])
    before = peak_memory()
    ours = {kernel: model.predict(queries) for kernel, model in models.items()}
    record: dict[str, Any] = {"what": "exact", "n": n, "d": d, "dtype": dtype, "before": before, "peak": peak_memory()}
    calls: dict[str, Callable[[], Any]] = {
        kernel: lambda model=model: model.predict(queries) for kernel, model in models.items()
    }
    versions, difference = {}, None
    if number := version(TORCH):
        calls[TORCH], versions[TORCH] = attention_of_torch(queries, X, y), number
        difference = float(f"{np.abs(calls[TORCH]() - ours['softmax']).max():.2g}")
    seconds: dict[str, Any] = {TORCH: None, **in_turns(calls, rounds)}
    return record | {"seconds": seconds, "difference": difference, "versions": versions}


def arrays(n: int, d: int, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return queries, keys and values, all standard normal."""
    return tuple(np.random.default_rng(0).standard_normal((3, n, d)).astype(dtype))


def made(kernel: str, d: int) -> NadarayaWatsonRegressor:
    """Return a regressor by the exact method, with a bandwidth wide enough for float32."""
    bandwidth = BANDWIDTH * d**0.5 if kernel == "gaussian" else "loo"
    return NadarayaWatsonRegressor(kernel, bandwidth, method="exact", n_jobs=-1)


def attention_of_torch(queries: np.ndarray, X: np.ndarray, y: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a call of torch's attention, of a batch of one with one head."""
    import torch

    torch.set_num_threads(processors())
    parts = [torch.as_tensor(array)[None, None] for array in (queries, X, y)]

    def call() -> np.ndarray:
        return torch.nn.functional.scaled_dot_product_attention(*parts)[0, 0].numpy()

    return call


# -- many rows by transforms -------------------------------------------------------------------------------------------


def many(rounds: dict[str, int], n: int = MANY_ROWS) -> dict[str, Any]:
    """Return the times of the errors for all bandwidths in one go, of a fit that chooses one, and of predictions.

    The errors are as accurate as the search takes them. Predictions are those of all rows, with the bandwidth found.
    """
    X, y = clusters(n)
    model = by_transforms(X.std(axis=0)).fit(X, y)._model
    trials = [model.weighting.at(factor * X.std(axis=0)) for factor in np.geomspace(*FACTORS)]
    found: list[Any] = []

    def leave_one_out() -> list[Any]:
        return _leave_one_out.leave_one_out(model._smoother, trials, True, _leave_one_out._ACCURACY)

    def fit() -> None:
        found[:] = [by_transforms("loo").fit(X, y)]

    calls = {
        LEAVE_ONE_OUT: leave_one_out,
        FIT: fit,
        PREDICT: lambda: by_transforms(found[0].bandwidth_).fit(X, y).predict(X),
    }
    seconds = {name: in_turns({name: calls[name]}, rounds[name])[name] for name in calls}
    record = {"what": "many", "n": n, "d": X.shape[1], "bandwidths": len(trials), "seconds": seconds}
    errors = [float(f"{each.means[0] ** 0.5:.6g}") for each in leave_one_out()]
    return record | {"method": found[0].method_, "bandwidth": rounded(found[0].bandwidth_), "errors": errors}


def accuracy(n: int = MANY_ROWS, queries: int = QUERIES) -> dict[str, Any]:
    """Return the largest differences of predictions from those by the exact method, in standard deviations of y.

    A half of the queries are among the rows, the others anywhere in their range, where there may be no row nearby.
    """
    X, y = clusters(n)
    rng = np.random.default_rng(1)
    near = X[rng.permutation(n)[: queries // 2]] + 0.01 * rng.standard_normal((queries // 2, 2))
    Q = np.vstack([near, rng.uniform(X.min(axis=0), X.max(axis=0), (queries - len(near), 2))])
    record: dict[str, Any] = {"what": "accuracy", "n": n, "d": 2, "queries": queries, "seconds": {}}
    differences, methods = {}, set()
    for factor in CHECKED:
        ours, exactly = (by_transforms(factor * X.std(axis=0), method).fit(X, y) for method in ("nufft", "exact"))
        methods.add(ours.method_)
        differences[str(factor)] = float(f"{np.abs(ours.predict(Q) - exactly.predict(Q)).max() / y.std():.2g}")
    return record | {"methods": sorted(methods), "differences": differences}


def clusters(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points of normal clusters of many widths, and a smooth function of them with noise."""
    rng = np.random.default_rng(0)
    which = rng.integers(CLUSTERS, size=n)
    centres, widths = 2 * rng.standard_normal((CLUSTERS, 2)), np.geomspace(*WIDTHS, CLUSTERS)
    X = centres[which] + widths[which, None] * rng.standard_normal((n, 2))
    return X, np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + NOISE * rng.standard_normal(n)


def by_transforms(bandwidth: Any, method: str = "nufft") -> NadarayaWatsonRegressor:
    """Return a regressor with a Gaussian kernel, by transforms or another method."""
    return NadarayaWatsonRegressor("gaussian", bandwidth, method=method, n_jobs=-1)


# -- search ------------------------------------------------------------------------------------------------------------


def search(n: int, rounds: int) -> dict[str, Any]:
    """Return the times of searches for bandwidths on one thread, what they find, and the error of each as we count it.

    The peer may find negative bandwidths, which its kernel takes for positive ones.
    """
    X, y = surface(n)
    found: dict[str, np.ndarray] = {}

    def ours(bandwidth: str) -> None:
        found[bandwidth] = NadarayaWatsonRegressor(bandwidth=bandwidth, method="exact").fit(X, y).bandwidth_

    calls: dict[str, Callable[[], Any]] = {name: lambda name=name: ours(name) for name in SEARCHES}
    versions = {}
    if number := version(PEER):
        calls[PEER], versions[PEER] = lambda: found.update({PEER: bandwidths_of_peer(X, y)}), number
    with threadpool_limits(1):
        record = {"what": "search", "n": n, "d": 2, "seconds": {PEER: None, **in_turns(calls, rounds)}}
    errors = {name: error_with(X, y, bandwidths) for name, bandwidths in found.items()}
    bandwidths = {name: rounded(values) for name, values in found.items()}
    return record | {"bandwidths": bandwidths, "errors": errors, "versions": versions}


def surface(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return standard normal points, and a target that one column matters more for than the other."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + NOISE * rng.standard_normal(n)


def bandwidths_of_peer(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the bandwidths of local averages that statsmodels finds by leave-one-out; it divides by zero meanwhile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.nonparametric.kernel_regression import KernelReg

        return np.asarray(KernelReg(y, X, "c" * X.shape[1], reg_type="lc", bw="cv_ls").bw)


def error_with(X: np.ndarray, y: np.ndarray, bandwidths: np.ndarray) -> float | None:
    """Return the root mean squared leave-one-out error with these bandwidths; None if one is zero or no number."""
    if not (np.isfinite(bandwidths).all() and bandwidths.all()):
        return None
    return round(float(NadarayaWatsonRegressor(bandwidth=np.abs(bandwidths), method="exact").fit(X, y).loo_error_), 9)


def rounded(bandwidths: np.ndarray) -> list[float]:
    """Return numbers with six digits."""
    return [float(f"{value:.6g}") for value in bandwidths]
