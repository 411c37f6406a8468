"""Atomic measures: their base, and point masses anywhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spectralkit._xp import convert, cosine_and_sine, is_torch, logsumexp, namespace
from spectralkit.spectra._choose import choose_signed
from spectralkit.spectra._dual import carries_derivative, value_of
from spectralkit.spectra._lags import Lags
from spectralkit.spectra._parameters import positive, real
from spectralkit.spectra.base import SpectralMeasure


class PointMasses(SpectralMeasure):
    """Base of the measures of finitely many frequencies: they write ``_atom_arrays(like, d)``.

    It returns frequencies (m, d), one of each pair, and weights (m,) in the library of the array `like`.
    """

    def _atom_arrays(self, like: Any, d: int) -> tuple[Any, Any]:
        raise NotImplementedError(f"{type(self).__name__} must write _atom_arrays(like, d).")

    def _covariance(self, lags: Lags) -> Any:
        total: Any = 0.0
        for frequency, weight in zip(*self._atom_arrays(lags.like, lags.d), strict=True):
            turns = lags.turns(frequency)
            if carries_derivative(turns):
                total = total + weight * namespace(lags.like).cos(2 * math.pi * turns)
            else:
                total = total + weight * cosine_and_sine(turns)[0]
        return total

    def _uniforms(self, d: int) -> int:
        return 1

    def _transport(self, u: np.ndarray, d: int) -> np.ndarray:
        frequencies, weights = self._atoms(d)
        i, _, sign = choose_signed(u[:, 0], weights)
        return sign * frequencies[i]

    def _polar(self, v: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
        return self._transport(u, d)  # atoms have no use for a direction; sums with other measures have

    def _atoms(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        frequencies, weights = self._atom_arrays(np.empty(0), d)
        return frequencies.copy(), weights.copy()

    def _cutoff(self, tol: float, d: int) -> np.ndarray:
        return np.abs(self._atoms(d)[0]).max(axis=0)

    def _support(self, tol: float, d: int) -> float:
        return math.inf

    def _log_mgf(self, x: Any) -> Any:
        frequencies, weights = self._atom_arrays(x, x.shape[-1])
        xp = namespace(x, frequencies, weights)
        terms = []
        for frequency, weight in zip(frequencies, weights, strict=True):
            exponent = 2 * math.pi * (x * frequency).sum(-1)
            terms += [xp.log(weight / 2) + exponent, xp.log(weight / 2) - exponent]
        return logsumexp(terms)


class Atomic(PointMasses):
    r"""Point masses at given frequencies: sums of pure waves.

    .. math:: k(\tau) = \sum_i w_i \cos(2\pi\,\omega_i\cdot\tau), \qquad k(0) = \sum_i w_i

    Parameters
    ----------
    frequencies : array of shape (m, d)
        Frequencies in cycles per unit of x, one of each pair :math:`\pm\omega`. Shape (m,) is understood as one column.
    weights : array of shape (m,), optional
        Mass of each pair; 1/m each if left out.

    Raises
    ------
    ValueError
        If a weight is not positive, or the shapes do not agree.

    References
    ----------
    M. Lázaro-Gredilla et al., "Sparse spectrum Gaussian process regression", *JMLR* 11, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Atomic
    >>> k = Atomic(frequencies=[1.0, 2.0], weights=[0.75, 0.25])
    >>> k.characteristic(np.array([[0.0], [0.25], [0.5], [1.0]])).round(12)
    array([ 1.  , -0.25, -0.5 ,  1.  ])
    """

    frequencies: Any = real(default=None)
    weights: Any = positive(default=None)

    @property
    def dimension(self) -> int:
        """Number of columns of the frequencies."""
        shape = np.shape(self.frequencies)
        return shape[1] if len(shape) == 2 else 1

    def _check_parameters(self) -> None:
        if self.frequencies is None:
            raise ValueError("Atomic: frequencies must be given, an array of shape (m, d).")
        shape = np.shape(self.frequencies)
        if not 1 <= len(shape) <= 2 or (self.weights is not None and np.shape(self.weights) != shape[:1]):
            raise ValueError(
                "Atomic: frequencies must have shape (m, d) and weights (m,), got "
                f"{shape} and {np.shape(self.weights)}."
            )

    def _has(self, capability: str, d: int) -> bool:
        if capability == "nonnegative":  # of frequency zero alone it is constant
            return not np.any(value_of(self.frequencies))
        return super()._has(capability, d)

    def _atom_weights(self) -> Any:
        count = np.shape(self.frequencies)[0]
        return np.full(count, 1 / count) if self.weights is None else self.weights

    def _atom_arrays(self, like: Any, d: int) -> tuple[Any, Any]:
        weights = convert(self._atom_weights(), like)
        return convert(self.frequencies, like).reshape((weights.shape[0], -1)), weights

    def _mass(self) -> Any:
        weights = self._atom_weights()
        return weights.sum() if is_torch(weights) else float(np.sum(weights))

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        """One cosine and one sine per atom give its value and all 1 + d derivatives."""
        frequencies, weights = self._atom_arrays(lags.like, lags.d)
        d = lags.d
        to_weights = out[len(weights) * d :] if self.weights is not None else [None] * len(weights)
        K = np.zeros(lags.shape, dtype=lags.like.dtype)
        for rows, pairs in lags.row_blocks():
            columns = [pairs.column(j) for j in range(d)]
            for i, (frequency, weight, to_weight) in enumerate(zip(frequencies, weights, to_weights, strict=True)):
                cosine, sine = cosine_and_sine(pairs.turns(frequency))
                k = weight * cosine
                K[rows] += k
                if to_weight is not None:
                    to_weight[rows] = k
                to_frequency = out[i * d : (i + 1) * d]
                if any(slot is not None for slot in to_frequency):
                    quadrature = -2 * math.pi * weight * sine
                    for column, slot in zip(columns, to_frequency, strict=True):
                        if slot is not None:
                            np.multiply(quadrature, column, out=slot[rows])
        return lags.with_diagonal(K, self._mass())
