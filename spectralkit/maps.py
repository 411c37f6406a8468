"""Maps: how a row meets a node. Pure functions of one row at a time, on NumPy and torch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from spectralkit import _loops
from spectralkit._parallel import for_row_blocks
from spectralkit._validation import as_points
from spectralkit._xp import as_float64, cast_like, convert, is_torch, namespace
from spectralkit.rules import Nodes

__all__ = ["fourier"]

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
    write = waves.write_compiled if out.size >= _loops.SMALLEST_WORK and _loops.available() else waves.write
    for_row_blocks(lambda rows: write(X[rows], out[rows]), len(out), waves.rows_per_block, n_jobs)
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
        return cls(np.ascontiguousarray(frequencies.T), centre, offsets, amplitudes, nodes.width - len(offsets))

    @property
    def rows_per_block(self) -> int:
        """Fixed by the number of nodes alone; the products of a block, two megabytes, stay in cache."""
        return max(64, (1 << 18) // len(self.offsets))

    def near(self, X: Any) -> Any:
        """``x - centre`` in float64."""
        X = as_float64(X)
        return X - convert(self.centre, X)

    def turns(self, X: Any) -> Any:
        """``frequency . (x - centre)`` in float64: a float32 product would lose the phase of fast waves."""
        near = X.astype(np.float64) if sparse.issparse(X) else self.near(X)
        return near @ (convert(self.frequencies, near) if is_torch(X) else self.frequencies)

    def at(self, X: Any) -> Any:
        """The features of a block of rows, in plain array operations."""
        xp = namespace(X)
        turns = self.turns(X)
        turns = turns + convert(self.offsets, turns)
        phases = 2 * math.pi * cast_like(turns - xp.round(turns), X)
        amplitudes = convert(self.amplitudes, phases)
        cosines = amplitudes * xp.cos(phases)
        sines = amplitudes[: self.pairs] * xp.sin(phases[..., : self.pairs])
        return xp.concat([cosines[..., : self.pairs], sines, cosines[..., self.pairs :]], axis=-1)

    def write(self, X: Any, out: np.ndarray) -> None:
        """The features of a block of rows of NumPy points, into `out`."""
        out[...] = self.at(X)

    def write_compiled(self, X: Any, out: np.ndarray) -> None:
        """The same by the compiled loop."""
        amplitudes = self.amplitudes.astype(out.dtype, copy=False)
        if not sparse.issparse(X) and len(self.centre) <= FEW_COLUMNS:
            near = np.ascontiguousarray(self.near(X))
            _loops.waves_of_points(near, self.frequencies, self.offsets, amplitudes, out)
        else:
            _loops.waves_of_turns(self.turns(X), self.offsets, amplitudes, out)
