"""Relay: repeats the spikes that reach it, as the parrot neuron of NEST does."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from .._types import Drive, Neuron


class RelayState(NamedTuple):
    """State of n relays.

    **Fields** `spikes` bool (n,): which spiked in the last step.
    """

    spikes: jax.Array


class Relay(Neuron):
    """Spikes in every step in which a spike reaches it: a source that any stimulus drives.

    It has no membrane: with `Delta` synapses of weight 1 it spikes if the summed weights of a
    step, `drive.jump`, are at least 1/2. It turns a stimulus that sends spikes into a population,
    which projects, can be recorded, and sends the same spikes to all its targets. With
    `SpikeTimes` it replays spikes, with `Poisson`, `Gamma`, ... it is a random source::

        jn.Population("input", 100, jn.neurons.Relay())
        given, delta = jn.stimuli.SpikeTimes(times), jn.synapses.Delta()
        jn.Stimulation("input", given, weight=1.0, synapse=delta)

    A spike given for time t is the relay's spike at t. Several in one step give one spike.

    **Step** `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` from `build` for a drive that is not a jump.

    **Source** as parrot_neuron of Gewaltig and Diesmann (2007), NEST,
    doi:10.4249/scholarpedia.1430.

    **Differs** from NEST: at most one spike per step.
    """

    def init(self, n: int) -> RelayState:
        return RelayState(jnp.zeros(n, bool))

    def step(self, state: RelayState, drive: Drive, dt: float) -> tuple[RelayState, jax.Array]:
        if drive.jump is None:
            spikes = jnp.zeros_like(state.spikes)
        else:
            spikes = jnp.broadcast_to(drive.jump >= 0.5, state.spikes.shape)
        return RelayState(spikes), spikes
