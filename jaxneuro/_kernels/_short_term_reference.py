"""The reference of `short_term`, and its parts, which other release models use too."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class ShortTerm(NamedTuple):
    """Resources and use of n sources; `jaxneuro.release.TsodyksMarkram` says what they are.

    **Fields** `x`, `u`, `x_low`, `u_low`, each (n,).
    """

    x: jax.Array
    u: jax.Array
    x_low: jax.Array
    u_low: jax.Array


def at_spikes(spikes: jax.Array, x: Any) -> jax.Array:
    """x where a neuron spikes and 0 elsewhere, (n,); spikes of 0/1 let gradients through."""
    if spikes.dtype == jnp.bool_:
        return jnp.where(spikes, x, jnp.zeros_like(x))
    return spikes.astype(x.dtype) * x


def relaxed(x: jax.Array, low: jax.Array, rest: Any, loss: Any) -> tuple[jax.Array, jax.Array]:
    """`x + low` one step nearer to `rest`: `rest + (x + low - rest) (1 + loss)`, as two numbers.

    Near `rest` a float32 x would stay where it is: there a step changes less than its last digit.
    `low` is what x does not hold. XLA must not know `rest`: it takes `(rest + away) - rest` for
    `away` where that is a constant, and `low` would be 0.
    """
    rest = jax.lax.optimization_barrier(jnp.asarray(rest, x.dtype))
    away = (x - rest) + low
    away = away + away * loss
    new = rest + away
    return new, away - (new - rest)


def short_term_reference(
    state: ShortTerm,
    spikes: jax.Array,
    adds: jax.Array,
    losses: tuple[jax.Array, jax.Array],
    jump_first: bool,
) -> tuple[ShortTerm, jax.Array]:
    """See `short_term`."""
    x, x_low = relaxed(state.x, state.x_low, 1.0, losses[0])
    u, u_low = relaxed(state.u, state.u_low, adds, losses[1])
    jumped = u + at_spikes(spikes, adds * (1.0 - u))
    released = at_spikes(spikes, (jumped if jump_first else u) * x)
    return ShortTerm(x - released, jumped, x_low, u_low), released
