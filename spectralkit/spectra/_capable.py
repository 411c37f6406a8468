"""Templates, columns and capabilities: what is checked before a measure computes anything."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from spectralkit._validation import as_points
from spectralkit.spectra._parameters import Parametrized
from spectralkit.spectra._template import Data, TemplateError

HOOKS = {
    "transport": "_transport",
    "polar": "_polar",
    "density": "_log_density",
    "atoms": "_atoms",
    "cutoff": "_cutoff",
    "support": "_support",
    "mgf": "_log_mgf",
    "factors": "_factors",
    "radial": "_radii",
    "gaussian": "_gaussian_sigma",
    "nonnegative": "_nonnegative",
}

CAPABILITIES = (*HOOKS, "torch")

_ALTERNATIVES = {
    "transport": "the exact kernel, SpectralKernel",
    "polar": "rule='qmc' or rule='iid'",
    "density": "random features with rule='qmc'",
    "atoms": "rule='qmc'",
    "cutoff": "random features with rule='qmc'",
    "support": "random features with rule='qmc'",
    "mgf": "FourierFeatures with rule='qmc'",
    "factors": "random features with rule='qmc'",
    "radial": "rule='orthogonal' or rule='qmc'",
    "gaussian": "variant='hyperbolic' or variant='positive'",
    "nonnegative": "FeatureRidge, which takes any kernel,",
    "torch": "NumPy arrays",
}


class CapabilityError(TypeError):
    """A measure was asked for something that it cannot give.

    Examples
    --------
    >>> from spectralkit import Atomic, CapabilityError
    >>> try:
    ...     Atomic([1.0]).density([0.5])
    ... except CapabilityError as error:
    ...     print(error)
    Atomic(frequencies=[1.0]) has no density in 1 column(s). Use random features with rule='qmc' instead.
    """


class Capable(Parametrized):
    """Parameters that may be open, a number of columns, and capabilities declared by writing hooks.

    A hook that is None is a capability that the measure does not have. One of them is a declaration, True or False,
    instead of a function.
    """

    _transport: ClassVar[Any] = None
    _polar: ClassVar[Any] = None
    _log_density: ClassVar[Any] = None
    _atoms: ClassVar[Any] = None
    _cutoff: ClassVar[Any] = None
    _support: ClassVar[Any] = None
    _log_mgf: ClassVar[Any] = None
    _factors: ClassVar[Any] = None
    _radii: ClassVar[Any] = None
    _gaussian_sigma: ClassVar[Any] = None
    _nonnegative: ClassVar[bool | None] = None

    # -- templates ----------------------------------------------------------------------------------------------------

    def is_template(self) -> bool:
        """Tell whether a parameter is still open.

        Returns
        -------
        bool
            True until every parameter named in ``open_``, in all parts, has a value.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian().is_template(), (Gaussian(0.1) * Gaussian()).is_template(), Gaussian(0.1).is_template()
        (True, True, False)
        """
        return bool(self._open_names())

    def _open_names(self) -> list[str]:
        own = [name for name in self.open_ if getattr(self, name) is None]
        return own + [f"{label}__{n}" for label, child in self._children().items() for n in child._open_names()]

    def resolve(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, sigma: Any = "auto", multiplier: float = 1.0
    ) -> Self:
        r"""Return the measure with its open parameters filled from data.

        An open ``sigma`` becomes :math:`\mathrm{multiplier} / (2\pi\sqrt{d}\,\mathrm{sd}_j)` per column, or
        ``multiplier * sigma`` where `sigma` is given. In a product of column groups, d counts the columns of all
        factors.

        Parameters
        ----------
        X : array or sparse array of shape (n, d)
            The points.
        y : array of shape (n,), optional
            The targets, for templates that read them.
        sample_weight : array of shape (n,), optional
            Repetitions of the rows.
        sigma : "auto", float or array of shape (d,), default="auto"
            Frequency scale in cycles per unit of X.
        multiplier : float, default=1.0
            Factor on the scale.

        Returns
        -------
        SpectralMeasure
            A measure without open parameters; `self` if there were none.

        Raises
        ------
        ValueError
            If `sigma` or `multiplier` is given although no sigma is open, or if it does not fit X.
        TemplateError
            If an open parameter cannot be read off the data.

        Examples
        --------
        >>> import numpy as np
        >>> from spectralkit import Gaussian
        >>> Gaussian().resolve(np.array([[0.0, 1.0], [2.0, 1.0]])).sigma.round(6)
        array([0.11254, 0.11254])
        """
        points = X if sparse.issparse(X) else as_points(X, "X", rows=True)
        return self._resolved(Data(points, y, sample_weight, sigma, multiplier))

    def _resolved(self, data: Data) -> Self:
        """`resolve` for data that are wrapped up already, perhaps with a reader of their spectrum."""
        self._check_columns(data.X.shape[1])
        data.check_scale()
        if data.scale_is_given and not any(name.split("__")[-1] == "sigma" for name in self._open_names()):
            raise ValueError(
                f"{self!r} has no open sigma for sigma={data.sigma!r} and multiplier={data.multiplier!r} to fill. "
                "Leave them at their defaults, or leave the sigma of the measure open."
            )
        resolved = self._resolve(data)
        if resolved.is_template():
            reader = "" if data.components else (
                "spectralkit.estimation.resolve(template, X, y) also reads spectral mixtures off the spectrum of y. "
            )  # fmt: skip
            raise TemplateError(
                f"{self!r} has no {', '.join(resolved._open_names())} yet, which cannot be read off the data. {reader}"
                "Give the numbers."
            )
        return resolved

    def _resolve(self, data: Data) -> Self:
        """Fill what can be filled. Override it where a parameter other than sigma is open."""
        children = self._children()
        resolved = self._with_children({label: child._resolve(data) for label, child in children.items()})
        if "sigma" in self.open_ and getattr(self, "sigma") is None:  # noqa: B009 - not every measure has a sigma
            resolved = resolved.replace(sigma=data.scale())
        return resolved

    # -- shape and capabilities ---------------------------------------------------------------------------------------

    @property
    def dimension(self) -> int | None:
        """Number of columns that the parameters were written for, as a sigma per column is; None if any will do."""
        sigma: Any = getattr(self, "sigma", None)
        return np.shape(sigma)[0] if np.ndim(sigma) else None

    @property
    def columns(self) -> frozenset[int] | None:
        """Columns that the kernel depends on; None for all of them."""
        return None

    def capabilities(self, d: int) -> frozenset[str]:
        """Return what the measure can give in d columns.

        Parameters
        ----------
        d : int
            Number of columns.

        Returns
        -------
        frozenset of str
            A subset of ``{"transport", "polar", "density", "atoms", "cutoff", "support", "mgf", "factors", "radial",
            "gaussian", "nonnegative", "torch"}``.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> one_of_two = Gaussian(0.1).on([0])
        >>> "density" in one_of_two.capabilities(1), "density" in one_of_two.capabilities(2)
        (True, False)
        """
        return frozenset(name for name in CAPABILITIES if self._can(name, d))

    def _can(self, capability: str, d: int) -> bool:
        """As `_has`; and in one column any measure is its only factor."""
        return (capability == "factors" and d == 1) or self._has(capability, d)

    def _has(self, capability: str, d: int) -> bool:
        return capability == "torch" or getattr(self, HOOKS[capability]) not in (None, False)

    def gaussian_sigma(self, d: int) -> np.ndarray:
        """Return the standard deviations of a measure that is its mass times a centred normal distribution.

        Parameters
        ----------
        d : int
            Number of columns.

        Returns
        -------
        ndarray of shape (d,)
            In cycles per unit, one per column; the columns are independent.

        Raises
        ------
        CapabilityError
            If the measure is not of this kind.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> (2.0 * Gaussian([0.1, 0.2]).on([1, 0])).gaussian_sigma(2)
        array([0.2, 0.1])
        """
        self.require("gaussian", d=d)
        return np.array(np.broadcast_to(self._gaussian_sigma(d), (d,)), dtype=float)

    def require(self, *names: str, d: int | None = None) -> Self:
        """Return the measure if it is ready for d columns and has all the capabilities, and raise if not.

        Parameters
        ----------
        *names : str
            Capabilities.
        d : int, optional
            Number of columns; without it only templates are refused.

        Returns
        -------
        SpectralMeasure
            The measure itself.

        Raises
        ------
        TemplateError
            If a parameter is open.
        ValueError
            If the measure describes another number of columns, or a name is not that of a capability.
        CapabilityError
            Naming the measure, the capability and an alternative.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).require("density", "polar", d=2)
        Gaussian(sigma=0.1)
        """
        if self.is_template():
            raise TemplateError(
                f"{self!r} is a template: it has no {', '.join(self._open_names())} yet. Call resolve(X, y), or give "
                "the numbers."
            )
        if d is not None:
            self._check_columns(d)
            for name in names:
                self._require_capability(name, d)
        return self

    def _require_capability(self, name: str, d: int) -> None:
        if name not in CAPABILITIES:
            raise ValueError(f"{name!r} is not a capability; the capabilities are {', '.join(CAPABILITIES)}.")
        if not self._can(name, d):
            without_draws = name in ("transport", "torch") or self._has("transport", d)
            instead = _ALTERNATIVES[name if without_draws else "transport"]
            missing = "nonnegative kernel" if name == "nonnegative" else name
            raise CapabilityError(f"{self!r} has no {missing} in {d} column(s). Use {instead} instead.")

    def _check_columns(self, d: int) -> None:
        if self.dimension not in (None, d):
            raise ValueError(
                f"{self!r} describes {self.dimension} column(s), but the points have {d}. Give points with "
                f"{self.dimension} columns, or choose columns with .on([...])."
            )
        for child in self._children().values():
            child._check_columns(d)
