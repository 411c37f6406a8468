"""Ridge regression on features from moments: 45 730 protein structures, beside what scikit-learn offers.

The distance of a predicted fold from the true one, in angstrom, from nine areas and counts. Four things are shown:

1. `FeatureRidge` is the pipeline of `FourierFeatures` and `Ridge`: with the same features and the same penalty the
   predictions agree. It never holds the features of all rows, it chooses scale and penalty itself, and it is well above
   ridge regression on the columns. Gradient boosting is better where the table says so.
2. Read in batches, twice, it comes to the same predictions as in one piece.
3. The penalty by the evidence, by generalised cross-validation and by leave-one-out errors, the first two from moments
   that are there already.
4. Prediction intervals that should hold 90 % of new targets, from the model itself and from residuals of folds.

Run it with ``python examples/protein_structure.py``. The data are a file ``uci_protein.npz`` with arrays ``X`` and
``y`` in the folder that the environment variable ``SPECTRALKIT_DATA`` names; without it a smaller set that is shipped,
the output of a power plant, takes its place. It takes about a minute with the file and some seconds without.
"""

import os
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralkit import FeatureRidge, FourierFeatures
from spectralkit.datasets import load_power_plant
from spectralkit.posterior import solve

WIDTH, BATCH = 1024, 1000
MULTIPLIERS = [1.0, 2.0, 4.0, 8.0]


def load():
    folder = os.environ.get("SPECTRALKIT_DATA")
    if folder is None:
        print("SPECTRALKIT_DATA is not set: the power plant (shipped, in MW) stands in for the proteins.")
        return load_power_plant(return_X_y=True)
    with np.load(Path(folder) / "uci_protein.npz") as file:
        X, y = file["X"].astype(float), file["y"].astype(float)
    print("Protein structure, RMSD in angstrom; columns are positive and skewed, and enter as log(1 + x).")
    return np.log1p(X), y


def compare(train, test):
    """Print R² on rows held out and the seconds of each fit; return the FeatureRidge that chose its scale."""
    features = FourierFeatures(n_components=WIDTH, random_state=0)
    chosen = FeatureRidge(features, multipliers=MULTIPLIERS, interval="cv+")
    seconds = {"FeatureRidge, four scales and CV+": fit_seconds(chosen, train)}
    features = clone(features).set_params(multiplier=chosen.multiplier_)
    models = {
        "Ridge on scaled columns": make_pipeline(StandardScaler(), Ridge()),
        "HistGradientBoostingRegressor": HistGradientBoostingRegressor(random_state=0),
        "FourierFeatures, Ridge": make_pipeline(features, Ridge(chosen.alpha_)),
        "FeatureRidge, that scale": FeatureRidge(features),
    }
    seconds = {name: fit_seconds(model, train) for name, model in models.items()} | seconds
    models["FeatureRidge, four scales and CV+"] = chosen

    rows, columns = train[0].shape
    print(f"\n{rows} rows to learn from, {len(test[1])} held out, {columns} columns, {WIDTH} features")
    print(f"{'':36}{'R²':>7}{'seconds':>9}")
    scores = {}
    for name, model in models.items():
        scores[name] = model.score(*test)
        print(f"{name:36}{scores[name]:7.3f}{seconds[name]:9.2f}")
    print(f"multiplier {chosen.multiplier_:g} of {MULTIPLIERS}, alpha {chosen.alpha_:.3g}")
    best = max(scores, key=scores.get)
    if best.startswith("Hist"):
        print(f"Gradient boosting is better, by {scores[best] - chosen.score(*test):.3f}.")

    assert scores["FeatureRidge, that scale"] > scores["Ridge on scaled columns"]
    pipeline = models["FourierFeatures, Ridge"].predict(test[0])
    for name in ("FeatureRidge, that scale", "FeatureRidge, four scales and CV+"):
        assert np.allclose(models[name].predict(test[0]), pipeline, rtol=0, atol=1e-6 * train[1].std())
    return chosen


def fit_seconds(model, train):
    start = time.perf_counter()
    model.fit(*train)
    return time.perf_counter() - start


def stream(model, train, test):
    """Learn the same rows in batches: once for mean and spread of the columns, once for the moments."""
    X, y = train
    batches = [slice(start, start + BATCH) for start in range(0, len(y), BATCH)]
    streamed = clone(model).set_params(interval=None)
    for batch in batches:
        streamed.fit_statistics(X[batch])
    for batch in batches:
        streamed.partial_fit(X[batch], y[batch])
    apart = np.abs(streamed.predict(test[0]) - model.predict(test[0])).max() / y.std()
    print(f"\n{len(batches)} batches, read twice: {apart:.0e} standard deviations apart from fit at most")
    assert (streamed.alpha_, streamed.multiplier_) == (model.alpha_, model.multiplier_)
    assert apart < 1e-8


def penalties(model, train, test):
    """Choose the penalty by each criterion; moments that were learnt once are enough for two of them."""
    Z = model.features_.transform(test[0])
    left_out = FeatureRidge(clone(model.features_), alpha="loo").fit(*train)
    posteriors = {
        "evidence": solve(model.moments_, "evidence"),
        "gcv": solve(model.moments_, "gcv"),
        "loo": left_out.posterior_,
    }
    print("\nThe penalty by       alpha  degrees of freedom     R²")
    scores = []
    for name, posterior in posteriors.items():
        scores.append(r2_score(test[1], posterior.predict(Z)))
        print(f"{name:16}{posterior.alpha:10.3g}{posterior.degrees_of_freedom:20.0f}{scores[-1]:7.3f}")
    assert np.ptp(scores) < 0.02


def intervals(model, test):
    X, y = test
    mean, std = model.predict(X, return_std=True)
    ends = {
        "mean ± 1.645 std": np.stack([mean - 1.645 * std, mean + 1.645 * std], axis=1),
        "CV+": model.predict_interval(X, coverage=0.9),
    }
    print(f"\nIntervals for 90 %{'covered':>13}{'mean width':>13}")
    for name, both in ends.items():
        low, high = both.T
        covered = ((low <= y) & (y <= high)).mean()
        print(f"{name:18}{covered:13.3f}{(high - low).mean():13.2f}")
    assert abs(covered - 0.9) < 0.025  # that of CV+, the last


def main():
    began = time.perf_counter()
    X, y = load()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    train, test = (X_train, y_train), (X_test, y_test)
    model = compare(train, test)
    stream(model, train, test)
    penalties(model, train, test)
    intervals(model, test)
    print(f"\n{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
