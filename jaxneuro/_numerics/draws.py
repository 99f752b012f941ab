"""Draws: what random words say, by integers and tables where that is possible.

Events of a probability, normal numbers, values from a table of quantiles, geometric gaps, and the
binomial law on the host.
"""

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Float64, Int, Int32, UInt32, UInt64

from .._arrays import AnyArray, ArrayLike
from .distributions import Distribution
from .streams import Words


def chance(word: Words, p: Float[AnyArray, "..."]) -> Bool[Array, "..."]:
    """Whether an event of probability p happens, from a random word; exact to 2^-32."""
    return (word.astype(p.dtype) < p * np.asarray(2.0**32, p.dtype)) | (p >= 1)


def standard_normal(
    words: tuple[UInt32[Array, "*n"], UInt32[Array, "*n"]], dtype: Any
) -> Float[Array, "*n"]:
    """A standard normal number from two words; the tails reach 6.7 standard deviations.

    Reference:
        Box and Muller (1958), doi:10.1214/aoms/1177706645.
    """
    # u is small in the tail, where floats are dense, so that the tail keeps all 32 bits.
    u = (words[0].astype(dtype) + np.asarray(0.5, dtype)) * np.asarray(2.0**-32, dtype)
    radius = jnp.sqrt(np.asarray(-2.0, dtype) * jnp.log(u))
    return radius * _cosine(lax.bitcast_convert_type(words[1], jnp.int32).astype(dtype))


def _cosine(angle: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """The cosine of an angle in units of 2^-31 pi, below 2^31, by a series, faster than `cos`."""
    dtype = angle.dtype
    quarter = np.asarray(0.5 * np.pi, dtype) - jnp.abs(angle) * np.asarray(2.0**-31 * np.pi, dtype)
    square = quarter * quarter
    series: Any = jnp.zeros_like(angle)
    # Up to pi/2 the terms fall below 1e-17 after the eleventh.
    for k in reversed(range(11)):
        series = series * square + np.asarray((-1.0) ** k / math.factorial(2 * k + 1), dtype)
    return quarter * series


# Of a table of quantiles, see `quantile_index`.
_BITS = 11
_HALF = 21 << _BITS
QUANTILES = 2 * _HALF


def quantile_index(word: UInt32[Any, "*n"]) -> Int32[Any, "*n"]:
    """The cells of random words, from 0 to 86,015, NumPy or JAX in and out.

    A word of 32 random bits stands for a probability. Its distance r from the nearer end,
    `r = word` or `2^32 - 1 - word`, is rounded to 11 bits after the leading one:

        s = max(bits(r) - 12, 0),    cell = 2^11 s + floor(r / 2^s),

    counted from the other end for the upper half. A cell has at most 2^-11 of the probability
    between it and the nearer end, and below 2^-20 each word has its own cell. There are
    2 x 21 x 2^11 cells in all. The value of a cell is the quantile at its middle. NumPy, JAX, C++
    and Pallas select the same cell, and have the same value if the table is the same.
    """
    one = np.uint32
    if isinstance(word, jax.Array):
        upper = word >= one(1 << 31)
        r = jnp.where(upper, ~word, word)
        size = one(32) - jax.lax.clz(r)
        shift = jnp.maximum(size, one(_BITS + 1)) - one(_BITS + 1)
        index = ((shift << one(_BITS)) + (r >> shift)).astype(jnp.int32)
        return jnp.where(upper, np.int32(QUANTILES - 1) - index, index)
    word = np.asarray(word)
    upper = word >= one(1 << 31)
    r = np.where(upper, ~word, word)
    shift = np.maximum(np.frexp(r.astype(np.float64))[1] - (_BITS + 1), 0).astype(np.uint32)
    index = ((shift << one(_BITS)) + (r >> shift)).astype(np.int32)
    return np.where(upper, np.int32(QUANTILES - 1) - index, index)


def _middle(index: Int[np.ndarray, "*n"]) -> Float64[np.ndarray, "*n"]:
    """The probability in the middle of each cell, exact in float64."""
    upper = index >= _HALF
    cell = np.where(upper, QUANTILES - 1 - index, index).astype(np.int64)
    shift = np.maximum((cell >> _BITS) - 1, 0)
    first = (cell - (shift << _BITS)) << shift
    u = (2 * first + (1 << shift)) * 2.0**-33
    return np.where(upper, 1.0 - u, u)


def _quantiles(law: Distribution, index: Int[np.ndarray, "*n"]) -> Float64[np.ndarray, "*n"]:
    u = _middle(index)
    return np.broadcast_to(np.asarray(law.quantile(u), np.float64), u.shape)


@functools.lru_cache(maxsize=32)
def quantile_table(law: Distribution) -> Float64[np.ndarray, "86016"]:
    """The value of every cell, read-only."""
    table = np.array(_quantiles(law, np.arange(QUANTILES)))
    table.flags.writeable = False
    return table


def drawn(law: Distribution, word: UInt32[np.ndarray, "*n"]) -> Float64[np.ndarray, "*n"]:
    """The values of a distribution for random words; few need no table."""
    index = quantile_index(word)
    if 2 * index.size < QUANTILES:
        return np.array(_quantiles(law, index))
    return quantile_table(law)[index]


_LONGEST = 1 << 16  # thresholds of a table of gaps


class GapTable(NamedTuple):
    """`P(gap <= g) = 1 - (1-p)^(g+1)` as integers, for words of 32 random bits.

    The gap of a word is the number of thresholds at or below it; its probability is exact to
    2^-32. If all thresholds are, the gap is longer: these candidates are skipped, none of them is
    chosen, and the next word continues.

    Attributes:
        thresholds: ascending, at most 2^32.
        guide: how many thresholds are at or below each multiple of `2^shift`, up to 2^32.
        shift: see `guide`.

    Reference:
        Batagelj and Brandes (2005), Efficient generation of large random networks,
        doi:10.1103/PhysRevE.71.036113.
    """

    thresholds: UInt64[np.ndarray, " size"]
    guide: UInt32[np.ndarray, " edges"]
    shift: int

    @property
    def size(self) -> int:
        """How many thresholds there are."""
        return self.thresholds.size

    @property
    def p(self) -> float:
        """The probability, exact to 2^-32."""
        return float(self.thresholds[0]) * 2.0**-32


@functools.lru_cache(maxsize=64)
def gap_table(p: float) -> GapTable:
    """The thresholds of the gaps between candidates that are chosen with probability p > 0."""
    size = math.ceil(min(25.0 / p, _LONGEST))
    tail = np.exp(np.arange(1, size + 1) * math.log1p(-p)) if p < 1 else np.zeros(size)
    thresholds = np.minimum(np.floor((1.0 - tail) * 2.0**32), 2.0**32).astype(np.uint64)
    # Fine enough that most words need no search.
    shift = 32 - max(math.ceil(math.log2(min(128.0 / p, _LONGEST))), 8)
    edges = np.arange((1 << (32 - shift)) + 1, dtype=np.uint64) << np.uint64(shift)
    guide = np.searchsorted(thresholds, edges, side="right").astype(np.uint32)
    for array in (thresholds, guide):
        array.flags.writeable = False
    return GapTable(thresholds, guide, shift)


def binomial_law(x: ArrayLike, n: int, p: float) -> Float64[np.ndarray, "..."]:
    """P(X = x) of a binomial number of n trials."""
    from scipy import special  # takes long to import

    x = np.asarray(x, np.float64)
    ways = special.gammaln(n + 1) - special.gammaln(x + 1) - special.gammaln(n - x + 1)
    return np.exp(ways + special.xlogy(x, p) + special.xlog1py(n - x, -p))


def binomial_below(x: ArrayLike, n: int, p: float) -> Float64[np.ndarray, "..."]:
    """P(X <= x)."""
    from scipy import special

    return special.bdtr(np.asarray(x, np.float64), n, p)


def binomial_above(x: ArrayLike, n: int, p: float) -> Float64[np.ndarray, "..."]:
    """P(X > x), exact in the far tail, too."""
    from scipy import special

    return special.bdtrc(np.asarray(x, np.float64), n, p)
