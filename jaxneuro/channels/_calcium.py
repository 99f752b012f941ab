"""High-threshold calcium channel."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import linoid
from ..integrators import Gate
from ._channel import Channel


class CalciumL(Channel):
    """L-type calcium channel: `I = g q^2 r (v - e_rev)`, which makes cells burst.

    `a_q = 0.055 (v + 27) / (1 - exp(-(v + 27)/3.8))`, `b_q = 0.94 exp(-(v + 75)/17)`,
    `a_r = 0.000457 exp(-(v + 13)/50)`, `b_r = 0.0065 / (1 + exp(-(v + 15)/28))`.

    **Fields** each () or (n,): `g` [mS/cm2] conductance; `e_rev` [mV] reversal potential.

    **Raises** `ValueError` unless `g` is at least 0.

    **Source** Reuveni et al. (1993), doi:10.1523/JNEUROSCI.13-11-04609.1993, as in Pospischil et
    al. (2008), doi:10.1007/s00422-008-0263-8.
    """

    gates: ClassVar[tuple[str, ...]] = ("q", "r")
    celsius: ClassVar[float] = 36.0

    g: Parameter = param(0.1, unit="mS/cm2", at_least=0.0)
    e_rev: Parameter = param(120.0, unit="mV")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        v = jnp.clip(v, -250.0, 250.0)  # exp() is finite in float32
        a_q = (0.055 * 3.8) * linoid((v + 27.0) * (1 / 3.8))
        b_q = 0.94 * jnp.exp((v + 75.0) * (-1 / 17))
        a_r = 0.000457 * jnp.exp((v + 13.0) * (-1 / 50))
        b_r = 0.0065 / (1.0 + jnp.exp((v + 15.0) * (-1 / 28)))
        return Gate(a_q, b_q), Gate(a_r, b_r)

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        q, r = gates
        return q * q * r
