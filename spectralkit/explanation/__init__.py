"""Explanations: how the columns share a prediction, or the variance of predictions, of a model on Fourier features."""

from spectralkit.explanation._explanation import FourierExplanation
from spectralkit.explanation._sobol import SobolIndices

__all__ = ["FourierExplanation", "SobolIndices"]
