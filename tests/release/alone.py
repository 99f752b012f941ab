"""Release models and receptors alone, over all steps, in one program."""

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnums=3)
def released(model, spikes, v, dt):
    """What a release without draws gives for spikes (steps, n): values (steps, n), last state."""

    def body(state, now):
        return model.step(state, *now, dt)

    state, values = jax.lax.scan(body, model.init(spikes.shape[1]), (spikes, v))
    return values, state


@functools.partial(jax.jit, static_argnums=3)
def received(model, arrivals, v, dt):
    """What a receptor gives for arrivals (steps, ..., n): its drives, its states at the ends."""

    def body(state, now):
        state, drive = model.step(state, *now, dt)
        return state, (drive, state)

    return jax.lax.scan(body, model.init(v.shape[1]), (arrivals, v))[1]


def train(steps, at):
    """One neuron that spikes in the steps `at`: bool (steps, 1)."""
    spikes = np.zeros((steps, 1), bool)
    spikes[list(at)] = True
    return spikes
