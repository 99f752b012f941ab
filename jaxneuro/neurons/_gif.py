"""Generalised integrate-and-fire neuron: adapting current, adapting threshold, escape noise.

Mensi et al. (2012); Pozzorini et al. (2015).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Stream, per_step, phi1
from .._types import Drive, StochasticNeuron, add_drives
from ._hazard import escapes
from ._leak import leaky
from ._refractory import countdown


class GIFState(NamedTuple):
    """State of n GIF neurons.

    **Fields** (n,) each: `v` [mV] membrane potential, `stc_1`, `stc_2` [pA] spike-triggered
    currents, `sfa_1`, `sfa_2` [mV] parts of the threshold; after a spike all *before* they jump;
    `spikes` bool; `refractory` uint16: steps left before the membrane moves again; `stream`
    of their bits; `step` int32 (): steps done.
    """

    v: jax.Array
    stc_1: jax.Array
    stc_2: jax.Array
    sfa_1: jax.Array
    sfa_2: jax.Array
    spikes: jax.Array
    refractory: jax.Array
    stream: Stream
    step: jax.Array


class GIF(StochasticNeuron):
    """Generalised integrate-and-fire neuron with two currents and two threshold parts per spike.

    Equations: `c_m dv/dt = -g_l (v - e_l) - stc_1 - stc_2 + current - conductance v`; each part
    `dx/dt = -x/tau`, `x += q` at a spike. Spikes at the rate
    `lambda_0 exp((v - v_t_star - sfa_1 - sfa_2)/delta_v)`, then `v = v_reset` for `t_ref`.

    Update: v is exact for a drive that is constant over the step and the mean of `stc` over it,
    the parts are exact; a spike is drawn with the hazard at the end of the step: first order.

    **Fields** each () or (n,): `c_m` [pF]; `g_l` [nS]; `e_l` [mV]; `v_reset` [mV]; `t_ref` [ms],
    whole steps; `v_t_star` [mV] threshold at rest; `delta_v` [mV] its width; `lambda_0` [Hz]
    hazard there; `tau_stc_1` [ms], `q_stc_1` [pA], `tau_stc_2` [ms], `q_stc_2` [pA] of the
    currents; `tau_sfa_1` [ms], `q_sfa_1` [mV], `tau_sfa_2` [ms], `q_sfa_2` [mV] of the threshold.

    **Step** `init(n, stream)` starts at `e_l`. `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, a negative `t_ref`, or a capacitance,
    conductance, time constant, `delta_v` or `lambda_0` that is not above 0.

    **Source** Mensi et al. (2012), doi:10.1152/jn.00408.2011; Pozzorini et al. (2015),
    doi:10.1371/journal.pcbi.1004275; defaults of NEST's gif_psc_exp, whose defaults do not adapt.

    **Differs** from NEST: `stc` acts by its mean over the step and `sfa` by its value at the end,
    NEST takes both from its start. Drawn spikes have no gradient: there is no `surrogate`.
    """

    c_m: Parameter = param(80.0, unit="pF", above=0.0)
    g_l: Parameter = param(4.0, unit="nS", above=0.0)
    e_l: Parameter = param(-70.0, unit="mV")
    v_reset: Parameter = param(-55.0, unit="mV")
    t_ref: Parameter = param(4.0, unit="ms", at_least=0.0, on_grid=True)
    v_t_star: Parameter = param(-35.0, unit="mV")
    delta_v: Parameter = param(0.5, unit="mV", above=0.0, least=0.0)
    lambda_0: Parameter = param(1.0, unit="Hz", above=0.0)
    tau_stc_1: Parameter = param(57.8, unit="ms", above=0.0)
    q_stc_1: Parameter = param(0.0, unit="pA")
    tau_stc_2: Parameter = param(218.2, unit="ms", above=0.0)
    q_stc_2: Parameter = param(0.0, unit="pA")
    tau_sfa_1: Parameter = param(53.8, unit="ms", above=0.0)
    q_sfa_1: Parameter = param(0.0, unit="mV", least=0.0)
    tau_sfa_2: Parameter = param(640.0, unit="ms", above=0.0)
    q_sfa_2: Parameter = param(0.0, unit="mV", least=0.0)

    @classmethod
    def cortical(cls) -> "GIF":
        """A cortical neuron that adapts: a fit of Mensi et al., as in NEST's gif_population."""
        membrane = {"c_m": 83.1, "g_l": 3.7, "e_l": -67.0, "v_reset": -36.7, "v_t_star": -39.6}
        stc, sfa = {"q_stc_1": 56.7, "q_stc_2": -6.9}, {"q_sfa_1": 11.7, "q_sfa_2": 1.8}
        return cls(**membrane, delta_v=1.4, **stc, **sfa)

    def init(self, n: int, stream: Stream) -> GIFState:
        zeros = (jnp.zeros(n, self.e_l.dtype) for _ in range(4))
        flags = jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16)
        step = jnp.zeros((), jnp.int32)
        return GIFState._make((jnp.full(n, self.e_l), *zeros, *flags, stream, step))

    def voltage(self, state: GIFState) -> jax.Array:
        return jnp.where(state.spikes, self.v_reset, state.v)

    def step(self, state: GIFState, drive: Drive, dt: float) -> tuple[GIFState, jax.Array]:
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        parts = (state.stc_1, self.q_stc_1), (state.stc_2, self.q_stc_2)
        parts += (state.sfa_1, self.q_sfa_1), (state.sfa_2, self.q_sfa_2)
        started = [jnp.where(state.spikes, x + q, x) for x, q in parts]
        taus = self.tau_stc_1, self.tau_stc_2, self.tau_sfa_1, self.tau_sfa_2
        ended = [x * jnp.exp(-dt / tau) for x, tau in zip(started, taus)]
        means = [x * phi1(-dt / tau) for x, tau in zip(started[:2], taus)]
        v, driven = self.voltage(state), add_drives(drive, Drive(current=-means[0] - means[1]))
        moved = drive.jumped(leaky(v, driven, self.e_l, self.c_m / self.g_l, self.c_m, dt))
        v = jnp.where(free, moved, v)
        x = (v - self.v_t_star - ended[2] - ended[3]) / self.delta_v
        hazard = per_step(self.lambda_0, 1.0)  # per ms
        spikes = free & escapes(x, hazard, state.stream, state.step, dt)
        return GIFState._make((v, *ended, spikes, left, state.stream, state.step + 1)), spikes
