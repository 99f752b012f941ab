"""A value in a file with its path: reads numbers, models and descriptions; errors name the line."""

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._text import an, printable
from ..spec import unknown
from ._models import TYPE, keys, known, noun

_LONGEST = 600  # characters of a message, which may quote a value of any size
_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_TYPES = {bool: "true or false", int: "a whole number", float: "a number"}


def located(name: str, line: int, message: Any) -> ValueError:
    """The error about a line of a file."""
    text = printable(" ".join(str(message).split()))
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 4] + " ..."
    return ValueError(f"{name}, line {line}: {short}")


@dataclasses.dataclass(frozen=True)
class FileSource:
    """The content of a file as plain data; `line(path)` finds the line of the value at a path."""

    name: str
    data: Any
    line: Callable[[tuple], int]


@dataclasses.dataclass(frozen=True)
class Entry:
    """A value in a file and the path of keys and indices that leads to it.

    A `spec.Kind` reads its value with `scalar`, `numbers` and `instance`.
    """

    source: FileSource
    path: tuple
    value: Any

    def __getitem__(self, key: Any) -> "Entry":
        return Entry(self.source, (*self.path, key), self.value[key])

    def __contains__(self, key: Any) -> bool:
        return key in self.value

    def __iter__(self) -> Iterator["Entry"]:
        return (self[i] for i in range(len(self.value)))

    @property
    def label(self) -> str:
        """The path as text: `populations[0].model`."""
        parts = (f"[{x}]" if isinstance(x, int) else f".{x}" for x in self.path)
        return "".join(parts).lstrip(".") or "the file"

    def error(self, message: Any) -> ValueError:
        """The error about this value."""
        return located(self.source.name, self.source.line(self.path), message)

    def wrong(self, must: str) -> ValueError:
        """The error about a value of the wrong kind."""
        return self.error(f"{self.label} must be {must}; got {described(self.value)}")

    def check_keys(self, what: str, known: Any, required: Any = ()) -> None:
        """Raises `ValueError` unless this is an object with the required keys and no others."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"{what}, an object with keys")
        for key in self.value:
            if key not in known:
                raise self[key].error(unknown(f"key of {what}", key, known))
        for key in required:
            if key not in self.value:
                raise self.error(f"{self.label} must have {key!r}: it is {what}")

    def scalar(self, kind: type) -> Any:
        """Return a bool, an int or a float; "inf" and "-inf" are infinite, as JSON has no word."""
        x = self.value
        if kind is float and isinstance(x, str):
            x = _INFINITE.get(x, x)
        fits = _is_number(x) if kind is float else _is_whole(x) if kind is int else type(x) is kind
        if not fits:
            raise self.wrong(_TYPES[kind])
        return x

    def numbers(self, *roles: type) -> Any:
        """Return a number, the array of a list, or the model of some roles that an object is."""
        if roles and isinstance(self.value, dict):
            return self.instance(*roles)
        if not isinstance(self.value, list):
            return self.scalar(float)
        rows = self._rows()
        try:
            return np.array(rows) if rows else np.zeros(0)
        except ValueError:
            raise self.wrong("a list of numbers, or of rows of one length") from None

    def _rows(self) -> Any:
        """A number, or nested lists with every item checked."""
        x = self.value
        if not isinstance(x, list):
            return self.scalar(float)
        return x if all(map(_is_number, x)) else [item._rows() for item in self]

    def instance(self, *roles: type) -> Any:
        """Return what an object describes: the value of a class, or a model of some roles.

        A model is an object with the name of its class, or this name alone.
        """
        what = " or ".join(map(noun, roles))
        classes = {name: cls for role in roles for name, cls in known(role).items()}
        has_type = isinstance(self.value, dict) and TYPE in self
        if not classes or (roles[0] in classes.values() and not has_type):
            return self.make(roles[0], **self.fields(roles[0], an(what)))
        if not isinstance(self.value, dict | str):
            raise self.wrong(f"{an(what)}: an object with {TYPE!r}, or a name")
        short = isinstance(self.value, str)
        if not (short or has_type):
            listed = ", ".join(classes)
            raise self.error(
                f"{self.label} must have {TYPE!r}, the name of {an(what)}: one of {listed}"
            )
        named = self if short else self[TYPE]
        if not isinstance(named.value, str) or named.value not in classes:
            raise named.error(unknown(what, named.value, classes))
        cls = classes[named.value]
        required = [name for name, key in keys(cls).items() if key.required]
        if short and required:
            raise self.error(
                f"{cls.__name__} needs {', '.join(required)}: write an object, "
                f'{{"{TYPE}": "{cls.__name__}", "{required[0]}": ...}}'
            )
        return self.make(cls, **({} if short else self.fields(cls, cls.__name__, TYPE)))

    def fields(self, cls: type, what: str, *others: str) -> dict[str, Any]:
        """Return the arguments of a class that this object gives; `others` are further keys."""
        of_class = keys(cls)
        required = [name for name, key in of_class.items() if key.required]
        self.check_keys(what, (*others, *of_class), required)
        given = {k: of_class[k].kind.read(self[k]) for k in self.value if k in of_class}
        return {name: None for name, key in of_class.items() if key.default is None} | given

    def make(self, function: Callable, /, *args: Any, **keywords: Any) -> Any:
        """The result of a constructor with values of this object; its error names the line."""
        return attempt(self.about, function, *args, **keywords)

    def about(self, error: Exception) -> "Entry":
        """The value in this object that an error is about; the object where it does not say."""
        owner, field = getattr(error, "owner", ""), getattr(error, "field", "")
        path = (*owner.split(": ")[1:], *re.split("[ .]", field))
        return functools.reduce(Entry.at, path, self)

    def at(self, key: str) -> "Entry":
        """The value at a key; this value if it has no such key."""
        return self[key] if isinstance(self.value, dict) and key in self else self


def attempt(
    blame: Callable[[Exception], Entry], function: Callable, /, *args: Any, **keywords: Any
) -> Any:
    """The result of a constructor; its error names the entry that `blame` finds for it."""
    try:
        with np.errstate(all="ignore"):  # a number beyond float32 becomes infinite and is refused
            return function(*args, **keywords)
    except MemoryError as error:
        raise blame(error).error("this does not fit in memory") from None
    # Constructors of models may raise any error for unexpected values.
    except Exception as error:
        text = str(error) if isinstance(error, ValueError) else f"{function.__name__}: {error}"
        raise blame(error).error(text) from error


def _is_whole(x: Any) -> bool:
    return type(x) is int and -(2**63) <= x < 2**63


def _is_number(x: Any) -> bool:
    return type(x) is float or _is_whole(x)


def described(value: Any) -> str:
    """A short description of a value."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return f"the text {value[:80]!r}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 2**63:
        return "a whole number of 2^63 or more"
    return "null" if value is None else repr(value)
