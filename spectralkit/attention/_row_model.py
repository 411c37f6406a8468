"""Averages over rows that are kept: what the estimators have learnt by the exact method or by transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralkit.attention._fast import FastSums, chosen_method, wants_transforms
from spectralkit.attention._leave_one_out import Errors, best_bandwidth, leave_one_out
from spectralkit.attention._rows import Rows
from spectralkit.attention._smoother import Smoother
from spectralkit.attention._variance import Variance
from spectralkit.attention._weighting import Weighting, per_column

__all__ = ["RowModel", "with_bandwidth"]

_NO_RADII = "method='nufft' needs one bandwidth for all queries, and n_neighbors gives each its own."


class RowModel:
    """Rows, how they weigh, and the method by which they are summed.

    Attributes
    ----------
    rows : Rows
        The rows.
    weighting : Weighting
        The kernel with its bandwidth.
    method : {"exact", "nufft"}
        How sums are computed.
    note : str
        Why it is not the other method, where that was a choice.
    """

    def __init__(self, rows: Rows, weighting: Weighting, smoother: Smoother, method: str) -> None:
        self.rows, self.weighting, self._smoother = rows, weighting, smoother
        if smoother.neighbours is not None and wants_transforms(method, rows):
            self.method, self.note = "exact", _NO_RADII
        else:
            self.method, self.note = chosen_method(method, weighting, rows, smoother.degree)
        self._fast: FastSums | None = None
        self._errors: Errors | None = None
        self._variance: Variance | None = None

    def estimates(self, X: np.ndarray) -> np.ndarray:
        """Local fits of the targets (m, t)."""
        if self.method == "nufft" and self._fast is None:
            self._fast = self._smoother.fast(self.weighting)
        return self._smoother.estimates(self.weighting, X, fast=self._fast) + self.rows.mean

    def deviations(self, X: np.ndarray) -> np.ndarray:
        """Square roots of local averages of squared leave-one-out errors (m, t)."""
        if self._variance is None:
            self._variance = Variance.of(self._smoother, self.weighting, self.errors, self.method == "nufft")
        return np.sqrt(self._variance.at(X))

    def effective_counts(self, X: np.ndarray) -> np.ndarray:
        """Effective numbers of rows (m,)."""
        return self._smoother.effective_counts(self.weighting, X, self.method == "nufft")

    @property
    def errors(self) -> Errors:
        """Leave-one-out errors, computed when they are first asked for."""
        if self._errors is None:
            self._errors = leave_one_out(self._smoother, [self.weighting], self.method == "nufft")[0]
        return self._errors

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_fast": None, "_variance": None}


def with_bandwidth(form: Weighting, smoother: Smoother, bandwidth: Any, method: str) -> Weighting:
    """The weighting with its bandwidth: its own, the one that is given, or the one with the smallest errors."""
    if not form.is_open:
        return form
    if isinstance(bandwidth, str):
        is_fast = wants_transforms(method, smoother.rows) and smoother.neighbours is None
        return form.at(best_bandwidth(smoother, form, bandwidth == "loo_per_column", is_fast))
    scale = 1.0 if smoother.neighbours is None else smoother.scale
    return form.at(per_column(bandwidth, len(smoother.scale)) * scale)
