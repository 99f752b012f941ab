"""Whether the source of a projection, a coupling or a modulator can release what is asked."""

from typing import Any

import jax
import numpy as np

from .._describe.coupling import Coupling
from .._describe.part import as_part
from .._describe.projection import Projection
from .._model import Drive, Neuron, Release
from .._network.group import initial_state
from .._network.members import as_floating
from .._text import an
from ..spec import InvalidValueError
from .contract import step, traced_state, tried_sizes
from .grouping import Grouping
from .jaxprs import needed_by
from .merge import alone, any_state
from .weights import sign_at


def check_releases(grouping: Grouping, dt: float, dtype: np.dtype) -> None:
    """Raises `InvalidValueError` for a release that does not fit its role or its source."""
    spiking: dict[int, bool] = {}  # by group: its step is traced once

    def never_spikes(population: str) -> bool:
        seat = grouping.seats[population]
        if seat.group not in spiking:
            spiking[seat.group] = not never_spikes_at_all(_neuron(grouping, population), dt, dtype)
        return grouping.description.population(population).n > 0 and not spiking[seat.group]

    d = grouping.description
    for p in (*d.projections, *d.couplings):
        if p.release is not None:
            neuron = _neuron(grouping, p.pre.population)
            _check_voltage(p, p.release, neuron)
            if p.release.reads == "activity":
                _check_activity(p, neuron, _neuron(grouping, p.post.population))
            if _takes_spikes(p, p.release, neuron, dt, dtype) and never_spikes(p.pre.population):
                must = f"jn.release.Graded(), as {_of(p.pre.population, neuron)} never spikes"
                raise InvalidValueError(p.label, "release", must, type(p.release).__name__)
    for p in d.projections:
        if getattr(p.plasticity, "reads_rates", False) and d.population(p.post.population).n:
            _check_rates(p, _neuron(grouping, p.post.population), never_spikes(p.post.population))
        if getattr(p.plasticity, "needs_spikes", False) and never_spikes(p.post.population):
            target = _of(p.post.population, _neuron(grouping, p.post.population))
            must = f"one that learns without spikes of {target}, which never spikes"
            hint = " (of activities: Hebb, Oja or BCM with activity='rate')"
            raise InvalidValueError(p.label, "plasticity", must, type(p.plasticity).__name__, hint)
    for m in d.modulators:
        source = None if m.source is None else as_part(m.source).population
        if source is not None and never_spikes(source):
            got = f"{_of(source, _neuron(grouping, source))}, which never spikes"
            must = "neurons that spike, or else signal= an input of the run"
            raise InvalidValueError(m.label, "source", must, got)


def _neuron(grouping: Grouping, population: str) -> Neuron:
    return grouping.description.population(population).model


def _of(population: str, neuron: Neuron) -> str:
    return f"{population!r}, {an(type(neuron).__name__)}"


def _has_voltage(neuron: Neuron) -> bool:
    """Whether a neuron model shows anything to synapses and releases: a voltage or a rate."""
    shown = jax.eval_shape(lambda m: m.voltage(initial_state(m, 2)), alone(neuron))
    return shown is not None


def _check_voltage(p: Projection | Coupling, release: Release, neuron: Neuron) -> None:
    """Raises `InvalidValueError` for a graded release from neurons without what it releases."""
    source = _of(p.pre.population, neuron)
    name = type(release).__name__
    if release.reads and not _has_voltage(neuron):
        must = f"one of spikes, such as RateRelease: {source}, has no voltage and no rate"
        raise InvalidValueError(p.label, "release", must, name)
    if release.reads == "voltage" and neuron.rate_sign is not None:
        must = f"jn.release.Graded(), which releases a rate: {source}, has no voltage in mV"
        raise InvalidValueError(p.label, "release", must, name)


def _check_activity(p: Projection | Coupling, source: Neuron, target: Neuron) -> None:
    """Raises `InvalidValueError` for an activity that may be negative onto a receptor with a sign.

    A synapse that takes both signs (`Exponential`) or a rate that is never negative
    (`ThresholdLinearRate`, or `rate_sign = 1`) will do.
    """
    sign, why = sign_at(target, p)
    if sign and source.rate_sign != 1:
        kind = "its voltage" if source.rate_sign is None else "a rate that may be negative"
        must = f"one of numbers of at least 0, such as VoltageRelease: {why}"
        got = f"{type(p.release).__name__} of {_of(p.pre.population, source)}: {kind}"
        raise InvalidValueError(p.label, "release", must, got)


def _check_rates(p: Projection, target: Neuron, never_spikes: bool) -> None:
    """Raises `InvalidValueError` for a rule of activities between neurons that spike."""
    what = f"{type(p.plasticity).__name__} with activity='rate'"
    if not never_spikes:
        must = "activity='spikes' where the target spikes: its voltage is no rate"
        got = f"{what}, and {_of(p.post.population, target)}"
        raise InvalidValueError(p.label, "plasticity", must, got)
    if p.release.plain or p.release.with_spikes:
        must = "one that gives an activity in every step, Graded of rate units or RateRelease"
        got = f"{type(p.release).__name__}, and {what}"
        raise InvalidValueError(p.label, "release", must, got)


def _takes_spikes(
    p: Projection | Coupling, release: Release, neuron: Neuron, dt: float, dtype: np.dtype
) -> bool:
    """Whether a release depends on spikes alone; its step is held to its role."""
    if release.plain:
        return True
    owner, model = f"{type(release).__name__} ({p.label})", alone(release, dtype)
    has_voltage = _has_voltage(neuron)
    for n in tried_sizes(release):
        state = traced_state(owner, lambda n=n: any_state(model, n), n, dtype)
        given: tuple = (np.zeros(n, bool), *((np.zeros(n, dtype),) if has_voltage else ()))
        jaxpr, _ = step(
            *(owner, model, lambda m, s, z, *v: m.step(s, z, v[0] if v else None, dt)),
            *(state, given, n, ", spikes and v, of shape (n,) each"),
        )
    spikes, *voltages = jaxpr.invars[len(jaxpr.invars) - len(given) :]
    needed = needed_by(jaxpr)
    return id(spikes) in needed and not any(id(x) in needed for x in voltages)


def never_spikes_at_all(neuron: Neuron, dt: float, dtype: np.dtype) -> bool:
    """Whether the spikes of the traced `step` depend on nothing: neither state nor drive."""
    model = alone(neuron, dtype)
    zeros: Any = np.zeros(2, dtype)
    state = jax.eval_shape(lambda m: as_floating(initial_state(m, 2), dtype), model)
    arrivals: Any = dict.fromkeys(model.ports, zeros) or None
    drive = Drive(zeros, zeros, zeros, arrivals)
    jaxpr = jax.make_jaxpr(lambda d, m, s: m.step(s, d, dt)[1])(drive, model, state).jaxpr
    needed = needed_by(jaxpr)
    return not any(id(v) in needed for v in jaxpr.invars)
