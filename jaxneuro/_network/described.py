"""The classes of a description of which a network keeps nothing: rules, layouts, distributions."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from jaxtyping import UInt32

from .._arrays import AnyArray, is_traced

_KEPT = 4096  # networks of this process whose classes are kept
_LEFT: dict[bytes, frozenset[type]] = {}  # by fingerprint


def classes_in(value: Any) -> frozenset[type]:
    """The classes of all values in a value: in its fields, mappings, tuples and lists."""
    return frozenset(_classes(value, {}))


def remember_classes(fingerprint: UInt32[AnyArray, "2"], description: Any, network: Any) -> None:
    """Keeps the classes of a description that are not in its network, for `left_of`."""
    left = classes_in(description) - classes_in(network)
    _LEFT[np.asarray(fingerprint).tobytes()] = left
    while len(_LEFT) > _KEPT:
        _LEFT.pop(next(iter(_LEFT)))


def left_of(fingerprint: UInt32[AnyArray, "2"]) -> frozenset[type]:
    """The classes that the description of a network had beside those in it, where known."""
    if is_traced(fingerprint):
        return frozenset()
    return _LEFT.get(np.asarray(fingerprint).tobytes(), frozenset())


def _classes(x: Any, seen: dict[int, Any]) -> Iterator[type]:
    if id(x) in seen:
        return
    if isinstance(x, Mapping):
        inside = list(x.values())
    elif isinstance(x, tuple | list):
        inside = list(x)
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        inside = [getattr(x, f.name, None) for f in dataclasses.fields(x)]
        yield type(x)
    else:
        return
    seen[id(x)] = x  # kept, or another could get its id
    for part in inside:
        yield from _classes(part, seen)
