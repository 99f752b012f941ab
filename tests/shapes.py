"""Shapes and dtypes of arrays in signatures, checked in the tests alone."""

from typing import Any, TypeVar, get_args

import beartype
from jaxtyping import AbstractArray

F = TypeVar("F")


def arrays(function: F) -> F:
    """`beartype` of arrays alone: of everything else a public function says itself what is wrong.

    Arguments that are annotated as anything that an array is made of (`ArrayLike`) are not looked
    at, nor are numbers, where 1 does for 1.0.
    """
    hints = getattr(function, "__annotations__", {})
    for name in [name for name, hint in hints.items() if not _has_shape(hint)]:
        del hints[name]
    return beartype.beartype(function)


def _has_shape(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    return any(_has_shape(part) for part in get_args(hint))
