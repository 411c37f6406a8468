"""Sums by non-uniform Fourier transforms, for up to three columns and kernels with a compact spectrum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spectralkit.attention._rows import Rows
from spectralkit.attention._sums import Sums
from spectralkit.attention._weighting import Exponential, Weighting
from spectralkit.nufft import KernelSums
from spectralkit.spectra import CapabilityError

__all__ = ["FastSums", "chosen_method", "is_cheap", "wants_transforms", "why_not_fast"]

MANY = 20_000  # distinct rows from which "auto" takes transforms, where they can be had

CUTOFF_TOL = 1e-8  # a spectrum that is wider at this tolerance than memory holds is not fit for the method
_CHEAP = 1 << 25  # bytes of grids that are no matter
_FINEST = 1e-12  # tolerance of the transforms
_SHARE = 1e-4  # of the accuracy of averages, that the transforms are asked for: one for sums of weights from k(0) on

# Errors of the sums are below the tolerance times k(0) and the root of the sum of squares of what is summed; the worst
# that was measured is a quarter of that, for bandwidths from .02 to 1 standard deviations of 1e4 to 1e6 points.


def wants_transforms(method: str, rows: Rows) -> bool:
    """Whether the method is to take transforms where they can be had."""
    return method == "nufft" or (method == "auto" and len(rows.X) >= MANY)


def chosen_method(method: str, weighting: Weighting, rows: Rows, degree: int = 0) -> tuple[str, str]:
    """The method, "exact" or "nufft", and why it is not the other one, where that was a choice."""
    if method == "exact":
        return "exact", ""
    if not wants_transforms(method, rows):
        return "exact", f"method='auto' takes the exact method for fewer than {MANY} distinct rows."
    why_not = why_not_fast(weighting, rows, degree)
    return ("nufft", "") if why_not is None else ("exact", why_not)


def why_not_fast(weighting: Weighting, rows: Rows, degree: int = 0) -> str | None:
    """Why the sums cannot be had in this way, as a sentence; None if they can."""
    measure, d = weighting.measure, rows.X.shape[1]
    if measure is None:
        return "method='nufft' is for the kernels of measures. Use method='exact'."
    if d > 3:
        return f"method='nufft' is for up to 3 columns, and X has {d}. Use method='exact'."
    if degree > 0 and not isinstance(weighting, Exponential):
        return f"method='nufft' fits local lines with Gaussian kernels only, not with {measure!r}. Use method='exact'."
    try:
        for tol in (CUTOFF_TOL, _FINEST):
            KernelSums.bytes_needed(measure, rows.corners, tol=tol)
    except (ValueError, CapabilityError) as error:
        return f"{error} That is what method='exact' does."
    return None


def is_cheap(weighting: Weighting, rows: Rows, degree: int) -> bool:
    """Whether the sums can be had in this way, from grids that take no longer than the rows or a sample of them."""
    measure = weighting.measure
    if measure is None or why_not_fast(weighting, rows, degree) is not None:
        return False
    return KernelSums.bytes_needed(measure, rows.corners, tol=CUTOFF_TOL) < _CHEAP + 100 * len(rows.X)


class FastSums:
    """Sums of values with the weights of one or several weightings, from two transforms.

    Sums of weights are reliable where their relative error is at most `accuracy`.
    """

    def __init__(
        self,
        weightings: Sequence[Weighting],
        rows: Rows,
        values: np.ndarray,
        accuracy: float = 1e-8,
        n_jobs: int | None = None,
    ) -> None:
        measures = [measure for weighting in weightings if (measure := weighting.measure) is not None]
        self._weighted = np.column_stack([rows.weights, rows.weights[:, None] * values])
        self._masses = [float(measure.mass) for measure in measures]
        self._bandwidths = [weighting.bandwidth for weighting in weightings]
        tol = max(accuracy * _SHARE, _FINEST)
        self._sums = KernelSums(measures, rows.X, self._weighted, tol=tol, n_jobs=n_jobs)
        self._smallest = tol / accuracy * float(np.linalg.norm(rows.weights))

    def at(
        self, queries: np.ndarray | None = None, own: np.ndarray | None = None, which: int = 0
    ) -> tuple[Sums, np.ndarray]:
        """Sums at the queries, all rows if there are none, and for which of them they are reliable.

        Each leaves out the row of the number `own`, if given; rows as queries leave out themselves.
        """
        return self._without_own(self._sums.at(queries, which=which), queries, own, which)

    def _without_own(
        self, sums: np.ndarray, queries: np.ndarray | None, own: np.ndarray | None, which: int
    ) -> tuple[Sums, np.ndarray]:
        """What is left of sums over all rows, and where that is reliable."""
        if queries is None or own is not None:
            sums -= self._masses[which] * (self._weighted if queries is None else self._weighted[own])
        reliable = sums[:, 0] > self._smallest * self._masses[which]
        return Sums(np.zeros(len(sums)), np.where(reliable, sums[:, 0], 0.0), sums[:, 1:]), reliable

    def around(
        self, queries: np.ndarray | None = None, own: np.ndarray | None = None, which: int = 0
    ) -> tuple[Sums, np.ndarray]:
        r"""The same with the sums of the columns that local lines take, of lags in bandwidths from each query.

        For Gaussian weights they are derivatives, for :math:`z = (x_i - x)/h` with respect to x,

        .. math:: \sum_i k z_p v_i = h_p \partial_p \sum_i k v_i, \qquad
                  \sum_i k z_p z_q v_i = (h_p h_q \partial_p\partial_q + \delta_{pq}) \sum_i k v_i
        """
        h = self._bandwidths[which]
        full = self._sums.at(queries, which=which)
        weights = full[:, 0].copy()  # what a row adds to its own sum it takes from its own second derivative
        sums, reliable = self._without_own(full, queries, own, which)
        once = np.eye(len(h), dtype=int)
        first = np.stack(
            [h[p] * self._sums.at(queries, which=which, derivative=once[p]) for p in range(len(h))], axis=1
        )
        second = []
        for p, q in zip(*np.triu_indices(len(h)), strict=True):
            found = h[p] * h[q] * self._sums.at(queries, which=which, derivative=once[p] + once[q])[:, 0]
            second.append(found + weights if p == q else found)
        with_targets = first[:, :, 1:].reshape(len(first), -1)
        values = np.hstack([sums.values, first[:, :, 0], np.stack(second, axis=1), with_targets])
        return Sums(sums.log_scale, sums.total, values), reliable
