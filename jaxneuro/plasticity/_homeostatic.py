"""Rules around another one, which now and then multiply all weights of a target."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Plasticity, Trace
from .._numerics.grid import Duration, InSteps
from ..spec import Maybe, Of, Rule, field


class NoRule(Plasticity):
    """What is inside a rule of sums around no other rule: between its steps weights rest."""


class WrappedRule(Plasticity):
    """A rule that does what another one does, and multiplies all weights of a target.

    A subclass declares the fields `rule`, the other one or None, and `interval` [ms], the time
    from one multiplication to the next.
    """

    rule: eqx.AbstractVar[Plasticity | None]
    interval: eqx.AbstractVar[Any]
    rules = (
        Rule(
            "rule",
            "one that does not itself multiply all weights of a target",
            lambda rule: rule is None or rule.intervals()[1] is None,
        ),
    )

    @property
    def inner(self) -> Plasticity:
        """The rule inside; one that does nothing where there is none."""
        return NoRule() if self.rule is None else self.rule

    @property
    def signals(self) -> tuple[str, ...]:  # type: ignore[override]
        """The inputs that the rule inside takes."""
        return self.inner.signals

    @property
    def reads_rates(self) -> bool:
        """Whether the rule inside takes the activities of rate units."""
        return getattr(self.inner, "reads_rates", False)

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return self.inner.on_pre(synapse, pre, post)

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return self.inner.on_post(synapse, pre, post)

    def on_tick(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return self.inner.on_tick(synapse, pre, post)

    def between(self, synapse: Any, elapsed: Any, start: Any, stop: Any) -> dict[str, Any]:
        return self.inner.between(synapse, elapsed, start, stop)

    def variables(self) -> dict[str, float]:
        return self.inner.variables()

    def pre_traces(self) -> dict[str, Trace]:
        return self.inner.pre_traces()

    def post_traces(self) -> dict[str, Trace]:
        return self.inner.post_traces()

    def bounds(self) -> tuple[Any, Any]:
        return self.inner.bounds()

    def limits(self) -> tuple[Any, Any]:
        return self.inner.limits()

    def intervals(self) -> tuple[Any, Any]:
        return self.inner.intervals()[0], self.interval

    def init_post(self, n: int) -> dict[str, Any]:
        return self.inner.init_post(n) | self.init_own(n)

    def step_post(
        self, state: Any, spikes: jax.Array, v: Any, dt: float
    ) -> tuple[dict[str, Any], jax.Array, Any]:
        # One flat dictionary: what belongs to the rule around has names that begin with "own_".
        own = {name: x for name, x in state.items() if name.startswith("own_")}
        rest = {name: x for name, x in state.items() if name not in own}
        numbers, events, rest = self.inner.step_post(rest, spikes, v, dt)
        return numbers, events, rest | self.step_own(own, spikes, dt)

    def time_constants(self) -> dict[str, Any]:
        return self.inner.time_constants() | self.own_time_constants()

    def own_time_constants(self) -> dict[str, Any]:
        """Those of the state that the rule around has."""
        return {}

    def init_own(self, n: int) -> dict[str, Any]:
        """The state that the rule around has for n targets; names begin with "own_"."""
        return {}

    def step_own(self, state: dict[str, Any], spikes: jax.Array, dt: float) -> dict[str, Any]:
        """That state a step later."""
        return state

    def init_shared(self) -> dict[str, Any]:
        return self.inner.init_shared()

    @abstractmethod
    def factors(self, total: jax.Array, synapses: jax.Array, state: Any) -> jax.Array: ...

    def step_shared(
        self, state: dict[str, Any], signals: dict[str, Any], dt: float
    ) -> dict[str, Any]:
        return self.inner.step_shared(state, signals, dt)


class Normalized(WrappedRule):
    """Another rule, with the sum of the weights of each target held.

    Equations: once per `interval`, each weight of a target is multiplied by `total` over the sum
    of its weights. What counts is one projection: synapses of others are not in the sum. A sum
    that is not above 0 is left alone. In between, the sum moves as the rule moves it.

    Weights are multiplied in the step after each multiple of `interval`, once the spikes before it
    are delivered. `interval = 100` at dt = 0.1 ms acts in step 1,001: weights have the sum at its
    end, t = 100.1 ms, and the spikes of this step are the first that they deliver.

    Reference:
        Diehl and Cook (2015), Unsupervised learning of digit recognition using
        spike-timing-dependent plasticity, doi:10.3389/fncom.2015.00099, sec. 2, and its program,
        https://github.com/peter-u-diehl/stdp-mnist, where it is done once per image; Miller and
        MacKay (1994), The role of constraints in Hebbian learning, Neural Comput. 6, 100-126.
    """

    rule: Plasticity | None = field(
        Maybe(Of(Plasticity)), doc="other rule, or None for weights that only this changes"
    )
    total: Parameter = param(above=0.0, doc="sum of the weights, in their unit")
    interval: float | InSteps = field(
        Duration(above=0.0), default=100.0, static=True, doc="time from one scaling to the next"
    )

    def factors(self, total: jax.Array, synapses: jax.Array, state: Any) -> jax.Array:
        there = total > 0.0
        return jnp.where(there, self.total / jnp.where(there, total, 1.0), 1.0)


class HomeostaticScaling(WrappedRule):
    """Another rule, with all weights of a target scaled such that it fires at a given rate.

    Equations: once per `interval`, each weight of a target is multiplied by
    `(target_rate / r)^alpha`, but by no more than `limit` and no less than 1 / limit;
    `tau dr/dt = -r +` the spikes of the target. r starts at `target_rate`.

    Weights are multiplied in the step after each multiple of `interval`, once the spikes before it
    are delivered. `interval = 100` at dt = 0.1 ms acts in step 1,001: weights are new at its end,
    t = 100.1 ms, and the spikes of this step are the first that they deliver.

    Reference:
        Turrigiano, Leslie, Desai, Rutherford, Nelson (1998), Activity-dependent scaling of quantal
        amplitude in neocortical neurons, Nature 391, 892-896, doi:10.1038/36103; van Rossum, Bi,
        Turrigiano (2000), Stable Hebbian learning from spike timing-dependent plasticity, J.
        Neurosci. 20, 8812-8821.

    Note:
        van Rossum et al. change weights at a speed proportional to `w (target - r)`; this is a
        power of the ratio, which near the target is the same: `alpha / interval` is the speed.
    """

    rule: Plasticity | None = field(
        Maybe(Of(Plasticity)), doc="other rule, or None for weights that only this changes"
    )
    target_rate: Parameter = param(unit="Hz", above=0.0, doc="rate that is held")
    tau: Parameter = param(10000.0, unit="ms", above=0.0, doc="time constant of r")
    alpha: Parameter = param(0.1, at_least=0.0, doc="exponent, by which the rate is approached")
    interval: float | InSteps = field(
        Duration(above=0.0), default=100.0, static=True, doc="time from one scaling to the next"
    )
    limit: Parameter = param(1.1, at_least=1.0, doc="largest factor")

    def own_time_constants(self) -> dict[str, Any]:
        return {"own_rate": self.tau}

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
