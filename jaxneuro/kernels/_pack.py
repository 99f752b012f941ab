"""`pack`: boolean spikes to bits, one bit per neuron, in words of 64."""

import jax
import jax.numpy as jnp
from jax import lax

from ._native import native_available
from ._reference import pack_reference

# XLA compiles a loop over so few neurons into one function, if nothing foreign is in it.
_FEW = 16


def packed_bytes(n: int) -> int:
    """Bytes of a row of `n` packed spikes: whole words of 64 bits."""
    return -(-n // 64) * 8


def pack(spikes: jax.Array) -> jax.Array:
    """Spikes as bits, the first neuron in the lowest bit of the first byte.

    **Step** `spikes` bool `(..., n)`; returns uint8 `(..., 8 ceil(n / 64))`, the padding 0.

    **Source** the house's own: design section 3.
    """
    if spikes.shape[-1] < _FEW or not native_available():
        return pack_reference(spikes)
    return lax.platform_dependent(spikes, cpu=_native, default=pack_reference)


def _native(spikes: jax.Array) -> jax.Array:
    shape = (*spikes.shape[:-1], packed_bytes(spikes.shape[-1]))
    out = jax.ShapeDtypeStruct(shape, jnp.uint8)
    return jax.ffi.ffi_call("jaxneuro_pack", out, vmap_method="broadcast_all")(spikes)
