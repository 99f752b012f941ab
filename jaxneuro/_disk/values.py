"""Values with arrays in a file: an npz of named arrays, and a text that says how they nest."""

import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped

from ..spec import InvalidValueError
from .arrays import MOST_MB, read_npz, write_npz
from .whole import check_file, write_whole

HEADER = "header"
_PLAIN = (bool, int, float, str, type(None))


@dataclasses.dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Attributes:
        name: the name in its header.
        version: the version in its header; other versions are refused.
        writer: the function that writes it, for errors: `Result.save`.
    """

    name: str
    version: int
    writer: str


def write_values(path: Path, kind: FileKind, values: Mapping[str, Any]) -> None:
    """Writes values (arrays, numbers, texts; dicts, tuples and lists of them) to a file.

    Raises:
        InvalidValueError: for other values, before anything is written.
    """
    arrays: dict[str, Shaped[np.ndarray, ...]] = {}
    arrays[HEADER] = header_of(kind, values, arrays)
    write_whole(path, lambda file: write_npz(file, arrays))


def header_of(
    kind: FileKind, values: Mapping[str, Any], arrays: dict[str, Any]
) -> Shaped[np.ndarray, " octets"]:
    """How values are nested, as text in octets; their arrays get into `arrays` by name."""
    tree = {name: _encode(name, value, arrays) for name, value in values.items()}
    text = json.dumps({"kind": kind.name, "version": kind.version, "values": tree})
    return np.frombuffer(text.encode(), np.uint8)


def read_values(owner: str, path: Path, kind: FileKind, max_mb: float = MOST_MB) -> dict[str, Any]:
    """Return the values of a file that `write_values` wrote.

    Raises:
        InvalidValueError: unless it is a whole file of this kind and version.
    """
    check_file(path)
    arrays = read_npz(owner, path, f"a whole file that {kind.writer} wrote", max_mb)
    nodes = nodes_of(owner, path, kind, arrays.pop(HEADER, None))
    get = lambda name: arrays[name]  # noqa: E731
    return {name: decoded(owner, path, node, get) for name, node in nodes.items()}


def nodes_of(owner: str, path: Path, kind: FileKind, header: Any) -> dict[str, Any]:
    """Return how the values of a file are nested, by name; see `decoded`."""
    named = f"the file {os.fspath(path)!r}"
    try:
        found = json.loads(header.tobytes().decode())
        known, version, nodes = found["kind"], found["version"], found["values"]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        known, version, nodes = None, None, None
    if known != kind.name or type(version) is not int or not isinstance(nodes, dict):
        must = f"one that {kind.writer} wrote"
        raise InvalidValueError(owner, named, must, "another file of arrays")
    if version != kind.version:
        hint = ". Read it with the jaxneuro that wrote it"
        raise InvalidValueError(owner, named, f"of version {kind.version}", str(version), hint)
    return nodes


def decoded(owner: str, path: Path, node: Any, array: Callable[[str], Any]) -> Any:
    """A value of a file, whose arrays are `array(name)`."""
    try:
        return _decode(node, array)
    except InvalidValueError:  # of an array, which says more
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        named = f"the file {os.fspath(path)!r}"
        raise InvalidValueError(owner, named, "whole", f"a damaged one: {error!r}") from error


def _encode(where: str, value: Any, arrays: dict[str, Any]) -> Any:
    """A value as what JSON can hold: arrays by their name, dicts and tuples by their items."""
    if type(value) in _PLAIN:
        return {"plain": value}
    if hasattr(value, "dtype") and hasattr(value, "__array__") and not value.dtype.hasobject:
        name = where if where not in arrays else f"{where} {len(arrays)}"
        x = np.asarray(value)
        if x.dtype.names or np.dtype(x.dtype.str) == x.dtype:
            arrays[name] = x
            return {"array": name}
        arrays[name] = x.view(f"u{x.dtype.itemsize}")  # no file knows bfloat16
        return {"array": name, "dtype": x.dtype.name}
    if isinstance(value, dict) and all(type(k) is str for k in value):
        items = [[k, _encode(f"{where}/{plain_name(k)}", x, arrays)] for k, x in value.items()]
        return {"dict": items}
    for kind in (tuple, list):
        if type(value) is kind:
            parts = [_encode(f"{where}/{k}", x, arrays) for k, x in enumerate(value)]
            return {kind.__name__: parts}
    must = (
        "an array, or a dict (by text), tuple or list of arrays (let the function of the record "
        "return one of these)"
    )
    raise InvalidValueError("save", where, must, f"a {type(value).__name__}")


def plain_name(name: str) -> str:
    """A name as a part of the path of an array; a zip ends names at a zero."""
    name = name.replace("%", "%25").replace("/", "%2F").replace("\0", "%00")
    return name.replace(".", "%2E") if name in (".", "..") else name


def _dtype_of_size(name: Any, like: np.dtype) -> np.dtype:
    """The dtype of a name, for bytes of numbers of equal size."""
    if not (isinstance(name, str) and name.replace("_", "").isalnum()):
        raise ValueError(f"a dtype {name!r}")
    dtype = np.dtype(name)
    if dtype.hasobject or dtype.itemsize != like.itemsize:
        raise ValueError(f"the dtype {name!r} for numbers of {like.itemsize} bytes")
    return dtype


def _decode(node: Any, array: Callable[[str], Any]) -> Any:
    (kind,) = node.keys() - {"dtype"}
    inside = node[kind]
    if kind == "plain" and type(inside) in _PLAIN:
        return inside
    if kind == "array":
        x = array(inside)
        return x.view(_dtype_of_size(node["dtype"], x.dtype)) if "dtype" in node else x
    if kind == "dict":
        return {k: _decode(x, array) for k, x in inside}
    if kind in ("tuple", "list"):
        parts = [_decode(x, array) for x in inside]
        return tuple(parts) if kind == "tuple" else parts
    raise ValueError(f"a value of the unknown kind {kind!r}")
