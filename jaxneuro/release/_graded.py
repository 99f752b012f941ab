"""Graded release: the activity itself is delivered in every step."""

from typing import NamedTuple

import jax

from .._types import Release


class GradedState(NamedTuple):
    """Empty: graded release has no state."""


class Graded(Release):
    """Graded release: a source delivers its activity times its weights in every step.

    The activity is what the neuron gives as its voltage: the rate r of a rate unit, v of others.
    Every step reads every row of the connections, so that its time grows with all synapses.

    **Step** returns the activity at the end of the step, (n,).

    **Source** Dayan and Abbott (2001), Theoretical Neuroscience, sec. 7.2, ISBN 9780262041997.
    """

    def init(self, n: int) -> GradedState:
        return GradedState()

    def step(
        self, state: GradedState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[GradedState, jax.Array]:
        return state, v
