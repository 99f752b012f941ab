"""Graded release from the voltage.

Destexhe, Mainen, Sejnowski (1994, 1998).
"""

from typing import ClassVar, NamedTuple

import jax

from .._fields import Parameter, param
from .._types import Release


class VoltageReleaseState(NamedTuple):
    """Empty: release from the voltage has no state."""


class VoltageRelease(Release):
    """Release from the voltage: a transmitter concentration that v sets in every step.

    Equation: `t_max / (1 + exp(-(v - v_half) / slope))`. It is that of lixirnet's
    DestexheNeurotransmitter, with its constants. Every step reads every row of the connections.

    **Fields** each () or (n,): `t_max` [mM] the largest concentration; `v_half` [mV] where it is
    half of that; `slope` [mV] over how much it rises.

    **Step** returns the concentration of the voltage v at the end of the step, (n,).

    **Raises** `ValueError` unless `t_max >= 0` and `slope > 0`, and for neurons without a voltage
    in mV.

    **Source** Destexhe, Mainen, Sejnowski (1994), doi:10.1007/BF00961734;
    https://github.com/NikhilMukraj/spiking-neural-networks.
    """

    reads: ClassVar[str] = "voltage"

    t_max: Parameter = param(1.0, unit="mM", at_least=0.0)
    v_half: Parameter = param(2.0, unit="mV", least=0.0)
    slope: Parameter = param(5.0, unit="mV", above=0.0, least=0.005)

    @classmethod
    def gaba_b(cls) -> "VoltageRelease":
        """With lixirnet's concentration for GABA-B receptors, 0.5 mM."""
        return cls(t_max=0.5)

    def init(self, n: int) -> VoltageReleaseState:
        return VoltageReleaseState()

    def step(
        self, state: VoltageReleaseState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[VoltageReleaseState, jax.Array]:
        if v is None:
            raise ValueError(
                "VoltageRelease: graded release needs a neuron with a voltage; this one has none. "
                "Give its spikes a release of their own, such as RateRelease"
            )
        return state, self.t_max * jax.nn.sigmoid((v - self.v_half) / self.slope)
