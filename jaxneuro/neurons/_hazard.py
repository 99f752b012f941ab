"""Spikes drawn from a hazard that grows exponentially with the voltage."""

import jax
import jax.numpy as jnp

from .._numerics import Stream, chance


def escapes(x: jax.Array, rho_0: jax.Array, stream: Stream, step: jax.Array, dt: float):
    """Which neurons spike in a step with the hazard `rho_0 exp(x)` [1/ms], bool (n,).

    The probability is `1 - exp(-rho_0 exp(x) dt)`. No neuron spikes at an x that is not finite,
    so that this error stays in the state.
    """
    p = -jnp.expm1(-dt * rho_0 * jnp.exp(x))
    return chance(stream.word(step), p) & (x < jnp.inf)
