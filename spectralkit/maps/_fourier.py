"""Cosines and sines of rows: weighted as their nodes say, or plain in the order of a coordinate encoding."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from spectralkit._parallel import for_row_blocks
from spectralkit._validation import as_points
from spectralkit._xp import is_torch, namespace
from spectralkit.maps._waves import Waves
from spectralkit.rules import Nodes
from spectralkit.spectra import Footprint


def fourier(
    X: Any, nodes: Nodes, centre: Any = 0.0, n_jobs: int | None = None, footprint: Footprint | None = None
) -> Any:
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
    footprint : Footprint, optional
        Return the mean of the features over a footprint around each row: each wave times its `Footprint.damping`.

    Returns
    -------
    array of shape (n, nodes.width), or tensor of shape (..., n, nodes.width)
        In the library and floating dtype of X.

    Raises
    ------
    ValueError
        If X has another number of columns than the frequencies, or the footprint is for other rows.

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
    waves, footprint = Waves.of(nodes, 0.0 if sparse.issparse(X) else centre).averaged(footprint, X)
    if is_torch(X):
        return waves.at(X, footprint)
    out = np.empty((X.shape[0], nodes.width), dtype=X.dtype)
    write = waves.writer(out.size)

    def features(rows: slice) -> None:
        write(X[rows], out[rows], footprint and footprint[rows])

    for_row_blocks(features, len(out), waves.rows_per_block, n_jobs)
    return out


def encoding(
    X: Any,
    frequencies: Any,
    order: Any = None,
    amplitudes: Any = 1.0,
    origin: Any = 0.0,
    n_jobs: int | None = None,
    footprint: Footprint | None = None,
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
    footprint : Footprint, optional
        Return the mean over a footprint around each row: each wave times its `Footprint.damping`, and the coordinates
        as they are.

    Returns
    -------
    array of shape (n, len(order)), or tensor of shape (..., n, len(order))
        In the library and floating dtype of X.

    Raises
    ------
    ValueError
        If the shapes do not agree, `order` names a column that is not there, a phase would overflow, or the footprint
        is for other rows.

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
    waves, footprint = Waves.of_encoding(frequencies, amplitudes, origin, X.shape[-1]).averaged(footprint, X)
    order = np.arange(waves.width) if order is None else np.asarray(order)
    if order.size and not 0 <= order.min() <= order.max() < waves.width + X.shape[-1]:
        raise ValueError(
            f"order must name columns from 0 to {waves.width + X.shape[-1] - 1}, the waves and then the coordinates, "
            f"got {order.min()} to {order.max()}."
        )
    if is_torch(X):
        return namespace(X).concat([waves.at(X, footprint), X], axis=-1)[..., order]
    waves.check_reach(X)
    out = np.empty((len(X), len(order)), dtype=X.dtype)
    write = waves.writer(out.size)
    has_coordinates = (order >= waves.width).any()

    def arrange(rows: slice) -> None:
        block = np.empty((rows.stop - rows.start, waves.width), dtype=X.dtype)
        write(X[rows], block, footprint and footprint[rows])
        if has_coordinates:
            block = np.concatenate([block, X[rows]], axis=1)
        np.take(block, order, axis=1, out=out[rows], mode="clip")  # "raise" would fill a copy first

    for_row_blocks(arrange, len(out), max(64, waves.rows_per_block // 4), n_jobs)  # the block is held twice
    return out
