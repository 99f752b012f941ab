"""Absolute refractoriness, counted in steps."""

import jax
import jax.numpy as jnp


def countdown(
    spikes: jax.Array, refractory: jax.Array, t_ref: jax.Array, dt: float
) -> tuple[jax.Array, jax.Array]:
    """Which neurons are not refractory in this step, and how many steps are left after it.

    `spikes` of the step before, bool (n,); `refractory` uint16 (n,) steps left before this one,
    not counting those spikes; `t_ref` [ms]. A spike in step k holds a neuron through the steps
    k+1 ... k+t_ref/dt.
    """
    hold = jnp.rint(t_ref / dt).astype(jnp.uint16)
    left = jnp.where(spikes, hold, refractory)
    free = left == 0
    return free, left - (~free).astype(jnp.uint16)
