"""What moments say to a solver: features and targets about the intercept, if there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh, svd

from spectralkit.moments import RegressionMoments

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class NormalEquations:
    """The system (S + alpha) coef = b, about the mean if there is an intercept and about zero if not."""

    scatter: np.ndarray  # (m, m)
    products: np.ndarray  # (m, t) of features and targets
    squares: np.ndarray  # (t,) of the targets
    root: np.ndarray | None  # upper triangular, of features and targets, if the moments have one
    centre: np.ndarray  # (m + t,)
    weight: float
    fit_intercept: bool

    @classmethod
    def of(cls, moments: RegressionMoments, fit_intercept: bool) -> Self:
        if moments.weight <= 0:
            raise ValueError("There is nothing to solve yet: the moments have seen no rows. Call update first.")
        m, mean = moments.n_features, moments.mean
        root = moments.root
        scatter = moments.scatter if root is None else root.T @ root
        if not fit_intercept:
            scatter += np.outer(moments.weight * mean, mean)
            if root is not None:
                root = np.asarray(np.linalg.qr(np.vstack([root, np.sqrt(moments.weight) * mean]), mode="r"))
            mean = np.zeros_like(mean)
        squares = np.maximum(np.diag(scatter)[m:], 0.0)  # a subtraction may have left less than nothing
        products = np.array(scatter[:m, m:], order="F")
        scatter = np.asfortranarray(scatter[:m, :m])
        return cls(scatter, products, squares, root, mean, moments.weight, fit_intercept)

    @property
    def n_targets(self) -> int:
        return len(self.squares)

    def canonical(self) -> CanonicalForm:
        """Turn to the principal axes of the features; the scatter is used up, for memory."""
        m = len(self.scatter)
        if self.root is not None:
            left, sizes, axes = svd(self.root[:m, :m], check_finite=False)
            scores = (left.T @ self.root[:m, m:])[::-1]
            return CanonicalForm(sizes[::-1] ** 2, axes[::-1].T, scores, (self.root[m:, m:] ** 2).sum(axis=0))
        values, axes = eigh(self.scatter, driver="evr", overwrite_a=True, check_finite=False)
        values = np.maximum(values, 0.0)
        sizes = np.sqrt(np.where(values > EPS * values[-1], values, np.inf))  # the others are rounding errors
        scores = (axes.T @ self.products) / sizes[:, None]
        return CanonicalForm(values, axes, scores, np.maximum(self.squares - (scores**2).sum(axis=0), 0.0))

    @property
    def lost(self) -> float:
        """Eigenvalues of the scatter below this share of the largest are made of rounding errors."""
        return len(self.scatter) * (EPS if self.root is None else (10 * EPS) ** 2)


@dataclass(frozen=True)
class CanonicalForm:
    """The normal equations in the principal axes of the features, eigenvalues ascending."""

    eigenvalues: np.ndarray  # (m,)
    axes: np.ndarray  # (m, m), one in each column
    scores: np.ndarray  # (m, t) targets along the axes; times the root of the eigenvalue, the products with features
    rest: np.ndarray  # (t,) squares of the targets that no coefficients explain
