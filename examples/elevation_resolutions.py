"""An elevation model trained at one resolution and queried at another, with and without footprints.

A cell of a coarse grid is the mean of the terrain over it. A model of points, asked about the cell, answers for its
centre; on features that are averaged over the cell the same ridge regression answers for the cell. Trained on cells of
one size, both are asked about cells of other sizes, whose true means are known.

Run it with ``python examples/elevation_resolutions.py``; it takes a few seconds.
"""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from spectralkit import FourierFeatures, IntegratedFourierFeatures
from spectralkit.datasets import load_elevation

ROWS, COLUMNS = 320, 384  # of the map; divisible by all cell sizes below
TRAINED, QUERIED = 8, (2, 4, 8, 16, 32)  # sides of square cells, in pixels of 93 m x 75 m
waves = FourierFeatures(sigma=3e-4, n_components=1024, random_state=0)  # cycles per metre


def cells(size):
    """Centres and sides (east, north, width, height in metres) of all cells of so many pixels a side; mean heights."""
    hills = load_elevation()
    position = hills.data.reshape(*hills.grid.shape, 2)[:ROWS, :COLUMNS]
    pixel = np.abs(position[1, 1] - position[0, 0])

    def mean(values):
        return values.reshape(ROWS // size, size, COLUMNS // size, size, -1).mean(axis=(1, 3)).squeeze()

    centres = mean(position).reshape(-1, 2)
    return np.hstack([centres, np.tile(size * pixel, (len(centres), 1))]), mean(hills.grid[:ROWS, :COLUMNS]).ravel()


def main():
    X, height = cells(TRAINED)
    points = make_pipeline(waves, Ridge(0.01)).fit(X[:, :2], height)
    footprints = IntegratedFourierFeatures(waves, footprint="box", width="columns", n_width_columns=2)
    areas = make_pipeline(footprints, Ridge(0.01)).fit(X, height)

    print(f"Trained on {len(X)} cells of {TRAINED} x {TRAINED} pixels. Error in metres, root mean square:")
    print(f"{'cells of':>10}{'number':>8}{'as points':>11}{'as areas':>10}")
    errors = {}
    for size in QUERIED:
        X, height = cells(size)
        predictions = points.predict(X[:, :2]), areas.predict(X)
        errors[size] = [np.sqrt(np.mean((predicted - height) ** 2)) for predicted in predictions]
        print(f"{size:>5} x {size:<2}{len(X):8}{errors[size][0]:11.1f}{errors[size][1]:10.1f}")

    as_points, as_areas = errors[TRAINED]
    assert abs(as_areas / as_points - 1) < 0.05  # at the resolution of training both learn the same
    for size in (16, 32):  # coarser cells: the point model shows the detail of the centre, the other the mean
        as_points, as_areas = errors[size]
        assert as_points > 1.7 * as_areas


if __name__ == "__main__":
    main()
