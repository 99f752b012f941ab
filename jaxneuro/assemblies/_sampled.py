"""Sampled areas, of which only the neurons that ever fired exist."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Integer, UInt32

from .._arrays import AnyArray
from .._kernels.call import materialize
from .._kernels.k_cap import k_cap_wide
from .._kernels.new_sources import NewNeurons, new_past_inputs, write_new_sources
from .._kernels.wide import wide_equal, wide_less, wide_units
from .._numerics.draws import binomial_below, binomial_law
from .._numerics.streams import bits
from ._state import AreaState, BrainState
from ._weights import drawn_width, most_chosen

# --- The law of the input of a neuron that never fired: a sum of binomial numbers.


class InputLaw(NamedTuple):
    """The law of the input over some fibres.

    Attributes:
        tail: P(input >= x).
        shares: by fibre (x, a): the running probabilities that of an input of x over this fibre and
            those after it a synapses are from this one; None for a fibre that is known not to
            drive, nothing for the last one, from which all that is left comes.
    """

    tail: Float32[Array, " inputs"]
    shares: tuple[Float32[Array, "inputs parts"] | None, ...]


def input_law(
    wires: list[Any], driving: list[Bool[Array, ""] | None], firing: list[Integer[Any, ""]]
) -> InputLaw:
    """The convolution of binomial laws, one per fibre that drives (`driving` as of `drivers`).

    `firing` int32 () by fibre: how many neurons of the source fire.
    """
    parts = [_part(wire, on, m) for wire, on, m in zip(wires, driving, firing)]
    rest, shares = None, []
    for part in reversed(parts):
        if part is None:
            shares.append(None)
        elif rest is None:  # what is left comes from the last one
            shares.append(jnp.zeros((0, 0), jnp.float32))
            rest = part
        else:
            shares.append(_shares(part, rest))
            rest = shares[-1][:, -1]
    rest = jnp.ones(1, jnp.float32) if rest is None else rest
    # From the small end, so that the far tail is exact to the precision of float32.
    tail = jnp.flip(jnp.cumsum(jnp.flip(rest)))
    return InputLaw(tail, tuple(reversed(shares)))


def _shares(
    part: Float32[Array, " parts"], rest: Float32[Array, " rest"]
) -> Float32[Array, "inputs parts"]:
    """The running sums of a convolution: P(a' <= a from this fibre, and x in all), (x, a)."""
    size = part.shape[0] + rest.shape[0] - 1
    other = np.arange(size)[:, None] - np.arange(part.shape[0])
    inside = (other >= 0) & (other < rest.shape[0])
    others = jnp.where(inside, rest[np.clip(other, 0, rest.shape[0] - 1)], 0)
    return jnp.cumsum(part * others, axis=1)


def _part(
    wire: Any, on: Bool[Array, ""] | None, m: Integer[Any, ""]
) -> Float32[Array, " numbers"] | None:
    """P(number of synapses from the m firing neurons of a source): 0 ... the most, see there."""
    if on is None:
        return None
    numbers = np.arange(most_chosen(wire) + 1)
    law = jnp.asarray(binomial_law(numbers, wire.firing, wire.p).astype(np.float32))
    nothing = jnp.asarray((numbers == 0).astype(np.float32))
    if wire.number is not None:
        law = jnp.where(m == wire.firing, law, _of_fewer(wire, numbers, m))
    return jnp.where(on, law, nothing)


def _of_fewer(
    wire: Any, numbers: Integer[np.ndarray, " numbers"], m: Integer[Any, ""]
) -> Float32[Array, " numbers"]:
    """The binomial law where fewer neurons fire than the cap has: exact to about 1e-5."""
    m = m.astype(jnp.float32)
    left = jnp.maximum(m - numbers[:-1].astype(np.float32), 0)
    odds = np.float32(np.log(wire.p) - np.log1p(-wire.p)) if wire.p < 1 else np.float32(80)
    steps = jnp.log(left / numbers[1:].astype(np.float32)) + odds
    start = m * np.float32(np.log1p(-min(wire.p, 1 - 1e-7)))
    logs = start + jnp.concatenate([jnp.zeros(1, jnp.float32), jnp.cumsum(steps)])
    law = jnp.exp(logs - jnp.max(logs))  # of p = 1 the largest of them would be infinite
    return law / jnp.sum(law)


def largest(
    law: InputLaw, tails: Float32[Array, " c"]
) -> tuple[Int32[Array, " c"], Float32[Array, " c"]]:
    """The inputs whose upper tails are given, and their places among equal inputs in [0, 1).

    The larger the tail, the smaller the input; among equal inputs the place ascends.
    """
    x = jnp.searchsorted(-law.tail, -tails, side="right").astype(jnp.int32) - 1
    x = jnp.maximum(x, 0)
    above = law.tail.at[x + 1].get(mode="fill", fill_value=0)
    chance = jnp.maximum(law.tail[x] - above, np.float32(1e-37))
    return x, jnp.clip((tails - above) / chance, 0, np.float32(1 - 2.0**-24))


def divided(
    law: InputLaw, x: Int32[Array, " c"], uniform: Float32[Array, "fibres c"]
) -> list[Int32[Array, " c"]]:
    """Inputs as numbers of synapses from each fibre; `uniform` (fibres, inputs) in [0, 1)."""
    left, out = x, []
    for number, shares in enumerate(law.shares):
        if shares is None:
            out.append(jnp.zeros_like(x))
            continue
        if shares.size == 0:
            out.append(left)
            continue
        running = shares[left]
        wanted = uniform[number][:, None] * running[:, -1:]
        mine = jnp.sum(running <= wanted, axis=1, dtype=jnp.int32)
        mine = jnp.minimum(mine, jnp.minimum(left, shares.shape[1] - 1))
        out.append(mine)
        left = left - mine
    return out


# --- Sampled areas: neurons that never fired are drawn when they first could fire.


class Candidates(NamedTuple):
    """Candidates, largest input first, k of them at most.

    Attributes:
        found: int32 how many.
        x: uint32 (k,) their inputs in synapses.
        rank: uint32 (k,) of equal inputs: the lower one wins.
        number: int32 (k,) in the order in which they were drawn.
        parts: int32 (fibres, k) how many synapses come from each source: all of a stimulus, those
            that fire of an area.
    """

    found: Int32[Array, ""]
    x: UInt32[Array, " k"]
    rank: UInt32[Array, " k"]
    number: Int32[Array, " k"]
    parts: Int32[Array, "fibres k"]


class CandidateSearch(NamedTuple):
    """What a search for candidates needs.

    Attributes:
        wires, fibres, driving: of the area.
        firing: how many neurons of each source fire.
        law: of the input of a neuron that never fired.
        keys: uint32 of the draws of this round: of candidates, then of rows and choices by fibre.
        bar: the k-th largest input of the neurons that it keeps.
        limits: those of the area, see `AreaState`.
        n, k: of the area.
    """

    wires: list[Any]
    fibres: list[int]
    driving: list[Bool[Array, ""] | None]
    firing: list[Int32[Array, ""]]
    law: InputLaw
    keys: UInt32[Array, "draws 2"]
    bar: UInt32[Array, "2"]
    limits: UInt32[Array, "rounds 3"]
    n: int
    k: int


class Words(NamedTuple):
    """The random words of some candidates, (c,) each.

    Attributes:
        order, rank: of the order statistics.
        parts, counts: (fibres, c) how an input is divided, and numbers from stimuli that do not
            drive.
    """

    order: UInt32[Array, " c"]
    rank: UInt32[Array, " c"]
    parts: UInt32[Array, "fibres c"]
    counts: UInt32[Array, "fibres c"]


def _words(search: CandidateSearch, index: Integer[Array, " c"]) -> Words:
    """All words at once: each draw that stands alone is compiled alone."""
    fibres = len(search.wires)
    purpose = jnp.arange(1 + 2 * fibres, dtype=jnp.uint32)[:, None]
    # Written once: XLA would draw them again wherever one is used.
    words = bits((search.keys[0, 0], search.keys[0, 1]), index.astype(jnp.uint32), purpose)
    first, second = materialize(words)
    return Words(first[0], second[0], first[1 : 1 + fibres], first[1 + fibres :])


def find(
    brain: Any, state: BrainState, search: CandidateSearch, moves: Bool[Array, ""]
) -> Candidates:
    """The candidates of a round: as many as could win, or k."""
    zero, no = jnp.zeros(search.k, jnp.int32), jnp.zeros(search.k, jnp.uint32)
    parts = jnp.zeros((len(search.wires), search.k), jnp.int32)
    start = Candidates(jnp.int32(0), no, no, zero, parts)

    def more(loop: Any) -> Bool[Array, ""]:
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


def _next_inputs(
    search: CandidateSearch, words: Words, index: Integer[AnyArray, " c"], time: Float32[Any, ""]
) -> tuple[Int32[Array, " c"], UInt32[Array, " c"], Float32[Array, ""]]:
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


def _parts(
    search: CandidateSearch, words: Words, x: Int32[Array, " c"]
) -> list[Int32[Array, " c"]]:
    """How many synapses of each candidate come from each source; see `Candidates`."""
    uniform = (words.parts >> 8).astype(jnp.float32) * np.float32(2.0**-24)
    parts = divided(search.law, x, uniform)
    return [
        part if wire.number is not None else _from_stimulus(word, wire, on, part)
        for wire, on, part, word in zip(search.wires, search.driving, parts, words.counts)
    ]


def _from_stimulus(
    word: UInt32[Array, " c"], wire: Any, on: Bool[Array, ""] | None, part: Int32[Array, " c"]
) -> Int32[Array, " c"]:
    """Numbers of synapses from a stimulus: a part of the input, or drawn if it does not drive."""
    law = binomial_below(np.arange(most_chosen(wire) + 1), wire.source.size, wire.p)
    thresholds = np.minimum(np.rint(law * 2.0**32), 2.0**32 - 1).astype(np.uint32)
    drawn = jnp.searchsorted(jnp.asarray(thresholds), word, side="right").astype(jnp.int32)
    return drawn if on is None else jnp.where(on, part, drawn)


def new_neurons(
    search: CandidateSearch,
    state: BrainState,
    wire: int,
    number: Int32[Array, " c"],
    part: Int32[Array, " c"],
) -> NewNeurons:
    """Candidates as neurons with synapses from an area."""
    fibre, on = search.wires[wire], search.driving[wire]
    keys = search.keys[1 + 2 * wire : 3 + 2 * wire]
    on = jnp.asarray(False if on is None else on)
    widths = drawn_width(fibre), most_chosen(fibre)
    cap = state.areas[fibre.number].cap
    return NewNeurons(number, part, on, cap, keys, fibre.places, fibre.p, *widths)


def write_synapses(
    search: CandidateSearch,
    state: BrainState,
    wire: int,
    new: Candidates,
    place: Int32[Array, " k"],
) -> Integer[Array, "..."]:
    """The synapses of a fibre with those of candidates in the places that they get."""
    fibre, old = search.wires[wire], state.fibres[search.fibres[wire]].synapses
    if fibre.number is None:
        return old.at[place].set(new.parts[wire], mode="drop")
    if fibre.p == 0:
        return old
    neurons = new_neurons(search, state, wire, new.number, new.parts[wire])
    return write_new_sources(old, place, neurons)


def _fired_before(search: CandidateSearch, state: BrainState, new: Candidates) -> Bool[Array, " k"]:
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


def _rounds(active: UInt32[Array, " words"]) -> Int32[Array, " rounds"]:
    """The bits of words as int32 (32 words,)."""
    bit = active[:, None] >> jnp.arange(32, dtype=jnp.uint32) & np.uint32(1)
    return bit.reshape(-1).astype(jnp.int32)


def _beats(
    x: UInt32[Array, "k rounds"], rank: UInt32[Array, "k 1"], limits: UInt32[Array, "rounds 3"]
) -> Bool[Array, "k rounds"]:
    """Whether inputs of so many synapses, of weight 1, beat limits (..., 3)."""
    mine, limit = wide_units(x), limits[..., :2]
    equal = wide_equal(mine, limit) & (rank < limits[..., 2])
    return wide_less(limit, mine) | equal


def _append(found: Candidates, new: Candidates, chosen: Bool[Array, " k"]) -> Candidates:
    """Candidates with the chosen ones of others after them, as far as there is room."""
    k = chosen.shape[0]
    place = found.found + jnp.cumsum(chosen.astype(jnp.int32)) - 1
    place = jnp.where(chosen, place, k)
    put = lambda old, x: old.at[place].set(x, mode="drop")  # noqa: E731
    count = found.found + jnp.sum(chosen, dtype=jnp.int32)
    parts = found.parts.at[:, place].set(new.parts, mode="drop")
    kept = put(found.x, new.x), put(found.rank, new.rank), put(found.number, new.number)
    return Candidates(count, *kept, parts)


def _bar(sums: UInt32[Array, "n 2"], k: int) -> UInt32[Array, "2"]:
    """The k-th largest input of the neurons that are kept: (2,)."""
    return smallest(sums, k_cap_wide(sums, k))


def smallest(keys: UInt32[Array, "n 2"], chosen: Int32[Array, " k"]) -> UInt32[Array, "2"]:
    """The smallest key of some neurons: (2,)."""
    words = keys[chosen]
    high = words[:, 1] ^ np.uint32(0x80000000)
    least = jnp.min(high)
    low = jnp.min(jnp.where(high == least, words[:, 0], np.uint32(0xFFFFFFFF)))
    return jnp.stack([low, least ^ np.uint32(0x80000000)])


def search_of(
    brain: Any, state: BrainState, number: int, driving: tuple, sums: UInt32[Array, "n 2"]
) -> CandidateSearch:
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
    return CandidateSearch(wires, fibres, on, firing, law, keys, bar, area.limits, *size)


def _firing(state: BrainState, wire: Any) -> Int32[Array, ""]:
    """How many neurons of a source fire: int32 ()."""
    if wire.number is None:
        return jnp.int32(wire.source.size)
    return jnp.sum(state.areas[wire.number].cap < wire.places, dtype=jnp.int32)


# --- The cap of a sampled area: the neurons that it keeps, and candidates.


_NOTHING = np.array([0, 0x80000000], np.uint32)  # below every input


def sampled_cap(
    brain: Any,
    state: BrainState,
    number: int,
    driving: tuple,
    moves: Bool[Array, ""],
    sums: UInt32[Array, "n 2"],
    page: Any,
) -> tuple[AreaState, dict[int, Integer[Array, "..."]]]:
    """The area with its new cap, and the synapses of its fibres with those of new neurons.

    `sums` (capacity, 2) is what the neurons receive that it keeps.
    """
    described, area = brain.areas[number], state.areas[number]
    kept = jnp.arange(described.places) < area.support
    sums = jnp.where(kept[:, None], sums, jnp.asarray(_NOTHING))
    search = search_of(brain, state, number, driving, sums)
    new = find(brain, state, search, moves)
    cap, fresh, limit, lost = _winners(described, area, sums, new)
    place = jnp.where(fresh >= 0, area.support + fresh, described.places)
    place = jnp.where(moves, place, described.places)
    synapses = {
        fibre: write_synapses(search, state, wire, new, place)
        for wire, fibre in enumerate(search.fibres)
    }
    at = jnp.where(moves & (page.bit != 0), page.number, area.limits.shape[0])
    fresh_count = jnp.where(moves, jnp.sum(fresh >= 0, dtype=jnp.int32), 0)
    area = area._replace(
        cap=jnp.where(moves, cap, area.cap),
        fired=area.fired | moves,
        support=area.support + fresh_count,
        rank=area.rank.at[place].set(new.rank, mode="drop"),
        limits=area.limits.at[at].set(limit, mode="drop"),
        lost=area.lost + jnp.where(moves, lost, 0),
    )
    return area, synapses


def _winners(
    described: Any, area: AreaState, sums: UInt32[Array, "n 2"], new: Candidates
) -> tuple[Int32[Array, " k"], Int32[Array, " k"], UInt32[Array, "3"], Int32[Array, ""]]:
    """The k largest of kept neurons and candidates.

    Returns their places; for each candidate the number among the new neurons, or -1; the input and
    rank of the last winner (3,); and how many candidates should have won and had no room.
    """
    k, places = described.k, described.places
    order = jnp.arange(k, dtype=jnp.int32)
    there = order < jnp.minimum(new.found, k)
    room = order < places - area.support
    x = wide_units(new.x)
    keys = jnp.concatenate([sums, jnp.where((there & room)[:, None], x, jnp.asarray(_NOTHING))])
    rank = jnp.concatenate([area.rank, new.rank])
    chosen, limit = _k_by_rank(keys, rank, k)
    wins = jnp.zeros(places + k, bool).at[chosen].set(True)[places:]
    fresh = jnp.where(wins, jnp.cumsum(wins.astype(jnp.int32)) - 1, -1)
    new_place = area.support + fresh.at[jnp.maximum(chosen - places, 0)].get()
    cap = jnp.where(chosen < places, chosen, new_place)
    lost = jnp.sum(there & ~room & _above(x, new.rank, limit), dtype=jnp.int32)
    return cap, fresh, limit, lost


def _k_by_rank(
    keys: UInt32[Array, "n 2"], rank: UInt32[Array, " n"], k: int
) -> tuple[Int32[Array, " k"], UInt32[Array, "3"]]:
    """The k largest keys, ties to the lower rank, and the last of them: (low, high, rank)."""
    last = smallest(keys, k_cap_wide(keys, k))
    above = wide_less(last, keys)
    tied = wide_equal(keys, last)
    # Larger keys first, then the tied ones by rank, then the others.
    order = jnp.where(above, np.uint32(2), jnp.where(tied, np.uint32(1), np.uint32(0)))
    chosen = k_cap_wide(jnp.stack([~rank, order], axis=-1), k)
    worst = jnp.max(jnp.where(tied[chosen], rank[chosen], 0))
    return chosen, jnp.concatenate([last, worst[None]])


def _above(
    x: UInt32[Array, "c 2"], rank: UInt32[Array, " c"], limit: UInt32[Array, "3"]
) -> Bool[Array, " c"]:
    return wide_less(limit[:2], x) | (wide_equal(x, limit[:2]) & (rank < limit[2]))
