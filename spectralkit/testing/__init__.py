"""Laws: what every measure, rule and map must satisfy, to be run on your own.

`check_spectrum`, `check_rule` and `check_map` run the laws that apply and return which ones ran; a broken law raises an
AssertionError that names it. Tolerances are six standard errors of exactly known variance, or rounding.
"""

from spectralkit.testing._map import MAP_LAWS, check_map
from spectralkit.testing._rule import RULE_LAWS, check_rule
from spectralkit.testing._spectrum import SPECTRUM_LAWS, check_spectrum

__all__ = ["MAP_LAWS", "RULE_LAWS", "SPECTRUM_LAWS", "check_map", "check_rule", "check_spectrum"]
