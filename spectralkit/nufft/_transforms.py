"""Sums over rows of data at all frequencies of a grid, and back to points: the only file that knows finufft."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from spectralkit._parallel import for_row_blocks
from spectralkit._validation import as_points, is_integer

LARGEST_GRID = 1 << 32  # bytes
_ROWS_PER_BLOCK = 1 << 17
_ACCURACY = 1e-13  # of the sums behind a periodogram, relative to the sum of the weights


def data_spectrum(
    X: Any, values: Any, step: Any, n_modes: Any, *, tol: float = 1e-9, n_jobs: int | None = None
) -> np.ndarray:
    r"""Return the Fourier sums of scattered values on a regular grid of frequencies.

    .. math:: F(\omega_j) = \sum_n v_n \exp(-2\pi i\,\omega_j\cdot x_n), \qquad \omega_j = j\,\mathrm{step}

    Parameters
    ----------
    X : array of shape (n, d)
        Points, d from 1 to 3.
    values : array of shape (n,) or (n, t)
        Real or complex numbers, or t sets of them.
    step : float or array of shape (d,)
        Distance of the frequencies, in cycles per unit of X.
    n_modes : int or tuple of int
        Number of frequencies along each column. N of them are ``j = -(N // 2), ..., (N - 1) // 2``.
    tol : float, default=1e-9
        Error relative to the sum of the absolute values.
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result.

    Returns
    -------
    ndarray of shape (*n_modes) or (t, *n_modes)
        The sums, complex128.

    Raises
    ------
    ValueError
        If the shapes do not agree, a number is not finite, or the grid would not fit in memory.

    Notes
    -----
    In double precision, about the middle of the range of X, where phases are smallest; the phase is put back after.

    References
    ----------
    A. H. Barnett, J. Magland and L. af Klinteberg, "A parallel nonuniform fast Fourier transform library", SIAM J. Sci.
    Comput. 41, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.nufft import data_spectrum
    >>> abs(data_spectrum(np.array([[0.0], [0.5]]), np.array([1.0, 1.0]), 1.0, 5)).round(6)
    array([2., 0., 2., 0., 2.])
    """
    X = np.asarray(as_points(X, "X", rows=True), dtype=np.float64)
    if not 1 <= X.shape[1] <= 3:
        raise ValueError(f"data_spectrum takes points of 1 to 3 columns, got {X.shape[1]}. Choose columns of X.")
    values = np.asarray(values)
    if values.ndim not in (1, 2) or len(values) != len(X):
        raise ValueError(f"values must have shape ({len(X)},) or ({len(X)}, t), as X has rows, got {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError("values has NaN or infinite entries. Fill them in or leave the rows out.")
    steps = np.broadcast_to(np.asarray(step, dtype=np.float64), X.shape[1])
    if not (np.isfinite(steps).all() and (steps > 0).all()):
        raise ValueError(f"step must be positive and finite, got {step!r}.")
    modes = tuple(n_modes) if np.ndim(n_modes) else (n_modes,) * X.shape[1]
    if len(modes) != X.shape[1] or not all(is_integer(count, at_least=1) for count in modes):
        raise ValueError(f"n_modes must be an integer of at least 1 for each of {X.shape[1]} columns, got {n_modes!r}.")
    first = tuple(-(count // 2) for count in modes)
    centre = (X.min(axis=0) + X.max(axis=0)) / 2 if len(X) else np.zeros(X.shape[1])
    sums = _sums(
        X - centre, values.reshape(len(X), values.shape[1] if values.ndim == 2 else 1), steps, first, modes, tol, n_jobs
    )
    for axis, (count, low) in enumerate(zip(modes, first, strict=True)):
        turns = np.arange(low, low + count) * steps[axis] * centre[axis]
        shape = [-1 if i == axis else 1 for i in range(len(modes))]
        sums *= np.exp(-2j * math.pi * (turns % 1.0)).reshape(shape)
    return sums if values.ndim == 2 else sums[0]


def _sums(
    Z: np.ndarray,
    values: np.ndarray,
    steps: Any,
    first: tuple[int, ...],
    modes: tuple[int, ...],
    tol: float = _ACCURACY,
    n_jobs: int | None = None,
    upsampling: float | None = None,
) -> np.ndarray:
    """Sums of each column of `values` about zero, at the frequencies ``step * (first + 0, 1, ...)`` of each axis."""
    n, t = values.shape
    cells = math.prod(modes)
    _check_memory(cells, t, len(modes))
    transform = _transform(1, len(modes), tol, upsampling)
    middle = [(low + count // 2) * step for low, count, step in zip(first, modes, steps, strict=True)]
    strengths = np.ascontiguousarray(values.T, dtype=np.complex128)
    if any(middle):
        strengths = strengths * np.exp(-2j * math.pi * (Z @ np.array(middle)))
    angles = [np.ascontiguousarray(2 * math.pi * step * column) for step, column in zip(steps, Z.T, strict=True)]
    rows = _rows_per_block(cells)  # the partial results together are never larger than the strengths
    blocks = max(1, -(-n // rows))
    partial = np.zeros((blocks, t, *modes), dtype=np.complex128)

    def work(tasks: slice) -> None:
        block, vector = divmod(tasks.start, t)
        mine = slice(block * rows, (block + 1) * rows)
        where = [angle[mine] for angle in angles]
        partial[block, vector] = transform(*where, strengths[vector, mine], modes)

    if n:
        for_row_blocks(work, blocks * t, 1, n_jobs)
    return partial.sum(axis=0)


def _values_at(angles: list[np.ndarray], coefficients: np.ndarray, tol: float, upsampling: float) -> np.ndarray:
    """Sums at the angles of coefficients times waves, those of -(N // 2), ..., (N - 1) // 2 turns in 2 pi."""
    return _transform(2, coefficients.ndim, tol, upsampling)(*angles, coefficients)


def _transform(kind: int, d: int, tol: float, upsampling: float | None) -> Callable[..., np.ndarray]:
    """The function of finufft, on one thread, so that rounding does not depend on their number."""
    try:
        import finufft
    except ImportError as error:
        raise ImportError("Spectra of data need finufft. Install it with `pip install finufft`.") from error
    options = {} if upsampling is None else {"upsampfac": upsampling}
    function = getattr(finufft, f"nufft{d}d{kind}")
    return functools.partial(function, isign=-1 if kind == 1 else 1, eps=tol, nthreads=1, **options)


def _rows_per_block(cells: int) -> int:
    """As many rows as a grid has cells, if they are not few."""
    return max(_ROWS_PER_BLOCK, cells)


def _check_memory(cells: int, t: int, d: int) -> None:
    needed = 16 * cells * (2 * t + 2**d)
    if needed > LARGEST_GRID:
        raise ValueError(
            f"A grid of {cells} frequencies would take about {needed / 2**30:.3g} GiB, and at most "
            f"{LARGEST_GRID / 2**30:.3g} GiB are allowed. Lower the highest frequency or take larger steps."
        )
