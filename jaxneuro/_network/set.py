"""Sets parameters and weights, and state variables, by name: `Network.set`, `with_values`."""

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Float64

from .. import spec
from .._arrays import AnyArray, as_array, is_traced
from .._fields import Model, inner, potentials
from .._model import Plasticity
from .._units import start_in_volts, warn_of_units, weight_in_si
from .._warn import warn
from ..spec import InvalidValueError
from .bounds import (
    beyond,
    check_numbers,
    check_rule_sign,
    check_set_sign,
    check_state_value,
    rule_limits,
    sign_of,
    with_parameters,
)
from .coupling import CouplingLayer
from .extremes import check_extremes
from .fixed_point import find_quanta
from .gap_stability import check_gap_junctions
from .get import get_value, settable
from .members import member, replace_member, replaced
from .names import ModelReference, named, reference_of_variable
from .pathway import Pathway, ProjectionMember
from .slow import set_exactly, warn_of_slow
from .state import NetworkState
from .weights import Connections, places, read_connections

if TYPE_CHECKING:
    from .network import Network


def set_values(net: "Network", name: str, values: dict[str, Any]) -> "Network":
    """The network with the values set; see `Network.set`."""
    spec.defer(_check_values, net, name, values)
    found = settable(net, name)
    label, references = found.found
    by_reference: dict[int, dict[str, Any]] = {}
    for key, value in values.items():
        number = found.holder(key)
        if number is not None:
            if references[number].shared is not None and _is_set(net, name, key, value):
                continue  # as `net.parameters` gives it
            references[number].check_own(label, key)
            by_reference.setdefault(number, {})[key] = value
    for number, mine in by_reference.items():
        reference = references[number]
        old, before = reference.model(net), net
        net = eqx.tree_at(reference.model, net, with_parameters(label, reference, net, mine))
        if reference.kind == "population":
            check_gap_junctions(net.couplings, net.groups, net.dt, name, net.layout)
        warn_of_slow(net, reference, before)
        if reference.kind == "plasticity":
            _check_rule(net, reference, label)
            _warn_of_weights(old, net.pathways[reference.path[1]], label)
    for key, value in values.items():
        if key in found.own:
            if key == "weight":
                warn_of_units(weight_in_si(label, value, found.weight_unit(net)))
            net = _SETTERS[found.kind](net, *found.at, key, value, label)
    touched = {references[number].path for number in by_reference}
    if name in net.coupled:
        touched.add(("couplings", net.coupled.index(name)))
    check_extremes(net, touched)
    return net


def _is_set(net: "Network", name: str, key: str, value: Any) -> bool:
    """Whether a known number is what a parameter is set to."""
    if isinstance(value, Model) or is_traced(value):
        return False
    now = get_value(net, name, key)
    return not is_traced(now) and np.array_equal(now, value)


def _check_values(net: "Network", name: str, values: dict[str, Any]) -> None:
    """Raises `InvalidValueError` for values that `set_values` refuses when it knows them."""
    for value in values.values():
        if isinstance(value, Model):  # made while its numbers were traced
            _check_again(value)
    set_values(net, name, values)


def _check_again(model: Model) -> None:
    dataclasses.replace(model)
    for models in inner(model).values():
        for part in models:
            _check_again(part)


def _set_weight(
    net: "Network", number: int, layer: int, index: int, key: str, value: Any, label: str
) -> "Network":
    """The weight of the spikes that a stimulation sends."""
    stimulus = net.groups[number].stimuli[layer]
    size = stimulus.sizes[index]
    check_numbers(label, key, value, size)
    if not is_traced(value):
        group = net.groups[number]
        check_set_sign(label, key, value, group, stimulus.receptor, lambda _: 1.0)
    weight = replace_member(stimulus.weight, stimulus.sizes, index, value)
    return eqx.tree_at(lambda n: n.groups[number].stimuli[layer].weight, net, weight)


def _set_entry(
    net: "Network", number: int, index: int, key: str, value: Any, label: str
) -> "Network":
    """One entry of a pathway's vector over projections."""
    pathway = net.pathways[number]
    mine = pathway.members[index]
    if key == "weight" and (mine.individual or np.shape(value) != ()):
        return set_weights(net, number, index, value, label)
    check_numbers(label, key, value)
    if not any(map(is_traced, (value, pathway.weight, pathway.gain))):
        others = functools.partial(_others_of_projection, net, number, index, key)
        check_set_sign(label, key, value, net.groups[pathway.target], mine.receptor, others)
    vector = getattr(pathway, key)
    vector = replaced(vector, index, as_array(value, vector.dtype))
    return eqx.tree_at(lambda n: getattr(n.pathways[number], key), net, vector)


def _others_of_projection(net: "Network", number: int, index: int, key: str, sign: int) -> Any:
    """What a weight or a gain is multiplied by: the gain, or weights with the extremes of all.

    Individual weights have the sign under the gain that there is; only at a gain of 0 they may
    have any, and are read.
    """
    pathway = net.pathways[number]
    weight, gain = (np.asarray(x)[index] for x in (pathway.weight, pathway.gain))
    if key == "weight":
        return gain
    if pathway.plastic is not None:
        limits = rule_limits(pathway.plastic.rule)
        return 0.0 if limits is None else limits
    if pathway.members[index].individual:
        if gain:
            return sign * np.sign(gain)
        read = read_connections(net, pathway.members[index].name, None)
        return _extremes(read.weight)
    return weight


def _others_of_coupling(layer: CouplingLayer, key: str, sign: int) -> Any:
    """The same for a coupling."""
    if key == "weight":
        return layer.gain
    if not layer.individual:
        return layer.weight
    gain = np.asarray(layer.gain)
    return sign * np.sign(gain) if gain else _extremes(layer.sides[0].weights)


def _extremes(weights: Float[AnyArray, "..."]) -> Float64[np.ndarray, "2"]:
    x = np.asarray(weights, np.float64)
    return np.array([x.min(initial=0.0), x.max(initial=0.0)])


def _check_rule(net: "Network", reference: ModelReference, label: str) -> None:
    """Raises `InvalidValueError` for a rule whose weights may come to have the wrong sign."""
    pathway = net.pathways[reference.path[1]]
    group = net.groups[pathway.target]
    sign = sign_of(group.model, group.receptors[pathway.members[0].receptor])
    check_rule_sign(label, sign, pathway.plastic.rule, pathway.gain)


def _warn_of_weights(old: Plasticity, pathway: Any, label: str) -> None:
    """Warns of start weights that other bounds of a rule leave outside."""
    limits, before = rule_limits(pathway.plastic.rule), rule_limits(old)
    if limits is None or before is None or is_traced(pathway.weights):
        return
    if np.array_equal(limits, before) or not np.size(pathway.weights):
        return
    weights = np.asarray(pathway.weights)
    if beyond(limits, weights):
        warn(
            f"{label}: start weights, {weights.min():g} to {weights.max():g}, are outside the new "
            f"bounds, {limits[0]:g} to {limits[1]:g}: each stays as it is until its next event, "
            "which brings it inside. Give a state other weights by net.with_weights, or build with "
            "others"
        )


def _set_coupling(net: "Network", number: int, key: str, value: Any, label: str) -> "Network":
    """The gain of a coupling, or its weight where it is one number."""
    layer = net.couplings[number]
    if key == "weight" and layer.individual:
        must = "one number, as described, to be set (its gain can be)"
        raise InvalidValueError(label, "weight", must, "individual weights")
    check_numbers(label, key, value)
    if not any(map(is_traced, (value, layer.weight, layer.gain))):
        others = functools.partial(_others_of_coupling, layer, key)
        target = net.groups[layer.sides[0].target]
        check_set_sign(label, key, value, target, layer.receptor, others)
    value = as_array(value, getattr(layer, key).dtype)
    net = eqx.tree_at(lambda n: getattr(n.couplings[number], key), net, value)
    if layer.release is None:
        check_gap_junctions(net.couplings, net.groups, net.dt, layout=net.layout)
    return net


# By what has them: (network, *numbers, "gain" or "weight", value, label) -> network.
_SETTERS: dict[str, Callable[..., Any]] = {
    "projection": _set_entry,
    "coupling": _set_coupling,
    "stimulation": _set_weight,
}


def set_weights(net: "Network", number: int, index: int, values: Any, label: str) -> "Network":
    """The network with other individual weights of a projection: one for all, or one for each."""
    pathway = net.pathways[number]
    mine = pathway.members[index]
    _check_can(net, pathway, mine, label)
    at = places(net, pathway, index)
    if pathway.table.n_redrawn and np.unique(at).size < at.size:
        must = "that of stored synapses (set the gain, or store the connections)"
        raise InvalidValueError(label, "weight", must, "stored=False")
    if np.ndim(values) == 2:
        values = _of_pairs(read_connections(net, mine.name, None), values)
    each = f"synapse, in the order of net.connections({mine.name!r}) or as (n_pre, n_post)"
    check_numbers(label, "weight", values, at.size, each)
    if not any(map(is_traced, (values, pathway.gain))):
        target, gain = net.groups[pathway.target], np.asarray(pathway.gain)[index]
        check_set_sign(label, "weight", values, target, mine.receptor, lambda _: gain)
    new = jnp.asarray(values, pathway.weights.dtype)
    weights = jnp.asarray(pathway.weights).at[at].set(new, unique_indices=True)
    net = eqx.tree_at(lambda n: n.pathways[number].weights, net, weights)
    if net.fixed_point is None:
        return net
    # The quanta are those of the largest sums, which other weights may exceed.
    return eqx.tree_at(
        lambda n: n.fixed_point, net, find_quanta(net.groups, net.pathways, net.dtype)
    )


def _of_pairs(c: Connections, values: Any) -> Any:
    """Numbers (n_pre, n_post) as one per connection; those of another shape as they are.

    `n_pre` and `n_post` count the neurons of the populations, or of parts that are connected all
    to all.
    """
    shape, pre, post = c.shape, c.pre, c.post
    if np.shape(values) != shape:
        sources, pre = np.unique(pre, return_inverse=True)
        targets, post = np.unique(post, return_inverse=True)
        shape = sources.size, targets.size
        if np.shape(values) != shape or shape[0] * shape[1] != len(c):
            return values
    return (values if is_traced(values) else np.asarray(values))[pre, post]


def _check_can(net: "Network", pathway: Pathway, mine: ProjectionMember, label: str) -> None:
    """Raises `InvalidValueError` where no weights of single synapses are known."""
    if pathway.plastic is not None:
        # It is in the state, which a run goes on from.
        must = f"set by net.with_weights(net.init(key), {mine.name!r}, weights)"
        raise InvalidValueError(label, "weight", must, "that of plastic synapses")
    if not mine.individual:
        # The connections have no room for more: weight=lambda i, j: 1.0 + 0.0 * i makes it.
        must = "one number, as described (a function of the indices makes one per synapse)"
        raise InvalidValueError(label, "weight", must, "one per synapse")
    if net.layout is not None:
        must = "set before jn.parallel.shard"
        raise InvalidValueError(label, "weight", must, "one of a network over devices")
    if is_traced(pathway.table.targets):
        must = "set where connections are known: close over the network, and pass the weights"
        got = "one of a network that is an argument of jit, vmap or grad"
        raise InvalidValueError(label, "weight", must, got)


def with_values(
    net: "Network", state: NetworkState, name: str, values: dict[str, Any]
) -> NetworkState:
    """The state with other values of some variables; see `Network.with_values`."""
    label = named(net, name).label
    for variable, value in values.items():
        reference = reference_of_variable(net, state, name, variable)
        reference.check_own(label, variable)
        old = getattr(reference.state(state), variable)
        if reference.kind == "plasticity" or not jnp.issubdtype(old.dtype, jnp.floating):
            own = reference.kind == "plasticity"
            must = "set by net.with_weights" if own else "a variable of real numbers"
            raise InvalidValueError(label, variable, must, f"one of {old.dtype}")
        n = len(range(old.shape[0])[reference.neurons])
        check_numbers(label, variable, value, n)
        if reference.kind == "population":
            known = potentials(reference.model(net))
            spec.defer(_warn_of_volts, label, known, variable, value)
            _warn_of_volts(label, known, variable, value)
        if reference.kind in ("population", "receptor", "release"):
            mine = member(reference.model(net), reference.sizes, reference.member)
            spec.defer(check_state_value, label, variable, mine, variable, value)
            check_state_value(label, variable, mine, variable, value)
        value = jnp.asarray(value, old.dtype) if is_traced(value) else as_array(value, old.dtype)
        new = replaced(old, reference.neurons, value)
        state = eqx.tree_at(lambda s: getattr(reference.state(s), variable), state, new)  # noqa: B023
        state = set_exactly(state, reference, variable)
    return state


def _warn_of_volts(label: str, known: list[float], variable: str, value: Any) -> None:
    """Warns of values of a voltage that are in volts."""
    warn_of_units(start_in_volts(label, variable, known, variable, value))
