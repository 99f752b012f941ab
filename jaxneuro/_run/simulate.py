"""`simulate`: runs `scan` in chunks and collects the results on the host."""

import functools
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Float64

from .. import spec
from .._arrays import as_array, is_traced
from .._build.memory import available_memory
from .._model import Neuron, Stimulus
from .._network.network import Network
from .._network.state import NetworkState, SavedState, state_of
from .._numerics.grid import steps_on_grid
from .._numerics.windows import warn_of_early_times, warn_of_seconds
from .._progress import Progress, is_shown
from .._text import counted, megabytes
from ..spec import InvalidValueError
from ..stimuli import ScheduledSpikes, Steps
from .alone import Alone, neuron_alone
from .chunks import (
    ChunkSizes,
    Finished,
    RunPart,
    Store,
    collect,
    joined,
    nothing_yet,
    plan,
    program,
    with_room,
)
from .info import RunInfo
from .inputs import inputs_of_run
from .record import Record
from .result import Result
from .saved import SavedRun, interval_of
from .statistics import SpikeSums
from .stopped import (
    Interrupted,
    LostProcessError,
    NonFiniteError,
    describe_bad_rate,
    describe_non_finite,
    explicit_methods,
    over_processes,
)

_EXCHANGE = 5e-4  # seconds, of a step in which processes exchange something over sockets
_MANY_TIMES = 100_000  # nobody writes so many by hand
_DURATION = spec.Number(unit="ms", at_least=0.0)
_MOST_STEPS = 2**31 - 1  # of a network since its start: they are counted in int32


@spec.arguments(
    model=spec.Of(Network, Neuron),
    record=spec.Maybe(spec.Of(Record)),
    until=spec.Maybe(spec.Function()),
    callback=spec.Maybe(spec.Function()),
    progress=spec.Maybe(spec.Flag()),
)
def simulate(  # noqa: PLR0913 - all that a run is, each by its name
    model: Network | Neuron,
    duration: Any = None,
    *,
    current: Any = None,
    inputs: Mapping[str, Any] | None = None,
    record: Record | None = None,
    key: Any = None,
    state: NetworkState | Result | SavedState | None = None,
    n: int | None = None,
    dt: float | None = None,
    state0: Any = None,
    dtype: Any = None,
    until: Callable[[Result], bool] | None = None,
    callback: Callable[[Result], Any] | None = None,
    check_interval: float | None = None,
    save: str | os.PathLike | None = None,
    every: float | None = None,
    progress: bool | None = None,
) -> Result:
    """Runs a network for `duration` [ms] and returns what it recorded.

    `scan` in chunks: while one runs, the spikes of the last become events on the host. Ctrl-C ends
    the run early and raises `jn.Interrupted`, a `KeyboardInterrupt` with the result so far.

    With `until`, the run ends as soon as a condition on what it has recorded holds::

        quiet = lambda result: result.rate("E", result.stop - 50.0) < 1.0
        jn.simulate(net, 10_000.0, until=quiet, check_interval=50.0)

    It is asked every `check_interval` from the start of the run on, with the result so far, and
    last at the end; so is a `callback`. They cost no bit of what is simulated. The result says
    whether it held, `until_held`, and its duration is what was simulated.

    With `save`, a folder, what is recorded and the whole state reach the disk every `every` ms
    while the next interval runs, and memory holds a few intervals, however long the run is::

        result = jn.simulate(net, 60_000.0, save="run/", every=1_000.0)

    The same line after a crash, Ctrl-C or `kill -9` goes on after the last finished interval, with
    the bits of one run; with a longer duration it goes further; a finished run is read. The folder
    of another run is refused, with what differs; `every`, `until` and `callback` are free. The
    result reads from the folder what is asked for, as `jn.Recording.open(folder)` does later: its
    samples and counts are arrays on disk, `x[...]` reads them. docs/guide/long_runs.md has more.

    A bare neuron model runs as a population "neurons" of `n` at time step `dt`, in float32 or in
    `dtype`. An f-I curve: `simulate(model, 1000.0, dt=0.1, current=currents)`, then
    `jn.analysis.neuron_rates(result)`.

    Args:
        model: a network, or a neuron model.
        duration: how long [ms]; not needed with a `current` over time.
        current: of a bare neuron, in the model's unit: a number, one per neuron, (n,), a function
            of time or a signal as in `jn.stimuli.Current`, or one per time step and neuron,
            (n_steps, n) or (n_steps, 1) for all; (n,) and (n_steps, n) set `n`.
        inputs: currents [pA] by population, one number for all neurons and steps, (n_steps,) or
            (n_steps, n); spikes of a population of `Relay`, a `SpikeTrains`, a `SpikeBits` or
            booleans (n_steps, n); signals of plasticity rules by name, one number or (n_steps,).
        record: what to record (default: spikes); samples are taken when the time since the
            network's start is a multiple of `record.interval`.
        key: seeds a new run, an integer or a JAX key (default 0).
        state: continues an earlier run: its result, also one from a file, or `result.state`.
        n: how many neurons, of a bare neuron.
        dt: the time step [ms], of a bare neuron.
        state0: start values of a bare neuron by variable (`{"v": -70.0}`: numbers, arrays (n,) or
            distributions), or a state of the model.
        dtype: of the numbers of a bare neuron.
        until: a function of the result so far that says whether the run ends.
        callback: a function of the result so far, called at the same times.
        check_interval: how often both are called [ms].
        save: the folder of a run that survives.
        every: how long its intervals are [ms].
        progress: whether to show a bar (default: in a terminal or a notebook).

    Returns:
        What was recorded, a `Result`.

    Raises:
        ValueError: for a duration or a `check_interval` off the grid, more than 2^31 - 1 steps
            since the network's start, both a key and a state, the state of another network
            (`net.set` makes no other) or a batch of states, what `scan` refuses, a folder of
            another run or of a longer one, and inside `jit`, `vmap` and `grad` (use `scan`).
        OSError: where the folder cannot be written; what it holds is whole.
        FolderInUseError: for a folder that another run is writing; it is a `RuntimeError`.
        NonFiniteError: after a chunk in which a state turned NaN or infinite; it is a `ValueError`
            with the result so far.
        LostProcessError: where a network lies on several processes and one is gone; with the result
            so far.
    """
    _check_known(model, duration, inputs, state, state0, key, current, dt)
    given = inputs
    if isinstance(model, Neuron):
        alone = Alone(n, dt, state0, dtype)
        net, duration, given = neuron_alone(model, duration, given, current, alone)
    else:
        net = model
        if any(x is not None for x in (n, dt, state0, dtype, current)):
            other = f". Its dt is {net.dt:g}: for another, jn.build(description, key, dt={dt!r})"
            raise ValueError(
                "simulate: n, dt, state0, dtype and current belong to a bare neuron; a Network has "
                f"its own (for a current: jn.Stimulation, or inputs=){'' if dt is None else other}"
            )
    if key is not None and state is not None:
        raise ValueError(
            "simulate: key= starts a new run and state= continues an earlier one; give one of them"
        )
    state = None if state is None else _one_state(net, state)
    first = 0 if state is None else int(state.step)
    n_steps = _steps(duration, net.dt, first)
    checks = _checks(net.dt, until, callback, check_interval)
    given = inputs_of_run(net, given, first, n_steps)
    if state is None:
        state = _first_state(net, key, n_steps)
    record = Record() if record is None else record
    record.warn_of_unfed(net)
    record = record.named(net, state)
    record.check_statistics(net)
    show = is_shown(progress)
    interval = interval_of(net, save, every)
    if interval is None:
        return _Run(net, state, given, record, checks).run(n_steps, show)
    with SavedRun(save, interval) as saved:
        return _Run(net, state, given, record, checks, saved).run(n_steps, show)


def _check_known(*values: Any) -> None:
    """Raises `ValueError` inside `jit`, `vmap` and `grad`."""
    here = as_array(0)  # inside any `jit` traced, whether a value depends on it or not
    if any(map(is_traced, jax.tree.leaves((here, values)))):
        raise ValueError(
            "simulate runs on the host, chunk by chunk, and cannot be traced; inside jit, vmap and "
            "grad use jn.scan(net, state, n_steps)"
        )


def _steps(duration: Any, dt: float, first: int) -> int:
    if duration is None:
        must = "given in ms (only a current over time, (n_steps, n), says how long)"
        raise InvalidValueError("simulate", "duration", must, "none")
    ms = spec.check("simulate", "duration", _DURATION, duration)
    if first + ms / dt > _MOST_STEPS + 0.5:
        raise ValueError(
            f"simulate: a network counts at most 2^31 - 1 time steps, {_MOST_STEPS * dt:g} ms at "
            f"dt = {dt:g} ms; got {ms:g} ms after {first:,} steps. Run for less, or start anew "
            "with net.init(key)"
        )
    return int(steps_on_grid("simulate: the duration", ms, dt))


class _Checks(NamedTuple):
    """What is asked while a run goes on, and after how many steps each time."""

    until: Callable[[Result], bool] | None
    callback: Callable[[Result], Any] | None
    every: int

    def ends(self, so_far: Callable[[], Result]) -> bool:
        """Whether the run ends here."""
        result = so_far()
        try:
            if self.callback is not None:
                self.callback(result)
            ended = False if self.until is None else self.until(result)
            ended = np.asarray(ended).item() if np.ndim(ended) == 0 else ended
            return spec.check("simulate", "what until returns", spec.Flag(), ended)
        except Exception as error:
            error.result = result  # type: ignore[attr-defined]
            error.add_note(".result of this error holds what was recorded until then")
            raise


def _checks(dt: float, until: Any, callback: Any, check_interval: Any) -> _Checks | None:
    if until is None and callback is None:
        if check_interval is not None:
            must = "None without until= or callback=, which it is for"
            raise InvalidValueError("simulate", "check_interval", must, str(check_interval))
        return None
    ms = spec.check("simulate", "check_interval", spec.Number("ms", above=0.0), check_interval)
    every = steps_on_grid("simulate: check_interval", ms, dt, at_least=1)
    return _Checks(until, callback, int(every))


def _one_state(net: Network, given: Any) -> NetworkState:
    """The state that a run goes on from, and `ValueError` for a batch of states."""
    state = state_of(net, given)
    if np.ndim(state.step):
        raise ValueError(
            "simulate runs one network; got a batch of states. Run a batch by jax.vmap over "
            "jn.scan(net, state, n_steps), or by jn.sweep"
        )
    return state


def _first_state(net: Network, key: Any, n_steps: int) -> NetworkState:
    """The state at t = 0; warns of stimulations whose windows or times look like seconds."""
    end = n_steps * net.dt
    for stimulus in (s for group in net.groups for s in group.stimuli):
        start, stop = stimulus.window.start, stimulus.window.stop
        if stop is not None and stop > start:
            names = ", ".join(stimulus.names)
            what = f"stimulation {names!r} is on; the run is from 0 to {end:.10g} ms"
            warn_of_seconds(start * net.dt, stop * net.dt, 0.0, end, what)
        names = ", ".join(map(repr, stimulus.names))
        for times in _times_of(stimulus.model, net.dt):
            warn_of_early_times(times, end, f"stimulation {names}")
    return net.init(0 if key is None else key)


def _times_of(stimulus: Stimulus, dt: float) -> Iterator[Float64[np.ndarray, " _"]]:
    """The times [ms] of the spikes, or of the steps of signals, of a stimulus that runs."""
    if isinstance(stimulus, ScheduledSpikes) and stimulus.steps.size < _MANY_TIMES:
        steps = np.asarray(stimulus.steps)
        yield dt * (steps[: steps.size - stimulus.most] + 1.0)
    for value in vars(stimulus).values():
        if isinstance(value, Steps):
            yield dt * np.asarray(value.times, np.float64)


def _check_room(record: Record, samples: int, sample_bytes: int) -> None:
    """Raises `ValueError` for a recording that does not fit in memory, before anything runs."""
    free, needed = available_memory(), samples * sample_bytes
    if free is not None and needed > free:
        longer = -(-2 * needed // free)
        raise ValueError(
            f"simulate: {samples:,} samples of {megabytes(sample_bytes)} must fit in the memory, "
            f"{megabytes(free)} of which are free; they take {megabytes(needed)}. Sample more "
            f"seldom (an interval {longer} times longer), fewer neurons (neurons=), or means"
        )


class _Now(NamedTuple):
    """The interval of a run that goes on: all of a run that is not saved.

    Attributes:
        start: the state at its begin.
        store: its arrays.
        finished: how far it has come.
    """

    start: NetworkState
    store: Store
    finished: Finished


class _Run:
    """One call of `simulate`: dispatches chunks, and collects the one before.

    A chunk counts as collected by one assignment, and so does an interval that is handed over to
    be saved: Ctrl-C at any moment leaves whole chunks in order.
    """

    def __init__(
        self,
        net: Network,
        state: NetworkState,
        inputs: dict,
        record: Record,
        checks: _Checks | None,
        saved: SavedRun | None = None,
    ):
        self.net, self.inputs, self.record, self.checks = net, inputs, record, checks
        self.running = with_room(net) if _on_cpu(state) else net
        self.start_state, self.first, self.compile_s = state, int(state.step), 0.0
        self.dispatched: list[Any] = []
        self.saved, self.until_held = saved, False
        nothing = nothing_yet(net, state, record)
        if saved is not None:
            state = saved.begin(net, state, record, inputs)
            sums = {name: SpikeSums(*x) for name, x in saved.saved["sums"].items()}
            nothing = nothing._replace(sums=nothing.sums | sums, state=state)
        self.now = _Now(state, Store(net, record), nothing)

    def run(self, n_steps: int, show: bool) -> Result:
        first, dt = self._done, self.net.dt
        if n_steps < first:
            must = f"{first * dt:g} ms or more, which the folder holds"
            raise InvalidValueError("simulate", "duration", must, f"{n_steps * dt:g} ms")
        self.start = time.perf_counter()
        samples = self._samples(n_steps)
        # One that is taken, and one that is written twice over: as it is, and as its file.
        held = samples if self.saved is None else 3 * samples
        _check_room(self.record, held, self._sample_bytes)
        self.now = self.now._replace(store=Store(self.net, self.record, samples))
        unit = f"ms ({counted(n_steps, 'step')})"
        with Progress("simulating", n_steps * dt, unit, show) as progress:
            progress.advance(first * dt)
            try:
                # What is given now is asked, which may not be what ended the run before.
                ended = first > 0 and self._asked(first, n_steps, progress)
                stretches = [] if ended else self._plan(first, n_steps)
                programs = self._compile(stretches, progress)
                self.start = time.perf_counter()
                state, offset = self.now.start, first
                for parts in stretches:
                    for part in parts:
                        args = self._arguments(state, offset, part)
                        out = programs[part.room, part.record](*args)
                        state, offset = out[0], offset + part.steps
                        self.dispatched.append((out, part, self._ends_interval(offset)))
                        if len(self.dispatched) > 1:
                            self._collect(progress)
                    if self._asked(offset, n_steps, progress):
                        break
                self._collect_all(progress)
            except KeyboardInterrupt as stop:
                if self.saved is not None and self._begun < self.saved.steps:
                    self._begin_next()  # it came just after an interval was handed over
                self._collect_all(progress)
                raise self._interrupted() from stop
            except jax.errors.JaxRuntimeError as error:
                if not over_processes(self.net):
                    raise
                raise self._lost() from error
        if first < n_steps:
            self._hand_over()
        return self._result()

    @property
    def _done(self) -> int:
        """How many steps of the run are finished."""
        return self.now.finished.steps + (0 if self.saved is None else self.saved.steps)

    @property
    def _times(self) -> dict[str, Any]:
        """What a run has beside what it recorded."""
        before = {"compile_s": 0.0, "run_s": 0.0} if self.saved is None else self.saved.before
        run_s = time.perf_counter() - self.start
        return {
            "compile_s": before["compile_s"] + self.compile_s,
            "run_s": before["run_s"] + run_s,
            "until_held": self.until_held,
        }

    def _samples(self, n_steps: int) -> int:
        """How many samples an interval takes at most."""
        length = n_steps if self.saved is None else min(self.saved.every, n_steps)
        every = self.record.steps_between(self.net.dt) if self.record.has_samples else length + 1
        return (self.first % every + length) // every

    def _ends_interval(self, offset: int) -> bool:
        return self.saved is not None and offset % self.saved.every == 0

    def _asked(self, offset: int, n_steps: int, progress: Progress) -> bool:
        """Asks, where something is asked after so many steps, whether the run ends here."""
        if self.checks is None or (offset % self.checks.every and offset < n_steps):
            return False
        self._collect_all(progress)
        self.until_held = self.checks.ends(self._result)
        return self.until_held

    def _hand_over(self) -> None:
        """Has the interval saved that goes on, and begins the next."""
        if self.saved is None:
            return
        finished = self.now.finished
        if finished.steps or not self.saved.intervals or self.until_held:
            self.saved.hand_over(self._recorded(), self._times)
        self._begin_next()

    @property
    def _begun(self) -> int:
        """The step at which the interval begins that goes on."""
        return int(self.now.start.step) - self.first

    def _begin_next(self) -> None:
        """Begins an interval after the one that was handed over."""
        assert self.saved is not None
        finished, samples = self.now.finished, self._samples(self.saved.every)
        next_one = nothing_yet(self.net, finished.state, self.record)
        next_one = next_one._replace(chunks=finished.chunks, sums=finished.sums)
        store = Store(self.net, self.record, samples)
        self.now = _Now(finished.state, store, next_one)

    @functools.cached_property
    def _sample_bytes(self) -> int:
        return self.record.sample_bytes(self.net, self.start_state)

    @functools.cached_property
    def _info(self) -> RunInfo:
        return RunInfo.of(self.net, self.start_state, self.record, 0)

    def _collect_all(self, progress: Progress) -> None:
        while self.now.finished.chunks < len(self.dispatched):
            self._collect(progress)

    def _plan(self, first: int, n_steps: int) -> list[list[RunPart]]:
        """The chunks from a step on, up to each at which something is asked or saved."""
        layout: Any = self.net.layout
        together = 1
        if layout is not None and not self.net.exchanges_every_step:
            together = layout.shortest
        known = not _on_cpu(self.start_state)
        sizes = ChunkSizes(
            neurons=self.net.n_neurons,
            sample_bytes=self._sample_bytes,
            input_bytes=sum(_bytes_per_step(x) for x in self.inputs.values()),
            exchange=_EXCHANGE if over_processes(self.net) else 0.0,
            gpu=known,
        )
        some = self.checks, self.saved
        how = self.record.in_chunks(), sizes, self.net.dt, together, known
        every = self.record.steps_between(self.net.dt)
        # Made once for each length and phase: there may be millions of checks.
        planned = functools.cache(lambda steps, phase: plan(steps, phase, *how))
        lengths, found = [x.every for x in some if x is not None], []
        while first < n_steps or not (found or n_steps):
            stop = min([n_steps, *((first // x + 1) * x for x in lengths)])
            found.append(planned(stop - first, (self.first + first) % every))
            first = stop
        return found

    def _compile(
        self, stretches: list[list[RunPart]], progress: Progress
    ) -> dict[tuple[int, Record], Any]:
        different = {id(stretch): stretch for stretch in stretches}.values()
        programs, parts = {}, [part for stretch in different for part in stretch]
        for part in parts:
            key = part.room, part.record
            if key not in programs:
                args = self._arguments(self.start_state, 0, part)
                with progress.meanwhile("compiling"):
                    programs[key], seconds = program(args, *key)
                self.compile_s += seconds
        if not any(part.record.has_samples for part in parts):  # else `scan` has checked it
            self.record.check(self.net, self.start_state)
        return programs

    def _arguments(self, state: NetworkState, offset: int, part: RunPart) -> tuple:
        """What the program of a chunk takes."""
        steps = as_array(part.steps, np.int32) if _on_cpu(self.start_state) else None
        return self.running, state, self._inputs(offset, part), steps

    def _inputs(self, offset: int, part: RunPart) -> dict[str, Float[Array, "room ..."]]:
        """The inputs of a chunk, with 0 up to the room of its program."""
        out = {}
        for name, x in self.inputs.items():
            cut = x[offset : offset + part.steps]
            more = [(0, part.room - part.steps)] + [(0, 0)] * (cut.ndim - 1)
            out[name] = as_array(np.pad(cut, more), bool if cut.dtype == bool else self.net.dtype)
        return out

    def _collect(self, progress: Progress) -> None:
        """Waits for the next dispatched chunk and copies what it recorded to the host."""
        number = self.now.finished.chunks
        (state, recording, bad), part, ends_interval = self.dispatched[number]
        bad = int(bad)  # waits
        finished = collect(self.now.store, self.now.finished, state, recording, part)
        self.now = self.now._replace(finished=finished)
        self.dispatched[number] = None
        progress.advance(part.steps * self.net.dt)
        if bad:
            self._report_non_finite(state, part.steps)
        if ends_interval:
            self._hand_over()

    def _interrupted(self) -> Interrupted:
        """What Ctrl-C raises."""
        self._hand_over()
        result = self._result(interrupted=True)
        on = "simulate(net, rest, state=result)" if self.saved is None else "the same call"
        return Interrupted(
            f"stopped after {result.duration:g} ms of the run. What was recorded until then is "
            f".result of this exception (in a notebook: sys.last_value.result); {on} goes on from "
            "there",
            result,
        )

    def _lost(self) -> LostProcessError:
        """The error for an exchange with another process that failed."""
        ms = self._done * self.net.dt
        return LostProcessError(
            f"an exchange with another process failed after {ms:g} ms: one of them has died or "
            "stopped with an error of its own (see what the others wrote). .result of this error "
            "holds what was recorded until then; start all processes again to go on",
            self._result(),
        )

    def _report_non_finite(self, state: NetworkState, length: int) -> None:
        last = self.first + self._done
        start, stop = ((last - x) * self.net.dt for x in (length, 0))
        cause = describe_bad_rate(self.net, range(last - length, last))
        advice = "Lower dt or the weights, or check the inputs" if cause is None else cause
        advice += explicit_methods(self.net, state) if cause is None else ""
        raise NonFiniteError(
            f"{describe_non_finite(self.net, state)}: it turned so between {start:g} and "
            f"{stop:g} ms. {advice}; .result of this error holds what was recorded until then",
            self._result(),
        )

    def _recorded(self) -> dict[str, Any]:
        """The fields of a `Result` of the interval that goes on."""
        start, store, finished = self.now
        return joined(self.net, start, self.record, self._info, finished, store)

    def _result(self, interrupted: bool = False) -> Result:
        known = {**self._times, "interrupted": interrupted}
        if self.saved is None:
            return Result(**{**self._recorded(), **known})
        finished = self.now.finished
        now = self._recorded() if finished.steps or not self.saved.intervals else None
        known |= {"state": finished.state, "statistics": finished.sums}
        return self.saved.result(now, known)


def _bytes_per_step(x: Any) -> int:
    """Bytes of an input in one step."""
    width = x.shape[1] if len(x.shape) > 1 else 1
    return width * getattr(x, "dtype", np.dtype(bool)).itemsize


def _on_cpu(state: NetworkState) -> bool:
    """Whether a loop may ask for its number of turns: a GPU would wait for the answer each time."""
    known = isinstance(state.step, jax.Array)  # else of NumPy, as a pickled state may be
    devices = state.step.devices() if known else jax.devices()[:1]
    return all(device.platform == "cpu" for device in devices)
