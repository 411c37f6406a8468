"""The sampled kernel of a measure: the inner product of Fourier features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spectralkit.kernels._base import MeasureKernel
from spectralkit.kernels._sample import Sample
from spectralkit.maps import fourier
from spectralkit.rules import Nodes, Rule
from spectralkit.spectra import SpectralMeasure


class BochnerKernel(MeasureKernel):
    r"""The sampled kernel of a spectral measure, of finite rank, for `sklearn.gaussian_process`.

    .. math:: k(x, y) = \sum_j a_j \cos\bigl(2\pi\,\omega_j\cdot(x - y)\bigr) = z(x) \cdot z(y)

    The frequencies are drawn once for all: the draw depends on nothing but `seed`, `rule`, `n_components` and the
    number of columns. Clones, pickles and all calls agree, and a parameter moves the frequencies and weights of the
    same draw, so that the likelihood is a smooth function of it. The free parameters, their order in ``theta`` and
    their bounds are those of `SpectralKernel`, which is the limit of many components.

    Parameters
    ----------
    spectrum : SpectralMeasure
        A measure without open parameters. Its parameters are parameters of the kernel: ``spectrum__sigma``,
        ``spectrum__0__sigma``, ...
    n_components : int or None, default=256
        Number of features, the largest rank of a kernel matrix. For an atomic measure an upper limit; None takes all
        its atoms, and 256 features of any other measure.
    rule : str or Rule, default="auto"
        How the frequencies are chosen: "auto", "iid", "qmc", "orthogonal", "atoms", "gauss", ... as for
        `FourierFeatures`.
    seed : int, default=0
        Equal seeds give equal kernels.
    parameter_bounds : dict, "fixed" or None, default=None
        Bounds for optimisation, in natural units: from the name of a parameter (as in ``spectrum.parameters()``) to a
        pair, an array of shape (size, 2), or "fixed". What is not named has (1e-5, 1e5), or (-1e5, 1e5) if real.
        "fixed" on its own fixes everything.
    parameter_scales : dict, optional
        From names of real parameters to the unit, a number or one for each, in which they enter ``theta``; 1 if not
        named. It changes nothing but the steps of an optimiser, which likes all of them to matter about as much.

    Raises
    ------
    TypeError, TemplateError, CapabilityError, ValueError
        When the kernel is used: if spectrum is not a measure, has open parameters or cannot be sampled, or if another
        argument is not what it must be; when it is fitted: if bounds name none of its parameters or are not in order.

    Notes
    -----
    Sums and mixtures are drawn component by component, each with the same number of features, and the weight of a
    component is the weight of its nodes: were nodes shared out by weight, one would jump from component to component
    whenever weights change. The estimate is unbiased for any weights. With m nodes for a component of kernel k, drawn
    independently, its variance at lag :math:`\tau` is :math:`((k(0)^2 + k(0)k(2\tau))/2 - k(\tau)^2)/m`, and that of
    the sum is their sum. For even widths the diagonal is k(0) exactly.

    Atoms are taken as they are by the default rule. An explicit random rule shares nodes out among them by weight, and
    a limit of fewer features than atoms need takes the heaviest: both jump where weights cross.

    With more rows than features the kernel matrix is singular: add a `WhiteKernel`, or give the regressor an ``alpha``.

    References
    ----------
    A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import BochnerKernel, Gaussian
    >>> X = np.linspace(0, 4, 5)[:, None]
    >>> kernel = BochnerKernel(2.0 * Gaussian(0.1), n_components=256)
    >>> Z = kernel.features(X)
    >>> Z.shape, bool(np.allclose(Z @ Z.T, kernel(X)))
    ((5, 256), True)
    >>> bool(np.abs(kernel(X) - (2.0 * Gaussian(0.1)).gram(X)).max() < 0.02)
    True
    """

    def __init__(
        self,
        spectrum: SpectralMeasure,
        n_components: int | None = 256,
        rule: str | Rule = "auto",
        seed: int = 0,
        parameter_bounds: Any = None,
        parameter_scales: Any = None,
    ) -> None:
        self.spectrum = spectrum
        self.n_components = n_components
        self.rule = rule
        self.seed = seed
        self.parameter_bounds = parameter_bounds
        self.parameter_scales = parameter_scales

    def nodes(self, d: int) -> Nodes:
        """Return the frequencies of the kernel and their weights.

        Parameters
        ----------
        d : int
            Number of columns.

        Returns
        -------
        Nodes
            Frequencies (m, d) in cycles per unit, weights (m,) and phase.
        """
        return self._sample().nodes(self._measure(), d)

    def features(self, X: Any) -> np.ndarray:
        """Return the features whose inner products are the kernel.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n, n_components)
            Float64. For an atomic measure there may be fewer columns.
        """
        X = np.atleast_2d(np.asarray(X, dtype=np.float64))
        return fourier(X, self.nodes(X.shape[1]))

    def diag(self, X: Any) -> np.ndarray:
        """Return the diagonal of the kernel matrix.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Newly allocated. k(0) for every row if the number of features is even.
        """
        X = np.atleast_2d(np.asarray(X, dtype=np.float64))
        nodes = self.nodes(X.shape[1])
        return self._diagonal(nodes, X if nodes.phase is None else fourier(X, nodes, _centre(X)))

    def is_stationary(self) -> bool:
        """Tell whether the kernel depends on differences of points alone.

        Returns
        -------
        bool
            False if the number of features is odd: the last one is then a cosine without its sine.
        """
        return self.n_components is None or self.n_components % 2 == 0

    def _sample(self) -> Sample:
        return Sample(self.n_components, self.rule, self.seed)

    def _diagonal(self, nodes: Nodes, Z: np.ndarray) -> np.ndarray:
        """The squared lengths of the features Z; without an odd column they are all the same, and Z only counts."""
        if nodes.phase is not None:
            return np.einsum("ij,ij->i", Z, Z)
        total, mass = float(nodes.weights.sum()), float(self._measure().mass)
        return np.full(len(Z), mass if math.isclose(total, mass, rel_tol=1e-12) else total)  # atoms may be left out

    def _gram(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        nodes, centre = self.nodes(X.shape[1]), _centre(X)
        Z = fourier(X, nodes, centre)
        if Y is not None:
            return Z @ fourier(Y, nodes, centre).T
        K = Z @ Z.T
        np.fill_diagonal(K, self._diagonal(nodes, Z))
        return K

    def _gram_gradient(self, X: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By the product rule, Z' being the transpose: dK = dZ Z' + Z dZ', over the columns that a parameter moves."""
        nodes, centre = self.nodes(X.shape[1]), _centre(X)
        to_frequencies, to_weights = self._sample().slopes(self._measure(), X.shape[1], free)
        Z = fourier(X, nodes, centre)
        pairs = nodes.width // 2
        G, half = np.empty((len(to_weights), len(X), len(X))), np.empty((len(X), len(X)))
        for slot, frequency, weight in zip(G, to_frequencies, to_weights, strict=True):
            relative = weight / (2 * nodes.weights)
            moves = np.flatnonzero(frequency[:pairs].any(axis=1) | (relative[:pairs] != 0))
            C, S = Z[:, moves], Z[:, pairs + moves]
            # measured from the centre, which turns every pair of columns: no inner product sees that
            turned = 2 * math.pi * (X - centre) @ frequency[moves].T
            moved = np.hstack([C * relative[moves] - S * turned, S * relative[moves] + C * turned])
            np.matmul(moved, np.hstack([C, S]).T, out=half)
            if nodes.phase is not None:
                half += _half_of_last(X, Z[:, -1], nodes, frequency[-1], relative[-1])
            np.add(half, half.T, out=slot)
            if nodes.phase is None:
                np.fill_diagonal(slot, weight.sum())
        K = Z @ Z.T
        np.fill_diagonal(K, self._diagonal(nodes, Z))
        return K, G


def _half_of_last(
    X: np.ndarray, cosine: np.ndarray, nodes: Nodes, frequency: np.ndarray, relative: float
) -> np.ndarray:
    """The part dz z' of the last column z of an odd width, which has no sine: a quarter turn back it would be one."""
    quarter_back = Nodes(nodes.frequencies[-1:], nodes.weights[-1:], float(nodes.phase or 0.0) - 0.25)
    sine = fourier(X, quarter_back, _centre(X))[:, 0]
    return np.outer(relative * cosine - 2 * math.pi * (X @ frequency) * sine, cosine)


def _centre(X: np.ndarray) -> np.ndarray:
    """A point near the rows, the same for both sides of a kernel matrix: phases are as accurate as differences are."""
    return X.mean(axis=0) if len(X) else np.zeros(X.shape[1])
