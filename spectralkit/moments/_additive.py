"""What moments of rows share whatever they are sums of: copies, and checks of what is added or taken out."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from spectralkit._validation import is_positive_number


class AdditiveMoments:
    """Sums over rows, of this weight altogether."""

    weight: float

    def copy(self) -> Self:
        """Return moments of their own arrays.

        Returns
        -------
        Self
            Equal to these.
        """
        return copy.deepcopy(self)

    def _weight_without(self, other: AdditiveMoments) -> float:
        """The weight that is left, 0 up to rounding if all is taken out."""
        left, rounding = self.weight - other.weight, 1e-12 * self.weight
        if left < -rounding:
            raise ValueError(
                f"Only rows that were added can be taken out, but the weight to take out is {other.weight:g} and the "
                f"weight that is there is {self.weight:g}."
            )
        return left if left > rounding else 0.0

    def _check_kind(self, other: Any) -> None:
        mine, theirs = type(self).__name__, type(other).__name__
        if mine != theirs:
            raise ValueError(f"Moments of one kind are needed, but these are {mine} and the others {theirs}.")


def checked_factor(factor: Any) -> float:
    """The factor of `scale`; a NumPy scalar would pass its precision on."""
    if not is_positive_number(factor):
        raise ValueError(f"factor must be a positive finite number, got {factor!r}.")
    return float(factor)


def floating(values: Any, name: str) -> np.ndarray:
    """Float32 and float64 as they are, other numbers in double precision."""
    values = np.asarray(values)
    if values.dtype.kind == "c":
        raise ValueError(f"{name} must be real, but they are complex. Give their real and imaginary parts as columns.")
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
