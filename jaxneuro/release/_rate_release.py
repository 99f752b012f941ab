"""Release of the rate: a filtered spike train, from spiking neurons to rate units.

Dayan and Abbott (2001), Theoretical Neuroscience, sec. 1.2.
"""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Release
from ._at_spikes import at_spikes, decay


class RateReleaseState(NamedTuple):
    """State of the rates of n source neurons.

    **Fields** `r` [Hz] (n,).
    """

    r: jax.Array


class RateRelease(Release):
    """Release of the rate: the spike train seen through an exponential window, in every step.

    Equations: `tau dr/dt = -r`, and a spike adds `1000 (1 - exp(-dt/tau)) / dt` Hz, which is
    `1000 / tau` for short steps: spikes of the rate q [Hz] give r the mean q, whatever dt. Every
    step reads every row of the connections.

    **Fields** `tau` [ms], () or (n,): length of the window.

    **Step** returns r [Hz] at the end of the step, its spike included, (n,).

    **Raises** `ValueError` unless `tau` is above 0.

    **Source** Dayan and Abbott (2001), Theoretical Neuroscience, sec. 1.2, ISBN 9780262041997.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = {"r": (0.0, None)}

    tau: Parameter = param(20.0, unit="ms", above=0.0)

    def init(self, n: int) -> RateReleaseState:
        return RateReleaseState(jnp.zeros(n, self.tau.dtype))

    def step(
        self, state: RateReleaseState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[RateReleaseState, jax.Array]:
        loss = decay(self.tau, dt)
        r = state.r + state.r * loss + at_spikes(spikes, -loss * (1000.0 / dt))
        return RateReleaseState(r), r
