"""A projection has exactly so many connections."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import check_count
from ..numerics import bits
from ._flags import check_flags
from ._ranges import ranges
from ._rule import CHUNK, Chunk, Rule, row_chunks, skip_own
from ._sampling import below

_PAIRS = np.uint32(0x9E3779B9)  # makes the key of the draws that belong to no row


class FixedTotal(Rule):
    """Fixed total number: exactly `total` connections, their pairs drawn uniformly.

    With multapses with replacement, both ends uniform: `total` draws of a source are counted
    per source, then each source draws that many targets. So a row is drawn alone once the
    counts are known. Index of a target draw: the source; counter: its number in the row.

    Without multapses a uniform subset: the first `total` distinct pairs of a sequence of pair
    draws, or the complement of one where `total` is more than half of all pairs. This holds and
    sorts all pairs of the smaller side at once (8 bytes each), whatever the chunk.

    A draw is `(word * n) >> 32`, uniform to n / 2^32.

    **Fields** `total` connections; `autapses`: whether a neuron may connect to itself;
    `multapses`: whether a pair may connect more than once.

    **Raises** `ValueError` unless total is a whole number >= 0 and the flags are True or False;
    from `build`, where total is above the number of pairs and multapses are off, or the only
    pair is an autapse and autapses are off. A population without neurons connects to nobody.

    **Source** Senk et al. (2022), "random, fixed total number",
    doi:10.1371/journal.pcbi.1010086; with multapses: Potjans and Diesmann (2014),
    doi:10.1093/cercor/bhs358.
    """

    total: int = eqx.field(static=True, converter=partial(check_count, "FixedTotal: total"))
    autapses: bool = eqx.field(static=True, default=True)
    multapses: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        check_flags(self, "autapses", "multapses")

    def _candidates(self, n_post: int, same: bool) -> int:
        return max(n_post - (same and not self.autapses), 0)

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        pairs = n_pre * self._candidates(n_post, same)
        if n_post == 0 or n_pre == 0:
            return
        if self.total > 0 and pairs == 0:
            raise ValueError(f"{name}: {self.total} connections need a pair; there is none")
        if self.total > pairs and not self.multapses:
            raise ValueError(
                f"{name}: total must be at most the number of pairs, {pairs}, without multapses; "
                f"got {self.total}. Lower it or allow multapses"
            )

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(self.total) if n_pre * self._candidates(n_post, same) > 0 else 0.0

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        n = self._candidates(n_post, same)
        if self.total == 0 or n_pre * n == 0:
            return
        pairs_key = (key[0], key[1] ^ _PAIRS)
        chunks = (
            _with_multapses(key, _row_counts(pairs_key, self.total, n_pre), n)
            if self.multapses
            else _without_multapses(pairs_key, self.total, n_pre, n)
        )
        for first, counts, targets in chunks:
            if n != n_post:
                targets = skip_own(targets, np.repeat(np.arange(counts.size) + first, counts))
            yield Chunk(first, counts, targets)


def _shared_bits(key: Any, first: int, stop: int) -> tuple[Any, Any]:
    """Two words per counter; the index goes on where 32 bits of the counter end."""
    counter = np.arange(first, stop)
    return bits(key, counter >> 32, counter & 0xFFFFFFFF)


def _row_counts(key: Any, total: int, n_pre: int) -> np.ndarray:
    """How many of `total` uniform draws fall to each source."""
    counts, step = np.zeros(n_pre, np.int64), max(CHUNK, n_pre)
    for first in range(0, total, 2 * step):
        stop = min(first + 2 * step, total)
        words = np.concatenate(_shared_bits(key, first // 2, (stop + 1) // 2))
        counts += np.bincount(below(words[: stop - first], n_pre), minlength=n_pre)
    return counts


def _with_multapses(key: Any, counts: np.ndarray, n: int) -> Iterator[Chunk]:
    for first, stop, _, _ in ranges(counts):
        mine = counts[first:stop]
        blocks = (mine + 1) // 2  # two words each; the last word of an odd row is not used
        row, ends = np.repeat(np.arange(mine.size), blocks), np.cumsum(blocks)
        counter = np.arange(row.size) - (ends - blocks)[row]
        words = np.stack(bits(key, row + first, counter), axis=-1).ravel()
        words = np.delete(words, (2 * ends - 1)[mine % 2 == 1])
        start = np.repeat(np.arange(mine.size) * n, mine)
        yield Chunk(first, mine, np.sort(below(words, n) + start) - start)


def _without_multapses(key: Any, total: int, n_pre: int, n: int) -> Iterator[Chunk]:
    if total <= n_pre * n // 2:
        pairs = _distinct_pairs(key, total, n_pre, n)
        counts = np.diff(np.searchsorted(pairs, np.arange(n_pre + 1) * n))
        for first, stop, begin, end in ranges(counts):
            mine = counts[first:stop]
            start = np.repeat(np.arange(first, stop) * n, mine)
            yield Chunk(first, mine, pairs[begin:end] - start)
        return
    left_out = _distinct_pairs(key, n_pre * n - total, n_pre, n)
    for first, stop in row_chunks(n_pre, float(n)):
        begin, end = np.searchsorted(left_out, (first * n, stop * n))
        kept = np.ones((stop - first, n), bool)
        kept.ravel()[left_out[begin:end] - first * n] = False
        yield Chunk(first, kept.sum(axis=1), np.nonzero(kept)[1])


def _distinct_pairs(key: Any, total: int, n_pre: int, n: int) -> np.ndarray:
    """The first `total` distinct pairs of a sequence, as `source * n + target`, ascending.

    Draws as many as are missing, so that none of them is one too many.
    """
    found = _draw_pairs(key, 0, total, n_pre, n)
    more, number = found[:0], total
    while found.size + more.size < total:
        missing = total - found.size - more.size
        new = _draw_pairs(key, number, number + missing, n_pre, n)
        new = new[found[np.minimum(np.searchsorted(found, new), found.size - 1)] != new]
        more, number = _different(np.concatenate([more, new])), number + missing
    return np.sort(np.concatenate([found, more])) if more.size else found


def _draw_pairs(key: Any, first: int, stop: int, n_pre: int, n: int) -> np.ndarray:
    """The different pairs among the draws `first ... stop`, ascending."""
    pairs = np.empty(stop - first, np.int64)
    for at in range(first, stop, CHUNK):
        end = min(at + CHUNK, stop)
        source, target = _shared_bits(key, at, end)
        pairs[at - first : end - first] = below(source, n_pre) * n + below(target, n)
    return _different(pairs)


def _different(pairs: np.ndarray) -> np.ndarray:
    """Each pair once, ascending (`np.unique` is slower)."""
    pairs = np.sort(pairs)
    new = np.ones(pairs.size, bool)
    np.not_equal(pairs[1:], pairs[:-1], out=new[1:])
    return pairs[new]
