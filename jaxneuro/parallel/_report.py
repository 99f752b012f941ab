"""What a partition costs: balance, cut connections, bytes exchanged."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from .._text import counted
from ..kernels import packed_bytes
from ..network import Network
from ._partition import Partition, owners_of


@dataclasses.dataclass(frozen=True, eq=False)
class PartitionReport:
    """What a partition of a network costs.

    **Fields** `partition`; `neurons`, `synapses` int64 (devices,) on each device; `places` of
    neurons that each device computes, ghosts included; `cut` connections whose source is on another
    device, couplings included; `bytes_per_s` that one device gets from all others in a second of
    biological time: packed spikes of every step, and the values that couplings and releases need.
    """

    partition: Partition
    neurons: np.ndarray
    synapses: np.ndarray
    places: int
    cut: int
    bytes_per_s: float

    @property
    def imbalance(self) -> float:
        """The most synapses of a device over the mean, 1 for a perfect balance."""
        mean = self.synapses.mean()
        return float(self.synapses.max() / mean) if mean else 1.0

    @property
    def waste(self) -> float:
        """Places of all devices over neurons: 1 if no device computes ghosts."""
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
            f"{self.bytes_per_s / 1e6:.3g} MB/s to each device"
        )


def report(net: Network, partition: Partition, devices: int) -> PartitionReport:
    """What a partition of a network over so many devices costs; nothing is moved.

    Reads all connections once.

    **Raises** `ValueError` for a network that is over a mesh already, and what `shard` refuses
    about partitions.
    """
    if net.layout is not None:
        raise ValueError("report needs the network on one device; this one is over a mesh already")
    owners = owners_of(partition, net, devices)
    neurons = sum((np.bincount(x, minlength=devices) for x in owners.values()), np.zeros(devices))
    synapses, cut = np.zeros(devices, np.int64), 0
    for name in (*net.projections, *net.coupled):
        c = net.connections(name)
        there = owners[c.target][c.post]
        synapses += np.bincount(there, minlength=devices)
        cut += int(np.count_nonzero(owners[c.source][c.pre] != there))
    places = {
        name: int(np.bincount(x, minlength=devices).max(initial=0)) for name, x in owners.items()
    }
    steps = 1e3 / net.dt
    sent = _bytes_per_step(net, places) * (devices - 1) * steps
    return PartitionReport(
        partition, neurons.astype(np.int64), synapses, sum(places.values()), cut, sent
    )


def best_of(net: Network, partitions: Sequence[Partition], devices: int) -> Partition:
    """The partition whose slowest device has the least to do; of equal ones that which cuts least.

    **Raises** `ValueError` for no partition, and what `report` refuses.
    """
    if not partitions:
        raise ValueError("best_of needs at least one partition; got none")
    reports = [report(net, p, devices) for p in partitions]
    return min(reports, key=lambda r: (round(r.cost, 3), r.cut)).partition


def _bytes_per_step(net: Network, places: dict[str, int]) -> float:
    """What one device tells the others in a step."""
    each = [sum(places[m.name] for m in g.members) for g in net.groups]
    total = float(sum(packed_bytes(n) for n in each))
    width = np.dtype(net.dtype).itemsize
    for p in net.pathways:
        total += 0 if p.release.plain else width * each[p.source]
    for c in net.couplings:
        total += sum(width * each[side.source] for side in c.sides)
    return total
