"""Relay: hands on the spikes that reach it, as the parrot neuron of NEST does."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from .._types import Drive, Neuron


class RelayState(NamedTuple):
    """State of n relays.

    **Fields** `spikes` bool (n,): who spiked in the last step.
    """

    spikes: jax.Array


class Relay(Neuron):
    """Spikes in every step in which a spike reaches it: a source that any stimulus drives.

    It has no membrane: with `Delta` synapses of weight 1 it spikes where the summed weights of a
    step, `drive.jump`, are at least 1/2. A stimulus of spikes so becomes a population that
    projects, is recorded and is the same for all its targets: replay is a relay with
    `SpikeTimes`, a Poisson source one with `Poisson`, and `Gamma`, `PulsePackets`, ... alike::

        jn.Population("input", 100, jn.neurons.Relay())
        given, delta = jn.stimuli.SpikeTimes(times), jn.synapses.Delta()
        jn.Stimulation("input", given, weight=1.0, synapse=delta)

    A spike given for time t is the relay's spike at t. Several in one step are one.

    **Step** `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` from `build` for a drive that is no jump.

    **Source** as parrot_neuron of Gewaltig and Diesmann (2007), NEST,
    doi:10.4249/scholarpedia.1430.

    **Differs** from NEST: one spike a step at most.
    """

    def init(self, n: int) -> RelayState:
        return RelayState(jnp.zeros(n, bool))

    def step(self, state: RelayState, drive: Drive, dt: float) -> tuple[RelayState, jax.Array]:
        if drive.jump is None:
            spikes = jnp.zeros_like(state.spikes)
        else:
            spikes = jnp.broadcast_to(drive.jump >= 0.5, state.spikes.shape)
        return RelayState(spikes), spikes
