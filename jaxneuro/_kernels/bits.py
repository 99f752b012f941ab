"""Packed spikes: a bit per neuron, in words of 64.

`pack` makes them of booleans, `unpack` reads steps and neurons back on the host, `merge_bits` puts
those of all devices in the order of the neurons.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32, UInt8

from .._arrays import AnyArray
from ..spec import InvalidValueError
from .call import by_platform, native_call
from .native import native_library

# XLA compiles a loop over so few neurons into one function, if it has no foreign call.
_FEW = 16
# Bytes from which on several threads unpack.
_SHARED = 1 << 20


def packed_bytes(n: int) -> int:
    """Bytes of a row of `n` packed spikes: whole words of 64 bits."""
    return -(-n // 64) * 8


def pack(spikes: Bool[AnyArray, "*steps n"]) -> UInt8[Array, "*steps bytes"]:
    """Spikes as bits, the first neuron in the lowest bit of the first byte.

    `spikes` bool `(..., n)`; returns uint8 `(..., 8 ceil(n / 64))`, the padding 0.
    """
    if spikes.shape[-1] < _FEW:
        return pack_reference(spikes)
    return by_platform(spikes, default=pack_reference, cpu=_pack_native)


def _pack_native(spikes: jax.Array) -> jax.Array:
    shape = (*spikes.shape[:-1], packed_bytes(spikes.shape[-1]))
    return native_call("jaxneuro_pack", (spikes,), shape, jnp.uint8, vmap_method="broadcast_all")


def pack_reference(spikes: Bool[AnyArray, "*steps n"]) -> UInt8[Array, "*steps bytes"]:
    """`pack` by shifts, which XLA fuses with the operations that make the spikes; see there."""
    n = spikes.shape[-1]
    padding = [(0, 0)] * (spikes.ndim - 1) + [(0, -n % 64)]
    shape = (*spikes.shape[:-1], -(-n // 64) * 8, 8)
    bits = jnp.pad(spikes, padding).astype(jnp.uint8).reshape(shape)
    packed = bits[..., 0]
    for k in range(1, 8):
        packed = packed | bits[..., k] << np.uint8(k)
    return packed


def unpack(
    bits: np.ndarray, start: int, stop: int, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Row and neuron of every set bit of the neurons `start ... stop`, in order.

    `bits` uint8 `(rows, bytes)` as `pack` makes them; returns int32 arrays: rows counted from
    `first`, neurons from `start`. Not for traced arrays.

    Raises:
        InvalidValueError: for bits of more than one network, or neurons that they do not have.
    """
    if bits.ndim != 2 or bits.dtype != np.uint8 or bits.shape[1] % 8:
        must = "those of one network, uint8 (steps, bytes) with whole words of 8 bytes"
        raise InvalidValueError("unpack", "bits", must, f"{bits.dtype}{list(bits.shape)}")
    if not 0 <= start <= stop <= 8 * bits.shape[1]:
        must = f"between 0 and {8 * bits.shape[1]}"
        raise InvalidValueError("unpack", "neurons", must, f"{start} ... {stop}")
    bits = np.ascontiguousarray(bits)
    library = native_library()
    if library is None:
        return unpack_reference(bits, start, stop, first)
    pieces = 4 * library.jaxneuro_threads(0) if bits.nbytes >= _SHARED else 1
    counts = np.empty(pieces, np.int64)
    place = (bits.ctypes.data, *bits.shape, start, stop, pieces, counts.ctypes.data)
    count = library.jaxneuro_count_spikes(*place)
    rows, neurons = np.empty(count, np.int32), np.empty(count, np.int32)
    library.jaxneuro_list_spikes(*place, first, rows.ctypes.data, neurons.ctypes.data)
    return rows, neurons


def unpack_reference(
    bits: np.ndarray, start: int, stop: int, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """`unpack` in NumPy; see there. Looks at whole 64-bit words first: most are 0."""
    word = start // 64
    words = bits.view(np.uint64)[:, word : -(-stop // 64)]
    if words.size == 0:
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    found = np.flatnonzero(words != 0)
    bit = np.flatnonzero(
        np.unpackbits(words.reshape(-1)[found].view(np.uint8), bitorder="little").view(bool)
    )
    at = found[bit >> 6]
    row = at // words.shape[1]
    neuron = (at - row * words.shape[1] + word) * 64 + (bit & 63)
    inside = (neuron >= start) & (neuron < stop)
    return (row[inside] + first).astype(np.int32), (neuron[inside] - start).astype(np.int32)


def merge_bits(
    bits: UInt8[AnyArray, "devices steps bytes"],
    neurons: Int32[AnyArray, "devices places"],
    place: Int32[AnyArray, " n"],
) -> UInt8[Array, "steps words"]:
    """Packed spikes of some steps in the order of the neurons.

    `bits` uint8 (devices, steps, bytes), from `pack` on each device; `neurons` int32 (devices,
    places) the number of the neuron at each place, or -1 at a place without one; `place` int32 (n,)
    the inverse: where each neuron is among all (devices * places,). Returns uint8 (steps, 8 ceil(n
    / 64)). The cost of the native version is that of the spikes, and a bit per place.
    """
    return by_platform(bits, neurons, place, default=_merge_reference, cpu=_merge_native)


def _merge_reference(bits: jax.Array, neurons: jax.Array, place: jax.Array) -> jax.Array:
    spikes = jnp.unpackbits(bits, axis=-1, bitorder="little")[..., : neurons.shape[1]]
    flat = jnp.moveaxis(spikes, 0, 1).reshape(bits.shape[1], -1)
    return pack_reference(flat[:, place] != 0)


def _merge_native(bits: jax.Array, neurons: jax.Array, place: jax.Array) -> jax.Array:
    shape = (bits.shape[1], packed_bytes(place.shape[0]))
    call = (bits, neurons), shape, jnp.uint8
    return native_call("jaxneuro_merge_bits", *call, vmap_method="sequential")
