"""Checks of neurons, receptors and stimuli: one step of each is traced."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from .._describe.description import Description
from .._model import Drive
from .._network.group import Group, initial_state
from .._network.members import as_floating, first_member
from .._network.stimuli import StimulusGroup
from ..spec import InvalidValueError
from .contract import TRIED, has_voltage, is_own, step, traced, traced_state
from .jaxprs import needed_by, used_by

_TAKES_DRIVE = ", a jn.Drive (current, conductance, jump, current_at(v), jumped(v), arriving(port))"


class NeuronFacts(NamedTuple):
    """Facts about the neurons of a group, found by tracing their methods.

    Attributes:
        has_voltage: as of `has_voltage`.
        may_spike: whether their spikes depend on the state or on the drive of the group.
    """

    has_voltage: bool
    may_spike: bool


def check_neuron(
    group: Group,
    dt: float,
    dtype: np.dtype,
    inputs: bool = False,
    coupled: str = "",
    laid_by: str = "",
) -> NeuronFacts:
    """Check the model, the receptors and the stimuli of a group: trace one step of each.

    Args:
        group: the group.
        dt: the time step [ms].
        dtype: that of the network.
        inputs: whether the run has inputs for the group.
        coupled: the gap junctions of the group, for messages; "" for none.
        laid_by: as of `contract.step`.

    Raises:
        InvalidValueError: also for a model that never uses a part of the drive that it gets.
    """
    model = first_member(group.model)
    if group.n == 0:
        return NeuronFacts(has_voltage(model), True)
    origins = _drive_parts(group, dt, dtype, laid_by)
    if inputs:
        origins.setdefault(group.model.input_part, "the inputs of the run")
    if coupled:
        origins = {"current": coupled, "conductance": coupled} | origins
    owner = _owner(model, f"population {group.populations[0]!r}")
    for port in origins:
        if port not in Drive._fields and port not in model.ports:
            ports = ", ".join(map(repr, model.ports)) or "no port"
            got = f"{port!r} of {origins[port]}"
            raise InvalidValueError(owner, "ports", f"among {ports}", got)
    zeros: Any = np.zeros(TRIED, dtype)
    current, conductance, jump = (zeros if part in origins else None for part in Drive._fields[:3])
    ports = sorted(part for part in origins if part not in Drive._fields)  # as JAX sorts them
    arrivals: Any = dict.fromkeys(ports, zeros) if ports else None
    drive = Drive(current, conductance, jump, arrivals)
    state = traced_state(owner, lambda n: initial_state(model, n), dtype)
    call = lambda m, s, d: m.step(s, d, dt)  # noqa: E731
    closed, (_, spikes) = step(owner, model, call, state, (drive,), _TAKES_DRIVE, laid_by=laid_by)
    # Of inputs it is asked in a run, where parameters may be traced: `build` has seen the spikes.
    if not inputs and is_own(model) and jnp.issubdtype(spikes.dtype, jnp.floating):
        _check_spikes(owner, closed, model, state, drive)
    parts = [part for part in Drive._fields if part in origins] + ports
    jaxpr = closed.jaxpr
    used = used_by(jaxpr)
    for part, variable in zip(parts, jaxpr.invars[len(jaxpr.invars) - len(parts) :]):
        if id(variable) not in used:
            label = part if part in Drive._fields else f"arrivals[{part!r}]"
            must = f"one that uses drive.{label}, which comes from {origins[part]}"
            raise InvalidValueError(owner, "step", must, "one that ignores it")
    voltage = jax.eval_shape(model.voltage, state)
    needed = needed_by(jaxpr, jaxpr.outvars[-1:])
    return NeuronFacts(voltage is not None, any(id(v) in needed for v in jaxpr.invars))


def _owner(model: Any, label: str) -> str:
    return f"{type(model).__name__} ({label})"


def _check_spikes(owner: str, closed: ClosedJaxpr, model: Any, state: Any, drive: Drive) -> None:
    """Raises `InvalidValueError` for floating spikes that are neither 0 nor 1.

    The trace of the step is computed for neurons whose variables go from -100 to 100.
    """

    def spread(x: Any) -> Any:
        if jnp.issubdtype(x.dtype, jnp.floating):
            return np.linspace(-100.0, 100.0, x.size).astype(x.dtype).reshape(x.shape)
        return jnp.zeros(x.shape, x.dtype)

    rounding = 1e-3  # a surrogate may add its slope and subtract it again
    leaves = jax.tree.leaves((model, jax.tree.map(spread, state), drive))
    spikes = np.asarray(jax.jit(jaxpr_as_fun(closed))(*leaves)[-1])
    errors = np.nan_to_num(np.minimum(np.abs(spikes), np.abs(spikes - 1.0)))
    if errors.max() > rounding:  # a voltage, or a rate, whose place is the state
        must = "one that returns spikes, True or False (or 1.0 and 0.0 of a surrogate)"
        raise InvalidValueError(owner, "step", must, f"{spikes[errors.argmax()]:g}")


def gap_coupled(description: Description, group: Group) -> str:
    """The gap junctions whose current flows into a group, for messages; "" if there are none."""
    for c in description.couplings:
        into = {c.post.population, *([c.pre.population] if c.symmetric else [])}
        if c.electrical and into & set(group.populations):
            return f"gap junctions ({c.label})"
    return ""


def _drive_parts(group: Group, dt: float, dtype: np.dtype, laid_by: str) -> dict[str, str]:
    """Return the parts of the drive with the names of the receptors or stimuli they come from."""
    origins: dict[str, str] = {}
    for receptor in group.receptors:
        model = first_member(receptor)
        drive = _receptor_drive(model, dt, dtype, laid_by)
        origins |= dict.fromkeys(_parts(drive), type(model).__name__)
    for stimulus in group.stimuli:
        out = _stimulus_output(stimulus, dt, dtype)
        if isinstance(out, Drive):
            origins |= dict.fromkeys(_parts(out), type(stimulus.model).__name__)
    return origins


def _parts(drive: Drive) -> list[str]:
    """The parts of a drive that exist; for arrivals, the ports."""
    parts = [name for name, x in zip(Drive._fields, drive[:3]) if x is not None]
    return [*parts, *(drive.arrivals or {})]


def _receptor_drive(model: Any, dt: float, dtype: np.dtype, laid_by: str) -> Drive:
    """Return the drive of a receptor, from a trace of its step."""
    v, owner = np.zeros(TRIED, dtype), type(model).__name__
    arrivals = np.zeros((len(model.ports), TRIED) if model.ports else (TRIED,), dtype)
    takes = f", arrivals of shape {arrivals.shape}, v and dt"
    state = traced_state(owner, model.init, dtype)
    call = lambda m, s, a: m.step(s, a, v, dt)  # noqa: E731
    closed, (_, drive) = step(owner, model, call, state, (arrivals,), takes, laid_by=laid_by)
    jaxpr = closed.jaxpr
    if is_own(model) and id(jaxpr.invars[-1]) not in needed_by(jaxpr, jaxpr.outvars):
        must = "one that adds arrivals to the new state, g = g * jnp.exp(-dt / self.tau) + arrivals"
        raise InvalidValueError(owner, "step", must, "one that ignores them")
    return drive


def _stimulus_output(group: StimulusGroup, dt: float, dtype: np.dtype) -> Any:
    """Return what a stimulus returns beside its state, from a trace of its step."""
    stimulus = group.expand()
    owner = _owner(group.model, f"stimulation {group.names[0]!r}")
    with traced(owner, "init", "the number of neurons and a stream"):
        state = jax.eval_shape(lambda: as_floating(stimulus.init(np.uint32(0)), dtype))
    takes = ", the number of the step and dt"
    call = lambda m, s, k: m.step(s, k, dt)  # noqa: E731
    return step(owner, stimulus.model, call, state, (np.int32(0),), takes, n=stimulus.n)[1][1]
