"""Sets parameters and weights by name, for `Network.set`, and the signs that weights must have."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import spec
from .._arrays import as_array, is_traced
from .._checks import check_size, concrete
from .._fields import Model, inner, named_parameters
from .._text import an
from .._types import Neuron, Synapse
from .._units import check_weight
from .._warn import warn
from ..synapses import Direct
from .connections import read_connections, read_unordered
from .gap_stability import check_gap_junctions
from .members import replace_member, replaced
from .modulated import check_extremes
from .names import Holder, named, projection, stimulation, with_parameters
from .ring import find_quanta

# Sets one number that is not a parameter of a model: (network, label, value) -> network.
Setter = Callable[[Any, str, Any], Any]


def set_values(net: Any, name: str, values: dict[str, Any]) -> Any:
    """The network with the values set; see `Network.set`."""
    spec.defer(_check_values, net, name, values)
    found, setters = named(net, name), _setters(net, name)
    known = [_parameters(holder.model(net)) for holder in found.holders]
    by_holder: dict[int, dict[str, Any]] = {}
    for key, value in values.items():
        if key not in setters:
            number = found.only("parameter", key, known, setters)
            found.holders[number].check_own(found.label, key)
            by_holder.setdefault(number, {})[key] = value
    for number, mine in by_holder.items():
        holder = found.holders[number]
        old = holder.model(net)
        net = eqx.tree_at(holder.model, net, with_parameters(found.label, holder, net, mine))
        if holder.kind == "population":
            check_gap_junctions(net.couplings, net.groups, net.dt, name, net.layout)
        if holder.kind == "plasticity":
            _check_rule(net, holder, found.label)
            _warn_of_weights(old, net.pathways[holder.path[1]], found.label)
    for key, value in values.items():
        if key in setters:
            net = setters[key](net, found.label, value)
    touched = {found.holders[number].path for number in by_holder}
    if name in net.coupled:
        touched.add(("couplings", net.coupled.index(name)))
    check_extremes(net, touched)
    return net


def _check_values(net: Any, name: str, values: dict[str, Any]) -> None:
    """Raises `ValueError` for values that `set_values` refuses when it knows them."""
    for value in values.values():
        if isinstance(value, Model):  # made while its numbers were traced
            _check_again(value)
    set_values(net, name, values)


def _check_again(model: Model) -> None:
    dataclasses.replace(model)
    for models in inner(model).values():
        for part in models:
            _check_again(part)


def _parameters(model: Any) -> list[str]:
    """The parts of a model that can be set: its parameters, and models inside it, also whole."""
    return list(dict.fromkeys([*named_parameters(model), *inner(model)]))


def _setters(net: Any, name: str) -> dict[str, Setter]:
    """How gain and weight of a projection, or the weight of a stimulation, are set."""
    if name in net.projections:
        number, index = projection(net, name)
        return {
            "gain": lambda n, label, x: _set_entry(n, number, index, "gain", x, label),
            "weight": lambda n, label, x: _set_entry(n, number, index, "weight", x, label),
        }
    if name in net.coupled:
        number = net.coupled.index(name)
        return {
            "gain": lambda n, label, x: _set_coupling(n, number, "gain", x, label),
            "weight": lambda n, label, x: _set_coupling(n, number, "weight", x, label),
        }
    where = stimulation(net, name)
    if where is None or net.groups[where[0]].stimuli[where[1]].weight is None:
        return {}
    return {"weight": lambda n, label, x: _set_weight(n, *where, x, label)}


def _set_weight(net: Any, number: int, layer: int, index: int, value: Any, label: str) -> Any:
    """The weight of the spikes that a stimulation sends."""
    stimulus = net.groups[number].stimuli[layer]
    size = stimulus.sizes[index]
    if np.shape(value) not in ((), (size,)):
        raise ValueError(
            f"{label}: weight must be one number or of shape ({size},); got {np.shape(value)}"
        )
    check_size(f"{label}: weight", value)
    check_weight(label, value, net.groups[number].receptors[stimulus.receptor].weight_unit)
    if not is_traced(value):
        new = "weight", value
        check_set_sign(label, net.groups[number], stimulus.receptor, new, lambda _: 1.0)
    weight = replace_member(stimulus.weight, stimulus.sizes, index, value)
    return eqx.tree_at(lambda n: n.groups[number].stimuli[layer].weight, net, weight)


def _set_entry(net: Any, number: int, index: int, key: str, value: Any, label: str) -> Any:
    """One entry of a pathway's vector over projections."""
    pathway = net.pathways[number]
    mine = pathway.members[index]
    if key == "weight":
        check_weight(label, value, net.groups[pathway.target].receptors[mine.receptor].weight_unit)
    if key == "weight" and (mine.individual or np.shape(value) != ()):
        return set_weights(net, number, index, value, label)
    if np.shape(value) != ():
        raise ValueError(f"{label}: {key} must be one number; got shape {np.shape(value)}")
    check_size(f"{label}: {key}", value)
    if not any(map(is_traced, (value, pathway.weight, pathway.gain))):
        others = functools.partial(_others_of_projection, net, number, index, key)
        check_set_sign(label, net.groups[pathway.target], mine.receptor, (key, value), others)
    vector = getattr(pathway, key)
    vector = replaced(vector, index, as_array(value, vector.dtype))
    return eqx.tree_at(lambda n: getattr(n.pathways[number], key), net, vector)


def _others_of_projection(net: Any, number: int, index: int, key: str, sign: int) -> Any:
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


def _others_of_coupling(layer: Any, key: str, sign: int) -> Any:
    """The same for a coupling."""
    if key == "weight":
        return layer.gain
    if not layer.span.individual:
        return layer.weight
    gain = np.asarray(layer.gain)
    return sign * np.sign(gain) if gain else _extremes(layer.sides[0].weights)


def _extremes(weights: Any) -> np.ndarray:
    x = np.asarray(weights, np.float64)
    return np.array([x.min(initial=0.0), x.max(initial=0.0)])


def _check_rule(net: Any, holder: Holder, label: str) -> None:
    """Raises `ValueError` for a rule whose weights may come to have the wrong sign."""
    pathway = net.pathways[holder.path[1]]
    group = net.groups[pathway.target]
    sign = sign_of(group.model, group.receptors[pathway.members[0].receptor])
    check_rule_sign(label, sign, pathway.plastic.rule, pathway.gain)


def _warn_of_weights(old: Any, pathway: Any, label: str) -> None:
    """Warns of start weights that other bounds of a rule leave outside."""
    limits, before = rule_limits(pathway.plastic.rule), rule_limits(old)
    if limits is None or before is None or is_traced(pathway.weights):
        return
    if np.array_equal(limits, before) or not np.size(pathway.weights):
        return
    low, high = limits
    least, most = float(np.min(pathway.weights)), float(np.max(pathway.weights))
    slack = 1e-6 * max(abs(x) for x in (low, high, 0.0) if np.isfinite(x))
    if least < low - slack or most > high + slack:
        warn(
            f"{label}: start weights, {least:g} to {most:g}, are outside the new bounds, {low:g} "
            f"to {high:g}: each stays as it is until its next event, which brings it inside. Give "
            "a state other weights by net.with_weights, or build with others"
        )


def _unit_of(net: Any, layer: Any) -> str:
    """The unit of the weights of a coupling: nS of a gap junction, else that of its receptor."""
    if layer.span.receptor is None:
        return "nS"
    return net.groups[layer.sides[0].target].receptors[layer.span.receptor].weight_unit


def _set_coupling(net: Any, number: int, key: str, value: Any, label: str) -> Any:
    """The gain of a coupling, or its weight where it is one number."""
    layer = net.couplings[number]
    if key == "weight" and layer.span.individual:
        raise ValueError(
            f"{label}: weight can be set where it is one number; this coupling has individual "
            "weights. Set its gain"
        )
    if np.shape(value) != ():
        raise ValueError(f"{label}: {key} must be one number; got shape {np.shape(value)}")
    check_size(f"{label}: {key}", value)
    if key == "weight":
        check_weight(label, value, _unit_of(net, layer))
    if not any(map(is_traced, (value, layer.weight, layer.gain))):
        others = functools.partial(_others_of_coupling, layer, key)
        target = net.groups[layer.sides[0].target]
        check_set_sign(label, target, layer.span.receptor, (key, value), others)
    value = as_array(value, getattr(layer, key).dtype)
    net = eqx.tree_at(lambda n: getattr(n.couplings[number], key), net, value)
    if layer.release is None:
        check_gap_junctions(net.couplings, net.groups, net.dt, layout=net.layout)
    return net


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


def sign_of(neuron: Neuron, receptor: Synapse) -> tuple[int, str]:
    """The sign of the weights of what reaches a receptor of a neuron, 0 for any, and why."""
    name = type(receptor).__name__
    if isinstance(receptor, Direct):
        sign = neuron.port_signs.get(receptor.port, 0)
        kind = "excitatory" if sign > 0 else "inhibitory"
        return sign, f"it goes to the {kind} port {receptor.port!r} of {an(type(neuron).__name__)}"
    reversal = f" (an inhibitory {name} has a low e_rev)" if hasattr(receptor, "e_rev") else ""
    return receptor.weight_sign, f"what arrives at {an(name)} opens its channels{reversal}"


def check_set_sign(
    label: str, group: Any, receptor: int | None, new: tuple[str, Any], others: Callable[[int], Any]
) -> None:
    """Raises `ValueError` for a weight or a gain that makes weights of the wrong sign.

    `receptor` is the number of the one that is reached, None for gap junctions; `new` the name of
    the value and the value; `others` gives, for a sign, what the value is multiplied by: the gain,
    or weights, of which the extremes do.
    """
    sign, why = 1, "it is the conductance of gap junctions"
    if receptor is not None:
        sign, why = sign_of(group.model, group.receptors[receptor])
    if not sign:
        return
    key, value = new
    worst = _worst(sign, np.asarray(value)[..., None], others(sign))
    if worst < 0.0:
        times = f"times {'the gain' if key == 'weight' else 'a weight'} "
        raise ValueError(
            f"{label}: the {key} {times}must be {_must(sign)}, {why}; got {_got(sign, worst)}"
        )


def check_rule_sign(label: str, sign: tuple[int, str], rule: Any, gain: Any) -> None:
    """Raises `ValueError` for a rule of plasticity that may bring weights to the wrong sign.

    Its weights lie between its limits. `sign` as of `sign_of`; a gain of 0 allows any.
    """
    wanted, why = sign
    limits, gain = rule_limits(rule), concrete(gain)
    if not wanted or limits is None or gain is None or not gain.all():
        return
    worst = _worst(wanted, gain, limits)
    if worst < 0.0:
        raise ValueError(
            f"{label}: plasticity {type(rule).__name__}: the weights that it allows, from "
            f"{limits[0]:g} to {limits[1]:g}, times the gain must be {_must(wanted)}, {why}; got "
            f"{_got(wanted, worst)}. Give it other bounds, such as w_min=0.0"
        )


def rule_limits(rule: Any) -> np.ndarray | None:
    """The lowest and the highest weight that a rule allows; None where they are not known."""
    limits = rule.limits()
    if any(map(is_traced, limits)):
        return None
    low, high = (
        x if bound is None else float(bound) for bound, x in zip(limits, (-np.inf, np.inf))
    )
    return np.array([low, high])


def _worst(sign: int, value: Any, others: Any) -> float:
    """The product that is furthest on the wrong side, 0 if none is."""
    others = np.asarray(others, np.float64)
    products = np.multiply(sign * np.asarray(value, np.float64), others)
    return float(np.nanmin(products, initial=0.0))  # 0 times no limit


def _must(sign: int) -> str:
    return "at least 0" if sign > 0 else "at most 0"


def _got(sign: int, worst: float) -> str:
    return f"{sign * worst:g}"
