"""The state of a brain: reading, setting and checking it."""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32, Integer, UInt32

from .._arrays import AnyArray, ArrayLike, is_traced
from .._text import brief, counted, megabytes
from ..spec import InvalidValueError

# --- The state of a brain: caps, and the history from which all weights follow.


# The limit of a round in which no neuron could have won: see `_sampled.py`.
NEVER = np.array([[0xFFFFFFFF, 0x7FFFFFFF, 0]], np.uint32)


class AreaState(NamedTuple):
    """What an area holds. N are its neurons, or the places of a sampled area.

    What an area does not need has length 0. Only sampled areas need ranks and limits.

    Attributes:
        cap: int32 (k,) the neurons that fired last, ascending.
        fired: whether there is a cap.
        fixed: whether it stays.
        balanced: whether homeostasis divides what it receives.
        support: int32 how many neurons ever fired.
        ever: bool (N,) which (listed areas).
        wins: int32 (N,) how often, since the last rest (refracted areas).
        before, after: uint32 (N, words): a bit for each remembered round in which the neuron was in
            the cap before or after it.
        key: uint32 (2,) of its draws.
        rank: uint32 (N,) by which equal inputs are ordered: the lower one wins.
        limits: uint32 (rounds, 3) input and rank of the last winner of each remembered round.
        lost: int32 how many new neurons should have fired and had no room.
    """

    cap: Int32[Array, "*batch k"]
    fired: Bool[Array, "*batch"]
    fixed: Bool[Array, "*batch"]
    balanced: Bool[Array, "*batch"]
    support: Int32[Array, "*batch"]
    ever: Bool[Array, "*batch n"]
    wins: Int32[Array, "*batch n"]
    before: UInt32[Array, "*batch n words"]
    after: UInt32[Array, "*batch n words"]
    key: UInt32[Array, "*batch 2"]
    rank: UInt32[Array, "*batch n"]
    limits: UInt32[Array, "*batch rounds 3"]
    lost: Int32[Array, "*batch"]


class FibreState(NamedTuple):
    """What a fibre holds.

    Attributes:
        key: uint32 (2,) of its draws.
        synapses: what is stored of them: see `_kernels/edges.py`.
        sums: uint32 (n, 2) of all weights of a neuron (homeostasis), or (0, 2).
    """

    key: UInt32[Array, "*batch 2"]
    synapses: Integer[Array, "..."]
    sums: UInt32[Array, "*batch n 2"]


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Origin:
    """Which brain a state is of: no leaf, so it is known under `jit` and `vmap`, too.

    Attributes:
        names: those of the areas.
        bits: a digest of all that shapes and synapses follow from.
    """

    names: tuple[str, ...]
    bits: str


class BrainState(NamedTuple):
    """The state of a brain.

    Attributes:
        seed: uint32.
        round: int32 rounds so far.
        remembered: int32 rounds in the history.
        forgotten: int32 rounds that had no room in it.
        active, learned: uint32 (F, words) a bit for each remembered round in which a fibre was
            active, and in which it learned.
        areas: a tuple of `AreaState`.
        fibres: a tuple of `FibreState`.
        origin: the brain that it is of, no leaf.
    """

    seed: UInt32[Array, "*batch"]
    round: Int32[Array, "*batch"]
    remembered: Int32[Array, "*batch"]
    forgotten: Int32[Array, "*batch"]
    active: UInt32[Array, "*batch fibres words"]
    learned: UInt32[Array, "*batch fibres words"]
    areas: tuple[AreaState, ...]
    fibres: tuple[FibreState, ...]
    origin: Origin | None = None

    def __repr__(self) -> str:
        rounds = "traced rounds" if is_traced(self.round) else counted(_number(self.round), "round")
        size = sum(x.nbytes for x in jax.tree.leaves(tuple(self)) if hasattr(x, "nbytes"))
        areas = counted(len(self.areas or ()), "area")
        return f"BrainState: after {rounds}, {areas}{self._silent()}, {megabytes(size)}"

    def _silent(self) -> str:
        """Which areas never fired, in brackets, once there were rounds."""
        known = [*(a.support for a in self.areas or ()), self.round]
        if self.origin is None or any(map(is_traced, known)) or not _number(self.round):
            return ""
        pairs = zip(self.origin.names, known)
        names = [name for name, x in pairs if np.size(x) and not np.any(np.asarray(x))]
        return f" (never fired: {', '.join(names)})" if names else ""


def _number(value: Any) -> Any:
    """One number, or the last of many: a state under `vmap` has a round per seed."""
    found = np.asarray(value)
    return int(found.ravel()[-1]) if found.size and found.dtype.kind in "iu" else 0


# --- Checks of what a round is given.


@contextlib.contextmanager
def on_host(what: str, **values: Any) -> Iterator[None]:
    """Around code that reads numbers on the host; inside `jit` it runs at once, while tracing.

    Raises:
        InvalidValueError: for a value that is traced.
    """
    for name, value in values.items():
        if any(map(is_traced, jax.tree.leaves(value))):
            must = "a known one (call it outside of jit, vmap and grad)"
            raise InvalidValueError(what, name, must, "a traced one")
    with jax.ensure_compile_time_eval():
        yield


def checked_active(
    what: str, fibres: int, active: ArrayLike, ranks: tuple[int, ...] = (1,)
) -> Bool[AnyArray, "*rounds fibres"]:
    """The mask of active fibres, a NumPy array if it was a list, or `ValueError`."""
    if not isinstance(active, jax.Array):
        active = np.asarray(active)
    if active.dtype != bool or active.shape[-1:] != (fibres,) or active.ndim not in ranks:
        shapes = " or ".join((f"({fibres},)", f"(rounds, {fibres})")[rank - 1] for rank in ranks)
        raise InvalidValueError(
            what,
            "active",
            f"bool {shapes}, from brain.active(...)",
            f"{active.dtype} {active.shape}",
        )
    return active


def check_of(what: str, brain: Any, state: Any) -> None:
    """Raises `ValueError` unless it is a state, or a batch of states, of a brain."""
    if not isinstance(state, BrainState):
        several = isinstance(state, tuple) and any(isinstance(x, BrainState) for x in state)
        got = "a tuple with one: ac.run returns (state, seen)" if several else brief(state)
        raise InvalidValueError(
            what, "state", "a BrainState, from brain.init(key) or a run", str(got)
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
        raise InvalidValueError(
            what,
            "the state",
            (
                f"one of this brain: caps and histories of areas {wanted}, history of fibres "
                f"{fibres} (a batch of states needs jax.vmap; a state of another brain must be "
                "made anew, by brain.init(key))"
            ),
            f"{shapes}, {state.learned.shape}",
        )
    check_of(what, brain, state)


def checked_plastic(what: str, plastic: ArrayLike, ranks: tuple[int, ...] = (0,)) -> Any:
    """Whether synapses learn: a bool or an array of them, or `ValueError`."""
    if not isinstance(plastic, jax.Array):
        plastic = np.asarray(plastic)
    if plastic.dtype != bool or plastic.ndim not in ranks:
        shapes = " or ".join(("one bool", "bool (rounds,)")[rank] for rank in ranks)
        raise InvalidValueError(what, "plastic", str(shapes), f"{plastic.dtype} {plastic.shape}")
    return plastic if plastic.ndim or isinstance(plastic, jax.Array) else bool(plastic)


# --- Reading and setting the areas of a state, for the methods of `Brain`.


def changed(state: BrainState, number: int, **fields: Any) -> BrainState:
    """The state with other fields of an area."""
    areas = list(state.areas)
    areas[number] = areas[number]._replace(**fields)
    return state._replace(areas=tuple(areas))


def silent(brain: Any, state: BrainState, names: Any, yes: ArrayLike) -> BrainState:
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
        raise InvalidValueError(
            f"area {name!r}",
            "a cap",
            f"at most k = {described.k} neurons, an array (m,) of whole numbers",
            f"shape {shape}",
        )
    if not is_traced(neurons):
        neurons = np.asarray(neurons) if shape[0] else np.zeros(0, np.int32)  # [] is floating
    if neurons.dtype.kind not in "iu":
        raise InvalidValueError(f"area {name!r}", "a cap", "whole numbers", str(neurons.dtype))
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


def _check(name: str, described: Any, area: AreaState, neurons: Integer[np.ndarray, " m"]) -> None:
    most, what = described.n, "one below n"
    if described.sampled and not is_traced(area.support):
        most, what = int(area.support), "one below the number of those that ever fired"
    some = neurons[neurons != -1]
    if some.size and (some.min() < 0 or some.max() >= most or np.unique(some).size != some.size):
        raise InvalidValueError(
            f"area {name!r}",
            "a cap",
            f"different neurons from 0 to {most - 1:,}, {what} (-1 is nobody)",
            f"{some.min()} to {some.max()}, {np.unique(some).size} different of {some.size}",
        )


def check(brain: Any, state: BrainState) -> None:
    """See `Brain.check`."""
    with on_host("check", state=state):
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


# --- Whether a brain has room to remember some rounds, asked before they are run.


def check_room(what: str, brain: Any, state: Any, rounds: int) -> None:
    """Raises `ValueError` if a brain cannot remember so many more rounds with learning."""
    past = _past(state)
    if past + rounds > brain.rounds:
        some = any(area.sampled for area in brain.areas)
        kind = " with learning, or in which a sampled area fires," if some else " with learning"
        raise ValueError(
            f"{what} takes {counted(rounds, 'round')}{kind} after {past} that the brain remembers, "
            f"and it can remember rounds={brain.rounds}: ask for Brain(..., "
            f"rounds={past + rounds}){'' if some else ', or let nothing learn: plastic=False'}"
        )


def check_room_of_run(
    what: str,
    brain: Any,
    state: Any,
    active: Bool[AnyArray, "rounds fibres"],
    plastic: ArrayLike,
) -> None:
    """The same for rounds with fibres that are active, (rounds, F), and whether each learns.

    What is traced counts as little as it may: of a state what it remembers, of fibres and learning
    all. Areas of a traced state count as firing.
    """
    if is_traced(active):
        return
    wires = brain.wires
    learns = False if is_traced(plastic) else np.asarray(plastic)
    sampled = np.array([w.target.sampled for w in wires], bool)
    there = np.asarray(active) & np.array([w.p > 0 for w in wires], bool)
    written = there & (sampled | np.broadcast_to(learns, len(there))[:, None])
    if _past(state) + int(written.any(1).sum()) <= brain.rounds:
        return
    source = np.array([-1 if w.number is None else w.number for w in wires])
    into = np.array([w.into for w in wires])
    fires = np.array([*(_known(a.fired, True) for a in state.areas), True])  # last: the stimuli
    moves = ~np.array([_known(a.fixed, False) for a in state.areas])
    rounds = 0
    for now, marked in zip(there, written):
        on = fires[source]
        rounds += bool((marked & on).any())
        reached = into[now & on]
        fires[reached] |= moves[reached]
    check_room(what, brain, state, rounds)


def _past(state: Any) -> int:
    return 0 if is_traced(state.remembered) else int(np.max(np.asarray(state.remembered)))


def _known(value: Any, otherwise: bool) -> bool:
    return otherwise if is_traced(value) else bool(value)
