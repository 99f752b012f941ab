"""Whether two functions do the same, so that a function written anew finds its compiled program."""

import functools
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

# What is in these does not change: known by identity.
_LIBRARIES = {"builtins", "equinox", "jax", "jaxlib", "jaxneuro", "numpy", *sys.stdlib_module_names}
_PLAIN = (bool, int, float, complex, str, bytes, type(None), types.EllipsisType)


class _This(NamedTuple):
    """A value that is the same only as itself; held, so that nothing else takes its place."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _This) and self.value is other.value

    def __ne__(self, other: object) -> bool:
        return not self == other


def meaning(function: Any) -> Any:
    """What a function does, as a hashable value: equal for functions that must do the same.

    Two functions are the same if they have the same code and defaults, and if all that they use
    from outside is the same: numbers and texts and tuples of them by value, arrays of NumPy by
    their numbers, functions by their meaning, arrays of JAX and what is in a library by identity.
    A function that uses anything else, which could have changed unseen, is the same only as itself.
    """
    try:
        return _of(function, ())
    except _UnknownError:
        return _This(function)


class _UnknownError(Exception):
    """Something whose changes cannot be seen."""


def _of(value: Any, above: tuple) -> Any:
    """A value by what it means; `above` are the functions that lead here, for those that recur."""
    if isinstance(value, _PLAIN):
        return type(value), repr(value)  # 1 == True and 0.0 == -0.0, but not here
    if isinstance(value, np.ndarray | np.generic) and value.dtype != object:
        x = np.asarray(value)
        return np.ndarray, x.shape, str(x.dtype), x.tobytes()
    if isinstance(value, functools.partial):
        named = tuple(sorted(value.keywords.items()))
        return functools.partial, _of((value.func, value.args, named), above)
    if isinstance(value, jax.Array) or _in_library(value):
        return _This(value)
    if isinstance(value, tuple):
        return type(value), tuple(_of(x, above) for x in value)
    if isinstance(value, types.FunctionType):
        if any(value is f for f in above):
            return types.FunctionType, next(k for k, f in enumerate(above) if value is f)
        return _of_function(value, (*above, value))
    raise _UnknownError


def _in_library(value: Any) -> bool:
    if isinstance(value, types.ModuleType):
        home = value.__name__
    else:
        home = getattr(value, "__module__", None) if callable(value) else None
    return isinstance(home, str) and home.partition(".")[0] in _LIBRARIES


def _of_function(function: types.FunctionType, above: tuple) -> Any:
    named = sorted((function.__kwdefaults__ or {}).items())
    cells = tuple(_inside(cell) for cell in function.__closure__ or ())
    names = sorted(set(_names(function.__code__)) & function.__globals__.keys())
    used = tuple((name, function.__globals__[name]) for name in names)
    return function.__code__, _of((function.__defaults__, tuple(named), cells, used), above)


def _inside(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        raise _UnknownError from None


def _names(code: types.CodeType) -> Iterator[str]:
    """Names that code, and the functions inside it, may look up: attributes among them."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
