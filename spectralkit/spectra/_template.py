"""Templates: measures with open parameters, and what they may read when they are resolved against data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


class TemplateError(ValueError):
    """A numeric method was called on a measure that still has open parameters."""


@dataclass(frozen=True)
class Data:
    """What a template may look at.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The points.
    y : ndarray of shape (n,) or (n, t), or None
        The targets.
    sample_weight : ndarray of shape (n,) or None
        Repetitions of the rows.
    sigma : "auto", float or array of shape (d,)
        Frequency scale to fill open sigmas with.
    multiplier : float
        Factor on that scale.
    extra : int
        Number of columns that the other factors of a product add to those of X.
    """

    X: np.ndarray
    y: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    sigma: Any = "auto"
    multiplier: float = 1.0
    extra: int = 0

    @property
    def scale_is_given(self) -> bool:
        """Whether the caller asked for a scale of his own."""
        return not isinstance(self.sigma, str) or self.multiplier != 1.0

    def on(self, columns: Sequence[int]) -> Data:
        """The data of a column group; a sigma per column is narrowed with them."""
        columns = list(columns)
        per_column = not isinstance(self.sigma, str) and np.ndim(self.sigma) == 1
        sigma = np.asarray(self.sigma)[columns] if per_column else self.sigma
        return dataclasses.replace(self, X=self.X[:, columns], sigma=sigma)

    def with_extra(self, columns: int) -> Data:
        """The same data inside a product whose other factors add so many columns."""
        return dataclasses.replace(self, extra=self.extra + columns)

    def scale(self) -> Any:
        """The sigma of a measure that left it open, in cycles per unit of X.

        ``multiplier * sigma`` if the caller gave sigma; otherwise ``multiplier / (2 pi sqrt(d + extra) sd_j)`` per
        column, with ``sd_j`` the (weighted) standard deviation of column j, or 1 where that is zero to rounding.
        """
        if not isinstance(self.sigma, str):
            sigma = self.multiplier * np.asarray(self.sigma, dtype=float)
            return sigma if sigma.ndim else float(sigma)
        return self.multiplier / (2 * math.pi * math.sqrt(self.X.shape[1] + self.extra) * self._standard_deviation())

    def _standard_deviation(self) -> np.ndarray:
        X = np.asarray(self.X, dtype=np.float64)
        mean = np.average(X, axis=0, weights=self.sample_weight)
        sd = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=self.sample_weight))
        return np.where(sd > 10 * np.finfo(np.float64).eps * np.abs(mean), sd, 1.0)

    def check_scale(self) -> None:
        """Refuse a sigma or multiplier that could not be a scale for these columns."""
        if isinstance(self.sigma, str):
            if self.sigma != "auto":
                raise ValueError(f"sigma must be 'auto', a positive number or one per column, got {self.sigma!r}.")
        else:
            sigma = np.asarray(self.sigma)
            if sigma.dtype.kind not in "fiu" or not np.isfinite(sigma).all() or not (sigma > 0).all():
                raise ValueError(f"sigma must be 'auto' or positive and finite, got {self.sigma!r}.")
            if sigma.shape not in ((), (self.X.shape[1],)):
                raise ValueError(
                    f"sigma must be one number or one per column: it has shape {sigma.shape}, but X has "
                    f"{self.X.shape[1]} columns."
                )
        if not (np.ndim(self.multiplier) == 0 and np.isfinite(self.multiplier) and self.multiplier > 0):
            raise ValueError(f"multiplier must be a positive finite number, got {self.multiplier!r}.")
