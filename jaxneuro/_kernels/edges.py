"""The forms in which the synapses of a fibre between areas are kept, and who fires along them.

`Hashed` rows are drawn again, `Stored` rows are kept, `Lists` are the sources of each target,
`Counts` are those of sources that always fire together. No form keeps weights.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Int32, UInt32

from .wide import limbs, wide_add, wide_of_limbs, wide_subtract, wide_units


class Hashed(NamedTuple):
    """Rows that are drawn again: `key` uint32 (2,) of the fibre, `n` targets, probability `p`."""

    key: Any
    n: int
    p: float


class Stored(NamedTuple):
    """Rows that are kept: `targets` uint16 or int32 (sources, width); n (or more) is no target."""

    targets: Any


class Lists(NamedTuple):
    """`sources` int32 (targets, width) of each target, then the number of sources for none."""

    sources: Any


class Counts(NamedTuple):
    """`counts` int32 (targets,): synapses from sources that fire together."""

    counts: Any


class Firing(NamedTuple):
    """Who fires, and what was remembered. For `Counts`, `cap` and `before` are not read.

    Attributes:
        on: bool () whether the fibre is active and its source fires.
        cap: int32 (k,) the neurons of the source that fire, the number of sources for nobody.
        before: uint32 (sources, words) the rounds before which each source was in the cap.
        after: uint32 (targets, words) the rounds after which each target was in it.
        mask: uint32 (words,) the rounds in which the fibre learned.
        weights: uint32 (rounds + 1, 2) the weight after so many potentiations.
    """

    on: Bool[Array, ""]
    cap: Int32[Array, " k"]
    before: UInt32[Array, "sources words"]
    after: UInt32[Array, "targets words"]
    mask: UInt32[Array, " words"]
    weights: UInt32[Array, "potentiations 2"]


def potentiations(before: jax.Array, after: jax.Array) -> jax.Array:
    """In how many remembered rounds both fired: words along the last axis."""
    return jnp.sum(lax.population_count(before & after), axis=-1).astype(jnp.int32)


def extra_parts(weights: jax.Array) -> jax.Array:
    """The 16-bit parts of what weights (..., rounds + 1, 2) are above the first: (..., 4)."""
    return limbs(wide_subtract(weights, weights[..., :1, :]))


def sum_of_parts(base: jax.Array, extra: jax.Array) -> jax.Array:
    """So many weights of 1, and the sums (..., 4) of the parts above: (..., 2)."""
    return wide_add(wide_units(base), wide_of_limbs(extra))
