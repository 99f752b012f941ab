"""Exponential integrate-and-fire neuron. Fourcaud-Trocme, Hansel, van Vreeswijk, Brunel (2003)."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, threshold
from .._types import Drive, Neuron
from ..integrators import Integrator, rk4
from ._refractory import countdown
from ._reset import check_peak
from ._upswing import after_reset, begin, during, motion, since_peak, voltage


class EIFState(NamedTuple):
    """State of n EIF neurons.

    **Fields** `v` [mV] (n,): membrane potential, after the reset; `spikes` bool (n,): which spiked
    in the last step; `refractory` uint16 (n,): steps left.
    """

    v: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class EIF(Neuron):
    """Exponential integrate-and-fire neuron, fitted to a Wang-Buzsaki neuron of 1e-4 cm2.

    Equations: `c_m dv/dt = -g_l (v - e_l) + g_l delta_t exp((v - v_th) / delta_t) + current
    - conductance v`; a spike when `v >= v_peak`, then `v = v_reset`, held for `t_ref`.

    Update: `method`, by default RK4, of fourth order. During the upswing it moves
    `exp(-(v - v_th)/delta_t)` instead of v, which would diverge. Then `jump` is added and the
    peak tested. The reset is at the interpolated time of the spike *within* the step; if `t_ref`
    is 0, a Taylor series of second order gives the rest of the step.

    **Fields** each () or (n,): `c_m` [pF] capacitance; `g_l` [nS] leak; `e_l` [mV] its reversal;
    `v_th` [mV] where the exponential current is `g_l delta_t`: a constant current brings v there
    at rheobase, `g_l (v_th - e_l - delta_t)`; `delta_t` [mV] its width; `v_reset` [mV] reset;
    `v_peak` [mV] end of the upswing; `t_ref` [ms] refractory time, whole steps; `method` the
    integrator; `surrogate` None, or the slope that stands in for that of a spike.

    **Step** `init(n)` starts at `e_l`. `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `c_m`, `g_l` or `delta_t` not above 0,
    `t_ref < 0`, `v_reset >= v_peak` or `v_peak < v_th`.

    **Source** Fourcaud-Trocme et al. (2003), doi:10.1523/JNEUROSCI.23-37-11628.2003.

    **Differs** at most one spike per step; v is recorded after the reset.
    """

    c_m: Parameter = param(100.0, unit="pF", above=0.0)
    g_l: Parameter = param(10.0, unit="nS", above=0.0)
    e_l: Parameter = param(-65.0, unit="mV")
    v_th: Parameter = param(-59.9, unit="mV")
    delta_t: Parameter = param(3.48, unit="mV", above=0.0, least=0.005)
    v_reset: Parameter = param(-68.0, unit="mV")
    v_peak: Parameter = param(0.0, unit="mV")
    t_ref: Parameter = param(1.7, unit="ms", at_least=0.0, on_grid=True)
    method: Integrator = rk4
    surrogate: Surrogate | None = None

    def __check_init__(self) -> None:
        check_peak("EIF", self.v_reset, self.v_th, self.v_peak)

    def init(self, n: int) -> EIFState:
        v = jnp.full(n, self.e_l)
        return EIFState(v, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def largest_step(self) -> Any:
        reach = self.method.reach
        return None if reach is None else reach * self.c_m / self.g_l

    def step(self, state: EIFState, drive: Drive, dt: float) -> tuple[EIFState, jax.Array]:
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        course, start = begin(self, state.v, 0.0, drive, dt)

        def flow(y: tuple, t: float) -> tuple:
            now = during(self, course, drive.at(t, dt))
            return (motion(self, now, voltage(self, course, y[0]), 0.0),)

        (end,) = self.method(flow, (start,), dt)
        v = jnp.where(free, drive.jumped(voltage(self, course, end)), state.v)
        spikes = threshold(v, self.v_peak, self.surrogate, state.v, self.v_th)
        fired = spikes if self.surrogate is None else spikes > 0
        late, _ = since_peak(self, course, (start, end), state.v, 0.0, dt)
        late = jnp.where(self.t_ref < 0.5 * dt, late, jnp.zeros_like(late))
        v = jnp.where(fired, after_reset(self, course, drive, 0.0, 0.0, late, dt), v)
        return EIFState(v, fired, left), spikes
