"""Two-compartment neuron: an integrating soma and a passive dendrite.

Lansky and Rodriguez (1999), Physica D 132, 267; Gerstner, Kistler, Naud, Paninski (2014), ch. 3.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive
from ..integrators import Integrator, Linear, rk4
from ..integrators._integrators import method_field
from ..spec import Less
from ..surrogates import Surrogate, surrogate_field, threshold
from ._membrane import ResetNeuron, countdown


class TwoCompartmentState(NamedTuple):
    """State of n two-compartment neurons.

    Attributes:
        v: potential of the soma [mV]; after a spike its value *before* the reset.
        v_d: potential of the dendrite [mV].
        i_d: current into the dendrite [pA].
        spikes: which spiked in the last step, bool.
        refractory: steps left before the soma moves again, uint16.
    """

    v: jax.Array
    v_d: jax.Array
    i_d: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class TwoCompartment(ResetNeuron):
    """Integrate-and-fire soma joined to a passive dendrite.

    Equations: `c_s dv/dt = g_ls (e_l - v) + g_c (v_d - v) + current - conductance v`,
    `c_d dv_d/dt = g_ld (e_l - v_d) + g_c (v - v_d) + i_d`, `di_d/dt = -i_d / tau_d`; an arrival at
    the port "dendrite" [pA] adds to `i_d`. A spike when `v >= v_th`, then `v = v_reset`, held for
    `t_ref`; the dendrite is not reset and keeps moving.

    Update: by `method` (RK4, of fourth order); then `jump` is added to v and the threshold
    tested, and `i_d` takes the arrivals.

    Start: at `e_l`.

    Raises:
        InvalidValueError: from `build` for a dt above the largest at which `method` is stable.

    Reference:
        Lansky and Rodriguez (1999), Two-compartment stochastic model of a neuron, Physica D 132,
        267; Gerstner et al. (2014), Neuronal Dynamics, sec. 3.2, doi:10.1017/CBO9781107447615.

    Note:
        The source has white noise in the dendrite; here it is an exponential current.
    """

    ports: ClassVar[tuple[str, ...]] = ("dendrite",)
    port_fills: ClassVar[Mapping[str, tuple]] = {"dendrite": ("i_d",)}

    c_s: Parameter = param(200.0, unit="pF", above=0.0, doc="capacitance of the soma")
    c_d: Parameter = param(100.0, unit="pF", above=0.0, doc="capacitance of the dendrite")
    g_ls: Parameter = param(10.0, unit="nS", above=0.0, doc="leak conductance of the soma")
    g_ld: Parameter = param(5.0, unit="nS", above=0.0, doc="leak conductance of the dendrite")
    g_c: Parameter = param(10.0, unit="nS", at_least=0.0, doc="coupling conductance")
    e_l: Parameter = param(-70.0, unit="mV", doc="leak reversal of both")
    tau_d: Parameter = param(5.0, unit="ms", above=0.0, doc="time constant of i_d")
    v_th: Parameter = param(-50.0, unit="mV", doc="threshold")
    v_reset: Parameter = param(-60.0, unit="mV", doc="reset")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    method: Integrator = method_field(rk4)
    surrogate: Surrogate | None = surrogate_field()
    rules = (Less("v_reset", "v_th"),)

    def time_constants(self) -> dict[str, Any]:
        return {
            "v": self.c_s / (self.g_ls + self.g_c),
            "v_d": self.c_d / (self.g_ld + self.g_c),
            "i_d": self.tau_d,
        }

    def init(self, n: int) -> TwoCompartmentState:
        v = jnp.full(n, self.e_l)
        nothing = jnp.zeros_like(v)
        return TwoCompartmentState(v, v, nothing, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def step(
        self, state: TwoCompartmentState, drive: Drive, dt: float
    ) -> tuple[TwoCompartmentState, jax.Array]:
        v = self.voltage(state)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        y = (v, state.v_d, state.i_d)
        moved, v_d, i_d = self.method(lambda y, t: self._flow(y, drive.at(t, dt), free), y, dt)
        v = jnp.where(free, drive.jumped(moved), v)
        spikes, fired = threshold(v, self.v_th, self.surrogate, self.voltage(state), free=free)
        return TwoCompartmentState(v, v_d, i_d + drive.arriving("dendrite"), fired, left), spikes

    def _flow(self, y: tuple, drive: Drive, free: jax.Array) -> tuple[Linear, Linear, Linear]:
        v, v_d, i_d = y
        current, conductance = drive.linear()
        # While the soma is held, the dendrite sees its v constant.
        soma = free.astype(v.dtype) / self.c_s
        source = self.g_ls * self.e_l + self.g_c * v_d + current
        into_dendrite = self.g_ld * self.e_l + self.g_c * v + i_d
        return (
            Linear(soma * source, soma * (self.g_ls + self.g_c + conductance)),
            Linear(into_dendrite / self.c_d, (self.g_ld + self.g_c) / self.c_d),
            Linear(jnp.zeros_like(i_d), 1.0 / self.tau_d),
        )

    def largest_step(self) -> jax.Array | float | None:
        p, q = (self.g_ls + self.g_c) / self.c_s, (self.g_ld + self.g_c) / self.c_d
        apart = jnp.sqrt(jnp.square(p - q) + 4.0 * jnp.square(self.g_c) / (self.c_s * self.c_d))
        rate = jnp.maximum(0.5 * (p + q + apart), 1.0 / self.tau_d)
        return None if self.method.reach is None else self.method.reach / rate
