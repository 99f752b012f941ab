"""Writes the connections of a bundle into the columns of their section."""

import threading
from typing import NamedTuple

import numpy as np

from jaxneuro._tables._bundle import Piece, StoredBundle

from .._kernels import BLOCK_TARGETS, place_rows


class Columns(NamedTuple):
    """The columns of one section, each from the section's first entry on.

    **Fields** `targets`; `weights`, `delays`, `tags`, None if the section has none;
    `pointers` (rows, blocks): how many connections each row has in each block, None if rows
    are not cut into blocks.
    """

    targets: np.ndarray
    weights: np.ndarray | None
    delays: np.ndarray | None
    tags: np.ndarray | None
    pointers: np.ndarray | None


class Writer:
    """Writes the pieces of one bundle, in any order and from several threads.

    `number` is that of the bundle's first block in its section, `starts` (rows,) where each row
    of the bundle begins there, `shift` the offset added to its targets.
    """

    def __init__(
        self, bundle: StoredBundle, columns: Columns, number: int, starts: np.ndarray, shift: int
    ):
        self.bundle, self.columns, self.number = bundle, columns, number
        self.starts, self.shift, self._lock = starts, shift, threading.Lock()

    def write(self, piece: Piece) -> int:
        """Writes some connections; returns their longest individual delay [steps]."""
        to, begin = self.columns, self.starts[piece.rows] + piece.used
        if to.tags is not None:
            block = piece.targets // BLOCK_TARGETS + self.number
            place_rows(piece.counts, begin, block.astype(np.uint16), to.tags)
        elif to.pointers is not None and len(self.bundle.blocks) > 1:
            self._count_blocks(piece)
        targets = (piece.targets + self.shift).astype(np.uint16)
        place_rows(piece.counts, begin, targets, to.targets)
        if to.weights is not None:
            place_rows(piece.counts, begin, piece.weights, to.weights)
        if to.delays is None:
            return 1
        place_rows(piece.counts, begin, piece.delays, to.delays)
        return int(piece.delays.max(initial=1))

    def _count_blocks(self, piece: Piece) -> None:
        """Counts connections per row and block, if a bundle has several blocks."""
        assert self.columns.pointers is not None
        blocks, n_rows = len(self.bundle.blocks), piece.rows.size
        place = np.repeat(np.arange(n_rows) * blocks, piece.counts)
        place += piece.targets // BLOCK_TARGETS
        counts = np.bincount(place, minlength=n_rows * blocks).reshape(n_rows, blocks)
        mine = self.columns.pointers[:, self.number : self.number + blocks]
        with self._lock:  # another piece may hold more connections of the same row
            mine[piece.rows] += counts.astype(np.uint32)
