"""What the families with a frequency scale ``sigma`` share: the parameter itself and its textbook lengthscale."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from spectralkit._xp import convert, namespace
from spectralkit.spectra._parameters import positive
from spectralkit.spectra.base import SpectralMeasure


class HasSigma(SpectralMeasure):
    """Families whose frequencies are a standard draw times sigma, one for all columns or one each; open by default."""

    sigma: Any = positive(default=None)
    open_: ClassVar[tuple[str, ...]] = ("sigma",)

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
        return cls(sigma=plain(1 / (2 * math.pi * checked_positive(lengthscale, "lengthscale"))), **params)

    def _check_parameters(self) -> None:
        if self.sigma is not None and len(np.shape(self.sigma)) > 1:
            raise ValueError(
                f"{type(self).__name__}: sigma must be a number or one per column, got shape {np.shape(self.sigma)}."
            )

    def _log_volume(self, omega: Any) -> Any:
        """Logarithm of the product of sigma over the columns of `omega`."""
        sigma = convert(self.sigma, omega)
        log_sigma = namespace(omega, sigma).log(sigma)
        return omega.shape[-1] * log_sigma if log_sigma.ndim == 0 else log_sigma.sum(-1)


def checked_positive(value: Any, name: str) -> np.ndarray:
    """The argument `name` of a constructor as an array, if all its numbers are positive and finite."""
    numbers = np.asarray(value, dtype=float)
    if not (np.isfinite(numbers).all() and (numbers > 0).all()):
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")
    return numbers


def plain(numbers: np.ndarray) -> Any:
    """An array as it is, a single number as Python's."""
    return numbers if numbers.ndim else float(numbers)
