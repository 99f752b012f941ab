"""A state machine of assemblies, and areas whose assemblies are given blocks."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32

from .. import spec
from .._arrays import ArrayLike, is_traced
from .._text import counted, text_inside
from ..spec import InvalidValueError
from ._brain import Brain
from ._description import Area, Fibre
from ._state import BrainState

# --- Areas whose assemblies are given: one block of k neurons for each of some things.


def block(i: ArrayLike, k: int) -> Int32[Array, " k"]:
    """The neurons of a block, int32 (k,); -1, nobody, for -1."""
    i = jnp.asarray(i, jnp.int32)
    return jnp.where(i < 0, -1, i * k + jnp.arange(k, dtype=jnp.int32))


def fullest(
    cap: Int32[Array, " k"], k: int, blocks: int
) -> tuple[Int32[Array, ""], Float32[Array, ""]]:
    """The block with most neurons of a cap, int32 (), and the share of it that fires, float32 ().

    Of equal ones the first.
    """
    block = jnp.where(cap < 0, blocks, cap // k)
    count = jnp.zeros(blocks, jnp.int32).at[block].add(1, mode="drop")
    return jnp.argmax(count).astype(jnp.int32), jnp.max(count).astype(jnp.float32) / k


def in_order(things: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Each thing once, in the order in which they come first."""
    return tuple(dict.fromkeys(things))


def place_of(kind: str, thing: Hashable, known: Sequence[Hashable]) -> int:
    """The number of a thing, or `ValueError` listing the known ones."""
    if thing not in known:
        raise spec.unknown(kind, str(thing), [str(one) for one in known])
    return known.index(thing)


def check_arcs(what: str, arcs: int, k: int, n: int) -> None:
    """Raises `ValueError` unless every transition can have k neurons of its own."""
    if arcs * k > n:
        raise ValueError(
            f"{what}: {arcs} transitions of k = {k} neurons need {arcs * k:,} neurons in the arc "
            f"area; got n = {n:,}. Ask for n={2 * arcs * k} or more, or a smaller k"
        )


# --- Finite-state machines: an area whose assemblies are the transitions.


# Far more than any neuron receives: no neuron wins twice.
_ONCE = 1000.0


class Passed(NamedTuple):
    """What a machine did with a word.

    Attributes:
        states: int32 (length,) the number of the state after each symbol.
        share: float32 (length,) how much of the assembly of that state fired.
        accepted: bool () whether the last one is among those that accept.
    """

    states: Int32[Array, "*batch length"]
    share: Float32[Array, "*batch length"]
    accepted: Bool[Array, "*batch"]


class StateMachine(eqx.Module):
    """A deterministic finite-state machine in three areas.

    Each symbol and each state is an assembly of k neurons, in areas SYMBOL and STATE. Both drive
    ARC, in which an assembly forms for each transition, and ARC drives STATE. ARC is refracted, so
    that transitions do not share neurons.

    A transition is learned in two rounds: its state and its symbol drive ARC; then ARC drives
    STATE, where the next state is held. Running takes two rounds per symbol.

    By default each transition is presented once. The published program presents the list 15 times
    with beta 0.1 and a refraction that stays; here `StateMachine(..., k=70, n=5000, p=0.2,
    beta=0.1, presentations=15, refraction=8.0, rested=False)` does so.

    Attributes:
        brain: the areas.
        transitions: (state, symbol, next state) of any names.
        symbols, states: the names in the order in which they come first.
        start: a state.
        accepting: states.
        k: neurons of an assembly.
        n: neurons of ARC (None: 2.5 for each that is needed, at least 1000).
        p, beta: of all fibres.
        presentations: of all transitions.
        refraction: of ARC.
        rested: whether it ends after training.

    Raises:
        InvalidValueError: for no transition, two transitions of one state and symbol, an unknown
            start or accepting state, and more transitions than ARC has room for.

    Note:
        There each win adds beta times what the neuron received to its refraction; here each adds
        the same.

    Reference:
        Dabagia, Papadimitriou and Vempala (2025), Computation with sequences of assemblies in a
        model of the brain, Neural Computation 37 (1), arXiv:2306.03812;
        https://github.com/mdabagia/nemo.
    """

    brain: Brain
    transitions: tuple[tuple[int, int, int], ...] = eqx.field(static=True)
    symbols: tuple[Hashable, ...] = eqx.field(static=True)
    states: tuple[Hashable, ...] = eqx.field(static=True)
    start: int = eqx.field(static=True)
    accepting: tuple[int, ...] = eqx.field(static=True)
    k: int = eqx.field(static=True)
    presentations: int = eqx.field(static=True)
    rested: bool = eqx.field(static=True)

    __pdoc__ = text_inside

    def __repr__(self) -> str:
        """Numbers of states, symbols and transitions."""
        parts = (
            counted(len(self.states), "state"),
            counted(len(self.symbols), "symbol"),
            counted(len(self.transitions), "transition"),
        )
        return f"StateMachine: {', '.join(parts)}, assemblies of {counted(self.k, 'neuron')}"

    @spec.arguments(
        k=spec.Whole(1),
        n=spec.Maybe(spec.Whole()),
        presentations=spec.Whole(1),
        rested=spec.Flag(),
    )
    def __init__(
        self,
        transitions: Iterable[tuple[Hashable, Hashable, Hashable]],
        start: Hashable,
        accepting: Iterable[Hashable] = (),
        *,
        k: int = 30,
        n: int | None = None,
        p: float = 0.3,
        beta: ArrayLike = 4.0,
        presentations: int = 1,
        refraction: float = _ONCE,
        rested: bool = True,
    ) -> None:
        named = _checked_transitions(transitions)
        self.states = in_order(x for q, _, new in named for x in (q, new))
        self.symbols = in_order(symbol for _, symbol, _ in named)
        self.transitions = tuple(
            (self.states.index(q), self.symbols.index(a), self.states.index(new))
            for q, a, new in named
        )
        self.start = place_of("state (start)", start, self.states)
        if isinstance(accepting, str):  # whose letters would be states
            raise InvalidValueError(
                "StateMachine", "accepting", "a list of states", repr(accepting)
            )
        self.accepting = tuple(place_of("state (accepting)", x, self.states) for x in accepting)
        self.k = k
        self.presentations = spec.check(
            "StateMachine", "presentations", spec.Whole(1), presentations
        )
        self.rested = rested
        arcs = len(named)
        room = max(1000, 5 * arcs * k // 2) if n is None else n
        check_arcs("a machine", arcs, k, room)
        areas = [
            Area("SYMBOL", len(self.symbols) * k, k),
            Area("STATE", len(self.states) * k, k),
            Area("ARC", room, k, refraction=refraction),
        ]
        fibres = [Fibre("SYMBOL", "ARC"), Fibre("STATE", "ARC"), Fibre("ARC", "STATE")]
        self.brain = Brain(areas, [], fibres, p=p, beta=beta, rounds=2 * arcs * presentations)

    def train(self, key: Any) -> BrainState:
        """The state in which all transitions are learned; synapses follow from the key.

        `key` is an integer of at least 0, a JAX key, or a traced uint32. May be vmapped.
        """
        return _train(self, self.brain.init(key))

    def run(self, state: BrainState, word: Any) -> Passed:
        """Goes through a word from the start.

        `word` is a sequence of symbols, or an array int (length,) of their numbers (see `encode`),
        in which -1 passes nothing and leaves the state. Where a state has no transition for a
        symbol, some state follows, often with a small `share`. May be called inside `jit`, and
        vmapped over states and words.

        Raises:
            InvalidValueError: for an unknown symbol.
        """
        return _run(self, state, self._numbers(word))

    def encode(self, words: Sequence[Sequence[Hashable]]) -> Int32[np.ndarray, "words length"]:
        """The numbers of the symbols of several words: int32 (words, length), filled up with -1.

        Raises:
            InvalidValueError: for an unknown symbol.
        """
        length = max((len(word) for word in words), default=0)
        out = np.full((len(words), length), -1, np.int32)
        for row, word in zip(out, words):
            row[: len(word)] = [place_of("symbol", x, self.symbols) for x in word]
        return out

    def _numbers(self, word: Any) -> Int32[Array, " length"]:
        if not isinstance(word, np.ndarray | jax.Array):
            spec.check("StateMachine.run", "word", spec.Of(Sequence), word)
            return jnp.asarray(self.encode([word])[0])
        if not jnp.issubdtype(word.dtype, jnp.integer) or word.ndim != 1:
            raise InvalidValueError(
                "",
                "a word",
                (
                    "a sequence of symbols, or an array (length,) of their numbers (use jax.vmap "
                    "for several words)"
                ),
                f"{word.dtype} {word.shape}",
            )
        if not is_traced(word) and word.size:
            word, last = np.asarray(word), len(self.symbols) - 1
            least, most = int(word.min()), int(word.max())
            if least < -1 or most > last:
                raise InvalidValueError(
                    "",
                    "a word",
                    f"one with numbers of symbols from 0 to {last} (-1: none)",
                    f"{least} to {most}",
                )
        return jnp.asarray(word, jnp.int32)


def _checked_transitions(transitions: Any) -> list[tuple[Hashable, ...]]:
    named = [tuple(x) for x in transitions]
    if not named or any(len(x) != 3 for x in named):
        raise InvalidValueError(
            "",
            "a machine",
            "one with transitions (state, symbol, next state), at least one",
            f"{named[:3] or 'none'}",
        )
    first: dict[Any, tuple] = {}
    for one in named:
        other = first.setdefault(one[:2], one)
        if other is not one:
            raise InvalidValueError(
                "",
                "a machine",
                (
                    "one with one transition for a state and a symbol (for two that a coin decides "
                    "between, use ProbabilisticAutomaton)"
                ),
                f"{other} and {one}",
            )
    return named


@eqx.filter_jit
def _train(machine: StateMachine, state: BrainState) -> BrainState:
    brain, k = machine.brain, machine.k

    def one(state: BrainState, row: Int32[Array, "3"]) -> tuple[BrainState, None]:
        old, symbol, new = row[0], row[1], row[2]
        state = brain.with_cap(state, "SYMBOL", block(symbol, k))
        state = brain.with_cap(state, "STATE", block(old, k))
        state = brain.step(state, brain.active("SYMBOL->ARC", "STATE->ARC"))
        state = brain.fix(brain.with_cap(state, "STATE", block(new, k)), "STATE")
        state = brain.step(state, brain.active("ARC->STATE"))
        return brain.release(state, "STATE"), None

    rows = np.tile(np.array(machine.transitions, np.int32), (machine.presentations, 1))
    state, _ = lax.scan(one, state, jnp.asarray(rows))
    return brain.rest(state, "ARC") if machine.rested else state


@eqx.filter_jit
def _run(machine: StateMachine, state: BrainState, word: Int32[Array, " length"]) -> Passed:
    brain, k, count = machine.brain, machine.k, len(machine.states)

    def one(
        cap: Int32[Array, " k"], symbol: Int32[Array, ""]
    ) -> tuple[Int32[Array, " k"], tuple[Int32[Array, ""], Float32[Array, ""]]]:
        now = brain.with_cap(state, "SYMBOL", block(symbol, k))
        now = brain.with_cap(now, "STATE", cap)
        now = brain.step(now, brain.active("SYMBOL->ARC", "STATE->ARC"), False)
        now = brain.step(now, brain.active("ARC->STATE"), False)
        cap = jnp.where(symbol < 0, cap, brain.cap(now, "STATE"))
        return cap, fullest(cap, k, count)

    _, (states, share) = lax.scan(one, block(machine.start, k), word)
    last = states[-1] if word.shape[0] else jnp.int32(machine.start)
    accepting = jnp.asarray(np.isin(np.arange(count), machine.accepting))
    return Passed(states, share, accepting[last])
