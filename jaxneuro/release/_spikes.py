"""Plain spikes: a source delivers its full weights when it spikes."""

from typing import ClassVar, NamedTuple

import jax

from .._types import Release


class SpikesState(NamedTuple):
    """Empty: plain spikes have no state."""


class Spikes(Release):
    """Plain spikes: the release value is 1 in a step with a spike and 0 otherwise.

    **Step** returns the spikes unchanged. The network has them as bits already, so this release
    costs nothing.
    """

    plain: ClassVar[bool] = True

    def init(self, n: int) -> SpikesState:
        return SpikesState()

    def step(
        self, state: SpikesState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[SpikesState, jax.Array]:
        return state, spikes
