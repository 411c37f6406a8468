"""Sobol indices of a sum of waves, from second moments of its waves column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spectralkit._parallel import for_row_blocks
from spectralkit.explanation._waves import ROWS_PER_BLOCK, IndependentColumns, WaveSum, write_waves

TILE = 128  # waves on each side of a tile


@dataclass(frozen=True)
class SobolIndices:
    """Shares of the variance of a function of independent columns.

    Attributes
    ----------
    columns : tuple of tuple of int
        The sets of columns, one for each index.
    variance : float or ndarray of shape (t,)
        Variance of the function, one for each target if there are several.
    first_order : ndarray of shape (len(columns),) or (len(columns), t)
        Share that is explained once the columns of the set are known: ``Var(E[f | x_S]) / Var(f)``. Of a set of several
        columns this is also called the closed index.
    total : ndarray of shape (len(columns),) or (len(columns), t)
        Share that is lost when only the columns of the set are unknown: ``E[Var(f | x_rest)] / Var(f)``.
    interaction : ndarray of shape (len(columns),) or (len(columns), t)
        Share of the term of the set alone in the functional analysis of variance, without what any smaller set
        explains. Of one column this is the first-order index, of two the second-order index.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from spectralkit import FourierFeatures
    >>> from spectralkit.explanation import FourierExplanation
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = make_pipeline(FourierFeatures(random_state=0), Ridge(0.01)).fit(X, X[:, 0] * X[:, 1])
    >>> indices = FourierExplanation(model, X).sobol_indices([0, 1, (0, 1)])
    >>> indices.columns
    ((0,), (1,), (0, 1))
    >>> bool(indices.interaction[2] > 0.9), bool(abs(indices.interaction.sum() - 1) < 1e-12)
    (True, True)
    """

    columns: tuple[tuple[int, ...], ...]
    variance: Any
    first_order: np.ndarray
    total: np.ndarray
    interaction: np.ndarray


def variances(
    waves: WaveSum,
    characteristic: np.ndarray,
    background: IndependentColumns,
    sets: Sequence[tuple[int, ...]],
    n_jobs: int | None,
) -> np.ndarray:
    r"""The variance of f, then of every set the first-order, total and interaction part: (1 + 3 len(sets), t).

    With a factor :math:`e_p` for each column of a wave, the moments of two waves are products over columns of
    :math:`A_p = E[e_{jp} \bar e_{kp}] = \varphi_{jp} \bar\varphi_{kp} + K_p`, and the same without the bar. All
    parts are written in the covariances :math:`K_p`, so that none is a difference of large numbers.
    """
    C, phi = waves.coefficients, characteristic
    tiles = [slice(start, start + TILE) for start in range(0, len(C), TILE)]
    pairs = [(J, K) for k, K in enumerate(tiles) for J in tiles[: k + 1]]
    out = np.empty((len(pairs), 1 + 3 * len(sets), waves.n_targets))

    def add_up(blocks: slice) -> None:
        for i in range(blocks.start, blocks.stop):
            J, K = pairs[i]
            with_bar, without = _covariances(waves.frequencies, phi, background, J, K)
            out[i] = _parts(C[J], phi[:, J], C[K].conj(), phi[:, K].conj(), with_bar, sets)
            out[i] += _parts(C[J], phi[:, J], C[K], phi[:, K], without, sets)
            if J is K:
                out[i] /= 2  # of the other tiles, the mirror image below the diagonal is not among the pairs

    for_row_blocks(add_up, len(pairs), 1, n_jobs)
    return out.sum(axis=0)


def _covariances(
    frequencies: np.ndarray, characteristic: np.ndarray, background: IndependentColumns, J: slice, K: slice
) -> tuple[np.ndarray, np.ndarray]:
    """E[(e_j - phi_j) (e_k - phi_k)] of every column with and without a bar on the second factor, (d, len(J), len(K)).

    One real product of cosines and sines holds both.
    """
    d, rows, columns = len(frequencies), frequencies[:, J].shape[1], frequencies[:, K].shape[1]
    with_bar = np.zeros((d, rows, columns), dtype=np.complex128)
    without = np.zeros_like(with_bar)
    for p, (values, weights) in enumerate(zip(background.values, background.weights, strict=True)):
        if len(values) == 1 or not (frequencies[p, J].any() and frequencies[p, K].any()):
            continue
        G = np.zeros((2 * rows, 2 * columns))
        for start in range(0, len(values), ROWS_PER_BLOCK):
            block = slice(start, start + ROWS_PER_BLOCK)
            size = 2 * frequencies.shape[1] * len(values)
            first = _centred(values[block], frequencies[p, None, J], characteristic[p, J], size)
            second = first if J is K else _centred(values[block], frequencies[p, None, K], characteristic[p, K], size)
            G += (first * weights[block, None]).T @ second
        cc, cs, sc, ss = G[:rows, :columns], G[:rows, columns:], G[rows:, :columns], G[rows:, columns:]
        with_bar[p].real, with_bar[p].imag = cc + ss, sc - cs
        without[p].real, without[p].imag = cc - ss, sc + cs
    return with_bar, without


def _centred(values: np.ndarray, frequencies: np.ndarray, mean: np.ndarray, size: int) -> np.ndarray:
    out = np.empty((len(values), 2 * len(mean)))
    write_waves(values[:, None], frequencies, out, size)
    out -= np.concatenate([mean.real, mean.imag])
    return out


def _parts(
    left: np.ndarray,
    phi_left: np.ndarray,
    right: np.ndarray,
    phi_right: np.ndarray,
    covariances: np.ndarray,
    sets: Sequence[tuple[int, ...]],
) -> np.ndarray:
    """What `variances` returns, from one tile: ``Re sum C_j C_k moment_jk``."""
    d = len(covariances)
    everything = tuple(range(d))
    moments = phi_left[:, :, None] * phi_right[:, None, :] + covariances
    before = np.ones((d + 1, *moments.shape[1:]), dtype=np.complex128)  # products of the moments of columns < p
    after = np.ones_like(before)  # and >= p, so that all columns but one take a single product
    for p in range(d):
        np.multiply(before[p], moments[p], out=before[p + 1])
        np.multiply(after[d - p], moments[d - 1 - p], out=after[d - 1 - p])

    def form(matrix: np.ndarray, known: tuple[int, ...] = everything) -> np.ndarray:
        """The quadratic form in the coefficients, times the means over the columns that are not `known`."""
        a = left * np.delete(phi_left, known, axis=0).prod(axis=0)[:, None]
        b = right * np.delete(phi_right, known, axis=0).prod(axis=0)[:, None]
        return ((matrix.T @ a) * b).sum(axis=0).real

    def covariance_of(columns: tuple[int, ...]) -> np.ndarray:
        """Product of moments minus product of means, one column after the other: A_1 A_2 - P_1 P_2 and so on."""
        total = np.zeros(covariances.shape[1:], dtype=np.complex128)
        a, b = np.ones(len(left), dtype=np.complex128), np.ones(len(right), dtype=np.complex128)
        for p in columns:
            total = total * moments[p] + np.multiply.outer(a, b) * covariances[p]
            a, b = a * phi_left[p], b * phi_right[p]
        return total

    out = [form(covariance_of(everything))]
    for columns in sets:
        own = covariance_of(columns)
        first, last = min(columns), max(columns)
        total = own * before[first] * after[last + 1]
        for p in set(range(first, last)).difference(columns):
            total *= moments[p]
        out += [form(own, columns), form(total), form(covariances[list(columns)].prod(axis=0), columns)]
    return np.stack(out)
