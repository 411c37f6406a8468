"""Kernels for GPyTorch, from any spectral measure that runs on torch."""

from __future__ import annotations

from typing import Any

import gpytorch
import numpy as np
import torch

from spectralkit.spectra import CapabilityError, SpectralMeasure

__all__ = ["SpectralKernel"]


class SpectralKernel(gpytorch.kernels.Kernel):
    r"""The exact kernel of a spectral measure, for GPyTorch.

    .. math:: k(x, y) = \int \cos\bigl(2\pi\,\omega\cdot(x - y)\bigr)\, d\mu(\omega)

    Every free parameter of the measure becomes a torch parameter ``raw_<name>``; positive ones are under a
    `gpytorch.constraints.Positive`. The values come from the same formulas as on NumPy: `forward` evaluates the measure
    with its parameters replaced by tensors.

    Parameters
    ----------
    spectrum : SpectralMeasure
        A measure without open parameters, which gives the starting values.
    batch_shape : torch.Size, optional
        Batches of parameters, all with the same starting values.
    active_dims : tuple of int, optional
        Columns of x to act on.

    Raises
    ------
    TypeError
        If spectrum is not a measure.
    TemplateError
        If it has open parameters.
    CapabilityError
        If it does not run on torch.

    Examples
    --------
    >>> import torch
    >>> from spectralkit import Gaussian
    >>> from spectralkit.torch import SpectralKernel
    >>> kernel = SpectralKernel(2.0 * Gaussian(0.5))
    >>> sorted(name for name, _ in kernel.named_parameters())
    ['raw_factor', 'raw_sigma']
    >>> kernel(torch.zeros(1, 3)).to_dense().item()
    2.0
    """

    is_stationary = True
    has_lengthscale = False

    def __init__(
        self,
        spectrum: SpectralMeasure,
        batch_shape: torch.Size | None = None,
        active_dims: tuple[int, ...] | None = None,
    ) -> None:
        if not isinstance(spectrum, SpectralMeasure):
            raise TypeError(f"SpectralKernel: spectrum must be a spectral measure, got {spectrum!r}.")
        d = spectrum.dimension if active_dims is None else len(active_dims)
        spectrum.require(d=d)
        if "torch" not in spectrum.capabilities(1 if d is None else d):
            raise CapabilityError(
                f"{spectrum!r} has no formula on torch. Use spectralkit.SpectralKernel with scikit-learn."
            )
        super().__init__(batch_shape=batch_shape or torch.Size(), active_dims=active_dims)
        self._structure = spectrum
        self._domains = {p.name: p.domain for p in spectrum.parameters()}
        for parameter in spectrum.parameters():
            start = torch.as_tensor(np.array(parameter.value), dtype=torch.get_default_dtype())
            start = start.expand(self.batch_shape + start.shape).clone()
            raw = f"raw_{parameter.name}"
            if parameter.domain == "positive":
                constraint = gpytorch.constraints.Positive()
                self.register_parameter(raw, torch.nn.Parameter(constraint.inverse_transform(start)))
                self.register_constraint(raw, constraint)
            else:
                self.register_parameter(raw, torch.nn.Parameter(start))

    def parameter_values(self) -> dict[str, torch.Tensor]:
        """Return the parameters of the measure by name, with the constraints applied.

        Returns
        -------
        dict of str to Tensor
            Each of shape ``(*batch_shape, *shape in the measure)``, attached to the graph.
        """
        values = {}
        for name, domain in self._domains.items():
            raw = getattr(self, f"raw_{name}")
            values[name] = getattr(self, f"raw_{name}_constraint").transform(raw) if domain == "positive" else raw
        return values

    @property
    def spectrum(self) -> SpectralMeasure:
        """The measure with the current parameters, as NumPy arrays: for features, plots and other kernels.

        Raises ValueError for a batch of parameters, which is not one measure.
        """
        if self.batch_shape:
            raise ValueError(f"A batch of parameters, {tuple(self.batch_shape)}, is not one measure; index the kernel.")
        values = {name: value.detach().cpu().numpy() for name, value in self.parameter_values().items()}
        return self._structure.replace(**{name: v.copy() if v.ndim else float(v) for name, v in values.items()})

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
        if params.get("last_dim_is_batch"):
            raise NotImplementedError("SpectralKernel has no last_dim_is_batch; give the kernel a batch_shape instead.")

        def evaluate(values: dict[str, torch.Tensor], a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            measure = self._structure.replace(**values)
            return measure.characteristic(a - b) if diag else measure.gram(a, b)

        if not self.batch_shape:
            return evaluate(self.parameter_values(), x1, x2)
        # the measure never sees a batch of parameters: vmap takes the batch axes off, one after the other
        shape = torch.broadcast_shapes(self.batch_shape, x1.shape[:-2], x2.shape[:-2])
        axis = len(shape) - len(self.batch_shape)
        inner = len(self.batch_shape)
        values = {name: v.expand(*shape[axis:], *v.shape[inner:]) for name, v in self.parameter_values().items()}
        for _ in self.batch_shape:
            evaluate = torch.func.vmap(evaluate, in_dims=(0, axis, axis), out_dims=axis)
        return evaluate(values, *(x.expand(*shape, *x.shape[-2:]) for x in (x1, x2)))
