"""Transmitter concentrations that spikes set: the kinetics of lixirnet."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Release
from ._at_spikes import at_spikes


class TransmitterState(NamedTuple):
    """State of the transmitter of n source neurons.

    **Fields** `t` [mM] (n,): its concentration.
    """

    t: jax.Array


class ClearedTransmitter(Release):
    """Transmitter that a spike fills up and clearance removes.

    Equations: `dT/dt = -clearance T`, `T += t_max` at a spike, kept between 0 and `t_max`. Update:
    forward Euler, as in lixirnet, where it is ApproximateNeurotransmitter:
    `T + dt (-clearance T) + t_max spike`.

    **Fields** each () or (n,): `t_max` [mM] the largest concentration; `clearance` [1/ms] rate at
    which it goes.

    **Step** returns T at the end of the step, (n,), in every step.

    **Raises** `ValueError` unless both are at least 0.

    **Source** https://github.com/NikhilMukraj/spiking-neural-networks.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = {"t": (0.0, "t_max")}

    t_max: Parameter = param(1.0, unit="mM", at_least=0.0)
    clearance: Parameter = param(0.01, unit="1/ms", at_least=0.0)

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

    **Fields** each () or (n,): `t_max` [mM] the largest concentration; `tau` [ms] as above.

    **Step** returns T at the end of the step, (n,), in every step.

    **Raises** `ValueError` unless `t_max >= 0` and `tau > 0`.

    **Source** https://github.com/NikhilMukraj/spiking-neural-networks.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = {"t": (0.0, "t_max")}

    t_max: Parameter = param(1.0, unit="mM", at_least=0.0)
    tau: Parameter = param(2.0, unit="ms", above=0.0)

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

    **Fields** `t_max` [mM], () or (n,): concentration at a spike.

    **Step** returns T, (n,).

    **Raises** `ValueError` unless `t_max` is at least 0.

    **Source** https://github.com/NikhilMukraj/spiking-neural-networks.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = {"t": (0.0, "t_max")}

    t_max: Parameter = param(1.0, unit="mM", at_least=0.0)

    def init(self, n: int) -> TransmitterState:
        return TransmitterState(jnp.zeros(n, self.t_max.dtype))

    def step(
        self, state: TransmitterState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[TransmitterState, jax.Array]:
        t = at_spikes(spikes, self.t_max)
        return TransmitterState(t), t
