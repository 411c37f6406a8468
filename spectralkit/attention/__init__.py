"""Kernel regression, which is attention: averages of targets with weights that fall with the distance of rows."""

from spectralkit.attention._classifier import NadarayaWatsonClassifier
from spectralkit.attention._regressor import NadarayaWatsonRegressor

__all__ = ["NadarayaWatsonClassifier", "NadarayaWatsonRegressor"]
