"""A rule around another one, which changes all weights of a target now and then."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax

from .._checks import check_count
from .._types import Plasticity, Trace
from ._no_rule import NoRule


class WrappedRule(Plasticity):
    """A rule that does what another one does, and multiplies all weights of a target.

    **Fields** `rule` the other one, or None; `every` so many steps weights are multiplied.
    """

    rule: eqx.AbstractVar[Plasticity | None]
    every: eqx.AbstractVar[int]

    def __check_init__(self) -> None:
        name = type(self).__name__
        check_count(f"{name}: every", self.every, 1)
        # What is no rule at all is refused by `Model`, whose check comes after this one.
        if isinstance(self.rule, Plasticity) and self.rule.schedule()[1]:
            raise ValueError(
                f"{name}: rule must be one that does not itself multiply all weights of a "
                f"target; got {self.rule!r}"
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

    def schedule(self) -> tuple[int, int]:
        return self.inner.schedule()[0], self.every

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
