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

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy import stats

from ..kernels import (
    Hashed,
    gap_lists,
    gap_width,
    multiply_high,
    past_inputs,
    wide_equal,
    wide_less,
)
from ..numerics import bits
from ._connectome import most_chosen
from ._input_law import InputLaw, divided, input_law, largest
from ._state import BrainState

_UNIFORM, _SPLIT, _CHOICE, _ROWS, _COUNTS = range(5)  # purposes of draws


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

    **Fields** `wires`, `fibres`, `driving` of the area; `law`; `key` of the draws of this round;
    `sums`, `rank` of the neurons that it keeps; `limits`; `n`, `k` of the area.
    """

    wires: list[Any]
    fibres: list[int]
    driving: list[Any]
    law: InputLaw
    key: Any
    sums: Any
    rank: Any
    limits: Any
    n: int
    k: int

    def words(self, purpose: int, number: Any, index: Any, counter: Any) -> Any:
        """Two random words for each index and counter."""
        key = bits(self.key, jnp.uint32(purpose), jnp.uint32(number))
        return bits(key, jnp.asarray(index, jnp.uint32), jnp.asarray(counter, jnp.uint32))


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
        x, rank, time = _next_inputs(search, drawn, time)
        new = _with_synapses(search, state, drawn, x, rank)
        chosen = ~_fired_before(search, state, new)
        chosen = chosen & (drawn + jnp.arange(search.k) < search.n)
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


def _next_inputs(search: Search, drawn: Any, time: Any) -> tuple[Any, Any, Any]:
    """The next k order statistics of n inputs: input, rank, and where to go on.

    -log of the largest of m uniform numbers is an exponential number over m, and so on downwards.
    """
    index = drawn + jnp.arange(search.k)
    word, low = search.words(_UNIFORM, 0, index, 0)
    uniform = ((word >> 8).astype(jnp.float32) + np.float32(0.5)) * np.float32(2.0**-24)
    left = jnp.maximum(search.n - index, 1).astype(jnp.float32)
    times = time + jnp.cumsum(-jnp.log(uniform) / left)
    x, place = largest(search.law, -jnp.expm1(-times))
    rank = (place * np.float32(2.0**24)).astype(jnp.uint32) << 8 | low >> 24
    return x, rank, times[-1]


def _with_synapses(search: Search, state: BrainState, drawn: Any, x: Any, rank: Any) -> Candidates:
    """Candidates of given inputs with all their synapses."""
    index = drawn + jnp.arange(search.k)
    uniform = [_fraction(search.words(_SPLIT, f, index, 0)[0]) for f in range(len(search.wires))]
    parts = divided(search.law, x, uniform)
    synapses = []
    for number, (wire, on, part) in enumerate(zip(search.wires, search.driving, parts)):
        if wire.number is None:
            synapses.append(_from_stimulus(search, number, wire, on, part, index))
        else:
            area = state.areas[wire.number]
            synapses.append(_from_area(search, number, wire, area, on, part, index))
    return Candidates(jnp.int32(0), x.astype(jnp.uint32), rank, tuple(synapses))


def _fraction(word: Any) -> Any:
    return (word >> 8).astype(jnp.float32) * np.float32(2.0**-24)


def _from_stimulus(search: Search, number: int, wire: Any, on: Any, part: Any, index: Any) -> Any:
    """Numbers of synapses from a stimulus: a part of the input, or drawn if it does not drive."""
    law = stats.binom.cdf(np.arange(most_chosen(wire) + 1), wire.source.size, wire.p)
    thresholds = np.minimum(np.rint(law * 2.0**32), 2.0**32 - 1).astype(np.uint32)
    word = search.words(_COUNTS, number, index, 0)[0]
    drawn = jnp.searchsorted(jnp.asarray(thresholds), word, side="right").astype(jnp.int32)
    return drawn if on is None else jnp.where(on, part, drawn)


def _from_area(
    search: Search, number: int, wire: Any, area: Any, on: Any, part: Any, index: Any
) -> Any:
    """The sources of synapses from an area: (k, width)."""
    nobody = wire.places
    if wire.p == 0:
        return _no_lists(wire, search.k)
    key = jnp.stack(bits(search.key, jnp.uint32(_ROWS), jnp.uint32(number)))
    drawn = gap_lists(Hashed(key, nobody, wire.p), index.astype(jnp.int32), _drawn_width(wire))
    if on is None:
        chosen = jnp.full((search.k, most_chosen(wire)), nobody, jnp.int32)
    else:
        fires = jnp.zeros(nobody, bool).at[area.cap].set(on)
        drawn = jnp.where(fires.at[drawn].get(mode="fill", fill_value=False), nobody, drawn)
        place = _choice(search, number, wire.source.k, most_chosen(wire), part, index)
        chosen = area.cap.at[place].get(mode="fill", fill_value=nobody)
    return jnp.concatenate([drawn, chosen], axis=1)


def _choice(search: Search, number: int, m: int, most: int, part: Any, index: Any) -> Any:
    """`part` different numbers below m for each candidate, (k, most); m where there is none.

    **Source** Floyd's algorithm: Bentley and Floyd (1987), doi:10.1145/30401.315746.
    """
    turns = jnp.arange(most, dtype=jnp.int32)
    word = search.words(_CHOICE, number, index[:, None], turns)[0]
    # Turn t of a choice of `part` draws below m - part + t + 1.
    last = m - part[:, None] + turns
    drawn = multiply_high(word, (last + 1).astype(jnp.uint32)).astype(jnp.int32)

    def turn(t: Any, taken: Any) -> Any:
        mine = drawn[:, t]
        again = jnp.any(taken == mine[:, None], axis=1)
        mine = jnp.where(again, last[:, t], mine)
        return taken.at[:, t].set(jnp.where(t < part, mine, m))

    return lax.fori_loop(0, most, turn, jnp.full(word.shape, m, jnp.int32))


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


def search_of(
    brain: Any, state: BrainState, number: int, driving: tuple, sums: Any, key: Any
) -> Search:
    """The search for candidates of an area."""
    described, area = brain.areas[number], state.areas[number]
    fibres = [f for f, wire in enumerate(brain.wires) if wire.into == number]
    wires, on = [brain.wires[f] for f in fibres], [driving[f] for f in fibres]
    law = input_law(wires, on)
    size = (described.n, described.k)
    return Search(wires, fibres, on, law, key, sums, area.rank, area.limits, *size)
