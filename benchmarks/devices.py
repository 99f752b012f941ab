"""One network over several devices: strong and weak scaling, what is exchanged, memory.

Each case runs in a process of its own, and all of them take turns. Without a GPU the devices are
virtual ones of the CPU, and native threads on one device stand beside them.
"""

import argparse
import json
import os
import subprocess
import sys

from ._devices import NETWORKS, Apart, Case, opened, records, table, take_turns
from ._record import cpu_device
from ._run import versions

__all__ = ["add_options", "run"]

VIRTUAL = """\
These are virtual devices of one CPU. They share its cores, caches and memory, and wait for
each other's threads to exchange. They show that results are right, what is exchanged, what memory a
device needs, and how far the cores of this machine speed a network up. They do not show latency and
bandwidth between cards, or launches. "apart" are networks of a device's size that run at once and
exchange nothing: what these cores give without any exchange."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which network, how many devices, and whether it grows with them."""
    cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    parser.set_defaults(threads=len(cores(0)))
    parser.add_argument("--network", choices=NETWORKS, default="coba")
    parser.add_argument("--neurons", type=int, default=400_000, help="--weak: of one device")
    parser.add_argument("--devices", type=_numbers, help="such as 1,2 (default: powers of two)")
    parser.add_argument("--weak", action="store_true", help="neurons grow with the devices")
    parser.add_argument("--seconds", type=float, default=0.02, help="biological time")
    parser.add_argument("--repeats", type=int, default=5, help="turns of all cases")


def _numbers(text: str) -> list[int]:
    return [int(x) for x in text.split(",")]


def run(options: argparse.Namespace) -> None:
    """One JSON line per case on stdout; a table and what it can show on stderr."""
    platform, count = _found()
    cases = cases_of(options, platform, count)
    with opened(cases, Apart) as runners:
        lines = list(records(runners, take_turns(runners, options.repeats), options.weak))
    for line in lines:
        print(json.dumps({**line, "device": cpu_device(), "versions": versions()}), flush=True)
    print("\n".join(table(lines)), file=sys.stderr)
    if platform == "cpu":
        print(VIRTUAL, file=sys.stderr)


def cases_of(options: argparse.Namespace, platform: str, count: int) -> list[Case]:
    """One device first; then more of them, native threads, and networks apart."""
    wanted = options.devices or [d for d in (1, 2, 4, 8, 16) if d <= count]
    if 1 not in wanted:
        wanted = [1, *wanted]
    if platform != "cpu" and max(wanted) > count:
        raise SystemExit(f"--devices must be at most {count}, the GPUs here; got {max(wanted)}")
    grown = lambda workers: options.neurons * (workers if options.weak else 1)  # noqa: E731
    ms, kind = 1e3 * options.seconds, "GPU" if platform != "cpu" else "virtual device"
    cases = []
    for d in sorted(wanted):
        name = f"{d} {kind}{'s' * (d > 1)}"
        cases.append(Case(name, options.network, grown(d), ms, d, 1, platform))
    threads = options.threads
    if threads > 1 or platform != "cpu":
        name = f"CPU, {threads} native threads"
        size = grown(threads) if platform == "cpu" else options.neurons
        cases.append(Case(name, options.network, size, ms, 1, threads))
    if platform == "cpu":
        for d in [d for d in sorted(wanted) if 1 < d <= threads]:
            size = options.neurons if options.weak else options.neurons // d
            cases.append(Case(f"{d} networks apart", options.network, size, ms, copies=d))
    return cases


def _found() -> tuple[str, int]:
    """The platform and how many devices it has: GPUs, or as many virtual ones as cores."""
    asked = "import jax; print(jax.default_backend(), jax.device_count())"
    done = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True)
    platform, count = done.stdout.split()
    if platform == "gpu":
        return platform, int(count)
    return "cpu", max(os.cpu_count() or 1, 2)
