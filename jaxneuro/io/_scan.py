"""Shared by both formats: limits that are checked before reading, and finding lines."""

import re
from collections.abc import Callable, Iterable, Iterator

DEEPEST = 32  # levels of nested brackets


class BadTextError(ValueError):
    """An error at an offset of a text."""

    def __init__(self, offset: int, message: str):
        super().__init__(message)
        self.offset = offset


class BadNumberError(ValueError):
    """A number, as text, that no float can hold."""


def check_limits(text: str, tokens: re.Pattern) -> None:
    """Raises `BadTextError` for brackets that are nested too deep and numbers that are too long.

    `tokens` matches strings, comments, brackets, and what is not allowed outside of strings.
    """
    depth = 0
    for match in tokens.finditer(text):
        first = match[0][0]
        if first in "[{":
            depth += 1
            if depth > DEEPEST:
                raise BadTextError(match.start(), f"brackets must be nested at most {DEEPEST} deep")
        elif first in "]}":
            depth -= 1
        elif first not in "\"'#":
            shown = (
                match[0] if len(match[0]) < 20 else f"{match[0][:12]}... ({len(match[0])} digits)"
            )
            raise BadTextError(
                match.start(), f"a number must be finite and not too long; got {shown}"
            )


def as_float(text: str) -> float:
    """A float; raises `BadNumberError` for one that is not finite, except for TOML's inf."""
    x = float(text)
    if x != x or (x in (float("inf"), -float("inf")) and "inf" not in text):
        raise BadNumberError(text)
    return x


def offset_of_number(text: str, number: str) -> int:
    """The offset of a number's first occurrence in a text."""
    found = re.search(rf"(?<![\w.+-]){re.escape(number)}(?![\w.])", text)
    return found.start() if found else 0


def line_at(text: str, offset: int) -> int:
    """The number of the line, from 1, of an offset."""
    return text.count("\n", 0, offset) + 1


def nearest_line(text: str, places: Iterable[tuple[tuple, int]], path: tuple) -> int:
    """The line of the value at a path, or of the nearest thing around it."""
    best, at = 0, 0
    if not path:
        return 1
    for found, offset in places:
        if found[: len(path)] == path:
            return line_at(text, offset)
        if len(found) > best and found == path[: len(found)]:
            best, at = len(found), offset
    return line_at(text, at)


def inner_places(
    tokens: Iterable[re.Match], sign: str, keys: Callable[[str], tuple], path: tuple = ()
) -> Iterator[tuple[tuple, int]]:
    """Paths and offsets of the keys of a value, and of the objects and lists in its lists.

    `sign` separates a key from its value; `keys` reads a key. The text must be valid.
    """
    stack: list[list] = []  # path, and the index if it is a list
    here, word = path, None
    for match in tokens:
        token = match[0]
        if token in ("{", "["):
            if stack and stack[-1][1] is not None:
                yield here, match.start()
            stack.append([here, 0 if token == "[" else None])
            here = (*here, 0) if token == "[" else here
        elif token in ("}", "]"):
            stack.pop()
        elif token == "," and stack[-1][1] is not None:
            stack[-1][1] += 1
            here = (*stack[-1][0], stack[-1][1])
        elif token == sign and word is not None and stack:
            here = (*stack[-1][0], *keys(word[0]))
            yield here, word.start()
        else:
            word = match
