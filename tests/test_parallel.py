import threading

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - the second BLAS there is
from threadpoolctl import threadpool_info

from spectralkit._parallel import for_row_blocks


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_its_threads_back_whoever_comes_and_goes_first():
    """One caller is inside when a second comes, and leaves before him."""
    inside, both, first_may_go, second_may_go = (threading.Event() for _ in range(4))
    seen = []

    def first(rows):
        inside.set()
        assert first_may_go.wait(10)

    def second(rows):
        seen.append(blas_threads())
        both.set()
        assert second_may_go.wait(10)

    before = blas_threads()
    callers = [threading.Thread(target=for_row_blocks, args=(work, 4, 4, 1)) for work in (first, second)]
    callers[0].start()
    assert inside.wait(10)
    callers[1].start()
    assert both.wait(10)
    first_may_go.set()
    callers[0].join(10)
    second_may_go.set()
    callers[1].join(10)
    assert seen == [[1] * len(before)]
    assert blas_threads() == before
    for_row_blocks(lambda rows: seen.append(blas_threads()), 4, 4)  # nobody is left who would have set it
    assert seen[1] == [1] * len(before)
    assert blas_threads() == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_block_gives_blas_its_threads_back(n_jobs):
    def fail(rows):
        raise ZeroDivisionError

    before = blas_threads()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            for_row_blocks(fail, 10, 2, n_jobs)
    assert blas_threads() == before


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5, -1])
def test_every_row_is_in_one_block_and_blocks_stand_where_they_always_do(n_jobs):
    seen = np.zeros(103, dtype=int)
    blocks = []

    def count(rows):
        seen[rows] += 1
        blocks.append((rows.start, rows.stop))

    for_row_blocks(count, 103, 10, n_jobs)
    assert (seen == 1).all()
    assert sorted(blocks) == [(start, min(start + 10, 103)) for start in range(0, 103, 10)]
