"""Arrays on the devices of a mesh, which may belong to several processes."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, Sharding
from jaxtyping import Array, Integer, Shaped

from .._network.layout import MeshLayout
from ..spec import InvalidValueError


def devices_here(layout: MeshLayout) -> list[int]:
    """The numbers of this process's devices along the axis of a layout."""
    index = layout.own.addressable_devices_indices_map((layout.devices,))
    return sorted({where[0].start or 0 for where in index.values() if where is not None})


def share_here(mesh: Mesh | None) -> float:
    """The share of a mesh's devices that belong to this process; 1 without a mesh."""
    if mesh is None:
        return 1.0
    mine = sum(d.process_index == jax.process_index() for d in mesh.devices.flat)
    return mine / mesh.devices.size


def side_by_side(
    parts: Mapping[int, Shaped[np.ndarray, "..."]], layout: MeshLayout
) -> Shaped[Array, "devices ..."]:
    """An array (devices, ...) from the parts of this process's devices, each on its own.

    The parts have one shape and dtype on all devices of all processes.
    """
    one = next(iter(parts.values()))
    shape = layout.devices, *one.shape
    part = lambda index: parts[index[0].start or 0][None]  # noqa: E731
    return jax.make_array_from_callback(shape, layout.own, part)


def most_anywhere(values: Mapping[int, Sequence[int]], layout: MeshLayout) -> list[int]:
    """The largest of some numbers of each device, over all devices of all processes.

    Numbers are at least 0 and below 2^62; `values` are those of this process's devices.
    """
    found = np.array([values[d] for d in sorted(values)], np.int64)
    if len(values) == layout.devices:
        return [int(x) for x in found.max(0)]
    # Two words of 31 bits: JAX may have no larger integers.
    words = {
        d: np.stack([x >> 31, x & (2**31 - 1)]).astype(np.int32) for d, x in zip(values, found)
    }
    every = np.asarray(jax.device_put(side_by_side(words, layout), layout.shared)).astype(np.int64)
    return [int(x) for x in ((every[:, 0] << 31) + every[:, 1]).max(0)]


def check_alike(mine: Integer[np.ndarray, " k"], layout: MeshLayout) -> None:
    """Raises `InvalidValueError` unless all processes lay the same network in the same way.

    `mine` int32 or uint32 (k,), a fingerprint. Every process waits for all others here.
    """
    here = devices_here(layout)
    if len(here) == layout.devices:
        return
    every = np.asarray(
        jax.device_put(side_by_side(dict.fromkeys(here, mine), layout), layout.shared)
    )
    if (every != mine).any():
        must = "the same in all processes of a mesh: description, key, dt, dtype and partition"
        raise InvalidValueError("", "network", must, "different ones")


def put(tree: Any, where: Sharding) -> Any:
    """Arrays on devices of a mesh, which is given by a sharding; every process has the whole."""
    return jax.tree.map(lambda x: jax.device_put(x, where), tree)
