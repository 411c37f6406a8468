"""What scikit-learn estimators and kernels with a ``spectrum=`` argument share."""

from __future__ import annotations

from typing import Any, Self

from spectralkit.spectra.band_limited import BandLimited
from spectralkit.spectra.base import SpectralMeasure
from spectralkit.spectra.laplacian import Laplacian
from spectralkit.spectra.matern import Matern
from spectralkit.spectra.radial import Gaussian
from spectralkit.spectra.rational_quadratic import RationalQuadratic

SPECTRA_BY_NAME: dict[str, SpectralMeasure] = {
    "gaussian": Gaussian(),
    "matern12": Matern(nu=0.5),
    "matern32": Matern(nu=1.5),
    "matern52": Matern(nu=2.5),
    "rational_quadratic": RationalQuadratic(),
    "laplacian": Laplacian(),
    "band_limited": BandLimited(),
}


def as_spectrum(spectrum: Any) -> SpectralMeasure:
    """The measure or template that a ``spectrum=`` argument means: itself, or the template of that name."""
    if isinstance(spectrum, SpectralMeasure):
        return spectrum
    if not isinstance(spectrum, str):
        raise TypeError(f"spectrum must be a name, a template or a measure, got {spectrum!r}.")
    if spectrum not in SPECTRA_BY_NAME:
        raise ValueError(f"spectrum={spectrum!r} is not a known name. The names are {', '.join(SPECTRA_BY_NAME)}.")
    return SPECTRA_BY_NAME[spectrum]


class SpectrumParams:
    """Mixin: ``set_params(spectrum__nu=...)`` replaces the immutable measure instead of changing it."""

    spectrum: Any

    def set_params(self, **params: Any) -> Self:
        """Set the parameters of this object; ``spectrum__<name>`` reaches into the measure.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self
            This object. The measure that it was given stays as it was; it holds a changed copy.

        Raises
        ------
        ValueError
            If a name is unknown. Nothing is changed then.
        """
        prefix = "spectrum__"
        nested = {name.removeprefix(prefix): value for name, value in params.items() if name.startswith(prefix)}
        direct = {name: value for name, value in params.items() if not name.startswith(prefix)}
        valid = self.get_params(deep=False)  # type: ignore[attr-defined]
        unknown = [name for name in direct if name.partition("__")[0] not in valid]
        if unknown:
            raise ValueError(
                f"Invalid parameter {unknown[0]!r} for {type(self).__name__}. Valid parameters are: {sorted(valid)!r}."
            )
        if nested:
            direct["spectrum"] = as_spectrum(direct.get("spectrum", self.spectrum)).replace(**nested)
        return super().set_params(**direct)  # type: ignore[misc]
