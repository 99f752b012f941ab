"""Direct: passes arrivals on unchanged, to neurons that keep their synaptic currents themselves."""

from typing import NamedTuple

import jax

from .._fields import static
from .._types import Drive, Synapse


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
