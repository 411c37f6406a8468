"""Directions that point away from each other: blocks of d frequencies whose unit vectors sum to zero."""

from __future__ import annotations

import numpy as np

from spectralkit.rules._random import RandomRule, in_blocks_of_directions
from spectralkit.spectra import SpectralMeasure


class Simplex(RandomRule):
    r"""Simplex directions, independent radii: blocks of d frequencies whose unit vectors sum to zero.

    .. math:: s_i \cdot s_j = -\frac{1}{d - 1}, \qquad i \neq j

    The directions of a block are the vertices of a regular simplex, turned by a random orthogonal matrix (Haar), so
    that each of them is uniform on the sphere. The last block may be incomplete. In one column the directions are
    independent signs.

    It is meant for positive features, whose leading errors are odd in the frequency and nearly cancel within a block.
    Fourier features are even in it and gain nothing: for them "orthogonal" is as good or better.

    References
    ----------
    I. Reid, K. Choromanski, V. Likhosherstov and A. Weller, "Simplex random features", ICML 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import Simplex
    >>> omega = Simplex()(Gaussian(0.1), n_components=6, d=3, seed=0).frequencies
    >>> directions = omega / np.linalg.norm(omega, axis=1, keepdims=True)
    >>> bool(np.allclose(directions.sum(axis=0), 0.0)), (directions[0] @ directions[1]).round(6)
    (True, np.float64(-0.5))
    """

    requires = ("polar",)

    def _frequencies(self, measure: SpectralMeasure, n: int, d: int, seed: int) -> np.ndarray:
        return in_blocks_of_directions(measure, n, d, seed, _vertices(d))


def _vertices(d: int) -> np.ndarray:
    """The d vertices of a regular simplex on the unit sphere, (d, d).

    Lower triangular: with n = d - 1,
    ``L_ii = sqrt((n + 1)(n - i) / (n (n - i + 1)))`` and ``L_ji = -L_ii / (n - i)`` below it.
    """
    if d == 1:
        return np.ones((1, 1))
    n = d - 1
    left = n - np.arange(d, dtype=float)
    diagonal = np.sqrt((n + 1) * left / (n * (left + 1)))
    below = np.divide(diagonal, left, out=np.zeros(d), where=left > 0)
    return np.diag(diagonal) - np.tril(np.broadcast_to(below, (d, d)), -1)
