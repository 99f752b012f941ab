"""Areas whose assemblies are given: one block of k neurons for each of some things.

A machine's states and symbols are such blocks: the i-th is the neurons i k to (i + 1) k - 1.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import jax.numpy as jnp

from .._checks import unknown


def block(i: Any, k: int) -> Any:
    """The neurons of a block, int32 (k,); -1, nobody, for -1."""
    i = jnp.asarray(i, jnp.int32)
    return jnp.where(i < 0, -1, i * k + jnp.arange(k, dtype=jnp.int32))


def fullest(cap: Any, k: int, blocks: int) -> tuple[Any, Any]:
    """The block with most neurons of a cap, int32 (), and the share of it that fires, float32 ().

    Of equal ones the first.
    """
    block = jnp.where(cap < 0, blocks, cap // k)
    count = jnp.zeros(blocks, jnp.int32).at[block].add(1, mode="drop")
    return jnp.argmax(count).astype(jnp.int32), jnp.max(count).astype(jnp.float32) / k


def in_order(things: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Each thing once, in the order in which they come first."""
    return tuple(dict.fromkeys(things))


def place_of(kind: str, thing: Hashable, known: Sequence[Hashable]) -> int:
    """The number of a thing, or `ValueError` listing the known ones."""
    if thing not in known:
        raise unknown(kind, str(thing), [str(one) for one in known])
    return known.index(thing)


def check_arcs(what: str, arcs: int, k: int, n: int) -> None:
    """Raises `ValueError` unless every transition can have k neurons of its own."""
    if arcs * k > n:
        raise ValueError(
            f"{what}: {arcs} transitions of k = {k} neurons need {arcs * k:,} neurons in the arc "
            f"area; got n = {n:,}. Ask for n={2 * arcs * k} or more, or a smaller k"
        )
