"""Times a gradient: nanoseconds per synapse and step, forward and backward together."""

import json
import statistics
import time

import jax
import jax.numpy as jnp

import jaxneuro as jn

from ._balanced import coba
from ._run import DT, add_network_options, versions

__all__ = ["add_options", "run"]

add_options = add_network_options
STEPS = 200


def run(options) -> None:
    """One JSON line: wall of a run and of its gradient with respect to the gains."""
    net = jn.build(coba(options.neurons), key=options.seed, dt=DT)

    def loss(gain, net):
        net = net.set("E0->E0", gain=gain)
        state, _ = jn.scan(net, net.init(1), STEPS, record=jn.Record(spikes=False))
        return jnp.mean(net.read(state, "E0", "v"))

    seconds = {}
    for name, f in (("run", jax.jit(loss)), ("gradient", jax.jit(jax.grad(loss)))):
        jax.block_until_ready(f(1.0, net))
        taken = []
        for _ in range(options.repeats):
            start = time.perf_counter()
            jax.block_until_ready(f(1.0, net))
            taken.append(time.perf_counter() - start)
        seconds[name] = statistics.median(taken)
    line = {
        "bench": "gradient",
        "neurons": net.n_neurons,
        "synapses": net.n_synapses,
        "steps": STEPS,
        "run_s": round(seconds["run"], 4),
        "gradient_s": round(seconds["gradient"], 4),
        "ns_per_synapse_and_step": round(seconds["gradient"] / net.n_synapses / STEPS * 1e9, 2),
        "threads": options.threads,
        "versions": versions(),
    }
    print(json.dumps(line), flush=True)
