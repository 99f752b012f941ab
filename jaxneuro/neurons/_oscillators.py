"""Oscillators with a cubic voltage, without units: FitzHugh-Nagumo and Hindmarsh-Rose.

FitzHugh (1961), doi:10.1016/S0006-3495(61)86902-6; Hindmarsh and Rose (1984),
doi:10.1098/rspb.1984.0024.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Neuron
from ..integrators import Integrator, Linear, rk4
from ..integrators._integrators import method_field
from ..surrogates import Surrogate, crossing, surrogate_field

# Beyond this |v| the cubic continues as its tangent, so that usual steps do not diverge.
_BEND = 3.0


class FitzHughNagumoState(NamedTuple):
    """State of n FitzHugh-Nagumo oscillators.

    Attributes:
        v, w: the fast variable and its recovery, without a unit.
    """

    v: jax.Array
    w: jax.Array


class FitzHughNagumo(Neuron):
    """FitzHugh-Nagumo oscillator.

    Equations: `dv/dt = v - v^3/3 - w + current - conductance v`, `dw/dt = (v + a - b w) / tau`.
    A spike is the upward crossing of `v_th`.

    Update: by `method` (RK4, of fourth order); then `jump` is added and the crossing tested.
    Exponential Euler takes the slope of the cubic at v as the rate of v.

    v and currents have no unit.

    Start: v = -1.2, near rest, with w on its nullcline.

    Raises:
        InvalidValueError: from `build` for a dt at which `method` makes w grow.

    Reference:
        FitzHugh (1961), Impulses and physiological states in theoretical models of nerve membrane,
        doi:10.1016/S0006-3495(61)86902-6; Nagumo, Arimoto and Yoshizawa (1962), An active pulse
        transmission line simulating nerve axon, doi:10.1109/JRPROC.1962.288235.

    Note:
        Depolarisation is positive, as today. Beyond |v| = 3 the cubic continues as its tangent.
    """

    a: Parameter = param(0.7, doc="place of the nullcline of w")
    b: Parameter = param(0.8, above=0.0, doc="slope of the nullcline of w")
    tau: Parameter = param(12.5, unit="ms", above=0.0, least=0.0, doc="time constant of w")
    v_th: Parameter = param(1.0, doc="level of a spike")
    method: Integrator = method_field(rk4)
    surrogate: Surrogate | None = surrogate_field()

    def time_constants(self) -> dict[str, Any]:
        return {"w": self.tau / self.b}

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

    def largest_step(self) -> jax.Array | float | None:
        reach = self.method.reach
        return None if reach is None else reach * self.tau / self.b


class HindmarshRoseState(NamedTuple):
    """State of n Hindmarsh-Rose neurons.

    Attributes:
        v, y, z: membrane (x in the paper), recovery and slow adaptation, without a unit.
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

    Nothing has a unit: one ms is one unit of time.

    Start: at rest without a current: v at `x_r`, y on its nullcline, z at 0.

    Raises:
        InvalidValueError: from `build` for a dt at which `method` makes y grow.

    Reference:
        Hindmarsh and Rose (1984), A model of neuronal bursting using three coupled first order
        differential equations, doi:10.1098/rspb.1984.0024.

    Note:
        Beyond |v| = 3 the cubic continues as its tangent, and the square is constant.
    """

    a: Parameter = param(1.0, above=0.0, doc="cubic term of v")
    b: Parameter = param(3.0, doc="square term of v")
    c: Parameter = param(1.0, doc="constant of y")
    d: Parameter = param(5.0, doc="square term of y")
    r: Parameter = param(0.006, above=0.0, doc="speed of the adaptation")
    s: Parameter = param(4.0, doc="strength of the adaptation")
    x_r: Parameter = param(-1.6, doc="rest")
    v_th: Parameter = param(1.0, doc="level of a spike")
    method: Integrator = method_field(rk4)
    surrogate: Surrogate | None = surrogate_field()

    def time_constants(self) -> dict[str, Any]:
        return {"z": 1.0 / self.r}

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
