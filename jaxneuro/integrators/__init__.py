"""Integrators: how the variables of a model move over a time step."""

from ._integrator import Flow as Flow
from ._integrator import Gate as Gate
from ._integrator import Integrator as Integrator
from ._integrator import Linear as Linear
from ._methods import RK4 as RK4
from ._methods import ExponentialEuler as ExponentialEuler
from ._methods import ForwardEuler as ForwardEuler
from ._methods import Heun as Heun
from ._methods import exponential_euler as exponential_euler
from ._methods import forward_euler as forward_euler
from ._methods import heun as heun
from ._methods import rk4 as rk4

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
