"""Spectral kernels for GPyTorch. Importing this needs torch and gpytorch: ``pip install spectralkit[gpytorch]``."""

import importlib.util

_missing = [name for name in ("torch", "gpytorch") if importlib.util.find_spec(name) is None]
if _missing:
    raise ImportError(
        f"spectralkit.torch needs {' and '.join(_missing)}, which cannot be found. Install the extra that brings what "
        "is missing: pip install 'spectralkit[gpytorch]'."
    )

from spectralkit.torch.kernels import BochnerKernel, SpectralKernel  # noqa: E402 - only now can it succeed
from spectralkit.torch.mixture import SpectralMixtureKernel  # noqa: E402 - only now can it succeed

__all__ = ["BochnerKernel", "SpectralKernel", "SpectralMixtureKernel"]
