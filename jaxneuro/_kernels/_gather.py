"""`gather`: what each row of a table adds up of the values of its sources.

With sources s_0 <= s_1 <= ... of row i and weights w, or 1 for all::

    out[i] = sum_k w[i, k] * values[s_k]

The sum begins at 0 and runs over ascending k in every version, on any number of threads: a row is
added up by one thread, or lane, and nothing is added to by two. The cost is that of all entries, in
every call; `deliver` is for what few sources release.
"""

import functools
import logging
import warnings
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import mlir

from ._call import batched, by_platform, native_call, over_batch
from ._gather_reference import gather_gradient, gather_reference, sums_of_nothing
from ._gather_table import GatherTable
from ._native import native_available

# Axes of values and weights without a batch.
RANKS = (1, 1)

_log = logging.getLogger("jaxneuro")
_on_gpu = Primitive("gather_on_gpu")
_reference = over_batch(gather_reference, RANKS)


def gather(values: jax.Array, weights: jax.Array, table: GatherTable) -> jax.Array:
    """The weighted sum of the values of each row's sources; see the module docstring.

    **Step** `values` (sources,) float32 or float64; `weights` (entries,) in the order of the table,
    what stands in padding is not read, or (0,): then all are 1. Returns (rows,) in the dtype of the
    values; 0 for a row without sources.

    The gradient is that of this bilinear map; `vmap` shares the table.

    **Raises** `ValueError` for another shape or dtype, and for a batched table.
    """
    if values.shape != (table.n_sources,) or values.dtype not in (jnp.float32, jnp.float64):
        raise ValueError(
            f"values must be float32 or float64 ({table.n_sources},), one of each source; got "
            f"{values.dtype}{list(values.shape)}. Use astype, or jax.vmap for a batch"
        )
    if weights.shape not in ((0,), table.sources.shape):
        raise ValueError(
            f"weights must be ({table.sources.shape[0]},), as make_gather_table returns them, or "
            f"(0,) for 1 everywhere; got {list(weights.shape)}. Use jax.vmap for a batch"
        )
    return _gather(values, weights.astype(values.dtype), table)


@jax.custom_vjp
def _gather(values, weights, table):
    return _batched(native_available())(values, weights, table)


def _forward(values, weights, table):
    return _gather(values, weights, table), (values, weights, table)


def _backward(residuals, bar):
    return (*gather_gradient(bar, *residuals), None)


_gather.defvjp(_forward, _backward)


@functools.cache
def _batched(native: bool) -> Any:
    """The call for one network or for a batch of them over one table."""
    del native  # another key: what was traced without the native library stays without it

    def call(values, weights, table):
        if table.n_entries == 0:
            return sums_of_nothing(values, weights, table)
        versions = {"cpu": _native, "cuda": _cuda}
        return by_platform(values, weights, table, default=_reference, **versions)

    return batched(
        call,
        RANKS,
        "gather: the table of connections must not be batched by vmap; map over the values or the "
        "weights and share one table",
    )


def _native(values: jax.Array, weights: jax.Array, table: GatherTable) -> jax.Array:
    operands = values, weights, table.starts, table.sources, table.runs, table.counts
    shape = (*values.shape[:-1], table.n_rows)
    return native_call("jaxneuro_gather", operands, shape, values.dtype)


def _cuda(values: jax.Array, weights: jax.Array, table: GatherTable) -> jax.Array:
    # Says the shape of the result, and over which axes of a mesh it varies.
    like = sums_of_nothing(values, weights, table)
    leaves, structure = jax.tree.flatten(table)
    return _on_gpu.bind(like, values, weights, *leaves, structure=structure)


@_on_gpu.def_abstract_eval
def _shape(like: Any, *_: Any, **__: Any) -> Any:
    return like


def _lower(ctx: Any, *operands: Any, structure: Any) -> Any:
    def kernel(_: Any, values: jax.Array, weights: jax.Array, *leaves: jax.Array) -> list:
        from ._gpu_gather import gather_pallas

        return [gather_pallas(values, weights, jax.tree.unflatten(structure, leaves))]

    def otherwise(_: Any, values: jax.Array, weights: jax.Array, *leaves: jax.Array) -> list:
        return [_reference(values, weights, jax.tree.unflatten(structure, leaves))]

    try:
        with warnings.catch_warnings():
            # JAX 0.11 warns at every lowering; a user cannot act on it.
            warnings.filterwarnings("ignore", "The Pallas Triton backend is deprecated")
            return mlir.lower_fun(kernel, multiple_results=True)(ctx, *operands)
    except Exception as error:  # another JAX, or a GPU for which it lowers no Pallas
        _log.warning("no GPU kernel here, the slower reference runs instead: %s", error)
    return mlir.lower_fun(otherwise, multiple_results=True)(ctx, *operands)


mlir.register_lowering(_on_gpu, _lower, platform="cuda")
