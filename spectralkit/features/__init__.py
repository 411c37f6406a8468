"""Transformers: rows of X to features whose inner products are kernels."""

from spectralkit.features.fourier import FourierFeatures
from spectralkit.features.integrated import IntegratedFourierFeatures
from spectralkit.features.ladder import LadderFeatures, Layout
from spectralkit.features.positive import ApproximationWarning, PositiveRandomFeatures

__all__ = [
    "ApproximationWarning",
    "FourierFeatures",
    "IntegratedFourierFeatures",
    "LadderFeatures",
    "Layout",
    "PositiveRandomFeatures",
]
