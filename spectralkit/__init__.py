"""spectralkit: estimators and Gaussian-process kernels designed in the frequency domain."""

from spectralkit.attention import NadarayaWatsonClassifier, NadarayaWatsonRegressor, SpectralKernelDensity
from spectralkit.explanation import FourierExplanation
from spectralkit.features import (
    ApproximationWarning,
    FourierFeatures,
    IntegratedFourierFeatures,
    LadderFeatures,
    PositiveRandomFeatures,
)
from spectralkit.kernels import BochnerKernel, SpectralKernel, SpectralMixtureKernel
from spectralkit.ridge import FeatureRidge, FeatureRidgeClassifier
from spectralkit.spectra import (
    Atomic,
    BandLimited,
    CapabilityError,
    Gaussian,
    Ladder,
    Laplacian,
    Matern,
    Periodic,
    RationalQuadratic,
    SpectralMeasure,
    SpectralMixture,
    TemplateError,
    fixed,
    positive,
    real,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "ApproximationWarning",
    "Atomic",
    "BandLimited",
    "BochnerKernel",
    "CapabilityError",
    "FeatureRidge",
    "FeatureRidgeClassifier",
    "FourierExplanation",
    "FourierFeatures",
    "Gaussian",
    "IntegratedFourierFeatures",
    "Ladder",
    "LadderFeatures",
    "Laplacian",
    "Matern",
    "NadarayaWatsonClassifier",
    "NadarayaWatsonRegressor",
    "Periodic",
    "PositiveRandomFeatures",
    "RationalQuadratic",
    "SpectralKernel",
    "SpectralKernelDensity",
    "SpectralMeasure",
    "SpectralMixture",
    "SpectralMixtureKernel",
    "TemplateError",
    "fixed",
    "positive",
    "real",
]
