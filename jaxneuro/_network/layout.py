"""Which device has which part of a network and of its state, from outside and on one device."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, Float, Int32, Num

from .._arrays import AnyArray
from .._kernels.exchange import line_of
from .coupling import CouplingState
from .group import GroupState
from .modulator import ModulatorState
from .pathway import PathwayState
from .plastic import OWN_FIELDS, PlasticState
from .shards import Peers, ShardLayout
from .state import NetworkState

if TYPE_CHECKING:
    from .network import Network


class MeshLayout(eqx.Module):
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
        share: of the neurons, expected to spike in a step; 0 if nothing is known (see `shards.py`).
        described: the fingerprint of the network on one device.
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
    described: tuple[int, ...] = eqx.field(static=True)

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

    def split_population(
        self, name: str, x: Num[Array, "*steps n"]
    ) -> Num[Array, "devices *steps places"] | Num[Array, "*steps n"]:
        """Numbers of a population, (..., n), as (devices, ..., places)."""
        for mine in self.groups:
            first = start = 0
            for member, size in zip(mine.members, mine.sizes):
                if member.name == name:
                    here = mine.order[:, start : start + size] - first
                    return jnp.moveaxis(x[..., here], -2, 0)
                first, start = first + member.n, start + size
        return x

    def lay(self, whole: NetworkState, net: "Network") -> NetworkState:
        """A state of the whole network as its devices have it; a ring that is not yet is new."""
        groups = tuple(
            g._replace(
                neurons=mine.split(g.neurons),
                receptors=mine.split(g.receptors),
                stimuli=tuple(units.split(s) for units, s in zip(driven, g.stimuli)),
                low=mine.split(g.low),
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

    def whole(self, state: NetworkState, net: "Network") -> NetworkState:
        """The state with neurons, receptors, stimuli and releases in the order of the network.

        Rings, synapses and what rules keep stay as the devices have them.
        """
        return brought_together(self, state, net)

    def synapses_whole(
        self, number: int, x: Float[Array, "devices entries"]
    ) -> Float[Array, " synapses"]:
        """Numbers of the synapses of a plastic pathway, in the order of its connections."""
        whole = by_number(self, number, x.reshape(-1), self.numbers[number].reshape(-1))
        return lax.with_sharding_constraint(whole, self.shared)

    def synapses_split(
        self, number: int, x: Num[Array, " synapses"], like: Num[AnyArray, "devices entries"]
    ) -> Num[Array, "devices entries"]:
        """What `synapses_whole` made of an array like `like`."""
        known = self.numbers[number] < self.synapses[number]
        return jnp.where(known, x.at[self.numbers[number]].get(mode="clip"), like)

    @property
    def orders(self) -> "Orders":
        """What `local_layout` takes, with an axis of devices."""
        order = lambda shards: tuple(s.order for s in shards)  # noqa: E731
        return Orders(
            groups=order(self.groups),
            stimuli=tuple(map(order, self.stimuli)),
            sources=order(self.sources),
            numbers=self.numbers,
        )

    def specs(self, state: NetworkState) -> NetworkState:
        """How each part of a state is laid over the mesh, for `shard_map`."""
        own: Any = P(self.axis)
        shared: Any = P()
        lies = {k: own if k in OWN_FIELDS else shared for k in PlasticState._fields}
        plastic = PlasticState(**lies)
        group = GroupState(*(own,) * 5, released=shared)
        return NetworkState(
            step=shared,
            seed=shared,
            groups=(group,) * len(state.groups),
            pathways=tuple(
                PathwayState(
                    release=own,
                    released=shared,
                    plastic=None if p.plastic is None else plastic,
                )
                for p in state.pathways
            ),
            couplings=tuple(CouplingState(release=own, values=shared) for _ in state.couplings),
            modulators=tuple(ModulatorState(shared, shared) for _ in state.modulators),
            fingerprint=shared,
        )

    def _ring(
        self, ring: Num[Array, "..."], mine: ShardLayout
    ) -> Num[Array, "devices slots places"]:
        """An empty ring for each device, of the inputs and slots of the whole one."""
        if ring.ndim == 3:
            return ring
        inputs = ring.shape[1] // max(mine.n, 1)
        return jnp.zeros((self.devices, ring.shape[0], inputs * mine.places), ring.dtype)


def by_number(
    layout: MeshLayout,
    number: int,
    x: Float[Array, " entries"],
    numbers: Int32[Array, " entries"],
) -> Float[Array, " synapses"]:
    """Numbers of synapses of a plastic pathway in their order, 0 where `numbers` has none."""
    whole = jnp.zeros(layout.synapses[number], x.dtype)
    return whole.at[numbers].set(x, mode="drop")


def brought_together(
    layout: "MeshLayout | LocalLayout", state: NetworkState, net: "Network"
) -> NetworkState:
    """See `MeshLayout.whole`; `layout` has something with `whole` for each of its parts."""
    groups = tuple(
        g._replace(
            neurons=mine.whole(g.neurons),
            receptors=mine.whole(g.receptors),
            stimuli=tuple(units.whole(s) for units, s in zip(driven, g.stimuli)),
            low=mine.whole(g.low),
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


class LocalLayout(eqx.Module):
    """The layout of a network as one device sees it, inside `shard_map`.

    Attributes:
        groups, stimuli, sources: as in `MeshLayout`, but `Peers`.
        numbers: (entries,) of the synapses here, of each plastic pathway.
        layout: that of all devices.
    """

    groups: tuple[Peers, ...]
    stimuli: tuple[tuple[Peers, ...], ...]
    sources: tuple[Peers, ...]
    numbers: tuple[Any, ...]
    layout: MeshLayout

    @property
    def synapses(self) -> tuple[int, ...]:
        """How many synapses each pathway has on all devices."""
        return self.layout.synapses

    def synapses_whole(self, number: int, x: Float[Array, " entries"]) -> Float[Array, " synapses"]:
        """Numbers of the synapses of all devices; see `MeshLayout.synapses_whole`."""
        here = by_number(self.layout, number, x, self.numbers[number])
        return lax.psum(here, self.layout.axis)

    def whole(self, state: NetworkState, net: "Network") -> NetworkState:
        """The state with the neurons of all devices; see `MeshLayout.whole`."""
        return brought_together(self, state, net)


class Orders(NamedTuple):
    """What a device must know of itself, beside the layout that all devices have.

    Attributes:
        groups, stimuli, sources: the neuron at each place, of each group and so on.
        numbers: those of its synapses, of each plastic pathway.
    """

    groups: tuple
    stimuli: tuple
    sources: tuple
    numbers: tuple


def local_layout(layout: MeshLayout, orders: Orders) -> LocalLayout:
    """The layout as the device with these orders sees it, inside `shard_map`."""
    line = line_of(*layout.axes)
    make = lambda order, shards: Peers(order, shards, line, layout.share)  # noqa: E731
    return LocalLayout(
        groups=tuple(map(make, orders.groups, layout.groups)),
        stimuli=tuple(
            tuple(map(make, mine, of)) for mine, of in zip(orders.stimuli, layout.stimuli)
        ),
        sources=tuple(map(make, orders.sources, layout.sources)),
        numbers=orders.numbers,
        layout=layout,
    )
