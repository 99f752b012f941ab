"""Writes a description to a file."""

import dataclasses
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any

import jax
import numpy as np

from .. import spec
from .._arrays import is_traced
from .._describe.description import Description
from .._disk.whole import write_whole
from ..space import Area
from ._models import TYPE, is_prepared, keys, public
from ._network import FORMAT, VERSION
from ._read import READERS, format_of

# --- Makes the content of a file from a description: objects, lists, numbers and texts.


# The place of keys whose fields are declared in another order: -1 first, above 0 last.
_ORDER = {"name": -1, "areas": -1, "initial": 1, "scales": 1, "positions": 2}
_WRITTEN_EMPTY = ("projections", "stimuli", "scales")


def plain(description: Description) -> dict[str, Any]:
    """A description as plain data; raises `ValueError` for what a file cannot hold."""
    return {"format": FORMAT, "version": VERSION, **fields("", description)}


def fields(label: str, value: Any) -> dict[str, Any]:
    """Return the fields of a value by key as plain data, without those that say nothing.

    Args:
        label: the name of the value in errors.
        value: the value, a model or a description.
    """
    out = {}
    for name, key in sorted(keys(type(value)).items(), key=lambda item: _ORDER.get(item[0], 0)):
        x = _plain(f"{label}: {name}", key.kind.plain(getattr(value, name)))
        is_empty = x in ([], {}) and key.default in ((), {}) and name not in _WRITTEN_EMPTY
        is_infinite = x in (math.inf, -math.inf) and x == key.default
        is_unused = name == "axonal" and value.plasticity is None
        if x is not None and not (is_empty or is_infinite or is_unused):
            out[name] = x
    return out


def _plain(label: str, value: Any) -> Any:
    """A value as plain data."""
    if is_traced(value):
        raise ValueError(f"{label} is not known yet: write descriptions outside jit, vmap and grad")
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        return _array(label, np.asarray(value))
    if value is None or isinstance(value, bool | int | float | str):
        return _finite(label, value)
    if isinstance(value, tuple | list):
        return [_plain(label, item) for item in value]
    if isinstance(value, Mapping):
        items = {key: _plain(f"{label} {key}", item) for key, item in value.items()}
        return {key: item for key, item in items.items() if item is not None}
    if isinstance(value, spec.Value | Area):
        return fields(value.label, value)
    return _model(label, value)


def _array(label: str, x: np.ndarray) -> Any:
    """Numbers; those of float32 with the fewest digits that give the same float32."""
    if x.dtype.kind not in "biuf":
        raise ValueError(f"{label}: a file holds numbers; got an array of {x.dtype}")
    if 0 in x.shape[:-1]:  # an empty list of rows does not say how long they are
        raise ValueError(f"{label}: a file cannot hold an array of shape {x.shape}")
    _finite(label, x)
    if x.dtype == np.float32 and x.ndim:
        return [_array(label, row) if row.ndim else _short(row) for row in x]
    return _short(x[()]) if x.dtype == np.float32 else x.tolist()


def _finite(label: str, x: Any) -> Any:
    if not isinstance(x, str | None) and np.isnan(x).any():
        raise ValueError(f"{label}: a file cannot hold NaN")
    return x


def _short(x: Any) -> float:
    short = float(str(x))
    return short if np.float32(short) == x else float(x)


def _model(label: str, value: Any) -> Any:
    """A model of the package: its name, if it has no fields, or an object."""
    name = type(value).__name__
    if public(type(value)).get(name) is not type(value):
        what = "a Python function" if callable(value) else f"a {name}, no model of the package"
        raise ValueError(
            f"{label} is {what}, which a file cannot hold; write numbers, or a model of the package"
        )
    if is_prepared(value):
        raise ValueError(
            f"{label}: its times must be in ms; they are on the grid of a network. Write the model "
            "that was passed to build"
        )
    return {TYPE: name, **fields(label, value)} if keys(type(value)) else name


# --- Writes a network to a file that is easy to read.


_WIDTH = 96


@spec.arguments(description=spec.Of(Description), path=spec.FilePath())
def write_description(description: Description, path: str | os.PathLike) -> None:
    """Writes a description to a file: JSON (`.json`) or TOML (`.toml`); replaces an old file.

    `read_description` gives a description of the same network, bit for bit. Defaults are written
    out, so that the file still means the same network if a default changes.

    Raises:
        ValueError: before the file is touched, for what a file cannot hold: Python functions as
            weights, delays, probabilities or signals, and models of your own.
        FileNotFoundError: for a missing folder.
    """
    path = Path(path)
    text = format_description(description, format_of(path))
    write_whole(path, lambda file: file.write(text.encode()))


@spec.arguments(description=spec.Of(Description), format=spec.OneOf(*READERS))
def format_description(description: Description, format: str = "json") -> str:
    """A description as a text with the format "json" or "toml"; see `write_description`.

    Raises:
        ValueError: for what a file cannot hold.
    """
    data = plain(description)
    text = _json_file(data) if format == "json" else _toml_file(data)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"names must be text that can be encoded in UTF-8: {error}") from None
    return text


@dataclasses.dataclass(frozen=True)
class _Syntax:
    """How a format writes values.

    Attributes:
        equals: the sign between a key and its value.
        quoted: whether keys and infinite numbers have quotes.
        broken: the types of values that may take several lines.
    """

    equals: str
    quoted: bool
    broken: type | UnionType

    def pair(self, key: str, value: str) -> str:
        """A key and the text of its value."""
        is_bare = not self.quoted and re.fullmatch(r"[A-Za-z0-9_-]+", key)
        return f"{key if is_bare else self.line(key)}{self.equals}{value}"

    def line(self, value: Any) -> str:
        """A value on one line."""
        if isinstance(value, dict):
            return "{" + ", ".join(self.pair(k, self.line(x)) for k, x in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.line, value)) + "]"
        if isinstance(value, float) and math.isinf(value):
            return f'"{value}"' if self.quoted else str(value)
        # JSON text is TOML text, except for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

    def lines(self, value: Any, indent: int, used: int) -> str:
        """A value on one line if it fits, else one item per line, or as many numbers as fit."""
        can_break = isinstance(value, self.broken) and bool(value)
        if not (can_break and _is_long(value)):
            line = self.line(value)
            if not can_break or used + len(line) <= _WIDTH:
                return line
        inner = " " * (indent + 2)
        if isinstance(value, dict):
            items = [
                self.pair(k, self.lines(x, indent + 2, indent + len(k) + 6))
                for k, x in value.items()
            ]
        elif isinstance(value[0], self.broken):
            items = [self.lines(x, indent + 2, indent + 3) for x in value]
        else:
            items = _filled([self.line(x) for x in value], len(inner))
        first, last = "{}" if isinstance(value, dict) else "[]"
        body = ",\n".join(inner + item for item in items)
        return f"{first}\n{body}\n{' ' * indent}{last}"


_JSON, _TOML = _Syntax(": ", True, dict | list), _Syntax(" = ", False, list)


def _is_long(value: Any) -> bool:
    """Whether a value contains a list that is too long for a line, without writing it."""
    if isinstance(value, dict):
        return any(map(_is_long, value.values()))
    return isinstance(value, list) and (len(value) > _WIDTH // 3 or any(map(_is_long, value)))


def _filled(items: list[str], indent: int) -> list[str]:
    """Lines with as many items as fit after an indent and before a comma."""
    lines = items[:1]
    for number, item in enumerate(items[1:], 2):
        longer = f"{lines[-1]}, {item}"
        if indent + len(longer) + (number < len(items)) <= _WIDTH:
            lines[-1] = longer
        else:
            lines.append(item)
    return lines


def _json_file(data: dict[str, Any]) -> str:
    return _JSON.lines(data, 0, _WIDTH) + "\n"


def _toml_file(data: dict[str, Any]) -> str:
    parts = []
    for key, value in data.items():
        if isinstance(value, dict):
            parts.append("\n".join([f"[{key}]", *map(_toml_pair, value.items())]))
        elif isinstance(value, list):
            parts += [_toml_table(key, item) for item in value]
        else:
            parts.append(_toml_pair((key, value)))
    return "\n\n".join(["\n".join(parts[:2]), *parts[2:]]) + "\n"


def _toml_table(name: str, item: dict[str, Any]) -> str:
    """An item of a list of tables; an object that does not fit on a line becomes a table."""
    pairs = {key: _toml_pair((key, value)) for key, value in item.items()}
    tables = [k for k, line in pairs.items() if isinstance(item[k], dict) and len(line) > _WIDTH]
    lines = [f"[[{name}]]", *(line for key, line in pairs.items() if key not in tables)]
    for key in tables:
        lines += ["", f"[{name}.{key}]", *map(_toml_pair, item[key].items())]
    return "\n".join(lines)


def _toml_pair(item: tuple[str, Any]) -> str:
    key, value = item
    return _TOML.pair(key, _TOML.lines(value, 0, len(key) + 3))
