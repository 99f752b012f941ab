"""The connections of a projection, as a user reads them."""

import dataclasses
from typing import Any

import jax
import numpy as np

from jaxneuro._network._coupling import CouplingLayer
from jaxneuro._network._html import html_of_connections
from jaxneuro._network._learning import weights_now
from jaxneuro._network._named import projection

from .._kernels import read_gather_table, ring_place
from .._tables import read_bundle
from .._text import counted
from ..spec import check_known


@dataclasses.dataclass(frozen=True, eq=False)
class Connections:
    """The connections of a projection or a coupling as NumPy arrays, one entry each.

    Ordered by source, then target. The weight is the projection's own; its `gain`, which
    multiplies at delivery, is not in it.

    **Fields** `source`, `target` population names; `shape` their sizes; `pre`, `post` int64
    indices in the populations; `weight` in the unit of the synapse; `delay` [ms]; `coupled`
    whether they are those of a coupling; `places` the numbers of the two populations in the
    description, by which figures colour them.
    """

    source: str
    target: str
    shape: tuple[int, int]
    pre: np.ndarray
    post: np.ndarray
    weight: np.ndarray
    delay: np.ndarray
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


def read_connections(net: Any, name: str, state: Any = None) -> Connections:
    """The connections of a projection; see `Network.connections`."""
    if name in net.coupled:
        return _of_coupling(net, net.couplings[net.coupled.index(name)])
    number, index = projection(net, name)
    pathway = net.pathways[number]
    mine, weights, axonal = pathway.members[index], pathway.weights, 0
    if pathway.plastic is not None:
        axonal = pathway.plastic.axonal
        if state is not None:
            weights = weights_now(net, state, name)
            if net.layout is not None:
                weights = net.layout.synapses_split(number, weights, pathway.weights)
    pre, post, weight, delay = read_unordered(net, pathway, weights, index)
    if not mine.individual:
        weight = np.full(pre.size, float(np.asarray(pathway.weight)[index]))
    order = np.lexsort((post, pre))
    shape = net.populations[mine.source], net.populations[mine.target]
    return Connections(
        mine.source,
        mine.target,
        shape,
        pre[order],
        post[order],
        weight[order],
        (delay[order] + axonal) * net.dt,
        places=(net.order.index(mine.source), net.order.index(mine.target)),
    )


def read_unordered(net: Any, pathway: Any, weights: Any, index: int) -> tuple[np.ndarray, ...]:
    """Sources, targets, weights and delays [steps] of a projection, in no order."""
    mine = pathway.members[index]
    first_source, first_target = (net.population(x)[1].start for x in (mine.source, mine.target))
    if net.layout is None:
        source, place, weight, delay = read_bundle(pathway.table, weights, index)
        first = ring_place(mine.input, first_target, net.groups[pathway.target].n)
        post = place.astype(np.int64) - first
    else:
        seats, parts = net.layout.groups[pathway.target], []
        for device in range(net.layout.devices):
            table, own = jax.tree.map(lambda x: x[device], (pathway.table, weights))  # noqa: B023
            found = read_bundle(table, own, index)
            place = found.place.astype(np.int64) - ring_place(mine.input, 0, seats.places)
            neuron = np.asarray(seats.order)[device, place] - first_target
            parts.append(found._replace(place=neuron))
        source, post, weight, delay = (np.concatenate(x) for x in zip(*parts))
    return source.astype(np.int64) - first_source, post, weight, delay


def _of_coupling(net: Any, layer: CouplingLayer) -> Connections:
    """The connections of a coupling, from its sources to its targets; without delay."""
    span = layer.span
    pre, post, weight = _gathered(net, layer)
    order = np.lexsort((post, pre))
    shape = net.populations[span.source], net.populations[span.target]
    none = np.zeros(pre.size)
    pre, post, weight = (x[order] for x in (pre, post, weight))
    places = net.order.index(span.source), net.order.index(span.target)
    return Connections(span.source, span.target, shape, pre, post, weight, none, True, places)


def _gathered(net: Any, layer: CouplingLayer) -> tuple[np.ndarray, ...]:
    """Sources, targets and weights of a coupling, in no order."""
    side, parts = layer.sides[0], []
    if net.layout is None:
        pieces = [(side.table, side.weights, np.arange(side.table.n_rows))]
    else:
        seats, first = net.layout.groups[side.target], net.population(layer.span.target)[1].start
        order = np.asarray(seats.order)[:, slice(*side.targets)] - first
        whole = side.table, side.weights
        pieces = [
            (*jax.tree.map(lambda x: x[d], whole), targets)  # noqa: B023
            for d, targets in enumerate(order)
        ]
    for table, weights, targets in pieces:
        row, pre, at = read_gather_table(table)
        weight = np.full(pre.size, float(np.asarray(layer.weight)))
        if layer.span.individual:
            weight = np.asarray(weights)[at].astype(np.float64)
        parts.append((pre, targets[row], weight))
    pre, post, weight = (np.concatenate(x) for x in zip(*parts))
    return pre, post, weight
