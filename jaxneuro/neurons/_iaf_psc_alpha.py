"""Leaky integrate-and-fire neuron with alpha-shaped synaptic currents, solved exactly.

Rotter and Diesmann (1999), doi:10.1007/s004220050570.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, threshold
from .._types import Drive, Neuron
from ._propagators import from_current, from_decaying, from_rising
from ._refractory import countdown
from ._reset import check_reset


class IafPscAlphaState(NamedTuple):
    """State of n neurons with alpha-shaped currents.

    **Fields** `v` [mV] (n,): membrane potential; after a spike its value *before* the reset;
    `di_ex`, `di_in` [pA/ms] and `i_ex`, `i_in` [pA] (n,): synaptic currents and their rising
    parts; `spikes` bool (n,): which spiked in the last step; `refractory` uint16 (n,): steps left
    before the membrane moves again.
    """

    v: jax.Array
    di_ex: jax.Array
    i_ex: jax.Array
    di_in: jax.Array
    i_in: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class IafPscAlpha(Neuron):
    """Leaky integrate-and-fire neuron with alpha-shaped currents: NEST's iaf_psc_alpha.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + i_ex + i_in + current`; for both currents
    `di/dt = di - i/tau_syn` with `d(di)/dt = -di/tau_syn`, and `di += w e/tau_syn` when a spike
    arrives, so that the current peaks at w, `tau_syn` later; a spike when `v >= v_th`, then
    `v = v_reset`, held for `t_ref`, while the currents go on.

    Update: exact, by the propagators of the linear system, for a drive that is constant over
    the step, `tau_syn = tau_m` included; in the order of `IafPscExp`. Its synapses are
    `Direct("ex")` and `Direct("in")`, with weights in pA; those of `in` are negative. It takes
    no conductances: `build` refuses them.

    **Fields** each () or (n,): `tau_m` [ms] membrane time constant; `c_m` [pF] capacitance;
    `e_l` [mV] leak reversal; `v_th` [mV] threshold; `v_reset` [mV] reset; `t_ref` [ms] refractory
    time, whole steps; `tau_syn_ex` [ms] and `tau_syn_in` [ms] times to the peak of the currents;
    `surrogate`: None for boolean spikes, or the slope that stands in for their derivative.

    **Step** `init(n)` starts at `e_l` without currents. `step(state, drive, dt)` returns
    `(state, spikes)`; it takes `drive.arrivals` of the ports `ex` and `in` [pA].

    **Raises** `ValueError` for a value that is not finite, a time constant or `c_m` that is not
    above 0, `t_ref < 0`, or `v_reset >= v_th`.

    **Source** Rotter and Diesmann (1999), doi:10.1007/s004220050570.

    **Differs** the port and not the sign of a weight selects the current; there is no `V_min`.
    """

    ports: ClassVar[tuple[str, ...]] = ("ex", "in")
    port_signs: ClassVar[Mapping[str, int]] = {"ex": 1, "in": -1}
    port_fills: ClassVar[Mapping[str, tuple]] = {"ex": ("di_ex", "i_ex"), "in": ("di_in", "i_in")}

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
        check_reset("IafPscAlpha", self.v_reset, self.v_th)

    def init(self, n: int) -> IafPscAlphaState:
        v = jnp.full(n, self.e_l)
        o = jnp.zeros_like(v)
        return IafPscAlphaState(v, o, o, o, o, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def voltage(self, state: IafPscAlphaState) -> jax.Array:
        return jnp.where(state.spikes, self.v_reset, state.v)

    def step(self, state: IafPscAlphaState, drive: Drive, dt: float) -> Any:
        v = self.voltage(state)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        moved = self.e_l + (v - self.e_l) * jnp.exp(-dt / self.tau_m)
        if drive.current is not None:
            moved = moved + drive.current * from_current(self.tau_m, self.c_m, dt)
        ex = self._current(state.di_ex, state.i_ex, self.tau_syn_ex, drive.arriving("ex"), dt)
        inh = self._current(state.di_in, state.i_in, self.tau_syn_in, drive.arriving("in"), dt)
        v = jnp.where(free, drive.jumped(moved + (ex[2] + inh[2])), v)
        spikes = threshold(v, self.v_th, self.surrogate, self.voltage(state))
        fired = spikes if self.surrogate is None else spikes > 0
        return IafPscAlphaState(v, *ex[:2], *inh[:2], fired, left), spikes

    def _current(
        self, di: jax.Array, i: jax.Array, tau: jax.Array, arriving: Any, dt: float
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """`di` and `i` at the end of the step, and what they add to v [mV]."""
        rising = from_rising(self.tau_m, self.c_m, tau, dt)
        decaying = from_decaying(self.tau_m, self.c_m, tau, dt)
        decay = jnp.exp(-dt / tau)
        return (
            di * decay + arriving * (math.e / tau),
            (i + dt * di) * decay,
            (di * rising + i * decaying),
        )
