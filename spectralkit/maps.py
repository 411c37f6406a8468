"""Maps: how a row meets a node. Pure functions of one row at a time, on NumPy and torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from spectralkit import _loops
from spectralkit._parallel import for_row_blocks
from spectralkit._validation import as_points
from spectralkit._xp import as_float64, cast_like, convert, is_torch, namespace
from spectralkit.rules import Nodes

__all__ = ["encoding", "fourier"]

# Up to so many columns the compiled loop multiplies as it goes; above, a BLAS product into a buffer in cache is faster.
FEW_COLUMNS = 16


def fourier(X: Any, nodes: Nodes, centre: Any = 0.0, n_jobs: int | None = None) -> Any:
    r"""Map rows to weighted cosines and sines: :math:`\sqrt{w_j}\cos 2\pi\omega_j\cdot x` and the sines after them.

    .. math:: z(x)\cdot z(y) = \sum_j w_j \cos\bigl(2\pi\,\omega_j\cdot(x - y)\bigr)

    If the nodes have a phase, the last column is :math:`\sqrt{2w}\cos 2\pi(\omega\cdot x + \mathrm{phase})` of the last
    node.

    Parameters
    ----------
    X : array of shape (n, d), sparse array of shape (n, d), or tensor of shape (..., n, d)
        Points.
    nodes : Nodes
        Frequencies in cycles per unit of X, weights and phase.
    centre : float or array of shape (d,), default=0.0
        A point near the rows of X. It changes nothing but rounding: phases are computed as
        ``omega . (x - centre) + (omega . centre mod 1)`` with the second term, and the difference, in double precision.
        Sparse X is not centred.
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result. Torch has its own.

    Returns
    -------
    array of shape (n, nodes.width), or tensor of shape (..., n, nodes.width)
        In the library and floating dtype of X.

    Raises
    ------
    ValueError
        If X has another number of columns than the frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.maps import fourier
    >>> from spectralkit.rules import Nodes
    >>> nodes = Nodes(np.array([[0.25]]), np.array([4.0]))
    >>> fourier(np.array([[0.0], [1.0]]), nodes).round(12)
    array([[2., 0.],
           [0., 2.]])
    """
    if not sparse.issparse(X):
        X = as_points(X, "X", rows=True)
    d = nodes.frequencies.shape[1]
    if X.shape[-1] != d:
        raise ValueError(f"X has {X.shape[-1]} column(s), but the frequencies have {d}; they must agree.")
    waves = _Waves.of(nodes, 0.0 if sparse.issparse(X) else centre)
    if is_torch(X):
        return waves.at(X)
    out = np.empty((X.shape[0], nodes.width), dtype=X.dtype)
    write = waves.writer(out.size)
    for_row_blocks(lambda rows: write(X[rows], out[rows]), len(out), waves.rows_per_block, n_jobs)
    return out


def encoding(
    X: Any, frequencies: Any, order: Any = None, amplitudes: Any = 1.0, origin: Any = 0.0, n_jobs: int | None = None
) -> Any:
    r"""Map rows to plain cosines and sines, with the coordinates among them, in any order of columns.

    .. math:: \bigl[\cos 2\pi\omega_j\cdot(x - o) \;\big|\; \sin 2\pi\omega_j\cdot(x - o) \;\big|\; x\bigr]

    Parameters
    ----------
    X : array of shape (n, d), or tensor of shape (..., n, d)
        Points.
    frequencies : array of shape (L,) or (m, d)
        In cycles per unit of X. L frequencies are a ladder: each meets every column on its own, in m = L d waves, all
        columns of the first frequency, then all of the second, and so on.
    order : array of int, optional
        Which columns of the formula to return, in which order. The cosines are 0 to m - 1, the sines come after them,
        and the coordinates are the last d. None: the cosines and the sines.
    amplitudes : float or array of shape (len(frequencies),), default=1.0
        Factors on the waves of each frequency.
    origin : float or array of shape (d,), default=0.0
        The point o, where every phase is zero.
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result. Torch has its own.

    Returns
    -------
    array of shape (n, len(order)), or tensor of shape (..., n, len(order))
        In the library and floating dtype of X.

    Raises
    ------
    ValueError
        If the shapes do not agree, `order` names a column that is not there, or a phase would overflow.

    Notes
    -----
    Phases are counted in turns, in double precision, and whole turns are dropped before the cosine is taken. Where a
    frequency is a power of two and the origin 0, both steps are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.maps import encoding
    >>> encoding(np.array([[0.125, 0.25]]), [1.0, 2.0], order=[8, 9, 4, 5, 0, 1]).round(3)
    array([[0.125, 0.25 , 0.707, 1.   , 0.707, 0.   ]])
    """
    X = as_points(X, "X", rows=True)
    waves = _Waves.of_encoding(frequencies, amplitudes, origin, X.shape[-1])
    order = np.arange(waves.width) if order is None else np.asarray(order)
    if order.size and not 0 <= order.min() <= order.max() < waves.width + X.shape[-1]:
        raise ValueError(
            f"order must name columns from 0 to {waves.width + X.shape[-1] - 1}, the waves and then the coordinates, "
            f"got {order.min()} to {order.max()}."
        )
    if is_torch(X):
        return namespace(X).concat([waves.at(X), X], axis=-1)[..., order]
    waves.check_reach(X)
    out = np.empty((len(X), len(order)), dtype=X.dtype)
    write = waves.writer(out.size)
    has_coordinates = (order >= waves.width).any()

    def arrange(rows: slice) -> None:
        block = np.empty((rows.stop - rows.start, waves.width), dtype=X.dtype)
        write(X[rows], block)
        if has_coordinates:
            block = np.concatenate([block, X[rows]], axis=1)
        np.take(block, order, axis=1, out=out[rows], mode="clip")  # "raise" would fill a copy first

    for_row_blocks(arrange, len(out), max(64, waves.rows_per_block // 4), n_jobs)  # the block is held twice
    return out


@dataclass(frozen=True)
class _Waves:
    """Nodes made ready for rows: column j is ``amplitude_j cos 2 pi (frequency_j . (x - centre) + offset_j)``.

    The first `pairs` frequencies have a sine as well; the others, one for an odd width, carry their phase in the
    offset.
    """

    frequencies: np.ndarray  # (d, m), float64, rows contiguous
    centre: np.ndarray  # (d,)
    offsets: np.ndarray  # (m,) in turns
    amplitudes: np.ndarray  # (m,)
    pairs: int

    @classmethod
    def of(cls, nodes: Nodes, centre: Any) -> _Waves:
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
        return cls(*plain) if nodes.products is None else _StructuredWaves(*plain, products=nodes.products)

    @classmethod
    def of_encoding(cls, frequencies: Any, amplitudes: Any, origin: Any, d: int) -> _Waves:
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
            return _Waves(np.ascontiguousarray(frequencies.T), centre, np.zeros(count), amplitudes, count)
        m = count * d
        each = np.repeat(frequencies, d)[None], centre, np.zeros(m), np.repeat(amplitudes, d), m
        return _AxisWaves(*each, columns=np.tile(np.arange(d), count))

    @property
    def width(self) -> int:
        """Number of cosines and sines."""
        return len(self.offsets) + self.pairs

    @property
    def rows_per_block(self) -> int:
        """Fixed by the numbers of nodes and columns; a block's points and products, two megabytes, stay in cache."""
        return max(64, (1 << 18) // max(len(self.offsets), len(self.centre)))

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

    def at(self, X: Any) -> Any:
        """The features of a block of rows, in plain array operations."""
        xp = namespace(X)
        if self._multiplies_as_it_goes(X):
            turns = self._added_up(self.near(X))
        else:
            turns = self.turns(X)
            turns = turns + convert(self.offsets, turns)
        phases = 2 * math.pi * cast_like(turns - xp.round(turns), X)
        amplitudes = convert(self.amplitudes, phases)
        cosines = amplitudes * xp.cos(phases)
        sines = amplitudes[: self.pairs] * xp.sin(phases[..., : self.pairs])
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

    def writer(self, size: int) -> Callable[[Any, np.ndarray], None]:
        """What writes so many features fastest."""
        return self.write_compiled if size >= _loops.SMALLEST_WORK and _loops.available() else self.write

    def write(self, X: Any, out: np.ndarray) -> None:
        """The features of a block of rows of NumPy points, into `out`."""
        out[...] = self.at(X)

    def write_compiled(self, X: Any, out: np.ndarray) -> None:
        """The same by the compiled loop."""
        amplitudes = self.amplitudes.astype(out.dtype, copy=False)
        if self._multiplies_as_it_goes(X):
            near = np.ascontiguousarray(self.near(X))
            _loops.waves_of_points(near, self.frequencies, self.offsets, amplitudes, out)
        else:
            _loops.waves_of_turns(self.turns(X), self.offsets, amplitudes, out)


@dataclass(frozen=True)
class _StructuredWaves(_Waves):
    """Waves whose nodes know a faster product; torch and sparse rows take the array of frequencies."""

    products: Callable[[np.ndarray], np.ndarray]

    def turns(self, X: Any) -> Any:
        """``frequency . (x - centre)`` in float64, by the product that the nodes bring."""
        return super().turns(X) if is_torch(X) or sparse.issparse(X) else self.products(self.near(X))

    def _multiplies_as_it_goes(self, X: Any) -> bool:
        return False


@dataclass(frozen=True)
class _AxisWaves(_Waves):
    """Waves along the axes: each looks at one column of X, so there is nothing to sum over.

    The frequencies are (1, m), those of the waves one by one.
    """

    columns: np.ndarray  # (m,)

    def turns(self, X: Any) -> Any:
        """``frequency (x_column - centre)``, less whole turns.

        A fast wave may take more turns than the compiled loop can count; here they are dropped whatever their number.
        """
        near = self.near(X)
        turns = near[..., self.columns] * convert(self.frequencies[0], near)
        return turns - namespace(turns).round(turns)

    def _multiplies_as_it_goes(self, X: Any) -> bool:
        return False
