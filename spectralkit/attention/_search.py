"""The factor on the bandwidths of the columns that makes a criterion smallest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.neighbors import NearestNeighbors

from spectralkit.attention._rows import Rows

__all__ = ["best_factor", "on_grid", "reach"]

_ROUNDS = (12, 8, 4)  # numbers of factors that are tried, every time between the neighbours of the best so far
_STEPS = 256  # to a factor e
_SOME = 256  # rows whose nearest neighbours are looked for


def best_factor(criterion: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    """The minimum of a function of many factors at once, on the grid of `on_grid`."""
    logs, values = np.zeros(0), np.zeros(0)
    left, right = np.log([low, high])
    for count in _ROUNDS:
        ends = 0 if len(logs) == 0 else 1  # which are known already, but for the first time
        trials = np.unique(on_grid(np.linspace(left, right, count + 2 * ends)[ends : count + ends]))
        trials = np.setdiff1d(trials, logs)
        logs, values = np.append(logs, trials), np.append(values, criterion(np.exp(trials)) if len(trials) else [])
        order = np.argsort(logs)
        logs, values = logs[order], values[order]
        best = int(np.argmin(values))
        left, right = logs[max(best - 1, 0)], logs[min(best + 1, len(logs) - 1)]
    return float(np.exp(logs[best]))


def on_grid(logs: np.ndarray) -> np.ndarray:
    """Logarithms rounded to a 256th, so that rounding errors of a criterion, flat at its minimum, do not tell."""
    return np.round(logs * _STEPS) / _STEPS


def reach(rows: Rows, scale: np.ndarray) -> tuple[float, float]:
    """Factors from well inside the distance of nearest neighbours to beyond the distance of all rows."""
    X = rows.X / scale
    some = X[rows.sample(_SOME)[:_SOME]]
    gaps = NearestNeighbors(n_neighbors=2).fit(X).kneighbors(some)[0][:, 1]
    low = float(np.quantile(gaps, 0.1)) / 3  # a few rows may be very near to each other
    return max(low, 1e-9), 3 * float(np.linalg.norm(rows.extent / scale))
