"""Where to look for the next wave: frequencies at which one more wave explains much of what is left."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import ndimage, special

from spectralkit.estimation._rows import Rows
from spectralkit.nufft import _LineGrid, _sums

MOST_CELLS = 1 << 22  # of a grid in two or three columns
MOST_PAIRED = 10  # columns up to which every pair is searched
_OVERSAMPLING = {1: 5.0, 2: 3.0, 3: 2.0}
_STARTS = 3
_TOLERANCE = 1e-10


class Noise(NamedTuple):
    """Mean power of noise, summed over outputs, and from how many draws of it the mean was estimated."""

    mean: float
    draws: float


class Taken(NamedTuple):
    """A frequency that is a component already, and the turns around it that are its own."""

    nu: np.ndarray
    reach: float

    def holds(self, nu: np.ndarray) -> np.ndarray:
        """Which of the frequencies (..., d) belong to it or to its mirror image."""
        return np.minimum(abs(nu - self.nu).max(axis=-1), abs(nu + self.nu).max(axis=-1)) < self.reach


class Search:
    """All frequencies between the trend and the highest of each column: on a grid, or along columns.

    In one column power is the exact gain beside trend and regressors. In more it is that of a plain Fourier sum, which
    only chooses where to climb.
    """

    def __init__(self, rows: Rows, highest: np.ndarray, n_jobs: int | None) -> None:
        self.rows, self.n_jobs = rows, n_jobs
        d = rows.z.shape[1]
        over = _OVERSAMPLING.get(d, _OVERSAMPLING[2])
        self.steps = np.full(d, 1 / over)
        in_grid = d if d <= 3 else 2
        cells = float(np.prod(np.sort(2 * over * highest + 1)[::-1][:in_grid]))
        if d > 1 and cells > MOST_CELLS:
            highest = highest * (MOST_CELLS / cells) ** (1 / in_grid)
        if highest.max() < rows.lowest:
            raise ValueError(
                f"The trend {rows.trend!r} leaves waves of at least {rows.lowest:g} cycles over the range of a column, "
                f"but the highest frequency to search makes {highest.max():.3g}. Take out less (trend=0), or give a "
                "higher max_frequency."
            )
        self.highest = highest
        self.reach = np.maximum(1, np.floor(highest * over * (1 + 1e-9))).astype(int)  # steps
        if d == 1:
            step, count = float(self.steps[0]), int(self.reach[0])
            self.grid = _LineGrid(rows.z[:, 0], rows.weights, rows.basis, step, count, n_jobs)

    @property
    def trials(self) -> float:
        """Number of frequencies that could have been found instead of one: half a box, in steps of one turn."""
        sides = np.maximum(2 * self.highest, 1.0)
        d = len(sides)
        if d == 1:
            return max(float(self.highest[0] - self.rows.lowest), 1.0)
        return sum(math.prod(sides[list(group)]) for group in self._groups()) / 2

    def false_alarm(self, gain: float, noise: Noise) -> float:
        """Probability that noise alone has so high a peak somewhere: Baluev's bound, with the noise an estimate."""
        if noise.mean <= 0:
            return 0.0 if gain > 0 else 1.0
        d, outputs = self.rows.z.shape[1], self.rows.residual.shape[1]
        tail = float(special.fdtrc(2 * outputs, 2 * outputs * noise.draws, gain / noise.mean))
        return min(1.0, self.trials * tail * max(gain * outputs / noise.mean, 1.0) ** (d / 2))

    def peaks(self, residual: np.ndarray, taken: list[Taken]) -> list[np.ndarray]:
        """The best places to climb from; none if everything is taken."""
        d = self.rows.z.shape[1]
        if d == 1:
            return self._on_line(residual, taken)
        found = itertools.chain.from_iterable(self._on_grid(residual, group, taken) for group in self._groups())
        best = [nu for _, nu in sorted(found, key=lambda pair: -pair[0])[:_STARTS]]
        return best if d <= 3 else [self._along_columns(residual, nu, taken) for nu in best]

    def noise(self, residual: np.ndarray, nus: list[np.ndarray]) -> tuple[float, list[Noise]]:
        """Mean power of noise everywhere, averaged over outputs, and the noise near each frequency.

        In more than one column it is taken to be the same near every frequency.
        """
        d, outputs = self.rows.z.shape[1], residual.shape[1]
        if d > 1:
            power = self._power(residual, list(next(iter(self._groups()))))
            everywhere = self._noise_of(power.ravel(), float(np.prod(self.steps)) / 2, outputs)  # both halves of it
            return everywhere.mean / outputs, [everywhere] * len(nus)
        power, _ = self.grid.gains(residual)
        searched = self.grid.frequencies >= self.rows.lowest
        distances = [abs(self.grid.frequencies - nu[0]) for nu in nus]
        near = [searched & (far <= max(12.0, 0.35 * nu[0])) for far, nu in zip(distances, nus, strict=True)]
        step = float(self.steps[0])
        found = [self._noise_of(power[own], step, outputs) for own in near]
        return self._noise_of(power[searched], step, outputs).mean / outputs, found

    def _noise_of(self, power: np.ndarray, step: float, outputs: int) -> Noise:
        """From the median, which lines are too few to move and which is worth half as many draws as the mean."""
        free = (self.rows.count - self.rows.basis.shape[1]) / 2 - 1
        draws = max(min(power.size * step / 2.08, free), 1.0)
        return Noise(float(np.median(power) * outputs / special.gammaincinv(outputs, 0.5)), draws)

    def _power(self, residual: np.ndarray, columns: list[int]) -> np.ndarray:
        """Power at the frequencies of a grid that are zero in all other columns."""
        reach, values = self.reach[columns], self.rows.weights[:, None] * residual
        where = (self.steps[columns], tuple(-reach), tuple(2 * reach + 1), _TOLERANCE, self.n_jobs)
        return 2 * (abs(_sums(self.rows.z[:, columns], values, *where)) ** 2).sum(axis=0)

    def _groups(self) -> Iterator[tuple[int, ...]]:
        d = self.rows.z.shape[1]
        return itertools.combinations(range(d), d if d <= 3 else 2 if d <= MOST_PAIRED else 1)

    def _on_line(self, residual: np.ndarray, taken: list[Taken]) -> list[np.ndarray]:
        power, _ = self.grid.gains(residual)
        nu = self.grid.frequencies
        free = (nu >= self.rows.lowest) & ~np.any([t.holds(nu[:, None]) for t in taken] or [nu < 0], axis=0)
        beside = np.concatenate([[np.inf], power, [-np.inf]])
        tops = free & (power >= beside[:-2]) & (power >= beside[2:])
        tops = tops if tops.any() else free
        if not tops.any():
            return []
        best = int(np.argmax(np.where(tops, power, -1.0)))
        return [nu[best : best + 1]]

    def _on_grid(
        self, residual: np.ndarray, group: tuple[int, ...], taken: list[Taken]
    ) -> list[tuple[float, np.ndarray]]:  # fmt: skip
        """The highest peaks of the frequencies that are zero in all columns but those of the group."""
        columns = list(group)
        reach, power = self.reach[columns], self._power(residual, columns)
        tops = power >= ndimage.maximum_filter(power, 3, mode="constant")
        tops &= np.arange(power.size).reshape(power.shape) > power.size // 2  # one of each pair of mirror images
        places = np.argwhere(tops)
        nu = np.zeros((len(places), self.rows.z.shape[1]))
        nu[:, columns] = (places - reach) * self.steps[columns]
        free = (abs(nu).max(axis=1) >= self.rows.lowest) & ~np.any(
            [t.holds(nu) for t in taken] or [np.zeros(len(nu), bool)], axis=0
        )
        nu, heights = nu[free], power[tuple(places[free].T)]
        return [(float(heights[i]), nu[i]) for i in np.argsort(-heights, kind="stable")[:_STARTS]]

    def _along_columns(self, residual: np.ndarray, start: np.ndarray, taken: list[Taken]) -> np.ndarray:
        """Search one column after the other with the frequencies of the others held, while that helps."""
        z, weights, d = self.rows.z, self.rows.weights, self.rows.z.shape[1]
        nu, best = start.copy(), 0.0
        for _ in range(5):
            before = best
            for j in range(d):
                others = np.where(np.arange(d) == j, 0.0, nu)
                values = (weights * np.exp(-2j * math.pi * (z @ others)))[:, None] * residual
                reach = int(self.reach[j])
                sums = _sums(z[:, [j]], values, self.steps[[j]], (-reach,), (2 * reach + 1,), _TOLERANCE, self.n_jobs)
                power = 2 * (abs(sums) ** 2).sum(axis=0)
                line = np.tile(others, (2 * reach + 1, 1))
                line[:, j] = np.arange(-reach, reach + 1) * self.steps[j]
                free = (abs(line).max(axis=1) >= self.rows.lowest) & ~np.any(
                    [t.holds(line) for t in taken] or [np.zeros(len(line), bool)], axis=0
                )
                k = int(np.argmax(np.where(free, power, -1.0)))
                if free[k] and power[k] > best * (1 + 1e-9):
                    nu, best = line[k].copy(), float(power[k])
            if best <= before * (1 + 1e-9):
                break
        return nu
