"""Ridge regression on features, from moments."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils import check_X_y

from spectralkit._validation import FLOATS, check_sample_weight
from spectralkit.ridge._base import BaseFeatureRidge
from spectralkit.ridge._candidates import Candidate, Rows, Solution, chosen, in_blocks
from spectralkit.ridge._conformal import CVPlus, Fold, JackknifePlus, cross_fitted


class FeatureRidge(MultiOutputMixin, RegressorMixin, BaseFeatureRidge):
    r"""Ridge regression on the features of any transformer, from moments of one pass over the rows.

    .. math:: \min_{b, \beta} \sum_i w_i\,(y_i - b - z(x_i)\cdot\beta)^2 + \alpha\,|\beta|^2

    The features of all rows never stand in memory together: blocks of rows are mapped and added to the moments, from
    which the penalty, the coefficients and their uncertainty follow. So `fit`, any sequence of `partial_fit`, `merge`
    and `spectralkit.dask.fit` give the same model.

    Parameters
    ----------
    features : transformer, optional
        Any transformer that maps row by row: ours, `RBFSampler`, `Nystroem`, a pipeline of them. It is cloned. None:
        ``FourierFeatures(random_state=0)``.
    alpha : {"gcv", "evidence", "loo"} or float, default="gcv"
        The penalty, or what chooses it among eight values to a decade. "evidence": the marginal likelihood. "gcv":
        generalised cross-validation, within half a decade of the most likely penalty, beyond which it cannot be
        trusted. "loo": exact leave-one-out errors, which leave out all rows with equal X together and take a second
        pass over the rows. One penalty serves all targets.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is not penalised.
    multipliers : array-like of shape (k,), optional
        Values for the parameter `multiplier` of the features, the scale of frequencies, to choose from by the marginal
        likelihood; all are learnt in one go, from frequencies that differ by the factor alone.
    solver : {"gram", "qr"}, default="gram"
        "gram" keeps the Gram matrix of the features. "qr" keeps a triangular factor instead, which takes several times
        as long and resolves features that are nearly dependent, up to a condition number of 1e14 instead of 1e6.
    interval : {"jackknife+", "cv+"}, optional
        Keep in `fit` what `predict_interval` needs.

    Attributes
    ----------
    features_ : transformer
        The fitted transformer.
    coef_ : ndarray of shape (n_columns,) or (n_targets, n_columns)
        Coefficients of the features.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    alpha_ : float
        The penalty.
    multiplier_ : float or None
        The multiplier that was chosen; None without `multipliers`.
    criteria_ : ndarray of shape (k,)
        For each multiplier twice the negative log evidence over the weight of the rows, the smaller the better; empty
        without `multipliers`.
    noise_std_ : float or ndarray of shape (n_targets,)
        Standard deviation of the noise: residual squares over the rows less the degrees of freedom. NaN where there are
        as many degrees of freedom as rows.
    moments_ : RegressionMoments
        Moments of features and targets.
    posterior_ : Posterior
        What `spectralkit.posterior.solve` made of the moments.
    column_moments_ : ColumnMoments
        Mean, spread and range of the columns, after `fit_statistics` only.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen in `fit`, where X had names that are all strings.

    Raises
    ------
    ValueError
        In `fit` and `partial_fit`, if data or a parameter is not valid; in `partial_fit`, if the first batch would
        decide about the features.

    See Also
    --------
    FeatureRidgeClassifier : The same for labels.
    sklearn.linear_model.Ridge : The same model, from features of all rows at once and one given penalty.

    Notes
    -----
    Predictions are in double precision whatever the dtype of X. Time is that of the features and of one symmetric
    product, n m² operations for m features; memory is that of X, two or three matrices of shape (m, m), and 16 MB.

    References
    ----------
    G. H. Golub, M. Heath and G. Wahba, "Generalized cross-validation as a method for choosing a good ridge parameter",
    Technometrics 21, 1979.
    R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani, "Predictive inference with the jackknife+", Ann. Stat.
    49, 2021.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from spectralkit import FeatureRidge
    >>> from spectralkit.datasets import load_concrete
    >>> X, y = load_concrete(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = FeatureRidge(multipliers=[0.5, 1.0, 2.0], interval="jackknife+").fit(X_train, y_train)
    >>> bool(model.score(X_test, y_test) > 0.8)
    True
    >>> low, high = model.predict_interval(X_test, coverage=0.9).T
    >>> bool(0.85 < ((low <= y_test) & (y_test <= high)).mean() < 0.95)
    True
    """

    def __init__(
        self,
        features: Any = None,
        alpha: float | str = "gcv",
        fit_intercept: bool = True,
        multipliers: Any = None,
        solver: str = "gram",
        interval: str | None = None,
    ) -> None:
        self.features = features
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.multipliers = multipliers
        self.solver = solver
        self.interval = interval

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the features, and learn all rows at once.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; sparse ones if the features take them.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows; they need not be integers.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_parameters(streaming=False)
        given = X
        rows, y = self._batch(X, y, sample_weight)
        rows.check_weights()
        pairs = self._fitted_features(rows.X, y, rows.weights)
        folds: list[Fold] = []
        if self.interval == "cv+" and len(pairs) == 1:  # the folds together are all rows: one pass does for both
            candidates, folds = cross_fitted(*pairs[0], rows, self.solver)
        else:
            candidates = [Candidate.of(features, k, rows, self.solver) for features, k in pairs]
        solution = chosen(candidates, self.alpha, self.fit_intercept, rows)
        conformal: CVPlus | JackknifePlus | None = None
        if self.interval == "cv+":
            folds = folds or cross_fitted(solution.candidate.features, None, rows, self.solver)[1]
            conformal = CVPlus.of(solution, folds, rows, self.alpha, self.fit_intercept)
        elif self.interval == "jackknife+":
            conformal = JackknifePlus.of(solution, rows)
        self._start_again(given, candidates, solution, _conformal=conformal, _is_vector=y.ndim == 1)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a batch of rows; coefficients are solved for when they are next needed.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A batch of rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows.

        Returns
        -------
        self
            The estimator; if an exception or a keyboard interrupt ends the call, it is what it was before.

        Raises
        ------
        ValueError
            If the features would read a setting off the first batch alone, alpha is "loo", or the data are not valid.
        """
        self._check_parameters(streaming=True)
        self._check_columns(X)
        rows, y = self._batch(X, y, sample_weight)
        if self.__sklearn_is_fitted__():
            self._check_targets(y)
        candidates = self._with_rows(rows, y)
        self._set_columns(X)
        self._set(candidates, _is_vector=y.ndim == 1)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the targets of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        return_std : bool, default=False
            Also return standard deviations of the targets.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        std : ndarray of the same shape
            With `return_std`: standard deviation of a new target, that of the mean and that of the noise together,
            ``noise_std_ * sqrt(1 + leverage)``.

        Raises
        ------
        ValueError
            With `return_std`, if the model has as many degrees of freedom as it has rows.
        """
        X = self._checked_new(X)
        solution = self._solution
        if not return_std:
            return self._shaped(solution.predict(X))
        noise = solution.posterior.noise_variance
        if np.isnan(noise).any():
            raise ValueError(
                f"The noise cannot be told from the signal: the model has {solution.posterior.degrees_of_freedom:.4g} "
                f"degrees of freedom and learnt rows of weight {solution.posterior.weight:.4g}. Use a larger alpha, "
                "fewer features or more rows."
            )
        mean, std = np.empty((2, X.shape[0], len(noise)))
        for where, Z in in_blocks(solution.candidate.features, X):
            mean[where] = solution.posterior.predict(Z)
            std[where] = np.sqrt(noise * (1 + solution.posterior.leverage(Z))[:, None])
        return self._shaped(mean), self._shaped(std)

    def predict_interval(self, X: Any, coverage: float = 0.95) -> np.ndarray:
        """Predict intervals that hold a new target with a given probability, whatever the noise is like.

        Conformal prediction: residuals of rows by models that have not seen them are laid around the predictions of
        these models. ``interval="jackknife+"`` leaves out each row (with all that have equal X), which is sharper, and
        takes time proportional to the number of training rows for every new row; ``interval="cv+"`` leaves out each of
        ten folds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.95
            The probability, between 0 and 1.

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, 2, n_targets)
            Lower and upper ends; infinite where there are too few rows for such a probability.

        Raises
        ------
        ValueError
            If `interval` was not given before `fit`, or rows were added later.

        Notes
        -----
        If training rows and new rows are exchangeable, the probability is at least ``2 * coverage - 1`` (less a term of
        the order of the square root of the number of folds over the number of rows, for folds), and in practice very
        nearly `coverage`. It holds on average over rows, not at each.
        """
        X = self._checked_new(X)
        if not isinstance(coverage, numbers.Real) or not 0 < coverage < 1:
            raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}.")
        if self._conformal is None:
            raise ValueError(
                "Intervals need residuals of rows that a model has not seen, and there are none. Give "
                "interval='jackknife+' or interval='cv+' and call fit on all rows at once."
            )
        ends = self._conformal.interval(X, float(coverage))
        return ends[:, :, 0] if self._is_vector else ends

    def cross_val_predict(self, X: Any, y: Any, cv: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Predict every row by a model that has not seen its fold, in the time of one fit.

        The moments of each fold are subtracted from those of all rows, and the rest is solved, its penalty and
        multiplier chosen anew. The estimator itself is not changed. Memory holds the moments of all folds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        cv : int, splitter or iterable of splits, optional
            As in scikit-learn; None is five folds. Every row must be in one test set.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows.

        Returns
        -------
        ndarray of the shape of y
            Predictions. Those of ``sklearn.model_selection.cross_val_predict`` if the fit of the features reads no
            data; scales such as ``sigma="auto"`` are read off all rows here.

        Raises
        ------
        ValueError
            If the test sets are not a partition, or alpha is "loo".
        """
        self._check_parameters(streaming=True)
        rows, y = self._batch(X, y, sample_weight)
        tests = [test for _, test in check_cv(cv).split(rows.X, y)]
        if len(np.unique(np.concatenate(tests))) != len(rows) or sum(map(len, tests)) != len(rows):
            raise ValueError("Every row must be in exactly one test set of cv; use KFold or another partition.")
        pairs = self._fitted_features(rows.X, y, rows.weights)
        parts = [[Candidate.of(features, k, rows[test], self.solver) for features, k in pairs] for test in tests]
        whole = parts[0]
        for part in parts[1:]:
            whole = [total.with_rows_of(fold) for total, fold in zip(whole, part, strict=True)]
        out = np.empty(rows.targets.shape)
        for test, part in zip(tests, parts, strict=True):
            rest = [total.without_rows_of(fold) for total, fold in zip(whole, part, strict=True)]
            out[test] = chosen(rest, self.alpha, self.fit_intercept).predict(rows.X[test])
        return out[:, 0] if y.ndim == 1 else out

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the features."""
        return self._shaped(self._solution.posterior.coef.T).T

    @property
    def intercept_(self) -> Any:
        """Intercept."""
        return self._scalar(self._solution.posterior.intercept)

    @property
    def noise_std_(self) -> Any:
        """Standard deviation of the noise."""
        return self._scalar(np.sqrt(self._solution.posterior.noise_variance))

    # -- checks ----------------------------------------------------------------------------------------------------

    def _batch(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> tuple[Rows, np.ndarray]:
        # the transformer refuses sparse rows itself if it does not take them; not all that do have the tag
        X, y = check_X_y(X, y, dtype=FLOATS, accept_sparse="csr", multi_output=True, y_numeric=True, estimator=self)
        y = np.asarray(y, dtype=np.float64)
        weights = check_sample_weight(sample_weight, X.shape[0], of_a_batch=True)
        return Rows(X, y.reshape(len(y), -1), weights), y

    def _rows_like_learnt(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        rows, y = self._batch(X, y, sample_weight)
        self._check_targets(y)
        return rows

    def _set(self, candidates: list[Candidate], solution: Solution | None = None, **attributes: Any) -> None:
        super()._set(candidates, solution, **{"_conformal": None, **attributes})

    def _check_parameters(self, streaming: bool) -> None:
        super()._check_parameters(streaming)
        if self.interval not in (None, "jackknife+", "cv+"):
            raise ValueError(f"interval must be 'jackknife+', 'cv+' or None, got {self.interval!r}.")

    def _check_targets(self, y: np.ndarray) -> None:
        targets = self._candidates[0].moments.n_targets
        if self._is_vector != (y.ndim == 1) or (y.ndim == 2 and y.shape[1] != targets):
            shape = "(n_samples,)" if self._is_vector else f"(n_samples, {targets})"
            raise ValueError(f"y must have the shape of the targets that were learnt, {shape}, got {y.shape}.")

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self._is_vector else values

    def _scalar(self, values: np.ndarray) -> Any:
        return float(values[0]) if self._is_vector else values
