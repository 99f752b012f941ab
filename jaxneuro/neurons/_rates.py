"""Rate units: a rate that follows a linear, rectified or saturating function of its input.

Dayan and Abbott (2001), Theoretical Neuroscience, ch. 7.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Neuron


class RateState(NamedTuple):
    """State of n rate units.

    Attributes:
        r: the rate, in the unit that follows from the weights.

    Reference:
        Dayan and Abbott (2001), Theoretical Neuroscience, ch. 7, ISBN 9780262041997.
    """

    r: jax.Array


def _followed(
    state: RateState, drive: Drive, tau: jax.Array, response: Callable, dt: float
) -> tuple[RateState, jax.Array]:
    """The step of `tau dr/dt = -r + response(input)`, exact for an input constant over it."""
    current: Any = 0.0 if drive.current is None else drive.current
    target = response(current + drive.arriving("input"))
    r = target + (state.r - target) * jnp.exp(-dt / tau)
    return RateState(r), jnp.zeros(r.shape, bool)


class LinearRate(Neuron):
    """Linear rate unit.

    Equations: `tau dr/dt = -r + g input`, `input = current +` what arrives at the port "input".

    Update: exact for an input that is constant over the step,
    `r(t+dt) = g input + (r(t) - g input) exp(-dt/tau)`. What arrives at the end of a step acts
    over this step, so that a network with delays of one step is, to first order in dt, that of
    the equations without delays.

    It never spikes: connect units with `synapse=Direct("input")` and `release=Graded()`, which
    delivers r in every step. `Current` stimuli give a background input.

    Start: at 0.

    Reference:
        Dayan and Abbott (2001), Theoretical Neuroscience, secs. 7.2 and 7.4, ISBN 9780262041997; as
        lin_rate_ipn of Hahne et al. (2017), Integration of continuous-time dynamics in a spiking
        neural network simulator, doi:10.3389/fninf.2017.00034.

    Note:
        There is no noise and no rectification.
    """

    ports: ClassVar[tuple[str, ...]] = ("input",)
    rate_sign: ClassVar[int | None] = 0

    tau: Parameter = param(10.0, unit="ms", above=0.0, doc="time constant")
    g: Parameter = param(1.0, doc="gain")

    def time_constants(self) -> dict[str, Any]:
        return {"r": self.tau}

    def init(self, n: int) -> RateState:
        return RateState(jnp.zeros(n, self.tau.dtype))

    def voltage(self, state: RateState) -> jax.Array:
        return state.r

    def step(self, state: RateState, drive: Drive, dt: float) -> tuple[RateState, jax.Array]:
        return _followed(state, drive, self.tau, lambda x: self.g * x, dt)


class ThresholdLinearRate(Neuron):
    """Threshold-linear rate unit: a rate that is never negative.

    Equations: `tau dr/dt = -r + max(g (input - theta), 0)`, `input = current +` what arrives at
    the port "input".

    Update: exact for an input that is constant over the step. What arrives at the end of a step
    acts over this step, as in `LinearRate`, and units are connected in the same way: with
    `synapse=Direct("input")` and `release=Graded()`. It never spikes.

    Start: at 0.

    Reference:
        Dayan and Abbott (2001), Theoretical Neuroscience, sec. 7.2, ISBN 9780262041997; as
        threshold_lin_rate_ipn of Hahne et al. (2017), Integration of continuous-time dynamics in a
        spiking neural network simulator, doi:10.3389/fninf.2017.00034.

    Note:
        There is no noise.
    """

    ports: ClassVar[tuple[str, ...]] = ("input",)
    rate_sign: ClassVar[int | None] = 1

    tau: Parameter = param(10.0, unit="ms", above=0.0, doc="time constant")
    g: Parameter = param(1.0, doc="gain")
    theta: Parameter = param(0.0, doc="input at which the rate begins")

    def time_constants(self) -> dict[str, Any]:
        return {"r": self.tau}

    def init(self, n: int) -> RateState:
        return RateState(jnp.zeros(n, self.tau.dtype))

    def voltage(self, state: RateState) -> jax.Array:
        return state.r

    def step(self, state: RateState, drive: Drive, dt: float) -> tuple[RateState, jax.Array]:
        def response(x: jax.Array) -> jax.Array:
            return jax.nn.relu(self.g * (x - self.theta))

        return _followed(state, drive, self.tau, response, dt)


class TanhRate(Neuron):
    """Rate unit that saturates: a hyperbolic tangent of its input.

    Equations: `tau dr/dt = -r + tanh(g (input - theta))`, `input = current +` what arrives at
    the port "input".

    Update: exact for an input that is constant over the step. What arrives at the end of a step
    acts over this step, as in `LinearRate`, and units are connected in the same way: with
    `synapse=Direct("input")` and `release=Graded()`. It never spikes.

    Start: at 0.

    Reference:
        Dayan and Abbott (2001), Theoretical Neuroscience, sec. 7.2, ISBN 9780262041997; as
        tanh_rate_ipn of Hahne et al. (2017), Integration of continuous-time dynamics in a spiking
        neural network simulator, doi:10.3389/fninf.2017.00034.

    Note:
        There is no noise.
    """

    ports: ClassVar[tuple[str, ...]] = ("input",)
    rate_sign: ClassVar[int | None] = 0

    tau: Parameter = param(10.0, unit="ms", above=0.0, doc="time constant")
    g: Parameter = param(1.0, doc="gain")
    theta: Parameter = param(0.0, doc="input at which the rate changes sign")

    def time_constants(self) -> dict[str, Any]:
        return {"r": self.tau}

    def init(self, n: int) -> RateState:
        return RateState(jnp.zeros(n, self.tau.dtype))

    def voltage(self, state: RateState) -> jax.Array:
        return state.r

    def step(self, state: RateState, drive: Drive, dt: float) -> tuple[RateState, jax.Array]:
        def response(x: jax.Array) -> jax.Array:
            return jnp.tanh(self.g * (x - self.theta))

        return _followed(state, drive, self.tau, response, dt)
