"""Every possible connection exists with probability p, independently."""

import math
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import check_fraction
from ..numerics import bits
from ._flags import check_flags
from ._rule import CHUNK, Chunk, Rule, row_chunks, skip_own


class FixedProbability(Rule):
    """Pairwise Bernoulli: each pair (i, j) is connected with probability p.

    Draws the gaps between the targets of a row, which are geometric:
    `P(gap <= g) = 1 - (1-p)^(g+1)`, from integer thresholds on 32 random bits (so the
    probability is kept to 2^-32 and no transcendental function stands between bits and
    target). Index of a draw: the source; counter: the number of the gap in its row.

    **Fields** `p` from 0 to 1; `autapses`: whether a neuron may connect to itself.

    **Raises** `ValueError` for p outside [0, 1] and a flag that is not True or False.

    **Source** Senk et al. (2022), "pairwise Bernoulli",
    doi:10.1371/journal.pcbi.1010086; skipping: Batagelj and Brandes (2005),
    doi:10.1103/PhysRevE.71.036113.
    """

    p: float = eqx.field(static=True, converter=partial(check_fraction, "FixedProbability: p"))
    autapses: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        check_flags(self, "autapses")

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        """Every size fits."""

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return self.p * n_pre * self._candidates(n_post, same)

    def _candidates(self, n_post: int, same: bool) -> int:
        return n_post - (same and not self.autapses)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        n = self._candidates(n_post, same)
        if self.p == 0.0 or n <= 0:
            return
        for first, stop in row_chunks(n_pre, self.p * n):
            counts, targets = draw_rows(key, first, stop, n, self.p)
            if n != n_post:
                targets = skip_own(targets, np.repeat(np.arange(first, stop), counts))
            yield Chunk(first, counts, targets)


def draw_rows(key: Any, first: int, stop: int, n: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Targets of the rows `first ... stop`, as (counts, targets row by row)."""
    mean = n * p
    escapes = n / _thresholds(p).size
    width = int(mean + 6 * math.sqrt(mean * (1 - p)) + escapes + 6 * math.sqrt(escapes) + 4)
    width += width % 2
    at, hit = _positions(key, np.arange(first, stop), 0, width, np.int64(-1), p)
    inside = hit & (at < n)
    counts = inside.sum(axis=1)
    targets = at[inside]
    late = np.flatnonzero(at[:, -1] < n - 1)
    if late.size == 0:
        return counts, targets
    rows, extra = _finish_rows(key, late + first, at[late, -1], width, n, p)
    owner = np.concatenate([np.repeat(np.arange(stop - first), counts), rows - first])
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=stop - first)
    return counts, np.concatenate([targets, extra])[order]


def _finish_rows(key, rows, at, width, n, p) -> tuple[np.ndarray, np.ndarray]:
    """Draws on for the few rows whose gaps have not yet reached the end."""
    owners, targets, counter = [], [], width
    while rows.size:
        more, hit = _positions(key, rows, counter, width, at[:, None], p)
        inside = hit & (more < n)
        owners.append(np.repeat(rows, inside.sum(axis=1)))
        targets.append(more[inside])
        late = more[:, -1] < n - 1
        rows, at, counter = rows[late], more[late, -1], counter + width
    return np.concatenate(owners), np.concatenate(targets)


def _positions(key, rows, counter: int, width: int, start, p: float):
    """Positions after each of `width` gaps, and whether there is a target at each."""
    blocks = np.arange(counter // 2, (counter + width) // 2)
    words = np.stack(bits(key, rows[:, None], blocks[None, :]), axis=-1).reshape(rows.size, width)
    gap = _gaps(words, p)
    escape = gap == _thresholds(p).size
    advance = gap.astype(np.int64 if width * 65536 > 2**31 else np.int32)
    advance += ~escape  # an escaped gap has skipped the whole table and no target
    return np.cumsum(advance, axis=1) + start, ~escape


@cache
def _thresholds(p: float) -> np.ndarray:
    """Integer thresholds on 32 bits: the gap is the number of them at or below a word."""
    size = math.ceil(min(25.0 / p, 1 << 16))
    tail = np.exp(np.arange(1, size + 1) * math.log1p(-p)) if p < 1 else np.zeros(size)
    return np.minimum(np.floor((1.0 - tail) * 2.0**32), 2.0**32).astype(np.uint64)


@cache
def _guide(p: float, bits_used: int) -> tuple[np.ndarray, np.ndarray]:
    """The gap by the high bits of a word, and whether they alone decide it."""
    shift = np.uint64(32 - bits_used)
    edges = np.arange((1 << bits_used) + 1, dtype=np.uint64) << shift
    low = np.searchsorted(_thresholds(p), edges[:-1], side="right")
    high = np.searchsorted(_thresholds(p), edges[1:] - np.uint64(1), side="right")
    return low.astype(np.uint32), low == high


def _gaps(words: np.ndarray, p: float) -> np.ndarray:
    """The number of thresholds at or below each word; all of them is an escape."""
    # A finer guide leaves fewer words in doubt, and pays where many are drawn at small p.
    bits_used = 20 if words.size > CHUNK // 2 and p < 0.004 else 16
    guide, sure = _guide(p, bits_used)
    high = words >> np.uint32(32 - bits_used)
    gap = guide[high]
    doubt = np.flatnonzero(~sure[high])
    gap.ravel()[doubt] = np.searchsorted(
        _thresholds(p), words.ravel()[doubt].astype(np.uint64), side="right"
    )
    return gap
