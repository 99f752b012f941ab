"""`gather`: what each row of a table adds up of the values of its sources.

With sources s_0 <= s_1 <= ... of row i and weights w, or 1 for all::

    out[i] = sum_k w[i, k] * values[s_k]

The sum begins at 0 and runs over ascending k in every version, on any number of threads: a row is
added up by one thread, or lane, and nothing is added to by two. The cost is that of all entries, in
every call; `deliver` is for what few sources release.

The table has the sources of each row, in slices of 16 rows (sliced ELLPACK). Entry k of row 16 s +
lane is at ``(starts[s] + k) * 16 + lane``, so that entry k of all rows of a slice is one vector. A
slice is as long as its longest row; what a shorter row lacks is padding, which no version reads a
value for.

In a sheet, where neurons are coupled to those around them, entries k of neighbouring rows are
neighbouring sources. Where 8 of them are, the table has the first, and the native version reads
their values at once, and none of the 8 numbers.
"""

import functools
import logging
import warnings
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jaxtyping import Array, Float

from .. import spec
from .._arrays import AnyArray, as_array
from ..spec import InvalidValueError
from .call import batched, by_platform, native_call, over_batch
from .draw import stable_order
from .linear import linear, once
from .native import native_available

LANES = 16
RUN = 8


class GatherTable(eqx.Module):
    """Which sources each row adds up; see the module docstring for the layout.

    Attributes:
        starts: int32 (slices + 1,), in vectors of 16 entries.
        sources: (entries,) uint16, or int32 for more than 65,536 sources, 0 in padding.
        runs: int32 (entries / 8,), the first of 8 sources s, s + 1, ..., s + 7, or -1 where they
            are not that.
        counts: int32 (rows,) entries of each row, ascending by source.
        n_rows, n_sources: how many rows and sources there are.
        longest: entries of the longest row.
        n_entries: of all rows, without padding.
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
    rows: Any,
    sources: Any,
    n_rows: int,
    n_sources: int,
    weights: Any = None,
) -> tuple[GatherTable, jax.Array | None]:
    """The table of pairs of row and source, and the weights in its order, 0 in padding.

    Pairs may come in any order and more than once; equal ones keep their order.

    Raises:
        InvalidValueError: for columns of different lengths or of other than whole numbers, for
            numbers out of range, and for a table of 2^31 entries or more.
    """
    n_rows, n_sources = (
        spec.check("make_gather_table", "n_rows", spec.Whole(), n_rows),
        spec.check("make_gather_table", "n_sources", spec.Whole(), n_sources),
    )
    rows = _numbers("rows", rows, n_rows)
    sources = _numbers("sources", sources, n_sources)
    if rows.size != sources.size or (weights is not None and np.shape(weights) != rows.shape):
        lengths = f"{rows.size} rows and {sources.size} sources"
        lengths += "" if weights is None else f", weights {np.shape(weights)}"
        must = "a row, a source and a weight of each pair"
        raise InvalidValueError("table", "pairs", must, lengths)
    order = _order(rows, sources, n_rows, n_sources)
    counts = np.bincount(rows, minlength=n_rows)
    starts = _starts(counts)
    size = int(starts[-1]) * LANES
    if size >= 2**31:
        must = "below 2^31 with padding (several smaller couplings may have more)"
        raise InvalidValueError("table", "entries", must, f"{size:,}")
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
        got = f"{x.dtype}{list(x.shape)}"
        raise InvalidValueError("table", name, "whole numbers (pairs,)", got)
    if x.size and not (x.min() >= 0 and x.max() < n):
        got = f"{x.min()} to {x.max()}"
        raise InvalidValueError("table", name, f"from 0 to {n - 1}", got)
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


def sums_of_nothing(values: jax.Array, weights: jax.Array, table: GatherTable) -> jax.Array:
    """What a sum begins with, with all batch axes: varies over a mesh as any operand does."""
    nothing = [jnp.sum(x[:0]) for x in (table.starts, table.sources, table.counts)]
    zero = sum((x.astype(values.dtype) for x in nothing), jnp.sum(weights[..., :0]))
    begin = jnp.sum(values[..., :0], axis=-1, keepdims=True) + zero
    return jnp.broadcast_to(begin, (*values.shape[:-1], table.n_rows))


def gather_reference(values: jax.Array, weights: jax.Array, table: GatherTable) -> jax.Array:
    """`gather` as a loop over the entries of all rows at once."""
    start = sums_of_nothing(values, weights, table)
    if table.n_entries == 0:
        return start
    row = np.arange(table.n_rows, dtype=np.int32)
    first = LANES * table.starts[row // LANES] + row % LANES

    def add(k: jax.Array, total: jax.Array) -> jax.Array:
        at = first + LANES * k
        source = table.sources.at[at].get(mode="clip").astype(jnp.int32)
        x = values.at[source].get(mode="clip")
        if weights.shape[0]:
            x = weights.at[at].get(mode="clip") * x
        return jnp.where(k < table.counts, total + x, total)

    return lax.fori_loop(np.int32(0), np.int32(table.longest), add, start)


def gather_gradient(
    bar: jax.Array, values: jax.Array, weights: jax.Array, table: GatherTable
) -> tuple[jax.Array, jax.Array]:
    """The cotangents of values and weights."""
    if table.n_entries == 0:
        return jnp.zeros_like(values), jnp.zeros_like(weights)
    place = np.arange(table.sources.shape[0], dtype=np.int32)
    slices = jnp.searchsorted(table.starts, place // LANES, side="right").astype(jnp.int32) - 1
    row = LANES * slices + place % LANES
    count = table.counts.at[row].get(mode="fill", fill_value=0)
    real = place // LANES - table.starts[slices] < count
    source = table.sources.astype(jnp.int32)
    of_row = jnp.where(real, bar.at[row].get(mode="fill", fill_value=0), 0)
    own = jnp.where(real, weights, 0) * of_row if weights.shape[0] else of_row
    values_bar = jnp.zeros_like(values).at[source].add(own)
    if not weights.shape[0]:
        return values_bar, jnp.zeros_like(weights)
    return values_bar, of_row * jnp.where(real, values[source], 0)


# Axes of values and weights without a batch.
RANKS = (1, 1)

_log = logging.getLogger("jaxneuro")
_on_gpu = Primitive("gather_on_gpu")
_reference = over_batch(gather_reference, RANKS)


def gather(values: AnyArray, weights: AnyArray, table: GatherTable) -> Float[Array, " rows"]:
    """The weighted sum of the values of each row's sources; see the module docstring.

    `values` (sources,) float32 or float64; `weights` (entries,) in the order of the table, what
    stands in padding is not read, or (0,): then all are 1. Returns (rows,) in the dtype of the
    values; 0 for a row without sources.

    The gradient is that of this bilinear map; `vmap` shares the table.

    Raises:
        InvalidValueError: for another shape or dtype, and for a batched table.
    """
    if values.shape != (table.n_sources,) or values.dtype not in (jnp.float32, jnp.float64):
        must = f"float32 or float64 ({table.n_sources},), one of each source (jax.vmap for a batch)"
        got = f"{values.dtype}{list(values.shape)}"
        raise InvalidValueError("gather", "values", must, got)
    if weights.shape not in ((0,), table.sources.shape):
        must = f"({table.sources.shape[0]},), as made with the table, or (0,) for 1 everywhere"
        raise InvalidValueError("gather", "weights", must, str(list(weights.shape)))
    return _gather(values, weights.astype(values.dtype), table)


@jax.custom_jvp
def _gather(values, weights, table):
    return _batched(native_available())(values, weights, table)


@_gather.defjvp
def _slope(primals, tangents):
    values, weights, table = primals
    values, weights = once((values, weights))

    def of(values, weights, table, values_dot, weights_dot):
        out = _gather(values_dot, weights, table)
        return [out + _gather(values, weights_dot, table) if weights.shape[0] else out]

    def transpose(values, weights, table, bar):
        return gather_gradient(bar, values, weights, table)

    out = _gather(values, weights, table)
    return out, linear(of, transpose, (values, weights, table), tangents[:2])[0]


@functools.cache
def _batched(native: bool) -> Any:
    """The call for one network or for a batch of them over one table."""
    del native  # another key: what was traced without the native library stays without it

    def call(values, weights, table):
        if table.n_entries == 0:
            return sums_of_nothing(values, weights, table)
        versions = {"cpu": _native, "cuda": _cuda}
        return by_platform(values, weights, table, default=_reference, **versions)

    return batched(
        call,
        RANKS,
        "gather: the table of connections must not be batched by vmap; map over the values or the "
        "weights and share one table",
    )


def _native(values: jax.Array, weights: jax.Array, table: GatherTable) -> jax.Array:
    operands = values, weights, table.starts, table.sources, table.runs, table.counts
    shape = (*values.shape[:-1], table.n_rows)
    return native_call("jaxneuro_gather", operands, shape, values.dtype)


def _cuda(values: jax.Array, weights: jax.Array, table: GatherTable) -> jax.Array:
    # Says the shape of the result, and over which axes of a mesh it varies.
    like = sums_of_nothing(values, weights, table)
    leaves, structure = jax.tree.flatten(table)
    return _on_gpu.bind(like, values, weights, *leaves, structure=structure)


@_on_gpu.def_abstract_eval
def _shape(like: Any, *_: Any, **__: Any) -> Any:
    return like


def _lower(ctx: Any, *operands: Any, structure: Any) -> Any:
    def kernel(_: Any, values: jax.Array, weights: jax.Array, *leaves: jax.Array) -> list:
        from .gpu_gather import gather_pallas

        return [gather_pallas(values, weights, jax.tree.unflatten(structure, leaves))]

    def otherwise(_: Any, values: jax.Array, weights: jax.Array, *leaves: jax.Array) -> list:
        return [_reference(values, weights, jax.tree.unflatten(structure, leaves))]

    try:
        with warnings.catch_warnings():
            # JAX 0.11 warns at every lowering; a user cannot act on it.
            warnings.filterwarnings("ignore", "The Pallas Triton backend is deprecated")
            return mlir.lower_fun(kernel, multiple_results=True)(ctx, *operands)
    except Exception as error:  # another JAX, or a GPU for which it lowers no Pallas
        _log.warning("no GPU kernel here, the slower reference runs instead: %s", error)
    return mlir.lower_fun(otherwise, multiple_results=True)(ctx, *operands)


mlir.register_lowering(_on_gpu, _lower, platform="cuda")
