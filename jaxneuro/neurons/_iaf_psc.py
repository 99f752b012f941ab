"""Leaky integrate-and-fire neurons with synaptic currents of their own, solved exactly.

Rotter and Diesmann (1999), doi:10.1007/s004220050570. The propagators are those of a membrane that
exponential and alpha currents drive. With `a = dt/tau_syn`, `b = dt/tau_m` and `x = a - b` they are
`exp(-a) phi(x)`. This has no difference of nearly equal terms where `tau_syn` is near `tau_m`, and
is the limit where they are equal.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive
from .._numerics.maths import phi1, phi2
from ..spec import Less
from ..surrogates import Surrogate, surrogate_field, threshold
from ._membrane import ResetNeuron, countdown


def _from_current(tau_m: jax.Array, c_m: jax.Array, dt: float) -> jax.Array:
    """v [mV] at the end of a step per pA of a constant current: `tau_m/c_m (1 - exp(-b))`."""
    return -jnp.expm1(-dt / tau_m) * (tau_m / c_m)


def _from_decaying(tau_m: jax.Array, c_m: jax.Array, tau_syn: jax.Array, dt: float) -> jax.Array:
    """v [mV] at the end of a step per pA of a current `exp(-t/tau_syn)`.

    `dt/c_m exp(-a) phi1(x)`, which is the same with a and b exchanged.
    """
    a, b = dt / tau_syn, dt / tau_m
    x = a - b
    # Of the two forms the one that cannot overflow; at 0 both have the same derivatives.
    slow, negative = jnp.where(x > 0, b, a), jnp.where(x > 0, -x, x)
    return (dt / c_m) * jnp.exp(-slow) * phi1(negative)


def _from_rising(tau_m: jax.Array, c_m: jax.Array, tau_syn: jax.Array, dt: float) -> jax.Array:
    """v [mV] at the end of a step per pA/ms of a current `t exp(-t/tau_syn)`.

    `dt^2/c_m exp(-a) phi2(x) = dt^2/c_m exp(-b) (1 - (1 + x) exp(-x)) / x^2`.
    """
    a, b = dt / tau_syn, dt / tau_m
    x = a - b
    far = x > 1.0
    one = jnp.ones_like(x)
    # Two `where`: phi2 overflows on the far side, the other form loses its digits near 0.
    near = jnp.exp(-a) * phi2(jnp.where(far, one, x))
    y = jnp.where(far, x, one)
    beyond = jnp.exp(-b) * (1.0 - (1.0 + y) * jnp.exp(-y)) / jnp.square(y)
    return (dt * dt / c_m) * jnp.where(far, beyond, near)


class IafPscDeltaState(NamedTuple):
    """State of n neurons whose v jumps at arriving spikes.

    Attributes:
        v: membrane potential [mV]; after a spike its value *before* the reset.
        spikes: which spiked in the last step, bool.
        refractory: steps left before the membrane moves again, uint16.
    """

    v: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class IafPscDelta(ResetNeuron):
    """Leaky integrate-and-fire neuron for `Delta` synapses: NEST's iaf_psc_delta.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + current`, `v += w` when a spike arrives; a
    spike when `v >= v_th`, then `v = v_reset`, held for `t_ref`.

    Update: exact for a current that is constant over the step; then `jump` is added and the
    threshold tested. What arrives while v is held is lost. It takes no conductances: `build`
    refuses them.

    Start: at `e_l`.

    Reference:
        Rotter and Diesmann (1999), Exact digital simulation of time-invariant linear systems with
        applications to neuronal modeling, doi:10.1007/s004220050570.

    Note:
        There is no `refractory_input` (what arrives while v is held is always lost) and no `V_min`.
    """

    tau_m: Parameter = param(10.0, unit="ms", above=0.0, doc="membrane time constant")
    c_m: Parameter = param(250.0, unit="pF", above=0.0, doc="capacitance")
    e_l: Parameter = param(-70.0, unit="mV", doc="leak reversal")
    v_th: Parameter = param(-55.0, unit="mV", doc="threshold")
    v_reset: Parameter = param(-70.0, unit="mV", doc="reset")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    surrogate: Surrogate | None = surrogate_field()
    rules = (Less("v_reset", "v_th"),)

    def time_constants(self) -> dict[str, Any]:
        return {"v": self.tau_m}

    def init(self, n: int) -> IafPscDeltaState:
        v = jnp.full(n, self.e_l)
        return IafPscDeltaState(v, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def step(
        self, state: IafPscDeltaState, drive: Drive, dt: float
    ) -> tuple[IafPscDeltaState, jax.Array]:
        v = self.voltage(state)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        moved = self.e_l + (v - self.e_l) * jnp.exp(-dt / self.tau_m)
        if drive.current is not None:
            moved = moved + drive.current * _from_current(self.tau_m, self.c_m, dt)
        v = jnp.where(free, drive.jumped(moved), v)
        spikes, fired = threshold(v, self.v_th, self.surrogate, self.voltage(state), free=free)
        return IafPscDeltaState(v, fired, left), spikes


class IafPscExpState(NamedTuple):
    """State of n neurons with exponential currents.

    Attributes:
        v: membrane potential [mV]; after a spike its value *before* the reset.
        i_ex, i_in: synaptic currents [pA].
        spikes: which spiked in the last step, bool.
        refractory: steps left before the membrane moves again, uint16.
    """

    v: jax.Array
    i_ex: jax.Array
    i_in: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class IafPscExp(ResetNeuron):
    """Leaky integrate-and-fire neuron with exponential currents: NEST's iaf_psc_exp.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + i_ex + i_in + current`,
    `tau_syn_ex di_ex/dt = -i_ex`, the same for `i_in`; `i += w` when a spike arrives; a spike when
    `v >= v_th`, then `v = v_reset`, held for `t_ref`, while the currents go on.

    Update: exact, by the propagators of the linear system, for a drive that is constant over
    the step, `tau_syn = tau_m` included. v moves with the currents as they stand at the start of
    the step; then they decay and take what arrives; then `jump` is added and the threshold tested.

    Its synapses are `Direct("ex")` and `Direct("in")`, with weights in pA; those of `in` are
    negative. It takes no conductances: `build` refuses them.

    Start: at `e_l` without currents.

    Reference:
        Rotter and Diesmann (1999), Exact digital simulation of time-invariant linear systems with
        applications to neuronal modeling, doi:10.1007/s004220050570; Diesmann, Gewaltig, Rotter,
        Aertsen (2001), State space analysis of synchronous spiking in cortical neural networks,
        doi:10.1016/S0925-2312(01)00409-X.

    Note:
        The port and not the sign of a weight selects the current; there is no escape noise.
    """

    ports: ClassVar[tuple[str, ...]] = ("ex", "in")
    port_signs: ClassVar[Mapping[str, int]] = {"ex": 1, "in": -1}
    port_fills: ClassVar[Mapping[str, tuple]] = {"ex": ("i_ex",), "in": ("i_in",)}

    tau_m: Parameter = param(10.0, unit="ms", above=0.0, doc="membrane time constant")
    c_m: Parameter = param(250.0, unit="pF", above=0.0, doc="capacitance")
    e_l: Parameter = param(-70.0, unit="mV", doc="leak reversal")
    v_th: Parameter = param(-55.0, unit="mV", doc="threshold")
    v_reset: Parameter = param(-70.0, unit="mV", doc="reset")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    tau_syn_ex: Parameter = param(2.0, unit="ms", above=0.0, doc="time constant of i_ex")
    tau_syn_in: Parameter = param(2.0, unit="ms", above=0.0, doc="time constant of i_in")
    surrogate: Surrogate | None = surrogate_field()
    rules = (Less("v_reset", "v_th"),)

    def time_constants(self) -> dict[str, Any]:
        return {"v": self.tau_m, "i_ex": self.tau_syn_ex, "i_in": self.tau_syn_in}

    def init(self, n: int) -> IafPscExpState:
        v = jnp.full(n, self.e_l)
        nothing = jnp.zeros_like(v)
        return IafPscExpState(v, nothing, nothing, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def step(
        self, state: IafPscExpState, drive: Drive, dt: float
    ) -> tuple[IafPscExpState, jax.Array]:
        v = self.voltage(state)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        moved = drive.jumped(self._membrane(v, state, drive, dt))
        i_ex = state.i_ex * jnp.exp(-dt / self.tau_syn_ex) + drive.arriving("ex")
        i_in = state.i_in * jnp.exp(-dt / self.tau_syn_in) + drive.arriving("in")
        v = jnp.where(free, moved, v)
        spikes, fired = threshold(v, self.v_th, self.surrogate, self.voltage(state), free=free)
        return IafPscExpState(v, i_ex, i_in, fired, left), spikes

    def _membrane(self, v: jax.Array, state: IafPscExpState, drive: Drive, dt: float) -> jax.Array:
        by_ex = _from_decaying(self.tau_m, self.c_m, self.tau_syn_ex, dt)
        by_in = _from_decaying(self.tau_m, self.c_m, self.tau_syn_in, dt)
        moved = self.e_l + (v - self.e_l) * jnp.exp(-dt / self.tau_m)
        moved = moved + (state.i_ex * by_ex + state.i_in * by_in)
        if drive.current is None:
            return moved
        return moved + drive.current * _from_current(self.tau_m, self.c_m, dt)


class IafPscAlphaState(NamedTuple):
    """State of n neurons with alpha-shaped currents.

    Attributes:
        v: membrane potential [mV]; after a spike its value *before* the reset.
        di_ex, di_in: rising parts of the synaptic currents [pA/ms].
        i_ex, i_in: synaptic currents [pA].
        spikes: which spiked in the last step, bool.
        refractory: steps left before the membrane moves again, uint16.
    """

    v: jax.Array
    di_ex: jax.Array
    i_ex: jax.Array
    di_in: jax.Array
    i_in: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class IafPscAlpha(ResetNeuron):
    """Leaky integrate-and-fire neuron with alpha-shaped currents: NEST's iaf_psc_alpha.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + i_ex + i_in + current`; for both currents
    `di/dt = di - i/tau_syn` with `d(di)/dt = -di/tau_syn`, and `di += w e/tau_syn` when a spike
    arrives, so that the current peaks at w, `tau_syn` later; a spike when `v >= v_th`, then
    `v = v_reset`, held for `t_ref`, while the currents go on.

    Update: exact, by the propagators of the linear system, for a drive that is constant over
    the step, `tau_syn = tau_m` included; in the order of `IafPscExp`. Its synapses are
    `Direct("ex")` and `Direct("in")`, with weights in pA; those of `in` are negative. It takes
    no conductances: `build` refuses them.

    Start: at `e_l` without currents.

    Reference:
        Rotter and Diesmann (1999), Exact digital simulation of time-invariant linear systems with
        applications to neuronal modeling, doi:10.1007/s004220050570.

    Note:
        The port and not the sign of a weight selects the current; there is no `V_min`.
    """

    ports: ClassVar[tuple[str, ...]] = ("ex", "in")
    port_signs: ClassVar[Mapping[str, int]] = {"ex": 1, "in": -1}
    port_fills: ClassVar[Mapping[str, tuple]] = {"ex": ("di_ex", "i_ex"), "in": ("di_in", "i_in")}

    tau_m: Parameter = param(10.0, unit="ms", above=0.0, doc="membrane time constant")
    c_m: Parameter = param(250.0, unit="pF", above=0.0, doc="capacitance")
    e_l: Parameter = param(-70.0, unit="mV", doc="leak reversal")
    v_th: Parameter = param(-55.0, unit="mV", doc="threshold")
    v_reset: Parameter = param(-70.0, unit="mV", doc="reset")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    tau_syn_ex: Parameter = param(2.0, unit="ms", above=0.0, doc="time to the peak of i_ex")
    tau_syn_in: Parameter = param(2.0, unit="ms", above=0.0, doc="time to the peak of i_in")
    surrogate: Surrogate | None = surrogate_field()
    rules = (Less("v_reset", "v_th"),)

    def time_constants(self) -> dict[str, Any]:
        return {
            "v": self.tau_m,
            **dict.fromkeys(("i_ex", "di_ex"), self.tau_syn_ex),
            **dict.fromkeys(("i_in", "di_in"), self.tau_syn_in),
        }

    def init(self, n: int) -> IafPscAlphaState:
        v = jnp.full(n, self.e_l)
        o = jnp.zeros_like(v)
        return IafPscAlphaState(v, o, o, o, o, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def step(
        self, state: IafPscAlphaState, drive: Drive, dt: float
    ) -> tuple[IafPscAlphaState, jax.Array]:
        v = self.voltage(state)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        moved = self.e_l + (v - self.e_l) * jnp.exp(-dt / self.tau_m)
        if drive.current is not None:
            moved = moved + drive.current * _from_current(self.tau_m, self.c_m, dt)
        ex = self._current(state.di_ex, state.i_ex, self.tau_syn_ex, drive.arriving("ex"), dt)
        inh = self._current(state.di_in, state.i_in, self.tau_syn_in, drive.arriving("in"), dt)
        v = jnp.where(free, drive.jumped(moved + (ex[2] + inh[2])), v)
        spikes, fired = threshold(v, self.v_th, self.surrogate, self.voltage(state), free=free)
        return IafPscAlphaState(v, *ex[:2], *inh[:2], fired, left), spikes

    def _current(
        self, di: jax.Array, i: jax.Array, tau: jax.Array, arriving: Any, dt: float
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """`di` and `i` at the end of the step, and what they add to v [mV]."""
        rising = _from_rising(self.tau_m, self.c_m, tau, dt)
        decaying = _from_decaying(self.tau_m, self.c_m, tau, dt)
        decay = jnp.exp(-dt / tau)
        return (
            di * decay + arriving * (math.e / tau),
            (i + dt * di) * decay,
            (di * rising + i * decaying),
        )


class FlyLIFState(NamedTuple):
    """State of n neurons of the fly's brain.

    Attributes:
        v: membrane potential [mV]; after a spike its value *before* the reset.
        g: synaptic input [mV], likewise.
        spikes: which spiked in the last step, bool.
        refractory: steps left before the neuron moves again, uint16.
    """

    v: jax.Array
    g: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class FlyLIF(ResetNeuron):
    """Leaky integrate-and-fire neuron whose synaptic input is reset and held with v.

    Equations: `tau_m dv/dt = e_l - v + g + current tau_m/c_m`, `tau_syn dg/dt = -g`; `g += w` when
    a spike arrives; a spike when `v >= v_th`, then `v = v_reset` and `g = 0`, both held for
    `t_ref`. What arrives in that time is lost, for g and for v (`jump`).

    Update: exact, by the propagators of the linear system, for a current that is constant over the
    step, `tau_syn = tau_m` included. v moves with g as it stands at the start of the step; then g
    decays and takes what arrives; then `jump` is added and the threshold tested. Its synapse is
    `Direct("g")`, with weights of both signs in mV. It takes no conductances: `build` refuses them.

    Start: at `e_l` with g = 0. In the paper `t_ref` is 0 for neurons that it drives.

    Reference:
        Shiu et al. (2024), A Drosophila computational brain model reveals sensorimotor processing,
        doi:10.1038/s41586-024-07763-9, with the parameters of Kakaria and de Bivort (2017), Ring
        attractor dynamics emerge from a spiking model of the entire protocerebral bridge,
        doi:10.3389/fnbeh.2017.00008, and their program for Brian2: there `(unless refractory)` also
        makes every `g += w` and `v += w` of a refractory neuron void.

    Note:
        `v >= v_th` is `v > v_th` there. t_ref/dt steps are held after that of the spike, as
        everywhere in this package; Brian2 holds one less, so that `t_ref = 2.1` is its 2.2 at `dt =
        0.1`. A `jump` comes before the threshold and not after it: it fires a step earlier.
    """

    ports: ClassVar[tuple[str, ...]] = ("g",)
    port_fills: ClassVar[Mapping[str, tuple]] = {"g": ("g",)}

    tau_m: Parameter = param(20.0, unit="ms", above=0.0, doc="membrane time constant")
    c_m: Parameter = param(2000.0, unit="pF", above=0.0, doc="capacitance, for injected current")
    e_l: Parameter = param(-52.0, unit="mV", doc="resting potential")
    v_th: Parameter = param(-45.0, unit="mV", doc="threshold")
    v_reset: Parameter = param(-52.0, unit="mV", doc="reset")
    t_ref: Parameter = param(2.2, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    tau_syn: Parameter = param(5.0, unit="ms", above=0.0, doc="time constant of g")
    surrogate: Surrogate | None = surrogate_field()
    rules = (Less("v_reset", "v_th"),)

    def time_constants(self) -> dict[str, Any]:
        return {"v": self.tau_m, "g": self.tau_syn}

    def init(self, n: int) -> FlyLIFState:
        v = jnp.full(n, self.e_l)
        return FlyLIFState(v, jnp.zeros_like(v), jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def step(self, state: FlyLIFState, drive: Drive, dt: float) -> tuple[FlyLIFState, jax.Array]:
        v, g = self.voltage(state), jnp.where(state.spikes, 0.0, state.g)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        by_g = _from_decaying(self.tau_m, self.tau_m, self.tau_syn, dt)
        moved = self.e_l + (v - self.e_l) * jnp.exp(-dt / self.tau_m) + g * by_g
        if drive.current is not None:
            moved = moved + drive.current * _from_current(self.tau_m, self.c_m, dt)
        taken = g * jnp.exp(-dt / self.tau_syn) + drive.arriving("g")
        v, g = jnp.where(free, drive.jumped(moved), v), jnp.where(free, taken, g)
        spikes, fired = threshold(v, self.v_th, self.surrogate, self.voltage(state), free=free)
        return FlyLIFState(v, g, fired, left), spikes
