"""`deliver` for CUDA, traced only where it is lowered for CUDA.

`lax.platform_dependent` traces every branch on every platform. The GPU branch is therefore
one primitive, whose lowering for CUDA traces the Pallas kernel: a CPU user does not
import Pallas, waits for nothing, and gets none of its errors.
"""

import functools
import logging
import warnings
from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import mlir

from ._released import Released

# Pathways with at least so many synapses run the Pallas kernel, smaller ones the reference.
# Not measured yet: `python -m benchmarks gpu` times both at several sizes.
PALLAS_FROM = 0

# Indices have 32 bits, those of the vector behind the last synapse too.
MOST_STORED = 2**31 - 2**16

_log = logging.getLogger("jaxneuro")
_deliver = Primitive("deliver_on_gpu")


def deliver_on_gpu(clear: bool, reference: Callable) -> Callable:
    """`deliver` as a call for CUDA; operands have their batch axes as `batched` gives them.

    Three versions, each tried if the one before is not lowered: the kernel with relaxed adds, the
    kernel with the public adds of JAX, and `reference`, which one log line reports.

    **Raises** `ValueError` when lowered for more than `MOST_STORED` stored synapses.
    """

    def run(ring, bits, values, step, scale, weights, table):
        leaves, structure = jax.tree.flatten(table)
        operands = (ring, bits, values, step, scale, weights, *leaves)
        return _deliver.bind(*operands, structure=structure, clear=clear, reference=reference)

    return run


@_deliver.def_abstract_eval
def _shape(ring: Any, *_: Any, **__: Any) -> Any:
    return ring


def _lower(ctx: Any, *operands: Any, structure: Any, clear: bool, reference: Callable) -> Any:
    _check_size(jax.tree.unflatten(structure, ctx.avals_in[6:]).n_stored)

    def kernel(ordered: bool, ring, bits, values, step, scale, weights, *leaves):
        from ._gpu_deliver import deliver_pallas

        table = jax.tree.unflatten(structure, leaves)
        released = Released.of_operands(bits, values)
        operands = ring, released, step, scale, weights, table
        return deliver_pallas(*operands, clear, ordered=ordered)

    def otherwise(ring, bits, values, step, scale, weights, *leaves):
        table = jax.tree.unflatten(structure, leaves)
        return reference(ring, bits, values, step, scale, weights, table)

    failed: Exception | None = None
    for ordered in (False, True):
        version = functools.partial(kernel, ordered)
        try:
            with warnings.catch_warnings():
                # JAX 0.11 warns at every lowering; a user cannot act on it.
                warnings.filterwarnings("ignore", "The Pallas Triton backend is deprecated")
                out = mlir.lower_fun(version, multiple_results=False)(ctx, *operands)
        except Exception as error:  # another JAX, or a GPU for which it lowers no Pallas
            failed = error
            continue
        if ordered:
            _log.info("adds on this GPU keep JAX's memory order, which is slower: %s", failed)
        return out
    _log.warning("no GPU kernel here, the much slower reference runs instead: %s", failed)
    return mlir.lower_fun(otherwise, multiple_results=False)(ctx, *operands)


def _check_size(n_stored: int) -> None:
    if n_stored > MOST_STORED:
        raise ValueError(
            f"on a GPU a pathway must have at most {MOST_STORED:,} stored synapses (its indices "
            f"have 32 bits); got {n_stored:,}. Use stored=False, run it on the CPU, or give half "
            "of its neurons a model that differs in a static field: they make a group, and a "
            "pathway, of their own"
        )


mlir.register_lowering(_deliver, _lower, platform="cuda")
