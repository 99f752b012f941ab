"""A summary of a run as text."""

import math
import resource
import sys
from typing import Any

import numpy as np
from jaxtyping import Bool

from .._kernels.native import native_available
from .._model import StochasticNeuron
from .._numerics.grid import to_hz
from .._numerics.windows import NEAR_MS, in_window, run_window
from .._text import counted, megabytes
from ..neurons import Relay
from ..spec import InvalidValueError, as_number
from ..stimuli import ScheduledSpikes, first_step
from ._intervals import interval_cv

_FEW_STEPS = 10  # in so short a part most steps say nothing


def summary(
    result: Any,
    build_s: float | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
) -> str:
    """A few lines on a run: rates, CVs of the intervals, sizes, seconds, memory, kernels.

    `result` from `simulate`; `build_s` the seconds that `build` took, shown if given; `start`,
    `stop` [ms] the part of the run that rates and CVs are of; models that never spike have none,
    and a line says what was to be sampled and was not. A stimulation that begins after the end of
    the run is named. The real-time factor is run seconds per biological second. Memory is the peak
    of the process.

    Raises:
        InvalidValueError: for what is no result, a `build_s` that is no number, or a part that is
            not within the run, or has no length.
    """
    if not hasattr(result, "events"):
        raise ValueError(f"summary needs the result of jn.simulate; got {result!r}")
    if build_s is not None and math.isnan(as_number(build_s)):
        hint = "; the summary has all populations" if isinstance(build_s, str) else ""
        raise InvalidValueError("summary", "build_s", "seconds", f"{build_s!r}{hint}")
    first, last = run_window(result.start, result.stop, start, stop)
    seconds = result.duration / 1e3
    lines = [repr(result if result.network is None else result.network)]
    if result.spikes:
        if start is not None or stop is not None:
            lines.append(f"from {first:g} to {last:g} ms:")
        for name, n in result.populations.items():
            inside = in_window(result.events(name)[0], first, last), last - first
            lines.append(f"  {name}: {counted(n, 'neuron')}, {_activity(result, name, inside)}")
    lines += _nothing_sampled(result)
    lines += _not_begun(result)
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


def _activity(result: Any, name: str, window: tuple[Bool[np.ndarray, " spikes"], float]) -> str:
    """Rate and CV of a population in a part of the run; `window` its spikes, and its length."""
    inside, ms = window
    n, (times, neurons) = result.populations[name], (x[inside] for x in result.events(name))
    if not result.n_steps:
        return "no rate: nothing was run"
    if n and not times.size and result.never_spikes(name):
        return "no rate: its model never spikes"
    cv = interval_cv(times, neurons, n)
    shown = "-" if math.isnan(cv) else f"{cv:.2f}"
    most = "; spikes in most time steps: does step reset v?" * _always(result, name, times.size, ms)
    return f"{to_hz(times.size, n, ms) if n else 0.0:.2f} Hz, CV {shown}{most}"


def _always(result: Any, name: str, spikes: int, ms: float) -> bool:
    """Whether neurons that are no sources or relays spike in more than half of all steps."""
    net, n = result.network, result.populations[name]
    if net is None or not n or ms < _FEW_STEPS * result.dt or spikes * result.dt <= 0.5 * n * ms:
        return False
    return not isinstance(net.groups[net.population(name)[0]].model, Relay | StochasticNeuron)


def _nothing_sampled(result: Any) -> list[str]:
    """A line on samples that there are none of, and on field potentials of no current."""
    if result.nothing_sampled:
        return [f"  {result.nothing_sampled}"]
    none = [name for name, x in result.lfp.items() if not np.any(x)]
    return [f"  the LFP of {name!r} is 0: no synapse gave it a current" for name in none]


def _not_begun(result: Any) -> list[str]:
    """A line for each stimulation that begins after the end of the run."""
    net, lines = result.network, []
    if net is None or not result.n_steps:
        return lines
    for stimulus in (s for group in net.groups for s in group.stimuli):
        window = stimulus.window
        begins = net.dt * (window.delay + max(window.start, first_step(stimulus.model)))
        if begins >= result.stop - NEAR_MS:
            # A spike given for a time arrives at the end of the step before it.
            shown = begins + net.dt * isinstance(stimulus.model, ScheduledSpikes)
            ends = f"the run ends at {result.stop:.10g} ms"
            told = f"has not begun: it does nothing before {shown:.10g} ms, and {ends}"
            lines += [f"  {name} {told}" for name in stimulus.names]
    return lines


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
