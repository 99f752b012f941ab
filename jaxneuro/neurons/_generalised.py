"""Generalised integrate-and-fire neurons: escape noise, currents and thresholds that spikes move.

Gerstner, Kistler, Naud, Paninski (2014), Neuronal Dynamics, ch. 9; Mensi et al. (2012); Pozzorini
et al. (2015); Teeter et al. (2018).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Neuron, StochasticNeuron, add_drives
from .._numerics.draws import chance
from .._numerics.grid import per_step
from .._numerics.maths import decay_mean, phi1
from .._numerics.streams import Stream
from ..spec import Rule
from ..surrogates import Surrogate, surrogate_field, threshold
from ._membrane import countdown, leaky


def _escapes(x: jax.Array, rho_0: jax.Array, stream: Stream, step: jax.Array, dt: float):
    """Which neurons spike in a step with the hazard `rho_0 exp(x)` [1/ms], bool (n,).

    The probability is `1 - exp(-rho_0 exp(x) dt)`. No neuron spikes at an x that is not finite,
    so that this error stays in the state.
    """
    p = -jnp.expm1(-dt * rho_0 * jnp.exp(x))
    return chance(stream.word(step), p) & (x < jnp.inf)


class EscapeRateLIFState(NamedTuple):
    """State of n escape-rate LIF neurons.

    Attributes:
        v: membrane potential [mV]; after a spike its value *before* the reset.
        spikes: which spiked in the last step, bool.
        refractory: steps left before the membrane moves again, uint16.
        stream: the stream of their bits.
        step: steps done, int32 ().
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

    Start: at `e_l`.

    Reference:
        Gerstner et al. (2014), Neuronal Dynamics, sec. 9.1, doi:10.1017/CBO9781107447615. The
        defaults of the hazard are ascribed to Jolivet et al. (2006), Predicting spike timing of
        neocortical pyramidal neurons by simple threshold models, doi:10.1007/s10827-006-7074-5, but
        have not been compared with the paper.

    Note:
        Spikes are drawn, so they have no gradient and there is no `surrogate`.
    """

    tau_m: Parameter = param(10.0, unit="ms", above=0.0, doc="membrane time constant")
    c_m: Parameter = param(250.0, unit="pF", above=0.0, doc="capacitance")
    e_l: Parameter = param(-70.0, unit="mV", doc="leak reversal")
    v_th: Parameter = param(-55.0, unit="mV", doc="where the hazard is rho_0")
    v_reset: Parameter = param(-70.0, unit="mV", doc="reset")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    rho_0: Parameter = param(1 / 19, unit="1/ms", above=0.0, doc="hazard at v_th")
    delta_u: Parameter = param(4.0, unit="mV", above=0.0, least=0.0, doc="width of the threshold")

    def time_constants(self) -> dict[str, Any]:
        return {"v": self.tau_m}

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
        spikes = free & _escapes(x, self.rho_0, state.stream, state.step, dt)
        return EscapeRateLIFState(v, spikes, left, state.stream, state.step + 1), spikes


class GIFState(NamedTuple):
    """State of n GIF neurons.

    Attributes:
        v: membrane potential [mV]; after a spike it and the four below as *before* the jump.
        stc_1, stc_2: spike-triggered currents [pA].
        sfa_1, sfa_2: parts of the threshold [mV].
        spikes: which spiked in the last step, bool.
        refractory: steps left before the membrane moves again, uint16.
        stream: the stream of their bits.
        step: steps done, int32 ().
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

    Start: at `e_l`.

    Reference:
        Mensi et al. (2012), Parameter extraction and classification of three cortical neuron types
        reveals two distinct adaptation mechanisms, doi:10.1152/jn.00408.2011; Pozzorini et al.
        (2015), Automated high-throughput characterization of single neurons by means of simplified
        spiking models, doi:10.1371/journal.pcbi.1004275; defaults of NEST's gif_psc_exp, whose
        defaults do not adapt.

    Note:
        Differs from NEST: `stc` acts by its mean over the step and `sfa` by its value at the end,
        NEST takes both from its start. Drawn spikes have no gradient: there is no `surrogate`.
    """

    c_m: Parameter = param(80.0, unit="pF", above=0.0, doc="capacitance")
    g_l: Parameter = param(4.0, unit="nS", above=0.0, doc="leak conductance")
    e_l: Parameter = param(-70.0, unit="mV", doc="leak reversal")
    v_reset: Parameter = param(-55.0, unit="mV", doc="reset")
    t_ref: Parameter = param(4.0, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    v_t_star: Parameter = param(-35.0, unit="mV", doc="threshold at rest")
    delta_v: Parameter = param(0.5, unit="mV", above=0.0, least=0.0, doc="width of the threshold")
    lambda_0: Parameter = param(1.0, unit="Hz", above=0.0, doc="hazard at the threshold")
    tau_stc_1: Parameter = param(57.8, unit="ms", above=0.0, doc="time constant of stc_1")
    q_stc_1: Parameter = param(0.0, unit="pA", doc="what a spike adds to stc_1")
    tau_stc_2: Parameter = param(218.2, unit="ms", above=0.0, doc="time constant of stc_2")
    q_stc_2: Parameter = param(0.0, unit="pA", doc="what a spike adds to stc_2")
    tau_sfa_1: Parameter = param(53.8, unit="ms", above=0.0, doc="time constant of sfa_1")
    q_sfa_1: Parameter = param(0.0, unit="mV", least=0.0, doc="what a spike adds to sfa_1")
    tau_sfa_2: Parameter = param(640.0, unit="ms", above=0.0, doc="time constant of sfa_2")
    q_sfa_2: Parameter = param(0.0, unit="mV", least=0.0, doc="what a spike adds to sfa_2")

    @classmethod
    def cortical(cls) -> "GIF":
        """A cortical neuron that adapts: a fit of Mensi et al., as in NEST's gif_population."""
        membrane = {"c_m": 83.1, "g_l": 3.7, "e_l": -67.0, "v_reset": -36.7, "v_t_star": -39.6}
        stc, sfa = {"q_stc_1": 56.7, "q_stc_2": -6.9}, {"q_sfa_1": 11.7, "q_sfa_2": 1.8}
        return cls(**membrane, delta_v=1.4, **stc, **sfa)

    def time_constants(self) -> dict[str, Any]:
        return {
            "v": self.c_m / self.g_l,
            "stc_1": self.tau_stc_1,
            "stc_2": self.tau_stc_2,
            "sfa_1": self.tau_sfa_1,
            "sfa_2": self.tau_sfa_2,
        }

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
        spikes = free & _escapes(x, hazard, state.stream, state.step, dt)
        return GIFState._make((v, *ended, spikes, left, state.stream, state.step + 1)), spikes


class GLIFState(NamedTuple):
    """State of n GLIF neurons.

    Attributes:
        v: membrane potential [mV]; after a spike it and the four below as *before* the reset.
        asc_1, asc_2: after-spike currents [pA].
        theta_s, theta_v: what spikes and voltage add to the threshold [mV].
        spikes: which spiked in the last step, bool.
        refractory: steps left before all of them move again, uint16.
    """

    v: jax.Array
    asc_1: jax.Array
    asc_2: jax.Array
    theta_s: jax.Array
    theta_v: jax.Array
    spikes: jax.Array
    refractory: jax.Array


# Parameters that switch off what the lower levels do not have.
_PLAIN_RESET: dict[str, Any] = {"f_v": 0.0, "delta_v": 0.0, "delta_theta_s": 0.0}
_NO_CURRENTS: dict[str, Any] = {"delta_i_1": 0.0, "delta_i_2": 0.0}
_NO_LIFT: dict[str, Any] = {"a_v": 0.0}


class GLIF(Neuron):
    """Generalised leaky integrate-and-fire neuron; levels 1 to 5 are presets of one equation.

    Equations: `c_m dv/dt = -g_l (v - e_l) + asc_1 + asc_2 + current - conductance v`,
    `dasc_j/dt = -k_j asc_j`, `dtheta_s/dt = -b_s theta_s`,
    `dtheta_v/dt = a_v (v - e_l) - b_v theta_v`. A spike when `v >= v_th + theta_s + theta_v`.
    After a spike all are held for `t_ref`, and go on from `v = e_l + f_v (v - e_l) + delta_v`,
    `asc_j = f_j asc_j exp(-k_j t_ref) + delta_i_j`,
    `theta_s = theta_s exp(-b_s t_ref) + delta_theta_s`.

    Update: exact for a drive that is constant over the step and the mean of `asc` over it
    (second order); `jump` is added and the threshold tested at its end.

    Start: at `e_l`.

    Reference:
        Teeter et al. (2018), Generalized leaky integrate-and-fire models classify multiple neuron
        types, doi:10.1038/s41467-017-02717-4; defaults of NEST's glif_psc.

    Note:
        Differs from NEST: f_v acts on the v that crossed the threshold, not on the v before it;
        `t_ref` is 3.8 ms, because 3.75 ms is off the usual grid.
    """

    c_m: Parameter = param(58.72, unit="pF", above=0.0, doc="capacitance")
    g_l: Parameter = param(9.43, unit="nS", above=0.0, doc="leak conductance")
    e_l: Parameter = param(-78.85, unit="mV", doc="leak reversal")
    v_th: Parameter = param(-51.68, unit="mV", doc="threshold")
    t_ref: Parameter = param(3.8, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    f_v: Parameter = param(0.2, at_least=0.0, at_most=1.0, doc="part of v - e_l that a reset keeps")
    delta_v: Parameter = param(18.51, unit="mV", least=0.0, doc="what a reset adds to v")
    k_1: Parameter = param(0.003, unit="1/ms", above=0.0, doc="rate of decay of asc_1")
    f_1: Parameter = param(1.0, at_least=0.0, at_most=1.0, doc="part of asc_1 that a spike keeps")
    delta_i_1: Parameter = param(-9.18, unit="pA", doc="what a spike adds to asc_1")
    k_2: Parameter = param(0.1, unit="1/ms", above=0.0, doc="rate of decay of asc_2")
    f_2: Parameter = param(1.0, at_least=0.0, at_most=1.0, doc="part of asc_2 that a spike keeps")
    delta_i_2: Parameter = param(-198.94, unit="pA", doc="what a spike adds to asc_2")
    b_s: Parameter = param(0.009, unit="1/ms", above=0.0, doc="rate of decay of theta_s")
    delta_theta_s: Parameter = param(0.37, unit="mV", least=0.0, doc="what a spike adds to theta_s")
    a_v: Parameter = param(0.005, unit="1/ms", doc="effect of v on theta_v")
    b_v: Parameter = param(0.09, unit="1/ms", above=0.0, doc="rate of decay of theta_v")
    surrogate: Surrogate | None = surrogate_field()
    rules = (
        Rule(
            "delta_v",
            "such that, with f_v {f_v}, a spike resets v from the threshold to below the one that "
            "follows, v_th + delta_theta_s",
            lambda e_l, f_v, delta_v, v_th, delta_theta_s: (
                e_l + f_v * (v_th - e_l) + delta_v < v_th + delta_theta_s
            ),
        ),
    )

    @classmethod
    def glif1(cls, **given: Any) -> "GLIF":
        """LIF: reset to `e_l`. `given` are parameters of the level, for all levels."""
        return cls(**(_PLAIN_RESET | _NO_CURRENTS | _NO_LIFT | given))

    @classmethod
    def glif2(cls, **given: Any) -> "GLIF":
        """LIF-R: reset rules, and a threshold that spikes lift."""
        return cls(**(_NO_CURRENTS | _NO_LIFT | given))

    @classmethod
    def glif3(cls, **given: Any) -> "GLIF":
        """LIF-ASC: after-spike currents."""
        return cls(**(_PLAIN_RESET | _NO_LIFT | given))

    @classmethod
    def glif4(cls, **given: Any) -> "GLIF":
        """LIF-R-ASC: reset rules, lifted threshold and after-spike currents."""
        return cls(**(_NO_LIFT | given))

    @classmethod
    def glif5(cls, **given: Any) -> "GLIF":
        """LIF-R-ASC-A: all, with a threshold that the voltage lifts too; as the class itself."""
        return cls(**given)

    def time_constants(self) -> dict[str, Any]:
        return {
            "v": self.c_m / self.g_l,
            "asc_1": 1.0 / self.k_1,
            "asc_2": 1.0 / self.k_2,
            "theta_s": 1.0 / self.b_s,
            "theta_v": 1.0 / self.b_v,
        }

    def init(self, n: int) -> GLIFState:
        zeros = (jnp.zeros(n, self.e_l.dtype) for _ in range(4))
        spikes, refractory = jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16)
        return GLIFState._make((jnp.full(n, self.e_l), *zeros, spikes, refractory))

    def voltage(self, state: GLIFState) -> jax.Array:
        return self._reset(state).v

    def step(self, state: GLIFState, drive: Drive, dt: float) -> tuple[GLIFState, jax.Array]:
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        state = self._reset(state)
        v, *others = self._moved(state, drive, dt)
        new = [jnp.where(free, x, y) for x, y in zip((drive.jumped(v), *others), state)]
        v_th = self.v_th + new[3] + new[4]
        # A reset that depends on v may hold v above the threshold.
        v = jnp.where(free, new[0], -jnp.inf)
        spikes, fired = threshold(v, v_th, self.surrogate, state.v, free=free)
        return GLIFState._make((*new, fired, left)), spikes

    def _reset(self, state: GLIFState) -> GLIFState:
        """The state after the reset of those that spiked in the last step."""
        after = (
            self.e_l + self.f_v * (state.v - self.e_l) + self.delta_v,
            self.f_1 * jnp.exp(-self.k_1 * self.t_ref) * state.asc_1 + self.delta_i_1,
            self.f_2 * jnp.exp(-self.k_2 * self.t_ref) * state.asc_2 + self.delta_i_2,
            jnp.exp(-self.b_s * self.t_ref) * state.theta_s + self.delta_theta_s,
        )
        new = (jnp.where(state.spikes, x, y) for x, y in zip(after, state))
        return GLIFState._make((*new, *state[4:]))

    def _moved(self, state: GLIFState, drive: Drive, dt: float) -> tuple[jax.Array, ...]:
        """The five variables at the end of a step outside of `t_ref`; v without jumps."""
        current, conductance = drive.linear()
        for asc, k in ((state.asc_1, self.k_1), (state.asc_2, self.k_2)):
            current = current + asc * (decay_mean(k, dt) / dt)
        g = self.g_l + conductance
        rate, start, end = g / self.c_m, state.v - self.e_l, (current - conductance * self.e_l) / g
        # (exp(-rate dt) - exp(-b_v dt)) / (b_v - rate), in whichever order does not overflow
        slow, apart = self.b_v < rate, self.b_v - rate
        passing = jnp.exp(-jnp.where(slow, self.b_v, rate) * dt)
        passing = passing * decay_mean(jnp.where(slow, -apart, apart), dt)
        lifted = self.a_v * (end * decay_mean(self.b_v, dt) + (start - end) * passing)
        return (
            self.e_l + end + (start - end) * jnp.exp(-rate * dt),
            state.asc_1 * jnp.exp(-self.k_1 * dt),
            state.asc_2 * jnp.exp(-self.k_2 * dt),
            state.theta_s * jnp.exp(-self.b_s * dt),
            state.theta_v * jnp.exp(-self.b_v * dt) + lifted,
        )
