"""The sampled kernel for GPyTorch: the same kernel as for scikit-learn, of low rank, with working machinery."""

import copy
import importlib
import io
import itertools
import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

import spectralkit
from spectralkit import (
    Atomic,
    BandLimited,
    Gaussian,
    Ladder,
    Laplacian,
    Matern,
    Periodic,
    RationalQuadratic,
    SpectralMixture,
    TemplateError,
)

gpytorch = pytest.importorskip("gpytorch")
torch = pytest.importorskip("torch")
operators = importlib.import_module("linear_operator.operators")

BochnerKernel = importlib.import_module("spectralkit.torch").BochnerKernel
ScaleKernel = gpytorch.kernels.ScaleKernel


@pytest.fixture(autouse=True)
def double_precision():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def points(n, d, seed=0, batch=()):
    return torch.as_tensor(np.random.default_rng(seed).normal(size=(*batch, n, d)))


def measures(d):
    rng = np.random.default_rng(d)
    mixture = SpectralMixture([0.5, 1.2], 0.5 * rng.normal(size=(2, d)), 0.1 + 0.2 * rng.random((2, d)))
    ard = np.linspace(0.1, 0.3, d)
    return {
        "gaussian": Gaussian(0.3),
        "gaussian per column": 2.0 * Gaussian(ard),
        "matern": Matern(ard, nu=1.5),
        "matern of any order": Matern(0.2, nu=2.2),
        "rational quadratic": RationalQuadratic(0.3, alpha=0.7),
        "laplacian": Laplacian(0.05),
        "band-limited": BandLimited(0.3),
        "mixture": mixture,
        "atomic": Atomic(0.5 * rng.normal(size=(3, d)), [0.3, 0.2, 0.1]),
        "ladder": Ladder([0.2, 0.5]),
        "octaves": Ladder(2),
        "periodic": Periodic(0.5, 0.3).on([0]),
        "sum": 0.7 * Gaussian(ard) + Matern(0.2, nu=2.5).on([d - 1]) + mixture,
        "product": mixture * Matern(0.1, nu=2.5),
    }


each_measure = pytest.mark.parametrize("kind", measures(1))
each_dimension = pytest.mark.parametrize("d", [1, 2, 3])


def with_different_batches(measure, batch_shape, **options):
    kernel = BochnerKernel(measure, 24, batch_shape=torch.Size(batch_shape), **options)
    generator = torch.Generator().manual_seed(0)
    for parameter in kernel.parameters():
        parameter.data += 0.2 * torch.randn(parameter.shape, generator=generator)
    return kernel


def dense(operator):
    return operator.to_dense().detach().numpy()


# -- the same kernel ---------------------------------------------------------------------------------------------------


@each_dimension
@each_measure
@pytest.mark.parametrize("width", [40, 41])
def test_values_equal_those_of_the_sklearn_kernel(kind, d, width):
    measure = measures(d)[kind]
    kernel = BochnerKernel(measure, width, seed=3)
    reference = spectralkit.BochnerKernel(measure, width, seed=3)
    X, Y = points(50, d), points(7, d, seed=1)
    tolerance = {"rtol": 0, "atol": 1e-12 * float(measure.mass)}
    assert_allclose(dense(kernel(X)), reference(X.numpy()), **tolerance)
    assert_allclose(dense(kernel(X[:9])), reference(X[:9].numpy()), **tolerance)
    assert_allclose(dense(kernel(X, Y)), reference(X.numpy(), Y.numpy()), **tolerance)
    assert_allclose(kernel(X, diag=True).detach(), reference.diag(X.numpy()), **tolerance)
    assert_allclose(kernel(X).diagonal().detach(), reference.diag(X.numpy()), **tolerance)
    pairs = np.diag(reference(X[:7].numpy(), Y.numpy()))
    assert_allclose(kernel(X[:7], Y, diag=True).detach(), pairs, **tolerance)
    assert_allclose(kernel.features(X).detach(), reference.features(X.numpy()), **tolerance)
    assert kernel.is_stationary == reference.is_stationary()


@each_dimension
@each_measure
@pytest.mark.parametrize("width", [40, 41])
def test_gradients_equal_those_of_numpy(kind, d, width):
    measure = measures(d)[kind]
    kernel, reference = BochnerKernel(measure, width), spectralkit.BochnerKernel(measure, width)
    X = points(8, d) + 2.0
    G = reference(X.numpy(), eval_gradient=True)[1]
    mixed = points(8, 8, seed=2)
    if kind != "octaves":
        (kernel(X).to_dense() * mixed).sum().backward()
    start = 0
    for p in measure.parameters():
        expected = np.einsum("ijp,ij->p", G[..., start : start + p.size], mixed.numpy()).reshape(np.shape(p.value))
        start += p.size
        raw = getattr(kernel, f"raw_{p.name}")
        if p.domain == "positive":  # numpy: to log p; torch: to raw, with p = log(1 + exp(raw))
            expected = expected / np.asarray(p.value) * torch.sigmoid(raw).detach().numpy()
        assert_allclose(raw.grad, expected, rtol=1e-9, atol=1e-9 * np.abs(G).max())
    assert start == G.shape[2]


@pytest.mark.parametrize("width", [12, 13])
def test_derivatives_to_points_and_parameters_pass_gradcheck(width):
    kernel = BochnerKernel(0.7 * Gaussian([0.2, 0.3]) + measures(2)["mixture"], width)
    raw = {name: p.detach().clone() for name, p in kernel.named_parameters()}

    def evaluate(X, Y, *values):
        return torch.func.functional_call(kernel, dict(zip(raw, values, strict=True)), (X, Y)).to_dense()

    inputs = [value.clone().requires_grad_() for value in (points(4, 2), points(3, 2, seed=1), *raw.values())]
    assert torch.autograd.gradcheck(evaluate, inputs)
    assert torch.autograd.gradgradcheck(lambda X, Y: evaluate(X, Y, *raw.values()), inputs[:2])


def test_second_derivatives_to_parameters_are_refused():
    kernel = BochnerKernel(Gaussian(0.3), 12)
    (slope,) = torch.autograd.grad(kernel(points(4, 1)).to_dense().sum(), kernel.raw_sigma, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.backward()


@each_measure
def test_float32_is_kept_and_far_points_lose_nothing(kind):
    measure = measures(2)[kind]
    torch.set_default_dtype(torch.float32)
    kernel = BochnerKernel(measure, 24)
    X = torch.as_tensor(2000 + np.random.default_rng(0).integers(0, 200, size=(10, 2)) / 8, dtype=torch.float32)
    K = kernel(X).to_dense()
    assert K.dtype == kernel(X, diag=True).dtype == kernel.features(X).dtype == torch.float32
    values = {name: p.detach().double().numpy() for name, p in kernel.parameter_values().items()}
    rounded = measure.replace(**{name: v if v.ndim else float(v) for name, v in values.items()})
    # entries are sums of products of float32 features; parameters are rounded once, in the reference too
    reference = spectralkit.BochnerKernel(rounded, 24)(X.double().numpy() - 2012)
    assert_allclose(K.detach(), reference, rtol=0, atol=2e-6 * float(measure.mass))
    if list(kernel.parameters()):
        K.sum().backward()
        assert {p.grad.dtype for p in kernel.parameters()} == {torch.float32}
        assert all(torch.isfinite(p.grad).all() for p in kernel.parameters())


# -- low rank ----------------------------------------------------------------------------------------------------------


class Regression(gpytorch.models.ExactGP):
    def __init__(self, X, y, kernel):
        super().__init__(X, y, gpytorch.likelihoods.GaussianLikelihood())
        self.likelihood.noise = 0.04
        self.mean_module = gpytorch.means.ConstantMean()
        self.mean_module.constant.data.fill_(0.3)
        self.covar_module = kernel

    def forward(self, X):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(X), self.covar_module(X))


def problem(n, d=2):
    X = points(n, d, seed=7)
    return X, torch.sin(2 * X[:, 0]) + X[:, -1] + 0.2 * points(n, 1, seed=8)[:, 0]


def scaled(kernel, factor=2.5):
    kernel = ScaleKernel(kernel)
    kernel.outputscale = factor
    return kernel


COMPOSITIONS = {
    "one": lambda: BochnerKernel(measures(2)["gaussian per column"], 128),
    "odd": lambda: BochnerKernel(measures(2)["sum"], 127),
    "scaled": lambda: scaled(BochnerKernel(measures(2)["mixture"], 128)),
    "sum": lambda: BochnerKernel(Gaussian(0.2), 64) + BochnerKernel(measures(2)["mixture"], 64),
    "sum of three": lambda: (
        BochnerKernel(Gaussian(0.2), 40)
        + (BochnerKernel(Matern(0.2, nu=1.5), 48, active_dims=(1,)) + BochnerKernel(Ladder([0.3]), 40))
    ),
    "scaled sum": lambda: scaled(BochnerKernel(Gaussian(0.2), 64) + BochnerKernel(Matern(0.2, nu=1.5), 64)),
}
each_composition = pytest.mark.parametrize("name", COMPOSITIONS)


def noisy_covariance(model, X):
    return model.likelihood(model(X)).lazy_covariance_matrix.evaluate_kernel()


@each_composition
def test_operators_are_of_low_rank_for_many_rows(name):
    X = points(20_000, 2)
    model = Regression(X, X[:, 0], COMPOSITIONS[name]()).train()
    prior = model.covar_module(X).evaluate_kernel()
    assert type(prior) is operators.LowRankRootLinearOperator
    assert prior.root.shape[0] == 20_000
    assert prior.root.shape[1] <= 128
    assert type(noisy_covariance(model, X)) is operators.LowRankRootAddedDiagLinearOperator
    few = model.covar_module(X[:60]).evaluate_kernel()
    assert type(few) is operators.RootLinearOperator
    cross = model.covar_module(X, X[:60]).evaluate_kernel()
    if "scaled" not in name:
        assert type(cross) is operators.MatmulLinearOperator
    assert_allclose(dense(cross)[:60], dense(few), rtol=0, atol=1e-12)
    strategy = model.covar_module.prediction_strategy(*_arguments_of_strategy(model, X[:400]))
    assert type(strategy) is gpytorch.models.exact_prediction_strategies.LinearPredictionStrategy


def _arguments_of_strategy(model, X):
    return [X], model.forward(X), X[:, 0], model.likelihood


@each_composition
@pytest.mark.parametrize("n", [60, 400])
def test_likelihood_and_predictions_equal_dense_algebra(name, n):
    X, y = problem(n)
    model = Regression(X, y, COMPOSITIONS[name]())
    model.train()
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    value = mll(model(X), y)
    value.backward()
    targets = points(9, 2, seed=9)
    every = torch.cat([X, targets])
    joint = model.covar_module(every).to_dense()  # attached: the reference for the gradient
    K = joint[:n, :n] + 0.04 * torch.eye(n)
    residual = y - 0.3
    expected = torch.distributions.MultivariateNormal(torch.zeros(n), K).log_prob(residual) / n
    assert_allclose(value.item(), expected.item(), rtol=0, atol=1e-8)
    raw = [p for key, p in model.named_parameters() if key.startswith("covar_module")]
    for p, slope in zip(raw, torch.autograd.grad(expected, raw), strict=True):
        assert_allclose(p.grad, slope, rtol=0, atol=1e-8)
    model.eval()
    posterior = model(targets)
    joint = joint.detach().numpy()
    factor = linalg.cho_factor(K.detach().numpy(), lower=True)
    k = joint[n:, :n]
    assert_allclose(posterior.mean.detach(), 0.3 + k @ linalg.cho_solve(factor, residual.numpy()), rtol=0, atol=1e-8)
    covariance = joint[n:, n:] - k @ linalg.cho_solve(factor, k.T)
    assert_allclose(posterior.covariance_matrix.detach(), covariance, rtol=0, atol=1e-8)
    assert_allclose(posterior.variance.detach(), np.diag(covariance), rtol=0, atol=1e-8)
    one_by_one = torch.cat([model(target[None]).mean for target in targets])  # no target depends on the others
    assert_allclose(one_by_one.detach(), posterior.mean.detach(), rtol=0, atol=1e-12)


@each_composition
def test_compositions_equal_the_sum_of_their_parts(name):
    kernel = COMPOSITIONS[name]()
    X, Y = points(6, 2), points(5, 2, seed=1)
    inner = kernel.base_kernel if "scaled" in name else kernel
    parts = inner.kernels if "sum" in name else [inner]
    factor = 2.5 if "scaled" in name else 1.0
    for a, b in ((X, X), (X, Y)):
        expected = factor * sum(dense(part(a, b)) for part in parts)
        assert_allclose(dense(kernel(a, b)), expected, rtol=0, atol=1e-13 * np.abs(expected).max())
        assert_allclose(kernel(a[:5], b[:5], diag=True).detach(), np.diag(expected[:5, :5]), rtol=0, atol=1e-13 * 5)
    assert isinstance(inner, gpytorch.kernels.AdditiveKernel) == ("sum" in name)


def test_sums_with_other_kernels_are_those_of_gpytorch():
    X = points(6, 2)
    one, rbf = BochnerKernel(Gaussian(0.2), 64), gpytorch.kernels.RBFKernel()
    for total in (one + rbf, rbf + one, (one + one) + rbf, scaled(one) + one):
        assert type(total) is gpytorch.kernels.AdditiveKernel
        expected = sum(dense(kernel(X)) for kernel in total.kernels)
        assert_allclose(dense(total(X)), expected, rtol=0, atol=1e-13)
    assert_allclose(dense((one * rbf)(X)), dense(one(X)) * dense(rbf(X)), rtol=0, atol=1e-13)


def test_a_step_of_an_optimiser_lowers_the_loss():
    X, y = problem(300)
    model = Regression(X, y, ScaleKernel(BochnerKernel(measures(2)["sum"], 64))).train()
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(3):
        optimiser.zero_grad()
        loss = -mll(model(X), y)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[0] > losses[1] > losses[2]
    assert all(p.grad.abs().max() > 0 for p in model.parameters())


# -- batches and columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gaussian per column", "mixture", "sum", "octaves"])
@pytest.mark.parametrize(
    ("batch", "batch1", "batch2"),
    [
        ((3,), (), ()),
        ((3,), (3,), (3,)),
        ((3,), (4, 3), (1,)),
        ((2, 3), (3,), (2, 3)),
        ((3, 1), (2,), ()),
        ((), (4, 2), (2,)),
    ],
)
def test_batches_equal_a_loop(kind, batch, batch1, batch2):
    kernel = with_different_batches(measures(2)[kind], batch)
    X, Y = points(5, 2, batch=batch1), points(4, 2, seed=1, batch=batch2)
    shape = torch.broadcast_shapes(batch, batch1, batch2)
    K, diagonal = dense(kernel(X, Y)), kernel(X[..., :4, :], Y, diag=True).detach()
    own = kernel(X, diag=True).detach()
    assert K.shape == (*shape, 5, 4)
    assert diagonal.shape == (*shape, 4)
    assert own.shape == (*torch.broadcast_shapes(batch, batch1), 5)
    X, Y = X.expand(*shape, 5, 2), Y.expand(*shape, 4, 2)
    numbers = torch.arange(math.prod(batch)).reshape(batch).expand(shape)
    which = list(itertools.product(*map(range, batch)))
    for index in itertools.product(*map(range, shape)):
        one = kernel[which[numbers[index]]] if batch else kernel
        expected = dense(one(X[index], Y[index]))
        assert_allclose(K[index], expected, rtol=0, atol=1e-13)
        assert_allclose(diagonal[index], expected.diagonal(), rtol=0, atol=1e-13)


def test_gradients_of_batches_equal_a_loop():
    kernel = with_different_batches(measures(2)["sum"], (2, 3))
    X, mixed = points(30, 2), points(30, 30, seed=4)
    (kernel(X).to_dense() * mixed).sum().backward()
    for index in itertools.product(range(2), range(3)):
        one = kernel[index]
        one.zero_grad()
        (one(X).to_dense() * mixed).sum().backward()
        for parameter, batch in zip(one.parameters(), kernel.parameters(), strict=True):
            assert_allclose(batch.grad[index], parameter.grad, rtol=1e-9, atol=1e-9)


def test_expanding_indexing_and_active_dims():
    kernel = with_different_batches(Gaussian([0.2, 0.3]), (3,), active_dims=(3, 1))
    X = points(30, 4)
    K = dense(kernel(X))
    assert_allclose(dense(kernel[1](X)), K[1], rtol=0, atol=1e-14)
    assert_allclose(dense(kernel[:2](X)), K[:2], rtol=0, atol=1e-14)
    assert_allclose(dense(kernel(X)[1]), K[1], rtol=0, atol=1e-14)
    assert_allclose(dense(kernel(X)[..., :3, 1:2]), K[..., :3, 1:2], rtol=0, atol=1e-14)
    wide = kernel.expand_batch(torch.Size([4, 3]))
    assert_allclose(dense(wide(X)), np.broadcast_to(K, (4, 3, 30, 30)), rtol=0, atol=1e-14)
    assert kernel.active_dims.tolist() == wide.active_dims.tolist() == kernel[1].active_dims.tolist() == [3, 1]
    without = with_different_batches(Gaussian([0.2, 0.3]), (3,))
    assert_allclose(dense(without(X[:, [3, 1]])), K, rtol=0, atol=1e-14)


# -- state -------------------------------------------------------------------------------------------------------------


@each_measure
def test_state_dict_goes_into_a_fresh_module_before_any_call(kind):
    measure = measures(2)[kind]
    trained = with_different_batches(measure, ())
    X = points(30, 2)
    K = trained(X).to_dense()
    stream = io.BytesIO()
    torch.save(trained.state_dict(), stream)
    stream.seek(0)
    fresh = BochnerKernel(measure, 24)
    keys = fresh.load_state_dict(torch.load(stream, weights_only=True), strict=True)
    assert not keys.missing_keys
    assert not keys.unexpected_keys
    assert torch.equal(fresh(X).to_dense(), K)


@each_measure
def test_deepcopy_pickle_and_what_was_learnt(kind):
    measure = measures(2)[kind]
    kernel = with_different_batches(measure, ())
    X = points(30, 2)
    K = kernel(X).to_dense()
    for other in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert torch.equal(other(X).to_dense(), K)
    learnt = kernel.spectrum
    assert BochnerKernel(learnt, 24).spectrum == learnt
    assert_allclose(spectralkit.BochnerKernel(learnt, 24)(X.numpy()), K.detach(), rtol=0, atol=1e-12)
    assert_allclose(dense(BochnerKernel(learnt, 24)(X)), K.detach(), rtol=0, atol=1e-12)
    assert BochnerKernel(measure, 24).spectrum == measure


def test_priors_and_constraints():
    prior = gpytorch.priors.LogNormalPrior(0.0, 1.0)
    kernel = BochnerKernel(
        2.0 * Gaussian(0.3),
        24,
        priors={"factor": prior},
        constraints={"sigma": gpytorch.constraints.Interval(0.1, 1.0)},
    )
    X, y = problem(60)
    model = Regression(X, y, kernel).train()
    bare = Regression(X, y, BochnerKernel(2.0 * Gaussian(0.3), 24)).train()
    values = [gpytorch.mlls.ExactMarginalLogLikelihood(m.likelihood, m)(m(X), y).item() for m in (model, bare)]
    assert_allclose(values[0] - values[1], prior.log_prob(torch.tensor(2.0)).item() / 60, rtol=0, atol=1e-12)
    kernel.sigma = 0.7
    assert_allclose(kernel.sigma.item(), 0.7)
    with pytest.raises(ValueError, match="sigma must lie inside its constraint"):
        kernel.sigma = 1.7


# -- errors ------------------------------------------------------------------------------------------------------------


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="BochnerKernel: spectrum must be a spectral measure, got 'gaussian'"):
        BochnerKernel("gaussian")
    with pytest.raises(TemplateError, match="is a template: it has no sigma yet"):
        BochnerKernel(Gaussian())
    with pytest.raises(TypeError, match="unexpected keyword argument 'num_samples'"):
        BochnerKernel(Gaussian(0.1), num_samples=4)
    with pytest.raises(ValueError, match="n_components must be an integer of at least 1, got 0"):
        BochnerKernel(Gaussian(0.1), 0)(points(3, 1)).to_dense()
    with pytest.raises(ValueError, match=r"describes 2 column\(s\), but the points have 3"):
        BochnerKernel(Gaussian([0.1, 0.2]))(points(4, 3)).to_dense()
    with pytest.raises(ValueError, match=r"describes 2 column\(s\), but the points have 1"):
        BochnerKernel(Gaussian([0.1, 0.2]), active_dims=(0,))
    with pytest.raises(NotImplementedError, match="BochnerKernel has no last_dim_is_batch"):
        BochnerKernel(Gaussian(0.1)).forward(points(3, 2), points(3, 2), last_dim_is_batch=True)


def test_a_parameter_that_has_run_away_is_refused():
    """Not a NaN in every prediction."""
    kernel = BochnerKernel(Gaussian(0.1))
    kernel.raw_sigma.data.fill_(math.nan)
    with pytest.raises(ValueError, match="Gaussian: sigma must be positive and finite, got nan"):
        kernel(points(3, 1)).to_dense()
