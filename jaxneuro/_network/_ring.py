"""The ring of a group: what arrives at its receptors in the time steps to come.

A receptor has one row of arrivals, or one for each of its ports: the inputs of the group. Those to
which projections or couplings lead are *fed*. Their inputs come first, and only these are in the
ring: what stimuli send arrives in the step itself.
A ring has a slot for every step until the longest delay has passed (`kernels.ring_slots`), and
slots are used again: what arrives at the end of step k is in slot k mod slots, at the places that
`kernels.ring_place` gives.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .._types import Synapse


def input_rows(receptors: Sequence[Synapse], fed: Sequence[bool]) -> list[slice]:
    """The rows of arrivals of each receptor: one, or one for each of its ports; fed ones first."""
    rows, end = [slice(0)] * len(receptors), 0
    for number in sorted(range(len(receptors)), key=lambda number: not fed[number]):
        start, end = end, end + max(len(receptors[number].ports), 1)
        rows[number] = slice(start, end)
    return rows


def count_fed(receptors: Sequence[Synapse], fed: Sequence[bool]) -> int:
    """How many rows of arrivals the ring has: those of fed receptors."""
    return sum(max(len(r.ports), 1) for r, fed in zip(receptors, fed) if fed)


def empty_ring(slots: int, inputs: int, n: int, dtype: Any) -> jax.Array:
    """A ring in which nothing arrives: (slots, places)."""
    return jnp.zeros((slots, inputs * n), dtype)


def arrivals(ring: jax.Array, step: jax.Array, inputs: int) -> jax.Array:
    """What arrives at the end of `step`: (inputs, n)."""
    slot = lax.rem(step, jnp.int32(ring.shape[0]))
    now = lax.dynamic_index_in_dim(ring, slot, 0, keepdims=False)
    return now.reshape(inputs, ring.shape[1] // max(inputs, 1))
