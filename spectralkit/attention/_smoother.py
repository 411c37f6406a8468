"""Estimates at queries from rows: sums by one of the methods, local fits of them, and what stands in for no row."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from spectralkit._parallel import for_row_blocks
from spectralkit.attention._fast import FastSums, why_not_fast
from spectralkit.attention._local import linear_fits, value_columns
from spectralkit.attention._rows import Rows
from spectralkit.attention._sums import Sums, exact_sums
from spectralkit.attention._weighting import Weighting

__all__ = ["EMPTY", "Smoother"]

EMPTY = ("nearest", "mean", "nan", "raise")
_QUERIES = 1 << 14  # whose sums for linear fits are in memory at a time
_BLOCK = 128

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
        smoother = Smoother(some, self.scale, 0, self.empty if self.empty != "raise" else "nearest", None, self.n_jobs)
        smoother.neighbours = self.neighbours
        return smoother

    def values(self, weighting: Weighting) -> np.ndarray:
        """The columns that are summed."""
        return value_columns(self._near(weighting, self.rows.X), self.rows.targets, self.degree)

    def sums(
        self,
        weighting: Weighting,
        queries: np.ndarray,
        own: np.ndarray | None = None,
        values: np.ndarray | None = None,
        slopes: bool = False,
    ) -> Sums:
        """Sums of the values that local fits take, or of others, by the exact method."""
        return exact_sums(
            weighting,
            queries,
            self.rows.X,
            self.rows.weights,
            self.values(weighting) if values is None else values,
            centre=self.rows.centre,
            radius=None if self.neighbours is None else self.neighbours.radius(queries, own is not None),
            own=own,
            slopes=slopes,
            single=values is None and self.degree == 0,
            n_jobs=self.n_jobs,
        )

    def weights(self, weighting: Weighting, queries: np.ndarray, is_fast: bool) -> Sums:
        """Sums of the weights alone."""
        nothing = np.zeros((len(self.rows.X), 0))
        if not is_fast or why_not_fast(weighting, self.rows) is not None:
            return self.sums(weighting, queries, values=nothing)
        sums, reliable = FastSums([weighting], self.rows, nothing, n_jobs=self.n_jobs).at(queries)
        sums.put(~reliable, self.sums(weighting, queries[~reliable], values=nothing))
        return sums

    def fits(self, weighting: Weighting, sums: Sums, queries: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        """Local fits from sums, with what stands in for empty neighbourhoods."""
        t = self.rows.targets.shape[1]
        if self.degree == 0:
            found = sums.averages()[:, :t]
        else:
            largest = float(np.square(self._near(weighting, self.rows.X)).sum(axis=1).max())
            rounding = 1e6 * float(np.finfo(np.float64).eps) * largest
            found = linear_fits(sums, self._near(weighting, queries), t, rounding)[0]
        nothing = sums.total == 0
        if nothing.any():
            found[nothing] = self._instead(weighting, queries[nothing], None if own is None else own[nothing])
        return found

    def _near(self, weighting: Weighting, points: np.ndarray) -> np.ndarray:
        """Points counted from the centre of the rows, in bandwidths."""
        return (points - self.rows.centre) / weighting.bandwidth

    def _instead(self, weighting: Weighting, queries: np.ndarray, own: np.ndarray | None) -> np.ndarray:
        """What stands in for the average over no row."""
        t = self.rows.targets.shape[1]
        others = len(self.rows.X) - (own is not None)
        if self.empty == "nearest" and others > 0:
            return nearest_averages(self.rows, weighting.bandwidth, queries, own, self.n_jobs)
        if self.empty == "nan" and own is None:
            return np.full((len(queries), t), np.nan)
        if self.empty == "raise" and own is None:
            raise ValueError(
                f"{len(queries)} row(s) of X have no training row within the kernel's reach, the first is "
                f"{queries[0].tolist()}. Take a larger bandwidth, or empty='nearest', 'mean' or 'nan'."
            )
        return np.zeros((len(queries), t))


class Neighbours:
    """Distances to the k-th nearest of the distinct rows, in units of the scale."""

    def __init__(self, rows: Rows, scale: np.ndarray, k: int, n_jobs: int | None) -> None:
        self.k, self.scale = min(k, max(len(rows.X) - 1, 1)), scale
        self.search = NearestNeighbors(n_jobs=n_jobs).fit(rows.X / self.scale)

    def radius(self, queries: np.ndarray, own: bool) -> np.ndarray:
        """The distance at each query; with `own` the queries are rows, which are not their own neighbours."""
        k = self.k + own
        distances = self.search.kneighbors(queries / self.scale, min(k, self.search.n_samples_fit_))[0][:, -1]
        return np.where(distances > 0, distances, 1.0)


def nearest_averages(
    rows: Rows, bandwidth: np.ndarray, queries: np.ndarray, own: np.ndarray | None, n_jobs: int | None
) -> np.ndarray:
    """Targets of the nearest row, measured in bandwidths; the average of those that are as near up to rounding."""
    X = rows.X / bandwidth
    found = np.empty((len(queries), rows.targets.shape[1]))

    def work(block: slice) -> None:
        distances = cdist(queries[block] / bandwidth, X)
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


def effective_counts(once: Sums, squared: Sums) -> np.ndarray:
    """Squares of the sums of weights over the sums of their squares; 0 where no row has weight."""
    logs = 2 * log_sum(once) - log_sum(squared)
    return np.where(once.total > 0, np.exp(np.where(once.total > 0, logs, 0.0)), 0.0)


def root(values: np.ndarray) -> np.ndarray:
    """Square roots of averages that rounding may have made negative."""
    return np.sqrt(np.maximum(values, 0.0))
