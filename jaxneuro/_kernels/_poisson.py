"""`poisson`: a Poisson count for every unit of a stream, in one time step."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._numerics import Stream
from ._call import by_platform, native_call
from ._native import native_available
from ._poisson_reference import (
    DIGITS,
    NO_COUNT,
    Mean,
    alias_table,
    counts,
    counts_by_branches,
    split,
)


def poisson(stream: Stream, step: Any, mean: jax.Array) -> jax.Array:
    """Poisson counts of the n units of a stream at a step, in the dtype of the mean.

    A count depends on its mean and on the unit's words alone, not on what is drawn beside it.
    The same bits on every platform that rounds `exp(-mean)` alike. The gradient is 0.

    **Step** `mean` floating, from 0 to `LARGEST_MEAN`: () or (n,), or (runs,) for one number per
    run of the stream. Returns (n,); the count of any other mean is NaN.

    **Source** Devroye (1986), Non-Uniform Random Variate Generation, chapters III.2 and III.4;
    Walker (1977), doi:10.1145/355744.355749; see `_poisson_reference.py`.
    """
    mean, step = lax.stop_gradient(mean), jnp.asarray(step)
    parts = stream, step, split(mean)
    if native_available() and mean.dtype in (jnp.float32, jnp.float64):
        count = by_platform(*parts, default=counts, cpu=_native)
    else:  # a GPU waits for the host at a branch
        count = lax.platform_dependent(*parts, cpu=counts_by_branches, default=counts)
    return jnp.where(count == NO_COUNT, jnp.nan, count.astype(mean.dtype))


def _native(stream: Stream, step: jax.Array, mean: Mean) -> jax.Array:
    tables, columns = zip(*(alias_table(place) for place in range(DIGITS)))
    key = stream.high, stream.low, stream.index, step.astype(jnp.uint32)
    operands = [jnp.atleast_1d(x) for x in (*key, mean.rest, mean.zero, mean.whole)]
    sizes = (stream.n,) if stream.sizes is None else stream.sizes

    return native_call(
        "jaxneuro_poisson",
        (*operands, jnp.asarray(np.concatenate(tables, axis=1))),
        (stream.n,),
        jnp.uint16,
        vmap_method="expand_dims",
        sizes=np.asarray(sizes, np.int32),
        columns=np.asarray(columns, np.int32),
    )
