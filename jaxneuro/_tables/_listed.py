"""A bundle made from lists of sources and targets."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from jaxneuro._tables._bundle import Piece, StoredBundle

_PIECE = 1 << 18  # connections in a piece


class ListedBundle(StoredBundle):
    """Connections given one by one: `pre[c]` to `post[c]`, in any order, with multapses.

    **Fields** `pre`, `post` whole numbers below `n_sources`, `n_targets`; `weights` one per
    connection, or None if they have none of their own; `delays` [steps] one per connection, or
    one number for all, at least 1. `order` gives for each place of the rows the number of the given
    connection.

    **Raises** `ValueError` for lists of different lengths, numbers out of range or delays below 1.
    """

    def __init__(
        self,
        pre: Any,
        post: Any,
        n_sources: int,
        n_targets: int,
        weights: Any = None,
        delays: Any = 1,
    ):
        pre, post = (np.asarray(x, np.int64) for x in (pre, post))
        self._delays = np.asarray(delays, np.int64)
        self._weights = None if weights is None else np.asarray(weights)
        for name, x in (("post", post), ("weights", self._weights), ("delays", self._delays)):
            if x is not None and x.shape != pre.shape and not (name == "delays" and x.ndim == 0):
                raise ValueError(
                    f"{name} must have one entry per connection, {pre.shape}; got {x.shape}"
                )
        for name, x, n in (("pre", pre, n_sources), ("post", post, n_targets)):
            if x.size and (x.min() < 0 or x.max() >= n):
                raise ValueError(f"{name} must be from 0 to {n - 1}; got {x.min()} to {x.max()}")
        if self._delays.size and self._delays.min() < 1:
            raise ValueError(f"delays must be at least one step; got {self._delays.min()}")
        self.n_sources, self.n_targets, self.size = n_sources, n_targets, pre.size
        self.own_weights, self.own_delays = weights is not None, self._delays.ndim == 1
        self.delay = 0 if self.own_delays else int(self._delays)
        self.longest_delay = int(self._delays.max(initial=1))
        self.order = _order(pre, post)
        self.counts = np.bincount(pre, minlength=n_sources).astype(np.uint32)
        self._post = post[self.order]

    def pieces(self, weights: Any, delays: Any) -> Iterator[Callable[[], Piece]]:
        ends = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        first = 0
        while first < self.n_sources:
            stop = int(np.searchsorted(ends, ends[first] + _PIECE, side="right")) - 1
            stop = max(stop, first + 1)
            if ends[stop] > ends[first]:
                span = slice(int(ends[first]), int(ends[stop]))
                yield partial(self._rows, (first, stop), span, weights, delays)
            first = stop

    def _rows(self, rows: tuple[int, int], span: slice, weights: Any, delays: Any) -> Piece:
        """The connections of some rows."""
        order, numbers = self.order[span], np.arange(*rows)
        own_weights = None if weights is None else self._weights[order].astype(weights)  # type: ignore[index]
        own_delays = None if delays is None else self._delays[order].astype(delays)
        counts, none_before = self.counts[slice(*rows)], np.zeros(numbers.size, np.uint32)
        return Piece(numbers, counts, none_before, self._post[span], own_weights, own_delays)


def _order(pre: np.ndarray, post: np.ndarray) -> np.ndarray:
    """By source, then target, then as given."""
    after = (pre[1:] > pre[:-1]) | ((pre[1:] == pre[:-1]) & (post[1:] >= post[:-1]))
    return np.arange(pre.size) if after.all() else np.lexsort((post, pre))
