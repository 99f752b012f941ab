"""`deliver`, `learn` and `synaptic_input` for CUDA, traced only where they are lowered for it.

`lax.platform_dependent` traces every branch on every platform. The GPU branch of each is therefore
one primitive, whose lowering for CUDA traces the Pallas kernel: a CPU user does not
import Pallas, waits for nothing, and gets none of its errors.
"""

import functools
import logging
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from ..spec import InvalidValueError
from .call import over_batch
from .clock import Clock
from .rule_programs import RulePrograms
from .spike_output import SpikeOutput

# Indices have 32 bits, those of the vector behind the last synapse too.
MOST_STORED = 2**31 - 2**16

_log = logging.getLogger("jaxneuro")
_deliver, _learn = Primitive("deliver_on_gpu"), Primitive("learn_on_gpu")
_values = Primitive("value_cotangents_on_gpu")
_learn.multiple_results = True
_hashed = Primitive("hashed_input_on_gpu")
_HASHED_RANKS = (2, 0, 1, 2, 2, 1, 2, 1)  # without a batch


def deliver_on_gpu(clear: bool, reference: Callable) -> Callable:
    """`deliver` as a call for CUDA; operands have their batch axes as `batched` gives them.

    Three versions, each tried if the one before is not lowered: the kernel with relaxed adds, the
    kernel with the public adds of JAX, and `reference`, which one log line reports.

    Raises:
        InvalidValueError: when lowered for more than `MOST_STORED` stored synapses.
    """

    def run(*operands):
        *arrays, table = operands
        leaves, structure = jax.tree.flatten(table)
        operands = (*arrays, *leaves)
        return _deliver.bind(*operands, structure=structure, clear=clear, reference=reference)

    return run


@_deliver.def_abstract_eval
def _shape(ring: Any, *_: Any, **__: Any) -> Any:
    return ring


def _lower(ctx: Any, *operands: Any, structure: Any, clear: bool, reference: Callable) -> Any:
    _check_size(jax.tree.unflatten(structure, ctx.avals_in[7:]).n_stored)

    def kernel(ordered: bool, ring, bits, values, first, since, scale, weights, *leaves):
        from .gpu_deliver import deliver_pallas

        table = jax.tree.unflatten(structure, leaves)
        released = SpikeOutput.of_operands(bits, values)
        operands = ring, released, Clock(first, since), scale, weights, table
        return [deliver_pallas(*operands, clear, ordered=ordered)]

    def otherwise(*operands):
        return [reference(*operands[:7], jax.tree.unflatten(structure, operands[7:]))]

    return _first_lowered(ctx, operands, kernel, otherwise)


def values_on_gpu(n: int, reference: Callable) -> Callable:
    """`value_cotangents` of n sources as a call for CUDA, with the versions of `deliver_on_gpu`.

    It returns the cotangents of what was released; `reference` does likewise.
    """

    def run(*operands: Any) -> jax.Array:
        *arrays, table = operands
        leaves, structure = jax.tree.flatten(table)
        # Has the shape of the result, and the axes of a mesh over which it varies; a ring may have
        # no places.
        nothing = jnp.sum(0 * arrays[0][..., :1, :1], axis=(-2, -1))
        like = jnp.broadcast_to(nothing[..., None], (*arrays[0].shape[:-2], n))
        return _values.bind(like, *arrays, *leaves, structure=structure, reference=reference)

    return run


def _lower_values(ctx: Any, *operands: Any, structure: Any, reference: Callable) -> Any:
    _check_size(jax.tree.unflatten(structure, ctx.avals_in[7:]).n_stored)

    def kernel(ordered: bool, like, ring, counted, first, since, scale, weights, *leaves):
        from .gpu_cotangents import values_pallas

        table, n = jax.tree.unflatten(structure, leaves), like.shape[-1]
        operands = ring, counted, Clock(first, since), scale, weights, table
        return [values_pallas(*operands, n, ordered=ordered)]

    def otherwise(_, *operands):
        return [reference(*operands[:6], jax.tree.unflatten(structure, operands[6:]))]

    return _first_lowered(ctx, operands, kernel, otherwise)


def learn_on_gpu(
    programs: RulePrograms, clear: bool, changed: int, unpacked: Callable, reference: Callable
) -> Callable:
    """`learn` as a call for CUDA, with the versions and the limit of `deliver_on_gpu`.

    `unpacked` makes ring, synapses and inputs of the operands before the table, the first `changed`
    of which are returned.
    """

    def run(*operands: Any) -> Any:
        *arrays, table = operands
        leaves, structure = jax.tree.flatten(table)
        how = {"programs": programs, "clear": clear, "changed": changed, "unpacked": unpacked}
        out = _learn.bind(*arrays, *leaves, structure=structure, reference=reference, **how)
        return tuple(out)

    return run


@_learn.def_abstract_eval
def _shapes(*operands: Any, changed: int, **_: Any) -> Any:
    return operands[:changed]


def _lower_learn(
    ctx: Any,
    *operands: Any,
    structure: Any,
    programs: RulePrograms,
    clear: bool,
    changed: int,
    unpacked: Callable,
    reference: Callable,
) -> Any:
    n_arrays = len(operands) - structure.num_leaves
    _check_size(jax.tree.unflatten(structure, ctx.avals_in[n_arrays:]).n_stored)

    def given(operands: Any) -> tuple:
        return operands[:n_arrays], jax.tree.unflatten(structure, operands[n_arrays:])

    def kernel(ordered: bool, *operands: Any) -> Any:
        from .gpu_learn import learn_pallas

        arrays, table = given(operands)
        ring, synapses, learn_inputs = unpacked(arrays)
        operands = ring, synapses, learn_inputs, table, programs, clear
        ring, synapses = learn_pallas(*operands, ordered=ordered)
        return [ring, *synapses]

    def otherwise(*operands: Any) -> Any:
        arrays, table = given(operands)
        return list(reference(*arrays, table))

    return _first_lowered(ctx, operands, kernel, otherwise)


def hashed_on_gpu(
    sums: jax.Array, firing: Any, key: jax.Array, edges: Any, reference: Callable
) -> jax.Array:
    """What comes through a fibre of `Hashed` edges, as a call for CUDA, with the versions of
    `deliver_on_gpu`; `reference(like, firing, edges)`."""
    # Has the shape of the result, its batch, and the axes of a mesh over which it varies.
    like = sums + sum(x[(0,) * x.ndim].astype(jnp.uint32) for x in (*firing, key))
    n, p, kind = edges.n, edges.p, (type(firing), type(edges))
    return _hashed.bind(like, *firing, key, n=n, p=p, kind=kind, reference=reference)


@_values.def_abstract_eval
@_hashed.def_abstract_eval
def _like(like: Any, *_: Any, **__: Any) -> Any:
    return like


def _batch_hashed(operands: Any, axes: Any, **how: Any) -> Any:
    """All operands get the new axis, of length 1 where they do not vary."""
    mapped = (x[None] if k is None else jnp.moveaxis(x, k, 0) for x, k in zip(operands, axes))
    return _hashed.bind(*mapped, **how), 0


def _lower_hashed(
    ctx: Any, *operands: Any, n: int, p: float, kind: tuple, reference: Callable
) -> Any:
    def given(operands: Any) -> tuple[Any, Any]:
        *firing, key = operands
        return kind[0](*firing), kind[1](key, n, p)

    def kernel(ordered: bool, like: jax.Array, *operands: Any) -> list[jax.Array]:
        from .gpu_synaptic_input import hashed_pallas

        return [hashed_pallas(*given(operands), like.shape[:-2], ordered=ordered)]

    def otherwise(*operands: Any) -> list[jax.Array]:
        def one(like: jax.Array, *rest: Any) -> jax.Array:
            return reference(like, *given(rest[:-1]))

        return [over_batch(one, _HASHED_RANKS)(*operands, None)]

    return _first_lowered(ctx, operands, kernel, otherwise)


def _first_lowered(ctx: Any, operands: Any, kernel: Callable, otherwise: Callable) -> Any:
    """The first version that is lowered: `kernel(ordered, *operands)`, relaxed or ordered, or
    `otherwise(*operands)`; each returns a list."""
    failed: Exception | None = None
    for ordered in (False, True):
        version = functools.partial(kernel, ordered)
        try:
            with warnings.catch_warnings():
                # JAX 0.11 warns at every lowering; a user cannot act on it.
                warnings.filterwarnings("ignore", "The Pallas Triton backend is deprecated")
                out = mlir.lower_fun(version, multiple_results=True)(ctx, *operands)
        except Exception as error:  # another JAX, or a GPU for which it lowers no Pallas
            failed = error
            continue
        if ordered:
            _log.info("adds on this GPU keep JAX's memory order, which is slower: %s", failed)
        return out
    _log.warning("no GPU kernel here, the much slower reference runs instead: %s", failed)
    return mlir.lower_fun(otherwise, multiple_results=True)(ctx, *operands)


def _check_size(n_stored: int) -> None:
    if n_stored > MOST_STORED:
        # Its indices have 32 bits. Neurons of a model that differs in a static field make a group,
        # and pathways, of their own; stored=False needs no indices.
        must = f"at most {MOST_STORED:,} of a pathway on a GPU"
        raise InvalidValueError("pathway", "stored synapses", must, f"{n_stored:,}")


mlir.register_lowering(_deliver, _lower, platform="cuda")
mlir.register_lowering(_learn, _lower_learn, platform="cuda")
mlir.register_lowering(_values, _lower_values, platform="cuda")
batching.primitive_batchers[_hashed] = _batch_hashed
mlir.register_lowering(_hashed, _lower_hashed, platform="cuda")
