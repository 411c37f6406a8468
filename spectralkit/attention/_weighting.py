"""What a row weighs at a query: Gaussian, softmax, compact kernels, and any measure whose kernel is not negative."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from spectralkit._validation import is_positive_number
from spectralkit.spectra import Gaussian, SpectralMeasure
from spectralkit.spectra._sklearn import SPECTRA_BY_NAME, as_spectrum, sigma_of

__all__ = ["COMPACT", "Compact", "Exponential", "OfMeasure", "Weighting", "are_bandwidths", "per_column", "weighting"]


class Weighting(abc.ABC):
    """Weights of rows x_i at queries x, for one bandwidth per column.

    Attributes
    ----------
    bandwidth : ndarray of shape (d,)
        In units of x.
    is_open : bool
        Whether the bandwidth may be replaced: whether the kernel left its scale open.
    has_one_scale : bool
        Whether there is one number of the kernel for each bandwidth.
    in_logarithms : bool
        Whether `block` gives logarithms.
    """

    bandwidth: np.ndarray
    is_open: bool = True
    has_one_scale: bool = True
    in_logarithms: bool = False

    @abc.abstractmethod
    def at(self, bandwidth: np.ndarray) -> Weighting:
        """The same kernel with another bandwidth."""

    @abc.abstractmethod
    def block(self, queries: np.ndarray, rows: np.ndarray, radius: np.ndarray | None) -> np.ndarray:
        """Weights (m, n), or their natural logarithms, computed from differences of the points in float64.

        With a radius (m,), the bandwidth at each query is so many times as large.
        """

    def slopes(self, queries: np.ndarray, rows: np.ndarray, radius: np.ndarray | None) -> list[np.ndarray]:
        """Derivatives (m, n) of the weights to the logarithm of each bandwidth."""
        raise NotImplementedError

    @property
    def measure(self) -> SpectralMeasure | None:
        """The measure whose kernel it is, if it is one."""
        return None


class Exponential(Weighting):
    r"""Weights :math:`e^{z\cdot z_i}`, times :math:`e^{-|z_i|^2/2}` for the Gaussian kernel; z is x over the bandwidth.

    With a temperature, the square of the bandwidth, rows of larger norm weigh more: that is the softmax kernel.
    """

    in_logarithms = True

    def __init__(self, bandwidth: np.ndarray, temperature: float | None = None, is_open: bool = True) -> None:
        self.bandwidth, self.temperature, self.is_open = bandwidth, temperature, is_open

    @property
    def keys_count(self) -> bool:
        """Whether the kernel is the softmax one."""
        return self.temperature is not None

    def at(self, bandwidth: np.ndarray) -> Exponential:
        return Exponential(bandwidth, self.temperature, self.is_open)

    def block(self, queries: np.ndarray, rows: np.ndarray, radius: np.ndarray | None) -> np.ndarray:
        squares = cdist(queries / self.bandwidth, rows / self.bandwidth, "sqeuclidean")
        squares *= -0.5 if radius is None else -0.5 / radius[:, None] ** 2
        return squares

    @property
    def measure(self) -> SpectralMeasure | None:
        return None if self.keys_count else Gaussian.from_lengthscale(self.bandwidth)

    @property
    def squared(self) -> Exponential:
        """The weighting with the square of these weights."""
        return self.at(self.bandwidth / math.sqrt(2))


class Profile(NamedTuple):
    """A function of the squared distance s, zero beyond s = 1, and its derivative."""

    value: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]


def _tricube_slope(s: np.ndarray) -> np.ndarray:
    u = np.sqrt(np.minimum(s, 1))
    return -4.5 * u * (1 - u**3) ** 2


COMPACT = {
    "epanechnikov": Profile(lambda s: np.maximum(1 - s, 0), lambda s: np.where(s < 1, -1.0, 0.0)),
    "tricube": Profile(lambda s: (1 - np.minimum(s, 1) ** 1.5) ** 3, _tricube_slope),
}


class Compact(Weighting):
    """Weights by a function of the distance over the bandwidth that is zero beyond 1."""

    def __init__(self, name: str, bandwidth: np.ndarray) -> None:
        self.name, self.bandwidth = name, bandwidth

    def at(self, bandwidth: np.ndarray) -> Compact:
        return Compact(self.name, bandwidth)

    def block(self, queries: np.ndarray, rows: np.ndarray, radius: np.ndarray | None) -> np.ndarray:
        return COMPACT[self.name].value(self._squares(queries, rows, radius))

    def slopes(self, queries: np.ndarray, rows: np.ndarray, radius: np.ndarray | None) -> list[np.ndarray]:
        slope = COMPACT[self.name].slope(self._squares(queries, rows, radius))
        scale = self.bandwidth if radius is None else self.bandwidth * radius[:, None]
        z, x = queries / scale, rows / self.bandwidth
        columns = []
        for j in range(len(self.bandwidth)):
            lag = z[:, j, None] - (x[:, j] if radius is None else x[:, j] / radius[:, None])
            columns.append(-2 * slope * lag**2)
        return columns

    def _squares(self, queries: np.ndarray, rows: np.ndarray, radius: np.ndarray | None) -> np.ndarray:
        squares = cdist(queries / self.bandwidth, rows / self.bandwidth, "sqeuclidean")
        if radius is not None:
            squares /= radius[:, None] ** 2
        return squares


class OfMeasure(Weighting):
    """Weights by the kernel of a measure: a template whose scale the bandwidth is, or one that has its own."""

    def __init__(self, template: SpectralMeasure, bandwidth: np.ndarray) -> None:
        self.template, self.is_open = template, template.is_template()
        self._measure = _filled(template, bandwidth)
        self.bandwidth = bandwidth if self.is_open else _lengths(template, len(bandwidth))
        self.has_one_scale = int(self._scales().sum()) == len(bandwidth)

    def at(self, bandwidth: np.ndarray) -> OfMeasure:
        return OfMeasure(self.template, bandwidth)

    def block(self, queries: np.ndarray, rows: np.ndarray, radius: np.ndarray | None) -> np.ndarray:
        if radius is None:
            return self._measure.gram(rows, queries).T  # counted from the mean of the rows, whatever the queries
        each = [self._measure.gram(q[None] / r, rows / r)[0] for q, r in zip(queries, radius, strict=True)]
        return np.stack(each)

    def slopes(self, queries: np.ndarray, rows: np.ndarray, radius: np.ndarray | None) -> list[np.ndarray]:
        free = self._scales()
        if radius is None:
            slopes = self._measure.gram_gradient(rows, queries, free=free)[1].transpose(0, 2, 1)
        else:
            each = zip(queries, radius, strict=True)
            pairs = [self._measure.gram_gradient(q[None] / r, rows / r, free=free)[1] for q, r in each]
            slopes = np.concatenate(pairs, axis=1)
        return list(-slopes)

    def _scales(self) -> np.ndarray:
        """Which numbers of the measure the bandwidth has filled."""
        was_open = {name for name, value in self.template.get_params().items() if value is None}
        return np.concatenate([np.full(p.size, p.name in was_open) for p in self._measure.parameters()])

    @property
    def measure(self) -> SpectralMeasure:
        return self._measure


def _lengths(measure: SpectralMeasure, d: int) -> np.ndarray:
    """What stands for the bandwidths of a measure that has its scale."""
    if "sigma" in measure.get_params():
        return per_column(1 / (2 * math.pi * np.asarray(sigma_of(measure))), d)
    if "support" in measure.capabilities(d):  # where a Gaussian kernel has fallen to this value
        return per_column(measure.support(math.exp(-0.5), d), d)
    return np.ones(d)


def _filled(template: SpectralMeasure, bandwidth: np.ndarray) -> SpectralMeasure:
    if not template.is_template():
        return template
    return template.resolve(np.zeros((1, len(bandwidth))), sigma=1 / (2 * math.pi * bandwidth))


def are_bandwidths(given: Any, d: int) -> bool:
    """Whether it is a positive finite number, or one for each of d columns."""
    values = np.atleast_1d(np.asarray(given, dtype=object))
    return values.ndim == 1 and len(values) in (1, d) and all(is_positive_number(value) for value in values)


def per_column(bandwidth: Any, d: int) -> np.ndarray:
    """A number, or one for each of d columns, as an array of d."""
    return np.array(np.broadcast_to(np.asarray(bandwidth, dtype=float), (d,)))


def weighting(kernel: Any, temperature: Any, d: int) -> Weighting:
    """The weighting that the arguments of an estimator mean, of bandwidth 1 unless it has its own."""
    one = np.ones(d)
    if isinstance(kernel, str) and kernel == "softmax":
        value = math.sqrt(d) if temperature is None else temperature
        if not is_positive_number(value):
            raise ValueError(f"temperature must be None or a positive finite number, got {temperature!r}.")
        return Exponential(np.full(d, math.sqrt(value)), float(value), is_open=False)
    if temperature is not None:
        raise ValueError(
            f"temperature={temperature!r} is for kernel='softmax', but kernel={kernel!r}. Leave it out, or set "
            "bandwidth: the temperature of a Gaussian kernel is the square of its bandwidth."
        )
    if isinstance(kernel, str):
        if kernel in COMPACT:
            return Compact(kernel, one)
        if kernel not in SPECTRA_BY_NAME:
            names = ", ".join(map(repr, ["softmax", *COMPACT, *SPECTRA_BY_NAME]))
            raise ValueError(f"kernel must be one of {names}, or a measure, got {kernel!r}.")
    template = as_spectrum(kernel, "kernel")
    measure = _filled(template, one).require("nonnegative", d=d)
    if "gaussian" in measure.capabilities(d):
        lengths = 1 / (2 * math.pi * measure.gaussian_sigma(d))
        if not template.is_template() or np.allclose(lengths, 1, rtol=1e-12, atol=0):  # none of a scale that is given
            return Exponential(lengths, is_open=template.is_template())
    return OfMeasure(template, one)
