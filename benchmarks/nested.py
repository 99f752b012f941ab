"""64 CUBA networks over 8 x 8 gains: one flat `vmap`, and one `vmap` in another; gradients too."""

import json
import statistics
import time
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn

from ._balanced import cuba
from ._run import DT, add_network_options, versions

__all__ = ["add_options", "run"]

SIDE = 8
OPTIONS = {"xla_cpu_copy_insertion_use_region_analysis": True}


def add_options(parser) -> None:
    """The options of every network benchmark; 0.5 s of biological time are enough here."""
    add_network_options(parser)
    parser.set_defaults(seconds=0.5)
    parser.add_argument("--gradient", action="store_true", help="of the mean v, in 50 ms")


def run(options) -> None:
    """One JSON line: wall seconds of the flat and of the nested sweep, in turn, and their ratio."""
    net = jn.build(cuba(options.neurons), key=options.seed, dt=DT)
    seconds = min(options.seconds, 0.05) if options.gradient else options.seconds
    one = partial(_mean_v, n_steps=round(1e3 * seconds / DT))
    one = jax.grad(one, argnums=1) if options.gradient else one
    flat = jax.jit(jax.vmap(one, (None, 0, 0)), compiler_options=OPTIONS)
    over_rows = jax.vmap(jax.vmap(one, (None, None, 0)), (None, 0, None))
    nested = jax.jit(over_rows, compiler_options=OPTIONS)
    gains = np.linspace(0.8, 1.2, SIDE, dtype=np.float32)
    pairs = [x.ravel() for x in np.meshgrid(gains, gains, indexing="ij")]
    times: dict[str, list[float]] = {"flat": [], "nested": []}
    for _ in range(options.repeats + 1):
        times["flat"].append(_seconds(flat, net, *pairs))
        times["nested"].append(_seconds(nested, net, gains, gains))
    ratios = [b / a for a, b in list(zip(*times.values()))[1:]]
    same = np.array_equal(np.ravel(nested(net, gains, gains)), flat(net, *pairs))
    line = {
        "bench": "nested",
        "neurons": net.n_neurons,
        "networks": SIDE**2,
        "bio_s": seconds,
        "gradient": options.gradient,
        "flat_s": round(statistics.median(times["flat"][1:]), 4),
        "nested_s": round(statistics.median(times["nested"][1:]), 4),
        "nested_over_flat": round(statistics.median(ratios), 3),
        "same_bits": bool(same),
        "threads": options.threads,
        "versions": versions(),
    }
    print(json.dumps(line), flush=True)


def _mean_v(net: jn.Network, excitation: Any, inhibition: Any, n_steps: int) -> Any:
    for source, gain in (("E0", excitation), ("I0", inhibition)):
        for target in ("E0", "I0"):
            net = net.set(f"{source}->{target}", gain=gain)
    state, _ = jn.scan(net, net.init(0), n_steps, record=jn.Record(spikes=False))
    return jnp.mean(net.read(state, "E0", "v"))


def _seconds(f, *args) -> float:
    start = time.perf_counter()
    jax.block_until_ready(f(*args))
    return time.perf_counter() - start
