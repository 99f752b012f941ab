"""Linear rate unit.

Dayan and Abbott (2001), Theoretical Neuroscience, sec. 7.2.
"""

from typing import ClassVar

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Neuron
from ._rate import RateState, followed


class LinearRate(Neuron):
    """Linear rate unit.

    Equations: `tau dr/dt = -r + g input`, `input = current +` what arrives at the port "input".

    Update: exact for an input that is constant over the step,
    `r(t+dt) = g input + (r(t) - g input) exp(-dt/tau)`. What arrives at the end of a step acts
    over this step, so that a network with delays of one step is, to first order in dt, that of
    the equations without delays.

    It never spikes: connect units with `synapse=Direct("input")` and `release=Graded()`, which
    delivers r in every step. `Current` stimuli give a background input.

    **Fields** each () or (n,): `tau` [ms] time constant; `g` gain.

    **Step** `init(n)` starts at 0. `step(state, drive, dt)` returns `(state, spikes)`, no spikes.

    **Raises** `ValueError` for a value that is not finite, or `tau <= 0`.

    **Source** Dayan and Abbott (2001), secs. 7.2 and 7.4, ISBN 9780262041997; as
    lin_rate_ipn of Hahne et al. (2017), doi:10.3389/fninf.2017.00034.

    **Differs** there is no noise and no rectification.
    """

    ports: ClassVar[tuple[str, ...]] = ("input",)
    rate_sign: ClassVar[int | None] = 0

    tau: Parameter = param(10.0, unit="ms", above=0.0)
    g: Parameter = param(1.0)

    def init(self, n: int) -> RateState:
        return RateState(jnp.zeros(n, self.tau.dtype))

    def voltage(self, state: RateState) -> jax.Array:
        return state.r

    def step(self, state: RateState, drive: Drive, dt: float) -> tuple[RateState, jax.Array]:
        return followed(state, drive, self.tau, lambda x: self.g * x, dt)
