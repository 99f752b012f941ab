"""Times stimuli: microseconds per time step, alone in a loop."""

import argparse
import json
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from jaxneuro._numerics.streams import Stream, stream_key, stream_keys

from ._record import cpu_device
from ._run import DT, versions

STEPS = 10_000

# Neurons of the cortical microcircuit's populations, and external synapses of 8 Hz on each
# (Potjans and Diesmann 2014, tables 5 and 4): 2/3E, 2/3I, 4E, 4I, 5E, 5I, 6E, 6I.
MICROCIRCUIT = (20_683, 5_834, 21_915, 5_479, 4_850, 1_065, 14_395, 2_948)
EXTERNAL = (1_600, 1_500, 2_100, 1_900, 2_000, 1_900, 2_900, 2_100)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Neurons, and runs after one warm-up."""
    parser.add_argument("--neurons", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)


def cases(n: int) -> dict[str, jn.Stimulus]:
    """Rates are chosen for about two spikes per neuron and step unless said."""
    s, rates = jn.stimuli, np.linspace(10_000.0, 30_000.0, n)
    return {
        "Poisson": s.Poisson(20_000.0),
        "Poisson, 10 Hz": s.Poisson(10.0),
        "Poisson, a rate per neuron": s.Poisson(rates),
        "Poisson, sinusoid": s.Poisson(s.Sinusoid(20_000.0, 10_000.0, 10.0)),
        "Poisson, function of time": s.Poisson(lambda t: 2e4 * (1.0 + 0.5 * jnp.sin(0.06 * t))),
        "Poisson, mean 100": s.Poisson(1e6),
        "Gamma of order 3": s.Gamma(1_000.0, order=3),
        "DeadTimePoisson": s.DeadTimePoisson(100.0, 2.0),
        "MultipleInteraction": s.MultipleInteraction(100.0, 0.1),
        "OrnsteinUhlenbeck": s.OrnsteinUhlenbeck(0.0, 50.0, 5.0),
        "WhiteNoise": s.WhiteNoise(0.0, 50.0, 0.1),
        "SpikeTimes": s.SpikeTimes(np.arange(1, 10_001) * 0.1, np.arange(10_000) % n),
    }


def per_step(stimulus: jn.Stimulus, n: int, repeats: int) -> float:
    """Median microseconds of a step in a compiled loop."""
    key = stream_key(1, "bench", "stimulus")
    ready = stimulus.prepare("bench", n, DT, key)
    high, low = (jnp.asarray(k) for k in key)
    stream = Stream(high, low, jnp.arange(n, dtype=jnp.uint32))
    return _per_step(ready, stream, STEPS, repeats)


def background(repeats: int) -> float:
    """The same for the Poisson input of the cortical microcircuit: 77,169 neurons, 8 rates."""
    names = [f"population {k}" for k in range(len(MICROCIRCUIT))]
    high, low = (jnp.asarray(k) for k in stream_keys(np.uint32(1), names, "stimulus"))
    stream = Stream(high, low, jnp.zeros(len(names), jnp.uint32), MICROCIRCUIT)
    rates = jn.stimuli.Poisson(8.0 * np.asarray(EXTERNAL, np.float64))
    return _per_step(rates, stream, STEPS // 5, repeats)


def _per_step(model: jn.Stimulus, stream: Stream, n_steps: int, repeats: int) -> float:
    @jax.jit
    def loop(model, stream, total):
        def body(carry, step):
            state, total = carry
            state, out = model.step(state, step, DT)
            out = out.current if isinstance(out, jn.Drive) else out
            return (state, total + out), None

        steps = jnp.arange(n_steps, dtype=jnp.int32)
        return jax.lax.scan(body, (model.init(stream.n, stream), total), steps)[0]

    taken = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        jax.block_until_ready(loop(model, stream, jnp.zeros(stream.n)))
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:]) / n_steps * 1e6


def run(options) -> None:
    """One JSON line: microseconds per step of each stimulus."""
    n = options.neurons
    micro = {k: round(per_step(s, n, options.repeats), 2) for k, s in cases(n).items()}
    line = {
        "bench": "stimuli",
        "neurons": n,
        "us_per_step": micro,
        "microcircuit_background_us": round(background(options.repeats), 2),
        "threads": options.threads,
        "device": cpu_device(),
        "versions": versions(),
    }
    print(json.dumps(line), flush=True)
