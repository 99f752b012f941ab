"""Integrators, and the form in which a model gives them its equations.

Forward Euler, exponential Euler, Heun and the classical Runge-Kutta method.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from .. import spec
from .._fields import Model
from .._kernels.call import materialize
from .._numerics.maths import decay_mean


class Linear(NamedTuple):
    """The derivative of a variable y that decays: `dy/dt = source - rate y`.

    Neither may depend on y itself, but both may depend on the other variables; exponential Euler
    is then exact in y. A derivative without a linear part is given as an array.

    Attributes:
        source: the part that does not depend on y [of y per ms], () or (n,).
        rate: the rate of decay [1/ms], () or (n,).

    Reference:
        Rush and Larsen (1978), A practical algorithm for solving dynamic membrane equations,
        doi:10.1109/TBME.1978.326270.
    """

    source: Any
    rate: Any


class Gate(NamedTuple):
    """The derivative of a gate x: `dx/dt = opening (1 - x) - closing x`.

    Attributes:
        opening, closing: rates [1/ms], each () or (n,).

    Reference:
        Hodgkin and Huxley (1952), A quantitative description of membrane current and its
        application to conduction and excitation in nerve, eq. 7,
        doi:10.1113/jphysiol.1952.sp004764.
    """

    opening: Any
    closing: Any


# The equations of a model: from the variables (n,) and the time [ms] within the step to one
# derivative for each variable.
Flow: TypeAlias = Callable[[tuple, float], Sequence[Any]]


def method_field(default: Any) -> Any:
    """The field of a model that holds the integrator which moves its variables."""
    return spec.field(spec.Of(Integrator), default=default, doc="the integrator")


def linear(derivative: Linear | Gate) -> Linear:
    """A derivative in its linear form."""
    if isinstance(derivative, Linear):
        return derivative
    return Linear(derivative.opening, derivative.opening + derivative.closing)


def slope(derivative: Any, y: jax.Array) -> jax.Array:
    """dy/dt as one array of the shape of y."""
    if isinstance(derivative, Linear | Gate):
        source, rate = linear(derivative)
        derivative = source - rate * y
    return jnp.broadcast_to(derivative, y.shape)


def slopes(flow: Flow, y: tuple, t: float) -> tuple[jax.Array, ...]:
    """The derivatives of all variables at y, at the time t in the step."""
    return tuple(slope(d, x) for d, x in zip(flow(y, t), y, strict=True))


class Integrator(Model):
    """The role of an integrator: moves the variables of a model over one time step.

    `flow(y, t)` gives the derivatives at y, a tuple of arrays (n,), and at the time t [ms] after
    the start of the step: for each variable an array, a `Linear` or a `Gate`.

    `integrator(flow, y, dt)` returns the variables after the step, like y.

    `order` is the order of its error in dt; `reach` the largest dt times rate for which
    `dy/dt = -rate y` does not grow, None where it never does.

    Reference:
        Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I,
        doi:10.1007/978-3-540-78862-1.
    """

    order: ClassVar[int]
    reach: ClassVar[float | None]

    @abstractmethod
    def __call__(self, flow: Flow, y: tuple, dt: float) -> tuple: ...


def _moved(y: tuple, k: tuple, by: float) -> tuple:
    return tuple(x + by * slope for x, slope in zip(y, k))


class ForwardEuler(Integrator):
    """Forward Euler: `y + dt f(y)`, all variables from the same y; of first order.

    It uses the mean of the input over the step.

    Reference:
        Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, sec. I.7,
        doi:10.1007/978-3-540-78862-1.
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

    Reference:
        Rush and Larsen (1978), A practical algorithm for solving dynamic membrane equations,
        doi:10.1109/TBME.1978.326270; Brette et al. (2007), Simulation of networks of spiking
        neurons: a review of tools and strategies, doi:10.1007/s10827-007-0038-6.
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

    Reference:
        Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, sec. II.1,
        doi:10.1007/978-3-540-78862-1.
    """

    order: ClassVar[int] = 2
    reach: ClassVar[float | None] = 2.0

    def __call__(self, flow: Flow, y: tuple, dt: float) -> tuple:
        k1 = materialize(slopes(flow, y, 0.0))
        k2 = slopes(flow, _moved(y, k1, dt), dt)
        return tuple(x + (0.5 * dt) * (a + b) for x, a, b in zip(y, k1, k2))


class RK4(Integrator):
    """The classical Runge-Kutta method of four stages, of fourth order.

    Reference:
        Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, sec. II.1,
        doi:10.1007/978-3-540-78862-1.
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
