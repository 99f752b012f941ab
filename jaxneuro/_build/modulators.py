"""Builds modulators: finds what they scale, and the neurons that set them free."""

import dataclasses
import logging
from collections.abc import Iterable

import numpy as np
from jaxtyping import Array, Int32

from .._arrays import as_array
from .._describe.modulator import Modulator
from .._describe.part import as_part
from .._describe.resolve import Resolver
from .._fields import Path, inner, named_parameters
from .._network.extremes import check_extremes
from .._network.members import inside
from .._network.modulator import LevelKinetics, ModulationTarget, ModulatorLayer
from .._network.names import ModelReference, Named, named, projection
from .._network.network import Network
from .._network.slow import slow_variables
from ..spec import InvalidValueError
from .merge import merge

_log = logging.getLogger("jaxneuro")


def with_modulators(net: Network, modulators: Iterable[Modulator], resolver: Resolver) -> Network:
    """The network with modulators, in the order of their names."""
    ordered = sorted(modulators, key=lambda m: m.name)
    read = {name for p in net.pathways if p.plastic is not None for name in p.plastic.rule.signals}
    for m in ordered:
        if not m.scales and m.name not in read:
            _log.warning("%s scales nothing, and no rule of plasticity reads it", m.label)
    made = tuple(_build(net, m, resolver) for m in ordered)
    net = dataclasses.replace(net, modulators=made)
    check_extremes(net)
    return net


def check_constant_gains(modulators: Iterable[Modulator]) -> None:
    """Raises `InvalidValueError` for gains that move where arrivals are counted in fixed quanta."""
    for m in modulators:
        if any("gain" in amounts for amounts in m.scales.values()):
            must = "without a gain for deterministic=True, which counts in fixed quanta"
            raise InvalidValueError(m.label, "scales", must, "one")


def _build(net: Network, m: Modulator, resolver: Resolver) -> ModulatorLayer:
    targets, amounts, scales = [], [], []
    for name, scaled in m.scales.items():
        for key, amount in scaled.items():
            found = _targets(net, m, name, key)
            targets += found
            amounts += [amount] * len(found)
            scales += [(name, key)] * len(found)
    _check_once(m, targets)
    _check_fits(m, amounts, net.dtype)
    numbers = {
        "amounts": amounts,
        "bounds": [m.lowest, m.highest],
        "start": m.baseline if m.start is None else m.start,
    }
    group, neurons, index = _sources(net, m, resolver)
    kinetics = LevelKinetics(m.tau, m.per_spike, m.baseline)
    return ModulatorLayer(
        model=merge([kinetics], [1], net.dtype),
        **{name: as_array(np.array(x, np.float64), net.dtype) for name, x in numbers.items()},
        index=index,
        name=m.name,
        targets=tuple(targets),
        scales=tuple(scales),
        source=group,
        neurons=neurons,
        signal=m.signal,
        slow=slow_variables(m.label, kinetics, lambda: {"level": 0.0}, net.dt, net.dtype),
    )


def _check_fits(m: Modulator, amounts: list[float], dtype: np.dtype) -> None:
    """Raises `InvalidValueError` for a number that the network cannot hold."""
    given = {k: getattr(m, k) for k in ("tau", "per_spike", "baseline", "start", "lowest")}
    given |= {f"amount {k + 1}": x for k, x in enumerate(amounts)}
    most = float(np.finfo(dtype).max)
    for what, x in given.items():
        if x is not None and abs(x) > most:
            raise InvalidValueError(m.label, what, f"at most {most:g} in {dtype}", f"{x:g}")


def _sources(
    net: Network, m: Modulator, resolver: Resolver
) -> tuple[int | None, tuple[int, int] | None, Int32[Array, " sources"] | None]:
    """Group and span of the source neurons, and their numbers there if those are not all."""
    if m.source is None:
        return None, None, None
    part = as_part(m.source)
    group, span = net.population(part.population)
    neurons = resolver.neurons(part)
    if isinstance(neurons, slice):
        return group, (span.start + neurons.start, span.start + neurons.stop), None
    return group, (span.start, span.stop), as_array(neurons, np.int32)


def _targets(net: Network, m: Modulator, name: str, key: str) -> list[ModulationTarget]:
    """Where one parameter is in a `RuntimeNetwork`."""
    found = named(net, name)
    if key == "gain" and name in net.projections:
        number, index = projection(net, name)
        return [ModulationTarget(("pathways", number, "scale"), (1,), index, blocks=True)]
    if key == "gain" and name in net.coupled:
        return _gain_of_coupling(net, m, net.coupled.index(name))
    if key == "weight" and _sends_spikes(net, found):
        own = found.references[0]
        path = (*own.path[:-1], "weight")
        return [ModulationTarget(path, own.sizes, own.member)]
    reference, path, field = _parameter(net, m, found, key)
    if getattr(field.metadata["kind"], "on_grid", False):
        got = f"{key} of {found.label}, a whole number of time steps"
        raise InvalidValueError(m.label, "scales", "of numbers that can be scaled", got)
    return [ModulationTarget((*reference.path, *path), reference.sizes, reference.member)]


def _parameter(
    net: Network, m: Modulator, found: Named, key: str
) -> tuple[ModelReference, Path, dataclasses.Field]:
    """The model that has a parameter, where it is there, and its field."""
    references = tuple(h for h in found.references if h.kind != "plasticity")
    models = [h.model(net) for h in references]
    known = [
        {name: where for name, where in named_parameters(x).items() if name not in inner(x)}
        for x in models
    ]
    also = ["weight"] if _sends_spikes(net, found) else []
    also += ["gain"] if found.label.split()[0] in ("projection", "coupling") else []
    try:
        number = found._replace(references=references).only("parameter", key, known, also)
    except ValueError as error:
        hint = ""
        rules = (h.model(net) for h in found.references if h not in references)
        if any(key in named_parameters(rule) for rule in rules):
            hint = ". A rule of plasticity takes a modulator as its signal, see jn.Modulator"
        raise InvalidValueError(m.label, "scales", "of what is there", f"{error}{hint}") from None
    references[number].check_own(f"{m.label}: {found.label}", key)
    return references[number], *known[number][key]


def _sends_spikes(net: Network, found: Named) -> bool:
    """Whether a name is that of a stimulation of spikes, which have a weight."""
    own = found.references[0] if found.references else None
    if own is None or own.kind != "stimulation":
        return False
    return inside(net, (*own.path[:-1], "weight")) is not None


def _gain_of_coupling(net: Network, m: Modulator, number: int) -> list[ModulationTarget]:
    """The gain of a coupling, on each of its sides."""
    layer = net.couplings[number]
    if layer.release is None and not np.isfinite(m.highest):
        must = f"given: that {layer.name!r} is stable is checked for the largest factor"
        raise InvalidValueError(m.label, "highest", must, "none")
    sides = range(len(layer.sides))
    return [ModulationTarget(("couplings", number, "scales", side), (1,), 0) for side in sides]


def _check_once(m: Modulator, targets: list[ModulationTarget]) -> None:
    """Raises `InvalidValueError` where two names mean one number."""
    seen = set()
    for target in targets:
        if target in seen:
            got = f"{target.path[-1]} twice, by two names of one model"
            raise InvalidValueError(m.label, "scales", "of different numbers", got)
        seen.add(target)
