"""The frequency side of a measure: draws, atoms, density, tails and the moment generating function."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralkit._validation import as_points
from spectralkit._xp import namespace
from spectralkit.spectra._capable import Capable
from spectralkit.spectra._choose import inside_unit_interval


class FrequencySide(Capable):
    """What follows from the optional hooks: each method needs the capability that its hook declares."""

    # -- nodes --------------------------------------------------------------------------------------------------------

    def uniforms(self, d: int) -> int:
        """Return how many uniform numbers `transport` takes per frequency in d columns.

        Parameters
        ----------
        d : int
            Number of columns.

        Returns
        -------
        int
            Columns of u.

        Examples
        --------
        >>> from spectralkit import Gaussian, Matern
        >>> Gaussian(0.1).uniforms(3), Matern(0.1, nu=1.5).uniforms(3)
        (3, 4)
        """
        self.require("transport", d=d)
        return self._uniforms(d)

    def transport(self, u: np.ndarray, d: int) -> np.ndarray:
        """Turn uniform numbers into frequencies of the even measure, divided by its mass.

        Parameters
        ----------
        u : ndarray of shape (n, uniforms(d))
            Numbers in [0, 1], independent or from a low-discrepancy sequence.
        d : int
            Number of columns.

        Returns
        -------
        ndarray of shape (n, d)
            Frequencies in cycles per unit.

        Raises
        ------
        CapabilityError
            If the measure cannot be sampled.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).transport([[0.5], [0.975]], d=1).round(4)
        array([[0.   ],
               [0.196]])
        """
        self.require("transport", d=d)
        return self._transport(_checked_uniforms(u, self._uniforms(d)), d)

    def polar_uniforms(self, d: int) -> int:
        """Return how many uniform numbers `polar` takes per frequency in d columns.

        Parameters
        ----------
        d : int
            Number of columns.

        Returns
        -------
        int
            Columns of u.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).polar_uniforms(3)
        1
        """
        self.require("polar", d=d)
        return self._polar_uniforms(d)

    def polar(self, v: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
        """Turn directions into frequencies: uniform directions give frequencies of the even measure over its mass.

        Parameters
        ----------
        v : ndarray of shape (n, d)
            Unit vectors, each uniform on the sphere; they may depend on each other.
        u : ndarray of shape (n, polar_uniforms(d))
            Numbers in [0, 1], independent of `v`.
        d : int
            Number of columns.

        Returns
        -------
        ndarray of shape (n, d)
            Frequencies in cycles per unit.

        Raises
        ------
        CapabilityError
            If the measure cannot be drawn from directions.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).polar([[1.0, 0.0], [0.0, 1.0]], [[0.5], [0.5]], d=2).round(4)
        array([[0.1177, 0.    ],
               [0.    , 0.1177]])
        """
        self.require("polar", d=d)
        v, u = np.asarray(v, dtype=np.float64), _checked_uniforms(u, self._polar_uniforms(d))
        if v.shape != (len(u), d) or not np.isfinite(v).all():
            raise ValueError(f"v must be unit vectors of shape ({len(u)}, {d}), one per row of u, got {v.shape}.")
        return self._polar(v, u, d)

    def atoms(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the point masses of an atomic measure.

        Parameters
        ----------
        d : int
            Number of columns.

        Returns
        -------
        frequencies : ndarray of shape (m, d)
            One of each pair omega, -omega, in cycles per unit.
        weights : ndarray of shape (m,)
            Mass of the pair.

        Raises
        ------
        CapabilityError
            If the measure is not atomic.

        Examples
        --------
        >>> from spectralkit import Atomic
        >>> frequencies, weights = (Atomic([1.0]) * Atomic([0.25])).atoms(1)
        >>> frequencies.ravel(), weights
        (array([1.25, 0.75]), array([0.5, 0.5]))
        """
        self.require("atoms", d=d)
        return self._atoms(d)

    def factors(self, d: int) -> list[Any]:
        """Return the measures of single columns of which this one is the tensor product.

        Parameters
        ----------
        d : int
            Number of columns.

        Returns
        -------
        list of SpectralMeasure
            One per column, in order; their masses multiply to the mass.

        Raises
        ------
        CapabilityError
            If the measure is not such a product.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian([0.1, 0.2]).factors(2)
        [Gaussian(sigma=0.1), Gaussian(sigma=0.2)]
        """
        self.require("factors", d=d)
        return [self] if d == 1 else self._factors(d)

    def radii(self, u: np.ndarray, d: int) -> np.ndarray:
        """Turn uniform numbers into lengths: a length times a uniform direction times sigma is a frequency.

        Parameters
        ----------
        u : ndarray of shape (n, polar_uniforms(d))
            Numbers in [0, 1].
        d : int
            Number of columns; sigma need not have as many.

        Returns
        -------
        ndarray of shape (n,)
            Lengths without unit.

        Raises
        ------
        CapabilityError
            If frequencies are not such products, or not in every number of columns alike.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).radii([[0.5], [0.9]], d=2).round(4)
        array([1.1774, 2.146 ])
        """
        self.require()._require_capability("radial", d)
        return self._radii(_checked_uniforms(u, self._polar_uniforms(d)), d)

    def _uniforms(self, d: int) -> int:
        return d

    def _polar_uniforms(self, d: int) -> int:
        return 1

    # -- density and ranges -------------------------------------------------------------------------------------------

    def log_density(self, omega: Any) -> Any:
        """Evaluate the logarithm of the spectral density; its exponential integrates to the mass.

        Parameters
        ----------
        omega : array or tensor of shape (..., d)
            Frequencies in cycles per unit.

        Returns
        -------
        array or tensor of shape (...,)
            Log of mass per (cycle per unit)^d.

        Raises
        ------
        CapabilityError
            If the measure has no density in d columns.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).log_density([[0.0], [0.1]]).round(4)
        array([1.3836, 0.8836])
        """
        omega = as_points(omega, "omega")
        self.require("density", d=omega.shape[-1])
        return self._log_density(omega)

    def density(self, omega: Any) -> Any:
        """Evaluate the spectral density, the exponential of `log_density`.

        Parameters
        ----------
        omega : array or tensor of shape (..., d)
            Frequencies in cycles per unit.

        Returns
        -------
        array or tensor of shape (...,)
            Mass per (cycle per unit)^d.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).density([[0.0], [0.1]]).round(4)
        array([3.9894, 2.4197])
        """
        return namespace(omega).exp(self.log_density(omega))

    def log_density_gradient(self, omega: np.ndarray) -> np.ndarray:
        """Evaluate the derivatives of `log_density` to the free parameters.

        Parameters
        ----------
        omega : ndarray of shape (M, d)
            Frequencies in cycles per unit.

        Returns
        -------
        ndarray of shape (P, M)
            In the order of `pack`, to the logarithms of positive and to the values of real parameters.

        Raises
        ------
        CapabilityError
            If the measure has no density in d columns.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).log_density_gradient([[0.0], [0.1], [0.2]])  # (omega / sigma)**2 - 1
        array([[-1.,  0.,  3.]])
        """
        omega = as_points(omega, "omega")
        self.require("density", d=omega.shape[-1])
        slopes = [measure._log_density(omega).full_slope() for measure in self._dual_directions()]
        return np.stack(slopes) if slopes else np.empty((0, *omega.shape[:-1]))

    def cutoff(self, tol: float, d: int) -> np.ndarray:
        """Return the box of frequencies that holds all but a fraction `tol` of the mass.

        Parameters
        ----------
        tol : float
            Fraction in (0, 1).
        d : int
            Number of columns.

        Returns
        -------
        ndarray of shape (d,)
            Half-widths in cycles per unit: the mass where any ``|omega_j| > cutoff[j]`` is at most ``tol * mass``.

        Raises
        ------
        CapabilityError
            If the measure does not know its tails.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian([0.1, 0.2]).cutoff(0.05, d=2).round(3)
        array([0.224, 0.448])
        """
        self.require("cutoff", d=d)
        return np.array(np.broadcast_to(self._cutoff(_fraction(tol), d), (d,)), dtype=float)

    def support(self, tol: float, d: int) -> np.ndarray:
        """Return the lag along each axis beyond which the kernel is negligible.

        Parameters
        ----------
        tol : float
            Fraction in (0, 1).
        d : int
            Number of columns.

        Returns
        -------
        ndarray of shape (d,)
            In units of x: ``|k| <= tol * mass`` for longer lags along the axis; inf if the kernel does not decay there.

        Raises
        ------
        CapabilityError
            If the measure does not know how far its kernel reaches.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> (Gaussian(0.1).on([0]) * Gaussian(0.2).on([1])).support(1e-6, d=2).round(3)
        array([8.366, 4.183])
        """
        self.require("support", d=d)
        return np.array(np.broadcast_to(self._support(_fraction(tol), d), (d,)), dtype=float)

    def log_mgf(self, x: Any) -> Any:
        r"""Evaluate the log of the moment generating function, :math:`\log\int\exp(2\pi\,\omega\cdot x)\,d\mu(\omega)`.

        Parameters
        ----------
        x : array or tensor of shape (..., d)
            Points in the units of x.

        Returns
        -------
        array or tensor of shape (...,)
            The logarithm; it equals the log of the kernel at an imaginary lag.

        Raises
        ------
        CapabilityError
            If the tails of the measure are too heavy for it to exist.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).log_mgf([1.0]).round(6)  # 2 pi^2 sigma^2
        np.float64(0.197392)
        """
        x = as_points(x, "x")
        self.require("mgf", d=x.shape[-1])
        return self._log_mgf(x)


def _checked_uniforms(u: Any, count: int) -> np.ndarray:
    u = np.asarray(u, dtype=np.float64)
    if u.ndim != 2 or u.shape[1] != count:
        raise ValueError(f"u must have shape (n, {count}), one column per uniform number, got {u.shape}.")
    if not ((u >= 0) & (u <= 1)).all():
        raise ValueError(f"u must be numbers between 0 and 1, got values from {u.min()} to {u.max()}.")
    return inside_unit_interval(u)


def _fraction(tol: float) -> float:
    if not 0 < tol < 1:
        raise ValueError(f"tol must be a fraction strictly between 0 and 1, got {tol!r}.")
    return float(tol)
