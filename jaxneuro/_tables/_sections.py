"""Cuts bundles into sections, and gives each section its place in the columns."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxneuro._tables._bundle import Placement, StoredBundle

from .._kernels import (
    BLOCK_TARGETS,
    HAS_DELAYS,
    HAS_TAGS,
    HAS_WEIGHTS,
    ONE_PLACE,
    REDRAWN,
    Section,
    ring_place,
)
from .._numerics import QUANTILES

COLUMNS = ("pointers", "targets", "weights", "delays", "tags")
# Below this many synapses per row and block a tag per synapse is faster than a pointer per block.
_FEW = 8


@dataclasses.dataclass
class SectionLayout:
    """One section of a table that is being made: its blocks, and where its columns start.

    **Fields** `blocks` of each: its placement, first target and number of targets; `first_row`,
    `n_rows` its sources; `flags` what it keeps; `first_block` the number of its first block;
    `starts` by column.
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
    def per_row(self) -> np.ndarray:
        """Stored connections of each row: int64 (rows,)."""
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

    def words(self) -> np.ndarray:
        """The section as the kernels read it."""
        starts = (self.starts[c] for c in COLUMNS)
        head = self.first_row, self.n_rows, self.first_block, len(self.blocks), self.flags
        return Section(*head, *starts).words()


def cut_into_sections(placements: Sequence[Placement], n_targets: int) -> list[SectionLayout]:
    """The sections of a table: each holds the rows of consecutive sources with the same columns.

    **Raises** `ValueError` for a section of 2^32 synapses or more.
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
            raise ValueError(
                "one source population must have fewer than 2^32 synapses onto one group of "
                f"neurons; got {size:,}. Split it into several populations"
            )
        sections.append(section)
    return sections


def _one_place(blocks: list[tuple[Placement, int, int]], n_targets: int) -> int:
    """`ONE_PLACE` if the blocks share receptor and delay and the group is small."""
    same = {(p.receptor, p.bundle.delay) for p, _, _ in blocks if not p.bundle.own_delays}
    return ONE_PLACE if len(same) == 1 and n_targets <= BLOCK_TARGETS else 0


def block_vectors(sections: list[SectionLayout], n_targets: int) -> dict[str, Any]:
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
