"""Gamma renewal processes: spike trains more regular than Poisson trains."""

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import check_count
from .._fields import static
from .._kernels import poisson
from .._numerics import Stream, per_step
from .._types import SpikeStimulus
from ._signal_field import check_rate, check_signals, prepare_signals, signal, value_at


class GammaState(NamedTuple):
    """State of n gamma processes.

    **Fields** `stream` of their random bits; `stage` int32 (n,): stages since the last spike.
    """

    stream: Stream
    stage: jax.Array


class Gamma(SpikeStimulus):
    """Gamma process of whole order: every `order`-th event of a Poisson process of `order rate`.

    At a constant rate the intervals have a gamma distribution with a coefficient of variation of
    `1 / sqrt(order)`. The process follows a rate that changes with time exactly. The processes
    start in equilibrium.

    **Fields** `rate` [Hz] () or (n,), a function of t [ms], or a signal; at least 0; `order` a
    whole number of at least 1.

    **Step** returns the counts, (n,); NaN where a function gives a rate below 0 or NaN.

    **Raises** `ValueError` for a rate that is negative or not finite, or another order; from
    `prepare` for a rate of a wrong shape, or of more than 16383 events per time step.

    **Source** Cox (1962), Renewal Theory, chapter 2; Kuffler, Fitzhugh, Barlow (1957), Journal of
    General Physiology 40, 683.
    """

    takes_runs: ClassVar[bool] = True

    rate: Any = signal(unit="Hz", at_least=0.0)
    order: int = static()

    def __check_init__(self) -> None:
        check_count("Gamma: order", self.order, at_least=1)
        check_signals(self)

    def init(self, n: int, stream: Stream) -> GammaState:
        word = jnp.broadcast_to(stream.bits(0, purpose=_START)[0], (n,))
        return GammaState(stream, (word % np.uint32(self.order)).astype(jnp.int32))

    def events_per_spike(self) -> int:
        return self.order

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        check_rate(label, self.rate, dt, factor=self.events_per_spike())
        return prepare_signals(label, self, n, dt, key)

    def step(self, state: GammaState, step: jax.Array, dt: float) -> tuple[Any, jax.Array]:
        mean = self.order * per_step(value_at(self.rate, step, dt), dt)
        events = poisson(state.stream, step, mean)
        known = jnp.isfinite(events)
        passed = state.stage + jnp.where(known, events, 0).astype(jnp.int32)
        spikes = passed // self.order
        counts = jnp.where(known, spikes.astype(events.dtype), jnp.nan)
        return GammaState(state.stream, passed - spikes * self.order), counts


_START = 99  # purpose of the bits that draw the start
