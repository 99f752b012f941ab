"""Pair-based STDP with any dependence on the weight: Guetig et al. (2003)."""

from typing import Any

import jax.numpy as jnp

from .._fields import Parameter, param, static
from .._types import Plasticity, Trace
from ._checks import check_choice, warn_of_size
from ._power import power

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

    **Fields** `rate` size of a change, as a fraction of w_max; `alpha` depression over
    potentiation; `mu_plus`, `mu_minus` exponents; `tau_plus` [ms], `tau_minus` [ms] time constants
    of x and y; `w_max` largest weight; `pairing` as above.

    **Raises** `ValueError` for a time constant or `w_max` not above 0, another number below 0, or
    an unknown `pairing`.

    **Source** Guetig, Aharonov, Rotter, Sompolinsky (2003), Learning input correlations through
    nonlinear temporally asymmetric Hebbian plasticity, J. Neurosci. 23, 3697-3714; Morrison,
    Diesmann, Gerstner (2008), doi:10.1007/s00422-008-0233-1; as stdp_synapse, stdp_nn_symm_synapse,
    stdp_nn_restr_synapse and stdp_nn_pre_centered_synapse of NEST.

    **Differs** from NEST, where the first two nearest rules take time 0 for a presynaptic spike;
    here there is none. As there, a postsynaptic spike in the step of a presynaptic one lies between
    that and the one before.
    """

    rate: Parameter = param(0.01, at_least=0.0)
    alpha: Parameter = param(1.0, at_least=0.0)
    mu_plus: Parameter = param(1.0, at_least=0.0)
    mu_minus: Parameter = param(1.0, at_least=0.0)
    tau_plus: Parameter = param(20.0, unit="ms", above=0.0)
    tau_minus: Parameter = param(20.0, unit="ms", above=0.0)
    w_max: Parameter = param(100.0, above=0.0)
    pairing: str = static("all")

    def __check_init__(self) -> None:
        check_choice("PairSTDP: pairing", self.pairing, PAIRINGS)
        warn_of_size("PairSTDP", (0.0, 1.0), {"rate": self.rate}, "a fraction of w_max")

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
