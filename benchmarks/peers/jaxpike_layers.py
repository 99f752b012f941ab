"""jaxpike: the tasks of `layers`, the inputs of a layer for all steps in one product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from _layers import DECAY, STEEPNESS, Task, run_peer_script


def network(task: Task) -> tuple[Any, Callable[[Any, Any], Any]]:
    """The weights, and the run of the network with them."""
    import equinox as eqx
    import jax
    import jaxpike as jp
    from jaxpike.execution import unroll

    tau, weights, layers = -1.0 / np.log(DECAY), task.weights(), []
    for number, weight in enumerate(weights):
        dense = jp.Dense(*weight.shape, key=jax.random.key(0), use_bias=False)
        # Its neurons multiply inputs by 1 - DECAY.
        values = jax.numpy.asarray(weight.T / (1.0 - DECAY))
        layers.append(eqx.tree_at(lambda x: x.weight, dense, values))
        if task.has_readout and number == len(weights) - 1:
            layers.append(jp.LeakyIntegrator(tau))
        else:
            layers.append(jp.LIF(tau, surrogate=jp.surrogate.FastSigmoid(STEEPNESS)))
    net = jp.Sequential(*layers)
    # A time constant is a parameter of jaxpike, too, but the task has gradients of weights alone.
    is_weight = jax.tree.map(lambda _: False, net)
    dense_weights = lambda net: [x.weight for x in net.layers[::2]]  # noqa: E731
    is_weight = eqx.tree_at(dense_weights, is_weight, [True] * len(weights))
    parameters, rest = eqx.partition(net, is_weight)
    return parameters, lambda p, spikes: unroll(eqx.combine(p, rest), spikes)[0]


if __name__ == "__main__":
    run_peer_script("jaxpike", ["jaxpike", "equinox", "jax", "jaxlib", "numpy"], network)
