"""A Gaussian process on an equispaced grid of frequencies, in plain algebra: an oracle for tests."""

import math

import numpy as np
from scipy import linalg

from spectralkit.maps import fourier
from spectralkit.rules import Nodes


class GridGP:
    """Zero-mean Gaussian process in one dimension whose kernel is an equispaced sum of waves; plain algebra, no FFT.

    The nodes are ``j h`` for j = 0, ..., m with ``h = 1 / (L + 2 R)`` and ``m h >= cutoff(tol)``, where L is the
    extent of the data and ``R = support(tol)``; the weights are the density times h, doubled for j > 0, because -j h is
    the same wave. By Poisson's formula the sum of waves is the kernel plus its copies shifted by multiples of 1/h,
    minus the mass beyond the cutoff. Up to lag L + R the nearest copy is at least R away: the error is at most about
    2 tol mass. At longer lags the copies are in sight, so targets further than R from the data get the prior.
    """

    def __init__(self, measure, noise_std, tol):
        self.measure, self.noise_std, self.tol = measure, noise_std, tol

    def make_grid(self, X):
        """Choose nodes for points X, shape (n, 1); `fit` does so unless it has been done before."""
        self.ends = X.min(), X.max()
        self.reach = self.measure.support(self.tol, 1)[0]
        self.spacing = 1 / (self.ends[1] - self.ends[0] + 2 * self.reach)
        count = math.ceil(self.measure.cutoff(self.tol, 1)[0] / self.spacing) + 1
        self.frequencies = self.spacing * np.arange(count)[:, None]
        return self

    def fit(self, X, y):
        """Condition on y, shape (n,): A = F'F + s2 I, coefficients A^-1 F'y of the weighted waves F."""
        if not hasattr(self, "frequencies"):
            self.make_grid(X)
        weights = self.measure.density(self.frequencies) * self.spacing
        weights[1:] *= 2
        self.nodes = Nodes(self.frequencies, weights)
        self.y, self.F = y, self.features(X)
        A = self.F.T @ self.F + self.noise_std**2 * np.eye(self.F.shape[1])
        self.cholesky = linalg.cholesky(A, lower=True)
        self.coef = linalg.cho_solve((self.cholesky, True), self.F.T @ y)
        return self

    def features(self, X):
        """The weighted waves at the rows of X: a cosine and a sine per node."""
        return fourier(X, self.nodes, centre=sum(self.ends) / 2)

    def log_marginal_likelihood(self):
        """log N(y; 0, F F' + s2 I) by Woodbury's and Sylvester's identities."""
        (n, m), s2 = self.F.shape, self.noise_std**2
        log_det = 2 * np.log(np.diag(self.cholesky)).sum() + (n - m) * math.log(s2)
        return -0.5 * (self.y @ (self.y - self.F @ self.coef) / s2 + log_det + n * math.log(2 * math.pi))

    def gradient(self):
        """Derivatives to the packed parameters of the measure, then to log noise_std; the grid stays where it is.

        With K = F F' + s2 I: F' K^-1 y = coef and F' K^-1 F = I - s2 A^-1. A weight multiplies the square of each
        of its two columns, so d lml / d log w = (coef^2 - 1 + s2 diag(A^-1)) / 2, summed over them.
        """
        (n, m), s2 = self.F.shape, self.noise_std**2
        inverse = (linalg.solve_triangular(self.cholesky, np.eye(m), lower=True) ** 2).sum(axis=0)  # diagonal of A^-1
        to_log_weight = (0.5 * (self.coef**2 - 1 + s2 * inverse)).reshape(2, -1).sum(axis=0)
        residual = self.y - self.F @ self.coef
        to_log_noise = residual @ residual / s2 - (n - m + s2 * inverse.sum())
        return np.append(self.measure.log_density_gradient(self.frequencies) @ to_log_weight, to_log_noise)

    def predict(self, X, *, mask=True):
        """Mean and variance of the latent function; the prior for targets further than R from the data."""
        F = self.features(X)
        mean = F @ self.coef
        variance = self.noise_std**2 * (linalg.solve_triangular(self.cholesky, F.T, lower=True) ** 2).sum(axis=0)
        low, high = self.ends
        far = mask & ((X[:, 0] < low - self.reach) | (X[:, 0] > high + self.reach))
        return np.where(far, 0.0, mean), np.where(far, self.measure.mass, variance)
