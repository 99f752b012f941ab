"""What release models share: values at spikes, and variables that relax to all digits."""

import jax
import jax.numpy as jnp

from .._kernels import at_spikes as at_spikes
from .._kernels import relaxed as relaxed


def decay(tau: jax.Array, dt: float) -> jax.Array:
    """`exp(-dt/tau) - 1`, to all digits; -1 where tau is 0: all is gone after a step."""
    lasts = tau > 0
    # Two `where`: a gradient evaluates both branches.
    return jnp.where(lasts, jnp.expm1(-dt / jnp.where(lasts, tau, jnp.ones_like(tau))), -1.0)
