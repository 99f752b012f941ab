"""Neurons connect if they are in the same block of space, or in blocks that touch."""

from typing import Any

import equinox as eqx
import numpy as np

from .._checks import check_fraction
from ..space import Place, common_period
from ._block_search import Blocks, block_counts, blocks_of
from ._distance_draw import BoundRule, Cap, Spatial, sides
from ._flags import check_flags, check_stored
from ._rule import Rule


def _hashable(value: Any) -> Any:
    """Lists and arrays as tuples of plain numbers."""
    plain = np.asarray(value).tolist()
    return tuple(plain) if isinstance(plain, list) else plain


class BlockProbability(Spatial):
    """A pair is connected with probability p where both neurons are in one block of space.

    Space is divided into blocks of `size`: a neuron at x is in block `floor((x - origin) / size)`.
    With `adjacent`, pairs in blocks that touch by a side, an edge or a corner are connected too:
    `max |block_i - block_j| <= 1` over the axes, along the shorter way where space repeats. Limits
    of the degree are as in `DistanceProbability`.

    **Fields** `size` [um] of a block and `origin` [um] of block 0, one number or one per axis;
    `p` from 0 to 1; `adjacent`; `autapses`: whether a neuron may connect to itself;
    `max_outdegree` the most targets of a source or `max_indegree` the most sources of a target,
    None for no limit; `stored` must be True, because drawing a row needs a search in space.

    **Raises** `ValueError` for a size that is not above 0, p outside [0, 1], a flag that is
    not True or False, or both limits; from `build`, if positions are missing or not in one space,
    or a period is not a whole number of blocks.
    """

    size: tuple[float, ...] | float = eqx.field(static=True, converter=_hashable)
    p: float = eqx.field(static=True, default=1.0)
    adjacent: bool = eqx.field(static=True, default=False)
    autapses: bool = eqx.field(static=True, default=False)
    max_outdegree: int | None = eqx.field(static=True, default=None)
    max_indegree: int | None = eqx.field(static=True, default=None)
    origin: tuple[float, ...] | float = eqx.field(static=True, converter=_hashable, default=0.0)
    stored: bool = eqx.field(static=True, default=True)

    @property
    def pairs(self) -> str | None:  # type: ignore[override]
        """A limit on the connections of a neuron is one in one direction."""
        limited = self.max_outdegree is not None or self.max_indegree is not None
        return None if limited else "drawn"

    def __check_init__(self) -> None:
        check_stored(self)
        check_fraction("BlockProbability: p", self.p)
        if not (_numbers("size", self.size) > 0).all():
            raise ValueError(f"BlockProbability: size must be above 0 um; got {self.size!r}")
        _numbers("origin", self.origin)
        check_flags(self, "adjacent", "autapses")
        self._cap.check("BlockProbability")

    @property
    def _cap(self) -> Cap:
        return Cap(self.max_outdegree, self.max_indegree)

    def _axes(self, label: str, dims: int) -> tuple[np.ndarray, np.ndarray]:
        """Size and origin per axis."""
        values = []
        for name in ("size", "origin"):
            x = _numbers(name, getattr(self, name))
            if x.ndim and x.size != dims:
                raise ValueError(
                    f"{label}: {name} of a block must be one number, or one per axis for {dims} "
                    f"axes; got {x}"
                )
            values.append(np.broadcast_to(x, (dims,)))
        return values[0], values[1]

    def blocks_of(self, points: Any, period: Any = None) -> np.ndarray:
        """The block of each position (n, dims), as whole-number coordinates (n, dims)."""
        label = "BlockProbability"
        place = Place(np.asarray(points, np.float64), period)
        period = common_period(label, place, place)
        size, origin = self._axes(label, place.points.shape[1])
        return blocks_of(label, place.points, size, origin, block_counts(label, size, period))

    def bind(self, label: str, pre: Place | None, post: Place | None) -> Rule:
        """The rule with the positions of its neurons; raises where they do not fit."""
        period = common_period(label, pre, post)
        assert pre is not None
        assert post is not None
        size, origin = self._axes(label, pre.points.shape[1])
        counts = block_counts(label, size, period)
        rows, others = (
            blocks_of(label, x.points, size, origin, counts)
            for x in sides(pre, post, self._cap.by_target)
        )
        search = Blocks(label, rows, others, counts, self.adjacent)
        p = float(self.p)
        return BoundRule(
            label,
            (len(pre.points), len(post.points)),
            search,
            lambda i, j: (i, j, p),
            self.autapses,
            self._cap,
        )


def _numbers(name: str, value: Any) -> np.ndarray:
    x = np.asarray(value)
    if x.dtype.kind not in "fiu" or x.ndim > 1 or not np.isfinite(x).all() or not x.size:
        raise ValueError(
            f"BlockProbability: {name} must be a finite number, or one per axis; got {value!r}"
        )
    return x.astype(np.float64)
