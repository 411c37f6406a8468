"""Templates: measures with open parameters, and what they may read when they are resolved against data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from spectralkit._validation import is_positive_number


class TemplateError(ValueError):
    """A numeric method was called on a measure that still has open parameters.

    Examples
    --------
    >>> from spectralkit import Gaussian, TemplateError
    >>> try:
    ...     Gaussian().gram([[0.0], [1.0]])
    ... except TemplateError as error:
    ...     print(error)
    Gaussian() is a template: it has no sigma yet. Call resolve(X, y), or give the numbers.
    """


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
    components : callable or None
        Reads the spectrum of y over X: called with this object, a number of components or None, and their means or
        None, it returns weights (Q,), means (Q, d) and sigmas (Q, d), the heaviest first if it chose the means. None
        where nobody can: `spectralkit.estimation.resolve` gives it.

    Examples
    --------
    What an open sigma becomes:

    >>> import numpy as np
    >>> from spectralkit.spectra import Data
    >>> Data(np.array([[0.0], [2.0]])).scale().round(6)
    array([0.159155])
    """

    X: np.ndarray
    y: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    sigma: Any = "auto"
    multiplier: float = 1.0
    extra: int = 0
    components: Callable[[Data, int | None, Any], tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None

    @property
    def scale_is_given(self) -> bool:
        """Whether the caller asked for a scale of his own."""
        return not isinstance(self.sigma, str) or self.multiplier != 1.0

    def on(self, columns: Sequence[int]) -> Data:
        """Return the data of a column group; a sigma per column is narrowed with them.

        Parameters
        ----------
        columns : sequence of int
            Column numbers.

        Returns
        -------
        Data
            The same rows with these columns.
        """
        columns = list(columns)
        per_column = not isinstance(self.sigma, str) and np.ndim(self.sigma) == 1
        sigma = np.asarray(self.sigma)[columns] if per_column else self.sigma
        return dataclasses.replace(self, X=self.X[:, columns], sigma=sigma)

    def with_extra(self, columns: int) -> Data:
        """Return the same data inside a product whose other factors add columns.

        Parameters
        ----------
        columns : int
            How many they add.

        Returns
        -------
        Data
            With a larger `extra`.
        """
        return dataclasses.replace(self, extra=self.extra + columns)

    def scale(self) -> Any:
        """Return the sigma of a measure that left it open, in cycles per unit of X.

        It is ``multiplier * sigma`` if the caller gave sigma; otherwise ``multiplier / (2 pi sqrt(d + extra) sd_j)``
        per column, with ``sd_j`` the (weighted) standard deviation of column j, or 1 where that is zero to rounding.

        Returns
        -------
        float or ndarray of shape (d,)
            The scale.
        """
        if not isinstance(self.sigma, str):
            sigma = self.multiplier * np.asarray(self.sigma, dtype=float)
            return sigma if sigma.ndim else float(sigma)
        return self.multiplier / (2 * math.pi * math.sqrt(self.X.shape[1] + self.extra) * self._standard_deviation())

    def _standard_deviation(self) -> np.ndarray:
        """Per column; 1 where it is zero to rounding. Taken from the first row, so that constants give exactly zero."""
        weight = self.sample_weight
        if sparse.issparse(self.X):
            mean, variance = mean_variance_axis(sparse.csr_array(self.X, dtype=np.float64), axis=0, weights=weight)
            sd = np.sqrt(variance)
        else:
            rows = np.asarray(self.X if weight is None else self.X[weight > 0], dtype=np.float64)
            weight = None if weight is None else weight[weight > 0]
            shifted = rows - rows[0]
            size = np.abs(shifted).max(axis=0)
            size[size == 0] = 1.0  # squares of tiny or huge columns would under- or overflow
            shifted /= size
            centre = np.average(shifted, axis=0, weights=weight)
            sd = size * np.sqrt(np.average((shifted - centre) ** 2, axis=0, weights=weight))
            mean = rows[0] + size * centre
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
        if not is_positive_number(self.multiplier):
            raise ValueError(f"multiplier must be a positive finite number, got {self.multiplier!r}.")
