"""The STDP of Diehl and Cook (2015), with which digits are learned without a teacher."""

from typing import Any

from .._fields import Parameter, param
from .._types import Plasticity, Trace
from ._checks import IN_WEIGHTS, warn_of_size


class DiehlCookSTDP(Plasticity):
    """Triplet rule of nearest spikes, as in the network that learns handwritten digits.

    Equations: a presynaptic spike gives `w -= eta_pre y1`, a postsynaptic one
    `w += eta_post x y2`; a spike sets the traces of its neuron, x or y1 and y2, to 1 after that,
    so that the first postsynaptic spike changes nothing; w stays in [0, w_max].

    The network also holds the sum of the weights of each neuron: see `Normalized`.

    **Fields** `eta_pre`, `eta_post` size of a change, in the unit of the weight; `tau_pre` [ms],
    `tau_post_1` [ms], `tau_post_2` [ms] time constants of x, y1 and y2; `w_max` largest weight.

    **Raises** `ValueError` for a time constant or `w_max` not above 0, or another number below 0.

    **Source** Diehl and Cook (2015), Unsupervised learning of digit recognition using
    spike-timing-dependent plasticity, Front. Comput. Neurosci. 9, 99,
    doi:10.3389/fncom.2015.00099; numbers and equations of its program for Brian,
    https://github.com/peter-u-diehl/stdp-mnist.

    **Differs** a presynaptic spike is delivered with the weight after its change; there, before.
    """

    eta_pre: Parameter = param(1e-4, at_least=0.0)
    eta_post: Parameter = param(1e-2, at_least=0.0)
    tau_pre: Parameter = param(20.0, unit="ms", above=0.0)
    tau_post_1: Parameter = param(20.0, unit="ms", above=0.0)
    tau_post_2: Parameter = param(40.0, unit="ms", above=0.0)
    w_max: Parameter = param(1.0, above=0.0)

    def __check_init__(self) -> None:
        changes = {"eta_pre": self.eta_pre, "eta_post": self.eta_post}
        warn_of_size("DiehlCookSTDP", self.limits(), changes, IN_WEIGHTS)

    def pre_traces(self) -> dict[str, Trace]:
        return {"x": Trace(self.tau_pre, nearest=True)}

    def post_traces(self) -> dict[str, Trace]:
        return {
            "y1": Trace(self.tau_post_1, nearest=True),
            "y2": Trace(self.tau_post_2, nearest=True),
        }

    def bounds(self) -> tuple[Any, Any]:
        return 0.0, self.w_max

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight + self.eta_post * pre.x * post.y2}

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight - self.eta_pre * post.y1}
