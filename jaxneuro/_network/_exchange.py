"""What the devices of a mesh tell each other in a step: spikes, releases, voltages."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from jaxneuro._network._group import PopulationSpan
from jaxneuro._network._layout import Layout, Seats, brought_together, by_number
from jaxneuro._network._network_state import NetworkState
from jaxneuro._network._spike_lists import spikes_of_all

from .._kernels import Line, Released, exchange, line_of, pack


class Peers(eqx.Module):
    """The neurons of a group on one device and on all, inside `shard_map`.

    **Fields** `here` int32 (places,): the neuron at each place of this device; `seats` of all;
    `line` of the devices; static `share` of the neurons that is expected to spike in a step.
    """

    here: jax.Array
    seats: Seats
    line: Line
    share: float = eqx.field(static=True)

    @property
    def members(self) -> tuple[PopulationSpan, ...]:
        """The populations of the group, with all their neurons."""
        return self.seats.members

    @property
    def n(self) -> int:
        """Neurons of the group on all devices."""
        return self.seats.n

    def gather(self, x: jax.Array) -> jax.Array:
        """Numbers of the neurons here, (..., places), as those of all neurons, (..., n)."""
        every = jnp.moveaxis(exchange(x, self.line), 0, -2)
        return jnp.take(every.reshape(*x.shape[:-1], -1), self.seats.place, axis=-1)

    def released(self, here: Released) -> Released:
        """What all neurons released, from what those here did."""
        steps = jax.tree.map(lambda x: x[None], here)
        return jax.tree.map(lambda x: x[0], self.released_in_steps(steps))

    def released_in_steps(self, here: Released) -> Released:
        """What all neurons released in some steps, from what those here did: (steps, ...)."""
        bits = spikes_of_all(here.bits, self.seats, self.line, self.share)
        return Released(bits, None if here.values is None else self.gather(here.values))

    def bits_here(self, bits: jax.Array) -> jax.Array:
        """Of the packed spikes of all neurons those of the neurons here, packed."""
        spikes = jnp.unpackbits(bits, bitorder="little")
        return pack(spikes[self.here] != 0)

    def whole(self, tree: Any) -> Any:
        """Numbers of the neurons here, anywhere in a tree, as those of all neurons."""
        if self.seats.everywhere:
            return tree
        places = self.seats.places
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
    make = lambda order, seats: Peers(order, seats, line, layout.share)  # noqa: E731
    groups, stimuli, sources, numbers = orders
    return LocalLayout(
        tuple(map(make, groups, layout.groups)),
        tuple(tuple(map(make, mine, of)) for mine, of in zip(stimuli, layout.stimuli)),
        tuple(map(make, sources, layout.sources)),
        numbers,
        layout,
    )
