"""What the estimators share: parameters, fitting and streaming, and estimates at new rows."""

from __future__ import annotations

import abc
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralkit._validation import FLOATS, check_sample_weight, is_integer
from spectralkit.attention._feature_model import FeatureModel, takes_features
from spectralkit.attention._row_model import RowModel, with_bandwidth
from spectralkit.attention._rows import Rows
from spectralkit.attention._smoother import Smoother
from spectralkit.attention._weighting import Weighting, are_bandwidths, per_column, weighting
from spectralkit.spectra._sklearn import SpectrumParams

_METHODS = ("auto", "exact", "nufft", "positive")
_SEARCHES = ("loo", "loo_common", "loo_per_column")


def streams(estimator: BaseNadarayaWatson) -> bool:
    """Whether the estimator has a partial_fit."""
    if not takes_features(estimator.method):
        raise AttributeError(
            f"partial_fit takes positive features, which need not keep rows, but method={estimator.method!r}. Set "
            "method='positive', or fit on all rows at once."
        )
    return True


class BaseNadarayaWatson(SpectrumParams, BaseEstimator, abc.ABC):
    """Fitting and estimates; subclasses say what the targets are."""

    _measure_params = ("kernel",)
    _empties: tuple[str, ...]  # that the estimator has a policy for

    kernel: Any
    bandwidth: Any
    temperature: Any
    n_neighbors: Any
    method: Any
    empty: Any
    n_jobs: Any
    _model: Any  # RowModel or FeatureModel

    def merge(self, other: Any) -> Self:
        """Learn what another estimator has learnt from other rows, by positive features.

        Parameters
        ----------
        other : estimator
            A fitted estimator of the same class with the same fitted features.

        Returns
        -------
        self
            As if it had seen the rows of both.

        Raises
        ------
        ValueError
            If one of the two keeps rows instead of moments, or their features or targets differ.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if type(other) is not type(self) or not all(isinstance(m, FeatureModel) for m in (self._model, other._model)):
            raise ValueError(
                f"Only two estimators of the class {type(self).__name__} with method='positive' can be merged: the "
                "other methods keep the rows themselves. Fit one estimator on the rows of both."
            )
        self._check_same_targets(other)
        self._model = self._model.merged(other._model)
        return self

    def effective_sample_size(self, X: Any) -> np.ndarray:
        r"""Return how many training rows the prediction at each row rests on.

        .. math:: \frac{\bigl(\sum_i w_i\,k(x, x_i)\bigr)^2}{\sum_i w_i\,k(x, x_i)^2}

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 1, where a single row has all the weight, to the weight of all; 0 where no row is within reach.

        Raises
        ------
        ValueError
            If X is not valid, or the method is that of positive features.
        """
        X = self._checked_new(X)
        return self._model.effective_counts(X)

    # -- fitting ---------------------------------------------------------------------------------------------------

    def _fitted_model(self, X: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> RowModel | FeatureModel:
        """What is learnt from checked rows; the estimator stays as it is."""
        form = self._checked_form(X.shape[1])
        by_features = takes_features(self.method)
        rows = Rows.of(X, targets, weights)
        scale = rows.deviations
        if isinstance(self.bandwidth, str) and self.bandwidth == "loo_common":
            scale = np.full_like(scale, np.sqrt(np.mean(scale**2)))
        smoother = Smoother(rows, scale, self._degree, self.empty, self.n_neighbors, self.n_jobs)
        form = with_bandwidth(form, smoother, self.bandwidth, "exact" if by_features else self.method)
        if by_features:
            return self._features(form, X, targets, weights).learnt(X, targets, weights).checked()
        return RowModel(rows, form, smoother, self.method)

    def _model_with(self, X: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> FeatureModel:
        """What is learnt from a batch on top of what is known; the estimator stays as it is."""
        form = self._checked_form(X.shape[1])
        if hasattr(self, "_model"):
            if not isinstance(self._model, FeatureModel):
                raise ValueError(
                    f"This {type(self).__name__} was fitted by method={self.method_!r}, which keeps the rows and "
                    "learns no further ones. Clone it to start again with method='positive'."
                )
            return self._model.learnt(X, targets, weights)
        if isinstance(self.bandwidth, str) and form.is_open:
            raise ValueError(
                f"bandwidth={self.bandwidth!r} looks at all rows together, which a stream does not allow. Give the "
                "bandwidth as a number."
            )
        if form.is_open:
            form = form.at(per_column(self.bandwidth, X.shape[1]))
        return self._features(form, X, targets, weights).learnt(X, targets, weights)

    def _features(
        self, form: Weighting, X: np.ndarray, targets: np.ndarray, weights: np.ndarray | None
    ) -> FeatureModel:
        return FeatureModel.of(self.method, form, self._degree, X, targets.shape[1], weights)

    @property
    def _degree(self) -> int:
        return 0

    def _check_same_targets(self, other: Any) -> None:
        """Refuse to merge with an estimator of other targets."""

    # -- checks ----------------------------------------------------------------------------------------------------

    def _checked_form(self, d: int) -> Weighting:
        """The kernel of the parameters, if they are all valid for d columns."""
        form = weighting(self.kernel, self.temperature, d)
        self._check_bandwidth(form, d)
        if self.n_neighbors is not None:
            self._check_neighbors(form)
        is_word = isinstance(self.method, str) and self.method in _METHODS
        if not is_word and not takes_features(self.method):
            raise ValueError(
                f"method must be one of {', '.join(map(repr, _METHODS))}, or a PositiveRandomFeatures, got "
                f"{self.method!r}."
            )
        if not isinstance(self.empty, str) or self.empty not in self._empties:
            raise ValueError(f"empty must be one of {', '.join(map(repr, self._empties))}, got {self.empty!r}.")
        return form

    def _check_bandwidth(self, form: Weighting, d: int) -> None:
        given = self.bandwidth
        if not form.is_open:
            if given is not None and not (isinstance(given, str) and given == "loo"):
                raise ValueError(
                    f"kernel={self.kernel!r} has its scale already, but bandwidth={given!r} was given. Leave the "
                    "bandwidth out; for kernel='softmax', set temperature."
                )
            return
        if isinstance(given, str) and given in _SEARCHES:
            if given == "loo_per_column" and not form.has_one_scale:
                raise ValueError(
                    f"bandwidth='loo_per_column' takes a kernel with one open scale, and kernel={self.kernel!r} has "
                    "several. Use bandwidth='loo'."
                )
            return
        if not are_bandwidths(given, d):
            raise ValueError(
                f"bandwidth must be a positive finite number in units of x, or one for each of the {d} column(s), or "
                f"'loo', 'loo_common' or 'loo_per_column', got {given!r}."
            )

    def _check_neighbors(self, form: Weighting) -> None:
        if not is_integer(self.n_neighbors, at_least=1):
            raise ValueError(f"n_neighbors must be None or an integer of at least 1, got {self.n_neighbors!r}.")
        if not form.is_open or takes_features(self.method):
            raise ValueError(
                f"n_neighbors={self.n_neighbors} gives every query a bandwidth of its own, which a kernel that has its "
                "scale already cannot take, nor can positive features. Leave n_neighbors out."
            )

    @staticmethod
    def _that_count(
        X: np.ndarray, y: np.ndarray, sample_weight: Any, of_a_batch: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Rows with checked weights: of a whole those that have weight, of a batch all."""
        weights = check_sample_weight(sample_weight, len(X), of_a_batch=of_a_batch)
        if weights is None or of_a_batch or weights.all():
            return X, y, weights
        return X[weights > 0], y[weights > 0], weights[weights > 0]

    def _checked_new(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=FLOATS)

    # -- fitted attributes -----------------------------------------------------------------------------------------

    @property
    def bandwidth_(self) -> np.ndarray:
        """The bandwidths of the columns, in units of x."""
        check_is_fitted(self)
        return self._model.weighting.bandwidth

    @property
    def temperature_(self) -> float | None:
        """The temperature of the softmax kernel; None for others."""
        check_is_fitted(self)
        return getattr(self._model.weighting, "temperature", None)

    @property
    def method_(self) -> str:
        """How sums are computed."""
        check_is_fitted(self)
        return self._model.method

    @property
    def method_note_(self) -> str:
        """Why the method is not another one, where that was a choice; empty otherwise."""
        check_is_fitted(self)
        return self._model.note

    @property
    def predicted_error_(self) -> float:
        """Error of predictions by positive features, in standard deviations of the target."""
        check_is_fitted(self)
        if not isinstance(self._model, FeatureModel):
            raise AttributeError("There is a predicted_error_ for method='positive' only; the others are exact.")
        return self._model.predicted_error

    @property
    def loo_rows_(self) -> int:
        """Number of distinct rows over which the leave-one-out error is taken."""
        check_is_fitted(self)
        return len(self._model.errors.which)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")
