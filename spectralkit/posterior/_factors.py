"""Two ways to hold the inverse of a penalised scatter: a triangular factor, and principal axes where that fails."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular
from scipy.linalg.lapack import dtrtri

from spectralkit.posterior._normal_equations import NormalEquations


def factorise(equations: NormalEquations, alpha: float) -> Triangle | Axes:
    """Factor S + alpha; along axes, where rounding decides about what the data say of some directions."""
    if alpha > np.finfo(np.float64).tiny:
        try:
            triangle = Triangle.of(equations, alpha)
        except LinAlgError:
            return Axes.of(equations, alpha)
        if triangle.smallest_pivot > equations.lost:
            return triangle
    return Axes.of(equations, alpha)


@dataclass(frozen=True)
class Triangle:
    """A lower triangular L with ``L @ L.T = S + alpha``."""

    lower: np.ndarray  # (m, m)
    turned: np.ndarray  # (m, t), L^-1 b
    penalised_squares: np.ndarray  # (t,) the minima of residual squares plus penalty
    alpha: float

    @classmethod
    def of(cls, equations: NormalEquations, alpha: float) -> Self:
        m = len(equations.scatter)
        if equations.root is not None:
            penalty = np.sqrt(alpha) * np.eye(m, equations.root.shape[1])
            upper = qr(np.vstack([equations.root, penalty]), mode="r", overwrite_a=True, check_finite=False)[0]
            squares = (upper[m:, m:] ** 2).sum(axis=0)
            return cls(np.asfortranarray(upper[:m, :m].T), upper[:m, m:], squares, alpha)
        penalised = np.array(equations.scatter, order="F")
        penalised[np.diag_indices(m)] += alpha
        lower = cholesky(penalised, lower=True, overwrite_a=True, check_finite=False)
        turned = solve_triangular(lower, equations.products, lower=True, check_finite=False)
        squares = np.maximum(equations.squares - (turned**2).sum(axis=0), 0.0)
        return cls(lower, turned, squares, alpha)

    @property
    def coef(self) -> np.ndarray:
        return solve_triangular(self.lower, self.turned, lower=True, trans="T", check_finite=False)

    def whiten(self, centred: np.ndarray) -> np.ndarray:
        return solve_triangular(self.lower, centred.T, lower=True, check_finite=False).T

    @property
    def smallest_pivot(self) -> float:
        """The least share of a squared column that the columns before it leave: the columns' units play no part."""
        return float((np.diag(self.lower) ** 2 / np.einsum("ij,ij->i", self.lower, self.lower)).min())

    @property
    def log_determinant(self) -> float:
        """Of I + S / alpha."""
        return float(2 * np.log(np.abs(np.diag(self.lower)) / np.sqrt(self.alpha)).sum())

    @property
    def degrees_of_freedom(self) -> float:
        return float(len(self.lower) - self.alpha * self.inverse_diagonal.sum())

    @functools.cached_property
    def inverse_diagonal(self) -> np.ndarray:
        inverse, _ = dtrtri(self.lower, lower=1)
        return np.array([column[j:] @ column[j:] for j, column in enumerate(inverse.T)])


@dataclass(frozen=True)
class Axes:
    """Principal axes with ``axes @ diag(1 / values) @ axes.T`` the inverse of S + alpha.

    Of directions in which the features vary by no more than rounding only the penalty is known; they are left out if it
    is zero, which makes the pseudo-inverse.
    """

    axes: np.ndarray  # (m, r)
    values: np.ndarray  # (r,) eigenvalues of S + alpha
    products: np.ndarray  # (r, t)
    penalised_squares: np.ndarray  # (t,) the minima of residual squares plus penalty
    alpha: float
    seen: np.ndarray  # (r,) whether the features vary along the axis
    hidden: float  # what rows of the data can have along the other axes

    @classmethod
    def of(cls, equations: NormalEquations, alpha: float) -> Self:
        form = equations.canonical()
        lost = max(equations.lost * form.eigenvalues[-1], np.finfo(np.float64).tiny)
        seen = form.eigenvalues > lost
        eigenvalues = np.where(seen, form.eigenvalues, 0.0)
        kept = eigenvalues + alpha > np.finfo(np.float64).tiny
        values = eigenvalues[kept] + alpha
        shrunk = np.ones(len(seen))
        shrunk[kept] = alpha / values
        squares = form.rest + shrunk @ form.scores**2
        products = np.sqrt(eigenvalues[kept, None]) * form.scores[kept]
        return cls(form.axes[:, kept], values, products, squares, alpha, seen[kept], float(np.sqrt(lost)))

    @property
    def coef(self) -> np.ndarray:
        return self.axes @ (self.products / self.values[:, None])

    def whiten(self, centred: np.ndarray) -> np.ndarray:
        turned = centred @ self.axes
        turned[:, ~self.seen] *= np.abs(turned[:, ~self.seen]) > self.hidden
        return turned / np.sqrt(self.values)

    @property
    def log_determinant(self) -> float:
        """Of I + S / alpha; infinite for a penalty of zero."""
        return float((np.log(self.values) - np.log(self.alpha)).sum()) if self.alpha > 0 else np.inf

    @property
    def degrees_of_freedom(self) -> float:
        return float((1 - self.alpha / self.values).sum())

    @functools.cached_property
    def inverse_diagonal(self) -> np.ndarray:
        return (self.axes**2) @ (1 / self.values)
