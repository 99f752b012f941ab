"""Threads that native kernels may use, and work that runs on them with its results in order."""

import functools
import itertools
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

from .. import spec
from .native import native_library


def threads(n: int | None = None) -> int:
    """Sets how many threads a call of a native kernel may use, if given; returns the number.

    At first these are the cores that the process may use, or the value of `JAXNEURO_THREADS` in the
    environment, at most 64. Results keep their bits, whatever the number.

    Raises:
        InvalidValueError: for a number below 1.
    """
    if n is not None:
        spec.check("threads", "threads", spec.Whole(at_least=1), n)
    library = native_library()
    return 1 if library is None else library.jaxneuro_threads(n or 0)


_Item = TypeVar("_Item")


@functools.lru_cache(maxsize=1)
def _pool(n: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=n, thread_name_prefix="jaxneuro")


if hasattr(os, "register_at_fork"):  # a child has no threads but its own
    os.register_at_fork(after_in_child=_pool.cache_clear)


def run_ahead(
    work: Callable[[_Item], Any], items: Iterable[_Item]
) -> Generator[tuple[_Item, Any], None, None]:
    """Each item with its result, in order; a few items ahead are computed in other threads.

    `work` must let other threads run (native kernels, NumPy) and must not wait for other work.
    If the caller stops, or an exception comes (Ctrl-C too), no work is left running.
    """
    n = threads()
    if n == 1:
        yield from ((item, work(item)) for item in items)
        return
    running: deque = deque()
    items = iter(items)
    some = list(itertools.islice(items, 2))
    if len(some) < 2:  # not worth a thread
        yield from ((item, work(item)) for item in some)
        return
    try:
        for item in itertools.chain(some, items):
            running.append((item, _pool(n).submit(work, item)))
            if len(running) > n:
                first, result = running.popleft()
                yield first, result.result()
        while running:
            first, result = running.popleft()
            yield first, result.result()
    finally:
        for _, left in running:
            left.cancel()
        wait([left for _, left in running])
