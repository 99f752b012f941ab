"""Draws rows in which all targets have the same probability: natively, or in NumPy.

The gaps between the targets of a row are geometric, from the integer thresholds of a
`GapTable`. Gap g of a row is drawn from word `g mod 2` of its counter `g // 2`.
"""

import math

import numpy as np

from .._numerics import GapTable, bits, gap_table
from ._draw_rows import Key, key_words
from ._native import native_library


def gap_counts(key: Key, first: int, stop: int, n: int, p: float) -> np.ndarray:
    """How many of n targets each of the rows `first ... stop` has: uint32.

    **Source** Batagelj and Brandes (2005), doi:10.1103/PhysRevE.71.036113.
    """
    if native_library() is None:
        return gap_rows_reference(key, first, stop, n, p)[0]
    return _native(key, first, stop, n, gap_table(p), False, 0)[0]


def gap_rows(
    key: Key, first: int, stop: int, n: int, p: float, skip_own: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The targets in [0, n) of the rows `first ... stop`, each chosen with probability p.

    **Step** Returns their number per row, uint32, and the targets, ascending, row by row,
    int32. With `skip_own` the row's own number is not among them.

    **Source** Batagelj and Brandes (2005), doi:10.1103/PhysRevE.71.036113.
    """
    return rows_of_table(key, first, stop, n, gap_table(p), skip_own)


def rows_of_table(
    key: Key, first: int, stop: int, n: int, table: GapTable, skip_own: bool
) -> tuple[np.ndarray, np.ndarray]:
    """`gap_rows` from a table of thresholds; see there."""
    if native_library() is None:
        return _reference_rows(key, first, stop, n, table, skip_own)
    room = _room((stop - first) * n * table.p)
    while True:
        counts, targets = _native(key, first, stop, n, table, skip_own, room)
        total = int(counts.sum(dtype=np.int64))
        if total <= room:
            return counts, targets[:total]
        room = total


def _room(mean: float) -> int:
    """Room for targets with this mean number that is nearly always enough."""
    return int(mean + 8 * math.sqrt(mean) + 16)


def _native(key, first, stop, n, table, skip_own, room) -> tuple[np.ndarray, np.ndarray]:
    library = native_library()
    assert library is not None
    counts, targets = np.empty(stop - first, np.uint32), np.empty(room, np.int32)
    words = n * table.p + n / table.size
    library.jaxneuro_gap_rows(
        *key_words(key),
        first,
        stop - first,
        n,
        table.thresholds.ctypes.data,
        table.size,
        table.guide.ctypes.data,
        table.shift,
        int(words + math.sqrt(words)),
        skip_own,
        room,
        counts.ctypes.data,
        targets.ctypes.data,
    )
    return counts, targets


def gap_rows_reference(
    key: Key, first: int, stop: int, n: int, p: float, skip_own: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """`gap_rows` in NumPy; see there."""
    return _reference_rows(key, first, stop, n, gap_table(p), skip_own)


def _reference_rows(
    key: Key, first: int, stop: int, n: int, table: GapTable, skip_own: bool
) -> tuple[np.ndarray, np.ndarray]:
    p, mean = table.p, n * table.p
    escapes = n / table.size
    width = int(mean + 6 * math.sqrt(mean * (1 - p)) + escapes + 6 * math.sqrt(escapes) + 4)
    width += width % 2
    at, hit = _positions(key, np.arange(first, stop), 0, width, np.int64(-1), table)
    inside = hit & (at < n)
    counts, targets = inside.sum(axis=1), at[inside]
    late = np.flatnonzero(at[:, -1] < n - 1)
    if late.size:
        rows, extra = _finish_rows(key, late + first, at[late, -1], width, n, table)
        owner = np.concatenate([np.repeat(np.arange(stop - first), counts), rows - first])
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=stop - first)
        targets = np.concatenate([targets, extra])[order]
    if skip_own:
        targets = targets + (targets >= np.repeat(np.arange(first, stop), counts))
    return counts.astype(np.uint32), targets.astype(np.int32)


def _finish_rows(key, rows, at, width, n, table) -> tuple[np.ndarray, np.ndarray]:
    """Continues to draw for the few rows whose gaps have not yet reached the end."""
    owners, targets, counter = [], [], width
    while rows.size:
        more, hit = _positions(key, rows, counter, width, at[:, None], table)
        inside = hit & (more < n)
        owners.append(np.repeat(rows, inside.sum(axis=1)))
        targets.append(more[inside])
        late = more[:, -1] < n - 1
        rows, at, counter = rows[late], more[late, -1], counter + width
    return np.concatenate(owners), np.concatenate(targets)


def _positions(key, rows, counter: int, width: int, start, table: GapTable):
    """Positions after each of `width` gaps, and whether there is a target at each."""
    blocks = np.arange(counter // 2, (counter + width) // 2)
    words = np.stack(bits(key, rows[:, None], blocks[None, :]), axis=-1).reshape(rows.size, width)
    gap = _gaps(words, table)
    escape = gap == table.size
    advance = gap.astype(np.int64 if width * 65536 > 2**31 else np.int32)
    advance += ~escape  # an escaped gap has skipped the whole table and no target
    return np.cumsum(advance, axis=1) + start, ~escape


def _gaps(words: np.ndarray, table: GapTable) -> np.ndarray:
    """The number of thresholds at or below each word; all of them is an escape."""
    high = words >> np.uint32(table.shift)
    gap = table.guide[high]
    doubt = np.flatnonzero(gap != table.guide[high + np.uint32(1)])
    gap.ravel()[doubt] = np.searchsorted(
        table.thresholds, words.ravel()[doubt].astype(np.uint64), side="right"
    )
    return gap
