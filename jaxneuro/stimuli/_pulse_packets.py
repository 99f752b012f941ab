"""Pulse packets: volleys of spikes with a Gaussian spread in time."""

from typing import Any

import jax
import numpy as np

from .._checks import check_bounds, check_count
from .._fields import Parameter, param, static, table
from .._types import SpikeStimulus
from ..numerics import Normal, bits, unit_interval
from ._scheduled_spikes import schedule
from ._signal import as_times, check_shapes
from ._spike_times import unprepared


class PulsePackets(SpikeStimulus):
    """Pulse packets: `activity` spikes for each neuron around each time, Gaussian in time.

    The spikes are drawn when the network is built, independent between neurons, and put on the
    nearest point of the time grid. Those at t <= 0 are dropped.

    **Fields** `times` [ms] (packets,), at least 0: the centres; `activity` a whole number of at
    least 1: spikes per packet and neuron; `sd` [ms] () or (n,): standard deviation in time.

    **Step** returns the counts, (n,); runs as the `ScheduledSpikes` that `prepare` returns.

    **Raises** `ValueError` for times or an sd that are negative or not finite, or another
    activity; by `prepare` for an sd of a wrong shape.

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
        times = np.asarray(self.times, np.float64)
        number = np.arange(times.size * self.activity)
        word = bits(key, np.arange(n)[:, None], number[None, :])[0]
        jitter = Normal(0.0, 1.0).quantile(unit_interval(np.asarray(word)))
        sd = np.broadcast_to(np.asarray(self.sd, np.float64), (n,))
        t = np.repeat(times, self.activity)[None, :] + sd[:, None] * jitter
        steps = np.rint(t / dt).astype(np.int64)
        neurons, kept = np.nonzero(steps > 0)
        return schedule(steps[neurons, kept] - 1, neurons, n)

    def step(self, state: Any, step: jax.Array, dt: float) -> Any:
        raise unprepared(self)
