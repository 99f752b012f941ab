"""Integrators: how the variables of a model move over a time step."""

from ._integrators import RK4 as RK4
from ._integrators import ExponentialEuler as ExponentialEuler
from ._integrators import Flow as Flow
from ._integrators import ForwardEuler as ForwardEuler
from ._integrators import Gate as Gate
from ._integrators import Heun as Heun
from ._integrators import Integrator as Integrator
from ._integrators import Linear as Linear
from ._integrators import exponential_euler as exponential_euler
from ._integrators import forward_euler as forward_euler
from ._integrators import heun as heun
from ._integrators import rk4 as rk4

__all__ = [
    "RK4",
    "ExponentialEuler",
    "Flow",
    "ForwardEuler",
    "Gate",
    "Heun",
    "Integrator",
    "Linear",
    "exponential_euler",
    "forward_euler",
    "heun",
    "rk4",
]
