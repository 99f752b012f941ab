"""`lay_out`: makes the table that the kernels read from bundles of connections.

Bundles are cut into sections, each section gets its place in the columns, and connections are
written there.
"""

import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Int32, Int64, Num, Shaped, UInt, UInt16, UInt32
from numpy.typing import DTypeLike

from .._arrays import as_array
from .._kernels.draw import place_rows
from .._kernels.redraw import DRAW_WORDS
from .._kernels.table import (
    BLOCK_TARGETS,
    HAS_DELAYS,
    HAS_TAGS,
    HAS_WEIGHTS,
    ONE_PLACE,
    REDRAWN,
    SECTION_WORDS,
    Section,
    Table,
    ring_place,
)
from .._kernels.threads import run_ahead
from .._numerics.draws import QUANTILES
from ..spec import InvalidValueError
from .bundles import DrawTables, Piece, Placement, RedrawnBundle, StoredBundle


class Columns(NamedTuple):
    """The columns of one section, each from the section's first entry on.

    Attributes:
        targets: always there.
        weights, delays, tags: None if the section has none.
        pointers: how many connections each row has in each block, None if rows are not cut into
            blocks.
    """

    targets: UInt16[np.ndarray, " synapses"]
    weights: Float[np.ndarray, " synapses"] | None
    delays: UInt[np.ndarray, " synapses"] | None
    tags: UInt16[np.ndarray, " synapses"] | None
    pointers: UInt32[np.ndarray, "rows blocks"] | None


class Writer:
    """Writes the pieces of one bundle, in any order and from several threads.

    `number` is that of the bundle's first block in its section, `starts` where each row of
    the bundle begins there, `shift` the offset added to its targets.
    """

    def __init__(
        self,
        bundle: StoredBundle,
        columns: Columns,
        number: int,
        starts: Int64[np.ndarray, " rows"],
        shift: int,
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


COLUMNS = ("pointers", "targets", "weights", "delays", "tags")
# Below this many synapses per row and block a tag per synapse is faster than a pointer per block.
_FEW = 8


@dataclasses.dataclass
class SectionLayout:
    """One section of a table that is being made: its blocks, and where its columns start.

    Attributes:
        blocks: of each: its placement, first target and number of targets.
        first_row: the first of its sources.
        n_rows: how many it has.
        flags: what it keeps.
        first_block: the number of its first block.
        starts: by column.
    """

    blocks: list[tuple[Placement, int, int]]
    first_row: int
    n_rows: int
    flags: int
    first_block: int = 0
    starts: dict[str, int] = dataclasses.field(default_factory=dict)

    @property
    def drawn(self) -> bool:
        return bool(self.flags & REDRAWN)

    @property
    def placements(self) -> list[Placement]:
        """The placements, in the order of their blocks."""
        return list({p.number: p for p, _, _ in self.blocks}.values())

    @property
    def per_row(self) -> Int64[np.ndarray, " rows"]:
        """Stored connections of each row."""
        total = np.zeros(self.n_rows, np.int64)
        for p in self.placements:
            if isinstance(p.bundle, StoredBundle):
                total += p.bundle.counts
        return total

    @property
    def n_synapses(self) -> int:
        return sum(p.bundle.size for p in self.placements)

    @property
    def n_pointers(self) -> int:
        """Pointers per row: one, or one per block."""
        return 1 if self.flags & HAS_TAGS else len(self.blocks)

    def length(self, column: str) -> int:
        """How many entries the section has in a column."""
        if column == "pointers":
            return 0 if self.drawn else self.n_rows * self.n_pointers + 1
        flag = {"weights": HAS_WEIGHTS, "delays": HAS_DELAYS, "tags": HAS_TAGS}.get(column)
        if flag is not None and not self.flags & flag:
            return 0
        if self.drawn:  # tables of quantiles
            return 0 if flag is None else len(self.placements) * QUANTILES
        return self.n_synapses

    def shift(self, placement: Placement) -> int:
        """The offset added to targets: they count from the start of the group or of their block."""
        return placement.first_target if self.flags & ONE_PLACE else 0

    def offset(self, placement: Placement, first_target: int, n_targets: int) -> int:
        """The place in a slot of the ring of a block's target 0; n_targets of the whole table."""
        start = 0 if self.flags & ONE_PLACE else placement.first_target + first_target
        return ring_place(placement.receptor, start, n_targets)

    def words(self) -> UInt32[np.ndarray, " words"]:
        """The section as the kernels read it."""
        starts = (self.starts[c] for c in COLUMNS)
        head = self.first_row, self.n_rows, self.first_block, len(self.blocks), self.flags
        return Section(*head, *starts).words()


def cut_into_sections(placements: Sequence[Placement], n_targets: int) -> list[SectionLayout]:
    """The sections of a table: each holds the rows of consecutive sources with the same columns.

    Raises:
        InvalidValueError: for a section of 2^32 synapses or more.
    """
    grouped: dict[tuple[int, int], list[tuple[Placement, int, int]]] = {}
    for p in placements:
        if p.bundle.size:
            mine = grouped.setdefault((p.first_source, p.bundle.columns), [])
            mine += [(p, *block) for block in p.bundle.blocks]
    sections, first_block, starts = [], 0, dict.fromkeys(COLUMNS, 0)
    for (first_row, kind), blocks in sorted(grouped.items(), key=lambda item: item[0]):
        section = SectionLayout(blocks, first_row, blocks[0][0].bundle.n_sources, kind)
        size = section.n_synapses
        few = 1 < len(blocks) <= 65_536 and size < _FEW * section.n_rows * len(blocks)
        if few and not section.drawn:
            section.flags |= HAS_TAGS | _one_place(blocks, n_targets)
        section.first_block, section.starts = first_block, {**starts}
        first_block += len(blocks)
        for column in COLUMNS:
            starts[column] += section.length(column)
        if size >= 2**32 and not section.drawn:
            raise InvalidValueError(
                "",
                "one source population",
                (
                    "one with fewer than 2^32 synapses onto one group of neurons (split it into "
                    "several populations)"
                ),
                f"{size:,}",
            )
        sections.append(section)
    return sections


def _one_place(blocks: list[tuple[Placement, int, int]], n_targets: int) -> int:
    """`ONE_PLACE` if the blocks share receptor and delay and the group is small."""
    same = {(p.receptor, p.bundle.delay) for p, _, _ in blocks if not p.bundle.own_delays}
    return ONE_PLACE if len(same) == 1 and n_targets <= BLOCK_TARGETS else 0


def block_vectors(
    sections: list[SectionLayout], n_targets: int
) -> dict[str, Int32[np.ndarray, "blocks ..."]]:
    """The vectors over blocks, by the name of the table's field."""
    offset, delay, span, projection = [], [], [], []
    for section in sections:
        for p, first, n in section.blocks:
            offset.append(section.offset(p, first, n_targets))
            delay.append(p.bundle.delay)
            span.append((p.first_target + first, p.first_target + first + n))
            projection.append(p.number)
    return {
        "block_offset": np.array(offset, np.int32),
        "block_delay": np.array(delay, np.int32),
        "block_span": np.array(span, np.int32).reshape(-1, 2),
        "block_projection": np.array(projection, np.int32),
    }


# More steps than this make individual delays 16 bits wide.
_NARROW = 255


def lay_out(
    placements: Sequence[Placement],
    n_targets: int,
    dtype: DTypeLike = np.float32,
    written: Callable[[int], None] = lambda synapses: None,
) -> tuple[Table, Float[Array, " weights"], int]:
    """The table of some bundles, its individual weights, and its longest delay [steps].

    `placements` are ordered by their first source; their numbers differ. `n_targets` is the
    number of neurons that the table may reach, `dtype` that of the weights; `written` is called
    with numbers of synapses as they are written. Bundles are written on all threads that kernels
    may use, and their connections are freed as soon as they are written.

    Raises:
        InvalidValueError: for 2^32 synapses or more in one section.
    """
    sections = cut_into_sections(placements, n_targets)
    columns = _allocate(sections, delay_dtype(placements), dtype)
    longest_row, longest_delay = _fill(sections, columns, written)
    vectors = block_vectors(sections, n_targets)
    draws, draw_tables = _draw_words(sections)
    table = Table(
        sections=as_array(_words([s.words() for s in sections], SECTION_WORDS)),
        pointers=_hand_over(columns, "pointers"),
        targets=_hand_over(columns, "targets"),
        tags=_hand_over(columns, "tags"),
        delays=_hand_over(columns, "delays"),
        **{name: as_array(x) for name, x in vectors.items()},
        draws=as_array(draws),
        draw_tables=as_array(draw_tables),
        n_rows=sum(section.n_rows for section in sections),
        longest_row=longest_row,
        n_redrawn=sum(section.n_synapses for section in sections if section.drawn),
        n_targets=n_targets,
    )
    one = int(vectors["block_delay"].max(initial=1))
    return table, _hand_over(columns, "weights"), max(longest_delay, one)


def _words(
    rows: list[UInt32[np.ndarray, " width"]], width: int
) -> UInt32[np.ndarray, "rows {width}"]:
    return np.stack(rows) if rows else np.zeros((0, width), np.uint32)


def delay_dtype(placements: Sequence[Placement]) -> type:
    """uint8 if every individual delay fits, uint16 otherwise."""
    longest = [p.bundle.longest_delay for p in placements if p.bundle.own_delays]
    return np.uint8 if all(x is not None and x <= _NARROW for x in longest) else np.uint16


def _allocate(
    sections: list[SectionLayout], delays: DTypeLike, dtype: DTypeLike
) -> dict[str, Num[np.ndarray, " _"]]:
    dtypes = {
        "pointers": np.uint32,
        "targets": np.uint16,
        "weights": dtype,
        "delays": delays,
        "tags": np.uint16,
    }
    return {c: aligned(sum(s.length(c) for s in sections), dtypes[c]) for c in COLUMNS}


def aligned(n: int, dtype: DTypeLike) -> Shaped[np.ndarray, " {n}"]:
    """An empty array on a 64-byte boundary, which JAX uses without a copy."""
    size = np.dtype(dtype).itemsize
    raw = np.empty(n * size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n * size].view(dtype)


def _hand_over(columns: dict[str, Num[np.ndarray, " _"]], name: str) -> Num[Array, " _"]:
    return jax.device_put(columns.pop(name), may_alias=True)


def _fill(
    sections: list[SectionLayout], columns: dict[str, Num[np.ndarray, " _"]], written: Callable
) -> tuple[int, int]:
    """Writes all columns, on all threads; returns the longest row and individual delay."""
    longest_row, longest_delay, pointers = 0, _write_quantiles(sections, columns), []
    stored = [section for section in sections if not section.drawn]
    for section in stored:
        start = section.starts["pointers"]
        end = start + section.n_rows * section.n_pointers + 1
        pointers.append(columns["pointers"][start:end])
        per_row = section.per_row
        longest_row = max(longest_row, int(per_row.max(initial=0)))
        pointers[-1][1:] = per_row if section.flags & HAS_TAGS else 0
    for _, (size, longest) in run_ahead(lambda task: task(), _tasks(stored, columns)):
        longest_delay = max(longest_delay, longest)
        written(size)
    for mine in pointers:  # from counts of connections to offsets
        mine[0] = 0
        np.cumsum(mine, out=mine, dtype=np.uint32)
    return longest_row, longest_delay


def _tasks(
    sections: list[SectionLayout], columns: dict[str, Num[np.ndarray, " _"]]
) -> Iterator[Callable[[], tuple[int, int]]]:
    """Functions that make and write all connections; each returns the number and longest delay."""
    for section in sections:
        mine = _section_columns(section, columns)
        dtypes = (None if x is None else x.dtype for x in (mine.weights, mine.delays))
        weights, delays = dtypes
        per_row, number = section.per_row, 0
        starts = np.cumsum(per_row) - per_row
        for placement in section.placements:
            bundle = placement.bundle
            assert isinstance(bundle, StoredBundle)
            if mine.pointers is not None and len(bundle.blocks) == 1:
                mine.pointers[:, number] = bundle.counts
            writer = Writer(bundle, mine, number, starts.copy(), section.shift(placement))
            for make in bundle.pieces(weights, delays):
                if bundle.serial:
                    yield partial(_done, _write(writer, make))
                else:
                    yield partial(_write, writer, make)
            bundle.forget()
            starts += bundle.counts
            number += len(bundle.blocks)


def _write(writer: Writer, make: Callable[[], Piece]) -> tuple[int, int]:
    piece = make()
    return piece.targets.size, writer.write(piece)


def _done(result: tuple[int, int]) -> tuple[int, int]:
    return result


def _section_columns(section: SectionLayout, columns: dict[str, Num[np.ndarray, " _"]]) -> Columns:
    def column(name: str, flag: int) -> Num[np.ndarray, " synapses"] | None:
        start = section.starts[name]
        kept = section.flags & flag
        return columns[name][start : start + section.n_synapses] if kept else None

    start, pointers = section.starts["pointers"] + 1, None
    if not section.flags & HAS_TAGS:
        counts = columns["pointers"][start : start + section.n_rows * section.n_pointers]
        pointers = counts.reshape(section.n_rows, section.n_pointers)
    targets = section.starts["targets"]
    return Columns(
        columns["targets"][targets : targets + section.n_synapses],
        column("weights", HAS_WEIGHTS),
        column("delays", HAS_DELAYS),
        column("tags", HAS_TAGS),
        pointers,
    )


def _write_quantiles(
    sections: list[SectionLayout], columns: dict[str, Num[np.ndarray, " _"]]
) -> int:
    """Writes the tables of what is drawn again; returns the longest delay in them."""
    longest = 1
    for section in sections:
        for number, p in enumerate(section.placements if section.drawn else []):
            assert isinstance(p.bundle, RedrawnBundle)
            for column, flag in (("weights", HAS_WEIGHTS), ("delays", HAS_DELAYS)):
                if section.flags & flag:
                    table = p.bundle.weights() if flag == HAS_WEIGHTS else p.bundle.delays()
                    start = section.starts[column] + number * QUANTILES
                    columns[column][start : start + QUANTILES] = table
                    longest = max(longest, int(table.max()) if flag == HAS_DELAYS else 1)
    return longest


def _draw_words(
    sections: list[SectionLayout],
) -> tuple[UInt32[np.ndarray, "blocks 20"], UInt32[np.ndarray, " words"]]:
    """The words of the blocks that are drawn again, and their tables; empty if there are none."""
    if not any(section.drawn for section in sections):
        return np.zeros((0, DRAW_WORDS), np.uint32), np.zeros(0, np.uint32)
    tables, rows = DrawTables(), []
    for section in sections:
        for number, (p, _, _) in enumerate(section.blocks):
            words = np.zeros(DRAW_WORDS, np.uint32)
            if isinstance(p.bundle, RedrawnBundle):
                own = (
                    number * QUANTILES if section.flags & flag else 0
                    for flag in (HAS_WEIGHTS, HAS_DELAYS)
                )
                words = p.bundle.draw(tables, *own).words()
            rows.append(words)
    return np.array(rows, np.uint32), tables.words()
