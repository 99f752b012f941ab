"""A summary of a run as text."""

import math
import resource
import sys
from typing import Any

from .._text import megabytes
from ..kernels import native_available
from ._intervals import interval_cv


def summary(result: Any, build_s: float | None = None) -> str:
    """A few lines on a run: rates, CVs of the intervals, sizes, seconds, memory, kernels.

    `result` from `simulate`; `build_s` the seconds that `build` took, shown if given. The
    real-time factor is run seconds per biological second. Memory is the peak of the process.
    """
    seconds = result.duration / 1e3
    lines = [repr(result if result.network is None else result.network)]
    if result.spikes is not None:
        for name, n in result.populations.items():
            times, neurons = result.events(name)
            cv = interval_cv(times, neurons, n)
            shown = "-" if math.isnan(cv) else f"{cv:.2f}"
            lines.append(f"  {name}: {n:,} neurons, {result.rate(name):.2f} Hz, CV {shown}")
    built = "" if build_s is None else f"build {build_s:.2f} s, "
    factor = result.run_s / seconds if seconds else float("nan")
    lines.append(
        f"{built}compile {result.compile_s:.2f} s, run {result.run_s:.3f} s for {seconds:g} s "
        f"of biology: real-time factor {factor:.3f} ({result.n_steps:,} steps of {result.dt:g} ms)"
    )
    kernels = "native C++" if native_available() else "reference (jnp)"
    lines.append(f"peak memory {megabytes(peak_memory())}, kernels: {kernels}")
    if result.interrupted:
        lines.append("interrupted: this is what was recorded until then")
    return "\n".join(lines)


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
