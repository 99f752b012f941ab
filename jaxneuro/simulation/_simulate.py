"""`simulate`: runs `scan` in chunks and collects the results on the host."""

import dataclasses
import sys
import time
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from .._arrays import as_array
from .._checks import check_kind, is_traced
from .._progress import Progress
from .._types import Neuron
from ..network import Network, NetworkState
from ..numerics import steps_on_grid
from ._bad_rates import describe_bad_rate
from ._chunks import Chunk, Store, collect, joined
from ._neuron_alone import neuron_alone
from ._non_finite import NonFiniteError, describe_non_finite
from ._program import program
from ._record import Record
from ._result import Result
from ._scan import check_finite_inputs, check_input_shapes

_CHUNK_BYTES = 64e6  # spike bits of one chunk
_CHUNK_S = 0.1  # wall time that a chunk should take at most, at _NEURON_STEP per update
_NEURON_STEP = 1.5e-9
_SAMPLE_BYTES = 4e6  # samples of one chunk: they stay in a cache until they are copied
_UNIT = "ms of biological time"
_MOST_STEPS = 2**31 - 1  # of a network since its start: they are counted in int32


def simulate(
    model: Network | Neuron,
    duration: Any,
    *,
    inputs: Mapping[str, Any] | None = None,
    record: Record | None = None,
    key: Any = None,
    state: NetworkState | None = None,
    n: int | None = None,
    dt: float | None = None,
    state0: Any = None,
    dtype: Any = None,
    progress: bool | None = None,
) -> Result:
    """Runs a network for `duration` [ms] and returns what it recorded.

    `scan` in chunks: while one runs, the spikes of the last become events on the host.
    `inputs` currents [pA] by population, `(steps,)` or `(steps, n)`, and signals of plasticity
    rules by name, `(steps,)`; `record` what to record
    (default: spikes), samples when the number of steps since the network's start is a
    multiple of `every`; `key` seeds a new run (an integer or a JAX key, default 0), or
    `state` continues an earlier run (`result.state`); `progress` shows a bar (default:
    if stderr is a terminal).

    A bare neuron model runs as a population "neurons" of `n` at time step `dt` [ms], in float32
    or in `dtype`; then `duration` may also be a current `(steps,)` or `(steps, n)` in the
    model's unit, which sets the time. `state0` are start values by variable (`{"v": -70.0}`:
    numbers, arrays (n,) or distributions), or a state of the model.

    Ctrl-C ends the run early and returns what was recorded until then.

    **Raises** `ValueError` for a duration that is negative or off the grid, for more than
    2^31 - 1 steps since the network's start, for both a key and a state, for what `scan`
    refuses, and inside `jit`, `vmap` and `grad` (use `scan` there); `NonFiniteError` (a
    `ValueError` with the result so far) after a chunk in which a state turned NaN or infinite.
    """
    if any(map(is_traced, jax.tree.leaves((model, duration, inputs, state, state0)))):
        raise ValueError(
            "simulate runs on the host, chunk by chunk, and cannot be traced; inside jit, vmap and "
            "grad use jn.scan(net, state, n_steps)"
        )
    if isinstance(model, Neuron):
        net, duration, inputs = neuron_alone(model, duration, inputs, n, dt, state0, dtype)
    elif isinstance(model, Network):
        net = model
        if any(x is not None for x in (n, dt, state0, dtype)):
            raise ValueError(
                "simulate: n, dt, state0 and dtype belong to a bare neuron; a Network has its own"
            )
    else:
        raise ValueError(
            f"simulate needs a Network (jn.build(description, ...)) or a neuron; got {model!r}"
        )
    if key is not None and state is not None:
        raise ValueError(
            "simulate: key= starts a new run and state= continues an earlier one; give one of them"
        )
    n_steps = _steps(duration, net.dt, 0 if state is None else int(state.step))
    inputs = dict(inputs or {})
    check_input_shapes(net, inputs, n_steps)
    check_finite_inputs(inputs)
    if state is None:
        state = net.init(0 if key is None else key)
    record = Record() if record is None else record
    check_kind("simulate: record", record, Record)
    record = record.named(net, state)
    show = sys.stderr.isatty() if progress is None else progress
    return _Run(net, state, inputs, record).run(n_steps, show)


def _steps(duration: Any, dt: float, first: int) -> int:
    try:
        ms = float(duration)
    except (TypeError, ValueError):
        ms = float("nan")
    if not (np.isfinite(ms) and ms >= 0):
        raise ValueError(
            f"simulate: the duration must be a number of at least 0 ms; got {duration!r}"
        )
    if first + ms / dt > _MOST_STEPS + 0.5:
        raise ValueError(
            f"simulate: a network counts at most 2^31 - 1 time steps, {_MOST_STEPS * dt:g} ms at "
            f"dt = {dt:g} ms; got {ms:g} ms after {first:,} steps. Run for less, or start anew "
            "with net.init(key)"
        )
    return int(steps_on_grid("simulate: the duration", ms, dt))


def chunk_steps(n_steps: int, n_neurons: int, every: int, sample_bytes: int = 0) -> int:
    """Steps per chunk: bounded in bytes and wall time, a divisor of `n_steps` if one is near.

    A divisor needs one compiled program instead of two. `sample_bytes` are those of one sample.
    """
    most = min(_CHUNK_S / (_NEURON_STEP * (n_neurons + 1000)), 8 * _CHUNK_BYTES / (n_neurons + 1))
    most = min(most, every * _SAMPLE_BYTES / (sample_bytes + 1))
    most = max(int(most) // every, 1)
    windows = n_steps // every
    if windows <= most:
        return max(windows * every, 1)
    for size in range(most, most // 3, -1):
        if windows % size == 0:
            return size * every
    return most * every


class _Run:
    """One call of `simulate`: dispatches chunks, and collects the one before.

    A chunk counts as collected by one append, so that Ctrl-C at any moment leaves whole
    chunks in order.
    """

    def __init__(self, net: Network, state: NetworkState, inputs: dict, record: Record):
        self.net, self.inputs, self.record = net, inputs, record
        self.start_state, self.first, self.compile_s = state, int(state.step), 0.0
        self.dispatched: list[Any] = []
        self.collected: list[Chunk] = []
        self.store = Store(0)

    @property
    def done(self) -> int:
        return sum(chunk.length for chunk in self.collected)

    def run(self, n_steps: int, show: bool) -> Result:
        plan, interrupted, start = self._plan(n_steps), False, time.perf_counter()
        self.store = Store(sum(length // part.every for length, part in plan if part.samples))
        with Progress("simulating", n_steps * self.net.dt, _UNIT, show) as progress:
            try:
                programs = self._compile(plan)
                start = time.perf_counter()
                state, offset = self.start_state, 0
                for part in plan:
                    length, record = part
                    out = programs[part](self.net, state, self._inputs(offset, length))
                    self.dispatched.append((out, length, record.samples))
                    state, offset = out[0], offset + length
                    if len(self.dispatched) > 1:
                        self._collect(progress)
                self._collect(progress)
            except KeyboardInterrupt:
                interrupted = True
                while len(self.collected) < len(self.dispatched):
                    self._collect(progress)
        return self._result(time.perf_counter() - start, interrupted)

    def _plan(self, n_steps: int) -> list[tuple[int, Record]]:
        """Lengths and records of the chunks.

        Up to the first sample, chunks of equal length, what is left of them, and a rest
        without a sample: samples fall on multiples of `every` since the network's start.
        """
        record, bare = self.record, self.record.without_samples()
        every = record.every if record.samples else 1
        head = -self.first % every
        if head > n_steps:
            return [(n_steps, bare)]
        sampled, rest = (n_steps - head) // every * every, (n_steps - head) % every
        size = 1
        if sampled:
            sample_bytes = record.sample_bytes(self.net, self.start_state)
            size = chunk_steps(sampled, self.net.n_neurons, every, sample_bytes)
        plan = [(head, dataclasses.replace(record, every=max(head, 1)))]
        plan += [(size, record)] * (sampled // size)
        plan += [(sampled % size, record), (rest, bare)]
        return [part for part in plan if part[0]] or [(0, bare)]

    def _compile(self, plan: list[tuple[int, Record]]) -> dict[tuple[int, Record], Any]:
        programs, offset = {}, 0
        for length, record in plan:
            if (length, record) not in programs:
                inputs = self._inputs(offset, length)
                programs[length, record], seconds = program(
                    self.net, self.start_state, inputs, length, record
                )
                self.compile_s += seconds
            offset += length
        if not any(record.samples for _, record in plan):  # else `scan` has checked it
            self.record.check(self.net, self.start_state)
        return programs

    def _inputs(self, offset: int, length: int) -> dict[str, Any]:
        cut = {k: np.asarray(x)[offset : offset + length] for k, x in self.inputs.items()}
        return {k: as_array(x, self.net.dtype) for k, x in cut.items()}

    def _collect(self, progress: Progress) -> None:
        """Waits for the next dispatched chunk and copies what it recorded to the host."""
        (state, recording, bad), length, samples = self.dispatched[len(self.collected)]
        bad = int(bad)  # waits
        store = self.store if samples else None
        chunk = collect(self.net, state, recording, self.collected, length, store)
        self.collected.append(chunk)
        if len(self.collected) > 1:  # only the last state is asked for: each holds a ring
            self.collected[-2] = self.collected[-2]._replace(state=None)
        self.dispatched[len(self.collected) - 1] = None
        progress.advance(length * self.net.dt)
        if bad:
            self._report_non_finite(state, length)

    def _report_non_finite(self, state: NetworkState, length: int) -> None:
        last = self.first + self.done
        start, stop = ((last - x) * self.net.dt for x in (length, 0))
        cause = describe_bad_rate(self.net, range(last - length, last))
        advice = "Lower dt or the weights, or check the inputs" if cause is None else cause
        raise NonFiniteError(
            f"{describe_non_finite(self.net, state)}: it turned so between {start:g} and "
            f"{stop:g} ms. {advice}; .result of this error holds what was recorded until then",
            self._result(float("nan"), False),
        )

    def _result(self, run_s: float, interrupted: bool) -> Result:
        run = joined(self.net, self.start_state, self.record, self.collected, self.store)
        return Result(**run, compile_s=self.compile_s, run_s=run_s, interrupted=interrupted)
