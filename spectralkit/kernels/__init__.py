"""Kernels for scikit-learn's Gaussian processes, from any spectral measure."""

from spectralkit.kernels._bochner import BochnerKernel
from spectralkit.kernels._mixture import SpectralMixtureKernel
from spectralkit.kernels._spectral import SpectralKernel

__all__ = ["BochnerKernel", "SpectralKernel", "SpectralMixtureKernel"]
