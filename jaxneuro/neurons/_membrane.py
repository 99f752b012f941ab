"""The exact step of a leaky membrane, the reset of v, and refractoriness in steps."""

from typing import Any

import jax
import jax.numpy as jnp

from .. import spec
from .._model import Drive, Neuron


class ResetNeuron(Neuron):
    """A neuron whose v begins the step after a spike at `v_reset`.

    It has a parameter `v_reset`. Its state has `spikes` of the last step, and `v` at the end of it,
    before the reset.
    """

    def voltage(self, state: Any) -> jax.Array:
        # No field of this class: it would be the first argument of every model.
        v_reset = self.v_reset  # pyright: ignore[reportAttributeAccessIssue]
        return jnp.where(state.spikes, v_reset, state.v)


class SubtractingNeuron(Neuron):
    """A neuron with a threshold `v_th` whose reset may subtract, and may have a derivative.

    It has `v_th`, `v_reset`, the fields `reset_field` and `reset_gradient_field`, and the rule
    `NEEDS_SURROGATE`. Its state has the spikes as `no_spikes` has them.
    """

    def voltage(self, state: Any) -> jax.Array:
        v, spikes = state.v, state.spikes
        me: Any = self
        v_reset = me.v_reset
        if me.reset == "value" and not me.reset_gradient:
            return jnp.where(spikes, v_reset, v)
        v_th = me.v_th
        if me.reset_gradient:  # spikes are 0.0 or 1.0
            if me.reset == "subtract":
                return v - spikes * (v_th - v_reset)
            return (1.0 - spikes) * v + spikes * v_reset
        return jnp.where(spikes, v - (v_th - v_reset), v)

    def compared(self, v: jax.Array, free: jax.Array) -> jax.Array:
        """The v that a threshold is compared with: a neuron that is held does not spike."""
        me: Any = self
        return v if me.reset == "value" else jnp.where(free, v, -jnp.inf)

    def no_spikes(self, n: int) -> jax.Array:
        """Those before the first step, as the state has them: floats if they have a gradient."""
        me: Any = self
        return jnp.zeros(n, me.v_th.dtype if me.reset_gradient else bool)


def reset_field() -> Any:
    """The field that says how a spike resets v."""
    words = "what a spike does to v: sets it to v_reset, or lowers it by v_th - v_reset"
    kind = spec.OneOf("value", "subtract")
    return spec.field(kind, default="value", kw_only=True, static=True, doc=words)


def reset_gradient_field() -> Any:
    """The field that says whether a gradient goes through the reset."""
    words = "whether a gradient with a surrogate goes through the reset, too"
    return spec.field(spec.Flag(), default=False, kw_only=True, static=True, doc=words)


NEEDS_SURROGATE = spec.Rule(
    "reset_gradient",
    "False without a surrogate",
    lambda reset_gradient, surrogate: surrogate is not None or not reset_gradient,
)


def leaky(
    v: jax.Array, drive: Drive, e_l: jax.Array, tau_m: jax.Array, c_m: jax.Array, dt: float
) -> jax.Array:
    """v [mV] after a step of `c_m dv/dt = -(c_m/tau_m) (v - e_l) + current - conductance v`.

    `v + (v_inf - v) (1 - exp(-dt g / c_m))`, with `g = c_m/tau_m + conductance` and
    `v_inf = (c_m/tau_m e_l + current) / g`: exact for a drive that is constant over the step. For a
    drive with slopes, v_inf is that of the drive `dt^2 g / (12 c_m)` after the middle of the step,
    which is the Magnus expansion of fourth order. This time is at most dt/6: up to there the line
    nearest to a conductance is never negative, so that v_inf stays bounded for any g. Jumps are
    not added.

    Reference:
        Blanes et al. (2009), doi:10.1016/j.physrep.2008.11.001.
    """
    g_l = c_m / tau_m
    if drive.conductance is None:
        moved = e_l + (v - e_l) * jnp.exp(-dt / tau_m)
        if drive.current is None:
            return moved
        return moved + drive.current * (-jnp.expm1(-dt / tau_m) / g_l)
    g = g_l + drive.conductance
    inward = g_l * e_l if drive.current is None else g_l * e_l + drive.current
    share = 1.0 - jnp.exp(g * (-dt / c_m))
    if drive.conductance_slope is not None:
        # Each sum has one product: of two, a compiler may fuse either, and bits depend on which.
        late = jnp.minimum(g * (dt * dt / (12.0 * c_m)), dt / 6.0)
        g = g + late * drive.conductance_slope
        inward = inward if drive.current_slope is None else inward + late * drive.current_slope
    # v_inf is read once: XLA makes a loop of its own for a quotient that is read twice.
    return v + (inward / g - v) * share


def countdown(
    spikes: jax.Array, refractory: jax.Array, t_ref: jax.Array, dt: float
) -> tuple[jax.Array, jax.Array]:
    """Which neurons are not refractory in this step, and how many steps are left after it.

    A spike in step k holds a neuron through the steps k+1 ... k+t_ref/dt.

    Args:
        spikes: those of the step before, bool (n,).
        refractory: steps left before this one, not counting those spikes, uint16 (n,).
        t_ref: refractory time [ms], () or (n,).
        dt: time step [ms].
    """
    hold = jnp.rint(t_ref / dt).astype(jnp.uint16)
    left = jnp.where(spikes, hold, refractory)
    free = left == 0
    return free, left - (~free).astype(jnp.uint16)
