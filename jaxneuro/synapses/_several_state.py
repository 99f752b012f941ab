"""The types of the states of several receptors at one synapse."""

import collections
import functools
from typing import Any


@functools.cache
def state_class(names: tuple[str, ...]) -> Any:
    """The type of a state with these variables: one for equal names, which can be pickled."""
    base = collections.namedtuple("SeveralState", names)
    made = type("SeveralState", (base,), {"__slots__": (), "__reduce__": _reduced})
    made.__module__ = __name__
    return made


def _reduced(state: Any) -> tuple:
    return _state_of, (state._fields, tuple(state))


def _state_of(names: tuple[str, ...], values: tuple) -> Any:
    return state_class(names)(*values)
