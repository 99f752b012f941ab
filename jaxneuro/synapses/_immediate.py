"""Synapses without a state: what arrives goes to the neuron in the same step."""

from typing import NamedTuple

import jax

from .._model import Drive, Synapse
from ..spec import Name, field


class DeltaState(NamedTuple):
    """Empty: a delta synapse has no state."""


class Delta(Synapse):
    """Delta synapse: `v += w` [mV] when a spike arrives.

    Equations: `dv/dt = sum_k w delta(t - t_k)`. Update: exact; the arrivals of a step are
    added after the membrane has moved and before the threshold is tested, and are lost
    while the neuron is refractory.

    Arrivals [mV] become `drive.jump`.

    Reference:
        Brunel (2000), Dynamics of sparsely connected networks of excitatory and inhibitory spiking
        neurons, eq. 2, doi:10.1023/A:1008925309027.
    """

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

    What arrives becomes `drive.arrivals[port]`; `build` refuses a port that the target does not
    have.
    """

    port: str = field(
        Name(),
        default="input",
        static=True,
        doc="one of the ports of the neuron (`type(neuron).ports`)",
    )

    def init(self, n: int) -> DirectState:
        return DirectState()

    def step(
        self, state: DirectState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[DirectState, Drive]:
        return state, Drive(arrivals={self.port: arrivals})
