"""Sums over sources of kernels times values, for any number of targets, by non-uniform Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from spectralkit._parallel import for_row_blocks
from spectralkit._validation import as_points, is_integer, is_positive_number
from spectralkit.nufft._kernel_grid import (
    TRANSFORM_SHARE,
    UPSAMPLING,
    Squared,
    as_measures,
    bound,
    groups,
    needs,
    total_bytes,
    weights,
)
from spectralkit.nufft._transforms import LARGEST_GRID, _rows_per_block, _sums, _values_at
from spectralkit.spectra import SpectralMeasure

_SMALLEST_TOL, _LARGEST_TOL = 1e-12, 0.1
_BINS = {1: 1 << 16, 2: 1 << 8, 3: 40}  # along each column; their numbers fit 16 bits, which sort fastest


class KernelSums:
    r"""Sums over sources of a kernel times values, in a time that grows with sources plus targets.

    .. math:: S_v(x) = \sum_i k(x - x_i)\, v_i

    for several columns of values, several kernels, and targets anywhere. The kernel is a sum of cosines on an
    equispaced grid of frequencies, weighted by density times cell volume. One non-uniform Fourier transform takes the
    values to the grid, when the object is made; a product with the weights and a second transform take them to the
    targets. Kernels of different scales share the first transform, and wide ones take the middle of its grid only.

    Parameters
    ----------
    measures : SpectralMeasure or list of SpectralMeasure
        The kernels, with a density, a cutoff and a support in d columns.
    X : array of shape (n, d)
        The sources, d from 1 to 3. Computed with in float64, from the middle of their range.
    values : array of shape (n,) or (n, t)
        Real numbers, or t columns of them; two columns cost as much as one.
    tol : float, default=1e-9
        Error of a sum over :math:`k(0)\sum_i|v_i|`, from 1e-12 to 0.1; `bounds` are what it comes to.
    n_jobs : int, optional
        Number of threads, by joblib's convention; it does not change a bit of the result.

    Attributes
    ----------
    measures : tuple of SpectralMeasure
        The kernels.
    bounds : ndarray of shape (s,)
        For each kernel, the largest error of a sum over :math:`\sum_i|v_i|` of its column. A sum that is not larger
        than ``bounds * abs(values).sum(axis=0)`` cannot be told from zero, and may be negative where no term is.
    grids : list of tuple of int
        For each kernel, the number of frequencies along each column.

    Raises
    ------
    CapabilityError
        If a measure lacks a density, a cutoff or a support in d columns.
    ValueError
        If X has more than three columns, a kernel falls off too slowly or its density is infinite at zero, the grid
        would not fit in memory, the shapes do not agree, or a number is not finite.

    See Also
    --------
    data_spectrum : The first transform alone.

    Notes
    -----
    With period P of the sum of cosines, L the extent of the sources and R the support, :math:`P \ge L + 2R` in every
    column: repetitions of the sources are at least R from all targets within R of the sources, and targets further
    away get exactly zero. The error is bounded by the sum of

    * the mass missing on the grid, at most a quarter of `tol` by the cutoff, and computed from the weights;
    * the repetitions, twice (at the lag, and in what is missing): a quarter of `tol`, for a kernel that falls from R on
      at least like the distance to the power -(d + 1) along every column, which is checked between R and 3R;
    * the two transforms, which are asked for `tol` / 40 each: half of `tol`, by measurement of their worst cases;
    * rounding of phases, 5e-15 for every turn over P of a typical frequency, which is above `tol` in one column of very
      many lengths only.

    The bounds are worst cases; errors of many values of both signs are far smaller. For a sum without its own term,
    subtract ``k(0) * values``: the absolute error stays.

    References
    ----------
    P. Greengard, M. Rachh and A. Barnett, "Equispaced Fourier representations for efficient Gaussian process regression
    from a billion data points", *SIAM/ASA J. Uncertainty Quantification*, 2025.
    A. H. Barnett, J. Magland and L. af Klinteberg, "A parallel nonuniform fast Fourier transform library", SIAM J. Sci.
    Comput. 41, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Gaussian
    >>> from spectralkit.nufft import KernelSums
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = np.sin(X[:, 0])
    >>> narrow, wide = Gaussian.from_lengthscale(0.1), Gaussian.from_lengthscale(1.0)
    >>> sums = KernelSums([narrow, wide], X, np.column_stack([y, np.ones(500)]))
    >>> sums.at().shape
    (2, 500, 2)
    >>> bool(np.abs(sums.at([[0.3, 0.1]], which=1)[0, 1] - wide.gram([[0.3, 0.1]], X).sum()) < 500 * sums.bounds[1])
    True
    """

    def __init__(
        self,
        measures: SpectralMeasure | Sequence[SpectralMeasure],
        X: Any,
        values: Any,
        *,
        tol: float = 1e-9,
        n_jobs: int | None = None,
    ) -> None:
        self._transform(measures, as_measures(measures), X, values, tol, n_jobs)
        each = [self._kernels[i][1] for i in range(len(self.measures))]
        self.grids = [found.shape for found in each]
        self.bounds = np.array([bound(m, found, self.tol) for m, found in zip(self.measures, each, strict=True)])

    def _transform(self, given: Any, measures: tuple[Any, ...], X: Any, values: Any, tol: float, n_jobs: Any) -> None:
        """Take the values to the grids of the measures."""
        X, tol = _checked(X, tol)
        values = np.asarray(values)
        if values.ndim not in (1, 2) or len(values) != len(X):
            raise ValueError(f"values must have shape ({len(X)},) or ({len(X)}, t), as X has rows, got {values.shape}.")
        if np.iscomplexobj(values):
            raise ValueError("values must be real. Give the real and the imaginary part as two columns.")
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError("values has NaN or infinite entries. Fill them in or leave the rows out.")
        self.measures, self.tol, self.n_jobs = measures, tol, n_jobs
        self._shape = (isinstance(given, SpectralMeasure), values.ndim == 1)
        self._n_columns = values.shape[1] if values.ndim == 2 else 1
        self._low, self._high = _box(X)
        kernels, chosen = _plan(self.measures, X, tol, -(-self._n_columns // 2))
        self._points, self._order = self._sorted(X)
        packed, self._scales = _packed(values.reshape(len(X), self._n_columns)[self._order])
        self._spectra: list[np.ndarray] = []
        self._kernels: dict[int, tuple[int, np.ndarray]] = {}  # number of the group, weights
        self._periods = [group.period for group in chosen]
        for number, (members, period, largest) in enumerate(chosen):
            for i in members:
                half = tuple(kernels[i].half(period).astype(int))
                self._kernels[i] = (number, weights(self.measures[i], period, half))
            half = tuple(largest.astype(int))
            modes = tuple(2 * h + 1 for h in half)
            first = tuple(-h for h in half)
            self._spectra.append(
                _sums(self._points, packed, 1 / period, first, modes, tol / TRANSFORM_SHARE, n_jobs, UPSAMPLING)
            )

    @classmethod
    def bytes_needed(cls, measures: SpectralMeasure | Sequence[SpectralMeasure], X: Any, *, tol: float = 1e-9) -> int:
        """Tell how much memory the grids take, before anything is computed, or say why the sums cannot be taken.

        Parameters
        ----------
        measures : SpectralMeasure or list of SpectralMeasure
            The kernels.
        X : array of shape (n, d)
            The sources; what matters is their range and their number.
        tol : float, default=1e-9
            Error of a sum over k(0) times the sum of the absolute values.

        Returns
        -------
        int
            Bytes for one or two columns of values on one thread, beside points, values and sums.

        Raises
        ------
        CapabilityError
            If a measure lacks a density, a cutoff or a support in d columns.
        ValueError
            If X has more than three columns, a kernel falls off too slowly, or the grid would not fit in memory.
        """
        X, tol = _checked(X, tol)
        kernels, chosen = _plan(as_measures(measures), X, tol, 1)
        return int(total_bytes(kernels, chosen, 1))

    def at(
        self, targets: Any = None, *, which: int | None = None, derivative: Sequence[int] | None = None
    ) -> np.ndarray:
        """Return the sums at the targets, or derivatives of them.

        Parameters
        ----------
        targets : array of shape (m, d), optional
            Points anywhere; the sources if left out, which is faster than giving them.
        which : int, optional
            Number of the only kernel to be used; all of them if left out.
        derivative : sequence of d int, optional
            How often to differentiate to each column. Errors are larger by as many factors of up to 2 pi times the
            cutoff of the kernel.

        Returns
        -------
        ndarray of shape (m,), (m, t), (s, m) or (s, m, t)
            The axis of kernels is there if a list of them was given and `which` was not, that of columns if the values
            had one.

        Raises
        ------
        ValueError
            If the targets have another number of columns than the sources, a number in them is not finite, or there is
            no such kernel.
        """
        if which is not None and not (is_integer(which, at_least=0) and which < len(self.measures)):
            raise ValueError(f"which must be a number of a kernel, 0 to {len(self.measures) - 1}, got {which!r}.")
        chosen = list(range(len(self.measures))) if which is None else [which]
        if targets is None:
            points, order = self._points, self._order
        else:
            points, order = self._sorted(self._checked_targets(targets))
        angles = {group: _angles(points, self._periods[group]) for group in {self._kernels[i][0] for i in chosen}}
        pairs = -(-self._n_columns // 2)
        out = np.empty((len(chosen), len(points), pairs), dtype=np.complex128)
        tasks = []
        for slot, i in enumerate(chosen):
            rows = _rows_per_block(self._kernels[i][1].size)
            blocks = [slice(start, start + rows) for start in range(0, len(points), rows)]
            tasks += [(slot, i, block, pair) for block in blocks for pair in range(pairs)]
        tasks.sort(key=lambda task: -self._kernels[task[1]][1].size)
        tasks = tasks[::2] + tasks[1::2]  # threads take runs of them, and so share large and small ones

        def work(turn: slice) -> None:
            slot, i, rows, pair = tasks[turn.start]
            where, outside = angles[self._kernels[i][0]]
            sums = self._one(i, pair, [angle[rows] for angle in where], derivative)
            if outside is not None:
                sums[outside[rows]] = 0
            out[slot, order[rows], pair] = sums

        for_row_blocks(work, len(tasks), 1, self.n_jobs)
        sums = out.view(np.float64)[..., : self._n_columns]
        one_kernel, one_column = self._shape
        sums = sums[..., 0] if one_column else sums
        return sums[0] if one_kernel or which is not None else sums

    @classmethod
    def quadratic_forms(
        cls, measures: Any, X: Any, values: Any, *, convolved: bool = False, tol: float = 1e-9, n_jobs: Any = None
    ) -> np.ndarray:
        r"""Return the quadratic forms of the values with the kernel, or with its convolution with itself.

        .. math:: \sum_{ij} v_i v_j\,k(x_i - x_j), \qquad \sum_{ij} v_i v_j\,(k * k)(x_i - x_j) = \int S_v(x)^2\,dx

        The first transform gives both, as integrals of :math:`|\hat v|^2` over the measure or over the square of its
        density. The latter falls faster: kernels are in reach that are too rough for sums.

        Parameters
        ----------
        measures : SpectralMeasure or list of SpectralMeasure
            The kernels.
        X : array of shape (n, d)
            The sources.
        values : array of shape (n,) or (n, t)
            Real numbers, or t columns of them.
        convolved : bool, default=False
            Whether to take :math:`k * k` in place of k.
        tol : float, default=1e-9
            Error over :math:`k(0)\,(\sum_i|v_i|)^2`; for :math:`k * k` over that times :math:`\int|k|`.
        n_jobs : int, optional
            Number of threads.

        Returns
        -------
        ndarray of shape (), (t,), (s,) or (s, t)
            The axis of kernels is there if a list of them was given, that of columns if the values had one.

        Raises
        ------
        CapabilityError, ValueError
            As for the sums.
        """
        sums, kernels = cls.__new__(cls), as_measures(measures)
        sums._transform(measures, tuple(map(Squared, kernels)) if convolved else kernels, X, values, tol, n_jobs)
        out = np.empty((len(kernels), *sums._scales.shape))
        for i, (group, found) in sums._kernels.items():
            cells = found**2 * float(np.prod(sums._periods[group])) if convolved else found
            for pair in range(len(sums._scales)):
                # with G(w) = F(-w), even parts of |F|^2 + F G and |F|^2 - F G are twice |v^|^2 of either column
                F = sums._spectrum(i, pair)
                both, difference = (float(np.vdot(other, F * cells).real) for other in (F, np.flip(F).conj()))
                out[i, pair] = (both + difference) / 2, (both - difference) / 2
        out = (out * sums._scales**2).reshape(len(out), -1)[:, : sums._n_columns]
        return out[tuple(0 if is_one else slice(None) for is_one in sums._shape)]

    def _spectrum(self, i: int, pair: int) -> np.ndarray:
        """The transform of a pair of columns, on the grid of one kernel."""
        full, found = self._spectra[self._kernels[i][0]][pair], self._kernels[i][1]
        middle = (slice((a - b) // 2, (a + b) // 2) for a, b in zip(full.shape, found.shape, strict=True))
        return full[tuple(middle)]

    def _one(self, i: int, pair: int, angles: list[np.ndarray], derivative: Sequence[int] | None) -> np.ndarray:
        """Sums of one pair of columns with one kernel."""
        spectrum = self._spectrum(i, pair) * self._kernels[i][1]
        for axis, times in enumerate(() if derivative is None else derivative):
            count = spectrum.shape[axis]
            omega = (np.arange(count) - count // 2) / self._periods[self._kernels[i][0]][axis]
            shape = [count if j == axis else 1 for j in range(spectrum.ndim)]
            spectrum *= ((2j * math.pi * omega) ** times).reshape(shape)
        sums = _values_at(angles, spectrum, self.tol / TRANSFORM_SHARE, UPSAMPLING)
        columns = sums.view(np.float64).reshape(len(sums), 2)
        columns *= self._scales[pair]
        return sums

    def _checked_targets(self, targets: Any) -> np.ndarray:
        targets = np.asarray(as_points(targets, "targets", rows=True), dtype=np.float64)
        if targets.shape[1] != len(self._low):
            raise ValueError(
                f"targets have {targets.shape[1]} column(s), but the sources have {len(self._low)}; they must agree."
            )
        return targets

    def _sorted(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The points, counted from the centre of the sources, neighbours together; and which rows they were."""
        Z = X - (self._low + self._high) / 2
        if not len(Z):
            return Z, np.arange(0)
        low, high = _box(Z)
        bins = _BINS[Z.shape[1]]
        key = np.zeros(len(Z), dtype=np.int64)
        for column, start, length in zip(Z.T, low, high - low, strict=True):
            key *= bins
            if length > 0:
                key += np.minimum((column - start) / length * bins, bins - 1).astype(np.int64)
        order = np.argsort(key.astype(np.uint16), kind="stable")
        return Z[order], order


def _checked(X: Any, tol: float) -> tuple[np.ndarray, float]:
    if not (is_positive_number(tol) and _SMALLEST_TOL <= tol <= _LARGEST_TOL):
        raise ValueError(f"tol must be a number from {_SMALLEST_TOL:g} to {_LARGEST_TOL:g}, got {tol!r}.")
    return np.asarray(as_points(X, "X", rows=True), dtype=np.float64), float(tol)


def _box(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ends = [(column.min(), column.max()) if len(X) else (0.0, 0.0) for column in X.T]  # far faster than axis=0
    return np.array(ends).T[0], np.array(ends).T[1]


def _plan(measures: tuple[SpectralMeasure, ...], X: np.ndarray, tol: float, transforms: int) -> Any:
    """What the kernels need and the groups that share a transform; refused if they take too much memory together."""
    low, high = _box(X)
    kernels = needs(measures, high - low, tol)
    chosen = groups(kernels, high - low, transforms * len(X), tol)
    if (size := total_bytes(kernels, chosen, transforms)) > LARGEST_GRID:
        raise ValueError(
            f"The grids of {len(measures)} kernel(s) for {transforms} pair(s) of columns would take about "
            f"{size / 2**30:.3g} GiB, and at most {LARGEST_GRID / 2**30:.3g} GiB are allowed. Take fewer at once, or a "
            "larger tol."
        )
    return kernels, chosen


def _angles(points: np.ndarray, period: np.ndarray) -> tuple[list[np.ndarray], np.ndarray | None]:
    """Angles of the points over the period, and which are further from every source than kernels reach, if any."""
    turns = [column / p for column, p in zip(points.T, period, strict=True)]
    outside = np.zeros(len(points), dtype=bool)
    for column in turns:
        outside |= abs(column) > 0.5
    return [np.clip(column, -0.5, 0.5) * (2 * math.pi) for column in turns], outside if outside.any() else None


def _packed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of columns as complex numbers, each column divided by the sum of its absolute values; and these sums.

    Errors of a transform are relative to all that goes into it: a small column would drown beside a large one.
    """
    scales = np.abs(values).sum(axis=0)
    scales[scales == 0] = 1.0
    n, t = values.shape
    packed = np.zeros((n, -(-t // 2)), dtype=np.complex128)
    packed.view(np.float64)[:, :t] = values / scales
    return packed, np.append(scales, np.zeros(t % 2)).reshape(-1, 2)
