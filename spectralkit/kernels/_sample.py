"""The nodes of a sampled kernel as smooth functions of the parameters of its measure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spectralkit._validation import is_integer
from spectralkit.rules import RULES, Nodes, Rule, nodes
from spectralkit.rules._base import DEFAULT_COMPONENTS
from spectralkit.spectra import SpectralMeasure

_STEP = 1e-3  # in logarithms, and as a fraction of real numbers
_SMALLEST_STEP = 1e-6  # as a fraction of the largest frequency, for real numbers that are nearly zero
_TAKES_ATOMS = ("auto", "atoms", RULES["atoms"])


@dataclass(frozen=True)
class Share:
    """A component of the measure, by its number, with its part of the columns and a seed of its own."""

    measure: SpectralMeasure
    width: int | None
    seed: int
    number: int = 0


@dataclass(frozen=True)
class Sample:
    """What is fixed about a sampled kernel: everything but the parameters of its measure.

    Moving a parameter moves the frequencies and weights of the same draw. So that they move smoothly, no node may
    change from one component of a sum or mixture to another when their weights change: the components are drawn one by
    one, each with the same number of columns, whatever it weighs, and its weight enters through the weights of its
    nodes.
    """

    n_components: int | None
    rule: str | Rule
    seed: int

    def nodes(self, measure: SpectralMeasure, d: int) -> Nodes:
        """The nodes that stand in for the measure; those of `rules.nodes` if it is no sum."""
        return _joined([self._draw(share, d) for share in self._shares(measure.require(d=d), d)])

    def slopes(self, measure: SpectralMeasure, d: int, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of frequencies, (P, m, d), and weights, (P, m), to the numbers of ``pack()`` that are free.

        By differences over five points, of nodes, not of Gram matrices: exact for frequencies that are linear in a
        parameter, and to about 1e-13 for those that are proportional to one, in its logarithm. Families write their
        draws as quantile functions of SciPy, through which no dual number passes; those are accurate to 1e-13, which
        leaves 1e-10 after the division by the step.
        """
        theta = measure.pack()
        shares = self._shares(measure.unpack(theta), d)
        drawn = [self._draw(share, d) for share in shares]
        joined = _joined(drawn)
        steps = self._steps(measure, joined)
        rows = np.cumsum([0, *(len(part.weights) for part in drawn)])
        to_frequencies = np.zeros((int(free.sum()), *joined.frequencies.shape))
        to_weights = np.zeros((len(to_frequencies), len(joined.weights)))
        for row, number in enumerate(np.flatnonzero(free)):
            step = np.zeros_like(theta)
            step[number] = steps[number]
            moved = [_parts(measure.unpack(theta + k * step), d) for k in (1, -1, 2, -2)]
            for i, (share, part) in enumerate(zip(shares, drawn, strict=True)):
                if moved[0][share.number] == share.measure:
                    continue
                there = [self._redraw(share, part, parts[share.number], d) for parts in moved]
                place = row, slice(rows[i], rows[i + 1])
                to_frequencies[place] = _difference([n.frequencies for n in there], steps[number])
                to_weights[place] = _difference([n.weights for n in there], steps[number])
        return to_frequencies, to_weights

    def _steps(self, measure: SpectralMeasure, drawn: Nodes) -> np.ndarray:
        """One for each number of ``pack()``: large enough that rounding of the frequencies does not count."""
        floor = _SMALLEST_STEP * float(np.abs(drawn.frequencies).max(initial=0.0))
        steps = [np.empty(0)]
        for p in measure.parameters():
            real = max(_STEP * float(np.max(np.abs(p.value))), floor) or _STEP
            steps.append(np.full(p.size, _STEP if p.domain == "positive" else real))
        return np.concatenate(steps)

    def _shares(self, measure: SpectralMeasure, d: int) -> list[Share]:
        """Components and their columns: what its atoms take for an atomic one, an equal part of the rest for others.

        So no width depends on a parameter.
        """
        parts = _parts(measure, d)
        width = DEFAULT_COMPONENTS if self.n_components is None else self.n_components
        if len(parts) == 1 or not (is_integer(width, at_least=1) and is_integer(self.seed, at_least=0)):
            return [Share(measure, self.n_components, self.seed)]  # what is no integer is refused by the rule
        taken = [2 * len(part.atoms(d)[1]) if self._takes_atoms(part, d) else 0 for part in parts]
        others = [i for i, own in enumerate(taken) if not own]
        left = int(width) - sum(taken)
        if left < 2 * len(others):
            raise ValueError(
                f"{measure!r} is a sum of {len(parts)} parts, which take at least {sum(taken) + 2 * len(others)} "
                f"components together, got n_components={self.n_components}. Give more."
            )
        for i, pairs in zip(others, np.diff(np.linspace(0, left // 2, len(others) + 1).astype(int)), strict=True):
            taken[i] = 2 * int(pairs)
        order = [i for i in range(len(parts)) if i not in others] + others
        taken[order[-1]] += left % 2 if others else 0  # a column without a sine is the last of all
        return [Share(parts[i], taken[i], _seed(self.seed, place), i) for place, i in enumerate(order)]

    def _takes_atoms(self, measure: SpectralMeasure, d: int) -> bool:
        return self.rule in _TAKES_ATOMS and "atoms" in measure.capabilities(d)

    def _draw(self, share: Share, d: int) -> Nodes:
        return nodes(share.measure, share.width, d, self.rule, share.seed)

    def _redraw(self, share: Share, drawn: Nodes, moved: SpectralMeasure, d: int) -> Nodes:
        """The nodes of a component whose parameters have moved, in the order of those drawn."""
        if not self._takes_atoms(share.measure, d):
            there = self._draw(replace(share, measure=moved), d)
            if there.weights.shape != drawn.weights.shape:
                raise ValueError(
                    f"rule={self.rule!r} takes another number of nodes for {share.measure!r} as soon as its parameters "
                    "move, so that the kernel has no gradient. Use rule='qmc', or fix the parameters."
                )
            return there
        # the rule sorts atoms by weight, and weights may cross; and far harmonics, of no weight, may come and go
        frequencies, weights = share.measure.atoms(d)
        heaviest = np.argsort(-weights, kind="stable")[: len(drawn.weights)]
        moved_frequencies, moved_weights = moved.atoms(d)
        common = min(len(weights), len(moved_weights))
        frequencies[:common], weights[:common] = moved_frequencies[:common], moved_weights[:common]
        return replace(drawn, frequencies=frequencies[heaviest], weights=weights[heaviest])


def _parts(measure: SpectralMeasure, d: int) -> list[SpectralMeasure]:
    """What is drawn one by one; the atoms of an atomic measure need no draw."""
    return [measure] if "atoms" in measure.capabilities(d) else measure.terms()


def _joined(parts: list[Nodes]) -> Nodes:
    if len(parts) == 1:
        return parts[0]
    frequencies = np.concatenate([part.frequencies for part in parts])
    return Nodes(frequencies, np.concatenate([part.weights for part in parts]), parts[-1].phase)


def _seed(seed: int, part: int) -> int:
    """The first component has the seed itself, the others one that no neighbouring seed has."""
    return int(np.random.SeedSequence([int(seed), part]).generate_state(1)[0]) if part else seed


def _difference(values: list[np.ndarray], step: float) -> np.ndarray:
    """The derivative from values at 1, -1, 2 and -2 steps; the error is the fifth derivative times step**4 / 30."""
    return (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * step)
