"""Start values of receptors and releases, as a description gives them."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from jaxneuro._network._initial import quantile, replace_variable

from .._numerics import Distribution, bits, stream_key


class Start(eqx.Module):
    """The start values of one variable of consecutive units of a receptor or a release.

    **Fields** `variable` its name; `owner` the projection or coupling that gives them, whose stream
    is drawn from; `first`, `n` units; `value` an array of shape () or (n,), or a distribution.
    """

    variable: str = eqx.field(static=True)
    owner: str = eqx.field(static=True)
    first: int = eqx.field(static=True)
    n: int = eqx.field(static=True)
    value: Any  # a distribution has no leaves


def started(state: Any, starts: Sequence[Start], seed: Any) -> Any:
    """The state of a receptor or a release with its start values."""
    for start in starts:
        x = jnp.asarray(getattr(state, start.variable))
        value = start.value
        if isinstance(value, Distribution):
            key = stream_key(seed, start.owner, f"initial {start.variable}")
            word = bits(key, jnp.arange(start.n, dtype=jnp.uint32), 0)[0]
            value = quantile(value, word, x.dtype)
        piece = jnp.broadcast_to(jnp.asarray(value, x.dtype), (start.n,))
        whole = start.n == x.shape[0]
        new = piece if whole else x.at[start.first : start.first + start.n].set(piece)
        state = replace_variable(state, start.variable, new)
    return state
