"""Exact explanations of a linear model on Fourier features, for independent columns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_array

from spectralkit._validation import check_sample_weight, is_integer
from spectralkit.explanation._model import (
    CHECKED_ROWS,
    LinearModel,
    check_that_steps_keep_columns_apart,
    output_of,
)
from spectralkit.explanation._shapley import shapley_values
from spectralkit.explanation._sobol import SobolIndices, variances
from spectralkit.explanation._waves import IndependentColumns, WaveSum


class FourierExplanation:
    r"""Exact partial dependence, Shapley values and Sobol indices of a linear model on Fourier features.

    .. math:: f(x) = b + \mathrm{Re} \sum_j C_j \prod_p e^{2\pi i\,\omega_{jp} x_p}, \qquad
              v(S)(x) = E\bigl[f(x_S, X_{\bar S})\bigr]
              = b + \mathrm{Re} \sum_j C_j \prod_{p \in S} e^{2\pi i\,\omega_{jp} x_p}
                \prod_{p \notin S} \varphi_p(\omega_{jp})

    The columns that are not known are independent of each other and of the known ones, each distributed as in the
    background, with the characteristic function :math:`\varphi_p(\omega) = E[\exp(2\pi i\,\omega X_p)]`. A wave is a
    product over columns, so means over all combinations of background values cost one product; nothing is sampled.

    Parameters
    ----------
    model : estimator
        A fitted pipeline of Fourier features and a linear model; or a fitted estimator with ``features_``, a fitted
        transformer or pipeline, ``coef_`` and ``intercept_``. Steps before the features must act on each column by
        itself, as StandardScaler does; explanations are in terms of the columns before them. Of a classifier the
        decision function is explained.
    background : array-like of shape (n_background, d)
        Rows whose columns say how each column is distributed, such as the training rows.
    sample_weight : array-like of shape (n_background,), optional
        Repetitions of the background rows.
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the results.

    Attributes
    ----------
    mean : float or ndarray of shape (t,)
        The mean of f over the background with independent columns, v of no columns; one for each target if the model
        predicts several.

    Raises
    ------
    TypeError
        If the model has no linear coefficients, or they do not stand on features with ``nodes_``.
    ValueError
        If the background or its weights are not valid, a step before the features mixes columns, or the output of the
        model is not linear in plain Fourier features.

    See Also
    --------
    sklearn.inspection.partial_dependence : Averages over rows, which keeps the other columns dependent.

    Notes
    -----
    Phases are computed relative to the weighted means of the background columns, so a large offset costs no more digits
    than in the features themselves. Everything is computed in float64.

    With independent columns a Shapley value is the interventional one for the product of the columns' distributions,
    not for the joint distribution of the background. The two agree where the background is a full grid.

    References
    ----------
    L. S. Shapley, "A value for n-person games", Contributions to the Theory of Games II, 1953.
    G. Owen, "Multilinear extensions of games", Management Science 18, 1972.
    I. M. Sobol, "Global sensitivity indices for nonlinear mathematical models", Math. Comput. Simul. 55, 2001.
    J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from spectralkit import FourierFeatures
    >>> from spectralkit.datasets import load_yacht
    >>> from spectralkit.explanation import FourierExplanation
    >>> X, y = load_yacht(return_X_y=True)
    >>> model = make_pipeline(FourierFeatures(random_state=0), Ridge(0.01)).fit(X, y)
    >>> explanation = FourierExplanation(model, X)
    >>> values = explanation.shapley_values(X[:5])
    >>> values.shape, bool(np.allclose(explanation.mean + values.sum(axis=1), model.predict(X[:5])))
    ((5, 6), True)
    >>> int(explanation.sobol_indices().total.argmax())  # the Froude number, the speed of the yacht
    5
    >>> explanation.partial_dependence(5, [0.2, 0.3, 0.4]).shape
    (3,)
    """

    def __init__(self, model: Any, background: Any, sample_weight: Any = None, n_jobs: int | None = None) -> None:
        X = check_array(background, dtype=np.float64, input_name="background")
        sample_weight = check_sample_weight(sample_weight, len(X))
        self.n_jobs = n_jobs
        self._names = _column_names(background)
        self._frame = _maker_of_frames(background, self._names)
        self._model = LinearModel.of(model)
        check_that_steps_keep_columns_apart(self._model.steps, self._behind_the_steps, X)
        self._d, self._row = X.shape[1], X[:1]
        Z = self._behind_the_steps(X)
        if Z.shape[1] != self._model.nodes.frequencies.shape[1]:
            raise ValueError(
                f"background has {Z.shape[1]} column(s), but the frequencies of the model have "
                f"{self._model.nodes.frequencies.shape[1]}; they must agree."
            )
        centre = np.average(Z, axis=0, weights=sample_weight)
        self._waves = WaveSum.of(self._model.nodes, self._model.coef, self._model.intercept, centre)
        self._background = IndependentColumns.of(Z - centre, sample_weight)
        self._characteristic = self._background.characteristic(self._waves.frequencies)
        self._is_single = self._check_output(model, X[:CHECKED_ROWS], Z[:CHECKED_ROWS])
        self.mean = self._for_targets(self._mean_given([], np.empty((1, 0)))[0])

    def partial_dependence(self, columns: Any, points: Any) -> np.ndarray:
        """Mean of f where some columns are known and the others are distributed as in the background.

        Parameters
        ----------
        columns : int, str or sequence of them
            The columns S that are known, by place, or by name if the background is a data frame.
        points : array-like of shape (k, len(columns)), or (k,) for one column
            Their values.

        Returns
        -------
        ndarray of shape (k,) or (k, t)
            The value function v(S) at the points.

        Raises
        ------
        ValueError
            If a column is not there or given twice, or the points have another number of columns.
        """
        known = list(self._places(columns))
        points = check_array(points, dtype=np.float64, ensure_2d=False, input_name="points")
        if points.ndim == 1 and len(known) == 1:
            points = points[:, None]
        if points.ndim != 2 or points.shape[1] != len(known):
            raise ValueError(
                f"points must have one column for each of the {len(known)} known column(s), shape (k, {len(known)}), "
                f"got shape {points.shape}."
            )
        X = np.repeat(self._row, len(points), axis=0)
        X[:, known] = points
        return self._for_targets(self._mean_given(known, self._near(X)[:, known]))

    def shapley_values(self, X: Any) -> np.ndarray:
        """Share what f(x) has above its mean out to the columns.

        The Shapley value of a column is the average, over all orders in which the columns may become known, of what
        v(S) gains when it joins the columns S before it. Together they are f(x) less `mean`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, d) or (n, d, t)
            One value a row and column, in units of f; exactly zero for a column that the model does not use.

        Raises
        ------
        ValueError
            If X has another number of columns than the background, or other names.

        Notes
        -----
        Takes O(m d^2) operations a row for m frequencies, by ceil(d/2) Gauss-Legendre nodes that are exact for the
        polynomial in which all orders are summed. Where the spectrum is a sum of terms on fewer columns, d is theirs.
        """
        near = self._near(self._check_rows(X))
        return self._for_targets(shapley_values(self._waves, self._characteristic, near, self.n_jobs))

    def sobol_indices(self, columns: Any = None) -> SobolIndices:
        """Share the variance of f, over the background with independent columns, among columns or sets of columns.

        Parameters
        ----------
        columns : sequence of int, str or of sequences of them, optional
            The columns and sets of columns to find the indices of: ``[0, (1, 2)]``, or
            ``itertools.combinations(range(d), 2)`` for all pairs. None: every column by itself.

        Returns
        -------
        SobolIndices
            First-order, total and interaction indices and the variance. If f does not vary, all indices are zero.

        Raises
        ------
        ValueError
            If a column is not there or twice in a set.

        Notes
        -----
        Exact: second moments of the waves are products of characteristic functions at sums and differences of
        frequencies. This takes O(n m^2 d) operations for n different values a column, in tiles of fixed size. The
        variance is known to about 1e-16 times the square of the sum of all coefficients' sizes.
        """
        asked = range(self._d) if columns is None else _listed(columns)
        sets = [self._places(one_or_more) for one_or_more in asked]
        found = variances(self._waves, self._characteristic, self._background, sets, self.n_jobs)
        variance = np.maximum(found[0], 0.0)  # rounding alone makes a share negative
        shares = np.maximum(found[1:], 0.0) / np.where(variance > 0, variance, 1.0) * (variance > 0)
        first_order, total, interaction = (self._for_targets(shares[i::3]) for i in range(3))
        return SobolIndices(tuple(sets), self._for_targets(variance), first_order, total, interaction)

    def _mean_given(self, columns: list[int], near: np.ndarray) -> np.ndarray:
        return self._waves.mean_given(columns, near, self._characteristic, self.n_jobs)

    def _near(self, X: np.ndarray) -> np.ndarray:
        """Behind the steps before the features, and relative to the centre."""
        return self._behind_the_steps(X) - self._waves.centre

    def _behind_the_steps(self, X: np.ndarray) -> np.ndarray:
        return self._model.transform(self._frame(X)) if self._model.steps else X

    def _for_targets(self, values: np.ndarray) -> Any:
        """Without the last axis, that of the targets, if the model predicts a single one."""
        return values[..., 0] if self._is_single else values

    def _check_output(self, model: Any, X: np.ndarray, Z: np.ndarray) -> bool:
        """Whether the model has a single target; ValueError unless f is what it says."""
        said = output_of(model, self._frame(X))
        f = self._mean_given(list(range(self._d)), Z - self._waves.centre)
        apart = np.abs(f - said.reshape(len(X), -1)).max(axis=1)
        row = int(apart.argmax())
        if not apart[row] <= self._model.rounding(Z, self._waves.centre):
            raise ValueError(
                f"The output of {type(model).__name__} is not its coefficients times the Fourier features of its "
                f"nodes_: at row {row} of the background they are {apart[row]:.3g} apart. Only linear models on plain "
                "Fourier features can be explained, without a link function or a transformed target."
            )
        return said.ndim == 1

    def _check_rows(self, X: Any) -> np.ndarray:
        names = _column_names(X)
        X = check_array(X, dtype=np.float64, input_name="X")
        if X.shape[1] != self._d:
            raise ValueError(f"X has {X.shape[1]} column(s), but the background has {self._d}; they must agree.")
        if names and self._names and names != self._names:
            raise ValueError(f"X has the columns {names}, but the background has {self._names}; they must agree.")
        return X

    def _places(self, columns: Any) -> tuple[int, ...]:
        """The places of one column or of a set of columns."""
        places = [self._names.index(p) if isinstance(p, str) and p in self._names else p for p in _listed(columns)]
        for place in places:
            if not is_integer(place, at_least=0) or place >= self._d:
                named = f", or one of the names {self._names}" if self._names else ""
                raise ValueError(f"A column must be an integer from 0 to {self._d - 1}{named}, got {place!r}.")
        if not places or len(set(places)) < len(places):
            raise ValueError(f"Columns must be one or more, each given once, got {columns!r}.")
        return tuple(int(place) for place in places)


def _listed(columns: Any) -> list[Any]:
    return list(columns) if np.iterable(columns) and not isinstance(columns, str) else [columns]


def _column_names(X: Any) -> list[str]:
    """The names of a data frame's columns if all are strings, which is when scikit-learn looks at them."""
    names = list(getattr(X, "columns", []))
    return names if all(isinstance(name, str) for name in names) else []


def _maker_of_frames(X: Any, names: list[str]) -> Any:
    """What turns an array into what X is, so that steps that know names meet names."""
    if not names:
        return np.asarray
    frame: Any = type(X)
    return partial(frame, columns=names) if hasattr(X, "iloc") else partial(frame, schema=names)  # pandas, polars
