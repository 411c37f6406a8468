"""Footprints: where around a row its value is averaged. They are measures too, of positions instead of frequencies."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spectralkit import _loops
from spectralkit._xp import as_float64, cast_like, convert, is_torch, namespace
from spectralkit.spectra._capable import CapabilityError
from spectralkit.spectra._footprint_lags import CovarianceLags, WidthLags
from spectralkit.spectra.band_limited import MOST_COLUMNS, BandLimited
from spectralkit.spectra.base import SpectralMeasure
from spectralkit.spectra.radial import Gaussian


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
    ball        uniform in a ball of radius w                    :math:`3(\sin u - u\cos u)/u^3` in three columns
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
        if X.ndim < 2:
            raise ValueError(
                f"X must be two-dimensional, (rows, columns), got shape {tuple(X.shape)}. Use reshape(-1, 1) if it has "
                "one column."
            )
        n, d = X.shape[-2:]
        check_footprint(shape, d)
        if (width is None) == (covariance is None):
            raise ValueError("A footprint has either a width or a covariance. Give one of them, and not both.")
        if covariance is not None:
            if shape != "gaussian":
                raise ValueError(f"A covariance is for footprint='gaussian'. Give the width of a {shape} instead.")
            return cls(shape, covariance=_checked_covariance(_like_rows(covariance, X), n, d))
        return cls(shape, width=_checked_width(_like_rows(width, X), n, d))

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

    def _refuse_columns(self, d: int, torch: bool = False) -> None:
        """Raise unless the footprint can be evaluated in d columns."""
        check_footprint(self.shape, d)
        if tuple(self.size.shape[1:]) != ((d,) if self.covariance is None else (d, d)):
            raise ValueError(
                f"The footprint has shape {tuple(self.size.shape)}, which does not fit {d} column(s). Make it with "
                "Footprint.around(X, ...)."
            )
        if torch and not SHAPES[self.shape].measure(d)._can("torch", d):
            raise CapabilityError(
                f"footprint={self.shape!r} has no formula for tensors in {d} column(s). Use 'gaussian', 'box', or "
                "NumPy arrays instead."
            )

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

        Raises
        ------
        ValueError
            If the shape is unknown, or the frequencies have another number of columns than the footprint.
        CapabilityError
            If `like` is a tensor and the factors are Bessel functions, which torch lacks: for a disc, and for a ball in
            other than one or three columns.
        """
        frequencies = as_float64(frequencies)
        like = frequencies if like is None else like
        self._refuse_columns(frequencies.shape[-1], torch=is_torch(like))
        size = as_float64(convert(self.size, like) if is_torch(like) else self.size)
        frequencies = convert(frequencies, size)
        if self.shape == "box" and not is_torch(like) and _loops.fits_a_block(len(size) * frequencies.size):
            out = np.empty((len(size), len(frequencies)), dtype=like.dtype)
            _loops.sinc_products(size, frequencies.T, out)
            return out
        lags = (WidthLags if self.covariance is None else CovarianceLags)(size, frequencies, like)
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
        raise ValueError(
            f"footprint='disc' is for two columns, but X has {d}. Use 'ball', which is for other numbers too."
        )
    if shape == "ball" and d > MOST_COLUMNS:
        raise ValueError(
            f"footprint='ball' is computed in up to {MOST_COLUMNS} columns, but X has {d}. Use 'gaussian' with the "
            "radius divided by sqrt(d + 2), which it approaches."
        )


def check_rows(footprint: Footprint, X: Any) -> None:
    """Refuse a footprint that was made for other rows than those of X."""
    n, d = X.shape[-2:]
    footprint._refuse_columns(d)
    if len(footprint.size) not in (1, n):
        raise ValueError(
            f"The footprint is for {len(footprint.size)} rows, but X has {n}. Make it with Footprint.around(X, ...)."
        )
    if is_torch(footprint.size) and not is_torch(X):
        raise TypeError(
            "The footprint holds tensors, but X is a NumPy array. Make it with Footprint.around(X, ...), from arrays."
        )


def _like_rows(size: Any, X: Any) -> Any:
    """Tensors as they are for rows that are tensors, everything else as an array of numbers."""
    return size if is_torch(size) and is_torch(X) else as_numbers(size)


def as_numbers(size: Any) -> np.ndarray:
    """A width or covariance as a float64 array."""
    try:
        numbers = np.asarray(size)
    except ValueError:  # lists of unequal lengths
        numbers = np.asarray(size, dtype=object)
    if numbers.dtype.kind not in "fiu":
        raise ValueError(
            "The width or covariance of a footprint must be real numbers in an array of one shape, got "
            f"{_shown(numbers)}."
        )
    return numbers.astype(np.float64)


def _checked_width(width: Any, n: int, d: int) -> Any:
    """As an array of shape (1, d) or (n, d)."""
    if not is_torch(width) and not (is_width := np.isfinite(width) & (width >= 0)).all():
        where = np.unravel_index(np.argmin(is_width), width.shape)
        raise ValueError(
            f"The width of a footprint must be finite numbers of at least 0, got {width[where]}"
            + (f" in row {where[0]}." if width.shape[:1] == (n,) else ".")
        )
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
    largest = np.abs(covariance).max(axis=(1, 2), keepdims=True)
    scaled = covariance / np.where(largest > 0, largest, 1.0)
    tolerance = 1e-5  # float32 covariances are welcome
    is_symmetric = np.abs(scaled - scaled.swapaxes(1, 2)).max(axis=(1, 2)) <= tolerance
    is_covariance = is_symmetric & (np.linalg.eigvalsh(scaled)[:, 0] >= -tolerance)
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
