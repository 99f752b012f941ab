"""Rows that are not stored, drawn inside the GPU kernel; see `Draw` for how.

A draw depends on the words of its counter alone. Rows drawn with replacement are cut into the
segments of all programs; in rows of gaps each target depends on the one before, so that a
program draws all of a block, and the blocks are distributed among the programs.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl

from .._numerics.draws import _BITS, QUANTILES
from .._numerics.streams import bits
from .redraw import GAPS, UNIFORM, Draw, multiply_high, placed
from .table import HAS_DELAYS, HAS_WEIGHTS


def deliver_redrawn_row(p: Any, section: Any, row: Any, value: jax.Array) -> None:
    """Adds this program's part of a row of a drawn section."""

    def draw_block(j):
        block = section.first_block + j
        draw = Draw(*(p.read("draws", block, word) for word in range(len(Draw._fields))))
        own = row - draw.first_row.astype(jnp.int32)
        here = (own >= 0) & (own < draw.rows.astype(jnp.int32))
        mine = lax.rem(j, jnp.int32(p.grid.segments)) == p.segment
        x = value * p.read("scale", block)
        visit = _visitor(p, section, block, draw, row, x)
        pl.when(here & (draw.rule == UNIFORM))(lambda: _uniform_row(p, draw, own, visit))
        pl.when(here & (draw.rule == GAPS) & mine)(lambda: _gap_row(p, draw, own, visit))
        return j + 1

    lax.while_loop(lambda j: j < section.blocks, draw_block, jnp.int32(0))


def _visitor(p, section, block, draw, row, x):
    """Adds some synapses of a row of a block: their targets, numbers in the row, and a mask."""

    def visit(target, position, valid):
        w, delay = jnp.ones(target.shape, x.dtype), p.integers("block_delay", block)
        if p.has("weights") or p.has("delays"):
            key = draw.values_high, draw.values_low
            words = bits(key, row.astype(jnp.uint32), position.astype(jnp.uint32))
            weight_cell, delay_cell = (_cell(word) for word in words)
        if p.has("weights"):
            own = valid & section.keeps(HAS_WEIGHTS)
            at = section.weights + draw.weights.astype(jnp.int32) + weight_cell
            w = jnp.where(own, p.read("weights", at, mask=own).astype(x.dtype), w)
        if p.has("delays"):
            own = valid & section.keeps(HAS_DELAYS)
            at = section.delays + draw.delays.astype(jnp.int32) + delay_cell
            delay = jnp.where(own, p.integers("delays", at, mask=own), delay)
        p.add(delay, p.integers("block_offset", block) + target, x * w, valid)

    return visit


def _cell(word):
    """`quantile_index`; Triton's lowering counts leading zeros of int32 only."""
    upper = word >= np.uint32(1 << 31)
    r = jnp.where(upper, ~word, word).astype(jnp.int32)
    shift = jnp.maximum(32 - lax.clz(r) - (_BITS + 1), 0)
    cell = (shift << _BITS) + (r >> shift)
    return jnp.where(upper, QUANTILES - 1 - cell, cell)


def _words(p, draw, own, chunk):
    """The two draws of each counter of a chunk."""
    counter = chunk * p.grid.lanes + lax.iota(jnp.int32, p.grid.lanes)
    key = draw.key_high, draw.key_low
    return bits(key, own.astype(jnp.uint32), counter.astype(jnp.uint32)), counter


def _uniform_row(p, draw, own, visit):
    count = draw.mean.astype(jnp.int32)
    if p.has("draw_tables"):
        has_own = draw.own_counts > 0
        at = jnp.where(has_own, draw.own_counts.astype(jnp.int32) - 1 + own, 0)
        count = jnp.where(has_own, p.integers("draw_tables", at), count)

    def add_chunk(chunk):
        words, counter = _words(p, draw, own, chunk)
        for half, word in enumerate(words):
            position = 2 * counter + half
            target = placed(draw, own, multiply_high(word, draw.n).astype(jnp.int32))
            visit(target, position, position < count)
        return chunk + p.grid.segments

    lax.while_loop(lambda chunk: chunk * (2 * p.grid.lanes) < count, add_chunk, p.segment)


def _gap_row(p, draw, own, visit):
    n = draw.n.astype(jnp.int32)

    def add_chunk(loop):
        chunk, last, found = loop
        at, inside, last = gap_chunk(p, draw, own, chunk, last)
        ones = [i.astype(jnp.int32) for i in inside]
        number = found + jnp.cumsum(ones[0] + ones[1], dtype=jnp.int32) - 1
        visit(placed(draw, own, at[0]), number - ones[1], inside[0])
        visit(placed(draw, own, at[1]), number, inside[1])
        return chunk + 1, last, found + jnp.sum(ones[0] + ones[1], dtype=jnp.int32)

    start = jnp.int32(0), jnp.int32(-1), jnp.int32(0)
    lax.while_loop(lambda loop: loop[1] < n - 1, add_chunk, start)


def gap_chunk(p: Any, draw: Any, own: Any, chunk: Any, last: Any) -> tuple[Any, Any, Any]:
    """Some gaps of a row, two per lane: where they end, which ends are targets, and the last end.

    `last` is where those of the chunk before ended, -1 at first.
    """
    n, size = draw.n.astype(jnp.int32), draw.gap_size.astype(jnp.int32)
    words, _ = _words(p, draw, own, chunk)
    gaps = [_gap_of(p, draw, word) for word in words]
    hits = [gap != size for gap in gaps]
    steps = [gap + hit.astype(jnp.int32) for gap, hit in zip(gaps, hits)]
    second = last + jnp.cumsum(steps[0] + steps[1], dtype=jnp.int32)
    at = [second - steps[1], second]
    inside = [hit & (a < n) for hit, a in zip(hits, at)]
    return at, inside, last + jnp.sum(steps[0] + steps[1], dtype=jnp.int32)


def _gap_of(p, draw, word):
    """How many thresholds are at or below each word: between two entries of the guide."""
    start, size = draw.gaps.astype(jnp.int32), draw.gap_size.astype(jnp.int32)
    edge = start + 2 * size + (word >> draw.gap_shift).astype(jnp.int32)
    ends = p.integers("draw_tables", edge), p.integers("draw_tables", edge + 1)

    def halve(loop):
        low, high, _ = loop
        middle = low + ((high - low) >> 1)
        at = start + 2 * jnp.minimum(middle, size - 1)
        below = (p.read("draw_tables", at) <= word) & (p.read("draw_tables", at + 1) == 0)
        closed = low >= high
        low, high = (
            jnp.where(closed | ~below, low, middle + 1),
            jnp.where(closed | below, high, middle),
        )
        return low, high, jnp.max(high - low)

    return lax.while_loop(lambda loop: loop[2] > 0, halve, (*ends, jnp.max(ends[1] - ends[0])))[0]
