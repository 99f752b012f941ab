"""Draws the targets of rows uniformly, and weights and delays from tables of quantiles.

Natively, or the same in NumPy. A draw in [0, n) is `(word * n) >> 32`. Draw d of a row is word `d
mod 2` of its counter `d // 2`. `skip_own` draws among all but the row's own number.
"""

from typing import Any, TypeAlias

import numpy as np

from .._numerics.draws import quantile_index
from .._numerics.streams import bits
from .native import native_library

Key: TypeAlias = tuple[Any, Any]


def below(words: np.ndarray, n: int) -> np.ndarray:
    """Words of 32 random bits as whole numbers in [0, n)."""
    return ((words.astype(np.uint64) * np.uint64(n)) >> np.uint64(32)).astype(np.int64)


def key_words(key: Key) -> tuple[int, int]:
    """The key for a native function."""
    return int(key[0]), int(key[1])


def as_counts(counts: np.ndarray) -> np.ndarray:
    """Numbers per row for a native function."""
    return np.ascontiguousarray(counts, np.uint32)


def _others(targets: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Draws among all but `own`: numbers from `own` on are raised by one."""
    return targets + (targets >= own)


def uniform_rows(
    key: Key, first: int, counts: np.ndarray, n: int, skip_own: bool = False, ascend: bool = True
) -> np.ndarray:
    """The first `counts` draws in [0, n) of the rows from `first` on, with replacement.

    Int32, row after row; ascending in a row, or in no order without `ascend`.
    """
    library = native_library()
    if library is None:
        return uniform_rows_reference(key, first, counts, n, skip_own)
    counts = as_counts(counts)
    out = np.empty(int(counts.sum(dtype=np.int64)), np.int32)
    rows = first, counts.size, counts.ctypes.data
    library.jaxneuro_uniform_rows(*key_words(key), *rows, n, skip_own, ascend, out.ctypes.data)
    return out


def uniform_rows_reference(
    key: Key, first: int, counts: np.ndarray, n: int, skip_own: bool = False
) -> np.ndarray:
    """`uniform_rows` in NumPy; see there. Always ascending."""
    mine = np.asarray(counts).astype(np.int64)
    blocks = (mine + 1) // 2  # two words each; the last word of an odd row is not used
    row, ends = np.repeat(np.arange(mine.size), blocks), np.cumsum(blocks)
    counter = np.arange(row.size) - (ends - blocks)[row]
    words = np.stack(bits(key, row + first, counter), axis=-1).ravel()
    words = np.delete(words, (2 * ends - 1)[mine % 2 == 1])
    start = np.repeat(np.arange(mine.size) * n, mine)
    targets = np.sort(below(words, n) + start) - start
    if skip_own:
        targets = _others(targets, np.repeat(np.arange(mine.size) + first, mine))
    return targets.astype(np.int32)


def count_draws(key: Key, first: int, stop: int, n: int) -> np.ndarray:
    """How many of the draws `first ... stop` of a sequence of uniform draws fall to each of n.

    The sequence does not belong to a row: beyond 32 bits its counter continues in the index.
    `first` is even.
    """
    library = native_library()
    if library is None:
        return count_draws_reference(key, first, stop, n)
    counts = np.zeros(n, np.uint32)
    library.jaxneuro_count_draws(*key_words(key), first // 2, stop - first, n, counts.ctypes.data)
    return counts


def count_draws_reference(key: Key, first: int, stop: int, n: int) -> np.ndarray:
    """`count_draws` in NumPy; see there."""
    words = np.concatenate(counter_words(key, first // 2, (stop + 1) // 2))
    return np.bincount(below(words[: stop - first], n), minlength=n).astype(np.uint32)


def counter_words(key: Key, first: int, stop: int) -> tuple[Any, Any]:
    """Two words per counter; beyond 32 bits the counter continues in the index."""
    counter = np.arange(first, stop)
    return bits(key, counter >> 32, counter & 0xFFFFFFFF)


def draw_pairs(key: Key, first: int, stop: int, n_first: int, n_second: int) -> np.ndarray:
    """The pairs `first ... stop` of a sequence of uniform draws, as `a * n_second + b`: int64.

    Pair c is drawn from the words of counter c of a sequence that does not belong to a row.
    """
    library = native_library()
    if library is None:
        return draw_pairs_reference(key, first, stop, n_first, n_second)
    pairs = np.empty(stop - first, np.int64)
    sizes = stop - first, n_first, n_second
    library.jaxneuro_draw_pairs(*key_words(key), first, *sizes, pairs.ctypes.data)
    return pairs


def draw_pairs_reference(
    key: Key, first: int, stop: int, n_first: int, n_second: int
) -> np.ndarray:
    """`draw_pairs` in NumPy; see there."""
    a, b = counter_words(key, first, stop)
    return below(a, n_first) * n_second + below(b, n_second)


def distinct_rows(
    key: Key, first: int, rows: int, k: int, n: int, skip_own: bool = False
) -> np.ndarray:
    """The first k different draws in [0, n) of each of some rows, ascending: int32 (rows, k).

    If k is more than half of n, those that are not among the first n - k.
    """
    library = native_library()
    if library is None:
        return distinct_rows_reference(key, first, rows, k, n, skip_own)
    out = np.empty((rows, k), np.int32)
    library.jaxneuro_distinct_rows(*key_words(key), first, rows, k, n, skip_own, out.ctypes.data)
    return out


def distinct_rows_reference(
    key: Key, first: int, rows: int, k: int, n: int, skip_own: bool = False
) -> np.ndarray:
    """`distinct_rows` in NumPy; see there."""
    index = np.arange(first, first + rows)
    if k <= n // 2:
        targets = np.sort(_distinct(key, index, k, n), axis=1)
    else:
        left_out = np.zeros((rows, n), bool)
        np.put_along_axis(left_out, _distinct(key, index, n - k, n), True, axis=1)
        targets = np.nonzero(~left_out)[1].reshape(rows, k)
    return (_others(targets, index[:, None]) if skip_own else targets).astype(np.int32)


def _draws(key: Key, index: np.ndarray, count: int, n: int) -> np.ndarray:
    """The first `count` draws in [0, n) of each index."""
    blocks = np.arange((count + 1) // 2)
    words = np.stack(bits(key, index[:, None], blocks[None, :]), axis=-1)
    return below(words.reshape(index.size, -1)[:, :count], n)


def _distinct(key: Key, index: np.ndarray, k: int, n: int) -> np.ndarray:
    """The first k distinct draws of each index, in the order drawn."""
    if k == 0:
        return np.zeros((index.size, 0), np.int64)
    out = np.empty((index.size, k), np.int64)
    todo, count = np.arange(index.size), k + int(0.75 * k * k / n) + 4
    while todo.size:
        drawn = _draws(key, index[todo], count, n)
        order = np.argsort(drawn, axis=1, kind="stable")
        ranked = np.take_along_axis(drawn, order, axis=1)
        new = np.ones(drawn.shape, bool)
        repeated = ranked[:, 1:] == ranked[:, :-1]
        np.put_along_axis(new, order[:, 1:], ~repeated, axis=1)
        enough = new.sum(axis=1) >= k
        keep = new & (np.cumsum(new, axis=1) <= k)
        out[todo[enough]] = drawn[enough][keep[enough]].reshape(-1, k)
        todo, count = todo[~enough], 2 * count
    return out


def transpose(sources: np.ndarray, first: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The targets of each source, from the k sources of each target.

    `sources` int32 (targets, k) in [0, n), the targets numbered from `first`. Returns how many
    targets each source has, uint32 (n,), and these, ascending, source by source, int32.
    """
    library = native_library()
    if library is None:
        return transpose_reference(sources, first, n)
    sources = np.ascontiguousarray(sources, np.int32)
    counts, starts = np.zeros(n, np.uint32), np.empty(n, np.uint32)
    targets = np.empty(sources.size, np.int32)
    library.jaxneuro_transpose(
        sources.ctypes.data,
        *sources.shape,
        first,
        n,
        *(x.ctypes.data for x in (counts, starts, targets)),
    )
    return counts, targets


def transpose_reference(sources: np.ndarray, first: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """`transpose` in NumPy; see there."""
    flat = sources.ravel()
    counts = np.bincount(flat, minlength=n).astype(np.uint32)
    order = stable_order_reference(flat, n) // max(sources.shape[1], 1)
    return counts, (order + first).astype(np.int32)


def stable_order(values: np.ndarray, n: int) -> np.ndarray:
    """Stable argsort of integers in [0, n)."""
    library = native_library()
    if library is None or n > 4 * values.size + 65_536 or values.size >= 2**32:
        return stable_order_reference(values, n)
    values = np.ascontiguousarray(values, np.int64)
    starts, order = np.zeros(n + 1, np.uint32), np.empty(values.size, np.int64)
    where = starts.ctypes.data, order.ctypes.data
    library.jaxneuro_stable_order(values.ctypes.data, values.size, n, *where)
    return order


def stable_order_reference(values: np.ndarray, n: int) -> np.ndarray:
    """`stable_order` in NumPy: a radix sort by 16 bits at a time."""
    order = np.argsort((values & 0xFFFF).astype(np.uint16), kind="stable")
    for shift in range(16, max(int(n - 1).bit_length(), 1), 16):
        digit = ((values >> shift) & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order


Tables = tuple[np.ndarray | None, np.ndarray | None]


def draw_values(
    key: Key, rows: np.ndarray, counts: np.ndarray, used: np.ndarray, tables: Tables
) -> Tables:
    """Values of `counts` connections of some rows, from position `used` of each row on.

    Word 0 of (row, position) is looked up in the first table of quantiles, word 1 in the second,
    each (86,016,) of any dtype of 1, 2, 4 or 8 bytes. Returns the values row by row; None for a
    table that is None.
    """
    library = native_library()
    if library is None:
        return draw_values_reference(key, rows, counts, used, tables)
    rows, counts, used = as_counts(rows), as_counts(counts), as_counts(used)
    size = int(counts.sum(dtype=np.int64))
    out = tuple(None if t is None else np.empty(size, t.dtype) for t in tables)
    places = []
    for table, values in zip(tables, out):
        if table is None or values is None:
            places += [None, 0, None]
        else:
            places += [table.ctypes.data, table.itemsize, values.ctypes.data]
    library.jaxneuro_draw_values(
        *key_words(key), rows.size, *(x.ctypes.data for x in (rows, counts, used)), *places
    )
    return out[0], out[1]


def draw_values_reference(
    key: Key, rows: np.ndarray, counts: np.ndarray, used: np.ndarray, tables: Tables
) -> Tables:
    """`draw_values` in NumPy; see there."""
    counts = counts.astype(np.int64)
    ends = np.cumsum(counts)
    position = np.arange(counts.sum()) + np.repeat(used - (ends - counts), counts)
    words = bits(key, np.repeat(rows, counts), position)
    first, second = (
        None if table is None else table[quantile_index(word)] for table, word in zip(tables, words)
    )
    return first, second


def place_rows(
    counts: np.ndarray, begin: np.ndarray, values: np.ndarray, column: np.ndarray
) -> None:
    """Copies rows that are contiguous in `values` to where each begins in `column`."""
    library = native_library()
    if library is None:
        place_rows_reference(counts, begin, values, column)
        return
    counts, begin = as_counts(counts), np.ascontiguousarray(begin, np.int64)
    values = np.ascontiguousarray(values, column.dtype)
    where = counts.ctypes.data, begin.ctypes.data, counts.size, column.itemsize
    library.jaxneuro_place_rows(*where, values.ctypes.data, column.ctypes.data)


def place_rows_reference(
    counts: np.ndarray, begin: np.ndarray, values: np.ndarray, column: np.ndarray
) -> None:
    """`place_rows` in NumPy; see there."""
    counts = counts.astype(np.int64)
    ends = np.cumsum(counts)
    if ends.size and begin[-1] + counts[-1] - begin[0] == ends[-1]:
        column[begin[0] : begin[0] + ends[-1]] = values
    else:
        column[np.arange(values.size) + np.repeat(begin - (ends - counts), counts)] = values
