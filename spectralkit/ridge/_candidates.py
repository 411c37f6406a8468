"""Features with the moments of what they made of the data, and the choice among several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from spectralkit._rows import groups_of_equal_rows
from spectralkit._validation import check_sample_weight
from spectralkit.moments import GramMoments, QRMoments, RegressionMoments
from spectralkit.moments._regression import rows_per_block
from spectralkit.posterior import LeaveOneOut, Posterior, RidgePath, solve
from spectralkit.ridge._features import transformed

MOMENTS: dict[str, type[RegressionMoments]] = {"gram": GramMoments, "qr": QRMoments}


@dataclass(frozen=True)
class Rows:
    """Checked data: X (n, d), targets (n, t) in double precision, weights (n,) or None."""

    X: Any
    targets: np.ndarray
    weights: np.ndarray | None

    def __getitem__(self, rows: Any) -> Self:
        weights = None if self.weights is None else self.weights[rows]
        return type(self)(self.X[rows], self.targets[rows], weights)

    def __len__(self) -> int:
        return len(self.targets)

    def check_weights(self) -> None:
        """Refuse rows of which none counts, unless others may come."""
        check_sample_weight(self.weights, len(self))

    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """For each row the weight of all rows with equal X, and their mean target."""
        group = groups_of_equal_rows(self.X)
        weights = np.ones(len(self)) if self.weights is None else self.weights
        total = np.bincount(group, weights)
        sums = np.stack([np.bincount(group, weights * target) for target in self.targets.T], axis=1)
        means = sums / np.where(total > 0, total, 1.0)[:, None]
        return total[group], means[group]


@dataclass(frozen=True)
class Candidate:
    """A fitted transformer, the multiplier it was made with, and the moments of its features and the targets."""

    features: Any
    multiplier: float | None
    moments: RegressionMoments

    @classmethod
    def of(cls, features: Any, multiplier: float | None, rows: Rows, solver: str) -> Self:
        """Moments of rows, block after block, so that the features of all rows never stand together."""
        moments: RegressionMoments | None = None
        for where, Z in in_blocks(features, rows.X):
            block = rows[where]
            if moments is None:
                moments = MOMENTS[solver](Z.shape[1], block.targets.shape[1])
            moments.update(Z, block.targets, block.weights)
        assert moments is not None  # there is a row at least
        return cls(features, multiplier, moments)

    def with_rows_of(self, other: Candidate) -> Candidate:
        return Candidate(self.features, self.multiplier, self.moments.copy().merge(other.moments))

    def without_rows_of(self, other: Candidate) -> Candidate:
        return Candidate(self.features, self.multiplier, self.moments.copy().subtract(other.moments))


@dataclass(frozen=True)
class Solution:
    """The candidate that was chosen, its posterior, and the criterion of every multiplier."""

    candidate: Candidate
    posterior: Posterior
    criteria: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets, shape (n, t), block after block."""
        out = np.empty((X.shape[0], len(self.posterior.intercept)))
        for where, Z in in_blocks(self.candidate.features, X):
            out[where] = self.posterior.predict(Z)
        return out


def in_blocks(features: Any, X: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """Where a block of rows stands, and its features, which stay in cache until the next."""
    step = rows_per_block(transformed(features, X[:1]).shape[1])
    for start in range(0, X.shape[0], step):
        where = slice(start, min(start + step, X.shape[0]))
        yield where, transformed(features, X[where])


def chosen(candidates: list[Candidate], alpha: float | str, fit_intercept: bool, rows: Rows | None = None) -> Solution:
    """Choose the candidate of the largest evidence, and its penalty by moments or, for "loo", by rows."""
    if rows is not None and isinstance(alpha, str):
        _check_repetitions(rows, candidates[0].moments.weight)
    best, criteria = candidates[0], np.empty(0)
    if best.multiplier is not None:
        paths = [RidgePath(candidate.moments, fit_intercept) for candidate in candidates]
        penalties = [[path.best("evidence") if isinstance(alpha, str) else alpha] for path in paths]
        criteria = np.array([p.criterion("evidence", a)[0] for p, a in zip(paths, penalties, strict=True)])
        place = int(np.argmin(criteria))
        best = candidates[place]
        if isinstance(alpha, str) and alpha != "loo":
            alpha = paths[place].best(alpha)  # the path is there; `solve` would make it again
    if alpha == "loo":
        assert rows is not None
        alpha = _left_out(best, fit_intercept, rows)
    return Solution(best, solve(best.moments, alpha, fit_intercept), criteria)


def _check_repetitions(rows: Rows, weight: float) -> None:
    """Refuse shares in the place of repetitions: they would say that there is one row, from which nothing follows."""
    if weight <= 1 + 1e-9 and rows.weights is not None and (rows.weights > 0).sum() > 1:
        raise ValueError(
            f"sample_weight counts repetitions of rows, but the weights sum to {weight:.6g}, which is at most one row: "
            "too few to choose alpha. Multiply them so that they sum to the number of rows, or give alpha as a number."
        )


def _left_out(candidate: Candidate, fit_intercept: bool, rows: Rows) -> float:
    weights, means = rows.groups()  # first, since sorting takes memory that is free again afterwards
    errors = LeaveOneOut(candidate.moments, fit_intercept)
    for where, Z in in_blocks(candidate.features, rows.X):
        block = rows[where]
        errors.update(Z, block.targets, block.weights, (weights[where], means[where]))
    return errors.best()
