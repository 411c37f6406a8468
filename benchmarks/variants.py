"""Time of ``transform`` of integrated and positive features beside plain Fourier features of the same width."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks._timing import in_turns
from benchmarks.transform import DTYPES, points
from spectralkit import FourierFeatures, IntegratedFourierFeatures, PositiveRandomFeatures

COLUMNS, ROWS, WIDTH = (2, 3, 8), 50_000, 1024
MAIN_COLUMNS = 8  # where the goals are set
THREADS = {"all": -1, "one": 1}
PLAIN, GAUSSIAN, POSITIVE = "plain", "gaussian", "positive"
FEW_COLUMNS = 3  # up to which balls and full covariances are timed


def columns(quick: bool) -> tuple[int, ...]:
    """Return the numbers of columns of what is timed."""
    return (MAIN_COLUMNS,) if quick else COLUMNS


def names(d: int, threads: str) -> tuple[str, ...]:
    """Return the contenders: "one width" for all rows, and shapes with a width, or a covariance, for each row."""
    if threads == "one":
        return (PLAIN, GAUSSIAN, POSITIVE) if d == MAIN_COLUMNS else ()
    shapes = (GAUSSIAN, "box", *(("disc",) if d == 2 else ()), *(("ball", "covariance") if d <= FEW_COLUMNS else ()))
    return (PLAIN, "one width", *shapes, POSITIVE)


def measure(columns: tuple[int, ...], rounds: int, n: int = ROWS, width: int = WIDTH) -> Iterator[dict[str, Any]]:
    """Yield one record per number of columns, dtype and number of threads; all of one d and dtype take turns.

    Dtypes do not: after results of half the size, the system may have taken back memory that the next call waits for,
    and that would always be the same call.
    """
    for d in columns:
        for dtype in DTYPES:
            X = points(n, d, dtype)
            calls = {(each, name): call for each in THREADS for name, call in contenders(X, width, each).items()}
            seconds = in_turns(calls, rounds)
            for threads in THREADS:
                times = {name: seconds[threads, name] for name in names(d, threads)}
                if times:
                    yield {"d": d, "n": n, "width": width, "dtype": dtype, "threads": threads, "seconds": times}


def contenders(X: np.ndarray, width: int, threads: str) -> dict[str, Callable[[], np.ndarray]]:
    """Return calls that map X to features, by name."""
    n, d = X.shape
    plain = FourierFeatures(n_components=width, random_state=0, n_jobs=THREADS[threads]).fit(X)
    positive = PositiveRandomFeatures(n_components=width, random_state=0, n_jobs=THREADS[threads]).fit(X)
    shared = IntegratedFourierFeatures(plain, width=0.5).fit(X)

    def over(shape: str, **sizes: np.ndarray) -> Callable[[], np.ndarray]:
        features = IntegratedFourierFeatures(plain, footprint=shape).fit(X, **sizes)
        return lambda: features.transform(X, **sizes)

    calls = {
        PLAIN: lambda: plain.transform(X),
        "one width": lambda: shared.transform(X),
        POSITIVE: lambda: positive.transform(X),
    }
    for name in names(d, threads):
        if name not in calls:
            is_covariance = name == "covariance"
            calls[name] = over(GAUSSIAN, covariance=covariances(n, d)) if is_covariance else over(name, width=widths(n))
    return {name: calls[name] for name in names(d, threads)}


def widths(n: int) -> np.ndarray:
    """Return one width for each row, up to the standard deviation of a column."""
    return np.random.default_rng(1).uniform(0, 1, n)


def covariances(n: int, d: int) -> np.ndarray:
    """Return one full covariance for each row, whose variances are about those of the widths."""
    roots = np.random.default_rng(1).standard_normal((n, d, d)) / np.sqrt(3 * d)
    return roots @ roots.transpose(0, 2, 1)
