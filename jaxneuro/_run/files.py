"""Values with arrays in a file: an npz of plain arrays and a text that describes them."""

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Shaped

from .. import spec
from .._array_files import read_npz
from .._whole_file import check_file, write_whole
from ..spec import InvalidValueError

_KIND, _VERSION = "jaxneuro result", 5
_HEADER = "header"
# Formats that a result is not written in.
_OTHERS = frozenset((".csv", ".tsv", ".txt", ".json", ".mat", ".h5", ".hdf5", ".nwb", ".parquet"))
_PLAIN = (bool, int, float, str, type(None))


def write_file(path: str | os.PathLike, values: dict[str, Any]) -> None:
    """Writes values (arrays, numbers, texts; dicts, tuples and lists of them) to `path`.

    The file is written beside `path` and then renamed. Raises `ValueError` for other values, or a
    path that ends like another format, before anything is written.
    """
    whole = spec.check("save", "path", spec.FilePath(), path)
    if whole.suffix in _OTHERS:
        raise ValueError(
            f"save writes an .npz file; got {os.fspath(path)!r}. For other formats use "
            "result.to_pandas(), result.traces_to_pandas(name) or result.to_neo()"
        )
    arrays: list[Shaped[np.ndarray, ...]] = []
    tree = {name: _encode(name, value, arrays) for name, value in values.items()}
    header = json.dumps({"kind": _KIND, "version": _VERSION, "values": tree})
    named = {f"array {k}": x for k, x in enumerate(arrays)}
    named[_HEADER] = np.frombuffer(header.encode(), np.uint8)
    write_whole(whole, lambda file: np.savez(file, **named))  # type: ignore[arg-type]


def read_file(
    path: str | os.PathLike,
    since: Mapping[str, int],
    until: Mapping[str, int],
    max_mb: float,
) -> dict[str, Any]:
    """What `write_file` wrote; raises `ValueError` unless it is a whole file with all its names.

    `since` says from which version on a file has a name, `until` up to which. `max_mb` is that of
    `read_npz`.
    """
    whole = spec.check("load", "path", spec.FilePath(), path)
    check_file(whole)
    arrays = read_npz("load", whole, "a whole file that Result.save wrote", max_mb)
    try:
        header = json.loads(arrays.pop(_HEADER).tobytes().decode())
        kind, version = header["kind"], header["version"]
    except (KeyError, TypeError, ValueError, RecursionError):
        kind, version = None, None
    named = f"the file {os.fspath(path)!r}"
    if kind != _KIND or not isinstance(version, int):
        raise ValueError(f"{named} must be a file that Result.save wrote; it is another npz")
    if version > _VERSION:
        raise ValueError(
            f"{named} must be of version {_VERSION} or below; it is of {version}: read it "
            "with a newer jaxneuro"
        )
    try:
        held = [k for k, v in since.items() if v <= version <= until.get(k, _VERSION)]
        return {name: _decode(header["values"][name], arrays) for name in held}
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise ValueError(f"{named} is damaged, write it again: {error!r}") from error


def _encode(where: str, value: Any, arrays: list[Shaped[np.ndarray, "..."]]) -> Any:
    """A value as what JSON can hold: arrays by their number, dicts and tuples by their items."""
    if type(value) in _PLAIN:
        return {"plain": value}
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        arrays.append(np.asarray(value))
        node = {"array": len(arrays) - 1}
        # An npz has no bfloat16 and keeps only the bytes.
        known = value.dtype.names or np.dtype(value.dtype.str) == value.dtype
        return node if known else {**node, "dtype": value.dtype.name}
    if isinstance(value, dict) and all(type(k) is str for k in value):
        items = [[k, _encode(f"{where}[{k!r}]", x, arrays)] for k, x in value.items()]
        return {"dict": items}
    for kind in (tuple, list):
        if type(value) is kind:
            parts = [_encode(f"{where}[{k}]", x, arrays) for k, x in enumerate(value)]
            return {kind.__name__: parts}
    raise InvalidValueError(
        "save",
        str(where),
        (
            "an array, or a dict (by text), tuple or list of arrays (let the function of the "
            "record return one of these)"
        ),
        f"a {type(value).__name__}",
    )


def _decode(node: Any, arrays: dict[str, Shaped[np.ndarray, "..."]]) -> Any:
    (kind,) = node.keys() - {"dtype"}
    inside = node[kind]
    if kind == "plain":
        return inside
    if kind == "array":
        x = arrays[f"array {inside}"]
        return x.view(np.dtype(node["dtype"])) if "dtype" in node else x
    if kind == "dict":
        return {k: _decode(x, arrays) for k, x in inside}
    if kind in ("tuple", "list"):
        parts = [_decode(x, arrays) for x in inside]
        return tuple(parts) if kind == "tuple" else parts
    raise ValueError(f"a value of the unknown kind {kind!r}")
