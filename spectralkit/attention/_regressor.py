"""Nadaraya-Watson and local linear regression, and with them softmax attention."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_X_y
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralkit._validation import FLOATS
from spectralkit.attention._base import BaseNadarayaWatson, streams
from spectralkit.attention._smoother import EMPTY


class NadarayaWatsonRegressor(MultiOutputMixin, RegressorMixin, BaseNadarayaWatson):
    r"""Kernel regression: averages, or local linear fits, of targets with weights that fall with the distance of rows.

    .. math:: m(x) = \frac{\sum_i w_i\,k(x, x_i)\,y_i}{\sum_i w_i\,k(x, x_i)}

    With ``kernel="softmax"`` this is scaled dot-product attention with the queries x, the keys :math:`x_i` and the
    values :math:`y_i`. Everything is computed in the logarithms of the weights where the kernel allows it, so that no
    query is too far away, and no n x m array is made.

    Parameters
    ----------
    kernel : str, template or SpectralMeasure, default="gaussian"
        "gaussian", :math:`e^{-|u|^2/2}` with u the difference over the bandwidth; "epanechnikov",
        :math:`(1 - |u|^2)_+`; "tricube", :math:`(1 - |u|^3)_+^3`; the name of another family, such as "matern32", or a
        template, whose lengthscale the bandwidth is; a measure with its own scale; all with kernels that are nowhere
        negative. Or "softmax", :math:`e^{x\cdot x_i/T}`. Parameters of a measure are parameters of the estimator:
        ``set_params(kernel__nu=2.5)``.
    bandwidth : float, array of shape (n_features,) or {"loo", "loo_common", "loo_per_column"}, default="loo"
        In units of x. "loo": one factor on the standard deviations of the columns, with the least mean squared
        leave-one-out error, which leaves out all rows with equal X together. "loo_common": the same bandwidth for all
        columns, which then should have one unit. "loo_per_column": every column's own. For kernels without
        an open scale it is left out, or None.
    temperature : float, optional
        T of the softmax kernel; None: :math:`\sqrt{d}`, as is usual in attention.
    n_neighbors : int, optional
        Makes the bandwidth adaptive: that of a query is `bandwidth`, now a factor without a unit, times the distance to
        the k-th nearest of the distinct rows, measured in standard deviations of the columns; with "loo_common", in the
        root of their mean square.
    degree : {0, 1}, default=0
        0: averages. 1: linear functions fitted to the neighbourhood of each query, which have no bias at the edges of
        the data. Along directions in which a neighbourhood has no width, or has it far from the query, it is averaged.
    method : {"auto", "exact", "nufft", "positive"} or PositiveRandomFeatures, default="auto"
        "exact": blocks of rows and queries. "nufft": sums by non-uniform Fourier transforms, for up to 3 columns and
        kernels of measures with a spectrum that fits in memory; where it cannot be had the exact method takes its
        place, and `method_note_` says why. "auto": "nufft" from 20 000 distinct rows, else "exact". "positive": random
        features, 1024 or as many as those given have, fitted or not; for the Gaussian and the softmax kernel where
        their bandwidth is wide. They keep no rows and can stream.
    empty : {"nearest", "mean", "nan", "raise"}, default="nearest"
        What stands in for the average over no row, where the kernel is zero on all: the target of the nearest, the mean
        of all, NaN, or an error. In leave-one-out errors the last two count as "mean".
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result.

    Attributes
    ----------
    bandwidth_ : ndarray of shape (n_features,)
        Bandwidths of the columns, in units of x; with `n_neighbors`, for a neighbour one standard deviation away.
    temperature_ : float or None
        T of the softmax kernel; None for others.
    method_ : str
        How sums are computed.
    method_note_ : str
        Why not by another method, where that was a choice; empty otherwise.
    loo_error_ : float or ndarray of shape (n_targets,)
        Root mean squared leave-one-out error, in units of y; NaN if all rows are equal.
    loo_rows_ : int
        Number of distinct rows over which that is taken: all, or by the exact method as many as make 4e8 pairs with
        all rows, and at least about 1000; a sixteenth of the pairs, and at least about 250 rows, where weights come
        from differences of points. The bandwidth is chosen in the same way.
    predicted_error_ : float
        For positive features: root mean squared error of predictions from the draw of features, in standard deviations
        of y, over 512 of the first rows.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen in `fit`, where X had names that are all strings.

    Raises
    ------
    ValueError
        In `fit`, if data or a parameter is not valid, or the error of positive features is hopeless; in `predict`, for
        ``empty="raise"``.
    CapabilityError
        In `fit`, if the kernel of a measure may be negative.

    See Also
    --------
    NadarayaWatsonClassifier : The same for labels.
    SpectralKernelDensity : The density of the rows, from the sums of weights.
    FeatureRidge : The same kernels without weights that sum to one: smoother, and better where there is noise.

    Notes
    -----
    The exact method takes time n m for n rows and m queries and memory for its results, in double precision but for the
    averages of float32 rows over wide bandwidths. Transforms take time n + m; sums whose relative error would exceed
    1e-8 are left to the exact method. The slope of a local linear fit counts in full up to five standard deviations of
    a neighbourhood from its mean, and not at all from ten.

    References
    ----------
    E. A. Nadaraya, "On estimating regression", Theory of Probability and its Applications 9, 1964.
    G. S. Watson, "Smooth regression analysis", Sankhya A 26, 1964.
    J. Fan and I. Gijbels, Local Polynomial Modelling and Its Applications, Chapman and Hall, 1996.
    A. Vaswani et al., "Attention is all you need", NeurIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import NadarayaWatsonRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(500, 2))
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=500)
    >>> model = NadarayaWatsonRegressor(bandwidth="loo_per_column", degree=1).fit(X, y)
    >>> bool(model.bandwidth_[1] > 5 * model.bandwidth_[0])  # the second column does not matter
    True
    >>> float(model.loo_error_.round(2))
    0.1
    >>> mean, std = model.predict([[0.5, 0.5]], return_std=True)
    >>> mean.round(1), std.round(1)
    (array([0.1]), array([0.1]))
    """

    _empties = EMPTY

    def __init__(
        self,
        kernel: Any = "gaussian",
        bandwidth: Any = "loo",
        temperature: float | None = None,
        n_neighbors: int | None = None,
        degree: int = 0,
        method: Any = "auto",
        empty: str = "nearest",
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.temperature = temperature
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.method = method
        self.empty = empty
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the bandwidth, and keep the rows or learn their moments.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows: keys.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets: values.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        given = X
        X, y, weights = self._checked_rows(X, y, sample_weight)
        model = self._fitted_model(X, y.reshape(len(y), -1), weights)
        validate_data(self, given, skip_check_array=True)
        self._model, self._one_target = model, y.ndim == 1
        return self

    @available_if(streams)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a batch by positive features, of which the first batch determines the centre.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows.

        Returns
        -------
        self
            The estimator.

        Raises
        ------
        ValueError
            If the bandwidth is no number, or the data are not valid; nothing is learnt then.
        """
        given, is_first = X, not hasattr(self, "_model")
        if not is_first:
            validate_data(self, X, skip_check_array=True, reset=False)
        X, y, weights = self._checked_rows(X, y, sample_weight, not is_first)
        model = self._model_with(X, y.reshape(len(y), -1), weights)
        if is_first:
            validate_data(self, given, skip_check_array=True)
        self._model, self._one_target = model, y.ndim == 1
        return self

    def predict(self, X: Any, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows: queries.
        return_std : bool, default=False
            Whether to return also the standard deviation of a new y about the prediction: the root of a local average
            of squared leave-one-out errors. Its bandwidth is that of the predictions times the power of two, up to 64,
            under which normal errors of this standard deviation are likeliest.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions, in double precision.
        std : ndarray of the same shape
            Only with `return_std`.

        Raises
        ------
        ValueError
            If X is not valid, a row has no training row within reach and ``empty="raise"``, or standard deviations are
            asked for of positive features.
        """
        X = self._checked_new(X)
        found = self._model.estimates(X)
        if not return_std:
            return self._shaped(found)
        deviations = np.where(np.isnan(found), np.nan, self._model.deviations(X))
        return self._shaped(found), self._shaped(deviations)

    @property
    def loo_error_(self) -> float | np.ndarray:
        """Root mean squared leave-one-out error, in units of y."""
        check_is_fitted(self)
        return self._shaped(np.sqrt(self._model.errors.means)[None])[0]

    def _checked_rows(
        self, X: Any, y: Any, sample_weight: Any, of_a_batch: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        if isinstance(self.degree, bool) or self.degree not in (0, 1):
            raise ValueError(f"degree must be 0, for averages, or 1, for local linear fits, got {self.degree!r}.")
        X, y = check_X_y(X, y, dtype=FLOATS, multi_output=True, y_numeric=True, estimator=self)
        return self._that_count(X, y.astype(np.float64), sample_weight, of_a_batch)

    def _check_same_targets(self, other: Any) -> None:
        if self._one_target != other._one_target:
            raise ValueError("Only estimators with targets of the same shape can be merged, but these differ.")

    @property
    def _degree(self) -> int:
        return int(self.degree)

    def _shaped(self, found: np.ndarray) -> np.ndarray:
        return found[:, 0] if self._one_target else found
