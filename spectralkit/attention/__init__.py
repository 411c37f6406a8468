"""Kernel regression, which is attention, and densities: sums over rows with weights that fall with their distance."""

from spectralkit.attention._classifier import NadarayaWatsonClassifier
from spectralkit.attention._density import SpectralKernelDensity
from spectralkit.attention._regressor import NadarayaWatsonRegressor

__all__ = ["NadarayaWatsonClassifier", "NadarayaWatsonRegressor", "SpectralKernelDensity"]
