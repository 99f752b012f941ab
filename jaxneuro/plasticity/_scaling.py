"""Synaptic scaling: all weights of a neuron follow its rate."""

from typing import Any

import jax
import jax.numpy as jnp

from .._fields import Parameter, param, static
from .._types import Plasticity
from ._wrapped import WrappedRule


class HomeostaticScaling(WrappedRule):
    """Another rule, with all weights of a target scaled such that it fires at a given rate.

    Equations: after every `every` steps, each weight of a target is multiplied by
    `(target_rate / r)^alpha`, but by no more than `limit` and no less than 1 / limit;
    `tau dr/dt = -r +` the spikes of the target. r starts at `target_rate`.

    **Fields** `rule` the other rule, or None for weights that only this changes;
    `target_rate` [Hz]; `tau` [ms] time constant of r; `alpha` exponent, by which the rate is
    approached; `limit` largest factor; `every` how many steps.

    **Raises** `ValueError` for a `target_rate` or `tau` not above 0, `alpha` below 0, `limit` below
    1, `every` below 1, or a `rule` that multiplies all weights of a target itself.

    **Source** Turrigiano, Leslie, Desai, Rutherford, Nelson (1998), Activity-dependent scaling of
    quantal amplitude in neocortical neurons, Nature 391, 892-896, doi:10.1038/36103; van Rossum,
    Bi, Turrigiano (2000), Stable Hebbian learning from spike timing-dependent plasticity,
    J. Neurosci. 20, 8812-8821.

    **Differs** van Rossum et al. change weights at a speed proportional to `w (target - r)`; this
    is a power of the ratio, which near the target is the same: `alpha / every dt` is the speed.
    """

    rule: Plasticity | None
    target_rate: Parameter = param(unit="Hz", above=0.0)
    tau: Parameter = param(10000.0, unit="ms", above=0.0)
    alpha: Parameter = param(0.1, at_least=0.0)
    every: int = static(1000)
    limit: Parameter = param(1.1, at_least=1.0)

    def init_own(self, n: int) -> dict[str, Any]:
        return {"own_rate": jnp.full(n, self.target_rate)}

    def step_own(self, state: dict[str, Any], spikes: jax.Array, dt: float) -> dict[str, Any]:
        rate = state["own_rate"] * jnp.exp(-dt / self.tau)
        return {"own_rate": jnp.where(spikes, rate + 1000.0 / self.tau, rate)}

    def factors(self, total: jax.Array, synapses: jax.Array, state: Any) -> jax.Array:
        # A neuron that is silent for long has a rate of 0; the limit decides then.
        rate = jnp.maximum(state["own_rate"], 1e-6 * self.target_rate)
        factor = (self.target_rate / rate) ** self.alpha
        return jnp.clip(factor, 1.0 / self.limit, self.limit)
