"""Nadaraya-Watson classification: local shares of the classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_X_y
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralkit._validation import FLOATS
from spectralkit.attention._base import BaseNadarayaWatson, streams


class NadarayaWatsonClassifier(ClassifierMixin, BaseNadarayaWatson):
    r"""Classification by the shares of the classes among rows, with weights that fall with their distance.

    .. math:: p_c(x) = \frac{\sum_{i: y_i = c} w_i\,k(x, x_i)}{\sum_i w_i\,k(x, x_i)}

    Parameters
    ----------
    kernel : str, template or SpectralMeasure, default="gaussian"
        As in `NadarayaWatsonRegressor`.
    bandwidth : float, array of shape (n_features,) or {"loo", "loo_common", "loo_per_column"}, default="loo"
        In units of x. "loo": one factor on the standard deviations of the columns, with the least leave-one-out Brier
        score, each class's share in units of its variance. "loo_common": the same bandwidth for all columns, which then
        should have one unit. "loo_per_column": every column's own. For kernels without an open
        scale it is left out, or None.
    temperature : float, optional
        T of the softmax kernel; None: :math:`\sqrt{d}`.
    n_neighbors : int, optional
        Makes the bandwidth adaptive: that of a query is `bandwidth`, now a factor without a unit, times the distance to
        the k-th nearest of the distinct rows, measured in standard deviations of the columns; with "loo_common", in the
        root of their mean square.
    method : {"auto", "exact", "nufft", "positive"} or PositiveRandomFeatures, default="auto"
        As in `NadarayaWatsonRegressor`.
    empty : {"nearest", "mean", "raise"}, default="nearest"
        What stands in for the shares among no row, where the kernel is zero on all: the classes of the nearest, the
        shares among all, or an error. In leave-one-out errors the last counts as "mean".
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    bandwidth_ : ndarray of shape (n_features,)
        Bandwidths of the columns, in units of x; with `n_neighbors`, for a neighbour one standard deviation away.
    temperature_ : float or None
        T of the softmax kernel; None for others.
    method_ : str
        How sums are computed.
    method_note_ : str
        Why not by another method, where that was a choice; empty otherwise.
    loo_error_ : float
        Mean leave-one-out Brier score: squared differences of the shares from 0 or 1, summed over the classes. NaN if
        all rows are equal.
    loo_rows_ : int
        Number of distinct rows over which that is taken.
    predicted_error_ : float
        For positive features, as in `NadarayaWatsonRegressor`.
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
    NadarayaWatsonRegressor : The same for numbers.
    FeatureRidgeClassifier : The same kernels without weights that sum to one.

    References
    ----------
    E. A. Nadaraya, "On estimating regression", Theory of Probability and its Applications 9, 1964.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralkit import NadarayaWatsonClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NadarayaWatsonClassifier().fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    >>> model.predict_proba(X[:1]).round(2)
    array([[1., 0., 0.]])
    """

    _empties = ("nearest", "mean", "raise")

    def __init__(
        self,
        kernel: Any = "gaussian",
        bandwidth: Any = "loo",
        temperature: float | None = None,
        n_neighbors: int | None = None,
        method: Any = "auto",
        empty: str = "nearest",
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.temperature = temperature
        self.n_neighbors = n_neighbors
        self.method = method
        self.empty = empty
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the bandwidth, and keep the rows or learn their moments.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        given = X
        X, y, weights = self._checked_rows(X, y, sample_weight)
        classes = np.unique(y)
        model = self._fitted_model(X, _indicators(y, classes), weights)
        validate_data(self, given, skip_check_array=True)
        self._model, self.classes_ = model, classes
        return self

    @available_if(streams)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn a batch by positive features, of which the first batch determines the centre.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), optional
            All labels that will come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows.

        Returns
        -------
        self
            The estimator.

        Raises
        ------
        ValueError
            If the bandwidth is no number, there are other labels than the classes, or the
            data are not valid; nothing is learnt then.
        """
        given, is_first = X, not hasattr(self, "_model")
        if not is_first:
            validate_data(self, X, skip_check_array=True, reset=False)
        elif classes is None:
            raise ValueError("classes must be given in the first call of partial_fit, since others may come later.")
        X, y, weights = self._checked_rows(X, y, sample_weight, not is_first)
        labels = np.unique(classes) if is_first else self.classes_
        if classes is not None and not np.array_equal(np.unique(classes), labels):
            raise ValueError(f"classes must be what they were in the first call, {labels.tolist()}, got {classes!r}.")
        model = self._model_with(X, _indicators(y, labels), weights)
        if is_first:
            validate_data(self, given, skip_check_array=True)
        self._model, self.classes_ = model, labels
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the local shares of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Shares, which sum to one; columns in the order of `classes_`.
        """
        X = self._checked_new(X)
        shares = np.clip(self._model.estimates(X), 0.0, 1.0)  # rounding may leave the interval
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest share.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    @property
    def loo_error_(self) -> float:
        """Mean leave-one-out Brier score."""
        check_is_fitted(self)
        return float(self._model.errors.means.sum())

    def _checked_rows(
        self, X: Any, y: Any, sample_weight: Any, of_a_batch: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        X, y = check_X_y(X, y, dtype=FLOATS, estimator=self)
        check_classification_targets(y)
        return self._that_count(X, y, sample_weight, of_a_batch)

    def _check_same_targets(self, other: Any) -> None:
        if not np.array_equal(self.classes_, other.classes_):
            raise ValueError(
                f"Only estimators with the same classes can be merged, but these have {self.classes_.tolist()} and "
                f"{other.classes_.tolist()}."
            )


def _indicators(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """A column for each class, 1 where y is of it."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y must have labels among the classes {classes.tolist()}, but has also {unknown.tolist()}.")
    return (y[:, None] == classes).astype(np.float64)
