"""Probabilistic automata: a machine that flips a coin, and the coin."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Integer, UInt32

from .. import spec
from .._arrays import ArrayLike
from .._kernels.k_cap import k_cap
from .._numerics.streams import bits, seed_of, stream_key
from ..spec import InvalidValueError
from ._brain import Brain
from ._description import Area, Fibre
from ._machine import block, check_arcs, fullest, in_order, place_of
from ._state import BrainState, on_host

_ONCE = 1000.0  # as in _machine.py
_SETTLE = 20  # rounds from random neurons to a side of the coin


class Generated(NamedTuple):
    """What an automaton generated.

    Attributes:
        words: int32 (length,) numbers of the words.
        states: int32 (length,) of the state after each.
        heads: bool (length,) how the coin fell.
        share: float32 (length,) how much of the assembly of the word fired.
    """

    words: Int32[Array, "*batch length"]
    states: Int32[Array, "*batch length"]
    heads: Bool[Array, "*batch length"]
    share: Float32[Array, "*batch length"]


class ProbabilisticAutomaton(eqx.Module):
    """An automaton that flips a coin before each transition, and says a word in each.

    The coin is an area with two assemblies, heads and tails. k random neurons of it fire; its
    recurrent synapses bring that to one of the two. STATE and COIN drive ARC, in which an assembly
    forms for each state and side; ARC drives STATE and WORD. As random neurons are all that is
    random, a coin is not fair: for one connectome it falls on heads 0.3 to 0.7 of the time, in the
    mean of many half the time.

    Attributes:
        brain: the areas.
        transitions: (state, word, next state) of any names: the first of a state is for heads, the
            second for tails, and a single one for both.
        words, states: the names in the order in which they come first.
        start: a state.
        k: neurons of an assembly.
        n: neurons of ARC (None: 2.5 for each that is needed, at least 1000).
        p, beta: of its fibres.

    Raises:
        InvalidValueError: for no transition, three of one state, an unknown start, and more
            transitions than ARC has room for.

    Note:
        There transitions are presented 15 times, and the coin has p = 0.25, one round of training
        and 10 of settling: some random neurons then end on neither side.

    Reference:
        Dabagia, Papadimitriou and Vempala (2025), Computation with sequences of assemblies in a
        model of the brain, Neural Computation 37 (1), arXiv:2306.03812;
        Dabagia, Mitropolsky, Papadimitriou and Vempala (2024), "Coin-Flipping In The Brain",
        arXiv:2406.07715; https://github.com/mdabagia/nemo.
    """

    brain: Brain
    transitions: tuple[tuple[int, int, int, int], ...] = eqx.field(static=True)
    words: tuple[Hashable, ...] = eqx.field(static=True)
    states: tuple[Hashable, ...] = eqx.field(static=True)
    start: int = eqx.field(static=True)
    k: int = eqx.field(static=True)

    @spec.arguments(
        k=spec.Whole(1),
        n=spec.Maybe(spec.Whole()),
    )
    def __init__(
        self,
        transitions: Iterable[tuple[Hashable, Hashable, Hashable]],
        start: Hashable,
        *,
        k: int = 30,
        n: int | None = None,
        p: float = 0.25,
        beta: ArrayLike = 4.0,
    ) -> None:
        named = _checked_transitions(transitions)
        self.states = in_order(x for q, _, new in named for x in (q, new))
        self.words = in_order(word for _, word, _ in named)
        self.transitions = _with_sides(named, self.states, self.words)
        self.start = place_of("state (start)", start, self.states)
        self.k = k
        arcs = len(self.transitions)
        room = max(1000, 5 * arcs * k // 2) if n is None else n
        check_arcs("an automaton", arcs, k, room)
        areas = [
            Area("STATE", len(self.states) * k, k),
            Area("COIN", 14 * k, k),
            Area("ARC", room, k, refraction=_ONCE),
            Area("WORD", len(self.words) * k, k),
        ]
        fibres = [Fibre("STATE", "ARC"), Fibre("COIN", "ARC"), Fibre("ARC", "STATE")]
        fibres += [Fibre("ARC", "WORD"), Fibre("COIN", "COIN", p=0.5, beta=3.0)]
        self.brain = Brain(areas, [], fibres, p=p, beta=beta, rounds=4 + 2 * arcs)

    def train(self, key: Any) -> BrainState:
        """The state in which the coin and all transitions are learned.

        `key` is an integer of at least 0, a JAX key, or a traced uint32. May be vmapped.
        """
        return _train(self, self.brain.init(key))

    @spec.arguments(length=spec.Whole(1))
    def generate(self, state: BrainState, key: Any, length: int) -> Generated:
        """A sequence of words from the start, with the flips that follow from the key.

        May be called inside `jit`, and vmapped over states and keys. After a state without
        transitions words are arbitrary.

        Raises:
            InvalidValueError: for a length below 1.
        """
        return _generate(self, state, jnp.asarray(seed_of(key)), length)

    @spec.arguments(count=spec.Whole(1))
    def flips(
        self, state: BrainState, key: Any, count: int
    ) -> tuple[Bool[Array, " count"], Float32[Array, " count"]]:
        """How the coin falls: bool (count,) heads, and float32 (count,) the share of its side."""
        return _flips(self, state, jnp.asarray(seed_of(key)), count)

    def decode(self, words: ArrayLike) -> list[Any]:
        """The words of their numbers, int (..., length), as nested lists."""
        with on_host("decode", words=words):
            words = np.asarray(words)
        return [self.words[int(x)] if np.ndim(x) == 0 else self.decode(x) for x in words]


def _checked_transitions(transitions: Any) -> list[tuple[Hashable, ...]]:
    named = [tuple(x) for x in transitions]
    if not named or any(len(x) != 3 for x in named):
        raise InvalidValueError(
            "",
            "an automaton",
            "one with transitions (state, word, next state), at least one",
            f"{named[:3] or 'none'}",
        )
    if any(isinstance(name, float) for x in named for name in x):
        raise ValueError(
            "an automaton: transitions are (state, word, next state); got a number in one of them. "
            "Probabilities are not given: a coin of two sides decides"
        )
    return named


def _with_sides(
    named: list[tuple[Hashable, ...]], states: Sequence[Hashable], words: Sequence[Hashable]
) -> tuple[tuple[int, int, int, int], ...]:
    """State, side of the coin, next state and word of each transition, one for each side."""
    out = []
    for number, state in enumerate(states):
        choices = [(states.index(new), words.index(w)) for q, w, new in named if q == state]
        if len(choices) > 2:
            raise ValueError(
                f"a coin has two sides: state {state!r} must have at most two transitions, it has "
                f"{len(choices)}. Choose among more in two steps, through a state in between"
            )
        for side in (0, 1) if choices else ():
            out.append((number, side, *choices[min(side, len(choices) - 1)]))
    return tuple(out)


@eqx.filter_jit
def _train(machine: ProbabilisticAutomaton, state: BrainState) -> BrainState:
    brain, k = machine.brain, machine.k

    def side(state: BrainState, which: Integer[Array, ""]) -> tuple[BrainState, None]:
        state = brain.with_cap(state, "COIN", _side(which, k))
        return brain.step(state, brain.active("COIN->COIN")), None

    def one(state: BrainState, row: Int32[Array, "4"]) -> tuple[BrainState, None]:
        state = brain.with_cap(state, "STATE", block(row[0], k))
        state = brain.with_cap(state, "COIN", _side(row[1], k))
        state = brain.step(state, brain.active("STATE->ARC", "COIN->ARC"))
        for name, held in (("STATE", row[2]), ("WORD", row[3])):
            state = brain.fix(brain.with_cap(state, name, block(held, k)), name)
        state = brain.step(state, brain.active("ARC->STATE", "ARC->WORD"))
        return brain.release(brain.release(state, "STATE"), "WORD"), None

    # Each side twice: then no flip ends between the two.
    state, _ = lax.scan(side, brain.fix(state, "COIN"), jnp.asarray(np.array([0, 0, 1, 1])))
    rows = jnp.asarray(np.array(machine.transitions, np.int32))
    state, _ = lax.scan(one, brain.release(state, "COIN"), rows)
    return brain.rest(state, "ARC")


def _side(which: Integer[Array, ""], k: int) -> Int32[Array, " k"]:
    """The neurons of heads (0) and tails (1): of the first 2 k, in the pattern 0 1 1 0.

    Of equal inputs the lower index wins, which must favour neither side.
    """
    i = jnp.arange(k, dtype=jnp.int32)
    return 2 * i + (i + which) % 2


def _fallen(cap: Int32[Array, " k"], k: int) -> tuple[Int32[Array, ""], Float32[Array, ""]]:
    """The side with most neurons of a cap of the coin, and the share of it that fires."""
    tails = jnp.where(cap % 4 % 3 > 0, k, 0)  # the first neuron of a block of k
    return fullest(jnp.where(cap < 2 * k, tails, 2 * k), k, 2)


def _flip(
    machine: ProbabilisticAutomaton,
    state: BrainState,
    seed: UInt32[Array, ""],
    number: UInt32[Array, ""],
) -> Int32[Array, " k"]:
    """The cap of the coin after the flip of a number."""
    brain, k = machine.brain, machine.k
    key = stream_key(seed, "COIN", "flips")
    word, _ = bits(key, np.arange(14 * k, dtype=np.uint32), number)
    state = brain.with_cap(state, "COIN", k_cap(word, k))

    def one(state: BrainState, _: None) -> tuple[BrainState, None]:
        return brain.step(state, brain.active("COIN->COIN"), False), None

    return brain.cap(lax.scan(one, state, length=_SETTLE)[0], "COIN")


@eqx.filter_jit
def _flips(
    machine: ProbabilisticAutomaton, state: BrainState, seed: UInt32[Array, ""], count: int
) -> tuple[Bool[Array, " count"], Float32[Array, " count"]]:
    def one(number: UInt32[Array, ""]) -> tuple[Int32[Array, ""], Float32[Array, ""]]:
        return _fallen(_flip(machine, state, seed, number), machine.k)

    side, share = jax.vmap(one)(jnp.arange(count, dtype=jnp.uint32))
    return side == 0, share


@eqx.filter_jit
def _generate(
    machine: ProbabilisticAutomaton, state: BrainState, seed: UInt32[Array, ""], length: int
) -> Generated:
    brain, k = machine.brain, machine.k

    def one(
        cap: Int32[Array, " k"], number: UInt32[Array, ""]
    ) -> tuple[Int32[Array, " k"], Generated]:
        coin = _flip(machine, state, seed, number)
        now = brain.with_cap(brain.with_cap(state, "COIN", coin), "STATE", cap)
        now = brain.step(now, brain.active("STATE->ARC", "COIN->ARC"), False)
        now = brain.step(now, brain.active("ARC->STATE", "ARC->WORD"), False)
        cap = brain.cap(now, "STATE")
        word, share = fullest(brain.cap(now, "WORD"), k, len(machine.words))
        heads = _fallen(coin, k)[0] == 0
        return cap, Generated(word, fullest(cap, k, len(machine.states))[0], heads, share)

    numbers = jnp.arange(length, dtype=jnp.uint32)
    return lax.scan(one, block(machine.start, k), numbers)[1]
