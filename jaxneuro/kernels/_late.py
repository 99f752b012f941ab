"""Versions of a kernel that are traced only where they are lowered.

`lax.platform_dependent` traces every branch on every platform. The reference in `jnp` of a kernel
with a native version is by far its longest branch, and a CPU never runs it: it is one primitive
here, whose lowering traces it.
"""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

_late = Primitive("late")
_late.multiple_results = True


def late(f: Callable, like: Callable) -> Callable:
    """`f`, traced when it is lowered or differentiated; `like` has results of the same shapes."""

    def run(*operands: Any) -> Any:
        leaves, structure = jax.tree.flatten(operands)
        traced, out = jax.make_jaxpr(like, return_shape=True)(*operands)

        def flat(*leaves: Any) -> list:
            return jax.tree.leaves(f(*jax.tree.unflatten(structure, leaves)))

        results = _late.bind(*leaves, f=flat, shapes=tuple(traced.out_avals))
        return jax.tree.unflatten(jax.tree.structure(out), results)

    return run


@_late.def_impl
def _now(*operands: Any, f: Callable, shapes: tuple) -> list:
    del shapes
    return f(*operands)


@_late.def_abstract_eval
def _shapes(*operands: Any, f: Callable, shapes: tuple) -> tuple:
    del operands, f
    return shapes


def _batch(operands: Any, axes: Any, *, f: Callable, shapes: tuple) -> tuple:
    mapped = jax.vmap(f, in_axes=tuple(axes))
    batch = tuple(jax.make_jaxpr(mapped)(*operands).out_avals)
    return _late.bind(*operands, f=mapped, shapes=batch), (0,) * len(shapes)


def _slope(primals: Any, tangents: Any, *, f: Callable, shapes: tuple) -> tuple:
    del shapes
    return jax.jvp(f, tuple(primals), tuple(map(ad.instantiate_zeros, tangents)))


def _lower(ctx: Any, *operands: Any, f: Callable, shapes: tuple) -> Any:
    del shapes
    return mlir.lower_fun(f, multiple_results=True)(ctx, *operands)


batching.primitive_batchers[_late] = _batch
ad.primitive_jvps[_late] = _slope
mlir.register_lowering(_late, _lower)
