"""A wave that runs aslant over the plane: its direction read off 300 scattered points.

The truth is cos(2π(1.3 x - 0.8 y)), seen with noise of standard deviation 0.5. A spectral mixture with signed
frequencies has this wave as one component, and ``SpectralMixtureKernel.from_data`` finds it. The product over columns
of one-dimensional mixtures, as in GPyTorch, has (1.3, -0.8) and its mirror image (1.3, 0.8) at once, with half the
variance each:

    2 cos(2π 1.3 τ_x) cos(2π 0.8 τ_y) = cos(2π(1.3 τ_x - 0.8 τ_y)) + cos(2π(1.3 τ_x + 0.8 τ_y))

Told the frequencies (``form="product"``), it still predicts well where points are dense, with a larger error and a
lower likelihood. Started by GPyTorch's own initialiser it finds nothing, in
20 steps of L-BFGS or in 100.

Run it with ``python examples/oblique_wave.py``; it takes a quarter of a minute, and a second without GPyTorch, and
draws ``examples/output/oblique_wave.png`` when matplotlib is there.
"""

import importlib.util
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel

from spectralkit import SpectralMixtureKernel

FREQUENCY, NOISE, SIDE, PIXELS = np.array([1.3, -0.8]), 0.5, 3.0, 61
SEEDS = range(2)


def wave(points):
    return np.cos(2 * np.pi * points @ FREQUENCY)


def ours(X, y, grid, form):
    """NLL, prediction on the grid and the kernel that was learnt."""
    kernel = SpectralMixtureKernel.from_data(X, y, n_mixtures=1, form=form)
    gp = GaussianProcessRegressor(kernel + WhiteKernel(NOISE**2, (1e-3, 10.0)), alpha=0.0)
    with warnings.catch_warnings():
        # the wave is perfect, so its widths go to the narrowest that the data could tell from a perfect one
        warnings.filterwarnings("ignore", r"(?s).*sigmas is close to the specified lower", ConvergenceWarning)
        gp.fit(X, y)
    return -gp.log_marginal_likelihood_value_, gp.predict(grid), gp.kernel_.k1


def theirs(X, y, grid, seed):
    """NLL and prediction of GPyTorch's kernel of two components, from its own initialiser."""
    import gpytorch
    import torch

    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # faster for matrices as small as these

    class Model(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood, kernel):
            super().__init__(x, y, likelihood)
            self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), kernel

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    torch.manual_seed(seed)
    x, y = torch.from_numpy(X), torch.from_numpy(y)
    kernel = gpytorch.kernels.SpectralMixtureKernel(num_mixtures=2, ard_num_dims=2)
    kernel.initialize_from_data(x, y)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    likelihood.noise = NOISE**2
    model = Model(x, y, likelihood, kernel)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimiser = torch.optim.LBFGS(model.parameters(), max_iter=20, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        loss = -objective(model(x), y) * len(X)
        loss.backward()
        return loss

    optimiser.step(closure)
    with torch.no_grad():
        nll = float(-objective(model(x), y) * len(X))
        model.eval()
        return nll, model(torch.from_numpy(grid)).mean.numpy()


def main():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, SIDE, size=(300, 2))
    y = wave(X) + NOISE * rng.normal(size=300)
    across = np.linspace(0, SIDE, PIXELS)
    grid = np.stack(np.meshgrid(across, across), axis=-1).reshape(-1, 2)
    truth = wave(grid)

    def report(name, nll, predicted, began):
        rmse = float(np.sqrt(np.mean((predicted - truth) ** 2)))
        print(f"{name:36}{nll:10.2f}{rmse:9.4f}{time.perf_counter() - began:9.1f}")
        return rmse

    print(f"{'':36}{'NLL':>10}{'RMSE':>9}{'seconds':>9}     (RMSE of predicting 0: {np.sqrt(np.mean(truth**2)):.3f})")
    began = time.perf_counter()
    nll, mean, kernel = ours(X, y, grid, "mixture")
    error = report("mixture, from data", nll, mean, began)
    began = time.perf_counter()
    product_nll, product, _ = ours(X, y, grid, "product")
    product_error = report("product over columns, from data", product_nll, product, began)
    pictures = {"truth": truth, "mixture, from data": mean, "product, from the same data": product}
    if all(importlib.util.find_spec(name) for name in ("torch", "gpytorch")):
        for seed in SEEDS:
            began = time.perf_counter()
            their_nll, their_mean = theirs(X, y, grid, seed)
            their_error = report(f"GPyTorch, initialize_from_data, {seed}", their_nll, their_mean, began)
            assert their_error > 0.6  # nothing was found
            assert their_nll > nll + 50
            pictures.setdefault("GPyTorch's kernel and start", their_mean)
    else:
        print("GPyTorch is not installed, so its rows are left out: pip install 'spectralkit[gpytorch]'")

    table = kernel.component_table()
    found = np.array([table["frequency_0"][0], table["frequency_1"][0]])
    print(f"\nFrequency found: ({found[0]:.4f}, {found[1]:.4f}) cycles per unit; the truth is (1.3, -0.8)")
    assert np.allclose(found, FREQUENCY, atol=0.02)
    assert error < 0.06
    assert error < product_error
    assert nll < product_nll - 2
    if importlib.util.find_spec("matplotlib"):
        draw(X, y, pictures)


def draw(X, y, pictures):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(pictures), figsize=(3.2 * len(pictures), 3.4), layout="constrained")
    for axis, (title, values) in zip(axes, pictures.items(), strict=True):
        look = {"vmin": -1, "vmax": 1, "cmap": "RdBu_r"}
        axis.imshow(values.reshape(PIXELS, PIXELS), origin="lower", extent=(0, SIDE, 0, SIDE), **look)
        if title == "truth":
            axis.scatter(*X.T, c=y, s=9, edgecolors="k", linewidths=0.3, **look)
        axis.set(title=title, xticks=[0, 1, 2, 3], yticks=[0, 1, 2, 3])
    path = Path(__file__).parent / "output" / "oblique_wave.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"Drawn in {path.parent.name}/{path.name}")


if __name__ == "__main__":
    main()
