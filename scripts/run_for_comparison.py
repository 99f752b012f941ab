"""Runs one case with the package on the path, for `compare_checkouts.py`.

Prints one JSON line: how many spikes or numbers, a fingerprint of all of them, and the fastest wall
time after compilation.
"""

import argparse
import dataclasses
import hashlib
import importlib
import json
import os
import runpy
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[0] = str(Path.cwd())  # the checkout, and not the folder of this file
if sys.argv[1:2] == ["devices"]:
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import jaxneuro as jn  # noqa: E402

Numbers = dict[str, Any]  # arrays by name: what must be the same


def balanced(name: str, neurons: int, ms: float) -> Callable[[int], tuple[Numbers, float]]:
    """COBA or CUBA."""
    describe = lambda: getattr(importlib.import_module("benchmarks._balanced"), name)(neurons)  # noqa: E731
    return lambda runs: simulated(describe(), ms, runs)


def brunel(runs: int) -> tuple[Numbers, float]:
    return simulated(importlib.import_module("benchmarks.brunel").description(12_500), 500.0, runs)


def microcircuit(runs: int) -> tuple[Numbers, float]:
    """At a tenth of its size."""
    describe = runpy.run_path("examples/cortical_microcircuit.py")["description"]
    return simulated(describe(0.1), 500.0, runs)


def flybrain(runs: int) -> tuple[Numbers, float]:
    """The fly's brain, of random edges."""
    describe = importlib.import_module("benchmarks.flybrain").of_size
    return simulated(describe(138_639), 300.0, runs)


def lattice(runs: int) -> tuple[Numbers, float]:
    """The example as it is, and again with what it built."""
    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["lattice", "--side", "60", "--ms", "200", "--out", f"{folder}/lattice.gif"]
        names = runpy.run_path("examples/lattice.py", run_name="example")
    return fastest(names["net"], 200.0, runs, record=names["record"])


def plastic(runs: int) -> tuple[Numbers, float]:
    """STDP on the excitation of COBA 2,000, Vogels' rule on its inhibition."""
    d = importlib.import_module("benchmarks._balanced").coba(2000)
    rules = {
        "E0->E0": jn.plasticity.PairSTDP(w_max=12.0),
        "I0->E0": jn.plasticity.VogelsSTDP.with_target(10.0, w_max=200.0),
    }
    learned = [dataclasses.replace(p, plasticity=rules.get(p.name)) for p in d.projections]
    net = jn.build(dataclasses.replace(d, projections=learned), key=1, dt=0.1)
    numbers, wall = fastest(net, 300.0, runs)
    state = jn.simulate(net, 300.0, key=1, progress=False).state
    return numbers | {name: np.asarray(net.weights(state, name)) for name in rules}, wall


def devices(runs: int) -> tuple[Numbers, float]:
    """COBA 4,000 over 8 devices of one process."""
    d = importlib.import_module("benchmarks._balanced").coba(4000)
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("devices",))
    return fastest(jn.parallel.shard(jn.build(d, key=1, dt=0.1), mesh), 50.0, runs)


def training(runs: int) -> tuple[Numbers, float]:
    """Slopes of the rates by four gains, through a surrogate."""
    lif = {"surrogate": jn.surrogates.FastSigmoid()}
    model = jn.neurons.LIF(20.0, 200.0, -60.0, -50.0, -60.0, 5.0, **lif)
    cells = [jn.Population(k, n, model, {"v": jn.Uniform(-60.0, -50.0)}) for k, n in SIZES.items()]
    rule, receptor = jn.connectivity.FixedProbability(0.1), jn.synapses.ExponentialConductance
    given = {"E": (12.0, receptor(5.0, 0.0)), "I": (67.0, receptor(10.0, -80.0))}
    wires = [
        jn.Projection(a, b, rule, weight=given[a][0], synapse=given[a][1], delay=1.0)
        for a in SIZES
        for b in SIZES
    ]
    drive = [jn.Stimulation(name, jn.stimuli.Current(200.0)) for name in SIZES]
    net = jn.build(jn.Description(cells, wires, drive), key=1, dt=0.1)
    record = jn.Record(spikes=False, rates=True)

    def rates(gains: dict) -> Any:
        changed = net
        for name, gain in gains.items():
            changed = changed.set(name, gain=gain)
        counts = jn.scan(changed, changed.init(1), 500, record=record)[1].counts
        return sum(counts[k].sum() / n for k, n in SIZES.items())

    slopes = jax.jit(jax.value_and_grad(rates))
    gains = dict.fromkeys(("E->E", "E->I", "I->E", "I->I"), jnp.float32(1.0))
    return timed(lambda: slopes(gains), runs)


def sweep(runs: int) -> tuple[Numbers, float]:
    """The activity of CUBA 1,000 over gains and seeds."""
    net = jn.build(importlib.import_module("benchmarks._balanced").cuba(1000), key=1, dt=0.1)
    record = jn.Record(spikes=False, rates=True)

    def activity(gain: Any, key: Any) -> Any:
        changed = net.set(net.projections[0], gain=gain)
        counts = jn.scan(changed, changed.init(key), 500, record=record)[1].counts
        return {name: x.sum() for name, x in counts.items()}

    grid = {"gain": np.linspace(0.5, 1.5, 4, dtype=np.float32), "key": np.arange(8)}
    return timed(lambda: jn.sweep(activity, grid, progress=False).values, runs)


def merge(runs: int) -> tuple[Numbers, float]:
    """Two assemblies and their merge, in hashed areas of 100,000 neurons."""
    ac = jn.assemblies
    areas = [ac.Area(name, 100_000, 317) for name in "ABC"]
    ends = ("SA", "TB", "AA", "BB", "CC", "AC", "CA", "BC", "CB")
    stimuli = [ac.Stimulus(name, 317) for name in "ST"]
    brain = ac.Brain(areas, stimuli, [ac.Fibre(*x) for x in ends], p=0.01, beta=0.05)

    @jax.jit
    def merged(key: Any) -> Any:
        state = ac.merge(brain, brain.init(key), ["A", "B"], "C", 10, ["S", "T"])
        return [brain.cap(state, name) for name in "ABC"]

    return timed(lambda: merged(1), runs)


SIZES = {"E": 160, "I": 40}
CASES = {
    "coba-400": balanced("coba", 400, 200.0),
    "coba-4000": balanced("coba", 4000, 1000.0),
    "coba-40000": balanced("coba", 40_000, 500.0),
    "coba-400000": balanced("coba", 400_000, 50.0),
    "cuba-4000": balanced("cuba", 4000, 1000.0),
    "cuba-40000": balanced("cuba", 40_000, 500.0),
    "brunel": brunel,
    "microcircuit": microcircuit,
    "flybrain": flybrain,
    "lattice": lattice,
    "plastic": plastic,
    "devices": devices,
    "training": training,
    "sweep": sweep,
    "merge": merge,
}


def simulated(description: Any, ms: float, runs: int) -> tuple[Numbers, float]:
    return fastest(jn.build(description, key=1, dt=0.1), ms, runs)


def fastest(net: Any, ms: float, runs: int, record: Any = None) -> tuple[Numbers, float]:
    """The spikes of a run, and the wall time of the fastest after the first."""
    results = [jn.simulate(net, ms, key=1, record=record, progress=False) for _ in range(runs + 1)]
    events = {name: results[0].events(name) for name in sorted(results[0].populations)}
    return events, min(result.run_s for result in results[1:])


def timed(work: Callable[[], Any], runs: int) -> tuple[Numbers, float]:
    """What a function gives, and the wall time of the fastest call after the first."""
    seconds = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        given = jax.block_until_ready(work())
        seconds.append(time.perf_counter() - start)
    leaves = jax.tree_util.tree_leaves_with_path(given)
    return {jax.tree_util.keystr(k): np.asarray(x) for k, x in leaves}, min(seconds[1:])


def main(case: str, threads: int, runs: int) -> None:
    jn.configure_cpu(threads=threads)
    numbers, wall = CASES[case](runs)
    digest, count = hashlib.sha256(), 0
    for name, arrays in numbers.items():
        digest.update(name.encode())
        for x in arrays if isinstance(arrays, tuple) else (arrays,):
            digest.update(np.ascontiguousarray(x).tobytes())
        count += np.size(arrays[0]) if isinstance(arrays, tuple) else np.size(arrays)
    print(json.dumps({"count": count, "numbers": digest.hexdigest(), "wall_s": wall}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=CASES)
    parser.add_argument("threads", type=int)
    parser.add_argument("runs", type=int)
    given = parser.parse_args()
    main(given.case, given.threads, given.runs)
