"""The integral of exp(-(t - s) / tau_c) n(t) from any s to any later time, from running sums.

`G(t)`, the integral of exp(-t' / tau_c) n(t') up to t, is the same for all synapses, and what one
of them needs is (G(t) - G(s)) exp(s / tau_c). Two things would spoil it:

* The exponential leaves the range of a number. Time therefore counts from the start of a window
  of 4096 steps. `now` is G of this window; `then` is G of this window and the one before, counted
  from the start of that one. Times at most a window apart lie in one window or in adjacent ones.
* G(t) - G(s) is a small difference of large numbers, and in float32 the factor exp(-dt / tau_n)
  is off by so much that after thousands of steps it shows in n. All three are therefore kept as a
  number and what its rounding lost: as many digits again.
"""

from typing import Any

import jax.numpy as jnp

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


def _mean_decay(x: Any) -> Any:
    """(1 - exp(-x)) / x, the mean of a decay over a step.

    An error of it would add up over thousands of steps: the series has none but its last rounding.
    """
    series = 1.0 - x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * (1.0 / 120.0 - x / 720.0))))
    return jnp.where(x < 0.02, series, -jnp.expm1(-x) / x)


def integral(start: Any, stop: Any) -> Any:
    """The integral of exp(-(t - s) / tau_c) n(t) over the time from start, s, to stop [ms]."""
    same = start.window == stop.window
    total = jnp.where(same, stop.now, stop.then)
    rest = jnp.where(same, stop.now_rest, stop.then_rest)
    return ((total - start.now) + (rest - start.now_rest)) / start.fade


def _plus(total: Any, rest: Any, x: Any) -> tuple[Any, Any]:
    """A sum with what its rounding lost, and x: Knuth's sum of two numbers."""
    x = x + rest
    new = total + x
    part = new - total
    return new, (total - (new - part)) + (x - part)
