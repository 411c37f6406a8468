"""Kernels of Gaussian processes: matrices beside scikit-learn's, CO2, the periodogram, and GPyTorch.

What loads libraries with threads of their own (finufft, astropy, torch) runs in fresh interpreters, so that these meet
nothing else that is measured. Astropy, torch and GPyTorch need not be there: what they would have done is None then.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from threadpoolctl import threadpool_limits

from benchmarks import footprint
from benchmarks._timing import in_turns
from spectralkit import Gaussian, Matern, SpectralKernel, SpectralMixtureKernel
from spectralkit.datasets import load_co2
from spectralkit.nufft import Periodogram, periodogram

COLUMNS, ROWS = 3, (1000, 2000)
MAIN_ROWS = 2000  # where the goals are set
LENGTHSCALES = (1.0, 1.5, 2.0)
MATERN = {"Matérn 1/2": 0.5, "Matérn 3/2": 1.5, "Matérn 5/2": 2.5}
KERNELS = ("Gaussian", "Gaussian per column", *MATERN)
CALLS = ("gram", "cross", "gradient")
PEERS = ("spectralkit", "scikit-learn")
MONTHS, MIXTURES = 200, 3
START, FIT = "start values", "start values and fit"
ONE_THREAD = "one thread"
TIMES, ASTROPY = 100_000, "astropy"
SAMPLED_ROWS, FEATURES, GPYTORCH = 20_000, 128, "gpytorch"
ROUNDS = 7
FEWER_ROUNDS = 5  # of what takes about a second
OPTIONAL = {("periodogram", ASTROPY), ("sampled", "spectralkit"), ("sampled", GPYTORCH)}


def wanted() -> Iterator[tuple[str, dict[str, Any], tuple[str, ...]]]:
    """Yield what is measured in full: "what" of its record, entries that it has, and the names of the contenders."""
    yield "co2", {"n": MONTHS, "components": MIXTURES}, (START, FIT, ONE_THREAD)
    for n in ROWS:
        for name in KERNELS:
            yield from (("matrix", {"kernel": name, "call": call, "n": n, "d": COLUMNS}, PEERS) for call in CALLS)
    yield "periodogram", {"n": TIMES}, ("spectralkit", ONE_THREAD, ASTROPY)
    yield "sampled", {"n": SAMPLED_ROWS, "d": COLUMNS, "features": FEATURES}, ("spectralkit", GPYTORCH)


def rows(quick: bool) -> tuple[int, ...]:
    """Return the numbers of rows of the kernel matrices that are timed."""
    return (MAIN_ROWS,) if quick else ROWS


def measure(rows: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Yield the records one after the other: which of them it is says "what"."""
    yield footprint.apart("kernels", "co2", FEWER_ROUNDS)
    for n in rows:
        for name in KERNELS:
            yield from matrices(name, n, ROUNDS)
    yield footprint.apart("kernels", "times_of_periodogram", FEWER_ROUNDS)
    yield footprint.apart("kernels", "sampled", FEWER_ROUNDS)


# -- kernel matrices ---------------------------------------------------------------------------------------------------


def matrices(name: str, n: int, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield the times and peaks of memory of one kernel, a record for each call.

    Only the two contenders of a call take turns, since their results are of one size: after others the system may have
    taken back memory that the next call waits for.
    """
    for call in CALLS:
        calls = contenders(name, call, n)
        peaks = {peer: round(footprint.peak_multiple(run), 4) for peer, run in calls.items()}
        seconds = in_turns(calls, rounds)
        yield {"what": "matrix", "kernel": name, "call": call, "n": n, "d": COLUMNS, "seconds": seconds, "peak": peaks}


def contenders(name: str, call: str, n: int) -> dict[str, Callable[[], Any]]:
    """Return calls that make the same kernel matrix; the gradients are those to log sigma and to log lengthscale."""
    X, Y = np.random.default_rng(0).standard_normal((2, n, COLUMNS))
    runs: dict[str, Callable[[Any], Any]] = {
        "gram": lambda kernel: kernel(X),
        "cross": lambda kernel: kernel(X, Y),
        "gradient": lambda kernel: kernel(X, eval_gradient=True),
    }
    return {peer: functools.partial(runs[call], kernel) for peer, kernel in zip(PEERS, pair(name), strict=True)}


def pair(name: str) -> tuple[SpectralKernel, kernels.Kernel]:
    """Return one kernel as it is here and in scikit-learn."""
    if name in MATERN:
        length, nu = LENGTHSCALES[1], MATERN[name]
        return SpectralKernel(Matern.from_lengthscale(length, nu=nu)), kernels.Matern(length, nu=nu)
    lengths = LENGTHSCALES[1] if name == "Gaussian" else np.array(LENGTHSCALES)
    return SpectralKernel(Gaussian.from_lengthscale(lengths)), kernels.RBF(lengths)


# -- carbon dioxide ----------------------------------------------------------------------------------------------------


def co2(rounds: int) -> dict[str, Any]:
    """Return how far and how fast a spectral mixture is fitted to monthly means in ppm, with nothing to be chosen.

    With all threads of BLAS and with one: the matrices are so small that others on the machine can make two slower.
    """
    X, y = detrended_co2()
    ends = []

    def fit() -> None:
        ends.append(-fitted(X, y).log_marginal_likelihood_value_)

    def fit_alone() -> None:
        with threadpool_limits(1):
            fit()

    calls = {START: lambda: SpectralMixtureKernel.from_data(X, y, MIXTURES), FIT: fit, ONE_THREAD: fit_alone}
    seconds = in_turns(calls, rounds)
    return {"what": "co2", "n": len(X), "components": MIXTURES, "nll": round(max(ends), 3), "seconds": seconds}


def detrended_co2() -> tuple[np.ndarray, np.ndarray]:
    """Return the first months, less the cubic that fits them best."""
    X, y = (values[:MONTHS] for values in load_co2(monthly=True, return_X_y=True))
    years = X[:, 0] - X[:, 0].mean()
    return X, y - np.polyval(np.polyfit(years, y, 3), years)


def fitted(X: np.ndarray, y: np.ndarray) -> GaussianProcessRegressor:
    """Return the regressor; a line that becomes as narrow as its bounds allow is no news here."""
    kernel = SpectralMixtureKernel.from_data(X, y, MIXTURES) + kernels.WhiteKernel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianProcessRegressor(kernel, alpha=0).fit(X, y)


# -- periodogram -------------------------------------------------------------------------------------------------------


def times_of_periodogram(rounds: int, n: int = TIMES) -> dict[str, Any]:
    """Return the times of the default grid, with one thread and all, and of Astropy's fast method on that grid."""
    x, y = series(n)
    found: Periodogram = periodogram(x[:, None], y)
    calls: dict[str, Callable[[], Any]] = {
        "spectralkit": lambda: periodogram(x[:, None], y, n_jobs=-1),
        ONE_THREAD: lambda: periodogram(x[:, None], y, n_jobs=1),
    }
    record: dict[str, Any] = {"what": "periodogram", "n": n, "frequencies": len(found.frequencies)}
    versions, difference = {"finufft": version("finufft")}, None
    if is_there(ASTROPY):
        from astropy.timeseries import LombScargle

        def theirs() -> np.ndarray:
            return LombScargle(x, y).power(found.frequencies, method="fast", assume_regular_frequency=True)

        calls[ASTROPY], versions[ASTROPY] = theirs, version("astropy")
        difference = float(f"{np.abs(theirs() - found.power).max():.2g}")
    seconds: dict[str, Any] = {ASTROPY: None, **in_turns(calls, rounds)}
    return record | {"seconds": seconds, "difference": difference, "versions": versions}


def series(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n times without any order in their gaps, and a wave of three cycles per unit under noise."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, n / 100, n))
    return x, np.cos(2 * np.pi * 3.0 * x) + rng.standard_normal(n)


# -- GPyTorch ----------------------------------------------------------------------------------------------------------


def sampled(rounds: int, n: int = SAMPLED_ROWS) -> dict[str, Any]:
    """Return the times of one marginal likelihood with its gradient, for our sampled kernel and GPyTorch's."""
    record: dict[str, Any] = {"what": "sampled", "n": n, "d": COLUMNS, "features": FEATURES}
    if not (is_there("torch") and is_there(GPYTORCH)):
        return record | {"seconds": dict.fromkeys(("spectralkit", GPYTORCH)), "versions": {}}
    versions = {name: version(name) for name in ("torch", "gpytorch")}
    return record | {"seconds": in_turns(likelihoods(n), rounds), "versions": versions}


def likelihoods(n: int) -> dict[str, Callable[[], Any]]:
    """Return calls that compute the log marginal likelihood per row, and its gradient to a factor, noise and scales.

    In double precision, with one scale per column; each returns the value and its model.
    """
    import torch
    from gpytorch.distributions import MultivariateNormal
    from gpytorch.kernels import RFFKernel, ScaleKernel
    from gpytorch.likelihoods import GaussianLikelihood
    from gpytorch.means import ZeroMean
    from gpytorch.mlls import ExactMarginalLogLikelihood
    from gpytorch.models import ExactGP

    from spectralkit.torch import BochnerKernel

    rng = np.random.default_rng(0)
    points = rng.standard_normal((n, COLUMNS))
    x = torch.as_tensor(points)
    y = torch.as_tensor(np.sin(points).sum(axis=1) + rng.standard_normal(n))

    class Model(ExactGP):
        def __init__(self, kernel: Any) -> None:
            super().__init__(x, y, GaussianLikelihood())
            self.mean_module, self.covar_module = ZeroMean(), kernel

        def forward(self, x: Any) -> Any:
            return MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def call(kernel: Any) -> Callable[[], Any]:
        model = Model(kernel).double().train()
        objective = ExactMarginalLogLikelihood(model.likelihood, model)

        def run() -> Any:
            model.zero_grad()
            value = objective(model(x), y)
            value.backward()
            return value.item(), model

        return run

    ours = BochnerKernel(2.0 * Gaussian.from_lengthscale(np.array(LENGTHSCALES)), n_components=FEATURES)
    torch.manual_seed(0)
    theirs = ScaleKernel(RFFKernel(num_samples=FEATURES // 2, num_dims=COLUMNS, ard_num_dims=COLUMNS))
    theirs.outputscale, theirs.base_kernel.lengthscale = 2.0, torch.tensor(LENGTHSCALES)
    return {"spectralkit": call(ours), GPYTORCH: call(theirs)}


def is_there(name: str) -> bool:
    """Tell whether a package is installed."""
    return importlib.util.find_spec(name) is not None


def version(name: str) -> str:
    """Return the version of an installed distribution."""
    return importlib.metadata.version(name)
