"""Poisson spike trains, independent for every neuron."""

from typing import Any, ClassVar, NamedTuple

import jax

from .._kernels import poisson
from .._numerics import Stream, per_step
from .._types import SpikeStimulus
from ._signal_field import check_rate, check_signals, prepare_signals, signal, value_at


class PoissonState(NamedTuple):
    """State of Poisson trains.

    **Fields** `stream` of the random bits of the n neurons.
    """

    stream: Stream


class Poisson(SpikeStimulus):
    """Poisson spike trains: each neuron gets its own, with the rate `rate(t)`.

    Update: the counts of a time step are Poisson numbers of mean `rate dt`, drawn by inversion
    and exact to the digits of the dtype. The superposition of K trains is one train with K times
    the rate.

    The counts are drawn, so their gradient with respect to the rate is 0; the gradient with
    respect to the weight of the spikes is exact. A function of time gets t as float32: from step
    2^23 on, neighbouring steps get the same time. For longer runs use a signal, which is exact at
    any step.

    **Fields** `rate` [Hz] () or (n,), a function of t [ms], or a signal; at least 0.

    **Step** returns the counts, (n,); NaN where a function gives a rate below 0 or NaN.

    **Raises** `ValueError` for a rate that is negative or not finite; from `prepare` for a
    wrong shape, or more than 16383 spikes per time step.

    **Source** Amit and Brunel (1997), doi:10.1093/cercor/7.3.237.
    """

    takes_runs: ClassVar[bool] = True

    rate: Any = signal(unit="Hz", at_least=0.0)

    def __check_init__(self) -> None:
        check_signals(self)

    def init(self, n: int, stream: Stream) -> PoissonState:
        return PoissonState(stream)

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        check_rate(label, self.rate, dt)
        return prepare_signals(label, self, n, dt, key)

    def step(self, state: PoissonState, step: jax.Array, dt: float) -> tuple[Any, jax.Array]:
        mean = per_step(value_at(self.rate, step, dt), dt)
        return state, poisson(state.stream, step, mean)
