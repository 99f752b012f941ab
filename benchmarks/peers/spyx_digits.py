"""Spyx: the task of `digits`.

A step of `spyx.nn.LIF` sends the spike of the voltage before it, and subtracts the threshold from
the voltage after its decay. The gradient goes through this reset.
"""

from __future__ import annotations

from _common import pin
from _digits import (
    DECAY,
    LEARNING_RATE,
    SIZES,
    STEEPNESS,
    Examples,
    parse_peer_options,
    run_peer_script,
    start_weights,
)


class Spyx:
    """A network of Spyx with its optimiser."""

    def __init__(self) -> None:
        import jax
        import optax
        import spyx.nn as snn
        from flax import nnx
        from spyx.axn import superspike

        self.spike = superspike(STEEPNESS)  # one function, or else each seed compiles
        # A decay is a parameter of Spyx, too, but the task trains weights alone.
        self.trained = nnx.PathContains("kernel")

        def logits(model, spikes):
            return snn.run(model, spikes, batch_major=True)[0].max(1)

        def loss(model, spikes, labels):
            chances = logits(model, spikes)
            return optax.softmax_cross_entropy_with_integer_labels(chances, labels).mean()

        @nnx.jit
        def update(model, optimiser, spikes, labels):
            by = nnx.DiffState(0, self.trained)
            slopes = nnx.grad(loss, argnums=by)(model, spikes, labels)
            optimiser.update(model, slopes)

        self._update = update
        self._answers = nnx.jit(lambda model, spikes: logits(model, spikes).argmax(-1))
        self._wait = jax.block_until_ready

    def start(self, seed: int) -> None:
        import jax.numpy as jnp
        import optax
        import spyx.nn as snn
        from flax import nnx

        rngs, (inputs, hidden, outputs) = nnx.Rngs(0), SIZES
        first = nnx.Linear(inputs, hidden, use_bias=False, rngs=rngs)
        second = nnx.Linear(hidden, outputs, use_bias=False, rngs=rngs)
        for layer, weights in zip((first, second), start_weights(seed)):
            layer.kernel[...] = jnp.asarray(weights)
        lif = snn.LIF((hidden,), beta=DECAY, activation=self.spike, rngs=rngs)
        readout = snn.LI((outputs,), beta=DECAY, rngs=rngs)
        self.model = snn.Sequential(first, lif, second, readout)
        adam = optax.adam(LEARNING_RATE)
        self.optimiser = nnx.Optimizer(self.model, adam, wrt=self.trained)

    def update(self, examples: Examples) -> None:
        from flax import nnx

        self._update(self.model, self.optimiser, *examples)
        self._wait(nnx.state(self.model))

    def accuracy(self, examples: Examples) -> float:
        return float((self._answers(self.model, examples.spikes) == examples.labels).mean())


if __name__ == "__main__":
    options = parse_peer_options()
    pin(options.threads)
    packages = ["spyx", "flax", "optax", "jax", "jaxlib", "numpy"]
    run_peer_script("spyx", packages, Spyx(), options)
