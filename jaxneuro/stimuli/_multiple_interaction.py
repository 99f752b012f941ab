"""The multiple interaction process: spike trains with correlations of all orders."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .._fields import Parameter, param
from .._kernels import poisson
from .._numerics import Stream, chance, per_step
from .._types import SpikeStimulus
from ._signal_field import check_rate, check_signals, prepare_signals, signal, value_at


class MultipleInteractionState(NamedTuple):
    """State of the process.

    **Fields** `stream` of the random bits of the n neurons.
    """

    stream: Stream


class MultipleInteraction(SpikeStimulus):
    """Multiple interaction process: each neuron gets a random subset of common spikes.

    The neurons share a mother process of the rate `rate / correlation`. Each neuron gets each of
    its spikes with the probability `correlation`. Every spike train is a Poisson process of the
    rate `rate`; the counts of two neurons have the correlation coefficient `correlation`.

    **Fields** `rate` [Hz] () or (n,), a function of t [ms], or a signal; at least 0;
    `correlation` () or (n,), above 0, at most 1. Both should be the same for all neurons: if
    `rate / correlation` differs between neurons, so does the mother process.

    **Step** returns the counts, (n,); NaN where a function gives a rate below 0 or NaN. The time
    is proportional to the spikes of the mother process in the step.

    **Raises** `ValueError` for a rate that is negative or not finite, or another correlation
    (for 0 use `Poisson`); from `prepare` for a wrong shape, or a mother process of more than 16383
    spikes per time step.

    **Source** Kuhn, Aertsen, Rotter (2003), doi:10.1162/089976603321043702.
    """

    rate: Any = signal(unit="Hz", at_least=0.0)
    correlation: Parameter = param(above=0.0, at_most=1.0)

    def __check_init__(self) -> None:
        check_signals(self)

    def init(self, n: int, stream: Stream) -> MultipleInteractionState:
        return MultipleInteractionState(stream)

    def events_per_spike(self) -> Any:
        return 1 / self.correlation

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        check_rate(label, self.rate, dt, factor=self.events_per_spike())
        return prepare_signals(label, self, n, dt, key)

    def step(
        self, state: MultipleInteractionState, step: jax.Array, dt: float
    ) -> tuple[MultipleInteractionState, jax.Array]:
        mean = per_step(value_at(self.rate, step, dt), dt) / self.correlation
        spikes = poisson(state.stream.common(), step, mean)
        known = jnp.isfinite(spikes)
        copies = _copies(state.stream, step, jnp.where(known, spikes, 0), self.correlation)
        return state, jnp.where(known, copies, jnp.nan)


def _copies(stream: Stream, step: Any, spikes: jax.Array, p: jax.Array) -> jax.Array:
    """How many of the spikes each neuron gets, each with probability p; draws two at a time."""
    most = jnp.max(spikes, initial=0).astype(jnp.int32)

    def pair(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        k, count = carry
        for number, word in enumerate(stream.bits(step, purpose=k)):
            there = (k + number).astype(spikes.dtype) < spikes
            count = count + (there & chance(word, p)).astype(spikes.dtype)
        return k + 2, count

    return lax.while_loop(
        lambda carry: carry[0] < most, pair, (jnp.int32(0), jnp.zeros_like(spikes))
    )[1]
