"""Ranges of rows with known numbers of connections."""

from collections.abc import Iterator

import numpy as np

from ._rule import CHUNK, Chunk, RowDraws


def ranges(counts: np.ndarray) -> Iterator[tuple[int, int, int, int]]:
    """Ranges of rows with at most `CHUNK` connections, or of one row.

    Each is (first row, stop row, first connection, stop connection).
    """
    ends = row_ends(counts)
    first = 0
    while first < counts.size:
        stop = int(np.searchsorted(ends, ends[first] + CHUNK, side="right")) - 1
        stop = max(stop, first + 1)
        yield first, stop, int(ends[first]), int(ends[stop])
        first = stop


def row_ends(counts: np.ndarray) -> np.ndarray:
    """Begins of rows that are stored one after the other, and the end of the last: (rows + 1,)."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def row_draws(draws: RowDraws) -> Iterator[Chunk]:
    """The connections of a rule that can draw each row alone, in chunks."""
    for first, stop, begin, end in ranges(draws.counts):
        if end > begin:
            yield Chunk(first, draws.counts[first:stop], draws.targets(first, stop))


def no_rows(n_pre: int) -> RowDraws:
    """No connections."""
    return RowDraws(np.zeros(n_pre, np.uint32), lambda first, stop: np.zeros(0, np.int32))


def drawn_rows(counts: np.ndarray, targets: np.ndarray) -> RowDraws:
    """Connections that are all drawn already."""
    ends = row_ends(counts)
    return RowDraws(counts, lambda first, stop: targets[ends[first] : ends[stop]])
