"""Structural plasticity: weak synapses are pruned, and as many grow elsewhere."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Float, Float64, Int64

from .. import spec
from .._arrays import as_array
from .._fingerprint import fingerprint
from .._kernels.learn import PlasticSynapses
from .._kernels.table import ring_place
from .._numerics.streams import bits, seed_of, stream_key
from .._tables.bundles import ListedBundle, Placement
from .._tables.lay_out import lay_out
from .._tables.read import read_bundle
from ..space import distance
from ..spec import InvalidValueError
from .bounds import check_within
from .network import Network
from .pathway import ProjectionMember
from .state import NetworkState
from .weights import flush, plastic_pathway


class _Listed(NamedTuple):
    """The synapses of a projection one by one, by ascending source, then target."""

    pre: Int64[np.ndarray, " synapses"]
    post: Int64[np.ndarray, " synapses"]
    delay: Int64[np.ndarray, " synapses"]
    weight: Float[np.ndarray, " synapses"]
    variables: Float[np.ndarray, "variables synapses"]


@spec.arguments(
    net=spec.Of(Network),
    name=spec.Name(),
    profile=spec.Maybe(spec.Function()),
    autapses=spec.Flag(),
)
def rewire(
    net: Network,
    state: NetworkState,
    key: Any,
    name: str,
    *,
    below: float,
    weight: float,
    profile: Callable | None = None,
    period: Any = None,
    autapses: bool = False,
) -> tuple[Network, NetworkState]:
    """Prunes the weak synapses of a plastic projection and grows as many, between two runs.

    Every synapse with a weight under `below` is removed, and its source gets a synapse onto a
    neuron to which it has none. It starts with `weight`, with the start values of the rule's
    further variables, and keeps the delay of the one that it replaces. So every source keeps its
    number of synapses, arrays keep their shapes and nothing is compiled again. A source that has
    nowhere to grow keeps its weak synapses.

    A new synapse takes part in what arrives from now on. The traces of its two neurons are those
    of the neurons: they count earlier spikes as they do at any other synapse.

    Runs on the host, not under `jit`.

    Args:
        net: the network, on one device.
        state: its state, or a result.
        key: an integer or a JAX key; the same key gives the same synapses.
        name: of a plastic projection that connects whole populations.
        below: weight under which a synapse is removed.
        weight: of a new synapse.
        profile: the relative chance of a target, a function of distance [um] (a
            `jn.space.Profile`); None for equal chances.
        period: [um] per axis where space repeats.
        autapses: whether a neuron may grow a synapse onto itself.

    Returns:
        A new network and the state that fits it; the given ones do not change.

    Raises:
        InvalidValueError: for a projection that is not plastic or connects parts of populations, a
            network over a mesh, a `weight` outside the bounds of the rule, numbers that are not
            finite, or a profile without positions.

    Reference:
        Butz and van Ooyen (2013), doi:10.1371/journal.pcbi.1003259, in the form with a constant
        number of synapses of Kappel et al. (2015), doi:10.1371/journal.pcbi.1004485.
    """
    number = plastic_pathway(net, name)
    pathway = net.pathways[number]
    described = pathway.plastic
    assert described is not None
    label = f"rewire: projection {name!r}"
    if net.layout is not None:
        must = "on one device (rewire what build returned, and lay it out again)"
        raise InvalidValueError(label, "network", must, "one over a mesh")
    if not described.whole:
        must = "between whole populations, onto any neuron of which synapses grow"
        raise InvalidValueError(label, "projection", must, "one between parts")
    for what, x in (("below", below), ("weight", weight)):
        spec.check(label, what, spec.Number(), x)
    check_within(label, "weight", described.rule, weight)
    chance = _chance(net, pathway.members[0], profile, period)
    # Another network from here on: the synapses of an earlier state are not its own.
    mark = fingerprint(np.asarray(net.fingerprint), np.asarray(seed_of(key)), name, below, weight)
    state = flush(net, state, name)._replace(fingerprint=as_array(mark))
    plastic = state.pathways[number].plastic
    assert plastic is not None
    listed = _read(net, pathway, plastic.synapses)
    same = pathway.members[0].source == pathway.members[0].target
    free = not (same and not autapses)
    listed = _grown(listed, pathway, _seed(key, name), below, weight, chance, free)
    net = eqx.tree_at(lambda n: n.fingerprint, net, mark)
    return _written(net, state, number, listed)


def _seed(key: Any, name: str) -> tuple[np.uint32, np.uint32]:
    return stream_key(np.asarray(seed_of(key)), name, "rewire")


def _chance(
    net: Network, member: ProjectionMember, profile: Callable | None, period: Any
) -> Callable[[int], float | Float64[np.ndarray, " targets"]]:
    """The relative chances (n_targets,) of the targets of a source."""
    if profile is None:
        return lambda i: 1.0
    x, y = net.positions(member.source), net.positions(member.target)
    return lambda i: np.asarray(profile(distance(x[i], y, period)), np.float64)


def _read(net: Network, pathway: Any, synapses: PlasticSynapses) -> _Listed:
    member, plastic = pathway.members[0], pathway.plastic
    first_source = net.population(member.source)[1].start
    first = ring_place(member.input, plastic.first_target, net.groups[pathway.target].n)
    found = read_bundle(pathway.table, synapses.weights, 0)
    return _Listed(
        found.source.astype(np.int64) - first_source,
        found.place.astype(np.int64) - first,
        found.delay.astype(np.int64),
        np.array(synapses.weights),
        np.array(synapses.variables),
    )


def _grown(
    old: _Listed,
    pathway: Any,
    seed: tuple[np.uint32, np.uint32],
    below: float,
    weight: float,
    chance: Callable,
    free: bool,
) -> _Listed:
    """The synapses after weak ones have been replaced."""
    post, weights, variables = old.post.copy(), old.weight.copy(), old.variables.copy()
    start = np.array(list(pathway.plastic.rule.variables().values()), np.float64)
    n = pathway.plastic.n_targets
    weak = old.weight < below
    ends = np.searchsorted(old.pre, np.arange(pathway.plastic.n_sources + 1))
    for i in np.unique(old.pre[weak]):
        mine = slice(ends[i], ends[i + 1])
        pruned = np.flatnonzero(weak[mine]) + mine.start
        p = np.broadcast_to(chance(i), (n,)).copy()
        p[post[mine]] = 0.0  # where it is connected, or was until now
        if not free:
            p[i] = 0.0
        # Drawn without replacement: the largest of u^(1/p) (Efraimidis and Spirakis, 2006).
        word = bits(seed, np.full(n, i), np.arange(n))[0]
        u = (word.astype(np.float64) + 0.5) / 2.0**32
        possible = np.flatnonzero(p > 0)
        order = possible[np.argsort(-np.log(u[possible]) / p[possible], kind="stable")]
        grown = pruned[np.argsort(old.weight[pruned], kind="stable")][: order.size]
        post[grown] = order[: grown.size]
        weights[grown] = weight
        variables[:, grown] = start[:, None]
    return _Listed(old.pre, post, old.delay, weights, variables)


def _written(
    net: Network, state: NetworkState, number: int, new: _Listed
) -> tuple[Network, NetworkState]:
    """Network and state with other synapses of a pathway."""
    pathway, plastic = net.pathways[number], state.pathways[number].plastic
    described = pathway.plastic
    assert plastic is not None
    assert described is not None
    member = pathway.members[0]
    own_delays = bool(pathway.table.delays.size)
    delays = new.delay if own_delays else int(new.delay[0]) if new.delay.size else 1
    sizes = described.n_sources, described.n_targets
    bundle = ListedBundle(new.pre, new.post, *sizes, weights=new.weight, delays=delays)
    first_source = net.population(member.source)[1].start
    first_target = described.first_target
    placement = Placement(bundle, 0, first_source, first_target, member.input)
    dtype = plastic.synapses.weights.dtype
    table, weights, _ = lay_out([placement], net.groups[pathway.target].n, dtype)
    variables = as_array(new.variables[:, bundle.order], dtype)
    changed = plastic._replace(
        synapses=plastic.synapses._replace(weights=weights, variables=variables)
    )
    pathways = list(state.pathways)
    pathways[number] = pathways[number]._replace(plastic=changed)
    net = eqx.tree_at(
        lambda n: (n.pathways[number].table, n.pathways[number].weights), net, (table, weights)
    )
    return net, state._replace(pathways=tuple(pathways))
