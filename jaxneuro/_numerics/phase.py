"""The phase of an oscillation after any number of steps, with a rounding that does not grow."""

import functools
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Integer

from .._arrays import AnyArray
from .streams import Words

_HALF = np.uint32(16)
_LOW = np.uint32(0xFFFF)


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def cycles(
    frequency: Float[Array, "..."], step: Integer[AnyArray | np.generic, "..."] | int, dt: float
) -> Float[Array, "..."]:
    """The part of a cycle in [-1/2, 1/2) at a step: `frequency t` without whole cycles.

    `frequency` [Hz] of at least 0; `dt` [ms]. Fixed-point arithmetic with 64 bits
    after the point: even at step 2^31 it is right to 1e-9 of a cycle, or 6e-11 per Hz, before
    the result is rounded to a float. The derivative with respect to the frequency is t.
    """
    # Cycles per step of 1 Hz, as a whole number of 2^-64.
    unit = round(Fraction(dt) / 1000 * 2**64) & (2**64 - 1)
    high, low = np.uint32(unit >> 32), np.uint32(unit & 0xFFFFFFFF)
    whole = jnp.floor(frequency)
    hz = whole.astype(jnp.uint32)
    # The digits after the point, 32 bits and the next 32; a float below 1 stays below 2^32.
    scale = np.asarray(2.0**32, frequency.dtype)
    scaled = (frequency - whole) * scale
    part, rest = jnp.floor(scaled), (scaled - jnp.floor(scaled)) * scale
    per_step = _times((high, low), hz)
    per_step = _add(per_step, _high_part((high, low), part.astype(jnp.uint32)))
    last = _product(high, rest.astype(jnp.uint32))[0]
    per_step = _add(per_step, (jnp.zeros_like(last), last))
    step = jnp.asarray(step).astype(jnp.int32)
    turned = _times(per_step, lax.bitcast_convert_type(step, jnp.uint32))[0]
    # A negative step is 2^32 more as a word.
    turned = turned - jnp.where(step < 0, per_step[1], jnp.zeros_like(per_step[1]))
    signed = lax.bitcast_convert_type(turned, jnp.int32)
    return signed.astype(frequency.dtype) * np.asarray(2.0**-32, frequency.dtype)


@cycles.defjvp
def _cycles_jvp(dt: float, primals: Any, tangents: Any) -> Any:
    frequency, step = primals
    t = jnp.asarray(step).astype(frequency.dtype) * np.asarray(dt * 1e-3, frequency.dtype)
    return cycles(frequency, step, dt), t * tangents[0]


def _product(a: Words, b: Words) -> tuple[Words, Words]:
    """The product of two words as (high, low)."""
    a1, a0, b1, b0 = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    middle = a1 * b0 + (a0 * b0 >> _HALF)  # below 2^32
    other = a0 * b1 + (middle & _LOW)
    return a1 * b1 + (middle >> _HALF) + (other >> _HALF), a * b


def _times(x: tuple[Words, Words], word: Words) -> tuple[Words, Words]:
    """A number of 64 bits times a word, modulo 2^64."""
    high, low = _product(x[1], word)
    return x[0] * word + high, low


def _high_part(x: tuple[Words, Words], word: Words) -> tuple[Words, Words]:
    """A number of 64 bits times a word, over 2^32."""
    carry = _product(x[1], word)[0]
    return _add(_product(x[0], word), (jnp.zeros_like(carry), carry))


def _add(x: tuple[Words, Words], y: tuple[Words, Words]) -> tuple[Words, Words]:
    low = x[1] + y[1]
    return x[0] + y[0] + (low < x[1]).astype(jnp.uint32), low
