"""The synapses of neurons of a sampled area that could fire for the first time.

`new_past_inputs` says in which earlier rounds they would have fired, `write_new_sources` keeps the
synapses of those that fire now. Between the two nothing is kept but a number: a neuron has synapses
from a given number of the sources that fire, chosen at random, and from every other source with
probability p. `gap_lists` gives drawn rows as an array of fixed width, inside a program.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._numerics.draws import binomial_above, gap_table
from .._numerics.streams import bits
from .call import by_platform, native_call
from .edges import Hashed
from .redraw import gap_words, multiply_high
from .synaptic_input import visit_gap_rows


@lru_cache(maxsize=256)
def gap_width(n: int, p: float) -> int:
    """The smallest width that a row exceeds once in 10^18 rows or less."""
    mean = n * p
    most = min(n, math.ceil(mean + 10.0 * math.sqrt(mean) + 60.0))
    widths = np.arange(int(mean), most)
    within = np.flatnonzero(binomial_above(widths, n, p) < 1e-18)
    return int(widths[within[0]]) if within.size else most


def gap_lists(edges: Hashed, rows: jax.Array, width: int) -> jax.Array:
    """The targets of some rows, ascending: int32 (rows, width), the rest of a row is n.

    What a row has beyond `width` is left out: see `gap_width`.
    """
    table = gap_table(edges.p)

    def native(key: Any, rows: Any, words: Any) -> jax.Array:
        return native_call(
            "jaxneuro_draw_gap_rows",
            (key, rows.astype(jnp.uint32), words),
            (*rows.shape, width),
            jnp.int32,
            vmap_method="expand_dims",
            gaps=np.int64(table.size),
            shift=np.int64(table.shift),
            n=np.int64(edges.n),
            mean=np.float64(edges.n * edges.p),
        )

    def reference(key: Any, rows: Any, words: Any) -> jax.Array:
        return _reference(Hashed(key, edges.n, edges.p), rows, width)

    words = jnp.asarray(gap_words(table))
    return by_platform(edges.key, rows, words, default=reference, cpu=native)


def _reference(edges: Hashed, rows: jax.Array, width: int) -> jax.Array:
    lines = jnp.arange(rows.shape[0])[:, None]

    def visit(carry: Any, at: jax.Array) -> Any:
        found, out = carry
        there = at < edges.n
        place = found[:, None] + jnp.cumsum(there.astype(jnp.int32), axis=1) - 1
        place = jnp.where(there, place, width)
        out = out.at[lines, place].set(at, mode="drop")
        return found + jnp.sum(there, axis=1, dtype=jnp.int32), out

    out = jnp.full((*rows.shape, width), edges.n, jnp.int32)
    return visit_gap_rows(edges, rows, (jnp.zeros(rows.shape, jnp.int32), out), visit)[1]


class NewNeurons(NamedTuple):
    """Neurons and what is known of their synapses from one area.

    Attributes:
        number: int32 (c,) of each in its round, negative for none.
        part: int32 (c,) how many synapses come from sources that fire.
        on: bool () whether any do.
        cap: int32 (k,) who fires, ascending, `places` for nobody.
        keys: uint32 (2, 2) of rows and of choices.
        places: of the source.
        p: the probability of a synapse.
        drawn, chosen: widths of the two parts of a list of sources.
    """

    number: Any
    part: Any
    on: Any
    cap: Any
    keys: Any
    places: int
    p: float
    drawn: int
    chosen: int


def write_new_sources(lists: jax.Array, place: jax.Array, new: NewNeurons) -> jax.Array:
    """`lists` with the sources of each neuron in the row `place`, a row that is empty.

    `lists` int32 (n, width), `places` where there is no source: these come last in a row; `place`
    int32 (c,), n for a neuron that is not kept.
    """

    def native(lists: Any, place: Any, *arrays: Any) -> jax.Array:
        operands, how = (lists, place, *arrays), "broadcast_all"
        return _native("jaxneuro_new_sources", operands, new, lists.shape, 0, how)

    def reference(lists: Any, place: Any, *arrays: Any) -> jax.Array:
        rows = _compact(_sources(_of(new, arrays)), new.places)
        return lists.at[place].set(rows, mode="drop")

    return _by_platform(new, (lists, place), (), reference, native)


def new_past_inputs(new: NewNeurons, before: jax.Array, mask: jax.Array) -> jax.Array:
    """How many of the sources of each neuron fired in each round: int32 (c, 32 words).

    `before` uint32 (places, words) a bit for each round in which a source fired; `mask` uint32
    (words,) the rounds that count.
    """

    def native(*arrays: Any) -> jax.Array:
        shape = (*new.number.shape, 32 * mask.shape[-1])
        return _native("jaxneuro_new_past_inputs", arrays, new, shape)

    def reference(*arrays: Any) -> jax.Array:
        counts = _past_inputs(arrays[5], arrays[6], _sources(_of(new, arrays)))
        return jnp.where(arrays[0][:, None] < 0, 0, counts)

    return _by_platform(new, (), (before, mask), reference, native)


def _of(new: NewNeurons, arrays: Any) -> NewNeurons:
    number, part, on, cap, keys = arrays[:5]
    return new._replace(number=number, part=part, on=on, cap=cap, keys=keys)


def _by_platform(new: NewNeurons, first: Any, more: Any, reference: Any, native: Any) -> jax.Array:
    on = jnp.asarray(new.on).astype(jnp.int32)
    words = jnp.asarray(gap_words(gap_table(new.p)))
    arrays = (*first, new.number, new.part, on, new.cap, new.keys, *more, words)
    return by_platform(*arrays, default=reference, cpu=native)


def _native(
    target: str,
    arrays: Any,
    new: NewNeurons,
    shape: Any,
    in_place: int | None = None,
    how: str = "expand_dims",
) -> jax.Array:
    table = gap_table(new.p)
    return native_call(
        target,
        arrays,
        shape,
        jnp.int32,
        in_place,
        vmap_method=how,
        gaps=np.int64(table.size),
        shift=np.int64(table.shift),
        places=np.int64(new.places),
        drawn=np.int64(new.drawn),
        chosen=np.int64(new.chosen),
        mean=np.float64(new.places * new.p),
    )


def _sources(new: NewNeurons) -> jax.Array:
    """All sources in (c, drawn + chosen), `places` in between where there is none."""
    drawn = gap_lists(Hashed(new.keys[0], new.places, new.p), new.number, new.drawn)
    fires = jnp.zeros(new.places, bool).at[new.cap].set(new.on > 0, mode="drop")
    drawn = jnp.where(fires.at[drawn].get(mode="fill", fill_value=False), new.places, drawn)
    turns = jnp.arange(new.chosen, dtype=jnp.uint32)[:, None]
    key = new.keys[1, 0], new.keys[1, 1]
    words = bits(key, new.number.astype(jnp.uint32), turns)[0]
    firing = jnp.sum(new.cap < new.places, dtype=jnp.int32)
    place = _choice(words, firing, new.cap.shape[0], new.part)
    chosen = new.cap.at[place].get(mode="fill", fill_value=new.places)
    return jnp.concatenate([drawn, chosen], axis=1)


def _compact(lists: jax.Array, nobody: int) -> jax.Array:
    """The same lists with what is no source at the end."""
    there = lists < nobody
    place = jnp.where(there, jnp.cumsum(there.astype(jnp.int32), axis=1) - 1, lists.shape[1])
    rows = jnp.arange(lists.shape[0])[:, None]
    return jnp.full_like(lists, nobody).at[rows, place].set(lists, mode="drop")


def _choice(words: Any, m: Any, nobody: int, part: Any) -> Any:
    """`part` different numbers below m for each neuron, (c, most); `nobody` in other places.

    Reference:
        Floyd's algorithm: Bentley and Floyd (1987), doi:10.1145/30401.315746.
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


def _past_inputs(before: Any, mask: Any, lists: Any) -> jax.Array:
    fired = before.at[lists].get(mode="fill", fill_value=0) & mask
    rounds = jnp.arange(32, dtype=jnp.uint32)

    def count(word: Any) -> Any:  # (lists, width) -> (lists, 32)
        one = lambda b: jnp.sum((word >> b) & np.uint32(1), axis=-1, dtype=jnp.uint32)  # noqa: E731
        return jax.vmap(one, out_axes=1)(rounds)

    counts = jax.vmap(count, in_axes=2, out_axes=1)(fired)
    return counts.reshape(lists.shape[0], -1).astype(jnp.int32)
