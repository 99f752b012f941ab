"""Cost per synaptic event and per neuron update, from 4,000 to 10 million neurons.

COBA with 80 stored synapses per neuron, and a sparse balanced network with 1,000 that are not
stored. Each size runs in a process of its own.
"""

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from jaxneuro._kernels.bits import packed_bytes
from jaxneuro._kernels.deliver import deliver
from jaxneuro._kernels.spike_output import SpikeOutput

from . import _balanced, _sparse
from ._record import peak_rss_mb, round_floats
from ._run import versions

__all__ = ["add_options", "run"]

# Network, neurons, time step [ms], milliseconds of biology for --seconds 1.
CASES = {
    "coba 4k": ("coba", 4_000, 0.1, 1000.0),
    "coba 40k": ("coba", 40_000, 0.1, 500.0),
    "coba 400k": ("coba", 400_000, 0.1, 100.0),
    "coba 4M": ("coba", 4_000_000, 0.1, 30.0),
    "stored 100k": ("stored", 100_000, 0.1, 200.0),
    "drawn 100k": ("drawn", 100_000, 0.1, 200.0),
    "drawn 1M": ("drawn", 1_000_000, 0.1, 1000.0),
    "drawn 10k, 1 ms": ("drawn", 10_000, 1.0, 1000.0),
    "drawn 100k, 1 ms": ("drawn", 100_000, 1.0, 1000.0),
    "drawn 1M, 1 ms": ("drawn", 1_000_000, 1.0, 1000.0),
    "drawn 10M, 1 ms": ("drawn", 10_000_000, 1.0, 100.0),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this benchmark."""
    parser.add_argument("--seconds", type=float, default=1.0, help="scales the biological time")
    parser.add_argument("--case", nargs="*", choices=CASES, help="only these")
    parser.add_argument("--here", action="store_true", help="one case, in this process")
    parser.add_argument("--fan-out", type=int, default=1000, help="targets that are not stored")


def run(options: argparse.Namespace) -> None:
    """One JSON line per size."""
    cases = options.case or list(CASES)
    if options.here:
        print(json.dumps(round_floats_in(_case(cases[0], options))), flush=True)
        return
    for case in cases:
        command = [sys.executable, "-m", "benchmarks", "scaling", "--here", "--case", case]
        command += ["--seconds", str(options.seconds), "--threads", str(options.threads)]
        subprocess.run([*command, "--fan-out", str(options.fan_out)], check=True)


def round_floats_in(line: dict) -> dict:
    """Every float to four digits."""
    return {key: round_floats(value) for key, value in line.items()}


def _describe(kind: str, neurons: int, dt: float, fan_out: int) -> jn.Description:
    if kind == "coba":
        return _balanced.coba(neurons)
    return _sparse.description(neurons, fan_out, kind == "stored", 1.5 if dt == 0.1 else 2.0)


def _delivery(net: jn.Network, result: jn.Result) -> tuple[float, int]:
    """Seconds per step of the deliveries of a run's last steps alone, and their spikes."""
    runtime: Any = net.expand()
    (pathway,) = runtime.pathways
    steps = min(result.n_steps, 200)
    first = result.n_steps - steps
    bits = np.zeros((steps, packed_bytes(net.n_neurons)), np.uint8)
    spikes = 0
    for name in net.populations:
        times, neurons = result.events(name)
        step = np.rint(times / net.dt).astype(np.int64) - 1 - first
        mine, start = step >= 0, net.population(name)[1].start
        at = neurons[mine] + start
        np.bitwise_or.at(bits, (step[mine], at >> 3), np.uint8(1) << (at & 7).astype(np.uint8))
        spikes += int(mine.sum())

    def loop(ring: Any, bits: Any, pathway: Any) -> Any:
        def body(carry: Any, now: Any) -> Any:
            ring, step = carry
            args = ring, SpikeOutput(now), step, pathway.scale, pathway.weights, pathway.table
            return (deliver(*args, True), step + 1), None

        return jax.lax.scan(body, (ring, jnp.int32(first)), bits)[0][0].sum()

    args = net.init(0).groups[pathway.target].ring, jnp.asarray(bits), pathway
    run = jax.jit(loop).lower(*args).compile()
    seconds = []
    for _ in range(4):
        start_s = time.perf_counter()
        run(*args).block_until_ready()
        seconds.append(time.perf_counter() - start_s)
    return sorted(seconds[1:])[1] / steps, spikes


def _median(net: jn.Network, ms: float, repeats: int) -> tuple[float, jn.Result]:
    runs = [jn.simulate(net, ms, key=1, progress=False) for _ in range(repeats)]
    return sorted(r.run_s for r in runs)[len(runs) // 2], runs[-1]


def _case(case: str, options: argparse.Namespace) -> dict:
    kind, neurons, dt, ms = CASES[case]
    ms = max(round(ms * options.seconds / dt), 1) * dt
    description = _describe(kind, neurons, dt, options.fan_out)
    start = time.perf_counter()
    net = jn.build(description, key=1, dt=dt)
    build_s = time.perf_counter() - start
    repeats = 1 if net.n_neurons >= 1_000_000 else 3
    jn.simulate(net, min(ms, 20 * dt), key=1, progress=False)
    wall_s, result = _median(net, ms, repeats)
    spikes = sum(result.events(name)[0].size for name in net.populations)
    steps, fan_out = result.n_steps, net.n_synapses / net.n_neurons
    delivery_s, delivered = _delivery(net, result)
    per_event = delivery_s * min(steps, 200) / max(delivered * fan_out, 1)
    neurons_s = wall_s - per_event * spikes * fan_out
    late = sum((result.events(name)[0] > ms / 2).sum() for name in net.populations)
    return {
        "bench": "scaling",
        "case": case,
        "neurons": net.n_neurons,
        "synapses": net.n_synapses,
        "dt_ms": dt,
        "bio_s": ms * 1e-3,
        "build_s": build_s,
        "wall_s": wall_s,
        "rtf": wall_s / (ms * 1e-3),
        "us_per_step": wall_s * 1e6 / steps,
        "ns_per_neuron": neurons_s * 1e9 / steps / net.n_neurons,
        "ns_per_event": per_event * 1e9,
        "rate_hz": spikes / net.n_neurons / (ms * 1e-3),
        "late_rate_hz": float(late) / net.n_neurons / (ms * 0.5e-3),
        "theory_hz": None if kind == "coba" else _sparse.theory_hz(options.fan_out),
        "peak_rss_mb": peak_rss_mb(),
        "threads": options.threads,
        "versions": versions(),
    }
