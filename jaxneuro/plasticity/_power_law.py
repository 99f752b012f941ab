"""STDP whose potentiation grows with a power of the weight: Morrison et al. (2007)."""

from typing import Any

from .._fields import Parameter, param
from .._types import Plasticity, Trace
from ._power import power


class PowerLawSTDP(Plasticity):
    """Pair-based STDP with potentiation by a power of the weight and proportional depression.

    Equations: a postsynaptic spike gives `w += rate w^mu x`, a presynaptic one
    `w -= rate alpha w y`; x and y are traces of the presynaptic and the postsynaptic spikes, all
    pairs count, and w stays at or above 0. Nothing bounds it above: it settles where both are
    equal. The weight counts in a unit w0, 1 pA in the paper: with another unit of w the rate is
    that of the paper times `w0^(1 - mu)`. A weight of 0 stays 0 where mu > 0.

    **Fields** `rate` size of a change; `alpha` depression over potentiation; `mu` exponent;
    `tau_plus` [ms], `tau_minus` [ms] time constants of x and y.

    **Raises** `ValueError` for a time constant not above 0, or another number below 0.

    **Source** Morrison, Aertsen, Diesmann (2007), Spike-timing-dependent plasticity in balanced
    random networks, Neural Comput. 19, 1437-1467, doi:10.1162/neco.2007.19.6.1437; as
    stdp_pl_synapse_hom of NEST.
    """

    rate: Parameter = param(0.1, at_least=0.0)
    alpha: Parameter = param(0.0513, at_least=0.0)
    mu: Parameter = param(0.4, at_least=0.0)
    tau_plus: Parameter = param(15.0, unit="ms", above=0.0)
    tau_minus: Parameter = param(30.0, unit="ms", above=0.0)

    def pre_traces(self) -> dict[str, Trace]:
        return {"x": Trace(self.tau_plus)}

    def post_traces(self) -> dict[str, Trace]:
        return {"y": Trace(self.tau_minus)}

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight + self.rate * power(synapse.weight, self.mu) * pre.x}

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight - self.rate * self.alpha * synapse.weight * post.y}
