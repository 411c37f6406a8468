"""Timing by turns, so that a slow moment of the machine meets every contender."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class Spread(NamedTuple):
    """The smallest, the middle and the largest of some numbers."""

    minimum: float
    median: float
    maximum: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Sum up the values."""
        return cls(float(np.min(values)), float(np.median(values)), float(np.max(values)))

    @classmethod
    def of_ratios(cls, numerators: Sequence[float], denominators: Sequence[float]) -> Spread:
        """Sum up the ratios, round by round."""
        return cls.of(np.divide(numerators, denominators))


def in_turns(contenders: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every call: all contenders one after the other, `rounds` times, after one round that is not counted.

    Every round starts with the next contender, since the first one of a round may have to wait for memory that the
    system took back. What a call returns is freed outside its time, before the next call.
    """
    names = list(contenders)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    collects = gc.isenabled()
    gc.disable()
    try:
        for i in range(rounds + 1):
            for name in names[i % len(names) :] + names[: i % len(names)]:
                call = contenders[name]
                start = time.perf_counter()
                result = call()
                stop = time.perf_counter()
                del result
                if i:
                    seconds[name].append(round(stop - start, 7))
            gc.collect()
    finally:
        if collects:
            gc.enable()
    return seconds
