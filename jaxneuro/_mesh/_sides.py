"""Couplings over a mesh: each device has what its neurons see."""

import dataclasses
from typing import Any

import numpy as np

from jaxneuro._mesh._place import devices_here, most_anywhere, side_by_side

from .._kernels import GatherTable, make_gather_table, read_gather_table
from .._network import CouplingLayer, Layout, Side
from .._tables import gather_arrays, padded


def laid_coupling(layer: CouplingLayer, layout: Layout) -> CouplingLayer:
    """A coupling with an axis of devices before the arrays of its directions."""
    names = layer.span.source, layer.span.target
    ends = names, names[::-1]
    sides = tuple(_laid_side(side, ends[k][1], layout) for k, side in enumerate(layer.sides))
    return dataclasses.replace(layer, sides=sides)


def _laid_side(side: Side, target: str, layout: Layout) -> Side:
    """One direction of a coupling, onto the population `target`."""
    seats = layout.groups[side.target]
    index = [m.name for m in seats.members].index(target)
    start, size = sum(seats.sizes[:index]), seats.sizes[index]
    post, pre, at = read_gather_table(side.table)
    own = np.asarray(side.weights)[at] if side.weights.shape[0] else None
    total = np.asarray(side.total)
    arrays: dict[int, dict[str, np.ndarray]] = {}
    most: dict[int, list[int]] = {}
    one: Any = None
    for device in devices_here(layout):
        here = np.asarray(seats.order)[device, start : start + size] - side.targets[0]
        real = np.asarray(seats.real)[device, start : start + size]
        place = np.full(total.shape[0], -1)
        place[here[real]] = np.flatnonzero(real)
        kept = place[post] >= 0
        mine = None if own is None else own[kept]
        one, w = make_gather_table(place[post[kept]], pre[kept], size, side.table.n_sources, mine)
        weights = np.asarray(side.weights if w is None else w)
        totals = np.where(real, total[here], 0).astype(total.dtype)
        arrays[device] = gather_arrays(one) | {"weights": weights, "total": totals}
        lengths = [x.shape[0] for x in arrays[device].values()]
        most[device] = [*lengths, one.longest]
    *lengths, longest = most_anywhere(most, layout)
    done = {}
    for name, length in zip(list(next(iter(arrays.values()))), lengths):
        parts = {d: padded(x.pop(name), length) for d, x in arrays.items()}
        done[name] = side_by_side(parts, layout)
    weights, total = done.pop("weights"), done.pop("total")
    table = GatherTable(
        **done,
        n_rows=one.n_rows,
        n_sources=one.n_sources,
        longest=longest,
        n_entries=side.table.n_entries,  # of all devices
    )
    places = start, start + size
    return Side(table, weights, total, side.source, side.sources, side.target, places)
