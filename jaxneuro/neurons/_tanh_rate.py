"""Rate unit that saturates: a hyperbolic tangent of its input.

Dayan and Abbott (2001), Theoretical Neuroscience, ch. 7.
"""

from typing import ClassVar

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Neuron
from ._rate import RateState, followed


class TanhRate(Neuron):
    """Rate unit that saturates: a hyperbolic tangent of its input.

    Equations: `tau dr/dt = -r + tanh(g (input - theta))`, `input = current +` what arrives at
    the port "input".

    Update: exact for an input that is constant over the step. What arrives at the end of a step
    acts over this step, as in `LinearRate`, and units are connected in the same way: with
    `synapse=Direct("input")` and `release=Graded()`. It never spikes.

    **Fields** each () or (n,): `tau` [ms] time constant; `g` gain; `theta` the input
    at which it changes sign.

    **Step** `init(n)` starts at 0. `step(state, drive, dt)` returns `(state, spikes)`, no spikes.

    **Raises** `ValueError` for a value that is not finite, or `tau <= 0`.

    **Source** Dayan and Abbott (2001), sec. 7.2, ISBN 9780262041997; as tanh_rate_ipn of
    Hahne et al. (2017), doi:10.3389/fninf.2017.00034.

    **Differs** there is no noise.
    """

    ports: ClassVar[tuple[str, ...]] = ("input",)
    rate_sign: ClassVar[int | None] = 0

    tau: Parameter = param(10.0, unit="ms", above=0.0)
    g: Parameter = param(1.0)
    theta: Parameter = param(0.0)

    def init(self, n: int) -> RateState:
        return RateState(jnp.zeros(n, self.tau.dtype))

    def voltage(self, state: RateState) -> jax.Array:
        return state.r

    def step(self, state: RateState, drive: Drive, dt: float) -> tuple[RateState, jax.Array]:
        def response(x: jax.Array) -> jax.Array:
            return jnp.tanh(self.g * (x - self.theta))

        return followed(state, drive, self.tau, response, dt)
