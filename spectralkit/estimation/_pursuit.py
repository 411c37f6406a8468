"""Orthogonal matching pursuit: waves are added one after the other, and all amplitudes fitted together."""

from __future__ import annotations

import math

import numpy as np

from spectralkit.estimation._rows import Rows
from spectralkit.nufft import _FLOOR, _orthonormal, _waves, _without

_DIFFERENCE = 1e-4  # turns, of the finite differences that make a Hessian of exact gradients
_STEP = 0.1  # longest step of a climb


class Pursuit:
    """Trend, regressors and the waves found so far, and what they leave of the data."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.basis = rows.basis
        self.residual = rows.residual
        self.lines: list[list[np.ndarray]] = []  # of each component

    @property
    def left(self) -> float:
        """Fraction of the variance about the trend that is left."""
        return float((self.rows.weights @ self.residual**2).mean())

    def criterion(self, trials: float) -> float:
        """The Bayesian information criterion of the fit, each frequency one of so many that could have been found."""
        outputs = self.residual.shape[1]
        size = self.rows.count * outputs
        coefficients = self.basis.shape[1] * outputs * math.log(max(size, 2.0))
        return size * math.log(max(self.left, 1e-300)) + coefficients + 2 * math.log(trials) * len(self.lines)

    def add(self, lines: list[np.ndarray]) -> None:
        """Take the waves of one component into the fit."""
        weights = self.rows.weights
        waves = np.column_stack([_waves(self.rows.z @ line, 1.0) for line in lines])
        new = _without(self.basis, weights, waves)
        new = new[:, weights @ new**2 > _FLOOR]
        if new.size:
            extra = _without(self.basis, weights, _orthonormal(list(new.T), weights))
            self.basis = np.column_stack([self.basis, extra])
            self.residual = _without(extra, weights, self.residual)
        self.lines.append(lines)

    def gain(self, nu: np.ndarray) -> tuple[float, np.ndarray]:
        """Squares that one more wave would explain beside all that is fitted, and the gradient to its frequency."""
        z, weights = self.rows.z, self.rows.weights
        waves = _waves(z @ nu, 1.0)
        left = _without(self.basis, weights, waves)
        matrix = (weights[:, None] * left).T @ left
        inner = (weights[:, None] * left).T @ self.residual
        values, vectors = np.linalg.eigh(matrix)
        keep = values > _FLOOR
        coefficients = vectors[:, keep] @ ((vectors[:, keep].T @ inner) / values[keep, None])
        error = self.residual - left @ coefficients
        slope = 2 * math.pi * (waves @ np.array([[0.0, 1.0], [-1.0, 0.0]]) @ coefficients)  # to the phase
        return float((inner * coefficients).sum()), 2 * (weights * (error * slope).sum(axis=1)) @ z

    def climb(self, nu: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, float]:
        """The top near `nu`, within a box: Newton steps, along every axis of the Hessian uphill."""
        value, slope = self.gain(nu)
        for _ in range(40):
            eigenvalues, axes = np.linalg.eigh(self._hessian(nu, slope))
            uphill = axes @ ((axes.T @ slope) / np.maximum(np.abs(eigenvalues), 1e-12))
            longest = float(np.abs(uphill).max())
            uphill *= min(1.0, _STEP / max(longest, 1e-300))
            for halving in range(6):
                there = np.clip(nu + uphill / 2**halving, low, high)
                new_value, new_slope = self.gain(there)
                if new_value >= value * (1 - 1e-13):
                    break
            else:
                return nu, value
            moved = float(np.abs(there - nu).max())
            nu, value, slope = there, new_value, new_slope
            if moved < 1e-11:
                break
        return nu, value

    def _hessian(self, nu: np.ndarray, slope: np.ndarray) -> np.ndarray:
        steps = _DIFFERENCE * np.eye(len(nu))
        H = np.array([(self.gain(nu + step)[1] - self.gain(nu - step)[1]) / (2 * _DIFFERENCE) for step in steps])
        return (H + H.T) / 2

    def polished(self, tolerance: float) -> list[np.ndarray]:
        """Frequencies of the components of one wave each, those of bands held, where all of them fit best together.

        Newton steps on frequencies and amplitudes at once, with the amplitudes eliminated.
        """
        nus = [lines[0] for lines in self.lines]
        moving = [q for q, lines in enumerate(self.lines) if len(lines) == 1]
        if not moving:
            return nus
        best = math.inf
        step = np.zeros((len(moving), self.rows.z.shape[1]))
        for _ in range(30):
            there = [nu + step[moving.index(q)] if q in moving else nu for q, nu in enumerate(nus)]
            left, slope, bend = self._joint(there, moving)
            if left > best * (1 + 1e-13):
                step /= 2
                if abs(step).max() < tolerance:
                    break
                continue
            nus, best = there, left
            eigenvalues, axes = np.linalg.eigh(bend)
            if eigenvalues[0] <= 1e-9 * eigenvalues[-1]:
                break
            step = -(axes @ ((axes.T @ slope) / eigenvalues)).reshape(step.shape)
            step *= min(1.0, _STEP / max(abs(step).max(), 1e-300))
            if abs(step).max() < tolerance:
                break
        return nus

    def _joint(self, nus: list[np.ndarray], moving: list[int]) -> tuple[float, np.ndarray, np.ndarray]:
        """Squares that all waves together leave, halved, with slope and curvature in the frequencies that move."""
        z, weights, d = self.rows.z, self.rows.weights, self.rows.z.shape[1]
        lines = [[nu, *own[1:]] for nu, own in zip(nus, self.lines, strict=True)]
        first = 2 * np.cumsum([0, *(len(own) for own in lines)])
        raw = np.column_stack([_waves(z @ line, 1.0) for own in lines for line in own])
        waves = _without(self.rows.basis, weights, raw)
        gram = (weights[:, None] * waves).T @ waves
        inverse = np.linalg.pinv(gram, rcond=1e-10, hermitian=True)
        coefficients = inverse @ ((weights[:, None] * waves).T @ self.rows.residual)
        left = self.rows.residual - waves @ coefficients
        size = d * len(moving)
        slope, bend = np.zeros(size), np.zeros((size, size))
        for output in range(left.shape[1]):
            error = weights * left[:, output]
            cross = np.zeros((size, len(gram)))
            tangents = np.empty((len(z), size))
            for i, q in enumerate(moving):
                own = slice(first[q], first[q] + 2)
                turned = raw[:, own] @ np.array([[0.0, 1.0], [-1.0, 0.0]])  # derivatives of cosine and sine
                mine, a = slice(i * d, (i + 1) * d), coefficients[own, output]
                tangents[:, mine] = 2 * math.pi * (turned @ a)[:, None] * z
                cross[mine, own] = -2 * math.pi * z.T @ (error[:, None] * turned)
                bend[mine, mine] += 4 * math.pi**2 * (z * (error * (raw[:, own] @ a))[:, None]).T @ z
            slope -= tangents.T @ error
            tangents = _without(self.rows.basis, weights, tangents)
            cross += (weights[:, None] * tangents).T @ waves
            bend += (weights[:, None] * tangents).T @ tangents - cross @ inverse @ cross.T
        return float((weights @ left**2).sum() / 2), slope, bend

    def each_alone(self) -> list[tuple[np.ndarray, float]]:
        """For each component: what all others leave of the data, and the mean square of its own waves.

        The amplitudes have a normal prior of the variance of the data, which holds waves that the rows cannot tell
        apart from cancelling each other.
        """
        weights = self.rows.weights
        waves = [np.column_stack([_waves(self.rows.z @ line, 1.0) for line in lines]) for lines in self.lines]
        columns = _without(self.rows.basis, weights, np.column_stack(waves))
        matrix = (weights[:, None] * columns).T @ columns
        matrix[np.diag_indices_from(matrix)] += max(self.left, 1e-14) / self.rows.count
        coefficients = np.linalg.solve(matrix, (weights[:, None] * columns).T @ self.rows.residual)
        left = self.rows.residual - columns @ coefficients
        ends = np.cumsum([0, *(own.shape[1] for own in waves)])
        found = []
        for own, a, b in zip(waves, ends[:-1], ends[1:], strict=True):
            part = columns[:, a:b] @ coefficients[a:b]
            whole = own @ coefficients[a:b] if b - a == 2 else part  # many waves could make a trend between them
            found.append((left + part, float((weights @ whole**2).mean())))
        return found
