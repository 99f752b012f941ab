"""1,000 networks of 1,000 neurons over gain and seed: `jn.sweep` on one core and on all, a loop."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn

from ._balanced import coba, cuba
from ._run import DT, versions

__all__ = ["add_options", "run"]

NETWORKS = {"coba": coba, "cuba": cuba}
OPTIONS = {"xla_cpu_copy_insertion_use_region_analysis": True}
CASES = ("all", "loop", "sweep")


def add_options(parser) -> None:
    """What is swept; `--case` is for the processes that this benchmark starts."""
    known = getattr(os, "sched_getaffinity", None)
    parser.set_defaults(threads=len(known(0)) if known else os.cpu_count() or 1)
    parser.add_argument("--network", choices=sorted(NETWORKS), default="cuba")
    parser.add_argument("--neurons", type=int, default=1000)
    parser.add_argument("--gains", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=0.5, help="biological time")
    parser.add_argument("--chunk", type=int, default=None, help="points (default: measured)")
    parser.add_argument("--repeats", type=int, default=3, help="of all cases, in turn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", choices=CASES, default="all")
    parser.add_argument("--out", help="where a case puts its results")


def run(options) -> None:
    """JSON lines: one for each case and repeat, then ratios of medians; are the numbers equal?"""
    if options.case == "all":
        _run_all(options)
    else:
        _run_case(options)


def _run_all(options) -> None:
    wanted = [("loop", 1), ("sweep", 1), ("sweep", options.threads)]
    cases: list[tuple[str, int]] = list(dict.fromkeys(wanted))
    lines: dict[tuple, list] = {case: [] for case in cases}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.repeats):
            for case in cases:
                lines[case].append(_child(options, case[0], case[1], Path(folder)))
                print(json.dumps(lines[case][-1]), flush=True)
        found = [np.load(Path(folder) / f"{name}{threads}.npz") for name, threads in cases]
        names = found[0].files
        same = all(np.array_equal(found[0][k], x[k]) for x in found[1:] for k in names)
    run_s = {case: statistics.median(x["run_s"] for x in lines[case]) for case in cases}
    loop, one, many = (run_s[case] for case in (cases[0], cases[1], cases[-1]))
    line = {
        "bench": "sweep",
        "loop_s": round(loop, 3),
        "sweep_one_core_s": round(one, 3),
        "sweep_s": round(many, 3),
        "threads": options.threads,
        "one_core_over_all": round(one / many, 2),
        "loop_over_sweep": round(loop / many, 2),
        "loop_over_one_core": round(loop / one, 2),
        "same_bits": bool(same),
    }
    print(json.dumps(line), flush=True)


def _child(options, case: str, threads: int, folder: Path) -> dict:
    """One case in a process of its own, for XLA's pool of threads is fixed in each."""
    command = [sys.executable, "-m", "benchmarks", "sweep", "--case", case]
    command += ["--threads", str(threads), "--out", str(folder / f"{case}{threads}.npz")]
    for name in ("network", "neurons", "gains", "seeds", "seconds", "seed"):
        command += [f"--{name}", str(getattr(options, name))]
    if options.chunk is not None:
        command += ["--chunk", str(options.chunk)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _run_case(options) -> None:
    net = jn.build(NETWORKS[options.network](options.neurons), key=options.seed, dt=DT)
    n_steps = round(1e3 * options.seconds / DT)

    def fn(gain: Any, seed: Any) -> dict:
        return _one(net, gain, seed, n_steps)

    grid = {
        "gain": np.linspace(0.8, 1.2, options.gains, dtype=np.float32),
        "seed": np.arange(options.seeds, dtype=np.int32),
    }
    more: dict[str, Any] = {}
    if options.case == "loop":
        values, compile_s, run_s = _loop(net, grid, n_steps)
    else:
        result = jn.sweep(fn, grid, chunk=options.chunk, progress=False)
        values, compile_s, run_s = result.values, result.compile_s, result.run_s
        more = {"chunk": result.chunk, "tried": {k: round(v, 6) for k, v in result.tried.items()}}
    if options.out:
        np.savez(options.out, **values)
    line = {
        "bench": f"sweep {options.case}",
        "network": options.network,
        "neurons": options.neurons,
        "networks": options.gains * options.seeds,
        "bio_s": options.seconds,
        "compile_s": round(compile_s, 3),
        "run_s": round(run_s, 4),
        **more,
        "threads": options.threads,
        "versions": versions(),
    }
    print(json.dumps(line), flush=True)


def _one(net: jn.Network, gain: Any, seed: Any, n_steps: int) -> dict:
    for source in ("E0", "I0"):
        net = net.set(f"{source}->E0", gain=gain)
    record = jn.Record(spikes=False, rates=True)
    state, recorded = jn.scan(net, net.init(seed), n_steps, record=record)
    spikes = {f"spikes {k}": jnp.sum(recorded.counts[k]) for k in ("E0", "I0")}
    return spikes | {"v": net.read(state, "E0", "v")}


def _loop(net: jn.Network, grid: dict, n_steps: int) -> tuple[dict, float, float]:
    """A compiled single run, called for each point in turn."""
    one = jax.jit(_one, static_argnums=3, compiler_options=OPTIONS)
    start = time.perf_counter()
    jax.block_until_ready(one(net, grid["gain"][0], grid["seed"][0], n_steps))
    compile_s = time.perf_counter() - start
    start = time.perf_counter()
    rows = [jax.device_get(one(net, g, s, n_steps)) for g in grid["gain"] for s in grid["seed"]]
    run_s = time.perf_counter() - start
    shape = tuple(map(len, grid.values()))
    values = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    values = {name: x.reshape(*shape, *x.shape[1:]) for name, x in values.items()}
    return values, compile_s, run_s
