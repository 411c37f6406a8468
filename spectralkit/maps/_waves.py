"""Nodes made ready for rows: phases in turns, and the choice between the compiled loop and plain array operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from spectralkit import _loops
from spectralkit._xp import as_float64, cast_like, convert, is_torch, namespace
from spectralkit.rules import Nodes
from spectralkit.spectra import Footprint
from spectralkit.spectra.footprint import check_rows

# Up to so many columns the compiled loop multiplies as it goes; above, a BLAS product into a buffer in cache is faster.
FEW_COLUMNS = 16


@dataclass(frozen=True)
class Waves:
    """Nodes made ready for rows: column j is ``amplitude_j cos 2 pi (frequency_j . (x - centre) + offset_j)``.

    The first `pairs` frequencies have a sine as well; the others, one for an odd width, carry their phase in the
    offset. A footprint damps the amplitudes: for all rows alike beforehand, and row by row in `at` and the writers.
    """

    frequencies: np.ndarray  # (d, m), float64, rows contiguous
    centre: np.ndarray  # (d,)
    offsets: np.ndarray  # (m,) in turns
    amplitudes: np.ndarray  # (m,)
    pairs: int

    @classmethod
    def of(cls, nodes: Nodes, centre: Any) -> Waves:
        frequencies = np.asarray(nodes.frequencies, dtype=np.float64)
        centre = np.asarray(centre, dtype=np.float64)
        if centre.shape not in ((), frequencies.shape[1:]):
            raise ValueError(
                f"centre must be one number or one for each of the {frequencies.shape[1]} columns, got shape "
                f"{centre.shape}."
            )
        centre = np.full(frequencies.shape[1], centre)
        offsets = (frequencies @ centre) % 1.0
        amplitudes = np.sqrt(nodes.weights)
        if nodes.phase is not None:
            offsets[-1] += nodes.phase
            amplitudes[-1] *= math.sqrt(2)
        plain = np.ascontiguousarray(frequencies.T), centre, offsets, amplitudes, nodes.width - len(offsets)
        return cls(*plain) if nodes.products is None else StructuredWaves(*plain, products=nodes.products)

    @classmethod
    def of_encoding(cls, frequencies: Any, amplitudes: Any, origin: Any, d: int) -> Waves:
        """Waves of given amplitudes, all in phase at the origin; the frequencies of a ladder meet every column."""
        frequencies = np.asarray(frequencies, dtype=np.float64)
        if frequencies.ndim not in (1, 2) or not len(frequencies) or frequencies.shape[1:] not in ((), (d,)):
            raise ValueError(
                f"frequencies must have shape (L,), or (m, {d}) as X has {d} column(s), got {frequencies.shape}."
            )
        count = len(frequencies)
        centre, amplitudes = np.asarray(origin, dtype=np.float64), np.asarray(amplitudes, dtype=np.float64)
        if centre.shape not in ((), (d,)) or amplitudes.shape not in ((), (count,)):
            raise ValueError(
                f"origin must be one number or one for each of the {d} column(s) of X, and amplitudes one or one for "
                f"each of the {count} frequencies, got shapes {centre.shape} and {amplitudes.shape}."
            )
        centre, amplitudes = np.full(d, centre), np.full(count, amplitudes)
        if frequencies.ndim == 2:
            return Waves(np.ascontiguousarray(frequencies.T), centre, np.zeros(count), amplitudes, count)
        m = count * d
        each = np.repeat(frequencies, d)[None], centre, np.zeros(m), np.repeat(amplitudes, d), m
        return AxisWaves(*each, columns=np.tile(np.arange(d), count))

    @property
    def width(self) -> int:
        """Number of cosines and sines."""
        return len(self.offsets) + self.pairs

    @property
    def rows_per_block(self) -> int:
        """Fixed by the numbers of nodes and columns; a block's points and products, two megabytes, stay in cache."""
        return max(64, (1 << 18) // max(len(self.offsets), len(self.centre)))

    @property
    def vectors(self) -> np.ndarray:
        """The frequencies as rows, (m, d)."""
        return self.frequencies.T

    def averaged(self, footprint: Footprint | None, X: Any) -> tuple[Self, Footprint | None]:
        """The waves averaged over a footprint that all rows share, and what is left to be averaged row by row."""
        if footprint is not None:
            check_rows(footprint, X)
        if footprint is None or footprint.is_per_row or is_torch(footprint.size):
            return self, footprint
        return replace(self, amplitudes=self.amplitudes * footprint.damping(self.vectors)[0]), None

    def amplitudes_in(self, like: Any, footprint: Footprint | None) -> Any:
        """Shape (1, m), or (n, m) if every row has a footprint of its own; in the library and dtype of `like`."""
        amplitudes = convert(self.amplitudes, like)[None]
        if footprint is None:
            return amplitudes
        damping = footprint.damping(self.vectors, like)
        return damping * amplitudes if is_torch(damping) else np.multiply(damping, amplitudes, out=damping)

    def near(self, X: Any) -> Any:
        """``x - centre`` in float64."""
        X = as_float64(X)
        return X - convert(self.centre, X)

    def turns(self, X: Any) -> Any:
        """``frequency . (x - centre)`` in float64: a float32 product would lose the phase of fast waves."""
        near = X.astype(np.float64) if sparse.issparse(X) else self.near(X)
        return near @ (convert(self.frequencies, near) if is_torch(X) else self.frequencies)

    def check_reach(self, X: np.ndarray) -> None:
        """Refuse points whose phases overflow: infinitely many turns have no fraction."""
        with np.errstate(over="ignore"):
            largest = np.abs(X, dtype=np.float64).max(initial=0.0) + np.abs(self.centre).max()
            turns = largest * np.abs(self.frequencies).sum(axis=0).max()
        if not np.isfinite(turns):
            raise ValueError(
                f"The phases of X overflow: it has values of up to {largest:.3g}, and the frequencies reach "
                f"{np.abs(self.frequencies).max():.3g} cycles per unit. Scale X, or take lower frequencies."
            )

    def at(self, X: Any, footprint: Footprint | None = None) -> Any:
        """The features of a block of rows, in plain array operations."""
        xp = namespace(X)
        if self._multiplies_as_it_goes(X):
            turns = self._added_up(self.near(X))
        else:
            turns = self.turns(X)
            turns = turns + convert(self.offsets, turns)
        phases = 2 * math.pi * cast_like(turns - xp.round(turns), X)
        amplitudes = self.amplitudes_in(phases, footprint)
        cosines = amplitudes * xp.cos(phases)
        sines = amplitudes[..., : self.pairs] * xp.sin(phases[..., : self.pairs])
        return xp.concat([cosines[..., : self.pairs], sines, cosines[..., self.pairs :]], axis=-1)

    def _multiplies_as_it_goes(self, X: Any) -> bool:
        """Whether the compiled loop multiplies points by frequencies itself."""
        return len(self.centre) <= FEW_COLUMNS and not is_torch(X) and not sparse.issparse(X)

    def _added_up(self, near: np.ndarray) -> np.ndarray:
        """Turns and offsets, added up in the order of the compiled loop, so that both round alike."""
        total = np.tile(self.offsets, (len(near), 1))
        products = map(np.multiply.outer, near.T, self.frequencies)
        for _ in range(len(self.centre) // 4):
            first, second, third, fourth = (next(products) for _ in range(4))
            total += (first + second) + (third + fourth)
        for product in products:
            total += product
        return total

    def writer(self, size: int) -> Callable[[Any, np.ndarray, Footprint | None], None]:
        """What writes so many features fastest."""
        return self.write_compiled if size >= _loops.SMALLEST_WORK and _loops.available() else self.write

    def write(self, X: Any, out: np.ndarray, footprint: Footprint | None) -> None:
        """The features of a block of rows of NumPy points, into `out`."""
        out[...] = self.at(X, footprint)

    def write_compiled(self, X: Any, out: np.ndarray, footprint: Footprint | None) -> None:
        """The same by the compiled loop."""
        amplitudes = self.amplitudes_in(out, footprint)
        if self._multiplies_as_it_goes(X):
            near = np.ascontiguousarray(self.near(X))
            _loops.waves_of_points(near, self.frequencies, self.offsets, amplitudes, out)
        else:
            _loops.waves_of_turns(self.turns(X), self.offsets, amplitudes, out)


@dataclass(frozen=True)
class StructuredWaves(Waves):
    """Waves whose nodes know a faster product; torch and sparse rows take the array of frequencies."""

    products: Callable[[np.ndarray], np.ndarray]

    def turns(self, X: Any) -> Any:
        """``frequency . (x - centre)`` in float64, by the product that the nodes bring."""
        return super().turns(X) if is_torch(X) or sparse.issparse(X) else self.products(self.near(X))

    def _multiplies_as_it_goes(self, X: Any) -> bool:
        return False


@dataclass(frozen=True)
class AxisWaves(Waves):
    """Waves along the axes: each looks at one column of X, so there is nothing to sum over.

    The frequencies are (1, m), those of the waves one by one.
    """

    columns: np.ndarray  # (m,)

    @property
    def vectors(self) -> np.ndarray:
        """The frequencies as rows, (m, d), each along one axis."""
        return self.frequencies[0][:, None] * np.eye(len(self.centre))[self.columns]

    def turns(self, X: Any) -> Any:
        """``frequency (x_column - centre)``, less whole turns.

        A fast wave may take more turns than the compiled loop can count; here they are dropped whatever their number.
        """
        near = self.near(X)
        turns = near[..., self.columns] * convert(self.frequencies[0], near)
        return turns - namespace(turns).round(turns)

    def _multiplies_as_it_goes(self, X: Any) -> bool:
        return False
