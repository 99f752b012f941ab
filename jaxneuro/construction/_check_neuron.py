"""Checks that the step of a neuron fits its role and uses the drive that it gets."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._types import Drive
from ..description import Description
from ..network import Group, StimulusGroup, first_member, initial_state
from ._check_role import check_pair, check_per_neuron, check_state, shapes, traced


def check_neuron(
    group: Group, dt: float, dtype: Any, inputs: bool = False, coupled: str = ""
) -> None:
    """Raises `ValueError` for a model whose `step` changes its state's shape or whose spikes
    are not one per neuron, or that never uses a part of the drive that it gets.

    Inspects the traced `step` once, with arrays of two neurons; nothing runs. `inputs` says
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
    zeros: Any = np.zeros(2, dtype)
    current, conductance, jump = (zeros if part in given else None for part in Drive._fields[:3])
    arrivals: Any = dict.fromkeys(sorted(ports), zeros) if ports else None
    drive = Drive(current, conductance, jump, arrivals)
    state = jax.eval_shape(lambda m: initial_state(m, 2), model)
    check_per_neuron(name, state)
    with traced(name):
        closed, out = jax.make_jaxpr(lambda d, m, s: m.step(s, d, dt), return_shape=True)(
            drive, model, state
        )
    _check_shapes(name, state, *check_pair(name, out, "(state, spikes)"))
    _check_used(name, closed.jaxpr, given)


def gap_coupled(description: Description, group: Group) -> str:
    """The gap junctions whose current flows into a group, for messages; "" if there are none."""
    for c in description.couplings:
        into = {c.post.population, *([c.pre.population] if c.symmetric else [])}
        if c.electrical and into & set(group.populations):
            return f"gap junctions ({c.label})"
    return ""


def _check_shapes(name: str, state: Any, new: Any, spikes: Any) -> None:
    check_state(name, state, new)
    kinds, fits = (jnp.bool_, jnp.floating), getattr(spikes, "shape", None) == (2,)
    if not fits or not any(jnp.issubdtype(spikes.dtype, k) for k in kinds):
        raise ValueError(
            f"{name}: step must return spikes of shape (n,), boolean or floating; it returns "
            f"{shapes(spikes)} for 2 neurons"
        )


def _check_ports(name: str, model: Any, ports: list[str], given: dict[str, str]) -> None:
    for port in ports:
        if port not in model.ports:
            has = ", ".join(map(repr, model.ports)) or "none: it takes no Direct synapses"
            raise ValueError(
                f"{name} has no port {port!r}, to which {given[port]} is; it has {has}"
            )


def _check_used(name: str, jaxpr: Any, given: dict[str, str]) -> None:
    used = {id(v) for equation in jaxpr.eqns for v in equation.invars}
    used |= {id(v) for v in jaxpr.outvars}
    parts = [part for part in Drive._fields if part in given]
    parts += sorted(part for part in given if part not in Drive._fields)  # as JAX sorts them
    for part, variable in zip(parts, jaxpr.invars):
        if id(variable) not in used:
            label = part if part in Drive._fields else f"arrivals[{part!r}]"
            raise ValueError(
                f"{name} must use the drive it is given; its step ignores `drive.{label}`, which "
                f"comes from {given[part]}. Drive it by something else, or not at all; in a model "
                "of your own use drive.current_at(v), drive.jumped(v) and drive.arriving(port)"
            )


def _given_parts(group: Group, dt: float, dtype: Any) -> dict[str, str]:
    """The parts of the drive that the receptors and stimuli give, with the names of both."""
    two, given = np.zeros(2, dtype), {}
    for receptor in group.receptors:
        model = first_member(receptor)
        arrivals = np.zeros((len(model.ports), 2), dtype) if model.ports else two
        given |= dict.fromkeys(_parts(_receptor_drive(model, arrivals, dt)), type(model).__name__)
    for stimulus in group.stimuli:
        name = type(stimulus.model).__name__
        what = f"{name} (stimulation {stimulus.names[0]!r})"
        with traced(what):
            out = jax.eval_shape(functools.partial(_output, what, dt), stimulus.spread())
        _check_stimulus(what, stimulus, out)
        if isinstance(out, Drive):
            given |= dict.fromkeys(_parts(out), name)
    return given


def _receptor_drive(model: Any, arrivals: Any, dt: float) -> Drive:
    """The drive that a receptor gives, traced for two neurons; checks what its step returns."""
    v, name = np.zeros(2, arrivals.dtype), type(model).__name__
    state = jax.eval_shape(lambda: model.init(2))
    check_per_neuron(name, state)
    with traced(name):
        out = jax.eval_shape(lambda s: model.step(s, arrivals, v, dt), state)
    what = "(state, drive), the drive a jn.Drive(current=...) or jn.Drive(conductance=...)"
    new, drive = check_pair(name, out, what)
    parts = jax.tree.leaves(drive) if isinstance(drive, Drive) else []
    if not parts:
        raise ValueError(f"{name}: step must return {what}; it returns {shapes(out)}")
    if any(x.shape not in ((), (2,)) for x in parts):
        raise ValueError(
            f"{name}: step must return a drive whose parts are of shape () or (n,); it returns "
            f"{shapes(drive)} for 2 neurons"
        )
    check_state(name, state, new)
    return drive


def _parts(drive: Drive) -> list[str]:
    """The parts of a drive that exist; for arrivals, the ports."""
    parts = [name for name, x in zip(Drive._fields, drive[:3]) if x is not None]
    return [*parts, *(drive.arrivals or {})]


def _output(name: str, dt: float, stimulus: StimulusGroup) -> Any:
    state = stimulus.init(np.uint32(0))
    pair = stimulus.model.step(state, jnp.int32(0), dt)
    new, out = check_pair(name, pair, "(state, drive), or (state, counts of spikes)")
    check_state(name, state, new)
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
