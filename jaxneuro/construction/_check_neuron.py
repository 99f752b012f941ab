"""Checks that the step of a neuron fits its role and uses the drive that it gets."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._types import Drive
from ..description import Description
from ..network import Group, StimulusGroup, first_member, initial_state


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
    closed, (new, spikes) = jax.make_jaxpr(lambda d, m, s: m.step(s, d, dt), return_shape=True)(
        drive, model, state
    )
    _check_shapes(name, state, new, spikes)
    _check_used(name, closed.jaxpr, given)


def gap_coupled(description: Description, group: Group) -> str:
    """The gap junctions whose current flows into a group, for messages; "" if there are none."""
    for c in description.couplings:
        into = {c.post.population, *([c.pre.population] if c.symmetric else [])}
        if c.electrical and into & set(group.populations):
            return f"gap junctions ({c.label})"
    return ""


def _check_shapes(name: str, state: Any, new: Any, spikes: Any) -> None:
    if jax.tree.structure(state) != jax.tree.structure(new):
        raise ValueError(f"{name}: step must return a state like that of init; got {new}")
    for before, after in zip(jax.tree.leaves(state), jax.tree.leaves(new)):
        if before.shape != after.shape:
            raise ValueError(
                f"{name}: step must keep the shape of every array of the state; it turns "
                f"{before.shape} into {after.shape} for 2 neurons"
            )
    kinds = (jnp.bool_, jnp.floating)
    if spikes.shape != (2,) or not any(jnp.issubdtype(spikes.dtype, k) for k in kinds):
        raise ValueError(
            f"{name}: step must return spikes of shape (n,), boolean or floating; it returns "
            f"{spikes.dtype}{list(spikes.shape)} for 2 neurons"
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
    one, given = np.zeros(1, dtype), {}
    for receptor in group.receptors:
        model = first_member(receptor)
        arrivals = np.zeros((len(model.ports), 1), dtype) if model.ports else one
        given |= dict.fromkeys(_parts(_receptor_drive(model, arrivals, dt)), type(model).__name__)
    for stimulus in group.stimuli:
        out = jax.eval_shape(lambda s: _output(s, dt), stimulus.spread())
        name = type(stimulus.model).__name__
        _check_stimulus(f"{name} (stimulation {stimulus.names[0]!r})", stimulus, out)
        if isinstance(out, Drive):
            given |= dict.fromkeys(_parts(out), name)
    return given


def _receptor_drive(model: Any, arrivals: Any, dt: float) -> Drive:
    """The drive that a receptor gives, traced for one neuron; checks what its step returns."""
    v, name = np.zeros(1, arrivals.dtype), type(model).__name__
    state = jax.eval_shape(lambda: model.init(1))
    out = jax.eval_shape(lambda s: model.step(s, arrivals, v, dt), state)
    if not (isinstance(out, tuple) and len(out) == 2 and isinstance(out[1], Drive)):
        raise ValueError(
            f"{name}: step must return (state, drive), the drive a jn.Drive(current=...) or "
            f"jn.Drive(conductance=...); it returns {out}"
        )
    if jax.tree.structure(out[0]) != jax.tree.structure(state):
        raise ValueError(
            f"{name}: step must return a state like that of init; it turns {state} into {out[0]}"
        )
    return out[1]


def _parts(drive: Drive) -> list[str]:
    """The parts of a drive that exist; for arrivals, the ports."""
    parts = [name for name, x in zip(Drive._fields, drive[:3]) if x is not None]
    return [*parts, *(drive.arrivals or {})]


def _output(stimulus: StimulusGroup, dt: float) -> Any:
    state = stimulus.init(np.uint32(0))
    new, out = stimulus.model.step(state, jnp.int32(0), dt)
    if jax.tree.structure(new) != jax.tree.structure(state):
        name = type(stimulus.model).__name__
        raise ValueError(f"{name}: step must return a state like that of init; got {new}")
    return out


def _check_stimulus(name: str, stimulus: StimulusGroup, out: Any) -> None:
    """Raises `ValueError` unless a stimulus gives a drive, or spikes one number per neuron."""
    if stimulus.receptor is None:
        shapes = [x.shape for x in jax.tree.leaves(out)] if isinstance(out, Drive) else []
        if not shapes or any(shape not in ((), (stimulus.n,)) for shape in shapes):
            raise ValueError(
                f"{name}: step must return a Drive whose parts are of shape () or (n,); it returns "
                f"{out} for {stimulus.n} neurons. A stimulus of spikes subclasses SpikeStimulus"
            )
    elif getattr(out, "shape", None) != (stimulus.n,) or not jnp.issubdtype(
        out.dtype, jnp.floating
    ):
        raise ValueError(
            f"{name}: step must return spike counts of shape (n,), floating; it returns {out} for "
            f"{stimulus.n} neurons"
        )
