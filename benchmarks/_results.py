"""The results as one JSON object: where it lies, whether it is complete, and what is derived from it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import footprint, kernel_error, transform
from benchmarks._timing import Spread

PATH = Path(__file__).resolve().parent / "results.json"
SECTIONS = ("transform", "memory", "kernel_error", "imports")
FEWEST_ROUNDS, FEWEST_IMPORTS = 5, 7

Results = Mapping[str, Any]


class Ratio(NamedTuple):
    """A ratio and its standard error."""

    value: float
    error: float


def load(path: Path = PATH) -> Results:
    """Read results from a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def save(results: Results, path: Path = PATH) -> None:
    """Write results, one record a line."""
    parts = []
    for key, value in results.items():
        if isinstance(value, list):
            records = ",\n    ".join(json.dumps(record) for record in value)
            parts.append(f"  {json.dumps(key)}: [\n    {records}\n  ]")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def missing(results: Results) -> list[str]:
    """Return what a complete run would have and these results lack, in words."""
    lacking = [f"the section {name}" for name in ("environment", *SECTIONS) if name not in results]
    if lacking:
        return lacking
    keys = {"spectralkit", "python", "system", "machine", "processors", "packages", "thread_pools", "numba_used"}
    lacking += [f"environment: {key}" for key in sorted(keys - set(results["environment"]))]
    for d, n, width in transform.shapes(quick=False):
        for dtype in transform.DTYPES:
            record = timed(results, d, width, dtype)
            times = record["seconds"] if record and record["n"] == n else {}
            lacking += [
                f"transform: {FEWEST_ROUNDS} rounds of {name} at d = {d}, n = {n}, width {width}, {dtype}"
                for name in transform.CONTENDERS
                if len(times.get(name, ())) < FEWEST_ROUNDS
            ]
    peaks = {(r["d"], r["n"], r["width"], r["dtype"]) for r in results["memory"] if set(r["peak"]) == set(PEAKS)}
    wanted = {(*shape, dtype) for shape in footprint.MEMORY_SHAPES for dtype in transform.DTYPES}
    lacking += [f"memory: {shape}" for shape in sorted(wanted - peaks)]
    for d in kernel_error.COLUMNS:
        for z in kernel_error.DISTANCES:
            for rule in (*kernel_error.RANDOM_RULES, kernel_error.PEER):
                record = error(results, d, rule, z)
                if record is None or record["seeds"] < kernel_error.SEEDS or record["width"] != kernel_error.WIDTH:
                    lacking.append(f"kernel_error: {rule} at d = {d}, z = {z}")
    lacking += [
        f"imports: {FEWEST_IMPORTS} of {name}"
        for name in footprint.IMPORTS
        if len(results["imports"].get(name, ())) < FEWEST_IMPORTS
    ]
    return lacking


PEAKS = footprint.MEMORY_CONTENDERS


def timed(results: Results, d: int, width: int, dtype: str) -> Mapping[str, Any] | None:
    """Return the record of this shape, or None."""
    for record in results["transform"]:
        if (record["d"], record["width"], record["dtype"]) == (d, width, dtype):
            return record
    return None


def times_faster(record: Mapping[str, Any], than: str = kernel_error.PEER, name: str = "spectralkit") -> Spread:
    """Return how many times faster one contender is than another, round by round."""
    return Spread.of_ratios(record["seconds"][than], record["seconds"][name])


def error(results: Results, d: int, rule: str, z: float, spectrum: str = "gaussian") -> Mapping[str, Any] | None:
    """Return the kernel error of a rule, or None where it was not measured or the rule does not fit."""
    for record in results["kernel_error"]:
        if (record["spectrum"], record["d"], record["rule"], record["z"]) == (spectrum, d, rule, z):
            return record
    return None


def times_smaller(results: Results, d: int, z: float, rule: str = "auto") -> Ratio | None:
    """Return how many times smaller the kernel error of a rule is than the peer's, or None if not measured."""
    ours, theirs = error(results, d, rule, z), error(results, d, kernel_error.PEER, z)
    if ours is None or theirs is None:
        return None
    value = theirs["rms"] / ours["rms"]
    relative = [record["standard_error"] / record["rms"] for record in (ours, theirs)]
    return Ratio(value, value * math.hypot(*relative))


def import_seconds(results: Results, name: str, less: str | None = None) -> Spread:
    """Return the seconds of an import, or how many more they are than those of another one, round by round."""
    seconds = results["imports"][name]
    if less is None:
        return Spread.of(seconds)
    return Spread.of([a - b for a, b in zip(seconds, results["imports"][less], strict=True)])
