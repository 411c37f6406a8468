"""The spectral measure: the one object from which kernels, samplers and features are derived.

By Bochner's theorem a stationary kernel is the Fourier transform of a measure over frequencies,

    k(tau) = integral of cos(2 pi omega . tau) d mu(omega),        omega in cycles per unit of x.

The public methods stand once: on the kernel side (`_kernel_side`), on the frequency side (`_frequency_side`) and, for
templates, columns and capabilities, below both (`_capable`). Each of them checks and then calls an underscored hook. A
family writes hooks only; writing one declares the capability. What to write is listed in the docstring of the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spectralkit.spectra._frequency_side import FrequencySide
from spectralkit.spectra._kernel_side import KernelSide


class SpectralMeasure(KernelSide, FrequencySide):
    r"""A finite, even measure over frequencies, and with it a stationary kernel.

    .. math:: k(\tau) = \int \cos(2\pi\,\omega\cdot\tau)\, d\mu(\omega), \qquad k(0) = \mu(\mathbb{R}^d)

    Frequencies are in cycles per unit of x. Measures are immutable; `replace` makes changed copies. They add, multiply
    and scale like kernels (``a + b``, ``a * b``, ``2.0 * a``), and ``a.on([0, 2])`` acts on some of the columns only.

    Attributes
    ----------
    open_ : tuple of str
        Names of the parameters that may be None. While one is None the object is a template: every numeric method
        raises `TemplateError` until `resolve` has filled it from data or `replace` has given it.

    Notes
    -----
    A family declares its parameters with `positive`, `real` and `fixed` and writes ``_covariance(lags)``, the kernel on
    an array of lags: ``lags.squared(scale)`` is :math:`\sum_j (s_j \tau_j)^2`, ``lags.turns(omega)`` is
    :math:`\omega\cdot\tau` up to whole turns, ``lags.column(j)`` is :math:`\tau_j`. From it follow the kernel, Gram
    matrices, gradients and torch. Each further hook adds a capability:

    ===============  ==================================================================================================
    capability       hook
    ===============  ==================================================================================================
    ``transport``    ``_transport(u, d)``: u (n, ``_uniforms(d)``) in (0, 1) to frequencies (n, d) of the even measure
                     divided by its mass
    ``polar``        ``_polar(v, u, d)``: the same from unit directions v (n, d) and u (n, ``_polar_uniforms(d)``)
    ``density``      ``_log_density(omega)``: logarithm of the density of the measure, mass included
    ``atoms``        ``_atoms(d)``: frequencies (m, d), one of each pair, and weights (m,) of the pairs
    ``cutoff``       ``_cutoff(tol, d)``: box half-widths, one per column or one for all
    ``support``      ``_support(tol, d)``: lag per column beyond which \|k\| <= tol k(0)
    ``mgf``          ``_log_mgf(x)``: log of the integral of exp(2 pi omega . x)
    ``factors``      ``_factors(d)``: d measures of one column each, of which it is the tensor product
    ``radial``       ``_radii(u, d)``: u (n, ``_polar_uniforms(d)``) to lengths (n,) of omega / sigma, for families that
                     in fewer columns are the marginals of those in more
    ``gaussian``     ``_gaussian_sigma(d)``: standard deviations, one per column or one for all, of a measure that is
                     its mass times a centred normal distribution with independent columns
    ``nonnegative``  ``_nonnegative = True``, a declaration: the kernel is nowhere negative
    ``torch``        present unless ``_has("torch", d)`` denies it
    ===============  ==================================================================================================

    ``_mass()`` is 1 unless overridden, and ``_covariance_gradient`` may replace the derivatives by dual numbers.

    References
    ----------
    S. Bochner, *Lectures on Fourier Integrals*, Princeton University Press, 1959, section 20.

    Examples
    --------
    A kernel given by its covariance alone, the product of triangles:

    >>> import numpy as np
    >>> from spectralkit import SpectralMeasure, positive
    >>> class Triangle(SpectralMeasure):
    ...     width: float = positive(default=1.0)
    ...     def _covariance(self, lags):
    ...         k = 1.0
    ...         for j in range(lags.d):
    ...             t = 1 - abs(lags.column(j)) / self.width
    ...             k = k * (t + abs(t)) / 2
    ...         return k
    >>> Triangle(2.0).gram(np.array([[0.0], [0.5], [3.0]]))
    array([[1.  , 0.75, 0.  ],
           [0.75, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    __array_ufunc__ = None  # so that numpy.float64(2.0) * measure asks us

    def __add__(self, other: SpectralMeasure) -> SpectralMeasure:
        from spectralkit.spectra.algebra import Sum

        return Sum._of(self, other) if isinstance(other, SpectralMeasure) else NotImplemented

    def __mul__(self, other: Any) -> SpectralMeasure:
        from spectralkit.spectra.algebra import Product
        from spectralkit.spectra.wrappers import Scaled

        if isinstance(other, SpectralMeasure):
            return Product._of(self, other)
        return Scaled._of(other, self) if np.ndim(other) == 0 else NotImplemented

    __rmul__ = __mul__

    def on(self, columns: Sequence[int]) -> SpectralMeasure:
        """Return the measure as a kernel on some of the columns of x.

        Parameters
        ----------
        columns : sequence of int
            Distinct column numbers, counted from 0. Column ``columns[j]`` of x is column j of this measure.

        Returns
        -------
        SpectralMeasure
            It gives the other columns no frequency. Products of disjoint groups are tensor products, sums are
            additive models. A multiple stays outermost, and a group of a group is one group.

        Raises
        ------
        ValueError
            If a number is negative or repeated, none is given, or the measure describes another number of columns.

        Examples
        --------
        >>> from spectralkit import Gaussian
        >>> (2.0 * Gaussian([0.1, 0.2])).on([3, 0])
        2.0 * Gaussian(sigma=[0.1, 0.2]).on([3, 0])
        """
        from spectralkit.spectra.wrappers import OnColumns

        return OnColumns._of(self, columns)

    def terms(self) -> list[SpectralMeasure]:
        """Return measures that add up to this one and are no sums themselves.

        Returns
        -------
        list of SpectralMeasure
            The terms of a sum and the components of a mixture, also inside multiples, column groups and products, which
            are multiplied out. A measure that is no sum is its own only term.

        Examples
        --------
        >>> from spectralkit import Gaussian, Matern
        >>> (2.0 * (Gaussian(0.1) + Matern(0.3, nu=0.5))).terms()
        [2.0 * Gaussian(sigma=0.1), 2.0 * Matern(sigma=0.3, nu=0.5)]
        """
        self.require()
        return self._terms()

    def _terms(self) -> list[SpectralMeasure]:
        return [self]

    def _narrowed(self, columns: Sequence[int]) -> SpectralMeasure:
        """The same kernel for points that have lost all but these columns, which must be all that it depends on."""
        return self

    def _operand_repr(self) -> str:
        """`repr` inside a product, scaling or column group; in parentheses where an operator would tear it apart."""
        return repr(self)
