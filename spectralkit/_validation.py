"""Checks of arguments that measures, maps and estimators share."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils import check_array

from spectralkit._xp import as_floating, is_torch

__all__ = ["FLOATS", "as_points", "check_sample_weight", "is_integer", "is_positive_number"]

FLOATS = (np.float64, np.float32)  # what estimators keep; scikit-learn turns other dtypes into the first


def check_sample_weight(sample_weight: Any, n: int, *, of_a_batch: bool = False) -> np.ndarray | None:
    """The weights as a float64 vector of length `n`; None stays None and means that all rows count the same.

    Raises ValueError if a weight is negative or not finite, if their number is not `n`, or if all are zero; no row of a
    batch need count, since other batches may come.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(n, sample_weight, dtype=np.float64)
    weights = check_array(
        sample_weight,
        ensure_2d=False,
        dtype=np.float64,
        ensure_min_samples=int(not of_a_batch),
        input_name="sample_weight",
    )
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have one value per row of X, shape ({n},), got shape {weights.shape}.")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, but its smallest value is {weights.min()}.")
    if not of_a_batch and not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one row must count.")
    return weights


def as_points(points: Any, name: str, *, rows: bool = False) -> Any:
    """An array or tensor of float32 or float64 whose last axis is the columns.

    With `rows`, arrays must be (rows, columns) and tensors (..., rows, columns).
    """
    points = as_floating(points)
    if rows and (points.ndim < 2 or (points.ndim > 2 and not is_torch(points))):
        raise ValueError(
            f"{name} must be two-dimensional, (rows, columns), got shape {tuple(points.shape)}. "
            "Use reshape(-1, 1) if it has one column."
        )
    if rows and not is_torch(points) and not _all_finite(points):
        row = int(np.argmin(np.isfinite(points).all(axis=1)))
        raise ValueError(
            f"{name} has NaN or infinite values, the first in row {row}. Fill them in or leave the rows out."
        )
    if points.ndim == 0:
        raise ValueError(f"{name} must have an axis of columns, the last one, got a single number. Put it into a list.")
    return points


def _all_finite(array: np.ndarray) -> bool:
    """A finite sum has finite terms, and takes no array of flags; an infinite one may only have overflowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(array.sum())) or bool(np.isfinite(array).all())


def is_integer(value: Any, at_least: int) -> bool:
    """Whether `value` is an integer of at least so much; True and False are not numbers here."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= at_least


def is_positive_number(value: Any) -> bool:
    """Whether `value` is one real number, positive and finite; True is not a number here."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < float(value) < np.inf
