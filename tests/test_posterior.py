import math
import pickle

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from spectralkit import FourierFeatures
from spectralkit.datasets import load_airfoil
from spectralkit.moments import GramMoments, QRMoments
from spectralkit.posterior import LeaveOneOut, RidgePath, solve

KINDS = [GramMoments, QRMoments]
EPS = np.finfo(np.float64).eps

each_kind = pytest.mark.parametrize("kind", KINDS)
each_model = pytest.mark.parametrize("intercept", [True, False])
each_count = pytest.mark.parametrize("t", [1, 3])


def draw(n=30, m=5, t=1, seed=0, noise=0.5):
    """Features of different units about an offset, and targets of different units."""
    rng = np.random.default_rng([seed, n, m, t])
    Z = rng.normal(size=(n, m)) * np.geomspace(0.1, 10, m) + 2
    y = (Z / np.geomspace(0.1, 10, m)) @ rng.normal(size=(m, t)) + noise * rng.normal(size=(n, t))
    return Z, y * np.geomspace(1, 100, t) - 7


def weights_of(n, seed=3):
    return np.random.default_rng(seed).uniform(0.5, 2.5, size=n)


def design(Z, intercept):
    """With the constant as the last column."""
    return np.column_stack([Z, np.ones(len(Z))]) if intercept else Z


def dense_inverse(Z, weights, alpha, intercept):
    A = design(Z, intercept)
    penalty = np.diag(np.r_[np.full(Z.shape[1], alpha), np.zeros(int(intercept))])
    return np.linalg.inv(A.T @ (weights[:, None] * A) + penalty)


def dense_hat(Z, weights, alpha, intercept):
    """The matrix that turns targets into predictions."""
    A = design(Z, intercept)
    return A @ dense_inverse(Z, weights, alpha, intercept) @ A.T * weights


def dense_log_density(Z, y, prior_variances, noise_variance, intercept):
    """Of targets about Gaussian coefficients; an intercept of flat prior leaves contrasts, and minus half of log n."""
    n = len(y)
    covariance = (Z * prior_variances) @ Z.T + noise_variance * np.eye(n)
    if not intercept:
        return multivariate_normal(np.zeros(n), covariance).logpdf(y)
    contrasts = null_space(np.ones((1, n)))
    return multivariate_normal(np.zeros(n - 1), contrasts.T @ covariance @ contrasts).logpdf(
        contrasts.T @ y
    ) - 0.5 * math.log(n)


# -- the path ----------------------------------------------------------------------------------------------------------


@each_kind
@each_model
@each_count
@pytest.mark.parametrize(("n", "m"), [(30, 5), (30, 1), (8, 12), (40, 17)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_is_that_of_dense_hat_matrices(kind, intercept, t, n, m, weighted):
    Z, y = draw(n, m, t)
    weights = weights_of(n) if weighted else np.ones(n)
    path = RidgePath(kind(m, t).update(Z, y, weights), intercept)
    alphas = path.eigenvalues[-1] * np.geomspace(1e-4, 1e2, 13)
    hats = [dense_hat(Z, weights, alpha, intercept) for alpha in alphas]
    freedom = np.array([np.trace(hat) for hat in hats])
    squares = np.array([weights @ (y - hat @ y) ** 2 for hat in hats])
    A, total = design(Z, intercept), weights.sum()
    coef = [dense_inverse(Z, weights, alpha, intercept) @ A.T @ (weights[:, None] * y) for alpha in alphas]
    penalty = np.array([alpha * (c[:m] ** 2).sum(axis=0) for alpha, c in zip(alphas, coef, strict=True)])
    assert path.weight == pytest.approx(total)
    assert_allclose(path.degrees_of_freedom(alphas), freedom, rtol=1e-10)
    # the oracle inverts a matrix of condition 1e5, about 1e3 times that where the features have an offset
    assert_allclose(path.residual_squares(alphas), squares, rtol=1e-6)
    assert_allclose(path.penalised_squares(alphas), squares + penalty, rtol=1e-6)
    gcv = total * np.exp(np.log(squares).mean(axis=1)) / (total - freedom) ** 2
    assert_allclose(path.gcv(alphas), np.where(freedom < total, gcv, np.inf), rtol=1e-6)
    assert_allclose(path.criterion("gcv", alphas), np.log(path.gcv(alphas)), rtol=1e-14)
    assert_allclose(path.criterion("evidence", alphas), -2 * path.log_evidence(alphas) / total, rtol=1e-14)


@each_kind
@each_model
@each_count
@pytest.mark.parametrize(("n", "m"), [(12, 3), (6, 9)])
def test_the_evidence_is_a_normal_density_at_its_best_noise(kind, intercept, t, n, m):
    Z, y = draw(n, m, t)
    repeats = 1 + np.arange(n) % 2
    path = RidgePath(kind(m, t).update(Z, y, repeats), intercept)
    rows, targets = np.repeat(Z, repeats, axis=0), np.repeat(y, repeats, axis=0)
    for alpha in path.eigenvalues[-1] * np.array([1e-3, 0.3, 5.0]):
        best = [
            minimize_scalar(
                lambda log_noise, target=target, alpha=alpha: (
                    -dense_log_density(
                        rows, target, np.full(m, math.exp(log_noise) / alpha), math.exp(log_noise), intercept
                    )
                ),
                bracket=(math.log(target.var()) - 4, math.log(target.var())),
                tol=1e-9,
            )
            for target in targets.T
        ]
        expected = -np.mean([found.fun for found in best])
        assert_allclose(path.log_evidence([alpha]), [expected], rtol=1e-8)
        posterior = solve(kind(m, t).update(Z, y, repeats), alpha, intercept)
        noise = np.exp([found.x for found in best])
        assert_allclose(posterior.log_evidence(noise), [-found.fun for found in best], rtol=1e-8)


@each_kind
@each_model
def test_the_best_penalty_has_the_smallest_criterion(kind, intercept):
    """Of all by the evidence, and of those within half a decade of that by generalised cross-validation."""
    bounded = []
    for seed in range(8):
        Z, y = draw(40, 6, 2, seed, noise=2.0)
        if seed % 2:  # of one unit, as the prior has it
            Z = Z / np.geomspace(0.1, 10, 6)
        moments = kind(6, 2).update(Z, y)
        path = RidgePath(moments, intercept)
        likely = path.alphas[np.argmax(path.log_evidence(path.alphas))]
        near = path.alphas[np.abs(8 * np.log10(path.alphas / likely)) < 4.5]  # four eighths of a decade on each side
        assert len(near) == 9
        errors = path.gcv(near)
        assert path.best("evidence") == likely
        assert path.best("gcv") == near[np.argmin(errors)]
        bounded.append(path.gcv(path.alphas).min() < errors.min())
        for criterion in ("gcv", "evidence"):
            assert solve(moments, criterion, intercept).alpha == path.best(criterion)
    assert 0 < sum(bounded) < 8  # both cases: the neighbourhood holds the smallest of all, or does not


@each_kind
def test_plain_cross_validation_fails_on_rows_of_large_leverage_and_the_guarded_one_does_not(kind):
    X, y = load_airfoil(return_X_y=True)
    train, test = next(KFold(5, shuffle=True, random_state=0).split(X))
    features = FourierFeatures(n_components=1024, random_state=0).fit(X[train])
    moments = kind(features.n_components).update(features.transform(X[train]), y[train])
    path = RidgePath(moments)
    alphas = path.eigenvalues[-1] * np.geomspace(1e-12 if kind is GramMoments else 1e-16, 1e3, 121)
    plain = alphas[np.argmin(path.gcv(alphas))]
    Z = features.transform(X[test])
    scores = [r2_score(y[test], solve(moments, alpha).predict(Z)[:, 0]) for alpha in (plain, "gcv")]
    assert scores[0] < 0
    assert scores[1] > 0.8


@each_kind
@pytest.mark.parametrize("weight", [0.05, 1 / 6, 0.3, 0.6])
def test_where_cross_validation_says_nothing_the_evidence_decides(kind, weight):
    """The intercept alone has as many degrees of freedom as there are rows, or nearly."""
    Z, y = draw(6, 9, 2)
    path = RidgePath(kind(9, 2).update(Z, y, weight))
    likely, best = path.best("evidence"), path.best("gcv")
    if 6 * weight <= 1:
        assert np.isinf(path.gcv(path.alphas)).all()
        assert best == likely == path.alphas[-1]
    assert (path.gcv([best]) <= path.gcv([likely])).all()
    assert solve(kind(9, 2).update(Z, y, weight), "gcv").alpha == best


@each_kind
def test_of_equal_penalties_the_largest_is_taken(kind):
    """Targets that no feature meets: every penalty predicts nothing, and the evidence is for the fewest freedoms."""
    Z = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    for y in (np.array([1.0, 1.0, -1.0, -1.0]), np.full(4, 0.3)):
        moments = kind(1).update(Z, y)
        path = RidgePath(moments)
        assert path.best("gcv") == path.best("evidence") == path.alphas[-1]
        assert LeaveOneOut(moments).update(Z, y).best() == path.alphas[-1]
    # exactly equal ones: without features, nothing depends on the penalty
    moments = kind(2).update(np.zeros((4, 2)), np.array([1.0, 2.0, 4.0, 3.0]))
    path = RidgePath(moments)
    assert np.ptp(path.criterion("gcv", path.alphas)) < 1e-12
    assert path.best("gcv") == path.best("evidence") == path.alphas[-1]


@each_kind
def test_the_penalties_are_eighths_of_decades_about_the_largest_eigenvalue(kind):
    Z, y = draw()
    path = RidgePath(kind(5).update(Z, y))
    eighths = 8 * np.log10(path.alphas)
    assert_allclose(eighths, np.rint(eighths), atol=1e-9)
    assert_allclose(np.diff(eighths), 1.0, atol=1e-9)
    decades = np.log10(path.alphas[[0, -1]] / path.eigenvalues[-1])
    assert_allclose(decades, [-7 if kind is GramMoments else -14, 3], atol=1 / 16)
    assert_array_equal(LeaveOneOut(kind(5).update(Z, y)).alphas, path.alphas)


@each_kind
@pytest.mark.parametrize("decades", [-150, -20, 20, 150])
def test_units_of_features_do_not_matter(kind, decades):
    Z, y = draw(40, 6, noise=3.0)
    Z -= Z.mean(axis=0)
    plain, scaled = kind(6).update(Z, y), kind(6).update(Z * 10.0**decades, y)
    for criterion in ("gcv", "evidence"):
        reference, posterior = solve(plain, criterion), solve(scaled, criterion)
        assert math.log10(posterior.alpha) == pytest.approx(math.log10(reference.alpha) + 2 * decades, abs=1e-9)
        assert_allclose(posterior.coef * 10.0**decades, reference.coef, rtol=1e-9)
        assert_allclose(posterior.noise_variance, reference.noise_variance, rtol=1e-9)
        assert_allclose(posterior.log_evidence(1.0), reference.log_evidence(1.0), rtol=1e-9)
    errors = LeaveOneOut(scaled).update(Z * 10.0**decades, y)
    reference = LeaveOneOut(plain).update(Z, y).best()
    assert math.log10(errors.best()) == pytest.approx(math.log10(reference) + 2 * decades, abs=1e-9)


@each_kind
@pytest.mark.parametrize("criterion", ["gcv", "evidence"])
def test_units_and_offsets_of_targets_do_not_matter(kind, criterion):
    Z, y = draw(40, 6, 3, noise=3.0)
    reference = solve(kind(6, 3).update(Z, y), criterion)
    for factor, offset in ((1e-100, 0.0), (np.array([1e3, 1.0, 1e-60]), 0.0), (1.0, 1e6)):
        posterior = solve(kind(6, 3).update(Z, y * factor + offset), criterion)
        assert posterior.alpha == reference.alpha
        # the digits that the offset leaves of the targets are those of their rounding
        rtol = 1e-9 + offset * EPS / y.std(axis=0).min()
        lengths = np.linalg.norm(reference.coef, axis=1, keepdims=True)
        assert (np.abs(posterior.coef / np.reshape(factor, (-1, 1)) - reference.coef) <= 10 * rtol * lengths).all()


@each_kind
def test_targets_without_noise_are_fitted_to_rounding(kind):
    """The penalty is small, and not one at which rounding errors happen to cancel."""
    smallest = 3e-2 if kind is GramMoments else 1e-3
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n, m = 200, 40
        U = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, m))]))[0][:, 1:]
        turn = np.linalg.qr(rng.normal(size=(m, m)))[0]
        Z, y = (U * np.geomspace(1, smallest, m)) @ turn.T, U[:, -1]  # in the direction that varies least
        path = RidgePath(kind(m).update(Z, y))
        # computed squares are wrong by eps coef^2, which is eps / smallest^2 at most
        shares = path.alphas / (smallest**2 + path.alphas)
        assert (path.residual_squares(path.alphas)[:, 0] >= 0.5 * shares**2).all()
        posterior = solve(kind(m).update(Z, y), "gcv")
        assert posterior.alpha < 1e-3 * smallest**2
        assert_allclose(posterior.predict(Z)[:, 0], y, rtol=0, atol=1e-3)


def test_triangular_moments_choose_smaller_penalties_where_they_help():
    x = np.linspace(-1, 1, 400)
    Z, y = np.polynomial.chebyshev.chebvander(x, 6)[:, 1:], np.exp(x)
    Z = Z @ np.vander(np.linspace(0.1, 1, 6), 6)  # condition 1e4
    errors = [np.abs(solve(kind(6).update(Z, y)).predict(Z)[:, 0] - y).max() for kind in KINDS]
    best = np.abs(design(Z, True) @ np.linalg.lstsq(design(Z, True), y)[0] - y).max()
    assert errors[1] < 2 * best < 2e-5
    assert errors[0] > 10 * errors[1]


# -- the posterior -----------------------------------------------------------------------------------------------------


@each_kind
@each_model
@each_count
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "m"), [(30, 5), (8, 12), (30, 1)])
@pytest.mark.parametrize("solver", ["svd", "cholesky"])
def test_solutions_are_those_of_scikit_learn(kind, intercept, t, weighted, n, m, solver):
    Z, y = draw(n, m, t)
    weights = weights_of(n) if weighted else None
    for alpha in (0.03, 1.0, 1000.0):
        ridge = Ridge(alpha, solver=solver, fit_intercept=intercept).fit(Z, y, weights)
        posterior = solve(kind(m, t).update(Z, y, weights), alpha, intercept)
        expected = np.reshape(ridge.coef_, (t, m))
        assert np.abs(posterior.coef - expected).max() <= 1e-9 * np.abs(expected).max()
        assert_allclose(posterior.intercept, np.reshape(np.broadcast_to(ridge.intercept_, t), t), rtol=1e-9, atol=1e-9)
        new, _ = draw(7, m, t, seed=9)
        assert_allclose(posterior.predict(new), ridge.predict(new).reshape(7, t), rtol=1e-8, atol=1e-8)
        assert_allclose(posterior.predict(new.tolist()), posterior.predict(new), rtol=1e-15)


def repeated(Z):
    return np.column_stack([Z, Z[:, 1], 2 * Z[:, 0] - Z[:, 2]])


SINGULAR = {
    "regular": lambda Z: Z,
    "repeated columns": repeated,
    "dead columns": lambda Z: np.column_stack([np.zeros(len(Z)), Z, np.zeros(len(Z))]),
    "constant columns": lambda Z: np.column_stack([np.full(len(Z), 3.0), Z]),
    "fewer rows": lambda Z: Z[:4],
    "all constant": lambda Z: np.full_like(Z, 0.25),
}


@each_kind
@each_model
@pytest.mark.parametrize("change", SINGULAR.values(), ids=SINGULAR)
def test_no_penalty_is_the_shortest_least_squares_solution(kind, intercept, change):
    Z, y = draw(20, 5, 2)
    Z = change(Z)
    y = y[: len(Z)]
    m = Z.shape[1]
    centred = (Z - Z.mean(axis=0), y - y.mean(axis=0)) if intercept else (Z, y)
    expected, _, rank, sizes = np.linalg.lstsq(*centred, rcond=1e-12)
    condition = (sizes[0] / sizes[rank - 1]) if rank else 1.0
    posterior = solve(kind(m, 2).update(Z, y), 0, intercept)
    rtol = 100 * EPS * (condition**2 if kind is GramMoments else condition)
    assert np.abs(posterior.coef.T - expected).max() <= rtol * max(np.abs(expected).max(), 1e-3)
    assert posterior.degrees_of_freedom == pytest.approx(rank + intercept, rel=1e-12)
    residuals = y - posterior.predict(Z)
    assert_allclose(posterior.residual_squares, (residuals**2).sum(axis=0), rtol=1e-8, atol=1e-9 * (y**2).max())
    A = design(Z, intercept)
    assert_allclose(posterior.leverage(Z), np.diag(A @ np.linalg.pinv(A, rcond=1e-12)), rtol=0, atol=10 * rtol)
    assert_array_equal(posterior.log_evidence(1.0), -np.inf)


@each_kind
@each_model
@pytest.mark.parametrize("alpha", [1e-30, 1e-60, 1e-200, 1e-310])
@pytest.mark.parametrize("change", SINGULAR.values(), ids=SINGULAR)
def test_a_penalty_below_rounding_is_like_none(kind, intercept, alpha, change):
    Z, y = draw(20, 5, 2)
    Z = change(Z)
    y, m = y[: len(Z)], Z.shape[1]
    moments = kind(m, 2).update(Z, y)
    least, posterior = solve(moments, 0, intercept), solve(moments, alpha, intercept)
    assert_allclose(posterior.coef, least.coef, rtol=0, atol=1e-9 * max(np.abs(least.coef).max(), 1.0))
    assert posterior.degrees_of_freedom == pytest.approx(least.degrees_of_freedom, abs=1e-9)
    assert_allclose(posterior.leverage(Z), least.leverage(Z), rtol=0, atol=1e-8)
    assert np.isfinite(posterior.log_evidence(1.0)).all()


@each_kind
@pytest.mark.parametrize("alpha", [1e-6, 1e-17, 1e-32])
def test_of_directions_that_were_never_seen_only_the_prior_is_known(kind, alpha):
    """Two equal columns: their difference keeps its prior variance, and its share of the evidence is a constant."""
    Z, y = draw(20, 3)
    Z = np.column_stack([Z, Z[:, 0]])
    posterior = solve(kind(4).update(Z, y), alpha)
    difference = np.array([[1.0, 0.0, 0.0, -1.0]]) + Z.mean(axis=0)
    assert_allclose(posterior.leverage(difference), [2 / alpha + 1 / 20], rtol=1e-6)
    by_prior, _ = posterior.evidence_gradient(1.0)
    v = 1 / alpha
    assert by_prior[0, 0] == pytest.approx(by_prior[0, 3], abs=1e-6)
    # one direction of two: half of the variance of each of the two is that of the prior
    assert by_prior[0, 0] == pytest.approx(0.5 * (posterior.coef[0, 0] ** 2 / v - 0.5), abs=1e-5)
    assert posterior.degrees_of_freedom == pytest.approx(4, abs=1e-4)  # three directions and the intercept


@each_kind
@each_model
@each_count
def test_leverage_and_covariance_are_those_of_the_dense_posterior(kind, intercept, t):
    Z, y = draw(20, 5, t)
    weights = weights_of(20)
    new, _ = draw(6, 5, t, seed=4)
    for alpha in (0.01, 3.0):
        posterior = solve(kind(5, t).update(Z, y, weights), alpha, intercept)
        hat = dense_hat(Z, weights, alpha, intercept)
        assert_allclose(weights * posterior.leverage(Z), np.diag(hat), rtol=1e-8)
        assert posterior.degrees_of_freedom == pytest.approx(np.trace(hat), rel=1e-9)
        A = design(new, intercept)
        covariance = A @ dense_inverse(Z, weights, alpha, intercept) @ A.T
        coordinates = posterior.whitened(new)
        assert_allclose(coordinates @ coordinates.T, covariance, rtol=1e-8, atol=1e-8 * covariance.max())
        assert_allclose(posterior.leverage(new.astype(np.float32)), np.diag(covariance), rtol=1e-4)
        squares = weights @ (y - posterior.predict(Z)) ** 2
        assert_allclose(posterior.residual_squares, squares, rtol=1e-8)
        assert_allclose(posterior.noise_variance, squares / (weights.sum() - np.trace(hat)), rtol=1e-8)
        assert posterior.weight == pytest.approx(weights.sum())


@each_kind
@each_model
@each_count
@pytest.mark.parametrize(("n", "m"), [(12, 4), (5, 8)])
def test_evidence_and_gradient_are_those_of_the_dense_density(kind, intercept, t, n, m):
    Z, y = draw(n, m, t)
    noise = y.var(axis=0) * 0.3
    for alpha in (0.05, 4.0):
        posterior = solve(kind(m, t).update(Z, y), alpha, intercept)
        by_prior, by_noise = posterior.evidence_gradient(noise)
        assert by_prior.shape == (t, m)
        evidence = posterior.log_evidence(noise)
        for k in range(t):

            def density(log_priors, log_noise, k=k):
                return dense_log_density(Z, y[:, k], np.exp(log_priors), math.exp(log_noise), intercept)

            priors, log_noise, step = np.full(m, math.log(noise[k] / alpha)), math.log(noise[k]), 1e-4
            assert evidence[k] == pytest.approx(density(priors, log_noise), rel=1e-9)
            # central differences: step^2 / 6 times a third derivative of the size of the terms, and eps / step
            scale = abs(evidence[k]) + posterior.residual_squares[k] / noise[k]
            atol = scale * (step**2 + 1e3 * EPS / step)
            for j in range(m):
                shift = step * (np.arange(m) == j)
                slope = (density(priors + shift, log_noise) - density(priors - shift, log_noise)) / (2 * step)
                assert by_prior[k, j] == pytest.approx(slope, abs=atol)
            slope = (density(priors, log_noise + step) - density(priors, log_noise - step)) / (2 * step)
            assert by_noise[k] == pytest.approx(slope, abs=atol)
        assert_allclose(posterior.log_evidence(noise[0])[0], evidence[0], rtol=1e-14)


@each_kind
@each_model
def test_noise_is_not_told_from_signal_without_degrees_of_freedom(kind, intercept):
    Z, y = draw(6, 9, 2)
    moments = kind(9, 2).update(Z, y)
    assert np.isnan(solve(moments, 0, intercept).noise_variance).all()
    assert np.isfinite(solve(moments, 1.0, intercept).noise_variance).all()
    assert np.isnan(solve(kind(9, 2).update(Z, y, 0.1), 1e-9, intercept).noise_variance).all()


@each_kind
@each_model
def test_one_row(kind, intercept):
    moments = kind(3).update([[1.0, 2.0, 2.0]], [4.5])
    for alpha in ("gcv", "evidence", 0, 1.0, 1e-30):
        posterior = solve(moments, alpha, intercept)
        if intercept:
            assert_array_equal(posterior.coef, [[0.0, 0.0, 0.0]])
            assert_array_equal(posterior.intercept, [4.5])
            assert np.isnan(posterior.noise_variance)
            assert_allclose(posterior.leverage([[1.0, 2.0, 2.0]]), [1.0])
        else:
            # rounding of a scatter of 9 beside the penalty, unless the solver sees that there is no other information
            rtol = 1e-12 + (90 * EPS / posterior.alpha if posterior.alpha > 1e-14 else 0)
            expected = np.array([1.0, 2.0, 2.0]) * 4.5 / (9 + posterior.alpha)
            assert_allclose(posterior.coef[0], expected, rtol=rtol)


@each_kind
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_constant_targets_are_their_constant(kind, value):
    Z, _ = draw(20, 4)
    moments = kind(4, 1).update(Z, np.full(20, value))
    for alpha in ("gcv", "evidence", 0.0, 1.0):
        posterior = solve(moments, alpha)
        assert_allclose(posterior.predict(Z), value, rtol=1e-14)
        assert np.isfinite(posterior.alpha)
        assert posterior.residual_squares <= 20 * (value * EPS) ** 2
    errors = LeaveOneOut(moments).update(Z, np.full(20, value))
    assert errors.best() == errors.alphas[-1]


@each_kind
@each_model
def test_targets_that_do_not_vary_have_no_say_about_the_penalty(kind, intercept):
    Z, y = draw(30, 5, 2, noise=2.0)
    constant = np.column_stack([y[:, 0], np.full(30, 3.0 if intercept else 0.0), y[:, 1]])
    path, other = RidgePath(kind(5, 2).update(Z, y), intercept), RidgePath(kind(5, 3).update(Z, constant), intercept)
    for criterion in ("gcv", "evidence"):
        assert_allclose(other.criterion(criterion, path.alphas), path.criterion(criterion, path.alphas), rtol=1e-12)
        assert other.best(criterion) == path.best(criterion)


@each_kind
def test_posteriors_without_targets_know_their_leverage(kind):
    Z, y = draw(20, 5)
    bare, full = kind(5, 0).update(Z), kind(5).update(Z, y)
    for alpha in (0.0, 1.0):
        posterior = solve(bare, alpha)
        assert posterior.coef.shape == (0, 5)
        assert posterior.predict(Z).shape == (20, 0)
        assert_allclose(posterior.leverage(Z), solve(full, alpha).leverage(Z), rtol=1e-9)
    assert_allclose(RidgePath(bare).degrees_of_freedom([1.0]), RidgePath(full).degrees_of_freedom([1.0]), rtol=1e-12)
    for criterion in ("gcv", "evidence"):
        with pytest.raises(ValueError, match="no targets, so there is nothing to choose a penalty by"):
            solve(bare, criterion)
    with pytest.raises(ValueError, match="no targets, so there are no errors of predictions"):
        LeaveOneOut(bare)


@each_kind
def test_posteriors_survive_pickle_and_do_not_follow_the_moments(kind):
    Z, y = draw()
    moments = kind(5).update(Z, y)
    posterior = solve(moments, 1.0)
    before = posterior.predict(Z), posterior.leverage(Z)
    stored = pickle.dumps(moments)
    moments.update(Z, y).scale(0.5)
    for other in (posterior, pickle.loads(pickle.dumps(posterior))):
        assert_array_equal(other.predict(Z), before[0])
        assert_array_equal(other.leverage(Z), before[1])
    moments = pickle.loads(stored)
    for intercept in (True, False):
        solve(moments, "gcv", intercept)
        solve(moments, 0.0, intercept)
        LeaveOneOut(moments, intercept)
    assert pickle.dumps(moments) == stored


@each_kind
@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, True, "foo", "loo", None, [1.0]])
def test_bad_penalties_are_refused(kind, alpha):
    moments = kind(2).update(*draw(9, 2))
    with pytest.raises(ValueError, match=r"alpha must be 'gcv', 'evidence' or a finite number of at least 0, got .*\."):
        solve(moments, alpha)


@each_kind
def test_what_else_is_refused(kind):
    for action in (solve, RidgePath, LeaveOneOut):
        with pytest.raises(ValueError, match=r"the moments have seen no rows\. Call update first\."):
            action(kind(2))
    path = RidgePath(kind(2).update(*draw(9, 2)))
    for action in (path.best, lambda name: path.criterion(name, [1.0])):
        with pytest.raises(ValueError, match="The criterion must be 'gcv' or 'evidence', got 'loo'"):
            action("loo")


# -- features of condition 1e14 ----------------------------------------------------------------------------------------


def graded(ascending):
    Z = np.random.default_rng(0).normal(size=(40, 5))
    return Z * np.geomspace(1, 1e-14, 5)[:: -1 if ascending else 1]


def turned():
    return graded(False) @ np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]


def powers():
    return np.linspace(-0.3, 1, 40)[:, None] ** np.arange(1, 18)


ILL = {"graded": lambda: graded(False), "ascending": lambda: graded(True), "turned": turned, "powers": powers}


def exact_ridge(Z, y, alpha):
    """Coefficients with an intercept, to 60 digits."""
    with mpmath.workdps(60):
        n, m = Z.shape
        A, b = mpmath.matrix(Z.tolist()), mpmath.matrix(y.tolist())
        for column in range(m):
            mean = mpmath.fsum(A[:, column]) / n
            for row in range(n):
                A[row, column] -= mean
        S = A.T * A + mpmath.mpf(alpha) * mpmath.eye(m)
        return np.array([float(c) for c in mpmath.lu_solve(S, A.T * b)])


def graded_errors(Z, y, alpha, expected):
    """What rounding may do to each coefficient where the scale of its column costs no digits."""
    lengths = np.hypot(np.linalg.norm(Z - Z.mean(axis=0), axis=0), math.sqrt(alpha))
    return 100 * EPS * (np.abs(expected) + np.linalg.norm(y - y.mean()) / lengths)


@pytest.mark.parametrize("relative_alpha", [0.0, 1e-24, 1e-20, 1e-16])
@pytest.mark.parametrize("subtracted", [False, True])
@pytest.mark.parametrize("name", ILL)
def test_triangular_moments_solve_what_gram_moments_cannot(name, relative_alpha, subtracted):
    Z = ILL[name]()
    n, m = Z.shape
    left, sizes, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    noise = np.random.default_rng(2).normal(size=n)
    y = left.sum(axis=1) + 1e-3 * (noise - left @ (left.T @ noise))
    alpha = relative_alpha * sizes[0] ** 2
    if subtracted:
        extra = np.random.default_rng(3).choice(n, 5, replace=False)
        Z, y = np.concatenate([Z, Z[extra]]), np.concatenate([y, y[extra] + 0.1])
        moments = [kind(m).update(Z, y).subtract(kind(m).update(Z[n:], y[n:])) for kind in KINDS]
    else:
        moments = [kind(m).update(Z, y) for kind in KINDS]
    expected = exact_ridge(Z[:n], y[:n], alpha)
    gram, triangular = (solve(mo, alpha).coef[0] for mo in moments)
    # Wedin: the condition, and its square times the residual over the fit; factor 30 for rounding in n + m steps, and
    # three times that for the decompositions of a subtraction
    condition = sizes[0] / math.hypot(sizes[-1], math.sqrt(alpha))
    shortfall = 1e-3 * math.sqrt(n) + (0.1 * math.sqrt(5) if subtracted else 0)
    rtol = (
        (300 if subtracted else 30)
        * EPS
        * (condition + condition**2 * shortfall / (sizes[0] * np.linalg.norm(expected)))
    )
    error = np.linalg.norm(triangular - expected) / np.linalg.norm(expected)
    assert error <= rtol
    if name in ("graded", "ascending") and alpha > 0:
        assert (np.abs(triangular - expected) <= graded_errors(Z[:n], y[:n], alpha, expected)).all()
    if relative_alpha == 0.0 or (name in ("turned", "powers") and relative_alpha <= 1e-20):
        assert np.linalg.norm(gram - expected) > 0.1 * np.linalg.norm(expected)


@each_kind
@pytest.mark.parametrize("relative_alpha", [1e-30, 1e-16, 1e-8])
def test_the_units_of_single_columns_cost_no_digits(kind, relative_alpha):
    """The Cholesky factor does not notice the scale of columns, so Gram moments solve graded columns as well."""
    for ascending in (False, True):
        Z = graded(ascending)
        y = (Z / Z.std(axis=0)).sum(axis=1) + np.random.default_rng(2).normal(size=len(Z))
        alpha = relative_alpha * len(Z)
        expected = exact_ridge(Z, y, alpha)
        error = np.abs(solve(kind(5).update(Z, y), alpha).coef[0] - expected)
        assert (error <= graded_errors(Z, y, alpha, expected)).all()


@each_model
def test_subtracting_folds_of_singular_features(intercept):
    Z, y = draw(30, 4)
    Z = np.column_stack([repeated(Z), np.zeros(30)])
    left = QRMoments(7).update(Z, y).subtract(QRMoments(7).update(Z[20:], y[20:]))
    direct = QRMoments(7).update(Z[:20], y[:20])
    for alpha in (0.0, 0.5):
        assert_allclose(solve(left, alpha, intercept).coef, solve(direct, alpha, intercept).coef, rtol=0, atol=1e-11)


@each_kind
def test_rounding_errors_of_a_subtraction_are_no_squares(kind):
    """The targets that are left are constant, and their computed squares may be negative."""
    for seed in range(20):
        Z, _ = draw(30, 3, seed=seed)
        y = np.r_[np.full(20, 5.0), np.random.default_rng(seed).normal(size=10) * 1e3]
        moments = kind(3).update(Z, y).subtract(kind(3).update(Z[20:], y[20:]))
        for criterion in ("gcv", "evidence"):
            posterior = solve(moments, criterion)
            assert_allclose(posterior.predict(Z), 5.0, rtol=0, atol=1e-4)  # root eps times 1e3 is 1.5e-5


# -- leave-one-out -----------------------------------------------------------------------------------------------------


def brute_force(Z, y, weights, group, alphas, intercept):
    """Mean squared errors (a, t) of dense refits that leave out a group of rows each."""
    squares = np.zeros((len(alphas), y.shape[1]))
    A = design(Z, intercept)
    penalty = np.zeros((len(alphas), A.shape[1], A.shape[1]))
    penalty[:, np.arange(Z.shape[1]), np.arange(Z.shape[1])] = alphas[:, None]
    for g in np.unique(group):
        out, rest = group == g, group != g
        B = np.sqrt(weights[rest, None]) * A[rest]
        coef = np.linalg.solve(B.T @ B + penalty, (B.T @ (np.sqrt(weights[rest, None]) * y[rest]))[None])
        squares += np.einsum("n,ant->at", weights[out], (y[out] - A[out] @ coef) ** 2)
    return squares / weights.sum()


@each_kind
@each_model
@each_count
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_errors_are_those_of_refits(kind, intercept, t, weighted):
    """A weight repeats its row, and leaving out takes all copies."""
    Z, y = draw(15, 3, t)
    weights = weights_of(15) if weighted else np.ones(15)
    moments = kind(3, t).update(Z, y, weights)
    errors = LeaveOneOut(moments, intercept).update(Z, y, weights if weighted else None)
    expected = brute_force(Z, y, weights, np.arange(15), errors.alphas, intercept)
    assert_allclose(errors.criterion(), np.log(expected).mean(axis=1), rtol=0, atol=1e-8)
    values = np.log(expected).mean(axis=1)
    equal = errors.alphas[values <= values.min() + 1e-8]  # to the rounding of both
    assert equal[0] <= errors.best() <= equal[-1]
    blocks = LeaveOneOut(moments, intercept)
    for rows in (slice(0, 1), slice(1, 1), slice(1, 9), slice(9, 15)):
        blocks.update(Z[rows], y[rows], weights[rows])
    assert_allclose(blocks.criterion(), errors.criterion(), rtol=1e-12, atol=1e-12)


@each_kind
@each_model
@each_count
def test_equal_rows_are_left_out_together(kind, intercept, t):
    Z, y = draw(16, 3, t)
    group = np.arange(16) // 3
    Z = Z[group]  # equal features, different targets
    weights = weights_of(16)
    weights[4] = 0
    total = np.bincount(group, weights)
    means = np.stack([np.bincount(group, weights * target) / total for target in y.T], axis=1)
    errors = LeaveOneOut(kind(3, t).update(Z, y, weights), intercept)
    for rows in (slice(0, 7), slice(7, 16)):  # a block boundary inside a group
        errors.update(Z[rows], y[rows], weights[rows], (total[group][rows], means[group][rows]))
    large = errors.alphas > 1e-9 * errors.alphas[-1]  # six points are few; below, the oracle is rounding
    expected = brute_force(Z, y, weights, group, errors.alphas[large], intercept)
    assert_allclose(errors.criterion()[large], np.log(expected).mean(axis=1), rtol=0, atol=1e-6)
    if t == 1:
        flat = LeaveOneOut(kind(3, t).update(Z, y, weights), intercept)
        flat.update(Z, y[:, 0], weights, (total[group], means[group, 0]))
        assert_allclose(flat.criterion(), errors.criterion(), rtol=1e-12, atol=1e-12)


@each_kind
@each_model
@pytest.mark.parametrize(("n", "m"), [(30, 5), (8, 12)])
def test_leave_one_out_errors_are_those_of_scikit_learn(kind, intercept, n, m):
    Z, y = draw(n, m)
    moments = kind(m).update(Z, y)
    errors = LeaveOneOut(moments, intercept).update(Z, y)
    alphas = errors.alphas[errors.alphas > 1e-6 * errors.alphas[-1]]
    search = RidgeCV(alphas, fit_intercept=intercept, store_cv_results=True).fit(Z, y[:, 0])
    squares = np.reshape(search.cv_results_, (n, len(alphas)))
    assert_allclose(errors.criterion()[-len(alphas) :], np.log(squares.mean(axis=0)), rtol=0, atol=1e-7)
    if n > m:
        assert alphas[np.argmin(errors.criterion()[-len(alphas) :])] == search.alpha_


@each_kind
def test_rows_that_only_they_explain_are_not_predicted_by_others(kind):
    """A feature that is there in one row alone: without a penalty its coefficient is the error of that row."""
    Z = np.column_stack([np.random.default_rng(0).normal(size=10), np.zeros(10)])
    Z[3, 1] = 1.0
    y = np.random.default_rng(1).normal(size=10)
    errors = LeaveOneOut(kind(2).update(Z, y)).update(Z, y)
    others = np.array([1 - dense_hat(Z, np.ones(10), alpha, True)[3, 3] for alpha in errors.alphas])
    small, large = others < 0.9e-6, others > 1.2e-6  # penalties of about a millionth: the feature has a variance of one
    assert small.any()
    assert large.any()
    assert (errors.criterion()[small] == np.inf).all()
    assert np.isfinite(errors.criterion()[large]).all()
    assert large[errors.alphas == errors.best()].all()
    alone = LeaveOneOut(kind(2).update(Z[:1], y[:1])).update(Z[:1], y[:1])
    assert (alone.criterion() == np.inf).all()
    assert alone.best() == alone.alphas[-1]


@each_kind
def test_what_leave_one_out_refuses(kind):
    Z, y = draw(10, 3, 2)
    errors = LeaveOneOut(kind(3, 2).update(Z, y))
    for targets in (y[:, :1], y[:, 0], y[:4]):
        with pytest.raises(ValueError, match=r"The targets must have shape \(10, 2\), as rows and moments say, got"):
            errors.update(Z, targets)
    with pytest.raises(ValueError, match=r"mean targets of groups must have shape \(10, 2\)"):
        errors.update(Z, y, None, (np.ones(10), y[:, 0]))
    for action in (errors.criterion, errors.best):
        with pytest.raises(ValueError, match=r"There are no errors to average yet\. Call update first\."):
            action()


@each_kind
@each_model
def test_a_posterior_has_the_cross_validation_of_its_place_on_the_path(kind, intercept):
    Z, y = draw(40, 6, 2, 0, noise=2.0)
    moments = kind(6, 2).update(Z, y)
    for alpha in (0.1, 10.0):
        found = solve(moments, alpha, intercept).gcv
        assert found.shape == (2,)
        assert_allclose(np.exp(np.log(found).mean()), RidgePath(moments, intercept).gcv([alpha])[0], rtol=1e-10)
