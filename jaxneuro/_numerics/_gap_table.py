"""Geometric gaps by integer thresholds, without a transcendental function of the bits."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

_LONGEST = 1 << 16


class GapTable(NamedTuple):
    """`P(gap <= g) = 1 - (1-p)^(g+1)` as integers, for words of 32 random bits.

    The gap of a word is the number of thresholds at or below it; its probability is exact to
    2^-32. If all thresholds are, the gap is longer: these candidates are skipped, none of them is
    chosen, and the next word continues.

    **Fields** `thresholds` uint64 (size,), ascending, at most 2^32; `guide` uint32: how many
    thresholds are at or below each multiple of `2^shift`, up to 2^32.

    **Source** Batagelj and Brandes (2005), doi:10.1103/PhysRevE.71.036113.
    """

    thresholds: np.ndarray
    guide: np.ndarray
    shift: int

    @property
    def size(self) -> int:
        """How many thresholds there are."""
        return self.thresholds.size

    @property
    def p(self) -> float:
        """The probability, exact to 2^-32."""
        return float(self.thresholds[0]) * 2.0**-32


@lru_cache(maxsize=64)
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
