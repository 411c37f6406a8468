"""Shapley values of a sum of waves, block by block of rows."""

from __future__ import annotations

import numpy as np

from spectralkit._parallel import for_row_blocks
from spectralkit.explanation._waves import WaveSum, write_waves

# Complex numbers in each of the four arrays that products work in. Smaller ones would stay closer to the processor, but
# the calls on them would take longer than the products.
BLOCK = 1 << 16
WAVE_BLOCKS = 8  # so many times as many rows share the calls that make their waves


def shapley_values(waves: WaveSum, characteristic: np.ndarray, near: np.ndarray, n_jobs: int | None) -> np.ndarray:
    r"""Shapley values (n, d, t) of rows given relative to the centre, with `characteristic` (d, m) of the columns.

    The average over all orders in which columns may become known is an integral over the probability t that each other
    column is known already (Owen's multilinear extension):

    .. math:: \int_0^1 (e_p - \varphi_p) \prod_{q \ne p} \bigl(\varphi_q + t (e_q - \varphi_q)\bigr)\, dt

    for each wave. The integrand is a polynomial of degree d - 1, for which ceil(d / 2) Gauss nodes are exact.
    """
    out = np.zeros((*near.shape, waves.n_targets))
    for nodes, columns in waves.groups:
        if len(columns):
            _add_group(waves, nodes, columns, characteristic, near, n_jobs, out)
    return out


def _add_group(
    waves: WaveSum,
    nodes: slice,
    columns: np.ndarray,
    characteristic: np.ndarray,
    near: np.ndarray,
    n_jobs: int | None,
    out: np.ndarray,
) -> None:
    """Add what the waves of one group, which depend on the same columns, give to these columns."""
    most = max(1, BLOCK // len(columns))
    parts = [slice(start, min(start + most, nodes.stop)) for start in range(nodes.start, nodes.stop, most)]
    few_rows = max(1, most // (parts[0].stop - parts[0].start))
    rule = _gauss_legendre(-(-len(columns) // 2))
    size = 2 * len(near) * len(columns) * (nodes.stop - nodes.start)

    def explain(rows: slice) -> None:
        for part in parts:
            mean = characteristic[columns, None, part]
            changes = np.empty((len(columns), rows.stop - rows.start, mean.shape[2]), dtype=np.complex128)
            cosines_sines = np.empty((changes.shape[1], 2 * changes.shape[2]))
            for p, column in enumerate(columns):
                write_waves(near[rows, column, None], waves.frequencies[column, None, part], cosines_sines, size)
                changes[p].real = cosines_sines[:, : mean.shape[2]]
                changes[p].imag = cosines_sines[:, mean.shape[2] :]
            changes -= mean
            work = np.empty((3, len(columns), few_rows, mean.shape[2]), dtype=np.complex128)
            for start in range(0, changes.shape[1], few_rows):
                change = changes[:, start : start + few_rows]
                change *= _mean_products_of_the_others(mean, change, rule, work[:, :, : change.shape[1]])
            out[rows, columns] += waves.real_part(changes, part).swapaxes(0, 1)

    for_row_blocks(explain, len(near), WAVE_BLOCKS * few_rows, n_jobs)


def _mean_products_of_the_others(
    mean: np.ndarray, change: np.ndarray, rule: list[tuple[float, float]], work: np.ndarray
) -> np.ndarray:
    """For each p the mean over t of the product over all q but p of ``mean_q + t change_q``, in an array of `work`.

    Products from the left meet products from the right; dividing by a factor would fail where it is zero.
    """
    total, factors, left = work
    right, product = np.empty_like(change[0]), np.empty_like(change[0])
    total[...] = 0.0
    last = len(change) - 1
    for t, weight in rule:
        np.multiply(change.view(np.float64), t, out=factors.view(np.float64))  # a complex product by t costs more
        factors += mean
        left[0] = weight
        for p in range(last):
            np.multiply(left[p], factors[p], out=left[p + 1])
        total[last] += left[last]
        right[...] = factors[last]
        for p in range(last - 1, -1, -1):
            np.multiply(left[p], right, out=product)
            total[p] += product
            right *= factors[p]
    return total


def _gauss_legendre(n: int) -> list[tuple[float, float]]:
    """Nodes and weights on the interval from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return list(zip((1 + nodes) / 2, weights / 2, strict=True))
