"""Sums by non-uniform Fourier transforms, for up to three columns and kernels with a compact spectrum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spectralkit.attention._rows import Rows
from spectralkit.attention._sums import Sums
from spectralkit.attention._weighting import Weighting
from spectralkit.nufft import KernelSums
from spectralkit.spectra import CapabilityError

__all__ = ["FastSums", "why_not_fast"]

CUTOFF_TOL = 1e-8  # a spectrum that is wider at this tolerance than memory holds is not fit for the method
_FINEST = 1e-12  # tolerance of the transforms
_SHARE = 1e-4  # of the accuracy of averages, that the transforms are asked for: one for sums of weights from k(0) on

# Errors of the sums are below the tolerance times k(0) and the root of the sum of squares of what is summed; the worst
# that was measured is a quarter of that, for bandwidths from .02 to 1 standard deviations of 1e4 to 1e6 points.


def why_not_fast(weighting: Weighting, rows: Rows) -> str | None:
    """Why the sums cannot be had in this way, as a sentence; None if they can."""
    measure, d = weighting.measure, rows.X.shape[1]
    if measure is None:
        return "method='nufft' is for the kernels of measures. Use method='exact'."
    if d > 3:
        return f"method='nufft' is for up to 3 columns, and X has {d}. Use method='exact'."
    try:
        KernelSums.bytes_needed([measure], rows.X, tol=CUTOFF_TOL)
        KernelSums.bytes_needed([measure], rows.X, tol=_FINEST)
    except (ValueError, CapabilityError) as error:
        return f"{error} That is what method='exact' does."
    return None


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
        tol = max(accuracy * _SHARE, _FINEST)
        self._sums = KernelSums(measures, rows.X, self._weighted, tol=tol, n_jobs=n_jobs)
        self._smallest = tol / accuracy * float(np.linalg.norm(rows.weights))

    def at(
        self, queries: np.ndarray | None = None, own: np.ndarray | None = None, which: int = 0
    ) -> tuple[Sums, np.ndarray]:
        """Sums at the queries, all rows if there are none, and for which of them they are reliable.

        Each leaves out the row of the number `own`, if given; rows as queries leave out themselves.
        """
        sums = self._sums.at(queries, which=which)
        if queries is None:
            sums -= self._masses[which] * self._weighted
        elif own is not None:
            sums -= self._masses[which] * self._weighted[own]
        reliable = sums[:, 0] > self._smallest * self._masses[which]
        return Sums(np.zeros(len(sums)), np.where(reliable, sums[:, 0], 0.0), sums[:, 1:]), reliable
