"""Rows that are not stored: drawn again from their bits whenever their source spikes.

A block of a section with the flag `REDRAWN` has no synapses in the columns of the table. 20 words
say how its rows are drawn, and any of them can be drawn alone, in any order, on any device, and
equals the row that would have been stored. Individual weights and delays of such a block are
quantiles, looked up in tables that are stored in place of its columns.

The gaps between the targets of a row are geometric, from the integer thresholds of a `GapTable`.
Gap g of a row is drawn from word `g mod 2` of its counter `g // 2`, natively or in NumPy.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._numerics.draws import GapTable, gap_table, quantile_index
from .._numerics.streams import bits
from .draw import Key, key_words, uniform_rows
from .native import native_library

DRAW_WORDS = 20
UNIFORM, GAPS = 1, 2
_CHUNK = 128  # counters drawn at a time, two draws each


class Draw(NamedTuple):
    """How the rows of a block are drawn: numbers on the host, arrays () when traced.

    The words that kernels read are these fields in this order; `native/layout.h` is made from
    them (`python -m scripts.native_layout`).

    Attributes:
        rule: draws with replacement (`UNIFORM`), or of the gaps between targets that all have the
            same probability (`GAPS`).
        key_high, key_low: the key of the targets.
        n: candidates.
        skip_own: whether those are all but the row's own number.
        first_row, rows: the sources that have rows, in their population.
        shift: of targets.
        mean: synapses of a row (of each, without `own_counts`).
        own_counts: 1 + the offset of the numbers of synapses per row in the table's `draw_tables`,
            or 0.
        gaps: where a gap table starts there.
        gap_size: how many thresholds it has.
        gap_shift: by how many bits a word is shifted to be looked up in its guide.
        hint: words of a row.
        values_high, values_low: the key of weights and delays.
        weights, delays: where their tables of quantiles start in the section's columns.
    """

    rule: Any
    key_high: Any
    key_low: Any
    n: Any
    skip_own: Any
    first_row: Any
    rows: Any
    shift: Any
    mean: Any
    own_counts: Any
    gaps: Any
    gap_size: Any
    gap_shift: Any
    hint: Any
    values_high: Any
    values_low: Any
    weights: Any
    delays: Any

    def words(self) -> np.ndarray:
        """The block as the uint32 words that the kernels read."""
        padding = [0] * (DRAW_WORDS - len(self))
        return np.array([int(x) for x in self] + padding, np.uint32)

    @classmethod
    def read(cls, words: Any) -> "Draw":
        """The block that `words` describe: NumPy or traced."""
        return cls(*(words[k] for k in range(len(cls._fields))))


def gap_words(table: GapTable) -> np.ndarray:
    """A gap table as the kernels read it: thresholds as pairs of words, then the guide."""
    low_high = table.thresholds.astype("<u8").view("<u4").astype(np.uint32)
    words = np.concatenate([low_high, table.guide])
    return np.concatenate([words, np.zeros(words.size % 2, np.uint32)])


def redraw(draw: Draw, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All connections of a block, on the host: sources, their numbers of synapses, targets.

    `tables` are the table's `draw_tables`. Sources count in their population and come once per
    synapse; targets in [0, n), ascending in a row.
    """
    key, rows, skip = (draw.key_high, draw.key_low), int(draw.rows), bool(draw.skip_own)
    if int(draw.rule) == UNIFORM:
        counts = np.full(rows, draw.mean, np.uint32)
        if draw.own_counts:
            counts = tables[int(draw.own_counts) - 1 :][:rows]
        targets = uniform_rows(key, 0, counts, int(draw.n), skip)
    else:
        start, size = int(draw.gaps), int(draw.gap_size)
        thresholds = np.ascontiguousarray(tables[start : start + 2 * size]).view(np.uint64)
        guide = tables[start + 2 * size :][: (1 << (32 - int(draw.gap_shift))) + 1]
        table = GapTable(thresholds, np.ascontiguousarray(guide), int(draw.gap_shift))
        counts, targets = rows_of_table(key, 0, rows, int(draw.n), table, skip)
    number = np.repeat(np.arange(rows) + int(draw.first_row), counts)
    return number, counts.astype(np.int64), targets.astype(np.int64)


class Visit(NamedTuple):
    """Some synapses of a drawn row: arrays (256,); those that are not `valid` must be left out."""

    target: jax.Array
    position: jax.Array
    valid: jax.Array


def visit_row(draw: Draw, row: jax.Array, tables: jax.Array, carry: Any, visit: Callable) -> Any:
    """Draws a row in `jnp`: `carry = visit(carry, Visit)` for its synapses, some at a time.

    `row` counts in the source population; `tables` are the table's `draw_tables`.
    """
    own = row - draw.first_row.astype(jnp.int32)
    here = (own >= 0) & (own < draw.rows.astype(jnp.int32))
    loops = [_uniform_row, _gap_row]
    which = draw.rule.astype(jnp.int32) - 1
    return lax.cond(
        here,
        lambda carry: lax.switch(
            which,
            [lambda c, f=f: f(draw, own, tables, c, visit) for f in loops],
            carry,
        ),
        lambda carry: carry,
        carry,
    )


def placed(draw: Draw, own: jax.Array, target: jax.Array) -> jax.Array:
    """Draws as targets in their population."""
    skipped = target + ((draw.skip_own > 0) & (target >= own)).astype(jnp.int32)
    return skipped + draw.shift.astype(jnp.int32)


def _words(draw: Draw, own: jax.Array, chunk: jax.Array) -> jax.Array:
    """The words of a chunk of counters of a row, in the order of the draws: (256,)."""
    counter = jnp.arange(_CHUNK, dtype=jnp.uint32) + chunk.astype(jnp.uint32) * np.uint32(_CHUNK)
    words = bits((draw.key_high, draw.key_low), own.astype(jnp.uint32), counter)
    return jnp.stack(words, axis=-1).reshape(-1)


def _uniform_row(draw: Draw, own, tables, carry, visit):
    at = jnp.maximum(draw.own_counts.astype(jnp.int32) - 1, 0) + own
    count = jnp.where(draw.own_counts > 0, tables[at], draw.mean).astype(jnp.int32)

    def body(loop):
        chunk, carry = loop
        position = chunk * (2 * _CHUNK) + jnp.arange(2 * _CHUNK, dtype=jnp.int32)
        target = multiply_high(_words(draw, own, chunk), draw.n).astype(jnp.int32)
        some = Visit(placed(draw, own, target), position, position < count)
        return chunk + 1, visit(carry, some)

    more = lambda loop: loop[0] * (2 * _CHUNK) < count  # noqa: E731
    return lax.while_loop(more, body, (jnp.int32(0), carry))[1]


def _gap_row(draw: Draw, own, tables, carry, visit):
    n = draw.n.astype(jnp.int32)

    def body(loop):
        chunk, last, found, carry = loop
        gap = _gap_of(draw, tables, _words(draw, own, chunk))
        hit = gap != draw.gap_size.astype(jnp.int32)
        at = last + jnp.cumsum(gap + hit.astype(jnp.int32))
        inside = hit & (at < n)
        position = found + jnp.cumsum(inside.astype(jnp.int32)) - 1
        carry = visit(carry, Visit(placed(draw, own, at), position, inside))
        found = found + jnp.sum(inside, dtype=jnp.int32)
        return chunk + 1, at[-1], found, carry

    start = jnp.int32(0), jnp.int32(-1), jnp.int32(0), carry
    return lax.while_loop(lambda loop: loop[1] < n - 1, body, start)[3]


def _gap_of(draw: Draw, tables: jax.Array, word: jax.Array) -> jax.Array:
    start, size = draw.gaps.astype(jnp.int32), draw.gap_size.astype(jnp.int32)
    return gap_of(tables, start, size, draw.gap_shift, word)


def gap_of(tables: jax.Array, start: Any, size: Any, shift: Any, word: jax.Array) -> jax.Array:
    """The gap of each word: how many thresholds of the gap table at `start` are at or below it."""
    edge = start + 2 * size + (word >> shift).astype(jnp.int32)
    low, high = tables[edge].astype(jnp.int32), tables[edge + 1].astype(jnp.int32)

    def halve(_, ends):
        low, high = ends
        middle = low + (high - low) // 2
        at = start + 2 * jnp.minimum(middle, size - 1)
        below = (tables[at + 1] == 0) & (tables[at] <= word)  # a second word: the threshold 2^32
        open_ = low < high
        return jnp.where(open_ & below, middle + 1, low), jnp.where(open_ & ~below, middle, high)

    return lax.fori_loop(0, 17, halve, (low, high))[0]


def multiply_high(word: jax.Array, n: jax.Array) -> jax.Array:
    """`(word * n) >> 32` of uint32, in 16-bit halves."""
    half, low = np.uint32(16), np.uint32(0xFFFF)
    a, b, c, d = word >> half, word & low, n >> half, n & low
    middle = a * d + ((b * d) >> half)
    rest = b * c + (middle & low)
    return a * c + (middle >> half) + (rest >> half)


def value_cells(draw: Draw, row: jax.Array, position: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The cells of weight and delay of some synapses in their tables of quantiles."""
    key = draw.values_high, draw.values_low
    first, second = bits(key, row.astype(jnp.uint32), position.astype(jnp.uint32))
    return quantile_index(first), quantile_index(second)


def gap_counts(key: Key, first: int, stop: int, n: int, p: float) -> np.ndarray:
    """How many of n targets each of the rows `first ... stop` has: uint32.

    Reference:
        Batagelj and Brandes (2005), Efficient generation of large random networks,
        doi:10.1103/PhysRevE.71.036113.
    """
    if native_library() is None:
        return gap_rows_reference(key, first, stop, n, p)[0]
    return _native(key, first, stop, n, gap_table(p), False, 0)[0]


def gap_rows(
    key: Key, first: int, stop: int, n: int, p: float, skip_own: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The targets in [0, n) of the rows `first ... stop`, each chosen with probability p.

    Returns their number per row, uint32, and the targets, ascending, row by row, int32. With
    `skip_own` the row's own number is not among them.

    Reference:
        Batagelj and Brandes (2005), Efficient generation of large random networks,
        doi:10.1103/PhysRevE.71.036113.
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
