"""Families that are isotropic once every column is scaled by sigma: Gaussian and Matern."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from scipy import optimize, special

from spectralkit._xp import convert, namespace, safe_sqrt
from spectralkit.spectra._capable import HOOKS
from spectralkit.spectra._dual import Dual
from spectralkit.spectra._lags import Lags
from spectralkit.spectra._parameters import fixed, positive
from spectralkit.spectra.base import SpectralMeasure

# what makes each of the general hooks below work; a family that overrides the general hook needs none
_RADIAL_HOOKS = {
    "polar": "_radius",
    "transport": "_radius",
    "density": "_log_radial_density",
    "cutoff": "_marginal_isf",
}
_PAIRS_PER_BLOCK = 16_384  # value, slope and temporaries of a profile stay in a core's cache


class Radial(SpectralMeasure):
    r"""Base of the families :math:`k(\tau) = \mathrm{profile}\bigl(\sum_j (\sigma_j\tau_j)^2\bigr)` with k(0) = 1.

    Parameters
    ----------
    sigma : float or array of shape (d,), optional
        Frequency scale in cycles per unit, one for all columns or one each. None makes a template.

    Notes
    -----
    A family writes ``_profile(s)``, the kernel on a scaled squared distance. That gives the kernel, Gram matrices, all
    gradients and torch, and ``support``: a profile that is a kernel in every dimension is a mixture of Gaussians
    (Schoenberg), so it decreases. Each of these adds a capability:

    * ``_radius(u, d)``, the quantile function of :math:`|\omega/\sigma|`: ``polar``, and with it ``transport``;
    * ``_log_radial_density(v, d)``, log density at :math:`v = |\omega/\sigma|^2` for sigma 1: ``density``;
    * ``_marginal_isf(p)``, upper quantile of one coordinate of :math:`\omega/\sigma`: ``cutoff``.

    References
    ----------
    I. J. Schoenberg, "Metric spaces and completely monotone functions", *Annals of Mathematics* 39, 1938.

    Examples
    --------
    The rational quadratic kernel, a Gaussian whose precision is drawn from a Gamma distribution:

    >>> import math
    >>> import numpy as np
    >>> from spectralkit import positive
    >>> from spectralkit.spectra import Radial
    >>> class RationalQuadratic(Radial):
    ...     alpha: float = positive(default=1.0)
    ...     def _profile(self, s):
    ...         return (1 + 2 * math.pi**2 * s / self.alpha) ** (-self.alpha)
    >>> RationalQuadratic(sigma=[0.1, 0.2], alpha=1.5).characteristic(np.array([[0.0, 0.0], [1.0, -2.0]]))
    array([1.        , 0.17169741])
    """

    sigma: Any = positive(default=None)
    open_: ClassVar[tuple[str, ...]] = ("sigma",)

    _radius: ClassVar[Any] = None
    _log_radial_density: ClassVar[Any] = None
    _marginal_isf: ClassVar[Any] = None

    @classmethod
    def from_lengthscale(cls, lengthscale: Any, **params: Any) -> Self:
        r"""Make the measure from the lengthscale of the family's textbook form.

        Parameters
        ----------
        lengthscale : float or array of shape (d,)
            In units of x. ``sigma = 1 / (2 pi lengthscale)``.
        **params : dict
            Further parameters of the family.

        Returns
        -------
        SpectralMeasure
            The measure.

        Raises
        ------
        ValueError
            If a lengthscale is not positive and finite.

        Examples
        --------
        >>> import numpy as np
        >>> from spectralkit import Gaussian
        >>> k = Gaussian.from_lengthscale(0.5)
        >>> bool(np.isclose(k.characteristic(np.array([0.3])), np.exp(-0.5 * (0.3 / 0.5) ** 2)))
        True
        """
        lengths = np.asarray(lengthscale, dtype=float)
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise ValueError(f"lengthscale must be positive and finite, got {lengthscale!r}.")
        sigma = 1 / (2 * math.pi * lengths)
        return cls(sigma=sigma if sigma.ndim else float(sigma), **params)

    def _check_parameters(self) -> None:
        if self.sigma is not None and len(np.shape(self.sigma)) > 1:
            raise ValueError(
                f"{type(self).__name__}: sigma must be a number or one per column, got shape {np.shape(self.sigma)}."
            )

    def _has(self, capability: str, d: int) -> bool:
        general = HOOKS.get(capability, "")
        if capability in _RADIAL_HOOKS and getattr(type(self), general) is getattr(Radial, general):
            return getattr(self, _RADIAL_HOOKS[capability]) is not None
        return super()._has(capability, d)

    # -- kernel -------------------------------------------------------------------------------------------------------

    def _profile(self, s: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must write _profile(s).")

    def _covariance(self, lags: Lags) -> Any:
        return self._profile(lags.squared(convert(self.sigma, lags.like)))

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        """One dual evaluation of the profile gives the derivative to every sigma, one more each shape parameter.

        With s the scaled squared distance, dk/dlog(sigma) = 2 s k'(s), and dk/dlog(sigma_j) = 2 k'(s) (sigma_j
        tau_j)^2.
        """
        sigma = np.asarray(self.sigma, dtype=lags.like.dtype)
        s = lags.squared(sigma)
        to_sigma, to_shape = out[: sigma.size], out[sigma.size :]
        shape_slopes = [None if slot is None else np.empty_like(s) for slot in to_shape]
        k = np.empty_like(s)
        for start in range(0, len(s), _PAIRS_PER_BLOCK):
            block = slice(start, start + _PAIRS_PER_BLOCK)
            for measure, slope in zip(self._shape_directions(), shape_slopes, strict=True):
                if slope is not None:
                    slope[block] = measure._profile(s[block]).full_slope()
            z = self._profile(Dual(s[block], 2 * s[block]))
            k[block] = z.value
            if sigma.ndim:
                s[block] = np.divide(z.slope, s[block], out=np.zeros_like(z.value), where=s[block] > 0)
            else:
                s[block] = z.slope
        if sigma.ndim == 0 and to_sigma[0] is not None:
            lags.expand(s, 0.0, to_sigma[0])
        if sigma.ndim:
            for j, slot in enumerate(to_sigma):
                if slot is not None:
                    lags.expand(s * (sigma[j] * lags.column(j)) ** 2, 0.0, slot)
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
        return v * self._radius(u, d) * np.asarray(self.sigma, dtype=float)

    # -- density and ranges -------------------------------------------------------------------------------------------

    def _log_density(self, omega: Any) -> Any:
        d = omega.shape[-1]
        sigma = convert(self.sigma, omega)
        log_scale = namespace(omega, sigma).log(sigma)
        volume = d * log_scale if log_scale.ndim == 0 else log_scale.sum(-1)
        return self._log_radial_density(((omega / sigma) ** 2).sum(-1), d) - volume

    def _cutoff(self, tol: float, d: int) -> np.ndarray:
        return self._marginal_isf(tol / (2 * d)) * np.asarray(self.sigma, dtype=float)

    def _support(self, tol: float, d: int) -> np.ndarray:
        def excess(log_distance: float) -> float:
            return float(self._profile(np.float64(math.exp(2 * log_distance)))) - tol

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
        gamma = np.asarray(gamma, dtype=float)
        if not (np.isfinite(gamma).all() and (gamma > 0).all()):
            raise ValueError(f"gamma must be positive and finite, got {gamma.tolist()!r}.")
        return cls.from_lengthscale(1 / np.sqrt(2 * gamma))

    def _profile(self, s: Any) -> Any:
        return namespace(s).exp(-2 * math.pi**2 * s)

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


class Matern(Radial):
    r"""Matérn measure of half-integer order: a multivariate Student t with 2 nu degrees of freedom.

    .. math:: k(\tau) = \frac{2^{1-\nu}}{\Gamma(\nu)}\, r^\nu K_\nu(r), \qquad
              r = \sqrt{2\nu}\; 2\pi\,\Bigl(\sum_j \sigma_j^2\tau_j^2\Bigr)^{1/2}, \qquad \omega \sim \sigma\, t_{2\nu}

    For nu = p + 1/2 the kernel is :math:`e^{-r}` times a polynomial of degree p in r; it is p times differentiable in
    the mean square. nu = 1/2 is the isotropic exponential kernel.

    Parameters
    ----------
    sigma : float or array of shape (d,), optional
        Frequency scale in cycles per unit of x; one for all columns or one each. ``lengthscale = 1 / (2 pi sigma)`` in
        the textbook form ``r = sqrt(2 nu) |tau| / lengthscale``. None makes a template that is resolved from data.
    nu : float, default=1.5
        Order: 0.5, 1.5, 2.5, ...

    Raises
    ------
    ValueError
        If sigma is not positive and finite, or nu is not a positive half-integer.

    Notes
    -----
    Under torch, first derivatives are right everywhere. Second derivatives to the points, which processes with derivative
    observations need, are taken as 0 at lag zero.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, *Gaussian Processes for Machine Learning*, MIT Press, 2006, section 4.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Matern
    >>> k = Matern.from_lengthscale(2.0, nu=0.5)
    >>> bool(np.isclose(k.characteristic(np.array([3.0])), np.exp(-3.0 / 2.0)))
    True
    >>> Matern(nu=2.5).is_template()
    True
    """

    nu: float = fixed(default=1.5)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (np.ndim(self.nu) == 0 and self.nu > 0 and float(self.nu + 0.5).is_integer()):
            raise ValueError(f"Matern: nu must be a positive half-integer (0.5, 1.5, 2.5, ...), got {self.nu!r}.")

    def _profile(self, s: Any) -> Any:
        r = safe_sqrt(s) * (2 * math.pi * math.sqrt(2 * self.nu))
        highest, *lower = _matern_polynomial(round(self.nu - 0.5))
        polynomial: Any = highest
        for coefficient in lower:
            polynomial = polynomial * r + coefficient
        return polynomial * namespace(r).exp(-r)

    def _radius(
        self, u: np.ndarray, d: int
    ) -> np.ndarray:  # |t|^2 / d is F distributed with (d, 2 nu) degrees of freedom
        return np.sqrt(d * special.fdtri(d, 2 * self.nu, u))

    def _log_radial_density(self, v: Any, d: int) -> Any:
        nu = float(self.nu)
        norm = math.lgamma(nu + d / 2) - math.lgamma(nu) - d / 2 * math.log(2 * nu * math.pi)
        return norm - (nu + d / 2) * namespace(v).log1p(v / (2 * nu))

    def _marginal_isf(self, p: float) -> float:
        return float(-special.stdtrit(2 * self.nu, p))


def _matern_polynomial(p: int) -> list[float]:
    """Coefficients, highest power first, of exp(r) times the Matern kernel of order p + 1/2 (Rasmussen, eq. 4.16)."""
    return [
        math.factorial(p) * math.factorial(p + i) * 2.0 ** (p - i)
        / (math.factorial(2 * p) * math.factorial(i) * math.factorial(p - i))
        for i in range(p + 1)
    ]  # fmt: skip
