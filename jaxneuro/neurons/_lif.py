"""Leaky integrate-and-fire neuron, driven by currents and conductances, and its bare membrane.

Lapicque (1907); Gerstner, Kistler, Naud, Paninski (2014), Neuronal Dynamics, ch. 1.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Neuron
from ..integrators import Integrator, Linear
from ..spec import Less, Maybe, Of, field
from ..surrogates import Surrogate, surrogate_field, threshold
from ._membrane import (
    NEEDS_SURROGATE,
    SubtractingNeuron,
    countdown,
    leaky,
    reset_field,
    reset_gradient_field,
)


class LIFState(NamedTuple):
    """State of n LIF neurons.

    Attributes:
        v: membrane potential [mV]; after a spike its value *before* the reset.
        spikes: which spiked in the last step, bool; floats with `reset_gradient`.
        refractory: steps left before the membrane moves again, uint16.
    """

    v: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class LIF(SubtractingNeuron):
    """Leaky integrate-and-fire neuron with absolute refractoriness.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + current - conductance v`; a spike when
    `v >= v_th`, then `v = v_reset`, held for `t_ref`.

    Update: exact for a drive that is constant over the step,
    `v(t+dt) = v_inf + (v(t) - v_inf) exp(-dt g / c_m)` with `g = c_m/tau_m + conductance`
    and `v_inf = (c_m/tau_m e_l + current) / g`, and of fourth order in dt under conductances
    that decay; then `jump` is added and the threshold tested. A spike in step k holds v at
    `v_reset` through steps k+1 ... k+t_ref/dt. A `method` moves the membrane instead, if
    given; many courses use `forward_euler`. With `reset="subtract"` a spike lowers v by
    `v_th - v_reset` instead, where it is held.

    Start: at `e_l`.

    Reference:
        Gerstner et al. (2014), Neuronal Dynamics, eqs. 1.5 and 1.6, doi:10.1017/CBO9781107447615.

    Note:
        The reset is applied at the start of the next step, so that the recorded v shows the value
        that crossed.
    """

    tau_m: Parameter = param(10.0, unit="ms", above=0.0, doc="membrane time constant")
    c_m: Parameter = param(250.0, unit="pF", above=0.0, doc="capacitance")
    e_l: Parameter = param(-70.0, unit="mV", doc="leak reversal")
    v_th: Parameter = param(-55.0, unit="mV", doc="threshold")
    v_reset: Parameter = param(-70.0, unit="mV", doc="reset")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    method: Integrator | None = field(
        Maybe(Of(Integrator)), default=None, doc="an integrator; None for the exact step"
    )
    surrogate: Surrogate | None = surrogate_field()
    reset: str = reset_field()
    reset_gradient: bool = reset_gradient_field()
    rules = (Less("v_reset", "v_th"), NEEDS_SURROGATE)

    def time_constants(self) -> dict[str, Any]:
        return {"v": self.tau_m}

    def init(self, n: int) -> LIFState:
        v = jnp.full(n, self.e_l)
        return LIFState(v, self.no_spikes(n), jnp.zeros(n, jnp.uint16))

    def step(self, state: LIFState, drive: Drive, dt: float) -> tuple[LIFState, jax.Array]:
        v = self.voltage(state)
        free, left = countdown(state.spikes.astype(bool), state.refractory, self.t_ref, dt)
        v = jnp.where(free, drive.jumped(self._membrane(v, drive, dt)), v)
        before, seen = self.voltage(state), self.compared(v, free)
        spikes, fired = threshold(seen, self.v_th, self.surrogate, before, free=free)
        return LIFState(v, spikes if self.reset_gradient else fired, left), spikes

    def _membrane(self, v: jax.Array, drive: Drive, dt: float) -> jax.Array:
        if self.method is None:
            return leaky(v, drive, self.e_l, self.tau_m, self.c_m, dt)

        def flow(y: tuple, t: float) -> tuple[Linear]:
            current, conductance = drive.at(t, dt).linear()
            source = self.e_l / self.tau_m + current / self.c_m
            return (Linear(source, 1.0 / self.tau_m + conductance / self.c_m),)

        return self.method(flow, (v,), dt)[0]

    def largest_step(self) -> jax.Array | float | None:
        reach = None if self.method is None else self.method.reach
        return None if reach is None else reach * self.tau_m


class LeakyIntegratorState(NamedTuple):
    """State of n leaky integrators.

    Attributes:
        v: membrane potential [mV].
    """

    v: jax.Array


class LeakyIntegrator(Neuron):
    """Leaky integrator: the membrane of `LIF` without threshold and reset.

    Equations: `tau_m dv/dt = -(v - e_l) + r_m (current - conductance v)`, `r_m = tau_m / c_m`.

    Update: exact for a drive that is constant over the step; then `jump` is added. Gradients
    of v flow to all that drives it.

    Start: at `e_l`. It never spikes.

    Reference:
        Gerstner et al. (2014), Neuronal Dynamics, eq. 1.5, doi:10.1017/CBO9781107447615; as a
        readout Bellec et al. (2020), A solution to the learning dilemma for recurrent networks of
        spiking neurons, doi:10.1038/s41467-020-17236-y.

    Note:
        Bellec's readout is in steps of 1 ms and without units.
    """

    tau_m: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant")
    c_m: Parameter = param(250.0, unit="pF", above=0.0, doc="capacitance")
    e_l: Parameter = param(0.0, unit="mV", doc="resting potential")

    def time_constants(self) -> dict[str, Any]:
        return {"v": self.tau_m}

    def init(self, n: int) -> LeakyIntegratorState:
        return LeakyIntegratorState(jnp.full(n, self.e_l))

    def step(
        self, state: LeakyIntegratorState, drive: Drive, dt: float
    ) -> tuple[LeakyIntegratorState, jax.Array]:
        v = drive.jumped(leaky(state.v, drive, self.e_l, self.tau_m, self.c_m, dt))
        return LeakyIntegratorState(v), jnp.zeros(v.shape, bool)
