"""What the rules of activities share: the activity of source and target, and when they act."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._checks import check_count
from .._types import Plasticity, Trace
from ._checks import check_choice, check_order


class ActivityRule(Plasticity):
    """A rule `dw/dt = pre gain - loss w`; gain and loss are functions of the target alone.

    **Fields** `activity` "spikes" or "rate"; `tau_rate` [ms] of the low-passed spikes; `every` so
    many steps the rule acts on spikes; `w_min`, `w_max` bounds or None.

    **Step** `init_target(n)` and `step_target(state, rate, dt)` are those of what else a target
    has; `step_target` returns `(gain, loss, state)`, gain and loss per ms.
    """

    activity: eqx.AbstractVar[str]
    tau_rate: eqx.AbstractVar[Any]
    every: eqx.AbstractVar[int]
    w_min: eqx.AbstractVar[Any]
    w_max: eqx.AbstractVar[Any]

    def __check_init__(self) -> None:
        name = type(self).__name__
        check_choice(f"{name}: activity", self.activity, ("spikes", "rate"))
        check_count(f"{name}: every", self.every, 1)
        check_order(name, self.w_min, self.w_max)

    @property
    def reads_rates(self) -> bool:
        """Whether it takes the activities of rate units, instead of spikes."""
        return self.activity == "rate"

    @abstractmethod
    def init_target(self, n: int) -> dict[str, Any]:
        """The further state of n targets, by names other than `rate`."""

    @abstractmethod
    def step_target(self, state: Any, rate: jax.Array, dt: float) -> tuple[Any, Any, Any]:
        """Gain and loss [1/ms] of each target at its rate, and the further state after a step."""

    def bounds(self) -> tuple[Any, Any]:
        return self.w_min, self.w_max

    def schedule(self) -> tuple[int, int]:
        return (self.every if self.activity == "spikes" else 0), 0

    def pre_traces(self) -> dict[str, Trace]:
        return {"rate": self._low_pass()} if self.activity == "spikes" else {}

    def init_post(self, n: int) -> dict[str, Any]:
        low_passed = {"rate": jnp.zeros(n)} if self.activity == "spikes" else {}
        return low_passed | self.init_target(n)

    def step_post(
        self, state: Any, spikes: jax.Array, v: Any, dt: float
    ) -> tuple[dict[str, Any], jax.Array, Any]:
        new, acts_for = {}, dt
        if self.activity == "spikes":
            trace, acts_for = self._low_pass(), dt * self.every
            rate = trace.decayed(state["rate"], dt)
            new["rate"] = jnp.where(spikes, trace.jumped(rate), rate)
        else:
            rate = v
        further = {name: x for name, x in state.items() if name != "rate"}
        gain, loss, further = self.step_target(further, rate, dt)
        # The functions of a synapse do not know dt, so the numbers are those of a whole change.
        numbers = {"gain": gain * acts_for, "loss": loss * acts_for}
        return numbers, spikes, new | further

    def on_tick(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return self._changed(synapse, pre.rate, post) if self.activity == "spikes" else {}

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return self._changed(synapse, pre.released, post) if self.activity == "rate" else {}

    def _changed(self, synapse: Any, x: Any, post: Any) -> dict[str, Any]:
        return {"weight": synapse.weight + x * post.gain - post.loss * synapse.weight}

    def _low_pass(self) -> Trace:
        return Trace(self.tau_rate, 1000.0 / self.tau_rate)  # its mean is the rate in Hz
