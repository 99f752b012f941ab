"""Signed 64-bit integers as pairs of uint32 words, so that sums are exact without 64-bit types.

The last axis of such an array has length 2: the low word and the high word (two's complement), as
they lie in the memory of a CPU.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from .._arrays import AnyArray

# Sums of weights are integers in units of 2^-24 (`kUnitBits` of native/assembly.h).
UNIT_BITS = 24

_HALF = np.uint32(16)
_LOW = np.uint32(0xFFFF)
_SIGN = np.uint32(0x80000000)


def wide_words(values: Any) -> np.ndarray:
    """Integers of the host as words (..., 2)."""
    whole = np.asarray(values, np.int64)
    words = np.ascontiguousarray(whole, "<i8").view("<u4")
    return words.astype(np.uint32).reshape(*whole.shape, 2)


def wide_integers(words: AnyArray) -> np.ndarray:
    """Words on the host as int64."""
    pair = np.asarray(words, np.uint32).astype(np.uint64)
    return (pair[..., 0] | pair[..., 1] << np.uint64(32)).astype(np.int64)


def wide_units(count: UInt32[Array, "*n"]) -> UInt32[Array, "*n 2"]:
    """The sum of so many weights of 1, of uint32 counts below 2^31."""
    return jnp.stack([count << np.uint32(UNIT_BITS), count >> np.uint32(32 - UNIT_BITS)], axis=-1)


def wide_add(a: UInt32[AnyArray, "*n 2"], b: UInt32[AnyArray, "*m 2"]) -> UInt32[Array, "*k 2"]:
    """a + b."""
    low = a[..., 0] + b[..., 0]
    carry = (low < a[..., 0]).astype(jnp.uint32)
    return jnp.stack([low, a[..., 1] + b[..., 1] + carry], axis=-1)


def wide_subtract(
    a: UInt32[AnyArray, "*n 2"], b: UInt32[AnyArray, "*m 2"]
) -> UInt32[Array, "*k 2"]:
    """a - b."""
    borrow = (a[..., 0] < b[..., 0]).astype(jnp.uint32)
    return jnp.stack([a[..., 0] - b[..., 0], a[..., 1] - b[..., 1] - borrow], axis=-1)


def wide_multiply(a: jax.Array, count: jax.Array) -> jax.Array:
    """a * count for counts from 0 to 65,535."""
    count = count.astype(jnp.uint32)
    return wide_of_limbs(limbs(a) * count[..., None])


def product_words(
    a: UInt32[Array, "*n"], b: UInt32[Array, "*n"]
) -> tuple[UInt32[Array, "*n"], UInt32[Array, "*n"]]:
    """The low and the high word of a * b, of uint32 numbers."""
    a_low, a_high, b_low, b_high = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    middle = a_high * b_low + (a_low * b_low >> _HALF)  # below 2^32
    other = a_low * b_high + (middle & _LOW)
    return a * b, a_high * b_high + (middle >> _HALF) + (other >> _HALF)


def wide_product(a: UInt32[AnyArray, "*n"], b: UInt32[AnyArray, "*n"]) -> UInt32[Array, "*n 2"]:
    """a * b of uint32 numbers."""
    return jnp.stack(product_words(jnp.asarray(a), jnp.asarray(b)), axis=-1)


def limbs(a: UInt32[Array, "*n 2"]) -> UInt32[Array, "*n 4"]:
    """The four 16-bit parts of an integer, lowest first: (..., 4)."""
    low, high = a[..., 0], a[..., 1]
    return jnp.stack([low & _LOW, low >> _HALF, high & _LOW, high >> _HALF], axis=-1)


def wide_of_limbs(parts: UInt32[Array, "*n 4"]) -> UInt32[Array, "*n 2"]:
    """The integer whose 16-bit parts add up to `parts` (..., 4), each below 2^32."""
    words = []
    carry = jnp.zeros_like(parts[..., 0])
    for number in range(4):
        # The carry is below 2^17, so that only a part near 2^32 could overflow: add in halves.
        part = parts[..., number]
        total = (part & _LOW) + (carry & _LOW)
        words.append(total & _LOW)
        carry = (total >> _HALF) + (part >> _HALF) + (carry >> _HALF)
    low, high = words[0] | words[1] << _HALF, words[2] | words[3] << _HALF
    return jnp.stack([low, high], axis=-1)


def wide_less(a: jax.Array, b: jax.Array) -> jax.Array:
    """Whether a < b."""
    high_a, high_b = a[..., 1] ^ _SIGN, b[..., 1] ^ _SIGN
    return (high_a < high_b) | ((high_a == high_b) & (a[..., 0] < b[..., 0]))


def wide_equal(a: jax.Array, b: jax.Array) -> jax.Array:
    """Whether a == b."""
    return (a[..., 0] == b[..., 0]) & (a[..., 1] == b[..., 1])


def wide_to_float(a: UInt32[Array, "*n 2"]) -> Float[Array, "*n"]:
    """The nearest float32, up to one rounding of each word: for numbers of at least 0.

    A product with a power of two is exact, so the result is the same on every device.
    """
    return a[..., 1].astype(jnp.float32) * np.float32(2.0**32) + a[..., 0].astype(jnp.float32)


def wide_to_number(a: jax.Array) -> jax.Array:
    """The value of a sum of weights, of either sign: float32."""
    negative = (a[..., 1] & _SIGN) != 0
    size = jnp.where(negative[..., None], ~a, a)
    number = wide_to_float(size)
    return jnp.where(negative, -1 - number, number) * np.float32(2.0**-UNIT_BITS)
