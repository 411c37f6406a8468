"""A measure with lags, points and draws on its own scale: what laws are tried on."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spectralkit.spectra import SpectralMeasure
from spectralkit.testing._law import SIX_SIGMA

DRAWS = 60_000

# how parameters change when all frequencies are multiplied by a factor, by the last part of their name
SCALES_WITH_FREQUENCY = frozenset({"sigma", "sigmas", "means", "frequency", "frequencies"})
_DOES_NOT_SCALE = frozenset({"weights", "factor", "alpha"})


@dataclass
class SpectrumCase:
    """A measure with lags and points on the scale on which its kernel varies."""

    measure: SpectralMeasure
    d: int
    seed: int

    def has(self, need: str) -> bool:
        if need == "isotropy":
            return self.is_isotropic
        if need == "parameters of known unit":
            names = set(self.last_names.values())
            return bool(names & SCALES_WITH_FREQUENCY) and names <= SCALES_WITH_FREQUENCY | _DOES_NOT_SCALE
        if need == "torch" and importlib.util.find_spec("torch") is None:
            return False
        return need in self.measure.capabilities(self.d)

    @cached_property
    def last_names(self) -> dict[str, str]:
        """Parameter names and what they end in: "0__1__sigma" and "sigma"."""
        return {p.name: p.name.split("__")[-1] for p in self.measure.parameters()}

    @cached_property
    def rotation(self) -> np.ndarray:
        return np.linalg.qr(self.rng(8).normal(size=(self.d, self.d)))[0]

    @cached_property
    def is_isotropic(self) -> bool:
        """Whether turning the lags leaves the kernel as it is."""
        k = self.measure.characteristic
        return np.allclose(k(self.tau @ self.rotation), k(self.tau), rtol=0, atol=1e-9 * self.mass)

    def rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.d, stream])

    @cached_property
    def length(self) -> float:
        """A lag at which the kernel has lost a third of its value in some direction."""
        directions = self.rng(0).normal(size=(8, self.d))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        for exponent in np.arange(-60, 60, 0.5):
            if self.measure.characteristic(2.0**exponent * directions).min() < 0.67 * float(self.measure.mass):
                return float(2.0**exponent)
        return 1.0

    @cached_property
    def tau(self) -> np.ndarray:
        """Lags off the axes, from short to long, zero among them."""
        tau = self.rng(1).normal(size=(12, self.d)) / math.sqrt(self.d)
        return tau * (1.5 * self.length * np.linspace(0, 2, 12)[:, None])

    @cached_property
    def points(self) -> np.ndarray:
        """Points, two of them equal."""
        X = self.rng(2).normal(size=(14, self.d)) * (1.5 * self.length)
        X[1] = X[0]
        return X

    @cached_property
    def mass(self) -> float:
        return float(self.measure.mass)

    @cached_property
    def omega(self) -> np.ndarray:
        return self.measure.transport(self.rng(3).random((DRAWS, self.measure.uniforms(self.d))), self.d)

    def cosine_variance(self, measure: SpectralMeasure | None = None) -> np.ndarray:
        """Exact variance of mass * cos(2 pi omega . tau) for one draw; a sample's own fails for heavy tails."""
        k = (measure or self.measure).characteristic
        mass = float((measure or self.measure).mass)
        return np.maximum((mass**2 + mass * k(2 * self.tau)) / 2 - k(self.tau) ** 2, 0)

    def assert_mean_cosine(self, omega: np.ndarray, measure: SpectralMeasure | None = None) -> None:
        measure = measure or self.measure
        mass = float(measure.mass)
        mean = mass * np.cos(2 * math.pi * omega @ self.tau.T).mean(axis=0)
        error = np.abs(mean - measure.characteristic(self.tau))
        allowed = SIX_SIGMA * np.sqrt(self.cosine_variance(measure) / len(omega)) + 1e-10 * mass
        assert (error <= allowed).all(), f"error / allowed = {(error / allowed).max():.3g}"
