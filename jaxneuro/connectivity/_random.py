"""Rules that draw pairs: with a probability each, or a total number."""

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int64, Integer

from .. import spec
from .._kernels.draw import count_draws, draw_pairs, stable_order, uniform_rows
from .._kernels.redraw import gap_counts, gap_rows
from .._kernels.threads import run_ahead
from ._rule import (
    CHUNK,
    ONE_PASS,
    Chunk,
    RowDraws,
    RowLaw,
    Rule,
    candidates,
    check_drawable,
    drawn_rows,
    no_rows,
    ranges,
    row_chunks,
    row_draws,
    row_ends,
    skip_own,
)


class FixedProbability(Rule):
    """Pairwise Bernoulli: each pair (i, j) is connected with probability p.

    Draws the gaps between the targets of a row, which have a geometric distribution,
    `P(gap <= g) = 1 - (1-p)^(g+1)`, by integer thresholds on 32 random bits. The probability is
    exact to 2^-32, and no transcendental function is computed between bits and target. Index of a
    draw: the source; counter: the number of the gap in its row.

    `stored=False` stores no connections and draws a row again, with the same bits, whenever its
    source spikes; weights and delays are then one number each, or drawn from a distribution.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling, "pairwise
        Bernoulli", doi:10.1371/journal.pcbi.1010086; skipping: Batagelj and Brandes (2005),
        Efficient generation of large random networks, doi:10.1103/PhysRevE.71.036113.
    """

    redraws_in_order: ClassVar[bool] = True

    p: float = spec.field(spec.FRACTION, static=True, doc="probability of each pair")
    autapses: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether a neuron may connect to itself"
    )
    stored: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether connections are stored"
    )

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        """Every size fits."""

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return self.p * n_pre * candidates(n_post, same, self.autapses)

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws:
        n = candidates(n_post, same, self.autapses)
        if self.p == 0.0 or n <= 0:
            return no_rows(n_pre)
        skip, counts = n != n_post, np.zeros(n_pre, np.uint32)
        if self.p * n * n_pre <= CHUNK:
            return drawn_rows(*gap_rows(key, 0, n_pre, n, self.p, skip))
        work = lambda r: gap_counts(key, r[0], r[1], n, self.p)  # noqa: E731
        for (first, stop), some in run_ahead(work, row_chunks(n_pre, self.p * n)):
            counts[first:stop] = some
        return RowDraws(counts, lambda first, stop: gap_rows(key, first, stop, n, self.p, skip)[1])

    def law(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowLaw | None:
        n = candidates(n_post, same, self.autapses)
        if self.stored:
            return None
        size = math.ceil(self.p * n * n_pre)  # 0 only if there can be none
        return RowLaw(key, n, n != n_post, math.ceil(self.p * n), None, self.p, size)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        n = candidates(n_post, same, self.autapses)
        if self.p == 0.0 or n <= 0:
            return
        for first, stop in row_chunks(n_pre, self.p * n):
            yield Chunk(first, *gap_rows(key, first, stop, n, self.p, n != n_post))


class SymmetricBernoulli(Rule):
    """Symmetric pairwise Bernoulli: i -> j and j -> i both exist with probability p, or neither.

    Each unordered pair of one population is drawn once, independently, by the gaps in the row of
    its smaller index, as in `FixedProbability`. Drawn weights and delays are drawn for each
    direction. Index of a draw: the smaller neuron; counter: the number of the gap in its row.
    Source and target must be the same population.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling, "symmetric pairwise
        Bernoulli", doi:10.1371/journal.pcbi.1010086.
    """

    p: float = spec.field(spec.FRACTION, static=True, doc="probability of each pair")
    autapses: bool = spec.field(
        spec.Flag(),
        default=False,
        static=True,
        doc="whether a neuron may connect to itself, once, with probability p",
    )

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if not same:
            raise spec.InvalidValueError(
                name,
                "rule",
                "between the same neurons for SymmetricBernoulli (FixedProbability takes others)",
                "other sources than targets",
            )

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return self.p * n_pre * (n_pre - (not self.autapses)) if n_pre else 0.0

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        own = 0 if self.autapses else 1  # the first target of a row, relative to its neuron
        if self.p == 0.0 or n_pre <= own:
            return
        chunks = row_chunks(n_pre, self.p * n_pre, at_least=4 * n_pre)
        for _, chunk in run_ahead(lambda r: self._both_ways(key, *r, n_pre, own), chunks):
            yield chunk

    def _both_ways(self, key: Any, first: int, stop: int, n: int, own: int) -> Chunk:
        """Pairs with i in `first ... stop`, as rows from `first` on."""
        i, j = self._ahead(key, first, stop, n, own)
        back = i != j
        rows = np.concatenate([j[back], i]) - first
        targets = np.concatenate([i[back], j])
        # Stable: a row first has its connections to smaller neurons, ascending, then the others.
        order = stable_order(rows, n - first)
        return Chunk(first, np.bincount(rows, minlength=n - first), targets[order])

    def _ahead(
        self, key: Any, first: int, stop: int, n: int, own: int
    ) -> tuple[Integer[np.ndarray, " pairs"], ...]:
        """Pairs i <= j with i in `first ... stop`: i ascending, then j."""
        parts = []
        for begin, end in row_chunks(stop - first, self.p * (n - first)):
            begin, end = begin + first, end + first
            # All rows are drawn as long as the longest; targets beyond the last neuron are dropped.
            counts, gaps = gap_rows(key, begin, end, max(n - begin - own, 1), self.p)
            i = np.repeat(np.arange(begin, end), counts)
            j = i + gaps + own
            parts.append((i[j < n], j[j < n]))
        return tuple(np.concatenate(side) for side in zip(*parts))


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

    `stored=False` stores no connections and draws a row again, with the same bits, whenever its
    source spikes; multapses must then be allowed, and weight and delay be one number each. Without
    multapses `total` is at most the number of pairs. A population without neurons has no
    connections.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling, "random, fixed total
        number", doi:10.1371/journal.pcbi.1010086; with multapses: Potjans and Diesmann (2014), The
        cell-type specific cortical microcircuit: relating structure and activity in a full-scale
        spiking network model, doi:10.1093/cercor/bhs358.
    """

    redraws_from_counts: ClassVar[bool] = True
    pairs: ClassVar[str | None] = None

    total: int = spec.field(spec.Whole(), static=True, doc="number of connections")
    autapses: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether a neuron may connect to itself"
    )
    multapses: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether a pair may connect more than once"
    )
    stored: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether connections are stored"
    )
    rules = (ONE_PASS,)

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if n_post and n_pre:
            pairs = n_pre * candidates(n_post, same, self.autapses)
            check_drawable(name, "total", self.total, pairs, "pairs", self.multapses)

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


def _row_counts(key: Any, total: int, n_pre: int) -> Int64[np.ndarray, " sources"]:
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

    def targets(first: int, stop: int) -> Integer[np.ndarray, " synapses"]:
        mine, number = chosen[ends[first] : ends[stop]].astype(np.int32), counts[first:stop]
        if total > few:
            left = np.ones((stop - first, n), bool)
            left[np.repeat(np.arange(stop - first), number), mine] = False
            mine, number = np.nonzero(left)[1].astype(np.int32), n - number
        return skip_own(mine, np.repeat(np.arange(first, stop), number)) if skip else mine

    return RowDraws(n - counts if total > few else counts, targets)


def _distinct_pairs(key: Any, total: int, n_pre: int, n: int) -> Int64[np.ndarray, " pairs"]:
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


def _draw_pairs(key: Any, first: int, stop: int, n_pre: int, n: int) -> Int64[np.ndarray, " pairs"]:
    """The distinct pairs among the draws `first ... stop`, ascending."""
    pairs = np.empty(stop - first, np.int64)
    work = lambda at: draw_pairs(key, at, min(at + CHUNK, stop), n_pre, n)  # noqa: E731
    for at, some in run_ahead(work, range(first, stop, CHUNK)):
        pairs[at - first : at - first + some.size] = some
    return _different(pairs)


def _different(pairs: Int64[np.ndarray, " pairs"]) -> Int64[np.ndarray, " different"]:
    """Each pair once, ascending (`np.unique` is slower)."""
    pairs.sort()
    new = np.ones(pairs.size, bool)
    np.not_equal(pairs[1:], pairs[:-1], out=new[1:])
    return pairs[new]
