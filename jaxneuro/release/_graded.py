"""Graded release: the activity itself is delivered in every step."""

from typing import ClassVar, NamedTuple

import jax

from .._types import Release


class GradedState(NamedTuple):
    """Empty: graded release has no state."""


class Graded(Release):
    """Graded release: a source delivers its activity times its weights in every step.

    The activity is what the neuron gives as its voltage: the rate r of a rate unit, v of others.
    Every step reads every row of the connections, so that its time grows with all synapses. A
    voltage is negative at rest: it, and rates that may be negative, reach no receptor whose
    channels arrivals open. `VoltageRelease` makes a transmitter of a voltage.

    **Step** returns the activity at the end of the step, (n,).

    **Raises** `ValueError` from `build` for neurons without a voltage or a rate, and for a receptor
    whose weights must have one sign unless the rate is never negative.

    **Source** Dayan and Abbott (2001), Theoretical Neuroscience, sec. 7.2, ISBN 9780262041997.
    """

    reads: ClassVar[str] = "activity"

    def init(self, n: int) -> GradedState:
        return GradedState()

    def step(
        self, state: GradedState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[GradedState, jax.Array]:
        return state, v
