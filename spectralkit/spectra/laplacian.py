"""The Laplacian family: the exponential kernel in the L1 distance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from spectralkit._xp import convert, namespace
from spectralkit.spectra._has_sigma import HasSigma, checked_positive, plain
from spectralkit.spectra._lags import Lags


class Laplacian(HasSigma):
    r"""Laplacian measure: independent Cauchy frequencies, the exponential kernel in the L1 distance.

    .. math:: k(\tau) = \exp\bigl(-2\pi \sum_j \sigma_j |\tau_j|\bigr), \qquad
              \omega_j \sim \mathrm{Cauchy}(\sigma_j) \text{ independently}

    A product over the columns, not isotropic. The isotropic exponential kernel is ``Matern(nu=0.5)``, the same in one
    column.

    Parameters
    ----------
    sigma : float or array of shape (d,), optional
        Frequency scale in cycles per unit of x, the half-width of the Cauchy distributions; one for all columns or one
        each. ``lengthscale = 1 / (2 pi sigma)`` in the form exp(-sum_j \|tau_j\| / lengthscale_j), and
        ``gamma = 2 pi sigma``. None makes a template that is resolved from data.

    Raises
    ------
    ValueError
        If sigma is not positive and finite.

    See Also
    --------
    Matern : With nu = 1/2, the exponential kernel in the Euclidean distance.

    References
    ----------
    A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007, figure 1.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Laplacian
    >>> k = Laplacian.from_lengthscale([0.5, 2.0])
    >>> bool(np.isclose(k.characteristic(np.array([0.3, -1.0])), np.exp(-0.3 / 0.5 - 1.0 / 2.0)))
    True
    """

    _nonnegative = True

    @classmethod
    def from_gamma(cls, gamma: Any) -> Self:
        r"""Make the measure of the kernel :math:`\exp(-\gamma\sum_j|\tau_j|)` as scikit-learn writes it.

        Parameters
        ----------
        gamma : float or array of shape (d,)
            In inverse units of x. ``gamma = 2 pi sigma``.

        Returns
        -------
        Laplacian
            The measure.

        Raises
        ------
        ValueError
            If a gamma is not positive and finite.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.metrics.pairwise import laplacian_kernel
        >>> from spectralkit import Laplacian
        >>> X = np.array([[0.0, 1.0], [0.5, 0.0]])
        >>> bool(np.allclose(Laplacian.from_gamma(0.7).gram(X), laplacian_kernel(X, gamma=0.7)))
        True
        """
        return cls(sigma=plain(checked_positive(gamma, "gamma") / (2 * math.pi)))

    def _exponents(self, lags: Lags) -> Iterator[Any]:
        """2 pi sigma_j |tau_j|, column by column."""
        sigma = convert(self.sigma, lags.like)
        for j in range(lags.d):
            yield abs(lags.column(j)) * (sigma[j] if sigma.ndim else sigma) * (2 * math.pi)

    def _covariance(self, lags: Lags) -> Any:
        return namespace(lags.like).exp(-sum(self._exponents(lags)))

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        """Each exponent is linear in its sigma, so it is minus the derivative of log k to log(sigma_j)."""
        total = sum(self._exponents(lags))
        k = np.exp(-total)
        for exponent, slot in zip(self._exponents(lags) if np.ndim(self.sigma) else [total], out, strict=True):
            if slot is not None:
                lags.expand(-exponent * k, 0.0, slot)
        return lags.expand(k, self._mass())

    def _factors(self, d: int) -> list[Laplacian]:
        return [Laplacian(float(sigma)) for sigma in np.full(d, self.sigma, dtype=float)]

    def _transport(self, u: np.ndarray, d: int) -> np.ndarray:
        return np.tan(math.pi * (u - 0.5)) * np.asarray(self.sigma, dtype=float)

    def _log_density(self, omega: Any) -> Any:
        xp = namespace(omega, self.sigma)
        columns = xp.log1p((omega / convert(self.sigma, omega)) ** 2).sum(-1)
        return -columns - omega.shape[-1] * math.log(math.pi) - self._log_volume(omega)

    def _cutoff(self, tol: float, d: int) -> np.ndarray:
        beyond = -math.expm1(math.log1p(-tol) / d)  # in each column, so that all columns stay within with 1 - tol
        return np.asarray(self.sigma, dtype=float) / math.tan(math.pi / 2 * beyond)

    def _support(self, tol: float, d: int) -> np.ndarray:
        return -math.log(tol) / (2 * math.pi * np.asarray(self.sigma, dtype=float))
