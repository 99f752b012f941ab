"""Traub-Miles neuron: sodium and potassium currents of a hippocampal cell, as in COBAHH.

Traub and Miles (1991), doi:10.1017/CBO9780511895401; Brette et al. (2007),
doi:10.1007/s10827-007-0038-6.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, crossing, linoid
from .._types import Drive, Neuron
from ..integrators import Gate, Integrator, Linear, exponential_euler

# Outside this range above v_t [mV] the rates are constant, so that no exponential overflows.
_LOWEST, _HIGHEST = -100.0, 150.0
_E3, _E8 = math.exp(3.0), math.exp(8.0)


class TraubMilesState(NamedTuple):
    """State of n Traub-Miles neurons.

    **Fields** `v` [mV] (n,): membrane potential; `m`, `h`, `n` (n,): activation and
    inactivation of sodium, activation of potassium, each from 0 to 1.
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

    **Fields** each () or (n,): `c_m` [pF] capacitance; `g_l`, `g_na`, `g_k` [nS] conductances of
    leak, sodium, potassium; `e_l`, `e_na`, `e_k` [mV] their reversals (`g_l` [nS], `g_na` [nS],
    `g_k` [nS], `e_l` [mV], `e_na` [mV], `e_k` [mV]); `v_t` [mV] where the gates open; `v_th` [mV]
    the level of a spike. `method` an integrator; `surrogate` as in `LIF`.

    **Step** `init(n)` starts at `e_l`, the gates at their steady state there. `step(state, drive,
    dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `c_m <= 0`, `g_l <= 0`, `g_na < 0` or
    `g_k < 0`; from `build` for a dt at which `method` makes the leak grow.

    **Source** Traub and Miles (1991), doi:10.1017/CBO9780511895401; Brette et al. (2007),
    appendix B, doi:10.1007/s10827-007-0038-6.

    **Differs** it fires at 14 Hz without a current, as the original does. Brian2 counts v above
    -20 mV at most once in 3 ms; here a spike is the crossing, so that a v that stays above counts
    once. Below `v_t - 100` and above `v_t + 150` mV the rates are constant.
    """

    c_m: Parameter = param(200.0, unit="pF", above=0.0)
    g_l: Parameter = param(10.0, unit="nS", above=0.0)
    g_na: Parameter = param(20_000.0, unit="nS", at_least=0.0)
    g_k: Parameter = param(6_000.0, unit="nS", at_least=0.0)
    e_l: Parameter = param(-60.0, unit="mV")
    e_na: Parameter = param(50.0, unit="mV")
    e_k: Parameter = param(-90.0, unit="mV")
    v_t: Parameter = param(-63.0, unit="mV")
    v_th: Parameter = param(-20.0, unit="mV")
    method: Integrator = exponential_euler
    surrogate: Surrogate | None = None

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
        u = jnp.clip(v - self.v_t, _LOWEST, _HIGHEST)
        by_40 = jnp.exp(u * (-1 / 40))
        by_20 = jnp.square(by_40)
        by_5 = jnp.square(jnp.square(by_20))
        closed = _E8 * by_5
        a_m = 1.28 * linoid((u - 13.0) * 0.25, math.exp(3.25) * (by_5 * by_20))
        # L(-x) = exp(-x) L(x).
        b_m = 1.4 * closed * linoid((u - 40.0) * 0.2, closed)
        a_h = (0.128 * math.exp(17 / 18)) * jnp.exp(u * (-1 / 18))
        a_n = 0.16 * linoid((u - 15.0) * 0.2, _E3 * by_5)
        return (a_m, b_m), (a_h, 4.0 / (1.0 + closed)), (a_n, 0.5 * math.exp(0.25) * by_40)

    def largest_step(self) -> Any:
        reach = self.method.reach
        return None if reach is None else reach * self.c_m / self.g_l
