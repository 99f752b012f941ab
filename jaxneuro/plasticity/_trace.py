"""Additive STDP with traces, clipped once a step: Song, Miller, Abbott (2000)."""

from typing import Any

import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Plasticity, Trace
from ._checks import IN_WEIGHTS, check_order, warn_of_signs, warn_of_size


class TraceSTDP(Plasticity):
    """Additive STDP: changes in the unit of the weight, whatever the weight is.

    Equations: a postsynaptic spike gives `w += a_plus x`, a presynaptic one `w -= a_minus y`; x and
    y are traces of the presynaptic and the postsynaptic spikes, and all pairs count. Where both
    reach the synapse in one step, potentiation comes first, then depression, and w is brought
    into [w_min, w_max] once, after both.

    With g the largest weight, `a_plus = 0.005 g` and `a_minus = 1.05 a_plus` it is the rule of
    Song et al.

    **Fields** `a_plus`, `a_minus` what a trace of 1 adds or takes; `tau_plus` [ms],
    `tau_minus` [ms] time constants of x and y; `w_max`, `w_min` largest and smallest weight.

    **Raises** `ValueError` for a time constant not above 0, a value that is not finite, or
    `w_min >= w_max`.

    **Source** Song, Miller, Abbott (2000), Competitive Hebbian learning through
    spike-timing-dependent synaptic plasticity, Nat. Neurosci. 3, 919-926, doi:10.1038/78829.
    """

    a_plus: Parameter = param(0.01)
    a_minus: Parameter = param(0.012)
    tau_plus: Parameter = param(20.0, unit="ms", above=0.0)
    tau_minus: Parameter = param(20.0, unit="ms", above=0.0)
    w_max: Parameter = param(1.0)
    w_min: Parameter = param(0.0)

    def __check_init__(self) -> None:
        check_order("TraceSTDP", self.w_min, self.w_max)
        plus, minus = {"a_plus": self.a_plus}, {"a_minus": self.a_minus}
        warn_of_signs("TraceSTDP", plus, minus)
        warn_of_size("TraceSTDP", self.limits(), plus | minus, IN_WEIGHTS)

    def pre_traces(self) -> dict[str, Trace]:
        return {"x": Trace(self.tau_plus)}

    def post_traces(self) -> dict[str, Trace]:
        return {"y": Trace(self.tau_minus)}

    def bounds(self) -> tuple[Any, Any]:
        return None, None  # it clips by itself, once a step

    def limits(self) -> tuple[Any, Any]:
        return self.w_min, self.w_max

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        w = synapse.weight + self.a_plus * pre.x
        return {"weight": jnp.where(pre.arriving > 0, w, self._clipped(w))}

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": self._clipped(synapse.weight - self.a_minus * post.y)}

    def _clipped(self, w: Any) -> Any:
        return jnp.minimum(jnp.maximum(w, self.w_min), self.w_max)
