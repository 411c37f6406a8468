"""Aliasing, seen and cured: a chequered floor to the horizon, drawn by a model of the floor.

The model is a ridge regression on Fourier features of a place on the floor, learnt from 20 000 noisy samples. A pixel
near the camera sees a few centimetres of the floor, a pixel at the horizon many metres. Asked for the middle of what
each pixel sees, the model draws moiré patterns; asked for the mean over it, with the same coefficients, a floor that
fades to grey, as it should. The truth is the mean of 16 x 16 rays in every pixel.

Run it with ``python examples/aliasing.py``; it takes some seconds and draws ``examples/output/aliasing.png`` when
matplotlib is there.
"""

import importlib.util
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge

from spectralkit import IntegratedFourierFeatures, LadderFeatures

WIDTH, HEIGHT, EYE = 240, 160, 1.6  # pixels, pixels, height of the camera in metres
PIXEL = 1 / HEIGHT  # on an image plane at distance 1


def floor(places):
    """Black and white squares of one metre."""
    return (np.floor(places).sum(axis=-1) % 2) * 2 - 1


def seen_at(right, down):
    """The place on the floor, in metres, that a point of the image plane shows."""
    return EYE / down[..., None] * np.stack([right, np.ones_like(right)], axis=-1)


def image_points(per_side):
    """Points of the image plane, (height, width, per_side ** 2), evenly spread in every pixel, below the horizon."""
    within = (np.arange(per_side) + 0.5) / per_side
    across, along = (offset.ravel() for offset in np.meshgrid(within, within))
    columns, rows = np.meshgrid(np.arange(WIDTH) - WIDTH / 2, np.arange(HEIGHT) + 1)
    return PIXEL * (columns[..., None] + across), PIXEL * (rows[..., None] + along)


def footprints():
    """What each pixel sees: the middle, and the covariance of a parallelogram with two sides that span it."""
    right, down = (coordinate[..., 0] for coordinate in image_points(1))
    across = EYE * PIXEL / down[..., None] * np.array([1.0, 0.0])
    along = EYE * PIXEL / down[..., None] ** 2 * np.stack([right, np.ones_like(right)], axis=-1)
    covariance = sum(side[..., :, None] * side[..., None, :] for side in (across, along)) / 12
    return seen_at(right, down).reshape(-1, 2), covariance.reshape(-1, 2, 2)


def model_of_the_floor():
    """Coefficients of the waves that repeat every two metres, up to 11.5 cycles per metre along each axis."""
    k = np.arange(-23, 24)
    frequencies = np.stack(np.meshgrid(k[k > 0], k), axis=-1).reshape(-1, 2) / 2
    waves = LadderFeatures(frequencies, include_input=False)
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 2, size=(20_000, 2))
    values = floor(places) + 0.1 * rng.normal(size=len(places))
    return waves, Ridge(1.0).fit(waves.fit_transform(places), values)


def main():
    waves, ridge = model_of_the_floor()
    places, covariance = footprints()
    averaged = IntegratedFourierFeatures(waves).fit(places, covariance=covariance)
    truth = floor(seen_at(*image_points(16))).mean(axis=-1)
    plain = ridge.predict(waves.transform(places)).reshape(truth.shape)
    mean = ridge.predict(averaged.transform(places, covariance=covariance)).reshape(truth.shape)

    print("Root mean square error of the picture, by distance on the floor")
    print(f"{'metres':>12}{'plain':>8}{'averaged':>10}")
    distance = EYE / (PIXEL * (np.arange(HEIGHT) + 1.5))
    errors = {}
    for low, high in ((0, 3), (3, 10), (10, 30), (30, 1000)):
        rows = (distance >= low) & (distance < high)
        errors[low] = [np.sqrt(np.mean((drawn - truth)[rows] ** 2)) for drawn in (plain, mean)]
        print(f"{low:5} to {high:<4}{errors[low][0]:8.3f}{errors[low][1]:10.3f}")
    assert errors[0][1] < 1.05 * errors[0][0]  # near, nothing is lost
    assert all(plain > 5 * averaged for plain, averaged in (errors[10], errors[30]))
    if importlib.util.find_spec("matplotlib"):
        draw({"truth: 256 rays a pixel": truth, "middle of the pixel": plain, "mean over the pixel": mean})


def draw(pictures):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.1), layout="constrained")
    for axis, (title, picture) in zip(axes, pictures.items(), strict=True):
        axis.imshow(picture, cmap="gray", vmin=-1, vmax=1, interpolation="nearest")
        axis.set(title=title, xticks=[], yticks=[])
    path = Path(__file__).parent / "output" / "aliasing.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"Drawn in {path.parent.name}/{path.name}")


if __name__ == "__main__":
    main()
