"""Adding a vector into an array on a GPU, lanes of many programs at the same places.

Pallas' own `atomic_add` orders memory (acquire and release): around every vector ptxas then
puts a fence of the whole GPU and throws away the L1 cache (MEMBAR.ALL.GPU, CCTL.IVALL). A
sum needs no order, so the same operation is lowered here as a relaxed one, a single RED
instruction. It also takes the kind of add from the elements: for a vector of int32, jax
0.10 and 0.11 write a float add. Where JAX's insides have moved, `add_at` falls back to what
JAX offers: the same sums, slower.
"""

import logging
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.pallas import triton
from jax.ref import addupdate

_log = logging.getLogger("jaxneuro")


def add_at(ref: Any, index: tuple, x: jax.Array, mask: jax.Array, interpret: bool) -> None:
    """`ref[index] += x` where `mask`, each add atomic, in no order.

    `index` is any number of scalars and two int32 vectors. Interpreted, a program is alone: all
    that the scalars leave is read, added to and written.
    """
    *scalars, slot, place = index
    vectors = [slot, place]
    if interpret:
        x = jnp.where(mask, x, jnp.zeros_like(x))
        whole = (*scalars, slice(None), slice(None))
        ref[whole] = ref[whole].at[slot, place].add(x)
    elif _relaxed_add is not None:
        _relaxed_add(ref, index, x, mask)
    elif jnp.issubdtype(x.dtype, jnp.integer):
        # This add has no mask: the other lanes add 0 where one of the masked ones may add.
        vectors = [jnp.where(mask, v, jnp.max(jnp.where(mask, v, 0))) for v in vectors]
        addupdate(ref, (*scalars, *vectors), jnp.where(mask, x, jnp.zeros_like(x)))
    else:
        triton.atomic_add(ref, index, x, mask=mask)


def _make_relaxed_add() -> Any:
    from jax._src.lib.triton import dialect
    from jax._src.pallas.triton import lowering, primitives
    from jax._src.state import primitives as state
    from jax.extend.core import Primitive

    relaxed_add = Primitive("relaxed_add")
    kind = primitives.AtomicOpType.ADD

    @relaxed_add.def_effectful_abstract_eval
    def _(*avals: Any, args_tree: Any) -> Any:
        return primitives._atomic_abstract_eval(*avals, args_tree=args_tree, atomic_type=kind)

    @lowering.register_lowering(relaxed_add)
    def _(ctx: Any, *args: Any, args_tree: Any) -> Any:
        pointer, (indexer,), x, mask = args_tree.unflatten(args)
        pointer = lowering._compute_pointers_from_indices(pointer, ctx.block_infos[0], indexer)
        integer = jnp.issubdtype(ctx.avals_in[0].dtype, jnp.integer)
        add = dialect.RMWOp.ADD if integer else dialect.RMWOp.FADD
        order = dialect.MemSemantic.RELAXED
        return lowering._atomic_rmw(add, pointer, x, mask=mask, semantic=order)

    def add(ref: Any, index: tuple, x: jax.Array, mask: jax.Array) -> None:
        array, transforms = state.get_ref_and_transforms(ref, index, "relaxed_add")
        args, args_tree = jax.tree.flatten((array, transforms, x, mask))
        relaxed_add.bind(*args, args_tree=args_tree)

    return add


try:
    _relaxed_add = _make_relaxed_add()
except Exception as error:  # another JAX, with other insides
    _log.info("atomic adds on a GPU keep JAX's memory order, which is slower: %s", error)
    _relaxed_add = None
