"""`Parser`: a brain with the areas of a grammar, which hears sentences."""

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
from ._script import Script

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
    connectome: str,
) -> Brain:
    """The brain of a grammar; `rounds` those that it remembers."""
    lex_beta, link_beta, chain_beta = beta
    lexicon = Area(LEX, lex_k * len(grammar.lemmas), lex_k)
    areas = [Area(x, n, k, connectome, refraction=_REFRACTION) for x in grammar.areas]
    fibres = []
    for a, b in grammar.fibres:
        grows = chain_beta if a == b else lex_beta if LEX in (a, b) else link_beta
        for source, target in dict.fromkeys([(a, b), (b, a)]):
            fibres.append(Fibre(source, target, p=p, beta=grows, w_max=_CEILING))
    return Brain([lexicon, *areas], fibres=fibres, rounds=rounds)


@eqx.filter_jit
def hear(brain: Brain, state: BrainState, script: Script, rounds: int) -> tuple[BrainState, Caps]:
    """The state after a sentence, and what fired after each phase of `rounds` rounds.

    An assembly forms in the first round of a phase. It is held in the others, so that refraction,
    which keeps neurons of earlier assemblies silent, does not dissolve it.
    """
    lex_k = brain.areas[0].k

    def phase(state: BrainState, do: Script) -> tuple[BrainState, Caps]:
        def one(state: BrainState, now: Any) -> tuple[BrainState, None]:
            active, free = now
            state = _hold(state, free)
            return _round(brain, state, active, do.plastic, do.refracted), None

        active = jnp.broadcast_to(do.later, (rounds, *do.later.shape)).at[0].set(do.first)
        free = jnp.zeros((rounds, *do.free.shape), bool).at[0].set(do.free)
        state = lax.scan(one, _speak(brain, state, do.word, lex_k), (active, free))[0]
        return state, tuple(area.cap for area in state.areas)

    return lax.scan(phase, state, script)


def _speak(brain: Brain, state: BrainState, word: Any, lex_k: int) -> BrainState:
    """The word fires in the lexicon."""
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


def caps_of(state: BrainState) -> Caps:
    """What fires in each area."""
    return tuple(np.asarray(area.cap) for area in state.areas)


def fire(brain: Brain, state: BrainState, caps: Caps, active: np.ndarray) -> Caps:
    """What fires after one round without learning and refraction, in which no area is held."""
    return tuple(map(np.asarray, _fire(brain, state, caps, active)))


@eqx.filter_jit
def _fire(brain: Brain, state: BrainState, caps: Any, active: Any) -> Any:
    yes, no = jnp.asarray(True), jnp.asarray(False)
    areas = [a._replace(cap=c, fired=yes, fixed=no) for a, c in zip(state.areas, caps)]
    new = _round(brain, state._replace(areas=tuple(areas)), active, no, no)
    return tuple(area.cap for area in new.areas)


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
