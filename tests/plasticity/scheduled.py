"""Networks whose spikes are given, so that only the rule decides what happens."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn


class ScheduledState(NamedTuple):
    """What arrived in the last step."""

    v: jax.Array


class Scheduled(jn.Neuron):
    """Neurons that spike when the current of the step is above 0; v is what arrived in it."""

    ports = ("input",)

    def init(self, n):
        return ScheduledState(jnp.zeros(n))

    def step(self, state, drive, dt):
        v = jnp.broadcast_to(jnp.asarray(drive.arriving("input"), state.v.dtype), state.v.shape)
        return ScheduledState(v), drive.current_at(state.v) > 0


class Wiring(NamedTuple):
    """Connections one by one: sources, targets, delays [steps], axonal steps, start weights."""

    pre: np.ndarray
    post: np.ndarray
    delays: Any
    axonal: int
    weights: Any


def network(rule, n_pre, n_post, wiring, dt=0.1, dtype=jnp.float32, **more):
    """Two populations of scheduled neurons, and the connections between them."""
    delays = np.broadcast_to(wiring.delays, np.shape(wiring.pre))
    same = np.ndim(wiring.delays) == 0
    return jn.build(
        jn.Description(
            [
                jn.Population("pre", n_pre, Scheduled()),
                jn.Population("post", n_post, Scheduled()),
            ],
            [
                jn.Projection(
                    "pre",
                    "post",
                    jn.connectivity.Explicit(wiring.pre, wiring.post),
                    weight=wiring.weights,
                    delay=float(delays[0] * dt) if same else delays * dt,
                    axonal=wiring.axonal * dt,
                    synapse=jn.synapses.Direct(),
                    plasticity=rule,
                    **more,
                )
            ],
        ),
        key=1,
        dt=dt,
        dtype=dtype,
    )


def trains(rng, steps, n, p):
    """Random spikes (steps, n)."""
    return rng.random((steps, n)) < p


def run(net, pre, post, **options):
    """What arrives in every step (steps, n_post), the weights at the end, and the result.

    `pre`, `post` (steps, n) are booleans: who spikes when.
    """
    record = jn.Record(variables={"post": "v"})
    inputs = {"pre": 1.0 * pre, "post": 1.0 * post, **options.pop("signals", {})}
    ms = len(pre) * net.dt
    result = jn.simulate(net, ms, inputs=inputs, record=record, progress=False, **options)
    arrived = result.traces["post"]["v"]
    return arrived, np.asarray(net.weights(result.state, "pre->post")), result
