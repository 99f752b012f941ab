"""Concentrations of transmitter that spikes or the voltage set: the kinetics of lixirnet."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._kernels.short_term import at_spikes
from .._model import Release
from ..spec import InvalidValueError


class TransmitterState(NamedTuple):
    """State of the transmitter of n source neurons.

    Attributes:
        t: concentration (n,) [mM].
    """

    t: jax.Array


class ClearedTransmitter(Release):
    """Transmitter that a spike fills up and clearance removes.

    Equations: `dT/dt = -clearance T`, `T += t_max` at a spike, kept between 0 and `t_max`. Update:
    forward Euler, as in lixirnet, where it is ApproximateNeurotransmitter:
    `T + dt (-clearance T) + t_max spike`.

    What is released, in every step, is T at its end.

    Reference:
        https://github.com/NikhilMukraj/spiking-neural-networks.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = {"t": (0.0, "t_max")}

    t_max: Parameter = param(1.0, unit="mM", at_least=0.0, doc="largest concentration")
    clearance: Parameter = param(0.01, unit="1/ms", at_least=0.0, doc="rate at which it goes")

    def time_constants(self) -> dict[str, Any]:
        return {"t": 1.0 / self.clearance}

    def init(self, n: int) -> TransmitterState:
        return TransmitterState(jnp.zeros(n, jnp.result_type(self.t_max, self.clearance)))

    def step(
        self, state: TransmitterState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[TransmitterState, jax.Array]:
        left = state.t - dt * self.clearance * state.t
        t = jnp.clip(left + at_spikes(spikes, self.t_max), 0.0, self.t_max)
        return TransmitterState(t), t


class DecayingTransmitter(Release):
    """Transmitter that a spike fills up and that loses most of itself in every step.

    Update: `T - T exp(-dt/tau) + t_max spike`, kept between 0 and `t_max`, as lixirnet's
    ExponentialDecayNeurotransmitter. A step leaves the fraction `1 - exp(-dt/tau)`, the less the
    shorter it is: this is no differential equation. `ClearedTransmitter` is one.

    What is released, in every step, is T at its end.

    Reference:
        https://github.com/NikhilMukraj/spiking-neural-networks.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = {"t": (0.0, "t_max")}

    t_max: Parameter = param(1.0, unit="mM", at_least=0.0, doc="largest concentration")
    tau: Parameter = param(2.0, unit="ms", above=0.0, doc="time constant of the loss, as above")

    def init(self, n: int) -> TransmitterState:
        return TransmitterState(jnp.zeros(n, jnp.result_type(self.t_max, self.tau)))

    def step(
        self, state: TransmitterState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[TransmitterState, jax.Array]:
        left = -jnp.expm1(-dt / self.tau) * state.t
        t = jnp.clip(left + at_spikes(spikes, self.t_max), 0.0, self.t_max)
        return TransmitterState(t), t


class PulsedTransmitter(Release):
    """Transmitter that is there in the step of a spike and gone in the next.

    Update: `T = t_max spike`, lixirnet's DiscreteSpikeNeurotransmitter.

    What is released is T.

    Reference:
        https://github.com/NikhilMukraj/spiking-neural-networks.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = {"t": (0.0, "t_max")}

    t_max: Parameter = param(1.0, unit="mM", at_least=0.0, doc="concentration at a spike")

    def init(self, n: int) -> TransmitterState:
        return TransmitterState(jnp.zeros(n, self.t_max.dtype))

    def step(
        self, state: TransmitterState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[TransmitterState, jax.Array]:
        t = at_spikes(spikes, self.t_max)
        return TransmitterState(t), t


class VoltageReleaseState(NamedTuple):
    """Empty: release from the voltage has no state."""


class VoltageRelease(Release):
    """Release from the voltage: a transmitter concentration that v sets in every step.

    Equation: `t_max / (1 + exp(-(v - v_half) / slope))`. It is that of lixirnet's
    DestexheNeurotransmitter, with its constants. Every step reads every row of the connections.

    What is released in a step is the concentration of the voltage v at its end; it needs neurons
    with a voltage in mV.

    Reference:
        Destexhe, Mainen, Sejnowski (1994), Synthesis of models for excitable membranes, synaptic
        transmission and neuromodulation using a common kinetic formalism, doi:10.1007/BF00961734;
        https://github.com/NikhilMukraj/spiking-neural-networks.
    """

    reads: ClassVar[str] = "voltage"

    t_max: Parameter = param(1.0, unit="mM", at_least=0.0, doc="largest concentration")
    v_half: Parameter = param(2.0, unit="mV", least=0.0, doc="voltage at which it is half of that")
    slope: Parameter = param(
        5.0, unit="mV", above=0.0, least=0.005, doc="range of voltage over which it rises"
    )

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
            must = "neurons with a voltage"
            raise InvalidValueError("VoltageRelease", "source", must, "neurons without one")
        return state, self.t_max * jax.nn.sigmoid((v - self.v_half) / self.slope)
