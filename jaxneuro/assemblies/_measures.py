"""What can be measured of assemblies, and reports of a brain."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32, Integer

from .. import spec
from .._arrays import ArrayLike, is_traced
from .._kernels.edges import Counts, Hashed, Lists, potentiations
from .._kernels.new_sources import gap_lists, gap_width
from .._kernels.wide import wide_to_number
from .._text import brief
from .._warn import warn
from ..spec import InvalidValueError
from ._brain import Brain
from ._run import shared_neurons
from ._state import BrainState, check_of, on_host, shortages
from ._weights import edges_of, without_derivative

# --- What can be measured of caps and synapses.


def overlap(a: ArrayLike, b: ArrayLike) -> Float32[Array, ""]:
    """The fraction of a cap that is in another one: float32 ().

    `a`, `b` int (k,), different neurons in any order, as `Brain.cap` returns them: -1 is nobody.
    Caps of different areas have nothing in common. Warns of a cap that is nobody, outside of `jit`:
    of an area that never fired.

    Raises:
        InvalidValueError: for anything else than two arrays of whole numbers.
    """
    try:
        a, b = jnp.asarray(a), jnp.asarray(b)
    except TypeError:
        raise InvalidValueError(
            "overlap",
            "both caps",
            "whole numbers (k,), from brain.cap(state, area)",
            f"{brief(a)} and {brief(b)}",
        ) from None
    for cap in (a, b):
        if cap.ndim != 1 or not cap.size or not jnp.issubdtype(cap.dtype, jnp.integer):
            raise InvalidValueError(
                "overlap",
                "both caps",
                (
                    "whole numbers (k,), from brain.cap(state, area) (use jax.vmap(ac.overlap) for "
                    "several)"
                ),
                f"{cap.dtype} {cap.shape}",
            )
    warn_of_nobody("overlap", a, b)
    there = jnp.where(b < 0, a.max() + 1, b)
    both = shared_neurons(jnp.sort(a), there, 2**31 - 1)
    return both.astype(jnp.float32) / jnp.float32(a.shape[0])


def warn_of_nobody(what: str, *caps: ArrayLike) -> None:
    """Warns of a cap, as far as it is known, in which nobody fires."""
    known = [np.asarray(x) for x in caps if not is_traced(x)]
    if any((x < 0).all() for x in known if x.size):
        warn(
            f"{what}: a cap is nobody (all -1), so that it shares 0 with any other. Its area never "
            "fired, or was cleared: brain.fired(state, area) says so, print(ac.report(brain, "
            "state)) for all areas"
        )


class FibreStatistics(NamedTuple):
    """The synapses from the last cap of a source onto the last cap of its target.

    Attributes:
        times: int32 (rounds + 1,) how many of them learned so many times.
        density: float32 the fraction of all pairs that have a synapse.
        weight: float32 the mean weight.
        largest: float32 the largest.
    """

    times: Int32[Array, "*batch potentiations"]
    density: Float32[Array, "*batch"]
    weight: Float32[Array, "*batch"]
    largest: Float32[Array, "*batch"]


@spec.arguments(brain=spec.Of(Brain))
def statistics(brain: Brain, state: BrainState, fibre: str) -> FibreStatistics:
    """The synapses of a fibre between the neurons that fired last; see `FibreStatistics`.

    Warns where nobody fires at one of its ends, outside of `jit`: all are 0 then.

    Raises:
        InvalidValueError: for an unknown fibre, and a state of another brain.
    """
    check_of("statistics", brain, state)
    silent = capless(brain, state, int(np.flatnonzero(brain.active(fibre))[0]))
    if silent:
        warn(
            f"statistics: nobody fires in {' and '.join(map(repr, silent))}, so that there is no "
            f"synapse of {fibre} between caps and all numbers are 0. Run rounds that drive it first"
        )
    return _statistics(brain, state, fibre)


def capless(brain: Brain, state: BrainState, fibre: int) -> list[str]:
    """The areas at the ends of a fibre that are known to have no cap."""
    wire = brain.wires[fibre]
    ends = [x for x in dict.fromkeys((wire.number, wire.into)) if x is not None]
    fired = [(brain.area_names[x], state.areas[x].fired) for x in ends]
    return [name for name, x in fired if not is_traced(x) and not np.any(np.asarray(x))]


@eqx.filter_jit
def _statistics(brain: Brain, state: BrainState, fibre: str) -> FibreStatistics:
    number = int(np.flatnonzero(brain.active(fibre))[0])
    wire = brain.wires[number]
    target = state.areas[wire.into]
    count, times = _between(brain, state, number)
    histogram = jnp.zeros(brain.rounds + 1, jnp.int32).at[times].add(count)
    weights = wide_to_number(without_derivative(brain).weights[number])
    synapses = jnp.sum(histogram).astype(jnp.float32)
    fires = jnp.sum(target.cap < wire.target.places).astype(jnp.float32)
    pairs = fires * _firing(state, wire)
    total = jnp.sum(histogram.astype(jnp.float32) * weights)
    mean = total / jnp.maximum(synapses, 1)
    largest = jnp.max(jnp.where(histogram > 0, weights, 0))
    return FibreStatistics(histogram, synapses / jnp.maximum(pairs, 1), mean, largest)


@spec.arguments(brain=spec.Of(Brain))
def density(brain: Brain, state: BrainState, area: str) -> Float32[Array, ""]:
    """The fraction of the pairs of an assembly that have a synapse, the last cap: float32 ().

    A neuron and itself are a pair.
    """
    brain.number(area)
    return statistics(brain, state, f"{area}->{area}").density


def _firing(state: BrainState, wire: Any) -> Float32[Array, ""]:
    if wire.number is None:
        return jnp.float32(wire.source.size)
    cap = state.areas[wire.number].cap
    return jnp.sum(cap < wire.source.places).astype(jnp.float32)


def _between(
    brain: Brain, state: BrainState, number: int
) -> tuple[Int32[Array, "*synapses"], Integer[Array, "*synapses"]]:
    """Synapses between two caps: numbers, and how often they learned."""
    wire, fibre = brain.wires[number], state.fibres[number]
    target, learned = state.areas[wire.into], state.learned[number]
    after = target.after.at[target.cap].get(mode="fill", fill_value=0)
    here = (target.cap < wire.target.places).astype(jnp.int32)
    edges = edges_of(wire, fibre)
    if isinstance(edges, Counts):
        synapses = edges.counts.at[target.cap].get(mode="fill", fill_value=0)
        return synapses * here, potentiations(after, learned)
    assert wire.number is not None
    source = state.areas[wire.number]
    if isinstance(edges, Lists):
        lists = edges.sources.at[target.cap].get(mode="fill", fill_value=wire.places)
        fires = jnp.zeros(wire.places, bool).at[source.cap].set(True, mode="drop")
        before = source.before.at[lists].get(mode="fill", fill_value=0) & learned
        there = fires.at[lists].get(mode="fill", fill_value=False)
        return there.astype(jnp.int32), potentiations(before, after[:, None])
    rows = _rows(edges, source.cap, wire)
    slot = jnp.minimum(jnp.searchsorted(target.cap, rows), target.cap.shape[0] - 1)
    there = (target.cap[slot] == rows) & (rows < wire.target.n)
    there = there & (source.cap < wire.places)[:, None]
    before = source.before.at[source.cap].get(mode="fill", fill_value=0) & learned
    return there.astype(jnp.int32), potentiations(before[:, None], after[slot])


def _rows(edges: Any, cap: Int32[Array, " k"], wire: Any) -> Int32[Array, "k width"]:
    if isinstance(edges, Hashed):
        if wire.p == 0:
            return jnp.full((*cap.shape, 1), wire.target.n, jnp.int32)
        return gap_lists(edges, cap, gap_width(edges.n, edges.p))
    return edges.targets.at[cap].get(mode="fill", fill_value=wire.target.n).astype(jnp.int32)


# --- `report`: what a brain has become, as text.


@spec.arguments(brain=spec.Of(Brain))
def memory(brain: Brain) -> int:
    """The bytes of a state of this brain; nothing is allocated to find out."""
    leaves = jax.tree.leaves(jax.eval_shape(brain.init, jax.ShapeDtypeStruct((), np.uint32)))
    return sum(x.size * x.dtype.itemsize for x in leaves)


@spec.arguments(brain=spec.Of(Brain))
def report(brain: Brain, state: BrainState) -> str:
    """The areas and fibres of a brain in a table: supports, caps, synapses and weights.

    Raises:
        InvalidValueError: for a traced state, a batch of states, and a state of another brain.
    """
    check_of("report", brain, state)
    with on_host("report", brain=brain, state=state):
        return _report(brain, state)


def _report(brain: Brain, state: BrainState) -> str:
    if np.ndim(state.round):
        raise ValueError("report: the state must be that of one brain, not a batch")
    lines = [
        f"{int(state.round)} rounds, {int(state.remembered)} of {brain.rounds} remembered, "
        f"{memory(brain) / 1e6:.1f} MB",
        f"{'area':12} {'n':>11} {'k':>7} {'support':>8}  connectome",
    ]
    for described, area in zip(brain.areas, state.areas):
        support = int(area.support)
        kept = f" ({support} of {described.capacity} places)" if described.sampled else ""
        fixed = ", fixed" if bool(area.fixed) else ""
        silent = "" if bool(area.fired) else ", no cap" if support else ", never fired"
        lines.append(
            f"{described.name:12} {described.n:11,} {described.k:7,} {support:8,}  "
            f"{described.connectome}{kept}{fixed}{silent}"
        )
    lines.append(f"{'fibre':12} {'p':>11} {'beta':>7} {'density':>8} {'weight':>8} {'largest':>8}")
    for number, wire in enumerate(brain.wires):
        lines.append(_fibre_line(brain, state, number, wire))
    lines += [f"short: {text}" for text in shortages(brain, state)]
    return "\n".join(lines)


def _fibre_line(brain: Brain, state: BrainState, number: int, wire: Any) -> str:
    start = f"{wire.name:12} {wire.p:11g} {float(brain.beta[number]):7g}"
    silent = capless(brain, state, number)
    if silent:
        return f"{start}        -        -        -  nobody fires in {' and '.join(silent)}"
    seen = statistics(brain, state, wire.name)
    numbers = float(seen.density), float(seen.weight), float(seen.largest)
    return f"{start} {numbers[0]:8.4f} {numbers[1]:8.3f} {numbers[2]:8.3f}"
