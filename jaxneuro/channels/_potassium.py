"""Potassium channels that delay spikes and slow them down."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from ..integrators import Gate
from ._channel import Channel, relaxing


class PotassiumA(Channel):
    """A-type potassium channel: `I = g a^3 b (v - e_rev)`, which delays the first spike.

    `a_inf = (0.0761 exp((v + 94.22)/31.84) / (1 + exp((v + 1.17)/28.93)))^(1/3)`,
    `tau_a = 0.3632 + 1.158 / (1 + exp((v + 55.96)/20.12))`,
    `b_inf = (1 + exp((v + 53.3)/14.54))^-4`,
    `tau_b = 1.24 + 2.678 / (1 + exp((v + 50)/16.027))` [ms].

    **Fields** each () or (n,): `g` [mS/cm2] conductance; `e_rev` [mV] reversal potential.

    **Raises** `ValueError` unless `g` is at least 0.

    **Source** Connor, Walter, McKown (1977), doi:10.1016/S0006-3495(77)85598-7, as in Dayan and
    Abbott (2001), sec. 6.6, ISBN 9780262041997.

    **Differs** the rates are taken to hold at 6.3 C as printed; q10 scales them elsewhere.
    """

    gates: ClassVar[tuple[str, ...]] = ("a", "b")

    g: Parameter = param(47.7, unit="mS/cm2", at_least=0.0)
    e_rev: Parameter = param(-75.0, unit="mV")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        v = jnp.clip(v, -250.0, 250.0)  # the fourth power of exp() is finite in float32
        a_inf = jnp.cbrt(
            0.0761 * jnp.exp((v + 94.22) / 31.84) / (1.0 + jnp.exp((v + 1.17) / 28.93))
        )
        tau_a = 0.3632 + 1.158 / (1.0 + jnp.exp((v + 55.96) / 20.12))
        b_inf = jnp.square(jnp.square(1.0 / (1.0 + jnp.exp((v + 53.3) / 14.54))))
        tau_b = 1.24 + 2.678 / (1.0 + jnp.exp((v + 50.0) / 16.027))
        return relaxing(a_inf, tau_a), relaxing(b_inf, tau_b)

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        a, b = gates
        return a * a * a * b


class PotassiumM(Channel):
    """Slow (M-type) potassium channel: `I = g p (v - e_rev)`, which adapts the rate.

    `p_inf = 1 / (1 + exp(-(v + 35)/10))`,
    `tau_p = tau_max / (3.3 exp((v + 35)/20) + exp(-(v + 35)/20))`.

    **Fields** each () or (n,): `g` [mS/cm2] conductance; `e_rev` [mV] reversal potential;
    `tau_max` [ms] scale of the time constant.

    **Raises** `ValueError` unless `g` is at least 0 and `tau_max` above 0.

    **Source** Yamada, Koch, Adams (1989), as in Pospischil et al. (2008),
    doi:10.1007/s00422-008-0263-8.
    """

    gates: ClassVar[tuple[str, ...]] = ("p",)
    celsius: ClassVar[float] = 36.0

    g: Parameter = param(0.07, unit="mS/cm2", at_least=0.0)
    e_rev: Parameter = param(-90.0, unit="mV")
    tau_max: Parameter = param(608.0, unit="ms", above=0.0)

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        rise = jnp.exp((jnp.clip(v, -250.0, 250.0) + 35.0) * (1 / 20))
        steady = 1.0 / (1.0 + 1.0 / jnp.square(rise))
        return (relaxing(steady, self.tau_max / (3.3 * rise + 1.0 / rise)),)

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        return gates[0]
