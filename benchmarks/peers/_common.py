"""What every peer script needs: the options, core pinning, memory and CPU time, the JSON line.

These files run inside the peer's own environment, so they import nothing of the harness above.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

DT_MS = 0.1


def arguments(neurons: int = 4000, **extra: object) -> argparse.Namespace:
    """Parse the options shared by all scripts; `extra` adds options with their defaults."""
    parser = argparse.ArgumentParser(description="prints one JSON line")
    parser.add_argument("--neurons", type=int, default=neurons)
    parser.add_argument("--seconds", type=float, default=1.0, help="biological time, s")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    for name, default in extra.items():
        parser.add_argument("--" + name, type=type(default), default=default)
    return parser.parse_args()


def pin(threads: int) -> None:
    """Keep this process on `threads` cores, for a peer with no thread setting of its own.

    Has to run before the simulator is imported: its thread pools are sized then.
    """
    if not hasattr(os, "sched_setaffinity"):
        print("cannot pin to cores on this system: threads is a wish only", file=sys.stderr)
        return
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def cpu_seconds() -> float:
    """CPU seconds of this process (all threads) and of its finished children."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def _high_water_mb(pid: int | str, name: str | None = None) -> float | None:
    """Peak resident memory of a process from /proc (only if it is called `name`), or None."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    if "VmHWM" not in fields or (name is not None and fields["Name"].strip() != name):
        return None
    return int(fields["VmHWM"].split()[0]) / 1024


def peak_rss_mb() -> float:
    """Peak resident memory of this process in MB.

    /proc first: on Linux ru_maxrss starts at the peak of the process that launched this one.
    """
    peak = _high_water_mb("self")
    if peak is not None:
        return peak
    scale = 1024**2 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


class ChildPeakRss:
    """Context that polls the peak memory of this process' children called `name` (`.mb`)."""

    def __init__(self, name: str = "main") -> None:
        self.mb: float | None = None  # stays None where there is no /proc
        self._name = name
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)

    def _poll(self) -> None:
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
        while not self._done.wait(0.01):
            try:
                pids = children.read_text().split()
            except OSError:
                continue
            for pid in pids:
                peak = _high_water_mb(pid, self._name)
                if peak is not None:
                    self.mb = max(self.mb or 0.0, peak)

    def __enter__(self) -> ChildPeakRss:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._done.set()
        self._thread.join()


class Stopwatch:
    """Context that measures wall and CPU seconds (`.wall`, `.cpu`)."""

    def __enter__(self) -> Stopwatch:
        self.wall, self.cpu = time.perf_counter(), cpu_seconds()
        return self

    def __exit__(self, *exc: object) -> None:
        self.wall, self.cpu = time.perf_counter() - self.wall, cpu_seconds() - self.cpu


def emit(args: argparse.Namespace, packages: list[str], spikes: float, **fields: object) -> None:
    """Print the one JSON line: the options, the fields, the mean rate and the versions."""
    line = {
        "neurons": args.neurons,
        "dt_ms": DT_MS,
        "bio_s": args.seconds,
        "threads": args.threads,
        "rate_hz": spikes / args.neurons / args.seconds,
        **fields,
    }
    emit_fields(packages, line)


def emit_fields(packages: list[str], fields: dict[str, Any]) -> None:
    """Print one JSON line: the fields, floats rounded, and the versions of Python and packages."""
    versions = {name: version(name) for name in packages}
    line = fields | {"versions": {"python": platform.python_version(), **versions}}
    rounded = {k: round(v, 5) if isinstance(v, float) else v for k, v in line.items()}
    print(json.dumps(rounded), flush=True)
