"""A run that is killed again and again, beside one that is not: the same bits?

    python scripts/survives.py [--seconds 600] [--kills 10] [--devices 2] [--every 5]

A tenth of the cortical microcircuit, whose excitatory synapses of layer 4 are plastic, runs in a
process that is killed (SIGKILL) at random moments and started again, over virtual devices of the
CPU; then another process runs it at once. Prints what both took, and whether every spike, weight
and number of the state is the same. Exits with 1 where one is not.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import random
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def child(options: argparse.Namespace) -> None:
    """One process of the run; at its end a JSON line."""
    import jax
    import numpy as np

    import jaxneuro as jn

    made = runpy.run_path(str(ROOT / "examples/cortical_microcircuit.py"))["description"](0.1)
    rule = jn.plasticity.PairSTDP(rate=0.001, w_max=800.0)
    learned = [
        dataclasses.replace(p, plasticity=rule if p.name == "4E->4E" else None)
        for p in made.projections
    ]
    net = jn.build(dataclasses.replace(made, projections=learned), 1, 0.1)
    if options.devices > 1:
        mesh = jax.sharding.Mesh(np.array(jax.devices()[: options.devices]), ("devices",))
        net = jn.parallel.shard(net, mesh)
    print("ready", flush=True)
    record = jn.Record(weight_histograms={"4E->4E": 20}, interval=100.0)
    how = {"save": options.folder, "every": 1e3 * options.every} if options.folder else {}
    result = jn.simulate(net, 1e3 * options.seconds, key=1, record=record, progress=False, **how)
    digest, spikes = hashlib.sha256(), 0
    for name in net.order:
        for array in result.events(name):
            digest.update(array.tobytes())
        spikes += result.spikes.count(name)
    for x in jax.tree.leaves((result.state, dict(result.weight_histograms))):
        digest.update(np.asarray(x).tobytes())
    peak = peak_mb()
    print(json.dumps({"bits": digest.hexdigest(), "spikes": spikes, "peak_mb": peak}), flush=True)


def peak_mb() -> int:
    """The largest memory of this process."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def start(options: argparse.Namespace, folder: str) -> subprocess.Popen:
    flags = f"--xla_force_host_platform_device_count={options.devices}"
    command = [sys.executable, __file__, "--child", "--folder", folder]
    command += ["--seconds", str(options.seconds), "--every", str(options.every)]
    command += ["--devices", str(options.devices)]
    environment = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def whole(process: subprocess.Popen) -> dict:
    """What a process prints that is left alone."""
    lines = process.communicate()[0].splitlines()
    if process.returncode:
        raise SystemExit("the run failed")
    return json.loads(lines[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="biological time")
    parser.add_argument("--every", type=float, default=5.0, help="of an interval, in seconds")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
        return 0
    begin = time.perf_counter()
    one = whole(start(options, ""))
    alone = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        for _ in range(options.kills):
            process = start(options, folder + "/run")
            process.stdout.readline()
            try:
                process.wait(random.uniform(0.0, 2.0 * alone / options.kills))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        killed = whole(start(options, folder + "/run"))
        wall = time.perf_counter() - begin
        disk = sum(x.stat().st_size for x in Path(folder, "run").iterdir()) // 2**20
    same = one["bits"] == killed["bits"]
    print(f"{options.seconds:g} s over {options.devices} devices, {one['spikes']:,} spikes")
    print(f"alone: {alone:.0f} s, {one['peak_mb']} MB")
    print(f"killed {options.kills} times: {wall:.0f} s, {killed['peak_mb']} MB, {disk} MB on disk")
    print("the same bits" if same else "OTHER BITS")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
