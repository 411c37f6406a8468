"""Estimates at queries from rows: sums by one of the methods, local fits of them, and what stands in for no row."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from spectralkit._parallel import for_row_blocks
from spectralkit.attention._fast import FastSums, why_not_fast
from spectralkit.attention._local import linear_fits, value_columns
from spectralkit.attention._rows import Rows
from spectralkit.attention._sums import Sums, exact_sums
from spectralkit.attention._weighting import Exponential, Weighting

__all__ = ["EMPTY", "Smoother"]

EMPTY = ("nearest", "mean", "nan", "raise")
_QUERIES = 1 << 14  # whose sums for linear fits are in memory at a time
_BLOCK = 128
_NEXT_TO_NOTHING = 1e-9  # smallest distance to a neighbour, in units of the scale

# Errors of second derivatives are larger than those of sums, and those of lines again where neighbourhoods are narrow.
# Lines by transforms take sums so many times as accurate, and variances of neighbourhoods above so many bandwidths².
_OF_LINES = 100.0
_NARROWEST_BY_TRANSFORMS = 0.1


class Smoother:
    """Local averages, or local linear fits, of the targets of rows at any queries.

    Attributes
    ----------
    rows : Rows
        The rows.
    scale : ndarray of shape (d,)
        Bandwidths that a factor multiplies, and in which distances to neighbours are measured.
    degree : {0, 1}
        Degree of the local fits.
    empty : {"nearest", "mean", "nan", "raise"}
        What stands in for the average over no row.
    neighbours : Neighbours or None
        What gives a radius to every query.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(
        self, rows: Rows, scale: np.ndarray, degree: int, empty: str, n_neighbors: int | None, n_jobs: int | None
    ) -> None:
        self.rows, self.scale, self.degree, self.empty, self.n_jobs = rows, scale, degree, empty, n_jobs
        self.neighbours = None if n_neighbors is None else Neighbours(rows, scale, n_neighbors, n_jobs)

    def estimates(
        self,
        weighting: Weighting,
        queries: np.ndarray,
        own: np.ndarray | None = None,
        fast: FastSums | None = None,
    ) -> np.ndarray:
        """Local fits (m, t) of the targets less their mean, each without the row of the number `own`, if given."""
        found = np.empty((len(queries), self.rows.targets.shape[1]))
        step = len(queries) if self.degree == 0 else _QUERIES
        for start in range(0, len(queries), max(step, 1)):
            part = slice(start, start + step)
            found[part] = self._estimates(weighting, queries[part], None if own is None else own[part], fast)
        return found

    def _estimates(
        self, weighting: Weighting, queries: np.ndarray, own: np.ndarray | None, fast: FastSums | None
    ) -> np.ndarray:
        if fast is None:
            return self.fits(weighting, self.sums(weighting, queries, own), queries, own)
        found, reliable = self.fast_fits(fast, queries, own)
        if not reliable.all():
            rest = ~reliable
            found[rest] = self._estimates(weighting, queries[rest], None if own is None else own[rest], None)
        return found

    def fast(self, *weightings: Weighting, accuracy: float = 1e-8) -> FastSums:
        """The other method for the same sums, for several weightings at once."""
        accuracy = accuracy if self.degree == 0 else accuracy / _OF_LINES
        return FastSums(weightings, self.rows, self.rows.targets, accuracy, self.n_jobs)

    def fast_fits(
        self, fast: FastSums, queries: np.ndarray | None = None, own: np.ndarray | None = None, which: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Local fits from sums by transforms, all rows without themselves if there are no queries; where reliable."""
        t = self.rows.targets.shape[1]
        if self.degree == 0:
            sums, reliable = fast.at(queries, own, which)
            return sums.averages()[:, :t], reliable
        sums, reliable = fast.around(queries, own, which)
        found, widths = linear_fits(sums, np.zeros((len(sums.total), self.rows.X.shape[1])), t, 0.0)
        return found, reliable & (widths > _NARROWEST_BY_TRANSFORMS)

    def of_averages(self, some: Rows) -> Smoother:
        """One for averages of other targets at some of the rows, with the same radii."""
        smoother = Smoother(some, self.scale, 0, "mean" if self.empty == "mean" else "nearest", None, self.n_jobs)
        smoother.neighbours = self.neighbours
        return smoother

    def values(self, weighting: Weighting) -> np.ndarray:
        """The columns that are summed."""
        return value_columns(self.near(weighting, self.rows.X), self.rows.targets, self.degree)

    def sums(
        self,
        weighting: Weighting,
        queries: np.ndarray,
        own: np.ndarray | None = None,
        values: np.ndarray | None = None,
        slopes: bool = False,
        power: int = 1,
    ) -> Sums:
        """Sums of the values that local fits take, or of others, by the exact method."""
        return exact_sums(
            weighting,
            queries,
            self.rows,
            self.values(weighting) if values is None else values,
            radius=None if self.neighbours is None else self.neighbours.radius(queries, own is not None),
            own=own,
            power=power,
            slopes=slopes,
            single=values is None and self.degree == 0,
            n_jobs=self.n_jobs,
        )

    def effective_counts(self, weighting: Weighting, queries: np.ndarray, is_fast: bool) -> np.ndarray:
        """Squares of the sums of weights over the sums of their squares; 0 where no row has weight."""
        nothing = np.zeros((len(self.rows.X), 0))
        if isinstance(weighting, Exponential) and is_fast and why_not_fast(weighting.squared, self.rows) is None:
            fast = FastSums([weighting, weighting.squared], self.rows, nothing, n_jobs=self.n_jobs)
            (once, one), (squared, two) = (fast.at(queries, which=i) for i in (0, 1))
            found = np.divide(once.total**2, squared.total, out=np.zeros(len(queries)), where=squared.total > 0)
            rest = ~(one & two)
            if rest.any():
                found[rest] = self.effective_counts(weighting, queries[rest], False)
            return found
        once, squared = (self.sums(weighting, queries, values=nothing, power=power) for power in (1, 2))
        logs = np.zeros(len(queries))
        np.subtract(2 * once.log_scale, squared.log_scale, out=logs, where=once.total > 0)
        return np.exp(logs) * np.divide(once.total**2, squared.total, out=np.zeros_like(logs), where=once.total > 0)

    def fits(self, weighting: Weighting, sums: Sums, queries: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        """Local fits from sums, with what stands in for empty neighbourhoods."""
        t = self.rows.targets.shape[1]
        if self.degree == 0:
            found = sums.averages()[:, :t]
        else:
            largest = float(np.square(self.near(weighting, self.rows.X)).sum(axis=1).max())
            rounding = 1e6 * float(np.finfo(np.float64).eps) * largest
            found = linear_fits(sums, self.near(weighting, queries), t, rounding)[0]
        nothing = sums.total == 0
        if nothing.any():
            found[nothing] = self._instead(weighting, queries[nothing], None if own is None else own[nothing])
        return found

    def near(self, weighting: Weighting, points: np.ndarray) -> np.ndarray:
        """Points counted from the centre of the rows, in bandwidths."""
        return (points - self.rows.centre) / weighting.bandwidth

    def _instead(self, weighting: Weighting, queries: np.ndarray, own: np.ndarray | None) -> np.ndarray:
        """What stands in for the average over no row."""
        t = self.rows.targets.shape[1]
        if own is not None and len(self.rows.X) == 1:  # a row without another has no error
            return np.full((len(queries), t), np.nan)
        if self.empty == "nearest":
            return nearest_averages(self.rows, weighting.bandwidth, queries, own, self.n_jobs)
        if own is not None:
            left = (self.rows.total - self.rows.weights[own])[:, None]
            return -self.rows.weights[own, None] * self.rows.targets[own] / left
        if self.empty == "nan":
            return np.full((len(queries), t), np.nan)
        if self.empty == "raise":
            raise ValueError(
                f"{len(queries)} row(s) of X have no training row within the kernel's reach, the first is "
                f"{queries[0].tolist()}. Take a larger bandwidth, or empty='nearest', 'mean' or 'nan'."
            )
        return np.zeros((len(queries), t))


class Neighbours:
    """Distances to the k-th nearest of the distinct rows, in units of the scale."""

    def __init__(self, rows: Rows, scale: np.ndarray, k: int, n_jobs: int | None) -> None:
        self.rows, self.scale, self.k, self.n_jobs = rows, scale, k, n_jobs

    @functools.cached_property
    def _search(self) -> NearestNeighbors:
        # a tree for many columns too: the other algorithm takes products of points, whose differences lose digits
        return NearestNeighbors(algorithm="kd_tree", n_jobs=self.n_jobs).fit(self._placed(self.rows.X))

    def radius(self, queries: np.ndarray, own: bool) -> np.ndarray:
        """The distance at each query; with `own` the queries are rows, which are not their own neighbours."""
        k = min(self.k + own, len(self.rows.X))
        distances = self._search.kneighbors(self._placed(queries), k)[0][:, -1]
        return np.maximum(distances, _NEXT_TO_NOTHING)

    def _placed(self, points: np.ndarray) -> np.ndarray:
        return (points - self.rows.centre) / self.scale

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_search"}


def nearest_averages(
    rows: Rows, bandwidth: np.ndarray, queries: np.ndarray, own: np.ndarray | None, n_jobs: int | None
) -> np.ndarray:
    """Targets of the nearest row, measured in bandwidths; the average of those that are as near up to rounding."""
    X = (rows.X - rows.centre) / bandwidth
    found = np.empty((len(queries), rows.targets.shape[1]))

    def work(block: slice) -> None:
        distances = cdist((queries[block] - rows.centre) / bandwidth, X)
        if own is not None:
            distances[np.arange(len(distances)), own[block]] = np.inf
        nearest = distances.min(axis=1, keepdims=True)
        weights = np.where(distances <= nearest * (1 + 8 * np.finfo(np.float64).eps), rows.weights, 0.0)
        found[block] = (weights @ rows.targets) / weights.sum(axis=1, keepdims=True)

    for_row_blocks(work, len(queries), _BLOCK, n_jobs)
    return found


def log_sum(sums: Sums) -> np.ndarray:
    """Logarithms of the sums of weights."""
    with np.errstate(divide="ignore"):
        return sums.log_scale + np.log(sums.total)
