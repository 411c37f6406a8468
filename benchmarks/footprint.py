"""What the library costs besides time per row: memory at the peak of ``transform``, and the time of its import."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.transform import DTYPES, contenders, points

ROOT = Path(__file__).resolve().parent.parent
MEMORY_SHAPES = ((8, 50_000, 1024), (784, 20_000, 1024))
MEMORY_CONTENDERS = ("spectralkit", "RBFSampler")
PARTS_USED = (
    "sklearn.base",
    "sklearn.utils.validation",
    "sklearn.gaussian_process.kernels",
)
IMPORTS = {
    "numpy": "import numpy",
    "sklearn": "import sklearn",
    "parts of sklearn": "import " + ", ".join(PARTS_USED),
    "spectralkit": "import spectralkit",
    "spectralkit after the parts": "",  # filled in by `measure_imports`: two imports, the second one timed
}
TIMER = "import time; t = time.perf_counter(); {timed}; print(time.perf_counter() - t)"


def measure_memory(shapes: tuple[tuple[int, int, int], ...] = MEMORY_SHAPES) -> Iterator[dict[str, Any]]:
    """Yield the bytes allocated at the peak of ``transform``, the output included, as a multiple of the output's."""
    for d, n, width in shapes:
        for dtype in DTYPES:
            calls = contenders(points(n, d, dtype), width)
            peaks = {name: round(peak_multiple(calls[name]), 4) for name in MEMORY_CONTENDERS}
            yield {"d": d, "n": n, "width": width, "dtype": dtype, "peak": peaks}


def peak_multiple(call: Callable[[], np.ndarray | tuple[np.ndarray, ...]]) -> float:
    """Peak of what NumPy and Python allocate during the call, over the size of the array or arrays it returns.

    The first call is not counted: it may compile.
    """
    call()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = call()
        peak = tracemalloc.get_traced_memory()[1] - before
        return peak / sum(array.nbytes for array in (result if isinstance(result, tuple) else (result,)))
    finally:
        tracemalloc.stop()


def measure_imports(repeats: int = 7) -> dict[str, list[float]]:
    """Seconds of imports, each in fresh interpreters, taking turns, after one round that is not counted."""
    programs = {name: TIMER.format(timed=code) for name, code in IMPORTS.items() if code}
    programs["spectralkit after the parts"] = f"{IMPORTS['parts of sklearn']}; " + TIMER.format(
        timed=IMPORTS["spectralkit"]
    )
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for i in range(repeats + 1):
        for name, program in programs.items():
            elapsed = float(run_python(program))
            if i:
                seconds[name].append(round(elapsed, 5))
    return seconds


def run_python(program: str) -> str:
    """Return what the program prints in a fresh interpreter that finds this checkout."""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def apart(module: str, function: str, *arguments: Any) -> Any:
    """Return what a function of a module of the benchmarks returns in a fresh interpreter."""
    call = f"{module}.{function}({', '.join(map(repr, arguments))})"
    return json.loads(run_python(f"import json; from benchmarks import {module}; print(json.dumps({call}))"))
