"""What a measure of positions has as its lags when it is asked about waves: widths times frequencies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from spectralkit._xp import as_float64, cast_like, convert, namespace, stop_gradient
from spectralkit.spectra._lags import Lags

FAR = 1e12  # width times frequency: every damping is below 1e-12 there, and (2 pi FAR)**3 below 3e38, float32's end


class WidthLags(Lags):
    """Every frequency, (m, d), times the widths of every row, (n, d): what a measure of width 1 has as its lags."""

    def __init__(self, width: Any, frequencies: Any, like: Any) -> None:
        self.width, self.frequencies, self.like = width, frequencies, like
        self.d = frequencies.shape[-1]

    def column(self, j: int) -> Any:
        return cast_like(self.width[:, j, None] * self.frequencies[:, j], self.like)

    def on(self, columns: Sequence[int]) -> WidthLags:
        columns = list(columns)
        return WidthLags(self.width[:, columns], self.frequencies[:, columns], self.like)

    def _squared(self, scale: Any) -> Any:
        """One product of squares; with frequencies of at most 1, so that those of any unit fit into float32."""
        width, largest = self.width * as_float64(scale), _largest(self.frequencies)
        if math.sqrt(self.d) * largest * _largest(width) > FAR:
            return cast_like(self._squared_one_by_one(width), self.like)
        squares, frequencies = (width * largest) ** 2, self.frequencies / largest
        return cast_like(squares, self.like) @ cast_like(frequencies**2, self.like).T

    def _squared_one_by_one(self, width: Any) -> Any:
        """For widths that are large beside some frequency: another, or another column, may be many octaves below."""
        xp, total = namespace(width), 0.0
        with np.errstate(over="ignore"):
            for j in range(self.d):
                total = total + xp.clip(abs(width[:, j, None] * self.frequencies[:, j]), None, FAR) ** 2
        return xp.clip(total, None, FAR**2)

    def _turns(self, frequency: Any) -> Any:
        return self._fraction_of_turns(self.width * frequency, self.frequencies.T)


class CovarianceLags(Lags):
    """Every frequency, (m, d), and the covariance of every row, (n, d, d), for measures that ask for squares alone."""

    def __init__(self, covariance: Any, frequencies: Any, like: Any) -> None:
        self.covariance, self.frequencies, self.like = covariance, frequencies, like
        self.d = frequencies.shape[-1]

    def _squared(self, scale: Any) -> Any:
        """``omega^T C omega``: one product of the upper triangles of C with products of frequencies.

        In float64: it may cancel, and for a degenerate C rounding can leave it negative.
        """
        xp = namespace(self.covariance)
        largest: Any = _largest(self.frequencies)
        first, second = np.triu_indices(self.d)
        covariance = self.covariance[:, first, second]
        variance = xp.max(stop_gradient(self.covariance[:, range(self.d), range(self.d)]), axis=-1)[:, None]
        is_far = math.sqrt(self.d * _largest(variance)) * largest > FAR
        if is_far:  # some frequency may be many octaves below: each is divided by its own length, each C by its own
            largest = xp.max(abs(self.frequencies), axis=-1)[:, None]
            largest = xp.where(largest > 0, largest, 1.0)
            covariance = covariance / xp.where(variance > 0, variance, 1.0)
        frequencies = self.frequencies / largest * as_float64(scale)
        counts = convert(np.where(first == second, 1.0, 2.0), frequencies)
        products = frequencies[:, first] * frequencies[:, second] * counts
        if is_far:
            with np.errstate(over="ignore"):
                far = xp.clip(xp.sqrt(variance) * largest.T, None, 1e150)
            squares = xp.clip(xp.clip(covariance @ products.T, 0.0, None) * far * far, None, FAR**2)
        else:
            squares = (covariance * largest * largest) @ products.T
        return xp.clip(cast_like(squares, self.like), 0.0, None)

    def column(self, j: int) -> Any:
        raise NotImplementedError

    def on(self, columns: Sequence[int]) -> Lags:
        raise NotImplementedError

    def _turns(self, frequency: Any) -> Any:
        raise NotImplementedError


def _largest(numbers: Any) -> float:
    return float(abs(stop_gradient(numbers)).max()) or 1.0
