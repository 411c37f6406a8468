"""The laws of feature maps."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spectralkit.rules import Nodes
from spectralkit.testing._law import Law, law, run_laws

MAP_LAWS: list[Law] = []


def check_map(feature_map: Callable, d: int, seed: int = 0) -> dict[str, str]:
    """Run the laws of maps ``feature_map(X, nodes, centre)`` whose features multiply to the kernel of the nodes.

    Parameters
    ----------
    feature_map : callable
        Such as `spectralkit.maps.fourier`.
    d : int
        Number of columns.
    seed : int, default=0
        Seed of the points and nodes.

    Returns
    -------
    dict
        For each law, "ran" or why it does not apply.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    >>> from spectralkit.maps import fourier
    >>> from spectralkit.testing import check_map
    >>> check_map(fourier, d=3)["features multiply to the kernel of the nodes"]
    'ran'
    """
    return run_laws(
        MAP_LAWS, _MapCase(feature_map, d, seed), f"{getattr(feature_map, '__name__', feature_map)} in {d} column(s)"
    )


@dataclass
class _MapCase:
    map: Callable
    d: int
    seed: int

    def has(self, need: str) -> bool:
        return need != "torch" or importlib.util.find_spec("torch") is not None

    @cached_property
    def points(self) -> np.ndarray:
        return np.random.default_rng([self.seed, self.d]).normal(size=(11, self.d))

    @cached_property
    def nodes(self) -> Nodes:
        rng = np.random.default_rng([self.seed, self.d, 1])
        return Nodes(rng.normal(size=(6, self.d)), rng.uniform(0.1, 1, size=6))


def _kernel_of(nodes: Nodes, X: np.ndarray) -> np.ndarray:
    """The definition: sum_j w_j cos(2 pi omega_j . (x - y))."""
    lags = X[:, None] - X[None]
    return np.cos(2 * math.pi * lags @ nodes.frequencies.T) @ nodes.weights


@law(MAP_LAWS)
def _features_multiply_to_the_kernel_of_the_nodes(case: _MapCase) -> None:
    Z = case.map(case.points, case.nodes, 0.0)
    assert Z.shape == (len(case.points), case.nodes.width)
    np.testing.assert_allclose(Z @ Z.T, _kernel_of(case.nodes, case.points), rtol=0, atol=1e-12)


@law(MAP_LAWS)
def _the_centre_changes_nothing(case: _MapCase) -> None:
    Z = case.map(case.points, case.nodes, 0.0)
    np.testing.assert_allclose(case.map(case.points, case.nodes, case.points.mean(axis=0) + 0.3), Z, rtol=0, atol=1e-12)


@law(MAP_LAWS)
def _each_row_depends_on_itself_alone(case: _MapCase) -> None:
    Z = case.map(case.points, case.nodes, 0.5)
    one_by_one = np.concatenate([case.map(row[None], case.nodes, 0.5) for row in case.points])
    np.testing.assert_allclose(one_by_one, Z, rtol=0, atol=1e-12)


@law(MAP_LAWS)
def _float32_far_from_the_origin_is_as_good_as_near(case: _MapCase) -> None:
    X = np.rint(case.points * 16) / 16 + 1e6
    Z = case.map(X.astype(np.float32), case.nodes, X.mean(axis=0))
    assert Z.dtype == np.float32
    amplitude = np.sqrt(case.nodes.weights.max())
    np.testing.assert_allclose(Z, case.map(X, case.nodes, X.mean(axis=0)), rtol=0, atol=1e-4 * amplitude)


@law(MAP_LAWS)
def _float32_far_from_the_centre_is_as_good_as_near(case: _MapCase) -> None:
    X = np.rint(case.points * 16) / 16 + 1e6
    amplitude = np.sqrt(case.nodes.weights.max())
    np.testing.assert_allclose(
        case.map(X.astype(np.float32), case.nodes, 0.0), case.map(X, case.nodes, 1e6), rtol=0, atol=1e-5 * amplitude
    )


@law(MAP_LAWS)
def _the_input_is_left_alone(case: _MapCase) -> None:
    X = case.points.copy()
    X.flags.writeable = False
    case.map(X, case.nodes, 0.1)
    np.testing.assert_array_equal(X, case.points)


@law(MAP_LAWS, "torch")
def _torch_maps_as_numpy_does(case: _MapCase) -> None:
    import torch

    Z = case.map(torch.tensor(case.points), case.nodes, 0.2)
    np.testing.assert_allclose(Z.numpy(), case.map(case.points, case.nodes, 0.2), rtol=0, atol=1e-12)
