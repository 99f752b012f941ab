"""A bare neuron model as a network of one population."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import check_count
from .._types import Neuron, state_variables
from ..construction import build
from ..description import Description, Population
from ..network import Network, NetworkState
from ..numerics import check_dt


def neuron_alone(
    model: Neuron, duration: Any, inputs: Any, n: Any, dt: Any, state0: Any, dtype: Any
) -> tuple[Network, Any, Any]:
    """The network, duration and inputs that run a bare neuron model; see `simulate`."""
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
    start = _start_values(state0)
    if n is None:
        sizes = [np.size(x) for x in jax.tree.leaves((model, start)) if np.ndim(x) == 1]
        n = stimulus.shape[1] if stimulus.ndim == 2 else max(sizes, default=1)
    n = check_count("simulate: n", n)
    population = Population("neurons", n, model, start)
    net = build(Description([population]), 0, check_dt(dt), jnp.float32 if dtype is None else dtype)
    if stimulus.ndim == 0:
        return net, duration, inputs
    if inputs:
        raise ValueError("simulate: give the current once, as the stimulus or in inputs=")
    return net, stimulus.shape[0] * net.dt, {"neurons": stimulus}


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
