"""One search for components: peaks one after the other, then the width, mass and certainty of each."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from spectralkit.estimation._pursuit import Pursuit
from spectralkit.estimation._rows import Rows
from spectralkit.estimation._search import Search, Taken
from spectralkit.estimation._width import BROAD, NARROWEST, Profile, Window, profile

LIGHTEST = 1e-6  # of the variance: a component that fills in for one that is not there
_HEAVIEST = 2.0  # of the variance about the trend: a wave may have lost some to the trend
_PATIENCE = 2  # components beyond the best number before the search for a better one ends
_APART = 0.7  # turns between any two components
_NOTHING = 1e-20  # of the variance: rounding
_NEARLY, _SETTLED = 1e-3, 1e-12  # turns of the last step, during the search and after it
_MOST_LINES = 12  # on either side of a broad component


class Found(NamedTuple):
    """Components in the units of the rows, the heaviest first."""

    masses: np.ndarray  # (Q,)
    nus: np.ndarray  # (Q, d)
    widths: np.ndarray  # (Q, d)
    false_alarm: np.ndarray  # (Q,)


class Finder:
    """The pursuit, and the frequencies and gains of the components so far."""

    def __init__(self, rows: Rows, max_frequency: Any, n_jobs: int | None) -> None:
        self.rows = rows
        self.search = Search(rows, rows.highest(max_frequency), n_jobs)
        self.pursuit = Pursuit(rows)
        self.windows = [Window(column, rows.weights) for column in rows.z.T]
        self.taken: list[Taken] = []
        self.gains: list[float] = []

    def run(self, count: int | None, most: int) -> None:
        """Find `count` components, or as many as the criterion wants."""
        best, best_count = math.inf, 0
        while len(self.taken) < (most if count is None else count) and self.pursuit.left > _NOTHING:
            if not self._add_one():
                break
            criterion = self.pursuit.criterion(self.search.trials)
            if criterion < best:
                best, best_count = criterion, len(self.taken)
            if count is None and len(self.taken) >= best_count + _PATIENCE:
                break
        if count is None:
            self._keep(max(best_count, 1))
        self._polish(_SETTLED)

    def _keep(self, count: int) -> None:
        lines = self.pursuit.lines[:count]
        self.taken, self.gains = self.taken[:count], self.gains[:count]
        if len(lines) < len(self.pursuit.lines):
            self._fit(lines)

    def _fit(self, components: list[list[np.ndarray]]) -> None:
        self.pursuit = Pursuit(self.rows)
        for lines in components:
            self.pursuit.add(lines)

    def _polish(self, tolerance: float) -> None:
        """Let the frequencies of single waves settle together, if none leaves the search or meets another."""
        if len(self.taken) < 2 or self.pursuit.left <= _NOTHING:
            return
        nus = self.pursuit.polished(tolerance)
        polished = [taken._replace(nu=_canonical(nu)) for taken, nu in zip(self.taken, nus, strict=True)]
        for new, old in zip(polished, self.taken, strict=True):
            others = [other for other in polished if other is not new]
            if self._outside(new.nu) or not old._replace(reach=0.5).holds(new.nu) or self._crowded(new.nu, others):
                return
        self.taken = polished
        self._fit([[taken.nu, *lines[1:]] for taken, lines in zip(polished, self.pursuit.lines, strict=True)])

    def _outside(self, nu: np.ndarray) -> bool:
        return bool((abs(nu) > self.search.highest).any() or abs(nu).max() < self.rows.lowest)

    @staticmethod
    def _crowded(nu: np.ndarray, others: list[Taken]) -> bool:
        return any(other._replace(reach=_APART).holds(nu) for other in others)

    def _add_one(self) -> bool:
        """Climb from the best places, and take the highest top that is not too close to another component."""
        residual = self.pursuit.residual
        peaks = self.search.peaks(residual, self.taken)
        high = self.search.highest
        low = -high if len(high) > 1 else np.full(1, self.rows.lowest)
        tops = []
        for start in peaks:
            nu, gain = self.pursuit.climb(start, np.maximum(start - 0.5, low), np.minimum(start + 0.5, high))
            if any(taken.holds(nu) for taken in self.taken):  # climbed into a neighbour
                nu, gain = start, self.pursuit.gain(start)[0]
            tops.append((gain, nu))
        if not tops:
            return False
        gain, nu = max(tops, key=lambda top: top[0])
        nu = _canonical(nu)
        floor, _ = self.search.noise(residual, [nu])
        widths = [p.sigma for p in self._profiles(residual, nu, floor)]
        self.pursuit.add(self._band(nu, widths))
        self.taken.append(Taken(nu, max(_APART, 2 * widths[0]) if len(nu) == 1 else _APART))
        self.gains.append(gain)
        self._polish(_NEARLY)
        return True

    def _profiles(self, values: np.ndarray, nu: np.ndarray, floor: float) -> list[Profile]:
        highest = self.search.highest
        return [profile(self.rows, self.windows[j], values, nu, j, float(highest[j]), floor) for j in range(len(nu))]

    def _band(self, nu: np.ndarray, widths: list[float]) -> list[np.ndarray]:
        """The wave, and in one column those of its band, one turn apart, that belong to no other component."""
        lines = [nu]
        if len(nu) > 1 or widths[0] < BROAD:
            return lines
        room = (self.rows.distinct // 3 - self.pursuit.basis.shape[1]) // 4
        for k in range(1, 1 + min(math.ceil(2 * widths[0]), _MOST_LINES, max(room, 0))):
            for line in (nu - k, nu + k):
                inside = self.rows.lowest <= line[0] <= self.search.highest[0]
                if inside and not any(abs(line - other).max() < _APART for own in self.pursuit.lines for other in own):
                    lines.append(line)
        return lines

    # -- what was found -----------------------------------------------------------------------------------------------

    def components(self, count: int | None) -> Found:
        """What was found, filled up to `count`."""
        nus = np.array([taken.nu for taken in self.taken]).reshape(-1, self.rows.z.shape[1])
        floor, background = self.search.noise(self.pursuit.residual, list(nus))
        false_alarm = [self.search.false_alarm(*pair) for pair in zip(self.gains, background, strict=True)]
        masses, nus, widths = self._refined(floor) if len(nus) else (np.empty(0), nus, nus)
        missing = (count or max(len(nus), 1)) - len(nus)
        if missing:
            masses = np.append(masses, np.full(missing, LIGHTEST))
            widths = np.concatenate([widths, np.full((missing, widths.shape[1]), NARROWEST)])
            nus = np.concatenate([nus, self._gaps(nus, missing)])
            false_alarm += [1.0] * missing
        order = np.argsort(-masses, kind="stable")
        return Found(masses[order], nus[order], widths[order], np.array(false_alarm)[order])

    def measured(self, nus: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Masses and widths of components at given frequencies."""
        for nu in nus:
            self.pursuit.add([nu])
            self.taken.append(Taken(nu, _APART))
        floor, _ = self.search.noise(self.pursuit.residual, [])
        masses, _, widths = self._refined(floor)
        return masses, widths

    def _refined(self, floor: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mass, centre and width of each component, from what all others leave of the data."""
        masses, nus, widths = [], [], []
        for taken, (values, own) in zip(self.taken, self.pursuit.each_alone(), strict=True):
            profiles = self._profiles(values, taken.nu, floor)
            nu, mass, sigmas = taken.nu, own, np.array([p.sigma for p in profiles])
            if (sigmas >= BROAD).any():
                mass = own if len(nu) == 1 else own / math.prod(p.height for p in profiles)
                nu = self._shifted(taken, np.array([p.shift for p in profiles]))
            masses.append(min(max(mass, LIGHTEST), _HEAVIEST))
            nus.append(nu)
            widths.append(sigmas)
        return np.array(masses), np.array(nus), np.array(widths)

    def _shifted(self, taken: Taken, shift: np.ndarray) -> np.ndarray:
        """The centre of a band, unless it left the search or came too close to another component."""
        nu = taken.nu + shift
        others = [other for other in self.taken if other is not taken]
        return taken.nu if self._outside(nu) or self._crowded(nu, others) else _canonical(nu)

    def _gaps(self, nus: np.ndarray, missing: int) -> np.ndarray:
        """Places along the first column, in the middle of the widest gaps between the components."""
        low, high = min(self.rows.lowest, self.search.highest[0]), self.search.highest[0]
        edges = sorted([low, high, *np.clip(abs(nus[:, 0]), low, high)])
        places = np.zeros((missing, nus.shape[1]))
        for place in places:
            k = int(np.argmax(np.diff(edges)))
            place[0] = (edges[k] + edges[k + 1]) / 2
            edges.insert(k + 1, place[0])
        return places


def _canonical(nu: np.ndarray) -> np.ndarray:
    """One of nu and -nu: the one whose first component that is not zero is positive."""
    first = nu[np.flatnonzero(nu)[:1]]
    return -nu if first.size and first[0] < 0 else nu
