"""Means over a time step of kinetics that decay exponentially."""

import jax
import jax.numpy as jnp


def mean_over_step(tau: jax.Array, dt: float) -> jax.Array:
    """Mean of exp(-t/tau) over one step: `tau/dt (1 - exp(-dt/tau))`.

    `tau` [ms], any shape; `expm1` keeps the digits for tau much longer than dt.
    """
    return -jnp.expm1(-dt / tau) * (tau / dt)
