"""The rule of Oja (1982), which finds the first principal component."""

from typing import Any

import jax

from .._fields import Parameter, param, static
from ._activity import ActivityRule


class Oja(ActivityRule):
    """Hebbian rule with a loss that keeps the length of the weight vector of a target at 1.

    Equations: `dw/dt = eta (pre post - post^2 w)`; w stays in its bounds. For a linear unit,
    `w_min = None` and weights of both signs, w goes to the first principal component of the input.

    `activity` "spikes" takes as pre and post the spikes low-passed with tau_rate [Hz], and changes
    all weights every `every` steps, by `every` dt times the right side: the time of a step
    falls with `every`, and changes are of first order in it. "rate" is for units whose activity
    is their voltage, with `release=Graded()`: pre is what the source releases, post the rate
    of the target, and weights change in every step. A source that releases exactly 0 is not
    read, so in that step its weights stay.

    **Fields** `eta` size of a change per ms;
    `activity` "spikes" or "rate"; `tau_rate` [ms] of the low-passed spikes;
    `every` so many steps weights change, with spikes; `w_min`, `w_max` smallest and largest
    weight, None for none.

    **Raises** `ValueError` for a time constant not above 0, a value that is not finite, an unknown
    `activity`, `every` below 1, or `w_min >= w_max`.

    **Source** Oja (1982), A simplified neuron model as a principal component analyzer, J. Math.
    Biol. 15, 267-273, doi:10.1007/BF00275687.
    """

    eta: Parameter = param()
    activity: str = static("spikes")
    tau_rate: Parameter = param(100.0, unit="ms", above=0.0)
    every: int = static(10)
    w_min: float | None = static(0.0)
    w_max: float | None = static(None)

    def init_target(self, n: int) -> dict[str, Any]:
        return {}

    def step_target(self, state: Any, rate: jax.Array, dt: float) -> tuple[Any, Any, Any]:
        return self.eta * rate, self.eta * rate * rate, state
