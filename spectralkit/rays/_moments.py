"""Pieces of rays as Gaussians."""

from __future__ import annotations

from typing import Any, NamedTuple

from spectralkit._xp import namespace
from spectralkit.rays._arrays import alike, check_intervals, check_rays, expand, outer, projection_across, unit_vectors


class RayMoments(NamedTuple):
    """Mean and variances of a piece of a ray with a cross-section.

    Parameters
    ----------
    t_mean : float or array
        Mean along the ray, in multiples of its direction vector.
    t_var : float or array
        Variance along the ray, in multiples of the direction vector, squared.
    r_var : float or array
        Variance in each direction across the ray, in squared units of x.

    Examples
    --------
    >>> from spectralkit.rays import cylinder
    >>> moments = cylinder(0.0, 6.0, radius=2.0)
    >>> float(moments.t_mean), float(moments.t_var), float(moments.r_var)
    (3.0, 3.0, 1.0)
    """

    t_mean: Any
    t_var: Any
    r_var: Any


def conical_frustum(t0: Any, t1: Any, radius: Any) -> RayMoments:
    r"""Find the moments of a uniform conical frustum, the piece of a cone of rays through a pixel.

    .. math:: \mathrm{E}\,t = \tfrac34\,\frac{t_1^4 - t_0^4}{t_1^3 - t_0^3},\quad
        \mathrm{E}\,t^2 = \tfrac35\,\frac{t_1^5 - t_0^5}{t_1^3 - t_0^3},\quad
        \mathrm{r\_var} = \tfrac14\,\mathrm{radius}^2\,\mathrm{E}\,t^2

    Parameters
    ----------
    t0, t1 : float or array
        Distances of its two ends from the apex, ``0 <= t0 <= t1``, in multiples of the direction vector.
    radius : float or array
        Radius of the cone at t = 1, in units of x. The cone whose variance is that of a square pixel has
        ``2 / sqrt(12)`` times the width of the pixel at t = 1, as in mip-NeRF.

    Returns
    -------
    RayMoments
        Moments, all of the shape to which the arguments broadcast.

    Raises
    ------
    ValueError
        If an argument is negative or not finite, or t1 is less than t0.

    Notes
    -----
    With m and h, the middle and half the length, and ``s = h / m``, at most 1, the moments are sums of positive terms,
    so that float32 keeps its digits however thin and far away the piece is.

    .. math:: m\,\Bigl(1 + \frac{2 s^2}{3 + s^2}\Bigr),\quad
        \tfrac35 h^2\,\frac{(1 - s^2)^2 + 4}{(3 + s^2)^2},\quad
        \tfrac{3}{20}\,(\mathrm{radius}\,m)^2\,\frac{5 + 10 s^2 + s^4}{3 + s^2}

    References
    ----------
    Barron et al., "Mip-NeRF: A multiscale representation for anti-aliasing neural radiance fields", ICCV 2021.

    Examples
    --------
    >>> from spectralkit.rays import conical_frustum
    >>> t_mean, t_var, r_var = conical_frustum(2.0, 3.0, radius=0.1)
    >>> round(float(t_mean), 6), round(float(t_var), 6), round(float(r_var), 6)
    (2.565789, 0.079882, 0.016658)
    """
    t0, t1, radius = _pieces(t0, t1, radius)
    middle, half, ss = proportions(t0, t1)
    t_var = 0.6 * half**2 * (5 - 2 * ss + ss**2) / (3 + ss) ** 2
    r_var = 0.15 * (radius * middle) ** 2 * (5 + 10 * ss + ss**2) / (3 + ss)
    return RayMoments(middle * (1 + 2 * ss / (3 + ss)), t_var, r_var)


def cylinder(t0: Any, t1: Any, radius: Any) -> RayMoments:
    r"""Find the moments of a uniform cylinder around a piece of a ray.

    .. math:: \tfrac12(t_0 + t_1),\quad \tfrac1{12}(t_1 - t_0)^2,\quad \tfrac14\,\mathrm{radius}^2

    Parameters
    ----------
    t0, t1 : float or array
        Distances of its two ends, ``0 <= t0 <= t1``, in multiples of the direction vector.
    radius : float or array
        Radius, in units of x.

    Returns
    -------
    RayMoments
        Moments, all of the shape to which the arguments broadcast.

    Raises
    ------
    ValueError
        If an argument is negative or not finite, or t1 is less than t0.

    Examples
    --------
    >>> from spectralkit.rays import cylinder
    >>> float(cylinder(1.0, 4.0, radius=2.0).t_var)
    0.75
    """
    t0, t1, radius = _pieces(t0, t1, radius)
    return RayMoments(t0 + (t1 - t0) / 2, (t1 - t0) ** 2 / 12, radius**2 / 4)


def gaussians_on_rays(origins: Any, directions: Any, moments: RayMoments) -> tuple[Any, Any]:
    r"""Place moments on their rays: the mean and the covariance of a Gaussian in space.

    .. math:: o + \mathrm{t\_mean}\,v,\qquad
        \mathrm{t\_var}\,v v^\top + \mathrm{r\_var}\,\Bigl(I - \frac{v v^\top}{\lvert v\rvert^2}\Bigr)

    Parameters
    ----------
    origins, directions : array of shape (..., d)
        Rays o + t v. Directions are not normalised, as in mip-NeRF: t counts multiples of v, and the variance along the
        ray is ``t_var |v|^2`` in squared units of x. `r_var` is in these units already, whatever the length of v.
    moments : RayMoments
        Moments of shape (...). Rays of shape (n, d) with several pieces each need an axis for them:
        ``origins[:, None, :]``.

    Returns
    -------
    mean : array of shape (..., d)
        Means.
    covariance : array of shape (..., d, d)
        Covariances.

    Raises
    ------
    ValueError
        If shapes do not agree, a value is not finite, or a direction is zero.

    Examples
    --------
    >>> from spectralkit.rays import cylinder, gaussians_on_rays
    >>> mean, covariance = gaussians_on_rays([0.0, 1.0], [2.0, 0.0], cylinder(1.0, 7.0, radius=2.0))
    >>> mean
    array([8., 1.])
    >>> covariance
    array([[12., 0.],
           [ 0., 1.]])
    """
    t_mean, t_var, r_var = moments
    arrays = alike(origins=origins, directions=directions, t_mean=t_mean, t_var=t_var, r_var=r_var)
    origins, directions, t_mean, t_var, r_var = arrays
    shape = check_rays(origins, directions, t_mean=t_mean, t_var=t_var, r_var=r_var)
    d = directions.shape[-1]
    along, across = outer(directions, directions), projection_across(unit_vectors(directions))
    covariance = t_var[..., None, None] * along + r_var[..., None, None] * across
    mean = origins + t_mean[..., None] * directions
    return expand(mean, (*shape, d)), expand(covariance, (*shape, d, d))


def proportions(t0: Any, t1: Any) -> tuple[Any, Any, Any]:
    """Middle and half the length of frustums, and the square of their ratio; 0 at an apex without length."""
    half = (t1 - t0) / 2
    middle = t0 + half
    return middle, half, (half / namespace(middle).where(middle > 0, middle, 1.0)) ** 2


def _pieces(t0: Any, t1: Any, radius: Any) -> list[Any]:
    """The checked arguments in one shape."""
    arrays = alike(t0=t0, t1=t1, radius=radius)
    check_intervals(*arrays)
    return namespace(*arrays).broadcast_arrays(*arrays)
