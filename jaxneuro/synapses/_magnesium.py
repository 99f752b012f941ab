"""The block of NMDA channels by magnesium, and the voltage at which a step reads it."""

from typing import Any

import jax
import jax.numpy as jnp


def block(v: jax.Array, mg: Any) -> jax.Array:
    """The open share of NMDA channels at v [mV]: `1 / (1 + mg/3.57 exp(-0.062 v))`.

    `mg` [mM] is the concentration outside. Jahr and Stevens (1990),
    doi:10.1523/JNEUROSCI.10-09-03178.1990.
    """
    return 1.0 / (1.0 + (mg * (1.0 / 3.57)) * jnp.exp(-0.062 * v))


def predicted_middle(v: jax.Array, before: jax.Array) -> jax.Array:
    """v [mV] in the middle of a step, on the line through v `before` and v at its start.

    Where `before` is 0 there was no step before, and the middle is v.
    """
    return v + jnp.where(before == 0.0, jnp.zeros_like(v), 0.5 * (v - before))


def check_voltage(name: str, v: Any) -> None:
    """Raises `ValueError` where the target has no voltage."""
    if v is None:
        raise ValueError(
            f"{name}: the target neurons must have a voltage, on which the magnesium block "
            f"depends; this neuron has none (its `voltage` is None). Use AMPA or another receptor "
            f"without a block, or another neuron"
        )
