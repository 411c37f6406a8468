"""What is wrong, where, and what to do: every message says all three."""

import math

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from spectralkit import (
    Atomic,
    BandLimited,
    CapabilityError,
    FourierFeatures,
    Gaussian,
    Matern,
    SpectralKernel,
    SpectralMeasure,
    SpectralMixture,
    TemplateError,
    maps,
    positive,
)
from spectralkit.rules import nodes
from spectralkit.spectra import OnColumns, Product, Scaled, Sum

X = np.random.default_rng(0).normal(size=(6, 3))
TWO = X[:, :2]
EITHER = (ValueError, TypeError)


class Triangle(SpectralMeasure):
    """A product of triangles, given by its kernel alone."""

    width: float = positive(default=2.0)

    def _covariance(self, lags):
        k = 1.0
        for j in range(lags.d):
            t = 1 - abs(lags.column(j)) / self.width
            k = k * (t + abs(t)) / 2
        return k


def check(action, error, message):
    """`action` raises `error` with all parts of ``"what was wrong ... where ... what to do"``; ``a|b`` is either."""
    with pytest.raises(error) as raised:
        action()
    said = str(raised.value)
    missing = [part for part in message.split(" ... ") if not any(form in said for form in part.split("|"))]
    assert not missing, f"{missing} not in: {said}"


def cases(table):
    """Parametrize a test of one (action, error, message) by its name."""
    return pytest.mark.parametrize(("action", "error", "message"), table.values(), ids=table)


# -- points ------------------------------------------------------------------------------------------------------------

fitted = FourierFeatures(random_state=0).fit(X)


@pytest.mark.parametrize("action", [FourierFeatures().fit, fitted.transform], ids=["fit", "transform"])
@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.full((4, 3), np.nan), "contains NaN ... Input X ... imputer"),
        (np.full((4, 3), np.inf), "contains infinity ... Input X ... too large for dtype('float64')"),
        (X[:, 0], "got 1D array ... Expected 2D array ... Reshape your data"),
        (X[:0], "0 sample(s) ... FourierFeatures ... minimum of 1"),
        (X[:, :0], "0 feature(s) ... FourierFeatures ... minimum of 1"),
    ],
    ids=["nan", "inf", "one-dimensional", "no rows", "no columns"],
)
def test_points_of_estimators(action, points, message):
    check(lambda: action(points), ValueError, message)


UNFITTED = "is not fitted yet ... FourierFeatures ... Call 'fit'"


@cases(
    {
        "width": (lambda: fitted.transform(TWO), ValueError, "X has 2 features ... FourierFeatures ... expecting 3"),
        "unfitted": (lambda: FourierFeatures().transform(X), NotFittedError, UNFITTED),
        "names of none": (lambda: FourierFeatures().get_feature_names_out(), NotFittedError, UNFITTED),
        "names": (
            lambda: fitted.get_feature_names_out(["a"]),
            ValueError,
            "got 1 ... input_features ... should have length",
        ),
    }
)
def test_the_state_of_estimators(action, error, message):
    check(action, error, message)


def test_an_estimator_whose_first_fit_failed_is_not_fitted():
    estimator = FourierFeatures(n_components=0)
    with pytest.raises(ValueError, match="n_components"):
        estimator.fit(X)
    check(lambda: estimator.transform(X), NotFittedError, UNFITTED)


G = Gaussian(0.1)


@cases(
    {
        "vector X": (lambda: G.gram(X[:, 0]), ValueError, "got shape (6,) ... X must be two-dim ... reshape(-1, 1)"),
        "vector Y": (lambda: G.gram(X, X[0]), ValueError, "got shape (3,) ... Y must be two-dim ... reshape(-1, 1)"),
        "vector in resolve": (
            lambda: Gaussian().resolve(X[:, 0]), ValueError, "got shape (6,) ... X must be two-dim ... reshape(-1, 1)"
        ),
        "number": (lambda: G.characteristic(0.5), ValueError, "single number ... tau ... axis of columns"),
        "X and Y": (lambda: G.gram(X, TWO), ValueError, "X has 3 column(s) ... Y has 2 ... must agree"),
        "gradient": (lambda: G.gram_gradient(X, TWO), ValueError, "X has 3 column(s) ... Y has 2 ... must agree"),
        "gradient, vector Y": (lambda: G.gram_gradient(X, X[0]), ValueError, "got shape (3,) ... Y must be two-dim"),
        "map": (
            lambda: maps.fourier(X, nodes(G, 4, 2)), ValueError, "X has 3 column(s) ... frequencies ... must|Give|Use"
        ),
        "tolerance": (lambda: G.cutoff(0.0, 2), ValueError, "got 0.0 ... tol ... strictly between 0 and 1"),
    }
)  # fmt: skip
def test_points_of_measures(action, error, message):
    check(action, error, message)


def test_tensors_have_their_own_gradients():
    tensor = pytest.importorskip("torch").zeros(2, 1)
    for action in (lambda: G.gram_gradient(tensor), lambda: G.gram_gradient(X[:, :1], tensor)):
        check(action, TypeError, "takes NumPy arrays ... gram_gradient ... call backward()")


# -- every numeric method of a measure, with arguments for three columns -----------------------------------------------

CALLS = {
    "mass": lambda measure: measure.mass,
    "characteristic": lambda measure: measure.characteristic(X),
    "gram": lambda measure: measure.gram(X),
    "gram_gradient": lambda measure: measure.gram_gradient(X),
    "uniforms": lambda measure: measure.uniforms(3),
    "transport": lambda measure: measure.transport(np.full((2, 9), 0.5), 3),
    "polar_uniforms": lambda measure: measure.polar_uniforms(3),
    "polar": lambda measure: measure.polar(np.eye(3), np.full((3, 9), 0.5), 3),
    "atoms": lambda measure: measure.atoms(3),
    "log_density": lambda measure: measure.log_density(X),
    "density": lambda measure: measure.density(X),
    "log_density_gradient": lambda measure: measure.log_density_gradient(X),
    "cutoff": lambda measure: measure.cutoff(0.1, 3),
    "support": lambda measure: measure.support(0.1, 3),
    "log_mgf": lambda measure: measure.log_mgf(X),
    "factors": lambda measure: measure.factors(3),
    "radii": lambda measure: measure.radii(np.full((3, 9), 0.5), 3),
    "gaussian_sigma": lambda measure: measure.gaussian_sigma(3),
    "terms": lambda measure: measure.terms(),
}
OF_TEMPLATES_TOO = {
    "get_params", "set_params", "replace", "parameters", "pack", "unpack", "is_template", "resolve", "dimension",
    "columns", "capabilities", "require", "on", "open_",
}  # fmt: skip


def test_the_list_of_numeric_methods_is_complete():
    public = {name for name in dir(SpectralMeasure) if not name.startswith("_")}
    assert public == set(CALLS) | OF_TEMPLATES_TOO


TREE = Gaussian(0.1) + Matern(nu=0.5) * (Gaussian() + Gaussian(0.2)).on([0])


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize(
    ("template", "open_names"),
    [
        (Matern(nu=2.5), "sigma"),
        (SpectralMixture(n_mixtures=2), "weights, means, sigmas"),
        (2.0 * Gaussian().on([1]), "sigma"),
        (TREE, "1__0__sigma, 1__1__0__sigma"),
    ],
    ids=["leaf", "mixture", "wrapped", "tree"],
)
def test_a_template_where_numbers_are_needed(template, open_names, method):
    message = f"{template!r} is a template ... it has no {open_names} yet. ... Call resolve(X, y), or give the numbers"
    check(lambda: CALLS[method](template), TemplateError, message)


@pytest.mark.parametrize("name", ["pack", "parameters", "get_params", "is_template"])
def test_what_a_template_can_do(name):
    assert getattr(TREE, name)() is not None


@cases(
    {
        "rule": (lambda: nodes(Gaussian(), 4, 2), TemplateError, "is a template ... Gaussian() ... give the numbers"),
        "kernel": (
            lambda: SpectralKernel(Gaussian())(X), TemplateError, "is a template ... Gaussian() ... give the numbers"
        ),
        "mixture": (
            lambda: FourierFeatures(SpectralMixture(n_mixtures=2)).fit(X), ValueError,
            "there is no y ... spectral mixture ... Give the targets, or the weights, means and sigmas",
        ),
        "table": (
            SpectralMixture(n_mixtures=2).component_table, TemplateError,
            "is a template ... SpectralMixture(n_mixtures=2) ... Call resolve(X, y), or give the numbers",
        ),
    }
)  # fmt: skip
def test_a_template_elsewhere(action, error, message):
    check(action, error, message)


@pytest.mark.parametrize("method", [name for name in CALLS if name not in ("mass", "radii", "terms")])  # no data
@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (Gaussian([0.1, 0.2]), "describes 2 column(s) ... but the points have 3"),
        (SpectralMixture([1.0], [[1.0, 2.0]], [[0.1, 0.1]]), "describes 2 column(s) ... but the points have 3"),
        (Atomic([[1.0, 2.0]]) + Gaussian([0.1, 0.2, 0.3]), "describes 2 column(s) ... but the points have 3"),
        (2.0 * G.on([5]), "needs at least 6 columns ... but the points have 3"),
        (G + G.on([1, 3]), "needs at least 4 columns ... but the points have 3"),
    ],
    ids=["per column", "mixture", "sum", "group", "sum of groups"],
)
def test_another_number_of_columns(measure, message, method):
    check(lambda: CALLS[method](measure), ValueError, message)


@cases(
    {
        "fit": (
            lambda: FourierFeatures(Gaussian([0.1, 0.2])).fit(X), ValueError,
            "the points have 3 ... Gaussian(sigma=[0.1, 0.2]) describes 2 ... Give|Use|must",
        ),
        "group": (
            lambda: FourierFeatures(Gaussian().on([5])).fit(X), ValueError,
            "the points have 3 ... Gaussian().on([5]) ... needs at least 6 columns",
        ),
        "group and part": (
            lambda: Gaussian([0.1, 0.2]).on([0]), ValueError,
            "on([0]) gives it 1 ... Gaussian(sigma=[0.1, 0.2]) describes 2 ... Give|Use|must",
        ),
        "sigma": (
            lambda: FourierFeatures(sigma=[1.0, 2.0]).fit(X), ValueError,
            "shape (2,) ... X has 3 columns ... sigma must be one number or one per column",
        ),
    }
)  # fmt: skip
def test_another_number_of_columns_says_what_to_do(action, error, message):
    check(action, error, message)


# -- capabilities ------------------------------------------------------------------------------------------------------

NEEDS = {
    "uniforms": "transport",
    "transport": "transport",
    "polar_uniforms": "polar",
    "polar": "polar",
    "atoms": "atoms",
    "log_density": "density",
    "density": "density",
    "log_density_gradient": "density",
    "cutoff": "cutoff",
    "support": "support",
    "log_mgf": "mgf",
    "factors": "factors",
    "radii": "radial",
    "gaussian_sigma": "gaussian",
}


@pytest.mark.parametrize("method", NEEDS)
def test_a_missing_capability(method):
    message = f"has no {NEEDS[method]} in 3 column(s). Use  ... Triangle(width=2.0) ...  instead."
    check(lambda: CALLS[method](Triangle()), CapabilityError, message)


@pytest.mark.parametrize(
    ("measure", "method", "remedy"),
    [
        (G, "atoms", "Use rule='qmc' instead"),
        (Matern(0.1, nu=0.5), "log_mgf", "Use FourierFeatures with rule='qmc' instead"),
        (G + G, "gaussian_sigma", "Use variant='hyperbolic' or variant='positive' instead"),
        (G * Matern(0.1, nu=0.5), "density", "Use random features"),
        (G * Matern(0.1, nu=0.5), "polar", "Use rule='qmc' or rule='iid' instead"),
        (G.on([0, 1]), "density", "Use random features"),
        (G + Atomic([[1.0, 0.0, 0.0]]), "density", "Use random features"),
        (G + Triangle(), "transport", "Use the exact kernel, SpectralKernel"),
    ],
    ids=repr,
)
def test_a_capability_lost_in_composition_names_the_whole(measure, method, remedy):
    check(lambda: CALLS[method](measure), CapabilityError, f"has no {NEEDS[method]} ... {measure!r} ... {remedy}")


@cases(
    {
        "atoms": (
            lambda: FourierFeatures(rule="atoms").fit(X), CapabilityError,
            "has no atoms ... Gaussian(sigma= ... Use rule='qmc'",
        ),
        "no sampler": (
            lambda: FourierFeatures(Triangle()).fit(X), CapabilityError,
            "has no transport ... Triangle ... SpectralKernel",
        ),
        "orthogonal": (
            lambda: FourierFeatures(Gaussian() * Gaussian(), rule="orthogonal").fit(X), CapabilityError,
            "has no polar ... ) * Gaussian ... Use rule='qmc'",
        ),
        "negative": (
            lambda: BandLimited(0.1).require("nonnegative", d=3), CapabilityError,
            "BandLimited(sigma=0.1) has no nonnegative kernel ... Use FeatureRidge, which takes any kernel, instead",
        ),
        "negative without sampler": (
            lambda: Triangle().require("nonnegative", d=3), CapabilityError,
            "Triangle(width=2.0) has no nonnegative kernel ... Use the exact kernel, SpectralKernel instead",
        ),
        "unknown": (
            lambda: G.require("bogus", d=1), (ValueError, CapabilityError), "'bogus' ... capabilit ... transport",
        ),
    }
)  # fmt: skip
def test_a_missing_capability_elsewhere(action, error, message):
    check(action, error, message)


def test_a_measure_without_torch():
    tensor = pytest.importorskip("torch").zeros(2, 3)

    class OnlyNumPy(Gaussian):
        def _has(self, capability, d):
            return capability != "torch" and super()._has(capability, d)

    for action in (OnlyNumPy(0.1).gram, OnlyNumPy(0.1).characteristic):
        check(lambda action=action: action(tensor), CapabilityError, "no torch ... OnlyNumPy ... Use NumPy arrays")


# -- arguments of estimators -------------------------------------------------------------------------------------------


def fit(**params):
    return lambda: FourierFeatures(**params).fit(X)


NOT_POSITIVE = [0, -1.0, math.nan, math.inf, "a", None, True, 1j]


@pytest.mark.parametrize("value", [*NOT_POSITIVE, [0.1, -0.1, 0.1], [[0.1, 0.1, 0.1]], []], ids=repr)
def test_a_bad_sigma(value):
    check(fit(sigma=value), ValueError, "got |it has shape ... sigma must be ... positive|one number or one per column")


@pytest.mark.parametrize("value", [*NOT_POSITIVE, [1.0, 2.0]], ids=repr)
def test_a_bad_multiplier(value):
    check(fit(multiplier=value), EITHER, f"got {value!r} ... multiplier must be ... a positive finite number")


@cases(
    {
        "width": (fit(n_components=0), ValueError, "got 0 ... n_components ... an integer of at least 1"),
        "fraction": (fit(n_components=2.5), ValueError, "got 2.5 ... n_components ... an integer of at least 1"),
        "rule": (fit(rule="sobol"), ValueError, "got 'sobol' ... rule must be ... 'iid', 'qmc', 'orthogonal'"),
        "name": (fit(spectrum="rbf"), ValueError, "'rbf' is not a known ... spectrum= ... The names are gaussian, mat"),
        "type": (fit(spectrum=3), TypeError, "got 3 ... spectrum must be ... a name, a template or a measure"),
        "class": (fit(spectrum=Gaussian), TypeError, "got <class ... spectrum must be ... a template or a measure"),
        "sigma beside": (
            fit(spectrum=Gaussian(0.2), sigma=0.1), ValueError,
            "sigma=0.1 ... Gaussian(sigma=0.2) has no open sigma ... Leave them at their defaults",
        ),
        "multiplier beside": (
            fit(spectrum=Gaussian(0.2), multiplier=2.0), ValueError,
            "multiplier=2.0 ... Gaussian(sigma=0.2) has no open sigma ... leave the sigma of the measure open",
        ),
        "sigma beside a mixture": (
            fit(spectrum=SpectralMixture([1.0], [[1.0, 0.0, 0.0]], [[0.1, 0.1, 0.1]]), sigma=0.1), ValueError,
            "sigma=0.1 ... SpectralMixture ... Leave them",
        ),
        "unknown nested": (
            lambda: FourierFeatures(Matern()).set_params(spectrum__bogus=1), ValueError,
            "no parameter 'bogus' ... Matern(nu=1.5) ... it has nu, sigma",
        ),
        "unknown": (
            lambda: FourierFeatures().set_params(bogus=1), ValueError,
            "Invalid parameter 'bogus' ... FourierFeatures ... Valid parameters are: ['multiplier', 'n_components'",
        ),
        "kernel": (
            lambda: SpectralKernel("gaussian")(X), TypeError,
            "got 'gaussian' ... SpectralKernel: spectrum ... must be a spectral measure",
        ),
    }
)  # fmt: skip
def test_bad_arguments(action, error, message):
    check(action, error, message)


# -- measures: construction, replacement, algebra ----------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, [0.1, -0.1]], ids=repr)
@pytest.mark.parametrize("make", [Gaussian, Matern, lambda value: G.replace(sigma=value)])
def test_a_measure_whose_sigma_is_not_positive(make, value):
    message = f"got {value!r} ... Gaussian: sigma|Matern: sigma ... must be positive and finite"
    check(lambda: make(value), ValueError, message)


@pytest.mark.parametrize("value", [True, "a", 1j, [None], {}], ids=repr)
def test_a_sigma_that_is_no_number(value):
    check(lambda: Gaussian(value), TypeError, f"got {value!r} ... Gaussian: sigma ... must be a number or an array")


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, [1.0, 0.0]], ids=repr)
@pytest.mark.parametrize("name", ["lengthscale", "gamma"])
def test_a_lengthscale_or_gamma_that_is_not_positive(name, value):
    make = getattr(Gaussian, f"from_{name}")
    check(lambda: make(value), ValueError, f"got {value!r} ... {name} ... must be positive and finite")


@pytest.mark.parametrize("value", [0.0, -0.5, math.nan, math.inf, [0.5, 1.5], "a", None], ids=repr)
def test_an_order_that_is_no_positive_number(value):
    check(lambda: Matern(nu=value), EITHER, f"got {value!r} ... Matern: nu ... positive|must be given")


def test_an_empty_parameter():
    check(lambda: Gaussian([]), ValueError, "is empty ... Gaussian: sigma ... give at least one number")
    check(lambda: Atomic([]), ValueError, "is empty ... Atomic: frequencies ... give at least one number")


BAD_GROUPS = [
    [-1], [0, 0], [], [0.7], [0, 1.5], [True, False], "01", [0, "a"], [None], [math.nan], [[0, 1]], 3, slice(0, 2)
]  # fmt: skip


@pytest.mark.parametrize("columns", BAD_GROUPS, ids=repr)
def test_bad_group_numbers(columns):
    check(lambda: G.on(columns), EITHER, "got  ... on(columns) ... distinct column numbers of at least 0")


def test_groups_in_other_forms():
    for columns in ([2, 0], (2, 0), np.array([2, 0]), iter([2, 0]), [np.int64(2), 0]):
        assert G.on(columns).group == (2, 0)
    assert G.on(range(3)).group == (0, 1, 2)


def mixture(*args, **params):
    return lambda: SpectralMixture(*args, **params)


AGREE = "SpectralMixture ... must agree on Q and d"
COUNT = "SpectralMixture: n_mixtures ... an integer of at least 1"


@cases(
    {
        "counts": (mixture([1.0, 2.0], [1.0], [1.0, 2.0]), ValueError, f"means (1,) ... {AGREE}"),
        "columns": (mixture([1.0], [[1.0, 2.0]], [[1.0]]), ValueError, f"sigmas (1, 1) ... {AGREE}"),
        "n_mixtures": (mixture([1.0], [1.0], [1.0], n_mixtures=2), ValueError, f"n_mixtures 2 ... {AGREE}"),
        "weights": (
            mixture([[1.0]], [1.0], [1.0]),
            ValueError,
            "weights (1, 1) ... SpectralMixture: weights must have",
        ),
        "numbers": (mixture(1.0, 1.0, 1.0), ValueError, "weights () ... SpectralMixture ... must have shape (Q,)"),
        "weight": (mixture([-2.0], [2.0], [2.0]), ValueError, "got [-2.0] ... SpectralMixture: weights ... positive"),
        "sigma": (mixture([1.0], [1.0], [0.0]), ValueError, "got [0.0] ... SpectralMixture: sigmas ... positive"),
        "mean": (mixture([1.0], [math.inf], [1.0]), ValueError, "got [inf] ... SpectralMixture: means ... be finite"),
        "no components": (mixture(n_mixtures=0), ValueError, f"got 0 ... {COUNT}"),
        "fraction": (mixture(n_mixtures=2.5), ValueError, f"got 2.5 ... {COUNT}"),
        "text": (mixture(n_mixtures="2"), EITHER, f"got '2' ... {COUNT}"),
        "truth": (mixture(n_mixtures=True), EITHER, f"got True ... {COUNT}"),
        "no atoms": (Atomic, ValueError, "must be given ... Atomic: frequencies ... array of shape (m, d)"),
        "masses": (lambda: Atomic([1.0, 2.0], [1.0]), ValueError, "(2,) and (1,) ... Atomic ... and weights (m,)"),
        "cube": (lambda: Atomic(np.ones((2, 2, 2))), ValueError, "(2, 2, 2) ... Atomic: frequencies ... shape (m, d)"),
        "no mass": (lambda: Atomic([1.0], [0.0]), ValueError, "got [0.0] ... Atomic: weights ... must be positive"),
        "nan": (lambda: Atomic([math.nan]), ValueError, "got [nan] ... Atomic: frequencies ... must be finite"),
        "matrix": (lambda: Gaussian([[0.1, 0.2]]), ValueError, "shape (1, 2) ... Gaussian: sigma ... one per column"),
        "left out": (lambda: Triangle(None), EITHER, "None ... Triangle: width ... must be|give"),
    }
)
def test_bad_parameters_of_measures(action, error, message):
    check(action, error, message)


@cases(
    {
        "set_params": (lambda: G.set_params(sigma=0.2), TypeError, "immutable ... Gaussian ... Use replace(sigma=...)"),
        "set_params of a sum": (
            lambda: (G + G).set_params(**{"1__sigma": 0.2}), TypeError,
            "immutable ... Sum ... Use replace( ... 1__sigma",
        ),
        "replace": (
            lambda: G.replace(nu=0.5), ValueError, "no parameter 'nu' ... Gaussian(sigma=0.1) ... it has sigma",
        ),
        "replace in a sum": (
            lambda: (G + Matern(0.1)).replace(sigma=0.5), ValueError,
            "no parameter 'sigma' ... Gaussian(sigma=0.1) + Matern ... it has 0__sigma, 1__nu, 1__sigma",
        ),
        "replace in a part": (
            lambda: (G + Matern(0.1)).replace(**{"1__bogus": 0.5}), ValueError,
            "no parameter ... bogus ... Matern ... it has nu, sigma|1__nu, 1__sigma",
        ),
        "replace in a multiple": (
            lambda: (2.0 * G).replace(bogus=0.5), ValueError,
            "no parameter 'bogus' ... 2.0 * Gaussian(sigma=0.1) ... it has factor ... sigma.",
        ),
        "replace in a group": (
            lambda: G.on([1]).replace(bogus=0.5), ValueError,
            "no parameter 'bogus' ... Gaussian(sigma=0.1).on([1]) ... it has group ... sigma.",
        ),
        "unpack": (
            lambda: G.unpack([1.0, 2.0]), ValueError, "theta has shape (2,) ... Gaussian(sigma=0.1) ... Give|give|must",
        ),
        "zero": (lambda: 0 * G, ValueError, "got 0 ... Scaled: factor ... must be positive"),
        "minus": (lambda: -2.0 * G, ValueError, "got -2.0 ... Scaled: factor ... must be positive"),
        "none": (lambda: None * G, EITHER, "None ... Gaussian|Scaled: factor ... must be|unsupported operand"),
        "sum of numbers": (lambda: Sum((1,)), TypeError, "got (1,) ... Sum ... needs a tuple of measures"),
        "empty product": (lambda: Product(()), TypeError, "got () ... Product ... needs a tuple of measures"),
        "multiple of a number": (lambda: Scaled(part=1), TypeError, "got 1 ... Scaled ... needs a measure"),
        "group of a number": (lambda: OnColumns(1, (0,)), TypeError, "got 1 ... OnColumns ... needs a measure"),
    }
)  # fmt: skip
def test_changes_and_algebra(action, error, message):
    check(action, error, message)


@pytest.mark.parametrize(
    "action", [lambda: G + 1, lambda: 1 + G, lambda: np.ones(2) * G, lambda: G * [1.0], lambda: G - G]
)
def test_operators_that_mean_nothing_are_type_errors(action):
    with pytest.raises(TypeError, match=r"unsupported operand|can't multiply"):
        action()


# -- numbers that would be silently wrong ------------------------------------------------------------------------------


@cases(
    {
        "too many uniforms": (lambda: G.transport(np.full((2, 5), 0.5), 2), ValueError, "(2, 5) ... u  ... 2"),
        "vector of uniforms": (lambda: G.transport(np.full(2, 0.5), 2), ValueError, "(2,) ... u  ... (n, 2)"),
        "beyond one": (lambda: G.transport(np.full((2, 2), 2.0), 2), ValueError, "2.0 ... u  ... [0, 1]|0 and 1"),
        "nan": (lambda: G.transport(np.full((2, 2), math.nan), 2), ValueError, "nan|NaN ... u  ... [0, 1]|0 and 1"),
        "directions": (lambda: G.polar(np.eye(3), np.full((3, 1), 0.5), 2), ValueError, "(3, 3) ... v  ... 2"),
        "mask": (lambda: G.gram_gradient(X, free=[True, False]), ValueError, "(2,) ... free ... (1,)|1 "),
        "nan in X": (lambda: G.gram(np.full((1, 1), math.nan)), ValueError, "NaN|nan ... X  ... finite"),
    }
)
def test_arguments_that_do_not_fit_a_measure(action, error, message):
    check(action, error, message)
