"""The kernels in `jnp`: run anywhere, and say what the others must equal."""

import jax
import jax.numpy as jnp
from jax import lax

from ._table import Table, expand, expand_rows


def clear_slot(ring: jax.Array, step: jax.Array) -> jax.Array:
    """`ring` with the slot of `step` set to 0."""
    slot = jnp.mod(step, ring.shape[0])
    return lax.dynamic_update_index_in_dim(ring, jnp.zeros_like(ring[0]), slot, 0)


def values_of(released: jax.Array, n: int, dtype: jnp.dtype) -> jax.Array:
    """Release values `(n,)` from packed spike bits, or the values themselves."""
    if released.dtype == jnp.uint8:
        return jnp.unpackbits(released, bitorder="little")[:n].astype(dtype)
    return released.astype(dtype)


def weights_of(table: Table, scale: jax.Array, weights: jax.Array) -> jax.Array:
    """The weight of every synapse, gain included: `scale[block] * weight`."""
    s = expand(table)
    x = scale[s.block]
    if weights.shape[0] == 0:
        return x
    own = weights[jnp.maximum(s.weight_index, 0)]
    return jnp.where(s.weight_index < 0, x, x * own)


def deliver_reference(ring, released, step, scale, weights, table: Table, clear: bool):
    """`deliver` as a loop over the rows that released something; see there."""
    if clear:
        ring = clear_slot(ring, step)
    if table.n_synapses == 0:
        return ring
    rows, synapses = expand_rows(table), expand(table)
    weight = weights_of(table, scale, weights)
    n = 8 * released.shape[0] if released.dtype == jnp.uint8 else released.shape[0]
    value = values_of(released, n, ring.dtype)[rows.source]
    active = jnp.nonzero(value, size=table.n_rows, fill_value=0)[0].astype(jnp.int32)
    offsets = jnp.arange(table.longest_row, dtype=jnp.int32)
    shape = ring.shape
    flat = ring.reshape(shape[0], -1)

    def add_row(i, flat):
        row = active[i]
        index = rows.start[row] + offsets
        x = jnp.where(index < rows.stop[row], value[row] * weight.at[index].get(mode="clip"), 0)
        slot = jnp.mod(step + synapses.delay.at[index].get(mode="clip"), shape[0])
        place = synapses.place.at[index].get(mode="clip")
        return flat.at[slot, place].add(x)

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
    own = jnp.ones_like(arrived)
    if weights.shape[0]:
        own = jnp.where(s.weight_index < 0, 1, weights[jnp.maximum(s.weight_index, 0)])
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
