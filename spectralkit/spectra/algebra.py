"""Sums and products of measures, made by ``a + b`` and ``a * b``.

They are measures like any other. What a composition can do follows from its parts; `_has` of each class says how.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from spectralkit._xp import logsumexp
from spectralkit.spectra._choose import choose
from spectralkit.spectra._lags import Lags
from spectralkit.spectra._parameters import fixed
from spectralkit.spectra._template import Data
from spectralkit.spectra.base import SpectralMeasure


class _Parts(SpectralMeasure):
    """A measure made of several: what sums and products share."""

    parts: tuple[SpectralMeasure, ...] = fixed(default=())

    def _operand_repr(self) -> str:
        return f"({self!r})"

    @classmethod
    def _of(cls, *measures: SpectralMeasure) -> Self:
        """Compose, with nested compositions of the same kind made flat."""
        flat = [part for m in measures for part in (m.parts if type(m) is cls else (m,))]
        return cls(tuple(flat))

    def _check_parameters(self) -> None:
        if not self.parts or not all(isinstance(part, SpectralMeasure) for part in self.parts):
            raise TypeError(f"{type(self).__name__} needs a tuple of measures, got {self.parts!r}.")

    def _children(self) -> dict[str, SpectralMeasure]:
        return {str(i): part for i, part in enumerate(self.parts)}

    def _with_children(self, children: dict[str, SpectralMeasure]) -> Self:
        parts = tuple(children.get(label, part) for label, part in self._children().items())
        return dataclasses.replace(self, parts=parts)

    @property
    def dimension(self) -> int | None:
        """Number of columns that a part was written for; None if no part cares."""
        return next((part.dimension for part in self.parts if part.dimension is not None), None)

    @property
    def columns(self) -> frozenset[int] | None:
        """Columns that any part depends on."""
        groups = [part.columns for part in self.parts]
        return None if None in groups else frozenset().union(*groups)  # type: ignore[arg-type]

    def _narrowed(self, columns: Sequence[int]) -> Self:
        return type(self)(tuple(part._narrowed(columns) for part in self.parts))

    def _has(self, capability: str, d: int) -> bool:
        return all(part._has(capability, d) for part in self.parts)

    def _gradient_slots(self, out: list[np.ndarray | None]) -> Iterator[list[np.ndarray | None]]:
        start = 0
        for part in self.parts:
            stop = start + part._parameter_count()
            yield out[start:stop]
            start = stop


class Sum(_Parts):
    r"""Sum of measures: the kernels add, :math:`k = \sum_i k_i`; made by ``a + b``.

    Parameters
    ----------
    parts : tuple of SpectralMeasure
        The terms. Their parameters are named ``0__sigma``, ``1__sigma``, ...

    Raises
    ------
    TypeError
        If a part is not a measure.

    Examples
    --------
    >>> from spectralkit import Gaussian, Matern
    >>> k = Gaussian(0.1) + 0.5 * Matern(0.3, nu=1.5)
    >>> k.mass
    1.5
    >>> k.replace(**{"1__sigma": 0.2})
    Gaussian(sigma=0.1) + 0.5 * Matern(sigma=0.2, nu=1.5)
    """

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))

    def _has(self, capability: str, d: int) -> bool:
        return capability not in ("factors", "radial", "gaussian") and super()._has(capability, d)

    def _mass(self) -> Any:
        return functools.reduce(operator.add, (part._mass() for part in self.parts))

    def _covariance(self, lags: Lags) -> Any:
        return functools.reduce(operator.add, (part._covariance(lags) for part in self.parts))

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        grams = [
            p._covariance_gradient(lags, slots) for p, slots in zip(self.parts, self._gradient_slots(out), strict=True)
        ]
        for gram in grams[1:]:
            grams[0] += gram
        return grams[0]

    def _terms(self) -> list[SpectralMeasure]:
        return [term for part in self.parts for term in part._terms()]

    # A part is chosen by weight; what is left of the selecting number serves the part as its first.

    def _uniforms(self, d: int) -> int:
        return max(1, *(part._uniforms(d) for part in self.parts))

    def _transport(self, u: np.ndarray, d: int) -> np.ndarray:
        omega = np.empty((len(u), d))
        for part, rows, v in self._selected(u):
            omega[rows] = part._transport(v[:, : part._uniforms(d)], d)
        return omega

    def _polar_uniforms(self, d: int) -> int:
        return max(1, *(part._polar_uniforms(d) for part in self.parts))

    def _polar(self, v: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
        omega = np.empty((len(u), d))
        for part, rows, w in self._selected(u):
            omega[rows] = part._polar(v[rows], w[:, : part._polar_uniforms(d)], d)
        return omega

    def _selected(self, u: np.ndarray) -> Iterator[tuple[SpectralMeasure, np.ndarray, np.ndarray]]:
        index, rest = choose(u[:, 0], [float(part._mass()) for part in self.parts])
        for i, part in enumerate(self.parts):
            rows = index == i
            yield part, rows, np.column_stack([rest[rows], u[rows, 1:]])

    def _log_density(self, omega: Any) -> Any:
        return logsumexp([part._log_density(omega) for part in self.parts])

    def _atoms(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        frequencies, weights = zip(*(part._atoms(d) for part in self.parts), strict=True)
        return np.concatenate(frequencies), np.concatenate(weights)

    def _cutoff(self, tol: float, d: int) -> np.ndarray:
        """The smaller of two boxes: every part leaves out the same fraction of its own mass, or the same mass."""
        masses = np.array([float(part._mass()) for part in self.parts])
        same_fraction = np.full(len(masses), tol)
        same_mass = tol * masses.sum() / (len(masses) * masses)
        return min(self._box(same_fraction, d), self._box(same_mass, d), key=np.prod)

    def _box(self, fractions: np.ndarray, d: int) -> np.ndarray:
        boxes = [
            np.broadcast_to(part._cutoff(float(fraction), d), d)
            for part, fraction in zip(self.parts, fractions, strict=True)
            if fraction < 1  # a part of less mass than it may leave out is left out whole
        ]
        return np.max(boxes, axis=0)

    def _support(self, tol: float, d: int) -> np.ndarray:
        return np.max([np.broadcast_to(part._support(tol, d), d) for part in self.parts], axis=0)

    def _log_mgf(self, x: Any) -> Any:
        return logsumexp([part._log_mgf(x) for part in self.parts])


class Product(_Parts):
    r"""Product of kernels, :math:`k = \prod_i k_i`: the frequencies of the factors add; made by ``a * b``.

    Factors on disjoint groups of columns make a tensor product, which keeps densities and orthogonal directions. On
    shared columns the density would be a convolution and is not available.

    Parameters
    ----------
    parts : tuple of SpectralMeasure
        The factors. Their parameters are named ``0__sigma``, ``1__sigma``, ...

    Raises
    ------
    TypeError
        If a part is not a measure.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Gaussian, Matern
    >>> k = Gaussian(0.1).on([0]) * Matern(0.3, nu=0.5).on([1, 2])
    >>> "density" in k.capabilities(3), "density" in k.capabilities(4)
    (True, False)
    """

    def __repr__(self) -> str:
        return " * ".join(part._operand_repr() for part in self.parts)

    def _groups(self) -> list[list[int]] | None:
        """The columns of each factor, sorted, if the factors share none; otherwise None."""
        groups = [part.columns for part in self.parts]
        if None in groups or sum(map(len, groups)) != len(frozenset().union(*groups)):  # type: ignore[arg-type]
            return None
        return [sorted(group) for group in groups]  # type: ignore[arg-type]

    def _has(self, capability: str, d: int) -> bool:
        groups = self._groups()
        if capability in ("density", "factors", "gaussian"):
            if groups is None or sum(map(len, groups)) != d:
                return False
            narrowed = [part._narrowed(group) for part, group in zip(self.parts, groups, strict=True)]
            return all(part._can(capability, len(group)) for part, group in zip(narrowed, groups, strict=True))
        if capability == "radial" or (capability == "polar" and groups is None):
            return False  # two factors on one column need two independent directions
        return super()._has(capability, d)

    def _resolve(self, data: Data) -> Self:
        """One scale for the whole product: each factor also counts the columns that only the others have."""
        every = frozenset(range(data.X.shape[1]))
        groups = [every if part.columns is None else part.columns for part in self.parts]
        union = frozenset().union(*groups)
        resolved = {
            label: part._resolve(data.with_extra(len(union - group)))
            for (label, part), group in zip(self._children().items(), groups, strict=True)
        }
        return self._with_children(resolved)

    def _mass(self) -> Any:
        return functools.reduce(operator.mul, (part._mass() for part in self.parts))

    def _covariance(self, lags: Lags) -> Any:
        return functools.reduce(operator.mul, (part._covariance(lags) for part in self.parts))

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        slots = list(self._gradient_slots(out))
        grams = [part._covariance_gradient(lags, own) for part, own in zip(self.parts, slots, strict=True)]
        for i, own in enumerate(slots):
            others = [gram for j, gram in enumerate(grams) if j != i]
            for slot in own:
                if slot is not None:
                    for gram in others:
                        np.multiply(slot, gram, out=slot)
        for gram in grams[1:]:
            grams[0] *= gram
        return grams[0]

    def _terms(self) -> list[SpectralMeasure]:
        factors = itertools.product(*(part._terms() for part in self.parts))
        return [functools.reduce(operator.mul, choice) for choice in factors]

    def _uniforms(self, d: int) -> int:
        return sum(part._uniforms(d) for part in self.parts)

    def _transport(self, u: np.ndarray, d: int) -> np.ndarray:
        pieces = np.split(u, np.cumsum([part._uniforms(d) for part in self.parts])[:-1], axis=1)
        return sum(part._transport(piece, d) for part, piece in zip(self.parts, pieces, strict=True))

    def _polar_uniforms(self, d: int) -> int:
        return sum(part._polar_uniforms(d) for part in self.parts)

    def _polar(self, v: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
        # sub-vectors of one uniform direction, made unit vectors again, are independent and uniform
        pieces = np.split(u, np.cumsum([part._polar_uniforms(d) for part in self.parts])[:-1], axis=1)
        return sum(part._polar(v, piece, d) for part, piece in zip(self.parts, pieces, strict=True))

    def _log_density(self, omega: Any) -> Any:
        groups = self._groups() or []
        densities = [
            part._narrowed(group)._log_density(omega[..., group])
            for part, group in zip(self.parts, groups, strict=True)
        ]
        return functools.reduce(operator.add, densities)

    def _atoms(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """The product of two cosines is half the cosine of the sum plus half the cosine of the difference."""
        frequencies, weights = self.parts[0]._atoms(d)
        for part in self.parts[1:]:
            others, other_weights = part._atoms(d)
            pairs = [frequencies[:, None] + others, frequencies[:, None] - others]
            frequencies = np.concatenate([pair.reshape(-1, d) for pair in pairs])
            weights = np.tile(np.outer(weights, other_weights).ravel() / 2, 2)
        return frequencies, weights

    def _factors(self, d: int) -> list[SpectralMeasure]:
        single: dict[int, SpectralMeasure] = {}
        for part, group in zip(self.parts, self._groups() or [], strict=True):
            single |= dict(zip(group, part._narrowed(group).factors(len(group)), strict=True))
        return [single[column] for column in range(d)]

    def _gaussian_sigma(self, d: int) -> np.ndarray:
        sigma = np.empty(d)
        for part, group in zip(self.parts, self._groups() or [], strict=True):
            sigma[group] = part._narrowed(group)._gaussian_sigma(len(group))
        return sigma

    def _cutoff(self, tol: float, d: int) -> np.ndarray:
        share = tol / len(self.parts)
        return np.sum([np.broadcast_to(part._cutoff(share, d), d) for part in self.parts], axis=0)

    def _support(self, tol: float, d: int) -> np.ndarray:
        return np.min([np.broadcast_to(part._support(tol, d), d) for part in self.parts], axis=0)

    def _log_mgf(self, x: Any) -> Any:
        return functools.reduce(operator.add, (part._log_mgf(x) for part in self.parts))
