"""Checks that the source of a projection, a coupling or a modulator can release what is asked."""

from typing import Any

import jax
import numpy as np

from .._text import an
from .._types import Drive, Neuron, Release
from .._describe import Coupling, Projection, as_part
from .._network import initial_state
from ._check_own import check_draws, is_own, needed_by, traced_twice
from ._check_role import check_pair, check_state, shapes, state_of, traced, tried_sizes
from ._check_signs import sign_at
from ._grouping import Grouping
from ._merge import alone
from ._states import any_state


def check_releases(grouping: Grouping, dt: float, dtype: Any) -> None:
    """Raises `ValueError` for a release that does not fit its role or the neurons of its source."""
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
            if _check_step(p, p.release, neuron, dt, dtype) and never_spikes(p.pre.population):
                raise ValueError(
                    f"{p.label}: release {type(p.release).__name__} needs spikes, but its source "
                    f"{p.pre.population!r} is a {type(neuron).__name__}, which never spikes; give "
                    "it release=jn.release.Graded(), which releases the activity"
                )
    for p in d.projections:
        if getattr(p.plasticity, "reads_rates", False) and d.population(p.post.population).n:
            _check_rates(p, _neuron(grouping, p.post.population), never_spikes(p.post.population))
    for m in d.modulators:
        source = None if m.source is None else as_part(m.source).population
        if source is not None and never_spikes(source):
            raise ValueError(
                f"{m.label}: its source must be neurons that spike; {source!r} is a "
                f"{type(_neuron(grouping, source)).__name__}, which never spikes. Give signal=, an "
                "input of the run"
            )


def _neuron(grouping: Grouping, population: str) -> Neuron:
    return grouping.description.population(population).model


def _has_voltage(neuron: Neuron) -> bool:
    """Whether a neuron model shows anything to synapses and releases: a voltage or a rate."""
    shown = jax.eval_shape(lambda m: m.voltage(initial_state(m, 2)), alone(neuron))
    return shown is not None


def _check_voltage(p: Projection | Coupling, release: Release, neuron: Neuron) -> None:
    """Raises `ValueError` for a graded release from neurons without what it releases."""
    name, source = type(release).__name__, p.pre.population
    kind = type(neuron).__name__
    if release.reads and not _has_voltage(neuron):
        raise ValueError(
            f"{p.label}: release {name}: graded release needs a neuron with a voltage or a rate; "
            f"{source!r} is a {kind}, which has none. Give its spikes a release of their own, such "
            "as RateRelease"
        )
    if release.reads == "voltage" and neuron.rate_sign is not None:
        raise ValueError(
            f"{p.label}: release {name} needs a neuron with a voltage in mV; {source!r} is a "
            f"{kind}, which has a rate. Give release=jn.release.Graded(), which releases it"
        )


def _check_activity(p: Projection | Coupling, source: Neuron, target: Neuron) -> None:
    """Raises `ValueError` for an activity that may be negative onto a receptor with a sign."""
    sign, why = sign_at(target, p)
    if sign and source.rate_sign != 1:
        kind = "its voltage" if source.rate_sign is None else "a rate that may be negative"
        raise ValueError(
            f"{p.label}: what is released must be at least 0, {why}; {type(p.release).__name__} "
            f"releases the activity of {p.pre.population!r}, a {type(source).__name__}: {kind}. "
            "Give release=jn.release.VoltageRelease(), a rate that is never negative "
            "(ThresholdLinearRate, or rate_sign = 1 in a class of your own), or a synapse that "
            "takes both signs, such as Exponential"
        )


def _check_rates(p: Projection, target: Neuron, never_spikes: bool) -> None:
    """Raises `ValueError` for a rule of activities between neurons that spike."""
    what = f"{p.label}: plasticity {type(p.plasticity).__name__} with activity='rate'"
    instead = (
        "Between neurons that spike give activity='spikes', which low-passes the spikes of both"
    )
    if not never_spikes:
        raise ValueError(
            f"{what} takes the target's activity, and {p.post.population!r} is "
            f"{an(type(target).__name__)}, which spikes: the rule would take its voltage for a "
            f"rate. {instead}; or let the target be a rate unit, such as "
            "ThresholdLinearRate"
        )
    if p.release.plain or p.release.with_spikes:
        raise ValueError(
            f"{what} takes the source's activity in every step, and release "
            f"{type(p.release).__name__} gives one at a spike alone. {instead}; between rate units "
            "give release=jn.release.Graded(), from neurons that spike jn.release.RateRelease()"
        )


def _check_step(
    p: Projection | Coupling, release: Release, neuron: Neuron, dt: float, dtype: Any
) -> bool:
    """Whether a release depends on spikes alone; `ValueError` if its step does not fit its role."""
    if release.plain:
        return True
    label = f"{p.label}: release {type(release).__name__}"
    model = alone(release, dtype)
    has_voltage = _has_voltage(neuron)
    for n in tried_sizes(release):
        closed = _traced_step(label, model, n, has_voltage, dt, dtype)
    v = (None,) if has_voltage else ()
    spikes, *voltages = closed.jaxpr.invars[: 1 + len(v)]
    needed = needed_by(closed.jaxpr)
    return id(spikes) in needed and not any(id(x) in needed for x in voltages)


def _traced_step(label: str, model: Any, n: int, has_voltage: bool, dt: float, dtype: Any) -> Any:
    """The step of a release for n neurons, traced and checked."""
    state = state_of(label, lambda: any_state(model, n), n, dtype)
    v = (np.zeros(n, dtype),) if has_voltage else ()
    with traced(label, given=f"the state {shapes(state)}, spikes and v, (n,) each"):
        closed, out = jax.make_jaxpr(
            lambda z, v, m, s: m.step(s, z, v[0] if v else None, dt), return_shape=True
        )(np.zeros(n, bool), v, model, state)
    new, values = check_pair(label, out, "(state, values), one value per source neuron")
    check_state(label, state, new)
    if getattr(values, "shape", None) != (n,):
        raise ValueError(
            f"{label}: step must return values of shape (n,), one per source neuron; it returns "
            f"{shapes(values)} for {n} neurons"
        )
    if is_own(model) and n == tried_sizes(model)[-1]:
        step = lambda m, z, v, s: m.step(s, z, v[0] if v else None, dt)  # noqa: E731
        check_draws(label, model, *traced_twice(step, model, np.zeros(n, bool), v, state))
    return closed


def never_spikes_at_all(neuron: Neuron, dt: float, dtype: Any) -> bool:
    """Whether the spikes of the traced `step` depend on nothing: neither state nor drive."""
    model = alone(neuron, dtype)
    zeros: Any = np.zeros(2, dtype)
    state = jax.eval_shape(lambda m: initial_state(m, 2), model)
    arrivals: Any = dict.fromkeys(model.ports, zeros) or None
    drive = Drive(zeros, zeros, zeros, arrivals)
    jaxpr = jax.make_jaxpr(lambda d, m, s: m.step(s, d, dt)[1])(drive, model, state).jaxpr
    needed = needed_by(jaxpr)
    return not any(id(v) in needed for v in jaxpr.invars)
