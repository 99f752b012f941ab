"""A bare neuron model as a network of one population."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import spec
from .._build.build import build
from .._describe.description import Description
from .._describe.population import Population
from .._describe.stimulation import Stimulation
from .._model import Neuron, state_variables
from .._network.network import Network
from .._network.state import NetworkState
from .._numerics.grid import check_dt
from ..spec import InvalidValueError
from ..stimuli import Current


class Alone(NamedTuple):
    """How a bare neuron runs: the arguments of `simulate`."""

    n: int | None
    dt: float | None
    state0: Any
    dtype: Any


def neuron_alone(
    model: Neuron, duration: Any, inputs: Any, current: Any, alone: Alone
) -> tuple[Network, Any, Any]:
    """The network, duration and inputs that run a bare neuron model; see `simulate`."""
    n, dt, state0, dtype = alone
    if dt is None:
        raise ValueError("simulate: a bare neuron needs a time step, dt= [ms]")
    dt = check_dt(dt)
    shape = _shape_of(current)
    over_time = np.asarray(current) if len(shape) == 2 else None
    if current is not None and inputs:
        raise ValueError("simulate: give the current of a bare neuron once, as current= or inputs=")
    start, driven = _start_values(state0), []
    if over_time is None and current is not None:
        driven = [Current(current)]
    if n is None:
        leaves = jax.tree.leaves((model, start, driven))
        sizes = [np.size(x) for x in leaves if np.ndim(x) == 1]
        sizes += [] if over_time is None else [over_time.shape[1]]
        n = max(sizes, default=1)
    n = spec.check("simulate", "n", spec.Whole(), n)
    if shape not in ((), (n,)) and shape[1:] not in ((n,), (1,)):
        must = (
            f"one number, one per neuron, ({n},), or one per time step and neuron, (n_steps, {n})"
        )
        raise InvalidValueError("simulate", "current", must, f"shape {shape}")
    drive = [Stimulation("neurons", s, name="current") for s in driven]
    described = Description([Population("neurons", n, model, start)], (), drive)
    net = build(described, 0, dt, jnp.float32 if dtype is None else dtype)
    if over_time is None:
        return net, duration, inputs
    if duration is None:
        duration = len(over_time) * dt
    wide = over_time[:, 0] if over_time.shape[1] == 1 else over_time
    return net, duration, {"neurons": wide}


def _shape_of(current: Any) -> tuple[int, ...]:
    """The shape of the current of a bare neuron; () of one that is a function or a signal."""
    try:
        return () if callable(current) else np.shape(current)
    except ValueError:
        must = "one number, or an array of them"
        got = "rows of different lengths"
        raise InvalidValueError("simulate", "current", must, got) from None


def _start_values(state0: Any) -> dict[str, Any]:
    """Start values by variable, from a dictionary or from a state of the model."""
    if state0 is None:
        return {}
    if isinstance(state0, Mapping):
        return dict(state0)
    if isinstance(state0, NetworkState) or not hasattr(state0, "_fields"):
        raise InvalidValueError(
            "simulate",
            "state0",
            (
                "start values by variable, {'v': -70.0}, or a state of the model (to continue an "
                "earlier run pass state=result.state)"
            ),
            str(type(state0).__name__),
        )
    values = {name: getattr(state0, name) for name in state_variables(state0)}
    return {name: x for name, x in values.items() if np.ndim(x) == 1}
