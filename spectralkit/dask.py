"""Ridge estimators on Dask arrays: blocks are mapped where they lie, and moments alone travel.

Importing this needs Dask: ``pip install spectralkit[dask]``.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import validate_data

from spectralkit._validation import FLOATS, check_sample_weight
from spectralkit.moments import ColumnMoments, RegressionMoments
from spectralkit.ridge._base import BaseFeatureRidge
from spectralkit.ridge._candidates import Candidate

try:
    import dask
    import dask.array as da
except ImportError as error:
    raise ImportError(
        "spectralkit.dask needs dask.array, which cannot be found. Install the extra that brings it: pip install "
        "'spectralkit[dask]'."
    ) from error

__all__ = ["fit", "predict"]

FAN_IN = 4  # how many moments one task merges
OF_CLASSIFIERS = ("predict", "decision_function", "predict_proba", "predict_log_proba")

Block = tuple[Any, Any, Any]
Pairs = Sequence[tuple[Any, float | None]]


def fit(estimator: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Any:
    """Fit a ridge estimator on all rows of Dask arrays, on whatever scheduler is active.

    Every block of rows becomes its moments where it lies, and moments are merged in a tree of fixed shape: with the
    same chunks the result is the same to the last bit, whichever worker is first or lost. What comes back is one square
    matrix of the features for every multiplier; no rows do. Coefficients are solved for when they are first needed.

    Parameters
    ----------
    estimator : FeatureRidge or FeatureRidgeClassifier
        The estimator; what it had learnt before is replaced.
    X : dask Array or dask DataFrame of shape (n_samples, n_features)
        Rows. Chunks of unknown size and without rows are taken, those that divide columns are joined.
    y : dask Array, Series or DataFrame, or array of shape (n_samples,) or (n_samples, n_targets)
        Targets, for a classifier labels; their chunks are made those of X.
    sample_weight : dask Array or Series, array of shape (n_samples,) or float, optional
        Repetitions of the rows.
    classes : array-like of shape (n_classes,), optional
        All labels of a classifier, in any order. None: they are looked for in y first.

    Returns
    -------
    object
        The estimator, as its own `fit` on the gathered rows would leave it, up to rounding.

    Raises
    ------
    TypeError
        If X is not of Dask, or the estimator is none of these.
    ValueError
        If a block is not valid, alpha is "loo", an `interval` is wanted, there is one class only, or the features read
        more off the data than mean, spread and range of the columns. The estimator is then what it was before.

    Notes
    -----
    Blocks are read once, and once more if the scale of the features is read off the data, as with ``sigma="auto"``;
    persist X if that is dear. Sizes of chunks are computed only if they are unknown in one of X, y and the weights, but
    not in all, or if their numbers differ.

    Examples
    --------
    >>> import dask.array as da
    >>> import spectralkit.dask
    >>> from spectralkit import FeatureRidge
    >>> from spectralkit.datasets import load_concrete
    >>> X, y = load_concrete(return_X_y=True)
    >>> model = spectralkit.dask.fit(FeatureRidge(), da.from_array(X, chunks=(300, 8)), da.from_array(y))
    >>> model.alpha_ == FeatureRidge().fit(X, y).alpha_
    True
    """
    _check_estimator(estimator)
    estimator._check_parameters(streaming=True)
    if getattr(estimator, "interval", None) is not None:
        raise ValueError(
            f"interval={estimator.interval!r} looks at every row a second time, which spectralkit.dask.fit does not. "
            "Use interval=None, or fit on all rows at once."
        )
    columns, X = _columns_and_array(X)
    X, y, sample_weight = _aligned(X, y, sample_weight)
    blocks = _blocks(X, y, sample_weight)
    plan = _Plan(clone(estimator), X.shape[1])
    attributes: dict[str, Any] = {"_is_vector": y.ndim == 1}
    if is_classifier(estimator):
        plan = dataclasses.replace(plan, classes=_classes(plan, blocks, classes))
        attributes = {"classes_": plan.classes}
    pairs = _fitted_features(plan, blocks)
    found: list[RegressionMoments] = _reduced(_moments, _sums, dataclasses.replace(plan, pairs=pairs), blocks)
    _check_weight(found[0].weight)
    candidates = [Candidate(*pair, moments) for pair, moments in zip(pairs, found, strict=True)]
    estimator._start_again(columns, candidates, **attributes)
    return estimator


def predict(estimator: Any, X: Any, method: str = "predict", return_std: bool = False) -> Any:
    """Predict for the rows of a Dask array, block by block, when the result is computed.

    Parameters
    ----------
    estimator : FeatureRidge or FeatureRidgeClassifier
        A fitted estimator, however it was fitted. Its later changes do not change the predictions.
    X : dask Array or dask DataFrame of shape (n_samples, n_features)
        Rows.
    method : {"predict", "decision_function", "predict_proba", "predict_log_proba"}, default="predict"
        The method of the estimator to call; all but the first are those of classifiers.
    return_std : bool, default=False
        Also return standard deviations of the targets, from the ``predict`` of `FeatureRidge`.

    Returns
    -------
    result : dask Array of shape (n_samples,) or (n_samples, n_columns)
        What the method returns, in the row chunks of X.
    std : dask Array of the same shape
        With `return_std`: standard deviation of a new target. Compute both at once, ``dask.compute(mean, std)``, and
        rows are mapped once.

    Raises
    ------
    TypeError
        If X is not of Dask, or the estimator is none of these.
    ValueError
        If the estimator has no such method, or X another number of columns than those that were learnt. What is wrong
        with a block is said when it is computed.

    Examples
    --------
    >>> import dask.array as da
    >>> import spectralkit.dask
    >>> from spectralkit import FeatureRidge
    >>> from spectralkit.datasets import load_concrete
    >>> X, y = load_concrete(return_X_y=True)
    >>> rows = da.from_array(X, chunks=(300, 8))
    >>> mean, std = spectralkit.dask.predict(FeatureRidge().fit(X, y), rows, return_std=True)
    >>> mean.chunks, bool((std.mean() < y.std() / 2).compute())
    (((300, 300, 300, 130),), True)
    """
    _check_estimator(estimator)
    names = list(OF_CLASSIFIERS) if is_classifier(estimator) else ["predict"]
    if method not in names:
        raise ValueError(f"method must be one of {names} for a {type(estimator).__name__}, got {method!r}.")
    if return_std and (is_classifier(estimator) or method != "predict"):
        raise ValueError("return_std=True is for the predictions of numbers, method='predict' of a FeatureRidge.")
    solution = estimator._solution  # solved here and not in every block
    columns, X = _columns_and_array(X)
    validate_data(estimator, columns, reset=False, skip_check_array=True)
    model = copy.copy(estimator)
    model._set([solution.candidate], solution)
    model.__dict__.pop("feature_names_in_", None)  # blocks have no names, and those of X have been compared
    width, is_vector, dtype = _form(estimator, method)
    columns = da.map_blocks(  # in two dimensions, like X, whose blocks then come as they are
        _result,
        _with_whole_columns(X),
        _constant(model),
        method,
        return_std,
        chunks=(X.chunks[0], (width * (1 + return_std),)),
        meta=np.empty((0, 0), dtype=dtype),
    )
    if return_std:
        return (columns[:, 0], columns[:, 1]) if is_vector else (columns[:, :width], columns[:, width:])
    return columns[:, 0] if is_vector else columns


# -- what runs where the blocks are ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Plan:
    """What all tasks share: the estimator without what it had learnt, the classes if any, and the fitted features."""

    model: Any
    n_columns: int
    classes: np.ndarray | None = None
    pairs: Pairs = ()


def _of_block(function: Callable, plan: _Plan, *block: Any) -> Any:
    """The function of a block; None if it has no rows."""
    return function(plan, *block) if any(np.shape(part)[:1] not in ((), (0,)) for part in block) else None


def _of_blocks(join: Callable, parts: list[Any]) -> Any:
    """All parts in one, which stay as they are: a scheduler may hand them out again."""
    with_rows = [part for part in parts if part is not None]
    return join(with_rows) if with_rows else None


def _moments(plan: _Plan, X: Any, y: Any, weights: Any) -> list[RegressionMoments]:
    """Moments of a block for every multiplier."""
    rows, _ = plan.model._batch(X, y, weights, plan.classes)
    return [Candidate.of(features, k, rows, plan.model.solver).moments for features, k in plan.pairs]


def _sums(parts: list[list[RegressionMoments]]) -> list[RegressionMoments]:
    by_multiplier = zip(*parts, strict=True)
    return [functools.reduce(RegressionMoments.merge, rest, first.copy()) for first, *rest in by_multiplier]


def _column_moments(plan: _Plan, X: Any, weights: Any) -> ColumnMoments:
    X = check_array(X, dtype=FLOATS, estimator=plan.model, input_name="X")
    return ColumnMoments(plan.n_columns).update(X, weights)


def _sum(parts: list[ColumnMoments]) -> ColumnMoments:
    return functools.reduce(ColumnMoments.merge, parts, ColumnMoments(len(parts[0].mean)))


def _labels(plan: _Plan, y: Any) -> np.ndarray:
    return np.unique(y)


def _union(parts: list[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate(parts))


def _features_without_rows(plan: _Plan, X: Any, y: Any, weights: Any) -> Pairs:
    """The fitted features if their fit reads the shape of X alone, else none."""
    rows, y = plan.model._batch(X, y, weights, plan.classes)
    pairs: Pairs = plan.model._features_without_rows(rows, y)
    if not pairs:
        plan.model._check_statistics(rows.X)
    return pairs


def _result(X: Any, model: Any, method: str, return_std: bool) -> np.ndarray:
    """What the method returns, as columns side by side."""
    if not X.shape[0]:
        width, _, dtype = _form(model, method)
        return np.empty((0, width * (1 + return_std)), dtype=dtype)
    return (
        np.column_stack(model.predict(X, return_std=True))
        if return_std
        else np.column_stack([getattr(model, method)(X)])
    )


# -- what runs here ----------------------------------------------------------------------------------------------------


def _constant(value: Any) -> Any:
    """A constant of the graph: sent once, not in every task, and unlike scattered data it outlives any worker."""
    return dask.delayed(value, traverse=False)


def _reduced(function: Callable, join: Callable, plan: _Plan, blocks: list[tuple[Any, ...]]) -> Any:
    """The function of all blocks, joined in a tree of tasks in the order of the blocks."""
    shared = _constant(plan)
    parts = [dask.delayed(_of_block)(function, shared, *block) for block in blocks]
    while len(parts) > 1:
        groups = [parts[start : start + FAN_IN] for start in range(0, len(parts), FAN_IN)]
        parts = [dask.delayed(_of_blocks)(join, group) if len(group) > 1 else group[0] for group in groups]
    found = parts[0].compute() if parts else None
    if found is None:
        check_array(np.empty((0, plan.n_columns)), estimator=plan.model, input_name="X")  # says that there are no rows
    return found


def _classes(plan: _Plan, blocks: list[Block], classes: Any) -> np.ndarray:
    if classes is not None:
        return plan.model._agreed(classes)
    found: np.ndarray = _reduced(_labels, _union, plan, [(y,) for _, y, _ in blocks])
    return plan.model._found(found)


def _fitted_features(plan: _Plan, blocks: list[Block]) -> Pairs:
    """Features for each multiplier, fitted once: without a seed, a task that is run again would draw others."""
    pairs: Pairs | None = None
    for block in blocks:
        pairs = dask.delayed(_of_block)(_features_without_rows, _constant(plan), *block).compute()
        if pairs is not None:
            break
    if pairs:
        return pairs
    moments: ColumnMoments = _reduced(_column_moments, _sum, plan, [(X, weights) for X, _, weights in blocks])
    _check_weight(moments.weight)
    return plan.model._features_from(moments)


def _columns_and_array(X: Any) -> tuple[Any, Any]:
    """A frame or array without rows, with the names and the number of columns, and the Dask array."""
    array = _array(X)
    if not isinstance(array, da.Array):
        raise TypeError(
            f"X must be a Dask array or a Dask DataFrame, got {type(X).__name__}. Use the estimator's own methods for "
            "rows that are in memory, or dask.array.from_array."
        )
    if array.ndim != 2:
        raise ValueError(f"X must be two-dimensional, (rows, columns), got shape {array.shape}.")
    array = _sized(array) if np.isnan(array.shape[1]) else array
    return X._meta if hasattr(X, "to_dask_array") else np.empty((0, array.shape[1])), array


def _aligned(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Dask arrays with the row chunks of X and all columns in one chunk; weights may be None or a number."""
    alone = sample_weight is None or isinstance(sample_weight, numbers.Number)
    arrays = [X, _array(y)] if alone else [X, _array(y), _array(sample_weight)]
    if not all(_is_unsized(array) and array.numblocks[0] == X.numblocks[0] for array in arrays):
        arrays = [_sized(array) if _is_unsized(array) else array for array in arrays]
        check_consistent_length(*arrays)
        rows = arrays[0].chunks[0]
        arrays = [a if isinstance(a, da.Array) else da.from_array(a, chunks=(rows, *a.shape[1:])) for a in arrays]
        arrays = [array.rechunk({0: rows}) for array in arrays]
    arrays = [_with_whole_columns(array) for array in arrays] + [sample_weight] * alone
    return arrays[0], arrays[1], arrays[2]


def _blocks(X: Any, y: Any, weights: Any) -> list[Block]:
    """Delayed blocks of rows, but those that are known to have none."""
    arrays = dask.optimize(*(array for array in (X, y, weights) if isinstance(array, da.Array)))
    columns = [array.to_delayed(optimize_graph=False).ravel() for array in arrays]
    if len(columns) == 2:
        columns.append([weights] * len(columns[0]))
    return [block for block, size in zip(zip(*columns, strict=True), X.chunks[0], strict=True) if size != 0]


def _array(values: Any) -> Any:
    """A Dask array of what is of Dask, and a NumPy array of anything else."""
    values = values.to_dask_array() if hasattr(values, "to_dask_array") else values
    return values if isinstance(values, da.Array) else np.asarray(values)


def _is_unsized(array: Any) -> bool:
    return bool(np.isnan(array.shape[:1]).any())


def _sized(array: Any) -> Any:
    return array.copy().compute_chunk_sizes()  # which changes the array that it belongs to


def _with_whole_columns(array: Any) -> Any:
    return array.rechunk(dict.fromkeys(range(1, array.ndim), -1)) if max(array.numblocks[1:], default=1) > 1 else array


def _check_estimator(estimator: Any) -> None:
    if not isinstance(estimator, BaseFeatureRidge):
        raise TypeError(f"estimator must be a FeatureRidge or FeatureRidgeClassifier, got {type(estimator).__name__}.")


def _check_weight(weight: float) -> None:
    if weight == 0:
        check_sample_weight(np.zeros(1), 1)  # says that no row counts


def _form(estimator: Any, method: str) -> tuple[int, bool, Any]:
    """The number of columns that the method returns, whether it is one vector, and the dtype."""
    if not is_classifier(estimator):
        return len(estimator._solution.posterior.intercept), estimator._is_vector, np.float64
    n = len(estimator.classes_)
    if method == "predict":
        return 1, True, estimator.classes_.dtype
    return (1, True, np.float64) if method == "decision_function" and n == 2 else (n, False, np.float64)
