"""`gap_lists`: drawn rows as an array of fixed width, inside a program."""

import math
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._numerics import binomial_above, gap_table
from ._call import by_platform, native_call
from ._redraw import gap_words
from ._synaptic_input import Hashed, visit_gap_rows


@lru_cache(maxsize=256)
def gap_width(n: int, p: float) -> int:
    """The smallest width that a row exceeds once in 10^18 rows or less."""
    mean = n * p
    most = min(n, math.ceil(mean + 10.0 * math.sqrt(mean) + 60.0))
    widths = np.arange(int(mean), most)
    within = np.flatnonzero(binomial_above(widths, n, p) < 1e-18)
    return int(widths[within[0]]) if within.size else most


def gap_lists(edges: Hashed, rows: jax.Array, width: int) -> jax.Array:
    """The targets of some rows, ascending: int32 (rows, width), the rest of a row is n.

    What a row has beyond `width` is left out: see `gap_width`.
    """
    table = gap_table(edges.p)

    def native(key: Any, rows: Any, words: Any) -> jax.Array:
        return native_call(
            "jaxneuro_draw_gap_rows",
            (key, rows.astype(jnp.uint32), words),
            (*rows.shape, width),
            jnp.int32,
            vmap_method="expand_dims",
            gaps=np.int64(table.size),
            shift=np.int64(table.shift),
            n=np.int64(edges.n),
            mean=np.float64(edges.n * edges.p),
        )

    def reference(key: Any, rows: Any, words: Any) -> jax.Array:
        return _reference(Hashed(key, edges.n, edges.p), rows, width)

    words = jnp.asarray(gap_words(table))
    return by_platform(edges.key, rows, words, default=reference, cpu=native)


def _reference(edges: Hashed, rows: jax.Array, width: int) -> jax.Array:
    lines = jnp.arange(rows.shape[0])[:, None]

    def visit(carry: Any, at: jax.Array) -> Any:
        found, out = carry
        there = at < edges.n
        place = found[:, None] + jnp.cumsum(there.astype(jnp.int32), axis=1) - 1
        place = jnp.where(there, place, width)
        out = out.at[lines, place].set(at, mode="drop")
        return found + jnp.sum(there, axis=1, dtype=jnp.int32), out

    out = jnp.full((*rows.shape, width), edges.n, jnp.int32)
    return visit_gap_rows(edges, rows, (jnp.zeros(rows.shape, jnp.int32), out), visit)[1]
