"""Forward Euler, exponential Euler, Heun and the classical Runge-Kutta method."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from .._kernels import materialize
from .._numerics import decay_mean
from ._integrator import Flow, Gate, Integrator, Linear, linear, slopes


def _moved(y: tuple, k: tuple, by: float) -> tuple:
    return tuple(x + by * slope for x, slope in zip(y, k))


class ForwardEuler(Integrator):
    """Forward Euler: `y + dt f(y)`, all variables from the same y; of first order.

    It uses the mean of the input over the step.

    **Source** Hairer, Norsett, Wanner (1993), sec. I.7, doi:10.1007/978-3-540-78862-1.
    """

    order: ClassVar[int] = 1
    reach: ClassVar[float | None] = 2.0

    def __call__(self, flow: Flow, y: tuple, dt: float) -> tuple:
        return _moved(y, slopes(flow, y, 0.5 * dt), dt)


class ExponentialEuler(Integrator):
    """Exponential Euler: exact in each variable if the others are constant; of first order.

    `y + (source - rate y) (1 - exp(-rate dt)) / rate`, all variables from the same state, with
    the mean of the input over the step. This is the method of Rush and Larsen for gates, applied
    to v as well. A variable whose derivative is a plain array moves by forward Euler.

    **Source** Rush and Larsen (1978), doi:10.1109/TBME.1978.326270; Brette et al. (2007),
    doi:10.1007/s10827-007-0038-6.
    """

    order: ClassVar[int] = 1
    reach: ClassVar[float | None] = None

    def __call__(self, flow: Flow, y: tuple, dt: float) -> tuple:
        derivatives, tree = jax.tree.flatten(tuple(flow(y, 0.5 * dt)))
        held = materialize(tuple(jnp.broadcast_to(x, y[0].shape) for x in derivatives))
        held = jax.tree.unflatten(tree, held)
        return tuple(_relaxed(d, x, dt) for d, x in zip(held, y, strict=True))


def _relaxed(derivative: Any, y: jax.Array, dt: float) -> jax.Array:
    if not isinstance(derivative, Linear | Gate):
        return y + dt * derivative
    source, rate = linear(derivative)
    return y + (source - rate * y) * decay_mean(rate, dt)


class Heun(Integrator):
    """Heun's method: the mean of the slopes at both ends of an Euler step; of second order.

    **Source** Hairer, Norsett, Wanner (1993), sec. II.1, doi:10.1007/978-3-540-78862-1.
    """

    order: ClassVar[int] = 2
    reach: ClassVar[float | None] = 2.0

    def __call__(self, flow: Flow, y: tuple, dt: float) -> tuple:
        k1 = materialize(slopes(flow, y, 0.0))
        k2 = slopes(flow, _moved(y, k1, dt), dt)
        return tuple(x + (0.5 * dt) * (a + b) for x, a, b in zip(y, k1, k2))


class RK4(Integrator):
    """The classical Runge-Kutta method of four stages, of fourth order.

    **Source** Hairer, Norsett, Wanner (1993), sec. II.1, doi:10.1007/978-3-540-78862-1.
    """

    order: ClassVar[int] = 4
    reach: ClassVar[float | None] = 2.785

    def __call__(self, flow: Flow, y: tuple, dt: float) -> tuple:
        half = 0.5 * dt
        k1 = materialize(slopes(flow, y, 0.0))
        k2 = materialize(slopes(flow, _moved(y, k1, half), half))
        k3 = materialize(slopes(flow, _moved(y, k2, half), half))
        k4 = slopes(flow, _moved(y, k3, dt), dt)
        return tuple(
            x + (dt / 6.0) * (a + 2.0 * b + 2.0 * c + d) for x, a, b, c, d in zip(y, k1, k2, k3, k4)
        )


forward_euler = ForwardEuler()
exponential_euler = ExponentialEuler()
heun = Heun()
rk4 = RK4()
