"""Time of ``transform``: FourierFeatures beside RBFSampler and beside writing an array of that size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from benchmarks._timing import in_turns
from spectralkit import FourierFeatures

DTYPES = ("float64", "float32")
CONTENDERS = ("spectralkit", "one thread", "RBFSampler", "fill")
COLUMNS, WIDTHS = (1, 8, 100, 784), (64, 256, 1024, 4096)
MAIN_SHAPE = (8, 50_000, 1024)  # columns, rows, width: where the goals are set
LARGEST_OUTPUT = 409_600_000  # bytes, in float64


def rows_for(d: int, width: int) -> int:
    """Rows such that points and features stay small: 50 000, but 20 000 for images, or fewer for wide features."""
    return min(50_000 if d < 784 else 20_000, LARGEST_OUTPUT // (8 * width))


def shapes(quick: bool) -> list[tuple[int, int, int]]:
    """Return (columns, rows, width) of what is timed."""
    return [MAIN_SHAPE] if quick else [(d, rows_for(d, width), width) for d in COLUMNS for width in WIDTHS]


def measure(shapes: list[tuple[int, int, int]], rounds: int) -> Iterator[dict[str, Any]]:
    """Yield one record per shape and dtype; both dtypes of a shape take turns in the same rounds."""
    for d, n, width in shapes:
        calls = {
            (dtype, name): call for dtype in DTYPES for name, call in contenders(points(n, d, dtype), width).items()
        }
        seconds = in_turns(calls, rounds)
        for dtype in DTYPES:
            times = {name: seconds[dtype, name] for name in CONTENDERS}
            yield {"d": d, "n": n, "width": width, "dtype": dtype, "seconds": times}


def points(n: int, d: int, dtype: str) -> np.ndarray:
    """Return standard normal points."""
    return np.random.default_rng(0).standard_normal((n, d)).astype(dtype)


def contenders(X: np.ndarray, width: int) -> dict[str, Callable[[], np.ndarray]]:
    """Return calls that map X to features of the same Gaussian kernel, and one that only writes as many numbers."""
    ours = FourierFeatures(n_components=width, random_state=0, n_jobs=-1).fit(X)
    alone = FourierFeatures(n_components=width, random_state=0, n_jobs=1).fit(X)
    peer = RBFSampler(gamma=1 / (2 * X.shape[1]), n_components=width, random_state=0).fit(X)

    def fill() -> np.ndarray:
        out = np.empty((len(X), width), dtype=X.dtype)
        out.fill(1.0)
        return out

    calls = (lambda: ours.transform(X), lambda: alone.transform(X), lambda: peer.transform(X), fill)
    return dict(zip(CONTENDERS, calls, strict=True))
