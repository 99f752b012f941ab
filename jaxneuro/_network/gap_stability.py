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
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Float64, Int64

from .. import spec
from .._arrays import AnyArray, as_array, is_traced
from .._model import Drive, Neuron
from .._numerics.grid import TIME_STEP
from .._text import an
from ..spec import InvalidValueError
from .coupling import CouplingLayer
from .group import Group, initial_state, replace_variable
from .members import first_member, member

_TRIED = np.geomspace(1e-6, 1e6, 241)  # of G dv/dI in a step without gap junctions
_SLACK = 1e-3  # for rounding: the bound is met in a thousandth
_SETTLING, _MOST = 200.0, 5000  # ms without input in which most models come to rest; steps


@spec.arguments(model=spec.Of(Neuron), dt=TIME_STEP)
def largest_conductance(model: Neuron, dt: float) -> float:
    """The largest stable sum of gap conductances at a neuron, in the model's unit; or infinity.

    Found from derivatives of one step at the start values of the model and 200 ms (at most 5000
    steps) later, at many sums at once.

    Raises:
        InvalidValueError: for what is no neuron model with a voltage `v` in its state, and a `dt`
            that is not above 0.
    """
    model = first_member(model)
    if not hasattr(jax.eval_shape(lambda m: initial_state(m, 1), model), "v"):
        got = type(model).__name__
        raise InvalidValueError("largest_conductance", "model", "one whose state has a v", got)
    per_current = _moved(model, np.zeros(_TRIED.size), dt)[1][0]
    if not per_current[0] > 0:
        return np.inf
    low, tried = 0.0, _TRIED / per_current[0]
    for _ in range(2):  # coarsely, and then between the last stable sum and the first other
        growing = _growing(model, tried, dt)
        if not growing.any():
            return np.inf if low == 0.0 else float(tried[-1])
        first = int(np.argmax(growing))
        low = float(tried[first - 1]) if first else low
        tried = np.linspace(low, float(tried[first]), _TRIED.size)
    return low


def _growing(
    model: Neuron, conductance: Float[np.ndarray, " tried"], dt: float
) -> Bool[np.ndarray, " tried"]:
    """Where what neighbours move against each other grows: (tried,)."""
    alone, _ = _moved(model, np.zeros(_TRIED.size), dt)
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


@functools.partial(jax.jit, static_argnums=2)
def _derivatives(
    model: Neuron, conductance: Float[AnyArray, " tried"], dt: float
) -> tuple[Float[Array, " both"], Float[Array, " both"]]:
    first = initial_state(model, _TRIED.size)
    alone = first if any(map(np.ndim, jax.tree.leaves(model))) else initial_state(model, 1)
    nothing, steps = Drive(jnp.zeros_like(alone.v)), min(round(_SETTLING / dt), _MOST)
    rest = lax.fori_loop(0, steps, lambda _, s: model.step(s, nothing, dt)[0], alone)
    rest = jax.tree.map(lambda x, like: jnp.broadcast_to(x, like.shape), rest, first)
    twice = lambda x, y: jnp.concatenate([x, y]) if jnp.ndim(x) else x  # noqa: E731
    state, both = jax.tree.map(twice, first, rest), jax.tree.map(twice, model, model)
    start = state.v
    g = jnp.tile(jnp.asarray(conductance, start.dtype), 2)

    def after(v: Float[Array, " n"], current: Float[Array, " n"]) -> Float[Array, " n"]:
        drive = Drive(g * start + current, g)
        return both.step(replace_variable(state, "v", v), drive, dt)[0].v

    one, zero = jnp.ones_like(start), jnp.zeros_like(start)
    own = jax.jvp(after, (start, zero), (one, zero))[1]
    return own, jax.jvp(after, (start, zero), (zero, one))[1]


def _first_growing(model: Neuron, totals: Float[np.ndarray, " n"], dt: float) -> int:
    """A neuron whose sum of conductances is too large; that of the largest sum if none is.

    Neurons of one set of parameters have one limit, others are tried one by one.
    """
    largest, n = int(np.argmax(totals)), totals.size
    if not any(np.ndim(x) for x in jax.tree.leaves(model)):
        return largest
    for start in range(0, n, _TRIED.size):
        some = np.minimum(np.arange(start, start + _TRIED.size), n - 1)
        growing = _growing(_neuron(model, some), totals[some], dt)
        if growing.any():
            return int(some[np.argmax(growing)])
    return largest


def _neuron(model: Neuron, number: int | Int64[np.ndarray, " some"]) -> Neuron:
    """The model of one neuron, or of some."""
    return jax.tree.map(lambda x: as_array(np.asarray(x)[number]) if np.ndim(x) else x, model)


def check_gap_junctions(
    couplings: Sequence[CouplingLayer],
    groups: Sequence[Group],
    dt: float,
    name: str | None = None,
    layout: Any = None,
) -> None:
    """Raises `InvalidValueError` where neurons have more gap junctions than are stable.

    Those of all couplings count together; `name` is the population to look at, None for all;
    `layout` that of a network over a mesh.
    """
    for population, parts in _by_population(couplings, layout).items():
        if name in (None, population):
            group = next(g for g in groups if population in g.populations)
            model = member(group.model, group.sizes, group.populations.index(population))
            _check(population, model, parts, dt)


def _by_population(
    layers: Sequence[CouplingLayer], layout: Any
) -> dict[str, list[tuple[str, Float[AnyArray, " _"]]]]:
    """Names of couplings, and what they add to each neuron, by population."""
    out: dict[str, list] = {}
    for layer in layers:
        if layer.release is None:
            ends = (layer.target, layer.source)
            for name, side, scale in zip(ends, layer.sides, layer.expand().scales):
                total = side.total * scale
                if layout is not None:
                    total = layout.groups[side.target].of_population(name, total)
                out.setdefault(name, []).append((layer.name, total))
    return out


def _check(
    population: str, model: Neuron, parts: list[tuple[str, Float[AnyArray, " n"]]], dt: float
) -> None:
    known = not any(map(is_traced, jax.tree.leaves(([x for _, x in parts], model))))
    totals = np.sum([np.asarray(x) for _, x in parts], axis=0) if known else np.zeros(0)
    if not totals.size:
        return
    neuron = _first_growing(model, totals, dt)
    limit, most = largest_conductance(_neuron(model, neuron), dt), float(totals[neuron])
    if not most <= limit:
        names = " and ".join(repr(name) for name, _ in parts)
        # A smaller dt allows more, and so does the method jn.integrators.exponential_euler.
        must = (
            f"at most {limit:.4g} at dt = {dt:g} ms in all at a neuron of {population!r}, where "
            f"{an(type(model).__name__)} is stable"
        )
        raise InvalidValueError(f"coupling {names}", "weight", must, f"{most:.4g}")
