"""Rows in blocks over threads: the only file that starts threads."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import joblib
from threadpoolctl import ThreadpoolController

__all__ = ["for_row_blocks"]


def for_row_blocks(
    function: Callable[[slice], Any], n_rows: int, rows_per_block: int, n_jobs: int | None = None
) -> None:
    """Call ``function(slice)`` for blocks of rows, over `n_jobs` threads, with BLAS held to one thread in each.

    Blocks sit at fixed absolute rows, whatever `n_jobs`, so what is computed for a row is the same to the last bit.
    None follows joblib's convention: one thread, or what a surrounding ``joblib.parallel_config`` says.

    The function must release the global interpreter lock to gain from threads, and write what it computes to disjoint
    rows of an array that exists already.
    """
    starts = range(0, n_rows, rows_per_block)
    jobs = max(1, min(joblib.effective_n_jobs(n_jobs), len(starts)))

    def work(blocks: range) -> None:
        for start in blocks:
            function(slice(start, min(start + rows_per_block, n_rows)))

    with _one_blas_thread():  # for one thread too: a product split over threads rounds otherwise
        if jobs == 1:
            work(starts)
            return
        share = -(-len(starts) // jobs)
        mine, *others = (starts[i : i + share] for i in range(0, len(starts), share))
        with ThreadPoolExecutor(max(1, len(others))) as pool:  # joblib.Parallel looks for results every 10 ms only
            futures = [pool.submit(work, blocks) for blocks in others]
            work(mine)
            for future in futures:
                future.result()


_limiting = threading.Lock()


@contextlib.contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread; the number is one for the whole process.

    The first to come sets it and sets it back. Who comes meanwhile finds it set, and must not set it back to what he
    found, which would be one thread for good. Should the first leave before him, his products go on with more threads.
    """
    if not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limiting.release()


@functools.cache
def _blas() -> ThreadpoolController:
    """Finding the loaded BLAS libraries takes milliseconds; they do not change."""
    return ThreadpoolController()
