"""Streams of random bits: every draw is `bits(seed, stream, index, counter)`.

A stream is the name and the purpose of what draws, an index one of its units (a
neuron, a row of connections), a counter the step or the position. Nothing else
enters, so a draw does not depend on batch, order, device or what else exists.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import is_traced
from ._threefry import as_words, threefry2x32


def seed_of(key: Any) -> Any:
    """The seed word (uint32) of an integer or of a `jax.random` key."""
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        if key < 0:
            raise ValueError(f"a key must be an integer of at least 0 or a JAX key; got {key}")
        return _fold(int(key))
    if isinstance(key, jax.Array) and key.shape == () and jnp.issubdtype(key.dtype, jnp.integer):
        return key.astype(jnp.uint32) if is_traced(key) else seed_of(int(key))
    if isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    if not isinstance(key, jax.Array) or key.shape != (2,) or key.dtype != jnp.uint32:
        raise ValueError(
            f"a key must be an integer of at least 0 or one JAX key (jax.random.key(0)); "
            f"got {key!r}"
        )
    if not is_traced(key):
        key = np.asarray(key)
    zero = np.uint32(0)
    with np.errstate(over="ignore"):
        return threefry2x32((key[0], key[1]), (zero, zero))[0]


def _fold(key: int) -> np.ndarray:
    """An integer of any size as one word; below 2^32 it is that word."""
    word, rest = as_words(key & 0xFFFFFFFF)[0], key >> 32
    while rest:
        with np.errstate(over="ignore"):
            word = threefry2x32((word, np.uint32(0)), as_words(rest & 0xFFFFFFFF, 1))[0]
        rest >>= 32
    return np.asarray(word)


def stream_key(seed: Any, name: str, purpose: str) -> tuple[Any, Any]:
    """The two key words of the stream `name`/`purpose` under a seed."""
    high, low = stream_keys(seed, [name], purpose)
    return high[0], low[0]


def stream_keys(seed: Any, names: Sequence[str], purpose: str) -> tuple[Any, Any]:
    """The key words of several streams of one purpose: two arrays (names,)."""
    digests = b"".join(
        hashlib.blake2b(f"{name}\0{purpose}".encode(), digest_size=8).digest() for name in names
    )
    words = np.frombuffer(digests, dtype="<u4").astype(np.uint32).reshape(-1, 2)
    with np.errstate(over="ignore"):
        return threefry2x32((seed, np.uint32(0x6A786E65)), (words[:, 0], words[:, 1]))


def bits(key: tuple[Any, Any], index: Any, counter: Any) -> tuple[Any, Any]:
    """Two words of random bits of a stream at (index, counter)."""
    word: Any = as_words(index, counter)
    with np.errstate(over="ignore"):
        return threefry2x32(key, (word[0], word[1]))


# Rounds of the draws that are made in every step: 13 pass BigCrush (Salmon et al. 2011, table 2).
_STEP_ROUNDS = 13


class Stream(NamedTuple):
    """Where n units draw their bits: the key of each one's stream, and its number there.

    Units of several populations draw in one operation, each as it would alone.

    **Fields** `high`, `low` uint32 () or (n,): key words from `stream_keys`; `index` uint32
    (n,).

    **Source** the house's own: design section 4.
    """

    high: Any
    low: Any
    index: Any

    def bits(self, counter: Any, purpose: int = 0) -> tuple[Any, Any]:
        """Two words of random bits per unit at a counter (a step).

        Draws of different `purpose` (a small whole number) at one counter are independent.
        """
        word: Any = as_words(counter)[0]
        low = self.low ^ np.uint32(purpose * 0x9E3779B9 & 0xFFFFFFFF)
        with np.errstate(over="ignore"):
            return threefry2x32((self.high, low), (self.index, word), rounds=_STEP_ROUNDS)

    def common(self) -> "Stream":
        """The stream that all units of a population share: the same bits for each of them."""
        return self._replace(index=jnp.full_like(self.index, np.uint32(0xFFFFFFFF)))
