"""What release models share: values at spikes, and variables that relax to all digits."""

from typing import Any

import jax
import jax.numpy as jnp


def at_spikes(spikes: jax.Array, x: Any) -> jax.Array:
    """x where a neuron spikes and 0 elsewhere, (n,); spikes of 0/1 let gradients through."""
    if spikes.dtype == jnp.bool_:
        return jnp.where(spikes, x, jnp.zeros_like(x))
    return spikes.astype(x.dtype) * x


def decay(tau: jax.Array, dt: float) -> jax.Array:
    """`exp(-dt/tau) - 1`, to all digits; -1 where tau is 0: all is gone after a step."""
    lasts = tau > 0
    # Two `where`: a gradient evaluates both branches.
    return jnp.where(lasts, jnp.expm1(-dt / jnp.where(lasts, tau, jnp.ones_like(tau))), -1.0)


def relaxed(x: jax.Array, low: jax.Array, rest: Any, loss: Any) -> tuple[jax.Array, jax.Array]:
    """`x + low` one step nearer to `rest`: `rest + (x + low - rest) (1 + loss)`, as two numbers.

    Near `rest` a float32 x would stay where it is: there a step changes less than its last digit.
    `low` is what x does not hold. XLA must not know `rest`: it takes `(rest + away) - rest` for
    `away` where that is a constant, and `low` would be 0.
    """
    rest = jax.lax.optimization_barrier(jnp.asarray(rest, x.dtype))
    away = (x - rest) + low
    away = away + away * loss
    new = rest + away
    return new, away - (new - rest)
