"""Weights of a batch of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralkit._validation import check_sample_weight


def check_repetitions(sample_weight: Any, n: int) -> np.ndarray | None:
    """As `check_sample_weight`, but no row of a batch need count: other batches may come."""
    if sample_weight is None or np.any(sample_weight):
        return check_sample_weight(sample_weight, n)
    if np.shape(sample_weight) not in ((), (n,)):
        raise ValueError(
            f"sample_weight must have one value per row of X, shape ({n},), got shape {np.shape(sample_weight)}."
        )
    return np.zeros(n)
