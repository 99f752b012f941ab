"""`deliver` and its gradient for rows that are not stored, in `jnp`."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ._redraw import Draw, Visit, value_cells, visit_row
from ._table import HAS_DELAYS, HAS_WEIGHTS, REDRAWN, Rows, Section, Table


class Reached(NamedTuple):
    """Where some synapses of a drawn row lead: arrays (256,), 0 where not `valid`."""

    slot: jax.Array
    place: jax.Array
    weight_index: jax.Array  # beyond the weights if there is none


class RedrawnRows:
    """The rows of a table that are drawn, visited block by block."""

    def __init__(self, table: Table, sections: Section, rows: Rows, step: jax.Array, slots: int):
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

            return visit_row(draw, number, self.table.draw_tables, carry, some)

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
