"""Pieces of rays as Gaussians or as points, for fields that are asked about volumes instead of points.

All functions take NumPy arrays and tensors, and differentiate under torch. Arrays may have further axes in front, which
broadcast. Results are float32 if all floating-point arrays among the arguments are, and float64 otherwise; numbers and
lists do not count. Values of tensors are not checked, so that the functions can be compiled.
"""

from spectralkit.rays._contraction import contract, contract_std, uncontract
from spectralkit.rays._moments import RayMoments, conical_frustum, cylinder, gaussians_on_rays
from spectralkit.rays._multisampling import downweight, multisample

__all__ = [
    "RayMoments",
    "conical_frustum",
    "contract",
    "contract_std",
    "cylinder",
    "downweight",
    "gaussians_on_rays",
    "multisample",
    "uncontract",
]
