"""Coloured noise current: an Ornstein-Uhlenbeck process."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Stream, standard_normal
from .._types import Drive, Stimulus
from ._signal import check_shapes

_START = 99  # purpose of the bits that draw the start


class OrnsteinUhlenbeckState(NamedTuple):
    """State of n processes.

    **Fields** `stream` of their random bits; `noise` (n,): the process with mean 0 and standard
    deviation 1.
    """

    stream: Stream
    noise: jax.Array


class OrnsteinUhlenbeck(Stimulus):
    """Ornstein-Uhlenbeck current: Gaussian, with an exponential autocorrelation.

    Equations: `dx = -x / tau dt + sqrt(2 / tau) dW`, current `mean + sd x`. Update: exact,
    `x(t+dt) = x(t) exp(-dt/tau) + sqrt(1 - exp(-2 dt/tau)) N`. x starts stationary.

    **Fields** each () or (n,): `mean` [pA]; `sd` [pA] of the stationary process; `tau` [ms]
    correlation time.

    **Step** returns `drive.current` (n,): the value at the start of the step, held over it;
    independent between neurons.

    **Raises** `ValueError` for a value that is not finite, a negative sd, or a tau that is not
    above 0; from `prepare` for a wrong shape.

    **Source** Uhlenbeck and Ornstein (1930), doi:10.1103/PhysRev.36.823; Gillespie (1996),
    doi:10.1103/PhysRevE.54.2084.
    """

    mean: Parameter = param(unit="pA")
    sd: Parameter = param(unit="pA", at_least=0.0)
    tau: Parameter = param(unit="ms", above=0.0)

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
