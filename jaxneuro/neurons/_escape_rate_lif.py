"""Leaky integrate-and-fire neuron with escape noise: it spikes at random, the higher v the sooner.

Gerstner, Kistler, Naud, Paninski (2014), Neuronal Dynamics, ch. 9.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Stream
from .._types import Drive, StochasticNeuron
from ._hazard import escapes
from ._leak import leaky
from ._refractory import countdown


class EscapeRateLIFState(NamedTuple):
    """State of n escape-rate LIF neurons.

    **Fields** `v` [mV] (n,): membrane potential, at a spike its value *before* the reset;
    `spikes` bool (n,): which spiked in the last step; `refractory` uint16 (n,): steps left
    before the membrane moves again; `stream` of their bits; `step` int32 (): steps done.
    """

    v: jax.Array
    spikes: jax.Array
    refractory: jax.Array
    stream: Stream
    step: jax.Array


class EscapeRateLIF(StochasticNeuron):
    """Leaky integrate-and-fire neuron that spikes with a hazard instead of at a threshold.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + current - conductance v`; spikes at the rate
    `rho = rho_0 exp((v - v_th)/delta_u)`, then `v = v_reset`, held for `t_ref`.

    Update: the membrane is that of `LIF`, exact for a drive that is constant over the step; then
    `jump` is added and a spike drawn with probability `1 - exp(-rho dt)`, rho that of v at the
    end of the step: the rate is of first order in dt. As `delta_u` tends to 0 it becomes `LIF`.

    **Fields** each () or (n,): `tau_m` [ms] membrane time constant; `c_m` [pF] capacitance;
    `e_l` [mV] leak reversal; `v_th` [mV] where the hazard is `rho_0`; `v_reset` [mV] reset;
    `t_ref` [ms] refractory time, a whole number of steps; `rho_0` [1/ms] hazard at `v_th`;
    `delta_u` [mV] width of the threshold, over which the hazard grows by the factor e.

    **Step** `init(n, stream)` starts at `e_l`. `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `tau_m`, `c_m`, `rho_0` or `delta_u`
    not above 0, or `t_ref < 0`.

    **Source** Gerstner et al. (2014), sec. 9.1, doi:10.1017/CBO9781107447615. The defaults of the
    hazard are ascribed to Jolivet et al. (2006), doi:10.1007/s10827-006-7074-5, but have not been
    compared with the paper.

    **Differs** spikes are drawn, so they have no gradient and there is no `surrogate`.
    """

    tau_m: Parameter = param(10.0, unit="ms", above=0.0)
    c_m: Parameter = param(250.0, unit="pF", above=0.0)
    e_l: Parameter = param(-70.0, unit="mV")
    v_th: Parameter = param(-55.0, unit="mV")
    v_reset: Parameter = param(-70.0, unit="mV")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True)
    rho_0: Parameter = param(1 / 19, unit="1/ms", above=0.0)
    delta_u: Parameter = param(4.0, unit="mV", above=0.0, least=0.0)

    def init(self, n: int, stream: Stream) -> EscapeRateLIFState:
        v, step = jnp.full(n, self.e_l), jnp.zeros((), jnp.int32)
        return EscapeRateLIFState(v, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16), stream, step)

    def voltage(self, state: EscapeRateLIFState) -> jax.Array:
        return jnp.where(state.spikes, self.v_reset, state.v)

    def step(
        self, state: EscapeRateLIFState, drive: Drive, dt: float
    ) -> tuple[EscapeRateLIFState, jax.Array]:
        v = self.voltage(state)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        moved = drive.jumped(leaky(v, drive, self.e_l, self.tau_m, self.c_m, dt))
        v = jnp.where(free, moved, v)
        x = (v - self.v_th) / self.delta_u
        spikes = free & escapes(x, self.rho_0, state.stream, state.step, dt)
        return EscapeRateLIFState(v, spikes, left, state.stream, state.step + 1), spikes
