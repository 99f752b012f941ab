"""The neurons of a group over the devices of a mesh, and what devices tell each other in a step.

An array with one number per neuron of a group, (..., n), becomes (devices, ..., places): device d
has the neurons `order[d]`, ascending within each population. All devices have as many places for a
population, so that one program fits all; where a device has fewer neurons, what is left is
*padding*: a neuron is repeated, and its spikes are masked.

Spikes are exchanged as lists of numbers where those are shorter than bits. A list has room for
`_ROOM` times the spikes that are expected; all devices see how long each list is, and take the bits
together where one is too long. What comes out is the same.
"""

import math
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Int32, Integer, Shaped, UInt8

from .._arrays import as_array
from .._kernels.bits import merge_bits, pack, packed_bytes
from .._kernels.exchange import Line, exchange
from .._kernels.spike_output import SpikeOutput
from .._numerics.streams import Stream
from .group import PopulationMember

_ROOM = 4  # times the expected spikes: activity comes in bursts
_LEAST = 16  # and so many more, for the chance of few


_LONG = 64  # neurons: see _stimuli.py


class ShardLayout(eqx.Module):
    """The places of the neurons of a group on the devices of a mesh.

    Attributes:
        order: int32 (devices, places), the neuron at each place.
        real: bool (devices, places), whether it is no padding.
        place: int32 (n,), where each neuron is in a flat (devices * places,).
        sizes: places of each population on a device.
        members: the populations, with all their neurons.
        everywhere: whether each device has the numbers of all: so for a stimulus with tables, in
            which nothing says what belongs to which neuron.
    """

    order: Int32[Array, "devices places"]
    real: Bool[Array, "devices places"]
    place: Int32[Array, " n"]
    sizes: tuple[int, ...] = eqx.field(static=True)
    members: tuple[PopulationMember, ...] = eqx.field(static=True)
    everywhere: bool = eqx.field(static=True, default=False)

    @property
    def neurons(self) -> Int32[Array, "devices places"]:
        """The neuron at each place, -1 for padding: int32 (devices, places)."""
        return jnp.where(self.real, self.order, -1)

    @property
    def n(self) -> int:
        return self.place.shape[0]

    @property
    def places(self) -> int:
        """Places on one device."""
        return sum(self.sizes)

    def split(self, tree: Any) -> Any:
        """Arrays (..., n) as (devices, ..., places); others are repeated on all devices."""
        if self.everywhere:
            many = self.order.shape[0]
            return jax.tree.map(lambda x: jnp.broadcast_to(x, (many, *jnp.shape(x))), tree)
        return jax.tree.map(self._part, tree, is_leaf=lambda x: isinstance(x, Stream))

    def whole(self, tree: Any) -> Any:
        """What `split` made of arrays (..., n)."""
        if self.everywhere:
            return jax.tree.map(lambda x: x[0], tree)
        return jax.tree.map(self._joined, tree, is_leaf=lambda x: isinstance(x, Stream))

    def of_population(self, name: str, x: Shaped[Array, "devices places"]) -> Shaped[Array, " n"]:
        """Numbers of a population, (devices, places of it), in the order of its neurons: (n,)."""
        index = [m.name for m in self.members].index(name)
        first, start = sum(m.n for m in self.members[:index]), sum(self.sizes[:index])
        place = self.place[first : first + self.members[index].n]
        device, here = place // self.places, place % self.places - start
        return jnp.take(x.reshape(-1), device * self.sizes[index] + here)

    def _part(self, x: Any) -> Any:
        if not isinstance(x, Stream):
            return self._split(x)
        # With a key per run, long runs draw faster than with one per unit.
        if x.sizes != self._runs or self.places < _LONG * len(self.sizes):
            return jax.tree.map(self._split, x.expand())
        high, low = (jnp.broadcast_to(k, (len(self.order), *k.shape)) for k in (x.high, x.low))
        return Stream(high, low, self._split(x.expand().index), self.sizes)

    def _joined(self, x: Any) -> Any:
        if not isinstance(x, Stream):
            return self._whole(x)
        high, low, index = map(self._whole, (x.high, x.low, x.index))
        return Stream(high, low, index, None if x.sizes is None else self._runs)

    @property
    def _runs(self) -> tuple[int, ...]:
        return tuple(m.n for m in self.members)

    def _split(self, x: Any) -> Shaped[Array, "devices ..."]:
        x = jnp.asarray(x)
        if x.ndim and x.shape[-1] == self.n:
            return jnp.moveaxis(jnp.take(x, self.order, axis=-1), -2, 0)
        return jnp.broadcast_to(x, (self.order.shape[0], *x.shape))

    def _whole(self, x: Shaped[Array, "devices ..."]) -> Shaped[Array, "..."]:
        if x.ndim == 1 or x.shape[-1] != self.places:
            return x[0]
        flat = jnp.moveaxis(x, 0, -2).reshape(*x.shape[1:-1], self.order.size)
        return jnp.take(flat, self.place, axis=-1)


def shard_layout(owners: Mapping[str, Integer[np.ndarray, " _"]], devices: int) -> ShardLayout:
    """The places of a group whose populations' neurons are on these devices, `devices` in all."""
    rows, real, sizes, first = [np.zeros((devices, 0), np.int64)], [], [], 0
    for owner in owners.values():
        mine = [np.flatnonzero(owner == d) for d in range(devices)]
        size = max(x.size for x in mine)
        sizes.append(size)
        rows.append(first + np.stack([np.resize(x if x.size else [0], size) for x in mine]))
        real.append(np.arange(size) < np.array([[x.size] for x in mine]))
        first += owner.size
    order = np.concatenate(rows, axis=1)
    there = np.concatenate([np.zeros((devices, 0), bool), *real], axis=1)
    place = np.zeros(first, np.int64)
    place[order[there]] = np.flatnonzero(there)
    members = tuple(PopulationMember(name, owner.size) for name, owner in owners.items())
    arrays = as_array(order, np.int32), as_array(there), as_array(place, np.int32)
    return ShardLayout(*arrays, tuple(sizes), members)


def list_length(shards: ShardLayout, steps: int, share: float) -> int:
    """Entries of the list of a device for some steps, 0 where bits take fewer bytes.

    `share` of the neurons that is expected to spike in a step, 0 if nothing is known.
    """
    entries = math.ceil(_ROOM * share * shards.places * steps) + _LEAST
    known = share > 0 and steps * shards.n < 2**31
    return entries if known and 4 * (entries + 1) < steps * packed_bytes(shards.places) else 0


def spikes_of_all(
    bits: UInt8[Array, "steps _"], shards: ShardLayout, line: Line, share: float
) -> UInt8[Array, "steps bytes"]:
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


def _by_bits(
    bits: UInt8[Array, "steps _"], shards: ShardLayout, line: Line
) -> UInt8[Array, "steps bytes"]:
    return merge_bits(exchange(bits, line), shards.neurons, shards.place)


def _listed(
    bits: UInt8[Array, "steps _"], shards: ShardLayout, line: Line, length: int
) -> tuple[Int32[Array, ""], Int32[Array, " length"]]:
    """How many spikes there are here, and step * n + neuron of the first ones, -1 after them."""
    here = shards.neurons[line.seat[0]]
    spikes = jnp.unpackbits(bits, axis=-1, bitorder="little")[:, : shards.places] != 0
    flat = (spikes & (here >= 0)).reshape(-1)
    (found,) = jnp.nonzero(flat, size=length, fill_value=flat.size)
    found = found.astype(jnp.int32)
    step, place = found // shards.places, found % shards.places
    codes = jnp.where(found < flat.size, step * shards.n + here[place], -1)
    return jnp.sum(flat, dtype=jnp.int32), codes


def _unlisted(codes: Int32[Array, " codes"], steps: int, n: int) -> UInt8[Array, "steps bytes"]:
    """The spikes of lists as packed bits: each sets a bit of its own."""
    step, neuron = jnp.where(codes < 0, steps, codes // n), codes % n
    bit = jnp.left_shift(jnp.uint8(1), (neuron % 8).astype(jnp.uint8))
    return (
        jnp.zeros((steps, packed_bytes(n)), jnp.uint8).at[step, neuron // 8].add(bit, mode="drop")
    )


class Peers(eqx.Module):
    """The neurons of a group on one device and on all, inside `shard_map`.

    Attributes:
        here: int32 (places,), the neuron at each place of this device.
        shards: those of all devices.
        line: of the devices.
        share: of the neurons, expected to spike in a step.
    """

    here: Int32[Array, " places"]
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

    def gather(self, x: Shaped[Array, "*steps places"]) -> Shaped[Array, "*steps n"]:
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
        values = None if here.values is None else self.gather(here.values)
        counted = None if here.counted is None else _by_bits(here.counted, self.shards, self.line)
        return SpikeOutput(bits, values, counted)

    def bits_here(self, bits: UInt8[Array, " _"]) -> UInt8[Array, " bytes"]:
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
