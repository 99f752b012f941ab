"""STDP of pairs of spikes, with any dependence on the weight."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Plasticity, Trace
from ..spec import Less, OneOf, field

PAIRINGS = ("all", "nearest_symmetric", "nearest_restricted", "presynaptic_centred")


class PairSTDP(Plasticity):
    """Pair-based STDP; how much a weight changes may depend on the weight.

    Equations, with `u = w / w_max`: a postsynaptic spike gives `u += rate (1 - u)^mu_plus x`, a
    presynaptic one `u -= alpha rate u^mu_minus y`; x and y are traces of the presynaptic and the
    postsynaptic spikes, and w stays in [0, w_max]. Exponents of 0 are the additive rule, of 1 the
    multiplicative one; mu between them is that of Guetig et al.

    `pairing` says which pairs count (Morrison, Diesmann, Gerstner 2008, fig. 7):

    * "all": every spike with all earlier ones of the other side;
    * "nearest_symmetric": every spike with the last one of the other side;
    * "nearest_restricted": the same, but no spike is in two pairs for depression, or in two for
      potentiation: a postsynaptic spike counts only if it is the first since the last presynaptic
      one, a presynaptic spike only if there was a postsynaptic one since the last presynaptic one;
    * "presynaptic_centred": a presynaptic spike with the last and with the next postsynaptic one.

    Spikes that reach the synapse in one step make no pair.

    Reference:
        Guetig, Aharonov, Rotter, Sompolinsky (2003), Learning input correlations through nonlinear
        temporally asymmetric Hebbian plasticity, J. Neurosci. 23, 3697-3714; Morrison, Diesmann,
        Gerstner (2008), Phenomenological models of synaptic plasticity based on spike timing,
        doi:10.1007/s00422-008-0233-1; as stdp_synapse, stdp_nn_symm_synapse, stdp_nn_restr_synapse
        and stdp_nn_pre_centered_synapse of NEST.

    Note:
        In NEST the first two nearest rules take time 0 for a presynaptic spike; here there is none.
        As there, a postsynaptic spike in the step of a presynaptic one lies between that and the
        one before.
    """

    needs_spikes: ClassVar[bool] = True

    rate: Parameter = param(0.01, at_least=0.0, doc="size of a change, as a fraction of w_max")
    alpha: Parameter = param(1.0, at_least=0.0, doc="depression over potentiation")
    mu_plus: Parameter = param(1.0, at_least=0.0, doc="exponent of potentiation")
    mu_minus: Parameter = param(1.0, at_least=0.0, doc="exponent of depression")
    tau_plus: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant of x")
    tau_minus: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant of y")
    w_max: Parameter = param(100.0, above=0.0, doc="largest weight")
    pairing: str = field(OneOf(*PAIRINGS), default="all", static=True, doc="which pairs count")

    @classmethod
    def additive(cls, **fields: Any) -> "PairSTDP":
        """The rule whose changes do not depend on the weight: both exponents 0."""
        return cls(**{"mu_plus": 0.0, "mu_minus": 0.0, **fields})

    @classmethod
    def multiplicative(cls, **fields: Any) -> "PairSTDP":
        """The rule whose changes are proportional to what is left: both exponents 1."""
        return cls(**{"mu_plus": 1.0, "mu_minus": 1.0, **fields})

    def pre_traces(self) -> dict[str, Trace]:
        if self.pairing == "presynaptic_centred":
            return {}  # a postsynaptic spike empties x, so each synapse has its own
        return {"x": Trace(self.tau_plus, nearest=self.pairing != "all")}

    def post_traces(self) -> dict[str, Trace]:
        return {"y": Trace(self.tau_minus, nearest=self.pairing != "all")}

    def variables(self) -> dict[str, float]:
        names = {"nearest_restricted": ("answered",), "presynaptic_centred": ("x",)}
        return dict.fromkeys(names.get(self.pairing, ()), 0.0)

    def bounds(self) -> tuple[Any, Any]:
        return 0.0, self.w_max

    def between(self, synapse: Any, elapsed: Any, start: Any, stop: Any) -> dict[str, Any]:
        if self.pairing != "presynaptic_centred":
            return {}
        return {"x": Trace(self.tau_plus).decayed(synapse.x, elapsed)}

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        if self.pairing == "presynaptic_centred":
            return {
                "weight": self._potentiated(synapse.weight, synapse.x),
                "x": jnp.zeros_like(synapse.x),
            }
        if self.pairing == "nearest_restricted":
            x = pre.x * (1.0 - synapse.answered)
            answered = jnp.ones_like(synapse.answered)
            return {"weight": self._potentiated(synapse.weight, x), "answered": answered}
        return {"weight": self._potentiated(synapse.weight, pre.x)}

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        if self.pairing == "presynaptic_centred":
            return {"weight": self._depressed(synapse.weight, post.y), "x": synapse.x + 1.0}
        if self.pairing == "nearest_restricted":
            w = self._depressed(synapse.weight, post.y * synapse.answered)
            return {"weight": w, "answered": jnp.zeros_like(synapse.answered)}
        return {"weight": self._depressed(synapse.weight, post.y)}

    def _potentiated(self, w: Any, x: Any) -> Any:
        left = power(1.0 - w / self.w_max, self.mu_plus)
        return w + self.w_max * self.rate * left * x

    def _depressed(self, w: Any, y: Any) -> Any:
        there = power(w / self.w_max, self.mu_minus)
        return w - self.w_max * self.alpha * self.rate * there * y


class PowerLawSTDP(Plasticity):
    """Pair-based STDP with potentiation by a power of the weight and proportional depression.

    Equations: a postsynaptic spike gives `w += rate w^mu x`, a presynaptic one
    `w -= rate alpha w y`; x and y are traces of the presynaptic and the postsynaptic spikes, all
    pairs count, and w stays at or above 0. Nothing bounds it above: it settles where both are
    equal. The weight counts in a unit w0, 1 pA in the paper: with another unit of w the rate is
    that of the paper times `w0^(1 - mu)`. A weight of 0 stays 0 where mu > 0.

    Reference:
        Morrison, Aertsen, Diesmann (2007), Spike-timing-dependent plasticity in balanced random
        networks, Neural Comput. 19, 1437-1467, doi:10.1162/neco.2007.19.6.1437; as
        stdp_pl_synapse_hom of NEST.
    """

    needs_spikes: ClassVar[bool] = True

    rate: Parameter = param(0.1, at_least=0.0, doc="size of a change")
    alpha: Parameter = param(0.0513, at_least=0.0, doc="depression over potentiation")
    mu: Parameter = param(0.4, at_least=0.0, doc="exponent of potentiation")
    tau_plus: Parameter = param(15.0, unit="ms", above=0.0, doc="time constant of x")
    tau_minus: Parameter = param(30.0, unit="ms", above=0.0, doc="time constant of y")

    def pre_traces(self) -> dict[str, Trace]:
        return {"x": Trace(self.tau_plus)}

    def post_traces(self) -> dict[str, Trace]:
        return {"y": Trace(self.tau_minus)}

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight + self.rate * power(synapse.weight, self.mu) * pre.x}

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight - self.rate * self.alpha * synapse.weight * post.y}


class TraceSTDP(Plasticity):
    """Additive STDP: changes in the unit of the weight, whatever the weight is.

    Equations: a postsynaptic spike gives `w += a_plus x`, a presynaptic one `w -= a_minus y`; x and
    y are traces of the presynaptic and the postsynaptic spikes, and all pairs count. Where both
    reach the synapse in one step, potentiation comes first, then depression, and w is brought
    into [w_min, w_max] once, after both.

    With g the largest weight, `a_plus = 0.005 g` and `a_minus = 1.05 a_plus` it is the rule of
    Song et al.

    Reference:
        Song, Miller, Abbott (2000), Competitive Hebbian learning through spike-timing-dependent
        synaptic plasticity, Nat. Neurosci. 3, 919-926, doi:10.1038/78829.
    """

    needs_spikes: ClassVar[bool] = True

    a_plus: Parameter = param(0.01, doc="what a trace of 1 adds")
    a_minus: Parameter = param(0.012, doc="what a trace of 1 takes")
    tau_plus: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant of x")
    tau_minus: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant of y")
    w_max: Parameter = param(1.0, doc="largest weight")
    w_min: Parameter = param(0.0, doc="smallest weight")
    rules = (Less("w_min", "w_max"),)

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


def power(x: Any, exponent: Any) -> jax.Array:
    """`x ** exponent` for x >= 0 and exponent >= 0, with 0 ** 0 = 1; below 0, x counts as 0.

    The derivative at x = 0 is exact for an exponent of 0 or at least 1; between, where it is
    infinite, it is taken as 0.
    """
    # Only a base whose derivative is finite reaches the power: a NaN would come through `where`.
    known = (x > 0) | ((x == 0) & (exponent >= 1.0))
    return jnp.where(
        known, jnp.where(known, x, 1.0) ** exponent, jnp.where(exponent == 0.0, 1.0, 0.0)
    )
