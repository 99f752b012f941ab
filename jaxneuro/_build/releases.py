"""Whether the source of a projection, a coupling or a modulator can release what is asked."""

from collections.abc import Sequence
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
from .contract import TRIED, step, traced_state
from .drives import NeuronFacts
from .grouping import Grouping
from .jaxprs import needed_by
from .merge import alone, any_state
from .weights import sign_at


def check_releases(
    grouping: Grouping, facts: Sequence[NeuronFacts], dt: float, dtype: np.dtype, laid_by: str = ""
) -> None:
    """Raises `InvalidValueError` for a release that does not fit its role or its source.

    Args:
        grouping: the groups and pathways of the network.
        facts: those of the neurons, by group.
        dt: the time step [ms].
        dtype: that of the network.
        laid_by: as of `contract.step`.
    """
    d = grouping.description

    def never_spikes(population: str) -> bool:
        if facts[grouping.seats[population].group].may_spike or not d.population(population).n:
            return False
        return never_spikes_at_all(_neuron(grouping, population), dt, dtype)

    for p in (*d.projections, *d.couplings):
        if p.release is not None:
            neuron = _neuron(grouping, p.pre.population)
            has_voltage = facts[grouping.seats[p.pre.population].group].has_voltage
            _check_voltage(p, p.release, neuron, has_voltage)
            if p.release.reads == "activity":
                _check_activity(p, neuron, _neuron(grouping, p.post.population))
            release = alone(p.release, dtype)
            takes = takes_spikes(p.label, release, has_voltage, dt, dtype, laid_by)
            if takes and never_spikes(p.pre.population):
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


def _check_voltage(
    p: Projection | Coupling, release: Release, neuron: Neuron, has_voltage: bool
) -> None:
    """Raises `InvalidValueError` for a graded release from neurons without what it releases."""
    source = _of(p.pre.population, neuron)
    name = type(release).__name__
    if release.reads and not has_voltage:
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


def takes_spikes(
    label: str, release: Release, has_voltage: bool, dt: float, dtype: np.dtype, laid_by: str = ""
) -> bool:
    """Whether a release depends on spikes alone; raises if its step does not fit its role.

    Args:
        label: what has the release, for messages.
        release: that of one neuron.
        has_voltage: whether the source neurons have a voltage or a rate.
        dt: the time step [ms].
        dtype: that of the network.
        laid_by: as of `contract.step`.
    """
    if release.plain:
        return True
    owner = f"{type(release).__name__} ({label})"
    state = traced_state(owner, lambda n: any_state(release, n), dtype)
    arguments: tuple = np.zeros(TRIED, bool), *[np.zeros(TRIED, dtype)] * has_voltage
    call = lambda m, s, z, v=None: m.step(s, z, v, dt)  # noqa: E731
    takes = ", spikes and v, of shape (n,) each"
    jaxpr = step(owner, release, call, state, arguments, takes, laid_by=laid_by)[0].jaxpr
    spikes, *voltages = jaxpr.invars[len(jaxpr.invars) - len(arguments) :]
    needed = needed_by(jaxpr, jaxpr.outvars)
    return id(spikes) in needed and not any(id(x) in needed for x in voltages)


def never_spikes_at_all(neuron: Neuron, dt: float, dtype: np.dtype) -> bool:
    """Whether the spikes of the traced `step` depend on nothing: neither state nor drive."""
    model = alone(neuron, dtype)
    zeros: Any = np.zeros(TRIED, dtype)
    state = jax.eval_shape(lambda m: as_floating(initial_state(m, TRIED), dtype), model)
    arrivals: Any = dict.fromkeys(model.ports, zeros) or None
    drive = Drive(zeros, zeros, zeros, arrivals)
    jaxpr = jax.make_jaxpr(lambda d, m, s: m.step(s, d, dt)[1])(drive, model, state).jaxpr
    needed = needed_by(jaxpr, jaxpr.outvars)
    return not any(id(v) in needed for v in jaxpr.invars)
