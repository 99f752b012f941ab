"""Reading and setting the areas of a state, for the methods of `Brain`."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from .._checks import is_traced
from ._state import AreaState, BrainState


def changed(state: BrainState, number: int, **fields: Any) -> BrainState:
    """The state with other fields of an area."""
    areas = list(state.areas)
    areas[number] = areas[number]._replace(**fields)
    return state._replace(areas=tuple(areas))


def silent(brain: Any, state: BrainState, names: Any, yes: Any) -> BrainState:
    """The state in which some areas have no cap, where `yes` (bool, may be traced)."""
    for name in names:
        number: int = brain.number(name)
        area, yes = state.areas[number], jnp.asarray(yes, bool)
        cap = jnp.where(yes, brain.areas[number].places, area.cap)
        state = changed(state, number, cap=cap, fired=area.fired & ~yes)
    return state


def with_cap(brain: Any, state: BrainState, name: str, neurons: Any) -> BrainState:
    """See `Brain.with_cap`."""
    number = brain.number(name)
    described, area = brain.areas[number], state.areas[number]
    shape = np.shape(neurons)
    if len(shape) != 1 or shape[0] > described.k:
        raise ValueError(
            f"area {name!r}: a cap must be at most k = {described.k} neurons, an array (m,) of "
            f"whole numbers; got shape {shape}"
        )
    if not is_traced(neurons):
        neurons = np.asarray(neurons) if shape[0] else np.zeros(0, np.int32)  # [] is floating
    if neurons.dtype.kind not in "iu":
        raise ValueError(f"area {name!r}: a cap must be whole numbers; got {neurons.dtype}")
    if not is_traced(neurons):
        _check(name, described, area, neurons)
    neurons = jnp.asarray(neurons, jnp.int32)
    neurons = jnp.where(neurons < 0, described.places, neurons)
    cap = jnp.full(described.k, described.places, jnp.int32).at[: shape[0]].set(neurons)
    cap = jnp.sort(cap)
    fired = cap[0] < described.places
    if described.sampled:
        return changed(state, number, cap=cap, fired=fired)
    old = area.ever.at[cap].get(mode="fill", fill_value=True)
    ever = area.ever.at[cap].set(True, mode="drop")
    fresh = jnp.sum(~old, dtype=jnp.int32)
    return changed(state, number, cap=cap, fired=fired, ever=ever, support=area.support + fresh)


def _check(name: str, described: Any, area: AreaState, neurons: np.ndarray) -> None:
    most, what = described.n, "one below n"
    if described.sampled and not is_traced(area.support):
        most, what = int(area.support), "one below the number of those that ever fired"
    some = neurons[neurons != -1]
    if some.size and (some.min() < 0 or some.max() >= most or np.unique(some).size != some.size):
        raise ValueError(
            f"area {name!r}: a cap must be different neurons from 0 to {most - 1:,}, {what} (-1 is "
            f"nobody); got {some.min()} to {some.max()}, {np.unique(some).size} different of "
            f"{some.size}"
        )


def check(brain: Any, state: BrainState) -> None:
    """See `Brain.check`."""
    if any(is_traced(x) for x in (state.forgotten, *(area.lost for area in state.areas))):
        raise ValueError("check: the state must be known; call it after the run, outside of jit")
    found = shortages(brain, state)
    if found:
        raise ValueError("; ".join(found))


def shortages(brain: Any, state: BrainState) -> list[str]:
    """What did not fit, and what to ask for; of a batch of states the most of each."""
    found, forgotten = [], int(np.max(np.asarray(state.forgotten), initial=0))
    if forgotten:
        found.append(
            f"{forgotten} rounds had no room in the history of rounds={brain.rounds}: what was "
            f"learned in them is lost; ask for Brain(..., rounds={brain.rounds + forgotten})"
        )
    for described, area in zip(brain.areas, state.areas):
        lost = int(np.max(np.asarray(area.lost), initial=0))
        if lost:
            found.append(
                f"area {described.name!r}: {lost} neurons that should have fired had no room among "
                f"capacity={described.capacity}; ask for "
                f"capacity={described.capacity + 2 * lost} or more"
            )
    return found
