"""Neurons with a quadratic voltage: QIF, and Izhikevich's with a recovery variable.

Ermentrout and Kopell (1986); Izhikevich (2003).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Neuron
from ..integrators import Integrator, Linear, forward_euler, rk4
from ..integrators._integrators import method_field
from ..spec import Less
from ..surrogates import Surrogate, surrogate_field, threshold
from ._membrane import ResetNeuron

# Where 0.04 v^2 + 5 v is least [mV]: what passes it goes up by itself.
_SLOWEST = -62.5


class QIFState(NamedTuple):
    """State of n QIF neurons.

    Attributes:
        v: membrane potential [mV]; after a spike its value *before* the reset.
        spikes: which spiked in the last step, bool.
    """

    v: jax.Array
    spikes: jax.Array


class QIF(ResetNeuron):
    """Quadratic integrate-and-fire neuron: the dynamics of a membrane near the onset of firing.

    Equations: `c_m dv/dt = k (v - v_r) (v - v_t) + current - conductance v`; a spike when
    `v >= v_peak`, then `v = v_reset`.

    Update: `method`, by default RK4, of fourth order; then `jump` is added and the peak tested.

    Constant currents above `k (v_t - v_r)^2 / 4` bring v to `v_t`.

    Start: at `v_r`.

    Reference:
        Ermentrout and Kopell (1986), Parabolic bursting in an excitable system coupled with a slow
        oscillation, doi:10.1137/0146017; the numbers are those of Izhikevich (2007), Dynamical
        Systems in Neuroscience, sec. 8.2.1, without recovery.

    Note:
        The reset is applied at the start of the next step.
    """

    c_m: Parameter = param(100.0, unit="pF", above=0.0, doc="capacitance")
    k: Parameter = param(0.7, unit="nS/mV", above=0.0, doc="curvature")
    v_r: Parameter = param(-60.0, unit="mV", doc="rest")
    v_t: Parameter = param(-40.0, unit="mV", doc="threshold without a current")
    v_reset: Parameter = param(-50.0, unit="mV", doc="reset")
    v_peak: Parameter = param(35.0, unit="mV", doc="end of the upswing")
    method: Integrator = method_field(rk4)
    surrogate: Surrogate | None = surrogate_field()
    rules = (Less("v_reset", "v_peak"), Less("v_r", "v_t"))

    def time_constants(self) -> dict[str, Any]:
        return {"v": self.c_m / (self.k * (self.v_t - self.v_r))}

    def init(self, n: int) -> QIFState:
        return QIFState(jnp.full(n, self.v_r), jnp.zeros(n, bool))

    def largest_step(self) -> jax.Array | float | None:
        reach = self.method.reach
        return None if reach is None else reach * self.c_m / (self.k * (self.v_t - self.v_r))

    def step(self, state: QIFState, drive: Drive, dt: float) -> tuple[QIFState, jax.Array]:
        (v,) = self.method(lambda y, t: self._flow(y, drive.at(t, dt)), (self.voltage(state),), dt)
        v = drive.jumped(v)
        spikes, fired = threshold(v, self.v_peak, self.surrogate, self.voltage(state), self.v_t)
        return QIFState(v, fired), spikes

    def _flow(self, y: tuple, drive: Drive) -> tuple:
        current, conductance = drive.linear()
        v = jnp.minimum(y[0], self.v_peak)
        own = self.k * (v - self.v_r) * (v - self.v_t)
        return (Linear((own + current) / self.c_m, conductance / self.c_m),)


class IzhikevichState(NamedTuple):
    """State of n Izhikevich neurons, plain or leaky.

    Attributes:
        v: voltage [mV]; after a spike its value *before* the reset.
        u: recovery, likewise.
        spikes: which spiked in the last step, bool.

    Reference:
        Izhikevich (2003), Simple model of spiking neurons, doi:10.1109/TNN.2003.820440.
    """

    v: jax.Array
    u: jax.Array
    spikes: jax.Array


class Izhikevich(Neuron):
    """Izhikevich's neuron of 2003; its defaults are those of a regular spiking cell.

    Equations: `c_m dv/dt = 0.04 v^2 + 5 v + 140 - u + current - conductance v` and
    `tau_m du/dt = a (b v - u)`; a spike when `v >= v_th`, then `v = c`, `u = u + d`.
    Current is in the model's own units, mV/ms at `c_m = 1`: it fires at 10, not at 300 as for pA.

    Update: `method`, by default forward Euler of both from the same state, of first order,
    which is as much part of the model as its numbers. Then `jump` is added to v.

    Start: v = -65 mV, u = b v.

    Reference:
        Izhikevich (2003), Simple model of spiking neurons, doi:10.1109/TNN.2003.820440, which names
        the presets.

    Note:
        Differs from the paper's script, which halves the step of v and gives u the new v: both move
        at once, as in NEST with `consistent_integration`. The reset is at the next step's start.
    """

    a: Parameter = param(0.02, doc="rate of u")
    b: Parameter = param(0.2, doc="effect of v on u")
    c: Parameter = param(-65.0, unit="mV", doc="reset of v")
    d: Parameter = param(8.0, doc="what a spike adds to u")
    c_m: Parameter = param(1.0, above=0.0, doc="capacitance")
    tau_m: Parameter = param(1.0, unit="ms", above=0.0, least=0.0, doc="time of u at a = 1")
    v_th: Parameter = param(30.0, unit="mV", doc="peak")
    method: Integrator = method_field(forward_euler)
    surrogate: Surrogate | None = surrogate_field()

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

    def time_constants(self) -> dict[str, Any]:
        return {"u": self.tau_m / abs(self.a)}

    def init(self, n: int) -> IzhikevichState:
        v = jnp.full(n, -65.0, jnp.result_type(self.v_th))
        return IzhikevichState(v, self.b * v, jnp.zeros(n, bool))

    def voltage(self, state: IzhikevichState) -> jax.Array:
        return jnp.where(state.spikes, self.c, state.v)

    def largest_step(self) -> jax.Array | float | None:
        reach = self.method.reach
        rate = jnp.maximum(self.a, 0.0) / self.tau_m
        return None if reach is None else reach / rate

    def step(
        self, state: IzhikevichState, drive: Drive, dt: float
    ) -> tuple[IzhikevichState, jax.Array]:
        u = jnp.where(state.spikes, state.u + self.d, state.u)
        v, u = self.method(
            lambda y, t: self._flow(y, drive.at(t, dt)), (self.voltage(state), u), dt
        )
        v = drive.jumped(v)
        spikes, fired = threshold(v, self.v_th, self.surrogate, self.voltage(state), _SLOWEST)
        return IzhikevichState(v, u, fired), spikes

    def _flow(self, y: tuple, drive: Drive) -> tuple:
        v, u = y
        current, conductance = drive.linear()
        own = (0.04 * v + 5.0) * v + 140.0 - u
        rate = self.a / self.tau_m
        return Linear((own + current) / self.c_m, conductance / self.c_m), Linear(
            rate * self.b * v, rate
        )


class LeakyIzhikevich(Neuron):
    """The leaky Izhikevich neuron of lixirnet, with its defaults.

    Equations: `c_m dv/dt = 0.04 v^2 + 5 v + 140 - u (v - e_l) + current - conductance v` and
    `tau_m du/dt = a (b v - u)`; a spike when `v >= v_th`, then `v = c`, `u = u + d`.
    Current is in the model's own units, mV/ms at `c_m = 1`, as in `Izhikevich`.

    Update: `method`, by default forward Euler of both from the same state, of first order.
    Then `jump` is added to v.

    Start: v = -65 mV, u = 30.

    Reference:
        `LeakyIzhikevichNeuron` of the crate `spiking_neural_networks` (lixirnet in Python),
        https://docs.rs/spiking_neural_networks; there is no paper. u tends to b v, which is below 0
        at rest, and a negative u drives v away from `e_l`: with the defaults and a lasting current
        below 16, v diverges downwards, and large steps turn this into false spikes.

    Note:
        The reset is applied at the start of the next step.
    """

    a: Parameter = param(0.02, doc="rate of u")
    b: Parameter = param(0.2, doc="effect of v on u")
    c: Parameter = param(-55.0, unit="mV", doc="reset of v")
    d: Parameter = param(8.0, doc="what a spike adds to u")
    e_l: Parameter = param(-65.0, unit="mV", doc="voltage to which u drives v")
    c_m: Parameter = param(100.0, above=0.0, doc="capacitance")
    tau_m: Parameter = param(10.0, unit="ms", above=0.0, least=0.0, doc="time of u at a = 1")
    v_th: Parameter = param(30.0, unit="mV", doc="peak")
    method: Integrator = method_field(forward_euler)
    surrogate: Surrogate | None = surrogate_field()

    def time_constants(self) -> dict[str, Any]:
        return {"u": self.tau_m / abs(self.a)}

    def init(self, n: int) -> IzhikevichState:
        dtype = jnp.result_type(self.v_th)
        return IzhikevichState(
            jnp.full(n, -65.0, dtype), jnp.full(n, 30.0, dtype), jnp.zeros(n, bool)
        )

    def voltage(self, state: IzhikevichState) -> jax.Array:
        return jnp.where(state.spikes, self.c, state.v)

    def largest_step(self) -> jax.Array | float | None:
        reach = self.method.reach
        rate = jnp.maximum(self.a, 0.0) / self.tau_m
        return None if reach is None else reach / rate

    def step(
        self, state: IzhikevichState, drive: Drive, dt: float
    ) -> tuple[IzhikevichState, jax.Array]:
        u = jnp.where(state.spikes, state.u + self.d, state.u)
        v, u = self.method(
            lambda y, t: self._flow(y, drive.at(t, dt)), (self.voltage(state), u), dt
        )
        v = drive.jumped(v)
        spikes, fired = threshold(v, self.v_th, self.surrogate, self.voltage(state), _SLOWEST)
        return IzhikevichState(v, u, fired), spikes

    def _flow(self, y: tuple, drive: Drive) -> tuple:
        v, u = y
        current, conductance = drive.linear()
        own = (0.04 * v + 5.0) * v + 140.0 + u * self.e_l
        leak = (u + conductance) / self.c_m
        rate = self.a / self.tau_m
        return Linear((own + current) / self.c_m, leak), Linear(rate * self.b * v, rate)
