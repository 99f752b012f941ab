"""Spikes at given times."""

from typing import Any

import jax
import numpy as np

from .._checks import check_bounds, concrete
from .._fields import table
from .._types import SpikeStimulus
from ._scheduled_spikes import schedule
from ._signal import as_times, refuse_events, whole_steps


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


def unprepared(model: SpikeStimulus) -> ValueError:
    """The error for spike times that are still in ms."""
    return ValueError(
        f"{type(model).__name__} must be on the time grid before it runs; call "
        "prepare(label, n, dt, key) first, as build does"
    )
