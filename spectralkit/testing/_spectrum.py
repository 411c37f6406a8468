"""The laws of spectral measures."""

from __future__ import annotations

import math
import pickle

import numpy as np
from scipy import stats
from sklearn.base import clone

from spectralkit import spectra
from spectralkit.spectra import Atomic, CapabilityError, SpectralMeasure, Sum
from spectralkit.testing._case import DRAWS, SCALES_WITH_FREQUENCY, SpectrumCase
from spectralkit.testing._law import SIX_SIGMA, Law, law, run_laws

SPECTRUM_LAWS: list[Law] = []


def check_spectrum(measure: SpectralMeasure, d: int, seed: int = 0) -> dict[str, str]:
    r"""Run the laws of spectral measures.

    Among them: k(0) is the mass; k is even, bounded by k(0), positive semi-definite and, where that is declared,
    nowhere negative; the mean of :math:`\mu\cos 2\pi\omega\cdot\tau` over draws is k within six standard errors; the
    density integrates to the mass and transforms to k; gradients equal finite differences; sums and products of kernels
    and samplers agree; NumPy equals torch; clone, pickle, repr and replace.

    Parameters
    ----------
    measure : SpectralMeasure
        A measure without open parameters.
    d : int
        Number of columns.
    seed : int, default=0
        Seed of the points and draws.

    Returns
    -------
    dict
        For each law, "ran" or why it does not apply.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    >>> from spectralkit import Gaussian
    >>> from spectralkit.testing import check_spectrum
    >>> check_spectrum(Gaussian(0.3), d=2)["frequencies have the kernel as their mean cosine"]
    'ran'
    """
    return run_laws(SPECTRUM_LAWS, SpectrumCase(measure, d, seed), f"{measure!r} in {d} column(s)")


@law(SPECTRUM_LAWS)
def _the_kernel_at_zero_is_the_mass(case: SpectrumCase) -> None:
    k0 = case.measure.characteristic(np.zeros((1, case.d)))[0]
    assert abs(k0 - case.mass) <= 1e-12 * case.mass, f"k(0) = {k0}, mass = {case.mass}"


@law(SPECTRUM_LAWS)
def _the_kernel_is_even_and_bounded_by_its_mass(case: SpectrumCase) -> None:
    k = case.measure.characteristic(case.tau)
    np.testing.assert_allclose(case.measure.characteristic(-case.tau), k, rtol=0, atol=1e-12 * case.mass)
    assert (np.abs(k) <= case.mass * (1 + 1e-12)).all(), f"|k| / mass up to {np.abs(k).max() / case.mass}"


@law(SPECTRUM_LAWS, "nonnegative")
def _a_kernel_declared_nonnegative_is_nowhere_negative(case: SpectrumCase) -> None:
    """A sum of cosines that is positive in truth is rounded: its terms by an eps, their phases by an eps of them."""
    lengths = 2.0 ** np.linspace(-4, 10, 700)
    directions = case.rng(12).normal(size=(len(lengths), case.d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    tau = directions * (case.length * lengths)[:, None]
    k = case.measure.characteristic(tau)
    rounding = 4 * np.finfo(np.float64).eps * (1 + 2 * math.pi * lengths) * case.mass
    if (k < -rounding).any():
        worst = np.argmin(k + rounding)
        raise AssertionError(f"k / mass = {k[worst] / case.mass:.3g} at the lag {tau[worst]}")


@law(SPECTRUM_LAWS)
def _gram_matrices_are_the_kernel_of_lags_and_positive(case: SpectrumCase) -> None:
    K = case.measure.gram(case.points)
    of_lags = case.measure.characteristic(case.points[:, None] - case.points[None])
    np.testing.assert_allclose(K, of_lags, rtol=0, atol=2e-12 * case.mass)
    np.testing.assert_allclose(
        case.measure.gram(case.points, case.points[:5]), K[:, :5], rtol=0, atol=2e-12 * case.mass
    )
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diag(K), case.mass)
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * case.mass, "an eigenvalue is negative"


@law(SPECTRUM_LAWS)
def _gradients_are_finite_differences(case: SpectrumCase) -> None:
    measure, theta = case.measure, case.measure.pack()
    K, G = measure.gram_gradient(case.points)
    np.testing.assert_allclose(K, measure.gram(case.points), rtol=0, atol=1e-13 * case.mass)
    sizes = [(p.size, 1e-5 if p.domain == "positive" else 1e-5 / case.length) for p in measure.parameters()]
    steps = np.concatenate([np.empty(0), *(np.full(size, step) for size, step in sizes)])
    for i, step in enumerate(steps):
        move = np.zeros_like(theta)
        move[i] = step
        difference = (
            measure.unpack(theta + move).gram(case.points) - measure.unpack(theta - move).gram(case.points)
        ) / 2
        np.testing.assert_allclose(G[i] * step, difference, rtol=1e-6, atol=2e-12 * case.mass, err_msg=f"parameter {i}")
    free = np.arange(len(theta)) % 2 == 0
    np.testing.assert_array_equal(measure.gram_gradient(case.points, free=free)[1], G[free])
    K_of_two, G_of_two = measure.gram_gradient(case.points, case.points[:5], free=free)
    np.testing.assert_allclose(K_of_two, K[:, :5], rtol=0, atol=2e-12 * case.mass)
    for slope, expected, step in zip(G_of_two, G[free], steps[free], strict=True):
        np.testing.assert_allclose(slope * step, expected[:, :5] * step, rtol=1e-9, atol=2e-12 * case.mass)


@law(SPECTRUM_LAWS, "transport")
def _frequencies_have_the_kernel_as_their_mean_cosine(case: SpectrumCase) -> None:
    case.assert_mean_cosine(case.omega)


@law(SPECTRUM_LAWS, "transport")
def _frequencies_are_drawn_from_the_even_measure(case: SpectrumCase) -> None:
    mean = case.mass * np.sin(2 * math.pi * case.omega @ case.tau.T).mean(axis=0)
    variance = np.maximum(case.mass**2 - case.mass * case.measure.characteristic(2 * case.tau), 0) / 2
    assert (np.abs(mean) <= SIX_SIGMA * np.sqrt(variance / DRAWS) + 1e-10 * case.mass).all(), f"mean sines {mean}"


@law(SPECTRUM_LAWS, "polar")
def _frequencies_from_directions_have_the_kernel_as_their_mean_cosine(case: SpectrumCase) -> None:
    rng = case.rng(4)
    directions = rng.normal(size=(DRAWS, case.d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    u = rng.random((DRAWS, case.measure.polar_uniforms(case.d)))
    case.assert_mean_cosine(case.measure.polar(directions, u, case.d))


@law(SPECTRUM_LAWS, "transport")
def _sums_and_products_of_kernels_and_samplers_agree(case: SpectrumCase) -> None:
    waves = case.rng(5).normal(size=(2, case.d)) / case.length  # one-sided and asymmetric: exposes uneven samplers
    other = Atomic(waves, [0.3, 0.5])
    k, k_other = case.measure.characteristic(case.tau), other.characteristic(case.tau)
    for composed, expected in (
        (case.measure + other, k + k_other),
        (case.measure * other, k * k_other),
        (2.5 * case.measure, 2.5 * k),
    ):
        np.testing.assert_allclose(composed.characteristic(case.tau), expected, rtol=0, atol=1e-12 * (case.mass + 1))
        omega = composed.transport(case.rng(6).random((DRAWS, composed.uniforms(case.d))), case.d)
        case.assert_mean_cosine(omega, composed)


@law(SPECTRUM_LAWS, "density", "transport")
def _the_density_integrates_to_the_mass_and_transforms_to_the_kernel(case: SpectrumCase) -> None:
    spread = 1.3 * np.quantile(np.abs(case.omega), 0.68, axis=0)
    proposal = stats.multivariate_t(
        shape=np.diag(spread**2), df=1.0
    )  # tails as heavy as any density with a kernel here
    omega = proposal.rvs(3 * DRAWS, random_state=case.rng(7)).reshape(-1, case.d)
    ratio = case.measure.density(omega) / proposal.pdf(omega)
    terms = ratio[:, None] * np.cos(2 * math.pi * omega @ case.tau.T)
    error = np.abs(terms.mean(axis=0) - case.measure.characteristic(case.tau))
    allowed = SIX_SIGMA * terms.std(axis=0) / math.sqrt(len(omega))
    assert (error <= allowed).all(), f"error / allowed = {(error / allowed).max():.3g}"


@law(SPECTRUM_LAWS, "density", "isotropy")
def _an_isotropic_kernel_has_an_isotropic_density(case: SpectrumCase) -> None:
    omega = case.tau / case.length**2
    turned = case.measure.log_density(omega @ case.rotation)
    np.testing.assert_allclose(turned, case.measure.log_density(omega), rtol=1e-10, atol=1e-10)


@law(SPECTRUM_LAWS, "density")
def _gradients_of_the_log_density_are_finite_differences(case: SpectrumCase) -> None:
    omega = case.tau / case.length**2
    omega = omega[np.isfinite(case.measure.log_density(omega))]  # outside a bounded support, or at a pole
    slopes, theta = case.measure.log_density_gradient(omega), case.measure.pack()
    for i in range(len(theta)):
        move = np.zeros_like(theta)
        move[i] = 1e-6 * max(1.0, abs(theta[i]))
        up, down = (case.measure.unpack(theta + sign * move).log_density(omega) for sign in (1, -1))
        difference = (up - down) / (2 * move[i])
        np.testing.assert_allclose(slopes[i], difference, rtol=1e-5, atol=1e-6 * max(1, np.abs(difference).max()))


@law(SPECTRUM_LAWS, "radial", "polar")
def _frequencies_are_lengths_times_directions_times_sigma(case: SpectrumCase) -> None:
    rng = case.rng(11)
    directions = rng.normal(size=(50, case.d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    u = rng.random((50, case.measure.polar_uniforms(case.d)))
    expected = case.measure.radii(u, case.d)[:, None] * directions * np.asarray(case.measure.get_params()["sigma"])
    np.testing.assert_allclose(case.measure.polar(directions, u, case.d), expected, rtol=1e-13, atol=0)


@law(SPECTRUM_LAWS, "factors")
def _the_factors_multiply_to_the_kernel(case: SpectrumCase) -> None:
    factors = case.measure.factors(case.d)
    assert len(factors) == case.d, f"{len(factors)} factors"
    k = np.prod([factor.characteristic(case.tau[:, [j]]) for j, factor in enumerate(factors)], axis=0)
    np.testing.assert_allclose(k, case.measure.characteristic(case.tau), rtol=0, atol=1e-12 * case.mass)


@law(SPECTRUM_LAWS, "atoms")
def _atoms_give_the_kernel_exactly(case: SpectrumCase) -> None:
    frequencies, weights = case.measure.atoms(case.d)
    np.testing.assert_allclose(
        np.cos(2 * math.pi * case.tau @ frequencies.T) @ weights,
        case.measure.characteristic(case.tau), rtol=0, atol=1e-12 * case.mass,
    )  # fmt: skip


@law(SPECTRUM_LAWS, "cutoff", "transport")
def _no_more_than_tol_of_the_mass_lies_beyond_the_cutoff(case: SpectrumCase) -> None:
    for tol in (0.2, 0.02):
        box = case.measure.cutoff(tol, case.d) * (1 + 1e-12)
        beyond = (np.abs(case.omega) > box).any(axis=1).mean()
        assert beyond <= tol + SIX_SIGMA * math.sqrt(tol / DRAWS), f"{beyond:.4f} of the mass for tol = {tol}"


@law(SPECTRUM_LAWS, "support")
def _the_kernel_is_below_tol_beyond_its_support(case: SpectrumCase) -> None:
    for tol in (1e-2, 1e-6):
        for j, reach in enumerate(case.measure.support(tol, case.d)):
            if math.isfinite(reach):
                tau = np.zeros((20, case.d))
                tau[:, j] = reach * np.linspace(1, 4, 20)
                largest = np.abs(case.measure.characteristic(tau)).max()
                assert largest <= tol * case.mass * (1 + 1e-6), f"|k| = {largest} in column {j} for tol = {tol}"


@law(SPECTRUM_LAWS, "mgf", "transport")
def _the_moment_generating_function_is_the_mean_exponential(case: SpectrumCase) -> None:
    assert abs(case.measure.log_mgf(np.zeros((1, case.d)))[0] - math.log(case.mass)) <= 1e-12
    x = 0.2 * case.tau
    terms = case.mass * np.exp(2 * math.pi * case.omega @ x.T)
    error = np.abs(terms.mean(axis=0) - np.exp(case.measure.log_mgf(x)))
    assert (error <= SIX_SIGMA * terms.std(axis=0) / math.sqrt(DRAWS) + 1e-10 * case.mass).all(), f"errors {error}"


@law(SPECTRUM_LAWS, "gaussian", "mgf", "transport")
def _gaussian_frequencies_are_normal_with_the_standard_deviations_that_are_stated(case: SpectrumCase) -> None:
    sigma = case.measure.gaussian_sigma(case.d)
    assert sigma.shape == (case.d,), f"shape {sigma.shape}"
    expected = math.log(case.mass) + 2 * math.pi**2 * ((sigma * case.tau) ** 2).sum(axis=1)
    np.testing.assert_allclose(case.measure.log_mgf(case.tau), expected, rtol=1e-12, atol=1e-12)
    standard = case.omega / sigma  # products of two have mean 0 or 1 and variance 1, or 2 for a square
    error = np.abs(standard.T @ standard / DRAWS - np.eye(case.d))
    assert (error <= SIX_SIGMA * np.sqrt((1 + np.eye(case.d)) / DRAWS)).all(), f"errors of covariances {error}"


@law(SPECTRUM_LAWS, "parameters of known unit")
def _the_kernel_and_its_frequencies_scale_together(case: SpectrumCase) -> None:
    doubled = {
        p.name: 2.0 * np.asarray(p.value)
        for p in case.measure.parameters()
        if case.last_names[p.name] in SCALES_WITH_FREQUENCY
    }
    scaled = case.measure.replace(**doubled)
    k = case.measure.characteristic(2 * case.tau)
    np.testing.assert_allclose(scaled.characteristic(case.tau), k, rtol=0, atol=1e-12 * case.mass)
    if case.has("transport"):
        u = case.rng(9).random((50, case.measure.uniforms(case.d)))
        frequencies = case.measure.transport(u, case.d)
        np.testing.assert_allclose(scaled.transport(u, case.d), 2 * frequencies, rtol=1e-12, atol=0)


@law(SPECTRUM_LAWS, "torch")
def _torch_gives_the_values_and_gradients_of_numpy(case: SpectrumCase) -> None:
    import torch

    X = torch.tensor(case.points, requires_grad=True)
    K = case.measure.gram(torch.tensor(case.points)).numpy()
    np.testing.assert_allclose(K, case.measure.gram(case.points), rtol=0, atol=1e-12 * case.mass)
    k = case.measure.characteristic(torch.tensor(case.tau)).numpy()
    np.testing.assert_allclose(k, case.measure.characteristic(case.tau), rtol=0, atol=1e-12 * case.mass)
    parameters = case.measure.parameters()
    tensors = {p.name: torch.tensor(np.asarray(p.value, dtype=float), requires_grad=True) for p in parameters}
    probe = case.rng(10).normal(size=(len(X), len(X)))
    (case.measure.replace(**tensors).gram(X) * torch.tensor(probe)).sum().backward()
    assert X.grad is not None and torch.isfinite(X.grad).all(), "the gradient to equal points is not finite"
    expected = (case.measure.gram_gradient(case.points)[1] * probe).sum(axis=(1, 2))
    slopes = [np.empty(0)]
    for p in parameters:
        slope = np.ravel(tensors[p.name].grad)  # type: ignore[arg-type]
        slopes.append(slope * np.ravel(p.value) if p.domain == "positive" else slope)
    np.testing.assert_allclose(np.concatenate(slopes), expected, rtol=1e-9, atol=1e-9 * case.mass)


@law(SPECTRUM_LAWS)
def _float32_is_kept_and_far_offsets_change_nothing(case: SpectrumCase) -> None:
    grid = 2.0 ** math.floor(math.log2(case.length / 16))  # binary, so that points are exact next to the offset
    X = np.rint(case.points / grid)
    measure = case.measure
    near = measure.gram(X * grid)
    for dtype, offset, tolerance in ((np.float32, 2.0**13, 2e-5), (np.float64, 2.0**30, 1e-11)):
        K = measure.gram(((X + offset) * dtype(grid)).astype(dtype))
        assert K.dtype == dtype, f"{np.dtype(dtype)} became {K.dtype}"
        np.testing.assert_allclose(K, near, rtol=0, atol=tolerance * case.mass)
    assert measure.characteristic(case.tau.astype(np.float32)).dtype == np.float32


@law(SPECTRUM_LAWS)
def _measures_are_values(case: SpectrumCase) -> None:
    measure = case.measure
    for copy in (
        clone(measure),
        pickle.loads(pickle.dumps(measure)),
        measure.replace(),
        measure.replace(**measure.get_params()),
    ):
        assert copy == measure, f"a copy differs: {copy!r}"
    if type(measure).__module__.startswith("spectralkit.") and all(
        hasattr(spectra, name) for name in _names_in(measure)
    ):
        assert eval(repr(measure), dict(vars(spectra))) == measure, (
            f"repr does not evaluate to the measure: {measure!r}"
        )
    np.testing.assert_allclose(measure.unpack(measure.pack()).pack(), measure.pack(), rtol=1e-14, atol=1e-14)
    assert measure != 2.0 * measure
    assert measure != Sum((measure, measure))
    try:
        measure.mass = 1.0  # type: ignore[misc]
    except AttributeError:
        return
    raise AssertionError("it can be changed in place")


@law(SPECTRUM_LAWS)
def _terms_add_up_to_the_measure(case: SpectrumCase) -> None:
    terms = case.measure.terms()
    assert all(term.terms() == [term] for term in terms), f"a term of {terms} has terms itself"
    k = sum(term.characteristic(case.tau) for term in terms)
    np.testing.assert_allclose(k, case.measure.characteristic(case.tau), rtol=0, atol=1e-12 * case.mass)


@law(SPECTRUM_LAWS)
def _missing_capabilities_and_wrong_columns_are_refused(case: SpectrumCase) -> None:
    refusable = {"transport", "polar", "density", "atoms", "cutoff", "support", "mgf", "gaussian", "nonnegative"}
    for name in refusable - case.measure.capabilities(case.d):
        try:
            case.measure.require(name, d=case.d)
        except CapabilityError as error:
            assert name in str(error) and "instead" in str(error), f"message: {error}"
        else:
            raise AssertionError(f"{name} is missing, but was granted")
    if case.measure.dimension is not None:
        try:
            case.measure.gram(np.zeros((2, case.d + 1)))
        except ValueError as error:
            assert "column" in str(error), f"message: {error}"
        else:
            raise AssertionError("points with one column too many were accepted")


def _names_in(measure: SpectralMeasure) -> set[str]:
    inner = [
        _names_in(child) for child in measure.get_params(deep=False).values() if isinstance(child, SpectralMeasure)
    ]
    inner += [_names_in(part) for part in getattr(measure, "parts", ())]
    return {type(measure).__name__}.union(*inner)
