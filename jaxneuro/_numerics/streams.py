"""Streams of random bits: every draw is `bits(seed, stream, index, counter)`.

A stream is identified by the name and the purpose of what draws, an index by one of its units (a
neuron, a row of connections), a counter by the step or the position. A draw depends on nothing
else: not on batch, order, device or what else exists.

The bits are those of Threefry-2x32, by default with 20 rounds: Salmon, Moraes, Dror, Shaw (2011),
"Parallel random numbers: as easy as 1, 2, 3", doi:10.1145/2063384.2063405. NumPy and JAX give the
same bits: `threefry2x32` only adds, rotates and xors unsigned 32-bit words.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Integer, Shaped, UInt32

from .. import spec
from .._arrays import AnyArray, is_traced
from .._text import brief

# Words of 32 random bits, NumPy or JAX, of shapes that broadcast.
Words: TypeAlias = UInt32[Any, "..."]
_Index: TypeAlias = Integer[AnyArray | np.generic, "..."] | int

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def threefry2x32(
    key: tuple[Words | int, Words], counter: Sequence[Words], rounds: int = 20
) -> tuple[Words, Words]:
    """Two words of random bits for a key of two words and a counter of two words.

    NumPy or JAX; the shapes broadcast.
    """
    one = np.uint32
    keys = (key[0], key[1], key[0] ^ key[1] ^ one(_PARITY))
    x0, x1 = counter[0] + keys[0], counter[1] + keys[1]
    for number in range(rounds):
        r = _ROTATIONS[number // 4 % 2][number % 4]
        x0 = x0 + x1
        x1 = (x1 << one(r)) | (x1 >> one(32 - r))
        x1 = x1 ^ x0
        if number % 4 == 3:
            block = number // 4 + 1
            x0 = x0 + keys[block % 3]
            x1 = x1 + (keys[(block + 1) % 3] + one(block))
    return x0, x1


def as_words(*values: _Index) -> list[Words]:
    """Integers as uint32 words: NumPy where known, JAX where traced."""
    out = []
    for v in values:
        if isinstance(v, int | np.integer | np.ndarray):
            out.append(np.asarray(v).astype(np.uint32))
        else:
            out.append(jnp.asarray(v).astype(jnp.uint32))
    return out


def seed_of(key: Any) -> UInt32[Any, ""]:
    """The seed word (uint32) of an integer or of a `jax.random` key.

    Raises:
        InvalidValueError: for anything else, an integer below 0 included.
    """
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and key >= 0:
        return _fold(int(key))
    if isinstance(key, jax.Array) and key.shape == () and jnp.issubdtype(key.dtype, jnp.integer):
        if not is_traced(key):
            return seed_of(int(key))
        spec.defer(seed_of, key)
        return key.astype(jnp.uint32)
    if isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    if not isinstance(key, jax.Array) or key.shape != (2,) or key.dtype != jnp.uint32:
        must = "an integer of at least 0 or one JAX key (jax.random.key(0))"
        dtype = key.dtype if isinstance(key, jax.Array) and is_traced(key) else None
        got = brief(key) if dtype is None else f"{dtype} numbers"
        raise spec.InvalidValueError("", "key", must, got)
    if not is_traced(key):
        key = np.asarray(key)
    zero = np.uint32(0)
    with np.errstate(over="ignore"):
        return threefry2x32((key[0], key[1]), (zero, zero))[0]


def _fold(key: int) -> UInt32[np.ndarray, ""]:
    """An integer of any size as one word; below 2^32 it is that word."""
    word, rest = as_words(key & 0xFFFFFFFF)[0], key >> 32
    while rest:
        with np.errstate(over="ignore"):
            word = threefry2x32((word, np.uint32(0)), as_words(rest & 0xFFFFFFFF, 1))[0]
        rest >>= 32
    return np.asarray(word)


def stream_key(
    seed: UInt32[Any, ""] | int, name: str, purpose: str
) -> tuple[UInt32[Any, ""], UInt32[Any, ""]]:
    """The two key words of the stream `name`/`purpose` under a seed."""
    high, low = stream_keys(seed, [name], purpose)
    return high[0], low[0]


def stream_keys(
    seed: UInt32[Any, ""] | int, names: Sequence[str], purpose: str
) -> tuple[UInt32[Any, " names"], UInt32[Any, " names"]]:
    """The key words of several streams of one purpose."""
    digests = b"".join(
        hashlib.blake2b(f"{name}\0{purpose}".encode(), digest_size=8).digest() for name in names
    )
    words = np.frombuffer(digests, dtype="<u4").astype(np.uint32).reshape(-1, 2)
    with np.errstate(over="ignore"):
        return threefry2x32((seed, np.uint32(0x6A786E65)), (words[:, 0], words[:, 1]))


def bits(key: tuple[Words, Words], index: _Index, counter: _Index) -> tuple[Words, Words]:
    """Two words of random bits of a stream at (index, counter)."""
    word: Any = as_words(index, counter)
    with np.errstate(over="ignore"):
        return threefry2x32(key, (word[0], word[1]))


# Rounds of the draws within a step: the fewest that are Crush-resistant, according to the authors'
# own benchmark (Salmon et al. 2011; docs/random_numbers.md).
_STEP_ROUNDS = 13


class Stream(eqx.Module):
    """The random bits of n units: the key of each unit's stream and its number in that stream.

    Units of several populations draw in one operation, each as it would alone. Units may form
    runs: consecutive units with one key and ascending numbers. What is given once per run then
    needs no array as long as all units.

    Attributes:
        high, low: key words from `stream_keys`, (), (runs,) or (n,).
        index: the number of the first unit of each run, (runs,), or of each unit, (n,).
        sizes: sizes of the runs; None where `index` has n numbers and nothing is given per run.
    """

    high: Words
    low: Words
    index: Words
    sizes: tuple[int, ...] | None = eqx.field(static=True, default=None)

    @property
    def n(self) -> int:
        """The number of units."""
        return self.index.shape[0] if self.sizes is None else sum(self.sizes)

    def expand(self) -> "Stream":
        """The same stream with nothing given per run."""
        if self.sizes is None:
            return self
        counted = self.index.shape[0] == len(self.sizes)
        index = count_runs(self.index, self.sizes) if counted else self.index
        return Stream(self.each(self.high), self.each(self.low), index)

    def each(self, x: Shaped[Any, "..."]) -> Shaped[Any, "..."]:
        """A value given once, per run or per unit, as () or (n,)."""
        if self.sizes is None or x.shape != (len(self.sizes),):
            return x
        return x[0] if len(self.sizes) == 1 else expand_rows(x, self.sizes)

    def bits(
        self, counter: _Index, purpose: _Index = 0
    ) -> tuple[UInt32[Any, " n"], UInt32[Any, " n"]]:
        """Two words of random bits per unit at a counter (a step).

        Draws of different `purpose` (a small whole number) at one counter are independent.
        """
        each = self.expand()
        return _draw(each.high, each.low, each.index, counter, purpose)

    def word(self, counter: _Index, purpose: _Index = 0) -> UInt32[Any, " n"]:
        """One word of random bits per unit at a counter, with half the work if numbers ascend.

        Of 32 units in a row, the first 16 get the first words of 16 draws, the others the second
        words. `bits` and `word` are not independent of each other at one counter and purpose.
        """
        each = self.expand()
        index: Any = each.index
        one = np.uint32
        pair = (index >> one(5) << one(4)) | (index & one(15))
        first, second = _draw(each.high, each.low, pair, counter, purpose)
        with np.errstate(over="ignore"):
            return first ^ ((first ^ second) & (one(0) - (index >> one(4) & one(1))))

    def common(self) -> "Stream":
        """The stream that all units of a population share: the same bits for each of them."""
        each = self.expand()
        return Stream(each.high, each.low, jnp.full_like(each.index, np.uint32(0xFFFFFFFF)))


def any_stream(n: int) -> Stream:
    """A stream of n units, for what only asks for shapes, or does not depend on the bits."""
    zero = jnp.zeros(n, jnp.uint32)
    return Stream(zero, zero, jnp.arange(n, dtype=jnp.uint32))


def _draw(
    high: Words, low: Words, index: Words, counter: _Index, purpose: _Index
) -> tuple[Words, Words]:
    word, number = as_words(counter, purpose)
    with np.errstate(over="ignore"):
        low = low ^ (number * np.uint32(0x9E3779B9))
        return threefry2x32((high, low), (index, word), rounds=_STEP_ROUNDS)


_PIECES = 64


def expand_rows(x: Shaped[Any, " runs"], sizes: Sequence[int]) -> Shaped[Any, " n"]:
    """One number per run, repeated for each of its units.

    Concatenates broadcasts: the indices of a `repeat` are a constant as long as all units, on which
    XLA would spend seconds while it compiles. Many runs use one gather instead.
    """
    if len(sizes) == 1:
        return jnp.broadcast_to(x[0], sizes[0])
    if len(sizes) > _PIECES:
        return x[np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)]
    return jnp.concatenate([jnp.broadcast_to(x[k], n) for k, n in enumerate(sizes)])


def count_runs(first: UInt32[AnyArray, " runs"], sizes: Sequence[int]) -> UInt32[Array, " n"]:
    """The numbers of all units, from the number of the first unit of each run."""
    pieces = [jnp.arange(n, dtype=jnp.uint32) for n in sizes]
    return jnp.concatenate(pieces) + expand_rows(first, sizes)
