"""`deliver`: adds the rows of the sources that released something into a ring.

With r the release value of source i in step k, for each of its synapses (target j,
receptor q, weight w, delay d) in block b::

    ring[(k + d) mod slots, ring_place(q, j)] += r_i * scale_b * w

The cost is that of the sources with r != 0 times their fan-out. The sum of one place runs
over ascending sources, then blocks, then synapses, in every version on a CPU, on any number
of threads.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array, Float, Num

from .._arrays import AnyArray
from .call import batched, by_platform, native_call, over_batch
from .changed_weights import Change, arrivals_of_change
from .clock import Clock, Step
from .cotangents import value_cotangents
from .deliver_reference import clear_slot, deliver_reference, product_dtype
from .gpu import deliver_on_gpu
from .linear import linear, once
from .native import native_available
from .spike_output import SpikeOutput
from .table import Table

# Axes of ring, bits, values, step, scale and weights without a batch.
RANKS = (2, 1, 1, 0, 0, 1, 1)


def deliver(
    ring: Num[AnyArray, "slots places"],
    released: SpikeOutput,
    step: Step,
    scale: Float[AnyArray, " blocks"],
    weights: Float[AnyArray, " weights"],
    table: Table,
    clear: bool,
) -> Num[Array, "slots places"]:
    """`ring` after the delivery of what was released in `step`; see the module docstring.

    `ring` (slots, places), float32 or float64, or int32: then products are rounded to whole
    numbers, and `scale` is in units of that quantum; `step` int32 (), or a `Clock`; `scale`
    (blocks,); `weights` of the sections that have individual ones, bfloat16 or wider. With `clear`
    the slot of `step` itself, which has been read, is set to 0 first. Delays are 1 to slots - 1, or
    1 where there is one slot (`ring_slots`).

    The gradient is that of this linear map: `_kernels/cotangents.py`. `vmap` shares the table.

    Raises:
        InvalidValueError: for a batched table, and for the gradient of a ring of integers.
    """
    return _deliver(ring, released, Clock.of(step), scale, weights, table, clear)


@functools.partial(jax.custom_jvp, nondiff_argnums=(6,))
def _deliver(ring, released, step, scale, weights, table, clear):
    call = _batched(clear, native_available())
    operands = released.operands(product_dtype(ring))
    return call(ring, *operands, *step, scale, weights, table)


@functools.partial(_deliver.defjvp, symbolic_zeros=True)
def _slope(clear, primals, tangents):
    ring, released, step, scale, weights, table = primals
    if jnp.issubdtype(ring.dtype, jnp.integer):
        raise ValueError(
            "a network built with deterministic=True has no gradient: its arrivals are whole "
            "numbers. Build it without to differentiate it"
        )
    ring, released, scale, weights = once((ring, released, scale, weights))
    ring_dot, released_dot, _, *own_dots, _ = tangents
    dot = _of_ring_and_values(
        _in_full(ring_dot, ring),
        released_dot.values,
        released,
        *(step, scale, weights, table),
        clear,
    )
    if not all(isinstance(x, SymbolicZero) for x in own_dots):
        change = Change(*map(_in_full, own_dots, (scale, weights)))
        now = jax.tree.map(lambda x: x[None], released)
        more = arrivals_of_change(change, now, scale, weights, table, *ring.shape)
        dot = dot + jnp.roll(more, 1 + step.now, axis=0)
    return _deliver(ring, released, step, scale, weights, table, clear), dot


def _in_full(dot: Any, x: jax.Array) -> jax.Array:
    return jnp.zeros_like(x) if isinstance(dot, SymbolicZero) else dot


def _of_ring_and_values(ring_dot, values_dot, released, step, scale, weights, table, clear):
    """The tangent of a ring by those of the ring before and of what was released."""
    if values_dot is None or isinstance(values_dot, SymbolicZero):
        return clear_slot(ring_dot, step.now) if clear else ring_dot
    n = values_dot.shape[0]

    def of(counted, step, scale, weights, table, ring, values):
        return [_deliver(ring, SpikeOutput(counted, values), step, scale, weights, table, clear)]

    def transpose(counted, step, scale, weights, table, bar):
        bar, scale, weights = once((bar, scale, weights))
        return value_cotangents(bar, counted, step, scale, weights, table, n, clear)

    fixed = released.slopes(), step, scale, weights, table
    return linear(of, transpose, fixed, (ring_dot, values_dot.astype(ring_dot.dtype)))[0]


@functools.cache
def _batched(clear: bool, native: bool) -> Any:
    """The call for one network or for a batch of them over one table."""
    del native  # another key: what was traced without the native library stays without it

    def call(*operands):
        table = operands[-1]
        reference = over_batch(_reference(clear), RANKS)
        beyond = native_available() and table.n_stored >= 2**31  # indices of the reference
        return by_platform(
            *operands,
            default=None if beyond else reference,
            cpu=_native(clear),
            cuda=deliver_on_gpu(clear, reference),
        )

    return batched(
        call,
        RANKS,
        "deliver: the table of connections must not be batched by vmap; map over the state, the "
        "gains or the weights and share one network",
    )


def _reference(clear: bool) -> Any:
    def one(ring, bits, values, first, since, scale, weights, table):
        released = SpikeOutput.of_operands(bits, values)
        return deliver_reference(ring, released, first + since, scale, weights, table, clear)

    return one


def _native(clear: bool) -> Any:
    def run(ring, bits, values, first, since, scale, weights, table):
        dtype, step = product_dtype(ring), first + since
        return native_call(
            "jaxneuro_deliver",
            (ring, bits, values.astype(dtype), step, scale.astype(dtype), weights, *table.columns),
            ring.shape,
            ring.dtype,
            in_place=0,
            n_targets=table.n_targets,
            clear=clear,
        )

    return run
