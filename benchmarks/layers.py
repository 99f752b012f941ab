"""Training layers by surrogate gradients, in turn with a bare loop in JAX and with peers.

With --delays, --recurrent, --probability, --exponential or --t-ref the network has what the bare
loop and the peers lack, so ours runs alone.
"""

import argparse
import os
from collections.abc import Callable
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn

from . import _bare_layers as bare
from ._pairing import pair, print_table
from ._peers import known_peers, run_script
from ._record import Record, peak_rss_mb, print_rounded
from ._run import versions
from .peers._layers import DECAY, STEEPNESS, Gradient, Task, add_task_options, time_in_turn

__all__ = ["add_options", "describe", "make_loss", "run"]

DT = 1.0  # ms
TAU_SYN = 5.0  # ms, of exponential synapses
LONGEST = 20  # steps, of drawn delays
EXTRAS = ("delays", "recurrent", "probability", "exponential", "t_ref")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the tasks, and of what a network may have beyond them."""
    cores = getattr(os, "sched_getaffinity", None)
    parser.set_defaults(threads=len(cores(0)) if cores else os.cpu_count() or 1)
    add_task_options(parser)
    parser.add_argument("--delays", action="store_true", help="1 to 20 steps, drawn per synapse")
    parser.add_argument(
        "--recurrent", type=float, metavar="P", help="connect the LIF neurons with probability P"
    )
    parser.add_argument(
        "--probability", type=float, metavar="P", help="of an input synapse (default: all to all)"
    )
    parser.add_argument("--exponential", action="store_true", help="synapses instead of jumps")
    parser.add_argument("--t-ref", type=float, default=0.0, help="refractory time [ms]")
    parser.add_argument("--turns", type=int, default=1, help="of ours and of each peer")
    parser.add_argument("--against", nargs="*", default=[], choices=known_peers("layers"))


class SuperSpike(jn.surrogates.Surrogate):
    """The slope of a fast sigmoid, whose height is 1: as other libraries have it.

    Reference:
        Zenke and Ganguli (2018), SuperSpike, doi:10.1162/neco_a_01086.
    """

    def slope(self, x: jax.Array) -> jax.Array:
        return 1.0 / (1.0 + STEEPNESS * jnp.abs(x)) ** 2


def describe(task: Task, options: argparse.Namespace) -> jn.Description:
    """The layers "0", "1", ... of a task; "0" sends on the input spikes."""
    # With c_m = TAU_SYN, an exponential synapse moves v by its weight in total.
    membrane = {"tau_m": -DT / np.log(DECAY), "c_m": TAU_SYN, "e_l": 0.0}
    lif = jn.neurons.LIF(
        **membrane,
        v_th=1.0,
        v_reset=0.0,
        t_ref=options.t_ref,
        surrogate=SuperSpike(form="voltage"),
        reset="subtract",
        reset_gradient=True,
    )
    readout = jn.neurons.LeakyIntegrator(**membrane)
    models = [jn.neurons.Relay(), lif, readout]
    layers = [
        jn.Population(str(k), n, model) for k, (n, model) in enumerate(zip(task.sizes, models))
    ]
    projections = [
        jn.Projection(str(k), str(k + 1), **_wiring(options), **_synapses(options, k, weights))
        for k, weights in enumerate(task.weights())
    ]
    if options.recurrent is not None:
        rule = jn.connectivity.FixedProbability(options.recurrent)
        weight = jn.Normal(0.0, (options.recurrent * task.sizes[1]) ** -0.5)
        projections.append(jn.Projection("1", "1", rule, weight=weight, **_wiring(options)))
    return jn.Description(layers, projections)


def _wiring(options: argparse.Namespace) -> dict[str, Any]:
    """Delays and kind of all synapses."""
    synapse = jn.synapses.Exponential(TAU_SYN) if options.exponential else jn.synapses.Delta()
    # Half a step less at each end: a delay is rounded to the nearest step.
    delays = jn.Uniform(0.51 * DT, (LONGEST + 0.49) * DT)
    return {"synapse": synapse, "delay": delays if options.delays else DT}


def _synapses(options: argparse.Namespace, layer: int, weights: np.ndarray) -> dict[str, Any]:
    """Rule and weights of the projection from a layer to the next one."""
    if layer == 0 and options.probability is not None:
        rule = jn.connectivity.FixedProbability(options.probability)
        spread = (options.probability * weights.shape[0]) ** -0.5
        return {"rule": rule, "weight": jn.Normal(0.0, spread)}
    return {"rule": jn.connectivity.AllToAll(), "weight": weights.ravel()}


def make_loss(task: Task, net: jn.Network) -> tuple[Any, Callable]:
    """The weights of all projections, and `loss(weights, network, spikes)`."""
    names = [f"{k}->{k + 1}" for k in range(len(task.sizes) - 1)]
    names += ["1->1"] if "1->1" in net.projections else []
    weights, rebuild = jn.trainable(net, dict.fromkeys(names, "weight"))
    n_layers = len(task.sizes) - 1
    last, n_steps = str(n_layers), task.steps + n_layers
    if task.has_readout:
        record = jn.Record(spikes=False, variables={last: "v"}, interval=DT)
    else:
        record = jn.Record(spikes=False, rates=True)

    def trial(net: jn.Network, spikes: jax.Array) -> jax.Array:
        recording = jn.scan(net, net.init(0), n_steps, {"0": spikes}, record)[1]
        output = recording.traces[last]["v"] if task.has_readout else recording.counts[last]
        return output[n_layers:]

    def loss(weights: Any, net: jn.Network, spikes: jax.Array) -> jax.Array:
        # A spike takes a step from layer to layer.
        spikes = jnp.pad(spikes, ((0, n_layers), (0, 0), (0, 0)))
        return task.loss(jax.vmap(trial, (None, 1), 1)(rebuild(weights, net), spikes))

    return weights, loss


def has_extras(options: argparse.Namespace) -> bool:
    """Whether the network has something that the bare loop and the peers lack."""
    probabilities = options.recurrent, options.probability
    is_sparse = any(p is not None for p in probabilities)
    return options.delays or options.exponential or options.t_ref > 0.0 or is_sparse


def run(options: argparse.Namespace) -> None:
    """Prints a JSON line of ours for each turn, and one of each peer."""
    alone = has_extras(options)
    if options.against and alone:
        raise SystemExit("--against: leave it out, or the options that peers lack (see --help)")
    task = Task.of(options)
    net = jn.build(describe(task, options), key=options.seed, dt=DT)
    weights, loss = make_loss(task, net)
    ours = Gradient(loss, weights, net, jnp.asarray(task.spikes()))
    loop = None if alone else bare_gradient(task)
    more = {name: getattr(options, name) for name in EXTRAS} | {"synapses": net.n_synapses}

    def once() -> Record:
        gradients = [ours] if loop is None else [ours, loop]
        time_in_turn(gradients, options.repeats)
        (value, slopes), *others = (x.result() for x in gradients)
        line = ours.line(task, "jaxneuro", float(value)) | more
        for other, (bare_value, bare_slopes) in zip(gradients[1:], others):
            line |= compare(ours, other)
            line |= differences(value, jax.tree.leaves(slopes), bare_value, bare_slopes)
        line |= {"peak_rss_mb": peak_rss_mb(), "threads": options.threads, "versions": versions()}
        return print_rounded(line)

    table = pair(once, {name: peer_of(name, options) for name in options.against}, options.turns)
    if options.against:
        print_table(table)


def bare_gradient(task: Task) -> Gradient:
    """The task as a bare loop."""

    def loss(weights: list[jax.Array], spikes: jax.Array) -> jax.Array:
        return task.loss(bare.run(weights, spikes, task.has_readout))

    spikes = jnp.asarray(task.spikes(), jnp.float32)
    return Gradient(loss, [jnp.asarray(w) for w in task.weights()], spikes)


def compare(ours: Gradient, loop: Gradient) -> Record:
    """Times and memory of the bare loop, and the median ratios of ours to it in each turn."""
    ratios = {
        "forward_over_bare": zip(ours.forward_s, loop.forward_s, strict=True),
        "over_bare": zip(ours.gradient_s, loop.gradient_s, strict=True),
    }
    return {
        "bare_forward_s": median(loop.forward_s),
        "bare_s": median(loop.gradient_s),
        "bare_compile_s": loop.compile_s,
        "bare_temporary_mb": loop.temporary_mb,
        **{name: median(a / b for a, b in pairs) for name, pairs in ratios.items()},
    }


def differences(value: jax.Array, slopes: list, bare_value: jax.Array, bare_slopes: list) -> Record:
    """How far the loss and the gradients of ours are from those of the bare loop, relatively.

    The difference of a gradient is that of its largest number. `agrees`: losses to 0.1 % and
    gradients to 1e-4. A voltage at the threshold may be a spike in one and none in the other.
    """
    of_loss = abs(float(value) / float(bare_value) - 1.0)
    of_slopes = max(
        float(np.abs(np.ravel(b) - np.ravel(a)).max() / np.abs(b).max())
        for a, b in zip(slopes, bare_slopes, strict=True)
    )
    agrees = of_loss < 1e-3 and of_slopes < 1e-4
    return {"loss_difference": of_loss, "gradient_difference": of_slopes, "agrees": agrees}


def peer_of(name: str, options: argparse.Namespace) -> Callable[[], Record]:
    """Runs the script of a peer, which prints its line."""
    names = ("task", "inputs", "hidden", "batch", "steps", "repeats", "seed", "threads")
    values = {name: getattr(options, name) for name in names}
    values = {name: value for name, value in values.items() if value is not None}
    return lambda: print_rounded(run_script(name, "layers", values))
