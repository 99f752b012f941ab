"""Voltage-based STDP: Clopath et al. (2010)."""

from typing import Any

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Plasticity, Trace
from .._numerics.grid import Duration, InSteps
from ..spec import Flag, Less, field


class ClopathSTDP(Plasticity):
    """Voltage-based STDP: what a synapse does depends on the voltage of its target.

    Equations, v the voltage of the target, x the trace of the presynaptic spikes (each adds
    1 / tau_x), u_minus and u_plus the low-passed v: in every step
    `w += a_ltp (v - theta_plus)+ (u_plus - theta_minus)+ x dt`, ()+ being the positive part, and
    at a presynaptic spike `w -= a_ltd (u_minus - theta_minus)+`; w stays in [w_min, w_max].

    With `homeostatic`, a_ltd is multiplied by `u_bar^2 / u_ref_squared`, u_bar being
    `u_minus - e_l` low-passed with tau_u_bar: a neuron that is often active gets weaker synapses.

    Update: the filters are exact for a v that is constant over the step, the v at its end. A
    step with potentiation is an event of the target, so that rows are read only in the steps in
    which v is above theta_plus. The filters start at `e_l`. In the paper `delay` is 0, in its
    program and in NEST it is 5 ms.

    Reference:
        Clopath, Buesing, Vasilaki, Gerstner (2010), Connectivity reflects coding, Nat. Neurosci.
        13, 344-352, doi:10.1038/nn.2479; as clopath_synapse of NEST.

    Note:
        NEST integrates the filters with its neuron, which holds v at 33 mV for 2 ms after a spike;
        here any neuron will do, with the v that it has. u_bar is a depolarisation, as in the paper;
        NEST squares a low-passed voltage.
    """

    a_ltd: Parameter = param(
        14e-5, at_least=0.0, doc="depression, in the unit of the weight per mV"
    )
    a_ltp: Parameter = param(
        8e-5, at_least=0.0, doc="potentiation, in the unit of the weight per mV2"
    )
    theta_minus: Parameter = param(-70.6, unit="mV", doc="threshold of the low-passed v")
    theta_plus: Parameter = param(-45.3, unit="mV", doc="threshold of v")
    tau_x: Parameter = param(15.0, unit="ms", above=0.0, doc="time constant of x")
    tau_u_minus: Parameter = param(10.0, unit="ms", above=0.0, doc="time constant of u_minus")
    tau_u_plus: Parameter = param(7.0, unit="ms", above=0.0, doc="time constant of u_plus")
    tau_u_bar: Parameter = param(500.0, unit="ms", above=0.0, doc="time constant of u_bar")
    e_l: Parameter = param(-70.6, unit="mV", doc="where the filters start")
    u_ref_squared: Parameter = param(
        60.0, unit="mV2", above=0.0, doc="u_bar^2 at which a_ltd is as given"
    )
    w_max: Parameter = param(100.0, doc="largest weight")
    w_min: Parameter = param(0.0, doc="smallest weight")
    homeostatic: bool = field(Flag(), default=False, static=True, doc="whether a_ltd follows u_bar")
    delay: float | InSteps = field(
        Duration(at_least=0.0),
        default=0.0,
        static=True,
        doc="time by which the low-passed v is late",
    )
    rules = (Less("w_min", "w_max"),)

    @property
    def _late(self) -> int:
        """The steps of `delay`, which `build` puts on the grid."""
        assert isinstance(self.delay, InSteps)
        return self.delay.n_steps

    def time_constants(self) -> dict[str, Any]:
        return {
            "u_minus": self.tau_u_minus,
            "u_plus": self.tau_u_plus,
            "u_bar": self.tau_u_bar,
        }

    def pre_traces(self) -> dict[str, Trace]:
        return {"x": Trace(self.tau_x, 1.0 / self.tau_x)}

    def bounds(self) -> tuple[Any, Any]:
        return self.w_min, self.w_max

    def init_post(self, n: int) -> dict[str, Any]:
        u, n_steps = jnp.full(n, self.e_l), self._late
        late = {name: jnp.full((n_steps, n), self.e_l) for name in ("late_minus", "late_plus")}
        state = {"u_minus": u, "u_plus": u, "u_bar": jnp.zeros_like(u)}
        return state | (late if n_steps else {})

    def step_post(
        self, state: Any, spikes: jax.Array, v: Any, dt: float
    ) -> tuple[dict[str, Any], jax.Array, Any]:
        def followed(u: Any, target: Any, tau: Any) -> Any:
            return target + (u - target) * jnp.exp(-dt / tau)

        new = {
            "u_minus": followed(state["u_minus"], v, self.tau_u_minus),
            "u_plus": followed(state["u_plus"], v, self.tau_u_plus),
            "u_bar": followed(state["u_bar"], state["u_minus"] - self.e_l, self.tau_u_bar),
        }
        u_minus, u_plus = new["u_minus"], new["u_plus"]
        if self._late:
            u_minus, new["late_minus"] = _delayed(state["late_minus"], u_minus)
            u_plus, new["late_plus"] = _delayed(state["late_plus"], u_plus)
        a_ltd = self.a_ltd
        if self.homeostatic:
            a_ltd = a_ltd * new["u_bar"] ** 2 / self.u_ref_squared
        above = jnp.maximum(v - self.theta_plus, 0.0) * jnp.maximum(u_plus - self.theta_minus, 0.0)
        ltd = a_ltd * jnp.maximum(u_minus - self.theta_minus, 0.0)
        return {"ltp": self.a_ltp * dt * above, "ltd": ltd}, above > 0.0, new

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight + post.ltp * pre.x}

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight - post.ltd}


def _delayed(late: jax.Array, u: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The oldest of the kept values, and those kept with u as the newest."""
    return late[0], jnp.concatenate([late[1:], u[None]])
