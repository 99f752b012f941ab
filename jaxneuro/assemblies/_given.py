"""Checks of what a round is given."""

from typing import Any

import jax
import numpy as np

from .._text import brief
from ._state import BrainState


def checked_active(what: str, fibres: int, active: Any, ranks: tuple[int, ...] = (1,)) -> Any:
    """The mask of active fibres, a NumPy array if it was a list, or `ValueError`."""
    if not isinstance(active, jax.Array):
        active = np.asarray(active)
    if active.dtype != bool or active.shape[-1:] != (fibres,) or active.ndim not in ranks:
        shapes = " or ".join((f"({fibres},)", f"(rounds, {fibres})")[rank - 1] for rank in ranks)
        raise ValueError(
            f"{what}: active must be bool {shapes}, from brain.active(...); got "
            f"{active.dtype} {active.shape}"
        )
    return active


def check_of(what: str, brain: Any, state: Any) -> None:
    """Raises `ValueError` unless it is a state, or a batch of states, of a brain."""
    if not isinstance(state, BrainState):
        several = isinstance(state, tuple) and any(isinstance(x, BrainState) for x in state)
        got = "a tuple with one: ac.run returns (state, seen)" if several else brief(state)
        raise ValueError(
            f"{what}: state must be a BrainState, from brain.init(key) or a run; got {got}"
        )
    if state.origin is not None and state.origin != brain.origin:
        raise ValueError(
            f"{what}: the state must be one of this brain, which has the areas "
            f"{', '.join(brain.origin.names)}; it is of a brain with other areas, stimuli, fibres, "
            f"p or rounds (areas {', '.join(state.origin.names)}). Make one with brain.init(key)"
        )


def check_brain(what: str, brain: Any) -> None:
    """Raises `ValueError` unless it is a brain."""
    if not hasattr(brain, "origin") or isinstance(brain, BrainState):
        raise ValueError(f"{what}: the brain comes first, then its state; got {brief(brain)}")


def check_state(what: str, brain: Any, state: Any) -> None:
    """Raises `ValueError` unless it is one state of a brain, with the shapes of one."""
    check_brain(what, brain)
    if not isinstance(state, BrainState):
        check_of(what, brain, state)
    shapes = [(a.cap.shape, a.after.shape) for a in state.areas]
    wanted = [((a.k,), (a.places, brain.words)) for a in brain.areas]
    fibres = (len(brain.wires), brain.words)
    if shapes != wanted or state.learned.shape != fibres:
        raise ValueError(
            f"{what}: the state must be one of this brain: caps and histories of areas {wanted}, "
            f"history of fibres {fibres}; got {shapes}, {state.learned.shape}. A batch of states "
            "needs jax.vmap; a state of another brain must be made anew, by brain.init(key)"
        )
    check_of(what, brain, state)


def checked_plastic(what: str, plastic: Any, ranks: tuple[int, ...] = (0,)) -> Any:
    """Whether synapses learn: a bool or an array of them, or `ValueError`."""
    if not isinstance(plastic, jax.Array):
        plastic = np.asarray(plastic)
    if plastic.dtype != bool or plastic.ndim not in ranks:
        shapes = " or ".join(("one bool", "bool (rounds,)")[rank] for rank in ranks)
        raise ValueError(f"{what}: plastic must be {shapes}; got {plastic.dtype} {plastic.shape}")
    return plastic if plastic.ndim or isinstance(plastic, jax.Array) else bool(plastic)
