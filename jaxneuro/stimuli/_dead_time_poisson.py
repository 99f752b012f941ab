"""Poisson processes with a dead time."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import concrete
from .._fields import Parameter, param
from .._numerics import Stream, chance, per_step, steps_on_grid
from .._types import SpikeStimulus
from ._signal import check_shapes

_SLACK = 1e-6  # allows for rounding in rate dt


class DeadTimePoissonState(NamedTuple):
    """State of n processes.

    **Fields** `stream` of their random bits; `left` int32 (n,): steps of dead time left, -1 before
    the first step.
    """

    stream: Stream
    left: jax.Array


class DeadTimePoisson(SpikeStimulus):
    """Poisson process with dead time: no spike for `dead_time` after a spike.

    Update: a spike is followed by D = dead_time / dt steps without a spike. After these, each step
    has a spike with probability `p = 1 / (1 / (rate dt) - D)`, so that the mean rate is `rate`.
    There is at most one spike per step. The processes start in equilibrium.

    **Fields** `rate` [Hz] () or (n,), the mean rate; `dead_time` [ms] () or (n,), whole steps.

    **Step** returns the counts 0 or 1, (n,); NaN where the rate is negative or too high.

    **Raises** `ValueError` for a value that is negative or not finite; from `prepare` for a dead
    time off the grid, a wrong shape, or a rate too high for the dead time.

    **Source** Deger, Helias, Boucsein, Rotter (2012), doi:10.1007/s10827-011-0362-8.

    **Differs** the rate is constant; the process is exact in discrete time.
    """

    rate: Parameter = param(unit="Hz", at_least=0.0)
    dead_time: Parameter = param(unit="ms", at_least=0.0, on_grid=True)

    def init(self, n: int, stream: Stream) -> DeadTimePoissonState:
        return DeadTimePoissonState(stream, jnp.full(n, -1, jnp.int32))

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        check_shapes(label, self, n)
        rate, dead = concrete(self.rate), concrete(self.dead_time)
        if rate is None or dead is None:
            return self
        steps = steps_on_grid(f"{label}: dead_time", dead, dt)
        fastest = 1e3 / ((steps + 1) * dt)
        high = rate > fastest * (1 + _SLACK)
        if high.any():
            pairs = np.broadcast_arrays(rate, fastest)
            got, limit = (x[np.broadcast_to(high, x.shape)].flat[0] for x in pairs)
            raise ValueError(
                f"{label}: rate must be at most 1 / (dead_time + dt), {limit:g} Hz; got {got:g}. "
                "Lower the rate or the dead time"
            )
        return self

    def step(
        self, state: DeadTimePoissonState, step: jax.Array, dt: float
    ) -> tuple[DeadTimePoissonState, jax.Array]:
        dead = jnp.rint(self.dead_time / dt).astype(jnp.int32)
        mean, steps = per_step(self.rate, dt), dead.astype(self.rate.dtype)
        words = state.stream.bits(step)
        left = jnp.where(state.left < 0, _start(words[1], mean, dead), state.left)
        p = mean / jnp.maximum(1 - mean * steps, mean)
        spikes = (left == 0) & chance(words[0], p)
        left = jnp.where(spikes, dead, jnp.maximum(left - 1, 0))
        valid = (mean >= 0) & (mean * (steps + 1) <= 1 + _SLACK)
        return state._replace(left=left), jnp.where(valid, spikes.astype(mean.dtype), jnp.nan)


def _start(word: Any, mean: jax.Array, dead: jax.Array) -> jax.Array:
    """Steps of dead time left in equilibrium: each of 1 ... D with probability `rate dt`."""
    left = jnp.floor(word.astype(mean.dtype) * np.asarray(2.0**-32, mean.dtype) / mean)
    return jnp.where(left < dead.astype(mean.dtype), left.astype(jnp.int32) + 1, 0)
