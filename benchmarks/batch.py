"""16 COBA networks by vmap over the start values, beside one: seconds per network."""

import json
import statistics
import time
from functools import partial

import jax
import jax.numpy as jnp

import jaxneuro as jn

from ._balanced import coba
from ._run import DT, add_network_options, versions

__all__ = ["add_options", "run"]

COPIES = 16
OPTIONS = {"xla_cpu_copy_insertion_use_region_analysis": True}


def add_options(parser) -> None:
    """The options of every network benchmark."""
    add_network_options(parser)


def run(options) -> None:
    """One JSON line: wall seconds of one network and of 16 by vmap, and their ratio."""
    net = jn.build(coba(options.neurons), key=options.seed, dt=DT)
    n_steps = round(1e3 * options.seconds / DT)
    one = jax.jit(partial(_final, n_steps=n_steps), compiler_options=OPTIONS)
    many = jax.jit(jax.vmap(partial(_final, n_steps=n_steps), (None, 0)), compiler_options=OPTIONS)
    seeds = jnp.arange(COPIES, dtype=jnp.uint32)
    keys = jax.vmap(jax.random.key)(seeds)
    single, batch = [], []
    for _ in range(options.repeats + 1):
        single.append(_seconds(one, net, keys[0]))
        batch.append(_seconds(many, net, keys))
    alone, together = statistics.median(single[1:]), statistics.median(batch[1:])
    line = {
        "bench": "batch",
        "neurons": net.n_neurons,
        "copies": COPIES,
        "bio_s": options.seconds,
        "single_s": round(alone, 4),
        "batch_s": round(together, 4),
        "batch_per_copy_over_single": round(together / COPIES / alone, 3),
        "threads": options.threads,
        "versions": versions(),
    }
    print(json.dumps(line), flush=True)


def _final(net, key, n_steps: int):
    state, recording = jn.scan(net, net.init(key), n_steps)
    return state.step, recording.spikes


def _seconds(f, *args) -> float:
    start = time.perf_counter()
    jax.block_until_ready(f(*args))
    return time.perf_counter() - start
