"""Attention is kernel regression, and its temperature is a bandwidth: the water level of a harbour, hour by hour.

1. The level in three hours from the levels of the last six: keys are the six hours of the first half of a year, values
   what followed, queries hours of the second half. Softmax attention, as it is computed in torch, and
   `NadarayaWatsonRegressor` with the same temperature T agree to rounding. With keys of equal length so does the
   Gaussian kernel with a bandwidth of sqrt(T). With keys as they are long ones count more, by exp(|key|² / 2T); as
   weights of rows these factors make the two agree again.
2. A Gaussian process with the same kernel has the mean k(x, X) (K + s²)⁻¹ y. As the noise s² grows the inverse becomes
   that of s², and the mean of y over the mean of ones becomes attention, with an error in proportion to |K| / s². With
   little noise it is another model, here a better one: it solves for what rows say together, and attention averages.
3. Attention over evenly spaced positions is a filter: what it leaves of a wave is the spectral density of its kernel
   over that at frequency zero. Positions are hours on a circle, one pair (cos, sin) of the usual position encoding,
   and the response is measured as the spectrum of the predictions over that of the levels. With T of the square of
   twelve hours the tide is gone and the weather is left.

Run it with ``python examples/attention_as_regression.py``; it takes some seconds, works without torch too, and draws
``examples/output/attention_as_regression.png`` when matplotlib is there.
"""

import importlib.util
from pathlib import Path

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor

from spectralkit import Gaussian, NadarayaWatsonRegressor, SpectralKernel
from spectralkit.datasets import load_tide

WINDOW, AHEAD = 6, 3  # h
WARM = 0.1  # m², a temperature at which the factors of keys are numbers that a computer has
ROWS = 1000  # of the Gaussian process
NOISE = 10.0 ** np.arange(-4, 17, 2)  # s² over the norm of K
BANDWIDTHS = (1.5, 3.0, 6.0, 12.0)  # h, the roots of temperatures
TIDES = {"M4": 1 / 6.2103, "M2": 1 / 12.4206, "K1": 1 / 23.9345, "14 days": 1 / 354.367}  # cycles per hour
STORM = 6072  # h: 11 September 2017, 0:00


def windows(level):
    """Keys and values of the first half of the record, and some of the second."""
    keys = np.lib.stride_tricks.sliding_window_view(level, WINDOW)[:-AHEAD].copy()
    values = level[WINDOW - 1 + AHEAD :]
    half = len(level) // 2
    learnt, asked = slice(half), slice(half + WINDOW + AHEAD, None, 8)
    return keys[learnt], values[learnt], keys[asked], values[asked]


def softmax_attention(queries, keys, values, temperature):
    """Scaled dot-product attention of torch, or its definition."""
    if importlib.util.find_spec("torch"):
        import torch

        tensors = (torch.from_numpy(array)[None, None] for array in (queries, keys, values[:, None]))
        return torch.nn.functional.scaled_dot_product_attention(*tensors, scale=1 / temperature)[0, 0, :, 0].numpy()
    scores = queries @ keys.T / temperature
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ values / weights.sum(axis=1)


def rmse(found, truth):
    return np.sqrt(np.mean((found - truth) ** 2))


def agree(keys, values, queries, truth):
    """Attention, and kernel regression, of keys of equal length and of keys as they are."""
    by = "torch" if importlib.util.find_spec("torch") else "NumPy"
    print(f"{len(keys)} keys of {WINDOW} hours, {len(queries)} queries; levels in m; attention by {by}")
    print(f"{'':34}{'temperature':>12}{'RMSE':>9}{'from attention':>16}")

    def line(name, temperature, found, attention=None):
        apart = None if attention is None else np.abs(found - attention).max()
        words = "" if attention is None else f"{apart:16.1e}"
        print(f"{name:34}{temperature:12.2g}{rmse(found, truth):9.4f}{words}")
        return apart

    unit, asked = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (keys, queries))
    for words, k, q, bandwidth in (
        ("of length 1", unit, asked, "loo_common"),
        ("as they are", keys, queries, "loo_common"),
        ("as they are", keys, queries, np.sqrt(WARM)),
    ):
        kernel = NadarayaWatsonRegressor(bandwidth=bandwidth).fit(k, values)
        temperature = float(kernel.bandwidth_[0] ** 2)
        attention = softmax_attention(q, k, values, temperature)
        same = NadarayaWatsonRegressor("softmax", temperature=temperature).fit(k, values).predict(q)
        line(f"attention, keys {words}", temperature, attention)
        assert line("  softmax kernel", temperature, same, attention) < 1e-10
        apart = line("  Gaussian kernel", temperature, kernel.predict(q), attention)
        assert apart < 1e-10 if k is unit else apart > 1e-2
    weights = np.exp(np.sum(keys**2, axis=1) / (2 * temperature))
    weighted = kernel.fit(keys, values, weights).predict(queries)
    assert line(f"  the same, rows weigh up to {weights.max():.0e}", temperature, weighted, attention) < 1e-10


def limit(keys, values, queries, truth):
    """The mean of a Gaussian process for noise from little to infinite, beside kernel regression."""
    some = np.random.default_rng(0).choice(len(keys), ROWS, replace=False)
    X, y = keys[some], values[some]
    best = NadarayaWatsonRegressor(bandwidth="loo_common").fit(X, y)
    bandwidth = np.sqrt(WARM)
    expected = NadarayaWatsonRegressor(bandwidth=bandwidth).fit(X, y).predict(queries)
    kernel = SpectralKernel(Gaussian.from_lengthscale(bandwidth))
    norm = np.linalg.norm(kernel(X), 2)
    best_score = rmse(best.predict(queries), truth)
    print(f"\n{ROWS} rows. Kernel regression has an RMSE of {best_score:.4f} m with its best bandwidth,")
    print(f"{best.bandwidth_[0]:.3f} m, and of {rmse(expected, truth):.4f} m with {bandwidth:.3f} m. Gaussian process")
    print(f"with the latter, |K| = {norm:.0f}:")
    print(f"{'s² / |K|':>10}{'RMSE':>12}{'mean of y / mean of ones, from kernel regression':>52}")
    errors, scores = [], []
    for ratio in NOISE:
        gp = GaussianProcessRegressor(kernel, alpha=ratio * norm, optimizer=None)
        of_y, of_ones = gp.fit(X, np.column_stack([y, np.ones(ROWS)])).predict(queries).T
        scores.append(rmse(of_y, truth))
        errors.append(np.abs(of_y / of_ones - expected).max())
        print(f"{ratio:10.0e}{scores[-1]:12.4f}{errors[-1]:52.1e}")
    errors = np.array(errors)
    linear = (NOISE >= 100) & (NOISE <= 1e8)
    assert np.allclose(errors[linear] * NOISE[linear], errors[linear][0] * NOISE[linear][0], rtol=0.1)
    assert errors[-1] < 1e-12
    assert min(scores) < 0.8 * best_score  # the other end: a Gaussian process solves for the rows


def on_circle(hours):
    """Positions whose distance, in hours along the circle, is nearly that of the straight line between them."""
    radius = len(hours) / (2 * np.pi)
    angles = hours / radius
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def responses(level):
    """What attention over the hours leaves of each frequency, measured and from the spectral density."""
    keys, frequencies = on_circle(np.arange(len(level))), np.fft.rfftfreq(len(level))[1:]
    spectrum = np.fft.rfft(level)[1:]
    smooth, measured, expected = [], [], []
    names = "".join(f"{name:>10}" for name in TIDES)
    print(f"\nShare that attention over {len(level)} hours leaves of waves, measured and exp(-2π² T f²)")
    print(f"{'root of T':>10}{names}{'any frequency, apart':>24}")
    for bandwidth in BANDWIDTHS:
        attention = NadarayaWatsonRegressor("softmax", temperature=bandwidth**2).fit(keys, level)
        smooth.append(attention.predict(keys))
        measured.append((np.fft.rfft(smooth[-1])[1:] / spectrum).real)
        density = Gaussian.from_lengthscale(bandwidth).density(np.append(0, frequencies)[:, None])
        expected.append(density[1:] / density[0])
        apart = np.abs(measured[-1] - expected[-1]).max()
        at = [np.argmin(np.abs(frequencies - f)) for f in TIDES.values()]
        print(f"{bandwidth:8.1f} h" + "".join(f"{share:10.4f}" for share in measured[-1][at]) + f"{apart:24.1e}")
        print(f"{'':10}" + "".join(f"{share:10.4f}" for share in expected[-1][at]))
        assert apart < 1e-3
    return smooth, frequencies, measured, expected


def main():
    level = load_tide().target
    parts = windows(level)
    agree(*parts)
    limit(*parts)
    results = responses(level)
    if importlib.util.find_spec("matplotlib"):
        draw(level, *results)


def draw(level, smooth, frequencies, measured, expected):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", width_ratios=[1.2, 1])
    shown = slice(STORM - 120, STORM + 168)
    days = np.arange(len(level))[shown] / 24 - STORM / 24
    left.plot(days, level[shown], ".", color="0.6", markersize=3, label="level")
    some = np.unique(np.geomspace(1, len(frequencies), 60).astype(int)) - 1
    for i, bandwidth in enumerate(BANDWIDTHS):
        label = f"√T = {bandwidth:g} h"
        left.plot(days, smooth[i][shown], color=f"C{i}", linewidth=1, label=label)
        right.semilogx(frequencies[some], measured[i][some], "o", color=f"C{i}", markersize=3)
        right.semilogx(frequencies, expected[i], color=f"C{i}", linewidth=1, label=label)
    for name, frequency in TIDES.items():
        right.axvline(frequency, color="0.8", linewidth=0.8, zorder=0)
        right.text(frequency, 1.06, name, ha="center", fontsize="small", color="0.4")
    left.set(
        xlabel="days from 11 September 2017", ylabel="water level, m", title="Attention over the hours, and a storm"
    )
    left.legend(loc="upper left", fontsize="small")
    right.set(xlabel="frequency, cycles per hour", ylabel="share of a wave that is left", ylim=(-0.05, 1.14))
    right.set_title("Points: measured. Lines: spectral density over that at 0")
    right.legend(loc="lower left", fontsize="small")
    path = Path(__file__).parent / "output" / "attention_as_regression.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"\nDrawn in {path.parent.name}/{path.name}")


if __name__ == "__main__":
    main()
