"""`shard`: lays a network over the devices of a mesh."""

import dataclasses

from jax.sharding import Mesh

from .._build import check_apart
from .._checks import names_checked
from .._mesh import (
    Partition,
    check_mesh,
    check_rate,
    lay_table,
    placed,
    placements_of,
    plan,
    with_tables,
)
from .._network import Network


@names_checked()
def shard(
    net: Network,
    mesh: Mesh,
    partition: Partition | None = None,
    axis: str | tuple[str, ...] | None = None,
    rate: float | None = None,
) -> Network:
    """The same network over the devices of a mesh: each has a share of the neurons.

    A device has its neurons, all connections onto them, and the arrivals to come. What neurons
    release goes to all devices: spikes as packed bits, as often as the shortest delay has passed;
    every step where voltages or values are exchanged or weights are plastic. Spikes, voltages and
    weights are those of one device, bit for bit, whatever the partition, and are read, recorded and
    set in the order of the description.

    `mesh` has the devices, of one process or of several (all of which call this), along `axis`
    (default: its only axis). Two axes, `("hosts", "devices")`, exchange between the hosts first,
    each device with those of its number, then within each host. `partition` says which device gets
    which neurons (default `Contiguous()`: an equal part of every population). `rate` [Hz] is the
    mean rate of a neuron where it was measured: spikes are then exchanged as lists of numbers, if
    lists for four times that rate take fewer bytes than bits; a larger burst goes as bits.

    A network that is too large for one memory is built over its mesh: `jn.build(..., mesh=mesh)`.

    **Raises** `ValueError` for a network that is over a mesh already, an axis that the mesh does
    not have, more devices than neurons, connections that are not stored, a rate below 0 or above
    10,000 Hz, a model of a user whose step mixes neurons, and a partition that does not name a
    device for every neuron.
    """
    check_rate("shard", rate)
    axis = check_mesh("shard", mesh, axis, net.n_neurons)
    if net.layout is not None:
        raise ValueError(
            "shard: this network is over a mesh already; lay out the one that build returned"
        )
    for p in net.pathways:
        if p.table.n_redrawn:
            raise ValueError(
                f"shard: connections must be stored; projection {p.projections[0]!r} has "
                "stored=False. Store it: each device then has its part alone"
            )
    releases = [(f"projection {p.projections[0]!r}", p.release) for p in net.pathways]
    check_apart("shard", net.groups, releases, net.dt, net.dtype)
    layout = plan(net, mesh, axis, partition, rate)
    laid = [
        lay_table(placements_of(net, p), p.target, layout, p.weights.dtype, p.plastic is not None)
        for p in net.pathways
    ]
    layout = with_tables(layout, laid)
    pathways = tuple(
        dataclasses.replace(p, table=x.table, weights=x.weights) for p, x in zip(net.pathways, laid)
    )
    return placed(dataclasses.replace(net, pathways=pathways), layout)
