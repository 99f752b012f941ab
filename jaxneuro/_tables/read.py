"""Reads connections back from a table."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64, Num

from .._arrays import AnyArray
from .._kernels.redraw import Draw, redraw
from .._kernels.table import HAS_DELAYS, HAS_TAGS, HAS_WEIGHTS, REDRAWN, Section, Table
from .._numerics.draws import quantile_index
from .._numerics.streams import bits


class ReadSynapses(NamedTuple):
    """Some connections of a table, one entry each.

    Attributes:
        source: number among all sources of the table.
        place: in a slot of the ring (see `ring_place`).
        weight: their own, 0 if they have none.
        delay: [steps].
    """

    source: Num[np.ndarray, " synapses"]
    place: Num[np.ndarray, " synapses"]
    weight: Float64[np.ndarray, " synapses"]
    delay: Float64[np.ndarray, " synapses"]


def read_bundle(table: Table, weights: Num[AnyArray, " weights"], number: int) -> ReadSynapses:
    """The connections of the bundle with this number, in no order; `weights` the table's own."""
    wanted = np.asarray(table.block_projection) == number
    pieces = []
    for words in np.asarray(table.sections):
        section = Section.read(words)
        blocks = np.arange(section.first_block, section.first_block + section.blocks)
        if wanted[blocks].any():
            of = _redrawn_synapses if section.flags & REDRAWN else _stored_synapses
            pieces.append(of(table, weights, section, wanted))
    if not pieces:
        return ReadSynapses(*(np.zeros(0) for _ in range(4)))
    return ReadSynapses(*(np.concatenate(x) for x in zip(*pieces)))


def _redrawn_synapses(
    table: Table,
    weights: Num[AnyArray, " weights"],
    s: Section,
    wanted: Bool[np.ndarray, " blocks"],
) -> ReadSynapses:
    """The wanted blocks of a section that is not stored: they are drawn once more."""
    pieces = [
        _redrawn_block(table, weights, s, block)
        for block in range(s.first_block, s.first_block + s.blocks)
        if wanted[block]
    ]
    return ReadSynapses(*(np.concatenate(x) for x in zip(*pieces)))


def _redrawn_block(
    table: Table, weights: Num[AnyArray, " weights"], s: Section, block: int
) -> ReadSynapses:
    draw = Draw.read(np.asarray(table.draws)[block])
    number, counts, targets = redraw(draw, np.asarray(table.draw_tables))
    place = targets + int(draw.shift) + int(np.asarray(table.block_offset)[block])
    position = np.arange(number.size) - np.repeat(np.cumsum(counts) - counts, counts)
    words = bits((draw.values_high, draw.values_low), number, position)
    weight, delay = (
        np.zeros(number.size),
        np.full(number.size, float(np.asarray(table.block_delay)[block])),
    )
    if s.flags & HAS_WEIGHTS:
        own = np.asarray(weights)[s.weights + int(draw.weights) :]
        weight = own[quantile_index(words[0])].astype(np.float64)
    if s.flags & HAS_DELAYS:
        own = np.asarray(table.delays)[s.delays + int(draw.delays) :]
        delay = own[quantile_index(words[1])].astype(np.float64)
    return ReadSynapses(s.first_row + number, place, weight, delay)


def _stored_synapses(
    table: Table,
    weights: Num[AnyArray, " weights"],
    s: Section,
    wanted: Bool[np.ndarray, " blocks"],
) -> ReadSynapses:
    """The wanted blocks of a section with columns."""
    tagged = bool(s.flags & HAS_TAGS)
    per_row = 1 if tagged else s.blocks
    pointers = np.asarray(table.pointers)[s.pointers : s.pointers + s.rows * per_row + 1]
    lengths = np.diff(pointers.astype(np.int64))
    entry = np.repeat(np.arange(lengths.size), lengths)

    def column(values: Num[AnyArray, " _"], start: int) -> Num[np.ndarray, " synapses"]:
        return np.asarray(values)[start : start + entry.size]

    block = column(table.tags, s.tags).astype(np.int64) if tagged else entry % s.blocks
    block = block + s.first_block
    mine = np.flatnonzero(wanted[block])
    block = block[mine]
    place = column(table.targets, s.targets)[mine] + np.asarray(table.block_offset)[block]
    delay = np.asarray(table.block_delay)[block]
    if s.flags & HAS_DELAYS:
        delay = column(table.delays, s.delays)[mine]
    weight = np.zeros(mine.size)
    if s.flags & HAS_WEIGHTS:
        weight = column(weights, s.weights)[mine].astype(np.float64)
    source = s.first_row + entry[mine] // per_row
    return ReadSynapses(source, place, weight, delay.astype(np.float64))
