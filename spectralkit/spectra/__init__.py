"""Spectral measures: kernels as distributions over frequencies, and the algebra that combines them."""

from spectralkit.spectra._capable import CapabilityError
from spectralkit.spectra._parameters import fixed, positive, real
from spectralkit.spectra._template import Data, TemplateError
from spectralkit.spectra.algebra import Product, Sum
from spectralkit.spectra.atomic import Atomic
from spectralkit.spectra.band_limited import BandLimited
from spectralkit.spectra.base import SpectralMeasure
from spectralkit.spectra.footprint import Footprint
from spectralkit.spectra.ladder import Ladder
from spectralkit.spectra.laplacian import Laplacian
from spectralkit.spectra.matern import Matern
from spectralkit.spectra.mixture import SpectralMixture
from spectralkit.spectra.periodic import Periodic
from spectralkit.spectra.radial import Gaussian, Radial
from spectralkit.spectra.rational_quadratic import RationalQuadratic
from spectralkit.spectra.wrappers import OnColumns, Scaled

__all__ = [
    "Atomic",
    "BandLimited",
    "CapabilityError",
    "Data",
    "Footprint",
    "Gaussian",
    "Ladder",
    "Laplacian",
    "Matern",
    "OnColumns",
    "Periodic",
    "Product",
    "Radial",
    "RationalQuadratic",
    "Scaled",
    "SpectralMeasure",
    "SpectralMixture",
    "Sum",
    "TemplateError",
    "fixed",
    "positive",
    "real",
]
