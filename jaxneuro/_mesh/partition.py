"""Which device gets which neurons: partitions as values."""

import dataclasses
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from .._checks import Named, check_count
from .._network import Network
from .._text import with_fields
from ..space import morton_codes
from ..spec import check_known

Owners = dict[str, np.ndarray]  # the device of every neuron, by population


class Partition(Named, metaclass=ABCMeta):
    """Which device of a mesh gets which neurons.

    Results do not depend on it, only balance and what is exchanged. Every device has as many places
    for a population as the one with most of its neurons: a partition that gives each device an
    equal part of every population wastes none. `reads_connections` says whether it needs more than
    sizes and positions.
    """

    reads_connections: ClassVar[bool] = False

    @abstractmethod
    def owners(self, net: Network, devices: int) -> Owners:
        """The number of the device of every neuron, by population."""


@dataclasses.dataclass(frozen=True)
class Contiguous(Partition):
    """Each device gets consecutive neurons, an equal part of every population."""

    def owners(self, net: Network, devices: int) -> Owners:
        return {name: _parts(np.arange(n), devices) for name, n in net.populations.items()}


@dataclasses.dataclass(frozen=True)
class RoundRobin(Partition):
    """Neuron i of a population goes to device i modulo the number of devices."""

    def owners(self, net: Network, devices: int) -> Owners:
        return {name: np.arange(n) % devices for name, n in net.populations.items()}


@dataclasses.dataclass(frozen=True)
class AlongAxis(Partition):
    """Slabs of equal numbers of neurons along one axis of the positions.

    Each population is cut by itself. Populations without positions are cut as by `Contiguous`.

    **Fields** `axis` of the positions, 0 for x; -1 is the last one, w of a network in 4D.

    **Raises** `ValueError` for an axis that is no whole number; from `shard` where no population
    has positions, or positions have no such axis.
    """

    axis: int = -1

    def __post_init__(self) -> None:
        if isinstance(self.axis, bool) or not isinstance(self.axis, int | np.integer):
            raise ValueError(f"AlongAxis: axis must be a whole number; got {self.axis!r}")

    def owners(self, net: Network, devices: int) -> Owners:
        def rank(x: np.ndarray) -> np.ndarray:
            if not -x.shape[1] <= self.axis < x.shape[1]:
                raise ValueError(
                    f"AlongAxis: axis must be one of the {x.shape[1]} of the positions; "
                    f"got {self.axis}"
                )
            return x[:, self.axis]

        return _by_position("AlongAxis", net, devices, rank)


@dataclasses.dataclass(frozen=True)
class Morton(Partition):
    """Equal pieces of a curve through space that keeps neighbours together (Z-order).

    Works in any dimension. Each population is cut by itself; populations without positions are cut
    as by `Contiguous`.

    **Raises** `ValueError` from `shard` where no population has positions.

    **Source** Morton (1966), A computer oriented geodetic data base, IBM.
    """

    def owners(self, net: Network, devices: int) -> Owners:
        return _by_position("Morton", net, devices, morton_codes)


@dataclasses.dataclass(frozen=True)
class KMeans(Partition):
    """Each device gets the neurons nearest to its center; centers are the means of theirs.

    Lloyd's algorithm over all neurons with positions, from centers spread by k-means++. Devices may
    get unequal numbers. Populations without positions are cut as by `Contiguous`.

    **Fields** `rounds` at most; `seed` of the first centers.

    **Raises** `ValueError` for rounds below 1 and a seed below 0; from `shard` where no population
    has positions, or their dimensions differ.

    **Source** Lloyd (1982), doi:10.1109/TIT.1982.1056489; Arthur and Vassilvitskii (2007),
    k-means++: the advantages of careful seeding.
    """

    rounds: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("KMeans: rounds", self.rounds, at_least=1)
        check_count("KMeans: seed", self.seed)

    def owners(self, net: Network, devices: int) -> Owners:
        points = _points("KMeans", net)
        if len({x.shape[1] for x in points.values()}) > 1:
            raise ValueError("KMeans: all positions must have as many dimensions")
        every = np.concatenate(list(points.values()))
        owner = _k_means(every, devices, self.rounds, self.seed)
        ends = np.cumsum([len(x) for x in points.values()])
        found = dict(zip(points, np.split(owner, ends[:-1])))
        return Contiguous().owners(net, devices) | found


@dataclasses.dataclass(frozen=True, eq=False)
class Given(Partition):
    """The device of every neuron as given.

    **Fields** `devices` by population: whole numbers (n,). Populations that are left out are cut as
    by `Contiguous`.

    **Raises** `ValueError` for what is no mapping; from `shard` for an unknown population, another
    shape or a device that the mesh does not have.
    """

    devices: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.devices, Mapping):
            raise ValueError(
                "Given: devices must be a mapping, such as {'E': [0, 0, 1]}, from populations to "
                f"the device of each neuron; got {self.devices!r}"
            )

    def __repr__(self) -> str:
        return with_fields(self)

    def owners(self, net: Network, devices: int) -> Owners:
        for name in self.devices:
            check_known("population of a partition", name, net.populations)
        given = {name: _numbers(name, x) for name, x in self.devices.items()}
        return Contiguous().owners(net, devices) | given


def _numbers(name: str, given: Any) -> np.ndarray:
    try:
        return np.asarray(given)
    except ValueError:  # lists of different lengths
        raise ValueError(
            f"a partition must give one whole number for each neuron of {name!r}; got {given!r}"
        ) from None


def owners_of(partition: Partition, net: Network, devices: int) -> Owners:
    """The device of every neuron, checked."""
    if not isinstance(partition, Partition):
        raise ValueError(
            "partition must be one of jn.parallel (Contiguous(), RoundRobin(), AlongAxis(), "
            f"Morton(), KMeans(), Metis(), Given(...)); got {partition!r}"
        )
    owners = partition.owners(net, devices)
    if not isinstance(owners, Mapping) or set(owners) != set(net.populations):
        raise ValueError(
            f"{type(partition).__name__}.owners must return the device of every neuron for each of "
            f"the populations {', '.join(net.populations)}; got {owners!r}"
        )
    owners = {name: _numbers(name, x) for name, x in owners.items()}
    for name, n in net.populations.items():
        x = owners[name]
        if x.shape != (n,) or x.dtype.kind not in "iu":
            raise ValueError(
                f"a partition must give a whole number for each of the {n} neurons of {name!r}; "
                f"got {x.dtype}{list(x.shape)}"
            )
        if x.size and not (x.min() >= 0 and x.max() < devices):
            raise ValueError(
                f"a partition must give devices from 0 to {devices - 1}; got {x.min()} to "
                f"{x.max()} for {name!r}"
            )
    return owners


def _parts(rank: np.ndarray, devices: int) -> np.ndarray:
    """Parts by rank, equal but for one neuron."""
    return rank * devices // max(rank.size, 1)


def _points(what: str, net: Network) -> dict[str, np.ndarray]:
    points = {name: net.positions(name) for name in net.order if name in net.points}
    if not points:
        raise ValueError(
            f"{what} needs positions; describe populations with positions=, or use Contiguous()"
        )
    return points


def _by_position(what: str, net: Network, devices: int, along: Any) -> Owners:
    """Equal parts of each population in the order of a number of their positions."""
    found = {}
    for name, x in _points(what, net).items():
        rank = np.empty(len(x), np.int64)
        rank[np.argsort(along(x), kind="stable")] = np.arange(len(x))
        found[name] = _parts(rank, devices)
    return Contiguous().owners(net, devices) | found


def _k_means(x: np.ndarray, count: int, rounds: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centers = x[rng.integers(len(x), size=1)]
    for _ in range(count - 1):
        far = _distances(x, centers).min(1)
        share = far / far.sum() if far.sum() > 0 else np.full(len(x), 1 / len(x))
        centers = np.concatenate([centers, x[rng.choice(len(x), 1, p=share)]])
    owner = np.full(len(x), -1)
    for _ in range(rounds):
        nearest = _distances(x, centers).argmin(1)
        if np.array_equal(nearest, owner):
            break
        owner = nearest
        for k in np.unique(owner):
            centers[k] = x[owner == k].mean(0)
    return owner


def _distances(x: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Squared distances (points, centers)."""
    return np.stack([np.sum((x - c) ** 2, axis=1) for c in centers], axis=1)


@dataclasses.dataclass(frozen=True)
class Metis(Partition):
    """Parts of equally many synapses between which few connections run, by METIS.

    Needs the extra `partition`. Each neuron weighs one and its incoming synapses.

    **Fields** `seed` of METIS.

    **Raises** `ValueError` for a seed below 0; from `shard` where pymetis is not installed.

    **Source** Karypis and Kumar (1998), doi:10.1137/S1064827595287997.
    """

    reads_connections: ClassVar[bool] = True

    seed: int = 0

    def __post_init__(self) -> None:
        check_count("Metis: seed", self.seed)

    def owners(self, net: Network, devices: int) -> Owners:
        try:
            import pymetis  # type: ignore[import-not-found]
        except ImportError:
            raise ValueError(
                "Metis() needs pymetis, which is not installed; pip install 'jaxneuro[partition]', "
                "or use Contiguous() or Morton()"
            ) from None
        sizes = net.populations
        first = dict(zip(sizes, np.cumsum([0, *sizes.values()])))
        n = net.n_neurons
        if devices == 1 or n == 0:
            return Contiguous().owners(net, devices)
        pre, post = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for name in (*net.projections, *net.coupled):
            c = net.connections(name)
            pre.append(first[c.source] + c.pre)
            post.append(first[c.target] + c.post)
        starts, ends, weights = _graph(np.concatenate(pre), np.concatenate(post), n)
        own = 1 + np.bincount(np.concatenate(post), minlength=n)
        _, part = pymetis.part_graph(
            devices,
            pymetis.CSRAdjacency(starts, ends),
            eweights=weights,
            vweights=own,
            options=pymetis.Options(seed=self.seed),
        )
        part = np.asarray(part)
        return {name: part[first[name] : first[name] + k] for name, k in sizes.items()}


def _graph(pre: np.ndarray, post: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    """Neighbours of each neuron in both directions, with the number of connections."""
    other = pre != post
    a = np.concatenate([pre[other], post[other]])
    b = np.concatenate([post[other], pre[other]])
    pairs, weights = np.unique(a * n + b, return_counts=True)
    starts = np.searchsorted(pairs // n, np.arange(n + 1))
    return starts, pairs % n, weights
