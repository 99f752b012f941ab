"""Quadratic integrate-and-fire neuron. Ermentrout and Kopell (1986)."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, threshold
from .._types import Drive, Neuron
from ..integrators import Integrator, Linear, rk4
from ._reset import check_reset


class QIFState(NamedTuple):
    """State of n QIF neurons.

    **Fields** `v` [mV] (n,): membrane potential; after a spike its value *before* the reset;
    `spikes` bool (n,): which spiked in the last step.
    """

    v: jax.Array
    spikes: jax.Array


class QIF(Neuron):
    """Quadratic integrate-and-fire neuron: the dynamics of a membrane near the onset of firing.

    Equations: `c_m dv/dt = k (v - v_r) (v - v_t) + current - conductance v`; a spike when
    `v >= v_peak`, then `v = v_reset`.

    Update: `method`, by default RK4, of fourth order; then `jump` is added and the peak tested.

    **Fields** each () or (n,): `c_m` [pF] capacitance; `k` [nS/mV] curvature; `v_r` [mV] rest;
    `v_t` [mV] threshold without a current: constant currents above
    `k (v_t - v_r)^2 / 4` bring v there; `v_reset` [mV] reset; `v_peak` [mV] end of the upswing;
    `method` the integrator; `surrogate` None, or the slope that stands in for that of a spike.

    **Step** `init(n)` starts at `v_r`. `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `c_m <= 0`, `k <= 0`, `v_t <= v_r` or
    `v_reset >= v_peak`.

    **Source** Ermentrout and Kopell (1986), doi:10.1137/0146017; the numbers are those of
    Izhikevich (2007), Dynamical Systems in Neuroscience, sec. 8.2.1, without recovery.

    **Differs** the reset is applied at the start of the next step.
    """

    c_m: Parameter = param(100.0, unit="pF", above=0.0)
    k: Parameter = param(0.7, unit="nS/mV", above=0.0)
    v_r: Parameter = param(-60.0, unit="mV")
    v_t: Parameter = param(-40.0, unit="mV")
    v_reset: Parameter = param(-50.0, unit="mV")
    v_peak: Parameter = param(35.0, unit="mV")
    method: Integrator = rk4
    surrogate: Surrogate | None = None

    def __check_init__(self) -> None:
        check_reset("QIF", self.v_reset, self.v_peak, ("v_reset", "v_peak"))
        check_reset("QIF", self.v_r, self.v_t, ("v_r", "v_t"))

    def init(self, n: int) -> QIFState:
        return QIFState(jnp.full(n, self.v_r), jnp.zeros(n, bool))

    def voltage(self, state: QIFState) -> jax.Array:
        return jnp.where(state.spikes, self.v_reset, state.v)

    def largest_step(self) -> Any:
        reach = self.method.reach
        return None if reach is None else reach * self.c_m / (self.k * (self.v_t - self.v_r))

    def step(self, state: QIFState, drive: Drive, dt: float) -> tuple[QIFState, jax.Array]:
        (v,) = self.method(lambda y, t: self._flow(y, drive.at(t, dt)), (self.voltage(state),), dt)
        v = drive.jumped(v)
        spikes = threshold(v, self.v_peak, self.surrogate, self.voltage(state), self.v_t)
        fired = spikes if self.surrogate is None else spikes > 0
        return QIFState(v, fired), spikes

    def _flow(self, y: tuple, drive: Drive) -> tuple:
        current, conductance = drive.linear()
        v = jnp.minimum(y[0], self.v_peak)
        own = self.k * (v - self.v_r) * (v - self.v_t)
        return (Linear((own + current) / self.c_m, conductance / self.c_m),)
