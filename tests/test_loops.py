"""The compiled loop, its NumPy twin, and both against high precision; threads, forks and machines without numba."""

import math
import multiprocessing
import subprocess
import sys

import joblib
import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from spectralkit import BandLimited, FourierFeatures, Gaussian, _loops
from spectralkit.maps import _fourier, fourier
from spectralkit.maps._waves import FEW_COLUMNS
from spectralkit.rules import Nodes, nodes
from spectralkit.spectra import Footprint

TOLERANCE = {np.float64: 1e-14, np.float32: 1e-6}  # of a column's amplitude
DTYPES = [np.float64, np.float32]


@pytest.fixture
def compiled(monkeypatch):
    """Take the compiled loop for any amount of work."""
    pytest.importorskip("numba")
    monkeypatch.setattr(_loops, "SMALLEST_WORK", 0)


def _without_numba(function):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_loops, "available", lambda: False)
        return function()


def _problem(d, width, dtype, n=100, seed=0, turns=10):
    """Points and nodes with phases of up to so many turns, and a phase column if the width is odd."""
    rng = np.random.default_rng([seed, d, width])
    X = rng.uniform(-1, 1, size=(n, d)).astype(dtype)
    frequencies = rng.uniform(-1, 1, size=((width + 1) // 2, d))
    frequencies *= turns / np.abs(X.astype(float) @ frequencies.T).max()
    weights = rng.uniform(0.5, 2.0, size=len(frequencies))
    return X, Nodes(frequencies, weights, 0.3 if width % 2 else None)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 2, 7, 64, 129])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 11, FEW_COLUMNS, FEW_COLUMNS + 1, 40])
def test_the_compiled_loop_equals_numpy(d, width, dtype):
    for turns in (1, 10):
        X, chosen = _problem(d, width, dtype, turns=turns)
        Z = fourier(X, chosen, centre=0.1)
        expected = _without_numba(lambda X=X, chosen=chosen: fourier(X, chosen, centre=0.1))
        assert Z.dtype == expected.dtype == dtype
        assert_allclose(Z, expected, rtol=0, atol=TOLERANCE[dtype] * np.sqrt(2 * chosen.weights.max()))


@pytest.mark.parametrize("path", ["compiled", "numpy"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 4e-16), (np.float32, 1.5e-7)])
def test_cosines_and_sines_have_the_last_digits_right(path, dtype, tolerance, monkeypatch):
    """On and around every eighth of a turn, where the polynomials meet, and at random."""
    if path == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr(_loops, "SMALLEST_WORK", 0)
    eighths = np.arange(-16, 17) / 8
    x = np.concatenate([
        eighths, np.nextafter(eighths, 9), np.nextafter(eighths, -9), np.random.default_rng(0).uniform(-2, 2, 200)
    ])  # fmt: skip
    x = x.astype(dtype)
    Z = fourier(x[:, None], Nodes(np.ones((1, 1)), np.ones(1)))
    with mp.workdps(30):
        exact = np.array([[float(mp.cospi(2 * mp.mpf(float(v)))), float(mp.sinpi(2 * mp.mpf(float(v))))] for v in x])
    # rounding of the phase to dtype at up to half a turn, times 2 pi, and of the value
    assert_allclose(Z, exact, rtol=0, atol=tolerance + math.pi * np.finfo(dtype).eps)


@pytest.mark.usefixtures("compiled")
def test_whole_turns_are_dropped_exactly():
    """A frequency of 2^30 cycles and points on a grid of 2^-33: phases with a fraction of eighths after 2^30 turns."""
    x = np.arange(-40, 40) / 2.0**33 + 1.0
    Z = fourier(x[:, None], Nodes(np.full((1, 1), 2.0**30), np.ones(1)))
    eighths = np.arange(-40, 40)
    exact = np.column_stack([np.cos(np.pi / 4 * (eighths % 8)), np.sin(np.pi / 4 * (eighths % 8))])
    assert_allclose(Z, exact, rtol=0, atol=1e-15)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_do_not_depend_on_the_number_of_threads(d, dtype):
    X, chosen = _problem(d, 2048, dtype, n=1001)
    alone = fourier(X, chosen)
    for n_jobs in (1, 2, 3, -1):
        assert_array_equal(fourier(X, chosen, n_jobs=n_jobs), alone)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert_array_equal(fourier(X, chosen), alone)
    assert_array_equal(_without_numba(lambda: fourier(X, chosen, n_jobs=2)), _without_numba(lambda: fourier(X, chosen)))


@pytest.mark.usefixtures("compiled")
def test_batches_give_the_rows_of_the_whole():
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-6)):
        for d in (3, 40):
            X, chosen = _problem(d, 300, dtype, n=2000)
            whole = fourier(X, chosen)
            parts = np.concatenate([fourier(part, chosen) for part in np.array_split(X, [1, 7, 950])])
            assert_allclose(parts, whole, rtol=0, atol=tolerance * math.sqrt(chosen.weights.max()))


@pytest.mark.usefixtures("compiled")
def test_any_memory_layout_will_do_and_is_left_alone():
    X, chosen = _problem(5, 64, np.float64)
    expected = fourier(X, chosen, centre=0.2)
    spread = np.zeros((200, 10))
    spread[::2, ::2] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    for same in (np.asfortranarray(X), spread[::2, ::2], X[::-1].copy()[::-1], read_only):
        assert_array_equal(fourier(same, chosen, centre=0.2), expected)
    assert_array_equal(read_only, X)


@pytest.mark.usefixtures("compiled")
def test_in_threads_of_somebody_else():
    X, chosen = _problem(4, 256, np.float64, n=500)
    expected = fourier(X, chosen)
    parallel = joblib.Parallel(n_jobs=4, backend="threading")
    for Z in parallel(joblib.delayed(fourier)(X, chosen, 0.0, 2) for _ in range(8)):
        assert_array_equal(Z, expected)


def _transform_in_child(X, chosen, queue):
    queue.put(fourier(X, chosen, n_jobs=2))


@pytest.mark.usefixtures("compiled")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")
def test_after_a_fork():
    X, chosen = _problem(4, 256, np.float64, n=500)
    expected = fourier(X, chosen, n_jobs=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_transform_in_child, args=(X, chosen, queue))
    child.start()
    Z = queue.get(timeout=60)
    child.join(timeout=60)
    assert_array_equal(Z, expected)


def test_without_numba_in_a_new_interpreter():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import numpy as np\n"
        "from spectralkit import FourierFeatures, _loops\n"
        "Z = FourierFeatures(random_state=0).fit_transform(np.arange(6000.0).reshape(2000, 3))\n"
        "assert Z.size >= _loops.SMALLEST_WORK and not _loops.available()\n"
        "print(np.abs((Z**2).sum(axis=1) - 1).max() < 1e-12)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True"


def test_in_an_install_where_nothing_can_be_cached(monkeypatch):
    numba = pytest.importorskip("numba")
    njit = numba.njit

    def without_a_cache_directory(function, *, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function '_waves': no locator available for file '_loops.py'")
        return njit(function, **options)

    monkeypatch.setattr(numba, "njit", without_a_cache_directory)
    monkeypatch.setattr(_loops, "SMALLEST_WORK", 0)
    monkeypatch.setattr(_loops, "_compiled", _loops._compiled.__wrapped__)
    X, chosen = _problem(3, 16, np.float64)
    expected = _without_numba(lambda: fourier(X, chosen))
    assert_allclose(fourier(X, chosen), expected, rtol=0, atol=1e-14 * math.sqrt(2 * chosen.weights.max()))


def test_little_work_does_not_start_numba():
    code = (
        "import sys\n"
        "import numpy as np\n"
        "from spectralkit import BandLimited, FourierFeatures\n"
        "FourierFeatures().fit_transform(np.ones((50, 3)))\n"
        "BandLimited(0.3).gram(np.ones((200, 2)))\n"
        "print('numba' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize("path", ["compiled", "numpy"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sparse_rows_give_the_features_of_dense_ones(path, dtype, monkeypatch):
    if path == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr(_loops, "SMALLEST_WORK", 0)
    X = sparse.random_array((300, 40), density=0.1, rng=np.random.default_rng(0), dtype=np.float64, format="csr")
    X = X.astype(dtype)
    chosen = nodes(Gaussian(0.3), 130, 40)
    for same in (X, X.tocsc().tocsr(), sparse.csr_matrix(X)):
        Z = fourier(same, chosen, centre=5.0, n_jobs=2)
        assert isinstance(Z, np.ndarray)
        assert Z.dtype == dtype
        assert_allclose(Z, fourier(X.toarray(), chosen), rtol=0, atol=10 * TOLERANCE[dtype] * math.sqrt(2 / 130))


def test_no_second_copy_of_the_features_is_made(monkeypatch):
    import tracemalloc

    X, chosen = _problem(8, 1024, np.float64, n=20_000)
    for threshold in (0, 1 << 62):
        monkeypatch.setattr(_loops, "SMALLEST_WORK", threshold)
        fourier(X[:10], chosen)
        tracemalloc.start()
        Z = fourier(X, chosen, n_jobs=2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.25 * Z.nbytes, f"{peak / Z.nbytes:.2f} times the features"


def test_n_jobs_of_the_transformer_reaches_the_threads(monkeypatch):
    seen = []
    monkeypatch.setattr(_fourier, "for_row_blocks", lambda function, n, size, n_jobs: seen.append(n_jobs))
    FourierFeatures(n_jobs=3, random_state=0).fit(np.ones((4, 2))).transform(np.ones((4, 2)))
    assert seen == [3]


# -- band limits and boxes ---------------------------------------------------------------------------------------------

BAND_TOLERANCE = {np.float64: 1e-15, np.float32: 3e-7}


@pytest.fixture(params=["compiled", "numpy"])
def path(request, monkeypatch):
    """Take either path for any amount of work."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr(_loops, "SMALLEST_WORK", 0)
    else:
        monkeypatch.setattr(_loops, "available", lambda: False)
    return request.param


def _band(s, d):
    """The kernel and its derivative to u, times u."""
    with mp.workdps(40):
        u = 2 * mp.pi * mp.sqrt(mp.mpf(float(s)))
        orders = mp.mpf(d) / 2, mp.mpf(d) / 2 + 1
        k, of_more = (mp.gamma(nu + 1) * mp.besselj(nu, u) / (u / 2) ** nu if u else mp.mpf(1) for nu in orders)
        return k, -(u**2) / (d + 2) * of_more


def _squares(dtype):
    """Of turns: over many decades of u, and around the places where one formula takes over from another."""
    u = np.concatenate([np.geomspace(1e-12, 1e6, 200), np.linspace(0.0, 40.0, 200)])
    changes = np.concatenate([[1 / (4 * np.pi**2)], (np.arange(1, 25) / 8) ** 2]).astype(dtype)
    near = [np.nextafter(changes, dtype(end)) for end in (0, 9)]
    beside = [changes * dtype(1 + sign * step) for sign in (-1, 1) for step in (1e-6, 1e-3)]
    return np.concatenate([((u / (2 * np.pi)) ** 2).astype(dtype), changes, *near, *beside])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_band_limited_kernels_have_the_last_digits_right(d, dtype, path):
    s = _squares(dtype)
    k = BandLimited(1.0)._profile_in(s, d)
    assert k.dtype == dtype
    exact, slopes = zip(*(_band(x, d) for x in s), strict=True)
    errors = np.array([float(abs(mp.mpf(float(a)) - b)) for a, b in zip(k, exact, strict=True)])
    rounding = np.finfo(dtype).eps * np.abs(np.array(slopes, dtype=float))  # of u
    assert (errors <= BAND_TOLERANCE[dtype] + rounding).all(), (errors - rounding).max()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_band_limited_kernels_are_one_at_zero_and_small_far_away(d, dtype, path):
    tiny, largest = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    s = np.array([0.0, tiny, 1e-30, 1e15, 1e30, largest, np.inf, np.nan], dtype=dtype)
    k = BandLimited(1.0)._profile_in(s, d)
    assert k[0] == 1.0
    assert_allclose(k[1:3], 1.0, rtol=0, atol=np.finfo(dtype).eps * 2)
    assert (np.abs(k[3:7]) <= 1e-7).all()
    assert (np.abs(k[4:7]) <= 1e-15).all()
    assert np.isnan(k[7])


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_band_limited_kernels_of_any_shape_and_layout(d, dtype):
    s = np.random.default_rng(0).uniform(0, 9, (12, 10, 8)).astype(dtype)
    s.flags.writeable = False
    kept, profile = s.copy(), BandLimited(1.0)._profile_in
    for part in (s, s.T, s[::2, ::3, 1:], s[:0], s[3, 4, 5], np.broadcast_to(s[0, 0], (3, 8)), np.float64(0.5)):
        k = profile(part, d)
        expected = _without_numba(lambda part=part: profile(part, d))
        assert np.shape(k) == np.shape(expected) == np.shape(part)
        assert k.dtype == expected.dtype == part.dtype
        assert_allclose(k, expected, rtol=0, atol=BAND_TOLERANCE[dtype])
    assert_array_equal(s, kept)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_band_limited_matrices_and_their_gradients(d, dtype):
    X = np.random.default_rng(0).normal(size=(60, d)).astype(dtype)
    measure = BandLimited(np.linspace(0.2, 0.4, d))
    found = (measure.gram(X), measure.gram(X[:20], X), *measure.gram_gradient(X))
    expected = _without_numba(lambda: (measure.gram(X), measure.gram(X[:20], X), *measure.gram_gradient(X)))
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype == dtype
        assert_allclose(a, b, rtol=0, atol=100 * BAND_TOLERANCE[dtype])


SINC_TOLERANCE = {np.float64: 1e-15, np.float32: 4e-7}


def _box(d):
    """Widths and frequencies, with some of each zero, tiny or huge."""
    rng = np.random.default_rng(d)
    width, frequencies = rng.uniform(0, 1, (30, d)), rng.normal(size=(40, d)) * 3
    width[:6] = np.array([0.0, 1e-300, 1e-8, 1.0, 1e8, 1e200])[:, None]
    frequencies[:8] = np.array([0.0, 1e-300, 1e-4, 1.0, 0.5, -0.5, 1e8, 1e200])[:, None]
    frequencies[8:12, 0] = 0.0
    return width, frequencies


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 3, 8])
def test_sinc_products_have_the_last_digits_right(d, dtype):
    pytest.importorskip("numba")
    width, frequencies = _box(d)
    kept = width.copy(), frequencies.copy()
    out = np.full((30, 40), np.nan, dtype=dtype)
    _loops.sinc_products(width, frequencies.T, out)
    with mp.workdps(250):  # sin(pi t) at t = 1e200
        t = np.frompyfunc(mp.mpf, 1, 1)(width)[:, None] * np.frompyfunc(mp.mpf, 1, 1)(frequencies)
        exact = np.prod(np.frompyfunc(mp.sincpi, 1, 1)(t), axis=2).astype(float)
    # rounding of t, by up to 2^-53 of it, is part of that: the factor has slopes up to 1 / t
    assert_allclose(out, exact, rtol=0, atol=SINC_TOLERANCE[dtype])
    assert (out[0] == 1).all()
    assert (out[:, 0] == 1).all()
    assert_array_equal(width, kept[0])
    assert_array_equal(frequencies, kept[1])
    same = np.empty((2, 30, 40), dtype=dtype)
    _loops.sinc_products(width[:, :1], frequencies.T, same[0])
    _loops.sinc_products(np.tile(width[:, :1], d), frequencies.T, same[1])
    assert_array_equal(same[0], same[1])


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 3, 8])
def test_the_damping_of_a_box_is_the_product_of_measures(d, dtype):
    width, frequencies = _box(d)
    like = np.zeros(0, dtype=dtype)
    for rows in (width, width[7:8], np.asfortranarray(width), width[::-2]):
        box = Footprint("box", width=rows)
        damping = box.damping(frequencies, like)
        expected = _without_numba(lambda box=box: box.damping(frequencies, like))
        assert damping.dtype == expected.dtype == dtype
        assert_allclose(damping, expected, rtol=0, atol=1e-14 if dtype == np.float64 else 1e-6)
