"""Contraction of unbounded space into a ball."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralkit._validation import as_points
from spectralkit._xp import convert, namespace
from spectralkit.rays._arrays import alike, check_not_negative, common_shape, norms, outer, projection_across, refuse


def contract(X: Any, covariance: Any = None) -> Any:
    r"""Contract unbounded space into a ball of radius 2, and covariances along with it.

    .. math:: z = x \;\text{ if } \lvert x\rvert \le 1, \;\text{ else }\;
        \Bigl(2 - \frac1{\lvert x\rvert}\Bigr)\frac{x}{\lvert x\rvert}

    The covariance becomes :math:`J S J^\top` with the Jacobian J, which outside the unit ball scales by
    :math:`1/\lvert x\rvert^2` along x and by :math:`(2\lvert x\rvert - 1)/\lvert x\rvert^2` across.

    Parameters
    ----------
    X : array of shape (..., d)
        Points.
    covariance : array of shape (..., d, d), optional
        Covariances S of Gaussians around the points.

    Returns
    -------
    z : array of shape (..., d)
        The contracted points. Far points are at 2 to rounding: from a distance of about 1e7 on in float32.
    covariance : array of shape (..., d, d)
        Their covariances to first order; only returned if `covariance` is given.

    Raises
    ------
    ValueError
        If shapes do not agree or a value is not finite.

    References
    ----------
    Barron et al., "Mip-NeRF 360: Unbounded anti-aliased neural radiance fields", CVPR 2022.

    Examples
    --------
    >>> from spectralkit.rays import contract
    >>> contract([[0.0, 0.5], [0.0, 4.0]])
    array([[0.  , 0.5 ],
           [0.  , 1.75]])
    """
    if covariance is None:
        X = as_points(alike(X=X)[0], "X")
    else:
        X, covariance = alike(X=X, covariance=covariance)
        d = as_points(X, "X").shape[-1]
        if covariance.shape[-2:] != (d, d):
            raise ValueError(
                f"covariance must have shape (..., {d}, {d}), as X has {d} column(s), got {tuple(covariance.shape)}."
            )
        common_shape(X=X.shape[:-1], covariance=covariance.shape[:-2])
    length = norms(X, 1.0)  # 1 inside the ball, where the formulas of the outside then give X
    unit = X / length
    z = (2 - 1 / length) * unit
    if covariance is None:
        return z
    length = length[..., None]
    outside = (2 - 1 / length) / length * projection_across(unit) + (1 / length) ** 2 * outer(unit, unit)
    jacobian = namespace(X).where(length > 1, outside, convert(np.eye(d), X))
    result = jacobian @ covariance @ jacobian  # the Jacobian is symmetric
    return z, (result + result.mT) / 2


def uncontract(Z: Any) -> Any:
    r"""Undo the contraction: :math:`x = z / (2\lvert z\rvert - \lvert z\rvert^2)` outside the unit ball.

    Parameters
    ----------
    Z : array of shape (..., d)
        Contracted points, of norm less than 2.

    Returns
    -------
    array of shape (..., d)
        Points.

    Raises
    ------
    ValueError
        If a point has a norm of 2 or more, or a value is not finite.

    Examples
    --------
    >>> from spectralkit.rays import uncontract
    >>> uncontract([[0.0, 0.5], [0.0, 1.75]])
    array([[0. , 0.5],
           [0. , 4. ]])
    """
    Z = as_points(alike(Z=Z)[0], "Z")
    length = norms(Z, 1.0)
    refuse(
        length[..., 0] >= 2,
        "Z must be inside the ball of radius 2, into which contract maps all space, but the norm{where} is {norm:.6g}. "
        "Pass contracted points; those from very far away round to 2 and cannot be undone.",
        norm=length[..., 0],
    )
    return Z / (length * (2 - length))


def contract_std(X: Any, std: Any) -> Any:
    r"""Contract standard deviations of isotropic Gaussians, keeping the volume of the contracted ones.

    .. math:: \mathrm{std}\,\lvert\det J\rvert^{1/d}
        = \mathrm{std}\,(2\lvert x\rvert - 1)^{(d - 1)/d} / \lvert x\rvert^2 \quad\text{where } \lvert x\rvert > 1

    Parameters
    ----------
    X : array of shape (..., d)
        Points, not yet contracted.
    std : array of shape (...)
        Standard deviations around them, in units of x.

    Returns
    -------
    array of shape (...)
        Standard deviations around the contracted points.

    Raises
    ------
    ValueError
        If shapes do not agree, a value is not finite, or a standard deviation is negative.

    References
    ----------
    Barron et al., "Zip-NeRF: Anti-aliased grid-based neural radiance fields", ICCV 2023.

    Examples
    --------
    >>> from spectralkit.rays import contract_std
    >>> round(float(contract_std([4.5, 0.0, 0.0], 81.0)), 9)
    16.0
    """
    X, std = alike(X=X, std=std)
    d = as_points(X, "X").shape[-1]
    check_not_negative(std, "std", "Pass standard deviations.")
    common_shape(X=X.shape[:-1], std=std.shape)
    length = norms(X, 1.0)[..., 0]
    return std * (2 - 1 / length) ** ((d - 1) / d) * length ** (-(d + 1) / d)
