"""A batch of Hodgkin-Huxley neurons, in turn with a bare loop written by hand."""

import json
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn

from . import _bare_hh as bare
from ._record import cpu_device
from ._run import versions

__all__ = ["add_options", "run"]

RECORDS = {
    "nothing": jn.Record(spikes=False),
    "spikes": jn.Record(),
    "v": jn.Record(spikes=False, variables={"cells": "v"}),
}


def add_options(parser) -> None:
    """The options of this benchmark."""
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 10, 100, 1000, 10_000])
    parser.add_argument("--ms", type=float, default=50.0, help="biological time")
    parser.add_argument("--dt", type=float, default=0.01)
    parser.add_argument("--repeats", type=int, default=5, help="runs after one warm-up")
    parser.add_argument("--methods", nargs="+", default=list(bare.METHODS), choices=bare.METHODS)


def run(options) -> None:
    """One JSON line per batch size and method: median wall seconds of each case."""
    for n in options.batch:
        for method in options.methods:
            cases = {**_ours(n, method, options), **_bare(n, method, options)}
            seconds = {name: [] for name in cases}
            for _ in range(options.repeats + 1):
                for name, case in cases.items():
                    seconds[name].append(case())
            print(json.dumps(_line(n, method, options, seconds)), flush=True)


def _line(n, method, options, seconds) -> dict:
    median = {name: statistics.median(x[1:]) for name, x in seconds.items()}
    steps = round(options.ms / options.dt)
    return {
        "bench": "hh",
        "method": method,
        "neurons": n,
        "steps": steps,
        "dt_ms": options.dt,
        "wall_s": {name: float(f"{x:.4g}") for name, x in median.items()},
        "ns_per_update": float(f"{1e9 * median['ours, nothing'] / (n * steps):.4g}"),
        "over_bare": round(median["ours, nothing"] / median["bare, nothing"], 3),
        "v_costs": round(median["ours, v"] / median["ours, nothing"] - 1, 3),
        "threads": options.threads,
        "device": cpu_device(),
        "versions": versions(),
    }


def _currents(n) -> np.ndarray:
    return np.linspace(0.0, 20.0, n, dtype=np.float32) if n > 1 else np.full(1, 10.0, np.float32)


def _ours(n, method, options) -> dict:
    model = jn.neurons.HodgkinHuxley(method=getattr(jn.integrators, method))
    cells, drive = jn.Population("cells", n, model), jn.stimuli.Current(_currents(n))
    net = jn.build(jn.Description([cells], [], [jn.Stimulation("cells", drive)]), 0, options.dt)

    def case(record):
        return lambda: jn.simulate(net, options.ms, record=record, progress=False).run_s

    return {f"ours, {name}": case(record) for name, record in RECORDS.items()}


def _bare(n, method, options) -> dict:
    y = tuple(jnp.full(n, x, jnp.float32) for x in bare.START)
    currents, steps = jnp.asarray(_currents(n)), round(options.ms / options.dt)

    def case(record):
        def once():
            start = time.perf_counter()
            jax.block_until_ready(bare.run(y, currents, options.dt, method, steps, record))
            return time.perf_counter() - start

        return once

    return {"bare, nothing": case(False), "bare, v": case(True)}
