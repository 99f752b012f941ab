"""How many points a chunk has: found by measuring, where that pays."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

FIRST = 16
_FACTOR = 4
_MOST_SIZES = 4
_BETTER = 0.95  # of the seconds per point: less of a gain is noise
_WORTH = 10.0  # times longer than compiling must the points that are left take
_MEMORY = 0.25  # share of the free memory that the chunks of all workers may take


class Sizes:
    """Hands out the points that are left, as chunks for `workers` that work at once.

    `multiple` divides every size. `tried[size]` are measured seconds per point.
    """

    def __init__(self, left: np.ndarray, workers: int, multiple: int, chunk: int | None):
        self._left, self._workers, self._multiple = left, workers, multiple
        self.tried: dict[int, float] = {}
        self.largest = len(left)
        self.best = self._rounded(min(chunk or FIRST, len(left) if chunk else self._share))

    @property
    def left(self) -> int:
        """How many points have not been handed out."""
        return len(self._left)

    @property
    def _share(self) -> int:
        return -(-len(self._left) // self._workers)

    def _rounded(self, size: float) -> int:
        return max(-(-int(size) // self._multiple), 1) * self._multiple

    def one_each(self, size: int) -> Iterator[tuple[np.ndarray, int]]:
        """A chunk of `size` points for each worker: (numbers of the points, size)."""
        for _ in range(self._workers):
            if self.left:
                yield self._take(size)

    def rest(self) -> Iterator[tuple[np.ndarray, int]]:
        """What is left, in chunks of the best size.

        The last chunks may be of a smaller size that was tried, so that all workers end together.
        """
        while self.left:
            fit = [size for size in self.tried if self._share <= size < self.best]
            yield self._take(min(fit, default=self.best))

    def _take(self, size: int) -> tuple[np.ndarray, int]:
        chunk, self._left = self._left[:size], self._left[size:]
        return chunk, size

    def limit(self, bytes_per_point: float, free: float) -> None:
        """Keeps the chunks of all workers within a quarter of the `free` bytes."""
        if bytes_per_point > 0 and free > 0:
            self.largest = int(_MEMORY * free / bytes_per_point / self._workers)

    def measured(self, size: int, seconds: float) -> None:
        """Seconds per point of chunks of a `size`; the best size so far may change."""
        self.tried[size] = seconds
        if seconds < _BETTER * self.tried.get(self.best, np.inf) or len(self.tried) == 1:
            self.best = size

    def next_to_try(self, compile_s: float) -> int | None:
        """A size to try, or None when what is left is not worth compiling another.

        Sizes 4 times larger are tried while they are faster, then sizes 4 times smaller.
        """
        if len(self.tried) >= _MOST_SIZES or self.left * self.tried[self.best] < _WORTH * compile_s:
            return None
        larger = self._rounded(self.best * _FACTOR)
        if larger not in self.tried and larger <= min(self._share, self.largest):
            return larger
        smaller = self._rounded(self.best // _FACTOR)
        return smaller if smaller not in self.tried else None


def free_bytes(devices: Iterable[Any]) -> float:
    """Memory of these devices that is not in use, of this computer for CPUs; 0 if unknown."""
    cards = [device for device in devices if device.platform != "cpu"]
    if cards:
        stats = [card.memory_stats() or {} for card in cards]
        return sum(float(x.get("bytes_limit", 0) - x.get("bytes_in_use", 0)) for x in stats)
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return 0.0
