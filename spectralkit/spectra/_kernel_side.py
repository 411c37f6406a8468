"""The kernel side of a measure: values at lags, Gram matrices and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralkit._validation import as_points
from spectralkit._xp import cast_like, is_torch
from spectralkit.spectra._capable import Capable
from spectralkit.spectra._dual import Dual
from spectralkit.spectra._lags import Differences, Lags, all_pairs


class KernelSide(Capable):
    """What follows from the kernel formula, ``_covariance(lags)``, alone."""

    @property
    def mass(self) -> Any:
        """Total mass of the measure, k(0): the variance of a Gaussian process with this kernel."""
        self.require()
        return self._mass()

    def characteristic(self, tau: Any) -> Any:
        r"""Evaluate the kernel at lags, :math:`k(\tau) = \int\cos(2\pi\,\omega\cdot\tau)\,d\mu(\omega)`.

        Parameters
        ----------
        tau : array or tensor of shape (..., d)
            Lags in the units of x.

        Returns
        -------
        array or tensor of shape (...,)
            In the library and floating dtype of `tau`.

        Raises
        ------
        TemplateError
            If a parameter is open.
        ValueError
            If the measure describes another number of columns.

        Examples
        --------
        >>> import numpy as np
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).characteristic(np.array([[0.0, 0.0], [3.0, 4.0]])).round(6)
        array([1.      , 0.007192])
        """
        tau = as_points(tau, "tau")
        self.require(*_needed_for(tau), d=tau.shape[-1])
        return cast_like(self._covariance(Differences(tau)), tau)

    def gram(self, X: Any, Y: Any = None) -> Any:
        """Evaluate the kernel between all rows, ``K[i, j] = k(X[i] - Y[j])``.

        Parameters
        ----------
        X : array of shape (n, d), or tensor of shape (..., n, d)
            Points.
        Y : array of shape (m, d), or tensor of shape (..., m, d), optional
            Other points; X itself if left out, and then half the work is done.

        Returns
        -------
        array of shape (n, m), or tensor of shape (..., n, m)
            Newly allocated. For Y None it is exactly symmetric, with k(0) on its diagonal.

        Raises
        ------
        TemplateError
            If a parameter is open.
        ValueError
            If X or Y is not two-dimensional or has the wrong number of columns.

        Examples
        --------
        >>> from spectralkit import Matern
        >>> Matern.from_lengthscale(1.0, nu=0.5).gram([[0.0], [1.0]]).round(6)
        array([[1.      , 0.367879],
               [0.367879, 1.      ]])
        """
        X = as_points(X, "X", rows=True)
        self.require(*_needed_for(X), d=X.shape[-1])
        lags = all_pairs(X, _checked_other(Y, X))
        return lags.expand(cast_like(self._covariance(lags), X), self._mass())

    def gram_gradient(
        self, X: np.ndarray, Y: np.ndarray | None = None, *, free: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate the kernel between all rows and its derivatives to the free parameters.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Points.
        Y : ndarray of shape (m, d), optional
            Other points; X itself if left out.
        free : bool ndarray of shape (P,), optional
            Which numbers of `pack` to differentiate to; all if left out. The others cost nothing.

        Returns
        -------
        K : ndarray of shape (n, m)
            What `gram` returns, in the dtype of X.
        G : ndarray of shape (number of free ones, n, m)
            Derivatives to the logarithms of positive and to the values of real parameters, in the order of `pack`.

        Raises
        ------
        TemplateError
            If a parameter is open.
        TypeError
            If X or Y is a tensor: under torch, differentiate `gram`.
        ValueError
            If X, Y or `free` has the wrong shape.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> K, G = (2.0 * Gaussian(0.1)).gram_gradient([[0.0], [1.0]])
        >>> K.round(4)
        array([[2.    , 1.6417],
               [1.6417, 2.    ]])
        >>> G.round(4) + 0.0  # to log(factor) and to log(sigma)
        array([[[ 2.    ,  1.6417],
                [ 1.6417,  2.    ]],
        <BLANKLINE>
               [[ 0.    , -0.6481],
                [-0.6481,  0.    ]]])
        """
        if is_torch(X) or is_torch(Y):
            raise TypeError("gram_gradient takes NumPy arrays. Under torch, call backward() on what gram(X) returns.")
        X = as_points(X, "X", rows=True)
        self.require(d=X.shape[1])
        count = self._parameter_count()
        wanted = np.ones(count, dtype=bool) if free is None else np.asarray(free, dtype=bool)
        if wanted.shape != (count,):
            raise ValueError(f"free must have shape ({count},), one per number of pack(), got {wanted.shape}.")
        lags = all_pairs(X, _checked_other(Y, X))
        G = np.empty((int(wanted.sum()), *lags.shape), dtype=X.dtype)
        rows = iter(G)
        out = [next(rows) if is_wanted else None for is_wanted in wanted]
        return cast_like(self._covariance_gradient(lags, out), X), G

    def _mass(self) -> Any:
        return 1.0

    def _covariance(self, lags: Lags) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must write _covariance(lags).")

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        """Return the matrix of `lags` and write the derivatives into the entries of `out` that are not None."""
        for measure, slot in zip(self._dual_directions(), out, strict=True):
            if slot is not None:
                k, mass = measure._covariance(lags), measure._mass()
                slope = k.full_slope() if isinstance(k, Dual) else np.zeros_like(k)
                lags.expand(slope, getattr(mass, "slope", 0.0), slot)
        return lags.expand(self._covariance(lags), self._mass())


def _checked_other(Y: Any, X: Any) -> Any:
    """The other points of a Gram matrix, which must have the columns of X; None for X itself."""
    if Y is None:
        return None
    Y = as_points(Y, "Y", rows=True)
    if Y.shape[-1] != X.shape[-1]:
        raise ValueError(f"X has {X.shape[-1]} column(s), but Y has {Y.shape[-1]}; they must agree.")
    return Y


def _needed_for(points: Any) -> tuple[str, ...]:
    return ("torch",) if is_torch(points) else ()
