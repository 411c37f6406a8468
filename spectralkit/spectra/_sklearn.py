"""What scikit-learn estimators and kernels that take a measure share."""

from __future__ import annotations

from typing import Any, ClassVar, Self

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


def as_spectrum(spectrum: Any, argument: str = "spectrum") -> SpectralMeasure:
    """The measure or template that a ``spectrum=`` argument means: itself, or the template of that name."""
    if isinstance(spectrum, SpectralMeasure):
        return spectrum
    if not isinstance(spectrum, str):
        raise TypeError(f"{argument} must be a name, a template or a measure, got {spectrum!r}.")
    if spectrum not in SPECTRA_BY_NAME:
        names = ", ".join(SPECTRA_BY_NAME)
        raise ValueError(f"{argument}={spectrum!r} is not a known name of a measure. The names are {names}.")
    return SPECTRA_BY_NAME[spectrum]


def sigma_of(spectrum: SpectralMeasure) -> Any:
    """The frequency scale behind ``sigma_``; an AttributeError where the measure has none, or several."""
    params = spectrum.get_params()  # multiples and column groups pass the name through
    if "sigma" not in params:
        raise AttributeError(f"{spectrum!r} has no single sigma; look at spectrum_ instead.")
    return params["sigma"]


class SpectrumParams:
    """Mixin: ``set_params(spectrum__nu=...)`` replaces the immutable measure instead of changing it.

    A class names the parameters that may hold a measure.
    """

    _measure_params: ClassVar[tuple[str, ...]] = ("spectrum",)

    def set_params(self, **params: Any) -> Self:
        """Set the parameters of this object; ``spectrum__nu`` and its like reach into the measure that it holds.

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
        nested: dict[str, dict[str, Any]] = {name: {} for name in self._measure_params}
        direct = {}
        for name, value in params.items():
            owner, _, inner = name.partition("__")
            if inner and owner in nested:
                nested[owner][inner] = value
            else:
                direct[name] = value
        valid = self.get_params(deep=False)  # type: ignore[attr-defined]
        unknown = [name for name in direct if name.partition("__")[0] not in valid]
        if unknown:
            raise ValueError(
                f"Invalid parameter {unknown[0]!r} for {type(self).__name__}. Valid parameters are: {sorted(valid)!r}."
            )
        for owner, changes in nested.items():
            if changes:
                direct[owner] = as_spectrum(direct.get(owner, getattr(self, owner)), owner).replace(**changes)
        return super().set_params(**direct)  # type: ignore[misc]
