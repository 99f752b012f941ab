"""Leaky integrate-and-fire neuron with exponential synaptic currents, solved exactly.

Rotter and Diesmann (1999), doi:10.1007/s004220050570.
"""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, threshold
from .._types import Drive, Neuron
from ._propagators import from_current, from_decaying
from ._refractory import countdown
from ._reset import check_reset


class IafPscExpState(NamedTuple):
    """State of n neurons with exponential currents.

    **Fields** `v` [mV] (n,): membrane potential; after a spike its value *before* the reset;
    `i_ex`, `i_in` [pA] (n,): synaptic currents; `spikes` bool (n,): which spiked in the last
    step; `refractory` uint16 (n,): steps left before the membrane moves again.
    """

    v: jax.Array
    i_ex: jax.Array
    i_in: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class IafPscExp(Neuron):
    """Leaky integrate-and-fire neuron with exponential currents: NEST's iaf_psc_exp.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + i_ex + i_in + current`,
    `tau_syn_ex di_ex/dt = -i_ex`, the same for `i_in`; `i += w` when a spike arrives; a spike when
    `v >= v_th`, then `v = v_reset`, held for `t_ref`, while the currents go on.

    Update: exact, by the propagators of the linear system, for a drive that is constant over
    the step, `tau_syn = tau_m` included. v moves with the currents as they stand at the start of
    the step; then they decay and take what arrives; then `jump` is added and the threshold tested.

    Its synapses are `Direct("ex")` and `Direct("in")`, with weights in pA; those of `in` are
    negative. It takes no conductances: `build` refuses them.

    **Fields** each () or (n,): `tau_m` [ms] membrane time constant; `c_m` [pF] capacitance;
    `e_l` [mV] leak reversal; `v_th` [mV] threshold; `v_reset` [mV] reset; `t_ref` [ms]
    refractory time, a whole number of steps; `tau_syn_ex` [ms] and `tau_syn_in` [ms] time constants
    of the currents. `surrogate`: None for boolean spikes, or the slope that stands in for their
    derivative.

    **Step** `init(n)` starts at `e_l` without currents. `step(state, drive, dt)` returns
    `(state, spikes)`; it takes `drive.arrivals` of the ports `ex` and `in` [pA].

    **Raises** `ValueError` for a value that is not finite, a time constant or `c_m` that is not
    above 0, `t_ref < 0`, or `v_reset >= v_th`.

    **Source** Rotter and Diesmann (1999), doi:10.1007/s004220050570; Diesmann, Gewaltig, Rotter,
    Aertsen (2001), doi:10.1016/S0925-2312(01)00409-X.

    **Differs** the port and not the sign of a weight selects the current; there is no escape noise.
    """

    ports: ClassVar[tuple[str, ...]] = ("ex", "in")
    port_signs: ClassVar[Mapping[str, int]] = {"ex": 1, "in": -1}
    port_fills: ClassVar[Mapping[str, tuple]] = {"ex": ("i_ex",), "in": ("i_in",)}

    tau_m: Parameter = param(10.0, unit="ms", above=0.0)
    c_m: Parameter = param(250.0, unit="pF", above=0.0)
    e_l: Parameter = param(-70.0, unit="mV")
    v_th: Parameter = param(-55.0, unit="mV")
    v_reset: Parameter = param(-70.0, unit="mV")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True)
    tau_syn_ex: Parameter = param(2.0, unit="ms", above=0.0)
    tau_syn_in: Parameter = param(2.0, unit="ms", above=0.0)
    surrogate: Surrogate | None = None

    def __check_init__(self) -> None:
        check_reset("IafPscExp", self.v_reset, self.v_th)

    def init(self, n: int) -> IafPscExpState:
        v = jnp.full(n, self.e_l)
        nothing = jnp.zeros_like(v)
        return IafPscExpState(v, nothing, nothing, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def voltage(self, state: IafPscExpState) -> jax.Array:
        return jnp.where(state.spikes, self.v_reset, state.v)

    def step(
        self, state: IafPscExpState, drive: Drive, dt: float
    ) -> tuple[IafPscExpState, jax.Array]:
        v = self.voltage(state)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        moved = drive.jumped(self._membrane(v, state, drive, dt))
        i_ex = state.i_ex * jnp.exp(-dt / self.tau_syn_ex) + drive.arriving("ex")
        i_in = state.i_in * jnp.exp(-dt / self.tau_syn_in) + drive.arriving("in")
        v = jnp.where(free, moved, v)
        spikes = threshold(v, self.v_th, self.surrogate, self.voltage(state))
        fired = spikes if self.surrogate is None else spikes > 0
        return IafPscExpState(v, i_ex, i_in, fired, left), spikes

    def _membrane(self, v: jax.Array, state: IafPscExpState, drive: Drive, dt: float) -> jax.Array:
        by_ex = from_decaying(self.tau_m, self.c_m, self.tau_syn_ex, dt)
        by_in = from_decaying(self.tau_m, self.c_m, self.tau_syn_in, dt)
        moved = self.e_l + (v - self.e_l) * jnp.exp(-dt / self.tau_m)
        moved = moved + (state.i_ex * by_ex + state.i_in * by_in)
        if drive.current is None:
            return moved
        return moved + drive.current * from_current(self.tau_m, self.c_m, dt)
