"""The variance of new targets about predictions: squared leave-one-out errors, averaged over wider neighbourhoods."""

from __future__ import annotations

from typing import Self

import numpy as np

from spectralkit.attention._fast import FastSums, is_cheap
from spectralkit.attention._leave_one_out import Errors
from spectralkit.attention._rows import Rows
from spectralkit.attention._smoother import Smoother
from spectralkit.attention._weighting import Weighting

__all__ = ["Variance"]

_WIDER = 2.0 ** np.arange(7)  # factors on the bandwidth that are tried
_JUDGES = 5000  # rows by whose errors they are judged


class Variance:
    """Local averages of squared errors. A kernel whose scale is open takes the likeliest multiple of its bandwidth.

    Predictions rest on as few rows as make their errors small, which are too few to tell how large these are: an
    average of two squares is too small in more than half of the cases.
    """

    def __init__(self, smoother: Smoother, weighting: Weighting, is_fast: bool) -> None:
        self._smoother, self._weighting = smoother, weighting
        can = is_fast and is_cheap(weighting, smoother.rows, 0)
        self._fast: FastSums | None = smoother.fast(weighting) if can else None

    @classmethod
    def of(cls, smoother: Smoother, weighting: Weighting, errors: Errors, is_fast: bool) -> Self:
        """The variance that follows from errors of rows."""
        which, squares, weights = errors
        rows = Rows.of(smoother.rows.X[which], squares, weights)
        averages = smoother.of_averages(rows)
        if not weighting.is_open or len(rows.X) < 3:
            return cls(averages, weighting, is_fast)
        trials = [cls(averages, weighting.at(factor * weighting.bandwidth), is_fast) for factor in _WIDER]
        judges = rows.sample(_JUDGES)
        return trials[int(np.argmin([trial._surprise(judges) for trial in trials]))]

    def at(self, X: np.ndarray) -> np.ndarray:
        """Variances (m, t)."""
        return np.maximum(self._averages(X), 0.0)

    def _averages(self, X: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        return self._smoother.estimates(self._weighting, X, own, self._fast) + self._smoother.rows.mean

    def _surprise(self, judges: np.ndarray) -> float:
        """Twice the negative log-likelihood of errors of rows, each by the variance that the others make."""
        rows = self._smoother.rows
        squares = rows.targets[judges] + rows.mean
        variance = np.maximum(self._averages(rows.X[judges], judges), 1e-12 * rows.mean)
        varying = rows.mean > 0
        terms = np.log(variance[:, varying]) + squares[:, varying] / variance[:, varying]
        return float(np.average(terms.sum(axis=1), weights=rows.weights[judges]))
