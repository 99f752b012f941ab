"""Morris-Lecar neuron: calcium and potassium in two variables.

Morris and Lecar (1981), doi:10.1016/S0006-3495(81)84782-0.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, crossing
from .._types import Drive, Neuron
from ..integrators import Integrator, Linear, rk4

# The potassium gate depends on v up to this many 2 v4 from v3, so that cosh does not overflow.
_FARTHEST = 4.0


class MorrisLecarState(NamedTuple):
    """State of n Morris-Lecar neurons.

    **Fields** `v` [mV] (n,): membrane potential; `w` (n,): open fraction of the potassium channels.
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

    **Fields** each () or (n,): `c_m` [uF/cm2] capacitance; conductances `g_l` [mS/cm2] of leak,
    `g_ca` [mS/cm2] of calcium, `g_k` [mS/cm2] of potassium; reversals `e_l` [mV], `e_ca` [mV],
    `e_k` [mV]; `v1` [mV], `v2` [mV] middle and width of the calcium gate, `v3` [mV], `v4` [mV] of
    the potassium gate; `phi` [1/ms] its speed; `v_th` [mV] the level of a spike. `method` an
    integrator; `surrogate` as in `LIF`. Currents are in uA/cm2, conductances in mS/cm2.

    **Step** `init(n)` starts at `e_l`, w at its steady state there. `step(state, drive, dt)`
    returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `c_m`, `g_l`, `v2`, `v4` or `phi` not
    above 0, `g_ca < 0` or `g_k < 0`; from `build` for a dt at which `method` makes the leak grow.

    **Source** Morris and Lecar (1981), doi:10.1016/S0006-3495(81)84782-0; the presets are those of
    Rinzel and Ermentrout (1998), Methods in Neuronal Modeling, ch. 7.

    **Differs** farther than `8 v4` from `v3` the potassium gate keeps its value there.
    """

    c_m: Parameter = param(20.0, unit="uF/cm2", above=0.0)
    g_l: Parameter = param(2.0, unit="mS/cm2", above=0.0)
    g_ca: Parameter = param(4.4, unit="mS/cm2", at_least=0.0)
    g_k: Parameter = param(8.0, unit="mS/cm2", at_least=0.0)
    e_l: Parameter = param(-60.0, unit="mV")
    e_ca: Parameter = param(120.0, unit="mV")
    e_k: Parameter = param(-84.0, unit="mV")
    v1: Parameter = param(-1.2, unit="mV", least=0.0)
    v2: Parameter = param(18.0, unit="mV", above=0.0)
    v3: Parameter = param(2.0, unit="mV", least=0.0)
    v4: Parameter = param(30.0, unit="mV", above=0.0)
    phi: Parameter = param(0.04, unit="1/ms", above=0.0)
    v_th: Parameter = param(0.0, unit="mV")
    method: Integrator = rk4
    surrogate: Surrogate | None = None

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
        x = jnp.clip((v - self.v3) / (2.0 * self.v4), -_FARTHEST, _FARTHEST)
        decay = jnp.exp(-x)
        w_inf = 1.0 / (1.0 + jnp.square(jnp.square(decay)))
        return w_inf, (0.5 * self.phi) * (decay + 1.0 / decay)

    def largest_step(self) -> Any:
        reach = self.method.reach
        return None if reach is None else reach * self.c_m / self.g_l
