"""The posterior of the coefficients at one penalty."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg.blas import dgemm

from spectralkit.moments import RegressionMoments
from spectralkit.posterior._factors import Axes, Triangle, factorise
from spectralkit.posterior._normal_equations import NormalEquations
from spectralkit.posterior._path import RidgePath


@dataclass(frozen=True, eq=False)
class Posterior:
    r"""Coefficients, and how sure they are, at one penalty.

    With the prior :math:`\beta\sim N(0, \sigma^2/\alpha)`, a flat prior on the intercept and noise of variance
    :math:`\sigma^2` the posterior of :math:`\beta` is normal with mean `coef` and covariance
    :math:`\sigma^2 (S + \alpha I)^{-1}`; the mean is the ridge regression. Made by `solve`.

    Attributes
    ----------
    alpha : float
        The penalty.
    coef : ndarray of shape (t, m)
        Coefficients of each target.
    intercept : ndarray of shape (t,)
        Intercepts, zero where the model has none.
    residual_squares : ndarray of shape (t,)
        Weighted residual sums of squares.
    degrees_of_freedom : float
        Trace of the smoother, the intercept counted.
    weight : float
        Sum of the weights W.
    fit_intercept : bool
        Whether the model has an intercept.
    centre : ndarray of shape (m,)
        Where the leverage is smallest: the mean of the features, zeros where the model has no intercept.
    factor : Triangle or Axes
        The inverse of :math:`S + \alpha I`, in factors.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.moments import GramMoments
    >>> from spectralkit.posterior import solve
    >>> Z, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> posterior = solve(GramMoments(1).update(Z, y), alpha=2.0)
    >>> posterior.coef, posterior.intercept
    (array([[1.]]), array([2.]))
    >>> posterior.leverage(Z).round(6)
    array([0.583333, 0.333333, 0.583333])
    """

    alpha: float
    coef: np.ndarray
    intercept: np.ndarray
    residual_squares: np.ndarray
    degrees_of_freedom: float
    weight: float
    fit_intercept: bool
    centre: np.ndarray = field(repr=False)
    factor: Triangle | Axes = field(repr=False)

    @property
    def noise_variance(self) -> np.ndarray:
        """Residual sums of squares over what degrees of freedom are left, W - df, shape (t,); NaN where none are."""
        left = self.weight - self.degrees_of_freedom
        return np.where(left > 1e-9 * self.weight, self.residual_squares / (left or 1.0), np.nan)

    @property
    def gcv(self) -> np.ndarray:
        """Generalised cross-validation of each target, W RSS / (W - df)^2, shape (t,); NaN where W - df is zero."""
        return self.noise_variance * self.weight / (self.weight - self.degrees_of_freedom or 1.0)

    def predict(self, features: Any) -> np.ndarray:
        """Return the mean of the targets.

        Parameters
        ----------
        features : array of shape (n, m)
            Features.

        Returns
        -------
        ndarray of shape (n, t)
            In double precision.
        """
        # SciPy's BLAS like `whitened`, since threads of NumPy's would go on to spin beside it
        products = dgemm(1.0, self.coef.T, np.asarray(features, dtype=np.float64).T, trans_a=True)
        return products.T + self.intercept

    def leverage(self, features: Any) -> np.ndarray:
        r"""Return :math:`h(z) = 1/W + (z - \bar z)^\top (S + \alpha I)^{-1} (z - \bar z)`, without 1/W if no intercept.

        Parameters
        ----------
        features : array of shape (n, m)
            Features. For a row of the data with weight w, the derivative of its prediction by its target is w h.

        Returns
        -------
        ndarray of shape (n,)
            The variance of the mean is this times the variance of the noise.
        """
        return (self.whitened(features) ** 2).sum(axis=1)

    def whitened(self, features: Any) -> np.ndarray:
        """Return coordinates of rows whose inner products are the posterior covariances over the noise variance.

        Parameters
        ----------
        features : array of shape (n, m)
            Features.

        Returns
        -------
        ndarray of shape (n, r)
            The squared length of each row is its leverage.
        """
        inner = self.factor.whiten(np.asarray(features, dtype=np.float64) - self.centre)
        if not self.fit_intercept:
            return inner
        return np.concatenate([inner, np.full((len(inner), 1), self.weight**-0.5)], axis=1)

    def log_evidence(self, noise_variance: Any) -> np.ndarray:
        r"""Return the logarithm of the marginal likelihood of each target, the intercept integrated out.

        .. math:: \log p = -\tfrac12\Bigl[\nu\log 2\pi\sigma^2 + \frac{\mathrm{RSS} + \alpha|\beta|^2}{\sigma^2} +
                  \log\det(I + S/\alpha) + \log W\Bigr],

        with :math:`\nu = W - 1`; without an intercept :math:`\nu = W`, and the last term is absent.

        Parameters
        ----------
        noise_variance : float or array of shape (t,)
            Variance of the noise.

        Returns
        -------
        ndarray of shape (t,)
            In nats; minus infinity for a penalty of zero, under which nothing is likely.
        """
        freedom = self.weight - self.fit_intercept
        misfit = (self.residual_squares + ((math.sqrt(self.alpha) * self.coef) ** 2).sum(axis=1)) / noise_variance
        volume = self.factor.log_determinant + self.fit_intercept * np.log(self.weight)
        return -0.5 * (freedom * np.log(2 * np.pi * np.asarray(noise_variance)) + misfit + volume)

    def evidence_gradient(self, noise_variance: Any) -> tuple[np.ndarray, np.ndarray]:
        r"""Return the gradient of the log evidence by the log prior variances and by the log noise variance.

        .. math:: \frac{\partial\log p}{\partial\log v_j} = \frac12\Bigl(\frac{\beta_j^2}{v_j} - 1 +
                  \frac{\Sigma_{jj}}{v_j}\Bigr), \qquad
                  \frac{\partial\log p}{\partial\log\sigma^2} = \frac12\Bigl(\frac{\mathrm{RSS}}{\sigma^2} - W +
                  \mathrm{df}\Bigr)

        where :math:`v_j = \sigma^2/\alpha` is the prior variance of a coefficient, varied for each alone, and
        :math:`\Sigma = \sigma^2 (S + \alpha I)^{-1}`.

        Parameters
        ----------
        noise_variance : float or array of shape (t,)
            Variance of the noise.

        Returns
        -------
        by_prior_variance : ndarray of shape (t, m)
            Their sum over the coefficients is minus the derivative by log alpha at a fixed noise variance.
        by_noise_variance : ndarray of shape (t,)
            At fixed prior variances.
        """
        noise = np.broadcast_to(np.asarray(noise_variance, dtype=np.float64), self.residual_squares.shape)
        share = self.alpha * self.factor.inverse_diagonal
        by_prior = 0.5 * ((math.sqrt(self.alpha) * self.coef) ** 2 / noise[:, None] - 1.0 + share)
        by_noise = 0.5 * (self.residual_squares / noise - (self.weight - self.degrees_of_freedom))
        return by_prior, by_noise


def solve(
    moments: RegressionMoments,
    alpha: float | str = "gcv",
    fit_intercept: bool = True,
) -> Posterior:
    r"""Solve ridge regression from moments.

    Parameters
    ----------
    moments : RegressionMoments
        Moments of features and targets.
    alpha : {"gcv", "evidence"} or float, default="gcv"
        The penalty, or the criterion that chooses it from `RidgePath.alphas`. Zero gives the least-squares solution of
        smallest length.
    fit_intercept : bool, default=True
        Whether the model has an intercept, which is not penalised.

    Returns
    -------
    Posterior
        Coefficients and what says how sure they are.

    Raises
    ------
    ValueError
        If the moments have seen no rows, or `alpha` is negative or no criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.moments import GramMoments
    >>> from spectralkit.posterior import solve
    >>> Z, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> solve(GramMoments(1).update(Z, y), alpha=0.0).coef.round(12)
    array([[2.]])
    """
    equations = NormalEquations.of(moments, fit_intercept)
    if isinstance(alpha, str):
        if alpha not in ("gcv", "evidence"):
            raise ValueError(f"alpha must be 'gcv', 'evidence' or a finite number of at least 0, got {alpha!r}.")
        alpha = RidgePath._of(equations).best(alpha)
    if not isinstance(alpha, numbers.Real) or isinstance(alpha, bool) or not 0 <= alpha < np.inf:
        raise ValueError(f"alpha must be 'gcv', 'evidence' or a finite number of at least 0, got {alpha!r}.")
    return _posterior(equations, float(alpha))


def _posterior(equations: NormalEquations, alpha: float) -> Posterior:
    factor = factorise(equations, alpha)
    coef = factor.coef
    m = len(coef)
    return Posterior(
        alpha=alpha,
        coef=np.ascontiguousarray(coef.T),
        intercept=equations.centre[m:] - equations.centre[:m] @ coef,
        residual_squares=np.maximum(factor.penalised_squares - ((math.sqrt(alpha) * coef) ** 2).sum(axis=0), 0.0),
        degrees_of_freedom=factor.degrees_of_freedom + equations.fit_intercept,
        weight=equations.weight,
        fit_intercept=equations.fit_intercept,
        centre=equations.centre[:m],
        factor=factor,
    )
