"""New parameter values by name: what `Network.set` does."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import check_size, concrete, unknown
from .._fields import inner, parameters
from .._types import Neuron
from ..numerics import steps_on_grid, stream_key
from ._merge import member, replace_member
from ._population import check_lengths

_LONGEST = 65_535  # steps of a duration on the grid: counters have 16 bits


def set_values(net: Any, name: str, values: dict[str, Any]) -> Any:
    """The network with the values set; see `Network.set`."""
    for number, group in enumerate(net.groups):
        if name in group.populations:
            return _set_population(net, number, name, values)
        for layer, stimulus in enumerate(group.stimuli):
            if name in stimulus.names:
                return _set_stimulation(net, number, layer, name, values)
    for number, pathway in enumerate(net.pathways):
        if name in pathway.projections:
            return _set_projection(net, number, pathway.projections.index(name), values)
    stimulations = [s for g in net.groups for layer in g.stimuli for s in layer.names]
    known = [*net.populations, *net.projections, *stimulations]
    raise unknown("population, projection or stimulation", name, known)


def check_grid(label: str, model: Any, dt: float) -> None:
    """Raises `ValueError` where a duration of the model is off the grid of dt."""
    for field in parameters(type(model)):
        value = concrete(getattr(model, field.name))
        if not field.metadata["on_grid"] or value is None:
            continue
        steps = steps_on_grid(f"{label}: {field.name}", value, dt)
        if steps.size and steps.max() > _LONGEST:
            raise ValueError(
                f"{label}: {field.name} must be at most {_LONGEST} steps, {_LONGEST * dt:g} ms; "
                f"got {np.max(value):g} ms"
            )


def check_stable(label: str, model: Any, dt: float) -> None:
    """Raises `ValueError` where dt is above the largest step that the model is known to bear."""
    bound = model.largest_step()
    largest = None if bound is None else concrete(bound)
    if largest is not None and largest.size and not np.all(dt <= largest):
        raise ValueError(
            f"{label}: {type(model).__name__} needs a time step dt of at most "
            f"{float(largest.min()):.4g} ms to be stable (spikes may need a smaller one); got "
            f"{dt:g} ms. Take a smaller dt, or a method that bears it "
            "(method=jn.integrators.exponential_euler)"
        )


def _set_population(net: Any, number: int, name: str, values: dict[str, Any]) -> Any:
    group = net.groups[number]
    index = group.populations.index(name)
    label = f"population {name!r}"
    model = _set_member(label, group.model, group.sizes, index, values, net.dt)
    return eqx.tree_at(lambda n: n.groups[number].model, net, model)


def _set_stimulation(net: Any, number: int, layer: int, name: str, values: dict) -> Any:
    stimulus = net.groups[number].stimuli[layer]
    index = stimulus.names.index(name)
    label = f"stimulation {name!r}"
    values = dict(values)
    if "weight" in values and stimulus.weight is not None:
        weight = _set_weight(label, stimulus, index, values.pop("weight"))
        net = eqx.tree_at(lambda n: n.groups[number].stimuli[layer].weight, net, weight)
    also = () if stimulus.weight is None else ("weight",)
    model = _set_member(label, stimulus.model, stimulus.sizes, index, values, net.dt, also)
    # What build checks for a stimulus is checked for its new values too.
    new = member(model, stimulus.sizes, index)
    new.prepare(label, stimulus.sizes[index], net.dt, stream_key(0, name, "stimulus"))
    return eqx.tree_at(lambda n: n.groups[number].stimuli[layer].model, net, model)


def _set_weight(label: str, stimulus: Any, index: int, value: Any) -> Any:
    size = stimulus.sizes[index]
    if np.shape(value) not in ((), (size,)):
        raise ValueError(
            f"{label}: weight must be one number or of shape ({size},); got {np.shape(value)}"
        )
    check_size(f"{label}: weight", value)
    return replace_member(stimulus.weight, stimulus.sizes, index, value)


def _set_projection(net: Any, number: int, index: int, values: dict[str, Any]) -> Any:
    pathway = net.pathways[number]
    label = f"projection {pathway.projections[index]!r}"
    if "weight" in values and pathway.individual[index]:
        raise ValueError(
            f"{label}: weight can be set where it is one number; this projection has individual "
            "weights. Set its gain"
        )
    own = {key: values[key] for key in ("gain", "weight") if key in values}
    synapse = {key: value for key, value in values.items() if key not in own}
    if synapse:
        net = _set_receptor(net, pathway, index, label, synapse)
    for key, value in own.items():
        net = _set_entry(net, number, index, key, value, label)
    return net


def _set_entry(net: Any, number: int, index: int, key: str, value: Any, label: str) -> Any:
    """One entry of a pathway's vector over projections."""
    if np.shape(value) != ():
        raise ValueError(f"{label}: {key} must be one number; got shape {np.shape(value)}")
    check_size(f"{label}: {key}", value)
    vector = getattr(net.pathways[number], key)
    vector = vector.at[index].set(jnp.asarray(value, vector.dtype))
    return eqx.tree_at(lambda n: getattr(n.pathways[number], key), net, vector)


def _set_receptor(net: Any, pathway: Any, index: int, label: str, values: dict[str, Any]) -> Any:
    """Parameters of the receptor of a projection, at its target population."""
    group, receptor = net.groups[pathway.target], pathway.receptors[index]
    target = group.populations.index(pathway.targets[index])
    old = group.receptors[receptor]
    new = _set_member(label, old, group.sizes, target, values, net.dt, ("gain", "weight"))
    return eqx.tree_at(lambda n: n.groups[pathway.target].receptors[receptor], net, new)


def _set_member(
    label: str,
    model: Any,
    sizes: Sequence[int],
    index: int,
    values: dict[str, Any],
    dt: float,
    also_known: Sequence[str] = (),
) -> Any:
    """A merged model with parameters of one member replaced, checked as when made."""
    inside = inner(model)
    known = list(dict.fromkeys([*(f.name for f in parameters(type(model))), *inside]))
    for key, value in values.items():
        if key not in known:
            raise unknown(f"parameter of {label}", key, [*known, *also_known])
        if key in inside:  # whole models: their shapes are looked at below
            continue
        if np.shape(value) not in ((), (sizes[index],)):
            raise ValueError(
                f"{label}: {key} must be one number or of shape ({sizes[index]},); "
                f"got shape {np.shape(value)}"
            )
    try:
        new = dataclasses.replace(member(model, sizes, index), **values)
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None
    if jax.tree.structure(new) != jax.tree.structure(member(model, sizes, index)):
        raise ValueError(
            f"{label}: {', '.join(values)} must stay of its kind: a number (or one per neuron) "
            "where it was a number, a whole signal of the same class where it was a signal, "
            "amplitude=Sinusoid(10.0, 2.0, 8.0). Build another network for another kind"
        )
    check_lengths(label, new, sizes[index], label)
    check_grid(label, new, dt)
    if isinstance(new, Neuron):
        check_stable(label, new, dt)
    return replace_member(model, sizes, index, new)
