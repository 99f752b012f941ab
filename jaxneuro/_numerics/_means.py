"""Mean and slope over a time step of kinetics that decay exponentially."""

import jax
import jax.numpy as jnp

from ._singular import tilt


def mean_over_step(tau: jax.Array, dt: float) -> jax.Array:
    """Mean of exp(-t/tau) over one step: `tau/dt (1 - exp(-dt/tau))`.

    `tau` [ms], any shape; `expm1` keeps the digits if tau is much longer than dt.
    """
    return -jnp.expm1(-dt / tau) * (tau / dt)


def slope_over_step(tau: jax.Array, dt: float) -> jax.Array:
    """Slope [1/ms] of the straight line nearest to exp(-t/tau) over one step.

    By least squares: `12/dt^3` times the integral of `(t - dt/2) exp(-t/tau)` from 0 to dt.
    `tau` [ms], any shape.
    """
    return (12.0 / dt) * tilt(dt / tau)
