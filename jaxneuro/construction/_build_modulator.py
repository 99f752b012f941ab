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
    inside,
    member,
    named,
    projection,
)
from ._merge import merge

_LARGE = 1e6  # a factor that is tried where there is no largest one


def with_modulators(net: Network, modulators: Any, resolver: Resolver) -> Network:
    """The network with modulators, in the order of their names."""
    ordered = sorted(modulators, key=lambda m: m.name)
    made = [_build(net, m, resolver) for m in ordered]
    _check_extremes(net, ordered)
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
    if key == "weight" and _sends_spikes(net, found):
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
    also = ["weight"] if _sends_spikes(net, found) else []
    also += ["gain"] if found.label.split()[0] in ("projection", "coupling") else []
    try:
        number = found._replace(holders=holders).only("parameter", key, known, also)
    except ValueError as error:
        hint = ""
        if any(key in _fields(h.model(net)) for h in found.holders if h not in holders):
            hint = ". A rule of plasticity takes a modulator as its signal, see jn.Modulator"
        raise ValueError(f"{m.label}: {error}{hint}") from None
    return holders[number], known[number][key]


def _sends_spikes(net: Network, found: Named) -> bool:
    """Whether a name is that of a stimulation of spikes, which have a weight."""
    own = found.holders[0] if found.holders else None
    if own is None or own.kind != "stimulation":
        return False
    return inside(net, (*own.path[:-1], "weight")) is not None


def _fields(model: Any) -> list[str]:
    return [f.name for f in parameters(type(model))]


def _gain_of_coupling(net: Network, m: Modulator, number: int) -> list[Reach]:
    """The gain of a coupling, on each of its sides."""
    layer = net.couplings[number]
    if layer.release is None and not np.isfinite(m.highest):
        raise ValueError(
            f"{m.label}: the gain of gap junctions ({layer.span.name!r}) needs a largest "
            "factor, for which it is checked that they are stable; give highest="
        )
    sides = range(len(layer.sides))
    return [Reach(("couplings", number, "scales", side), (1,), 0) for side in sides]


def _check_extremes(net: Network, modulators: list[Modulator]) -> None:
    """Raises `ValueError` where a smallest or largest factor makes a value that cannot be set.

    Modulators of one number multiply; gains of gap junctions are tried together.
    """
    joined: dict[tuple[str, str], list[Modulator]] = {}
    for m in modulators:
        for name, amounts in m.scales.items():
            for key in amounts:
                joined.setdefault((name, key), []).append(m)
    for way in ("lowest", "highest"):
        together = net
        for (name, key), who in joined.items():
            factor = float(np.prod([getattr(m, way) for m in who]))
            factor = factor if np.isfinite(factor) else _LARGE
            gap = name in net.coupled
            new = _scaled(together if gap else net, who[-1], (name, key), factor, way)
            together = new if gap else together


def _scaled(net: Network, m: Modulator, what: tuple[str, str], factor: float, way: str) -> Network:
    name, key = what
    if key == "gain" and name in net.projections:
        return net  # any is allowed, its sign stays
    value = np.asarray(_value(net, m, name, key)) * factor
    try:
        return net.set(name, **{key: value})
    except ValueError as error:
        raise ValueError(
            f"{m.label}: {key} of {name!r} times {factor:g}, its {way} factor, must be a value "
            f"that it can have: {error}. Give {way}="
        ) from None


def _value(net: Network, m: Modulator, name: str, key: str) -> Any:
    """A number as it is without modulators."""
    if key == "gain" and name in net.coupled:
        return net.couplings[net.coupled.index(name)].gain
    found = named(net, name)
    if key == "weight" and _sends_spikes(net, found):
        own = found.holders[0]
        path = (*own.path[:-1], "weight")
        return member({"weight": inside(net, path)}, own.sizes, own.member)["weight"]
    holder, _ = _parameter(net, m, found, key)
    return getattr(member(holder.model(net), holder.sizes, holder.member), key)


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
