"""Pulse packets: volleys of spikes with a Gaussian spread in time."""

from typing import Any

import jax
import numpy as np

from .._checks import check_bounds, check_count
from .._fields import Parameter, param, static, table
from .._numerics import Normal, bits, unit_interval
from .._types import SpikeStimulus
from ._scheduled_spikes import schedule
from ._signal import LAST_STEP, as_times, check_shapes
from ._spike_times import unprepared

_MOST_SPIKES = 2**27
_BYTES = 64  # per spike while spikes are sorted
_CHUNK = 2**20  # spikes drawn at a time, to limit the memory of drawing
_NONE = np.zeros(0, np.int32), np.zeros(0, np.int32)


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
