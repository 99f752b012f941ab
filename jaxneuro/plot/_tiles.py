"""Arranges a lattice of neurons as one picture: a plane, or its slices side by side."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._checks import check_count
from ._given import lengths

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Tiles(NamedTuple):
    """Which neuron each cell of a picture shows.

    **Fields** `places` (rows, columns): the neuron, or -1 between two slices; `axes` of the
    lattice that were not fixed: the last two make the plane; `counts` slices from top to bottom
    and from left to right; `lengths` of the free axes; `step` cells from one slice to the next,
    down and across.
    """

    places: np.ndarray
    axes: tuple[int, ...]
    counts: tuple[int, int]
    lengths: tuple[int, ...]
    step: tuple[int, int]

    def picture(self, values: np.ndarray) -> np.ndarray:
        """The values of the neurons (n,) as (rows, columns), nan between two slices."""
        return np.where(self.places < 0, np.nan, values[self.places])


def lay_out(shape: Sequence[int], index: Sequence[int | None] | None) -> Tiles:
    """The picture of a lattice of 2 to 4 free axes, or `ValueError`."""
    sizes = tuple(check_count("shape", n, at_least=1) for n in lengths(shape))
    fixed = (
        (None,) * len(sizes) if index is None else tuple(np.atleast_1d(np.asarray(index, object)))
    )
    if len(fixed) != len(sizes):
        raise ValueError(
            f"index must have an entry (a coordinate or None) for each of {len(sizes)} axes of "
            f"the lattice; got {index!r}"
        )
    for axis, (at, n) in enumerate(zip(fixed, sizes)):
        if at is not None and check_count(f"index of axis {axis}", at) >= n:
            raise ValueError(f"index of axis {axis} must be from 0 to {n - 1}; got {at}")
    free = tuple(axis for axis, at in enumerate(fixed) if at is None)
    if not 2 <= len(free) <= 4:
        raise ValueError(
            "a lattice must be drawn along 2 to 4 axes; got "
            f"{len(free)} of shape {sizes} and index {index!r}. Fix more or fewer of them "
            "(a single axis is a line: plot(values) of matplotlib)"
        )
    where = tuple(slice(None) if at is None else at for at in fixed)
    slices = np.arange(math.prod(sizes)).reshape(sizes)[where]
    return _tiled(slices, free)


def _tiled(slices: np.ndarray, free: tuple[int, ...]) -> Tiles:
    *outer, height, width = slices.shape
    if len(outer) == 2:
        down, across = outer
    else:
        # Row by row, with about as many rows as columns.
        total = math.prod(outer)
        across = math.ceil(math.sqrt(total))
        down = math.ceil(total / across)
    gap = 0 if not outer else max(1, round(0.06 * max(height, width)))
    step = height + gap, width + gap
    places = np.full((down * step[0] - gap, across * step[1] - gap), -1)
    for number, plane in enumerate(slices.reshape(-1, height, width)):
        row, column = divmod(number, across)
        # Rows are drawn upwards. Two tiled axes go upwards too; a list of slices starts at the top.
        row = row if len(outer) == 2 else down - 1 - row
        top, left = row * step[0], column * step[1]
        places[top : top + height, left : left + width] = plane
    return Tiles(places, free, (down, across), tuple(slices.shape), step)


def cover_gaps(axis: "Axes", tiles: Tiles) -> None:
    """Draws white between the slices, which would else be grey like values that are not finite."""
    (down, across), (height, width) = tiles.counts, tiles.lengths[-2:]
    look = {"color": "white", "lw": 0, "zorder": 2}
    for edge in tiles.step[0] * np.arange(1, down) - 0.5:
        axis.axhspan(edge - (tiles.step[0] - height), edge, **look)
    for edge in tiles.step[1] * np.arange(1, across) - 0.5:
        axis.axvspan(edge - (tiles.step[1] - width), edge, **look)
    # The last row of a list of slices, which is the lowest, may have fewer.
    last = math.prod(tiles.lengths[:-2]) - (down - 1) * across
    if last < across:
        first = last * tiles.step[1] / tiles.places.shape[1]
        axis.axhspan(-0.5, height - 0.5, xmin=first, **look)


def label_axes(axis: "Axes", tiles: Tiles) -> None:
    """Labels: coordinates along the axes of a plane, or the numbers of slices."""
    *outer, y, x = tiles.axes
    if not outer:
        axis.set(xlabel=f"axis {x} (neurons)", ylabel=f"axis {y} (neurons)")
        for side in (axis.xaxis, axis.yaxis):
            side.get_major_locator().set_params(integer=True, min_n_ticks=1)
        return
    (down, across), (height, width) = tiles.counts, tiles.lengths[-2:]
    rows = np.arange(0, down, max(1, math.ceil(down / 10)))
    columns = np.arange(0, across, max(1, math.ceil(across / 10)))
    at_rows = rows * tiles.step[0] + (height - 1) / 2
    at_columns = columns * tiles.step[1] + (width - 1) / 2
    if len(outer) == 2:
        axis.set_xticks(at_columns, [str(c) for c in columns])
        axis.set_yticks(at_rows, [str(r) for r in rows])
        axis.set_xlabel(f"axis {outer[1]} from slice to slice,\naxis {x} in each slice")
        axis.set_ylabel(f"axis {outer[0]} from slice to slice,\naxis {y} in each slice")
        return
    total = tiles.lengths[0]
    starts = (down - 1 - rows) * across
    ends = np.minimum(starts + across, total) - 1
    named = [f"{a}" if a == b else f"{a} to {b}" for a, b in zip(starts, ends)]
    axis.set_yticks(at_rows, named)
    axis.set_xticks([])
    axis.set_xlabel(f"in each slice: axis {x} to the right, axis {y} up")
    axis.set_ylabel(f"slices along axis {outer[0]}")
