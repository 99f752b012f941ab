"""Which device has which neurons of a network, and how arrays are laid over devices.

An array with one number per neuron of a group, (..., n), becomes (devices, ..., places): device d
has the neurons `order[d]`, ascending within each population. All devices have as many places for a
population, so that one program fits all; where a device has fewer neurons, what is left is
*padding*: a neuron is repeated, and its spikes are masked.
"""

import math
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from .._arrays import as_array
from .._numerics import Stream
from .group import PopulationMember
from .state import (
    SYNAPTIC,
    CouplingState,
    GroupState,
    ModulatorState,
    NetworkState,
    PathwayState,
    PlasticState,
)

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

    order: jax.Array
    real: jax.Array
    place: jax.Array
    sizes: tuple[int, ...] = eqx.field(static=True)
    members: tuple[PopulationMember, ...] = eqx.field(static=True)
    everywhere: bool = eqx.field(static=True, default=False)

    @property
    def neurons(self) -> jax.Array:
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

    def of_population(self, name: str, x: jax.Array) -> jax.Array:
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


def shard_layout(owners: Mapping[str, np.ndarray], devices: int) -> ShardLayout:
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


class Layout(eqx.Module):
    """A network over the devices of a mesh: the shards of its parts, and the mesh.

    Attributes:
        groups: the shards of each group.
        stimuli: those of what the stimuli of each group drive.
        sources: those of the neurons that release at each coupling.
        numbers: of each plastic pathway int32 (devices, entries), which of all its synapses each
            entry of a table is, `synapses` where it is none; None of others.
        mesh: the mesh.
        axis: its axis along which the network is, or axes, the outer one first.
        synapses: how many each pathway has in all.
        shortest: the shortest delay [steps].
        share: of the neurons, expected to spike in a step; 0 if nothing is known (see `peers.py`).
    """

    groups: tuple[ShardLayout, ...]
    stimuli: tuple[tuple[ShardLayout, ...], ...]
    sources: tuple[ShardLayout, ...]
    numbers: tuple[Any, ...]
    mesh: Mesh = eqx.field(static=True)
    axis: str | tuple[str, ...] = eqx.field(static=True)
    synapses: tuple[int, ...] = eqx.field(static=True)
    shortest: int = eqx.field(static=True)
    share: float = eqx.field(static=True)

    @property
    def axes(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The axes of the mesh along which the network is, and the others."""
        mine = (self.axis,) if isinstance(self.axis, str) else self.axis
        return mine, tuple(name for name in self.mesh.axis_names if name not in mine)

    @property
    def devices(self) -> int:
        """How many devices the mesh has along the axis."""
        return math.prod(self.mesh.shape[name] for name in self.axes[0])

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
        return self.placed(whole._replace(groups=groups, pathways=pathways, couplings=couplings))

    def placed(self, state: NetworkState) -> NetworkState:
        """The state with each part on the devices that `specs` names.

        A loop returns its state so; and no device ever holds the rings of all.
        """
        put = lambda x, how: lax.with_sharding_constraint(x, NamedSharding(self.mesh, how))  # noqa: E731
        place = lambda how, part: jax.tree.map(lambda x: put(x, how), part)  # noqa: E731
        return jax.tree.map(place, self.specs(state), state, is_leaf=lambda x: isinstance(x, P))

    def whole(self, state: NetworkState, net: Any) -> NetworkState:
        """The state with neurons, receptors, stimuli and releases in the order of the network.

        Rings, synapses and what rules keep stay as the devices have them.
        """
        return brought_together(self, state, net)

    def synapses_whole(self, number: int, x: jax.Array) -> jax.Array:
        """Numbers of the synapses of a plastic pathway, in the order of its connections."""
        whole = by_number(self, number, x.reshape(-1), self.numbers[number].reshape(-1))
        return lax.with_sharding_constraint(whole, self.shared)

    def synapses_split(self, number: int, x: jax.Array, like: jax.Array) -> jax.Array:
        """What `synapses_whole` made of an array like `like`."""
        known = self.numbers[number] < self.synapses[number]
        return jnp.where(known, x.at[self.numbers[number]].get(mode="clip"), like)

    @property
    def orders(self) -> tuple:
        """The neuron at each place, of groups, stimuli and sources, and the synapses' numbers."""
        order = lambda shards: tuple(s.order for s in shards)  # noqa: E731
        driven = tuple(map(order, self.stimuli))
        return order(self.groups), driven, order(self.sources), self.numbers

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
            fingerprint=shared,
        )

    def _ring(self, ring: jax.Array, mine: ShardLayout) -> jax.Array:
        """An empty ring for each device, of the inputs and slots of the whole one."""
        if ring.ndim == 3:
            return ring
        inputs = ring.shape[1] // max(mine.n, 1)
        return jnp.zeros((self.devices, ring.shape[0], inputs * mine.places), ring.dtype)


def by_number(layout: Layout, number: int, x: jax.Array, numbers: jax.Array) -> jax.Array:
    """Numbers of synapses of a plastic pathway in their order, 0 where `numbers` has none."""
    whole = jnp.zeros(layout.synapses[number], x.dtype)
    return whole.at[numbers].set(x, mode="drop", unique_indices=False)


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
