"""Tables of the README and of the documentation, made from the results alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import attention, footprint, kernel_error, kernels, positive_error, ridge, transform, variants
from benchmarks._results import (
    Results,
    error,
    faster_than_statsmodels,
    import_seconds,
    least_gain,
    longer_than_local,
    longer_than_peer,
    longer_than_products,
    longer_than_torch,
    of_attention,
    of_kernels,
    of_ridge,
    slowest,
    slowest_matrix,
    standard_errors_off,
    timed,
    timed_variants,
    times_as_long,
    times_faster,
    times_smaller,
    variances,
)
from benchmarks._timing import Spread

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "choosing.md",
    ROOT / "docs" / "antialiasing.md",
    ROOT / "docs" / "positive_features.md",
    ROOT / "docs" / "attention.md",
)
BLOCK = re.compile(
    r"(?P<start><!-- benchmark table(?:: (?P<name>[^>]+?))? -->\n).*?(?P<end><!-- end of benchmark table -->)",
    re.DOTALL,
)
NAMES = {"gaussian": "Gaussian", "matern32": "Matérn 3/2"}


def rewrite(text: str, results: Results) -> str:
    """Fill every block between the markers of a page with the table of its name, "summary" where it has none."""

    def filled(block: re.Match[str]) -> str:
        return block["start"] + "\n" + TABLES[block["name"] or "summary"](results) + "\n\n" + block["end"]

    return BLOCK.sub(filled, text)


def blocks(text: str) -> dict[str, str]:
    """Return the tables of a page by name."""
    return {block["name"] or "summary": block[0] for block in BLOCK.finditer(text)}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a Markdown table; the first column is aligned left, the others right."""
    head = list(head)
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def summary(results: Results) -> str:
    """Return what the README shows: time of all features, kernel error, kernels, memory and import."""
    here = results["environment"]
    numba = "compiled by numba" if here["numba_used"] else "without numba"
    paragraphs = [
        f"Measured by `python -m benchmarks`, in one process and by turns, on {here['processors']} processors: "
        f"spectralkit {here['spectralkit']} ({numba}), scikit-learn {here['packages']['scikit-learn']}, NumPy "
        f"{here['packages']['numpy']}, Python {here['python']}. Times are medians of "
        f"{rounds_of(results)} rounds; ratios are medians over rounds, with the smallest and the largest behind them. "
        '"Fill" only writes a constant into an array of that size.',
        f"Time of `transform` at {MAIN_WIDTH} columns, `n_jobs=-1`:",
        table(
            ("points", "dtype", "spectralkit", "`RBFSampler`", "fill", "times faster"),
            (row_of_times(results, d, dtype) for d in transform.COLUMNS for dtype in transform.DTYPES),
        ),
        "The same for integrated features, the mean over a Gaussian footprint with a width for each row, and for "
        f"positive ones, at {thousands(variants.ROWS)} × {variants.MAIN_COLUMNS} points:",
        table(
            ("dtype", "`FourierFeatures`", "integrated", "times as long", "positive", "times as long"),
            (row_of_variants(results, dtype) for dtype in transform.DTYPES),
        ),
        slowest_in_words(results),
        f"Error of a Gaussian kernel value (root mean square, k(0) = 1) at {kernel_error.WIDTH} columns, for pairs one "
        "lengthscale apart:",
        table(
            ("columns of X", "spectralkit", "`RBFSampler`", "times smaller"),
            (row_of_errors(results, d) for d in kernel_error.COLUMNS),
        ),
        f"Kernels of Gaussian processes{kernel_versions(results)}, medians of {kernels.FEWER_ROUNDS} rounds or more, "
        "all but the matrices in fresh interpreters:",
        table(("", "spectralkit", "beside", "", "times as long"), rows_of_kernels(results)),
        f"Ridge regression on `FourierFeatures` of {ridge.COLUMNS} columns, `n_jobs=-1`, each fit in a fresh "
        'interpreter. "Products" are those of which the Gram matrix is the sum, alone, timed for one row in '
        f'{round(1 / ridge.SHARE_OF_PRODUCTS)}; "memory" is the peak of the whole process, with the data and what it '
        "imports, and the last column is its peak before the fit:",
        table(
            ("rows and features", "model", "fit", "products", "times as long", "memory", "before"),
            rows_of_fits(results),
        ),
        f"A scale out of {len(ridge.MULTIPLIERS)} and a penalty, chosen by one fit of `FeatureRidge` and by a search "
        f"of {len(ridge.MULTIPLIERS)} × {len(ridge.ALPHAS)} in {ridge.FOLDS} folds, with R² on the other half of the "
        "data:",
        table(
            ("data", "rows", "`FeatureRidge`", "`GridSearchCV`", "times faster", "R²", "R² of the search"),
            (row_of_search(results, name) for name in ridge.DATA),
        ),
        *dask_in_words(results),
        memory_in_words(results) + " " + import_in_words(results),
    ]
    return "\n\n".join(paragraphs)


MAIN_WIDTH = transform.MAIN_SHAPE[2]


def rounds_of(results: Results) -> int:
    """Return the number of rounds that were timed."""
    return min(len(times) for record in results["transform"] for times in record["seconds"].values())


def row_of_times(results: Results, d: int, dtype: str) -> list[str]:
    """Return the row of one shape at the main width."""
    record = timed(results, d, MAIN_WIDTH, dtype)
    medians = {name: Spread.of(seconds).median for name, seconds in record["seconds"].items()}
    times = [milliseconds(medians[name]) for name in ("spectralkit", "RBFSampler", "fill")]
    return [f"{thousands(record['n'])} × {d}", dtype, *times, spread(times_faster(record))]


def row_of_variants(results: Results, dtype: str) -> list[str]:
    """Return the times of integrated and positive features, and their ratios to plain ones."""
    record = timed_variants(results, variants.MAIN_COLUMNS, dtype)
    cells = [dtype, milliseconds(Spread.of(record["seconds"][variants.PLAIN]).median)]
    for name in (variants.GAUSSIAN, variants.POSITIVE):
        cells += [milliseconds(Spread.of(record["seconds"][name]).median), spread(times_as_long(record, name))]
    return cells


def slowest_in_words(results: Results) -> str:
    """Return where integrated and positive features are slowest, in words."""
    words = []
    for names in (INTEGRATED, (variants.POSITIVE,)):
        ratio, name, record = slowest(results, names)
        where = f"{record['d']} columns, {record['dtype']}" + (", one thread" if record["threads"] == "one" else "")
        what = "positive features" if name == variants.POSITIVE else f'`"{name}"` footprints'
        what = "full covariances" if name == "covariance" else what
        words.append(f"{ratio:.3g} times as long for {what} ({where})")
    return f"The slowest of all that are timed take {' and '.join(words)}."


INTEGRATED = ("one width", variants.GAUSSIAN, "box", "disc", "ball", "covariance")


def row_of_errors(results: Results, d: int) -> list[str]:
    """Return the row of one number of columns at one lengthscale."""
    ours, theirs = (error(results, d, rule, 1.0) for rule in ("auto", kernel_error.PEER))
    ratio = times_smaller(results, d, 1.0)
    return [str(d), f"{ours['rms']:.1e}", f"{theirs['rms']:.1e}", f"{ratio.value:.3g} ± {ratio.error:.1g}"]


def kernel_versions(results: Results) -> str:
    """Return with which versions of packages that are not always there the kernels were measured."""
    records = [record for record in results["kernels"] if record.get("versions")]
    versions = {name: version for record in records for name, version in record["versions"].items()}
    names = {"astropy": "Astropy", "gpytorch": "GPyTorch", "torch": "torch", "finufft": "finufft"}
    words = ", ".join(f"{words} {versions[name]}" for name, words in names.items() if name in versions)
    return f" ({words})" if words else ""


def rows_of_kernels(results: Results) -> Iterable[list[str]]:
    """Yield what is timed of kernels: CO2, the slowest kernel matrices, the periodogram and GPyTorch."""
    co2 = of_kernels(results, "co2")
    what = f"mixture of {co2['components']} from data and fit, {co2['n']} months of CO₂: NLL {co2['nll']:.2f}"
    yield [what, median(co2["seconds"][kernels.FIT]), "", "", ""]
    yield ["the same, one thread", median(co2["seconds"][kernels.ONE_THREAD]), "", "", ""]
    for call, words in CALL_NAMES.items():
        ratio, record = slowest_matrix(results, call)
        what = f"{words}, {thousands(record['n'])} × {record['d']} (slowest: {record['kernel']})"
        times = [median(record["seconds"][name]) for name in kernels.PEERS]
        yield [what, times[0], "scikit-learn", times[1], spread(ratio)]
    record = of_kernels(results, "periodogram")
    what = f"periodogram, {thousands(record['n'])} times, {thousands(record['frequencies'])} frequencies"
    for name, threads in ((kernels.ONE_THREAD, "one thread"), ("spectralkit", "all threads")):
        ours = median(record["seconds"][name])
        peer = beside(record, kernels.ASTROPY, "Astropy, `fast`", name)
        yield [f"{what}, {threads}", ours, *peer]
    record = of_kernels(results, "sampled")
    if record["seconds"]["spectralkit"]:
        what = f"GPyTorch, likelihood and gradient, {thousands(record['n'])} × {record['d']}"
        what += f", {record['features']} features"
        peer = beside(record, kernels.GPYTORCH, "`RFFKernel`", "spectralkit")
        yield [what, median(record["seconds"]["spectralkit"]), *peer]


CALL_NAMES = {"gram": "kernel matrix", "cross": "kernel matrix of two sets", "gradient": "kernel matrix and gradient"}


def beside(record: Mapping[str, Any], peer: str, words: str, name: str) -> list[str]:
    """Return the cells of a peer, its time and how many times longer ours takes; empty where it was not there."""
    ratio = longer_than_peer(record, peer, name)
    return ["", "", ""] if ratio is None else [words, median(record["seconds"][peer]), spread(ratio)]


def rows_of_fits(results: Results) -> Iterable[list[str]]:
    """Yield times and memory of ridge regressions, ours and scikit-learn's."""
    for (n, width), rounds in ridge.ROUNDS.items():
        for model in rounds:
            record = of_ridge(results, "fit", model=model, n=n, width=width)
            name = f'`FeatureRidge(alpha="{model}")`' if model in ridge.OURS else f"pipeline with `{model}`"
            cells = [f"{thousands(n)} × {thousands(width)}", name, median(record["seconds"][ridge.FIT])]
            if model in ridge.OURS:
                cells += [median(record["seconds"][ridge.PRODUCTS]), spread(longer_than_products(record))]
            else:
                cells += ["", ""]
            yield [*cells, *(f"{max(record[key]) / 1e9:.2f} GB" for key in ("peak", "before"))]


def row_of_search(results: Results, name: str) -> list[str]:
    """Return times and R² of one fit and of a search."""
    record = of_ridge(results, "search", data=name)
    names = ("spectralkit", ridge.SEARCH)
    times = [median(record["seconds"][each]) for each in names]
    return [
        name,
        thousands(record["n"]),
        *times,
        spread(times_faster(record, ridge.SEARCH)),
        *(f"{record['r2'][each]:.3f}" for each in names),
    ]


def dask_in_words(results: Results) -> list[str]:
    """Return how much longer fits with Dask take, in words; nothing where it was not there."""
    record = of_ridge(results, "dask")
    where = {ridge.THREADS: "over its threads", ridge.CLUSTER: f"on a cluster of {ridge.PROCESSES} processes"}
    ratios = {name: longer_than_local(record, name) for name in where}
    words = [f"{spread(ratio)} times as long {where[name]}" for name, ratio in ratios.items() if ratio]
    if not words:
        return []
    what = f"{thousands(record['n'])} × {record['d']} points and {record['width']} features"
    local = median(record["seconds"][ridge.LOCAL])
    return [
        f"`FeatureRidge.fit` takes {local} for {what}; `spectralkit.dask.fit` (Dask {record['versions']['dask']}) "
        f"takes {' and '.join(words)}."
    ]


def memory_in_words(results: Results) -> str:
    """Return the largest peaks of both transformers, in words."""
    most = {
        name: max(record["peak"][name] for record in results["memory"] if record["d"] == transform.MAIN_SHAPE[0])
        for name in footprint.MEMORY_CONTENDERS
    }
    return (
        f"At its peak `transform` holds {most['spectralkit']:.2f} times the memory of its result "
        f"(`RBFSampler` {most['RBFSampler']:.2f} times)."
    )


def import_in_words(results: Results) -> str:
    """Return the time of the import, in words."""
    whole, sklearn = (import_seconds(results, name).median for name in ("spectralkit", "sklearn"))
    added = import_seconds(results, "spectralkit after the parts").median
    return (
        f"`import spectralkit` takes {whole:.2f} s where `import sklearn` takes {sklearn:.2f} s; beyond the parts of "
        f"scikit-learn that it uses it adds {added:.2f} s."
    )


def errors_by_rule(results: Results) -> str:
    """Return the kernel error of every rule at one lengthscale, for every spectrum and number of columns."""
    rules = (*kernel_error.RANDOM_RULES[1:], *kernel_error.FIXED_RULES, kernel_error.PEER)
    rows = []
    for spectrum, name in NAMES.items():
        for d in kernel_error.COLUMNS:
            cells = [cell_of_error(results, d, rule, 1.0, spectrum) for rule in rules]
            rows.append([name, str(d), *cells])
    heads = [f'`"{rule}"`' if rule != kernel_error.PEER else f"`{rule}`" for rule in rules]
    return table(("spectrum", "columns of X", *heads), rows)


def errors_by_distance(results: Results) -> str:
    """Return how many times smaller the error of the default rule is than the peer's, by distance."""
    rows = []
    for d in kernel_error.COLUMNS:
        ratios = (times_smaller(results, d, z) for z in kernel_error.DISTANCES)
        rows.append([str(d), *("" if ratio is None else f"{ratio.value:.2g} ± {ratio.error:.1g}" for ratio in ratios)])
    return table(("columns of X", *(f"{z:g} ℓ" for z in kernel_error.DISTANCES)), rows)


def errors_of_fixed_rules(results: Results) -> str:
    """Return the errors of the rules without chance by distance, beside the default rule."""
    rows = []
    for spectrum, name in NAMES.items():
        for d in kernel_error.COLUMNS[: kernel_error.MOST_COLUMNS_OF_FIXED_RULES]:
            for rule in ("qmc", *kernel_error.FIXED_RULES):
                cells = [cell_of_error(results, d, rule, z, spectrum) for z in kernel_error.DISTANCES]
                if any(cells):
                    rows.append([name, str(d), f'`"{rule}"`', *cells])
    return table(("spectrum", "columns of X", "rule", *(f"{z:g} ℓ" for z in kernel_error.DISTANCES)), rows)


def times_by_width(results: Results) -> str:
    """Return times and ratios of ``transform`` for all shapes."""
    rows = []
    for record in results["transform"]:
        medians = {name: Spread.of(seconds).median for name, seconds in record["seconds"].items()}
        rows.append(
            [
                str(record["d"]),
                str(record["width"]),
                thousands(record["n"]),
                record["dtype"],
                *(milliseconds(medians[name]) for name in transform.CONTENDERS),
                spread(times_faster(record)),
            ]
        )
    heads = ("columns of X", "width", "rows", "dtype", "spectralkit", "one thread", "`RBFSampler`", "fill")
    return table((*heads, "times faster"), rows)


def times_of_footprints(results: Results) -> str:
    """Return the times of plain features, and how many times longer their means over footprints take."""
    rows = []
    for record in results["variants"]:
        times = record["seconds"]
        ratios = [spread(times_as_long(record, name)) if name in times else "" for name in INTEGRATED]
        plain = milliseconds(Spread.of(times[variants.PLAIN]).median)
        rows.append([str(record["d"]), record["dtype"], record["threads"], plain, *ratios])
    heads = ("one width", *(f'`"{name}"`' for name in INTEGRATED[1:-1]), "covariance")
    return table(("columns of X", "dtype", "threads", "no footprint", *heads), rows)


def times_of_kernels(results: Results) -> str:
    """Return the times of all kernel matrices, how many times longer they take than scikit-learn's, and memory."""
    rows = []
    for n in kernels.ROWS:
        for name in kernels.KERNELS:
            cells = [name, thousands(n)]
            for call in kernels.CALLS:
                record = of_kernels(results, "matrix", kernel=name, call=call, n=n)
                cells += [median(record["seconds"]["spectralkit"]), spread(longer_than_peer(record, "scikit-learn"))]
            rows.append([*cells, *(f"{record['peak'][peer]:.2f}" for peer in kernels.PEERS)])
    heads = [head for words in ("K(X)", "K(X, Y)", "K(X), gradient") for head in (words, "times as long")]
    return table(("kernel", "rows", *heads, "memory", "scikit-learn's"), rows) + "\n\n" + words_of_kernels(results)


def words_of_kernels(results: Results) -> str:
    """Return what the table does not say: the largest memory, start values, and agreement with Astropy."""
    co2, found = of_kernels(results, "co2"), of_kernels(results, "periodogram")
    words = (
        f"Memory is the peak of the last of these calls over the size of what it returns. Of the "
        f"{median(co2['seconds'][kernels.FIT])} that start values and fit take for {co2['n']} months of CO₂, start "
        f"values take {median(co2['seconds'][kernels.START])}."
    )
    if found["difference"] is None:
        return words
    return words + f" No power of the periodogram differs from Astropy's by more than {found['difference']:.0e}."


def variances_of_positive(results: Results) -> str:
    """Return relative variances of positive features in closed form, and how well measured ones agree, in words."""
    rows = []
    for d in positive_error.COLUMNS:
        for z in positive_error.SHOWN:
            record = variances(results, d, z)
            gain = record[positive_error.FAVOR] / record[positive_error.DEFAULT]
            rows.append([str(d), f"{z:g}", *(short(record[name]) for name in positive_error.METHODS), short(gain, 2)])
    measured = [variances(results, d, z) for d in positive_error.COLUMNS for z in positive_error.MEASURED]
    least, z, d = min((*least_gain(results, d, positive_error.LARGEST), d) for d in positive_error.COLUMNS)
    words = (
        f"Single kernel values of the default, over {min(r['seeds'] for r in measured)} seeds at z = "
        f"{' and '.join(f'{z:g}' for z in positive_error.MEASURED)}, have this variance to within "
        f"{max(map(standard_errors_off, measured)):.2g} standard errors for every d. The smallest ratio up to z = "
        f"{positive_error.LARGEST:g} is {short(least, 3)}, at d = {d} and z = {z:g}."
    )
    heads = ("d", "z", *positive_error.METHODS, f"{positive_error.FAVOR} / {positive_error.DEFAULT}")
    return table(heads, rows) + "\n\n" + words


def kernel_regression(results: Results) -> str:
    """Return what is measured of kernel regression: exact sums, many rows, their accuracy, and searches."""
    here = results["environment"]
    numba = "compiled by numba" if here["numba_used"] else "without numba"
    searches = [of_attention(results, "search", n=n) for n in attention.SEARCH_ROUNDS]
    paragraphs = [
        f"Measured by `python -m benchmarks`, in fresh interpreters and by turns, on {here['processors']} processors: "
        f"spectralkit {here['spectralkit']} ({numba}){attention_versions(results)}. Times are medians; ratios are "
        "medians over rounds, with the smallest and the largest behind them.",
        f'`predict` of {thousands(attention.ROWS)} queries from as many rows, `method="exact"`, `n_jobs=-1`, beside '
        '`scaled_dot_product_attention` of torch with as many threads. "Memory" is the peak of the process beyond '
        f"what it held before; a float32 number for each pair would take {4 * attention.ROWS**2 / 1e9:.1f} GB:",
        table(
            (
                *("columns of X, and of y", "dtype", "softmax", "Gaussian", "torch"),
                *("softmax, times as long", "Gaussian, times as long", "memory"),
            ),
            (row_of_exact(results, d, dtype) for d, dtype in attention.EXACT_ROUNDS),
        ),
        *differences_in_words(results),
        many_in_words(results),
        "Bandwidths of two columns with the smallest leave-one-out error, on one thread, beside "
        '`KernelReg(reg_type="lc", bw="cv_ls")` of statsmodels; errors are root mean squares:',
        table(
            (
                *("rows", '`"loo"`', "times faster", '`"loo_per_column"`', "times faster", "statsmodels"),
                *("error", "error, per column", "error, statsmodels", "bandwidths", "bandwidths of statsmodels"),
            ),
            map(row_of_bandwidths, searches),
        ),
    ]
    return "\n\n".join(paragraphs)


def attention_versions(results: Results) -> str:
    """Return with which versions of packages that are not always there kernel regression was measured."""
    versions = {k: v for record in results["attention"] for k, v in record.get("versions", {}).items()}
    return "".join(f", {name} {versions[name]}" for name in (attention.TORCH, attention.PEER) if name in versions)


def row_of_exact(results: Results, d: int, dtype: str) -> list[str]:
    """Return times of exact sums, their ratios to torch's, and memory."""
    record = of_attention(results, "exact", d=d, dtype=dtype)
    times = [record["seconds"][name] for name in (*attention.KERNELS, attention.TORCH)]
    ratios = [longer_than_torch(record, kernel) for kernel in attention.KERNELS]
    peak = f"{(record['peak'] - record['before']) / 1e6:.2g} MB"
    return [str(d), dtype, *(median(s) if s else "" for s in times), *(spread(r) if r else "" for r in ratios), peak]


def differences_in_words(results: Results) -> list[str]:
    """Return how far softmax attention is from torch's, in words; nothing where that was not there."""
    records = [of_attention(results, "exact", d=d, dtype=dtype) for d, dtype in attention.EXACT_ROUNDS]
    if any(record["difference"] is None for record in records):
        return []
    most = {dtype: max(r["difference"] for r in records if r["dtype"] == dtype) for dtype in transform.DTYPES}
    words = " and ".join(f"{value:.1e} in {dtype}" for dtype, value in most.items())
    return [f"No number of the softmax attention differs from torch's by more than {words}."]


def many_in_words(results: Results) -> str:
    """Return how long many rows take by transforms, and how far predictions are from those of the exact method."""
    record, accuracy = of_attention(results, "many"), of_attention(results, "accuracy")
    errors, fit, predict = (median(record["seconds"][name]) for name in attention.MANY_ROUNDS)
    first, last, count = attention.FACTORS
    most = max(accuracy["differences"].values())
    return (
        f"By transforms, for {thousands(record['n'])} rows of {record['d']} columns in {attention.CLUSTERS} clusters: "
        f"leave-one-out errors of all rows for {count} bandwidths, from {first:g} to {last:g} standard deviations, "
        f'take {errors}; `fit` with `bandwidth="loo"` takes {fit}; `fit` with the bandwidth that it finds, and '
        f"`predict` of all rows, take {predict}. Of {thousands(accuracy['queries'])} predictions with each of "
        f"{len(accuracy['differences'])} bandwidths none is off from the exact method's by more than {most:.1e} "
        "standard deviations of y."
    )


def row_of_bandwidths(record: Mapping[str, Any]) -> list[str]:
    """Return times of searches for bandwidths, ours and statsmodels', and what they find."""
    cells = [thousands(record["n"])]
    for name in attention.SEARCHES:
        ratio = faster_than_statsmodels(record, name)
        cells += [median(record["seconds"][name]), spread(ratio) if ratio else ""]
    theirs = record["seconds"][attention.PEER]
    cells.append(median(theirs) if theirs else "")
    names = (*attention.SEARCHES, attention.PEER)
    errors = [record["errors"].get(name) for name in names]
    found = [record["bandwidths"].get(name) for name in names[1:]]
    cells += ["" if error is None else f"{error:.5f}" for error in errors]
    cells += ["" if each is None else ", ".join(f"{value:.3g}" for value in each) for each in found]
    return cells


def short(number: float, digits: int = 3) -> str:
    """Write a number with so many digits, or more where it is large, without an exponent."""
    return f"{number:#.{digits}g}".rstrip(".") if number < 10**digits - 0.5 else f"{number:.0f}"


def cell_of_error(results: Results, d: int, rule: str, z: float, spectrum: str) -> str:
    """Return one error, or nothing where the rule does not fit; zero to rounding is written as such."""
    record = error(results, d, rule, z, spectrum)
    if record is None:
        return ""
    return f"{record['rms']:.1e}" if record["rms"] > 1e-13 else "rounding"


def median(seconds: Sequence[float]) -> str:
    """Write the median of some times."""
    middle = Spread.of(seconds).median
    return milliseconds(middle) if middle < 1 else f"{middle:.3g} s"


def milliseconds(seconds: float) -> str:
    """Write a time in milliseconds, with three digits below 100."""
    return f"{1000 * seconds:.3g} ms" if seconds < 0.1 else f"{1000 * seconds:.0f} ms"


def thousands(number: int) -> str:
    """Write a number in groups of three digits."""
    return f"{number:,}".replace(",", " ")


def spread(ratio: Spread) -> str:
    """Write the median and the range of a ratio."""
    return f"{ratio.median:.3g} ({ratio.minimum:.3g} to {ratio.maximum:.3g})"


TABLES: dict[str, Callable[[Results], str]] = {
    "summary": summary,
    "errors by rule": errors_by_rule,
    "errors by distance": errors_by_distance,
    "errors of fixed rules": errors_of_fixed_rules,
    "times by width": times_by_width,
    "times of footprints": times_of_footprints,
    "times of kernels": times_of_kernels,
    "variances of positive features": variances_of_positive,
    "attention": kernel_regression,
}
