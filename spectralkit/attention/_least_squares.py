"""The bandwidth of a density by least-squares cross-validation."""

from __future__ import annotations

import numpy as np

from spectralkit.attention._rows import Rows
from spectralkit.attention._search import best_factor, reach
from spectralkit.attention._smoother import log_sum
from spectralkit.attention._sums import exact_sums
from spectralkit.attention._weighting import Exponential, Weighting
from spectralkit.nufft import KernelSums
from spectralkit.spectra import CapabilityError, SpectralMeasure

__all__ = ["OUT_OF_REACH", "Criterion", "best_bandwidth", "log_integral", "log_sums"]

_PAIRS = 4e8  # of rows, that one evaluation may take with a Gaussian kernel
_SLOWER = 16  # times that others are
_FEWEST = 500  # rows whose density is computed, however many there are
_GRID = 1 << 30  # bytes; larger grids take longer than sums over a sample of the rows
_GRID_PER_ROW = 1000  # bytes; larger grids than for all rows take longer than the transform of the rows
# Errors of the criterion by transforms, in what one row contributes to it: that of the sums is a quarter of tol times
# the root of the number of rows, that of the squared density tol times the root of the number of neighbours.
_RESOLVED, _TOL_OF_SQUARE = 1e-3, 1e-4
_ABOVE_ALL = 1e9
OUT_OF_REACH = (
    "the integral of the squared density takes a grid of frequencies for kernels other than the Gaussian, and there is "
    "none for more than 3 columns, nor for kernels that are too narrow, too rough or too heavy in their tails"
)


class Criterion:
    """The criterion times the integral of the kernel: a number without unit, within range in any number of columns.

    Infinity stands for what cannot be had.
    """

    def __init__(self, rows: Rows, is_fast: bool, n_jobs: int | None) -> None:
        self.rows, self.is_fast, self.n_jobs = rows, is_fast, n_jobs
        self.corners = np.stack([rows.X.min(axis=0), rows.X.max(axis=0)])
        self.tol = _RESOLVED / len(rows.X) ** 0.5
        others = rows.total - rows.weights
        self.parts = rows.weights / rows.total
        self.factors = np.divide(rows.weights, others, out=np.zeros_like(others), where=others > 0)

    def __call__(self, forms: list[Weighting]) -> np.ndarray:
        """Values for several bandwidths; those by transforms all together if memory allows it."""
        values = np.full(len(forms), np.nan)
        fast = [i for i, form in enumerate(forms) if self.fits([form])]
        for group in [fast] if fast and self.fits([forms[i] for i in fast]) else [[i] for i in fast]:
            values[group] = self._by_transforms([forms[i] for i in group])
        for i in np.flatnonzero(np.isnan(values)):
            values[i] = self._by_pairs(forms[i])
        return values

    def ranks(self, forms: list[Weighting]) -> np.ndarray:
        """Numbers in the order of the criterion; its logarithms where it is negative, as it is at its minimum."""
        values, logs = self(forms), np.array([log_integral(form) for form in forms])
        negative = values < 0
        return np.where(negative, logs - np.log(np.where(negative, -values, 1.0)), _ABOVE_ALL + values)

    def fits(self, forms: list[Weighting], size: float = _GRID) -> bool:
        """Whether transforms are wanted, and their grids for all bandwidths at once have at most this size."""
        if not self.is_fast:
            return False
        measures = [_measure(form) for form in forms]
        try:
            tols = self.tol, _TOL_OF_SQUARE
            return max(KernelSums.bytes_needed(measures, self.corners, tol=tol) for tol in tols) <= size
        except (ValueError, CapabilityError):
            return False

    def _by_transforms(self, forms: list[Weighting]) -> np.ndarray:
        """The sum over the rows is a form of two vectors: a difference of quadratic forms of one."""
        measures = [_measure(form) for form in forms]
        pair = np.column_stack([self.factors + self.parts, self.factors - self.parts])
        plus, minus = KernelSums.quadratic_forms(measures, self.rows.X, pair, tol=self.tol, n_jobs=self.n_jobs).T
        own = np.array([float(measure.mass) for measure in measures]) * (self.factors @ self.parts)
        return self._squares(forms) - 2 * ((plus - minus) / 4 - own)

    def _squares(self, forms: list[Weighting]) -> np.ndarray:
        """Integrals of the squared densities, times those of the kernels."""
        measures, logs = [_measure(form) for form in forms], np.array([log_integral(form) for form in forms])
        squares = KernelSums.quadratic_forms(
            measures, self.rows.X, self.parts, convolved=True, tol=_TOL_OF_SQUARE, n_jobs=self.n_jobs
        )
        return squares * np.exp(-logs)

    def _by_pairs(self, form: Weighting) -> float:
        """By the exact method, but for the square of a density with another kernel than the Gaussian."""
        if isinstance(form, Exponential):
            wider = self._mean(self.parts, form.at(np.sqrt(2) * form.bandwidth))
            square = 0.5 ** (len(form.bandwidth) / 2) * (float(self.parts @ self.parts) + wider)
        else:
            try:
                square = float(self._squares([form])[0])
            except (ValueError, CapabilityError):
                return np.inf
        return square - 2 * self._mean(self.factors, form)

    def _mean(self, factors: np.ndarray, form: Weighting) -> float:
        """Mean of factors times sums without the own row: over all rows if that is affordable, or a sample."""
        pairs = _PAIRS if isinstance(form, Exponential) else _PAIRS / _SLOWER
        which = self.rows.sample(max(int(pairs / len(self.rows.X)), _FEWEST))
        sums = np.exp(log_sums(form, self.rows.X[which], self.rows, which, self.n_jobs))
        return float(factors[which] @ sums / self.rows.weights[which].sum())


def best_bandwidth(form: Weighting, criterion: Criterion) -> np.ndarray:
    """The bandwidths with the smallest criterion: one factor on the deviations of the columns."""
    rows = criterion.rows
    if len(rows.X) < 3:
        return rows.deviations
    is_first = True

    def ranks(factors: np.ndarray) -> np.ndarray:
        """For a first look from wide to narrow, which takes ever more time and in the end finds every row alone."""
        nonlocal is_first
        forms = [form.at(factor * rows.deviations) for factor in factors]
        narrowest, found = len(forms) // 2 if is_first else 0, np.full(len(forms), np.inf)
        while narrowest > 0 and criterion.fits(forms[narrowest - 1 :], min(_GRID, _GRID_PER_ROW * len(rows.X))):
            narrowest -= 1
        found[narrowest:] = criterion.ranks(forms[narrowest:])
        while narrowest > 0 and np.argmin(found) < narrowest + 2 and np.isfinite(found[narrowest]):
            narrowest -= 1
            found[narrowest] = criterion.ranks([forms[narrowest]])[0]
        if is_first and found[max(int(np.argmin(found)) - 1, 0)] == np.inf:
            raise ValueError(f"bandwidth='lscv' cannot choose: {OUT_OF_REACH}. Give the bandwidth as a number.")
        is_first = False
        return found

    return best_factor(ranks, *reach(rows, rows.deviations)) * rows.deviations


def _measure(form: Weighting) -> SpectralMeasure:
    """The measure whose kernel it is."""
    assert form.measure is not None
    return form.measure


def log_integral(form: Weighting) -> float:
    """Logarithm of the integral of the kernel."""
    return float(_measure(form).log_density(np.zeros((1, len(form.bandwidth))))[0])


def log_sums(
    form: Weighting, queries: np.ndarray, rows: Rows, own: np.ndarray | None = None, n_jobs: int | None = None
) -> np.ndarray:
    """Logarithms of the sums of weights, each without the row of the number `own`, if given.

    Counted from the centre of the rows, so that differences of points far from zero keep their digits.
    """
    points, nothing = (queries - rows.centre, rows.X - rows.centre), np.zeros((len(rows.X), 0))
    centre = np.zeros(len(rows.centre))
    return log_sum(exact_sums(form, *points, rows.weights, nothing, centre=centre, own=own, n_jobs=n_jobs))
