"""Criteria for the penalty along a whole path of penalties, from moments alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal
from scipy.linalg.lapack import dormqr, dptsv, dsytrd, dsytrd_lwork

from spectralkit.moments import RegressionMoments
from spectralkit.posterior._normal_equations import EPS, NormalEquations

STEPS_PER_DECADE = 8
# About the largest eigenvalue. Further down rounding errors of the moments show in the predictions: 1e-8 of their size
# from a Gram matrix at seven decades, and from a triangular factor, which has the square roots, at fourteen.
DECADES_BELOW, DECADES_BELOW_FOR_QR, DECADES_ABOVE = 7, 14, 3
DECADES_IN_RANGE = -300, 307  # of double precision, with its inverse
GCV_DECADES = 0.5  # how far from the most likely penalty the smallest gcv may be
TIE = 1e-8  # criteria that differ by less are equal


class RidgePath:
    r"""Ridge regression for every penalty at once, from moments.

    Penalised least squares :math:`\sum_i w_i (y_i - b - z_i\cdot\beta)^2 + \alpha|\beta|^2` with an intercept that is
    not penalised. The scatter of the features is reduced to a tridiagonal matrix once, which costs a third of an
    eigendecomposition; after that each penalty costs O(m). Moments with a triangular factor are reduced by its singular
    values.

    Parameters
    ----------
    moments : RegressionMoments
        Moments of features and targets.
    fit_intercept : bool, default=True
        Whether the model has an intercept.

    Attributes
    ----------
    eigenvalues : ndarray of shape (m,)
        Eigenvalues of the scatter of the features, ascending.
    weight : float
        Sum of the weights W.

    Raises
    ------
    ValueError
        If the moments have seen no rows.

    References
    ----------
    G. H. Golub, M. Heath and G. Wahba, "Generalized cross-validation as a method for choosing a good ridge parameter",
    Technometrics 21, 1979.
    D. J. C. MacKay, "Bayesian interpolation", Neural Computation 4, 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.moments import GramMoments
    >>> from spectralkit.posterior import RidgePath
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(50, 3))
    >>> path = RidgePath(GramMoments(3).update(Z, Z @ [1.0, 2.0, 0.0] + rng.normal(size=50)))
    >>> path.degrees_of_freedom([1e-9, 1e9]).round(3)
    array([4., 1.])
    >>> bool(path.best("evidence") == path.alphas[np.argmax(path.log_evidence(path.alphas))])
    True
    """

    def __init__(self, moments: RegressionMoments, fit_intercept: bool = True) -> None:
        equations = NormalEquations.of(moments, fit_intercept)
        self._set(equations)

    @classmethod
    def _of(cls, equations: NormalEquations) -> RidgePath:
        path = cls.__new__(cls)
        path._set(equations)
        return path

    def _set(self, equations: NormalEquations) -> None:
        self.weight = equations.weight
        self._n_targets = equations.n_targets
        self._squares = equations.squares
        varies = self._squares > 0  # targets that do not vary have nothing to say about the penalty
        self._counted = varies if varies.any() else ~varies
        self._intercept = int(equations.fit_intercept)
        self._by_qr = equations.root is not None
        if self._by_qr:
            self._form = equations.canonical()
            self.eigenvalues = self._form.eigenvalues
            return
        m = len(equations.scatter)
        self._diagonal, self._beside, self._turned = _tridiagonal(equations.scatter, equations.products)
        self.eigenvalues = np.maximum(
            eigvalsh_tridiagonal(self._diagonal, self._beside[: m - 1], check_finite=False), 0.0
        )

    @property
    def alphas(self) -> np.ndarray:
        """The penalties that are tried: powers of ten, eight to a decade, the same for all data of like scale."""
        return penalties(self.eigenvalues[-1], self._by_qr)

    def best(self, criterion: str) -> float:
        """Return the best penalty by a criterion; of equal ones the largest.

        Parameters
        ----------
        criterion : {"gcv", "evidence"}
            "evidence": the largest `log_evidence`. "gcv": the smallest `gcv` within half a decade of that.

        Returns
        -------
        float
            One of `alphas`.

        Raises
        ------
        ValueError
            If the criterion is unknown, or the moments have no targets.

        Notes
        -----
        Generalised cross-validation alone is not safe: where a few rows have most of the leverage, or rows come twice,
        its smallest value is often at a penalty a million times too small. The evidence has no such dips, and is only
        a little off where the prior is not quite right, which half a decade mends.
        """
        alphas = self.alphas
        likely = largest_of_best(alphas, self.criterion("evidence", alphas))
        if criterion == "evidence":
            return likely
        near = alphas[np.abs(np.log10(alphas) - math.log10(likely)) < GCV_DECADES + 0.01]
        errors = self.criterion(criterion, near)
        return largest_of_best(near, errors) if np.isfinite(errors).any() else likely

    def criterion(self, name: str, alphas: Any) -> np.ndarray:
        """Return what is minimised: the logarithm of `gcv`, or the negative `log_evidence`, over the number of targets.

        Parameters
        ----------
        name : {"gcv", "evidence"}
            Which criterion.
        alphas : array of shape (a,)
            Penalties.

        Returns
        -------
        ndarray of shape (a,)
            The criterion, in units of the logarithm of a variance; comparable between paths of the same targets.

        Raises
        ------
        ValueError
            If the criterion is unknown, or the moments have no targets.
        """
        if name not in ("gcv", "evidence"):
            raise ValueError(f"The criterion must be 'gcv' or 'evidence', got {name!r}.")
        if not self._n_targets:
            raise ValueError(
                "The moments have no targets, so there is nothing to choose a penalty by. Give the penalty as a number."
            )
        return np.log(self.gcv(alphas)) if name == "gcv" else -2.0 * self.log_evidence(alphas) / self.weight

    def gcv(self, alphas: Any) -> np.ndarray:
        r"""Return generalised cross-validation, an estimate of the mean squared error on new rows.

        .. math:: \mathrm{GCV}(\alpha) = \frac{W\,\mathrm{RSS}(\alpha)}{(W - \mathrm{df}(\alpha))^2}

        Parameters
        ----------
        alphas : array of shape (a,)
            Penalties, positive.

        Returns
        -------
        ndarray of shape (a,)
            For several targets the geometric mean over those that vary, so that their units do not matter; infinite
            where the model has as many degrees of freedom as there are rows.
        """
        left = self.weight - self.degrees_of_freedom(alphas)
        with np.errstate(divide="ignore"):
            errors = np.log(self.residual_squares(alphas)[:, self._counted]).mean(axis=1)
            values = self.weight * np.exp(errors) / left**2
        return np.where(left > 1e-9 * self.weight, values, np.inf)

    def log_evidence(self, alphas: Any) -> np.ndarray:
        r"""Return the logarithm of the marginal likelihood, with the noise variance of each target at its best value.

        The coefficients have the prior :math:`N(0, \sigma^2/\alpha)`, the intercept a flat one. With
        :math:`Q = \min_\beta (\mathrm{RSS} + \alpha|\beta|^2)` and :math:`\nu = W - 1` (W without an intercept) the
        best :math:`\sigma^2` is :math:`Q/\nu`, and

        .. math:: \log p = -\tfrac12\Bigl[\nu\log\bigl(2\pi e\,Q/\nu\bigr) + \log\det(I + S/\alpha) + \log W\Bigr],

        the last term only with an intercept.

        Parameters
        ----------
        alphas : array of shape (a,)
            Penalties, positive.

        Returns
        -------
        ndarray of shape (a,)
            The mean over targets that vary; minus infinity where W is too small for a variance.
        """
        alphas = np.asarray(alphas, dtype=np.float64)
        freedom = self.weight - self._intercept
        if freedom <= 0:
            return np.full(len(alphas), -np.inf)
        determinants = np.log1p(self.eigenvalues / alphas[:, None]).sum(axis=1)
        squares = self.penalised_squares(alphas)[:, self._counted]
        likelihood = freedom * np.log(2 * math.pi * math.e * squares / freedom)
        return -0.5 * (likelihood.mean(axis=1) + determinants + self._intercept * np.log(self.weight))

    def degrees_of_freedom(self, alphas: Any) -> np.ndarray:
        r"""Return the trace of the smoother, :math:`\sum_k \lambda_k/(\lambda_k + \alpha)` and 1 for the intercept.

        Parameters
        ----------
        alphas : array of shape (a,)
            Penalties, positive.

        Returns
        -------
        ndarray of shape (a,)
            Between 0 or 1 and m or m + 1.
        """
        alphas = np.asarray(alphas, dtype=np.float64)[:, None]
        return (self.eigenvalues / (self.eigenvalues + alphas)).sum(axis=1) + self._intercept

    def residual_squares(self, alphas: Any) -> np.ndarray:
        """Return the weighted residual sums of squares.

        Parameters
        ----------
        alphas : array of shape (a,)
            Penalties, positive.

        Returns
        -------
        ndarray of shape (a, t)
            Not below what rounding can tell from zero.
        """
        return self._sums(alphas)[0]

    def penalised_squares(self, alphas: Any) -> np.ndarray:
        """Return the minima of residual sum of squares plus penalty.

        Parameters
        ----------
        alphas : array of shape (a,)
            Penalties, positive.

        Returns
        -------
        ndarray of shape (a, t)
            Not below what rounding can tell from zero.
        """
        return self._sums(alphas)[1]

    def _sums(self, alphas: Any) -> tuple[np.ndarray, np.ndarray]:
        """Residual and penalised squares, neither below its rounding errors: these must not look like a good fit."""
        residuals, penalised, floors = np.empty((3, len(alphas), self._n_targets))
        for i, alpha in enumerate(np.asarray(alphas, dtype=np.float64)):
            if self._by_qr:
                shrunk = alpha / (self.eigenvalues + alpha)
                penalised[i] = self._form.rest + shrunk @ self._form.scores**2
                residuals[i] = self._form.rest + shrunk**2 @ self._form.scores**2
                floors[i] = 10 * EPS**2 * self._squares
                continue
            _, _, coef, info = dptsv(self._diagonal + alpha, self._beside, self._turned)
            if info:  # the penalty is below the rounding errors of the scatter
                penalised[i] = residuals[i] = floors[i] = np.inf
                continue
            penalised[i] = self._squares - (self._turned * coef).sum(axis=0)
            residuals[i] = penalised[i] - ((math.sqrt(alpha) * coef) ** 2).sum(axis=0)
            # an error of EPS in the scatter is one of EPS coef @ scatter @ coef here, at most
            largest = ((math.sqrt(self.eigenvalues[-1]) * coef) ** 2).sum(axis=0)
            floors[i] = 10 * EPS * (self._squares + largest)
        floors += np.finfo(np.float64).tiny
        return np.maximum(residuals, floors), np.maximum(penalised, floors)


def penalties(largest: float, by_qr: bool) -> np.ndarray:
    """The penalties to try where the largest eigenvalue is this."""
    below = DECADES_BELOW_FOR_QR if by_qr else DECADES_BELOW
    top = round(STEPS_PER_DECADE * math.log10(largest or 1.0))
    lowest, highest = (STEPS_PER_DECADE * decade for decade in DECADES_IN_RANGE)
    first = max(top - STEPS_PER_DECADE * below, lowest)
    last = max(min(top + STEPS_PER_DECADE * DECADES_ABOVE, highest), lowest)
    steps = np.arange(first, last + 1)
    return 10.0 ** (steps / STEPS_PER_DECADE)


def largest_of_best(alphas: np.ndarray, criterion: np.ndarray) -> float:
    """The penalty with the smallest criterion, of equal ones the largest: rounding must not choose between them."""
    smallest = criterion.min()
    if not np.isfinite(smallest):
        return float(alphas[-1])
    return float(alphas[np.flatnonzero(criterion <= smallest + TIE)[-1]])


def _tridiagonal(scatter: np.ndarray, products: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Diagonal and off-diagonal of ``Q.T @ scatter @ Q``, and ``Q.T @ products``, which comes first on any axis."""
    m = len(scatter)
    work = int(dsytrd_lwork(m, lower=1)[0])
    reflectors, diagonal, beside, tau, _ = dsytrd(scatter, lower=1, lwork=work)
    turned = products.copy(order="F")
    if m == 1:
        return diagonal, np.zeros(1), turned  # LAPACK's wrappers take no empty off-diagonal
    size = max(1, 64 * products.shape[1])
    turned[1:] = dormqr("L", "T", reflectors[1:, : m - 1], tau, turned[1:], size)[0]
    return diagonal, beside, turned
