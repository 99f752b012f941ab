"""Connections as a user reads them, and plastic weights as they are now."""

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32, Int64, Num

from .. import spec
from .._arrays import AnyArray, as_array
from .._kernels.gather import read_gather_table
from .._kernels.table import Table, ring_place
from .._tables.read import read_bundle
from .._text import counted, listed
from ..spec import InvalidValueError, check_known
from .bounds import check_numbers, check_within
from .coupling import CouplingLayer
from .html import html_of_connections
from .layout import MeshLayout
from .names import projection
from .pathway import Pathway
from .plastic import Plastic, PlasticState
from .sharded import each_device
from .state import NetworkState, state_of

if TYPE_CHECKING:
    from .network import Network


@dataclasses.dataclass(frozen=True, eq=False)
class Connections:
    """The connections of a projection or a coupling as NumPy arrays, one entry each.

    Ordered by source, then target. The weight is the projection's own; its `gain`, which
    multiplies at delivery, is not in it.

    Attributes:
        source, target: population names.
        shape: their sizes.
        pre, post: int64 indices in the populations.
        weight: in the unit of the synapse.
        delay: [ms].
        coupled: whether they are those of a coupling.
        places: the numbers of the two populations in the description, by which figures colour them.
    """

    source: str
    target: str
    shape: tuple[int, int]
    pre: Int64[np.ndarray, " synapses"]
    post: Int64[np.ndarray, " synapses"]
    weight: Num[np.ndarray, " synapses"]
    delay: Float[np.ndarray, " synapses"]
    coupled: bool = False
    places: tuple[int, int] = (0, 1)

    def __len__(self) -> int:
        return self.pre.size

    def sparse(self, values: str = "weight") -> Any:
        """A `scipy.sparse.coo_array` (n_source, n_target) of the weights or of the "delay"s [ms].

        It has an entry per synapse: a pair that is connected twice has two entries, and scipy adds
        them up when it converts the array.
        """
        import scipy.sparse

        check_known("value of connections", values, ("weight", "delay"))
        return scipy.sparse.coo_array((getattr(self, values), (self.pre, self.post)), self.shape)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_connections(self)

    def __repr__(self) -> str:
        what = "coupled neighbour" if self.coupled else "synapse"
        return f"Connections: {self.source} to {self.target}, {counted(len(self), what)}"


class ReadSynapses(NamedTuple):
    """The connections of a projection or a coupling as tables have them, in no order.

    Attributes:
        pre, post: int64 (synapses,) indices in the populations.
        weight: (synapses,).
        delay: (synapses,) [steps].
    """

    pre: Int64[np.ndarray, " synapses"]
    post: Int64[np.ndarray, " synapses"]
    weight: Num[np.ndarray, " synapses"]
    delay: Float[np.ndarray, " synapses"]

    def order(self) -> Int64[np.ndarray, " synapses"]:
        """What sorts them by source, then target."""
        return np.lexsort((self.post, self.pre))


def read_connections(net: "Network", name: str, state: Any = None) -> Connections:
    """The connections of a projection; see `Network.connections`."""
    if name in net.coupled:
        layer = net.couplings[net.coupled.index(name)]
        return _ordered(net, layer.source, layer.target, _read_coupling(net, layer), coupled=True)
    number, index = projection(net, name)
    pathway = net.pathways[number]
    mine, weights, axonal = pathway.members[index], pathway.weights, 0
    if pathway.plastic is not None:
        axonal = pathway.plastic.axonal
        if state is not None:
            weights = weights_now(net, state, name)
            if net.layout is not None:
                assert isinstance(net.layout, MeshLayout)
                weights = net.layout.synapses_split(number, weights, pathway.weights)
    read = read_synapses(net, pathway, weights, index)
    if not mine.individual:
        one = float(np.asarray(pathway.weight)[index])
        read = read._replace(weight=np.full(read.pre.size, one))
    return _ordered(net, mine.source, mine.target, read._replace(delay=read.delay + axonal))


def _ordered(
    net: "Network", source: str, target: str, read: ReadSynapses, coupled: bool = False
) -> Connections:
    """Connections between two populations, ordered by source, then target."""
    order = read.order()
    return Connections(
        source=source,
        target=target,
        shape=(net.populations[source], net.populations[target]),
        pre=read.pre[order],
        post=read.post[order],
        weight=read.weight[order],
        delay=read.delay[order] * net.dt,
        coupled=coupled,
        places=(net.order.index(source), net.order.index(target)),
    )


def read_synapses(
    net: "Network", pathway: Pathway, weights: Num[AnyArray, "*devices entries"], index: int
) -> ReadSynapses:
    """The synapses of projection `index` of a pathway, with these weights of its entries."""
    mine = pathway.members[index]
    first_source, first_target = (net.population(x)[1].start for x in (mine.source, mine.target))
    if net.layout is None:
        source, place, weight, delay = read_bundle(pathway.table, weights, index)
        first = ring_place(mine.input, first_target, net.groups[pathway.target].n)
        post = place.astype(np.int64) - first
    else:
        assert isinstance(net.layout, MeshLayout)
        shards, parts = net.layout.groups[pathway.target], []
        for device in range(net.layout.devices):
            table, own = jax.tree.map(lambda x: x[device], (pathway.table, weights))  # noqa: B023
            found = read_bundle(table, own, index)
            place = found.place.astype(np.int64) - ring_place(mine.input, 0, shards.places)
            neuron = np.asarray(shards.order)[device, place].astype(np.int64) - first_target
            parts.append(found._replace(place=neuron))
        source, post, weight, delay = (np.concatenate(x) for x in zip(*parts))
    return ReadSynapses(source.astype(np.int64) - first_source, post, weight, delay)


def places(net: "Network", pathway: Pathway, index: int) -> Int64[np.ndarray, " synapses"]:
    """Where the weight of each synapse is among all, in the order of `connections`."""
    numbers = np.arange(pathway.weights.size).reshape(pathway.weights.shape)
    read = read_synapses(net, pathway, numbers, index)
    return read.weight.astype(np.int64)[read.order()]


def _read_coupling(net: "Network", layer: CouplingLayer) -> ReadSynapses:
    """The connections of a coupling, from its sources to its targets; without delay."""
    side, parts = layer.sides[0], []
    if net.layout is None:
        pieces = [(side.table, side.weights, np.arange(side.table.n_rows))]
    else:
        assert isinstance(net.layout, MeshLayout)
        shards, first = net.layout.groups[side.target], net.population(layer.target)[1].start
        order = np.asarray(shards.order)[:, slice(*side.targets)].astype(np.int64) - first
        whole = side.table, side.weights
        pieces = [
            (*jax.tree.map(lambda x: x[d], whole), targets)  # noqa: B023
            for d, targets in enumerate(order)
        ]
    for table, weights, targets in pieces:
        row, pre, at = read_gather_table(table)
        weight = np.full(pre.size, float(np.asarray(layer.weight)))
        if layer.individual:
            weight = np.asarray(weights)[at].astype(np.float64)
        parts.append((pre, targets[row], weight))
    pre, post, weight = (np.concatenate(x) for x in zip(*parts))
    return ReadSynapses(pre, post, weight, np.zeros(pre.size))


def plastic_pathway(net: "Network", name: str) -> int:
    """The number of the pathway of a plastic projection, or `InvalidValueError`."""
    number, _ = projection(net, name)
    if net.pathways[number].plastic is None:
        known = [p.plastic.name for p in net.pathways if p.plastic is not None]
        got = f"none (plastic projections: {listed(known) or 'none'})"
        must = "a rule, so that weights change"
        raise InvalidValueError(f"projection {name!r}", "plasticity", must, got)
    return number


def _plastic(net: "Network", number: int) -> Plastic:
    plastic = net.pathways[number].plastic
    assert plastic is not None
    return plastic


def weights_now(
    net: "Network", state: Any, name: str, variable: str = "weight"
) -> Float[Array, "*batch synapses"]:
    """See `Network.weights`."""
    number = plastic_pathway(net, name)
    state = state_of(net, state)
    known = ("weight", *_plastic(net, number).programs.names.variables)
    check_known(f"variable of the synapses of {name!r}", variable, known)
    return _weights_now(net, state, number, known.index(variable))


@functools.partial(jax.jit, static_argnums=(2, 3))
def _weights_now(
    net: "Network", state: NetworkState, number: int, which: int
) -> Float[Array, "*batch synapses"]:
    synapses = _flushed(net, state, number).synapses
    if which:
        found = synapses.variables[..., which - 1, :]
    else:
        # What a rule integrates between events may have passed a bound; the next event brings it
        # back.
        found = _within(net, number, synapses.weights)
    return found if net.layout is None else net.layout.synapses_whole(number, found)


def _within(
    net: "Network", number: int, weights: Float[Array, "*devices synapses"]
) -> Float[Array, "*devices synapses"]:
    """Weights brought into the bounds of the rule of a pathway."""
    low, high = _plastic(net, number).rule.bounds()
    weights = weights if low is None else jnp.maximum(weights, low)
    return weights if high is None else jnp.minimum(weights, high)


def with_learning(net: "Network", state: Any, name: str, learning: bool) -> NetworkState:
    """The state in which weights change or rest; see `Network.freeze`."""
    number = plastic_pathway(net, name)
    state = state_of(net, state)
    flushed = _flushed(net, state, number)
    # Weights that rest are delivered as they are: an event would have brought them into bounds.
    synapses = flushed.synapses
    synapses = synapses._replace(weights=_within(net, number, synapses.weights))
    learns = as_array(learning, np.int32)
    return _replaced(state, number, flushed._replace(synapses=synapses, learning=learns))


def with_weights(net: "Network", state: Any, name: str, values: Any) -> NetworkState:
    """The state with other weights; see `Network.with_weights`."""
    number = plastic_pathway(net, name)
    state = state_of(net, state)
    flushed = _flushed(net, state, number)
    old, n = flushed.synapses.weights, net.synapses_of(number)
    owner, rule = f"projection {name!r}", _plastic(net, number).rule
    each = f"synapse, in the order of net.connections({name!r})"
    check_numbers(owner, "weights", values, n, each)
    spec.defer(check_within, owner, "weights", rule, values)
    check_within(owner, "weights", rule, values)
    new = _within(net, number, jnp.broadcast_to(jnp.asarray(values, old.dtype), (n,)))
    if net.layout is not None:
        assert isinstance(net.layout, MeshLayout)
        new = net.layout.synapses_split(number, new, old)
    synapses = flushed.synapses._replace(weights=new)
    return _replaced(state, number, flushed._replace(synapses=synapses))


@functools.partial(jax.jit, static_argnums=2)
def _flushed(net: "Network", state: NetworkState, number: int) -> PlasticState:
    """The state of a plastic pathway with all rows as they are after what has been delivered."""
    pathway, mine = net.pathways[number], state.pathways[number].plastic
    # Step k delivers what step k - 1 released: after k steps k - 2 was the last one.
    last = jnp.maximum(state.step - 2, -1)
    assert mine is not None
    flush = _plastic(net, number).expand().flush
    if mine.synapses.weights.ndim == 1:
        return flush(mine, last, pathway.table)
    own, rest = mine.parts()

    def here(own: dict, table: Table, rest: dict, last: Int32[Array, ""]) -> dict:
        return flush(PlasticState(**own, **rest), last, table).parts()[0]

    assert isinstance(net.layout, MeshLayout)
    new = each_device(net.layout, here, own, pathway.table, shared=(rest, last))
    return PlasticState(**new, **rest)


def flush(net: "Network", state: Any, name: str) -> NetworkState:
    """The state with the rows of a plastic projection brought up to date."""
    number = plastic_pathway(net, name)
    state = state_of(net, state)
    return _replaced(state, number, _flushed(net, state, number))


def _replaced(state: NetworkState, number: int, plastic: PlasticState) -> NetworkState:
    pathways = list(state.pathways)
    pathways[number] = pathways[number]._replace(plastic=plastic)
    return state._replace(pathways=tuple(pathways))
