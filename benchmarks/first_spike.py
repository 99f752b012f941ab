"""From `import jaxneuro` to the first spikes of COBA: the first run of a script, and the second."""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median
from typing import Any

from ._environments import PeerError
from ._peers import known_peers, run_peer
from ._record import Record, cpu_device, round_floats

MS = 10.0  # of biology; COBA's first spikes come in the first 5 ms

# What a user writes; the folder of compiled programs is an argument.
SCRIPT = f"""
import json, sys, time
start = time.perf_counter()
import jaxneuro as jn
jn.configure_cpu(cache=sys.argv[1])
imported = time.perf_counter()
from benchmarks._balanced import coba
net = jn.build(coba(int(sys.argv[2])), key=1, dt=0.1)
built = time.perf_counter()
result = jn.simulate(net, {MS}, progress=False)
assert result.events("E0")[0].size
end = time.perf_counter()
print(json.dumps({{
    "first_spike_s": end - start, "import_s": imported - start, "build_s": built - imported,
    "compile_s": result.compile_s, "run_s": result.run_s,
}}))
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The number of neurons, of turns, and the simulators to run beside."""
    parser.add_argument("--neurons", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--against", nargs="*", default=[], choices=known_peers("coba"))


def ours(folder: str, neurons: int) -> Record:
    """One run in a process of its own, with compiled programs in a folder."""
    command = [sys.executable, "-c", SCRIPT, folder, str(neurons)]
    env = {k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"}
    start = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    whole = time.perf_counter() - start
    return json.loads(done.stdout.splitlines()[-1]) | {"process_s": whole}


def peer(name: str, neurons: int) -> Record:
    """One run of another simulator: its whole process, with describing, compiling and building."""
    start = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):  # its own record is not one of this benchmark
        run_peer(name, "coba", neurons, 1e-3 * MS)
    return {"process_s": time.perf_counter() - start}


def turns(options: argparse.Namespace) -> dict[str, list[Record]]:
    """Each way in turn; a peer that fails is left out of the turns that follow."""
    found: dict[str, list[Record]] = {}
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as folder:
            for run in ("jaxneuro, first run", "jaxneuro, second run"):
                found.setdefault(run, []).append(ours(folder, options.neurons))
        for name in options.against:
            try:
                found.setdefault(name, []).append(peer(name, options.neurons))
            except PeerError as error:
                print(error, file=sys.stderr)
                options.against = [x for x in options.against if x != name]
    return found


def line_of(impl: str, records: list[Record], neurons: int) -> dict[str, Any]:
    """Medians over the turns, as one JSON line."""
    middle = {k: round_floats(median(x[k] for x in records)) for k in records[0]}
    about = {"bench": "first_spike", "impl": impl, "neurons": neurons, "turns": len(records)}
    return {**about, **middle, "device": cpu_device()}


def run(options: argparse.Namespace) -> None:
    """Runs the benchmark and prints a JSON line per way."""
    for impl, records in turns(options).items():
        if records:
            print(json.dumps(line_of(impl, records, options.neurons)), flush=True)
