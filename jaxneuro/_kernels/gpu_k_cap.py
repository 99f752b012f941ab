"""`k_cap` on a GPU: one Pallas kernel, lowered through Triton; one program per member of a batch.

XLA finds the k-th largest in several launches for each few bits of it. That is most of the time
where the numbers are few, so there one program does all passes: 16 over each word, which find two
bits each, and one that writes the places. The words stay in the L1 cache of its processor. For more
numbers the passes are the time, one program would read alone, and XLA's version is used.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from .k_cap import Words, sizes

_MOST_LANES = 4096


def k_cap_pallas(words: Words, k: int, interpret: bool = False) -> jax.Array:
    """`k_cap` of words (..., n) as `key_words` makes them."""
    members, n = sizes(words)
    lanes = min(max(pl.next_power_of_2(n), 128), _MOST_LANES)
    out = pl.pallas_call(
        functools.partial(_kernel, n=n, k=k, lanes=lanes),
        # Interpreted, a masked store writes back what was there: to a place that nobody needs.
        out_shape=jax.ShapeDtypeStruct((members, k + interpret), jnp.int32),
        grid=(members,),
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=max(4, lanes // 256), num_stages=1),
        name="k_cap_pallas",
    )(*(word.reshape(members, n) for word in words))
    return out[:, :k].reshape(*words[0].shape[:-1], k)


class _Member:
    """One member: its numbers, a vector of `lanes` of them at a time."""

    def __init__(self, refs: Any, n: int, lanes: int):
        self.refs, self.n, self.lanes = refs, n, lanes
        self.number = pl.program_id(0)

    def each(self, body: Any, carry: Any) -> Any:
        """Runs `body(at, inside, words, carry)` over the vectors, with the places `at` of each."""

        def step(i: Any, carry: Any) -> Any:
            at = i * self.lanes + lax.iota(jnp.int32, self.lanes)
            inside = at < self.n
            words = [triton.load(r.at[self.number, at], mask=inside, other=0) for r in self.refs]
            return body(at, inside, words, carry)

        return lax.fori_loop(0, math.ceil(self.n / self.lanes), step, carry)


def _kernel(*refs: Any, n: int, k: int, lanes: int) -> None:
    *inputs, out = refs
    member = _Member(inputs, n, lanes)
    found: list[Any] = []  # the words of the k-th largest
    wanted = jnp.int32(k)
    for _ in inputs:
        found.append(_threshold(member, found, wanted))
        wanted = k - _count(member, lambda inside, words: inside & _above(words, found))
    _write(member, out, k, found, wanted)


def _above(words: Any, found: Any) -> Any:
    """Which are above the words found so far, and not only equal."""
    above = words[0] > found[0]
    for i in range(1, len(found)):
        above = above | (_equal(words, found[:i]) & (words[i] > found[i]))
    return above


def _equal(words: Any, found: Any) -> Any:
    equal = words[0] == found[0]
    for word, own in zip(words[1:], found[1:]):
        equal = equal & (word == own)
    return equal


def _count(member: _Member, which: Any) -> Any:
    def body(at, inside, words, total):
        return total + which(inside, words).astype(jnp.int32)

    return jnp.sum(member.each(body, jnp.zeros(member.lanes, jnp.int32)), dtype=jnp.int32)


def _threshold(member: _Member, found: list, wanted: Any) -> Any:
    """The largest next word that `wanted` of those equal in the words before reach: two bits of it
    in each pass, as three counts. A lane counts alone until the end of a pass."""

    def digit(i: Any, largest: Any) -> Any:
        shift = (30 - 2 * i).astype(jnp.uint32)
        tried = [largest | (jnp.uint32(j) << shift) for j in (1, 2, 3)]

        def body(at, inside, words, counts):
            among = inside & _equal(words, found) if found else inside
            word = words[len(found)]
            return tuple(c + (among & (word >= t)).astype(jnp.int32) for c, t in zip(counts, tried))

        zero = jnp.zeros(member.lanes, jnp.int32)
        counts = member.each(body, (zero, zero, zero))
        totals = [jnp.sum(c, dtype=jnp.int32) for c in counts]
        reached = sum(((t >= wanted).astype(jnp.uint32) for t in totals), jnp.uint32(0))
        return largest | (reached << shift)

    return lax.fori_loop(0, 16, digit, jnp.uint32(0))


def _write(member: _Member, out: Any, k: int, found: list, wanted: Any) -> None:
    """The places of all above, and of the first `wanted` that are equal."""

    def body(at, inside, words, carry):
        written, ties = carry
        equal = (inside & _equal(words, found)).astype(jnp.int32)
        first = ties + jnp.cumsum(equal, dtype=jnp.int32) <= wanted
        take = inside & (_above(words, found) | ((equal == 1) & first))
        taken = take.astype(jnp.int32)
        place = written + jnp.cumsum(taken, dtype=jnp.int32) - 1
        triton.store(out.at[member.number, jnp.where(take, place, k)], at, mask=take)
        return written + jnp.sum(taken, dtype=jnp.int32), ties + jnp.sum(equal, dtype=jnp.int32)

    member.each(body, (jnp.int32(0), jnp.int32(0)))
