"""The exact kernel of a measure."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralkit.kernels._base import MeasureKernel
from spectralkit.spectra import SpectralMeasure


class SpectralKernel(MeasureKernel):
    r"""The exact kernel of a spectral measure, for `sklearn.gaussian_process`.

    .. math:: k(x, y) = \int \cos\bigl(2\pi\,\omega\cdot(x - y)\bigr)\, d\mu(\omega)

    Composes with other kernels by ``+``, ``*`` and ``**``. Its free parameters are those of the measure: positive ones
    enter ``theta`` as logarithms, as everywhere in scikit-learn; real ones, such as the means of a mixture, linearly,
    so that they can change sign.

    Parameters
    ----------
    spectrum : SpectralMeasure
        A measure without open parameters. Its parameters are parameters of the kernel: ``spectrum__sigma``,
        ``spectrum__0__sigma``, ...
    parameter_bounds : dict, "fixed" or None, default=None
        Bounds for optimisation, in natural units: from the name of a parameter (as in ``spectrum.parameters()``) to a
        pair, an array of shape (size, 2), or "fixed". What is not named has (1e-5, 1e5), or (-1e5, 1e5) if real.
        "fixed" on its own fixes everything.
    parameter_scales : dict, optional
        From names of real parameters to the unit, a number or one for each, in which they enter ``theta``; 1 if not
        named. It changes nothing but the steps of an optimiser, which likes all of them to matter about as much.

    Raises
    ------
    TypeError, TemplateError, ValueError
        When the kernel is used: if spectrum is not a measure or has open parameters; when it is fitted: if bounds name
        none of its parameters or are not numbers in order.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, *Gaussian Processes for Machine Learning*, MIT Press, 2006, chapters 4 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from spectralkit import Gaussian, SpectralKernel
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> gp = GaussianProcessRegressor(SpectralKernel(1.0 * Gaussian(0.5)), alpha=1e-4).fit(X, y)
    >>> bool(abs(gp.predict([[np.pi / 2]])[0] - 1) < 1e-2)
    True
    >>> SpectralKernel(1.0 * Gaussian(0.5), {"factor": "fixed"}).theta.round(4)
    array([-0.6931])
    """

    def __init__(self, spectrum: SpectralMeasure, parameter_bounds: Any = None, parameter_scales: Any = None) -> None:
        self.spectrum = spectrum
        self.parameter_bounds = parameter_bounds
        self.parameter_scales = parameter_scales

    def diag(self, X: Any) -> np.ndarray:
        """Return the diagonal of the kernel matrix, k(0) for every row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Newly allocated.
        """
        X = np.atleast_2d(X)
        return np.full(len(X), float(self._measure().require(d=X.shape[1]).mass))

    def _gram(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        return self._measure().gram(X, Y)

    def _gram_gradient(self, X: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._measure().gram_gradient(X, free=free)
