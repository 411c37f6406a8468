"""Bounds for the parameters of a measure, from the data that it is to be fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralkit._validation import as_points
from spectralkit.nufft import _highest_turns
from spectralkit.spectra import SpectralMeasure
from spectralkit.spectra._parameters import Parameter

_LEAST, _MOST = 1e-6, 1e2  # of the variance of y
_NARROWEST = 1e-3  # cycles over the range: coherent over a hundred and fifty of it
_CONSTANT = (1e-5, 1e5)
_STEP = 0.2  # cycles over the range


def search_bounds(measure: SpectralMeasure, X: Any, y: Any = None) -> dict[str, np.ndarray]:
    r"""Return bounds in which an optimiser finds what the data can show, by the names of the parameters.

    ====================  ==============================================================================
    parameter             bounds
    ====================  ==============================================================================
    weights, factor       of what they multiply, :math:`10^{-6}` to :math:`10^2` times the variance of y
    sigma, sigmas         :math:`10^{-3}` cycles over the range of a column, to its highest frequency
    means                 minus to plus the highest frequency
    frequency             a tenth of a cycle over the range, to the highest frequency
    ====================  ==============================================================================

    The highest frequency of a column is half of one over its typical gap, as in `spectralkit.nufft.periodogram`.
    Parameters on a group of columns have the bounds of its columns. Single ones for several columns have the widest of
    any, but for constant columns.

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
    X, lengths = _points_and_lengths(measure, X)
    varies = lengths > 0
    highest = np.full(len(lengths), _CONSTANT[1])
    lowest = np.full(len(lengths), _CONSTANT[0])
    highest[varies] = [_highest_turns(column) for column in (X / np.where(varies, lengths, 1.0)).T[varies]]
    highest[varies] /= lengths[varies]
    lowest[varies] = 1 / lengths[varies]
    variance = 0.0 if y is None else float(np.var(np.asarray(y, dtype=np.float64), axis=0).mean())
    if not np.isfinite(variance):
        raise ValueError("y has NaN or infinite values. Fill them in or leave the rows out.")
    ranges = {
        "sigma": (_NARROWEST * lowest, highest),
        "sigmas": (_NARROWEST * lowest, highest),
        "means": (-highest, highest),
        "frequency": (lowest / 10, highest),
    }
    columns = _columns(measure, np.arange(len(lengths)))
    bounds = {}
    for parameter in measure.parameters():
        kind = parameter.name.split("__")[-1]
        if kind in ("weights", "factor"):
            if variance > 0:
                unit = variance / _mass_per_unit(measure, parameter)
                bounds[parameter.name] = _around(parameter, np.array([_LEAST * unit]), np.array([_MOST * unit]))
        elif kind in ranges:
            own = _seen(columns[parameter.name], parameter, varies)
            bounds[parameter.name] = _around(parameter, *(end[own] for end in ranges[kind]))
    return bounds


def search_scales(measure: SpectralMeasure, X: Any) -> dict[str, np.ndarray]:
    r"""Return units for real parameters in which an optimiser takes steps of one size.

    A mean of a mixture is known to a fraction of a cycle over the range of its column, and positive parameters enter as
    logarithms, known to a fraction of one; its unit is a fifth of a cycle over the range.

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
    {'means': array([0.02])}
    """
    _, lengths = _points_and_lengths(measure, X)
    units = _STEP / np.where(lengths > 0, lengths, 1.0)
    columns = _columns(measure, np.arange(len(lengths)))
    scales = {}
    for parameter in measure.parameters():
        if parameter.name.split("__")[-1] == "means":
            own = units[_seen(columns[parameter.name], parameter, lengths > 0)]
            scales[parameter.name] = np.resize(own if parameter.size % len(own) == 0 else own.min(), parameter.size)
    return scales


def _points_and_lengths(measure: SpectralMeasure, X: Any) -> tuple[np.ndarray, np.ndarray]:
    X = as_points(X, "X", rows=True).astype(np.float64)
    measure.require(d=X.shape[1])
    return X, np.ptp(X, axis=0)


def _columns(measure: Any, columns: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of X that the measure of each parameter acts on, by the name of the parameter."""
    columns = columns[list(measure.group)] if hasattr(measure, "group") else columns
    inner = _columns(measure.part, columns) if hasattr(measure, "part") else {}
    for label, child in measure._children().items():
        inner |= {f"{label}__{name}": own for name, own in _columns(child, columns).items()}
    return {parameter.name: columns for parameter in measure.parameters()} | inner


def _seen(columns: np.ndarray, parameter: Parameter, varies: np.ndarray) -> np.ndarray:
    """The columns, if there is a value for each; of those that share one, those that vary."""
    if np.shape(parameter.value)[-1:] == (len(columns),) or not varies[columns].any():
        return columns
    return columns[varies[columns]]


def _mass_per_unit(measure: SpectralMeasure, parameter: Parameter) -> float:
    """What a unit of the parameter adds to k(0): 1 for the weights of a mixture, the mass of the rest of a product."""
    value = np.asarray(parameter.value, dtype=float)
    step = value.sum() + measure.mass  # as large as all: no difference of two nearly equal masses
    moved = measure.replace(**{parameter.name: value * (1 + step / value.sum())})
    added = moved.mass - measure.mass
    return added / step if added > 0 else 1.0


def _around(parameter: Parameter, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The bounds of each value: those of its column, if there is a value per column, else the widest."""
    values = np.ravel(parameter.value).astype(float)
    if len(values) % len(low):
        low, high = low.min(keepdims=True), high.max(keepdims=True)
    pairs = np.column_stack([np.resize(low, len(values)), np.resize(high, len(values))])
    pairs[:, 0] = np.minimum(pairs[:, 0], np.where(values > 0, values / 2, 2 * values))
    pairs[:, 1] = np.maximum(pairs[:, 1], np.where(values > 0, 2 * values, values / 2))
    return pairs
