"""The benchmarks: that they measure what they say, and that tables on pages are those of the results."""

import copy
import json

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import _report, _results, footprint, kernel_error, transform
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
    for section in ("transform", "memory", "kernel_error"):
        shorter = copy.deepcopy(made_up)
        del shorter[section][0]
        assert _results.missing(shorter)
    shorter = copy.deepcopy(made_up)
    del shorter["imports"]["sklearn"][0]
    assert _results.missing(shorter) == ["imports: 7 of sklearn"]


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
    for rows in written.split("\n\n"):  # every row of a table is as long as its head
        if rows.startswith("| "):
            assert len({line.count(" |") for line in rows.splitlines()}) == 1


def test_goals_hold_or_not_by_the_median(made_up):
    verdicts = {bar.what: bar.holds for bar in bars(made_up)}
    assert len(verdicts) == 16
    main = "transform, d = 8, n = 50000, width 1024, "
    assert verdicts[main + "float64: RBFSampler / ours"]
    assert verdicts[main + "float64: ours / fill"]
    assert not verdicts[main + "ours: float64 / float32"]  # equal times
    assert not verdicts["kernel error, d = 1, at one lengthscale: RBFSampler / ours"]  # 20, not 100
    assert verdicts["kernel error, d = 2, at one lengthscale: RBFSampler / ours"]
    assert verdicts["import spectralkit, beyond `import sklearn`"]
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
    assert "transform, memory, kernel_error, imports" in " ".join(capsys.readouterr().out.split())
