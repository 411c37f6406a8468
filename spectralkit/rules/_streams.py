"""Where rules get their random numbers."""

from __future__ import annotations

import numpy as np

_STREAMS = {"uniforms": 0, "directions": 1, "radii": 2, "phase": 3}


def stream(seed: int, d: int, purpose: str) -> np.random.Generator:
    """Streams of their own for what must not depend on the width: a longer draw of one leaves the others alone."""
    return np.random.default_rng([int(seed), d, _STREAMS[purpose]])


def phase(seed: int, d: int) -> float:
    """The phase, in turns, of the last column of an odd width."""
    return float(stream(seed, d, "phase").random())
