"""Transformers as black boxes: fitting them, and finding out what their fit reads off the data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from spectralkit.features import FourierFeatures
from spectralkit.moments import ColumnMoments

ROWS_TO_TRY = 64
SAME = 1e-6  # share of the largest feature
SCALES = 10.0 ** np.arange(-12, 13, 3)


def unfitted(features: Any, multiplier: float | None = None) -> Any:
    """A clone of the transformer, the default one for None; with every `multiplier` that it has set."""
    features = FourierFeatures(random_state=0) if features is None else clone(features)
    if multiplier is not None:
        names = _parameters(features, "multiplier")
        if not names:
            raise ValueError(
                "multipliers are values for the parameter `multiplier` of the features, but "
                f"{type(features).__name__} has none. Use FourierFeatures, or leave multipliers out."
            )
        features.set_params(**dict.fromkeys(names, multiplier))
    return features


def fitted(features: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """The transformer itself, fitted; weights go to all its steps that take them."""
    given = {} if sample_weight is None else dict.fromkeys(_weight_names(features), sample_weight)
    return features.fit(X, y, **given)


def transformed(features: Any, X: Any) -> np.ndarray:
    """Features of rows as a dense array."""
    Z = features.transform(X)
    return np.asarray(Z.toarray() if sparse.issparse(Z) else Z)


def fit_reads_rows(features: Any, X: Any, y: Any) -> bool:
    """Whether a fit on other rows of the same shape gives other features."""
    X, y = _some(X), _some(y)
    others = _elsewhere(X)
    return not _agree(features, others, (X, y), (others, None if y is None else np.concatenate([y, y])))


def summary_suffices(features: Any, X: Any) -> bool:
    """Whether a fit on rows with the same mean, spread and range gives the same features."""
    X = _some(X)
    if sparse.issparse(X):
        return False
    X = np.asarray(X, dtype=np.float64)
    # A transformer that keeps rows would keep a few, and nothing could be told from equal ones. The columns are skewed,
    # so that a row one standard deviation below their mean is below their minimum.
    X = np.concatenate([X + step * (1 + np.abs(X).max()) for step in (0.0, 0.1, 0.2, 10.0)])
    rows, weights = ColumnMoments(X.shape[1]).update(X).summary()
    return _agree(features, X, (X,), (rows, None, weights))


def same_features(mine: Any, theirs: Any, X: Any) -> bool:
    """Whether two fitted transformers map rows alike, of whatever scale those are that they were made for.

    Frequencies of 1e-9 cannot be told apart by rows of size one. Rows so large that rounding would show in the features
    are passed over.
    """
    compared = False
    for scale in SCALES:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                here, there = transformed(mine, scale * X), transformed(theirs, scale * X)
                moved = transformed(mine, (1 + 1e-12) * scale * X)
            except ValueError:  # too large
                continue
            if np.isfinite(here).all() and _close(here, moved):
                compared = True
                if not _close(here, there):
                    return False
    return compared


def _agree(features: Any, X: Any, *data: tuple[Any, ...]) -> bool:
    """Whether the transformer maps X alike after fits on each of the data, random numbers being equal."""
    outputs = []
    for arguments in data:
        trial = clone(features)
        trial.set_params(**dict.fromkeys(_parameters(trial, "random_state"), 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about rows that nobody has given
            try:
                outputs.append(transformed(fitted(trial, *arguments), X))
            except (ValueError, TypeError):
                return False
    return _close(*outputs)


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=0, atol=SAME * max(np.abs(a).max(), 1e-300)))


def _parameters(features: Any, name: str) -> list[str]:
    """The parameters of that name, those of parts included."""
    return [key for key in features.get_params() if key.rpartition("__")[2] == name]


def _weight_names(features: Any) -> list[str]:
    if isinstance(features, Pipeline):
        steps = [(name, step) for name, step in features.steps if step not in (None, "passthrough")]
        return [f"{name}__{inner}" for name, step in steps for inner in _weight_names(step)]
    return ["sample_weight"] if has_fit_parameter(features, "sample_weight") else []


def _some(rows: Any) -> Any:
    """At most so many rows, from everywhere."""
    if rows is None:
        return None
    n = rows.shape[0]
    return rows if n <= ROWS_TO_TRY else rows[np.linspace(0, n - 1, ROWS_TO_TRY).astype(int)]


def _elsewhere(X: Any) -> Any:
    """Twice as many rows, whose columns have a larger mean, spread, minimum and maximum, whatever those of X are."""
    rows = X.toarray() if sparse.issparse(X) else X
    step = 1 + np.abs(rows).max()
    others = np.concatenate([rows + step, 2 * rows + 4 * step])
    return sparse.csr_array(others) if sparse.issparse(X) else others
