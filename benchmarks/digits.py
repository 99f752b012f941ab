"""Training a classifier of digits by surrogate gradients, in turn with Spyx and snnTorch.

The part from `describe` to `Ours` shows how a network is trained with `jn.trainable` and optax.
"""

import argparse
import os
from collections.abc import Callable
from importlib.util import find_spec

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn

from ._pairing import pair, print_table
from ._peers import known_peers, run_script
from ._record import Record, peak_rss_mb, print_rounded
from ._run import versions
from .peers import _digits as task

__all__ = ["Ours", "add_options", "describe", "run"]

DT = 1.0  # ms
TRAINED = {"pixels->hidden": "weight", "hidden->digits": "weight"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the training, and the peers."""
    cores = getattr(os, "sched_getaffinity", None)
    parser.set_defaults(threads=len(cores(0)) if cores else os.cpu_count() or 1)
    task.add_task_options(parser)
    parser.add_argument("--against", nargs="*", default=[], choices=known_peers("digits"))


class SuperSpike(jn.surrogates.Surrogate):
    """The slope of a fast sigmoid, whose height is 1: that of Spyx and snnTorch.

    Reference:
        Zenke and Ganguli (2018), SuperSpike, doi:10.1162/neco_a_01086.
    """

    def slope(self, x: jax.Array) -> jax.Array:
        return 1.0 / (1.0 + task.STEEPNESS * jnp.abs(x)) ** 2


def describe(weights: list[np.ndarray]) -> jn.Description:
    """Pixels, LIF neurons and one leaky integrator for each digit, all to all."""
    n_pixels, n_hidden, n_digits = task.SIZES
    lif = jn.neurons.LIF(
        tau_m=task.TAU,
        e_l=0.0,
        v_th=1.0,
        # A spike lowers v by v_th - v_reset before the decay: by 1 after it, as in Spyx.
        v_reset=1.0 - 1.0 / task.DECAY,
        t_ref=0.0,
        surrogate=SuperSpike(form="voltage"),
        reset="subtract",
        reset_gradient=True,
    )
    readout = jn.neurons.LeakyIntegrator(tau_m=task.TAU, e_l=0.0)
    populations = [
        jn.Population("pixels", n_pixels, jn.neurons.Relay()),
        jn.Population("hidden", n_hidden, lif),
        jn.Population("digits", n_digits, readout),
    ]
    wiring = {"rule": jn.connectivity.AllToAll(), "delay": DT, "synapse": jn.synapses.Delta()}
    first, second = (w.ravel() for w in weights)
    projections = [
        jn.Projection("pixels", "hidden", weight=first, **wiring),
        jn.Projection("hidden", "digits", weight=second, **wiring),
    ]
    return jn.Description(populations, projections)


def logits_of(net: jn.Network, spikes: jax.Array) -> jax.Array:
    """The largest voltage over time of each digit, (images, 10).

    Args:
        net: the network.
        spikes: of the pixels, (images, steps, pixels).
    """
    record = jn.Record(spikes=False, variables={"digits": "v"}, interval=DT)

    def one_image(spikes: jax.Array) -> jax.Array:
        # A spike takes a step from layer to layer, so the readout begins one step late.
        spikes = jnp.pad(spikes, ((0, 1), (0, 0)))
        recording = jn.scan(net, net.init(0), len(spikes), {"pixels": spikes}, record)[1]
        return recording.traces["digits"]["v"][1:].max(0)

    return jax.vmap(one_image)(spikes)


class Ours:
    """A network with its optimiser."""

    def __init__(self) -> None:
        import optax  # here, because other benchmarks do without it

        self.net = jn.build(describe(task.start_weights(0)), key=0, dt=DT)
        rebuild = jn.trainable(self.net, TRAINED)[1]
        self.adam = optax.adam(task.LEARNING_RATE)

        def loss(params, net, spikes, labels):
            logits = logits_of(rebuild(params, net), spikes)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        @jax.jit
        def update(params, state, net, spikes, labels):
            slopes = jax.grad(loss)(params, net, spikes, labels)
            change, state = self.adam.update(slopes, state)
            return optax.apply_updates(params, change), state

        @jax.jit
        def answers(params, net, spikes):
            return logits_of(rebuild(params, net), spikes).argmax(-1)

        self._update, self._answers = update, answers

    def start(self, seed: int) -> None:
        self.net = jn.build(describe(task.start_weights(seed)), key=seed, dt=DT)
        self.params = jn.trainable(self.net, TRAINED)[0]
        self.state = self.adam.init(self.params)

    def update(self, examples: task.Examples) -> None:
        updated = self._update(self.params, self.state, self.net, *examples)
        self.params, self.state = jax.block_until_ready(updated)

    def accuracy(self, examples: task.Examples) -> float:
        answers = self._answers(self.params, self.net, examples.spikes)
        return float(np.mean(np.asarray(answers) == examples.labels))


def run(options: argparse.Namespace) -> None:
    """Prints one JSON line of ours and one of each peer."""
    if find_spec("optax") is None:
        raise SystemExit("The optimiser is in optax: pip install optax")
    training, testing = task.load_examples(bool)

    def once() -> Record:
        line = {"bench": "digits", "impl": "jaxneuro"}
        line |= task.train(Ours(), training, testing, options)
        line |= {"peak_rss_mb": peak_rss_mb(), "threads": options.threads, "versions": versions()}
        return print_rounded(line)

    table = pair(once, {name: peer_of(name, options) for name in options.against}, 1)
    if options.against:
        print_table(table)


def peer_of(name: str, options: argparse.Namespace) -> Callable[[], Record]:
    """Runs the script of a peer, which prints its line."""
    values = {key: getattr(options, key) for key in ("epochs", "batch", "seeds", "threads")}
    return lambda: print_rounded(run_script(name, "digits", values))
