"""Ridge regression from moments: fits beside the products they are made of, a search, and Dask.

Every fit runs in a fresh interpreter that makes the data and fits, so that its memory is that of nothing else. Dask
need not be there: what it would have done is None then.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from benchmarks._environment import version
from benchmarks._timing import in_turns
from benchmarks.footprint import apart
from spectralkit import FeatureRidge, FourierFeatures
from spectralkit.datasets import load_concrete, load_power_plant
from spectralkit.moments import GramMoments

COLUMNS = 8
MAIN_SHAPE, SMALLER_SHAPE = (1_000_000, 2048), (100_000, 1024)  # rows and features; the goals are set at the first
OURS, PEERS = ("gcv", "loo"), ("Ridge", "RidgeCV")
ROUNDS: dict[tuple[int, int], dict[str, int]] = {  # fewer of what takes a minute or more
    MAIN_SHAPE: {"gcv": 2, "loo": 1},
    SMALLER_SHAPE: {"gcv": 3, "loo": 3, "Ridge": 3, "RidgeCV": 1},
}
SHARE_OF_PRODUCTS = 1 / 8  # of the rows, for which products alone are timed; all are the same
WARM_UP = 8192  # rows of a fit before, with 64 features: enough to load numba, which takes half a second and 100 MB
FIT, PRODUCTS = "fit", "products"

DATA = {"power plant": load_power_plant, "concrete": load_concrete}
SEARCH_WIDTH, SEARCH_ROUNDS = 512, 2
MULTIPLIERS, ALPHAS, FOLDS = (0.25, 0.5, 1.0, 2.0, 4.0), tuple(10.0**k for k in range(-5, 5)), 5
SEARCH = "GridSearchCV"

DASK_SHAPE, DASK_ROUNDS = (200_000, 256), 5
CHUNKS, PROCESSES = 20, 2
LOCAL, THREADS, CLUSTER = "local", "threads", "cluster"
OPTIONAL = {("dask", THREADS), ("dask", CLUSTER)}


def wanted() -> Iterator[tuple[str, dict[str, Any], dict[str, int]]]:
    """Yield what is measured in full: "what" of its record, entries that it has, and rounds by contender."""
    for (n, width), rounds in ROUNDS.items():
        for model, number in rounds.items():
            names = (FIT, PRODUCTS) if model in OURS else (FIT,)
            keys = {"model": model, "n": n, "d": COLUMNS, "width": width}
            yield "fit", keys, dict.fromkeys(names, number)
    for name in DATA:
        yield "search", {"data": name, "width": SEARCH_WIDTH}, dict.fromkeys(("spectralkit", SEARCH), SEARCH_ROUNDS)
    n, width = DASK_SHAPE
    contenders = dict.fromkeys((LOCAL, THREADS, CLUSTER), DASK_ROUNDS)
    yield "dask", {"n": n, "d": COLUMNS, "width": width}, contenders


def shapes(quick: bool) -> tuple[tuple[int, int], ...]:
    """Return (rows, features) of the fits that are timed; the shape with the goals takes minutes."""
    return (SMALLER_SHAPE,) if quick else tuple(ROUNDS)


def measure(shapes: tuple[tuple[int, int], ...]) -> Iterator[dict[str, Any]]:
    """Yield the records one after the other: which of them it is says "what"."""
    for n, width in shapes:
        yield from fits(n, width, ROUNDS[n, width])
    for name in DATA:
        yield apart("ridge", "search", name, SEARCH_ROUNDS)
    yield apart("ridge", "with_dask", DASK_ROUNDS)


# -- fits --------------------------------------------------------------------------------------------------------------


def fits(n: int, width: int, rounds: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Yield times and peaks of memory of every model, which take turns, each fit in a fresh interpreter."""
    found: dict[str, list[dict[str, Any]]] = {model: [] for model in rounds}
    for i in range(max(rounds.values())):
        for model, number in rounds.items():
            if i < number:
                found[model].append(apart("ridge", "one_fit", model, n, width))
    for model, each in found.items():
        record = {"what": "fit", "model": model, "n": n, "d": COLUMNS, "width": width}
        seconds = {name: [one["seconds"][name] for one in each] for name in each[0]["seconds"]}
        yield record | {"seconds": seconds} | {key: [one[key] for one in each] for key in ("before", "peak")}


def one_fit(model: str, n: int, width: int) -> dict[str, Any]:
    """Return the seconds of one fit, and the most bytes that the process has held before it and until its end.

    After ours the products alone follow, in the same process.
    """
    X, y = data(n)
    made(model, 64).fit(X[:WARM_UP], y[:WARM_UP])
    estimator = made(model, width)
    before, start = peak_memory(), time.perf_counter()
    estimator.fit(X, y)
    seconds = {FIT: round(time.perf_counter() - start, 6)}
    peak = peak_memory()
    if model in OURS:
        seconds[PRODUCTS] = round(seconds_of_products(n, width), 6)
    return {"seconds": seconds, "before": before, "peak": peak}


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return standard normal points, and a target with some noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, COLUMNS))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)


def made(model: str, width: int) -> Any:
    """Return an estimator: ours with a penalty that is chosen so, or scikit-learn's behind the same features."""
    features = FourierFeatures(n_components=width, random_state=0, n_jobs=-1)
    if model in OURS:
        return FeatureRidge(features, alpha=model)
    return make_pipeline(features, Ridge(1.0) if model == "Ridge" else RidgeCV(ALPHAS))


def seconds_of_products(n: int, width: int) -> float:
    """Return how long the symmetric products of n rows of features and target take, block after block.

    The blocks are as high as those of the moments; a share of them is timed.
    """
    rows = GramMoments(width)._rows_per_block
    block = np.random.default_rng(0).standard_normal((rows, width + 1))
    product = np.zeros((width + 1, width + 1), order="F")
    repeats = max(1, round(SHARE_OF_PRODUCTS * n / rows))
    product = dsyrk(1.0, block.T, beta=1.0, c=product, lower=1, overwrite_c=1)
    start = time.perf_counter()
    for _ in range(repeats):
        product = dsyrk(1.0, block.T, beta=1.0, c=product, lower=1, overwrite_c=1)
    return (time.perf_counter() - start) * n / (repeats * rows)


def peak_memory() -> int:
    """Return the most bytes that this process has held in memory.

    `getrusage` is for other systems than Linux, where it starts at the peak of the process that started this one.
    """
    status = Path("/proc/self/status")
    for line in status.read_text(encoding="utf-8").splitlines() if status.is_file() else ():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# -- search ------------------------------------------------------------------------------------------------------------


def search(name: str, rounds: int, width: int = SEARCH_WIDTH) -> dict[str, Any]:
    """Return the times of a choice of scale and penalty on a half of the data, and R² on the other half.

    Ours is one fit. The peer's fits are spread over processes that have been started before.
    """
    X, y = DATA[name](return_X_y=True)
    train, test = np.split(np.random.default_rng(0).permutation(len(X)), [len(X) // 2])
    fitted: dict[str, Any] = {}

    def run(contender: str, estimator: Any) -> None:
        fitted[contender] = estimator.fit(X[train], y[train])

    features = FourierFeatures(n_components=width, random_state=0)
    threaded = FourierFeatures(n_components=width, random_state=0, n_jobs=-1)
    grid = {"fourierfeatures__multiplier": MULTIPLIERS, "ridge__alpha": ALPHAS}
    calls: dict[str, Callable[[], None]] = {
        "spectralkit": lambda: run("spectralkit", FeatureRidge(threaded, multipliers=MULTIPLIERS)),
        SEARCH: lambda: run(SEARCH, GridSearchCV(make_pipeline(features, Ridge()), grid, cv=FOLDS, n_jobs=-1)),
    }
    seconds = in_turns(calls, rounds)
    r2 = {contender: round(float(model.score(X[test], y[test])), 5) for contender, model in fitted.items()}
    return {"what": "search", "data": name, "n": len(train), "width": width, "seconds": seconds, "r2": r2}


# -- Dask --------------------------------------------------------------------------------------------------------------


def with_dask(rounds: int, n: int = DASK_SHAPE[0], width: int = DASK_SHAPE[1]) -> dict[str, Any]:
    """Return the times of a fit here, over threads of Dask, and on a cluster of processes that hold the rows."""
    X, y = data(n)
    features = FourierFeatures(n_components=width, random_state=0)
    local = FourierFeatures(n_components=width, random_state=0, n_jobs=-1)
    versions = {name: number for name in ("dask", "distributed") if (number := version(name))}
    record: dict[str, Any] = {"what": "dask", "n": n, "d": COLUMNS, "width": width, "versions": versions}
    calls: dict[str, Callable[[], Any]] = {LOCAL: lambda: FeatureRidge(local).fit(X, y).alpha_}
    with contextlib.ExitStack() as stack:
        if "dask" in versions:
            import dask
            import dask.array as da

            import spectralkit.dask

            def over(rows: Any, targets: Any, **scheduler: Any) -> float:
                with dask.config.set(**scheduler):
                    return spectralkit.dask.fit(FeatureRidge(features), rows, targets).alpha_

            chunk = -(-n // CHUNKS)
            rows, targets = da.from_array(X, chunks=(chunk, COLUMNS)), da.from_array(y, chunks=chunk)
            calls[THREADS] = lambda: over(rows, targets, scheduler="threads")
        if "distributed" in versions:
            from distributed import Client, LocalCluster, wait

            processes = LocalCluster(n_workers=PROCESSES, threads_per_worker=1, processes=True, dashboard_address=None)
            stack.enter_context(Client(stack.enter_context(processes)))
            there = dask.persist(rows, targets)
            wait(there)
            calls[CLUSTER] = lambda: over(*there)
        return record | {"seconds": dict.fromkeys((LOCAL, THREADS, CLUSTER)) | in_turns(calls, rounds)}
