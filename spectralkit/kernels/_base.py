"""What scikit-learn's optimisers see of a kernel whose parameters are those of a measure."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel, StationaryKernelMixin

from spectralkit.spectra import SpectralMeasure
from spectralkit.spectra._parameters import Parameter
from spectralkit.spectra._sklearn import SpectrumParams

_DEFAULT_BOUNDS = {"positive": (1e-5, 1e5), "real": (-1e5, 1e5)}


class MeasureKernel(SpectrumParams, StationaryKernelMixin, Kernel):
    """A kernel with the constructor arguments ``spectrum``, ``parameter_bounds`` and ``parameter_scales``, and others.

    It writes ``_gram(X, Y)``, ``_gram_gradient(X, free)`` with the derivatives first, (P, n, n), and `diag`.
    """

    spectrum: SpectralMeasure
    parameter_bounds: Any
    parameter_scales: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the kernel.

        Parameters
        ----------
        deep : bool, default=True
            Include those of the measure, as ``spectrum__<name>``.

        Returns
        -------
        dict
            Names and values.
        """
        params = super().get_params()
        if deep and hasattr(self.spectrum, "get_params"):
            params.update({f"spectrum__{name}": value for name, value in self.spectrum.get_params().items()})
        return params

    # -- what optimisers see ------------------------------------------------------------------------------------------

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """The free parameters of the measure, in its order, with bounds in natural units."""
        return [
            Hyperparameter(f"spectrum__{p.name}", "numeric", bounds, p.size) for p, bounds in self._bounded_parameters()
        ]

    @property
    def theta(self) -> np.ndarray:
        """The numbers that are not fixed: logarithms of positive ones, real ones over their scales."""
        return np.concatenate([np.empty(0), *(p.packed() for p in self._searched_parameters())]) / self._scales()

    @theta.setter
    def theta(self, theta: np.ndarray) -> None:
        searched = self._searched_parameters()
        ends = np.cumsum([0, *(p.size for p in searched)])
        if np.shape(theta) != (ends[-1],):
            raise ValueError(f"{self!r} searches over {ends[-1]} numbers, but theta has shape {np.shape(theta)}.")
        theta = np.asarray(theta) * self._scales()
        values = [p.unpacked(theta[start : start + p.size]) for p, start in zip(searched, ends[:-1], strict=True)]
        self.spectrum = self._measure().replace(**{p.name: v for p, v in zip(searched, values, strict=True)})

    @property
    def bounds(self) -> np.ndarray:
        """Bounds on `theta`, shape (n_dims, 2)."""
        rows = [np.empty((0, 2))]
        for parameter, bounds in self._bounded_parameters():
            if not isinstance(bounds, str):
                pairs = np.broadcast_to(np.asarray(bounds, dtype=float), (parameter.size, 2))
                rows.append(np.log(pairs) if parameter.domain == "positive" else pairs)
        return np.concatenate(rows) / self._scales()[:, None]

    def _bounded_parameters(self) -> list[tuple[Parameter, Any]]:
        parameters = self._measure().parameters()
        given = self.parameter_bounds
        if isinstance(given, str) and given == "fixed":
            return [(p, "fixed") for p in parameters]
        given = {} if given is None else given
        if not isinstance(given, dict):
            raise ValueError(f"parameter_bounds must be a dict from names to bounds, 'fixed' or None, got {given!r}.")
        unknown = set(given) - {p.name for p in parameters}
        if unknown:
            raise ValueError(
                f"parameter_bounds names {', '.join(sorted(unknown))}, but the free parameters of {self.spectrum!r} "
                f"are {', '.join(p.name for p in parameters) or 'none'}."
            )
        return [(p, _check_bounds(p, given.get(p.name, _DEFAULT_BOUNDS[p.domain]))) for p in parameters]

    def _scales(self) -> np.ndarray:
        """What every number of `theta` is multiplied by."""
        given = {} if self.parameter_scales is None else self.parameter_scales
        if not isinstance(given, dict):
            raise ValueError(f"parameter_scales must be a dict from names to scales, or None, got {given!r}.")
        real = {p.name for p in self._measure().parameters() if p.domain == "real"}
        if set(given) - real:
            raise ValueError(
                f"parameter_scales names {', '.join(sorted(set(given) - real))}, but the real parameters of "
                f"{self.spectrum!r} are {', '.join(sorted(real)) or 'none'}."
            )
        scales = [np.empty(0), *(_check_scales(p, given.get(p.name, 1.0)) for p in self._searched_parameters())]
        return np.concatenate(scales)

    def _searched_parameters(self) -> list[Parameter]:
        return [p for p, bounds in self._bounded_parameters() if not isinstance(bounds, str)]

    def _free(self) -> np.ndarray:
        """Which numbers of ``spectrum.pack()`` are not fixed."""
        masks = [np.full(p.size, not isinstance(bounds, str)) for p, bounds in self._bounded_parameters()]
        return np.concatenate([np.empty(0, dtype=bool), *masks])

    def _measure(self) -> SpectralMeasure:
        if not isinstance(self.spectrum, SpectralMeasure):
            raise TypeError(f"{type(self).__name__}: spectrum must be a spectral measure, got {self.spectrum!r}.")
        return self.spectrum.require()

    # -- values -------------------------------------------------------------------------------------------------------

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Return the kernel matrix, and its gradient to `theta` if asked for.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        Y : array-like of shape (m, d), optional
            Other points; X itself if left out.
        eval_gradient : bool, default=False
            Return the gradient too. Only for Y None.

        Returns
        -------
        K : ndarray of shape (n, m)
            The kernel matrix, float64 and newly allocated.
        gradient : ndarray of shape (n, n, n_dims)
            Derivatives to `theta`; only with `eval_gradient`.
        """
        X = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if eval_gradient:
            if Y is not None:
                raise ValueError("Gradient can only be evaluated when Y is None.")
            K, G = self._gram_gradient(X, self._free())
            scales = self._scales()
            for i in np.flatnonzero(scales != 1):
                G[i] *= scales[i]
            return K, np.moveaxis(G, 0, -1)
        return self._gram(X, None if Y is None else np.atleast_2d(np.asarray(Y, dtype=np.float64)))

    @abstractmethod
    def _gram(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray: ...

    @abstractmethod
    def _gram_gradient(self, X: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    # -- comparison ---------------------------------------------------------------------------------------------------

    def _arguments(self) -> dict[str, Any]:
        """The constructor's arguments in its order, with arrays as plain lists, which compare and print."""
        plain = {name: _plain(getattr(self, name)) for name in ("parameter_bounds", "parameter_scales")}
        return {**self.get_params(deep=False), **plain}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._arguments() == other._arguments()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        defaults = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        arguments = self._arguments()
        shown = [f"{name}={arguments[name]!r}" for name in list(arguments)[1:] if arguments[name] != defaults[name]]
        return f"{type(self).__name__}({', '.join([repr(self.spectrum), *shown])})"


def _check_bounds(parameter: Parameter, bounds: Any) -> Any:
    if isinstance(bounds, str):
        if bounds == "fixed":
            return bounds
        raise ValueError(f"The bounds of {parameter.name} must be numbers or 'fixed', got {bounds!r}.")
    pairs = np.asarray(bounds, dtype=float)
    if pairs.shape not in ((2,), (parameter.size, 2)):
        raise ValueError(
            f"The bounds of {parameter.name} must be a pair or have shape ({parameter.size}, 2), got {pairs.shape}."
        )
    low, high = pairs[..., 0], pairs[..., 1]
    if not (np.isfinite(pairs).all() and (low <= high).all() and (parameter.domain == "real" or (low > 0).all())):
        demand = "finite and ordered" if parameter.domain == "real" else "positive, finite and ordered"
        raise ValueError(f"The bounds of {parameter.name} must be {demand}, got {bounds!r}.")
    return pairs


def _check_scales(parameter: Parameter, scales: Any) -> np.ndarray:
    scales = np.asarray(scales, dtype=float)
    if scales.shape not in ((), (parameter.size,)) or not (np.isfinite(scales).all() and (scales > 0).all()):
        raise ValueError(
            f"The scales of {parameter.name} must be positive and finite, one number or {parameter.size}, got {scales}."
        )
    return np.full(parameter.size, scales)


def _plain(values: Any) -> Any:
    if isinstance(values, dict):
        return {name: value if isinstance(value, str) else np.asarray(value).tolist() for name, value in values.items()}
    return values
