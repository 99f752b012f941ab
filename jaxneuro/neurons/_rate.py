"""The part that all rate units share: a rate that follows a function of its input."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._types import Drive


class RateState(NamedTuple):
    """State of n rate units.

    **Fields** `r` (n,): the rate, in the unit that follows from the weights.

    **Source** Dayan and Abbott (2001), Theoretical Neuroscience, ch. 7, ISBN 9780262041997.
    """

    r: jax.Array


def followed(
    state: RateState, drive: Drive, tau: jax.Array, response: Callable, dt: float
) -> tuple[RateState, jax.Array]:
    """The step of `tau dr/dt = -r + response(input)`, exact for an input constant over it."""
    current: Any = 0.0 if drive.current is None else drive.current
    target = response(current + drive.arriving("input"))
    r = target + (state.r - target) * jnp.exp(-dt / tau)
    return RateState(r), jnp.zeros(r.shape, bool)
