"""Checks that the step of a neuron fits its role and uses the drive that it gets."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._types import Drive
from .._describe import Description
from .._network import Group, StimulusGroup, as_floating, first_member, initial_state
from ..neurons import PoissonSource, Relay
from ._check_own import check_draws, check_spikes, is_own, needed_by, traced_twice
from ._check_role import (
    DRIVE_PARTS,
    check_pair,
    check_state,
    shapes,
    state_of,
    traced,
    tried_sizes,
)


def check_neuron(
    group: Group, dt: float, dtype: Any, inputs: bool = False, coupled: str = ""
) -> None:
    """Raises `ValueError` for a model whose `step` changes its state's shape or dtype, whose spikes
    are not one per neuron, or that never uses a part of the drive that it gets.

    Inspects the traced `step`, with arrays of two neurons; nothing runs. `inputs` says
    whether a run gives currents too, `coupled` names gap junctions of the group.
    """
    if group.n == 0:
        return
    given = _given_parts(group, dt, dtype)
    if inputs:
        given.setdefault("current", "the inputs of the run")
    if coupled:
        given = {"current": coupled, "conductance": coupled} | given
    model = first_member(group.model)
    name = f"{type(model).__name__} (population {group.populations[0]!r})"
    ports = [part for part in given if part not in Drive._fields]
    _check_ports(name, model, ports, given)
    for n in tried_sizes(model):
        jaxpr = _check_step(name, model, (n, dt, dtype), [*given], ports)
        _check_used(name, model, jaxpr, given)


def _check_step(name: str, model: Any, how: tuple, given: list[str], ports: list[str]) -> Any:
    """The traced step of a neuron, checked; `how` is the number of neurons, dt and dtype."""
    n, dt, dtype = how
    zeros: Any = np.zeros(n, dtype)
    current, conductance, jump = (zeros if part in given else None for part in Drive._fields[:3])
    arrivals: Any = dict.fromkeys(sorted(ports), zeros) if ports else None
    drive = Drive(current, conductance, jump, arrivals)
    state = state_of(name, lambda: initial_state(model, n), n, dtype)
    trace = jax.make_jaxpr(lambda d, m, s: m.step(s, d, dt), return_shape=True)
    with traced(name, given=f"the state {shapes(state)}; {DRIVE_PARTS}"):
        closed, out = trace(drive, model, state)
    new, spikes = check_pair(name, out, "(state, spikes)")
    check_state(name, state, new)
    kinds, fits = (jnp.bool_, jnp.floating), getattr(spikes, "shape", None) == (n,)
    if not fits or not any(jnp.issubdtype(spikes.dtype, k) for k in kinds):
        raise ValueError(
            f"{name}: step must return spikes of shape (n,), boolean or floating; it returns "
            f"{shapes(spikes)} for {n} neurons"
        )
    if is_own(model):
        check_draws(
            name, model, *traced_twice(lambda m, d, s: m.step(s, d, dt), model, drive, state)
        )
        if jnp.issubdtype(spikes.dtype, jnp.floating):
            start = jax.jit(lambda: as_floating(initial_state(model, n), dtype))()
            check_spikes(name, model, lambda s: model.step(s, drive, dt)[1], start)
    return closed.jaxpr


def gap_coupled(description: Description, group: Group) -> str:
    """The gap junctions whose current flows into a group, for messages; "" if there are none."""
    for c in description.couplings:
        into = {c.post.population, *([c.pre.population] if c.symmetric else [])}
        if c.electrical and into & set(group.populations):
            return f"gap junctions ({c.label})"
    return ""


def _check_ports(name: str, model: Any, ports: list[str], given: dict[str, str]) -> None:
    for port in ports:
        if port not in model.ports:
            has = ", ".join(map(repr, model.ports)) or "none: it takes no Direct synapses"
            raise ValueError(
                f"{name} has no port {port!r}, to which {given[port]} is; it has {has}"
            )


def _check_used(name: str, model: Any, jaxpr: Any, given: dict[str, str]) -> None:
    used = {id(v) for equation in jaxpr.eqns for v in equation.invars}
    used |= {id(v) for v in jaxpr.outvars}
    parts = [part for part in Drive._fields if part in given]
    parts += sorted(part for part in given if part not in Drive._fields)  # as JAX sorts them
    for part, variable in zip(parts, jaxpr.invars):
        if id(variable) not in used:
            label = part if part in Drive._fields else f"arrivals[{part!r}]"
            raise ValueError(
                f"{name} must use the drive it is given; its step ignores `drive.{label}`, which "
                f"comes from {given[part]}. {_instead_of(model)}"
            )


def _instead_of(model: Any) -> str:
    """How a model that ignores a part of its drive is driven."""
    if isinstance(model, Relay):
        return (
            "A Relay has no membrane, it passes spikes on: give jn.Stimulation(population, "
            "jn.stimuli.Poisson(rate), weight=1.0, synapse=jn.synapses.Delta()), or another "
            "stimulus of spikes"
        )
    if isinstance(model, PoissonSource):
        return (
            "A PoissonSource draws its own spikes and takes no input: set its rate, "
            "PoissonSource(rate=...), or give a jn.neurons.Relay() the stimulus"
        )
    return (
        "Drive it by something else, or not at all; in a model of your own use "
        "drive.current_at(v), drive.jumped(v) and drive.arriving(port)"
    )


def _given_parts(group: Group, dt: float, dtype: Any) -> dict[str, str]:
    """The parts of the drive that the receptors and stimuli give, with the names of both."""
    given: dict[str, str] = {}
    for receptor in group.receptors:
        model = first_member(receptor)
        for n in tried_sizes(model):
            drive = _receptor_drive(model, n, dt, dtype)
            given |= dict.fromkeys(_parts(drive), type(model).__name__)
    for stimulus in group.stimuli:
        name = type(stimulus.model).__name__
        what = f"{name} (stimulation {stimulus.names[0]!r})"
        out = _stimulus_output(what, stimulus, dt, dtype)
        _check_stimulus(what, stimulus, out)
        if isinstance(out, Drive):
            given |= dict.fromkeys(_parts(out), name)
    return given


def _receptor_drive(model: Any, n: int, dt: float, dtype: Any) -> Drive:
    """The drive that a receptor gives, traced for n neurons; checks what its step returns."""
    v, name = np.zeros(n, dtype), type(model).__name__
    shape = (len(model.ports), n) if model.ports else (n,)
    state = state_of(name, lambda: model.init(n), n, dtype)
    what = "(state, drive), the drive a jn.Drive(current=...) or jn.Drive(conductance=...)"
    given = f"the state {shapes(state)} and arrivals of shape {shape}, and returns {what}"
    with traced(name, given=f"{given}; {DRIVE_PARTS}"):
        out = jax.eval_shape(lambda s: model.step(s, np.zeros(shape, dtype), v, dt), state)
    new, drive = check_pair(name, out, what)
    parts = jax.tree.leaves(drive) if isinstance(drive, Drive) else []
    if not parts:
        raise ValueError(f"{name}: step must return {what}; it returns {shapes(out)}")
    if any(x.shape not in ((), (n,)) for x in parts):
        raise ValueError(
            f"{name}: step must return a drive whose parts are of shape () or (n,); it returns "
            f"{shapes(drive)} for {n} neurons"
        )
    check_state(name, state, new)
    if is_own(model) and n == tried_sizes(model)[-1]:
        _check_own_receptor(name, model, state, (np.zeros(shape, dtype), v, dt))
    return drive


def _check_own_receptor(name: str, model: Any, state: Any, given: tuple) -> None:
    """Raises `ValueError` for a receptor of a user that ignores arrivals, or draws alike."""
    arrivals, v, dt = given
    step = lambda m, a, s: m.step(s, a, v, dt)  # noqa: E731
    closed, again = traced_twice(step, model, arrivals, state)
    check_draws(name, model, closed, again)
    arriving = closed.jaxpr.invars[len(jax.tree.leaves(model))]
    if id(arriving) not in needed_by(closed.jaxpr):
        raise ValueError(
            f"{name}: step ignores arrivals, so that no spike would have an effect: add them to "
            "the new state, as in g = g * jnp.exp(-dt / self.tau) + arrivals"
        )


def _parts(drive: Drive) -> list[str]:
    """The parts of a drive that exist; for arrivals, the ports."""
    parts = [name for name, x in zip(Drive._fields, drive[:3]) if x is not None]
    return [*parts, *(drive.arrivals or {})]


def _stimulus_output(name: str, group: StimulusGroup, dt: float, dtype: Any) -> Any:
    """What a stimulus gives in a step, traced; checks its state."""
    stimulus = group.spread()
    with traced(name, "init"):
        state = jax.eval_shape(lambda: as_floating(stimulus.init(np.uint32(0)), dtype))
    wanted = "(state, drive), or (state, counts of spikes)"
    given = f"the state {shapes(state)}, and returns {wanted}; {DRIVE_PARTS}"
    with traced(name, given=given):
        out = jax.eval_shape(lambda s, m, k: m.step(s, k, dt), state, stimulus.model, np.int32(0))
    new, out = check_pair(name, out, wanted)
    check_state(name, state, new)
    if is_own(stimulus.model):
        steps = stimulus.model, state, np.int32(0)
        step = lambda m, s, k: m.step(s, k, dt)  # noqa: E731
        check_draws(name, stimulus.model, *traced_twice(step, *steps))
    return out


def _check_stimulus(name: str, stimulus: StimulusGroup, out: Any) -> None:
    """Raises `ValueError` unless a stimulus gives a drive, or spikes one number per neuron."""
    if stimulus.receptor is None:
        parts = jax.tree.leaves(out) if isinstance(out, Drive) else []
        if not parts or any(x.shape not in ((), (stimulus.n,)) for x in parts):
            raise ValueError(
                f"{name}: step must return a Drive whose parts are of shape () or (n,); it returns "
                f"{shapes(out)} for {stimulus.n} neurons. A stimulus of spikes subclasses "
                "SpikeStimulus"
            )
    elif getattr(out, "shape", None) != (stimulus.n,) or not jnp.issubdtype(
        out.dtype, jnp.floating
    ):
        raise ValueError(
            f"{name}: step must return spike counts of shape (n,), floating; it returns "
            f"{shapes(out)} for {stimulus.n} neurons"
        )
