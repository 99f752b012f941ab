"""`k_cap`: the indices of the k largest of n numbers, the cap of an area in assembly calculus.

In jnp the k-th largest key is found bit by bit, then the places of those that reach it. A number is
one or two words of uint32, the more significant one first, in the order of the numbers. No sort:
XLA's takes 30 times as long for a million numbers on a CPU.
"""

import functools
import logging
import math
import operator
import warnings
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jaxtyping import Array, Int32

from ..spec import InvalidValueError
from .call import by_platform, native_call

Words = tuple[jax.Array, ...]

_TOP = np.uint32(1 << 31)
_INFINITY = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF00000}


def key_words(x: jax.Array) -> Words:
    """Numbers as words in their order: both zeros the same, every NaN 0 and so below all others."""
    if jnp.issubdtype(x.dtype, jnp.floating):
        return _float_words(x)
    if x.dtype.itemsize == 8:
        return wide_words(lax.bitcast_convert_type(x, jnp.uint32))
    if x.dtype == jnp.uint32:
        return (x,)
    return (lax.bitcast_convert_type(x, jnp.uint32) ^ _TOP,)


def wide_words(words: jax.Array) -> Words:
    """The same for signed integers of 64 bits, (..., 2): low word, high word."""
    return words[..., 1] ^ _TOP, words[..., 0]


def _float_words(x: jax.Array) -> Words:
    """By bits alone: a comparison of floats may take denormal numbers for 0."""
    if x.dtype.itemsize == 2:
        parts = [lax.bitcast_convert_type(x, jnp.uint16).astype(jnp.uint32) << np.uint32(16)]
    else:
        bits = lax.bitcast_convert_type(x, jnp.uint32)
        parts = [bits] if x.dtype.itemsize == 4 else [bits[..., 1], bits[..., 0]]
    infinity = np.uint32(_INFINITY[x.dtype.name] << (16 if x.dtype.itemsize == 2 else 0))
    magnitude = parts[0] & ~_TOP
    some = [rest != 0 for rest in parts[1:]]  # in the low word
    is_nan, is_zero = magnitude > infinity, magnitude == 0
    for rest in some:
        is_nan, is_zero = is_nan | ((magnitude == infinity) & rest), is_zero & ~rest
    negative = (parts[0] >= _TOP) & ~is_zero
    out = [jnp.where(negative, ~p, p) for p in parts]
    out[0] = jnp.where(negative, out[0], out[0] | _TOP)
    return tuple(jnp.where(is_nan, np.uint32(0), p) for p in out)


def k_cap_reference(words: Words, k: int, digit: int = 1) -> jax.Array:
    """`k_cap` of words (..., n); `digit` bits of the k-th largest are found in one pass.

    One bit is the fastest on a CPU; more are fewer launches on a GPU.
    """
    one = functools.partial(_one, k=k, digit=digit)
    axes = words[0].shape[:-1]
    if not axes:
        return one(words)
    flat = [w.reshape(math.prod(axes), w.shape[-1]) for w in words]
    return jax.vmap(one)(tuple(flat)).reshape(*axes, k)


def _one(words: Words, k: int, digit: int) -> jax.Array:
    first, *others = words
    largest = _threshold(first, None, jnp.int32(k), digit)
    above, equal = first > largest, first == largest
    wanted = k - jnp.sum(above, dtype=jnp.int32)
    for word in others:
        largest = _threshold(word, equal, wanted, digit)
        above, equal = above | (equal & (word > largest)), equal & (word == largest)
        wanted = k - jnp.sum(above, dtype=jnp.int32)
    return _places(_bits(above), _bits(equal), wanted, k)


def _threshold(word: jax.Array, among: jax.Array | None, wanted: Any, digit: int) -> jax.Array:
    """The largest word that at least `wanted` reach (of `among`, if given)."""
    # All words that a pass tries are one array: XLA counts for all of them in one launch.
    steps = np.arange(1, 1 << digit, dtype=np.uint32)[:, None] if digit > 1 else np.uint32(1)

    def find(i: jax.Array, found: jax.Array) -> jax.Array:
        shift = (32 - digit * (i + 1)).astype(jnp.uint32)
        which = word >= (found | (steps << shift))
        reach = jnp.sum(which if among is None else among & which, axis=-1, dtype=jnp.int32)
        return found | (jnp.sum(reach >= wanted, dtype=jnp.uint32) << shift)

    # Of an element, so that it varies over the axes of a mesh as the words do.
    return lax.fori_loop(0, 32 // digit, find, word[0] & np.uint32(0))


def _bits(mask: jax.Array) -> jax.Array:
    """A mask (n,) as words of 32 bits, the first in the lowest bit."""
    rows = jnp.pad(mask, (0, -mask.shape[0] % 32)).reshape(-1, 32).astype(jnp.uint32)
    return jnp.sum(rows << np.arange(32, dtype=np.uint32), axis=1, dtype=jnp.uint32)


def _places(above: jax.Array, equal: jax.Array, wanted: jax.Array, k: int) -> jax.Array:
    """The places of the bits `above` and of the first `wanted` bits `equal`, k in all."""
    ties = _count(equal)
    taken = jnp.clip(wanted - (_running(ties) - ties), 0, ties)
    own = _count(above) + taken
    until = _running(own)
    number = jnp.arange(k, dtype=jnp.int32)
    at = _search(until, number)
    tied, few = equal[at], taken[at]
    first = tied & ((np.uint32(1) << _nth_bit(tied, few).astype(jnp.uint32)) - np.uint32(1))
    bits = above[at] | jnp.where(few >= _count(tied), tied, first)
    return 32 * at + _nth_bit(bits, number - (until[at] - own[at]))


def _search(until: jax.Array, number: jax.Array) -> jax.Array:
    at = jnp.searchsorted(until, number, side="right", method="scan_unrolled")
    return at.astype(jnp.int32)


def _running(x: jax.Array) -> jax.Array:
    return jnp.cumsum(x, dtype=jnp.int32)


def _count(bits: jax.Array) -> jax.Array:
    return lax.population_count(bits).astype(jnp.int32)


def _nth_bit(bits: jax.Array, n: jax.Array) -> jax.Array:
    """The place of set bit number n, counted from 0, of each word."""
    place = jnp.zeros_like(n)
    for width in (16, 8, 4, 2, 1):
        low = bits & np.uint32((1 << width) - 1)
        below = _count(low)
        higher = n >= below
        n = jnp.where(higher, n - below, n)
        bits = jnp.where(higher, bits >> np.uint32(width), low)
        place = jnp.where(higher, place + width, place)
    return place


def sizes(words: Sequence[jax.Array]) -> tuple[int, int]:
    """Members of a batch, and numbers of each."""
    shape = words[0].shape
    return math.prod(shape[:-1]), shape[-1]


_DTYPES = ("float32", "bfloat16", "float16", "int32", "uint32", "float64", "int64")

# On a GPU up to so many numbers are one program of the Pallas kernel. Not measured:
# `python -m benchmarks kcap` times both there.
ONE_PROGRAM = 2**15
# Bits that one pass of XLA's version finds there.
_DIGIT = 4

_log = logging.getLogger("jaxneuro")
_on_gpu = Primitive("k_cap_on_gpu")


def k_cap(x: Any, k: Any) -> Int32[Array, " k"]:
    """The indices of the k largest of n numbers, ascending; of equal ones the lower indices.

    -0.0 equals 0.0, and NaN is below all other numbers. The result is exact and the same on every
    platform. The gradient is 0; see `jaxneuro.assemblies` for caps that have one.

    `x` (n,) of float32, bfloat16, float16, int32, uint32, or of float64 or int64 with 64-bit JAX;
    `k` from 1 to n. Returns int32 (k,).

    Raises:
        InvalidValueError: for another k, shape or dtype.
    """
    x = jnp.asarray(x)
    if x.ndim != 1 or x.dtype.name not in _DTYPES:
        must = f"numbers (n,) of {', '.join(_DTYPES)} (jax.vmap for a batch)"
        raise InvalidValueError("k_cap", "x", must, f"{x.dtype}{list(x.shape)}")
    return _cap(lax.stop_gradient(x), _checked(k, x.shape[0]), wide=False)


def k_cap_wide(words: Any, k: Any) -> Int32[Array, " k"]:
    """`k_cap` of signed integers of 64 bits in two words, which need no 64-bit JAX.

    `words` uint32 (n, 2): the low and the high word of each, in two's complement; `k` from 1 to n.
    Returns int32 (k,).

    Raises:
        InvalidValueError: for another k, shape or dtype.
    """
    words = jnp.asarray(words)
    if words.ndim != 2 or words.shape[1] != 2 or words.dtype != jnp.uint32:
        must = "uint32 (n, 2), the low and the high word of each number (jax.vmap for a batch)"
        raise InvalidValueError("k_cap", "words", must, f"{words.dtype}{list(words.shape)}")
    return _cap(words, _checked(k, words.shape[0]), wide=True)


def _checked(k: Any, n: int) -> int:
    """k as an int from 1 to n."""
    try:
        number = operator.index(k)
    except Exception:  # a traced k has its own kind of error
        must = "an int that is known when a program is compiled (a static argument of jit)"
        raise InvalidValueError("k_cap", "k", must, repr(k)) from None
    if not 1 <= number <= n:
        must = f"from 1 to {n}, how many numbers there are"
        raise InvalidValueError("k_cap", "k", must, str(number))
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
        from .gpu_k_cap import k_cap_pallas

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
