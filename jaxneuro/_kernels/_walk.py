"""`walk_or_loop`: a loop over time steps that becomes one launch where it is lowered for CUDA.

As in `_gpu`, the branch for CUDA is one primitive, whose lowering traces the kernel: a CPU user
does not import Pallas, waits for nothing and runs the loop itself. What cannot be
walked is found while lowering, and the loop is lowered instead.
"""

import logging
import warnings
from collections.abc import Callable
from typing import Any

import jax
from jax import lax
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Primitive, jaxpr_as_fun
from jax.interpreters import batching, mlir

_log = logging.getLogger("jaxneuro")
_walk = Primitive("walk_on_gpu")
_walk.multiple_results = True


class UnwalkableError(Exception):
    """The loop cannot become one launch; the text says why."""


def walk_or_loop(walked: Callable, loop: Callable, *operands: Any) -> Any:
    """`loop(*operands)`, or, lowered for CUDA, `walked(*operands)`, which returns the same.

    Both are functions of pytrees of arrays that close over no traced value; `walked` may
    raise anything. Derivatives, and batches that the kernel does not take, are those of
    the loop.
    """
    closed, shapes = jax.make_jaxpr(loop, return_shape=True)(*operands)
    leaves, tree = jax.tree.flatten(operands)
    plain = jaxpr_as_fun(closed)

    def special(*leaves: Any) -> Any:
        return jax.tree.leaves(walked(*jax.tree.unflatten(tree, leaves)))

    out = _either(special, plain, tuple(closed.out_avals))(*leaves)
    return jax.tree.unflatten(jax.tree.structure(shapes), out)


def _either(special: Callable, plain: Callable, avals: tuple) -> Callable:
    def on_gpu(*leaves: Any) -> Any:
        return _walk.bind(*leaves, special=special, plain=plain, avals=avals)

    @jax.custom_jvp
    def either(*leaves: Any) -> Any:
        return lax.platform_dependent(*leaves, cuda=on_gpu, default=plain)

    def jvp(primals: Any, tangents: Any) -> Any:
        # Only what is differentiated: a tangent of zeros would cost as much as any.
        moving = [k for k, t in enumerate(tangents) if not isinstance(t, SymbolicZero)]

        def of(*values: Any) -> Any:
            given = dict(zip(moving, values))
            return plain(*(given.get(k, x) for k, x in enumerate(primals)))

        return jax.jvp(of, [primals[k] for k in moving], [tangents[k] for k in moving])

    either.defjvp(jvp, symbolic_zeros=True)
    return either


@_walk.def_abstract_eval
def _shapes(*_: Any, avals: tuple, **__: Any) -> Any:
    return avals


def _batch(operands: Any, axes: Any, *, special: Any, plain: Any, avals: tuple) -> Any:
    specials, plains = (jax.vmap(f, tuple(axes)) for f in (special, plain))
    closed = jax.make_jaxpr(plains)(*operands)
    avals = tuple(closed.out_avals)
    out = _walk.bind(*operands, special=specials, plain=plains, avals=avals)
    return out, [0] * len(out)


def _lower(ctx: Any, *operands: Any, special: Any, plain: Any, avals: tuple) -> Any:
    try:
        with warnings.catch_warnings():
            # JAX 0.11 warns at every lowering; a user cannot act on it.
            warnings.filterwarnings("ignore", "The Pallas Triton backend is deprecated")
            return mlir.lower_fun(special, multiple_results=True)(ctx, *operands)
    except Exception as error:  # a model of other operations, or a GPU that JAX does not know
        _log.info("these neurons step one launch after the other on a GPU: %s", error)
        return mlir.lower_fun(plain, multiple_results=True)(ctx, *operands)


batching.primitive_batchers[_walk] = _batch
mlir.register_lowering(_walk, _lower, platform="cuda")
