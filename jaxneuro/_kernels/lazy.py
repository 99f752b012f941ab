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

_lazy = Primitive("lazily_lowered")
_lazy.multiple_results = True


def lazily_lowered(f: Callable, like: Callable) -> Callable:
    """`f`, traced when it is lowered or differentiated; `like` has results of the same shapes."""

    def run(*operands: Any) -> Any:
        leaves, structure = jax.tree.flatten(operands)
        out = jax.make_jaxpr(like, return_shape=True)(*operands)[1]
        results = _lazy.bind(*leaves, f=_flat(f, structure), like=_flat(like, structure))
        return jax.tree.unflatten(jax.tree.structure(out), results)

    return run


def _flat(f: Callable, structure: Any) -> Callable:
    return lambda *leaves: jax.tree.leaves(f(*jax.tree.unflatten(structure, leaves)))


@_lazy.def_impl
def _now(*operands: Any, f: Callable, like: Callable) -> list:
    del like
    return f(*operands)


@_lazy.def_abstract_eval
def _shapes(*operands: Any, f: Callable, like: Callable) -> tuple:
    del f
    return tuple(jax.make_jaxpr(like)(*operands).out_avals)


def _batch(operands: Any, axes: Any, *, f: Callable, like: Callable) -> tuple:
    mapped = [jax.vmap(x, in_axes=tuple(axes)) for x in (f, like)]
    results = _lazy.bind(*operands, f=mapped[0], like=mapped[1])
    return results, (0,) * len(results)


def _slope(primals: Any, tangents: Any, *, f: Callable, like: Callable) -> tuple:
    del like
    return jax.jvp(f, tuple(primals), tuple(map(ad.instantiate_zeros, tangents)))


def _lower(ctx: Any, *operands: Any, f: Callable, like: Callable) -> Any:
    del like
    return mlir.lower_fun(f, multiple_results=True)(ctx, *operands)


batching.primitive_batchers[_lazy] = _batch
ad.primitive_jvps[_lazy] = _slope
mlir.register_lowering(_lazy, _lower)
