"""Simplex directions: their angles, their law, and what they do to Fourier features."""

import math

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from spectralkit import CapabilityError, FourierFeatures, Gaussian, Matern, SpectralMixture
from spectralkit.rules import RULES, Orthogonal, Simplex, nodes

UNIT = 1 / (2 * math.pi)  # 2 pi omega is standard normal
SIX_SIGMA_P = 2e-9


def directions(n, d, seed=0):
    omega = nodes(Gaussian(UNIT), 2 * n, d, "simplex", seed).frequencies
    return omega / np.linalg.norm(omega, axis=1, keepdims=True)


@pytest.mark.parametrize("d", [2, 3, 4, 16, 100, 784])
def test_directions_of_a_block_are_the_vertices_of_a_regular_simplex(d):
    blocks = directions(3 * d, d).reshape(3, d, d)
    expected = np.full((d, d), -1 / (d - 1))
    np.fill_diagonal(expected, 1.0)
    assert_allclose(blocks @ blocks.mT, np.broadcast_to(expected, blocks.shape), rtol=0, atol=1e-13)
    assert_allclose(blocks.sum(axis=1), 0.0, rtol=0, atol=1e-12)
    if d > 2:
        assert np.abs(blocks[0] @ blocks[1].T - expected).max() > 1e-3  # blocks are turned independently


@pytest.mark.parametrize(("d", "count"), [(3, 1), (3, 2), (3, 5), (4, 7), (16, 27), (2, 3)])
def test_an_incomplete_block_is_the_beginning_of_a_whole_one(d, count):
    whole = nodes(Gaussian([0.1] * d), 2 * 4 * d, d, "simplex", 5).frequencies
    part = nodes(Gaussian([0.1] * d), 2 * count, d, "simplex", 5).frequencies
    assert part.shape == (count, d)
    assert_allclose(part, whole[:count], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_every_direction_is_uniform_and_independent_of_the_lengths(d):
    n = 4_000
    omega = nodes(Gaussian(0.3), 2 * d * n, d, "simplex", seed=1).frequencies / 0.3
    lengths = np.linalg.norm(omega, axis=1)
    assert stats.kstest(lengths, stats.chi(d).cdf).pvalue > SIX_SIGMA_P
    blocks = (omega / lengths[:, None]).reshape(n, d, d)
    for i, j in ((0, 0), (d - 1, 0), (0, d - 1), (d - 1, d - 1)):
        entries = blocks[:, i, j]  # the square of a coordinate is Beta(1/2, (d - 1)/2), its sign is fair
        assert stats.kstest(entries**2, stats.beta(0.5, (d - 1) / 2).cdf).pvalue > SIX_SIGMA_P
        assert abs(np.sign(entries).mean()) <= 6 / math.sqrt(n)
    # E s_a s_b^T = -I / (d (d - 1)): the turn leaves no preferred plane
    outer = np.einsum("na,nb->ab", blocks[:, 0], blocks[:, 1]) / n
    assert np.abs(outer + np.eye(d) / (d * (d - 1))).max() <= 6 / math.sqrt(n)
    u = (stats.chi(d).cdf(lengths) - 0.5).reshape(n, d) * math.sqrt(12)
    for a, b in ((u[:, 0], u[:, 1]), (u[:, 0], math.sqrt(d) * blocks[:, 0, 0]), (u[:, 0], blocks[:, 1, 0])):
        assert abs((a * b).mean()) <= 6 / math.sqrt(n)


def test_in_one_column_it_is_independent_signs():
    omega = nodes(Gaussian(0.3), 2 * 3_000, 1, "simplex", seed=0).frequencies[:, 0] / 0.3
    assert stats.kstest(omega, "norm").pvalue > SIX_SIGMA_P
    for lag in (1, 2):  # no sign says anything about another
        assert abs((np.sign(omega[lag:]) * np.sign(omega[:-lag])).mean()) <= 6 / math.sqrt(3_000)


def test_it_shares_the_streams_of_the_orthogonal_rule():
    """The first direction of a block and all lengths are the same."""
    ours, theirs = (rule(Gaussian(0.1), 2 * 9, 3, seed=7).frequencies for rule in (Simplex(), Orthogonal()))
    assert_allclose(ours[::3], theirs[::3], rtol=1e-12, atol=0)
    assert_allclose(np.linalg.norm(ours, axis=1), np.linalg.norm(theirs, axis=1), rtol=1e-12, atol=0)


@pytest.mark.parametrize("measure", [Gaussian([0.1, 0.2, 0.3]), Matern([0.3, 0.2, 0.1], nu=0.5)], ids=repr)
def test_blocks_are_simplices_once_the_columns_are_unscaled(measure):
    omega = nodes(measure, 2 * 6, 3, "simplex", seed=4).frequencies / measure.sigma
    omega /= np.linalg.norm(omega, axis=1, keepdims=True)
    assert_allclose(omega[:3].sum(axis=0), 0.0, rtol=0, atol=1e-14)


def fourier_pair(d, z, cosine):
    """mpmath: E cos(w_i . x) cos(w_j . x) for |x|^2 = z, lengths chi(d) and a given cosine of their angle."""
    half = mp.mpf(d) / 2

    def mean(sign):
        def integrand(phi):
            q = 1 + sign * cosine * mp.sin(phi)
            return mp.sin(phi) ** (d - 1) * mp.hyp1f1(d, half, -q * z / 2)

        return mp.quad(integrand, [0, mp.pi]) / mp.quad(lambda phi: mp.sin(phi) ** (d - 1), [0, mp.pi])

    return float((mean(1) + mean(-1)) / 2)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_for_fourier_features_it_has_the_variance_of_its_angle_and_gains_nothing(d):
    z, blocks = 1.5, 6_000
    x = np.full(d, math.sqrt(z / d))
    omega = nodes(Gaussian(UNIT), 2 * d * blocks, d, "simplex", seed=d).frequencies
    estimates = np.cos(2 * math.pi * omega @ x).reshape(blocks, d).mean(axis=1)
    k = math.exp(-z / 2)
    own = (1 - math.exp(-z)) ** 2 / 2
    closed = (own + (d - 1) * (fourier_pair(d, z, -mp.mpf(1) / (d - 1)) - k**2)) / d
    squares = (estimates - k) ** 2
    assert abs(squares.mean() - closed) <= 6 * squares.std() / math.sqrt(blocks)
    orthogonal = (own + (d - 1) * (fourier_pair(d, z, 0) - k**2)) / d
    assert orthogonal <= closed * (1 + 1e-12)


def test_the_name_the_object_and_what_it_requires():
    X = np.random.default_rng(0).normal(size=(20, 3))
    named, given = (FourierFeatures(rule=rule, random_state=0).fit(X) for rule in ("simplex", Simplex()))
    assert_array_equal(named.frequencies_, given.frequencies_)
    assert RULES["simplex"] == Simplex() != Orthogonal()
    mixture = SpectralMixture([1.0], [[0.1, 0.2]], [[0.1, 0.1]])
    with pytest.raises(CapabilityError, match=r"has no polar in 2 column\(s\)\. Use rule='qmc' or rule='iid' instead"):
        nodes(Gaussian(0.1) * mixture, 4, 2, "simplex")
