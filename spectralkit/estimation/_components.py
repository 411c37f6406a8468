"""The components of a spectrum, read off data: frequencies, masses and widths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from spectralkit._validation import is_integer
from spectralkit.estimation._finder import LIGHTEST, Finder
from spectralkit.estimation._rows import Rows, as_rows
from spectralkit.spectra import SpectralMixture

MOST_CHOSEN = 12
_CONSTANT_COLUMN = 1 / (2 * math.pi)
_SLOW = 0.5  # turns over the record: the width of what the trend took


@dataclass(frozen=True)
class SpectralComponents:
    """Spectral components of a data set, the heaviest first.

    Attributes
    ----------
    weights : ndarray of shape (Q,)
        Variance of each component, in squared units of y; averaged over the columns of y if there are several.
    means : ndarray of shape (Q, d)
        Frequencies in cycles per unit of X; the first that is not zero is positive. 0 in columns that are constant.
    sigmas : ndarray of shape (Q, d)
        Standard deviations in cycles per unit; ``1 / (2 pi)`` in columns that are constant, where it has no effect.
    false_alarm : ndarray of shape (Q,)
        Probability that white noise as strong as what is left around the peak would have so high a peak anywhere; 1 for
        a component that fills in where nothing more was found. Below 0.01 a peak is usually called significant.
    n_found : int
        Number of components that are peaks. The others, if `n_mixtures` asked for more than there are, stand in the
        widest gaps between them with a millionth of the variance.
    noise_variance : float
        Variance of what is left beside trend, regressors and components, noise included.
    explained : float
        Share of the variance about trend and regressors that the components explain, from 0 to 1.
    trend : "smooth" or int
        What was taken out first: see `spectral_components`.
    trend_variance : float
        Variance that the trend explains beyond the mean and the regressors.
    trend_sigmas : ndarray of shape (d,)
        Half a cycle over the range of each column: the width of a component at zero that stands for the trend.
    max_frequency : ndarray of shape (d,)
        Highest frequency that was searched along each column; 0 for constant columns.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.estimation import spectral_components
    >>> x = np.linspace(0, 10, 201)
    >>> found = spectral_components(x[:, None], np.cos(2 * np.pi * 1.3 * x) + x, n_mixtures=1)
    >>> found.means.round(6), found.weights.round(2), found.trend
    (array([[1.3]]), array([0.5]), 'smooth')
    """

    weights: np.ndarray
    means: np.ndarray
    sigmas: np.ndarray
    false_alarm: np.ndarray
    n_found: int
    noise_variance: float
    explained: float
    trend: Any
    trend_variance: float
    trend_sigmas: np.ndarray
    max_frequency: np.ndarray

    def mixture(self, slow: bool = True) -> SpectralMixture:
        """Return the components as a spectral mixture.

        Parameters
        ----------
        slow : bool, default=True
            Where the trend explains more variance than the lightest component, put a component at frequency zero in its
            place that stands for the trend: a kernel of lines alone cannot follow it. False: the lines alone, for data
            whose trend is modelled elsewhere.

        Returns
        -------
        SpectralMixture
            With as many components as there are here.
        """
        weights, means, sigmas = self.weights.copy(), self.means.copy(), self.sigmas.copy()
        if slow and self.trend_variance > weights[-1]:
            weights[-1], means[-1], sigmas[-1] = self.trend_variance, 0.0, self.trend_sigmas
            order = np.argsort(-weights, kind="stable")
            weights, means, sigmas = weights[order], means[order], sigmas[order]
        return SpectralMixture(weights, means, sigmas)


def spectral_components(
    X: Any,
    y: Any,
    n_mixtures: int | None = None,
    *,
    noise_std: Any = None,
    sample_weight: Any = None,
    regressors: Any = None,
    trend: Any = "auto",
    max_frequency: Any = None,
    n_jobs: int | None = None,
) -> SpectralComponents:
    r"""Read spectral components off data: where power is concentrated, how much, and how sharply.

    Peaks of the periodogram, one after the other: the highest is refined off the grid on the exact weighted least
    squares, added to the fit together with trend, regressors and all earlier peaks, and what is left is searched again.

    Parameters
    ----------
    X : array of shape (n, d)
        Points, anywhere and in any order.
    y : array of shape (n,) or (n, t)
        Values. Several columns share the components: each is scaled to variance 1 about its trend and their
        periodograms are added.
    n_mixtures : int, optional
        Number of components; if left out, the number from 1 to 12 with the lowest Bayesian information criterion of the
        least-squares fit.
    noise_std : float or array of shape (n,), optional
        Standard deviation of the noise of each value; the weights are ``sample_weight / noise_std**2``.
    sample_weight : array of shape (n,), optional
        Repetitions of the rows.
    regressors : array of shape (n, p), optional
        Further columns to fit and take out, such as an indicator for each instrument.
    trend : "auto", "smooth" or int, default="auto"
        What is fitted and taken out first: the degree of a polynomial in every column of X, or "smooth", a straight
        line and cosines of up to two turns over the record, below which no wave is searched then. "auto" is "smooth"
        for one column with at least 24 distinct points; otherwise degree 1 if there are ``4 (d + 1)`` of them, else 0.
    max_frequency : float or array of shape (d,), optional
        Highest frequency to search. If left out, half of one over the typical gap of the column, as in
        `periodogram`; for d > 1 also at most ``max(n**(1 / d), 8) / 2`` cycles over its range, unless the points of two
        or three columns stand on a grid.
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result.

    Returns
    -------
    SpectralComponents
        Weights, means and sigmas of the components, and what is left.

    Raises
    ------
    ValueError
        If the shapes do not agree, a number is not finite, there are fewer than 4 distinct points or too few for so
        many components, or nothing is left of y once trend and regressors are out.

    Notes
    -----
    **Search.** In one column: a grid of a fifth of a cycle over the record, from the frequency that trend leaves to
    `max_frequency`. In two and three: grids of a third and half a cycle with at most 2**22 frequencies, for which
    `max_frequency` is lowered if it must be (the result says to what). In more: a grid in every pair of columns (up
    to 10; every column from there on), then searches along one column after the other, so that a wave with many cycles
    along three or more columns at once can be missed. Components are at least 0.7 cycles over the record apart.

    **Width.** The expected line shape, a Gaussian seen through the window of the record, is fitted to the power around
    the peak by Whittle's likelihood, with all other components taken out. It is never below 0.2 / (2 pi) cycles over
    the record, a wave that keeps its phase for five records, nor above a sixth of the neighbourhood that is looked at
    (40 % of the frequency to either side, at least 6 and at most 32 cycles over the record). From half a cycle on the
    component is a band: in one column waves all over it are taken out and make up its weight, and from one cycle on
    its centre comes from the line shape too.

    **Weight.** The mean square of the wave in a joint fit of all components.

    **False alarms.** Baluev's bound, with the noise taken from the median of what is left within 12 cycles over the
    record, or 35 % of the frequency, and the number of its frequencies counted as evidence.

    **What is the same in other units**: scaling X and y scales the result, shifting them or changing the order of the
    rows changes nothing, to rounding. No random numbers are involved.

    References
    ----------
    Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, "Orthogonal matching pursuit", Asilomar 1993.
    R. V. Baluev, "Assessing the statistical significance of periodogram peaks", MNRAS 385, 2008.
    P. Whittle, "Estimation and information in stationary time series", Arkiv för Matematik 2, 1953.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.datasets import load_co2
    >>> from spectralkit.estimation import spectral_components
    >>> found = spectral_components(*load_co2(monthly=True, return_X_y=True), n_mixtures=2)
    >>> found.means.round(2).ravel()
    array([1., 2.])
    """
    if n_mixtures is not None and not is_integer(n_mixtures, at_least=1):
        raise ValueError(f"n_mixtures must be an integer of at least 1 or None, got {n_mixtures!r}.")
    rows = as_rows(X, y, noise_std, sample_weight, regressors, trend)
    largest = _largest_count(rows)
    if largest < (n_mixtures or 1):
        raise ValueError(
            f"{rows.distinct} distinct points are too few for {n_mixtures or 1} component(s) beside "
            f"{rows.basis.shape[1]} columns of trend and regressors; they allow {max(largest, 0)}. Ask for fewer "
            "components, take out less (trend=0) or give more points."
        )
    finder = Finder(rows, max_frequency, n_jobs)
    finder.run(n_mixtures, min(largest, MOST_CHOSEN))
    found = finder.components(n_mixtures)
    left = finder.pursuit.left
    freedom = max(rows.count - finder.pursuit.basis.shape[1], 1.0)
    return SpectralComponents(
        weights=found.masses * rows.variance,
        means=_in_units(rows, found.nus, 0.0),
        sigmas=_in_units(rows, found.widths, _CONSTANT_COLUMN),
        false_alarm=found.false_alarm,
        n_found=len(finder.taken),
        noise_variance=left * rows.variance * rows.count / freedom,
        explained=min(max(1.0 - left, 0.0), 1.0),
        trend=rows.trend,
        trend_variance=rows.trend_variance,
        trend_sigmas=_in_units(rows, np.full(len(rows.columns), _SLOW), _CONSTANT_COLUMN),
        max_frequency=_in_units(rows, finder.search.highest, 0.0),
    )


def components_at(X: Any, y: Any, means: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights and sigmas of components at given means; those slower than any wave of the search share the trend."""
    rows = as_rows(X, y, sample_weight=sample_weight)
    nus = means[:, rows.columns] * rows.lengths
    slow = abs(nus).max(axis=1) < rows.lowest
    masses = np.full(len(means), max(rows.trend_variance / rows.variance / max(slow.sum(), 1), LIGHTEST))
    widths = np.full(nus.shape, _SLOW)
    if not slow.all():
        finder = Finder(rows, None, None)
        masses[~slow], widths[~slow] = finder.measured(list(nus[~slow]))
    return masses * rows.variance, means, _in_units(rows, widths, _CONSTANT_COLUMN)


def _in_units(rows: Rows, turns: np.ndarray, constant: float) -> np.ndarray:
    """Turns over the range of the columns that vary, as cycles per unit of all columns."""
    out = np.full((*turns.shape[:-1], rows.width), constant)
    out[..., rows.columns] = turns / rows.lengths
    return out


def _largest_count(rows: Rows) -> int:
    """Components, of two amplitudes and d frequencies, that leave one distinct point to judge them by."""
    return (rows.distinct - 1 - rows.basis.shape[1]) // (2 + rows.z.shape[1])
