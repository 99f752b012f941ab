"""Poisson source: neurons that spike at random and take no input."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Stream, chance, per_step
from .._types import Drive, StochasticNeuron
from .._units import largest

_MOST_PER_STEP = 1e3 * (1 + 1e-6)  # Hz times ms, with the rounding of float32


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

    Update: a spike with probability `rate dt` in each step, so that the mean rate is `rate`. A step
    holds one spike of a source at most: the count of a step has the variance
    `rate dt (1 - rate dt)`, that of a Poisson number is `rate dt`. For several spikes in a step, or
    a rate that changes, drive a `Relay` by the stimulus `Poisson`; if nothing projects from the
    processes, let `Poisson` drive the targets, which costs less. A traced rate of more than one
    spike per step gives one spike in every step.

    **Fields** `rate` [Hz] () or (n,).

    **Step** `step(state, drive, dt)` returns `(state, spikes)`; nothing can drive it.

    **Raises** `ValueError` for a rate that is negative or not finite; from `build` for a rate of
    more than one spike per time step, and for anything that drives it.

    **Source** as PoissonGroup of Brian 2: Stimberg, Brette, Goodman (2019),
    doi:10.7554/eLife.47314.

    **Differs** from poisson_generator of NEST: at most one spike per step, and the same spikes for
    all targets.
    """

    rate: Parameter = param(unit="Hz", at_least=0.0)

    def init(self, n: int, stream: Stream) -> PoissonSourceState:
        return PoissonSourceState(jnp.zeros(n, bool), stream, jnp.zeros((), jnp.int32))

    def step(
        self, state: PoissonSourceState, drive: Drive, dt: float
    ) -> tuple[PoissonSourceState, jax.Array]:
        spikes = chance(state.stream.word(state.step), per_step(self.rate, dt))
        return PoissonSourceState(spikes, state.stream, state.step + 1), spikes


def check_source_rate(label: str, model: Any, dt: float) -> None:
    """Raises `ValueError` for a `PoissonSource` of more than one spike per step, which is lost."""
    rate = largest(model.rate) if isinstance(model, PoissonSource) else None
    if rate is not None and rate * dt > _MOST_PER_STEP:
        raise ValueError(
            f"{label}: a PoissonSource has at most one spike per time step of {dt:g} ms: rate must "
            f"be at most {1e3 / dt:g} Hz; got {rate:g}. Make several sources of lower rates, take "
            "a smaller dt, or drive the targets by jn.stimuli.Poisson, which sends several spikes "
            "in a step"
        )
