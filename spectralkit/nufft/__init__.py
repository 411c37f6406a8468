"""Sums over rows of data by non-uniform fast Fourier transforms: spectra, periodograms and sums of kernels."""

from spectralkit.nufft._kernel_sums import KernelSums
from spectralkit.nufft._periodogram import _FLOOR as _FLOOR
from spectralkit.nufft._periodogram import Periodogram, periodogram
from spectralkit.nufft._periodogram import _checked_rows as _checked_rows
from spectralkit.nufft._periodogram import _highest_turns as _highest_turns
from spectralkit.nufft._periodogram import _LineGrid as _LineGrid
from spectralkit.nufft._periodogram import _orthonormal as _orthonormal
from spectralkit.nufft._periodogram import _waves as _waves
from spectralkit.nufft._periodogram import _without as _without
from spectralkit.nufft._transforms import LARGEST_GRID as LARGEST_GRID
from spectralkit.nufft._transforms import _sums as _sums
from spectralkit.nufft._transforms import data_spectrum

__all__ = ["KernelSums", "Periodogram", "data_spectrum", "periodogram"]
