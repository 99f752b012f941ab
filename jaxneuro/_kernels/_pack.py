"""`pack`: boolean spikes to bits, one bit per neuron, in words of 64."""

import jax
import jax.numpy as jnp
import numpy as np

from ._call import by_platform, native_call

# XLA compiles a loop over so few neurons into one function, if it has no foreign call.
_FEW = 16


def packed_bytes(n: int) -> int:
    """Bytes of a row of `n` packed spikes: whole words of 64 bits."""
    return -(-n // 64) * 8


def pack(spikes: jax.Array) -> jax.Array:
    """Spikes as bits, the first neuron in the lowest bit of the first byte.

    **Step** `spikes` bool `(..., n)`; returns uint8 `(..., 8 ceil(n / 64))`, the padding 0.
    """
    if spikes.shape[-1] < _FEW:
        return pack_reference(spikes)
    return by_platform(spikes, default=pack_reference, cpu=_native)


def _native(spikes: jax.Array) -> jax.Array:
    shape = (*spikes.shape[:-1], packed_bytes(spikes.shape[-1]))
    return native_call("jaxneuro_pack", (spikes,), shape, jnp.uint8, vmap_method="broadcast_all")


def pack_reference(spikes: jax.Array) -> jax.Array:
    """`pack` by shifts, which XLA fuses with the operations that make the spikes; see there."""
    n = spikes.shape[-1]
    padding = [(0, 0)] * (spikes.ndim - 1) + [(0, -n % 64)]
    shape = (*spikes.shape[:-1], -(-n // 64) * 8, 8)
    bits = jnp.pad(spikes, padding).astype(jnp.uint8).reshape(shape)
    packed = bits[..., 0]
    for k in range(1, 8):
        packed = packed | bits[..., k] << np.uint8(k)
    return packed
