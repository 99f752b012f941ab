"""`deliver` and its gradient in `jnp`: they run anywhere and define what the others must equal."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .clock import Clock
from .redraw import Draw, Visit, value_cells, visit_row
from .spike_output import SpikeOutput
from .table import (
    HAS_DELAYS,
    HAS_WEIGHTS,
    REDRAWN,
    Rows,
    Section,
    Synapses,
    Table,
    expand,
    expand_rows,
    read_sections,
)


class Reached(NamedTuple):
    """Where some synapses of a drawn row lead: arrays (256,), 0 where not `valid`."""

    slot: jax.Array
    place: jax.Array
    weight_index: jax.Array  # beyond the weights if there is none


class RedrawnRows:
    """The rows of a table that are drawn, visited block by block."""

    def __init__(self, table: Table, sections: Section, rows: Rows, step: Any, slots: int):
        self.table, self.sections, self.rows = table, sections, rows
        self.step, self.slots = step, slots

    def is_drawn(self, row: jax.Array) -> jax.Array:
        return (self.sections.flags[self.rows.section[row]] & REDRAWN) != 0

    def visit(self, row: jax.Array, n_weights: int, carry: Any, visit: Any) -> Any:
        """`carry = visit(carry, block, valid, Reached)` for all synapses of a row."""
        s, section, number = self.sections, self.rows.section[row], self.rows.number[row]

        def block_of(j: jax.Array, carry: Any) -> Any:
            block = s.first_block[section] + j
            draw = Draw.read(self.table.draws[block])

            def some(carry: Any, found: Visit) -> Any:
                reached = self._reached(section, block, draw, number, found, n_weights)
                return visit(carry, block, found.valid, reached)

            return visit_row(draw, number, jnp.asarray(self.table.draw_tables), carry, some)

        return lax.fori_loop(0, s.blocks[section], block_of, carry)

    def _reached(self, section, block, draw: Draw, number, found: Visit, n_weights: int):
        t, s = self.table, self.sections
        flags, beyond = s.flags[section], jnp.full(found.target.shape, n_weights, jnp.int32)
        weight, delay = value_cells(draw, number, found.position)
        weight = s.weights[section] + draw.weights.astype(jnp.int32) + weight
        steps = jnp.broadcast_to(t.block_delay[block], found.target.shape)
        if t.delays.shape[0]:
            at = s.delays[section] + draw.delays.astype(jnp.int32) + delay
            own = t.delays[jnp.where((flags & HAS_DELAYS) != 0, at, 0)].astype(jnp.int32)
            steps = jnp.where((flags & HAS_DELAYS) != 0, own, steps)
        place = t.block_offset[block] + found.target
        return Reached(
            slot=jnp.where(found.valid, jnp.mod(self.step + steps, self.slots), 0),
            place=jnp.where(found.valid, place, 0),
            weight_index=jnp.where((flags & HAS_WEIGHTS) != 0, weight, beyond),
        )


def weight_of(weights: jax.Array, index: jax.Array, dtype: Any) -> jax.Array:
    """The individual weights at some places, 1 beyond them."""
    if weights.shape[0] == 0:
        return jnp.ones(index.shape, dtype)
    return weights.astype(dtype).at[index].get(mode="fill", fill_value=1)


def redrawn_gradient(
    rows: RedrawnRows, arrived: jax.Array, value: jax.Array, scale: jax.Array, weights: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What drawn rows add to the cotangents of scale, weights and values (sources,).

    `arrived` is the cotangent of the ring, (slots, places).
    """
    dtype = arrived.dtype
    start = jnp.zeros(scale.shape, dtype), jnp.zeros(weights.shape, dtype), jnp.zeros_like(value)

    def add_row(row: jax.Array, bars: Any) -> Any:
        released = rows.rows.source[row]

        def visit(bars: Any, block: jax.Array, valid: jax.Array, to: Reached) -> Any:
            scale_bar, weights_bar, value_bar = bars
            y = jnp.where(valid, arrived[to.slot, to.place], 0)
            own = y * weight_of(weights, to.weight_index, dtype)
            scale_bar = scale_bar.at[block].add(value[released] * jnp.sum(own))
            value_bar = value_bar.at[released].add(scale[block] * jnp.sum(own))
            y = y * (value[released] * scale[block])
            return scale_bar, weights_bar.at[to.weight_index].add(y, mode="drop"), value_bar

        skip = lambda bars: bars  # noqa: E731
        run = lambda bars: rows.visit(row, weights.shape[0], bars, visit)  # noqa: E731
        return lax.cond(rows.is_drawn(row), run, skip, bars)

    return lax.fori_loop(0, rows.table.n_rows, add_row, start)


def clear_slot(ring: jax.Array, step: Any) -> jax.Array:
    """`ring` with the slot of `step` set to 0."""
    if ring.shape[0] == 1:
        return jnp.zeros_like(ring)
    slot = jnp.mod(step, ring.shape[0])
    return lax.dynamic_update_index_in_dim(ring, jnp.zeros_like(ring[0]), slot, 0)


def cleared(ring: jax.Array, clock: Clock) -> jax.Array:
    """A ring, with its batch axes, whose slot of a step is 0."""
    one, step = clear_slot, clock.now
    for k in range(ring.ndim - 2):
        one = jax.vmap(one, (0, 0 if step.ndim > k else None))
    return one(ring, jnp.broadcast_to(step, ring.shape[: step.ndim]))


def rounded(x: jax.Array, dtype: jnp.dtype) -> jax.Array:
    """Products as a ring of `dtype` holds them: rounded to whole quanta if it is integer."""
    return jnp.rint(x).astype(dtype) if jnp.issubdtype(dtype, jnp.integer) else x


def product_dtype(ring: Any) -> Any:
    """The dtype in which products are made."""
    return jnp.float32 if jnp.issubdtype(ring.dtype, jnp.integer) else ring.dtype


def own_weights(synapses: Synapses, weights: jax.Array, dtype: Any) -> jax.Array:
    """The individual weight of every synapse, 1 where its block has one for all."""
    if weights.shape[0] == 0:
        return jnp.ones(synapses.block.shape, dtype)
    index = synapses.weight_index
    return jnp.where(index < 0, 1, weights[jnp.maximum(index, 0)].astype(dtype))


def deliver_reference(ring, released: SpikeOutput, step, scale, weights, table: Table, clear: bool):
    """`deliver` as a loop over the rows that released something; see there."""
    if clear:
        ring = clear_slot(ring, step)
    if table.n_rows == 0:
        return ring
    rows, dtype = expand_rows(table), product_dtype(ring)
    scale = scale.astype(dtype)
    if table.n_stored:
        synapses = expand(table)
        factor, own = scale[synapses.block], own_weights(synapses, weights, dtype)
    value = released.dense(dtype)[rows.source]
    active = jnp.nonzero(value, size=table.n_rows, fill_value=0)[0].astype(jnp.int32)
    offsets = jnp.arange(table.longest_row, dtype=jnp.int32)
    slots = ring.shape[0]
    drawn = _drawn_rows(table, rows, step, slots)

    def add_stored(row, flat):
        index = rows.start[row] + offsets
        at = jnp.minimum(index, rows.stop[row] - 1)
        x = rounded(value[row] * factor[at] * own[at], ring.dtype)
        slot = jnp.mod(step + synapses.delay[at], slots)
        return flat.at[slot, synapses.place[at]].add(jnp.where(index < rows.stop[row], x, 0))

    def add_drawn(row, flat):
        def visit(flat, block, valid, to):
            w = weight_of(weights, to.weight_index, dtype)
            x = rounded(value[row] * scale[block] * w, ring.dtype)
            return flat.at[to.slot, to.place].add(jnp.where(valid, x, 0))

        assert drawn is not None
        return drawn.visit(row, weights.shape[0], flat, visit)

    def add_row(i, flat):
        row = active[i]
        if drawn is None:
            return add_stored(row, flat)
        if table.n_stored == 0:
            return add_drawn(row, flat)
        return lax.cond(drawn.is_drawn(row), add_drawn, add_stored, row, flat)

    count = jnp.count_nonzero(value).astype(jnp.int32)
    return lax.fori_loop(0, count, add_row, ring)


def _drawn_rows(table: Table, rows: Rows, step: Any, slots: int) -> RedrawnRows | None:
    if table.draws.shape[0] == 0:
        return None
    return RedrawnRows(table, read_sections(table), rows, step, slots)


def deliver_gradient(ring_bar, released: SpikeOutput, step, scale, weights, table: Table):
    """The transpose of `deliver`, which is linear in values, scale and weights.

    Visits every synapse, of silent sources too: the map's matrix does not depend on
    who is silent. Returns the cotangents of (release values, scale, weights).
    """
    dtype, slots = ring_bar.dtype, ring_bar.shape[0]
    scale, value = scale.astype(dtype), released.dense(dtype)
    scale_bar, weights_bar = jnp.zeros(scale.shape, dtype), jnp.zeros(weights.shape, dtype)
    value_bar = jnp.zeros_like(value)
    if table.n_stored:
        s = expand(table)
        y = ring_bar[jnp.mod(step + s.delay, slots), s.place]
        own = own_weights(s, weights, dtype)
        x = value[s.source] * y
        scale_bar = scale_bar.at[s.block].add(x * own)
        if weights.shape[0]:
            index = jnp.where(s.weight_index < 0, weights.shape[0], s.weight_index)
            weights_bar = weights_bar.at[index].add(x * scale[s.block], mode="drop")
        value_bar = value_bar.at[s.source].add(y * scale[s.block] * own)
    drawn = _drawn_rows(table, expand_rows(table), step, slots) if table.n_rows else None
    if drawn is None:
        return value_bar, scale_bar, weights_bar
    scale_more, weights_more, value_more = redrawn_gradient(drawn, ring_bar, value, scale, weights)
    return value_bar + value_more, scale_bar + scale_more, weights_bar + weights_more
