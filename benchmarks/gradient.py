"""Times a gradient, and its parts: the run, the neurons, the delivery of spikes, the weights."""

import argparse
import dataclasses
import json
import statistics
import time
from typing import Any
from unittest import mock

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from jaxneuro._kernels import deliver

from ._balanced import coba
from ._run import DT, versions

__all__ = ["add_options", "measured", "run"]

BETA = 0.2  # [1/mV]: 2 / (v_th - v_reset)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--neurons", type=int, default=4000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=9, help="runs after one warm-up")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--by", choices=("gains", "weights", "spikes"), default="gains")
    parser.add_argument(
        "--surrogate",
        action="store_true",
        help="spikes have a derivative, so that all on the way has",
    )
    parser.add_argument("--cutoff", type=float, help="of the surrogate [mV]")
    parser.add_argument("--batch", type=int, help="a vmap over so many trials")
    parser.add_argument("--remat", type=int, help="kept states: their number, 0 for its own choice")


def description(options: argparse.Namespace) -> jn.Description:
    """COBA; with a weight for each synapse if the derivative is by weights."""
    made = coba(options.neurons)
    populations, projections = made.populations, made.projections
    if options.surrogate:
        given = {} if options.cutoff is None else {"cutoff": options.cutoff}
        surrogate = jn.surrogates.FastSigmoid(BETA, **given)
        populations = [
            dataclasses.replace(p, model=dataclasses.replace(p.model, surrogate=surrogate))
            for p in populations
        ]
    if options.by == "weights":
        projections = [
            dataclasses.replace(p, weight=jn.Uniform(0.9 * p.weight, 1.1 * p.weight))
            for p in projections
        ]
    return jn.Description(populations, projections, made.stimuli)


def loss_of(net: jn.Network, options: argparse.Namespace, by: str):
    """`loss(x, net)` and the x by which it is differentiated: the mean v of E0 at the end."""
    more = {} if options.remat is None else {"remat": options.remat or True}
    record = jn.Record(spikes=False)
    weights = lambda n: [p.weights for p in n.pathways]  # noqa: E731

    def trial(x, net, key):
        inputs = None
        if by == "gains":
            net = net.set("E0->E0", gain=x)
        elif by == "weights":
            net = eqx.tree_at(weights, net, x)
        else:
            inputs = {"E0": x}
        state, _ = jn.scan(net, net.init(key), options.steps, inputs, record, **more)
        return jnp.mean(net.read(state, "E0", "v"))

    def loss(x, net):
        if options.batch is None:
            return trial(x, net, 1)
        return jnp.mean(jax.vmap(lambda key: trial(x, net, key))(jnp.arange(options.batch)))

    start = {"gains": 1.0, "weights": weights(net), "spikes": jnp.float32(0.0)}
    return loss, start[by]


def no_delivery():
    """In what is traced inside, no cotangent goes back through a delivery."""

    def nothing(ring, counted, step, scale, weights, table, n, clear):
        return ring, jnp.zeros((*ring.shape[:-2], n), ring.dtype)

    return mock.patch.object(deliver, "value_cotangents", nothing)


def share_with_a_derivative(net: jn.Network, options: argparse.Namespace) -> float:
    """Of neurons and steps, those in which a spike has a derivative."""
    if not options.surrogate:
        return 0.0

    def step(state, _):
        state, _ = runtime.step(state)
        bits = [jnp.unpackbits(g.released.slopes()).sum() for g in state.groups]
        return state, sum(bits)

    runtime = net.expand()
    counts = jax.jit(lambda: jax.lax.scan(step, net.init(1), length=options.steps)[1])()
    return float(np.mean(counts)) / net.n_neurons


def run(options: argparse.Namespace) -> None:
    """One JSON line."""
    print(json.dumps(measured(options) | {"versions": versions()}), flush=True)


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Medians of the run, of the gradient, and of its parts [s]."""
    net = jn.build(description(options), key=options.seed, dt=DT)
    loss, x = loss_of(net, options, options.by)
    of_spikes, current = loss_of(net, options, "spikes")
    programs = {
        "run": (jax.jit(loss).lower(x, net).compile(), x),
        "gradient": (jax.jit(jax.grad(loss)).lower(x, net).compile(), x),
        "spikes": (jax.jit(jax.grad(of_spikes)).lower(current, net).compile(), current),
    }
    jax.clear_caches()
    with no_delivery():
        neurons = jax.jit(jax.grad(of_spikes)).lower(current, net).compile()
    programs["neurons"] = neurons, current
    taken = {name: [] for name in programs}
    for number in range(options.repeats + 1):  # in turn; the first is a warm-up
        for name, (program, by) in programs.items():
            start = time.perf_counter()
            jax.block_until_ready(program(by, net))
            if number:
                taken[name].append(time.perf_counter() - start)
    s = {name: statistics.median(times) for name, times in taken.items()}
    trials = options.batch or 1
    used = {name: program.memory_analysis() for name, (program, _) in programs.items()}
    peak = {name: getattr(used[name], "temp_size_in_bytes", 0) for name in ("run", "gradient")}
    steps = options.steps * trials
    return {
        "bench": "gradient",
        "by": options.by,
        "neurons": net.n_neurons,
        "synapses": net.n_synapses,
        "steps": options.steps,
        "batch": options.batch,
        "surrogate": options.surrogate,
        "cutoff_mv": options.cutoff,
        "remat": options.remat,
        "share_with_a_derivative": round(share_with_a_derivative(net, options), 4),
        "run_s": round(s["run"], 5),
        "gradient_s": round(s["gradient"], 5),
        "neurons_s": round(s["neurons"] - s["run"], 5),
        "delivery_s": round(s["spikes"] - s["neurons"], 5),
        "weights_s": round(s["gradient"] - s["spikes"], 5),
        "ns_per_synapse_and_step": round(s["gradient"] / net.n_synapses / steps * 1e9, 3),
        "peak_mb": {k: round(x / 1e6, 1) for k, x in peak.items()},
        "floats_per_neuron_and_step": round(
            (peak["gradient"] - peak["run"]) / 4 / net.n_neurons / steps, 2
        ),
        "threads": options.threads,
    }
