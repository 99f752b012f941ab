"""Builds modulators: finds what they scale, and the neurons that set them free."""

import dataclasses
from typing import Any

import numpy as np

from .._arrays import as_array
from .._fields import inner, parameters
from ..description import Modulator, Resolver, as_part
from ..network import (
    Holder,
    Kinetics,
    ModulatorLayer,
    ModulatorSpan,
    Named,
    Network,
    Reach,
    check_conductances,
    named,
    projection,
)
from ._merge import merge


def with_modulators(net: Network, modulators: Any, resolver: Resolver) -> Network:
    """The network with modulators, in the order of their names."""
    made = [_build(net, m, resolver) for m in sorted(modulators, key=lambda m: m.name)]
    return dataclasses.replace(net, modulators=tuple(made))


def check_constant_gains(modulators: Any) -> None:
    """Raises `ValueError` for gains that move where arrivals are counted in fixed quanta."""
    for m in modulators:
        if any("gain" in amounts for amounts in m.scales.values()):
            raise ValueError(
                f"deterministic=True needs constant gains, what arrives is counted in fixed "
                f"quanta; {m.label} scales one"
            )


def _build(net: Network, m: Modulator, resolver: Resolver) -> ModulatorLayer:
    reaches, amounts = [], []
    for name, scaled in m.scales.items():
        for key, amount in scaled.items():
            found = _reaches(net, m, name, key)
            reaches += found
            amounts += [amount] * len(found)
    _check_once(m, reaches)
    numbers = {
        "amounts": amounts,
        "bounds": [m.lowest, m.highest],
        "start": m.baseline if m.start is None else m.start,
    }
    group, span, index = _sources(net, m, resolver)
    return ModulatorLayer(
        model=merge([Kinetics(m.tau, m.per_spike, m.baseline)], [1], net.dtype),
        **{name: as_array(np.array(x, np.float64), net.dtype) for name, x in numbers.items()},
        index=index,
        reaches=tuple(reaches),
        span=ModulatorSpan(m.name, group, span, m.signal),
    )


def _sources(net: Network, m: Modulator, resolver: Resolver) -> tuple[Any, Any, Any]:
    """Group and span of the source neurons, and their numbers there if those are not all."""
    if m.source is None:
        return None, None, None
    part = as_part(m.source)
    group, span = net.population(part.population)
    neurons = resolver.neurons(part)
    if isinstance(neurons, slice):
        return group, (span.start + neurons.start, span.start + neurons.stop), None
    return group, (span.start, span.stop), as_array(neurons, np.int32)


def _reaches(net: Network, m: Modulator, name: str, key: str) -> list[Reach]:
    """Where one parameter is in a spread network."""
    found = named(net, name)
    if key == "gain" and name in net.projections:
        number, index = projection(net, name)
        return [Reach(("pathways", number, "scale"), (1,), index, blocks=True)]
    if key == "gain" and name in net.coupled:
        return _gain_of_coupling(net, m, net.coupled.index(name))
    if key == "weight" and name in net.stimulations:
        own = found.holders[0]
        path = (*own.path[:-1], "weight")
        return [Reach(path, own.sizes, own.member)]
    holder, field = _parameter(net, m, found, key)
    if field.metadata["on_grid"]:
        raise ValueError(
            f"{m.label}: {key} of {found.label} cannot be scaled, it is a whole number of time "
            "steps"
        )
    return [Reach((*holder.path, key), holder.sizes, holder.member)]


def _parameter(net: Network, m: Modulator, found: Named, key: str) -> tuple[Holder, Any]:
    """The model that has a parameter, and its field."""
    holders = tuple(h for h in found.holders if h.kind != "plasticity")
    models = [h.model(net) for h in holders]
    known = [
        {f.name: f for f in parameters(type(model)) if f.name not in inner(model)}
        for model in models
    ]
    also = {"projection": ["gain"], "coupling": ["gain"]}.get(found.label.split()[0], [])
    try:
        number = found._replace(holders=holders).only("parameter", key, known, also)
    except ValueError as error:
        hint = ""
        if any(key in _fields(h.model(net)) for h in found.holders if h not in holders):
            hint = ". A rule of plasticity takes a modulator as its signal, see jn.Modulator"
        raise ValueError(f"{m.label}: {error}{hint}") from None
    return holders[number], known[number][key]


def _fields(model: Any) -> list[str]:
    return [f.name for f in parameters(type(model))]


def _gain_of_coupling(net: Network, m: Modulator, number: int) -> list[Reach]:
    """The gain of a coupling, on each of its sides; it must be stable at its largest."""
    layer = net.couplings[number]
    if layer.release is None:
        if not np.isfinite(m.highest):
            raise ValueError(
                f"{m.label}: the gain of gap junctions ({layer.span.name!r}) needs a largest "
                "factor, for which it is checked that they are stable; give highest="
            )
        most = dataclasses.replace(layer, gain=layer.gain * m.highest)
        check_conductances(most, net.groups, net.dt)
    sides = range(len(layer.sides))
    return [Reach(("couplings", number, "scales", side), (1,), 0) for side in sides]


def _check_once(m: Modulator, reaches: list[Reach]) -> None:
    """Raises `ValueError` where two names mean one number."""
    seen = set()
    for reach in reaches:
        if reach in seen:
            raise ValueError(
                f"{m.label}: {reach.path[-1]} is scaled twice, by two names that share one model "
                "(projections onto one target with equal synapses share a receptor). Name one"
            )
        seen.add(reach)
