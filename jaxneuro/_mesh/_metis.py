"""A partition that cuts few connections, by METIS."""

import dataclasses
from typing import ClassVar

import numpy as np

from jaxneuro._mesh._partition import Contiguous, Owners, Partition

from .._checks import check_count
from .._network import Network


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
