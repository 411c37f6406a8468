"""Parameters of a measure: declared once with their domain, stored verbatim, immutable.

A class that derives from `Parametrized` is a frozen dataclass. Each field is declared with `positive`, `real` or
`fixed`; the first two are free (they can be learnt) and enter optimisation as logarithms and as they are.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, dataclass_transform

import numpy as np

from spectralkit.spectra._dual import Dual, carries_derivative

Domain = Literal["positive", "real", "fixed"]


def positive(default: Any = None) -> Any:
    """Declare a free parameter that is greater than zero: a number or an array of numbers; optimised as its logarithm.

    Parameters
    ----------
    default : float, array or None, default=None
        The value when none is given. None together with the name in ``open_`` makes the object a template.

    Returns
    -------
    dataclasses.Field
        To be assigned to the annotated class attribute.

    Examples
    --------
    >>> from spectralkit import SpectralMeasure, fixed, positive, real
    >>> class Chirp(SpectralMeasure):
    ...     width: float = positive(default=1.0)
    ...     drift: float = real(default=0.0)
    ...     order: int = fixed(default=2)
    >>> [(p.name, p.domain) for p in Chirp(drift=-0.5).parameters()]
    [('width', 'positive'), ('drift', 'real')]
    """
    return dataclasses.field(default=default, metadata={"domain": "positive"})


def real(default: Any = None) -> Any:
    """Declare a free parameter of either sign: a number or an array of numbers; optimised as it is.

    Parameters
    ----------
    default : float, array or None, default=None
        The value when none is given.

    Returns
    -------
    dataclasses.Field
        To be assigned to the annotated class attribute.

    Examples
    --------
    >>> from spectralkit import SpectralMeasure, fixed, positive, real
    >>> class Chirp(SpectralMeasure):
    ...     width: float = positive(default=1.0)
    ...     drift: float = real(default=0.0)
    ...     order: int = fixed(default=2)
    >>> [(p.name, p.domain) for p in Chirp(drift=-0.5).parameters()]
    [('width', 'positive'), ('drift', 'real')]
    """
    return dataclasses.field(default=default, metadata={"domain": "real"})


def fixed(default: Any = None) -> Any:
    """Declare a parameter that names a member of the family and is never optimised.

    Parameters
    ----------
    default : object, default=None
        The value when none is given.

    Returns
    -------
    dataclasses.Field
        To be assigned to the annotated class attribute.

    Examples
    --------
    >>> from spectralkit import SpectralMeasure, fixed, positive, real
    >>> class Chirp(SpectralMeasure):
    ...     width: float = positive(default=1.0)
    ...     drift: float = real(default=0.0)
    ...     order: int = fixed(default=2)
    >>> [(p.name, p.domain) for p in Chirp(drift=-0.5).parameters()]
    [('width', 'positive'), ('drift', 'real')]
    """
    return dataclasses.field(default=default, metadata={"domain": "fixed"})


@dataclass(frozen=True)
class Parameter:
    """A free parameter of a measure: its (nested) name, its domain and its value."""

    name: str
    domain: Domain
    value: Any

    @property
    def size(self) -> int:
        """Number of scalars."""
        return math.prod(np.shape(self.value))

    def packed(self) -> np.ndarray:
        """The value as optimisers see it: flat, logarithms if positive."""
        flat = np.ravel(np.asarray(self.value, dtype=float))
        return np.log(flat) if self.domain == "positive" else flat

    def unpacked(self, theta: np.ndarray) -> Any:
        """The inverse of `packed`, in the shape of the value; a scalar stays a Python float."""
        value = np.exp(theta) if self.domain == "positive" else np.array(theta, dtype=float)
        shape = np.shape(self.value)
        return value.reshape(shape) if shape else float(value[0])


@dataclass_transform(frozen_default=True, field_specifiers=(positive, real, fixed))
class Parametrized:
    """Immutable objects with declared parameters: access, replacement, packing, representation, equality."""

    open_: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(frozen=True, eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is None:
                if field.name not in self.open_ and field.default is not None:
                    raise TypeError(f"{type(self).__name__}: {field.name} must be given, got None.")
            elif _domain(field) != "fixed" and not carries_derivative(value):
                self._check_numbers(field.name, value, must_be_positive=_domain(field) == "positive")
        self._check_parameters()

    def _check_numbers(self, name: str, value: Any, *, must_be_positive: bool) -> None:
        numbers = np.asarray(value)
        if numbers.dtype.kind not in "fiu":
            raise TypeError(f"{type(self).__name__}: {name} must be a number or an array of numbers, got {value!r}.")
        if numbers.size == 0:
            raise ValueError(f"{type(self).__name__}: {name} is empty; give at least one number.")
        if not np.isfinite(numbers).all() or (must_be_positive and not (numbers > 0).all()):
            demand = "positive and finite" if must_be_positive else "finite"
            raise ValueError(f"{type(self).__name__}: {name} must be {demand}, got {value!r}.")

    def _check_parameters(self) -> None:
        """Check what concerns several parameters or their shapes; called on construction. For families to override."""

    # -- children: the measures inside a sum, a product, a scaling, a column group ------------------------------------

    def _children(self) -> dict[str, Any]:
        return {}

    def _with_children(self, children: dict[str, Any]) -> Self:
        return self

    # -- the scikit-learn protocol ------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Include the parameters of the parts of a sum or product as ``"0__sigma"``, ``"1__nu"``, ...

        Returns
        -------
        dict
            Names and values, the values as they were given.

        Examples
        --------
        >>> from spectralkit import Gaussian, Matern
        >>> sorted((Gaussian(0.1) + Matern(0.2, nu=1.5)).get_params())
        ['0__sigma', '1__nu', '1__sigma', 'parts']
        """
        params = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        if deep:
            for label, child in self._children().items():
                params.update({f"{label}__{name}": value for name, value in child.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Refuse: a measure is immutable.

        Parameters
        ----------
        **params : dict
            The changes asked for.

        Returns
        -------
        self
            Only when there is nothing to change.

        Raises
        ------
        TypeError
            If any parameter is given. `replace` makes the changed copy.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> try:
        ...     Gaussian(0.1).set_params(sigma=0.2)
        ... except TypeError as error:
        ...     print(str(error)[:52])
        Gaussian is immutable. Use replace(sigma=...), which
        """
        if params:
            raise TypeError(
                f"{type(self).__name__} is immutable. Use replace({', '.join(f'{name}=...' for name in params)}), "
                "which returns a changed copy; estimators and kernels do so for set_params(spectrum__...=...)."
            )
        return self

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some parameters changed.

        Parameters
        ----------
        **changes : dict
            New values. Nested names such as ``0__sigma`` reach into the parts of a sum or product.

        Returns
        -------
        SpectralMeasure
            The changed copy; parts that do not change are shared.

        Raises
        ------
        ValueError
            If a name is unknown or a value lies outside its domain.

        Examples
        --------
        >>> from spectralkit import Gaussian, Matern
        >>> (Gaussian(0.1) + 2.0 * Matern(0.2, nu=1.5)).replace(**{"1__nu": 2.5, "1__factor": 3.0})
        Gaussian(sigma=0.1) + 3.0 * Matern(sigma=0.2, nu=2.5)
        """
        children = self._children()
        own: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        known = {field.name for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        for name, value in changes.items():
            head, _, tail = name.partition("__")
            if tail and head in children:
                nested.setdefault(head, {})[tail] = value
            elif name in known:
                own[name] = value
            else:
                raise ValueError(f"{self!r} has no parameter {name!r}; it has {', '.join(sorted(self.get_params()))}.")
        changed = dataclasses.replace(self, **own) if own else self  # type: ignore[type-var]
        if nested:
            children = changed._children()
            changed = changed._with_children({k: children[k].replace(**nested[k]) for k in nested})
        return changed

    # -- optimisation -------------------------------------------------------------------------------------------------

    def parameters(self) -> list[Parameter]:
        """Return the free parameters that have a value, in order of declaration, own before parts, depth first.

        Returns
        -------
        list of Parameter
            Each with ``name`` (as in `get_params`), ``domain`` (``"positive"`` or ``"real"``) and ``value``.

        Examples
        --------
        >>> from spectralkit import SpectralMixture
        >>> mixture = SpectralMixture(weights=[1.0], means=[[0.5]], sigmas=[[0.1]])
        >>> [(p.name, p.domain, p.size) for p in mixture.parameters()]
        [('weights', 'positive', 1), ('means', 'real', 1), ('sigmas', 'positive', 1)]
        """
        own = [
            Parameter(field.name, _domain(field), getattr(self, field.name))
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if _domain(field) != "fixed" and getattr(self, field.name) is not None
        ]
        parts = [
            Parameter(f"{label}__{p.name}", p.domain, p.value)
            for label, child in self._children().items()
            for p in child.parameters()
        ]
        return own + parts

    def pack(self) -> np.ndarray:
        """Return all free parameters as one flat vector: logarithms of the positive ones, real ones as they are.

        Returns
        -------
        ndarray of shape (P,)
            In the order of `parameters`.

        Examples
        --------
        >>> from spectralkit import SpectralMixture
        >>> SpectralMixture(weights=[1.0], means=[[-0.5]], sigmas=[[0.1]]).pack().round(4)
        array([ 0.    , -0.5   , -2.3026])
        """
        return np.concatenate([np.empty(0), *(p.packed() for p in self.parameters())])

    def unpack(self, theta: np.ndarray) -> Self:
        """Return a copy with the free parameters taken from a flat vector, the inverse of `pack`.

        Parameters
        ----------
        theta : ndarray of shape (P,)
            In the order and the transformation of `pack`.

        Returns
        -------
        SpectralMeasure
            The copy; it owns its arrays.

        Raises
        ------
        ValueError
            If theta has the wrong length.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> Gaussian(0.1).unpack([0.0])
        Gaussian(sigma=1.0)
        """
        parameters = self.parameters()
        size = sum(p.size for p in parameters)
        if np.shape(theta) != (size,):
            raise ValueError(
                f"{self!r} has {size} free numbers, but theta has shape {np.shape(theta)}. Give one number for "
                "each, in the order of pack()."
            )
        ends = np.cumsum([p.size for p in parameters])
        return self.replace(
            **{p.name: p.unpacked(theta[end - p.size : end]) for p, end in zip(parameters, ends, strict=True)}
        )

    def _dual_directions(self) -> Iterator[Self]:
        """Copies of the measure, each with one number of `pack` replaced by a dual number that moves along it."""
        for parameter in self.parameters():
            value = np.asarray(parameter.value, dtype=float)
            for index in np.ndindex(value.shape):
                direction = np.zeros_like(value)
                direction[index] = value[index] if parameter.domain == "positive" else 1.0
                yield self.replace(**{parameter.name: Dual(value, direction)})

    def _parameter_count(self) -> int:
        return sum(p.size for p in self.parameters())

    # -- representation and equality ----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        shown = {name: value for name, value in self.get_params(deep=False).items() if value is not None}
        return f"{type(self).__name__}({', '.join(f'{name}={plain_repr(value)}' for name, value in shown.items())})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]


def _domain(field: dataclasses.Field) -> Domain:
    """A plain dataclass field, declared with none of the three functions, is fixed."""
    return field.metadata.get("domain", "fixed")


def plain_repr(value: Any) -> str:
    """`repr` of a value that evaluates without NumPy in scope: arrays as nested lists, NumPy numbers as Python's."""
    return repr(value.tolist() if hasattr(value, "tolist") else value)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, Parametrized) or isinstance(b, Parametrized):
        return bool(a == b)
    if isinstance(a, tuple) and isinstance(b, tuple) and _any_parametrized((*a, *b)):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b)


def _any_parametrized(values: Iterable[Any]) -> bool:
    return any(isinstance(value, Parametrized) for value in values)
