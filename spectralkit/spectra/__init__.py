"""Spectral measures: kernels as distributions over frequencies, and the algebra that combines them."""

from spectralkit.spectra._capable import CapabilityError
from spectralkit.spectra._parameters import fixed, positive, real
from spectralkit.spectra._template import Data, TemplateError
from spectralkit.spectra.algebra import Product, Sum
from spectralkit.spectra.atomic import Atomic
from spectralkit.spectra.base import SpectralMeasure
from spectralkit.spectra.mixture import SpectralMixture
from spectralkit.spectra.radial import Gaussian, Matern, Radial
from spectralkit.spectra.wrappers import OnColumns, Scaled

__all__ = [
    "Atomic",
    "CapabilityError",
    "Data",
    "Gaussian",
    "Matern",
    "OnColumns",
    "Product",
    "Radial",
    "Scaled",
    "SpectralMeasure",
    "SpectralMixture",
    "Sum",
    "TemplateError",
    "fixed",
    "positive",
    "real",
]
