"""Draws values from a table of quantiles, without a transcendental function of the bits.

A word of 32 random bits stands for a probability. Its distance r from the nearer end,
`r = word` or `2^32 - 1 - word`, is rounded to 11 bits after the leading one:

    s = max(bits(r) - 12, 0),    cell = 2^11 s + floor(r / 2^s),

counted from the other end for the upper half. A cell has at most 2^-11 of the probability between
it and the nearer end, and below 2^-20 each word has its own cell. There are 2 x 21 x 2^11 cells in
all. The value of a cell is the quantile at its middle. NumPy, JAX, C++ and Pallas select the same
cell, and have the same value if the table is the same.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._distributions import Distribution

_BITS = 11
_HALF = 21 << _BITS
QUANTILES = 2 * _HALF


def quantile_index(word: Any) -> Any:
    """The cells of random words (uint32): int32 from 0 to 86,015, NumPy or JAX in and out."""
    one = np.uint32
    if isinstance(word, jax.Array):
        upper = word >= one(1 << 31)
        r = jnp.where(upper, ~word, word)
        size = one(32) - jax.lax.clz(r)
        shift = jnp.maximum(size, one(_BITS + 1)) - one(_BITS + 1)
        index = ((shift << one(_BITS)) + (r >> shift)).astype(jnp.int32)
        return jnp.where(upper, np.int32(QUANTILES - 1) - index, index)
    word = np.asarray(word)
    upper = word >= one(1 << 31)
    r = np.where(upper, ~word, word)
    shift = np.maximum(np.frexp(r.astype(np.float64))[1] - (_BITS + 1), 0).astype(np.uint32)
    index = ((shift << one(_BITS)) + (r >> shift)).astype(np.int32)
    return np.where(upper, np.int32(QUANTILES - 1) - index, index)


def _middle(index: np.ndarray) -> np.ndarray:
    """The probability in the middle of each cell, exact in float64."""
    upper = index >= _HALF
    cell = np.where(upper, QUANTILES - 1 - index, index).astype(np.int64)
    shift = np.maximum((cell >> _BITS) - 1, 0)
    first = (cell - (shift << _BITS)) << shift
    u = (2 * first + (1 << shift)) * 2.0**-33
    return np.where(upper, 1.0 - u, u)


def _quantiles(law: Distribution, index: np.ndarray) -> np.ndarray:
    u = _middle(index)
    return np.broadcast_to(np.asarray(law.quantile(u), np.float64), u.shape)


@functools.lru_cache(maxsize=32)
def quantile_table(law: Distribution) -> np.ndarray:
    """The value of every cell, float64 (86,016,), read-only."""
    table = np.array(_quantiles(law, np.arange(QUANTILES)))
    table.flags.writeable = False
    return table


def drawn(law: Distribution, word: np.ndarray) -> np.ndarray:
    """The values (float64) of a distribution for random words; few need no table."""
    index = quantile_index(word)
    if 2 * index.size < QUANTILES:
        return np.array(_quantiles(law, index))
    return quantile_table(law)[index]
