"""Rules of activities: `dw/dt = pre gain - loss w`, on rate units or on low-passed spikes."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Plasticity, Trace
from .._numerics.grid import Duration, InSteps
from ..spec import Maybe, Number, OneOf, Rule, field


class ActivityRule(Plasticity):
    """A rule `dw/dt = pre gain - loss w`; gain and loss are functions of the target alone.

    A subclass declares these fields: `activity` "spikes" or "rate"; `tau_rate` [ms] of the
    low-passed spikes; `interval` [ms] from one change by spikes to the next; `w_min`, `w_max`
    bounds or None. `init_target(n)` and `step_target(state, rate, dt)` are those of what else a
    target has.
    """

    activity: eqx.AbstractVar[str]
    tau_rate: eqx.AbstractVar[Any]
    interval: eqx.AbstractVar[Any]
    w_min: eqx.AbstractVar[Any]
    w_max: eqx.AbstractVar[Any]
    rules = (
        Rule(
            "w_min",
            "below w_max ({w_max})",
            lambda w_min, w_max: w_min is None or w_max is None or w_min < w_max,
        ),
    )

    @property
    def reads_rates(self) -> bool:
        """Whether it takes the activities of rate units, instead of spikes."""
        return self.activity == "rate"

    @property
    def needs_spikes(self) -> bool:  # type: ignore[override]
        """Whether it takes the rates of the targets from their spikes."""
        return self.activity == "spikes"

    @abstractmethod
    def init_target(self, n: int) -> dict[str, Any]:
        """The further state of n targets, by names other than `rate`."""

    @abstractmethod
    def step_target(self, state: Any, rate: jax.Array, dt: float) -> tuple[Any, Any, Any]:
        """Gain and loss [1/ms] of each target at its rate, and the further state after a step."""

    def bounds(self) -> tuple[Any, Any]:
        return self.w_min, self.w_max

    def intervals(self) -> tuple[Any, Any]:
        return (self.interval if self.activity == "spikes" else None), None

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
            trace, acts_for = self._low_pass(), dt * self.interval.n_steps
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


class Hebb(ActivityRule):
    """Hebb's rule: weights grow with the product of the activities, and decay.

    Equations: `dw/dt = eta pre post - decay w`; w stays in its bounds.

    `activity` "spikes" takes as pre and post the spikes low-passed with tau_rate [Hz], and changes
    all weights once per `interval`, by `interval` times the right side: a run takes less time for
    a longer one, and changes are of first order in it. They come in the step after each multiple
    of it: `interval = 1` at dt = 0.1 ms acts in step 11, whose end is t = 1.1 ms, and delivers
    the spikes of step 10 with the new weights.

    "rate" is for units whose activity is their voltage, with `release=Graded()`: pre is what the
    source releases, post the rate of the target, and weights change in every step. A source that
    releases exactly 0 is not read, so in that step its weights stay.

    Reference:
        Hebb (1949), The organization of behavior; as in Gerstner et al. (2014), Neuronal Dynamics,
        sec. 19.2, doi:10.1017/CBO9781107447615.
    """

    eta: Parameter = param(doc="size of a change per ms")
    decay: Parameter = param(0.0, unit="1/ms", at_least=0.0, doc="rate of the decay")
    activity: str = field(
        OneOf("spikes", "rate"), default="spikes", static=True, doc="what pre and post are"
    )
    tau_rate: Parameter = param(
        100.0, unit="ms", above=0.0, doc="time constant of the low-passed spikes"
    )
    interval: float | InSteps = field(
        Duration(above=0.0, used=("activity", "spikes")),
        default=1.0,
        static=True,
        doc="time from one change to the next, with spikes",
    )
    w_min: float | None = field(
        Maybe(Number()), default=0.0, static=True, doc="smallest weight, None for none"
    )
    w_max: float | None = field(
        Maybe(Number()), default=None, static=True, doc="largest weight, None for none"
    )

    def time_constants(self) -> dict[str, Any]:
        return {"rate": self.tau_rate}

    def init_target(self, n: int) -> dict[str, Any]:
        return {}

    def step_target(self, state: Any, rate: jax.Array, dt: float) -> tuple[Any, Any, Any]:
        return self.eta * rate, jnp.broadcast_to(self.decay, rate.shape), state


class Oja(ActivityRule):
    """Hebbian rule with a loss that keeps the length of the weight vector of a target at 1.

    Equations: `dw/dt = eta (pre post - post^2 w)`; w stays in its bounds. For a linear unit,
    `w_min = None` and weights of both signs, w goes to the first principal component of the input.

    `activity` "spikes" takes as pre and post the spikes low-passed with tau_rate [Hz], and changes
    all weights once per `interval`, by `interval` times the right side: a run takes less time for
    a longer one, and changes are of first order in it. They come in the step after each multiple
    of it: `interval = 1` at dt = 0.1 ms acts in step 11, whose end is t = 1.1 ms, and delivers
    the spikes of step 10 with the new weights.

    "rate" is for units whose activity is their voltage, with `release=Graded()`: pre is what the
    source releases, post the rate of the target, and weights change in every step. A source that
    releases exactly 0 is not read, so in that step its weights stay.

    Reference:
        Oja (1982), A simplified neuron model as a principal component analyzer, J. Math. Biol. 15,
        267-273, doi:10.1007/BF00275687.
    """

    eta: Parameter = param(doc="size of a change per ms")
    activity: str = field(
        OneOf("spikes", "rate"), default="spikes", static=True, doc="what pre and post are"
    )
    tau_rate: Parameter = param(
        100.0, unit="ms", above=0.0, doc="time constant of the low-passed spikes"
    )
    interval: float | InSteps = field(
        Duration(above=0.0, used=("activity", "spikes")),
        default=1.0,
        static=True,
        doc="time from one change to the next, with spikes",
    )
    w_min: float | None = field(
        Maybe(Number()), default=0.0, static=True, doc="smallest weight, None for none"
    )
    w_max: float | None = field(
        Maybe(Number()), default=None, static=True, doc="largest weight, None for none"
    )

    def time_constants(self) -> dict[str, Any]:
        return {"rate": self.tau_rate}

    def init_target(self, n: int) -> dict[str, Any]:
        return {}

    def step_target(self, state: Any, rate: jax.Array, dt: float) -> tuple[Any, Any, Any]:
        return self.eta * rate, self.eta * rate * rate, state


class BCM(ActivityRule):
    """Hebbian rule that depresses below and potentiates above a threshold, which slides.

    Equations: `dw/dt = eta pre post (post - theta)`, `tau dtheta/dt = post^2 / target - theta`;
    w stays in its bounds. theta rises faster than post, so that the activity settles: at a
    constant post, where both are `target`.

    `activity` "spikes" takes as pre and post the spikes low-passed with tau_rate [Hz], and changes
    all weights once per `interval`, by `interval` times the right side: a run takes less time for
    a longer one, and changes are of first order in it. They come in the step after each multiple
    of it: `interval = 1` at dt = 0.1 ms acts in step 11, whose end is t = 1.1 ms, and delivers
    the spikes of step 10 with the new weights.

    "rate" is for units whose activity is their voltage, with `release=Graded()`: pre is what the
    source releases, post the rate of the target, and weights change in every step. A source that
    releases exactly 0 is not read, so in that step its weights stay.

    Reference:
        Bienenstock, Cooper, Munro (1982), Theory for the development of neuron selectivity, J.
        Neurosci. 2, 32-48; the threshold of Intrator and Cooper (1992), Objective
        function formulation of the BCM theory of visual cortical plasticity, Neural Netw. 5, 3-17.
    """

    eta: Parameter = param(doc="size of a change per ms")
    target: Parameter = param(above=0.0, doc="activity that a target settles at, [Hz] with spikes")
    tau: Parameter = param(
        1000.0, unit="ms", above=0.0, doc="time constant of theta, which starts at `target`"
    )
    activity: str = field(
        OneOf("spikes", "rate"), default="spikes", static=True, doc="what pre and post are"
    )
    tau_rate: Parameter = param(
        100.0, unit="ms", above=0.0, doc="time constant of the low-passed spikes"
    )
    interval: float | InSteps = field(
        Duration(above=0.0, used=("activity", "spikes")),
        default=1.0,
        static=True,
        doc="time from one change to the next, with spikes",
    )
    w_min: float | None = field(
        Maybe(Number()), default=0.0, static=True, doc="smallest weight, None for none"
    )
    w_max: float | None = field(
        Maybe(Number()), default=None, static=True, doc="largest weight, None for none"
    )

    def time_constants(self) -> dict[str, Any]:
        return {"rate": self.tau_rate, "theta": self.tau}

    def init_target(self, n: int) -> dict[str, Any]:
        return {"theta": jnp.full(n, self.target)}

    def step_target(self, state: Any, rate: jax.Array, dt: float) -> tuple[Any, Any, Any]:
        theta, settled = state["theta"], rate * rate / self.target
        gain = self.eta * rate * (rate - theta)
        theta = settled + (theta - settled) * jnp.exp(-dt / self.tau)
        return gain, jnp.zeros_like(rate), {"theta": theta}
