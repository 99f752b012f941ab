"""Numbers of successes, drawn from one uniform number each."""

from typing import Any

import jax
import jax.numpy as jnp


def binomial(uniform: jax.Array, n: Any, p: jax.Array, most: int) -> jax.Array:
    """A number of n <= most trials of probability p, from one uniform number, by inversion."""
    flipped = p > 0.5
    q = jnp.where(flipped, 1.0 - p, p)  # at most 1/2, so that no probability underflows
    odds = q / (1.0 - q)
    law = below = jnp.exp(n * jnp.log1p(-q))
    count = (uniform > below).astype(p.dtype)
    for k in range(1, most):
        law = law * (odds * ((n - (k - 1)) / k))
        below = below + law
        count = count + (uniform > below).astype(p.dtype)
    count = jnp.minimum(count, n)
    return jnp.where(flipped, n - count, count)
