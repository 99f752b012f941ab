"""Which device has which neurons of a network, and how arrays are laid over devices.

An array with one number per neuron of a group, (..., n), becomes (devices, ..., places): device d
has the neurons `order[d]`, ascending within each population. All devices have as many places for a
population, so that one program fits all; where a device has fewer neurons, what is left repeats a
neuron (a *ghost*), whose spikes nobody sees.
"""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from .._arrays import as_array
from ..numerics import Stream
from ._coupling_state import CouplingState
from ._group import PopulationSpan
from ._group_state import GroupState
from ._modulator_state import ModulatorState
from ._network_state import NetworkState
from ._pathway_state import PathwayState
from ._plastic_state import SYNAPTIC, PlasticState


class Seats(eqx.Module):
    """The places of the neurons of a group.

    **Fields** `order` int32 (devices, places): the neuron at each place; `real` bool, likewise:
    whether it is no ghost; `place` int32 (n,): where each neuron is in a flat (devices * places,);
    static `sizes` places of each population on a device, and `members` its neurons in all, with
    its name.
    """

    order: jax.Array
    real: jax.Array
    place: jax.Array
    sizes: tuple[int, ...] = eqx.field(static=True)
    members: tuple[PopulationSpan, ...] = eqx.field(static=True)

    @property
    def neurons(self) -> jax.Array:
        """The neuron at each place, -1 for a ghost: int32 (devices, places)."""
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
        spread = lambda x: x.spread() if isinstance(x, Stream) else x  # noqa: E731
        tree = jax.tree.map(spread, tree, is_leaf=lambda x: isinstance(x, Stream))
        return jax.tree.map(self._split, tree)

    def whole(self, tree: Any) -> Any:
        """What `split` made of arrays (..., n)."""
        return jax.tree.map(self._whole, tree)

    def _split(self, x: Any) -> jax.Array:
        x = jnp.asarray(x)
        if x.ndim and x.shape[-1] == self.n:
            return jnp.moveaxis(jnp.take(x, self.order, axis=-1), -2, 0)
        return jnp.broadcast_to(x, (self.order.shape[0], *x.shape))

    def _whole(self, x: jax.Array) -> jax.Array:
        if x.ndim == 1 or x.shape[-1] != self.places:
            return x[0]
        flat = jnp.moveaxis(x, 0, -2).reshape(*x.shape[1:-1], -1)
        return jnp.take(flat, self.place, axis=-1)


def seats(owners: Mapping[str, np.ndarray], devices: int) -> Seats:
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
    members = tuple(PopulationSpan(name, owner.size) for name, owner in owners.items())
    arrays = as_array(order, np.int32), as_array(there), as_array(place, np.int32)
    return Seats(*arrays, tuple(sizes), members)


class Layout(eqx.Module):
    """A network over the devices of a mesh: the seats of each group, and the mesh.

    **Fields** `groups` their `Seats`; `stimuli` of each group, those of what they drive; `sources`
    of the neurons that release at each coupling; `synapse_at` of each plastic pathway int32
    (synapses,), where each is among those of all devices side by side, None of others; static
    `mesh`, `axis`; `synapses`, how many each pathway has in all; `together`, how many steps may lie
    between two exchanges.
    """

    groups: tuple[Seats, ...]
    stimuli: tuple[tuple[Seats, ...], ...]
    sources: tuple[Seats, ...]
    synapse_at: tuple[Any, ...]
    mesh: Mesh = eqx.field(static=True)
    axis: str = eqx.field(static=True)
    synapses: tuple[int, ...] = eqx.field(static=True)
    together: int = eqx.field(static=True)

    @property
    def devices(self) -> int:
        """How many devices the mesh has along the axis."""
        return self.mesh.shape[self.axis]

    @property
    def own(self) -> NamedSharding:
        """Of arrays (devices, ...), of which each device has its own entry."""
        return NamedSharding(self.mesh, P(self.axis))

    @property
    def shared(self) -> NamedSharding:
        """Of arrays that every device has."""
        return NamedSharding(self.mesh, P())

    def split_population(self, name: str, x: jax.Array) -> jax.Array:
        """Numbers of a population, (..., n), as (devices, ..., places)."""
        for mine in self.groups:
            first = start = 0
            for member, size in zip(mine.members, mine.sizes):
                if member.name == name:
                    here = mine.order[:, start : start + size] - first
                    return jnp.moveaxis(x[..., here], -2, 0)
                first, start = first + member.n, start + size
        return x

    def lay(self, whole: NetworkState, net: Any) -> NetworkState:
        """A state of the whole network as its devices have it; a ring that is not yet is new."""
        groups = tuple(
            g._replace(
                neurons=mine.split(g.neurons),
                receptors=mine.split(g.receptors),
                stimuli=tuple(units.split(s) for units, s in zip(driven, g.stimuli)),
                ring=self._ring(g.ring, mine),
            )
            for g, mine, driven in zip(whole.groups, self.groups, self.stimuli)
        )
        pathways = tuple(
            p._replace(release=self.groups[layer.source].split(p.release))
            for p, layer in zip(whole.pathways, net.pathways)
        )
        couplings = tuple(
            c._replace(release=self.sources[number].split(c.release))
            for number, c in enumerate(whole.couplings)
        )
        return whole._replace(groups=groups, pathways=pathways, couplings=couplings)

    def whole(self, state: NetworkState, net: Any) -> NetworkState:
        """The state with neurons, receptors, stimuli and releases in the order of the network.

        Rings, synapses and what rules keep stay as the devices have them.
        """
        return brought_together(self, state, net)

    def synapses_whole(self, number: int, x: jax.Array) -> jax.Array:
        """Numbers of the synapses of a plastic pathway, in the order of its connections."""
        return x.reshape(-1)[self.synapse_at[number]]

    def synapses_split(self, number: int, x: jax.Array, like: jax.Array) -> jax.Array:
        """What `synapses_whole` made of an array like `like`."""
        at = self.synapse_at[number]
        return like.reshape(-1).at[at].set(x, unique_indices=True).reshape(like.shape)

    @property
    def orders(self) -> tuple:
        """The neuron at each place, of groups, stimuli and sources: (devices, places)."""
        order = lambda seats: tuple(s.order for s in seats)  # noqa: E731
        return order(self.groups), tuple(map(order, self.stimuli)), order(self.sources)

    def specs(self, state: NetworkState) -> NetworkState:
        """How each part of a state is laid over the mesh, for `shard_map`."""
        own: Any = P(self.axis)
        shared: Any = P()
        rest = len(PlasticState._fields) - SYNAPTIC
        plastic = PlasticState(*(own,) * SYNAPTIC, *(shared,) * rest)
        return NetworkState(
            step=shared,
            seed=shared,
            groups=tuple(GroupState(own, own, own, own, shared) for _ in state.groups),
            pathways=tuple(
                PathwayState(own, shared, None if p.plastic is None else plastic)
                for p in state.pathways
            ),
            couplings=tuple(CouplingState(own, shared) for _ in state.couplings),
            modulators=tuple(ModulatorState(shared) for _ in state.modulators),
        )

    def _ring(self, ring: jax.Array, mine: Seats) -> jax.Array:
        """An empty ring for each device, of the inputs and slots of the whole one."""
        if ring.ndim == 3:
            return ring
        inputs = ring.shape[1] // max(mine.n, 1)
        return jnp.zeros((self.devices, ring.shape[0], inputs * mine.places), ring.dtype)


def brought_together(layout: Any, state: NetworkState, net: Any) -> NetworkState:
    """See `Layout.whole`; `layout` has something with `whole` for each of its parts."""
    groups = tuple(
        g._replace(
            neurons=mine.whole(g.neurons),
            receptors=mine.whole(g.receptors),
            stimuli=tuple(units.whole(s) for units, s in zip(driven, g.stimuli)),
        )
        for g, mine, driven in zip(state.groups, layout.groups, layout.stimuli)
    )
    pathways = tuple(
        p._replace(release=layout.groups[layer.source].whole(p.release))
        for p, layer in zip(state.pathways, net.pathways)
    )
    couplings = tuple(
        c._replace(release=mine.whole(c.release))
        for c, mine in zip(state.couplings, layout.sources)
    )
    return state._replace(groups=groups, pathways=pathways, couplings=couplings)
