"""Draws weights and delays from tables of quantiles, and copies rows into columns."""

import numpy as np

from .._numerics import bits, quantile_index
from ._draw_rows import Key, as_counts, key_words
from ._native import native_library

Tables = tuple[np.ndarray | None, np.ndarray | None]


def draw_values(
    key: Key, rows: np.ndarray, counts: np.ndarray, used: np.ndarray, tables: Tables
) -> Tables:
    """Values of `counts` connections of some rows, from position `used` of each row on.

    **Step** Word 0 of (row, position) is looked up in the first table of quantiles, word 1 in
    the second, each (86,016,) of any dtype of 1, 2, 4 or 8 bytes. Returns the values row by
    row; None for a table that is None.
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
