"""Structured orthogonal frequencies: products, norms, directions, and what they are good for."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse, stats

from spectralkit import (
    BandLimited,
    CapabilityError,
    FourierFeatures,
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
    _loops,
)
from spectralkit.maps import fourier
from spectralkit.rules import Hadamard, nodes

FAMILIES = [Gaussian(0.1), 2.0 * Matern(0.1, nu=1.5), RationalQuadratic(0.1, alpha=2.0)]


@pytest.mark.parametrize("path", ["compiled", "numpy"])
@pytest.mark.parametrize("d", [1, 2, 8, 100, 512])
def test_the_transform_is_the_product_with_the_hadamard_matrix(d, path, monkeypatch):
    if path == "compiled":
        pytest.importorskip("numba")
    monkeypatch.setattr(_loops, "SMALLEST_WORK", 0 if path == "compiled" else 1 << 62)
    size = 1 << (d - 1).bit_length()
    rows = np.random.default_rng(d).normal(size=(7, size))
    expected = rows @ linalg.hadamard(size)
    _loops.walsh_hadamard(rows)
    assert_allclose(rows, expected, rtol=0, atol=1e-13 * size)


@pytest.mark.parametrize("measure", FAMILIES, ids=repr)
@pytest.mark.parametrize("d", [1, 3, 8, 100])
def test_products_are_those_of_the_frequencies(measure, d):
    for width in (1, 6, 301):
        chosen = Hadamard()(measure, width, d, seed=1)
        assert chosen.width == width
        assert_allclose(chosen.weights.sum(), measure.mass, rtol=1e-13)
        X = np.random.default_rng(0).normal(size=(5, d))
        assert_allclose(chosen.products(X), X @ chosen.frequencies.T, rtol=0, atol=1e-12)


def test_directions_are_orthogonal_and_lengths_those_of_the_family():
    d = 256
    sigma = np.linspace(0.1, 0.3, d)
    omega = Hadamard()(Gaussian(sigma), 16 * d, d, seed=0).frequencies / sigma
    for block in np.split(omega, 8):
        gram = block @ block.T
        assert_allclose(gram, np.diag(np.diag(gram)), rtol=0, atol=1e-9)
    assert stats.kstest(np.linalg.norm(omega, axis=1), stats.chi(d).cdf).pvalue > 1e-3
    padded = Hadamard()(Gaussian(0.2), 4096, 300, seed=0).frequencies / 0.2
    assert stats.kstest((padded**2).sum(axis=1), stats.chi2(300).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    "measure", [Gaussian(0.01), Matern(0.01, nu=1.5), RationalQuadratic(0.01, alpha=2.0)], ids=repr
)
@pytest.mark.parametrize("d", [256, 300])
def test_the_kernel_is_off_by_no_more_than_a_few_thousandths(measure, d):
    """Bias: six standard errors of independent draws and the 5e-3 that the rule's docstring allows."""
    tau = np.random.default_rng(0).normal(size=(6, d))
    tau *= (np.array([0.3, 0.6, 1.0, 1.5, 2.0, 3.0]) / (2 * math.pi * 0.01) / np.linalg.norm(tau, axis=1))[:, None]
    draws = [
        np.cos(2 * math.pi * tau @ Hadamard()(measure, 2 * d, d, seed=s).frequencies.T).mean(axis=1) for s in range(40)
    ]
    k = measure.characteristic(tau)
    variance = np.maximum((1 + measure.characteristic(2 * tau)) / 2 - k**2, 0) / (40 * d)
    assert (np.abs(np.mean(draws, axis=0) - k) <= 6 * np.sqrt(variance) + 5e-3).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_are_those_of_the_dense_frequencies(dtype):
    d = 200
    X = (np.random.default_rng(0).normal(size=(300, d)) + 50).astype(dtype)
    model = FourierFeatures(rule="hadamard", n_components=1001, random_state=0).fit(X)
    Z = model.transform(X)
    dense = fourier(X, type(model.nodes_)(model.frequencies_, model.weights_, model.nodes_.phase), X.mean(axis=0))
    assert Z.dtype == dtype
    assert_allclose(Z, dense, rtol=0, atol=1e-12 if dtype is np.float64 else 1e-7)
    assert_allclose((FourierFeatures(rule="hadamard", random_state=0).fit_transform(X) ** 2).sum(axis=1), 1, rtol=1e-5)
    for n_jobs in (2, -1):
        assert_array_equal(model.set_params(n_jobs=n_jobs).transform(X), Z)
    rows = sparse.csr_array(X)
    assert_allclose(model.transform(rows), Z, rtol=0, atol=1e-11 if dtype is np.float64 else 1e-6)


def test_a_smaller_width_gives_the_first_nodes_of_a_larger_one_and_sigma_rescales_them():
    wide = nodes(Gaussian(0.1), 400, 60, "hadamard", seed=5).frequencies
    assert_array_equal(nodes(Gaussian(0.1), 100, 60, "hadamard", seed=5).frequencies, wide[:50])
    assert_allclose(nodes(Gaussian(0.2), 400, 60, "hadamard", seed=5).frequencies, 2 * wide, rtol=1e-14)
    assert not np.array_equal(nodes(Gaussian(0.1), 400, 60, "hadamard", seed=6).frequencies, wide)


@pytest.mark.parametrize(
    "measure", [Laplacian(0.1), BandLimited(0.1), Gaussian(0.1).on([0, 1, 2]), Gaussian(0.1) + Gaussian(0.2)], ids=repr
)
def test_other_measures_are_refused(measure):
    with pytest.raises(
        CapabilityError, match=r"has no radial in 3 column.*Use rule='orthogonal' or rule='qmc' instead"
    ):
        Hadamard()(measure, 16, 3)
