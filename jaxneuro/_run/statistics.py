"""Running sums of spikes: rates and CVs of intervals of a run whose spikes are not kept.

Of each neuron a run keeps how many spikes it had, the steps of the first and the last, and the sum
of the squares of its intervals in steps, a 64-bit integer. All are exact, and those of two runs
that follow each other add up to those of both (`joined_sums`): the interval between them is from
the last spike of one to the first of the other.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int32, UInt32

from .._arrays import AnyArray, is_traced
from .._kernels.wide import (
    product_words,
    wide_integers,
    wide_product,
    wide_subtract,
    wide_to_float,
    wide_words,
)
from .._text import counted


class SpikeSums(NamedTuple):
    """Running sums of the spikes of n neurons.

    Attributes:
        count: spikes, int32 (n,).
        first: the step of the first, since the network's start, int32 (n,); 0 without any.
        last: that of the last.
        squares: the sum of the squared intervals [steps^2], (n, 2): the low and the high word of
            64 bits.
    """

    count: Int32[AnyArray, "*batch n"]
    first: Int32[AnyArray, "*batch n"]
    last: Int32[AnyArray, "*batch n"]
    squares: UInt32[AnyArray, "*batch n 2"]

    def __repr__(self) -> str:
        *batch, n = self.count.shape
        runs = f", {' x '.join(map(str, batch))} runs" if batch else ""
        return f"SpikeSums: of {counted(n, 'neuron')}{runs}"


class RunningSums(NamedTuple):
    """The sums as a loop carries them: words of squares apart, which fuse and vectorise."""

    count: Int32[Array, " n"]
    first: Int32[Array, " n"]
    last: Int32[Array, " n"]
    low: UInt32[Array, " n"]
    high: UInt32[Array, " n"]

    @classmethod
    def none(cls, n: int) -> "RunningSums":
        """Those of n neurons before anything is run."""
        number, word = jnp.zeros(n, jnp.int32), jnp.zeros(n, jnp.uint32)
        return cls(number, number, number, word, word)

    def after(self, spikes: Bool[Array, " n"], step: Int32[Array, ""]) -> "RunningSums":
        """Those after a step in which some neurons spiked."""
        again = spikes & (self.count > 0)
        gap = jnp.where(again, step - self.last, 0).astype(jnp.uint32)
        low, high = product_words(gap, gap)
        low = self.low + low
        return RunningSums(
            count=self.count + spikes.astype(jnp.int32),
            first=jnp.where(spikes & ~again, step, self.first),
            last=jnp.where(spikes, step, self.last),
            low=low,
            high=self.high + high + (low < self.low).astype(jnp.uint32),
        )

    def sums(self) -> SpikeSums:
        """What a run keeps of them."""
        squares = jnp.stack([self.low, self.high], axis=-1)
        return SpikeSums(self.count, self.first, self.last, squares)


def joined_sums(one: SpikeSums, then: SpikeSums) -> SpikeSums:
    """The sums of two runs that follow each other, on the host."""
    a, b = (SpikeSums(*map(np.asarray, x)) for x in (one, then))
    had, has = a.count > 0, b.count > 0
    gap = np.where(had & has, b.first - a.last, 0).astype(np.int64)
    squares = wide_integers(a.squares) + wide_integers(b.squares) + gap * gap
    first, last = np.where(had, a.first, b.first), np.where(has, b.last, a.last)
    return SpikeSums(a.count + b.count, first, last, wide_words(squares))


def sums_of(spikes: Bool[Array, "steps n"], first_step: Int32[Array, ""]) -> SpikeSums:
    """The sums of spikes step by step."""

    def one(sums: RunningSums, now: Any) -> tuple[RunningSums, None]:
        return sums.after(*now), None

    steps = first_step + jnp.arange(spikes.shape[0], dtype=jnp.int32)
    return jax.lax.scan(one, RunningSums.none(spikes.shape[1]), (spikes, steps))[0].sums()


def sums_of_events(
    steps: Int[np.ndarray, " spikes"], neurons: Int[np.ndarray, " spikes"], n: int, first_step: int
) -> SpikeSums:
    """The sums of spikes on the host, in the order of steps, which count from `first_step`."""
    # NumPy sorts numbers of 16 bits by their digits, a few times faster.
    order = np.argsort(neurons.astype(np.uint16) if n <= 1 << 16 else neurons, kind="stable")
    at = steps[order].astype(np.int64) + first_step
    count = np.bincount(neurons, minlength=n)
    some, ends = np.flatnonzero(count), np.cumsum(count)
    starts = (ends - count)[some]
    first, last = np.zeros(n, np.int32), np.zeros(n, np.int32)
    first[some], last[some] = at[starts], at[ends[some] - 1]
    gaps = np.diff(at, prepend=0)
    gaps[starts] = 0  # before the first spike of a neuron
    squares = np.zeros(n, np.int64)
    squares[some] = np.add.reduceat(gaps * gaps, starts) if some.size else 0
    return SpikeSums(count.astype(np.int32), first, last, wide_words(squares))


def cvs_of_sums(sums: SpikeSums, at_least: int = 3) -> Float[AnyArray, "*batch n"]:
    """The CV of the intervals of each neuron, NaN with fewer than `at_least` spikes.

    With m intervals of the sum S and the sum of squares Q, and r = S // m, the squares about r,
    Q - 2 r S + m r^2, are exact in 64 bits, and only small numbers are left for floats: in float32
    a clock has the CV 0. Traced sums give float32, known ones float64.
    """
    traced = is_traced(sums.count)
    sums = sums if traced else SpikeSums(*map(np.asarray, sums))
    xp: Any = jnp if traced else np
    dtype = np.dtype(np.float32 if traced else np.float64)
    m = xp.maximum(sums.count - 1, 1).astype(np.uint32)
    total = (sums.last - sums.first).astype(np.uint32)
    r, rest = total // m, total % m
    # As m r = S - rest, the squares about r are Q - r S - r rest.
    if traced:
        about = wide_subtract(sums.squares, wide_product(r, total))
        about = wide_to_float(wide_subtract(about, wide_product(r, rest)))
    else:
        about = wide_integers(sums.squares) - r.astype(np.int64) * (total + rest.astype(np.int64))
    count, more = m.astype(dtype), rest.astype(dtype)
    mean, spread = total.astype(dtype) / count, about.astype(dtype) / count - (more / count) ** 2
    known = (sums.count >= at_least) & (mean > 0)
    cv = xp.sqrt(xp.maximum(spread, 0.0)) / xp.where(known, mean, 1.0).astype(dtype)
    return xp.where(known, cv, dtype.type(np.nan))
