"""Poisson counts from random bits, by inversion, for means from 0 to 16383.

A small mean is inverted by comparing one word with the thresholds 2^32 P(N > k). A larger one
is split as m = r + sum_j d_j 4^j with r < 4 and digits d_j, and the count is the sum of
independent counts: r as before, each digit by an alias table made on the host in float64.
Probabilities are right to the digits of the dtype, in the tails too (down to 2^-32, the
resolution of a word); those of the tables to 2^-32. Nothing is approximated beyond that.
A count is the same whatever is drawn beside it: the branch for larger means adds zeros only.

Source: Devroye (1986), Non-Uniform Random Variate Generation, chapters III.2 and III.4;
Walker (1977), doi:10.1145/355744.355749.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ._streams import Stream

# Up to these means, 2^32 P(N = k) rounds to 0 for k above these numbers.
_MEANS = (0.05, 0.5, 1.5, 2.5, 4.0)
_TERMS = (5, 10, 14, 18, 22)
_DIGITS = 6
LARGEST_MEAN = 4.0 ** (_DIGITS + 1) - 1


def poisson(stream: Stream, step: Any, mean: jax.Array) -> jax.Array:
    """Poisson counts of n units at a step, in the dtype of the mean.

    `mean` () or (n,), floating, from 0 to `LARGEST_MEAN`; the count of any other is NaN.
    """
    mean = lax.stop_gradient(mean)
    valid = (mean >= 0) & (mean <= LARGEST_MEAN)
    safe = jnp.where(valid, mean, jnp.zeros_like(mean))
    largest = _largest(safe)
    size = sum((largest > bound).astype(jnp.int32) for bound in _MEANS)
    branches = [functools.partial(_small, terms=terms) for terms in _TERMS]

    def draw(branch: Any) -> Any:
        def counts(stream: Stream, step: Any, mean: jax.Array, valid: jax.Array) -> jax.Array:
            return jnp.where(valid, branch(stream, step, mean).astype(mean.dtype), jnp.nan)

        return counts

    return lax.switch(size, [draw(b) for b in (*branches, _large)], stream, step, safe, valid)


@jax.custom_batching.custom_vmap
def _largest(mean: jax.Array) -> jax.Array:
    """The largest of all, in a whole batch: a batch takes one branch, where it would take all."""
    return jnp.max(mean, initial=0)


@_largest.def_vmap
def _largest_of_batch(axis_size: int, batched: Any, mean: jax.Array) -> Any:
    return _largest(mean), False


def _small(stream: Stream, step: Any, mean: jax.Array, terms: int) -> jax.Array:
    return _invert(stream.bits(step)[0], mean, terms)


def _invert(word: Any, mean: jax.Array, terms: int) -> jax.Array:
    """The number of k with word < 2^32 P(N > k), for means that need so many terms."""
    p = jnp.exp(-mean) * np.asarray(2.0**32, mean.dtype)
    parts = []
    for k in range(1, terms + 1):
        p = p * (mean * np.asarray(1.0 / k, mean.dtype))
        parts.append(jnp.rint(p))
    # From the small end, which keeps the digits of the tail; more terms would only add 0 first.
    word = word.astype(mean.dtype)
    above, count = jnp.zeros_like(mean), jnp.zeros(word.shape, jnp.int32)
    for part in reversed(parts):
        above = above + part
        count = count + (word < above).astype(jnp.int32)
    return count


def _large(stream: Stream, step: Any, mean: jax.Array) -> jax.Array:
    whole = (mean * 0.25).astype(jnp.int32)
    count = _invert(stream.bits(step)[0], mean - 4 * whole.astype(mean.dtype), _TERMS[-1])
    for pair in range(_DIGITS // 2):
        digits = [(whole >> 2 * j) & 3 for j in (2 * pair, 2 * pair + 1)]
        needed = _largest(digits[0] | digits[1]) > 0
        draw = functools.partial(_add_digits, pair=pair)
        count = lax.cond(needed, draw, lambda count, *_: count, count, stream, step, digits)
    return count


def _add_digits(
    count: jax.Array, stream: Stream, step: Any, digits: list[jax.Array], pair: int
) -> jax.Array:
    """The counts of two digits added, one word each."""
    words = stream.bits(step, purpose=1 + pair)
    for k in (0, 1):
        count = count + _digit(2 * pair + k, digits[k], words[k])
    return count


def _digit(place: int, digit: jax.Array, word: Any) -> jax.Array:
    """The count of one digit: a column of the alias table, then one of its two outcomes."""
    tables, columns = _alias_tables(place)
    at = digit * (1 << columns) + (word >> np.uint32(32 - columns)).astype(jnp.int32)
    rest = word & np.uint32(2 ** (32 - columns) - 1)
    threshold, first, second = (jnp.asarray(t).at[at].get(mode="promise_in_bounds") for t in tables)
    return jnp.where(rest < threshold, first, second).astype(jnp.int32)


@functools.cache
def _alias_tables(place: int) -> Any:
    """Alias tables of Poisson(d 4^(place + 1)), d = 0, 1, 2, 3, one after the other."""
    laws = [_weights(d * 4 ** (place + 1)) for d in range(4)]
    columns = max((w.size - 1).bit_length() for _, w in laws)
    rows = [_alias(start, w, columns) for start, w in laws]
    return tuple(np.concatenate(part) for part in zip(*rows)), columns


def _weights(mean: int) -> tuple[int, np.ndarray]:
    """The first outcome of Poisson(mean), and the probabilities in units of 2^-32."""
    k = np.arange(mean + 20 * math.isqrt(mean) + 20)
    log_p = np.array([i * math.log(mean) - math.lgamma(i + 1) - mean for i in k]) if mean else -k
    p = np.exp(log_p) if mean else (k == 0).astype(np.float64)
    weights = np.rint(p / p.sum() * 2.0**32).astype(np.int64)
    weights[weights.argmax()] += 2**32 - weights.sum()
    used = np.flatnonzero(weights)
    return int(used[0]), weights[used[0] : used[-1] + 1]


def _alias(start: int, weights: np.ndarray, columns: int) -> tuple[np.ndarray, ...]:
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
    words = (threshold, outcomes, start + second)
    return tuple(np.asarray(w, np.uint32) for w in words)
