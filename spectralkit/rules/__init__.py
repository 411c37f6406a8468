"""Rules: which frequencies stand in for a spectral measure, and with what weights.

A rule turns a measure into `Nodes`, a weighted sum of pure waves whose kernel approximates (or, for atoms, is) that of
the measure. `nodes` is what consumers call; it knows the names of the rules and chooses one for ``rule="auto"``.
"""

from spectralkit.rules._atoms import Atoms
from spectralkit.rules._base import Nodes, Rule
from spectralkit.rules._hadamard import Hadamard
from spectralkit.rules._nodes import RULES, nodes
from spectralkit.rules._quadrature import Gauss, Grid
from spectralkit.rules._random import IID, QMC, Orthogonal, RandomRule
from spectralkit.rules._simplex import Simplex

__all__ = [
    "IID",
    "QMC",
    "RULES",
    "Atoms",
    "Gauss",
    "Grid",
    "Hadamard",
    "Nodes",
    "Orthogonal",
    "RandomRule",
    "Rule",
    "Simplex",
    "nodes",
]
