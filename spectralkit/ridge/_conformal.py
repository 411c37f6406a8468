"""Conformal intervals: residuals of rows that a model has not seen, around the predictions of these models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg.blas import dgemm

from spectralkit._rows import fold_of_rows, groups_of_equal_rows
from spectralkit.ridge._candidates import Candidate, Rows, Solution, chosen, in_blocks

N_FOLDS = 10
FULL = 1e-9  # a row whose own share of its prediction is closer than this to 1 is not predicted by the others
VALUES_PER_CHUNK = 1 << 22
HALVINGS = 70  # of the distance between the largest and the smallest end


class Fold(NamedTuple):
    """Which rows, and their moments."""

    where: np.ndarray
    candidate: Candidate


def cross_fitted(
    features: Any, multiplier: float | None, rows: Rows, solver: str
) -> tuple[list[Candidate], list[Fold]]:
    """The candidate of all rows, and of each fold; rows with equal X are in one fold, rows without weight in none."""
    counted = np.arange(len(rows)) if rows.weights is None else np.flatnonzero(rows.weights)
    X = rows.X if len(counted) == len(rows) else rows.X[counted]
    fold = fold_of_rows(X, N_FOLDS)
    if (fold == fold[0]).all():  # chance may put a few distinct rows into one
        fold = groups_of_equal_rows(X) % N_FOLDS
    folds = []
    for f in np.unique(fold):
        where = counted[fold == f]
        folds.append(Fold(where, Candidate.of(features, multiplier, rows[where], solver)))
    whole = folds[0].candidate
    for other in folds[1:]:
        whole = whole.with_rows_of(other.candidate)
    return [whole], folds


@dataclass(frozen=True)
class CVPlus:
    """Predictions of models without one fold each, and the sorted absolute residuals of the folds."""

    features: Any
    coef: np.ndarray  # (f, t, m)
    intercept: np.ndarray  # (f, t)
    residuals: list[np.ndarray]  # for each fold (n_f, t), sorted along the rows
    ranks: list[np.ndarray]  # for each fold (n_f + 1, t), the weight of all residuals before
    weight: float

    @classmethod
    def of(cls, solution: Solution, folds: list[Fold], rows: Rows, alpha: float | str, fit_intercept: bool) -> Self:
        if len(folds) < 2:
            raise ValueError(
                "interval='cv+' needs distinct rows of X to make folds of, but all that have weight are equal: "
                f"n_samples = {len(rows)}. Give more rows."
            )
        alpha = solution.posterior.alpha if alpha == "loo" else alpha
        coef, intercept, residuals, ranks = [], [], [], []
        for where, candidate in folds:
            rest = chosen([solution.candidate.without_rows_of(candidate)], alpha, fit_intercept)
            part = rows[where]
            left = np.abs(part.targets - rest.predict(part.X))
            weights = np.ones(len(part)) if part.weights is None else part.weights
            order = np.argsort(left, axis=0)
            coef.append(rest.posterior.coef)
            intercept.append(rest.posterior.intercept)
            residuals.append(np.take_along_axis(left, order, axis=0))
            ranks.append(np.concatenate([np.zeros((1, left.shape[1])), np.cumsum(weights[order], axis=0)]))
        weight = float(sum(rank[-1, 0] for rank in ranks))
        return cls(solution.candidate.features, np.array(coef), np.array(intercept), residuals, ranks, weight)

    def interval(self, X: Any, coverage: float) -> np.ndarray:
        """Lower and upper ends, shape (n, 2, t)."""
        out = np.empty((X.shape[0], 2, self.intercept.shape[1]))
        for where, Z in in_blocks(self.features, X):
            means = np.einsum("nm,ftm->fnt", Z, self.coef, optimize=True) + self.intercept[:, None]
            out[where, 0] = -self._upper(-means, coverage)
            out[where, 1] = self._upper(means, coverage)
        return out

    def _upper(self, means: np.ndarray, coverage: float) -> np.ndarray:
        """The quantile of means plus residuals of all folds, by bisection of how many are not above."""
        wanted = coverage * (self.weight + 1)
        if wanted > self.weight:
            return np.full(means.shape[1:], np.inf)
        low = np.min([mean + left[0] for mean, left in zip(means, self.residuals, strict=True)], axis=0)
        high = np.max([mean + left[-1] for mean, left in zip(means, self.residuals, strict=True)], axis=0)
        for _ in range(HALVINGS):
            middle = low + (high - low) / 2
            enough = self._weight_up_to(middle, means) >= wanted * (1 - 1e-12)
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    def _weight_up_to(self, ends: np.ndarray, means: np.ndarray) -> np.ndarray:
        total = np.zeros_like(ends)
        for mean, residuals, ranks in zip(means, self.residuals, self.ranks, strict=True):
            for t in range(ends.shape[1]):
                count = np.searchsorted(residuals[:, t], ends[:, t] - mean[:, t], side="right")
                total[:, t] += ranks[count, t]
        return total


@dataclass(frozen=True)
class JackknifePlus:
    """The training rows, their residuals without them, and by how much the model changes without them."""

    solution: Solution
    rows: Rows
    shifts: np.ndarray  # (n, t): predictions at x change by minus this times the posterior covariance with the row
    residuals: np.ndarray  # (n, t), absolute

    @classmethod
    def of(cls, solution: Solution, rows: Rows) -> Self:
        if rows.weights is not None:
            rows = rows[rows.weights > 0]
        weights, means = rows.groups()
        shifts, residuals = np.empty((2, *rows.targets.shape))
        for where, Z in in_blocks(solution.candidate.features, rows.X):
            own = (solution.posterior.leverage(Z) * weights[where])[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                shift = (means[where] - solution.posterior.predict(Z)) / (1 - own)
            shift[own[:, 0] > 1 - FULL] = np.inf
            shifts[where] = weights[where, None] * shift
            residuals[where] = np.abs(rows.targets[where] - means[where] + shift)
        residuals[~np.isfinite(residuals)] = np.inf
        shifts[~np.isfinite(shifts)] = 0.0
        return cls(solution, rows, shifts, residuals)

    def interval(self, X: Any, coverage: float) -> np.ndarray:
        """Lower and upper ends, shape (n, 2, t)."""
        out = np.empty((X.shape[0], 2, self.residuals.shape[1]))
        step = max(1, VALUES_PER_CHUNK // len(self.rows))
        for start in range(0, X.shape[0], step):
            where = slice(start, start + step)
            means, covariances = self._predicted(X[where])
            for t in range(out.shape[2]):
                without = means[:, t, None] - covariances * self.shifts[:, t]
                out[where, 0, t] = -self._quantile(self.residuals[:, t] - without, coverage)
                out[where, 1, t] = self._quantile(self.residuals[:, t] + without, coverage)
        return out

    def _predicted(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means at new rows, and posterior covariances with the training rows over the variance of the noise."""
        features, posterior = self.solution.candidate.features, self.solution.posterior
        blocks = [(posterior.predict(Z), posterior.whitened(Z)) for _, Z in in_blocks(features, X)]
        means, whitened = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        covariances = np.empty((X.shape[0], len(self.rows)))
        for where, Z in in_blocks(features, self.rows.X):
            # SciPy's BLAS, as in `whitened`: NumPy has another, whose threads would go on to spin beside it
            covariances[:, where] = dgemm(1.0, whitened, posterior.whitened(Z), trans_b=True)
        return means, covariances

    def _quantile(self, values: np.ndarray, coverage: float) -> np.ndarray:
        """The smallest value that so large a share of the rows and one more does not exceed; values are overwritten."""
        weights = self.rows.weights
        total = float(values.shape[1] if weights is None else weights.sum())
        wanted = coverage * (total + 1) * (1 - 1e-12)
        if wanted > total:
            return np.full(len(values), np.inf)
        if weights is None:
            rank = int(np.ceil(wanted)) - 1
            values.partition(rank, axis=1)
            return values[:, rank]
        order = np.argsort(values, axis=1)
        rank = (np.cumsum(weights[order], axis=1) < wanted).sum(axis=1)
        return np.take_along_axis(values, order, axis=1)[np.arange(len(values)), rank]
