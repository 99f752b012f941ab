"""Layers of LIF neurons as a loop in JAX by hand, without delays: what a layer at least costs."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .peers._layers import DECAY, STEEPNESS


@jax.custom_jvp
def spike(x: jax.Array) -> jax.Array:
    """1 above the threshold, 0 below; the derivative is the slope of a fast sigmoid."""
    return (x > 0).astype(x.dtype)


@spike.defjvp
def _spike_jvp(primals, tangents):
    (x,), (change,) = primals, tangents
    return spike(x), change / (1.0 + STEEPNESS * jnp.abs(x)) ** 2


def run(
    weights: Sequence[Float[Array, "sources targets"]],
    spikes: Float[Array, "steps batch inputs"],
    has_readout: bool,
) -> Float[Array, "steps batch neurons"]:
    """The last layer's spikes, or voltages of a readout: a product of all steps and a scan each."""
    x = spikes
    for number, weight in enumerate(weights):
        is_readout = has_readout and number == len(weights) - 1
        drive = x @ weight

        def step(v, drive, is_readout=is_readout):
            v = DECAY * v + drive
            if is_readout:
                return v, v
            s = spike(v - 1.0)
            return v - s, s

        x = jax.lax.scan(step, jnp.zeros(drive.shape[1:]), drive)[1]
    return x
