"""The synapses of a fibre in the form that its target area asks for."""

from typing import Any

import jax.numpy as jnp

from .._kernels import (
    Counts,
    Firing,
    Hashed,
    Lists,
    Stored,
    gap_lists,
    gap_width,
    synaptic_input,
    wide_to_number,
    wide_units,
)
from .._numerics import stream_keys
from ._description import Stimulus
from ._state import FibreState

_NARROW = 65_535  # more targets than this need 32 bits


def init_fibres(fibres: tuple, seed: Any) -> tuple[FibreState, ...]:
    """The synapses of all fibres under a seed."""
    if not fibres:
        return ()
    words = stream_keys(seed, [fibre.name for fibre in fibres], "synapses")
    keys = jnp.stack([jnp.asarray(w) for w in words], axis=-1)
    return tuple(init_fibre(fibre, keys[number]) for number, fibre in enumerate(fibres))


def init_fibre(fibre: Any, key: Any) -> FibreState:
    """The synapses of a fibre with the key of its draws."""
    target, drawn = fibre.target, Hashed(key, fibre.target.n, fibre.p)
    synapses = jnp.zeros(0, jnp.int32)
    if isinstance(fibre.source, Stimulus):
        synapses = jnp.zeros(target.places, jnp.int32)
        if not target.sampled:
            sums = all_weights(drawn, fibre.places)
            synapses = wide_to_number(sums).astype(jnp.int32)
    elif target.sampled:
        synapses = jnp.full((target.places, list_width(fibre)), fibre.places, jnp.int32)
    elif target.connectome == "explicit":
        synapses = _stored(drawn, fibre.places)
    sums = jnp.zeros((0, 2), jnp.uint32)
    if target.homeostasis:
        sums = all_weights(drawn, fibre.places)
    return FibreState(key, synapses, sums)


def edges_of(fibre: Any, state: FibreState) -> Any:
    """The synapses of a fibre as the kernels take them."""
    if isinstance(fibre.source, Stimulus):
        return Counts(state.synapses)
    if fibre.target.sampled:
        return Lists(state.synapses)
    if fibre.target.connectome == "explicit":
        return Stored(state.synapses)
    return Hashed(state.key, fibre.target.n, fibre.p)


def all_weights(drawn: Hashed, sources: int) -> Any:
    """The sum of the weights of each target's synapses before any learning: (n, 2)."""
    sums = jnp.zeros((drawn.n, 2), jnp.uint32)
    if drawn.p == 0:
        return sums
    no_word = lambda n: jnp.zeros((n, 1), jnp.uint32)  # noqa: E731
    one = wide_units(jnp.ones(33, jnp.uint32))
    cap, on = jnp.arange(sources, dtype=jnp.int32), jnp.asarray(True)
    firing = Firing(on, cap, no_word(sources), no_word(drawn.n), jnp.zeros(1, jnp.uint32), one)
    return synaptic_input(sums, firing, drawn)


def _stored(drawn: Hashed, sources: int) -> Any:
    dtype = jnp.uint16 if drawn.n <= _NARROW else jnp.int32
    if drawn.p == 0:
        return jnp.full((sources, 1), drawn.n, dtype)
    width = gap_width(drawn.n, drawn.p)
    rows = jnp.arange(sources, dtype=jnp.int32)
    return gap_lists(drawn, rows, width).astype(dtype)


def list_width(fibre: Any) -> int:
    """Places for the sources of a neuron of a sampled area: drawn ones, then chosen ones.

    See `_candidates.py`: the chosen ones are among those that fire in the round in which the neuron
    fires for the first time.
    """
    return drawn_width(fibre) + most_chosen(fibre)


def drawn_width(fibre: Any) -> int:
    """Places for drawn sources."""
    return gap_width(fibre.places, fibre.p) if fibre.p > 0 else 1


def most_chosen(fibre: Any) -> int:
    """More of the firing sources than a neuron has synapses from, but once in 10^18."""
    return max(1, gap_width(fibre.firing, fibre.p)) if fibre.p > 0 else 1
