"""Adaptive exponential integrate-and-fire neuron. Brette and Gerstner (2005)."""

from typing import Any

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, threshold
from .._types import Drive, Neuron
from ..integrators import Integrator, Linear, rk4
from ._adex_state import AdExState
from ._refractory import countdown
from ._reset import check_peak
from ._upswing import after_reset, begin, during, motion, since_peak, voltage


class AdEx(Neuron):
    """Adaptive exponential neuron; its defaults are those of NEST's `aeif_cond_exp`.

    Equations: `c_m dv/dt = -g_l (v - e_l) + g_l delta_t exp((v - v_th) / delta_t) - w + current
    - conductance v` and `tau_w dw/dt = a (v - e_l) - w`; a spike when `v >= v_peak`, then
    `v = v_reset`, `w = w + b`, v held for `t_ref` while w goes on.

    Update: `method`, by default RK4, of fourth order. During the upswing it moves
    `exp(-(v - v_th)/delta_t)` instead of v, which would diverge. Then `jump` is added and the
    peak tested. The reset is at the interpolated time of the spike *within* the step; if `t_ref`
    is 0, a Taylor series of second order gives the rest of the step. So spikes are not delayed.

    **Fields** each () or (n,): `c_m` [pF] capacitance; `g_l` [nS] leak; `e_l` [mV] its reversal;
    `v_th` [mV] where the exponential current is `g_l delta_t`; `delta_t` [mV] its width; `a` [nS]
    effect of v on w; `b` [pA] jump of w; `tau_w` [ms] time of w; `v_reset` [mV] reset;
    `v_peak` [mV] end of the upswing; `t_ref` [ms] refractory time, whole steps; `method` the
    integrator; `surrogate` None, or the slope that stands in for that of a spike.

    **Step** `init(n)` starts at `e_l`, w = 0. `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `c_m`, `g_l`, `delta_t` or `tau_w` not
    above 0, `t_ref < 0`, `v_reset >= v_peak` or `v_peak < v_th`.

    **Source** Brette and Gerstner (2005), doi:10.1152/jn.00686.2005; the presets, with their
    currents and a start at rest, are those of Naud et al. (2008), doi:10.1007/s00422-008-0264-7.

    **Differs** at most one spike per step; v is recorded after the reset, as in NEST.
    """

    c_m: Parameter = param(281.0, unit="pF", above=0.0)
    g_l: Parameter = param(30.0, unit="nS", above=0.0)
    e_l: Parameter = param(-70.6, unit="mV")
    v_th: Parameter = param(-50.4, unit="mV")
    delta_t: Parameter = param(2.0, unit="mV", above=0.0, least=0.005)
    a: Parameter = param(4.0, unit="nS", least=1e-7)
    b: Parameter = param(80.5, unit="pA", least=0.5)
    tau_w: Parameter = param(144.0, unit="ms", above=0.0, least=1.0)
    v_reset: Parameter = param(-60.0, unit="mV")
    v_peak: Parameter = param(0.0, unit="mV")
    t_ref: Parameter = param(0.0, unit="ms", at_least=0.0, on_grid=True)
    method: Integrator = rk4
    surrogate: Surrogate | None = None

    @classmethod
    def tonic(cls) -> "AdEx":
        """Tonic spiking, at 500 pA (fig. 4a)."""
        return cls(200.0, 10.0, -70.0, -50.0, 2.0, 2.0, 0.0, 30.0, -58.0)

    @classmethod
    def adapting(cls) -> "AdEx":
        """Adapting spikes, at 500 pA (fig. 4b)."""
        return cls(200.0, 12.0, -70.0, -50.0, 2.0, 2.0, 60.0, 300.0, -58.0)

    @classmethod
    def initial_burst(cls) -> "AdEx":
        """A burst, then single spikes, at 400 pA (fig. 4c)."""
        return cls(130.0, 18.0, -58.0, -50.0, 2.0, 4.0, 120.0, 150.0, -50.0)

    @classmethod
    def regular_bursting(cls) -> "AdEx":
        """Burst after burst, at 210 pA (fig. 4d)."""
        return cls(200.0, 10.0, -58.0, -50.0, 2.0, 2.0, 100.0, 120.0, -46.0)

    def __check_init__(self) -> None:
        check_peak("AdEx", self.v_reset, self.v_th, self.v_peak)

    def init(self, n: int) -> AdExState:
        v = jnp.full(n, self.e_l)
        return AdExState(v, jnp.zeros_like(v), jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def largest_step(self) -> Any:
        reach = self.method.reach
        return None if reach is None else reach * jnp.minimum(self.c_m / self.g_l, self.tau_w)

    def step(self, state: AdExState, drive: Drive, dt: float) -> tuple[AdExState, jax.Array]:
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        course, start = begin(self, state.v, state.w, drive, dt)

        def flow(y: tuple, t: float) -> tuple:
            now = during(self, course, drive.at(t, dt))
            v = voltage(self, course, y[0])
            pull = self.a * (jnp.minimum(v, self.v_peak) - self.e_l)
            return motion(self, now, v, y[1]), Linear(pull / self.tau_w, 1.0 / self.tau_w)

        end, w = self.method(flow, (start, state.w), dt)
        resting = self.a * (self.v_reset - self.e_l)
        held = resting + (state.w - resting) * jnp.exp(-dt / self.tau_w)
        v = jnp.where(free, drive.jumped(voltage(self, course, end)), state.v)
        w = jnp.where(free, w, held)
        spikes = threshold(v, self.v_peak, self.surrogate, state.v)
        fired = spikes if self.surrogate is None else spikes > 0
        late, mean = since_peak(self, course, (start, end), state.v, state.w, dt)
        towards_peak = self.a * (mean - self.e_l) - state.w
        at_peak = state.w + (dt - late) * towards_peak / self.tau_w
        reset = jnp.where(late > 0, at_peak, w) + self.b
        fall = (resting - reset) / self.tau_w
        w = jnp.where(fired, reset + late * fall, w)
        late = jnp.where(self.t_ref < 0.5 * dt, late, jnp.zeros_like(late))
        v = jnp.where(fired, after_reset(self, course, drive, reset, fall, late, dt), v)
        return AdExState(v, w, fired, left), spikes
