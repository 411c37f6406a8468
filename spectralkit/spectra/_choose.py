"""Choosing a part of a measure with a uniform number, without wasting it."""

from __future__ import annotations

from typing import Any

import numpy as np


def choose(u: np.ndarray, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """Choose parts by weight with one uniform number each, and return what is left of that number, again uniform.

    Returns the index (n,) and the rest (n,) in (0, 1). Using the rest instead of a further uniform number keeps the
    dimension of quasi-random points down and makes one part after another well covered.
    """
    edges = np.concatenate([[0.0], np.cumsum(np.asarray(weights, dtype=float))])
    edges /= edges[-1]
    index = np.clip(np.searchsorted(edges, u, side="right") - 1, 0, len(edges) - 2)
    rest = (u - edges[index]) / (edges[index + 1] - edges[index])
    return index, inside_unit_interval(rest)


def choose_signed(u: np.ndarray, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `choose`, with a sign (n, 1) of probability one half each, read off the same uniform number.

    Samplers must draw from the even measure: products of one-sided samples have the wrong kernel.
    """
    index, rest = choose(u, np.repeat(np.asarray(weights, dtype=float), 2))
    return index // 2, rest, 1.0 - 2.0 * (index % 2)[:, None]


def inside_unit_interval(u: np.ndarray) -> np.ndarray:
    """Quantile functions are infinite at 0 and 1; 2**-40 is one in 10**12."""
    return np.clip(np.asarray(u, dtype=np.float64), 2.0**-40, 1 - 2.0**-40)
