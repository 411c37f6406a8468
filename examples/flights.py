"""How late 100 000 flights arrive: intervals under heavy tails, and which columns carry the variance.

Departures from New York in 2013: day, weekday and hour, the flight and the plane. A quarter of an hour late is usual,
and most of a day happens. The columns are made to be nearly independent: the minutes in the air and on the ground are
counted from what is usual for the distance, which says the route. Then:

1. `FeatureRidge` on a spectrum that is a sum, all columns and some of them together, beside ridge regression on the
   columns and gradient boosting, which is better.
2. Intervals for 90 %. The standard deviation is made by the few flights that are very late, so mean ± 1.645 of them is
   too wide for the others; residuals of folds (CV+) hold the share that was asked for with narrower intervals. Both are
   symmetric, and what they miss is mostly late.
3. Sobol indices, Shapley values and partial dependence of the model by `FourierExplanation`, in closed form. They are
   for independent columns; how far these columns are from it is printed.

Run it with ``python examples/flights.py``; it draws ``examples/output/flights.png`` when matplotlib is there. The data
are a file ``flights_nyc13.npz`` with arrays ``X`` and ``y`` in the folder that the environment variable
``SPECTRALKIT_DATA`` names. Without it bicycle rentals by the hour, which are shipped, take their place, and the picture
is ``examples/output/bike_share.png``. It takes about a minute with the file and some seconds without.
"""

import importlib.util
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralkit import FeatureRidge, FourierFeatures, Matern
from spectralkit.datasets import load_bike_share
from spectralkit.explanation import FourierExplanation

WIDTH, BATCH = 1024, 2000
MULTIPLIERS = [0.5, 1.0, 2.0, 4.0]
FIRST_HOUR = 4
DAYS_BEFORE = np.cumsum([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30])  # the months of 2013


@dataclass
class Table:
    """Rows, targets, and what the columns are called; a spectrum; the column to draw and the words for it."""

    X: np.ndarray
    y: np.ndarray
    columns: list
    groups: list  # columns that interact, beside all of them together
    hour: str
    per_hour: int
    unit: str
    title: str
    picture: str

    def spectrum(self):
        """All columns together, and the groups by themselves."""
        rough = Matern(nu=1.5)
        return sum((rough.on([self.columns.index(name) for name in group]) for group in self.groups), rough)


def load():
    folder = os.environ.get("SPECTRALKIT_DATA")
    if folder is None:
        print("SPECTRALKIT_DATA is not set: bicycle rentals by the hour (shipped) stand in for the flights.")
        return bicycles()
    with np.load(Path(folder) / "flights_nyc13.npz") as file:
        X, y = file["X"].astype(float), file["y"].astype(float)
    month, day, weekday, departure, arrival, air, distance, age = X.T
    ground = np.mod(arrival - departure - air, 1440)  # runways, and the difference of the clocks
    columns = {
        "day of year": DAYS_BEFORE[month.astype(int) - 1] + day,
        "weekday": weekday,
        "departure": np.mod(departure - FIRST_HOUR * 60, 1440) + FIRST_HOUR * 60,  # after midnight: of the day before
        "on the ground": np.mod(beyond_usual(ground, distance) + 720, 1440) - 720,
        "in the air": beyond_usual(air, distance),
        "distance": distance,
        "age of plane": age,
    }
    print("Flights from New York in 2013, minutes of delay at the arrival")
    groups = [["day of year", "departure"]]
    title = "Flights that leave in the morning arrive on time"
    return Table(
        np.stack(list(columns.values()), axis=1),
        y,
        list(columns),
        groups,
        hour="departure",
        per_hour=60,
        unit="minutes late",
        title=title,
        picture="flights.png",
    )


def beyond_usual(minutes, distance):
    """Minutes less the median over the flights of the same distance."""
    out = np.empty_like(minutes)
    for one in np.unique(distance):
        same = distance == one
        out[same] = minutes[same] - np.median(minutes[same])
    return out


def bicycles():
    bunch = load_bike_share()
    columns = ["day", "hr", "weekday", "workingday", "weathersit", "temp", "hum", "windspeed"]
    X = bunch.data[:, [bunch.feature_names.index(name) for name in columns]]
    groups = [["hr", "workingday"], ["hr", "workingday", "day", "temp"]]
    title = "Bicycles are rented on the way to work and home"
    return Table(
        X, bunch.target, columns, groups, hour="hr", per_hour=1, unit="rentals", title=title, picture="bike_share.png"
    )


def compare(table, train, test):
    """Print R², mean absolute error and seconds; return the FeatureRidge."""
    features = FourierFeatures(table.spectrum(), n_components=WIDTH, random_state=0)
    models = {
        "Ridge on scaled columns": make_pipeline(StandardScaler(), Ridge()),
        "HistGradientBoostingRegressor": HistGradientBoostingRegressor(random_state=0),
        "FeatureRidge, four scales and CV+": FeatureRidge(features, multipliers=MULTIPLIERS, interval="cv+"),
    }
    rows, columns = train[0].shape
    print(f"\n{rows} rows to learn from, {len(test[1])} held out, {columns} columns, {WIDTH} features")
    print(f"{'':36}{'R²':>7}{'mean |error|':>14}{'seconds':>9}")
    scores = []
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(*train)
        seconds = time.perf_counter() - start
        scores.append(model.score(*test))
        error = np.abs(model.predict(test[0]) - test[1]).mean()
        print(f"{name:36}{scores[-1]:7.3f}{error:14.2f}{seconds:9.2f}")
    print(f"multiplier {model.multiplier_:g} of {MULTIPLIERS}, alpha {model.alpha_:.3g}")
    if scores[1] > scores[2]:
        print(f"Gradient boosting is better, by {scores[1] - scores[2]:.3f}.")
    assert scores[2] > scores[0] + 0.1

    pipeline = make_pipeline(clone(model.features_), Ridge(model.alpha_)).fit(*train)
    apart = np.abs(pipeline.predict(test[0]) - model.predict(test[0])).max() / train[1].std()
    print(f"FourierFeatures and Ridge with that scale and alpha: {apart:.0e} standard deviations apart at most")
    assert apart < 1e-6
    return model


def stream(model, train, test):
    """Learn the same rows in batches: once for mean and spread of the columns, once for the moments."""
    X, y = train
    batches = [slice(start, start + BATCH) for start in range(0, len(y), BATCH)]
    streamed = FeatureRidge(clone(model.features_))
    for batch in batches:
        streamed.fit_statistics(X[batch])
    for batch in batches:
        streamed.partial_fit(X[batch], y[batch])
    apart = np.abs(streamed.predict(test[0]) - model.predict(test[0])).max() / y.std()
    print(f"{len(batches)} batches, read twice: {apart:.0e} standard deviations apart from fit at most")
    assert apart < 1e-8


def intervals(model, test):
    X, y = test
    mean, std = model.predict(X, return_std=True)
    ends = {
        "mean ± 1.645 std": np.stack([mean - 1.645 * std, mean + 1.645 * std], axis=1),
        "CV+": model.predict_interval(X, coverage=0.9),
    }
    print(f"\nIntervals for 90 %{'covered':>9}{'below':>8}{'above':>8}{'mean width':>12}")
    for name, both in ends.items():
        low, high = both.T
        covered, below, above = ((low <= y) & (y <= high)).mean(), (y < low).mean(), (y > high).mean()
        print(f"{name:18}{covered:9.3f}{below:8.3f}{above:8.3f}{(high - low).mean():12.1f}")
    assert abs(covered - 0.9) < 0.02  # that of CV+, the last


def explain(table, model, train, test):
    """Sobol indices, and the Shapley values of the row with the largest prediction."""
    explanation = FourierExplanation(model, train[0])
    indices = explanation.sobol_indices()
    row = test[0][[model.predict(test[0]).argmax()]]
    shares = explanation.shapley_values(row)[0]
    above_mean = model.predict(row)[0] - explanation.mean
    print(f"\nThe row of the largest prediction, {model.predict(row)[0]:.1f} {table.unit}, against the variance of all")
    print(f"{'':16}{'value':>9}{'Shapley':>10}{'Sobol, alone':>15}{'Sobol, total':>15}")
    for name, value, share, first, total in zip(
        table.columns, row[0], shares, indices.first_order, indices.total, strict=True
    ):
        print(f"{name:16}{value:9.6g}{share:10.2f}{first:15.3f}{total:15.3f}")
    print(f"{'sum':16}{'':9}{shares.sum():10.2f}{indices.first_order.sum():15.3f}")
    print(f"prediction less mean {above_mean:.2f}; the rest of the variance is in columns together")
    on_rows = model.predict(train[0]).var()
    print(f"Variance of the model: {indices.variance:.0f} if columns were independent, {on_rows:.0f} on the rows")
    assert np.isclose(shares.sum(), above_mean, rtol=1e-8)
    assert table.columns[int(indices.total.argmax())] == table.hour
    assert 0 < indices.first_order.sum() < 1
    return explanation


def draw(table, explanation, train):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    place, (X, y) = table.columns.index(table.hour), train
    times = np.unique(X[:, place])
    hour = X[:, place] // table.per_hour
    hours, counts = np.unique(hour, return_counts=True)
    means = [y[hour == each].mean() for each in hours]
    middle = (table.per_hour - 1) / 2 / table.per_hour

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=[3, 2])
    left.scatter(hours + middle, means, 60 * counts / counts.max() + 3, color="0.6", label="mean of the hour's rows")
    dependence = explanation.partial_dependence(place, times)
    left.plot(times / table.per_hour, dependence, color="C0", label="partial dependence of the model")
    left.set(xlabel="hour (areas of points: number of rows)", ylabel=table.unit, title=table.title)
    ticks = np.arange(hours.min() // 4 * 4, hours.max() + 2, 4)
    left.set_xticks(ticks, [f"{tick % 24:.0f}" for tick in ticks])
    left.legend()
    indices = explanation.sobol_indices()
    at = np.argsort(indices.total)
    right.barh(np.arange(len(at)), indices.total[at], color="C0", alpha=0.35, label="total")
    right.barh(np.arange(len(at)), indices.first_order[at], color="C0", label="alone")
    right.set_yticks(np.arange(len(at)), [table.columns[i] for i in at])
    right.set(xlabel="share of the variance", title="Sobol indices")
    right.legend(loc="lower right")
    path = Path(__file__).parent / "output" / table.picture
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"drawn in {path.parent.name}/{path.name}")


def main():
    began = time.perf_counter()
    table = load()
    X_train, X_test, y_train, y_test = train_test_split(table.X, table.y, test_size=0.2, random_state=0)
    train, test = (X_train, y_train), (X_test, y_test)
    model = compare(table, train, test)
    stream(model, train, test)
    intervals(model, test)
    explanation = explain(table, model, train, test)
    if importlib.util.find_spec("matplotlib"):
        draw(table, explanation, train)
    print(f"\n{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
