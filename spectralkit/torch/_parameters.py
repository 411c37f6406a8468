"""The parameters of a measure as those of a GPyTorch kernel."""

from __future__ import annotations

from typing import Any

import gpytorch
import numpy as np
import torch

from spectralkit.spectra import SpectralMeasure


class MeasureKernel(gpytorch.kernels.Kernel):
    """A kernel whose constructor takes a measure, and priors and constraints on its parameters by name."""

    has_lengthscale = False
    active_dims: Any

    def __init__(
        self,
        spectrum: SpectralMeasure,
        batch_shape: torch.Size | None,
        active_dims: tuple[int, ...] | None,
        priors: dict[str, Any] | None,
        constraints: dict[str, Any] | None,
    ) -> None:
        if not isinstance(spectrum, SpectralMeasure):
            raise TypeError(f"{type(self).__name__}: spectrum must be a spectral measure, got {spectrum!r}.")
        spectrum.require(d=None if active_dims is None else len(active_dims))
        super().__init__(batch_shape=batch_shape or torch.Size(), active_dims=active_dims)
        self._structure = spectrum
        self._names: tuple[str, ...] = ()
        self._attributes: frozenset[str] = frozenset()
        priors = _by_name("priors", priors, spectrum, gpytorch.priors.Prior)
        constraints = _by_name("constraints", constraints, spectrum, gpytorch.constraints.Interval)
        for parameter in spectrum.parameters():
            self._register(parameter.name, parameter.domain, constraints.get(parameter.name))
        names = [p.name for p in spectrum.parameters()]
        self._attributes = frozenset(name for name in names if not hasattr(self, name))  # GPyTorch may have its own
        self._names = tuple(names)
        for name, prior in priors.items():
            self.register_prior(f"{name}_prior", prior, ValueOf(name), SetValueOf(name))

    def _register(self, name: str, domain: str, constraint: Any) -> None:
        if constraint is None and domain == "positive":
            constraint = gpytorch.constraints.Positive()
        start = self._start(name)
        raw = start if constraint is None else self._raw_value(name, start, constraint)
        self.register_parameter(f"raw_{name}", torch.nn.Parameter(raw.expand(self.batch_shape + start.shape).clone()))
        if constraint is not None:
            self.register_constraint(f"raw_{name}", constraint)

    def _start(self, name: str) -> torch.Tensor:
        value = {p.name: p.value for p in self._structure.parameters()}[name]
        return torch.as_tensor(np.array(value, dtype=float), dtype=torch.get_default_dtype())

    def _raw_value(self, name: str, value: torch.Tensor, constraint: Any) -> torch.Tensor:
        """The unconstrained value; outside the constraint it would be NaN, at its open ends infinite."""
        raw = constraint.inverse_transform(value)
        if not (constraint.check(value) and torch.isfinite(raw).all()):
            raise ValueError(
                f"{type(self).__name__}: {name} must lie inside its constraint, {constraint}, got {value.tolist()!r}."
            )
        return raw

    # -- values by name -----------------------------------------------------------------------------------------------

    def parameter_values(self) -> dict[str, torch.Tensor]:
        """Return the parameters of the measure by name, with the constraints applied.

        Returns
        -------
        dict of str to Tensor
            Each of shape ``(*batch_shape, *shape in the measure)``, attached to the graph.
        """
        return {name: self._value(name) for name in self._names}

    def _value(self, name: str) -> torch.Tensor:
        raw = getattr(self, f"raw_{name}")
        constraint = self.constraint_for_parameter_name(f"raw_{name}")
        return raw if constraint is None else constraint.transform(raw)

    def _expanded_values(self, batch: torch.Size) -> dict[str, torch.Tensor]:
        """Each of shape (*batch, *shape in the measure), also where only some parameters have been given a batch."""
        shapes = {p.name: np.shape(p.value) for p in self._structure.parameters()}
        return {name: value.expand((*batch, *shapes[name])) for name, value in self.parameter_values().items()}

    def _set_value(self, name: str, value: Any) -> None:
        raw = getattr(self, f"raw_{name}")
        if not torch.is_tensor(value):
            value = torch.as_tensor(np.array(value, dtype=float))
        value = value.to(dtype=raw.dtype, device=raw.device)
        if self._strict_init and value.numel() != raw.numel():  # GPyTorch is not strict while it loads samples
            try:
                value = value.expand(raw.shape)
            except RuntimeError:
                raise ValueError(
                    f"{type(self).__name__}: {name} has shape {tuple(raw.shape)}, got a value of {tuple(value.shape)}."
                ) from None
        constraint = self.constraint_for_parameter_name(f"raw_{name}")
        self.initialize(**{f"raw_{name}": value if constraint is None else self._raw_value(name, value, constraint)})

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_attributes", ()):
            return self._value(name)
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("_attributes", ()):
            self._set_value(name, value)
        else:
            super().__setattr__(name, value)

    @property
    def spectrum(self) -> SpectralMeasure:
        """The measure with the current parameters, as NumPy arrays: for features, plots and other kernels.

        A parameter that is where it started has the very value that it was given, whatever the dtype. Raises ValueError
        for a batch of parameters, which is not one measure.
        """
        if self.batch_shape:
            raise ValueError(f"A batch of parameters, {tuple(self.batch_shape)}, is not one measure; index the kernel.")
        changed = {}
        with torch.no_grad():
            for name, value in self.parameter_values().items():
                start = self._start(name).to(value)
                constraint = self.constraint_for_parameter_name(f"raw_{name}")
                if constraint is not None:
                    start = constraint.transform(constraint.inverse_transform(start))
                if not torch.equal(value, start):
                    number = value.double().cpu().numpy()
                    changed[name] = number.copy() if number.ndim else float(number)
        return self._structure.replace(**changed)

    # -- batches ------------------------------------------------------------------------------------------------------

    def expand_batch(self, *sizes: Any) -> Any:
        """Return the kernel with its parameters expanded to a larger batch shape.

        Parameters
        ----------
        *sizes : torch.Size or int
            The batch shape.

        Returns
        -------
        Kernel
            The kernel itself if it has that shape.
        """
        shape = sizes if all(isinstance(size, int) for size in sizes) else sizes[0]  # GPyTorch takes no single integer
        return self._without_active_dims(super().expand_batch, torch.Size(shape))

    def __getitem__(self, index: Any) -> Any:
        made = self._without_active_dims(super().__getitem__, index)
        if made is not self:  # GPyTorch reads the batch shape off the parameters, and there may be none
            made.batch_shape = torch.empty(()).expand(self.batch_shape)[index].shape
        return made

    def _without_active_dims(self, make: Any, *arguments: Any) -> Any:
        """GPyTorch expands and indexes all buffers as batches, and the columns to act on are a buffer."""
        columns, self.active_dims = self.active_dims, None
        try:
            made = make(*arguments)
            made.active_dims = columns
        finally:
            self.active_dims = columns
        return made

    def _check_call(self, params: dict[str, Any]) -> None:
        if params.get("last_dim_is_batch"):
            raise NotImplementedError(
                f"{type(self).__name__} has no last_dim_is_batch; give the kernel a batch_shape instead."
            )


class ValueOf:
    """What a prior is about; a class, because kernels with priors are pickled."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, module: MeasureKernel) -> torch.Tensor:
        return module._value(self.name)


class SetValueOf(ValueOf):
    """How a sample from a prior gets into the kernel."""

    def __call__(self, module: MeasureKernel, value: Any) -> None:  # type: ignore[override]
        module._set_value(self.name, value)


def _by_name(argument: str, given: dict[str, Any] | None, spectrum: SpectralMeasure, kind: type) -> dict[str, Any]:
    """The priors or constraints, if each is one and has the name of a parameter."""
    if given is None:
        return {}
    names = [p.name for p in spectrum.parameters()]
    if not isinstance(given, dict) or not all(isinstance(value, kind) for value in given.values()):
        raise TypeError(
            f"{argument} must be a dict from names of parameters to {kind.__name__} objects, got {given!r}."
        )
    unknown = set(given) - set(names)
    if unknown:
        raise ValueError(
            f"{argument} names {', '.join(sorted(unknown))}, but the free parameters of {spectrum!r} are "
            f"{', '.join(names) or 'none'}."
        )
    return given
