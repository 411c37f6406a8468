"""Gates of the project: layers, imports, documentation, sizes."""

import ast
import dataclasses
import doctest
import importlib
import inspect
import io
import pkgutil
import re
import subprocess
import sys
import textwrap
import tokenize
import tomllib
import types
from pathlib import Path

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc
from numpydoc.validate import validate

import spectralkit
from spectralkit import ApproximationWarning, CapabilityError, SpectralMeasure, TemplateError
from spectralkit.rules import Rule

PACKAGE = Path(spectralkit.__file__).parent
ROOT = PACKAGE.parent
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}

# From the bottom up: a module imports only from what stands before it. Those that do not exist yet
# have their place already.
LAYERS = [
    "_xp",
    "_parallel",
    "_loops",
    "_validation",  # checks of arguments; knows NumPy and scikit-learn alone
    "_rows",  # which rows are equal, and folds that keep equal rows together
    "spectra",
    "rules",
    "maps",
    "rays",  # pieces of rays as Gaussians or points; knows no measure
    "nufft",
    "estimation",
    "moments",
    "posterior",
    "features",
    "kernels",
    "explanation",
    "ridge",
    "gp",
    "forecast",
    "attention",
    "diagnostics",
    "datasets",
    "dask",
    "torch",
    "testing",
    "",  # spectralkit/__init__.py
]
LAYERS_OF_SPECTRA = [
    ["_dual"],
    ["_parameters"],
    ["_lags"],
    ["_template"],
    ["_capable"],
    ["_choose"],
    ["_kernel_side"],
    ["_frequency_side"],
    ["base"],
    ["_bessel", "_has_sigma"],
    ["radial", "mixture", "atomic"],
    ["matern", "rational_quadratic", "band_limited", "laplacian", "ladder", "periodic"],
    ["algebra", "wrappers"],
    ["_footprint_lags"],
    ["footprint"],
    ["_sklearn"],
    [""],  # spectralkit/spectra/__init__.py
]
# operators make sums, products and wrappers, which are measures themselves: they are imported when an operator is used
ALLOWED_UPWARDS = {("base", "algebra"), ("base", "wrappers")}


def module_name(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def is_module(name):
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def imported_modules(tree):
    """(module, whether the import stands inside a function) of every import; ``from a import b`` is a.b if a module."""
    inner = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in inner
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if is_module(name) else node.module, id(node) in inner


def own_imports(path):
    return [(name, inner) for name, inner in imported_modules(TREES[path]) if name.split(".")[0] == "spectralkit"]


def unit(name):
    """The layer of a module: "spectra" for spectralkit.spectra.base."""
    return name.partition(".")[2].split(".")[0]


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_modules_import_only_from_layers_below(path):
    mine = unit(module_name(path))
    for name, _ in own_imports(path):
        if unit(name) != mine:
            assert LAYERS.index(unit(name)) < LAYERS.index(mine), f"{module_name(path)} imports {name}"


@pytest.mark.parametrize("path", sorted(PACKAGE.joinpath("spectra").glob("*.py")), ids=lambda path: path.stem)
def test_layers_inside_spectra(path):
    rank = {stem: i for i, stems in enumerate(LAYERS_OF_SPECTRA) for stem in stems}
    mine = path.stem if path.stem != "__init__" else ""
    for name, inner in own_imports(path):
        if unit(name) == "spectra":
            theirs = name.removeprefix("spectralkit.spectra").removeprefix(".")
            if inner and (mine, theirs) in ALLOWED_UPWARDS:
                continue
            assert rank[theirs] < rank[mine], f"spectra.{mine} imports spectra.{theirs}"


def test_the_layer_test_sees_imports_upwards_and_inside_functions():
    tree = ast.parse("from spectralkit import kernels\ndef f():\n    import spectralkit.features.fourier as g\n")
    assert list(imported_modules(tree)) == [("spectralkit.kernels", False), ("spectralkit.features.fourier", True)]
    assert (unit("spectralkit.features.fourier"), unit("spectralkit")) == ("features", "")


HEAVY = ["torch", "gpytorch", "dask", "matplotlib", "pandas", "numba", "finufft", "polars"]
LIGHT = ["spectralkit", "spectralkit.testing", "spectralkit.datasets"]


def run_python(program):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_the_library_loads_no_heavy_package():
    """scikit-learn may load some of them (1.9 imports pandas if it is there); ours adds none."""
    loaded = f"{{name.split('.')[0] for name in sys.modules}} & set({HEAVY})"
    program = f"import sys, sklearn.base; before = {loaded}; import {', '.join(LIGHT)}; print(*{loaded} - before)"
    assert run_python(program) == []


def test_the_library_works_without_any_heavy_package():
    program = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {HEAVY}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import {", ".join(LIGHT)}
print(*spectralkit.FourierFeatures(n_components=4, random_state=0).fit_transform([[0.0], [1.0]]).shape)
"""
    assert run_python(program) == ["2", "4"]


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_no_private_parts_of_scikit_learn(path):
    private = [
        name
        for node in ast.walk(TREES[path])
        for name in (
            [f"{node.module}.{alias.name}" for alias in node.names]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
        if re.match(r"sklearn(\.\w+)*\._", name)
    ]
    private += re.findall(r"\bsklearn(?:\.\w+)*\._\w+", path.read_text(encoding="utf-8"))
    assert not private


def subclasses(cls):
    return {cls}.union(*(subclasses(child) for child in cls.__subclasses__()))


MEASURES = {c.__name__ for c in subclasses(SpectralMeasure) if c.__module__.startswith("spectralkit.")}
RULES = {c.__name__ for c in subclasses(Rule) if c.__module__.startswith("spectralkit.")}


def class_tests(tree):
    """Names of the classes that isinstance, issubclass, comparisons of type(...) and match statements ask about."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            yield from names_in(node.args[1])
        elif isinstance(node, ast.Compare) and "type(" in ast.unparse(node):
            yield from names_in(node)
        elif isinstance(node, ast.MatchClass):
            yield from names_in(node.cls)


def names_in(node):
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_nobody_asks_for_the_class_of_a_measure_or_rule(path):
    home = unit(module_name(path))
    forbidden = (MEASURES - {"SpectralMeasure"} if home != "spectra" else set()) | (
        RULES - {"Rule"} if home != "rules" else set()
    )
    assert not forbidden & set(class_tests(TREES[path]))


def test_the_class_test_sees_every_way_to_ask():
    asks = [
        "isinstance(m, Gaussian)",
        "isinstance(m, (int, spectra.Gaussian))",
        "isinstance(m, int | Gaussian)",
        "issubclass(type(m), Gaussian)",
        "type(m) is Gaussian",
        "match m:\n    case Gaussian():\n        pass",
    ]
    assert all("Gaussian" in set(class_tests(ast.parse(source))) for source in asks)
    assert {"Gaussian", "Sum", "OnColumns", "SpectralMixture", "SpectralMeasure"} <= MEASURES
    assert {"QMC", "RandomRule", "Rule"} <= RULES


# -- sizes -------------------------------------------------------------------------------------------------------------


def lines_of_code(source, node):
    """Lines of a function without docstrings, comments and blank lines."""
    docstrings = set()
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(part):
            docstrings.update(range(part.body[0].lineno, part.body[0].end_lineno + 1))
    trivia = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    code = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in trivia:
            code.update(range(token.start[0], token.end[0] + 1))
    return len((code - docstrings) & set(range(node.lineno, node.end_lineno + 1)))


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_files_and_functions_stay_readable(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 400
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert lines_of_code(source, node) <= 60, f"{node.name} has {lines_of_code(source, node)} lines of code"


def test_lines_of_code_are_counted_without_words():
    source = (
        'def f(x):\n    """Doc.\n\n    More.\n    """\n    # why\n\n    y = (\n        x\n    )\n    return y  # end\n'
    )
    assert lines_of_code(source, ast.parse(source).body[0]) == 5


# -- public names ------------------------------------------------------------------------------------------------------


def public_modules():
    """Every module of the package whose path has no private part, those of optional packages where there are these."""
    yield spectralkit
    for info in pkgutil.walk_packages(spectralkit.__path__, "spectralkit."):
        if not any(part.startswith("_") for part in info.name.split(".")):
            try:
                yield importlib.import_module(info.name)
            except ImportError:
                assert info.name.startswith(("spectralkit.torch", "spectralkit.dask"))


MODULES = {module.__name__: module for module in public_modules()}
PACKAGES = {name: module for name, module in MODULES.items() if hasattr(module, "__path__")}
WITH_ALL = {name: module for name, module in MODULES.items() if hasattr(module, "__all__")}


def documented(thing):
    return inspect.isclass(thing) or inspect.isroutine(thing)


# what users see: public name -> object, each object once, under its shortest name
PUBLIC = {}
for _module_name in sorted(WITH_ALL, key=lambda name: (name.count("."), name)):
    for _name in WITH_ALL[_module_name].__all__:
        _thing = getattr(WITH_ALL[_module_name], _name, None)
        if documented(_thing) and not any(_thing is known for known in PUBLIC.values()):
            PUBLIC[f"{_module_name}.{_name}"] = _thing


def own_members(cls):
    """Public methods and properties that the package wrote, inherited ones included."""
    for name in dir(cls):
        attribute = inspect.getattr_static(cls, name)
        function = getattr(attribute, "__func__", attribute)
        function = function.fget if isinstance(function, property) else function
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        inherits_its_words = function.__doc__ is None and inspect.getdoc(getattr(cls, name))
        if function.__module__.startswith("spectralkit.") and not inherits_its_words:
            yield name, function


MEMBERS = {}
for _name, _thing in PUBLIC.items():
    if inspect.isclass(_thing):
        for _member, _function in own_members(_thing):
            if not any(_function is known for known, _ in MEMBERS.values()):
                MEMBERS[f"{_name}.{_member}"] = (_function, inspect.getattr_static(_thing, _member))


def order(name):
    """Constants, then classes, then functions, as ruff sorts (RUF022)."""
    return 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name


@pytest.mark.parametrize("module", WITH_ALL.values(), ids=WITH_ALL)
def test_all_is_sorted_complete_and_true(module):
    names = module.__all__
    assert names == sorted(names, key=order)
    assert len(set(names)) == len(names)
    assert all(hasattr(module, name) for name in names)
    visible = {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and documented(thing)
        # a package shows what it imports from its own modules, a module what it defines
        and (thing.__module__ or "").startswith(module.__name__ if module.__name__ in PACKAGES else "spectralkit")
        and (module.__name__ in PACKAGES or thing.__module__ == module.__name__)
    }
    assert visible <= set(names), f"not in __all__: {sorted(visible - set(names))}"


def test_every_package_says_what_is_public():
    assert set(PACKAGES) <= set(WITH_ALL)
    assert {"spectralkit.rules", "spectralkit.maps", "spectralkit.kernels"} <= set(WITH_ALL)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_have_an_example(name):
    thing = PUBLIC[name]
    text = inspect.getdoc(thing) or ""
    assert thing.__doc__, "no docstring of its own"
    assert re.search(r"^Examples\n-+$", text, re.MULTILINE), "no Examples section"
    assert doctest.DocTestParser().get_examples(text), "no doctest in it"


IGNORED = {
    "RT02",  # as in scikit-learn: return values have names where there are several
    "GL01",  # as in scikit-learn: the summary stands on the line of the quotes
    "GL02",  # as in scikit-learn: one-line docstrings close on their line
    "ES01",  # a summary that says everything needs no second paragraph
    "SA01",  # See Also only where there is something to see
    "EX01",  # required of public names by the test above; methods are shown in the examples of their class
}
PROPERTY_IGNORED = IGNORED | {"RT01"}  # a property is described as the noun that it is


def problems(name, ignored):
    return [f"{code}: {text}" for code, text in validate(name)["errors"] if code not in ignored]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_docstrings_are_numpydoc(name):
    thing = PUBLIC[name]
    ignored = set(IGNORED)
    if dataclasses.is_dataclass(thing) and not issubclass(thing, SpectralMeasure):
        # the arguments of a plain dataclass are its attributes, documented once, under either heading
        sections = ClassDoc(thing)
        fields = [field.name for field in dataclasses.fields(thing)]
        if [entry.name for entry in sections["Attributes"]] == fields:
            ignored.add("PR01")
    assert not problems(name, ignored)


@pytest.mark.parametrize("name", MEMBERS)
def test_public_methods_are_numpydoc(name):
    _, attribute = MEMBERS[name]
    assert not problems(name, PROPERTY_IGNORED if isinstance(attribute, property) else IGNORED)


MESSAGES = (ApproximationWarning, CapabilityError, TemplateError)  # their constructor is Python's


def described_parameters(function, doc):
    """(name, type text, default) of the documented parameters that the signature has."""
    signature = inspect.signature(function)
    for entry in doc["Parameters"]:
        for name in entry.name.split(","):
            bare = name.strip().lstrip("*")
            if bare in signature.parameters:
                yield bare, entry.type, signature.parameters[bare]


def required_in_effect(thing, default):
    """Fields of a measure have defaults, because those of its base have, but the measure may refuse to go without."""
    if not (inspect.isclass(thing) and issubclass(thing, SpectralMeasure) and default in (None, ())):
        return False
    with pytest.raises((TypeError, ValueError)):
        thing()
    return True


@pytest.mark.parametrize("name", [*PUBLIC, *MEMBERS])
def test_documented_defaults_are_those_of_the_signature(name):
    thing = PUBLIC[name] if name in PUBLIC else MEMBERS[name][0]
    if (name in MEMBERS and isinstance(MEMBERS[name][1], property)) or thing in MESSAGES:
        return
    doc = ClassDoc(thing) if inspect.isclass(thing) else FunctionDoc(thing)
    for parameter, text, found in described_parameters(thing, doc):
        if found.kind in (found.VAR_POSITIONAL, found.VAR_KEYWORD):
            continue
        where = f"{name}({parameter}): {text!r}"
        stated = re.search(r"default=(.+)$", text)
        if found.default is found.empty:
            assert stated is None, f"{where} is required"
            assert "optional" not in text, f"{where} is required"
        elif stated:
            assert ast.literal_eval(stated.group(1)) == found.default, f"{where} is {found.default!r}"
        elif "optional" in text:
            assert found.default is None, f"{where} is {found.default!r}"
        else:
            assert required_in_effect(thing, found.default), f"{where} does not say that it has a default"


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if hasattr(thing, "fit")])
def test_fitted_attributes_are_documented(name):
    cls = PUBLIC[name]
    X = [[0.0, 1.0], [2.0, 3.0], [5.0, 1.0]]
    fitted = cls().fit(X, [0.0, 1.0, 2.0])
    found = {
        attribute
        for attribute in dir(fitted)
        if attribute.endswith("_") and not attribute.startswith("_") and hasattr(fitted, attribute)
    }
    described = {entry.name for entry in ClassDoc(cls)["Attributes"]}
    assert found <= described
    assert described - found <= {"feature_names_in_", "column_moments_", "predicted_error_"}  # that not every fit gives


# -- what is written for users -----------------------------------------------------------------------------------------

PAGES = [path for path in [ROOT / "README.md", *sorted(ROOT.joinpath("docs").glob("*.md"))] if path.is_file()]


def python_blocks(text):
    return [
        (text[: block.start()].count("\n") + 2, textwrap.dedent(block.group(1)))
        for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_code_on_the_page_runs(path, tmp_path, monkeypatch):
    """The blocks of a page run one after the other in one namespace; those with >>> are doctests."""
    monkeypatch.chdir(tmp_path)
    page = types.ModuleType(f"page_{path.stem}")
    monkeypatch.setitem(sys.modules, page.__name__, page)  # classes defined on the page can be pickled
    namespace = vars(page)
    for line, code in python_blocks(path.read_text(encoding="utf-8")):
        if ">>> " in code:
            test = doctest.DocTestParser().get_doctest(code, namespace, path.name, str(path), line)
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            assert runner.failures == 0
            namespace.update(test.globs)
        else:
            exec(compile("\n" * (line - 1) + code, str(path), "exec"), namespace)


def test_python_blocks_are_found():
    assert python_blocks("a\n```python\nx = 1\n```\n```sh\nls\n```\n```python\n>>> x\n1\n```\n") == [
        (3, "x = 1\n"),
        (9, ">>> x\n1\n"),
    ]


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == spectralkit.__version__
    assert (PACKAGE / "py.typed").is_file()
