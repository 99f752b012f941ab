"""Sodium and potassium channels of the squid giant axon.

Hodgkin and Huxley (1952), doi:10.1113/jphysiol.1952.sp004764.
"""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import linoid
from ..integrators import Gate
from ._channel import Channel

# This far below rest every gate is fully open or shut; faster gates would only need smaller steps.
_FAR = -100.0
_FASTEST = math.exp(50 / 18)


def _above_rest(v: jax.Array, v_rest: Any) -> jax.Array:
    return jnp.maximum(v - v_rest, _FAR)


class SquidSodium(Channel):
    """Transient sodium channel of the squid axon: `I = g m^3 h (v - e_rev)`.

    With u = v - v_rest: `a_m = 0.1 (u - 25) / (1 - exp(-(u - 25)/10))`, `b_m = 4 exp(-u/18)`,
    `a_h = 0.07 exp(-u/20)`, `b_h = 1 / (1 + exp(-(u - 30)/10))`. Two exponentials serve all
    four.

    **Fields** each () or (n,): `g` [mS/cm2] conductance; `e_rev` [mV] reversal potential;
    `v_rest` [mV] the voltage at which u is 0.

    **Raises** `ValueError` unless `g` is at least 0.

    **Source** Hodgkin and Huxley (1952), eqs. 20 to 24, doi:10.1113/jphysiol.1952.sp004764.

    **Differs** farther than 50 mV below rest `b_m` keeps its value at 50 mV (64 per ms), farther
    than 100 mV the other rates keep theirs: m is shut there, and explicit methods stay stable
    under any hyperpolarisation.
    """

    gates: ClassVar[tuple[str, ...]] = ("m", "h")

    g: Parameter = param(120.0, unit="mS/cm2", at_least=0.0)
    e_rev: Parameter = param(50.0, unit="mV")
    v_rest: Parameter = param(-65.0, unit="mV")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        u = _above_rest(v, self.v_rest)
        slow = jnp.exp(u * (-1 / 20))
        fast = slow * slow
        a_m = linoid(u * 0.1 - 2.5, fast * math.exp(2.5))
        b_m = 4.0 * jnp.minimum(jnp.exp(u * (-1 / 18)), _FASTEST)
        b_h = 1.0 / (1.0 + fast * math.exp(3.0))
        return Gate(a_m, b_m), Gate(0.07 * slow, b_h)

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        m, h = gates
        return m * m * m * h


class SquidPotassium(Channel):
    """Delayed rectifier of the squid axon: `I = g n^4 (v - e_rev)`.

    With u = v - v_rest: `a_n = 0.01 (u - 10) / (1 - exp(-(u - 10)/10))`,
    `b_n = 0.125 exp(-u/80)`. One exponential serves both.

    **Fields** each () or (n,): `g` [mS/cm2] conductance; `e_rev` [mV] reversal potential;
    `v_rest` [mV] the voltage at which u is 0.

    **Raises** `ValueError` unless `g` is at least 0.

    **Source** Hodgkin and Huxley (1952), eqs. 12 and 13, doi:10.1113/jphysiol.1952.sp004764.

    **Differs** farther than 100 mV below rest the rates keep their values at 100 mV.
    """

    gates: ClassVar[tuple[str, ...]] = ("n",)

    g: Parameter = param(36.0, unit="mS/cm2", at_least=0.0)
    e_rev: Parameter = param(-77.0, unit="mV")
    v_rest: Parameter = param(-65.0, unit="mV")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        u = _above_rest(v, self.v_rest)
        slow = jnp.exp(u * (-1 / 80))
        fast = jnp.square(jnp.square(jnp.square(slow)))
        a_n = 0.1 * linoid(u * 0.1 - 1.0, fast * math.exp(1.0))
        return (Gate(a_n, 0.125 * slow),)

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        return jnp.square(jnp.square(gates[0]))
