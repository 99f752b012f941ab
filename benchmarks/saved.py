"""What a run that is saved costs: time beside one that is not, memory, and bytes on the disk.

COBA with all spikes and some voltages each ms. Both runs are in this process, in turn.
"""

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import jaxneuro as jn

from ._balanced import coba
from ._record import peak_rss_mb
from ._run import DT, versions

__all__ = ["add_options", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this benchmark."""
    parser.add_argument("--neurons", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=100.0, help="biological time")
    parser.add_argument("--every", type=float, default=50.0, help="of an interval, in seconds")
    parser.add_argument("--voltages", type=int, default=100, help="that are recorded each ms")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="the saved run alone, once")


def run(options: argparse.Namespace) -> None:
    """One JSON line: wall seconds of both runs, their ratio, and what the folder takes."""
    net = jn.build(coba(options.neurons), key=1, dt=DT)
    name = next(iter(net.populations))
    record = jn.Record(variables={name: "v"}, neurons={name: range(options.voltages)}, interval=1.0)
    ms = 1e3 * options.seconds
    jn.simulate(net, 100.0, key=1, record=record, progress=False)  # compiled, and warm
    before, plain, saved = peak_rss_mb(), [], []
    for _ in range(1 if options.alone else options.turns):
        if not options.alone:
            start = time.perf_counter()
            jn.simulate(net, ms, key=1, record=record, progress=False)
            plain.append(time.perf_counter() - start)
        folder = Path(tempfile.mkdtemp(dir="."))
        try:
            start = time.perf_counter()
            how = {"save": folder / "run", "every": 1e3 * options.every}
            result = jn.simulate(net, ms, key=1, record=record, progress=False, **how)
            saved.append(time.perf_counter() - start)
            spikes = sum(result.spikes.count(k) for k in result.spikes)
            on_disk = sum(x.stat().st_size for x in (folder / "run").iterdir())
            late = max(0.0, ms - 60e3)
            start = time.perf_counter()
            read = jn.Recording.open(folder / "run").spikes
            cv = jn.analysis.interval_cvs(read.between(name, late, ms, neurons=range(100)))
            cv_s = time.perf_counter() - start
        finally:
            shutil.rmtree(folder)
    line = {
        "bench": "saved",
        "neurons": options.neurons,
        "seconds": options.seconds,
        "every_s": options.every,
        "voltages": options.voltages,
        "spikes": spikes,
        "saved_s": round(statistics.median(saved), 3),
        "plain_s": round(statistics.median(plain), 3) if plain else None,
        "ratio": round(statistics.median(b / a for a, b in zip(plain, saved)), 4)
        if plain
        else None,
        "disk_mb": round(on_disk / 2**20, 1),
        "before_mb": before,
        "peak_rss_mb": peak_rss_mb(),
        "cv_of_last_minute_s": round(cv_s, 3),
        "cv": round(float(np.nanmean(cv)), 4),
        "threads": options.threads,
        "versions": versions(),
    }
    print(json.dumps(line), flush=True)
