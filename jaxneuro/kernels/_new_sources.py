"""`new_sources`: the synapses of neurons of a sampled area that could fire for the first time.

A neuron has synapses from a given number of the sources that fire, chosen at random, and from every
other source with probability p.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..numerics import bits, gap_table
from ._call import by_platform, native_call
from ._gap_lists import gap_lists
from ._past_inputs import past_inputs
from ._redraw import gap_words, multiply_high
from ._synaptic_input import Hashed


class NewNeurons(NamedTuple):
    """Neurons and what is known of their synapses from one area.

    **Fields** `number` int32 (c,) of each in its round; `part` int32 (c,) how many synapses come
    from sources that fire; `on` bool () whether any do; `cap` int32 (k,) who fires, ascending,
    `places` for nobody; `keys` uint32 (2, 2) of rows and of choices; static: `places` of the
    source, probability `p`, `drawn` and `chosen` widths of the two parts of a list.
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


def new_sources(new: NewNeurons) -> jax.Array:
    """The sources of each neuron: int32 (c, drawn + chosen), `places` where there is none."""

    def native(*arrays: Any) -> jax.Array:
        return _native("jaxneuro_new_sources", arrays, new, (new.drawn + new.chosen,))

    return _by_platform(new, (), lambda *arrays: _reference(_of(new, arrays)), native)


def new_past_inputs(new: NewNeurons, before: jax.Array, mask: jax.Array) -> jax.Array:
    """How many of the sources of each neuron fired in each round; see `past_inputs`."""

    def native(*arrays: Any) -> jax.Array:
        rounds = (32 * arrays[-2].shape[-1],)  # the last operand is the gap table
        return _native("jaxneuro_new_past_inputs", arrays, new, rounds)

    def reference(*arrays: Any) -> jax.Array:
        return past_inputs(arrays[5], arrays[6], _reference(_of(new, arrays)))

    return _by_platform(new, (before, mask), reference, native)


def _of(new: NewNeurons, arrays: Any) -> NewNeurons:
    return NewNeurons(*arrays[:5], *new[5:])


def _by_platform(new: NewNeurons, more: Any, reference: Any, native: Any) -> jax.Array:
    on = jnp.asarray(new.on).astype(jnp.int32)
    words = jnp.asarray(gap_words(gap_table(new.p)))
    arrays = (new.number, new.part, on, new.cap, new.keys, *more, words)
    return by_platform(*arrays, default=reference, cpu=native)


def _native(target: str, arrays: Any, new: NewNeurons, own: tuple[int, ...]) -> jax.Array:
    table = gap_table(new.p)
    return native_call(
        target,
        arrays,
        (new.number.shape[0], *own),
        jnp.int32,
        vmap_method="expand_dims",
        gaps=np.int64(table.size),
        shift=np.int64(table.shift),
        places=np.int64(new.places),
        drawn=np.int64(new.drawn),
        chosen=np.int64(new.chosen),
        mean=np.float64(new.places * new.p),
    )


def _reference(new: NewNeurons) -> jax.Array:
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


def _choice(words: Any, m: Any, nobody: int, part: Any) -> Any:
    """`part` different numbers below m for each neuron, (c, most); `nobody` in other places.

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
