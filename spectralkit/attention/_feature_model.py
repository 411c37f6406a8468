"""Averages from moments of positive random features: what the estimators have learnt without keeping rows."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from spectralkit.attention._local import linear_fits, value_columns
from spectralkit.attention._sums import Sums
from spectralkit.attention._weighting import Exponential, Weighting
from spectralkit.features import ApproximationWarning, PositiveRandomFeatures
from spectralkit.moments import AttentionMoments, ColumnMoments

__all__ = ["FeatureModel", "takes_features"]

_COMPONENTS = 1024  # columns of the features where none are given
_VALUES_PER_BLOCK = 1 << 20  # of features, that are in memory at a time
_PROBES = 512  # rows at which the error of predictions is looked at
_NARROWEST = 1e-6  # variance of a neighbourhood, in squared bandwidths, up to which it is averaged along a direction
_HOPELESS = 0.5  # relative error of a kernel value, or error of predictions in deviations of the targets


class FeatureModel:
    """Positive features of a kernel, and the moments of the rows that were learnt.

    Attributes
    ----------
    features : PositiveRandomFeatures
        Fitted to the kernel, about the mean of the first rows.
    weighting : Weighting
        The kernel with its bandwidth.
    degree : {0, 1}
        Degree of the local fits.
    """

    method, note = "positive", ""

    def __init__(
        self, features: PositiveRandomFeatures, weighting: Weighting, degree: int, probes: np.ndarray, n_targets: int
    ) -> None:
        self.features, self.weighting, self.degree, self._probes = features, weighting, degree, probes
        n_values = value_columns(probes[:1], np.zeros((1, n_targets)), degree).shape[1]
        self._moments = AttentionMoments(len(features.log_weights_), n_values)
        self._targets = ColumnMoments(n_targets)

    @classmethod
    def of(
        cls, method: Any, weighting: Weighting, degree: int, X: np.ndarray, n_targets: int, weights: np.ndarray | None
    ) -> FeatureModel:
        """A model that has learnt nothing yet; features that are not fitted are fitted to these rows."""
        probes = X[:: -(-len(X) // _PROBES)].copy()
        return cls(_fitted(method, weighting, X, weights), weighting, degree, probes, n_targets)

    def learnt(self, X: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> FeatureModel:
        """A model that has learnt these rows as well; this one stays as it is."""
        model = self._copy()
        if targets.shape[1] != len(self._targets.mean):
            raise ValueError(f"y must have {len(self._targets.mean)} target(s) as before, got {targets.shape[1]}.")
        values = value_columns(self._near(X), targets, self.degree)
        model._targets.update(targets, weights)
        for part in self._blocks(len(X)):
            some = None if weights is None else weights[part]
            model._moments.update(self.features.log_transform(X[part]), values[part], some)
        return model

    def merged(self, other: FeatureModel) -> FeatureModel:
        """A model that has learnt the rows of both."""
        pairs = [(getattr(self.features, name), getattr(other.features, name)) for name in _DRAWN]
        if not all(np.array_equal(mine, theirs) for mine, theirs in pairs) or self.degree != other.degree:
            raise ValueError(
                "Only estimators with the same degree and the same features can be merged, but these differ. Give both "
                "the same fitted features: method=FrozenEstimator(PositiveRandomFeatures(...).fit(X))."
            )
        model = self._copy()
        model._moments.merge(other._moments)
        model._targets.merge(other._targets)
        return model

    def _copy(self) -> FeatureModel:
        model = copy.copy(self)
        model._moments, model._targets = self._moments.copy(), copy.deepcopy(self._targets)
        return model

    def estimates(self, X: np.ndarray) -> np.ndarray:
        """Local fits of the targets (m, t)."""
        t = len(self._targets.mean)
        found = np.empty((len(X), t))
        for part in self._blocks(len(X)):
            sums = Sums(*self._moments.sums(self.features.log_transform(X[part])))
            if self.degree == 0:
                found[part] = sums.averages()
            else:
                found[part] = linear_fits(sums, self._near(X[part]), t, _NARROWEST)[0]
        return found

    def deviations(self, X: np.ndarray) -> np.ndarray:
        """Refused: the errors of rows that are not kept are not known."""
        raise ValueError(
            "Standard deviations come from errors of the training rows, and positive features keep no rows. Use "
            "method='exact' or method='nufft', or leave return_std out."
        )

    def effective_counts(self, X: np.ndarray) -> np.ndarray:
        """Refused: squares of the weights take other features."""
        raise ValueError(
            "The effective sample size takes the squares of the weights, of which positive features know nothing. Use "
            "method='exact' or method='nufft'."
        )

    @property
    def errors(self) -> Any:
        """Refused: errors of rows that are not kept are not known."""
        raise AttributeError(
            "Leave-one-out errors take the training rows, and positive features keep none. Use method='exact' or "
            "method='nufft'."
        )

    @property
    def predicted_error(self) -> float:
        """Root mean squared error of predictions from the draw of features, in standard deviations of the targets."""
        t = len(self._targets.mean)
        errors = self._moments.standard_errors(self.features.log_transform(self._probes))[:, :t]
        variance = self._targets.variance
        relative = np.divide(errors**2, variance, out=np.zeros_like(errors), where=variance > 0)
        return math.sqrt(float(relative.mean()))

    def checked(self) -> FeatureModel:
        """The model, if its predictions are of any use."""
        if not self.predicted_error <= _HOPELESS:
            raise ValueError(
                f"Predictions from {self._n_features} positive features would be off by {self.predicted_error:.3g} "
                "standard deviations of the target. Use more n_components, a wider bandwidth, or method='exact'."
            )
        return self

    @property
    def _n_features(self) -> int:
        return len(self.features.log_weights_)

    def _near(self, X: np.ndarray) -> np.ndarray:
        return (X - self.features.centre_) / self.weighting.bandwidth

    def _blocks(self, n: int) -> list[slice]:
        step = max(1, _VALUES_PER_BLOCK // self._n_features)
        return [slice(start, start + step) for start in range(0, n, step)]


_DRAWN = ("frequencies_", "log_weights_", "centre_", "temperature_")


def takes_features(method: Any) -> bool:
    """Whether the method is one of positive features."""
    inner = method.estimator if isinstance(method, FrozenEstimator) else method
    return isinstance(inner, PositiveRandomFeatures) or (isinstance(method, str) and method == "positive")


def _fitted(method: Any, weighting: Weighting, X: np.ndarray, weights: np.ndarray | None) -> PositiveRandomFeatures:
    """Features of the weighting's kernel: fitted ones that are frozen, or others fitted to the rows."""
    if not isinstance(weighting, Exponential):
        raise ValueError("method='positive' is for kernel='gaussian' and kernel='softmax'. Use method='exact'.")
    temperature = weighting.temperature
    sigma = 1 / (2 * math.pi * weighting.bandwidth)
    if isinstance(method, FrozenEstimator):
        features = method.estimator
        check_is_fitted(features)
        same = features.temperature_ == temperature and np.allclose(features.sigma_, sigma, rtol=1e-12, atol=0)
        if not same:
            raise ValueError(
                f"The frozen features have temperature {features.temperature_!r} and sigma {features.sigma_!r}, but "
                f"the kernel takes temperature {temperature!r} and sigma {sigma!r}, which is 1 / (2 pi bandwidth). Fit "
                "them with these."
            )
        return features
    given = isinstance(method, PositiveRandomFeatures)
    features = clone(method) if given else PositiveRandomFeatures(n_components=_COMPONENTS, random_state=0)
    if temperature is None:
        features.set_params(kernel="gaussian", sigma=sigma, temperature=None)
    else:
        features.set_params(kernel="softmax", sigma="auto", temperature=temperature)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        features.fit(X, sample_weight=weights)
    if features.predicted_error_ > _HOPELESS:
        raise ValueError(
            f"A typical kernel value estimated from {len(features.log_weights_)} positive features has a relative "
            f"error of {100 * features.predicted_error_:.3g} %, which is hopeless. Use a wider bandwidth or a higher "
            "temperature, more n_components, or method='exact'."
        )
    return features
