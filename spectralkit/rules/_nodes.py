"""Finding a rule by its name, or the one that suits a measure."""

from __future__ import annotations

from typing import Any

from scipy.stats import qmc

from spectralkit.rules._atoms import Atoms
from spectralkit.rules._base import Nodes, Rule
from spectralkit.rules._hadamard import Hadamard
from spectralkit.rules._quadrature import Gauss, Grid
from spectralkit.rules._random import IID, QMC, Orthogonal
from spectralkit.rules._simplex import Simplex
from spectralkit.spectra import SpectralMeasure

LARGEST_SOBOL_DIMENSION_FOR_AUTO = 16

RULES: dict[str, Rule] = {
    "iid": IID(),
    "qmc": QMC(),
    "orthogonal": Orthogonal(),
    "simplex": Simplex(),
    "atoms": Atoms(),
    "hadamard": Hadamard(),
    "gauss": Gauss(),
    "grid": Grid(),
}


def nodes(
    measure: SpectralMeasure,
    n_components: int | None,
    d: int,
    rule: str | Rule = "auto",
    seed: int = 0,
    extent: Any = None,
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
    rule : {"auto", "iid", "qmc", "orthogonal", "simplex", "atoms", "hadamard", "gauss", "grid"} or Rule, default="auto"
        "auto" takes the atoms of an atomic measure; else quasi-random points while the measure needs at most 16 uniform
        numbers per frequency; above that orthogonal directions if the measure has `polar`, and quasi-random points if
        not.
    seed : int, default=0
        Equal seeds give equal nodes, whatever the width or the scale: a smaller width gives the first nodes of a larger
        one, another sigma only rescales them. "gauss" and "grid" are not random and do not nest.
    extent : array of shape (d,), optional
        Largest minus smallest value of every column of the data; only "grid" looks at it.

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
    chosen = _find_rule(measure, d, rule)
    return (chosen if extent is None else chosen.for_extent(extent))(measure, n_components, d, seed)


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
