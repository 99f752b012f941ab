"""The kernels in `jnp`: run anywhere, and say what the others must equal."""

import jax
import jax.numpy as jnp
from jax import lax

from ._table import Synapses, Table, expand, expand_rows


def clear_slot(ring: jax.Array, step: jax.Array) -> jax.Array:
    """`ring` with the slot of `step` set to 0."""
    slot = jnp.mod(step, ring.shape[0])
    return lax.dynamic_update_index_in_dim(ring, jnp.zeros_like(ring[0]), slot, 0)


def values_of(released: jax.Array, n: int, dtype: jnp.dtype) -> jax.Array:
    """Release values `(n,)` from packed spike bits, or the values themselves."""
    if released.dtype == jnp.uint8:
        return jnp.unpackbits(released, bitorder="little")[:n].astype(dtype)
    return released.astype(dtype)


def own_weights(synapses: Synapses, weights: jax.Array, dtype: jnp.dtype) -> jax.Array:
    """The individual weight of every synapse, 1 where its block has one for all."""
    if weights.shape[0] == 0:
        return jnp.ones(synapses.block.shape, dtype)
    index = synapses.weight_index
    return jnp.where(index < 0, 1, weights[jnp.maximum(index, 0)].astype(dtype))


def deliver_reference(ring, released, step, scale, weights, table: Table, clear: bool):
    """`deliver` as a loop over the rows that released something; see there."""
    if clear:
        ring = clear_slot(ring, step)
    if table.n_synapses == 0:
        return ring
    rows, synapses = expand_rows(table), expand(table)
    factor, own = scale[synapses.block], own_weights(synapses, weights, ring.dtype)
    n = 8 * released.shape[0] if released.dtype == jnp.uint8 else released.shape[0]
    value = values_of(released, n, ring.dtype)[rows.source]
    active = jnp.nonzero(value, size=table.n_rows, fill_value=0)[0].astype(jnp.int32)
    offsets = jnp.arange(table.longest_row, dtype=jnp.int32)
    shape = ring.shape
    flat = ring.reshape(shape[0], -1)

    def add_row(i, flat):
        row = active[i]
        index = rows.start[row] + offsets
        at = jnp.minimum(index, rows.stop[row] - 1)
        x = value[row] * factor[at] * own[at]
        slot = jnp.mod(step + synapses.delay[at], shape[0])
        return flat.at[slot, synapses.place[at]].add(jnp.where(index < rows.stop[row], x, 0))

    count = jnp.count_nonzero(value).astype(jnp.int32)
    return lax.fori_loop(0, count, add_row, flat).reshape(shape)


def deliver_gradient(ring_bar, released, step, scale, weights, table: Table, clear: bool):
    """The transpose of `deliver`, which is linear in ring, values, scale and weights.

    Visits every synapse, of silent sources too: the map's matrix does not depend on
    who is silent. Returns the cotangents of (ring, released, scale, weights).
    """
    packed = released.dtype == jnp.uint8
    ring_out = clear_slot(ring_bar, step) if clear else ring_bar
    if table.n_synapses == 0:
        released_bar = None if packed else jnp.zeros_like(released)
        return ring_out, released_bar, jnp.zeros_like(scale), jnp.zeros_like(weights)
    s = expand(table)
    n = 8 * released.shape[0] if packed else released.shape[0]
    value = values_of(released, n, ring_bar.dtype)
    slot = jnp.mod(step + s.delay, ring_bar.shape[0])
    arrived = ring_bar.reshape(ring_bar.shape[0], -1)[slot, s.place]
    own = own_weights(s, weights, ring_bar.dtype)
    x = value[s.source] * arrived
    scale_bar = jnp.zeros_like(scale).at[s.block].add(x * own)
    weights_bar = jnp.zeros_like(weights)
    if weights.shape[0]:
        index = jnp.where(s.weight_index < 0, weights.shape[0], s.weight_index)
        weights_bar = weights_bar.at[index].add(x * scale[s.block], mode="drop")
    if packed:
        return ring_out, None, scale_bar, weights_bar
    released_bar = jnp.zeros(n, ring_bar.dtype).at[s.source].add(arrived * scale[s.block] * own)
    return ring_out, released_bar.astype(released.dtype), scale_bar, weights_bar


def pack_reference(spikes: jax.Array) -> jax.Array:
    """`pack` by `packbits`; see there."""
    n = spikes.shape[-1]
    padding = [(0, 0)] * (spikes.ndim - 1) + [(0, -n % 64)]
    return jnp.packbits(jnp.pad(spikes, padding), axis=-1, bitorder="little")
