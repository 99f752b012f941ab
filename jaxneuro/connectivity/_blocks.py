"""Neurons connect if they are in the same block of space, or in blocks that touch."""

import itertools
import math
from typing import Any

import numpy as np
from jaxtyping import Float, Int64, Integer

from .. import spec
from .._arrays import ArrayLike
from ..space import Place
from ..space._distances import common_period
from ..space._layouts import PerAxis
from ._distance import BoundRule, Cap, Search, Spatial, limit, one_limit, sides
from ._rule import Rule

_EDGE = 1e-9  # blocks: a position this near to an edge is taken to be on it
_MOST_BLOCKS = 2**62


def block_counts(
    label: str, size: Float[np.ndarray, " dims"], period: Float[np.ndarray, " dims"] | None
) -> Int64[np.ndarray, " dims"]:
    """How many blocks a period has on each axis, 0 for an open axis."""
    if period is None:
        return np.zeros(size.size, np.int64)
    share = np.where(np.isinf(period), 0.0, period / size)
    whole = np.rint(share)
    if (np.abs(share - whole) > _EDGE * np.maximum(share, 1)).any() or (
        (whole == 0) & np.isfinite(period)
    ).any():
        must = f"a whole part of the period where space repeats, {period} um"
        raise spec.InvalidValueError(label, "size", must, f"{size} um")
    return whole.astype(np.int64)


def blocks_of(
    label: str,
    points: Float[np.ndarray, "n dims"],
    size: Float[np.ndarray, " dims"],
    origin: Float[np.ndarray, " dims"],
    counts: Int64[np.ndarray, " dims"],
) -> Int64[np.ndarray, "n dims"]:
    """Block coordinates (n, dims) of positions: `floor((x - origin) / size)`.

    Modulo the number of blocks where an axis repeats. A position within 1e-9 blocks of an edge
    counts as on the edge and in the upper block, whatever its rounding.
    """
    at = (points - origin) / size
    if np.abs(at).max(initial=0.0) >= _MOST_BLOCKS:
        raise _too_small(label, f"{size} um")
    whole = np.rint(at)
    block = np.where(np.abs(at - whole) <= _EDGE, whole, np.floor(at)).astype(np.int64)
    return np.where(counts > 0, block % np.maximum(counts, 1), block)


def _too_small(label: str, got: str) -> spec.InvalidValueError:
    return spec.InvalidValueError(label, "size", "large enough for fewer than 2**62 blocks", got)


class Blocks(Search):
    """Candidates are the neurons in the same block, and in the blocks around it if `adjacent`."""

    def __init__(
        self,
        label: str,
        rows: Int64[np.ndarray, "rows dims"],
        others: Int64[np.ndarray, "others dims"],
        counts: Int64[np.ndarray, " dims"],
        adjacent: bool,
    ):
        self.n_rows, self._periods = len(rows), counts
        # An open axis has a margin of one block on both sides: every neighbour has a number.
        both = np.concatenate([rows, others]) if len(rows) + len(others) else counts[None, :]
        self._low = np.where(counts > 0, 0, both.min(0) - 1)
        extent = np.where(counts > 0, counts, both.max(0) + 2 - self._low)
        if math.prod(int(n) for n in extent) >= _MOST_BLOCKS:
            raise _too_small(label, f"{extent} blocks along the axes")
        self._strides = np.append(np.cumprod(extent[:0:-1])[::-1], 1)
        self._row_blocks, self._row_number = np.unique(self._numbers(rows), return_inverse=True)
        number = self._numbers(others)
        self._order = np.argsort(number, kind="stable")
        self._sorted = number[self._order]
        steps = [(-1, 0, 1) if n == 0 or n > 2 else range(n) for n in counts]
        self._steps = np.array(list(itertools.product(*steps)) if adjacent else [[0] * len(counts)])

    def _numbers(self, block: Int64[np.ndarray, "*shape dims"]) -> Int64[np.ndarray, "*shape"]:
        """Blocks (..., dims) as one number each."""
        return ((block - self._low) * self._strides).sum(axis=-1)

    def _stretches(
        self, numbers: Int64[np.ndarray, " blocks"]
    ) -> tuple[Integer[np.ndarray, "blocks steps"], Integer[np.ndarray, "blocks steps"]]:
        """Begin and end of the candidates of blocks among the sorted others: (blocks, steps)."""
        block = numbers[:, None] // self._strides
        # The remainder of the division by the previous stride gives the coordinate.
        block[:, 1:] = (numbers[:, None] % self._strides[:-1]) // self._strides[1:]
        around = (block + self._low)[:, None, :] + self._steps
        periods = np.maximum(self._periods, 1)
        around = np.where(self._periods > 0, around % periods, around)
        number = self._numbers(around)
        return (
            np.searchsorted(self._sorted, number, side="left"),
            np.searchsorted(self._sorted, number, side="right"),
        )

    def counts(self) -> Integer[np.ndarray, " rows"]:
        # One more for each block that is looked up, which takes memory too.
        sizes = np.empty(self._row_blocks.size, np.int64)
        for first in range(0, sizes.size, 4096):
            begin, end = self._stretches(self._row_blocks[first : first + 4096])
            sizes[first : first + 4096] = (end - begin).sum(axis=1) + len(self._steps)
        return sizes[self._row_number]

    def pairs(
        self, first: int, stop: int
    ) -> tuple[Integer[np.ndarray, " pairs"], Integer[np.ndarray, " pairs"]]:
        used, mine = np.unique(self._row_number[first:stop], return_inverse=True)
        begin, end = self._stretches(self._row_blocks[used])
        begin, size = begin[mine].ravel(), (end - begin)[mine].ravel()
        before = np.cumsum(size) - size
        at = np.arange(size.sum()) + np.repeat(begin - before, size)
        row = np.repeat(np.arange(first, stop), size.reshape(stop - first, -1).sum(axis=1))
        return row, self._order[at]


class BlockProbability(Spatial):
    """A pair is connected with probability p where both neurons are in one block of space.

    Space is divided into blocks of `size`: a neuron at x is in block `floor((x - origin) / size)`.
    With `adjacent`, pairs in blocks that touch by a side, an edge or a corner are connected too:
    `max |block_i - block_j| <= 1` over the axes, along the shorter way where space repeats. Limits
    of the degree are as in `DistanceProbability`.

    """

    size: tuple[float, ...] | float = spec.field(
        PerAxis(unit="um", above=0.0),
        static=True,
        doc="size of a block, of all axes or of each; a whole part of a period",
    )
    p: float = spec.field(spec.FRACTION, default=1.0, static=True, doc="probability of each pair")
    adjacent: bool = spec.field(
        spec.Flag(),
        default=False,
        static=True,
        doc="whether pairs in blocks that touch are connected too",
    )
    autapses: bool = spec.field(
        spec.Flag(), default=False, static=True, doc="whether a neuron may connect to itself"
    )
    max_outdegree: int | None = limit("targets of a source")
    max_indegree: int | None = limit("sources of a target")
    origin: tuple[float, ...] | float = spec.field(
        PerAxis(unit="um"),
        default=0.0,
        static=True,
        doc="corner of block 0, of all axes or of each",
    )
    stored: bool = spec.field(
        spec.OneOf(True), default=True, static=True, doc="that connections are stored"
    )
    rules = (one_limit(),)

    def _axes(
        self, label: str, dims: int
    ) -> tuple[Float[np.ndarray, " dims"], Float[np.ndarray, " dims"]]:
        """Size and origin per axis."""
        values = []
        for name in ("size", "origin"):
            x = np.asarray(getattr(self, name))
            if x.ndim and x.size != dims:
                must = f"one number, or one per axis for {dims} axes"
                raise spec.InvalidValueError(label, name, must, str(x))
            values.append(np.broadcast_to(x, (dims,)))
        return values[0], values[1]

    def blocks_of(self, points: ArrayLike, period: Any = None) -> Int64[np.ndarray, "n dims"]:
        """The block of each position (n, dims), as whole-number coordinates (n, dims)."""
        label = "BlockProbability"
        place = Place(np.asarray(points, np.float64), period)
        period = common_period(label, place, place)
        size, origin = self._axes(label, place.points.shape[1])
        return blocks_of(label, place.points, size, origin, block_counts(label, size, period))

    @property
    def cap(self) -> Cap:
        """The limit of the connections of a neuron."""
        return Cap(self.max_outdegree, self.max_indegree)

    def bind(self, label: str, pre: Place | None, post: Place | None) -> Rule:
        """The rule with the positions of its neurons; raises where they do not fit."""
        period = common_period(label, pre, post)
        assert pre is not None
        assert post is not None
        size, origin = self._axes(label, pre.points.shape[1])
        counts = block_counts(label, size, period)
        rows, others = (
            blocks_of(label, x.points, size, origin, counts)
            for x in sides(pre, post, self.cap.by_target)
        )
        search = Blocks(label, rows, others, counts, self.adjacent)
        p = float(self.p)
        return BoundRule(
            (len(pre.points), len(post.points)),
            search,
            lambda i, j: (i, j, p),
            self.autapses,
            self.cap,
        )
