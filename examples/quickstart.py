"""What spectralkit does, on real data: features that beat ridge, a frequency scale to search over, a spectrum to learn.

Three parts, each with its printed numbers:

1. Six tabular data sets, R² over five folds: the pipeline without an argument, `FeatureRidge`, which chooses a penalty
   by itself, and a grid search over sigma and the penalty, against ridge on the raw columns and against scikit-learn's
   RBFSampler at equal width.
2. The frequency scale of one row of an elevation map: too small underfits, too large overfits. Written to
   ``examples/output/sigma_sweep.png`` when matplotlib is there.
3. Monthly CO2 at Mauna Loa: a Gaussian process with a spectral mixture, started from the peaks in the spectrum of the
   data, learns the trend and the periods of the year and half year.

Run it with ``python examples/quickstart.py``; it takes less than a minute on two cores.
"""

import importlib.util
import time
from pathlib import Path

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralkit import FeatureRidge, FourierFeatures, SpectralMixtureKernel
from spectralkit.datasets import (
    load_airfoil,
    load_bike_share,
    load_co2,
    load_concrete,
    load_elevation,
    load_power_plant,
    load_wine_quality,
    load_yacht,
)

FOLDS = KFold(5, shuffle=True, random_state=0)
WIDTH = 256


def tabular_table():
    sets = {
        "power plant": load_power_plant,
        "airfoil": load_airfoil,
        "wine": load_wine_quality,
        "concrete": load_concrete,
        "yacht": load_yacht,
        "bike share": load_bike_share,
    }
    print(f"R² over five folds, {WIDTH} features")
    heads = f"{'ridge':>7}{'RBFSampler':>12}{'no argument':>13}{'FeatureRidge':>14}{'grid search':>13}"
    print(f"{'':12}{'rows':>6}{'columns':>9}{heads}")
    for name, load in sets.items():
        X, y = load(return_X_y=True)
        ridge = score(Ridge(), X, y)
        sampler = RBFSampler(gamma="scale", n_components=WIDTH, random_state=0)
        sampler = score(make_pipeline(StandardScaler(), sampler, Ridge()), X, y)
        no_argument = score(make_pipeline(FourierFeatures(random_state=0), Ridge()), X, y)
        feature_ridge = score(FeatureRidge(), X, y)
        search = GridSearchCV(
            make_pipeline(StandardScaler(), FourierFeatures(random_state=0), Ridge()),
            {"fourierfeatures__sigma": [0.03, 0.1, 0.3], "ridge__alpha": [0.0001, 0.001, 0.01]},
            cv=FOLDS,
            n_jobs=-1,
        ).fit(X, y)
        print(
            f"{name:12}{X.shape[0]:6}{X.shape[1]:9}{ridge:7.3f}{sampler:12.3f}{no_argument:13.3f}{feature_ridge:14.3f}"
            f"{search.best_score_:13.3f}"
            f"   sigma {search.best_params_['fourierfeatures__sigma']}, alpha {search.best_params_['ridge__alpha']}"
        )
        assert feature_ridge > no_argument > ridge


def score(model, X, y):
    return cross_val_score(model, X, y, cv=FOLDS, n_jobs=-1).mean()


def elevation_sweep():
    """Fit every fourth pixel of one row of the map and score the pixels between, for scales over four decades."""
    elevation = load_elevation()
    height = elevation.grid[150]
    position = elevation.data[: height.size, :1]  # metres from west to east
    known = np.arange(height.size) % 4 == 0
    sigmas = np.logspace(-6, -2, 33)
    scores = np.empty((2, sigmas.size))
    for i, sigma in enumerate(sigmas):
        model = make_pipeline(FourierFeatures(sigma=sigma, random_state=0), Ridge(alpha=0.1))
        model.fit(position[known], height[known])
        scores[:, i] = model.score(position[known], height[known]), model.score(position[~known], height[~known])
    best = int(scores[1].argmax())
    print("\nElevation along one row: R² at the pixels between those that were fitted")
    for i in range(0, sigmas.size, 4):
        print(f"  sigma {sigmas[i]:.1e} cycles per metre: {scores[1, i]:7.3f}   (fitted pixels {scores[0, i]:.3f})")
    print(f"  best: sigma {sigmas[best]:.1e}, R² {scores[1, best]:.3f}")
    assert 0 < best < sigmas.size - 1
    if importlib.util.find_spec("matplotlib"):
        draw_sweep(sigmas, scores, best)


def draw_sweep(sigmas, scores, best):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
    axes.semilogx(sigmas, scores[0], "--", color="0.5", label="fitted pixels")
    axes.semilogx(sigmas, scores[1], "o-", markersize=3, label="pixels between")
    axes.axvline(sigmas[best], color="C3", linewidth=1)
    axes.annotate("too small:\nunderfits", (1.2e-6, 0.7), color="0.3")
    axes.annotate("too large:\noverfits", (3.5e-3, 0.7), color="0.3")
    axes.set(xlabel="sigma (cycles per metre)", ylabel="R²", ylim=(-0.15, 1.05))
    axes.set_title("The frequency scale of a mountain ridge")
    axes.legend(loc="lower center")
    path = Path(__file__).parent / "output" / "sigma_sweep.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"  drawn in {path.parent.name}/{path.name}")


def co2_periods():
    """Learn trend and periods in 521 monthly means; nothing but the number of components is given."""
    X, y = load_co2(monthly=True, return_X_y=True)
    start = time.perf_counter()
    kernel = SpectralMixtureKernel.from_data(X, y - y.mean(), n_mixtures=4) + WhiteKernel()
    gp = GaussianProcessRegressor(kernel).fit(X, y - y.mean())
    seconds = time.perf_counter() - start
    likelihood = gp.log_marginal_likelihood_value_
    print(f"\nMonthly CO2, {len(y)} months: log marginal likelihood {likelihood:.1f} in {seconds:.1f} s")
    table = gp.kernel_.k1.component_table()
    for weight, period, sigma in zip(table["weight"], table["period"], table["sigma"], strict=True):
        what = f"period {period:.4f} years" if period < 10 else "slow"
        coherent = 1 / (2 * np.pi * sigma)
        print(f"  {what}, standard deviation {np.sqrt(weight):.2f} ppm, coherent over {coherent:.1f} years")
    periods = table["period"][table["period"] < 10]
    assert np.allclose(periods, [1.0, 0.5], rtol=2e-3)
    assert likelihood > -170


if __name__ == "__main__":
    began = time.perf_counter()
    tabular_table()
    elevation_sweep()
    co2_periods()
    print(f"\n{time.perf_counter() - began:.0f} s in all")
