"""Fourier sums and periodograms against the sums and the least squares that they stand for, written out."""

import itertools
import math
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import lombscargle

from spectralkit.nufft import data_spectrum, periodogram

TOLERANCE = 1e-8  # the accuracy promised


def uneven(n=120, seed=0, length=30.0):
    """Times, values and noise, in no order."""
    rng = np.random.default_rng([seed, n])
    x = rng.uniform(0, length, n)
    return x[:, None], np.sin(2 * np.pi * 1.1 * x) + rng.normal(size=n), rng.uniform(0.5, 2.0, n)


def frozen(*arrays):
    for array in arrays:
        array.setflags(write=False)
    return arrays


# -- sums --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize(("d", "modes"), [(1, 64), (1, (65,)), (2, (12, 7)), (3, (5, 6, 7))])
def test_data_spectrum_is_the_sum(d, modes, offset):
    rng = np.random.default_rng([d, int(offset)])
    X = rng.normal(size=(50, d)) * 3 + offset
    values = rng.normal(size=(50, 2)) + 1j * rng.normal(size=(50, 2))
    step = rng.uniform(0.1, 0.3, d)
    counts = np.broadcast_to(modes, d)
    axes = [s * np.arange(-(n // 2), -(n // 2) + n) for s, n in zip(step, counts, strict=True)]
    omega = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    direct = np.moveaxis(np.exp(-2j * np.pi * (omega @ X.T)) @ values, -1, 0)
    # phases of a thousand turns are themselves known to 1e-16 of their size only
    rounding = 2 * np.pi * np.abs(omega).max() * np.abs(X).max() * d * 2.3e-16
    assert_allclose(
        data_spectrum(X, values, step, modes, tol=1e-12),
        direct,
        rtol=0,
        atol=(1e-11 + rounding) * np.abs(values).sum(),
    )
    one = data_spectrum(X, values[:, 0].real, step, modes, tol=1e-6)
    assert one.shape == tuple(counts)
    direct = np.exp(-2j * np.pi * (omega @ X.T)) @ values[:, 0].real
    assert_allclose(one, direct, rtol=0, atol=2e-6 * np.abs(values[:, 0].real).sum())


def test_blocks_of_rows_add_up_and_threads_change_no_bit(monkeypatch):
    X, y, _ = uneven(1000)
    whole = data_spectrum(X, np.column_stack([y, y**2]), 0.01, 33)
    monkeypatch.setattr("spectralkit.nufft._transforms._ROWS_PER_BLOCK", 64)
    one, several = (data_spectrum(X, np.column_stack([y, y**2]), 0.01, 33, n_jobs=jobs) for jobs in (1, 3))
    assert_array_equal(one, several)
    assert_allclose(one, whole, rtol=0, atol=1e-8 * np.abs(y**2).sum())


def test_no_rows_give_zero():
    assert not data_spectrum(np.empty((0, 2)), np.empty(0), 1.0, (3, 4)).any()


def test_inputs_stay_as_they_are_and_float32_counts():
    X, y, noise = frozen(*uneven())
    data_spectrum(X, y, 0.1, 11)
    periodogram(X, y, noise_std=noise)
    assert data_spectrum(X.astype(np.float32), y.astype(np.float32), 0.1, 11).dtype == np.complex128
    assert periodogram(X.astype(np.float32), y.astype(np.float32)).power.dtype == np.float64


def test_a_grid_that_would_not_fit_is_refused_before_it_is_made():
    X, y, _ = uneven()
    with pytest.raises(ValueError, match=r"would take about .* GiB"):
        data_spectrum(X, y, 1e-9, 10**12)
    with pytest.raises(ValueError, match=r"GiB are allowed\. Lower the highest frequency"):
        periodogram(X, y, max_frequency=1e12)


# -- periodograms ------------------------------------------------------------------------------------------------------


def explained(x, y, weights, columns, frequency):
    """1 - chi squared with the wave over chi squared without, by least squares."""
    root = np.sqrt(weights)

    def chi2(*more):
        A = root[:, None] * np.column_stack([*columns, *more])
        return np.sum((root * y - A @ np.linalg.lstsq(A, root * y, rcond=None)[0]) ** 2)

    phase = 2 * np.pi * frequency * x
    return 1 - chi2(np.cos(phase), np.sin(phase)) / chi2()


@pytest.mark.parametrize("trend", [0, 1, 3])
@pytest.mark.parametrize("with_regressors", [False, True])
def test_power_is_the_least_squares_written_out(trend, with_regressors):
    X, y, noise = uneven()
    x = X[:, 0]
    rng = np.random.default_rng(1)
    repeats = rng.integers(0, 3, len(x)).astype(float)
    regressors = np.eye(3)[rng.integers(0, 3, len(x))] if with_regressors else None  # their sum is the constant
    found = periodogram(X, y, noise_std=noise, sample_weight=repeats, trend=trend, regressors=regressors)
    columns = [x**k for k in range(trend + 1)] + ([] if regressors is None else list(regressors.T[1:]))
    used = np.r_[0:20, 200:220]
    direct = [explained(x, y, repeats / noise**2, columns, f) for f in found.frequencies[used]]
    assert_allclose(found.power[used], direct, rtol=0, atol=TOLERANCE)
    assert (found.power >= 0).all()
    assert (found.power <= 1).all()


@pytest.mark.parametrize("n", [40, 900])
def test_power_is_that_of_scipy(n):
    X, y, noise = uneven(n)
    found = periodogram(X, y, noise_std=noise)
    omega = 2 * np.pi * found.frequencies
    oracle = lombscargle(X[:, 0], y, omega, weights=noise**-2, floating_mean=True, normalize=True)
    assert_allclose(found.power, oracle, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("trend", [0, 2])
def test_a_fine_grid_keeps_its_digits_below_the_first_wave(trend):
    """A hundredth of a turn is all but a parabola: what is left of it beside the trend is far below the sums' error."""
    X, y, _ = uneven()
    found = periodogram(X, y, step=0.02 / 30, max_frequency=1.0 / 30, trend=trend)
    u = 2 * (X[:, 0] - X.min()) / np.ptp(X) - 1
    direct = [explained(X[:, 0], y, np.ones(len(y)), [u**k for k in range(trend + 1)], f) for f in found.frequencies]
    # the oracle itself loses digits where the wave is all but in the span of the trend
    assert_allclose(found.power, direct, rtol=0, atol=1e-6)
    assert_allclose(found.power[20:], direct[20:], rtol=0, atol=TOLERANCE)


def test_a_wave_has_all_power_and_its_amplitude():
    X, _, _ = uneven()
    frequency = 17 * 0.2 / np.ptp(X)
    y = 5 + 3 * np.cos(2 * np.pi * frequency * X[:, 0] + 0.4)
    found = periodogram(X, y)
    assert_allclose(found.frequencies[16], frequency, rtol=1e-14)
    assert_allclose([found.power[16], found.amplitude[16]], [1.0, 3.0], rtol=1e-10)
    assert_allclose(found.variance, y.var(), rtol=1e-12)


def test_units_offsets_and_order_change_nothing_else():
    X, y, noise = uneven()
    X = np.round(X * 2**20) / 2**20  # so that the shift below is exact
    base = periodogram(X, y, noise_std=noise, trend=1)
    other = periodogram(37.3 * X, -250.0 * y, noise_std=0.01 * noise, trend=1)
    assert_allclose(other.frequencies * 37.3, base.frequencies, rtol=1e-12)
    assert_allclose(other.power, base.power, rtol=0, atol=1e-11)
    assert_allclose([other.variance, *other.amplitude], [250**2 * base.variance, *(250 * base.amplitude)], rtol=1e-8)
    order = np.random.default_rng(2).permutation(len(y))
    for changed in (periodogram(X + 4096.0, y + 1000.0, noise_std=noise, trend=1),
                    periodogram(X[order], y[order], noise_std=noise[order], trend=1)):  # fmt: skip
        assert_allclose(changed.frequencies, base.frequencies, rtol=1e-12)
        assert_allclose(changed.power, base.power, rtol=0, atol=1e-11)


def test_weights_are_repetitions():
    X, y, _ = uneven(60)
    times = np.arange(60) % 4
    repeated = periodogram(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighted = periodogram(X, y, sample_weight=times)
    assert_allclose(weighted.frequencies, repeated.frequencies, rtol=1e-14)
    assert_allclose(weighted.power, repeated.power, rtol=0, atol=1e-11)


def test_at_the_nyquist_frequency_of_regular_data_the_cosine_has_it_all():
    x = np.arange(64) / 8
    y = np.where(np.arange(64) % 2, -1.0, 1.0)
    found = periodogram(x[:, None], y, step=0.25, max_frequency=6.0)
    nyquist = int(np.argmin(abs(found.frequencies - 4.0)))
    assert_allclose(found.power[nyquist], 1.0, rtol=1e-12)
    assert_allclose(found.power[nyquist + 1 :], found.power[nyquist - 1 : nyquist - 9 : -1], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("x", "highest"),
    [
        (np.linspace(0, 10, 101), 5.0),
        (np.append(np.linspace(0, 10, 101), 5 + 1e-9), 5.0),  # facts: gpytorch then starts at 3e8
        (np.concatenate([np.linspace(0, 10, 101), np.linspace(0, 10, 101) + 1e-9]), 5.0),
        (np.delete(np.linspace(0, 10, 101), np.arange(20, 55)), 5.0),
    ],
    ids=["regular", "one near-duplicate", "pairs", "gap"],
)
def test_the_highest_frequency_is_that_of_the_bulk_of_the_gaps(x, highest):
    y = np.cos(2 * np.pi * 1.3 * x)
    found = periodogram(x[:, None], y)
    assert_allclose(found.frequencies[-1], highest, rtol=1e-6)
    assert_allclose(found.frequencies[found.power.argmax()], 1.3, atol=0.03)


def test_a_hundred_thousand_points_take_less_than_a_second():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0, 1000, 100_000), rng.normal(size=100_000)
    periodogram(x[:100, None], y[:100])
    start = time.process_time()
    found = periodogram(x[:, None], y, max_frequency=50.0, n_jobs=1)
    assert time.process_time() - start < 1.0
    assert len(found.power) == math.floor(50.0 / (0.2 / np.ptp(x)))
    some = [3, 1000, 200_000]
    direct = [explained(x, y, np.ones(len(x)), [np.ones(len(x))], found.frequencies[k]) for k in some]
    assert_allclose(found.power[some], direct, rtol=0, atol=TOLERANCE)


X, Y, NOISE = uneven(20)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: data_spectrum(np.zeros((3, 4)), np.zeros(3), 1.0, 3), "1 to 3 columns, got 4"),
        (lambda: data_spectrum(X, Y[:-1], 1.0, 3), r"shape \(20,\) or \(20, t\)"),
        (lambda: data_spectrum(X, np.full(20, np.nan), 1.0, 3), "values has NaN"),
        (lambda: data_spectrum(X, Y, -1.0, 3), "step must be positive"),
        (lambda: data_spectrum(X, Y, 1.0, 0), "n_modes must be an integer of at least 1"),
        (lambda: data_spectrum(X, Y, 1.0, (3, 3)), "n_modes must be an integer of at least 1 for each of 1"),
        (lambda: periodogram(np.column_stack([X, X]), Y), "one column of X and one of y, got 2 and 1"),
        (lambda: periodogram(X, np.column_stack([Y, Y])), "one column of X and one of y, got 1 and 2"),
        (lambda: periodogram(X[:, 0], Y), "X must be two-dimensional"),
        (lambda: periodogram(X, Y[:-1]), "y must have one row per row of X, 20"),
        (lambda: periodogram(X, np.where(Y > 0, np.inf, Y)), "y has NaN or infinite values, the first in row"),
        (lambda: periodogram(np.where(X > 3, np.nan, X), Y), "X has NaN or infinite values"),
        (lambda: periodogram(X, Y, noise_std=0.0), "noise_std must be positive"),
        (lambda: periodogram(X, Y, noise_std=NOISE[:-1]), "noise_std must be positive .* one per row of X, 20"),
        (lambda: periodogram(X, Y, sample_weight=-NOISE), "must not be negative"),
        (lambda: periodogram(X, Y, regressors=np.zeros((3, 1))), "regressors must have one row per row of X, 20"),
        (lambda: periodogram(X, Y, trend=-1), "trend must be the degree"),
        (lambda: periodogram(X, np.full(20, 3.3)), "y is constant once"),
        (lambda: periodogram(X, 1.0 + 2.0 * X[:, 0], trend=1), "y is constant once"),
        (lambda: periodogram(np.ones((20, 1)), Y), "Every x is the same"),
        (lambda: periodogram(X, Y, max_frequency=0.0), "max_frequency must be a positive"),
        (lambda: periodogram(X, Y, step=np.inf), "step must be a positive"),
        (lambda: periodogram(X, Y, step=2.0, max_frequency=1.0), "below the first frequency"),
        (lambda: periodogram(np.empty((0, 1)), np.empty(0)), "no rows"),
    ],
)
def test_errors_say_what_is_wrong(action, message):
    with pytest.raises(ValueError, match=message):
        action()


def test_all_pairs_of_rows_are_in_the_grid_of_two_columns():
    """A grid in two columns meets every row: the spectrum of one point is a plane wave."""
    point = np.array([[0.3, -1.7]])
    found = data_spectrum(point, np.ones(1), (0.25, 0.5), (4, 5))
    for (a, j), (b, k) in itertools.product(enumerate(range(-2, 2)), enumerate(range(-2, 3))):
        phase = 2 * np.pi * (0.25 * j * 0.3 + 0.5 * k * -1.7)
        assert_allclose(found[a, b], np.exp(-1j * phase), atol=1e-8)
