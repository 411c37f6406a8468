"""Maps: how a row meets a node. Pure functions of one row at a time, on NumPy and torch."""

from spectralkit.maps._fourier import encoding, fourier
from spectralkit.maps._positive import log_positive, positive

__all__ = ["encoding", "fourier", "log_positive", "positive"]
