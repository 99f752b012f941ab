"""Leaky integrate-and-fire neuron, driven by currents and conductances, and its bare membrane.

Lapicque (1907); Gerstner, Kistler, Naud, Paninski (2014), Neuronal Dynamics, ch. 1.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Neuron
from ..integrators import Integrator, Linear
from ..surrogates import Surrogate, threshold
from ._membrane import check_reset, countdown, leaky


class LIFState(NamedTuple):
    """State of n LIF neurons.

    **Fields** `v` [mV] (n,): membrane potential; after a spike its value *before* the reset;
    `spikes` bool (n,): which spiked in the last step; `refractory` uint16 (n,): steps left
    before the membrane moves again.
    """

    v: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class LIF(Neuron):
    """Leaky integrate-and-fire neuron with absolute refractoriness.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + current - conductance v`; a spike when
    `v >= v_th`, then `v = v_reset`, held for `t_ref`.

    Update: exact for a drive that is constant over the step,
    `v(t+dt) = v_inf + (v(t) - v_inf) exp(-dt g / c_m)` with `g = c_m/tau_m + conductance`
    and `v_inf = (c_m/tau_m e_l + current) / g`, and of fourth order in dt under conductances
    that decay; then `jump` is added and the threshold tested. A spike in step k holds v at
    `v_reset` through steps k+1 ... k+t_ref/dt. A `method` moves the membrane instead, if
    given; many courses use `forward_euler`.

    **Fields** each () or (n,): `tau_m` [ms] membrane time constant; `c_m` [pF] capacitance;
    `e_l` [mV] leak reversal; `v_th` [mV] threshold; `v_reset` [mV] reset; `t_ref` [ms]
    refractory time, a whole number of steps. `method`: None for the exact step, or an integrator.
    `surrogate`: None for boolean spikes, or the slope that stands in for their derivative.

    **Step** `init(n)` starts at `e_l`. `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `tau_m <= 0`, `c_m <= 0`,
    `t_ref < 0`, or `v_reset >= v_th`.

    **Source** Gerstner et al. (2014), eqs. 1.5 and 1.6, doi:10.1017/CBO9781107447615.

    **Differs** the reset is applied at the start of the next step, so that the recorded v
    shows the value that crossed.
    """

    tau_m: Parameter = param(10.0, unit="ms", above=0.0)
    c_m: Parameter = param(250.0, unit="pF", above=0.0)
    e_l: Parameter = param(-70.0, unit="mV")
    v_th: Parameter = param(-55.0, unit="mV")
    v_reset: Parameter = param(-70.0, unit="mV")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True)
    method: Integrator | None = None
    surrogate: Surrogate | None = None

    def __check_init__(self) -> None:
        check_reset("LIF", self.v_reset, self.v_th)

    def init(self, n: int) -> LIFState:
        v = jnp.full(n, self.e_l)
        return LIFState(v, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def voltage(self, state: LIFState) -> jax.Array:
        return jnp.where(state.spikes, self.v_reset, state.v)

    def step(self, state: LIFState, drive: Drive, dt: float) -> tuple[LIFState, jax.Array]:
        v = self.voltage(state)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        v = jnp.where(free, drive.jumped(self._membrane(v, drive, dt)), v)
        spikes = threshold(v, self.v_th, self.surrogate, self.voltage(state))
        fired = spikes if self.surrogate is None else spikes > 0
        return LIFState(v, fired, left), spikes

    def _membrane(self, v: jax.Array, drive: Drive, dt: float) -> jax.Array:
        if self.method is None:
            return leaky(v, drive, self.e_l, self.tau_m, self.c_m, dt)

        def flow(y: tuple, t: float) -> tuple[Linear]:
            current, conductance = drive.at(t, dt).linear()
            source = self.e_l / self.tau_m + current / self.c_m
            return (Linear(source, 1.0 / self.tau_m + conductance / self.c_m),)

        return self.method(flow, (v,), dt)[0]

    def largest_step(self) -> Any:
        reach = None if self.method is None else self.method.reach
        return None if reach is None else reach * self.tau_m


class LeakyIntegratorState(NamedTuple):
    """State of n leaky integrators.

    **Fields** `v` [mV] (n,): membrane potential.
    """

    v: jax.Array


class LeakyIntegrator(Neuron):
    """Leaky integrator: the membrane of `LIF` without threshold and reset.

    Equations: `tau_m dv/dt = -(v - e_l) + r_m (current - conductance v)`, `r_m = tau_m / c_m`.

    Update: exact for a drive that is constant over the step; then `jump` is added. Gradients
    of v flow to all that drives it.

    **Fields** each () or (n,): `tau_m` [ms] time constant; `c_m` [pF] capacitance; `e_l` [mV]
    resting potential.

    **Step** `init(n)` starts at `e_l`. `step(state, drive, dt)` returns `(state, spikes)`, no
    spikes.

    **Raises** `ValueError` for a value that is not finite, `tau_m <= 0` or `c_m <= 0`.

    **Source** Gerstner et al. (2014), eq. 1.5, doi:10.1017/CBO9781107447615; as a readout Bellec
    et al. (2020), doi:10.1038/s41467-020-17236-y.

    **Differs** Bellec's readout is in steps of 1 ms and without units.
    """

    tau_m: Parameter = param(20.0, unit="ms", above=0.0)
    c_m: Parameter = param(250.0, unit="pF", above=0.0)
    e_l: Parameter = param(0.0, unit="mV")

    def init(self, n: int) -> LeakyIntegratorState:
        return LeakyIntegratorState(jnp.full(n, self.e_l))

    def step(
        self, state: LeakyIntegratorState, drive: Drive, dt: float
    ) -> tuple[LeakyIntegratorState, jax.Array]:
        v = drive.jumped(leaky(state.v, drive, self.e_l, self.tau_m, self.c_m, dt))
        return LeakyIntegratorState(v), jnp.zeros(v.shape, bool)
