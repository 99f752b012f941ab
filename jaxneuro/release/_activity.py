"""Release without a memory of use: spikes as they are, their rate, the activity itself."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._kernels.short_term import at_spikes
from .._model import Release
from ._short_term import decay


class SpikesState(NamedTuple):
    """Empty: plain spikes have no state."""


class Spikes(Release):
    """Plain spikes: the release value is 1 in a step with a spike and 0 otherwise.

    The network has spikes as bits already, so this release costs nothing.
    """

    plain: ClassVar[bool] = True

    def init(self, n: int) -> SpikesState:
        return SpikesState()

    def step(
        self, state: SpikesState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[SpikesState, jax.Array]:
        return state, spikes


class RateReleaseState(NamedTuple):
    """State of the rates of n source neurons.

    Attributes:
        r: rate (n,) [Hz].
    """

    r: jax.Array


class RateRelease(Release):
    """Release of the rate: the spike train seen through an exponential window, in every step.

    Equations: `tau dr/dt = -r`, and a spike adds `1000 (1 - exp(-dt/tau)) / dt` Hz, which is
    `1000 / tau` for short steps: spikes of the rate q [Hz] give r the mean q, whatever dt. Every
    step reads every row of the connections.

    What is released in a step is r [Hz] at its end, its spike included.

    Reference:
        Dayan and Abbott (2001), Theoretical Neuroscience, sec. 1.2, ISBN 9780262041997.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = {"r": (0.0, None)}

    tau: Parameter = param(20.0, unit="ms", above=0.0, doc="length of the window")

    def time_constants(self) -> dict[str, Any]:
        return {"r": self.tau}

    def init(self, n: int) -> RateReleaseState:
        return RateReleaseState(jnp.zeros(n, self.tau.dtype))

    def step(
        self, state: RateReleaseState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[RateReleaseState, jax.Array]:
        loss = decay(self.tau, dt)
        r = state.r + state.r * loss + at_spikes(spikes, -loss * (1000.0 / dt))
        return RateReleaseState(r), r


class GradedState(NamedTuple):
    """Empty: graded release has no state."""


class Graded(Release):
    """Graded release: a source delivers its activity times its weights in every step.

    The activity is what the neuron gives as its voltage: the rate r of a rate unit, v of others.
    Every step reads every row of the connections, so that its time grows with all synapses. A
    voltage is negative at rest: it, and rates that may be negative, reach no receptor whose
    channels arrivals open. `VoltageRelease` makes a transmitter of a voltage.

    What is released in a step is the activity at its end. `build` refuses neurons without a voltage
    or a rate, and a receptor whose weights must have one sign unless the rate is never negative.

    Reference:
        Dayan and Abbott (2001), Theoretical Neuroscience, sec. 7.2, ISBN 9780262041997.
    """

    reads: ClassVar[str] = "activity"

    def init(self, n: int) -> GradedState:
        return GradedState()

    def step(
        self, state: GradedState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[GradedState, jax.Array]:
        return state, v
