"""Kernels for scikit-learn's Gaussian processes, from any spectral measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel, StationaryKernelMixin

from spectralkit.spectra import SpectralMeasure
from spectralkit.spectra._parameters import Parameter
from spectralkit.spectra._sklearn import SpectrumParams

__all__ = ["SpectralKernel"]

_DEFAULT_BOUNDS = {"positive": (1e-5, 1e5), "real": (-1e5, 1e5)}


class SpectralKernel(SpectrumParams, StationaryKernelMixin, Kernel):
    r"""The exact kernel of a spectral measure, for `sklearn.gaussian_process`.

    .. math:: k(x, y) = \int \cos\bigl(2\pi\,\omega\cdot(x - y)\bigr)\, d\mu(\omega)

    Composes with other kernels by ``+``, ``*`` and ``**``. Its free parameters are those of the measure: positive ones
    enter ``theta`` as logarithms, as everywhere in scikit-learn; real ones, such as the means of a mixture, as they
    are, so that they can change sign.

    Parameters
    ----------
    spectrum : SpectralMeasure
        A measure without open parameters. Its parameters are parameters of the kernel: ``spectrum__sigma``,
        ``spectrum__0__sigma``, ...
    parameter_bounds : dict, "fixed" or None, default=None
        Bounds for optimisation, in natural units: from the name of a parameter (as in ``spectrum.parameters()``) to a
        pair, an array of shape (size, 2), or "fixed". What is not named has (1e-5, 1e5), or (-1e5, 1e5) if real.
        "fixed" on its own fixes everything.

    Raises
    ------
    TypeError, TemplateError, ValueError
        When the kernel is used: if spectrum is not a measure or has open parameters; when it is fitted: if bounds name
        none of its parameters or are not numbers in order.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, *Gaussian Processes for Machine Learning*, MIT Press, 2006, chapters 4 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from spectralkit import Gaussian, SpectralKernel
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> gp = GaussianProcessRegressor(SpectralKernel(1.0 * Gaussian(0.5)), alpha=1e-4).fit(X, y)
    >>> bool(abs(gp.predict([[np.pi / 2]])[0] - 1) < 1e-2)
    True
    >>> SpectralKernel(1.0 * Gaussian(0.5), {"factor": "fixed"}).theta.round(4)
    array([-0.6931])
    """

    def __init__(self, spectrum: SpectralMeasure, parameter_bounds: Any = None) -> None:
        self.spectrum = spectrum
        self.parameter_bounds = parameter_bounds

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
        params = {"spectrum": self.spectrum, "parameter_bounds": self.parameter_bounds}
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
        """The numbers that are not fixed: logarithms of positive ones, real ones as they are."""
        return np.concatenate([np.empty(0), *(p.packed() for p in self._searched_parameters())])

    @theta.setter
    def theta(self, theta: np.ndarray) -> None:
        searched = self._searched_parameters()
        ends = np.cumsum([0, *(p.size for p in searched)])
        if np.shape(theta) != (ends[-1],):
            raise ValueError(f"{self!r} searches over {ends[-1]} numbers, but theta has shape {np.shape(theta)}.")
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
        return np.concatenate(rows)

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

    def _searched_parameters(self) -> list[Parameter]:
        return [p for p, bounds in self._bounded_parameters() if not isinstance(bounds, str)]

    def _free(self) -> np.ndarray:
        """Which numbers of ``spectrum.pack()`` are not fixed."""
        masks = [np.full(p.size, not isinstance(bounds, str)) for p, bounds in self._bounded_parameters()]
        return np.concatenate([np.empty(0, dtype=bool), *masks])

    def _measure(self) -> SpectralMeasure:
        if not isinstance(self.spectrum, SpectralMeasure):
            raise TypeError(f"SpectralKernel: spectrum must be a spectral measure, got {self.spectrum!r}.")
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
            K, G = self._measure().gram_gradient(X, self._free())
            return K, np.moveaxis(G, 0, -1)
        return self._measure().gram(X, None if Y is None else np.atleast_2d(np.asarray(Y, dtype=np.float64)))

    def diag(self, X: Any) -> np.ndarray:
        """Return the diagonal of the kernel matrix, k(0) for every row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Newly allocated.
        """
        X = np.atleast_2d(X)
        return np.full(len(X), float(self._measure().require(d=X.shape[1]).mass))

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and self.spectrum == other.spectrum
            and _bounds_key(self.parameter_bounds) == _bounds_key(other.parameter_bounds)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        bounds = "" if self.parameter_bounds is None else f", parameter_bounds={_bounds_key(self.parameter_bounds)!r}"
        return f"{type(self).__name__}({self.spectrum!r}{bounds})"


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


def _bounds_key(bounds: Any) -> Any:
    """Bounds as plain lists, which compare and print."""
    if isinstance(bounds, dict):
        return {name: value if isinstance(value, str) else np.asarray(value).tolist() for name, value in bounds.items()}
    return bounds
