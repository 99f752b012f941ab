"""`shard`: lays a network over the devices of a mesh."""

import dataclasses
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from .._checks import check_kind, unknown
from ..kernels import Table
from ..network import Layout, Network, Seats, StimulusGroup, seats, whole_populations
from ._local_tables import laid_pathway, laid_side, places_of_synapses
from ._partition import Contiguous, Partition, owners_of


def shard(
    net: Network, mesh: Mesh, partition: Partition | None = None, axis: str | None = None
) -> Network:
    """The same network over the devices of a mesh: each has a share of the neurons.

    A device has its neurons, all connections onto them, and the arrivals to come. What neurons
    release goes to all devices: spikes as packed bits, as often as the shortest delay has passed;
    every step where voltages or values are exchanged or weights are plastic. Spikes, voltages and
    weights are those of one device, bit for bit, whatever the partition, and are read, recorded and
    set in the order of the description.

    `mesh` has the devices, along `axis` (default: its only axis); `partition` says which device
    gets which neurons (default `Contiguous()`: an equal part of every population).

    **Raises** `ValueError` for a network that is over a mesh already, an axis that the mesh does
    not have, more devices than neurons, connections that are not stored, and a partition that does
    not name a device for every neuron.
    """
    axis = _checked(net, mesh, axis)
    layout = _layout(net, mesh, axis, partition)
    pathways, synapse_at = [], []
    for p in net.pathways:
        table, weights = laid_pathway(net, p, layout)
        pathways.append(_replaced(p, table, weights, layout))
        synapse_at.append(None if p.plastic is None else places_of_synapses(p, table, layout))
    layout = dataclasses.replace(layout, synapse_at=tuple(synapse_at))
    couplings = tuple(dataclasses.replace(c, sides=tuple(_sides(c, layout))) for c in net.couplings)
    new = dataclasses.replace(net, pathways=tuple(pathways), couplings=couplings, layout=layout)
    return _placed(new)


def _checked(net: Network, mesh: Mesh, axis: str | None) -> str:
    """The axis of the mesh; raises `ValueError` for what cannot be laid over it."""
    check_kind("shard: net", net, Network)
    check_kind("shard: mesh", mesh, Mesh)
    names = tuple(map(str, mesh.axis_names))
    if axis is None and len(names) != 1:
        raise ValueError(f"shard: axis= must name an axis of the mesh; it has {', '.join(names)}")
    axis = names[0] if axis is None else axis
    if axis not in names:
        raise unknown("axis of the mesh", axis, names)
    if net.layout is not None:
        raise ValueError(
            "shard: this network is over a mesh already; lay out the one that build returned"
        )
    devices = mesh.shape[axis]
    if devices > net.n_neurons:
        raise ValueError(
            f"shard: there must be at most as many devices as neurons, {net.n_neurons}; the mesh "
            f"has {devices}. Take a mesh of fewer devices"
        )
    for p in net.pathways:
        if p.table.n_redrawn:
            raise ValueError(
                f"shard: connections must be stored; projection {p.projections[0]!r} has "
                "stored=False. Store it: each device then has its part alone"
            )
    return axis


def _replaced(pathway: Any, table: Any, weights: np.ndarray, layout: Layout) -> Any:
    plastic = pathway.plastic
    if plastic is not None:
        target = layout.groups[pathway.target]
        index = [m.name for m in target.members].index(pathway.members[0].target)
        first, size = sum(target.sizes[:index]), target.sizes[index]
        plastic = dataclasses.replace(plastic, first_target=first, n_targets=size)
    return dataclasses.replace(pathway, table=table, weights=weights, plastic=plastic)


def _sides(coupling: Any, layout: Layout) -> list:
    names = coupling.span.source, coupling.span.target
    return [
        laid_side(side, names if k == 0 else names[::-1], layout)
        for k, side in enumerate(coupling.sides)
    ]


def _layout(net: Network, mesh: Mesh, axis: str, partition: Partition | None) -> Layout:
    devices = mesh.shape[axis]
    owners = owners_of(Contiguous() if partition is None else partition, net, devices)
    groups = tuple(seats({m.name: owners[m.name] for m in g.members}, devices) for g in net.groups)
    stimuli = tuple(
        tuple(_driven(s, mine, owners, devices) for s in g.stimuli)
        for g, mine in zip(net.groups, groups)
    )
    sources = tuple(seats({c.span.source: owners[c.span.source]}, devices) for c in net.couplings)
    synapses = tuple(p.table.n_synapses for p in net.pathways)
    return Layout(groups, stimuli, sources, (), mesh, axis, synapses, shortest_delay(net))


def shortest_delay(net: Network) -> int:
    """How many steps may lie between two exchanges: those of the shortest delay.

    One where neurons see each other's voltages, where spikes set a modulator free, and where
    weights are plastic.
    """
    if net.couplings or net.modulators or any(p.plastic is not None for p in net.pathways):
        return 1
    return min((_shortest(p.table) for p in net.pathways), default=1)


def _shortest(table: Table) -> int:
    delays = [np.asarray(table.block_delay), np.asarray(table.delays)]
    return min((int(x[x > 0].min()) for x in delays if (x > 0).any()), default=1)


def _driven(stimulus: StimulusGroup, mine: Seats, owners: dict, devices: int) -> Seats:
    """The seats of what a stimulus drives."""
    names = [m.name for m in mine.members]
    if stimulus.index is None and whole_populations(stimulus, mine):
        return seats({t.name: owners[names[t.population]] for t in stimulus.targets}, devices)
    every = np.concatenate([owners[name] for name in names])
    if stimulus.index is not None:
        neurons = np.asarray(stimulus.index)
    else:
        neurons = np.concatenate([np.arange(*span) for span in stimulus.spans])
    return seats({stimulus.targets[0].name: every[neurons]}, devices)


def _placed(net: Network) -> Network:
    """The network with its arrays on the devices that use them."""
    layout = net.layout
    assert isinstance(layout, Layout)
    own, shared = layout.own, layout.shared
    place = lambda tree, how: jax.tree.map(lambda x: jax.device_put(x, how), tree)  # noqa: E731
    pathways = tuple(
        dataclasses.replace(
            place(dataclasses.replace(p, table=None, weights=None), shared),
            table=place(p.table, own),
            weights=place(p.weights, own),
        )
        for p in net.pathways
    )
    couplings = tuple(
        dataclasses.replace(
            place(dataclasses.replace(c, sides=()), shared), sides=place(c.sides, own)
        )
        for c in net.couplings
    )
    rest = dataclasses.replace(net, pathways=(), couplings=())
    return dataclasses.replace(place(rest, shared), pathways=pathways, couplings=couplings)
