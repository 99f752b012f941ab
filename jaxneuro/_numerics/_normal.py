"""Normal numbers from random bits.

Box and Muller (1958), doi:10.1214/aoms/1177706645.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def standard_normal(words: tuple[Any, Any], dtype: Any) -> jax.Array:
    """A standard normal number from two words; the tails reach 6.7 standard deviations."""
    # u is small in the tail, where floats are dense, so that the tail keeps all 32 bits.
    u = (words[0].astype(dtype) + np.asarray(0.5, dtype)) * np.asarray(2.0**-32, dtype)
    radius = jnp.sqrt(np.asarray(-2.0, dtype) * jnp.log(u))
    return radius * _cosine(lax.bitcast_convert_type(words[1], jnp.int32).astype(dtype))


def _cosine(angle: jax.Array) -> jax.Array:
    """The cosine of an angle in units of 2^-31 pi, below 2^31, by a series, faster than `cos`."""
    dtype = angle.dtype
    quarter = np.asarray(0.5 * np.pi, dtype) - jnp.abs(angle) * np.asarray(2.0**-31 * np.pi, dtype)
    square = quarter * quarter
    series: Any = jnp.zeros_like(angle)
    # Up to pi/2 the terms fall below 1e-17 after the eleventh.
    for k in reversed(range(11)):
        series = series * square + np.asarray((-1.0) ** k / math.factorial(2 * k + 1), dtype)
    return quarter * series
