"""Sampled areas: neurons that never fired are drawn when they first could fire.

A neuron that never fired has synapses that nobody has looked at, but one thing is known of it: in
every earlier round its input was below that of the last winner. Its synapses are independent, given
that. So candidates are drawn without the condition, largest input first, and those that would have
fired before are rejected:

1. The input of a candidate is a sum of binomial numbers, one per active fibre (`InputLaw`). The
   largest of n such inputs come as order statistics of uniform numbers, in chunks of k, until no
   more of them can win. What the uniform number says beyond the input is the candidate's place
   among equals, its `rank`: it stands for the index of the neuron, of which the lower wins.
2. The input is divided among the fibres; in each of them the synapses come from a random choice of
   the firing sources. Those from all others are drawn as rows are drawn.
3. So its inputs in all remembered rounds are known. If one of them beats the last winner of that
   round (`limits`: its input and rank), the candidate is rejected.

The number of neurons without the condition is taken as n. It is not known: given that s neurons
have fired, its standard deviation is about sqrt(s), so that the number of candidates is off by
about sqrt(s) / n of itself.
"""

import itertools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy import stats

from ..kernels import (
    Hashed,
    gap_lists,
    gap_width,
    materialize,
    multiply_high,
    past_inputs,
    wide_equal,
    wide_less,
)
from ..numerics import bits
from ._connectome import most_chosen
from ._input_law import InputLaw, divided, input_law, largest
from ._state import BrainState


class Candidates(NamedTuple):
    """Candidates, largest input first, k of them at most.

    **Fields** `found` int32 how many; `x` uint32 (k,) their inputs in synapses; `rank` uint32
    (k,); `synapses` by fibre: int32 (k,) numbers from a stimulus, (k, width) sources from an area.
    """

    found: Any
    x: Any
    rank: Any
    synapses: tuple[Any, ...]


class Search(NamedTuple):
    """What a search for candidates needs.

    **Fields** `wires`, `fibres`, `driving` of the area; `firing` how many neurons of each source
    fire; `law`; `keys` uint32 (1 + fibres, 2) of
    the draws of this round: of candidates, and of rows by fibre; `sums`, `rank` of the neurons
    that it keeps; `limits`; `n`, `k` of the area.
    """

    wires: list[Any]
    fibres: list[int]
    driving: list[Any]
    firing: list[Any]
    law: InputLaw
    keys: Any
    sums: Any
    rank: Any
    limits: Any
    n: int
    k: int


class Words(NamedTuple):
    """The random words of some candidates, (c,) each.

    **Fields** `order`, `rank` of the order statistics; `parts`, `counts` (fibres, c) how an input
    is divided, and numbers from stimuli; `choices` by fibre, (most, c) which sources.
    """

    order: Any
    rank: Any
    parts: Any
    counts: Any
    choices: tuple[Any, ...]


def _words(search: Search, index: Any) -> Words:
    """All words at once: each draw that stands alone is compiled alone."""
    sizes = [
        0 if w.number is None or on is None else most_chosen(w)
        for w, on in zip(search.wires, search.driving)
    ]
    fibres = len(search.wires)
    starts = np.cumsum([1 + 2 * fibres, *sizes])
    purpose = jnp.arange(starts[-1], dtype=jnp.uint32)[:, None]
    # Written once: XLA would draw them again wherever one is used.
    words = bits((search.keys[0, 0], search.keys[0, 1]), index.astype(jnp.uint32), purpose)
    first, second = materialize(words)
    choices = tuple(first[a:b] for a, b in itertools.pairwise(starts))
    return Words(first[0], second[0], first[1 : 1 + fibres], first[1 + fibres : starts[0]], choices)


def find(brain: Any, state: BrainState, search: Search, moves: Any) -> Candidates:
    """The candidates of a round: as many as could win, or k."""
    empty = [
        jnp.zeros(search.k, jnp.int32) if w.number is None else _no_lists(w, search.k)
        for w in search.wires
    ]
    start = Candidates(
        jnp.int32(0), jnp.zeros(search.k, jnp.uint32), jnp.zeros(search.k, jnp.uint32), tuple(empty)
    )

    def more(loop: Any) -> Any:
        drawn, _, enough, _ = loop
        return moves & ~enough & (drawn < search.n)

    def body(loop: Any) -> Any:
        drawn, time, _, found = loop
        index = drawn + jnp.arange(search.k)
        words = _words(search, index)
        x, rank, time = _next_inputs(search, words, index, time)
        new = _with_synapses(search, state, words, index, x, rank)
        chosen = ~_fired_before(search, state, new) & (index < search.n)
        found = _append(found, new, chosen)
        enough = (found.found >= search.k) | (
            _better(search, x[-1], rank[-1]) + found.found >= search.k
        )
        return drawn + search.k, time, enough, found

    start = jnp.int32(0), jnp.float32(0), jnp.asarray(False), start
    return lax.while_loop(more, body, start)[3]


def _no_lists(wire: Any, k: int) -> Any:
    return jnp.full((k, _drawn_width(wire) + most_chosen(wire)), wire.places, jnp.int32)


def _drawn_width(wire: Any) -> int:
    return gap_width(wire.places, wire.p) if wire.p > 0 else 1


def _next_inputs(search: Search, words: Words, index: Any, time: Any) -> tuple[Any, Any, Any]:
    """The next order statistics of n inputs: input, rank, and where to go on.

    -log of the largest of m uniform numbers is an exponential number over m, and so on downwards.
    """
    # 23 bits, so that neither 0 nor 1 is met: the largest of n at 1 would be the largest there is.
    uniform = ((words.order >> 9).astype(jnp.float32) + np.float32(0.5)) * np.float32(2.0**-23)
    left = jnp.maximum(search.n - index, 1).astype(jnp.float32)
    times = time + jnp.cumsum(-jnp.log(uniform) / left)
    x, place = largest(search.law, -jnp.expm1(-times))
    rank = (place * np.float32(2.0**24)).astype(jnp.uint32) << 8 | words.rank >> 24
    return x, rank, times[-1]


def _with_synapses(
    search: Search, state: BrainState, words: Words, index: Any, x: Any, rank: Any
) -> Candidates:
    """Candidates of given inputs with all their synapses."""
    uniform = (words.parts >> 8).astype(jnp.float32) * np.float32(2.0**-24)
    parts = divided(search.law, x, uniform)
    synapses = []
    for number, (wire, on, part) in enumerate(zip(search.wires, search.driving, parts)):
        if wire.number is None:
            synapses.append(_from_stimulus(words.counts[number], wire, on, part))
        else:
            area = state.areas[wire.number]
            chosen = (
                None
                if on is None
                else _choice(words.choices[number], search.firing[number], wire.source.k, part)
            )
            synapses.append(_from_area(search, number, area, chosen, index))
    return Candidates(jnp.int32(0), x.astype(jnp.uint32), rank, tuple(synapses))


def _from_stimulus(word: Any, wire: Any, on: Any, part: Any) -> Any:
    """Numbers of synapses from a stimulus: a part of the input, or drawn if it does not drive."""
    law = stats.binom.cdf(np.arange(most_chosen(wire) + 1), wire.source.size, wire.p)
    thresholds = np.minimum(np.rint(law * 2.0**32), 2.0**32 - 1).astype(np.uint32)
    drawn = jnp.searchsorted(jnp.asarray(thresholds), word, side="right").astype(jnp.int32)
    return drawn if on is None else jnp.where(on, part, drawn)


def _from_area(search: Search, number: int, area: Any, chosen: Any, index: Any) -> Any:
    """The sources of synapses from an area, (k, width): drawn ones, and chosen of those that fire.

    `chosen` are places in the cap, None if the fibre does not drive.
    """
    wire, on = search.wires[number], search.driving[number]
    nobody = wire.places
    if wire.p == 0:
        return _no_lists(wire, search.k)
    drawn = Hashed(search.keys[1 + number], nobody, wire.p)
    drawn = gap_lists(drawn, index.astype(jnp.int32), _drawn_width(wire))
    if chosen is None:
        chosen = jnp.full((search.k, most_chosen(wire)), nobody, jnp.int32)
    else:
        fires = jnp.zeros(nobody, bool).at[area.cap].set(on, mode="drop")
        drawn = jnp.where(fires.at[drawn].get(mode="fill", fill_value=False), nobody, drawn)
        chosen = area.cap.at[chosen].get(mode="fill", fill_value=nobody)
    return jnp.concatenate([drawn, chosen], axis=1)


def _choice(words: Any, m: Any, nobody: int, part: Any) -> Any:
    """`part` different numbers below m for each candidate, (k, most); `nobody` in other places.

    **Source** Floyd's algorithm: Bentley and Floyd (1987), doi:10.1145/30401.315746.
    """
    most = words.shape[0]
    # Turn t of a choice of `part` draws below m - part + t + 1.
    last = m - part + jnp.arange(most, dtype=jnp.int32)[:, None]
    drawn = multiply_high(words, (last + 1).astype(jnp.uint32)).astype(jnp.int32)

    def turn(t: Any, taken: Any) -> Any:
        again = jnp.any(taken == drawn[t], axis=0)
        mine = jnp.where(again, last[t], drawn[t])
        return taken.at[t].set(jnp.where(t < part, mine, nobody))

    return lax.fori_loop(0, most, turn, jnp.full(words.shape, nobody, jnp.int32)).T


def _fired_before(search: Search, state: BrainState, new: Candidates) -> Any:
    """Whether candidates would have won in a remembered round: bool (k,)."""
    total = jnp.zeros((search.k, search.limits.shape[0]), jnp.int32)
    for fibre, wire, synapses in zip(search.fibres, search.wires, new.synapses):
        active = state.active[fibre]
        if wire.number is None:
            counts = synapses[:, None] * _rounds(active)
        else:
            counts = past_inputs(state.areas[wire.number].before, active, synapses)
        total = total + counts[:, : search.limits.shape[0]]
    return jnp.any(_beats(total.astype(jnp.uint32), new.rank[:, None], search.limits), axis=1)


def _rounds(active: Any) -> Any:
    """The bits of words as int32 (32 words,)."""
    bit = active[:, None] >> jnp.arange(32, dtype=jnp.uint32) & np.uint32(1)
    return bit.reshape(-1).astype(jnp.int32)


def _beats(x: Any, rank: Any, limits: Any) -> Any:
    """Whether inputs of so many synapses, of weight 1, beat limits (..., 3)."""
    mine, limit = input_words(x), limits[..., :2]
    equal = wide_equal(mine, limit) & (rank < limits[..., 2])
    return wide_less(limit, mine) | equal


def input_words(x: Any) -> Any:
    """So many synapses of weight 1 as a 64-bit sum."""
    return jnp.stack([x << np.uint32(20), x >> np.uint32(12)], axis=-1)


def _append(found: Candidates, new: Candidates, chosen: Any) -> Candidates:
    """Candidates with the chosen ones of others after them, as far as there is room."""
    k = chosen.shape[0]
    place = found.found + jnp.cumsum(chosen.astype(jnp.int32)) - 1
    place = jnp.where(chosen, place, k)
    put = lambda old, x: old.at[place].set(x, mode="drop")  # noqa: E731
    synapses = tuple(put(a, b) for a, b in zip(found.synapses, new.synapses))
    count = found.found + jnp.sum(chosen, dtype=jnp.int32)
    return Candidates(count, put(found.x, new.x), put(found.rank, new.rank), synapses)


def _better(search: Search, x: Any, rank: Any) -> Any:
    """How many of the neurons that are kept have a larger input than a candidate."""
    mine = input_words(x.astype(jnp.uint32))
    equal = wide_equal(search.sums, mine) & (search.rank < rank)
    return jnp.sum(wide_less(mine, search.sums) | equal, dtype=jnp.int32)


def search_of(brain: Any, state: BrainState, number: int, driving: tuple, sums: Any) -> Search:
    """The search for candidates of an area."""
    described, area = brain.areas[number], state.areas[number]
    fibres = [f for f, wire in enumerate(brain.wires) if wire.into == number]
    wires, on = [brain.wires[f] for f in fibres], [driving[f] for f in fibres]
    firing = [_firing(state, wire) for wire in wires]
    law = input_law(wires, on, firing)
    # 16 at least: fewer would not be written to memory, but drawn again wherever they are used.
    numbers = jnp.arange(max(16, 1 + len(wires)), dtype=jnp.uint32)
    keys = bits((area.key[0], area.key[1]), state.round.astype(jnp.uint32), numbers)
    keys = jnp.stack(materialize(keys), axis=-1)
    size = (described.n, described.k)
    return Search(wires, fibres, on, firing, law, keys, sums, area.rank, area.limits, *size)


def _firing(state: BrainState, wire: Any) -> Any:
    """How many neurons of a source fire: int32 ()."""
    if wire.number is None:
        return jnp.int32(wire.source.size)
    return jnp.sum(state.areas[wire.number].cap < wire.places, dtype=jnp.int32)
