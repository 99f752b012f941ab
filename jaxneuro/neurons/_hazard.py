"""Spikes drawn from a hazard that grows exponentially with the voltage."""

import jax
import jax.numpy as jnp

from ..numerics import Stream, chance


def escapes(x: jax.Array, rho_0: jax.Array, stream: Stream, step: jax.Array, dt: float):
    """Who spikes in a step of hazard `rho_0 exp(x)` [1/ms], bool (n,).

    With the probability `1 - exp(-rho_0 exp(x) dt)`; never at an x that is not finite, which is
    an error and stays in the state.
    """
    p = -jnp.expm1(-dt * rho_0 * jnp.exp(x))
    return chance(stream.word(step), p) & (x < jnp.inf)
