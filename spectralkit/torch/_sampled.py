"""Nodes of a sampled kernel as tensors that know their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from spectralkit.kernels._sample import Sample
from spectralkit.maps._waves import Waves
from spectralkit.spectra import SpectralMeasure


@dataclass(frozen=True)
class TorchNodes:
    """Frequencies (*batch, m, d) and weights (*batch, m), float64 and attached to the graph, and the phase."""

    frequencies: torch.Tensor
    weights: torch.Tensor
    phase: float | None

    @classmethod
    def of(cls, sample: Sample, structure: SpectralMeasure, values: dict[str, torch.Tensor], batch: Any, d: int) -> Any:
        """The nodes of the measure with these values, one set for each element of the batch."""
        numbers = {name: value.detach().double().cpu().numpy() for name, value in values.items()}
        measures = [
            structure.replace(**{name: _plain(number[index]) for name, number in numbers.items()})
            for index in np.ndindex(*batch)
        ]
        drawn = [sample.nodes(measure, d) for measure in measures]
        device = next((value.device for value in values.values()), None)
        frequencies, weights = (
            torch.as_tensor(np.reshape(stacked, (*batch, *np.shape(stacked)[1:])), device=device)
            for stacked in ([nodes.frequencies for nodes in drawn], [nodes.weights for nodes in drawn])
        )
        if values:
            frequencies, weights = _WithSlopes.apply(
                frequencies, weights, sample, measures, tuple(batch), *values.values()
            )
        return cls(frequencies, weights, drawn[0].phase)

    @property
    def width(self) -> int:
        """Number of features."""
        return 2 * self.weights.shape[-1] - (self.phase is not None)

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """The features of points (..., n, d), in their dtype; phases are counted in double precision."""
        count, d = self.frequencies.shape[-2:]
        offsets, scale = np.zeros(count), torch.ones(count, dtype=torch.float64, device=self.weights.device)
        if self.phase is not None:
            offsets[-1], scale[-1] = self.phase, 2.0
        pairs = self.width - count
        waves = Waves(self.frequencies.mT, np.zeros(d), offsets, np.ones(count), pairs)  # type: ignore[arg-type]
        amplitudes = (self.weights * scale).sqrt().to(x)
        columns = torch.cat([amplitudes[..., :pairs], amplitudes], dim=-1)
        return waves.at(x) * columns.unsqueeze(-2)


class _WithSlopes(torch.autograd.Function):
    """Nodes as they are; backward, the derivatives that `Sample.slopes` finds for each measure of the batch."""

    @staticmethod
    def forward(
        ctx: Any, frequencies: Any, weights: Any, sample: Sample, measures: list, batch: tuple, *values: Any
    ) -> Any:
        ctx.draw = sample, measures, batch, frequencies.shape[-1]
        ctx.values = [(value.shape, value.dtype, value.device) for value in values]
        return frequencies.clone(), weights.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_frequencies: Any, to_weights: Any) -> Any:
        sample, measures, batch, d = ctx.draw
        wanted = ctx.needs_input_grad[5:]
        grads = [np.zeros(shape) for shape, _, _ in ctx.values]
        to_frequencies, to_weights = to_frequencies.cpu().numpy(), to_weights.cpu().numpy()
        for index, measure in zip(np.ndindex(*batch), measures, strict=True):
            parameters = measure.parameters()
            free = np.concatenate([np.full(p.size, w) for p, w in zip(parameters, wanted, strict=True)])
            slopes, weight_slopes = sample.slopes(measure, d, free)
            flat = np.zeros(free.size)
            flat[free] = np.einsum("pmd,md->p", slopes, to_frequencies[index]) + weight_slopes @ to_weights[index]
            ends = np.cumsum([p.size for p in parameters])
            for grad, p, end in zip(grads, parameters, ends, strict=True):
                own = flat[end - p.size : end].reshape(np.shape(p.value))
                grad[index] = own / p.value if p.domain == "positive" else own  # slopes are to the logarithm
        out = [
            torch.as_tensor(grad, dtype=dtype, device=device) if w else None
            for grad, (_, dtype, device), w in zip(grads, ctx.values, wanted, strict=True)
        ]
        return None, None, None, None, None, *out


def _plain(number: Any) -> Any:
    return number.copy() if np.ndim(number) else float(number)
