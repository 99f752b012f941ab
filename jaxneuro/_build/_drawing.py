"""The connections of a projection, drawn some rows at a time."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..connectivity import Chunk, RowDraws, ranges
from .._describe import Projection, ResolvedProjection, is_individual
from .._kernels import BLOCK_TARGETS
from .._numerics import stream_key
from .._tables import Piece, StoredBundle
from ._delays import behind_synapse, delay_steps, longest_delay
from ._values import SynapseValues, calls_a_function


class ProjectionBundle(StoredBundle):
    """The connections of a projection between two whole populations of `n_pre` and `n_post`.

    Connections are counted first and drawn when they are written. A rule that cannot
    count its rows without drawing them draws twice, which is cheaper than holding the draws beside
    the finished columns. Only draws that fit in one chunk are kept, and those of rules that search
    in space, which are slow.
    """

    def __init__(self, resolved: ResolvedProjection, seed: Any, n_pre: int, n_post: int, dt: float):
        p = resolved.projection
        self._resolved, self._dt, self._seed = resolved, dt, seed
        self._key = stream_key(seed, p.name, "targets")
        self.n_sources, self.n_targets = n_pre, n_post
        self.own_weights, self.own_delays = own_weights(p), is_individual(p.delay)
        delay = 0 if self.own_delays else delay_steps(p.name, p.delay, dt)
        self.delay = 0 if self.own_delays else int(behind_synapse(p, delay, dt))
        self.longest_delay = longest_delay(resolved, dt)
        self.serial = calls_a_function(p)
        self._kept: list[Chunk] | None = []
        drawing = 0 not in resolved.sizes
        rule, sizes = resolved.rule, resolved.sizes
        self._rows = rule.rows(self._key, *sizes, resolved.same) if drawing else None
        counts = self._count() if self._rows is None else self._rows.counts
        self.counts = np.zeros(n_pre, np.uint32)
        self.counts[resolved.pre] = counts
        self.size = int(counts.sum(dtype=np.int64))

    def _count(self) -> np.ndarray:
        """Draws all chunks for their numbers of connections per row."""
        counts, kept = np.zeros(self._resolved.sizes[0], np.int64), []
        for chunk in self._draw():
            counts[chunk.first_row : chunk.first_row + chunk.counts.size] += chunk.counts
            if kept is not None:
                narrow = np.uint16 if self.n_targets <= BLOCK_TARGETS else np.uint32
                kept.append(chunk._replace(targets=chunk.targets.astype(narrow)))
                if len(kept) > 1 and not self._resolved.rule.spatial:
                    kept = None
        self._kept = kept
        return counts

    def _draw(self) -> Iterator[Chunk]:
        r = self._resolved
        if 0 not in r.sizes:
            yield from r.rule.draw(self._key, *r.sizes, r.same)

    def pieces(self, weights: Any, delays: Any) -> Iterator[Callable[[], Piece]]:
        values = None
        if self.own_weights or self.own_delays:
            dtypes, order = (weights, delays), None if self._rows is None else self._rows.order
            values = SynapseValues(self._resolved, self._seed, self._dt, dtypes, self.counts, order)
        for connected in self._connected():
            yield connected if values is None else partial(_with_values, values, connected)

    def _connected(self) -> Iterator[Callable[[], Piece]]:
        """Functions that return all connections without their values."""
        rows = self._rows
        if rows is not None:
            for first, stop, begin, end in ranges(rows.counts):
                if end > begin:
                    yield partial(self._of_rows, rows, first, stop)
            return
        used = np.zeros(self._resolved.sizes[0], np.uint32)
        for chunk in self._draw() if self._kept is None else self._kept:
            mine = slice(chunk.first_row, chunk.first_row + chunk.counts.size)
            before = used[mine].copy()
            used[mine] += chunk.counts.astype(np.uint32)
            if chunk.targets.size:
                yield partial(self._piece, *chunk, before)

    def forget(self) -> None:
        self._rows, self._kept = None, []

    def _of_rows(self, rows: RowDraws, first: int, stop: int) -> Piece:
        counts, targets = rows.counts[first:stop], rows.targets(first, stop)
        return self._piece(first, counts, targets, np.zeros(stop - first, np.uint32))

    def _piece(self, first: int, counts: np.ndarray, targets: np.ndarray, used: np.ndarray):
        """What a rule drew among the chosen neurons, numbered in the populations."""
        pre, post = self._resolved.pre, self._resolved.post
        stop = first + counts.size
        rows = np.arange(first, stop) + pre.start if isinstance(pre, slice) else pre[first:stop]
        targets = targets.astype(np.int32)
        if not isinstance(post, slice):
            targets = post[targets].astype(np.int32)
        elif post.start:
            targets += np.int32(post.start)
        return Piece(rows, counts, used, targets)


def own_weights(p: Projection) -> bool:
    """Whether each connection has a weight of its own: if they differ, or will."""
    return is_individual(p.weight) or p.plasticity is not None


def _with_values(values: SynapseValues, connected: Callable[[], Piece]) -> Piece:
    piece = connected()
    weights, delays = values.of(piece)
    return piece._replace(weights=weights, delays=delays)
