"""STDP gated by a reward, through eligibility traces: Izhikevich (2007)."""

from typing import Any, ClassVar

import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Plasticity, Trace
from ..spec import Less, Name, field


class RewardModulatedSTDP(Plasticity):
    """STDP that writes into an eligibility trace, which a reward turns into a change of weight.

    Equations: `dw/dt = c (n - baseline)`, `dc/dt = -c / tau_c`, `dn/dt = -n / tau_n`. A
    postsynaptic spike gives `c += a_plus x`, a presynaptic one `c -= a_minus y`; x and y are traces
    of the presynaptic and the postsynaptic spikes, and all pairs count. n, the dopamine, is one
    number for all synapses; the named input `reward` of a run is added to it at the end of each
    step.

    Update: exact. c and n decay within a step as between steps, and between two events at a
    synapse w changes by the integral of c (n - baseline), in closed form. w is brought into
    [w_min, w_max] when an event is handled; in between it may pass a bound and come back.

    A synapse must be brought up to date at least every 4096 steps, which the kernels see to. In
    float32 tau_c should be at least 300 steps: for a shorter one, the integral loses digits.

    Reference:
        Izhikevich (2007), Solving the distal reward problem through linkage of STDP and dopamine
        signaling, Cereb. Cortex 17, 2443-2452, doi:10.1093/cercor/bhl152; Potjans, Morrison,
        Diesmann (2010), Enabling functional neural circuit simulations with distributed computing
        of neuromodulated plasticity, doi:10.3389/fncom.2010.00141; as stdp_dopamine_synapse of
        NEST.

    Note:
        In NEST a spike of its dopamine neurons adds 1 / tau_n to n, so that it is an input of
        1 / tau_n here; NEST also clips w at each of these spikes.
    """

    needs_spikes: ClassVar[bool] = True
    own_digits: ClassVar[tuple[str, ...]] = ("n",)

    a_plus: Parameter = param(1.0, doc="what a trace of 1 adds to c")
    a_minus: Parameter = param(1.5, doc="what a trace of 1 takes from c")
    tau_plus: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant of x")
    tau_minus: Parameter = param(20.0, unit="ms", above=0.0, doc="time constant of y")
    tau_c: Parameter = param(1000.0, unit="ms", above=0.0, doc="time constant of c")
    tau_n: Parameter = param(200.0, unit="ms", above=0.0, doc="time constant of n")
    baseline: Parameter = param(0.0, doc="n at which weights rest")
    w_max: Parameter = param(200.0, doc="largest weight")
    w_min: Parameter = param(0.0, doc="smallest weight")
    reward: str = field(
        Name(), default="reward", static=True, doc="name of the input that is added to n"
    )
    rules = (Less("w_min", "w_max"),)

    @property
    def signals(self) -> tuple[str, ...]:  # type: ignore[override]
        """The name of the input that is added to n."""
        return (self.reward,)

    def time_constants(self) -> dict[str, Any]:
        return {"c": self.tau_c, "n": self.tau_n}

    def pre_traces(self) -> dict[str, Trace]:
        return {"x": Trace(self.tau_plus)}

    def post_traces(self) -> dict[str, Trace]:
        return {"y": Trace(self.tau_minus)}

    def variables(self) -> dict[str, float]:
        return {"c": 0.0}

    def bounds(self) -> tuple[Any, Any]:
        return self.w_min, self.w_max

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"c": synapse.c + self.a_plus * pre.x}

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        return {"c": synapse.c - self.a_minus * post.y}

    def between(self, synapse: Any, elapsed: Any, start: Any, stop: Any) -> dict[str, Any]:
        lost = -jnp.expm1(-elapsed / self.tau_c)
        gained = integral(start, stop) - self.baseline * self.tau_c * lost
        return {
            "weight": synapse.weight + synapse.c * gained,
            "c": synapse.c * jnp.exp(-elapsed / self.tau_c),
        }

    def init_shared(self) -> dict[str, Any]:
        return started(self.tau_n.dtype)

    def step_shared(
        self, state: dict[str, Any], signals: dict[str, Any], dt: float
    ) -> dict[str, Any]:
        return advanced(state, signals[self.reward], self.tau_c, self.tau_n, dt)


# The integral of exp(-(t - s) / tau_c) n(t) from any s to any later time, from running sums.
#
# `G(t)`, the integral of exp(-t' / tau_c) n(t') up to t, is the same for all synapses, and what one
# of them needs is (G(t) - G(s)) exp(s / tau_c). Two things would spoil it:
#
# * The exponential leaves the range of a number. Time therefore counts from the start of a window
#   of 4096 steps. `now` is G of this window; `then` is G of this window and the one before, counted
#   from the start of that one. Times at most a window apart lie in one window or in adjacent ones.
# * G(t) - G(s) is a small difference of large numbers, and in float32 the factor exp(-dt / tau_n)
#   is off by so much that after thousands of steps it shows in n. All three are therefore kept as a
#   number and what its rounding lost: as many digits again.

WINDOW = 4096  # steps: the longest time that a synapse is left alone
NAMES = ("n", "n_rest", "window", "step", "fade", "fade_then")
SUMS = ("now", "now_rest", "then", "then_rest")


def started(dtype: Any) -> dict[str, Any]:
    """The sums at the start of a run.

    `n` the dopamine; `window` 0 or 1 by turns; `step` steps done in the window; `fade`
    exp(-t / tau_c) at t after its start, `fade_then` at t after the start of the one before.
    """
    return {name: jnp.full((), 1.0 if name == "fade" else 0.0, dtype) for name in NAMES + SUMS}


def advanced(state: dict[str, Any], signal: Any, tau_c: Any, tau_n: Any, dt: float) -> Any:
    """The sums a step later; n has decayed over it, and then taken the signal."""
    rate = 1.0 / tau_c + 1.0 / tau_n
    gained = state["n"] * (dt * _mean_decay(rate * dt))
    n = _plus(state["n"], state["n_rest"], -state["n"] * (dt / tau_n) * _mean_decay(dt / tau_n))
    n = _plus(*n, signal)
    now = _plus(state["now"], state["now_rest"], state["fade"] * gained)
    then = _plus(state["then"], state["then_rest"], state["fade_then"] * gained)
    step = state["step"] + 1.0
    full = step >= WINDOW
    # At the end of a window its sum becomes that of the one before, and a new one begins. The
    # factors are computed from the step: a product over the steps would drift.
    step = jnp.where(full, 0.0, step)
    window = jnp.where(full, 1.0 - state["window"], state["window"])
    begun = full | (state["fade_then"] > 0.0)  # in the first window nothing lies before
    fade = jnp.exp(-step * (dt / tau_c))
    return {
        "n": n[0],
        "n_rest": n[1],
        "window": window,
        "step": step,
        "fade": fade,
        "fade_then": jnp.where(begun, jnp.exp(-(step + WINDOW) * (dt / tau_c)), 0.0),
        "now": jnp.where(full, 0.0, now[0]),
        "now_rest": jnp.where(full, 0.0, now[1]),
        "then": jnp.where(full, now[0], then[0]),
        "then_rest": jnp.where(full, now[1], then[1]),
    }


def integral(start: Any, stop: Any) -> Any:
    """The integral of exp(-(t - s) / tau_c) n(t) over the time from start, s, to stop [ms]."""
    same = start.window == stop.window
    total = jnp.where(same, stop.now, stop.then)
    rest = jnp.where(same, stop.now_rest, stop.then_rest)
    return ((total - start.now) + (rest - start.now_rest)) / start.fade


def _mean_decay(x: Any) -> Any:
    """(1 - exp(-x)) / x, the mean of a decay over a step.

    An error of it would add up over thousands of steps: the series has none but its last rounding.
    """
    series = 1.0 - x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * (1.0 / 120.0 - x / 720.0))))
    return jnp.where(x < 0.02, series, -jnp.expm1(-x) / x)


def _plus(total: Any, rest: Any, x: Any) -> tuple[Any, Any]:
    """A sum with what its rounding lost, and x: Knuth's sum of two numbers."""
    x = x + rest
    new = total + x
    part = new - total
    return new, (total - (new - part)) + (x - part)
