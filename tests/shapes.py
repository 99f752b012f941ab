"""Shapes and dtypes of arrays in signatures, checked in the tests alone."""

from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

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
    """Whether it is an array, one or nothing, or a tuple of some.

    Of a list beartype looks at one item that it draws by `random`, which hypothesis forbids.
    """
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    parts = get_args(hint)
    fixed = get_origin(hint) in (Union, UnionType, tuple) and ... not in parts
    return fixed and any(map(_has_shape, parts))
