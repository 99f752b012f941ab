"""Writes the connections of a projection into the columns of their section."""

import threading
from typing import Any

import numpy as np

from ..kernels import BLOCK_TARGETS, draw_values, place_rows
from ..numerics import stream_key
from ._draw import Drawing, Piece, Values, delay_steps, round_delays
from ._projection import is_computed


class Columns:
    """The columns of one section, each from the section's first entry on.

    **Fields** `targets`; `weights`, `delays`, `tags`, None where the section has none;
    `pointers` (rows, blocks): how many connections each row has in each block, None where rows
    are not cut into blocks.
    """

    def __init__(
        self,
        targets: np.ndarray,
        weights: Any = None,
        delays: Any = None,
        tags: Any = None,
        pointers: Any = None,
    ):
        self.targets, self.weights, self.delays, self.tags = targets, weights, delays, tags
        self.pointers = pointers


class Writer:
    """Writes the pieces of one projection, in any order and from several threads.

    `number` is that of the projection's first block in its section, `starts` (rows,) where each
    row of the projection begins there, `shift` what is added to its targets.
    """

    def __init__(
        self,
        drawing: Drawing,
        columns: Columns,
        number: int,
        starts: np.ndarray,
        shift: int,
        seed: Any,
        dt: float,
    ):
        self.drawing, self.columns, self.number = drawing, columns, number
        self.starts, self.shift, self.dt, self._lock = starts, shift, dt, threading.Lock()
        self.projection = drawing.wired.projection
        self._key = stream_key(seed, self.projection.name, "values")
        self._weights = None if columns.weights is None else Values.of(drawing.wired, "weight")
        self._delays = None if columns.delays is None else Values.of(drawing.wired, "delay")
        self._tables = self._weight_table(), self._delay_table()
        self._given = any(
            values is not None and table is None
            for values, table in zip((self._weights, self._delays), self._tables)
        )
        if self._given:
            counts = drawing.counts.astype(np.int64)
            self._order = np.cumsum(counts) - counts

    @property
    def calls_user(self) -> bool:
        """Whether a function that a person gave is called: not from several threads at once."""
        return any(
            is_computed(x) and callable(x) for x in (self.projection.weight, self.projection.delay)
        )

    def write(self, piece: Piece) -> int:
        """Writes some connections; returns their longest individual delay [steps]."""
        to, begin = self.columns, self.starts[piece.rows] + piece.used
        block = None
        if to.tags is not None:
            block = piece.targets // BLOCK_TARGETS + self.number
            place_rows(piece.counts, begin, block.astype(np.uint16), to.tags)
        elif to.pointers is not None and len(self.drawing.blocks) > 1:
            self._count_blocks(piece)
        targets = (piece.targets + self.shift).astype(np.uint16)
        place_rows(piece.counts, begin, targets, to.targets)
        if to.weights is None and to.delays is None:
            return 1
        weights, delays = self._values(piece)
        if to.weights is not None:
            place_rows(piece.counts, begin, weights, to.weights)
        if to.delays is None:
            return 1
        place_rows(piece.counts, begin, delays, to.delays)
        return int(delays.max(initial=1))

    def _count_blocks(self, piece: Piece) -> None:
        """Counts connections per row and block, where a projection has several blocks."""
        blocks, n_rows = len(self.drawing.blocks), piece.rows.size
        place = np.repeat(np.arange(n_rows) * blocks, piece.counts)
        place += piece.targets // BLOCK_TARGETS
        counts = np.bincount(place, minlength=n_rows * blocks).reshape(n_rows, blocks)
        mine = self.columns.pointers[:, self.number : self.number + blocks]
        with self._lock:  # another piece may hold more connections of the same row
            mine[piece.rows] += counts.astype(np.uint32)

    def _weight_table(self) -> np.ndarray | None:
        if self._weights is None:
            return None
        table = self._weights.table(self.drawing.size)
        return None if table is None else table.astype(self.columns.weights.dtype)

    def _delay_table(self) -> np.ndarray | None:
        if self._delays is None:
            return None
        table = self._delays.table(self.drawing.size)
        return None if table is None else self._steps(table)

    def _steps(self, delays: np.ndarray) -> np.ndarray:
        name = self.projection.name
        given = isinstance(self.projection.delay, np.ndarray)
        steps = (delay_steps if given else round_delays)(name, delays, self.dt)
        return steps.astype(self.columns.delays.dtype)

    def _values(self, piece: Piece) -> tuple[Any, Any]:
        """Individual weights and delays [steps] of a piece, as they are stored."""
        weights, delays = self._tables
        if weights is not None or delays is not None:
            place = piece.rows, piece.counts, piece.used
            weights, delays = draw_values(self._key, *place, self._tables)
        if self._given:
            synapses = self._synapses(piece)
            if self._weights is not None and weights is None:
                weights = self._weights.of_synapses(*synapses)
                weights = weights.astype(self.columns.weights.dtype)
            if self._delays is not None and delays is None:
                delays = self._steps(self._delays.of_synapses(*synapses))
        return weights, delays

    def _synapses(self, piece: Piece) -> tuple:
        """Key, row, position in the row, target and number of its row's first connection."""
        counts = piece.counts.astype(np.int64)
        before = np.cumsum(counts) - counts
        row = np.repeat(piece.rows, counts)
        position = np.arange(row.size) + np.repeat(piece.used - before, counts)
        return self._key, row, position, piece.targets, self._order[row]
