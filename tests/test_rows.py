import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.stats import chi2, chi2_contingency

from spectralkit import _rows
from spectralkit._rows import fold_of_rows, groups_of_equal_rows

N_FOLDS = [2, 3, 5, 10]


def draw(n=3000, d=4, seed=0):
    """Rows of few values, so that many are equal, and that single precision holds."""
    X = np.random.default_rng([seed, n, d]).integers(-2, 3, size=(n, d)).astype(np.float64)
    return X * np.array([1.0, 0.5, 0.25, 1e3])[:d]


ROWS = {
    "normal": np.random.default_rng(0).normal(size=(20_000, 3)),
    "counter": np.arange(20_000.0)[:, None],
    "small steps": 1 + np.arange(20_000)[:, None] * np.finfo(float).eps,
    "two counters": np.stack(np.divmod(np.arange(20_000.0), 200), axis=1),
    "bits": (np.arange(1 << 14)[:, None] >> np.arange(14) & 1).astype(float),
    "one value in many columns": np.eye(2000),
    "powers of two": 2.0 ** np.arange(-1000, 1000)[:, None],
    "sums of one": np.random.default_rng(1).dirichlet(np.ones(3), size=20_000),
}


@pytest.mark.parametrize("X", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("n_folds", N_FOLDS)
def test_folds_are_as_large_as_random_ones(X, n_folds):
    fold = fold_of_rows(X, n_folds)
    assert fold.min() >= 0
    counts = np.bincount(fold, minlength=n_folds)
    assert len(counts) == n_folds
    expected = len(X) / n_folds
    assert chi2(n_folds - 1).sf(((counts - expected) ** 2 / expected).sum()) > 1e-4


def test_folds_know_the_place_of_a_value_and_nothing_of_similar_rows():
    X = ROWS["normal"]
    fold = fold_of_rows(X, 10)
    for other in (X[:, ::-1], -X, X + 1, 2 * X, np.column_stack([X, np.ones(len(X))]), np.nextafter(X, 9)):
        table = np.zeros((10, 10))
        np.add.at(table, (fold, fold_of_rows(other, 10)), 1)
        assert chi2_contingency(table).pvalue > 1e-4


@pytest.mark.parametrize("n_folds", N_FOLDS)
def test_folds_are_a_function_of_what_stands_in_the_row(n_folds, monkeypatch):
    X = draw()
    fold = fold_of_rows(X, n_folds)
    some = np.random.default_rng(1).permutation(len(X))[:700]
    assert_array_equal(fold_of_rows(X[some], n_folds), fold[some])
    assert_array_equal([fold_of_rows(X[i : i + 1], n_folds)[0] for i in range(50)], fold[:50])
    assert_array_equal(fold_of_rows(np.where(X == 0, -0.0, X), n_folds), fold)
    assert_array_equal(fold_of_rows(X.astype(np.float32), n_folds), fold)
    assert_array_equal(fold_of_rows(np.asfortranarray(X), n_folds), fold)
    assert_array_equal(fold_of_rows(np.repeat(X, 2, axis=0)[::2], n_folds), fold)
    monkeypatch.setattr(_rows, "_VALUES_PER_BLOCK", 37)
    assert_array_equal(fold_of_rows(X, n_folds), fold)


def as_stored(X, how):
    """Sparse matrices with the same values, stored in other ways."""
    thin = sparse.csr_array(X)
    if how == "zeros":  # explicit ones, of both signs
        thin = sparse.csr_array((np.where(X == 0, -0.0, X).ravel(), np.indices(X.shape).reshape(2, -1)), shape=X.shape)
    elif how == "unsorted":
        reverse = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(thin.indptr, thin.indptr[1:], strict=False)])
        thin = sparse.csr_array((thin.data[reverse], thin.indices[reverse], thin.indptr), shape=X.shape)
    elif how == "halves":  # two entries for one value
        data, indices = np.repeat(thin.data / 2, 2), np.repeat(thin.indices, 2)
        thin = sparse.csr_array((data, indices, 2 * thin.indptr), shape=X.shape)
    elif how == "matrix":
        thin = sparse.csr_matrix(X, dtype=np.float32)
    return thin


@pytest.mark.parametrize("how", ["plain", "zeros", "unsorted", "halves", "matrix"])
def test_sparse_rows_are_like_dense_ones(how, monkeypatch):
    X = draw(400)
    X[:7] = 0
    thin = as_stored(X, how)
    before = thin.copy()
    assert_array_equal(fold_of_rows(thin, 10), fold_of_rows(X, 10))
    assert_array_equal(groups_of_equal_rows(thin), groups_of_equal_rows(X))
    for name in ("data", "indices", "indptr"):
        assert_array_equal(getattr(thin, name), getattr(before, name))
    monkeypatch.setattr(_rows, "_VALUES_PER_BLOCK", 37)
    assert_array_equal(groups_of_equal_rows(thin), groups_of_equal_rows(X))


def assert_same_groups(group, X):
    """The numbers are those of np.unique but for their order."""
    expected = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    pairs = np.unique(np.stack([group, expected]), axis=1)
    assert pairs.shape[1] == len(np.unique(expected)) == len(np.unique(group))
    assert_array_equal(np.unique(group), np.arange(pairs.shape[1]))


@pytest.mark.parametrize("d", [1, 2, 4])
def test_groups_are_those_of_numpy(d):
    X = draw(d=d)
    X[0] = -0.0
    assert_same_groups(groups_of_equal_rows(X), X)
    assert_same_groups(groups_of_equal_rows(X.astype(np.float32)), X)
    for rows in ROWS.values():
        assert_array_equal(np.sort(groups_of_equal_rows(rows)), np.arange(len(rows)))
    assert_array_equal(groups_of_equal_rows(np.ones((5, 2))), np.zeros(5))
    assert_array_equal(groups_of_equal_rows(X[:1]), [0])


@pytest.mark.parametrize("n_codes", [1, 3, 50])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_groups_are_right_where_codes_collide(n_codes, form, monkeypatch):
    X = draw(300)
    codes = _rows._codes
    monkeypatch.setattr(_rows, "_codes", lambda X: codes(X) % np.uint64(n_codes))
    assert len(np.unique(_rows._codes(X))) == n_codes < len(np.unique(X, axis=0))
    assert_same_groups(groups_of_equal_rows(form(X)), X)
    monkeypatch.setattr(_rows, "_VALUES_PER_BLOCK", 37)
    assert_same_groups(groups_of_equal_rows(form(X)), X)


def test_wide_sparse_rows_never_stand_dense_together():
    rng = np.random.default_rng(0)
    X = sparse.csr_array((rng.normal(size=9000), (np.repeat(np.arange(3000), 3), rng.integers(40_000, size=9000))))
    tracemalloc.start()
    assert len(np.unique(groups_of_equal_rows(X))) == 3000
    fold_of_rows(X, 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.05 * X.shape[0] * X.shape[1] * 8
