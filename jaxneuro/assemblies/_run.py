"""Many rounds in one loop, and whether the history has room for them."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Int32, Integer

from .. import spec
from .._arrays import ArrayLike, is_traced
from ..spec import InvalidValueError
from ._brain import Brain
from ._state import BrainState, check_room_of_run, check_state, checked_active, checked_plastic


class Seen(NamedTuple):
    """What `run` saw: arrays (rounds, areas), in the order of `brain.area_names`.

    Attributes:
        support: how many neurons ever fired.
        kept: how many of the cap were in the cap of the round before (0 without one).
    """

    support: Int32[Array, "*rounds areas"]
    kept: Int32[Array, "*rounds areas"]

    def __repr__(self) -> str:
        shape = getattr(self.support, "shape", ())
        last = ""
        if isinstance(self.support, jax.Array | np.ndarray) and not is_traced(self.support):
            x = np.asarray(self.support)
            last = f"; support at the end {x[-1].tolist()}" if x.ndim == 2 and len(x) else ""
        return f"Seen: support and kept {shape}, (rounds, areas){last}"


@spec.arguments(brain=spec.Of(Brain))
def run(
    brain: Brain,
    state: BrainState,
    active: ArrayLike,
    rounds: int | None = None,
    plastic: ArrayLike = True,
) -> tuple[BrainState, Seen]:
    """Some rounds: the state after them, and what was seen.

    `active` bool (F,) the fibres of all rounds (`brain.active`), or (rounds, F) those of each;
    `plastic` whether synapses learn, one bool or (rounds,). `lax.scan` over `brain.step`, so it may
    be called inside `jit`, `vmap` and `scan`.

    Raises:
        InvalidValueError: for an `active` or `plastic` of another shape or dtype, a state of
            another brain, and more rounds than the brain remembers, as far as they are known
            before.
    """
    check_state("run", brain, state)
    plan = _plan(brain, active, rounds, plastic)
    _check_room(brain, state, active, plastic, plan[-1])
    return _run(brain, state, *plan)


def _check_room(
    brain: Brain, state: BrainState, active: ArrayLike, plastic: ArrayLike, rounds: int
) -> None:
    if not is_traced(active):
        active = np.broadcast_to(np.asarray(active), (rounds, len(brain.fibres)))
        check_room_of_run("run", brain, state, active, plastic)


def _plan(brain: Brain, active: ArrayLike, rounds: Any, plastic: Any) -> tuple[Any, ...]:
    """`active` and `plastic`, what of them is known for all rounds, and how many rounds."""
    active = checked_active("run", len(brain.fibres), active, ranks=(1, 2))
    plastic = checked_plastic("run", plastic, ranks=(0, 1))
    active = active if is_traced(active) else np.asarray(active)
    plastic = plastic if is_traced(plastic) else np.asarray(plastic)
    lengths = {x.shape[0] for x, rank in ((active, 2), (plastic, 1)) if x.ndim == rank}
    if rounds is not None:
        lengths.add(spec.check("run", "rounds", spec.Whole(), rounds))
    if len(lengths) != 1:
        raise InvalidValueError(
            "run",
            "rounds",
            "given once, or agree with the first axis of active and plastic",
            str(sorted(lengths) or "none"),
        )
    fixed = Fixed(None, None)
    each_active, each_plastic = active, plastic
    if active.ndim == 1 and not is_traced(active):
        fixed, each_active = fixed._replace(active=tuple(active.tolist())), None
    if plastic.ndim == 0 and not is_traced(plastic):
        fixed, each_plastic = fixed._replace(plastic=bool(plastic)), None
    return each_active, each_plastic, fixed, lengths.pop()


class Fixed(NamedTuple):
    """What is known before a program is compiled; None where it is not."""

    active: tuple[bool, ...] | None
    plastic: bool | None


@eqx.filter_jit
def _run(
    brain: Brain, state: BrainState, active: Any, plastic: Any, fixed: Fixed, rounds: int
) -> tuple[BrainState, Seen]:
    given = {"active": (active, 2), "plastic": (plastic, 1)}
    each = {name: x for name, (x, rank) in given.items() if x is not None and x.ndim == rank}

    def one(state: BrainState, now: dict[str, Any]) -> tuple[BrainState, Seen]:
        known = None if fixed.active is None else np.array(fixed.active, bool)
        fibres = now.get("active", active) if known is None else known
        learn = fixed.plastic if fixed.plastic is not None else now.get("plastic", plastic)
        new = brain.step(state, fibres, learn)
        return new, seen(state, new)

    return lax.scan(one, state, each, length=rounds)


def seen(old: BrainState, new: BrainState) -> Seen:
    """What there is to see of a round."""
    support = jnp.stack([area.support for area in new.areas])
    kept = [
        jnp.where(a.fired, shared_neurons(a.cap, b.cap, a.after.shape[0]), 0)
        for a, b in zip(old.areas, new.areas)
    ]
    return Seen(support, jnp.stack(kept))


def shared_neurons(
    a: Integer[Array, " a"], b: Integer[Array, " b"], nobody: int
) -> Int32[Array, ""]:
    """How many neurons two caps share: int32 (). Both ascend; from `nobody` on is no neuron."""
    place = jnp.minimum(jnp.searchsorted(a, b), a.shape[0] - 1)
    return jnp.sum((a[place] == b) & (b < nobody), dtype=jnp.int32)
