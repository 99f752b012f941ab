"""Numbers given once per run of units, spread over the units."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

_PIECES = 64


def spread_rows(x: jax.Array, sizes: Sequence[int]) -> jax.Array:
    """One number per run, repeated for each of its units.

    Concatenates broadcasts: the indices of a `repeat` are a constant as long as all units, on which
    XLA would spend seconds while it compiles. Many runs use one gather instead.
    """
    if len(sizes) == 1:
        return jnp.broadcast_to(x[0], sizes[0])
    if len(sizes) > _PIECES:
        return x[np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)]
    return jnp.concatenate([jnp.broadcast_to(x[k], n) for k, n in enumerate(sizes)])


def count_runs(first: jax.Array, sizes: Sequence[int]) -> jax.Array:
    """The numbers of all units, from the number of the first unit of each run; uint32."""
    pieces = [jnp.arange(n, dtype=jnp.uint32) for n in sizes]
    return jnp.concatenate(pieces) + spread_rows(first, sizes)
