"""Rules: which frequencies stand in for a spectral measure, and with what weights.

A rule turns a measure into `Nodes`, a weighted sum of pure waves whose kernel approximates (or, for atoms, is) that of
the measure. `nodes` is what consumers call; it knows the names of the rules and chooses one for ``rule="auto"``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import qmc

from spectralkit._validation import is_integer
from spectralkit.spectra import SpectralMeasure

__all__ = ["IID", "QMC", "Atoms", "Nodes", "Orthogonal", "RandomRule", "Rule", "nodes"]

DEFAULT_COMPONENTS = 256
LARGEST_SOBOL_DIMENSION_FOR_AUTO = 16


@dataclass(frozen=True)
class Nodes:
    r"""Weighted frequencies: :math:`\sum_j w_j \cos(2\pi\,\omega_j\cdot\tau)` approximates the kernel.

    Attributes
    ----------
    frequencies : ndarray of shape (m, d)
        In cycles per unit of x.
    weights : ndarray of shape (m,)
        Mass of each node. Features carry the square roots, so nobody multiplies by them again.
    phase : float or None
        None: every node is a pair of columns, cosine and sine. Otherwise the last node is one column,
        ``sqrt(2 w) cos(2 pi (omega . x + phase))``, with the phase in turns.

    Examples
    --------
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import nodes
    >>> nodes(Gaussian(0.1), n_components=7, d=2).width
    7
    """

    frequencies: np.ndarray
    weights: np.ndarray
    phase: float | None = None

    @property
    def width(self) -> int:
        """Number of feature columns."""
        return 2 * len(self.weights) - (self.phase is not None)


class Rule(ABC):
    """A way to choose nodes.

    Attributes
    ----------
    requires : tuple of str
        Capabilities that the measure must have.
    nested : bool
        Whether, with one seed, the nodes of a smaller width are the first ones of a larger width.

    Examples
    --------
    A rule writes ``_nodes``; here the two-point Gauss rule of a Gaussian measure in one column:

    >>> import numpy as np
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import Nodes, Rule
    >>> class TwoPoints(Rule):
    ...     def _nodes(self, measure, n_components, d, seed):
    ...         return Nodes(np.array([[measure.sigma]]), np.array([measure.mass]))
    >>> TwoPoints()(Gaussian(0.1), None, d=1).frequencies
    array([[0.1]])
    """

    requires: ClassVar[tuple[str, ...]] = ()
    nested: ClassVar[bool] = True

    def __call__(self, measure: SpectralMeasure, n_components: int | None, d: int, seed: int = 0) -> Nodes:
        """Choose nodes for `n_components` feature columns.

        Parameters
        ----------
        measure : SpectralMeasure
            The measure to stand in for.
        n_components : int or None
            Number of feature columns; None for the rule's own default.
        d : int
            Number of columns of X.
        seed : int, default=0
            Equal seeds give equal nodes.

        Returns
        -------
        Nodes
            Frequencies, weights and phase.

        Raises
        ------
        ValueError
            If `n_components` is not an integer of at least 1.
        CapabilityError
            If the measure lacks what the rule requires.
        """
        if n_components is not None and not is_integer(n_components, at_least=1):
            raise ValueError(f"n_components must be an integer of at least 1, got {n_components!r}.")
        if not is_integer(d, at_least=1):
            raise ValueError(f"d, the number of columns, must be an integer of at least 1, got {d!r}.")
        if not is_integer(seed, at_least=0):
            raise ValueError(f"seed must be an integer of at least 0, got {seed!r}.")
        measure.require(*self.requires, d=d)
        return self._nodes(measure, None if n_components is None else int(n_components), d, seed)

    @abstractmethod
    def _nodes(self, measure: SpectralMeasure, n_components: int | None, d: int, seed: int) -> Nodes: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


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
        phase = None
        if width % 2:
            weights[-1] /= 2
            phase = _phase(seed, d)
        return Nodes(self._frequencies(measure, count, d, seed), weights, phase)

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
        return measure.transport(_stream(seed, d, "uniforms").random((n, measure.uniforms(d))), d)


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
        rng = _stream(seed, d, "uniforms")
        if dimension == 1:
            u = (
                qmc.Halton(1, scramble=False).random(n) + rng.random()
            ) % 1.0  # Halton in one dimension: van der Corput
        else:
            u = qmc.Sobol(dimension, rng=rng).random_base2((n - 1).bit_length())[:n]
        return measure.transport(u, d)


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
        normals = _stream(seed, d, "directions")
        radii = _stream(seed, d, "radii")
        directions = [_orthonormal_rows(normals, min(d, n - start), d) for start in range(0, n, d)]
        return measure.polar(np.concatenate(directions), radii.random((n, measure.polar_uniforms(d))), d)


class Atoms(Rule):
    """The atoms of an atomic measure, the heaviest first.

    `n_components` is an upper limit. None, or at least twice the number of atoms, makes the kernel exact. A lower limit
    leaves atoms out, and their mass is missing from the kernel; an odd one gives its last atom a single column.

    Examples
    --------
    >>> from spectralkit import Atomic
    >>> from spectralkit.rules import Atoms
    >>> Atoms()(Atomic([1.0, 2.0, 3.0], weights=[0.2, 0.5, 0.3]), n_components=4, d=1).frequencies
    array([[2.],
           [3.]])
    """

    requires = ("atoms",)

    def _nodes(self, measure: SpectralMeasure, n_components: int | None, d: int, seed: int) -> Nodes:
        frequencies, weights = measure.atoms(d)
        width = 2 * len(weights) if n_components is None else min(n_components, 2 * len(weights))
        heaviest = np.argsort(-weights, kind="stable")[: (width + 1) // 2]
        return Nodes(frequencies[heaviest], weights[heaviest], _phase(seed, d) if width % 2 else None)


RULES: dict[str, Rule] = {"iid": IID(), "qmc": QMC(), "orthogonal": Orthogonal(), "atoms": Atoms()}


def nodes(
    measure: SpectralMeasure, n_components: int | None, d: int, rule: str | Rule = "auto", seed: int = 0
) -> Nodes:
    """Choose the nodes that stand in for a measure in `n_components` feature columns.

    Parameters
    ----------
    measure : SpectralMeasure
        A measure without open parameters.
    n_components : int or None
        Number of feature columns, at least 1. None: 256, or all atoms.
    d : int
        Number of columns of X.
    rule : {"auto", "iid", "qmc", "orthogonal", "atoms"} or Rule, default="auto"
        "auto" takes the atoms of an atomic measure; else quasi-random points while the measure needs at most 16 uniform
        numbers per frequency; above that orthogonal directions if the measure has `polar`, and quasi-random points if
        not.
    seed : int, default=0
        Equal seeds give equal nodes, whatever the width or the scale: a smaller width gives the first nodes of a larger
        one, another sigma only rescales them.

    Returns
    -------
    Nodes
        Frequencies (m, d) in cycles per unit, weights (m,) and phase.

    Raises
    ------
    ValueError
        If `n_components` is not an integer of at least 1, or the rule's name is unknown.
    TemplateError
        If the measure has open parameters.
    CapabilityError
        If the measure lacks what the rule requires.

    Examples
    --------
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import nodes
    >>> chosen = nodes(Gaussian(0.1), n_components=64, d=2, rule="iid", seed=3)
    >>> chosen.frequencies.shape, float(chosen.weights.sum())
    ((32, 2), 1.0)
    """
    return _find_rule(measure, d, rule)(measure, n_components, d, seed)


def _find_rule(measure: SpectralMeasure, d: int, rule: str | Rule) -> Rule:
    if isinstance(rule, Rule):
        return rule
    if rule == "auto":
        capabilities = measure.capabilities(d)
        if "atoms" in capabilities:
            return RULES["atoms"]
        uniforms = measure.uniforms(d)
        if "polar" in capabilities and uniforms > LARGEST_SOBOL_DIMENSION_FOR_AUTO:
            return RULES["orthogonal"]
        return RULES["qmc" if uniforms <= qmc.Sobol.MAXDIM else "iid"]
    if not isinstance(rule, str) or rule not in RULES:
        raise ValueError(f"rule must be 'auto', one of {', '.join(map(repr, RULES))}, or a Rule, got {rule!r}.")
    return RULES[rule]


_STREAMS = {"uniforms": 0, "directions": 1, "radii": 2, "phase": 3}


def _stream(seed: int, d: int, purpose: str) -> np.random.Generator:
    """Streams of their own for what must not depend on the width: a longer draw of one leaves the others alone."""
    return np.random.default_rng([int(seed), d, _STREAMS[purpose]])


def _phase(seed: int, d: int) -> float:
    return float(_stream(seed, d, "phase").random())


def _orthonormal_rows(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    """The first `count` rows of a Haar-distributed orthogonal (d, d) matrix."""
    Q, R = np.linalg.qr(rng.standard_normal((count, d)).T)
    return (Q * np.sign(np.diag(R))).T
