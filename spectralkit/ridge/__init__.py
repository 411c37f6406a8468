"""Ridge regression and classification on features, from moments that stream, merge and subtract."""

from spectralkit.ridge._classifier import FeatureRidgeClassifier
from spectralkit.ridge._regressor import FeatureRidge

__all__ = ["FeatureRidge", "FeatureRidgeClassifier"]
