"""Deterministic rules: Gauss quadrature of the measure, and an equispaced grid for a bounded domain."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from spectralkit.rules._base import DEFAULT_COMPONENTS, Nodes, Rule
from spectralkit.spectra import SpectralMeasure


class Gauss(Rule):
    r"""Gauss quadrature of the measure: exact for polynomials in the frequencies, so for short lags.

    In d columns it is the tensor product of q-point rules, :math:`q^d \le n_{\mathrm{components}}` with q even and at
    most 512; points whose weight is below rounding are left out. The error is below rounding for lags up to some
    multiple of :math:`\sqrt q` lengthscales, and as large as the kernel beyond: look at the extent of the data before
    you choose it. Widths do not nest.

    References
    ----------
    M. Mutný and A. Krause, "Efficient high dimensional Bayesian optimization with additivity and quadrature Fourier
    features", NeurIPS 2018.
    W. Gautschi, *Orthogonal Polynomials: Computation and Approximation*, Oxford University Press, 2004, section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import Gauss
    >>> chosen = Gauss()(Gaussian(1.0), n_components=4, d=1)
    >>> np.sort(chosen.frequencies[:, 0]).round(6), float(chosen.weights.sum().round(12))
    (array([0.741964, 2.334414]), 1.0)
    """

    requires: ClassVar[tuple[str, ...]] = ("factors",)
    nested: ClassVar[bool] = False

    def _nodes(self, measure: SpectralMeasure, n_components: int | None, d: int, seed: int) -> Nodes:
        width = DEFAULT_COMPONENTS if n_components is None else n_components
        points = 2 * int((width + 0.5) ** (1 / d) / 2)  # per column; the half guards against 4095.9999
        points = min(points, _MOST_POINTS)
        if points < 2:
            raise ValueError(
                f"rule='gauss' takes at least 2 points per column, {2**d} components in {d} column(s), got "
                f"n_components={width}. Give more components or use rule='qmc'."
            )
        rules = [
            _gauss_points(factor.require("density", "cutoff", "mgf", d=1), points) for factor in measure.factors(d)
        ]
        frequencies = np.stack(np.meshgrid(*(f for f, _ in rules), indexing="ij"), axis=-1).reshape(-1, d)
        weights = np.prod(np.stack(np.meshgrid(*(w for _, w in rules), indexing="ij"), axis=-1), axis=-1).ravel()
        kept = (frequencies[:, 0] > 0) & (weights > _NEGLIGIBLE * weights.sum())  # one of each pair; none is at zero
        scale = float(measure.mass) / weights[kept].sum()
        return Nodes(frequencies[kept], scale * weights[kept])


@dataclass(frozen=True, eq=False, repr=False)
class Grid(Rule):
    r"""An equispaced grid of frequencies, weighted by density times cell volume.

    Its kernel repeats with period :math:`1/h`. With spacing :math:`h = 1/(L + 2R)`, where L is the extent of the data
    and R the lag beyond which the kernel is below a tolerance, no repetition is in sight of the data or of points
    within R of it. The tolerance is the smallest one for which the grid, cut where only that much mass is beyond, has
    at most `n_components` columns. For smooth kernels in few columns nothing is more accurate. Widths do not nest.

    Parameters
    ----------
    domain : float or sequence of d floats, optional
        Extent L of the points in every column, in units of x. Estimators that know their data fill it in.

    References
    ----------
    P. Greengard, M. Rachh and A. Barnett, "Equispaced Fourier representations for efficient Gaussian process regression
    from a billion data points", *SIAM/ASA J. Uncertainty Quantification*, 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import Grid
    >>> chosen = Grid(domain=10.0)(Gaussian(0.3), n_components=64, d=1)
    >>> tau = np.linspace(0, 10, 50)
    >>> k = np.cos(2 * np.pi * np.outer(tau, chosen.frequencies[:, 0])) @ chosen.weights
    >>> bool(np.abs(k - Gaussian(0.3).characteristic(tau[:, None])).max() < 1e-9)
    True
    """

    domain: Any = None

    requires: ClassVar[tuple[str, ...]] = ("density", "cutoff", "support")
    nested: ClassVar[bool] = False

    def for_extent(self, extent: np.ndarray) -> Grid:
        """Return the grid for data of this extent, unless a domain was given.

        Parameters
        ----------
        extent : ndarray of shape (d,)
            Largest minus smallest value of every column.

        Returns
        -------
        Grid
            With its domain.
        """
        return self if self.domain is not None else replace(self, domain=tuple(map(float, extent)))

    def _nodes(self, measure: SpectralMeasure, n_components: int | None, d: int, seed: int) -> Nodes:
        width = DEFAULT_COMPONENTS if n_components is None else n_components
        extent = self._extent(d)
        reach = measure.support(0.5, d)
        if not np.isfinite(reach).all():
            raise ValueError(
                f"rule='grid' needs a kernel that decays in every column, but {measure!r} does not in column "
                f"{int(np.argmax(~np.isfinite(reach)))}. Use rule='atoms' or rule='qmc'."
            )

        def spacing_and_steps(tol: float) -> tuple[np.ndarray, np.ndarray]:
            spacing = 1 / (extent + 2 * measure.support(tol, d))
            return spacing, np.ceil(measure.cutoff(tol, d) / spacing)

        def fits(tol: float) -> bool:
            return np.prod(2 * spacing_and_steps(tol)[1] + 1) + 1 <= width

        if not fits(_LARGEST_TOL):
            needed = np.prod(2 * spacing_and_steps(_LARGEST_TOL)[1] + 1) + 1
            raise ValueError(
                f"rule='grid' needs at least {needed:.0f} components for {measure!r} on a domain of "
                f"{extent.tolist()}, got n_components={width}. Give more components or use rule='qmc'."
            )
        spacing, steps = spacing_and_steps(_smallest(fits, _SMALLEST_TOL, _LARGEST_TOL))
        axes = [h * np.arange(-s, s + 1) for h, s in zip(spacing, steps, strict=True)]
        frequencies = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
        frequencies = frequencies[len(frequencies) // 2 :]  # the middle one is zero, and those before it are its mirror
        weights = measure.density(frequencies) * np.prod(spacing)
        if not np.isfinite(weights).all():
            raise ValueError(f"rule='grid' needs a finite density, but that of {measure!r} is not. Use rule='qmc'.")
        weights[1:] *= 2
        return Nodes(frequencies, weights)

    def _extent(self, d: int) -> np.ndarray:
        if self.domain is None:
            raise ValueError("rule='grid' needs a domain, the extent of the points. Use Grid(domain=...).")
        domain = np.asarray(self.domain, dtype=float)
        if domain.shape not in ((), (d,)) or not np.isfinite(domain).all() or (domain < 0).any():
            raise ValueError(f"Grid: domain must be one finite length, or {d}, one per column, got {self.domain!r}.")
        return np.full(d, domain)

    def __repr__(self) -> str:
        return "Grid()" if self.domain is None else f"Grid(domain={np.asarray(self.domain).tolist()!r})"


_SMALLEST_TOL, _LARGEST_TOL = 1e-15, 0.5
_MOST_POINTS, _NEGLIGIBLE = 512, 1e-18


def _smallest(fits: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest tolerance that fits, on a logarithmic scale; `high` does."""
    if fits(low):
        return low
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _gauss_points(measure: SpectralMeasure, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss rule with an even number of points for a measure in one column.

    By symmetry it is the rule with half the points in t = omega^2: Lanczos' process on the density, sampled on a grid
    that is fine enough to be exact and reaches as far as float64 does, gives the recurrence of its polynomials.
    """
    samples = 2000 + int(300 * math.sqrt(count))  # the polynomials oscillate about sqrt(count) times per sigma
    omega = float(measure.cutoff(1e-290, 1)[0]) * (np.arange(samples) + 0.5) / samples
    density = measure.density(omega[:, None])
    t = omega**2
    vectors = np.empty((count // 2, samples))
    vectors[0] = np.sqrt(density / density.sum())
    diagonal, beside = np.empty(count // 2), np.empty(count // 2 - 1)
    for k in range(count // 2):
        v = t * vectors[k]
        diagonal[k] = v @ vectors[k]
        if k + 1 < count // 2:
            for _ in range(2):  # twice is enough to keep them orthogonal to rounding
                v -= vectors[: k + 1].T @ (vectors[: k + 1] @ v)
            beside[k] = np.linalg.norm(v)
            vectors[k + 1] = v / beside[k]
    squares, rotation = linalg.eigh_tridiagonal(diagonal, beside)
    roots, weights = np.sqrt(np.maximum(squares, 0)), rotation[0] ** 2 / 2
    return np.concatenate([-roots[::-1], roots]), np.concatenate([weights[::-1], weights])
