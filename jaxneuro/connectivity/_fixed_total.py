"""A projection has exactly a given number of connections."""

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import equinox as eqx
import numpy as np

from .._checks import check_count
from .._kernels import count_draws, draw_pairs, run_ahead, uniform_rows
from ._flags import check_flags
from ._ranges import no_rows, ranges, row_draws, row_ends
from ._rule import CHUNK, Chunk, RowDraws, RowLaw, Rule, candidates, skip_own

_PAIRS = np.uint32(0x9E3779B9)  # makes the key of draws that do not belong to a row


class FixedTotal(Rule):
    """Fixed total number: exactly `total` connections, their pairs drawn uniformly.

    With multapses, both ends are drawn uniformly with replacement: `total` draws of a source give
    the number of connections of each source, then each source draws that many targets. A row can
    thus be drawn alone once the counts are known. Index of a target draw: the source; counter: its
    number in the row.

    Without multapses, the pairs are a uniform subset: the first `total` distinct pairs of a
    sequence of pair draws, or the complement of such a set if `total` is more than half of all
    pairs. This holds and sorts all pairs of the smaller set at once (25 bytes each).

    A draw is `(word * n) >> 32`, uniform to n / 2^32.

    **Fields** `total` connections; `autapses`: whether a neuron may connect to itself;
    `multapses`: whether a pair may connect more than once; `stored`: False stores no
    connections and draws a row again, with the same bits, whenever its source spikes; multapses
    must then be allowed, and weight and delay be one number each.

    **Raises** `ValueError` unless total is a whole number >= 0 and the flags are True or False;
    from `build`, if total is above the number of pairs and multapses are off, or the only pair is
    an autapse and autapses are off. A population without neurons has no connections.

    **Source** Senk et al. (2022), "random, fixed total number",
    doi:10.1371/journal.pcbi.1010086; with multapses: Potjans and Diesmann (2014),
    doi:10.1093/cercor/bhs358.
    """

    redraws_from_counts: ClassVar[bool] = True
    pairs: ClassVar[str | None] = None

    total: int = eqx.field(static=True, converter=partial(check_count, "FixedTotal: total"))
    autapses: bool = eqx.field(static=True, default=True)
    multapses: bool = eqx.field(static=True, default=True)
    stored: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        check_flags(self, "autapses", "multapses", "stored")
        if not self.stored and not self.multapses:
            raise ValueError(
                "FixedTotal: stored=False needs multapses=True: a row without multapses is not "
                "drawn in one pass. Store it, or allow multapses"
            )

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        pairs = n_pre * candidates(n_post, same, self.autapses)
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
        return float(self.total) if n_pre * candidates(n_post, same, self.autapses) > 0 else 0.0

    def held_bytes(self, expected: float, n_pre: int, n_post: int, same: bool) -> float:
        pairs = n_pre * candidates(n_post, same, self.autapses)
        return 0.0 if self.multapses else 25.0 * min(self.total, max(pairs - self.total, 0))

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws:
        n = candidates(n_post, same, self.autapses)
        if self.total == 0 or n_pre * n == 0:
            return no_rows(n_pre)
        key_of_pairs, skip = _pairs_key(key), n != n_post
        if not self.multapses:
            return _without_multapses(key_of_pairs, self.total, n_pre, n, skip)
        counts = _row_counts(key_of_pairs, self.total, n_pre)
        return RowDraws(
            counts, lambda first, stop: uniform_rows(key, first, counts[first:stop], n, skip)
        )

    def law(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowLaw | None:
        n = candidates(n_post, same, self.autapses)
        if self.stored:
            return None
        total = self.total if n_pre * n > 0 else 0
        counts = _row_counts(_pairs_key(key), total, n_pre).astype(np.uint32)
        mean = -(-total // max(n_pre, 1))
        return RowLaw(key, n, n != n_post, mean, counts, None, total)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        yield from row_draws(self.rows(key, n_pre, n_post, same))


def _pairs_key(key: Any) -> tuple[Any, Any]:
    return key[0], key[1] ^ _PAIRS


def _row_counts(key: Any, total: int, n_pre: int) -> np.ndarray:
    """How many of `total` uniform draws each source gets."""
    counts, step = np.zeros(n_pre, np.int64), 2 * max(CHUNK, n_pre)
    work = lambda first: count_draws(key, first, min(first + step, total), n_pre)  # noqa: E731
    for _, some in run_ahead(work, range(0, total, step)):
        counts += some
    return counts


def _without_multapses(key: Any, total: int, n_pre: int, n: int, skip: bool) -> RowDraws:
    """A uniform subset of all pairs; the smaller of subset and complement is kept, row by row."""
    few = min(total, n_pre * n - total)
    pairs = _distinct_pairs(key, few, n_pre, n)
    counts = np.diff(np.searchsorted(pairs, np.arange(n_pre + 1) * n))
    chosen = np.empty(few, np.uint16 if n <= 1 << 16 else np.uint32)
    for first, stop, begin, end in ranges(counts):
        chosen[begin:end] = pairs[begin:end] - np.repeat(
            np.arange(first, stop) * n, counts[first:stop]
        )
    ends = row_ends(counts)

    def targets(first: int, stop: int) -> np.ndarray:
        mine, number = chosen[ends[first] : ends[stop]].astype(np.int32), counts[first:stop]
        if total > few:
            left = np.ones((stop - first, n), bool)
            left[np.repeat(np.arange(stop - first), number), mine] = False
            mine, number = np.nonzero(left)[1].astype(np.int32), n - number
        return skip_own(mine, np.repeat(np.arange(first, stop), number)) if skip else mine

    return RowDraws(n - counts if total > few else counts, targets)


def _distinct_pairs(key: Any, total: int, n_pre: int, n: int) -> np.ndarray:
    """The first `total` distinct pairs of a sequence, as `source * n + target`, ascending.

    Draws as many pairs as are missing, so that there are never too many.
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
    """The distinct pairs among the draws `first ... stop`, ascending."""
    pairs = np.empty(stop - first, np.int64)
    work = lambda at: draw_pairs(key, at, min(at + CHUNK, stop), n_pre, n)  # noqa: E731
    for at, some in run_ahead(work, range(first, stop, CHUNK)):
        pairs[at - first : at - first + some.size] = some
    return _different(pairs)


def _different(pairs: np.ndarray) -> np.ndarray:
    """Each pair once, ascending (`np.unique` is slower)."""
    pairs.sort()
    new = np.ones(pairs.size, bool)
    np.not_equal(pairs[1:], pairs[:-1], out=new[1:])
    return pairs[new]
