"""Weights of potentiated synapses, as integers in units of 2^-20."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .._checks import is_traced
from ..kernels import wide_add, wide_words

_ONE = 2.0**20


def weight_tables(beta: Any, w_max: np.ndarray, rounds: int) -> Any:
    """`w_(c+1) = min(w_c (1 + beta), w_max)` in float32, from w_0 = 1: uint32 (F, rounds + 1, 2).

    One multiplication at a time, so that every device gets the same bits.
    """
    if not is_traced(beta):
        return jnp.asarray(_on_host(np.asarray(beta, np.float32), w_max, rounds))
    factor, ceiling = 1 + beta.astype(jnp.float32), jnp.asarray(w_max)

    def grow(w: Any, _: Any) -> Any:
        return jnp.minimum(w * factor, ceiling), w

    _, w = lax.scan(grow, jnp.ones_like(factor), length=rounds + 1)
    return fixed_point(w.T)


def fixed_point(x: Any) -> Any:
    """Numbers from 0 to 2^24 as integers in units of 2^-20, rounded half to even: (..., 2)."""
    x = x.astype(jnp.float32)
    whole = jnp.floor(x)
    part = jnp.round((x - whole) * np.float32(_ONE)).astype(jnp.uint32)
    whole = whole.astype(jnp.uint32)
    words = jnp.stack([whole << np.uint32(20), whole >> np.uint32(12)], axis=-1)
    return wide_add(words, jnp.stack([part, jnp.zeros_like(part)], axis=-1))


def _on_host(beta: np.ndarray, w_max: np.ndarray, rounds: int) -> np.ndarray:
    factor = np.float32(1) + beta
    w = np.ones((rounds + 1, beta.size), np.float32)
    for c in range(rounds):
        w[c + 1] = np.minimum(w[c] * factor, w_max)
    return wide_words(np.rint(w.T.astype(np.float64) * _ONE).astype(np.int64))
