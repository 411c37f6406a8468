"""Exact leave-one-out errors along a path of penalties, in a second pass over the rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spectralkit.moments import RegressionMoments
from spectralkit.posterior._normal_equations import EPS, NormalEquations
from spectralkit.posterior._path import largest_of_best, penalties

FULL = 1e-6  # a row whose own share of its prediction is closer than this to 1 says nothing but rounding errors


class LeaveOneOut:
    r"""Squared errors of predictions that leave the row out, for every penalty at once.

    .. math:: y_i - \hat y_{-i}(x_i) = y_i - \frac{\hat y_i - w_g h_i \bar y_g}{1 - w_g h_i}

    where h is the leverage, and g the group of all rows that equal row i in X, with its weight and mean target: a row
    that comes again would otherwise be predicted by its copy. No model is fitted twice.

    Parameters
    ----------
    moments : RegressionMoments
        Moments of all rows.
    fit_intercept : bool, default=True
        Whether the model has an intercept.

    Attributes
    ----------
    alphas : ndarray of shape (a,)
        The penalties that are tried; those of `RidgePath`.

    Raises
    ------
    ValueError
        If the moments have seen no rows, or have no targets.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.moments import GramMoments
    >>> from spectralkit.posterior import LeaveOneOut, solve
    >>> rng = np.random.default_rng(0)
    >>> Z, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    >>> errors = LeaveOneOut(GramMoments(3).update(Z, y)).update(Z, y)
    >>> without_first = solve(GramMoments(3).update(Z[1:], y[1:]), alpha=errors.best())
    >>> posterior = solve(GramMoments(3).update(Z, y), alpha=errors.best())
    >>> h = posterior.leverage(Z[:1])
    >>> bool(np.allclose((y[0] - posterior.predict(Z[:1])[0]) / (1 - h), y[0] - without_first.predict(Z[:1])[0]))
    True
    """

    def __init__(self, moments: RegressionMoments, fit_intercept: bool = True) -> None:
        equations = NormalEquations.of(moments, fit_intercept)
        if not equations.n_targets:
            raise ValueError("The moments have no targets, so there are no errors of predictions.")
        form = equations.canonical()
        self.alphas = penalties(form.eigenvalues[-1], by_qr=equations.root is not None)
        # axes along which the rows hardly vary change no leverage by more than rounding
        kept = slice(np.searchsorted(form.eigenvalues, EPS * self.alphas[0], side="right"), None)
        self._axes, m = form.axes[:, kept], len(form.axes)
        self._centre, self._mean = equations.centre[:m], equations.centre[m:]
        inverse = 1 / (form.eigenvalues[kept, None] + self.alphas)  # (r, a)
        products = np.sqrt(form.eigenvalues[kept, None]) * form.scores[kept]
        self._inverse = inverse
        self._constant = 1 / equations.weight if fit_intercept else 0.0
        self._squares = np.zeros((len(self.alphas), equations.n_targets))
        coef = inverse[:, :, None] * products[:, None, :]
        self._coef = coef.reshape(len(inverse), self._squares.size)  # (r, a t)
        self._weight = 0.0

    def update(self, features: Any, targets: Any, sample_weight: Any = None, group: Any = None) -> Self:
        """Add the errors of rows; each row of the moments must be given once.

        Parameters
        ----------
        features : array of shape (n, m)
            Features.
        targets : array of shape (n,) or (n, t)
            Targets.
        sample_weight : array of shape (n,), optional
            Repetitions of the rows.
        group : tuple of arrays, optional
            For each row the weight of all rows that equal it, shape (n,), and their weighted mean target, (n, t). None:
            no row comes twice, and a row that is repeated by its weight is left out as a whole.

        Returns
        -------
        self
            With these errors added.

        Raises
        ------
        ValueError
            If targets do not have the shape of features and moments.
        """
        features = np.asarray(features, dtype=np.float64)
        # about the mean, so that an offset of the targets costs no digits; it is the same in all predictions
        targets = self._checked(targets, len(features), "targets") - self._mean
        weights = np.ones(len(features)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        group_weight, group_target = weights, targets
        if group is not None:
            group_weight = np.asarray(group[0], dtype=np.float64)
            group_target = self._checked(group[1], len(features), "mean targets of groups") - self._mean
        turned = (features - self._centre) @ self._axes
        fitted = (turned @ self._coef).reshape(len(turned), *self._squares.shape)
        np.square(turned, out=turned)
        own = (turned @ self._inverse + self._constant) * group_weight[:, None]  # (n, a)
        others = 1 - own
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = targets[:, None] - (fitted - own[..., None] * group_target[:, None]) / others[..., None]
        errors[others < FULL] = np.inf
        counted = weights > 0
        self._squares += np.einsum("n,nat->at", weights[counted], errors[counted] ** 2)
        self._weight += weights.sum()
        return self

    def criterion(self) -> np.ndarray:
        """Return the logarithm of the mean squared errors, averaged over targets.

        Returns
        -------
        ndarray of shape (a,)
            For several targets the logarithm of their geometric mean; infinite where a row is not predicted by others.

        Raises
        ------
        ValueError
            If no rows have been added.
        """
        if self._weight == 0:
            raise ValueError("There are no errors to average yet. Call update first.")
        return np.log(self._squares / self._weight + np.finfo(np.float64).tiny).mean(axis=1)

    def best(self) -> float:
        """Return the penalty with the smallest error; of equal ones the largest.

        Returns
        -------
        float
            One of `alphas`.

        Raises
        ------
        ValueError
            If no rows have been added.
        """
        return largest_of_best(self.alphas, self.criterion())

    def _checked(self, targets: Any, n: int, name: str) -> np.ndarray:
        targets, t = np.asarray(targets, dtype=np.float64), self._squares.shape[1]
        if targets.ndim == 1:
            targets = targets[:, None]
        if targets.shape != (n, t):
            raise ValueError(f"The {name} must have shape ({n}, {t}), as rows and moments say, got {targets.shape}.")
        return targets
