"""The kernel of a spectral mixture, started from data."""

from __future__ import annotations

import functools
import operator
from typing import Any, Self

import numpy as np

from spectralkit.estimation import search_bounds, search_scales, spectral_components
from spectralkit.kernels._spectral import SpectralKernel
from spectralkit.spectra import SpectralMeasure, SpectralMixture


class SpectralMixtureKernel(SpectralKernel):
    r"""The kernel of a spectral mixture, for `sklearn.gaussian_process`: a `SpectralKernel` that can start from data.

    .. math:: k(\tau) = \sum_q w_q \exp\bigl(-2\pi^2 \sum_p s_{qp}^2\tau_p^2\bigr) \cos(2\pi\,\mu_q\cdot\tau)

    Its likelihood has a maximum for almost every peak in the spectrum of the data, and an optimiser climbs the next
    one. `from_data` starts it on the right ones.

    Parameters
    ----------
    spectrum : SpectralMeasure
        The mixture, without open parameters.
    parameter_bounds : dict, "fixed" or None, default=None
        Bounds for optimisation, in natural units, as for `SpectralKernel`.
    parameter_scales : dict, optional
        Units of the means in ``theta``, as for `SpectralKernel`.

    Raises
    ------
    TypeError, TemplateError, ValueError
        As for `SpectralKernel`.

    See Also
    --------
    spectralkit.estimation.spectral_components : What `from_data` finds, with more of its options.

    References
    ----------
    A. G. Wilson and R. P. Adams, "Gaussian process kernels for pattern discovery and extrapolation", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import SpectralMixtureKernel
    >>> X = np.linspace(0, 10, 201)[:, None]
    >>> y = 3 * np.cos(2 * np.pi * 1.3 * X[:, 0]) + np.sin(2 * np.pi * 0.4 * X[:, 0])
    >>> kernel = SpectralMixtureKernel.from_data(X, y, n_mixtures=2)
    >>> table = kernel.component_table()
    >>> table["frequency"].round(4), table["share"].round(2)
    (array([1.3, 0.4]), array([0.9, 0.1]))
    """

    @classmethod
    def from_data(cls, X: Any, y: Any, n_mixtures: int | None = None, form: str = "mixture", **options: Any) -> Self:
        r"""Make the kernel from the peaks in the spectrum of the data, with bounds that keep an optimiser among them.

        Parameters
        ----------
        X : array of shape (n, d)
            Points.
        y : array of shape (n,) or (n, t)
            Values, in the units in which the kernel is to be used: centred, and divided by their standard deviation if
            the regressor has ``normalize_y=True``.
        n_mixtures : int, optional
            Number of components; if left out, chosen by the Bayesian information criterion.
        form : {"mixture", "product"}, default="mixture"
            "product" is the product over columns of one-dimensional mixtures,
            :math:`\prod_p \sum_q w_{qp} \exp(-2\pi^2 s_{qp}^2\tau_p^2)\cos(2\pi\mu_{qp}\tau_p)`, as in GPyTorch, where
            the weights of all columns are the same. In one column the two are the same.
        **options : dict
            Options of `spectralkit.estimation.spectral_components`, such as `noise_std`, `regressors`, `trend` and
            `max_frequency`.

        Returns
        -------
        SpectralMixtureKernel
            With starting values and bounds.

        Raises
        ------
        ValueError
            If the data have no spectrum to read, or `form` is unknown.
        """
        spectrum = mixture_from_data(X, y, n_mixtures, form, **options)
        return cls(spectrum, search_bounds(spectrum, X, y), search_scales(spectrum, X))

    def component_table(self) -> dict[str, np.ndarray]:
        """Return the components, the heaviest first.

        Returns
        -------
        dict of str to ndarray
            As `SpectralMixture.component_table`; made for ``pandas.DataFrame``. For a product over columns, the tables
            of its factors one below the other, with the number of the "column".

        Raises
        ------
        TypeError
            If the measure is no such mixture.
        """
        return component_table(self._measure())


def mixture_from_data(X: Any, y: Any, n_mixtures: int | None, form: str, **options: Any) -> SpectralMeasure:
    """The mixture that stands for the data, or the product of its marginals, of the same k(0)."""
    if form not in ("mixture", "product"):
        raise ValueError(f"form must be 'mixture' or 'product', got {form!r}.")
    found = spectral_components(X, y, n_mixtures, **options).mixture()
    if form == "mixture" or found.dimension == 1:
        return found
    shares = found.weights / found.weights.sum()
    return over_columns([found.weights] + [shares] * (found.means.shape[1] - 1), found.means, found.sigmas)


def over_columns(weights: list[np.ndarray], means: np.ndarray, sigmas: np.ndarray) -> SpectralMeasure:
    """The product over columns of one-dimensional mixtures, each with weights of its own; in one column the mixture."""
    mixtures = [SpectralMixture(*marginal) for marginal in zip(weights, means.T, sigmas.T, strict=True)]
    if len(mixtures) == 1:
        return mixtures[0]
    return functools.reduce(operator.mul, [mixture.on([p]) for p, mixture in enumerate(mixtures)])


def component_table(measure: SpectralMeasure) -> dict[str, np.ndarray]:
    """The table of a mixture, or those of the factors of a product over columns one below the other."""
    if hasattr(measure, "component_table"):
        return measure.component_table()
    d = len(measure.columns or ())
    factors: list[Any] = measure.factors(d) if d and "factors" in measure.capabilities(d) else [measure]
    tables = [
        mixture.component_table()
        for mixture in (factor.part if hasattr(factor, "group") else factor for factor in factors)
        if hasattr(mixture, "component_table")
    ]
    if len(tables) < max(d, 1):
        raise TypeError(
            f"{measure!r} is neither a spectral mixture nor a product of mixtures of single columns, and has no table "
            "of components. Use spectrum.terms() for the terms of any measure."
        )
    column = np.repeat(np.arange(d), [len(table["weight"]) for table in tables])
    return {"column": column} | {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}
