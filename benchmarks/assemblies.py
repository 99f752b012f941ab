"""Times the assembly calculus: a projection, many brains at once, and every operation."""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxneuro import assemblies as ac
from jaxneuro._kernels.native import native_available

from ._record import cpu_device, peak_rss_mb, round_floats
from ._run import versions


def add_options(parser: argparse.ArgumentParser) -> None:
    """Sizes, the form of the synapses, how many brains, and what else."""
    parser.add_argument("--n", type=float, default=1e6)
    parser.add_argument("--k", type=int, default=1000)
    parser.add_argument("--p", type=float, default=0.01)
    parser.add_argument("--beta", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--connectome", default="sampled", choices=ac.CONNECTOMES)
    parser.add_argument("--capacity", type=int, help="neurons that a sampled area keeps")
    parser.add_argument("--brains", type=int, default=0, help="so many at once, by vmap")
    parser.add_argument("--operations", action="store_true", help="a table of all operations")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--against",
        choices=["numpy"],
        help="also the published simulator's equations in NumPy (tests/oracle/assembly_sampled.py)",
    )


def run(options: argparse.Namespace) -> None:
    """One JSON line: medians of wall seconds after compilation."""
    if options.operations:
        return operations(options)
    brain = one_area(options)
    brains = max(options.brains, 1)
    compiled, start = _projection(brain, options, brains)
    seconds, seen = _timed(compiled, options.repeats)
    support = np.asarray(seen).reshape(brains, options.rounds)
    line = {
        **_about(options),
        "brains": brains,
        "init_s": start["init"],
        "compile_s": start["compile"],
        "run_s": statistics.median(seconds),
        "spread_s": [min(seconds), max(seconds)],
        "round_ms": statistics.median(seconds) / options.rounds / brains * 1e3,
        "state_mb": ac.memory(brain) / 1e6,
        "support": [float(support[:, -1].mean()), float(support[:, -1].std())],
        "peak_rss_mb": peak_rss_mb(),
    }
    if options.against:
        line["numpy_s"], line["numpy_support"] = _in_numpy(options)
        line["numpy/ours"] = line["numpy_s"] / line["run_s"] * brains
    _write(line)


def one_area(options: argparse.Namespace) -> ac.Brain:
    """An area that hears a stimulus of k neurons and itself."""
    capacity = {} if options.capacity is None else {"capacity": options.capacity}
    area = ac.Area("A", int(options.n), options.k, options.connectome, **capacity)
    fibres = [ac.Fibre("S", "A"), ac.Fibre("A", "A")]
    rounds = max(options.rounds, 32)
    stimuli = [ac.Stimulus("S", options.k)]
    return ac.Brain([area], stimuli, fibres, p=options.p, beta=options.beta, rounds=rounds)


def _projection(brain: ac.Brain, options: Any, brains: int) -> tuple[Callable, dict[str, float]]:
    """The projection as a compiled function of nothing, and seconds spent before."""
    mask = brain.active("S->A", "A->A")

    def project(state: Any) -> Any:
        return ac.run(brain, state, mask, rounds=options.rounds)[1].support[:, 0]

    seeds = jnp.arange(brains, dtype=jnp.uint32)
    ours = brain.init if brains == 1 else jax.vmap(brain.init)
    init = jax.jit(lambda seed: ours(seed)).lower(seeds[0] if brains == 1 else seeds).compile()
    begin = time.perf_counter()
    state = jax.block_until_ready(init(seeds[0] if brains == 1 else seeds))
    drawn = time.perf_counter()
    compiled = jax.jit(project if brains == 1 else jax.vmap(project)).lower(state).compile()
    seconds = {"init": drawn - begin, "compile": time.perf_counter() - drawn}
    return lambda: compiled(state), seconds


def _timed(work: Callable[[], Any], repeats: int) -> tuple[list[float], Any]:
    out, seconds = jax.block_until_ready(work()), []
    for _ in range(repeats):
        start = time.perf_counter()
        out = jax.block_until_ready(work())
        seconds.append(time.perf_counter() - start)
    return seconds, out


def _in_numpy(options: argparse.Namespace) -> tuple[float, int]:
    from tests.oracle.assembly_sampled import Sampled

    areas, stimuli = {"A": (int(options.n), options.k)}, {"S": options.k}
    fibres = [("S", "A"), ("A", "A")]
    brain = Sampled(areas, stimuli, fibres, options.p, options.beta, 0, normal=True)
    start = time.perf_counter()
    for _ in range(options.rounds):
        brain.step(fibres)
    return time.perf_counter() - start, brain.support("A")


AREAS = "ABC"


def three_areas(options: argparse.Namespace) -> ac.Brain:
    """Three areas, each onto each and onto itself; a stimulus onto A and one onto B."""
    capacity = {} if options.capacity is None else {"capacity": options.capacity}
    areas = [ac.Area(a, int(options.n), options.k, options.connectome, **capacity) for a in AREAS]
    fibres = [ac.Fibre("SA", "A"), ac.Fibre("SB", "B")]
    fibres += [ac.Fibre(a, b) for a in AREAS for b in AREAS]
    stimuli = [ac.Stimulus(s, options.k) for s in ("SA", "SB")]
    return ac.Brain(areas, stimuli, fibres, p=options.p, beta=options.beta, rounds=192)


def operations(options: argparse.Namespace) -> None:
    """One JSON line per operation: seconds, operations per second, rounds of it."""
    brain, rounds = three_areas(options), options.rounds
    both = ["A", "B"], "C", rounds, ["SA", "SB"]
    state = brain.init(1)
    a = ac.project(brain, state, "SA", "A", rounds)
    ab = ac.project(brain, a, "SB", "B", rounds)
    parts: dict[str, tuple[int, Callable]] = {
        "project": (rounds, lambda: ac.project(brain, state, "SA", "A", rounds)),
        "reciprocal_project": (rounds, lambda: ac.reciprocal_project(brain, a, "A", "B", rounds)),
        "associate": (rounds, lambda: ac.associate(brain, ab, *both)),
        "merge": (rounds, lambda: ac.merge(brain, ab, *both)),
        "pattern_complete": (5, lambda: ac.pattern_complete(brain, a, "A", key=2)),
        "overlap": (0, lambda: ac.overlap(brain.cap(a, "A"), brain.cap(ab, "A"))),
        "density": (0, lambda: ac.density(brain, a, "A")),
    }
    if not brain.areas[0].sampled:
        caps = np.stack([np.arange(options.k), np.arange(options.k) + options.k // 2])
        separate = (2 * rounds, lambda: ac.separate(brain, state, "C", "B", caps, rounds))
        parts["separate"] = separate
    for name, (of, work) in parts.items():
        compiled = jax.jit(work).lower().compile()
        seconds = statistics.median(_timed(compiled, options.repeats)[0])
        size = {"operation": name, "rounds": of, "run_s": seconds, "per_second": 1 / seconds}
        _write({**_about(options), **size})


def _about(options: argparse.Namespace) -> dict[str, Any]:
    gpu = jax.devices()[0].platform == "gpu"
    return {
        "bench": "assemblies",
        "connectome": options.connectome,
        "n": int(options.n),
        "k": options.k,
        "p": options.p,
        "rounds": options.rounds,
        "threads": options.threads,
        "native": native_available(),
        "device": str(jax.devices()[0].device_kind) if gpu else cpu_device(),
        "versions": versions(),
    }


def _write(line: dict[str, Any]) -> None:
    rounded = {
        k: [round_floats(x) for x in v] if isinstance(v, list) else round_floats(v)
        for k, v in line.items()
    }
    print(json.dumps(rounded), flush=True)
