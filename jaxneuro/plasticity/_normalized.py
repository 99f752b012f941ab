"""The sum of the weights of each target is held."""

from typing import Any

import jax
import jax.numpy as jnp

from .._fields import Parameter, param, static
from .._types import Plasticity
from ._wrapped import WrappedRule


class Normalized(WrappedRule):
    """Another rule, with the sum of the weights of each target held.

    Equations: after every `every` steps, each weight of a target is multiplied by `total` over
    the sum of its weights. What counts is one projection: synapses of others are not in the sum. A
    sum that is not above 0 is left alone. In between, the sum moves as the rule moves it.

    **Fields** `rule` the other rule, or None for weights that only this changes; `total` the sum,
    in the unit of the weights; `every` how many steps.

    **Raises** `ValueError` for a `total` not above 0, `every` below 1, or a `rule` that
    multiplies all weights of a target itself.

    **Source** Diehl and Cook (2015), doi:10.3389/fncom.2015.00099, sec. 2, and its program,
    https://github.com/peter-u-diehl/stdp-mnist, where it is done once per image; Miller and
    MacKay (1994), The role of constraints in Hebbian learning, Neural Comput. 6, 100-126.
    """

    rule: Plasticity | None
    total: Parameter = param(above=0.0)
    every: int = static(1000)

    def factors(self, total: jax.Array, synapses: jax.Array, state: Any) -> jax.Array:
        there = total > 0.0
        return jnp.where(there, self.total / jnp.where(there, total, 1.0), 1.0)
