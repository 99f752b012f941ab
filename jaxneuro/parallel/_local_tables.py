"""The connections of a network that arrive at the neurons of one device."""

from typing import Any

import jax
import numpy as np

from .._arrays import as_array
from ..kernels import HAS_DELAYS, HAS_WEIGHTS, Section, Table, make_gather_table, read_gather_table
from ..network import Layout, Network, Pathway, Seats, Side
from ..tables import (
    ListedBundle,
    Placement,
    lay_out,
    read_bundle,
    stack_gather_tables,
    stack_tables,
)


def laid_pathway(net: Network, pathway: Pathway, layout: Layout) -> Any:
    """Table and weights of a pathway with an axis of devices."""
    bundles = [_Bundle(net, pathway, number) for number in range(len(pathway.members))]
    tables, weights = [], []
    target = layout.groups[pathway.target]
    for device in range(layout.devices):
        placements = [b.placement(target, device) for b in bundles]
        placements.sort(key=lambda p: (p.first_source, p.number))
        table, own, _ = lay_out(placements, target.places, pathway.weights.dtype)
        tables.append(table)
        weights.append(own)
    return stack_tables(tables, weights)


class _Bundle:
    """All connections of one projection, to be cut by device."""

    def __init__(self, net: Network, pathway: Pathway, number: int):
        self.mine, self.number = pathway.members[number], number
        self.found = read_bundle(pathway.table, pathway.weights, number)
        source, target = (net.population(x) for x in (self.mine.source, self.mine.target))
        self.first_source, self.sources = source[1].start, source[1].stop - source[1].start
        self.target = target[1]
        n = net.groups[pathway.target].n
        self.pre = self.found.source.astype(np.int64) - self.first_source
        self.post = self.found.place.astype(np.int64) - self.mine.input * n - self.target.start
        self.flags = _flags(pathway.table, number)

    def placement(self, seats: Seats, device: int) -> Placement:
        """Those onto the neurons of a device."""
        index = [m.name for m in seats.members].index(self.mine.target)
        start, size = sum(seats.sizes[:index]), seats.sizes[index]
        place = np.full(self.target.stop - self.target.start, -1)
        here = np.asarray(seats.order)[device, start : start + size] - self.target.start
        real = np.asarray(seats.real)[device, start : start + size]
        place[here[real]] = np.flatnonzero(real)
        post = place[self.post]
        kept = post >= 0
        delays: Any = self.found.delay[kept].astype(np.int64)
        if not self.flags & HAS_DELAYS:
            delays = int(self.found.delay[0]) if self.found.delay.size else 1
        weights = self.found.weight[kept] if self.flags & HAS_WEIGHTS else None
        pre = self.pre[kept]
        bundle = ListedBundle(pre, post[kept], self.sources, size, weights, delays)
        return Placement(bundle, self.number, self.first_source, start, self.mine.input)


def _flags(table: Table, number: int) -> int:
    """What the section of a projection keeps."""
    wanted = np.asarray(table.block_projection) == number
    for words in np.asarray(table.sections):
        s = Section.read(words)
        if wanted[s.first_block : s.first_block + s.blocks].any():
            return int(s.flags)
    return 0


def laid_side(side: Side, names: tuple[str, str], layout: Layout) -> Side:
    """One direction of a coupling, with an axis of devices."""
    seats = layout.groups[side.target]
    index = [m.name for m in seats.members].index(names[1])
    start, size = sum(seats.sizes[:index]), seats.sizes[index]
    post, pre, at = read_gather_table(side.table)
    own = np.asarray(side.weights)[at] if side.weights.shape[0] else None
    total = np.asarray(side.total)
    tables, weights, totals = [], [], []
    for device in range(layout.devices):
        here = np.asarray(seats.order)[device, start : start + size] - side.targets[0]
        real = np.asarray(seats.real)[device, start : start + size]
        place = np.full(total.shape[0], -1)
        place[here[real]] = np.flatnonzero(real)
        kept = place[post] >= 0
        mine = None if own is None else own[kept]
        table, w = make_gather_table(place[post[kept]], pre[kept], size, side.table.n_sources, mine)
        tables.append(table)
        weights.append(np.asarray(side.weights) if w is None else np.asarray(w))
        totals.append(np.where(real, total[here], 0))
    longest = max(w.shape[0] for w in weights)
    stacked = np.stack([np.pad(w, (0, longest - w.shape[0])) for w in weights])
    places = start, start + size
    return Side(
        stack_gather_tables(tables),
        *(as_array(stacked), as_array(np.stack(totals), total.dtype)),
        *(side.source, side.sources, side.target, places),
    )


def places_of_synapses(pathway: Pathway, table: Table, layout: Layout) -> Any:
    """Where each synapse of a plastic pathway is among those of all devices side by side.

    In the order of its connections: by source, then target, then as they were given.
    """
    seats, longest = layout.groups[pathway.target], table.targets.shape[1]
    pre, post, at = [], [], []
    for device in range(layout.devices):
        mine = jax.tree.map(lambda x: x[device], table)  # noqa: B023
        found = read_bundle(mine, np.zeros(longest, np.float32), 0)
        place = found.place.astype(np.int64) % seats.places
        pre.append(found.source.astype(np.int64))
        post.append(np.asarray(seats.order)[device, place])
        at.append(device * longest + np.arange(found.source.size))
    order = np.lexsort((np.concatenate(post), np.concatenate(pre)))
    return as_array(np.concatenate(at)[order], np.int32)
