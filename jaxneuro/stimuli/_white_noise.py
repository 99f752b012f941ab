"""Gaussian white noise current."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .._checks import concrete
from .._fields import Parameter, param
from .._numerics import Stream, standard_normal, steps_on_grid
from .._types import Drive, Stimulus
from ._signal import check_shapes


class WhiteNoiseState(NamedTuple):
    """State of the noise of n neurons.

    **Fields** `stream` of their random bits; `noise` (n,): the current number, of mean 0 and
    standard deviation 1.
    """

    stream: Stream
    noise: jax.Array


class WhiteNoise(Stimulus):
    """Noise current: `mean + sd N` with a new standard normal N every `interval`.

    Its effect on a membrane depends on the interval: the spectrum is that of white noise of
    intensity `sd^2 interval` up to frequencies of about `1 / interval`.

    **Fields** each () or (n,): `mean` [pA]; `sd` [pA]; `interval` [ms], whole time steps.

    **Step** returns `drive.current` (n,), independent between neurons.

    **Raises** `ValueError` for a value that is not finite, a negative sd, or an interval that is
    not above 0; from `prepare` for an interval off the grid or a wrong shape.

    **Source** as noise_generator of Gewaltig and Diesmann (2007), NEST,
    doi:10.4249/scholarpedia.1430.
    """

    mean: Parameter = param(unit="pA")
    sd: Parameter = param(unit="pA", at_least=0.0)
    interval: Parameter = param(1.0, unit="ms", above=0.0, on_grid=True, least=0.0)

    def init(self, n: int, stream: Stream) -> WhiteNoiseState:
        noise = standard_normal(stream.bits(0), self.mean.dtype)
        return WhiteNoiseState(stream, jnp.broadcast_to(noise, (n,)))

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Stimulus:
        check_shapes(label, self, n)
        interval = concrete(self.interval)
        if interval is not None:
            steps_on_grid(f"{label}: interval", interval, dt, at_least=1)
        return self

    def step(
        self, state: WhiteNoiseState, step: jax.Array, dt: float
    ) -> tuple[WhiteNoiseState, Drive]:
        every = jnp.rint(self.interval / dt).astype(jnp.int32)
        step = jnp.asarray(step).astype(jnp.int32)
        new = step % every == 0

        def draw(state: WhiteNoiseState) -> jax.Array:
            noise = standard_normal(state.stream.bits(step // every), state.noise.dtype)
            return jnp.where(new, noise, state.noise)

        noise = lax.cond(jnp.any(new), draw, lambda state: state.noise, state)
        return WhiteNoiseState(state.stream, noise), Drive(current=self.mean + self.sd * noise)
