"""A measure around one other: its multiple, ``2.0 * a``, and its use on some of the columns, ``a.on([0, 2])``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from spectralkit._validation import is_integer
from spectralkit._xp import convert, namespace
from spectralkit.spectra._lags import Lags
from spectralkit.spectra._parameters import Parameter, fixed, plain_repr, positive
from spectralkit.spectra._template import Data
from spectralkit.spectra.base import SpectralMeasure


class _Wrapper(SpectralMeasure):
    """A measure around one other; transparent in parameter names: ``1__sigma``, not ``1__part__sigma``."""

    part: SpectralMeasure = fixed(default=None)

    def _check_parameters(self) -> None:
        if not isinstance(self.part, SpectralMeasure):
            raise TypeError(f"{type(self).__name__} needs a measure, got {self.part!r}.")
        if isinstance(self.part, self._may_not_hold):  # two wrappers of a kind would share their parameters' names
            raise TypeError(
                f"{type(self).__name__} cannot hold {self.part!r}. Use c * measure and measure.on(columns), which "
                "merge multiples and groups."
            )

    @property
    def _may_not_hold(self) -> tuple[type, ...]:
        return (type(self),)

    @property
    def dimension(self) -> int | None:
        """Number of columns that the part was written for."""
        return self.part.dimension

    @property
    def columns(self) -> frozenset[int] | None:
        """Columns that the part depends on."""
        return self.part.columns

    def _open_names(self) -> list[str]:
        return self.part._open_names()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return (self.part.get_params() | own) if deep else own  # own last: the part may be a wrapper itself

    def parameters(self) -> list[Parameter]:
        return super().parameters() + self.part.parameters()

    def replace(self, **changes: Any) -> Self:
        unknown = [name for name in changes if name not in self.get_params()]
        if unknown:
            raise ValueError(
                f"{self!r} has no parameter {unknown[0]!r}; it has {', '.join(sorted(self.get_params()))}."
            )
        own_names = {field.name for field in dataclasses.fields(self)}
        own = {name: value for name, value in changes.items() if name in own_names}
        inner = {name: value for name, value in changes.items() if name not in own_names}
        if inner:
            own["part"] = own.get("part", self.part).replace(**inner)
        return dataclasses.replace(self, **own)

    def _check_columns(self, d: int) -> None:
        self.part._check_columns(d)

    def _resolve(self, data: Data) -> Self:
        return dataclasses.replace(self, part=self.part._resolve(data))

    def _has(self, capability: str, d: int) -> bool:
        return self.part._has(capability, d)


class Scaled(_Wrapper):
    r"""Positive multiple of a measure, :math:`c\,k`; made by ``c * measure``.

    Parameters
    ----------
    part : SpectralMeasure
        The measure.
    factor : float, default=1.0
        The multiple c, a free parameter.

    Raises
    ------
    ValueError
        If the factor is not positive and finite.

    Examples
    --------
    >>> from spectralkit import Gaussian
    >>> 3.0 * Gaussian(0.1)
    3.0 * Gaussian(sigma=0.1)
    """

    factor: Any = positive(default=1.0)

    @classmethod
    def _of(cls, factor: Any, measure: SpectralMeasure) -> Scaled:
        """Scale; a multiple of a multiple is one multiple."""
        if isinstance(measure, Scaled):
            return cls(factor=factor * measure.factor, part=measure.part)
        return cls(factor=factor, part=measure)

    def __repr__(self) -> str:
        return f"{plain_repr(self.factor)} * {self.part._operand_repr()}"

    def _operand_repr(self) -> str:
        return f"({self!r})"

    def _narrowed(self, columns: Sequence[int]) -> Scaled:
        return Scaled(factor=self.factor, part=self.part._narrowed(columns))

    def _log_factor(self, like: Any) -> Any:
        factor = convert(self.factor, like)
        return namespace(like, factor).log(factor)

    def _mass(self) -> Any:
        return self.factor * self.part._mass()

    def _covariance(self, lags: Lags) -> Any:
        return convert(self.factor, lags.like) * self.part._covariance(lags)

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        to_factor, *to_part = out
        K = self.part._covariance_gradient(lags, to_part)
        K *= self.factor
        if to_factor is not None:
            to_factor[...] = K
        for slot in to_part:
            if slot is not None:
                np.multiply(slot, self.factor, out=slot)
        return K

    def _terms(self) -> list[SpectralMeasure]:
        return [self.factor * term for term in self.part._terms()]

    def _uniforms(self, d: int) -> int:
        return self.part._uniforms(d)

    def _transport(self, u: np.ndarray, d: int) -> np.ndarray:
        return self.part._transport(u, d)

    def _polar_uniforms(self, d: int) -> int:
        return self.part._polar_uniforms(d)

    def _polar(self, v: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
        return self.part._polar(v, u, d)

    def _radii(self, u: np.ndarray, d: int) -> np.ndarray:
        return self.part._radii(u, d)

    def _log_density(self, omega: Any) -> Any:
        return self.part._log_density(omega) + self._log_factor(omega)

    def _atoms(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        frequencies, weights = self.part._atoms(d)
        return frequencies, weights * float(self.factor)

    def _factors(self, d: int) -> list[SpectralMeasure]:
        first, *others = self.part.factors(d)
        return [self.factor * first, *others]

    def _cutoff(self, tol: float, d: int) -> np.ndarray:
        return self.part._cutoff(tol, d)

    def _support(self, tol: float, d: int) -> np.ndarray:
        return self.part._support(tol, d)

    def _log_mgf(self, x: Any) -> Any:
        return self.part._log_mgf(x) + self._log_factor(x)

    def _gaussian_sigma(self, d: int) -> Any:
        return self.part._gaussian_sigma(d)


class OnColumns(_Wrapper):
    r"""A kernel on some of the columns, :math:`k(\tau) = k_{\mathrm{part}}(\tau_{c_0}, \tau_{c_1}, \dots)`.

    Made by ``measure.on(columns)``. Its frequencies are zero in the other columns.

    Parameters
    ----------
    part : SpectralMeasure
        A measure in ``len(group)`` columns.
    group : tuple of int
        Distinct column numbers, counted from 0.

    Raises
    ------
    ValueError
        If a number is negative or repeated, none is given, or the part describes another number of columns.

    Examples
    --------
    >>> from spectralkit import Gaussian
    >>> Gaussian(0.1).on([2, 0]).group
    (2, 0)
    """

    group: tuple[int, ...] = fixed(default=())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        group = _column_numbers(self.group)
        if self.part.dimension not in (None, len(group)):
            raise ValueError(
                f"{self.part!r} describes {self.part.dimension} columns, but on({list(group)}) gives it {len(group)}. "
                f"Give {self.part.dimension} column numbers."
            )

    @property
    def _may_not_hold(self) -> tuple[type, ...]:
        return (OnColumns, Scaled)

    @classmethod
    def _of(cls, measure: SpectralMeasure, columns: Sequence[int]) -> SpectralMeasure:
        """Restrict; a multiple stays outermost, and a group of a group is one group."""
        group = _column_numbers(columns)
        if isinstance(measure, Scaled):
            return Scaled._of(measure.factor, cls._of(measure.part, group))
        if isinstance(measure, OnColumns):
            measure._check_columns(len(group))
            return cls(measure.part, tuple(group[column] for column in measure.group))
        return cls(measure, group)

    def __repr__(self) -> str:
        return f"{self.part._operand_repr()}.on({list(self.group)})"

    @property
    def dimension(self) -> None:
        """None: only the group has to be there."""
        return None

    @property
    def columns(self) -> frozenset[int]:
        """The group, or what the part uses of it."""
        inner = range(len(self.group)) if self.part.columns is None else self.part.columns
        return frozenset(self.group[j] for j in inner)

    def _narrowed(self, columns: Sequence[int]) -> SpectralMeasure:
        used = [j for j, column in enumerate(self.group) if column in columns]
        position = {column: place for place, column in enumerate(columns)}
        return OnColumns(self.part._narrowed(used), tuple(position[self.group[j]] for j in used))

    def _check_columns(self, d: int) -> None:
        self.part._check_columns(len(self.group))
        if max(self.group) >= d:
            raise ValueError(f"{self!r} needs at least {max(self.group) + 1} columns, but the points have {d}.")

    def _resolve(self, data: Data) -> Self:
        return dataclasses.replace(self, part=self.part._resolve(data.on(self.group)))

    def _has(self, capability: str, d: int) -> bool:
        if capability == "radial":
            return False
        if capability in ("density", "factors", "gaussian") and len(self.group) != d:
            return False  # the other columns hold a point mass at zero
        return self.part._has(capability, len(self.group))

    def _mass(self) -> Any:
        return self.part._mass()

    def _covariance(self, lags: Lags) -> Any:
        return self.part._covariance(lags.on(self.group))

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        return self.part._covariance_gradient(lags.on(self.group), out)

    def _factors(self, d: int) -> list[SpectralMeasure]:
        inner = self.part.factors(d)
        return [inner[self.group.index(column)] for column in range(d)]

    def _embedded(self, values: Any, d: int, elsewhere: float = 0.0) -> np.ndarray:
        out = np.full((*np.shape(values)[:-1], d), elsewhere)
        out[..., list(self.group)] = values
        return out

    def _terms(self) -> list[SpectralMeasure]:
        return [term.on(self.group) for term in self.part._terms()]

    def _uniforms(self, d: int) -> int:
        return self.part._uniforms(len(self.group))

    def _transport(self, u: np.ndarray, d: int) -> np.ndarray:
        return self._embedded(self.part._transport(u, len(self.group)), d)

    def _polar_uniforms(self, d: int) -> int:
        return self.part._polar_uniforms(len(self.group))

    def _polar(self, v: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
        directions = v[:, list(self.group)]
        directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        return self._embedded(self.part._polar(directions, u, len(self.group)), d)

    def _log_density(self, omega: Any) -> Any:
        return self.part._log_density(omega[..., list(self.group)])

    def _atoms(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        frequencies, weights = self.part._atoms(len(self.group))
        return self._embedded(frequencies, d), weights

    def _cutoff(self, tol: float, d: int) -> np.ndarray:
        inner = len(self.group)
        return self._embedded(np.broadcast_to(self.part._cutoff(tol, inner), inner), d)

    def _support(self, tol: float, d: int) -> np.ndarray:
        inner = len(self.group)
        return self._embedded(np.broadcast_to(self.part._support(tol, inner), inner), d, math.inf)

    def _log_mgf(self, x: Any) -> Any:
        return self.part._log_mgf(x[..., list(self.group)])

    def _gaussian_sigma(self, d: int) -> np.ndarray:
        return self._embedded(np.broadcast_to(self.part._gaussian_sigma(d), d), d)


def _column_numbers(columns: Any) -> tuple[int, ...]:
    """The argument of ``on`` as plain integers."""
    try:
        group = tuple(columns)
    except TypeError:
        group = ()
    if not all(is_integer(c, at_least=0) for c in group) or not 0 < len(group) == len(set(group)):
        raise ValueError(f"on(columns) needs distinct column numbers of at least 0, got {columns!r}.")
    return tuple(int(c) for c in group)
