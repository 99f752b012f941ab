"""Times settings of XLA: the balanced networks with one setting changed at a time."""

import json
import os
import statistics
import subprocess
import sys

import jaxneuro as jn
from jaxneuro._run import chunks as _program

from . import _balanced
from ._run import DT, add_network_options, versions

__all__ = ["add_options", "run"]

CASES = (
    "as set",
    "no region analysis",
    "no 512-bit vectors",
    "two threads",
    "multi-output fusion",
    "flatten after fusion",
)
_EXTRA = "--xla_backend_extra_options=xla_cpu_"
_FLAGS = {
    "multi-output fusion": f"{_EXTRA}use_multi_output_fusion=true",
    "flatten after fusion": f"{_EXTRA}flatten_after_fusion=true",
}


def add_options(parser) -> None:
    """The options of this benchmark."""
    add_network_options(parser)
    parser.add_argument("--case", choices=CASES, help="only this one, in this process")


def run(options) -> None:
    """One JSON line per case and network; the cases in turn, each in a process of its own."""
    if options.case:
        _case(options)
        return
    seconds: dict[str, list[dict]] = {case: [] for case in CASES}
    for _ in range(options.repeats):
        for case in CASES:
            command = [sys.executable, "-m", "benchmarks", "settings", "--case", case]
            command += ["--neurons", str(options.neurons), "--seconds", str(options.seconds)]
            command += ["--threads", str(options.threads)]
            env = {**os.environ, "XLA_FLAGS": _FLAGS.get(case, "")}
            done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
            seconds[case].append(json.loads(done.stdout))
    for case, lines in seconds.items():
        wall = {net: statistics.median(x[net] for x in lines) for net in lines[0]}
        line = {"bench": "settings", "case": case, "neurons": options.neurons, "wall_s": wall}
        print(json.dumps({**line, "versions": versions()}), flush=True)


def _case(options) -> None:
    if options.case == "no region analysis":
        _program._OPTIONS.pop("xla_cpu_copy_insertion_use_region_analysis")
    if options.case == "no 512-bit vectors":
        _program._OPTIONS.pop("xla_cpu_prefer_vector_width")
    wall = {}
    for name in ("coba", "cuba"):
        net = jn.build(getattr(_balanced, name)(options.neurons), key=1, dt=DT)
        runs = [jn.simulate(net, 1e3 * options.seconds, key=1, progress=False) for _ in range(4)]
        wall[name] = round(statistics.median(r.run_s for r in runs[1:]), 5)
    print(json.dumps(wall))
