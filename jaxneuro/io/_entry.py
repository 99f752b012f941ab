"""A value in a file together with its path, so that every error can name the line."""

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._text import printable
from ..spec import unknown

_LONGEST = 600  # characters of a message, which may quote a value of any size


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
    """A value in a file and the path of keys and indices that leads to it."""

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

    def make(self, function: Callable, /, *args: Any, **keywords: Any) -> Any:
        """The result of a constructor with values of this object; its error names the line."""
        return attempt(self.about, function, *args, **keywords)

    def about(self, error: Exception) -> "Entry":
        """The value in this object that an error is about; the object where it does not say."""
        owner, field = getattr(error, "owner", ""), getattr(error, "field", "")
        found = self
        for key in (*owner.split(": ")[1:], *re.split("[ .]", field)):
            if isinstance(found.value, dict) and key in found:
                found = found[key]
        return found


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
