"""Currents into neurons: given ones and noise."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .._fields import Parameter, param
from .._model import Drive, Stimulus
from .._numerics.draws import standard_normal
from .._numerics.grid import steps_on_grid
from .._numerics.streams import Stream
from ._signal_field import prepare_signals, signal, value_at
from ._time_grid import all_known, check_shapes

_START = 99  # purpose of the bits that draw the start of a process


class CurrentState(NamedTuple):
    """Empty: a current that is given beforehand has no state."""


class Current(Stimulus):
    """Current: `current = amplitude(t)`, held over each time step.

    A function of time gets t as float32: from step 2^23 on, neighbouring steps get the same time.
    For longer runs use a signal, which is exact at any step.
    """

    amplitude: Any = signal(unit="pA", doc="a number, a function of t [ms], or a signal")

    def init(self, n: int, stream: Any) -> CurrentState:
        return CurrentState()

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Stimulus:
        return prepare_signals(label, self, n, dt, key)

    def step(self, state: CurrentState, step: jax.Array, dt: float) -> tuple[CurrentState, Drive]:
        return state, Drive(current=value_at(self.amplitude, step, dt))


class WhiteNoiseState(NamedTuple):
    """State of the noise of n neurons.

    Attributes:
        stream: stream of the random bits of n neurons.
        noise: current number (n,), of mean 0 and standard deviation 1.
    """

    stream: Stream
    noise: jax.Array


class WhiteNoise(Stimulus):
    """Noise current: `mean + sd N` with a new standard normal N every `interval`.

    Its effect on a membrane depends on the interval: the spectrum is that of white noise of
    intensity `sd^2 interval` up to frequencies of about `1 / interval`.

    The current is independent between neurons.

    Reference:
        As noise_generator of Gewaltig and Diesmann (2007), NEST, doi:10.4249/scholarpedia.1430.
    """

    mean: Parameter = param(unit="pA", doc="mean current")
    sd: Parameter = param(unit="pA", at_least=0.0, doc="standard deviation of the current")
    interval: Parameter = param(
        1.0,
        unit="ms",
        above=0.0,
        on_grid=True,
        least=0.0,
        doc="time after which there is a new number",
    )

    def init(self, n: int, stream: Stream) -> WhiteNoiseState:
        noise = standard_normal(stream.bits(0), self.mean.dtype)
        return WhiteNoiseState(stream, jnp.broadcast_to(noise, (n,)))

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Stimulus:
        check_shapes(label, self, n)
        if all_known(self.interval):
            steps_on_grid(f"{label}: interval", self.interval, dt, at_least=1)
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


class OrnsteinUhlenbeckState(NamedTuple):
    """State of n processes.

    Attributes:
        stream: stream of the random bits of n neurons.
        noise: process (n,) with mean 0 and standard deviation 1.
    """

    stream: Stream
    noise: jax.Array


class OrnsteinUhlenbeck(Stimulus):
    """Ornstein-Uhlenbeck current: Gaussian, with an exponential autocorrelation.

    Equations: `dx = -x / tau dt + sqrt(2 / tau) dW`, current `mean + sd x`. Update: exact,
    `x(t+dt) = x(t) exp(-dt/tau) + sqrt(1 - exp(-2 dt/tau)) N`. x starts stationary.

    The current of a step is the value at its start, held over it; independent between neurons.

    Reference:
        Uhlenbeck and Ornstein (1930), On the theory of the Brownian motion,
        doi:10.1103/PhysRev.36.823; Gillespie (1996), Exact numerical simulation of the
        Ornstein-Uhlenbeck process and its integral, doi:10.1103/PhysRevE.54.2084.
    """

    mean: Parameter = param(unit="pA", doc="mean current")
    sd: Parameter = param(
        unit="pA", at_least=0.0, doc="standard deviation of the stationary process"
    )
    tau: Parameter = param(unit="ms", above=0.0, doc="correlation time")

    def init(self, n: int, stream: Stream) -> OrnsteinUhlenbeckState:
        noise = standard_normal(stream.bits(0, purpose=_START), self.mean.dtype)
        return OrnsteinUhlenbeckState(stream, jnp.broadcast_to(noise, (n,)))

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Stimulus:
        check_shapes(label, self, n)
        return self

    def step(
        self, state: OrnsteinUhlenbeckState, step: jax.Array, dt: float
    ) -> tuple[OrnsteinUhlenbeckState, Drive]:
        fresh = standard_normal(state.stream.bits(step), self.mean.dtype)
        kick = jnp.sqrt(-jnp.expm1(-2 * dt / self.tau))
        noise = state.noise * jnp.exp(-dt / self.tau) + kick * fresh
        new = OrnsteinUhlenbeckState(state.stream, noise)
        return new, Drive(current=self.mean + self.sd * state.noise)
