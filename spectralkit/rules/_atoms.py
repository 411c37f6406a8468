"""The rule of atomic measures: their own frequencies."""

from __future__ import annotations

import numpy as np

from spectralkit.rules._base import Nodes, Rule
from spectralkit.rules._streams import phase
from spectralkit.spectra import SpectralMeasure


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
        return Nodes(frequencies[heaviest], weights[heaviest], phase(seed, d) if width % 2 else None)
