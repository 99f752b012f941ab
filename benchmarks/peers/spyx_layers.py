"""Spyx: the tasks of `layers`, a scan over time of all layers.

A step subtracts the threshold after the decay of the voltage, not before it, and sends the spike of
the step before. So the loss differs a little from ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from _layers import DECAY, STEEPNESS, Task, run_peer_script


def network(task: Task) -> tuple[Any, Callable[[Any, Any], Any]]:
    """The weights, and the run of the network with them."""
    import jax.numpy as jnp
    import spyx.nn as snn
    from flax import nnx
    from spyx.axn import superspike

    rngs, weights, layers = nnx.Rngs(0), task.weights(), []
    for number, weight in enumerate(weights):
        dense = nnx.Linear(*weight.shape, use_bias=False, rngs=rngs)
        dense.kernel[...] = jnp.asarray(weight)
        shape = (weight.shape[1],)
        if task.has_readout and number == len(weights) - 1:
            neurons = snn.LI(shape, beta=DECAY, rngs=rngs)
        else:
            neurons = snn.LIF(shape, beta=DECAY, activation=superspike(STEEPNESS), rngs=rngs)
        layers += [dense, neurons]
    # A decay is a parameter of Spyx, too, but the task has gradients of weights alone.
    graph, parameters, rest = nnx.split(snn.Sequential(*layers), nnx.PathContains("kernel"), ...)
    return parameters, lambda p, spikes: snn.run(nnx.merge(graph, p, rest), spikes)[0]


if __name__ == "__main__":
    run_peer_script("spyx", ["spyx", "flax", "jax", "jaxlib", "numpy"], network)
