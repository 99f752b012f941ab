"""The state of a GLIF neuron: what a spike does to it, and how it moves between spikes."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import concrete
from .._numerics import decay_mean
from .._types import Drive


class GLIFState(NamedTuple):
    """State of n GLIF neurons.

    **Fields** (n,) each: `v` [mV] membrane potential, `asc_1`, `asc_2` [pA] after-spike currents,
    `theta_s`, `theta_v` [mV] what spikes and voltage add to the threshold; after a spike all of
    them as *before* the reset; `spikes` bool; `refractory` uint16: steps left before they move.
    """

    v: jax.Array
    asc_1: jax.Array
    asc_2: jax.Array
    theta_s: jax.Array
    theta_v: jax.Array
    spikes: jax.Array
    refractory: jax.Array


def check_falls(m: Any) -> None:
    """Raises `ValueError` unless the reset takes a GLIF from its threshold to below it."""
    # The sum is traced if any of its terms is.
    above = concrete(m.e_l + m.f_v * (m.v_th - m.e_l) + m.delta_v - m.v_th - m.delta_theta_s)
    if above is not None and np.any(above >= 0):
        raise ValueError(
            "GLIF: f_v and delta_v must reset v from the threshold to below v_th + delta_theta_s, "
            f"the threshold after a spike; got {above.max():g} mV above it. Lower f_v or delta_v"
        )


def reset(m: Any, state: GLIFState) -> GLIFState:
    """The state after the reset of those that spiked in the last step; `m` is the model."""
    after = (
        m.e_l + m.f_v * (state.v - m.e_l) + m.delta_v,
        m.f_1 * jnp.exp(-m.k_1 * m.t_ref) * state.asc_1 + m.delta_i_1,
        m.f_2 * jnp.exp(-m.k_2 * m.t_ref) * state.asc_2 + m.delta_i_2,
        jnp.exp(-m.b_s * m.t_ref) * state.theta_s + m.delta_theta_s,
    )
    new = (jnp.where(state.spikes, x, y) for x, y in zip(after, state))
    return GLIFState._make((*new, *state[4:]))


def moved(m: Any, state: GLIFState, drive: Drive, dt: float) -> tuple[jax.Array, ...]:
    """The five variables at the end of a step outside of `t_ref`; v without jumps."""
    current, conductance = drive.linear()
    for asc, k in ((state.asc_1, m.k_1), (state.asc_2, m.k_2)):
        current = current + asc * (decay_mean(k, dt) / dt)
    g = m.g_l + conductance
    rate, start, end = g / m.c_m, state.v - m.e_l, (current - conductance * m.e_l) / g
    # (exp(-rate dt) - exp(-b_v dt)) / (b_v - rate), in whichever order does not overflow
    slow, apart = m.b_v < rate, m.b_v - rate
    passing = jnp.exp(-jnp.where(slow, m.b_v, rate) * dt)
    passing = passing * decay_mean(jnp.where(slow, -apart, apart), dt)
    lifted = m.a_v * (end * decay_mean(m.b_v, dt) + (start - end) * passing)
    return (
        m.e_l + end + (start - end) * jnp.exp(-rate * dt),
        state.asc_1 * jnp.exp(-m.k_1 * dt),
        state.asc_2 * jnp.exp(-m.k_2 * dt),
        state.theta_s * jnp.exp(-m.b_s * dt),
        state.theta_v * jnp.exp(-m.b_v * dt) + lifted,
    )
