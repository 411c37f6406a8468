"""Kernel regression of real data, beside nearest neighbours, ridge regression on features, and statsmodels.

`NadarayaWatsonRegressor` by its leave-one-out bandwidths, averages and local lines, on three sets of rows:

1. Elevation of airports by position, on a chart in km whose distances are those over the sphere within 2 %. Airports
   are dense in the east and scarce in the mountains, so the bandwidth may also follow the distance of neighbours.
2. Sea temperature by time, from a random quarter of the half hours; averages by non-uniform Fourier transforms.
3. Output of a power plant by four columns of weather, of which one bandwidth for each makes most of the difference.

Printed are errors of rows held out, with a standard error as if they were independent, beside the leave-one-out error
of the rows that were learnt, and the share of rows within mean ± 1.96 std. The standard deviation is a local average
over as few rows as the mean, and errors have heavy tails, so that the share is below 95 %. `KNeighborsRegressor`
chooses its neighbours and weights, and `FeatureRidge` its scale and penalty. statsmodels does the same as we do for few
rows; it is left out where it is not installed.

Run it with ``python examples/kernel_regression.py``; it takes about a minute, three quarters of it without statsmodels,
and draws ``examples/output/kernel_regression.png`` when matplotlib is there.
"""

import importlib.util
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsRegressor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from spectralkit import FeatureRidge, FourierFeatures, NadarayaWatsonRegressor
from spectralkit.datasets import load_airports, load_power_plant, load_sea_temperature

EARTH_RADIUS = 6371.0088  # km
BOX = (25.0, 49.5, -125.0, -67.0)  # the contiguous United States, and what is between
MIDDLE = (40.0, -96.0)  # of the chart
SUMMER = 4800  # h since the beginning of 2016: 19 July
STEP, FAR = 15.0, 150.0  # of the map, km, and from where on it is left blank
FEW = 150  # rows for statsmodels
PER_COLUMN = "averages, a bandwidth per column"


@dataclass
class Problem:
    """Rows to learn from and rows held out, models to compare, and what is found."""

    title: str
    unit: str
    digits: int  # of errors that are printed
    units: list  # of the columns
    train: tuple
    test: tuple
    models: dict  # or functions of those before that make them
    few: tuple  # numbers of rows to learn from and of rows held out, for statsmodels
    squares: dict = field(default_factory=dict)  # of errors, by the name of the model

    def compare(self):
        """Fit all models, and print a table."""
        rows, held_out = len(self.train[1]), len(self.test[1])
        print(f"\n{self.title}: {rows} rows to learn from, {held_out} held out; errors in {self.unit}")
        print(f"{'':40}{'RMSE':>8}{'':10}{'leave-one-out':>13}{'covered':>9}{'seconds':>9}  scale")
        for name, model in self.models.items():
            self._line(name, model)
        best, theirs = min(self.squares, key=self.rmse), next(name for name in self.squares if name.startswith("KN"))
        slopes = [self.squares[name] / (2 * self.rmse(name)) for name in (theirs, best)]
        error = np.std(slopes[0] - slopes[1]) / np.sqrt(held_out)
        less = f"{self.rmse(theirs) - self.rmse(best):.{self.digits}f} ± {error:.{self.digits}f}"
        print(f"Best: {best}" + (f", by {less} less than nearest neighbours" if best != theirs else ""))

    def rmse(self, name):
        """Root mean squared error of the rows held out."""
        return np.sqrt(self.squares[name].mean())

    def _line(self, name, model):
        began = time.perf_counter()
        if callable(model):
            model = self.models[name] = model(self)
        mean = model.fit(*self.train).predict(self.test[0])
        seconds = time.perf_counter() - began
        squares = self.squares[name] = (self.test[1] - mean) ** 2
        rmse = self.rmse(name)
        error = squares.std() / np.sqrt(len(squares)) / (2 * rmse)
        left_out, covered = "", ""
        if isinstance(model, GridSearchCV):
            best = {key.rpartition("__")[2]: value for key, value in model.best_params_.items()}
            scale = f"{best['n_neighbors']} neighbours, weights by {best['weights']}"
        else:
            std = model.predict(self.test[0], return_std=True)[1]
            covered = f"{np.mean(squares < (1.96 * std) ** 2):.3f}"
        if isinstance(model, FeatureRidge):
            scale = f"{model.multiplier_:g} times the frequencies of the default"
        if isinstance(model, NadarayaWatsonRegressor):
            left_out, scale = f"{model.loo_error_:.{self.digits}f}", self._bandwidth(model)
            assert model.loo_rows_ > 0.99 * len(self.train[1])  # rows less those with equal X
            assert abs(rmse - model.loo_error_) < 4 * np.sqrt(2) * error
            assert 0.8 < float(covered) < 0.97
        pair = f"{rmse:8.{self.digits}f} ± {error:.{self.digits}f}"
        print(f"{name:40}{pair:18}{left_out:>13}{covered:>9}{seconds:9.1f}  {scale}")

    def _bandwidth(self, model):
        if np.ptp(model.bandwidth_) == 0 and model.n_neighbors is not None:
            factor = model.bandwidth_[0] / np.sqrt(np.mean(np.var(self.train[0], axis=0)))
            return f"{factor:.2f} of the distance to neighbour {model.n_neighbors}"
        each = ", ".join(f"{h:.2g} {unit}" for h, unit in zip(model.bandwidth_, self.units, strict=True))
        if np.ptp(model.bandwidth_) == 0:
            each = f"{model.bandwidth_[0]:.3g} {self.units[0]}"
        return each if model.n_neighbors is None else f"{each}, if neighbour {model.n_neighbors} is one deviation away"

    def with_statsmodels(self):
        """The same averages with a bandwidth per column: the same minimum, or a better one, and the same error."""
        from statsmodels.nonparametric.kernel_regression import KernelReg

        (X, y), (X_test, y_test) = (
            tuple(a[i] for a in rows) for rows, i in zip((self.train, self.test), self.few, strict=True)
        )
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = KernelReg(y, X, "c" * X.shape[1], reg_type="lc")
            their_mean = theirs.fit(X_test)[0]
        middle = time.perf_counter()
        model = NadarayaWatsonRegressor(bandwidth="loo_per_column").fit(X, y)
        mean = model.predict(X_test)
        seconds = middle - began, time.perf_counter() - middle
        at_theirs = NadarayaWatsonRegressor(bandwidth=np.abs(theirs.bw)).fit(X, y)
        rmse = [np.sqrt(np.mean((y_test - found) ** 2)) for found in (their_mean, mean)]
        print(f"{len(y)} of the rows, averages, a bandwidth per column; KernelReg of statsmodels, and ours:")
        print(f"  RMSE {rmse[0]:.4g} and {rmse[1]:.4g}, leave-one-out {at_theirs.loo_error_:.4g} and", end=" ")
        print(f"{model.loo_error_:.4g}, seconds {seconds[0]:.1f} and {seconds[1]:.2f}, bandwidths", end=" ")
        print(f"{np.abs(theirs.bw).round(2).tolist()} and {model.bandwidth_.round(2).tolist()}")
        assert np.allclose(at_theirs.predict(X_test), their_mean, rtol=0, atol=1e-6 * y.std())
        assert model.loo_error_ < 1.01 * at_theirs.loo_error_


def neighbours(*before, **options):
    """Nearest neighbours that choose their number and weights."""
    model = make_pipeline(*before, KNeighborsRegressor(**options))
    grid = {"n_neighbors": [1, 2, 3, 4, 6, 8, 12, 16, 24], "weights": ["uniform", "distance"]}
    grid = {f"kneighborsregressor__{name}": values for name, values in grid.items()}
    return GridSearchCV(model, grid, scoring="neg_root_mean_squared_error")


def ridge(*multipliers):
    """Ridge regression on 1024 Fourier features of the Gaussian kernel, with a scale from these multiples."""
    return FeatureRidge(FourierFeatures(n_components=1024, random_state=0), multipliers=multipliers)


def on_chart(positions):
    """Lambert's azimuthal chart, in km, of latitudes and longitudes in radians."""
    north, east = positions[:, 0], positions[:, 1] - np.radians(MIDDLE[1])
    s, c = np.sin(np.radians(MIDDLE[0])), np.cos(np.radians(MIDDLE[0]))
    k = EARTH_RADIUS * np.sqrt(2 / (1 + s * np.sin(north) + c * np.cos(north) * np.cos(east)))
    return np.column_stack(
        [k * np.cos(north) * np.sin(east), k * (c * np.sin(north) - s * np.cos(north) * np.cos(east))]
    )


def on_sphere(places):
    """The inverse of that."""
    x, y = places.T / EARTH_RADIUS
    s, c = np.sin(np.radians(MIDDLE[0])), np.cos(np.radians(MIDDLE[0]))
    along = np.sqrt(1 - (x**2 + y**2) / 4)  # x and y times this are of the length of the sine of the arc
    cosine = 1 - (x**2 + y**2) / 2
    east = np.arctan2(x * along, c * cosine - s * y * along)
    return np.column_stack([np.arcsin(s * cosine + c * y * along), np.radians(MIDDLE[1]) + east])


def airports():
    X, y = load_airports(return_X_y=True)
    south, north, west, east = BOX
    inside = (south < X[:, 0]) & (X[:, 0] < north) & (west < X[:, 1]) & (X[:, 1] < east)
    known = y != 0
    print(f"{inside.sum()} airports in the contiguous United States and around; {np.sum(inside & ~known)} with an")
    print("elevation of exactly 0 are left out, since it can mean that it is unknown.")
    positions, y = np.radians(X[inside & known]), y[inside & known]
    places = on_chart(positions)
    assert np.allclose(on_sphere(places), positions, rtol=0, atol=1e-12)

    search = NearestNeighbors(n_neighbors=6, metric="haversine").fit(positions)
    arcs, numbers = (found[:, 1:] for found in search.kneighbors(positions))
    distances = np.linalg.norm(places[numbers] - places[:, None], axis=2)
    deviation = np.abs(distances / (EARTH_RADIUS * arcs) - 1).max()
    print(f"Distances on the chart to the 5 nearest airports are right within {deviation:.1%}.")
    assert deviation < 0.02

    X_train, X_test, y_train, y_test = train_test_split(places, y, test_size=0.5, random_state=0)
    return Problem(
        "Elevation of airports",
        "m",
        1,
        ["km", "km"],
        (X_train, y_train),
        (X_test, y_test),
        {
            "averages": NadarayaWatsonRegressor(bandwidth="loo_common"),
            "lines": NadarayaWatsonRegressor(bandwidth="loo_common", degree=1),
            "averages, adaptive": NadarayaWatsonRegressor(bandwidth="loo_common", n_neighbors=5),
            "lines, adaptive": NadarayaWatsonRegressor(bandwidth="loo_common", n_neighbors=5, degree=1),
            "KNeighborsRegressor, over the sphere": neighbours(FunctionTransformer(on_sphere), metric="haversine"),
            "FeatureRidge": ridge(2, 4, 8, 16, 32),
        },
        (np.arange(FEW), np.arange(len(y_test))),
    )


def sea():
    X, y = load_sea_temperature(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.75, random_state=0)
    window = [np.flatnonzero((rows[:, 0] >= SUMMER) & (rows[:, 0] < SUMMER + 2 * FEW)) for rows in (X_train, X_test)]
    return Problem(
        "Sea temperature",
        "degC",
        4,
        ["h"],
        (X_train, y_train),
        (X_test, y_test),
        {
            "averages": NadarayaWatsonRegressor(method="nufft"),
            "lines": NadarayaWatsonRegressor(degree=1),
            "lines, adaptive": NadarayaWatsonRegressor(n_neighbors=4, degree=1),
            "KNeighborsRegressor": neighbours(),
            "FeatureRidge": ridge(64, 128, 256, 512, 1024),
        },
        tuple(window),
    )


def transforms_are_exact(problem):
    """Predictions by transforms beside those by the exact method."""
    fast, (X, _) = problem.models["averages"], problem.test
    exact = clone(fast).set_params(method="exact", bandwidth=fast.bandwidth_).fit(*problem.train)
    apart = np.abs(fast.predict(X) - exact.predict(X)).max()
    print(f"Averages by transforms are at most {apart:.0e} degC from those by the exact method.")
    assert fast.method_ == "nufft"
    assert apart < 1e-6


def lines_from_averages(problem):
    """Lines with a multiple of the bandwidths of averages, which saves a search that takes a minute."""
    bandwidth = problem.models[PER_COLUMN].bandwidth_
    models = [NadarayaWatsonRegressor(bandwidth=factor * bandwidth, degree=1) for factor in (1, 1.25, 1.5, 2)]
    return min(models, key=lambda model: model.fit(*problem.train).loo_error_)


def power_plant():
    X, y = load_power_plant(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0)
    return Problem(
        "Output of a power plant",
        "MW",
        3,
        ["degC", "cmHg", "mbar", "%"],
        (X_train, y_train),
        (X_test, y_test),
        {
            "averages": NadarayaWatsonRegressor(),
            "lines": NadarayaWatsonRegressor(degree=1),
            PER_COLUMN: NadarayaWatsonRegressor(bandwidth="loo_per_column"),
            "lines, multiples of these": lines_from_averages,
            "averages, per column and adaptive": NadarayaWatsonRegressor(bandwidth="loo_per_column", n_neighbors=10),
            "KNeighborsRegressor, scaled columns": neighbours(StandardScaler()),
            "FeatureRidge": ridge(0.5, 1, 2, 4),
        },
        (np.arange(FEW), np.arange(len(y_test))),
    )


def check(land, water, plant):
    """What the tables show."""
    for problem in (land, water):
        averages, lines, adaptive = list(problem.models.values())[:3]
        assert lines.loo_error_ < 0.98 * averages.loo_error_
        assert adaptive.loo_error_ < 0.99 * averages.loo_error_
        assert problem.rmse("averages") < 0.9 * problem.rmse("FeatureRidge")
    assert water.rmse("lines") < 0.96 * water.rmse("KNeighborsRegressor")
    assert plant.rmse("averages, per column and adaptive") < 0.97 * plant.rmse(PER_COLUMN)
    assert plant.rmse(PER_COLUMN) < 0.93 * plant.rmse("averages")
    assert plant.rmse(PER_COLUMN) < 0.93 * plant.rmse("KNeighborsRegressor, scaled columns")
    assert plant.rmse(PER_COLUMN) < 0.9 * plant.rmse("FeatureRidge")


def main():
    began = time.perf_counter()
    problems = land, water, plant = airports(), sea(), power_plant()
    has_statsmodels = importlib.util.find_spec("statsmodels")
    for problem in problems:
        problem.compare()
        if problem is water:
            transforms_are_exact(water)
        if has_statsmodels:
            problem.with_statsmodels()
    check(land, water, plant)
    if not has_statsmodels:
        print("\nstatsmodels is not installed, so its averages are left out: pip install statsmodels")
    if importlib.util.find_spec("matplotlib"):
        draw(land, water)
    print(f"{time.perf_counter() - began:.0f} s in all")


def draw(land, water):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained", width_ratios=[1.25, 1])
    draw_land(figure, left, land)
    draw_water(right, water)
    path = Path(__file__).parent / "output" / "kernel_regression.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"\nDrawn in {path.parent.name}/{path.name}")


def draw_land(figure, axis, land):
    """The local lines on a grid, where airports are near."""
    model, (places, _) = land.models["lines, adaptive"], land.train
    x, y = (np.arange(low, high, STEP) for low, high in zip(places.min(axis=0), places.max(axis=0), strict=True))
    grid = np.stack(np.meshgrid(x, y), axis=2).reshape(-1, 2)
    near = NearestNeighbors(n_neighbors=1).fit(places).kneighbors(grid)[0][:, 0] < FAR
    height = np.full(len(grid), np.nan)
    height[near] = model.predict(grid[near])
    image = axis.pcolormesh(x, y, height.reshape(len(y), len(x)), cmap="terrain", vmin=-1000, vmax=3000)
    axis.plot(*places.T, ".", color="k", markersize=0.7, alpha=0.6)
    axis.set(
        xlabel="km east", ylabel="km north", aspect="equal", title="Elevation by local lines, from airports (points)"
    )
    figure.colorbar(image, label="elevation, m", shrink=0.85, pad=0.01)


def draw_water(axis, water):
    """A week in summer, its band, what was learnt and what was held out."""
    times = np.linspace(SUMMER, SUMMER + 168, 1000)
    mean, std = water.models["lines"].predict(times[:, None], return_std=True)
    days = (times - SUMMER) / 24
    axis.fill_between(days, mean - 1.96 * std, mean + 1.96 * std, alpha=0.3, label="mean ± 1.96 std")
    axis.plot(days, mean, linewidth=1, label="local lines")
    for (X, y), style, label in ((water.test, "C1.", "held out"), (water.train, "k.", "learnt")):
        week = (X[:, 0] >= times[0]) & (X[:, 0] <= times[-1])
        axis.plot((X[week, 0] - SUMMER) / 24, y[week], style, markersize=3 if label == "learnt" else 2, label=label)
    axis.set(
        xlabel="days from 19 July 2016", ylabel="degC", title="Sea temperature by local lines, from a quarter of rows"
    )
    axis.legend()


if __name__ == "__main__":
    main()
