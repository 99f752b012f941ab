"""The rule of Bienenstock, Cooper and Munro (1982), with a threshold that slides."""

from typing import Any

import jax
import jax.numpy as jnp

from .._fields import Parameter, param, static
from ._activity import ActivityRule


class BCM(ActivityRule):
    """Hebbian rule that depresses below and potentiates above a threshold, which slides.

    Equations: `dw/dt = eta pre post (post - theta)`, `tau dtheta/dt = post^2 / target - theta`;
    w stays in its bounds. theta rises faster than post, so that the activity settles: at a
    constant post, where both are `target`.

    `activity` "spikes" takes as pre and post the spikes low-passed with tau_rate [Hz], and changes
    all weights every `every` steps, by `every` dt times the right side: the time of a step
    falls with `every`, and changes are of first order in it. "rate" is for units whose activity
    is their voltage, with `release=Graded()`: pre is what the source releases, post the rate
    of the target, and weights change in every step. A source that releases exactly 0 is not
    read, so in that step its weights stay.

    **Fields** `eta` size of a change per ms; `target` activity, [Hz] with spikes; `tau` [ms] time
    constant of theta, which starts at `target`;
    `activity` "spikes" or "rate"; `tau_rate` [ms] of the low-passed spikes;
    `every` so many steps weights change, with spikes; `w_min`, `w_max` smallest and largest
    weight, None for none.

    **Raises** `ValueError` for a time constant not above 0, a value that is not finite, an unknown
    `activity`, `every` below 1, or `w_min >= w_max`.

    **Source** Bienenstock, Cooper, Munro (1982), Theory for the development of neuron selectivity,
    J. Neurosci. 2, 32-48; the threshold of Intrator and Cooper (1992), Neural Netw. 5, 3-17.
    """

    eta: Parameter = param()
    target: Parameter = param(above=0.0)
    tau: Parameter = param(1000.0, unit="ms", above=0.0)
    activity: str = static("spikes")
    tau_rate: Parameter = param(100.0, unit="ms", above=0.0)
    every: int = static(10)
    w_min: float | None = static(0.0)
    w_max: float | None = static(None)

    def init_target(self, n: int) -> dict[str, Any]:
        return {"theta": jnp.full(n, self.target)}

    def step_target(self, state: Any, rate: jax.Array, dt: float) -> tuple[Any, Any, Any]:
        theta, settled = state["theta"], rate * rate / self.target
        gain = self.eta * rate * (rate - theta)
        theta = settled + (theta - settled) * jnp.exp(-dt / self.tau)
        return gain, jnp.zeros_like(rate), {"theta": theta}
