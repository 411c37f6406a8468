"""The benchmarks: that they measure what they say, and that tables on pages are those of the results."""

import copy
import json

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import _report, _results, footprint, kernel_error, positive_error, transform, variants
from benchmarks._bars import bars
from benchmarks._environment import describe
from benchmarks._timing import Spread, in_turns

RULES = (*kernel_error.RANDOM_RULES, *kernel_error.FIXED_RULES, kernel_error.PEER)


@pytest.fixture
def made_up():
    """Results of the form of a complete run, with round numbers."""
    rounds = {"spectralkit": [0.1, 0.1, 0.2, 0.1, 0.1], "one thread": [0.2] * 5, "RBFSampler": [1.0] * 5}
    rounds["fill"] = [0.05] * 5
    error = {"width": kernel_error.WIDTH, "seeds": kernel_error.SEEDS, "standard_error": 1e-5}
    return {
        "environment": describe(),
        "transform": [
            {"d": d, "n": n, "width": width, "dtype": dtype, "seconds": rounds}
            for d, n, width in transform.shapes(quick=False)
            for dtype in transform.DTYPES
        ],
        "variants": [
            {"d": d, "n": variants.ROWS, "width": variants.WIDTH, "dtype": dtype, "threads": threads}
            | {"seconds": {name: [times.get(name, 0.15)] * 5 for name in variants.names(d, threads)}}
            for d in variants.COLUMNS
            for dtype, times in {
                "float64": {"plain": 0.1},
                "float32": {"plain": 0.05, "positive": 0.1, "covariance": 0.2},
            }.items()
            for threads in variants.THREADS
            if variants.names(d, threads)
        ],
        "memory": [
            {"d": d, "n": n, "width": width, "dtype": dtype, "peak": {"spectralkit": 1.25, "RBFSampler": 1.5}}
            for d, n, width in footprint.MEMORY_SHAPES
            for dtype in transform.DTYPES
        ],
        "kernel_error": [
            {"spectrum": "gaussian", "d": d, "rule": rule, "z": z, "rms": 0.02 if rule == "RBFSampler" else 1e-3}
            | error
            for d in kernel_error.COLUMNS
            for rule in RULES
            for z in kernel_error.DISTANCES
        ],
        "positive_error": [
            {"d": d, "z": z, "independent": 0.5, "orthogonal": 0.4, "default": 0.1}
            | ({"seeds": positive_error.SEEDS, "measured": 0.11, "standard_error": 0.005} if z <= 1 else {})
            for d in positive_error.COLUMNS
            for z in positive_error.LENGTHS
        ],
        "imports": {
            name: [0.25 if name == "spectralkit" else 0.125] * _results.FEWEST_IMPORTS for name in footprint.IMPORTS
        },
    }


# -- what is checked in ------------------------------------------------------------------------------------------------


@pytest.fixture
def results():
    if not _results.PATH.is_file():
        pytest.skip("benchmarks/results.json is not there yet: python -m benchmarks")
    return _results.load()


def test_the_results_are_complete_and_name_no_machine(results):
    assert _results.missing(results) == []
    text = json.dumps(results["environment"])
    assert "/" not in text
    assert set(results["environment"]) == set(describe())


@pytest.mark.parametrize("page", _report.PAGES, ids=lambda page: page.name)
def test_the_tables_of_the_page_are_those_of_the_results(page, results):
    text = page.read_text(encoding="utf-8")
    assert _report.blocks(text) == _report.blocks(_report.rewrite(text, results))


def test_the_pages_have_their_tables():
    found = [name for page in _report.PAGES for name in _report.blocks(page.read_text(encoding="utf-8"))]
    assert sorted(found) == sorted(_report.TABLES)


# -- tables and goals --------------------------------------------------------------------------------------------------


def test_complete_results_lack_nothing_and_each_gap_is_named(made_up):
    assert _results.missing(made_up) == []
    for section in ("environment", *_results.SECTIONS):
        assert _results.missing({k: v for k, v in made_up.items() if k != section}) == [f"the section {section}"]
    for section in ("transform", "variants", "memory", "kernel_error", "positive_error"):
        shorter = copy.deepcopy(made_up)
        del shorter[section][0]
        assert _results.missing(shorter)
    shorter = copy.deepcopy(made_up)
    del shorter["imports"]["sklearn"][0]
    assert _results.missing(shorter) == ["imports: 7 of sklearn"]
    shorter = copy.deepcopy(made_up)
    del shorter["variants"][-1]["seconds"]["positive"][0]
    assert _results.missing(shorter) == ["variants: 5 rounds of positive at d = 8, float32, threads: one"]
    shorter = copy.deepcopy(made_up)
    shorter["positive_error"][positive_error.LENGTHS.index(1.0)]["seeds"] -= 1
    assert _results.missing(shorter) == ["positive_error: d = 8, z = 1.0"]


def test_tables_have_the_numbers_and_rewriting_twice_changes_nothing(made_up):
    page = "a\n<!-- benchmark table -->\nstale\n<!-- end of benchmark table -->\nb\n"
    page += "".join(
        f"<!-- benchmark table: {name} -->\n<!-- end of benchmark table -->\n"
        for name in _report.TABLES
        if name != "summary"
    )
    written = _report.rewrite(page, made_up)
    assert _report.rewrite(written, made_up) == written
    assert written.startswith("a\n<!-- benchmark table -->\n\nMeasured by")
    assert "stale" not in written
    assert "| 50 000 × 8 | float64 | 100 ms | 1000 ms | 50 ms | 10 (5 to 10) |" in written
    assert "| 8 | 1.0e-03 | 2.0e-02 | 20 ± 0.2 |" in written
    assert "1.25 times the memory" in written
    assert "| float32 | 50 ms | 150 ms | 3 (3 to 3) | 100 ms | 2 (2 to 2) |" in written
    assert "take 4 times as long for full covariances (2 columns, float32) and 2 times" in written
    assert "2 times as long for positive features (2 columns, float32)" in written
    assert "| 8 | float64 | one | 100 ms |  | 1.5 (1.5 to 1.5) |  |  |  |  |" in written
    assert "| 16 | 2 | 0.500 | 0.400 | 0.100 | 4.0 |" in written
    assert "to within 2 standard errors" in written
    assert "up to z = 50 is 4.00, at d = 8" in written
    for rows in written.split("\n\n"):  # every row of a table is as long as its head
        if rows.startswith("| "):
            assert len({line.count(" |") for line in rows.splitlines()}) == 1


def test_numbers_of_every_size_have_no_exponent():
    assert [_report.short(number) for number in (0.004558, 0.2, 10.04, 99.96, 999.6, 1012.3)] == [
        *("0.00456", "0.200", "10.0", "100", "1000", "1012")
    ]
    assert [_report.short(number, 2) for number in (1.84, 5.0, 10.2, 99.6)] == ["1.8", "5.0", "10", "100"]


def test_goals_hold_or_not_by_the_median(made_up):
    verdicts = {bar.what: bar.holds for bar in bars(made_up)}
    assert len(verdicts) == 32
    main = "transform, d = 8, n = 50000, width 1024, "
    assert verdicts[main + "float64: RBFSampler / ours"]
    assert verdicts[main + "float64: ours / fill"]
    assert not verdicts[main + "ours: float64 / float32"]  # equal times
    assert not verdicts["kernel error, d = 1, at one lengthscale: RBFSampler / ours"]  # 20, not 100
    assert verdicts["kernel error, d = 2, at one lengthscale: RBFSampler / ours"]
    assert verdicts["import spectralkit, beyond `import sklearn`"]
    assert verdicts[main + "float64: integrated, a width for each row / plain"]
    assert not verdicts[main + "float32: integrated, a width for each row / plain"]  # 3
    assert verdicts[main + "float32: positive / plain"]  # 2, which is allowed
    assert verdicts["positive features, d = 16, z <= 2: orthogonal FAVOR+ / default, least"]  # 4
    assert verdicts["positive features, d = 64, z <= 50: orthogonal FAVOR+ / default, least"]
    assert verdicts["positive features, d = 8, z = 0.5: measured variance, closed form behind"]  # two errors off
    worse = copy.deepcopy(made_up)
    for record in worse["positive_error"]:
        record["default"] = {1.0: 0.09, 2.0: 0.25, 4.0: 0.5}.get(record["z"], record["default"])
    verdicts = {bar.what: bar.holds for bar in bars(worse)}
    assert not verdicts["positive features, d = 8, z = 1: measured variance, closed form behind"]  # four errors off
    assert not verdicts["positive features, d = 8, z <= 2: orthogonal FAVOR+ / default, least"]  # 1.6
    assert not verdicts["positive features, d = 8, z <= 50: orthogonal FAVOR+ / default, least"]  # 0.8
    assert list(bars({})) == []


def test_results_are_written_and_read(made_up, tmp_path):
    _results.save(made_up, tmp_path / "results.json")
    assert _results.load(tmp_path / "results.json") == made_up


# -- measurements ------------------------------------------------------------------------------------------------------


def test_contenders_take_turns_and_the_first_round_does_not_count():
    calls = []
    seconds = in_turns({name: lambda name=name: calls.append(name) for name in "ab"}, rounds=3)
    assert calls == list("abbaabba")
    assert [len(times) for times in seconds.values()] == [3, 3]
    assert Spread.of_ratios([2.0, 3.0, 8.0], [1.0, 1.0, 2.0]) == (2.0, 3.0, 4.0)


def test_shapes_fit_in_memory():
    d, n, width = transform.MAIN_SHAPE
    assert n == transform.rows_for(d, width) == 50_000
    assert transform.MAIN_SHAPE in transform.shapes(quick=False)
    for d, n, width in transform.shapes(quick=False):
        assert 8 * n * width <= transform.LARGEST_OUTPUT
        assert n <= 50_000
        assert d < 784 or n <= 20_000


def test_the_contenders_approximate_the_same_kernel():
    X = transform.points(200, 8, "float64")
    calls = transform.contenders(X, 4096)
    exact = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1) / 16)
    for name in transform.CONTENDERS[:3]:
        Z = calls[name]()
        assert np.sqrt(np.mean((Z @ Z.T - exact) ** 2)) < 0.03
    assert calls["fill"]().shape == (200, 4096)


@pytest.mark.parametrize("dtype", transform.DTYPES)
def test_records_of_transform_and_memory(dtype):
    (record,) = [r for r in transform.measure([(2, 50, 8)], rounds=2) if r["dtype"] == dtype]
    assert {name: len(times) for name, times in record["seconds"].items()} == dict.fromkeys(transform.CONTENDERS, 2)
    (record,) = [r for r in footprint.measure_memory(((2, 5000, 64),)) if r["dtype"] == dtype]
    assert all(peak >= 1.0 for peak in record["peak"].values())


@pytest.mark.parametrize("d", [2, 8])
def test_integrated_and_positive_contenders_are_what_they_say(d):
    X = transform.points(300, d, "float64")
    calls = variants.contenders(X, 256, "all")
    assert tuple(calls) == variants.names(d, "all")
    Z = {name: call() for name, call in calls.items()}
    assert all(z.shape == (300, 256) for z in Z.values())
    length = {name: np.linalg.norm(z, axis=1) for name, z in Z.items()}
    np.testing.assert_allclose(length["plain"], 1.0)
    assert np.ptp(length["one width"]) < 1e-12
    assert length["one width"].max() < 0.99
    for name in set(calls) & {"gaussian", "box", "disc", "ball"}:  # the wider, the shorter
        assert (np.diff(length[name][np.argsort(variants.widths(300))]) < 0).all()
    if "covariance" in calls:
        assert 0.01 < np.std(length["covariance"]) / np.std(length["gaussian"]) < 10
    assert (Z["positive"] > 0).all()
    near = np.linalg.norm(X, axis=1) < np.sqrt(d)
    kernel = np.exp(-((X[near][:, None] - X[near]) ** 2).sum(axis=-1) / (2 * d))
    assert np.sqrt(np.mean((Z["positive"][near] @ Z["positive"][near].T / kernel - 1) ** 2)) < 0.2


@pytest.mark.parametrize("dtype", transform.DTYPES)
def test_records_of_variants(dtype):
    found = [r for r in variants.measure((2, 8), rounds=2, n=50, width=64) if r["dtype"] == dtype]
    assert [(r["d"], r["threads"]) for r in found] == [(2, "all"), (8, "all"), (8, "one")]
    for record in found:
        names = variants.names(record["d"], record["threads"])
        assert {name: len(times) for name, times in record["seconds"].items()} == dict.fromkeys(names, 2)
    assert variants.columns(quick=True) == (8,)
    assert variants.columns(quick=False) == variants.COLUMNS == (2, 3, 8)
    assert {name for d in variants.COLUMNS for name in variants.names(d, "all")} == {
        *("plain", "one width", "gaussian", "box", "disc", "ball", "covariance", "positive")
    }


def test_variances_of_positive_features_are_those_of_the_formula_and_of_the_draws():
    d = 4
    found = {record["z"]: record for record in positive_error.measure((d,), seeds=400)}
    assert set(found) == set(positive_error.LENGTHS) >= {0.5, 1.0, 2.0, 4.0, 9.0, 50.0}
    for z, record in found.items():
        np.testing.assert_allclose(record["independent"], np.expm1(z) / d, rtol=1e-5)
        assert ("measured" in record) == (z in positive_error.MEASURED)
        assert record["default"] < record["orthogonal"] <= record["independent"]
    for z in positive_error.MEASURED:
        assert found[z]["seeds"] == 400
        assert _results.standard_errors_off(found[z]) < 5


def test_positive_features_are_fitted_to_the_z_of_their_pairs():
    X, Y = positive_error.pairs_of_points(8, 4.0, 10)
    np.testing.assert_allclose(((X + Y) ** 2).sum(axis=1), 4.0)
    np.testing.assert_allclose(((X - Y) ** 2).sum(axis=1), 4.0)
    features = positive_error.fitted("default", X, Y, seed=0)
    np.testing.assert_allclose(features.centre_, 0.0, atol=1e-15)
    p = 4.0 / 8
    np.testing.assert_allclose(features.tilt_, (1 - 2 * p - np.sqrt((2 * p + 1) ** 2 + 8 * p)) / 16)
    assert features.transform(X).shape == (10, 8)
    expected = {"independent": ("positive", "iid"), "orthogonal": ("positive", "orthogonal")}
    expected["default"] = ("optimal", "simplex")
    for name, options in expected.items():
        method = positive_error.fitted(name, X, Y, seed=0)
        assert (method.variant, method.rule) == options


def test_memory_is_counted():
    assert 2.9 < footprint.peak_multiple(lambda: np.multiply(np.ones(100_000), np.ones(100_000))) < 3.1


def test_kernel_errors_match_the_variance_of_independent_draws():
    width = 64
    found = list(kernel_error.measure((2,), seeds=30, width=width))
    assert {(r["spectrum"], r["rule"]) for r in found} >= {("gaussian", rule) for rule in RULES if rule != "grid"}
    for record in found:
        if (record["spectrum"], record["rule"]) == ("gaussian", "iid"):
            k, k2 = np.exp(-(record["z"] ** 2) / 2), np.exp(-2 * record["z"] ** 2)
            expected = np.sqrt(((1 + k2) / 2 - k**2) / (width / 2))
            assert abs(record["rms"] - expected) < 5 * record["standard_error"]


def test_pairs_are_as_far_apart_as_they_say():
    X, Y = kernel_error.pairs_of_points(3, 10)
    distance = np.linalg.norm(X - Y, axis=1).reshape(len(kernel_error.DISTANCES), 10)
    np.testing.assert_allclose(distance, np.repeat(np.array(kernel_error.DISTANCES)[:, None], 10, axis=1), rtol=1e-12)


def test_imports_are_timed_in_fresh_interpreters(monkeypatch):
    assert 0 < float(footprint.run_python(footprint.TIMER.format(timed=footprint.IMPORTS["numpy"]))) < 60
    programs = []
    monkeypatch.setattr(footprint, "run_python", lambda program: programs.append(program) or "0.5")
    assert footprint.measure_imports(repeats=2) == {name: [0.5, 0.5] for name in footprint.IMPORTS}
    assert programs == programs[:5] * 3
    assert all("spectralkit" in program for program in programs[3:5])


# -- the command -------------------------------------------------------------------------------------------------------


def test_a_partial_run_is_written_only_where_it_was_asked_for(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(command, "PATH", tmp_path / "results.json")
    monkeypatch.setitem(command.MEASUREMENTS, "memory", lambda quick: [])
    assert command.main(["--only", "memory", "--quick"]) == 0
    assert "not a full run" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    assert command.main(["--only", "memory", "--json", str(tmp_path / "part.json")]) == 0
    assert set(_results.load(tmp_path / "part.json")) == {"environment", "memory"}
    assert command.main(["--readme", "--json", str(tmp_path / "part.json")]) == 1
    assert "it lacks" in capsys.readouterr().err
    assert command.main(["--readme", "--json", str(tmp_path / "none.json")]) == 1
    with pytest.raises(SystemExit):
        command.main(["--only", "speed"])


def test_sections_are_put_in_place_of_older_ones(made_up, tmp_path, capsys, monkeypatch):
    path = tmp_path / "results.json"
    newer = copy.deepcopy(made_up["memory"])
    newer[0]["peak"]["spectralkit"] = 2.0
    monkeypatch.setitem(command.MEASUREMENTS, "memory", lambda quick: [] if quick else newer)
    monkeypatch.setattr(command, "PATH", path)
    assert command.main(["--only", "memory", "--update"]) == 1  # no file whose other sections could be kept
    assert not path.is_file()
    _results.save(made_up, path)
    assert command.main(["--only", "memory", "--update", "--quick"]) == 1
    assert "would lack" in capsys.readouterr().err
    assert _results.load(path) == made_up
    pools = made_up["environment"]["thread_pools"][::-1]  # in the order of the imports, which is no difference
    _results.save(made_up | {"environment": {**made_up["environment"], "thread_pools": pools}}, path)
    assert command.main(["--only", "memory", "--update"]) == 0
    found = _results.load(path)
    assert list(found) == ["environment", *_results.SECTIONS]
    assert found["memory"] == newer
    assert found["transform"] == made_up["transform"]
    _results.save(made_up | {"environment": {**made_up["environment"], "processors": 999}}, path)
    assert command.main(["--only", "memory", "--update"]) == 1
    assert "another one (processors)" in capsys.readouterr().err
    assert _results.load(path)["memory"] == made_up["memory"]


def test_the_command_writes_the_tables(made_up, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("<!-- benchmark table -->\n<!-- end of benchmark table -->\n", encoding="utf-8")
    monkeypatch.setattr(command, "PAGES", (page,))
    monkeypatch.setattr(command, "ROOT", tmp_path)
    _results.save(made_up, tmp_path / "results.json")
    assert command.main(["--readme", "--json", str(tmp_path / "results.json")]) == 0
    assert "times faster" in page.read_text(encoding="utf-8")


def test_help_names_the_sections(capsys):
    with pytest.raises(SystemExit):
        command.main(["--help"])
    assert ", ".join(_results.SECTIONS) in " ".join(capsys.readouterr().out.split())
