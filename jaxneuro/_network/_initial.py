"""Start values of state variables, and how they are put into a state."""

import functools
from typing import Any

import equinox as eqx
import jax

from .._numerics import Distribution, unit_interval


class Initial(eqx.Module):
    """The start value of one state variable of one population.

    **Fields** `variable` its name; `population` number in the group; `value` an array of shape ()
    or (n,), or a distribution.
    """

    variable: str = eqx.field(static=True)
    population: int = eqx.field(static=True)
    value: Any  # a distribution has no leaves


@functools.partial(jax.jit, static_argnames="dtype")
def quantile(law: Distribution, word: Any, dtype: Any) -> jax.Array:
    """The numbers that words of random bits stand for, in the dtype of the state."""
    # Compiled also where the words are known: one seed of a batch starts as it does alone.
    return law.quantile(unit_interval(word)).astype(dtype)


def replace_variable(state: Any, variable: str, value: jax.Array) -> Any:
    """The state of a model, a named tuple or a module, with another value of one variable."""
    if hasattr(state, "_replace"):
        return state._replace(**{variable: value})
    return eqx.tree_at(lambda s: getattr(s, variable), state, value)
