"""Powers of weights, which may be 0."""

from typing import Any

import jax
import jax.numpy as jnp


def power(x: Any, exponent: Any) -> jax.Array:
    """`x ** exponent` for x >= 0 and exponent >= 0, with 0 ** 0 = 1; below 0, x counts as 0.

    The derivative at x = 0 is exact for an exponent of 0 or at least 1; between, where it is
    infinite, it is taken as 0.
    """
    # Only a base whose derivative is finite reaches the power: a NaN would come through `where`.
    known = (x > 0) | ((x == 0) & (exponent >= 1.0))
    return jnp.where(
        known, jnp.where(known, x, 1.0) ** exponent, jnp.where(exponent == 0.0, 1.0, 0.0)
    )
