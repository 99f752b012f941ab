"""Lays a network over a mesh: which device has which neurons, and what it needs of the rest."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float, Int32, Shaped, UInt32

from .. import spec
from .._arrays import as_array
from .._fields import has_tables
from .._fingerprint import fingerprint
from .._kernels.gather import GatherTable, make_gather_table, read_gather_table
from .._kernels.table import HAS_DELAYS, HAS_WEIGHTS, Section, Table
from .._network.coupling import CouplingLayer, Side
from .._network.layout import MeshLayout
from .._network.network import Network
from .._network.pathway import Pathway
from .._network.plastic import Plastic
from .._network.sharded import whole_populations
from .._network.shards import ShardLayout, shard_layout
from .._network.stimuli import StimulusGroup
from .._tables.bundles import ListedBundle, Placement, StoredBundle
from .._tables.lay_out import delay_dtype, lay_out
from .._tables.read import read_bundle
from .._tables.split import Homes, gather_arrays, padded, split, table_arrays, with_nothing
from ..spec import InvalidValueError, unknown
from .partition import Contiguous, Owners, owners_of
from .place import check_alike, devices_here, most_anywhere, put, side_by_side


def laid_coupling(layer: CouplingLayer, layout: MeshLayout) -> CouplingLayer:
    """A coupling with an axis of devices before the arrays of its directions."""
    names = layer.source, layer.target
    ends = names, names[::-1]
    sides = tuple(_laid_side(side, ends[k][1], layout) for k, side in enumerate(layer.sides))
    return dataclasses.replace(layer, sides=sides)


def _laid_side(side: Side, target: str, layout: MeshLayout) -> Side:
    """One direction of a coupling, onto the population `target`."""
    shards = layout.groups[side.target]
    index = [m.name for m in shards.members].index(target)
    start, size = sum(shards.sizes[:index]), shards.sizes[index]
    post, pre, at = read_gather_table(side.table)
    own = np.asarray(side.weights)[at] if side.weights.shape[0] else None
    total = np.asarray(side.total)
    arrays: dict[int, dict[str, Shaped[np.ndarray, " _"]]] = {}
    most: dict[int, list[int]] = {}
    one: Any = None
    for device in devices_here(layout):
        here = np.asarray(shards.order)[device, start : start + size] - side.targets[0]
        real = np.asarray(shards.real)[device, start : start + size]
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


class LaidTable(NamedTuple):
    """The connections of a pathway over a mesh.

    Attributes:
        table, weights: with an axis of devices.
        numbers: int32 (devices, entries) of the connections in the whole pathway, ordered by source
            and then target; None if nobody asks for them.
        synapses: on all devices.
        shortest, longest: delay [steps].
    """

    table: Table
    weights: Float[Array, "devices weights"]
    numbers: Int32[Array, "devices entries"] | None
    synapses: int
    shortest: int
    longest: int


def lay_table(
    placements: Sequence[Placement],
    target: int,
    layout: MeshLayout,
    dtype: np.dtype,
    numbered: bool,
    written: Callable[[int], None] = lambda synapses: None,
) -> LaidTable:
    """The table of some bundles whose targets are group `target`.

    Every process draws every connection, some rows at a time, and keeps those of its own devices.
    `dtype` that of individual weights; `numbered` whether the one bundle that there is has plastic
    synapses, which are read in the order of the description; `written` is called with numbers of
    synapses as they are drawn.
    """
    shards, here = layout.groups[target], devices_here(layout)
    delays = delay_dtype(placements)
    mine: dict[int, list[Placement]] = {d: [] for d in here}
    numbers = dict.fromkeys(here, np.zeros(0, np.int64))
    shortest, synapses = [], 0
    for p in placements:
        assert isinstance(p.bundle, StoredBundle)
        synapses += p.bundle.size
        dtypes = dtype if p.bundle.own_weights else None, delays if p.bundle.own_delays else None
        homes, first = _homes(p, shards, here)
        for device, part in zip(here, split(p.bundle, homes, dtypes, numbered, written)):
            mine[device].append(p._replace(bundle=part, first_target=first))
            shortest += [part.shortest] if p.bundle.size else []
            numbers[device] = numbers[device] if part.numbers is None else part.numbers
    tables, weights, longest = {}, {}, 1
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        for device in here:
            tables[device], own, most = lay_out(mine[device], shards.places, dtype)
            weights[device], longest = np.asarray(own), max(longest, most)
            mine[device] = []
        table, stored, entries = _side_by_side(tables, weights, layout)
    laid = None
    if numbered:
        words = {d: padded(x, entries, synapses).astype(np.int32) for d, x in numbers.items()}
        laid = side_by_side(words, layout)
    known = [x for x in shortest if x]
    (longest,) = most_anywhere({d: [longest] for d in here}, layout)
    return LaidTable(table, stored, laid, synapses, min(known, default=0), longest)


def _homes(p: Placement, shards: ShardLayout, here: Sequence[int]) -> tuple[Homes, int]:
    """Which device has each target of a placement, and the first place of its population there."""
    starts = np.cumsum([0, *(m.n for m in shards.members)])
    index = next(
        k
        for k, m in enumerate(shards.members)
        if starts[k] == p.first_target and m.n == p.bundle.n_targets
    )
    first, size = sum(shards.sizes[:index]), shards.sizes[index]
    place = np.asarray(shards.place)[starts[index] : starts[index + 1]]
    part = np.full(shards.order.shape[0], -1, np.int32)
    part[list(here)] = np.arange(len(here))
    owner = part[place // shards.places]
    return Homes(owner, (place % shards.places - first).astype(np.int32), [size] * len(here)), first


def _side_by_side(
    tables: dict[int, Table], weights: dict[int, Float[np.ndarray, " _"]], layout: MeshLayout
) -> tuple[Table, Float[Array, "devices weights"], int]:
    """Tables and weights with an axis of devices, and how many entries a device has at most."""
    statics = ("n_rows", "longest_row")
    arrays = {}
    for d, table in tables.items():
        arrays[d] = table_arrays(with_nothing(table, weights[d])) | {"weights": weights[d]}
    names = list(next(iter(arrays.values())))
    lengths = {
        d: [x.shape[0] for x in arrays[d].values()] + [getattr(tables[d], s) for s in statics]
        for d in arrays
    }
    most = dict(zip((*names, *statics), most_anywhere(lengths, layout)))
    done = {}
    for name in names:
        parts = {}
        for d, own in arrays.items():
            x = own.pop(name)
            parts[d] = padded(x, most[name], x[-1] if name == "sections" else 0)
        done[name] = side_by_side(parts, layout)
    stored, one = done.pop("weights"), next(iter(tables.values()))
    sizes = {s: most[s] for s in statics}
    table = dataclasses.replace(one, **done, **sizes)
    return table, stored, most["targets"]


def placements_of(net: Network, pathway: Pathway) -> list[Placement]:
    """The connections of a pathway of a network that is on one device."""
    found = [_placement(net, pathway, number) for number in range(len(pathway.members))]
    return sorted(found, key=lambda p: (p.first_source, p.number))


def _placement(net: Network, pathway: Pathway, number: int) -> Placement:
    mine, n = pathway.members[number], net.groups[pathway.target].n
    found = read_bundle(pathway.table, pathway.weights, number)
    source, target = (net.population(x)[1] for x in (mine.source, mine.target))
    flags = _flags(pathway.table, number)
    delays: Any = found.delay.astype(np.int64)
    if not flags & HAS_DELAYS:
        delays = int(delays[0]) if delays.size else 1
    bundle = ListedBundle(
        found.source.astype(np.int64) - source.start,
        found.place.astype(np.int64) - mine.input * n - target.start,
        *(source.stop - source.start, target.stop - target.start),
        weights=found.weight if flags & HAS_WEIGHTS else None,
        delays=delays,
    )
    return Placement(bundle, number, source.start, target.start, mine.input)


def _flags(table: Table, number: int) -> int:
    """What the section of a projection keeps."""
    wanted = np.asarray(table.block_projection) == number
    for words in np.asarray(table.sections):
        s = Section.read(words)
        if wanted[s.first_block : s.first_block + s.blocks].any():
            return int(s.flags)
    return 0


Axis = str | tuple[str, ...]


def check_mesh(what: str, mesh: Any, axis: Any, neurons: int) -> Axis:
    """The axis of a mesh along which a network is laid; raises `InvalidValueError`."""
    spec.check(what, "mesh", spec.Of(Mesh), mesh)
    if len(set(mesh.devices.flat)) < mesh.devices.size:
        raise InvalidValueError(what, "mesh", "one of different devices", "one of them twice")
    names = tuple(map(str, mesh.axis_names))
    axis = tuple(axis) if isinstance(axis, list) else axis
    if axis is None and len(names) != 1:
        must = f"an axis of the mesh, or two as a tuple, hosts first, of {', '.join(names)}"
        raise InvalidValueError(what, "axis", must, "None")
    axes = (names[0],) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for name in axes:
        if name not in names:
            raise unknown("axis of the mesh", name, names, what, "axis")
    if not axes or len(set(axes)) < len(axes):
        raise InvalidValueError(what, "axis", "axes of the mesh, each once", repr(axis))
    devices = int(np.prod([mesh.shape[name] for name in axes]))
    if devices > neurons:
        must = f"one of at most as many devices as neurons, {neurons}"
        raise InvalidValueError(what, "mesh", must, f"{devices} devices")
    return axes[0] if len(axes) == 1 else axes


def check_rate(what: str, rate: Any) -> None:
    """Raises `InvalidValueError` for a rate that no neuron has."""
    if rate is None:
        return
    spec.check(what, "rate", spec.Number("Hz", at_least=0.0, at_most=1e4), rate)


def plan(
    outline: Network, mesh: Mesh, axis: Axis, partition: Any, rate: float | None
) -> MeshLayout:
    """Which device has which neurons of a network; its connections are not looked at.

    What is known only with the connections is left open: see `with_tables`. `rate` [Hz] is that of
    the spikes of a neuron, None if it is not known.
    """
    axes = axis if isinstance(axis, tuple) else (axis,)
    mesh = Mesh(mesh.devices, mesh.axis_names)  # jax.make_mesh asks for shardings in types
    devices = int(np.prod([mesh.shape[name] for name in axes]))
    owners = owners_of(Contiguous() if partition is None else partition, outline, devices)
    groups = tuple(
        shard_layout({m.name: owners[m.name] for m in g.members}, devices) for g in outline.groups
    )
    stimuli = tuple(
        tuple(_driven(s, mine, owners, devices) for s in g.stimuli)
        for g, mine in zip(outline.groups, groups)
    )
    ends = [c.source for c in outline.couplings]
    sources = tuple(shard_layout({name: owners[name]}, devices) for name in ends)
    share = 0.0 if rate is None else 1e-3 * float(rate) * outline.dt
    described = tuple(np.asarray(outline.fingerprint).tolist())
    layout = MeshLayout(groups, stimuli, sources, (), mesh, axis, (), 1, share, described)
    check_alike(_fingerprint(outline, layout), layout)
    return layout


def _fingerprint(net: Network, layout: MeshLayout) -> UInt32[np.ndarray, "2"]:
    """That of a network, and of which device has which of its neurons."""
    orders = tuple((np.asarray(s.order), np.asarray(s.real)) for s in layout.groups)
    return fingerprint(np.asarray(net.fingerprint), orders, layout.share)


def with_tables(layout: MeshLayout, laid: Sequence[LaidTable]) -> MeshLayout:
    """The layout with what it must know of the connections."""
    return dataclasses.replace(
        layout,
        numbers=tuple(x.numbers for x in laid),
        synapses=tuple(x.synapses for x in laid),
        shortest=min((x.shortest for x in laid if x.shortest), default=1),
    )


def laid_plastic(pathway: Pathway, layout: MeshLayout) -> Plastic | None:
    """The rule of a pathway with the neurons of one device; None if there is none."""
    plastic = pathway.plastic
    if plastic is None:
        return None
    target = layout.groups[pathway.target]
    index = [m.name for m in target.members].index(pathway.members[0].target)
    first, size = sum(target.sizes[:index]), target.sizes[index]
    return dataclasses.replace(plastic, first_target=first, n_targets=size)


def placed(net: Network, layout: MeshLayout) -> Network:
    """A network whose tables are laid over a mesh, with all else on the devices that use it."""
    pathways = tuple(
        dataclasses.replace(
            put(eqx.tree_at(lambda p: (p.table, p.weights), p, (None, None)), layout.shared),
            table=p.table,
            weights=p.weights,
            plastic=laid_plastic(p, layout),
        )
        for p in net.pathways
    )
    couplings = tuple(
        dataclasses.replace(
            put(dataclasses.replace(c, sides=()), layout.shared),
            sides=laid_coupling(c, layout).sides,
        )
        for c in net.couplings
    )
    whole = dataclasses.replace(layout, numbers=())
    kept = dataclasses.replace(put(whole, layout.shared), numbers=layout.numbers)
    known = as_array(_fingerprint(net, layout))
    rest = dataclasses.replace(net, pathways=(), couplings=(), layout=None, fingerprint=known)
    rest = put(rest, layout.shared)
    return dataclasses.replace(rest, pathways=pathways, couplings=couplings, layout=kept)


def _driven(
    stimulus: StimulusGroup, mine: ShardLayout, owners: Owners, devices: int
) -> ShardLayout:
    """The shards of what a stimulus drives."""
    found = _shards_of_driven(stimulus, mine, owners, devices)
    return dataclasses.replace(found, everywhere=has_tables(stimulus.model))


def _shards_of_driven(
    stimulus: StimulusGroup, mine: ShardLayout, owners: Owners, devices: int
) -> ShardLayout:
    names = [m.name for m in mine.members]
    if stimulus.index is None and whole_populations(stimulus, mine):
        return shard_layout(
            {t.name: owners[names[t.population]] for t in stimulus.targets}, devices
        )
    every = np.concatenate([owners[name] for name in names])
    if stimulus.index is not None:
        neurons = np.asarray(stimulus.index)
    else:
        neurons = np.concatenate([np.arange(*span) for span in stimulus.spans])
    return shard_layout({stimulus.targets[0].name: every[neurons]}, devices)
