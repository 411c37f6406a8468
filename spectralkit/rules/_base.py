"""Nodes, and what every rule does before it chooses them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spectralkit._validation import is_integer
from spectralkit.spectra import SpectralMeasure

DEFAULT_COMPONENTS = 256


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
    products : callable or None
        A faster way to ``X @ frequencies.T`` for float64 X of shape (n, d), where the frequencies have a structure.

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
    products: Callable[[np.ndarray], np.ndarray] | None = None

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

    def for_extent(self, extent: np.ndarray) -> Rule:
        """Return the rule for data of this extent; most rules do not depend on it.

        Parameters
        ----------
        extent : ndarray of shape (d,)
            Largest minus smallest value of every column.

        Returns
        -------
        Rule
            The rule itself, or one that knows the extent.
        """
        return self

    @abstractmethod
    def _nodes(self, measure: SpectralMeasure, n_components: int | None, d: int, seed: int) -> Nodes: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))
