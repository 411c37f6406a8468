"""Kernels for GPyTorch, from any spectral measure."""

from __future__ import annotations

from typing import Any

import torch
from gpytorch.kernels import AdditiveKernel, Kernel
from gpytorch.models import exact_prediction_strategies
from linear_operator.operators import (
    LinearOperator,
    LowRankRootLinearOperator,
    MatmulLinearOperator,
    RootLinearOperator,
)

from spectralkit.kernels._sample import Sample
from spectralkit.rules import Rule
from spectralkit.spectra import CapabilityError, SpectralMeasure
from spectralkit.torch._parameters import MeasureKernel
from spectralkit.torch._sampled import TorchNodes

__all__ = ["BochnerKernel", "SpectralKernel"]


class SpectralKernel(MeasureKernel):
    r"""The exact kernel of a spectral measure, for GPyTorch.

    .. math:: k(x, y) = \int \cos\bigl(2\pi\,\omega\cdot(x - y)\bigr)\, d\mu(\omega)

    Every free parameter of the measure becomes a torch parameter ``raw_<name>``; positive ones are under a
    `gpytorch.constraints.Positive` unless another constraint is given. ``kernel.<name>`` reads and sets the value
    itself, and ``kernel.initialize(<name>=...)`` sets it. The values come from the same formulas as on NumPy: `forward`
    evaluates the measure with its parameters replaced by tensors.

    Parameters
    ----------
    spectrum : SpectralMeasure
        A measure without open parameters, which gives the starting values. What was learnt is a measure again in the
        attribute ``spectrum``.
    batch_shape : torch.Size, optional
        Batches of parameters, all with the same starting values.
    active_dims : tuple of int, optional
        Columns of x to act on.
    priors : dict, optional
        From names of parameters (as in ``spectrum.parameters()``) to `gpytorch.priors.Prior`, which enter the marginal
        likelihood as ``<name>_prior``.
    constraints : dict, optional
        From names of parameters to `gpytorch.constraints.Interval`, which may have a bound for each number.

    Raises
    ------
    TypeError
        If spectrum is not a measure, a prior or a constraint is none, or a keyword is unknown.
    TemplateError
        If it has open parameters.
    CapabilityError
        If it does not run on torch.
    ValueError
        If priors or constraints name none of its parameters, or a starting value is outside its constraint.

    Examples
    --------
    >>> import torch
    >>> from gpytorch.constraints import Interval
    >>> from gpytorch.priors import LogNormalPrior
    >>> from spectralkit import Gaussian
    >>> from spectralkit.torch import SpectralKernel
    >>> kernel = SpectralKernel(
    ...     2.0 * Gaussian(0.5), priors={"factor": LogNormalPrior(0.0, 1.0)}, constraints={"sigma": Interval(0.01, 1.0)}
    ... )
    >>> sorted(name for name, _ in kernel.named_parameters())
    ['raw_factor', 'raw_sigma']
    >>> kernel(torch.zeros(1, 3)).to_dense().item()
    2.0
    >>> kernel.sigma = 0.25
    >>> kernel.spectrum
    2.0 * Gaussian(sigma=0.25)
    """

    is_stationary = True

    def __init__(
        self,
        spectrum: SpectralMeasure,
        batch_shape: torch.Size | None = None,
        active_dims: tuple[int, ...] | None = None,
        priors: dict[str, Any] | None = None,
        constraints: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(spectrum, batch_shape, active_dims, priors, constraints)
        d = spectrum.dimension if active_dims is None else len(active_dims)
        if "torch" not in spectrum.capabilities(1 if d is None else d):
            raise CapabilityError(
                f"{spectrum!r} has no formula on torch. Use spectralkit.SpectralKernel with scikit-learn."
            )

    def forward(self, x1: torch.Tensor, x2: torch.Tensor, diag: bool = False, **params: Any) -> torch.Tensor:
        """Return the kernel matrix, or its diagonal.

        Parameters
        ----------
        x1 : Tensor of shape (..., n, d)
            Points.
        x2 : Tensor of shape (..., m, d)
            Other points.
        diag : bool, default=False
            Return only k(x1[i], x2[i]).
        **params : dict
            Accepted for GPyTorch; ``last_dim_is_batch=True`` is refused.

        Returns
        -------
        Tensor of shape (..., n, m), or (..., n) for `diag`
            In the dtype of `x1`.
        """
        self._check_call(params)

        def evaluate(values: dict[str, torch.Tensor], a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            measure = self._structure.replace(**values)
            return measure.characteristic(a - b) if diag else measure.gram(a, b)

        if not self.batch_shape:
            return evaluate(self.parameter_values(), x1, x2)
        # the measure never sees a batch of parameters: vmap takes the batch axes off, one after the other
        shape = torch.broadcast_shapes(self.batch_shape, x1.shape[:-2], x2.shape[:-2])
        axis = len(shape) - len(self.batch_shape)
        values = self._expanded_values(shape[axis:])
        for _ in self.batch_shape:
            evaluate = torch.func.vmap(evaluate, in_dims=(0, axis, axis), out_dims=axis)
        return evaluate(values, *(x.expand(*shape, *x.shape[-2:]) for x in (x1, x2)))


class BochnerKernel(MeasureKernel):
    r"""The sampled kernel of a spectral measure, for GPyTorch: exact inference in time linear in the number of rows.

    .. math:: k(x, y) = \sum_j a_j \cos\bigl(2\pi\,\omega_j\cdot(x - y)\bigr) = z(x) \cdot z(y)

    The same kernel as `spectralkit.BochnerKernel`: the frequencies are drawn once for all, by `seed`, `rule`,
    `n_components` and the number of columns, and move smoothly with the parameters. With D features and n > D rows,
    likelihood, gradient and predictions of an `ExactGP` take O(n D^2) operations; `gpytorch.kernels.ScaleKernel` and
    sums of these kernels keep it so. Nothing but the parameters is state, and a state dict goes into a fresh kernel.

    Parameters
    ----------
    spectrum : SpectralMeasure
        A measure without open parameters, which gives the starting values. It need not run on torch. What was learnt is
        a measure again in the attribute ``spectrum``.
    n_components : int or None, default=256
        Number of features. For an atomic measure an upper limit; None takes all its atoms, and 256 features of any
        other measure.
    rule : str or Rule, default="auto"
        How the frequencies are chosen, as for `spectralkit.FourierFeatures`.
    seed : int, default=0
        Equal seeds give equal kernels.
    batch_shape : torch.Size, optional
        Batches of parameters, all with the same starting values and the same draw.
    active_dims : tuple of int, optional
        Columns of x to act on.
    priors : dict, optional
        From names of parameters (as in ``spectrum.parameters()``) to `gpytorch.priors.Prior`.
    constraints : dict, optional
        From names of parameters to `gpytorch.constraints.Interval`.

    Raises
    ------
    TypeError
        If spectrum is not a measure, a prior or a constraint is none, or a keyword is unknown.
    TemplateError
        If it has open parameters.
    CapabilityError
        When the kernel is called: if it cannot be sampled.
    ValueError
        If priors or constraints name none of its parameters, or a starting value is outside its constraint; when the
        kernel is called: if another argument is not what it must be.

    Notes
    -----
    Sums and mixtures are drawn component by component, each with the same number of features, and the weight of a
    component is the weight of its nodes; the estimate of the kernel is unbiased for any weights. The derivatives of the
    nodes to the parameters are found on NumPy, by differences accurate to 1e-9, and can be taken once: there are no
    second derivatives to parameters. Those to points are autograd's.

    References
    ----------
    A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> import torch
    >>> from spectralkit import Matern
    >>> from spectralkit.torch import BochnerKernel
    >>> kernel = BochnerKernel(2.0 * Matern(0.5, nu=1.5), n_components=64)
    >>> kernel(torch.rand(1000, 3)).evaluate_kernel().root.shape
    torch.Size([1000, 64])
    """

    def __init__(
        self,
        spectrum: SpectralMeasure,
        n_components: int | None = 256,
        rule: str | Rule = "auto",
        seed: int = 0,
        batch_shape: torch.Size | None = None,
        active_dims: tuple[int, ...] | None = None,
        priors: dict[str, Any] | None = None,
        constraints: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(spectrum, batch_shape, active_dims, priors, constraints)
        self._sample = Sample(n_components, rule, seed)

    @property
    def is_stationary(self) -> bool:
        """Whether the kernel depends on differences of points alone; not so for an odd number of features."""
        width = self._sample.n_components
        return width is None or width % 2 == 0

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """Return the features whose inner products are the kernel.

        Parameters
        ----------
        x : Tensor of shape (..., n, d)
            Points with the active columns only.

        Returns
        -------
        Tensor of shape (..., n, n_components)
            In the dtype of `x`, attached to the graph. For an atomic measure there may be fewer columns.
        """
        return self._nodes(x.shape[-1]).features(x)

    def _nodes(self, d: int) -> TorchNodes:
        return TorchNodes.of(
            self._sample, self._structure, self._expanded_values(self.batch_shape), self.batch_shape, d
        )

    def forward(self, x1: torch.Tensor, x2: torch.Tensor, diag: bool = False, **params: Any) -> Any:
        """Return the kernel matrix, or its diagonal.

        Parameters
        ----------
        x1 : Tensor of shape (..., n, d)
            Points.
        x2 : Tensor of shape (..., m, d)
            Other points.
        diag : bool, default=False
            Return only k(x1[i], x2[i]).
        **params : dict
            Accepted for GPyTorch; ``last_dim_is_batch=True`` is refused.

        Returns
        -------
        LinearOperator of shape (..., n, m), or Tensor of shape (..., n) for `diag`
            Of low rank, in the dtype of `x1`.
        """
        self._check_call(params)
        nodes = self._nodes(x1.shape[-1])
        same = x1.shape == x2.shape and torch.equal(x1, x2)
        if diag and same and nodes.phase is None:
            shape = torch.broadcast_shapes(self.batch_shape, x1.shape[:-2])
            return nodes.weights.sum(-1, keepdim=True).to(x1).expand(*shape, x1.shape[-2])
        z1 = nodes.features(x1)
        z2 = z1 if same else nodes.features(x2)
        return (z1 * z2).sum(-1) if diag else _inner_products(z1, z2)

    def prediction_strategy(self, *arguments: Any) -> Any:
        """Return GPyTorch's strategy for kernels with features.

        Parameters
        ----------
        *arguments : tuple
            As GPyTorch passes them.

        Returns
        -------
        LinearPredictionStrategy
            It works with matrices of n_components rows.
        """
        return exact_prediction_strategies.LinearPredictionStrategy(*arguments)

    def __add__(self, other: Kernel) -> Kernel:
        return _added(self, other)


class _BochnerSum(AdditiveKernel):
    """A sum of sampled kernels, which is one again: its features are those of all its terms."""

    def features(self, x: torch.Tensor) -> torch.Tensor:
        each = [k.features(x if k.active_dims is None else x.index_select(-1, k.active_dims)) for k in self.kernels]
        batch = torch.broadcast_shapes(*(z.shape[:-2] for z in each))
        return torch.cat([z.expand(*batch, *z.shape[-2:]) for z in each], dim=-1)

    def forward(self, x1: torch.Tensor, x2: torch.Tensor, diag: bool = False, **params: Any) -> Any:
        if diag:
            return super().forward(x1, x2, diag=True, **params)
        z1 = self.features(x1)
        return _inner_products(z1, z1 if x1.shape == x2.shape and torch.equal(x1, x2) else self.features(x2))

    def prediction_strategy(self, *arguments: Any) -> Any:
        return exact_prediction_strategies.LinearPredictionStrategy(*arguments)

    def __add__(self, other: Kernel) -> Kernel:
        return _added(self, other)


def _added(one: Kernel, other: Kernel) -> Kernel:
    """One kernel with features if both have them; otherwise GPyTorch's sum."""
    if not all(isinstance(kernel, BochnerKernel | _BochnerSum) for kernel in (one, other)):
        return Kernel.__add__(one, other)
    terms = [kernel.kernels if isinstance(kernel, _BochnerSum) else [kernel] for kernel in (one, other)]
    return _BochnerSum(*terms[0], *terms[1])


def _inner_products(z1: torch.Tensor, z2: torch.Tensor) -> LinearOperator:
    """z1 z2' as the operator that GPyTorch solves fastest; z2 is z1 for the kernel matrix of one set of points."""
    if z1 is not z2:
        return MatmulLinearOperator(z1, z2.mT)
    return LowRankRootLinearOperator(z1) if z1.shape[-1] < z1.shape[-2] else RootLinearOperator(z1)
