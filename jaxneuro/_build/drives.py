"""Whether neurons use the drive that they get, and whether those of a user stay apart."""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._describe.description import Description
from .._model import Drive, Release
from .._network.group import Group, initial_state
from .._network.members import as_floating, first_member
from .._network.stimuli import StimulusGroup
from ..spec import InvalidValueError
from .contract import (
    is_own,
    step,
    traced,
    traced_state,
    tried_sizes,
)
from .jaxprs import mixing, needed_by, used_by
from .merge import any_state

_TAKES_DRIVE = ", a jn.Drive (current, conductance, jump, current_at(v), jumped(v), arriving(port))"


def check_neuron(
    group: Group, dt: float, dtype: np.dtype, inputs: bool = False, coupled: str = ""
) -> None:
    """Holds the model, the receptors and the stimuli of a group to their roles; nothing runs.

    Args:
        group: the group.
        dt: the time step [ms].
        dtype: that of the network.
        inputs: whether a run gives an input too.
        coupled: the gap junctions of the group, for messages; "" for none.

    Raises:
        InvalidValueError: also for a model that never uses a part of the drive that it gets.
    """
    if group.n == 0:
        return
    given = _given_parts(group, dt, dtype)
    if inputs:
        given.setdefault(group.model.input_part, "the inputs of the run")
    if coupled:
        given = {"current": coupled, "conductance": coupled} | given
    model = first_member(group.model)
    owner = _owner(model, f"population {group.populations[0]!r}")
    for port in given:
        if port not in Drive._fields and port not in model.ports:
            ports = ", ".join(map(repr, model.ports)) or "no port"
            raise InvalidValueError(owner, "ports", f"among {ports}", f"{port!r} of {given[port]}")
    for n in tried_sizes(model):
        _check_step(owner, model, n, given, dt, dtype)


def _owner(model: Any, label: str) -> str:
    return f"{type(model).__name__} ({label})"


def _check_step(
    owner: str, model: Any, n: int, given: dict[str, str], dt: float, dtype: np.dtype
) -> None:
    """Holds the step of a neuron to its role, and finds the parts of the drive that it ignores."""
    zeros: Any = np.zeros(n, dtype)
    current, conductance, jump = (zeros if part in given else None for part in Drive._fields[:3])
    ports = sorted(part for part in given if part not in Drive._fields)  # as JAX sorts them
    arrivals: Any = dict.fromkeys(ports, zeros) if ports else None
    drive = Drive(current, conductance, jump, arrivals)
    state = traced_state(owner, lambda: initial_state(model, n), n, dtype)
    jaxpr, (_, spikes) = step(
        owner, model, lambda m, s, d: m.step(s, d, dt), state, (drive,), n, _TAKES_DRIVE
    )
    if is_own(model) and jnp.issubdtype(spikes.dtype, jnp.floating):
        start = jax.jit(lambda: as_floating(initial_state(model, n), dtype))()
        _check_spikes(owner, model, drive, start, dt)
    names = [part for part in Drive._fields if part in given] + ports
    used = used_by(jaxpr)
    for part, variable in zip(names, jaxpr.invars[len(jaxpr.invars) - len(names) :]):
        if id(variable) not in used:
            label = part if part in Drive._fields else f"arrivals[{part!r}]"
            must = f"one that uses drive.{label}, which comes from {given[part]}"
            raise InvalidValueError(owner, "step", must, "one that ignores it")


def _check_spikes(owner: str, model: Any, drive: Drive, start: Any, dt: float) -> None:
    """Raises `InvalidValueError` for floating spikes that are neither 0 nor 1.

    They are computed at the start, and a little beside it.
    """
    beside = jax.tree.map(lambda x: x + 0.37 if jnp.issubdtype(x.dtype, jnp.floating) else x, start)
    for state in (start, beside):
        x = np.asarray(jax.jit(lambda s: model.step(s, drive, dt)[1])(state))
        bad = x[np.isfinite(x) & (x != 0) & (x != 1)]
        if bad.size:  # a voltage, or a rate, whose place is the state
            must = "one that returns spikes, True or False (or 1.0 and 0.0 of a surrogate)"
            raise InvalidValueError(owner, "step", must, f"{bad.flat[0]:g}")


def gap_coupled(description: Description, group: Group) -> str:
    """The gap junctions whose current flows into a group, for messages; "" if there are none."""
    for c in description.couplings:
        into = {c.post.population, *([c.pre.population] if c.symmetric else [])}
        if c.electrical and into & set(group.populations):
            return f"gap junctions ({c.label})"
    return ""


def _given_parts(group: Group, dt: float, dtype: np.dtype) -> dict[str, str]:
    """The parts of the drive that the receptors and stimuli give, with the names of both."""
    given: dict[str, str] = {}
    for receptor in group.receptors:
        model = first_member(receptor)
        for n in tried_sizes(model):
            drive = _receptor_drive(model, n, dt, dtype)
            given |= dict.fromkeys(_parts(drive), type(model).__name__)
    for stimulus in group.stimuli:
        out = _stimulus_output(stimulus, dt, dtype)
        if isinstance(out, Drive):
            given |= dict.fromkeys(_parts(out), type(stimulus.model).__name__)
    return given


def _parts(drive: Drive) -> list[str]:
    """The parts of a drive that exist; for arrivals, the ports."""
    parts = [name for name, x in zip(Drive._fields, drive[:3]) if x is not None]
    return [*parts, *(drive.arrivals or {})]


def _receptor_drive(model: Any, n: int, dt: float, dtype: np.dtype) -> Drive:
    """The drive that a receptor gives, traced for n neurons, held to its role."""
    v, owner = np.zeros(n, dtype), type(model).__name__
    arrivals = np.zeros((len(model.ports), n) if model.ports else (n,), dtype)
    state = traced_state(owner, lambda: model.init(n), n, dtype)
    jaxpr, (_, drive) = step(
        *(owner, model, lambda m, s, a: m.step(s, a, v, dt), state, (arrivals,), n),
        f", arrivals of shape {arrivals.shape}, v and dt",
    )
    if is_own(model) and id(jaxpr.invars[-1]) not in needed_by(jaxpr):
        must = "one that adds arrivals to the new state, g = g * jnp.exp(-dt / self.tau) + arrivals"
        raise InvalidValueError(owner, "step", must, "one that ignores them")
    return drive


def _stimulus_output(group: StimulusGroup, dt: float, dtype: np.dtype) -> Any:
    """What a stimulus gives in a step, traced, held to its role."""
    stimulus = group.expand()
    owner = _owner(group.model, f"stimulation {group.names[0]!r}")
    with traced(owner, "init", "the number of neurons and a stream"):
        state = jax.eval_shape(lambda: as_floating(stimulus.init(np.uint32(0)), dtype))
    _, (_, out) = step(
        *(owner, stimulus.model, lambda m, s, k: m.step(s, k, dt), state, (np.int32(0),)),
        *(stimulus.n, ", the number of the step and dt"),
    )
    return out


# How many neurons are traced: a number that no other axis has.
_N = 1009


def check_apart(
    what: str,
    groups: Iterable[Group],
    releases: Iterable[tuple[str, Release | None]],
    dt: float,
    dtype: np.dtype,
) -> None:
    """Raises `InvalidValueError` for an own model whose step lets neurons depend on each other.

    Over a mesh each device computes its own neurons, and the step would see those alone.

    Args:
        what: the function that lays out the network.
        groups: its groups.
        releases: releases with labels.
        dt: the time step [ms].
        dtype: that of the network.
    """
    zeros: Any = np.zeros(_N, dtype)

    def check(label: str, model: Any, call: Callable, start: Any) -> None:
        # As the network has them, whatever 64-bit JAX makes of what a model says.
        exact = lambda m, s: call(*as_floating((m, s), dtype))  # noqa: E731
        _check_apart(what, label, model, exact, start)

    for group in groups:
        label, model = f"population {group.populations[0]!r}", first_member(group.model)
        if is_own(model):
            arrivals: Any = dict.fromkeys(model.ports, zeros) or None
            drive = Drive(zeros, zeros, zeros, arrivals)
            start = jax.eval_shape(lambda m: initial_state(m, _N), model)
            check(label, model, lambda m, s, d=drive: m.step(s, d, dt), start)
        for receptor in map(first_member, group.receptors):
            if is_own(receptor):
                given = np.zeros((len(receptor.ports), _N) if receptor.ports else _N, dtype)
                start = jax.eval_shape(lambda m: m.init(_N), receptor)
                call = lambda m, s, a=given: m.step(s, a, zeros, dt)  # noqa: E731
                check(label, receptor, call, start)
    for label, release in releases:
        model = None if release is None else first_member(release)
        if model is not None and is_own(model):
            start = jax.eval_shape(lambda m: any_state(m, _N), model)
            check(label, model, lambda m, s: m.step(s, zeros > 0, zeros, dt), start)


def _check_apart(what: str, label: str, model: Any, call: Callable, state: Any) -> None:
    name = mixing(jax.make_jaxpr(call)(model, state).jaxpr, _N)
    if name:
        must = f"one that computes each neuron by itself over a mesh ({what})"
        got = f"{name}, which mixes neurons: let them interact by a projection or a coupling"
        raise InvalidValueError(_owner(model, label), "step", must, got)
