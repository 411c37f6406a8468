"""Templates filled from data, those included that read the spectrum of y."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from spectralkit._validation import as_points
from spectralkit.estimation._components import components_at, spectral_components
from spectralkit.spectra import Data


def resolve(
    template: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    sigma: Any = "auto",
    multiplier: float = 1.0,
    rng: Any = None,
) -> Any:
    r"""Return a measure with its open parameters filled from data, spectral mixtures from the spectrum of y.

    Open scales are filled as by `SpectralMeasure.resolve`. An open `SpectralMixture` takes the components that
    `spectral_components` finds in y over the columns that the mixture acts on.

    Parameters
    ----------
    template : SpectralMeasure
        A measure, with or without open parameters.
    X : array or sparse array of shape (n, d)
        The points.
    y : array of shape (n,) or (n, t), optional
        The targets; needed by open mixtures. The components of several targets are shared, and their weights averaged.
    sample_weight : array of shape (n,), optional
        Repetitions of the rows.
    sigma : "auto", float or array of shape (d,), default="auto"
        Frequency scale for open sigmas, in cycles per unit of X.
    multiplier : float, default=1.0
        Factor on the scale.
    rng : object, optional
        Not used: what is read off data needs no random numbers. It is here for measures that may.

    Returns
    -------
    SpectralMeasure
        A measure without open parameters; `template` itself if there were none.

    Raises
    ------
    ValueError
        If a mixture is open and y is missing, X is sparse, or no spectrum can be read (see `spectral_components`); if
        `sigma` or `multiplier` is given although no sigma is open.
    TemplateError
        If an open parameter cannot be read off the data.

    Notes
    -----
    A mixture that is the whole template stands for all of y: where the trend has more variance than the lightest
    component, a component at frequency zero takes its place (see `SpectralComponents.mixture`). In a sum or product the
    other parts are there for the trend: the mixture takes lines only, with the variance that they have in y, and the
    others get their usual scale; a `Gaussian()` in a sum keeps its mass of 1 unless a factor is given. A second
    mixture on the same columns goes on with the next components.

    Of a mixture some of whose parameters are given, the others are filled: weights and sigmas at given means, peaks by
    rank to given weights, the heaviest peaks first to given sigmas.

    Examples
    --------
    >>> from spectralkit import SpectralMixture
    >>> from spectralkit.datasets import load_co2
    >>> from spectralkit.estimation import resolve
    >>> X, y = load_co2(monthly=True, return_X_y=True)
    >>> resolve(SpectralMixture(n_mixtures=3), X, y).means.round(2).ravel()
    array([0., 1., 2.])
    """
    if not hasattr(template, "_resolved"):
        raise TypeError(f"resolve needs a spectral measure, got {template!r}.")
    points = X if sparse.issparse(X) else as_points(X, "X", rows=True)
    alone = not any("__" in name for name in template._open_names())
    return template._resolved(Data(points, y, sample_weight, sigma, multiplier, components=_Reader(alone)))


class _Reader:
    """What a mixture asks for its components; it remembers what it gave, so that a second mixture gets others."""

    def __init__(self, slow: bool) -> None:
        self.slow = slow
        self.given: list[tuple[np.ndarray, int]] = []

    def __call__(self, data: Data, count: int | None, means: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if data.y is None:
            raise ValueError(
                "The components of a spectral mixture are read off the spectrum of y, but there is no y. Give the "
                "targets, or the weights, means and sigmas of the mixture."
            )
        if np.asarray(data.y).dtype.kind not in "biuf":
            raise ValueError(
                "The components of a spectral mixture are read off the spectrum of y, so y must be numbers, got type "
                f"{np.asarray(data.y).dtype}. Give numbers, or the weights, means and sigmas of the mixture."
            )
        if sparse.issparse(data.X):
            raise ValueError(
                "The components of a spectral mixture cannot be read off sparse X. Give a dense array, or the weights, "
                "means and sigmas of the mixture."
            )
        if means is not None:
            return components_at(data.X, data.y, means, data.sample_weight)
        before = sum(number for X, number in self.given if np.array_equal(X, data.X))
        wanted = None if count is None else before + count
        found = spectral_components(data.X, data.y, wanted, sample_weight=data.sample_weight)
        mixture = found.mixture(slow=self.slow)
        parts = (mixture.weights[before:], mixture.means[before:], mixture.sigmas[before:])
        self.given.append((data.X, len(parts[0])))
        return parts
