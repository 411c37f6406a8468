"""Kernel density estimates with the kernels of measures."""

from __future__ import annotations

import functools
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralkit._validation import FLOATS, check_sample_weight, is_integer
from spectralkit.attention._fast import FastSums, chosen_method, wants_transforms
from spectralkit.attention._least_squares import OUT_OF_REACH, Criterion, best_bandwidth, log_integral, log_sums
from spectralkit.attention._rows import Rows
from spectralkit.attention._smoother import log_sum
from spectralkit.attention._weighting import COMPACT, Exponential, Weighting, are_bandwidths, per_column, weighting
from spectralkit.spectra import CapabilityError
from spectralkit.spectra._sklearn import SpectrumParams, as_spectrum

__all__ = ["SpectralKernelDensity"]

_METHODS = ("auto", "exact", "nufft")


class SpectralKernelDensity(SpectrumParams, DensityMixin, BaseEstimator):
    r"""Kernel density estimate with the kernel of any measure, and a bandwidth by cross-validation.

    .. math:: f(x) = \frac{1}{W\,\kappa}\sum_i w_i\,k(x - x_i), \qquad
              W = \sum_i w_i, \quad \kappa = \int k = \mu(0)

    The kernel must be nowhere negative. Its integral is the density of its measure at frequency zero, so that every
    measure whose density is finite there makes probability densities.

    Parameters
    ----------
    kernel : str or SpectralMeasure, default="gaussian"
        A name, as "gaussian" or "matern32", a template, whose lengthscale the bandwidth is, or a measure that has its
        scale.
    bandwidth : "lscv", float or array-like of shape (d,), default="lscv"
        Lengthscale of the kernel in units of x, one for all columns or one each. "lscv": the factor on the standard
        deviations of the columns with the smallest error by least-squares cross-validation. For a measure that has its
        scale, leave it out.
    method : {"auto", "exact", "nufft"}, default="auto"
        "exact": sums over all rows, in logarithms where the kernel is Gaussian. "nufft": non-uniform Fourier
        transforms, for up to three columns and kernels with a compact spectrum; relative errors are below 1e-8, and
        where that cannot be had the exact method takes over. "auto": transforms from 20 000 distinct rows on, where
        they can be had.
    n_jobs : int, optional
        Number of threads.

    Attributes
    ----------
    bandwidth_ : ndarray of shape (d,)
        The bandwidths of the columns, in units of x; for a measure that has its scale its lengthscale, or the lag at
        which its kernel has fallen to that of a Gaussian kernel one bandwidth away, or 1 where it has neither.
    lscv_ : float
        The criterion of least-squares cross-validation at `bandwidth_`, computed when it is first asked for: an
        estimate of the integrated squared error, less the integral of the squared density that is estimated. It is
        not there for kernels other than the Gaussian whose squared density no grid of frequencies can integrate.
    method_ : {"exact", "nufft"}
        The method in use.
    method_note_ : str
        Why it is not "nufft"; empty if it is, or was not wanted.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen in `fit`, where X had names that are all strings.

    Raises
    ------
    CapabilityError
        In `fit`, if the kernel can be negative.
    ValueError
        In `fit`, if data or a parameter is not valid, the kernel has no finite integral, or the criterion cannot be
        had for it.

    See Also
    --------
    sklearn.neighbors.KernelDensity : With other kernels, by trees, for a bandwidth that is given.

    Notes
    -----
    The criterion, for :math:`f_{-i}` from all rows but those that equal :math:`x_i`, is

    .. math:: \mathrm{LSCV}(h) = \int f^2 - \frac{2}{W}\sum_i w_i\,f_{-i}(x_i)

    Equal rows are left out together, or else the smallest bandwidth would always win where there are any. But where
    rows are equal because they were rounded, which is seen from columns that are multiples of a step :math:`\delta`,
    with about as many pairs of rows one step apart as equal ones, a Gaussian kernel leaves out one row of them, takes
    :math:`h^2 + \delta^2/12` for :math:`h^2` in the first term and :math:`h^2 + \delta^2/6` in the second, as if rows
    were spread over their steps, and no bandwidth below half a step is chosen, to which rows that were repeated besides
    may draw it. Other kernels keep to the first rule, with which the bandwidth is too wide for many rounded rows.

    The first term follows from the kernel of bandwidth :math:`\sqrt 2\,h` if it is Gaussian, and from Parseval's
    identity on a grid of frequencies, in up to three columns, otherwise. With transforms both terms do, to about a
    thousandth of what one row contributes.

    The search goes from wide bandwidths to narrow ones, until two in a row, each about a third of the one before, are
    worse than the best. Without transforms, a sample of many rows takes part in the sum. With fewer than three distinct
    rows the bandwidths are the standard deviations; those of constant columns count as 1.

    References
    ----------
    A. W. Bowman, "An alternative method of cross-validation for the smoothing of density estimates", Biometrika 71,
    1984.
    B. W. Silverman, "Density Estimation for Statistics and Data Analysis", Chapman and Hall, 1986, section 3.4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import SpectralKernelDensity
    >>> X = np.random.default_rng(0).normal(size=(500, 1))
    >>> density = SpectralKernelDensity().fit(X)
    >>> grid = np.linspace(-5, 5, 101)[:, None]
    >>> f = np.exp(density.score_samples(grid))
    >>> bool(abs(f.sum() * 0.1 - 1) < 1e-3)
    True
    >>> density.sample(2, random_state=0).shape
    (2, 1)
    """

    _measure_params = ("kernel",)
    _lscv: float | None

    def __init__(
        self, kernel: Any = "gaussian", bandwidth: Any = "lscv", method: str = "auto", n_jobs: int | None = None
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.method = method
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep the rows, and choose the bandwidth where it is open.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : object, optional
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows; they need not be integers.

        Returns
        -------
        self
            The fitted estimator.
        """
        given = X
        X = check_array(X, dtype=FLOATS, estimator=self, input_name="X")
        weights = check_sample_weight(sample_weight, len(X))
        form = self._checked_weighting(X.shape[1])
        rows = Rows.of(X, np.zeros((len(X), 1)), weights)
        if form.is_open and isinstance(self.bandwidth, str):
            criterion = Criterion(form, rows, wants_transforms(self.method, rows), self.n_jobs)
            form = form.at(best_bandwidth(form, criterion))
        elif form.is_open:
            form = form.at(per_column(self.bandwidth, X.shape[1]))
        method, note = chosen_method(self.method, form, rows)
        self.__dict__.pop("_fast", None)
        self.__dict__.update(_rows=rows, _weighting=form, method_=method, method_note_=note, _lscv=None)
        validate_data(self, given, skip_check_array=True)
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the logarithm of the density at each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            In float64. For the Gaussian kernel it is finite at any distance from the rows; for others it is minus
            infinity where the kernel itself underflows at all of them.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        rows, form = self._rows, self._weighting
        found, rest = np.empty(len(X)), np.ones(len(X), dtype=bool)
        if self._fast is not None:
            sums, reliable = self._fast.at(X)
            found, rest = log_sum(sums), ~reliable
        if rest.any():
            found[rest] = log_sums(form, X[rest], rows, None, self.n_jobs)
        found -= np.log(rows.total) + log_integral(form)
        # squared distances beyond the range of numbers stand for themselves
        return np.maximum(found, -np.finfo(np.float64).max) if form.in_logarithms else found

    def score(self, X: Any, y: Any = None) -> float:
        """Return the logarithm of the likelihood of all rows, the sum over `score_samples`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : object, optional
            Ignored.

        Returns
        -------
        float
            The log-likelihood.
        """
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw points from the density, for Gaussian kernels.

        Parameters
        ----------
        n_samples : int, default=1
            Number of points.
        random_state : int, RandomState, Generator or None, default=None
            Source of random numbers.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The points.

        Raises
        ------
        CapabilityError
            If the kernel is not Gaussian.
        ValueError
            If `n_samples` is not a positive integer.
        """
        check_is_fitted(self)
        if not isinstance(self._weighting, Exponential):
            raise CapabilityError(f"sample draws from Gaussian kernels only, and kernel={self.kernel!r} is none.")
        if not is_integer(n_samples, at_least=1):
            raise ValueError(f"n_samples must be an integer of at least 1, got {n_samples!r}.")
        rng = random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)
        X, weights = self._rows.X, self._rows.weights
        chosen = rng.choice(len(X), size=n_samples, p=weights / weights.sum())
        return X[chosen] + self.bandwidth_ * rng.normal(size=(n_samples, X.shape[1]))

    # -- checks and choices ----------------------------------------------------------------------------------------

    def _checked_weighting(self, d: int) -> Weighting:
        if isinstance(self.kernel, str) and self.kernel in ("softmax", *COMPACT):
            raise ValueError(
                f"kernel={self.kernel!r} is for averages. A density takes the kernel of a measure, as 'gaussian' or "
                "'matern32'; compact kernels are those of sklearn.neighbors.KernelDensity."
            )
        form = weighting(as_spectrum(self.kernel, "kernel"), None, d)
        if form.measure is None or "density" not in form.measure.capabilities(d):
            raise ValueError(f"kernel={self.kernel!r} has no finite integral over {d} column(s), as a density must.")
        if not np.isfinite(log_integral(form)):
            raise ValueError(
                f"The integral of kernel={self.kernel!r} over {d} column(s) is infinite: it falls off too slowly. Take "
                "one that falls off faster, as 'gaussian' does."
            )
        self._check_bandwidth(form, d)
        if not isinstance(self.method, str) or self.method not in _METHODS:
            raise ValueError(f"method must be one of {', '.join(map(repr, _METHODS))}, got {self.method!r}.")
        return form

    def _check_bandwidth(self, form: Weighting, d: int) -> None:
        given = self.bandwidth
        is_word = isinstance(given, str) and given == "lscv"
        if not form.is_open and not (is_word or given is None):
            raise ValueError(
                f"kernel={self.kernel!r} has its scale already, but bandwidth={given!r} was given. Leave the bandwidth "
                "out, or leave the scale of the kernel open."
            )
        if form.is_open and not is_word and not are_bandwidths(given, d):
            raise ValueError(
                f"bandwidth must be a positive finite number in units of x, one for each of the {d} column(s), or "
                f"'lscv', got {given!r}."
            )

    # -- fitted attributes -----------------------------------------------------------------------------------------

    @property
    def bandwidth_(self) -> np.ndarray:
        """The bandwidths of the columns, in units of x."""
        check_is_fitted(self)
        return self._weighting.bandwidth

    @property
    def lscv_(self) -> float:
        """The criterion of least-squares cross-validation at `bandwidth_`."""
        check_is_fitted(self)
        if self._lscv is None:
            criterion = Criterion(self._weighting, self._rows, self.method_ == "nufft", self.n_jobs)
            value = criterion([self._weighting])[0]
            if not np.isfinite(value):
                raise AttributeError(f"There is no lscv_: {OUT_OF_REACH}.")
            with np.errstate(over="ignore"):
                self._lscv = float(value * np.exp(-criterion.log_unit(self._weighting)))
        return self._lscv

    @functools.cached_property
    def _fast(self) -> FastSums | None:
        """The transforms of the rows, made at the first estimate."""
        if self.method_ != "nufft":
            return None
        return FastSums([self._weighting], self._rows, np.zeros((len(self._rows.X), 0)), n_jobs=self.n_jobs)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_fast"}
