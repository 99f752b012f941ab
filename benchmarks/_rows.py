"""Rows of the tables in README.md and docs/performance.md: their commands, and what these printed.

A row is one command of `python -m benchmarks` in a process of its own. The file of results has a
line for each row, with the JSON lines of the command, machine, versions, commit and date.
"""

from __future__ import annotations

import datetime
import json
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ._peers import all_cores
from ._record import cpu_device
from ._run import versions

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "tables.json"

Rows = dict[str, dict[str, Any]]


class Row(NamedTuple):
    """A command, without `python -m benchmarks`, and the other simulators that run in turn."""

    command: str
    peers: tuple[str, ...] = ()


ALL, BRIAN2 = ("brian2", "nest", "brainpy"), ("brian2",)

ROWS: dict[str, Row] = {
    **{
        f"{network}-{size}{suffix}": Row(f"{network} --neurons {neurons} --threads {threads}", ALL)
        for size, neurons in (("4k", 4000), ("40k", 40_000))
        for network in ("coba", "cuba")
        for suffix, threads in (("", 1), ("-2", 2))
    },
    "brunel": Row("brunel --threads 1", ALL),
    "brunel-2": Row("brunel --threads 2", ALL),
    "microcircuit-2": Row("microcircuit --scale 1 --seconds 2 --threads 2"),
    "microcircuit": Row("microcircuit --scale 1 --seconds 2 --threads 1"),
    "microcircuit-tenth": Row("microcircuit --scale 0.1 --seconds 2 --threads 1"),
    "microcircuit-tenth-2": Row("microcircuit --scale 0.1 --seconds 2 --threads 2"),
    "flybrain": Row("flybrain --seconds 0.5", BRIAN2),
    "hh": Row("hh --batch 1 10 100 1000 10000 --threads 2"),
    "neurons": Row("neurons"),
    "scaling": Row("scaling --threads 2"),
    "construction": Row("construction --threads 2"),
    "construction-full": Row("construction --case microcircuit --synapses 298880970 --threads 2"),
    "memory": Row("memory --scale 1 --threads 2"),
    "stdp": Row("stdp --repeats 5", BRIAN2),
    "hpc": Row("hpc --threads 2 --repeats 3"),
    "stp": Row("stp --repeats 7", BRIAN2),
    "nmda": Row("nmda --repeats 9", BRIAN2),
    "gap": Row("gap --side 200 --repeats 5", BRIAN2),
    "lattices": Row("lattices --threads 2"),
    "assemblies": Row("assemblies --capacity 5000 --against numpy --threads 2"),
    "assemblies-1e7": Row("assemblies --n 1e7 --capacity 6000 --threads 2"),
    "assemblies-brains": Row("assemblies --n 1e5 --k 317 --brains 100 --capacity 1700 --threads 2"),
    "assemblies-hashed": Row("assemblies --n 1e5 --k 317 --connectome hashed --threads 2"),
    "assemblies-operations": Row(
        "assemblies --n 1e5 --k 317 --connectome hashed --operations --threads 2"
    ),
    "breakdown-4k": Row("breakdown --neurons 4000"),
    "breakdown-40k": Row("breakdown --neurons 40000"),
    "first-spike": Row("first_spike", ("brian2", "nest")),
    "nested-1k": Row("nested --neurons 1000"),
    "nested-4k": Row("nested --neurons 4000"),
    "nested-gradient": Row("nested --neurons 1000 --gradient"),
    "sweep": Row("sweep --threads 2"),
    "devices-400k": Row("devices --devices 1,2 --threads 2"),
    "devices-40k": Row("devices --devices 1,2 --threads 2 --neurons 40000"),
    "devices-brunel": Row(
        "devices --devices 1,2 --threads 2 --network brunel --neurons 12500 --seconds 0.2"
    ),
    "devices-flybrain": Row(
        "devices --devices 1,2 --threads 2 --network flybrain --neurons 138639 --seconds 0.2"
    ),
    "devices-microcircuit": Row(
        "devices --devices 1,2 --threads 2 --network microcircuit --neurons 7717 --seconds 0.2"
    ),
    "devices-weak": Row("devices --devices 1,2 --threads 2 --weak --neurons 200000"),
    "numbering": Row("numbering --radius 3"),
    "numbering-gap": Row("numbering --gap --radius 2"),
    "recording-4k": Row("recording --neurons 4000"),
    "recording-40k": Row("recording --neurons 40000"),
    "recording-40k-2": Row("recording --neurons 40000 --threads 2"),
    "stimuli": Row("stimuli"),
    "settings-4k": Row("settings --threads 2"),
    "settings-40k": Row("settings --neurons 40000 --seconds 0.4 --threads 2"),
}

# Options of each benchmark that make it a test of a few seconds, which measures nothing.
SMALL = {
    "assemblies": "--n 10000 --k 30 --rounds 3 --repeats 1",
    "breakdown": "--neurons 100 --seconds 0.01 --repeats 1",
    "brunel": "--neurons 100 --seconds 0.01 --repeats 1",
    "coba": "--neurons 100 --seconds 0.01 --repeats 1",
    "construction": "--case probability --synapses 1e5 --repeats 1",
    "cuba": "--neurons 100 --seconds 0.01 --repeats 1",
    "devices": "--neurons 1000 --seconds 0.002 --repeats 1",
    "first_spike": "--neurons 400 --repeats 1",
    "flybrain": "--neurons 200 --edges 2000 --seconds 0.01 --repeats 1",
    "gap": "--side 10 --seconds 0.01 --repeats 1",
    "hh": "--batch 1 20 --ms 0.1 --repeats 1",
    "hpc": "--neurons 225 --seconds 0.01 --repeats 1",
    "lattices": "--sides 10 --seconds 0.01 --repeats 1",
    "memory": "--scale 0.01 --case brunel",
    "microcircuit": "--scale 0.01 --seconds 0.01 --repeats 1",
    "nested": "--neurons 100 --seconds 0.002 --repeats 1",
    "neurons": "--models LIF --neurons 100 --steps 10 --repeats 1",
    "nmda": "--neurons 100 --seconds 0.01 --repeats 1",
    "numbering": "--side 20 --seconds 0.002 --repeats 1",
    "recording": "--neurons 100 --seconds 0.01 --repeats 1",
    "scaling": "--case 'coba 4k' --seconds 0.01",
    "settings": "--neurons 100 --seconds 0.01 --repeats 1",
    "stdp": "--neurons 100 --seconds 0.01 --repeats 1",
    "stimuli": "--neurons 10 --repeats 1",
    "stp": "--neurons 100 --seconds 0.01 --repeats 1",
    "sweep": "--neurons 100 --gains 2 --seeds 4 --seconds 0.01 --repeats 1",
}

# Sources whose last commit stands for the code that is measured; the other files only write pages.
_SOURCES = ["jaxneuro", "benchmarks", "examples", "setup.py"]
_PAGES = [
    "results",
    "tables.py",
    "_rows.py",
    "_page_lists.py",
    "_page_tables.py",
    "_gpu_table.py",
    "predict_gpu.py",
]


def arguments(name: str, small: bool = False, peers: Iterable[str] = ALL) -> list[str]:
    """The arguments of `python -m benchmarks` for a row."""
    row = ROWS[name]
    words = shlex.split(row.command)
    if small:
        words += shlex.split(SMALL[words[0]])
    against = [peer for peer in row.peers if peer in peers]
    return [*words, "--against", *against] if against else words


def read(path: Path = RESULTS) -> Rows:
    """The rows that are stored, by name; none if there is no file."""
    return json.loads(path.read_text()) if path.exists() else {}


def write(rows: Rows, path: Path = RESULTS) -> None:
    """Replaces the file of results, one line per row, in the order of `ROWS`."""
    lines = [f"{json.dumps(name)}: {json.dumps(rows[name])}" for name in ROWS if name in rows]
    new = path.with_suffix(".new")
    new.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    new.replace(path)


def measure(
    names: Iterable[str], path: Path, small: bool, peers: Iterable[str], again: bool
) -> list[str]:
    """Measures rows and stores each as soon as it ends; returns the names of those that failed.

    A stored row of the same command, commit, machine and versions is kept, unless `again`.
    """
    rows, here, failed = read(path), _here(), []
    for name in names:
        words = arguments(name, small, peers)
        row = {"command": f"python -m benchmarks {shlex.join(words)}", **here}
        stored = rows.get(name, {})
        if not again and row.items() <= stored.items():
            print(f"{name}: stored on {stored['date']}", file=sys.stderr, flush=True)
            continue
        start = time.perf_counter()
        lines = _output(words)
        took = time.perf_counter() - start
        end = "took" if lines else "failed after"
        print(f"{name}: {end} {took:.0f} s", file=sys.stderr, flush=True)
        if not lines:
            failed.append(name)
            continue
        date = datetime.datetime.now(datetime.UTC).date().isoformat()
        rows[name] = {**row, "date": date, "took_s": round(took, 1), "lines": lines}
        write(rows, path)
    return failed


def _output(words: list[str]) -> list[dict[str, Any]]:
    """The JSON lines that a command prints, in a process with all cores; none if it fails."""
    command = [sys.executable, "-m", "benchmarks", *words]
    with all_cores():
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    lines = [json.loads(x) for x in done.stdout.splitlines() if x.startswith("{")]
    return lines if done.returncode == 0 else []


def _here() -> dict[str, Any]:
    """Commit, machine and versions of this checkout."""
    return {
        "commit": _commit(),
        "machine": cpu_device(),
        "versions": {"python": platform.python_version(), **versions()},
    }


def _commit() -> str:
    """The last commit that changed what is measured; says if files differ from it."""
    paths = ["--", *_SOURCES, *(f":!benchmarks/{name}" for name in _PAGES)]

    def git(*words: str) -> str:
        command = ["git", *words, *paths]
        return subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    return git("log", "-1", "--format=%h") + (
        " with changes" if git("status", "--porcelain") else ""
    )
