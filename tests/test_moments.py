import pickle
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import StandardScaler

from spectralkit import FourierFeatures
from spectralkit.moments import ColumnMoments, GramMoments, QRMoments, _regression

KINDS = [GramMoments, QRMoments]
EPS = np.finfo(np.float64).eps

each_kind = pytest.mark.parametrize("kind", KINDS)


def draw(n=60, m=4, t=2, seed=0, offset=0.0, dtype=np.float64):
    rng = np.random.default_rng([seed, n, m, t])
    return (rng.normal(size=(n, m)) + offset).astype(dtype), rng.normal(size=(n, t)) + offset


def exact(features, targets, weights=None):
    """Weight, mean and centred second moments in rational arithmetic."""
    rows = [[Fraction(float(a)) for a in row] for row in np.column_stack([features, targets])]
    weights = [Fraction(1 if weights is None else float(w)) for w in ([1] * len(rows) if weights is None else weights)]
    total = sum(weights)
    mean = [sum(w * row[j] for w, row in zip(weights, rows, strict=True)) / total for j in range(len(rows[0]))]
    centred = [[a - b for a, b in zip(row, mean, strict=True)] for row in rows]
    scatter = [
        [sum(w * row[i] * row[j] for w, row in zip(weights, centred, strict=True)) for j in range(len(mean))]
        for i in range(len(mean))
    ]
    return float(total), np.array(mean, dtype=float), np.array(scatter, dtype=float)


def assert_scatter(got, expected, rtol=1e-12):
    """Each element relative to the lengths of its two columns: what rounding errors of a product are relative to."""
    lengths = np.sqrt(np.diag(expected))
    assert (np.abs(got - expected) <= rtol * np.outer(lengths, lengths)).all()


def assert_same(a, b, rtol=1e-12):
    assert a.weight == pytest.approx(b.weight, rel=rtol)
    # the mean is known to the rounding of its own size, and to that of the spread
    spread = np.sqrt(np.diag(b.scatter) / b.weight)
    assert (np.abs(a.mean - b.mean) <= 4 * EPS * np.abs(b.mean) + rtol * spread).all()
    assert_scatter(a.scatter, b.scatter, rtol)


# -- what they are -----------------------------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@pytest.mark.parametrize(("m", "t"), [(1, 0), (1, 1), (4, 2), (3, 0)])
def test_moments_are_those_of_rational_arithmetic(kind, m, t, offset, weighted):
    Z, y = draw(40, m, t, offset=offset)
    weights = np.random.default_rng(1).uniform(0, 3, size=40) if weighted else None
    moments = kind(m, t).update(Z, y if t else None, weights)
    total, mean, scatter = exact(Z, y, weights)
    assert moments.weight == pytest.approx(total, rel=1e-14)
    assert_allclose(moments.mean, mean, rtol=4 * EPS, atol=1e-14)
    assert_scatter(moments.scatter, scatter, 1e-13)  # an offset costs no digits
    assert moments.scatter.shape == (m + t, m + t)


@each_kind
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8, np.int64, bool, object])
def test_all_kinds_of_numbers_are_computed_in_double_precision(kind, dtype):
    """Differences of float32 and of small integers are not computed in their own arithmetic."""
    rng = np.random.default_rng(0)
    Z = (rng.normal(size=(50, 2)) * 40 + 60).astype(np.float32 if dtype is object else dtype)
    y = Z[:, ::-1].sum(axis=1, dtype=np.float32 if dtype in (np.float32, object) else None).astype(Z.dtype)
    if dtype is object:
        Z, y = Z.astype(object), y.astype(object)
    moments = kind(2).update(Z, y)
    _, mean, scatter = exact(Z.astype(float), y.astype(float))
    assert_allclose(moments.mean, mean, rtol=1e-14)
    assert_scatter(moments.scatter, scatter, 1e-13)


@each_kind
def test_integer_targets_lists_and_columns_are_targets(kind):
    Z, _ = draw(20, 3)
    y = np.arange(20) % 3
    expected = kind(3).update(Z, y.astype(float))
    for targets in (y, y.tolist(), y[:, None], y.astype(np.uint8)):
        assert_array_equal(kind(3).update(Z, targets).scatter, expected.scatter)
    assert_array_equal(kind(3).update(Z.tolist(), y).scatter, expected.scatter)
    assert_array_equal(kind(3).update(np.asfortranarray(Z), y).scatter, expected.scatter)


def test_gram_and_triangular_moments_agree():
    Z, y = draw()
    gram, triangular = (kind(4, 2).update(Z, y) for kind in KINDS)
    assert_same(gram, triangular)
    assert gram.root is None
    assert_array_equal(triangular.root, np.triu(triangular.root))
    assert_scatter(triangular.root.T @ triangular.root, gram.scatter)


@each_kind
def test_a_constant_column_has_no_scatter_at_all(kind):
    Z, y = draw(300, 3)
    Z[:, 1] = 0.1
    moments = kind(3, 2)
    for rows in np.array_split(np.arange(300), 7):
        moments.update(Z[rows], y[rows])
    assert_array_equal(moments.scatter[1], 0.0)
    assert_array_equal(kind(3, 2).merge(moments).merge(moments).scatter[:, 1], 0.0)
    assert moments.mean[1] == 0.1


# -- batches -----------------------------------------------------------------------------------------------------------

SIZES = [[60], [1] * 60, [7] * 8 + [4], [59, 1], [1, 59], [0, 30, 0, 30, 0]]


@each_kind
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: f"{len(sizes)} batches")
def test_batches_of_any_size_are_one_update(kind, sizes, dtype, offset):
    Z, y = draw(offset=offset, dtype=dtype)
    if Z.std() == 0:
        Z[::2] *= 2  # at 1e8 the spread is below the digits of float32
    weights = np.random.default_rng(2).uniform(0, 2, size=60)
    for sample_weight in (None, weights):
        expected = exact(Z, y, sample_weight)
        moments, start = kind(4, 2), 0
        for size in sizes:
            rows = slice(start, start + size)
            moments.update(Z[rows], y[rows], None if sample_weight is None else sample_weight[rows])
            start += size
        assert moments.weight == pytest.approx(expected[0], rel=1e-13)
        assert_scatter(moments.scatter, expected[2])


@each_kind
@pytest.mark.parametrize("n", [2, 127, 128, 129, 1000])
def test_the_boundaries_of_blocks_do_not_show(kind, n, monkeypatch):
    monkeypatch.setattr(_regression, "VALUES_PER_BLOCK", 1)  # 128 rows
    Z, y = draw(n, offset=1e6)
    weights = np.random.default_rng(2).uniform(0, 2, size=n)
    weights[130:700] = 0  # whole blocks of weight zero
    _, mean, scatter = exact(Z, y, weights)
    moments = kind(4, 2).update(Z, y, weights)
    assert moments._rows_per_block == 128
    assert_scatter(moments.scatter, scatter)
    assert_allclose(moments.mean, mean, rtol=4 * EPS)


@each_kind
def test_weights_are_repetitions(kind):
    Z, y = draw(30)
    repeats = np.random.default_rng(0).integers(0, 4, size=30)
    assert_same(
        kind(4, 2).update(Z, y, repeats),
        kind(4, 2).update(np.repeat(Z, repeats, axis=0), np.repeat(y, repeats, axis=0)),
    )
    assert_same(kind(4, 2).update(Z, y, 2.0), kind(4, 2).update(Z, y).update(Z, y))


@each_kind
def test_rows_of_weight_zero_do_nothing_wherever_they_are(kind):
    Z, y = draw(30)
    weights = np.ones(30)
    weights[[0, 7, 29]] = 0
    kept = weights > 0
    Z[~kept], y[~kept] = 1e40, -1e40  # the first row must not be what the others are measured from
    expected = kind(4, 2).update(Z[kept], y[kept])
    assert_same(kind(4, 2).update(Z, y, weights), expected)
    batchwise = kind(4, 2)
    for row in range(30):
        batchwise.update(Z[[row]], y[[row]], weights[[row]])
    assert_same(batchwise, expected)


@each_kind
@pytest.mark.parametrize("weights", [0, 0.0, np.zeros(5), [0] * 5, None])
def test_batches_that_hold_nothing_do_nothing(kind, weights):
    Z, y = draw(20)
    moments = kind(4, 2).update(Z, y)
    before = pickle.dumps(moments)
    if weights is None:
        moments.update(Z[:0], y[:0]).update(Z[:0], y[:0], np.empty(0))
    else:
        moments.update(Z[:5], y[:5], weights)
    assert pickle.dumps(moments) == before
    empty = kind(4, 2).update(Z[:5], y[:5], 0.0)
    assert empty.weight == 0
    assert_array_equal(empty.mean, np.zeros(6))
    assert_same(empty.update(Z, y), moments)


# -- merge, subtract, scale --------------------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_merging_is_associative_and_commutative_and_adds_rows(kind, offset, dtype):
    Z, y = draw(90, offset=offset)
    Z[30:50] += 3  # parts of different means and spreads
    Z[50:] *= 1.5
    Z = Z.astype(dtype)
    cuts = [slice(0, 30), slice(30, 50), slice(50, 90)]
    _, _, scatter = exact(Z, y)

    def part(i):
        return kind(4, 2).update(Z[cuts[i]], y[cuts[i]])

    orders = [
        part(0).merge(part(1)).merge(part(2)),
        part(0).merge(part(1).merge(part(2))),
        part(2).merge(part(1)).merge(part(0)),
        part(1).merge(part(2).merge(part(0))),
        kind(4, 2).merge(part(1)).merge(kind(4, 2)).merge(part(0)).merge(part(2)),
    ]
    for merged in orders:
        assert merged.weight == 90
        assert_scatter(merged.scatter, scatter)
        assert_allclose(merged.mean, orders[0].mean, rtol=4 * EPS, atol=1e-13)


@each_kind
def test_batches_that_lie_far_apart(kind):
    """Three clusters at -1e8, 0 and 1e8; the mean in two parts keeps their distances."""
    Z, y = draw(60)
    Z[:20] -= 1e8
    Z[40:] += 1e8
    _, mean, scatter = exact(Z, y)
    moments = kind(4, 2)
    for i in (0, 20, 40):
        moments.merge(kind(4, 2).update(Z[i : i + 20], y[i : i + 20]))
    assert_scatter(moments.scatter, scatter)
    assert_allclose(moments.mean, mean, rtol=1e-12, atol=1e8 * 4 * EPS)


@each_kind
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_subtracting_undoes_merging(kind, offset):
    Z, y = draw(80, offset=offset)
    weights = np.random.default_rng(0).uniform(0.5, 2, size=80)
    whole = kind(4, 2).update(Z, y, weights)
    for fold in np.array_split(np.arange(80), 4):
        rest = np.setdiff1d(np.arange(80), fold)
        left = whole.copy().subtract(kind(4, 2).update(Z[fold], y[fold], weights[fold]))
        _, mean, scatter = exact(Z[rest], y[rest], weights[rest])
        assert_scatter(left.scatter, scatter)
        assert_allclose(left.mean, mean, rtol=4 * EPS, atol=1e-13)
        assert_same(left.merge(kind(4, 2).update(Z[fold], y[fold], weights[fold])), whole)


@each_kind
def test_subtracting_everything_leaves_new_moments(kind):
    Z, y = draw(20, offset=5.0)
    moments = kind(4, 2).update(Z, y, 0.1)
    moments.subtract(kind(4, 2).update(Z[:9], y[:9], 0.1)).subtract(kind(4, 2).update(Z[9:], y[9:], 0.1))
    assert pickle.dumps(moments) == pickle.dumps(kind(4, 2))  # though 0.1 added twenty times is not 2
    moments.update(Z, y)
    assert pickle.dumps(moments.subtract(moments)) == pickle.dumps(kind(4, 2))
    moments.update(Z, y).subtract(kind(4, 2))
    assert pickle.dumps(moments) == pickle.dumps(kind(4, 2).update(Z, y))


@each_kind
def test_subtracting_from_rows_that_do_not_vary(kind):
    Z, y = np.full((6, 3), 0.1), np.full(6, 7.0)
    moments = kind(3).update(Z, y).subtract(kind(3).update(Z[:2], y[:2]))
    assert moments.weight == 4
    assert_array_equal(moments.mean, [0.1, 0.1, 0.1, 7.0])
    assert_array_equal(moments.scatter, 0.0)


@each_kind
def test_subtracting_all_rows_that_vary(kind):
    """What is left is constant in some or all columns, and rounding must not make anything negative of it."""
    Z, y = draw(30, 3, 1)
    Z[:10, 0], y[:10] = 2.0, 5.0
    for constant in (Z[:10], np.tile(Z[:1], (10, 1))):
        Z[:10] = constant
        left = kind(3).update(Z, y).subtract(kind(3).update(Z[10:], y[10:]))
        _, mean, scatter = exact(Z[:10], y[:10])
        assert_allclose(left.mean, mean, rtol=1e-14)
        before = kind(3).update(Z, y).scatter
        # what is left is known to the rounding errors of the whole, not of itself
        lengths = np.sqrt(np.diag(before))
        assert (np.abs(left.scatter - scatter) <= 1e-12 * np.outer(lengths, lengths)).all()


@each_kind
@pytest.mark.parametrize("factor", [0.5, 1e-3, 7, np.float32(3)])
def test_scaling_is_scaling_of_the_weights(kind, factor):
    Z, y = draw(30)
    scaled = kind(4, 2).update(Z[:20], y[:20]).scale(factor).update(Z[20:], y[20:])
    weights = np.r_[np.full(20, float(factor)), np.ones(10)]
    assert_same(scaled, kind(4, 2).update(Z, y, weights))


@each_kind
def test_merging_moments_with_themselves_counts_their_rows_twice(kind):
    Z, y = draw(30)
    moments = kind(4, 2).update(Z, y)
    assert_same(moments.merge(moments), kind(4, 2).update(Z, y, 2.0))


# -- arrays are their own ----------------------------------------------------------------------------------------------


@each_kind
def test_nobody_shares_arrays(kind):
    """Products are computed where the arrays are; moments that were merged, copied or pickled must not notice."""
    Z, y = draw(40, offset=3.0)
    given = [Z.copy(), y.copy(), np.ones(40)]
    other = kind(4, 2).update(given[0][:20], given[1][:20], given[2][:20])
    before = pickle.dumps(other)
    for moments in (kind(4, 2).merge(other), kind(4, 2).update(Z, y).merge(other), other.copy(), pickle.loads(before)):
        moments.update(Z[20:], y[20:]).scale(0.5).merge(moments.copy()).subtract(kind(4, 2).update(Z[20:], y[20:]))
        assert pickle.dumps(other) == before
    views = [other.scatter, other.mean] + ([] if other.root is None else [other.root])
    for view in views:
        view[...] = np.nan
    assert pickle.dumps(other) == before
    other.update(given[0], given[1], given[2])
    for array, original in zip(given, (Z, y, np.ones(40)), strict=True):
        assert_array_equal(array, original)


@each_kind
def test_copies_and_pickles_are_equal_and_go_on_alike(kind):
    Z, y = draw(40)
    moments = kind(4, 2).update(Z[:25], y[:25])
    for other in (moments.copy(), pickle.loads(pickle.dumps(moments))):
        assert type(other) is kind
        other.update(Z[25:], y[25:])
        assert_array_equal(other.scatter, kind(4, 2).update(Z[:25], y[:25]).update(Z[25:], y[25:]).scatter)


# -- what is refused ---------------------------------------------------------------------------------------------------

VALUES = "NaN or infinite values, or values whose squares overflow"


@each_kind
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda Z, y, w: (np.where(np.arange(300)[:, None] == 299, np.nan, Z), y, w), VALUES),
        (lambda Z, y, w: (Z, np.where(np.arange(300)[:, None] == 0, np.inf, y), w), VALUES),
        (lambda Z, y, w: (Z * 1e200, y, w), VALUES),
        (lambda Z, y, w: (np.where(np.arange(300)[:, None] == 299, np.nan, Z), y, 0.0), VALUES),
        (lambda Z, y, w: (1.7e308 * np.sign(Z), y, w), VALUES),
        (lambda Z, y, w: (Z[:, :3], y, w), r"features must have shape \(n, 4\), got \(300, 3\)"),
        (lambda Z, y, w: (Z[0], y, w), r"features must have shape \(n, 4\), got \(4,\)"),
        (lambda Z, y, w: (Z, y[:5], w), r"targets must have one row per row of features and 2 column"),
        (lambda Z, y, w: (Z, y[:, 0], w), r"\(300, 2\), got \(300, 1\)"),
        (lambda Z, y, w: (Z, None, w), r"\(300, 2\), got \(300, 0\)"),
        (lambda Z, y, w: (Z, y * 1j, w), "targets must be real"),
        (lambda Z, y, w: (Z + 0j, y, w), "features must be real"),
        (lambda Z, y, w: (Z, y, w - 2), "must not be negative"),
        (lambda Z, y, w: (Z, y, w * np.nan), "sample_weight contains NaN"),
        (lambda Z, y, w: (Z, y, w[:7]), r"shape \(300,\), got shape \(7,\)"),
        (lambda Z, y, w: (Z, y, 0 * w[:7]), r"shape \(300,\), got shape \(7,\)"),
    ],
)
def test_what_is_refused_leaves_the_moments_as_they_were(kind, change, message, monkeypatch):
    monkeypatch.setattr(_regression, "VALUES_PER_BLOCK", 1)  # so that the fault may come in the third block
    Z, y = draw(300)
    for moments in (kind(4, 2), kind(4, 2).update(Z, y)):
        before = pickle.dumps(moments)
        with pytest.raises(ValueError, match=message):
            moments.update(*change(Z, y, np.ones(300)))
        assert pickle.dumps(moments) == before
        moments.update(Z, y)
        assert np.isfinite(moments.scatter).all()


@each_kind
def test_other_moments_must_be_alike(kind):
    other = {GramMoments: QRMoments, QRMoments: GramMoments}[kind]
    Z, y = draw(20)
    moments = kind(4, 2).update(Z, y)
    for action in (moments.merge, moments.subtract):
        with pytest.raises(
            ValueError, match=f"one kind are needed, but these are {kind.__name__} and the others {other.__name__}"
        ):
            action(other(4, 2))
        with pytest.raises(ValueError, match="these have 4 features and 2 targets, the others 3 and 3"):
            action(kind(3, 3))
    with pytest.raises(ValueError, match="weight to take out is 40 and the weight that is there is 20"):
        moments.subtract(moments.copy().merge(moments))


@each_kind
@pytest.mark.parametrize("counts", [(0, 1), (-1, 1), (2, -1), (2.0, 1), (True, 1), (2, None), ("2", 1)])
def test_counts_are_integers(kind, counts):
    with pytest.raises(ValueError, match="Moments need an integer number of features, at least 1, and of targets"):
        kind(*counts)


@each_kind
@pytest.mark.parametrize("factor", [0, -1.0, np.inf, np.nan, True, "1", None])
def test_factors_are_positive(kind, factor):
    moments = kind(1).update([[1.0], [2.0]], [1.0, 5.0])
    with pytest.raises(ValueError, match="factor must be a positive finite number"):
        moments.scale(factor)
    assert moments.weight == 2


# -- columns -----------------------------------------------------------------------------------------------------------


def columns(X, weights=None, sizes=None):
    moments, start = ColumnMoments(X.shape[1]), 0
    for size in sizes or [len(X)]:
        rows = slice(start, start + size)
        moments.update(X[rows], None if weights is None else weights[rows])
        start += size
    return moments


@pytest.mark.parametrize("sizes", [None, [1] * 60, [7] * 8 + [4], [59, 1]])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
def test_column_moments_are_those_of_rational_arithmetic(offset, weighted, sizes):
    X = np.random.default_rng(0).normal(size=(60, 3)) * [1e-3, 1.0, 50.0] + offset
    weights = np.random.default_rng(1).integers(0, 3, size=60) * 0.7 if weighted else None
    moments = columns(X, weights, sizes)
    total, mean, scatter = exact(X, np.empty((60, 0)), weights)
    assert moments.weight == pytest.approx(total, rel=1e-13)
    assert_allclose(moments.mean, mean, rtol=60 * EPS, atol=1e-14)
    # a mean of a batch is known to eps of itself, and its square distance enters the variance
    deviation = np.sqrt(np.diag(scatter) / total)
    rtol = 1e-12 + (0 if sizes is None else 60 * EPS * offset / deviation)
    assert (np.abs(moments.variance / deviation**2 - 1) <= rtol).all()
    assert_array_equal(moments.minimum, X.min(axis=0))
    assert_array_equal(moments.maximum, X.max(axis=0))


def test_column_moments_merge_in_any_order():
    X = np.random.default_rng(0).normal(size=(60, 3))
    first, second, third = (columns(X[rows]) for rows in (slice(0, 5), slice(5, 40), slice(40, 60)))
    a = columns(X[:5]).merge(second).merge(third)
    b = columns(X[40:]).merge(columns(X[5:40]).merge(first))
    c = ColumnMoments(3).merge(a).merge(ColumnMoments(3))
    for merged in (a, b, c):
        assert merged.weight == 60
        assert_allclose(merged.mean, X.mean(axis=0), rtol=1e-12, atol=1e-15)
        assert_allclose(merged.variance, X.var(axis=0), rtol=1e-12)
        assert_array_equal(merged.maximum, X.max(axis=0))
    assert_allclose(second.variance, X[5:40].var(axis=0), rtol=1e-12)  # what was merged is as before
    c.update(X)
    assert a.weight == 60


def test_rows_of_weight_zero_count_for_the_range_alone():
    X = np.array([[0.0], [10.0], [2.0]])
    for moments in (columns(X, np.array([1.0, 0.0, 1.0])), columns(X, np.array([1.0, 0.0, 1.0]), [1, 1, 1])):
        assert (moments.weight, moments.mean, moments.variance) == (2.0, [1.0], [1.0])
        assert (moments.minimum, moments.maximum) == ([0.0], [10.0])
    with pytest.raises(ValueError, match=r"no rows to summarise yet\. Call update first"):
        columns(X, np.zeros(3)).summary()


def test_constant_columns_have_no_variance():
    X = np.full((100, 2), [0.1, 1e8 + 0.1])
    assert_array_equal(columns(X, sizes=[7] * 14 + [2]).variance, [0.0, 0.0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_summary_stands_for_all_rows(weighted, dtype):
    X = (np.random.default_rng(0).normal(size=(500, 4)) * [1e-3, 1.0, 50.0, 0.0] + [0.0, 20.0, -3.0, 0.0]).astype(dtype)
    weights = np.random.default_rng(1).integers(0, 3, size=500) * 0.7 if weighted else None
    rows, counts = columns(X, weights, [100] * 5).summary()
    exactly = X.astype(np.float64)
    full, short = StandardScaler().fit(exactly, sample_weight=weights), StandardScaler().fit(rows, sample_weight=counts)
    assert_allclose(short.mean_, full.mean_, rtol=1e-12, atol=1e-15)
    assert_allclose(short.scale_, full.scale_, rtol=1e-12)
    full, short = (
        FourierFeatures(random_state=0).fit(exactly, sample_weight=weights),
        FourierFeatures(random_state=0).fit(rows, sample_weight=counts),
    )
    assert_allclose(short.sigma_, full.sigma_, rtol=1e-12)
    assert_array_equal(rows.min(axis=0), np.minimum(X.min(axis=0), rows[0]))
    assert_array_equal(rows.max(axis=0), np.maximum(X.max(axis=0), rows[1]))


def test_what_column_moments_refuse():
    moments = ColumnMoments(2)
    for X, message in [
        (np.ones((3, 3)), "these are of 2 and the others of 3"),
        (np.ones((0, 2)), "X has no rows; moments need at least one"),
        (np.array([[0.0, np.nan]]), "NaN or infinite values, the first in row 0"),
        (np.ones(2), "two-dimensional"),
    ]:
        with pytest.raises(ValueError, match=message):
            moments.update(X)
    with pytest.raises(ValueError, match="must not be negative"):
        moments.update(np.ones((3, 2)), [1, -1, 1])
    assert moments.weight == 0
    assert_array_equal(moments.minimum, np.inf)
    for count in (0, 1.5, True, None):
        with pytest.raises(ValueError, match="integer number of columns, at least 1"):
            ColumnMoments(count)
