"""What a value keeps of what it is given: copies that nobody can change."""

from collections.abc import Iterable
from typing import Any

import numpy as np


def kept_array(given: Any, x: np.ndarray) -> np.ndarray:
    """`x`, made of `given`, so that nobody can change it: a copy where memory could be shared."""
    fresh = isinstance(given, list | tuple)
    if isinstance(given, np.ndarray):
        fresh = not np.may_share_memory(given, x)
    if not fresh and _can_change(x):
        x = x.copy()
    if x.flags.writeable:
        x.flags.writeable = False
    return x


def _can_change(x: Any) -> bool:
    """Whether somebody could write into the memory of an array, through it or what it is of."""
    while isinstance(x, np.ndarray):
        if x.size > 1 and 0 in x.strides:  # broadcast: NumPy warns of its flag
            return True
        if x.flags.writeable:
            return True
        x = x.base
    return False


def _refuse(self: Any, *args: Any, **named: Any) -> Any:
    raise ValueError(
        "a description is an immutable value, and so are its mappings; make another one with "
        "dataclasses.replace, of dict(mapping) with what is changed"
    )


class KeptMapping(dict):
    """A mapping that cannot be changed, and its arrays neither."""

    def __init__(self, given: Any = ()) -> None:
        super().__init__(given)
        lock(self.values())

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _refuse
    __ior__ = _refuse  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple:
        return KeptMapping, (dict(self),)


def lock(values: Iterable[Any]) -> None:
    for x in values:
        if isinstance(x, np.ndarray):
            x.flags.writeable = False
