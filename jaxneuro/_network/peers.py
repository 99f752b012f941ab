"""Spikes that devices exchange as lists of numbers, where those are shorter than bits.

A list has room for `_ROOM` times the spikes that are expected; all devices see how long each list
is, and take the bits together where one is too long. What comes out is the same.

What the devices of a mesh tell each other in a step: spikes, releases, voltages.
"""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from .._kernels.bits import merge_bits, pack, packed_bytes
from .._kernels.exchange import Line, exchange, line_of
from .._kernels.spike_output import SpikeOutput
from .group import PopulationMember
from .layout import Layout, ShardLayout, brought_together, by_number
from .state import NetworkState

_ROOM = 4  # times the expected spikes: activity comes in bursts
_LEAST = 16  # and so many more, for the chance of few


def list_length(shards: ShardLayout, steps: int, share: float) -> int:
    """Entries of the list of a device for some steps, 0 where bits take fewer bytes.

    `share` of the neurons that is expected to spike in a step, 0 if nothing is known.
    """
    entries = math.ceil(_ROOM * share * shards.places * steps) + _LEAST
    known = share > 0 and steps * shards.n < 2**31
    return entries if known and 4 * (entries + 1) < steps * packed_bytes(shards.places) else 0


def spikes_of_all(bits: jax.Array, shards: ShardLayout, line: Line, share: float) -> jax.Array:
    """Packed spikes of all neurons, (steps, bytes), from those of the places here."""
    length = list_length(shards, bits.shape[0], share)
    if not length:
        return _by_bits(bits, shards, line)
    count, codes = _listed(bits, shards, line, length)
    every = exchange(jnp.concatenate([count[None], codes]), line)
    return lax.cond(
        jnp.max(every[:, 0]) <= length,
        lambda codes, bits: _unlisted(codes.reshape(-1), bits.shape[0], shards.n),
        lambda codes, bits: _by_bits(bits, shards, line),
        *(every[:, 1:], bits),
    )


def _by_bits(bits: jax.Array, shards: ShardLayout, line: Line) -> jax.Array:
    return merge_bits(exchange(bits, line), shards.neurons, shards.place)


def _listed(
    bits: jax.Array, shards: ShardLayout, line: Line, length: int
) -> tuple[jax.Array, jax.Array]:
    """How many spikes there are here, and step * n + neuron of the first ones, -1 after them."""
    here = shards.neurons[line.seat[0]]
    spikes = jnp.unpackbits(bits, axis=-1, bitorder="little")[:, : shards.places] != 0
    flat = (spikes & (here >= 0)).reshape(-1)
    (found,) = jnp.nonzero(flat, size=length, fill_value=flat.size)
    found = found.astype(jnp.int32)
    step, place = found // shards.places, found % shards.places
    codes = jnp.where(found < flat.size, step * shards.n + here[place], -1)
    return jnp.sum(flat, dtype=jnp.int32), codes


def _unlisted(codes: jax.Array, steps: int, n: int) -> jax.Array:
    """The spikes of lists as packed bits: each sets a bit of its own."""
    step, neuron = jnp.where(codes < 0, steps, codes // n), codes % n
    bit = jnp.left_shift(jnp.uint8(1), (neuron % 8).astype(jnp.uint8))
    return (
        jnp.zeros((steps, packed_bytes(n)), jnp.uint8).at[step, neuron // 8].add(bit, mode="drop")
    )


class Peers(eqx.Module):
    """The neurons of a group on one device and on all, inside `shard_map`.

    **Fields** `here` int32 (places,): the neuron at each place of this device; `shards` of all;
    `line` of the devices; static `share` of the neurons that is expected to spike in a step.
    """

    here: jax.Array
    shards: ShardLayout
    line: Line
    share: float = eqx.field(static=True)

    @property
    def members(self) -> tuple[PopulationMember, ...]:
        """The populations of the group, with all their neurons."""
        return self.shards.members

    @property
    def n(self) -> int:
        """Neurons of the group on all devices."""
        return self.shards.n

    def gather(self, x: jax.Array) -> jax.Array:
        """Numbers of the neurons here, (..., places), as those of all neurons, (..., n)."""
        every = jnp.moveaxis(exchange(x, self.line), 0, -2)
        return jnp.take(every.reshape(*x.shape[:-1], -1), self.shards.place, axis=-1)

    def released(self, here: SpikeOutput) -> SpikeOutput:
        """What all neurons released, from what those here did."""
        steps = jax.tree.map(lambda x: x[None], here)
        return jax.tree.map(lambda x: x[0], self.released_in_steps(steps))

    def released_in_steps(self, here: SpikeOutput) -> SpikeOutput:
        """What all neurons released in some steps, from what those here did: (steps, ...)."""
        bits = spikes_of_all(here.bits, self.shards, self.line, self.share)
        return SpikeOutput(bits, None if here.values is None else self.gather(here.values))

    def bits_here(self, bits: jax.Array) -> jax.Array:
        """Of the packed spikes of all neurons those of the neurons here, packed."""
        spikes = jnp.unpackbits(bits, bitorder="little")
        return pack(spikes[self.here] != 0)

    def whole(self, tree: Any) -> Any:
        """Numbers of the neurons here, anywhere in a tree, as those of all neurons."""
        if self.shards.everywhere:
            return tree
        places = self.shards.places
        mine = lambda x: x.ndim and x.shape[-1] == places  # noqa: E731
        return jax.tree.map(lambda x: self.gather(x) if mine(x) else x, tree)


class LocalLayout(eqx.Module):
    """The layout of a network as one device sees it, inside `shard_map`.

    **Fields** `groups`, `stimuli`, `sources` as in `Layout`, but `Peers`; `numbers` of the synapses
    here, (entries,); `layout` of all devices.
    """

    groups: tuple[Peers, ...]
    stimuli: tuple[tuple[Peers, ...], ...]
    sources: tuple[Peers, ...]
    numbers: tuple[Any, ...]
    layout: Layout

    @property
    def synapses(self) -> tuple[int, ...]:
        """How many synapses each pathway has on all devices."""
        return self.layout.synapses

    def synapses_whole(self, number: int, x: jax.Array) -> jax.Array:
        """Numbers of the synapses of all devices; see `Layout.synapses_whole`."""
        here = by_number(self.layout, number, x, self.numbers[number])
        return lax.psum(here, self.layout.axis)

    def whole(self, state: NetworkState, net: Any) -> NetworkState:
        """The state with the neurons of all devices; see `Layout.whole`."""
        return brought_together(self, state, net)


def local_layout(layout: Layout, orders: Any) -> LocalLayout:
    """The layout as a device sees it; `orders` are those of its groups, stimuli and sources."""
    line = line_of(*layout.axes)
    make = lambda order, shards: Peers(order, shards, line, layout.share)  # noqa: E731
    groups, stimuli, sources, numbers = orders
    return LocalLayout(
        tuple(map(make, groups, layout.groups)),
        tuple(tuple(map(make, mine, of)) for mine, of in zip(stimuli, layout.stimuli)),
        tuple(map(make, sources, layout.sources)),
        numbers,
        layout,
    )
