"""Oscillators with a cubic voltage, without units: FitzHugh-Nagumo and Hindmarsh-Rose.

FitzHugh (1961), doi:10.1016/S0006-3495(61)86902-6; Hindmarsh and Rose (1984),
doi:10.1098/rspb.1984.0024.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Neuron
from ..integrators import Integrator, Linear, rk4
from ..surrogates import Surrogate, crossing

# Beyond this |v| the cubic continues as its tangent, so that usual steps do not diverge.
_BEND = 3.0


class FitzHughNagumoState(NamedTuple):
    """State of n FitzHugh-Nagumo oscillators.

    **Fields** `v`, `w` (n,): the fast variable and its recovery, both without a unit.
    """

    v: jax.Array
    w: jax.Array


class FitzHughNagumo(Neuron):
    """FitzHugh-Nagumo oscillator.

    Equations: `dv/dt = v - v^3/3 - w + current - conductance v`, `dw/dt = (v + a - b w) / tau`.
    A spike is the upward crossing of `v_th`.

    Update: by `method` (RK4, of fourth order); then `jump` is added and the crossing tested.
    Exponential Euler takes the slope of the cubic at v as the rate of v.

    **Fields** each () or (n,): `a`, `b` place and slope of the nullcline of w; `tau` [ms] time of
    w; `v_th` the level of a spike. `method` an integrator; `surrogate` as in `LIF`. v and
    currents have no unit.

    **Step** `init(n)` starts at v = -1.2, near rest, with w on its nullcline. `step(state, drive,
    dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `b <= 0` or `tau <= 0`; from `build`
    for a dt at which `method` makes w grow.

    **Source** FitzHugh (1961), doi:10.1016/S0006-3495(61)86902-6; Nagumo, Arimoto and Yoshizawa
    (1962), doi:10.1109/JRPROC.1962.288235.

    **Differs** depolarisation is positive, as today. Beyond |v| = 3 the cubic continues
    as its tangent.
    """

    a: Parameter = param(0.7)
    b: Parameter = param(0.8, above=0.0)
    tau: Parameter = param(12.5, unit="ms", above=0.0, least=0.0)
    v_th: Parameter = param(1.0)
    method: Integrator = rk4
    surrogate: Surrogate | None = None

    def init(self, n: int) -> FitzHughNagumoState:
        v = jnp.full(n, -1.2, self.a.dtype)
        return FitzHughNagumoState(v, (v + self.a) / self.b)

    def step(
        self, state: FitzHughNagumoState, drive: Drive, dt: float
    ) -> tuple[FitzHughNagumoState, jax.Array]:
        v, w = self.method(lambda y, t: self._flow(y, drive.at(t, dt)), tuple(state), dt)
        v = drive.jumped(v)
        return FitzHughNagumoState(v, w), crossing(state.v, v, self.v_th, self.surrogate)

    def _flow(self, y: tuple, drive: Drive) -> tuple[Linear, Linear]:
        v, w = y
        current, conductance = drive.linear()
        u = jnp.clip(v, -_BEND, _BEND)
        square = jnp.square(u)
        source = (2 / 3) * (u * square) - w + current
        return (
            Linear(source, square - 1.0 + conductance),
            Linear((v + self.a) / self.tau, self.b / self.tau),
        )

    def largest_step(self) -> Any:
        reach = self.method.reach
        return None if reach is None else reach * self.tau / self.b


class HindmarshRoseState(NamedTuple):
    """State of n Hindmarsh-Rose neurons.

    **Fields** `v`, `y`, `z` (n,): membrane (x in the paper), recovery and slow adaptation, all
    without a unit.
    """

    v: jax.Array
    y: jax.Array
    z: jax.Array


class HindmarshRose(Neuron):
    """Hindmarsh-Rose neuron: it bursts for currents of 1.3 to 3.3.

    Equations: `dv/dt = y - a v^3 + b v^2 - z + current - conductance v`, `dy/dt = c - d v^2 - y`,
    `dz/dt = r (s (v - x_r) - z)`. A spike is the upward crossing of `v_th`.

    Update: by `method` (RK4, of fourth order); then `jump` is added and the crossing tested.
    Exponential Euler takes the slope of the cubic at v as the rate of v.

    **Fields** each () or (n,): `a`, `b` of the cubic; `c`, `d` of the recovery; `r` speed and `s`
    strength of the adaptation; `x_r` rest; `v_th` the level of a spike. `method` an
    integrator; `surrogate` as in `LIF`. Nothing has a unit: one ms is one unit of time.

    **Step** `init(n)` starts at rest without a current: v at `x_r`, y on its nullcline, z at 0.
    `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `a <= 0` or `r <= 0`; from `build` for
    a dt at which `method` makes y grow.

    **Source** Hindmarsh and Rose (1984), doi:10.1098/rspb.1984.0024.

    **Differs** beyond |v| = 3 the cubic continues as its tangent, and the square is constant.
    """

    a: Parameter = param(1.0, above=0.0)
    b: Parameter = param(3.0)
    c: Parameter = param(1.0)
    d: Parameter = param(5.0)
    r: Parameter = param(0.006, above=0.0)
    s: Parameter = param(4.0)
    x_r: Parameter = param(-1.6)
    v_th: Parameter = param(1.0)
    method: Integrator = rk4
    surrogate: Surrogate | None = None

    def init(self, n: int) -> HindmarshRoseState:
        v = jnp.full(n, self.x_r)
        y = self.c - self.d * jnp.square(v)
        return HindmarshRoseState(v, y, jnp.zeros_like(v))

    def step(
        self, state: HindmarshRoseState, drive: Drive, dt: float
    ) -> tuple[HindmarshRoseState, jax.Array]:
        v, y, z = self.method(lambda x, t: self._flow(x, drive.at(t, dt)), tuple(state), dt)
        v = drive.jumped(v)
        return HindmarshRoseState(v, y, z), crossing(state.v, v, self.v_th, self.surrogate)

    def _flow(self, x: tuple, drive: Drive) -> tuple[Linear, Linear, Linear]:
        v, y, z = x
        current, conductance = drive.linear()
        u = jnp.clip(v, -_BEND, _BEND)
        square, slope = jnp.square(u), self.a * u
        # The tangent of b u^2 - a u^3.
        source = square * (2.0 * slope - self.b) + y - z + current
        rate = u * (3.0 * slope - 2.0 * self.b) + conductance
        return (
            Linear(source, rate),
            Linear(self.c - self.d * square, jnp.ones_like(y)),
            Linear((self.r * self.s) * (v - self.x_r), self.r),
        )

    def largest_step(self) -> float | None:
        return self.method.reach
