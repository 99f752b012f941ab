"""Poisson source: neurons that spike at random and take no input."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, StochasticNeuron
from ..numerics import Stream, chance, per_step


class PoissonSourceState(NamedTuple):
    """State of n sources.

    **Fields** `spikes` bool (n,): which spiked in the last step; `stream` of their bits; `step`
    int32 (): steps done.
    """

    spikes: jax.Array
    stream: Stream
    step: jax.Array


class PoissonSource(StochasticNeuron):
    """Independent Poisson processes as a population.

    Update: a spike with probability `1 - exp(-rate dt)` in each step, that of at least one event
    of the process. At 1 kHz and a dt of 0.1 ms this is 5 percent less than the rate. For a rate
    that changes, or several spikes of a process in a step, drive a `Relay`. If nothing projects
    from the processes, the stimulus `Poisson` costs less.

    **Fields** `rate` [Hz] () or (n,).

    **Step** `step(state, drive, dt)` returns `(state, spikes)`; nothing can drive it.

    **Raises** `ValueError` for a rate that is negative or not finite; from `build` for a rate of
    more than one event per time step, and for anything that drives it.

    **Source** as poisson_generator of Gewaltig and Diesmann (2007), NEST,
    doi:10.4249/scholarpedia.1430.

    **Differs** from NEST: at most one spike per step, and the same spikes for all targets.
    """

    rate: Parameter = param(unit="Hz", at_least=0.0)

    def init(self, n: int, stream: Stream) -> PoissonSourceState:
        return PoissonSourceState(jnp.zeros(n, bool), stream, jnp.zeros((), jnp.int32))

    def step(
        self, state: PoissonSourceState, drive: Drive, dt: float
    ) -> tuple[PoissonSourceState, jax.Array]:
        p = -jnp.expm1(-per_step(self.rate, dt))
        spikes = chance(state.stream.word(state.step), p)
        return PoissonSourceState(spikes, state.stream, state.step + 1), spikes
