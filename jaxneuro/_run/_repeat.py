"""A scan whose number of turns may be data, so that one program runs for any duration."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import jaxpr_as_fun


def repeat(body: Callable, carry: Any, xs: Any, length: int, turns: Any = None) -> tuple[Any, Any]:
    """`lax.scan(body, carry, xs, length)`, or the first `turns` int32 () of it.

    What is beyond them in the second result is 0. Each turn has the same bits as in the scan.
    """
    if turns is None:
        return lax.scan(body, carry, xs, length=length)
    at = lambda k: jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, k, 0, False), xs)  # noqa: E731
    # Traced once, for its shapes and for the loop: tracing takes longer than building.
    traced, (_, one) = jax.make_jaxpr(body, return_shape=True)(carry, at(0))
    run, tree = jaxpr_as_fun(traced), jax.tree.structure((carry, one))
    empty = jax.tree.map(lambda y: jnp.zeros((length, *y.shape), y.dtype), one)

    def turn(k: jax.Array, held: tuple) -> tuple:
        carry, out = held
        carry, y = jax.tree.unflatten(tree, run(*jax.tree.leaves((carry, at(k)))))
        put = lambda x, y: lax.dynamic_update_index_in_dim(x, y, k, 0)  # noqa: E731
        return carry, jax.tree.map(put, out, y)

    return lax.fori_loop(0, turns, turn, (carry, empty))
