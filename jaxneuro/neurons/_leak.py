"""The step of a leaky membrane, exact under a drive that is constant over it."""

from typing import Any

import jax
import jax.numpy as jnp

from .._types import Drive


def leaky(v: jax.Array, drive: Drive, e_l: Any, tau_m: Any, c_m: Any, dt: float) -> jax.Array:
    """v [mV] after a step of `c_m dv/dt = -(c_m/tau_m) (v - e_l) + current - conductance v`.

    `v_inf + (v - v_inf) exp(-dt g / c_m)`, with `g = c_m/tau_m + conductance` and `v_inf = b / g`,
    `b = c_m/tau_m e_l + current`: exact for a drive that is constant over the step. Slopes of
    the drive add `dt^2/(12 c_m) (current_slope - conductance_slope v_inf)` to v_inf, the Magnus
    expansion of fourth order. They are divided by `1 + (dt g/c_m)^2/12`, which keeps the order and
    is stable for any g. Jumps are not added.

    Blanes et al. (2009), doi:10.1016/j.physrep.2008.11.001.
    """
    g_l = c_m / tau_m
    if drive.conductance is None:
        moved = e_l + (v - e_l) * jnp.exp(-dt / tau_m)
        if drive.current is None:
            return moved
        return moved + drive.current * (-jnp.expm1(-dt / tau_m) / g_l)
    g = g_l + drive.conductance
    v_inf = (g_l * e_l if drive.current is None else g_l * e_l + drive.current) / g
    if drive.conductance_slope is not None:
        moved = drive.conductance_slope * v_inf
        rise = -moved if drive.current_slope is None else drive.current_slope - moved
        v_inf = v_inf + _coupling(rise, g, c_m, dt)
    return v_inf + (v - v_inf) * jnp.exp(g * (-dt / c_m))


def _coupling(rise: jax.Array, g: Any, c_m: Any, dt: float) -> jax.Array:
    """What slopes add to v_inf. No sum of two products: a compiler may fuse either of them."""
    small = jnp.square(dt / c_m) * (1 / 12)
    return (small * c_m) * rise / (1.0 + small * g * g)
