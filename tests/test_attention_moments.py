"""Sums of positive features against fifty digits, kernel matrices, brute force and simulation."""

import pickle

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from spectralkit import PositiveRandomFeatures
from spectralkit.moments import AttentionMoments, GramMoments, _attention

EPS = np.finfo(np.float64).eps


def draw(n=60, m=5, k=2, q=7, seed=0, size=0.0, offset=0.0):
    """Logarithms of features of rows and of queries, and values.

    Rows and features are up to `size` apart, half of it each; the queries make up for the features, so that many count.
    """
    rng = np.random.default_rng([seed, n, m, k])
    of_feature = size / 2 * rng.permutation(np.linspace(-1, 1, m))
    of_row = size / 2 * rng.choice([-1.0, 0.5, 1.0], size=(n, 1))
    logs = rng.normal(size=(n, m)) * 2 + of_feature + of_row
    queries = rng.normal(size=(q, m)) * 2 - of_feature + size / 2 * rng.uniform(-1, 1, size=(q, 1))
    # steps of 2^-20 keep values with an offset of 1e8 exact
    return logs, np.round(rng.normal(size=(n, k)) * 2**20) / 2**20 + offset, queries


def exact(logs, values, queries, weights=None):
    """Logarithms of the totals, averages, and standard errors, in fifty digits; None where the total is zero."""
    weights = np.ones(len(logs)) if weights is None else weights
    exp = lambda x: mp.exp(x) if x > -np.inf else mp.mpf(0)  # noqa: E731
    with mp.workdps(50):
        rows = [[exp(mp.mpf(a)) * mp.mpf(w) for a in row] for row, w in zip(logs, weights, strict=True)]
        B = [mp.fsum(column) for column in zip(*rows, strict=True)]
        A = [
            [mp.fsum(row[j] * mp.mpf(v) for row, v in zip(rows, values[:, c], strict=True)) for j in range(len(B))]
            for c in range(values.shape[1])
        ]
        totals, averages, errors = [], [], []
        for query in queries:
            phi = [exp(mp.mpf(a)) for a in query]
            total = mp.fdot(phi, B)
            totals.append(float(mp.log(total)))
            averages.append([mp.fdot(phi, a) / total for a in A])
            terms = [
                mp.fsum((p * (a - r * b)) ** 2 for p, a, b in zip(phi, column, B, strict=True))
                for column, r in zip(A, averages[-1], strict=True)
            ]
            m = len(B)
            errors.append([mp.sqrt(term * m / (m - 1)) / total if m > 1 else mp.inf for term in terms])
        return np.array(totals), np.array(averages, dtype=float), np.array(errors, dtype=float)


def logs_and_averages(sums):
    return sums.log_scale + np.log(sums.total), sums.values / sums.total[:, None]


def assert_same(a, b, queries, rtol=1e-12):
    """Two moments that nobody could tell apart by what they say of queries."""
    assert a.weight == pytest.approx(b.weight, rel=rtol)
    (logs, averages), (other_logs, other_averages) = (logs_and_averages(each.sums(queries)) for each in (a, b))
    size = np.abs(queries[queries > -np.inf]).max()
    assert_allclose(logs, other_logs, rtol=0, atol=rtol + 8 * EPS * size)
    assert_allclose(averages, other_averages, rtol=4 * EPS, atol=rtol)
    assert_allclose(a.standard_errors(queries), b.standard_errors(queries), rtol=1e-10, atol=rtol)


def state(moments):
    return pickle.dumps(moments)


# -- what they are -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("size", [0.0, 700.0, 2000.0])
@pytest.mark.parametrize(("m", "k"), [(5, 2), (1, 1), (2, 1)])
def test_sums_and_standard_errors_are_those_of_fifty_digits(m, k, size, offset, weighted):
    logs, values, queries = draw(20, m, k, 5, size=size, offset=offset)
    assert np.abs(logs).max() > 0.9 * size
    assert np.abs(queries).max() > 0.5 * size
    weights = np.random.default_rng(1).uniform(0, 3, size=20) if weighted else None
    moments = AttentionMoments(m, k).update(logs, values, weights)
    sums = moments.sums(queries)
    assert (sums.log_scale.shape, sums.total.shape, sums.values.shape) == ((5,), (5,), (5, k))
    assert moments.weight == pytest.approx(20 if weights is None else weights.sum(), rel=1e-14)
    log_totals, averages, errors = exact(logs, values, queries, weights)
    rounding = 1e-14 + 8 * EPS * size  # of a logarithm, absolute; of a feature, relative
    got_totals, got = logs_and_averages(sums)
    assert_allclose(got_totals, log_totals, rtol=0, atol=rounding)
    assert_allclose(got, averages, rtol=2 * EPS, atol=4 * rounding)  # the offset costs the last bit of the sum alone
    assert_allclose(moments.standard_errors(queries), errors, rtol=1e-13 + 100 * rounding, atol=4 * rounding)


@pytest.mark.parametrize("size", [0.0, 2000.0])
def test_sums_of_many_rows_are_those_of_logsumexp(size, monkeypatch):
    monkeypatch.setattr(_attention, "VALUES_PER_BLOCK", 1)  # 64 rows
    logs, values, queries = draw(500, 40, 1, 130, size=size)
    weights = np.random.default_rng(1).uniform(0, 3, size=500)
    products = logsumexp(logs[:, None] + queries, axis=2).T + np.log(weights)  # (130, 500)
    got_totals, got = logs_and_averages(AttentionMoments(40).update(logs, values, weights).sums(queries))
    log_totals = logsumexp(products, axis=1)
    assert_allclose(got_totals, log_totals, rtol=0, atol=1e-13 + 8 * EPS * size)
    assert_allclose(got, np.exp(products - log_totals[:, None]) @ values, rtol=0, atol=1e-12 + 16 * EPS * size)


@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_averages_of_positive_random_features(kernel, dtype):
    rng = np.random.default_rng(0)
    X, Y, v = rng.normal(size=(80, 3)).astype(dtype), rng.normal(size=(9, 3)).astype(dtype), rng.normal(size=(80, 2))
    features = PositiveRandomFeatures(kernel, temperature=4.0 if kernel == "softmax" else None, random_state=0).fit(X)
    sums = AttentionMoments(256, 2).update(features.log_transform(X), v).sums(features.log_transform(Y))
    K = features.transform(Y).astype(np.float64) @ features.transform(X).astype(np.float64).T
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    assert_allclose(np.exp(sums.log_scale) * sums.total, K.sum(axis=1), rtol=rtol)
    assert_allclose(np.exp(sums.log_scale)[:, None] * sums.values, K @ v, rtol=rtol, atol=rtol * K.sum(axis=1).max())


def test_values_in_one_dimension_lists_and_other_numbers():
    logs, _, queries = draw(20, 5, 1)
    whole = np.round(logs)
    v = np.arange(20) % 3
    expected = AttentionMoments(5).update(whole, v[:, None].astype(float)).sums(queries)
    for given, values in [
        (whole, v),
        (whole.tolist(), v.tolist()),
        (whole.astype(np.int16), v.astype(np.uint8)),
        (whole.astype(np.float32), v.astype(np.float32)),
        (whole.astype(np.float16), v.astype(object)),
        (np.asfortranarray(whole), v),
        (np.repeat(whole, 2, axis=0)[::2], np.repeat(v, 2)[::2]),
    ]:
        got = AttentionMoments(5).update(given, values)
        for a, b in zip(got.sums(queries.tolist()), expected, strict=True):
            assert_array_equal(a, b)


def test_float32_is_computed_in_double_precision():
    logs, values, queries = draw(300, 8, 2, size=500.0)
    logs, queries, values = logs.astype(np.float32), queries.astype(np.float32), values.astype(np.float32)
    single = AttentionMoments(8, 2).update(logs, values)
    double = AttentionMoments(8, 2).update(logs.astype(np.float64), values.astype(np.float64))
    assert state(single) == state(double)
    for a, b in zip(single.sums(queries), double.sums(queries.astype(np.float64)), strict=True):
        assert a.dtype == np.float64
        assert_array_equal(a, b)
    assert_array_equal(single.standard_errors(queries), double.standard_errors(queries.astype(np.float64)))

    large = AttentionMoments(8).update(logs, np.full(300, 1e30, dtype=np.float32))  # its square is no float32
    sums = large.sums(queries)
    assert_allclose(sums.values[:, 0] / sums.total, np.float32(1e30), rtol=2 * EPS)


def test_one_row_is_its_own_average():
    for shift in (-2000.0, 0.0, 2000.0):
        moments = AttentionMoments(3, 2).update([[shift, shift + 1, shift - 3]], [[1.25, -7.0]], 0.3)
        sums = moments.sums([[-shift, 5.0, 2.0], [0.0, 0.0, 0.0]])
        assert_allclose(sums.values / sums.total[:, None], [[1.25, -7.0]] * 2, rtol=4 * EPS)
        assert_array_equal(moments.standard_errors([[-shift, 5.0, 2.0]]), 0.0)


# -- batches -----------------------------------------------------------------------------------------------------------

SIZES = [[1] * 60, [7] * 8 + [4], [59, 1], [1, 59], [0, 30, 0, 30, 0]]


@pytest.mark.parametrize("order", ["growing", "shrinking", "mixed"])
@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: f"{len(sizes)} batches")
def test_batches_of_any_size_are_one_update(sizes, order):
    logs, values, queries = draw(size=300.0)
    logs += np.linspace(-4, 4, 60)[:, None] if order == "mixed" else 0.0
    if order != "mixed":
        logs[:] = np.sort(logs, axis=0)[:: 1 if order == "growing" else -1]  # the scales grow all the time, or never
    weights = np.random.default_rng(2).uniform(0, 2, size=60)
    for sample_weight in (None, weights):
        moments, start = AttentionMoments(5, 2), 0
        for size in sizes:
            rows = slice(start, start + size)
            moments.update(logs[rows], values[rows], None if sample_weight is None else sample_weight[rows])
            start += size
        assert_same(moments, AttentionMoments(5, 2).update(logs, values, sample_weight), queries)


@pytest.mark.parametrize("n", [2, 63, 64, 65, 300])
def test_the_boundaries_of_blocks_do_not_show(n, monkeypatch):
    logs, values, _ = draw(n, size=50.0)
    weights = np.random.default_rng(2).uniform(0.5, 2, size=n)
    weights[70:200] = 0  # a whole block of weight zero
    own = values, weights
    expected = AttentionMoments(5, 2).update(logs, values, weights)
    sums, errors = expected.sums(logs, left_out=own), expected.standard_errors(logs)
    monkeypatch.setattr(_attention, "VALUES_PER_BLOCK", 1)  # 64 rows
    assert len(list(AttentionMoments(5, 2)._blocks(n))) == -(-n // 64)
    moments = AttentionMoments(5, 2).update(logs, values, weights)
    assert_same(moments, expected, logs)
    for a, b in zip(moments.sums(logs, left_out=own), sums, strict=True):
        assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    assert_allclose(moments.standard_errors(logs), errors, rtol=1e-10, atol=1e-12)


def test_weights_are_repetitions():
    logs, values, queries = draw(30, size=100.0)
    repeats = np.random.default_rng(0).integers(0, 4, size=30)
    rows = np.repeat(np.arange(30), repeats)
    repeated = AttentionMoments(5, 2).update(logs[rows], values[rows])
    assert_same(AttentionMoments(5, 2).update(logs, values, repeats), repeated, queries)
    twice = AttentionMoments(5, 2).update(logs, values).update(logs, values)
    assert_same(AttentionMoments(5, 2).update(logs, values, 2.0), twice, queries)


def test_weights_of_any_size():
    """A weight of e^-300 on a feature of e^300 is a weight of 1 on a feature of 1."""
    logs, values, queries = draw(30, size=20.0)
    shift = np.random.default_rng(0).uniform(-300, 300, size=30)
    moved = AttentionMoments(5, 2).update(logs + shift[:, None], values, np.exp(-shift))
    (totals, averages), (expected_totals, expected) = (
        logs_and_averages(each.sums(queries)) for each in (moved, AttentionMoments(5, 2).update(logs, values))
    )
    assert_allclose(totals, expected_totals, rtol=0, atol=1e-12)
    assert_allclose(averages, expected, rtol=0, atol=1e-12)


def test_rows_of_weight_zero_do_nothing_wherever_they_are():
    logs, values, queries = draw(30)
    weights = np.ones(30)
    weights[[0, 7, 29]] = 0
    kept = weights > 0
    logs[~kept], values[~kept] = 5000.0, -1e40  # the first row must not be what the others are measured from
    expected = AttentionMoments(5, 2).update(logs[kept], values[kept])
    assert_same(AttentionMoments(5, 2).update(logs, values, weights), expected, queries)
    batchwise = AttentionMoments(5, 2)
    for row in range(30):
        batchwise.update(logs[[row]], values[[row]], weights[[row]])
    assert_same(batchwise, expected, queries)


@pytest.mark.parametrize("weights", [0, 0.0, np.zeros(5), [0] * 5, None])
def test_batches_that_hold_nothing_do_nothing(weights):
    logs, values, queries = draw(20)
    moments = AttentionMoments(5, 2).update(logs, values)
    before = state(moments)
    if weights is None:
        moments.update(logs[:0], values[:0]).update(logs[:0], values[:0], np.empty(0))
    else:
        moments.update(logs[:5] + 1000, values[:5], weights)
    assert state(moments) == before
    empty = AttentionMoments(5, 2).update(logs[:5], values[:5], 0.0)
    assert state(empty) == state(AttentionMoments(5, 2))
    assert_same(empty.update(logs, values), moments, queries)


# -- merge, subtract, scale --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("size", [0.0, 1000.0])
def test_merging_is_associative_and_commutative_and_adds_rows(size, offset):
    logs, values, queries = draw(90, size=size, offset=offset)
    values[30:50] += 3  # parts that are measured from different values
    cuts = [slice(0, 30), slice(30, 50), slice(50, 90)]
    whole = AttentionMoments(5, 2).update(logs, values)

    def part(i):
        return AttentionMoments(5, 2).update(logs[cuts[i]], values[cuts[i]])

    orders = [
        part(0).merge(part(1)).merge(part(2)),
        part(0).merge(part(1).merge(part(2))),
        part(2).merge(part(1)).merge(part(0)),
        part(1).merge(part(2).merge(part(0))),
        AttentionMoments(5, 2).merge(part(1)).merge(AttentionMoments(5, 2)).merge(part(0)).merge(part(2)),
    ]
    for merged in orders:
        assert merged.weight == 90
        assert_same(merged, whole, queries)
    assert_same(whole.copy().merge(whole), AttentionMoments(5, 2).update(logs, values, 2.0), queries)
    assert_same(whole.copy().merge(AttentionMoments(5, 2)), whole, queries)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("size", [0.0, 600.0])
def test_subtracting_undoes_merging(size, offset):
    logs, values, queries = draw(80, size=size, offset=offset)
    weights = np.random.default_rng(0).uniform(0.5, 2, size=80)
    whole = AttentionMoments(5, 2).update(logs, values, weights)
    for fold in np.array_split(np.random.default_rng(3).permutation(80), 4):
        rest = np.setdiff1d(np.arange(80), fold)
        part = AttentionMoments(5, 2).update(logs[fold], values[fold], weights[fold])
        left = whole.copy().subtract(part)
        assert_same(left, AttentionMoments(5, 2).update(logs[rest], values[rest], weights[rest]), queries, 1e-11)
        assert_same(left.merge(part), whole, queries)


def test_subtracting_everything_leaves_new_moments():
    logs, values, queries = draw(20, size=500.0, offset=5.0)
    part = [AttentionMoments(5, 2).update(logs[rows], values[rows], 0.1) for rows in (slice(9), slice(9, 20))]
    moments = AttentionMoments(5, 2).update(logs, values, 0.1).subtract(part[0]).subtract(part[1])
    assert state(moments) == state(AttentionMoments(5, 2))  # though 0.1 added twenty times is not 2
    moments.update(logs, values)
    assert state(moments.subtract(moments)) == state(AttentionMoments(5, 2))
    moments.update(logs, values).subtract(AttentionMoments(5, 2))
    assert state(moments) == state(AttentionMoments(5, 2).update(logs, values))
    assert_array_equal(AttentionMoments(5, 2).sums(queries).total, 0.0)


def test_what_is_left_of_a_feature_is_nothing_rather_than_rounding():
    """The rows taken out are all that float64 knows of the second feature, and little of the first."""
    for seed in range(20):
        logs, values, _ = draw(100, 2, 1, seed=seed)
        logs[:, 0] -= 5.0
        kept, kept_values = np.array([[0.0, -50.0], [0.5, -55.0]]), np.array([1.0, 3.0])
        whole = AttentionMoments(2).update(logs, values).update(kept, kept_values)
        left = whole.copy().subtract(AttentionMoments(2).update(logs[::-1], values[::-1]))
        pairs = (left, [[0.0, 30.0]]), (AttentionMoments(1).update(kept[:, :1], kept_values), [[0.0]])
        for got, expected in zip(*(logs_and_averages(a.sums(q)) for a, q in pairs), strict=True):
            assert_allclose(got, expected, rtol=0, atol=1e-11)
        nothing = left.sums([[-np.inf, 40.0]])
        assert (nothing.log_scale, nothing.total, nothing.values) == (-np.inf, 0.0, 0.0)
        assert_same(left.update(logs, values), whole, np.array([[0.0, 40.0], [2.0, -3.0]]))


@pytest.mark.parametrize("factor", [0.5, 1e-3, 7, np.float32(3)])
def test_scaling_is_scaling_of_the_weights(factor):
    logs, values, queries = draw(30, size=200.0)
    scaled = AttentionMoments(5, 2).update(logs[:20], values[:20]).scale(factor)
    assert type(scaled.weight) is float
    scaled.update(logs[20:], values[20:])
    weights = np.r_[np.full(20, float(factor)), np.ones(10)]
    assert_same(scaled, AttentionMoments(5, 2).update(logs, values, weights), queries)


def test_what_is_forgotten_leaves_room_for_what_comes():
    """A row e^1000 times as large as others counts no more after 2000 halvings, and others do not vanish beside it."""
    logs, values, queries = draw(2000)
    moments = AttentionMoments(5, 2).update(np.full((1, 5), 1000.0), np.full((1, 2), 1e6))
    for i in range(2000):
        moments.scale(0.5).update(logs[[i]], values[[i]])
    recent = AttentionMoments(5, 2).update(logs[-1000:], values[-1000:], 0.5 ** np.arange(999, -1, -1.0))
    _, averages = logs_and_averages(recent.sums(queries))
    # values are measured from the first, 1e6 away
    assert_allclose(logs_and_averages(moments.sums(queries))[1], averages, rtol=0, atol=1e6 * 100 * EPS)
    for _ in range(5):
        moments.scale(1e-300)
    assert state(moments) == state(AttentionMoments(5, 2))  # a weight of zero is that of nothing


# -- zeros -------------------------------------------------------------------------------------------------------------


def test_features_that_are_zero():
    logs, values, queries = draw(40, 6, size=300.0)
    zero = np.random.default_rng(0).uniform(size=logs.shape) < 0.3
    zero[:, 2], zero[:, 3] = True, False  # one that is zero in all rows
    logs[zero] = -np.inf
    queries[:3, 4:] = -np.inf
    kept = [0, 1, 3, 4, 5]
    moments = AttentionMoments(6, 2).update(logs[:25], values[:25]).update(logs[25:], values[25:])
    fewer = AttentionMoments(5, 2).update(logs[:, kept], values)
    for a, b in zip(moments.sums(queries), fewer.sums(queries[:, kept]), strict=True):
        assert_allclose(a, b, rtol=1e-13)
    log_totals, averages, errors = exact(logs, values, queries)
    got_totals, got = logs_and_averages(moments.sums(queries))
    assert_allclose(got_totals, log_totals, rtol=0, atol=1e-12)
    assert_allclose(got, averages, rtol=0, atol=1e-12)
    assert_allclose(moments.standard_errors(queries), errors, rtol=1e-10)  # a zero was drawn all the same
    left = moments.copy().subtract(AttentionMoments(6, 2).update(logs[25:], values[25:]))
    assert_same(left, AttentionMoments(6, 2).update(logs[:25], values[:25]), queries, 1e-11)


def test_queries_that_meet_nothing():
    moments = AttentionMoments(3, 2).update([[0.0, -np.inf, -np.inf]], [[1.0, 2.0]])
    queries = np.array([[-np.inf, 5.0, -np.inf], [-np.inf] * 3, [-800.0, 5.0, 900.0]])
    for left_out in (None, (np.ones((3, 2)), None)):
        sums = moments.sums(queries, left_out=left_out)
        assert_array_equal(sums.log_scale, [-np.inf, -np.inf, -800.0])
        assert_array_equal(sums.total[:2], 0.0)
        assert_array_equal(sums.values[:2], 0.0)
    assert_array_equal(moments.sums(queries).values[2], [1.0, 2.0])
    assert_array_equal(moments.standard_errors(queries), [[np.inf] * 2, [np.inf] * 2, [0.0] * 2])
    for each in (AttentionMoments(3, 2), moments):
        sums = each.sums(np.empty((0, 3)))
        assert (sums.log_scale.shape, sums.total.shape, sums.values.shape) == ((0,), (0,), (0, 2))
        assert each.standard_errors(np.empty((0, 3))).shape == (0, 2)
    assert_array_equal(AttentionMoments(3, 2).sums(queries).log_scale, -np.inf)


# -- leave one out -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("size", [0.0, 500.0, 2000.0])
def test_leaving_out_the_own_row_is_to_have_never_added_it(size, offset, weighted):
    logs, values, _ = draw(24, 4, 2, size=size, offset=offset)
    logs[5], values[5] = logs[4], values[4]  # an equal row stays
    weights = np.random.default_rng(1).choice([0.0, 0.5, 2.0], size=24) if weighted else None
    moments = AttentionMoments(4, 2)
    for rows in np.array_split(np.arange(24), 3):
        moments.update(logs[rows], values[rows], None if weights is None else weights[rows])
    sums, whole = moments.sums(logs, left_out=(values, weights)), moments.sums(logs)
    assert_array_equal(sums.log_scale, whole.log_scale)
    # rounding errors are those of the total with the own row, and nothing is left that is no larger
    rounding = 1e-12 + 4 * EPS * np.abs(logs).max()
    seen = 0
    for i in range(24):
        rest = np.arange(24) != i
        others = AttentionMoments(4, 2).update(logs[rest], values[rest], None if weights is None else weights[rest])
        total, average = (each[0] for each in logs_and_averages(others.sums(logs[[i]])))
        part = np.exp(total - whole.log_scale[i])
        assert abs(sums.total[i] - part) <= 2 * rounding * whole.total[i]
        if part > 100 * rounding * whole.total[i]:
            error = np.abs(sums.values[i] / sums.total[i] - average)
            assert (error <= 3 * EPS * offset + 20 * rounding * whole.total[i] / part).all()
            seen += 1
        elif part < 0.1 * rounding * whole.total[i]:
            assert sums.total[i] == 0
            assert_array_equal(sums.values[i], 0.0)
    assert seen >= 5


@pytest.mark.parametrize("shift", [-2000.0, -0.3, 0.0, 1234.5, 2000.0])
def test_a_row_on_its_own_leaves_nothing(shift):
    logs, values, _ = draw(1, 50, 2)
    logs += shift
    for weight in (None, [0.3], [1e-200]):
        sums = AttentionMoments(50, 2).update(logs, values, weight).sums(logs, left_out=(values, weight))
        assert_array_equal(sums.total, 0.0)
        assert_array_equal(sums.values, 0.0)
    # nor does one that hides all others
    logs = np.vstack([logs - 60.0, logs, logs - 60.0])
    values = np.vstack([values + 1, values, values - 1])
    sums = AttentionMoments(50, 2).update(logs, values).sums(logs, left_out=(values, None))
    assert (sums.total[1], *sums.values[1]) == (0.0, 0.0, 0.0)
    assert (sums.total[[0, 2]] > 0).all()


def test_leaving_out_a_row_whose_weight_was_scaled():
    logs, values, _ = draw(30, size=100.0)
    weights = 0.8 ** np.arange(30)[::-1]
    moments = AttentionMoments(5, 2)
    for i in range(30):
        moments.scale(0.8).update(logs[[i]], values[[i]])
    sums = moments.sums(logs, left_out=(values, weights))
    expected = AttentionMoments(5, 2).update(logs, values, weights).sums(logs, left_out=(values, weights))
    assert_allclose(sums.total, expected.total * np.exp(expected.log_scale - sums.log_scale), rtol=1e-9, atol=1e-12)
    assert_allclose(sums.values, expected.values * np.exp(expected.log_scale - sums.log_scale)[:, None], atol=1e-11)
    for shift in (0.0, 2e3, 1e5):  # rounding errors grow with the logarithms
        for weight, factor in np.random.default_rng(0).uniform(0.1, 1, size=(30, 2)):
            one = AttentionMoments(5, 2).update(logs[:1] + shift, values[:1], weight).scale(factor)
            assert_array_equal(one.sums(logs[:1] + shift, left_out=(values[:1], weight * factor)).total, 0.0)


@pytest.mark.parametrize(("log_ratio", "told"), [(-10.0, True), (-20.0, True), (-25.0, True), (-30.0, False)])
def test_what_is_left_is_told_from_rounding(log_ratio, told):
    """A second row whose kernel with the first is e^-25 of that of the first with itself is seen, to 1e-5 of itself."""
    logs, *_ = draw(1, 50, 1)
    sums = AttentionMoments(50).update(np.vstack([logs, logs + log_ratio]), [3.0, 4.0]).sums(logs, ([3.0], None))
    total = AttentionMoments(50).update(logs, [3.0]).sums(logs).total
    if told:
        assert_allclose(sums.total / total, np.exp(log_ratio), rtol=0, atol=16 * EPS)
        assert_allclose(sums.values[:, 0] / sums.total, 4.0, rtol=16 * EPS * np.exp(-log_ratio))
    else:
        assert_array_equal(sums.total, 0.0)


def test_what_was_taken_out_is_not_left_out_again():
    """A feature of which nothing was left has no share of the own row either."""
    logs, values = np.array([[0.0, -50.0], [0.5, -55.0], [1.0, 0.0]]), np.array([1.0, 3.0, 1e3])
    moments = AttentionMoments(2).update(logs, values).subtract(AttentionMoments(2).update(logs[2:], values[2:]))
    sums = moments.sums(logs[:2], left_out=(values[:2], None))
    assert_allclose(sums.values[:, 0] / sums.total, [3.0, 1.0], rtol=1e-12)


# -- values far from zero ----------------------------------------------------------------------------------------------


def test_constant_values_are_their_own_averages_without_any_error():
    logs, _, queries = draw(300, 20, size=30.0)
    v = np.full(300, 1e8 + 0.1)
    moments = AttentionMoments(20).update(logs[:100], v[:100]).merge(AttentionMoments(20).update(logs[100:], v[100:]))
    sums = moments.sums(queries)
    assert_allclose(sums.values[:, 0] / sums.total, 1e8 + 0.1, rtol=2 * EPS)
    assert_array_equal(moments.standard_errors(queries), 0.0)


def test_an_offset_of_values_costs_no_digits():
    logs, values, queries = draw(2000, 50, 3, 40)
    plain = AttentionMoments(50, 3).update(logs, values)
    moved = AttentionMoments(50, 3)
    for rows in np.array_split(np.arange(2000), 7):
        moved.merge(AttentionMoments(50, 3).update(logs[rows], values[rows] + 1e8))
    (_, averages), (_, moved_averages) = (logs_and_averages(each.sums(queries)) for each in (plain, moved))
    # the sum and the average are rounded once each, whatever the number of rows
    assert_allclose(moved_averages - 1e8, averages, rtol=0, atol=2 * EPS * 1e8)
    assert_allclose(moved.standard_errors(queries), plain.standard_errors(queries), rtol=1e-11)


# -- standard errors ---------------------------------------------------------------------------------------------------


def test_standard_errors_are_the_spread_over_draws():
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(20, 2)), rng.normal(size=(6, 2)) / 2
    v = np.column_stack([X[:, 0], np.cos(2 * X[:, 1]) + 100])
    weights = rng.uniform(0.5, 2, size=20)
    averages, errors = np.empty((2, 400, 6, 2))
    options = {"sigma": 0.07, "n_components": 200, "rule": "iid", "variant": "positive"}
    for seed in range(400):
        features = PositiveRandomFeatures(**options, random_state=seed).fit(X)
        moments = AttentionMoments(200, 2).update(features.log_transform(X), v, weights)
        logs = features.log_transform(queries)
        averages[seed] = logs_and_averages(moments.sums(logs))[1]
        errors[seed] = moments.standard_errors(logs)
    spread = averages.std(axis=0, ddof=1)
    # 400 draws tell a standard deviation to sqrt((kurtosis - 1) / 1600): 6 % for a kurtosis of 7, four times within 25
    kurtosis = ((averages - averages.mean(axis=0)) ** 4).mean(axis=0) / spread**4
    assert kurtosis.max() < 7
    assert_allclose(np.sqrt((errors**2).mean(axis=0)), spread, rtol=0.25)


def test_standard_errors_of_one_feature_are_infinite():
    logs, values, queries = draw(20, 1, 2)
    assert_array_equal(AttentionMoments(1, 2).update(logs, values).standard_errors(queries), np.inf)


# -- arrays are their own ----------------------------------------------------------------------------------------------


def test_nobody_shares_arrays():
    logs, values, queries = draw(40, offset=3.0)
    given = [logs.copy(), values.copy(), np.ones(40)]
    other = AttentionMoments(5, 2).update(given[0][:20], given[1][:20], given[2][:20])
    before = state(other)
    for moments in (
        AttentionMoments(5, 2).merge(other),
        AttentionMoments(5, 2).update(logs, values).merge(other),
        other.copy(),
        pickle.loads(before),
    ):
        moments.update(logs[20:], values[20:]).scale(0.5).merge(moments.copy())
        moments.subtract(AttentionMoments(5, 2).update(logs[20:], values[20:]))
        assert state(other) == before
    for array in other.sums(queries):
        array[...] = np.nan
    other.sums(given[0], left_out=(given[1], given[2]))
    other.standard_errors(given[0])
    assert state(other) == before
    other.update(*given)
    for array, original in zip(given, (logs, values, np.ones(40)), strict=True):
        assert_array_equal(array, original)


def test_copies_and_pickles_are_equal_and_go_on_alike():
    logs, values, _ = draw(40)
    moments = AttentionMoments(5, 2).update(logs[:25], values[:25])
    expected = state(AttentionMoments(5, 2).update(logs[:25], values[:25]).update(logs[25:], values[25:]))
    for other in (moments.copy(), pickle.loads(pickle.dumps(moments))):
        assert type(other) is AttentionMoments
        assert state(other) == state(moments)
        assert state(other.update(logs[25:], values[25:])) == expected


# -- what is refused ---------------------------------------------------------------------------------------------------

LOGS = "log_features have NaN or infinite values; only minus infinity is allowed"
VALUES = "values have NaN or infinite values, or values whose squares overflow"
LAST, FIRST = np.arange(300)[:, None] == 299, np.arange(300)[:, None] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda L, v, w: (np.where(LAST, np.nan, L), v, w), LOGS),
        (lambda L, v, w: (np.where(LAST, np.inf, L), v, w), LOGS),
        (lambda L, v, w: (np.where(LAST, np.nan, L), v, 0.0), LOGS),
        (lambda L, v, w: (np.where(FIRST, np.inf, L), v, w * (np.arange(300) > 0)), LOGS),
        (lambda L, v, w: (L, np.where(LAST, np.inf, v), w), VALUES),
        (lambda L, v, w: (L, np.where(FIRST, np.nan, v), w), VALUES),
        (lambda L, v, w: (L, np.where(FIRST, np.nan, v), 0.0), VALUES),
        (lambda L, v, w: (L, v * 1e200, w), VALUES),
        (lambda L, v, w: (L[:, :4], v, w), r"log_features must have shape \(n, 5\), got \(300, 4\)"),
        (lambda L, v, w: (L[0], v, w), r"log_features must have shape \(n, 5\), got \(5,\)"),
        (lambda L, v, w: (L, v[:5], w), r"values must have one row per row of log_features and 2 column\(s\)"),
        (lambda L, v, w: (L, v[:, 0], w), r"\(300, 2\), got \(300, 1\)"),
        (lambda L, v, w: (L, None, w), r"\(300, 2\), got \(\)"),
        (lambda L, v, w: (L, v * 1j, w), "values must be real"),
        (lambda L, v, w: (L + 0j, v, w), "log_features must be real"),
        (lambda L, v, w: (L, v, w - 2), "must not be negative"),
        (lambda L, v, w: (L, v, w * np.nan), "sample_weight contains NaN"),
        (lambda L, v, w: (L, v, w[:7]), r"shape \(300,\), got shape \(7,\)"),
    ],
)
def test_what_is_refused_leaves_the_moments_as_they_were(change, message, monkeypatch):
    monkeypatch.setattr(_attention, "VALUES_PER_BLOCK", 1)  # so that the fault may come in the fifth block
    logs, values, _ = draw(300)
    for moments in (AttentionMoments(5, 2), AttentionMoments(5, 2).update(logs, values)):
        before = state(moments)
        L, v, w = change(logs, values, np.ones(300))
        with pytest.raises(ValueError, match=message):
            moments.update(L, v, w)
        if not (np.ndim(w) == 0 or (w == 0).any()):
            with pytest.raises(ValueError, match=message):
                moments.sums(L, left_out=(v, w))
        assert state(moments) == before
        moments.update(logs, values)
        assert np.isfinite(moments.sums(logs).values).all()


def test_queries_that_are_refused():
    moments = AttentionMoments(2).update([[0.0, -np.inf]], [1.0])
    for each in (moments, AttentionMoments(2)):
        for ask in (each.sums, each.standard_errors):
            for bad in (np.nan, np.inf):
                for query in ([[bad, 0.0]], [[0.0, bad]]):
                    with pytest.raises(ValueError, match=LOGS):
                        ask(query)
            with pytest.raises(ValueError, match=r"log_features must have shape \(n, 2\), got \(2,\)"):
                ask([0.0, 1.0])
    for left_out in ([1.0], ([1.0],), ([1.0], None, None), np.ones((2, 1))):
        with pytest.raises(ValueError, match=r"left_out must be a tuple \(values, sample_weight\)"):
            moments.sums([[0.0, 0.0]], left_out=left_out)


def test_other_moments_must_be_alike():
    logs, values, _ = draw(20)
    moments = AttentionMoments(5, 2).update(logs, values)
    before = state(moments)
    for action in (moments.merge, moments.subtract):
        with pytest.raises(ValueError, match="these are AttentionMoments and the others GramMoments"):
            action(GramMoments(5, 2))
        with pytest.raises(ValueError, match="these have 5 features and 2 values, the others 3 and 3"):
            action(AttentionMoments(3, 3))
    with pytest.raises(ValueError, match="weight to take out is 40 and the weight that is there is 20"):
        moments.subtract(moments.copy().merge(moments))
    assert state(moments) == before


@pytest.mark.parametrize("counts", [(0, 1), (-1, 1), (2, 0), (2.0, 1), (True, 1), (2, None), ("2", 1)])
def test_counts_are_integers(counts):
    with pytest.raises(ValueError, match="Moments need an integer number of features, at least 1, and of values"):
        AttentionMoments(*counts)


@pytest.mark.parametrize("factor", [0, -1.0, np.inf, np.nan, True, "1", None])
def test_factors_are_positive(factor):
    moments = AttentionMoments(1).update([[1.0], [2.0]], [1.0, 5.0])
    before = state(moments)
    with pytest.raises(ValueError, match="factor must be a positive finite number"):
        moments.scale(factor)
    assert state(moments) == before


def test_nothing_overflows_whatever_numpy_was_told():
    logs, values, queries = draw(30, size=3000.0)
    logs[0] = -np.inf
    with np.errstate(all="raise"):
        moments = AttentionMoments(5, 2).update(logs, values, np.arange(30) % 3).merge(AttentionMoments(5, 2))
        moments.merge(AttentionMoments(5, 2).update(logs - 1000.0, values)).scale(0.5)
        moments.subtract(AttentionMoments(5, 2).update(logs - 1000.0, values, 0.5))
        moments.sums(queries)
        moments.sums(logs, left_out=(values, np.arange(30) % 3))
        assert np.isfinite(moments.standard_errors(queries)).all()


def test_taking_out_rows_that_were_never_added_leaves_no_nan():
    logs, values, queries = draw(30)
    moments = AttentionMoments(5, 2).update(logs, values)
    moments.subtract(AttentionMoments(5, 2).update(logs[:3] + 2000.0, values[:3]))
    assert_array_equal(moments.sums(queries).values, 0.0)
    moments = AttentionMoments(5, 2).update(logs, values)
    assert_array_equal(moments.sums(logs + 2000.0, left_out=(values, None)).values, 0.0)
