"""What analysis is of: a run, a batch of runs, or arrays; and the spikes and samples in it."""

import functools
from collections.abc import Callable
from typing import Any, TypeAlias, TypeGuard, TypeVar, cast

import jax
import numpy as np
from jaxtyping import Float64, Int64

from .. import spec
from .._arrays import is_traced
from .._describe.part import Part
from .._numerics.grid import largest_of, time_tolerance
from .._numerics.windows import NEAR_MS, in_window, run_window
from .._run.parts import name_and_neurons
from .._run.recorded import Recorded
from .._run.recording import Recording
from .._run.result import Result
from .._run.spike_trains import SpikeTrains
from .._run.statistics import SpikeSums
from .._text import brief
from .._warn import warn
from ..spec import InvalidValueError
from ._traced import TracedTrains

F = TypeVar("F", bound=Callable)
Name: TypeAlias = str | Part | None  # of a population, or some of it; None for the only one
Time: TypeAlias = float | None  # [ms]; None for that of the run


def _columns(value: Any) -> Float64[np.ndarray, "samples n"]:
    """Finite numbers, a column for each signal; raises `spec.Unfit`."""
    x = spec.Numbers(ndim=(1, 2)).convert(value)
    return spec.kept_array(value, x[:, None]) if x.ndim == 1 else x


class Traces(spec.Value):
    """Samples of n signals: what functions of samples take of arrays from elsewhere.

    Raises:
        InvalidValueError: for times that do not ascend, or have not one row of values each.
    """

    times: Any = spec.field(
        spec.Numbers("ms", ndim=(1,)), doc="(samples,) when they were taken, ascending"
    )
    values: Any = spec.field(
        spec.Converted(_columns, "finite numbers"), doc="(samples, n), or (samples,) of one signal"
    )
    rules = (
        spec.Rule("times", "ascending", lambda times: bool((np.diff(times) > 0).all())),
        spec.Rule(
            "values",
            "one row for each time",
            lambda times, values: len(times) == len(values),
        ),
    )
    _times_dtype = np.dtype(np.float64)  # in which the times were given

    def __post_init__(self) -> None:
        given = self.times
        super().__post_init__()
        object.__setattr__(self, "_times_dtype", np.asarray(given).dtype)

    @property
    def interval(self) -> float:
        """The time from one sample to the next [ms].

        Raises:
            InvalidValueError: for fewer than two samples, or times that are not equally far apart.
        """
        gaps = np.diff(self.times)
        near = largest_of(time_tolerance(self.times, self._times_dtype))
        if not gaps.size or np.ptp(gaps) > 2 * near + 1e-9 * abs(self.times[-1]):
            raise InvalidValueError("Traces", "times", "two or more, equally far apart", repr(self))
        return float(f"{(self.times[-1] - self.times[0]) / gaps.size:.12g}")

    def _part(self, start: float, stop: float) -> "Traces":
        """The samples in `(start, stop]` [ms]."""
        near = time_tolerance(self.times, self._times_dtype)
        inside = in_window(self.times, start, stop, near)
        return Traces(self.times[inside].astype(self._times_dtype), self.values[inside])

    def __repr__(self) -> str:
        samples, n = self.values.shape
        return f"Traces: {samples:,} samples of {n:,} signals"


def run_of(source: Any) -> Any:
    """The run, recording or arrays that a source is; that of a sweep is its recording."""
    source = getattr(source, "recording", source)
    if not isinstance(source, Result | Recording | SpikeTrains | Traces):
        must = (
            "a result of simulate, what scan recorded, a batch of runs, or "
            "jn.SpikeTrains(times, neurons, n, start, stop) and jn.analysis.Traces(times, values) "
            "of arrays"
        )
        raise InvalidValueError("", "the source", must, brief(source))
    return source


def of_runs(listed: bool = False, traceable: bool = False) -> Callable[[F], F]:
    """Makes a function of one run one of a batch, too; all of them take the source first.

    What it gives of the runs is stacked along the axes of the batch in front; `listed`: it is a
    list, since it differs in length. `traceable`: the function works inside `jit` too.
    """

    def decorated(function: F) -> F:
        @functools.wraps(function)
        def call(source: Any, *args: Any, **named: Any) -> Any:
            run = run_of(source)
            _warn_of_fine(run, named)
            if traceable and is_traced_run(run):
                each = lambda one: function(one, *args, **named)  # noqa: E731
                for _ in run.batch:
                    each = jax.vmap(each)
                return each(run)
            check_known(f"jn.analysis.{function.__name__}", run)
            return _of_each(run, lambda one: function(one, *args, **named), listed)

        return cast(F, call)

    return decorated


def _of_each(run: Any, function: Callable, listed: bool) -> Any:
    if not isinstance(run, Recording):
        return function(run)
    run = jax.tree.map(np.asarray, run)
    if not run.batch:
        return function(run.result())
    if not len(run):
        raise InvalidValueError("", "a batch", "of at least one run", repr(run))
    found = [_of_each(one, function, listed) for one in run]
    return found if listed else jax.tree.map(lambda *x: np.stack(x), *found)


def each_run(run: Any) -> list[Any]:
    """The runs of a batch as results, in the order of its axes; else the one run or the arrays."""
    if not isinstance(run, Recording):
        return [run]
    host = jax.tree.map(np.asarray, run)
    if not run.batch:
        return [host.result()]
    each = [host[k].result() for k in np.ndindex(*run.batch)]
    if not each:
        raise InvalidValueError("", "a batch", "of at least one run", repr(run))
    return each


def is_traced_run(run: Any) -> TypeGuard[Recording]:
    """Whether a run is inside `jit`, `vmap` or `grad`."""
    return isinstance(run, Recording) and any(map(is_traced, jax.tree.leaves(run)))


def check_known(owner: str, run: Any) -> None:
    """Raises for a recording inside `jit`, `vmap` and `grad`."""
    if is_traced_run(run):
        must = (
            "known, and it is traced here: return the recording from the function, and call "
            f"{owner} of what jit or vmap gives"
        )
        raise InvalidValueError(owner, "the recording", must, "a traced one")


def _warn_of_fine(run: Any, named: dict[str, Any]) -> None:
    """Warns of a bin or interval that is shorter than a time step: it looks like seconds."""
    at = run.info if isinstance(run, Recording) else run
    dt = getattr(at, "dt", 0.0)  # of arrays it is not known
    for name in ("bin_ms", "max_begin"):
        if 0.0 < named.get(name, 0.0) < dt - NEAR_MS:
            warn(
                f"{name} is {named[name]:g} ms, shorter than the time step, {dt:g} ms. Times are "
                f"in ms, and this looks like seconds: did you mean {name}={1e3 * named[name]:g}?"
            )


def only(kind: str, name: str | None, known: Any) -> str:
    """The name, or the only one that there is if none is given."""
    if name is None:
        if len(known) != 1:
            names = ", ".join(map(repr, known)) or "none"
            raise InvalidValueError("", kind, f"named, one of: {names}", "no name")
        return next(iter(known))
    if isinstance(known, Recorded) and isinstance(name, str):
        known[name]  # says how it is recorded
    else:
        spec.check_known(kind, name, known)
    return name


def _refuse_name(run: Any, name: Any) -> None:
    if name is not None:
        must = f"left out: {type(run).__name__} are of no population"
        raise InvalidValueError("", "the name", must, brief(name))


def _part(run: Any, start: Time, stop: Time) -> tuple[Time, Time]:
    """The part `(start, stop]` of a run [ms], or None for all of it. Warns of one in seconds."""
    if start is None and stop is None:
        return None, None
    return run_window(run.start, run.stop, start, stop)


def _named(run: Result, population: Name) -> tuple[str, Int64[np.ndarray, " neurons"] | None]:
    """The name of a population of a run, and the neurons of a part of it; None for all."""
    if not isinstance(population, Part):
        return only("population", population, run.populations), None
    return name_and_neurons(run, population)


def trains_of(run: Any, population: Name, start: Time = None, stop: Time = None) -> Any:
    """The spikes of a population of a run in `(start, stop]` [ms], or those of arrays.

    They are `SpikeTrains`; of a traced run, `TracedTrains`.
    """
    if is_traced_run(run):
        return _traced_trains(run, population, start, stop)
    if isinstance(run, SpikeTrains):
        _refuse_name(run, population)
        return run.between(*_part(run, start, stop)).by_place()
    if isinstance(run, Traces):
        raise InvalidValueError("", "the source", "one of spikes", repr(run))
    name, neurons = _named(run, population)
    if neurons is not None or not (start is None and stop is None):
        # Of a run on disk it reads that part alone.
        return run.spikes.between(name, *_part(run, start, stop), neurons)
    return run.spikes[name]


def _traced_trains(run: Recording, population: Name, start: Time, stop: Time) -> TracedTrains:
    if isinstance(population, Part):
        must = "a name inside jit; take the neurons from what the function returns for all"
        raise InvalidValueError("", "the population", must, repr(population))
    names = [name for name, *_ in run.info.layout]
    return TracedTrains.of(run, only("population", population, names), start, stop)


def pooled_of(run: Any, population: Name, start: Time = None, stop: Time = None) -> Any:
    """Those whose neurons do not matter: from the counts of a run whose spikes are not kept."""
    if isinstance(run, Result) and not run.spikes and not isinstance(population, Part):
        name = only("population", population, run.populations)
        if name in run.counts:
            counts = np.asarray(run.counts[name]).astype(np.int64)
            found = SpikeTrains.of_counts(counts, run.dt, run.start)
            window = run.populations[name], run.start, run.stop
            found = SpikeTrains.known(found.times, found.neurons, *window)
            return found.between(*_part(run, start, stop))
    return trains_of(run, population, start, stop)


def sums_kept(run: Any, population: Name, start: Time, stop: Time) -> SpikeSums | None:
    """The running sums of a population of a run whose spikes are not in memory; else None."""
    if is_traced_run(run):
        name, neurons = _traced_trains(run, population, start, stop).population, None
        on_disk = None
    elif isinstance(run, Result):
        name, neurons = _named(run, population)
        on_disk = run.spikes.sums_on_disk if start is None and stop is None else None
    else:
        return None
    if run.spikes:
        sums = None if on_disk is None else on_disk(name)
    elif name in run.statistics:
        check_whole(start, stop)
        sums = run.statistics[name]
    else:
        sums = None
    return sums if sums is None or neurons is None else SpikeSums(*(x[neurons] for x in sums))


def duration_of(run: Result | Recording) -> float:
    """The length of a whole run [ms]."""
    described = run.info if isinstance(run, Recording) else run
    return described.n_steps * described.dt


def check_whole(start: Time, stop: Time) -> None:
    """Raises for a part of a run of which only sums are kept."""
    if start is not None or stop is not None:
        must = "left out: Record(statistics=...) keeps sums of the whole run (or record spikes)"
        raise InvalidValueError("", "start and stop", must, f"start={start}, stop={stop}")


def traces_of(run: Any, name: Name, variable: str, start: Time = None, stop: Time = None) -> Traces:
    """The samples of a variable in `(start, stop]` [ms], or those of arrays."""
    if isinstance(run, Traces):
        _refuse_name(run, name)
        found, (begin, end) = run, run.times[[0, -1]] if run.times.size else (0.0, 0.0)
    elif isinstance(run, Result):
        name, neurons = (name, None) if not isinstance(name, Part) else name_and_neurons(run, name)
        name = only("recorded population or projection", name, run.traces)
        samples, begin, end = run.traces[name][variable], run.start, run.stop
        times = run.sample_times
        if not (start is None and stop is None):  # of a run on disk only these are read
            near = np.flatnonzero(in_window(times, *run_window(begin, end, start, stop)))
            rows = slice(near[0], near[-1] + 1) if near.size else slice(0)
            samples, times = samples[rows], times[rows]
        values = np.asarray(samples, np.float64)
        if neurons is not None:
            values = values[:, _columns_of(run, name, neurons, values.shape[1])]
        found = Traces(times, values)
    else:
        raise InvalidValueError("", "the source", "a run or jn.analysis.Traces", repr(run))
    if start is None and stop is None:
        return found
    return found._part(*run_window(begin, end, start, stop))


def _columns_of(
    run: Result, name: str, neurons: Int64[np.ndarray, " neurons"], n: int
) -> Int64[np.ndarray, " neurons"]:
    """The columns of n traces of a population that belong to some of its neurons."""
    recorded = np.asarray(run.neurons.get(name, np.arange(n)))
    missing = np.setdiff1d(neurons, recorded)
    if missing.size:
        must = f"some of the {recorded.size} neurons whose traces were recorded"
        raise InvalidValueError(f"part of {name!r}", "where", must, str(missing[0]))
    order = np.argsort(recorded)
    return order[np.searchsorted(recorded, neurons, sorter=order)]
