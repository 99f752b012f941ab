"""Lays a network over a mesh: which device has which neurons, and what it needs of the rest."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.sharding import Mesh

from .._arrays import as_array
from .._checks import check_bounds, check_kind
from .._fields import has_tables
from .._fingerprint import fingerprint
from .._network import Layout, Network, Pathway, Seats, StimulusGroup, seats, whole_populations
from ..spec import unknown
from .arrays import check_alike, put
from .partition import Contiguous, Partition, owners_of
from .tables import LaidTable, laid_coupling

Axis = str | tuple[str, ...]


def check_mesh(what: str, mesh: Any, axis: Any, neurons: int) -> Axis:
    """The axis of a mesh along which a network is laid; raises `ValueError` if it cannot be."""
    check_kind(f"{what}: mesh", mesh, Mesh)
    names = tuple(map(str, mesh.axis_names))
    axis = tuple(axis) if isinstance(axis, list) else axis
    if axis is None and len(names) != 1:
        raise ValueError(
            f"{what}: axis= must name an axis of the mesh, or two as a tuple, hosts first; it has "
            f"{', '.join(names)}"
        )
    axes = (names[0],) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for name in axes:
        if name not in names:
            raise unknown("axis of the mesh", name, names)
    if not axes or len(set(axes)) < len(axes):
        raise ValueError(f"{what}: axis= must name axes of the mesh, each once; got {axis!r}")
    devices = int(np.prod([mesh.shape[name] for name in axes]))
    if devices > neurons:
        raise ValueError(
            f"{what}: there must be at most as many devices as neurons, {neurons}; the mesh "
            f"has {devices}. Take a mesh of fewer devices"
        )
    return axes[0] if len(axes) == 1 else axes


def check_rate(what: str, rate: Any) -> None:
    """Raises `ValueError` for a rate that no neuron has."""
    if rate is None:
        return
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.number):
        raise ValueError(f"{what}: rate must be a number [Hz], the mean of all; got {rate!r}")
    check_bounds(f"{what}: rate", rate, "Hz", at_least=0, at_most=1e4)


def plan(
    outline: Network, mesh: Mesh, axis: Axis, partition: Partition | None, rate: float | None
) -> Layout:
    """Which device has which neurons of a network; its connections are not looked at.

    What is known only with the connections is left open: see `with_tables`. `rate` [Hz] is that of
    the spikes of a neuron, None if it is not known.
    """
    axes = axis if isinstance(axis, tuple) else (axis,)
    mesh = Mesh(mesh.devices, mesh.axis_names)  # jax.make_mesh asks for shardings in types
    devices = int(np.prod([mesh.shape[name] for name in axes]))
    owners = owners_of(Contiguous() if partition is None else partition, outline, devices)
    groups = tuple(
        seats({m.name: owners[m.name] for m in g.members}, devices) for g in outline.groups
    )
    stimuli = tuple(
        tuple(_driven(s, mine, owners, devices) for s in g.stimuli)
        for g, mine in zip(outline.groups, groups)
    )
    ends = [c.span.source for c in outline.couplings]
    sources = tuple(seats({name: owners[name]}, devices) for name in ends)
    share = 0.0 if rate is None else 1e-3 * float(rate) * outline.dt
    layout = Layout(groups, stimuli, sources, (), mesh, axis, (), 1, share)
    check_alike(_fingerprint(outline, layout), layout)
    return layout


def _fingerprint(net: Network, layout: Layout) -> np.ndarray:
    """That of a network, and of which device has which of its neurons."""
    orders = tuple((np.asarray(s.order), np.asarray(s.real)) for s in layout.groups)
    return fingerprint(np.asarray(net.fingerprint), orders, layout.share)


def with_tables(layout: Layout, laid: Sequence[LaidTable]) -> Layout:
    """The layout with what it must know of the connections."""
    return dataclasses.replace(
        layout,
        numbers=tuple(x.numbers for x in laid),
        synapses=tuple(x.synapses for x in laid),
        shortest=min((x.shortest for x in laid if x.shortest), default=1),
    )


def laid_plastic(pathway: Pathway, layout: Layout) -> Any:
    """The rule of a pathway with the neurons of one device; None if there is none."""
    plastic = pathway.plastic
    if plastic is None:
        return None
    target = layout.groups[pathway.target]
    index = [m.name for m in target.members].index(pathway.members[0].target)
    first, size = sum(target.sizes[:index]), target.sizes[index]
    return dataclasses.replace(plastic, first_target=first, n_targets=size)


def placed(net: Network, layout: Layout) -> Network:
    """A network whose tables are laid over a mesh, with all else on the devices that use it."""
    pathways = tuple(
        dataclasses.replace(
            put(dataclasses.replace(p, table=None, weights=None), layout.shared),
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


def _driven(stimulus: StimulusGroup, mine: Seats, owners: dict, devices: int) -> Seats:
    """The seats of what a stimulus drives."""
    found = _seats_of_driven(stimulus, mine, owners, devices)
    return dataclasses.replace(found, everywhere=has_tables(stimulus.model))


def _seats_of_driven(stimulus: StimulusGroup, mine: Seats, owners: dict, devices: int) -> Seats:
    names = [m.name for m in mine.members]
    if stimulus.index is None and whole_populations(stimulus, mine):
        return seats({t.name: owners[names[t.population]] for t in stimulus.targets}, devices)
    every = np.concatenate([owners[name] for name in names])
    if stimulus.index is not None:
        neurons = np.asarray(stimulus.index)
    else:
        neurons = np.concatenate([np.arange(*span) for span in stimulus.spans])
    return seats({stimulus.targets[0].name: every[neurons]}, devices)
