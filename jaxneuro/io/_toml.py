"""Reads TOML with the line of every key; refuses what a network file may not contain."""

import re
import tomllib
from collections.abc import Iterator

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

_QUOTED = (
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)'
    r'|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*+\'?'
)
_LIMITS = re.compile(rf"#[^\n]*|{_QUOTED}|[\[\]{{}}]|[0-9_]{{400,}}", re.DOTALL)
_TOKENS = re.compile(rf"#[^\n]*|{_QUOTED}|[\[\]{{}},=\n]|[\w.+-]+", re.DOTALL)
_LINE = re.compile(r"\s*\(at line (\d+), column \d+\)")


def read_toml(name: str, text: str) -> FileSource:
    """The content of a TOML text; every error names the line."""
    text = text.replace("\r\n", "\n")
    try:
        check_limits(text, _LIMITS)
        data = tomllib.loads(text, parse_float=as_float)
    except BadTextError as error:
        raise located(name, line_at(text, error.offset), error) from None
    except BadNumberError as error:
        line = line_at(text, offset_of_number(text, str(error)))
        raise located(name, line, f"a number must be finite; got {error}") from None
    except (ValueError, RecursionError, OverflowError) as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found else line_at(text, len(text))
        raise located(name, line, f"this is not TOML: {_LINE.sub('', str(error))}") from None
    return FileSource(name, data, lambda path: nearest_line(text, _places(text), path))


def _keys(text: str) -> tuple:
    parts = re.findall(r'"([^"]*)"|\'([^\']*)\'|([\w-]+)', text)
    return tuple("".join(part) for part in parts)


def _statements(text: str) -> Iterator[list[re.Match]]:
    """The tokens of each statement: up to the end of a line outside of brackets."""
    depth, tokens = 0, []
    for match in _TOKENS.finditer(text):
        token = match[0]
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        if token == "\n" and depth == 0:
            yield tokens
            tokens = []
        elif token != "\n" and not token.startswith("#"):
            tokens.append(match)
    yield tokens


def _places(text: str) -> Iterator[tuple[tuple, int]]:
    numbers: dict[tuple, int] = {}  # number of the last table in each list of tables
    base: tuple = ()
    for tokens in _statements(text):
        words = [m[0] for m in tokens]
        if not words:
            continue
        if words[0] == "[":
            base = _header(words, numbers)
            yield base, tokens[0].start()
        elif "=" in words:
            at = words.index("=")
            path = (*base, *_keys(" ".join(words[:at])))
            yield path, tokens[0].start()
            yield from inner_places(tokens[at + 1 :], "=", _keys, path)


def _header(words: list[str], numbers: dict[tuple, int]) -> tuple:
    """The path of the table that begins at a header."""
    path: tuple = ()
    *outer, last = _keys(" ".join(words).strip("[] "))
    for key in outer:
        path = (*path, key)
        path = (*path, numbers[path]) if path in numbers else path
    path = (*path, last)
    if words[:2] == ["[", "["]:
        numbers[path] = numbers.get(path, -1) + 1
        path = (*path, numbers[path])
    return path
