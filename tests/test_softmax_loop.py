"""Sums with softmax weights: both paths against plain sums in long double; masks, ranges left out, threads, ranges."""

import math
import tracemalloc

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spectralkit import _loops
from spectralkit._loops import softmax
from spectralkit._loops.softmax import softmax_sums
from spectralkit._parallel import for_row_blocks

DTYPES = [np.float64, np.float32]
PRECISION = {np.float64: 5e-16, np.float32: 2e-7}  # of a weight, whose score is exact


def _take_the_compiled_loop(patch):
    pytest.importorskip("numba")
    patch.setattr(_loops, "SMALLEST_WORK", 0)
    patch.setattr(softmax, "_FEWEST_QUERIES", 0)


def _without_numba(function):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_loops, "available", lambda: False)
        return function()


@pytest.fixture
def compiled(monkeypatch):
    """Take the compiled loop for any amount of work."""
    _take_the_compiled_loop(monkeypatch)


@pytest.fixture(params=["compiled", "numpy"])
def path(request, monkeypatch):
    """Take either path for any amount of work."""
    if request.param == "compiled":
        _take_the_compiled_loop(monkeypatch)
    else:
        monkeypatch.setattr(_loops, "available", lambda: False)
    return request.param


def _problem(n, m, d, k, dtype, spread=4.0, seed=0):
    """Queries, keys, bias and values, with scores of about that spread."""
    rng = np.random.default_rng([seed, n, m, d, k])
    queries, keys, values = rng.normal(size=(n, d)), rng.normal(size=(d, m)), rng.normal(size=(k, m))
    queries *= spread / math.sqrt(d)
    return tuple(a.astype(dtype) for a in (queries, keys, rng.normal(size=m), values))


def _sums(queries, keys, bias, values, left_out=None, n_jobs=None, rows=softmax.ROWS_PER_BLOCK, dtype=None):
    n, dtype = len(queries), dtype or queries.dtype
    out, (total, top, squares) = np.full((n, len(values)), np.nan, dtype), np.full((3, n), np.nan, dtype)

    def write(part):
        ranges = None if left_out is None else tuple(a[part] for a in left_out)
        softmax_sums(
            queries[part], keys, bias, values, out[part], total[part], top[part], squares[part], left_out=ranges
        )

    for_row_blocks(write, n, rows, n_jobs)
    return out, total, top, squares


def _exact(queries, keys, bias, values, left_out=None):
    """(out, total, top, squares), the sum of ``w |v|`` and the rounding of scores, from one array in long double."""
    queries, keys, bias, values = (a.astype(np.longdouble) for a in (queries, keys, bias, values))
    scores = queries @ keys + bias
    size = (np.abs(queries) @ np.abs(keys) + np.abs(np.where(np.isfinite(bias), bias, 0))).max(axis=1)
    if left_out is not None:
        index = np.arange(keys.shape[1])
        scores[(index >= left_out[0][:, None]) & (index < left_out[1][:, None])] = -np.inf
    top = scores.max(axis=1)
    weights = np.exp2(scores - np.where(np.isfinite(top), top, 0)[:, None])
    exact = weights @ values.T, weights.sum(axis=1), top, (weights**2).sum(axis=1)
    return exact, weights @ np.abs(values).T, size


def _assert_exact(problem, left_out=None, found=None):
    dtype = problem[0].dtype.type
    (out, total, top, squares), absolute, size = _exact(*problem, left_out)
    found = _sums(*problem, left_out) if found is None else found
    assert all(a.dtype == dtype for a in found)
    # every product and sum of a score rounds, at random; a base of powers of two makes its size one more number
    score = np.finfo(dtype).eps * (size + 1) * (2 + math.sqrt(problem[0].shape[1]) / 2)
    sums = 4 * np.finfo(dtype).eps + PRECISION[dtype] + score
    lost = math.ldexp(len(problem[2]), np.finfo(dtype).minexp + 2)  # weights that count as 0
    assert_array_equal(np.isneginf(found[2]), np.isneginf(top))
    some = np.isfinite(top)
    assert (np.abs(found[2][some] - top[some]) <= score[some]).all()
    assert (np.abs(found[1] - total) <= 2 * sums * total + lost).all()
    assert (np.abs(found[3] - squares) <= 4 * sums * squares + lost).all()
    assert (np.abs(found[0] - out) <= 2 * sums[:, None] * absolute + lost * np.abs(problem[3]).max(initial=0)).all()
    for a in found[:2] + found[3:]:
        assert (a[~some] == 0).all()


def _assert_nothing(out, total, top, squares):
    for a in (out, total, squares):
        assert_array_equal(a, 0)
    assert_array_equal(top, -np.inf)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 3, 8, 17, 100])
def test_sums_for_any_number_of_columns(d, dtype, path):
    _assert_exact(_problem(150, 200, d, 3, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [0, 1, 2, 17, 40])
def test_sums_for_any_number_of_values(k, dtype, path):
    _assert_exact(_problem(50, 333, 3, k, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 127, 128, 129, 300])
@pytest.mark.parametrize("m", [1, 63, 64, 65, 1000])
def test_sums_for_any_number_of_queries_and_keys(n, m, dtype, path):
    _assert_exact(_problem(n, m, 2, 2, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_more_keys_than_numpy_takes_at_a_time(dtype, path):
    _assert_exact(_problem(300, 10_000, 2, 2, dtype))
    _assert_exact(_problem(3, 10_000, 2, 2, dtype, spread=40.0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_at_all(dtype, path):
    for n, m, d in ((0, 5, 2), (5, 0, 2), (0, 0, 2), (5, 6, 0)):
        queries, keys, bias, values = _problem(n, m, max(d, 1), 3, dtype)
        out, total, top, squares = _sums(queries[:, :d], keys[:d], bias, values)
        if m == 0:
            _assert_nothing(out, total, top, squares)
        elif n > 0:
            assert_allclose(top, bias.max(), rtol=0, atol=0)
            assert_allclose(total, np.exp2(bias - bias.max()).sum(), rtol=10 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_have_the_last_digits_right(dtype, path):
    """One key a score: halves, where the polynomials meet, and around; random ones; down to the smallest weights."""
    lowest = np.finfo(dtype).minexp + 2
    halves = np.arange(2 * lowest, 1) / 2
    scores = np.concatenate([
        halves, np.nextafter(halves, -1e9), np.nextafter(halves[halves < 0], 1.0),
        np.random.default_rng(0).uniform(lowest, 0, 500), np.random.default_rng(1).uniform(-1, 0, 500),
    ]).astype(dtype)  # fmt: skip
    m = len(scores)
    found = np.empty((20, m), dtype=dtype)
    total, top = np.empty((2, 20), dtype=dtype)
    softmax_sums(np.zeros((20, 1), dtype), np.zeros((1, m), dtype), scores, np.eye(m, dtype=dtype), found, total, top)
    with mp.workdps(30):
        exact = np.array([float(mp.power(2, mp.mpf(float(s)))) for s in scores])
    assert_array_equal(top, 0)
    assert_array_equal(found, found[:1].repeat(20, axis=0))
    assert_allclose(found[0].astype(float), exact, rtol=PRECISION[dtype], atol=0)
    assert (found[0][scores == 0] == 1).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_smallest_weights_are_zero_and_none_is_subnormal(dtype, path):
    lowest = np.finfo(dtype).minexp
    scores = np.concatenate([[0.0], np.linspace(2 * lowest, lowest + 3, 997), [-1e30, -np.inf]]).astype(dtype)
    m = len(scores)
    found = np.empty((20, m), dtype=dtype)
    total, top = np.empty((2, 20), dtype=dtype)
    softmax_sums(np.zeros((20, 1), dtype), np.zeros((1, m), dtype), scores, np.eye(m, dtype=dtype), found, total, top)
    assert (found[:, scores <= lowest - 0.5] == 0).all()
    assert (found[:, scores >= lowest + 1] > 0).all()
    assert ((found == 0) | (found >= np.finfo(dtype).tiny)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [-1e4, 1e4])
def test_scores_far_from_zero(offset, dtype, path):
    """All scores on a grid that float32 keeps, so that nothing is lost by the offset."""
    queries, keys, bias, values = _problem(200, 500, 3, 4, dtype)
    queries, keys, bias = np.round(queries * 4) / 4, np.round(keys * 8) / 8, np.round(bias * 32) / 32
    plain = _sums(queries, keys, bias, values)
    moved = _sums(queries, keys, bias + dtype(offset), values)
    for a, b in zip(plain, (moved[0], moved[1], moved[2] - dtype(offset), moved[3]), strict=True):
        assert_array_equal(a, b)
    _assert_exact((queries, keys, bias + dtype(offset), values))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", [1, -1])
def test_scores_that_rise_and_fall_through_all_blocks(order, dtype, path):
    """A new largest score in every block, by up to more than the range of weights."""
    for step in (0.37, 3.0, 17.0):
        m = 700
        bias = (order * step * np.arange(m)).astype(dtype)
        rng = np.random.default_rng(0)
        _assert_exact((np.zeros((40, 1), dtype), np.zeros((1, m), dtype), bias, rng.normal(size=(2, m)).astype(dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_sums_do_not_lose_digits(dtype, path):
    n, m = 20, 200_000
    ones = np.ones((1, m), dtype)
    out, total, _, squares = _sums(np.zeros((n, 1), dtype), ones, np.zeros(m, dtype), dtype(0.1) * ones)
    assert_allclose(total, m, rtol=np.finfo(dtype).eps)
    assert_allclose(squares, m, rtol=np.finfo(dtype).eps)
    assert_allclose(out, dtype(0.1).astype(float) * m, rtol=60 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_keys_are_as_if_absent(dtype, path):
    queries, keys, bias, values = _problem(150, 300, 3, 2, dtype)
    kept = np.random.default_rng(0).random(300) < 0.3
    kept[:130] = False  # whole blocks too
    masked = np.where(kept, bias, dtype(-np.inf))
    _assert_exact((queries, keys, masked, values))
    found = _sums(queries, keys, masked, values)
    for a, b in zip(found, _sums(queries, keys[:, kept], bias[kept], values[:, kept]), strict=True):
        assert_allclose(a, b, rtol=0, atol=50 * PRECISION[dtype] * np.abs(b).max())


@pytest.mark.parametrize("dtype", DTYPES)
def test_without_any_key_sums_are_zero(dtype, path):
    queries, keys, bias, values = _problem(150, 100, 3, 2, dtype)
    for none in (np.full_like(bias, -np.inf), np.full_like(bias, -1e38)):
        _assert_nothing(*_sums(queries, keys, none, values))


@pytest.mark.parametrize("dtype", DTYPES)
def test_ranges_left_out(dtype, path):
    n = m = 400
    problem = _problem(n, m, 3, 2, dtype)
    itself = np.arange(n), np.arange(n) + 1
    group = np.sort(np.random.default_rng(0).integers(0, 50, n))
    of_group = np.searchsorted(group, group, "left"), np.searchsorted(group, group, "right")
    anything = np.sort(np.random.default_rng(1).integers(0, m + 1, (2, n)), axis=0)
    nothing = np.full(n, 7), np.full(n, 7)
    for left_out in (itself, of_group, tuple(anything), nothing):
        _assert_exact(problem, left_out)
    _assert_exact(problem, None, _sums(*problem, nothing))
    everything = np.where(np.arange(n) % 3, 5, 0), np.where(np.arange(n) % 3, 9, m)
    found = _sums(*problem, everything)
    _assert_exact(problem, everything, found)
    _assert_nothing(*(a[::3] for a in found))
    assert (found[1][1::3] > 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_leaving_out_oneself_is_subtracting_oneself(dtype, path):
    """Where the score of a query with itself is that of its nearest neighbours, of a Gaussian kernel."""
    x = np.linspace(-1, 1, 300)[:, None].astype(dtype)
    bias = -(x[:, 0] ** 2)
    values = np.sin(3 * x.T)
    out, total, top, _ = _sums(x, 2 * x.T, bias, values, dtype=np.float64)
    i = np.arange(300)
    without, less, below, _ = _sums(x, 2 * x.T, bias, values, (i, i + 1), dtype=np.float64)
    scale = np.exp2(below - top)
    own = np.exp2(x[:, 0].astype(float) ** 2 - top)
    assert_allclose(less * scale, total - own, rtol=1e3 * np.finfo(dtype).eps)
    assert_allclose(without * scale[:, None], out - own[:, None] * values.T, atol=1e3 * np.finfo(dtype).eps * 300)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_compiled_loop_equals_numpy(dtype):
    i = np.arange(700)
    for d, k, left_out in ((3, 2, None), (8, 17, (i, i + 1)), (20, 1, None)):
        problem = _problem(700, 1500, d, k, dtype)
        expected = _without_numba(lambda problem=problem, left_out=left_out: _sums(*problem, left_out))
        for a, b in zip(_sums(*problem, left_out), expected, strict=True):
            assert_allclose(a, b, rtol=0, atol=60 * PRECISION[dtype] * np.abs(b).max())


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_do_not_depend_on_the_number_of_threads(dtype, path):
    i = np.arange(1001)
    for left_out in (None, (i, i + 1)):
        problem = _problem(1001, 900, 5, 3, dtype)
        alone = _sums(*problem, left_out, n_jobs=1, rows=128)
        for n_jobs in (2, 3, -1):
            for a, b in zip(_sums(*problem, left_out, n_jobs=n_jobs, rows=128), alone, strict=True):
                assert_array_equal(a, b)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_of_a_query_do_not_depend_on_its_neighbours(dtype):
    queries, keys, bias, values = _problem(500, 300, 5, 3, dtype, spread=30.0)
    whole = _sums(queries, keys, bias, values)
    for part in (slice(0, 1), slice(77, 78), slice(100, 333), slice(None, None, 7)):
        for a, b in zip(_sums(queries[part], keys, bias, values), whole, strict=True):
            assert_array_equal(a, b[part])


def test_any_memory_layout_will_do_and_is_left_alone(path):
    problem = _problem(150, 200, 3, 2, np.float64)
    kept, expected = [a.copy() for a in problem], _sums(*problem)
    for a in problem:
        a.flags.writeable = False
    spread = [np.repeat(a, 2, axis=-1)[..., ::2] for a in problem]
    for same in (problem, spread, [np.asfortranarray(a) for a in problem]):
        for a, b in zip(_sums(*same), expected, strict=True):
            assert_allclose(a, b, rtol=1e-13, atol=1e-13)  # NumPy's products may go another way
    for a, b in zip(problem, kept, strict=True):
        assert_array_equal(a, b)
    out, (total, top) = np.zeros((2, 150)).T, np.zeros((2, 150))
    softmax_sums(*problem, out, total, top)
    assert_allclose(out, expected[0], rtol=1e-13, atol=1e-13)


def test_float64_sums_of_float32(path):
    problem = _problem(150, 3000, 3, 2, np.float32)
    narrow, wide = _sums(*problem), _sums(*problem, dtype=np.float64)
    for a, b in zip(narrow, wide, strict=True):
        assert b.dtype == np.float64
        assert_array_equal(a, b.astype(np.float32))
    assert (wide[1] != narrow[1]).any()


@pytest.mark.parametrize("n", [20_000, 10])
def test_memory_does_not_grow_with_queries_times_keys(n, path):
    m = 4_000_000 // n if n < 100 else 2000
    problem = _problem(n, m, 2, 1, np.float32)
    _sums(*(a[:20] if a is problem[0] else a for a in problem))
    tracemalloc.start()
    _sums(*problem)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * n * m / 10


def test_little_work_and_few_queries_go_to_numpy(monkeypatch):
    monkeypatch.setattr(softmax, "_compiled", None)
    _sums(*_problem(500, 500, 3, 2, np.float64))
    _sums(*_problem(10, 100_000, 3, 2, np.float64))


def test_where_nothing_can_be_cached(monkeypatch):
    numba = pytest.importorskip("numba")
    njit = numba.njit

    def without_a_cache_directory(function, *, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function '_scores': no locator available for file 'softmax.py'")
        return njit(function, **options)

    monkeypatch.setattr(numba, "njit", without_a_cache_directory)
    monkeypatch.setattr(softmax, "_compiled", softmax._compiled.__wrapped__)
    _take_the_compiled_loop(monkeypatch)
    _assert_exact(_problem(100, 150, 3, 2, np.float64))
