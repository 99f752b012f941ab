"""`Parser`: a brain with the areas of a grammar, which hears sentences."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..._checks import check_bounds, check_count, check_kind
from .._brain import Brain
from .._description import Area, Fibre
from .._state import BrainState
from ._grammar import LEX, Grammar
from ._script import Do

Caps = tuple[Any, ...]  # what fires in each area

# Weights stay far below what an earlier assembly is refracted by, whatever beta is.
_CEILING, _REFRACTION = 2.0**12, 2.0**20


def brain_of(
    grammar: Grammar,
    *,
    n: int,
    k: int,
    lex_k: int,
    p: float,
    beta: tuple[float, float, float],
    rounds: int,
) -> Brain:
    """The brain of a grammar; `rounds` those that it remembers."""
    lex_beta, link_beta, chain_beta = beta
    lexicon = Area(LEX, lex_k * len(grammar.lemmas), lex_k)
    # Drawn again in each round: to store these synapses takes longer than some forty sentences, and
    # sampled areas number their neurons anew in each branch of the readout.
    areas = [Area(x, n, k, refraction=_REFRACTION) for x in grammar.areas]
    fibres = []
    for a, b in grammar.fibres:
        grows = chain_beta if a == b else lex_beta if LEX in (a, b) else link_beta
        for source, target in dict.fromkeys([(a, b), (b, a)]):
            fibres.append(Fibre(source, target, p=p, beta=grows, w_max=_CEILING))
    return Brain([lexicon, *areas], fibres=fibres, rounds=rounds)


def hear(
    brain: Brain, state: BrainState, script: Sequence[Do], rounds: int
) -> tuple[BrainState, list[Caps]]:
    """The state after a sentence, and what fired after each phase of `rounds` rounds.

    An assembly forms in the first round of a phase. It is held in the others, so that refraction,
    which keeps neurons of earlier assemblies silent, does not dissolve it.
    """
    heard = []
    for do in script:
        state = _phase(brain, state, do, np.int32(rounds))
        heard.append(caps_of(state))
    return state, heard


def fire(brain: Brain, state: BrainState, caps: Caps, active: np.ndarray) -> Caps:
    """What fires after one round without learning and refraction, in which no area is held."""
    yes, no = np.array(True), np.array(False)
    do = Do(np.int32(-1), active, np.zeros_like(active), np.ones(len(caps), bool), no, no)
    areas = [a._replace(cap=c, fired=yes) for a, c in zip(state.areas, caps)]
    return caps_of(_phase(brain, state._replace(areas=tuple(areas)), do, np.int32(1)))


def caps_of(state: BrainState) -> Caps:
    """What fires in each area."""
    return tuple(np.asarray(area.cap) for area in state.areas)


# One program for hearing and reading: compiling takes longer than a hundred sentences.
@eqx.filter_jit
def _phase(brain: Brain, state: BrainState, do: Do, rounds: Any) -> BrainState:
    def one(number: Any, state: BrainState) -> BrainState:
        first = number == 0
        state = _hold(state, first & do.free)
        active = jnp.where(first, do.first, do.later)
        return _round(brain, state, active, do.plastic, do.refracted)

    return lax.fori_loop(0, rounds, one, _speak(brain, state, do.word))


def _speak(brain: Brain, state: BrainState, word: Any) -> BrainState:
    """The word fires in the lexicon; -1: what fired before."""
    lex_k = brain.areas[0].k
    spoken = brain.with_cap(state, LEX, lex_k * word + jnp.arange(lex_k, dtype=jnp.int32))
    lexicon = jax.tree.map(
        lambda new, old: jnp.where(word >= 0, new, old), spoken.areas[0], state.areas[0]
    )
    return state._replace(areas=(lexicon, *state.areas[1:]))


def _hold(state: BrainState, free: Any) -> BrainState:
    """Every area keeps its cap but those that are free."""
    held = [a._replace(fixed=~free[number]) for number, a in enumerate(state.areas)]
    return state._replace(areas=tuple(held))


def _round(
    brain: Brain, state: BrainState, active: Any, plastic: Any, refracted: Any
) -> BrainState:
    """One round; without refraction, neurons of earlier assemblies may fire again."""
    wins = [a.wins for a in state.areas]
    rested = [a._replace(wins=jnp.where(refracted, a.wins, 0)) for a in state.areas]
    new = brain.step(state._replace(areas=tuple(rested)), active, plastic)
    back = [a._replace(wins=jnp.where(refracted, a.wins, old)) for a, old in zip(new.areas, wins)]
    return new._replace(areas=tuple(back))


def check_sizes(
    grammar: Any, n: int, k: int, lex_k: int, p: float, beta: Any, rounds: int
) -> tuple[float, float, float]:
    """Checks the numbers of a parser; beta as those of lexicon, links and chains."""
    check_kind("parse: the grammar", grammar, Grammar)
    for name, value in (("n", n), ("k", k), ("lex_k", lex_k)):
        check_count(f"parse: {name}", value, at_least=1)
    check_count("parse: rounds", rounds, at_least=2)
    check_bounds("parse: p", p, above=0.0, at_most=1.0)
    given = (beta,) * 3 if isinstance(beta, int | float) else tuple(beta)
    if len(given) != 3:
        raise ValueError(
            "parse: beta must be one number, or three: of fibres with the lexicon, between areas, "
            f"and of chains; got {beta!r}"
        )
    for value in given:
        check_bounds("parse: beta", value, above=0.0)
    return tuple(float(x) for x in given)  # type: ignore[return-value]
