"""Spikes at given times: lists of them, pulse packets, and the schedule that both become."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._arrays import as_array, is_traced
from .._fields import Parameter, param, static, table
from .._model import SpikeStimulus
from .._numerics.distributions import Normal, unit_interval
from .._numerics.streams import bits
from ..spec import Converted, InvalidValueError, Maybe, Rule, Unfit, Whole, field
from ._time_grid import LAST_STEP, Times, as_times, check_shapes, whole_steps

_NEVER = 2**31 - 1  # the step of entries that are never reached
_MOST_SPIKES = 2**27
_BYTES = 64  # per spike while spikes are sorted
_CHUNK = 2**20  # spikes drawn at a time, to limit the memory of drawing
_NONE = np.zeros(0, np.int32), np.zeros(0, np.int32)


@dataclasses.dataclass(frozen=True)
class SpikeTimesKind(Times):
    """Times (m,), or a list for each neuron: (n, longest), with nan after the end of a list."""

    above: float | None = 0.0

    def convert(self, value: Any) -> Any:
        if isinstance(value, tuple) and len(value) == 2 and _is_events(*value):
            hint = ": unpack it, SpikeTimes(*result.events(name))"
            raise Unfit("a list of times, or one for each neuron", "times and neurons", hint)
        lists = list(value) if isinstance(value, list | tuple) else []
        if lists and all(isinstance(t, list | tuple) or np.ndim(t) == 1 for t in lists):
            return self._table(lists)
        x = as_times(value)
        if is_traced(x) or x.ndim != 2:
            return super().convert(x)
        self.check_range(np.where(np.isnan(x), 1.0, x))
        return x

    def _table(self, lists: list) -> np.ndarray:
        rows = [np.asarray(as_times(row)) for row in lists]
        for neuron, row in enumerate(rows):
            rows[neuron] = row[: np.flatnonzero(~np.isnan(row)).max(initial=-1) + 1]
            try:
                super().convert(rows[neuron])
            except Unfit as error:
                raise Unfit(error.must, f"{error.got} for neuron {neuron}") from None
        longest = max(row.size for row in rows)
        table = np.full((len(rows), longest), np.nan, np.concatenate(rows).dtype)
        for row, given in zip(table, rows):
            row[: given.size] = given
        return table


def _is_events(times: Any, neurons: Any) -> bool:
    """Whether this is what `Result.events` returns: an array of times, and one of neurons."""
    if not isinstance(times, np.ndarray) or not isinstance(neurons, np.ndarray):
        return False
    return times.shape == neurons.shape and neurons.dtype.kind in "iu"


def _as_neurons(neurons: Any) -> Any:
    x = np.asarray(neurons)
    if x.size and not np.issubdtype(x.dtype, np.integer):
        raise Unfit("whole numbers")
    return x.astype(np.int64)


class SpikeTimes(SpikeStimulus):
    """Spikes at given times, the same for all neurons or different for each.

    A spike at t belongs to the step that ends at t, as the spikes of neurons do. Several spikes
    of one neuron at one time are counted separately.

    `prepare` makes them a `ScheduledSpikes`, which runs.

    Reference:
        As spike_generator of Gewaltig and Diesmann (2007), NEST, doi:10.4249/scholarpedia.1430.
    """

    times: Any = table(
        converter=SpikeTimesKind(), doc="times, whole time steps: (m,), or a list for each neuron"
    )
    neurons: Any = table(
        None,
        converter=Maybe(Converted(_as_neurons)),
        doc="the target (m,) of each time; None: all get every spike",
    )
    rules = (
        Rule(
            "neurons",
            "one for each time, and None for a list of times per neuron",
            lambda neurons, times: neurons is None or neurons.shape == times.shape == (times.size,),
        ),
    )

    def init(self, n: int, stream: Any) -> Any:
        raise unprepared(self)

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        times, neurons = np.asarray(self.times), self.neurons
        if times.ndim == 2:
            if len(times) != n:
                must = f"one list for each of {n} neurons"
                raise InvalidValueError(label, "times", must, f"{len(times)} lists")
            neurons, place = np.nonzero(~np.isnan(times))
            times = times[neurons, place]
        steps = np.asarray(whole_steps(label, "times", times, dt, at_least=1)) - 1
        if neurons is not None:
            outside = (neurons < 0) | (neurons >= n)
            if outside.any():
                got = f"{neurons[outside][0]} at index {int(np.argmax(outside))}"
                raise InvalidValueError(label, "neurons", f"numbers from 0 to {n - 1}", got)
        return schedule(steps.astype(np.int64), neurons, n)

    def step(self, state: Any, step: jax.Array, dt: float) -> Any:
        raise unprepared(self)


class PulsePackets(SpikeStimulus):
    """Pulse packets: `activity` spikes for each neuron around each time, Gaussian in time.

    `build` draws the spikes, independently for each neuron, and rounds them to the time grid.
    Spikes at t <= 0, or later than the last step that can be counted, are dropped.

    `prepare` makes them a `ScheduledSpikes`, which runs. There may be at most 2^27 spikes together.

    Reference:
        Diesmann, Gewaltig, Aertsen (1999), Stable propagation of synchronous spiking in cortical
        neural networks, doi:10.1038/990101.
    """

    times: Any = table(converter=Times(at_least=0.0), doc="centres (packets,)")
    activity: int = field(Whole(1), static=True, doc="spikes per packet and neuron")
    sd: Parameter = param(unit="ms", at_least=0.0, doc="standard deviation in time")

    def init(self, n: int, stream: Any) -> Any:
        raise unprepared(self)

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        check_shapes(label, self, n)
        total = n * np.size(self.times) * self.activity
        if total > _MOST_SPIKES:
            must = f"at most {_MOST_SPIKES} spikes together, which are kept in memory"
            got = (
                f"{total} of {n} neurons, {np.size(self.times)} packets and activity "
                f"{self.activity}, about {total * _BYTES / 2**30:.3g} GiB"
            )
            raise InvalidValueError(label, "pulse packets", must, got)
        firsts = range(0, total, _CHUNK)
        drawn = [self._draw(n, dt, key, k, min(k + _CHUNK, total)) for k in firsts]
        steps, neurons = (np.concatenate(x) for x in zip(*drawn)) if drawn else _NONE
        return schedule(steps.astype(np.int64), neurons, n)

    def _draw(self, n: int, dt: float, key: Any, first: int, stop: int) -> tuple[Any, Any]:
        """Steps and neurons of some spikes, those of neuron 0 first, without dropped ones."""
        times = np.asarray(self.times, np.float64)
        neurons, number = np.divmod(np.arange(first, stop), times.size * self.activity)
        word = bits(key, neurons, number)[0]
        jitter = Normal(0.0, 1.0).quantile(unit_interval(np.asarray(word)))
        sd = np.broadcast_to(np.asarray(self.sd, np.float64), (n,))
        steps = np.rint((times[number // self.activity] + sd[neurons] * jitter) / dt)
        kept = (steps > 0) & (steps <= LAST_STEP)
        return (steps[kept] - 1).astype(np.int32), neurons[kept].astype(np.int32)

    def step(self, state: Any, step: jax.Array, dt: float) -> Any:
        raise unprepared(self)


class ScheduledSpikesState(NamedTuple):
    """Position of the run in the list of spikes.

    Attributes:
        next: first entry that is not over, int32 ().
    """

    next: jax.Array


class ScheduledSpikes(SpikeStimulus):
    """Spikes at given time steps: what `prepare` makes of `SpikeTimes` and `PulsePackets`.

    A step reads `most` entries, however long the list is; the last `most` entries are padding and
    are never reached. The steps of a run must be consecutive.
    """

    on_grid: ClassVar[bool] = True
    steps: Any = table(doc="step (m,) at whose end each spike arrives, ascending")
    neurons: Any = table(
        converter=lambda x: x, doc="target (m,) of each spike, or None for all neurons"
    )
    counts: Any = table(doc="number of spikes (m,) of an entry")
    n: int = static(doc="number of neurons")
    most: int = static(doc="largest number of entries of one step")

    def init(self, n: int, stream: Any) -> ScheduledSpikesState:
        return ScheduledSpikesState(jnp.zeros((), jnp.int32))

    def step(
        self, state: ScheduledSpikesState, step: jax.Array, dt: float
    ) -> tuple[ScheduledSpikesState, jax.Array]:
        def window(x: Any) -> jax.Array:
            return lax.dynamic_slice(jnp.asarray(x), (state.next,), (self.most,))

        step = jnp.asarray(step).astype(jnp.int32)
        steps, entries = window(self.steps), window(self.counts)
        entries = jnp.where(steps == step, entries, jnp.zeros_like(entries))
        after = state.next + (steps <= step).sum(dtype=jnp.int32)
        if self.neurons is None:
            return ScheduledSpikesState(after), jnp.broadcast_to(entries.sum(), (self.n,))
        counts = jnp.zeros(self.n, entries.dtype).at[window(self.neurons)].add(entries)
        return ScheduledSpikesState(after), counts


def schedule(steps: np.ndarray, neurons: np.ndarray | None, n: int) -> ScheduledSpikes:
    """The stimulus for spikes in any order; spikes of one step and neuron become one entry."""
    keys = steps if neurons is None else steps * n + neurons
    keys, counts = np.unique(keys.astype(np.int64), return_counts=True)
    size = 1 if neurons is None else max(n, 1)
    steps = keys // size
    most = max(int(np.unique(steps, return_counts=True)[1].max(initial=1)), 1)
    counts = np.append(counts, np.zeros(most)).astype(jnp.result_type(float))
    targets = None
    if neurons is not None:
        targets = as_array(np.append(keys % size, np.zeros(most)).astype(np.int32))
    steps = np.append(steps, np.full(most, _NEVER)).astype(np.int32)
    return ScheduledSpikes(as_array(steps), targets, as_array(counts), n, most)


def unprepared(stimulus: SpikeStimulus) -> InvalidValueError:
    """The error for spike times that are still in ms."""
    must = "whole time steps before it runs: call prepare(label, n, dt, key), as build does"
    return InvalidValueError(type(stimulus).__name__, "its times", must, "times in ms")
