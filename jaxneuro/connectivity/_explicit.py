"""Connections given one by one."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._fixed_indegree import stable_order
from ._rule import CHUNK, Chunk, Rule


class Explicit(Rule):
    """Connections given as arrays: source `pre[c]` connects to target `post[c]`.

    Weights and delays of the projection may be arrays with one entry per connection, in
    the same order. A pair may be given more than once (a multapse).

    **Fields** `pre`, `post` integer arrays of one length: indices in their populations.

    **Raises** `ValueError` for arrays that are not whole numbers of one length, negative
    indices; from `build`, for an index outside its population.

    **Source** the house's own.
    """

    pre: np.ndarray
    post: np.ndarray

    def __init__(self, pre: Any, post: Any):
        self.pre, self.post = _indices("pre", pre), _indices("post", post)
        if self.pre.size != self.post.size:
            raise ValueError(
                "Explicit: pre and post must have one length; "
                f"got {self.pre.size} and {self.post.size}"
            )

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        for side, index, n in (("pre", self.pre, n_pre), ("post", self.post, n_post)):
            if index.size and index.max() >= n:
                raise ValueError(
                    f"{name}: {side} must be indices below {n}, the size of its population; "
                    f"got {index.max()}"
                )

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(self.pre.size)

    def _order(self) -> np.ndarray:
        if self.pre.size == 0:
            return np.zeros(0, np.int64)
        by_post = stable_order(self.post, int(self.post.max()) + 1)
        return by_post[stable_order(self.pre[by_post], int(self.pre.max()) + 1)]

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        order = self._order()
        counts = np.bincount(self.pre, minlength=n_pre)
        ends = np.cumsum(counts)
        first = 0
        while first < n_pre:
            begin = ends[first - 1] if first else 0
            stop = max(int(np.searchsorted(ends, begin + CHUNK, side="right")), first + 1)
            stop = min(stop, n_pre)
            yield Chunk(first, counts[first:stop], self.post[order[begin : ends[stop - 1]]])
            first = stop

    def arrange(self, values: np.ndarray) -> np.ndarray:
        return values[self._order()]


def _indices(name: str, value: Any) -> np.ndarray:
    x = np.asarray(value)
    if x.size == 0:
        x = x.astype(np.int64)
    if x.ndim != 1 or not np.issubdtype(x.dtype, np.integer):
        raise ValueError(
            f"Explicit: {name} must be one axis of whole numbers; got shape {x.shape}, {x.dtype}"
        )
    if x.size and x.min() < 0:
        raise ValueError(f"Explicit: {name} must not be negative; got {x.min()}")
    return x.astype(np.int64)
