"""The laws of rules."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spectralkit.maps import fourier
from spectralkit.rules import Nodes, Rule
from spectralkit.spectra import SpectralMeasure
from spectralkit.testing._case import SpectrumCase
from spectralkit.testing._law import SIX_SIGMA, Law, law, run_laws

_SEEDS = 200

RULE_LAWS: list[Law] = []


def check_rule(rule: Rule, measure: SpectralMeasure, d: int, seed: int = 0) -> dict[str, str]:
    """Run the laws of rules on one measure.

    Parameters
    ----------
    rule : Rule
        The rule.
    measure : SpectralMeasure
        A measure that has what the rule requires.
    d : int
        Number of columns.
    seed : int, default=0
        First of the seeds that are tried.

    Returns
    -------
    dict
        For each law, "ran" or why it does not apply.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import IID
    >>> from spectralkit.testing import check_rule
    >>> sorted(set(check_rule(IID(), Gaussian(0.3), d=2).values()))
    ['ran']
    """
    return run_laws(RULE_LAWS, _RuleCase(measure, d, seed, rule), f"{rule!r} of {measure!r} in {d} column(s)")


@dataclass
class _RuleCase(SpectrumCase):
    rule: Rule

    def has(self, need: str) -> bool:
        if need in ("nested", "random"):
            return self.rule.nested if need == "nested" else "atoms" not in self.rule.requires
        return super().has(need)

    def nodes(self, width: int | None, seed: int | None = None) -> Nodes:
        return self.rule(self.measure, width, self.d, self.seed if seed is None else seed)


@law(RULE_LAWS)
def _the_weights_add_up_and_the_width_is_what_was_asked_for(case: _RuleCase) -> None:
    for width in (2, 10, 64):
        chosen = case.nodes(width)
        assert chosen.frequencies.shape == (len(chosen.weights), case.d)
        if case.has("random"):
            assert chosen.width == width, f"{chosen.width} columns for n_components = {width}"
            assert abs(chosen.weights.sum() - case.mass) <= 1e-12 * case.mass
        else:
            assert chosen.width <= width, f"{chosen.width} columns for n_components = {width}"
    for width in (1, 3, 7):
        assert case.nodes(width).width <= width


@law(RULE_LAWS, "random")
def _the_kernel_estimate_is_unbiased_at_any_width(case: _RuleCase) -> None:
    pair_sd = np.sqrt(case.cosine_variance())
    single_sd = np.sqrt(case.cosine_variance() + case.mass**2 / 2)
    k = case.measure.characteristic(case.tau)
    for width, sd in ((1, single_sd), (2, pair_sd), (3, 2 / 3 * pair_sd + 1 / 3 * single_sd)):
        total = np.zeros(len(case.tau))
        for seed in range(case.seed, case.seed + _SEEDS):
            Z = fourier(case.tau, case.nodes(width, seed))
            total += Z @ Z[0]
        error = np.abs(total / _SEEDS - k)
        allowed = SIX_SIGMA * sd / math.sqrt(_SEEDS) + 1e-10 * case.mass
        assert (error <= allowed).all(), f"width {width}: error / allowed = {(error / allowed).max():.3g}"


@law(RULE_LAWS, "nested")
def _a_smaller_width_gives_the_first_nodes_of_a_larger_one(case: _RuleCase) -> None:
    wide = case.nodes(64).frequencies
    for width in (2, 7, 20):
        narrow = case.nodes(width).frequencies
        np.testing.assert_allclose(narrow, wide[: len(narrow)], rtol=1e-12, atol=1e-12 / case.length)


@law(RULE_LAWS)
def _equal_seeds_give_equal_nodes(case: _RuleCase) -> None:
    np.testing.assert_array_equal(case.nodes(12).frequencies, case.nodes(12).frequencies)
    if case.has("random"):
        assert not np.array_equal(case.nodes(12, 1).frequencies, case.nodes(12, 2).frequencies), "the seed does nothing"
