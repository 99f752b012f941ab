"""Hindmarsh-Rose neuron: bursts in three variables.

Hindmarsh and Rose (1984), doi:10.1098/rspb.1984.0024.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, crossing
from .._types import Drive, Neuron
from ..integrators import Integrator, Linear, rk4

# Beyond this |v| the cubic continues as its tangent, so that usual steps do not diverge.
_BEND = 3.0


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
