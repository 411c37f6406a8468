"""Grids of frequencies on which kernels are sums of cosines, to a stated error, for all lags that data have."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spectralkit.nufft._transforms import LARGEST_GRID
from spectralkit.spectra import SpectralMeasure

UPSAMPLING = 2.0  # 1.25 takes smaller grids, but cannot reach the tolerances below
TRANSFORM_SHARE = 40  # the transforms are asked for tol / 40, and their worst errors, together, are below 20 times that
_ROUNDING = 5e-15  # of both transforms, for each turn of the phase over the period
_CELL, _POINT, _CALL = 30.0, 0.45, 2e5  # nanoseconds: Fourier transform of a cell, a point's use of one, and a call


class Need(NamedTuple):
    """What one kernel takes: frequencies up to `cutoff`, and images that are `support` away from any lag."""

    measure: SpectralMeasure
    cutoff: np.ndarray
    support: np.ndarray

    def half(self, period: np.ndarray) -> np.ndarray:
        """Number of frequencies on either side of zero, as floats, whatever their size."""
        return np.ceil(self.cutoff * period)


class Group(NamedTuple):
    """Kernels whose frequencies are multiples of the same spacing, one over the period."""

    members: list[int]
    period: np.ndarray
    half: np.ndarray  # of the largest grid


def needs(measures: Sequence[SpectralMeasure], extent: np.ndarray, tol: float) -> list[Need]:
    """What each kernel takes for points in a box of this extent, or an error that says why it cannot be had."""
    d = len(extent)
    if not 1 <= d <= 3:
        raise ValueError(
            f"KernelSums takes points of 1 to 3 columns, got {d}. Choose columns of X, or multiply measure.gram(X, Y) "
            "with the values."
        )
    found = []
    for measure in measures:
        measure.require("density", "cutoff", "support", d=d)
        alias = tol / 8 / (3**d + 2)
        need = Need(measure, measure.cutoff(tol / 4, d), measure.support(alias, d))
        if not (need.support * 3 >= measure.support(alias * 3 ** (-0.99 * (d + 1)), d)).all():
            raise ValueError(
                f"The kernel of {measure!r} falls off too slowly to be repeated: along every column it must fall at "
                f"least like the distance to the power {-d - 1} where it reaches tol={tol:g}. Multiply "
                "measure.gram(X, Y) with the values, in blocks."
            )
        counts = 2 * need.half(extent + 2 * need.support) + 1
        if (size := grid_bytes(counts)) > LARGEST_GRID:
            raise ValueError(
                f"{measure!r} needs a grid of {' x '.join(f'{count:.4g}' for count in counts)} frequencies for "
                f"tol={tol:g} on points that extend over {extent.tolist()}, about {size / 2**30:.3g} GiB, and at most "
                f"{LARGEST_GRID / 2**30:.3g} GiB are allowed. Take a larger tol or a smoother or wider kernel, or "
                "multiply measure.gram(X, Y) with the values, in blocks."
            )
        found.append(need)
    return found


def grid_bytes(counts: np.ndarray) -> float:
    """Memory of the sums on a grid, their product with the weights, the grid inside the transform, and the weights."""
    return float(np.prod(counts)) * (16 * (2 + UPSAMPLING ** len(counts)) + 8)


def groups(kernels: list[Need], extent: np.ndarray, n: int, tol: float) -> list[Group]:
    """Share out the kernels, so that those of one group take their frequencies from one transform of the sources.

    Wide kernels need a fine spacing and narrow ones a high cutoff, so that one grid for all would be larger than any of
    them needs; every further grid takes another transform of the n sources. The cheapest runs in the order of width.
    """
    d = len(extent)
    order = sorted(range(len(kernels)), key=lambda i: (float(np.prod(extent + 2 * kernels[i].support)), i))
    sources = _CALL + n * _POINT * (math.log10(TRANSFORM_SHARE / tol) + 2) ** d
    best: list[tuple[float, list[Group]]] = [(0.0, [])]
    for stop in range(1, len(order) + 1):
        choices = []
        for start in range(stop):
            group = _group([kernels[i] for i in order[start:stop]], order[start:stop], extent)
            cells = [np.prod(2 * kernels[i].half(group.period) + 1) for i in group.members]
            counts = 2 * group.half + 1
            cost = sources + _CELL * UPSAMPLING**d * float(np.prod(counts) + np.sum(cells))
            if start == stop - 1 or grid_bytes(counts) <= LARGEST_GRID:
                choices.append((best[start][0] + cost, [*best[start][1], group]))
        best.append(min(choices, key=lambda choice: choice[0]))
    return best[-1][1]


def _group(kernels: list[Need], members: list[int], extent: np.ndarray) -> Group:
    period = extent + 2 * np.max([need.support for need in kernels], axis=0)
    return Group(members, period, np.max([need.half(period) for need in kernels], axis=0))


def total_bytes(kernels: list[Need], chosen: list[Group], transforms: int) -> float:
    """Memory of all grids that are kept, and of the largest transform."""
    kept = sum(16.0 * transforms * np.prod(2 * group.half + 1) for group in chosen)
    cells = [np.prod(2 * kernels[i].half(group.period) + 1) for group in chosen for i in group.members]
    inside = 16 * (1 + UPSAMPLING ** len(chosen[0].half)) * max(np.prod(2 * group.half + 1) for group in chosen)
    return float(kept + 8 * np.sum(cells) + inside)


def weights(measure: SpectralMeasure, period: np.ndarray, half: tuple[int, ...]) -> np.ndarray:
    """Density times the volume of a cell, at ``-half, ..., half`` of one over the period along each axis."""
    axes = [np.arange(-h, h + 1) / p for h, p in zip(half, period, strict=True)]
    if "factors" in measure.capabilities(len(half)):
        factors = measure.factors(len(half))
        if all("density" in factor.capabilities(1) for factor in factors):
            lines = [f.density(axis[:, None]) / p for f, axis, p in zip(factors, axes, period, strict=True)]
            return _finite(measure, functools.reduce(np.multiply.outer, lines))
    shape = tuple(map(len, axes))
    found = np.empty(math.prod(shape))
    middle = len(found) // 2  # the zero; what stands before it is the mirror of what stands behind
    for start in range(middle, len(found), _BLOCK):
        places = np.unravel_index(np.arange(start, min(start + _BLOCK, len(found))), shape)
        omega = np.stack([axis[place] for axis, place in zip(axes, places, strict=True)], axis=-1)
        found[start : start + len(omega)] = measure.density(omega) / np.prod(period)
    found[:middle] = found[:middle:-1]
    return _finite(measure, found.reshape(shape))


_BLOCK = 1 << 17


def _finite(measure: SpectralMeasure, found: np.ndarray) -> np.ndarray:
    if not np.isfinite(found).all():
        raise ValueError(
            f"KernelSums needs a finite density, but that of {measure!r} is infinite at frequency zero. Multiply "
            "measure.gram(X, Y) with the values, in blocks."
        )
    return found


def bound(measure: SpectralMeasure, found: np.ndarray, tol: float) -> float:
    """Largest error of a sum over the sum of the absolute values: cut off, repeated, transformed, rounded."""
    mass, total = float(measure.mass), float(found.sum())
    turns = 0.0
    for axis, count in enumerate(found.shape):
        line = found.sum(axis=tuple(i for i in range(found.ndim) if i != axis))
        turns += float(line @ abs(np.arange(count) - count // 2))
    missing = max(mass - total, 0.0)
    return missing + mass * (tol / 4 + tol / 2) + _ROUNDING * (turns + mass)


def as_measures(measures: Any) -> tuple[SpectralMeasure, ...]:
    """One measure or several as a tuple."""
    if isinstance(measures, SpectralMeasure):
        return (measures,)
    several = tuple(measures) if isinstance(measures, (list, tuple)) else ()
    if not several or not all(isinstance(measure, SpectralMeasure) for measure in several):
        raise TypeError(f"measures must be a measure or a list of measures, got {measures!r}.")
    return several


class Squared:
    """A measure with the grid that the square of its density takes."""

    def __init__(self, measure: SpectralMeasure) -> None:
        self._measure = measure

    def __getattr__(self, name: str) -> Any:
        return getattr(self._measure, name)

    def __repr__(self) -> str:
        return repr(self._measure)

    def cutoff(self, tol: float, d: int) -> np.ndarray:
        """Beyond it the integral is at most the mass there times the largest density there, for k >= 0 on an axis."""
        if "nonnegative" in self.capabilities(d):
            for mass in np.geomspace(0.5, tol, 1 + math.ceil(6 * math.log10(0.5 / tol))):
                half = np.broadcast_to(self._measure.cutoff(float(mass), d), (d,))
                along = np.concatenate([np.diag(half * further) for further in (1.0, 1.3, 1.7, 2.2)])  # past zeros
                if mass * self.density(along).max() <= tol * self.density(np.zeros((1, d)))[0]:
                    return half
        return self._measure.cutoff(tol, d)

    def support(self, tol: float, d: int) -> np.ndarray:
        """Half of the lag where k * k is as small; with a margin, as repetitions count from half their distance."""
        return self._measure.support(tol / 4, d)
