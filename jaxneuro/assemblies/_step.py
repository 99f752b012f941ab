"""One round of a brain."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int32, Integer, UInt32

from .._arrays import ArrayLike, is_traced
from .._kernels.edges import Firing
from .._kernels.k_cap import k_cap, k_cap_wide
from .._kernels.synaptic_input import synaptic_input
from .._kernels.wide import wide_add, wide_multiply, wide_subtract, wide_to_float, wide_to_number
from ._sampled import sampled_cap
from ._state import (
    AreaState,
    BrainState,
    check_room_of_run,
    check_state,
    checked_active,
    checked_plastic,
)
from ._weights import edges_of, fixed_point, nearly, on_grid, without_derivative


class Page(NamedTuple):
    """Where a round is written down: a bit of a word, 0 if it is not; `number` of the round in
    the history; whether it was `wanted`."""

    word: Int32[Array, ""]
    bit: UInt32[Array, ""]
    number: Int32[Array, ""]
    wanted: Bool[Array, ""]


class Driving(tuple):
    """Whether each fibre drives, where that is not known before: `all` of them, bool (F,).

    A fibre without synapses is None, and False in `all`. What asks many of them asks the array:
    XLA would repeat the stacking wherever it is used.
    """

    all: Bool[Array, " fibres"]

    def __new__(cls, on: Bool[Array, " fibres"], there: list[bool]) -> "Driving":
        self = super().__new__(cls, (on[i] if some else None for i, some in enumerate(there)))
        self.all = on & np.array(there, bool)
        return self


def step(brain: Any, state: BrainState, active: ArrayLike, plastic: ArrayLike = True) -> BrainState:
    """See `Brain.step`."""
    plastic = checked_plastic("a round", plastic)
    check_state("a round", brain, state)
    brain = without_derivative(brain)
    driving = drivers(brain, state, active)
    if not is_traced(state.remembered) and not is_traced(active):  # one round outside of jit
        check_room_of_run("a round", brain, state, np.asarray(active)[None], plastic)
    page = _page(brain, state, driving, plastic)
    sources = {w.number for w in brain.wires} - {None}
    # Written before it is read, so that XLA updates it in place; `learned` has no such bit yet.
    areas = [
        _mark_before(area, page) if number in sources else area
        for number, area in enumerate(state.areas)
    ]
    state = state._replace(areas=tuple(areas))
    reached = [_reached(brain, driving, number) for number in range(len(areas))]
    moved = [
        (area, {}) if on is None else _select(brain, state, number, driving, on, page, plastic)
        for number, (area, on) in enumerate(zip(areas, reached))
    ]
    new = [area for area, _ in moved]
    new = [x if on is None else _mark_after(x, page, on) for x, on in zip(new, reached)]
    fibres = _with_synapses(state, [synapses for _, synapses in moved])
    fibres = _homeostasis(brain, state._replace(fibres=fibres), new, driving, page, plastic)
    return _turn(state._replace(areas=tuple(new), fibres=fibres), driving, page, plastic, state)


def drivers(brain: Any, state: BrainState, active: ArrayLike) -> tuple[Bool[Array, ""] | None, ...]:
    """Whether each fibre is active and its source fires: bool (), None where it is known not to."""
    active = checked_active("a round", len(brain.fibres), active)
    if not isinstance(active, np.ndarray):
        # In one operation: XLA repeats what it can wherever a part of it is used.
        fires = jnp.stack([*(area.fired for area in state.areas), jnp.asarray(True)])
        ends = [len(state.areas) if w.number is None else w.number for w in brain.wires]
        on = active & fires[np.array(ends, np.int32)]
        return Driving(on, [w.p > 0 for w in brain.wires])
    out: list[Any] = []
    for number, wire in enumerate(brain.wires):
        if wire.p == 0 or not active[number]:
            out.append(None)
            continue
        out.append(jnp.asarray(True if wire.number is None else state.areas[wire.number].fired))
    return tuple(out)


def _reached(brain: Any, driving: tuple, area: int) -> Bool[Array, ""] | None:
    """Whether any fibre drives an area; None where it is known that none does."""
    if isinstance(driving, Driving):
        there = np.array([wire.into == area and wire.p > 0 for wire in brain.wires])
        return jnp.any(driving.all & there) if there.any() else None
    into = [on for wire, on in zip(brain.wires, driving) if wire.into == area and on is not None]
    return None if not into else jnp.any(jnp.stack(into))


def _page(brain: Any, state: BrainState, driving: tuple, plastic: Bool[Any, ""] | bool) -> Page:
    """Rounds with learning are written down, and all in which a sampled area fires."""
    if isinstance(driving, Driving):
        sampled = np.array([wire.target.sampled for wire in brain.wires])
        return _numbered(brain, state, jnp.any(driving.all & (plastic | jnp.asarray(sampled))))
    asked = [
        on if wire.target.sampled else on & plastic
        for wire, on in zip(brain.wires, driving)
        if on is not None
    ]
    wanted = jnp.any(jnp.stack(asked)) if asked else jnp.asarray(False)
    return _numbered(brain, state, wanted)


def _numbered(brain: Any, state: BrainState, wanted: Bool[Array, ""]) -> Page:
    """The page of a round that is to be written down, if there is room."""
    number = state.remembered
    keep = wanted & (number < brain.rounds)
    bit = jnp.where(keep, jnp.uint32(1) << (number % 32).astype(jnp.uint32), jnp.uint32(0))
    return Page(jnp.minimum(number // 32, brain.words - 1), bit, number, wanted)


def _mark_before(area: AreaState, page: Page) -> AreaState:
    bit = jnp.where(area.fired, page.bit, jnp.uint32(0))
    return area._replace(before=area.before.at[area.cap, page.word].add(bit, mode="drop"))


def _mark_after(area: AreaState, page: Page, on: Bool[Array, ""]) -> AreaState:
    """The cap of an area that is fixed before it ever fired is nobody's."""
    bit = jnp.where(on & area.fired, page.bit, jnp.uint32(0))
    return area._replace(after=area.after.at[area.cap, page.word].add(bit, mode="drop"))


def _select(
    brain: Any,
    state: BrainState,
    number: int,
    driving: tuple,
    on: Bool[Array, ""],
    page: Page,
    plastic: Bool[Any, ""] | bool,
) -> tuple[AreaState, dict[int, Integer[Array, "..."]]]:
    """The area with its new cap, and synapses by fibre where they are new."""
    area, described = state.areas[number], brain.areas[number]
    moves = on & ~area.fixed
    if described.sampled:
        sums = _input_sums(brain, state, number, driving)
        area, synapses = sampled_cap(brain, state, number, driving, moves, sums, page)
        return _tired(area, described, moves & plastic), synapses
    kept = area.cap

    def won() -> Int32[Array, " k"]:
        if described.homeostasis:
            return k_cap(_balanced_input(brain, state, number, driving), described.k)
        return k_cap_wide(_input_sums(brain, state, number, driving), described.k)

    # With a mask that is known, an area that is reached here moves, but for one that is fixed.
    cap = jax.lax.cond(moves, won, lambda: kept)
    ever = area.ever.at[cap].get(mode="fill", fill_value=True)
    fresh = jnp.where(moves, jnp.sum(~ever, dtype=jnp.int32), 0)
    area = area._replace(
        cap=cap,
        fired=area.fired | moves,
        support=area.support + fresh,
        ever=area.ever.at[cap].set(ever | moves, mode="drop"),
    )
    return _tired(area, described, moves & plastic), {}


def _tired(area: AreaState, described: Any, counts: Bool[Array, ""]) -> AreaState:
    """Counts the wins of a refracted area, in rounds in which synapses learn."""
    if not described.refraction:
        return area
    return area._replace(wins=area.wins.at[area.cap].add(counts.astype(jnp.int32), mode="drop"))


def _with_synapses(state: BrainState, new: list[dict[int, Integer[Array, "..."]]]) -> tuple:
    """The fibres with the synapses of neurons that fired for the first time."""
    fibres = list(state.fibres)
    for some in new:
        for fibre, synapses in some.items():
            fibres[fibre] = fibres[fibre]._replace(synapses=synapses)
    return tuple(fibres)


def _input_sums(brain: Any, state: BrainState, number: int, driving: tuple) -> UInt32[Array, "n 2"]:
    """What the neurons of an area receive, less their refraction, on the grid: (N, 2)."""
    sums = jnp.zeros((brain.areas[number].places, 2), jnp.uint32)
    for fibre, (wire, on) in enumerate(zip(brain.wires, driving)):
        if wire.into == number and on is not None:
            sums = synaptic_input(
                sums, _firing(brain, state, fibre, on), _edges(brain, state, fibre)
            )
    if brain.areas[number].refraction:
        wins = jnp.minimum(state.areas[number].wins, 65_535)
        sums = wide_subtract(sums, wide_multiply(fixed_point(brain.refraction[number]), wins))
    return on_grid(sums)


def _balanced_input(
    brain: Any, state: BrainState, number: int, driving: tuple
) -> Float32[Array, " n"]:
    """The input of an area whose weights are divided by their sums, rounded: float32 (n,)."""
    described = brain.areas[number]
    total = jnp.zeros(described.n, jnp.float32)
    for fibre, (wire, on) in enumerate(zip(brain.wires, driving)):
        if wire.into == number and on is not None:
            sums = _fibre_sums(brain, state, fibre, on)
            all_weights = wide_to_float(state.fibres[fibre].sums)
            # A neuron without any synapse receives nothing.
            share = wide_to_float(sums) / jnp.maximum(all_weights, 1)
            balanced = state.areas[number].balanced
            total = total + jnp.where(balanced, share, wide_to_number(sums))
    if described.refraction:
        total = total - brain.refraction[number] * state.areas[number].wins.astype(jnp.float32)
    return nearly(total)


def input_of(brain: Any, state: BrainState, driving: tuple, number: int) -> Float32[Array, " n"]:
    """What an area would receive: float32 (N,)."""
    brain = without_derivative(brain)
    if brain.areas[number].homeostasis:
        return _balanced_input(brain, state, number, driving)
    return wide_to_number(_input_sums(brain, state, number, driving))


def _fibre_sums(
    brain: Any, state: BrainState, fibre: int, on: Bool[Array, ""]
) -> UInt32[Array, "n 2"]:
    sums = jnp.zeros((brain.wires[fibre].target.places, 2), jnp.uint32)
    return synaptic_input(sums, _firing(brain, state, fibre, on), _edges(brain, state, fibre))


def _edges(brain: Any, state: BrainState, fibre: int) -> Any:
    return edges_of(brain.wires[fibre], state.fibres[fibre])


def _firing(brain: Any, state: BrainState, fibre: int, on: Bool[Array, ""]) -> Firing:
    wire = brain.wires[fibre]
    target = state.areas[wire.into]
    cap, before = jnp.zeros(1, jnp.int32), jnp.zeros((1, brain.words), jnp.uint32)
    if wire.number is not None:
        cap, before = state.areas[wire.number].cap, state.areas[wire.number].before
    return Firing(on, cap, before, target.after, state.learned[fibre], brain.weights[fibre])


def _homeostasis(
    brain: Any,
    state: BrainState,
    areas: list,
    driving: tuple,
    page: Page,
    plastic: Bool[Any, ""] | bool,
) -> tuple:
    """Adds what the synapses have gained to the sums of all weights of a neuron."""
    out = list(state.fibres)
    for fibre, (wire, on) in enumerate(zip(brain.wires, driving)):
        if on is None or not wire.target.homeostasis or plastic is False:
            continue
        learned = _with_bit(state.learned, fibre, page, on & plastic)
        after = state._replace(areas=tuple(areas), learned=learned)
        if wire.number is not None:  # those that fired before the round
            sources = list(areas)
            old = state.areas[wire.number]
            sources[wire.number] = sources[wire.number]._replace(cap=old.cap)
            after = after._replace(areas=tuple(sources))
        gained = wide_subtract(
            _fibre_sums(brain, after, fibre, on), _fibre_sums(brain, state, fibre, on)
        )
        out[fibre] = out[fibre]._replace(sums=wide_add(out[fibre].sums, gained))
    return tuple(out)


def _with_bit(
    history: UInt32[Array, "fibres words"], fibre: int, page: Page, on: Bool[Array, ""]
) -> UInt32[Array, "fibres words"]:
    bit = jnp.where(on, page.bit, jnp.uint32(0))
    return history.at[fibre, page.word].add(bit)


def _turn(
    new: BrainState, driving: tuple, page: Page, plastic: Bool[Any, ""] | bool, old: BrainState
) -> BrainState:
    """Counts the round, and writes down which fibres were active and which learned."""
    active, learned = old.active, old.learned
    there = [fibre for fibre, on in enumerate(driving) if on is not None]
    if there:
        if isinstance(driving, Driving):
            there, on = list(range(len(driving))), driving.all
        else:
            on = jnp.stack([driving[fibre] for fibre in there])
        at = np.array(there, np.int32)
        zero = jnp.uint32(0)
        active = active.at[at, page.word].add(jnp.where(on, page.bit, zero))
        learned = learned.at[at, page.word].add(jnp.where(on & plastic, page.bit, zero))
    kept = (page.bit != 0).astype(jnp.int32)
    return new._replace(
        round=old.round + 1,
        remembered=old.remembered + kept,
        forgotten=old.forgotten + page.wanted.astype(jnp.int32) - kept,
        active=active,
        learned=learned,
    )
