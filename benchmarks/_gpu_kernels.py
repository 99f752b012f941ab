"""Counts launches per step of a compiled loop and events of a run, and times deliveries alone."""

import gzip
import json
import re
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from jaxneuro._kernels.spike_output import SpikeOutput
from jaxneuro._kernels.table import Section

from ._run import DT

# Instructions of optimised HLO that launch nothing.
_FREE = (
    "get-tuple-element",
    "bitcast",
    "tuple",
    "parameter",
    "constant",
    "after-all",
    "fusion-done",
    "copy-done",
    "async-done",
)
NO_COMMAND_BUFFERS = {"xla_gpu_enable_command_buffer": ""}


def computations(text: str) -> dict[str, list[str]]:
    """The lines of every computation of an HLO module, by its name."""
    parts = re.split(r"^(?=(?:ENTRY )?%\S+ \()", text, flags=re.MULTILINE)
    found = ((re.match(r"(?:ENTRY )?%(\S+) \(", p), p) for p in parts)
    return {m[1]: p.splitlines()[1:] for m, p in found if m}


def launches(text: str) -> list[str]:
    """The launches of one step: those of the body of the longest while loop, by instruction.

    A `call` (such as a command buffer) counts as what it calls; a loop inside as one `while`.
    """
    by_name = computations(text)

    def of(name: str) -> list[str]:
        out = []
        for line in by_name[name]:
            found = re.match(r"\s*(?:ROOT )?%(\S+) = .*?\s([a-z][a-z\-]*)\(", line)
            if not found or found[2] in _FREE:
                continue
            called = re.search(r"to_apply=%([\w.\-]+)", line)
            out += of(called[1]) if found[2] == "call" and called else [found[1]]
        return out

    bodies = [of(name) for name in dict.fromkeys(re.findall(r"body=%([\w.\-]+)", text))]
    return max(bodies, key=len, default=[])


def all_launches(text: str) -> int:
    """The launches of one step, those of loops inside as often as they are known to run.

    Of the branches of a conditional the one with the most counts, and the choice is one launch.
    """
    by_name = computations(text)

    def of(name: str) -> int:
        return sum(of_line(line) for line in by_name[name])

    def of_line(line: str) -> int:
        found = re.match(r"\s*(?:ROOT )?%\S+ = .*?\s([a-z][a-z\-]*)\(", line)
        if not found or found[1] in _FREE:
            return 0
        if found[1] == "while":
            times = re.search(r'known_trip_count":\{"n":"(\d+)"', line)
            return int(times[1] if times else 1) * of(_named("body", line)[0])
        if found[1] == "conditional":
            branches = ("true_computation", "false_computation", "branch_computations")
            return 1 + max(of(name) for key in branches for name in _named(key, line))
        return of(_named("to_apply", line)[0]) if found[1] == "call" else 1

    entry = re.search(r"^ENTRY %(\S+) \(", text, flags=re.MULTILINE)
    loops = [line for line in by_name[entry[1]] if " while(" in line] if entry else []
    return max((of(_named("body", line)[0]) for line in loops), default=0)


def _named(key: str, line: str) -> list[str]:
    """The computations that an instruction calls as `key`."""
    found = re.search(key + r"=(?:\{([^}]*)\}|(%[\w.\-]+))", line)
    return re.findall(r"%([\w.\-]+)", found[0]) if found else []


def compiled_scan(net: jn.Network, n_steps: int, options: dict | None) -> tuple[Any, Any]:
    """The compiled loop of a network that records its spikes, and its arguments."""

    def run(net, state):
        return jn.scan(net, state, n_steps)

    args = net, net.init(1)
    return jax.jit(run).lower(*args).compile(compiler_options=options), args


def seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    """Median wall seconds of a call that has run once before."""
    jax.block_until_ready(call())
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(call())
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def device_us(call: Callable[[], Any], n_steps: int) -> dict[str, float]:
    """Microseconds per step that each kernel runs on the card, by JAX's profiler."""
    jax.block_until_ready(call())
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            jax.block_until_ready(call())
        (file,) = Path(folder).rglob("*.trace.json.gz")
        events = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    named = [e for e in events if e.get("name") == "thread_name"]
    streams = {(e["pid"], e["tid"]) for e in named if "Stream" in e["args"]["name"]}
    taken: dict[str, float] = {}
    for e in events:
        if e.get("ph") == "X" and (e["pid"], e["tid"]) in streams:
            taken[e["name"]] = taken.get(e["name"], 0.0) + e["dur"]
    return {k: round(v / n_steps, 3) for k, v in taken.items() if v > 0.01 * n_steps}


def pathway(neurons: int, inputs: int, own: bool) -> jn.Network:
    """One population onto itself, `inputs` synapses per neuron."""
    weight = jn.Normal(1.0, 0.1) if own else 1.0
    delay = jn.Normal(1.5, 0.75, low=DT, high=5.0) if own else 1.5
    rule = jn.connectivity.FixedProbability(min(1.0, inputs / neurons))
    synapse = jn.synapses.Exponential()
    wire = jn.Projection("E", "E", rule, weight=weight, delay=delay, synapse=synapse)
    return jn.build(
        jn.Description([jn.Population("E", neurons, jn.neurons.LIF())], [wire]), key=1, dt=DT
    )


def delivery_us(net: jn.Network, part: float, n_steps: int, call: Callable) -> float:
    """Microseconds of one delivery in which a part of the neurons fires, in a compiled loop."""
    (p,) = net.pathways
    n = net.groups[0].n
    fired = np.random.default_rng(0).random(n) < part
    bits = np.packbits(np.pad(fired, (0, -n % 64)), bitorder="little")
    scale = (p.weight * p.gain)[p.table.block_projection]

    @jax.jit
    def loop(bits, scale, weights, table):
        def body(k, ring):
            return call(ring, SpikeOutput(bits), k, scale, weights, table, True)

        return jax.lax.fori_loop(0, n_steps, body, jnp.zeros((net.groups[0].slots, n)))

    args = jnp.asarray(bits), scale, p.weights, p.table
    return seconds(lambda: loop(*args)) / n_steps * 1e6


WALK_DT = 0.01  # ms: RK4 of the squid axon


def unconnected(neurons: int, method: Any, n_steps: int) -> tuple[jn.Network, Any]:
    """Squid axons that nothing connects, and a current of their own [uA/cm2] for each."""
    axon = jn.neurons.HodgkinHuxley(method=method)
    net = jn.build(jn.Description([jn.Population("E", neurons, axon)]), key=1, dt=WALK_DT)
    return net, {"E": jnp.linspace(0.0, 30.0, neurons) * jnp.ones((n_steps, 1))}


def walked_and_looped(n_steps: int, interpret: bool, lanes: int | None = None) -> tuple[Any, Any]:
    """One launch for all steps, and the plain loop: each `(net, state, inputs) -> (bits, v)`."""
    from jaxneuro._run import one_launch

    record = jn.Record(variables={"E": "v"}, interval=n_steps // 10 * WALK_DT)

    def walk(net, state, inputs):
        options = {"lanes": lanes, "interpret": interpret}
        _, ((bits, _), sampled, _) = one_launch.fused(
            net, net.expand(), state, inputs, record, n_steps, **options
        )
        return bits[0], sampled.traces["E"]["v"]

    def loop(net, state, inputs):
        fusable, one_launch.fusable = one_launch.fusable, lambda *_: False
        try:
            recorded = jn.scan(net, state, n_steps, inputs, record)[1]
        finally:
            one_launch.fusable = fusable
        spikes: Any = recorded.spikes
        return spikes.bits[0], recorded.traces["E"]["v"]

    return jax.jit(walk), jax.jit(loop)


def events_of(net: Any, spikes: dict[str, int]) -> float:
    """Synaptic events of a run: spikes of each population times its mean fan-out."""
    events = 0.0
    for p in net.pathways:
        sections = [Section.read(words) for words in np.asarray(p.table.sections)]
        edges = np.unique([*(s.targets for s in sections), p.table.n_synapses])
        for s in sections:
            size = edges[edges > s.targets].min(initial=p.table.n_synapses) - s.targets
            for name in net.populations:
                group, span = net.population(name)
                if group == p.source and span.start <= s.first_row < span.stop:
                    events += spikes[name] * size / (span.stop - span.start)
    return events
