"""Tables with room for more connections, so that a rebuilt network finds its compiled program."""

import dataclasses
from typing import Any

import numpy as np

from .._arrays import as_array
from .._kernels import native_available
from .._network import Network, Pathway

_LARGEST = 4 << 20  # bytes of a column: above, building takes much longer than compiling


def with_room(net: Network) -> Network:
    """The same network, with columns of connections as long as the next power of two.

    Another key or another probability gives other numbers of connections; with room for them the
    arrays have the same shapes. Kernels never read beyond what row pointers name. Columns of
    plastic pathways, whose state is as long, and those above 4 MiB stay as they are: so it costs at
    most a copy of 4 MiB per column.
    """
    if net.layout is not None:
        return net
    return dataclasses.replace(net, pathways=tuple(map(_with_room, net.pathways)))


def _with_room(pathway: Pathway) -> Pathway:
    table = pathway.table
    columns = table.targets, table.tags, table.delays, pathway.weights
    too_large = any(x.nbytes > _LARGEST for x in columns)
    if pathway.plastic is not None or too_large or not native_available():
        return pathway
    targets, tags, delays, weights = map(_grown, columns)
    longest = targets.shape[0]  # of a row, at most; only the loops in jnp run so far
    table = dataclasses.replace(
        table, targets=targets, tags=tags, delays=delays, longest_row=longest
    )
    return dataclasses.replace(pathway, table=table, weights=weights)


def _grown(x: Any) -> Any:
    n = x.shape[0]
    size = 1 << (n - 1).bit_length() if n else 0
    return x if size == n else as_array(np.pad(np.asarray(x), (0, size - n)))
