"""Splits the connections of a bundle by their targets: a part for each device that has some.

The tables of several devices lie side by side: all have the shape of the largest.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int32, Int64, Num

from .._arrays import AnyArray
from .._kernels.gather import GatherTable
from .._kernels.table import Section, Table
from .._kernels.threads import run_ahead
from .bundles import Piece, StoredBundle

GATHERED = ("starts", "sources", "runs", "counts")


def with_nothing(table: Table, weights: Float[AnyArray, " weights"]) -> Table:
    """The table with a section without rows and a block without targets at the end.

    To them belongs what columns are padded with, for which the section has a pointer; sections are
    padded with this one, for their starts must ascend (`expand`). `weights` are those of its
    connections.
    """
    columns = (table.pointers, table.targets, weights, table.delays, table.tags)
    starts = [np.shape(x)[0] for x in columns]
    blocks = table.block_offset.shape[0]
    nothing = Section(0, 0, blocks, 1, 0, *starts).words()
    more = {
        "sections": np.concatenate([np.asarray(table.sections), nothing[None]]),
        "pointers": np.append(np.asarray(table.pointers), np.uint32(0)),
        "block_offset": np.append(np.asarray(table.block_offset), np.int32(0)),
        "block_delay": np.append(np.asarray(table.block_delay), np.int32(1)),
        "block_projection": np.append(np.asarray(table.block_projection), np.int32(0)),
        "block_span": np.concatenate([np.asarray(table.block_span), np.zeros((1, 2), np.int32)]),
    }
    return dataclasses.replace(table, **more)


def table_arrays(table: Table) -> dict[str, Num[np.ndarray, "..."]]:
    """The arrays of a table by name."""
    names = [f.name for f in dataclasses.fields(Table) if not f.metadata.get("static")]
    return {name: np.asarray(getattr(table, name)) for name in names}


def gather_arrays(table: GatherTable) -> dict[str, Num[np.ndarray, " _"]]:
    """The arrays of a table of `gather` by name."""
    return {name: np.asarray(getattr(table, name)) for name in GATHERED}


def padded(
    x: Num[AnyArray, " rows *each"], length: int, value: Any = 0
) -> Num[np.ndarray, " {length} *each"]:
    """An array, filled up with a value to a length."""
    x = np.asarray(x)
    out = np.full((length, *x.shape[1:]), value, x.dtype)
    out[: x.shape[0]] = x
    return out


class Homes(NamedTuple):
    """Where the targets of a bundle are.

    Attributes:
        owner: the part of each, -1 for none of these.
        place: its number there, ascending with the target within a part.
        sizes: places of each part.
    """

    owner: Int[np.ndarray, " targets"]
    place: Int32[np.ndarray, " targets"]
    sizes: Sequence[int]


class DevicePart(StoredBundle):
    """The connections of a bundle onto the targets of one part, which are drawn already.

    Attributes:
        shortest: [steps] the shortest delay of the whole bundle.
        numbers: of its connections among those of the whole bundle, by source and then target, or
            None.
    """

    def __init__(self, whole: StoredBundle, n_targets: int):
        self.n_sources, self.n_targets, self.size = whole.n_sources, n_targets, 0
        self.own_weights, self.own_delays = whole.own_weights, whole.own_delays
        self.delay, self.longest_delay = whole.delay, whole.longest_delay
        self.shortest = whole.delay
        self.counts = np.zeros(whole.n_sources, np.uint32)
        self.numbers: Int64[np.ndarray, " synapses"] | None = None
        self._pieces: list[Piece] = []

    def add(self, piece: Piece) -> None:
        """Some more connections, those after the ones it has."""
        rows = piece.rows
        self._pieces.append(piece._replace(used=self.counts[rows].copy()))
        self.counts[rows] += piece.counts.astype(np.uint32)
        self.size += piece.targets.size

    def pieces(self, weights: Any, delays: Any) -> Iterator[Callable[[], Piece]]:
        for piece in self._pieces:
            yield partial(_same, piece)

    def forget(self) -> None:
        self._pieces = []


def split(
    bundle: StoredBundle,
    homes: Homes,
    dtypes: tuple[Any, Any],
    numbered: bool = False,
    written: Callable[[int], None] = lambda synapses: None,
) -> list[DevicePart]:
    """The connections of a bundle by the part that has their target; others are dropped.

    Every connection is drawn once, some rows at a time, on all threads that kernels may use; what
    stays in memory are those of the parts. `dtypes` are those of the columns of weights and of
    delays, None for a column that is not kept; `numbered` whether connections know their numbers;
    `written` is called with numbers of connections as they are drawn.
    """
    parts = [DevicePart(bundle, size) for size in homes.sizes]
    first = np.cumsum(bundle.counts, dtype=np.int64) - bundle.counts if numbered else None
    shortest: int | None = None
    numbers: list[list[Int64[np.ndarray, " _"]]] = [[] for _ in parts]
    for _, (pieces, mine, least, size) in run_ahead(
        lambda task: task(), _tasks(bundle, homes, dtypes, first)
    ):
        if least is not None:
            shortest = least if shortest is None else min(shortest, least)
        for part, piece in zip(parts, pieces):
            if piece.targets.size:
                part.add(piece)
        for all_of_part, some in zip(numbers, mine):
            all_of_part.append(some)
        written(size)
    bundle.forget()
    for part, found in zip(parts, numbers):
        part.shortest = part.delay if shortest is None else shortest
        if numbered:  # pieces may share rows, and a table has row after row
            part.numbers = np.sort(np.concatenate([np.zeros(0, np.int64), *found]))
    return parts


def _tasks(
    bundle: StoredBundle,
    homes: Homes,
    dtypes: tuple,
    first: Int64[np.ndarray, " sources"] | None,
) -> Iterator[Callable]:
    for make in bundle.pieces(*dtypes):
        if bundle.serial:
            yield partial(_parted, _done(make()), homes, first)
        else:
            yield partial(_parted, make, homes, first)


def _done(piece: Piece) -> Callable[[], Piece]:
    return partial(_same, piece)


def _same(piece: Piece) -> Piece:
    return piece


def _parted(
    make: Callable[[], Piece], homes: Homes, first: Int64[np.ndarray, " sources"] | None
) -> tuple[list[Piece], list[Int64[np.ndarray, " _"]], int | None, int]:
    """A piece by part, the numbers of its connections, its shortest delay, and its size."""
    piece, pieces, numbers = make(), [], []
    row = np.repeat(np.arange(piece.rows.size, dtype=np.int32), piece.counts)
    owner = homes.owner[piece.targets]
    among = None if first is None else _numbers(piece, row, first)
    for number in range(len(homes.sizes)):
        kept = np.flatnonzero(owner == number)
        counts = np.bincount(row[kept], minlength=piece.rows.size)
        some = counts > 0
        own = (None if x is None else x[kept] for x in (piece.weights, piece.delays))
        place = homes.place[piece.targets[kept]]
        rows, counts = piece.rows[some], counts[some]
        pieces.append(Piece(rows, counts, np.zeros(0, np.uint32), place, *own))
        numbers.append(np.zeros(0, np.int64) if among is None else among[kept])
    least = None
    if piece.delays is not None and piece.delays.size:
        least = int(piece.delays.min())
    return pieces, numbers, least, piece.targets.size


def _numbers(
    piece: Piece, row: Int32[np.ndarray, " synapses"], first: Int64[np.ndarray, " sources"]
) -> Int64[np.ndarray, " synapses"]:
    """The numbers of the connections of a piece in the whole bundle, row after row."""
    begins = np.cumsum(piece.counts, dtype=np.int64) - piece.counts
    start = first[piece.rows] + piece.used - begins
    return start[row] + np.arange(row.size)
