"""The role of an ion channel: conductance-based neurons are composed of channels."""

from abc import abstractmethod
from typing import Any, ClassVar

import jax

from .._fields import Model
from ..integrators import Gate


class Channel(Model):
    """The role of an ion channel: `I = g open(v, gates) (v - e_rev)`, outward.

    Each gate x opens and closes: `dx/dt = a(v) (1 - x) - b(v) x`. A subclass has the parameters
    `g` and `e_rev`, names its `gates` (each name a state variable of the neuron) and the
    temperature `celsius` at which its rates hold.

    **Step** `rates(v)` returns a `Gate(a, b)` [1/ms] for each gate; `open(v, *gates)` the open
    fraction; v [mV] and gates (n,).

    **Source** Hodgkin and Huxley (1952), doi:10.1113/jphysiol.1952.sp004764.
    """

    gates: ClassVar[tuple[str, ...]] = ()
    celsius: ClassVar[float] = 6.3

    @abstractmethod
    def rates(self, v: jax.Array) -> tuple[Gate, ...]: ...

    @abstractmethod
    def open(self, v: jax.Array, *gates: jax.Array) -> Any: ...


def relaxing(steady: Any, tau: Any) -> Gate:
    """The rates of a gate that relaxes to `steady` with the time constant `tau` [ms].

    **Source** Hodgkin and Huxley (1952), eqs. 8 to 11, doi:10.1113/jphysiol.1952.sp004764.
    """
    return Gate(steady / tau, (1.0 - steady) / tau)
