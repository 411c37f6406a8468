import hashlib
import socket
import sys
from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import lombscargle

from spectralkit import datasets

DATA = files("spectralkit.datasets") / "data"
SHA256 = {
    "airline_monthly.npz": "abf74b05d8918a8d2887d11baa99527e5f6cb8c61fc32a27c823250d156c24ce",
    "airports_elevation.npz": "5113b65dd2696d759aabfffe56cf64f75c51b0ae9823196d4ffc5680d0fc6742",
    "bikeshare_2011.npz": "239226a8aec1322e89095056b9e3df8a3f4eb4e5f0d9de598997581ff9bcbe45",
    "co2_weekly.npz": "ccdfb4d97dbcab1408f14fb78be249941674bf5965eb5a44772334dcf0a44bcf",
    "dem_jacksboro.npz": "8370ef2ce7af34f5d5c49eebb725f3472d73dd777fa59873f45a095ce539e85d",
    "electricity_hourly.npz": "637daa03c7434ba149688eab55e7bb4889dd95034c6e530fbe9de8a7bd2e5ff2",
    "kepler_kic1430163.npz": "4f77aeff2010f1629a1ff107c607b5da7da6fac461a8a1c92429ba34a056a970",
    "rv_hd164922.npz": "219d699b757e0e14f4e543d629fe8562a9e225986ca9e674f9eaf040c7bb7706",
    "sf_temp_normals_hourly.npz": "d599517747a41270f01c2a5c358d86a01e09c3ccb440c01134916148304a6bd9",
    "sst_buoy_halfhourly.npz": "68ed5017d746cbdcef2f2aeae029f1424a5fb4e5f94b6e8a4ee1244a467cdb95",
    "sunspots_monthly.npz": "900de8d969e704317a46039f16e5fe2717b5497d58dfc7bbd834dd017ac52187",
    "tide_mayport_hourly.npz": "3e36905dc3bec938c25f8b64ce95c1ac3aa7ae10f81fcd11ecb1e8c859543a0b",
    "uci_airfoil.npz": "24a02d979634fd49ec9e0ca53eb3f1b52fe519cea32c409e7e9748d7e80b4262",
    "uci_concrete.npz": "5bfe4fe4d457a8cb8e670de5fb5e600d8158f006b73ec6480fe16f08894a2a6c",
    "uci_letter.npz": "e66ef1de1fd6c603aa90d4f6332180782bcc8be8f1d370627162229c28e55ae4",
    "uci_powerplant.npz": "5c68a32e7d0896f00ae3650e68fe617bd2359078797ccf5a5500d401a08331d6",
    "uci_wine.npz": "994103dc3de037f31634f264af0540fe56a03805fc7a56689113e46192e09f76",
    "uci_yacht.npz": "77bf0de4193c067308bdc4a2929271d28efad9915a25d0c3640ba9cedfdb445b",
}
SHAPES = {
    "load_airfoil": (1503, 5),
    "load_airline": (144, 1),
    "load_airports": (28281, 2),
    "load_bike_share": (8645, 12),
    "load_co2": (2225, 1),
    "load_concrete": (1030, 8),
    "load_electricity": (26304, 1),
    "load_elevation": (344 * 403, 2),
    "load_letters": (20000, 16),
    "load_light_curve": (6329, 1),
    "load_power_plant": (9568, 4),
    "load_radial_velocity": (401, 1),
    "load_sea_temperature": (19226, 1),
    "load_sunspots": (3126, 1),
    "load_temperature_normals": (8759, 1),
    "load_tide": (8784, 1),
    "load_wine_quality": (6497, 11),
    "load_yacht": (308, 6),
}
FILES = {
    "load_airfoil": "uci_airfoil",
    "load_bike_share": "bikeshare_2011",
    "load_concrete": "uci_concrete",
    "load_power_plant": "uci_powerplant",
    "load_wine_quality": "uci_wine",
    "load_yacht": "uci_yacht",
}
SERIES = {
    "load_airline": "airline_monthly",
    "load_electricity": "electricity_hourly",
    "load_light_curve": "kepler_kic1430163",
    "load_radial_velocity": "rv_hd164922",
    "load_sea_temperature": "sst_buoy_halfhourly",
    "load_sunspots": "sunspots_monthly",
    "load_temperature_normals": "sf_temp_normals_hourly",
    "load_tide": "tide_mayport_hourly",
}
CLASSES = {"load_letters"}  # loaders whose target is a class, a string
every_loader = pytest.mark.parametrize("name", sorted(SHAPES))


def stored(name):
    with (DATA / f"{name}.npz").open("rb") as stream, np.load(stream) as archive:
        return {key: archive[key] for key in archive.files}


def explained_variance(A, y):
    """Fraction of the variance of y that the columns of A explain."""
    residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return 1 - residual.var() / y.var()


def amplitudes(t, y, periods):
    """Amplitudes of sines of these periods and a constant, fitted together."""
    waves = [wave(2 * np.pi * t / period) for period in periods for wave in (np.cos, np.sin)]
    coefficients = np.linalg.lstsq(np.column_stack([np.ones_like(t), *waves]), y, rcond=None)[0]
    return np.hypot(coefficients[1::2], coefficients[2::2])


def strongest_period(t, y, periods):
    power = lombscargle(t - t[0], y - y.mean(), 2 * np.pi / periods)
    assert 0 < power.argmax() < len(periods) - 1, "the maximum lies on the edge"
    return periods[power.argmax()]


def test_exactly_these_files_ship_and_are_unaltered():
    shipped = {entry.name: entry for entry in DATA.iterdir() if entry.name.endswith(".npz")}
    assert {name: hashlib.sha256(entry.read_bytes()).hexdigest() for name, entry in shipped.items()} == SHA256


def test_the_files_are_small():
    assert sum(len(entry.read_bytes()) for entry in DATA.iterdir()) < 1.25 * 2**20


def test_notice_credits_every_shipped_file():
    sections = (DATA / "NOTICE.md").read_text(encoding="utf-8").split("\n### ")[1:]
    by_file = {section.split(" ")[0]: section for section in sections}
    assert set(by_file) == set(SHA256)
    for section in by_file.values():
        assert "Attribution: " in section
        assert "Licence: " in section
        assert "Changes: " in section
    assert "Prof. I-Cheng Yeh" in by_file["uci_concrete.npz"]
    assert "Permission is hereby granted" in by_file["rv_hd164922.npz"]
    assert "`rv_hd164922.npz`" in by_file["airports_elevation.npz"]  # where the text of the MIT licence stands
    assert "Copyright (c) 2014 mwgg" in by_file["airports_elevation.npz"]


def test_all_lists_every_loader():
    assert datasets.__all__ == sorted(SHAPES)


@every_loader
def test_bunch_is_complete_and_consistent(name):
    bunch = getattr(datasets, name)()
    n, d = SHAPES[name]
    assert bunch.data.shape == (n, d)
    assert bunch.target.shape == (n,)
    for array in (bunch.data, bunch.target):
        assert type(array) is np.ndarray
        assert array.flags.c_contiguous
        assert array.flags.writeable
    for array in (bunch.data,) if name in CLASSES else (bunch.data, bunch.target):
        assert array.dtype == np.float64
        assert np.isfinite(array).all()
    assert (bunch.target.dtype.kind == "U") == (name in CLASSES)
    assert [type(entry) for entry in bunch.feature_names] == [str] * d
    assert len(bunch.target_names) == 1
    assert list(bunch.units) == bunch.feature_names + bunch.target_names
    assert bunch.frame is None
    for heading in ("Columns and units", "Source", "Licence", "Changes", "Citation"):
        assert f"\n{heading}\n    " in bunch.DESCR
    for column, unit in bunch.units.items():
        assert f"    {column}: {unit}" in bunch.DESCR


@every_loader
def test_pair_and_frame_hold_what_the_bunch_holds(name):
    pandas = pytest.importorskip("pandas")
    loader = getattr(datasets, name)
    bunch = loader()
    X, y = loader(return_X_y=True)
    assert_array_equal(X, bunch.data)
    assert_array_equal(y, bunch.target)

    framed = loader(as_frame=True)
    assert list(framed.frame.columns) == bunch.feature_names + bunch.target_names
    assert_array_equal(framed.frame[bunch.feature_names].to_numpy(), X)
    assert_array_equal(framed.frame[bunch.target_names[0]].to_numpy(), y)
    assert isinstance(framed.data, pandas.DataFrame)
    assert isinstance(framed.target, pandas.Series)
    assert framed.target.name == bunch.target_names[0]
    X_frame, y_series = loader(return_X_y=True, as_frame=True)
    pandas.testing.assert_frame_equal(X_frame, framed.data)
    pandas.testing.assert_series_equal(y_series, framed.target)
    assert_array_equal(X_frame.to_numpy(), X)
    assert_array_equal(y_series.to_numpy(), y)


@every_loader
def test_each_call_gives_arrays_of_its_own(name):
    loader = getattr(datasets, name)
    first = loader()
    arrays = {key: value for key, value in first.items() if isinstance(value, np.ndarray)}
    before = {key: value.copy() for key, value in arrays.items()}
    for key, value in arrays.items():
        value[...] = "-" if value.dtype.kind == "U" else -1.0
        assert not any(np.shares_memory(value, arrays[other]) for other in arrays.keys() - {key})
    first.units.clear()
    first.feature_names.clear()
    second = loader()
    for key, value in before.items():
        assert_array_equal(second[key], value)
    assert second.units
    assert second.feature_names


@every_loader
def test_arguments_are_keyword_only(name):
    with pytest.raises(TypeError, match="positional"):
        getattr(datasets, name)(True)


def test_no_loader_opens_a_socket(monkeypatch):
    opened = []

    def refuse(*args, **kwargs):
        opened.append(args)
        raise AssertionError("A loader tried to use the network.")

    monkeypatch.setattr(socket, "socket", refuse)
    for name in SHAPES:
        getattr(datasets, name)(return_X_y=True)
    assert not opened  # a loader could have caught the exception


@every_loader
def test_without_pandas_arrays_work_and_frames_say_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    loader = getattr(datasets, name)
    assert loader(return_X_y=True)[0].shape == SHAPES[name]
    with pytest.raises(ImportError, match=r"as_frame=True needs pandas.*pip install pandas"):
        loader(as_frame=True)


@pytest.mark.parametrize("name", sorted(FILES))
def test_tables_hold_the_stored_numbers_under_the_stored_names(name):
    bunch, arrays = getattr(datasets, name)(), stored(FILES[name])
    assert bunch.feature_names == arrays["names"].tolist()
    assert_array_equal(bunch.data.astype(arrays["X"].dtype), arrays["X"])
    assert_array_equal(bunch.target.astype(arrays["y"].dtype), arrays["y"])


def test_single_precision_files_give_back_the_published_decimals():
    X, y = datasets.load_power_plant(return_X_y=True)
    # The first row as it is published; single precision alone would give 14.960000038.
    assert X[0].tolist() == [14.96, 41.76, 1024.07, 73.17]
    assert y[0] == 463.26
    assert_array_equal(X, X.round(2))


def test_power_plant_is_nearly_linear():
    X, y = datasets.load_power_plant(return_X_y=True)
    # The coefficient of determination that is published for linear regression on these data.
    assert explained_variance(np.column_stack([np.ones(len(X)), X]), y) == pytest.approx(0.9287, abs=5e-5)


def test_airfoil_frequencies_are_third_octave_bands():
    X, _ = datasets.load_airfoil(return_X_y=True)
    bands = np.unique(X[:, 0])
    assert_array_equal(bands[[0, -1]], [200.0, 20000.0])
    # Twenty bands span a factor of 100; the nominal frequencies are rounded to at most 1.3 %.
    assert_allclose(bands, 200 * 10 ** (np.arange(21) / 10), rtol=0.013)


def test_wine_colour_is_no_feature_but_marks_the_rows():
    wine = datasets.load_wine_quality()
    assert "red" not in wine.feature_names
    assert_array_equal(np.unique(wine.red, return_counts=True), [[0, 1], [4898, 1599]])
    assert_array_equal(np.unique(wine.target), np.arange(3, 10))
    # White wine holds far more sulphur dioxide than red wine.
    total = wine.data[:, wine.feature_names.index("total_sulfur_dioxide")]
    assert total[wine.red == 0].mean() > 2.5 * total[wine.red == 1].mean()


def test_concrete_mixtures_weigh_what_concrete_weighs():
    concrete = datasets.load_concrete()
    assert concrete.feature_names[-1] == "age"
    assert_allclose(concrete.data[:, :-1].sum(axis=1), 2345, rtol=0.15)  # kg in a cubic metre
    assert {1, 3, 7, 28, 365} <= set(concrete.data[:, -1])


def test_yacht_is_22_hulls_at_14_froude_numbers():
    yacht = datasets.load_yacht()
    hulls = np.unique(yacht.data[:, :-1].reshape(22, 14, 5), axis=1)
    assert hulls.shape == (22, 1, 5)
    froude = yacht.data[:, -1].reshape(22, 14)
    assert_allclose(froude, np.tile(np.arange(0.125, 0.4501, 0.025), (22, 1)), rtol=1e-12)
    # Resistance rises steeply with speed, the same way for every hull.
    assert (yacht.target.reshape(22, 14)[:, -1] > 1000 * yacht.target.reshape(22, 14)[:, 0].min()).all()


def test_bike_share_calendar_is_that_of_2011():
    bikes = datasets.load_bike_share()
    column = dict(zip(bikes.feature_names, bikes.data.T, strict=True))
    date = np.datetime64("2010-12-31") + column["day"].astype("timedelta64[D]")
    assert_array_equal(date.astype("datetime64[M]").astype(int) % 12 + 1, column["mnth"])
    assert_array_equal((date.astype(int) + 4) % 7, column["weekday"])  # 1 January 1970 was a Thursday
    weekend = np.isin(column["weekday"], [0, 6])
    assert_array_equal(column["workingday"] == 1, ~weekend & (column["holiday"] == 0))
    assert (np.diff(24 * column["day"] + column["hr"]) > 0).all()
    assert_array_equal(bikes.target, np.round(bikes.target))
    assert bikes.target.sum() == 1_243_103  # the number published for 2011


def test_elevation_coordinates_are_a_local_plane_in_metres():
    hills = datasets.load_elevation()
    east, north = (column.reshape(hills.grid.shape) for column in hills.data.T)
    assert_array_equal(hills.target, hills.grid.ravel())
    assert_allclose(hills.data.mean(axis=0), 0, atol=1e-6)
    arc_second = 2 * np.pi * 6_371_008.8 / (360 * 3600)
    assert_allclose(np.diff(north, axis=0), -3 * arc_second, rtol=1e-9)
    assert 3 * arc_second == pytest.approx(92.6, abs=0.1)
    middle = np.radians(hills.latitude.mean())
    assert_allclose(np.diff(east, axis=1), 3 * arc_second * np.cos(middle), rtol=1e-9)
    assert_array_equal(np.diff(north, axis=1), 0)
    assert_array_equal(np.diff(east, axis=0), 0)
    assert_allclose(np.diff(hills.latitude), -1 / 1200, rtol=1e-8)
    assert_allclose(np.diff(hills.longitude), 1 / 1200, rtol=1e-8)


def test_elevation_lies_where_the_mountains_are():
    hills = datasets.load_elevation()
    row, column = np.unravel_index(hills.grid.argmax(), hills.grid.shape)
    # Cross Mountain, Tennessee: 1077 m at 36.19833 N, 84.23056 W.
    assert abs(hills.grid[row, column] - 1077) <= 2
    assert_allclose([hills.latitude[row], hills.longitude[column]], [36.19833, -84.23056], rtol=0, atol=0.0005)
    # Campbell County airport near Jacksboro: 360 m at 36.3341 N, 84.1630 W.
    row, column = np.abs(hills.latitude - 36.3341).argmin(), np.abs(hills.longitude + 84.1630).argmin()
    assert hills.grid[row, column] == pytest.approx(360, abs=15)
    # The latitudes inside the file are 344 cells and a half too far north, the longitudes half a cell too far west.
    axes = stored("dem_jacksboro")
    assert_allclose(axes["lat"] - hills.latitude, 344.5 / 1200, rtol=0, atol=1e-8)
    assert_allclose(hills.longitude - axes["lon"], 0.5 / 1200, rtol=0, atol=1e-8)


def test_airports_hold_the_stored_positions_and_feet_as_metres():
    airports, arrays = datasets.load_airports(), stored("airports_elevation")
    assert airports.feature_names == ["latitude", "longitude"]
    assert_array_equal(airports.data.astype(np.float32), np.column_stack([arrays["lat"], arrays["lon"]]))
    assert_allclose(airports.target / 0.3048, arrays["elev_ft"], rtol=1e-14)
    latitude, longitude = airports.data.T
    assert -80.4 < latitude.min() < latitude.max() < 82.6
    assert -180 < longitude.min() < longitude.max() < 180
    assert len(np.unique(airports.data, axis=0)) == len(airports.data)


# Elevations as published by others; the last three are the lowest and two of the highest.
@pytest.mark.parametrize(
    ("latitude", "longitude", "elevation"),
    [
        (39.8617, -104.6732, 1655),  # Denver
        (52.3086, 4.7639, -3),  # Amsterdam Schiphol
        (-16.5133, -68.1923, 4061),  # El Alto, La Paz
        (31.3282, 35.3886, -378),  # Bar Yehuda on the Dead Sea
        (30.5536, 97.1083, 4334),  # Qamdo Bangda
        (29.3231, 100.0533, 4411),  # Daocheng Yading
    ],
)
def test_airports_lie_where_and_as_high_as_they_do(latitude, longitude, elevation):
    X, y = datasets.load_airports(return_X_y=True)
    distance = np.hypot(*(X - [latitude, longitude]).T)
    assert distance.min() < 1e-3
    assert y[distance.argmin()] == pytest.approx(elevation, abs=10)


def test_airports_some_of_the_zeros_are_unknown_elevations():
    airports = datasets.load_airports()
    zero = airports.target == 0
    assert zero.sum() == 1400
    assert "1400 elevations are exactly 0" in airports.DESCR
    latitude, longitude = airports.data.T
    australia = (np.abs(latitude + 27) < 17.5) & (np.abs(longitude - 133) < 21)
    assert (zero & australia).sum() == 982
    # Turtmann in the valley of the Rhone in Switzerland: 625 m.
    assert zero[np.hypot(latitude - 46.3026, longitude - 7.714).argmin()]
    # In a great many more places the nearest airport, less than 50 km away, lies on more than 500 m.
    phi, lam = np.radians(airports.data.T)
    unit = np.column_stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])
    cosine = unit[zero] @ unit[~zero].T
    close = cosine.max(axis=1) > np.cos(50 / 6371)
    assert (close & (airports.target[~zero][cosine.argmax(axis=1)] > 500)).sum() == 53


def test_letters_are_26_balanced_classes_of_small_integers():
    letters, arrays = datasets.load_letters(), stored("uci_letter")
    assert_array_equal(letters.data, arrays["X"])
    assert_array_equal(letters.target, [chr(ord("A") + index) for index in arrays["y"]])
    names, counts = np.unique(letters.target, return_counts=True)
    assert "".join(names) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert (counts.min(), counts.max()) == (734, 813)
    assert dict(zip(names, counts, strict=True))["A"] == 789
    for column in letters.data.T:
        assert_array_equal(np.unique(column), np.arange(16))


def test_letters_hold_the_first_published_row_and_copies_that_agree():
    letters = datasets.load_letters()
    # The first row as it is published: T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8; here it is another one.
    first = (letters.data == [2, 8, 3, 5, 1, 8, 13, 0, 6, 6, 10, 8, 0, 8, 0, 8]).all(axis=1)
    assert_array_equal(letters.target[first], ["T"])
    assert not first[0]
    distinct, row = np.unique(letters.data, axis=0, return_inverse=True)
    assert len(letters.data) - len(distinct) == 1332
    assert len(set(zip(row.ravel().tolist(), letters.target.tolist(), strict=True))) == len(distinct)


def test_letters_columns_are_named_after_what_they_measure():
    letters = datasets.load_letters()

    def mean(column, letter):
        return letters.data[letters.target == letter, letters.feature_names.index(column)].mean()

    assert mean("width", "I") + 3 < mean("width", "M")
    assert mean("onpix", "I") + 3 < mean("onpix", "M")
    assert mean("x_bar", "L") + 4 < mean("x_bar", "J")
    assert mean("y_bar", "L") + 7 < mean("y_bar", "T")  # y points up
    assert mean("x_ege", "I") + 7 < mean("x_ege", "M")
    assert mean("y_ege", "M") < 3 < mean("y_ege", "E")


def test_co2_weeks_are_the_measured_weeks_of_the_file():
    co2, arrays = datasets.load_co2(), stored("co2_weekly")
    measured = ~np.isnan(arrays["y"])
    assert co2.n_missing == np.count_nonzero(~measured) == 59
    assert_array_equal(co2.data[:, 0], arrays["t"][measured])
    assert_allclose(co2.target, arrays["y"][measured], rtol=1e-7)
    assert_array_equal(co2.target, co2.target.round(1))


def saturdays():
    dates = np.datetime64("1958-03-29") + 7 * np.arange(2284).astype("timedelta64[D]")
    assert dates[-1] == np.datetime64("2001-12-29")
    return dates


def test_co2_decimal_years_are_those_of_successive_saturdays():
    start = saturdays().astype("datetime64[Y]")
    first_day = start.astype("datetime64[D]")
    length = ((start + 1).astype("datetime64[D]") - first_day).astype(int)
    decimal_year = start.astype(int) + 1970 + (saturdays() - first_day).astype(int) / length
    assert_allclose(stored("co2_weekly")["t"], decimal_year, rtol=0, atol=5.1e-7)


def test_co2_monthly_means_agree_with_pandas():
    pandas = pytest.importorskip("pandas")
    weekly = pandas.Series(stored("co2_weekly")["y"].astype(float), index=pandas.DatetimeIndex(saturdays()))
    expected = weekly.resample("MS").mean()
    assert (len(expected), expected.isna().sum()) == (526, 5)
    expected = expected.dropna()
    co2 = datasets.load_co2(monthly=True)
    assert_allclose(co2.target, expected.to_numpy(), rtol=1e-7)
    middle = expected.index.year.to_numpy() + (expected.index.month.to_numpy() - 0.5) / 12
    assert_allclose(co2.data[:, 0], middle, rtol=0, atol=1e-12 * 2000)


def test_co2_first_months_by_hand():
    co2 = datasets.load_co2(monthly=True)
    assert (co2.data.shape, co2.target.shape, co2.n_missing) == ((521, 1), (521,), 5)
    # Saturdays of 1958: 29 March; 5, 12, 19, 26 April; 3, 17, 24 May (10 and 31 May have no value); none in June;
    # 5, 12, 19, 26 July.
    by_hand = {
        3: 316.1,
        4: (317.3 + 317.6 + 317.5 + 316.4) / 4,
        5: (316.9 + 317.5 + 317.9) / 3,
        7: (315.8 + 315.8 + 315.4 + 315.5) / 4,
    }
    assert_allclose(co2.data[:4, 0], [1958 + (month - 0.5) / 12 for month in by_hand], rtol=1e-14)
    assert_allclose(co2.target[:4], list(by_hand.values()), rtol=1e-14)


@pytest.mark.parametrize("monthly", [False, True])
def test_co2_is_a_trend_with_a_yearly_and_a_half_yearly_line(monthly):
    X, y = datasets.load_co2(monthly=monthly, return_X_y=True)
    t = X[:, 0]
    trend = np.vander((t - 1980) / 20, 4)
    lines = [wave(2 * np.pi * k * t) for k in (1, 2) for wave in (np.cos, np.sin)]
    assert explained_variance(np.column_stack([trend, *lines]), y) > 0.99
    # Without the lines, or with lines of another frequency, much more is left over.
    off = [wave(2 * np.pi * 1.3 * k * t) for k in (1, 2) for wave in (np.cos, np.sin)]
    left = 1 - explained_variance(np.column_stack([trend, *lines]), y)
    assert 1 - explained_variance(np.column_stack([trend, *off]), y) > 4 * left


def test_airline_grows_with_a_yearly_rhythm():
    X, y = datasets.load_airline(return_X_y=True)
    assert (y[0], y[-1]) == (112, 432)
    assert_allclose(X[:, 0], 1949 + (np.arange(144) + 0.5) / 12, rtol=1e-14)
    yearly = y.reshape(12, 12)
    assert (np.diff(yearly.mean(axis=1)) > 0).all()
    # The busiest month is July or August in every year, and its excess over the mean grows with the level.
    assert set(yearly.argmax(axis=1)) <= {6, 7}
    assert np.ptp(yearly[-1]) > 3 * np.ptp(yearly[0])


@pytest.mark.parametrize("name", sorted(SERIES))
def test_series_hold_the_stored_numbers_in_order_of_time(name):
    series, arrays = getattr(datasets, name)(), stored(SERIES[name])
    assert_allclose(series.data[:, 0], arrays["t"], rtol=0, atol=1e-9)
    assert_array_equal(series.target.astype(arrays["y"].dtype), arrays["y"])
    assert (np.diff(series.data[:, 0]) >= 0).all()


def test_electricity_has_lines_at_a_day_and_its_fractions():
    X, y = datasets.load_electricity(return_X_y=True)
    assert_array_equal(X[:, 0], np.arange(3 * 8760 + 24))
    assert_array_equal(y, y.round(2))
    assert strongest_period(X[:4000, 0], y[:4000], np.linspace(4.5, 40, 356)) == pytest.approx(24, abs=0.05)
    # 1096 days: entry 1096 k of the spectrum is k cycles a day.
    power = np.abs(np.fft.rfft(y - y.mean())) ** 2
    for cycles_a_day in (1, 2, 3, 4):
        assert power[1096 * cycles_a_day - 500 : 1096 * cycles_a_day + 500].argmax() == 500
    assert power[1096] > 0.6 * power.sum()


def test_electricity_clock_changes_are_the_last_sundays_of_march_and_october():
    load = datasets.load_electricity()
    marked = np.datetime64("2012-01-01T00") + np.flatnonzero(load.clock_change)
    days = np.arange("2012-01-01", "2015-01-01", dtype="datetime64[D]")
    month, next_week = days.astype("datetime64[M]"), (days + 7).astype("datetime64[M]")
    sundays = (days.astype(int) + 4) % 7 == 0  # 1 January 1970 was a Thursday
    changes = days[sundays & (next_week > month) & np.isin(month.astype(int) % 12, [2, 9])]
    assert_array_equal(marked, changes + np.timedelta64(1, "h"))

    spring, autumn = np.flatnonzero(load.clock_change).reshape(3, 2).T
    assert_array_equal(load.target[spring], [54.15, 54.71, 5.85])
    assert load.target[~load.clock_change].min() > 900
    assert_allclose(load.target[autumn], 2 * load.target[autumn + 168], rtol=0.1)


def test_electricity_is_a_sum_over_quarters_of_which_the_first_hour_has_three():
    _, y = datasets.load_electricity(return_X_y=True)
    # Everywhere else the load falls after midnight, and with a fourth quarter it does so in the first night.
    nights = np.delete(y.reshape(-1, 24)[:, :2], 0, axis=0)
    drop = nights[:, 0] / nights[:, 1]
    assert y[0] / y[1] < np.sort(drop)[3] * 0.9  # three nights end in the double hour of October
    assert 4 / 3 * y[0] / y[1] == pytest.approx(np.median(drop), rel=0.03)


def test_tide_is_made_of_the_lines_of_the_moon_and_the_sun():
    tide = datasets.load_tide()
    t = tide.data[:, 0]
    assert_array_equal(t, np.arange(8784))
    assert_array_equal(tide.target, tide.target.round(3))
    # M2, N2, S2, K1, O1, M4
    periods = [12.4206012, 12.6583475, 12.0, 23.9344721, 25.8193387, 6.2103006]
    found = amplitudes(t, tide.target, periods)
    assert found[0] == pytest.approx(0.694, rel=0.01)
    assert_allclose(found[1:], [0.153, 0.107, 0.074, 0.049, 0.040], rtol=0.03)
    near = np.linspace(12.38, 12.46, 81)
    assert strongest_period(t, tide.target, near) == pytest.approx(12.4206, abs=0.0015)


def test_tide_marks_what_was_inferred_and_saw_the_hurricane():
    tide = datasets.load_tide()
    assert tide.inferred.dtype == bool
    assert tide.inferred.shape == tide.target.shape
    assert tide.inferred.sum() == 283
    highest = np.datetime64("2017-01-01T00") + tide.target.argmax()
    assert highest.astype("datetime64[D]") == np.datetime64("2017-09-11")
    assert tide.target.mean() == pytest.approx(-0.0815, abs=1e-4)


def test_sea_temperature_has_two_gaps_and_one_repeated_stamp():
    sea = datasets.load_sea_temperature()
    t = sea.data[:, 0]
    step = np.diff(t)
    assert_array_equal(np.unique(step, return_counts=True), [[0, 0.5, 1, 12], [1, 19222, 1, 1]])
    stamp = np.datetime64("2016-01-01T00:00") + (60 * t).astype("timedelta64[m]")
    assert [str(stamp[i]) for i in (0, -1)] == ["2016-02-15T00:00", "2017-03-22T00:00"]
    assert str(stamp[step.argmin()]) == "2017-03-21T16:30"
    assert_array_equal(sea.target[step.argmin() : step.argmin() + 2], [4.276, 4.289])
    assert [str(stamp[i]) for i in np.flatnonzero(step > 0.5)] == ["2016-06-14T13:00", "2016-07-08T01:30"]


def test_sea_temperature_follows_the_year_and_the_day():
    X, y = datasets.load_sea_temperature(return_X_y=True)
    t = X[:, 0]
    year, _, day, tide = amplitudes(t, y, [8766, 4383, 24, 12.4206])
    assert year == pytest.approx(7.2, rel=0.02)
    assert day == pytest.approx(0.158, rel=0.02)
    assert tide < day / 5
    fast = y - np.convolve(
        np.pad(y, 48, mode="edge"), np.full(97, 1 / 97), mode="valid"
    )  # without the mean of two days
    assert strongest_period(t[:8000], fast[:8000], np.linspace(10, 36, 261)) == pytest.approx(24, abs=0.15)
    # Warmest in summer, coldest in winter.
    assert 24 * 200 < t[y.argmax()] < 24 * 250
    assert t[y.argmin()] > 24 * 420


def test_temperature_normals_are_smooth_and_miss_one_hour():
    X, y = datasets.load_temperature_normals(return_X_y=True)
    t = X[:, 0].astype(int)
    assert_array_equal(np.setdiff1d(np.arange(8760), t), [24 * (31 + 28 + 13) + 3])
    assert_array_equal(y, y.round(1))
    days = np.full(8760, np.nan)
    days[t] = y
    days = days.reshape(365, 24)
    # Second differences from day to day: rounding to 0.1 has the standard deviation 0.029, and nothing more is there.
    assert np.nanstd(np.diff(days, 2, axis=0)) / np.sqrt(6) < 0.045
    # The coldest hour is about sunrise, before and after either change of the clock.
    for change in (72, 310):
        assert np.ptp(np.nanargmin(np.delete(days, 72, axis=0)[change - 4 : change + 4], axis=1)) <= 1


def test_temperature_normals_have_a_daily_line_that_changes_with_the_year():
    X, y = datasets.load_temperature_normals(return_X_y=True)
    sidebands = [1 / (1 / 24 - 1 / 8760), 1 / (1 / 24 + 1 / 8760)]
    year, day, half_day, *beside = amplitudes(X[:, 0], y, [8760, 24, 12, *sidebands])
    assert_allclose([year, day, half_day], [6.12, 5.38, 1.54], rtol=0.01)
    assert min(beside) > 0.9
    assert amplitudes(X[:, 0], y, [8760, 24, 24 * 1.3])[2] < 0.01


def test_sunspots_cycle_in_eleven_years():
    X, y = datasets.load_sunspots(return_X_y=True)
    t = X[:, 0]
    assert_allclose(t, 1749 + (np.arange(3126) + 0.5) / 12, rtol=1e-14)
    assert strongest_period(t, y, np.linspace(7, 16, 451)) == pytest.approx(10.99, abs=0.05)
    assert (y.min(), y.max(), (y == 0).sum()) == (0, 253.8, 66)
    assert_array_equal(y, y.round(1))
    assert t[y.argmax()] == pytest.approx(1957 + 9.5 / 12)  # October 1957, the highest maximum
    february = (1824 - 1749) * 12 + 1
    assert y[february] == pytest.approx((y[february - 1] + y[february + 1]) / 2, abs=0.06)


def test_radial_velocity_shows_two_planets():
    star = datasets.load_radial_velocity()
    t = star.data[:, 0]
    offsets = star.instrument[:, np.newaxis] == np.arange(3)

    def explained(*periods):
        waves = [wave(2 * np.pi * t / period) for period in periods for wave in (np.cos, np.sin)]
        return explained_variance(np.column_stack([offsets, *waves]), star.target)

    long = np.arange(1000.0, 1400.0)
    first = long[np.argmax([explained(period) for period in long])]
    assert first == pytest.approx(1197, abs=5)
    assert first == pytest.approx(1201, rel=0.01)  # as published
    short = np.arange(60, 90, 0.05)
    second = short[np.argmax([explained(first, period) for period in short])]
    assert second == pytest.approx(75.76, abs=0.1)
    assert explained() + 0.5 < explained(first) < explained(first, second) - 0.03
    waves = [wave(2 * np.pi * t / period) for period in (first, second) for wave in (np.cos, np.sin)]
    coefficients = np.linalg.lstsq(np.column_stack([offsets, *waves]), star.target, rcond=None)[0]
    assert_allclose(np.hypot(coefficients[3::2], coefficients[4::2]), [7.2, 2.0], atol=0.15)
    # Offsets have to be fitted along: means of the instruments take a tenth of the first planet with them.
    means = np.array([star.target[mine].mean() for mine in offsets.T])
    assert amplitudes(t, star.target - means[star.instrument], [first])[0] < 6.7


def test_radial_velocity_instruments_times_and_noise():
    star = datasets.load_radial_velocity()
    t = star.data[:, 0]
    assert_array_equal(np.unique(star.instrument, return_counts=True), [[0, 1, 2], [52, 276, 73]])
    assert star.instrument.dtype.kind == "i"
    assert len(star.instrument_names) == 3
    # The first instrument ends before the second begins, in August 2004.
    august = (np.datetime64("2004-08-01T12") - np.datetime64("1995-10-09T12")) / np.timedelta64(1, "D")  # JD 2450000
    assert t[star.instrument == 0].max() < august < t[star.instrument == 1].min()
    # The first row as it is published: 2450275.9700771 10.865898802 1.14224851131.
    assert (t[0], star.target[0], star.noise_std[0]) == (275.9700771, 10.865898802, 1.14224851131)
    assert_array_equal(t, t.round(7))
    assert star.noise_std.shape == (401,)
    assert 0.79 < star.noise_std.min() < star.noise_std.max() < 2.97
    again = np.flatnonzero(np.diff(t) == 0)
    assert_array_equal(t[again], [5880.7545477, 7115.8485563])
    assert_array_equal(np.diff(star.target)[again] == 0, [False, True])


@pytest.mark.parametrize("quarter", [7, 15])
def test_light_curve_is_quasi_periodic(quarter):
    star = datasets.load_light_curve()
    mine = star.quarter == quarter
    t, flux = star.data[mine, 0], star.target[mine]
    assert 3.5 < strongest_period(t, flux, 1 / np.linspace(1 / 30, 1, 300)) < 4.6
    assert np.median(flux) == pytest.approx(0, abs=1e-4)
    # Not a line: waves of the best single period leave most of the variance.
    best = strongest_period(t, flux, np.linspace(3, 5, 81))
    waves = np.column_stack([np.ones_like(t), np.cos(2 * np.pi * t / best), np.sin(2 * np.pi * t / best)])
    assert 0.1 < explained_variance(waves, flux) < 0.5


def test_light_curve_quarters_gap_and_noise():
    star = datasets.load_light_curve()
    t = star.data[:, 0]
    assert_array_equal(np.unique(star.quarter, return_counts=True), [[7, 15], [3024, 3305]])
    assert star.quarter.dtype.kind == "i"
    assert (np.diff(star.quarter) >= 0).all()
    step = np.diff(t)
    assert step.min() > 0
    assert 24 * 60 * np.median(step) == pytest.approx(29.42, abs=0.01)
    assert step.max() == pytest.approx(654.12, abs=0.01)
    assert np.sort(step)[-2] == pytest.approx(5.68, abs=0.01)
    assert star.noise_std.shape == (6329,)
    assert 18.8 < star.noise_std.min() < star.noise_std.max() < 19.2
    close = step < 0.021
    assert np.diff(star.target)[close].std() / np.sqrt(2) == pytest.approx(33, abs=0.5)
