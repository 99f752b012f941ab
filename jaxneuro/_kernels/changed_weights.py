"""The tangent of the arrivals by weights and scales, which is linear in theirs.

It is a primitive for the sake of its batches. Where many trials share their weights, JAX batches
it before it transposes it, and the transpose then adds up all trials in one call of
`weight_cotangents`: as if they were one long run.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float

from .._arrays import AnyArray
from .call import with_axes
from .cotangents import REFUSED, weight_cotangents
from .deliver_reference import deliver_reference
from .spike_output import SpikeOutput
from .table import HAS_WEIGHTS, Table, read_sections

_changed = Primitive("changed_weights")


class Change(NamedTuple):
    """The tangents of a table's scales (blocks,) and weights (weights,)."""

    scale: Float[AnyArray, " blocks"]
    weights: Float[AnyArray, " weights"]


def arrivals_of_change(
    change: Change,
    released: SpikeOutput,
    scale: Float[AnyArray, " blocks"],
    weights: Float[AnyArray, " weights"],
    table: Table,
    slots: int,
    places: int,
) -> Float[Array, "slots places"]:
    """The tangent of the arrivals after some steps.

    `released`, (steps, ...), is what was delivered in them. What step k delivers after a delay is
    in slot `k + delay - 1`.
    """
    values = released.values
    if values is None:
        values = jnp.zeros((*released.bits.shape[:-1], 0), scale.dtype)
    scale_dot, weights_dot, values = (x.astype(scale.dtype) for x in (*change, values))
    arrays = (scale_dot, weights_dot, released.bits, values, scale, weights)
    leaves, structure = jax.tree.flatten(table)
    # A number whose type varies over all axes of a mesh over which an operand varies.
    like = sum(jnp.sum(0 * x[..., :1].astype(scale.dtype)) for x in arrays)
    how = {"structure": structure, "slots": slots, "places": places}
    return _changed.bind(like, *arrays, *leaves, **how)


# Axes without a batch: of both changes, bits, values, scale and weights.
_RANKS = (1, 1, 2, 2, 1, 1)


def _split(operands: Sequence[Any], structure: Any) -> tuple[Any, list[Any], Table]:
    """The example of the result's kind, the arrays, and the table."""
    like, *rest = operands
    n = len(_RANKS)
    return like, list(rest[:n]), jax.tree.unflatten(structure, rest[n:])


def _axes(arrays: Sequence[Any]) -> tuple[int, ...]:
    return np.broadcast_shapes(*(x.shape[: x.ndim - r] for x, r in zip(arrays, _RANKS)))


@_changed.def_abstract_eval
def _shape(like: Any, *operands: Any, structure: Any, slots: int, places: int) -> Any:
    arrays = operands[: len(_RANKS)]
    return like.update(shape=(*_axes(arrays), slots, places), dtype=arrays[1].dtype)


def _run(*operands: Any, structure: Any, slots: int, places: int) -> jax.Array:
    """Visits every synapse in every step: for derivatives of forward mode."""
    _, arrays, table = _split(operands, structure)
    individual = _with_own_weights(table)

    def one(scale_dot, weights_dot, bits, values, scale, weights):
        def add(k: Any, ring: Any) -> Any:
            released = SpikeOutput.of_operands(bits[k], values[k])
            ring = deliver_reference(ring, released, k - 1, scale_dot, weights, table, False)
            own = jnp.where(individual, scale, 0)
            return deliver_reference(ring, released, k - 1, own, weights_dot, table, False)

        return lax.fori_loop(0, bits.shape[0], add, jnp.zeros((slots, places), weights_dot.dtype))

    return _over(one, _axes(arrays), arrays, _RANKS)


def _with_own_weights(table: Table) -> jax.Array:
    """Which blocks have a weight for each synapse: (blocks,)."""
    sections, block = (
        read_sections(table),
        jnp.arange(table.block_offset.shape[0], dtype=jnp.int32)[:, None],
    )
    inside = (sections.first_block <= block) & (block < sections.first_block + sections.blocks)
    return jnp.any(inside & ((sections.flags & HAS_WEIGHTS) != 0), axis=1)


def _over(one: Any, axes: tuple[int, ...], arrays: Sequence[Any], ranks: Sequence[int]) -> Any:
    """`one` of the arrays, which have the batch axes `axes`, shorter ones or none."""
    if not axes:
        return one(*arrays)
    own = [x.shape[x.ndim - r :] for x, r in zip(arrays, ranks)]
    n = math.prod(axes)
    full = [jnp.broadcast_to(x, axes + s).reshape(n, *s) for x, s in zip(arrays, own)]
    return jax.tree.map(lambda x: x.reshape(*axes, *x.shape[1:]), jax.vmap(one)(*full))


def _transposed(bar: Any, *operands: Any, structure: Any, slots: int, places: int) -> list[Any]:
    _, (scale_dot, weights_dot, *arrays), table = _split(operands, structure)
    changes = [x.aval if ad.is_undefined_primal(x) else x for x in (scale_dot, weights_dot)]
    if isinstance(bar, ad.Zero):
        bars = tuple(map(ad.Zero, changes))
    else:
        bars = _cotangents(bar, changes, arrays, table)
    asked = (ad.is_undefined_primal(x) for x in (scale_dot, weights_dot))
    given = [x if ask else None for x, ask in zip(bars, asked)]
    return [None, *given, *[None] * (len(operands) - 3)]


def _cotangents(bar: Any, changes: Any, arrays: Any, table: Table) -> tuple[Any, ...]:
    """Those of the changes of the scales and of the weights."""
    axes, ranks = bar.shape[:-2], (2, *_RANKS[2:])

    def one(bar, bits, values, scale, weights):
        return weight_cotangents(bar, SpikeOutput(bits, values), scale, weights, table)

    if axes and all(x.ndim == 1 for x in (*changes, *arrays[2:])):
        return one(*_one_run(bar, *arrays[:2]), *arrays[2:])
    each = _over(one, axes, (bar, *arrays), ranks)
    return tuple(_summed_to(x, like.shape) for x, like in zip(each, changes))


def _one_run(bar: Any, bits: Any, values: Any) -> tuple[Any, Any, Any]:
    """Trials as one run, one after the other; between two of them nothing is released."""
    axes, (slots, places) = bar.shape[:-2], bar.shape[-2:]
    late = slots - bits.shape[-2]

    def joined(x: Any) -> Any:
        x = jnp.broadcast_to(x, (*axes, *x.shape[-2:]))
        silent = [(0, 0)] * len(axes) + [(0, late), (0, 0)]
        return jnp.pad(x, silent).reshape(whole, x.shape[-1])[: whole - late]

    whole = math.prod(axes) * slots
    return bar.reshape(whole, places), joined(bits), joined(values)


def _summed_to(x: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """The sum over the axes that an operand of this shape has not, or with length 1."""
    x = x.sum(range(x.ndim - len(shape)))
    short = [k for k, (n, want) in enumerate(zip(x.shape, shape)) if n != want]
    return x.sum(short, keepdims=True)


def _batched(operands: Any, dims: Any, *, structure: Any, **how: Any) -> tuple[Any, int]:
    like, arrays, leaves = operands[0], operands[1 : 1 + len(_RANKS)], operands[1 + len(_RANKS) :]
    if any(d is not None for d in dims[1 + len(_RANKS) :]):
        raise ValueError(REFUSED)
    if dims[0] is not None:
        like = jnp.sum(like, dims[0])
    new = [d is not None for d in dims[1 : 1 + len(_RANKS)]]
    arrays = [jnp.moveaxis(x, d, 0) if b else x for x, d, b in zip(arrays, dims[1:], new)]
    old = max(x.ndim - b - r for x, b, r in zip(arrays, new, _RANKS))
    arrays = [with_axes(x, b, r, old) for x, b, r in zip(arrays, new, _RANKS)]
    return _changed.bind(like, *arrays, *leaves, structure=structure, **how), 0


_changed.def_impl(lambda *operands, **how: jax.jit(functools.partial(_run, **how))(*operands))
ad.primitive_transposes[_changed] = _transposed
batching.primitive_batchers[_changed] = _batched
mlir.register_lowering(_changed, mlir.lower_fun(_run, multiple_results=False))
