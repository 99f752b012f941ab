"""`simulate`: the driver for people. Runs `scan` in chunks and collects on the host."""

import dataclasses
import sys
import time
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from .._checks import check_count
from .._types import Neuron
from ..network import Description, Network, NetworkState, Population, build
from ..numerics import check_dt, steps_on_grid
from ._program import program
from ._progress import Progress
from ._record import Record
from ._result import NonFiniteError, Result, describe_non_finite
from ._scan import check_finite_inputs
from ._spikes import set_bits

_CHUNK_BYTES = 64e6  # spike bits of one chunk
_CHUNK_S = 0.1  # wall time that a chunk should take, at _NEURON_STEP per update
_NEURON_STEP = 1.5e-9


def simulate(
    model: Network | Neuron,
    duration: Any,
    *,
    inputs: Mapping[str, Any] | None = None,
    record: Record | None = None,
    key: Any = 0,
    state: NetworkState | None = None,
    n: int | None = None,
    dt: float | None = None,
    progress: bool | None = None,
) -> Result:
    """Runs a network for `duration` [ms] and returns what it recorded.

    `scan` in chunks: while one runs, the spikes of the last become events on the host.
    `inputs` currents [pA] by population, `(steps,)` or `(steps, n)`; `record` what to record
    (default: spikes); `key` seeds the start values (an integer or a JAX key), or `state`
    goes on from an earlier run (`result.state`); `progress` shows a bar (default: where
    stderr is a terminal).

    A bare neuron model runs as a population "neurons" of `n` at time step `dt` [ms]; then
    `duration` may also be a current [pA] `(steps,)` or `(steps, n)`, which sets the time.

    Ctrl-C ends the run early and returns what was recorded until then.

    **Raises** `ValueError` for a duration that is negative or off the grid, for what `scan`
    refuses, and `NonFiniteError` (a `ValueError` with the result so far) after a chunk in
    which a state turned NaN or infinite.

    **Source** the house's own: design section 3.
    """
    if isinstance(model, Neuron):
        net, duration, inputs = _bare(model, duration, inputs, n, dt)
    elif isinstance(model, Network):
        net = model
        if n is not None or dt is not None:
            raise ValueError("simulate: n and dt belong to a bare neuron; a Network has its own")
    else:
        raise ValueError(
            f"simulate needs a Network (jn.build(description, ...)) or a neuron; got {model!r}"
        )
    n_steps = _steps(duration, net.dt)
    inputs = dict(inputs or {})
    check_finite_inputs(inputs)
    record = Record() if record is None else record
    state = net.init(key) if state is None else state
    show = sys.stderr.isatty() if progress is None else progress
    return _Run(net, inputs, record).run(state, n_steps, show)


def _bare(model: Neuron, duration: Any, inputs: Any, n: Any, dt: Any) -> tuple[Network, Any, Any]:
    if dt is None:
        raise ValueError("simulate: a bare neuron needs a time step, dt= [ms]")
    stimulus = np.asarray(duration)
    if stimulus.ndim == 2 and n is None:
        n = stimulus.shape[1]
    n = check_count("simulate: n", 1 if n is None else n)
    net = build(Description([Population("neurons", n, model)]), 0, check_dt(dt))
    if stimulus.ndim == 0:
        return net, duration, inputs
    if inputs:
        raise ValueError("simulate: give the current once, as the stimulus or in inputs=")
    return net, stimulus.shape[0] * net.dt, {"neurons": stimulus}


def _steps(duration: Any, dt: float) -> int:
    try:
        ms = float(duration)
    except (TypeError, ValueError):
        ms = float("nan")
    if not (np.isfinite(ms) and ms >= 0):
        raise ValueError(
            f"simulate: the duration must be a number of at least 0 ms; got {duration!r}"
        )
    return int(steps_on_grid("simulate: the duration", ms, dt))


def chunk_steps(n_steps: int, n_neurons: int, every: int) -> int:
    """Steps per chunk: bounded in bytes and wall time, a divisor of `n_steps` if one is near.

    A divisor needs one compiled program instead of two.
    """
    most = min(_CHUNK_S / (_NEURON_STEP * (n_neurons + 1000)), 8 * _CHUNK_BYTES / (n_neurons + 1))
    most = max(int(most) // every, 1)
    windows = n_steps // every
    if windows <= most:
        return max(windows * every, 1)
    for size in range(most, most // 3, -1):
        if windows % size == 0:
            return size * every
    return most * every


@dataclasses.dataclass
class _Parts:
    """What the finished chunks gave."""

    events: list = dataclasses.field(default_factory=list)
    traces: list = dataclasses.field(default_factory=list)
    counts: list = dataclasses.field(default_factory=list)
    function: list = dataclasses.field(default_factory=list)


class _Run:
    """One call of `simulate`: dispatches chunks, collects the one before."""

    def __init__(self, net: Network, inputs: dict[str, Any], record: Record):
        self.net, self.inputs, self.record = net, inputs, record
        self.parts, self.done, self.compile_s = _Parts(), 0, 0.0

    def run(self, state: NetworkState, n_steps: int, show: bool) -> Result:
        every = self.record.every if self.record.samples else 1
        sampled = n_steps - n_steps % every
        size = chunk_steps(sampled, self.net.n_neurons, every) if sampled else 1
        lengths = [size] * (sampled // size) + [sampled % size, n_steps % every]
        lengths = [x for x in lengths if x] or [0]
        programs = self._compile(state, lengths)
        self.first, self.state = int(state.step), state
        interrupted, waiting, start = False, None, time.perf_counter()
        with Progress(n_steps * self.net.dt, show) as progress:
            try:
                offset = 0
                for length in lengths:
                    out = programs[length](self.net, state, self._inputs(offset, length))
                    if waiting is not None:
                        ready, waiting = waiting, (out, length)
                        self._collect(*ready, progress)
                    waiting = (out, length)
                    state, offset = out[0], offset + length
                ready, waiting = waiting, None
                self._collect(*ready, progress)
            except KeyboardInterrupt:
                interrupted = True
                if waiting is not None:
                    self._collect(*waiting, progress)
        return self._result(time.perf_counter() - start, interrupted)

    def _compile(self, state: NetworkState, lengths: list[int]) -> dict[int, Any]:
        programs, offset = {}, 0
        for length in lengths:
            if length not in programs:
                record = self._record(length)
                compiled, seconds = program(
                    self.net, state, self._inputs(offset, length), length, record
                )
                programs[length] = compiled
                self.compile_s += seconds
            offset += length
        return programs

    def _record(self, length: int) -> Record:
        """The record of a chunk; a rest shorter than `every` holds no sample."""
        if self.record.samples and length % self.record.every:
            return dataclasses.replace(self.record, variables={}, neurons={}, function=None)
        return self.record

    def _inputs(self, offset: int, length: int) -> dict[str, Any]:
        cut = {k: np.asarray(x)[offset : offset + length] for k, x in self.inputs.items()}
        return {k: jax.numpy.asarray(x, self.net.dtype) for k, x in cut.items()}

    def _collect(self, out: Any, length: int, progress: Progress) -> None:
        """Waits for a chunk and takes its recording to the host; all of it or nothing."""
        state, recording, bad = out
        bad = int(bad)
        if recording.spikes is not None:
            events = []
            for group, bits in zip(self.net.groups, recording.spikes.bits):
                steps, neurons = set_bits(np.asarray(bits), 0, group.n)
                events.append((steps + self.done, neurons.astype(np.int32)))
            self.parts.events.append(events)
        host = jax.tree.map(np.asarray, recording._replace(spikes=None))
        self.parts.counts.append(host.counts)
        if self.record.samples and length % self.record.every == 0 and length:
            self.parts.traces.append(host.traces)
            self.parts.function.append(host.function)
        self.state, self.done = state, self.done + length
        progress.advance(length * self.net.dt)
        if bad:
            ms = self.net.dt * self.first
            span = f"between {ms + (self.done - length) * self.net.dt:g} and "
            what = describe_non_finite(self.net, state)
            raise NonFiniteError(
                f"{what}: it turned so {span}{ms + self.done * self.net.dt:g} ms. Lower the "
                "weights or dt, or check the inputs; .result of this error holds what was "
                "recorded until then",
                self._result(float("nan"), False),
            )

    def _result(self, run_s: float, interrupted: bool) -> Result:
        every, parts = self.record.every, self.parts
        samples = (self.done // every) if self.record.samples else 0
        spikes = None
        if self.record.spikes:
            chunks = [[p[g] for p in parts.events] for g in range(len(self.net.groups))]
            spikes = tuple(_join_events(group) for group in chunks)
        return Result(
            network=self.net,
            state=self.state,
            first_step=self.first,
            n_steps=self.done,
            traces=_join(parts.traces) or {},
            sample_times=(self.first + every * np.arange(1, samples + 1)) * self.net.dt,
            counts=_join(parts.counts) or {},
            function=_join(parts.function),
            compile_s=self.compile_s,
            run_s=run_s,
            interrupted=interrupted,
            spikes=spikes,
        )


def _join_events(chunks: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    if not chunks:
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    return tuple(np.concatenate(x) for x in zip(*chunks))  # type: ignore[return-value]


def _join(chunks: list[Any]) -> Any:
    """Chunks of one structure, end to end along their first axis."""
    if not chunks:
        return None
    return jax.tree.map(lambda *x: np.concatenate(x), *chunks)
