"""Drawing for rules with positions: candidate pairs, each with its own probability."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import equinox as eqx
import numpy as np

from .._checks import check_count
from .._kernels import run_ahead, stable_order
from .._numerics import bits
from ..space import Place
from ._distance_search import Search, ascending, some_rows
from ._rule import Chunk, Rule

# From candidate pairs (source, target): the pairs that may be connected, and their probabilities.
Chance: TypeAlias = Callable[
    [np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray | float]
]


class Cap(eqx.Module):
    """The most connections of a source, or of a target; None for no limit."""

    max_outdegree: int | None = eqx.field(static=True)
    max_indegree: int | None = eqx.field(static=True)

    def check(self, name: str) -> None:
        """Raises `ValueError` unless each is a whole number and only one is given."""
        for which in ("max_outdegree", "max_indegree"):
            if getattr(self, which) is not None:
                check_count(f"{name}: {which}", getattr(self, which))
        if None not in (self.max_outdegree, self.max_indegree):
            raise ValueError(
                f"{name}: give one of max_outdegree and max_indegree; got "
                f"{self.max_outdegree} and {self.max_indegree}"
            )

    @property
    def by_target(self) -> bool:
        """Whether the limit is on the connections of a target."""
        return self.max_indegree is not None

    @property
    def most(self) -> int | None:
        """The limit."""
        return self.max_indegree if self.by_target else self.max_outdegree


class BoundRule(Rule):
    """A rule bound to the positions of its neurons.

    The pair (i, j) is connected if its first random word is below `p 2^32`, rounded to a whole
    number. Index of a draw: the source; counter: the target. With a limit, a neuron with more
    connections keeps those with the smallest second words.

    With a limit on the sources of a target, the rows of the search and of a chunk are targets.
    """

    label: str = eqx.field(static=True)
    sizes: tuple[int, int] = eqx.field(static=True)
    search: Search
    chance: Chance
    autapses: bool = eqx.field(static=True)
    cap: Cap

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if (n_pre, n_post) != self.sizes:
            raise ValueError(
                f"{name}: sources and targets must be as many as the positions, {self.sizes[0]} "
                f"and {self.sizes[1]}; got {n_pre} and {n_post}"
            )

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        if 0 in self.sizes:
            return 0.0
        # Fewer rows if each has millions of candidates: an estimate must be quick.
        first = self.search.pairs(0, 1)[0].size
        rows = some_rows(self.search.n_rows, min(64, max(4, (1 << 21) // max(first, 1))))
        means = []
        for row in rows:
            p = self._candidates(row, row + 1, same)[2]
            means.append(p.sum() if self.cap.most is None else min(p.sum(), self.cap.most))
        return float(np.mean(means) * self.search.n_rows)

    def held_bytes(self, expected: float, n_pre: int, n_post: int, same: bool) -> float:
        # Connections drawn by a search in space are kept until they are written.
        return expected * (2 if n_post <= 1 << 16 else 4)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        if 0 in self.sizes:
            return
        by_target = self.cap.by_target
        chunks = self.search.chunks(at_least=4 * n_pre if by_target else 0)
        work = lambda rows: self._connected(key, rows[0], rows[1], same)  # noqa: E731
        for (first, stop), (i, j) in run_ahead(work, chunks):
            if by_target:
                yield Chunk(0, np.bincount(i, minlength=n_pre), j[stable_order(i, n_pre)])
            else:
                yield Chunk(first, np.bincount(i - first, minlength=stop - first), j)

    def _candidates(self, first: int, stop: int, same: bool):
        """Pairs of some rows that may be connected, as (sources, targets, probabilities)."""
        row, other = self.search.pairs(first, stop)
        i, j = (other, row) if self.cap.by_target else (row, other)
        if same and not self.autapses:
            apart = i != j
            i, j = i[apart], j[apart]
        i, j, p = self.chance(i, j)
        return i, j, np.broadcast_to(p, i.shape)

    def _connected(self, key: Any, first: int, stop: int, same: bool):
        """Connections of some rows, as (sources, targets), ascending by row."""
        i, j, p = self._candidates(first, stop, same)
        threshold = np.rint(p * 2.0**32)
        if (threshold < 2.0**32).any():
            drawn = bits(key, i, j)[0] < threshold
            i, j = i[drawn], j[drawn]
        row, other = ascending(*((j, i) if self.cap.by_target else (i, j)))
        i, j = (other, row) if self.cap.by_target else (row, other)
        if self.cap.most is not None:
            kept = _smallest(row - first, bits(key, i, j)[1], self.cap.most)
            i, j = i[kept], j[kept]
        return i, j


def _smallest(row: np.ndarray, rank: np.ndarray, most: int) -> np.ndarray:
    """Which pairs are among the `most` with the smallest rank in their row; rows ascend."""
    counts = np.bincount(row)
    if counts.max(initial=0) <= most:
        return np.ones(row.size, bool)
    order = np.argsort((row << 32) | rank, kind="stable")
    place = np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = np.empty(row.size, bool)
    kept[order] = place < most
    return kept


def needs_positions(name: str, rule: Rule) -> ValueError:
    """The error for a rule that is used before it has the positions of its neurons."""
    return ValueError(
        f"{name}: {type(rule).__name__} needs the positions of its neurons; give the populations "
        "positions= (a Grid, a UniformBox or Free points), or call bind(label, pre, post) first"
    )


class Spatial(Rule):
    """A rule that needs positions: it draws after it is bound to them."""

    spatial = True

    @abstractmethod
    def bind(self, label: str, pre: Place | None, post: Place | None) -> Rule: ...

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        raise needs_positions(name, self)

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        raise needs_positions("a connection rule", self)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        raise needs_positions("a connection rule", self)


def sides(pre: Place, post: Place, by_target: bool) -> tuple[Place, Place]:
    """The places of the rows and of the candidates of a search."""
    return (post, pre) if by_target else (pre, post)
