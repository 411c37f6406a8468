"""Footprints: where around a row its value is averaged. They are measures too, of positions instead of frequencies."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spectralkit._xp import as_float64, cast_like, convert, is_torch, namespace
from spectralkit.spectra._lags import Lags
from spectralkit.spectra.band_limited import BandLimited
from spectralkit.spectra.base import SpectralMeasure
from spectralkit.spectra.radial import Gaussian

_LARGEST_SQUARE = 1e30  # every damping is below 1e-14 there, and float32 ends at 3e38


@dataclass(frozen=True)
class Footprint:
    r"""A distribution of positions around each row, by its shape and its width.

    The mean of a wave over a footprint is the wave, damped by the characteristic function of the footprint,

    .. math:: E\bigl[\cos 2\pi\omega\cdot(x + \delta)\bigr]
              = \cos(2\pi\omega\cdot x)\; E\bigl[\cos 2\pi\omega\cdot\delta\bigr],

    and the characteristic function of a uniform or normal distribution of positions is the kernel of the measure that
    is uniform or normal over frequencies, with position and frequency in each other's place.

    ==========  ===============================================  =================================================
    shape       positions :math:`\delta`                         damping
    ==========  ===============================================  =================================================
    gaussian    normal, standard deviation w or covariance       :math:`\exp(-2\pi^2\omega^\top\Sigma\,\omega)`
    box         uniform in a box of full side w                  :math:`\prod_p \sin(\pi w_p\omega_p)/(\pi w_p\omega_p)`
    disc        uniform in a disc of radius w, two columns       :math:`2 J_1(u)/u,\; u = 2\pi w|\omega|`
    ball        uniform in a ball of radius w, any number        :math:`3(\sin u - u\cos u)/u^3` in three columns
    ==========  ===============================================  =================================================

    Attributes
    ----------
    shape : {"gaussian", "box", "disc", "ball"}
        What the width is: standard deviation, full side, radius and radius.
    width : ndarray or tensor of shape (1, d) or (n, d)
        In units of x, one row for all or one each; a disc of two widths is an ellipse.
    covariance : ndarray or tensor of shape (1, d, d) or (n, d, d), or None
        Instead of a width, for "gaussian".

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.spectra import Footprint
    >>> pixel = Footprint("box", width=np.array([[0.5, 0.5]]))
    >>> pixel.damping(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])).round(6)
    array([[1.     , 0.63662, 0.     ]])
    """

    shape: str
    width: Any = None
    covariance: Any = None

    @classmethod
    def around(cls, X: Any, shape: str, width: Any = None, covariance: Any = None) -> Footprint:
        """Make the footprints of the rows of X, and check them.

        Parameters
        ----------
        X : array of shape (n, d) or tensor of shape (n, d)
            The rows.
        shape : {"gaussian", "box", "disc", "ball"}
            The shape.
        width : float, or array of shape (n,), (n, 1), (n, d) or (1, d), optional
            In units of X: one for all, one for each row, one for each row and column, one for each column.
        covariance : array of shape (d, d) or (n, d, d), optional
            Instead of the width, for "gaussian".

        Returns
        -------
        Footprint
            One for all rows, or one for each.

        Raises
        ------
        ValueError
            If the shape is unknown or does not exist in d columns, both or none of width and covariance are given, one
            of them has another shape, is not finite or is negative, or a covariance is not symmetric.

        Examples
        --------
        >>> import numpy as np
        >>> from spectralkit.spectra import Footprint
        >>> Footprint.around(np.zeros((3, 2)), "disc", width=[0.1, 0.2, 0.3]).width.shape
        (3, 2)
        """
        n, d = X.shape
        check_footprint(shape, d)
        if (width is None) == (covariance is None):
            raise ValueError("A footprint has either a width or a covariance. Give one of them, and not both.")
        if covariance is not None:
            if shape != "gaussian":
                raise ValueError(f"A covariance is for footprint='gaussian'. Give the width of a {shape} instead.")
            return cls(shape, covariance=_checked_covariance(covariance, n, d))
        return cls(shape, width=_checked_width(width, n, d))

    @property
    def is_per_row(self) -> bool:
        """Whether every row has a footprint of its own."""
        return len(self.size) > 1

    @property
    def size(self) -> Any:
        """The width or the covariance, whichever is given."""
        return self.width if self.covariance is None else self.covariance

    def __getitem__(self, rows: Any) -> Footprint:
        """Return the footprints of some rows."""
        if not self.is_per_row:
            return self
        return replace(self, **{"width" if self.covariance is None else "covariance": self.size[rows]})

    def damping(self, frequencies: Any, like: Any = None) -> Any:
        """Evaluate the characteristic function of each footprint at each frequency.

        Parameters
        ----------
        frequencies : ndarray of shape (m, d)
            In cycles per unit of x.
        like : array or tensor, optional
            An array whose library and dtype the result shall have; float64 otherwise.

        Returns
        -------
        ndarray or tensor of shape (1, m) or (n, m)
            Factors between -1 and 1, which are 1 for a width of zero.
        """
        like = frequencies if like is None else like
        size = as_float64(convert(self.size, like) if is_torch(like) else self.size)
        frequencies = convert(frequencies, size)
        lags = _Widths(size, frequencies, like) if self.covariance is None else _Covariances(size, frequencies, like)
        return cast_like(SHAPES[self.shape].measure(lags.d)._covariance(lags), like)


@dataclass(frozen=True)
class _Shape:
    measure: Callable[[int], SpectralMeasure]  # of width 1, in so many columns
    variance: Callable[[int], float]  # of a footprint of width 1, along each axis


def _box(d: int) -> SpectralMeasure:
    return functools.reduce(operator.mul, [BandLimited(0.5).on([j]) for j in range(d)])


SHAPES = {
    "gaussian": _Shape(lambda d: Gaussian(1.0), lambda d: 1.0),
    "box": _Shape(_box, lambda d: 1 / 12),
    "disc": _Shape(lambda d: BandLimited(1.0), lambda d: 1 / (d + 2)),
    "ball": _Shape(lambda d: BandLimited(1.0), lambda d: 1 / (d + 2)),
}


def check_footprint(shape: Any, d: int) -> None:
    """Refuse a shape that is unknown or does not exist in d columns."""
    if not isinstance(shape, str) or shape not in SHAPES:
        raise ValueError(f"footprint must be one of {', '.join(map(repr, SHAPES))}, got {shape!r}.")
    if shape == "disc" and d != 2:
        raise ValueError(f"footprint='disc' is for two columns, but X has {d}. Use 'ball', which is for any number.")


def _checked_width(width: Any, n: int, d: int) -> Any:
    """As an array of shape (1, d) or (n, d)."""
    if not is_torch(width):
        width = np.asarray(width)
        if width.dtype.kind not in "fiu" or not np.isfinite(width).all() or (width < 0).any():
            raise ValueError(f"The width of a footprint must be finite numbers of at least 0, got {_shown(width)}.")
        width = width.astype(np.float64)
    if width.ndim <= 1:
        width = width.reshape(-1, 1)
    if width.ndim != 2 or width.shape[0] not in (1, n) or width.shape[1] not in (1, d):
        raise ValueError(
            f"The width of a footprint must be one number, or have shape ({n},), ({n}, 1) or ({n}, {d}) as X has {n} "
            f"row(s) and {d} column(s), got {tuple(width.shape)}."
        )
    return namespace(width).broadcast_to(width, (width.shape[0], d))


def _checked_covariance(covariance: Any, n: int, d: int) -> Any:
    """As an array of shape (1, d, d) or (n, d, d)."""
    if not is_torch(covariance):
        covariance = np.asarray(covariance, dtype=np.float64)
    if covariance.ndim == 2:
        covariance = covariance[None]
    if covariance.ndim != 3 or covariance.shape[0] not in (1, n) or tuple(covariance.shape[1:]) != (d, d):
        raise ValueError(
            f"The covariance of a footprint must have shape ({d}, {d}) or ({n}, {d}, {d}), as X has {n} row(s) and {d} "
            f"column(s), got {tuple(covariance.shape)}."
        )
    if is_torch(covariance):
        return covariance
    if not np.isfinite(covariance).all():
        raise ValueError("The covariance of a footprint must be finite, but it has NaN or infinite values.")
    tolerance = 1e-5 * np.trace(covariance, axis1=1, axis2=2)  # float32 covariances are welcome
    is_symmetric = np.abs(covariance - covariance.swapaxes(1, 2)).max(axis=(1, 2)) <= np.abs(tolerance)
    is_covariance = is_symmetric & (np.linalg.eigvalsh(covariance)[:, 0] >= -np.abs(tolerance))
    if not is_covariance.all():
        row = int(np.argmin(is_covariance))
        raise ValueError(
            "The covariance of a footprint must be symmetric, with variances of at least 0 in every direction, but "
            f"that of row {row} is {_shown(covariance[row])}."
        )
    return covariance


def _shown(values: np.ndarray) -> str:
    return np.array2string(values, threshold=12, separator=", ")


def cell_width(shape: str, d: int) -> float:
    """The width of a footprint with the variance of a cell of side 1, 1/12 along each axis."""
    return 1 / math.sqrt(12 * SHAPES[shape].variance(d))


class _Widths(Lags):
    """Every frequency, (m, d), times the widths of every row, (n, d): what a measure of width 1 has as its lags."""

    def __init__(self, width: Any, frequencies: Any, like: Any) -> None:
        self.width, self.frequencies, self.like = width, frequencies, like
        self.d = frequencies.shape[-1]

    def column(self, j: int) -> Any:
        return cast_like(self.width[:, j, None] * self.frequencies[:, j], self.like)

    def on(self, columns: Sequence[int]) -> _Widths:
        columns = list(columns)
        return _Widths(self.width[:, columns], self.frequencies[:, columns], self.like)

    def _squared(self, scale: Any) -> Any:
        """One product of squares; with frequencies of at most 1, so that those of any unit fit into float32."""
        largest = _largest(self.frequencies)
        width, frequencies = self.width * (largest * as_float64(scale)), self.frequencies / largest
        squares = namespace(width).clip(width**2, None, _LARGEST_SQUARE)
        return cast_like(squares, self.like) @ cast_like(frequencies**2, self.like).T

    def _turns(self, frequency: Any) -> Any:
        return self._fraction_of_turns(self.width * frequency, self.frequencies.T)


class _Covariances(Lags):
    """Every frequency, (m, d), and the covariance of every row, (n, d, d), for measures that ask for squares alone."""

    def __init__(self, covariance: Any, frequencies: Any, like: Any) -> None:
        self.covariance, self.frequencies, self.like = covariance, frequencies, like
        self.d = frequencies.shape[-1]

    def _squared(self, scale: Any) -> Any:
        """``omega^T C omega``: one product of the upper triangles of C with products of frequencies.

        In float64: it may cancel, and for a degenerate C rounding can leave it negative.
        """
        largest = _largest(self.frequencies)
        frequencies = self.frequencies * as_float64(scale) / largest
        first, second = np.triu_indices(self.d)
        counts = convert(np.where(first == second, 1.0, 2.0), frequencies)
        products = frequencies[:, first] * frequencies[:, second] * counts
        variance = largest**2 * self.covariance[:, range(self.d), range(self.d)].sum(-1)[:, None]
        shrink = largest**2 / namespace(variance).clip(variance / _LARGEST_SQUARE, 1.0, None)
        squares = cast_like((self.covariance[:, first, second] * shrink) @ products.T, self.like)
        return namespace(squares).clip(squares, 0.0, None)

    def column(self, j: int) -> Any:
        raise NotImplementedError

    def on(self, columns: Sequence[int]) -> Lags:
        raise NotImplementedError

    def _turns(self, frequency: Any) -> Any:
        raise NotImplementedError


def _largest(frequencies: Any) -> float:
    return float(abs(frequencies).max()) or 1.0
