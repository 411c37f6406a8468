"""What may explain a number: versions, processors, threads. Nothing that names a machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from typing import Any

from threadpoolctl import threadpool_info

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl")


def describe() -> dict[str, Any]:
    """Return versions, processors and thread pools; call it when all has run, so that every library is loaded."""
    import spectralkit

    return {
        "spectralkit": spectralkit.__version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "processors": processors(),
        "packages": {name: version(name) for name in PACKAGES},
        "thread_pools": [
            {key: pool[key] for key in ("user_api", "internal_api", "version", "num_threads")}
            for pool in threadpool_info()
        ],
        "numba_used": "numba" in sys.modules,
    }


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def version(name: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
