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
_FINEST = 1e-9  # of tolerances, which count in single rows where those were rounded
_ABOVE_ALL = 1e9
# Rows were rounded if at least this share of them is tied, columns are multiples of a step up to this part of it, or
# what the rounding of their numbers explains (a quarter of a step at most), and in each column there are so many pairs
# of rows, the other one a step further, for one of equal rows. Rows from a density smooth over a step have about
# one; rows that were repeated have next to none.
_TIED, _OFF_STEP, _MOST_OFF, _STEP_APART = 0.05, 1e-3, 0.25, 2 / 3
_ROUNDINGS = 4  # units of rounding of the largest number, by which multiples of a step may be off
_MOST_STEPS = 1 << 52  # whole numbers up to here are exact
_NARROWEST = 0.5  # steps; with narrower kernels the density shows the steps
# Variances, in squares of a step, of a difference of two rounded rows, and of one rounded row
_OF_PAIR, _OF_ROW = 1 / 6, 1 / 12
OUT_OF_REACH = (
    "the integral of the squared density takes a grid of frequencies for kernels other than the Gaussian, and there is "
    "none for more than 3 columns, nor for kernels that are too narrow, too rough or too heavy in their tails"
)


class Criterion:
    """The criterion times the integral of the kernel: a number without unit, within range in any number of columns.

    Infinity stands for what cannot be had. With a Gaussian kernel and rows that were rounded, each row stands for the
    cell of the values that were rounded to it: kernels are wider by the error of a difference of two rows, and a row is
    left out once, not with all that equal it.
    """

    def __init__(self, form: Weighting, rows: Rows, is_fast: bool, n_jobs: int | None) -> None:
        self.rows, self.is_fast, self.n_jobs = rows, is_fast, n_jobs
        self.steps = _steps(rows) if isinstance(form, Exponential) else np.zeros(rows.X.shape[1])
        self.is_rounded = bool(self.steps.any())
        repetitions = max(rows.total / len(rows.X), 1.0) if self.is_rounded else 1.0
        tols = _RESOLVED / len(rows.X) ** 0.5, _TOL_OF_SQUARE
        self.tol, self.tol_of_square = (max(tol / repetitions, _FINEST) for tol in tols)
        left_out = np.minimum(rows.weights, 1.0) if self.is_rounded else rows.weights
        others = rows.total - left_out
        self.parts = rows.weights / rows.total
        self.factors = np.divide(rows.weights, others, out=np.zeros_like(others), where=others > 0)
        self.alone = float(self.factors @ left_out / rows.total)

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
        values, logs = self(forms), np.array([self.log_unit(form) for form in forms])
        negative = values < 0
        return np.where(negative, logs - np.log(np.where(negative, -values, 1.0)), _ABOVE_ALL + values)

    def log_unit(self, form: Weighting) -> float:
        """Logarithm of what the criterion is multiplied with: the integral of the kernel between two rows."""
        pair = self._wider(form, _OF_PAIR)
        return log_integral(pair) + self._log_surplus(pair.bandwidth)

    def narrowest(self) -> float:
        """The smallest factor on the deviations of the columns that rounding leaves."""
        return float((_NARROWEST * self.steps / self.rows.deviations).max())

    def fits(self, forms: list[Weighting], size: float = _GRID) -> bool:
        """Whether transforms are wanted, and their grids for all bandwidths at once have at most this size."""
        if not self.is_fast:
            return False
        kinds = (self.tol, _OF_PAIR), (self.tol_of_square, _OF_ROW)
        try:
            needed = [KernelSums.bytes_needed(self._measures(forms, v), self.rows.corners, tol=tol) for tol, v in kinds]
            return max(needed) <= size
        except (ValueError, CapabilityError):
            return False

    def _by_transforms(self, forms: list[Weighting]) -> np.ndarray:
        """The sum over the rows is a form of two vectors: a difference of quadratic forms of one."""
        measures = self._measures(forms, _OF_PAIR)
        pair = np.column_stack([self.factors + self.parts, self.factors - self.parts])
        plus, minus = KernelSums.quadratic_forms(measures, self.rows.X, pair, tol=self.tol, n_jobs=self.n_jobs).T
        own = np.array([float(measure.mass) for measure in measures]) * self.alone
        return self._squares(forms) - 2 * ((plus - minus) / 4 - own)

    def _squares(self, forms: list[Weighting]) -> np.ndarray:
        """Integrals of the squared densities, times those of the kernels."""
        rows = [self._wider(form, _OF_ROW) for form in forms]
        logs = [2 * log_integral(row) + self._log_surplus(np.sqrt(2) * row.bandwidth) for row in rows]
        measures = [_measure(row) for row in rows]
        squares = KernelSums.quadratic_forms(
            measures, self.rows.X, self.parts, convolved=True, tol=self.tol_of_square, n_jobs=self.n_jobs
        )
        return squares * np.exp(np.array([self.log_unit(form) for form in forms]) - logs)

    def _by_pairs(self, form: Weighting) -> float:
        """By the exact method, but for the square of a density with another kernel than the Gaussian."""
        if isinstance(form, Exponential):
            wider = form.at(np.sqrt(2) * self._wider(form, _OF_ROW).bandwidth)
            log_scale = self.log_unit(form) - log_integral(wider) - self._log_surplus(wider.bandwidth)
            square = np.exp(log_scale) * (float(self.parts @ self.parts) + self._mean(self.parts, wider))
        else:
            try:
                square = float(self._squares([form])[0])
            except (ValueError, CapabilityError):
                return np.inf
        equal = float(self.factors @ self.parts) - self.alone
        return float(square - 2 * (self._mean(self.factors, self._wider(form, _OF_PAIR)) + equal))

    def _wider(self, form: Weighting, variance: float) -> Weighting:
        """The kernel with a variance added to that of each column, in squares of its step."""
        return form.at(np.sqrt(form.bandwidth**2 + variance * self.steps**2)) if self.is_rounded else form

    def _measures(self, forms: list[Weighting], variance: float) -> list[SpectralMeasure]:
        return [_measure(self._wider(form, variance)) for form in forms]

    def _log_surplus(self, widths: np.ndarray) -> float:
        """Logarithm of the sum over whole steps of normal densities, which exceeds one; by Poisson's formula.

        A uniform cell has none; a few per cent outweigh the whole criterion where there are many rows.
        """
        if not self.is_rounded:
            return 0.0
        orders = np.arange(1, 4)[:, None]  # for at least the width of the error of a pair; the next has 1e-23
        return float(np.log1p(2 * np.exp(-2 * (np.pi * orders * widths / self.steps) ** 2).sum(axis=0)).sum())

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

    low, high = reach(rows, rows.deviations)
    return best_factor(ranks, max(low, criterion.narrowest()), high) * rows.deviations


def _steps(rows: Rows) -> np.ndarray:
    """The steps that the columns were rounded to; zeros where rows are not tied, or not because of that."""
    none = np.zeros(rows.X.shape[1])
    if rows.weights[rows.weights > 1].sum() < _TIED * rows.total:
        return none
    steps, codes = np.empty_like(none), np.zeros(len(rows.X), dtype=np.uint64)
    keys = np.random.default_rng(0).integers(1 << 63, size=len(none), dtype=np.uint64)
    for j, key in enumerate(keys):
        found = _step(rows.X[:, j])
        if found is None:
            return none
        steps[j] = found[0]
        codes += found[1].astype(np.uint64) * key
    codes, which = np.unique(codes, return_inverse=True)
    weights = np.bincount(which, rows.weights)
    equal = weights @ (weights - np.minimum(weights, 1.0))  # ordered pairs: as many as those one step up
    for key in keys:  # the code of the row one step further is larger by the key, modulo 2^64
        further = np.minimum(np.searchsorted(codes, codes + key), len(codes) - 1)
        if (weights * weights[further])[codes[further] == codes + key].sum() < _STEP_APART * equal:
            return none
    return steps


def _step(column: np.ndarray) -> tuple[float, np.ndarray] | None:
    """The step whose multiples, from the smallest on, the values are, and their numbers; None if there is none."""
    values, which = np.unique(column.astype(np.float64), return_inverse=True)
    rounding = _ROUNDINGS * float(np.finfo(column.dtype).eps) * np.abs(values[[0, -1]]).max()
    gaps = np.diff(values)
    apart = gaps[gaps > rounding]
    if len(apart) < 2:
        return None
    with np.errstate(over="ignore"):
        numbers = np.append(0, np.cumsum(np.rint(gaps / apart[apart < 1.5 * apart.min()].mean())))
    if numbers[-1] > _MOST_STEPS:
        return None
    step = float((values[-1] - values[0]) / numbers[-1])
    off = np.abs(values - values[0] - numbers * step).max()
    if off > min(max(_OFF_STEP * step, rounding), _MOST_OFF * step):
        return None
    return step, numbers[which]


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
    """Logarithms of the sums of weights, each without the row of the number `own`, if given."""
    return log_sum(exact_sums(form, queries, rows, np.zeros((len(rows.X), 0)), own=own, n_jobs=n_jobs))
