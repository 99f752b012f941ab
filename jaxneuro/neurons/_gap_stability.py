"""Which gap junctions are stable at a time step.

Neighbours are seen as they were at the start of the step. With the conductance G in all at a
neuron, its own voltage moves by a factor R(G) over a step, and its neighbours' by C(G) = G dv/dI.
In the fastest mode of a ring or a lattice, neighbours move against each other, and a step
multiplies it by R - C; it must not grow by more than a neuron does alone: |R - C| <= max(1, R(0)).
No network of equal neurons needs more (the rows of its matrix of couplings have the sum G). An
exact step has R + C <= 1 for any G; forward Euler has R - C = 1 - 2 G dt / c_m, so that G dt / c_m
must be at most 1.
"""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Float64, Int64

from .. import spec
from .._arrays import AnyArray, as_array
from .._model import Drive, Neuron, StochasticNeuron
from .._numerics.grid import TIME_STEP
from .._numerics.streams import any_stream
from ..spec import InvalidValueError

TRIED = np.geomspace(1e-6, 1e6, 241)  # of G dv/dI in a step without gap junctions
_SLACK = 1e-3  # for rounding: the bound is met in a thousandth
_SETTLING, _MOST = 200.0, 5000  # ms without input in which most models come to rest; steps


@spec.arguments(model=spec.Of(Neuron), dt=TIME_STEP)
def largest_conductance(model: Neuron, dt: float) -> float:
    """The largest stable sum of gap conductances at a neuron, in the model's unit; or infinity.

    Found from derivatives of one step at the start values of the model and 200 ms (at most 5000
    steps) later, at many sums at once.

    Args:
        model: the neuron model; of one with arrays the first neuron.
        dt: the time step [ms].

    Raises:
        InvalidValueError: for what is no neuron model with a voltage `v` in its state, and a `dt`
            that is not above 0.
    """
    model = one_neuron(model, 0)
    if not hasattr(jax.eval_shape(lambda m: _start(m, 1), model), "v"):
        got = type(model).__name__
        raise InvalidValueError("largest_conductance", "model", "one whose state has a v", got)
    per_current = _moved(model, np.zeros(TRIED.size), dt)[1][0]
    if not per_current[0] > 0:
        return np.inf
    low, tried = 0.0, TRIED / per_current[0]
    for _ in range(2):  # coarsely, and then between the last stable sum and the first other
        too_large = growing(model, tried, dt)
        if not too_large.any():
            return np.inf if low == 0.0 else float(tried[-1])
        first = int(np.argmax(too_large))
        low = float(tried[first - 1]) if first else low
        tried = np.linspace(low, float(tried[first]), TRIED.size)
    return low


def growing(
    model: Neuron, conductance: Float[np.ndarray, " tried"], dt: float
) -> Bool[np.ndarray, " tried"]:
    """Where what neighbours move against each other grows: (tried,)."""
    alone, _ = _moved(model, np.zeros(TRIED.size), dt)
    own, others = _moved(model, conductance, dt)
    grows = ~(np.abs(own - conductance * others) <= np.maximum(1.0, alone) + _SLACK)
    return np.asarray((grows & np.isfinite(alone)).any(axis=0))


def _moved(
    model: Neuron, conductance: Float[np.ndarray, " tried"], dt: float
) -> tuple[Float64[np.ndarray, "2 tried"], Float64[np.ndarray, "2 tried"]]:
    """By how much v after a step moves with v before it, and with a current: (2, tried) each.

    At the start values, and after the neurons have settled.
    """
    moved = _derivatives(model, np.asarray(conductance), dt)
    own, others = (np.asarray(x, np.float64).reshape(2, -1) for x in moved)
    return own, others


def _start(model: Neuron, n: int) -> Any:
    """The state of n neurons; it does not matter what those that draw will draw."""
    return model.init(n, any_stream(n)) if isinstance(model, StochasticNeuron) else model.init(n)


@functools.partial(jax.jit, static_argnums=2)
def _derivatives(
    model: Neuron, conductance: Float[AnyArray, " tried"], dt: float
) -> tuple[Float[Array, " both"], Float[Array, " both"]]:
    first = _start(model, TRIED.size)
    alone = first if any(map(np.ndim, jax.tree.leaves(model))) else _start(model, 1)
    nothing, steps = Drive(jnp.zeros_like(alone.v)), min(round(_SETTLING / dt), _MOST)
    rest = lax.fori_loop(0, steps, lambda _, s: model.step(s, nothing, dt)[0], alone)
    rest = jax.tree.map(lambda x, like: jnp.broadcast_to(x, like.shape), rest, first)
    twice = lambda x, y: jnp.concatenate([x, y]) if jnp.ndim(x) else x  # noqa: E731
    state, both = jax.tree.map(twice, first, rest), jax.tree.map(twice, model, model)
    start = state.v
    g = jnp.tile(jnp.asarray(conductance, start.dtype), 2)

    def after(v: Float[Array, " n"], current: Float[Array, " n"]) -> Float[Array, " n"]:
        drive = Drive(g * start + current, g)
        return both.step(eqx.tree_at(lambda s: s.v, state, v), drive, dt)[0].v

    one, zero = jnp.ones_like(start), jnp.zeros_like(start)
    own = jax.jvp(after, (start, zero), (one, zero))[1]
    return own, jax.jvp(after, (start, zero), (zero, one))[1]


def one_neuron(model: Neuron, number: int | Int64[np.ndarray, " some"]) -> Neuron:
    """The model of one neuron, or of some."""
    return jax.tree.map(lambda x: as_array(np.asarray(x)[number]) if np.ndim(x) else x, model)
