"""Random rules: independent, quasi-random and orthogonal frequencies, all of equal weight."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from scipy.stats import qmc

from spectralkit.rules._base import DEFAULT_COMPONENTS, Nodes, Rule
from spectralkit.rules._streams import phase, stream
from spectralkit.spectra import SpectralMeasure


class RandomRule(Rule):
    """Random frequencies of equal weight. A rule of this kind writes ``_frequencies(measure, n, d, seed)``.

    With width columns, every column has amplitude ``sqrt(2 mass / width)``. Then the estimate of the kernel is unbiased
    at any width, odd ones and 1 included, and for even widths the features of a point have squared length k(0) exactly.

    Examples
    --------
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import QMC, RandomRule
    >>> isinstance(QMC(), RandomRule), QMC()(Gaussian(0.1), n_components=3, d=2).weights.round(3).tolist()
    (True, [0.667, 0.333])
    """

    def _nodes(self, measure: SpectralMeasure, n_components: int | None, d: int, seed: int) -> Nodes:
        width = DEFAULT_COMPONENTS if n_components is None else n_components
        count = (width + 1) // 2
        weights = np.full(count, 2 * float(measure.mass) / width)
        last_phase = None
        if width % 2:
            weights[-1] /= 2
            last_phase = phase(seed, d)
        draw = measure, count, d, seed
        return Nodes(self._frequencies(*draw), weights, last_phase, self._products(*draw))

    def _products(self, measure: SpectralMeasure, n: int, d: int, seed: int) -> Callable | None:
        """A faster way to multiply by the frequencies, for rules that have one."""
        return None

    @abstractmethod
    def _frequencies(self, measure: SpectralMeasure, n: int, d: int, seed: int) -> np.ndarray:
        """`n` frequencies (n, d), each drawn from the even measure divided by its mass; nested in n."""


class IID(RandomRule):
    r"""Independent draws: random Fourier features.

    With m nodes, that is 2 m columns, the estimate has variance :math:`((k(0)^2 + k(0)k(2\tau))/2 - k(\tau)^2)/m`.

    References
    ----------
    A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import IID
    >>> IID()(Gaussian(0.1), n_components=4, d=3, seed=0).weights
    array([0.5, 0.5])
    """

    requires = ("transport",)

    def _frequencies(self, measure: SpectralMeasure, n: int, d: int, seed: int) -> np.ndarray:
        return measure.transport(stream(seed, d, "uniforms").random((n, measure.uniforms(d))), d)


class QMC(RandomRule):
    """Quasi-random draws: each node is distributed as an independent one, together they fill the frequencies evenly.

    Scrambled Sobol points, the first ones of the next power of two; or, where the measure takes one uniform number per
    frequency, the van der Corput sequence with one random shift.

    References
    ----------
    H. Avron, V. Sindhwani, J. Yang and M. W. Mahoney, "Quasi-Monte Carlo feature maps for shift-invariant kernels",
    *JMLR* 17, 2016.

    Examples
    --------
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import QMC
    >>> QMC()(Gaussian(0.1), n_components=8, d=1, seed=0).frequencies.shape
    (4, 1)
    """

    requires = ("transport",)

    def _frequencies(self, measure: SpectralMeasure, n: int, d: int, seed: int) -> np.ndarray:
        dimension = measure.uniforms(d)
        if dimension > qmc.Sobol.MAXDIM:
            raise ValueError(
                f"rule='qmc' takes at most {qmc.Sobol.MAXDIM} uniform numbers per frequency, but {measure!r} needs "
                f"{dimension}. Use rule='orthogonal' or rule='iid' instead."
            )
        return measure.transport(_points(n, dimension, d, seed), d)


@functools.lru_cache(maxsize=32)
def _points(n: int, dimension: int, d: int, seed: int) -> np.ndarray:
    """The first `n` points of the sequence; kept, since an optimiser asks for the same ones at every step."""
    rng = stream(seed, d, "uniforms")
    if dimension == 1:  # Halton in one dimension is van der Corput
        points = (qmc.Halton(1, scramble=False).random(n) + rng.random()) % 1.0
    else:
        points = qmc.Sobol(dimension, rng=rng).random_base2((n - 1).bit_length())[:n]
    points.flags.writeable = False
    return points


class Orthogonal(RandomRule):
    """Orthogonal directions, independent radii: blocks of d frequencies at right angles (before scaling by sigma).

    Directions are rows of a random orthogonal matrix, uniform (Haar) by giving the R factor a positive diagonal. The
    last block may be incomplete.

    References
    ----------
    F. X. Yu et al., "Orthogonal random features", NIPS 2016.
    F. Mezzadri, "How to generate random matrices from the classical compact groups", *Notices of the AMS* 54, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import Orthogonal
    >>> omega = Orthogonal()(Gaussian(0.1), n_components=6, d=3, seed=0).frequencies
    >>> gram = omega @ omega.T
    >>> bool(np.allclose(gram, np.diag(np.diag(gram))))
    True
    """

    requires = ("polar",)

    def _frequencies(self, measure: SpectralMeasure, n: int, d: int, seed: int) -> np.ndarray:
        return in_blocks_of_directions(measure, n, d, seed)


def in_blocks_of_directions(
    measure: SpectralMeasure, n: int, d: int, seed: int, corners: np.ndarray | None = None
) -> np.ndarray:
    """`n` frequencies (n, d) of independent lengths along unit vectors, turned at random for every block of d.

    The vectors are the axes, or `corners` (d, d), lower triangular so that the first few take only the first few rows
    of the matrix that turns them.
    """
    normals, radii = stream(seed, d, "directions"), stream(seed, d, "radii")
    counts = [min(d, n - start) for start in range(0, n, d)]
    directions = [orthonormal_rows(normals, count, d) for count in counts]
    if corners is not None:
        directions = [corners[: len(rows), : len(rows)] @ rows for rows in directions]
    return measure.polar(np.concatenate(directions), radii.random((n, measure.polar_uniforms(d))), d)


def orthonormal_rows(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    """The first `count` rows of a Haar-distributed orthogonal (d, d) matrix."""
    Q, R = np.linalg.qr(rng.standard_normal((count, d)).T)
    return (Q * np.sign(np.diag(R))).T
