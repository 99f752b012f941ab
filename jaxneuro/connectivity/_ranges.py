"""Ranges of rows whose numbers of connections are known."""

from collections.abc import Iterator

import numpy as np

from ._rule import CHUNK


def ranges(counts: np.ndarray) -> Iterator[tuple[int, int, int, int]]:
    """Rows `first ... stop` with at most `CHUNK` connections, or one row, and where those lie.

    Each is (first row, stop row, first connection, stop connection).
    """
    ends = np.concatenate([[0], np.cumsum(counts)])
    first = 0
    while first < counts.size:
        stop = int(np.searchsorted(ends, ends[first] + CHUNK, side="right")) - 1
        stop = max(stop, first + 1)
        yield first, stop, int(ends[first]), int(ends[stop])
        first = stop
