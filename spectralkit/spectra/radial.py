"""Families that are isotropic once every column is scaled by sigma: their base, and the Gaussian."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from scipy import optimize, special

from spectralkit._xp import convert, in_blocks, namespace
from spectralkit.spectra._capable import HOOKS
from spectralkit.spectra._dual import Dual
from spectralkit.spectra._has_sigma import HasSigma, checked_positive
from spectralkit.spectra._lags import Lags

# what makes each of the general hooks below work; a family that overrides the general hook needs none
_RADIAL_HOOKS = {
    "polar": "_radius",
    "transport": "_radius",
    "density": "_log_radial_density",
    "cutoff": "_marginal_isf",
    "radial": "_radius",
}
_PAIRS_PER_BLOCK = 1 << 15  # value, slope and temporaries of a profile stay in a core's cache


class Radial(HasSigma):
    r"""Base of the families :math:`k(\tau) = \mathrm{profile}\bigl(\sum_j (\sigma_j\tau_j)^2\bigr)` with k(0) = 1.

    Parameters
    ----------
    sigma : float or array of shape (d,), optional
        Frequency scale in cycles per unit, one for all columns or one each. None makes a template.

    Notes
    -----
    A family writes ``_profile(s)``, the kernel on a scaled squared distance. That gives the kernel, Gram matrices, all
    gradients and torch, and ``support``: a profile that is a kernel in every dimension is a mixture of Gaussians
    (Schoenberg), so it decreases and is ``nonnegative``. A family whose kernel depends on the number of columns writes
    ``_profile_in(s, d)`` instead, its own ``_support`` if it does not decrease, and ``_nonnegative = True`` if it is
    nowhere negative. Each of these adds a capability:

    * ``_radius(u, d)``, the quantile function of :math:`|\omega/\sigma|`: ``polar``, and with it ``transport``;
    * ``_log_radial_density(v, d)``, log density at :math:`v = |\omega/\sigma|^2` for sigma 1: ``density``;
    * ``_marginal_isf(p)``, upper quantile of one coordinate of :math:`\omega/\sigma`: ``cutoff``.

    References
    ----------
    I. J. Schoenberg, "Metric spaces and completely monotone functions", *Annals of Mathematics* 39, 1938.

    Examples
    --------
    A family of your own, the inverse multiquadric kernel:

    >>> import math
    >>> import numpy as np
    >>> from spectralkit import positive
    >>> from spectralkit.spectra import Radial
    >>> class InverseMultiquadric(Radial):
    ...     power: float = positive(default=0.5)
    ...     def _profile(self, s):
    ...         return (1 + 4 * math.pi**2 * s) ** (-self.power)
    >>> InverseMultiquadric(sigma=[0.1, 0.2]).characteristic(np.array([[0.0, 0.0], [1.0, -2.0]]))
    array([1.        , 0.36011012])
    """

    _radius: ClassVar[Any] = None
    _log_radial_density: ClassVar[Any] = None
    _marginal_isf: ClassVar[Any] = None

    def _has(self, capability: str, d: int) -> bool:
        if capability == "nonnegative" and self._nonnegative is None:
            return type(self)._profile_in is Radial._profile_in
        general = HOOKS.get(capability, "")
        if capability in _RADIAL_HOOKS and getattr(type(self), general) is getattr(Radial, general):
            hook = _RADIAL_HOOKS[capability]
            writes_lengths = hook == "_radius" and type(self)._radii is not Radial._radii
            return writes_lengths or getattr(self, hook) is not None
        return super()._has(capability, d)

    # -- kernel -------------------------------------------------------------------------------------------------------

    def _profile(self, s: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must write _profile(s).")

    def _profile_in(self, s: Any, d: int) -> Any:
        """The profile in d columns, for families whose kernel depends on their number."""
        return self._profile(s)

    def _covariance(self, lags: Lags) -> Any:
        return in_blocks(lambda s: self._profile_in(s, lags.d), lags.squared(convert(self.sigma, lags.like)))

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        """One dual evaluation of the profile gives the derivative to every sigma, one more each shape parameter.

        With s the scaled squared distance, dk/dlog(sigma) = 2 s k'(s), and dk/dlog(sigma_j) = 2 k'(s) (sigma_j
        tau_j)^2.
        """
        sigma = np.asarray(self.sigma, dtype=lags.like.dtype)
        squares = lags.squared(sigma)
        to_sigma, to_shape = out[: sigma.size], out[sigma.size :]
        shape_slopes = [None if slot is None else np.empty_like(squares) for slot in to_shape]
        k = np.empty_like(squares)
        s, flat_k = squares.reshape(-1), k.reshape(-1)
        for start in range(0, len(s), _PAIRS_PER_BLOCK):
            block = slice(start, start + _PAIRS_PER_BLOCK)
            for measure, slope in zip(self._shape_directions(), shape_slopes, strict=True):
                if slope is not None:
                    slope.reshape(-1)[block] = measure._profile_in(s[block], lags.d).full_slope()
            z = self._profile_in(Dual(s[block], 2 * s[block]), lags.d)
            flat_k[block] = z.value
            if sigma.ndim:
                s[block] = np.divide(z.slope, s[block], out=np.zeros_like(z.value), where=s[block] > 0)
            else:
                s[block] = z.slope
        if sigma.ndim == 0 and to_sigma[0] is not None:
            lags.expand(squares, 0.0, to_sigma[0])
        if sigma.ndim:
            for j, slot in enumerate(to_sigma):
                if slot is not None:
                    lags.expand(squares * (sigma[j] * lags.column(j)) ** 2, 0.0, slot)
        for slope, slot in zip(shape_slopes, to_shape, strict=True):
            if slot is not None:
                lags.expand(slope, 0.0, slot)
        return lags.expand(k, self._mass())

    def _shape_directions(self) -> Iterator[Self]:
        """Dual copies along the parameters other than sigma."""
        return (
            self.replace(**{p.name: Dual(float(p.value), float(p.value) if p.domain == "positive" else 1.0)})
            for p in self.parameters()
            if p.name != "sigma"
        )

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _uniforms(self, d: int) -> int:
        return 1 if d == 1 else d + 1

    def _transport(self, u: np.ndarray, d: int) -> np.ndarray:
        if d == 1:  # the sign and the radius share one number, which keeps quasi-random points one-dimensional
            signed = 2 * u - 1
            return self._polar(np.sign(signed), np.abs(signed), d)
        directions = special.ndtri(u[:, :d])
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return self._polar(directions, u[:, d:], d)

    def _polar(self, v: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
        return v * self._radii(u, d)[:, None] * np.asarray(self.sigma, dtype=float)

    def _radii(self, u: np.ndarray, d: int) -> np.ndarray:
        return self._radius(u, d).ravel()

    # -- density and ranges -------------------------------------------------------------------------------------------

    def _log_density(self, omega: Any) -> Any:
        v = ((omega / convert(self.sigma, omega)) ** 2).sum(-1)
        return self._log_radial_density(v, omega.shape[-1]) - self._log_volume(omega)

    def _cutoff(self, tol: float, d: int) -> np.ndarray:
        return self._marginal_isf(tol / (2 * d)) * np.asarray(self.sigma, dtype=float)

    def _support(self, tol: float, d: int) -> np.ndarray:
        def excess(log_distance: float) -> float:
            return float(self._profile_in(np.float64(math.exp(2 * log_distance)), d)) - tol

        high = 1.0
        while excess(high) > 0:
            high *= 2
        return math.exp(optimize.brentq(excess, -40.0, high)) / np.asarray(self.sigma, dtype=float)


class Gaussian(Radial):
    r"""Gaussian measure: the squared exponential (RBF) kernel.

    .. math:: k(\tau) = \exp\bigl(-2\pi^2 \sum_j \sigma_j^2\tau_j^2\bigr), \qquad
              \omega \sim \mathcal N(0, \operatorname{diag}(\sigma^2))

    Parameters
    ----------
    sigma : float or array of shape (d,), optional
        Standard deviation of the frequencies, in cycles per unit of x; one for all columns or one each.
        ``lengthscale = 1 / (2 pi sigma)`` and ``gamma = 2 pi^2 sigma^2``. None makes a template that is resolved from
        data.

    Raises
    ------
    ValueError
        If sigma is not positive and finite.

    See Also
    --------
    Matern : Rougher functions: heavier tails of the spectrum.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, *Gaussian Processes for Machine Learning*, MIT Press, 2006, section 4.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Gaussian
    >>> k = Gaussian(sigma=0.1)
    >>> k.characteristic(np.array([[0.0], [1.0], [5.0]]))
    array([1.        , 0.82086872, 0.00719188])
    >>> k.cutoff(1e-3, 1)
    array([0.32905267])
    """

    @classmethod
    def from_gamma(cls, gamma: Any) -> Self:
        r"""Make the measure of the kernel :math:`\exp(-\gamma|\tau|^2)` as scikit-learn writes it.

        Parameters
        ----------
        gamma : float or array of shape (d,)
            In inverse squared units of x. ``gamma = 2 pi^2 sigma^2``.

        Returns
        -------
        Gaussian
            The measure.

        Raises
        ------
        ValueError
            If a gamma is not positive and finite.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.metrics.pairwise import rbf_kernel
        >>> from spectralkit import Gaussian
        >>> X = np.array([[0.0, 1.0], [0.5, 0.0]])
        >>> bool(np.allclose(Gaussian.from_gamma(0.7).gram(X), rbf_kernel(X, gamma=0.7)))
        True
        """
        return cls.from_lengthscale(1 / np.sqrt(2 * checked_positive(gamma, "gamma")))

    def _profile(self, s: Any) -> Any:
        return namespace(s).exp(-2 * math.pi**2 * s)

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        """Both derivatives are multiples of the kernel: in blocks of rows, each matrix is written once."""
        sigma = np.asarray(self.sigma, dtype=lags.like.dtype)
        K = np.empty(lags.shape, dtype=lags.like.dtype)
        for rows, pairs in lags.row_blocks():
            s = pairs.squared(sigma)
            k = K[rows] = self._profile(s)
            for j, slot in enumerate(out):
                if slot is not None:
                    squares = (sigma[j] * pairs.column(j)) ** 2 if sigma.ndim else s
                    np.multiply(k, -4 * math.pi**2 * squares, out=slot[rows])
        return K

    def _radius(self, u: np.ndarray, d: int) -> np.ndarray:  # chi with d degrees of freedom
        return np.sqrt(2 * special.gammaincinv(d / 2, u))

    def _uniforms(self, d: int) -> int:
        return d

    def _transport(self, u: np.ndarray, d: int) -> np.ndarray:
        return special.ndtri(u) * np.asarray(self.sigma, dtype=float)

    def _log_radial_density(self, v: Any, d: int) -> Any:
        return -v / 2 - d / 2 * math.log(2 * math.pi)

    def _marginal_isf(self, p: float) -> float:
        return float(-special.ndtri(p))

    def _support(self, tol: float, d: int) -> np.ndarray:
        return math.sqrt(-math.log(tol) / 2) / (math.pi * np.asarray(self.sigma, dtype=float))

    def _log_mgf(self, x: Any) -> Any:
        return 2 * math.pi**2 * ((x * convert(self.sigma, x)) ** 2).sum(-1)

    def _gaussian_sigma(self, d: int) -> Any:
        return self.sigma

    def _factors(self, d: int) -> list[Gaussian]:
        return [Gaussian(float(sigma)) for sigma in np.full(d, self.sigma, dtype=float)]
