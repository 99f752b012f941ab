"""Leaky Izhikevich neuron: the recovery variable is a conductance. Mukraj (2024), lixirnet."""

from typing import Any

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, threshold
from .._types import Drive, Neuron
from ..integrators import Integrator, Linear, forward_euler
from ._recovery import SLOWEST, IzhikevichState


class LeakyIzhikevich(Neuron):
    """The leaky Izhikevich neuron of lixirnet, with its defaults.

    Equations: `c_m dv/dt = 0.04 v^2 + 5 v + 140 - u (v - e_l) + current - conductance v` and
    `tau_m du/dt = a (b v - u)`; a spike when `v >= v_th`, then `v = c`, `u = u + d`.
    Current is in the model's own units, mV/ms at `c_m = 1`, as in `Izhikevich`.

    Update: `method`, by default forward Euler of both from the same state, of first order.
    Then `jump` is added to v.

    **Fields** each () or (n,): `a` [1] rate of u; `b` [1] effect of v on it; `c` [mV] reset of v;
    `d` [1] jump of u; `e_l` [mV] voltage to which u drives v; `c_m` [1] capacitance; `tau_m` [ms]
    time of u at a = 1; `v_th` [mV] peak; `method` the integrator; `surrogate` None, or the slope
    that stands in for that of a spike.

    **Step** `init(n)` starts at v = -65 mV, u = 30. `step` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `c_m <= 0` or `tau_m <= 0`.

    **Source** `LeakyIzhikevichNeuron` of the crate `spiking_neural_networks` (lixirnet in
    Python), https://docs.rs/spiking_neural_networks; there is no paper. u tends to b v, which is
    below 0 at rest, and a negative u drives v away from `e_l`: with the defaults and a lasting
    current below 16, v diverges downwards, and large steps turn this into false spikes.

    **Differs** the reset is applied at the start of the next step.
    """

    a: Parameter = param(0.02)
    b: Parameter = param(0.2)
    c: Parameter = param(-55.0, unit="mV")
    d: Parameter = param(8.0)
    e_l: Parameter = param(-65.0, unit="mV")
    c_m: Parameter = param(100.0, above=0.0)
    tau_m: Parameter = param(10.0, unit="ms", above=0.0, least=0.0)
    v_th: Parameter = param(30.0, unit="mV")
    method: Integrator = forward_euler
    surrogate: Surrogate | None = None

    def init(self, n: int) -> IzhikevichState:
        dtype = jnp.result_type(self.v_th)
        return IzhikevichState(
            jnp.full(n, -65.0, dtype), jnp.full(n, 30.0, dtype), jnp.zeros(n, bool)
        )

    def voltage(self, state: IzhikevichState) -> jax.Array:
        return jnp.where(state.spikes, self.c, state.v)

    def largest_step(self) -> Any:
        reach = self.method.reach
        rate = jnp.maximum(self.a, 0.0) / self.tau_m
        return None if reach is None else reach / rate

    def step(self, state: IzhikevichState, drive: Drive, dt: float) -> tuple[Any, jax.Array]:
        u = jnp.where(state.spikes, state.u + self.d, state.u)
        v, u = self.method(
            lambda y, t: self._flow(y, drive.at(t, dt)), (self.voltage(state), u), dt
        )
        v = drive.jumped(v)
        spikes = threshold(v, self.v_th, self.surrogate, self.voltage(state), SLOWEST)
        fired = spikes if self.surrogate is None else spikes > 0
        return IzhikevichState(v, u, fired), spikes

    def _flow(self, y: tuple, drive: Drive) -> tuple:
        v, u = y
        current, conductance = drive.linear()
        own = (0.04 * v + 5.0) * v + 140.0 + u * self.e_l
        leak = (u + conductance) / self.c_m
        rate = self.a / self.tau_m
        return Linear((own + current) / self.c_m, leak), Linear(rate * self.b * v, rate)
