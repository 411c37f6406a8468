"""Arguments made alike and checked, and vectors that neither overflow nor divide by zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralkit._validation import as_points
from spectralkit._xp import as_floating, convert, is_torch, namespace, stop_gradient

__all__ = [
    "alike",
    "check_intervals",
    "check_not_negative",
    "check_rays",
    "common_shape",
    "expand",
    "norms",
    "outer",
    "projection_across",
    "refuse",
    "unit_vectors",
]


def alike(**arrays: Any) -> list[Any]:
    """The arguments in one library, floating dtype and device: tensors if one of them is.

    They are float32 if all floating-point arrays among them are, else float64; numbers and lists do not count. Raises
    ValueError if an array has NaN or infinite values.
    """
    given = arrays.values()
    tensor = next((a for a in given if is_torch(a)), None)
    floating = [a for a in given if hasattr(a, "dtype") and namespace(a).isdtype(a.dtype, "real floating")]
    floating = [a for a in floating if a.ndim] or floating
    single = bool(floating) and all(as_floating(a).dtype == namespace(a).float32 for a in floating)
    xp = namespace(tensor)
    device = None if tensor is None else tensor.device
    like = xp.zeros((), dtype=xp.float32 if single else xp.float64, device=device)
    converted = {name: convert(a, like) for name, a in arrays.items()}
    if tensor is None:
        for name, array in converted.items():
            refuse(~np.isfinite(array), f"{name} has NaN or infinite values, the first{{where}}. Leave them out.")
    return list(converted.values())


def refuse(bad: Any, message: str, **values: Any) -> None:
    """Raise ValueError if any flag is set, with the values and the index of the first in the message.

    Flags of tensors are not looked at.
    """
    if is_torch(bad) or not np.any(bad):
        return
    first = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), np.shape(bad)))
    found = {name: float(np.broadcast_to(value, np.shape(bad))[first]) for name, value in values.items()}
    raise ValueError(message.format(where=f" at index {first}" if first else "", **found))


def check_not_negative(array: Any, name: str, why: str) -> None:
    """Raise ValueError if a value is negative."""
    refuse(array < 0, f"{name} must not be negative, but it is {{value:.6g}}{{where}}. {why}", value=array)


def check_intervals(t0: Any, t1: Any, radius: Any) -> None:
    """Raise ValueError unless ``0 <= t0 <= t1`` and ``0 <= radius``."""
    common_shape(t0=t0.shape, t1=t1.shape, radius=radius.shape)
    check_not_negative(t0, "t0", "Distances count from the origin of the ray.")
    check_not_negative(radius, "radius", "Pass the radius of the cross-section.")
    refuse(
        t1 < t0,
        "t1 must not be less than t0, but they are {t1:.6g} and {t0:.6g}{where}. Order the ends of each piece.",
        t0=t0,
        t1=t1,
    )


def check_rays(origins: Any, directions: Any, **others: Any) -> tuple[int, ...]:
    """The shape, without columns, to which rays and what lies on them broadcast.

    Raises ValueError if they do not, if origins and directions do not have the same columns, or a direction is zero.
    """
    origins, directions = as_points(origins, "origins"), as_points(directions, "directions")
    if origins.shape[-1] != directions.shape[-1]:
        raise ValueError(
            f"origins have {origins.shape[-1]} column(s), but directions have {directions.shape[-1]}; they must agree."
        )
    if not is_torch(directions):
        refuse(~directions.any(axis=-1), "directions must not be zero, but the one{where} is. Leave its ray out.")
    shapes = {name: array.shape for name, array in others.items()}
    return common_shape(origins=origins.shape[:-1], directions=directions.shape[:-1], **shapes)


def common_shape(**shapes: Any) -> tuple[int, ...]:
    """The shape to which arrays of these shapes, their columns left out, broadcast; ValueError if they do not."""
    try:
        return tuple(np.broadcast_shapes(*map(tuple, shapes.values())))
    except ValueError:
        said = ", ".join(f"{name} {tuple(shape)}" for name, shape in shapes.items())
        raise ValueError(
            f"These shapes, without columns, do not broadcast: {said}. Where one ray or point has several pieces, give "
            "it an axis for them, as in origins[:, None, :]."
        ) from None


def expand(array: Any, shape: tuple[int, ...]) -> Any:
    """`array` in a shape to which it broadcasts, as it is if it has it; a copy else, as NumPy's views are read-only."""
    return array if tuple(array.shape) == shape else namespace(array).broadcast_to(array, shape) + 0.0


def norms(X: Any, at_least: float) -> Any:
    """Euclidean norms, shape (..., 1), or `at_least`, a constant of differentiation, where they are less."""
    xp = namespace(X)
    largest = xp.max(xp.abs(stop_gradient(X)), axis=-1, keepdims=True)
    scale = xp.where(largest > at_least, largest, at_least)
    squares = xp.sum((X / scale) ** 2, axis=-1, keepdims=True)
    floor = (at_least / scale) ** 2
    return scale * xp.sqrt(xp.where(squares > floor, squares, floor))


def unit_vectors(X: Any) -> Any:
    """X divided by its norms; zero stays zero."""
    return X / norms(X, float(namespace(X).finfo(X.dtype).smallest_normal))


def outer(a: Any, b: Any) -> Any:
    """``a[..., i] * b[..., j]``, shape (..., d, d)."""
    return a[..., :, None] * b[..., None, :]


def projection_across(unit: Any) -> Any:
    """The matrices I - u u^T of unit vectors u, right to rounding entry by entry.

    The difference 1 - u_i^2 would cancel on an axis close to u: there, the squares of the others are summed.
    """
    identity = convert(np.eye(unit.shape[-1]), unit)
    others = namespace(unit).sum((unit**2)[..., None, :] * (1 - identity), axis=-1)
    return identity * others[..., None] - (1 - identity) * outer(unit, unit)
