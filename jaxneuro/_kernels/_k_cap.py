"""`k_cap`: the indices of the k largest of n numbers, the cap of an area in assembly calculus."""

import logging
import operator
import warnings
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from ._call import by_platform, native_call
from ._k_cap_reference import k_cap_reference, key_words, wide_words

_DTYPES = ("float32", "bfloat16", "float16", "int32", "uint32", "float64", "int64")

# On a GPU up to so many numbers are one program of the Pallas kernel. Not measured yet:
# `python -m benchmarks kcap` times both there.
ONE_PROGRAM = 2**15
# Bits that one pass of XLA's version finds there.
_DIGIT = 4

_log = logging.getLogger("jaxneuro")
_on_gpu = Primitive("k_cap_on_gpu")


def k_cap(x: jax.Array, k: int) -> jax.Array:
    """The indices of the k largest of n numbers, ascending; of equal ones the lower indices.

    -0.0 equals 0.0, and NaN is below all other numbers. The result is exact and the same on every
    platform. The gradient is 0; see `jaxneuro.assemblies` for caps that have one.

    **Step** `x` (n,) of float32, bfloat16, float16, int32, uint32, or of float64 or int64 with
    64-bit JAX; `k` from 1 to n. Returns int32 (k,).

    **Raises** `ValueError` for another k, shape or dtype.
    """
    x = jnp.asarray(x)
    if x.ndim != 1 or x.dtype.name not in _DTYPES:
        raise ValueError(
            f"x must be numbers (n,) of {', '.join(_DTYPES)}; got {x.dtype}{list(x.shape)}. Use "
            "astype, jax.vmap for a batch, or k_cap_wide for 64-bit integers in two words"
        )
    return _cap(lax.stop_gradient(x), _checked(k, x.shape[0]), wide=False)


def k_cap_wide(words: jax.Array, k: int) -> jax.Array:
    """`k_cap` of signed integers of 64 bits in two words, which need no 64-bit JAX.

    **Step** `words` uint32 (n, 2): the low and the high word of each, in two's complement; `k` from
    1 to n. Returns int32 (k,).

    **Raises** `ValueError` for another k, shape or dtype.
    """
    words = jnp.asarray(words)
    if words.ndim != 2 or words.shape[1] != 2 or words.dtype != jnp.uint32:
        raise ValueError(
            "words must be uint32 (n, 2), the low and the high word of each number; got "
            f"{words.dtype}{list(words.shape)}. Use jax.vmap for a batch, or k_cap"
        )
    return _cap(words, _checked(k, words.shape[0]), wide=True)


def _checked(k: Any, n: int) -> int:
    """k as an int from 1 to n."""
    try:
        number = operator.index(k)
    except Exception:  # a traced k has its own kind of error
        raise ValueError(
            f"k must be an int that is known when a program is compiled; got {k!r}. Make it a "
            "static argument of jit"
        ) from None
    if not 1 <= number <= n:
        raise ValueError(f"k must be from 1 to {n}, how many numbers there are; got {number}")
    return number


def _cap(x: jax.Array, k: int, wide: bool) -> jax.Array:
    def words(x: jax.Array) -> Any:
        return wide_words(x) if wide else key_words(x)

    def native(x: jax.Array) -> jax.Array:
        own = x.ndim - (2 if wide else 1)
        shape, how = (*x.shape[:own], k), "broadcast_all"
        target = "jaxneuro_k_cap_wide" if wide else "jaxneuro_k_cap"
        return native_call(target, (x,), shape, jnp.int32, vmap_method=how)

    def on_gpu(x: jax.Array) -> jax.Array:
        keys = words(x)
        # Says the shape of the result, and over which axes of a mesh it varies.
        like = keys[0][:k].astype(jnp.int32)
        return _on_gpu.bind(like, *keys)

    def reference(x: jax.Array) -> jax.Array:
        return k_cap_reference(words(x), k)

    return by_platform(x, default=reference, cpu=native, cuda=on_gpu)


@_on_gpu.def_abstract_eval
def _shape(like: Any, *_: Any) -> Any:
    return like


def _batch(operands: Any, axes: Any) -> Any:
    return _on_gpu.bind(*(jnp.moveaxis(x, axis, 0) for x, axis in zip(operands, axes))), 0


def _lower(ctx: Any, *operands: Any) -> Any:
    def kernel(like: jax.Array, *words: jax.Array) -> list[jax.Array]:
        from ._gpu_k_cap import k_cap_pallas

        return [k_cap_pallas(words, like.shape[-1])]

    def otherwise(like: jax.Array, *words: jax.Array) -> list[jax.Array]:
        return [k_cap_reference(words, like.shape[-1], digit=_DIGIT)]

    if ctx.avals_in[1].shape[-1] <= ONE_PROGRAM:
        try:
            with warnings.catch_warnings():
                # JAX 0.11 warns at every lowering; a user cannot act on it.
                warnings.filterwarnings("ignore", "The Pallas Triton backend is deprecated")
                return mlir.lower_fun(kernel, multiple_results=True)(ctx, *operands)
        except Exception as error:  # another JAX, or a GPU for which it lowers no Pallas
            _log.info("a k-cap is several launches on this GPU instead of one: %s", error)
    return mlir.lower_fun(otherwise, multiple_results=True)(ctx, *operands)


batching.primitive_batchers[_on_gpu] = _batch
mlir.register_lowering(_on_gpu, _lower, platform="cuda")
