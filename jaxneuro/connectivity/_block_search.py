"""Blocks of space: finds the neurons in one block, and in blocks that touch."""

import itertools
import math

import numpy as np

from ._distance_search import Search

_EDGE = 1e-9  # blocks: a position this near to an edge is taken to be on it
_MOST_BLOCKS = 2**62


def block_counts(label: str, size: np.ndarray, period: np.ndarray | None) -> np.ndarray:
    """How many blocks a period has on each axis, 0 for an open axis."""
    if period is None:
        return np.zeros(size.size, np.int64)
    share = np.where(np.isinf(period), 0.0, period / size)
    whole = np.rint(share)
    if (np.abs(share - whole) > _EDGE * np.maximum(share, 1)).any() or (
        (whole == 0) & np.isfinite(period)
    ).any():
        raise ValueError(
            f"{label}: where space repeats its period must be a whole number of block sizes; got "
            f"the period {period} um and blocks of {size} um"
        )
    return whole.astype(np.int64)


def blocks_of(
    label: str, points: np.ndarray, size: np.ndarray, origin: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Block coordinates (n, dims) of positions: `floor((x - origin) / size)`.

    Modulo the number of blocks where an axis repeats. A position within 1e-9 blocks of an edge
    counts as on the edge and in the upper block, whatever its rounding.
    """
    at = (points - origin) / size
    if np.abs(at).max(initial=0.0) >= _MOST_BLOCKS:
        raise ValueError(f"{label}: there are too many blocks of {size} um; make them larger")
    whole = np.rint(at)
    block = np.where(np.abs(at - whole) <= _EDGE, whole, np.floor(at)).astype(np.int64)
    return np.where(counts > 0, block % np.maximum(counts, 1), block)


class Blocks(Search):
    """Candidates are the neurons in the same block, and in the blocks around it if `adjacent`."""

    def __init__(
        self, label: str, rows: np.ndarray, others: np.ndarray, counts: np.ndarray, adjacent: bool
    ):
        self.n_rows, self._periods = len(rows), counts
        # An open axis has a margin of one block on both sides: every neighbour has a number.
        both = np.concatenate([rows, others]) if len(rows) + len(others) else counts[None, :]
        self._low = np.where(counts > 0, 0, both.min(0) - 1)
        extent = np.where(counts > 0, counts, both.max(0) + 2 - self._low)
        if math.prod(int(n) for n in extent) >= _MOST_BLOCKS:
            raise ValueError(
                f"{label}: there are too many blocks, {extent} along the axes; make them larger"
            )
        self._strides = np.append(np.cumprod(extent[:0:-1])[::-1], 1)
        self._row_blocks, self._row_number = np.unique(self._numbers(rows), return_inverse=True)
        number = self._numbers(others)
        self._order = np.argsort(number, kind="stable")
        self._sorted = number[self._order]
        steps = [(-1, 0, 1) if n == 0 or n > 2 else range(n) for n in counts]
        self._steps = np.array(list(itertools.product(*steps)) if adjacent else [[0] * len(counts)])

    def _numbers(self, block: np.ndarray) -> np.ndarray:
        """Blocks (..., dims) as one number each."""
        return ((block - self._low) * self._strides).sum(axis=-1)

    def _stretches(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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

    def counts(self) -> np.ndarray:
        # One more for each block that is looked up, which takes memory too.
        sizes = np.empty(self._row_blocks.size, np.int64)
        for first in range(0, sizes.size, 4096):
            begin, end = self._stretches(self._row_blocks[first : first + 4096])
            sizes[first : first + 4096] = (end - begin).sum(axis=1) + len(self._steps)
        return sizes[self._row_number]

    def pairs(self, first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        used, mine = np.unique(self._row_number[first:stop], return_inverse=True)
        begin, end = self._stretches(self._row_blocks[used])
        begin, size = begin[mine].ravel(), (end - begin)[mine].ravel()
        before = np.cumsum(size) - size
        at = np.arange(size.sum()) + np.repeat(begin - before, size)
        row = np.repeat(np.arange(first, stop), size.reshape(stop - first, -1).sum(axis=1))
        return row, self._order[at]
