"""Makes numbers and models from the content of a file."""

import math
import typing
from typing import Any

import numpy as np

from .._checks import unknown
from ._entry import Entry
from ._models import NO_DEFAULT, Argument, arguments, inside, known

TYPE = "type"  # the key that names a model
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def model(entry: Entry, role: type, what: str) -> Any:
    """The model of a role that an object, or a name alone, describes."""
    return _model(entry, known(role), what)


def value(entry: Entry, roles: tuple[type, ...]) -> Any:
    """A number, an array, or a model of one of the roles."""
    if not isinstance(entry.value, dict):
        return numbers(entry)
    classes = {name: cls for role in roles for name, cls in known(role).items()}
    return _model(entry, classes, "model for a value")


def numbers(entry: Entry) -> Any:
    """A number, or an array of the numbers in a list."""
    if isinstance(entry.value, list):
        return _array(entry, number)
    return number(entry)


def number(entry: Entry) -> Any:
    """A number; "inf" and "-inf" are infinite, for which JSON has no number."""
    x = entry.value
    if isinstance(x, str) and x in _INFINITE:
        return _INFINITE[x]
    if not isinstance(x, float) and not _is_whole(x):
        raise entry.wrong("a number")
    return x


def _is_whole(x: Any) -> bool:
    return type(x) is int and -(2**63) <= x < 2**63


def _flag(entry: Entry) -> Any:
    return entry.value if isinstance(entry.value, bool) else number(entry)


def _array(entry: Entry, one: Any) -> np.ndarray:
    plain = _plain(entry, one)
    try:
        x = np.array(plain) if plain else np.zeros(0)
    except ValueError:  # rows of different lengths
        raise entry.wrong("a list of numbers, or of rows of one length") from None
    if x.dtype.kind not in "ifb":
        raise entry.wrong("a list of numbers, or of rows of one length")
    return x


def _plain(entry: Entry, one: Any) -> Any:
    """Nested lists with every item checked."""
    x = entry.value
    if not isinstance(x, list):
        return one(entry)
    if all(type(item) is float or _is_whole(item) for item in x):
        return x
    return [_plain(item, one) for item in entry]


def _model(entry: Entry, classes: dict[str, type], what: str) -> Any:
    short = isinstance(entry.value, str)
    if not short:
        if not isinstance(entry.value, dict):
            raise entry.wrong(f"a {what}: an object with {TYPE!r}, or a name")
        if TYPE not in entry:
            raise entry.error(
                f"{entry.label} must have {TYPE!r}, the name of a {what}: one of "
                f"{', '.join(classes)}"
            )
    named = entry if short else entry[TYPE]
    if not isinstance(named.value, str) or named.value not in classes:
        raise named.error(unknown(what, named.value, classes))
    cls = classes[named.value]
    known_arguments = {a.name: a for a in arguments(cls)}
    required = [a.name for a in known_arguments.values() if a.required]
    if short and required:
        raise entry.error(
            f"{cls.__name__} needs {', '.join(required)}: write an object, "
            f'{{"{TYPE}": "{cls.__name__}", "{required[0]}": ...}}'
        )
    if short:
        return entry.make(cls)
    entry.check_keys(cls.__name__, (TYPE, *known_arguments), required)
    given = {
        key: _argument(entry[key], cls, known_arguments[key]) for key in entry.value if key != TYPE
    }
    left_out = known_arguments.keys() - given.keys()
    nothing = {name: None for name in left_out if known_arguments[name].default is NO_DEFAULT}
    return entry.make(cls, **nothing, **given)


def _argument(entry: Entry, owner: type, argument: Argument) -> Any:
    """The value of one argument of a model."""
    x = entry.value
    if x is None and (argument.default is None or type(None) in argument.kinds):
        return None
    classes = inside(owner, argument)
    if isinstance(x, list) and classes and not argument.numeric:
        return tuple(_model(item, classes, f"model for {argument.name}") for item in entry)
    if isinstance(x, dict) and classes:
        return _model(entry, classes, f"model for {argument.name}")
    if argument.numeric:
        return numbers(entry)
    if argument.hint is Any:
        return _array(entry, _flag) if isinstance(x, list) else _flag(entry)
    if isinstance(x, str) and classes:
        return _model(entry, classes, f"model for {argument.name}")
    return _typed(entry, argument.kinds)


def _typed(entry: Entry, kinds: tuple) -> Any:
    """A value of one of some types."""
    x = entry.value
    if isinstance(x, str) and str not in kinds and x in _INFINITE:
        x = _INFINITE[x]
    for kind in kinds:
        if kind in (bool, str) and isinstance(x, kind):
            return x
        if (kind is int and _is_whole(x)) or (kind is float and (_is_whole(x) or type(x) is float)):
            return x
        if typing.get_origin(kind) is tuple and isinstance(x, list):
            items = tuple(k for k in typing.get_args(kind) if k is not ...)
            return tuple(_typed(item, items) for item in entry)
    raise _refused(entry, kinds)


def _refused(entry: Entry, kinds: tuple) -> ValueError:
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    names = [words.get(k, "a list" if typing.get_origin(k) is tuple else "") for k in kinds]
    wanted = " or ".join(n for n in names if n) or (
        "something that a file cannot hold: a Python function"
    )
    return entry.wrong(wanted)
