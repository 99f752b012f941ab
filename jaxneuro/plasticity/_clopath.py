"""Voltage-based STDP: Clopath et al. (2010)."""

from typing import Any

import jax
import jax.numpy as jnp

from .._checks import check_count
from .._fields import Parameter, param, static
from .._types import Plasticity, Trace
from ._checks import check_order, warn_of_size


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
    which v is above theta_plus.

    **Fields** `a_ltd`, `a_ltp` amplitudes, in the unit of the weight per mV and per mV2;
    `theta_minus` [mV], `theta_plus` [mV] thresholds of the low-passed v and of v; `tau_x` [ms],
    `tau_u_minus` [ms], `tau_u_plus` [ms], `tau_u_bar` [ms] time constants; `e_l` [mV] where the
    filters start; `u_ref_squared` [mV2]; `w_max`, `w_min` largest and smallest weight;
    `homeostatic` as above; `delay_steps` by how many steps the low-passed v is late, a
    whole number: 0 in the paper, 5 ms in its program and in NEST.

    **Step** `init_post(n)` starts at `e_l`. `step_post` returns the two amounts as numbers of
    the target.

    **Raises** `ValueError` for a time constant or `u_ref_squared` not above 0, a value that is not
    finite, `delay_steps` that is no whole number, or `w_min >= w_max`.

    **Source** Clopath, Buesing, Vasilaki, Gerstner (2010), Connectivity reflects coding, Nat.
    Neurosci. 13, 344-352, doi:10.1038/nn.2479; as clopath_synapse of NEST.

    **Differs** from NEST: NEST integrates the filters with its neuron, which holds v at 33 mV for
    2 ms after a spike; here any neuron will do, with the v that it has. u_bar is a depolarisation,
    as in the paper; NEST squares a low-passed voltage.
    """

    a_ltd: Parameter = param(14e-5, at_least=0.0)
    a_ltp: Parameter = param(8e-5, at_least=0.0)
    theta_minus: Parameter = param(-70.6, unit="mV")
    theta_plus: Parameter = param(-45.3, unit="mV")
    tau_x: Parameter = param(15.0, unit="ms", above=0.0)
    tau_u_minus: Parameter = param(10.0, unit="ms", above=0.0)
    tau_u_plus: Parameter = param(7.0, unit="ms", above=0.0)
    tau_u_bar: Parameter = param(500.0, unit="ms", above=0.0)
    e_l: Parameter = param(-70.6, unit="mV")
    u_ref_squared: Parameter = param(60.0, unit="mV2", above=0.0)
    w_max: Parameter = param(100.0)
    w_min: Parameter = param(0.0)
    homeostatic: bool = static(False)
    delay_steps: int = static(0)

    def __check_init__(self) -> None:
        check_order("ClopathSTDP", self.w_min, self.w_max)
        check_count("ClopathSTDP: delay_steps", self.delay_steps)
        changes = {"a_ltd": self.a_ltd, "a_ltp": self.a_ltp}
        unit = "in the unit of the weight per mV (a_ltd) and per mV2 (a_ltp)"
        warn_of_size("ClopathSTDP", self.limits(), changes, unit)

    def pre_traces(self) -> dict[str, Trace]:
        return {"x": Trace(self.tau_x, 1.0 / self.tau_x)}

    def bounds(self) -> tuple[Any, Any]:
        return self.w_min, self.w_max

    def init_post(self, n: int) -> dict[str, Any]:
        u = jnp.full(n, self.e_l)
        late = {
            name: jnp.full((self.delay_steps, n), self.e_l) for name in ("late_minus", "late_plus")
        }
        state = {"u_minus": u, "u_plus": u, "u_bar": jnp.zeros_like(u)}
        return state | (late if self.delay_steps else {})

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
        if self.delay_steps:
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
