"""Spikes at given times: lists of them, pulse packets, and the schedule that both become."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._arrays import as_array
from .._checks import check_bounds, check_count, concrete
from .._fields import Parameter, param, static, table
from .._numerics import Normal, bits, unit_interval
from .._types import SpikeStimulus
from ._time_grid import LAST_STEP, as_times, check_shapes, whole_steps

_NEVER = 2**31 - 1  # the step of entries that are never reached
_MOST_SPIKES = 2**27
_BYTES = 64  # per spike while spikes are sorted
_CHUNK = 2**20  # spikes drawn at a time, to limit the memory of drawing
_NONE = np.zeros(0, np.int32), np.zeros(0, np.int32)


def _as_spike_times(times: Any) -> Any:
    """Times (m,), or (n, longest) for one list per neuron, with nan after the end of a list."""
    refuse_events(times)
    lists = list(times) if isinstance(times, list | tuple) else []
    if not lists or not all(isinstance(t, list | tuple) or np.ndim(t) == 1 for t in lists):
        return as_times(times)
    rows = [np.asarray(as_times(row)) for row in lists]
    for neuron, row in enumerate(rows):
        name = f"SpikeTimes: times of neuron {neuron}"
        if row.ndim != 1:
            raise ValueError(f"{name} must be a list of numbers; got {lists[neuron]!r}")
        rows[neuron] = row[: np.flatnonzero(~np.isnan(row)).max(initial=-1) + 1]
        check_bounds(name, rows[neuron], "ms", above=0.0)
    longest = max(row.size for row in rows)
    table = np.full((len(rows), longest), np.nan, np.concatenate(rows).dtype)
    for row, given in zip(table, rows):
        row[: given.size] = given
    return table


def refuse_events(times: Any) -> None:
    """Raises `ValueError` for what `Result.events` returns: an array of times, one of neurons."""
    pair = isinstance(times, tuple) and len(times) == 2
    if not pair or not all(isinstance(x, np.ndarray) for x in times):
        return
    if times[0].shape == times[1].shape and times[1].dtype.kind in "iu":
        raise ValueError(
            "SpikeTimes: got a pair of times and neurons; unpack what result.events(name) "
            "returns: SpikeTimes(*result.events(name))"
        )


def _as_neurons(neurons: Any) -> Any:
    if neurons is None:
        return None
    x = np.asarray(neurons)
    if x.size and not np.issubdtype(x.dtype, np.integer):
        raise ValueError(f"SpikeTimes: neurons must be whole numbers; got {neurons!r}")
    return x.astype(np.int64)


class SpikeTimes(SpikeStimulus):
    """Spikes at given times, the same for all neurons or different for each.

    A spike at t belongs to the step that ends at t, as the spikes of neurons do. Several spikes
    of one neuron at one time are counted separately.

    **Fields** `times` [ms], above 0, whole time steps, in any order: (m,), or a list of times for
    each neuron, kept as (n, longest) with nan after the end of a list; `neurons` (m,): the number
    of the target of each of m times, or None: every neuron gets every spike.

    **Step** is that of the `ScheduledSpikes` that `prepare` returns; it returns the counts, (n,).

    **Raises** `ValueError` for times that are not finite or not above 0, or `neurons` of another
    length than `times`; from `prepare` for a time off the grid, a neuron that the population does
    not have, or a number of lists that is not the number of neurons.

    **Source** as spike_generator of Gewaltig and Diesmann (2007), NEST,
    doi:10.4249/scholarpedia.1430.
    """

    times: Any = table(converter=_as_spike_times)
    neurons: Any = table(None, converter=_as_neurons)

    def __check_init__(self) -> None:
        shape = np.shape(self.times)
        if len(shape) not in (1, 2):
            raise ValueError(
                "SpikeTimes: times must have shape (m,), or be one list of times per neuron; got "
                f"shape {shape}"
            )
        if self.neurons is not None and np.shape(self.neurons) != shape:
            raise ValueError(
                "SpikeTimes: neurons must name one neuron per time, and be left out for one list "
                f"per neuron; got {np.size(self.neurons)} neurons for times of shape {shape}"
            )
        times = concrete(self.times)
        if times is not None:
            ended = np.isnan(times) & (times.ndim == 2)
            check_bounds("SpikeTimes: times", np.where(ended, 1.0, times), "ms", above=0.0)

    def init(self, n: int, stream: Any) -> Any:
        raise unprepared(self)

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        times, neurons = np.asarray(self.times), self.neurons
        if times.ndim == 2:
            if len(times) != n:
                raise ValueError(
                    f"{label}: times must be one list per neuron, {n}; got {len(times)} lists"
                )
            neurons, place = np.nonzero(~np.isnan(times))
            times = times[neurons, place]
        steps = np.asarray(whole_steps(f"{label}: times", times, dt, at_least=1)) - 1
        if neurons is not None:
            outside = (neurons < 0) | (neurons >= n)
            if outside.any():
                raise ValueError(
                    f"{label}: neurons must be numbers from 0 to {n - 1}; got "
                    f"{neurons[outside][0]} at index {int(np.argmax(outside))}"
                )
        return schedule(steps.astype(np.int64), neurons, n)

    def step(self, state: Any, step: jax.Array, dt: float) -> Any:
        raise unprepared(self)


class PulsePackets(SpikeStimulus):
    """Pulse packets: `activity` spikes for each neuron around each time, Gaussian in time.

    `build` draws the spikes, independently for each neuron, and rounds them to the time grid.
    Spikes at t <= 0, or later than the last step that can be counted, are dropped.

    **Fields** `times` [ms] (packets,), at least 0: the centres; `activity` a whole number of at
    least 1: spikes per packet and neuron; `sd` [ms] () or (n,): standard deviation in time.

    **Step** is that of the `ScheduledSpikes` that `prepare` returns; it returns the counts, (n,).

    **Raises** `ValueError` for times or an sd that are negative or not finite, or another
    activity; from `prepare` for an sd of a wrong shape, or more than 2^27 spikes together.

    **Source** Diesmann, Gewaltig, Aertsen (1999), doi:10.1038/990101.
    """

    times: Any = table(converter=as_times)
    activity: int = static()
    sd: Parameter = param(unit="ms", at_least=0.0)

    def __check_init__(self) -> None:
        if np.ndim(self.times) != 1:
            raise ValueError(
                f"PulsePackets: times must have shape (packets,); got {np.shape(self.times)}"
            )
        check_bounds("PulsePackets: times", self.times, "ms", at_least=0.0)
        check_count("PulsePackets: activity", self.activity, at_least=1)

    def init(self, n: int, stream: Any) -> Any:
        raise unprepared(self)

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        check_shapes(label, self, n)
        total = n * np.size(self.times) * self.activity
        if total > _MOST_SPIKES:
            raise ValueError(
                f"{label}: pulse packets must be at most {_MOST_SPIKES} spikes together, which are "
                f"kept in memory; got {total} of {n} neurons, {np.size(self.times)} packets and "
                f"activity {self.activity}, about {total * _BYTES / 2**30:.3g} GiB. Lower the "
                "activity, or give the packets to several stimulations"
            )
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

    **Fields** `next` int32 (): the first entry that is not over.
    """

    next: jax.Array


class ScheduledSpikes(SpikeStimulus):
    """Spikes at given time steps: what `prepare` makes of `SpikeTimes` and `PulsePackets`.

    A step reads `most` entries, however long the list is.

    **Fields** `steps` int32 (m,) ascending, the step at whose end each spike arrives; `neurons`
    int32 (m,), or None for all neurons; `counts` (m,): the number of spikes of an entry; `n`
    neurons; `most` the largest number of entries of one step. The last `most` entries are padding
    and are never reached.

    **Step** returns the counts, (n,). The steps of a run must be consecutive.
    """

    steps: Any = table()
    neurons: Any = table(converter=lambda x: x)
    counts: Any = table()
    n: int = static()
    most: int = static()

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


def unprepared(model: SpikeStimulus) -> ValueError:
    """The error for spike times that are still in ms."""
    return ValueError(
        f"{type(model).__name__} must be on the time grid before it runs; call "
        "prepare(label, n, dt, key) first, as build does"
    )
