"""One benchmark result: a dictionary with fixed keys, printed as one JSON line on stdout."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def peak_rss_mb() -> float | None:
    """Peak resident memory of this process in MB, or None where the system does not tell.

    On Linux it is read from /proc: getrusage starts at the peak of the process that launched this
    one, so a benchmark started from a large process would report the memory of that process.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    scale = 1024**2 if sys.platform == "darwin" else 1024  # macOS counts bytes, the others KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def cpu_device() -> str:
    """The CPU model and the number of cores, as "MODEL, N cores"."""
    model = ""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    model = model or platform.processor() or platform.machine() or "unknown CPU"
    return f"{model}, {os.cpu_count()} cores"


def round_floats(value: Any, digits: int = 4) -> Any:
    """Round to `digits` significant digits; infinities and NaN, unknown to JSON, become None."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def make_record(  # noqa: PLR0913
    *,
    bench: str,
    impl: str,
    neurons: int,
    synapses: int | None,
    dt_ms: float,
    bio_s: float,
    wall_s: float,
    build_s: float | None = None,
    compile_s: float | None = None,
    rate_hz: float | None = None,
    rates_hz: dict[str, float] | None = None,
    peak_rss_mb: float | None = None,
    threads: int = 1,
    device: str | None = None,
    versions: dict[str, str] | None = None,
) -> Record:
    """Build the record, in its fixed order of keys; what is not given is None.

    rates_hz by population is there only where it is given.
    wall_s is the simulation alone; rtf is the real-time factor, wall seconds for one
    biological second; us_per_step the wall microseconds of one time step.
    """
    fields = {
        "bench": bench,
        "impl": impl,
        "neurons": neurons,
        "synapses": synapses,
        "dt_ms": dt_ms,
        "bio_s": bio_s,
        "build_s": build_s,
        "compile_s": compile_s,
        "wall_s": wall_s,
        "rtf": wall_s / bio_s,
        "us_per_step": wall_s * 1e6 / (bio_s * 1e3 / dt_ms),
        "rate_hz": rate_hz,
        "peak_rss_mb": peak_rss_mb,
        "threads": threads,
        "device": device or cpu_device(),
        "versions": versions or {},
    }
    if rates_hz is not None:
        fields["rates_hz"] = {name: round_floats(rate) for name, rate in rates_hz.items()}
    return {key: round_floats(value) for key, value in fields.items()}


def print_record(rec: Record) -> None:
    """Print a record as one JSON line on stdout, at once, so that a later crash loses nothing."""
    print(json.dumps(rec), flush=True)


def print_rounded(line: Record) -> Record:
    """Print and return a line of other fields than a record has: floats rounded, with the CPU."""
    line = {key: round_floats(value) for key, value in line.items()} | {"device": cpu_device()}
    print_record(line)
    return line


def record(**fields: Any) -> Record:
    """Build, print and return the record of a run in this process (fields as `make_record`).

    Unless given, the peak memory is that of this process; the python version is added.
    """
    if fields.get("peak_rss_mb") is None:
        fields["peak_rss_mb"] = peak_rss_mb()
    fields["versions"] = {"python": platform.python_version(), **(fields.get("versions") or {})}
    rec = make_record(**fields)
    print_record(rec)
    return rec
