"""Structured orthogonal frequencies: products by fast Walsh-Hadamard transforms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectralkit import _loops
from spectralkit.rules._random import RandomRule
from spectralkit.rules._streams import stream
from spectralkit.spectra import SpectralMeasure


class Hadamard(RandomRule):
    r"""Nearly orthogonal directions whose products with x cost :math:`O(\log d)` per feature instead of O(d).

    .. math:: \omega_j \cdot x = r_j \Bigl(\frac{H D_1 H D_2 H D_3}{D^{3/2}}\, (\sigma \circ x)\Bigr)_j

    with the Walsh-Hadamard matrix H of size D, the next power of two from d, and diagonal matrices of random signs. The
    lengths r are those of the family in D columns, drawn independently, so that the norms are right. Directions are
    uniform only in the limit of many columns: the kernel is off by a few thousandths at d = 256, and by less above. For
    hundreds of columns and more; below that a dense product is as fast.

    References
    ----------
    F. X. Yu et al., "Orthogonal random features", NIPS 2016.
    Q. Le, T. Sarlós and A. Smola, "Fastfood: approximating kernel expansions in loglinear time", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import Gaussian
    >>> from spectralkit.rules import Hadamard
    >>> chosen = Hadamard()(Gaussian(0.1), n_components=16, d=8, seed=0)
    >>> x = np.arange(8.0)[None]
    >>> bool(np.allclose(chosen.products(x), x @ chosen.frequencies.T))
    True
    """

    requires = ("radial",)

    def _frequencies(self, measure: SpectralMeasure, n: int, d: int, seed: int) -> np.ndarray:
        return self._products(measure, n, d, seed)(np.eye(d)).T

    def _products(self, measure: SpectralMeasure, n: int, d: int, seed: int) -> _HadamardProducts:
        size = 1 << (d - 1).bit_length()
        blocks = -(-n // size)
        signs = 1.0 - 2.0 * stream(seed, d, "directions").integers(0, 2, size=(blocks, 3, size))
        u = stream(seed, d, "radii").random((n, measure.polar_uniforms(d)))
        sigma = np.full(d, measure.get_params()["sigma"], dtype=float)
        return _HadamardProducts(sigma, signs, measure.radii(u, size))


@dataclass(frozen=True)
class _HadamardProducts:
    """``X @ frequencies.T`` for the frequencies of the rule."""

    sigma: np.ndarray  # (d,)
    signs: np.ndarray  # (blocks, 3, D)
    radii: np.ndarray  # (n,)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        size = self.signs.shape[2]
        scaled = np.zeros((len(X), size))
        scaled[:, : X.shape[1]] = X * self.sigma
        out = np.empty((len(X), len(self.radii)))
        for block, (first, second, third) in enumerate(self.signs):
            start = block * size
            products = scaled * third
            _loops.walsh_hadamard(products)
            products *= second
            _loops.walsh_hadamard(products)
            products *= first
            _loops.walsh_hadamard(products)
            radii = self.radii[start : start + size] / size**1.5
            np.multiply(products[:, : len(radii)], radii, out=out[:, start : start + len(radii)])
        return out
