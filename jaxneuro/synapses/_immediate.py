"""Synapses without a state: what arrives goes to the neuron in the same step."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax

from .._fields import static
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


class DirectState(NamedTuple):
    """Empty: what arrives is passed on at once."""


class Direct(Synapse):
    """Passes what arrives at the end of a step to a port of the neuron, without kinetics.

    For neurons whose synaptic currents are part of their own state (`IafPscExp`, `IafPscAlpha`)
    and for rate units. The neuron determines the meaning and the unit of the numbers.

    **Fields** `port` one of the neuron's ports (`type(neuron).ports`).

    **Step** `arrivals` (n,) become `drive.arrivals[port]`.

    **Raises** `ValueError` from `build` for a port that the target does not have.
    """

    port: str = static("input")

    def init(self, n: int) -> DirectState:
        return DirectState()

    def step(
        self, state: DirectState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[DirectState, Drive]:
        return state, Drive(arrivals={self.port: arrivals})
