"""States of a network wherever it lies: as of one device, and from there onto any mesh.

What a mesh has per device is brought into the order of the network: neurons, rings, synapses. Rows
of plastic synapses may have been visited at different times on different devices, so all are
brought up to date, and the logs of postsynaptic events are written anew, with the newest events.
"""

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int64, Num, Shaped

from .._arrays import as_array, is_traced
from .._kernels.event_log import LONG_AGO, EventLog
from .._numerics.streams import Stream
from .group import GroupState
from .layout import MeshLayout
from .plastic import PlasticState
from .shards import ShardLayout
from .state import NetworkState
from .weights import flush

if TYPE_CHECKING:
    from .network import Network


def one_device(net: "Network", state: NetworkState) -> NetworkState:
    """A state as the network would have it on one device; on one, the state itself."""
    layout = net.layout
    if not isinstance(layout, MeshLayout):
        return state
    for pathway in net.pathways:
        if pathway.plastic is not None:
            state = flush(net, state, pathway.plastic.name)
    whole, pathways = _whole(net, state), []
    for pathway, mine in zip(net.pathways, whole.pathways):
        if pathway.plastic is not None and mine.plastic is not None:
            shards, name = layout.groups[pathway.target], pathway.members[0].target
            order, real = _targets_of(shards, name)
            events = [
                _Events.of(jax.tree.map(lambda x: x[d], mine.plastic.log), order[d], real[d])  # noqa: B023
                for d in range(layout.devices)
            ]
            n = next(m.n for m in shards.members if m.name == name)
            empty = pathway.plastic.empty_log(n, mine.plastic.log.numbers.dtype)
            log = _Events.joined(events).logged(empty, np.arange(n))
            mine = mine._replace(plastic=mine.plastic._replace(log=log))
        pathways.append(mine)
    described = as_array(np.array(layout.described, np.uint32))
    whole = whole._replace(pathways=tuple(pathways), fingerprint=described)
    return jax.tree.map(_anywhere, whole)


def _anywhere(x: Shaped[Array, "..."]) -> Shaped[Array, "..."]:
    """The array without the devices of a mesh, so that it computes beside arrays of any other."""
    return x if is_traced(x) else as_array(np.asarray(x))


def on_mesh(net: "Network", whole: NetworkState) -> NetworkState:
    """What `one_device` made, as this network has it; on one device, the state itself."""
    layout = net.layout
    if not isinstance(layout, MeshLayout):
        return whole
    pathways = []
    for pathway, mine in zip(net.pathways, whole.pathways):
        if pathway.plastic is not None and mine.plastic is not None:
            order, real = _targets_of(layout.groups[pathway.target], pathway.members[0].target)
            n = mine.plastic.log.head.shape[0]
            events = _Events.of(mine.plastic.log, np.arange(n), np.ones(n, bool))
            empty = pathway.plastic.empty_log(order.shape[1], mine.plastic.log.numbers.dtype)
            each = [
                events.logged(empty, np.where(real[d], order[d], -1)) for d in range(len(order))
            ]
            log = jax.tree.map(lambda *x: jnp.stack(x), *each)
            mine = mine._replace(plastic=mine.plastic._replace(log=log))
        pathways.append(mine)
    whole = whole._replace(pathways=tuple(pathways), fingerprint=as_array(net.fingerprint))
    return _laid(net, jax.tree.map(_anywhere, whole), net.init(0))


def _targets_of(shards: ShardLayout, name: str) -> tuple[Any, Any]:
    """The neurons of a population at its places of each device, from 0, and which are real."""
    index = [m.name for m in shards.members].index(name)
    first, start = sum(m.n for m in shards.members[:index]), sum(shards.sizes[:index])
    here = slice(start, start + shards.sizes[index])
    return np.asarray(shards.order[:, here]) - first, np.asarray(shards.real[:, here])


class _Events(NamedTuple):
    """Postsynaptic events that a log holds, in the order of time and target."""

    time: Int64[np.ndarray, " events"]
    target: Int64[np.ndarray, " events"]
    numbers: Float[np.ndarray, "rows events"]

    @classmethod
    def of(cls, log: EventLog, targets: Any, real: Any) -> "_Events":
        """Those of a log, whose target k is `targets[k]` if it is `real`."""
        count, head, events, numbers = map(np.asarray, log)
        capacity, last = events.shape[0], int(count)
        time, number = head[:, 0].astype(np.int64), head[:, 1].astype(np.int64)
        found = []
        while True:  # from the newest of each target to the one before, while it is in the log
            held = real & (time > LONG_AGO) & (last - number <= capacity) & (number >= 0)
            if not held.any():
                break
            entry = number[held] % capacity
            found.append((time[held], targets[held], numbers[:, entry]))
            before = np.where(held, number % capacity, 0)
            time = np.where(held, events[before, 1], LONG_AGO)
            number = np.where(held, events[before, 2], -1)
        none = np.zeros(0, np.int64), np.zeros(0, np.int64), numbers[:, :0]
        times, owners, each = zip(*(found or [none]))
        return cls(np.concatenate(times), np.concatenate(owners), np.concatenate(each, 1)).sorted()

    @classmethod
    def joined(cls, several: "list[_Events]") -> "_Events":
        """Those of several logs."""
        times, targets, numbers = zip(*several)
        each = np.concatenate(times), np.concatenate(targets), np.concatenate(numbers, axis=1)
        return cls(*each).sorted()

    def sorted(self) -> "_Events":
        """In the order of time, then of target, in which a step logs them."""
        order = np.lexsort((self.target, self.time))
        return _Events(self.time[order], self.target[order], self.numbers[:, order])

    def logged(self, empty: EventLog, targets: Any) -> EventLog:
        """A log of the newest events of some targets: of each the place in the log is its own."""
        place = np.full(max(self.target.max(initial=-1), targets.max(initial=-1)) + 1, -1)
        place[targets[targets >= 0]] = np.flatnonzero(targets >= 0)
        mine = np.flatnonzero(place[self.target] >= 0)
        # Half of a log is what a row may not have seen; all rows are up to date.
        mine = mine[-((empty.capacity - len(targets)) // 2) :]
        head, events, numbers = (np.array(x) for x in empty[1:])
        for k, event in enumerate(mine):
            at = place[self.target[event]]
            events[k] = self.time[event], *head[at]
            head[at] = self.time[event], k
            numbers[:, k] = self.numbers[:, event]
        return EventLog(*map(as_array, (np.int32(len(mine)), head, events, numbers)))


@jax.jit
def _whole(net: "Network", state: NetworkState) -> NetworkState:
    """All but the logs of events in the order of the network."""
    layout: Any = net.layout
    together = layout.whole(state, net)
    groups = tuple(
        g._replace(
            ring=_ring_whole(mine, g),
            stimuli=tuple(
                _with_streams(s, of.expand().init(state.seed))
                for s, of in zip(g.stimuli, group.stimuli)
            ),
        )
        for g, mine, group in zip(together.groups, layout.groups, net.groups)
    )
    pathways = tuple(
        p if p.plastic is None else p._replace(plastic=_plastic_whole(net, k, p.plastic))
        for k, p in enumerate(together.pathways)
    )
    return together._replace(groups=groups, pathways=pathways)


def _with_streams(state: Any, start: Any) -> Any:
    """The state of a stimulus with the streams of its start, which are those of any step.

    A mesh keeps the same streams in another form, which depends on the neurons per device.
    """
    is_stream = lambda x: isinstance(x, Stream)  # noqa: E731
    return jax.tree.map(lambda x, y: y if is_stream(x) else x, state, start, is_leaf=is_stream)


def _ring_whole(mine: ShardLayout, group: GroupState) -> Num[Array, "slots places"]:
    devices, slots, places = group.ring.shape
    inputs = places // max(mine.places, 1)
    apart = group.ring.reshape(devices, slots, inputs, mine.places)
    return mine.whole(apart).reshape(slots, inputs * mine.n)


def _plastic_whole(net: "Network", number: int, state: PlasticState) -> PlasticState:
    layout: Any = net.layout
    pathway = net.pathways[number]
    shards, target = layout.groups[pathway.target], pathway.members[0].target

    def of_targets(x: Shaped[Array, "devices *rows places"]) -> Shaped[Array, "*rows targets"]:
        rows = x.reshape(x.shape[0], -1, x.shape[-1])
        each = jax.vmap(lambda row: shards.of_population(target, row), in_axes=1)(rows)
        return each.reshape(*x.shape[1:-1], -1)

    synapses = state.synapses
    whole = functools.partial(layout.synapses_whole, number)
    weights, rows = whole(synapses.weights), range(synapses.variables.shape[1])
    variables = [whole(synapses.variables[:, k])[None] for k in rows]
    one = synapses._replace(
        weights=weights,
        variables=jnp.concatenate([jnp.zeros((0, weights.size), weights.dtype), *variables]),
        row_time=synapses.row_time[0],
        row_traces=synapses.row_traces[0],
    )
    return state._replace(
        synapses=one,
        targets=jax.tree.map(of_targets, state.targets),
        low=jax.tree.map(of_targets, state.low),
        target_ring=of_targets(state.target_ring),
    )


@jax.jit
def _laid(net: "Network", whole: NetworkState, like: NetworkState) -> NetworkState:
    layout: Any = net.layout
    groups = tuple(
        g._replace(ring=_ring_laid(mine, g)) for g, mine in zip(whole.groups, layout.groups)
    )
    pathways = tuple(
        p if p.plastic is None else p._replace(plastic=_plastic_laid(net, k, p.plastic, its))
        for k, (p, its) in enumerate(zip(whole.pathways, like.pathways))
    )
    return layout.lay(whole._replace(groups=groups, pathways=pathways), net)


def _ring_laid(mine: ShardLayout, group: GroupState) -> Num[Array, "devices slots places"]:
    slots, places = group.ring.shape
    inputs = places // max(mine.n, 1)
    laid = mine.split(group.ring.reshape(slots, inputs, mine.n))
    return laid.reshape(laid.shape[0], slots, inputs * mine.places)


def _plastic_laid(net: "Network", number: int, state: PlasticState, like: Any) -> PlasticState:
    layout: Any = net.layout
    pathway = net.pathways[number]
    shards, target = layout.groups[pathway.target], pathway.members[0].target
    index = [m.name for m in shards.members].index(target)
    first, start = sum(m.n for m in shards.members[:index]), sum(shards.sizes[:index])
    order = shards.order[:, start : start + shards.sizes[index]] - first
    its = like.plastic.synapses

    def of_targets(x: Shaped[Array, "*rows targets"]) -> Shaped[Array, "devices *rows places"]:
        return jnp.moveaxis(x[..., order], -2, 0)

    split = functools.partial(layout.synapses_split, number)
    repeated = lambda x: jnp.broadcast_to(x, (layout.devices, *x.shape))  # noqa: E731
    synapses = state.synapses
    variables = [
        split(synapses.variables[k], its.variables[:, k])
        for k in range(synapses.variables.shape[0])
    ]
    own = synapses._replace(
        weights=split(synapses.weights, its.weights),
        variables=jnp.stack(variables, axis=1) if variables else its.variables,
        row_time=repeated(synapses.row_time),
        row_traces=repeated(synapses.row_traces),
    )
    return state._replace(
        synapses=own,
        targets=jax.tree.map(of_targets, state.targets),
        low=jax.tree.map(of_targets, state.low),
        target_ring=of_targets(state.target_ring),
    )
