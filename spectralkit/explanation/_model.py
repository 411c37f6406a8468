"""Reading a fitted model: steps that act on one column each, Fourier features, and linear coefficients on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from spectralkit.rules import Nodes

CHECKED_ROWS = 16


@dataclass(frozen=True)
class LinearModel:
    """The parts of a model that is linear on Fourier features."""

    steps: list[Any]  # transformers before the features
    nodes: Nodes
    coef: np.ndarray  # (t, width)
    intercept: np.ndarray  # (t,)

    @classmethod
    def of(cls, model: Any) -> LinearModel:
        """Find the parts by the names of their fitted attributes."""
        *steps, last = _flat(model)
        if not hasattr(last, "coef_") or not hasattr(last, "intercept_"):
            raise TypeError(
                f"A model to explain ends in a fitted linear estimator, but {type(last).__name__} has no coef_ and "
                "intercept_. Pass a fitted estimator, of a search its best_estimator_."
            )
        if hasattr(last, "features_"):
            steps += _flat(last.features_)
        if not steps or not hasattr(steps[-1], "nodes_"):
            what = f"{type(steps[-1]).__name__}, which has no nodes_" if steps else "no transformer"
            raise TypeError(
                f"The coefficients of a model to explain stand on fitted Fourier features, but before "
                f"{type(last).__name__} there is {what}. Use FourierFeatures there."
            )
        nodes = steps[-1].nodes_
        coef = np.atleast_2d(np.asarray(last.coef_, dtype=np.float64))
        if coef.shape[1] != nodes.width:
            raise ValueError(
                f"{type(last).__name__} has {coef.shape[1]} coefficient(s) a target, but the nodes of "
                f"{type(steps[-1]).__name__} make {nodes.width} features; they must agree."
            )
        intercept = np.broadcast_to(np.ravel(last.intercept_).astype(np.float64), len(coef))
        return cls(steps[:-1], nodes, coef, intercept)

    def transform(self, X: Any) -> np.ndarray:
        """The rows as the features meet them, in float64."""
        for step in self.steps:
            X = step.transform(X)
        return check_array(X, dtype=np.float64)

    def rounding(self, Z: np.ndarray, centre: np.ndarray) -> float:
        """How far two evaluations of f at rows Z may be apart, by the rounding of their phases and products."""
        frequencies = np.abs(self.nodes.frequencies)
        turns = frequencies @ (np.abs(centre) + np.abs(Z).max(axis=0))
        amplitudes = np.abs(self.coef) * np.sqrt(2 * self.nodes.weights.max(initial=0.0))
        size = np.abs(self.intercept).max() + amplitudes.sum(axis=1).max()
        return float(64 * np.finfo(np.float64).eps * size * (1 + 2 * np.pi * turns.max()))


def _flat(model: Any) -> list[Any]:
    """The steps of a pipeline, those of pipelines inside it, and the model itself if it is none."""
    if not isinstance(model, Pipeline):
        return [model]
    return [part for _, step in model.steps if step not in (None, "passthrough") for part in _flat(step)]


def output_of(model: Any, X: Any) -> np.ndarray:
    """What a model says that is linear in its features: the decision function of a classifier, or the prediction."""
    return np.asarray(model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X))


def check_that_steps_keep_columns_apart(steps: list[Any], transform: Any, X: np.ndarray) -> None:
    """Raise ValueError unless changing one column of X changes the same column behind the steps, and no other."""
    if not steps:
        return
    names = ", ".join(type(step).__name__ for step in steps)
    rows = X[:CHECKED_ROWS]
    before = transform(rows)
    if before.shape[1] != X.shape[1]:
        raise ValueError(
            f"The steps before the Fourier features ({names}) make {before.shape[1]} column(s) out of {X.shape[1]}, so "
            "explanations cannot be in terms of the columns of X. Use steps that act on each column by itself, such as "
            "StandardScaler, or explain the last steps on transformed rows."
        )
    for p, column in enumerate(X.T):
        for value in (column.min(), column.max()) if column.min() < column.max() else (column[0] + 1.0,):
            changed = rows.copy()
            changed[:, p] = value
            others = np.delete(np.abs(transform(changed) - before).max(axis=0), p)
            if others.any():
                raise ValueError(
                    f"The steps before the Fourier features ({names}) mix columns: changing column {p} of X changes "
                    "another one behind them. Use steps that act on each column by itself, such as StandardScaler, or "
                    "explain the last steps on transformed rows."
                )
