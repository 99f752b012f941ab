"""A bare neuron model as a network of one population."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._build import build
from .._checks import check_count
from .._describe import Description, Population, Stimulation
from .._network import Network, NetworkState
from .._numerics import check_dt
from .._types import Neuron, state_variables
from ..stimuli import Current


def neuron_alone(
    model: Neuron, duration: Any, inputs: Any, current: Any, how: tuple[Any, Any, Any, Any, bool]
) -> tuple[Network, Any, Any]:
    """The network, duration and inputs that run a bare neuron model; see `simulate`.

    `how` is n, dt, state0, dtype, and whether a state of its neurons is given.
    """
    n, dt, state0, dtype, goes_on = how
    if dt is None:
        raise ValueError("simulate: a bare neuron needs a time step, dt= [ms]")
    try:
        stimulus = np.asarray(duration, None if np.ndim(duration) else object)
        shape: Any = stimulus.shape
    except ValueError:
        stimulus, shape = np.zeros((0, 0, 0)), "(rows of different lengths)"
    if stimulus.ndim > 2 or (stimulus.ndim and stimulus.dtype.kind not in "iuf"):
        raise ValueError(
            "simulate: the stimulus must be numbers of shape (steps,) or (steps, n), or a duration "
            f"[ms]; got an array of {stimulus.dtype} of shape {shape}"
        )
    given = [current is not None, bool(inputs), stimulus.ndim > 0]
    if sum(given) > 1:
        raise ValueError(
            "simulate: give the current once: current=, one number per neuron for the whole "
            "duration; or, one per time step, instead of the duration or in inputs="
        )
    start, driven = _start_values(state0), [] if current is None else [Current(current)]
    if n is None:
        leaves = jax.tree.leaves((model, start, driven))
        sizes = [np.size(x) for x in leaves if np.ndim(x) == 1]
        if stimulus.ndim == 2 and not sizes and not goes_on:
            _check_steps_first(stimulus)
        n = stimulus.shape[1] if stimulus.ndim == 2 else max(sizes, default=1)
    n = check_count("simulate: n", n)
    _check_one_per_neuron(current, n)
    drive = [Stimulation("neurons", s, name="current") for s in driven]
    described = Description([Population("neurons", n, model, start)], (), drive)
    net = build(described, 0, check_dt(dt), jnp.float32 if dtype is None else dtype)
    if stimulus.ndim == 0:
        return net, duration, inputs
    _check_over_time(stimulus, n, net.dt)
    return net, stimulus.shape[0] * net.dt, {"neurons": stimulus}


def _check_steps_first(stimulus: np.ndarray) -> None:
    """Raises `ValueError` for fewer steps than neurons, where only the stimulus says how many."""
    steps, n = int(stimulus.shape[0]), int(stimulus.shape[1])
    if 1 < steps < n:
        raise ValueError(
            f"simulate: a stimulus of shape ({steps}, {n}) is {steps} time steps of {n} neurons, "
            f"steps first. If that is meant, say n={n}; if it has a row per neuron, transpose it: "
            "stimulus.T"
        )


def _check_one_per_neuron(current: Any, n: int) -> None:
    """Raises `ValueError` for constant currents that are not one number per neuron."""
    shape = () if callable(current) else np.shape(current)
    if shape not in ((), (n,)):
        raise ValueError(
            f"simulate: current must be one number, or one per neuron for the whole run, shape "
            f"({n},); got shape {shape}. A current over time goes instead of the duration: shape "
            "(steps,) or (steps, n)"
        )


def _check_over_time(stimulus: np.ndarray, n: int, dt: float) -> None:
    """Raises `ValueError` for numbers over time that look like one per neuron.

    Those of an f-I curve rise or fall from each to the next; so does a ramp.
    """
    steps = np.diff(stimulus)
    ordered = stimulus.ndim == 1 and steps.size > 0 and bool((steps > 0).all() or (steps < 0).all())
    if n == 1 and ordered:
        k = stimulus.size
        raise ValueError(
            f"simulate: {k} different currents in a row may be one per neuron or one per time step "
            f"({k * dt:g} ms). For {k} neurons with a constant current each (an f-I curve) give a "
            f"duration: simulate(model, 1000.0, dt={dt:g}, current=currents). For a ramp over time "
            "into one neuron give the shape (steps, 1): currents[:, None]"
        )


def _start_values(state0: Any) -> dict[str, Any]:
    """Start values by variable, from a dictionary or from a state of the model."""
    if state0 is None:
        return {}
    if isinstance(state0, Mapping):
        return dict(state0)
    if isinstance(state0, NetworkState) or not hasattr(state0, "_fields"):
        raise ValueError(
            "simulate: state0 must be start values by variable, {'v': -70.0}, or a state of the "
            f"model; got {type(state0).__name__}. To continue an earlier run pass "
            "state=result.state"
        )
    values = {name: getattr(state0, name) for name in state_variables(state0)}
    return {name: x for name, x in values.items() if np.ndim(x) == 1}
