"""Maps: how a row meets a node. Pure functions of one row at a time, on NumPy and torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spectralkit._xp import as_float64, cast_like, convert, namespace
from spectralkit.rules import Nodes

__all__ = ["fourier"]


def fourier(X: Any, nodes: Nodes, centre: Any = 0.0) -> Any:
    r"""Map rows to weighted cosines and sines: :math:`\sqrt{w_j}\cos 2\pi\omega_j\cdot x` and the sines after them.

    .. math:: z(x)\cdot z(y) = \sum_j w_j \cos\bigl(2\pi\,\omega_j\cdot(x - y)\bigr)

    If the nodes have a phase, the last column is :math:`\sqrt{2w}\cos 2\pi(\omega\cdot x + \mathrm{phase})` of the last
    node.

    Parameters
    ----------
    X : array or tensor of shape (..., n, d)
        Points.
    nodes : Nodes
        Frequencies in cycles per unit of X, weights and phase.
    centre : float or array of shape (d,), default=0.0
        A point near the rows of X. It changes nothing but rounding: phases are computed as
        ``omega . (x - centre) + (omega . centre mod 1)`` with the second term, and the difference, in double precision.

    Returns
    -------
    array or tensor of shape (..., n, nodes.width)
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
    frequencies = np.asarray(nodes.frequencies, dtype=np.float64)
    if X.shape[-1] != frequencies.shape[1]:
        raise ValueError(f"X has {X.shape[-1]} column(s), but the frequencies have {frequencies.shape[1]}.")
    xp = namespace(X)
    X64 = as_float64(X)
    centre = np.broadcast_to(np.asarray(centre, dtype=np.float64), frequencies.shape[1:])
    near = cast_like(X64 - convert(centre, X64), X)
    turns = near @ convert(frequencies, X).T + convert((frequencies @ centre) % 1.0, X)
    phases = 2 * math.pi * (turns - xp.round(turns))
    amplitudes = convert(np.sqrt(nodes.weights), X)
    if nodes.phase is None:
        return xp.concat([amplitudes * xp.cos(phases), amplitudes * xp.sin(phases)], axis=-1)
    paired, single = phases[..., :-1], phases[..., -1:]
    return xp.concat(
        [
            amplitudes[:-1] * xp.cos(paired),
            amplitudes[:-1] * xp.sin(paired),
            math.sqrt(2) * amplitudes[-1] * xp.cos(single + 2 * math.pi * nodes.phase),
        ],
        axis=-1,
    )
