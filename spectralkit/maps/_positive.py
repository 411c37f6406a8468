"""Positive features of rows: exponentials of their products with frequencies, or the exponents themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spectralkit._parallel import for_row_blocks
from spectralkit._validation import as_points
from spectralkit._xp import as_float64, cast_like, convert, is_torch, namespace


def log_positive(
    X: Any,
    frequencies: Any,
    log_weights: Any,
    centre: Any = 0.0,
    log_scale: Callable[[Any], Any] | None = None,
    n_jobs: int | None = None,
) -> Any:
    r"""Map rows to the logarithms of positive features.

    .. math:: \log\phi_j(x) = \tfrac12\log w_j + 2\pi\,\omega_j\cdot(x - c) + \operatorname{log\_scale}(x - c)

    Parameters
    ----------
    X : array of shape (n, d), or tensor of shape (..., n, d)
        Points.
    frequencies : array of shape (m, d)
        In cycles per unit of X.
    log_weights : float or array of shape (m,)
        Logarithms of the weights of the products of features.
    centre : float or array of shape (d,), default=0.0
        The point c where every exponent is that of the weight and the scale alone.
    log_scale : callable, optional
        From a block of rows of ``x - c`` in float64, shape (..., d), to a summand for every row, shape (...,). None: 0.
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result. Torch has its own.

    Returns
    -------
    array of shape (n, m), or tensor of shape (..., n, m)
        In the library and floating dtype of X. Exponents are computed in float64; in float32 they are rounded once, so
        that a feature is right to about 1e-7 of itself for each unit of its exponent.

    Raises
    ------
    ValueError
        If the shapes do not agree.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.maps import log_positive
    >>> log_positive(np.array([[1.0], [2.0]]), [[0.5]], [0.0]).round(4)
    array([[3.1416],
           [6.2832]])
    """
    return _mapped(X, _Exponents.of(frequencies, log_weights, centre, log_scale), False, n_jobs)


def positive(
    X: Any,
    frequencies: Any,
    log_weights: Any,
    centre: Any = 0.0,
    log_scale: Callable[[Any], Any] | None = None,
    n_jobs: int | None = None,
) -> Any:
    r"""Map rows to positive features, the exponentials of `log_positive`.

    .. math:: \phi(x)\cdot\phi(y) = \sum_j w_j
              e^{2\pi\,\omega_j\cdot(x + y - 2c) + \operatorname{log\_scale}(x - c) + \operatorname{log\_scale}(y - c)}

    Parameters
    ----------
    X : array of shape (n, d), or tensor of shape (..., n, d)
        Points.
    frequencies : array of shape (m, d)
        In cycles per unit of X.
    log_weights : float or array of shape (m,)
        Logarithms of the weights of the products of features.
    centre : float or array of shape (d,), default=0.0
        The point c where every exponent is that of the weight and the scale alone.
    log_scale : callable, optional
        From a block of rows of ``x - c`` in float64, shape (..., d), to a summand for every row, shape (...,). None: 0.
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result. Torch has its own.

    Returns
    -------
    array of shape (n, m), or tensor of shape (..., n, m)
        In the library and floating dtype of X. What is too small for the dtype is 0.

    Raises
    ------
    ValueError
        If the shapes do not agree, or, for arrays, a feature is too large for the dtype of X.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.maps import positive
    >>> positive(np.array([[0.0], [1.0]]), [[0.5], [-0.5]], np.log([1.0, 4.0])).round(4)
    array([[ 1.    ,  2.    ],
           [23.1407,  0.0864]])
    """
    return _mapped(X, _Exponents.of(frequencies, log_weights, centre, log_scale), True, n_jobs)


@dataclass(frozen=True)
class _Exponents:
    """``log phi`` as one matrix product: rows ``[x - c, log_scale(x - c), 1]`` times ``[2 pi omega; 1; log(w) / 2]``.

    With the two summands in the product, an exponent is written to memory once.
    """

    matrix: np.ndarray  # (d + 2, m)
    centre: np.ndarray  # (d,)
    log_scale: Callable[[Any], Any] | None

    @classmethod
    def of(cls, frequencies: Any, log_weights: Any, centre: Any, log_scale: Callable[[Any], Any] | None) -> _Exponents:
        frequencies = np.asarray(frequencies, dtype=np.float64)
        log_weights, centre = np.asarray(log_weights, dtype=np.float64), np.asarray(centre, dtype=np.float64)
        if frequencies.ndim != 2 or log_weights.shape not in ((), frequencies.shape[:1]):
            raise ValueError(
                f"frequencies must have shape (m, d), and log_weights one number or (m,), got shapes "
                f"{frequencies.shape} and {log_weights.shape}."
            )
        m, d = frequencies.shape
        if centre.shape not in ((), (d,)):
            raise ValueError(f"centre must be one number or one for each of the {d} columns, got shape {centre.shape}.")
        rows = [2 * math.pi * frequencies.T, np.ones((1, m)), np.broadcast_to(log_weights / 2, (1, m))]
        return cls(np.concatenate(rows), np.full(d, centre), log_scale)

    @property
    def width(self) -> int:
        """Number of features."""
        return self.matrix.shape[1]

    @property
    def rows_per_block(self) -> int:
        """Fixed by the shape of the matrix; a block's exponents, two megabytes, stay in cache."""
        return max(64, (1 << 18) // max(self.matrix.shape))

    def factors(self, X: Any) -> Any:
        """What the matrix is multiplied by, (..., d + 2), in float64 and the library of X."""
        near = as_float64(X)
        near = near - convert(self.centre, near)
        xp = namespace(near)
        scale = xp.zeros_like(near[..., 0]) if self.log_scale is None else self.log_scale(near)
        return xp.concat([near, scale[..., None], xp.ones_like(scale[..., None])], axis=-1)

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        """The exponents of a block of rows, rounded to the dtype of `out`."""
        if out.dtype == np.float64:
            np.matmul(self.factors(X), self.matrix, out=out)
        else:
            out[...] = self.factors(X) @ self.matrix


def _mapped(X: Any, exponents: _Exponents, exponentiate: bool, n_jobs: int | None) -> Any:
    X = as_points(X, "X", rows=True)
    d = len(exponents.centre)
    if X.shape[-1] != d:
        raise ValueError(f"X has {X.shape[-1]} column(s), but the frequencies have {d}; they must agree.")
    if is_torch(X):
        factors = exponents.factors(X)
        logs = cast_like(factors @ convert(exponents.matrix, factors), X)
        return logs.exp() if exponentiate else logs
    out = np.empty((len(X), exponents.width), dtype=X.dtype)

    def write(rows: slice) -> None:
        block = out[rows]
        exponents.write(X[rows], block)
        if exponentiate:
            with np.errstate(over="raise", under="ignore"):
                np.exp(block, out=block)

    try:
        for_row_blocks(write, len(X), exponents.rows_per_block, n_jobs)
    except FloatingPointError as error:
        raise ValueError(
            f"A positive feature is too large for {X.dtype}. Take the logarithms of the features instead"
            f"{', or float64' if X.dtype == np.float32 else ''}, or move the points towards the centre."
        ) from error
    return out
