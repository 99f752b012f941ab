"""Names that classes still have while they move to `spec`; goes when the last has moved."""

import abc
from typing import Any

import equinox as eqx

Documented, DocumentedModule, DocumentedRole = type, type(eqx.Module), abc.ABCMeta
no_hash = eqx.Module.__hash__


def missing(self: Any, name: str) -> Any:
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name)


def no_items(self: Any, key: Any) -> Any:
    raise TypeError(f"{type(self).__name__!r} object is not subscriptable")
