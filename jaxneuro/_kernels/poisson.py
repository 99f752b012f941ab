"""`poisson`: a Poisson count for every unit of a stream, in one time step.

Counts come from random bits, by inversion, for means from 0 to 16383.

A mean is split as m = r + sum_j d_j 4^j with r < 4 and digits d_j = 0 ... 3, j = 1 ... 6, and the
count is the sum of independent counts: that of r is the number of k with word < 2^32 P(N > k), each
digit's comes from an alias table made on the host in float64. The thresholds are whole numbers,
so bits become counts by integer operations only. Probabilities are right to the digits of the
dtype, in the tails too (down to 2^-32, the resolution of a word); those of the tables to 2^-32.

Source: Devroye (1986), Non-Uniform Random Variate Generation, chapters III.2 and III.4;
Walker (1977), doi:10.1145/355744.355749.
"""

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from .._arrays import AnyArray
from .._numerics.streams import Stream
from .call import by_platform, in_gpu_kernel, native_call
from .native import native_available

# Up to these means, 2^32 P(N = k) rounds to 0 for k above these numbers.
MEANS = (0.05, 0.5, 1.5, 2.5, 4.0)
TERMS = (5, 10, 14, 18, 22)
DIGITS = 6
LARGEST_MEAN = 4.0 ** (DIGITS + 1) - 1
NO_COUNT = np.uint16(65535)  # marks the count of an invalid mean


class Mean(NamedTuple):
    """Means as they are drawn, each () or (runs,) or (n,).

    Attributes:
        rest: below 4, NaN for an invalid mean.
        zero: 2^32 P(N = 0) of the rest.
        whole: int32: the digits.
    """

    rest: jax.Array
    zero: jax.Array
    whole: jax.Array


def split(mean: AnyArray) -> Mean:
    """The parts of means of any size."""
    valid = (mean >= 0) & (mean <= LARGEST_MEAN)
    safe = jnp.where(valid, mean, jnp.zeros_like(mean))
    whole = (safe * 0.25).astype(jnp.int32)
    rest = jnp.where(valid, safe - 4 * whole.astype(mean.dtype), jnp.nan)
    return Mean(rest, jnp.exp(-rest) * np.asarray(2.0**32, mean.dtype), whole)


def counts(stream: Stream, step: Any, mean: Mean) -> jax.Array:
    """The counts, uint16 (n,), without a branch; `NO_COUNT` for an invalid mean."""
    count = _small(stream, step, mean, TERMS[-1])
    whole = stream.each(mean.whole)
    for pair in range(DIGITS // 2):
        count = _add_digits(count, stream, step, whole, pair)
    return count


def counts_by_branches(stream: Stream, step: Any, mean: Mean) -> jax.Array:
    """The same counts; takes the time that the largest mean of all needs."""
    known = jnp.where(mean.rest == mean.rest, mean.rest, jnp.zeros_like(mean.rest))
    size = sum((_largest(known) > bound).astype(jnp.int32) for bound in MEANS[:-1])
    branches = [functools.partial(_small, terms=terms) for terms in TERMS]
    count = lax.switch(size, branches, stream, step, mean)
    whole = stream.each(mean.whole)
    for pair in range(DIGITS // 2):
        needed = _largest(mean.whole >> 4 * pair & 15) > 0
        draw = functools.partial(_add_digits, pair=pair)
        count = lax.cond(needed, draw, lambda count, *_: count, count, stream, step, whole)
    return count


@jax.custom_batching.custom_vmap
def _largest(x: jax.Array) -> jax.Array:
    """The largest of all, in a whole batch: a batch takes one branch, where it would take all."""
    return jnp.max(x, initial=0)


@_largest.def_vmap
def _largest_of_batch(axis_size: int, batched: Any, x: jax.Array) -> Any:
    return _largest(x), False


def _small(stream: Stream, step: Any, mean: Mean, terms: int) -> jax.Array:
    """The counts of the rests, for rests that need so many terms."""
    rest, p = stream.each(mean.rest), stream.each(mean.zero)
    parts = []
    for k in range(1, terms + 1):
        p = p * (rest * np.asarray(1.0 / k, rest.dtype))
        parts.append(jnp.rint(p))
    # From the small end, which keeps the digits of the tail; more terms would only add 0 first.
    word = _rounded_down(stream.word(step), rest.dtype)
    above, count = jnp.zeros_like(rest), jnp.zeros(word.shape, jnp.int32)
    for part in reversed(parts):
        above = above + part
        count = count + (word < above).astype(jnp.int32)
    return jnp.where(rest == rest, count.astype(jnp.uint16), NO_COUNT)


def _rounded_down(word: Any, dtype: Any) -> jax.Array:
    """Words as floats, never rounded up: below the same whole floats as the words themselves."""
    if dtype == jnp.float32:
        word = word & ~(word >> np.uint32(24))  # the bit after the leading 24, which would round
    return word.astype(dtype)


def _add_digits(
    count: jax.Array, stream: Stream, step: Any, whole: jax.Array, pair: int
) -> jax.Array:
    """The counts of two digits added, one word each."""
    words = stream.bits(step, purpose=1 + pair)
    for k in (0, 1):
        place = 2 * pair + k
        count = count + _digit(place, whole >> 2 * place & 3, words[k])
    return count


def _digit(place: int, digit: jax.Array, word: Any) -> jax.Array:
    """The count of one digit: a column of the alias table, then one of its two outcomes."""
    table, columns = alias_table(place)
    at = digit * (1 << columns) + (word >> np.uint32(32 - columns)).astype(jnp.int32)
    rest = word & np.uint32(2 ** (32 - columns) - 1)
    threshold, both = (jnp.asarray(t).at[at].get(mode="promise_in_bounds") for t in table)
    second = (rest >= threshold).astype(jnp.uint32)
    return (both >> (second << 4)).astype(jnp.uint16)


@functools.cache
def alias_table(place: int) -> tuple[np.ndarray, int]:
    """Alias tables of Poisson(d 4^(place + 1)), d = 0, 1, 2, 3, one after the other.

    Two rows, uint32: the threshold of each column, 2^columns for each d; its two outcomes, the
    second in the upper 16 bits.
    """
    laws = [_weights(d * 4 ** (place + 1)) for d in range(4)]
    columns = max((w.size - 1).bit_length() for _, w in laws)
    return np.concatenate([_alias(start, w, columns) for start, w in laws], axis=1), columns


def _weights(mean: int) -> tuple[int, np.ndarray]:
    """The first outcome of Poisson(mean), and the probabilities in units of 2^-32."""
    k = np.arange(mean + 20 * math.isqrt(mean) + 20)
    log_p = np.array([i * math.log(mean) - math.lgamma(i + 1) - mean for i in k]) if mean else -k
    p = np.exp(log_p) if mean else (k == 0).astype(np.float64)
    weights = np.rint(p / p.sum() * 2.0**32).astype(np.int64)
    weights[weights.argmax()] += 2**32 - weights.sum()
    used = np.flatnonzero(weights)
    return int(used[0]), weights[used[0] : used[-1] + 1]


def _alias(start: int, weights: np.ndarray, columns: int) -> np.ndarray:
    """Threshold and the two outcomes of each of 2^columns columns, all equally likely."""
    size = 1 << columns
    full = 2**32 // size
    left = np.zeros(size, np.int64)
    left[: weights.size] = weights
    threshold, second = np.full(size, full), np.arange(size)
    small = [i for i in range(size) if left[i] < full]
    great = [i for i in range(size) if left[i] > full]
    while small:
        poor, rich = small.pop(), great[-1]
        threshold[poor], second[poor] = left[poor], rich
        left[rich] -= full - left[poor]
        if left[rich] <= full:
            great.pop()
            if left[rich] < full:
                small.append(rich)
    outcomes = start + np.arange(size)
    return np.stack([threshold, outcomes + (start + second << 16)]).astype(np.uint32)


def poisson(stream: Stream, step: Any, mean: Any) -> Float[Array, " n"]:
    """Poisson counts of the n units of a stream at a step, in the dtype of the mean.

    A count depends on its mean and on the unit's words alone, not on what is drawn beside it.
    The same bits on every platform that rounds `exp(-mean)` alike. The gradient is 0.

    `mean` floating, from 0 to `LARGEST_MEAN`: () or (n,), or (runs,) for one number per run of the
    stream. Returns (n,); the count of any other mean is NaN.

    Reference:
        Devroye (1986), Non-Uniform Random Variate Generation, chapters III.2 and III.4; Walker
        (1977), doi:10.1145/355744.355749; see `_poisson_reference.py`.
    """
    mean, step = lax.stop_gradient(mean), jnp.asarray(step)
    parts = stream, step, split(mean)
    if in_gpu_kernel() or (native_available() and mean.dtype in (jnp.float32, jnp.float64)):
        count = by_platform(*parts, default=counts, cpu=_native)
    else:  # a GPU waits for the host at a branch
        count = lax.platform_dependent(*parts, cpu=counts_by_branches, default=counts)
    return jnp.where(count == NO_COUNT, jnp.nan, count.astype(mean.dtype))


def _native(stream: Stream, step: jax.Array, mean: Mean) -> jax.Array:
    tables, columns = zip(*(alias_table(place) for place in range(DIGITS)))
    key = stream.high, stream.low, stream.index, step.astype(jnp.uint32)
    operands = [jnp.atleast_1d(x) for x in (*key, mean.rest, mean.zero, mean.whole)]
    sizes = (stream.n,) if stream.sizes is None else stream.sizes

    return native_call(
        "jaxneuro_poisson",
        (*operands, jnp.asarray(np.concatenate(tables, axis=1))),
        (stream.n,),
        jnp.uint16,
        vmap_method="expand_dims",
        sizes=np.asarray(sizes, np.int32),
        columns=np.asarray(columns, np.int32),
    )
