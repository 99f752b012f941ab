"""Spikes at given times."""

from typing import Any

import jax
import numpy as np

from .._checks import check_bounds
from .._fields import table
from .._types import SpikeStimulus
from ._scheduled_spikes import schedule
from ._signal import as_times, whole_steps


def _as_neurons(neurons: Any) -> Any:
    if neurons is None:
        return None
    x = np.asarray(neurons)
    if x.size and not np.issubdtype(x.dtype, np.integer):
        raise ValueError(f"SpikeTimes: neurons must be whole numbers; got {neurons!r}")
    return x.astype(np.int64)


class SpikeTimes(SpikeStimulus):
    """Spikes at given times, of all neurons or each of its own.

    A spike at t belongs to the step that ends at t, as the spikes of neurons do. Several spikes
    of one neuron at one time count as many.

    **Fields** `times` [ms] (m,), above 0, whole time steps, in any order; `neurons` (m,): the
    number of the target of each, or None: every neuron gets every spike.

    **Step** returns the counts, (n,); runs as the `ScheduledSpikes` that `prepare` returns.

    **Raises** `ValueError` for times that are not finite or not above 0, or other neurons than
    times; by `prepare` for a time off the grid or a neuron that the population does not have.

    **Source** as spike_generator of Gewaltig and Diesmann (2007), NEST,
    doi:10.4249/scholarpedia.1430.
    """

    times: Any = table(converter=as_times)
    neurons: Any = table(None, converter=_as_neurons)

    def __check_init__(self) -> None:
        shape = np.shape(self.times)
        if len(shape) != 1:
            raise ValueError(f"SpikeTimes: times must have shape (m,); got {shape}")
        if self.neurons is not None and np.shape(self.neurons) != shape:
            raise ValueError(
                "SpikeTimes: neurons must name one neuron per time; got "
                f"{np.size(self.neurons)} neurons for {shape[0]} times"
            )
        check_bounds("SpikeTimes: times", self.times, "ms", above=0.0)

    def init(self, n: int, stream: Any) -> Any:
        raise unprepared(self)

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        steps = np.asarray(whole_steps(f"{label}: times", self.times, dt, at_least=1)) - 1
        neurons = self.neurons
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
