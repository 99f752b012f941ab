"""STDP of triplets of spikes."""

from typing import Any, ClassVar

from .._fields import Parameter, param
from .._model import Plasticity, Trace
from ..spec import OneOf, field


class TripletSTDP(Plasticity):
    """STDP with pairs and triplets of spikes.

    Equations: a postsynaptic spike gives `w += r1 (a2_plus + a3_plus o2)`, a presynaptic one
    `w -= o1 (a2_minus + a3_minus r2)`; r1 and r2 are traces of the presynaptic spikes, o1 and o2
    of the postsynaptic ones, all as they are just before the spike; w stays in [0, w_max].

    With `pairing` "all" a spike adds 1 to its traces, with "nearest" it sets them to 1. The
    defaults are those of NEST: amplitudes of the fit to visual cortex (table 3), with other time
    constants of the postsynaptic traces.

    Reference:
        Pfister and Gerstner (2006), Triplets of spikes in a model of spike timing-dependent
        plasticity, J. Neurosci. 26, 9673-9682, doi:10.1523/JNEUROSCI.1425-06.2006; as
        stdp_triplet_synapse of NEST, which has "all" only.
    """

    needs_spikes: ClassVar[bool] = True

    tau_plus: Parameter = param(16.8, unit="ms", above=0.0, doc="time constant of r1")
    tau_plus_triplet: Parameter = param(
        101.0, unit="ms", above=0.0, doc="time constant of r2 (tau_x in the paper)"
    )
    a2_plus: Parameter = param(5e-10, doc="potentiation by pairs, in the unit of the weight")
    a2_minus: Parameter = param(7e-3, doc="depression by pairs, in the unit of the weight")
    a3_plus: Parameter = param(6.2e-3, doc="potentiation by triplets, in the unit of the weight")
    a3_minus: Parameter = param(2.3e-4, doc="depression by triplets, in the unit of the weight")
    tau_minus: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant of o1")
    tau_minus_triplet: Parameter = param(
        110.0, unit="ms", above=0.0, doc="time constant of o2 (tau_y in the paper)"
    )
    w_max: Parameter = param(100.0, above=0.0, doc="largest weight")
    pairing: str = field(
        OneOf("all", "nearest"), default="all", static=True, doc="which pairs count"
    )

    def pre_traces(self) -> dict[str, Trace]:
        nearest = self.pairing == "nearest"
        return {
            "r1": Trace(self.tau_plus, nearest=nearest),
            "r2": Trace(self.tau_plus_triplet, nearest=nearest),
        }

    def post_traces(self) -> dict[str, Trace]:
        nearest = self.pairing == "nearest"
        return {
            "o1": Trace(self.tau_minus, nearest=nearest),
            "o2": Trace(self.tau_minus_triplet, nearest=nearest),
        }

    def bounds(self) -> tuple[Any, Any]:
        return 0.0, self.w_max

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight + pre.r1 * (self.a2_plus + self.a3_plus * post.o2)}

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight - post.o1 * (self.a2_minus + self.a3_minus * pre.r2)}


class DiehlCookSTDP(Plasticity):
    """Triplet rule of nearest spikes, as in the network that learns handwritten digits.

    Equations: a presynaptic spike gives `w -= eta_pre y1`, a postsynaptic one
    `w += eta_post x y2`; a spike sets the traces of its neuron, x or y1 and y2, to 1 after that,
    so that the first postsynaptic spike changes nothing; w stays in [0, w_max].

    The network also holds the sum of the weights of each neuron: see `Normalized`.

    Reference:
        Diehl and Cook (2015), Unsupervised learning of digit recognition using
        spike-timing-dependent plasticity, Front. Comput. Neurosci. 9, 99,
        doi:10.3389/fncom.2015.00099; numbers and equations of its program for Brian,
        https://github.com/peter-u-diehl/stdp-mnist.

    Note:
        A presynaptic spike is delivered with the weight after its change; in that program, before.
    """

    needs_spikes: ClassVar[bool] = True

    eta_pre: Parameter = param(
        1e-4, at_least=0.0, doc="depression by a presynaptic spike, in the unit of the weight"
    )
    eta_post: Parameter = param(
        1e-2, at_least=0.0, doc="potentiation by a postsynaptic spike, in the unit of the weight"
    )
    tau_pre: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant of x")
    tau_post_1: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant of y1")
    tau_post_2: Parameter = param(40.0, unit="ms", above=0.0, doc="time constant of y2")
    w_max: Parameter = param(1.0, above=0.0, doc="largest weight")

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
