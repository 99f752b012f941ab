"""`simulate`: the driver for people. Runs `scan` in chunks and collects on the host."""

import dataclasses
import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import check_count
from .._types import Neuron
from ..network import Description, Network, NetworkState, Population, build
from ..numerics import check_dt, steps_on_grid
from ._program import program
from ._progress import Progress
from ._record import Record
from ._result import NonFiniteError, Result, describe_non_finite
from ._scan import check_finite_inputs, check_input_shapes
from ._spikes import set_bits

_CHUNK_BYTES = 64e6  # spike bits of one chunk
_CHUNK_S = 0.1  # wall time that a chunk should take at most, at _NEURON_STEP per update
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
    check_input_shapes(net, inputs, n_steps)
    check_finite_inputs(inputs)
    record = Record() if record is None else record
    state = net.init(key) if state is None else state
    show = sys.stderr.isatty() if progress is None else progress
    return _Run(net, state, inputs, record).run(n_steps, show)


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


class _Chunk(NamedTuple):
    """What one finished chunk gave, on the host."""

    length: int
    state: NetworkState
    events: list[tuple[np.ndarray, np.ndarray]]
    traces: Any
    counts: Any
    function: Any


class _Run:
    """One call of `simulate`: dispatches chunks, and collects the one before.

    A chunk counts as collected by one append, so that Ctrl-C at any moment leaves whole
    chunks in order.
    """

    def __init__(self, net: Network, state: NetworkState, inputs: dict, record: Record):
        self.net, self.inputs, self.record = net, inputs, record
        self.start_state, self.first, self.compile_s = state, int(state.step), 0.0
        self.dispatched: list[Any] = []
        self.collected: list[_Chunk] = []

    @property
    def done(self) -> int:
        return sum(chunk.length for chunk in self.collected)

    def run(self, n_steps: int, show: bool) -> Result:
        lengths, interrupted, start = self._lengths(n_steps), False, time.perf_counter()
        with Progress(n_steps * self.net.dt, show) as progress:
            try:
                programs = self._compile(lengths)
                start = time.perf_counter()
                state, offset = self.start_state, 0
                for length in lengths:
                    out = programs[length](self.net, state, self._inputs(offset, length))
                    self.dispatched.append((out, length))
                    state, offset = out[0], offset + length
                    if len(self.dispatched) > 1:
                        self._collect(progress)
                self._collect(progress)
            except KeyboardInterrupt:
                interrupted = True
                while len(self.collected) < len(self.dispatched):
                    self._collect(progress)
        return self._result(time.perf_counter() - start, interrupted)

    def _lengths(self, n_steps: int) -> list[int]:
        """Chunks of equal length, then what is left, then a rest without a sample."""
        every = self.record.every if self.record.samples else 1
        sampled = n_steps - n_steps % every
        size = chunk_steps(sampled, self.net.n_neurons, every) if sampled else 1
        lengths = [size] * (sampled // size) + [sampled % size, n_steps % every]
        return [x for x in lengths if x] or [0]

    def _compile(self, lengths: list[int]) -> dict[int, Any]:
        programs, offset = {}, 0
        for length in lengths:
            if length not in programs:
                inputs = self._inputs(offset, length)
                programs[length], seconds = program(
                    self.net, self.start_state, inputs, length, self._record(length)
                )
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
        return {k: jnp.asarray(x, self.net.dtype) for k, x in cut.items()}

    def _collect(self, progress: Progress) -> None:
        """Waits for the next dispatched chunk and takes what it recorded to the host."""
        (state, recording, bad), length = self.dispatched[len(self.collected)]
        bad, events = int(bad), []
        if recording.spikes is not None:
            for group, bits in zip(self.net.groups, recording.spikes.bits):
                steps, neurons = set_bits(np.asarray(bits), 0, group.n)
                events.append((steps + self.done, neurons.astype(np.int32)))
        host = jax.tree.map(np.asarray, recording._replace(spikes=None))
        chunk = _Chunk(length, state, events, host.traces, host.counts, host.function)
        self.collected.append(chunk)
        self.dispatched[len(self.collected) - 1] = None
        progress.advance(length * self.net.dt)
        if bad:
            self._report_non_finite(state, length)

    def _no_traces(self) -> dict[str, dict[str, np.ndarray]]:
        """The traces of a run that was too short for a sample: arrays of no rows."""
        out: dict[str, dict[str, np.ndarray]] = {}
        for name, variables in self.record.variables.items():
            for variable in variables:
                x = self.net.read(self.start_state, name, variable)
                n = len(self.record.neurons.get(name, range(x.shape[-1])))
                out.setdefault(name, {})[variable] = np.zeros((0, n), x.dtype)
        return out

    def _report_non_finite(self, state: NetworkState, length: int) -> None:
        start, stop = ((self.first + self.done - x) * self.net.dt for x in (length, 0))
        raise NonFiniteError(
            f"{describe_non_finite(self.net, state)}: it turned so between {start:g} and "
            f"{stop:g} ms. Lower the weights or dt, or check the inputs; .result of this error "
            "holds what was recorded until then",
            self._result(float("nan"), False),
        )

    def _result(self, run_s: float, interrupted: bool) -> Result:
        every, chunks, done = self.record.every, self.collected, self.done
        samples = done // every if self.record.samples else 0
        sampled = [c for c in chunks if c.length and c.length % every == 0] if samples else []
        spikes = None
        if self.record.spikes:
            groups = range(len(self.net.groups))
            spikes = tuple(_join_events([c.events[g] for c in chunks]) for g in groups)
        return Result(
            network=self.net,
            state=chunks[-1].state if chunks else self.start_state,
            first_step=self.first,
            n_steps=done,
            traces=_join([c.traces for c in sampled]) or self._no_traces(),
            sample_times=(self.first + every * np.arange(1, samples + 1)) * self.net.dt,
            counts=_join([c.counts for c in chunks]) or {},
            function=_join([c.function for c in sampled]),
            compile_s=self.compile_s,
            run_s=run_s,
            interrupted=interrupted,
            spikes=spikes,
        )


def _join_events(chunks: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    if not chunks:
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    steps, neurons = zip(*chunks)
    return np.concatenate(steps), np.concatenate(neurons)


def _join(chunks: list[Any]) -> Any:
    """Chunks of one structure, end to end along their first axis."""
    if not chunks:
        return None
    return jax.tree.map(lambda *x: np.concatenate(x), *chunks)
