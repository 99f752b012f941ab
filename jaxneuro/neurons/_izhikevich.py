"""Izhikevich's simple model: a quadratic voltage and a recovery variable. Izhikevich (2003)."""

from typing import Any

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, threshold
from .._types import Drive, Neuron
from ..integrators import Integrator, Linear, forward_euler
from ._recovery import SLOWEST, IzhikevichState


class Izhikevich(Neuron):
    """Izhikevich's neuron of 2003; its defaults are those of a regular spiking cell.

    Equations: `c_m dv/dt = 0.04 v^2 + 5 v + 140 - u + current - conductance v` and
    `tau_m du/dt = a (b v - u)`; a spike when `v >= v_th`, then `v = c`, `u = u + d`.
    Current is in the model's own units, mV/ms at `c_m = 1`: it fires at 10, not at 300 as for pA.

    Update: `method`, by default forward Euler of both from the same state, of first order,
    which is as much part of the model as its numbers. Then `jump` is added to v.

    **Fields** each () or (n,): `a` [1] rate of u; `b` [1] effect of v on it; `c` [mV] reset of v;
    `d` [1] jump of u; `c_m` [1] capacitance; `tau_m` [ms] time of u at a = 1; `v_th` [mV] peak;
    `method` the integrator; `surrogate` None, or the slope that stands in for that of a spike.

    **Step** `init(n)` starts at v = -65 mV, u = b v. `step` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `c_m <= 0` or `tau_m <= 0`.

    **Source** Izhikevich (2003), doi:10.1109/TNN.2003.820440, which names the presets.

    **Differs** from the paper's script, which halves the step of v and gives u the new v: both
    move at once, as in NEST with `consistent_integration`. The reset is at the next step's start.
    """

    a: Parameter = param(0.02)
    b: Parameter = param(0.2)
    c: Parameter = param(-65.0, unit="mV")
    d: Parameter = param(8.0)
    c_m: Parameter = param(1.0, above=0.0)
    tau_m: Parameter = param(1.0, unit="ms", above=0.0, least=0.0)
    v_th: Parameter = param(30.0, unit="mV")
    method: Integrator = forward_euler
    surrogate: Surrogate | None = None

    @classmethod
    def regular_spiking(cls) -> "Izhikevich":
        """RS: cortical excitatory cells, which adapt."""
        return cls(0.02, 0.2, -65.0, 8.0)

    @classmethod
    def intrinsically_bursting(cls) -> "Izhikevich":
        """IB: a burst, then single spikes."""
        return cls(0.02, 0.2, -55.0, 4.0)

    @classmethod
    def chattering(cls) -> "Izhikevich":
        """CH: burst after burst."""
        return cls(0.02, 0.2, -50.0, 2.0)

    @classmethod
    def fast_spiking(cls) -> "Izhikevich":
        """FS: inhibitory cells, fast and without adaptation."""
        return cls(0.1, 0.2, -65.0, 2.0)

    @classmethod
    def low_threshold_spiking(cls) -> "Izhikevich":
        """LTS: inhibitory cells that adapt and fire on little current."""
        return cls(0.02, 0.25, -65.0, 2.0)

    @classmethod
    def thalamo_cortical(cls) -> "Izhikevich":
        """TC: tonic at rest, a burst on release from hyperpolarization."""
        return cls(0.02, 0.25, -65.0, 0.05)

    @classmethod
    def resonator(cls) -> "Izhikevich":
        """RZ: damped oscillations below threshold."""
        return cls(0.1, 0.26, -65.0, 2.0)

    @classmethod
    def lixirnet(cls) -> "Izhikevich":
        """The defaults of the package lixirnet, which starts it at v = -65, u = 30."""
        return cls(0.02, 0.2, -55.0, 8.0, c_m=100.0)

    def init(self, n: int) -> IzhikevichState:
        v = jnp.full(n, -65.0, jnp.result_type(self.v_th))
        return IzhikevichState(v, self.b * v, jnp.zeros(n, bool))

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
        own = (0.04 * v + 5.0) * v + 140.0 - u
        rate = self.a / self.tau_m
        return Linear((own + current) / self.c_m, conductance / self.c_m), Linear(
            rate * self.b * v, rate
        )
