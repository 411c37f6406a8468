import copy
import importlib
import importlib.util
import io
import itertools
import math
import pickle
import sys

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

import spectralkit
from spectralkit import (
    Atomic,
    CapabilityError,
    Gaussian,
    Matern,
    SpectralMeasure,
    SpectralMixture,
    TemplateError,
    positive,
)
from spectralkit._xp import namespace

gpytorch = pytest.importorskip("gpytorch")
torch = pytest.importorskip("torch")
functional_call = torch.func.functional_call

SpectralKernel = importlib.import_module("spectralkit.torch").SpectralKernel
SpectralMixtureKernel = importlib.import_module("spectralkit.torch").SpectralMixtureKernel


@pytest.fixture(autouse=True)
def double_precision():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def points(n, d, seed=0, batch=()):
    return torch.as_tensor(np.random.default_rng(seed).normal(size=(*batch, n, d)))


def measures(d):
    """One measure of each kind in d columns, by name."""
    rng = np.random.default_rng(d)
    mixture = SpectralMixture([0.5, 1.2], 0.5 * rng.normal(size=(2, d)), 0.1 + 0.2 * rng.random((2, d)))
    ard = np.linspace(0.1, 0.3, d)
    last = d - 1
    return {
        "gaussian": Gaussian(0.3),
        "gaussian per column": Gaussian(ard),
        "matern12": Matern(0.2, nu=0.5),
        "matern32 per column": Matern(ard, nu=1.5),
        "matern52": Matern(0.2, nu=2.5),
        "mixture": mixture,
        "atomic": Atomic(0.5 * rng.normal(size=(3, d)), [0.3, 0.2, 0.1]),
        "scaled": 2.5 * Gaussian(0.2),
        "sum": 0.7 * Gaussian(ard) + Matern(0.2, nu=0.5) + mixture,
        "product": mixture * Matern(0.1, nu=1.5),
        "columns": Gaussian([0.2]).on([last]) + 2.0 * (Matern(0.3, nu=2.5).on([0]) * Gaussian(0.1).on([last])),
    }


KINDS = tuple(measures(1))
each_measure = pytest.mark.parametrize("kind", KINDS)
each_dimension = pytest.mark.parametrize("d", [1, 3])


def raw_parameters(kernel):
    return {name: p.detach().clone() for name, p in kernel.named_parameters()}


def with_different_batches(measure, batch_shape):
    """A kernel whose batches of parameters differ from each other."""
    kernel = SpectralKernel(measure, batch_shape=torch.Size(batch_shape))
    generator = torch.Generator().manual_seed(0)
    for parameter in kernel.parameters():
        parameter.data += 0.2 * torch.randn(parameter.shape, generator=generator)
    return kernel


def single(measure, batched, index):
    """The kernel without batches that has the parameters of one batch of another."""
    kernel = SpectralKernel(measure)
    for (name, parameter), (other_name, batch) in zip(
        kernel.named_parameters(), batched.named_parameters(), strict=True
    ):
        assert name == other_name
        parameter.data = batch.data[index].clone()
    return kernel


# -- values ------------------------------------------------------------------------------------------------------------


@each_dimension
@each_measure
def test_values_equal_those_of_the_sklearn_kernel(kind, d):
    measure = measures(d)[kind]
    kernel, reference = SpectralKernel(measure), spectralkit.SpectralKernel(measure)
    X, Y = points(12, d), points(7, d, seed=1)
    X[3] = X[8]
    tolerance = {"rtol": 0, "atol": 1e-12 * measure.mass}
    assert_allclose(kernel(X).to_dense().detach(), reference(X.numpy()), **tolerance)
    assert_allclose(kernel(X, Y).to_dense().detach(), reference(X.numpy(), Y.numpy()), **tolerance)
    assert_allclose(kernel(X).diagonal().detach(), reference.diag(X.numpy()), **tolerance)
    assert_allclose(kernel(X, diag=True).detach(), reference.diag(X.numpy()), **tolerance)
    pairs = kernel(X[:7], Y, diag=True).detach()
    assert_allclose(pairs, np.diag(reference(X[:7].numpy(), Y.numpy())), **tolerance)


@pytest.mark.parametrize("nu", [None, 0.5, 1.5, 2.5])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("ard", [False, True])
def test_values_equal_those_of_gpytorch(nu, d, ard):
    lengthscale = np.linspace(0.5, 1.5, d) if ard else 0.8
    X, Y = points(12, d), points(7, d, seed=1)
    if nu is None:
        ours, theirs = (
            Gaussian.from_lengthscale(lengthscale),
            gpytorch.kernels.RBFKernel(ard_num_dims=d if ard else None),
        )
    else:
        ours = Matern.from_lengthscale(lengthscale, nu=nu)
        theirs = gpytorch.kernels.MaternKernel(nu=nu, ard_num_dims=d if ard else None)
    theirs.lengthscale = lengthscale
    for a, b in ((X, X), (X, Y)):
        got, expected = (k(a, b).to_dense().detach() for k in (SpectralKernel(ours), theirs))
        assert_allclose(got, expected, rtol=0, atol=1e-12)


def test_mixture_equals_that_of_gpytorch_in_one_column():
    weights, means, sigmas = [0.5, 1.2], [0.3, 1.1], [0.1, 0.4]
    theirs = gpytorch.kernels.SpectralMixtureKernel(num_mixtures=2)
    theirs.initialize(
        mixture_weights=torch.tensor(weights),
        mixture_means=torch.tensor(means).reshape(2, 1, 1),
        mixture_scales=torch.tensor(sigmas).reshape(2, 1, 1),
    )
    ours = SpectralKernel(SpectralMixture(weights, means, sigmas))
    X = points(15, 1)
    assert_allclose(ours(X).to_dense().detach(), theirs(X).to_dense().detach(), rtol=0, atol=1e-12)


def test_mixture_in_two_columns_has_the_sum_of_its_weights_at_lag_zero():
    """GPyTorch's own has the square of the sum (issues 1198 and 1815)."""
    kernel = SpectralKernel(SpectralMixture([0.5, 1.0, 2.0], np.ones((3, 2)), np.ones((3, 2))))
    X = points(4, 2)
    assert_allclose(kernel(X).to_dense().diagonal().detach(), 3.5, rtol=1e-14)
    assert_allclose(kernel(X, diag=True).detach(), 3.5, rtol=1e-14)


def test_signed_means_have_no_constraint():
    kernel = SpectralKernel(SpectralMixture([1.0], [[0.4, -0.7]], [[0.1, 0.2]]))
    constrained = {name.removesuffix("_constraint") for name, _ in kernel.named_constraints()}
    assert constrained == {"raw_weights", "raw_sigmas"}
    assert_allclose(kernel.raw_means.detach(), [[0.4, -0.7]], rtol=1e-15)
    assert_allclose(kernel.parameter_values()["means"].detach(), [[0.4, -0.7]], rtol=1e-15)


@each_measure
def test_float32_is_kept(kind):
    measure = measures(3)[kind]
    torch.set_default_dtype(torch.float32)
    kernel = SpectralKernel(measure)
    assert {p.dtype for p in kernel.parameters()} == {torch.float32}
    X = points(10, 3).float()
    K = kernel(X).to_dense()
    assert K.dtype == torch.float32
    assert kernel(X, diag=True).dtype == torch.float32
    K.sum().backward()
    assert {p.grad.dtype for p in kernel.parameters()} == {torch.float32}
    # parameters are rounded, and so are scaled lags: an argument of a few units moves by some eps times itself
    assert_allclose(K.detach(), spectralkit.SpectralKernel(measure)(X.numpy()), rtol=0, atol=3e-6 * measure.mass)


# -- derivatives -------------------------------------------------------------------------------------------------------


@each_dimension
@each_measure
def test_gradients_equal_those_of_numpy(kind, d):
    measure = measures(d)[kind]
    kernel = SpectralKernel(measure)
    X = points(8, d)
    X[2] = X[5]
    _, G = measure.gram_gradient(X.numpy())
    mixed = points(8, 8, seed=2)
    (kernel(X).to_dense() * mixed).sum().backward()
    start = 0
    for p in measure.parameters():
        expected = np.einsum("pij,ij->p", G[start : start + p.size], mixed.numpy()).reshape(np.shape(p.value))
        start += p.size
        raw = getattr(kernel, f"raw_{p.name}")
        if p.domain == "positive":  # numpy: to log p; torch: to raw, with p = log(1 + exp(raw))
            expected = expected / np.asarray(p.value) * torch.sigmoid(raw).detach().numpy()
        assert_allclose(raw.grad, expected, rtol=1e-10, atol=1e-11)
    assert start == len(G)


@each_measure
def test_first_and_second_derivatives_pass_gradcheck(kind):
    kernel = SpectralKernel(measures(2)[kind])
    raw = raw_parameters(kernel)
    X, Y = points(4, 2), points(3, 2, seed=1)

    def evaluate(X, Y, *values):
        return functional_call(kernel, dict(zip(raw, values, strict=True)), (X, Y)).to_dense()

    inputs = [value.clone().requires_grad_() for value in (X, Y, *raw.values())]
    assert torch.autograd.gradcheck(evaluate, inputs)
    assert torch.autograd.gradgradcheck(evaluate, inputs)


@each_measure
def test_gradients_at_coincident_points_are_finite_in_float32(kind):
    torch.set_default_dtype(torch.float32)
    kernel = SpectralKernel(measures(3)[kind])
    X = torch.ones(5, 3, requires_grad=True)
    for K in (kernel(X).to_dense(), kernel(X, X[:2]).to_dense(), kernel(X, diag=True)):
        gradients = torch.autograd.grad(K.sum(), [X, *kernel.parameters()])
        assert all(torch.isfinite(g).all() for g in gradients)
        assert (gradients[0] == 0).all()  # a kernel is even


# -- batches -----------------------------------------------------------------------------------------------------------

BATCHES = [  # batches of parameters, of x1, of x2
    ((3,), (), ()),
    ((3,), (3,), (3,)),
    ((3,), (1,), ()),
    ((3,), (4, 3), (3,)),
    ((2, 3), (), ()),
    ((2, 3), (3,), (2, 3)),
    ((2, 3), (5, 2, 3), (1, 3)),
    ((), (4,), ()),
    ((), (4, 2), (2,)),
]
SMALLER = [  # batches of parameters that the data's stretch
    ((1,), (4,), (4,)),
    ((3, 1), (2,), ()),
    ((1, 3), (4, 3), (3,)),
]


def check_batches(measure, batch, batch1, batch2):
    kernel = with_different_batches(measure, batch)
    X, Y = points(5, 2, batch=batch1), points(4, 2, seed=1, batch=batch2)
    shape = torch.broadcast_shapes(batch, batch1, batch2)
    K = kernel(X, Y).to_dense().detach()
    diagonal = kernel(X[..., :4, :], Y, diag=True).detach()
    assert K.shape == (*shape, 5, 4)
    assert diagonal.shape == (*shape, 4)
    X, Y = X.expand(*shape, 5, 2), Y.expand(*shape, 4, 2)
    numbers = torch.arange(math.prod(batch)).reshape(batch).expand(shape)
    which = list(itertools.product(*map(range, batch)))
    for index in itertools.product(*map(range, shape)):
        one = single(measure, kernel, which[numbers[index]])
        expected = one(X[index], Y[index]).to_dense().detach()
        assert_allclose(K[index], expected, rtol=0, atol=1e-12)
        assert_allclose(diagonal[index], expected.diagonal(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["gaussian per column", "mixture", "sum", "columns"])
@pytest.mark.parametrize(("batch", "batch1", "batch2"), BATCHES)
def test_batches_equal_a_loop(kind, batch, batch1, batch2):
    check_batches(measures(2)[kind], batch, batch1, batch2)


@pytest.mark.parametrize(("batch", "batch1", "batch2"), SMALLER)
def test_batches_of_size_one_broadcast_as_in_gpytorch(batch, batch1, batch2):
    check_batches(Gaussian([0.2, 0.3]), batch, batch1, batch2)


def test_a_multiple_inside_a_column_group_keeps_its_own_factor():
    measure = 2.0 * (3.0 * Gaussian(0.1)).on([0])
    assert_allclose(SpectralKernel(measure)(points(4, 2)).to_dense().diagonal().detach(), 6.0)


def test_gradients_of_batches_equal_a_loop():
    measure = measures(2)["sum"]
    kernel = with_different_batches(measure, (3,))
    X = points(5, 2, batch=(3,))
    weights = points(5, 5, seed=4)
    (kernel(X).to_dense() * weights).sum().backward()
    for i in range(3):
        one = single(measure, kernel, i)
        (one(X[i]).to_dense() * weights).sum().backward()
        for parameter, batch in zip(one.parameters(), kernel.parameters(), strict=True):
            assert_allclose(batch.grad[i], parameter.grad, rtol=1e-10, atol=1e-12)


def test_batches_can_be_indexed_and_expanded():
    measure = measures(2)["sum"]
    kernel = with_different_batches(measure, (3, 2))
    X = points(5, 2)
    K = kernel(X).to_dense().detach()
    assert kernel[1].batch_shape == (2,)
    assert kernel[1, 0].batch_shape == ()
    assert kernel[:2].batch_shape == (2, 2)
    for index in (1, (1, 0), (slice(0, 2),), (slice(None), 1)):
        assert_allclose(kernel[index](X).to_dense().detach(), K[index], rtol=0, atol=1e-14)
        assert_allclose(kernel(X)[index].to_dense().detach(), K[index], rtol=0, atol=1e-14)
    assert_allclose(kernel(X)[..., :3, 1:2].to_dense().detach(), K[..., :3, 1:2], rtol=0, atol=1e-14)
    wide = kernel.expand_batch(torch.Size([4, 3, 2]))
    assert_allclose(wide(X).to_dense().detach(), K.expand(4, 3, 2, 5, 5), rtol=0, atol=1e-14)


def test_a_batch_of_parameters_is_not_one_measure():
    kernel = SpectralKernel(Gaussian(0.1), batch_shape=torch.Size([3]))
    with pytest.raises(Exception, match=r"A batch of parameters, \(3,\), is not one measure"):
        _ = kernel.spectrum


# -- gpytorch's machinery ----------------------------------------------------------------------------------------------


def test_composes_with_other_kernels():
    X = points(8, 2)
    one, other = SpectralKernel(Gaussian([0.2, 0.3])), SpectralKernel(Matern(0.2, nu=1.5))
    scaled = gpytorch.kernels.ScaleKernel(one)
    scaled.outputscale = 2.5
    K, L = one(X).to_dense().detach(), other(X).to_dense().detach()
    rbf = gpytorch.kernels.RBFKernel()
    R = rbf(X).to_dense().detach()
    for composed, expected in (
        (scaled, 2.5 * K),
        (one + other, K + L),
        (one * other, K * L),
        (scaled + rbf, 2.5 * K + R),
    ):
        assert_allclose(composed(X).to_dense().detach(), expected, rtol=0, atol=1e-13)
        assert_allclose(composed(X, diag=True).detach(), expected.diagonal(), rtol=0, atol=1e-13)
        assert composed.is_stationary
    assert isinstance(one + other, gpytorch.kernels.AdditiveKernel)
    inside = SpectralKernel(2.5 * Gaussian([0.2, 0.3]) + Matern(0.2, nu=1.5))
    assert_allclose((scaled + other)(X).to_dense().detach(), inside(X).to_dense().detach(), rtol=0, atol=1e-13)


def test_active_dims_select_columns():
    X = points(6, 4)
    kernel = SpectralKernel(Gaussian([0.2, 0.3]), active_dims=(3, 1))
    whole = SpectralKernel(Gaussian([0.2, 0.3]).on([3, 1]))
    expected = SpectralKernel(Gaussian([0.2, 0.3]))(X[:, [3, 1]]).to_dense().detach()
    assert_allclose(kernel(X).to_dense().detach(), expected, rtol=0, atol=1e-14)
    assert_allclose(whole(X).to_dense().detach(), expected, rtol=0, atol=1e-14)
    assert_allclose(kernel(X, diag=True).detach(), 1.0)


class Regression(gpytorch.models.ExactGP):
    def __init__(self, X, y, kernel):
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        likelihood.noise = 0.04
        super().__init__(X, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.mean_module.constant.data.fill_(0.3)
        self.covar_module = kernel

    def forward(self, X):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(X), self.covar_module(X))


def problem(n=40):
    X = points(n, 2, seed=7)
    noise = 0.2 * np.random.default_rng(8).normal(size=n)
    return X, torch.sin(2 * X[:, 0]) + X[:, 1] + torch.as_tensor(noise)


@pytest.mark.parametrize("kind", ["matern52", "mixture", "sum", "product"])
def test_likelihood_and_predictions_of_an_exact_gp_equal_dense_algebra(kind):
    measure = measures(2)[kind]
    X, y = problem()
    model = Regression(X, y, SpectralKernel(measure))
    model.train()
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    n = len(y)
    K = measure.gram(X.numpy()) + 0.04 * np.eye(n)
    residual = y.numpy() - 0.3
    factor = linalg.cho_factor(K, lower=True)
    alpha = linalg.cho_solve(factor, residual)
    log_det = 2 * np.log(np.diag(factor[0])).sum()
    expected = -0.5 * (residual @ alpha + log_det + n * math.log(2 * math.pi)) / n  # gpytorch divides by n
    assert_allclose(mll(model(X), y).item(), expected, rtol=1e-10)
    model.eval()
    targets = points(9, 2, seed=9)
    k = measure.gram(targets.numpy(), X.numpy())
    posterior = model(targets)
    assert_allclose(posterior.mean.detach(), 0.3 + k @ alpha, rtol=0, atol=1e-8)
    variance = measure.mass - np.einsum("ij,ji->i", k, linalg.cho_solve(factor, k.T))
    assert_allclose(posterior.variance.detach(), variance, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", ["gaussian per column", "mixture", "sum", "columns"])
def test_a_step_of_an_optimiser_lowers_the_loss(kind):
    X, y = problem()
    model = Regression(X, y, gpytorch.kernels.ScaleKernel(SpectralKernel(measures(2)[kind])))
    model.train()
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    losses = []
    for _ in range(3):
        optimiser.zero_grad()
        loss = -mll(model(X), y)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[0] > losses[1] > losses[2]
    assert all((p != before[name]).any() for name, p in model.named_parameters())


def test_constraints_and_priors_can_be_registered():
    kernel = SpectralKernel(2.0 * Gaussian([0.2, 0.3]))
    kernel.register_constraint("raw_sigma", gpytorch.constraints.Interval(0.1, 0.5))
    kernel.register_prior(
        "prior", gpytorch.priors.GammaPrior(2.0, 3.0), lambda module: module.parameter_values()["factor"]
    )
    for raw in (-1e3, 1e3):
        kernel.initialize(raw_sigma=torch.full((2,), raw))
        assert_allclose(kernel.parameter_values()["sigma"].detach(), 0.1 if raw < 0 else 0.5)
    (_, module, prior, closure, _), *others = kernel.named_priors()
    assert not others
    assert_allclose(prior.log_prob(closure(module)).item(), math.log(9 * 2.0) - 6.0, rtol=1e-12)  # 9 x exp(-3 x)


@each_measure
def test_state_dict_goes_into_a_fresh_module_before_any_call(kind):
    measure = measures(2)[kind]
    trained = with_different_batches(measure, ())
    X = points(5, 2)
    stream = io.BytesIO()
    torch.save(trained.state_dict(), stream)
    stream.seek(0)
    fresh = SpectralKernel(measure)
    assert not torch.equal(fresh(X).to_dense(), trained(X).to_dense())
    fresh = SpectralKernel(measure)
    keys = fresh.load_state_dict(torch.load(stream, weights_only=True), strict=True)
    assert not keys.missing_keys
    assert not keys.unexpected_keys
    assert torch.equal(fresh(X).to_dense(), trained(X).to_dense())


@each_measure
def test_deepcopy_and_pickle(kind):
    measure = measures(2)[kind]
    kernel = with_different_batches(measure, (2,))
    X = points(5, 2)
    K = kernel(X).to_dense()
    for other in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert torch.equal(other(X).to_dense(), K)
        for parameter in other.parameters():
            parameter.data += 0.1
        assert not torch.equal(other(X).to_dense(), K)
        assert torch.equal(kernel(X).to_dense(), K)


def test_the_measure_that_was_given_stays_as_it_is():
    sigma = np.array([0.2, 0.3])
    measure = 2.0 * Gaussian(sigma)
    kernel = SpectralKernel(measure)
    for parameter in kernel.parameters():
        parameter.data += 1.0
    assert_allclose(sigma, [0.2, 0.3])
    assert measure == 2.0 * Gaussian([0.2, 0.3])
    assert kernel.spectrum.mass == kernel.parameter_values()["factor"].item() > 2.5


def test_what_was_learnt_is_a_measure_on_numpy_again():
    """For features, plots and other kernels; equal each time it is asked for, and not tied to the kernel."""
    measure = 2.0 * (Gaussian([0.2, 0.3]) + SpectralMixture([0.5], [[1.0, -2.0]], [[0.1, 0.2]]))
    kernel = SpectralKernel(measure)
    learnt = kernel.spectrum
    assert learnt == kernel.spectrum
    assert_allclose(learnt.pack(), measure.pack(), rtol=1e-14)
    X = points(5, 2)
    assert_allclose(learnt.gram(X.numpy()), kernel(X).to_dense().detach().numpy(), rtol=0, atol=1e-14)
    for parameter in kernel.parameters():
        parameter.data += 1.0
    assert learnt != kernel.spectrum
    assert SpectralKernel(learnt).spectrum == learnt


# -- parameters by name ------------------------------------------------------------------------------------------------


def nested():
    return 2.0 * Gaussian([0.2, 0.3]) + SpectralMixture([0.5, 0.7], [[1.0, -2.0], [0.5, 0.1]], [[0.1, 0.2], [0.3, 0.4]])


def test_parameters_can_be_read_and_set_by_name():
    kernel = SpectralKernel(SpectralMixture([0.5, 0.7], [[1.0, -2.0], [0.5, 0.1]], [[0.1, 0.2], [0.3, 0.4]]))
    assert_allclose(kernel.weights.detach(), [0.5, 0.7], rtol=1e-15)
    assert kernel.weights.requires_grad
    kernel.weights = [0.6, 0.8]
    kernel.means = -1.0
    kernel.initialize(sigmas=torch.tensor([0.5, 0.25]))
    expected = SpectralMixture([0.6, 0.8], np.full((2, 2), -1.0), [[0.5, 0.25], [0.5, 0.25]])
    assert_allclose(kernel.spectrum.pack(), expected.pack(), rtol=1e-14)
    assert isinstance(kernel.raw_weights, torch.nn.Parameter)
    assert {name for name, _ in kernel.named_parameters()} == {"raw_weights", "raw_means", "raw_sigmas"}


def test_nested_names_have_no_dots():
    kernel = SpectralKernel(nested())
    names = ["0__factor", "0__sigma", "1__weights", "1__means", "1__sigmas"]
    assert [name for name, _ in kernel.named_parameters()] == [f"raw_{name}" for name in names]
    kernel.initialize(**{"0__sigma": 0.7, "1__means": np.zeros((2, 2))})
    assert_allclose(getattr(kernel, "0__sigma").detach(), 0.7, rtol=1e-15)
    assert_allclose(kernel.spectrum.parts[1].means, 0.0)
    model = Regression(*problem(), gpytorch.kernels.ScaleKernel(kernel))
    model.initialize(**{"covar_module.base_kernel.0__factor": 3.0})
    assert_allclose(kernel.spectrum.parts[0].factor, 3.0, rtol=1e-15)


def test_setting_a_batch_broadcasts():
    kernel = SpectralKernel(Gaussian([0.2, 0.3]), batch_shape=torch.Size([3]))
    kernel.sigma = torch.tensor([[1.0], [2.0], [3.0]])
    assert_allclose(kernel.sigma.detach(), [[1, 1], [2, 2], [3, 3]], rtol=1e-15)
    assert_allclose(kernel[1].spectrum.sigma, 2.0, rtol=1e-15)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, [0.1, -0.1]])
def test_values_outside_the_domain_are_refused(value):
    kernel = SpectralKernel(Gaussian([0.2, 0.3]))
    with pytest.raises(ValueError, match="SpectralKernel: sigma must lie inside its constraint, Positive"):
        kernel.sigma = value
    assert_allclose(kernel.sigma.detach(), [0.2, 0.3], rtol=1e-15)


def test_values_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match=r"sigma has shape \(2,\), got a value of \(3,\)"):
        SpectralKernel(Gaussian([0.2, 0.3])).sigma = [0.1, 0.2, 0.3]
    with pytest.raises(AttributeError, match="sgima"):
        SpectralKernel(Gaussian([0.2, 0.3])).initialize(sgima=0.1)


def test_a_parameter_called_like_a_part_of_gpytorch_keeps_out_of_its_way():
    class Clash(SpectralMeasure):
        lengthscale: float = positive(default=2.0)

        def _covariance(self, lags):
            return namespace(lags.like).exp(-lags.squared(1.0) / self.lengthscale)

    kernel = SpectralKernel(Clash())
    assert kernel.lengthscale is None  # what GPyTorch says of a kernel without one
    assert_allclose(kernel.parameter_values()["lengthscale"].item(), 2.0)
    assert kernel.spectrum == Clash(2.0)


CONSTRAINTS = {
    "means": gpytorch.constraints.Interval(-3.0, 3.0),
    "weights": gpytorch.constraints.Interval(torch.tensor([0.1, 0.2]).double(), torch.tensor([1.0, 0.9]).double()),
    "sigmas": gpytorch.constraints.GreaterThan(0.05),
}


def test_constraints_hold_whatever_the_raw_value_is():
    """Real parameters may have one too, and bounds may differ from number to number."""
    measure = SpectralMixture([0.5, 0.7], [[1.0, -2.0], [0.5, 0.1]], [[0.1, 0.2], [0.3, 0.4]])
    kernel = SpectralKernel(measure, constraints=copy.deepcopy(CONSTRAINTS))
    assert kernel.spectrum == measure
    limits = {"weights": ([0.1, 0.2], [1.0, 0.9]), "means": (-3.0, 3.0), "sigmas": (0.05, math.inf)}
    for i, raw in enumerate((-1e3, 1e3)):
        for name, limit in limits.items():
            getattr(kernel, f"raw_{name}").data.fill_(raw)
            if math.isfinite(np.max(limit[i])):
                value = getattr(kernel, name).detach()
                assert_allclose(value, np.broadcast_to(limit[i], value.shape))
    with pytest.raises(ValueError, match="weights must lie inside its constraint"):
        kernel.weights = [0.5, 0.95]
    with pytest.raises(ValueError, match="sigma must lie inside its constraint"):
        SpectralKernel(Gaussian(0.2), constraints={"sigma": gpytorch.constraints.Interval(0.3, 0.5)})


def test_priors_enter_the_marginal_likelihood_and_can_be_sampled():
    priors = {
        "0__sigma": gpytorch.priors.GammaPrior(2.0, 3.0),
        "1__means": gpytorch.priors.NormalPrior(0.0, 2.0),
    }
    X, y = problem()
    with_priors, without = (Regression(X, y, SpectralKernel(nested(), priors=p)).train() for p in (priors, None))
    values = [gpytorch.mlls.ExactMarginalLogLikelihood(m.likelihood, m)(m(X), y) for m in (with_priors, without)]
    expected = priors["0__sigma"].log_prob(torch.tensor([0.2, 0.3])).sum()
    expected = expected + priors["1__means"].log_prob(torch.tensor([1.0, -2.0, 0.5, 0.1])).sum()
    assert_allclose((values[0] - values[1]).item(), expected.item() / len(y), rtol=1e-10)
    kernel = with_priors.covar_module
    assert {name for name, *_ in kernel.named_priors()} == {"0__sigma_prior", "1__means_prior"}
    torch.manual_seed(0)
    kernel.sample_from_prior("0__sigma_prior")
    torch.manual_seed(0)
    assert_allclose(getattr(kernel, "0__sigma").detach(), priors["0__sigma"].sample().item(), rtol=1e-14)
    for other in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        other.sample_from_prior("1__means_prior")
        assert (getattr(other, "1__means") != getattr(kernel, "1__means")).all()


def test_samples_of_the_posterior_make_a_batch():
    """What loading a fully Bayesian fit does: parameters without a prior keep the value that they have."""
    kernel = SpectralKernel(2.0 * Gaussian([0.2, 0.3]), priors={"sigma": gpytorch.priors.GammaPrior(2.0, 3.0)})
    samples = torch.tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    kernel.pyro_load_from_samples({"sigma_prior": samples})
    assert kernel.batch_shape == (3,)
    assert_allclose(kernel.sigma.detach(), samples, rtol=1e-14)
    X = points(4, 2)
    for K, sigma in zip(kernel(X).to_dense().detach(), samples.numpy(), strict=True):
        assert_allclose(K, (2.0 * Gaussian(sigma)).gram(X.numpy()), rtol=0, atol=1e-14)


@pytest.mark.parametrize("argument", ["priors", "constraints"])
def test_priors_and_constraints_must_fit_the_parameters(argument):
    thing = {"priors": gpytorch.priors.GammaPrior(2.0, 3.0), "constraints": gpytorch.constraints.Positive()}[argument]
    with pytest.raises(ValueError, match=rf"{argument} names sgima, but the free parameters of .* are factor, sigma"):
        SpectralKernel(2.0 * Gaussian(0.1), **{argument: {"sgima": thing}})
    for wrong in ({"sigma": 1.0}, [thing], thing):
        with pytest.raises(TypeError, match=rf"{argument} must be a dict from names of parameters to "):
            SpectralKernel(2.0 * Gaussian(0.1), **{argument: wrong})


@each_measure
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_measure_goes_in_and_comes_out_the_same(kind, dtype):
    torch.set_default_dtype(dtype)
    measure = measures(2)[kind]
    assert SpectralKernel(measure).spectrum == measure
    learnt = with_different_batches(measure, ()).spectrum
    assert learnt != measure
    assert SpectralKernel(learnt).spectrum == learnt


def test_columns_to_act_on_survive_expanding_and_indexing():
    """GPyTorch expands and indexes them like batches."""
    kernel = SpectralKernel(Gaussian([0.2, 0.3]), batch_shape=torch.Size([3]), active_dims=(3, 1))
    kernel.sigma = torch.tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    X = points(6, 4)
    K = kernel(X).to_dense().detach()
    assert_allclose(kernel[1](X).to_dense().detach(), K[1], rtol=0, atol=1e-14)
    assert_allclose(kernel[:2](X).to_dense().detach(), K[:2], rtol=0, atol=1e-14)
    assert_allclose(kernel(X)[1].to_dense().detach(), K[1], rtol=0, atol=1e-14)
    wide = kernel.expand_batch(2, 3)
    assert_allclose(wide(X).to_dense().detach(), K.expand(2, 3, 6, 6), rtol=0, atol=1e-14)
    single_kernel = SpectralKernel(Gaussian([0.2, 0.3]), active_dims=(3, 1))
    assert_allclose(single_kernel.expand_batch(5)(X, diag=True).detach(), np.ones((5, 6)), rtol=1e-15)
    assert kernel.active_dims.tolist() == [3, 1]
    assert list(kernel.state_dict()) == list(SpectralKernel(kernel[0].spectrum, active_dims=(3, 1)).state_dict())


@pytest.mark.parametrize("offset", [2000.0, 2.0**30])
@each_measure
def test_float32_far_from_the_origin_is_as_accurate_as_the_lags_are(kind, offset):
    """Calendar years and Unix seconds: the lags between the points are exact, whatever they are added to."""
    measure = measures(2)[kind]
    torch.set_default_dtype(torch.float32)
    unit = 128.0 if offset > 1e6 else 0.125  # a multiple of the spacing of float32 there
    near = torch.as_tensor(np.random.default_rng(0).integers(0, 100, size=(10, 2)), dtype=torch.float32) * unit
    kernel = SpectralKernel(
        measure.replace(
            **{  # one unit is 1/8 of what it is in the list of measures
                p.name: np.asarray(p.value) / (8 * unit)
                if p.name.split("__")[-1] not in ("factor", "weights")
                else p.value
                for p in measure.parameters()
            }
        )
    )
    expected = kernel(near).to_dense().detach()
    mass = expected[0, 0].item()
    assert_allclose(kernel(near + offset).to_dense().detach(), expected, rtol=0, atol=1e-5 * mass)
    cross = kernel(near + offset, near[:3] + offset).to_dense().detach()
    assert_allclose(cross, expected[:, :3], rtol=0, atol=1e-5 * mass)


# -- the kernel of a spectral mixture ----------------------------------------------------------------------------------


def waves(n=60, d=1):
    """Two waves at irregular points; in several columns they run aslant."""
    rng = np.random.default_rng(0)
    x = torch.as_tensor(rng.uniform(0, 5, size=(n, d)))
    means = torch.tensor([[1.3, -0.6, 0.4], [0.5, 1.1, -0.8]])[:, :d]
    phases = 2 * math.pi * x @ means.mT
    y = 2 * torch.cos(phases[:, 0]) + torch.sin(phases[:, 1]) + torch.as_tensor(0.1 * rng.normal(size=n))
    return x, y


@pytest.mark.parametrize("form", ["mixture", "product"])
@pytest.mark.parametrize("d", [1, 2])
def test_a_mixture_starts_where_that_of_sklearn_starts(d, form):
    x, y = waves(d=d)
    ours = SpectralMixtureKernel.from_data(x, y, 2, form)
    theirs = spectralkit.SpectralMixtureKernel.from_data(x.numpy(), y.numpy(), 2, form)
    assert ours.spectrum == theirs.spectrum
    assert_allclose(ours(x).to_dense().detach(), theirs(x.numpy()), rtol=0, atol=1e-12)
    for key, values in ours.component_table().items():
        assert_allclose(values, theirs.component_table()[key], rtol=1e-15)
    assert SpectralMixtureKernel.from_data(x.float(), y.float(), 2, form).spectrum == (
        spectralkit.SpectralMixtureKernel.from_data(x.float().numpy(), y.float().numpy(), 2, form).spectrum
    )


def test_a_mixture_takes_vectors_graphs_half_precision_and_options():
    x, y = waves()
    kernel = SpectralMixtureKernel.from_data(x[:, 0], y, 2)
    assert kernel.spectrum == SpectralMixtureKernel.from_data(x, y, 2).spectrum
    attached = x.clone().requires_grad_(), (2 * y.clone().requires_grad_()) / 2
    assert SpectralMixtureKernel.from_data(*attached, 2).spectrum == kernel.spectrum
    rough = SpectralMixtureKernel.from_data(x.bfloat16().float(), y.bfloat16(), 2).spectrum
    assert_allclose(rough.means, kernel.spectrum.means, atol=0.02)
    several = SpectralMixtureKernel.from_data(x, torch.stack([y, 2 * y], -1), 2).spectrum
    assert_allclose(several.means, kernel.spectrum.means, atol=1e-6)
    noise = torch.where(torch.arange(60) % 2 == 0, 0.1, 5.0)
    options = {"trend": 0, "max_frequency": 1.0}
    assert SpectralMixtureKernel.from_data(x, y, noise_std=noise, **options).spectrum == (
        spectralkit.SpectralMixtureKernel.from_data(x.numpy(), y.numpy(), noise_std=noise.numpy(), **options).spectrum
    )


def test_a_mixture_reads_its_active_columns_alone():
    x, y = waves(d=2)
    wide = torch.stack([torch.full((60,), math.nan), x[:, 1], points(60, 1, seed=9)[:, 0], x[:, 0]], -1)
    plain = SpectralMixtureKernel.from_data(x, y, 2)
    for columns in ((3, 1), [3, 1], torch.tensor([3, 1])):
        kernel = SpectralMixtureKernel.from_data(wide, y, 2, active_dims=columns)
        assert kernel.spectrum == plain.spectrum
        wide_points = torch.nan_to_num(wide)
        assert_allclose(kernel(wide_points).to_dense().detach(), plain(x).to_dense().detach(), rtol=0, atol=1e-13)


def test_a_mixture_passes_its_keywords_on():
    x, y = waves()
    priors = {"means": gpytorch.priors.NormalPrior(0.0, 1.0)}
    constraints = {"sigmas": gpytorch.constraints.Interval(1e-4, 10.0)}
    kernel = SpectralMixtureKernel.from_data(
        x, y, 2, batch_shape=torch.Size([3]), priors=priors, constraints=constraints
    )
    assert kernel(x).shape == (3, 60, 60)
    assert [name for name, *_ in kernel.named_priors()] == ["means_prior"]
    assert kernel.raw_sigmas_constraint is constraints["sigmas"]
    assert kernel[1].spectrum.means == pytest.approx(SpectralMixtureKernel.from_data(x, y, 2).spectrum.means)
    with pytest.raises(TypeError, match="unexpected keyword argument 'num_mixtures'"):
        SpectralMixtureKernel.from_data(x, y, num_mixtures=4)
    with pytest.raises(ValueError, match="form must be 'mixture' or 'product'"):
        SpectralMixtureKernel.from_data(x, y, 2, form="sum")
    with pytest.raises(ValueError, match=r"train_x must have shape \(n, d\) or \(n,\), got \(3, 60, 1\)"):
        SpectralMixtureKernel.from_data(x.expand(3, 60, 1), y, 2)
    with pytest.raises(ValueError, match="NaN"):
        SpectralMixtureKernel.from_data(x, torch.full_like(y, math.nan), 2)
    with pytest.raises(Exception, match="A batch of parameters"):
        kernel.component_table()


def gpytorch_mixture(q, d, **options):
    theirs = gpytorch.kernels.SpectralMixtureKernel(num_mixtures=q, ard_num_dims=d, **options)
    rng = np.random.default_rng(d)
    theirs.mixture_weights = torch.as_tensor(0.2 + rng.random(q))
    theirs.mixture_means = torch.as_tensor(rng.random((q, 1, d)))
    theirs.mixture_scales = torch.as_tensor(0.05 + 0.3 * rng.random((q, 1, d)))
    return theirs


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("q", [1, 3])
def test_the_product_form_equals_gpytorch_and_a_kernel_of_gpytorch_is_read(q, d):
    theirs = gpytorch_mixture(q, d)
    X, Y = points(30, d), points(7, d, seed=1)
    weights, means, scales = (
        p.detach().numpy() for p in (theirs.mixture_weights, theirs.mixture_means, theirs.mixture_scales)
    )
    ours = SpectralMixtureKernel.from_data(X, torch.arange(30.0).cos(), q, form="product", trend=0)
    for p in range(d):  # the form that from_data makes, with the numbers of GPyTorch in every factor
        prefix = f"{p}__" if d > 1 else ""
        numbers = {"weights": weights, "means": means[:, 0, p], "sigmas": scales[:, 0, p]}
        ours.initialize(
            **{f"{prefix}{name}": value.reshape(-1, 1) if d == 1 and name != "weights" else value
               for name, value in numbers.items()}
        )  # fmt: skip
    read = SpectralMixtureKernel.from_gpytorch(theirs)
    for kernel in (ours, read):
        for a, b in ((X, X), (X, Y)):
            assert_allclose(kernel(a, b).to_dense().detach(), theirs(a, b).to_dense().detach(), rtol=0, atol=1e-12)
    assert len(read.component_table()["weight"]) == q * d
    if d == 1:
        back = gpytorch_mixture(q, 1)
        back.initialize(
            mixture_weights=read.weights,
            mixture_means=read.means.reshape(-1, 1, 1),
            mixture_scales=read.sigmas.reshape(-1, 1, 1),
        )
        assert_allclose(back(X).to_dense().detach(), theirs(X).to_dense().detach(), rtol=0, atol=1e-12)


def test_a_kernel_of_gpytorch_keeps_its_columns_and_is_no_batch():
    theirs = gpytorch_mixture(2, 2, active_dims=(3, 1))
    X = points(9, 4)
    read = SpectralMixtureKernel.from_gpytorch(theirs)
    assert_allclose(read(X).to_dense().detach(), theirs(X).to_dense().detach(), rtol=0, atol=1e-12)
    batch = gpytorch.kernels.SpectralMixtureKernel(num_mixtures=2, batch_shape=torch.Size([3]))
    with pytest.raises(ValueError, match=r"A batch of kernels, \(3,\), is not one measure"):
        SpectralMixtureKernel.from_gpytorch(batch)


@pytest.mark.parametrize("form", ["mixture", "product"])
def test_a_mixture_goes_through_state_dicts_copies_and_pickle(form):
    x, y = waves(d=2)
    kernel = SpectralMixtureKernel.from_data(x, y, 2, form)
    for parameter in kernel.parameters():
        parameter.data += 0.05
    fresh = SpectralMixtureKernel.from_data(x[:40] + 0.1, y[:40].flip(0), 2, form, trend=0)
    assert not torch.equal(fresh(x).to_dense(), kernel(x).to_dense())
    stream = io.BytesIO()
    torch.save(kernel.state_dict(), stream)
    stream.seek(0)
    fresh.load_state_dict(torch.load(stream, weights_only=True), strict=True)
    for other in (fresh, copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert type(other) is SpectralMixtureKernel
        assert torch.equal(other(x).to_dense(), kernel(x).to_dense())
        assert_allclose(other.spectrum.pack(), kernel.spectrum.pack(), rtol=1e-15)


def test_a_mixture_from_data_is_trained_inside_an_exact_gp():
    """With x in units of its range, as the notes say, Adam stays on the peaks."""
    x, y = waves(80)
    x = x / 5
    kernel = gpytorch.kernels.ScaleKernel(SpectralMixtureKernel.from_data(x, y, 2, trend=0))
    kernel.outputscale = 1.0
    model = Regression(x[:, 0], y, kernel)
    model.train()
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(40):
        optimiser.zero_grad()
        loss = -mll(model(x[:, 0]), y)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.05
    table = kernel.base_kernel.component_table()
    assert_allclose(np.sort(table["frequency"]), [2.5, 6.5], atol=0.1)  # 0.5 and 1.3 cycles per unit
    model.eval()
    targets = torch.linspace(0.1, 0.9, 50)
    truth = 2 * torch.cos(2 * math.pi * 6.5 * targets) + torch.sin(2 * math.pi * 2.5 * targets)
    with torch.no_grad():
        assert_allclose(model(targets).mean, truth, rtol=0, atol=0.3)  # noise is 0.1


def test_other_measures_have_no_table_of_components():
    with pytest.raises(TypeError, match="neither a spectral mixture nor a product"):
        SpectralMixtureKernel(Gaussian(0.1)).component_table()


# -- Matern at lag zero ------------------------------------------------------------------------------------------------


def high_precision_profile(nu, r):
    return mp.mpf(1) if r == 0 else 2 ** (1 - mp.mpf(nu)) / mp.gamma(nu) * r**nu * mp.besselk(nu, r)


@pytest.mark.parametrize("nu", [1.5, 2.5, 3.5, 6.5])
@pytest.mark.parametrize("d", [1, 3])
def test_hessian_of_matern_at_lag_zero_is_the_second_moment_of_its_spectrum(nu, d):
    """k'' at zero is -(2 pi)^2 times the mean of omega omega', which for a Student t is sigma^2 nu / (nu - 1)."""
    sigma = np.linspace(0.2, 0.4, d)
    measure = Matern(sigma, nu=nu)
    expected = -((2 * math.pi) ** 2) * np.diag(sigma**2) * nu / (nu - 1)
    zero = torch.zeros(d)
    x = torch.ones(1, d)
    for hessian in (
        torch.func.hessian(measure.characteristic)(zero),
        torch.autograd.functional.hessian(measure.characteristic, zero),
        torch.autograd.functional.hessian(lambda a: measure.gram(a, x).sum(), x).reshape(d, d),
        torch.autograd.functional.hessian(lambda a: SpectralKernel(measure)(a, x).to_dense().sum(), x).reshape(d, d),
    ):
        assert_allclose(hessian.detach(), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 3.5])
def test_derivatives_of_matern_equal_those_of_high_precision(nu):
    """To the fourth; at lag zero the first that the kernel does not have is taken as 0."""
    measure = Matern(0.3, nu=nu)
    scale = 2 * mp.pi * mp.mpf(0.3) * mp.sqrt(2 * nu)
    for lag in (0.0, 1e-3, 0.4, 3.0):
        tau = torch.tensor([lag], requires_grad=True)
        value = measure.characteristic(tau)
        assert_allclose(value.item(), float(high_precision_profile(nu, scale * lag)), rtol=1e-13)
        for order in range(1, 5):
            (slope,) = torch.autograd.grad(value, tau, create_graph=True)
            value = slope.sum()
            if lag > 0:
                with mp.workdps(40):
                    exact = mp.diff(lambda t: high_precision_profile(nu, scale * t), lag, order)
                # autograd goes through the distance, whose derivatives cancel near zero
                assert_allclose(value.item(), float(exact), rtol=1e-8, atol=1e-9 + 1e-14 / lag ** (order - 1))
            elif order % 2 or order <= 2 * (nu - 0.5):  # odd ones vanish; even ones exist below 2 nu
                with mp.workdps(60):
                    series = mp.taylor(lambda t: even_part(nu, scale * t), 0, 4)
                assert_allclose(value.item(), float(series[order] * mp.factorial(order)), rtol=1e-10, atol=1e-9)
            else:
                assert value.item() == 0


def even_part(nu, r):
    """The polynomial in r^2 that the kernel is at short lags, up to r^(2 nu): from the series of I_(-nu)."""
    return mp.fsum((r / 2) ** (2 * k) / (mp.factorial(k) * mp.rf(1 - mp.mpf(nu), k)) for k in range(3))


@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_a_process_and_its_slope_have_a_positive_semi_definite_covariance(nu):
    """Values and slopes at the same points, which needs the second derivative at lag zero."""
    measure = Matern(0.3, nu=nu)
    X = points(6, 1)

    def k(a, b):
        return measure.characteristic((a - b)[None])

    def every_pair(function):
        return torch.stack([torch.stack([function(a, b) for b in X[:, 0]]) for a in X[:, 0]])

    cross = every_pair(torch.func.grad(k, argnums=1))
    slopes = every_pair(torch.func.grad(torch.func.grad(k, argnums=0), argnums=1))
    joint = torch.cat([torch.cat([every_pair(k), cross], 1), torch.cat([cross.mT, slopes], 1)])
    assert torch.linalg.eigvalsh(joint)[0] > -1e-12
    assert (slopes.diagonal() > 0.9 * (2 * math.pi * 0.3) ** 2).all()


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spectrum", ["gaussian", None, 0.3])
def test_what_is_not_a_measure_is_refused(spectrum):
    with pytest.raises(TypeError, match="SpectralKernel: spectrum must be a spectral measure, got "):
        SpectralKernel(spectrum)


def test_template_is_refused():
    with pytest.raises(TemplateError, match="is a template: it has no 0__sigma, 1__sigma yet"):
        SpectralKernel(Gaussian() + Matern(nu=2.5))


def test_unknown_keywords_are_refused():
    """GPyTorch's own kernels swallow them (issue 691)."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'num_mixture'"):
        SpectralKernel(Gaussian(0.1), num_mixture=4)
    with pytest.raises(TypeError, match="unexpected keyword argument 'ard_num_dims'"):
        SpectralKernel(Gaussian(0.1), ard_num_dims=2)


class OnNumpyOnly(SpectralMeasure):
    def _covariance(self, lags):
        return np.exp(-np.abs(lags.column(0)))

    def _has(self, capability, d):
        return capability != "torch" and super()._has(capability, d)


@pytest.mark.parametrize(
    "measure", [OnNumpyOnly(), Gaussian(0.1) + OnNumpyOnly(), 2.0 * OnNumpyOnly().on([1])], ids=repr
)
def test_measure_without_a_torch_formula_is_refused(measure):
    with pytest.raises(
        CapabilityError, match=r"OnNumpyOnly\(\).* has no formula on torch. Use spectralkit.SpectralKernel"
    ):
        SpectralKernel(measure)


def test_last_dim_is_batch_is_refused():
    with pytest.raises(NotImplementedError, match="has no last_dim_is_batch; give the kernel a batch_shape instead"):
        SpectralKernel(Gaussian(0.1)).forward(points(3, 2), points(3, 2), last_dim_is_batch=True)


def test_wrong_number_of_columns_is_refused():
    with pytest.raises(ValueError, match=r"describes 2 column\(s\), but the points have 3"):
        SpectralKernel(Gaussian([0.1, 0.2]))(points(4, 3)).to_dense()


@pytest.mark.parametrize(
    ("missing", "named"),
    [(["gpytorch"], "gpytorch"), (["torch"], "torch"), (["torch", "gpytorch"], "torch and gpytorch")],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(monkeypatch, missing, named):
    found = importlib.util.find_spec

    def find_spec(name, package=None):
        return None if name in missing else found(name, package)

    monkeypatch.delitem(sys.modules, "spectralkit.torch")  # put back afterwards, as is the attribute
    monkeypatch.setattr(spectralkit, "torch", spectralkit.torch)
    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    with pytest.raises(
        ImportError, match=rf"needs {named}, which cannot be found.*pip install 'spectralkit\[gpytorch\]'"
    ):
        importlib.import_module("spectralkit.torch")
    assert "spectralkit.torch" not in sys.modules
