"""Which device gets which neurons: partitions as values."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int, Int64, Shaped

from .. import spec
from .._network.network import Network
from .._text import brief
from ..space import morton_codes
from ..spec import InvalidValueError

Owners = dict[str, Shaped[np.ndarray, "..."]]  # the device of every neuron, by population


class Partition(spec.Value, eq=True):
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


class Contiguous(Partition, eq=True):
    """Each device gets consecutive neurons, an equal part of every population."""

    def owners(self, net: Network, devices: int) -> Owners:
        return {name: _parts(np.arange(n), devices) for name, n in net.populations.items()}


class RoundRobin(Partition, eq=True):
    """Neuron i of a population goes to device i modulo the number of devices."""

    def owners(self, net: Network, devices: int) -> Owners:
        return {name: np.arange(n) % devices for name, n in net.populations.items()}


class AlongAxis(Partition, eq=True):
    """Slabs of equal numbers of neurons along one axis of the positions.

    Each population is cut by itself. Populations without positions are cut as by `Contiguous`.

    Raises:
        InvalidValueError: from `shard` where no population has positions, or positions have no such
            axis.
    """

    axis: int = spec.field(
        spec.Whole(at_least=None),
        default=-1,
        doc="of the positions, 0 for x; -1 is the last one, w of a network in 4D",
    )

    def owners(self, net: Network, devices: int) -> Owners:
        def rank(x: Float[np.ndarray, "n axes"]) -> Float[np.ndarray, " n"]:
            if not -x.shape[1] <= self.axis < x.shape[1]:
                must = f"one of the {x.shape[1]} of the positions"
                raise InvalidValueError(self.label, "axis", must, str(self.axis))
            return x[:, self.axis]

        return _by_position("AlongAxis", net, devices, rank)


class Morton(Partition, eq=True):
    """Equal pieces of a curve through space that keeps neighbours together (Z-order).

    Works in any dimension. Each population is cut by itself; populations without positions are cut
    as by `Contiguous`.

    Raises:
        InvalidValueError: from `shard` where no population has positions.

    Reference:
        Morton (1966), A computer oriented geodetic data base, IBM.
    """

    def owners(self, net: Network, devices: int) -> Owners:
        return _by_position("Morton", net, devices, morton_codes)


class KMeans(Partition, eq=True):
    """Each device gets the neurons nearest to its center; centers are the means of theirs.

    Lloyd's algorithm over all neurons with positions, from centers spread by k-means++. Devices may
    get unequal numbers. Populations without positions are cut as by `Contiguous`.

    Raises:
        InvalidValueError: from `shard` where no population has positions, or their dimensions
            differ.

    Reference:
        Lloyd (1982), Least squares quantization in PCM, doi:10.1109/TIT.1982.1056489; Arthur and
        Vassilvitskii (2007), k-means++: the advantages of careful seeding.
    """

    rounds: int = spec.field(spec.Whole(at_least=1), default=50, doc="rounds at most")
    seed: int = spec.field(spec.Whole(), default=0, doc="seed of the first centers")

    def owners(self, net: Network, devices: int) -> Owners:
        points = _points("KMeans", net)
        if len({x.shape[1] for x in points.values()}) > 1:
            must = "equal for all populations that have any"
            raise InvalidValueError(self.label, "dimensions of positions", must, "different ones")
        every = np.concatenate(list(points.values()))
        owner = _k_means(every, devices, self.rounds, self.seed)
        ends = np.cumsum([len(x) for x in points.values()])
        found = dict(zip(points, np.split(owner, ends[:-1])))
        return Contiguous().owners(net, devices) | found


class Given(Partition):
    """The device of every neuron as given.

    Populations that are left out are cut as by `Contiguous`.

    Raises:
        InvalidValueError: from `shard` for an unknown population, another shape or a device that
            the mesh does not have.
    """

    devices: Mapping[str, Any] = spec.field(
        spec.Entries(spec.Anything()), doc="whole numbers (n,) by population"
    )

    def owners(self, net: Network, devices: int) -> Owners:
        for name in self.devices:
            if name not in net.populations:
                raise spec.unknown("population", name, net.populations, self.label, "devices")
        given = {name: _numbers(name, x) for name, x in self.devices.items()}
        return Contiguous().owners(net, devices) | given


def _numbers(name: str, given: Any) -> Shaped[np.ndarray, "..."]:
    try:
        return np.asarray(given)
    except ValueError:  # lists of different lengths
        must = f"one whole number for each neuron of {name!r}"
        raise InvalidValueError("partition", "owners", must, brief(given)) from None


def owners_of(partition: Any, net: Network, devices: int) -> Owners:
    """The device of every neuron, checked."""
    spec.check("", "partition", spec.Of(Partition), partition)
    owners = partition.owners(net, devices)
    if not isinstance(owners, Mapping) or set(owners) != set(net.populations):
        must = f"the device of every neuron, for each of {', '.join(net.populations)}"
        raise InvalidValueError(partition.label, "owners", must, brief(owners))
    owners = {name: _numbers(name, x) for name, x in owners.items()}
    for name, n in net.populations.items():
        x = owners[name]
        if x.shape != (n,) or x.dtype.kind not in "iu":
            must = f"a whole number for each of the {n} neurons of {name!r}"
            raise InvalidValueError(partition.label, "owners", must, f"{x.dtype}{list(x.shape)}")
        if x.size and not (x.min() >= 0 and x.max() < devices):
            got = f"{x.min()} to {x.max()} for {name!r}"
            must = f"devices from 0 to {devices - 1}"
            raise InvalidValueError(partition.label, "owners", must, got)
    return owners


def _parts(rank: Int[np.ndarray, " n"], devices: int) -> Int[np.ndarray, " n"]:
    """Parts by rank, equal but for one neuron."""
    return rank * devices // max(rank.size, 1)


def _points(what: str, net: Network) -> dict[str, Float[np.ndarray, "_ _"]]:
    points = {name: net.positions(name) for name in net.order if name in net.points}
    if not points:
        must = "a population with positions= (or else Contiguous() as the partition)"
        raise InvalidValueError(what, "network", must, "none")
    return points


def _by_position(what: str, net: Network, devices: int, along: Callable) -> Owners:
    """Equal parts of each population in the order of a number of their positions."""
    found = {}
    for name, x in _points(what, net).items():
        rank = np.empty(len(x), np.int64)
        rank[np.argsort(along(x), kind="stable")] = np.arange(len(x))
        found[name] = _parts(rank, devices)
    return Contiguous().owners(net, devices) | found


def _k_means(
    x: Float[np.ndarray, "n axes"], count: int, rounds: int, seed: int
) -> Int64[np.ndarray, " n"]:
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


def _distances(
    x: Float[np.ndarray, "n axes"], centers: Float[np.ndarray, "k axes"]
) -> Float[np.ndarray, "n k"]:
    """Squared distances (points, centers)."""
    return np.stack([np.sum((x - c) ** 2, axis=1) for c in centers], axis=1)


class Metis(Partition, eq=True):
    """Parts of equally many synapses between which few connections run, by METIS.

    Needs the extra `partition`. Each neuron weighs one and its incoming synapses.

    Raises:
        InvalidValueError: from `shard` where pymetis is not installed.

    Reference:
        Karypis and Kumar (1998), A fast and high quality multilevel scheme for partitioning
        irregular graphs, doi:10.1137/S1064827595287997.
    """

    reads_connections: ClassVar[bool] = True

    seed: int = spec.field(spec.Whole(), default=0, doc="seed of METIS")

    def owners(self, net: Network, devices: int) -> Owners:
        try:
            import pymetis  # type: ignore[import-not-found]
        except ImportError:
            must = "installed (pip install 'jaxneuro[partition]'), or Contiguous() or Morton()"
            raise InvalidValueError("Metis", "pymetis", must, "none") from None
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


def _graph(
    pre: Int64[np.ndarray, " synapses"], post: Int64[np.ndarray, " synapses"], n: int
) -> tuple[Int64[np.ndarray, " ends"], Int64[np.ndarray, " pairs"], Int64[np.ndarray, " pairs"]]:
    """Neighbours of each neuron in both directions, with the number of connections."""
    other = pre != post
    a = np.concatenate([pre[other], post[other]])
    b = np.concatenate([post[other], pre[other]])
    pairs, weights = np.unique(a * n + b, return_counts=True)
    starts = np.searchsorted(pairs // n, np.arange(n + 1))
    return starts, pairs % n, weights
