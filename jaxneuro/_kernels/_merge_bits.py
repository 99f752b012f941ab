"""`merge_bits`: the packed spikes of all devices as those of one array of neurons."""

import jax
import jax.numpy as jnp

from ._call import by_platform, native_call
from ._pack import pack_reference, packed_bytes


def merge_bits(bits: jax.Array, neurons: jax.Array, place: jax.Array) -> jax.Array:
    """Packed spikes of some steps in the order of the neurons.

    **Step** `bits` uint8 (devices, steps, bytes), from `pack` on each device; `neurons` int32
    (devices, places) the number of the neuron at each place, or -1 at a place without one; `place`
    int32 (n,) the inverse: where each neuron is among all (devices * places,). Returns uint8
    (steps, 8 ceil(n / 64)). The cost of the native version is that of the spikes, and a bit per
    place.
    """
    return by_platform(bits, neurons, place, default=_reference, cpu=_native)


def _reference(bits: jax.Array, neurons: jax.Array, place: jax.Array) -> jax.Array:
    spikes = jnp.unpackbits(bits, axis=-1, bitorder="little")[..., : neurons.shape[1]]
    flat = jnp.moveaxis(spikes, 0, 1).reshape(bits.shape[1], -1)
    return pack_reference(flat[:, place] != 0)


def _native(bits: jax.Array, neurons: jax.Array, place: jax.Array) -> jax.Array:
    shape = (bits.shape[1], packed_bytes(place.shape[0]))
    call = (bits, neurons), shape, jnp.uint8
    return native_call("jaxneuro_merge_bits", *call, vmap_method="sequential")
