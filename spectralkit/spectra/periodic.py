"""The periodic family: the harmonics of one frequency, under a Gaussian-like envelope."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from spectralkit._xp import as_float64, convert, namespace
from spectralkit.spectra._lags import Lags
from spectralkit.spectra._parameters import positive
from spectralkit.spectra.atomic import PointMasses

_MOST_HARMONICS = 100_000
_LEFT_OUT = 1e-15  # fraction of the mass beyond the last atom


class Periodic(PointMasses):
    r"""Periodic measure in one column: the harmonics :math:`0, f, 2f, \dots` of a frequency.

    .. math:: k(\tau) = \exp\Bigl(-2\,\frac{\sigma^2}{f^2} \sin^2(\pi f \tau)\Bigr)
              = \sum_{j \ge 0} w_j \cos(2\pi j f \tau), \qquad
              w_j = (2 - \delta_{j0})\, e^{-\kappa} I_j(\kappa), \quad \kappa = \sigma^2/f^2

    Functions that repeat themselves exactly with period 1/f: a Gaussian spectrum of standard deviation sigma, gathered
    into harmonics. Within a small part of a period the kernel is that of ``Gaussian(sigma)``, and sigma is the standard
    deviation of the frequencies exactly.

    Parameters
    ----------
    frequency : float
        Cycles per unit of x; the period is ``1 / frequency``.
    sigma : float
        Standard deviation of the frequencies in cycles per unit of x: about ``sigma / frequency`` harmonics matter.
        ``lengthscale = 1 / (2 pi sigma)``, in units of x, is that of the Gaussian kernel for lags much shorter than a
        period.

    Raises
    ------
    ValueError
        If frequency or sigma is missing, no single number, or not positive and finite.

    Notes
    -----
    Elsewhere the width is a number without unit. ``ExpSineSquared(length_scale=l, periodicity=p)`` of scikit-learn is
    ``Periodic(frequency=1 / p, sigma=1 / (p * l))``; GPyTorch's ``PeriodicKernel`` does not square its lengthscale, so
    with that l and p it is ``Periodic(frequency=1 / p, sigma=1 / (p * sqrt(l)))``. For decaying periodicity multiply
    with ``Gaussian`` or ``Matern``; in more columns write ``Periodic(...).on([j])``.

    Kernel, gradients and moment generating function are closed forms. `atoms` and draws leave out harmonics that hold
    less than 1e-15 of the mass.

    References
    ----------
    D. J. C. MacKay, "Introduction to Gaussian processes", 1998, equation 47.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Periodic
    >>> k = Periodic(frequency=0.5, sigma=0.5)
    >>> k.characteristic(np.array([[0.0], [1.0], [2.0]]))
    array([1.        , 0.13533528, 1.        ])
    >>> frequencies, weights = k.atoms(1)
    >>> frequencies[:3, 0], weights[:3].round(6)
    (array([0. , 0.5, 1. ]), array([0.46576 , 0.415821, 0.099878]))
    """

    _nonnegative = True

    frequency: Any = positive(default=None)
    sigma: Any = positive(default=None)

    @property
    def dimension(self) -> int:
        """One column."""
        return 1

    def _check_parameters(self) -> None:
        for name in ("frequency", "sigma"):
            if getattr(self, name) is None or np.ndim(getattr(self, name)):
                raise ValueError(f"Periodic: {name} must be given, a single number, got {getattr(self, name)!r}.")

    def _concentration(self) -> Any:
        return (self.sigma / self.frequency) ** 2

    def _covariance(self, lags: Lags) -> Any:
        frequency = convert(self.frequency, as_float64(lags.like)).reshape((1,))
        sine = namespace(lags.like).sin(math.pi * lags.turns(frequency))
        return namespace(lags.like).exp(sine * sine * (-2 * self._concentration()))

    def _harmonics(self, tol: float) -> np.ndarray:
        """Weights of harmonics 0, 1, ... up to the last beyond which no more than `tol` of the mass is left.

        A harmonic number is the difference of two Poisson numbers of mean kappa/2; Bernstein's inequality says where to
        stop looking.
        """
        kappa = float(self._concentration())
        budget = 5 - math.log(tol)
        last = math.ceil(budget / 3 + math.sqrt(budget**2 / 9 + 2 * kappa * budget))
        if last > _MOST_HARMONICS:
            raise ValueError(
                f"{self!r} has about {last} harmonics. Use Gaussian(sigma) instead, which is the same kernel for lags "
                "shorter than a period."
            )
        weights = special.ive(np.arange(last + 1), kappa)
        weights[1:] *= 2
        from_here_on = np.cumsum(weights[::-1])[::-1]
        return weights[from_here_on > tol]

    def _atom_arrays(self, like: Any, d: int) -> tuple[Any, Any]:
        weights = self._harmonics(_LEFT_OUT)
        frequencies = float(self.frequency) * np.arange(len(weights))[:, None]
        return convert(frequencies, like), convert(weights / weights.sum(), like)

    def _cutoff(self, tol: float, d: int) -> np.ndarray:
        return np.array([float(self.frequency) * (len(self._harmonics(tol)) - 1)])

    def _log_mgf(self, x: Any) -> Any:
        xp = namespace(x, self.frequency, self.sigma)
        return 2 * self._concentration() * xp.sinh(math.pi * (x[..., 0] * convert(self.frequency, x))) ** 2
