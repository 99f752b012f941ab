"""Conductance-based neurons with fixed channels, each from one publication.

Traub and Miles (1991), doi:10.1017/CBO9780511895401, as in Brette et al. (2007),
doi:10.1007/s10827-007-0038-6; Wang and Buzsaki (1996), doi:10.1523/JNEUROSCI.16-20-06402.1996;
Morris and Lecar (1981), doi:10.1016/S0006-3495(81)84782-0.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Neuron
from .._numerics.maths import linoid
from ..integrators import Gate, Integrator, Linear, exponential_euler, rk4
from ..integrators._integrators import method_field
from ..surrogates import Surrogate, crossing, surrogate_field


class TraubMilesState(NamedTuple):
    """State of n Traub-Miles neurons.

    Attributes:
        v: membrane potential [mV].
        m, h, n: activation and inactivation of sodium, activation of potassium, each from 0 to 1.
    """

    v: jax.Array
    m: jax.Array
    h: jax.Array
    n: jax.Array


class TraubMiles(Neuron):
    """Traub-Miles neuron in the form of the COBAHH benchmark, for a whole cell.

    Equations: `c_m dv/dt = g_l (e_l - v) + g_na m^3 h (e_na - v) + g_k n^4 (e_k - v) + current -
    conductance v`, `dx/dt = a_x (1 - x) - b_x x` for the gates, with `u = v - v_t`,
    `a_m = 1.28 L((u-13)/4)`, `b_m = 1.4 L((40-u)/5)`, `L(x) = x / (1 - exp(-x))`,
    `a_h = 0.128 exp((17-u)/18)`, `b_h = 4 / (1 + exp((40-u)/5))`,
    `a_n = 0.16 L((u-15)/5)`, `b_n = 0.5 exp((10-u)/40)`. A spike is the upward crossing of `v_th`.

    Update: by `method`; exponential Euler, of first order, is stable for any conductance. Then
    `jump` is added and the crossing tested.

    Start: at `e_l`, the gates at their steady state there.

    Raises:
        InvalidValueError: from `build` for a dt at which `method` makes the leak grow.

    Reference:
        Traub and Miles (1991), Neuronal Networks of the Hippocampus, doi:10.1017/CBO9780511895401;
        Brette et al. (2007), Simulation of networks of spiking neurons: a review of tools and
        strategies, appendix B, doi:10.1007/s10827-007-0038-6.

    Note:
        It fires at 14 Hz without a current, as the original does. Brian2 counts v above -20 mV at
        most once in 3 ms; here a spike is the crossing, so that a v that stays above counts once.
        Below `v_t - 100` and above `v_t + 150` mV the rates are constant.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = dict.fromkeys("mhn", (0.0, 1.0))

    c_m: Parameter = param(200.0, unit="pF", above=0.0, doc="capacitance")
    g_l: Parameter = param(10.0, unit="nS", above=0.0, doc="leak conductance")
    g_na: Parameter = param(20_000.0, unit="nS", at_least=0.0, doc="sodium conductance")
    g_k: Parameter = param(6_000.0, unit="nS", at_least=0.0, doc="potassium conductance")
    e_l: Parameter = param(-60.0, unit="mV", doc="leak reversal")
    e_na: Parameter = param(50.0, unit="mV", doc="sodium reversal")
    e_k: Parameter = param(-90.0, unit="mV", doc="potassium reversal")
    v_t: Parameter = param(-63.0, unit="mV", doc="where the gates open")
    v_th: Parameter = param(-20.0, unit="mV", doc="level of a spike")
    method: Integrator = method_field(exponential_euler)
    surrogate: Surrogate | None = surrogate_field()

    def init(self, n: int) -> TraubMilesState:
        v = jnp.full(n, self.e_l)
        return TraubMilesState(v, *(a / (a + b) for a, b in self._rates(v)))

    def step(
        self, state: TraubMilesState, drive: Drive, dt: float
    ) -> tuple[TraubMilesState, jax.Array]:
        v, m, h, n = self.method(lambda y, t: self._flow(y, drive.at(t, dt)), tuple(state), dt)
        v = drive.jumped(v)
        return TraubMilesState(v, m, h, n), crossing(state.v, v, self.v_th, self.surrogate)

    def _flow(self, y: tuple, drive: Drive) -> tuple[Linear | Gate, ...]:
        v, m, h, n = y
        current, conductance = drive.linear()
        g_na, g_k = self.g_na * (m * m * m * h), self.g_k * jnp.square(jnp.square(n))
        source = self.g_l * self.e_l + g_na * self.e_na + g_k * self.e_k + current
        rate = self.g_l + g_na + g_k + conductance
        gates = (Gate(a, b) for a, b in self._rates(v))
        return Linear(source / self.c_m, rate / self.c_m), *gates

    def _rates(self, v: jax.Array) -> tuple[tuple[jax.Array, jax.Array], ...]:
        """Opening and closing rates [1/ms] of m, h and n: two exponentials for all six."""
        # Outside of this range the rates are constant, so that no exponential overflows.
        u = jnp.clip(v - self.v_t, -100.0, 150.0)
        by_40 = jnp.exp(u * (-1 / 40))
        by_20 = jnp.square(by_40)
        by_5 = jnp.square(jnp.square(by_20))
        closed = math.exp(8.0) * by_5
        a_m = 1.28 * linoid((u - 13.0) * 0.25, math.exp(3.25) * (by_5 * by_20))
        # L(-x) = exp(-x) L(x).
        b_m = 1.4 * closed * linoid((u - 40.0) * 0.2, closed)
        a_h = (0.128 * math.exp(17 / 18)) * jnp.exp(u * (-1 / 18))
        a_n = 0.16 * linoid((u - 15.0) * 0.2, math.exp(3.0) * by_5)
        return (a_m, b_m), (a_h, 4.0 / (1.0 + closed)), (a_n, 0.5 * math.exp(0.25) * by_40)

    def largest_step(self) -> jax.Array | float | None:
        reach = self.method.reach
        return None if reach is None else reach * self.c_m / self.g_l


class WangBuzsakiState(NamedTuple):
    """State of n Wang-Buzsaki neurons.

    Attributes:
        v: membrane potential [mV].
        h, n: inactivation of sodium and activation of potassium, each from 0 to 1.
    """

    v: jax.Array
    h: jax.Array
    n: jax.Array


class WangBuzsaki(Neuron):
    """Wang-Buzsaki neuron, of type I: it begins to fire at any low rate.

    Equations: `c_m dv/dt = g_l (e_l - v) + g_na m^3 h (e_na - v) + g_k n^4 (e_k - v) + current -
    conductance v`, `m = a_m / (a_m + b_m)`, `dx/dt = phi (a_x (1 - x) - b_x x)` for h and n, with
    `a_m = L((v+35)/10)`, `b_m = 4 exp(-(v+60)/18)`, `L(x) = x / (1 - exp(-x))`,
    `a_h = 0.07 exp(-(v+58)/20)`, `b_h = 1 / (1 + exp(-(v+28)/10))`,
    `a_n = 0.1 L((v+34)/10)`, `b_n = 0.125 exp(-(v+44)/80)`. A spike is the upward crossing
    of `v_th`.

    Update: by `method` (RK4, of fourth order); then `jump` is added and the crossing tested.

    Currents are in uA/cm2, conductances in mS/cm2.

    Start: at `e_l`, the gates at their steady state there.

    Raises:
        InvalidValueError: from `build` for a dt at which `method` makes the leak grow.

    Reference:
        Wang and Buzsaki (1996), Gamma oscillation by synaptic inhibition in a hippocampal
        interneuronal network model, p. 6403, doi:10.1523/JNEUROSCI.16-20-06402.1996.

    Note:
        Below -150 and above 150 mV the rates are constant.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = dict.fromkeys("hn", (0.0, 1.0))

    c_m: Parameter = param(1.0, unit="uF/cm2", above=0.0, doc="capacitance")
    g_l: Parameter = param(0.1, unit="mS/cm2", above=0.0, doc="leak conductance")
    g_na: Parameter = param(35.0, unit="mS/cm2", at_least=0.0, doc="sodium conductance")
    g_k: Parameter = param(9.0, unit="mS/cm2", at_least=0.0, doc="potassium conductance")
    e_l: Parameter = param(-65.0, unit="mV", doc="leak reversal")
    e_na: Parameter = param(55.0, unit="mV", doc="sodium reversal")
    e_k: Parameter = param(-90.0, unit="mV", doc="potassium reversal")
    phi: Parameter = param(5.0, above=0.0, doc="speed of the gates")
    v_th: Parameter = param(0.0, unit="mV", doc="level of a spike")
    method: Integrator = method_field(rk4)
    surrogate: Surrogate | None = surrogate_field()

    def init(self, n: int) -> WangBuzsakiState:
        v = jnp.full(n, self.e_l)
        _, *gates = self._rates(v)
        return WangBuzsakiState(v, *(a / (a + b) for a, b in gates))

    def step(
        self, state: WangBuzsakiState, drive: Drive, dt: float
    ) -> tuple[WangBuzsakiState, jax.Array]:
        v, h, n = self.method(lambda y, t: self._flow(y, drive.at(t, dt)), tuple(state), dt)
        v = drive.jumped(v)
        return WangBuzsakiState(v, h, n), crossing(state.v, v, self.v_th, self.surrogate)

    def _flow(self, y: tuple, drive: Drive) -> tuple[Linear | Gate, ...]:
        v, h, n = y
        current, conductance = drive.linear()
        (a, b), *gates = self._rates(v)
        m = a / (a + b)
        g_na, g_k = self.g_na * (m * m * m * h), self.g_k * jnp.square(jnp.square(n))
        source = self.g_l * self.e_l + g_na * self.e_na + g_k * self.e_k + current
        rate = self.g_l + g_na + g_k + conductance
        moving = (Gate(self.phi * a, self.phi * b) for a, b in gates)
        return Linear(source / self.c_m, rate / self.c_m), *moving

    @staticmethod
    def _rates(v: jax.Array) -> tuple[tuple[jax.Array, jax.Array], ...]:
        """Opening and closing rates [1/ms] of m, h and n: two exponentials for all six."""
        # Outside of this range [mV] rates are constant: an explicit method could not follow them.
        v = jnp.clip(v, -150.0, 150.0)
        by_20 = jnp.exp(v * (-1 / 20))
        by_10 = jnp.square(by_20)
        by_80 = jnp.sqrt(jnp.sqrt(by_20))  # roots halve a relative error, squares double it
        a_m = linoid((v + 35.0) * 0.1, math.exp(-3.5) * by_10)
        b_m = (4.0 * math.exp(-60 / 18)) * jnp.exp(v * (-1 / 18))
        a_h = (0.07 * math.exp(-2.9)) * by_20
        b_h = 1.0 / (1.0 + math.exp(-2.8) * by_10)
        a_n = 0.1 * linoid((v + 34.0) * 0.1, math.exp(-3.4) * by_10)
        return (a_m, b_m), (a_h, b_h), (a_n, (0.125 * math.exp(-0.55)) * by_80)

    def largest_step(self) -> jax.Array | float | None:
        reach = self.method.reach
        return None if reach is None else reach * self.c_m / self.g_l


class MorrisLecarState(NamedTuple):
    """State of n Morris-Lecar neurons.

    Attributes:
        v: membrane potential [mV].
        w: open fraction of the potassium channels.
    """

    v: jax.Array
    w: jax.Array


class MorrisLecar(Neuron):
    """Morris-Lecar neuron; the defaults are those of `hopf`.

    Equations: `c_m dv/dt = g_l (e_l - v) + g_ca m (e_ca - v) + g_k w (e_k - v) + current -
    conductance v`, `dw/dt = phi cosh((v - v3) / (2 v4)) (w_inf - w)`, with
    `m = (1 + tanh((v - v1) / v2)) / 2`, `w_inf = (1 + tanh((v - v3) / v4)) / 2`. A spike is the
    upward crossing of `v_th`.

    Update: by `method` (RK4, of fourth order); then `jump` is added and the crossing tested.

    Currents are in uA/cm2, conductances in mS/cm2.

    Start: at `e_l`, w at its steady state there.

    Raises:
        InvalidValueError: from `build` for a dt at which `method` makes the leak grow.

    Reference:
        Morris and Lecar (1981), Voltage oscillations in the barnacle giant muscle fiber,
        doi:10.1016/S0006-3495(81)84782-0; the presets are those of Rinzel and Ermentrout (1998),
        Analysis of neural excitability and oscillations, in Methods in Neuronal Modeling, ch. 7.

    Note:
        Farther than `8 v4` from `v3` the potassium gate keeps its value there.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = dict.fromkeys("w", (0.0, 1.0))

    c_m: Parameter = param(20.0, unit="uF/cm2", above=0.0, doc="capacitance")
    g_l: Parameter = param(2.0, unit="mS/cm2", above=0.0, doc="leak conductance")
    g_ca: Parameter = param(4.4, unit="mS/cm2", at_least=0.0, doc="calcium conductance")
    g_k: Parameter = param(8.0, unit="mS/cm2", at_least=0.0, doc="potassium conductance")
    e_l: Parameter = param(-60.0, unit="mV", doc="leak reversal")
    e_ca: Parameter = param(120.0, unit="mV", doc="calcium reversal")
    e_k: Parameter = param(-84.0, unit="mV", doc="potassium reversal")
    v1: Parameter = param(-1.2, unit="mV", least=0.0, doc="middle of the calcium gate")
    v2: Parameter = param(18.0, unit="mV", above=0.0, doc="width of the calcium gate")
    v3: Parameter = param(2.0, unit="mV", least=0.0, doc="middle of the potassium gate")
    v4: Parameter = param(30.0, unit="mV", above=0.0, doc="width of the potassium gate")
    phi: Parameter = param(0.04, unit="1/ms", above=0.0, doc="speed of the potassium gate")
    v_th: Parameter = param(0.0, unit="mV", doc="level of a spike")
    method: Integrator = method_field(rk4)
    surrogate: Surrogate | None = surrogate_field()

    @classmethod
    def hopf(cls, **parameters: Any) -> "MorrisLecar":
        """Type II: rest loses its stability at 93.9 uA/cm2, and firing starts at a high rate."""
        return cls(**parameters)

    @classmethod
    def snlc(cls, **parameters: Any) -> "MorrisLecar":
        """Type I: rest vanishes at 40.0 uA/cm2 on the cycle, and firing starts at rate 0."""
        return cls(**{"g_ca": 4.0, "v3": 12.0, "v4": 17.4, "phi": 0.067, **parameters})

    def init(self, n: int) -> MorrisLecarState:
        v = jnp.full(n, self.e_l)
        return MorrisLecarState(v, self._potassium(v)[0])

    def step(
        self, state: MorrisLecarState, drive: Drive, dt: float
    ) -> tuple[MorrisLecarState, jax.Array]:
        v, w = self.method(lambda y, t: self._flow(y, drive.at(t, dt)), tuple(state), dt)
        v = drive.jumped(v)
        return MorrisLecarState(v, w), crossing(state.v, v, self.v_th, self.surrogate)

    def _flow(self, y: tuple, drive: Drive) -> tuple[Linear, Linear]:
        v, w = y
        current, conductance = drive.linear()
        g_ca, g_k = self.g_ca * jax.nn.sigmoid((v - self.v1) * (2.0 / self.v2)), self.g_k * w
        source = self.g_l * self.e_l + g_ca * self.e_ca + g_k * self.e_k + current
        rate = self.g_l + g_ca + g_k + conductance
        w_inf, speed = self._potassium(v)
        return Linear(source / self.c_m, rate / self.c_m), Linear(speed * w_inf, speed)

    def _potassium(self, v: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Steady state of w, and its rate [1/ms]: one exponential for both."""
        # Constant farther than 8 v4 from v3, so that cosh does not overflow.
        x = jnp.clip((v - self.v3) / (2.0 * self.v4), -4.0, 4.0)
        decay = jnp.exp(-x)
        w_inf = 1.0 / (1.0 + jnp.square(jnp.square(decay)))
        return w_inf, (0.5 * self.phi) * (decay + 1.0 / decay)

    def largest_step(self) -> jax.Array | float | None:
        reach = self.method.reach
        return None if reach is None else reach * self.c_m / self.g_l
