"""Reads the connections of a projection back from the table of its pathway."""

import dataclasses
from typing import Any

import numpy as np

from .._checks import unknown
from .._text import counted
from ..kernels import DRAWN, HAS_DELAYS, HAS_TAGS, HAS_WEIGHTS, Draw, Section, redraw
from ..numerics import bits, quantile_index


@dataclasses.dataclass(frozen=True, eq=False)
class Connections:
    """The connections of a projection as NumPy arrays, one entry per synapse.

    Ordered by source, then target. The weight is the projection's own; its `gain`, which
    multiplies at delivery, is not in it.

    **Fields** `source`, `target` population names; `shape` their sizes; `pre`, `post` int64
    indices in the populations; `weight` in the unit of the synapse; `delay` [ms].

    **Source** the house's own.
    """

    source: str
    target: str
    shape: tuple[int, int]
    pre: np.ndarray
    post: np.ndarray
    weight: np.ndarray
    delay: np.ndarray

    def __len__(self) -> int:
        return self.pre.size

    def sparse(self, values: str = "weight") -> Any:
        """A `scipy.sparse.coo_array` (n_source, n_target) of the weights or of the "delay"s [ms].

        It has an entry per synapse: a pair that is connected twice is there twice, and scipy adds
        them up when it converts the array.
        """
        import scipy.sparse

        if values not in ("weight", "delay"):
            raise unknown("value of connections", values, ("weight", "delay"))
        return scipy.sparse.coo_array((getattr(self, values), (self.pre, self.post)), self.shape)

    def __repr__(self) -> str:
        return f"Connections: {self.source} to {self.target}, {counted(len(self), 'synapse')}"


def read_connections(net: Any, name: str) -> Connections:
    """The connections of a projection; see `Network.connections`."""
    for pathway in net.pathways:
        if name in pathway.projections:
            return _read(net, pathway, pathway.projections.index(name))
    raise unknown("projection", name, net.projections)


def _read(net: Any, pathway: Any, index: int) -> Connections:
    table = pathway.table
    wanted = np.asarray(table.block_projection) == index
    pieces = []
    for words in np.asarray(table.sections):
        section = Section.read(words)
        blocks = np.arange(section.first_block, section.first_block + section.blocks)
        if wanted[blocks].any():
            of = _drawn_synapses if section.flags & DRAWN else _section_synapses
            pieces.append(of(pathway, section, wanted))
    row, place, weight, delay = (
        np.concatenate(x) if pieces else np.zeros(0)
        for x in (zip(*pieces) if pieces else ((),) * 4)
    )
    source, target = pathway.sources[index], pathway.targets[index]
    first_source, span = net.population(source)[1].start, net.population(target)[1]
    n_group = net.groups[pathway.target].n
    pre = row.astype(np.int64) - first_source
    post = place.astype(np.int64) - pathway.receptors[index] * n_group - span.start
    if not pathway.individual[index]:
        weight = np.full(pre.size, float(pathway.weight[index]))
    order = np.lexsort((post, pre))
    shape = net.populations[source], net.populations[target]
    return Connections(
        source, target, shape, pre[order], post[order], weight[order], delay[order] * net.dt
    )


def _drawn_synapses(pathway: Any, s: Section, wanted: np.ndarray) -> tuple[np.ndarray, ...]:
    """As `_section_synapses`, of a section that is not stored: drawn once more."""
    pieces = []
    for block in range(s.first_block, s.first_block + s.blocks):
        if wanted[block]:
            pieces.append(_drawn_block(pathway, s, block))
    return tuple(np.concatenate(x) for x in zip(*pieces))


def _drawn_block(pathway: Any, s: Section, block: int) -> tuple[np.ndarray, ...]:
    table = pathway.table
    draw = Draw.read(np.asarray(table.draws[block]))
    number, counts, targets = redraw(draw, np.asarray(table.draw_tables))
    place = targets + int(draw.shift) + int(table.block_offset[block])
    position = np.arange(number.size) - np.repeat(np.cumsum(counts) - counts, counts)
    words = bits((draw.values_high, draw.values_low), number, position)
    weight, delay = np.zeros(number.size), np.full(number.size, float(table.block_delay[block]))
    if s.flags & HAS_WEIGHTS:
        weights = np.asarray(pathway.weights[s.weights + int(draw.weights) :])
        weight = weights[quantile_index(words[0])].astype(np.float64)
    if s.flags & HAS_DELAYS:
        delays = np.asarray(table.delays[s.delays + int(draw.delays) :])
        delay = delays[quantile_index(words[1])].astype(np.float64)
    return s.first_row + number, place, weight, delay


def _section_synapses(pathway: Any, s: Section, wanted: np.ndarray) -> tuple[np.ndarray, ...]:
    """Row, place, individual weight and delay [steps] of the synapses of the wanted blocks."""
    table, tagged = pathway.table, bool(s.flags & HAS_TAGS)
    per_row = 1 if tagged else s.blocks
    pointers = np.asarray(table.pointers[s.pointers : s.pointers + s.rows * per_row + 1])
    lengths = np.diff(pointers.astype(np.int64))
    entry = np.repeat(np.arange(lengths.size), lengths)
    size = entry.size

    def column(name: str, start: int) -> np.ndarray:
        holder = pathway if name == "weights" else table
        return np.asarray(getattr(holder, name)[start : start + size])

    block = column("tags", s.tags).astype(np.int64) if tagged else entry % s.blocks
    block = block + s.first_block
    mine = np.flatnonzero(wanted[block])
    block = block[mine]
    row = s.first_row + entry[mine] // per_row
    place = column("targets", s.targets)[mine] + np.asarray(table.block_offset)[block]
    if s.flags & HAS_DELAYS:
        delay = column("delays", s.delays)[mine]
    else:
        delay = np.asarray(table.block_delay)[block]
    delay = delay.astype(np.float64)
    own = bool(s.flags & HAS_WEIGHTS)
    weight = column("weights", s.weights)[mine] if own else np.zeros(mine.size)
    return row, place, weight.astype(np.float64), delay
