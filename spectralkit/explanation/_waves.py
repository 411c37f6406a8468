"""A linear model on Fourier features as a sum of waves, and the distributions of the columns that it meets."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from spectralkit._parallel import for_row_blocks
from spectralkit.maps._waves import Waves
from spectralkit.rules import Nodes

ROWS_PER_BLOCK = 1024


@dataclass(frozen=True)
class WaveSum:
    r"""The functions :math:`f_t(x) = b_t + \mathrm{Re} \sum_j C_{jt} \exp(2\pi i\,\omega_j\cdot(x - c))`, one a target.

    Waves that depend on the same columns stand together, in `groups`: the terms of a sum of spectra on different
    columns are much cheaper than waves of all columns.
    """

    frequencies: np.ndarray  # (d, m), float64, rows contiguous
    coefficients: np.ndarray  # (m, t), complex
    intercept: np.ndarray  # (t,)
    centre: np.ndarray  # (d,)
    groups: tuple[tuple[slice, np.ndarray], ...]  # waves, and the columns with a frequency that is not zero

    @classmethod
    def of(cls, nodes: Nodes, coef: np.ndarray, intercept: np.ndarray, centre: np.ndarray) -> Self:
        """From the coefficients (t, width) of the features of `nodes`."""
        frequencies = np.asarray(nodes.frequencies, dtype=np.float64)
        m = len(frequencies)
        pairs = nodes.width - m
        amplitudes = np.sqrt(np.asarray(nodes.weights, dtype=np.float64))[:, None]
        coefficients = coef[:, :m].T.astype(np.complex128)
        offsets = (frequencies @ centre) % 1.0
        if pairs < m:  # the last wave has one column, behind the sines
            coefficients[pairs] = np.sqrt(2) * coef[:, -1]
            offsets[pairs] += nodes.phase
        coefficients[:pairs] = (coef[:, :pairs] - 1j * coef[:, pairs : 2 * pairs]).T
        coefficients *= amplitudes * np.exp(2j * np.pi * offsets)[:, None]

        patterns, group = np.unique(frequencies != 0, axis=0, return_inverse=True)
        group = group.ravel()
        order = np.argsort(group, kind="stable")
        edges = np.searchsorted(group[order], np.arange(len(patterns) + 1)).tolist()
        groups = tuple(
            (slice(*edge), np.flatnonzero(pattern))
            for edge, pattern in zip(itertools.pairwise(edges), patterns, strict=True)
        )
        return cls(np.ascontiguousarray(frequencies[order].T), coefficients[order], intercept, centre, groups)

    @property
    def n_targets(self) -> int:
        """Number of functions."""
        return len(self.intercept)

    def real_part(self, waves: np.ndarray, nodes: slice) -> np.ndarray:
        """``Re sum_j C_jt wave_j`` of complex waves (..., m) as one product of real matrices."""
        C = self.coefficients[nodes]
        return waves.view(np.float64) @ np.stack([C.real, -C.imag], axis=1).reshape(-1, self.n_targets)

    def mean_given(
        self, columns: list[int], near: np.ndarray, characteristic: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """The mean of f (n, t) where these columns are known, `near` (n, len(columns)) relative to the centre."""
        others = np.delete(characteristic, columns, axis=0)
        C = self.coefficients * others.prod(axis=0)[:, None]
        if not columns:
            return np.tile(self.intercept + C.sum(axis=0).real, (len(near), 1))
        weights = np.concatenate([C.real, -C.imag])
        out = np.empty((len(near), self.n_targets))
        frequencies = np.ascontiguousarray(self.frequencies[columns])

        def evaluate(rows: slice) -> None:
            cosines_sines = np.empty((rows.stop - rows.start, len(weights)))
            write_waves(near[rows], frequencies, cosines_sines, len(near) * len(weights))
            out[rows] = self.intercept + cosines_sines @ weights

        for_row_blocks(evaluate, len(near), max(16, (1 << 17) // len(weights)), n_jobs)
        return out


@dataclass(frozen=True)
class IndependentColumns:
    """The product of the distributions of the columns: what is left of a background when columns are independent."""

    values: list[np.ndarray]  # of each column, different from each other, relative to the centre
    weights: list[np.ndarray]  # of the values, with sum 1

    @classmethod
    def of(cls, near: np.ndarray, sample_weight: np.ndarray | None) -> Self:
        """From rows relative to the centre."""
        sample_weight = np.ones(len(near)) if sample_weight is None else sample_weight
        total = sample_weight.sum()
        values, weights = [], []
        for column in near[sample_weight > 0].T:
            unique, place = np.unique(column, return_inverse=True)
            values.append(unique)
            weights.append(np.bincount(place.ravel(), sample_weight[sample_weight > 0]) / total)
            if len(unique) == 1:  # rounded weights would leave a constant column some variance
                weights[-1] = np.ones(1)
        return cls(values, weights)

    def characteristic(self, frequencies: np.ndarray) -> np.ndarray:
        """The characteristic functions, E exp(2 pi i frequency_pj x_p), of shape (d, m) as the frequencies."""
        d, m = frequencies.shape
        out = np.empty((d, m), dtype=np.complex128)
        for p, (values, weights) in enumerate(zip(self.values, self.weights, strict=True)):
            total = np.zeros(2 * m)
            for start in range(0, len(values), ROWS_PER_BLOCK):
                rows = slice(start, start + ROWS_PER_BLOCK)
                cosines_sines = np.empty((len(values[rows]), 2 * m))
                write_waves(values[rows, None], frequencies[p : p + 1], cosines_sines, 2 * m * len(values))
                total += weights[rows] @ cosines_sines
            out[p] = total[:m] + 1j * total[m:]
        out[frequencies == 0] = 1.0  # rounding would let a column matter that the wave does not depend on
        return out


def write_waves(near: Any, frequencies: np.ndarray, out: np.ndarray, size: int) -> None:
    """Cosines and then sines of ``2 pi near @ frequencies`` into `out`, one of the blocks of a task of this size."""
    d, m = frequencies.shape
    waves = Waves(frequencies, np.zeros(d), np.zeros(m), np.ones(m), m)
    waves.writer(size)(near, out, None)
