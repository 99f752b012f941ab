"""Which gap junctions are stable at a time step.

Neighbours are seen as they were at the start of the step. With the conductance G in all at a
neuron, its own voltage moves by a factor R(G) over a step, and its neighbours' by C(G) = G dv/dI.
In the fastest mode of a ring or a lattice, neighbours move against each other, and a step
multiplies it by R - C; it must not grow: |R - C| <= 1. No network of equal neurons needs more (the
rows of its matrix of couplings have the sum G). An exact step has R + C <= 1 for any G; forward
Euler has R - C = 1 - 2 G dt / c_m, so that G dt / c_m must be at most 1.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import is_traced
from .._types import Drive, Neuron
from ._coupling import CouplingLayer
from ._group import initial_state
from ._initial import replace_variable
from ._members import first_member, member

_TRIED = np.geomspace(1e-6, 1e6, 241)  # of G dv/dI in a step without gap junctions
_SLACK = 1e-3  # for rounding: the bound is met in a thousandth


def largest_conductance(model: Neuron, dt: float) -> float:
    """The largest stable sum of gap conductances at a neuron, in the model's unit; or infinity.

    Found from derivatives of one step at the start values of the model, at many sums at once.
    """
    model = first_member(model)
    nothing = np.zeros(_TRIED.size)
    per_current = np.asarray(_moved(model, nothing, dt)[1], np.float64)
    if not per_current[0] > 0:
        return np.inf
    low, tried = 0.0, _TRIED / per_current[0]
    for _ in range(2):  # coarsely, and then between the last stable sum and the first other
        own, others = (np.asarray(x, np.float64) for x in _moved(model, tried, dt))
        growing = ~(np.abs(own - tried * others) <= 1 + _SLACK)
        if not growing.any():
            return np.inf if low == 0.0 else float(tried[-1])
        first = int(np.argmax(growing))
        low = float(tried[first - 1]) if first else low
        tried = np.linspace(low, float(tried[first]), _TRIED.size)
    return low


@functools.partial(jax.jit, static_argnums=2)
def _moved(model: Neuron, conductance: Any, dt: float) -> tuple[jax.Array, jax.Array]:
    """By how much v after a step moves with v before it, and with a current: (tried,) each."""
    state = initial_state(model, _TRIED.size)
    start = state.v
    g = jnp.asarray(conductance, start.dtype)

    def after(v: jax.Array, current: jax.Array) -> jax.Array:
        drive = Drive(g * start + current, g)
        return model.step(replace_variable(state, "v", v), drive, dt)[0].v

    one, zero = jnp.ones_like(start), jnp.zeros_like(start)
    own = jax.jvp(after, (start, zero), (one, zero))[1]
    return own, jax.jvp(after, (start, zero), (zero, one))[1]


def check_layer(net: Any, number: int) -> None:
    """Raises `ValueError` where the gap junctions of a coupling are too many to be stable."""
    check_conductances(net.couplings[number], net.groups, net.dt)


def check_conductances(layer: CouplingLayer, groups: Any, dt: float) -> None:
    """The same for a coupling between neurons of some groups."""
    ends = (layer.span.target, layer.span.source)
    for name, side, scale in zip(ends, layer.sides, layer.spread().scales):
        if is_traced(scale) or is_traced(side.total) or not side.total.size:
            continue
        group = groups[side.target]
        model = member(group.model, group.sizes, group.populations.index(name))
        most = float(np.max(np.asarray(side.total) * np.asarray(scale)))
        limit = largest_conductance(model, dt)
        if not most <= limit:
            raise ValueError(
                f"coupling {layer.span.name!r}: the gap conductances at a neuron of {name!r} must "
                f"add up to at most {limit:.4g} at dt = {dt:g} ms, above which a "
                f"{type(model).__name__} is not stable with them; got {most:.4g}. Take smaller "
                "conductances or a smaller dt, or, if the model takes a method, "
                "jn.integrators.exponential_euler"
            )
