"""Searches for the candidates of each neuron: the neurons that it may be connected to."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ..space import Place, distance_range
from ._rule import CHUNK


class Search(ABC):
    """The candidates of each neuron of one side (a row) among the neurons of the other side.

    **Step** `counts()` returns the approximate number of candidates of each row, `pairs(first,
    stop)` the candidates of some rows as `(row, other)`, in any order.
    """

    n_rows: int

    @abstractmethod
    def counts(self) -> np.ndarray: ...

    @abstractmethod
    def pairs(self, first: int, stop: int) -> tuple[np.ndarray, np.ndarray]: ...

    @cached_property
    def _ends(self) -> np.ndarray:
        return np.cumsum(np.maximum(self.counts(), 1))

    def chunks(self, at_least: int = 0) -> Iterator[tuple[int, int]]:
        """Ranges of rows with about `CHUNK` candidates, or `at_least` if more, or of one row."""
        size, first = max(CHUNK, at_least), 0
        while first < self.n_rows:
            begin = self._ends[first - 1] if first else 0
            stop = max(int(np.searchsorted(self._ends, begin + size, side="right")), first + 1)
            yield first, min(stop, self.n_rows)
            first = stop


class AllPairs(Search):
    """Every neuron of the other side is a candidate of every row."""

    def __init__(self, n_rows: int, n_others: int):
        self.n_rows, self.n_others = n_rows, n_others

    def counts(self) -> np.ndarray:
        return np.full(self.n_rows, self.n_others)

    def pairs(self, first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        rows, others = np.arange(first, stop), np.arange(self.n_others)
        return np.repeat(rows, others.size), np.tile(others, rows.size)


class Near(Search):
    """Candidates are the neurons within a distance `reach`, and a few beyond it by rounding."""

    def __init__(self, rows: Place, others: Place, period: np.ndarray | None, reach: float):
        self.n_rows = len(rows.points)
        self._rows, self._others = (_inside(p.points, period) for p in (rows, others))
        # The tree takes 0 for an open axis.
        self._box = None if period is None else np.where(np.isinf(period), 0.0, period)
        largest = max(np.abs(x).max(initial=0.0) for x in (self._rows, self._others))
        self._reach = reach + 1e-12 * (reach + largest)

    def _tree_of(self, points: np.ndarray) -> Any:
        from scipy.spatial import KDTree

        return KDTree(points, leafsize=16, boxsize=self._box, balanced_tree=False)

    @cached_property
    def _tree(self) -> Any:
        return self._tree_of(self._others)

    def count(self, rows: Any) -> np.ndarray:
        """How many candidates some rows have."""
        return self._tree.query_ball_point(self._rows[rows], self._reach, return_length=True)

    def counts(self) -> np.ndarray:
        # Some rows represent their neighbours: counting all takes half as long as drawing.
        step = max(1, self.n_rows // 4096)
        some = self.count(slice(None, None, step))
        return np.repeat(some, step)[: self.n_rows]

    def pairs(self, first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        near = self._tree_of(self._rows[first:stop]).sparse_distance_matrix(
            self._tree, self._reach, output_type="ndarray"
        )
        return near["i"] + first, near["j"].copy()


def near_or_all(rows: Place, others: Place, period: np.ndarray | None, reach: float) -> Search:
    """The faster of the two searches; the result does not depend on the choice."""
    n_rows, n_others = len(rows.points), len(others.points)
    everybody = AllPairs(n_rows, n_others)
    if not n_rows or not n_others or reach == np.inf or reach >= distance_range(rows, others)[1]:
        return everybody
    near = Near(rows, others, period, reach)
    # Measured: a pair from the tree costs about as much as eight pairs without a search.
    return everybody if near.count(some_rows(n_rows)).mean() > n_others / 8 else near


def some_rows(n: int, at_most: int = 64) -> np.ndarray:
    """Up to 64 rows spread over all: multiples of the golden ratio, which favour no lattice."""
    if n <= at_most:
        return np.arange(n)
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    return np.unique((np.arange(at_most) * golden % 1.0 * n).astype(np.int64))


def ascending(row: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs sorted by row, then by other."""
    together = (row.astype(np.int64) << 32) | other
    together.sort()
    return together >> 32, together & 0xFFFFFFFF


def _inside(points: np.ndarray, period: np.ndarray | None) -> np.ndarray:
    """Positions moved by whole periods into [0, period), where the tree wants them."""
    x = np.array(points, np.float64)
    for axis, length in enumerate([] if period is None else period.tolist()):
        if length < np.inf:
            x[:, axis] %= length
            x[x[:, axis] >= length, axis] = 0.0  # a small negative number was rounded
    return x
