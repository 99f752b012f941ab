"""How many bytes per second this machine moves, from the level of memory that holds them."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

BEYOND = 2**28  # bytes, if the largest cache is not known
LEAST = 2**18  # bytes: the call itself would take a part of the time of fewer
SECONDS, ROUNDS = 0.02, 5  # of one measurement at least; the best of so many counts
_UNITS = {"K": 2**10, "M": 2**20}


def cache_bytes() -> dict[str, int]:
    """Bytes of the data caches that a core sees, smallest first; empty where Linux tells none."""
    found = {}
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            kind, level, size = (
                (folder / x).read_text().strip() for x in ("type", "level", "size")
            )
        except OSError:
            continue
        if kind != "Instruction":
            found[f"L{level}"] = int(size.rstrip("KM")) * _UNITS.get(size[-1], 1)
    return dict(sorted(found.items(), key=lambda item: item[1]))


def level_of(n_bytes: float, threads: int = 1) -> str:
    """The smallest cache that holds so many bytes, or "memory"; only L1 and L2 are of one core."""
    for name, size in cache_bytes().items():
        if (n_bytes / threads if name in ("L1", "L2") else n_bytes) <= size:
            return name
    return "memory"


def cached_bytes_per_s(n_bytes: int, threads: int = 1) -> tuple[str, float]:
    """Where so many bytes are (`level_of`), and the bytes per second that pass there.

    One thread is measured over its part of them, times the threads. Where the parts share a cache
    this is at least what they reach together: a bound from it errs on the side of a shorter time.
    """
    part = max(n_bytes // threads, LEAST)
    return level_of(threads * part, threads), threads * _fastest(part)


def memory_bytes_per_s(threads: int = 1) -> float:
    """Bytes per second of all threads together over four times the largest cache."""
    n_bytes = 4 * max(cache_bytes().values(), default=BEYOND // 4)
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(_fastest, threads * [n_bytes]))


def _fastest(n_bytes: int) -> float:
    """The faster of a copy, which reads half of the bytes and writes half, and of reading all."""
    data = np.zeros(n_bytes, np.uint8)
    half = n_bytes // 2
    return max(
        _rate(lambda: np.copyto(data[half : 2 * half], data[:half]), 2 * half),
        _rate(lambda: data.max(), n_bytes),
    )


def _rate(call: Callable[[], object], n_bytes: int) -> float:
    """Bytes per second of a call that moves `n_bytes`, repeated: the best of several rounds."""
    call()
    best, times = 0.0, 1
    for _ in range(ROUNDS):
        while True:
            start = time.perf_counter()
            for _ in range(times):
                call()
            took = time.perf_counter() - start
            if took >= SECONDS:
                break
            times *= 2
        best = max(best, times * n_bytes / took)
    return best
