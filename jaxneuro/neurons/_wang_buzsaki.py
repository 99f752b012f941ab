"""Wang-Buzsaki neuron: a fast-spiking interneuron of the hippocampus.

Wang and Buzsaki (1996), doi:10.1523/JNEUROSCI.16-20-06402.1996.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, crossing, linoid
from .._types import Drive, Neuron
from ..integrators import Gate, Integrator, Linear, rk4

# Outside this range [mV] the rates are constant; an explicit method could not follow them.
_LOWEST, _HIGHEST = -150.0, 150.0


class WangBuzsakiState(NamedTuple):
    """State of n Wang-Buzsaki neurons.

    **Fields** `v` [mV] (n,): membrane potential; `h`, `n` (n,): inactivation of sodium and
    activation of potassium, each from 0 to 1.
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

    **Fields** each () or (n,): `c_m` [uF/cm2] capacitance; conductances `g_l` [mS/cm2] of the leak,
    `g_na` [mS/cm2] of sodium, `g_k` [mS/cm2] of potassium; their reversals `e_l` [mV], `e_na` [mV],
    `e_k` [mV]; `phi` speed of the gates; `v_th` [mV] the level of a spike. `method` an integrator;
    `surrogate` as in `LIF`. Currents are in uA/cm2, conductances in mS/cm2.

    **Step** `init(n)` starts at `e_l`, the gates at their steady state there. `step(state, drive,
    dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `c_m <= 0`, `g_l <= 0`, `phi <= 0`,
    `g_na < 0` or `g_k < 0`; from `build` for a dt at which `method` makes the leak grow.

    **Source** Wang and Buzsaki (1996), p. 6403, doi:10.1523/JNEUROSCI.16-20-06402.1996.

    **Differs** below -150 and above 150 mV the rates are constant.
    """

    c_m: Parameter = param(1.0, unit="uF/cm2", above=0.0)
    g_l: Parameter = param(0.1, unit="mS/cm2", above=0.0)
    g_na: Parameter = param(35.0, unit="mS/cm2", at_least=0.0)
    g_k: Parameter = param(9.0, unit="mS/cm2", at_least=0.0)
    e_l: Parameter = param(-65.0, unit="mV")
    e_na: Parameter = param(55.0, unit="mV")
    e_k: Parameter = param(-90.0, unit="mV")
    phi: Parameter = param(5.0, above=0.0)
    v_th: Parameter = param(0.0, unit="mV")
    method: Integrator = rk4
    surrogate: Surrogate | None = None

    def init(self, n: int) -> WangBuzsakiState:
        v = jnp.full(n, self.e_l)
        _, *gates = _rates(v)
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
        (a, b), *gates = _rates(v)
        m = a / (a + b)
        g_na, g_k = self.g_na * (m * m * m * h), self.g_k * jnp.square(jnp.square(n))
        source = self.g_l * self.e_l + g_na * self.e_na + g_k * self.e_k + current
        rate = self.g_l + g_na + g_k + conductance
        moving = (Gate(self.phi * a, self.phi * b) for a, b in gates)
        return Linear(source / self.c_m, rate / self.c_m), *moving

    def largest_step(self) -> Any:
        reach = self.method.reach
        return None if reach is None else reach * self.c_m / self.g_l


def _rates(v: jax.Array) -> tuple[tuple[jax.Array, jax.Array], ...]:
    """Opening and closing rates [1/ms] of m, h and n: two exponentials for all six."""
    v = jnp.clip(v, _LOWEST, _HIGHEST)
    by_20 = jnp.exp(v * (-1 / 20))
    by_10 = jnp.square(by_20)
    by_80 = jnp.sqrt(jnp.sqrt(by_20))  # roots halve a relative error, squares double it
    a_m = linoid((v + 35.0) * 0.1, math.exp(-3.5) * by_10)
    b_m = (4.0 * math.exp(-60 / 18)) * jnp.exp(v * (-1 / 18))
    a_h = (0.07 * math.exp(-2.9)) * by_20
    b_h = 1.0 / (1.0 + math.exp(-2.8) * by_10)
    a_n = 0.1 * linoid((v + 34.0) * 0.1, math.exp(-3.4) * by_10)
    return (a_m, b_m), (a_h, b_h), (a_n, (0.125 * math.exp(-0.55)) * by_80)
