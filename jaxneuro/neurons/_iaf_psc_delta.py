"""Leaky integrate-and-fire neuron whose v jumps at arriving spikes, solved exactly.

Rotter and Diesmann (1999), doi:10.1007/s004220050570.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, threshold
from .._types import Drive, Neuron
from ._propagators import from_current
from ._refractory import countdown
from ._reset import check_reset


class IafPscDeltaState(NamedTuple):
    """State of n neurons whose v jumps at arriving spikes.

    **Fields** `v` [mV] (n,): membrane potential; after a spike its value *before* the reset;
    `spikes` bool (n,): which spiked in the last step; `refractory` uint16 (n,): steps left
    before the membrane moves again.
    """

    v: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class IafPscDelta(Neuron):
    """Leaky integrate-and-fire neuron for `Delta` synapses: NEST's iaf_psc_delta.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + current`, `v += w` when a spike arrives; a
    spike when `v >= v_th`, then `v = v_reset`, held for `t_ref`.

    Update: exact for a current that is constant over the step; then `jump` is added and the
    threshold tested. What arrives while v is held is lost. It takes no conductances: `build`
    refuses them.

    **Fields** each () or (n,): `tau_m` [ms] membrane time constant; `c_m` [pF] capacitance;
    `e_l` [mV] leak reversal; `v_th` [mV] threshold; `v_reset` [mV] reset; `t_ref` [ms]
    refractory time, a whole number of steps. `surrogate`: None for boolean spikes, or the
    slope that stands in for their derivative.

    **Step** `init(n)` starts at `e_l`. `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `tau_m <= 0`, `c_m <= 0`,
    `t_ref < 0`, or `v_reset >= v_th`.

    **Source** Rotter and Diesmann (1999), doi:10.1007/s004220050570.

    **Differs** there is no `refractory_input` (what arrives while v is held is always lost) and no
    `V_min`.
    """

    tau_m: Parameter = param(10.0, unit="ms", above=0.0)
    c_m: Parameter = param(250.0, unit="pF", above=0.0)
    e_l: Parameter = param(-70.0, unit="mV")
    v_th: Parameter = param(-55.0, unit="mV")
    v_reset: Parameter = param(-70.0, unit="mV")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True)
    surrogate: Surrogate | None = None

    def __check_init__(self) -> None:
        check_reset("IafPscDelta", self.v_reset, self.v_th)

    def init(self, n: int) -> IafPscDeltaState:
        v = jnp.full(n, self.e_l)
        return IafPscDeltaState(v, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def voltage(self, state: IafPscDeltaState) -> jax.Array:
        return jnp.where(state.spikes, self.v_reset, state.v)

    def step(
        self, state: IafPscDeltaState, drive: Drive, dt: float
    ) -> tuple[IafPscDeltaState, jax.Array]:
        v = self.voltage(state)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        moved = self.e_l + (v - self.e_l) * jnp.exp(-dt / self.tau_m)
        if drive.current is not None:
            moved = moved + drive.current * from_current(self.tau_m, self.c_m, dt)
        v = jnp.where(free, drive.jumped(moved), v)
        spikes = threshold(v, self.v_th, self.surrogate, self.voltage(state))
        fired = spikes if self.surrogate is None else spikes > 0
        return IafPscDeltaState(v, fired, left), spikes
