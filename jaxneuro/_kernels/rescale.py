"""`target_sums` and `rescale`: all weights of a target, added up and multiplied.

For rules that need a sum over synapses. The sum of a target runs over ascending sources on a CPU.
Both do nothing in a step where they are not due.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

from .call import batched, by_platform, native_update, over_batch
from .native import native_available
from .table import Table, expand

_REFUSED = "the table of connections must not be batched by vmap; share one network"
_SUM_RANKS, _SCALE_RANKS = (2, 1, 0), (1, 1, 1, 0)


def target_sums(
    weights: Float[Array, " synapses"], due: Bool[Array, ""], table: Table, n_targets: int
) -> Float[Array, "2 targets"]:
    """Sum of the weights onto each target, and their number: (2, targets); 0 where not due."""
    out = jnp.zeros((2, n_targets), weights.dtype)
    return _target_sums(out, weights, due, table)


def rescale(
    weights: Float[Array, " synapses"],
    factors: Float[Array, " targets"],
    bounds: Float[Array, "2"],
    due: Bool[Array, ""],
    table: Table,
) -> Float[Array, " synapses"]:
    """The weights times the factor of their target, within bounds (2,); unchanged where not due."""
    return _rescale(weights, factors, bounds, due, table)


@jax.custom_jvp
def _target_sums(out, weights, due, table):
    return _call("jaxneuro_target_sums", _sum, _SUM_RANKS, native_available())(
        out, weights, due, table
    )


@jax.custom_jvp
def _rescale(weights, factors, bounds, due, table):
    return _call("jaxneuro_rescale", _scale, _SCALE_RANKS, native_available())(
        weights, factors, bounds, due, table
    )


@functools.cache
def _call(target: str, reference: Callable, ranks: tuple[int, ...], native: bool) -> Callable:
    del native  # another key: what was traced without the native library stays without it

    def run(*operands: Any) -> Any:
        *arrays, table = operands
        columns = (table.sections, table.pointers, table.targets, table.tags, table.block_span)
        return native_update(target, (*arrays, *columns), 1)[0]

    def call(*operands: Any) -> Any:
        return by_platform(*operands, default=over_batch(reference, ranks), cpu=run)

    return batched(call, ranks, _REFUSED)


def _target(table: Table) -> jax.Array:
    return expand(table).place - table.block_offset[0]


def _sum(out, weights, due, table):
    pair = jnp.stack([weights, jnp.ones_like(weights)])
    return out.at[:, _target(table)].add(jnp.where(due, pair, 0)) if weights.size else out


def _scale(weights, factors, bounds, due, table):
    if not weights.size:
        return weights
    low, high = bounds
    new = lax.clamp(low, weights * factors[_target(table)], high)
    return jnp.where(due, new, weights)


def _with_slope(function: Any, reference: Callable) -> None:
    def slope(primals, tangents):
        *arrays, table = primals
        return jax.jvp(lambda *x: reference(*x, table), tuple(arrays), tangents[:-1])

    function.defjvp(slope)


_with_slope(_target_sums, _sum)
_with_slope(_rescale, _scale)
