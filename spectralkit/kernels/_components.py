"""The parts of which a measure is the sum."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from spectralkit.spectra import SpectralMeasure


def components(measure: SpectralMeasure) -> list[SpectralMeasure]:
    """Measures that add up to this one and add up of nothing themselves.

    The terms of sums and of mixtures, also inside multiples, column groups and products, which are multiplied out. A
    measure that is not made of such parts, or of which nobody knows it, is its own only component.
    """
    params = measure.get_params(deep=False)
    if "part" in params:
        inner = components(params["part"])
        if "factor" in params:
            return [params["factor"] * component for component in inner]
        return [component.on(params["group"]) for component in inner]
    if "parts" in params:
        terms = [components(part) for part in params["parts"]]
        if _is_sum(measure, params["parts"]):
            return list(itertools.chain(*terms))
        return [functools.reduce(operator.mul, factors) for factors in itertools.product(*terms)]
    return _terms_of_mixture(measure, params)


def _is_sum(measure: SpectralMeasure, parts: tuple[SpectralMeasure, ...]) -> bool:
    """Whether it is what ``+`` makes of its parts, and not what ``*`` makes of them."""
    return type(measure) is type(parts[0] + parts[0])


def _terms_of_mixture(measure: SpectralMeasure, params: dict[str, Any]) -> list[SpectralMeasure]:
    """Of a measure with weights, the measures of one weight each: all its parameters have one row per weight."""
    count = np.size(params.get("weights", ()))
    parameters = measure.parameters()
    if count < 2 or any(np.shape(p.value)[:1] != (count,) for p in parameters):
        return [measure]
    unsaid = {"n_mixtures": None} if "n_mixtures" in params else {}
    return [
        measure.replace(**unsaid, **{p.name: np.asarray(p.value)[q : q + 1] for p in parameters}) for q in range(count)
    ]
