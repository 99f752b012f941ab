"""Adding a vector into an array on a GPU, lanes of many programs at the same places.

Pallas' own `atomic_add` orders memory (acquire and release): around every vector ptxas then
puts a fence of the whole GPU and throws away the L1 cache (MEMBAR.ALL.GPU, CCTL.IVALL). A
sum needs no order. `add_relaxed` is the same operation, lowered by JAX's own rule and then
marked as relaxed, so that it becomes a single RED instruction. This needs two names of JAX's
private modules. If they, or their results, have changed, it raises, and `deliver` is lowered
again with `add_ordered`, which uses only public names: the same sums, slower.

Every add here is `ref[index] += x` where `mask`, in no order of the lanes; `index` is any number
of scalars and two int32 vectors.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.pallas import triton
from jax.extend.core import Primitive
from jax.ref import addupdate


def add_alone(ref: Any, index: tuple, x: jax.Array, mask: jax.Array) -> None:
    """For interpreting, where a program is alone: reads and writes all that the scalars leave."""
    *scalars, slot, place = index
    x = jnp.where(mask, x, jnp.zeros_like(x))
    whole = (*scalars, slice(None), slice(None))
    ref[whole] = ref[whole].at[slot, place].add(x)


def add_ordered(ref: Any, index: tuple, x: jax.Array, mask: jax.Array) -> None:
    """Each add atomic, in JAX's memory order."""
    if not jnp.issubdtype(x.dtype, jnp.integer):
        triton.atomic_add(ref, index, x, mask=mask)
        return
    # jax 0.10 and 0.11 lower `atomic_add` of a vector of integers as an add of floats. This
    # add has no mask: the other lanes add 0 where one of the masked ones may add.
    *scalars, slot, place = index
    vectors = (jnp.where(mask, v, jnp.max(jnp.where(mask, v, 0))) for v in (slot, place))
    addupdate(ref, (*scalars, *vectors), jnp.where(mask, x, jnp.zeros_like(x)))


def add_relaxed(ref: Any, index: tuple, x: jax.Array, mask: jax.Array) -> None:
    """Each add atomic, in no memory order; raises if JAX's internals have changed."""
    add, parameters = _relaxed_add()
    view = ref.at[index]
    args, args_tree = jax.tree.flatten((view.ref, view.transforms, x, mask))
    add.bind(*args, args_tree=args_tree, **parameters)


@functools.cache
def _relaxed_add() -> tuple[Primitive, dict[str, Any]]:
    """What `atomic_add` binds, under another name, and the parameters that make it an add."""
    from jax._src.pallas.triton.lowering import register_lowering, triton_lowering_rules
    from jax._src.pallas.triton.primitives import AtomicOpType, atomic_rmw_p

    lower_ordered = triton_lowering_rules[atomic_rmw_p]
    relaxed_add = Primitive("relaxed_add")
    relaxed_add.def_effectful_abstract_eval(atomic_rmw_p.abstract_eval)

    @register_lowering(relaxed_add)
    def _(ctx: Any, *args: Any, **parameters: Any) -> Any:
        before = lower_ordered(ctx, *args, **parameters)
        _relax(before.owner, jnp.issubdtype(ctx.avals_in[0].dtype, jnp.integer))
        return before

    return relaxed_add, {"atomic_type": AtomicOpType.ADD}


def _relax(operation: Any, integer: bool) -> None:
    """Takes the memory order from one `tt.atomic_rmw`, and makes integers add as integers."""
    from jaxlib.triton.dialect import MemSemantic, RMWOp

    words = {"sem": MemSemantic.RELAXED, "atomic_rmw_op": RMWOp.ADD if integer else RMWOp.FADD}
    for name, word in words.items():
        now = operation.attributes[name]
        operation.attributes[name] = type(now).get(now.type, int(word))
