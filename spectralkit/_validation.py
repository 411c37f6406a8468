"""Checks of arguments that several estimators share."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils import check_array

__all__ = ["check_sample_weight"]


def check_sample_weight(sample_weight: Any, n: int) -> np.ndarray | None:
    """The weights as a float64 vector of length `n`; None stays None and means that all rows count the same.

    Raises ValueError if a weight is negative or not finite, if all are zero, or if their number is not `n`.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(n, sample_weight, dtype=np.float64)
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have one value per row of X, shape ({n},), got shape {weights.shape}.")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, but its smallest value is {weights.min()}.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one row must count.")
    return weights
