"""What kernels with several versions share: platforms, batches, axes of a mesh.

A kernel is a function of arrays with several versions that return the same. `by_platform` picks the
version, `native_call` calls native C++, `batched` adds batch axes to a kernel; `materialize` makes
XLA write arrays to memory before later operations read them.
"""

import contextlib
import contextvars
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .lazy import lazily_lowered
from .native import native_available

_in_gpu_kernel = contextvars.ContextVar("traced for a GPU kernel", default=False)


@contextlib.contextmanager
def for_gpu_kernel() -> Iterator[None]:
    """What is traced inside becomes part of a GPU kernel: it calls nothing, and is elementwise."""
    token = _in_gpu_kernel.set(True)
    try:
        yield
    finally:
        _in_gpu_kernel.reset(token)


def in_gpu_kernel() -> bool:
    """Whether what is traced now becomes part of a GPU kernel."""
    return _in_gpu_kernel.get()


def by_platform(*operands: Any, default: Callable | None, **versions: Callable | None) -> Any:
    """The version for the platform on which it runs; `cpu` only with the native library.

    None means a version that does not exist. With a native version the default is traced only
    where it is lowered. In what becomes part of a GPU kernel it is the default.
    """
    if in_gpu_kernel() and default is not None:
        return default(*operands)
    if not native_available():
        versions.pop("cpu", None)
    native = versions.get("cpu")
    if default is not None and native is not None:
        default = lazily_lowered(default, native)
    there = {name: f for name, f in {"default": default, **versions}.items() if f is not None}
    return lax.platform_dependent(*operands, **there)


def result_like(shape: Sequence[int], dtype: Any, *operands: jax.Array) -> jax.ShapeDtypeStruct:
    """The shape of a result that depends on all operands.

    Inside `shard_map` a result varies over the axes of the mesh over which an operand does, and a
    native call must say so.
    """
    if not any(map(_varies, operands)):
        return jax.ShapeDtypeStruct(tuple(shape), dtype)

    def depends(*operands: jax.Array) -> jax.Array:
        zero = jnp.zeros((), dtype)
        return jnp.zeros(shape, dtype) + sum((jnp.sum(x).astype(dtype) for x in operands), zero)

    return jax.eval_shape(depends, *operands)


def _varies(x: jax.Array) -> bool:
    """Whether it varies over an axis of a mesh, or this version of JAX does not say."""
    kind = jax.typeof(x)
    axes = getattr(kind, "manual_axis_type", None)  # `vma` before JAX 0.10
    return bool(getattr(kind, "vma", True) if axes is None else axes.varying)


def native_call(
    target: str,
    operands: Sequence[jax.Array],
    shape: Sequence[int],
    dtype: Any,
    in_place: int | None = None,
    vmap_method: str | None = None,
    **attributes: Any,
) -> jax.Array:
    """Calls the native function `target`; its result has the given shape and dtype.

    `in_place` is the number of an operand whose memory becomes that of the result.
    """
    aliases = {} if in_place is None else {in_place: 0}
    out = result_like(shape, dtype, *operands)
    call = jax.ffi.ffi_call(target, out, input_output_aliases=aliases, vmap_method=vmap_method)
    return call(*operands, **attributes)


def native_update(
    target: str,
    operands: Sequence[jax.Array],
    count: int,
    made: Sequence[jax.Array | jax.ShapeDtypeStruct] = (),
    **attributes: Any,
) -> tuple[jax.Array, ...]:
    """Calls the native function `target`, which changes its first `count` operands in place.

    After them it returns new arrays with the shapes and dtypes of `made`.
    """
    # Inside `shard_map` a result varies over the axes over which any operand does.
    like = (*operands[:count], *made)
    out = tuple(result_like(x.shape, x.dtype, *operands) for x in like)
    aliases = {k: k for k in range(count)}
    return tuple(
        jax.ffi.ffi_call(target, out, input_output_aliases=aliases)(*operands, **attributes)
    )


_COND = (
    "lax.cond and lax.switch do that to what their branches use where the choice is batched, as in "
    "vmap and in a sweep: run both branches and choose with jnp.where"
)


def batched(
    one: Callable, ranks: Sequence[int], refuse_shared: str, in_place: int = 1, made: int = 0
) -> Callable:
    """`one(*operands, shared)` for any number of leading batch axes of its operands.

    `ranks` are those of the operands without a batch; the first `in_place` of them are changed and
    returned (one array, or a tuple of several), and after them `made` new arrays. With a batch of k
    axes, `one` gets these with all k axes and every other operand either without any or with k
    axes, of length 1 where it does not vary. What is changed is never reshaped: XLA updates it in
    place, in a nested `vmap` too, where folding two axes into one would copy it in every step of a
    loop. `shared` is a pytree that has no batch; a `ValueError` with `refuse_shared` is
    raised if it has one.
    """

    @jax.custom_batching.custom_vmap
    def call(*operands: Any) -> Any:
        return one(*operands)

    @call.def_vmap
    def rule(size: int, batched: Any, *operands: Any) -> Any:
        *arrays, shared = operands
        *new, shared_batched = batched
        if any(jax.tree.leaves(shared_batched)):
            raise ValueError(f"{refuse_shared}. {_COND}")
        old = max(x.ndim - b - rank for x, b, rank in zip(arrays, new, ranks))
        axes = jnp.broadcast_shapes(*(_axes(x, b, r, old) for x, b, r in zip(arrays, new, ranks)))
        full = [with_axes(x, b, r, old) for x, b, r in zip(arrays, new, ranks)]
        for k, (x, rank) in enumerate(zip(arrays[:in_place], ranks)):
            if not (new[k] and x.ndim == 1 + old + rank):
                own = x.shape[x.ndim - rank :]
                full[k] = jnp.broadcast_to(full[k], (size, *axes[1:], *own))
        results = in_place + made
        return call(*full, shared), True if results == 1 else (True,) * results

    return call


def _axes(x: Any, new: bool, rank: int, old: int) -> tuple[int, ...]:
    """The batch axes of an operand: the new one, then `old` earlier ones, 1 where it has none."""
    earlier = x.shape[new : x.ndim - rank]
    return (x.shape[0] if new else 1, *(earlier or (1,) * old))


def with_axes(x: Any, new: bool, rank: int, old: int) -> Any:
    """The operand with all batch axes; without any if it has none."""
    if x.ndim == rank:
        return x
    return x.reshape(*_axes(x, new, rank, old), *x.shape[x.ndim - rank :])


def over_batch(one: Callable, ranks: Sequence[int]) -> Callable:
    """A version for a single member as one for the batches that `batched` passes."""

    def run(*operands: Any) -> Any:
        *arrays, shared = operands
        k = arrays[0].ndim - ranks[0]
        if k == 0:
            return one(*arrays, shared)
        axes = arrays[0].shape[:k]
        flat = [_flattened(x, axes, rank) for x, rank in zip(arrays, ranks)]
        in_axes = tuple(0 if x.ndim > rank else None for x, rank in zip(flat, ranks))
        out = jax.vmap(one, (*in_axes, None))(*flat, shared)
        return jax.tree.map(lambda x: x.reshape(*axes, *x.shape[1:]), out)

    return run


def _flattened(x: Any, axes: tuple[int, ...], rank: int) -> Any:
    """An operand with one batch axis, or with none if it is the same for all."""
    own = x.shape[x.ndim - rank :]
    if all(n == 1 for n in x.shape[: x.ndim - rank]) and axes != (1,) * len(axes):
        return x.reshape(own)
    size = 1
    for n in axes:
        size *= n
    return jnp.broadcast_to(x, (*axes, *own)).reshape(size, *own)


_FEW = 16


def materialize(arrays: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
    """The same arrays; on a CPU later operations read them and do not compute them again.

    XLA fuses a chain of elementwise operations with several results into one loop per result,
    and each loop computes what they share: the stages of a Runge-Kutta step three and four
    times over. No bit changes. On other devices, without the native kernels, and for a handful
    of neurons (XLA makes one function of their whole loop) nothing is done at all.

    Arrays of any shape; returns the same.
    """
    few = max((x.size for x in arrays), default=0) < _FEW
    if few or in_gpu_kernel() or not native_available():
        return tuple(arrays)
    return _written(tuple(arrays))


@jax.custom_jvp
def _written(arrays: tuple) -> tuple:
    return by_platform(*arrays, default=lambda *x: x, cpu=_native)


@_written.defjvp
def _written_jvp(primals: Any, tangents: Any) -> Any:
    return _written(*primals), tangents[0]


def _native(*arrays: jax.Array) -> tuple:
    # In shard_map the results vary over the same axes as the operands, which eval_shape knows.
    out = jax.eval_shape(lambda *x: x, *arrays)
    same = {number: number for number in range(len(arrays))}
    call = jax.ffi.ffi_call(
        "jaxneuro_materialize", out, vmap_method="broadcast_all", input_output_aliases=same
    )
    return tuple(call(*arrays))
