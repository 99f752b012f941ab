"""Reads JSON with the line of every key; refuses what a network file may not contain."""

import collections
import json
import re
from collections.abc import Iterator
from typing import Any

from ._entry import FileSource, located
from ._scan import (
    BadNumberError,
    BadTextError,
    as_float,
    check_limits,
    inner_places,
    line_at,
    nearest_line,
    offset_of_number,
)

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_LIMITS = re.compile(rf"{_STRING}|[\[\]{{}}]|\bNaN\b|\bInfinity\b|\d{{400,}}", re.DOTALL)
_TOKENS = re.compile(rf"{_STRING}|[\[\]{{}},:]", re.DOTALL)


class _RepeatedKeyError(ValueError):
    """A key that is twice in an object."""


def read_json(name: str, text: str) -> FileSource:
    """The content of a JSON text; every error names the line."""
    try:
        check_limits(text, _LIMITS)
        data = json.loads(text, object_pairs_hook=_object, parse_float=as_float)
    except json.JSONDecodeError as error:
        what = error.msg
        if error.pos >= len(text.rstrip()) or what.startswith("Unterminated string"):
            what = f"the text ends too early: {what}"
        raise located(name, error.lineno, f"this is not JSON: {what}") from None
    except BadTextError as error:
        raise located(name, line_at(text, error.offset), error) from None
    except BadNumberError as error:
        line = line_at(text, offset_of_number(text, str(error)))
        raise located(name, line, f"a number must be finite; got {error}") from None
    except _RepeatedKeyError as error:
        raise located(name, _second_line(text), f"the key {str(error)!r} is there twice") from None
    return FileSource(name, data, lambda path: nearest_line(text, _places(text), path))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        counts = collections.Counter(k for k, _ in pairs)
        raise _RepeatedKeyError(counts.most_common(1)[0][0])
    return out


def _places(text: str) -> Iterator[tuple[tuple, int]]:
    return inner_places(_TOKENS.finditer(text), ":", lambda key: (json.loads(key),))


def _second_line(text: str) -> int:
    """The line of the first key that is repeated."""
    seen = set()
    for path, offset in _places(text):
        if path in seen:
            return line_at(text, offset)
        seen.add(path)
    return 1
