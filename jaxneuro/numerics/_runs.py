"""Numbers given once per run of units, for each of the units."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

_PIECES = 64


def spread_rows(x: jax.Array, sizes: Sequence[int]) -> jax.Array:
    """One number per run, for each of its units.

    In pieces of broadcasts: the indices of a `repeat` are a constant as long as all units, with
    which XLA computes for seconds while it compiles. Many runs take one gather instead.
    """
    if len(sizes) == 1:
        return jnp.broadcast_to(x[0], sizes[0])
    if len(sizes) > _PIECES:
        return x[np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)]
    return jnp.concatenate([jnp.broadcast_to(x[k], n) for k, n in enumerate(sizes)])


def count_runs(first: jax.Array, sizes: Sequence[int]) -> jax.Array:
    """The numbers of the units, from the number of the first of each run; uint32."""
    pieces = [jnp.arange(n, dtype=jnp.uint32) for n in sizes]
    return jnp.concatenate(pieces) + spread_rows(first, sizes)
