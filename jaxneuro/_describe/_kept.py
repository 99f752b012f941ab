"""The base of the parts of a description."""

from collections.abc import Mapping
from typing import Any

from .._checks import Named
from .._kept import KeptMapping as KeptMapping
from .._kept import kept_array as kept_array
from .._kept import lock


class Value(Named):
    """A part of a description, whose arrays are still read-only after `pickle` and `deepcopy`."""

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, x in state.items():
            object.__setattr__(self, name, x)
        lock(state.values())
