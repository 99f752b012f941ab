"""Leak: a conductance that is always open."""

from typing import Any

import jax

from .._fields import Parameter, param
from ..integrators import Gate
from ._channel import Channel


class Leak(Channel):
    """Leak: `I = g (v - e_rev)`.

    **Fields** each () or (n,): `g` [mS/cm2] conductance; `e_rev` [mV] reversal potential.

    **Raises** `ValueError` unless `g` is at least 0.

    **Source** Hodgkin and Huxley (1952), doi:10.1113/jphysiol.1952.sp004764.
    """

    g: Parameter = param(0.3, unit="mS/cm2", at_least=0.0)
    e_rev: Parameter = param(-54.387, unit="mV")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        return ()

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        return 1.0
