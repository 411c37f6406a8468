"""Measure spectralkit beside scikit-learn, print ratios with their spread, and write them as JSON.

``python -m benchmarks`` takes some minutes on an otherwise idle machine and writes ``benchmarks/results.json``. Then
``python -m benchmarks --readme`` makes the tables of the README and of the documentation from that file. ``--update``
with ``--only`` puts the sections that are measured in place of those in the file, if the environment is the same.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import attention, footprint, kernel_error, kernels, positive_error, ridge, transform, variants
from benchmarks._bars import bars, in_words
from benchmarks._environment import describe
from benchmarks._report import PAGES, ROOT, rewrite
from benchmarks._results import (
    PATH,
    SECTIONS,
    import_seconds,
    load,
    longer_than_local,
    longer_than_peer,
    longer_than_products,
    longer_than_torch,
    missing,
    save,
    times_as_long,
    times_faster,
    updated,
)
from benchmarks._timing import Spread


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    options = parser().parse_args(arguments)
    if options.readme:
        return write_tables(options.json or PATH)
    sections = options.only or SECTIONS
    results: dict[str, Any] = {"environment": {}}
    for name in sections:
        print(f"\n{TITLES[name]}")
        results[name] = MEASUREMENTS[name](options.quick)
    results["environment"] = describe()
    print(f"\nEnvironment\n  {json.dumps(results['environment'])}")
    print("\nGoals: median (range) or value +- standard error")
    for bar in bars(results):
        print(f"  {bar}")
    if options.update:
        return write_update(options.json or PATH, results)
    path = options.json or (None if missing(results) else PATH)
    if path is None:
        print("\nNot written: this was not a full run. Name a file with --json to keep it.")
    else:
        save(results, path)
        print(f"\nWritten to {path.name}. Make the tables of README and documentation with --readme.")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n", maxsplit=1)[0])
    made.add_argument(
        "--quick", action="store_true", help="fewer shapes, mostly those for which there are goals, and fewer seeds"
    )
    made.add_argument(
        "--only", type=names_of_sections, metavar="NAME[,NAME]", help=f"only some of {', '.join(SECTIONS)}"
    )
    made.add_argument("--json", type=Path, metavar="PATH", help="file of the results")
    made.add_argument(
        "--update", action="store_true", help="put the sections that are measured in place of those in the file"
    )
    made.add_argument(
        "--readme", action="store_true", help="measure nothing; make the tables of README and docs from the results"
    )
    return made


def names_of_sections(text: str) -> list[str]:
    """Read the names of sections."""
    names = text.split(",")
    if unknown := sorted(set(names) - set(SECTIONS)):
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)} is not one of {', '.join(SECTIONS)}")
    return names


def write_update(path: Path, results: dict[str, Any]) -> int:
    """Put sections in place of those in a file, unless that leaves it incomplete or of several environments."""
    try:
        merged = updated(load(path) if path.is_file() else results, results)
    except ValueError as error:
        print(f"\nNot written to {path.name}: {error}", file=sys.stderr)
        return 1
    if lacking := missing(merged):
        print(f"\nNot written: {path.name} would lack", *lacking, sep="\n  ", file=sys.stderr)
        return 1
    save(merged, path)
    print(f"\nWritten to {path.name} beside its other sections. Make the tables with --readme.")
    return 0


def write_tables(path: Path) -> int:
    """Fill the blocks of the README and the documentation."""
    if not path.is_file():
        print(f"{path.name} is not there yet. Run python -m benchmarks first.", file=sys.stderr)
        return 1
    results = load(path)
    if lacking := missing(results):
        print(f"{path.name} is not complete; it lacks", *lacking, sep="\n  ", file=sys.stderr)
        return 1
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new = rewrite(old, results)
        if new != old:
            page.write_text(new, encoding="utf-8")
        print(f"{page.relative_to(ROOT)}: {'written' if new != old else 'as it was'}")
    return 0


def measure_transform(quick: bool) -> list[dict[str, Any]]:
    """Time ``transform`` and print each record."""
    print(f"{'':30}{'minimum and median, ms':^64}{'RBFSampler / ours':>26}{'ours / fill':>24}")
    print(f"{'dtype':>9}{'d':>6}{'n':>8}{'width':>7}" + "".join(f"{name:>16}" for name in transform.CONTENDERS))
    found = []
    for record in transform.measure(transform.shapes(quick), rounds=7):
        found.append(record)
        spreads = [Spread.of(record["seconds"][name]) for name in transform.CONTENDERS]
        times = "".join(f"{1000 * s.minimum:8.1f}{1000 * s.median:8.1f}" for s in spreads)
        print(
            f"{record['dtype']:>9}{record['d']:6}{record['n']:8}{record['width']:7}{times}"
            f"{in_words(times_faster(record)):>26}{in_words(times_faster(record, 'spectralkit', 'fill')):>24}",
            flush=True,
        )
    return found


def measure_variants(quick: bool) -> list[dict[str, Any]]:
    """Time integrated and positive features, and print each record: plain in ms, the others as multiples of it."""
    found = []
    for record in variants.measure(variants.columns(quick), rounds=7):
        found.append(record)
        plain = Spread.of(record["seconds"][variants.PLAIN])
        print(
            f"  {record['dtype']}, d = {record['d']}, n = {record['n']}, width {record['width']}, threads: "
            f"{record['threads']}; plain {1000 * plain.minimum:.1f} {1000 * plain.median:.1f} ms"
        )
        for name in record["seconds"]:
            if name != variants.PLAIN:
                print(f"    {name:12}{in_words(times_as_long(record, name)):>26}", flush=True)
    return found


def measure_memory(quick: bool) -> list[dict[str, Any]]:
    """Measure the peak of memory and print each record."""
    found = []
    for record in footprint.measure_memory(footprint.MEMORY_SHAPES[: 1 if quick else None]):
        found.append(record)
        peaks = ", ".join(f"{name} {peak:.3f}" for name, peak in record["peak"].items())
        print(
            f"  {record['dtype']}, d = {record['d']}, n = {record['n']}, width {record['width']}: {peaks}", flush=True
        )
    return found


def measure_error(quick: bool) -> list[dict[str, Any]]:
    """Measure kernel errors and print a line per rule."""
    print(f"{'':31}" + "".join(f"{f'z = {z:g}':>22}" for z in kernel_error.DISTANCES))
    found: list[dict[str, Any]] = []
    for record in kernel_error.measure(seeds=5 if quick else kernel_error.SEEDS):
        found.append(record)
        if record["z"] == kernel_error.DISTANCES[-1]:
            line = found[-len(kernel_error.DISTANCES) :]
            cells = "".join(f"{error_in_words(r):>22}" for r in line)
            print(f"{record['spectrum']:>10}  d = {record['d']:<4}{record['rule']:>11}{cells}", flush=True)
    return found


def error_in_words(record: dict[str, Any]) -> str:
    """Write an error and its standard error."""
    return f"{record['rms']:.2e} +- {record['standard_error']:.0e}"


def measure_positive(quick: bool) -> list[dict[str, Any]]:
    """Compute and measure variances of positive features, and print those that the tables show."""
    print(f"{'d':>6}{'z':>6}" + "".join(f"{name:>14}" for name in positive_error.METHODS) + f"{'measured':>24}")
    found = []
    for record in positive_error.measure(seeds=500 if quick else positive_error.SEEDS):
        found.append(record)
        if record["z"] in positive_error.SHOWN:
            cells = "".join(f"{record[name]:14.4g}" for name in positive_error.METHODS)
            has = "measured" in record
            measured = f"{record['measured']:.4g} +- {record['standard_error']:.1g}" if has else ""
            print(f"{record['d']:6}{record['z']:6g}{cells}{measured:>24}", flush=True)
    return found


def measure_kernels(quick: bool) -> list[dict[str, Any]]:
    """Measure kernels of Gaussian processes and print each record."""
    found = []
    for record in kernels.measure(kernels.rows(quick)):
        found.append(record)
        if record["what"] == "matrix":
            peaks = ", ".join(f"{name} {peak:.3g}" for name, peak in record["peak"].items())
            ratio = in_words(longer_than_peer(record, "scikit-learn"))
            times = "".join(f"{1000 * Spread.of(record['seconds'][name]).median:8.1f}" for name in kernels.PEERS)
            where = f"{record['kernel']}, {record['call']}, n = {record['n']}"
            print(f"  {where:42}{times} ms{ratio:>26}   peak over result: {peaks}", flush=True)
        else:
            counts = {key: value for key, value in record.items() if key not in ("what", "seconds", "versions")}
            print(f"  {record['what']}: {', '.join(f'{key} {value}' for key, value in counts.items())}")
            for name, seconds in record["seconds"].items():
                print(f"    {name:40}{in_words(Spread.of(seconds), ' s') if seconds else 'not there'}", flush=True)
    return found


def measure_ridge(quick: bool) -> list[dict[str, Any]]:
    """Measure ridge regression and print each record."""
    found = []
    for record in ridge.measure(ridge.shapes(quick)):
        found.append(record)
        seconds = {name: in_words(Spread.of(times), " s") for name, times in record["seconds"].items() if times}
        words = ", ".join(f"{name} {times}" for name, times in seconds.items())
        if record["what"] == "fit":
            ratio = f", ratio {in_words(longer_than_products(record))}" if record["model"] in ridge.OURS else ""
            before, peak = (max(record[key]) / 1e9 for key in ("before", "peak"))
            words += f"{ratio}; peak {peak:.3f} GB, before {before:.3f} GB"
        elif record["what"] == "search":
            ratio = in_words(times_faster(record, ridge.SEARCH))
            words += f", ratio {ratio}; " + ", ".join(f"R² of {name} {r2:.4f}" for name, r2 in record["r2"].items())
        else:
            ratios = {name: longer_than_local(record, name) for name in (ridge.THREADS, ridge.CLUSTER)}
            words += "".join(f", {name} / local {in_words(ratio)}" for name, ratio in ratios.items() if ratio)
        where = record.get("model") or record.get("data") or "Dask"
        print(f"  {where}, n = {record['n']}, width {record['width']}: {words}", flush=True)
    return found


def measure_attention(quick: bool) -> list[dict[str, Any]]:
    """Measure kernel regression and print each record."""
    found = []
    for record in attention.measure(quick):
        found.append(record)
        seconds = {name: in_words(Spread.of(times), " s") for name, times in record["seconds"].items() if times}
        words = [f"{name} {times}" for name, times in seconds.items()]
        if record["what"] == "exact":
            ratios = {kernel: longer_than_torch(record, kernel) for kernel in attention.KERNELS}
            words += [f"{kernel} / torch {in_words(ratio)}" for kernel, ratio in ratios.items() if ratio]
            words.append(f"peak beyond what was held before: {(record['peak'] - record['before']) / 1e6:.3g} MB")
        elif record["what"] == "many":
            words.append(f"bandwidth found {record['bandwidth']}, method {record['method']}")
        elif record["what"] == "accuracy":
            words += [f"{difference:g} at {factor} deviations" for factor, difference in record["differences"].items()]
        else:
            bandwidths, errors = record["bandwidths"], record["errors"]
            words += [f"{name}: {values}, error {errors[name]}" for name, values in bandwidths.items()]
        shape = f"n = {record['n']}, d = {record['d']}" + (f", {record['dtype']}" if "dtype" in record else "")
        print(f"  {record['what']}, {shape}: {', '.join(words)}", flush=True)
    return found


def measure_imports(quick: bool) -> dict[str, list[float]]:
    """Time imports and print them, with the three differences that may be called "what spectralkit adds"."""
    found = footprint.measure_imports(repeats=3 if quick else 7)
    for name in found:
        print(f"  {name:44}{in_words(import_seconds({'imports': found}, name), ' s')}")
    for less in ("numpy", "sklearn", "parts of sklearn"):
        added = import_seconds({"imports": found}, "spectralkit", less)
        print(f"  {'spectralkit less ' + less:44}{in_words(added, ' s')}")
    return found


TITLES = {
    "transform": "Time of transform, by turns in one process",
    "variants": "Time of integrated and positive features as a multiple of plain ones', by turns in one process",
    "memory": "Memory at the peak of transform, as a multiple of the result's",
    "kernel_error": "Root mean square error of the kernel, k(0) = 1, by distance z in lengthscales, width 1024",
    "positive_error": "Variance of positive features over the squared kernel, d features for d columns, by z",
    "kernels": "Kernels of Gaussian processes: time as a multiple of scikit-learn's, by turns, and seconds",
    "ridge": "Ridge regression: fits beside the products alone, with the peak of memory; a search; Dask",
    "attention": "Kernel regression: attention beside torch, many rows by transforms, a search beside statsmodels",
    "imports": "Seconds of imports in fresh interpreters",
}
MEASUREMENTS = {
    "transform": measure_transform,
    "variants": measure_variants,
    "memory": measure_memory,
    "kernel_error": measure_error,
    "positive_error": measure_positive,
    "kernels": measure_kernels,
    "ridge": measure_ridge,
    "attention": measure_attention,
    "imports": measure_imports,
}

if __name__ == "__main__":
    raise SystemExit(main())
