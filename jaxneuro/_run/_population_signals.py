"""Signals of whole populations: the mean of a variable, and the LFP proxy."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .._network import Network, NetworkState


@jax.custom_jvp
def lattice_mean(x: jax.Array) -> jax.Array:
    """Mean of `(n,)`, of which no bit depends on the order of the sum; NaN of no numbers.

    Every number is rounded to whole multiples of a power of two far below the largest of
    them, and whole numbers add up exactly: the mean is the same on any number of threads and
    devices and in any batch, and its error does not grow with n.
    """
    if x.size == 0:
        return jnp.full((), jnp.nan, x.dtype)
    # The order of floats that are not negative is that of their bits, which vectorises.
    words = lax.bitcast_convert_type(jnp.abs(x), jnp.dtype(f"int{8 * x.dtype.itemsize}"))
    largest = lax.bitcast_convert_type(jnp.max(words), x.dtype)
    exponent = jnp.frexp(largest)[1]
    # Products only with powers of two and one reciprocal: quotients and FMAs change no bit.
    # Two powers, because the inverse of the largest exponent is not a normal number.
    one, half = jnp.ones((), x.dtype), exponent // 2
    rest = x * jnp.ldexp(one, -half) * jnp.ldexp(one, half - exponent)
    bits = 30 - math.ceil(math.log2(x.size))  # the sum of n numbers of so many bits fits int32
    unit, total = 1.0, jnp.zeros((), x.dtype)
    for _ in range(-(-(jnp.finfo(x.dtype).nmant + 2) // bits)):
        unit *= 2.0**-bits
        whole = jnp.round(rest * (1.0 / unit))
        rest = rest - whole * unit
        total += jnp.sum(whole.astype(jnp.int32), dtype=jnp.int32).astype(x.dtype) * unit
    mean = jnp.ldexp(total * (1.0 / x.size), exponent)
    return jnp.where(jnp.isfinite(largest), mean, jnp.nan)


@lattice_mean.defjvp
def _lattice_mean_jvp(primals: Any, tangents: Any) -> Any:
    return lattice_mean(*primals), jnp.mean(*tangents)


def lfp_proxy(net: Network, state: NetworkState, name: str) -> jax.Array:
    """The sum over receptors of the population's mean absolute synaptic current [pA], ()."""
    number, span = net.population(name)
    state = net.whole(state)
    group, mine = net.groups[number].spread(), state.groups[number]
    neurons = mine.neurons
    v, nothing = group.model.voltage(neurons), jnp.zeros(group.n, net.dtype)
    v = nothing if v is None else v
    total = jnp.zeros((), net.dtype)
    for receptor, synapses in zip(group.receptors, mine.receptors):
        arrivals = jnp.stack([nothing] * len(receptor.ports)) if receptor.ports else nothing
        drive = receptor.step(synapses, arrivals, v, net.dt)[1]
        current = jnp.broadcast_to(drive.current_at(v), nothing.shape)
        total += lattice_mean(jnp.abs(current[span]))
    return total
