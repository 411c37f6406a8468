"""What the ridge estimators share: features, moments, and when they are solved."""

from __future__ import annotations

import abc
import functools
import numbers
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralkit._validation import FLOATS, is_positive_number
from spectralkit.moments import ColumnMoments, RegressionMoments
from spectralkit.posterior import Posterior
from spectralkit.ridge._candidates import MOMENTS, Candidate, Rows, Solution, chosen
from spectralkit.ridge._features import (
    fit_reads_rows,
    fitted,
    same_features,
    summary_suffices,
    unfitted,
)

CRITERIA = ("gcv", "evidence", "loo")
ROWS_TO_COMPARE = 16


class BaseFeatureRidge(BaseEstimator, abc.ABC):
    """Fitting, streaming and merging; subclasses say what the targets are."""

    features: Any
    alpha: Any
    fit_intercept: bool
    solver: str
    multipliers: Any
    column_moments_: ColumnMoments

    def fit_statistics(self, X: Any, sample_weight: Any = None) -> Self:
        """Read mean, spread and range of the columns off a batch, before the first `partial_fit`.

        Features whose scale is read off the data, such as ``FourierFeatures(sigma="auto")``, need them of the whole
        stream before the first row can be mapped. Call this for every batch, then `partial_fit` for every batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A batch of rows.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows.

        Returns
        -------
        self
            With the statistics of this batch added.

        Raises
        ------
        ValueError
            If rows have been learnt from already, or the features read more off the data than these statistics.
        """
        if self.__sklearn_is_fitted__():
            raise ValueError(
                f"This {type(self).__name__} has its features already, and statistics cannot change them any more. "
                "Call fit_statistics before the first partial_fit, or clone the estimator to start again."
            )
        self._check_columns(X)
        given, X = X, check_array(X, dtype=FLOATS, estimator=self, input_name="X")
        first = not hasattr(self, "column_moments_")
        if first:
            self._check_statistics(X)
        moments = ColumnMoments(X.shape[1]).update(X, sample_weight)
        self._set_columns(given)
        self.column_moments_ = moments if first else moments.merge(self.column_moments_)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learnt; the features stay as they are.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows that were learnt.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets or labels.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows.

        Returns
        -------
        self
            As if it had never seen them, up to rounding errors of the size of those of all rows.

        Raises
        ------
        ValueError
            If there are more rows than were learnt, alpha is "loo", or the data are not valid.
        """
        check_is_fitted(self)
        self._check_parameters(streaming=True)
        self._check_columns(X)
        rows = self._rows_like_learnt(X, y, sample_weight)
        gone = [c.of(c.features, c.multiplier, rows, self.solver) for c in self._candidates]
        self._set([whole.without_rows_of(part) for whole, part in zip(self._candidates, gone, strict=True)])
        return self

    def merge(self, other: Any) -> Self:
        """Learn what another estimator has learnt from other rows.

        Parameters
        ----------
        other : estimator
            A fitted estimator of the same class with the same features: the same parameters, and the same scales.

        Returns
        -------
        self
            As if it had seen the rows of both.

        Raises
        ------
        ValueError
            If one of the two has not learnt anything, or their features or targets differ.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        self._check_parameters(streaming=True)
        self._check_mergeable(other)
        merged = [mine.with_rows_of(theirs) for mine, theirs in zip(self._candidates, other._candidates, strict=True)]
        self._set(merged)
        return self

    # -- fitting ---------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _batch(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> tuple[Rows, np.ndarray]:
        """Checked rows, and y as the features' fit is to see it; `classes` are the labels of a classifier."""

    @abc.abstractmethod
    def _rows_like_learnt(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Checked rows with targets as the fitted estimator has them."""

    def _fitted_features(self, X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, float | None]]:
        """The transformer fitted for each multiplier, and the multiplier."""
        multipliers = self._checked_multipliers()
        return [(fitted(unfitted(self.features, k), X, y, sample_weight), k) for k in multipliers]

    def _features_without_rows(self, rows: Rows, y: Any) -> list[tuple[Any, float | None]]:
        """The same if the fit reads nothing but the shape of these rows; none if it reads more of them."""
        pairs = self._fitted_features(rows.X, y, None)  # says what is wrong with the features, if anything
        return [] if fit_reads_rows(unfitted(self.features), rows.X, y) else pairs

    def _features_from(self, columns: ColumnMoments) -> list[tuple[Any, float | None]]:
        """The same from the moments of all columns, if `_check_statistics` has nothing against it."""
        rows, weights = columns.summary()
        return self._fitted_features(rows, None, weights)

    def _check_statistics(self, X: Any) -> None:
        """Refuse features that read more off rows like these than the moments of their columns."""
        if not summary_suffices(unfitted(self.features), X):
            raise ValueError(
                f"{_name(self.features)} reads more off the data than mean, spread and range of the columns, so "
                "statistics cannot stand in for the data. Fit it beforehand on a sample, and give it as "
                "FrozenEstimator(fitted)."
            )

    def _with_rows(self, rows: Rows, y: Any) -> list[Candidate]:
        """Candidates that have learnt these rows as well; those of the estimator stay as they are."""
        if not self.__sklearn_is_fitted__():
            known = hasattr(self, "column_moments_")
            pairs = self._features_from(self.column_moments_) if known else self._features_without_rows(rows, y)
            if not pairs:
                raise ValueError(
                    f"{_name(self.features)} reads its scale or other settings off the data that it is fitted on, so "
                    "the first batch would decide for all. Either call fit_statistics(X) for every batch of the stream "
                    f"before the first partial_fit, or give the setting, as in "
                    f"{type(self).__name__}(FourierFeatures(sigma=0.1))."
                )
            return [Candidate.of(features, k, rows, self.solver) for features, k in pairs]
        return [c.with_rows_of(c.of(c.features, c.multiplier, rows, self.solver)) for c in self._candidates]

    def _set(self, candidates: list[Candidate], solution: Solution | None = None, **attributes: Any) -> None:
        """Keep candidates, solved now or when somebody asks; one assignment, so nothing can come in between."""
        lazy = _Lazily(candidates, self.alpha, self.fit_intercept, solution)
        self.__dict__.update(attributes, _candidates=candidates, _lazy_solution=lazy)

    def _start_again(
        self, X: Any, candidates: list[Candidate], solution: Solution | None = None, **attributes: Any
    ) -> None:
        """Keep candidates of rows with the columns of X, whatever was learnt before."""
        validate_data(self, X, skip_check_array=True)
        self.__dict__.pop("column_moments_", None)
        self._set(candidates, solution, **attributes)

    @property
    def _solution(self) -> Solution:
        check_is_fitted(self)
        return self._lazy_solution.value

    # -- checks ----------------------------------------------------------------------------------------------------

    def _check_parameters(self, streaming: bool) -> None:
        alpha = self.alpha
        is_number = isinstance(alpha, numbers.Real) and not isinstance(alpha, bool) and 0 <= float(alpha) < np.inf
        if not is_number and not (isinstance(alpha, str) and alpha in CRITERIA):
            raise ValueError(f"alpha must be 'gcv', 'evidence', 'loo' or a finite number of at least 0, got {alpha!r}.")
        if streaming and isinstance(alpha, str) and alpha == "loo":
            raise ValueError(
                "alpha='loo' looks at every row a second time, which a stream does not allow. Use alpha='gcv', which "
                "needs the moments alone, or fit on all rows at once."
            )
        if self.multipliers is not None and not isinstance(alpha, str) and alpha == 0:
            raise ValueError(
                "Without a penalty nothing says which of the multipliers is best. Give an alpha above 0, or leave "
                "multipliers out."
            )
        if not isinstance(self.solver, str) or self.solver not in MOMENTS:
            raise ValueError(f"solver must be 'gram' or 'qr', got {self.solver!r}.")

    def _checked_multipliers(self) -> list[float | None]:
        if self.multipliers is None:
            return [None]
        multipliers = np.atleast_1d(self.multipliers)
        if multipliers.ndim != 1 or not len(multipliers) or not all(map(is_positive_number, multipliers.tolist())):
            raise ValueError(f"multipliers must be positive finite numbers, got {self.multipliers!r}.")
        return [float(multiplier) for multiplier in multipliers]

    def _check_columns(self, X: Any) -> None:
        """Refuse other columns than before, if there were any."""
        if hasattr(self, "n_features_in_"):
            validate_data(self, X, skip_check_array=True, reset=False)

    def _set_columns(self, X: Any) -> None:
        """Remember number and names of the columns, if these are the first."""
        if not hasattr(self, "n_features_in_"):
            validate_data(self, X, skip_check_array=True)

    def _checked_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=FLOATS, accept_sparse="csr")

    def _check_mergeable(self, other: BaseFeatureRidge) -> None:
        if type(other) is not type(self):
            raise ValueError(f"A {type(self).__name__} can only be merged with its like, got {type(other).__name__}.")
        mine, theirs = self._candidates, other._candidates
        shapes = [[(c.multiplier, c.moments.n_features, c.moments.n_targets) for c in cs] for cs in (mine, theirs)]
        same = shapes[0] == shapes[1] and self.n_features_in_ == other.n_features_in_
        if same:
            X = np.random.default_rng(0).normal(size=(ROWS_TO_COMPARE, self.n_features_in_))
            same = all(same_features(a.features, b.features, X) for a, b in zip(mine, theirs, strict=True))
        if not same:
            raise ValueError(
                "Only estimators with the same features and targets can be merged, but these differ. Give the features "
                "a random_state that is an integer, and scales that are numbers or come from the same statistics."
            )

    # -- fitted attributes -----------------------------------------------------------------------------------------

    @property
    def features_(self) -> Any:
        """The fitted transformer."""
        return self._solution.candidate.features

    @property
    def moments_(self) -> RegressionMoments:
        """The moments of the features and the targets."""
        return self._solution.candidate.moments

    @property
    def posterior_(self) -> Posterior:
        """The posterior of the coefficients."""
        return self._solution.posterior

    @property
    def alpha_(self) -> float:
        """The penalty."""
        return self._solution.posterior.alpha

    @property
    def multiplier_(self) -> float | None:
        """The multiplier that was chosen; None without `multipliers`."""
        return self._solution.candidate.multiplier

    @property
    def criteria_(self) -> np.ndarray:
        """For each multiplier twice the negative log evidence over the weight of the rows, the smaller the better."""
        return self._solution.criteria

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_candidates")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(unfitted(self.features)).input_tags.sparse
        return tags


class _Lazily:
    """A solution that is computed when it is first asked for."""

    def __init__(
        self, candidates: list[Candidate], alpha: float | str, fit_intercept: bool, value: Solution | None
    ) -> None:
        self.candidates, self.alpha, self.fit_intercept = candidates, alpha, fit_intercept
        if value is not None:
            self.value = value

    @functools.cached_property
    def value(self) -> Solution:
        return chosen(self.candidates, self.alpha, self.fit_intercept)


def _name(features: Any) -> str:
    return repr(unfitted(features))
