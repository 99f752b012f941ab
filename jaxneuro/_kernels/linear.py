"""Linear functions whose transpose is given, and numbers that are differentiated once.

JAX would transpose a delivery by visiting every synapse. `jax.custom_vjp` is no way out: it has no
derivative of forward mode, which JAX takes for what a loop carries and nobody asks about.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

_linear = Primitive("linear")
_linear.multiple_results = True


def linear(
    of: Callable, transpose: Callable, fixed: tuple[Any, ...], moving: tuple[jax.Array, ...]
) -> list[jax.Array]:
    """`of(*fixed, *moving)`, a list of arrays, which is linear in `moving`.

    `transpose(*fixed, *bars)`, with the cotangents of the results, is a list of those of `moving`.
    No derivative is made by what is `fixed`: call `once` for that.
    """
    leaves, structure = jax.tree.flatten(fixed)
    n = len(leaves)

    def flat(f: Callable) -> Callable:
        return lambda *xs: list(f(*jax.tree.unflatten(structure, xs[:n]), *xs[n:]))

    return _linear.bind(*leaves, *moving, of=flat(of), transpose=flat(transpose), fixed=n)


@_linear.def_impl
def _now(*operands: Any, of: Callable, **_: Any) -> list:
    return of(*operands)


@_linear.def_abstract_eval
def _shapes(*operands: Any, of: Callable, **_: Any) -> tuple:
    return tuple(jax.make_jaxpr(of)(*operands).out_avals)


def _lower(ctx: Any, *operands: Any, of: Callable, **_: Any) -> Any:
    return mlir.lower_fun(of, multiple_results=True)(ctx, *operands)


def _slope(primals: Any, tangents: Any, *, fixed: int, **how: Any) -> tuple:
    moving = map(ad.instantiate_zeros, tangents[fixed:])
    out, dots = (
        _linear.bind(*primals[:fixed], *xs, fixed=fixed, **how) for xs in (primals[fixed:], moving)
    )
    return out, dots


def _transposed(bars: Any, *operands: Any, transpose: Callable, fixed: int, **_: Any) -> list:
    moving = operands[fixed:]
    if all(isinstance(x, ad.Zero) for x in bars):
        out = [ad.Zero(x.aval) if ad.is_undefined_primal(x) else None for x in moving]
    else:
        out = transpose(*operands[:fixed], *map(ad.instantiate_zeros, bars))
    asked = map(ad.is_undefined_primal, moving)
    return [None] * fixed + [bar if ask else None for bar, ask in zip(out, asked)]


def _batched(
    operands: Any, axes: Any, *, of: Callable, transpose: Callable, fixed: int
) -> tuple[list, list[int]]:
    axes = tuple(axes)

    def transposed(*xs: Any) -> list:
        count = len(xs) - fixed
        each = jax.vmap(transpose, (*axes[:fixed], *[0] * count))(*xs)
        # A number that all members share has the sum of their cotangents.
        return [
            x.sum(0) if k is None else jnp.moveaxis(x, 0, k) for x, k in zip(each, axes[fixed:])
        ]

    out = _linear.bind(*operands, of=jax.vmap(of, axes), transpose=transposed, fixed=fixed)
    return out, [0] * len(out)


ad.primitive_jvps[_linear] = _slope
ad.primitive_transposes[_linear] = _transposed
batching.primitive_batchers[_linear] = _batched
mlir.register_lowering(_linear, _lower)


# --- Results that have a batch wherever an argument has one. JAX takes for granted that a function
# and its rule of `jax.custom_jvp` agree in which of their results have one.

_alike = Primitive("batched_alike")
_alike.multiple_results = True


def batched_alike(numbers: Any, to: Any) -> Any:
    """A pytree of arrays as it is; in `vmap` all of it has the batch that anything in `to` has.

    But for single whole numbers: a count of steps that is the same for all is so in any case.
    """
    leaves, structure = jax.tree.flatten(numbers)
    some = [k for k, x in enumerate(leaves) if x.ndim or jnp.issubdtype(x.dtype, jnp.inexact)]
    new = _alike.bind(*(leaves[k] for k in some), *jax.tree.leaves(to), n=len(some))
    for k, x in zip(some, new):
        leaves[k] = x
    return jax.tree.unflatten(structure, leaves)


def _alike_batched(operands: Any, axes: Any, *, n: int) -> tuple[list, list[int]]:
    sizes = {x.shape[k] for x, k in zip(operands, axes) if k is not None}
    (size,) = sizes
    full = [
        jnp.broadcast_to(x, (size, *x.shape)) if k is None else jnp.moveaxis(x, k, 0)
        for x, k in zip(operands[:n], axes)
    ]
    return _alike.bind(*full, *operands[n:], n=n), [0] * n


_alike.def_impl(lambda *xs, n: list(xs[:n]))
_alike.def_abstract_eval(lambda *xs, n: xs[:n])
ad.primitive_jvps[_alike] = lambda xs, dots, n: (_alike.bind(*xs, n=n), list(dots[:n]))
batching.primitive_batchers[_alike] = _alike_batched
mlir.register_lowering(_alike, lambda ctx, *xs, n: xs[:n])


# --- Numbers of which there is no second derivative. A primitive, because JAX forgets the rules of
# `jax.custom_jvp` where it differentiates once more.

_once = Primitive("differentiated_once")


def once(numbers: Any) -> Any:
    """A pytree of arrays as it is, whose derivative raises `ValueError`."""
    # Each by itself: a loop keeps what does not change in it once.
    return jax.tree.map(_once.bind, numbers)


def _refuse(*_: Any) -> Any:
    raise ValueError(
        "the gradient of a run has no derivative itself where spikes go through projections: "
        "take differences of gradients (jax.grad at two points) for second derivatives"
    )


_once.def_impl(lambda x: x)
_once.def_abstract_eval(lambda x: x)
ad.primitive_jvps[_once] = _refuse
batching.primitive_batchers[_once] = lambda xs, axes: (_once.bind(*xs), *axes)
mlir.register_lowering(_once, lambda ctx, x: [x])
