"""The role of an integrator, and the form in which a model gives it its equations."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from .._fields import Model


class Linear(NamedTuple):
    """The derivative of a variable y that decays: `dy/dt = source - rate y`.

    Neither may depend on y itself, but both may depend on the other variables; exponential Euler
    is then exact in y. A derivative without a linear part is given as an array.

    **Fields** `source` [of y per ms]; `rate` [1/ms]; each () or (n,).

    **Source** Rush and Larsen (1978), doi:10.1109/TBME.1978.326270.
    """

    source: Any
    rate: Any


class Gate(NamedTuple):
    """The derivative of a gate x: `dx/dt = opening (1 - x) - closing x`.

    **Fields** `opening`, `closing` [1/ms], each () or (n,).

    **Source** Hodgkin and Huxley (1952), eq. 7, doi:10.1113/jphysiol.1952.sp004764.
    """

    opening: Any
    closing: Any


# The equations of a model: from the variables (n,) and the time [ms] within the step to one
# derivative for each variable.
Flow: TypeAlias = Callable[[tuple, float], Sequence[Any]]


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

    **Step** `integrator(flow, y, dt)` returns the variables after the step, like y.

    `order` is the order of its error in dt; `reach` the largest dt times rate for which
    `dy/dt = -rate y` does not grow, None where it never does.

    **Source** Hairer, Norsett, Wanner (1993), doi:10.1007/978-3-540-78862-1.
    """

    order: ClassVar[int]
    reach: ClassVar[float | None]

    @abstractmethod
    def __call__(self, flow: Flow, y: tuple, dt: float) -> tuple: ...
