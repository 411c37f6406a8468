"""The results as one JSON object: where it lies, whether it is complete, and what is derived from it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import attention, footprint, kernel_error, kernels, positive_error, ridge, transform, variants
from benchmarks._timing import Spread

PATH = Path(__file__).resolve().parent / "results.json"
SECTIONS = (
    "transform",
    "variants",
    "memory",
    "kernel_error",
    "positive_error",
    "kernels",
    "ridge",
    "attention",
    "imports",
)
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


def updated(older: Results, newer: Results) -> Results:
    """Return the older results with the newer sections in place of theirs.

    Raises
    ------
    ValueError
        If they were not measured in the same environment: there is one record of it for all sections.
    """
    before, now = older["environment"], newer["environment"]
    different = [key for key in now if key != "numba_used" and in_order(before.get(key)) != in_order(now[key])]
    if different:
        raise ValueError(f"The environment is another one ({', '.join(different)}). Measure all sections again.")
    environment = {**before, "numba_used": before["numba_used"] or now["numba_used"]}  # few sections alone need it
    sections = {name: {**older, **newer}[name] for name in SECTIONS if name in older or name in newer}
    return {"environment": environment, **sections}


def in_order(value: Any) -> Any:
    """Return lists in an order that does not depend on that of the imports."""
    return sorted(map(json.dumps, value)) if isinstance(value, list) else value


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
    lacking += missing_variants(results)
    peaks = {(r["d"], r["n"], r["width"], r["dtype"]) for r in results["memory"] if set(r["peak"]) == set(PEAKS)}
    wanted = {(*shape, dtype) for shape in footprint.MEMORY_SHAPES for dtype in transform.DTYPES}
    lacking += [f"memory: {shape}" for shape in sorted(wanted - peaks)]
    for d in kernel_error.COLUMNS:
        for z in kernel_error.DISTANCES:
            for rule in (*kernel_error.RANDOM_RULES, kernel_error.PEER):
                record = error(results, d, rule, z)
                if record is None or record["seeds"] < kernel_error.SEEDS or record["width"] != kernel_error.WIDTH:
                    lacking.append(f"kernel_error: {rule} at d = {d}, z = {z}")
    for d in positive_error.COLUMNS:
        for z in positive_error.LENGTHS:
            record = variances(results, d, z)
            if record is None or (z in positive_error.MEASURED and record.get("seeds", 0) < positive_error.SEEDS):
                lacking.append(f"positive_error: d = {d}, z = {z}")
    lacking += missing_kernels(results)
    lacking += missing_ridge(results)
    lacking += missing_attention(results)
    lacking += [
        f"imports: {FEWEST_IMPORTS} of {name}"
        for name in footprint.IMPORTS
        if len(results["imports"].get(name, ())) < FEWEST_IMPORTS
    ]
    return lacking


def missing_variants(results: Results) -> list[str]:
    """Return what the times of integrated and positive features lack."""
    lacking = []
    for d in variants.COLUMNS:
        for dtype in transform.DTYPES:
            for threads in variants.THREADS:
                record = timed_variants(results, d, dtype, threads)
                full = record is not None and (record["n"], record["width"]) == (variants.ROWS, variants.WIDTH)
                times = record["seconds"] if full else {}
                lacking += [
                    f"variants: {FEWEST_ROUNDS} rounds of {name} at d = {d}, {dtype}, threads: {threads}"
                    for name in variants.names(d, threads)
                    if len(times.get(name, ())) < FEWEST_ROUNDS
                ]
    return lacking


def missing_kernels(results: Results) -> list[str]:
    """Return what the measurements of kernels lack; times of packages that need not be there may be None."""
    lacking = []
    for what, keys, names in kernels.wanted():
        record = of_kernels(results, what, **keys)
        where = ", ".join([what, *(f"{key} = {value}" for key, value in keys.items())])
        for name in names:
            times = record["seconds"].get(name, ()) if record else ()
            if len(times or ()) < FEWEST_ROUNDS and not (times is None and (what, name) in kernels.OPTIONAL):
                lacking.append(f"kernels: {FEWEST_ROUNDS} rounds of {name}, {where}")
        if what == "matrix" and record and set(record["peak"]) != set(kernels.PEERS):
            lacking.append(f"kernels: peaks of memory, {where}")
    return lacking


def missing_ridge(results: Results) -> list[str]:
    """Return what the measurements of ridge regression lack; times of Dask, which need not be there, may be None."""
    return missing_rounds(results, "ridge", ridge)


def missing_attention(results: Results) -> list[str]:
    """Return what the measurements of kernel regression lack; times of torch and statsmodels may be None."""
    lacking = missing_rounds(results, "attention", attention)
    if of_attention(results, "accuracy", n=attention.MANY_ROWS, queries=attention.QUERIES) is None:
        lacking.append("attention: accuracy")
    return lacking


def missing_rounds(results: Results, section: str, module: Any) -> list[str]:
    """Return which rounds that a module wants a section lacks."""
    lacking = []
    for what, keys, rounds in module.wanted():
        record = first(results[section], what=what, **keys)
        where = ", ".join([what, *(f"{key} = {value}" for key, value in keys.items())])
        for name, number in rounds.items():
            times = record["seconds"].get(name, ()) if record else ()
            if len(times or ()) < number and not (times is None and (what, name) in module.OPTIONAL):
                lacking.append(f"{section}: {number} round{'s'[: number > 1]} of {name}, {where}")
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


def timed_variants(results: Results, d: int, dtype: str, threads: str = "all") -> Mapping[str, Any] | None:
    """Return the times of integrated, positive and plain features, or None."""
    for record in results["variants"]:
        if (record["d"], record["dtype"], record["threads"]) == (d, dtype, threads):
            return record
    return None


def times_as_long(record: Mapping[str, Any], name: str) -> Spread:
    """Return how many times longer integrated or positive features take than plain ones, round by round."""
    return times_faster(record, than=name, name=variants.PLAIN)


def slowest(results: Results, names: Iterable[str]) -> tuple[float, str, Mapping[str, Any]]:
    """Return the largest ratio to plain features among some contenders, the contender and its record."""
    found = [(times_as_long(r, n).median, n, r) for r in results["variants"] for n in names if n in r["seconds"]]
    return max(found, key=lambda each: each[0])


def of_kernels(results: Results, what: str, **keys: Any) -> Mapping[str, Any] | None:
    """Return the record of a measurement of kernels, or None."""
    return first(results["kernels"], what=what, **keys)


def of_ridge(results: Results, what: str, **keys: Any) -> Mapping[str, Any] | None:
    """Return the record of a measurement of ridge regression, or None."""
    return first(results["ridge"], what=what, **keys)


def of_attention(results: Results, what: str, **keys: Any) -> Mapping[str, Any] | None:
    """Return the record of a measurement of kernel regression, or None."""
    return first(results["attention"], what=what, **keys)


def first(records: Iterable[Mapping[str, Any]], **keys: Any) -> Mapping[str, Any] | None:
    """Return the first record that has these entries, or None."""
    return next((r for r in records if all(r.get(key) == value for key, value in keys.items())), None)


def longer_than_peer(record: Mapping[str, Any], than: str, name: str = "spectralkit") -> Spread | None:
    """Return how many times longer ours takes than another contender, round by round; None if that is not there."""
    if record["seconds"][than] is None:
        return None
    return times_faster(record, than=name, name=than)


def longer_than_products(record: Mapping[str, Any]) -> Spread:
    """Return how many times longer a ridge regression takes than the products of its moments, round by round."""
    return times_faster(record, than=ridge.FIT, name=ridge.PRODUCTS)


def longer_than_local(record: Mapping[str, Any], name: str) -> Spread | None:
    """Return how many times longer a fit with Dask takes than one without, round by round; None if it is not there."""
    if record["seconds"][name] is None:
        return None
    return times_faster(record, than=name, name=ridge.LOCAL)


def longer_than_torch(record: Mapping[str, Any], kernel: str) -> Spread | None:
    """Return how many times longer exact sums take than torch's attention, round by round; None if it is not there."""
    return longer_than_peer(record, attention.TORCH, kernel)


def faster_than_statsmodels(record: Mapping[str, Any], search: str) -> Spread | None:
    """Return how many times faster a search is than statsmodels', round by round; None if that is not there."""
    if record["seconds"][attention.PEER] is None:
        return None
    return times_faster(record, attention.PEER, search)


def slowest_matrix(results: Results, call: str, n: int = kernels.MAIN_ROWS) -> tuple[Spread, Mapping[str, Any]]:
    """Return the largest ratio to scikit-learn among the kernels, and its record."""
    records = [of_kernels(results, "matrix", kernel=name, call=call, n=n) for name in kernels.KERNELS]
    found = [(longer_than_peer(record, "scikit-learn"), record) for record in records if record]
    return max(found, key=lambda each: each[0].median)


def variances(results: Results, d: int, z: float) -> Mapping[str, Any] | None:
    """Return the variances of positive features for d columns and z, or None."""
    for record in results["positive_error"]:
        if (record["d"], record["z"]) == (d, z):
            return record
    return None


def standard_errors_off(record: Mapping[str, Any]) -> float:
    """Return by how many standard errors a measured variance differs from the closed form."""
    return abs(record["measured"] - record[positive_error.DEFAULT]) / record["standard_error"]


def least_gain(results: Results, d: int, largest: float) -> tuple[float, float]:
    """Return the least ratio of orthogonal FAVOR+'s variance to the default's for z up to the largest, and its z."""
    found = [r for r in results["positive_error"] if r["d"] == d and r["z"] <= largest]
    return min((r[positive_error.FAVOR] / r[positive_error.DEFAULT], r["z"]) for r in found)


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
