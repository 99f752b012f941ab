"""Writes a network to a file that is easy to read."""

import json
import math
import os
import re
from typing import Any

from .._checks import check_kind, check_path, names_checked
from .._describe import Description
from .._whole_file import write_whole
from ._plain import plain
from ._read import check_format, format_of

_WIDTH = 96


@names_checked()
def write_description(description: Description, path: str | os.PathLike) -> None:
    """Writes a description to a file: JSON (`.json`) or TOML (`.toml`); replaces an old file.

    `read_description` gives a description of the same network, bit for bit. Defaults are written
    out, so that the file still means the same network if a default changes.

    **Raises** `ValueError`, before the file is touched, for what a file cannot hold: Python
    functions as weights, delays, probabilities or signals, and models of your own;
    `FileNotFoundError` for a missing folder.
    """
    path = check_path("write_description: path", path)
    text = format_description(description, format_of(path))
    write_whole(path, lambda file: file.write(text.encode()))


@names_checked()
def format_description(description: Description, format: str = "json") -> str:
    """A description as a text with the format "json" or "toml"; see `write_description`.

    **Raises** `ValueError` for what a file cannot hold.
    """
    check_kind("what is written", description, Description)
    data = plain(description)
    text = _json_file(data) if check_format(format) == "json" else _toml_file(data)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"names must be text that can be encoded in UTF-8: {error}") from None
    return text


def _json_file(data: dict[str, Any]) -> str:
    items = [f"  {json.dumps(key)}: {_json(value, 2, len(key) + 6)}" for key, value in data.items()]
    return "{\n" + ",\n".join(items) + "\n}\n"


def _json(value: Any, indent: int, used: int) -> str:
    """A value as JSON: on one line if it fits, else one item per line."""
    if not _is_long(value):
        line = _json_line(value)
        if used + len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
            return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        pairs = (
            f"{json.dumps(k, ensure_ascii=False)}: {_json(v, indent + 2, indent + len(k) + 6)}"
            for k, v in value.items()
        )
        return "{\n" + ",\n".join(inner + pair for pair in pairs) + "\n" + " " * indent + "}"
    if isinstance(value[0], dict | list):
        body = ",\n".join(inner + _json(item, indent + 2, indent + 3) for item in value)
    else:
        body = _filled([_json_line(item) for item in value], inner)
    return "[\n" + body + "\n" + " " * indent + "]"


def _json_line(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{json.dumps(k, ensure_ascii=False)}: {_json_line(v)}" for k, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json_line, value)) + "]"
    if isinstance(value, float):
        return f'"{value}"' if math.isinf(value) else repr(value)
    return json.dumps(value, ensure_ascii=False)


def _is_long(value: Any) -> bool:
    """Whether a value contains a list that is too long for a line, without writing it."""
    if isinstance(value, dict):
        return any(map(_is_long, value.values()))
    return isinstance(value, list) and (len(value) > _WIDTH // 3 or any(map(_is_long, value)))


def _filled(items: list[str], indent: str) -> str:
    """Items of a list, as many per line as fit."""
    lines, line = [], indent
    for number, item in enumerate(items):
        part = item + ("," if number + 1 < len(items) else "")
        if len(line) + len(part) > _WIDTH and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += part + " "
    return "\n".join([*lines, line.rstrip()])


def _toml_file(data: dict[str, Any]) -> str:
    parts = []
    for key, value in data.items():
        if isinstance(value, dict):
            parts.append("\n".join([f"[{key}]", *(_toml_pair(k, v) for k, v in value.items())]))
        elif isinstance(value, list):
            parts += [_toml_table(key, item) for item in value]
        else:
            parts.append(_toml_pair(key, value))
    head, body = parts[:2], parts[2:]
    return "\n\n".join(["\n".join(head), *body]) + "\n"


def _toml_table(name: str, item: dict[str, Any]) -> str:
    """An item of a list of tables; an object that does not fit on a line becomes a table."""
    pairs = {key: _toml_pair(key, value) for key, value in item.items()}
    own = {k for k, line in pairs.items() if isinstance(item[k], dict) and len(line) > _WIDTH}
    lines = [f"[[{name}]]", *(line for key, line in pairs.items() if key not in own)]
    for key in item:
        if key in own:
            lines += ["", f"[{name}.{_toml_key(key)}]"]
            lines += [_toml_pair(k, v) for k, v in item[key].items()]
    return "\n".join(lines)


def _toml_pair(key: str, value: Any) -> str:
    return f"{_toml_key(key)} = {_toml_list(value, 0, len(key) + 3)}"


def _toml_list(value: Any, indent: int, used: int) -> str:
    """A value on one line if it fits, else the items of a list on several lines."""
    if not (isinstance(value, list) and _is_long(value)):
        line = _toml(value)
        if used + len(line) <= _WIDTH or not isinstance(value, list) or not value:
            return line
    inner = " " * (indent + 2)
    if isinstance(value[0], list):
        rows = (_toml_list(item, indent + 2, indent + 3) for item in value)
        body = ",\n".join(inner + row for row in rows)
    else:
        body = _filled([_toml(item) for item in value], inner)
    return f"[\n{body}\n{' ' * indent}]"


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_key(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):  # JSON text is TOML text, except for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):  # repr writes inf as TOML does
        return repr(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
