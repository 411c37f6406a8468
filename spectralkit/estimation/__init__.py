"""Measures from data, without random numbers: spectral components, templates filled from them, and bounds."""

from spectralkit.estimation._bounds import search_bounds, search_scales
from spectralkit.estimation._components import SpectralComponents, spectral_components
from spectralkit.estimation._resolve import resolve

__all__ = ["SpectralComponents", "resolve", "search_bounds", "search_scales", "spectral_components"]
