"""Hebb's rule (1949) with a decay."""

from typing import Any

import jax
import jax.numpy as jnp

from .._fields import Parameter, param, static
from ._activity import ActivityRule


class Hebb(ActivityRule):
    """Hebb's rule: weights grow with the product of the activities, and decay.

    Equations: `dw/dt = eta pre post - decay w`; w stays in its bounds.

    `activity` "spikes" takes as pre and post the spikes low-passed with tau_rate [Hz], and changes
    all weights every `every` steps, by `every` dt times the right side: the time of a step
    falls with `every`, and changes are of first order in it. "rate" is for units whose activity
    is their voltage, with `release=Graded()`: pre is what the source releases, post the rate
    of the target, and weights change in every step. A source that releases exactly 0 is not
    read, so in that step its weights stay.

    **Fields** `eta` size of a change per ms; `decay` [1/ms] rate of the decay, at least 0;
    `activity` "spikes" or "rate"; `tau_rate` [ms] of the low-passed spikes;
    `every` so many steps weights change, with spikes; `w_min`, `w_max` smallest and largest
    weight, None for none.

    **Raises** `ValueError` for a time constant not above 0, a value that is not finite, an unknown
    `activity`, `every` below 1, or `w_min >= w_max`.

    **Source** Hebb (1949), The organization of behavior; as in Gerstner et al. (2014), Neuronal
    Dynamics, sec. 19.2, doi:10.1017/CBO9781107447615.
    """

    eta: Parameter = param()
    decay: Parameter = param(0.0, unit="1/ms", at_least=0.0)
    activity: str = static("spikes")
    tau_rate: Parameter = param(100.0, unit="ms", above=0.0)
    every: int = static(10)
    w_min: float | None = static(0.0)
    w_max: float | None = static(None)

    def init_target(self, n: int) -> dict[str, Any]:
        return {}

    def step_target(self, state: Any, rate: jax.Array, dt: float) -> tuple[Any, Any, Any]:
        return self.eta * rate, jnp.broadcast_to(self.decay, rate.shape), state
