"""Runs one network of the package on the path, for `compare_checkouts.py`.

Prints one JSON line: the number of spikes, a fingerprint of all of them, and the fastest wall time.
"""

import argparse
import hashlib
import importlib
import json
import runpy
import sys
import tempfile
from pathlib import Path

sys.path[0] = str(Path.cwd())  # the checkout, and not the folder of this file

import jaxneuro as jn  # noqa: E402


def networks() -> dict:
    """Name -> (description, duration [ms])."""
    balanced = importlib.import_module("benchmarks._balanced")
    brunel = importlib.import_module("benchmarks.brunel")
    return {
        "coba-4000": lambda: (balanced.coba(4000), 1000.0),
        "coba-40000": lambda: (balanced.coba(40_000), 500.0),
        "coba-400000": lambda: (balanced.coba(400_000), 50.0),
        "cuba-4000": lambda: (balanced.cuba(4000), 1000.0),
        "cuba-40000": lambda: (balanced.cuba(40_000), 500.0),
        "brunel": lambda: (brunel.description(12_500), 500.0),
        "microcircuit": lambda: (_microcircuit(), 500.0),
    }


def _microcircuit() -> jn.Description:
    return runpy.run_path("examples/cortical_microcircuit.py")["description"](0.1)


def _lattice(runs: int) -> list[jn.Result]:
    """The example as it is, and again with what it built."""
    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["lattice", "--side", "60", "--ms", "200", "--out", f"{folder}/lattice.gif"]
        names = runpy.run_path("examples/lattice.py", run_name="example")
    net, record = names["net"], names["record"]
    return [jn.simulate(net, 200.0, key=1, record=record, progress=False) for _ in range(runs)]


def main(network: str, threads: int, runs: int) -> None:
    jn.configure_cpu(threads=threads)
    if network == "lattice":
        results = _lattice(runs + 1)
    else:
        description, duration = networks()[network]()
        net = jn.build(description, key=1, dt=0.1)
        results = [jn.simulate(net, duration, key=1, progress=False) for _ in range(runs + 1)]
    digest, count = hashlib.sha256(), 0
    for name in sorted(results[0].populations):
        times, neurons = results[0].events(name)
        digest.update(name.encode() + times.tobytes() + neurons.tobytes())
        count += times.size
    wall = min(result.run_s for result in results[1:])
    print(json.dumps({"count": count, "spikes": digest.hexdigest(), "wall_s": wall}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network")
    parser.add_argument("threads", type=int)
    parser.add_argument("runs", type=int)
    given = parser.parse_args()
    main(given.network, given.threads, given.runs)
