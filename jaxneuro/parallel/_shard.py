"""`shard`: lays a network over the devices of a mesh; what a partition of it costs."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jax.sharding import Mesh

from .. import spec
from .._build.drives import check_neuron
from .._build.releases import takes_spikes
from .._kernels.bits import packed_bytes
from .._mesh.lay import check_mesh, check_rate, lay_table, placed, placements_of, plan, with_tables
from .._mesh.partition import Partition, owners_of
from .._network.members import first_member
from .._network.network import Network
from .._network.shards import ShardLayout, list_length, shard_layout
from .._text import counted

# --- `shard`: lays a network over the devices of a mesh.


@spec.arguments(net=spec.Of(Network))
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

    Raises:
        InvalidValueError: for a network that is over a mesh already, an axis that the mesh does not
            have, more devices than neurons, connections that are not stored, a rate below 0 or
            above 10,000 Hz, a model of a user whose step mixes neurons, and a partition that does
            not name a device for every neuron.
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
    facts = [check_neuron(group, net.dt, net.dtype, laid_by="shard") for group in net.groups]
    for p in net.pathways:
        label, voltage = f"projection {p.projections[0]!r}", facts[p.source].has_voltage
        takes_spikes(label, first_member(p.release), voltage, net.dt, net.dtype, "shard")
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


# --- What a partition costs: balance, cut connections, bytes exchanged.


@dataclasses.dataclass(frozen=True, eq=False)
class PartitionReport:
    """What a partition of a network costs.

    Attributes:
        partition: which device has which neuron.
        neurons: int64 (devices,) on each device.
        synapses: int64 (devices,) on each device.
        places: places of neurons that each device computes, with padding.
        cut: connections whose source is on another device, couplings included.
        exchanges_per_s: exchanges in a second of biological time.
        spike_bytes_per_s: bytes that one device gets from all others in that time as bits, or as
            lists where those are shorter.
        value_bytes_per_s: bytes of releases, gap junctions and graded couplings in that time.
    """

    partition: Partition
    neurons: np.ndarray
    synapses: np.ndarray
    places: int
    cut: int
    exchanges_per_s: float
    spike_bytes_per_s: float
    value_bytes_per_s: float

    @property
    def bytes_per_s(self) -> float:
        """All bytes that one device gets in a second of biological time."""
        return self.spike_bytes_per_s + self.value_bytes_per_s

    @property
    def imbalance(self) -> float:
        """The most synapses of a device over the mean, 1 for a perfect balance."""
        mean = self.synapses.mean()
        return float(self.synapses.max() / mean) if mean else 1.0

    @property
    def waste(self) -> float:
        """Places of all devices over neurons: 1 if no device computes padding."""
        total = self.neurons.sum()
        return float(self.places * self.neurons.size / total) if total else 1.0

    @property
    def cost(self) -> float:
        """What `best_of` compares: the slowest device, in synapses and places, over the mean."""
        total = self.synapses.sum() + self.neurons.sum()
        slowest = self.synapses.max() + self.places
        return float(slowest * self.neurons.size / total) if total else 1.0

    def __repr__(self) -> str:
        total = max(int(self.synapses.sum()), 1)
        return (
            f"{self.partition} over {counted(self.neurons.size, 'device')}: neurons "
            f"{self.neurons.min():,} to {self.neurons.max():,}, synapses {self.synapses.min():,} "
            f"to {self.synapses.max():,} (imbalance {self.imbalance:.2f}), places used "
            f"{1 / self.waste:.0%}, cut {self.cut / total:.0%}, "
            f"{self.bytes_per_s / 1e6:.3g} MB to each device in {self.exchanges_per_s:,.0f} "
            "exchanges per second of biology"
        )


@spec.arguments(net=spec.Of(Network), partition=spec.Of(Partition))
def report(
    net: Network, partition: Partition, devices: int | Mesh, rate: float | None = None
) -> PartitionReport:
    """What a partition of a network costs, over so many devices or those of a mesh.

    `rate` [Hz] of a neuron as in `shard`. Nothing is moved; all connections are read once.

    Raises:
        InvalidValueError: for a network that is over a mesh already, and what `shard` refuses about
            partitions, devices and rates.
    """
    if net.layout is not None:
        raise ValueError("report needs the network on one device; this one is over a mesh already")
    check_rate("report", rate)
    given = devices.size if isinstance(devices, Mesh) else devices
    devices = int(spec.check("report", "devices", spec.Whole(1), given))
    owners = owners_of(partition, net, devices)
    neurons = sum((np.bincount(x, minlength=devices) for x in owners.values()), np.zeros(devices))
    synapses, cut, delays = np.zeros(devices, np.int64), 0, []
    for name in (*net.projections, *net.coupled):
        c = net.connections(name)
        there = owners[c.target][c.post]
        synapses += np.bincount(there, minlength=devices)
        cut += int(np.count_nonzero(owners[c.source][c.pre] != there))
        delays += [float(c.delay.min())] if name in net.projections and c.delay.size else []
    together = 1 if net.exchanges_every_step else round(min(delays, default=net.dt) / net.dt)
    shards = [
        shard_layout({m.name: owners[m.name] for m in g.members}, devices) for g in net.groups
    ]
    often = 1e3 / (net.dt * together)
    # A release that does not go by spikes says which of its values are not 0, in the same way.
    own = [shards[p.source] for p in net.pathways if not (p.release.plain or p.release.with_spikes)]
    spikes = sum(_spike_bytes(s, together, 1e-3 * (rate or 0.0) * net.dt) for s in (*shards, *own))
    return PartitionReport(
        partition=partition,
        neurons=neurons.astype(np.int64),
        synapses=synapses,
        places=sum(s.places for s in shards),
        cut=cut,
        exchanges_per_s=often,
        spike_bytes_per_s=spikes * (devices - 1) * often,
        value_bytes_per_s=_value_bytes(net, shards) * (devices - 1) * 1e3 / net.dt,
    )


@spec.arguments(net=spec.Of(Network), partitions=spec.Items(spec.Of(Partition), at_least=1))
def best_of(
    net: Network, partitions: Sequence[Partition], devices: int | Mesh, rate: float | None = None
) -> Partition:
    """The partition whose slowest device has the least to do; of equal ones that which cuts least.

    The arguments are those of `report`.

    Raises:
        InvalidValueError: for no partition, and what `report` refuses.
    """
    reports = [report(net, p, devices, rate) for p in partitions]
    return min(reports, key=lambda r: (round(r.cost, 3), r.cut)).partition


def _spike_bytes(shards: ShardLayout, steps: int, share: float) -> int:
    """What one device tells another about the spikes of a group in an exchange."""
    entries = list_length(shards, steps, share)
    return 4 * (entries + 1) if entries else steps * packed_bytes(shards.places)


def _value_bytes(net: Network, shards: list[ShardLayout]) -> int:
    """What one device tells another in a step besides spikes: releases and values of couplings."""
    graded = [p.source for p in net.pathways if not p.release.plain]
    seen = [side.source for c in net.couplings for side in c.sides]
    return np.dtype(net.dtype).itemsize * sum(shards[group].places for group in (*graded, *seen))
