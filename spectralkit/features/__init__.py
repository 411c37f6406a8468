"""Transformers: rows of X to features whose inner products are kernels."""

from spectralkit.features.fourier import FourierFeatures

__all__ = ["FourierFeatures"]
