"""Delta synapse: an arrival makes the membrane potential jump."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax

from .._types import Drive, Synapse


class DeltaState(NamedTuple):
    """Empty: a delta synapse has no state."""


class Delta(Synapse):
    """Delta synapse: `v += w` [mV] when a spike arrives.

    Equations: `dv/dt = sum_k w delta(t - t_k)`. Update: exact; the arrivals of a step are
    added after the membrane has moved and before the threshold is tested, and are lost
    while the neuron is refractory.

    **Step** `arrivals` [mV] (n,) become `drive.jump`.

    **Source** Brunel (2000), eq. 2, doi:10.1023/A:1008925309027.
    """

    absent: ClassVar[Mapping[str, str]] = {
        "e_rev": "a jump of v has no reversal potential, ExponentialConductance has one"
    }

    def init(self, n: int) -> DeltaState:
        return DeltaState()

    def step(
        self, state: DeltaState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[DeltaState, Drive]:
        return state, Drive(jump=arrivals)
