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

from .._kernels import (
    NewNeurons,
    k_cap_wide,
    materialize,
    new_past_inputs,
    wide_equal,
    wide_less,
    wide_units,
    write_new_sources,
)
from .._numerics import binomial_below, bits
from ._connectome import drawn_width, most_chosen
from ._input_law import InputLaw, divided, input_law, largest
from ._state import BrainState


class Candidates(NamedTuple):
    """Candidates, largest input first, k of them at most.

    **Fields** `found` int32 how many; `x` uint32 (k,) their inputs in synapses; `rank` uint32
    (k,); `number` int32 (k,) in the order in which they were drawn; `parts` int32 (fibres, k) how
    many synapses come from each source: all of a stimulus, those that fire of an area.
    """

    found: Any
    x: Any
    rank: Any
    number: Any
    parts: Any


class Search(NamedTuple):
    """What a search for candidates needs.

    **Fields** `wires`, `fibres`, `driving` of the area; `firing` how many neurons of each source
    fire; `law`; `keys` uint32 of the draws of this round: of candidates, then of rows and choices
    by fibre; `bar` the k-th largest input of the neurons that it keeps; `limits`; `n`, `k` of the
    area.
    """

    wires: list[Any]
    fibres: list[int]
    driving: list[Any]
    firing: list[Any]
    law: InputLaw
    keys: Any
    bar: Any
    limits: Any
    n: int
    k: int


class Words(NamedTuple):
    """The random words of some candidates, (c,) each.

    **Fields** `order`, `rank` of the order statistics; `parts`, `counts` (fibres, c) how an input
    is divided, and numbers from stimuli that do not drive.
    """

    order: Any
    rank: Any
    parts: Any
    counts: Any


def _words(search: Search, index: Any) -> Words:
    """All words at once: each draw that stands alone is compiled alone."""
    fibres = len(search.wires)
    purpose = jnp.arange(1 + 2 * fibres, dtype=jnp.uint32)[:, None]
    # Written once: XLA would draw them again wherever one is used.
    words = bits((search.keys[0, 0], search.keys[0, 1]), index.astype(jnp.uint32), purpose)
    first, second = materialize(words)
    return Words(first[0], second[0], first[1 : 1 + fibres], first[1 + fibres :])


def find(brain: Any, state: BrainState, search: Search, moves: Any) -> Candidates:
    """The candidates of a round: as many as could win, or k."""
    zero, no = jnp.zeros(search.k, jnp.int32), jnp.zeros(search.k, jnp.uint32)
    parts = jnp.zeros((len(search.wires), search.k), jnp.int32)
    start = Candidates(jnp.int32(0), no, no, zero, parts)

    def more(loop: Any) -> Any:
        drawn, _, enough, _ = loop
        return moves & ~enough & (drawn < search.n)

    def body(loop: Any) -> Any:
        drawn, time, _, found = loop
        index = drawn + jnp.arange(search.k)
        words = _words(search, index)
        x, rank, time = _next_inputs(search, words, index, time)
        # What is below k neurons that are kept cannot win, nor can what comes after it.
        could = (index < search.n) & ~wide_less(wide_units(x.astype(jnp.uint32)), search.bar)
        parts = jnp.stack(_parts(search, words, x))
        number = jnp.where(could, index, -1)
        new = Candidates(jnp.int32(0), x.astype(jnp.uint32), rank, number, parts)
        found = _append(found, new, could & ~_fired_before(search, state, new))
        return drawn + search.k, time, (found.found >= search.k) | ~could[-1], found

    start = jnp.int32(0), jnp.float32(0), jnp.asarray(False), start
    return lax.while_loop(more, body, start)[3]


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


def _parts(search: Search, words: Words, x: Any) -> list[Any]:
    """How many synapses of each candidate come from each source; see `Candidates`."""
    uniform = (words.parts >> 8).astype(jnp.float32) * np.float32(2.0**-24)
    parts = divided(search.law, x, uniform)
    return [
        part if wire.number is not None else _from_stimulus(word, wire, on, part)
        for wire, on, part, word in zip(search.wires, search.driving, parts, words.counts)
    ]


def _from_stimulus(word: Any, wire: Any, on: Any, part: Any) -> Any:
    """Numbers of synapses from a stimulus: a part of the input, or drawn if it does not drive."""
    law = binomial_below(np.arange(most_chosen(wire) + 1), wire.source.size, wire.p)
    thresholds = np.minimum(np.rint(law * 2.0**32), 2.0**32 - 1).astype(np.uint32)
    drawn = jnp.searchsorted(jnp.asarray(thresholds), word, side="right").astype(jnp.int32)
    return drawn if on is None else jnp.where(on, part, drawn)


def new_neurons(search: Search, state: BrainState, wire: int, number: Any, part: Any) -> NewNeurons:
    """Candidates as neurons with synapses from an area."""
    fibre, on = search.wires[wire], search.driving[wire]
    keys = search.keys[1 + 2 * wire : 3 + 2 * wire]
    on = jnp.asarray(False if on is None else on)
    widths = drawn_width(fibre), most_chosen(fibre)
    cap = state.areas[fibre.number].cap
    return NewNeurons(number, part, on, cap, keys, fibre.places, fibre.p, *widths)


def write_synapses(
    search: Search, state: BrainState, wire: int, new: Candidates, place: Any
) -> Any:
    """The synapses of a fibre with those of candidates in the places that they get."""
    fibre, old = search.wires[wire], state.fibres[search.fibres[wire]].synapses
    if fibre.number is None:
        return old.at[place].set(new.parts[wire], mode="drop")
    if fibre.p == 0:
        return old
    neurons = new_neurons(search, state, wire, new.number, new.parts[wire])
    return write_new_sources(old, place, neurons)


def _fired_before(search: Search, state: BrainState, new: Candidates) -> Any:
    """Whether candidates would have won in a remembered round: bool (k,)."""
    total = jnp.zeros((search.k, search.limits.shape[0]), jnp.int32)
    for number, (fibre, wire) in enumerate(zip(search.fibres, search.wires)):
        active = state.active[fibre]
        if wire.number is None:
            counts = new.parts[number][:, None] * _rounds(active)
        elif wire.p == 0:
            continue
        else:
            neurons = new_neurons(search, state, number, new.number, new.parts[number])
            counts = new_past_inputs(neurons, state.areas[wire.number].before, active)
        total = total + counts[:, : search.limits.shape[0]]
    return jnp.any(_beats(total.astype(jnp.uint32), new.rank[:, None], search.limits), axis=1)


def _rounds(active: Any) -> Any:
    """The bits of words as int32 (32 words,)."""
    bit = active[:, None] >> jnp.arange(32, dtype=jnp.uint32) & np.uint32(1)
    return bit.reshape(-1).astype(jnp.int32)


def _beats(x: Any, rank: Any, limits: Any) -> Any:
    """Whether inputs of so many synapses, of weight 1, beat limits (..., 3)."""
    mine, limit = wide_units(x), limits[..., :2]
    equal = wide_equal(mine, limit) & (rank < limits[..., 2])
    return wide_less(limit, mine) | equal


def _append(found: Candidates, new: Candidates, chosen: Any) -> Candidates:
    """Candidates with the chosen ones of others after them, as far as there is room."""
    k = chosen.shape[0]
    place = found.found + jnp.cumsum(chosen.astype(jnp.int32)) - 1
    place = jnp.where(chosen, place, k)
    put = lambda old, x: old.at[place].set(x, mode="drop")  # noqa: E731
    count = found.found + jnp.sum(chosen, dtype=jnp.int32)
    parts = found.parts.at[:, place].set(new.parts, mode="drop")
    kept = put(found.x, new.x), put(found.rank, new.rank), put(found.number, new.number)
    return Candidates(count, *kept, parts)


def _bar(sums: Any, k: int) -> Any:
    """The k-th largest input of the neurons that are kept: (2,)."""
    return smallest(sums, k_cap_wide(sums, k))


def smallest(keys: Any, chosen: Any) -> Any:
    """The smallest key of some neurons: (2,)."""
    words = keys[chosen]
    high = words[:, 1] ^ np.uint32(0x80000000)
    least = jnp.min(high)
    low = jnp.min(jnp.where(high == least, words[:, 0], np.uint32(0xFFFFFFFF)))
    return jnp.stack([low, least ^ np.uint32(0x80000000)])


def search_of(brain: Any, state: BrainState, number: int, driving: tuple, sums: Any) -> Search:
    """The search for candidates of an area."""
    described, area = brain.areas[number], state.areas[number]
    fibres = [f for f, wire in enumerate(brain.wires) if wire.into == number]
    wires, on = [brain.wires[f] for f in fibres], [driving[f] for f in fibres]
    firing = [_firing(state, wire) for wire in wires]
    law = input_law(wires, on, firing)
    # 16 at least: fewer would not be written to memory, but drawn again wherever they are used.
    numbers = jnp.arange(max(16, 1 + 2 * len(wires)), dtype=jnp.uint32)
    keys = bits((area.key[0], area.key[1]), state.round.astype(jnp.uint32), numbers)
    keys = jnp.stack(materialize(keys), axis=-1)
    bar, size = _bar(sums, described.k), (described.n, described.k)
    return Search(wires, fibres, on, firing, law, keys, bar, area.limits, *size)


def _firing(state: BrainState, wire: Any) -> Any:
    """How many neurons of a source fire: int32 ()."""
    if wire.number is None:
        return jnp.int32(wire.source.size)
    return jnp.sum(state.areas[wire.number].cap < wire.places, dtype=jnp.int32)
