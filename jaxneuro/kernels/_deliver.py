"""`deliver`: adds the rows of the sources that released something into a ring.

With r the release value of source i in step k, for each of its synapses (target j,
receptor q, weight w, delay d) in block b::

    ring[(k + d) mod slots, q, j] += r_i * scale_b * w

The cost is that of the sources with r != 0 times their fan-out. The sum of one place runs
over ascending sources, then blocks, then synapses, in every version on a CPU, on any number
of threads.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ._gpu import PALLAS_FROM, deliver_on_gpu
from ._native import native_available
from ._reference import deliver_gradient, deliver_reference, product_dtype
from ._table import Table

# Axes of ring, released, step, scale and weights without a batch axis.
_RANKS = (3, 1, 0, 1, 1)


def deliver(
    ring: jax.Array,
    released: jax.Array,
    step: jax.Array,
    scale: jax.Array,
    weights: jax.Array,
    table: Table,
    clear: bool,
) -> jax.Array:
    """`ring` after the delivery of what was released in `step`; see the module docstring.

    **Step** `ring` (slots, receptors, targets), float32 or float64, or int32: then products
    are rounded to whole numbers, and `scale` is in units of that quantum; `released` uint8
    spike bits from `pack` or float values (sources,); `step` int32 (); `scale` (blocks,);
    `weights` of the sections that have individual ones, bfloat16 or wider. With `clear` the
    slot of `step` itself, which has been handed out, is set to 0 first. Delays are 1 to
    slots - 1.

    The gradient is that of this linear map (cost: all synapses); `vmap` shares the table.

    **Raises** `ValueError` for a batched table, and for the gradient of a ring of integers.

    **Source** the house's own: design sections 4 and 5.
    """
    return _deliver(ring, released, step, scale, weights, table, clear)


@functools.partial(jax.custom_vjp, nondiff_argnums=(6,))
def _deliver(ring, released, step, scale, weights, table, clear):
    call = _batchable(clear, native_available())
    return call(ring, released, step, scale, weights, table)


def _forward(ring, released, step, scale, weights, table, clear):
    if jnp.issubdtype(ring.dtype, jnp.integer):
        raise ValueError(
            "a network built with deterministic=True has no gradient: its arrivals are whole "
            "numbers. Build it without to differentiate it"
        )
    out = _deliver(ring, released, step, scale, weights, table, clear)
    return out, (released, step, scale, weights, table)


def _backward(clear, residuals, ring_bar):
    released, step, scale, weights, table = residuals
    ring_bar, released_bar, scale_bar, weights_bar = deliver_gradient(
        ring_bar, released, step, scale, weights, table, clear
    )
    return ring_bar, released_bar, None, scale_bar, weights_bar, None


_deliver.defvjp(_forward, _backward)


@functools.cache
def _batchable(clear: bool, native: bool) -> Any:
    """The call for one network or for a batch of them over one table.

    Each operand may have one leading batch axis. `vmap` folds its axis into that one,
    so that a batch is one call; the ring, which is updated in place, always has it.
    """

    @jax.custom_batching.custom_vmap
    def call(ring, released, step, scale, weights, table):
        operands = (ring, released, step, scale, weights, table)
        versions = {"default": _reference(clear)}
        if native:
            versions["cpu"] = _native(clear)
            if table.n_stored >= 2**31:  # beyond the reference, which every platform traces
                del versions["default"]
        if table.n_synapses >= PALLAS_FROM:
            versions["cuda"] = deliver_on_gpu(clear, _reference(clear))
        return lax.platform_dependent(*operands, **versions)

    @call.def_vmap
    def rule(size, batched, ring, released, step, scale, weights, table):
        if any(jax.tree.leaves(batched[5])):
            raise ValueError(
                "deliver: the table of connections must not be batched by vmap; map over the "
                "state, the gains or the weights and share one network"
            )
        operands = (ring, released, step, scale, weights)
        inner = next(
            (x.shape[b] for x, b, r in zip(operands, batched, _RANKS) if x.ndim - b > r), 1
        )
        folded = [
            _fold(x, b, r, size, inner, always=i == 0)
            for i, (x, b, r) in enumerate(zip(operands, batched, _RANKS))
        ]
        out = call(*folded, table)
        was_batched = ring.ndim - batched[0] > _RANKS[0]
        shape = (size, inner) if was_batched else (size,)
        return out.reshape(shape + out.shape[1:]), True

    return call


def _fold(x, new: bool, rank: int, size: int, inner: int, always: bool):
    """`x` with the new batch axis (if any) folded into the one it may have."""
    old = x.ndim - new > rank
    if not (new or old or always):
        return x
    x = x if new else x[None]
    x = x if old else x[:, None]
    x = jnp.broadcast_to(x, (size, inner, *x.shape[2:]))
    return x.reshape((size * inner, *x.shape[2:]))


def _native(clear: bool):
    def run(ring, released, step, scale, weights, table):
        call = jax.ffi.ffi_call(
            "jaxneuro_deliver",
            jax.ShapeDtypeStruct(ring.shape, ring.dtype),
            input_output_aliases={0: 0},
        )
        dtype = product_dtype(ring)
        if released.dtype != jnp.uint8:
            released = released.astype(dtype)
        return call(
            ring,
            released,
            step,
            scale.astype(dtype),
            weights,
            table.sections,
            table.pointers,
            table.targets,
            table.tags,
            table.delays,
            table.block_offset,
            table.block_delay,
            table.block_span,
            table.draws,
            table.draw_tables,
            clear=clear,
        )

    return run


def _reference(clear: bool):
    one = functools.partial(deliver_reference, clear=clear)

    def run(ring, released, step, scale, weights, table):
        operands = (ring, released, step, scale, weights)
        axes = tuple(0 if x.ndim > r else None for x, r in zip(operands, _RANKS))
        if axes[0] is None:
            return one(*operands, table)
        return jax.vmap(one, in_axes=(*axes, None))(*operands, table)

    return run
