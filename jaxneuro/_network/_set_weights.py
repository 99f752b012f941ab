"""Sets the weight of every synapse of a projection, for `Network.set`."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from jaxneuro._network._connections import read_unordered
from jaxneuro._network._fixed_point import find_quanta
from jaxneuro._network._signs import check_set_sign

from .._arrays import is_traced
from .._checks import check_size


def set_weights(net: Any, number: int, index: int, values: Any, label: str) -> Any:
    """The network with other individual weights of a projection: one for all, or one for each."""
    pathway = net.pathways[number]
    mine = pathway.members[index]
    _check_can(net, pathway, mine, label)
    at = _places(net, pathway, index)
    if pathway.table.n_redrawn and np.unique(at).size < at.size:
        raise ValueError(
            f"{label}: weight must be that of stored synapses; these are drawn again whenever a "
            "source spikes (stored=False). Set the gain, or store the connections"
        )
    if np.shape(values) not in ((), (at.size,)):
        raise ValueError(
            f"{label}: weight must be one number or one per synapse, in the order of "
            f"net.connections({mine.name!r}), shape ({at.size},); got {np.shape(values)}"
        )
    check_size(f"{label}: weight", values)
    if not any(map(is_traced, (values, pathway.gain))):
        new, gain = ("weight", values), np.asarray(pathway.gain)[index]
        check_set_sign(label, net.groups[pathway.target], mine.receptor, new, lambda _: gain)
    new = jnp.asarray(values, pathway.weights.dtype)
    weights = jnp.asarray(pathway.weights).at[at].set(new, unique_indices=True)
    net = eqx.tree_at(lambda n: n.pathways[number].weights, net, weights)
    if net.fixed_point is None:
        return net
    # The quanta are those of the largest sums, which other weights may exceed.
    return eqx.tree_at(
        lambda n: n.fixed_point, net, find_quanta(net.groups, net.pathways, net.dtype)
    )


def _check_can(net: Any, pathway: Any, mine: Any, label: str) -> None:
    """Raises `ValueError` where there are no weights of single synapses, or none that are known."""
    if pathway.plastic is not None:
        raise ValueError(
            f"{label}: weight of plastic synapses is in the state, which a run goes on from; set "
            f"it there: net.with_weights(net.init(key), {mine.name!r}, weights)"
        )
    if not mine.individual:
        raise ValueError(
            f"{label}: weight must be one number, as it was described: the connections have no "
            "room for a weight per synapse. Describe it as a function of the indices, such as "
            "weight=lambda i, j: 1.0 + 0.0 * i; then every synapse has its own, which can be set"
        )
    if net.layout is not None:
        raise ValueError(
            f"{label}: weight can be set before a network is laid over devices; set it, then call "
            "jn.parallel.shard"
        )
    if is_traced(pathway.table.targets):
        raise ValueError(
            f"{label}: weight of single synapses can be set where connections are known; the "
            "network is an argument of jit, vmap or grad here. Close over it, and pass the weights"
        )


def _places(net: Any, pathway: Any, index: int) -> np.ndarray:
    """Where the weight of each synapse is, in the order of `connections`."""
    numbers = np.arange(pathway.weights.size)
    pre, post, at, _ = read_unordered(net, pathway, numbers, index)
    return at.astype(np.int64)[np.lexsort((post, pre))]
