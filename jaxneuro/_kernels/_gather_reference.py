"""`gather` in jnp, and its gradient: they run anywhere and define what the others must equal."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ._gather_table import LANES, GatherTable


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
