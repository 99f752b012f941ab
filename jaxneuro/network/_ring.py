"""The ring of a group: what arrives at its receptors in the time steps to come.

A ring has a slot for every step until the longest delay has passed, and slots are used again: what
arrives at the end of step k is in slot k mod slots, at the places that `kernels.ring_place` gives.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def empty_ring(slots: int, receptors: int, n: int, dtype: Any) -> jax.Array:
    """A ring in which nothing arrives: (slots, places)."""
    return jnp.zeros((slots, receptors * n), dtype)


def arrivals(ring: jax.Array, step: jax.Array, receptors: int) -> jax.Array:
    """What arrives at the end of `step`: (receptors, n)."""
    slot = lax.rem(step, jnp.int32(ring.shape[0]))
    now = lax.dynamic_index_in_dim(ring, slot, 0, keepdims=False)
    return now.reshape(receptors, ring.shape[1] // max(receptors, 1))
