"""The transposes of `deliver`, which is linear in what sources release, in weights and in scales.

A delivery adds `r scale_b w` at a place of the ring; y is the cotangent of that place. So

* the cotangent of r is the sum of `scale_b w y` over the row of its source. It is needed in every
  step, of the sources whose r has a derivative there: `value_cotangents`.
* The cotangent of w is the sum of `r scale_b y` over the steps, that of `scale_b` the sum of
  `r w y` over the steps and the synapses of the block. They are needed once, after the loop:
  `weight_cotangents`.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, UInt8

from .._arrays import AnyArray
from .call import batched, by_platform, native_update, over_batch
from .clock import Clock
from .deliver_reference import clear_slot, cleared, deliver_gradient
from .gpu import values_on_gpu
from .native import native_available
from .spike_output import SpikeOutput
from .table import Table

REFUSED = (
    "the gradient of deliver: the table of connections must not be batched by vmap; map over the "
    "state, the gains or the weights and share one network"
)
# Axes without a batch: of ring, counted, step (two numbers), scale and weights;
_VALUE_RANKS = (2, 1, 0, 0, 1, 1)
# of arrived, bits, values, scale and weights.
_WEIGHT_RANKS = (2, 2, 2, 1, 1)


def value_cotangents(
    ring: Float[AnyArray, "slots places"],
    counted: UInt8[AnyArray, " bytes"],
    step: Clock,
    scale: Float[AnyArray, " blocks"],
    weights: Float[AnyArray, " weights"],
    table: Table,
    n: int,
    clear: bool,
) -> tuple[Float[Array, "slots places"], Float[Array, " n"]]:
    """The cotangents of a ring before the delivery of `step`, and of what n sources released.

    `ring` is the cotangent of the ring after it; `counted` has a bit for each source whose
    cotangent is needed, that of the others is 0. With `clear` the delivery emptied the slot
    of `step`.
    """
    call = _of_values(n, clear, native_available())
    return call(ring, counted, *step, scale, weights, table)


def weight_cotangents(
    arrived: Float[AnyArray, "slots places"],
    released: SpikeOutput,
    scale: Float[AnyArray, " blocks"],
    weights: Float[AnyArray, " weights"],
    table: Table,
) -> tuple[Float[Array, " blocks"], Float[Array, " weights"]]:
    """The cotangents of scales and weights after some steps.

    `released` is what was delivered in each of them, (steps, ...). `arrived` has the cotangents of
    what arrived: what step k delivers after a delay is in slot `k + delay - 1`. So there are as
    many slots as steps, and more for what arrives after the last of them.
    """
    values = released.values
    if values is None:
        values = jnp.zeros((*released.bits.shape[:-1], 0), arrived.dtype)
    values = values.astype(arrived.dtype)
    call = _of_weights(native_available())
    return call(arrived, released.bits, values, scale.astype(arrived.dtype), weights, table)


def value_reference(
    ring: Any, counted: Any, step: Any, scale: Any, weights: Any, table: Table, n: int, clear: bool
) -> tuple[jax.Array, jax.Array]:
    """`value_cotangents` in `jnp`, which visits every synapse."""
    released = SpikeOutput(counted)
    bar = deliver_gradient(ring, released, step, scale, weights, table)[0]
    counts = released.dense(ring.dtype)[:n] != 0
    return clear_slot(ring, step) if clear else ring, jnp.where(counts, bar[:n], 0)


def weight_reference(
    arrived: Any, bits: Any, values: Any, scale: Any, weights: Any, table: Table
) -> tuple[jax.Array, jax.Array]:
    """`weight_cotangents` in `jnp`, which visits every synapse in every step."""

    def add(k: Any, bars: Any) -> Any:
        released = SpikeOutput.of_operands(bits[k], values[k])
        more = deliver_gradient(arrived, released, k - 1, scale, weights, table)[1:]
        return jax.tree.map(lambda a, b: a + b, bars, more)

    start = jnp.zeros(scale.shape, arrived.dtype), jnp.zeros(weights.shape, arrived.dtype)
    return lax.fori_loop(0, bits.shape[0], add, start)


@functools.cache
def _of_values(n: int, clear: bool, native: bool) -> Any:
    """The call for one network or for a batch of them over one table."""
    del native  # another key: what was traced without the native library stays without it

    def reference(ring, counted, first, since, scale, weights, table):
        return value_reference(ring, counted, first + since, scale, weights, table, n, clear)

    def run(ring, counted, first, since, scale, weights, table):
        return native_update(
            "jaxneuro_value_cotangents",
            (ring, counted, first + since, scale.astype(ring.dtype), weights, *table.columns),
            1,
            (jax.ShapeDtypeStruct((*ring.shape[:-2], n), ring.dtype),),
            n_targets=table.n_targets,
            clear=clear,
        )

    def cuda(ring, counted, first, since, scale, weights, table):
        by_source = over_batch(lambda *x: reference(*x)[1], _VALUE_RANKS)
        arrays = ring, counted, first, since, scale.astype(ring.dtype), weights
        values = values_on_gpu(n, by_source)(*arrays, table)
        return cleared(ring, Clock(first, since)) if clear else ring, values

    def call(*operands):
        default = over_batch(reference, _VALUE_RANKS)
        return by_platform(*operands, default=default, cpu=run, cuda=cuda)

    return batched(call, _VALUE_RANKS, REFUSED, made=1)


@functools.cache
def _of_weights(native: bool) -> Any:
    """The call for one network or for a batch of them over one table."""
    del native

    def run(arrived, bits, values, scale, weights, table):
        made = [
            jax.ShapeDtypeStruct((*arrived.shape[:-2], x.shape[-1]), arrived.dtype)
            for x in (scale, weights)
        ]
        return native_update(
            "jaxneuro_weight_cotangents",
            (arrived, bits, values, scale, weights, *table.columns),
            0,
            made,
            n_targets=table.n_targets,
            longest=arrived.shape[-2] - bits.shape[-2] + 1,
        )

    def call(*operands):
        return by_platform(*operands, default=over_batch(weight_reference, _WEIGHT_RANKS), cpu=run)

    return batched(call, _WEIGHT_RANKS, REFUSED, made=1)
