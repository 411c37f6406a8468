"""Pieces of rays as points with a blur."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special
from sklearn.utils import check_random_state

from spectralkit._xp import convert, is_torch, namespace
from spectralkit.rays._arrays import (
    alike,
    check_intervals,
    check_not_negative,
    check_rays,
    expand,
    refuse,
    unit_vectors,
)
from spectralkit.rays._moments import proportions

# six points per frustum: where along the axis, in steps about their mean, and in which direction off it
_ALONG = np.arange(6) / 2.5 - 1
_AROUND = np.array([0, 2, 4, 3, 5, 1]) * math.pi / 3


def multisample(
    origins: Any, directions: Any, t0: Any, t1: Any, radius: Any, random_state: Any = None
) -> tuple[Any, Any]:
    r"""Place six points in each conical frustum, on a spiral around its axis.

    Their mean is that of the frustum, and so are the variance along the axis and the mean squared distance from it,
    ``2 r_var``. The other second moments are those of the frustum on average over all rotations of the six points.

    .. math:: t_j = \mathrm{t\_mean} + \sqrt{\tfrac{15}7\,\mathrm{t\_var}}\;\bigl(\tfrac25 j - 1\bigr),\qquad
        \mathrm{std}_j = \tfrac12\,\frac{\mathrm{radius}\;t_j}{\sqrt2}

    Parameters
    ----------
    origins, directions : array of shape (..., 3)
        Rays o + t v. Directions are not normalised.
    t0, t1 : float or array of shape (...)
        Distances of the two ends of each frustum, ``0 <= t0 <= t1``, in multiples of the direction vector.
    radius : float or array of shape (...)
        Radius of the cone at t = 1, in units of x, as in `conical_frustum`.
    random_state : int, RandomState or Generator, optional
        Rotates the six points of each frustum by a random angle, and mirrors them or not. None: nothing is random, and
        in every other frustum along the last axis, from the second on, they are rotated by 30 degrees and mirrored.

    Returns
    -------
    points : array of shape (..., 6, 3)
        Points. Where t0 is less than 0.54 t1, the last lies beyond t1, by up to 3.7 percent of the length.
    std : array of shape (..., 6)
        Standard deviations of isotropic Gaussians around them, in units of x: half their distances from the axis.

    Raises
    ------
    ValueError
        If rays do not have three columns, shapes do not agree, a value is not finite, a direction is zero, a distance
        or a radius is negative, or t1 is less than t0.

    References
    ----------
    Barron et al., "Zip-NeRF: Anti-aliased grid-based neural radiance fields", ICCV 2023.

    Examples
    --------
    >>> from spectralkit.rays import conical_frustum, multisample
    >>> points, std = multisample([0.0, 0.0, 0.0], [0.0, 0.0, 1.0], 2.0, 3.0, radius=0.1)
    >>> points.shape, std.shape
    ((6, 3), (6,))
    >>> bool(abs(points[:, 2].mean() - conical_frustum(2.0, 3.0, 0.1).t_mean) < 1e-12)
    True
    """
    origins, directions, t0, t1, radius = alike(origins=origins, directions=directions, t0=t0, t1=t1, radius=radius)
    shape = check_rays(origins, directions, t0=t0, t1=t1, radius=radius)
    if directions.shape[-1] != 3:
        raise ValueError(
            f"multisample places points around rays in three columns, but origins and directions have "
            f"{directions.shape[-1]}. Use conical_frustum and gaussians_on_rays."
        )
    check_intervals(t0, t1, radius)
    middle, half, ss = proportions(t0, t1)
    mean = middle * (1 + 2 * ss / (3 + ss))
    spread = 3 / math.sqrt(7) * half * (5 - 2 * ss + ss**2) ** 0.5 / (3 + ss)
    t = mean[..., None] + spread[..., None] * convert(_ALONG, mean)
    away = radius[..., None] * t / math.sqrt(2)
    first, second = (axis[..., None, :] for axis in _axes_across(directions))
    angles = _angles(shape, random_state)[..., None]
    ring = convert(np.cos(angles), t) * first + convert(np.sin(angles), t) * second
    points = origins[..., None, :] + t[..., None] * directions[..., None, :] + away[..., None] * ring
    return expand(points, (*shape, 6, 3)), expand(away / 2, (*shape, 6))


def downweight(std: Any, resolution: Any) -> Any:
    r"""Weigh the levels of a grid by how much of a Gaussian fits into one of their cells.

    .. math:: \operatorname{erf}\bigl(1 / \sqrt{8\,\mathrm{std}^2 n^2}\bigr)

    is the probability of the cell of width 1 / n around the mean, in one dimension.

    Parameters
    ----------
    std : float or array of shape (...)
        Standard deviations, in units of the side of the grid.
    resolution : array of shape (L,)
        Numbers n of cells per side, for every level.

    Returns
    -------
    array of shape (..., L)
        Weights from 0 to 1; 1 where the standard deviation is 0.

    Raises
    ------
    ValueError
        If a standard deviation is negative, a resolution is not positive, or a value is not finite.

    References
    ----------
    Barron et al., "Zip-NeRF: Anti-aliased grid-based neural radiance fields", ICCV 2023.

    Examples
    --------
    >>> from spectralkit.rays import downweight
    >>> downweight([0.0, 0.01], [16, 256]).round(3)
    array([[1.   , 1.   ],
           [0.998, 0.155]])
    """
    std, resolution = alike(std=std, resolution=resolution)
    if resolution.ndim != 1:
        raise ValueError(f"resolution must be a list of numbers, shape (L,), got shape {tuple(resolution.shape)}.")
    check_not_negative(std, "std", "Pass standard deviations.")
    refuse(
        resolution <= 0,
        "resolution must be positive, but it is {value:.6g}{where}. Pass numbers of cells per side.",
        value=resolution,
    )
    blur = math.sqrt(8) * std[..., None] * resolution
    # below 0.1 the weight is 1 in float64; 1 / 0 would give it a slope of infinity times zero
    argument = 1 / namespace(blur).where(blur > 0.1, blur, 0.1)
    return argument.erf() if is_torch(argument) else special.erf(argument)


def _angles(shape: tuple[int, ...], random_state: Any) -> np.ndarray:
    """Directions of the six points off the axis, in radians; they broadcast to (*shape, 6)."""
    if random_state is None:
        odd = np.arange(shape[-1])[:, None] % 2 == 1 if shape else np.False_
        return np.where(odd, math.pi * 5 / 3 - (_AROUND + math.pi / 6), _AROUND)
    rng = random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)
    turn, side = rng.uniform(size=(2, *shape, 1))
    return np.where(side < 0.5, 1.0, -1.0) * (_AROUND + 2 * math.pi * turn)


def _axes_across(directions: Any) -> tuple[Any, Any]:
    """Two unit vectors at right angles to the directions and to each other, as Duff et al. (JCGT 2017) build them.

    There is no fixed vector that a direction could be parallel to: the denominator is between 1 and 2.
    """
    xp = namespace(directions)
    unit = unit_vectors(directions)
    x, y, z = unit[..., 0], unit[..., 1], unit[..., 2]
    sign = xp.where(z >= 0, xp.ones_like(z), -xp.ones_like(z))
    a = -1 / (sign + z)
    b = x * y * a
    first = xp.stack([1 + sign * x**2 * a, sign * b, -sign * x], axis=-1)
    return first, xp.stack([b, sign + y**2 * a, -y], axis=-1)
