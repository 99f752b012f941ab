"""Saturating NMDA gate of a source neuron, in one variable.

Wang (1999); Brunel and Wang (2001).
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._kernels.short_term import at_spikes
from .._model import Release
from ..spec import Less, Rule
from ._short_term import decay

# Of the series; up to alpha tau_rise = FAR they give all digits of float64.
TERMS, FAR = 40, 8.0


class NMDAGateState(NamedTuple):
    """State of the gates of n source neurons.

    Attributes:
        s: gate, after the spike if there was one (n,).
    """

    s: jax.Array


class NMDAGate(Release):
    """Saturating NMDA gate: a spike adds the less, the more the gate is open already.

    Equations: `ds/dt = alpha y (1 - s) - s / tau_decay`, `dy/dt = -y / tau_rise`, `y += 1` at a
    spike. Long after a spike, when y has gone, s is what `s += k_0 + k_1 s` at the spike and the
    decay with `tau_decay` give: with `z = alpha tau_rise` and `c = tau_rise / tau_decay`

    * `k_0 = z^c gamma(1 - c, z)`, the lower incomplete gamma function: with
      `q = z exp(-t/tau_rise)`, `s exp(t/tau_decay - q)` grows by the integral of
      `(z/q)^c exp(-q)` over q from 0 to z;
    * `k_1 = exp(-z) - 1`: of what was there the fraction `exp(-z)` is left.

    `step` does this: the rise becomes a jump, and intervals count as much longer than `tau_rise`.
    Pair it with a receptor that decays with `tau_decay`: what its targets sum is then the sum of
    the gates.

    What a spike releases is the increment `k_0 + k_1 s`.

    Reference:
        Wang (1999), Synaptic basis of cortical persistent activity: the importance of NMDA
        receptors to working memory, doi:10.1523/JNEUROSCI.19-21-09587.1999; Brunel and Wang (2001),
        Effects of neuromodulation in a cortical network model of object working memory dominated by
        recurrent inhibition, doi:10.1023/A:1011204814320; k_0 and k_1 as NEST's iaf_bw_2001,
        https://nest-simulator.readthedocs.io, and derived above.
    """

    with_spikes: ClassVar[bool] = True
    state_bounds: ClassVar[Mapping[str, tuple]] = {"s": (0.0, "highest")}

    tau_rise: Parameter = param(2.0, unit="ms", above=0.0, doc="time constant of y")
    tau_decay: Parameter = param(100.0, unit="ms", above=0.0, doc="time constant of s")
    alpha: Parameter = param(0.5, unit="1/ms", above=0.0, doc="rate of opening")
    rules = (
        Less("tau_rise", "tau_decay"),
        Rule(
            "alpha",
            f"at most {FAR:g} / tau_rise ({{tau_rise}}), where a spike opens the gate entirely",
            lambda alpha, tau_rise: alpha * tau_rise <= FAR,
        ),
    )

    @property
    def highest(self) -> Any:
        """What s stays below: at a spike it is at most `k_0 / -k_1`, the most for a z of 0."""
        return self.tau_decay / (self.tau_decay - self.tau_rise)

    def jumps(self) -> tuple[jax.Array, jax.Array]:
        """k_0 and k_1: a spike adds `k_0 + k_1 s`."""
        z, a = self.alpha * self.tau_rise, 1.0 - self.tau_rise / self.tau_decay
        # gamma(a, z) = z^a e^-z (1/a + z/(a (a+1)) + z^2/(a (a+1) (a+2)) + ...)
        term = total = 1.0 / a
        for k in range(1, TERMS):
            term = term * z / (a + k)
            total = total + term
        return z * jnp.exp(-z) * total, jnp.expm1(-z)

    def time_constants(self) -> dict[str, Any]:
        return {"s": self.tau_decay}

    def init(self, n: int) -> NMDAGateState:
        kind = jnp.result_type(self.tau_rise, self.tau_decay, self.alpha)
        return NMDAGateState(jnp.zeros(n, kind))

    def step(
        self, state: NMDAGateState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[NMDAGateState, jax.Array]:
        k_0, k_1 = self.jumps()
        s = state.s + state.s * decay(self.tau_decay, dt)
        increment = at_spikes(spikes, k_0 + k_1 * s)
        return NMDAGateState(s + increment), increment
