"""Exact propagators of a membrane that exponential and alpha currents drive.

Rotter and Diesmann (1999), doi:10.1007/s004220050570. With `a = dt/tau_syn`, `b = dt/tau_m` and
`x = a - b` they are `exp(-a) phi(x)`. This has no difference of nearly equal terms where `tau_syn`
is near `tau_m`, and is the limit where they are equal.
"""

import jax
import jax.numpy as jnp

from .._numerics import phi1, phi2


def from_current(tau_m: jax.Array, c_m: jax.Array, dt: float) -> jax.Array:
    """v [mV] at the end of a step per pA of a constant current: `tau_m/c_m (1 - exp(-b))`."""
    return -jnp.expm1(-dt / tau_m) * (tau_m / c_m)


def from_decaying(tau_m: jax.Array, c_m: jax.Array, tau_syn: jax.Array, dt: float) -> jax.Array:
    """v [mV] at the end of a step per pA of a current `exp(-t/tau_syn)`.

    `dt/c_m exp(-a) phi1(x)`, which is the same with a and b exchanged.
    """
    a, b = dt / tau_syn, dt / tau_m
    x = a - b
    # Of the two forms the one that cannot overflow; at 0 both have the same derivatives.
    slow, negative = jnp.where(x > 0, b, a), jnp.where(x > 0, -x, x)
    return (dt / c_m) * jnp.exp(-slow) * phi1(negative)


def from_rising(tau_m: jax.Array, c_m: jax.Array, tau_syn: jax.Array, dt: float) -> jax.Array:
    """v [mV] at the end of a step per pA/ms of a current `t exp(-t/tau_syn)`.

    `dt^2/c_m exp(-a) phi2(x) = dt^2/c_m exp(-b) (1 - (1 + x) exp(-x)) / x^2`.
    """
    a, b = dt / tau_syn, dt / tau_m
    x = a - b
    far = x > 1.0
    one = jnp.ones_like(x)
    # Two `where`: phi2 overflows on the far side, the other form loses its digits near 0.
    near = jnp.exp(-a) * phi2(jnp.where(far, one, x))
    y = jnp.where(far, x, one)
    beyond = jnp.exp(-b) * (1.0 - (1.0 + y) * jnp.exp(-y)) / jnp.square(y)
    return (dt * dt / c_m) * jnp.where(far, beyond, near)
