"""Inhibitory plasticity that holds a rate: Vogels et al. (2011)."""

from typing import Any

from .._fields import Parameter, param
from .._model import Plasticity, Trace
from ..spec import Number, arguments


class VogelsSTDP(Plasticity):
    """Symmetric STDP of inhibitory synapses, by which their targets come to fire at one rate.

    Equations: a presynaptic spike gives `w += eta (y - alpha)`, a postsynaptic one `w += eta x`;
    x and y are traces of the presynaptic and the postsynaptic spikes with the same time constant,
    and w stays in [0, w_max]. w is the strength of the inhibition, at least 0: the weight of
    a conductance, or that of a current whose projection has a negative gain.

    The rate that it holds is `alpha / (2 tau)`; `with_target` takes the rate instead of alpha.

    Reference:
        Vogels, Sprekeler, Zenke, Clopath, Gerstner (2011), Inhibitory plasticity balances
        excitation and inhibition in sensory pathways and memory networks, Science 334, 1569-1573,
        doi:10.1126/science.1211095; as vogels_sprekeler_synapse of NEST.

    Note:
        NEST differs at the upper bound: there `eta y` is added and the weight clipped before
        `eta alpha` is taken; here it is clipped once.
    """

    tau: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant of the traces")
    alpha: Parameter = param(0.12, at_least=0.0, doc="depression by a presynaptic spike")
    eta: Parameter = param(0.001, at_least=0.0, doc="size of a change, in the unit of the weight")
    w_max: Parameter = param(1.0, above=0.0, doc="largest weight")

    @classmethod
    @arguments(rate_hz=Number("Hz", at_least=0.0, traceable=True))
    def with_target(cls, rate_hz: float, tau: float = 20.0, **fields: Any) -> "VogelsSTDP":
        """The rule that holds its targets at a rate [Hz]: `alpha = 2 rate tau`."""
        return cls(tau=tau, alpha=2.0 * rate_hz * tau * 1e-3, **fields)

    def pre_traces(self) -> dict[str, Trace]:
        return {"x": Trace(self.tau)}

    def post_traces(self) -> dict[str, Trace]:
        return {"y": Trace(self.tau)}

    def bounds(self) -> tuple[Any, Any]:
        return 0.0, self.w_max

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight + self.eta * pre.x}

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight + self.eta * (post.y - self.alpha)}
