"""The ladder: the same frequencies along every axis, an octave apart as in NeRF's positional encoding."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from spectralkit._xp import convert
from spectralkit.spectra._parameters import Parameter, fixed, positive
from spectralkit.spectra.atomic import PointMasses

_CYCLES = {1: 1 / (2 * math.pi), "pi": 0.5, "2pi": 1.0}  # of the lowest octave, by the phase per unit of x


class Ladder(PointMasses):
    r"""Ladder measure: the frequencies :math:`f_l` along each axis, all of equal weight.

    .. math:: k(\tau) = \frac{1}{L d} \sum_{l<L} \sum_{j<d} \cos(2\pi f_l \tau_j), \qquad k(0) = 1

    The octave ladder of NeRF's positional encoding, of which this is the kernel. It is additive over the columns: no
    frequency is oblique. Written for no number of columns in particular; in d columns the atoms are
    :math:`f_l e_j`, all columns of the first frequency, then all of the second, and so on.

    Parameters
    ----------
    frequencies : int or array of shape (L,), default=10
        How many octaves, or positive frequencies in cycles per unit of x. An array is a free parameter, a number of
        octaves is not.
    unit : {1, "pi", "2pi"}, default="pi"
        Phase of octave l, l = 0, 1, ..., in units of :math:`2^l x`: its frequency is :math:`2^l / (2\pi)`,
        :math:`2^l / 2` or :math:`2^l` cycles per unit. It has no meaning beside an array.

    Raises
    ------
    ValueError
        If the number of octaves is no integer of at least 1, a frequency is not positive, the unit is unknown, or a
        unit is given beside an array.

    References
    ----------
    B. Mildenhall et al., "NeRF: representing scenes as neural radiance fields for view synthesis", ECCV 2020, eq. 4.

    Examples
    --------
    >>> from spectralkit import Ladder
    >>> frequencies, weights = Ladder(3, unit="2pi").atoms(2)
    >>> frequencies.tolist()
    [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 2.0], [4.0, 0.0], [0.0, 4.0]]
    >>> float(weights.sum().round(12))
    1.0
    """

    frequencies: Any = positive(default=10)
    unit: Any = fixed(default="pi")

    def _check_parameters(self) -> None:
        if self.unit not in _CYCLES or isinstance(self.unit, bool):
            raise ValueError(f"Ladder: unit must be 1, 'pi' or '2pi', got {self.unit!r}.")
        count = self.frequencies
        if np.ndim(count) == 0 and not (isinstance(count, numbers.Integral) and count <= _MOST_OCTAVES):
            raise ValueError(
                f"Ladder: frequencies must be a number of octaves, an integer from 1 to {_MOST_OCTAVES}, or an array, "
                f"got {count!r}."
            )
        if np.ndim(count) > 1:
            raise ValueError(f"Ladder: frequencies must have shape (L,), got {np.shape(count)}.")
        if np.ndim(count) == 1 and self.unit != "pi":
            raise ValueError(
                f"Ladder: an array of frequencies is in cycles per unit; unit={self.unit!r} is for octaves."
            )

    def parameters(self) -> list[Parameter]:
        """Return the free parameters that have a value.

        Returns
        -------
        list of Parameter
            The frequencies if they are an array, none if they are octaves.
        """
        return super().parameters() if np.ndim(self.frequencies) else []

    def _atom_arrays(self, like: Any, d: int) -> tuple[Any, Any]:
        rungs = self.frequencies
        if np.ndim(rungs) == 0:
            rungs = _CYCLES[self.unit] * 2.0 ** np.arange(rungs)
        frequencies = (convert(rungs, like)[:, None, None] * convert(np.eye(d), like)).reshape((-1, d))
        count = frequencies.shape[0]
        return frequencies, convert(np.full(count, 1 / count), like)


_MOST_OCTAVES = 1000  # 2.0**1023 is the largest power of two
