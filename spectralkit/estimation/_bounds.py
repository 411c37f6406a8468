"""Bounds for the parameters of a measure, from the data that it is to be fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralkit._validation import as_points
from spectralkit.nufft import _highest_turns
from spectralkit.spectra import SpectralMeasure

_LEAST, _MOST = 1e-6, 1e2  # of the variance of y
_NARROWEST = 1e-3  # cycles over the range: coherent over a hundred and fifty of it
_CONSTANT = (1e-5, 1e5)
_STEP = 0.05  # cycles over the range


def search_bounds(measure: SpectralMeasure, X: Any, y: Any = None) -> dict[str, np.ndarray]:
    r"""Return bounds in which an optimiser finds what the data can show, by the names of the parameters.

    ====================  ==============================================================================
    parameter             bounds
    ====================  ==============================================================================
    weights, factor       :math:`10^{-6}` to :math:`10^2` times the variance of y
    sigma, sigmas         :math:`10^{-3}` cycles over the range of a column, to its highest frequency
    means                 minus to plus the highest frequency
    frequency             a tenth of a cycle over the range, to the highest frequency
    ====================  ==============================================================================

    The highest frequency of a column is half of one over its typical gap, as in `spectralkit.nufft.periodogram`.
    Parameters on a group of columns, and single ones for all columns, have the widest bounds of any column.

    Parameters
    ----------
    measure : SpectralMeasure
        A measure without open parameters. Bounds contain its present values, up to a factor of two on either side.
    X : array of shape (n, d)
        Points.
    y : array of shape (n,) or (n, t), optional
        Values; without them, or if they are constant, weights and factors have no entry.

    Returns
    -------
    dict of str to ndarray of shape (size, 2)
        In natural units; parameters of other names have no entry. What `SpectralKernel` takes as `parameter_bounds`.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import SpectralMixture
    >>> from spectralkit.estimation import search_bounds
    >>> X = np.linspace(0, 10, 101)[:, None]
    >>> search_bounds(SpectralMixture([1.0], [0.3], [0.02]), X)["means"]
    array([[-5.,  5.]])
    """
    X = as_points(X, "X", rows=True).astype(np.float64)
    lengths = np.ptp(X, axis=0)
    varies = lengths > 0
    highest = np.full(len(lengths), _CONSTANT[1])
    lowest = np.full(len(lengths), _CONSTANT[0])
    highest[varies] = [_highest_turns(column) for column in (X / np.where(varies, lengths, 1.0)).T[varies]]
    highest[varies] /= lengths[varies]
    lowest[varies] = 1 / lengths[varies]
    variance = 0.0 if y is None else float(np.var(np.asarray(y, dtype=np.float64), axis=0).mean())
    bounds = {}
    for parameter in measure.parameters():
        kind = parameter.name.split("__")[-1]
        if kind in ("weights", "factor") and variance > 0:
            low, high = np.array([_LEAST * variance]), np.array([_MOST * variance])
        elif kind in ("sigma", "sigmas"):
            low, high = _NARROWEST * lowest, highest
        elif kind == "means":
            low, high = -highest, highest
        elif kind == "frequency":
            low, high = lowest / 10, highest
        else:
            continue
        bounds[parameter.name] = _around(np.ravel(parameter.value).astype(float), low, high)
    return bounds


def search_scales(measure: SpectralMeasure, X: Any) -> dict[str, np.ndarray]:
    r"""Return units for real parameters in which an optimiser takes steps of one size.

    A mean of a mixture is known to a fraction of a cycle over the range of its column, and positive parameters enter as
    logarithms, known to a fraction of one; its unit is a twentieth of a cycle over the range.

    Parameters
    ----------
    measure : SpectralMeasure
        A measure without open parameters.
    X : array of shape (n, d)
        Points.

    Returns
    -------
    dict of str to ndarray of shape (size,)
        In cycles per unit of X; parameters of other names have no entry. What `SpectralKernel` takes as
        `parameter_scales`.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import SpectralMixture
    >>> from spectralkit.estimation import search_scales
    >>> search_scales(SpectralMixture([1.0], [0.3], [0.02]), np.linspace(0, 10, 101)[:, None])
    {'means': array([0.005])}
    """
    lengths = np.ptp(as_points(X, "X", rows=True).astype(np.float64), axis=0)
    units = _STEP / np.where(lengths > 0, lengths, 1.0)
    return {
        p.name: np.resize(units if p.size % len(units) == 0 else units.min(keepdims=True), p.size)
        for p in measure.parameters()
        if p.name.split("__")[-1] == "means"
    }


def _around(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The bounds of each value: those of its column, if there is a value per column, else the widest."""
    if len(values) % len(low):
        low, high = low.min(keepdims=True), high.max(keepdims=True)
    pairs = np.column_stack([np.resize(low, len(values)), np.resize(high, len(values))])
    pairs[:, 0] = np.minimum(pairs[:, 0], np.where(values > 0, values / 2, 2 * values))
    pairs[:, 1] = np.maximum(pairs[:, 1], np.where(values > 0, 2 * values, values / 2))
    return pairs
