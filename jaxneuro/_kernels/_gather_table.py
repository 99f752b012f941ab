"""The table of `gather`: the sources of each row, in slices of 16 rows (sliced ELLPACK).

Entry k of row 16 s + lane is at ``(starts[s] + k) * 16 + lane``, so that entry k of all rows of a
slice is one vector. A slice is as long as its longest row; what a shorter row lacks is padding,
which no version reads a value for.

In a sheet, where neurons are coupled to those around them, entries k of neighbouring rows are
neighbouring sources. Where 8 of them are, the table has the first, and the native version reads
their values at once, and none of the 8 numbers.
"""

import equinox as eqx
import jax
import numpy as np

from .._arrays import as_array
from .._checks import check_count
from ._draw_rows import stable_order

LANES = 16
RUN = 8


class GatherTable(eqx.Module):
    """Which sources each row adds up; see the module docstring for the layout.

    **Fields** `starts` int32 (slices + 1,), in vectors of 16 entries; `sources` (entries,) uint16,
    or int32 for more than 65,536 sources, 0 in padding; `runs` int32 (entries / 8,), the first of 8
    sources s, s + 1, ..., s + 7, or -1 where they are not that; `counts` int32 (rows,) entries of
    each row, ascending by source. Static: `n_rows`, `n_sources`, `longest` row in entries,
    `n_entries` without padding.
    """

    starts: jax.Array
    sources: jax.Array
    runs: jax.Array
    counts: jax.Array
    n_rows: int = eqx.field(static=True)
    n_sources: int = eqx.field(static=True)
    longest: int = eqx.field(static=True)
    n_entries: int = eqx.field(static=True)


def make_gather_table(
    rows: np.ndarray,
    sources: np.ndarray,
    n_rows: int,
    n_sources: int,
    weights: np.ndarray | None = None,
) -> tuple[GatherTable, jax.Array | None]:
    """The table of pairs of row and source, and the weights in its order, 0 in padding.

    Pairs may come in any order and more than once; equal ones keep their order.

    **Raises** `ValueError` for columns of different lengths or of other than whole numbers, for
    numbers out of range, and for a table of 2^31 entries or more.
    """
    n_rows, n_sources = check_count("n_rows", n_rows), check_count("n_sources", n_sources)
    rows = _numbers("rows", rows, n_rows)
    sources = _numbers("sources", sources, n_sources)
    if rows.size != sources.size or (weights is not None and np.shape(weights) != rows.shape):
        lengths = f"{rows.size} rows and {sources.size} sources"
        lengths += "" if weights is None else f", weights {np.shape(weights)}"
        raise ValueError(f"a table needs a row, a source and a weight of each pair; got {lengths}")
    order = _order(rows, sources, n_rows, n_sources)
    counts = np.bincount(rows, minlength=n_rows)
    starts = _starts(counts)
    size = int(starts[-1]) * LANES
    if size >= 2**31:
        raise ValueError(
            f"a table must have less than 2^31 entries; got {size:,}, padding included. Use fewer "
            "connections, or several smaller couplings"
        )
    at = _places(starts, counts)
    column = np.zeros(size, np.uint16 if n_sources <= 65_536 else np.int32)
    column[at] = sources if order is None else sources[order]
    own = None
    if weights is not None:
        given = np.asarray(weights)
        own = np.zeros(size, given.dtype)
        own[at] = given if order is None else given[order]
        own = as_array(own)
    table = GatherTable(
        starts=as_array(starts, np.int32),
        sources=as_array(column),
        runs=as_array(_runs(column), np.int32),
        counts=as_array(counts, np.int32),
        n_rows=n_rows,
        n_sources=n_sources,
        longest=int(counts.max(initial=0)),
        n_entries=rows.size,
    )
    return table, own


def read_gather_table(table: GatherTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pairs of a table: row, source, and the place of the entry, by row and then by source."""
    counts = np.asarray(table.counts, np.int64)
    at = _places(np.asarray(table.starts, np.int64), counts)
    rows = np.repeat(np.arange(table.n_rows), counts)
    return rows, np.asarray(table.sources)[at].astype(np.int64), at


def _numbers(name: str, given: np.ndarray, n: int) -> np.ndarray:
    x = np.asarray(given)
    if x.size == 0:
        x = x.astype(np.int64)
    if x.ndim != 1 or x.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers (pairs,); got {x.dtype}{list(x.shape)}")
    if x.size and not (x.min() >= 0 and x.max() < n):
        raise ValueError(f"{name} must be from 0 to {n - 1}; got {x.min()} to {x.max()}")
    return x.astype(np.int64, copy=False)


def _order(rows: np.ndarray, sources: np.ndarray, n_rows: int, n_sources: int) -> np.ndarray | None:
    """The stable order by row and then by source; None if the pairs have it."""
    below = rows[:-1] < rows[1:]
    if np.all(below | ((rows[:-1] == rows[1:]) & (sources[:-1] <= sources[1:]))):
        return None
    by_source = stable_order(sources, n_sources)
    return by_source[stable_order(rows[by_source], n_rows)]


def _starts(counts: np.ndarray) -> np.ndarray:
    """Where each slice begins, in vectors; a slice is as long as its longest row."""
    padded = np.zeros(-(-counts.size // LANES) * LANES, np.int64)
    padded[: counts.size] = counts
    longest = padded.reshape(-1, LANES).max(1)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(longest)])


def _runs(column: np.ndarray) -> np.ndarray:
    """The first of every 8 sources that are next to each other, else -1."""
    eights = column.reshape(-1, RUN).astype(np.int32)
    together = (eights == eights[:, :1] + np.arange(RUN, dtype=np.int32)).all(axis=1)
    return np.where(together, eights[:, 0], np.int32(-1))


def _places(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The place of every entry, row by row."""
    row = np.arange(counts.size)
    first = starts[row // LANES] * LANES + row % LANES
    before = np.cumsum(counts) - counts
    return np.repeat(first - before * LANES, counts) + LANES * np.arange(counts.sum())
