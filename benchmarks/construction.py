"""Draws about 10 million connections with several rules: seconds and bytes per synapse.

The full cortical microcircuit on two cores: `--case microcircuit --synapses 298880970 --threads 2`.
"""

import gc
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax

import jaxneuro as jn
from examples.cortical_microcircuit import K, N
from examples.cortical_microcircuit import description as microcircuit

from ._run import DT, versions

__all__ = ["add_options", "run"]

NEURONS = 10_000
_ONE = {"weight": 1.0, "delay": 1.5}
_OWN = {"weight": jn.Normal(1.0, 0.1, low=0.0), "delay": jn.Normal(1.5, 0.5, low=0.1)}
_BY_INDEX = {"weight": lambda i, j: 1.0 + 1e-4 * (i + j), "delay": 1.5}
_BY_DISTANCE = {
    "weight": jn.space.ByDistance(jn.space.Gaussian(100.0)),
    "delay": jn.space.ConductionDelay(300.0, 0.5),
}
_rules = jn.connectivity
# The rule for so many inputs per neuron, and weights and delays.
CASES: dict[str, tuple[Callable[[int], Any], dict]] = {
    "probability": (lambda k: _rules.FixedProbability(k / NEURONS), _ONE),
    "probability-normal": (lambda k: _rules.FixedProbability(k / NEURONS), _OWN),
    "probability-function": (lambda k: _rules.FixedProbability(k / NEURONS), _BY_INDEX),
    "indegree": (_rules.FixedIndegree, _ONE),
    "indegree-normal": (_rules.FixedIndegree, _OWN),
    "indegree-no-multapses": (partial(_rules.FixedIndegree, multapses=False), _ONE),
    "outdegree": (_rules.FixedOutdegree, _ONE),
    "total": (lambda k: _rules.FixedTotal(k * NEURONS), _ONE),
    "total-no-multapses": (lambda k: _rules.FixedTotal(k * NEURONS, multapses=False), _ONE),
    "symmetric": (lambda k: _rules.SymmetricBernoulli(k / NEURONS), _ONE),
    "all-to-all": (lambda k: _rules.AllToAll(), _ONE),
    "disc-distance": (
        lambda k: _rules.DistanceProbability(jn.space.Disc(10.0 * (k / math.pi) ** 0.5)),
        _BY_DISTANCE,
    ),
}
MICROCIRCUIT = "microcircuit"


def add_options(parser) -> None:
    """The options of this benchmark."""
    parser.add_argument("--synapses", type=float, default=1e7)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--case", choices=[*CASES, MICROCIRCUIT], help="only this one, in this process"
    )


def run(options) -> None:
    """One JSON line per rule: median seconds of `build`, bytes kept and at the peak."""
    if options.case:
        _case(options.case, options)
        return
    for case in (
        *CASES,
        MICROCIRCUIT,
    ):  # each in a process of its own: memory once taken is not given back
        command = [sys.executable, "-m", "benchmarks", "construction", "--case", case]
        command += ["--synapses", str(options.synapses), "--repeats", str(options.repeats)]
        command += ["--threads", str(options.threads)]
        subprocess.run(command, check=True)


def _description(n: int, rule, values) -> jn.Description:
    side = math.isqrt(n)
    sheet = jn.space.Grid((side, side), spacing=10.0, periodic=True) if side**2 == n else None
    population = jn.Population("E", n, jn.neurons.LIF(), positions=sheet)
    synapse = jn.synapses.Exponential()
    return jn.Description([population], [jn.Projection("E", "E", rule, synapse=synapse, **values)])


def _of_case(name: str, synapses: float) -> jn.Description:
    if name == MICROCIRCUIT:  # neurons and in-degrees are scaled
        return microcircuit((synapses / float((K[:, :8] * N[:8, None]).sum())) ** 0.5)
    rule, values = CASES[name]
    n = round(synapses**0.5) if name == "all-to-all" else NEURONS
    return _description(n, rule(round(synapses / NEURONS)), values)


def _case(name: str, options) -> None:
    description = _of_case(name, options.synapses)
    # JAX's own memory, taken when it first traces a model, is not the connections'.
    jax.block_until_ready(jn.build(_description(10, jn.connectivity.AllToAll(), _OWN), 1, DT))
    nets: list[jn.Network] = []
    peak = _peak_while(lambda: nets.append(jn.build(description, key=1, dt=DT)))
    size, kept = nets[0].n_synapses, nets[0].connection_bytes
    nets.clear()
    seconds = []
    for _ in range(options.repeats):
        start = time.perf_counter()
        jn.build(description, key=1, dt=DT)
        seconds.append(time.perf_counter() - start)
    build_s = sorted(seconds)[len(seconds) // 2]
    line = {
        "bench": "construction",
        "case": name,
        "synapses": size,
        "build_s": round(build_s, 4),
        "ns_per_synapse": round(build_s / size * 1e9, 1),
        "bytes_per_synapse": round(kept / size, 2),
        "peak_over_result": None if peak is None else round(peak / kept, 2),
        "threads": options.threads,
        "versions": versions(),
    }
    print(json.dumps(line), flush=True)


def _peak_while(build: Callable[[], Any]) -> int | None:
    """Bytes of resident memory that `build` took at its peak (Linux), result included."""
    try:
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # restarts the high-water mark
        before = _status("VmRSS")
        build()
        return _status("VmHWM") - before
    except OSError:
        return None


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(x.split()[1]) * 1024 for x in lines if x.startswith(field + ":"))
