"""Spikes that devices exchange as lists of numbers, where those are shorter than bits.

A list has room for `_ROOM` times the spikes that are expected; all devices see how long each list
is, and take the bits together where one is too long. What comes out is the same.
"""

import math

import jax
import jax.numpy as jnp
from jax import lax

from jaxneuro._network._layout import Seats

from .._kernels import Line, exchange, merge_bits, packed_bytes

_ROOM = 4  # times the expected spikes: activity comes in bursts
_LEAST = 16  # and so many more, for the chance of few


def list_length(seats: Seats, steps: int, share: float) -> int:
    """Entries of the list of a device for some steps, 0 where bits take fewer bytes.

    `share` of the neurons that is expected to spike in a step, 0 if nothing is known.
    """
    entries = math.ceil(_ROOM * share * seats.places * steps) + _LEAST
    known = share > 0 and steps * seats.n < 2**31
    return entries if known and 4 * (entries + 1) < steps * packed_bytes(seats.places) else 0


def spikes_of_all(bits: jax.Array, seats: Seats, line: Line, share: float) -> jax.Array:
    """Packed spikes of all neurons, (steps, bytes), from those of the places here."""
    length = list_length(seats, bits.shape[0], share)
    if not length:
        return _by_bits(bits, seats, line)
    count, codes = _listed(bits, seats, line, length)
    every = exchange(jnp.concatenate([count[None], codes]), line)
    return lax.cond(
        jnp.max(every[:, 0]) <= length,
        lambda codes, bits: _unlisted(codes.reshape(-1), bits.shape[0], seats.n),
        lambda codes, bits: _by_bits(bits, seats, line),
        *(every[:, 1:], bits),
    )


def _by_bits(bits: jax.Array, seats: Seats, line: Line) -> jax.Array:
    return merge_bits(exchange(bits, line), seats.neurons, seats.place)


def _listed(bits: jax.Array, seats: Seats, line: Line, length: int) -> tuple[jax.Array, jax.Array]:
    """How many spikes there are here, and step * n + neuron of the first ones, -1 after them."""
    here = seats.neurons[line.seat[0]]
    spikes = jnp.unpackbits(bits, axis=-1, bitorder="little")[:, : seats.places] != 0
    flat = (spikes & (here >= 0)).reshape(-1)
    (found,) = jnp.nonzero(flat, size=length, fill_value=flat.size)
    found = found.astype(jnp.int32)
    step, place = found // seats.places, found % seats.places
    codes = jnp.where(found < flat.size, step * seats.n + here[place], -1)
    return jnp.sum(flat, dtype=jnp.int32), codes


def _unlisted(codes: jax.Array, steps: int, n: int) -> jax.Array:
    """The spikes of lists as packed bits: each sets a bit of its own."""
    step, neuron = jnp.where(codes < 0, steps, codes // n), codes % n
    bit = jnp.left_shift(jnp.uint8(1), (neuron % 8).astype(jnp.uint8))
    return (
        jnp.zeros((steps, packed_bytes(n)), jnp.uint8).at[step, neuron // 8].add(bit, mode="drop")
    )
