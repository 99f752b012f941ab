"""Direct: arrivals go to the neuron as they are, for one that keeps its synapses itself."""

from typing import NamedTuple

import jax

from .._fields import static
from .._types import Drive, Synapse


class DirectState(NamedTuple):
    """Nothing: what arrives is handed over at once."""


class Direct(Synapse):
    """Hands what arrives at the end of a step to a port of the neuron, with no kinetics.

    For neurons whose synaptic currents are part of their own state (`IafPscExp`, `IafPscAlpha`)
    and for rate units. What the numbers mean, and their unit, is the neuron's.

    **Fields** `port` one of the neuron's ports (`type(neuron).ports`).

    **Step** `arrivals` (n,) become `drive.arrivals[port]`.

    **Raises** `ValueError` from `build` for a port that the target has not.
    """

    port: str = static("input")

    def init(self, n: int) -> DirectState:
        return DirectState()

    def step(
        self, state: DirectState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[DirectState, Drive]:
        return state, Drive(arrivals={self.port: arrivals})
