"""`past_inputs`: how many of some sources fired in each remembered round."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._call import by_platform, native_call


def past_inputs(before: jax.Array, mask: jax.Array, lists: jax.Array) -> jax.Array:
    """For each list of sources, how many of them fired in each round: int32 (lists, 32 words).

    **Step** `before` uint32 (sources, words) a bit for each round in which a source fired; `mask`
    uint32 (words,) the rounds that count; `lists` int32 (lists, width), in which the number of
    sources is none.
    """

    def native(before: Any, mask: Any, lists: Any) -> jax.Array:
        shape = (lists.shape[0], 32 * mask.shape[0])
        operands, method = (before, mask, lists), "expand_dims"
        return native_call("jaxneuro_past_inputs", operands, shape, jnp.int32, vmap_method=method)

    return by_platform(before, mask, lists, default=_reference, cpu=native)


def _reference(before: Any, mask: Any, lists: Any) -> jax.Array:
    fired = before.at[lists].get(mode="fill", fill_value=0) & mask
    rounds = jnp.arange(32, dtype=jnp.uint32)

    def count(word: Any) -> Any:  # (lists, width) -> (lists, 32)
        one = lambda b: jnp.sum((word >> b) & np.uint32(1), axis=-1, dtype=jnp.uint32)  # noqa: E731
        return jax.vmap(one, out_axes=1)(rounds)

    counts = jax.vmap(count, in_axes=2, out_axes=1)(fired)
    return counts.reshape(lists.shape[0], -1).astype(jnp.int32)
