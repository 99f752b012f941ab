"""A summary of a run as text."""

import math
import resource
import sys
from typing import Any

import numpy as np

from .. import spec
from .._kernels.native import native_available
from .._model import StochasticNeuron
from .._network.members import member
from .._numerics.windows import NEAR_MS, run_window
from .._run.recording import Recording
from .._run.result import Result
from .._text import counted, megabytes
from ..neurons import Relay
from ..spec import InvalidValueError, as_number
from ..stimuli import ScheduledSpikes, first_step
from ._intervals import interval_cv
from ._source import Time, check_known, each_run, run_of

_FEW_STEPS = 10  # in so short a part most steps say nothing
_NEARLY = 0.9  # of the largest possible rate


@spec.arguments()
def summary(
    source: Any, build_s: float | None = None, *, start: Time = None, stop: Time = None
) -> str:
    """A few lines on a run: rates, CVs of the intervals, sizes, seconds, memory, kernels, key.

    `source` a run; `build_s` the seconds that `build` took, shown if given; `start`,
    `stop` [ms] the part of the run that rates and CVs are of; models that never spike have none,
    and a line says what was to be sampled and was not. Neurons that spike as often as they can are
    said to do so. A stimulation that begins after the end of
    the run is named. The real-time factor is run seconds per biological second. Memory is the peak
    of the process. Of a batch: a line for each population, with the means over the runs of its rate
    and CV, and their ranges.

    Raises:
        InvalidValueError: for what is no run, a `build_s` that is no number, or a part that is
            not within the run, or has no length.
    """
    if build_s is not None and math.isnan(as_number(build_s)):
        hint = "; the summary has all populations" if isinstance(build_s, str) else ""
        raise InvalidValueError("summary", "build_s", "seconds", f"{build_s!r}{hint}")
    run = run_of(source)
    check_known("jn.analysis.summary", run)
    if isinstance(run, Recording) and run.batch:
        return _of_batch(run, start, stop)
    run = run.result() if isinstance(run, Recording) else run
    return _of_run(spec.check("summary", "the source", spec.Of(Result), run), build_s, start, stop)


def _of_batch(batch: Recording, start: Time, stop: Time) -> str:
    runs, each = " x ".join(map(str, batch.batch)), each_run(batch)
    lines = [f"{runs} runs of {each[0].duration:g} ms: means over the runs (and ranges)"]
    for name, n in each[0].populations.items():
        said = "not recorded"
        if name in _with_rates(each[0]):
            rates = [x.rate(name, start, stop) for x in each]
            said = f"{_range(rates)} Hz, CV {_range([_cv(x, name, start, stop) for x in each])}"
        lines.append(f"  {name}: {counted(n, 'neuron')}, {said}")
    return "\n".join(lines)


def _range(values: list[float]) -> str:
    x = np.array([x for x in values if not math.isnan(x)])
    return f"{x.mean():.2f} ({x.min():.2f} to {x.max():.2f})" if x.size else "-"


def _with_rates(result: Result) -> list[str]:
    """The populations of which something says the rate."""
    return [*(result.spikes or {**result.counts, **result.statistics})]


def _cv(result: Result, name: str, start: Time, stop: Time) -> float:
    """The mean CV of the intervals of a population, nan where nothing says it."""
    if not result.spikes and name not in result.statistics:
        return math.nan
    return interval_cv(result, name, start=start, stop=stop)


def _of_run(result: Result, build_s: float | None, start: Time, stop: Time) -> str:
    window = run_window(result.start, result.stop, start, stop)
    seconds = result.duration / 1e3
    lines = [repr(result if result.network is None else result.network)]
    known = _with_rates(result)
    if known and (start is not None or stop is not None):
        lines.append("from {:g} to {:g} ms:".format(*window))
    for name, n in result.populations.items():
        if name in known:
            activity = _activity(result, name, start, stop)
            lines.append(f"  {name}: {counted(n, 'neuron')}, {activity}")
    lines += _nothing_sampled(result)
    lines += _not_begun(result)
    built = "" if build_s is None else f"build {build_s:.2f} s, "
    factor = result.run_s / seconds if seconds else float("nan")
    key = "" if result.key is None else f", key {result.key}"
    steps = f"{result.n_steps:,} steps of {result.dt:g} ms{key}"
    took = f"compile {result.compile_s:.2f} s, run {result.run_s:.3f} s for {seconds:g} s "
    took += f"of biology: real-time factor {factor:.3f} ({steps})"
    # What a scan recorded does not say how long it took.
    lines.append(built + (steps if math.isnan(result.run_s) else took))
    kernels = "native C++" if native_available() else "reference (jnp)"
    lines.append(f"peak memory {megabytes(peak_memory())}, kernels: {kernels}")
    if result.interrupted:
        lines.append("interrupted: this is what was recorded until then")
    if result.until_held:
        lines.append(f"ended after {result.duration:g} ms, as its condition (until) held")
    return "\n".join(lines)


def _activity(result: Result, name: str, start: Time, stop: Time) -> str:
    """Rate and CV of a population in a part of the run."""
    if not result.n_steps:
        return "no rate: nothing was run"
    rate = result.rate(name, start, stop)
    if math.isnan(rate):
        return "no rate: its model never spikes"
    cv = _cv(result, name, start, stop)
    first, last = run_window(result.start, result.stop, start, stop)
    most = _at_most(result, name, rate * 1e-3) if last - first >= _FEW_STEPS * result.dt else ""
    return f"{rate:.2f} Hz, CV {'-' if math.isnan(cv) else f'{cv:.2f}'}{most}"


def _at_most(result: Result, name: str, per_ms: float) -> str:
    """What is said of neurons that spike as often as they can; sources and relays may."""
    net = result.network
    if net is None:
        return ""
    group = net.groups[net.population(name)[0]]
    model = member(group.model, group.sizes, group.populations.index(name))
    if isinstance(model, Relay | StochasticNeuron):
        return ""
    if per_ms * result.dt > 0.5:
        return "; spikes in most time steps: does step reset v?"
    t_ref = getattr(model, "t_ref", 0.0)
    if not getattr(t_ref, "is_fully_addressable", True):
        return ""  # over several processes
    if per_ms > _NEARLY * np.mean(1.0 / (np.asarray(t_ref, np.float64) + result.dt)):
        return "; spikes at nearly its largest rate, once per t_ref: is its input meant?"
    return ""


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
